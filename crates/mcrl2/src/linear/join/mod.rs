//! Steps of parallel components, joined.
//!
//! The search goes from the outside in: which combinations of summands make a bag of names that the operators above let
//! through? A demand is a bag of names that must come, and a set of names that may come as well. The outermost demand
//! is: anything. `allow` turns a demand into one for each of its bags, `comm` into one for each way in which its
//! results can have come about, `rename` into the names before, `hide` adds its names to those that may come, `block`
//! takes its own away. At `||` the demanded bag is shared out among the components that know its names. So nothing is
//! ever multiplied that an operator further up throws away, and `n` dining philosophers cost what their 5 n summands
//! cost. On the way back every operator is applied to the actions that were found, and what does not meet the demand is
//! dropped; demands may be too generous, never too narrow.
//!
//! `comm` is applied to actions with arguments: a way to communicate is a set of disjoint groups of actions, each with
//! the names of a left side, under the conditions that the arguments in each group are equal and that no further group
//! among the other actions has equal arguments. Conditions that constants decide are decided here.
//!
//! The alphabets of Groote and van Vlijmen and the reductions by Usenko (*Linearization in muCRL*, 2002) push sets of
//! bags downwards and multiply upwards; here only combinations that are demanded exist. Cost: for a demanded bag the
//! product of the summands that make its parts, before arguments are compared.

mod communicate;
mod demand;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use trefoil_control::count;
use trefoil_data::syntax::tree::Symbol;
use trefoil_source::{Diagnostic, Place, Span};
use trefoil_terms::Term;

use demand::{Bag, Demand, Others, shares};

use super::component::{OpenAction, SequentialComponent};
use super::expressions::Expressions;
use super::structure::Tree;
use super::{Refusal, codes};
use crate::processes::{ActionId, ProcessSpecification};

/// Summands of components that happen together, and what operators made of their actions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Combination {
    /// Components with their summands, in order.
    pub(super) parts: Vec<(usize, usize)>,
    pub(super) action: Vec<OpenAction>,
    /// What communication asks for.
    pub(super) conditions: Vec<Term>,
}

/// What a part of the tree can do: names, and whether it can do `tau`.
#[derive(Clone, Debug, Default)]
struct Alphabet {
    names: BTreeSet<Symbol>,
    silent: bool,
    /// Steps of the whole part when nothing is thrown away.
    steps: u64,
}

/// A tree in an arena.
enum Node {
    Leaf(usize),
    Parallel(Vec<usize>),
    Block(BTreeSet<Symbol>, usize),
    Hide(BTreeSet<Symbol>, usize),
    Rename(Vec<(Symbol, Symbol)>, usize),
    Allow(Vec<Bag>, usize),
    Comm(Vec<(Bag, Symbol)>, usize),
}

/// The search for combinations.
pub(super) struct Joining<'a, 'x, 'p> {
    specification: &'a ProcessSpecification,
    components: &'a [SequentialComponent],
    x: &'x mut Expressions<'p>,
    nodes: Vec<Node>,
    alphabets: Vec<Alphabet>,
    /// Summands of components by the names of their actions.
    by_bag: Vec<HashMap<Bag, Vec<usize>>>,
    known: HashMap<(usize, Demand), Rc<Vec<Combination>>>,
    made: u64,
    place: Span,
    /// Combinations beyond which a process is refused.
    most: u64,
}

impl<'a, 'x, 'p> Joining<'a, 'x, 'p> {
    /// Every combination of summands that the operators let through.
    pub(super) fn all(
        specification: &'a ProcessSpecification,
        components: &'a [SequentialComponent],
        tree: &Tree,
        x: &'x mut Expressions<'p>,
        (place, most): (Span, u64),
    ) -> Result<Vec<Combination>, Refusal> {
        let by_bag = components
            .iter()
            .map(|component| {
                let mut by_bag: HashMap<Bag, Vec<usize>> = HashMap::new();
                for (index, summand) in component.summands.iter().enumerate() {
                    by_bag.entry(bag_of(specification, &summand.action)).or_default().push(index);
                }
                by_bag
            })
            .collect();
        let mut joining = Joining {
            specification,
            components,
            x,
            nodes: Vec::new(),
            alphabets: Vec::new(),
            by_bag,
            known: HashMap::new(),
            made: 0,
            place,
            most,
        };
        let root = joining.add(tree);
        let anything = Demand { exact: Vec::new(), others: Others::AllBut(BTreeSet::new()) };
        let mut found = joining.combinations(root, &anything)?.as_ref().clone();
        found.sort_by(|one, other| one.parts.cmp(&other.parts));
        Ok(found)
    }

    fn add(&mut self, tree: &Tree) -> usize {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.add_inside(tree))
    }

    fn add_inside(&mut self, tree: &Tree) -> usize {
        let (node, alphabet) = match tree {
            Tree::Leaf(component) => {
                let mut alphabet = Alphabet::default();
                for (bag, summands) in &self.by_bag[*component] {
                    alphabet.names.extend(bag);
                    alphabet.silent |= bag.is_empty();
                    alphabet.steps += summands.len() as u64;
                }
                (Node::Leaf(*component), alphabet)
            }
            Tree::Parallel(children) => {
                let children: Vec<usize> = children.iter().map(|child| self.add(child)).collect();
                let mut alphabet = Alphabet::default();
                let mut product: u64 = 1;
                for &child in &children {
                    let other = &self.alphabets[child];
                    alphabet.names.extend(&other.names);
                    alphabet.silent |= other.silent;
                    product = product.saturating_mul(other.steps.saturating_add(1));
                }
                alphabet.steps = product.saturating_sub(1);
                (Node::Parallel(children), alphabet)
            }
            Tree::Block(names, body) => {
                let body = self.add(body);
                let mut alphabet = self.alphabets[body].clone();
                alphabet.names.retain(|name| !names.contains(name));
                (Node::Block(names.clone(), body), alphabet)
            }
            Tree::Hide(names, body) => {
                let body = self.add(body);
                let mut alphabet = self.alphabets[body].clone();
                alphabet.silent |= alphabet.names.iter().any(|name| names.contains(name));
                alphabet.names.retain(|name| !names.contains(name));
                (Node::Hide(names.clone(), body), alphabet)
            }
            Tree::Rename(names, body) => {
                let body = self.add(body);
                let mut alphabet = self.alphabets[body].clone();
                alphabet.names = alphabet.names.iter().map(|&name| renamed(names, name)).collect();
                (Node::Rename(names.clone(), body), alphabet)
            }
            Tree::Allow(bags, body) => {
                let body = self.add(body);
                let below = &self.alphabets[body];
                let possible: BTreeSet<Symbol> = bags
                    .iter()
                    .filter(|bag| bag.iter().all(|name| below.names.contains(name)))
                    .flatten()
                    .copied()
                    .collect();
                let alphabet = Alphabet { names: possible, silent: below.silent, steps: below.steps };
                (Node::Allow(bags.clone(), body), alphabet)
            }
            Tree::Comm(rules, body) => {
                let body = self.add(body);
                let mut alphabet = self.alphabets[body].clone();
                let results: Vec<Symbol> = rules
                    .iter()
                    .filter(|(left, _)| left.iter().all(|name| alphabet.names.contains(name)))
                    .map(|(_, result)| *result)
                    .collect();
                alphabet.names.extend(results);
                (Node::Comm(rules.clone(), body), alphabet)
            }
        };
        self.nodes.push(node);
        self.alphabets.push(alphabet);
        self.nodes.len() - 1
    }

    /// Combinations of a part of the tree that meet a demand.
    fn combinations(&mut self, node: usize, demand: &Demand) -> Result<Rc<Vec<Combination>>, Refusal> {
        let key = (node, demand.clone());
        if let Some(known) = self.known.get(&key) {
            return Ok(Rc::clone(known));
        }
        let found = stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.search(node, demand));
        let found = Rc::new(found?);
        self.made += found.len() as u64;
        if self.made > 20 * self.most {
            return Err(self.too_many(self.made));
        }
        self.known.insert(key, Rc::clone(&found));
        Ok(found)
    }

    fn too_many(&self, found: u64) -> Refusal {
        let message = format!("{} combinations of parallel steps are possible", count(found));
        Refusal::Wrong(vec![
            Diagnostic::error(codes::TOO_MANY, message, Place::Span(self.place))
                .help("name the actions that may happen together: `allow({…}, …)`"),
        ])
    }

    fn too_many_ways(&self, bag: &[Symbol]) -> Refusal {
        if bag.is_empty() {
            return self.too_many(self.most + 1);
        }
        let names: Vec<&str> = bag.iter().map(|&name| self.specification.name(name)).collect();
        let ways = count(self.most);
        let message = format!("`{}` comes about in more than {ways} ways", names.join("|"));
        Refusal::Wrong(vec![
            Diagnostic::error(codes::TOO_MANY, message, Place::Span(self.place))
                .help("each choice of summands, one from each component that takes part, is a way"),
        ])
    }

    fn search(&mut self, node: usize, demand: &Demand) -> Result<Vec<Combination>, Refusal> {
        // Names that do not occur below cannot come.
        if demand.exact.iter().any(|name| !self.alphabets[node].names.contains(name)) {
            return Ok(Vec::new());
        }
        match &self.nodes[node] {
            Node::Leaf(component) => {
                let component = *component;
                let mut found = Vec::new();
                for (bag, summands) in &self.by_bag[component] {
                    if demand.takes(bag) {
                        found.extend(summands.iter().map(|&summand| (component, summand)));
                    }
                }
                found.sort_unstable();
                Ok(found
                    .into_iter()
                    .map(|(component, summand)| Combination {
                        parts: vec![(component, summand)],
                        action: self.components[component].summands[summand].action.clone(),
                        conditions: Vec::new(),
                    })
                    .collect())
            }
            Node::Parallel(children) => {
                let children = children.clone();
                self.parallel(node, &children, demand)
            }
            Node::Block(names, body) => {
                let (names, body) = (names.clone(), *body);
                if demand.exact.iter().any(|name| names.contains(name)) {
                    return Ok(Vec::new());
                }
                let others = match &demand.others {
                    Others::Only(only) => Others::Only(only - &names),
                    Others::AllBut(but) => Others::AllBut(but | &names),
                };
                let inner = Demand { exact: demand.exact.clone(), others };
                Ok(self.combinations(body, &inner)?.as_ref().clone())
            }
            Node::Hide(names, body) => {
                let (names, body) = (names.clone(), *body);
                if demand.exact.iter().any(|name| names.contains(name)) {
                    return Ok(Vec::new());
                }
                let others = match &demand.others {
                    Others::Only(only) => Others::Only(only | &names),
                    Others::AllBut(but) => Others::AllBut(but - &names),
                };
                let inner = Demand { exact: demand.exact.clone(), others };
                let mut found = self.combinations(body, &inner)?.as_ref().clone();
                for combination in &mut found {
                    let specification = self.specification;
                    combination.action.retain(|(action, _)| !names.contains(&specification.action(*action).name));
                }
                Ok(found)
            }
            Node::Rename(names, body) => {
                let (names, body) = (names.clone(), *body);
                self.rename(&names, body, demand)
            }
            Node::Allow(bags, body) => {
                let (bags, body) = (bags.clone(), *body);
                let mut found = Vec::new();
                for bag in bags.iter().chain([&Vec::new()]) {
                    if demand.takes(bag) {
                        let inner = Demand { exact: bag.clone(), others: Others::none() };
                        found.extend(self.combinations(body, &inner)?.iter().cloned());
                    }
                }
                Ok(found)
            }
            Node::Comm(rules, body) => {
                let (rules, body) = (rules.clone(), *body);
                self.comm(&rules, body, demand)
            }
        }
    }

    /// Shares a demand out among components.
    fn parallel(&mut self, node: usize, children: &[usize], demand: &Demand) -> Result<Vec<Combination>, Refusal> {
        if matches!(demand.others, Others::AllBut(_)) && self.alphabets[node].steps > self.most {
            return Err(self.too_many(self.alphabets[node].steps));
        }
        let relevant: Vec<usize> = children
            .iter()
            .copied()
            .filter(|&child| {
                let alphabet = &self.alphabets[child];
                alphabet.silent
                    || demand.exact.iter().any(|name| alphabet.names.contains(name))
                    || (!demand.others.is_none() && alphabet.names.iter().any(|&name| demand.others.contains(name)))
            })
            .collect();
        // The names that each component and those after it know.
        let mut later: Vec<BTreeSet<Symbol>> = vec![BTreeSet::new(); relevant.len() + 1];
        for (place, &child) in relevant.iter().enumerate().rev() {
            later[place] = &later[place + 1] | &self.alphabets[child].names;
        }
        let mut found = Vec::new();
        let mut sharing =
            Sharing { relevant, later, exact: demand.exact.clone(), others: demand.others.clone(), chosen: Vec::new() };
        self.share(&mut sharing, 0, demand.exact.clone(), &mut found)?;
        if demand.exact.iter().any(|&name| demand.others.contains(name)) {
            let mut seen = HashSet::new();
            found.retain(|combination: &Combination| seen.insert(combination.clone()));
        }
        Ok(found)
    }

    fn share(
        &mut self,
        sharing: &mut Sharing,
        place: usize,
        rest: Bag,
        found: &mut Vec<Combination>,
    ) -> Result<(), Refusal> {
        if rest.iter().any(|name| !sharing.later[place].contains(name)) {
            return Ok(());
        }
        let Some(&child) = sharing.relevant.get(place) else {
            if let Some(combination) = sharing.combined() {
                found.push(combination);
                if found.len() as u64 > self.most {
                    return Err(self.too_many_ways(&sharing.exact));
                }
            }
            return Ok(());
        };
        // The component does nothing.
        self.share(sharing, place + 1, rest.clone(), found)?;
        for (taken, left) in shares(&rest, &self.alphabets[child].names) {
            let alphabet = &self.alphabets[child];
            if taken.is_empty() && !alphabet.silent && sharing.others.is_none() {
                continue;
            }
            let inner = Demand { exact: taken, others: sharing.others.clone() };
            let options = self.combinations(child, &inner)?;
            if options.is_empty() {
                continue;
            }
            for option in options.iter() {
                sharing.chosen.push(option.clone());
                self.share(sharing, place + 1, left.clone(), found)?;
                sharing.chosen.pop();
            }
        }
        Ok(())
    }

    fn rename(
        &mut self,
        names: &[(Symbol, Symbol)],
        body: usize,
        demand: &Demand,
    ) -> Result<Vec<Combination>, Refusal> {
        let below = self.alphabets[body].names.clone();
        // Every way in which the names can have come about.
        let mut bags: Vec<Bag> = vec![Vec::new()];
        for &name in &demand.exact {
            let before: Vec<Symbol> = below.iter().copied().filter(|&other| renamed(names, other) == name).collect();
            bags = bags
                .iter()
                .flat_map(|bag| before.iter().map(move |&other| bag.iter().copied().chain([other]).collect()))
                .collect();
        }
        let others = match &demand.others {
            Others::AllBut(_) | Others::Only(_) if !demand.others.is_none() => {
                let some = below.iter().copied().filter(|&other| demand.others.contains(renamed(names, other)));
                Others::Only(some.collect())
            }
            _ => Others::none(),
        };
        let mut seen: HashSet<Bag> = HashSet::new();
        let mut found = Vec::new();
        for mut bag in bags {
            bag.sort_unstable();
            if !seen.insert(bag.clone()) {
                continue;
            }
            let inner = Demand { exact: bag, others: others.clone() };
            for combination in self.combinations(body, &inner)?.iter() {
                let mut combination = combination.clone();
                for (action, _) in &mut combination.action {
                    let name = self.specification.action(*action).name;
                    let to = renamed(names, name);
                    if to != name {
                        let Some(found) = self.action(to, *action) else {
                            unreachable!("the checker refuses results that are not declared")
                        };
                        *action = found;
                    }
                }
                sort(self.specification, &mut combination.action);
                if demand.takes(&bag_of(self.specification, &combination.action)) && !found.contains(&combination) {
                    found.push(combination);
                }
            }
        }
        Ok(found)
    }

    /// The action of a name with the sorts of another one.
    fn action(&self, name: Symbol, like: ActionId) -> Option<ActionId> {
        let sorts = &self.specification.action(like).sorts;
        let mut all = self.specification.actions.iter();
        let found = all.position(|declaration| declaration.name == name && declaration.sorts == *sorts);
        found.map(|place| ActionId(place as u32))
    }

    fn comm(&mut self, rules: &[(Bag, Symbol)], body: usize, demand: &Demand) -> Result<Vec<Combination>, Refusal> {
        let below = self.alphabets[body].names.clone();
        let rules: Vec<(Bag, Symbol)> =
            rules.iter().filter(|(left, _)| left.iter().all(|name| below.contains(name))).cloned().collect();
        // Every way in which the demanded names can have come about.
        let mut bags: Vec<Bag> = vec![Vec::new()];
        for &name in &demand.exact {
            let mut before: Vec<Bag> =
                rules.iter().filter(|(_, result)| *result == name).map(|(left, _)| left.clone()).collect();
            if below.contains(&name) {
                before.push(vec![name]);
            }
            bags = bags
                .iter()
                .flat_map(|bag| before.iter().map(move |part| bag.iter().chain(part).copied().collect()))
                .collect();
        }
        let others = match &demand.others {
            Others::AllBut(but) => {
                // A name that may not come may still be used up by a communication.
                let used: BTreeSet<Symbol> = rules.iter().flat_map(|(left, _)| left.iter().copied()).collect();
                Others::AllBut(but - &used)
            }
            Others::Only(only) => {
                let used = rules.iter().filter(|(_, result)| only.contains(result)).flat_map(|(left, _)| left.iter());
                Others::Only(only.iter().chain(used).copied().collect())
            }
        };
        let mut seen: HashSet<Bag> = HashSet::new();
        let mut met: HashSet<Combination> = HashSet::new();
        let mut found = Vec::new();
        for mut bag in bags {
            bag.sort_unstable();
            if !seen.insert(bag.clone()) {
                continue;
            }
            let inner = Demand { exact: bag, others: others.clone() };
            let below = self.combinations(body, &inner)?;
            for combination in below.iter() {
                // With other names allowed one combination may meet several demands.
                if !others.is_none() && !met.insert(combination.clone()) {
                    continue;
                }
                self.communicate(&rules, combination, demand, &mut found)?;
            }
        }
        Ok(found)
    }
}

/// A demand that is being shared out.
struct Sharing {
    relevant: Vec<usize>,
    later: Vec<BTreeSet<Symbol>>,
    exact: Bag,
    others: Others,
    chosen: Vec<Combination>,
}

impl Sharing {
    /// What was chosen as one step; nothing when nothing was chosen.
    fn combined(&self) -> Option<Combination> {
        let (first, rest) = self.chosen.split_first()?;
        let mut combined = first.clone();
        for other in rest {
            combined.parts.extend(&other.parts);
            combined.action.extend(other.action.iter().cloned());
            for &condition in &other.conditions {
                if !combined.conditions.contains(&condition) {
                    combined.conditions.push(condition);
                }
            }
        }
        combined.parts.sort_unstable();
        Some(combined)
    }
}

fn renamed(names: &[(Symbol, Symbol)], name: Symbol) -> Symbol {
    names.iter().find(|(from, _)| *from == name).map_or(name, |(_, to)| *to)
}

/// Sorts actions by the texts of their names.
pub(super) fn sort(specification: &ProcessSpecification, action: &mut [OpenAction]) {
    action.sort_by(|(one, _), (other, _)| {
        let name = |action: ActionId| specification.name(specification.action(action).name);
        name(*one).cmp(name(*other))
    });
}

fn bag_of(specification: &ProcessSpecification, action: &[OpenAction]) -> Bag {
    let mut bag: Bag = action.iter().map(|(action, _)| specification.action(*action).name).collect();
    bag.sort_unstable();
    bag
}
