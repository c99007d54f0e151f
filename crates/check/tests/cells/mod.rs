//! A system whose states are many and whose groups read little.

use std::sync::Arc;

use trefoil_check::{Offered, Posed, Table};
use trefoil_control::Control;
use trefoil_questions::{Answer, Asked, ErrorKinds, Facts, Goal, Question, Reach, Unanswered};
use trefoil_system::*;

/// Cells in a row that count on, each as long as its left neighbour is not at its last value.
pub(crate) struct Cells {
    layout: Layout,
    labels: Arc<Labels>,
    groups: Vec<Group>,
    values: Value,
    /// The value of the last cell that must not be left.
    error: Option<Value>,
}

impl Cells {
    /// So many cells with so many values; with `wide` groups say that they read everything.
    pub(crate) fn in_a_row(cells: usize, values: Value, error: Option<Value>, wide: bool) -> Arc<dyn System> {
        let slots = (0..cells).map(|cell| Slot::bounded(format!("c{cell}"), values)).collect();
        let group = |cell: usize| Group {
            name: format!("g{cell}"),
            guards: if wide { (0..cells).collect() } else { (cell.saturating_sub(1)..=cell).collect() },
            may_write: (cell..=cell).collect(),
            ..Group::default()
        };
        let groups = (0..cells).map(group).collect();
        let labels = Labels::new();
        labels.name("on");
        labels.name("wrong");
        Arc::new(Cells { layout: Layout::new(slots), labels: Arc::new(labels), groups, values, error })
    }
}

impl System for Cells {
    fn layout(&self) -> &Layout {
        &self.layout
    }
    fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }
    fn groups(&self) -> &[Group] {
        &self.groups
    }
    fn initial(&self, _: &Control) -> Result<Vec<Value>, Cut> {
        Ok(vec![0; self.layout.width()])
    }
    fn explorer<'a>(&'a self, _: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(Counting(self, self.labels.name("on"), self.labels.name("wrong")))
    }
    fn error(&self, label: LabelId) -> u32 {
        u32::from(label == self.labels.name("wrong"))
    }
    fn first_error(&self) -> LabelId {
        LabelId(0)
    }
}

struct Counting<'a>(&'a Cells, LabelId, LabelId);

impl Explorer for Counting<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        let Counting(cells, on, wrong) = self;
        for cell in 0..row.len() {
            if cell > 0 && row[cell - 1] == cells.values - 1 {
                continue;
            }
            let mut next = row.to_vec();
            next[cell] = (row[cell] + 1) % cells.values;
            let label = if cell + 1 == row.len() && Some(row[cell]) == cells.error { *wrong } else { *on };
            sink(Step::of_group(GroupId(cell as u32), label, &next))?;
        }
        Ok(())
    }
}

/// The answer to whether the error is reached, where the first attempt is made after this many states.
pub(crate) fn asked_of(
    system: &Arc<dyn System>,
    asked: &Asked,
    first: u64,
    threads: usize,
    control: &Control,
) -> Result<Answer, Unanswered> {
    let goals = [Goal::Error(ErrorKinds::of([1]))];
    let question = Question::Reach(Reach { goals: &goals, asked: 0, no_steps: ErrorKinds::default() });
    let table = Table::standard().clone().with_first_attempt(first);
    let posed = Posed::new(&table, question, &Facts::of(&**system), asked, threads, control)?;
    posed.answer(&Offered { system: system.clone(), reduction: None, insisted: false }, control)
}
