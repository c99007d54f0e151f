//! Fair cycles in a quotient by symmetry.
//!
//! In a quotient a step leads to a representative, and the agents of the next state are those of this one renamed by
//! the element that was applied. So agent 3 of one state is not agent 3 of the next one, and marks with the numbers of
//! agents would be wrong. Instead, a strongly connected component is looked at from one of its pairs, its root. Let a
//! spanning tree give each pair a *frame*: which agent of the root each of its agents is, along the tree. An edge that
//! is not in the tree leads to a pair whose frame says something else; both are right, so an agent of the root and its
//! image under this edge are interchangeable: a run that goes around is at the same pair with one in the place of the
//! other (these elements generate the group of all ways around, by Schreier's lemma). Joining them by union-find gives
//! the *classes* of agents of the root. A class can be served as a whole or not at all: the component has a weakly fair
//! run exactly when each class has an agent that takes part in a step or initiates nothing somewhere. Strong fairness
//! takes out the states in which an agent is enabled whose class never moves, and decomposes the rest again, with new
//! classes (after Emerson and Sistla, *Utilizing symmetry when model checking under fairness assumptions*, 1997, and
//! Gyuris and Sistla, *On-the-fly model checking under fairness that exploits symmetry*, 1999; both search a product
//! with permutations, while here nothing is added to the quotient).
//!
//! All steps of a representative count, also several with one target: each has its own element and agents. Nothing
//! depends on the strategy being exact.
//!
//! Elements are not kept by the search. They are computed again inside components on which everything else is right,
//! and only where the orbits of agents under the whole group, which are unions of classes, do not decide already.
//!
//! # Cycles
//!
//! A cycle is looked for in the component by agents of the root: from where the run is, to the nearest edge with a
//! missing mark or one that serves an agent that is still waiting, following this one agent through the renamings, and
//! so on, and home. Each agent of the root is then served on the first round; the real run repeats the round until its
//! first state recurs, as often as the order of the element of the round says.
//!
//! Cost: for the decision the steps of each pair of the component, canonicalised, and a byte for each agent and pair;
//! for a cycle the same for the pairs that are met.

use std::collections::{HashMap, VecDeque};

use trefoil_control::Control;
use trefoil_explore::Reader;
use trefoil_questions::{ErrorKinds, Fairness};
use trefoil_symmetry::{CarryingExplorer, Quotient};
use trefoil_system::{Action, Cut, LabelId, StateId, System, Value};

use crate::fairness::{Agents, parts};
use crate::graph::Part;
use crate::product::{Pair, Product};

type PairNumbers = HashMap<Pair, u32, foldhash::fast::FixedState>;

/// A quotient whose steps were kept.
pub(crate) struct Folding<'f> {
    pub(crate) quotient: &'f Quotient<'f>,
    no_steps: ErrorKinds,
    /// How many agents there are.
    agents: usize,
    /// The orbit of each agent under the whole group.
    orbits: Vec<u8>,
}

/// The elements of the steps of one state after the other.
pub(crate) struct Folder<'f> {
    folding: &'f Folding<'f>,
    reader: Reader<'f>,
    carrying: CarryingExplorer<'f>,
    control: &'f Control,
    row: Vec<Value>,
    identity: Vec<u8>,
}

/// The steps of a state that were kept.
#[derive(Clone, Debug, Default)]
struct Carried {
    /// For each, its place among all steps that the system gives.
    places: Vec<u32>,
    /// For each, the images of the agents.
    images: Vec<u8>,
}

impl<'f> Folding<'f> {
    /// For the graph of a quotient of a system with this action.
    pub(crate) fn new(
        quotient: &'f Quotient<'f>,
        action: &dyn Action,
        graph: Part<'_>,
        no_steps: ErrorKinds,
        control: &Control,
    ) -> Folding<'f> {
        let seen = graph.notes().iter().flat_map(|note| note.agents.iter()).max().map_or(0, |&most| most as usize + 1);
        let agents = seen.max(action.agents());
        let mut orbits = Classes::new(agents);
        let mut actor = action.actor(control);
        for generator in action.generators() {
            for agent in 0..agents as u32 {
                orbits.join(agent as u8, actor.apply_to_agent(generator, agent) as u8);
            }
        }
        let orbits = (0..agents).map(|agent| orbits.of(agent as u8)).collect();
        Folding { quotient, no_steps, agents, orbits }
    }

    /// For the states of a part of this graph.
    pub(crate) fn folder(&'f self, graph: Part<'f>, control: &'f Control) -> Folder<'f> {
        Folder {
            folding: self,
            reader: graph.states.reader(),
            carrying: self.quotient.carrying(control),
            control,
            row: vec![0; self.quotient.layout().width()],
            identity: (0..self.agents).map(|agent| agent as u8).collect(),
        }
    }
}

impl Folder<'_> {
    /// Computes the steps of a state again.
    fn load(&mut self, state: u32, into: &mut Carried) -> Result<(), Cut> {
        self.reader.row(StateId(state), &mut self.row);
        into.places.clear();
        into.images.clear();
        let Folding { quotient, no_steps, agents, .. } = self.folding;
        let first_error = quotient.first_error();
        let is_wrong = |label: LabelId| label >= first_error && no_steps.contains(quotient.error(label));
        let (mut place, mut elements) = (0, Vec::new());
        self.carrying.steps(&self.row, &mut |carried| {
            if !is_wrong(carried.step.label) {
                into.places.push(place);
                elements.push(carried.element.to_vec());
            }
            place += 1;
            Ok(())
        })?;
        for element in elements {
            for agent in 0..*agents as u32 {
                into.images.push(self.carrying.agent(&element, agent) as u8);
            }
        }
        Ok(())
    }
}

impl Carried {
    /// The images of the agents at a step; a state that cannot move repeats itself.
    fn images<'c>(&'c self, step: u32, identity: &'c [u8]) -> &'c [u8] {
        if self.places.is_empty() {
            return identity;
        }
        let agents = identity.len();
        &self.images[step as usize * agents..][..agents]
    }
}

/// Union-find over agents.
#[derive(Clone, Debug)]
struct Classes(Vec<u8>);

impl Classes {
    fn new(agents: usize) -> Classes {
        Classes((0..agents).map(|agent| agent as u8).collect())
    }

    fn of(&mut self, mut agent: u8) -> u8 {
        while self.0[agent as usize] != agent {
            self.0[agent as usize] = self.0[self.0[agent as usize] as usize];
            agent = self.0[agent as usize];
        }
        agent
    }

    fn join(&mut self, one: u8, other: u8) {
        let (one, other) = (self.of(one), self.of(other));
        self.0[one.max(other) as usize] = one.min(other);
    }
}

/// What happens to classes of agents in a component.
#[derive(Clone, Debug)]
struct Served {
    enabled: Vec<bool>,
    resting: Vec<bool>,
    moving: Vec<bool>,
}

impl Served {
    fn new(agents: usize) -> Served {
        Served { enabled: vec![false; agents], resting: vec![false; agents], moving: vec![false; agents] }
    }

    fn note(&mut self, enabled: Agents, frame: &[u8]) {
        for (agent, &known) in (0..).zip(frame) {
            let into = if enabled.contains(agent) { &mut self.enabled } else { &mut self.resting };
            into[known as usize] = true;
        }
    }

    fn note_step(&mut self, moving: Agents, frame: &[u8]) {
        for (agent, &known) in (0..).zip(frame) {
            self.moving[known as usize] |= moving.contains(agent);
        }
    }

    /// The same of classes.
    fn joined(&self, classes: &mut Classes) -> Served {
        let mut joined = Served::new(self.moving.len());
        for agent in 0..self.moving.len() {
            let class = classes.of(agent as u8) as usize;
            joined.enabled[class] |= self.enabled[agent];
            joined.resting[class] |= self.resting[agent];
            joined.moving[class] |= self.moving[agent];
        }
        joined
    }

    /// Is a class never served?
    fn lacks(&self, class: u8, fairness: Fairness) -> bool {
        let class = class as usize;
        self.enabled[class] && !self.moving[class] && (fairness == Fairness::Strong || !self.resting[class])
    }
}

/// A component as seen from its root.
struct Frames {
    numbers: PairNumbers,
    frames: Vec<u8>,
    classes: Classes,
    served: Served,
}

impl Frames {
    fn frame(&self, pair: Pair, agents: usize) -> &[u8] {
        &self.frames[self.numbers[&pair] as usize * agents..][..agents]
    }
}

/// The frames and classes of a component.
fn frames(
    product: &Product<'_>,
    folder: &mut Folder<'_>,
    root: Pair,
    inside: impl Fn(Pair) -> bool,
) -> Result<Frames, Cut> {
    let agents = folder.folding.agents;
    let graph = product.graph;
    let identity = folder.identity.clone();
    let mut found = Frames {
        numbers: PairNumbers::default(),
        frames: identity.clone(),
        classes: Classes::new(agents),
        served: Served::new(agents),
    };
    found.numbers.insert(root, 0);
    let mut waiting = VecDeque::from([root]);
    let (mut carried, mut here) = (Carried::default(), Vec::new());
    while let Some(pair) = waiting.pop_front() {
        folder.load(pair.state, &mut carried)?;
        here.clear();
        here.extend_from_slice(found.frame(pair, agents));
        found.served.note(graph.enabled(pair.state), &here);
        product.steps(pair, |step| {
            if !inside(step.target) {
                return;
            }
            found.served.note_step(graph.taking_part(step.note), &here);
            let images = carried.images(step.step, &identity);
            let next = found.numbers.len() as u32;
            let number = *found.numbers.entry(step.target).or_insert(next);
            if number == next {
                waiting.push_back(step.target);
                found.frames.resize(found.frames.len() + agents, 0);
            }
            let there = &mut found.frames[number as usize * agents..][..agents];
            for (&image, &known) in images.iter().zip(&here) {
                if number == next {
                    there[image as usize] = known;
                } else {
                    found.classes.join(known, there[image as usize]);
                }
            }
        });
        if found.frames.len() == found.frames.capacity() {
            folder.control.afford(found.frames.len() * 2 + found.numbers.len() * 24)?;
        }
    }
    found.served = found.served.joined(&mut found.classes);
    Ok(found)
}

/// The parts of a component on which all marks occur that have a fair run: under weak fairness, the whole of it.
pub(crate) fn fair_parts(
    product: &Product<'_>,
    folder: &mut Folder<'_>,
    members: Vec<Pair>,
    all: u32,
    control: &Control,
) -> Result<Vec<Vec<Pair>>, Cut> {
    let (graph, fairness, agents) = (product.graph, product.fairness, folder.folding.agents);
    let mut fair = Vec::new();
    let mut work = vec![members];
    while let Some(members) = work.pop() {
        control.check()?;
        let numbers: PairNumbers = members.iter().zip(0..).map(|(&pair, number)| (pair, number)).collect();
        let inside = |pair: Pair| numbers.contains_key(&pair);
        let (mut marks, mut any, mut served) = (0, false, Served::new(agents));
        let orbits = &folder.folding.orbits;
        for &member in &members {
            served.note(graph.enabled(member.state), orbits);
            product.steps(member, |step| {
                if inside(step.target) {
                    marks |= step.marks;
                    any = true;
                    served.note_step(graph.taking_part(step.note), orbits);
                }
            });
        }
        if !any || marks != all {
            continue;
        }
        let lacks = |served: &Served, class: u8| served.lacks(class, fairness);
        // Whether an agent is enabled in a pair whose class is never served.
        let stays: Vec<bool> = if orbits.iter().any(|&orbit| lacks(&served, orbit)) {
            let waits = |pair: &Pair| {
                let enabled = graph.enabled(pair.state);
                (0..).zip(orbits).any(|(agent, &orbit)| enabled.contains(agent) && lacks(&served, orbit))
            };
            members.iter().map(|pair| !waits(pair)).collect()
        } else {
            let mut found = frames(product, folder, members[0], inside)?;
            let classes: Vec<u8> = (0..agents).map(|agent| found.classes.of(agent as u8)).collect();
            if !classes.iter().any(|&class| lacks(&found.served, class)) {
                drop(numbers);
                fair.push(members);
                continue;
            }
            let waits = |pair: &Pair| {
                let enabled = graph.enabled(pair.state);
                let frame = found.frame(*pair, agents);
                let lacking = |known: u8| lacks(&found.served, classes[known as usize]);
                (0..).zip(frame).any(|(agent, &known)| enabled.contains(agent) && lacking(known))
            };
            members.iter().map(|pair| !waits(pair)).collect()
        };
        if fairness == Fairness::Weak {
            continue;
        }
        drop(numbers);
        let left: Vec<Pair> =
            members.into_iter().zip(stays).filter(|(_, stays)| *stays).map(|(pair, _)| pair).collect();
        work.extend(parts(product, &left));
    }
    Ok(fair)
}

/// A step of a cycle: the state it leaves, and its place among all steps that the system gives there; no place where
/// the state cannot move and is repeated.
pub(crate) type FoldedStep = (u32, Option<u32>);

/// A search for an edge of a component by a pair and, where one is followed, an agent of it.
type Node = (Pair, Option<u8>);

/// Looks for a cycle through a component.
struct Seeker<'s> {
    product: &'s Product<'s>,
    folder: Folder<'s>,
    known: HashMap<u32, Carried, foldhash::fast::FixedState>,
    home: Pair,
    here: Pair,
    /// The agents of the root that those of `here` are.
    frame: Vec<u8>,
    collected: u32,
    met: Vec<bool>,
    cycle: Vec<FoldedStep>,
}

/// The edge of a node that leads on: the edges before it in its state, its step and marks.
#[derive(Clone, Copy)]
struct Taken {
    from: Pair,
    to: Pair,
    step: u32,
    marks: u32,
    note: Option<u32>,
}

/// A round through an accepted component, from a pair of it back to this pair, on which all marks occur and each agent
/// is served that fairness demands.
pub(crate) fn fair_round(
    product: &Product<'_>,
    folding: &Folding<'_>,
    home: Pair,
    inside: impl Fn(Pair) -> bool + Copy,
    control: &Control,
) -> Result<Vec<FoldedStep>, Cut> {
    let mut folder = folding.folder(product.graph, control);
    let agents = folding.agents;
    let met: Vec<bool> = if product.fairness == Fairness::None {
        vec![true; agents]
    } else {
        let mut seen = frames(product, &mut folder, home, inside)?;
        (0..agents).map(|agent| !seen.served.enabled[seen.classes.of(agent as u8) as usize]).collect()
    };
    let frame = folder.identity.clone();
    let mut seeker = Seeker {
        product,
        folder,
        known: HashMap::default(),
        home,
        here: home,
        frame,
        collected: 0,
        met,
        cycle: Vec::new(),
    };
    let all = product.automaton.all_marks();
    loop {
        let missing = all & !seeker.collected;
        let waiting = (0..agents).filter(|&agent| !seeker.met[seeker.frame[agent] as usize]);
        let mut starts: Vec<Node> = waiting.map(|agent| (seeker.here, Some(agent as u8))).collect();
        if missing != 0 {
            starts.push((seeker.here, None));
        }
        if starts.is_empty() {
            break;
        }
        seeker.go(starts, inside, control, |seeker, node, taken| match node.1 {
            None => taken.marks & missing != 0,
            Some(agent) => seeker.serves(taken, u32::from(agent)),
        })?;
    }
    if seeker.here != home || seeker.cycle.is_empty() {
        let start = (seeker.here, None);
        seeker.go(vec![start], inside, control, |seeker, _, taken| taken.to == seeker.home)?;
    }
    Ok(seeker.cycle)
}

impl Seeker<'_> {
    /// Does a step do what fairness demands of an agent of its state?
    fn serves(&self, taken: &Taken, agent: u32) -> bool {
        let graph = self.product.graph;
        graph.taking_part(taken.note).contains(agent)
            || self.product.fairness == Fairness::Weak && !graph.enabled(taken.from.state).contains(agent)
    }

    fn carried(&mut self, state: u32) -> Result<&Carried, Cut> {
        if !self.known.contains_key(&state) {
            let mut carried = Carried::default();
            self.folder.load(state, &mut carried)?;
            self.known.insert(state, carried);
        }
        Ok(&self.known[&state])
    }

    /// Goes on to the nearest edge that is looked for, and takes it. Steps are tried in the order of the system, so the
    /// numbers of states do not matter.
    fn go(
        &mut self,
        starts: Vec<Node>,
        inside: impl Fn(Pair) -> bool,
        control: &Control,
        found: impl Fn(&Seeker<'_>, Node, &Taken) -> bool,
    ) -> Result<(), Cut> {
        let mut before: HashMap<Node, Option<(Node, Taken)>, foldhash::fast::FixedState> =
            starts.iter().map(|&node| (node, None)).collect();
        let mut waiting: VecDeque<Node> = starts.into();
        let mut edges: Vec<Taken> = Vec::new();
        while let Some(node) = waiting.pop_front() {
            control.check()?;
            self.carried(node.0.state)?;
            edges.clear();
            self.product.steps(node.0, |step| {
                if inside(step.target) {
                    let (marks, note) = (step.marks, step.note);
                    edges.push(Taken { from: node.0, to: step.target, step: step.step, marks, note });
                }
            });
            for taken in &edges {
                if found(self, node, taken) {
                    let mut way = vec![*taken];
                    let mut at = node;
                    while let Some((earlier, taken)) = before[&at] {
                        way.push(taken);
                        at = earlier;
                    }
                    for taken in way.into_iter().rev() {
                        self.take(&taken)?;
                    }
                    return Ok(());
                }
                let images = self.known[&node.0.state].images(taken.step, &self.folder.identity);
                let next = (taken.to, node.1.map(|agent| images[agent as usize]));
                before.entry(next).or_insert_with(|| {
                    waiting.push_back(next);
                    Some((node, *taken))
                });
            }
        }
        panic!("a fair component has what fairness demands")
    }

    fn take(&mut self, taken: &Taken) -> Result<(), Cut> {
        self.collected |= taken.marks;
        let agents = self.frame.len();
        for agent in 0..agents {
            if self.serves(taken, agent as u32) {
                self.met[self.frame[agent] as usize] = true;
            }
        }
        let identity = self.folder.identity.clone();
        let carried = self.carried(taken.from.state)?;
        let place = carried.places.get(taken.step as usize).copied();
        let images = carried.images(taken.step, &identity).to_vec();
        let frame = self.frame.clone();
        for (&image, known) in images.iter().zip(frame) {
            self.frame[image as usize] = known;
        }
        self.cycle.push((taken.from.state, place));
        self.here = taken.to;
        Ok(())
    }
}
