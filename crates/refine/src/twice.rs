//! Determinism under symmetries: a system beside one resolution of itself.
//!
//! For a system without divergence. A pair (p, q) has two states after one trace, and q is stable. Where p takes a `τ`,
//! q stays; where p takes an event, q takes the same event, by its first step with this event and then always by its
//! first `τ`, to a stable state again. The pair shows nondeterminism when p has an event that q lacks, or when p is
//! stable and lacks one that q has. For one fixed resolution of choices this checks whether the system refines a
//! deterministic system made from it (A. W. Roscoe, *The Theory and Practice of Concurrency*, 1997, section 3.3; the
//! check that FDR makes).
//!
//! The group acts on pairs by acting on both sides, and pairs are reduced to representatives. But permutations do not
//! preserve which step comes first, so the next q depends on the path. The result is still right:
//!
//! Let D(s) be the states after a trace s, joined by an edge wherever two of them form a pair that a pair of the search
//! represents. If no pair shows nondeterminism, stable states that an edge joins have the same events. *D(s) is
//! connected, for each s.* After the empty trace all states are paired with one q. Let D(s) be connected, and a an
//! event that some state of it has; then all have it, immediately or after `τ`. Each u in D(s) is in some pair (u, y),
//! and every a-successor of u is paired with one a-successor of y. This holds for y in place of u as well, so all
//! a-successors of y are in one component, and so are all those of u and y. As edges connect D(s), D(s⟨a⟩) is
//! connected. So all stable states after a trace have the same events, and the system is deterministic. The same
//! argument up to the length of a shortest violation shows that one of this length is found.
//!
//! Where the system diverges, this holds for traces that are shorter than those that lead to a divergence, and only
//! these are searched.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use trefoil_control::Control;
use trefoil_explore::{End, Finding, Options, Visited, Visitor};
use trefoil_symmetry::{Quotient, Symmetry};
use trefoil_system::{
    Action, Actor, Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, Picture, Sink, Slot, SlotSet, Step, System,
    Value, Walk,
};

use crate::determinism::Bounds;

/// Steps of pairs.
const STEPS: GroupId = GroupId(0);
/// A step that leads nowhere: its label is an event that only one of the two has.
const DISAGREEMENT: GroupId = GroupId(1);

/// A system without divergence beside a resolution of itself.
struct Twice<'a> {
    system: &'a dyn System,
    width: usize,
    layout: Layout,
    groups: Vec<Group>,
}

impl<'a> Twice<'a> {
    fn new(system: &'a dyn System) -> Twice<'a> {
        let own = system.layout().slots();
        let slots: Vec<Slot> = own.iter().chain(own).cloned().collect();
        let all: SlotSet = (0..slots.len()).collect();
        let group =
            |name: &str| Group { name: name.into(), guards: all.clone(), may_write: all.clone(), ..Group::default() };
        let groups = vec![group("steps"), group("disagreement")];
        Twice { system, width: own.len(), layout: Layout::new(slots), groups }
    }
}

impl System for Twice<'_> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn labels(&self) -> &Arc<Labels> {
        self.system.labels()
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut> {
        let mut row = self.system.initial(control)?;
        let mut stable = row.clone();
        settle(&mut *self.system.explorer(control), &mut stable, &mut Vec::new(), control)?;
        row.extend(stable);
        Ok(row)
    }

    fn explorer<'e>(&'e self, control: &'e Control) -> Box<dyn Explorer + 'e> {
        Box::new(TwiceExplorer {
            twice: self,
            control,
            steps: self.system.explorer(control),
            offers: Vec::new(),
            targets: Vec::new(),
            settled: Vec::new(),
            target: Vec::new(),
            taken: Vec::new(),
            next: Vec::new(),
            pair: Vec::new(),
        })
    }
}

/// Takes `τ`, the first each time, until there is none, or until it closes a cycle.
fn settle(explorer: &mut dyn Explorer, row: &mut Vec<Value>, next: &mut Vec<Value>, control: &Control) -> Walk {
    // A deterministic walk returns to a landmark that is set late enough (R. P. Brent, An improved Monte Carlo
    // factorization algorithm, 1980).
    let (mut landmark, mut taken, mut patience) = (row.clone(), 0u64, 64u64);
    loop {
        control.check()?;
        let walk = explorer.successors(row, &mut |step| {
            if step.label != LabelId::TAU {
                return Ok(());
            }
            next.clear();
            next.extend_from_slice(step.row);
            Err(Cut::Enough)
        });
        if !Cut::had_enough(walk)? {
            return Ok(());
        }
        std::mem::swap(row, next);
        if *row == landmark {
            return Ok(());
        }
        taken += 1;
        if taken == patience {
            (taken, patience) = (0, 2 * patience);
            landmark.clone_from(row);
        }
    }
}

struct TwiceExplorer<'a> {
    twice: &'a Twice<'a>,
    control: &'a Control,
    steps: Box<dyn Explorer + 'a>,
    /// The events of q, ascending, each with the place of its first target.
    offers: Vec<(LabelId, usize)>,
    targets: Vec<Value>,
    /// Where q goes by each event, one row after the other.
    settled: Vec<Value>,
    target: Vec<Value>,
    /// The events of p.
    taken: Vec<LabelId>,
    next: Vec<Value>,
    pair: Vec<Value>,
}

impl Explorer for TwiceExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        let width = self.twice.width;
        let (own, other) = row.split_at(width);
        let TwiceExplorer { control, steps, offers, targets, settled, target, taken, next, pair, .. } = self;
        offers.clear();
        targets.clear();
        steps.successors(other, &mut |step| {
            offers.push((step.label, targets.len()));
            targets.extend_from_slice(step.row);
            Ok(())
        })?;
        offers.sort_unstable();
        offers.dedup_by_key(|(label, _)| *label);
        settled.clear();
        for (_, place) in offers.iter_mut() {
            target.clear();
            target.extend_from_slice(&targets[*place..*place + width]);
            settle(&mut **steps, target, next, control)?;
            *place = settled.len();
            settled.extend_from_slice(target);
        }
        taken.clear();
        steps.successors(own, &mut |step| {
            taken.push(step.label);
            pair.clear();
            pair.extend_from_slice(step.row);
            if step.label == LabelId::TAU {
                pair.extend_from_slice(other);
                return sink(Step::of_group(STEPS, step.label, pair));
            }
            match offers.binary_search_by_key(&step.label, |(label, _)| *label) {
                Ok(found) => {
                    let place = offers[found].1;
                    pair.extend_from_slice(&settled[place..place + width]);
                    sink(Step::of_group(STEPS, step.label, pair))
                }
                Err(_) => sink(Step::of_group(DISAGREEMENT, step.label, row)),
            }
        })?;
        if !taken.contains(&LabelId::TAU)
            && let Some(&(label, _)) = offers.iter().find(|(label, _)| !taken.contains(label))
        {
            sink(Step::of_group(DISAGREEMENT, label, row))?;
        }
        Ok(())
    }
}

/// A group on both sides of pairs.
struct Diagonal<'a> {
    action: &'a dyn Action,
    width: usize,
}

impl Action for Diagonal<'_> {
    fn points(&self) -> usize {
        self.action.points()
    }

    fn generators(&self) -> &[Vec<u32>] {
        self.action.generators()
    }

    fn actor<'a>(&'a self, control: &'a Control) -> Box<dyn Actor + 'a> {
        Box::new(DiagonalActor {
            actor: self.action.actor(control),
            width: self.width,
            own: Picture::default(),
            other: Picture::default(),
        })
    }
}

struct DiagonalActor<'a> {
    actor: Box<dyn Actor + 'a>,
    width: usize,
    own: Picture,
    other: Picture,
}

/// Marks the colours of the second row's vertices.
const SECOND: u32 = 1 << 31;

impl Actor for DiagonalActor<'_> {
    /// The pictures of both rows over the same points; edges of the second have the odd labels. Where the two pictures
    /// colour a point differently, a vertex marks it.
    fn picture(&mut self, row: &[Value], picture: &mut Picture) {
        let (first, second) = row.split_at(self.width);
        self.actor.picture(first, &mut self.own);
        self.actor.picture(second, &mut self.other);
        let points = self.own.points();
        picture.clear(points);
        for (point, &colour) in self.own.colours().iter().enumerate().take(points) {
            picture.set_colour(point as u32, colour);
        }
        for &colour in &self.own.colours()[points..] {
            picture.add_vertex(colour);
        }
        let shift = (picture.vertices() - points) as u32;
        for &colour in &self.other.colours()[points..] {
            picture.add_vertex(colour | SECOND);
        }
        for edge in self.own.edges() {
            picture.add_edge(edge.from, edge.to, 2 * edge.label + 2);
        }
        let shifted = |vertex: u32| if (vertex as usize) < points { vertex } else { vertex + shift };
        for edge in self.other.edges() {
            picture.add_edge(shifted(edge.from), shifted(edge.to), 2 * edge.label + 3);
        }
        for point in 0..points {
            if self.own.colours()[point] != self.other.colours()[point] {
                let vertex = picture.add_vertex(self.other.colours()[point] | SECOND);
                picture.add_edge(vertex, point as u32, 0);
            }
        }
    }

    fn apply(&mut self, element: &[u32], row: &[Value], into: &mut [Value]) -> Walk {
        let (into_first, into_second) = into.split_at_mut(self.width);
        self.actor.apply(element, &row[..self.width], into_first)?;
        self.actor.apply(element, &row[self.width..], into_second)
    }

    fn apply_to_label(&mut self, element: &[u32], label: LabelId) -> LabelId {
        self.actor.apply_to_label(element, label)
    }
}

/// Searches pairs that disagree, or that are out of bounds.
struct Judge<'a> {
    bounds: Option<Bounds>,
    pairs: &'a AtomicUsize,
    /// The group of disagreements.
    disagreement: GroupId,
}

impl Visitor for Judge<'_> {
    fn visit(&mut self, state: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        if let Some(bounds) = self.bounds {
            let pairs = self.pairs.fetch_add(1, Ordering::Relaxed);
            if state.distance as usize >= bounds.length || pairs >= bounds.pairs {
                return Ok(Finding::State);
            }
        }
        let disagree = state.steps.iter().any(|step| step.group == self.disagreement);
        Ok(if disagree { Finding::State } else { Finding::Nothing })
    }
}

/// A trace and an event that can be done and refused after it, of least length and within bounds; no shorter trace
/// leads to a divergence.
pub(crate) fn search(
    system: &dyn System,
    action: &dyn Action,
    symmetry: &Symmetry,
    bounds: Option<Bounds>,
    threads: usize,
    control: &Control,
) -> Result<Option<(Vec<LabelId>, LabelId)>, Cut> {
    let twice = Twice::new(system);
    let diagonal = Diagonal { action, width: twice.width };
    let mut quotient = Quotient::new(&twice, &diagonal, symmetry, control)?;
    let disagreement = quotient.tell_apart(DISAGREEMENT);
    let options = Options { threads, ..Options::default() };
    let pairs = AtomicUsize::new(0);
    let judge = || Judge { bounds, pairs: &pairs, disagreement };
    let exploration = trefoil_explore::search(&quotient, &options, control, judge);
    match &exploration.end {
        End::Cut(cut) => Err(cut.clone()),
        End::Complete => Ok(None),
        // Which pairs are beyond the bound depends on the threads; the round in which the bound is exceeded does not.
        End::Found(_) if bounds.is_some_and(|bounds| pairs.load(Ordering::Relaxed) > bounds.pairs) => Ok(None),
        End::Found(found) => {
            let path = exploration.path_to(&quotient, found, control)?;
            let real = quotient.unwind(&path, control)?;
            let mut event = None;
            twice.explorer(control).successors(real.last(), &mut |step| {
                if step.group == DISAGREEMENT {
                    event = Some(step.label);
                }
                Ok(())
            })?;
            let trace: Vec<LabelId> = real.trace().collect();
            if bounds.is_some_and(|bounds| trace.len() >= bounds.length) {
                return Ok(None);
            }
            match event {
                Some(event) => Ok(Some((trace, event))),
                None if bounds.is_some() => Ok(None),
                None => unreachable!("the image of a disagreement is one"),
            }
        }
    }
}
