//! The symmetries of a model: found in its program, proved on its program, and applied to its states.
//!
//! After Donaldson, Miller and Calder, *Finding symmetry in models of concurrent systems by static channel diagram
//! analysis*, 2005: processes that run the same text and are connected in the same way can be exchanged. The user
//! declares nothing. The stages, in order:
//!
//! - [`startup`] runs the model until all processes have started;
//! - [`classes`] infers which variables, array indices and message fields hold processes, channels, or values of the
//!   model's own that are only compared and passed on;
//! - [`constants`] evaluates expressions that never change for a process, such as `(_pid + 1) % N`;
//! - [`terms`] writes each statement as a term over everything that a symmetry can move ([`items`]);
//! - [`sequences`] finds assignments whose order is unobservable, and [`events`] the events that a trace declaration
//!   watches;
//! - [`graph`] makes one coloured graph of all this, whose automorphisms are the proposed symmetries;
//! - [`proof`] checks each of them directly: restrictions 1 and 2 of the paper, and Promela's additions to them;
//! - [`subgroup`] finds the largest group that is proved if the proof rejects one of them;
//! - [`diagram`] draws the static channel diagram, and names the statement that breaks an automorphism of it;
//! - [`gate`] lets the group act once all processes have started, if the start-up takes several steps;
//! - [`points`] finds a few items that determine all others, and [`action`] lets the group act on rows ([`rows`]),
//!   whose parts ([`sheets`]) are drawn ([`pictures`]); [`messages`] lets it act on the labels that formulas see;
//! - [`propositions`] finds the part of the group that keeps a claim.
//!
//! # Processes that end
//!
//! In Promela a process disappears only after all younger ones, so two processes that end are not symmetric: the
//! younger one can disappear first. If no statement can observe that a process has disappeared (none uses `_nr_pr` or
//! `_last`, refers to such a process, has priorities, or uses a channel of it), the search runs on a model whose
//! processes stay at their ends forever. That model has the runs of the original without the steps in which processes
//! disappear. It violates an assertion exactly when the original does. Where it has no step, processes of the original
//! can only disappear, and then the original has no step either; so `timeout` is true in both, and an end state is
//! invalid in both or in neither, because a process at its end is valid. If a statement can observe it, no symmetry
//! moves processes that end.

mod action;
mod classes;
mod constants;
mod diagram;
mod events;
mod failing;
mod gate;
mod graph;
mod items;
mod messages;
mod numbers;
mod pictures;
mod points;
mod proof;
mod propositions;
mod rows;
mod sequences;
mod sheets;
mod startup;
mod subgroup;
mod terms;

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_groups::{Permutation, PermutationGroup};
use trefoil_source::Span;
use trefoil_system::{Action, Cut, Explorer, Group, LabelId, Labels, Layout, Mark, System, Value};

use crate::machine::Model;
use crate::program::{Node, Program};
use action::ModelAction;
use classes::{Classes, Domain};
use constants::Constants;
pub use diagram::{Diagram, DiagramNode, NodeKind};
use gate::Gated;
use items::{Item, ItemId, Items};
pub use messages::SymmetricMessages;
use points::Points;
use proof::Proof;
use propositions::Propositions;
pub use propositions::{KeptPart, SymmetricPart};
use rows::Rows;
use startup::Settled;

/// Why a permutation is not a symmetry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The place, if there is one.
    pub span: Option<Span>,
    /// In words.
    pub text: String,
}

impl Reason {
    fn at(span: Option<Span>, text: impl Into<String>) -> Reason {
        Reason { span, text: text.into() }
    }
}

/// A model with the group of its symmetries.
pub struct Symmetric {
    model: Arc<Model>,
    action: Gated,
    propositions: Propositions,
}

impl Symmetric {
    /// The model; its processes may stay at their ends, see [`Model::keeps_processes`].
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// How many processes have to go before nothing can happen any more, in a state where nothing else can, or in the
    /// state that is symmetric to it where they are fewest: as many as are younger than the youngest that may be one
    /// which has not ended.
    pub fn must_go(&self, row: &[Value]) -> u32 {
        if !self.model.keeps_processes() {
            return 0;
        }
        let running = row[rows::COUNT];
        let stuck = |position: u32| {
            self.action.action.together(position).iter().any(|&other| !self.model.has_ended(row, other))
        };
        (0..running).take_while(|&gone| !stuck(running - 1 - gone)).count() as u32
    }

    /// An element that carries such a state to the one where as few as that have to go.
    pub fn fewest_go(&self, row: &[Value]) -> Vec<u32> {
        let target = (row[rows::COUNT]).checked_sub(1 + self.must_go(row));
        let from = target.and_then(|target| {
            self.action.action.together(target).into_iter().find(|&other| !self.model.has_ended(row, other))
        });
        match (from, target) {
            (Some(from), Some(target)) => self.action.action.carrying(from, target),
            _ => (0..self.action.points() as u32).collect(),
        }
    }

    /// Control states that stand for each other, by process type: when one is reached, all are.
    pub fn control_orbits(&self) -> Vec<Vec<(u16, u32)>> {
        self.action.action.control_orbits()
    }

    /// Do processes start one by one, while others run? Then the group acts once that is complete, and fixes all other
    /// states.
    pub fn is_staggered(&self) -> bool {
        self.action.gate.is_some()
    }

    /// How many points the group permutes.
    pub fn points(&self) -> usize {
        self.action.points()
    }

    /// Does the group act on this state?
    pub fn is_started(&self, row: &[Value]) -> bool {
        self.action.is_open(row)
    }
}

impl System for Symmetric {
    fn layout(&self) -> &Layout {
        self.model.layout()
    }

    fn labels(&self) -> &Arc<Labels> {
        self.model.labels()
    }

    fn groups(&self) -> &[Group] {
        self.model.groups()
    }

    fn marks(&self) -> &[Mark] {
        self.model.marks()
    }

    fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut> {
        self.model.initial(control)
    }

    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        self.model.explorer(control)
    }

    fn reducing_explorer<'a>(
        &'a self,
        control: &'a Control,
        visible: &[u32],
    ) -> Result<Box<dyn Explorer + 'a>, &'static str> {
        self.model.reducing_explorer(control, visible)
    }

    fn action(&self) -> Option<&dyn Action> {
        Some(&self.action)
    }

    fn error(&self, label: LabelId) -> u32 {
        self.model.error(label)
    }

    fn first_error(&self) -> LabelId {
        self.model.first_error()
    }

    fn describe(&self, row: &[Value]) -> String {
        self.model.describe(row)
    }
}

/// The symmetries of a model, and the reasons why there are no more.
pub struct Symmetries {
    /// The model and its group, unless that is trivial.
    pub symmetric: Option<Arc<Symmetric>>,
    /// What each generator does, as cycles of names.
    pub generators: Vec<Vec<Vec<String>>>,
    /// Why there are no more.
    pub reasons: Vec<Reason>,
    /// Which process uses which channel; nothing if the analysis did not come so far.
    pub diagram: Diagram,
}

/// Finds and proves the symmetries of a program.
pub fn symmetries(program: &Arc<Program>, control: &Control) -> Result<Symmetries, Cut> {
    let none = |reasons| Symmetries { symmetric: None, generators: Vec::new(), reasons, diagram: Diagram::default() };
    if program.processes.is_empty() || program.active.is_empty() {
        return Ok(none(Vec::new()));
    }
    if let Some(trace) = program.trace.as_ref().filter(|trace| events::needs_process(program, trace)) {
        let why = "the events that this declaration watches are not known before the run";
        return Ok(none(vec![Reason::at(Some(trace.automaton.span), why)]));
    }
    let settled = match startup::settle(program, control)? {
        Ok(settled) => settled,
        Err(reason) => return Ok(none(vec![reason])),
    };
    if too_large(program, &settled) {
        return Ok(none(vec![Reason::at(None, "the model has too many variables to look for symmetries")]));
    }
    let mut constants = Constants::new(program, &settled);
    let classes = Classes::infer(program, &settled, &mut constants, control)?;
    let mut items = Items::new(program, &settled, &classes);
    let mut terms = match terms::terms(program, &settled, &classes, &constants, &mut items) {
        Ok(terms) => terms,
        Err(reason) => return Ok(none(vec![reason])),
    };
    let mut reasons = classes.reasons.clone();
    let visible = sees_ends(program, &settled);
    // While others are started, a process that goes would make room for them.
    let starter = settled.gate.as_ref().map(|gate| gate.starter);
    let ends_early = starter.is_some_and(|starter| (0..settled.ends.len()).any(|at| at != starter && settled.ends[at]));
    if let (true, Some(reason)) = (ends_early, &visible) {
        return Ok(none(vec![reason.clone()]));
    }
    if let Some(reason) = &visible {
        let ending = (0..settled.types.len()).filter(|&position| settled.ends[position]);
        for position in ending {
            terms.fixed.entry(items.process(position as u32)).or_insert_with(|| reason.clone());
        }
    }
    reasons.extend(terms.fixed.values().cloned());
    let Some(proposed) = graph::symmetries(program, &settled, &classes, &items, &terms, &constants, control)? else {
        return Ok(none(vec![Reason::at(None, "the model is too large to look for symmetries")]));
    };
    let everything = Rows::new(program, &settled.model, &classes, &items, &vec![true; items.len()]);
    let proof = Proof {
        program,
        settled: &settled,
        classes: &classes,
        items: &items,
        terms: &terms,
        constants: &constants,
        rows: &everything,
    };
    let mut generators = subgroup::proved(&proof, &proposed, &mut reasons, control)?;
    let diagram = diagram::diagram(program, &settled, &classes, &items, &constants);
    let shown = (items.processes() + items.channels()) as usize;
    let mut refused = Vec::new();
    let restricted = |images: &Vec<ItemId>| {
        Permutation::from_images(images[..shown].to_vec()).expect("processes and channels stay among themselves")
    };
    let proved: Vec<Permutation> = generators.iter().map(restricted).collect();
    let mut group = PermutationGroup::generate(shown, &proved, control)?;
    for images in diagram::suggested(&diagram, program, &settled, &classes, &items, control)? {
        control.check()?;
        // What else moves along may have been put together wrongly.
        if group.contains(&restricted(&images)) {
            continue;
        }
        match proof.check(&images) {
            Ok(()) => {
                generators.push(images);
                let proved: Vec<Permutation> = generators.iter().map(restricted).collect();
                group = PermutationGroup::generate(shown, &proved, control)?;
            }
            Err(reason) => refused.push((images, reason)),
        }
    }
    let running = items.processes() as usize;
    let on_processes = |images: &[ItemId]| Permutation::from_images(images[..running].to_vec()).ok();
    let proved: Vec<Permutation> = generators.iter().filter_map(|images| on_processes(images)).collect();
    let exchanged = PermutationGroup::generate(running, &proved, control)?;
    for (images, reason) in refused {
        // Where processes are exchanged with other things moving along, nothing is missing.
        if on_processes(&images).is_some_and(|permutation| exchanged.contains(&permutation)) {
            continue;
        }
        reasons.push(diagram::told(program, &settled, &items, &images, reason, &group));
    }
    reasons.sort_by_key(|reason| (reason.span.map(|span| (span.start, span.end)), reason.text.clone()));
    reasons.dedup();
    let points = Points::new(&items, &generators, control)?;
    if points.items.is_empty() {
        return Ok(Symmetries { diagram, ..none(reasons) });
    }
    let mut moved = vec![false; items.len()];
    points.orbits.iter().flatten().for_each(|&item| moved[item as usize] = true);
    let named: Vec<Vec<Vec<String>>> =
        generators.iter().map(|images| cycles(program, &settled, &classes, &items, images)).collect();
    let names = points.items.iter().map(|&item| name(program, &settled, &items, item)).collect();
    let rows = Rows::new(program, &settled.model, &classes, &items, &moved);
    let propositions = Propositions::new(program, &settled, &classes, &constants, &items, &points);
    let ending = (0..settled.types.len()).any(|position| moved[position] && settled.ends[position]) || ends_early;
    let model = if ending { Arc::new(settled.model.keeping_processes()) } else { settled.model };
    let action = Gated { action: ModelAction::new(model.clone(), items, points, names, rows), gate: settled.gate };
    let symmetric = Some(Arc::new(Symmetric { model, action, propositions }));
    Ok(Symmetries { symmetric, generators: named, reasons, diagram })
}

/// Variables beyond this many are not looked at.
const MOST_CELLS: usize = 1 << 16;

fn too_large(program: &Program, settled: &Settled) -> bool {
    let own = |&kind: &u16| program.processes[usize::from(kind)].frame.cells.len();
    let channels: usize = settled.model.channels().iter().map(|queue| queue.capacity as usize).sum();
    program.globals.cells.len() + settled.types.iter().map(own).sum::<usize>() + channels > MOST_CELLS
}

/// A statement that observes the end of a process.
fn sees_ends(program: &Program, settled: &Settled) -> Option<Reason> {
    let ends = |kind: u16| (0..).zip(&settled.types).any(|(at, &other): (usize, _)| other == kind && settled.ends[at]);
    if program.uses_priority && settled.ends.contains(&true) {
        return Some(Reason::at(None, "processes end, and priorities depend on which processes remain"));
    }
    if program.uses_last && settled.ends.contains(&true) {
        return Some(Reason::at(None, "processes end one after the other, and `_last` reveals which one did"));
    }
    for (kind, process) in program.processes.iter().enumerate() {
        if ends(kind as u16) && !process.frame.channels.is_empty() {
            let why = "processes of this type end one after the other, and their channels disappear with them";
            return Some(Reason::at(Some(process.span), why));
        }
    }
    let mut found = None;
    for (kind, process) in program.processes.iter().enumerate() {
        let mut look = |root: u32, span: Span| {
            crate::walk::visit(program, root, &mut |_, node| {
                let seen = match node {
                    Node::ProcessCount => settled.ends.contains(&true),
                    Node::ProgramCounter(_) => settled.ends.contains(&true),
                    Node::Remote(remote) => ends(program.remotes[remote as usize].process),
                    _ => false,
                };
                if seen && found.is_none() {
                    let why = "processes end one after the other, and this expression reveals which have ended";
                    found = Some(Reason::at(Some(span), why));
                }
            });
        };
        if let Some(provided) = process.provided {
            look(provided, process.span);
        }
        for (state, transitions) in process.transitions.iter().enumerate() {
            for transition in transitions.iter().filter(|_| settled.reachable[kind][state]) {
                let span = process.statements[transition.statement as usize].span;
                for root in crate::walk::expressions_of(program, &transition.action) {
                    look(root, span);
                }
            }
        }
    }
    found
}

/// What a person calls an item.
fn name(program: &Program, settled: &Settled, items: &Items, item: ItemId) -> String {
    match items.item(item) {
        Item::Process(position) => {
            let process = &program.processes[usize::from(settled.types[position as usize])];
            format!("{}({position})", process.name)
        }
        Item::Channel(number) => {
            let queue = &settled.model.channels()[number as usize - 1];
            let kind = &settled.model.channel_kinds()[queue.kind as usize];
            match queue.position {
                None => kind.name.clone(),
                Some(position) => {
                    let owner = &program.processes[usize::from(settled.types[usize::from(position)])];
                    format!("{}({position}):{}", owner.name, kind.name)
                }
            }
        }
        Item::Own(_, value) => value.to_string(),
        Item::Control(kind, state) => {
            let process = &program.processes[usize::from(kind)];
            let statement = &process.statements[state as usize];
            format!("{} line {} `{}`", process.name, statement.line, statement.text)
        }
        Item::Local(kind, cell) => {
            let process = &program.processes[usize::from(kind)];
            format!("{}:{}", process.name, process.frame.cells[cell as usize].name)
        }
        Item::Global(cell) => program.globals.cells[cell as usize].name.clone(),
        Item::Fact(fact) => format!("fact {fact}"),
        Item::Array(array) => format!("array {array}"),
    }
}

/// The cycles of a permutation, by name. Control states, local variables and channel variables are omitted: they
/// follow.
fn cycles(
    program: &Program,
    settled: &Settled,
    classes: &Classes,
    items: &Items,
    images: &[ItemId],
) -> Vec<Vec<String>> {
    let is_shown = |item: ItemId| match items.item(item) {
        Item::Process(_) | Item::Channel(_) | Item::Own(..) => true,
        Item::Global(cell) => classes.domain[classes.global[cell as usize] as usize] != Domain::Channel,
        Item::Control(..) | Item::Local(..) | Item::Fact(_) | Item::Array(_) => false,
    };
    let mut seen = vec![false; images.len()];
    let mut cycles = Vec::new();
    for start in 0..images.len() as ItemId {
        let mut cycle = Vec::new();
        let mut at = start;
        while !std::mem::replace(&mut seen[at as usize], true) {
            cycle.push(name(program, settled, items, at));
            at = images[at as usize];
        }
        if cycle.len() > 1 && is_shown(start) {
            if matches!(items.item(start), Item::Own(..)) {
                cycle[0] = format!("values {}", cycle[0]);
            }
            // Several variables may hold the same values.
            if !cycles.contains(&cycle) {
                cycles.push(cycle);
            }
        }
    }
    cycles
}
