//! Terms of mCRL2's binary files as text: multi-actions with their data, written as mCRL2 writes them.
//!
//! Numbers have a representation of their own (machine words, or binary digits in older files) and become decimal;
//! lists, sets and bags become `[…]`, `{…}` and `{…: …}`; operators are written between their operands, with the
//! brackets that their precedence needs. A term that is none of these is written as an application. What matters most
//! is that equal terms have equal texts and different values different ones.
//!
//! Terms share subterms, so a small file can describe an enormous text: the length is limited, and so is the depth.

use trefoil_control::human_bytes;
use trefoil_source::Diagnostic;

use super::codes;
use super::mcrl2_terms::{Term, TermId, TermReader, Terms};

/// The longest text of a label.
const LONGEST: usize = 4_000_000;

/// How deep terms may be nested, lists and numbers aside.
const DEEPEST: usize = 3000;

/// The longest chain of digits of a number.
const DIGITS: usize = 4096;

/// The precedence of what is never put into brackets.
const TIGHTEST: u8 = 14;

/// Why there is no text.
pub(crate) enum Unreadable {
    /// The terms are no multi-action.
    Damaged(&'static str),
    /// It is too long or too deep.
    TooLong,
}

impl Unreadable {
    pub(crate) fn diagnostic(self, stream: &TermReader<'_>) -> Diagnostic {
        match self {
            Unreadable::Damaged(why) => stream.damaged(why),
            Unreadable::TooLong => {
                let message = format!("a label is longer than {} or nested too deeply", human_bytes(LONGEST as u64));
                Diagnostic::error(codes::TOO_LONG, message, stream.place())
            }
        }
    }
}

type Written = Result<(), Unreadable>;

/// The text of a multi-action, its actions by name and arguments; `tau` when it has none.
pub(crate) fn multi_action(terms: &Terms, actions: TermId, time: TermId) -> Result<String, Unreadable> {
    let actions = terms.list(actions).ok_or(Unreadable::Damaged("no list of actions"))?;
    let mut writer = Writer { terms, text: String::new(), depth: 0 };
    let (mut parts, mut length) = (Vec::new(), 0);
    for action in actions {
        let ("Action", &[name, arguments]) = terms.parts(action) else {
            return Err(Unreadable::Damaged("no action"));
        };
        let ("ActId", &[name, _]) = terms.parts(name) else {
            return Err(Unreadable::Damaged("an action without a name"));
        };
        let mut written = Vec::new();
        for argument in terms.list(arguments).ok_or(Unreadable::Damaged("no list of arguments"))? {
            writer.expression(argument)?;
            length += writer.text.len();
            if length > LONGEST {
                return Err(Unreadable::TooLong);
            }
            written.push(std::mem::take(&mut writer.text));
        }
        parts.push((terms.parts(name).0, written));
    }
    parts.sort();
    let mut text = if parts.is_empty() { "tau".to_string() } else { String::new() };
    for (at, (name, arguments)) in parts.iter().enumerate() {
        text.push_str(if at == 0 { "" } else { "|" });
        text.push_str(name);
        if !arguments.is_empty() {
            text.push('(');
            text.push_str(&arguments.join(", "));
            text.push(')');
        }
    }
    let timeless = matches!(terms.parts(time), ("DataVarId", &[name, _]) if terms.parts(name).0 == "@undefined_real");
    if !timeless {
        writer.text = text;
        writer.text.push_str(" @ ");
        let loose = writer.precedence(time) < TIGHTEST;
        writer.bracketed(time, loose)?;
        text = writer.text;
    }
    Ok(text)
}

struct Writer<'t> {
    terms: &'t Terms,
    text: String,
    depth: usize,
}

/// A data expression taken apart.
enum Shape<'t> {
    /// A function symbol or a variable without arguments.
    Name(&'t str),
    /// A named function applied to arguments.
    Call(&'t str, &'t [TermId]),
    /// Anything else.
    Other(&'t str, &'t [TermId]),
    Integer(u64),
}

impl<'t> Writer<'t> {
    fn shape(&self, term: TermId) -> Shape<'t> {
        match self.terms.get(term) {
            Term::Integer(value) => Shape::Integer(value),
            Term::Application(name, arguments) => match (name, arguments) {
                ("OpIdNoIndex" | "OpId" | "DataVarId" | "DataVarIdNoIndex", [name, ..]) => {
                    Shape::Name(self.terms.parts(*name).0)
                }
                ("DataAppl", [head, operands @ ..]) => match self.shape(*head) {
                    Shape::Name(name) => Shape::Call(name, operands),
                    _ => Shape::Other("DataAppl", arguments),
                },
                _ => Shape::Other(name, arguments),
            },
        }
    }

    fn precedence(&self, mut term: TermId) -> u8 {
        loop {
            match self.shape(term) {
                Shape::Call(cast, &[inside]) if is_cast(cast) => term = inside,
                Shape::Call("@cReal", &[whole, below]) => match self.number(below) {
                    Ok(Some(one)) if one == "1" => term = whole,
                    _ => return 11,
                },
                Shape::Call("|>" | "<|", _) if self.elements(term).is_some() => return TIGHTEST,
                Shape::Call(name, operands) => return infix(name, operands).map_or(TIGHTEST, |(tight, _)| tight),
                Shape::Other("Binder", _) => return 1,
                Shape::Other("Whr", _) => return 0,
                _ => return TIGHTEST,
            }
        }
    }

    fn bracketed(&mut self, term: TermId, brackets: bool) -> Written {
        self.text.push_str(if brackets { "(" } else { "" });
        self.expression(term)?;
        self.text.push_str(if brackets { ")" } else { "" });
        Ok(())
    }

    fn expression(&mut self, term: TermId) -> Written {
        if self.depth >= DEEPEST || self.text.len() > LONGEST {
            return Err(Unreadable::TooLong);
        }
        self.depth += 1;
        self.inside(term)?;
        self.depth -= 1;
        Ok(())
    }

    fn inside(&mut self, term: TermId) -> Written {
        if let Some(number) = self.number(term)? {
            self.text.push_str(&number);
            return Ok(());
        }
        if let Some(elements) = self.elements(term) {
            return self.sequence("[", &elements, "]");
        }
        match self.shape(term) {
            Shape::Integer(value) => self.text.push_str(&value.to_string()),
            Shape::Name("@c0") => self.text.push('0'),
            Shape::Name("@c1") => self.text.push('1'),
            Shape::Name(name) => self.text.push_str(name),
            Shape::Call(cast, &[inside]) if is_cast(cast) => self.expression(inside)?,
            Shape::Call("@setfset" | "@bagfbag", &[inside]) => self.expression(inside)?,
            Shape::Call("@cNeg", &[inside]) => {
                self.text.push('-');
                self.expression(inside)?;
            }
            Shape::Call("@cReal", &[whole, below]) => match self.number(below)? {
                Some(one) if one == "1" => self.expression(whole)?,
                _ => self.between(whole, " / ", below, 11, Some(true))?,
            },
            Shape::Call("@fset_cons" | "@fset_insert", _) => self.set(term)?,
            Shape::Call("@fbag_cons" | "@fbag_insert" | "@fbag_cinsert", _) => self.bag(term)?,
            Shape::Call("@set", &[function, part]) => match self.shape(function) {
                Shape::Name("@false_") => self.expression(part)?,
                Shape::Name("@true_") => {
                    self.text.push('!');
                    self.expression(part)?;
                }
                Shape::Other("Binder", &[_, variables, body]) if matches!(self.shape(part), Shape::Name("{}")) => {
                    self.comprehension(variables, body)?;
                }
                _ => self.application("@set", &[function, part])?,
            },
            Shape::Call("@bag", &[function, part]) => match self.shape(function) {
                Shape::Name("@zero_") => self.expression(part)?,
                _ => self.application("@bag", &[function, part])?,
            },
            Shape::Call("@func_update" | "@func_update_stable", &[function, at, value]) => {
                let brackets = matches!(self.shape(function), Shape::Other("Binder", _));
                self.bracketed(function, brackets)?;
                self.text.push('[');
                self.expression(at)?;
                self.text.push_str(" -> ");
                self.expression(value)?;
                self.text.push(']');
            }
            Shape::Call(name @ ("!" | "-" | "#"), &[inside]) => {
                self.text.push_str(name);
                let brackets = self.precedence(inside) < TIGHTEST;
                self.bracketed(inside, brackets)?;
            }
            Shape::Call(name, operands) => match (infix(name, operands), operands) {
                (Some((tight, left)), &[one, other]) => {
                    self.between(one, &format!(" {name} "), other, tight, Some(left))?;
                }
                _ => self.application(name, operands)?,
            },
            Shape::Other("DataAppl", &[head, ref operands @ ..]) => {
                let brackets = matches!(self.shape(head), Shape::Other("Binder", _));
                self.bracketed(head, brackets)?;
                self.sequence("(", operands, ")")?;
            }
            Shape::Other("Binder", &[binder, variables, body]) => {
                let word = match self.terms.parts(binder).0 {
                    "Lambda" => "lambda ",
                    "Forall" => "forall ",
                    "Exists" => "exists ",
                    _ => return self.comprehension(variables, body),
                };
                self.text.push_str(word);
                self.variables(variables)?;
                self.text.push_str(". ");
                self.expression(body)?;
            }
            Shape::Other(name, arguments) => self.application(name, arguments)?,
        }
        Ok(())
    }

    /// Two operands with an operator between them.
    fn between(&mut self, one: TermId, operator: &str, other: TermId, tight: u8, left: Option<bool>) -> Written {
        let (before, after) = (self.precedence(one), self.precedence(other));
        let brackets = before < tight || (before == tight && left != Some(true));
        self.bracketed(one, brackets)?;
        self.text.push_str(operator);
        let brackets = after < tight || (after == tight && left != Some(false));
        self.bracketed(other, brackets)
    }

    fn application(&mut self, name: &str, operands: &[TermId]) -> Written {
        self.text.push_str(name);
        if operands.is_empty() { Ok(()) } else { self.sequence("(", operands, ")") }
    }

    fn sequence(&mut self, open: &str, terms: &[TermId], close: &str) -> Written {
        self.text.push_str(open);
        for (at, &term) in terms.iter().enumerate() {
            self.text.push_str(if at == 0 { "" } else { ", " });
            let brackets = open != "(" && terms.len() > 1 && self.precedence(term) < 6;
            self.bracketed(term, brackets)?;
        }
        self.text.push_str(close);
        Ok(())
    }

    /// The elements of a list that is complete.
    fn elements(&self, mut list: TermId) -> Option<Vec<TermId>> {
        let mut elements = Vec::new();
        let (mut front, mut back) = (false, false);
        loop {
            match self.shape(list) {
                Shape::Call("|>", &[element, rest]) if !back => {
                    front = true;
                    elements.push(element);
                    list = rest;
                }
                Shape::Call("<|", &[rest, element]) if !front => {
                    back = true;
                    elements.push(element);
                    list = rest;
                }
                Shape::Name("[]") if front || back => {
                    if back {
                        elements.reverse();
                    }
                    return Some(elements);
                }
                _ => return None,
            }
        }
    }

    fn set(&mut self, mut set: TermId) -> Written {
        let mut elements = Vec::new();
        while let Shape::Call("@fset_cons" | "@fset_insert", &[element, rest]) = self.shape(set) {
            elements.push(element);
            set = rest;
        }
        if !matches!(self.shape(set), Shape::Name("{}")) {
            elements.push(set);
            self.text.push_str("@fset_cons");
        }
        self.sequence("{", &elements, "}")
    }

    fn bag(&mut self, mut bag: TermId) -> Written {
        self.text.push('{');
        let mut first = true;
        while let Shape::Call("@fbag_cons" | "@fbag_insert" | "@fbag_cinsert", &[element, count, rest]) =
            self.shape(bag)
        {
            self.text.push_str(if first { "" } else { ", " });
            first = false;
            self.expression(element)?;
            self.text.push_str(": ");
            self.expression(count)?;
            bag = rest;
        }
        if !matches!(self.shape(bag), Shape::Name("{:}")) {
            self.text.push_str("; ");
            self.expression(bag)?;
        }
        self.text.push('}');
        Ok(())
    }

    fn comprehension(&mut self, variables: TermId, body: TermId) -> Written {
        self.text.push_str("{ ");
        self.variables(variables)?;
        self.text.push_str(" | ");
        self.expression(body)?;
        self.text.push_str(" }");
        Ok(())
    }

    /// `x, y: S, z: T`, the sort once for neighbours that share it.
    fn variables(&mut self, variables: TermId) -> Written {
        let variables = self.terms.list(variables).ok_or(Unreadable::Damaged("no list of variables"))?;
        for (at, &variable) in variables.iter().enumerate() {
            let ("DataVarId" | "DataVarIdNoIndex", &[name, sort, ..]) = self.terms.parts(variable) else {
                return Err(Unreadable::Damaged("no variable"));
            };
            self.text.push_str(self.terms.parts(name).0);
            let next = variables.get(at + 1).map(|&next| self.terms.parts(next).1);
            match next {
                Some(&[_, other, ..]) if other == sort => self.text.push(','),
                _ => {
                    self.text.push_str(": ");
                    self.sort(sort)?;
                    self.text.push_str(if next.is_some() { ", " } else { "" });
                }
            }
        }
        Ok(())
    }

    fn sort(&mut self, sort: TermId) -> Written {
        if self.depth >= DEEPEST || self.text.len() > LONGEST {
            return Err(Unreadable::TooLong);
        }
        self.depth += 1;
        match self.terms.parts(sort) {
            ("SortId", &[name]) => self.text.push_str(self.terms.parts(name).0),
            ("SortCons", &[container, element]) => {
                let name = self.terms.parts(container).0;
                self.text.push_str(name.strip_prefix("Sort").unwrap_or(name));
                self.text.push('(');
                self.sort(element)?;
                self.text.push(')');
            }
            ("SortArrow", &[domain, codomain]) => {
                let domain = self.terms.list(domain).ok_or(Unreadable::Damaged("no list of sorts"))?;
                for (at, sort) in domain.into_iter().enumerate() {
                    self.text.push_str(if at == 0 { "" } else { " # " });
                    let brackets = self.terms.parts(sort).0 == "SortArrow";
                    self.text.push_str(if brackets { "(" } else { "" });
                    self.sort(sort)?;
                    self.text.push_str(if brackets { ")" } else { "" });
                }
                self.text.push_str(" -> ");
                self.sort(codomain)?;
            }
            (name, arguments) => self.application(name, arguments)?,
        }
        self.depth -= 1;
        Ok(())
    }

    /// A number that is written out, in decimal.
    fn number(&self, mut term: TermId) -> Result<Option<String>, Unreadable> {
        // From the lowest digit to the highest: what the rest is multiplied by, and what is added to it.
        let mut digits: Vec<(u128, u64)> = Vec::new();
        let mut negative = false;
        let highest = loop {
            match self.shape(term) {
                Shape::Name("@c0") => break 0,
                Shape::Name("@c1") => break 1,
                Shape::Call(cast, &[inside]) if is_cast(cast) && digits.is_empty() => term = inside,
                Shape::Call("@cNeg", &[inside]) if digits.is_empty() && !negative => {
                    negative = true;
                    term = inside;
                }
                Shape::Call("@most_significant_digit" | "@most_significant_digitNat", &[word]) => {
                    match self.word(word) {
                        Some(word) => break word,
                        None => return Ok(None),
                    }
                }
                Shape::Call("@concat_digit", &[rest, word]) => {
                    let Some(word) = self.word(word) else { return Ok(None) };
                    digits.push((1 << 64, word));
                    term = rest;
                }
                Shape::Call("@cDub", &[bit, rest]) => {
                    let bit = match self.shape(bit) {
                        Shape::Name("true") => 1,
                        Shape::Name("false") => 0,
                        _ => return Ok(None),
                    };
                    digits.push((2, bit));
                    term = rest;
                }
                _ => return Ok(None),
            }
            if digits.len() > DIGITS {
                return Err(Unreadable::TooLong);
            }
        };
        let mut number = Decimal::new(highest);
        for (factor, digit) in digits.into_iter().rev() {
            number.shift(factor, digit);
        }
        Ok(Some(format!("{}{}", if negative { "-" } else { "" }, number.text())))
    }

    fn word(&self, term: TermId) -> Option<u64> {
        match self.shape(term) {
            Shape::Integer(value) => Some(value),
            Shape::Name("@zero_word") => Some(0),
            Shape::Name("@one_word") => Some(1),
            Shape::Name("@two_word") => Some(2),
            Shape::Name("@three_word") => Some(3),
            Shape::Name("@four_word") => Some(4),
            Shape::Name("@max_word") => Some(u64::MAX),
            _ => None,
        }
    }
}

/// Functions between sorts of numbers, which are not written.
fn is_cast(name: &str) -> bool {
    matches!(name, "Pos2Nat" | "Pos2Int" | "Pos2Real" | "Nat2Int" | "Nat2Real" | "Int2Real" | "@cNat" | "@cInt")
}

/// The precedence of an operator that is written between its operands, and whether it groups to the left.
fn infix(name: &str, operands: &[TermId]) -> Option<(u8, bool)> {
    if name.starts_with("@func_update") {
        return Some((13, true));
    }
    if operands.len() != 2 {
        return None;
    }
    match name {
        "=>" => Some((2, false)),
        "||" => Some((3, false)),
        "&&" => Some((4, false)),
        "==" | "!=" => Some((5, true)),
        "<" | "<=" | ">" | ">=" | "in" => Some((6, true)),
        "|>" => Some((7, false)),
        "<|" => Some((8, true)),
        "++" => Some((9, true)),
        "+" | "-" => Some((10, true)),
        "div" | "mod" | "/" => Some((11, true)),
        "*" | "." => Some((12, true)),
        _ => None,
    }
}

/// A natural number of any size, nine decimal digits a limb, lowest first.
struct Decimal(Vec<u32>);

impl Decimal {
    const LIMB: u128 = 1_000_000_000;

    fn new(value: u64) -> Decimal {
        let mut number = Decimal(Vec::new());
        number.shift(1, value);
        number
    }

    /// Multiplies by a factor of at most 2^64 and adds a digit.
    fn shift(&mut self, factor: u128, digit: u64) {
        let mut carry = u128::from(digit);
        for limb in &mut self.0 {
            carry += u128::from(*limb) * factor;
            *limb = (carry % Decimal::LIMB) as u32;
            carry /= Decimal::LIMB;
        }
        while carry > 0 {
            self.0.push((carry % Decimal::LIMB) as u32);
            carry /= Decimal::LIMB;
        }
    }

    fn text(&self) -> String {
        let Some((highest, rest)) = self.0.split_last() else { return "0".to_string() };
        let mut text = highest.to_string();
        for limb in rest.iter().rev() {
            text.push_str(&format!("{limb:09}"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_several_words() {
        let mut number = Decimal::new(1);
        for _ in 0..100 {
            number.shift(2, 0);
        }
        assert_eq!(number.text(), (1u128 << 100).to_string());
        let mut number = Decimal::new(u64::MAX);
        number.shift(1 << 64, u64::MAX);
        assert_eq!(number.text(), u128::MAX.to_string());
        assert_eq!(Decimal::new(0).text(), "0");
    }
}
