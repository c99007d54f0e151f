//! Assertions with their properties and options.

use trefoil_source::{Diagnostic, Place};

use super::super::codes;
use super::super::names::Symbol;
use super::super::token::{Kind, Token};
use super::super::tree::*;
use super::hints::nearest_phrase;
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

/// The names of the semantic models.
pub(super) const MODELS: &[&str] = &["T", "F", "FD", "V", "VD", "R", "RD"];

/// What can stand in `:[…]`, as it is written.
pub(super) fn phrases() -> impl Iterator<Item = &'static str> + Clone {
    PHRASES.iter().map(|&(text, _)| text)
}

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
        self.mend_bracketed_assertion();
        self.asserting = true;
        let left = self.expression(0);
        self.asserting = false;
        let left = left?;
        self.mend_property();
        let mut sides = vec![left];
        let rest = self.rest_of_assertion(negated, &mut sides);
        self.keeping(&sides, rest)
    }

    /// Reads an assertion behind its first process; `sides` collects the processes.
    fn rest_of_assertion(&mut self, negated: bool, sides: &mut Vec<ExpressionId>) -> Result<Declaration<Symbol>> {
        let left = sides[0];
        let check = match self.peek() {
            Kind::Refines => {
                let token = self.advance();
                let text = self.text_of(token);
                let name = text.trim_matches(['[', '=', ' ']).to_ascii_uppercase();
                let model = self.model(&name, token);
                let right = self.expression(0)?;
                sides.push(right);
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
        if self.peek() == Kind::Refines {
            let message = "an assertion has one refinement operator";
            let place = Place::Span(self.span_of(self.token()));
            let complaint = Diagnostic::error(codes::TOKEN_EXPECTED, message, place);
            return Err(self.complain(complaint.help("write an assertion for each refinement")));
        }
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
                let message = "an option must follow a refinement or a property";
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
                self.report(Diagnostic::error(codes::OPTION_TWICE, "this option occurs twice", place));
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
                    let message = "an assertion has only one property";
                    let place = Place::Span(self.span_of(bracket.open));
                    self.report(Diagnostic::error(codes::OPTION_TWICE, message, place));
                    return Err(Failed);
                }
            });
        }
        Ok(options)
    }

    /// Whether `:[symmetry reduce]:` stands without a list, as scripts write that mean every type: nothing follows that
    /// could be one.
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
        let words = self.phrase_at(self.at);
        let start = self.token().start;
        while matches!(self.peek(), Kind::Name | Kind::Minus) {
            self.advance();
        }
        let phrase_of = |text: &str| PHRASES.iter().find(|(known, _)| *known == text).map(|&(_, phrase)| phrase);
        if let Some(phrase) = words.rsplit_once(' ').and_then(|(words, model)| {
            let known = phrase_of(words)?;
            MODELS.contains(&model.to_ascii_uppercase().as_str()).then_some(known)
        }) {
            // `:[deadlock free FD]`
            return self.model_without_brackets(open, phrase, &words);
        }
        let phrase = match phrase_of(&words) {
            Some(phrase) => phrase,
            None => {
                let message = if words.is_empty() {
                    "a property or option was expected".to_string()
                } else {
                    format!("there is no property or option `{words}`")
                };
                let diagnostic =
                    Diagnostic::error(codes::UNKNOWN_PROPERTY, message, Place::Span(self.span_from(start)));
                let Some(near) = nearest_phrase(&words, phrases()) else {
                    let known: Vec<String> = phrases().map(|text| format!("`{text}`")).collect();
                    self.complain(diagnostic.help(format!("the properties and options are {}", known.join(", "))));
                    return Err(Failed);
                };
                self.complain(diagnostic.help(format!("did you mean `:[{near}]`?")));
                // The rest of the assertion is read as if it had been, unless the bracket is broken too.
                if !matches!(self.peek(), Kind::CloseSquare | Kind::CloseProperty | Kind::OpenSquare) {
                    return Err(Failed);
                }
                phrase_of(near).ok_or(Failed)?
            }
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

    /// Reads the end of `:[deadlock free FD]`, whose semantic model was read as a word.
    fn model_without_brackets(&mut self, open: Token, phrase: Phrase, words: &str) -> Result<Bracket> {
        let model = self.tokens[self.at - 1];
        let (words, name) = words.rsplit_once(' ').unwrap_or((words, ""));
        let name = name.to_ascii_uppercase();
        let message = "the semantic model of a property stands in brackets";
        let report = Diagnostic::error(codes::UNKNOWN_PROPERTY, message, Place::Span(self.span_of(model)));
        self.report(report.help(format!("write `:[{words} [{name}]]`")));
        let takes_more = self.accept(Kind::CloseProperty) || {
            self.close(open, Kind::CloseSquare)?;
            self.accept(Kind::Colon)
        };
        Ok(Bracket { open, phrase, bracketed: None, takes_more })
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
                let message = match text {
                    "" => "a refinement names its semantic model".to_string(),
                    _ => format!("there is no semantic model `{text}`"),
                };
                let diagnostic = Diagnostic::error(codes::UNKNOWN_MODEL, message, Place::Span(self.span_of(token)));
                self.report(diagnostic.help(match text {
                    "" => "write `[T=`, `[F=` or `[FD=`",
                    _ => "the models are `T`, `F`, `FD`, `V`, `VD`, `R` and `RD`",
                }));
                return None;
            }
        };
        Some(model)
    }
}
