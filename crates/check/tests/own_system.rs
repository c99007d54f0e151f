//! A system is any type of Rust that implements the waist: this one is written and checked in 60 lines, imports aside.

use std::sync::Arc;

use trefoil_check::{Offered, Posed, Table};
use trefoil_control::Control;
use trefoil_questions::{Asked, ErrorKinds, Evidence, Facts, Found, Goal, Question, Reach};
use trefoil_system::*;

/// Two jugs, which are filled, emptied and poured into each other; 4 litres in the first one are an error.
struct Jugs(Layout, Arc<Labels>, Vec<Group>);

const FULL: [Value; 2] = [5, 3];

impl System for Jugs {
    fn layout(&self) -> &Layout {
        &self.0
    }
    fn labels(&self) -> &Arc<Labels> {
        &self.1
    }
    fn groups(&self) -> &[Group] {
        &self.2
    }
    fn initial(&self, _: &Control) -> Result<Vec<Value>, Cut> {
        Ok(vec![0, 0])
    }
    fn explorer<'a>(&'a self, _: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(Hands(self.1.intern(Label::plain("move")), self.1.intern(Label::plain("four"))))
    }
    fn error(&self, label: LabelId) -> u32 {
        u32::from(label == self.1.intern(Label::plain("four")))
    }
    fn first_error(&self) -> LabelId {
        LabelId(0)
    }
}

struct Hands(LabelId, LabelId);

impl Explorer for Hands {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        for (jug, other) in [(0, 1), (1, 0)] {
            let poured = row[jug].min(FULL[other] - row[other]);
            for (here, there) in [(FULL[jug], row[other]), (0, row[other]), (row[jug] - poured, row[other] + poured)] {
                let next = if jug == 0 { [here, there] } else { [there, here] };
                sink(Step::of_group(GroupId(0), if next[0] == 4 { self.1 } else { self.0 }, &next))?;
            }
        }
        Ok(())
    }
}

#[test]
fn four_litres_take_six_moves() {
    let both: SlotSet = (0..2).collect();
    let group = Group { name: "hands".into(), guards: both.clone(), may_write: both, ..Group::default() };
    let slots = vec![Slot::bounded("large", 6), Slot::bounded("small", 4)];
    let jugs: Arc<dyn System> = Arc::new(Jugs(Layout::new(slots), Arc::new(Labels::new()), vec![group]));
    let (goals, control) = ([Goal::Error(ErrorKinds::of([1]))], Control::unlimited());
    let question = Question::Reach(Reach { goals: &goals, asked: 0, no_steps: ErrorKinds::default() });
    let posed = Posed::new(Table::standard(), question, &Facts::of(&*jugs), &Asked::default(), 1, &control).unwrap();
    let answer = posed.answer(&Offered { system: jugs, reduction: None, insisted: false }, &control).unwrap();
    assert!(matches!(&answer.found[0], Found::Fails(Evidence::Error(path)) if path.steps.len() == 6), "{answer:?}");
}
