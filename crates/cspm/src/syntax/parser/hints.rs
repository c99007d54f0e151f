//! What users write by mistake, and what they should write instead.
//!
//! Two sorts of mistakes are recognised. A token that was torn or spelt as in another language
//! ([`Parser::mend_tokens`]) is reported and replaced by the token that was meant, before parsing starts, so that the
//! rest of the script is read as usual. Anything else is reported where the parser meets it, and [`Parser::hint`] looks
//! at the tokens around that place.

use trefoil_source::{Diagnostic, Place, nearest};

use super::super::codes;
use super::super::names::Symbol;
use super::super::token::{Kind, Token};
use super::super::tree::Named;
use super::Parser;
use super::assertions::MODELS;

impl Parser<'_, '_> {
    /// Replaces pairs of tokens that no script can contain by the one token that was meant.
    pub(super) fn mend_tokens(&mut self) {
        let mendable = |pair: &[Token]| meant(pair[0], pair[1]).is_some();
        if !self.tokens.windows(2).any(mendable) {
            return;
        }
        let tokens = std::mem::take(&mut self.tokens);
        let mut mended: Vec<Token> = Vec::with_capacity(tokens.len());
        // The opening braces that are not closed yet: where they stand in `mended`.
        let mut braces: Vec<usize> = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let token = tokens[at];
            at += 1;
            let next = tokens.get(at).copied();
            let productions = braces.last().is_some_and(|&open| {
                let kind = |at: usize| mended.get(at).map(|token: &Token| token.kind);
                kind(open) == Some(Kind::OpenProductions) || kind(open + 1) == Some(Kind::Bar)
            });
            let kind = match next.and_then(|next| meant(token, next)) {
                Some(Kind::CloseProductions) if !productions => None,
                kind => kind,
            };
            let kind = match kind {
                // `{ | x <- S}` is a comprehension without an element; `{ | a | }` is known by its end.
                Some(Kind::OpenProductions) | None => {
                    match token.kind {
                        Kind::OpenBrace | Kind::OpenProductions => braces.push(mended.len()),
                        Kind::CloseBrace => drop(braces.pop()),
                        Kind::CloseProductions => self.close_productions(&mut mended, &mut braces, token),
                        _ => {}
                    }
                    mended.push(token);
                    continue;
                }
                Some(kind) => kind,
            };
            at += 1;
            let whole = Token { kind, end: next.map_or(token.end, |next| next.end), ..token };
            let blank = next.is_some_and(|next| next.start > token.end);
            let message = match blank {
                true => format!("{} has a blank inside", kind.shown()),
                false => format!("`{}` is no operator", self.text_of(whole)),
            };
            let place = Place::Span(self.span_of(whole));
            let report = Diagnostic::error(codes::TOKEN_EXPECTED, message, place);
            self.report(report.help(format!("write {}", kind.shown())));
            if kind == Kind::CloseProductions {
                self.close_productions(&mut mended, &mut braces, whole);
            }
            mended.push(whole);
        }
        self.tokens = mended;
    }

    /// Makes the brace that `|}` closes a `{|`, if it is `{` followed by `|`.
    fn close_productions(&mut self, mended: &mut Vec<Token>, braces: &mut Vec<usize>, close: Token) {
        let Some(open) = braces.pop() else { return };
        let torn =
            mended[open].kind == Kind::OpenBrace && mended.get(open + 1).is_some_and(|bar| bar.kind == Kind::Bar);
        if torn {
            let bar = mended.remove(open + 1);
            mended[open] = Token { kind: Kind::OpenProductions, end: bar.end, ..mended[open] };
            if self.text_of(close) != "|}" {
                // The end is torn too, which was reported.
                if let Some(report) = self.session.diagnostics.last_mut() {
                    report.help = Some("write `{|` and `|}`".to_string());
                }
            } else {
                let place = Place::Span(self.span_of(mended[open]));
                let report = Diagnostic::error(codes::TOKEN_EXPECTED, "`{|` has a blank inside", place);
                self.report(report.help("write `{|`"));
            }
        }
    }

    /// The token before the next one.
    pub(super) fn before(&self) -> Option<Token> {
        self.at.checked_sub(1).map(|before| self.tokens[before])
    }

    /// What may have been meant by the next token, which is not what was expected.
    pub(super) fn hint(&self) -> Option<String> {
        let token = self.token();
        let next = self.tokens.get(self.at + 1).copied().unwrap_or(token);
        let after = |kind: Kind| self.before().is_some_and(|before| before.kind == kind && before.end == token.start);
        let negates = next.kind == Kind::Exclamation && next.start == token.end;
        let case = self.before().is_some_and(|before| self.is_foreign(before, &["case", "switch"]));
        let hint = match token.kind {
            _ if case => {
                "CSPM has no `case`; write an equation for each case, as in `f(A) = P` and `f(B) = Q`, or `if … then … \
                 else`"
            }
            _ if self.is_foreign(token, &["endif", "fi"]) => "CSPM has no `endif`; remove it",
            Kind::Equals if negates => "write `!=` for \"not equal\"",
            Kind::Exclamation if after(Kind::Equals) => "write `!=` for \"not equal\", or `not` to negate a condition",
            Kind::Yield => "write `->` between an event and a process; `=>` is for maps and types",
            Kind::Parallel => {
                "write `P [|A|] Q` to synchronise on the events in `A`, or `P [A||B] Q` to give each process an \
                 alphabet; the disjunction of conditions is `or`"
            }
            Kind::Bar if next.kind == Kind::OpenSquare && next.start == token.end => "write `[|A|]` instead of `|[A]|`",
            Kind::Bar => "write `[]` for external choice, `|~|` for internal choice",
            Kind::DotDot => "write a range in brackets: `{0..3}`",
            Kind::Exclamation => "write `not` to negate a condition",
            Kind::Slash if after(Kind::Slash) => "write `--` to start a comment",
            Kind::Slash if after(Kind::Backslash) => "write `/\\` for interrupt",
            Kind::Star if after(Kind::Slash) => "write `{-` and `-}` around a comment",
            Kind::Greater if after(Kind::Less) => "write `!=` for \"not equal\"; `<>` is the empty sequence",
            Kind::Colon if next.kind == Kind::Equals && next.start == token.end => {
                "write `=` to define a name; CSPM has no assignment"
            }
            Kind::Equals => "write `==` to compare",
            Kind::Refines | Kind::OpenProperty => "write `assert` at the start of an assertion",
            Kind::Hash if self.text_of(next) == "include" => "write `include` without `#`",
            Kind::Name if self.text_of(token) == "in" => "write a generator as `x <- S`, or as `x : S` before `@`",
            _ => return None,
        };
        Some(hint.to_string())
    }

    /// Inside an assertion: makes `[FD`, `[FD =`, `[fd=` and `[=` the refinement operator that was meant, and
    /// `[deadlock free]` a property. False when the bracket opens something else.
    pub(super) fn mend_assertion(&mut self) -> bool {
        let open = self.token();
        let [first, second] = [1, 2].map(|ahead| self.tokens.get(self.at + ahead).copied().unwrap_or(open));
        let equals = |token: Token| matches!(token.kind, Kind::Equals | Kind::EqualEqual);
        let is_model =
            |parser: &Self, token: Token| MODELS.contains(&parser.text_of(token).to_ascii_uppercase().as_str());
        if equals(first) {
            let third = self.peek_at(3);
            let swapped = second.kind == Kind::Name && second.start == first.end && is_model(&*self, second);
            if swapped && (third.only_starts_expression() || third == Kind::OpenRound) {
                // `[=T`
                let model = self.text_of(second).to_ascii_uppercase();
                let whole = self.replace(3, Kind::Refines);
                self.not_refinement(whole, &model);
                return true;
            }
            self.replace(2, Kind::Refines);
            return true;
        }
        if first.kind != Kind::Name {
            return false;
        }
        let model = self.text_of(first).to_ascii_uppercase();
        let known = is_model(&*self, first);
        let attached = first.start == open.end;
        let starts_process = second.kind.only_starts_expression() || second.kind == Kind::OpenRound;
        if equals(second) || (known && attached && starts_process && second.start > first.end) {
            let count = if equals(second) { 3 } else { 2 };
            let whole = self.replace(count, Kind::Refines);
            if known {
                self.not_refinement(whole, &model);
            }
            return true;
        }
        let words = self.phrase_at(self.at + 1);
        let is_word = |token: &&Token| matches!(token.kind, Kind::Name | Kind::Minus);
        let end = self.at + 1 + self.tokens[self.at + 1..].iter().take_while(is_word).count();
        let closes = matches!(self.tokens[end].kind, Kind::CloseSquare | Kind::OpenSquare | Kind::CloseProperty);
        if !closes {
            return false;
        }
        if nearest_phrase(&words, super::assertions::phrases()).is_some() {
            let message = "a property starts with `:[`";
            let report = Diagnostic::error(codes::TOKEN_EXPECTED, message, Place::Span(self.span_of(open)));
            self.report(report.help("write `:[` instead of `[`"));
            self.replace(1, Kind::OpenProperty);
            return true;
        }
        false
    }

    fn not_refinement(&mut self, whole: Token, model: &str) {
        let message = format!("`{}` is no refinement operator", self.text_of(whole));
        let report = Diagnostic::error(codes::TOKEN_EXPECTED, message, Place::Span(self.span_of(whole)));
        self.report(report.help(format!("write `[{model}=`")));
    }

    /// At the start of an assertion: removes the brackets around all of it, as in `assert not (P [T= Q)`.
    pub(super) fn mend_bracketed_assertion(&mut self) {
        let open = self.token();
        if open.kind != Kind::OpenRound {
            return;
        }
        let mut depth = 0_usize;
        let mut asserts = false;
        for at in self.at..self.tokens.len() {
            let token = self.tokens[at];
            match token.kind {
                Kind::OpenRound => depth += 1,
                Kind::CloseRound => depth -= 1,
                Kind::Refines | Kind::OpenProperty => asserts |= depth == 1,
                Kind::End => return,
                kind if token.after_newline && kind.is_declaration_keyword() => return,
                _ => {}
            }
            if depth == 0 {
                if asserts {
                    let before = self.before().map_or("assert", |before| match before.kind {
                        Kind::Not => "assert not",
                        _ => "assert",
                    });
                    let message = "an assertion stands without brackets around it";
                    let place = Place::Span(self.span_of(open));
                    let report = Diagnostic::error(codes::TOKEN_EXPECTED, message, place);
                    self.report(report.help(format!("write `{before} P [T= Q`")));
                    self.tokens.remove(at);
                    self.tokens.remove(self.at);
                }
                return;
            }
        }
    }

    /// At the start of a line: makes a misspelt keyword, as in `chanel a`, the keyword that was meant.
    pub(super) fn mend_keyword(&mut self) -> bool {
        let token = self.token();
        let next = self.tokens[self.at + 1];
        let starts = matches!(next.kind, Kind::Name | Kind::OpenRound) && next.start > token.end && !next.after_newline;
        if !starts {
            return false;
        }
        let keywords = [
            ("channel", Kind::Channel),
            ("datatype", Kind::Datatype),
            ("subtype", Kind::Subtype),
            ("nametype", Kind::Nametype),
            ("external", Kind::External),
            ("transparent", Kind::Transparent),
            ("assert", Kind::Assert),
            ("module", Kind::Module),
            ("instance", Kind::Instance),
        ];
        let text = self.text_of(token);
        let Some(near) = nearest(text, keywords.iter().map(|&(word, _)| word)) else { return false };
        let ends = (self.at + 1..).find(|&at| self.tokens[at].after_newline).unwrap_or(self.at + 1);
        let line = &self.tokens[self.at + 1..ends];
        let kind = keywords.iter().find(|(word, _)| *word == near).map_or(Kind::Bad, |&(_, kind)| kind);
        // `f (x) = e` is a definition.
        if next.kind == Kind::OpenRound && (kind != Kind::Assert || line.iter().any(|token| token.kind == Kind::Equals))
        {
            return false;
        }
        let message = format!("`{text}` starts no declaration");
        let report = Diagnostic::error(codes::NO_EQUALS, message, Place::Span(self.span_of(token)));
        self.report(report.help(format!("did you mean `{near}`?")));
        self.tokens[self.at].kind = kind;
        true
    }

    /// After the subject of an assertion: makes `: [` the `:[` that was meant, and `deadlock free` without brackets a
    /// property.
    pub(super) fn mend_property(&mut self) {
        if self.peek() == Kind::Name && !self.token().after_newline {
            let end = (self.at..).find(|&at| {
                let token = self.tokens[at];
                (at > self.at && token.after_newline) || !matches!(token.kind, Kind::Name | Kind::Minus)
            });
            let end = end.unwrap_or(self.at);
            let words = &self.tokens[self.at..end];
            let words = words.iter().filter(|token| token.kind == Kind::Name);
            let words: Vec<String> = words.map(|&token| self.text_of(token).to_lowercase()).collect();
            let words = words.join(" ");
            let phrase = super::assertions::phrases().find(|phrase| *phrase == words);
            if let Some(phrase) = phrase.filter(|_| self.tokens[end].after_newline) {
                let first = self.token();
                let last = self.tokens[end - 1];
                let place = Place::Span(self.span_of(first).to(self.span_of(last)));
                let message = "a property stands in `:[` and `]`";
                let report = Diagnostic::error(codes::TOKEN_EXPECTED, message, place);
                self.report(report.help(format!("write `:[{phrase}]`")));
                let close = Token { kind: Kind::CloseSquare, after_newline: false, start: last.end, ..last };
                self.tokens.insert(end, close);
                let open = Token { kind: Kind::OpenProperty, end: first.start, ..first };
                self.tokens.insert(self.at, open);
                return;
            }
        }
        if (self.peek(), self.peek_at(1)) == (Kind::Colon, Kind::OpenSquare) {
            let whole = self.replace(2, Kind::OpenProperty);
            let place = Place::Span(self.span_of(whole));
            let report = Diagnostic::error(codes::TOKEN_EXPECTED, "`:[` has a blank inside", place);
            self.report(report.help("write `:[`"));
        }
    }

    /// Replaces the next tokens by one.
    fn replace(&mut self, count: usize, kind: Kind) -> Token {
        let whole = Token { kind, end: self.tokens[self.at + count - 1].end, ..self.tokens[self.at] };
        self.tokens.splice(self.at..self.at + count, [whole]);
        whole
    }

    /// The words of a property from this token on, as `PHRASES` writes them.
    pub(super) fn phrase_at(&self, from: usize) -> String {
        let tokens =
            self.tokens[from..].iter().take_while(|token| matches!(token.kind, Kind::Name | Kind::Minus)).take(8);
        let words = tokens.filter(|token| token.kind == Kind::Name).map(|&token| self.text_of(token).to_lowercase());
        words.collect::<Vec<_>>().join(" ")
    }

    /// The names that the tokens of a broken declaration may declare: later uses of them are no mistakes. A name at the
    /// start of a line may start a declaration too, whatever its indentation.
    pub(super) fn may_declare(&mut self, from: usize, to: usize) -> Vec<Named<Symbol>> {
        let mut found = Vec::new();
        let mut start = from;
        while start < to {
            let starts = |token: &Token| token.after_newline && token.kind.starts_declaration();
            let end = (start + 1..to).find(|&at| starts(&self.tokens[at])).unwrap_or(to);
            let line = &self.tokens[start..end];
            let is_name = |token: &&Token| token.kind == Kind::Name;
            match line[0].kind {
                Kind::Channel => {
                    found.extend(line.iter().take_while(|token| token.kind != Kind::Colon).filter(is_name));
                }
                Kind::Datatype | Kind::Subtype => {
                    let constructors = line.windows(2).filter(|pair| pair[0].kind != Kind::Dot).map(|pair| &pair[1]);
                    found.extend(constructors.filter(is_name));
                }
                Kind::External | Kind::Transparent => found.extend(line.iter().filter(is_name)),
                Kind::Nametype | Kind::Module | Kind::Instance => found.extend(line.iter().find(is_name)),
                kind if kind.starts_declaration() => {
                    let equals = line.iter().position(|token| token.kind == Kind::Equals);
                    let applied = line.get(1).is_some_and(|second| second.kind == Kind::OpenRound);
                    let defined = line.windows(2).skip(1).filter(|pair| pair[1].kind == Kind::Equals);
                    let mut defined: Vec<&Token> = defined.map(|pair| &pair[0]).filter(is_name).collect();
                    // A datatype without its keyword.
                    let bars = line.iter().any(|token| token.kind == Kind::Bar);
                    let alternative = |pair: &&[Token]| bars && matches!(pair[0].kind, Kind::Bar | Kind::Equals);
                    defined.extend(line.windows(2).filter(alternative).map(|pair| &pair[1]).filter(is_name));
                    let listed = |token: &&Token| matches!(token.kind, Kind::Name | Kind::Comma);
                    match equals {
                        Some(equals) if !applied => found.extend(line[..equals].iter().filter(is_name)),
                        Some(_) => found.extend(line.iter().take(1).filter(is_name)),
                        // Channels without their keyword, among others.
                        None => found.extend(line.iter().take_while(listed).filter(is_name)),
                    }
                    found.extend(defined);
                }
                _ => {}
            }
            start = end;
        }
        let named = found.into_iter().filter(|&token| !self.text_of(token).contains("::")).collect::<Vec<Token>>();
        named.into_iter().map(|token| Named { name: self.symbol_of(token), span: self.span_of(token) }).collect()
    }
}

/// The phrase that was meant: the nearest one, or the first that starts with these words.
pub(super) fn nearest_phrase<'a>(words: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let same = known.clone().find(|phrase| *phrase == words);
    let starts = |phrase: &&str| words.len() > 3 && phrase.starts_with(words);
    same.or_else(|| nearest(words, known.clone())).or_else(|| known.clone().find(starts))
}

/// The token that two neighbours were meant to be.
fn meant(first: Token, second: Token) -> Option<Kind> {
    if second.after_newline {
        return None;
    }
    let adjacent = first.end == second.start;
    Some(match (first.kind, second.kind) {
        (Kind::OpenSquare, Kind::CloseSquare) => Kind::ExternalChoice,
        (Kind::OpenSquare, Kind::Bar) => Kind::OpenEvents,
        (Kind::Bar, Kind::CloseSquare) => Kind::CloseEvents,
        (Kind::Bar, Kind::CloseBrace) => Kind::CloseProductions,
        (Kind::OpenBrace, Kind::Bar) => Kind::OpenProductions,
        (Kind::Minus, Kind::Greater) => Kind::Arrow,
        (Kind::Ampersand, Kind::Ampersand) if adjacent => Kind::And,
        (Kind::Backslash, Kind::Backslash) if adjacent => Kind::Backslash,
        _ => return None,
    })
}
