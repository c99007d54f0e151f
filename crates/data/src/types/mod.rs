//! Sorts and types.
//!
//! Names are overloaded, numbers are converted upwards, and built-in functions have sort variables, so an expression
//! can have several sorts until its surroundings decide. Typing is done in two passes over an expression. From the
//! inside out every part gets the sorts it can have (`possible.rs`), each with the number of conversions that it takes;
//! a sort that follows from another one by converting the result is left out, so these lists stay short and no part is
//! looked at twice. From the outside in every part is then given the sort that its surroundings need, the cheapest way
//! to have it is taken, and conversions are written out (`choose.rs`). Two ways that cost the same are a mistake of the
//! user.
//!
//! These rules are our own description of what mCRL2's type checker does; specifications that it accepts, and those it
//! rejects, are the tests. A part with a mistake is reported once: what contains it has no sort, and is silent.

mod choose;
pub mod codes;
mod declarations;
mod patterns;
mod possible;
mod reports;
mod schemes;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use trefoil_source::{Diagnostic, Place, Span};

use crate::signature::{Operator, Origin};
use crate::sorts::SortRef;
use crate::syntax::tree::{DataSection, ExpressionId, Identifier, Symbol, Tree, Variables};
use crate::typed::{DataSpecification, TypedId, VariableId};

use patterns::Pattern;

/// A mistake was reported, here or in a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported;

/// A sort that an expression can have, and how many conversions inside the expression that takes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Typing {
    pattern: Pattern,
    cost: u32,
}

/// What an expression can be.
type Typings = Rc<[Typing]>;

/// A type checker over one specification.
#[derive(Debug)]
pub struct Checker<'a> {
    tree: &'a Tree,
    text: &'a str,
    /// What was typed so far.
    pub specification: DataSpecification,
    /// The mistakes found so far.
    pub diagnostics: Vec<Diagnostic>,
    /// Names of declarations with mistakes; their uses are not reported.
    broken: HashSet<Symbol>,
    sort_names: HashMap<Symbol, declarations::SortName>,
    structs: HashMap<declarations::StructKey, SortRef>,
    scopes: HashMap<Symbol, Vec<VariableId>>,
    possible: HashMap<ExpressionId, Result<Typings, Reported>>,
    /// Values of `whr` definitions, typed when their variables are bound.
    definitions: HashMap<ExpressionId, (VariableId, TypedId)>,
    /// Variables that an expression binds, declared once for both passes.
    bound: HashMap<ExpressionId, Vec<VariableId>>,
    operator_names: HashMap<Operator, Symbol>,
    /// In a text of our own: the sort of its page. Variables may have the names of functions there, and what nothing
    /// else determines (the elements of `#[]`) is of that sort.
    internal: Option<SortRef>,
}

impl<'a> Checker<'a> {
    /// A type checker of the data part of a specification: its declarations are taken up, its equations typed.
    pub fn new(tree: &'a Tree, text: &'a str, broken: &[Symbol]) -> Checker<'a> {
        let specification = DataSpecification { names: tree.names.clone(), ..DataSpecification::default() };
        let mut checker = Checker::over(specification, tree, text);
        checker.broken = broken.iter().copied().collect();
        checker
    }

    /// A type checker of another text over a specification that was typed before. The names of `tree` continue those of
    /// the specification.
    pub fn over(specification: DataSpecification, tree: &'a Tree, text: &'a str) -> Checker<'a> {
        let sort_names =
            specification.sort_names.iter().map(|&(name, sort)| (name, declarations::SortName::Done(sort))).collect();
        let mut checker = Checker {
            tree,
            text,
            specification,
            diagnostics: Vec::new(),
            broken: HashSet::new(),
            sort_names,
            structs: HashMap::new(),
            scopes: HashMap::new(),
            possible: HashMap::new(),
            definitions: HashMap::new(),
            bound: HashMap::new(),
            operator_names: HashMap::new(),
            internal: None,
        };
        checker.specification.names = tree.names.clone();
        for &(operator, name, _) in Operator::TABLE {
            let name = checker.specification.names.intern(name);
            checker.operator_names.insert(operator, name);
        }
        checker
    }

    /// Types equations of our own over a specification, in which `S` and `T` stand for two sorts.
    pub(crate) fn internal(
        specification: DataSpecification,
        tree: &'a Tree,
        text: &'a str,
        sorts: [(Symbol, SortRef); 2],
    ) -> Checker<'a> {
        let mut checker = Checker::over(specification, tree, text);
        checker.internal = Some(sorts[0].1);
        for (name, sort) in sorts {
            checker.sort_names.insert(name, declarations::SortName::Done(sort));
        }
        checker
    }

    /// Takes up the declarations of all sections, and then types the equations.
    pub fn data<'s>(&mut self, sections: impl Iterator<Item = &'s DataSection> + Clone) {
        self.declare(sections.clone());
        self.equations(sections);
    }

    /// Types the equations of sections.
    pub(crate) fn equations<'s>(&mut self, sections: impl Iterator<Item = &'s DataSection>) {
        for section in sections {
            if let DataSection::Equations { variables, equations } = section {
                let variables: Vec<&Variables> = variables.iter().flat_map(|(variables, _)| variables).collect();
                let Ok(bound) = self.bind(variables.iter().copied()) else { continue };
                for equation in equations {
                    self.equation(equation);
                }
                self.unbind(&bound);
            }
        }
    }

    /// Brings variables into scope.
    pub fn bind<'v>(&mut self, variables: impl Iterator<Item = &'v Variables>) -> Result<Vec<VariableId>, Reported> {
        let mut declared = Vec::new();
        let mut failed = false;
        for group in variables {
            let sort = self.resolve(group.sort);
            for name in &group.names {
                match sort {
                    Ok(sort) => {
                        failed |= self.refuse_clash(name).is_err();
                        declared.push((*name, sort));
                    }
                    Err(_) => {
                        failed = true;
                        self.broken.insert(name.symbol);
                    }
                }
            }
        }
        failed |= self.refuse_repeated(declared.iter().map(|(name, _)| name)).is_err();
        if failed {
            return Err(Reported);
        }
        let bound: Vec<VariableId> =
            declared.iter().map(|(name, sort)| self.specification.tree.add_variable(name.symbol, *sort)).collect();
        self.rebind(&bound);
        Ok(bound)
    }

    /// Brings variables into scope again.
    pub fn rebind(&mut self, variables: &[VariableId]) {
        for &variable in variables {
            let (name, _) = self.specification.tree.variable(variable);
            self.scopes.entry(name).or_default().push(variable);
        }
    }

    /// Ends the scope of variables.
    pub fn unbind(&mut self, variables: &[VariableId]) {
        for &variable in variables {
            let (name, _) = self.specification.tree.variable(variable);
            if let Some(scope) = self.scopes.get_mut(&name) {
                scope.pop();
            }
        }
    }

    /// The innermost variable of a name.
    pub fn variable_named(&self, name: Symbol) -> Option<VariableId> {
        self.scopes.get(&name).and_then(|scope| scope.last().copied())
    }

    /// Refuses a name that occurs twice among those that one operator or one section declares.
    fn refuse_repeated<'n>(&mut self, names: impl Iterator<Item = &'n Identifier>) -> Result<(), Reported> {
        let mut seen: HashMap<Symbol, Span> = HashMap::new();
        let mut result = Ok(());
        for name in names {
            if let Some(before) = seen.insert(name.symbol, name.span) {
                let message = format!("the variable `{}` is declared twice", self.name(name.symbol));
                let help = format!("rename one of them, for instance `{}'`", self.name(name.symbol));
                self.report(
                    Diagnostic::error(codes::VARIABLE_TWICE, message, Place::Span(name.span))
                        .also(Place::Span(before), "here already")
                        .help(help),
                );
                result = Err(Reported);
            }
        }
        result
    }

    /// Refuses a variable with the name of a function.
    fn refuse_clash(&mut self, name: &Identifier) -> Result<(), Reported> {
        if self.internal.is_some() {
            return Ok(());
        }
        let Some(&function) = self.specification.signature.named(name.symbol).first() else { return Ok(()) };
        let message = format!("the variable `{}` has the name of a function", self.name(name.symbol));
        let mut diagnostic = Diagnostic::error(codes::CLASH, message, Place::Span(name.span));
        if let Some(place) = self.specification.signature.function(function).place {
            diagnostic = diagnostic.also(Place::Span(place), "the function");
        }
        self.report(diagnostic.help(format!("rename the variable, for instance `{}'`", self.name(name.symbol))));
        Err(Reported)
    }

    fn name(&self, symbol: Symbol) -> &str {
        self.specification.names.text(symbol)
    }

    /// The text of an expression, shortened.
    pub fn quote(&self, expression: ExpressionId) -> String {
        let span = self.tree.span(expression);
        let text = self.text.get(span.range()).unwrap_or("…");
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.chars().count() <= 40 { text } else { text.chars().take(39).chain(['…']).collect() }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn error(&mut self, code: &'static str, message: String, span: Span, help: Option<String>) -> Reported {
        let mut diagnostic = Diagnostic::error(code, message, Place::Span(span));
        if let Some(help) = help {
            diagnostic = diagnostic.help(help);
        }
        self.report(diagnostic);
        Reported
    }

    fn equation(&mut self, equation: &crate::syntax::tree::Equation) {
        // The right side and the condition are looked at even where the left side is wrong, for their own mistakes.
        let left = self.infer(equation.left);
        let condition = equation.condition.map(|condition| self.check(condition, crate::sorts::BOOL)).transpose();
        let right = match left {
            Ok(left) => self.check(equation.right, self.specification.tree.sort(left)),
            Err(_) => {
                let _ = self.possible(equation.right);
                return;
            }
        };
        let (Ok(left), Ok(condition), Ok(right)) = (left, condition, right) else { return };
        if self.sound(equation, left, condition, right) {
            let place = equation.span;
            self.specification.equations.push(crate::typed::TypedEquation { condition, left, right, place });
        }
    }

    /// Whether an equation can be a rule; the user is warned where it cannot, as mCRL2 leaves such equations out.
    fn sound(
        &mut self,
        equation: &crate::syntax::tree::Equation,
        left: TypedId,
        condition: Option<TypedId>,
        right: TypedId,
    ) -> bool {
        use crate::typed::Typed;
        let tree = &self.specification.tree;
        if matches!(tree.expression(left), Typed::Variable(_) | Typed::Number(_)) {
            let message = "the left side of an equation is not a function".to_string();
            let place = Place::Span(self.tree.span(equation.left));
            self.report(
                Diagnostic::warning(codes::VARIABLE_ALONE, message, place).help("no rule is made of this equation"),
            );
            return false;
        }
        let known = self.specification.tree.free_variables(left);
        let used = condition
            .into_iter()
            .chain([right])
            .flat_map(|part| self.specification.tree.free_variables(part))
            .collect::<Vec<_>>();
        if let Some(extra) = used.iter().find(|variable| !known.contains(variable)) {
            let (name, _) = self.specification.tree.variable(*extra);
            let message = format!("the left side does not have the variable `{}`", self.name(name));
            let place = Place::Span(equation.span);
            self.report(
                Diagnostic::warning(codes::EXTRA_VARIABLE, message, place).help("no rule is made of this equation"),
            );
            return false;
        }
        if let Some((place, operator)) = self.arithmetic_pattern(left) {
            let message = format!("no number matches a pattern with `{}`", operator.name());
            let diagnostic = Diagnostic::warning(codes::NUMBER_PATTERN, message, Place::Span(place));
            self.report(diagnostic.help("match the number by a variable and test it in a condition"));
        }
        true
    }

    /// An arithmetic operator over a variable below the head of a left side.
    fn arithmetic_pattern(&self, left: TypedId) -> Option<(Span, Operator)> {
        use crate::typed::Typed;
        let tree = &self.specification.tree;
        let mut pending = match tree.expression(left) {
            Typed::Apply(_, arguments) => tree.elements(arguments).to_vec(),
            _ => Vec::new(),
        };
        while let Some(id) = pending.pop() {
            if let Typed::Apply(function, arguments) = tree.expression(id) {
                if let Typed::Function(function) = tree.expression(*function)
                    && let Origin::Builtin(operator) = self.specification.signature.function(*function).origin
                    && matches!(
                        operator,
                        Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Succ | Operator::Pred
                    )
                    && !self.specification.tree.free_variables(id).is_empty()
                {
                    return Some((tree.place(id), operator));
                }
                pending.extend(tree.elements(arguments));
            }
        }
        None
    }
}
