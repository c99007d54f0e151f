//! Formulas of linear temporal logic whose propositions are texts.
//!
//! Operators, their spellings and how they bind are those of `ltl` in Promela models: prefix operators bind tightest,
//! then `U`, `W` and `V`, then `&&`, then `||`, then `->` and `<->`; all are left-associative. A proposition is a name
//! with arguments in brackets if it has any, several such joined by `|` (a multi-action), or any text in braces. What
//! it means is the caller's business.

use trefoil_source::{Diagnostic, FileId, Place, Span};
use trefoil_system::{Ltl, LtlId};

use crate::problem::BAD_LTL;

/// Formulas that are nested deeper are refused.
const DEEPEST: usize = 500;

/// A formula as it was read.
#[derive(Clone, Debug)]
pub(crate) struct LtlFormula {
    pub(crate) ltl: Ltl,
    pub(crate) root: LtlId,
    /// Its propositions, by number.
    pub(crate) atoms: Vec<LtlAtom>,
    /// As it was written, on one line.
    pub(crate) written: String,
}

/// A proposition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LtlAtom {
    /// Its text, without braces around it.
    pub(crate) text: String,
    /// The place of that text.
    pub(crate) span: Span,
}

impl LtlFormula {
    /// The formula as text that shows how it was read.
    #[cfg(test)]
    fn text(&self) -> String {
        self.ltl.text(self.root, &|proposition| self.atoms[proposition as usize].shown())
    }
}

impl LtlAtom {
    /// As a formula writes it.
    #[cfg(test)]
    fn shown(&self) -> String {
        let is_plain = |character: char| character.is_alphanumeric() || "_.',()".contains(character);
        if self.text.chars().all(is_plain) && !is_operator(&self.text) {
            self.text.clone()
        } else {
            format!("{{{}}}", self.text)
        }
    }
}

/// Reads a formula.
pub(crate) fn read_ltl(text: &str, file: FileId) -> Result<LtlFormula, Box<Diagnostic>> {
    let mut reader = Reader { text, file, at: 0, depth: 0, ltl: Ltl::default(), atoms: Vec::new() };
    let root = reader.binary(0)?;
    reader.blanks();
    if reader.at < text.len() {
        return Err(reader.hinted(reader.wrong("expected an operator or the end of the formula")));
    }
    let written = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    Ok(LtlFormula { ltl: reader.ltl, root, atoms: reader.atoms, written })
}

/// What to write instead of the letters that other tools have for operators.
pub(crate) const LETTERS: &str = "write `[]` for G (always) and `<>` for F (eventually)";

const OPERATORS: &[(&str, u8, Operator)] = &[
    ("<->", 1, Operator::Equivalent),
    ("equivalent", 1, Operator::Equivalent),
    ("->", 1, Operator::Implies),
    ("implies", 1, Operator::Implies),
    ("||", 2, Operator::Or),
    ("&&", 3, Operator::And),
    ("U", 4, Operator::Until),
    ("until", 4, Operator::Until),
    ("stronguntil", 4, Operator::Until),
    ("W", 4, Operator::WeakUntil),
    ("weakuntil", 4, Operator::WeakUntil),
    ("V", 4, Operator::Release),
    ("release", 4, Operator::Release),
];

const PREFIXES: &[(&str, Prefix)] = &[
    ("!", Prefix::Not),
    ("[]", Prefix::Always),
    ("always", Prefix::Always),
    ("<>", Prefix::Eventually),
    ("eventually", Prefix::Eventually),
    ("X", Prefix::Next),
    ("next", Prefix::Next),
];

fn is_operator(word: &str) -> bool {
    OPERATORS.iter().any(|(known, ..)| *known == word)
        || PREFIXES.iter().any(|(known, _)| *known == word)
        || ["true", "false"].contains(&word)
}

#[derive(Clone, Copy)]
enum Operator {
    Equivalent,
    Implies,
    Or,
    And,
    Until,
    WeakUntil,
    Release,
}

#[derive(Clone, Copy)]
enum Prefix {
    Not,
    Always,
    Eventually,
    Next,
}

struct Reader<'t> {
    text: &'t str,
    file: FileId,
    at: usize,
    depth: usize,
    ltl: Ltl,
    atoms: Vec<LtlAtom>,
}

impl Reader<'_> {
    fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.file, start: start as u32, end: end as u32 }
    }

    fn wrong(&self, message: &str) -> Box<Diagnostic> {
        let next = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        let place = Place::Span(self.span(self.at, self.at + next));
        Box::new(Diagnostic::error(BAD_LTL, message, place))
    }

    /// With a hint where the word before, or the one here, is an operator of other tools.
    fn hinted(&self, wrong: Box<Diagnostic>) -> Box<Diagnostic> {
        let before =
            self.text[..self.at].split(|character: char| !character.is_alphanumeric()).rfind(|word| !word.is_empty());
        let is_letter = |word: &str| ["G", "F"].contains(&word);
        if before.is_some_and(is_letter) || is_letter(self.name()) { Box::new(wrong.help(LETTERS)) } else { wrong }
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.text[self.at..].trim_start().len();
    }

    /// The name that begins here.
    fn name(&self) -> &str {
        let rest = &self.text[self.at..];
        let is_letter = |character: char| character.is_alphanumeric() || character == '_' || character == '\'';
        if !rest.starts_with(|first: char| first.is_alphabetic() || first == '_') {
            return "";
        }
        &rest[..rest.find(|character| !is_letter(character)).unwrap_or(rest.len())]
    }

    /// Is this operator here? Letters of an operator are a whole word.
    fn sees(&self, operator: &str) -> bool {
        let is_word = operator.starts_with(|first: char| first.is_alphabetic());
        if is_word { self.name() == operator } else { self.text[self.at..].starts_with(operator) }
    }

    fn binary(&mut self, least: u8) -> Result<LtlId, Box<Diagnostic>> {
        let mut left = self.operand()?;
        loop {
            self.blanks();
            let found = OPERATORS.iter().find(|(word, ..)| self.sees(word));
            let Some(&(word, level, operator)) = found.filter(|(_, level, _)| *level > least) else { return Ok(left) };
            self.at += word.len();
            let right = self.binary(level)?;
            left = match operator {
                Operator::Equivalent => self.ltl.equivalent(left, right),
                Operator::Implies => self.ltl.implies(left, right),
                Operator::Or => self.ltl.or(left, right),
                Operator::And => self.ltl.and(left, right),
                Operator::Until => self.ltl.until(left, right),
                Operator::WeakUntil => self.ltl.weak_until(left, right),
                Operator::Release => self.ltl.release(left, right),
            };
        }
    }

    fn operand(&mut self) -> Result<LtlId, Box<Diagnostic>> {
        self.blanks();
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong("the formula is nested too deeply"));
        }
        let read = self.operand_here();
        self.depth -= 1;
        read
    }

    fn operand_here(&mut self) -> Result<LtlId, Box<Diagnostic>> {
        if let Some(&(word, prefix)) = PREFIXES.iter().find(|(word, _)| self.sees(word)) {
            self.at += word.len();
            let part = self.operand()?;
            return Ok(match prefix {
                Prefix::Not => self.ltl.not(part),
                Prefix::Always => self.ltl.always(part),
                Prefix::Eventually => self.ltl.eventually(part),
                Prefix::Next => self.ltl.next(part),
            });
        }
        let start = self.at;
        match self.text[self.at..].chars().next() {
            Some('(') => {
                self.at += 1;
                let inner = self.binary(0)?;
                self.blanks();
                if !self.text[self.at..].starts_with(')') {
                    return Err(self.hinted(self.wrong("expected `)` or an operator")));
                }
                self.at += 1;
                return Ok(inner);
            }
            Some('{') => {
                self.balanced()?;
                let (from, to) = (start + 1, self.at - 1);
                return Ok(self.atom(from, to));
            }
            _ => {}
        }
        match self.name() {
            "" => return Err(self.wrong("expected a formula")),
            "true" | "false" => {
                let value = self.name() == "true";
                self.at += self.name().len();
                return Ok(if value { self.ltl.truth() } else { self.ltl.falsehood() });
            }
            word if is_operator(word) => {
                let message = format!("`{word}` is an operator; a proposition of that name is written in braces");
                return Err(self.wrong(&message));
            }
            _ => {}
        }
        let mut end;
        loop {
            self.at += self.name().len();
            end = self.at;
            self.blanks();
            if self.text[self.at..].starts_with('(') {
                self.balanced()?;
                end = self.at;
                self.blanks();
            }
            // A multi-action.
            let rest = &self.text[self.at..];
            if !rest.starts_with('|') || rest.starts_with("||") {
                break;
            }
            self.at += 1;
            self.blanks();
            if self.name().is_empty() {
                return Err(self.wrong("expected an action after `|`"));
            }
        }
        Ok(self.atom(start, end))
    }

    /// Goes behind the bracket that closes the one that is here.
    fn balanced(&mut self) -> Result<(), Box<Diagnostic>> {
        let start = self.at;
        let mut open = 0;
        for (offset, character) in self.text[start..].char_indices() {
            match character {
                '(' | '{' | '[' => open += 1,
                ')' | '}' | ']' => open -= 1,
                _ => {}
            }
            if open == 0 {
                self.at = start + offset + character.len_utf8();
                return Ok(());
            }
        }
        Err(self.wrong("this bracket is not closed"))
    }

    fn atom(&mut self, start: usize, end: usize) -> LtlId {
        let text = self.text[start..end].trim();
        let number = self.atoms.iter().position(|atom| atom.text == text).unwrap_or_else(|| {
            let start = start + self.text[start..end].find(text).unwrap_or_default();
            let span = self.span(start, start + text.len());
            self.atoms.push(LtlAtom { text: text.to_string(), span });
            self.atoms.len() - 1
        });
        self.ltl.proposition(number as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        read_ltl(text, FileId(0)).map_or_else(|wrong| wrong.message.clone(), |formula| formula.text())
    }

    #[test]
    fn operators_bind_as_in_promela() {
        let same = [
            ("[] p -> q", "(q || !([] p))"),
            ("[] p U q", "([] p U q)"),
            ("p U q U r", "((p U q) U r)"),
            ("p -> q -> r", "(r || !((q || !p)))"),
            ("p && q || r && s", "((p && q) || (r && s))"),
            ("p U q && r", "((p U q) && r)"),
            ("! X p", "!X p"),
            ("always eventually send(1, [2])", "[] <> send(1, [2])"),
            ("a(1)|b && c || d", "(({a(1)|b} && c) || d)"),
            ("p stronguntil true", "true"),
        ];
        for (text, expected) in same {
            // Brackets leave nothing to how operators bind, and what is shown is read as the same formula.
            let own = shown(text);
            assert_eq!(own, shown(expected), "{text}");
            assert_eq!(shown(&own), own, "{text}");
        }
        // `p W q` is `q V (p || q)`; what stands in braces is a proposition, whatever its name.
        assert_eq!(shown("{exists n: Nat. a(n)} W {X}"), "({X} V ({exists n: Nat. a(n)} || {X}))");
    }

    #[test]
    fn mistakes_have_places() {
        let wrong = |text: &str| {
            let wrong = read_ltl(text, FileId(0)).expect_err(text);
            let Place::Span(span) = wrong.labels[0].place else { panic!("{text}") };
            (span.start, wrong.message.clone())
        };
        assert_eq!(wrong("[] (p && )").0, 9);
        assert_eq!(wrong("p q").0, 2);
        assert_eq!(wrong("<> {p").0, 3);
        assert_eq!(wrong("p && U").1, "`U` is an operator; a proposition of that name is written in braces");
        assert_eq!(wrong("").1, "expected a formula");
        assert_eq!(wrong("a| && b").1, "expected an action after `|`");
        assert_eq!(wrong(&"(".repeat(100_000)).1, "the formula is nested too deeply");
        assert_eq!(wrong(&"!".repeat(100_000)).1, "the formula is nested too deeply");
    }
}
