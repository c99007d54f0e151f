//! The cleave into two parts as mCRL2 text: for other tools, and for comparison with the tables of the thesis.
//!
//! Laveaux, *Accelerated verification of concurrent systems* (2024): the parts are those of definition 3.3.2 with the
//! separation tuples of algorithms 7 to 10, the composition is that of definition 3.3.4. A summand that one part can do
//! alone has the action `tag` beside its own ones; a summand that both do has an action `sync` with the values on which
//! they must agree. `tag` and `sync` are hidden, so the composition is strongly bisimilar to the original. `V` and `W`
//! are the parameters of the parts, as there.
//!
//! Departures: the misprints of algorithm 7 (lines 6, 8 and 14) and 9 (line 6) are mended. A summed variable that only
//! one part uses is not synchronised, and conjuncts over such variables stay with that part.
//!
//! What is explored by Trefoil itself is not this ([`cleave`](super::cleave) has any number of parts and no tags).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use trefoil_data::signature::Operator;
use trefoil_data::sorts::{BOOL, SortRef};
use trefoil_data::typed::{DataSpecification, Quantifier, Typed, TypedId, VariableId};

use super::expressions::{applied, is_enumerated, substituted, variable, variables};
use super::invariants::WrittenInvariant;
use crate::linear::{Event, LinearProcess, Summand, TERMINATE, call, declarations, equation, fresh};
use crate::processes::{ActionDeclaration, ActionId};
use crate::syntax::tree::Specification;

/// A process in two parts, as specifications.
#[derive(Clone, Debug)]
pub struct WrittenParts {
    /// The parts.
    pub parts: [String; 2],
    /// Both in parallel: strongly bisimilar to the original.
    pub composition: String,
}

/// One of the two parts.
struct Side {
    own: BTreeSet<VariableId>,
    process: LinearProcess,
    /// The place of each parameter of the original in this part.
    places: Vec<Option<usize>>,
}

/// What a part does in a summand that both do.
#[derive(Default)]
struct Half {
    actions: Vec<(ActionId, Vec<TypedId>)>,
    conditions: Vec<TypedId>,
    compared: Vec<TypedId>,
    used: BTreeSet<VariableId>,
}

/// The linear process of the specification that was read from `text` in two parts, which may share parameters. The
/// invariants, which must have been proved, hold after each step that both parts do.
pub fn written_parts(
    linear: &LinearProcess,
    parts: [&[usize]; 2],
    invariants: &[WrittenInvariant],
    specification: &Specification,
    text: &str,
) -> WrittenParts {
    let mut linear = linear.clone();
    let mut declared = String::new();
    // Termination is an action like any other here.
    if linear.summands.iter().any(|summand| summand.event == Event::Terminate) {
        let termination = fresh(&linear, TERMINATE);
        let action = declare(&mut linear, &termination, &[], &mut declared);
        for summand in linear.summands.iter_mut().filter(|summand| summand.event == Event::Terminate) {
            summand.event = Event::Actions(vec![(action, Vec::new())]);
        }
    }
    let tag_name = fresh(&linear, "tag");
    let tag = declare(&mut linear, &tag_name, &[], &mut declared);
    let mut sides = parts.map(|own| {
        let mut places = vec![None; linear.parameters.len()];
        let own: BTreeSet<usize> = own.iter().copied().collect();
        own.iter().enumerate().for_each(|(place, &slot)| places[slot] = Some(place));
        let parameters = own.iter().map(|&slot| linear.parameters[slot].clone()).collect();
        let process = LinearProcess { parameters, summands: Vec::new(), ..linear.clone() };
        Side { own: own.iter().map(|&slot| linear.parameters[slot].variable).collect(), process, places }
    });
    let mut allowed: BTreeSet<String> = BTreeSet::new();
    let (mut communications, mut hidden) = (Vec::new(), Vec::new());
    for number in 0..linear.summands.len() {
        let summand = linear.summands[number].clone();
        let Event::Actions(actions) = &summand.event else { unreachable!("termination was replaced") };
        let mut names: Vec<&str> =
            actions.iter().map(|(action, _)| linear.data.names.text(linear.actions[action.0 as usize].name)).collect();
        names.sort_unstable();
        let both = names.join("|");
        names.push(&tag_name);
        let tagged = names.join("|");
        let changed: BTreeSet<VariableId> = summand
            .updates
            .iter()
            .map(|&(slot, value)| (linear.parameters[slot].variable, value))
            .filter(|&(written, value)| variable(&linear.data, value) != Some(written))
            .map(|(written, _)| written)
            .collect();
        let alone: Vec<usize> =
            (0..2).filter(|&side| is_alone(&linear, &summand, &sides[side], &sides[1 - side].own, &changed)).collect();
        if !alone.is_empty() {
            allowed.insert(tagged);
            for side in alone {
                let mut actions = actions.clone();
                actions.push((tag, Vec::new()));
                let variables = summand.variables.iter().copied().collect();
                sides[side].add(&summand, variables, summand.conditions.clone(), actions);
            }
            continue;
        }
        if !both.is_empty() {
            allowed.insert(both);
        }
        let owns = [&sides[0].own, &sides[1].own];
        let (halves, shared) = halves(&linear, &summand, actions, owns);
        // The action with the values on which both agree.
        let mut sorts: Vec<SortRef> = halves[0].compared.iter().map(|&one| linear.data.tree.sort(one)).collect();
        sorts.extend(shared.iter().map(|&one| linear.data.tree.variable(one).1));
        let place = linear.components[0].place;
        let [first, second, together] = ["V", "W", ""].map(|end| {
            let name = fresh(&linear, &format!("sync{number}{end}"));
            let action = declare(&mut linear, &name, &sorts, &mut declared);
            (name, action)
        });
        communications.push(format!("{}|{} -> {}", first.0, second.0, together.0));
        hidden.push(together.0);
        let of_summand: BTreeSet<VariableId> = summand.variables.iter().copied().collect();
        // Theorem 3.4.3, for the state after the step.
        let after: Vec<TypedId> = after_step(&mut linear, &summand, invariants);
        for ((side, half), (_, sync)) in sides.iter_mut().zip(halves).zip([first, second]) {
            let Half { mut actions, mut conditions, mut compared, used } = half;
            for &one in &shared {
                let sort = linear.data.tree.variable(one).1;
                compared.push(linear.data.tree.add(Typed::Variable(one), sort, place));
            }
            actions.push((sync, compared));
            let mut variables: BTreeSet<VariableId> =
                used.union(&shared).filter(|one| !side.own.contains(one)).copied().collect();
            variables.retain(|one| of_summand.contains(one) || shared.contains(one));
            for &invariant in &after {
                let is_known = |one: &VariableId| side.own.contains(one) || variables.contains(one);
                conditions.extend(existing(&mut linear, invariant, &is_known));
            }
            side.add(&summand, variables, conditions, actions);
        }
    }
    for side in &mut sides {
        side.process.data = linear.data.clone();
        side.process.actions.clone_from(&linear.actions);
    }
    let head = declarations(specification, text);
    let head = format!("{head}{declared}\n");
    let names = ["V", "W"].map(|wanted| fresh(&linear, wanted));
    let equations = [0, 1].map(|side| format!("{};\n", equation(&sides[side].process, &names[side])));
    let calls = [0, 1].map(|side| call(&sides[side].process, &names[side]));
    let mut process = calls.join(" || ");
    if !communications.is_empty() {
        process =
            format!("hide({{{}}},\n    comm({{{}}},\n      {process}))", hidden.join(", "), communications.join(", "));
    }
    let allowed: Vec<String> = allowed.into_iter().collect();
    let process = format!("hide({{{tag_name}}},\n  allow({{{}}},\n    {process}))", allowed.join(", "));
    WrittenParts {
        parts: [0, 1].map(|side| format!("{head}{}\ninit {};\n", equations[side], calls[side])),
        composition: format!("{head}{}\ninit {process};\n", equations.join("\n")),
    }
}

/// Invariants as conditions on the state after a step of a summand.
fn after_step(linear: &mut LinearProcess, summand: &Summand, invariants: &[WrittenInvariant]) -> Vec<TypedId> {
    let values: BTreeMap<VariableId, TypedId> =
        summand.updates.iter().map(|&(slot, value)| (linear.parameters[slot].variable, value)).collect();
    invariants.iter().map(|invariant| substituted(&mut linear.data, invariant.condition, &values)).collect()
}

/// A condition with the variables that are not known quantified existentially; nothing where it says nothing.
fn existing(linear: &mut LinearProcess, condition: TypedId, is_known: &dyn Fn(&VariableId) -> bool) -> Option<TypedId> {
    let used = variables(&linear.data, condition);
    let unknown: Vec<VariableId> = used.iter().copied().filter(|one| !is_known(one)).collect();
    match unknown.len() {
        0 => Some(condition),
        all if all == used.len() => None,
        _ => {
            let place = linear.components[0].place;
            Some(linear.data.tree.add(Typed::Quantified(Quantifier::Exists, unknown, condition), BOOL, place))
        }
    }
}

fn declare(linear: &mut LinearProcess, name: &str, sorts: &[SortRef], declared: &mut String) -> ActionId {
    let texts: Vec<String> = sorts.iter().map(|&sort| linear.data.sort_text_in_product(sort)).collect();
    let domain = if texts.is_empty() { String::new() } else { format!(": {}", texts.join(" # ")) };
    let _ = writeln!(declared, "act {name}{domain};");
    let name = linear.data.names.intern(name);
    let place = linear.components[0].place;
    linear.actions.push(ActionDeclaration { name, sorts: sorts.to_vec(), place });
    ActionId(linear.actions.len() as u32 - 1)
}

impl Side {
    fn add(
        &mut self,
        summand: &Summand,
        variables: BTreeSet<VariableId>,
        conditions: Vec<TypedId>,
        actions: Vec<(ActionId, Vec<TypedId>)>,
    ) {
        let updates = summand.updates.iter().filter_map(|&(slot, value)| Some((self.places[slot]?, value))).collect();
        let (variables, event) = (variables.into_iter().collect(), Event::Actions(actions));
        self.process.summands.push(Summand { variables, conditions, event, updates, parts: Vec::new() });
    }
}

/// Whether a part can do a summand alone: it has all parameters that the summand uses, and the other one keeps its own.
fn is_alone(
    linear: &LinearProcess,
    summand: &Summand,
    side: &Side,
    other: &BTreeSet<VariableId>,
    changed: &BTreeSet<VariableId>,
) -> bool {
    let Event::Actions(actions) = &summand.event else { return false };
    let updates = summand.updates.iter().filter(|(slot, _)| side.places[*slot].is_some()).map(|(_, value)| value);
    let arguments = actions.iter().flat_map(|(_, arguments)| arguments);
    let mut used = summand.conditions.iter().chain(arguments).chain(updates);
    changed.is_disjoint(other)
        && used.all(|&id| {
            let known = |one: &VariableId| side.own.contains(one) || summand.variables.contains(one);
            variables(&linear.data, id).iter().all(known)
        })
}

/// The separation of a summand that both parts do, and the variables on whose values they agree.
fn halves(
    linear: &LinearProcess,
    summand: &Summand,
    actions: &[(ActionId, Vec<TypedId>)],
    owns: [&BTreeSet<VariableId>; 2],
) -> ([Half; 2], BTreeSet<VariableId>) {
    let data = &linear.data;
    let sums: BTreeSet<VariableId> = summand.variables.iter().copied().collect();
    let mut halves: [Half; 2] = [Half::default(), Half::default()];
    // Algorithm 8: an action goes to V when only V has its parameters.
    for (action, arguments) in actions {
        let used = all_variables(data, arguments);
        let fits = |own: &BTreeSet<VariableId>| used.iter().all(|one| own.contains(one) || sums.contains(one));
        let side = usize::from(!fits(owns[0]) || fits(owns[1]));
        halves[side].actions.push((*action, arguments.clone()));
        halves[side].used.extend(used);
    }
    for (half, own) in halves.iter_mut().zip(owns) {
        for &(slot, value) in &summand.updates {
            if own.contains(&linear.parameters[slot].variable) {
                half.used.extend(variables(data, value));
            }
        }
    }
    // Algorithm 9: each part computes one side of an equation.
    let mut left = Vec::new();
    for &condition in &summand.conditions {
        let sides = match applied(data, condition) {
            Some((Operator::Equal, &[one, other])) => Some((one, other)),
            _ => None,
        };
        let found = sides.and_then(|(one, other)| {
            let (mine, theirs) = (variables(data, one), variables(data, other));
            // A summed variable that only one side uses stays in its part.
            let is_private = |sum: &VariableId, foreign: &BTreeSet<VariableId>, part: usize| {
                !foreign.contains(sum)
                    && !halves[1 - part].used.contains(sum)
                    && is_enumerated(data, data.tree.variable(*sum).1)
            };
            let over = |used: &BTreeSet<VariableId>, foreign: &BTreeSet<VariableId>, part: usize| {
                let is_known =
                    |one: &VariableId| owns[part].contains(one) || sums.contains(one) && is_private(one, foreign, part);
                !used.is_disjoint(owns[part]) && used.iter().all(is_known)
            };
            if over(&mine, &theirs, 0) && over(&theirs, &mine, 1) {
                Some([one, other])
            } else if over(&mine, &theirs, 1) && over(&theirs, &mine, 0) {
                Some([other, one])
            } else {
                None
            }
        });
        match found {
            Some(pair) => halves.iter_mut().zip(pair).for_each(|(half, side)| half.compared.push(side)),
            None => left.push((condition, variables(data, condition))),
        }
    }
    // Algorithm 10: other conjuncts go where one of their variables is, with all that they need.
    let foreign: BTreeSet<VariableId> =
        halves.iter().zip(owns).flat_map(|(half, own)| half.used.difference(own)).copied().collect();
    let foreign: BTreeSet<VariableId> = foreign.difference(&sums).copied().collect();
    let mut placed = vec![false; left.len()];
    for (half, own) in halves.iter_mut().zip(owns) {
        let mut reached: BTreeSet<VariableId> = own.union(&foreign).copied().collect();
        reached.extend(half.used.iter().copied());
        loop {
            let before = reached.len();
            for (_, used) in &left {
                if !used.is_disjoint(&reached) {
                    reached.extend(used.iter().copied());
                }
            }
            if reached.len() == before {
                break;
            }
        }
        for (placed, (condition, used)) in placed.iter_mut().zip(&left) {
            if used.is_empty() || !used.is_disjoint(&reached) {
                half.conditions.push(*condition);
                half.used.extend(used.iter().copied());
                *placed = true;
            }
        }
    }
    // Conjuncts over summed variables that nothing else uses.
    for (_, (condition, used)) in placed.iter().zip(&left).filter(|(placed, _)| !**placed) {
        halves[1].conditions.push(*condition);
        halves[1].used.extend(used.iter().copied());
    }
    for half in &mut halves {
        let compared = all_variables(data, &half.compared);
        half.used.extend(compared);
    }
    let mut shared: BTreeSet<VariableId> = halves[0].used.intersection(&halves[1].used).copied().collect();
    shared.retain(|one| sums.contains(one));
    for (half, own) in halves.iter().zip(owns) {
        shared.extend(half.used.difference(own).filter(|one| !sums.contains(one)));
    }
    (halves, shared)
}

fn all_variables(data: &DataSpecification, ids: &[TypedId]) -> BTreeSet<VariableId> {
    ids.iter().flat_map(|&id| variables(data, id)).collect()
}
