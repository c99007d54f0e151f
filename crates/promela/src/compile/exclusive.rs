//! Is the process that says so really the only one that uses a channel?
//!
//! `xr q` and `xs q` promise that no other process receives from `q`, or sends to it. Spin's reduction believes them.
//! Trefoil does not need them, for it finds out by itself which processes use a channel
//! (`machine/independence.rs`); but a promise that is broken is worth a warning, and Spin's verdict on such a model may
//! be wrong.
//!
//! Processes are told apart by where they are started: each that runs from the start, and each `run`. Where a promise
//! and a statement of another process name the same global channel, and can name no other (`machine/aliases.rs`), the
//! promise is broken if both are executed. So nothing is said where a channel depends on an index that is not constant,
//! nor of one `run` that starts several processes.
//!
//! Cost: promises times processes times statements.

use trefoil_source::{Diagnostic, Place, Span};

use super::Compiler;
use crate::codes::SUSPICIOUS;
use crate::machine::Aliases;
use crate::program::{Action, ExpressionId, Node, ProcessTypeId, Program};
use crate::walk::{assigned_locals, expressions_of, visit};

/// A promise that only processes of a type receive from a channel, or send to it.
pub(crate) struct Promise {
    pub(crate) by: ProcessTypeId,
    pub(crate) channel: ExpressionId,
    pub(crate) receives: bool,
    pub(crate) span: Span,
}

/// A process, by where it is started.
struct Started<'p> {
    kind: ProcessTypeId,
    /// Its name, with its number where that is known.
    name: String,
    /// The type of the process that starts it, and what it hands over.
    arguments: Option<(ProcessTypeId, &'p [ExpressionId])>,
}

impl Compiler<'_> {
    /// Warns of promises that are broken.
    pub(super) fn check_promises(&mut self) {
        if self.promises.is_empty() {
            return;
        }
        let (program, aliases) = (&self.program, Aliases::new(&self.program));
        let all = started(program);
        for Promise { by, channel, receives, span } in &self.promises {
            for (number, own) in all.iter().enumerate().filter(|(_, own)| own.kind == *by) {
                let Some(only) = only_channel(program, &aliases, own, *channel) else { continue };
                let others = all.iter().enumerate().filter(|(other, _)| *other != number).map(|(_, other)| other);
                let found = others.filter_map(|other| use_of(program, &aliases, other, only, *receives)).next();
                if let Some((user, place)) = found {
                    let (word, uses) = if *receives { ("xr", "receives from") } else { ("xs", "sends to") };
                    let name = &program.globals.channels[only as usize].name;
                    let user = if user == own.name { format!("another `{user}`") } else { format!("`{user}`") };
                    let message = format!("`{word}` in `{}` does not hold: {user} {uses} `{name}`, too", own.name);
                    let warning = Diagnostic::warning(SUSPICIOUS, message, Place::Span(*span));
                    let warning = warning.also(Place::Span(place), format!("{user} {uses} it here"));
                    self.diagnostics.push(
                        warning.note("Trefoil does not rely on `xr` and `xs`; Spin's partial-order reduction does"),
                    );
                    break;
                }
            }
        }
    }
}

/// All processes, by where they are started.
fn started(program: &Program) -> Vec<Started<'_>> {
    let name = |kind: ProcessTypeId| program.processes[usize::from(kind)].name.to_string();
    let active = program.active.iter().enumerate();
    let mut all: Vec<Started<'_>> = active
        .map(|(number, &(kind, _))| {
            let name = name(kind);
            let name = if name == ":init:" { "init".to_string() } else { format!("{name}({number})") };
            Started { kind, name, arguments: None }
        })
        .collect();
    for (kind, process) in program.processes.iter().enumerate() {
        for transition in process.transitions.iter().flatten() {
            for root in expressions_of(program, &transition.action) {
                visit(program, root, &mut |_, node| {
                    let Node::Run(run) = node else { return };
                    let run = &program.runs[run as usize];
                    let arguments = Some((kind as ProcessTypeId, &run.arguments[..]));
                    all.push(Started { kind: run.process, name: name(run.process), arguments });
                });
            }
        }
    }
    all
}

/// The global channel that an expression of a process names, where it can be no other.
fn only_channel(program: &Program, aliases: &Aliases, of: &Started<'_>, channel: ExpressionId) -> Option<u32> {
    let process = &program.processes[usize::from(of.kind)];
    let kinds = match (program.expressions[channel as usize], of.arguments) {
        (Node::Local(cell), Some((starter, arguments)))
            if (cell as usize) < arguments.len() && !assigned_locals(program, process)[cell as usize] =>
        {
            aliases.of(program, starter, arguments[cell as usize])
        }
        _ => aliases.of(program, of.kind, channel),
    };
    kinds.only().filter(|&kind| (kind as usize) < program.globals.channels.len())
}

/// A statement of a process that receives from this channel, or sends to it: the name of the process, and its place.
fn use_of(program: &Program, aliases: &Aliases, of: &Started<'_>, only: u32, receives: bool) -> Option<(String, Span)> {
    let process = &program.processes[usize::from(of.kind)];
    for transition in process.transitions.iter().flatten() {
        let mut work = vec![&*transition.action];
        while let Some(action) = work.pop() {
            let channel = match action {
                Action::Send(send) if !receives => send.channel,
                Action::Receive(receive) if receives => receive.channel,
                Action::Indivisible(body) => {
                    work.extend(body.actions());
                    continue;
                }
                _ => continue,
            };
            if only_channel(program, aliases, of, channel) == Some(only) {
                let statement = &process.statements[transition.statement as usize];
                return Some((of.name.clone(), statement.span));
            }
        }
    }
    None
}
