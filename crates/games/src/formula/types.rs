//! From the tree of a formula to a formula with its types.
//!
//! Data is typed by crate `data`, over the specification of the model and what the text itself declares. Which action
//! of a name is meant follows from the number of its arguments and from their sorts, as in processes. Neighbours of a
//! part with a mistake are checked all the same, and a part with a mistake is reported once.
//!
//! A fixpoint needs a monotone body: its variable stands below an even number of negations, where the left side of `=>`
//! counts as one.

use std::collections::{HashMap, HashSet};

use trefoil_data::sorts::{BOOL, SortRef};
use trefoil_data::syntax::tree::{ExpressionId, Identifier, Symbol, Variables};
use trefoil_data::typed::{TypedId, VariableId};
use trefoil_data::types::{Checker, Reported};
use trefoil_source::{Diagnostic, FileId, Place, Severity, Span, nearest};

use super::parser::parse;
use super::templates::TEMPLATES;
use super::tree::{ActionFormula, ActionFormulaId, Connective, FormulaText, Regular, RegularId, State, StateId};
use super::typed::{
    ActionSignature, FixpointId, FixpointVariable, Formula, LabelSet, LabelSetId, Part, PartId, Signature, Steps,
    StepsId,
};
use super::{codes, scopes};

/// Words that other tools have for formulas, with these.
const WORDS: [(&str, &str); 2] = [("deadlock", "[true]false"), ("stable", "[tau]false")];

/// Sets of labels that are no action.
const SETS: [&str; 3] = ["true", "false", "tau"];

impl Formula {
    /// Reads a formula and types it against a model. There is a formula when no mistake was found.
    pub fn read(text: &str, file: FileId, signature: &Signature, diagnostics: &mut Vec<Diagnostic>) -> Option<Formula> {
        let mut found = Vec::new();
        let read = parse(text, file, signature.data.names.clone(), &mut found);
        let formula = check(read, text, signature, &mut found);
        diagnostics.append(&mut found);
        formula
    }
}

fn is_wrong(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}

fn check(read: FormulaText, text: &str, signature: &Signature, diagnostics: &mut Vec<Diagnostic>) -> Option<Formula> {
    let mut data = Checker::over(signature.data.clone(), &read.tree, text);
    data.data(read.data.iter());
    let mut checker = FormulaChecker {
        read: &read,
        data,
        actions: signature.actions.clone(),
        fixpoints: Vec::new(),
        scope: Vec::new(),
        broken: HashSet::new(),
        parts: Vec::new(),
        steps: Vec::new(),
        label_sets: Vec::new(),
        open: signature.open,
        refused: &signature.refused,
        unsorted: &signature.unsorted,
        negated: false,
        defined: HashMap::new(),
    };
    checker.declare_actions();
    let root = read.root.map(|root| checker.state(root));
    let FormulaChecker { data, actions, fixpoints, parts, steps, label_sets, .. } = checker;
    let Checker { specification, diagnostics: mut found, .. } = data;
    scopes::explain(&read, text, &mut found);
    diagnostics.extend(found);
    let root = match root {
        Some(Ok(root)) if !is_wrong(diagnostics) => root,
        _ => return None,
    };
    let signature = Signature { data: specification, actions, ..signature.clone() };
    Some(Formula { signature, fixpoints, root, parts, steps, label_sets, text: read })
}

struct FormulaChecker<'a> {
    read: &'a FormulaText,
    data: Checker<'a>,
    actions: Vec<ActionSignature>,
    fixpoints: Vec<FixpointVariable>,
    /// Fixpoint variables in scope, the innermost last, each with whether it was bound below a negation.
    scope: Vec<(FixpointId, bool)>,
    /// Fixpoint variables whose parameters have mistakes.
    broken: HashSet<Symbol>,
    parts: Vec<(Part, StateId)>,
    steps: Vec<Steps>,
    label_sets: Vec<LabelSet>,
    /// Whether the model may have further actions, which never happen.
    open: bool,
    /// Names of the model that formulas cannot use, each with why.
    refused: &'a [(String, String)],
    unsorted: &'a [String],
    /// Whether the part that is checked stands below an odd number of negations.
    negated: bool,
    /// What names after `where` stand for, as far as they were checked; nothing while one is being checked.
    defined: HashMap<Symbol, Option<Result<PartId, Reported>>>,
}

impl FormulaChecker<'_> {
    fn name(&self, symbol: Symbol) -> &str {
        self.data.specification.names.text(symbol)
    }

    fn error(&mut self, code: &'static str, message: String, place: Span, help: Option<String>) -> Reported {
        let mut diagnostic = Diagnostic::error(code, message, Place::Span(place));
        if let Some(help) = help {
            diagnostic = diagnostic.help(help);
        }
        self.data.diagnostics.push(diagnostic);
        Reported
    }

    /// Sorts as they are written in the declaration of an action.
    fn product_text(&self, sorts: &[SortRef]) -> String {
        let data = &self.data.specification;
        let texts = sorts.iter().map(|&sort| match data.sorts.as_function(sort) {
            Some(_) => format!("({})", data.sort_text(sort)),
            None => data.sort_text(sort),
        });
        texts.collect::<Vec<_>>().join(" # ")
    }

    /// Takes up the actions that the text declares; those that the model has are the model's.
    fn declare_actions(&mut self) {
        for declared in &self.read.actions {
            let sorts = match declared.sort {
                None => Ok(Vec::new()),
                Some(sort) => self.data.resolve_domain(&[sort]),
            };
            let Ok(sorts) = sorts else { continue };
            for name in &declared.names {
                let action = ActionSignature { name: name.symbol, sorts: sorts.clone() };
                if !self.actions.contains(&action) {
                    self.actions.push(action);
                }
            }
        }
    }

    fn add(&mut self, part: Part, from: StateId) -> PartId {
        let id = PartId(self.parts.len() as u32);
        self.parts.push((part, from));
        id
    }

    fn state(&mut self, id: StateId) -> Result<PartId, Reported> {
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.state_inside(id))
    }

    fn negative(&mut self, id: StateId) -> Result<PartId, Reported> {
        self.negated = !self.negated;
        let part = self.state(id);
        self.negated = !self.negated;
        part
    }

    fn state_inside(&mut self, id: StateId) -> Result<PartId, Reported> {
        let read = self.read;
        let part = match read.state(id) {
            State::True => Part::Constant(true),
            State::False => Part::Constant(false),
            State::Brackets(inside) => return self.state(*inside),
            State::Value(value) => Part::Value(self.data.check(*value, BOOL)?),
            State::Variable(name, values) => {
                if values.is_empty()
                    && !self.scope.iter().any(|(known, _)| self.fixpoints[known.0 as usize].name == name.symbol)
                    && let Some(&(_, definition)) =
                        read.definitions.iter().find(|(known, _)| known.symbol == name.symbol)
                {
                    return self.defined(name, definition);
                }
                self.instance(name, values, read.span(id))?
            }
            State::Not(inside) => Part::Not(self.negative(*inside)?),
            State::Infix(connective, left, right) => {
                let left = if *connective == Connective::Implies { self.negative(*left) } else { self.state(*left) };
                let right = self.state(*right);
                Part::Infix(*connective, left?, right?)
            }
            State::Quantified(quantifier, variables, inside) => {
                let (variables, inside) = self.bound(variables, |checker| checker.state(*inside))?;
                Part::Quantified(*quantifier, variables, inside)
            }
            State::Modal(modality, regular, inside) => {
                let steps = self.regular(*regular);
                let inside = self.state(*inside);
                Part::Modal(*modality, steps?, inside?)
            }
            State::Fixpoint(kind, name, parameters, inside) => {
                let mut bound = Vec::new();
                let mut failed = false;
                // First values are read outside of the scope of the parameters.
                for (place, parameter) in parameters.iter().enumerate() {
                    let before = parameters[..place].iter().find(|one| one.name.symbol == parameter.name.symbol);
                    if let Some(before) = before {
                        let message = format!("two parameters are called `{}`", self.name(parameter.name.symbol));
                        let diagnostic =
                            Diagnostic::error(codes::PARAMETER_TWICE, message, Place::Span(parameter.name.span));
                        self.data.diagnostics.push(diagnostic.also(Place::Span(before.name.span), "the first one"));
                        failed = true;
                    }
                    match self.data.resolve(parameter.sort) {
                        Ok(sort) => match self.data.check(parameter.value, sort) {
                            Ok(value) => bound.push((parameter, value)),
                            Err(_) => failed = true,
                        },
                        Err(_) => failed = true,
                    }
                }
                if failed {
                    self.broken.insert(name.symbol);
                    return Err(Reported);
                }
                let groups: Vec<Variables> = bound
                    .iter()
                    .map(|(parameter, _)| Variables { names: vec![parameter.name], sort: parameter.sort })
                    .collect();
                let variables = self.data.bind(groups.iter())?;
                let values = bound.iter().map(|&(_, value)| value);
                let parameters = variables.iter().copied().zip(values).collect();
                let fixpoint = FixpointId(self.fixpoints.len() as u32);
                self.fixpoints.push(FixpointVariable { kind: *kind, name: name.symbol, parameters, place: name.span });
                self.scope.push((fixpoint, self.negated));
                let body = self.state(*inside);
                self.scope.pop();
                self.data.unbind(&variables);
                Part::Fixpoint(fixpoint, body?)
            }
        };
        Ok(self.add(part, id))
    }

    /// What a name after `where` stands for. Its formula is closed, so it is checked once and shared.
    fn defined(&mut self, name: &Identifier, definition: StateId) -> Result<PartId, Reported> {
        match self.defined.get(&name.symbol) {
            Some(Some(known)) => return *known,
            Some(None) => {
                let message = format!("`{}` is defined by itself", self.name(name.symbol));
                let help = "a formula that refers to itself is a fixpoint: `mu X. f` or `nu X. f`".to_string();
                return Err(self.error(codes::UNKNOWN_FIXPOINT, message, name.span, Some(help)));
            }
            None => {}
        }
        self.defined.insert(name.symbol, None);
        let (scope, negated) = (std::mem::take(&mut self.scope), std::mem::take(&mut self.negated));
        let part = self.state(definition);
        (self.scope, self.negated) = (scope, negated);
        self.defined.insert(name.symbol, Some(part));
        part
    }

    /// Checks what stands in the scope of variables.
    fn bound<T>(
        &mut self,
        groups: &[Variables],
        inside: impl FnOnce(&mut Self) -> Result<T, Reported>,
    ) -> Result<(Vec<VariableId>, T), Reported> {
        let variables = self.data.bind(groups.iter())?;
        let inside = inside(self);
        self.data.unbind(&variables);
        Ok((variables, inside?))
    }

    /// `X(e, …)`
    fn instance(&mut self, name: &Identifier, values: &[ExpressionId], span: Span) -> Result<Part, Reported> {
        let known = self.scope.iter().rev().copied();
        let known = known.into_iter().find(|(id, _)| self.fixpoints[id.0 as usize].name == name.symbol);
        let text = self.name(name.symbol).to_string();
        let Some((fixpoint, negated)) = known else {
            if self.broken.contains(&name.symbol) {
                return Err(Reported);
            }
            let message = format!("no fixpoint binds `{text}`");
            let is_action = self.actions.iter().any(|action| action.name == name.symbol);
            let is_data = !self.data.specification.signature.named(name.symbol).is_empty()
                || self.data.variable_named(name.symbol).is_some();
            let in_scope = self.scope.iter().map(|(id, _)| self.name(self.fixpoints[id.0 as usize].name));
            let help = if TEMPLATES.iter().any(|template| template.name == text) {
                Some(format!("`{text}` is a pattern: give it with --property"))
            } else if let Some((_, meaning)) = WORDS.iter().find(|(word, _)| *word == text) {
                Some(format!("`{text}` is written `{meaning}`"))
            } else if is_action {
                Some(format!("`{text}` is an action; `<{text}>true` says that it can happen"))
            } else if is_data {
                Some(format!("data is written `val({text})`"))
            } else {
                nearest(&text, in_scope).map(|meant| format!("is `{meant}` meant?"))
            };
            return Err(self.error(codes::UNKNOWN_FIXPOINT, message, name.span, help));
        };
        let variable = &self.fixpoints[fixpoint.0 as usize];
        let bound_at = variable.place;
        let sorts: Vec<SortRef> =
            variable.parameters.iter().map(|&(id, _)| self.data.specification.tree.variable(id).1).collect();
        if negated != self.negated {
            let message = format!("`{text}` stands below an odd number of negations");
            let diagnostic = Diagnostic::error(codes::NOT_MONOTONE, message, Place::Span(span));
            let help = "a fixpoint needs a formula that grows with its variable; the left side of `=>` negates";
            self.data.diagnostics.push(diagnostic.also(Place::Span(bound_at), "bound here").help(help));
            return Err(Reported);
        }
        if sorts.len() != values.len() {
            let takes = match sorts.len() {
                0 => "no values".to_string(),
                1 => "one value".to_string(),
                count => format!("{count} values"),
            };
            let message = format!("`{text}` takes {takes}, not {}", values.len());
            let help =
                (!sorts.is_empty()).then(|| format!("its parameters have the sorts `{}`", self.product_text(&sorts)));
            return Err(self.error(codes::FIXPOINT_ARITY, message, span, help));
        }
        Ok(Part::Instance(fixpoint, self.values(values, &sorts)?))
    }

    fn values(&mut self, values: &[ExpressionId], sorts: &[SortRef]) -> Result<Vec<TypedId>, Reported> {
        let checked: Vec<Result<TypedId, Reported>> =
            values.iter().zip(sorts).map(|(&value, &sort)| self.data.check(value, sort)).collect();
        checked.into_iter().collect()
    }

    fn regular(&mut self, id: RegularId) -> Result<StepsId, Reported> {
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || {
            let steps = match self.read.regular(id) {
                Regular::Brackets(inside) => return self.regular(*inside),
                Regular::Action(formula) => Steps::One(self.label_set(*formula)?),
                Regular::Sequence(left, right) => {
                    let (left, right) = (self.regular(*left), self.regular(*right));
                    Steps::Sequence(left?, right?)
                }
                Regular::Choice(left, right) => {
                    let (left, right) = (self.regular(*left), self.regular(*right));
                    Steps::Choice(left?, right?)
                }
                Regular::Star(inside) => Steps::Star(self.regular(*inside)?),
                Regular::Plus(inside) => Steps::Plus(self.regular(*inside)?),
            };
            self.steps.push(steps);
            Ok(StepsId(self.steps.len() as u32 - 1))
        })
    }

    fn label_set(&mut self, id: ActionFormulaId) -> Result<LabelSetId, Reported> {
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || {
            let read = self.read;
            let set = match read.action_formula(id) {
                ActionFormula::Brackets(inside) => return self.label_set(*inside),
                ActionFormula::True => LabelSet::Constant(true),
                ActionFormula::False => LabelSet::Constant(false),
                ActionFormula::Value(value) => LabelSet::Value(self.data.check(*value, BOOL)?),
                ActionFormula::Not(inside) => LabelSet::Not(self.label_set(*inside)?),
                ActionFormula::Infix(connective, left, right) => {
                    let (left, right) = (self.label_set(*left), self.label_set(*right));
                    LabelSet::Infix(*connective, left?, right?)
                }
                ActionFormula::Quantified(quantifier, variables, inside) => {
                    let (variables, inside) = self.bound(variables, |checker| checker.label_set(*inside))?;
                    LabelSet::Quantified(*quantifier, variables, inside)
                }
                ActionFormula::Multi(parts) => {
                    let span = read.action_span(id);
                    let parts: Vec<Result<(usize, Vec<TypedId>), Reported>> = parts
                        .iter()
                        .map(|(name, values)| {
                            self.action(name, values, if parts.len() == 1 { span } else { name.span })
                        })
                        .collect();
                    LabelSet::Multi(parts.into_iter().collect::<Result<_, _>>()?)
                }
            };
            self.label_sets.push(set);
            Ok(LabelSetId(self.label_sets.len() as u32 - 1))
        })
    }

    /// `a(e, …)`
    fn action(
        &mut self,
        name: &Identifier,
        values: &[ExpressionId],
        span: Span,
    ) -> Result<(usize, Vec<TypedId>), Reported> {
        let text = self.name(name.symbol).to_string();
        let named: Vec<usize> =
            (0..self.actions.len()).filter(|&index| self.actions[index].name == name.symbol).collect();
        if named.is_empty() && self.open {
            let values: Vec<Result<TypedId, Reported>> = values.iter().map(|&value| self.data.infer(value)).collect();
            let values = values.into_iter().collect::<Result<Vec<TypedId>, Reported>>()?;
            let sorts = values.iter().map(|&value| self.data.specification.tree.sort(value)).collect();
            if !self.unsorted.contains(&text) {
                let message = format!("no label of the model has the name `{text}`, so it never happens");
                let mut warning = Diagnostic::warning(codes::UNKNOWN_ACTION, message, Place::Span(name.span));
                let known = self.actions.iter().map(|action| self.name(action.name));
                if let Some(meant) = nearest(&text, known.chain(SETS)) {
                    warning = warning.help(format!("is `{meant}` meant?"));
                }
                self.data.diagnostics.push(warning);
            }
            self.actions.push(ActionSignature { name: name.symbol, sorts });
            return Ok((self.actions.len() - 1, values));
        }
        if named.is_empty()
            && let Some((_, why)) = self.refused.iter().find(|(refused, _)| *refused == text)
        {
            let message = format!("a formula cannot name `{text}`: {why}");
            return Err(self.error(codes::UNKNOWN_ACTION, message, name.span, None));
        }
        if named.is_empty() {
            let message = format!("the model has no action `{text}`");
            let mut known: Vec<&str> = self.actions.iter().map(|action| self.name(action.name)).collect();
            known.extend(SETS);
            known.sort_unstable();
            known.dedup();
            let help = match nearest(&text, known) {
                Some(meant) => format!("is `{meant}` meant?"),
                None if self.data.variable_named(name.symbol).is_some()
                    || !self.data.specification.signature.named(name.symbol).is_empty() =>
                {
                    "a condition on data is written `val(e)`".to_string()
                }
                None => "a formula names actions that the model declares".to_string(),
            };
            return Err(self.error(codes::UNKNOWN_ACTION, message, name.span, Some(help)));
        }
        let with_arity: Vec<usize> =
            named.iter().copied().filter(|&index| self.actions[index].sorts.len() == values.len()).collect();
        let fitting = match with_arity[..] {
            [] => return Err(self.wrong_arity(&text, &named, values.len(), span)),
            [only] => vec![only],
            _ => {
                let mut fitting = Vec::new();
                for index in with_arity.iter().copied() {
                    let mut fits = true;
                    for (&value, sort) in values.iter().zip(self.actions[index].sorts.clone()) {
                        fits &= self.data.fits(value, sort)?;
                    }
                    if fits {
                        fitting.push(index);
                    }
                }
                fitting
            }
        };
        let listed = |checker: &Self, indices: &[usize]| {
            let texts =
                indices.iter().map(|&index| format!("`{}`", checker.product_text(&checker.actions[index].sorts)));
            texts.collect::<Vec<_>>().join(" and ")
        };
        match fitting[..] {
            [index] => {
                let sorts = self.actions[index].sorts.clone();
                Ok((index, self.values(values, &sorts)?))
            }
            [] => {
                let mut found = Vec::new();
                for &value in values {
                    found.push(self.data.sorts_in_words(value)?);
                }
                let message = format!("no action `{text}` takes {}", found.join(" and "));
                let note = format!("`{text}` is declared with {}", listed(self, &with_arity));
                let diagnostic = Diagnostic::error(codes::NO_CANDIDATE, message, Place::Span(span)).note(note);
                self.data.diagnostics.push(diagnostic);
                Err(Reported)
            }
            _ => {
                let message = format!("several actions `{text}` take these arguments");
                let note = format!("those with {}", listed(self, &fitting));
                let diagnostic = Diagnostic::error(codes::AMBIGUOUS, message, Place::Span(span)).note(note);
                let help = "a conversion such as `Nat2Int(n)`, or a bound variable of the sort, decides";
                self.data.diagnostics.push(diagnostic.help(help));
                Err(Reported)
            }
        }
    }

    fn wrong_arity(&mut self, text: &str, named: &[usize], given: usize, span: Span) -> Reported {
        let mut arities: Vec<usize> = named.iter().map(|&index| self.actions[index].sorts.len()).collect();
        arities.sort_unstable();
        arities.dedup();
        let plural = if arities == [1] { "argument" } else { "arguments" };
        let arities: Vec<String> =
            arities.iter().map(|&arity| if arity == 0 { "no".to_string() } else { arity.to_string() }).collect();
        let given = if given == 0 { "none".to_string() } else { given.to_string() };
        let message = format!("the action `{text}` takes {} {plural}, not {given}", arities.join(" or "));
        let takes = named.iter().find(|&&index| !self.actions[index].sorts.is_empty());
        let help = match takes {
            Some(&index) => {
                let sorts = self.actions[index].sorts.clone();
                let (declared, names) = self.example(&sorts);
                format!("for any arguments write `exists {declared}. {text}({})`", names.join(", "))
            }
            None => format!("write `{text}`"),
        };
        self.error(codes::ACTION_ARITY, message, span, Some(help))
    }

    /// Variables of these sorts, as declared and by name, that clash with no function.
    fn example(&self, sorts: &[SortRef]) -> (String, Vec<String>) {
        let mut names: Vec<String> = Vec::new();
        for &sort in sorts {
            let text = self.data.specification.sort_text(sort);
            let first = text.chars().find(char::is_ascii_alphabetic).unwrap_or('x').to_ascii_lowercase().to_string();
            let taken = |name: &String| {
                names.contains(name)
                    || self.data.specification.names.find(name).is_some_and(|symbol| {
                        !self.data.specification.signature.named(symbol).is_empty()
                            || self.data.variable_named(symbol).is_some()
                    })
            };
            let numbered = (1..).map(|number| format!("{first}{number}"));
            names.extend(std::iter::once(first.clone()).chain(numbered).find(|name| !taken(name)));
        }
        let mut declared: Vec<String> = Vec::new();
        for (place, &sort) in sorts.iter().enumerate() {
            let last = sorts.get(place + 1) != Some(&sort);
            let sort = self.data.specification.sort_text(sort);
            declared.push(if last { format!("{}: {sort}", names[place]) } else { names[place].clone() });
        }
        (declared.join(", "), names)
    }
}
