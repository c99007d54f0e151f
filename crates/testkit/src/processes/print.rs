//! Processes as CSPM. Every part that is not a constant is in parentheses, so that no binding power is relied on.

use std::fmt::{Display, Formatter, Result};

use super::alphabet::Events;
use super::tree::{Modifier, Operator, Pairs, Process, Replication};

impl Display for Process {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Process::Stop => out.write_str("STOP"),
            Process::Skip => out.write_str("SKIP"),
            Process::Div => out.write_str("DIV"),
            Process::Chaos(events) => write!(out, "CHAOS({})", events.text()),
            Process::Run(events) => write!(out, "RUN({})", events.text()),
            Process::Variable(name) => write!(out, "X{name}"),
            Process::Recursion(name, body) => write!(out, "let X{name} = {} within X{name}", inner(body)),
            Process::Prefix(event, then) => write!(out, "{} -> {}", event.text(), inner(then)),
            Process::Input { chosen, branches } => {
                let values = branches.iter().map(|(value, _)| value.to_string()).collect::<Vec<_>>().join(", ");
                let field = if *chosen { '$' } else { '?' };
                let cases = branches.iter().map(|(value, then)| (*value, inner(then)));
                write!(out, "e{field}x:{{{values}}} -> ({})", by_value(cases))
            }
            Process::Unary(modifier, process) => {
                let process = inner(process);
                match modifier {
                    Modifier::Hide(events) => write!(out, "{process} \\ {}", events.text()),
                    Modifier::Project(events) => write!(out, "{process} |\\ {}", events.text()),
                    Modifier::Rename(pairs) => write!(out, "{process} [[{}]]", pairs_text(pairs, "<-")),
                    Modifier::Guard(open) => write!(out, "{open} & {process}"),
                    Modifier::Compress(name) => write!(out, "{name}({process})"),
                }
            }
            Process::Binary(operator, left, right) => {
                write!(out, "{} {} {}", inner(left), operator_text(operator), inner(right))
            }
            Process::Replicated(replication, copies) => {
                let indices = (0..copies.len()).map(|index| index.to_string()).collect::<Vec<_>>().join(", ");
                let (set, sequence) = (format!("{{{indices}}}"), format!("<{indices}>"));
                let body = match copies.len() {
                    0 => "STOP".to_string(),
                    _ => by_value(copies.iter().map(inner).enumerate()),
                };
                match replication {
                    Replication::External => write!(out, "[] x:{set} @ ({body})"),
                    Replication::Internal => write!(out, "|~| x:{set} @ ({body})"),
                    Replication::Interleave => write!(out, "||| x:{set} @ ({body})"),
                    Replication::Sequence => write!(out, "; x:{sequence} @ ({body})"),
                    Replication::Parallel(events) => write!(out, "[|{}|] x:{set} @ ({body})", events.text()),
                    Replication::Alphabetised(alphabets) => {
                        let alphabet = match alphabets.len() {
                            0 => "{}".to_string(),
                            _ => by_value(alphabets.iter().map(|events| events.text()).enumerate()),
                        };
                        write!(out, "|| x:{set} @ [{alphabet}] ({body})")
                    }
                    Replication::SynchronisingChoice(events) => {
                        write!(out, "[+{}+] x:{set} @ ({body})", events.text())
                    }
                    Replication::Link(ties) => {
                        write!(out, "[{}] x:{sequence} @ ({body})", pairs_text(ties, "<->"))
                    }
                }
            }
        }
    }
}

/// `if x == .. then .. else ..`; the last case needs no test.
fn by_value(cases: impl Iterator<Item = (usize, String)>) -> String {
    let mut cases = cases.peekable();
    let mut text = String::new();
    while let Some((value, case)) = cases.next() {
        match cases.peek() {
            Some(_) => text += &format!("if x == {value} then {case} else "),
            None => text += &case,
        }
    }
    text
}

fn inner(process: &Process) -> String {
    if process.parts().is_empty() && !matches!(process, Process::Replicated(..)) {
        return process.to_string();
    }
    format!("({process})")
}

fn operator_text(operator: &Operator) -> String {
    let with = |open: &str, events: &Events, close: &str| format!("{open}{}{close}", events.text());
    match operator {
        Operator::External => "[]".into(),
        Operator::Internal => "|~|".into(),
        Operator::Sliding => "[>".into(),
        Operator::Sequence => ";".into(),
        Operator::Interrupt => "/\\".into(),
        Operator::Exception(events) => with("[|", events, "|>"),
        Operator::Interleave => "|||".into(),
        Operator::Parallel(events) => with("[|", events, "|]"),
        Operator::Alphabetised(left, right) => format!("[{} || {}]", left.text(), right.text()),
        Operator::Link(ties) => format!("[{}]", pairs_text(ties, "<->")),
        Operator::SynchronisingChoice(events) => with("[+", events, "+]"),
        Operator::SynchronisingInterrupt(events) => with("/+", events, "+\\"),
    }
}

fn pairs_text(pairs: &Pairs, arrow: &str) -> String {
    let pair = |(left, right): &(super::Event, super::Event)| format!("{} {arrow} {}", left.text(), right.text());
    pairs.iter().map(pair).collect::<Vec<_>>().join(", ")
}
