//! The equivalence of two systems as a parity game, and that game as a system.
//!
//! A player, Odd, claims that two systems differ; the other one, Even, that they are equivalent. Odd takes a step of
//! either system, and Even answers in the other one. A player without a move loses.
//!
//! *Strong bisimilarity* (Stirling, *Bisimulation, modal logic and model checking games*, 1999): the answer is one step
//! with the same label. Even wins plays that never end.
//!
//! *Branching bisimilarity* (Chen, Ploeger, van de Pol and Willemse, *Equivalence checking for infinite systems using
//! parameterized Boolean equation systems*, 2007; as a game de Frutos Escrig, Keiren and Willemse, *Games for
//! bisimulations and abstraction*, 2017): Even answers with a step of the same label, or, where the step of Odd is
//! internal, by staying where it is; or it takes an internal step first. Behind each of these Odd may have the two
//! states compared, in which Odd's step is not taken yet; else Even goes on with its answer. The equation system has
//! the states compared at the end of the internal steps only. By stuttering (the states between two equivalent ones
//! are equivalent) that makes no difference, and the game has fewer vertices. Even wins plays that come back
//! infinitely often to where Odd chooses, so internal steps must end.
//!
//! *Divergence-preserving branching bisimilarity*: the same, but Even wins only plays in which, infinitely often, it
//! answers by a step or Odd has states compared. An answer by staying leads to a copy of Odd's choice with another
//! priority. This is right. If Even wins the pairs (s₀, t), (s₁, t), … of an internal run of s₀, it cannot stay
//! forever, so at some sₖ it takes a step of t, whose target is equivalent to sₖ or, as an answer, to the next one:
//! that is condition (D2) of van Glabbeek, Luttik and Trčka, *Branching bisimilarity with explicit divergence*,
//! 2009. Where the systems are equivalent, Even answers an internal step to s' by an internal step of t to an
//! equivalent of s' if there is one, and stays only if there is none. Were it to stay forever while Odd steps in one
//! system only, (D2) would give a step at some point; and where Odd steps in both, the last step of one before a step
//! of the other could have been answered by that.
//!
//! # The rows
//!
//! A row says what a player chooses (the kind), the label that is to be answered, and has the rows of both systems. For
//! branching bisimilarities it also has the step of Odd that is not taken yet: its group, and the values that the group
//! writes. So a move touches what one group of one system touches: a diagram learns the relations of the two systems,
//! not of their product. Slots without a meaning hold those of the initial rows, and label `τ`.
//!
//! Slots of both systems stand beside each other in diagrams ([`System::slot_order`]).
//!
//! Labels of the two systems may be numbered apart; a map for each gives the common ones.
//!
//! Invariant: kind, label and group decide which of the slots for a waiting step have a meaning. Cost: a group for each
//! group of a system and kind of move, four or five in all.

mod kinds;
mod told;
mod walk;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use trefoil_control::Control;
use trefoil_symbolic::order;
use trefoil_system::{
    Cut, Domain, Explorer, Group, Label, LabelId, Labels, Layout, Mark, Meaning, Slot, SlotSet, System, Value,
};

pub use kinds::EquivalenceNotion;
pub use told::{Exchange, Side};

use kinds::{Kind, Phase};
use walk::EquivalenceWalker;

/// The common label of a label of one system.
pub type LabelMap = Arc<dyn Fn(LabelId) -> Result<LabelId, Cut> + Send + Sync>;

const KIND: usize = 0;
const LABEL: usize = 1;
const WAITING: usize = 2;

/// What a group of the game does; a side is the one that steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    /// Odd takes a step of this group, at once or later.
    Challenge(usize, usize),
    /// Even answers with a step of this group.
    Answer(usize, usize),
    /// Even takes an internal step of this group before it answers.
    Silent(usize, usize),
    /// Odd has the states compared.
    Compare(usize),
    /// Odd waits for the answer of this side.
    Demand(usize),
    /// Even answers an internal step by staying on this side.
    Stay(usize),
    /// The step of this group, on the side of Odd, is taken, behind an answer by a step.
    TakeAnswered(usize, usize),
    /// The same behind an answer by staying.
    TakeAlone(usize, usize),
}

/// The game of two systems.
pub struct EquivalenceGame {
    notion: EquivalenceNotion,
    models: [Arc<dyn System>; 2],
    maps: [LabelMap; 2],
    labels: Arc<Labels>,
    layout: Layout,
    groups: Vec<Group>,
    moves: Vec<Move>,
    marks: Vec<Mark>,
    /// Where the row of each system is, and where the values of its waiting step are.
    rows: [Range<usize>; 2],
    steps: [Range<usize>; 2],
    initial: Vec<Value>,
    /// The outputs of each group of each system.
    outputs: [Vec<SlotSet>; 2],
    /// The last system whose walk was cut, plus 1; shared with wider forms.
    cut: Arc<AtomicUsize>,
}

impl EquivalenceGame {
    /// The game of two systems, with the common labels that maps give.
    pub fn new(
        notion: EquivalenceNotion,
        models: [Arc<dyn System>; 2],
        maps: [LabelMap; 2],
        labels: Arc<Labels>,
        control: &Control,
    ) -> Result<EquivalenceGame, Cut> {
        let is_strong = notion == EquivalenceNotion::Strong;
        let label = Slot::met("label", Arc::new(LabelDomain(labels.clone())));
        let mut slots = vec![Slot::bounded("kind", Kind::count(notion)), label];
        let mut initial = vec![Kind::CHOOSE.value(), LabelId::TAU.0];
        if !is_strong {
            let most = models.iter().map(|model| model.groups().len()).max().unwrap_or(0);
            slots.push(Slot::bounded("waiting group", most.max(1) as u32));
            initial.push(0);
        }
        let mut rows = [0..0, 0..0];
        let first: [Vec<Value>; 2] = [models[0].initial(control)?, models[1].initial(control)?];
        for (side, model) in models.iter().enumerate() {
            let from = slots.len();
            let named =
                |slot: &Slot| Slot { name: format!("{}{}", ["left ", "right "][side], slot.name), ..slot.clone() };
            slots.extend(model.layout().slots().iter().map(named));
            initial.extend(&first[side]);
            rows[side] = from..slots.len();
        }
        let mut steps = [0..0, 0..0];
        if !is_strong {
            for side in 0..2 {
                let from = slots.len();
                let own: Vec<Slot> = slots[rows[side].clone()].to_vec();
                slots.extend(own.into_iter().map(|slot| Slot { name: format!("next {}", slot.name), ..slot }));
                initial.extend(&first[side]);
                steps[side] = from..slots.len();
            }
        }
        let outputs = [0, 1].map(|side: usize| models[side].groups().iter().map(Group::outputs).collect());
        let mark = |meaning: Meaning| Mark { meaning, reads: [KIND].into_iter().collect(), values: 2 };
        let marks = vec![mark(Meaning::Owner), mark(Meaning::Priority)];
        let mut game = EquivalenceGame {
            notion,
            models,
            maps,
            labels,
            layout: Layout::new(slots),
            groups: Vec::new(),
            moves: Vec::new(),
            marks,
            rows,
            steps,
            initial,
            outputs,
            cut: Arc::default(),
        };
        game.declare();
        Ok(game)
    }

    /// The system whose walk was cut last, if one was.
    pub fn at_fault(&self) -> Option<Side> {
        match self.cut.load(Ordering::Relaxed) {
            0 => None,
            number => Some(Side::of(number - 1)),
        }
    }

    /// The equivalence.
    pub fn notion(&self) -> EquivalenceNotion {
        self.notion
    }

    /// The moves, in the order in which they are tried: Even answers before it takes internal steps, so that the plays
    /// that are shown are short.
    fn declare(&mut self) {
        let is_strong = self.notion == EquivalenceNotion::Strong;
        let counts = [self.models[0].groups().len(), self.models[1].groups().len()];
        let of_both = |one: fn(usize, usize) -> Move| {
            (0..2).flat_map(move |side| (0..counts[side]).map(move |group| one(side, group)))
        };
        let mut moves: Vec<Move> = of_both(Move::Challenge).collect();
        moves.extend(of_both(Move::Answer));
        if !is_strong {
            moves.extend([Move::Stay(0), Move::Stay(1)]);
            moves.extend(of_both(Move::Silent));
            moves.extend([Move::Demand(0), Move::Demand(1), Move::Compare(0), Move::Compare(1)]);
            moves.extend(of_both(Move::TakeAnswered));
            moves.extend(of_both(Move::TakeAlone));
        }
        self.groups = moves.iter().map(|&one| self.group(one)).collect();
        self.moves = moves;
    }

    /// What a move declares.
    fn group(&self, one: Move) -> Group {
        let set = |slots: &[usize]| -> SlotSet { slots.iter().copied().collect() };
        let moved =
            |slots: &SlotSet, to: &Range<usize>| -> SlotSet { slots.iter().map(|slot| slot + to.start).collect() };
        let is_strong = self.notion == EquivalenceNotion::Strong;
        let plain = |name: &str, guards: &[usize], writes: &[usize]| Group {
            name: name.to_string(),
            guards: set(guards),
            must_write: set(writes),
            ..Group::default()
        };
        // A step of a system, at once.
        let step = |side: usize, group: usize, name: &str, guards: &[usize], writes: &[usize]| {
            let own = &self.models[side].groups()[group];
            let row = &self.rows[side];
            Group {
                name: format!("{name} {}", own.name),
                guards: set(guards).union(&moved(&own.guards, row)),
                reads: moved(&own.reads, row),
                may_write: moved(&own.may_write, row),
                must_write: set(writes).union(&moved(&own.must_write, row)),
                ..Group::default()
            }
        };
        match one {
            Move::Challenge(side, group) if is_strong => step(side, group, "challenge", &[KIND], &[KIND, LABEL]),
            Move::Challenge(side, group) => {
                let own = &self.models[side].groups()[group];
                // What a step leaves alone is kept, too, so that the step can be taken later.
                let kept: SlotSet = own.may_write.iter().filter(|slot| !own.must_write.contains(*slot)).collect();
                let outputs = moved(&self.outputs[side][group], &self.steps[side]);
                Group {
                    reads: moved(&own.reads.union(&kept), &self.rows[side]),
                    may_write: SlotSet::default(),
                    must_write: set(&[KIND, LABEL, WAITING]).union(&outputs),
                    ..step(side, group, "challenge", &[KIND], &[])
                }
            }
            Move::Answer(side, group) => step(side, group, "answer", &[KIND, LABEL], &[KIND, LABEL]),
            Move::Silent(side, group) => step(side, group, "internal", &[KIND], &[KIND]),
            Move::Demand(_) => plain("demand", &[KIND], &[KIND]),
            Move::Stay(_) => plain("stay", &[KIND, LABEL], &[KIND, LABEL]),
            Move::Compare(side) => {
                let waiting: SlotSet = self.steps[1 - side].clone().collect();
                let mut group = plain("compare", &[KIND], &[KIND, LABEL, WAITING]);
                group.must_write = group.must_write.union(&waiting);
                group
            }
            Move::TakeAnswered(side, group) | Move::TakeAlone(side, group) => {
                let outputs = &self.outputs[side][group];
                let (row, waiting) = (moved(outputs, &self.rows[side]), moved(outputs, &self.steps[side]));
                let mut taken = plain("take", &[KIND, WAITING], &[KIND, WAITING]);
                taken.must_write = taken.must_write.union(&row).union(&waiting);
                taken.reads = waiting;
                taken
            }
        }
    }
}

impl System for EquivalenceGame {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn initial(&self, _: &Control) -> Result<Vec<Value>, Cut> {
        Ok(self.initial.clone())
    }

    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(EquivalenceWalker::new(self, control))
    }

    fn widened(&self) -> Option<Arc<dyn System>> {
        let wider = [0, 1].map(|side: usize| self.models[side].widened());
        if wider.iter().all(Option::is_none) {
            return None;
        }
        let [left, right] = wider;
        let models = [left.unwrap_or_else(|| self.models[0].clone()), right.unwrap_or_else(|| self.models[1].clone())];
        let (maps, labels) = (self.maps.clone(), self.labels.clone());
        let mut game = EquivalenceGame::new(self.notion, models, maps, labels, &Control::unlimited()).ok()?;
        game.cut = self.cut.clone();
        Some(Arc::new(game))
    }

    /// Equivalent systems are in states that determine each other, and nothing in the groups says so. Often they are
    /// two forms of one model: so the slots of both, each in the order that its groups suggest, are merged in
    /// proportion. A slot is followed by that of the step that waits.
    fn slot_order(&self) -> Option<Vec<usize>> {
        let mut placed: Vec<(u64, usize, usize)> = Vec::new();
        for (side, model) in self.models.iter().enumerate() {
            let touched = |group: &Group| group.inputs().union(&group.outputs()).iter().collect();
            let groups: Vec<Vec<usize>> = model.groups().iter().map(touched).collect();
            let width = self.rows[side].len();
            for (place, slot) in order::found(width, &groups).into_iter().enumerate() {
                // The middle of the slot, in units of the widths of both.
                placed.push(((2 * place as u64 + 1) * self.rows[1 - side].len() as u64, side, slot));
            }
        }
        placed.sort_unstable();
        let mut all: Vec<usize> = (0..self.rows[0].start).collect();
        for (_, side, slot) in placed {
            all.push(self.rows[side].start + slot);
            if !self.steps[side].is_empty() {
                all.push(self.steps[side].start + slot);
            }
        }
        Some(all)
    }

    fn describe(&self, row: &[Value]) -> String {
        let of = |side: usize| self.models[side].describe(&row[self.rows[side].clone()]);
        let phase = match Kind::of(row[KIND]).phase {
            Phase::Choose | Phase::ChooseAgain => "",
            _ => " (to be answered)",
        };
        format!("{} | {}{phase}", of(0), of(1))
    }
}

/// The labels of a table as things that are found on the way.
struct LabelDomain(Arc<Labels>);

impl Domain for LabelDomain {
    fn bytes(&self, value: Value, into: &mut Vec<u8>) {
        if value > 0 {
            into.extend(self.0.get(LabelId(value)).to_string().bytes());
        }
    }

    fn value(&self, bytes: &[u8]) -> Option<Value> {
        let text = std::str::from_utf8(bytes).ok()?;
        if text.is_empty() {
            return Some(LabelId::TAU.0);
        }
        let known = (0..self.0.len() as u32).find(|&label| self.0.get(LabelId(label)).to_string() == text);
        Some(known.unwrap_or_else(|| self.0.intern(Label::of(text, Vec::new())).0))
    }

    fn text(&self, value: Value) -> String {
        self.0.get(LabelId(value)).to_string()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}
