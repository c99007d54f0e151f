//! A compiled model as a system of the waist.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use trefoil_control::Control as Budget;
use trefoil_system::{
    Cut, Explorer, Group, GroupId, Label, LabelId, Labels, Layout, Mark, Meaning, SlotSet, System, Value, Wrong,
};

use crate::program::{Control, ProcessType, ProcessTypeId, Program, Statement};

use super::arrangement::{Arrangement, COUNT};
use super::dependencies::groups;
use super::explorer::ModelExplorer;
use super::fault::{Fault, FaultKind};
use super::groups::Grouping;
use super::machine::Machine;
use super::reducing::{Analyses, reducing_explorer};
use super::survey::Survey;
use super::timeouts::{Apart, TimeoutsApart};
use super::touched::Reason;

/// A model with an arrangement of its rows.
pub struct Model {
    pub(crate) program: Arc<Program>,
    pub(crate) arrangement: Arrangement,
    labels: Arc<Labels>,
    /// How moves are put into groups; made when it is needed first, as is what the groups declare.
    grouping: OnceLock<Grouping>,
    groups: OnceLock<(Vec<Group>, Vec<Vec<Reason>>)>,
    count_changes: OnceLock<bool>,
    /// The groups with timeouts apart, where these can be.
    apart: OnceLock<Option<Apart>>,
    /// The labels of the moves.
    names: Vec<LabelId>,
    /// Statements that were tried or reached, those of the first process type first.
    reached: Vec<AtomicU8>,
    /// Labels of steps with a fault.
    faults: RwLock<BTreeMap<(LabelId, Fault), LabelId>>,
    fault_of: RwLock<BTreeMap<LabelId, Fault>>,
    /// Processes for which a walk had no room.
    wanted: Mutex<BTreeSet<(u8, ProcessTypeId)>>,
    /// The same model with room for them.
    wider: OnceLock<Arc<Model>>,
    room: BTreeSet<(u8, ProcessTypeId)>,
    initial: Vec<Value>,
    initial_fault: Option<FaultKind>,
    /// Whether a run may end in a state.
    marks: Vec<Mark>,
    /// Which processes depend on each other.
    pub(super) analyses: Analyses,
}

impl Model {
    /// A model with room for what runs from the start.
    pub fn new(program: Arc<Program>) -> Model {
        let mut room = BTreeSet::new();
        for (position, &(process, _)) in program.active.iter().enumerate() {
            room.insert((position as u8, process));
        }
        Model::with_room(program, room, false)
    }

    fn with_room(program: Arc<Program>, room: BTreeSet<(u8, ProcessTypeId)>, keeps_processes: bool) -> Model {
        let mut arrangement = Arrangement::with(&program, &room);
        arrangement.keeps_processes = keeps_processes;
        let labels = Arc::new(Labels::new());
        let mut names = Vec::new();
        for (number, position) in arrangement.positions.iter().enumerate() {
            for &kind in &position.types {
                let process = &program.processes[usize::from(kind)];
                for transition in process.transitions.iter().flatten() {
                    let statement = &process.statements[transition.statement as usize];
                    let name = format!("{}({number})", process.name);
                    let arguments = [format!("{}", statement.line), statement.text.clone()];
                    let arguments = arguments.map(String::into_boxed_str);
                    names.push(labels.intern(Label::of(name, arguments)));
                }
            }
        }
        let reached =
            program.processes.iter().flat_map(|process| &process.statements).map(|_| AtomicU8::new(0)).collect();
        let machine = Machine::new(&program, &arrangement);
        let (initial, initial_fault) = (machine.row[..arrangement.width()].to_vec(), machine.fault);
        let mut model = Model {
            program,
            arrangement,
            labels,
            grouping: OnceLock::new(),
            groups: OnceLock::new(),
            count_changes: OnceLock::new(),
            apart: OnceLock::new(),
            names,
            reached,
            faults: RwLock::default(),
            fault_of: RwLock::default(),
            wanted: Mutex::default(),
            wider: OnceLock::new(),
            room,
            initial,
            initial_fault,
            marks: Vec::new(),
            analyses: Analyses::default(),
        };
        model.marks = vec![Mark { meaning: Meaning::ValidEnd, reads: model.valid_end_reads(), values: 2 }];
        // One mark shows 32 propositions.
        let everything: SlotSet = (0..model.arrangement.width()).collect();
        for _ in 0..model.program.propositions.len().div_ceil(32) {
            let reads = everything.clone();
            model.marks.push(Mark { meaning: Meaning::Proposition, reads, values: Value::MAX });
        }
        if model.arrangement.code.may_be_undefined.contains(&true) {
            let shown = model.marks[1..].to_vec();
            model.marks.extend(shown.into_iter().map(|mark| Mark { meaning: Meaning::Undefined, ..mark }));
        }
        model
    }

    /// The fault in the computation of the initial values, if there is one: then there is no initial state.
    pub fn initial_fault(&self) -> Option<FaultKind> {
        self.initial_fault
    }

    /// The row that everything starts in, as long as nothing goes wrong there.
    pub(crate) fn first_row(&self) -> &[Value] {
        &self.initial
    }

    /// The compiled program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The same model with room for the processes that walks had no room for; nothing when there were none. It is made
    /// once, so that a caller which only has the narrow model finds the one that a search went on with.
    pub fn wider(&self) -> Option<&Arc<Model>> {
        if let Some(known) = self.wider.get() {
            return Some(known);
        }
        let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if wanted.is_empty() {
            return None;
        }
        Some(self.wider.get_or_init(|| {
            let room = self.room.union(&wanted).copied().collect();
            Arc::new(Model::with_room(self.program.clone(), room, self.arrangement.keeps_processes))
        }))
    }

    /// The widest model that searches of this one went on with, if it was too narrow.
    pub fn widest(&self) -> Option<&Arc<Model>> {
        let mut widest = self.wider.get()?;
        while let Some(wider) = widest.wider.get() {
            widest = wider;
        }
        Some(widest)
    }

    /// The label of steps that begin with a statement of the process at a position.
    pub(crate) fn step_label(&self, position: usize, process: &ProcessType, statement: &Statement) -> LabelId {
        let name = format!("{}({position})", process.name);
        let arguments = [statement.line.to_string(), statement.text.clone()];
        let arguments = arguments.map(String::into_boxed_str);
        self.labels.intern(Label::of(name, arguments))
    }

    /// The same model with room for every process that can be created, in any order. Its rows are long.
    pub fn with_all_room(&self) -> Model {
        let mut room = self.room.clone();
        let kinds: BTreeSet<ProcessTypeId> = self.program.runs.iter().map(|run| run.process).collect();
        for position in 0..crate::compile::MOST_PROCESSES {
            room.extend(kinds.iter().map(|&kind| (position as u8, kind)));
        }
        Model::with_room(self.program.clone(), room, self.arrangement.keeps_processes)
    }

    /// The same model with processes that stay at their ends forever.
    pub fn keeping_processes(&self) -> Model {
        Model::with_room(self.program.clone(), self.room.clone(), true)
    }

    /// The same model, with room for as many processes, in which those at their ends go.
    pub fn letting_processes_go(&self) -> Model {
        Model::with_room(self.program.clone(), self.room.clone(), false)
    }

    /// Do processes stay at their ends forever?
    pub fn keeps_processes(&self) -> bool {
        self.arrangement.keeps_processes
    }

    /// Notes that a walk had no room for a process.
    #[cold]
    pub(crate) fn want(&self, wanted: (u8, ProcessTypeId)) {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).insert(wanted);
    }

    /// How moves are put into groups.
    pub(super) fn grouping(&self) -> &Grouping {
        self.grouping.get_or_init(|| Grouping::new(&self.program, &self.arrangement))
    }

    fn declared(&self) -> &(Vec<Group>, Vec<Vec<Reason>>) {
        self.groups
            .get_or_init(|| groups(Survey::new(&self.program, &self.arrangement), &self.arrangement, self.grouping()))
    }

    /// Why a group reads or writes more than its own statement names.
    pub fn reasons(&self, group: GroupId) -> &[Reason] {
        &self.declared().1[group.index()]
    }

    /// Can the number of processes change?
    pub(super) fn changes_count(&self) -> bool {
        *self.count_changes.get_or_init(|| self.groups().iter().any(|group| group.may_write.contains(COUNT)))
    }

    /// Does a group depend on whether anything can happen?
    pub(super) fn reads_timeout(&self, group: u32) -> bool {
        self.declared().1[group as usize].contains(&Reason::Timeout)
    }

    /// The label of the steps that begin with a move.
    #[inline]
    pub(crate) fn name(&self, step: u32) -> LabelId {
        self.names[step as usize]
    }

    /// Notes that a statement was tried or reached.
    #[inline]
    pub(crate) fn reach(&self, statement: u32) {
        let reached = &self.reached[statement as usize];
        if reached.load(Ordering::Relaxed) == 0 {
            reached.store(1, Ordering::Relaxed);
        }
    }

    /// The statements that no search of this model has tried, by process type.
    pub fn unreached(&self) -> Vec<(ProcessTypeId, Vec<Control>)> {
        let mut all = Vec::new();
        let mut first = 0;
        for (kind, process) in self.program.processes.iter().enumerate() {
            let missing: Vec<Control> = (1..process.statements.len())
                .filter(|&state| {
                    process.statements[state].listed && self.reached[first + state].load(Ordering::Relaxed) == 0
                })
                .map(|state| state as Control)
                .collect();
            first += process.statements.len();
            all.push((kind as ProcessTypeId, missing));
        }
        all
    }

    /// Was this statement tried or reached?
    pub fn has_reached(&self, kind: ProcessTypeId, statement: Control) -> bool {
        let before = &self.program.processes[..usize::from(kind)];
        let first: usize = before.iter().map(|process| process.statements.len()).sum();
        self.reached[first + statement as usize].load(Ordering::Relaxed) != 0
    }

    pub(crate) fn fault_label(&self, label: LabelId, fault: Fault) -> LabelId {
        if let Some(&known) = self.faults.read().unwrap_or_else(PoisonError::into_inner).get(&(label, fault)) {
            return known;
        }
        let known = self.labels.get(label);
        let mut arguments = known.arguments().to_vec();
        let process = &self.program.processes[usize::from(fault.process)];
        let statement = &process.statements[fault.statement as usize];
        arguments.push(format!("{}: {} line {}", fault.kind, process.name, statement.line).into_boxed_str());
        let broken = self.labels.intern(Label::of(known.name().unwrap_or_default(), arguments));
        self.faults.write().unwrap_or_else(PoisonError::into_inner).insert((label, fault), broken);
        self.fault_of.write().unwrap_or_else(PoisonError::into_inner).insert(broken, fault);
        broken
    }

    /// The run-time error of a step with this label.
    pub fn fault(&self, label: LabelId) -> Option<Fault> {
        self.fault_of.read().unwrap_or_else(PoisonError::into_inner).get(&label).copied()
    }

    /// The first label that may belong to a fault; the labels of other steps come before it.
    pub fn first_fault_label(&self) -> LabelId {
        LabelId(self.names.iter().map(|name| name.0 + 1).max().unwrap_or(2))
    }
}

impl System for Model {
    fn layout(&self) -> &Layout {
        &self.arrangement.layout
    }

    fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    fn groups(&self) -> &[Group] {
        &self.declared().0
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn initial(&self, _: &Budget) -> Result<Vec<Value>, Cut> {
        match self.initial_fault {
            None => Ok(self.initial.clone()),
            Some(fault) => {
                let message = format!("an initial value cannot be computed: {fault}");
                Err(Cut::Wrong(Box::new(Wrong { message, place: None, hint: None })))
            }
        }
    }

    fn explorer<'a>(&'a self, control: &'a Budget) -> Box<dyn Explorer + 'a> {
        Box::new(ModelExplorer::new(self, control))
    }

    fn reducing_explorer<'a>(
        &'a self,
        control: &'a Budget,
        visible: &[u32],
    ) -> Result<Box<dyn Explorer + 'a>, &'static str> {
        reducing_explorer(self, control, visible)
    }

    fn with_last_resorts(&self) -> Option<Box<dyn System + '_>> {
        let apart = self.apart.get_or_init(|| Apart::new(self));
        apart.as_ref().map(|apart| Box::new(TimeoutsApart { model: self, apart }) as Box<dyn System + '_>)
    }

    fn widened(&self) -> Option<Arc<dyn System>> {
        self.wider().map(|wider| wider.clone() as Arc<dyn System>)
    }

    fn error(&self, label: LabelId) -> u32 {
        self.fault(label).map_or(0, |fault| fault.kind.number())
    }

    fn first_error(&self) -> LabelId {
        self.first_fault_label()
    }

    fn describe(&self, row: &[Value]) -> String {
        super::describe::describe(self, row)
    }
}
