//! The table itself.

use std::sync::LazyLock;

use trefoil_explore::{BITSTATE, EXACT, HASH_COMPACT};
use trefoil_games::engine::GAME;
use trefoil_games::symbolic::SYMBOLIC_GAME;
use trefoil_questions::{Asked, Engine, EngineChoice, Facts, Kind, ProvableSymmetries, Setting, SymmetryUse};
use trefoil_refine::{ANTICHAIN, DEADLOCK, DETERMINISM, DIVERGENCE, HAS_TRACE, LAZY_NORMAL_FORM, NORMAL_FORM};
use trefoil_symbolic::SYMBOLIC;
use trefoil_temporal::TEMPORAL;

use crate::reduction::Reduces;
use crate::takeover::{FIRST_ATTEMPT, Takeover};

/// An engine, and the reductions of systems that it can be combined with, one at a time.
#[derive(Clone, Copy)]
pub struct Row {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// The reductions.
    pub reductions: &'static [Reduces],
}

/// All engines, those first that are preferred where nothing else decides.
#[derive(Clone)]
pub struct Table {
    rows: Vec<Row>,
    first_attempt: u64,
    sparing: bool,
}

const BOTH: &[Reduces] = &[Reduces::Symmetry, Reduces::PartialOrder];

const PARTS: &[Reduces] = &[Reduces::Decomposition];

static STANDARD: LazyLock<Table> = LazyLock::new(|| {
    let mut rows: Vec<Row> = Vec::new();
    let refinement: [&'static dyn Engine; 3] = [&NORMAL_FORM, &ANTICHAIN, &LAZY_NORMAL_FORM];
    let properties: [&'static dyn Engine; 4] = [&DEADLOCK, &DIVERGENCE, &DETERMINISM, &HAS_TRACE];
    rows.extend(refinement.into_iter().chain(properties).map(|engine| Row { engine, reductions: BOTH }));
    rows.push(Row { engine: &EXACT, reductions: &[Reduces::Symmetry, Reduces::Decomposition] });
    rows.push(Row { engine: &HASH_COMPACT, reductions: PARTS });
    rows.push(Row { engine: &BITSTATE, reductions: PARTS });
    rows.push(Row { engine: &SYMBOLIC, reductions: PARTS });
    rows.push(Row { engine: &GAME, reductions: &[Reduces::Symmetry] });
    rows.push(Row { engine: &SYMBOLIC_GAME, reductions: &[] });
    rows.push(Row { engine: &TEMPORAL, reductions: &[Reduces::Symmetry] });
    Table { rows, first_attempt: FIRST_ATTEMPT, sparing: true }
});

impl Table {
    /// The engines of this program.
    pub fn standard() -> &'static Table {
        &STANDARD
    }

    /// The same with one row more, which is preferred to those that it has.
    pub fn with(mut self, row: Row) -> Table {
        self.rows.insert(0, row);
        self
    }

    /// The same, where the symbolic engine first tries after this many states of an explicit search, and hardly
    /// anything limits its attempts: for tests, which are small and share their processor time with others.
    pub fn with_first_attempt(mut self, states: u64) -> Table {
        (self.first_attempt, self.sparing) = (states, false);
        self
    }

    /// The engine that takes over from an explicit one, where it honours as much and the user did not choose.
    pub(crate) fn takeover(&self, kind: Kind, facts: &Facts, honoured: &Asked, threads: usize) -> Option<Takeover> {
        if honoured.wants(Setting::Engine)
            || !matches!(kind, Kind::Reach | Kind::Refine | Kind::Deadlock | Kind::Divergence)
        {
            return None;
        }
        let asked = Asked { engine: Some(EngineChoice::Symbolic), ..honoured.clone() };
        let fits = |row: &&Row| {
            let symbolic = row.engine.family() == EngineChoice::Symbolic && row.engine.takes(kind, facts).is_ok();
            symbolic && row.left_over(kind, facts, None, &asked).wanted().next().is_none()
        };
        let engine = self.rows.iter().find(fits)?.engine;
        Some(Takeover { engine, asked, threads, first: self.first_attempt, sparing: self.sparing })
    }

    /// Its rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
}

impl Row {
    /// The options that the engine, behind one of its reductions or none, leaves over.
    pub fn left_over(&self, kind: Kind, facts: &Facts, reduction: Option<Reduces>, asked: &Asked) -> Asked {
        let mut left = asked.clone();
        self.engine.honours(kind, facts, &mut left);
        if asked.engine == Some(self.engine.family()) {
            left.take(Setting::Engine);
        }
        match reduction {
            Some(Reduces::Symmetry) => {
                left.take(Setting::Strategy);
                let named = matches!(asked.symmetry, Some(SymmetryUse::Types(_)));
                if !named || facts.symmetries == ProvableSymmetries::Named {
                    left.take(Setting::Symmetry);
                }
            }
            Some(Reduces::PartialOrder) => {
                left.take(Setting::PartialOrder);
            }
            Some(Reduces::Decomposition) => {
                left.take(Setting::Decompose);
            }
            None => {}
        }
        left
    }

    /// The reductions that these facts and options allow: none is one of them.
    pub fn ways(&self, facts: &Facts, asked: &Asked) -> Vec<Option<Reduces>> {
        let possible = |reduction: &&Reduces| match reduction {
            Reduces::Symmetry => {
                facts.symmetries != ProvableSymmetries::None && asked.symmetry != Some(SymmetryUse::Off)
            }
            Reduces::PartialOrder => facts.partial_order && asked.partial_order == Some(true),
            Reduces::Decomposition => facts.decomposition && asked.decompose.is_some(),
        };
        self.reductions.iter().filter(possible).copied().map(Some).chain([None]).collect()
    }
}
