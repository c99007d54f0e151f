//! Tree to program: names, types, control flow.
//!
//! The compiler follows the order of the text: a name is declared before it is used (proctypes and labels excepted).
//! The stages of this folder are `names` (scopes and declarations), `expressions`, `statements` (the elements of a
//! process, in Spin's order, so that the numbers of statements agree with Spin's), `flow` (where control goes from each
//! element) and `transitions` (the table that a machine runs).
//!
//! A tree may contain parts with syntax errors. The compiler passes over them in silence and checks everything else; it
//! returns no program. A name that a wrong declaration introduces is *broken*: its uses are not reported again.

mod claims;
mod exclusive;
mod expressions;
mod flow;
mod hidden;
mod indivisible;
pub(crate) use indivisible::OVER;
mod loops;
mod messages;
mod names;
mod statements;
mod transitions;
mod wide_bits;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_source::{Diagnostic, FileId, Place, Severity, Span};

use crate::codes::{NO_PROCESS, NOT_SUPPORTED, SUSPICIOUS, TOO_LARGE};
use crate::program::{EventTrace, Frame, Program, Shown};
use crate::syntax::tree::{Claim, ClaimBody, Process, Tree, Unit, Word};
use exclusive::Promise;
use names::Names;

/// The compiler or the parser has reported a mistake.
pub(crate) struct Wrong;

pub(crate) type Compiled<T> = Result<T, Wrong>;

/// The state of the compiler.
pub(crate) struct Compiler<'a> {
    pub(crate) program: Program,
    pub(crate) names: Names,
    pub(crate) diagnostics: &'a mut Vec<Diagnostic>,
    /// When it says stop, each stage ends as after a mistake.
    pub(crate) control: &'a Control,
    /// Elements of all processes so far: Spin's own numbering.
    pub(crate) numbered: u32,
    /// Remote labels that wait for their process type.
    pub(crate) remote_labels: Vec<(usize, Arc<str>, Span)>,
    /// Process types and labels that are looked at from outside.
    pub(crate) remote_names: BTreeSet<(Arc<str>, Arc<str>)>,
    /// Is the compiler inside a `d_step`?
    pub(crate) in_d_step: bool,
    /// The proctype that is compiled.
    pub(crate) current: Option<Word>,
    /// Names whose declaration is wrong, and unknown names that have been reported: their uses are silent.
    pub(crate) broken: HashSet<Arc<str>>,
    /// The labels of proctypes that have no table of transitions because of a mistake.
    pub(crate) labels_of_wrong: HashMap<Arc<str>, HashSet<Arc<str>>>,
    /// The proctype that claims to be the only sender or, with `true`, receiver of a global channel.
    pub(crate) exclusive: HashMap<(Arc<str>, bool), Word>,
    /// What `xr` and `xs` promise.
    pub(crate) promises: Vec<Promise>,
    /// Is the compiler inside a claim?
    pub(crate) in_claim: bool,
    /// Where `enabled` is used first.
    pub(crate) enabled: Option<Span>,
    /// Arrays of bits that hold other numbers, too ([`wide_bits`]).
    pub(crate) wide: &'a HashSet<Arc<str>>,
}

impl Compiler<'_> {
    /// Must the job end? Then nothing that is compiled now matters.
    pub(crate) fn poll(&self) -> Compiled<()> {
        self.control.check().map_err(|_| Wrong)
    }

    pub(crate) fn complain<T>(&mut self, code: &'static str, message: impl Into<String>, span: Span) -> Compiled<T> {
        self.diagnostics.push(Diagnostic::error(code, message, Place::Span(span)));
        Err(Wrong)
    }

    pub(crate) fn warn(&mut self, code: &'static str, message: impl Into<String>, span: Span) {
        self.diagnostics.push(Diagnostic::warning(code, message, Place::Span(span)));
    }
}

/// The largest number of processes that run at the same time.
pub const MOST_PROCESSES: usize = 255;

/// The largest number of channels that exist at the same time.
pub(crate) const MOST_CHANNELS: usize = 255;

/// Compiles a model. The result is `None` when a diagnostic is an error.
pub(crate) fn compile(
    file: FileId,
    tree: &Tree,
    diagnostics: &mut Vec<Diagnostic>,
    control: &Control,
) -> Result<Option<Program>, Stopped> {
    let told = diagnostics.len();
    let mut wide = HashSet::new();
    loop {
        let program = compile_with(file, tree, &wide, diagnostics, control)?;
        let more = program.as_ref().map(wide_bits::wide_bits).unwrap_or_default();
        if more.is_subset(&wide) {
            return Ok(program);
        }
        wide.extend(more);
        diagnostics.truncate(told);
    }
}

/// Compiles with bytes for these arrays of bits.
fn compile_with(
    file: FileId,
    tree: &Tree,
    wide: &HashSet<Arc<str>>,
    diagnostics: &mut Vec<Diagnostic>,
    control: &Control,
) -> Result<Option<Program>, Stopped> {
    let Tree { units, poisoned, .. } = tree;
    let program = Program {
        globals: Frame::default(),
        processes: Vec::new(),
        active: Vec::new(),
        expressions: Vec::new(),
        places: Vec::new(),
        runs: Vec::new(),
        polls: Vec::new(),
        remotes: Vec::new(),
        prints: Vec::new(),
        mtypes: vec![("_unnamed_".to_string(), Vec::new())],
        claims: Vec::new(),
        propositions: Vec::new(),
        written: Vec::new(),
        non_progress: None,
        accepting: None,
        trace: None,
        uses_last: false,
        uses_priority: false,
        assertions: Vec::new(),
    };
    let mut compiler = Compiler {
        program,
        names: Names::default(),
        diagnostics,
        control,
        numbered: 0,
        remote_labels: Vec::new(),
        remote_names: BTreeSet::new(),
        in_d_step: false,
        current: None,
        broken: poisoned.clone(),
        labels_of_wrong: HashMap::new(),
        exclusive: HashMap::new(),
        promises: Vec::new(),
        in_claim: false,
        enabled: None,
        wide,
    };
    compiler.declare_processes(units);
    compiler.find_reserved(units);
    for unit in units {
        control.check()?;
        // After a mistake in a unit the next one is checked, too.
        let _: Compiled<()> = compiler.unit(unit);
    }
    control.check()?;
    let claims = compiler.draft_claims(units);
    compiler.resolve_remote_labels();
    compiler.check_enabled();
    if compiler.program.active.is_empty() && !compiler.diagnostics.iter().any(|told| told.severity == Severity::Error) {
        let place = units.iter().find_map(|unit| match unit {
            Unit::Process(process) => Some(process.name.span),
            _ => None,
        });
        let message = "no process runs: the model has no `init` and no active proctype";
        let span = place.unwrap_or(Span { file, start: 0, end: 0 });
        compiler.warn(NO_PROCESS, message, span);
    }
    let wrong = compiler.diagnostics.iter().any(|told| told.severity == Severity::Error);
    if !wrong {
        compiler.check_promises();
        compiler.finish_claims(claims);
        hidden::decide(&mut compiler.program);
    }
    Ok((!wrong).then_some(compiler.program))
}

impl Compiler<'_> {
    fn unit(&mut self, unit: &Unit) -> Compiled<()> {
        match unit {
            Unit::Process(process) => self.process(process),
            Unit::Declare(declaration) => self.global(declaration),
            Unit::Mtype(set) => self.mtype(set),
            Unit::Typedef { name, fields } => self.typedef(name, fields),
            Unit::Claim(claim) => {
                self.claim(claim);
                Ok(())
            }
            Unit::Trace { forbidden, body, span, end } => {
                let name = Word { text: ":trace:".into(), span: *span };
                if self.program.trace.is_some() {
                    self.warn(
                        SUSPICIOUS,
                        "an earlier `trace` or `notrace` has no effect: only the last one counts",
                        *span,
                    );
                }
                let automaton = self.process_type(&name, Some(&[]), body, *end, None, true)?;
                self.program.trace = Some(EventTrace { forbidden: *forbidden, automaton });
                Ok(())
            }
        }
    }

    /// Which statements are enabled in the middle of a rendezvous is undefined; Spin's verifiers refuse it, too.
    fn check_enabled(&mut self) {
        let Some(span) = self.enabled else { return };
        let frames = self.program.processes.iter().map(|process| &process.frame).chain([&self.program.globals]);
        if frames.flat_map(|frame| &frame.channels).any(|channel| channel.capacity == 0) {
            let message = "`enabled` cannot be used in a model with rendezvous channels";
            let _: Compiled<()> = self.complain(NOT_SUPPORTED, message, span);
        }
    }

    /// The elements of a claim are numbered in Spin, where it stands in the text.
    fn claim(&mut self, claim: &Claim) {
        if let ClaimBody::Never(body) = &claim.body {
            self.number_claim(body);
        }
    }

    fn process(&mut self, process: &Process) -> Compiled<()> {
        let number = self.names.process(&process.name.text).ok_or(Wrong)?;
        let count = self.count_of(process);
        self.current = Some(process.name.clone());
        let compiled = self.process_type(
            &process.name,
            process.parameters.as_deref(),
            &process.body,
            process.end,
            process.provided.as_ref(),
            false,
        );
        self.current = None;
        let (count, mut compiled) = (count?, compiled?);
        compiled.deterministic = process.deterministic;
        if process.deterministic {
            let message = "Trefoil does not check that a D_proctype is deterministic";
            self.warn(SUSPICIOUS, message, process.name.span);
        }
        self.program.processes[usize::from(number)] = compiled;
        let priority = process.priority.unwrap_or(1) as u8;
        for _ in 0..count {
            self.program.active.push((number, priority));
        }
        Ok(())
    }

    /// How many processes of a type run from the start.
    fn count_of(&mut self, process: &Process) -> Compiled<i32> {
        let count = match &process.active {
            Some(active) => self.constant(active)?,
            None => i32::from(&*process.name.text == ":init:"),
        };
        if count < 0 || count as usize + self.program.active.len() > MOST_PROCESSES {
            let message = format!("a model runs at most {MOST_PROCESSES} processes at a time");
            return self.complain(TOO_LARGE, message, process.name.span);
        }
        if process.priority.is_some_and(|priority| !(1..=255).contains(&priority)) {
            return self.complain(TOO_LARGE, "a priority is a number from 1 to 255", process.name.span);
        }
        Ok(count)
    }
}

/// Longer statements are cut in reports.
const LONGEST_TEXT: usize = 60;

/// Gives every statement its text and line.
pub(crate) fn add_texts(
    program: &mut Program,
    sources: &trefoil_source::Sources,
    control: &Control,
) -> Result<(), Stopped> {
    let trace = program.trace.as_mut().map(|trace| &mut trace.automaton);
    let mut files: Vec<(trefoil_source::FileId, Arc<str>)> = Vec::new();
    for process in program.processes.iter_mut().chain(trace) {
        let ends = |transitions: &[crate::program::Transition]| {
            transitions.iter().any(|transition| matches!(*transition.action, crate::program::Action::End))
        };
        for (state, statement) in process.statements.iter_mut().enumerate() {
            let source = sources.file(statement.span.file);
            control.check()?;
            (statement.line, statement.column) = source.line_column(statement.span.start);
            if files.last().is_none_or(|(id, _)| *id != statement.span.file) {
                files.push((statement.span.file, Arc::from(source.name())));
            }
            if let Some((_, name)) = files.last() {
                statement.file = name.clone();
            }
            if process.transitions.get(state).is_some_and(|transitions| ends(transitions)) && statement.listed {
                statement.text = "-end-".to_string();
                continue;
            }
            let joined = match statement.shown {
                None => words(sources.text(statement.span)),
                Some(Shown { left, between, right }) => {
                    let part = |span: Option<Span>| words(span.map_or("", |span| sources.text(span)));
                    words(&format!("{}{between}{}", part(left), part(right)))
                }
            };
            statement.text = match joined.char_indices().nth(LONGEST_TEXT) {
                Some((at, _)) => format!("{}…", &joined[..at]),
                None => joined,
            };
        }
    }
    Ok(())
}

/// The first words of a text.
fn words(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(LONGEST_TEXT).collect();
    words.join(" ")
}
