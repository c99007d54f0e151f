//! Random linear processes with data, and their cleave into two parts by the definitions.
//!
//! Laveaux, *Accelerated verification of concurrent systems* (2024): separation tuples and the processes they induce
//! are definition 3.3.2, the composition is definition 3.3.4, the tuples come from algorithms 7 to 10 (with `FV(g|V)`
//! where algorithm 7 prints `FV(g)`, and the second `h^W` of its line 14). Everything is text of mCRL2, so that what
//! reads and explores it shares nothing with this file.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::Random;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A variable or a constant, by its name.
    Name(String),
    /// An infix operation.
    Infix(&'static str, Box<Expression>, Box<Expression>),
    /// A prefix operation or a function.
    Call(&'static str, Vec<Expression>),
}

impl Expression {
    pub(super) fn name(text: &str) -> Expression {
        Expression::Name(text.to_string())
    }

    fn names(&self, found: &mut BTreeSet<String>) {
        match self {
            Expression::Name(name) => {
                found.insert(name.clone());
            }
            Expression::Infix(_, left, right) => {
                left.names(found);
                right.names(found);
            }
            Expression::Call(_, arguments) => arguments.iter().for_each(|argument| argument.names(found)),
        }
    }

    /// The expression as mCRL2 text.
    pub fn text(&self) -> String {
        match self {
            Expression::Name(name) => name.clone(),
            Expression::Infix(operator, left, right) => format!("({} {operator} {})", left.text(), right.text()),
            Expression::Call(name, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(Expression::text).collect();
                format!("{name}({})", arguments.join(", "))
            }
        }
    }
}

/// A summand.
#[derive(Clone, Debug)]
pub struct Summand {
    /// Summed variables and their sorts.
    pub sums: Vec<(String, &'static str)>,
    /// The conjuncts of its condition.
    pub conditions: Vec<Expression>,
    /// Its actions.
    pub actions: Vec<(&'static str, Vec<Expression>)>,
    /// New values of parameters, by their places.
    pub updates: Vec<(usize, Expression)>,
}

/// A linear process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Names, sorts and initial values of its parameters.
    pub parameters: Vec<(String, &'static str, &'static str)>,
    /// Its summands.
    pub summands: Vec<Summand>,
}

/// A process in two parts, each as a specification of its own.
pub struct Cleaved {
    /// The part of the first parameters.
    pub first: String,
    /// The part of the second parameters.
    pub second: String,
    /// Both, composed again.
    pub composition: String,
}

const DATA: &str = "\
sort D = struct d1 | d2 | d3;
map next: D -> D;
eqn next(d1) = d2; next(d2) = d3; next(d3) = d1;
";

const ACTIONS: &str = "act a: D; b: Bool; c: D # Bool; t;\n";

/// A random process over Booleans and a sort of three values.
pub fn random_process(random: &mut Random) -> Process {
    let count = 3 + random.below(3);
    let parameters: Vec<(String, &'static str, &'static str)> = (0..count)
        .map(|number| match random.below(2) {
            0 => (format!("x{number}"), "Bool", ["true", "false"][random.below(2)]),
            _ => (format!("y{number}"), "D", ["d1", "d2"][random.below(2)]),
        })
        .collect();
    let summands = (0..3 + random.below(4)).map(|number| random_summand(random, &parameters, number)).collect();
    Process { parameters, summands }
}

fn random_summand(random: &mut Random, parameters: &[(String, &'static str, &'static str)], number: usize) -> Summand {
    let sums: Vec<(String, &'static str)> =
        (0..random.below(3)).map(|sum| (format!("e{number}_{sum}"), ["Bool", "D"][random.below(2)])).collect();
    // A summand looks at some of the parameters.
    let kept: Vec<usize> = (0..parameters.len()).filter(|_| random.chance(55)).collect();
    let of = |sort: &str| -> Vec<String> {
        let own = kept.iter().filter(|&&one| parameters[one].1 == sort).map(|&one| parameters[one].0.clone());
        own.chain(sums.iter().filter(|(_, one)| *one == sort).map(|(name, _)| name.clone())).collect()
    };
    let mut writer = Writer { random, booleans: of("Bool"), values: of("D") };
    let conditions = (0..writer.random.below(4)).map(|_| writer.boolean(2)).collect();
    let mut actions = Vec::new();
    for _ in 0..[1, 1, 1, 0, 2][writer.random.below(5)] {
        actions.push(match writer.random.below(4) {
            0 => ("a", vec![writer.value(1)]),
            1 => ("b", vec![writer.boolean(1)]),
            2 => ("c", vec![writer.value(1), writer.boolean(1)]),
            _ => ("t", Vec::new()),
        });
    }
    let mut updates = Vec::new();
    for (place, (_, sort, _)) in parameters.iter().enumerate() {
        if writer.random.chance(35) {
            let value = if *sort == "Bool" { writer.boolean(2) } else { writer.value(2) };
            updates.push((place, value));
        }
    }
    Summand { sums, conditions, actions, updates }
}

pub(super) struct Writer<'r> {
    pub(super) random: &'r mut Random,
    pub(super) booleans: Vec<String>,
    pub(super) values: Vec<String>,
}

impl Writer<'_> {
    pub(super) fn boolean(&mut self, depth: usize) -> Expression {
        if depth == 0 || self.random.chance(30) {
            let known = self.booleans.len();
            return match self.random.below(known + 1) {
                place if place < known => Expression::name(&self.booleans[place]),
                _ => Expression::name(["true", "false"][self.random.below(2)]),
            };
        }
        let infix = |operator, left, right| Expression::Infix(operator, Box::new(left), Box::new(right));
        match self.random.below(7) {
            0 => infix("&&", self.boolean(depth - 1), self.boolean(depth - 1)),
            1 => infix("||", self.boolean(depth - 1), self.boolean(depth - 1)),
            2 => infix("=>", self.boolean(depth - 1), self.boolean(depth - 1)),
            3 => Expression::Call("!", vec![self.boolean(depth - 1)]),
            4 => infix("==", self.boolean(depth - 1), self.boolean(depth - 1)),
            _ => infix("==", self.value(depth - 1), self.value(depth - 1)),
        }
    }

    fn value(&mut self, depth: usize) -> Expression {
        if depth == 0 || self.random.chance(30) {
            let known = self.values.len();
            return match self.random.below(known + 1) {
                place if place < known => Expression::name(&self.values[place]),
                _ => Expression::name(["d1", "d2", "d3"][self.random.below(3)]),
            };
        }
        match self.random.below(2) {
            0 => Expression::Call("next", vec![self.value(depth - 1)]),
            _ => {
                let parts = vec![self.boolean(depth - 1), self.value(depth - 1), self.value(depth - 1)];
                Expression::Call("if", parts)
            }
        }
    }
}

/// Parts of parameters that cover all of them; some are in several.
pub fn random_partition(random: &mut Random, parameters: usize, parts: usize) -> Vec<Vec<usize>> {
    let mut partition = vec![BTreeSet::new(); parts];
    for parameter in 0..parameters {
        partition[random.below(parts)].insert(parameter);
        if random.chance(20) {
            partition[random.below(parts)].insert(parameter);
        }
    }
    partition.into_iter().map(|part| part.into_iter().collect()).collect()
}

fn action_text(actions: &[(String, Vec<Expression>)]) -> String {
    if actions.is_empty() {
        return "tau".to_string();
    }
    let part = |(name, arguments): &(String, Vec<Expression>)| {
        if arguments.is_empty() {
            name.clone()
        } else {
            let arguments: Vec<String> = arguments.iter().map(Expression::text).collect();
            format!("{name}({})", arguments.join(", "))
        }
    };
    actions.iter().map(part).collect::<Vec<_>>().join("|")
}

impl Process {
    /// The process as a specification.
    pub fn text(&self) -> String {
        let all: Vec<usize> = (0..self.parameters.len()).collect();
        let mut out = format!("{DATA}{ACTIONS}");
        let summands: Vec<String> = self
            .summands
            .iter()
            .map(|summand| {
                let actions: Vec<(String, Vec<Expression>)> =
                    summand.actions.iter().map(|(name, all)| (name.to_string(), all.clone())).collect();
                self.summand_text("P", &all, &summand.sums, &summand.conditions, &actions, &summand.updates)
            })
            .collect();
        let _ = write!(out, "proc {} = {};\ninit {};\n", self.head("P", &all), body(&summands), self.start("P", &all));
        out
    }

    fn head(&self, name: &str, own: &[usize]) -> String {
        let parameters: Vec<String> =
            own.iter().map(|&one| format!("{}: {}", self.parameters[one].0, self.parameters[one].1)).collect();
        if parameters.is_empty() { name.to_string() } else { format!("{name}({})", parameters.join(", ")) }
    }

    fn start(&self, name: &str, own: &[usize]) -> String {
        let values: Vec<&str> = own.iter().map(|&one| self.parameters[one].2).collect();
        if values.is_empty() { name.to_string() } else { format!("{name}({})", values.join(", ")) }
    }

    fn summand_text(
        &self,
        name: &str,
        own: &[usize],
        sums: &[(String, &'static str)],
        conditions: &[Expression],
        actions: &[(String, Vec<Expression>)],
        updates: &[(usize, Expression)],
    ) -> String {
        let mut out = String::new();
        if !sums.is_empty() {
            let sums: Vec<String> = sums.iter().map(|(name, sort)| format!("{name}: {sort}")).collect();
            let _ = write!(out, "sum {}. ", sums.join(", "));
        }
        let condition: Vec<String> = conditions.iter().map(Expression::text).collect();
        let condition = if condition.is_empty() { "true".to_string() } else { condition.join(" && ") };
        let updates: Vec<String> = updates
            .iter()
            .filter(|(place, _)| own.contains(place))
            .map(|(place, value)| format!("{} = {}", self.parameters[*place].0, value.text()))
            .collect();
        let updates = if own.is_empty() { String::new() } else { format!("({})", updates.join(", ")) };
        let _ = write!(out, "({condition}) -> {} . {name}{updates}", action_text(actions));
        out
    }

    /// The names of the parameters with these places.
    fn names(&self, own: &[usize]) -> BTreeSet<String> {
        own.iter().map(|&one| self.parameters[one].0.clone()).collect()
    }

    /// The process in two parts.
    pub fn cleave(&self, first: &[usize], second: &[usize]) -> Cleaved {
        let own = [self.names(first), self.names(second)];
        let all: BTreeSet<String> = own[0].union(&own[1]).cloned().collect();
        let mut parts: [Vec<String>; 2] = [Vec::new(), Vec::new()];
        let (mut declared, mut communications, mut hidden) = (Vec::new(), Vec::new(), Vec::new());
        let mut allowed: BTreeSet<String> = BTreeSet::new();
        for (number, summand) in self.summands.iter().enumerate() {
            let sums: BTreeSet<String> = summand.sums.iter().map(|(name, _)| name.clone()).collect();
            let free = |expressions: &mut dyn Iterator<Item = &Expression>| {
                let mut found = BTreeSet::new();
                expressions.for_each(|one| one.names(&mut found));
                found.retain(|name| all.contains(name) || sums.contains(name));
                found
            };
            let written: BTreeSet<usize> = summand
                .updates
                .iter()
                .filter(|(place, value)| *value != Expression::name(&self.parameters[*place].0))
                .map(|(place, _)| *place)
                .collect();
            let names: Vec<&str> = summand.actions.iter().map(|(name, _)| *name).collect();
            let plain: Vec<(String, Vec<Expression>)> =
                summand.actions.iter().map(|(name, all)| (name.to_string(), all.clone())).collect();
            if !names.is_empty() {
                let mut sorted = names.clone();
                sorted.sort_unstable();
                allowed.insert(sorted.join("|"));
            }
            let sides = [first, second];
            let independent = |side: usize| {
                let arguments = summand.actions.iter().flat_map(|(_, arguments)| arguments);
                let updates =
                    summand.updates.iter().filter(|(place, _)| sides[side].contains(place)).map(|(_, value)| value);
                let used = free(&mut summand.conditions.iter().chain(arguments).chain(updates));
                used.iter().all(|name| own[side].contains(name) || sums.contains(name))
                    && written.iter().all(|place| !sides[1 - side].contains(place))
            };
            let alone: Vec<usize> = (0..2).filter(|&side| independent(side)).collect();
            if !alone.is_empty() {
                let mut tagged = plain.clone();
                tagged.push(("tag".to_string(), Vec::new()));
                let mut sorted = names.clone();
                sorted.sort_unstable();
                sorted.push("tag");
                allowed.insert(sorted.join("|"));
                for side in alone {
                    parts[side].push(self.summand_text(
                        ["PV", "PW"][side],
                        sides[side],
                        &summand.sums,
                        &summand.conditions,
                        &tagged,
                        &summand.updates,
                    ));
                }
                continue;
            }
            // Algorithm 8.
            let mut actions: [Vec<(String, Vec<Expression>)>; 2] = [Vec::new(), Vec::new()];
            for (name, arguments) in &summand.actions {
                let used = free(&mut arguments.iter());
                let fits = |side: usize| used.iter().all(|one| own[side].contains(one) || sums.contains(one));
                let side = if fits(0) && !fits(1) { 0 } else { 1 };
                actions[side].push((name.to_string(), arguments.clone()));
            }
            // Algorithm 7, line 12.
            let mut shared: BTreeSet<String> = BTreeSet::new();
            for side in 0..2 {
                let arguments = actions[side].iter().flat_map(|(_, arguments)| arguments);
                let updates =
                    summand.updates.iter().filter(|(place, _)| sides[side].contains(place)).map(|(_, value)| value);
                let used = free(&mut arguments.chain(updates));
                shared.extend(used.difference(&own[side]).cloned());
            }
            // Algorithm 9.
            let mut compared: [Vec<Expression>; 2] = [Vec::new(), Vec::new()];
            let mut sorts: Vec<&str> = Vec::new();
            let mut left = Vec::new();
            for condition in &summand.conditions {
                if let Expression::Infix("==", one, other) = condition {
                    let (mine, theirs) = (free(&mut [&**one].into_iter()), free(&mut [&**other].into_iter()));
                    let plain = !mine.is_empty() && !theirs.is_empty();
                    if plain && mine.is_subset(&own[0]) && theirs.is_subset(&own[1]) {
                        compared[0].push((**one).clone());
                        compared[1].push((**other).clone());
                        sorts.push(self.sort(one, &summand.sums));
                        continue;
                    }
                    if plain && mine.is_subset(&own[1]) && theirs.is_subset(&own[0]) {
                        compared[0].push((**other).clone());
                        compared[1].push((**one).clone());
                        sorts.push(self.sort(one, &summand.sums));
                        continue;
                    }
                }
                left.push(condition.clone());
            }
            let mut conditions: [Vec<Expression>; 2] = [Vec::new(), Vec::new()];
            for side in 0..2 {
                // Algorithm 10.
                let mut reached: BTreeSet<String> = own[side].union(&sums).cloned().collect();
                reached.extend(shared.iter().cloned());
                loop {
                    let before = reached.len();
                    for condition in &left {
                        let used = free(&mut [condition].into_iter());
                        if !used.is_disjoint(&reached) {
                            reached.extend(used);
                        }
                    }
                    if reached.len() == before {
                        break;
                    }
                }
                conditions[side] = left
                    .iter()
                    .filter(|condition| {
                        let used = free(&mut [*condition].into_iter());
                        used.is_empty() || !used.is_disjoint(&reached)
                    })
                    .cloned()
                    .collect();
            }
            for side in 0..2 {
                let used = free(&mut conditions[side].iter().chain(&compared[side]));
                shared.extend(used.difference(&own[side]).cloned());
            }
            let sort_of = |name: &String| {
                let parameter = self.parameters.iter().find(|(one, ..)| one == name).map(|(_, sort, _)| *sort);
                parameter.or_else(|| summand.sums.iter().find(|(one, _)| one == name).map(|(_, sort)| *sort))
            };
            let mut all_sorts: Vec<&str> = sorts.clone();
            all_sorts.extend(shared.iter().filter_map(sort_of));
            let domain = if all_sorts.is_empty() { String::new() } else { format!(": {}", all_sorts.join(" # ")) };
            declared.push(format!("sync{number}V, sync{number}W, sync{number}{domain};"));
            communications.push(format!("sync{number}V|sync{number}W -> sync{number}"));
            hidden.push(format!("sync{number}"));
            for side in 0..2 {
                let mut synchronised = actions[side].clone();
                let values: Vec<Expression> =
                    compared[side].iter().cloned().chain(shared.iter().map(|name| Expression::name(name))).collect();
                synchronised.push((format!("sync{number}{}", ["V", "W"][side]), values));
                let mut variables = summand.sums.clone();
                for (name, sort, _) in &self.parameters {
                    let mut used = free(
                        &mut conditions[side]
                            .iter()
                            .chain(actions[side].iter().flat_map(|(_, arguments)| arguments))
                            .chain(&compared[side]),
                    );
                    used.extend(shared.iter().cloned());
                    if !own[side].contains(name) && used.contains(name) {
                        variables.push((name.clone(), sort));
                    }
                }
                parts[side].push(self.summand_text(
                    ["PV", "PW"][side],
                    sides[side],
                    &variables,
                    &conditions[side],
                    &synchronised,
                    &summand.updates,
                ));
            }
        }
        let mut actions = format!("{ACTIONS}act tag;\n");
        for line in &declared {
            let _ = writeln!(actions, "act {line}");
        }
        let definition = |side: usize, own: &[usize]| {
            format!("proc {} = {};\n", self.head(["PV", "PW"][side], own), body(&parts[side]))
        };
        let (one, other) = (definition(0, first), definition(1, second));
        let (start, end) = (self.start("PV", first), self.start("PW", second));
        let mut process = format!("{start} || {end}");
        if !communications.is_empty() {
            process = format!("hide({{{}}}, comm({{{}}}, {process}))", hidden.join(", "), communications.join(", "));
        }
        let allowed: Vec<String> = allowed.into_iter().collect();
        process = format!("hide({{tag}}, allow({{{}}}, {process}))", allowed.join(", "));
        Cleaved {
            first: format!("{DATA}{actions}{one}init {start};\n"),
            second: format!("{DATA}{actions}{other}init {end};\n"),
            composition: format!("{DATA}{actions}{one}{other}init {process};\n"),
        }
    }

    fn sort(&self, expression: &Expression, sums: &[(String, &'static str)]) -> &'static str {
        match expression {
            Expression::Name(name) => {
                let parameter = self.parameters.iter().find(|(one, ..)| one == name).map(|(_, sort, _)| *sort);
                let sum = || sums.iter().find(|(one, _)| one == name).map(|(_, sort)| *sort);
                let constant = if name.starts_with('d') { "D" } else { "Bool" };
                parameter.or_else(sum).unwrap_or(constant)
            }
            Expression::Infix(..) | Expression::Call("!", _) => "Bool",
            Expression::Call(..) => "D",
        }
    }
}

fn body(summands: &[String]) -> String {
    if summands.is_empty() { "delta".to_string() } else { summands.join("\n  + ") }
}
