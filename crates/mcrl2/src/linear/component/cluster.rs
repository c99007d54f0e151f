//! Summands of several control states as one.
//!
//! A step in which many components take part at once, such as the tick of a clock, exists for each combination of
//! their summands: three nodes with 300 ways to let time pass each have 27 million. Only where a bag of actions comes
//! about in too many ways summands are clustered (Groote, Ponse and Usenko, *Linearization in parallel pCRL*, 2001, do
//! it always): summands with the same sums and the same action become one whose condition and new values depend on the
//! control state. Where a control state has several of them, summed truth values say which one happens; each is one
//! under one choice of them, so that no step comes twice.
//!
//! A cluster reads what any of its summands reads. That is the price, and why nothing is clustered that need not be.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use trefoil_data::sorts::{BOOL, POS, SortRef};
use trefoil_terms::Term;

use super::super::Refusal;
use super::super::draft::state_term;
use super::super::expressions::{Expressions, Variable};
use super::{ComponentSummand, OpenAction, SequentialComponent};

/// What the summands of a cluster share: the sorts of their sums, and their action over such sums.
type Kind = (Vec<SortRef>, Vec<OpenAction>);

impl SequentialComponent {
    /// Clusters summands with the same sums and the same action. `name` is that of the control.
    pub(in super::super) fn cluster(&mut self, x: &mut Expressions<'_>, name: &str) -> Result<(), Refusal> {
        // Clusters in the order of their first summands.
        let mut clusters: Vec<Vec<ComponentSummand>> = Vec::new();
        let mut by_kind: HashMap<Kind, usize> = HashMap::new();
        let mut names = HashMap::new();
        for summand in std::mem::take(&mut self.summands) {
            let (sorts, _, action, _) = summand.body(x, &mut names)?;
            let next = clusters.len();
            let cluster = *by_kind.entry((sorts, action)).or_insert(next);
            if cluster == next {
                clusters.push(Vec::new());
            }
            let summand = match clusters[cluster].first() {
                Some(first) => summand.over(x, &first.sums.clone())?,
                None => summand,
            };
            clusters[cluster].push(summand);
        }
        let control = (clusters.iter().any(|cluster| cluster.len() > 1) && self.states.len() > 1)
            .then(|| *self.control.get_or_insert_with(|| x.variable(name, POS)));
        for cluster in clusters {
            let summand = match &cluster[..] {
                [one] => one.clone(),
                _ => self.joined(x, control.map(|control| x.leaf(control)), &cluster)?,
            };
            self.summands.push(summand);
        }
        Ok(())
    }

    /// Summands as one.
    fn joined(
        &self,
        x: &mut Expressions<'_>,
        control: Option<Term>,
        cluster: &[ComponentSummand],
    ) -> Result<ComponentSummand, Refusal> {
        let mut by_state: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (place, summand) in cluster.iter().enumerate() {
            by_state.entry(summand.moves[0].0).or_default().push(place);
        }
        let most = by_state.values().map(Vec::len).max().unwrap_or(1);
        let choices: Vec<Variable> =
            (0..most.next_power_of_two().trailing_zeros()).map(|_| x.variable("choice", BOOL)).collect();
        let mut states = Vec::new();
        for (state, places) in by_state {
            let test = match control {
                Some(control) => {
                    let state = state_term(x, state);
                    x.equal(POS, control, state)?
                }
                None => x.program.truth_term(true),
            };
            states.push((test, places));
        }
        let mut all = Vec::new();
        for summand in cluster {
            all.push(x.all(&summand.conditions)?);
        }
        let never = x.program.truth_term(false);
        let mut holds = never;
        for (test, places) in states.iter().rev() {
            let values: Vec<Term> = places.iter().map(|&place| all[place]).collect();
            let chosen = chosen(x, BOOL, &choices, &values, Some(never))?;
            holds = x.choice(BOOL, *test, chosen, holds)?;
        }
        let mut conditions = Vec::new();
        if !x.conjuncts(holds, &mut conditions)? {
            conditions = vec![never];
        }
        let by_state = |x: &mut Expressions<'_>, sort: SortRef, values: &[Term]| -> Result<Term, Refusal> {
            let mut result = None;
            for (test, places) in states.iter().rev() {
                let values: Vec<Term> = places.iter().map(|&place| values[place]).collect();
                let value = chosen(x, sort, &choices, &values, None)?;
                result = Some(match result {
                    Some(other) if other != value => x.choice(sort, *test, value, other)?,
                    _ => value,
                });
            }
            Ok(result.expect("a cluster has summands"))
        };
        let targets: Vec<Term> = cluster.iter().map(|summand| state_term(x, summand.moves[0].1)).collect();
        let next = by_state(x, POS, &targets)?;
        let updates: Vec<BTreeMap<usize, Term>> =
            cluster.iter().map(|summand| summand.updates.iter().copied().collect()).collect();
        let written: BTreeSet<usize> = updates.iter().flat_map(|updates| updates.keys().copied()).collect();
        let mut together = Vec::new();
        for parameter in written {
            let variable = self.parameters[parameter].variable;
            let (leaf, sort) = (x.leaf(variable), x.described(variable).sort);
            let values: Vec<Term> =
                updates.iter().map(|updates| updates.get(&parameter).copied().unwrap_or(leaf)).collect();
            together.push((parameter, by_state(x, sort, &values)?));
        }
        let mut moves: Vec<(usize, usize)> = cluster.iter().map(|summand| summand.moves[0]).collect();
        moves.sort_unstable();
        moves.dedup();
        Ok(ComponentSummand {
            moves,
            control: Some(next),
            sums: cluster[0].sums.iter().copied().chain(choices).collect(),
            conditions,
            action: cluster[0].action.clone(),
            updates: together,
            place: cluster[0].place,
        })
    }
}

/// The value that choices of truth values pick: the first when all are false, and so on in binary. Choices beyond the
/// last value give `beyond`, or any value.
fn chosen(
    x: &mut Expressions<'_>,
    sort: SortRef,
    choices: &[Variable],
    values: &[Term],
    beyond: Option<Term>,
) -> Result<Term, Refusal> {
    let Some((&choice, rest)) = choices.split_last() else { return Ok(values[0]) };
    let half = 1 << rest.len();
    let low = chosen(x, sort, rest, &values[..half.min(values.len())], beyond)?;
    let high = match (values.get(half..).filter(|high| !high.is_empty()), beyond) {
        (Some(high), _) => chosen(x, sort, rest, high, beyond)?,
        (None, Some(beyond)) => beyond,
        (None, None) => low,
    };
    if low == high {
        return Ok(low);
    }
    let choice = x.leaf(choice);
    x.choice(sort, choice, high, low)
}

impl ComponentSummand {
    /// The same summand over other variables of the same sorts.
    fn over(mut self, x: &mut Expressions<'_>, sums: &[Variable]) -> Result<ComponentSummand, Refusal> {
        let values: HashMap<Variable, Term> =
            self.sums.iter().zip(sums).map(|(&own, &other)| (own, x.leaf(other))).collect();
        for condition in &mut self.conditions {
            *condition = x.replace(*condition, &values)?;
        }
        for argument in self.action.iter_mut().flat_map(|(_, arguments)| arguments) {
            *argument = x.replace(*argument, &values)?;
        }
        for (_, value) in &mut self.updates {
            *value = x.replace(*value, &values)?;
        }
        self.sums = sums.to_vec();
        Ok(self)
    }
}
