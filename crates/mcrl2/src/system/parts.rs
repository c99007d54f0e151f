//! Joined summands in their parts.
//!
//! A step that several components take together reads the slots of all of them, so the keys of its table are
//! combinations of what each component reads, and they multiply. Its parts do not: the condition and the value of a
//! sender depend on the sender's slots, and what a receiver makes of the value depends on its own slots and on the
//! value alone. So every expression of a joined summand has a table of its own, over the slots that this expression
//! reads, and a subexpression over the slots of one component inside a larger one (`f(x)` of the sender in
//! `q ++ [f(x)]` of the receiver) is an expression by itself, whose value stands in the key of the larger one. Summands
//! share what they have in common: all that a sender can send to is computed from one table of its value.
//!
//! The whole summand has a table as well, which is looked up first and dropped unless nearly every question is answered
//! by it: then its keys are few, and one look-up is cheaper than several.
//!
//! Subexpressions are taken out of constructors and of built-in operators that evaluate all of their arguments, so that
//! nothing is evaluated that the whole would not evaluate.

use std::collections::{BTreeSet, HashMap};

use trefoil_data::rewrite::FunctionIndex;
use trefoil_data::signature::{Operator, Origin};
use trefoil_data::sorts::SortRef;
use trefoil_data::typed::{DataSpecification, Typed, TypedId, VariableId};
use trefoil_system::{Cut, Value};
use trefoil_terms::Term;

use super::plan::Compiled;
use super::steps::{Desk, unfinished};
use super::table::Table;
use super::values::Encoding;
use crate::linear::{Event, LinearProcess, Summand};

/// What a value of a key is the number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Slot(u32),
    Piece(u32),
}

/// What the value of a piece is the number of.
enum Target {
    Truth,
    Value(Encoding),
}

/// An expression with a table.
struct Piece {
    code: FunctionIndex,
    /// Where the values of its variables come from.
    sources: Vec<Source>,
    target: Target,
}

/// The number of a truth value.
pub(super) const TRUE: Value = 1;

/// How a number in a step of a joined summand comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartValue {
    /// Always the same.
    Constant(Value),
    /// The value of a slot.
    Slot(u32),
    /// The value of an expression with a table.
    Piece(u32),
}

/// A joined summand in its parts.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    /// Conjuncts, all of which must hold.
    pub(super) conjuncts: Vec<u32>,
    /// Arguments of its label, when it has a label with arguments.
    pub(super) arguments: Vec<PartValue>,
    /// New values, in the order of the updates.
    pub(super) updates: Vec<PartValue>,
}

/// All expressions with tables.
#[derive(Default)]
pub(super) struct Pieces {
    pieces: Vec<Piece>,
    known: HashMap<(TypedId, Use), u32>,
}

/// What an expression is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Use {
    /// A condition.
    Truth,
    /// The new value of a slot.
    Slot(u32),
    /// An argument, or a part of a larger expression.
    Sort(SortRef),
}

/// A mixed expression whose inner expressions have become variables.
#[derive(Clone, Debug)]
pub(super) struct Split {
    /// The expression with variables for the inner ones.
    pub(super) outer: TypedId,
    /// The inner ones, by their variables.
    pub(super) inner: HashMap<VariableId, TypedId>,
}

/// Whether a summand is joined from summands of several components, and its values are found without a search.
pub(super) fn is_joined(linear: &LinearProcess, summand: &Summand) -> bool {
    let components: BTreeSet<usize> = summand.parts.iter().map(|part| part.component).collect();
    summand.variables.is_empty() && components.len() > 1 && linear.components.len() > 1
}

/// Splits the expressions of joined summands that read slots of several components.
pub(super) fn split_mixed(data: &mut DataSpecification, linear: &LinearProcess) -> HashMap<TypedId, Split> {
    let owners = linear.parameters.iter().map(|parameter| (parameter.variable, parameter.component)).collect();
    let mut splits = HashMap::new();
    for summand in linear.summands.iter().filter(|summand| is_joined(linear, summand)) {
        let arguments: Vec<TypedId> = match &summand.event {
            Event::Actions(actions) => actions.iter().flat_map(|(_, arguments)| arguments.clone()).collect(),
            Event::Terminate => Vec::new(),
        };
        let updates = summand.updates.iter().map(|&(_, value)| value);
        for id in summand.conditions.iter().copied().chain(arguments).chain(updates) {
            let mut splitting = Splitting { data, owners: &owners, inner: HashMap::new() };
            if splitting.components(id).len() < 2 || splits.contains_key(&id) {
                continue;
            }
            let outer = splitting.split(id);
            if outer != id {
                let inner = splitting.inner;
                splits.insert(id, Split { outer, inner });
            }
        }
    }
    splits
}

struct Splitting<'a> {
    data: &'a mut DataSpecification,
    owners: &'a HashMap<VariableId, usize>,
    inner: HashMap<VariableId, TypedId>,
}

impl Splitting<'_> {
    /// The components whose parameters an expression reads.
    fn components(&self, id: TypedId) -> BTreeSet<usize> {
        self.data.tree.free_variables(id).iter().filter_map(|variable| self.owners.get(variable).copied()).collect()
    }

    fn split(&mut self, id: TypedId) -> TypedId {
        let Typed::Apply(head, arguments) = self.data.tree.expression(id).clone() else { return id };
        match self.components(id).len() {
            0 => id,
            1 => {
                let sort = self.data.tree.sort(id);
                let name = self.data.names.intern("@part");
                let variable = self.data.tree.add_variable(name, sort);
                self.inner.insert(variable, id);
                self.data.tree.add(Typed::Variable(variable), sort, self.data.tree.place(id))
            }
            _ if self.is_strict(head) => {
                let before = self.data.tree.elements(&arguments).to_vec();
                let after: Vec<TypedId> = before.iter().map(|&argument| self.split(argument)).collect();
                if before == after {
                    return id;
                }
                let list = self.data.tree.add_list(&after);
                let (sort, place) = (self.data.tree.sort(id), self.data.tree.place(id));
                self.data.tree.add(Typed::Apply(head, list), sort, place)
            }
            _ => id,
        }
    }

    /// Whether a function evaluates all of its arguments.
    fn is_strict(&self, head: TypedId) -> bool {
        let Typed::Function(function) = self.data.tree.expression(head) else { return false };
        match self.data.signature.function(*function).origin {
            Origin::Constructor => true,
            Origin::Builtin(operator) => {
                !matches!(operator, Operator::If | Operator::And | Operator::Or | Operator::Implies)
            }
            _ => false,
        }
    }
}

impl Pieces {
    /// How many tables there are.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The piece of an expression that is not constant.
    pub(super) fn add(&mut self, compiled: &Compiled, encodings: &[Encoding], id: TypedId, used: Use) -> u32 {
        if let Some(&known) = self.known.get(&(id, used)) {
            return known;
        }
        let (outer, inner) = match compiled.splits.get(&id) {
            Some(split) => (split.outer, Some(&split.inner)),
            None => (id, None),
        };
        let (code, variables) = compiled.code(outer);
        let sources = variables
            .iter()
            .map(|variable| match compiled.slot(*variable) {
                Some(slot) => Source::Slot(slot),
                None => {
                    let id = inner.expect("only split expressions have other variables")[variable];
                    let sort = compiled.program.specification.tree.sort(id);
                    Source::Piece(self.add(compiled, encodings, id, Use::Sort(sort)))
                }
            })
            .collect();
        let target = match used {
            Use::Truth => Target::Truth,
            Use::Slot(slot) => Target::Value(encodings[slot as usize].clone()),
            Use::Sort(sort) => Target::Value(compiled.met(sort)),
        };
        let piece = self.pieces.len() as u32;
        self.pieces.push(Piece { code, sources, target });
        self.known.insert((id, used), piece);
        piece
    }

    /// The number of a piece's value in a row; nothing for a condition that is neither true nor false.
    pub(super) fn value(
        &self,
        piece: u32,
        row: &[Value],
        encodings: &[Encoding],
        tables: &mut [Table],
        desk: &mut Desk<'_>,
    ) -> Result<Option<Value>, Cut> {
        let Piece { code, sources, target } = &self.pieces[piece as usize];
        let start = desk.keys.len();
        for source in sources {
            let value = match *source {
                Source::Slot(slot) => row[slot as usize],
                Source::Piece(inner) => match self.value(inner, row, encodings, tables, desk)? {
                    Some(value) => value,
                    None => unreachable!("inner expressions are no conditions"),
                },
            };
            desk.keys.push(value);
        }
        let table = &mut tables[piece as usize];
        if let Some(found) = table.find(&desk.keys[start..]) {
            desk.keys.truncate(start);
            return Ok(Some(table.records()[found.at]));
        }
        let decode = |(source, &value): (&Source, &Value)| match *source {
            Source::Slot(slot) => encodings[slot as usize].decode(value),
            Source::Piece(inner) => match &self.pieces[inner as usize].target {
                Target::Value(encoding) => encoding.decode(value),
                Target::Truth => unreachable!("inner expressions are no conditions"),
            },
        };
        let terms: Vec<Term> = sources.iter().zip(&desk.keys[start..]).map(decode).collect();
        let rewriter = desk.rewriter();
        let term = rewriter.evaluate(*code, &terms).map_err(unfinished)?;
        let value = match target {
            Target::Truth => desk.model.compiled.program.truth_of(term).map(Value::from),
            Target::Value(encoding) => Some(encoding.number(rewriter, term).map_err(unfinished)?.ok_or(Cut::Outgrown)?),
        };
        if let Some(value) = value {
            table.insert(&desk.keys[start..], 1, &[value]);
        }
        desk.keys.truncate(start);
        Ok(value)
    }
}
