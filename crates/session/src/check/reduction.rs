//! Which symmetries a check uses: proposed by the text of the script, proved on what was compiled.
//!
//! The text shows which constants of datatypes the script never tells apart (Gibson-Robinson and Lowe, *Symmetry
//! reduction in CSP model checking*, 2019, section 4); a user may claim it instead. Either is a proposal. A permutation
//! of constants acts on events, and a check uses it when it carries the compiled network, the specification and the
//! trace in question to themselves. So a script whose text hides its symmetry is reduced, and one that only looks
//! symmetric is not.
//!
//! An exchange of two constants and a cycle through all of them generate all permutations of a set, so two proofs are
//! enough. When one fails, and the user did not claim the set, the set is divided; constants that the text names are
//! tried as well. Two constants belong together when their exchange is proved, which is an equivalence, because
//! exchanging `x` and `z` is exchanging `x` and `y` between two exchanges of `y` and `z`. The result is the largest
//! group of permutations of this sort.
//!
//! Components that behave alike are exchanged besides. Where components look alike that neither symmetry carries to
//! each other, the search looks at the network itself: rotations of rings and exchanges of branches of trees are
//! symmetries that no datatype shows. The group is the one that all of them generate.
//!
//! Before that, the network is trimmed: events that its rules never allow are no obstacle to a symmetry.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use trefoil_check::{Posed, PriceRule, Reduction};
use trefoil_control::Control;
use trefoil_cspm::eval::Datatype;
use trefoil_cspm::process::{Compiler, Machine};
use trefoil_cspm::symmetry::{Analysis, Claim, Points, roots};
use trefoil_cspm::syntax::CheckOption;
use trefoil_lts::Lts;
use trefoil_network::symmetry::{Candidate, NetworkAction, Prover, Symmetric};
use trefoil_network::{Accepting, Network};
use trefoil_questions::Evidence as Found;
use trefoil_source::{Diagnostic, Place, Sources, Span};
use trefoil_system::{Action, Cut, LabelId, Labels, Path, System, Witness};

use super::assertions::Listed;
use super::compiled::{Compiled, Searched, Trouble};
use super::proof::{Admits, Claimed, Invariant, Proof, Proposal};
use super::report::{Permuted, PermutedKind, UsedSymmetry};
use super::witness::distinct;
use super::{Asked, Script, SymmetryUse};
use crate::problem::NOT_SYMMETRIC;
use crate::{Job, Problem};

/// Why there are no more symmetries.
#[derive(Default)]
pub(crate) struct Reasons {
    /// Against what the text shows: reported with every answer.
    pub(crate) unexpected: Vec<String>,
    /// Others, for `trefoil symmetry`.
    pub(crate) others: Vec<String>,
}

/// The result of looking for symmetries.
pub(crate) struct Looked {
    pub(crate) reduced: Option<Reduced>,
    pub(crate) reasons: Reasons,
}

/// A network with symmetries that were proved, and what they permute.
pub(crate) struct Reduced {
    pub(super) searched: Searched,
    pub(crate) system: Symmetric,
    pub(crate) permuted: Vec<Permuted>,
    /// The points that stand for constants with all permutations in the group, class by class, ascending; with the
    /// generators of these permutations, by their places in the action.
    exchanged: Vec<(Vec<usize>, Range<usize>)>,
    /// Whether the user claims them.
    pub(super) insisted: bool,
    /// When it is left out because it does not pay.
    pub(super) price: Option<PriceRule>,
}

impl Reduced {
    /// The report on it after a search that used it.
    pub(crate) fn told(self, used: trefoil_questions::UsedSymmetry) -> UsedSymmetry {
        UsedSymmetry {
            order: used.order,
            structure: used.structure,
            strategy: used.strategy,
            total_states: used.total_states,
            permuted: self.permuted,
        }
    }
}

impl Reduction for Reduced {
    fn system(&self) -> &dyn System {
        &self.system
    }

    fn price_rule(&self) -> Option<PriceRule> {
        self.price
    }

    fn words(&self) -> Option<String> {
        self.system.accepting().map(|_| ON_STATES.to_string())
    }

    fn run_back(&self, path: Path, control: &Control) -> Result<Path, Cut> {
        Ok(self.searched.restored_path(&match self.system.accepting() {
            Some(accepting) => accepting.restored_path(&path, control)?,
            None => path,
        }))
    }

    fn back(&self, evidence: Found, control: &Control) -> Result<Found, Cut> {
        Ok(match evidence {
            Found::Witness(witness) => {
                let witness = match self.system.accepting() {
                    Some(accepting) => accepting.restored(self.system.network(), &witness, control)?,
                    None => witness,
                };
                Found::Witness(self.searched.restored(&in_order_of_use(&witness, self, control)?))
            }
            Found::Error(path) => Found::Error(self.searched.restored_path(&path)),
            Found::InvalidEnd(path) => Found::InvalidEnd(self.searched.restored_path(&path)),
            other @ (Found::Strategy(_) | Found::Prefix(_) | Found::Lasso { .. }) => other,
        })
    }
}

/// What an answer says of a search with acceptances on states.
pub(super) const ON_STATES: &str = "acceptances of merged states kept on them";

/// A network searched with acceptances on states.
pub(super) struct OnStates {
    pub(super) network: Arc<Network>,
    pub(super) accepting: Arc<Accepting>,
}

impl Reduction for OnStates {
    fn system(&self) -> &dyn System {
        &*self.accepting
    }

    fn words(&self) -> Option<String> {
        Some(ON_STATES.to_string())
    }

    fn run_back(&self, path: Path, control: &Control) -> Result<Path, Cut> {
        self.accepting.restored_path(&path, control)
    }

    fn back(&self, evidence: Found, control: &Control) -> Result<Found, Cut> {
        Ok(match evidence {
            Found::Witness(witness) => Found::Witness(self.accepting.restored(&self.network, &witness, control)?),
            other => other,
        })
    }
}

/// The witness with values named in the order in which its events use them: of all symmetric ones, the one that a
/// person would write down.
fn in_order_of_use(witness: &Witness, reduced: &Reduced, control: &Control) -> Result<Witness, Cut> {
    let action = reduced.system.network_action();
    let labels = reduced.system.labels();
    let names: Vec<String> = (0..action.points() as u32).map(|point| action.describe_point(point)).collect();
    let mut used: Vec<usize> = Vec::new();
    let mut use_all = |path: &Path| {
        for label in path.trace() {
            let text = labels.get(label).to_string();
            for word in text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '\'' | ':'))) {
                let point = names.iter().position(|name| name == word);
                used.extend(point.filter(|point| !used.contains(point)));
            }
        }
    };
    match witness {
        Witness::Path { path, .. } | Witness::Lasso { path, .. } => use_all(path),
        Witness::TwoRuns { can, .. } => use_all(can),
    }
    let mut element: Vec<u32> = (0..names.len() as u32).collect();
    for (permuted, generators) in &reduced.exchanged {
        let first_used = used.iter().copied().filter(|point| permuted.contains(point));
        let others = permuted.iter().copied().filter(|point| !used.contains(point));
        let wanted: Vec<(usize, usize)> = first_used.chain(others).zip(permuted.iter().copied()).collect();
        carry(&mut element, &wanted, &action.generators()[generators.clone()]);
    }
    witness.permuted(&element, &mut *action.actor(control))
}

/// With more constants in a class, and components that are permuted with them, values are not put in order.
const MOST_CARRIED: usize = 64;

/// Multiplies an element by a product of generators so that it carries each point to the wanted one. The generators
/// generate all permutations of these points, and one of them exchanges two and fixes the others; the element fixes
/// these points before.
fn carry(element: &mut [u32], wanted: &[(usize, usize)], generators: &[Vec<u32>]) {
    let of_the_class =
        |generator: &Vec<u32>| wanted.iter().filter(|(from, _)| generator[*from] as usize != *from).count();
    let moves_others = |generator: &Vec<u32>| {
        let moved = generator.iter().zip(0..).filter(|&(&to, from)| to != from).count();
        moved != of_the_class(generator)
    };
    if !generators.iter().any(moves_others) {
        for &(from, to) in wanted {
            element[from] = to as u32;
        }
        return;
    }
    if wanted.len() > MOST_CARRIED {
        return;
    }
    // The exchanges of any two points, as conjugates of the one that is there.
    let pair = |one: u32, other: u32| (one.min(other), one.max(other));
    let mut exchanges: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
    let mut waiting = Vec::new();
    for generator in generators.iter().filter(|generator| of_the_class(generator) == 2) {
        let mut moved = wanted.iter().map(|&(from, _)| from as u32).filter(|&from| generator[from as usize] != from);
        if let (Some(one), Some(other)) = (moved.next(), moved.next()) {
            waiting.push((pair(one, other), generator.clone()));
        }
    }
    while let Some(((one, other), exchange)) = waiting.pop() {
        if exchanges.contains_key(&(one, other)) {
            continue;
        }
        for generator in generators {
            let mut conjugate = exchange.clone();
            for (from, &to) in exchange.iter().enumerate() {
                conjugate[generator[from] as usize] = generator[to as usize];
            }
            waiting.push((pair(generator[one as usize], generator[other as usize]), conjugate));
        }
        exchanges.insert((one, other), exchange);
    }
    for &(from, to) in wanted {
        let now = element[from];
        if let (false, Some(exchange)) = (now as usize == to, exchanges.get(&pair(now, to as u32))) {
            element.iter_mut().for_each(|image| *image = exchange[*image as usize]);
        }
    }
}

impl Script {
    /// The symmetries that are wanted and can be proved, and why there are no more; nothing when none are wanted.
    pub(super) fn symmetries(
        &mut self,
        listed: &Listed,
        options: &Asked,
        compiled: &Compiled,
        posed: &Posed<'_>,
        specification: Option<&Lts>,
        control: &Control,
    ) -> Result<Option<Looked>, Trouble> {
        let Some((proposed, insisted)) = self.proposed(listed, options)? else { return Ok(None) };
        let Script { compiler, sources, .. } = self;
        let Some(compiler) = compiler else { return Ok(None) };
        control.progress().begin("proving symmetries", 0);
        let network = &compiled.machine.network;
        let searched = network.trimmed(control)?.map_or_else(|| Searched::Whole(network.clone()), Searched::Trimmed);
        let admits = |images: &[LabelId], labels: &Labels, control: &Control| posed.admits(images, labels, control);
        let sought = Sought {
            machine: &compiled.machine,
            searched,
            proposed,
            insisted,
            admits: &admits,
            specification,
            trace: compiled.trace.as_deref(),
            span: listed.span,
        };
        search(compiler, sources, sought, control).map(Some)
    }

    /// Whether the options make sense for this script: the datatypes that they name are there.
    pub fn accepts(&mut self, options: &Asked, job: &Job) -> Result<(), Problem> {
        let Some(SymmetryUse::Types(names)) = &options.symmetry else { return Ok(()) };
        let datatypes = self.prepare_compiler(options, None, job).evaluator().datatypes();
        let is_known = |name: &&String| datatypes.iter().any(|datatype| datatype.name == **name);
        let wrong: Vec<Diagnostic> = names
            .iter()
            .filter(|name| !is_known(name))
            .map(|name| unknown(name, &datatypes, Place::File(self.file.clone())))
            .collect();
        if wrong.is_empty() { Ok(()) } else { Err(Problem::Input(wrong)) }
    }

    /// Whether the user or the assertion asks for symmetry reduction.
    pub(super) fn insists_on_symmetry(&self, listed: &Listed, options: &Asked) -> bool {
        let mut written = self.typed.renamed().tree().list(listed.options).iter();
        let asked = written.any(|option| matches!(option, CheckOption::SymmetryReduce(_)));
        match options.symmetry {
            Some(SymmetryUse::Off) => false,
            Some(SymmetryUse::Types(_)) => true,
            Some(SymmetryUse::Automatic | SymmetryUse::AsWritten) | None => asked,
        }
    }

    /// The sets of constants that the user, the assertion or the text of the script proposes, and whether nothing else
    /// may be exchanged; `None` when no symmetry is wanted.
    fn proposed(&mut self, listed: &Listed, options: &Asked) -> Result<Option<(Vec<Proposal>, bool)>, Trouble> {
        let claimed = match &options.symmetry {
            Some(SymmetryUse::Off) => return Ok(None),
            Some(SymmetryUse::AsWritten) if !self.insists_on_symmetry(listed, options) => return Ok(None),
            Some(SymmetryUse::Types(names)) => {
                let Some(compiler) = &mut self.compiler else { return Ok(None) };
                let known = compiler.evaluator().datatypes();
                let claim = |name: &String| named(name, &known, listed);
                Some(names.iter().map(claim).collect::<Result<Vec<Claim>, Trouble>>()?)
            }
            Some(SymmetryUse::Automatic | SymmetryUse::AsWritten) | None => self.claimed(listed).map_err(|wrong| {
                let first = wrong.into_iter().next().expect("a list that cannot be read has a reason");
                Trouble::Wrong(Box::new(first))
            })?,
        };
        let analysis = Analysis::new(&self.typed);
        let roots = roots(self.typed.renamed().tree(), listed.check, listed.options);
        let Some(compiler) = &mut self.compiler else { return Ok(None) };
        // A datatype of a module stands for those of all its instances.
        let datatypes = compiler.evaluator().datatypes();
        let mut proposals = Vec::new();
        let insisted = claimed.is_some();
        match claimed {
            Some(claims) => {
                for claim in claims {
                    let of = analysis.of_datatype(&roots, claim.datatype);
                    let members = claim.constants(&of);
                    for datatype in datatypes.iter().filter(|datatype| datatype.definition == of.datatype) {
                        proposals.push(Proposal {
                            datatype: datatype.name.clone(),
                            constants: members.iter().map(|&at| datatype.constants[at].0.clone()).collect(),
                            sets: vec![(0..members.len()).collect()],
                            claimed: Some(Claimed { place: Place::Span(claim.span), against: claim.diagnostic(&of) }),
                        });
                    }
                }
            }
            None => {
                for of in &analysis.of(&roots) {
                    for datatype in datatypes.iter().filter(|datatype| datatype.definition == of.datatype) {
                        proposals.push(Proposal {
                            datatype: datatype.name.clone(),
                            constants: datatype.constants.iter().map(|(name, _)| name.clone()).collect(),
                            sets: of.classes.clone(),
                            claimed: None,
                        });
                    }
                }
            }
        }
        proposals.retain(|proposal| proposal.constants.len() > 1);
        Ok(Some((proposals, insisted)))
    }
}

/// What symmetries are looked for, and what they must carry to itself.
pub(crate) struct Sought<'a> {
    pub(crate) machine: &'a Machine,
    /// What is searched of the machine's network.
    pub(crate) searched: Searched,
    pub(crate) proposed: Vec<Proposal>,
    /// Whether nothing else may be exchanged.
    pub(crate) insisted: bool,
    pub(crate) admits: Admits<'a>,
    pub(crate) specification: Option<&'a Lts>,
    pub(crate) trace: Option<&'a [LabelId]>,
    /// The text that asks.
    pub(crate) span: Span,
}

/// Proves symmetries of a network.
pub(crate) fn search(
    compiler: &mut Compiler,
    sources: &Sources,
    sought: Sought<'_>,
    control: &Control,
) -> Result<Looked, Trouble> {
    let Sought { machine, searched, proposed, insisted, admits, specification, trace, span } = sought;
    let network = searched.network().clone();
    let invariant = Invariant { network: &network, admits, specification, trace };
    let mut reasons = Reasons::default();
    let families: Vec<(String, Vec<String>)> =
        proposed.iter().map(|proposal| (proposal.datatype.clone(), proposal.constants.clone())).collect();
    let points = Points::new(compiler.evaluator(), &families).expect("they are those of the script");
    let text = |span: Span| sources.text(span).to_string();
    let compiler = RefCell::new(compiler);
    let names = OnceCell::new();
    let called = |component: usize| {
        let all: &Vec<String> = names.get_or_init(|| component_names(&mut compiler.borrow_mut(), machine, &text));
        all[component].clone()
    };
    let prover = Prover::new(&network).calling(&called);
    let mut proof = Proof {
        compiler: &compiler,
        prover: &prover,
        invariant,
        points: &points,
        control,
        labels: invariant.labels(),
        exchanges: 0,
    };
    let (mut elements, mut permuted, mut ranges) = (Vec::new(), Vec::new(), Vec::new());
    for (proposal, family) in proposed.iter().zip(points.families()) {
        for class in proof.classes(proposal, family.first, span, &mut reasons)? {
            let names = class.points.iter().map(|&point| proposal.constants[(point - family.first) as usize].clone());
            let kind = PermutedKind::Constants;
            permuted.push(Permuted { kind, datatype: Some(family.name.clone()), names: names.collect() });
            ranges.push(elements.len()..elements.len() + class.elements.len());
            elements.extend(class.elements);
        }
    }
    // From here on only constants that are moved are points.
    let moved = permuted.iter().map(|class| (class.datatype.clone().unwrap_or_default(), class.names.clone()));
    let moved: Vec<(String, Vec<String>)> = moved.collect();
    let points = Points::new(compiler.borrow_mut().evaluator(), &moved).expect("they are those of the script");
    let renumbered = proof.renumbered(elements, &points);
    let mut proof = Proof { points: &points, ..proof };
    let constants = |family: &trefoil_cspm::symmetry::Family| {
        (family.first as usize..family.first as usize + family.constants.len()).collect()
    };
    let exchanged: Vec<(Vec<usize>, Range<usize>)> = points.families().iter().map(constants).zip(ranges).collect();
    let mut generators = proof.with_labels(renumbered, span)?;
    let mut names: Vec<String> = points.names().map(str::to_string).collect();
    if !insisted {
        let alike = proof.prover.exchangeable(control)?;
        let same = (0..names.len() as u32).collect::<Vec<u32>>();
        let exchange = |image| (Candidate { points: same.clone(), labels: Vec::new() }, image);
        let known: Vec<_> = generators.iter().cloned().chain(alike.images().cloned().map(exchange)).collect();
        let found = match known.is_empty() || proof.prover.leaves_open(&known) {
            true => Some(proof.of_the_network(&names, &known)?),
            false => None,
        };
        let word = |component: u32| called(component as usize);
        for class in &alike.classes {
            let names = class.iter().map(|&at| word(at)).collect();
            permuted.push(Permuted { kind: PermutedKind::EqualComponents, datatype: None, names });
        }
        match found {
            Some(Ok(found)) if found.new > 0 => {
                let first = names.len();
                (names, generators) = (found.names, found.generators);
                let names = names[first..].to_vec();
                permuted.push(Permuted { kind: PermutedKind::Network, datatype: None, names });
            }
            other => {
                reasons.others.extend(match other {
                    Some(Err(why)) => Some(format!("symmetries of the network: {why}")),
                    Some(Ok(_)) => Some("the network has no further symmetries".to_string()),
                    None => None,
                });
                (names, generators) = alike.join(names, generators, word, control)?;
            }
        }
    }
    let mut reduced = None;
    if !generators.is_empty() {
        match NetworkAction::new(&network, names, &generators, control)? {
            Ok(action) => {
                let system = Symmetric::new(network.clone(), action);
                reduced = Some(Reduced { searched, system, permuted, exchanged, insisted, price: None });
            }
            Err(why) => reasons.unexpected.push(format!("checked without symmetry reduction: {why}")),
        }
    }
    Ok(Looked { reduced, reasons })
}

/// The datatype that the user named.
fn named(name: &str, datatypes: &[Datatype], listed: &Listed) -> Result<Claim, Trouble> {
    let found = datatypes.iter().find(|datatype| datatype.name == name);
    let claim = found.map(|datatype| Claim {
        datatype: datatype.definition,
        name: datatype.name.clone(),
        without: Vec::new(),
        span: listed.span,
    });
    claim.ok_or_else(|| Trouble::Wrong(Box::new(unknown(name, datatypes, Place::Span(listed.span)))))
}

/// The diagnostic for a datatype that the script does not have.
pub(crate) fn unknown(name: &str, datatypes: &[Datatype], place: Place) -> Diagnostic {
    let message = format!("--symmetry {name}: the script has no datatype of this name");
    let diagnostic = Diagnostic::error(NOT_SYMMETRIC, message, place);
    let known: Vec<&str> = datatypes.iter().map(|datatype| datatype.name.as_str()).collect();
    match known.is_empty() {
        true => diagnostic,
        false => diagnostic.help(format!("its datatypes are {}", known.join(", "))),
    }
}

/// Above this number, components are called by their numbers.
const MOST_NAMED: usize = 512;

/// What the components of a machine are called; equal names are followed by numbers.
pub(crate) fn component_names(
    compiler: &mut Compiler,
    machine: &Machine,
    text: &dyn Fn(Span) -> String,
) -> Vec<String> {
    let count = machine.network.components().len();
    if count > MOST_NAMED {
        return (1..=count).map(|number| number.to_string()).collect();
    }
    let names: Vec<String> =
        (0..count).map(|at| trefoil_source::shortened(&compiler.component_name(machine, at, text), SHOWN)).collect();
    distinct(names.into_iter().map(Arc::from).collect()).iter().map(|name| name.to_string()).collect()
}

/// How much of the name of a component is shown.
const SHOWN: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_move_with_the_values_that_are_put_in_order() {
        // Three values, each with a component, and three values more with none.
        let exchange = |moved: &[[usize; 2]]| {
            let mut element: Vec<u32> = (0..9).collect();
            moved.iter().for_each(|&[one, other]| element.swap(one, other));
            element
        };
        let with_components = [exchange(&[[0, 1], [3, 4]]), vec![1, 2, 0, 4, 5, 3, 6, 7, 8]];
        let mut element: Vec<u32> = (0..9).collect();
        carry(&mut element, &[(2, 0), (0, 1), (1, 2)], &with_components);
        assert_eq!(element, [1, 2, 0, 4, 5, 3, 6, 7, 8]);
        let alone = [exchange(&[[6, 7]]), exchange(&[[6, 8]])];
        carry(&mut element, &[(8, 6), (7, 7), (6, 8)], &alone);
        assert_eq!(element, [1, 2, 0, 4, 5, 3, 8, 7, 6]);
        let mut element: Vec<u32> = (0..9).collect();
        let star = [exchange(&[[0, 1], [3, 4]]), exchange(&[[0, 2], [3, 5]])];
        carry(&mut element, &[(0, 0), (2, 1), (1, 2)], &star);
        assert_eq!(element, [0, 2, 1, 3, 5, 4, 6, 7, 8]);
    }
}
