//! Quotients of games: random formulas about random systems of three equal components have the value that the
//! definition gives them, with every group that the formula keeps and every strategy.

mod support;

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_games::formula::game::FormulaGame;
use trefoil_games::solve::{Deciding, Player, Wanted, decide};
use trefoil_symmetry::{Quotient, STRATEGIES, Symmetry};
use trefoil_system::{
    Action, Actor, Checked, Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, Picture, Sink, Slot, Step, System,
    Value, Walk,
};
use trefoil_testkit::formulas::{Formula, LabelledSystem, SPECIFICATION};
use trefoil_testkit::{Random, seed};

const COPIES: usize = 3;

/// Equal components that take steps one at a time, some of them only while the next component is in its first state.
/// A component has labels of its own, with its number in them, and labels that all components share.
struct Copies {
    layout: Layout,
    labels: Arc<Labels>,
    groups: Vec<Group>,
    /// From, label, to, and whether all other components must be in state 0.
    steps: Vec<(Value, usize, Value, bool)>,
    /// For each kind of labels that of each component.
    names: Vec<[LabelId; COPIES]>,
    states: Value,
    generators: Vec<Vec<u32>>,
}

/// The kinds of labels: actions of a component, by its number.
fn kind(kind: usize, component: u8) -> Vec<(&'static str, Vec<u8>)> {
    match kind {
        0 => vec![("a", vec![])],
        1 => vec![("b", vec![])],
        2 => vec![("e", vec![component])],
        3 => vec![("p", vec![component, 1])],
        4 => vec![("a", vec![]), ("e", vec![component])],
        _ => vec![],
    }
}

impl Copies {
    fn random(random: &mut Random) -> Copies {
        let states = 1 + random.below(3) as Value;
        let labels = Arc::new(Labels::new());
        let name = |one: usize, component: u8| match one {
            5 => LabelId::TAU,
            _ => labels.name(&LabelledSystem::label_text(&kind(one, component))),
        };
        let names = (0..6).map(|one| [0, 1, 2].map(|component| name(one, component))).collect();
        let slot = |component: usize| Slot::bounded(format!("component {component}"), states);
        let all = || (0..COPIES).collect();
        let groups = vec![Group { name: "step".into(), guards: all(), may_write: all(), ..Group::default() }];
        let mut steps = Vec::new();
        for _ in 0..1 + random.below(3 * states as usize) {
            let mut state = || random.below(states as usize) as Value;
            let (from, to) = (state(), state());
            steps.push((from, random.below(6), to, random.below(4) == 0));
        }
        let layout = Layout::new((0..COPIES).map(slot).collect());
        Copies { layout, labels, groups, steps, names, states, generators: Vec::new() }
    }

    fn with(&self, generators: Vec<Vec<u32>>) -> Copies {
        let Copies { layout, labels, groups, steps, names, states, .. } = self;
        let (layout, labels, groups) = (layout.clone(), labels.clone(), groups.clone());
        Copies { layout, labels, groups, steps: steps.clone(), names: names.clone(), states: *states, generators }
    }

    fn each_step(&self, row: &[Value], mut each: impl FnMut(usize, usize, &[Value]) -> Walk) -> Walk {
        for component in 0..COPIES {
            for &(from, kind, to, alone) in &self.steps {
                let others = row.iter().enumerate().any(|(other, &state)| other != component && state != 0);
                if row[component] == from && !(alone && others) {
                    let mut next = row.to_vec();
                    next[component] = to;
                    each(component, kind, &next)?;
                }
            }
        }
        Ok(())
    }

    /// What an exchange of components does to labels.
    fn images(&self, element: &[u32]) -> Vec<LabelId> {
        let mut images: Vec<LabelId> = (0..self.labels.len() as u32).map(LabelId).collect();
        for names in &self.names {
            for (component, label) in names.iter().enumerate() {
                images[label.index()] = names[element[component] as usize];
            }
        }
        images
    }

    /// The same for the oracle.
    fn explicit(&self) -> LabelledSystem {
        let number =
            |row: &[Value]| row.iter().fold(0, |number, &state| number * self.states as usize + state as usize);
        let (mut transitions, states) = (Vec::new(), (self.states as usize).pow(COPIES as u32));
        for state in 0..states {
            let base = self.states as usize;
            let row = [state / base / base, state / base % base, state % base].map(|one| one as Value);
            let walk = self.each_step(&row, |component, one, next| {
                let mut label = kind(one, component as u8);
                label.sort();
                transitions.push((state, label, number(next)));
                Ok(())
            });
            walk.expect("nothing ends the walk");
        }
        LabelledSystem { states, transitions }
    }
}

impl System for Copies {
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
        Ok(vec![0; COPIES])
    }

    fn explorer<'a>(&'a self, _: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(CopiesExplorer(self))
    }

    fn action(&self) -> Option<&dyn Action> {
        (!self.generators.is_empty()).then_some(self as &dyn Action)
    }
}

struct CopiesExplorer<'a>(&'a Copies);

impl Explorer for CopiesExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        self.0.each_step(row, |component, kind, next| {
            sink(Step::of_group(GroupId(0), self.0.names[kind][component], next))
        })
    }
}

impl Action for Copies {
    fn points(&self) -> usize {
        COPIES
    }

    fn generators(&self) -> &[Vec<u32>] {
        &self.generators
    }

    fn actor<'a>(&'a self, _: &'a Control) -> Box<dyn Actor + 'a> {
        Box::new(CopiesActor(self))
    }
}

struct CopiesActor<'a>(&'a Copies);

impl Actor for CopiesActor<'_> {
    fn picture(&mut self, row: &[Value], picture: &mut Picture) {
        picture.clear(COPIES);
        row.iter().zip(0..).for_each(|(&state, point)| picture.set_colour(point, state));
    }

    fn apply(&mut self, element: &[u32], row: &[Value], into: &mut [Value]) -> Walk {
        row.iter().zip(element).for_each(|(&state, &to)| into[to as usize] = state);
        Ok(())
    }

    fn apply_to_label(&mut self, element: &[u32], label: LabelId) -> LabelId {
        self.0.images(element)[label.index()]
    }
}

#[test]
fn quotients_of_games_have_the_winner_that_the_definition_says() {
    let signature = support::signature(SPECIFICATION);
    let (seed, control) = (seed(), Control::unlimited());
    let (mut refused, mut smaller, mut used, mut verdicts) = (0, 0, [0; 4], [0; 2]);
    for round in 0..1_000 {
        let mut random = Random::new(seed.wrapping_add(round));
        let copies = Copies::random(&mut random);
        let formula = Formula::random(&mut random);
        let text = formula.to_string();
        let context = format!("TREFOIL_SEED={}\n{text}\n{}", seed.wrapping_add(round), copies.explicit().aut());
        let read = support::read(&text, &signature).unwrap_or_else(|mistakes| panic!("{text}\n{mistakes:?}"));
        let game = FormulaGame::new(read, Arc::new(copies.with(Vec::new())), &control).expect("there is no budget");
        let elements = [vec![1, 0, 2], vec![0, 2, 1], vec![2, 1, 0], vec![1, 2, 0]];
        let keeps = |element: &Vec<u32>| match game.keeps(&copies.images(element), &control) {
            Ok(kept) => kept.is_ok(),
            Err(cut) => panic!("{cut:?} {context}"),
        };
        let kept: Vec<Vec<u32>> = elements.into_iter().filter(keeps).collect();
        used[kept.len().min(3)] += 1;
        if kept.is_empty() {
            refused += 1;
            continue;
        }
        let expected = formula.holds(&copies.explicit());
        verdicts[usize::from(expected)] += 1;
        let options = Deciding { threads: 1, wanted: Wanted::Nothing, partial: None, ..Deciding::default() };
        let whole = decide(&game, &options, &control).unwrap_or_else(|undecided| panic!("{:?}", undecided.cut));
        assert_eq!(whole.winner == Player::Even, expected, "{context}");
        let symmetric = game.symmetric(Arc::new(copies.with(kept)), &control).expect("there is no budget");
        let symmetric = Checked::new(symmetric);
        let action = symmetric.action().expect("the formula keeps it");
        for strategy in STRATEGIES {
            let Ok(symmetry) = Symmetry::of_action(action, strategy, &control) else { continue };
            let quotient = Quotient::new(&symmetric, action, &symmetry, &control).expect("there is no budget");
            let decision = decide(&quotient, &options, &control);
            let decision = decision.unwrap_or_else(|undecided| panic!("{:?}", undecided.cut));
            assert_eq!(decision.winner == Player::Even, expected, "by {}: {context}", strategy.name);
            assert!(decision.counts.vertices <= whole.counts.vertices, "{context}");
            smaller += usize::from(decision.counts.vertices < whole.counts.vertices);
        }
    }
    assert!(refused > 50 && smaller > 100 && used[3] > 100, "{refused} {smaller} {used:?}");
    assert!(verdicts.iter().all(|&count| count > 50), "{verdicts:?}");
}

#[test]
fn what_a_formula_tells_apart_is_named() {
    let signature = support::signature(SPECIFICATION);
    let (control, copies) = (Control::unlimited(), Copies::random(&mut Random::new(1)));
    let obstacle = |text: &str, element: &[u32]| {
        let read = support::read(text, &signature).expect("a formula");
        let game = FormulaGame::new(read, Arc::new(copies.with(Vec::new())), &control).expect("there is no budget");
        game.keeps(&copies.images(element), &control).expect("labels can be read").err()
    };
    for text in [
        "[true*]<true>true",
        "[true* . (exists d: D. e(d))]false",
        "<true* . (e(d0) || e(d1))>true",
        "[true* . e(d2)]<true>true",
        "nu X. [a]X && [b]X && <!e(d2)>true",
    ] {
        assert_eq!(obstacle(text, &[1, 0, 2]), None, "{text}");
    }
    for (text, part) in [
        ("<a>true || [true* . e(d0)]false", "`[true* . e(d0)]false` tells e(d0) and e(d1) apart"),
        ("[true* . (e(d0) || e(d2))]false", "`[true* . (e(d0) || e(d2))]false` tells e(d0) and e(d1) apart"),
        ("forall d: D. [true* . e(d)]<e(d)>true", "`<e(d)>true` remembers the value of `d`"),
    ] {
        assert_eq!(obstacle(text, &[1, 0, 2]).as_deref(), Some(part), "{text}");
    }
}
