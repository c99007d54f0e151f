//! Sets of actions: `block`, `hide`, `rename`, `allow`, `comm`.
//!
//! A set speaks of names, so a rule such as `a|b -> c` concerns every action `a`, `b` and `c` at once. For what it
//! makes to be an action, the names on its left have the same sorts, and the name on its right has all of these. What
//! communicates is clear when no name stands in two left sides and no result in the left side of another rule: then
//! the order in which rules are applied does not matter.

use std::collections::{BTreeSet, HashMap};

use trefoil_data::sorts::SortRef;
use trefoil_data::syntax::tree::{Identifier, Symbol};
use trefoil_data::types::Reported;
use trefoil_source::{Diagnostic, Place, Span};

use super::codes;
use super::types::ProcessChecker;
use crate::syntax::tree::ActionBag;

impl ProcessChecker<'_> {
    /// The names of `block` and `hide`.
    pub(super) fn names(&mut self, operator: &str, names: &[Identifier], whole: Span) -> Result<Vec<Symbol>, Reported> {
        self.warn_empty(operator, names.len(), whole);
        let mut found: Vec<Symbol> = Vec::new();
        let mut failed = false;
        for name in names {
            failed |= self.must_be_action(name).is_err();
            if found.contains(&name.symbol) {
                self.warn_twice(&format!("`{}`", self.name(name.symbol)), name.span);
            } else {
                found.push(name.symbol);
            }
        }
        if failed {
            return Err(Reported);
        }
        self.sort_names(&mut found);
        Ok(found)
    }

    /// The pairs of `rename`.
    pub(super) fn renamings(
        &mut self,
        pairs: &[(Identifier, Identifier)],
        whole: Span,
    ) -> Result<Vec<(Symbol, Symbol)>, Reported> {
        self.warn_empty("rename", pairs.len(), whole);
        let mut renamed: HashMap<Symbol, Span> = HashMap::new();
        let mut failed = false;
        let mut found = Vec::new();
        for (from, to) in pairs {
            let known = self.must_be_action(from).and(self.must_be_action(to));
            if let Some(before) = renamed.insert(from.symbol, from.span) {
                let message = format!("`{}` is renamed twice", self.name(from.symbol));
                let diagnostic = Diagnostic::error(codes::RENAMED_TWICE, message, Place::Span(from.span));
                self.report(diagnostic.also(Place::Span(before), "here already"));
                failed = true;
            }
            if known.is_err() {
                failed = true;
                continue;
            }
            if from.symbol == to.symbol {
                let message = format!("`{}` is renamed to itself", self.name(from.symbol));
                self.report(Diagnostic::warning(codes::NO_EFFECT, message, Place::Span(from.span.to(to.span))));
                continue;
            }
            let sorts = self.sorts_of(from.symbol);
            if sorts.is_disjoint(&self.sorts_of(to.symbol)) {
                let (one, other) = (self.name(from.symbol), self.name(to.symbol));
                let message = format!("`{one}` is renamed to `{other}`, which has other sorts");
                let notes = [from, to].map(|name| self.declared_sorts(name.symbol));
                let diagnostic = Diagnostic::error(codes::RENAMING_SORTS, message, Place::Span(from.span.to(to.span)));
                self.report(notes.into_iter().fold(diagnostic, Diagnostic::note));
                failed = true;
            }
            found.push((from.symbol, to.symbol));
        }
        if failed { Err(Reported) } else { Ok(found) }
    }

    /// The bags of `allow`.
    pub(super) fn allowed(&mut self, bags: &[ActionBag], whole: Span) -> Result<Vec<Vec<Symbol>>, Reported> {
        self.warn_empty("allow", bags.len(), whole);
        let mut found: Vec<Vec<Symbol>> = Vec::new();
        let mut failed = false;
        for names in bags {
            let mut bag: Vec<Symbol> = names.iter().map(|name| name.symbol).collect();
            for name in names {
                failed |= self.must_be_action(name).is_err();
            }
            self.sort_names(&mut bag);
            if found.contains(&bag) {
                let text: Vec<&str> = bag.iter().map(|&name| self.name(name)).collect();
                self.warn_twice(&format!("`{}`", text.join("|")), names[0].span.to(names[names.len() - 1].span));
            } else {
                found.push(bag);
            }
        }
        if failed { Err(Reported) } else { Ok(found) }
    }

    /// The rules of `comm`.
    pub(super) fn communications(
        &mut self,
        rules: &[(ActionBag, Identifier)],
        whole: Span,
    ) -> Result<Vec<(Vec<Symbol>, Symbol)>, Reported> {
        self.warn_empty("comm", rules.len(), whole);
        let (mut failed, mut twice) = (false, false);
        // The rule in which a name takes part.
        let mut parts: HashMap<Symbol, (usize, Span)> = HashMap::new();
        for (index, (names, result)) in rules.iter().enumerate() {
            let mut known = self.must_be_action(result);
            for name in names {
                known = self.must_be_action(name).and(known);
                let &mut (before, place) = parts.entry(name.symbol).or_insert((index, name.span));
                if before != index {
                    let message = format!("`{}` communicates in two ways", self.name(name.symbol));
                    let diagnostic = Diagnostic::error(codes::COMMUNICATES_TWICE, message, Place::Span(name.span));
                    let help = "an action stands in one left side; give it another name in one of the rules";
                    self.report(diagnostic.also(Place::Span(place), "here already").help(help));
                    twice = true;
                }
            }
            failed |= known.is_err() || self.communication_sorts(names, result).is_err();
        }
        for (index, (_, result)) in rules.iter().enumerate() {
            // A name in two left sides has been reported, and is the mistake.
            if twice {
                break;
            }
            let Some(&(other, place)) = parts.get(&result.symbol) else { continue };
            if other != index {
                let message = format!("`{}` is the result of a communication and takes part in another one", {
                    self.name(result.symbol)
                });
                let diagnostic = Diagnostic::error(codes::RESULT_COMMUNICATES, message, Place::Span(result.span));
                let help = "let all actions communicate in one rule, or use one `comm` around the other";
                self.report(diagnostic.also(Place::Span(place), "here it takes part").help(help));
                failed = true;
            }
        }
        if failed || twice {
            return Err(Reported);
        }
        let bags = rules.iter().map(|(names, result)| {
            let mut bag: Vec<Symbol> = names.iter().map(|name| name.symbol).collect();
            self.sort_names(&mut bag);
            (bag, result.symbol)
        });
        Ok(bags.collect())
    }

    /// Checks that the actions of a rule have the same sorts, and its result all of these.
    fn communication_sorts(&mut self, names: &[Identifier], result: &Identifier) -> Result<(), Reported> {
        let declared: Vec<BTreeSet<Vec<SortRef>>> = names.iter().map(|name| self.sorts_of(name.symbol)).collect();
        if declared.iter().any(BTreeSet::is_empty) || self.sorts_of(result.symbol).is_empty() {
            return Err(Reported);
        }
        let all: BTreeSet<Vec<SortRef>> = declared.iter().flatten().cloned().collect();
        let lacking = names.iter().chain([result]).find_map(|name| {
            let own = self.sorts_of(name.symbol);
            all.iter().find(|sorts| !own.contains(*sorts)).map(|sorts| (name, sorts))
        });
        let Some((name, sorts)) = lacking else { return Ok(()) };
        let text = self.name(name.symbol).to_string();
        let message = match sorts[..] {
            [] => format!("`{text}` always has arguments, another action of this communication has none"),
            _ => format!("`{text}` is no action with `{}`, as this communication needs", self.product_text(sorts)),
        };
        let mut diagnostic = Diagnostic::error(codes::COMMUNICATION_SORTS, message, Place::Span(name.span));
        let mut seen = Vec::new();
        for name in names.iter().chain([result]) {
            if !seen.contains(&name.symbol) {
                seen.push(name.symbol);
                diagnostic = diagnostic.note(self.declared_sorts(name.symbol));
            }
        }
        let declaration = match sorts[..] {
            [] => format!("act {text};"),
            _ => format!("act {text}: {};", self.product_text(sorts)),
        };
        self.report(diagnostic.help(format!("declare `{declaration}`")));
        Err(Reported)
    }

    fn warn_empty(&mut self, operator: &str, elements: usize, whole: Span) {
        if elements == 0 {
            let message = format!("the set of `{operator}` is empty");
            self.report(Diagnostic::warning(codes::NO_EFFECT, message, Place::Span(whole)));
        }
    }

    fn warn_twice(&mut self, what: &str, place: Span) {
        let message = format!("{what} is in this set twice");
        self.report(Diagnostic::warning(codes::NO_EFFECT, message, Place::Span(place)));
    }
}
