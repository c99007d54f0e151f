//! Claims on quotients against the same claims on whole systems: random processes that a group exchanges, under each
//! kind of fairness, with strategies that give one representative and with such that give several. Lassos are replayed
//! on the whole systems.

use std::collections::BTreeMap;
use std::sync::Arc;

use trefoil_check::{Offered, Posed, Reduces, Reduction, Row, Table};
use trefoil_control::Control;
use trefoil_questions::{
    Answer, Asked, ErrorKinds, Evidence, Explored, Facts, Fairness, Found, Question, Recur, Says, SymmetryUse,
    TemporalClaim,
};
use trefoil_system::{Automaton, AutomatonEdge, Cube, Labels, System};
use trefoil_temporal::TemporalEngine;
use trefoil_testkit::symmetric::{Held, Partner, Processes, Rule, Seen, Shape, Shown, Source, random_rule};
use trefoil_testkit::temporal::random_automaton;
use trefoil_testkit::{Random, seed};

/// How many systems are compared; more with `TREFOIL_TEMPORAL_SYSTEMS`.
fn systems() -> usize {
    std::env::var("TREFOIL_TEMPORAL_SYSTEMS").ok().and_then(|text| text.parse().ok()).unwrap_or(600)
}

struct Exchanged(Arc<Processes>);

impl Reduction for Exchanged {
    fn system(&self) -> &dyn System {
        &*self.0
    }
}

const STRATEGIES: [&str; 6] = ["auto", "canonical", "ordering", "sorted", "hillclimbing", "fast"];

/// The length of the cycle of a lasso.
fn cycle(evidence: &Evidence) -> usize {
    if let Evidence::Lasso { cycle, .. } = evidence { cycle.len() } else { 0 }
}

/// An engine that pauses after a few states.
static PAUSING: TemporalEngine = TemporalEngine::pausing_after(3);

fn answer(processes: &Arc<Processes>, recur: Recur<'_>, strategy: Option<&'static str>, threads: usize) -> Answer {
    answer_by(Table::standard(), processes, recur, strategy, threads)
}

fn answer_by(
    table: &Table,
    processes: &Arc<Processes>,
    recur: Recur<'_>,
    strategy: Option<&'static str>,
    threads: usize,
) -> Answer {
    let control = Control::unlimited();
    let symmetry = if strategy.is_some() { SymmetryUse::Automatic } else { SymmetryUse::Off };
    let asked = Asked { strategy, symmetry: Some(symmetry), ..Asked::default() };
    let facts = Facts::of(&**processes);
    let posed = Posed::new(table, Question::Recur(recur), &facts, &asked, threads, &control);
    let reduction = Exchanged(processes.clone());
    let reduction = strategy.is_some().then_some(&reduction as &dyn Reduction);
    let offered = Offered { system: processes.clone(), reduction, insisted: false };
    let Ok(posed) = posed else { panic!("no engine takes claims") };
    posed.answer(&offered, &control).expect("nothing stops it")
}

/// A group on some processes, what is watched that it keeps, and whether it has only rotations.
fn random_group(count: usize, random: &mut Random) -> (Vec<Vec<u32>>, Vec<Seen>, bool) {
    let identity: Vec<u32> = (0..count as u32).collect();
    let exchanged = |one: usize, other: usize| {
        let mut images = identity.clone();
        images.swap(one, other);
        images
    };
    let rotation: Vec<u32> = identity.iter().map(|&point| (point + 1) % count as u32).collect();
    let everywhere = vec![Seen::Somewhere(1), if random.chance(50) { Seen::Shared } else { Seen::Somewhere(0) }];
    match random.below(3) {
        0 => ((1..count).map(|point| exchanged(point - 1, point)).collect(), everywhere, false),
        1 => (vec![rotation], everywhere, true),
        _ => {
            let others = (2..count).map(|point| exchanged(point - 1, point)).collect();
            (others, vec![Seen::At(0, 1), Seen::At(0, 0)], false)
        }
    }
}

/// Accepts runs on which something holds forever from some moment on, as it does when a process starves.
fn stays(letters: Cube) -> Automaton {
    let edge = |letters, marks, target| AutomatonEdge { letters, marks, target };
    let edges = vec![vec![edge(Cube::ALL, 0, 0), edge(letters, 0, 1)], vec![edge(letters, 1, 1)]];
    Automaton { edges, initial: vec![0], marks: 1, end: None }
}

#[test]
fn quotients_have_the_verdicts_of_whole_systems() {
    let seed = seed();
    let mut random = Random::new(seed);
    let (mut holding, mut failing, mut smaller, mut proper) = (0, 0, 0, 0);
    let mut told: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    let pausing = Table::standard().clone().with(Row { engine: &PAUSING, reductions: &[Reduces::Symmetry] });
    let (mut cycles, mut folded_cycles) = (0, 0);
    for round in 0..systems() {
        let shape = Shape {
            processes: 2 + random.below(3),
            controls: 2 + random.below(2) as u32,
            rules: 2 + random.below(3),
            events: 2,
            internal_percent: 50,
        };
        let (generators, seen, is_ring) = random_group(shape.processes, &mut random);
        let mut rules: Vec<Rule> = (0..shape.rules).map(|_| random_rule(shape, &mut random)).collect();
        for rule in &mut rules {
            if is_ring && random.chance(50) {
                rule.partner = Partner::Next;
            }
        }
        rules[0] = Rule { from: 0, partner: Partner::Nobody, ..rules[0] };
        let labels = Arc::new(Labels::new());
        let processes = Processes::new(&labels, shape, rules, generators).seeing(seen).passing(random.bits());
        if processes.explore(400).is_none() {
            continue;
        }
        let processes = Arc::new(processes);
        let stutters = random.chance(50);
        let claims: Vec<TemporalClaim> = (0..2)
            .map(|_| {
                let automaton = match random.below(3) {
                    0 => random_automaton(1 + random.below(3), 2, &mut random),
                    _ => stays(Cube::literal(random.below(2) as u32, random.chance(50))),
                };
                let passing = random.bits() as u32 & automaton.all_marks();
                TemporalClaim {
                    says: Says::Accepts(automaton),
                    propositions: vec![0, 1],
                    places: Vec::new(),
                    stutters,
                    passing,
                }
            })
            .collect();
        let fairness =
            [Fairness::None, Fairness::Weak, Fairness::Weak, Fairness::Strong, Fairness::Strong][random.below(5)];
        let mut strategy = STRATEGIES[random.below(STRATEGIES.len())];
        if is_ring && strategy == "sorted" {
            strategy = "enumerate";
        }
        let (whole, reduced) = (Explored::default(), Explored::default());
        for asked in 0..claims.len() {
            let recur = |explored| Recur {
                claims: &claims,
                asked,
                decided_as: asked,
                fairness,
                explored,
                no_steps: ErrorKinds::default(),
                visible: None,
            };
            let expected = answer(&processes, recur(&whole), None, 1);
            let table = if round % 2 == 0 { Table::standard() } else { &pausing };
            let found = answer_by(table, &processes, recur(&reduced), Some(strategy), 1);
            let words = format!(
                "TREFOIL_SEED={seed} round {round} {fairness:?} {strategy}: {:?}\n{:?}",
                claims[asked].says, processes.rules
            );
            assert!(found.symmetry.is_some(), "{words}: {:?}", found.notes);
            let fails = |answer: &Answer| matches!(answer.found[asked], Found::Fails(_));
            assert_eq!(fails(&found), fails(&expected), "{words}");
            smaller += usize::from(found.counts.states < expected.counts.states);
            proper += usize::from(found.symmetry.as_ref().is_some_and(|used| used.order != "1"));
            let group = if is_ring { "rotations" } else { "exchanges" };
            told.entry(format!("{fairness:?}, {group}, {strategy}")).or_default()[usize::from(fails(&expected))] += 1;
            if fails(&expected) {
                failing += 1
            } else {
                holding += 1
            }
            if let (Found::Fails(whole), Found::Fails(folded)) = (&expected.found[asked], &found.found[asked]) {
                cycles += cycle(whole);
                folded_cycles += cycle(folded);
            }
            if fails(&expected) && round % 8 < 2 {
                let again = answer_by(table, &processes, recur(&Explored::default()), Some(strategy), 3);
                let (Found::Fails(one), Found::Fails(other)) = (&found.found[asked], &again.found[asked]) else {
                    panic!("{words}: another verdict with three threads");
                };
                assert_eq!(one, other, "{words}: another lasso with three threads");
            }
        }
    }
    println!("{} products: {holding} hold, {failing} fail", holding + failing);
    println!("{proper} with a group of order above 1, {smaller} quotients smaller");
    for (kind, [holding, failing]) in &told {
        println!("{kind}: {holding} hold, {failing} fail");
    }
    assert!(10 * holding > systems() && 10 * failing > systems(), "{holding} hold, {failing} fail");
    assert!(2 * smaller > systems(), "{smaller} quotients are smaller");
    assert!(
        20 * folded_cycles < 21 * cycles,
        "{folded_cycles} steps in cycles of quotients, {cycles} in those of systems"
    );
}

/// A token goes around a ring, which is one step of the quotient; each process may also leave at any time. None has to:
/// the run on which the token goes around forever serves each in its turn.
#[test]
fn a_token_that_goes_around_serves_all() {
    let shape = Shape { processes: 4, controls: 2, rules: 3, events: 1, internal_percent: 0 };
    let rule = Rule {
        from: 0,
        variable: Held::Any,
        shared: Held::Nothing,
        partner: Partner::Nobody,
        to: 0,
        partner_to: None,
        next_variable: Source::Kept,
        next_shared: Source::Own,
        shown: Shown::EventOwn(0),
    };
    let passes = Rule { shared: Held::Own, partner: Partner::Next, next_shared: Source::Partner, ..rule };
    let leaves = Rule { shared: Held::Any, to: 1, next_shared: Source::Kept, ..rule };
    let labels = Arc::new(Labels::new());
    let processes = Processes::new(&labels, shape, vec![rule, passes, leaves], vec![vec![1, 2, 3, 0]]);
    let processes = Arc::new(processes.seeing(vec![Seen::Somewhere(1)]));
    let says = Says::Accepts(stays(Cube::literal(0, false)));
    let claims = [TemporalClaim { says, propositions: vec![0], places: Vec::new(), stutters: false, passing: 0 }];
    for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
        for strategy in [None, Some("auto"), Some("hillclimbing")] {
            let (explored, no_steps) = (Explored::default(), ErrorKinds::default());
            let recur = Recur {
                claims: &claims,
                asked: 0,
                decided_as: 0,
                fairness,
                explored: &explored,
                no_steps,
                visible: None,
            };
            let answer = answer(&processes, recur, strategy, 1);
            assert!(matches!(answer.found[0], Found::Fails(_)), "{fairness:?} {strategy:?}");
        }
    }
}
