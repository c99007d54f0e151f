//! The codes of what can be wrong with an automaton in a file.

use trefoil_source::{Code, CodeEntry};

pub(super) const SYNTAX: Code = "H001";
pub(super) const HEADER: Code = "H002";
pub(super) const ACCEPTANCE: Code = "H003";
pub(super) const ALTERNATING: Code = "H004";
pub(super) const RANGE: Code = "H005";
pub(super) const LABELS: Code = "H006";
pub(super) const TOO_LARGE: Code = "H007";

/// Every code about automata in files.
pub const CODES: &[CodeEntry] = &[
    CodeEntry::new(SYNTAX, "another token was expected", "State: [0 & 1 2"),
    CodeEntry::new(HEADER, "a header is missing, is there twice, or is not known", "HOA: v2"),
    CodeEntry::new(ACCEPTANCE, "an acceptance condition that is not generalised Büchi", "Acceptance: 1 Fin(0)"),
    CodeEntry::new(ALTERNATING, "universal branching", "Start: 0 & 1"),
    CodeEntry::new(RANGE, "a state, proposition, set or alias that is not declared", "States: 2 … [t] 2"),
    CodeEntry::new(LABELS, "labels that are missing, or of states and of edges", "AP: 1 \"p\" … State: 0 ⏎ 0"),
    CodeEntry::new(TOO_LARGE, "more propositions, sets, states or cubes than can be held", "AP: 65 …"),
];
