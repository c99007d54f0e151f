//! Which questions the assertions of each language pose, and which options they can use.
//!
//! A language takes the options that it honours itself (how it compiles, how it writes evidence), the table of engines
//! takes the rest, and an option that is then left over is reported: with its reason where it applies to other
//! assertions, as an error where it applies to nothing in a run.

use std::sync::LazyLock;

use trefoil_check::Table;
use trefoil_questions::{Asked, EngineChoice, Facts, Kind, ProvableSymmetries, Setting};
use trefoil_system::Observations;

use super::report::Claim;

/// How an assertion is put to engines.
pub(crate) struct Posing {
    pub(crate) language: &'static str,
    /// The kind of the question; none when no engine answers it.
    pub(crate) kind: Option<Kind>,
    /// What is known of every system of the language.
    pub(crate) facts: Facts,
    /// The options that the language honours.
    pub(crate) own: &'static [Setting],
}

const CSPM: Facts = Facts {
    symmetries: ProvableSymmetries::Named,
    partial_order: true,
    candidates: false,
    decomposition: false,
    explicit: false,
    observations: Observations::FromTransitions,
    width: 0,
    explicit_specification: false,
    model: None,
    agents: false,
};

const MCRL2: Facts = Facts { symmetries: ProvableSymmetries::None, partial_order: false, decomposition: true, ..CSPM };

const PROMELA: Facts =
    Facts { symmetries: ProvableSymmetries::Found, partial_order: false, candidates: true, agents: true, ..CSPM };

/// Options that no question of a language can use, or only with another option, and why.
pub(crate) const REASONS: &[(&str, Setting, &str)] = &[
    ("CSPM", Setting::Decompose, "a process of CSP is a network of components already, and these are compressed"),
    ("CSPM", Setting::KeepGoing, "only `--engine symbolic` goes on after a counterexample about processes"),
    ("Promela", Setting::Decompose, "the questions of Promela look at states, which a decomposition does not keep"),
];

/// Why options cannot be used together with `--engine symbolic`.
const BESIDE_SYMBOLIC: &[(Setting, &str)] = &[
    (Setting::Symmetry, "a set of states has no representatives"),
    (Setting::Strategy, "a set of states has no representatives that a strategy could choose"),
    (Setting::PartialOrder, "which steps can wait is decided state by state, and sets of states take all steps"),
    (Setting::Store, "states are kept in sets, as decision diagrams, and not one by one"),
    (Setting::Algorithm, "these algorithms search pairs of single states"),
    (Setting::Order, "sets of states are searched in an order of their own"),
    (Setting::Trail, "a trail is made of the statements of an explicit search"),
    (Setting::Solver, "it solves a game while its vertices are explored one by one"),
];

/// Why specifications of a language are not taken apart.
pub(crate) fn not_decomposed(language: &str) -> Option<&'static str> {
    let of = |(known, setting, _): &&(&str, Setting, &'static str)| {
        known.eq_ignore_ascii_case(language) && *setting == Setting::Decompose
    };
    REASONS.iter().find(of).map(|(.., why)| *why)
}

impl Claim {
    /// All sorts of assertions.
    pub const ALL: [Claim; 17] = [
        Claim::Refinement,
        Claim::DeadlockFree,
        Claim::LivelockFree,
        Claim::Deterministic,
        Claim::HasTrace,
        Claim::Symmetric,
        Claim::ScriptFormula,
        Claim::Assertions,
        Claim::EndStates,
        Claim::EventTrace,
        Claim::Temporal,
        Claim::ModelFormula,
        Claim::NoDeadlock,
        Claim::NeverActions,
        Claim::Formula,
        Claim::ScriptLtl,
        Claim::Ltl,
    ];

    /// Its name in texts.
    pub fn name(self) -> &'static str {
        match self {
            Claim::Refinement => "refinement",
            Claim::DeadlockFree => "deadlock free",
            Claim::LivelockFree => "divergence free",
            Claim::Deterministic => "deterministic",
            Claim::HasTrace => "has trace",
            Claim::Symmetric => "symmetric",
            Claim::Assertions => "assertions",
            Claim::EndStates => "end states",
            Claim::EventTrace => "trace",
            Claim::Temporal => "ltl and never claims",
            Claim::Ltl | Claim::ScriptLtl => "ltl",
            Claim::NoDeadlock => "no deadlock",
            Claim::NeverActions => "never",
            Claim::Formula | Claim::ScriptFormula | Claim::ModelFormula => "formula",
        }
    }

    /// The language whose assertion it is.
    pub fn language(self) -> &'static str {
        self.posing().language
    }

    pub(crate) fn posing(self) -> Posing {
        let cspm = |kind: Option<Kind>| {
            let own: &[Setting] = if kind.is_some() { &[Setting::LeafCompression] } else { &[] };
            Posing { language: "CSPM", kind, facts: CSPM, own }
        };
        let promela = |kind: Option<Kind>| {
            let own: &[Setting] = if kind.is_some() { &[Setting::Trail] } else { &[] };
            Posing { language: "Promela", kind, facts: PROMELA, own }
        };
        match self {
            Claim::ScriptFormula => {
                Posing { own: &[Setting::LeafCompression, Setting::Evidence], ..cspm(Some(Kind::Win)) }
            }
            Claim::ModelFormula => {
                let own: &[Setting] = &[Setting::Trail, Setting::Evidence];
                Posing { own, ..promela(Some(Kind::Win)) }
            }
            Claim::Refinement => cspm(Some(Kind::Refine)),
            Claim::DeadlockFree => cspm(Some(Kind::Deadlock)),
            Claim::LivelockFree => cspm(Some(Kind::Divergence)),
            Claim::Deterministic => cspm(Some(Kind::Determinism)),
            Claim::HasTrace => cspm(Some(Kind::HasTrace)),
            // The text of the script answers it.
            Claim::Symmetric => cspm(None),
            Claim::Assertions | Claim::EndStates | Claim::EventTrace => promela(Some(Kind::Reach)),
            Claim::NoDeadlock | Claim::NeverActions => {
                Posing { language: "mCRL2", kind: Some(Kind::Reach), facts: MCRL2, own: &[] }
            }
            Claim::Formula => {
                let own = &[Setting::Evidence, Setting::Decompose];
                Posing { language: "mCRL2", kind: Some(Kind::Win), facts: MCRL2, own }
            }
            Claim::Temporal => promela(Some(Kind::Recur)),
            Claim::ScriptLtl => {
                let facts = Facts { symmetries: ProvableSymmetries::None, partial_order: false, ..CSPM };
                Posing { facts, ..cspm(Some(Kind::Recur)) }
            }
            Claim::Ltl => {
                let facts = Facts { decomposition: false, ..MCRL2 };
                Posing { language: "mCRL2", kind: Some(Kind::Recur), facts, own: &[] }
            }
        }
    }
}

/// An option that an assertion cannot use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// The option.
    pub setting: Setting,
    /// The option with its value, as a user writes it.
    pub option: String,
    /// Another option, with its value, that it cannot be used together with.
    pub conflict: Option<String>,
    /// Why it cannot be used, in words that begin with the option.
    pub words: String,
}

/// The options that an assertion of a sort cannot use.
pub fn unused(claim: Claim, asked: &Asked) -> Vec<Unused> {
    let Posing { kind, facts, own, language } = claim.posing();
    let mut rest = asked.clone();
    own.iter().for_each(|&setting| {
        rest.take(setting);
    });
    let unusable = match kind {
        Some(kind) => Table::standard().unusable(kind, &facts, &rest),
        None => rest.wanted().map(|setting| alone(setting, &rest)).collect(),
    };
    unusable
        .into_iter()
        .map(|unusable| {
            let option = unusable.text;
            let words = match &unusable.conflict {
                Some(other) => {
                    let why = beside_symbolic(unusable.setting, other, asked);
                    format!("{option} cannot be used together with {other}{why}")
                }
                None => match users(unusable.setting, asked, claim) {
                    Some(users) => {
                        let of = |(known, setting, _): &&(&str, Setting, &str)| {
                            *known == language && *setting == unusable.setting
                        };
                        let why = REASONS.iter().find(of).map(|(.., why)| format!(": {why}")).unwrap_or_default();
                        format!("{option} does not apply to {} ({language}){why}; it applies to {users}", claim.name())
                    }
                    None => format!("{option} applies to nothing here"),
                },
            };
            Unused { setting: unusable.setting, option, conflict: unusable.conflict, words }
        })
        .collect()
}

/// Why an option cannot be used together with another one, which begins with a colon, where there is more to tell.
fn beside_symbolic(setting: Setting, other: &str, asked: &Asked) -> String {
    let symbolic = Asked { engine: Some(EngineChoice::Symbolic), ..Asked::default() }.text(Setting::Engine);
    // Of two options that exclude each other either may be the one that is left over.
    let refused = match (setting, other == symbolic) {
        (_, true) => Some(setting),
        (Setting::Engine, false) if asked.engine == Some(EngineChoice::Symbolic) => {
            Setting::ALL.into_iter().find(|&setting| asked.gives(setting) && asked.text(setting) == other)
        }
        _ => None,
    };
    let why = BESIDE_SYMBOLIC.iter().find(|(setting, _)| Some(*setting) == refused);
    why.map_or_else(String::new, |(_, why)| format!(": {why}"))
}

fn alone(setting: Setting, asked: &Asked) -> trefoil_check::Unusable {
    trefoil_check::Unusable { setting, text: asked.text(setting), conflict: None }
}

/// The options that none of these sorts of assertions can use, each with why; none when there are no assertions. Where
/// one assertion could use an option but for another option, that is why.
pub fn never_used<'u>(unused: impl IntoIterator<Item = &'u Vec<Unused>>) -> Vec<Unused> {
    let mut unused = unused.into_iter();
    let Some(first) = unused.next() else { return Vec::new() };
    let mut never = first.clone();
    for other in unused {
        never.retain_mut(|known| {
            let Some(again) = other.iter().find(|unused| unused.setting == known.setting) else { return false };
            if known.conflict.is_none() && again.conflict.is_some() {
                *known = again.clone();
            }
            true
        });
    }
    never
}

/// The assertions to which an option applies when it is the only one, in words.
fn users(setting: Setting, asked: &Asked, but: Claim) -> Option<String> {
    let asked = asked.only(&[setting]);
    let uses = |claim: &Claim| {
        let Posing { kind, facts, own, .. } = claim.posing();
        own.contains(&setting) || kind.is_some_and(|kind| Table::standard().honours_all(kind, &facts, &asked))
    };
    let users: Vec<Claim> = Claim::ALL.into_iter().filter(uses).collect();
    let mut words = Vec::new();
    for language in LANGUAGE_NAMES.iter() {
        let all = Claim::ALL.into_iter().filter(|claim| claim.language() == *language && claim.posing().kind.is_some());
        let names: Vec<&str> = users.iter().filter(|claim| claim.language() == *language).map(|c| c.name()).collect();
        match names.len() {
            0 => {}
            some if some == all.count() => {
                let every = if but.language() == *language { "every other" } else { "every" };
                words.push(format!("{every} {language} check"));
            }
            _ => words.push(format!("{} ({language})", names.join(", "))),
        }
    }
    (!words.is_empty()).then(|| words.join(" and "))
}

static LANGUAGE_NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut names: Vec<&'static str> = Vec::new();
    for language in Claim::ALL.into_iter().map(Claim::language) {
        if !names.contains(&language) {
            names.push(language);
        }
    }
    names
});
