//! Networks with acceptances on states, against the same networks with `τ` to a copy for each.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::Lts;
use trefoil_network::{Accepting, Component, Format, FormatId, Network, Rule, compose};
use trefoil_refine::{
    Algorithm, CheckOptions, Options, Outcome, Preprocess, Search, Specification, deadlock, determinism, divergence,
    refine,
};
use trefoil_system::replay::{replay_deadlock, replay_determinism, replay_divergence, replay_refinement};
use trefoil_system::{Checked, Explorer, LabelId, Labels, Model, System, Witness};
use trefoil_testkit::{Random, RandomShape, random_lts, seed};

const MODELS: [Model; 3] = [Model::Traces, Model::Failures, Model::FailuresDivergences];
const ALGORITHMS: [Algorithm; 3] = [Algorithm::Antichain, Algorithm::NormalForm, Algorithm::LazyNormalForm];

/// A random network. In most, every format promotes the `τ` of every component and does nothing else with it; in the
/// others a rule of some component is missing, or leads elsewhere.
fn random_network(labels: &Arc<Labels>, random: &mut Random) -> Network {
    let seen = [LabelId::TAU, labels.name("x"), labels.name("y"), labels.name("z")];
    let count = 1 + random.below(4);
    let components: Vec<Lts> = (0..count)
        .map(|_| {
            let states = 2 + random.below(5);
            let shape = RandomShape {
                states: states as u32,
                transitions: states + random.below(8),
                labels: 3,
                tau_percent: 20 + random.below(40),
            };
            random_lts(labels, shape, random)
        })
        .collect();
    let formats = 1 + random.below(2);
    let is_regular = random.chance(85);
    let mut made = Vec::new();
    for number in 0..formats {
        let mut rules = Vec::new();
        for component in 0..count {
            let rule = Rule::new([(component, LabelId::TAU)], LabelId::TAU).to(FormatId(number as u32));
            match is_regular || random.chance(70) {
                true => rules.push(rule),
                false if random.chance(50) => rules.push(rule.with_resets([random.below(count)])),
                false if random.chance(30) => rules.push(rule.to(FormatId(random.below(formats) as u32))),
                false => {}
            }
        }
        for _ in 0..2 + random.below(8) {
            let part = |lts: &Lts, random: &mut Random| {
                let visible: Vec<LabelId> =
                    lts.transitions().iter().map(|step| step.label).filter(|label| label.is_visible()).collect();
                (!visible.is_empty() && random.chance(50)).then(|| visible[random.below(visible.len())])
            };
            let parts: Vec<(usize, LabelId)> = components
                .iter()
                .enumerate()
                .filter_map(|(component, lts)| Some((component, part(lts, random)?)))
                .collect();
            if parts.is_empty() && random.chance(90) {
                continue;
            }
            let next = if random.chance(80) { number } else { random.below(formats) };
            rules.push(
                Rule::new(parts, seen[random.below(seen.len())])
                    .with_resets((0..count).filter(|_| random.chance(5)))
                    .to(FormatId(next as u32)),
            );
        }
        made.push(Format { name: format!("f{number}"), rules });
    }
    let named = |(index, lts)| Component::new(format!("c{index}"), Arc::new(lts)).choosing(true);
    let components = components.into_iter().enumerate().map(named).collect();
    Network::with_formats(labels.clone(), components, made, FormatId(0)).expect("a small network")
}

/// The same verdict, the same length, and evidence that comes back.
fn agree(what: &str, network: &Outcome, merged: &Outcome, restored: impl FnOnce(&Witness) -> Witness) -> bool {
    assert_eq!(merged.holds(), network.holds(), "{what}");
    if let (Some(one), Some(other)) = (&network.witness, &merged.witness) {
        assert_eq!(one.length(), other.length(), "{what}");
        assert_eq!(restored(other).length(), one.length(), "{what}");
        return true;
    }
    false
}

struct Compared<'a> {
    network: &'a Network,
    accepting: &'a Accepting,
    control: &'a Control,
    seed: u64,
}

impl Compared<'_> {
    fn restored(&self, witness: &Witness) -> Witness {
        self.accepting.restored(self.network, witness, self.control).expect("no budget")
    }

    /// Traces, failures and divergences, by refinement in both directions.
    fn denotations(&self, expanded: &Lts) {
        let Compared { network, accepting, control, seed } = *self;
        for model in MODELS {
            for algorithm in ALGORITHMS {
                let options = Options { algorithm, preprocess: Preprocess::Nothing, ..Options::new(model) };
                let system: &dyn System = accepting;
                let outcome = refine(expanded, system, options, control).expect("no budget");
                assert!(outcome.holds(), "seed {seed}: {model:?} {algorithm:?} {:?}", outcome.witness);
                let plain: &dyn System = network;
                let outcome = refine(Specification::System(system), plain, options, control).expect("no budget");
                assert!(outcome.holds(), "seed {seed}: back {model:?} {algorithm:?} {:?}", outcome.witness);
            }
        }
    }

    /// Verdicts against another specification; how many fail.
    fn refinements(&self, specification: &Lts, random: &mut Random) -> usize {
        let Compared { network, accepting, control, seed } = *self;
        let mut failed = 0;
        for model in MODELS {
            let algorithm = ALGORITHMS[random.below(ALGORITHMS.len())];
            let search = if random.chance(80) { Search::BreadthFirst } else { Search::DepthFirst };
            let options =
                Options { algorithm, search, preprocess: Preprocess::Nothing, threads: 2, ..Options::new(model) };
            let what = format!("seed {seed}: {options:?}");
            let (plain, merged): (&dyn System, &dyn System) = (network, accepting);
            let plain = refine(specification, plain, options, control).expect("no budget");
            let merged = refine(specification, merged, options, control).expect("no budget");
            assert_eq!(plain.holds(), merged.holds(), "{what}");
            if let Some(witness) = &merged.witness {
                let witness = self.restored(witness);
                let replayed = replay_refinement(specification, network, model, &witness, control);
                assert_eq!(replayed, Ok(()), "{what}");
                if search == Search::BreadthFirst {
                    assert_eq!(plain.witness.map(|witness| witness.length()), Some(witness.length()), "{what}");
                }
                failed += 1;
            }
        }
        failed
    }

    /// Deadlock, divergence and determinism; how many fail.
    fn properties(&self) -> [usize; 3] {
        let Compared { network, accepting, control, seed } = *self;
        let options = CheckOptions { threads: 2, ..CheckOptions::default() };
        let mut failed = [0; 3];
        for model in [Model::Failures, Model::FailuresDivergences] {
            let what = format!("seed {seed}: {model:?}");
            let plain = deadlock(network, model, options, control).expect("no budget");
            let merged = deadlock(accepting, model, options, control).expect("no budget");
            failed[0] += usize::from(agree(&what, &plain, &merged, |witness| {
                let witness = self.restored(witness);
                assert_eq!(replay_deadlock(network, model, &witness, control), Ok(()), "{what}");
                witness
            }));
            let plain = determinism(network, model, options, control).expect("no budget");
            let merged = determinism(accepting, model, options, control).expect("no budget");
            failed[2] += usize::from(agree(&what, &plain, &merged, |witness| {
                let witness = self.restored(witness);
                assert_eq!(replay_determinism(network, model, &witness, control), Ok(()), "{what}");
                witness
            }));
        }
        let what = format!("seed {seed}");
        let plain = divergence(network, options, control).expect("no budget");
        let merged = divergence(accepting, options, control).expect("no budget");
        failed[1] += usize::from(agree(&what, &plain, &merged, |witness| {
            let witness = self.restored(witness);
            assert_eq!(replay_divergence(network, &witness, control), Ok(()), "{what}");
            witness
        }));
        failed
    }
}

#[test]
fn acceptances_on_states_answer_as_silent_choices() {
    let first = seed();
    println!("seed {first}");
    let control = Control::unlimited();
    let (mut compared, mut smaller, mut not_merged, mut refused) = (0, 0, 0, 0);
    let mut failed = [0; 3];
    for seed in first..first + 500 {
        let mut random = Random::new(seed);
        let labels = Arc::new(Labels::new());
        let network = random_network(&labels, &mut random);
        let Some(accepting) = network.accepting(&control).expect("no budget") else {
            not_merged += 1;
            continue;
        };
        let Ok(composed) = compose(&network, 1, &control) else { unreachable!("no budget") };
        let expanded = composed.lts;
        if expanded.state_count() > 300 {
            continue;
        }
        compared += 1;
        let case = Compared { network: &network, accepting: &accepting, control: &control, seed };
        case.denotations(&expanded);
        let shape = RandomShape { states: 4, transitions: 9, labels: 0, tau_percent: 20 };
        let specification = random_specification(&labels, shape, &mut random);
        refused += case.refinements(&specification, &mut random);
        case.properties().iter().zip(&mut failed).for_each(|(found, failed)| *failed += found);
        let exploration = Checked::new(Shared(accepting.clone()));
        let merged = states_of(&exploration, &control);
        assert!(merged <= expanded.state_count(), "seed {seed}: merging makes nothing larger");
        smaller += usize::from(merged < expanded.state_count());
    }
    println!("{compared} networks, {smaller} smaller, {not_merged} not merged, {refused} refused, {failed:?} fail");
    assert!(compared > 250 && smaller > 150 && not_merged > 5 && refused > 150, "too little was tried");
    assert!(failed.iter().all(|&failed| failed > 30), "too little fails: {failed:?}");
}

/// A specification over the labels of the networks.
fn random_specification(labels: &Arc<Labels>, shape: RandomShape, random: &mut Random) -> Lts {
    let own: Vec<LabelId> = ["x", "y", "z"].map(|name| labels.name(name)).to_vec();
    let mut builder = trefoil_lts::LtsBuilder::new(labels.clone());
    for _ in 0..shape.transitions {
        let state = |random: &mut Random| trefoil_system::StateId(random.below(shape.states as usize) as u32);
        let label = match random.chance(20) {
            true => LabelId::TAU,
            false => own[random.below(own.len())],
        };
        builder.add(state(random), label, state(random));
    }
    builder.add(trefoil_system::StateId(0), own[0], trefoil_system::StateId(0));
    builder.build(trefoil_system::StateId(0))
}

/// A system that is shared.
struct Shared(Arc<Accepting>);

impl System for Shared {
    fn layout(&self) -> &trefoil_system::Layout {
        self.0.layout()
    }
    fn labels(&self) -> &Arc<Labels> {
        self.0.labels()
    }
    fn groups(&self) -> &[trefoil_system::Group] {
        self.0.groups()
    }
    fn initial(&self, control: &Control) -> Result<Vec<trefoil_system::Value>, trefoil_system::Cut> {
        self.0.initial(control)
    }
    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        self.0.explorer(control)
    }
}

/// How many states a system has, its declarations being checked on the way.
fn states_of(system: &dyn System, control: &Control) -> usize {
    let mut explorer = system.explorer(control);
    let mut work = vec![system.initial(control).expect("no budget")];
    let mut seen = std::collections::BTreeSet::from([work[0].clone()]);
    while let Some(row) = work.pop() {
        let walk = explorer.successors(&row, &mut |step| {
            if seen.insert(step.row.to_vec()) {
                work.push(step.row.to_vec());
            }
            Ok(())
        });
        assert_eq!(walk, Ok(()));
    }
    seen.len()
}
