//! Values of variables as the numbers that slots hold, and values of labels out of their texts.
//!
//! A label of a model is known by its text, whatever the language. An argument is read as a data expression of the
//! argument's sort (constructors, numbers, lists, sets, bags, updates), from the inside out: each constructor and each
//! operator that can occur was compiled beforehand as code over variables. A text is read once for each label.
//!
//! Values are numbered as they are found. The number 0 stands for no value: a variable that is not live has it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use trefoil_data::rewrite::{FunctionIndex, Program, Rewriter, Unfinished};
use trefoil_data::signature::{FunctionId, Operator, Origin};
use trefoil_data::sorts::{BOOL, INT, NAT, POS, REAL, SortKind, SortRef};
use trefoil_data::syntax::Parser;
use trefoil_data::syntax::tree::{Container, Expression, ExpressionId, Infix, Prefix, Tree};
use trefoil_data::typed::{DataSpecification, TypedId, VariableId};
use trefoil_source::{FileId, Span};
use trefoil_system::{Domain, Value};
use trefoil_terms::{Numbering, Pool, Term};

use super::expressions::Maker;

/// The number of no value.
pub(super) const NONE: Value = 0;

/// The values that were found.
pub(super) struct Found {
    program: Arc<Program>,
    pool: Pool,
    numbering: Numbering,
}

impl Found {
    pub(super) fn new(program: Arc<Program>, pool: &Pool) -> Found {
        let numbering = pool.numbering();
        let worker = pool.worker();
        let section = worker.enter();
        let none = numbering.number(&section, program.leaf(&section, "-"));
        assert_eq!(none, NONE);
        drop(section);
        Found { program, pool: pool.clone(), numbering }
    }

    pub(super) fn number(&self, rewriter: &Rewriter<'_>, term: Term) -> Value {
        self.numbering.number(rewriter.section(), term)
    }

    pub(super) fn term(&self, value: Value) -> Term {
        self.numbering.term(value).expect("a value that was numbered")
    }
}

impl Domain for Found {
    fn bytes(&self, value: Value, into: &mut Vec<u8>) {
        self.numbering.bytes(value, into);
    }

    fn value(&self, bytes: &[u8]) -> Option<Value> {
        self.numbering.value(bytes)
    }

    fn compare(&self, left: Value, right: Value) -> std::cmp::Ordering {
        self.numbering.compare(left, right)
    }

    fn text(&self, value: Value) -> String {
        if value == NONE {
            return "-".to_string();
        }
        let term = self.term(value);
        let worker = self.pool.worker();
        self.program.text(&worker.enter(), term)
    }

    fn len(&self) -> usize {
        self.numbering.len()
    }
}

/// An operation that values are made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operation {
    Function(FunctionId),
    /// An operator whose result has this sort.
    Operator(Operator, SortRef),
}

/// The operations that values of labels are made with, before they are compiled.
pub(super) struct Operations {
    made: Vec<(Operation, TypedId, Vec<VariableId>)>,
}

impl Operations {
    /// Those for values of these sorts, and of the sorts of their parts.
    pub(super) fn new(data: &mut DataSpecification, sorts: &BTreeSet<SortRef>, place: Span) -> Operations {
        let all = closed(data, sorts);
        let mut operations = Operations { made: Vec::new() };
        for index in 0..data.signature.len() as u32 {
            let id = FunctionId(index);
            let function = data.signature.function(id);
            if matches!(function.origin, Origin::Builtin(_)) {
                continue;
            }
            let (domain, codomain) = match data.sorts.as_function(function.sort) {
                Some((domain, codomain)) => (domain.to_vec(), codomain),
                None => (Vec::new(), function.sort),
            };
            if all.contains(&codomain) && domain.iter().all(|sort| all.contains(sort)) {
                operations.add(data, Operation::Function(id), &domain, codomain, place);
            }
        }
        for &sort in &all {
            let mut operator = |data: &mut DataSpecification, operator: Operator, domain: &[SortRef]| {
                operations.add(data, Operation::Operator(operator, sort), domain, sort, place);
            };
            match sort {
                BOOL => {
                    operator(data, Operator::True, &[]);
                    operator(data, Operator::False, &[]);
                }
                INT | REAL => {
                    operator(data, Operator::Negate, &[sort]);
                    if sort == REAL {
                        operator(data, Operator::Divide, &[REAL, REAL]);
                    }
                }
                _ => {}
            }
            match data.sorts.kind(sort).clone() {
                SortKind::Container(container, element) => match container {
                    Container::List => {
                        operator(data, Operator::EmptyList, &[]);
                        operator(data, Operator::Cons, &[element, sort]);
                        operator(data, Operator::Concat, &[sort, sort]);
                    }
                    Container::FSet => {
                        operator(data, Operator::EmptySet, &[]);
                        operator(data, Operator::Insert, &[element, sort]);
                    }
                    Container::FBag => {
                        operator(data, Operator::EmptyBag, &[]);
                        operator(data, Operator::InsertMany, &[element, NAT, sort]);
                    }
                    Container::Set => {
                        let finite = data.sorts.container(Container::FSet, element);
                        operator(data, Operator::FSet2Set, &[finite]);
                        operator(data, Operator::Complement, &[sort]);
                    }
                    Container::Bag => {
                        let finite = data.sorts.container(Container::FBag, element);
                        operator(data, Operator::FBag2Bag, &[finite]);
                    }
                },
                SortKind::Function(domain, codomain) if domain.len() == 1 => {
                    operator(data, Operator::Update, &[sort, domain[0], codomain]);
                }
                _ => {}
            }
        }
        operations
    }

    fn add(
        &mut self,
        data: &mut DataSpecification,
        operation: Operation,
        domain: &[SortRef],
        sort: SortRef,
        place: Span,
    ) {
        let mut maker = Maker { data, place };
        let (variables, operands): (Vec<VariableId>, Vec<TypedId>) =
            domain.iter().map(|&sort| maker.variable("@x", sort)).unzip();
        let expression = match operation {
            Operation::Function(function) => maker.apply(function, &operands, sort),
            Operation::Operator(operator, _) => maker.operator(operator, &operands, sort),
        };
        self.made.push((operation, expression, variables));
    }

    /// The expressions to compile.
    pub(super) fn expressions(&self) -> impl Iterator<Item = (TypedId, Vec<VariableId>)> + '_ {
        self.made.iter().map(|(_, expression, variables)| (*expression, variables.clone()))
    }

    /// The reader, given the code of each expression.
    pub(super) fn reader(&self, codes: &[FunctionIndex]) -> ValueReader {
        ValueReader { codes: self.made.iter().zip(codes).map(|((operation, ..), &code)| (*operation, code)).collect() }
    }
}

/// Sorts with those of their parts.
fn closed(data: &mut DataSpecification, sorts: &BTreeSet<SortRef>) -> BTreeSet<SortRef> {
    let mut all = BTreeSet::new();
    let mut pending: Vec<SortRef> = sorts.iter().copied().collect();
    while let Some(sort) = pending.pop() {
        if !all.insert(sort) {
            continue;
        }
        match data.sorts.kind(sort).clone() {
            SortKind::Basic(_) => {}
            SortKind::Container(container, element) => {
                pending.push(element);
                match container {
                    Container::Set => pending.push(data.sorts.container(Container::FSet, element)),
                    Container::Bag => pending.push(data.sorts.container(Container::FBag, element)),
                    _ => {}
                }
            }
            SortKind::Function(domain, codomain) => pending.extend(domain.iter().copied().chain([codomain])),
            SortKind::Named(_) | SortKind::Structured(_) => {
                for &constructor in data.sorts.constructors(sort) {
                    let whole = data.signature.function(constructor).sort;
                    if let Some((domain, _)) = data.sorts.as_function(whole) {
                        pending.extend(domain);
                    }
                }
            }
        }
    }
    all
}

/// Reads values of labels.
pub(super) struct ValueReader {
    codes: HashMap<Operation, FunctionIndex>,
}

/// Why a text is no value.
pub(super) enum NoValue {
    /// It is not written as one.
    Text,
    /// A budget ran out, or the user interrupted.
    Unfinished,
}

impl From<Unfinished> for NoValue {
    fn from(_: Unfinished) -> NoValue {
        NoValue::Unfinished
    }
}

impl ValueReader {
    /// The value of a sort with this text.
    pub(super) fn read(
        &self,
        program: &Program,
        found: &Found,
        rewriter: &mut Rewriter<'_>,
        text: &str,
        sort: SortRef,
    ) -> Result<Value, NoValue> {
        if matches!(sort, POS | NAT | INT | REAL) && text.len() < 19 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let number: u64 = text.parse().map_err(|_| NoValue::Text)?;
            return Ok(found.number(rewriter, rewriter.section().word(number)));
        }
        let mut parser = Parser::new(text, FileId(u32::MAX));
        let read = parser.whole_expression().map_err(|_| NoValue::Text)?;
        Reading { reader: self, program, found, tree: &parser.tree, rewriter }.value(read, sort)
    }
}

struct Reading<'r, 'p> {
    reader: &'r ValueReader,
    program: &'r Program,
    found: &'r Found,
    tree: &'r Tree,
    rewriter: &'r mut Rewriter<'p>,
}

impl Reading<'_, '_> {
    /// Applies an operation; operands and result are numbered, so that nothing collects them meanwhile.
    fn apply(&mut self, operation: Operation, operands: &[Value]) -> Result<Value, NoValue> {
        let &code = self.reader.codes.get(&operation).ok_or(NoValue::Text)?;
        let terms: Vec<Term> = operands.iter().map(|&operand| self.found.term(operand)).collect();
        let term = self.rewriter.evaluate(code, &terms)?;
        Ok(self.found.number(self.rewriter, term))
    }

    fn operator(&mut self, operator: Operator, sort: SortRef, operands: &[Value]) -> Result<Value, NoValue> {
        self.apply(Operation::Operator(operator, sort), operands)
    }

    fn container(&self, sort: SortRef) -> Option<(Container, SortRef)> {
        match self.program.specification.sorts.kind(sort) {
            SortKind::Container(container, element) => Some((*container, *element)),
            _ => None,
        }
    }

    fn find_container(&self, container: Container, element: SortRef) -> Result<SortRef, NoValue> {
        let sorts = &self.program.specification.sorts;
        let wanted = SortKind::Container(container, element);
        (0..sorts.len() as u32).map(SortRef).find(|&sort| *sorts.kind(sort) == wanted).ok_or(NoValue::Text)
    }

    /// A declared function by its name, the number of its arguments and its result.
    fn function(&self, name: &str, arity: usize, sort: SortRef) -> Result<(FunctionId, Vec<SortRef>), NoValue> {
        let data = &self.program.specification;
        let symbol = data.names.find(name).ok_or(NoValue::Text)?;
        let candidates = data.signature.named(symbol).iter().filter_map(|&id| {
            let whole = data.signature.function(id).sort;
            let (domain, codomain) = match data.sorts.as_function(whole) {
                Some((domain, codomain)) => (domain, codomain),
                None => (&[][..], whole),
            };
            (domain.len() == arity && codomain == sort && self.reader.codes.contains_key(&Operation::Function(id)))
                .then(|| (id, domain.to_vec()))
        });
        candidates.into_iter().next().ok_or(NoValue::Text)
    }

    fn value(&mut self, id: ExpressionId, sort: SortRef) -> Result<Value, NoValue> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.value_inside(id, sort))
    }

    fn value_inside(&mut self, id: ExpressionId, sort: SortRef) -> Result<Value, NoValue> {
        let tree = self.tree;
        match tree.expression(id) {
            Expression::Brackets(inside) => self.value(*inside, sort),
            Expression::Number(digits) => {
                let number: u64 = tree.names.text(*digits).parse().map_err(|_| NoValue::Text)?;
                Ok(self.found.number(self.rewriter, self.rewriter.section().word(number)))
            }
            Expression::Name(name) => match (tree.names.text(*name), sort) {
                ("true", BOOL) => self.operator(Operator::True, sort, &[]),
                ("false", BOOL) => self.operator(Operator::False, sort, &[]),
                (name, _) => {
                    let (function, _) = self.function(name, 0, sort)?;
                    self.apply(Operation::Function(function), &[])
                }
            },
            Expression::Apply(head, arguments) => {
                let Expression::Name(name) = tree.expression(*head) else { return Err(NoValue::Text) };
                let arguments = tree.elements(arguments);
                let (function, domain) = self.function(tree.names.text(*name), arguments.len(), sort)?;
                let operands: Vec<Value> = arguments
                    .iter()
                    .zip(domain)
                    .map(|(&argument, sort)| self.value(argument, sort))
                    .collect::<Result<_, _>>()?;
                self.apply(Operation::Function(function), &operands)
            }
            Expression::List(elements) => {
                let Some((Container::List, element)) = self.container(sort) else { return Err(NoValue::Text) };
                let mut list = self.operator(Operator::EmptyList, sort, &[])?;
                for &value in tree.elements(elements).iter().rev() {
                    let value = self.value(value, element)?;
                    list = self.operator(Operator::Cons, sort, &[value, list])?;
                }
                Ok(list)
            }
            Expression::Set(elements) => {
                let (container, element) = self.container(sort).ok_or(NoValue::Text)?;
                let finite = self.find_container(Container::FSet, element)?;
                let mut set = self.operator(Operator::EmptySet, finite, &[])?;
                for &value in tree.elements(elements) {
                    let value = self.value(value, element)?;
                    set = self.operator(Operator::Insert, finite, &[value, set])?;
                }
                match container {
                    Container::FSet => Ok(set),
                    Container::Set => self.operator(Operator::FSet2Set, sort, &[set]),
                    _ => Err(NoValue::Text),
                }
            }
            Expression::Bag(elements) => {
                let (container, element) = self.container(sort).ok_or(NoValue::Text)?;
                let finite = self.find_container(Container::FBag, element)?;
                let mut bag = self.operator(Operator::EmptyBag, finite, &[])?;
                for pair in tree.elements(elements).chunks_exact(2) {
                    let (value, count) = (self.value(pair[0], element)?, self.value(pair[1], NAT)?);
                    bag = self.operator(Operator::InsertMany, finite, &[value, count, bag])?;
                }
                match container {
                    Container::FBag => Ok(bag),
                    Container::Bag => self.operator(Operator::FBag2Bag, sort, &[bag]),
                    _ => Err(NoValue::Text),
                }
            }
            Expression::Prefix(Prefix::Minus, inside) => {
                let value = self.value(*inside, sort)?;
                self.operator(Operator::Negate, sort, &[value])
            }
            Expression::Prefix(Prefix::Not, inside) => {
                let value = self.value(*inside, sort)?;
                self.operator(Operator::Complement, sort, &[value])
            }
            Expression::Infix(infix, left, right) => {
                let operator = match infix {
                    Infix::Divide => Operator::Divide,
                    Infix::Concat => Operator::Concat,
                    Infix::Cons => Operator::Cons,
                    _ => return Err(NoValue::Text),
                };
                let first = match (infix, self.container(sort)) {
                    (Infix::Cons, Some((_, element))) => element,
                    _ => sort,
                };
                let operands = [self.value(*left, first)?, self.value(*right, sort)?];
                self.operator(operator, sort, &operands)
            }
            Expression::Update(function, argument, value) => {
                let sorts = &self.program.specification.sorts;
                let (domain, codomain) = sorts.as_function(sort).ok_or(NoValue::Text)?;
                let (&[from], to) = (domain, codomain) else { return Err(NoValue::Text) };
                let function = self.value(*function, sort)?;
                let operands = [function, self.value(*argument, from)?, self.value(*value, to)?];
                self.operator(Operator::Update, sort, &operands)
            }
            _ => Err(NoValue::Text),
        }
    }
}
