//! Proofs of symmetries of one assertion: which constants are interchangeable in the compiled network, and what else
//! carries the network to itself.

use std::cell::RefCell;

use trefoil_control::{Control, Stopped};
use trefoil_cspm::process::Compiler;
use trefoil_cspm::symmetry::Points;
use trefoil_lts::Lts;
use trefoil_network::Network;
use trefoil_network::symmetry::{Candidate, Found, Image, Known, LABEL_POINTS, Prover};
use trefoil_source::{Diagnostic, Place, Span};
use trefoil_system::{LabelId, Labels, System};

use super::compiled::{Trouble, trouble};
use super::reduction::Reasons;
use crate::problem::NOT_SYMMETRIC;

/// Constants of one datatype, some of which may be interchangeable.
pub(crate) struct Proposal {
    pub(crate) datatype: String,
    pub(crate) constants: Vec<String>,
    /// Sets that the text shows to be interchangeable, or that the user claims, by places among the constants.
    pub(crate) sets: Vec<Vec<usize>>,
    /// Where the user claims that all of them are interchangeable.
    pub(crate) claimed: Option<Claimed>,
}

/// A claim that constants are interchangeable.
pub(crate) struct Claimed {
    pub(crate) place: Place,
    /// What in the text speaks against it.
    pub(crate) against: Option<Diagnostic>,
}

impl Proposal {
    fn names(&self, class: &Class, first: u32) -> Vec<String> {
        class.points.iter().map(|&point| self.constants[(point - first) as usize].clone()).collect()
    }

    /// Why a claim is an error, and which classes are interchangeable nevertheless.
    fn refused(&self, claimed: &Claimed, why: &str, proved: &[Vec<String>]) -> Trouble {
        let datatype = &self.datatype;
        let mut diagnostic = match &claimed.against {
            Some(against) => {
                against.clone().note(format!("the compiled network is not symmetric in all of them: {why}"))
            }
            None => {
                let message = format!("`{datatype}` is not symmetric: {why}");
                Diagnostic::error(NOT_SYMMETRIC, message, claimed.place.clone())
            }
        };
        let Some(largest) = proved.iter().max_by_key(|class| class.len()) else {
            let diagnostic = diagnostic.note("no two of them are interchangeable in the compiled network");
            let help =
                "without a list of types the check uses every symmetry it can prove; `trefoil symmetry` lists them";
            return Trouble::Wrong(Box::new(diagnostic.help(help)));
        };
        let sets: Vec<String> = proved.iter().map(|class| format!("{{{}}}", class.join(", "))).collect();
        diagnostic = diagnostic.note(format!("the compiled network is symmetric in {}", sets.join(" and in ")));
        let others: Vec<&str> =
            self.constants.iter().filter(|name| !largest.contains(name)).map(String::as_str).collect();
        let help = match claimed.place {
            Place::Span(_) => format!("reduce by `diff({datatype}, {{| {} |}})` instead", others.join(", ")),
            _ => "`--symmetry auto` uses every symmetry that can be proved".to_string(),
        };
        Trouble::Wrong(Box::new(diagnostic.help(help)))
    }
}

/// Points that were proved to be interchangeable, with elements that generate all their permutations.
pub(super) struct Class {
    pub(super) points: Vec<u32>,
    pub(super) elements: Vec<Element>,
}

/// Does a permutation of the labels carry the question to itself? If not, why?
pub(crate) type Admits<'a> = &'a dyn Fn(&[LabelId], &Labels, &Control) -> Result<Result<(), String>, Stopped>;

/// What a symmetry has to carry to itself.
#[derive(Clone, Copy)]
pub(super) struct Invariant<'a> {
    pub(super) network: &'a Network,
    /// Whether the question is the same afterwards.
    pub(super) admits: Admits<'a>,
    pub(super) specification: Option<&'a Lts>,
    pub(super) trace: Option<&'a [LabelId]>,
}

impl Invariant<'_> {
    /// The labels that matter, ascending.
    pub(super) fn labels(&self) -> Vec<LabelId> {
        let mut labels = self.network.all_labels();
        labels.extend(self.specification.iter().flat_map(|lts| lts.transitions()).map(|step| step.label));
        labels.extend(self.trace.unwrap_or_default());
        labels.sort_unstable();
        labels.dedup();
        labels
    }
}

/// A permutation of the points with what was proved of it.
pub(super) type Element = (Vec<u32>, Image);

/// Permutations with what they do to labels and what was proved of them.
pub(super) type Generators = Vec<(Candidate, Image)>;

pub(super) struct Proof<'a, 'c> {
    /// The prover asks it for names while it works.
    pub(super) compiler: &'a RefCell<&'c mut Compiler>,
    pub(super) prover: &'a Prover<'a>,
    pub(super) invariant: Invariant<'a>,
    pub(super) points: &'a Points,
    pub(super) control: &'a Control,
    /// The labels that matter: of the network, of the specification and of the trace, ascending.
    pub(super) labels: Vec<LabelId>,
    /// How many exchanges were tried where the text did not propose them.
    pub(super) exchanges: usize,
}

/// With fewer rows it does not pay to permute labels inside components.
const FEW_ROWS: u64 = 1 << 18;

/// How many exchanges are tried where the text does not propose them.
const MOST_EXCHANGES: usize = 128;

impl Proof<'_, '_> {
    /// What is proved of a proposal, whose first constant is this point.
    pub(super) fn classes(
        &mut self,
        proposal: &Proposal,
        first: u32,
        span: Span,
        reasons: &mut Reasons,
    ) -> Result<Vec<Class>, Trouble> {
        let mut classes = Vec::new();
        let mut single: Vec<u32> = (first..first + proposal.constants.len() as u32).collect();
        let mut refuted = None;
        for set in proposal.sets.iter().filter(|set| set.len() > 1) {
            let points: Vec<u32> = set.iter().map(|&at| first + at as u32).collect();
            match self.interchangeable(&points, span)? {
                Ok(elements) => {
                    single.retain(|point| !points.contains(point));
                    classes.push(Class { points, elements });
                }
                Err(why) => {
                    let datatype = &proposal.datatype;
                    reasons
                        .unexpected
                        .push(format!("the constants of `{datatype}` are not all interchangeable: {why}"));
                    refuted.get_or_insert(why);
                }
            }
        }
        // The text may name constants that are interchangeable all the same.
        let mut obstacle = None;
        'points: for point in single {
            for class in &mut classes {
                if self.exchanges == MOST_EXCHANGES {
                    reasons.others.push(format!(
                        "only {MOST_EXCHANGES} exchanges of constants of `{}` were tried",
                        proposal.datatype
                    ));
                    break 'points;
                }
                self.exchanges += 1;
                match self.prove(&self.cycle(&[class.points[0], point]), span)? {
                    Ok(Some(element)) => {
                        class.points.push(point);
                        class.elements.push(element);
                        continue 'points;
                    }
                    Ok(None) => {}
                    Err(why) => {
                        obstacle.get_or_insert((class.points[0], point, why));
                    }
                }
            }
            classes.push(Class { points: vec![point], elements: Vec::new() });
        }
        classes.retain(|class| !class.elements.is_empty());
        if let (Some(why), Some(claimed)) = (&refuted, &proposal.claimed) {
            let proved: Vec<Vec<String>> = classes.iter().map(|class| proposal.names(class, first)).collect();
            return Err(proposal.refused(claimed, why, &proved));
        }
        if let Some((one, other, why)) = obstacle {
            let [one, other] = [one, other].map(|point| &proposal.constants[(point - first) as usize]);
            reasons.others.push(format!("`{one}` and `{other}` cannot be exchanged: {why}"));
        }
        Ok(classes)
    }

    /// Elements that generate all permutations of these points, proved; or why one cannot be.
    fn interchangeable(&mut self, points: &[u32], span: Span) -> Result<Result<Vec<Element>, String>, Trouble> {
        let mut elements = Vec::new();
        for cycle in [&points[..2], points].into_iter().take(if points.len() > 2 { 2 } else { 1 }) {
            match self.prove(&self.cycle(cycle), span)? {
                Ok(element) => elements.extend(element),
                Err(why) => return Ok(Err(why)),
            }
        }
        Ok(Ok(elements))
    }

    /// The elements with the numbers that the points they move have among others.
    pub(super) fn renumbered(&self, elements: Vec<Element>, points: &Points) -> Vec<Element> {
        let places = self.points.places_in(points);
        let renumber = |(images, image): Element| {
            let mut renumbered: Vec<u32> = (0..points.len() as u32).collect();
            for (from, &to) in images.iter().enumerate() {
                if let (Some(from), Some(to)) = (places[from], places[to as usize]) {
                    renumbered[from as usize] = to;
                }
            }
            (renumbered, image)
        };
        elements.into_iter().map(renumber).collect()
    }

    /// The permutation that takes each of these points to the next and fixes the others.
    fn cycle(&self, points: &[u32]) -> Vec<u32> {
        let mut images: Vec<u32> = (0..self.points.len() as u32).collect();
        for (at, &point) in points.iter().enumerate() {
            images[point as usize] = points[(at + 1) % points.len()];
        }
        images
    }

    /// Is this permutation a symmetry of everything that must be symmetric? If not, why? Nothing when it moves no
    /// event.
    fn prove(&mut self, images: &[u32], span: Span) -> Result<Result<Option<Element>, String>, Trouble> {
        let labels = self.compiler.borrow_mut().label_map(&mut self.points.permutation(images), &self.labels);
        let labels = match labels.map_err(|failure| trouble(failure, span))? {
            Ok(labels) => labels,
            Err(why) => {
                return Ok(Err(format!(
                    "some of these constants have an event like {}, and others have none",
                    why.event
                )));
            }
        };
        if self.labels.iter().all(|label| labels[label.index()] == *label) {
            return Ok(Ok(None));
        }
        let image = match self.prover.prove(&labels, self.control)? {
            Ok(image) => image,
            Err(why) => return Ok(Err(why.to_string())),
        };
        let table = self.compiler.borrow().labels().clone();
        if let Err(why) = (self.invariant.admits)(&labels, &table, self.control)? {
            return Ok(Err(why));
        }
        Ok(Ok(Some((images.to_vec(), image))))
    }

    /// Whether the network has so few rows, unreachable ones included, that a search of all of them takes a moment.
    fn is_small(&self) -> bool {
        let mut slots = self.invariant.network.layout().slots().iter();
        let rows = slots.try_fold(1u64, |rows, slot| rows.checked_mul(u64::from(slot.values.count()?)));
        rows.is_some_and(|rows| rows <= FEW_ROWS)
    }

    /// Symmetries that no datatype shows, such as the rotations of a ring of numbered processes, together with those
    /// that are known; or why none were looked for.
    pub(super) fn of_the_network(
        &mut self,
        names: &[String],
        known: &[(Candidate, Image)],
    ) -> Result<Result<Found, String>, Stopped> {
        let (Invariant { admits: keeps, specification, .. }, control) = (self.invariant, self.control);
        let fixed = self.invariant.trace.unwrap_or_default();
        let families = (0..).zip(self.points.families());
        let kinds: Vec<u32> = families.flat_map(|(kind, family)| family.constants.iter().map(move |_| kind)).collect();
        let (compiler, points) = (self.compiler, self.points);
        let mentions = |label: LabelId| compiler.borrow().mentioned_points(label, points);
        let label_points = if self.is_small() { 0 } else { LABEL_POINTS };
        let known = Known { names, kinds: &kinds, generators: known, mentions: &mentions, label_points };
        let table = compiler.borrow().labels().clone();
        let mut admits = |images: &[LabelId]| Ok(keeps(images, &table, control)?.is_ok());
        self.prover.automorphisms(&known, specification, fixed, &mut admits, control)
    }

    /// The elements with what they do to labels: to all labels, those included that are images of each other's.
    pub(super) fn with_labels(&mut self, elements: Vec<Element>, span: Span) -> Result<Generators, Trouble> {
        loop {
            let known = self.compiler.borrow().labels().len();
            let mut candidates = Vec::with_capacity(elements.len());
            for (images, image) in &elements {
                let labels = self.compiler.borrow_mut().label_map(&mut self.points.permutation(images), &self.labels);
                let labels = labels.map_err(|failure| trouble(failure, span))?;
                let labels = labels.expect("it had images when it was proved");
                candidates.push((Candidate { points: images.clone(), labels }, image.clone()));
            }
            if self.compiler.borrow().labels().len() == known {
                return Ok(candidates);
            }
        }
    }
}
