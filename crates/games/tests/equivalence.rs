//! Equivalences as games: random pairs of systems with several slots and groups are equivalent where the definition
//! says so, decided explicitly and with diagrams, with labels that are numbered apart; and classic pairs.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_games::equivalence::{EquivalenceGame, EquivalenceNotion, Exchange, LabelMap, Side};
use trefoil_games::solve::{Deciding, Player, Wanted, decide};
use trefoil_games::symbolic::{SolverChoice, SymbolicDeciding, decide_symbolically};
use trefoil_lts::equivalence::Equivalence;
use trefoil_lts::{Lts, LtsBuilder, generate};
use trefoil_system::{
    Change, Checked, Cut, Explorer, Group, GroupId, Label, LabelId, Labels, Layout, Path, Sink, Slot, SlotSet, Step,
    System, TakenStep, Value, Walk, Written,
};
use trefoil_testkit::equivalences::equivalent;
use trefoil_testkit::{Random, seed};

const NOTIONS: [(EquivalenceNotion, Equivalence); 3] = [
    (EquivalenceNotion::Strong, Equivalence::Strong),
    (EquivalenceNotion::Branching, Equivalence::Branching),
    (EquivalenceNotion::DivergenceBranching, Equivalence::DivergenceBranching),
];

/// Two counters. A group looks at one or both of them; some write one or the other.
#[derive(Clone)]
struct Counters {
    layout: Layout,
    labels: Arc<Labels>,
    groups: Vec<Group>,
    /// For each group: what it looks for in both counters, its label, and what it writes into each.
    steps: Vec<Vec<CounterStep>>,
}

#[derive(Clone)]
struct CounterStep {
    when: [Option<Value>; 2],
    label: LabelId,
    writes: [Option<Value>; 2],
}

const VALUES: Value = 3;

impl Counters {
    fn random(random: &mut Random, labels: Arc<Labels>) -> Counters {
        let tau = [20, 50, 80][random.below(3)];
        let (mut groups, mut steps) = (Vec::new(), Vec::new());
        for number in 0..1 + random.below(3) {
            // The counters that the group looks at, and those that it may write.
            let looks = [random.chance(80), random.chance(50)];
            let touches = [random.chance(70), random.chance(60)];
            let own: Vec<CounterStep> = (0..random.below(4))
                .map(|_| {
                    let mut value = |allowed: bool, percent: usize| {
                        (allowed && random.chance(percent)).then(|| random.below(VALUES as usize) as Value)
                    };
                    let when = [value(looks[0], 80), value(looks[1], 80)];
                    let writes = [value(touches[0], 70), value(touches[1], 70)];
                    let visible = labels.name(["a", "b"][random.below(2)]);
                    CounterStep { when, label: if random.chance(tau) { LabelId::TAU } else { visible }, writes }
                })
                .collect();
            let set = |of: &dyn Fn(usize) -> bool| -> SlotSet { (0..2).filter(|&slot| of(slot)).collect() };
            let always = |slot: usize| own.iter().all(|step| step.writes[slot].is_some());
            groups.push(Group {
                name: format!("group {number}"),
                guards: set(&|slot| looks[slot]),
                may_write: set(&|slot| touches[slot] && !always(slot)),
                must_write: set(&|slot| touches[slot] && always(slot)),
                ..Group::default()
            });
            steps.push(own);
        }
        let layout = Layout::new(vec![Slot::bounded("x", VALUES), Slot::bounded("y", VALUES)]);
        Counters { layout, labels, groups, steps }
    }

    /// The same system, perhaps with one step changed.
    fn relative(&self, random: &mut Random) -> Counters {
        let mut other = self.clone();
        other.groups.reverse();
        other.steps.reverse();
        let group = random.below(other.steps.len());
        let count = other.steps[group].len();
        if count > 0 && random.chance(60) {
            let step = random.below(count);
            match random.below(3) {
                0 => other.steps[group][step].label = LabelId::TAU,
                1 => drop(other.steps[group].remove(step)),
                _ => {
                    let copy = other.steps[group][step].clone();
                    other.steps[group].push(CounterStep { label: LabelId::TAU, ..copy });
                }
            }
        }
        other
    }
}

struct CountersExplorer<'a>(&'a Counters);

impl Explorer for CountersExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        for (group, steps) in self.0.steps.iter().enumerate() {
            for step in steps {
                if (0..2).any(|slot| step.when[slot].is_some_and(|value| value != row[slot])) {
                    continue;
                }
                let mut next = row.to_vec();
                let mut written: Vec<Change> = Vec::new();
                for slot in 0..2 {
                    if let Some(value) = step.writes[slot] {
                        written.push((slot as u32, row[slot]));
                        next[slot] = value;
                    }
                }
                let (group, label, written) = (GroupId(group as u32), step.label, Written::Slots(&written));
                sink(Step { group, label, row: &next, written, class: 0, agents: &[], passes: false })?;
            }
        }
        Ok(())
    }
}

impl System for Counters {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn initial(&self, _: &Control) -> Result<Vec<Value>, Cut> {
        Ok(vec![0, 0])
    }

    fn explorer<'a>(&'a self, _: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(CountersExplorer(self))
    }
}

/// The game of two systems whose labels are equal when their texts are.
fn game(notion: EquivalenceNotion, left: Arc<dyn System>, right: Arc<dyn System>) -> EquivalenceGame {
    let common = Arc::new(Labels::new());
    let map = |own: &Arc<Labels>| -> LabelMap {
        let (own, common) = (own.clone(), common.clone());
        Arc::new(move |label: LabelId| {
            Ok(if label <= LabelId::TICK { label } else { common.intern(Label::clone(own.get(label))) })
        })
    };
    let maps = [map(left.labels()), map(right.labels())];
    EquivalenceGame::new(notion, [left, right], maps, common.clone(), &Control::unlimited()).expect("no budget")
}

fn explicit(system: &dyn System, labels: &Arc<Labels>) -> Lts {
    let lts = generate(system, 1, &Control::unlimited()).unwrap_or_else(|_| panic!("no budget")).lts;
    let images: Vec<LabelId> = (0..lts.labels().len() as u32)
        .map(LabelId)
        .map(|label| if label <= LabelId::TICK { label } else { labels.intern(Label::clone(lts.labels().get(label))) })
        .collect();
    lts.relabelled(labels.clone(), &images)
}

#[test]
fn random_pairs_are_equivalent_where_the_definition_says() {
    let seed = seed();
    let control = Control::unlimited();
    let mut same = [0; 3];
    const ROUNDS: u64 = 400;
    for round in 0..ROUNDS {
        let mut random = Random::new(seed.wrapping_add(round));
        let left = Counters::random(&mut random, Arc::new(Labels::new()));
        let right = match random.below(3) {
            0 => {
                let labels = Arc::new(Labels::new());
                labels.name("b");
                Counters::random(&mut random, labels)
            }
            _ => left.relative(&mut random),
        };
        let labels = Arc::new(Labels::new());
        let (one, other) = (explicit(&left, &labels), explicit(&right, &labels));
        for (place, (notion, equivalence)) in NOTIONS.into_iter().enumerate() {
            let context = format!("TREFOIL_SEED={} {notion:?}\n{one:?}\n{other:?}", seed.wrapping_add(round));
            let expected = equivalent(&one, &other, equivalence);
            same[place] += u64::from(expected);
            let winner = if expected { Player::Even } else { Player::Odd };
            let game = game(notion, Arc::new(left.clone()), Arc::new(right.clone()));
            let checked = Checked::new(game);
            let decision = decide(&checked, &Deciding { wanted: Wanted::Winner, ..Deciding::default() }, &control);
            assert_eq!(decision.expect("no budget").winner, winner, "explicit: {context}");
            for solver in [SolverChoice::Automatic, SolverChoice::AtTheEnd] {
                let options = SymbolicDeciding { solver, threads: 1, ..SymbolicDeciding::default() };
                let decision = decide_symbolically(&checked, &options, &control).expect("no budget");
                assert_eq!(decision.winner, winner, "symbolic: {context}");
            }
        }
    }
    for (place, same) in same.into_iter().enumerate() {
        assert!(same > ROUNDS / 6 && same < ROUNDS - ROUNDS / 6, "{:?}: {same} are equivalent", NOTIONS[place]);
    }
}

/// A system whose transitions are given as text.
fn system(transitions: &[(u32, &str, u32)]) -> Arc<dyn System> {
    let labels = Arc::new(Labels::new());
    let mut builder = LtsBuilder::new(labels.clone());
    for &(from, label, to) in transitions {
        let label = if label == "tau" { LabelId::TAU } else { labels.name(label) };
        builder.add(trefoil_system::StateId(from), label, trefoil_system::StateId(to));
    }
    Arc::new(builder.build(trefoil_system::StateId(0)))
}

#[test]
fn classic_pairs() {
    // Choice after or before a step; a step in front; a divergence; a choice that internal steps make.
    let late = system(&[(0, "a", 1), (1, "b", 2), (1, "c", 3)]);
    let early = system(&[(0, "a", 1), (0, "a", 2), (1, "b", 3), (2, "c", 4)]);
    let plain = system(&[(0, "a", 1)]);
    let delayed = system(&[(0, "tau", 1), (1, "a", 2)]);
    let diverging = system(&[(0, "tau", 0), (0, "a", 1)]);
    let cycling = system(&[(0, "tau", 1), (1, "tau", 0), (1, "a", 2)]);
    let choosing = system(&[(0, "a", 1), (0, "tau", 2), (2, "b", 3)]);
    let offering = system(&[(0, "a", 1), (0, "b", 2)]);
    for (left, right, expected) in [
        (&late, &early, [false, false, false]),
        (&plain, &delayed, [false, true, true]),
        (&plain, &diverging, [false, true, false]),
        (&diverging, &cycling, [false, true, true]),
        (&delayed, &cycling, [false, true, false]),
        (&choosing, &offering, [false, false, false]),
        (&cycling, &cycling, [true, true, true]),
    ] {
        for ((notion, _), expected) in NOTIONS.into_iter().zip(expected) {
            for (left, right) in [(left, right), (right, left)] {
                let game = game(notion, left.clone(), right.clone());
                let decision =
                    decide_symbolically(&game, &SymbolicDeciding::default(), &Control::unlimited()).expect("no budget");
                assert_eq!(decision.winner == Player::Even, expected, "{notion:?}");
            }
        }
    }
}

#[test]
fn a_play_is_an_exchange_of_steps() {
    let late = system(&[(0, "a", 1), (1, "b", 2), (1, "c", 3)]);
    let early = system(&[(0, "a", 1), (0, "a", 2), (1, "b", 3), (2, "c", 4)]);
    let game = game(EquivalenceNotion::Strong, late, early);
    let options = Deciding { wanted: Wanted::Of(Player::Odd), ..Deciding::default() };
    let played = decide(&game, &options, &Control::unlimited()).expect("no budget").played.expect("Odd wins");
    let mut play = Path { start: played.vertices[0].row.clone(), steps: Vec::new() };
    let (mut at, mut groups) = (0, Vec::new());
    while let Some(taken) = played.vertices[at].moves.first() {
        groups.push(taken.group);
        at = taken.target;
        play.steps.push(TakenStep { label: taken.label, row: played.vertices[at].row.clone() });
    }
    let told: Vec<Exchange> = game.told(&play, &groups).into_iter().map(|(_, exchange)| exchange).collect();
    let label = |exchange: &Exchange| match exchange {
        Exchange::Challenge(_, label) | Exchange::Answer(_, label) => game.labels().get(*label).to_string(),
        _ => String::new(),
    };
    let labels: Vec<String> = told.iter().map(label).collect();
    assert_eq!(labels[..2], ["a", "a"], "{told:?}");
    assert!(matches!(told[..], [Exchange::Challenge(..), Exchange::Answer(..), Exchange::Challenge(Side::Left, _)]));
}
