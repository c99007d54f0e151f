//! The text of a formula to its tree.
//!
//! Recursive descent with precedence climbing, over the tokens and the data expressions of crate `data`. An operator
//! before its operand reads it with the tighter of its own power and the power that surrounds it, as everywhere in
//! mCRL2: `<true>exists j: D. A && B` is `(<true>exists j: D. A) && B`, where a textbook parser would give the
//! quantifier everything to its right.
//!
//! Regular formulas stand above action formulas, and both have brackets. What is in brackets is read as a regular
//! formula; when it is a single action formula it may be the operand of `&&`, `||`, `=>`, else only of `.`, `+`, `*`.
//! A `+` is postfix when nothing follows that a regular formula can start with.
//!
//! A text is a formula, or declarations and `form F;`. The word `form` is a name to the lexer. It is found first, and
//! the declarations and the formula are then read one after the other, each from a text in which the other one is
//! blank, so that places stay what they are.
//!
//! One notation is ours: a formula may be followed by `where X1 = f`, closed formulas with names. The formulas that
//! distinguish two systems are graphs, and exponentially larger without names for the parts that they share.
//!
//! Cost: linear in the text.

use trefoil_data::syntax::token::Kind;
use trefoil_data::syntax::tree::{ExpressionId, Identifier, Names, Power};
use trefoil_data::syntax::{Failed, Parser, Reads};
use trefoil_source::{Diagnostic, FileId, Place, Span};

use super::codes;
use super::tree::{
    ActionFormula, ActionFormulaId, Connective, DeclaredActions, Fixpoint, FormulaText, Modality, Parameter,
    Quantifier, Regular, RegularId, State, StateId,
};

/// Powers of operators on state formulas and on action formulas.
mod power {
    use super::Power;

    pub(super) const FIXPOINT: Power = Power(1);
    pub(super) const QUANTIFIER: Power = Power(2);
    pub(super) const IMPLIES: Power = Power(3);
    pub(super) const OR: Power = Power(4);
    pub(super) const AND: Power = Power(5);
    pub(super) const MODAL: Power = Power(6);
    pub(super) const NOT: Power = Power(7);
}

/// Reads a formula, with names that continue those of the model's specification. There is always a tree, of what could
/// be read.
pub fn parse(text: &str, file: FileId, names: Names, diagnostics: &mut Vec<Diagnostic>) -> FormulaText {
    let form = form_word(text);
    let (before, after) = match form {
        Some((start, end)) => (blank(text, start..text.len()), blank(text, 0..end)),
        None if starts_with_section(text) => (text.to_string(), blank(text, 0..text.len())),
        None => (String::new(), text.to_string()),
    };
    let mut declared = FormulaText::default();
    let mut parser = Parser::with_names(&before, file, names);
    while parser.peek() != Kind::End {
        declarations(&mut parser, &mut declared);
    }
    let mut found = std::mem::take(&mut parser.diagnostics);
    let tree = std::mem::take(&mut parser.tree);
    let mut reader = Reader { parser: Parser::new(&after, file), read: declared };
    reader.parser.tree = tree;
    // Unclosed brackets and wrong characters are known already; what follows from them is not reported.
    if reader.parser.diagnostics.is_empty() {
        reader.read.root = reader.whole().ok();
    }
    let Reader { parser, mut read } = reader;
    read.tree = parser.tree;
    found.extend(parser.diagnostics);
    found.sort_by_key(start_of);
    diagnostics.append(&mut found);
    read
}

/// The order in which diagnostics of one text are listed.
fn start_of(diagnostic: &Diagnostic) -> u32 {
    match diagnostic.labels.first().map(|label| &label.place) {
        Some(Place::Span(span)) => span.start,
        _ => 0,
    }
}

/// The words of a text with their places, comments left out.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'\'';
    let mut at = 0;
    std::iter::from_fn(move || {
        let bytes = text.as_bytes();
        while at < bytes.len() {
            let start = at;
            if bytes[at] == b'%' {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
            } else if is_word(bytes[at]) {
                while at < bytes.len() && is_word(bytes[at]) {
                    at += 1;
                }
                return Some((start, &text[start..at]));
            } else {
                at += 1;
            }
        }
        None
    })
}

/// Where the word `form` stands.
fn form_word(text: &str) -> Option<(usize, usize)> {
    words(text).find(|(_, word)| *word == "form").map(|(start, word)| (start, start + word.len()))
}

/// Whether a text begins with declarations.
fn starts_with_section(text: &str) -> bool {
    let sections = ["sort", "cons", "map", "var", "eqn", "act", "glob", "proc", "init"];
    words(text).next().is_some_and(|(_, word)| sections.contains(&word))
}

/// The text with spaces in a range, line ends kept.
fn blank(text: &str, range: std::ops::Range<usize>) -> String {
    let blanked: String = text[range.clone()]
        .chars()
        .flat_map(|character| {
            let with = if character == '\n' { '\n' } else { ' ' };
            std::iter::repeat_n(with, character.len_utf8())
        })
        .collect();
    format!("{}{blanked}{}", &text[..range.start], &text[range.end..])
}

/// Reads one section of declarations.
fn declarations(parser: &mut Parser<'_>, into: &mut FormulaText) {
    if let Some(section) = parser.data_section() {
        into.data.push(section);
        return;
    }
    if parser.peek() == Kind::Act {
        into.actions.extend(parser.section(|parser| {
            let names = parser.names()?;
            let sort = if parser.accept(Kind::Colon) { Some(parser.sort()?) } else { None };
            parser.expect(Kind::Semicolon)?;
            Ok(DeclaredActions { names, sort })
        }));
        return;
    }
    let start = parser.position();
    let message = "before a formula stand only declarations of data and actions".to_string();
    let help = "`sort`, `cons`, `map`, `var`, `eqn` and `act` may stand before `form`".to_string();
    parser.report(codes::DECLARATION, message, parser.here(), Some(help));
    parser.advance();
    parser.recover(start);
}

struct Reader<'a> {
    parser: Parser<'a>,
    read: FormulaText,
}

/// The hint where a modality has no steps.
const EMPTY_MODALITY: &str = "a modality names steps: `[true*]f` is `f` always, `<true*>f` is `f` some time";

impl Reader<'_> {
    fn whole(&mut self) -> Reads<StateId> {
        if self.parser.peek() == Kind::End {
            let message = "there is no formula".to_string();
            let help = "write one, such as `[true*]<true>true`; after declarations it is written `form F;`".to_string();
            return Err(self.parser.report(codes::NO_FORMULA, message, self.parser.here(), Some(help)));
        }
        let formula = self.state(Power::LOOSEST)?;
        while self.parser.peek() == Kind::Name && self.parser.next_text() == "where" {
            self.parser.advance();
            let name = self.parser.name()?;
            self.parser.expect(Kind::Is)?;
            let definition = self.state(Power::LOOSEST)?;
            self.read.definitions.push((name, definition));
        }
        self.parser.accept(Kind::Semicolon);
        match self.parser.peek() {
            Kind::End => Ok(formula),
            _ => Err(self.expected("an operator or the end of the formula")),
        }
    }

    /// Reports what stands where a formula cannot go on.
    fn expected(&mut self, wanted: &str) -> Failed {
        let here = self.parser.here();
        let (code, message, help) = match self.parser.peek() {
            Kind::Plus | Kind::Star | Kind::Minus => (
                codes::QUANTITATIVE,
                format!("`{}` between state formulas makes the formula quantitative", self.parser.next_text()),
                Some("formulas with numbers as values are not supported; a condition on data is `val(e)`".to_string()),
            ),
            Kind::At => (codes::TIME, "time is not supported".to_string(), None),
            Kind::Equal
            | Kind::NotEqual
            | Kind::LessEqual
            | Kind::GreaterEqual
            | Kind::Less
            | Kind::Greater
            | Kind::In
            | Kind::Concat
            | Kind::Div
            | Kind::Mod
            | Kind::Slash => (
                codes::NEEDS_VAL,
                format!("`{}` is an operator of data", self.parser.next_text()),
                Some(match self.parser.peek() {
                    // Words that a channel may be called.
                    Kind::In | Kind::Div | Kind::Mod => {
                        let word = self.parser.next_text();
                        format!("a condition on data is written `val(e)`, an action of the name `{word}` is `{word}_`")
                    }
                    _ => "a condition on data is written `val(e)`".to_string(),
                }),
            ),
            kind => {
                let found =
                    if kind == Kind::End { kind.text().to_string() } else { format!("`{}`", self.parser.next_text()) };
                let help = (found == "`<>`").then(|| EMPTY_MODALITY.to_string());
                (codes::EXPECTED, format!("expected {wanted}, found {found}"), help)
            }
        };
        self.parser.report(code, message, here, help)
    }

    /// Runs a reader one level deeper.
    fn nest<T>(&mut self, read: impl FnOnce(&mut Self) -> Reads<T>) -> Reads<T> {
        self.parser.deeper()?;
        let result = stacker::maybe_grow(64 * 1024, 1024 * 1024, || read(self));
        self.parser.shallower();
        result
    }

    fn add(&mut self, state: State, start: Span) -> StateId {
        let id = StateId(self.read.states.len() as u32);
        self.read.states.push((state, start.to(self.parser.before())));
        id
    }

    fn add_regular(&mut self, regular: Regular, start: Span) -> RegularId {
        let id = RegularId(self.read.regulars.len() as u32);
        self.read.regulars.push((regular, start.to(self.parser.before())));
        id
    }

    fn add_action(&mut self, formula: ActionFormula, start: Span) -> ActionFormulaId {
        let id = ActionFormulaId(self.read.action_formulas.len() as u32);
        self.read.action_formulas.push((formula, start.to(self.parser.before())));
        id
    }

    /// Reads a state formula whose operators all bind at least as tightly as `least`.
    fn state(&mut self, least: Power) -> Reads<StateId> {
        self.nest(|reader| {
            let start = reader.parser.here();
            let mut left = reader.state_operand(least)?;
            while let Some((connective, power)) = connective(reader.parser.peek()).filter(|(_, power)| *power >= least)
            {
                reader.parser.advance();
                let right = reader.state(power)?;
                left = reader.add(State::Infix(connective, left, right), start);
            }
            Ok(left)
        })
    }

    fn state_operand(&mut self, least: Power) -> Reads<StateId> {
        let start = self.parser.here();
        let state = match self.parser.peek() {
            Kind::True => {
                self.parser.advance();
                State::True
            }
            Kind::False => {
                self.parser.advance();
                State::False
            }
            Kind::Val => State::Value(self.val()?),
            Kind::Open => {
                self.parser.advance();
                let inside = self.state(Power::LOOSEST)?;
                if self.parser.peek() != Kind::Close {
                    return Err(self.expected("an operator or `)`"));
                }
                self.parser.advance();
                State::Brackets(inside)
            }
            Kind::Not => {
                self.parser.advance();
                State::Not(self.state(least.max(power::NOT))?)
            }
            Kind::Forall | Kind::Exists => {
                let (quantifier, variables) = self.quantifier()?;
                State::Quantified(quantifier, variables, self.state(least.max(power::QUANTIFIER))?)
            }
            Kind::OpenSquare => {
                self.parser.advance();
                let regular = self.regular()?;
                self.close_modality(Kind::CloseSquare)?;
                State::Modal(Modality::Must, regular, self.state(least.max(power::MODAL))?)
            }
            Kind::Less => {
                self.parser.advance();
                let regular = self.regular()?;
                self.close_modality(Kind::Greater)?;
                State::Modal(Modality::May, regular, self.state(least.max(power::MODAL))?)
            }
            Kind::Mu | Kind::Nu => self.fixpoint(least)?,
            Kind::Delay | Kind::Yaled => {
                let message = format!("`{}` is about time, which is not supported", self.parser.next_text());
                let help = Some("without time a formula cannot ask how long a state may last".to_string());
                return Err(self.parser.report(codes::TIME, message, start, help));
            }
            Kind::Sum => return Err(self.quantitative()),
            Kind::Name
                if matches!(self.parser.next_text(), "inf" | "sup") && self.parser.peek_after(1) == Kind::Name =>
            {
                return Err(self.quantitative());
            }
            Kind::Name => {
                let name = self.parser.name()?;
                let mut values = Vec::new();
                if self.parser.peek() == Kind::Open {
                    values = self.arguments()?;
                }
                State::Variable(name, values)
            }
            Kind::Number | Kind::OpenCurly => {
                let message = "data stands in a formula as `val(e)`".to_string();
                return Err(self.parser.report(codes::NEEDS_VAL, message, start, None));
            }
            _ => return Err(self.expected("a state formula")),
        };
        Ok(self.add(state, start))
    }

    fn quantitative(&mut self) -> Failed {
        let message = format!("`{}` makes the formula quantitative", self.parser.next_text());
        let help = Some("formulas with numbers as values are not supported".to_string());
        self.parser.report(codes::QUANTITATIVE, message, self.parser.here(), help)
    }

    fn close_modality(&mut self, closing: Kind) -> Reads<()> {
        if self.parser.accept(closing) {
            return Ok(());
        }
        Err(self.expected(&format!("an operator or `{}`", closing.text())))
    }

    /// Reads `val(e)`.
    fn val(&mut self) -> Reads<ExpressionId> {
        self.parser.advance();
        self.parser.expect(Kind::Open)?;
        let value = self.parser.expression(Power::LOOSEST)?;
        self.parser.expect(Kind::Close)?;
        Ok(value)
    }

    /// Reads `(e, …)`.
    fn arguments(&mut self) -> Reads<Vec<ExpressionId>> {
        self.parser.expect(Kind::Open)?;
        let mut values = Vec::new();
        if self.parser.accept(Kind::Close) {
            return Ok(values);
        }
        loop {
            values.push(self.parser.expression(Power::LOOSEST)?);
            if !self.parser.accept(Kind::Comma) {
                self.parser.expect(Kind::Close)?;
                return Ok(values);
            }
        }
    }

    fn quantifier(&mut self) -> Reads<(Quantifier, Vec<trefoil_data::syntax::tree::Variables>)> {
        let quantifier =
            if self.parser.advance().kind == Kind::Forall { Quantifier::Forall } else { Quantifier::Exists };
        let variables = self.parser.variables()?;
        self.parser.expect(Kind::Dot)?;
        Ok((quantifier, variables))
    }

    fn fixpoint(&mut self, least: Power) -> Reads<State> {
        let fixpoint = if self.parser.advance().kind == Kind::Mu { Fixpoint::Least } else { Fixpoint::Greatest };
        let name: Identifier = self.parser.name()?;
        let mut parameters = Vec::new();
        if self.parser.accept(Kind::Open) {
            loop {
                let name = self.parser.name()?;
                self.parser.expect(Kind::Colon)?;
                let sort = self.parser.sort()?;
                self.parser.expect(Kind::Is)?;
                let value = self.parser.expression(Power::LOOSEST)?;
                parameters.push(Parameter { name, sort, value });
                if !self.parser.accept(Kind::Comma) {
                    break;
                }
            }
            self.parser.expect(Kind::Close)?;
        }
        self.parser.expect(Kind::Dot)?;
        let body = self.state(least.max(power::FIXPOINT))?;
        Ok(State::Fixpoint(fixpoint, name, parameters, body))
    }

    /// Reads a regular formula: choices of sequences of repeated steps.
    fn regular(&mut self) -> Reads<RegularId> {
        self.nest(|reader| {
            let start = reader.parser.here();
            let mut left = reader.sequence()?;
            while reader.parser.peek() == Kind::Plus {
                reader.parser.advance();
                let right = reader.sequence()?;
                left = reader.add_regular(Regular::Choice(left, right), start);
            }
            Ok(left)
        })
    }

    fn sequence(&mut self) -> Reads<RegularId> {
        self.nest(|reader| {
            let start = reader.parser.here();
            let first = reader.repeated()?;
            if !reader.parser.accept(Kind::Dot) {
                return Ok(first);
            }
            let rest = reader.sequence()?;
            Ok(reader.add_regular(Regular::Sequence(first, rest), start))
        })
    }

    fn repeated(&mut self) -> Reads<RegularId> {
        let start = self.parser.here();
        let mut inside = self.regular_operand()?;
        loop {
            let repeated = match self.parser.peek() {
                Kind::Star => Regular::Star(inside),
                Kind::Plus if !starts_regular(self.parser.peek_after(1)) => Regular::Plus(inside),
                _ => return Ok(inside),
            };
            self.parser.advance();
            inside = self.add_regular(repeated, start);
        }
    }

    fn regular_operand(&mut self) -> Reads<RegularId> {
        let start = self.parser.here();
        if self.parser.peek() != Kind::Open {
            let formula = self.action_formula(Power::LOOSEST)?;
            return Ok(self.add_regular(Regular::Action(formula), start));
        }
        self.parser.advance();
        let inside = self.regular()?;
        if self.parser.peek() != Kind::Close {
            return Err(self.expected("an operator or `)`"));
        }
        self.parser.advance();
        let Regular::Action(formula) = *self.read.regular(inside) else {
            return Ok(self.add_regular(Regular::Brackets(inside), start));
        };
        let formula = self.add_action(ActionFormula::Brackets(formula), start);
        let formula = self.action_operators(formula, start, Power::LOOSEST)?;
        Ok(self.add_regular(Regular::Action(formula), start))
    }

    /// Reads an action formula whose operators all bind at least as tightly as `least`.
    fn action_formula(&mut self, least: Power) -> Reads<ActionFormulaId> {
        self.nest(|reader| {
            let start = reader.parser.here();
            let left = reader.action_operand(least)?;
            reader.action_operators(left, start, least)
        })
    }

    fn action_operators(&mut self, left: ActionFormulaId, start: Span, least: Power) -> Reads<ActionFormulaId> {
        let mut left = left;
        loop {
            if self.parser.peek() == Kind::At {
                let message = "the time of an action is not supported".to_string();
                return Err(self.parser.report(codes::TIME, message, self.parser.here(), None));
            }
            let Some((connective, power)) = connective(self.parser.peek()).filter(|(_, power)| *power >= least) else {
                return Ok(left);
            };
            self.parser.advance();
            let right = self.action_formula(power)?;
            left = self.add_action(ActionFormula::Infix(connective, left, right), start);
        }
    }

    fn action_operand(&mut self, least: Power) -> Reads<ActionFormulaId> {
        let start = self.parser.here();
        let formula = match self.parser.peek() {
            Kind::True => {
                self.parser.advance();
                ActionFormula::True
            }
            Kind::False => {
                self.parser.advance();
                ActionFormula::False
            }
            Kind::Val => ActionFormula::Value(self.val()?),
            Kind::Open => {
                self.parser.advance();
                let inside = self.action_formula(Power::LOOSEST)?;
                if self.parser.peek() != Kind::Close {
                    return Err(self.expected("an operator or `)`"));
                }
                self.parser.advance();
                ActionFormula::Brackets(inside)
            }
            Kind::Not => {
                self.parser.advance();
                ActionFormula::Not(self.action_formula(least.max(power::NOT))?)
            }
            Kind::Forall | Kind::Exists => {
                let (quantifier, variables) = self.quantifier()?;
                ActionFormula::Quantified(quantifier, variables, self.action_formula(least.max(power::QUANTIFIER))?)
            }
            Kind::Tau | Kind::Name => self.multi_action()?,
            Kind::Number | Kind::CloseSquare | Kind::Greater => {
                let message = format!("expected an action formula, found `{}`", self.parser.next_text());
                let help = match self.parser.peek() {
                    Kind::Number => "arguments stand in brackets, `a(0)`; a dot puts one step after another",
                    _ => EMPTY_MODALITY,
                };
                return Err(self.parser.report(codes::EXPECTED, message, start, Some(help.to_string())));
            }
            _ => return Err(self.expected("an action formula")),
        };
        Ok(self.add_action(formula, start))
    }

    /// Reads `a(e)|b|tau`.
    fn multi_action(&mut self) -> Reads<ActionFormula> {
        let mut parts = Vec::new();
        loop {
            if !self.parser.accept(Kind::Tau) {
                let name = self.parser.name()?;
                let values = if self.parser.peek() == Kind::Open { self.arguments()? } else { Vec::new() };
                parts.push((name, values));
            }
            if !self.parser.accept(Kind::Bar) {
                return Ok(ActionFormula::Multi(parts));
            }
        }
    }
}

fn connective(kind: Kind) -> Option<(Connective, Power)> {
    match kind {
        Kind::Implies => Some((Connective::Implies, power::IMPLIES)),
        Kind::Or => Some((Connective::Or, power::OR)),
        Kind::And => Some((Connective::And, power::AND)),
        _ => None,
    }
}

/// Whether a regular formula can start with such a token.
fn starts_regular(kind: Kind) -> bool {
    use Kind::{Exists, False, Forall, Name, Not, Open, Tau, True, Val};
    matches!(kind, Exists | False | Forall | Name | Not | Open | Tau | True | Val)
}
