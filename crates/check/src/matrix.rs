//! The table as plain data, for people and programs.

use trefoil_questions::{Asked, Facts, Kind, ProvableSymmetries, Setting};
use trefoil_system::Observations;

use crate::table::Table;

/// What the table says.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// A row for each engine.
    pub rows: Vec<MatrixRow>,
}

/// What one engine does.
#[derive(Clone, Debug)]
pub struct MatrixRow {
    /// Its name.
    pub engine: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// The questions that it answers.
    pub questions: Vec<&'static str>,
    /// The reductions of systems that it can be combined with.
    pub reductions: Vec<&'static str>,
    /// The options that it honours, those of its reductions included.
    pub options: Vec<&'static str>,
}

/// Facts under which everything is possible.
const EVERYTHING: Facts = Facts {
    symmetries: ProvableSymmetries::Named,
    partial_order: true,
    candidates: true,
    decomposition: true,
    explicit: false,
    observations: Observations::FromTransitions,
    width: 0,
    explicit_specification: false,
    model: None,
    agents: true,
};

impl Table {
    /// The table as plain data. `examples` are values of options that ask for something: of each option as many as
    /// there are sorts of values.
    pub fn matrix(&self, examples: &[Asked]) -> Matrix {
        let honours = |row: &crate::Row, setting: Setting| {
            let kinds = Kind::ALL.into_iter().filter(|&kind| row.engine.takes(kind, &EVERYTHING).is_ok());
            kinds.into_iter().any(|kind| {
                examples.iter().map(|asked| asked.only(&[setting])).filter(|asked| asked.wants(setting)).any(|asked| {
                    let mut ways = row.ways(&EVERYTHING, &asked).into_iter();
                    ways.any(|way| !row.left_over(kind, &EVERYTHING, way, &asked).wants(setting))
                })
            })
        };
        let rows = self.rows().iter().map(|row| MatrixRow {
            engine: row.engine.name(),
            about: row.engine.about(),
            questions: Kind::ALL
                .into_iter()
                .filter(|&kind| row.engine.takes(kind, &EVERYTHING).is_ok())
                .map(Kind::name)
                .collect(),
            reductions: row.reductions.iter().map(|reduction| reduction.name()).collect(),
            options: Setting::ALL.into_iter().filter(|&setting| honours(row, setting)).map(Setting::name).collect(),
        });
        Matrix { rows: rows.collect() }
    }
}
