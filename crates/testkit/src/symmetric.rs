//! Random systems on which a group acts: interchangeable processes that hold each other's names.
//!
//! Each of `n` processes, the points, has a control state and a variable that holds nothing or the name of a process;
//! there is one shared variable of the same kind. A rule moves a process `x`, sometimes together with another one `y`,
//! and can refer only to `x`, `y`, the values of their variables and of the shared one, and whether names are equal; so
//! every permutation of the processes carries steps to steps. Labels name the rule and perhaps `x` or `y`. The group is
//! any group of permutations of the processes.
//!
//! Everything here is written down directly: a row is permuted by permuting names, and the picture has a coloured
//! vertex for each process and edges for the variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_system::{
    Action, Actor, Cut, Explorer, Group, GroupId, Label, LabelId, Labels, Layout, Mark, MarkId, Meaning, Picture, Sink,
    Slot, SlotSet, StateId, Step, System, Value, Walk,
};

use crate::Random;

/// What a variable must hold, seen from a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Anything.
    Any,
    /// Nothing.
    Nothing,
    /// The process itself.
    Own,
    /// Another process.
    Other,
}

/// Which process takes part besides the one that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partner {
    /// None.
    Nobody,
    /// Any other process in this control state.
    In(Value),
    /// The other process that its variable names.
    Named,
    /// The next one around a ring: only rotations carry such steps to steps.
    Next,
}

/// A proposition about a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Some process is in this control state.
    Somewhere(Value),
    /// This process is in this control state: only elements that fix it keep the proposition.
    At(usize, Value),
    /// The shared variable holds a process.
    Shared,
}

/// What a variable holds afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// What it held.
    Kept,
    /// Nothing.
    Nothing,
    /// The process that moves.
    Own,
    /// Its partner; what it held when there is none.
    Partner,
    /// What the shared variable held.
    Shared,
}

/// What a step shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Nothing.
    Internal,
    /// This event.
    Event(usize),
    /// This event and the process.
    EventOwn(usize),
    /// This event and the partner; the process when there is none.
    EventPartner(usize),
}

/// A rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The control state of the process.
    pub from: Value,
    /// What its variable holds.
    pub variable: Held,
    /// What the shared variable holds.
    pub shared: Held,
    /// Which process takes part.
    pub partner: Partner,
    /// The next control state.
    pub to: Value,
    /// The next control state of the partner, if it changes.
    pub partner_to: Option<Value>,
    /// The variable afterwards.
    pub next_variable: Source,
    /// The shared variable afterwards.
    pub next_shared: Source,
    /// The label.
    pub shown: Shown,
}

/// How a random system looks.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Processes.
    pub processes: usize,
    /// Control states.
    pub controls: Value,
    /// Rules.
    pub rules: usize,
    /// Events.
    pub events: usize,
    /// How many of a hundred steps are internal.
    pub internal_percent: usize,
}

/// Interchangeable processes with the group that exchanges them.
pub struct Processes {
    labels: Arc<Labels>,
    layout: Layout,
    groups: Vec<Group>,
    /// The processes.
    pub count: usize,
    /// What they can do.
    pub rules: Vec<Rule>,
    /// What a mark shows of a state, a bit each.
    seen: Vec<Seen>,
    /// The rules whose steps pass what counts for claims ([`Step::passes`]), a bit each.
    passing: u64,
    marks: Vec<Mark>,
    generators: Vec<Vec<u32>>,
    /// For each event, itself and it with each process.
    events: Vec<(LabelId, Vec<LabelId>)>,
    place: BTreeMap<LabelId, (usize, usize)>,
}

/// A random rule.
pub fn random_rule(shape: Shape, random: &mut Random) -> Rule {
    let held = |random: &mut Random| [Held::Any, Held::Any, Held::Nothing, Held::Own, Held::Other][random.below(5)];
    let source = |random: &mut Random| {
        [Source::Kept, Source::Kept, Source::Nothing, Source::Own, Source::Partner, Source::Shared][random.below(6)]
    };
    let control = |random: &mut Random| random.below(shape.controls as usize) as Value;
    let event = random.below(shape.events);
    Rule {
        from: control(random),
        variable: held(random),
        shared: held(random),
        partner: [Partner::Nobody, Partner::Nobody, Partner::In(control(random)), Partner::Named][random.below(4)],
        to: control(random),
        partner_to: random.chance(40).then(|| control(random)),
        next_variable: source(random),
        next_shared: source(random),
        shown: if random.chance(shape.internal_percent) {
            Shown::Internal
        } else {
            [Shown::Event(event), Shown::EventOwn(event), Shown::EventPartner(event)][random.below(3)]
        },
    }
}

impl Processes {
    /// Processes with these rules, under the group that these permutations generate.
    pub fn new(labels: &Arc<Labels>, shape: Shape, rules: Vec<Rule>, generators: Vec<Vec<u32>>) -> Processes {
        let count = shape.processes;
        let mut slots = Vec::new();
        for process in 0..count {
            slots.push(Slot::bounded(format!("control {process}"), shape.controls));
            slots.push(Slot::bounded(format!("variable {process}"), count as u32 + 1));
        }
        slots.push(Slot::bounded("shared", count as u32 + 1));
        let all: SlotSet = (0..slots.len()).collect();
        let group = Group { name: "steps".into(), guards: all.clone(), may_write: all, ..Group::default() };
        let mut events = Vec::new();
        let mut place = BTreeMap::new();
        for event in 0..shape.events {
            let name = format!("e{event}");
            let of = |process: usize| labels.intern(Label::of(name.as_str(), [process.to_string().into()]));
            let own: Vec<LabelId> = (0..count).map(of).collect();
            own.iter().enumerate().for_each(|(process, &label)| {
                place.insert(label, (event, process));
            });
            events.push((labels.name(&name), own));
        }
        Processes {
            labels: labels.clone(),
            layout: Layout::new(slots),
            groups: vec![group],
            count,
            rules,
            seen: Vec::new(),
            passing: 0,
            marks: Vec::new(),
            generators,
            events,
            place,
        }
    }

    /// The same with a mark that shows these propositions.
    pub fn seeing(mut self, seen: Vec<Seen>) -> Processes {
        let reads: SlotSet = (0..self.layout.width()).collect();
        self.marks = vec![Mark { meaning: Meaning::Proposition, reads, values: Value::MAX }];
        self.seen = seen;
        self
    }

    /// The same where the steps of some rules, a bit each, pass what counts for claims.
    pub fn passing(self, passing: u64) -> Processes {
        Processes { passing, ..self }
    }

    /// A random one.
    pub fn random(labels: &Arc<Labels>, shape: Shape, generators: Vec<Vec<u32>>, random: &mut Random) -> Processes {
        let mut rules: Vec<Rule> = (0..shape.rules).map(|_| random_rule(shape, random)).collect();
        // Some step is possible at the start.
        rules[0] = Rule { from: 0, variable: Held::Any, shared: Held::Any, partner: Partner::Nobody, ..rules[0] };
        Processes::new(labels, shape, rules, generators)
    }

    /// All of it, as an explicit system; `None` when it has more states than `most`.
    pub fn explore(&self, most: usize) -> Option<Lts> {
        let control = Control::unlimited();
        let mut rows = vec![self.initial(&control).expect("nothing stops it")];
        let mut numbers: BTreeMap<Vec<Value>, u32> = BTreeMap::from([(rows[0].clone(), 0)]);
        let mut builder = LtsBuilder::new(self.labels.clone());
        let mut explorer = self.explorer(&control);
        let mut at = 0;
        while at < rows.len() {
            if rows.len() > most {
                return None;
            }
            let row = rows[at].clone();
            let walk = explorer.successors(&row, &mut |step| {
                let next = *numbers.entry(step.row.to_vec()).or_insert_with(|| {
                    rows.push(step.row.to_vec());
                    rows.len() as u32 - 1
                });
                builder.add(StateId(at as u32), step.label, StateId(next));
                Ok(())
            });
            walk.expect("nothing stops it");
            at += 1;
        }
        builder.at_least(rows.len() as u32);
        Some(builder.build(StateId(0)))
    }

    /// What a permutation of the processes makes of a label.
    pub fn permuted_label(&self, element: &[u32], label: LabelId) -> LabelId {
        match self.place.get(&label) {
            Some(&(event, process)) => self.events[event].1[element[process] as usize],
            None => label,
        }
    }

    fn step(&self, rule: &Rule, row: &[Value], own: usize, partner: Option<usize>) -> (LabelId, Vec<Value>) {
        let mut next = row.to_vec();
        let shared = row[2 * self.count];
        let value = |source: Source, held: Value| match source {
            Source::Kept => held,
            Source::Nothing => 0,
            Source::Own => own as Value + 1,
            Source::Partner => partner.map_or(held, |partner| partner as Value + 1),
            Source::Shared => shared,
        };
        next[2 * own] = rule.to;
        next[2 * own + 1] = value(rule.next_variable, row[2 * own + 1]);
        next[2 * self.count] = value(rule.next_shared, shared);
        if let (Some(partner), Some(to)) = (partner, rule.partner_to) {
            next[2 * partner] = to;
        }
        let label = match rule.shown {
            Shown::Internal => LabelId::TAU,
            Shown::Event(event) => self.events[event].0,
            Shown::EventOwn(event) => self.events[event].1[own],
            Shown::EventPartner(event) => self.events[event].1[partner.unwrap_or(own)],
        };
        (label, next)
    }
}

impl System for Processes {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn initial(&self, _: &Control) -> Result<Vec<Value>, Cut> {
        Ok(vec![0; self.layout.width()])
    }

    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(ProcessesExplorer { system: self, control })
    }

    fn action(&self) -> Option<&dyn Action> {
        Some(self)
    }
}

struct ProcessesExplorer<'a> {
    system: &'a Processes,
    control: &'a Control,
}

impl Explorer for ProcessesExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        let system = self.system;
        let holds = |held: Held, own: usize, value: Value| match held {
            Held::Any => true,
            Held::Nothing => value == 0,
            Held::Own => value == own as Value + 1,
            Held::Other => value != 0 && value != own as Value + 1,
        };
        for (number, rule) in system.rules.iter().enumerate() {
            self.control.check()?;
            for own in 0..system.count {
                let (variable, shared) = (row[2 * own + 1], row[2 * system.count]);
                if row[2 * own] != rule.from || !holds(rule.variable, own, variable) || !holds(rule.shared, own, shared)
                {
                    continue;
                }
                let partners: Vec<Option<usize>> = match rule.partner {
                    Partner::Nobody => vec![None],
                    Partner::In(control) => {
                        (0..system.count).filter(|&other| other != own && row[2 * other] == control).map(Some).collect()
                    }
                    Partner::Named if variable != 0 && variable != own as Value + 1 => {
                        vec![Some(variable as usize - 1)]
                    }
                    Partner::Named => vec![],
                    Partner::Next => vec![Some((own + 1) % system.count)],
                };
                for partner in partners {
                    let (label, next) = system.step(rule, row, own, partner);
                    let agents: Vec<u32> =
                        [Some(own), partner].into_iter().flatten().map(|process| process as u32).collect();
                    let passes = system.passing >> number & 1 == 1;
                    sink(Step { agents: &agents, passes, ..Step::of_group(GroupId(0), label, &next) })?;
                }
            }
        }
        Ok(())
    }

    fn mark(&mut self, _: MarkId, reads: &[Value]) -> Result<Value, Cut> {
        let count = self.system.count;
        let holds = |seen: &Seen| match *seen {
            Seen::Somewhere(control) => (0..count).any(|process| reads[2 * process] == control),
            Seen::At(process, control) => reads[2 * process] == control,
            Seen::Shared => reads[2 * count] != 0,
        };
        Ok((0..).zip(&self.system.seen).fold(0, |all, (at, seen)| all | u32::from(holds(seen)) << at))
    }
}

impl Action for Processes {
    fn points(&self) -> usize {
        self.count
    }

    fn agents(&self) -> usize {
        self.count
    }

    fn generators(&self) -> &[Vec<u32>] {
        &self.generators
    }

    fn actor<'a>(&'a self, _: &'a Control) -> Box<dyn Actor + 'a> {
        Box::new(ProcessesActor(self))
    }
}

struct ProcessesActor<'a>(&'a Processes);

impl Actor for ProcessesActor<'_> {
    fn picture(&mut self, row: &[Value], picture: &mut Picture) {
        let slots: Vec<u32> = (0..row.len() as u32).collect();
        self.draw_slots(row, &slots, picture);
    }

    fn draw_slots(&mut self, row: &[Value], slots: &[u32], picture: &mut Picture) -> bool {
        let count = self.0.count;
        picture.clear(count);
        for &slot in slots {
            let (process, value) = (slot / 2, row[slot as usize]);
            if slot as usize == 2 * count {
                if value != 0 {
                    let shared = picture.add_vertex(1000);
                    picture.add_edge(shared, value - 1, 1);
                }
            } else if slot % 2 == 0 {
                picture.add_to_colour(process, value);
            } else if value != 0 {
                picture.add_edge(process, value - 1, 0);
            }
        }
        true
    }

    fn apply(&mut self, element: &[u32], row: &[Value], into: &mut [Value]) -> Walk {
        let count = self.0.count;
        let renamed = |value: Value| if value == 0 { 0 } else { element[value as usize - 1] + 1 };
        for process in 0..count {
            let image = element[process] as usize;
            into[2 * image] = row[2 * process];
            into[2 * image + 1] = renamed(row[2 * process + 1]);
        }
        into[2 * count] = renamed(row[2 * count]);
        Ok(())
    }

    fn references(&mut self, slot: usize, value: Value, points: &mut Vec<u32>) -> bool {
        let count = self.0.count;
        if slot < 2 * count {
            points.push(slot as u32 / 2);
        }
        if (slot == 2 * count || slot % 2 == 1) && value != 0 {
            points.push(value - 1);
        }
        true
    }

    fn apply_to_slot(&mut self, element: &[u32], slot: usize, value: Value) -> Result<(usize, Value), Cut> {
        let count = self.0.count;
        let to = if slot == 2 * count { slot } else { 2 * element[slot / 2] as usize + slot % 2 };
        let names = slot == 2 * count || slot % 2 == 1;
        Ok((to, if names && value != 0 { element[value as usize - 1] + 1 } else { value }))
    }

    fn apply_to_label(&mut self, element: &[u32], label: LabelId) -> LabelId {
        self.0.permuted_label(element, label)
    }

    fn apply_to_agent(&mut self, element: &[u32], agent: u32) -> u32 {
        element[agent as usize]
    }
}

/// Generators of some group of permutations of this many points: all of them, those of two parts, rotations, or an
/// exchange.
pub fn random_generators(points: usize, random: &mut Random) -> Vec<Vec<u32>> {
    let identity: Vec<u32> = (0..points as u32).collect();
    let exchanged = |one: usize, other: usize| {
        let mut images = identity.clone();
        images.swap(one, other);
        images
    };
    let rotated = || identity.iter().map(|&point| (point + 1) % points as u32).collect::<Vec<u32>>();
    match random.below(5) {
        0 | 1 => vec![exchanged(0, 1), rotated()],
        2 => vec![rotated()],
        3 => (1..points - 1).map(|point| exchanged(point, point + 1)).collect(),
        _ => vec![exchanged(0, points - 1)],
    }
}

/// A specification with at most 300 states and an implementation, of at most 600, that has most of its rules, or some
/// more.
pub fn random_pair(random: &mut Random) -> Option<(Lts, Processes)> {
    let shape = Shape {
        processes: 2 + random.below(3),
        controls: 2 + random.below(2) as u32,
        rules: 3 + random.below(3),
        events: 2,
        internal_percent: [0, 20, 50][random.below(3)],
    };
    let labels = Arc::new(Labels::new());
    let generators = random_generators(shape.processes.max(2), random);
    let specification = Processes::random(&labels, shape, generators.clone(), random);
    let mut rules: Vec<Rule> = specification.rules.clone();
    match random.below(8) {
        0 => {}
        1 | 2 => {
            let place = random.below(rules.len());
            rules[place] = Rule { shown: Shown::Internal, ..rules[place] };
        }
        3 => {
            let place = random.below(rules.len());
            rules.push(Rule { shown: Shown::Internal, to: rules[place].from, ..rules[place] });
        }
        4 => {
            rules.swap_remove(1 + random.below(rules.len() - 1));
        }
        5 | 6 => rules.push(random_rule(shape, random)),
        _ => {
            let place = 1 + random.below(rules.len() - 1);
            rules[place] = Rule { shown: rules[0].shown, ..rules[place] };
        }
    }
    let implementation = Processes::new(&labels, shape, rules, generators);
    implementation.explore(600)?;
    Some((specification.explore(300)?, implementation))
}
