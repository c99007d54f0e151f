//! Claims about the labels of steps.
//!
//! A run of a system is read as the word of its visible labels: the letter of a visible step says which propositions
//! its label satisfies, and internal steps are not part of the word. A run with finitely many visible steps, because it
//! ends or because it diverges, has the word of these, followed by empty letters forever: nothing happens any more.
//!
//! The engine for claims reads letters off states. So [`Words`] adds a slot to the rows of a system that holds the
//! letter of the last step, and a claim about words becomes one about these rows ([`over_words`]): it passes over the
//! initial row, waits while steps are internal, and where nothing more happens accepts if it would accept empty letters
//! forever. A row without steps gets one more step, to a row that says that the run has ended.
//!
//! With `A` an automaton about words, `A'` has the states of `A`, each with an edge to itself without marks at silent
//! rows; the edges of `A` at rows that are not silent; a state `rest` that stays at silent rows with all marks, and
//! edges to it at silent rows from the states from which `A` accepts empty letters forever. Since waiting has no marks
//! (an automaton without marks gets one, on the edges of `A`), a run that is accepted without `rest` has infinitely
//! many visible steps, and its word is accepted by `A`. A run that is accepted through `rest` is silent from then on.
//!
//! Cost: a row is stored once for each letter of a step that leads to it.

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_system::{
    Automaton, AutomatonEdge, Cube, Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, Mark, MarkId, Meaning,
    Sink, Slot, SlotSet, Step, System, TakenStep, Value, Values, Walk,
};

/// Says which propositions a label satisfies, as the bits of a number.
pub type LetterOf = Arc<dyn Fn(LabelId, &Control) -> Result<u32, Cut> + Send + Sync>;

/// A claim about words has at most this many propositions.
pub const MOST_LABEL_PROPOSITIONS: usize = 28;

/// Propositions of rows: the last step was internal, or the run has ended.
const SILENT: u32 = 0;
/// No step has been taken, or the run has ended.
const START: u32 = 1;
/// Where the propositions of labels begin.
const FIRST: u32 = 2;
/// The letter of a run that has ended.
const ENDED: Value = 1 << SILENT | 1 << START;

/// A system whose rows remember the letter of the last step.
pub struct Words {
    system: Arc<dyn System>,
    letter: LetterOf,
    propositions: u32,
    layout: Layout,
    groups: Vec<Group>,
    marks: Vec<Mark>,
}

impl Words {
    /// A system with some propositions of its labels.
    pub fn new(system: Arc<dyn System>, propositions: usize, letter: LetterOf) -> Words {
        assert!(propositions <= MOST_LABEL_PROPOSITIONS, "the caller refuses more");
        let propositions = propositions as u32;
        let mut slots = vec![Slot { name: "letter".into(), values: Values::Below(1 << (FIRST + propositions)) }];
        slots.extend(system.layout().slots().iter().cloned());
        let parts = system.layout().parts().iter().map(|part| part + 1).collect();
        let first: SlotSet = [0].into_iter().collect();
        let shifted = |set: &SlotSet| -> SlotSet { set.iter().map(|slot| slot + 1).collect() };
        let mut groups: Vec<Group> = system
            .groups()
            .iter()
            .map(|own| Group {
                name: own.name.clone(),
                guards: shifted(&own.guards),
                reads: shifted(&own.reads),
                may_write: shifted(&own.may_write).union(&first),
                must_write: shifted(&own.must_write).union(&first),
                ..Group::default()
            })
            .collect();
        let all: SlotSet = (0..slots.len()).collect();
        groups.push(Group {
            name: "end".into(),
            guards: all,
            may_write: first.clone(),
            must_write: first.clone(),
            ..Group::default()
        });
        let marks = vec![Mark { meaning: Meaning::Proposition, reads: first, values: Value::MAX }];
        let layout = Layout::new(slots).with_parts(parts);
        Words { system, letter, propositions, layout, groups, marks }
    }

    /// The system itself.
    pub fn system(&self) -> &Arc<dyn System> {
        &self.system
    }

    /// The row of the system itself.
    pub fn inner(row: &[Value]) -> &[Value] {
        &row[1..]
    }

    /// Has the run ended in this row, by a step that the system does not have?
    pub fn has_ended(row: &[Value]) -> bool {
        row[0] == ENDED
    }

    /// The letter of the step that led to a row, if it was visible.
    pub fn letter(row: &[Value]) -> Option<u64> {
        (row[0] >> SILENT & 1 == 0 && row[0] != 1 << START).then(|| u64::from(row[0] >> FIRST))
    }

    /// The word of a run with a cycle: its letters, and the position behind the last one. Where nothing visible
    /// repeats, empty letters do.
    pub fn word(steps: &[TakenStep], cycle: &[TakenStep]) -> (Vec<u64>, usize) {
        let letters =
            |steps: &[TakenStep]| -> Vec<u64> { steps.iter().filter_map(|step| Words::letter(&step.row)).collect() };
        let (mut word, around) = (letters(steps), letters(cycle));
        let back_to = word.len();
        if around.is_empty() {
            word.push(0)
        } else {
            word.extend(around)
        }
        (word, back_to)
    }
}

struct Reader<'a> {
    words: &'a Words,
    control: &'a Control,
    explorer: Box<dyn Explorer + 'a>,
    letters: HashMap<LabelId, Value, foldhash::fast::FixedState>,
    row: Vec<Value>,
}

impl Explorer for Reader<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        let Reader { words, control, explorer, letters, row: made } = self;
        if Words::has_ended(row) {
            return Ok(());
        }
        let mut moves = false;
        explorer.successors(&row[1..], &mut |step| {
            moves = true;
            let letter = match letters.get(&step.label) {
                Some(&known) => known,
                None => {
                    let letter = match step.label {
                        LabelId::TAU => 1 << SILENT,
                        label => (words.letter)(label, control)? << FIRST,
                    };
                    letters.insert(step.label, letter);
                    letter
                }
            };
            made.clear();
            made.push(letter);
            made.extend_from_slice(step.row);
            sink(Step::of_group(step.group, step.label, made))
        })?;
        if !moves {
            made.clear();
            made.extend_from_slice(row);
            made[0] = ENDED;
            sink(Step::of_group(GroupId(words.groups.len() as u32 - 1), LabelId::TAU, made))?;
        }
        Ok(())
    }

    fn mark(&mut self, _: MarkId, reads: &[Value]) -> Result<Value, Cut> {
        Ok(reads[0])
    }
}

impl System for Words {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn labels(&self) -> &Arc<Labels> {
        self.system.labels()
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut> {
        let mut row = vec![1 << START];
        row.extend(self.system.initial(control)?);
        Ok(row)
    }

    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        let explorer = self.system.explorer(control);
        Box::new(Reader { words: self, control, explorer, letters: HashMap::default(), row: Vec::new() })
    }

    fn widened(&self) -> Option<Arc<dyn System>> {
        let wider = self.system.widened()?;
        Some(Arc::new(Words::new(wider, self.propositions as usize, self.letter.clone())))
    }

    fn describe(&self, row: &[Value]) -> String {
        self.system.describe(&row[1..])
    }
}

/// An automaton about words as one about the rows of [`Words`]; its proposition `n` is number `n` there.
pub fn over_words(automaton: &Automaton) -> Automaton {
    let count = automaton.edges.len() as u32;
    let (rest, start) = (count, count + 1);
    let marks = automaton.marks.max(1);
    let all = u32::MAX >> (32 - marks);
    let silent = Cube::literal(SILENT, true);
    let shifted = |cube: Cube| Cube { yes: cube.yes << FIRST, no: cube.no << FIRST | 1 << SILENT };
    let is_idle = |state: u32| {
        let from = Automaton { initial: vec![state], ..automaton.clone() };
        from.accepts(1, 0, |_| 0)
    };
    let mut edges: Vec<Vec<AutomatonEdge>> = Vec::with_capacity(automaton.edges.len() + 2);
    for (state, own) in (0..).zip(&automaton.edges) {
        if automaton.end == Some(state) {
            edges.push(vec![AutomatonEdge { letters: Cube::ALL, marks: all, target: state }]);
            continue;
        }
        let with = |edge: &AutomatonEdge| AutomatonEdge {
            letters: shifted(edge.letters),
            marks: if automaton.marks == 0 { all } else { edge.marks },
            target: edge.target,
        };
        let mut made: Vec<AutomatonEdge> = own.iter().map(with).collect();
        made.push(AutomatonEdge { letters: silent, marks: 0, target: state });
        if is_idle(state) {
            made.push(AutomatonEdge { letters: silent, marks: 0, target: rest });
        }
        edges.push(made);
    }
    edges.push(vec![AutomatonEdge { letters: silent, marks: all, target: rest }]);
    let begins = Cube { yes: 1 << START, no: 1 << SILENT };
    edges.push(automaton.initial.iter().map(|&target| AutomatonEdge { letters: begins, marks: 0, target }).collect());
    Automaton { edges, initial: vec![start], marks, end: None }
}
