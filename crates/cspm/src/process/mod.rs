//! From processes to networks: operational semantics and compilation to supercombinators.
//!
//! # Terms
//!
//! The remaining behaviour of a process is a *term*: operators over operands, each term stored once and numbered
//! ([`terms`]). The evaluator gives a process as a control point and its environment; [`expand`] turns it into a term
//! as far as its operands are active, that is, can take the next step. What is not active yet (the second operand of
//! `;`, the operands of `|~|`) stays a name until it is reached, so recursion is unfolded no further than steps need
//! it.
//!
//! # One semantics for two purposes
//!
//! [`steps`] has the firing rules of every operator, once. A term may contain *holes*: places where a component of a
//! network stands. A hole can take a step under any label of its component and stays the same hole, and the step
//! remembers that the component takes part. So the firing rules of a term without holes are its transitions, and give
//! the LTS of a sequential process ([`leaf`]); the firing rules of a term with holes are the rules of a
//! supercombinator, and its reachable terms are the formats (Gibson-Robinson and Lowe, *Symmetry reduction in CSP model
//! checking*, 2019, definition 62): [`skeleton`]. FDR has two compilers for this.
//!
//! # Termination
//!
//! Every state that offers `✓` offers nothing else. Where an operator would add something beside it (`[]`, `/\`, `[>`)
//! the step becomes `τ` to `SKIP`, which is the law `P [] SKIP = P [> SKIP`. So a parallel composition terminates by
//! one common `✓`, and no later stage treats `✓` differently from a visible event that cannot be hidden. In scripts
//! with timed sections termination can be made to wait, and what is checked is closed at the end: [`timed`] says why
//! and how.
//!
//! # Cost
//!
//! A step of a leaf costs one evaluation of its communications, once per state. The rules of a network are found once
//! per format, in time proportional to their number and the nesting of operators above them.

mod action;
mod buffers;
mod chains;
mod codes;
mod compressed;
mod describe;
mod events;
mod expand;
mod families;
mod fixed;
mod growth;
mod layers;
mod leaf;
mod naming;
mod operators;
mod parallel;
mod schemas;
mod shapes;
mod skeleton;
mod states;
mod steps;
mod structure;
mod terms;
mod timed;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use trefoil_control::{Control, count};
use trefoil_lts::compress::Compression;
use trefoil_network::Network;
use trefoil_system::{Cut, LabelId, Labels};

use crate::eval::{Evaluator, Failure, ProcessId, ProcessValue, Result, Value};

pub use action::NoImage;
pub use codes::CODES;
pub use operators::Operator;
pub use structure::{MachineSize, Operands, Part, Structure};

use events::Events;
use leaf::Machines;
use schemas::Schemas;
use shapes::Shapes;
use terms::{TermId, Terms};

/// How processes are compiled.
#[derive(Clone, Copy, Debug)]
pub struct CompileOptions {
    /// Minimise every component modulo strong bisimilarity.
    pub compress_leaves: bool,
    /// Explore the whole process into one component instead of a network.
    pub expand: bool,
    /// How many states a process with parallel parts may have as a component before it becomes a network with formats
    /// of its own.
    pub leaf_states: usize,
    /// How many threads explore the arguments of compressions; 0 means one per core.
    pub threads: usize,
    /// Keep parts of rows that several states of a component have in common once.
    pub share_rows: bool,
    /// From how many states on those of a component are found by schemas; see [`Compiler`]'s module.
    pub schemas_from: usize,
    /// What compressions of the script have to keep; those that keep less are left out.
    pub keep: Keep,
}

/// What compressions keep of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Traces, stable failures and divergences.
    #[default]
    Failures,
    /// Refusals before and after every event as well.
    Refusals,
    /// Everything up to strong bisimilarity; what chooses between steps (`chase`, `deter`) is refused.
    Strong,
}

impl Keep {
    /// Is a compression used?
    fn allows(self, compression: Compression) -> bool {
        match self {
            Keep::Failures => true,
            Keep::Refusals => compression.keeps_refusals(),
            Keep::Strong => matches!(compression, Compression::Explicate | Compression::Sbisim),
        }
    }
}

impl Default for CompileOptions {
    fn default() -> CompileOptions {
        CompileOptions {
            compress_leaves: true,
            expand: false,
            leaf_states: 4_000,
            threads: 1,
            keep: Keep::default(),
            share_rows: true,
            schemas_from: 1_000,
        }
    }
}

/// The phase between those that explore and compress.
const EVALUATING: &str = "evaluating";

/// How many networks are kept for further questions: one on either side of a refinement.
const MOST_KEPT: usize = 2;

/// A compiled process.
#[derive(Clone)]
pub struct Machine {
    /// The network.
    pub network: Arc<Network>,
    /// For every component, which of the compiler's machines it is.
    machines: Vec<leaf::MachineId>,
    /// The initial term, components as holes; none if the process is one component.
    skeleton: Option<TermId>,
    /// The layer over all of it, by the name of its function.
    layer: Option<&'static str>,
}

/// Compiles the processes of a script, each only once.
pub struct Compiler {
    evaluator: Evaluator,
    control: Control,
    options: CompileOptions,
    events: Events,
    terms: Terms,
    shapes: Shapes,
    schemas: Schemas,
    machines: Machines,
    layers: Vec<layers::LayerData>,
    /// The process behind each number.
    processes: HashMap<ProcessId, ProcessValue, foldhash::fast::FixedState>,
    /// The term of each process that was expanded; none while it is being expanded.
    expanded: HashMap<ProcessId, Option<TermId>, foldhash::fast::FixedState>,
    /// The first process that was expanded to a term.
    origins: HashMap<TermId, ProcessId, foldhash::fast::FixedState>,
    /// What the script calls processes, once a caller wants to know.
    names: Option<naming::Names>,
    /// Whether the script has timed sections, in which termination waits.
    is_timed: bool,
    time: timed::Time,
    /// Compressions of the script that were left out.
    left_out: BTreeSet<&'static str>,
    /// The networks of the terms that were compiled last: a script asks several questions of one process, and what is
    /// proved of a network is kept with it.
    latest: VecDeque<(TermId, Machine)>,
    /// Whether a process was compressed, or would have been, as the script says.
    compresses: bool,
    /// The process being compiled, for the progress display.
    subject: String,
    labels: Arc<Labels>,
}

impl Compiler {
    /// A compiler for the processes of a script; their events become labels of this table.
    pub fn new(evaluator: Evaluator, labels: Arc<Labels>, control: Control, options: CompileOptions) -> Compiler {
        Compiler {
            layers: Vec::new(),
            is_timed: evaluator.is_timed(),
            time: timed::Time::default(),
            evaluator,
            control,
            options,
            events: Events::new(labels.clone()),
            terms: Terms::new(),
            shapes: Shapes::default(),
            schemas: Schemas::default(),
            machines: Machines::default(),
            processes: HashMap::default(),
            expanded: HashMap::default(),
            origins: HashMap::default(),
            names: None,
            left_out: BTreeSet::new(),
            latest: VecDeque::new(),
            compresses: false,
            subject: String::new(),
            labels,
        }
    }

    /// The network of a process; that of one of the last processes is not made again.
    pub fn compile(&mut self, process: &ProcessValue) -> Result<Machine> {
        if self.options.expand {
            return self.compile_alone(process);
        }
        let root = self.reached(process)?;
        if let Some((_, known)) = self.latest.iter().find(|(term, _)| *term == root) {
            return Ok(known.clone());
        }
        if self.latest.len() == MOST_KEPT {
            self.latest.pop_front();
        }
        let machine = self.compile_alone(process)?;
        self.latest.push_back((root, machine.clone()));
        Ok(machine)
    }

    /// The network of a process, which nothing else refers to unless it is a layer.
    fn compile_alone(&mut self, process: &ProcessValue) -> Result<Machine> {
        let root = self.reached(process)?;
        let machine = if self.options.expand {
            let root = if self.is_timed { self.terms.closed(root) } else { root };
            self.alone(root)?
        } else {
            self.closed_network_of(root)?
        };
        self.control.progress().within("");
        Ok(machine)
    }

    /// The term of a process that is about to be compiled.
    fn reached(&mut self, process: &ProcessValue) -> Result<TermId> {
        self.names = None;
        self.tell();
        self.control.progress().begin(EVALUATING, 0);
        self.expand(process)
    }

    /// Names the next process for the progress display.
    pub fn set_subject(&mut self, subject: &str) {
        self.subject = subject.split_whitespace().collect::<Vec<_>>().join(" ");
    }

    /// Updates the progress display.
    fn tell(&self) {
        let made = self.machines.data.len();
        let whole = match made {
            0 => format!("compiling {}", self.subject),
            1 => format!("compiling {}, 1 machine", self.subject),
            _ => format!("compiling {}, {} machines", self.subject, count(made as u64)),
        };
        self.control.progress().within(whole.trim_end());
    }

    /// Sets the control for budgets and interruptions; the evaluator has its own.
    pub fn set_control(&mut self, control: Control) {
        self.evaluator.set_control(control.clone());
        self.control = control;
    }

    /// Sets the options for the processes compiled next.
    pub fn set_options(&mut self, options: CompileOptions) {
        let leaves = |options: &CompileOptions| {
            (options.compress_leaves, options.leaf_states, options.share_rows, options.schemas_from)
        };
        // What depends on what compressions keep is made anew only if there was a compression.
        let otherwise = self.compresses && options.keep != self.options.keep;
        if otherwise || leaves(&options) != leaves(&self.options) {
            self.compresses = false;
            self.left_out.clear();
            self.machines = Machines::with_buffers(std::mem::take(&mut self.machines));
            self.layers.clear();
            self.latest.clear();
            // Terms of processes that were compressed or layered name machines.
            self.expanded.clear();
            self.terms.forget_machines();
            self.schemas = Schemas::default();
        }
        self.options = options;
    }

    /// What compressions have to keep at present.
    pub fn keep(&self) -> Keep {
        self.options.keep
    }

    /// The compressions of the script that were left out, because they keep too little.
    pub fn left_out(&self) -> impl Iterator<Item = &'static str> {
        self.left_out.iter().copied()
    }

    /// The label of an event.
    pub fn event(&mut self, event: &Value) -> Result<LabelId> {
        let event = self.evaluator.finish(event.clone())?;
        self.events.label(&event, &self.evaluator)
    }

    /// The table of labels.
    pub fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    /// The evaluator.
    pub fn evaluator(&mut self) -> &mut Evaluator {
        &mut self.evaluator
    }

    /// Why a walk over a network ended early, as a failure.
    fn cut_short(&self, cut: Cut) -> Failure {
        match cut {
            Cut::Stopped => self.control.why().into(),
            _ => unreachable!("walks over networks end early only when they are stopped: {cut:?}"),
        }
    }

    fn process_of(&self, id: ProcessId) -> ProcessValue {
        self.processes[&id].clone()
    }
}
