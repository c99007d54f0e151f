//! Processes as trees, and short ways to write them.
//!
//! Recursion is allowed where it keeps the process finite and its meaning can be found step by step:
//! [`Process::well_founded`].

use super::alphabet::{Event, Events};

/// Pairs of events: a renaming (old, new), or the ties of a link (left, right).
pub type Pairs = Vec<(Event, Event)>;

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Process {
    /// `STOP`
    Stop,
    /// `SKIP`
    Skip,
    /// `DIV`
    Div,
    /// `CHAOS(A)`
    Chaos(Events),
    /// `RUN(A)`
    Run(Events),
    /// `a -> P`
    Prefix(Event, Box<Process>),
    /// `e?x:V -> P(x)`, or `e$x:V -> P(x)` when the process chooses the value: for each value of `V` its process; not
    /// empty.
    Input {
        /// Does the process choose?
        chosen: bool,
        /// The values, ascending, and what follows.
        branches: Vec<(usize, Process)>,
    },
    /// An operator with one process.
    Unary(Modifier, Box<Process>),
    /// An operator with two processes.
    Binary(Operator, Box<Process>, Box<Process>),
    /// A replicated operator.
    Replicated(Replication, Vec<Process>),
    /// `let Xn = P within Xn`
    Recursion(usize, Box<Process>),
    /// `Xn`, inside its recursion.
    Variable(usize),
}

/// Operators with one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Modifier {
    /// `P \ A`
    Hide(Events),
    /// `P |\ A`: all but `A` is hidden.
    Project(Events),
    /// `P[[old <- new, ..]]`; events that are not old stay.
    Rename(Pairs),
    /// `b & P`
    Guard(bool),
    /// `sbisim(P)` and the like: the name of a compression, which changes nothing that can be observed.
    Compress(&'static str),
}

/// The compressions, by their names in scripts.
pub const COMPRESSIONS: [&str; 8] =
    ["explicate", "sbisim", "dbisim", "wbisim", "tau_loop_factor", "diamond", "normal", "model_compress"];

/// Operators with two processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `P [] Q`
    External,
    /// `P |~| Q`
    Internal,
    /// `P [> Q`
    Sliding,
    /// `P ; Q`
    Sequence,
    /// `P /\ Q`
    Interrupt,
    /// `P [|A|> Q`
    Exception(Events),
    /// `P ||| Q`
    Interleave,
    /// `P [|A|] Q`
    Parallel(Events),
    /// `P [A||B] Q`
    Alphabetised(Events, Events),
    /// `P [a<->b, ..] Q`
    Link(Pairs),
    /// `P [+A+] Q`
    SynchronisingChoice(Events),
    /// `P /+A+\ Q`
    SynchronisingInterrupt(Events),
}

/// Replicated operators: the same as the operators from right to left, and a process for no copies at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replication {
    /// `[] x:S @ P(x)`; none is `STOP`.
    External,
    /// `|~| x:S @ P(x)`; at least one.
    Internal,
    /// `||| x:S @ P(x)`; none is `SKIP`.
    Interleave,
    /// `; x:S @ P(x)`; none is `SKIP`.
    Sequence,
    /// `[|A|] x:S @ P(x)`; none is `SKIP`.
    Parallel(Events),
    /// `|| x:S @ [A(x)] P(x)`; none is `SKIP`.
    Alphabetised(Vec<Events>),
    /// `[+A+] x:S @ P(x)`; none is `STOP`.
    SynchronisingChoice(Events),
    /// `[a<->b, ..] x:S @ P(x)`; at least one.
    Link(Pairs),
}

/// `a -> P`
pub fn prefix(event: Event, then: Process) -> Process {
    Process::Prefix(event, Box::new(then))
}

/// `?x:A -> P(x)`: the external choice of prefixes, `STOP` when there are none.
pub fn choice_of(events: Events, mut then: impl FnMut(Event) -> Process) -> Process {
    let mut branches = events.members().map(|event| prefix(event, then(event)));
    match branches.next() {
        None => Process::Stop,
        Some(first) => branches.fold(first, Process::external),
    }
}

impl Process {
    /// An operator between this and another.
    pub fn binary(self, operator: Operator, other: Process) -> Process {
        Process::Binary(operator, Box::new(self), Box::new(other))
    }

    /// An operator around this.
    pub fn unary(self, modifier: Modifier) -> Process {
        Process::Unary(modifier, Box::new(self))
    }

    /// `P [] Q`
    pub fn external(self, other: Process) -> Process {
        self.binary(Operator::External, other)
    }

    /// `P |~| Q`
    pub fn internal(self, other: Process) -> Process {
        self.binary(Operator::Internal, other)
    }

    /// `P [> Q`
    pub fn sliding(self, other: Process) -> Process {
        self.binary(Operator::Sliding, other)
    }

    /// `P ; Q`
    pub fn then(self, other: Process) -> Process {
        self.binary(Operator::Sequence, other)
    }

    /// `P /\ Q`
    pub fn interrupt(self, other: Process) -> Process {
        self.binary(Operator::Interrupt, other)
    }

    /// `P [|A|> Q`
    pub fn exception(self, events: Events, other: Process) -> Process {
        self.binary(Operator::Exception(events), other)
    }

    /// `P ||| Q`
    pub fn interleave(self, other: Process) -> Process {
        self.binary(Operator::Interleave, other)
    }

    /// `P [|A|] Q`
    pub fn parallel(self, events: Events, other: Process) -> Process {
        self.binary(Operator::Parallel(events), other)
    }

    /// `P [A||B] Q`
    pub fn alphabetised(self, left: Events, right: Events, other: Process) -> Process {
        self.binary(Operator::Alphabetised(left, right), other)
    }

    /// `P [a<->b, ..] Q`
    pub fn link(self, ties: Pairs, other: Process) -> Process {
        self.binary(Operator::Link(ties), other)
    }

    /// `P [+A+] Q`
    pub fn synchronising_choice(self, events: Events, other: Process) -> Process {
        self.binary(Operator::SynchronisingChoice(events), other)
    }

    /// `P /+A+\ Q`
    pub fn synchronising_interrupt(self, events: Events, other: Process) -> Process {
        self.binary(Operator::SynchronisingInterrupt(events), other)
    }

    /// `P \ A`
    pub fn hide(self, events: Events) -> Process {
        self.unary(Modifier::Hide(events))
    }

    /// `P |\ A`
    pub fn project(self, events: Events) -> Process {
        self.unary(Modifier::Project(events))
    }

    /// `P[[old <- new, ..]]`
    pub fn rename(self, pairs: Pairs) -> Process {
        self.unary(Modifier::Rename(pairs))
    }

    /// `b & P`
    pub fn guard(self, open: bool) -> Process {
        self.unary(Modifier::Guard(open))
    }

    /// The processes it is made of.
    pub fn parts(&self) -> Vec<&Process> {
        match self {
            Process::Stop | Process::Skip | Process::Div | Process::Chaos(_) | Process::Run(_) => Vec::new(),
            Process::Variable(_) => Vec::new(),
            Process::Prefix(_, then) | Process::Recursion(_, then) => vec![then],
            Process::Input { branches, .. } => branches.iter().map(|(_, then)| then).collect(),
            Process::Unary(_, inner) => vec![inner],
            Process::Binary(_, left, right) => vec![left, right],
            Process::Replicated(_, copies) => copies.iter().collect(),
        }
    }

    /// The processes it is made of, to be changed.
    pub fn parts_mut(&mut self) -> Vec<&mut Process> {
        match self {
            Process::Stop | Process::Skip | Process::Div | Process::Chaos(_) | Process::Run(_) => Vec::new(),
            Process::Variable(_) => Vec::new(),
            Process::Prefix(_, then) | Process::Recursion(_, then) => vec![then],
            Process::Input { branches, .. } => branches.iter_mut().map(|(_, then)| then).collect(),
            Process::Unary(_, inner) => vec![inner],
            Process::Binary(_, left, right) => vec![left, right],
            Process::Replicated(_, copies) => copies.iter_mut().collect(),
        }
    }

    /// Is every variable inside its recursion, behind an event, and without an enclosing operator that remains when it
    /// is reached? The last keeps the process finite: `X = a -> (X ; P)` is not.
    pub fn well_founded(&self) -> bool {
        fn go(process: &Process, known: &mut Vec<usize>, behind: &mut Vec<usize>) -> bool {
            // Inside an operator that remains, no variable is allowed.
            let closed = |process: &Process| go(process, &mut Vec::new(), &mut Vec::new());
            match process {
                Process::Variable(name) => behind.contains(name),
                Process::Recursion(name, body) => {
                    let (mut known, mut behind) = (known.clone(), behind.clone());
                    known.retain(|other| other != name);
                    behind.retain(|other| other != name);
                    known.push(*name);
                    go(body, &mut known, &mut behind)
                }
                Process::Prefix(..) | Process::Input { .. } => {
                    let mut behind = known.clone();
                    process.parts().into_iter().all(|then| go(then, known, &mut behind))
                }
                Process::Binary(Operator::Sequence | Operator::Interrupt | Operator::Exception(_), left, right) => {
                    closed(left) && go(right, known, behind)
                }
                Process::Unary(Modifier::Guard(_), _)
                | Process::Binary(Operator::External | Operator::Internal | Operator::Sliding, ..)
                | Process::Replicated(Replication::External | Replication::Internal, _) => {
                    process.parts().into_iter().all(|part| go(part, known, behind))
                }
                _ => process.parts().into_iter().all(closed),
            }
        }
        go(self, &mut Vec::new(), &mut Vec::new())
    }

    /// How many operators and constants it has.
    pub fn size(&self) -> usize {
        1 + self.parts().into_iter().map(Process::size).sum::<usize>()
    }
}
