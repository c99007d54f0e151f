//! Specifications to text; the printer of `trefoil_data` says how lines are made.

use trefoil_data::syntax::Printer;
use trefoil_data::syntax::tree::{ExpressionId, Identifier};

use super::tree::{Process, ProcessId, ProcessInfix, Section, Specification};

/// The specification that was read from `text`, evenly spaced, with the user's brackets, comments and empty lines.
pub fn print(specification: &Specification, text: &str) -> String {
    let mut printer = Printer::new(&specification.tree, text, &specification.layout);
    let mut processes = Processes { specification, widths: vec![0; specification.processes.len()] };
    for (section, keyword) in &specification.sections {
        let keyword = *keyword;
        match section {
            Section::Data(section) => printer.data_section(section, keyword),
            Section::Globals(variables) => printer.variable_section("glob", keyword, variables),
            Section::Actions(actions) => {
                printer.section(
                    "act",
                    keyword,
                    actions,
                    |actions| actions.span,
                    |printer, actions| {
                        printer.names(&actions.names);
                        if let Some(sort) = actions.sort {
                            printer.put(": ");
                            printer.sort(sort);
                        }
                        printer.put(";");
                    },
                );
            }
            Section::Processes(definitions) => {
                printer.section(
                    "proc",
                    keyword,
                    definitions,
                    |definition| definition.span,
                    |printer, definition| {
                        printer.put(specification.tree.names.text(definition.name.symbol));
                        if !definition.parameters.is_empty() {
                            printer.put("(");
                            printer.indented(2, |printer| printer.variables(&definition.parameters));
                            printer.put(")");
                        }
                        printer.put(" =");
                        let width = processes.width(printer, definition.body) + 2;
                        let in_one_line = printer.fits(width, specification.span(definition.body));
                        printer.break_or_space(in_one_line);
                        printer.indented(2, |printer| processes.process(printer, definition.body));
                        printer.put(";");
                    },
                );
            }
            Section::Init(body, _) => {
                let span = specification.span(*body);
                printer.section(
                    "init",
                    keyword,
                    &[*body],
                    |_| span,
                    |printer, &body| {
                        processes.process(printer, body);
                        printer.put(";");
                    },
                );
            }
        }
    }
    printer.finish()
}

struct Processes<'a> {
    specification: &'a Specification,
    /// Widths of processes in one line, 0 for those not asked for yet.
    widths: Vec<u32>,
}

impl Processes<'_> {
    /// How wide a process is in one line.
    fn width(&mut self, printer: &mut Printer<'_>, id: ProcessId) -> usize {
        if self.widths[id.0 as usize] == 0 {
            let width = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.width_inside(printer, id));
            self.widths[id.0 as usize] = width.clamp(1, u32::MAX as usize) as u32;
        }
        self.widths[id.0 as usize] as usize
    }

    fn name_width(&self, name: &Identifier) -> usize {
        self.specification.tree.names.text(name.symbol).chars().count()
    }

    fn assignments_width(&self, printer: &mut Printer<'_>, assignments: &[(Identifier, ExpressionId)]) -> usize {
        assignments.iter().map(|(name, value)| self.name_width(name) + 5 + printer.width(*value)).sum()
    }

    fn width_inside(&mut self, printer: &mut Printer<'_>, id: ProcessId) -> usize {
        let specification = self.specification;
        match specification.process(id) {
            Process::Action(name, arguments) => {
                let arguments = specification.tree.elements(arguments);
                let inside: usize = arguments.iter().map(|&argument| printer.width(argument) + 2).sum();
                self.name_width(name) + inside
            }
            Process::Assign(name, assignments) => {
                self.name_width(name) + 2 + self.assignments_width(printer, assignments)
            }
            Process::Delta => 5,
            Process::Tau => 3,
            Process::Block(names, body) | Process::Hide(names, body) => {
                let names: usize = names.iter().map(|name| self.name_width(name) + 2).sum();
                11 + names + self.width(printer, *body)
            }
            Process::Rename(names, body) => {
                let names: usize = names.iter().map(|(from, to)| self.name_width(from) + self.name_width(to) + 6).sum();
                12 + names + self.width(printer, *body)
            }
            Process::Allow(bags, body) => {
                let bags: usize = bags.iter().flatten().map(|name| self.name_width(name) + 2).sum();
                11 + bags + self.width(printer, *body)
            }
            Process::Comm(rules, body) => {
                let rules: usize = rules
                    .iter()
                    .map(|(bag, to)| {
                        self.name_width(to) + 6 + bag.iter().map(|name| self.name_width(name) + 1).sum::<usize>()
                    })
                    .sum();
                10 + rules + self.width(printer, *body)
            }
            Process::Brackets(body) => 2 + self.width(printer, *body),
            Process::Infix(infix, left, right) => {
                self.width(printer, *left) + infix.text().len() + 2 + self.width(printer, *right)
            }
            Process::Sum(variables, body) => 6 + printer.variables_width(variables) + self.width(printer, *body),
            Process::Dist(variables, weight, body) => {
                9 + printer.variables_width(variables) + printer.width(*weight) + self.width(printer, *body)
            }
            Process::Condition(condition, yes, no) => {
                let no = no.map_or(0, |no| 4 + self.width(printer, no));
                printer.width(*condition) + 4 + self.width(printer, *yes) + no
            }
            Process::At(body, time) => self.width(printer, *body) + 1 + printer.width(*time),
        }
    }

    fn process(&mut self, printer: &mut Printer<'_>, id: ProcessId) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.process_inside(printer, id));
    }

    fn process_inside(&mut self, printer: &mut Printer<'_>, id: ProcessId) {
        let specification = self.specification;
        let tree = &specification.tree;
        let text = |name: &Identifier| tree.names.text(name.symbol);
        let span = specification.span(id);
        printer.comments_before(span.start);
        let width = self.width(printer, id);
        let in_one_line = printer.fits(width, span);
        match specification.process(id) {
            Process::Action(name, arguments) => {
                printer.put(text(name));
                if !arguments.is_empty() {
                    printer.put("(");
                    printer.indented(2, |printer| printer.list(tree.elements(arguments), in_one_line));
                    printer.close(")", span);
                }
            }
            Process::Assign(name, assignments) => {
                printer.put(text(name));
                printer.put("(");
                printer.indented(2, |printer| {
                    for (index, (name, value)) in assignments.iter().enumerate() {
                        if index > 0 {
                            printer.put(",");
                            printer.break_or_space(in_one_line);
                        }
                        printer.comments_before(name.span.start);
                        printer.put(text(name));
                        printer.put(" = ");
                        printer.expression(*value);
                    }
                });
                printer.close(")", span);
            }
            Process::Delta => printer.put("delta"),
            Process::Tau => printer.put("tau"),
            Process::Block(names, body) => {
                self.set(printer, "block", names, |name| (text(name).to_string(), name), *body, in_one_line);
            }
            Process::Hide(names, body) => {
                self.set(printer, "hide", names, |name| (text(name).to_string(), name), *body, in_one_line);
            }
            Process::Rename(names, body) => {
                let words = |pair: &(Identifier, Identifier)| format!("{} -> {}", text(&pair.0), text(&pair.1));
                self.set(printer, "rename", names, |pair| (words(pair), &pair.0), *body, in_one_line);
            }
            Process::Allow(bags, body) => {
                let bag = |bag: &Vec<Identifier>| bag.iter().map(text).collect::<Vec<_>>().join("|");
                self.set(printer, "allow", bags, |names| (bag(names), &names[0]), *body, in_one_line);
            }
            Process::Comm(rules, body) => {
                let bag = |bag: &Vec<Identifier>| bag.iter().map(text).collect::<Vec<_>>().join("|");
                let words = |rule: &(Vec<Identifier>, Identifier)| format!("{} -> {}", bag(&rule.0), text(&rule.1));
                self.set(printer, "comm", rules, |rule| (words(rule), &rule.0[0]), *body, in_one_line);
            }
            Process::Brackets(body) => {
                printer.put("(");
                printer.indented(1, |printer| self.process(printer, *body));
                printer.close(")", span);
            }
            Process::Infix(infix, ..) => self.chain(printer, *infix, id, in_one_line),
            Process::Sum(variables, body) => {
                printer.put("sum ");
                printer.variables(variables);
                printer.put(".");
                printer.break_or_space(in_one_line);
                printer.indented(2, |printer| self.process(printer, *body));
            }
            Process::Dist(variables, weight, body) => {
                printer.put("dist ");
                printer.variables(variables);
                printer.put("[");
                printer.expression(*weight);
                printer.put("].");
                printer.break_or_space(in_one_line);
                printer.indented(2, |printer| self.process(printer, *body));
            }
            Process::Condition(condition, yes, no) => {
                printer.expression(*condition);
                printer.put(" ->");
                let yes_width = self.width(printer, *yes);
                let fits = in_one_line || printer.fits(yes_width + 1, specification.span(*yes));
                printer.break_or_space(fits);
                printer.indented(2, |printer| self.process(printer, *yes));
                if let Some(no) = no {
                    printer.comments_before(specification.span(*no).start);
                    printer.break_or_space(in_one_line);
                    printer.put("<> ");
                    printer.indented(2, |printer| self.process(printer, *no));
                }
            }
            Process::At(body, time) => {
                self.process(printer, *body);
                printer.put("@");
                printer.expression(*time);
            }
        }
    }

    /// Prints `op({…}, p)`.
    fn set<'t, T>(
        &mut self,
        printer: &mut Printer<'_>,
        operator: &str,
        elements: &'t [T],
        words: impl Fn(&'t T) -> (String, &'t Identifier),
        body: ProcessId,
        in_one_line: bool,
    ) {
        printer.put(operator);
        printer.put("({");
        printer.indented(2, |printer| {
            for (index, element) in elements.iter().enumerate() {
                let (words, first) = words(element);
                if index > 0 {
                    printer.put(",");
                    let fits = printer.fits(words.chars().count() + 3, first.span);
                    printer.comments_before(first.span.start);
                    printer.break_or_space(in_one_line || fits);
                } else {
                    printer.comments_before(first.span.start);
                }
                printer.put(&words);
            }
        });
        printer.put("},");
        printer.break_or_space(in_one_line);
        printer.indented(2, |printer| self.process(printer, body));
        if !in_one_line {
            printer.line();
        }
        printer.put(")");
    }

    /// Prints operands of one operator, beneath each other when they do not fit in the line.
    fn chain(&mut self, printer: &mut Printer<'_>, infix: ProcessInfix, id: ProcessId, in_one_line: bool) {
        let specification = self.specification;
        let mut operands = Vec::new();
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            match specification.process(id) {
                Process::Infix(other, left, right) if *other == infix => {
                    pending.push(*right);
                    pending.push(*left);
                }
                _ => operands.push(id),
            }
        }
        let operator = infix.text();
        // A sequence is filled like text; the operands of the others stand beneath each other.
        let filled = matches!(infix, ProcessInfix::Sequence | ProcessInfix::Merge | ProcessInfix::Until);
        for (index, &operand) in operands.iter().enumerate() {
            let span = specification.span(operand);
            if index > 0 {
                if filled {
                    printer.put(" ");
                    printer.put(operator);
                    let width = self.width(printer, operand) + 3;
                    printer.break_or_space(in_one_line || printer.fits(width, span));
                    self.process(printer, operand);
                    continue;
                }
                printer.comments_before(span.start);
                printer.break_or_space(in_one_line);
                printer.put(operator);
                printer.put(" ");
            } else if !in_one_line && !filled {
                printer.put(&" ".repeat(operator.len() + 1));
            }
            printer.indented(if filled { 0 } else { operator.len() + 1 }, |printer| self.process(printer, operand));
        }
    }
}
