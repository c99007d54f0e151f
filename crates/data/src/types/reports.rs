//! What is reported of expressions without a sort, and the hints.

use trefoil_source::{Diagnostic, Place, Span, nearest};

use crate::sorts::{BOOL, SortRef, rank};
use crate::syntax::tree::{Container, ExpressionId, Symbol};

use super::patterns::{Pattern, convert};
use super::possible::{Application, Head};
use super::schemes::schemes;
use super::{Checker, Reported, Typing, Typings, codes};

impl Checker<'_> {
    /// Reports an expression of the wrong sort, with the conversion that may be meant.
    pub(super) fn mismatch(&mut self, id: ExpressionId, typings: &[Typing], wanted: SortRef) -> Reported {
        let found = self.describe(typings);
        let needed = self.specification.sort_text(wanted);
        let message = format!("`{}` is {found}; `{needed}` is needed here", self.quote(id));
        let help = self.conversion_help(id, typings, wanted).or_else(|| self.mismatch_help(id, typings, wanted));
        self.error(codes::MISMATCH, message, self.tree.span(id), help)
    }

    /// What may be meant by an expression of the wrong sort that no conversion of numbers makes right.
    pub(super) fn mismatch_help(&self, id: ExpressionId, typings: &[Typing], wanted: SortRef) -> Option<String> {
        let [Typing { pattern, .. }] = typings else { return None };
        let text = self.quote(self.tree.bare(id));
        let sorts = &self.specification.sorts;
        if let Some((domain, codomain)) = pattern.as_function(sorts)
            && codomain == Pattern::Known(wanted)
        {
            let places = vec!["…"; domain.len()].join(", ");
            return Some(format!("a function is applied to its arguments: `{text}({places})`"));
        }
        let is_number = matches!(pattern, Pattern::Known(sort) | Pattern::AtLeast(sort) if rank(*sort).is_some());
        if wanted == BOOL && is_number {
            return Some(format!("compare the number, for instance `{text} != 0`"));
        }
        if rank(wanted).is_some() && *pattern == Pattern::Known(BOOL) {
            return Some("`if(b, 1, 0)` makes a number of a truth value".to_string());
        }
        let (found, element) = pattern.as_container(sorts)?;
        let (needed, inside) = Pattern::Known(wanted).as_container(sorts)?;
        match (found, needed) {
            (Container::Set, Container::FSet) => Some("a set need not be finite; declare it as `FSet`".to_string()),
            (Container::Bag, Container::FBag) => Some("a bag need not be finite; declare it as `FBag`".to_string()),
            (Container::List, Container::Set | Container::FSet) => {
                Some("a list is no set; a set is written `{a, b}`".to_string())
            }
            (Container::Set | Container::FSet, Container::List) => {
                Some("a set is no list; a list is written `[a, b]`".to_string())
            }
            _ if found == needed && element != inside => {
                Some("the elements of a container are not converted, except in a literal".to_string())
            }
            _ => None,
        }
    }

    /// How to convert a number downwards.
    pub(super) fn conversion_help(&self, id: ExpressionId, typings: &[Typing], wanted: SortRef) -> Option<String> {
        let [Typing { pattern: Pattern::Known(sort) | Pattern::AtLeast(sort), .. }] = typings else { return None };
        (rank(*sort)? > rank(wanted)?).then_some(())?;
        let from = self.specification.sort_text(*sort);
        let to = self.specification.sort_text(wanted);
        Some(format!("write `{from}2{to}({})`", self.quote(self.tree.bare(id))))
    }

    /// Sorts in words: `Nat` or `Int`.
    pub(super) fn describe(&self, typings: &[Typing]) -> String {
        let mut texts: Vec<String> =
            typings.iter().map(|typing| format!("`{}`", self.pattern_text(&typing.pattern))).collect();
        texts.dedup();
        texts.truncate(4);
        texts.join(" or ")
    }

    /// How a pattern is written; a hole is `_`.
    pub(super) fn pattern_text(&self, pattern: &Pattern) -> String {
        match pattern {
            Pattern::Known(sort) | Pattern::AtLeast(sort) => self.specification.sort_text(*sort),
            Pattern::Any | Pattern::Variable(_) => "_".to_string(),
            Pattern::Container(container, element) | Pattern::Finite(container, element) => {
                format!("{}({})", container.text(), self.pattern_text(element))
            }
            Pattern::Function(domain, codomain) => {
                let domain: Vec<String> = domain.iter().map(|part| self.pattern_text(part)).collect();
                format!("{} -> {}", domain.join(" # "), self.pattern_text(codomain))
            }
        }
    }

    pub(super) fn unknown_name(&mut self, name: Symbol, span: Span) -> Reported {
        if self.broken.contains(&name) {
            return Reported;
        }
        let text = self.tree.names.text(name).to_string();
        let mut known: Vec<String> =
            self.specification.signature.names().map(|name| self.name(name).to_string()).collect();
        known.extend(
            self.scopes.iter().filter(|(_, scope)| !scope.is_empty()).map(|(&name, _)| self.name(name).to_string()),
        );
        known
            .extend(schemes().keys().filter(|name| name.starts_with(char::is_alphabetic)).map(|name| name.to_string()));
        known.sort_unstable();
        let help = match text.as_str() {
            "True" | "TRUE" => Some("truth values are written `true` and `false`".to_string()),
            "False" | "FALSE" => Some("truth values are written `true` and `false`".to_string()),
            "not" => Some("negation is written `!`".to_string()),
            "and" => Some("conjunction is written `&&`".to_string()),
            "or" => Some("disjunction is written `||`".to_string()),
            "length" | "size" | "card" => Some("the size is written `#l`".to_string()),
            _ => Some(nearest(&text, known.iter().map(String::as_str)).map_or_else(
                || "declare it with `map`, or as a variable".to_string(),
                |meant| format!("is `{meant}` meant?"),
            )),
        };
        self.error(codes::UNKNOWN_NAME, format!("`{text}` is not declared"), span, help)
    }

    /// Reports why an application has no type.
    pub(super) fn no_way(
        &mut self,
        id: ExpressionId,
        application: &Application,
        heads: &[Head],
        arguments: &[Typings],
    ) -> Reported {
        let span = self.tree.span(id);
        let written = match (application.operator, application.function) {
            (Some("@update"), _) => "a function update".to_string(),
            (Some(operator), _) => format!("`{operator}`"),
            (None, Some(function)) => format!("`{}`", self.quote(function)),
            (None, None) => String::new(),
        };
        let signatures: Vec<(Vec<Pattern>, Pattern)> = heads.iter().filter_map(|head| self.head_sorts(head)).collect();
        if signatures.is_empty() {
            let message = format!("{written} is not a function");
            let function = application.function.map_or(span, |function| self.tree.span(function));
            let help = Some("a constant is written without brackets".to_string());
            return self.error(codes::NOT_A_FUNCTION, message, function, help);
        }
        let fitting: Vec<&(Vec<Pattern>, Pattern)> =
            signatures.iter().filter(|(domain, _)| domain.len() == arguments.len()).collect();
        if fitting.is_empty() {
            let mut arities: Vec<usize> = signatures.iter().map(|(domain, _)| domain.len()).collect();
            arities.sort_unstable();
            arities.dedup();
            let arities: Vec<String> = arities.iter().map(usize::to_string).collect();
            let plural = if arities == ["1"] { "argument" } else { "arguments" };
            let message = format!("{written} takes {} {plural}, not {}", arities.join(" or "), arguments.len());
            let declared: Vec<String> = signatures.iter().take(3).map(|sorts| self.signature_text(sorts)).collect();
            return self.error(codes::ARITY, message, span, Some(format!("its sort is `{}`", declared.join("` or `"))));
        }
        // Where all but one argument fit, that one is the mistake.
        let mut culprits: Vec<(usize, SortRef)> = Vec::new();
        for (domain, _) in &fitting {
            let mut wrong = Vec::new();
            for (index, (parameter, typings)) in domain.iter().zip(arguments).enumerate() {
                let Pattern::Known(sort) = parameter else { continue };
                let sorts = &mut self.specification.sorts;
                if !typings.iter().any(|typing| convert(&typing.pattern, parameter, sorts).is_some()) {
                    wrong.push((index, *sort));
                }
            }
            if let [single] = wrong[..] {
                culprits.push(single);
            }
        }
        culprits.dedup();
        let found: Vec<String> = arguments.iter().map(|typings| self.describe(typings)).collect();
        if let Some(&(index, sort)) = culprits.first()
            && culprits.iter().all(|&(other, _)| other == index)
        {
            // The widest sort that would do is the one to convert to.
            let sort = culprits.iter().map(|&(_, sort)| sort).max().unwrap_or(sort);
            let argument = application.arguments[index];
            let needed = self.specification.sort_text(sort);
            let part = match application.operator {
                Some("div" | "mod") if index == 1 => "a divisor".to_string(),
                Some(_) if arguments.len() == 1 => format!("the operand of {written}"),
                Some(_) => format!("the {} operand of {written}", ["left", "right"][index.min(1)]),
                None => format!("argument {} of {written}", index + 1),
            };
            let message = format!("{part} must be `{needed}`, `{}` is {}", self.quote(argument), found[index]);
            let help = self
                .conversion_help(argument, &arguments[index], sort)
                .or_else(|| self.mismatch_help(argument, &arguments[index], sort));
            return self.error(codes::MISMATCH, message, self.tree.span(argument), help);
        }
        let message = format!("{written} is not defined for {}", found.join(" and "));
        let mut diagnostic = Diagnostic::error(codes::NO_CANDIDATE, message, Place::Span(span));
        let defined: Vec<String> = fitting.iter().map(|sorts| self.signature_text(sorts)).collect();
        diagnostic = diagnostic.note(format!("its sorts are {}", defined.join("; ")));
        if let Some(help) = operator_help(application.operator, &found) {
            diagnostic = diagnostic.help(help);
        }
        self.report(diagnostic);
        Reported
    }

    fn signature_text(&self, (domain, codomain): &(Vec<Pattern>, Pattern)) -> String {
        let domain: Vec<String> = domain.iter().map(|part| self.scheme_text(part)).collect();
        format!("{} -> {}", domain.join(" # "), self.scheme_text(codomain))
    }

    /// A part of a scheme, with its variables as `S` and `T`.
    fn scheme_text(&self, pattern: &Pattern) -> String {
        match pattern {
            Pattern::Variable(0) => "S".to_string(),
            Pattern::Variable(_) => "T".to_string(),
            Pattern::Container(container, element) | Pattern::Finite(container, element) => {
                format!("{}({})", container.text(), self.scheme_text(element))
            }
            Pattern::Function(domain, codomain) => {
                let domain: Vec<String> = domain.iter().map(|part| self.scheme_text(part)).collect();
                format!("({} -> {})", domain.join(" # "), self.scheme_text(codomain))
            }
            _ => self.pattern_text(pattern),
        }
    }
}

/// A hint for operators that are often confused.
fn operator_help(operator: Option<&str>, found: &[String]) -> Option<String> {
    let is_list = |text: &String| text.starts_with("`List");
    match operator? {
        "+" if found.iter().any(is_list) => Some("lists are joined by `++`".to_string()),
        "#" if found.iter().any(|text| text.starts_with("`Set")) => {
            Some("only finite sets have a size; declare the set as `FSet`".to_string())
        }
        "|>" if found.first().is_some_and(is_list) => Some("an element is added at the end by `<|`".to_string()),
        "<|" if found.get(1).is_some_and(is_list) => Some("an element is added at the front by `|>`".to_string()),
        "&&" | "||" if found.iter().any(|text| text.starts_with("`Set")) => {
            Some("sets are joined by `+` and intersected by `*`".to_string())
        }
        "in" => Some("the element has the sort of the elements; numbers in a container are not converted".to_string()),
        "==" | "!=" | "<" | "<=" | ">" | ">=" => Some("both sides of a comparison have one sort".to_string()),
        "." if found.iter().all(|text| text == "`Pos`" || text == "`Nat`") => {
            Some("a fraction is written with `/`; `l . n` is a place in a list".to_string())
        }
        "." => Some("a place in a list is a `Nat`: `l . 0` is the first element".to_string()),
        _ => None,
    }
}
