//! The part of a group that keeps the propositions of a claim, and what the rest of the group makes of them.
//!
//! A claim can be checked up to an element of the group only when each of its propositions has one value in a state and
//! in its image. A proposition is an expression, and its image under an element is the same expression with its items
//! renamed ([`super::terms`]); where both are the same term the element keeps the proposition. `P[2]@critical` is kept
//! by the elements that fix process 2, `len(q) > 0` by all that fix the channel.
//!
//! The images of the list of propositions are enumerated, each with an element that leads to it: the orbit of the list.
//! Elements that lead back to the list itself generate the part of the group that keeps it (Schreier's lemma). An image
//! that is the list of propositions of another claim carries the one claim to the other, if they say the same of
//! their propositions: one has a counterexample exactly when the other has, and the element carries it there.
//!
//! An array that a proposition reads must be carried to itself by every element, index by index; this is checked for
//! the generators. A claim that sees whether an ended process has disappeared is told apart ([`Symmetric::sees_ends`]).
//!
//! Cost: the terms of a claim for each list of its orbit and each generator. Claims with more than [`MOST_IMAGES`]
//! images are checked without symmetries.

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_groups::{Permutation, PermutationGroup, follow, invert_into, is_identity};
use trefoil_system::{Action, Actor, Cut, Explorer, Group, LabelId, Labels, Layout, Mark, System, Value};

use super::Symmetric;
use super::classes::Classes;
use super::constants::Constants;
use super::items::{Array, Item, ItemId, Items};
use super::points::Points;
use super::startup::Settled;
use super::terms::{Term, of_propositions};
use crate::program::{Action as Statement, Node, Program};
use crate::walk::visit;

/// More images of the propositions of a claim are not enumerated.
const MOST_IMAGES: usize = 5_000;

/// A proposition that symmetries may move.
pub(super) struct Proposition {
    term: Term,
    /// Items that must stay as they are.
    fixed: Vec<ItemId>,
    /// Does it show that an ended process has disappeared?
    sees_ends: bool,
}

/// The propositions of a program, each as a term, or why it has none.
pub(super) struct Propositions {
    items: usize,
    all: Vec<Result<Proposition, String>>,
}

/// The propositions of a claim under a group.
pub struct KeptPart {
    /// Elements that generate the part of the group that keeps them.
    pub generators: Vec<Vec<u32>>,
    /// An element for each image of the list of propositions.
    images: HashMap<Vec<u32>, Vec<u32>>,
}

impl KeptPart {
    /// How many images the propositions have.
    pub fn images(&self) -> usize {
        self.images.len()
    }
}

impl Propositions {
    pub(super) fn new(
        program: &Program,
        settled: &Settled,
        classes: &Classes,
        constants: &Constants<'_>,
        items: &Items,
        points: &Points,
    ) -> Propositions {
        let mut items = items.clone();
        let terms = of_propositions(program, settled, classes, constants, &mut items);
        let images: Vec<Vec<ItemId>> = points
            .generators
            .iter()
            .map(|generator| {
                let mut images: Vec<ItemId> = (0..items.len() as ItemId).collect();
                points.images_into(generator, &mut images);
                images
            })
            .collect();
        let all = terms.into_iter().zip(&program.propositions).map(|(term, &expression)| {
            let (term, fixed) = term.map_err(|reason| reason.text)?;
            let mut wrong = None;
            each_item(&term, &mut |item| match items.item(item) {
                Item::Array(array) if !commutes(&items, &items.arrays[array as usize], &images) => {
                    wrong = Some("it reads an array whose elements are exchanged in another way");
                }
                Item::Fact(_) => wrong = Some("it has a value that depends on the process"),
                _ => {}
            });
            match wrong {
                Some(why) => Err(why.to_string()),
                None => Ok(Proposition { term, fixed, sees_ends: sees_ends(program, settled, expression) }),
            }
        });
        let all = all.collect();
        Propositions { items: items.len(), all }
    }
}

fn each_item(term: &Term, look: &mut dyn FnMut(ItemId)) {
    match term {
        Term::Item(item) => look(*item),
        Term::Node { below, .. } => below.iter().for_each(|part| each_item(part, look)),
    }
}

/// Does indexing an array commute with each of these permutations?
fn commutes(items: &Items, array: &Array, generators: &[Vec<ItemId>]) -> bool {
    let cell_of = |tuple: &[i32]| {
        let mut cell = array.base;
        for (&value, &(length, stride, _)) in tuple.iter().zip(&array.indices) {
            cell += u32::try_from(value).ok().filter(|&value| value < length)? * stride;
        }
        Some(cell)
    };
    generators.iter().all(|images| {
        array.elements().into_iter().all(|(tuple, cell)| {
            let renamed: Vec<i32> = tuple
                .iter()
                .zip(&array.indices)
                .map(|(&value, &(_, _, domain))| items.renamed(images, domain, value as i32))
                .collect();
            let image = images[items.cell(array.frame, cell) as usize];
            cell_of(&renamed).is_some_and(|cell| items.cell(array.frame, cell) == image)
        })
    })
}

/// Does an expression show that an ended process has disappeared?
fn sees_ends(program: &Program, settled: &Settled, expression: u32) -> bool {
    let ends = |kind: u16| settled.types.iter().zip(&settled.ends).any(|(&other, &ends)| other == kind && ends);
    let labelled = |kind: u16| {
        let process = &program.processes[usize::from(kind)];
        process.transitions.iter().enumerate().any(|(state, transitions)| {
            let is_end = transitions.iter().any(|transition| matches!(*transition.action, Statement::End));
            (is_end || state == 0) && (process.progress[state] || process.accepting[state])
        })
    };
    let mut sees = false;
    visit(program, expression, &mut |_, node| {
        sees |= match node {
            Node::ProcessCount
            | Node::ProgramCounter(_)
            | Node::Enabled(_)
            | Node::Last
            | Node::Priority(_)
            | Node::OwnPriority => true,
            Node::Remote(remote) => ends(program.remotes[remote as usize].process),
            Node::NonProgress | Node::Accepting => settled.types.iter().any(|&kind| ends(kind) && labelled(kind)),
            _ => false,
        };
    });
    sees
}

impl Symmetric {
    /// Do these propositions show that an ended process has disappeared? Then processes must not stay at their ends.
    pub fn sees_ends(&self, propositions: &[u32]) -> bool {
        let sees = |&number: &u32| {
            self.propositions.all[number as usize].as_ref().map_or(true, |proposition| proposition.sees_ends)
        };
        propositions.iter().any(sees)
    }

    /// The part of the group that keeps these propositions, given by their numbers; or why there is none.
    pub fn keeping(&self, propositions: &[u32], control: &Control) -> Result<Result<KeptPart, String>, Stopped> {
        if let Some(why) = self.obstacle(propositions) {
            return Ok(Err(why));
        }
        let action = &self.action.action;
        let degree = action.points();
        let identity: Vec<u32> = (0..degree as u32).collect();
        let mut orbit: Vec<Vec<u32>> = vec![identity.clone()];
        let mut images: HashMap<Vec<u32>, Vec<u32>> = HashMap::from([(self.words(propositions, &identity), identity)]);
        let mut kept: Vec<Permutation> = Vec::new();
        let mut group = PermutationGroup::generate(degree, &kept, control)?;
        let mut at = 0;
        while at < orbit.len() {
            control.check()?;
            let element = orbit[at].clone();
            at += 1;
            for generator in action.generators() {
                let mut next = element.clone();
                follow(&mut next, generator);
                let words = self.words(propositions, &next);
                let Some(known) = images.get(&words) else {
                    if orbit.len() == MOST_IMAGES {
                        return Ok(Err(format!(
                            "the claim has more than {} images under the group",
                            trefoil_control::count(MOST_IMAGES as u64)
                        )));
                    }
                    orbit.push(next.clone());
                    images.insert(words, next);
                    continue;
                };
                let mut back = vec![0; degree];
                invert_into(known, &mut back);
                follow(&mut next, &back);
                let Ok(element) = Permutation::from_images(next) else { continue };
                if !is_identity(element.images()) && !group.contains(&element) {
                    kept.push(element);
                    group = PermutationGroup::generate(degree, &kept, control)?;
                }
            }
        }
        let generators = kept.iter().map(|element| element.images().to_vec()).collect();
        Ok(Ok(KeptPart { generators, images }))
    }

    /// An element that carries the propositions of a part, as they were given there, to these ones, in order.
    pub fn carrying(&self, part: &KeptPart, propositions: &[u32]) -> Option<Vec<u32>> {
        if self.obstacle(propositions).is_some() {
            return None;
        }
        let identity: Vec<u32> = (0..self.action.points() as u32).collect();
        part.images.get(&self.words(propositions, &identity)).cloned()
    }

    /// The model under the group that some elements generate.
    pub fn part(self: &Arc<Symmetric>, generators: Vec<Vec<u32>>) -> SymmetricPart {
        SymmetricPart { action: PartAction { symmetric: self.clone(), generators } }
    }

    fn obstacle(&self, propositions: &[u32]) -> Option<String> {
        propositions.iter().find_map(|&number| self.propositions.all[number as usize].as_ref().err().cloned())
    }

    /// The list of propositions under an element, in words.
    fn words(&self, propositions: &[u32], element: &[u32]) -> Vec<u32> {
        let mut images: Vec<ItemId> = (0..self.propositions.items as ItemId).collect();
        self.action.action.points.images_into(element, &mut images);
        let mut words = Vec::new();
        for &number in propositions {
            let Ok(proposition) = &self.propositions.all[number as usize] else { continue };
            proposition.term.write(Some(&images), &mut words);
            words.push(proposition.fixed.len() as u32);
            words.extend(proposition.fixed.iter().map(|&item| images[item as usize]));
        }
        words
    }
}

/// A model under a part of its group.
pub struct SymmetricPart {
    action: PartAction,
}

struct PartAction {
    symmetric: Arc<Symmetric>,
    generators: Vec<Vec<u32>>,
}

impl System for SymmetricPart {
    fn layout(&self) -> &Layout {
        self.action.symmetric.layout()
    }

    fn labels(&self) -> &Arc<Labels> {
        self.action.symmetric.labels()
    }

    fn groups(&self) -> &[Group] {
        self.action.symmetric.groups()
    }

    fn marks(&self) -> &[Mark] {
        self.action.symmetric.marks()
    }

    fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut> {
        self.action.symmetric.initial(control)
    }

    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        self.action.symmetric.explorer(control)
    }

    fn reducing_explorer<'a>(
        &'a self,
        control: &'a Control,
        visible: &[u32],
    ) -> Result<Box<dyn Explorer + 'a>, &'static str> {
        self.action.symmetric.reducing_explorer(control, visible)
    }

    fn action(&self) -> Option<&dyn Action> {
        Some(&self.action)
    }

    fn error(&self, label: LabelId) -> u32 {
        self.action.symmetric.error(label)
    }

    fn first_error(&self) -> LabelId {
        self.action.symmetric.first_error()
    }

    fn describe(&self, row: &[Value]) -> String {
        self.action.symmetric.describe(row)
    }
}

impl Action for PartAction {
    fn points(&self) -> usize {
        self.symmetric.action.points()
    }

    fn generators(&self) -> &[Vec<u32>] {
        &self.generators
    }

    fn agents(&self) -> usize {
        self.symmetric.action.agents()
    }

    fn pictures_are_complete(&self) -> bool {
        self.symmetric.action.pictures_are_complete()
    }

    fn colours(&self, point: u32) -> Option<u32> {
        self.symmetric.action.colours(point)
    }

    fn describe_point(&self, point: u32) -> String {
        self.symmetric.action.describe_point(point)
    }

    fn actor<'a>(&'a self, control: &'a Control) -> Box<dyn Actor + 'a> {
        self.symmetric.action.actor(control)
    }
}
