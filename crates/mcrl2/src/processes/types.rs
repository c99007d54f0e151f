//! From the tree of a specification to processes with their types.
//!
//! Actions, definitions and global variables are taken up first, so their order in the text does not matter; bodies are
//! checked afterwards. A part with a mistake is reported once, and its neighbours are checked all the same. Which
//! action or definition of a name is meant follows from the number of values and from their sorts: exactly one must
//! take them, converted where that is needed. mCRL2 has the same rule, so a value `1` does not decide between `a: Nat`
//! and `a: Int`.

use std::collections::{BTreeSet, HashMap, HashSet};

use trefoil_data::rewrite::overlaps;
use trefoil_data::sorts::{BOOL, SortRef};
use trefoil_data::syntax::tree::{Expression, ExpressionId, Identifier, Symbol, Variables};
use trefoil_data::typed::{Typed, TypedId, VariableId};
use trefoil_data::types::{Checker, Reported};
use trefoil_source::{Diagnostic, Place, Severity, Span, nearest};

use super::guarded::refuse_unguarded;
use super::{ActionDeclaration, ActionId, Definition, DefinitionId, Process, ProcessRef, ProcessSpecification, codes};
use crate::syntax::tree::{self, ProcessId, ProcessInfix, Section, Specification};

/// Checks the types of a specification, data and processes. There is a typed one when no mistake was found, here or by
/// the reader.
pub fn check(
    specification: &Specification,
    text: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<ProcessSpecification> {
    let mut data = Checker::new(&specification.tree, text, &specification.broken);
    data.data(specification.data());
    let mut checker = ProcessChecker {
        read: specification,
        data,
        typed: ProcessSpecification::default(),
        actions: HashMap::new(),
        definitions: HashMap::new(),
        broken: specification.broken.iter().copied().collect(),
        caller: None,
    };
    checker.run();
    let ProcessChecker { data, mut typed, .. } = checker;
    diagnostics.extend(data.diagnostics);
    typed.data = data.specification;
    let wrong = |diagnostics: &[Diagnostic]| diagnostics.iter().any(|found| found.severity == Severity::Error);
    if !wrong(diagnostics) {
        refuse_unguarded(&typed, diagnostics);
    }
    if !wrong(diagnostics) {
        diagnostics.extend(overlaps(&typed.data));
    }
    (!wrong(diagnostics)).then_some(typed)
}

pub(super) struct ProcessChecker<'a> {
    read: &'a Specification,
    data: Checker<'a>,
    typed: ProcessSpecification,
    actions: HashMap<Symbol, Vec<ActionId>>,
    definitions: HashMap<Symbol, Vec<DefinitionId>>,
    /// Names of actions and processes whose declarations have mistakes; their uses are not reported.
    broken: HashSet<Symbol>,
    /// The definition whose body is checked; none for the initial process.
    caller: Option<DefinitionId>,
}

/// What a name with values stands for.
enum Head {
    Action(Vec<ActionId>),
    Process(Vec<DefinitionId>),
}

impl ProcessChecker<'_> {
    fn run(&mut self) {
        let mut inits: Vec<(ProcessId, Span)> = Vec::new();
        let mut bodies = Vec::new();
        for (section, keyword) in &self.read.sections {
            match section {
                Section::Data(_) => {}
                Section::Globals(groups) => {
                    let groups: Vec<&Variables> = groups.iter().flat_map(|(variables, _)| variables).collect();
                    let globals = self.data.bind(groups.into_iter());
                    self.typed.globals.extend(globals.into_iter().flatten());
                }
                Section::Actions(declarations) => {
                    for declaration in declarations {
                        self.declare_actions(declaration);
                    }
                }
                Section::Processes(definitions) => bodies.extend(definitions),
                Section::Init(body, _) => inits.push((*body, *keyword)),
            }
        }
        let declared: Vec<_> = bodies.into_iter().map(|definition| (self.declare(definition), definition)).collect();
        for (id, definition) in declared {
            if let Ok(id) = id {
                self.body(id, definition);
            }
        }
        self.caller = None;
        for (index, &(body, keyword)) in inits.iter().enumerate() {
            if index > 0 {
                let message = "a second initial process";
                let diagnostic = Diagnostic::error(codes::SEVERAL_INITS, message, Place::Span(keyword));
                let help = "name the processes in `proc`, and put them together in one `init`";
                self.report(diagnostic.also(Place::Span(inits[0].1), "the first one").help(help));
            }
            if let Ok(process) = self.process(body) {
                self.typed.init = Some(process);
            }
        }
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.data.diagnostics.push(diagnostic);
    }

    fn error(&mut self, code: &'static str, message: String, place: Span, help: Option<String>) -> Reported {
        let mut diagnostic = Diagnostic::error(code, message, Place::Span(place));
        if let Some(help) = help {
            diagnostic = diagnostic.help(help);
        }
        self.report(diagnostic);
        Reported
    }

    pub(super) fn name(&self, symbol: Symbol) -> &str {
        self.data.specification.names.text(symbol)
    }

    /// Sorts names by their texts.
    pub(super) fn sort_names(&self, names: &mut [Symbol]) {
        names.sort_by(|&one, &other| self.name(one).cmp(self.name(other)));
    }

    /// Sorts as they are written in the declaration of an action.
    pub(super) fn product_text(&self, sorts: &[SortRef]) -> String {
        let data = &self.data.specification;
        let texts: Vec<String> = sorts
            .iter()
            .map(|&sort| match data.sorts.as_function(sort) {
                Some(_) => format!("({})", data.sort_text(sort)),
                None => data.sort_text(sort),
            })
            .collect();
        texts.join(" # ")
    }

    /// The sorts of all actions of a name.
    pub(super) fn sorts_of(&self, name: Symbol) -> BTreeSet<Vec<SortRef>> {
        let actions = self.actions.get(&name).into_iter().flatten();
        actions.map(|&id| self.typed.action(id).sorts.clone()).collect()
    }

    /// The actions of a name in words.
    pub(super) fn declared_sorts(&self, name: Symbol) -> String {
        let texts: Vec<String> = self
            .sorts_of(name)
            .iter()
            .map(|sorts| match sorts[..] {
                [] => "no arguments".to_string(),
                _ => format!("`{}`", self.product_text(sorts)),
            })
            .collect();
        format!("`{}` has {}", self.name(name), texts.join(" or "))
    }

    fn declare_actions(&mut self, declaration: &tree::Actions) {
        let sorts = match declaration.sort {
            None => Ok(Vec::new()),
            Some(sort) => self.data.resolve_domain(&[sort]),
        };
        let Ok(sorts) = sorts else {
            self.broken.extend(declaration.names.iter().map(|name| name.symbol));
            return;
        };
        for name in &declaration.names {
            let known = self.actions.entry(name.symbol).or_default().clone();
            if let Some(&before) = known.iter().find(|&&id| self.typed.action(id).sorts == sorts) {
                let message = format!("the action `{}` is declared twice", self.name(name.symbol));
                let place = self.typed.action(before).place;
                let diagnostic = Diagnostic::error(codes::DECLARED_TWICE, message, Place::Span(name.span));
                self.report(diagnostic.also(Place::Span(place), "here already"));
                continue;
            }
            let id = ActionId(self.typed.actions.len() as u32);
            let declared = ActionDeclaration { name: name.symbol, sorts: sorts.clone(), place: name.span };
            self.typed.actions.push(declared);
            self.actions.entry(name.symbol).or_default().push(id);
        }
    }

    /// Takes up a definition with its parameters; its body is checked when all definitions are known.
    fn declare(&mut self, definition: &tree::Definition) -> Result<DefinitionId, Reported> {
        let name = definition.name;
        let Ok(parameters) = self.data.bind(definition.parameters.iter()) else {
            self.broken.insert(name.symbol);
            return Err(Reported);
        };
        self.data.unbind(&parameters);
        if let Some(&action) = self.actions.get(&name.symbol).and_then(|actions| actions.first()) {
            let message = format!("`{}` is an action and a process", self.name(name.symbol));
            let place = self.typed.action(action).place;
            let diagnostic = Diagnostic::error(codes::ONE_NAME, message, Place::Span(name.span));
            let help = "names of processes usually start with a capital letter";
            self.report(diagnostic.also(Place::Span(place), "the action").help(help));
        }
        let sorts = self.sorts_of_variables(&parameters);
        let mut twice = false;
        let known = self.definitions.entry(name.symbol).or_default().clone();
        if let Some(&before) =
            known.iter().find(|&&id| self.sorts_of_variables(&self.typed.definition(id).parameters) == sorts)
        {
            let message = match sorts[..] {
                [] => format!("the process `{}` is defined twice", self.name(name.symbol)),
                _ => format!("the process `{}` is defined twice with the same sorts", self.name(name.symbol)),
            };
            let place = self.typed.definition(before).place;
            let diagnostic = Diagnostic::error(codes::DECLARED_TWICE, message, Place::Span(name.span));
            let help = "one definition with `+` offers a choice";
            self.report(diagnostic.also(Place::Span(place), "here already").help(help));
            // Calls mean the first one; the body of the second is checked.
            twice = true;
        }
        let id = DefinitionId(self.typed.definitions.len() as u32);
        // The body is put in when it has been checked.
        let body = ProcessRef(u32::MAX);
        self.typed.definitions.push(Definition { name: name.symbol, parameters, body, place: name.span });
        if !twice {
            self.definitions.entry(name.symbol).or_default().push(id);
        }
        Ok(id)
    }

    fn body(&mut self, id: DefinitionId, definition: &tree::Definition) {
        self.caller = Some(id);
        let parameters = self.typed.definition(id).parameters.clone();
        self.data.rebind(&parameters);
        if let Ok(body) = self.process(definition.body) {
            self.typed.definitions[id.0 as usize].body = body;
        }
        self.data.unbind(&parameters);
    }

    fn sorts_of_variables(&self, variables: &[VariableId]) -> Vec<SortRef> {
        variables.iter().map(|&variable| self.data.specification.tree.variable(variable).1).collect()
    }

    fn add(&mut self, process: Process, id: ProcessId) -> ProcessRef {
        self.typed.add(process, self.read.span(id))
    }

    fn process(&mut self, id: ProcessId) -> Result<ProcessRef, Reported> {
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.process_inside(id))
    }

    fn both(&mut self, left: ProcessId, right: ProcessId) -> Result<(ProcessRef, ProcessRef), Reported> {
        let (left, right) = (self.process(left), self.process(right));
        Ok((left?, right?))
    }

    fn process_inside(&mut self, id: ProcessId) -> Result<ProcessRef, Reported> {
        let read = self.read;
        let span = read.span(id);
        let process = match read.process(id) {
            tree::Process::Brackets(inside) => return self.process(*inside),
            tree::Process::Action(name, values) => {
                let values = read.tree.elements(values).to_vec();
                self.action_or_call(name, &values, span)?
            }
            tree::Process::Assign(name, values) => self.assignment(name, values, span)?,
            tree::Process::Delta => Process::Delta,
            tree::Process::Tau => Process::MultiAction(Vec::new()),
            tree::Process::Block(names, inside) => {
                let names = self.names("block", names, span);
                let inside = self.process(*inside)?;
                Process::Block(names?, inside)
            }
            tree::Process::Hide(names, inside) => {
                let names = self.names("hide", names, span);
                let inside = self.process(*inside)?;
                Process::Hide(names?, inside)
            }
            tree::Process::Rename(pairs, inside) => {
                let pairs = self.renamings(pairs, span);
                let inside = self.process(*inside)?;
                Process::Rename(pairs?, inside)
            }
            tree::Process::Allow(bags, inside) => {
                let bags = self.allowed(bags, span);
                let inside = self.process(*inside)?;
                Process::Allow(bags?, inside)
            }
            tree::Process::Comm(rules, inside) => {
                let rules = self.communications(rules, span);
                let inside = self.process(*inside)?;
                Process::Comm(rules?, inside)
            }
            tree::Process::Infix(infix, left, right) => match infix {
                ProcessInfix::Choice => {
                    let (left, right) = self.both(*left, *right)?;
                    Process::Choice(left, right)
                }
                ProcessInfix::Parallel => {
                    let (left, right) = self.both(*left, *right)?;
                    Process::Parallel(left, right)
                }
                ProcessInfix::Sequence => {
                    let (left, right) = self.both(*left, *right)?;
                    Process::Sequence(left, right)
                }
                ProcessInfix::Merge => self.merge(*left, *right)?,
                ProcessInfix::LeftMerge | ProcessInfix::Until => {
                    let message = format!("`{}` is not supported", infix.text());
                    let help = match infix {
                        ProcessInfix::LeftMerge => "processes run in parallel with `||`".to_string(),
                        _ => "`<<` concerns time; leave it out where there is none".to_string(),
                    };
                    let reported = self.error(codes::AUXILIARY, message, span, Some(help));
                    let _ = self.both(*left, *right);
                    return Err(reported);
                }
            },
            tree::Process::Sum(variables, inside) => {
                let bound = self.data.bind(variables.iter())?;
                let inside = self.process(*inside);
                self.data.unbind(&bound);
                Process::Sum(bound, inside?)
            }
            tree::Process::Dist(variables, _, inside) => {
                let message = "probabilities are not supported".to_string();
                let help = "`sum` leaves the choice open".to_string();
                let keyword = Span { end: span.start + "dist".len() as u32, ..span };
                let reported = self.error(codes::PROBABILITY, message, keyword, Some(help));
                if let Ok(bound) = self.data.bind(variables.iter()) {
                    let _ = self.process(*inside);
                    self.data.unbind(&bound);
                }
                return Err(reported);
            }
            tree::Process::Condition(condition, yes, no) => {
                let condition = self.data.check(*condition, BOOL);
                let yes = self.process(*yes);
                let no = no.map(|no| self.process(no)).transpose();
                Process::Condition(condition?, yes?, no?)
            }
            tree::Process::At(inside, time) => {
                if self.is_delta(*inside) && self.is_zero(*time) {
                    Process::Delta
                } else {
                    let message = "time is not supported".to_string();
                    let help = "leave `@` and the time out".to_string();
                    let reported = self.error(codes::TIME, message, read.tree.span(*time), Some(help));
                    let _ = self.process(*inside);
                    return Err(reported);
                }
            }
        };
        Ok(self.add(process, id))
    }

    /// Whether this is `delta`, perhaps in brackets.
    fn is_delta(&self, id: ProcessId) -> bool {
        match self.read.process(id) {
            tree::Process::Delta => true,
            tree::Process::Brackets(inside) => self.is_delta(*inside),
            _ => false,
        }
    }

    fn is_zero(&self, time: ExpressionId) -> bool {
        let tree = &self.read.tree;
        matches!(tree.expression(tree.bare(time)), Expression::Number(digits) if tree.names.text(*digits) == "0")
    }

    /// `p | q | …`, of actions. The operands of the whole chain are put together once.
    fn merge(&mut self, left: ProcessId, right: ProcessId) -> Result<Process, Reported> {
        let read = self.read;
        let mut actions = Some(Vec::new());
        let mut failed = false;
        let mut waiting = vec![right, left];
        while let Some(id) = waiting.pop() {
            let mut bare = id;
            while let tree::Process::Brackets(inside) = read.process(bare) {
                bare = *inside;
            }
            if let tree::Process::Infix(ProcessInfix::Merge, left, right) = read.process(bare) {
                waiting.extend([*right, *left]);
                continue;
            }
            let Ok(operand) = self.process(id) else {
                failed = true;
                continue;
            };
            match self.typed.process(operand) {
                Process::MultiAction(parts) => actions.iter_mut().for_each(|actions| actions.extend(parts.clone())),
                // Nothing happens together with what never happens.
                Process::Delta => actions = None,
                other => {
                    let message = match other {
                        Process::Call(called, _) => {
                            format!("`{}` is a process; actions stand beside `|`", {
                                self.name(self.typed.definition(*called).name)
                            })
                        }
                        _ => "only actions stand beside `|`".to_string(),
                    };
                    let help = "processes run in parallel with `||`".to_string();
                    self.error(codes::NOT_AN_ACTION, message, self.read.span(id), Some(help));
                    failed = true;
                }
            }
        }
        if failed {
            return Err(Reported);
        }
        let Some(mut actions) = actions else { return Ok(Process::Delta) };
        actions.sort_by(|(one, _), (other, _)| {
            self.name(self.typed.action(*one).name).cmp(self.name(self.typed.action(*other).name))
        });
        Ok(Process::MultiAction(actions))
    }

    /// What a name stands for before its values are looked at.
    fn head(&mut self, name: &Identifier) -> Result<Head, Reported> {
        if self.broken.contains(&name.symbol) {
            return Err(Reported);
        }
        if let Some(actions) = self.actions.get(&name.symbol).filter(|actions| !actions.is_empty()) {
            return Ok(Head::Action(actions.clone()));
        }
        if let Some(definitions) = self.definitions.get(&name.symbol).filter(|definitions| !definitions.is_empty()) {
            return Ok(Head::Process(definitions.clone()));
        }
        let text = self.name(name.symbol).to_string();
        let message = format!("there is no action and no process `{text}`");
        let is_data = !self.data.specification.signature.named(name.symbol).is_empty()
            || self.data.variable_named(name.symbol).is_some();
        let known = self.actions.keys().chain(self.definitions.keys()).map(|&name| self.name(name));
        let mut known: Vec<&str> = known.collect();
        known.sort_unstable();
        let help = match text.as_str() {
            "skip" | "SKIP" | "epsilon" => "the invisible action is `tau`".to_string(),
            "STOP" | "Delta" | "deadlock" => "the process that does nothing is `delta`".to_string(),
            _ if is_data => "this is data; a condition is followed by `->`, and stands in brackets".to_string(),
            _ => match nearest(&text, known) {
                Some(meant) => format!("is `{meant}` meant?"),
                None => "declare it with `act` or `proc`".to_string(),
            },
        };
        Err(self.error(codes::UNKNOWN_PROCESS, message, name.span, Some(help)))
    }

    /// Reports a name in a set that is no action.
    pub(super) fn must_be_action(&mut self, name: &Identifier) -> Result<(), Reported> {
        if self.broken.contains(&name.symbol) {
            return Err(Reported);
        }
        if self.actions.get(&name.symbol).is_some_and(|actions| !actions.is_empty()) {
            return Ok(());
        }
        let text = self.name(name.symbol).to_string();
        if self.definitions.contains_key(&name.symbol) {
            let message = format!("`{text}` is a process; this is a set of actions");
            let help = "list the actions of the process".to_string();
            return Err(self.error(codes::UNKNOWN_PROCESS, message, name.span, Some(help)));
        }
        let mut known: Vec<&str> = self.actions.keys().map(|&name| self.name(name)).collect();
        known.sort_unstable();
        let help = match nearest(&text, known) {
            Some(meant) => format!("is `{meant}` meant?"),
            None => "declare it with `act`".to_string(),
        };
        Err(self.error(codes::UNKNOWN_PROCESS, format!("there is no action `{text}`"), name.span, Some(help)))
    }

    /// `a(d)`, `a`, `P(d)`, `P`
    fn action_or_call(&mut self, name: &Identifier, values: &[ExpressionId], span: Span) -> Result<Process, Reported> {
        Ok(match self.head(name)? {
            Head::Action(actions) => {
                let sorts = actions.iter().map(|&id| self.typed.action(id).sorts.clone()).collect();
                let (chosen, values) = self.choose("action", name, sorts, values, span)?;
                Process::MultiAction(vec![(actions[chosen], values)])
            }
            Head::Process(definitions) => {
                let sorts = definitions
                    .iter()
                    .map(|&id| self.sorts_of_variables(&self.typed.definition(id).parameters))
                    .collect();
                let (chosen, values) = self.choose("process", name, sorts, values, span)?;
                Process::Call(definitions[chosen], values)
            }
        })
    }

    /// Finds the one list of sorts that values fit, and converts them.
    fn choose(
        &mut self,
        kind: &str,
        name: &Identifier,
        candidates: Vec<Vec<SortRef>>,
        values: &[ExpressionId],
        span: Span,
    ) -> Result<(usize, Vec<TypedId>), Reported> {
        let text = self.name(name.symbol).to_string();
        let with_arity: Vec<usize> =
            (0..candidates.len()).filter(|&index| candidates[index].len() == values.len()).collect();
        let fitting: Vec<usize> = match with_arity[..] {
            [] => {
                let mut arities: Vec<usize> = candidates.iter().map(Vec::len).collect();
                arities.sort_unstable();
                arities.dedup();
                let plural = if arities == [1] { "argument" } else { "arguments" };
                let arities: Vec<String> = arities
                    .iter()
                    .map(|&arity| if arity == 0 { "no".to_string() } else { arity.to_string() })
                    .collect();
                let given = if values.is_empty() { "none".to_string() } else { values.len().to_string() };
                let message = format!("the {kind} `{text}` takes {} {plural}, not {given}", arities.join(" or "));
                let help = self.arity_help(kind, &text, &candidates, values.is_empty());
                return Err(self.error(codes::ARITY, message, span, help));
            }
            // The values are checked against the only candidate, whose mistakes are the most helpful.
            [only] => vec![only],
            _ => {
                let mut fitting = Vec::new();
                for index in with_arity {
                    let mut fits = true;
                    for (&value, &sort) in values.iter().zip(&candidates[index]) {
                        fits &= self.data.fits(value, sort)?;
                    }
                    if fits {
                        fitting.push(index);
                    }
                }
                fitting
            }
        };
        let listed = |checker: &Self, indices: &mut dyn Iterator<Item = usize>| {
            let texts: Vec<String> =
                indices.map(|index| format!("`{}`", checker.product_text(&candidates[index]))).collect();
            texts.join(" and ")
        };
        match fitting[..] {
            [] => {
                let mut found = Vec::new();
                for &value in values {
                    found.push(self.data.sorts_in_words(value)?);
                }
                let message = format!("no {kind} `{text}` takes {}", found.join(" and "));
                let declared = (0..candidates.len()).filter(|&index| candidates[index].len() == values.len());
                let note = format!("`{text}` is declared with {}", listed(self, &mut declared.into_iter()));
                let diagnostic = Diagnostic::error(codes::NO_CANDIDATE, message, Place::Span(span));
                self.report(diagnostic.note(note));
                Err(Reported)
            }
            [index] => {
                let sorts = candidates[index].clone();
                let values: Vec<Result<TypedId, Reported>> =
                    values.iter().zip(sorts).map(|(&value, sort)| self.data.check(value, sort)).collect();
                Ok((index, values.into_iter().collect::<Result<_, _>>()?))
            }
            _ => {
                let kinds = if kind == "process" { "processes" } else { "actions" };
                let message = format!("several {kinds} `{text}` take these arguments");
                let note = format!("those with {}", listed(self, &mut fitting.iter().copied()));
                let diagnostic = Diagnostic::error(codes::AMBIGUOUS, message, Place::Span(span)).note(note);
                self.report(diagnostic.help(format!("give one of the {kinds} another name")));
                Err(Reported)
            }
        }
    }

    fn arity_help(&self, kind: &str, text: &str, candidates: &[Vec<SortRef>], none: bool) -> Option<String> {
        let takes: Vec<String> = candidates
            .iter()
            .filter(|sorts| !sorts.is_empty())
            .map(|sorts| format!("`{}`", self.product_text(sorts)))
            .collect();
        if takes.is_empty() {
            return Some(format!("write `{text}`"));
        }
        let takes = takes.join(" or ");
        Some(match kind {
            "process" if none => format!("its parameters have the sorts {takes}; `{text}()` keeps the caller's values"),
            "process" => format!("its parameters have the sorts {takes}"),
            _ => format!("its arguments have the sorts {takes}"),
        })
    }

    /// `P(x = e)`, `P()`
    fn assignment(
        &mut self,
        name: &Identifier,
        values: &[(Identifier, ExpressionId)],
        span: Span,
    ) -> Result<Process, Reported> {
        let text = self.name(name.symbol).to_string();
        let definitions = match self.head(name)? {
            Head::Process(definitions) => definitions,
            Head::Action(actions) => {
                let takes: Vec<Vec<SortRef>> = actions.iter().map(|&id| self.typed.action(id).sorts.clone()).collect();
                let message = match values {
                    [] => format!("the action `{text}` stands before empty brackets"),
                    _ => format!("`{text}` is an action; its arguments have no names"),
                };
                let help = self.arity_help("action", &text, &takes, values.is_empty());
                return Err(self.error(codes::ARITY, message, span, help));
            }
        };
        let named = |checker: &Self, id: DefinitionId, name: Symbol| {
            let parameters = &checker.typed.definition(id).parameters;
            parameters.iter().position(|&parameter| checker.data.specification.tree.variable(parameter).0 == name)
        };
        let fitting: Vec<DefinitionId> = definitions
            .iter()
            .copied()
            .filter(|&id| values.iter().all(|(parameter, _)| named(self, id, parameter.symbol).is_some()))
            .collect();
        let called = match fitting[..] {
            [called] => called,
            [] => {
                let missing = values
                    .iter()
                    .map(|(parameter, _)| parameter)
                    .find(|parameter| definitions.iter().all(|&id| named(self, id, parameter.symbol).is_none()));
                let Some(missing) = missing else {
                    let message = format!("no process `{text}` has all these parameters");
                    return Err(self.error(codes::NO_PARAMETER, message, span, None));
                };
                return Err(self.no_parameter(&text, missing, &definitions));
            }
            _ => {
                let message = format!("several processes `{text}` have these parameters");
                let help = "list the values of all parameters".to_string();
                return Err(self.error(codes::AMBIGUOUS, message, span, Some(help)));
            }
        };
        let parameters = self.typed.definition(called).parameters.clone();
        let mut given: Vec<Option<(TypedId, Span)>> = vec![None; parameters.len()];
        let mut failed = false;
        for (parameter, value) in values {
            let Some(index) = named(self, called, parameter.symbol) else { continue };
            let sort = self.data.specification.tree.variable(parameters[index]).1;
            let value = self.data.check(*value, sort);
            if let Some((_, before)) = given[index] {
                let message = format!("the parameter `{}` gets two values", self.name(parameter.symbol));
                let diagnostic = Diagnostic::error(codes::TWO_VALUES, message, Place::Span(parameter.span));
                self.report(diagnostic.also(Place::Span(before), "here already"));
                failed = true;
            }
            match value {
                Ok(value) => given[index] = Some((value, parameter.span)),
                Err(_) => failed = true,
            }
        }
        let mentioned: HashSet<Symbol> = values.iter().map(|(parameter, _)| parameter.symbol).collect();
        let mut filled = Vec::new();
        for (&parameter, given) in parameters.iter().zip(&given) {
            match given {
                Some((value, _)) => filled.push(*value),
                None if mentioned.contains(&self.data.specification.tree.variable(parameter).0) => {}
                None => match self.kept(&text, parameter, span) {
                    Ok(value) => filled.push(value),
                    Err(_) => failed = true,
                },
            }
        }
        if failed { Err(Reported) } else { Ok(Process::Call(called, filled)) }
    }

    fn no_parameter(&mut self, text: &str, missing: &Identifier, definitions: &[DefinitionId]) -> Reported {
        let message = format!("`{text}` has no parameter `{}`", self.name(missing.symbol));
        let mut known: Vec<String> = definitions
            .iter()
            .flat_map(|&id| &self.typed.definition(id).parameters)
            .map(|&parameter| self.name(self.data.specification.tree.variable(parameter).0).to_string())
            .collect();
        known.sort_unstable();
        let help = match nearest(self.name(missing.symbol), known.iter().map(String::as_str)) {
            Some(meant) => Some(format!("is `{meant}` meant?")),
            None if known.is_empty() => Some(format!("write `{text}`")),
            None => Some(format!("its parameters are `{}`", known.join("`, `"))),
        };
        self.error(codes::NO_PARAMETER, message, missing.span, help)
    }

    /// The value of a parameter that a call does not mention: the caller's variable of the same name.
    fn kept(&mut self, called: &str, parameter: VariableId, span: Span) -> Result<TypedId, Reported> {
        let (name, sort) = self.data.specification.tree.variable(parameter);
        let is_callers = match self.caller {
            Some(caller) => {
                let parameters = &self.typed.definition(caller).parameters;
                parameters.iter().any(|&own| self.data.specification.tree.variable(own) == (name, sort))
            }
            None => true,
        };
        match self.data.variable_named(name) {
            Some(own) if is_callers && self.data.specification.tree.variable(own).1 == sort => {
                Ok(self.data.specification.tree.add(Typed::Variable(own), sort, span))
            }
            _ => {
                let text = self.name(name).to_string();
                let message = format!("this call of `{called}` gives no value to its parameter `{text}`");
                let sort = self.data.specification.sort_text(sort);
                let caller = match self.caller {
                    Some(caller) => format!("`{}`", self.name(self.typed.definition(caller).name)),
                    None => "the initial process".to_string(),
                };
                let help = format!("write `{text} = …`; {caller} has no parameter `{text}: {sort}` to keep");
                Err(self.error(codes::NO_VALUE, message, span, Some(help)))
            }
        }
    }
}
