//! Function values in one form.
//!
//! A function value is code with the values that it has captured, so two values that come from different places of a
//! specification are different terms, also where they are the same function: `lambda n: Nat. !f(n)` captures `f`, and a
//! parameter that is updated with it captures ever more. mCRL2 rewrites the bodies of functions and compares these.
//! Here the *form* of a function value is the normal form of its body: the function is applied to variables, each a
//! constant that no rule knows, and functions inside the result get their forms as well. Of all values with one form
//! the first that was found stands for the others wherever values are kept: in the parameters of states and the
//! arguments of actions. So code stays what is run, and what has one form is one state. Forms are what is printed.
//!
//! The names of variables belong to the form, as in mCRL2. A variable that would be taken for another one inside the
//! form, or that has the name of one bound there, gets a name of its own.
//!
//! A body with variables may have no normal form. It is given up after some steps, and the function is then its own
//! form. Among several threads chance may decide which of two values with one form is the first; their texts are equal.
//!
//! Cost: a form is computed once for each function value that is met, and remembered as long as the program.

use std::collections::HashSet;

use trefoil_terms::{Section, Term};

use crate::signature::{Operator, Origin};
use crate::sorts::{SortKind, SortRef};
use crate::syntax::tree::Container;

use super::code::FunctionIndex;
use super::machine::{Rewriter, Unfinished};
use super::program::{Program, Role};

/// Steps that the normal form of a body may take.
const MOST_STEPS: u64 = 10_000;

/// Names that are tried for a variable.
const MOST_NAMES: usize = 4;

impl Program {
    /// Whether values of a sort can hold functions: so can sets and bags.
    pub fn holds_functions(&self, sort: SortRef) -> bool {
        let mut seen = HashSet::from([sort]);
        let mut pending = vec![sort];
        while let Some(sort) = pending.pop() {
            match self.specification.sorts.kind(sort) {
                SortKind::Function(..) | SortKind::Container(Container::Set | Container::Bag, _) => return true,
                _ => pending.extend(self.parts(sort).into_iter().filter(|&part| seen.insert(part))),
            }
        }
        false
    }

    /// Whether a term is a function value that code makes: a closure, or a function that equations of sets and bags
    /// make of others.
    pub(super) fn is_made_function(&self, section: &Section<'_>, term: Term) -> bool {
        match self.role(section.head(term)) {
            Role::Closure(_) => true,
            Role::Applied(function) => self
                .operator(function)
                .is_some_and(|operator| operator.is_combinator() || operator == Operator::ConstantFunction),
            _ => false,
        }
    }

    /// The form of a function value, if it is known.
    pub(super) fn form(&self, function: Term) -> Option<Term> {
        self.forms.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(&function).copied().flatten()
    }

    /// The names and sorts of a function value's arguments: of a function that is made of others, those of the first
    /// `lambda` in it.
    pub(super) fn bound_by(&self, section: &Section<'_>, function: Term) -> Option<Vec<(String, String)>> {
        let data = &self.specification;
        let mut inside = function;
        while self.combinator(section, inside).is_some() && !section.arguments(inside).is_empty() {
            inside = section.argument(inside, 0);
        }
        let taken = |index: FunctionIndex| {
            let whole = data.signature.function(self.function(index).id?).sort;
            data.sorts.as_function(whole)
        };
        let named = |sort: SortRef| vec![("x".to_string(), data.sort_text(sort))];
        match self.role(section.head(inside)) {
            Role::Closure(index) => {
                let description = self.function(index);
                let (_, variables) = description.site.as_ref()?;
                let own = variables[description.captured as usize..].iter().map(|&variable| {
                    let (name, sort) = data.tree.variable(variable);
                    (data.names.text(name).to_string(), data.sort_text(sort))
                });
                Some(own.collect())
            }
            Role::Form => {
                let arguments: Vec<Term> = section.arguments(inside).iter().collect();
                let (_, variables) = arguments.split_last()?;
                Some(variables.iter().filter_map(|&variable| name_and_sort(section, variable)).collect())
            }
            Role::Bare(index) => Some(named(*taken(index)?.0.first()?)),
            Role::Applied(index) => Some(named(*data.sorts.as_function(taken(index)?.1)?.0.first()?)),
            _ => None,
        }
    }

    /// The built-in function that a constructor or function is.
    fn built_in(&self, function: FunctionIndex) -> Option<Operator> {
        match self.specification.signature.function(self.function(function).id?).origin {
            Origin::Builtin(operator) => Some(operator),
            _ => None,
        }
    }

    /// The operator of a function on elements that the equations of sets and bags make.
    pub(super) fn combinator(&self, section: &Section<'_>, function: Term) -> Option<Operator> {
        match self.role(section.head(function)) {
            Role::Bare(function) | Role::Applied(function) => {
                self.operator(function).filter(|operator| operator.is_combinator())
            }
            _ => None,
        }
    }
}

impl Operator {
    /// Whether it makes a function on elements for the equations of sets and bags.
    pub(super) fn is_combinator(self) -> bool {
        matches!(
            self,
            Operator::Nothing
                | Operator::Everything
                | Operator::NotFunction
                | Operator::AndFunction
                | Operator::OrFunction
                | Operator::ZeroFunction
                | Operator::AddFunction
                | Operator::MinFunction
                | Operator::MonusFunction
                | Operator::Occurs
                | Operator::Counts
        )
    }
}

/// The name and the sort of a variable in a form.
pub(super) fn name_and_sort(section: &Section<'_>, variable: Term) -> Option<(String, String)> {
    let name = section.name(section.head(variable)).to_string();
    name.split_once('#').map(|(name, sort)| (name.to_string(), sort.to_string()))
}

impl Rewriter<'_> {
    /// Finds the forms of all function values in a normal form, so that it is printed with them.
    pub fn find_forms(&mut self, term: Term) -> Result<(), Unfinished> {
        let mut seen = HashSet::from([term]);
        let mut pending = vec![term];
        let mut functions = Vec::new();
        while let Some(term) = pending.pop() {
            if self.program.numbers.is_number(self.section.head(term)) {
                continue;
            }
            if self.program.is_made_function(&self.section, term) {
                functions.push(term);
                continue;
            }
            pending.extend(self.section.arguments(term).iter().filter(|&argument| seen.insert(argument)));
        }
        let height = self.stack.len();
        self.stack.push(term);
        let found = functions.into_iter().try_for_each(|function| self.form_of(function, &[]).map(|_| ()));
        self.ended(height, found)
    }

    /// A value with the first function value of its form in the place of each, for values that are kept.
    pub fn settled(&mut self, term: Term) -> Result<Term, Unfinished> {
        let height = self.stack.len();
        self.stack.push(term);
        let settled = self.settled_part(term);
        self.ended(height, settled)
    }

    /// Leaves the stack as it was.
    fn ended<T>(&mut self, height: usize, outcome: Result<T, Unfinished>) -> Result<T, Unfinished> {
        match &outcome {
            Ok(_) => self.stack.truncate(height),
            Err(_) => self.reset(height),
        }
        outcome
    }

    /// The same for a term that lies on the stack.
    fn settled_part(&mut self, term: Term) -> Result<Term, Unfinished> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.settled_inside(term))
    }

    fn settled_inside(&mut self, term: Term) -> Result<Term, Unfinished> {
        let program = self.program;
        if program.is_made_function(&self.section, term) {
            let Some(form) = self.form_of(term, &[])? else { return Ok(term) };
            let key = self.without_names(form);
            let mut first = program.first.write().unwrap_or_else(|poisoned| poisoned.into_inner());
            return Ok(*first.entry(key).or_insert_with(|| {
                program.keep(key, &self.section);
                term
            }));
        }
        let Role::Applied(function) = program.role(self.section.head(term)) else { return Ok(term) };
        // Elements of finite sets and bags are values without functions, as a rule, and there may be many.
        let inside = match program.operator(function) {
            Some(Operator::StableUpdate) => 3,
            Some(_) => return Ok(term),
            None => match program.built_in(function) {
                Some(Operator::FSetCons | Operator::FBagCons) => return Ok(term),
                Some(Operator::SetConstructor | Operator::BagConstructor) => 1,
                _ => self.section.arity(term),
            },
        };
        let place = self.stack.len();
        self.stack.extend(self.section.arguments(term).iter());
        for index in place..place + inside {
            self.stack[index] = self.settled_part(self.stack[index])?;
        }
        let settled = self.section.create(self.section.head(term), &self.stack[place..]);
        self.stack.truncate(place);
        Ok(settled)
    }

    /// A form that is the same for all names of its variables, where its body mentions none of them.
    fn without_names(&self, form: Term) -> Term {
        let mut parts: Vec<Term> = self.section.arguments(form).iter().collect();
        let Some((&body, variables)) = parts.split_last() else { return form };
        let mut seen = HashSet::from([body]);
        let mut pending = vec![body];
        while let Some(term) = pending.pop() {
            if variables.contains(&term) {
                return form;
            }
            if !self.program.numbers.is_number(self.section.head(term)) {
                pending.extend(self.section.arguments(term).iter().filter(|&argument| seen.insert(argument)));
            }
        }
        let last = parts.len() - 1;
        for variable in &mut parts[..last] {
            let sort = name_and_sort(&self.section, *variable).map_or(String::new(), |(_, sort)| sort);
            *variable = self.section.create(self.program.pool.symbol(&format!("#{sort}"), 0), &[]);
        }
        self.section.create(self.section.head(form), &parts)
    }

    /// The form of a function value inside variables with these names; nothing where its body has no normal form.
    fn form_of(&mut self, function: Term, around: &[String]) -> Result<Option<Term>, Unfinished> {
        if around.is_empty()
            && let Some(&known) =
                self.program.forms.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(&function)
        {
            return Ok(known);
        }
        self.stack.push(function);
        let form = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.new_form(function, around))?;
        self.pop();
        if around.is_empty() {
            self.program.keep(function, &self.section);
            form.iter().for_each(|&form| {
                self.program.keep(form, &self.section);
            });
            let mut forms = self.program.forms.write().unwrap_or_else(|poisoned| poisoned.into_inner());
            forms.insert(function, form);
        }
        Ok(form)
    }

    fn new_form(&mut self, function: Term, around: &[String]) -> Result<Option<Term>, Unfinished> {
        let Some(mut bound) = self.program.bound_by(&self.section, function) else { return Ok(None) };
        let Some(&symbol) = self.program.form_symbols.get(bound.len()) else { return Ok(None) };
        for _ in 0..MOST_NAMES {
            for place in 0..bound.len() {
                while around.contains(&bound[place].0) || bound[..place].iter().any(|(name, _)| *name == bound[place].0)
                {
                    bound[place].0.push('\'');
                }
            }
            let height = self.stack.len();
            for (name, sort) in &bound {
                let symbol = self.program.pool.symbol(&format!("{name}#{sort}"), 0);
                self.stack.push(self.section.create(symbol, &[]));
            }
            let names: Vec<String> = around.iter().cloned().chain(bound.iter().map(|(name, _)| name.clone())).collect();
            let Some(body) = self.body(function, bound.len(), &names)? else {
                self.stack.truncate(height);
                return Ok(None);
            };
            self.stack.push(body);
            // A variable that is bound inside again would be taken for this one.
            let inside = self.names_inside(body);
            let mut clashes = false;
            for (name, _) in &mut bound {
                if inside.contains(name) {
                    name.push('\'');
                    clashes = true;
                }
            }
            let form = self.section.create(symbol, &self.stack[height..]);
            self.stack.truncate(height);
            if !clashes {
                return Ok(Some(form));
            }
        }
        Ok(None)
    }

    /// The normal form of a function value applied to the topmost terms, with forms inside it.
    fn body(&mut self, function: Term, arity: usize, names: &[String]) -> Result<Option<Term>, Unfinished> {
        let height = self.stack.len();
        self.stack.push(function);
        self.stack.extend_from_within(height - arity..height);
        let Some(body) = self.within_steps(MOST_STEPS, height, |rewriter| rewriter.apply(arity as u16))? else {
            return Ok(None);
        };
        self.stack.push(body);
        let body = self.with_forms(body, names)?;
        self.pop();
        Ok(Some(body))
    }

    /// A term with the forms of the function values in it.
    fn with_forms(&mut self, term: Term, names: &[String]) -> Result<Term, Unfinished> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
            let program = self.program;
            if program.numbers.is_number(self.section.head(term))
                || self.section.arity(term) == 0 && !program.is_made_function(&self.section, term)
            {
                return Ok(term);
            }
            if program.is_made_function(&self.section, term)
                && let Some(form) = self.form_of(term, names)?
            {
                return Ok(form);
            }
            let place = self.stack.len();
            self.stack.extend(self.section.arguments(term).iter());
            for index in place..self.stack.len() {
                self.stack[index] = self.with_forms(self.stack[index], names)?;
            }
            let made = self.section.create(self.section.head(term), &self.stack[place..]);
            self.stack.truncate(place);
            Ok(made)
        })
    }

    /// The names that are bound inside a term by what has no form.
    fn names_inside(&self, term: Term) -> HashSet<String> {
        let data = &self.program.specification;
        let mut names = HashSet::new();
        let mut seen = HashSet::from([term]);
        let mut pending = vec![term];
        while let Some(term) = pending.pop() {
            let head = self.section.head(term);
            if self.program.numbers.is_number(head) {
                continue;
            }
            if let Role::Quantified(index) | Role::Closure(index) = self.program.role(head)
                && let Some((body, variables)) = &self.program.function(index).site
            {
                let bound = data.tree.bound_variables(*body);
                let own = variables[self.program.function(index).captured as usize..].iter().copied();
                names.extend(
                    own.chain(bound).map(|variable| data.names.text(data.tree.variable(variable).0).to_string()),
                );
            }
            pending.extend(self.section.arguments(term).iter().filter(|&argument| seen.insert(argument)));
        }
        names
    }
}
