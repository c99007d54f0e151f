//! The cleave: a linear process taken apart along its parameters.
//!
//! A partition gives each part some of the parameters; a parameter may be in several parts. Each summand is taken apart
//! into *halves*, one for each part that takes part in it (there may be more than two, the name is that of two parts).
//! Participants are all holders of a parameter that the summand changes, and enough others to cover what it reads. A
//! half has the updates of its part's parameters, the conjuncts over them, and the *columns*: values on which the
//! participants must agree. These are
//!
//! * a foreign parameter that a half needs, offered by a participant that holds it,
//! * a summed variable that two halves need, offered by the one whose conjuncts bound it,
//! * the two sides of a conjunct `h == h'`, each computed by one half; a summed variable with few values that only one
//!   side uses stays in the half of that side,
//! * the arguments of actions, computed by one half each.
//!
//! This is definition 3.3.6 of Laveaux, *Accelerated verification of concurrent systems* (2024), with algorithms 7 to
//! 10, for any number of parts. Departures: an argument goes where it costs the least, not its whole action; a summed
//! variable of one half is not synchronised; conjuncts that need foreign values go to one part and not to all; a
//! disjunction over several parts, and an `if` in an update whose test is foreign, are split into cases first.
//!
//! All halves together are one linear process over the original parameters and some *extra* ones for columns and
//! summed variables. So a value has the same number in every part, and halves are evaluated by the same code as
//! summands. A part's state is the row of its own parameters.
//!
//! A case may be stuck where the whole condition is not (`q == [] || head(q) == n`), and so may a side of an equation.
//! A summand for which that matters is not split at all: the caller names it and asks again.
//!
//! Invariants: equal halves of one part are one half. A half reads its part's parameters and its inputs, nothing else.
//! Columns of one summand are equal exactly when their parameters are.
//!
//! Cost: linear in the expressions, times the number of cases ([`cases`]).

mod cases;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

use trefoil_data::signature::Operator;
use trefoil_data::sorts::{BOOL, SortKind, SortRef};
use trefoil_data::syntax::tree::Container;
use trefoil_data::typed::{DataSpecification, Typed, TypedId, VariableId};

use super::expressions::{applied, is_enumerated, renamed, shape, variable, variables};
use crate::linear::{Event, LinearProcess, Maker, Parameter, Summand};
use crate::processes::ActionId;
use cases::Case;

/// A value on which participants must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Column {
    /// The parameter that has it.
    pub(super) slot: usize,
    /// Whether the step writes it; otherwise it was there before.
    pub(super) after: bool,
}

/// Foreign values that a half gets from one other part.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub(super) slots: Vec<usize>,
    /// The halves that offer them.
    pub(super) sources: BTreeSet<usize>,
    part: usize,
}

/// What a part does in a summand.
#[derive(Clone, Debug)]
pub(super) struct Half {
    pub(super) part: usize,
    /// Its summand in the process of halves.
    pub(super) group: usize,
    pub(super) inputs: Vec<Input>,
    /// Ascending.
    pub(super) columns: Vec<Column>,
    /// The summand whose steps say which values it offers, where these have to be known before its inputs.
    pub(super) offers: Option<usize>,
    /// Columns that are sides of equations: a value that is stuck makes the equation stuck.
    pub(super) compared: Vec<usize>,
    /// Whether a condition that is stuck here is stuck in the original.
    pub(super) exact: bool,
}

/// Where an argument of an action comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument {
    Column(usize),
    Constant(TypedId),
}

/// A case of a summand as its halves.
#[derive(Clone, Debug)]
pub(super) struct Joint {
    /// The summand of the original.
    pub(super) original: usize,
    pub(super) halves: Vec<usize>,
    /// The actions, each with the number of its arguments; none for termination.
    pub(super) actions: Option<Vec<(ActionId, usize)>>,
    /// Of all actions, in order.
    pub(super) arguments: Vec<Argument>,
}

/// A linear process in parts.
pub(super) struct Cleaved {
    /// The process of halves.
    pub(super) process: Arc<LinearProcess>,
    /// For each summand of that process, the one of the original that it comes from.
    pub(super) origins: Vec<usize>,
    /// The parameters of each part, ascending.
    pub(super) parts: Vec<Vec<usize>>,
    pub(super) halves: Vec<Half>,
    pub(super) joints: Vec<Joint>,
}

/// A sort without a known value.
pub(super) struct NoDefault(pub(super) SortRef);

/// Takes a linear process apart. The conditions and updates of summands in `whole` are not split into cases.
pub(super) fn cleave(
    linear: &LinearProcess,
    parts: &[Vec<usize>],
    whole: &BTreeSet<usize>,
) -> Result<Cleaved, NoDefault> {
    let parts: Vec<Vec<usize>> =
        parts.iter().map(|part| part.iter().copied().collect::<BTreeSet<usize>>().into_iter().collect()).collect();
    let mut cleaving = Cleaving {
        data: linear.data.clone(),
        linear,
        whole,
        own: parts.iter().map(|part| part.iter().map(|&slot| linear.parameters[slot].variable).collect()).collect(),
        slots: linear.parameters.iter().enumerate().map(|(slot, known)| (known.variable, slot)).collect(),
        parameters: linear.parameters.clone(),
        extra: HashMap::new(),
        summands: Vec::new(),
        origins: Vec::new(),
        halves: Vec::new(),
        known: HashMap::new(),
        joints: Vec::new(),
    };
    for original in 0..linear.summands.len() {
        for case in cleaving.cases_of(original) {
            cleaving.take_apart(original, &case)?;
        }
    }
    let Cleaving { data, parameters, summands, origins, halves, joints, .. } = cleaving;
    let process = LinearProcess {
        data,
        actions: linear.actions.clone(),
        components: linear.components.clone(),
        parameters,
        summands,
        report: Vec::new(),
        warnings: Vec::new(),
    };
    Ok(Cleaved { process: Arc::new(process), origins, parts, halves, joints })
}

/// A half while it is being made.
#[derive(Default)]
struct Draft {
    conditions: Vec<TypedId>,
    updates: Vec<(usize, TypedId)>,
    /// Extra parameters and what is written to them.
    computed: Vec<(usize, TypedId)>,
    compared: Vec<usize>,
    uses: BTreeSet<VariableId>,
    columns: BTreeSet<Column>,
}

struct Cleaving<'a> {
    data: DataSpecification,
    linear: &'a LinearProcess,
    /// Summands that are not split.
    whole: &'a BTreeSet<usize>,
    /// The variables of each part.
    own: Vec<BTreeSet<VariableId>>,
    slots: HashMap<VariableId, usize>,
    parameters: Vec<Parameter>,
    /// Extra parameters by sort and number.
    extra: HashMap<(SortRef, usize), usize>,
    summands: Vec<Summand>,
    origins: Vec<usize>,
    halves: Vec<Half>,
    known: HashMap<String, usize>,
    joints: Vec<Joint>,
}

impl Cleaving<'_> {
    /// The parameters among the variables of an expression.
    fn reads(&self, id: TypedId) -> BTreeSet<VariableId> {
        let mut all = variables(&self.data, id);
        all.retain(|variable| self.slots.contains_key(variable));
        all
    }

    /// Whether no part has all parameters of an expression.
    fn is_mixed(&self, id: TypedId) -> bool {
        let reads = self.reads(id);
        !self.own.iter().any(|own| reads.is_subset(own))
    }

    /// The parts that take part.
    fn participants(&self, case: &Case, arguments: &[TypedId]) -> Vec<usize> {
        let changed: BTreeSet<VariableId> =
            case.updates.iter().map(|&(slot, _)| self.linear.parameters[slot].variable).collect();
        let mut reads: BTreeSet<VariableId> = BTreeSet::new();
        let updates = case.updates.iter().map(|(_, value)| value);
        for &id in case.conditions.iter().chain(arguments).chain(updates) {
            reads.extend(self.reads(id));
        }
        let mut taken: BTreeSet<usize> =
            (0..self.own.len()).filter(|&part| !self.own[part].is_disjoint(&changed)).collect();
        loop {
            reads.retain(|read| !taken.iter().any(|&part| self.own[part].contains(read)));
            if reads.is_empty() {
                break;
            }
            let covered = |part: &usize| (self.own[*part].intersection(&reads).count(), usize::MAX - part);
            match (0..self.own.len()).max_by_key(covered) {
                Some(part) if covered(&part).0 > 0 => taken.insert(part),
                _ => unreachable!("every parameter is in a part"),
            };
        }
        if taken.is_empty() {
            taken.insert(0);
        }
        taken.into_iter().collect()
    }

    /// An extra parameter: the one with this number of a sort.
    fn extra(&mut self, sort: SortRef, numbers: &mut HashMap<SortRef, usize>) -> Result<usize, NoDefault> {
        let number = numbers.entry(sort).or_default();
        *number += 1;
        if let Some(&known) = self.extra.get(&(sort, *number)) {
            return Ok(known);
        }
        let place = self.linear.components[0].place;
        let mut maker = Maker { data: &mut self.data, place };
        let initial = maker.default(sort, &mut BTreeSet::new()).ok_or(NoDefault(sort))?;
        let slot = self.parameters.len();
        let source = format!("@column{slot}");
        let name = self.data.names.intern(&source);
        let variable = self.data.tree.add_variable(name, sort);
        let component = self.parameters.last().map_or(0, |parameter| parameter.component);
        self.parameters.push(Parameter { variable, source, sort, initial, component, control: None });
        self.extra.insert((sort, *number), slot);
        Ok(slot)
    }

    fn take_apart(&mut self, original: usize, case: &Case) -> Result<(), NoDefault> {
        let event = self.linear.summands[original].event.clone();
        let arguments: Vec<TypedId> = match &event {
            Event::Actions(actions) => actions.iter().flat_map(|(_, arguments)| arguments.clone()).collect(),
            Event::Terminate => Vec::new(),
        };
        let participants = self.participants(case, &arguments);
        let summed: BTreeSet<VariableId> = self.linear.summands[original].variables.iter().copied().collect();
        let mut drafts: Vec<Draft> = participants.iter().map(|_| Draft::default()).collect();
        let mut numbers: HashMap<SortRef, usize> = HashMap::new();
        for (draft, &part) in drafts.iter_mut().zip(&participants) {
            for &(slot, value) in &case.updates {
                if self.own[part].contains(&self.linear.parameters[slot].variable) {
                    draft.updates.push((slot, value));
                    draft.uses.extend(variables(&self.data, value));
                }
            }
        }
        let mut pairs: Vec<(usize, TypedId, usize, TypedId)> = Vec::new();
        let is_whole = self.whole.contains(&original);
        let free = self.assign_conditions((case, is_whole), &participants, &summed, &mut drafts, &mut pairs);
        let evaluated = self.assign_arguments(&arguments, &participants, &summed, &mut drafts);
        self.bound_sums(&free, &participants, &mut drafts);
        for (left, one, right, other) in pairs {
            let slot = self.extra(self.data.tree.sort(one), &mut numbers)?;
            drafts[left].computed.push((slot, one));
            drafts[right].computed.push((slot, other));
            for half in [left, right] {
                drafts[half].columns.insert(Column { slot, after: true });
                drafts[half].compared.push(slot);
            }
        }
        // Summed variables of several halves: one offers their values, the others take them.
        let mut inputs: Vec<BTreeMap<usize, BTreeSet<usize>>> = vec![BTreeMap::new(); drafts.len()];
        let mut guessed: Vec<BTreeMap<VariableId, VariableId>> = vec![BTreeMap::new(); drafts.len()];
        let mut offered: Vec<Vec<(usize, VariableId)>> = vec![Vec::new(); drafts.len()];
        let mut shown: HashMap<VariableId, usize> = HashMap::new();
        for &sum in &summed {
            let users: Vec<usize> = (0..drafts.len()).filter(|&half| drafts[half].uses.contains(&sum)).collect();
            if users.len() < 2 {
                continue;
            }
            let sort = self.data.tree.variable(sum).1;
            let slot = self.extra(sort, &mut numbers)?;
            shown.insert(sum, slot);
            let bounds = |half: &usize| {
                let about = drafts[*half].conditions.iter().filter(|&&condition| {
                    variables(&self.data, condition).contains(&sum)
                        && self.reads(condition).is_subset(&self.own[participants[*half]])
                });
                let bounding = about.clone().filter(|&&condition| self.is_bound(condition));
                (bounding.count(), about.count(), usize::MAX - half)
            };
            let Some(&owner) = users.iter().max_by_key(|half| bounds(half)) else { continue };
            let stand_in = self.parameters[slot].variable;
            for &half in &users {
                drafts[half].columns.insert(Column { slot, after: half == owner });
                if half == owner {
                    offered[half].push((slot, sum));
                } else {
                    guessed[half].insert(sum, stand_in);
                    inputs[half].entry(owner).or_default().insert(slot);
                }
            }
        }
        // Foreign parameters.
        for half in 0..drafts.len() {
            let foreign: Vec<VariableId> = drafts[half]
                .uses
                .iter()
                .copied()
                .filter(|used| self.slots.contains_key(used) && !self.own[participants[half]].contains(used))
                .collect();
            for parameter in foreign {
                let slot = self.slots[&parameter];
                let owner = (0..drafts.len()).find(|&other| self.own[participants[other]].contains(&parameter));
                let Some(owner) = owner else { unreachable!("participants cover what a summand reads") };
                inputs[half].entry(owner).or_default().insert(slot);
                for one in [half, owner] {
                    drafts[one].columns.insert(Column { slot, after: false });
                }
            }
        }
        let mut sources = Vec::new();
        for (place, &argument) in arguments.iter().enumerate() {
            sources.push(match evaluated[place] {
                None => Argument::Constant(argument),
                Some(half) => {
                    let direct = variable(&self.data, argument);
                    let parameter = direct.and_then(|variable| self.slots.get(&variable).copied());
                    let known = direct.and_then(|variable| shown.get(&variable).copied());
                    let slot = match (parameter, known) {
                        (Some(slot), _) => {
                            drafts[half].columns.insert(Column { slot, after: false });
                            slot
                        }
                        (None, Some(slot)) => slot,
                        (None, None) => {
                            let sort = self.argument_sort(&event, place);
                            let slot = self.extra(sort, &mut numbers)?;
                            drafts[half].computed.push((slot, argument));
                            drafts[half].columns.insert(Column { slot, after: true });
                            slot
                        }
                    };
                    Argument::Column(slot)
                }
            });
        }
        let mut halves = Vec::new();
        for (place, draft) in drafts.into_iter().enumerate() {
            let inputs: Vec<Input> = inputs[place]
                .iter()
                .map(|(&owner, slots)| Input {
                    slots: slots.iter().copied().collect(),
                    sources: BTreeSet::new(),
                    part: participants[owner],
                })
                .collect();
            let context = (original, participants[place], case.exact);
            halves.push(self.half(context, draft, inputs, &summed, &guessed[place], &offered[place]));
        }
        for &half in &halves {
            for input in 0..self.halves[half].inputs.len() {
                let part = self.halves[half].inputs[input].part;
                let source = halves.iter().copied().find(|&other| self.halves[other].part == part);
                self.halves[half].inputs[input].sources.extend(source);
            }
        }
        let actions = match &event {
            Event::Terminate => None,
            Event::Actions(actions) => Some(actions.iter().map(|(action, all)| (*action, all.len())).collect()),
        };
        self.joints.push(Joint { original, halves, actions, arguments: sources });
        Ok(())
    }

    fn argument_sort(&self, event: &Event, place: usize) -> SortRef {
        let Event::Actions(actions) = event else { unreachable!("termination has no arguments") };
        let sorts = actions.iter().flat_map(|(action, _)| &self.linear.actions[action.0 as usize].sorts);
        sorts.copied().nth(place).unwrap_or(BOOL)
    }

    /// How many columns a half would need for an expression with these variables.
    fn cost(&self, needed: &BTreeSet<VariableId>, half: usize, participants: &[usize], drafts: &[Draft]) -> usize {
        let missing = |variable: &&VariableId| {
            if drafts[half].uses.contains(variable) {
                return false;
            }
            if self.slots.contains_key(variable) {
                return !self.own[participants[half]].contains(variable);
            }
            drafts.iter().any(|draft| draft.uses.contains(variable))
        };
        needed.iter().filter(missing).count()
    }

    /// The half that needs the fewest columns for an expression.
    fn cheapest(&self, id: TypedId, participants: &[usize], drafts: &[Draft]) -> (usize, usize) {
        let needed = variables(&self.data, id);
        let costs = (0..drafts.len()).map(|half| {
            // Of equal costs the half that has the parameters itself.
            let foreign = needed
                .iter()
                .filter(|used| self.slots.contains_key(used) && !self.own[participants[half]].contains(used))
                .count();
            (self.cost(&needed, half, participants, drafts), foreign, half)
        });
        let Some((cost, _, half)) = costs.min() else { unreachable!("there are participants") };
        (cost, half)
    }

    /// Gives conditions to halves; those over summed variables alone are left.
    fn assign_conditions(
        &self,
        (case, is_whole): (&Case, bool),
        participants: &[usize],
        summed: &BTreeSet<VariableId>,
        drafts: &mut [Draft],
        pairs: &mut Vec<(usize, TypedId, usize, TypedId)>,
    ) -> Vec<TypedId> {
        let (mut bounding, mut mixed, mut free) = (Vec::new(), Vec::new(), Vec::new());
        for &condition in &case.conditions {
            let reads = self.reads(condition);
            let sums = variables(&self.data, condition).iter().any(|variable| summed.contains(variable));
            let holders: Vec<usize> =
                (0..drafts.len()).filter(|&half| reads.is_subset(&self.own[participants[half]])).collect();
            if reads.is_empty() && sums {
                free.push(condition);
            } else if holders.is_empty() {
                mixed.push(condition);
            } else if sums {
                bounding.push(condition);
            } else if reads.is_empty() {
                drafts[0].conditions.push(condition);
            } else {
                holders.into_iter().for_each(|half| drafts[half].conditions.push(condition));
            }
        }
        let give = |half: usize, condition: TypedId, drafts: &mut [Draft]| {
            drafts[half].uses.extend(variables(&self.data, condition));
            drafts[half].conditions.push(condition);
        };
        for condition in bounding {
            let (_, half) = self.cheapest(condition, participants, drafts);
            give(half, condition, drafts);
        }
        for condition in mixed {
            let (cost, half) = self.cheapest(condition, participants, drafts);
            let is_split = cost > 0 && !is_whole;
            let pair = if is_split { self.equal_sides(condition, participants, summed, drafts) } else { None };
            match pair {
                Some(pair) => {
                    for (half, side) in [(pair.0, pair.1), (pair.2, pair.3)] {
                        drafts[half].uses.extend(variables(&self.data, side).intersection(summed));
                    }
                    pairs.push(pair);
                }
                None => give(half, condition, drafts),
            }
        }
        free
    }

    /// Conditions over summed variables alone bound them wherever they are used.
    fn bound_sums(&self, free: &[TypedId], participants: &[usize], drafts: &mut [Draft]) {
        let is_used = |draft: &Draft, needed: &BTreeSet<VariableId>| needed.is_subset(&draft.uses);
        // First every condition gets a half that knows its variables.
        for &condition in free {
            let needed = variables(&self.data, condition);
            if !drafts.iter().any(|draft| is_used(draft, &needed)) {
                let (_, half) = self.cheapest(condition, participants, drafts);
                drafts[half].uses.extend(needed);
            }
        }
        for &condition in free {
            let needed = variables(&self.data, condition);
            for draft in drafts.iter_mut().filter(|draft| is_used(draft, &needed)) {
                draft.conditions.push(condition);
            }
        }
    }

    /// Whether a condition is of a form that bounds a variable.
    fn is_bound(&self, condition: TypedId) -> bool {
        use Operator::{Equal, Greater, GreaterEqual, In, Less, LessEqual};
        let operator = applied(&self.data, condition).map(|(operator, _)| operator);
        operator.is_some_and(|one| [Equal, Less, LessEqual, Greater, GreaterEqual, In].contains(&one))
    }

    /// The halves that can each compute one side of an equation.
    fn equal_sides(
        &self,
        condition: TypedId,
        participants: &[usize],
        summed: &BTreeSet<VariableId>,
        drafts: &[Draft],
    ) -> Option<(usize, TypedId, usize, TypedId)> {
        let (Operator::Equal, &[left, right]) = applied(&self.data, condition)? else { return None };
        let holder = |side: TypedId, other: TypedId| {
            let needed = variables(&self.data, side);
            let foreign = variables(&self.data, other);
            (0..participants.len()).find(|&half| {
                let own = &self.own[participants[half]];
                let is_private = |sum: &VariableId| {
                    let others = drafts.iter().enumerate().filter(|&(place, _)| place != half);
                    !foreign.contains(sum)
                        && is_enumerated(&self.data, self.data.tree.variable(*sum).1)
                        && others.into_iter().all(|(_, draft)| !draft.uses.contains(sum))
                };
                let is_known = |one: &VariableId| own.contains(one) || summed.contains(one) && is_private(one);
                !needed.is_disjoint(own) && needed.iter().all(is_known)
            })
        };
        let (one, other) = (holder(left, right)?, holder(right, left)?);
        let as_terms = self.is_compared_as_terms(self.data.tree.sort(left), &mut BTreeSet::new());
        (as_terms && one != other).then_some((one, left, other, right))
    }

    /// Whether values of a sort are equal exactly when they are the same terms: numbers, constructors and lists.
    fn is_compared_as_terms(&self, sort: SortRef, met: &mut BTreeSet<SortRef>) -> bool {
        if !met.insert(sort) {
            return true;
        }
        match self.data.sorts.kind(sort) {
            SortKind::Basic(_) => true,
            SortKind::Container(Container::List, element) => self.is_compared_as_terms(*element, met),
            SortKind::Container(..) | SortKind::Function(..) => false,
            SortKind::Named(_) | SortKind::Structured(_) => {
                let constructors = self.data.sorts.constructors(sort);
                let shapes = constructors.iter().map(|&one| self.data.signature.function(one).sort);
                let mut fields = shapes.filter_map(|shape| self.data.sorts.as_function(shape)).flat_map(|all| all.0);
                !constructors.is_empty() && fields.all(|&field| self.is_compared_as_terms(field, met))
            }
        }
    }

    /// The half that evaluates each argument; none for constants.
    fn assign_arguments(
        &self,
        arguments: &[TypedId],
        participants: &[usize],
        summed: &BTreeSet<VariableId>,
        drafts: &mut [Draft],
    ) -> Vec<Option<usize>> {
        let mut evaluated = Vec::new();
        for &argument in arguments {
            let needed = variables(&self.data, argument);
            debug_assert!(needed.iter().all(|one| summed.contains(one) || self.slots.contains_key(one)));
            if needed.is_empty() {
                evaluated.push(None);
                continue;
            }
            let (_, half) = self.cheapest(argument, participants, drafts);
            drafts[half].uses.extend(needed);
            evaluated.push(Some(half));
        }
        evaluated
    }

    /// Adds a half, unless it is there already.
    fn half(
        &mut self,
        (original, part, exact): (usize, usize, bool),
        draft: Draft,
        inputs: Vec<Input>,
        summed: &BTreeSet<VariableId>,
        guessed: &BTreeMap<VariableId, VariableId>,
        offered: &[(usize, VariableId)],
    ) -> usize {
        let rename = |cleaving: &mut Self, id: TypedId| renamed(&mut cleaving.data, id, guessed);
        let mut conditions: Vec<TypedId> = draft.conditions.iter().map(|&id| rename(self, id)).collect();
        let mut updates: Vec<(usize, TypedId)> =
            draft.updates.iter().chain(&draft.computed).map(|&(slot, id)| (slot, rename(self, id))).collect();
        let place = self.linear.components[0].place;
        let mut own_sums: BTreeSet<VariableId> = draft.uses.intersection(summed).copied().collect();
        own_sums.retain(|sum| !guessed.contains_key(sum));
        let mut offering: Vec<(usize, TypedId)> = Vec::new();
        for &(slot, sum) in offered {
            let sort = self.data.tree.variable(sum).1;
            offering.push((slot, self.data.tree.add(Typed::Variable(sum), sort, place)));
        }
        updates.extend(&offering);
        updates.sort_unstable_by_key(|&(slot, _)| slot);
        let columns: Vec<Column> = draft.columns.into_iter().collect();
        let compared = draft.compared;
        let mut key = format!("{part} {exact} {columns:?} {compared:?} ");
        let mut seen = HashMap::new();
        conditions.sort_by_cached_key(|&id| self.text(id, summed));
        // Two conjuncts are one only if they are about the same summed variables.
        let mut met: BTreeSet<String> = BTreeSet::new();
        conditions.retain(|&id| met.insert(self.text(id, &BTreeSet::new())));
        for &condition in &conditions {
            shape(&self.data, condition, summed, &mut seen, &mut key);
            key.push('&');
        }
        for &(slot, value) in &updates {
            let _ = write!(key, "{slot}:=");
            shape(&self.data, value, summed, &mut seen, &mut key);
        }
        for input in &inputs {
            let _ = write!(key, "{}<{:?}", input.part, input.slots);
        }
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let foreign: BTreeSet<VariableId> =
            inputs.iter().flat_map(|input| &input.slots).map(|&slot| self.parameters[slot].variable).collect();
        let parts: Vec<_> = self.linear.summands[original].parts.iter().take(1).cloned().collect();
        let summand = |variables: &BTreeSet<VariableId>, conditions: Vec<TypedId>, updates: Vec<_>| Summand {
            variables: variables.iter().copied().collect(),
            conditions,
            event: Event::Actions(Vec::new()),
            updates,
            parts: parts.clone(),
        };
        let offers = (!inputs.is_empty()).then(|| {
            let mut before = conditions.clone();
            before.retain(|&condition| variables(&self.data, condition).is_disjoint(&foreign));
            let mut needed: BTreeSet<VariableId> = offered.iter().map(|&(_, sum)| sum).collect();
            for &condition in &before {
                needed.extend(variables(&self.data, condition).intersection(summed));
            }
            (needed, before)
        });
        let group = self.summands.len();
        self.summands.push(summand(&own_sums, conditions, updates));
        let offers = offers.map(|(needed, before)| {
            self.summands.push(summand(&needed, before, offering));
            group + 1
        });
        self.origins.resize(self.summands.len(), original);
        let half = self.halves.len();
        self.halves.push(Half { part, group, inputs, columns, offers, compared, exact });
        self.known.insert(key, half);
        half
    }

    fn text(&self, id: TypedId, summed: &BTreeSet<VariableId>) -> String {
        let mut text = String::new();
        shape(&self.data, id, summed, &mut HashMap::new(), &mut text);
        text
    }
}
