//! Specifications: the sections of data and of processes.
//!
//! Process operators climb like data operators, and are cut off by their surroundings in the same way: the operand of
//! `sum` and of a condition is read with the tighter of its own power and the enclosing one. Two decisions need to look
//! ahead. An operand that starts like data is a condition when `->` follows it; brackets are skipped in one step. And
//! whether `c -> p` has an else decides how far `p` goes (`c -> p + q` is `(c -> p) + q`, but `c -> p + q <> r` chooses
//! between `p + q` and `r`), so arrows are matched with their `<>` before a body is read: an `<>` belongs to the
//! nearest arrow before it that has none.

use trefoil_data::syntax::token::Kind;
use trefoil_data::syntax::tree::{Identifier, Power};
use trefoil_data::syntax::{Parser, Reads, codes};
use trefoil_source::{Diagnostic, FileId, Span};

use super::tree::{ActionBag, Actions, Definition, Process, ProcessId, ProcessInfix, Section, Specification};

/// Powers of process operators.
mod power {
    use super::Power;

    pub(super) const CHOICE: Power = Power(1);
    pub(super) const SUM: Power = Power(2);
    pub(super) const PARALLEL: Power = Power(3);
    pub(super) const LEFT_MERGE: Power = Power(4);
    pub(super) const CONDITION: Power = Power(5);
    pub(super) const UNTIL: Power = Power(6);
    pub(super) const SEQUENCE: Power = Power(7);
    pub(super) const AT: Power = Power(8);
    pub(super) const MERGE: Power = Power(9);
}

/// Reads a specification, or a part of one: a file may hold data alone. There is always a tree, of what could be read.
pub fn parse(text: &str, file: FileId, diagnostics: &mut Vec<Diagnostic>) -> Specification {
    let mut reader =
        Reader { parser: Parser::new(text, file), processes: Vec::new(), places: Vec::new(), elses: Vec::new() };
    reader.match_elses();
    let mut sections = Vec::new();
    while reader.parser.peek() != Kind::End {
        let keyword = reader.parser.here();
        if let Some(section) = reader.section() {
            sections.push((section, keyword));
        }
    }
    let Reader { parser, processes, places, .. } = reader;
    let Parser { tree, broken, layout, diagnostics: mut found, .. } = parser;
    found.sort_by_key(place);
    diagnostics.append(&mut found);
    Specification { tree, sections, broken, layout, processes, places }
}

/// The order in which diagnostics of one text are listed.
fn place(diagnostic: &Diagnostic) -> u32 {
    match diagnostic.labels.first().map(|label| &label.place) {
        Some(trefoil_source::Place::Span(span)) => span.start,
        _ => 0,
    }
}

struct Reader<'a> {
    parser: Parser<'a>,
    processes: Vec<Process>,
    places: Vec<Span>,
    /// Positions of the arrows that have an else, in order.
    elses: Vec<usize>,
}

impl Reader<'_> {
    /// Finds the arrows that have an else.
    fn match_elses(&mut self) {
        // One stack for each open bracket; a bracket that closes forgets the arrows inside it.
        let mut open: Vec<Vec<usize>> = vec![Vec::new()];
        let mut position = 0;
        loop {
            match self.parser.kind_at(position) {
                Kind::End => break,
                Kind::Open | Kind::OpenSquare | Kind::OpenCurly => open.push(Vec::new()),
                Kind::Close | Kind::CloseSquare | Kind::CloseCurly if open.len() > 1 => drop(open.pop()),
                Kind::Semicolon => open = vec![Vec::new()],
                // The sorts of these variables may hold arrows of their own.
                Kind::Sum | Kind::Dist => {
                    while !matches!(self.parser.kind_at(position), Kind::Dot | Kind::Semicolon | Kind::End) {
                        position = self.parser.past_bracket(position);
                    }
                    continue;
                }
                Kind::Arrow => open.last_mut().into_iter().for_each(|arrows| arrows.push(position)),
                Kind::Else => self.elses.extend(open.last_mut().and_then(Vec::pop)),
                _ => {}
            }
            position += 1;
        }
        self.elses.sort_unstable();
    }

    fn section(&mut self) -> Option<Section> {
        if let Some(section) = self.parser.data_section() {
            return Some(Section::Data(section));
        }
        let keyword = self.parser.here();
        Some(match self.parser.peek() {
            Kind::Glob => Section::Globals(self.parser.section(|parser| {
                let start = parser.here();
                let variables = parser.variables()?;
                let end = parser.expect(Kind::Semicolon)?;
                Ok((variables, start.to(end)))
            })),
            Kind::Act => Section::Actions(self.parser.section(actions)),
            Kind::Proc => Section::Processes(self.definitions()),
            Kind::Init => {
                let start = self.parser.position();
                self.parser.advance();
                let read = self.process(Power::LOOSEST).and_then(|body| Ok((body, self.end_of_process()?)));
                match read {
                    Ok((body, end)) => Section::Init(body, keyword.to(end)),
                    Err(_) => {
                        self.parser.recover(start + 1);
                        return None;
                    }
                }
            }
            _ => {
                let start = self.parser.position();
                let message = "a declaration outside of every section".to_string();
                let help = "start a section with `sort`, `cons`, `map`, `var`, `eqn`, `glob`, `act`, `proc` or `init`";
                self.parser.report(codes::SECTION_EXPECTED, message, keyword, Some(help.to_string()));
                self.parser.advance();
                self.parser.recover(start);
                return None;
            }
        })
    }

    fn definitions(&mut self) -> Vec<Definition> {
        self.parser.advance();
        let mut definitions = Vec::new();
        while self.parser.peek() != Kind::End && !self.parser.peek().starts_section() {
            let start = self.parser.position();
            match self.definition() {
                Ok(definition) => definitions.push(definition),
                Err(_) => self.parser.recover(start),
            }
        }
        definitions
    }

    fn definition(&mut self) -> Reads<Definition> {
        let name = self.parser.name()?;
        let mut parameters = Vec::new();
        if self.parser.accept(Kind::Open) {
            parameters = self.parser.variables()?;
            self.parser.expect(Kind::Close)?;
        }
        self.parser.expect(Kind::Is)?;
        let body = self.process(Power::LOOSEST)?;
        let end = self.end_of_process()?;
        Ok(Definition { name, parameters, body, span: name.span.to(end) })
    }

    /// Reads the semicolon after a process, with a hint where the process goes on like data.
    fn end_of_process(&mut self) -> Reads<Span> {
        let comparison = matches!(
            self.parser.peek(),
            Kind::Equal
                | Kind::NotEqual
                | Kind::Less
                | Kind::LessEqual
                | Kind::Greater
                | Kind::GreaterEqual
                | Kind::And
        );
        if comparison {
            let message = format!("`{}` is no operator of processes", self.parser.next_text());
            let help = "put the condition before `->` into brackets: `(x == 1) -> p`".to_string();
            return Err(self.parser.report(codes::EXPECTED, message, self.parser.here(), Some(help)));
        }
        self.parser.expect(Kind::Semicolon)
    }

    fn add(&mut self, process: Process, start: Span) -> ProcessId {
        let id = ProcessId(self.processes.len() as u32);
        self.processes.push(process);
        self.places.push(start.to(self.parser.before()));
        id
    }

    /// Runs a reader one level deeper.
    fn nest<T>(&mut self, read: impl FnOnce(&mut Self) -> Reads<T>) -> Reads<T> {
        self.parser.deeper()?;
        let result = stacker::maybe_grow(64 * 1024, 1024 * 1024, || read(self));
        self.parser.shallower();
        result
    }

    /// Reads a process whose operators all bind at least as tightly as `least`.
    fn process(&mut self, least: Power) -> Reads<ProcessId> {
        self.nest(|reader| {
            let start = reader.parser.here();
            let mut left = reader.operand(least)?;
            loop {
                let (infix, power, to_the_right) = match reader.parser.peek() {
                    Kind::Plus => (ProcessInfix::Choice, power::CHOICE, false),
                    Kind::Or => (ProcessInfix::Parallel, power::PARALLEL, true),
                    Kind::LeftMerge => (ProcessInfix::LeftMerge, power::LEFT_MERGE, true),
                    Kind::Until => (ProcessInfix::Until, power::UNTIL, false),
                    Kind::Dot => (ProcessInfix::Sequence, power::SEQUENCE, true),
                    Kind::Bar => (ProcessInfix::Merge, power::MERGE, false),
                    Kind::At if power::AT >= least => {
                        reader.parser.advance();
                        let time = reader.parser.unit()?;
                        left = reader.add(Process::At(left, time), start);
                        continue;
                    }
                    _ => return Ok(left),
                };
                if power < least {
                    return Ok(left);
                }
                reader.parser.advance();
                let right = reader.process(if to_the_right { power } else { power.tighter() })?;
                left = reader.add(Process::Infix(infix, left, right), start);
            }
        })
    }

    fn operand(&mut self, least: Power) -> Reads<ProcessId> {
        let start = self.parser.here();
        if self.is_condition() {
            return self.condition(least);
        }
        let process = match self.parser.peek() {
            Kind::Name => self.action_or_call()?,
            Kind::Delta => self.word(Process::Delta),
            Kind::Tau => self.word(Process::Tau),
            Kind::Block => {
                let (names, body) = self.set_operator(|reader| reader.parser.name())?;
                Process::Block(names, body)
            }
            Kind::Hide => {
                let (names, body) = self.set_operator(|reader| reader.parser.name())?;
                Process::Hide(names, body)
            }
            Kind::Rename => {
                let (names, body) = self.set_operator(Reader::renaming)?;
                Process::Rename(names, body)
            }
            Kind::Allow => {
                let (bags, body) = self.set_operator(Reader::bag)?;
                Process::Allow(bags, body)
            }
            Kind::Comm => {
                let (rules, body) = self.set_operator(Reader::communication)?;
                Process::Comm(rules, body)
            }
            Kind::Sum => {
                self.parser.advance();
                let variables = self.parser.variables()?;
                self.parser.expect(Kind::Dot)?;
                let body = self.process(least.max(power::SUM))?;
                Process::Sum(variables, body)
            }
            Kind::Dist => {
                self.parser.advance();
                let variables = self.parser.variables()?;
                self.parser.expect(Kind::OpenSquare)?;
                let weight = self.parser.expression(Power::LOOSEST)?;
                self.parser.expect(Kind::CloseSquare)?;
                self.parser.expect(Kind::Dot)?;
                let body = self.process(least.max(power::SUM))?;
                Process::Dist(variables, weight, body)
            }
            Kind::Open => {
                self.parser.advance();
                let body = self.process(Power::LOOSEST)?;
                self.parser.expect(Kind::Close)?;
                Process::Brackets(body)
            }
            _ => return Err(self.parser.expected("a process")),
        };
        Ok(self.add(process, start))
    }

    fn word(&mut self, process: Process) -> Process {
        self.parser.advance();
        process
    }

    /// Whether a condition stands here: data of its simple kind, and then an arrow.
    fn is_condition(&self) -> bool {
        let mut position = self.parser.position();
        match self.parser.kind_at(position) {
            Kind::Not | Kind::Minus | Kind::Hash | Kind::Number | Kind::True | Kind::False => return true,
            Kind::Name | Kind::Open => position = self.parser.past_bracket(position),
            _ => return false,
        }
        while self.parser.kind_at(position) == Kind::Open {
            position = self.parser.past_bracket(position);
        }
        self.parser.kind_at(position) == Kind::Arrow
    }

    /// Reads `c -> p` or `c -> p <> q`.
    fn condition(&mut self, least: Power) -> Reads<ProcessId> {
        let start = self.parser.here();
        let condition = self.parser.unit()?;
        let arrow = self.parser.position();
        self.parser.expect(Kind::Arrow)?;
        let least = least.max(power::CONDITION);
        let process = if self.elses.binary_search(&arrow).is_ok() {
            let yes = self.process(Power::LOOSEST)?;
            self.parser.expect(Kind::Else)?;
            let no = self.process(least)?;
            Process::Condition(condition, yes, Some(no))
        } else {
            Process::Condition(condition, self.process(least)?, None)
        };
        Ok(self.add(process, start))
    }

    fn action_or_call(&mut self) -> Reads<Process> {
        let name = self.parser.name()?;
        if self.parser.peek() != Kind::Open {
            return Ok(Process::Action(name, self.parser.tree.add_list(&[])));
        }
        self.parser.advance();
        if self.parser.accept(Kind::Close) {
            return Ok(Process::Assign(name, Vec::new()));
        }
        if self.parser.peek() == Kind::Name && self.parser.peek_after(1) == Kind::Is {
            let assignments = self.parser.assignments()?;
            self.parser.expect(Kind::Close)?;
            return Ok(Process::Assign(name, assignments));
        }
        let mut arguments = Vec::new();
        loop {
            arguments.push(self.parser.expression(Power::LOOSEST)?);
            if !self.parser.accept(Kind::Comma) {
                break;
            }
        }
        self.parser.expect(Kind::Close)?;
        Ok(Process::Action(name, self.parser.tree.add_list(&arguments)))
    }

    /// Reads `op({…}, p)`.
    fn set_operator<T>(&mut self, element: impl Fn(&mut Self) -> Reads<T>) -> Reads<(Vec<T>, ProcessId)> {
        self.parser.advance();
        self.parser.expect(Kind::Open)?;
        self.parser.expect(Kind::OpenCurly)?;
        let mut elements = Vec::new();
        if !self.parser.accept(Kind::CloseCurly) {
            loop {
                elements.push(element(self)?);
                if !self.parser.accept(Kind::Comma) {
                    break;
                }
            }
            self.parser.expect(Kind::CloseCurly)?;
        }
        self.parser.expect(Kind::Comma)?;
        let body = self.process(Power::LOOSEST)?;
        self.parser.expect(Kind::Close)?;
        Ok((elements, body))
    }

    fn bag(&mut self) -> Reads<ActionBag> {
        if self.parser.peek() == Kind::Tau {
            let help = "`tau` passes every `allow`; leave it out".to_string();
            let message = "`tau` is no action that can be allowed or communicate".to_string();
            return Err(self.parser.report(codes::RESERVED, message, self.parser.here(), Some(help)));
        }
        let mut bag = vec![self.parser.name()?];
        while self.parser.accept(Kind::Bar) {
            bag.push(self.parser.name()?);
        }
        Ok(bag)
    }

    fn renaming(&mut self) -> Reads<(Identifier, Identifier)> {
        let from = self.parser.name()?;
        self.parser.expect(Kind::Arrow)?;
        Ok((from, self.parser.name()?))
    }

    fn communication(&mut self) -> Reads<(ActionBag, Identifier)> {
        let bag = self.bag()?;
        if self.parser.peek() == Kind::Arrow && bag.len() < 2 {
            let help = "to give one action another name use `rename`".to_string();
            let message = "a communication needs two actions or more".to_string();
            return Err(self.parser.report(codes::EXPECTED, message, bag[0].span, Some(help)));
        }
        self.parser.expect(Kind::Arrow)?;
        if self.parser.peek() == Kind::Tau {
            let help = "give the result a name and `hide` it".to_string();
            let message = "the result of a communication is an action, not `tau`".to_string();
            return Err(self.parser.report(codes::RESERVED, message, self.parser.here(), Some(help)));
        }
        Ok((bag, self.parser.name()?))
    }
}

/// Reads `a, b: S # T;`.
fn actions(parser: &mut Parser<'_>) -> Reads<Actions> {
    let names = parser.names()?;
    let sort = if parser.accept(Kind::Colon) { Some(parser.sort()?) } else { None };
    let end = parser.expect(Kind::Semicolon)?;
    let span = names[0].span.to(end);
    Ok(Actions { names, sort, span })
}
