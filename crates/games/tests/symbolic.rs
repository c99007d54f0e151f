//! Games as diagrams: at every stage of their exploration, solvers win the same vertices as on the same game in memory;
//! what they win stays won; decisions are those of the oracle, with the same evidence on any number of threads.

mod common;

use std::collections::HashMap;
use std::sync::Arc;

use common::{game, player};
use trefoil_control::{Control, Stopped};
use trefoil_games::solve::{Arena, Explicit, PartialSolver, Played, SOLVERS, Wanted, solve_partially, zielonka};
use trefoil_games::symbolic::{
    GrowingGame, Growth, SolverChoice, SymbolicDeciding, SymbolicDecision, decide_symbolically, find_dominion_flaw,
};
use trefoil_system::{
    Checked, Cut, Explorer, Group, GroupId, LabelId, Labels, Layout, Mark, MarkId, Meaning, Sink, Slot, SlotSet, Step,
    System, Value, Walk,
};
use trefoil_testkit::games::{PlainGame, escape, winners_by_fixpoints};
use trefoil_testkit::{Random, seed};

const ALL: [PartialSolver; 5] =
    [PartialSolver::Known, PartialSolver::Solitaire, PartialSolver::Forced, PartialSolver::Fatal, PartialSolver::Safe];

/// A game whose vertices are rows of three slots. A group looks at some slots and writes some.
#[derive(Debug)]
struct Digits {
    layout: Layout,
    labels: Arc<Labels>,
    groups: Vec<Group>,
    marks: Vec<Mark>,
    label: LabelId,
    /// For each group the slots that it reads and writes, and for values that it reads the values that it writes.
    tables: Vec<Table>,
    owners: HashMap<Vec<Value>, Value>,
    priorities: HashMap<Vec<Value>, Value>,
}

#[derive(Debug)]
struct Table {
    reads: Vec<usize>,
    writes: Vec<usize>,
    steps: HashMap<Vec<Value>, Vec<Vec<Value>>>,
}

const BASE: usize = 3;
const SLOTS: usize = 3;

/// All rows of this width.
fn rows(width: usize) -> Vec<Vec<Value>> {
    let mut all = vec![Vec::new()];
    for _ in 0..width {
        all = all.iter().flat_map(|row| (0..BASE as Value).map(move |value| [&row[..], &[value]].concat())).collect();
    }
    all
}

fn values(slots: &[usize], row: &[Value]) -> Vec<Value> {
    slots.iter().map(|&slot| row[slot]).collect()
}

impl Digits {
    fn random(random: &mut Random) -> Digits {
        let labels = Arc::new(Labels::new());
        let label = labels.name("step");
        let some = |random: &mut Random, least: usize| -> Vec<usize> {
            loop {
                let chosen: Vec<usize> = (0..SLOTS).filter(|_| random.below(2) == 0).collect();
                if chosen.len() >= least {
                    return chosen;
                }
            }
        };
        let set = |slots: &[usize]| -> SlotSet { slots.iter().copied().collect() };
        let (mut tables, mut groups) = (Vec::new(), Vec::new());
        let sparse = 1 + random.below(4);
        for number in 0..1 + random.below(5) {
            let (reads, writes) = (some(random, 1), some(random, 1));
            let mut steps: HashMap<Vec<Value>, Vec<Vec<Value>>> = HashMap::new();
            for read in rows(reads.len()) {
                if random.below(sparse + 1) > 0 {
                    continue;
                }
                let targets = (0..1 + random.below(2))
                    .map(|_| writes.iter().map(|_| random.below(BASE) as Value).collect::<Vec<Value>>());
                let mut targets: Vec<Vec<Value>> = targets.collect();
                targets.dedup();
                steps.insert(read, targets);
            }
            groups.push(Group {
                name: format!("group {number}"),
                guards: set(&reads),
                must_write: set(&writes),
                ..Group::default()
            });
            tables.push(Table { reads, writes, steps });
        }
        let (of_owner, of_priority) = (some(random, 1), some(random, 1));
        let greatest = 1 + random.below(5);
        let owners: HashMap<Vec<Value>, Value> =
            rows(of_owner.len()).into_iter().map(|row| (row, random.below(2) as Value)).collect();
        let priorities: HashMap<Vec<Value>, Value> =
            rows(of_priority.len()).into_iter().map(|row| (row, random.below(greatest) as Value)).collect();
        let mark = |meaning, reads: &[usize], values| Mark { meaning, reads: set(reads), values };
        Digits {
            layout: Layout::new((0..SLOTS).map(|slot| Slot::bounded(format!("s{slot}"), BASE as u32)).collect()),
            marks: vec![mark(Meaning::Owner, &of_owner, 2), mark(Meaning::Priority, &of_priority, greatest as Value)],
            labels,
            groups,
            label,
            tables,
            owners,
            priorities,
        }
    }

    fn moves(&self, row: &[Value]) -> Vec<(usize, Vec<Value>)> {
        let mut all = Vec::new();
        for (group, table) in self.tables.iter().enumerate() {
            for written in table.steps.get(&values(&table.reads, row)).into_iter().flatten() {
                let mut next = row.to_vec();
                table.writes.iter().zip(written).for_each(|(&slot, &value)| next[slot] = value);
                all.push((group, next));
            }
        }
        all
    }

    fn owner(&self, row: &[Value]) -> u8 {
        let slots: Vec<usize> = self.marks[0].reads.iter().collect();
        self.owners[&values(&slots, row)] as u8
    }

    fn priority(&self, row: &[Value]) -> u32 {
        let slots: Vec<usize> = self.marks[1].reads.iter().collect();
        self.priorities[&values(&slots, row)]
    }

    /// All of the game that has these vertices, in this order.
    fn plain(&self, vertices: &[Vec<Value>]) -> PlainGame {
        let number = |row: &Vec<Value>| vertices.iter().position(|known| known == row).map(|at| at as u32);
        PlainGame {
            owner: vertices.iter().map(|row| self.owner(row)).collect(),
            priority: vertices.iter().map(|row| self.priority(row)).collect(),
            moves: vertices
                .iter()
                .map(|row| self.moves(row).iter().filter_map(|(_, next)| number(next)).collect())
                .collect(),
            incomplete: vec![false; vertices.len()],
        }
    }

    /// The winners of all vertices.
    fn winners(&self) -> HashMap<Vec<Value>, u8> {
        let all = rows(SLOTS);
        let winners = winners_by_fixpoints(&self.plain(&all));
        all.into_iter().zip(winners).collect()
    }
}

impl System for Digits {
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
        Ok(vec![0; SLOTS])
    }

    fn explorer<'a>(&'a self, _: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(DigitsExplorer(self))
    }
}

struct DigitsExplorer<'a>(&'a Digits);

impl Explorer for DigitsExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        for (group, next) in self.0.moves(row) {
            sink(Step::of_group(GroupId(group as u32), self.0.label, &next))?;
        }
        Ok(())
    }

    fn mark(&mut self, mark: MarkId, reads: &[Value]) -> Result<Value, Cut> {
        Ok(if mark == MarkId(0) { self.0.owners[reads] } else { self.0.priorities[reads] })
    }
}

/// The vertices of a stage, and the stage as plain data: incomplete vertices have the moves that are known.
fn stage(system: &Digits, growing: &GrowingGame<'_>) -> (Vec<Vec<Value>>, PlainGame) {
    let space = growing.space();
    let vertices: Vec<Vec<Value>> = space.rows(growing.vertices().diagram()).collect();
    let mut plain = system.plain(&vertices);
    let incomplete = growing.incomplete();
    for (at, row) in vertices.iter().enumerate() {
        if !space.contains(incomplete.diagram(), row) {
            let known = system.moves(row).iter().all(|(_, next)| vertices.contains(next));
            assert!(known, "a complete vertex leads to a vertex that is not known");
            continue;
        }
        plain.incomplete[at] = true;
        plain.moves[at].clear();
        let single = space.single(row).expect("there is no budget");
        for relation in space.relations() {
            let next = space.diagrams().image(&single, relation).expect("there is no budget");
            for target in space.rows(&next) {
                plain.moves[at].extend(vertices.iter().position(|known| *known == target).map(|at| at as u32));
            }
        }
    }
    (vertices, plain)
}

#[test]
fn at_every_stage_solvers_win_the_same_as_in_memory_and_for_ever() {
    let mut random = Random::new(seed());
    let control = Control::unlimited();
    let (mut stages, mut early, mut undecided) = (0, 0, 0);
    for round in 0..250 {
        let system = Digits::random(&mut random);
        let winners = system.winners();
        let (breadth_first_below, saturating_from) =
            [(0, u64::MAX), (8, u64::MAX), (u64::MAX, u64::MAX), (0, 0), (8, 8), (4, 16)][round % 6];
        let restless = round % 4 < 2;
        let growth = Growth { threads: 1, breadth_first_below, saturating_from, recorded: [true; 2], restless };
        let mut growing = GrowingGame::new(&system, &growth, &control).expect("there is no budget");
        loop {
            stages += 1;
            let (vertices, plain) = stage(&system, &growing);
            let explicit = game(&plain);
            let in_memory = Explicit::new(&explicit, 1, &control);
            let now = winners_by_fixpoints(&plain);
            let escapes = [escape(&plain, 0), escape(&plain, 1)].map(|larger| winners_by_fixpoints(&larger));
            let arena = growing.arena();
            for how in ALL {
                let (mut won, mut trail) = ([arena.none(), arena.none()], arena.blank());
                solve_partially(&arena, how, &arena.all(), &mut won, &mut trail, zielonka).expect("no budget");
                let (mut there, mut moves) = ([in_memory.none(), in_memory.none()], in_memory.blank());
                solve_partially(&in_memory, how, &in_memory.all(), &mut there, &mut moves, SOLVERS[0].run)
                    .expect("no budget");
                for (at, row) in vertices.iter().enumerate() {
                    let here = won.each_ref().map(|set| growing.space().contains(set.diagram(), row));
                    let expected = there.each_ref().map(|set| set.contains(at as u32));
                    assert_eq!(here, expected, "{how:?}, vertex {row:?} of {plain:?}");
                    if let Some(winner) = here.iter().position(|&wins| wins) {
                        early += usize::from(!growing.is_explored());
                        assert_eq!(usize::from(winners[row]), winner, "{how:?}: {row:?} changes hands in {system:?}");
                    } else if how == PartialSolver::Safe {
                        undecided += 1;
                        let there = escapes[usize::from(now[at])][at];
                        assert_ne!(there, now[at], "vertex {row:?} of {plain:?} could be decided");
                    }
                }
            }
            drop(arena);
            if growing.is_explored() {
                break;
            }
            growing.advance().expect("there is no budget");
            // What a solver wins leaves the frontier, in some of the games.
            if round % 2 == 0 {
                growing.grow().expect("there is no budget");
            }
        }
    }
    assert!(stages > 600 && early > 2_000 && undecided > 1_000, "{stages}, {early}, {undecided}");
}

/// Rows, and labels and targets of moves.
type Shape = Vec<(Vec<Value>, Vec<(LabelId, usize)>)>;

fn shape(played: &Played) -> Shape {
    let moves = |vertex: &trefoil_games::solve::PlayedVertex| {
        vertex.moves.iter().map(|step| (step.label, step.target)).collect::<Vec<_>>()
    };
    played.vertices.iter().map(|vertex| (vertex.row.clone(), moves(vertex))).collect()
}

fn decided(system: &dyn System, options: &SymbolicDeciding) -> SymbolicDecision {
    decide_symbolically(system, options, &Control::unlimited()).unwrap_or_else(|cut| panic!("{:?}", cut.cut))
}

#[test]
fn decisions_are_right_with_every_solver_and_the_same_on_two_threads() {
    let mut random = Random::new(seed() + 1);
    let choices: Vec<SolverChoice> =
        ALL.into_iter().map(SolverChoice::Always).chain([SolverChoice::Automatic, SolverChoice::AtTheEnd]).collect();
    let mut won = [0; 2];
    for _ in 0..300 {
        let system = Digits::random(&mut random);
        let expected = player(system.winners()[&vec![0; SLOTS]]);
        won[expected.index()] += 1;
        for &solver in &choices {
            for breadth_first_below in [0, 8, u64::MAX] {
                let restless = breadth_first_below == 8;
                let options =
                    |threads| SymbolicDeciding { threads, breadth_first_below, solver, restless, ..Default::default() };
                let one = decided(&system, &options(1));
                assert_eq!(one.winner, expected, "{solver:?}: {system:?}");
                let strategy = shape(&one.played.expect("a strategy is wanted"));
                if solver == SolverChoice::Automatic {
                    let two = decided(&system, &options(2));
                    assert_eq!(two.winner, expected);
                    assert_eq!(shape(&two.played.expect("a strategy is wanted")), strategy, "{system:?}");
                }
            }
        }
        let nothing = SymbolicDeciding { threads: 1, wanted: Wanted::Nothing, ..Default::default() };
        assert!(decided(&Checked::new(system), &nothing).played.is_none());
    }
    assert!(won.iter().all(|&count| count > 50), "{won:?}");
}

#[test]
fn running_out_is_no_verdict_at_every_poll() {
    let mut random = Random::new(seed() + 2);
    for _ in 0..3 {
        let system = Digits::random(&mut random);
        let expected = player(system.winners()[&vec![0; SLOTS]]);
        for solver in [SolverChoice::Always(PartialSolver::Safe), SolverChoice::AtTheEnd] {
            let options = SymbolicDeciding { threads: 1, solver, ..Default::default() };
            let counting = Control::stopping_at(0, Stopped::Interrupted);
            let whole = decide_symbolically(&system, &options, &counting).expect("it is not stopped");
            assert_eq!(whole.winner, expected);
            for poll in 1..=counting.polls().min(250) {
                let control = Control::stopping_at(poll, Stopped::Interrupted);
                match decide_symbolically(&system, &options, &control) {
                    Ok(decision) => assert_eq!(decision.winner, expected),
                    Err(undecided) => assert_eq!(undecided.cut, Cut::Stopped),
                }
            }
        }
    }
}

#[test]
fn a_strategy_that_is_too_large_is_verified_with_sets_and_one_play_is_shown() {
    let mut random = Random::new(seed() + 3);
    for round in 0..200 {
        let system = Digits::random(&mut random);
        let solver = SolverChoice::Always(ALL[round % ALL.len()]);
        let restless = round % 2 == 0;
        let options = SymbolicDeciding { threads: 1, solver, most_played: 0, restless, ..Default::default() };
        let decision = decided(&system, &options);
        assert!(decision.is_one_play);
        let played = decision.played.expect("a strategy is wanted");
        assert!(played.vertices.iter().all(|vertex| vertex.moves.len() <= 1));
    }
}

#[test]
fn sets_that_are_not_won_are_refused() {
    // The loser claims all vertices.
    let mut random = Random::new(seed() + 4);
    let control = Control::unlimited();
    let mut refused = 0;
    for round in 0..200 {
        let system = Digits::random(&mut random);
        let restless = round % 2 == 0;
        let growth = Growth { threads: 1, recorded: [true; 2], restless, ..Growth::default() };
        let mut growing = GrowingGame::new(&system, &growth, &control).expect("there is no budget");
        while !growing.is_explored() {
            growing.advance().expect("there is no budget");
        }
        let winner = match growing.grow().expect("there is no budget") {
            Some(winner) => winner,
            None => growing.finish().expect("there is no budget"),
        };
        assert_eq!(find_dominion_flaw(&growing, winner), Ok(None));
        growing.claim(winner.opponent());
        refused += usize::from(find_dominion_flaw(&growing, winner.opponent()) != Ok(None));
    }
    assert_eq!(refused, 200);
}
