//! What the tests of formulas share.

#![allow(dead_code)]

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_games::formula::game::FormulaGame;
use trefoil_games::formula::{ActionSignature, Formula, Signature};
use trefoil_lts::Lts;
use trefoil_lts::format::{Input, ReadOptions, read_lts};
use trefoil_source::{Diagnostic, FileId};
use trefoil_system::{Checked, Cut, Labels, Meaning, System, Value};

/// The data and the actions of a specification.
pub(crate) fn signature(specification: &str) -> Signature {
    let mut diagnostics = Vec::new();
    let read = trefoil_mcrl2::syntax::parse(specification, FileId(0), &mut diagnostics);
    let typed = trefoil_mcrl2::processes::check(&read, specification, &mut diagnostics);
    let typed = typed.unwrap_or_else(|| panic!("{specification}: {diagnostics:?}"));
    let actions =
        typed.actions.iter().map(|action| ActionSignature { name: action.name, sorts: action.sorts.clone() }).collect();
    Signature { data: typed.data, actions, ..Signature::default() }
}

/// A formula, or the mistakes in it.
pub(crate) fn read(text: &str, signature: &Signature) -> Result<Formula, Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    Formula::read(text, FileId(1), signature, &mut diagnostics).ok_or(diagnostics)
}

/// An `.aut` file.
pub(crate) fn lts(text: &str) -> Lts {
    let labels = Arc::new(Labels::new());
    let input = Input::text("test.aut", text);
    read_lts(input, &ReadOptions::default(), &labels, &Control::default()).expect("an .aut file")
}

/// An `.aut` file as a system.
pub(crate) fn aut(text: &str) -> Arc<dyn System> {
    Arc::new(lts(text))
}

/// Whether a formula holds in a system, by a recursive solver that follows the definition of winning regions.
pub(crate) fn holds(formula: Formula, model: Arc<dyn System>) -> Result<bool, Cut> {
    let control = Control::default();
    let game = Checked::new(FormulaGame::new(formula, model, &control)?);
    let marks = [Meaning::Owner, Meaning::Priority].map(|meaning| game.mark(meaning).expect("a mark"));
    let mut explorer = game.explorer(&control);
    let mut numbers: HashMap<Vec<Value>, usize> = HashMap::new();
    let mut rows = vec![game.initial(&control)?];
    numbers.insert(rows[0].clone(), 0);
    let mut vertices: Vec<(u32, u32, Vec<usize>)> = Vec::new();
    while vertices.len() < rows.len() {
        let row = rows[vertices.len()].clone();
        let mut targets = Vec::new();
        explorer.successors(&row, &mut |step| {
            let next = numbers.len();
            let number = *numbers.entry(step.row.to_vec()).or_insert(next);
            if number == next {
                rows.push(step.row.to_vec());
            }
            targets.push(number);
            Ok(())
        })?;
        let value = |mark: usize, explorer: &mut dyn trefoil_system::Explorer| {
            let mut reads = Vec::new();
            game.marks()[mark].reads.values(&row, &mut reads);
            explorer.mark(marks[mark], &reads)
        };
        vertices.push((value(0, &mut *explorer)?, value(1, &mut *explorer)?, targets));
    }
    let all: BTreeSet<usize> = (0..vertices.len()).collect();
    Ok(winning(&vertices, &all)[0].contains(&0))
}

/// The vertices from which a player can force a play into a set.
fn attracted(
    vertices: &[(u32, u32, Vec<usize>)],
    within: &BTreeSet<usize>,
    player: u32,
    into: &BTreeSet<usize>,
) -> BTreeSet<usize> {
    let mut set = into.clone();
    loop {
        let before = set.len();
        for &vertex in within {
            let (owner, _, targets) = &vertices[vertex];
            let mut inside = targets.iter().filter(|target| within.contains(target));
            let forced = if *owner == player {
                inside.any(|target| set.contains(target))
            } else {
                inside.all(|target| set.contains(target))
            };
            // A player without a move loses.
            if forced {
                set.insert(vertex);
            }
        }
        if set.len() == before {
            return set;
        }
    }
}

/// What each player wins.
fn winning(vertices: &[(u32, u32, Vec<usize>)], within: &BTreeSet<usize>) -> [BTreeSet<usize>; 2] {
    let mut none = [BTreeSet::new(), BTreeSet::new()];
    if within.is_empty() {
        return none;
    }
    // Where a player has no move, the other one wins, and wherever the play can be forced to there.
    for player in 0..2 {
        let stuck: BTreeSet<usize> = within
            .iter()
            .copied()
            .filter(|&vertex| vertices[vertex].0 != player && !vertices[vertex].2.iter().any(|to| within.contains(to)))
            .collect();
        if !stuck.is_empty() {
            let won = attracted(vertices, within, player, &stuck);
            let mut rest = winning(vertices, &(within - &won));
            rest[player as usize].extend(won);
            return rest;
        }
    }
    let least = within.iter().map(|&vertex| vertices[vertex].1).min().expect("there is a vertex");
    let player = least % 2;
    let top: BTreeSet<usize> = within.iter().copied().filter(|&vertex| vertices[vertex].1 == least).collect();
    let near = attracted(vertices, within, player, &top);
    let rest = winning(vertices, &(within - &near));
    let lost = &rest[1 - player as usize];
    if lost.is_empty() {
        none[player as usize] = within.clone();
        return none;
    }
    let lost = attracted(vertices, within, 1 - player, lost);
    let mut rest = winning(vertices, &(within - &lost));
    rest[1 - player as usize].extend(lost);
    rest
}
