//! The choice of a row for a question, and the options that no row honours.

use trefoil_questions::{Asked, Facts, Kind, Refusal, Setting};

use crate::reduction::Reduces;
use crate::table::{Row, Table};

/// The rows for a question.
#[derive(Clone)]
pub struct Chosen<'t> {
    /// The row that is tried first, and those that follow where it gives up.
    pub rows: Vec<&'t Row>,
    /// The reduction that is used, where it can be proved right.
    pub reduction: Option<Reduces>,
    /// What they honour.
    pub honoured: Asked,
    /// The options that they do not.
    pub left: Vec<Setting>,
}

/// An option that a question cannot use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// The option.
    pub setting: Setting,
    /// The option with its value, as a user writes it.
    pub text: String,
    /// Another option, with its value, that excludes it. Nothing when no engine for such questions honours it at all.
    pub conflict: Option<String>,
}

impl Table {
    /// The rows that answer questions of a kind and leave over as few options as possible.
    pub fn choose(&self, kind: Kind, facts: &Facts, asked: &Asked) -> Result<Chosen<'_>, Refusal> {
        let mut candidates = Vec::new();
        let mut refusals = Vec::new();
        for row in self.rows() {
            match row.engine.takes(kind, facts) {
                Ok(()) => candidates.extend(row.ways(facts, asked).into_iter().map(|way| (row, way))),
                Err(refusal) => refusals.push(refusal),
            }
        }
        let left = |(row, way): (&Row, Option<Reduces>)| -> Vec<Setting> {
            row.left_over(kind, facts, way, asked).wanted().collect()
        };
        // The sort is stable: where as much is left over, the row that comes first is taken.
        candidates.sort_by_key(|&candidate| (left(candidate).len(), rank(candidate, facts, asked)));
        let Some(&first) = candidates.first() else {
            let why = refusals.into_iter().next().map_or("there is no engine".to_string(), |refusal| refusal.why);
            return Err(Refusal::new(format!("no engine answers this question: {why}")));
        };
        let unused = left(first);
        let follows = |&&(row, way): &&(&Row, Option<Reduces>)| way == first.1 && left((row, way)) == unused;
        let rows = candidates.iter().filter(follows).map(|&(row, _)| row).collect();
        let honoured = unused.iter().fold(asked.clone(), |rest, &setting| rest.without(setting));
        Ok(Chosen { rows, reduction: first.1, honoured, left: unused })
    }

    /// The options that do not apply to questions of a kind, and why.
    pub fn unusable(&self, kind: Kind, facts: &Facts, asked: &Asked) -> Vec<Unusable> {
        let Ok(chosen) = self.choose(kind, facts, asked) else {
            let unusable = |setting| Unusable { setting, text: asked.text(setting), conflict: None };
            return asked.wanted().map(unusable).collect();
        };
        let in_the_way = |setting: Setting| {
            let others = Setting::ALL.into_iter().filter(|&other| other != setting && asked.gives(other));
            let alone = asked.only(&[setting]);
            self.honours_all(kind, facts, &alone).then(|| {
                let pairs = others.map(|other| (other, asked.only(&[setting, other])));
                let found = pairs.into_iter().find(|(_, pair)| !self.honours_all(kind, facts, pair));
                found.map(|(other, _)| asked.text(other))
            })
        };
        let unusable = |&setting: &Setting| Unusable {
            setting,
            text: asked.text(setting),
            conflict: in_the_way(setting).flatten(),
        };
        chosen.left.iter().map(unusable).collect()
    }

    /// Whether some row honours everything.
    pub fn honours_all(&self, kind: Kind, facts: &Facts, asked: &Asked) -> bool {
        self.choose(kind, facts, asked).is_ok_and(|chosen| chosen.left.is_empty())
    }
}

/// The preference among rows that leave equally many options over: fewer is better.
fn rank((row, way): (&Row, Option<Reduces>), facts: &Facts, asked: &Asked) -> (u8, u8) {
    // A normal form pays when it is searched on every core; two systems in memory are compared at once.
    let in_memory = facts.explicit && facts.explicit_specification && asked.algorithm.is_none();
    let engine = match (in_memory, row.engine.name() == trefoil_questions::Algorithm::Antichain.name()) {
        (true, true) => 0,
        _ => 1,
    };
    let way = match way {
        Some(Reduces::PartialOrder | Reduces::Decomposition) => 0,
        Some(Reduces::Symmetry) => 1,
        None => 2,
    };
    (way, engine)
}
