//! What the tests of this crate share: searching a model, and asking Spin.
#![allow(dead_code, reason = "no test uses everything")]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_explore::{End, Finding, Options, Order, Visited, Visitor, search};
use trefoil_promela::{Fault, Model, Program, read};
use trefoil_source::{Diagnostic, Sources};
use trefoil_system::{Checked, Cut, Explorer, LabelId, StateId, TakenStep};

/// The numbers of a search, as Spin counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) errors: u64,
}

/// Searches a model whose declared reads and writes are compared with what it does; its states.
pub(crate) fn check_honesty(program: Program) -> u64 {
    let model = Checked::new(Arc::into_inner(roomy(program)).expect("the only owner"));
    let options = Options { threads: 1, order: Order::Steps, ..Options::default() };
    let found = search(&model, &options, &Control::unlimited(), || ());
    assert_eq!(found.end, End::Complete);
    found.counts.states
}

pub(crate) fn compile(name: &str, text: &str) -> (Option<Program>, Vec<Diagnostic>, Sources) {
    let mut sources = Sources::default();
    let file = sources.add(name, text);
    let mut diagnostics = Vec::new();
    let mut reader = |name: &str| std::fs::read_to_string(name).map_err(|error| error.to_string());
    let program = read(file, &mut sources, &mut reader, &mut diagnostics, &Control::unlimited()).expect("no budget");
    (program, diagnostics, sources)
}

struct Count<'m> {
    model: &'m Model,
    errors: u64,
    broken: u64,
}

impl Visitor for Count<'_> {
    fn visit(&mut self, state: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        if state.steps.is_empty() && !self.model.is_valid_end(state.row) {
            self.errors += 1;
        }
        for fault in state.steps.iter().filter_map(|edge| self.model.fault(edge.label)) {
            self.errors += 1;
            self.broken += u64::from(!fault.kind.goes_on());
        }
        Ok(Finding::Nothing)
    }
}

/// A model with room for every process that it creates.
pub(crate) fn roomy(program: Program) -> Arc<Model> {
    let mut model = Arc::new(Model::new(Arc::new(program)));
    while numbers_of(&model, 1).is_none() {
        model = model.wider().expect("a process was wanted").clone();
    }
    model
}

/// Searches a model; nothing when it has no room.
pub(crate) fn numbers_of(model: &Model, threads: usize) -> Option<Numbers> {
    let control = Control::unlimited();
    let options = Options { threads, order: Order::Steps, ..Options::default() };
    let found = search(model, &options, &control, || Count { model, errors: 0, broken: 0 });
    if found.end == End::Cut(Cut::Outgrown) {
        return None;
    }
    assert_eq!(found.end, End::Complete);
    let broken: u64 = found.visitors.iter().map(|visitor| visitor.broken).sum();
    Some(Numbers {
        states: found.counts.states,
        transitions: found.counts.transitions + 1 - broken,
        errors: found.visitors.iter().map(|visitor| visitor.errors).sum(),
    })
}

/// Are Spin and a C compiler here? Says loudly when not.
pub(crate) fn has_spin() -> bool {
    let there = |program: &str, argument: &str| Command::new(program).arg(argument).output().is_ok();
    let both = there("spin", "-V") && there("gcc", "--version");
    if !both {
        eprintln!("SPIN OR GCC IS ABSENT: the numbers of states are NOT compared with Spin's own");
    }
    both
}

/// Is a case with this number compared with Spin? Compiling a verifier takes a second or two, so a part of them is,
/// another one with each seed; all with `TREFOIL_SPIN=all`.
pub(crate) fn is_compared(number: usize) -> bool {
    let seed = trefoil_testkit::seed() as usize;
    std::env::var("TREFOIL_SPIN").is_ok_and(|value| value == "all") || (number + seed).is_multiple_of(5)
}

/// What Spin's verifier says with all reductions off; nothing when it refuses the model or does not finish.
pub(crate) fn spin(text: &str) -> Option<Numbers> {
    numbers_in(&pan(text)?)
}

/// The words of Spin's verifier, as above.
pub(crate) fn pan(text: &str) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(folder.path()).output().expect("it runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    std::fs::write(folder.path().join("m.pml"), text).expect("written");
    run("spin", &["-a", "-o1", "-o2", "-o3", "m.pml"]);
    if !folder.path().join("pan.c").exists() {
        return None;
    }
    run("gcc", &["-O0", "-w", "-DSAFETY", "-DNOREDUCE", "-DNOCLAIM", "-DVECTORSZ=4096", "-o", "pan", "pan.c"]);
    let pan = folder.path().join("pan");
    if !Path::new(&pan).exists() {
        return None;
    }
    let said = run(&pan.to_string_lossy(), &["-c0", "-m100000"]);
    if said.contains("max search depth too small") || said.contains("unconditional self-loop") {
        return None;
    }
    Some(said)
}

/// The lines of statements of processes that Spin's verifier did not reach, sorted.
pub(crate) fn unreached_in(said: &str) -> Vec<usize> {
    let sections = said.split("unreached in ").filter(|section| !section.starts_with("claim "));
    let lines =
        sections.flat_map(str::lines).filter_map(|line| line.trim().strip_prefix("m.pml:")?.split_once(", state "));
    let mut lines: Vec<usize> = lines.filter_map(|(line, _)| line.parse().ok()).collect();
    lines.sort_unstable();
    lines
}

/// The lines of statements that the searches of a model did not reach, sorted.
pub(crate) fn unreached(model: &Model) -> Vec<usize> {
    let mut lines = Vec::new();
    for (kind, states) in model.unreached() {
        let statements = &model.program().processes[usize::from(kind)].statements;
        lines.extend(states.iter().map(|&state| statements[state as usize].line));
    }
    lines.sort_unstable();
    lines
}

/// The numbers among the words of Spin's verifier.
pub(crate) fn numbers_in(said: &str) -> Option<Numbers> {
    let number = |marker: &str| -> Option<u64> {
        let line = said.lines().find(|line| line.contains(marker))?;
        line.split_whitespace().next()?.parse::<f64>().ok().map(|value| value as u64)
    };
    let errors = said.split("errors: ").nth(1)?.split_whitespace().next()?.parse().ok()?;
    Some(Numbers { states: number("states, stored")?, transitions: number("transitions (=")?, errors })
}

/// A distance, a state, and a step from it.
type Seen = (u32, StateId, Option<(LabelId, StateId)>);

struct Watch<'m> {
    model: &'m Model,
    /// The first state without steps where a run may not end, and the first step with a fault.
    seen: [Option<Seen>; 2],
}

impl Visitor for Watch<'_> {
    fn visit(&mut self, state: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        let mut see = |place: usize, distance: u32, step: Option<(LabelId, StateId)>| {
            let known: &mut Option<Seen> = &mut self.seen[place];
            if known.is_none_or(|known| distance < known.0) {
                *known = Some((distance, state.id, step));
            }
        };
        if state.steps.is_empty() && !self.model.is_valid_end(state.row) {
            see(0, state.distance, None);
        }
        for edge in state.steps.iter().filter(|edge| self.model.fault(edge.label).is_some()) {
            see(1, state.distance + 1, Some((edge.label, edge.target)));
        }
        Ok(Finding::Nothing)
    }
}

/// Shortest runs to an invalid end state and to a fault, as far as there are any.
pub(crate) fn counterexamples(model: &Model) -> Vec<(trefoil_system::Path, Option<Fault>)> {
    let control = Control::unlimited();
    let options = Options { threads: 1, order: Order::Steps, ..Options::default() };
    let found = search(model, &options, &control, || Watch { model, seen: [None; 2] });
    let mut runs = Vec::new();
    for &(_, state, step) in found.visitors.iter().flat_map(|visitor| &visitor.seen).flatten() {
        let mut path = found.path(model, state, &control).expect("no budget").expect("it was visited");
        if let Some((label, target)) = step {
            path.steps.push(TakenStep { label, row: found.row(target) });
        }
        runs.push((path, step.and_then(|(label, _)| model.fault(label))));
    }
    runs
}

struct Limit(u64);

impl Visitor for Limit {
    fn visit(&mut self, _: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        self.0 = self.0.saturating_sub(1);
        Ok(if self.0 == 0 { Finding::State } else { Finding::Nothing })
    }
}

/// A model with room for every process that it creates, if it has at most `states` states.
pub(crate) fn small(program: Program, states: u64) -> Option<Arc<Model>> {
    let control = Control::unlimited();
    let mut model = Arc::new(Model::new(Arc::new(program)));
    loop {
        let options = Options { threads: 1, order: Order::Steps, ..Options::default() };
        let found = search(&*model, &options, &control, || Limit(states));
        match found.end {
            End::Complete => return Some(model),
            End::Cut(Cut::Outgrown) => model = model.wider().expect("a process was wanted").clone(),
            _ => return None,
        }
    }
}
