//! Assertions with their properties and options.

use trefoil_source::{Diagnostic, Place};

use super::super::codes;
use super::super::names::Symbol;
use super::super::token::{Kind, Token};
use super::super::tree::*;
use super::{Failed, Parser, Result};

/// What can stand in `:[…]`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phrase {
    Property(Property),
    HasTrace,
    Symmetric,
    TauPriority,
    PartialOrderReduce,
    SymmetryReduce,
}

const PHRASES: &[(&str, Phrase)] = &[
    ("deadlock free", Phrase::Property(Property::DeadlockFree)),
    ("livelock free", Phrase::Property(Property::LivelockFree)),
    ("divergence free", Phrase::Property(Property::LivelockFree)),
    ("deterministic", Phrase::Property(Property::Deterministic)),
    ("has trace", Phrase::HasTrace),
    ("symmetric", Phrase::Symmetric),
    ("tau priority", Phrase::TauPriority),
    ("tau priority over", Phrase::TauPriority),
    ("partial order reduce", Phrase::PartialOrderReduce),
    ("symmetry reduce", Phrase::SymmetryReduce),
];

/// `:[phrase [bracketed]]`, and whether `:` follows.
struct Bracket {
    open: Token,
    phrase: Phrase,
    bracketed: Option<Token>,
    takes_more: bool,
}

impl Parser<'_, '_> {
    pub(super) fn assertion(&mut self) -> Result<Declaration<Symbol>> {
        self.advance();
        let negated = self.accept(Kind::Not);
        let left = self.expression(0)?;
        let check = match self.peek() {
            Kind::Refines => {
                let token = self.advance();
                let text = self.text_of(token);
                let name = text[1..text.len() - 1].to_string();
                let model = self.model(&name, token);
                let right = self.expression(0)?;
                match model {
                    Some(model) => Check::Refinement { specification: left, model, implementation: right },
                    None => Check::Error,
                }
            }
            Kind::OpenProperty => self.property(left)?,
            _ => {
                let expected = "a refinement operator such as `[T=` or a property such as `:[deadlock free]`";
                return Err(self.unexpected(codes::TOKEN_EXPECTED, expected));
            }
        };
        let options = self.options()?;
        let options = self.tree.add_list(options);
        Ok(Declaration::Assert { negated, check, options })
    }

    fn property(&mut self, process: ExpressionId) -> Result<Check> {
        let bracket = self.bracket()?;
        let mut model = None;
        if let Some(token) = bracket.bracketed {
            let text = self.text_of(token).to_string();
            model = self.model(&text, token);
        }
        let check = match bracket.phrase {
            Phrase::Property(property) => Check::Property { process, property, model },
            // `:[has trace] <a>` without the colon is accepted too.
            Phrase::HasTrace => Check::HasTrace { process, model, trace: self.expression(0)? },
            Phrase::Symmetric => {
                self.takes_more(&bracket)?;
                let types = self.separated(|parser| parser.expression(0))?;
                Check::Symmetric { expression: process, types: self.tree.add_list(types) }
            }
            _ => {
                let message = "an option needs a refinement or a property before it";
                let place = Place::Span(self.span_of(bracket.open));
                self.report(Diagnostic::error(codes::OPTION_TWICE, message, place));
                return Err(Failed);
            }
        };
        Ok(check)
    }

    fn options(&mut self) -> Result<Vec<CheckOption>> {
        let mut options = Vec::new();
        let mut seen: Vec<Phrase> = Vec::new();
        while self.peek() == Kind::OpenProperty {
            let bracket = self.bracket()?;
            if seen.contains(&bracket.phrase) {
                let place = Place::Span(self.span_of(bracket.open));
                self.report(Diagnostic::error(codes::OPTION_TWICE, "this option is given twice", place));
            }
            seen.push(bracket.phrase);
            options.push(match bracket.phrase {
                Phrase::TauPriority => {
                    self.takes_more(&bracket)?;
                    CheckOption::TauPriority(self.expression(0)?)
                }
                Phrase::PartialOrderReduce => {
                    let strategy = bracket.bracketed.map(|token| self.symbol_of(token));
                    CheckOption::PartialOrderReduce(strategy)
                }
                Phrase::SymmetryReduce => {
                    let types = match bracket.takes_more && !self.list_left_out() {
                        true => self.separated(|parser| parser.expression(0))?,
                        false => Vec::new(),
                    };
                    CheckOption::SymmetryReduce(self.tree.add_list(types))
                }
                _ => {
                    let message = "an assertion checks one property";
                    let place = Place::Span(self.span_of(bracket.open));
                    self.report(Diagnostic::error(codes::OPTION_TWICE, message, place));
                    return Err(Failed);
                }
            });
        }
        Ok(options)
    }

    /// Whether `:[symmetry reduce]:` stands without a list, as scripts write that mean every type: nothing follows that could be one.
    fn list_left_out(&self) -> bool {
        let token = self.token();
        let outdented = || token.kind.is_declaration_keyword() || self.column(token) == 0;
        matches!(token.kind, Kind::End | Kind::OpenProperty) || (token.after_newline && outdented())
    }

    fn takes_more(&mut self, bracket: &Bracket) -> Result<()> {
        if bracket.takes_more { Ok(()) } else { Err(self.unexpected(codes::TOKEN_EXPECTED, "`:` and a value")) }
    }

    fn bracket(&mut self) -> Result<Bracket> {
        let open = self.advance();
        let mut words = String::new();
        let start = self.token().start;
        while matches!(self.peek(), Kind::Name | Kind::Minus) {
            let token = self.advance();
            if token.kind == Kind::Name {
                if !words.is_empty() {
                    words.push(' ');
                }
                words.push_str(&self.text_of(token).to_lowercase());
            }
        }
        let Some(&(_, phrase)) = PHRASES.iter().find(|(text, _)| *text == words) else {
            let known: Vec<String> = PHRASES.iter().map(|(text, _)| format!("`{text}`")).collect();
            let message = if words.is_empty() {
                "a property or option was expected".to_string()
            } else {
                format!("`{words}` is no property or option")
            };
            let diagnostic = Diagnostic::error(codes::UNKNOWN_PROPERTY, message, Place::Span(self.span_from(start)));
            self.complain(diagnostic.help(format!("there are {}", known.join(", "))));
            return Err(Failed);
        };
        let mut bracketed = None;
        if self.peek() == Kind::OpenSquare {
            let inner = self.advance();
            bracketed = Some(self.expect(Kind::Name)?);
            self.close(inner, Kind::CloseSquare)?;
        }
        let takes_more = self.accept(Kind::CloseProperty) || {
            self.close(open, Kind::CloseSquare)?;
            self.accept(Kind::Colon)
        };
        Ok(Bracket { open, phrase, bracketed, takes_more })
    }

    fn model(&mut self, text: &str, token: Token) -> Option<Model> {
        let model = match text {
            "T" => Model::Traces,
            "F" => Model::Failures,
            "FD" => Model::FailuresDivergences,
            "V" => Model::Revivals,
            "VD" => Model::RevivalsDivergences,
            "R" => Model::Refusals,
            "RD" => Model::RefusalsDivergences,
            _ => {
                let message = format!("`{text}` is no semantic model");
                let diagnostic = Diagnostic::error(codes::UNKNOWN_MODEL, message, Place::Span(self.span_of(token)));
                self.report(diagnostic.help("there are `T`, `F`, `FD`, `V`, `VD`, `R` and `RD`"));
                return None;
            }
        };
        Some(model)
    }
}
