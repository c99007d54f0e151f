//! Declarations of sorts and functions.

use std::collections::{HashMap, HashSet};

use trefoil_source::{Diagnostic, Place, Span, nearest};

use crate::signature::{Function, FunctionId, Origin};
use crate::sorts::{BOOL, INT, NAT, POS, REAL, SortKind, SortRef};
use crate::syntax::tree::{
    Basic, Container, DataSection, Functions, Identifier, Sort, SortDeclaration, SortId, StructConstructor, Symbol,
};
use crate::typed::StructuredConstructor;

use super::schemes::schemes;
use super::{Checker, Reported, codes};

/// Sorts in which more containers and functions are nested are refused.
const DEEPEST_SORT: u32 = 100;

/// What the name of a sort stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum SortName {
    /// A sort of its own.
    New(SortRef),
    /// An alias that was not looked at yet.
    Alias(SortId, Span),
    /// An alias that is being looked at.
    Open(Span),
    /// An alias and its sort.
    Done(SortRef),
    /// An alias with a mistake.
    Broken,
}

/// A structured sort without a name is known by what it holds.
pub(super) type StructKey = Vec<(Symbol, Vec<(Option<Symbol>, SortRef)>, Option<Symbol>)>;

impl Checker<'_> {
    /// Takes up the declarations of all sections. Their order does not matter.
    pub(super) fn declare<'s>(&mut self, sections: impl Iterator<Item = &'s DataSection> + Clone) {
        let mut places: HashMap<Symbol, Span> = HashMap::new();
        let mut aliases = Vec::new();
        for section in sections.clone() {
            let DataSection::Sorts(declarations) = section else { continue };
            for declaration in declarations {
                match declaration {
                    SortDeclaration::New(names, _) => {
                        for name in names {
                            if let Some(SortName::Alias(..)) = self.sort_names.get(&name.symbol) {
                                self.sort_twice(name, places[&name.symbol]);
                                continue;
                            }
                            let sort = self.specification.sorts.intern(SortKind::Named(name.symbol));
                            self.sort_names.insert(name.symbol, SortName::New(sort));
                            places.insert(name.symbol, name.span);
                        }
                    }
                    SortDeclaration::Alias(name, sort, _) => {
                        if let Some(before) = self.sort_names.get(&name.symbol) {
                            // The same definition twice is one.
                            let same =
                                matches!(before, SortName::Alias(other, _) if self.tree.same_sort(*sort, *other));
                            if !same {
                                self.sort_twice(name, places[&name.symbol]);
                            }
                            continue;
                        }
                        self.sort_names.insert(name.symbol, SortName::Alias(*sort, name.span));
                        places.insert(name.symbol, name.span);
                        aliases.push(*name);
                    }
                }
            }
        }
        for name in aliases {
            let _ = self.named_sort(name.symbol, name.span);
        }
        for section in sections {
            match section {
                DataSection::Constructors(functions) => self.declare_functions(functions, Origin::Constructor),
                DataSection::Maps(functions) => self.declare_functions(functions, Origin::Map),
                DataSection::Sorts(_) | DataSection::Equations { .. } => {}
            }
        }
        self.specification.sort_names = self
            .sort_names
            .iter()
            .filter_map(|(&name, sort)| match sort {
                SortName::New(sort) | SortName::Done(sort) => Some((name, *sort)),
                _ => None,
            })
            .collect();
        self.specification.sort_names.sort_unstable_by_key(|(name, _)| *name);
        self.refuse_recursion(&places);
        self.refuse_empty(&places);
    }

    fn sort_twice(&mut self, name: &Identifier, before: Span) {
        let message = format!("the sort `{}` is declared twice", self.name(name.symbol));
        let diagnostic = Diagnostic::error(codes::DECLARED_TWICE, message, Place::Span(name.span));
        self.report(diagnostic.also(Place::Span(before), "here already"));
    }

    /// The sort that a name stands for.
    fn named_sort(&mut self, name: Symbol, used: Span) -> Result<SortRef, Reported> {
        match self.sort_names.get(&name).copied() {
            Some(SortName::New(sort) | SortName::Done(sort)) => Ok(sort),
            Some(SortName::Broken) => Err(Reported),
            Some(SortName::Open(place)) => {
                let message = format!("the sort `{}` is defined by itself", self.name(name));
                let help = "a recursive sort is a `struct` with a constructor that ends the recursion".to_string();
                Err(self.error(codes::CIRCULAR_SORT, message, place, Some(help)))
            }
            Some(SortName::Alias(sort, place)) => {
                // A structured sort has its name before its parts are looked at: they may mention it.
                let bare = self.tree.bare_sort(sort);
                if let Sort::Struct(constructors) = self.tree.sort(bare) {
                    let named = self.specification.sorts.intern(SortKind::Named(name));
                    self.sort_names.insert(name, SortName::Done(named));
                    let parts = self.struct_parts(constructors)?;
                    self.declare_struct(named, constructors, &parts);
                    return Ok(named);
                }
                self.sort_names.insert(name, SortName::Open(place));
                let resolved = self.resolve(sort);
                self.sort_names.insert(name, resolved.map_or(SortName::Broken, SortName::Done));
                resolved
            }
            None if self.broken.contains(&name) => Err(Reported),
            None => {
                let text = self.name(name).to_string();
                let known: Vec<String> = self.sort_names.keys().map(|&name| self.name(name).to_string()).collect();
                let built_in = ["Bool", "Pos", "Nat", "Int", "Real"];
                let meant = nearest(&text, known.iter().map(String::as_str).chain(built_in)).map(str::to_string);
                let help = match text.as_str() {
                    "Boolean" | "bool" => Some("is `Bool` meant?".to_string()),
                    "Integer" | "int" => Some("is `Int` meant?".to_string()),
                    "Natural" | "nat" => Some("is `Nat` meant?".to_string()),
                    "String" | "string" => Some("mCRL2 has no texts; declare the values as a `struct`".to_string()),
                    _ => Some(meant.map_or_else(
                        || "declare it in a `sort` section".to_string(),
                        |meant| format!("is `{meant}` meant?"),
                    )),
                };
                Err(self.error(codes::UNKNOWN_SORT, format!("the sort `{text}` is not declared"), used, help))
            }
        }
    }

    /// The sort of a sort expression.
    pub fn resolve(&mut self, sort: SortId) -> Result<SortRef, Reported> {
        let resolved = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.resolve_inside(sort))?;
        self.refuse_deep_sort(self.specification.sorts.depth(resolved), self.tree.sort_span(sort))?;
        Ok(resolved)
    }

    /// Refuses a sort in which more containers and functions are nested than any specification needs: each of them
    /// brings its own functions and equations.
    pub(super) fn refuse_deep_sort(&mut self, depth: u32, span: Span) -> Result<(), Reported> {
        if depth <= DEEPEST_SORT || self.internal.is_some() {
            return Ok(());
        }
        let message = format!("the sort has more than {DEEPEST_SORT} containers and functions inside each other");
        let help = "declare a recursive `struct`, whose values may be nested further".to_string();
        Err(self.error(codes::DEEP_SORT, message, span, Some(help)))
    }

    fn resolve_inside(&mut self, id: SortId) -> Result<SortRef, Reported> {
        let tree = self.tree;
        match tree.sort(id) {
            Sort::Basic(basic) => Ok(match basic {
                Basic::Bool => BOOL,
                Basic::Pos => POS,
                Basic::Nat => NAT,
                Basic::Int => INT,
                Basic::Real => REAL,
            }),
            Sort::Name(name) => self.named_sort(*name, tree.sort_span(id)),
            Sort::Brackets(inside) => self.resolve(*inside),
            Sort::Container(container, element) => {
                let element = self.resolve(*element)?;
                Ok(self.specification.sorts.container(*container, element))
            }
            Sort::Function(domain, codomain) => {
                let domain = self.resolve_domain(domain);
                let codomain = self.resolve(*codomain);
                Ok(self.specification.sorts.function(&domain?, codomain?))
            }
            Sort::Product(_) => {
                let message = "`#` stands before `->` or in the sort of an action".to_string();
                let help = Some("a function has a result, `A # B -> C`; a pair is a `struct`".to_string());
                Err(self.error(codes::PRODUCT, message, tree.sort_span(id), help))
            }
            Sort::Struct(constructors) => {
                let parts = self.struct_parts(constructors)?;
                let key: StructKey = constructors
                    .iter()
                    .zip(&parts)
                    .map(|(constructor, sorts)| {
                        let projections = constructor.arguments.iter().map(|(name, _)| name.map(|name| name.symbol));
                        let arguments = projections.zip(sorts.iter().copied()).collect();
                        (constructor.name.symbol, arguments, constructor.recogniser.map(|name| name.symbol))
                    })
                    .collect();
                if let Some(&sort) = self.structs.get(&key) {
                    return Ok(sort);
                }
                let sort = self.specification.sorts.intern(SortKind::Structured(self.structs.len() as u32));
                self.structs.insert(key, sort);
                self.declare_struct(sort, constructors, &parts);
                Ok(sort)
            }
        }
    }

    /// The sorts before an arrow. `(A # B) -> C` takes two arguments, too.
    pub fn resolve_domain(&mut self, domain: &[SortId]) -> Result<Vec<SortRef>, Reported> {
        let mut sorts = Vec::new();
        let mut failed = false;
        for &part in domain {
            let bare = self.tree.bare_sort(part);
            let parts = match self.tree.sort(bare) {
                Sort::Product(parts) => parts.clone(),
                _ => vec![part],
            };
            for part in parts {
                match self.resolve(part) {
                    Ok(sort) => sorts.push(sort),
                    Err(_) => failed = true,
                }
            }
        }
        if failed { Err(Reported) } else { Ok(sorts) }
    }

    fn struct_parts(&mut self, constructors: &[StructConstructor]) -> Result<Vec<Vec<SortRef>>, Reported> {
        let mut failed = false;
        let mut parts = Vec::new();
        for constructor in constructors {
            let mut sorts = Vec::new();
            for (_, sort) in &constructor.arguments {
                match self.resolve(*sort) {
                    Ok(sort) => sorts.push(sort),
                    Err(_) => failed = true,
                }
            }
            parts.push(sorts);
        }
        if failed {
            for constructor in constructors {
                let projections = constructor.arguments.iter().filter_map(|(name, _)| *name);
                let names = projections.chain(constructor.recogniser).chain([constructor.name]);
                self.broken.extend(names.map(|name| name.symbol));
            }
            return Err(Reported);
        }
        Ok(parts)
    }

    /// Declares the functions that a structured sort brings.
    fn declare_struct(&mut self, sort: SortRef, constructors: &[StructConstructor], parts: &[Vec<SortRef>]) {
        let mut structured = Vec::new();
        for (constructor, arguments) in constructors.iter().zip(parts) {
            let whole = if arguments.is_empty() { sort } else { self.specification.sorts.function(arguments, sort) };
            let Ok(function) = self.declare_function(&constructor.name, whole, Origin::Constructor) else { continue };
            self.specification.sorts.add_constructor(sort, function);
            let mut projections = Vec::new();
            for ((name, _), &argument) in constructor.arguments.iter().zip(arguments) {
                let projection = self.specification.sorts.function(&[sort], argument);
                let declared = name.map(|name| self.declare_function(&name, projection, Origin::Projection));
                projections.push(declared.and_then(Result::ok));
            }
            let to_bool = self.specification.sorts.function(&[sort], BOOL);
            let recogniser =
                constructor.recogniser.map(|name| self.declare_function(&name, to_bool, Origin::Recogniser));
            let recogniser = recogniser.and_then(Result::ok);
            structured.push(StructuredConstructor { constructor: function, projections, recogniser });
        }
        self.specification.structured.push((sort, structured));
    }

    fn declare_functions(&mut self, functions: &[Functions], origin: Origin) {
        for declaration in functions {
            match self.resolve(declaration.sort) {
                Ok(sort) => {
                    for name in &declaration.names {
                        self.declare_mapping(name, sort, origin, declaration.sort);
                    }
                }
                Err(_) => self.broken.extend(declaration.names.iter().map(|name| name.symbol)),
            }
        }
    }

    fn declare_mapping(&mut self, name: &Identifier, sort: SortRef, origin: Origin, written: SortId) {
        if origin == Origin::Constructor {
            let target = self.specification.sorts.as_function(sort).map_or(sort, |(_, codomain)| codomain);
            if !matches!(self.specification.sorts.kind(target), SortKind::Named(_)) {
                let message = format!("`{}` has constructors of its own", self.specification.sort_text(target));
                let span = self.tree.sort_span(written);
                self.error(codes::BUILT_IN, message, span, Some("declare a new sort, or a `map`".to_string()));
                return;
            }
            if let Ok(function) = self.declare_function(name, sort, origin)
                && !self.specification.sorts.constructors(target).contains(&function)
            {
                self.specification.sorts.add_constructor(target, function);
            }
            return;
        }
        let _ = self.declare_function(name, sort, origin);
    }

    /// Declares a function. The same declaration twice is one; constants have one sort, functions may have several.
    fn declare_function(&mut self, name: &Identifier, sort: SortRef, origin: Origin) -> Result<FunctionId, Reported> {
        let text = self.name(name.symbol).to_string();
        if schemes().contains_key(text.as_str()) {
            let message = format!("`{text}` is built in");
            return Err(self.error(codes::BUILT_IN, message, name.span, Some("choose another name".to_string())));
        }
        let is_constant = self.specification.sorts.as_function(sort).is_none();
        let declared = self.specification.signature.named(name.symbol).to_vec();
        for id in declared {
            let before = self.specification.signature.function(id).clone();
            let constants = is_constant && self.specification.sorts.as_function(before.sort).is_none();
            let may_repeat = before.origin == origin && origin != Origin::Constructor;
            if before.sort == sort && may_repeat {
                return Ok(id);
            }
            if before.sort == sort || constants {
                let message = format!("`{text}` is declared twice");
                let mut diagnostic = Diagnostic::error(codes::DECLARED_TWICE, message, Place::Span(name.span));
                if let Some(place) = before.place {
                    diagnostic = diagnostic.also(Place::Span(place), "here already");
                }
                if before.sort != sort {
                    diagnostic = diagnostic.note("functions with arguments may have several sorts, constants may not");
                }
                self.report(diagnostic);
                return Err(Reported);
            }
        }
        let function = Function { name: name.symbol, sort, origin, place: Some(name.span) };
        Ok(self.specification.signature.declare(function))
    }

    /// Refuses structured sorts that hold functions, sets or bags of themselves: they have no order and no bound.
    fn refuse_recursion(&mut self, places: &HashMap<Symbol, Span>) {
        let structured: Vec<SortRef> = self.specification.structured.iter().map(|(sort, _)| *sort).collect();
        for &sort in &structured {
            // From every sort below a function, set or bag inside this one, this one must not occur again.
            let mut below: Vec<(SortRef, bool)> = vec![(sort, false)];
            let mut seen: HashSet<(SortRef, bool)> = HashSet::new();
            let mut recursive = false;
            while let Some((at, inside)) = below.pop() {
                if inside && at == sort {
                    recursive = true;
                    break;
                }
                if !seen.insert((at, inside)) {
                    continue;
                }
                match self.specification.sorts.kind(at).clone() {
                    SortKind::Basic(_) => {}
                    SortKind::Container(Container::List, element) => below.push((element, inside)),
                    SortKind::Container(_, element) => below.push((element, true)),
                    SortKind::Function(domain, codomain) => {
                        below.extend(domain.iter().map(|&part| (part, true)));
                        below.push((codomain, true));
                    }
                    SortKind::Named(_) | SortKind::Structured(_) => {
                        for &constructor in self.specification.sorts.constructors(at) {
                            let whole = self.specification.signature.function(constructor).sort;
                            if let Some((domain, _)) = self.specification.sorts.as_function(whole) {
                                below.extend(domain.iter().map(|&part| (part, inside)));
                            }
                        }
                    }
                }
            }
            if let (true, SortKind::Named(name)) = (recursive, self.specification.sorts.kind(sort).clone())
                && let Some(&place) = places.get(&name)
            {
                let message = format!(
                    "the sort `{}` holds functions, sets or bags of itself",
                    self.specification.sort_text(sort)
                );
                self.error(codes::RECURSIVE_SORT, message, place, Some("lists of itself are possible".to_string()));
            }
        }
    }

    /// Refuses sorts whose constructors all need a value of the sort.
    fn refuse_empty(&mut self, places: &HashMap<Symbol, Span>) {
        let sorts: Vec<SortRef> = (0..self.specification.sorts.len() as u32).map(SortRef).collect();
        let specification = &self.specification;
        let mut inhabited: HashSet<SortRef> = HashSet::new();
        loop {
            let before = inhabited.len();
            for &sort in &sorts {
                let constructors = specification.sorts.constructors(sort);
                let has_value = match specification.sorts.kind(sort) {
                    SortKind::Function(_, codomain) => inhabited.contains(codomain),
                    SortKind::Basic(_) | SortKind::Container(..) => true,
                    SortKind::Named(_) | SortKind::Structured(_) if constructors.is_empty() => true,
                    SortKind::Named(_) | SortKind::Structured(_) => constructors.iter().any(|&constructor| {
                        let sort = specification.signature.function(constructor).sort;
                        let domain = specification.sorts.as_function(sort).map_or(&[][..], |(domain, _)| domain);
                        domain.iter().all(|part| inhabited.contains(part))
                    }),
                };
                if has_value {
                    inhabited.insert(sort);
                }
            }
            if inhabited.len() == before {
                break;
            }
        }
        for sort in sorts {
            if let SortKind::Named(name) = *self.specification.sorts.kind(sort)
                && !inhabited.contains(&sort)
                && let Some(&place) = places.get(&name)
            {
                let message = format!("the sort `{}` has no value", self.specification.sort_text(sort));
                let help = "every constructor needs a value of the sort; add one that does not".to_string();
                self.error(codes::EMPTY_SORT, message, place, Some(help));
            }
        }
    }
}
