//! Process expressions to control points.

use super::code::*;
use super::compile::Compiler;
use super::scopes::Key;
use crate::syntax::*;

impl Compiler<'_> {
    /// A process is made here: its operands run in a frame of their own, which captures what they mention.
    pub(super) fn process(&mut self, id: ExpressionId, scope: usize) -> OperationId {
        let span = self.tree.expression_span(id);
        let inner = self.open(Some(scope));
        let shape = self.shape(id, inner);
        let closed = self.close();
        let names = closed.captured.iter().map(|key| match *key {
            Key::Local(local) => Some(self.renamed.text(self.renamed.local(local).name).into()),
            Key::Group(_) => None,
        });
        let names: Vec<Option<Box<str>>> = names.collect();
        let variables = closed.captured.iter().map(|key| match *key {
            Key::Local(local) => Some(local),
            Key::Group(_) => None,
        });
        self.program.control_points.push(ControlPoint {
            expression: id,
            span,
            variables: variables.collect(),
            names,
            shape,
            timed: self.section,
            captures: closed.captures,
            frame: closed.slots,
        });
        let point = ControlPointId(self.program.control_points.len() as u32 - 1);
        self.emit(Operation::Process(point), span)
    }

    fn pairs(&mut self, pairs: List<Pair>, scope: usize) -> Vec<(OperationId, OperationId)> {
        let pairs = self.tree.list(pairs).to_vec();
        pairs.into_iter().map(|Pair(a, b)| (self.expression(a, scope), self.expression(b, scope))).collect()
    }

    fn shape(&mut self, id: ExpressionId, scope: usize) -> Shape {
        match *self.tree.expression(id) {
            Expression::Prefix { channel, fields, process } => {
                let channel = self.expression(channel, scope);
                let fields = self.tree.list(fields).to_vec();
                let fields = fields.into_iter().map(|field| match field {
                    Field::Input(pattern, set) => {
                        let set = set.map(|set| self.expression(set, scope));
                        CommunicationField::Input(self.pattern(pattern, scope, &mut |_, _| {}), set)
                    }
                    Field::Choice(pattern, set) => {
                        let set = set.map(|set| self.expression(set, scope));
                        CommunicationField::Choice(self.pattern(pattern, scope, &mut |_, _| {}), set)
                    }
                    Field::Output(value) => CommunicationField::Output(self.expression(value, scope)),
                });
                let fields = fields.collect();
                let process = self.expression(process, scope);
                let durations = self.section.and_then(|section| self.local_durations.get(&section).copied());
                let durations = durations.map(|durations| self.expression(durations, scope));
                Shape::Prefix { channel, fields, process, durations }
            }
            Expression::Binary { operator, left, right } => {
                let left = self.expression(left, scope);
                Shape::Binary { operator, left, right: self.expression(right, scope) }
            }
            Expression::Synchronised { operator, left, events, right } => {
                let left = self.expression(left, scope);
                let events = self.expression(events, scope);
                Shape::Synchronised { operator, left, events, right: self.expression(right, scope) }
            }
            Expression::Alphabetised { left, left_alphabet, right_alphabet, right } => Shape::Alphabetised {
                left: self.expression(left, scope),
                left_alphabet: self.expression(left_alphabet, scope),
                right_alphabet: self.expression(right_alphabet, scope),
                right: self.expression(right, scope),
            },
            Expression::Link { left, ties, statements, right } => {
                let (left, right) = (self.expression(left, scope), self.expression(right, scope));
                let steps = self.steps(statements, scope);
                Shape::Link { left, ties: self.pairs(ties, scope), steps, right }
            }
            Expression::Rename { process, renames, statements } => {
                let process = self.expression(process, scope);
                let steps = self.steps(statements, scope);
                Shape::Rename { process, pairs: self.pairs(renames, scope), steps }
            }
            Expression::Replicated { operator, statements, body } => {
                // What does not see the variables comes first.
                let early = match operator {
                    Replication::Interleave => Some(ReplicatedOperator::Interleave),
                    Replication::ExternalChoice => Some(ReplicatedOperator::ExternalChoice),
                    Replication::InternalChoice => Some(ReplicatedOperator::InternalChoice),
                    Replication::Sequential => Some(ReplicatedOperator::Sequential),
                    Replication::Parallel(set) => Some(ReplicatedOperator::Parallel(self.expression(set, scope))),
                    Replication::SynchronisingChoice(set) => {
                        Some(ReplicatedOperator::SynchronisingChoice(self.expression(set, scope)))
                    }
                    Replication::Link(ties, steps) => {
                        let steps = self.steps(steps, scope);
                        Some(ReplicatedOperator::Link(self.pairs(ties, scope), steps))
                    }
                    Replication::Alphabetised(_) => None,
                };
                let steps = self.steps(statements, scope);
                let operator = match (operator, early) {
                    (Replication::Alphabetised(set), _) => {
                        ReplicatedOperator::Alphabetised(self.expression(set, scope))
                    }
                    (_, Some(operator)) => operator,
                    (_, None) => unreachable!("only an alphabet sees the variables"),
                };
                Shape::Replicated { operator, steps, body: self.expression(body, scope) }
            }
            _ => unreachable!("only process expressions come here"),
        }
    }
}
