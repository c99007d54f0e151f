//! The moves of a formula's graph as code over numbers.
//!
//! Which steps of a model a move takes depends on the label: on the names of its parts, and on the values of their
//! arguments. Names are decided here. Of all bags of names only those matter that the formula itself mentions; all
//! other labels are alike, because no part of the formula matches them. So for each move and each such *shape* the set
//! of labels becomes a condition over the variables of the formula and one variable for each argument of the label
//! (an action matches in as many ways as there are bijections between its parts and those of the label). That condition
//! and the move's own are one conjunction, and the values that the move chooses are the solutions of it, which crate
//! `data` lists: the one-point rule, ranges and finite sorts are its business.
//!
//! Cost: moves times shapes, each a conjunction that is mostly false before it is compiled.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_data::rewrite::{FunctionIndex, Program, Size, Sum, SumIndex};
use trefoil_data::sorts::SortRef;
use trefoil_data::typed::{Quantifier as DataQuantifier, Typed, TypedId, VariableId};
use trefoil_source::Span;
use trefoil_terms::{Options, Pool};

use super::super::tree::{Connective, Quantifier};
use super::super::typed::{Formula, LabelSet, LabelSetId};
use super::expressions::Maker;
use super::growth::Growth;
use super::nodes::{Graph, Move, NodeId, graph};
use super::observed::{Observed, observed};
use super::values::{Found, Operations, ValueReader};
use crate::solve::Player;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// The variable in this place of the row.
    Slot(u32),
    /// An argument of the label.
    Argument(u32),
    /// A variable that the move chooses.
    Chosen(u32),
    /// What the state of the model shows, in this place of [`Compiled::observed`].
    Observed(u32),
}

/// Which values a move can choose for a shape of labels.
#[derive(Clone, Debug)]
pub(super) enum Check {
    /// None.
    Never,
    /// There is nothing to choose and nothing to check.
    Always,
    /// There is nothing to choose.
    Condition(FunctionIndex, Vec<Input>),
    /// The solutions of a sum.
    Choice(SumIndex, Vec<Input>),
}

impl Check {
    pub(super) fn inputs(&self) -> &[Input] {
        match self {
            Check::Never | Check::Always => &[],
            Check::Condition(_, inputs) | Check::Choice(_, inputs) => inputs,
        }
    }
}

/// The new value of a variable.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// A value that is there.
    Input(Input),
    /// A computed one.
    Evaluated(FunctionIndex, Vec<Input>),
}

/// What a move does with the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Nothing.
    Nothing,
    /// It looks at the labels that are possible.
    Looks,
    /// It takes a step.
    Steps,
}

/// A move as code.
#[derive(Clone, Debug)]
pub(super) struct MovePlan {
    pub(super) target: NodeId,
    pub(super) uses: Use,
    /// For a move that takes no notice of labels one check, for others one for each shape and one for all other labels.
    pub(super) checks: Vec<Check>,
    /// Variables that get new values, by their slots.
    pub(super) sources: Vec<(u32, Source)>,
    /// Slots of variables that are not live in the target.
    pub(super) dropped: Vec<u32>,
    /// The slots that it reads.
    pub(super) reads: Vec<u32>,
    /// What it reads of the state of the model, places in [`Compiled::observed`].
    pub(super) observed: Vec<u32>,
    /// Where the condition stands.
    pub(super) place: Span,
}

/// A node as code.
#[derive(Clone, Debug)]
pub(super) struct NodePlan {
    pub(super) owner: Player,
    pub(super) priority: u32,
    pub(super) moves: Vec<MovePlan>,
}

/// Labels with these actions, places in the signature, ascending.
pub(super) type Shape = Vec<usize>;

/// A formula as code, for any model with its actions.
pub(super) struct Compiled {
    pub(super) formula: Formula,
    pub(super) graph: Graph,
    pub(super) pool: Pool,
    pub(super) program: Arc<Program>,
    pub(super) found: Arc<Found>,
    pub(super) reader: ValueReader,
    pub(super) shapes: Vec<Shape>,
    /// The variables that have slots, in the order of these.
    pub(super) variables: Vec<VariableId>,
    /// What the formula sees of states of the model.
    pub(super) observed: Vec<Observed>,
    pub(super) nodes: Vec<NodePlan>,
    pub(super) priorities: u32,
    /// How many values the variables had.
    pub(super) growth: Growth,
}

/// A check before its code is known.
#[derive(Clone)]
enum Pending {
    Never,
    Always,
    Condition(usize, Vec<Input>),
    Choice(usize, Vec<Input>),
}

impl Compiled {
    pub(super) fn new(mut formula: Formula, control: &Control) -> Result<Compiled, Stopped> {
        let is_finite = |formula: &Formula, variable: VariableId| {
            let data = &formula.signature.data;
            matches!(data.size(data.tree.variable(variable).1), Size::Finite(_))
        };
        let observed = observed(&mut formula);
        let seen: BTreeSet<VariableId> = observed.iter().map(|observed| observed.variable).collect();
        let graph = graph(&mut formula, &is_finite, &seen, control)?;
        let place = formula.place(formula.root);
        let shapes = shapes(&formula);
        // A variable for each argument of each shape.
        let arguments: Vec<Vec<Vec<(VariableId, TypedId)>>> = shapes
            .iter()
            .map(|shape| {
                let actions: Vec<Vec<SortRef>> =
                    shape.iter().map(|&action| formula.signature.actions[action].sorts.clone()).collect();
                let mut maker = Maker { data: &mut formula.signature.data, place };
                actions
                    .into_iter()
                    .map(|sorts| sorts.into_iter().map(|sort| maker.variable("@argument", sort)).collect())
                    .collect()
            })
            .collect();
        let live: BTreeSet<VariableId> = graph.nodes.iter().flat_map(|node| node.live.iter().copied()).collect();
        let variables: Vec<VariableId> = live.into_iter().collect();
        let slots: HashMap<VariableId, u32> =
            variables.iter().enumerate().map(|(place, &variable)| (variable, place as u32 + 1)).collect();
        let inputs = slots.iter().map(|(&variable, &slot)| (variable, Input::Slot(slot)));
        let shown = observed.iter().enumerate();
        let inputs = inputs.chain(shown.map(|(place, one)| (one.variable, Input::Observed(place as u32)))).collect();
        let mut pending = Collecting { slots, inputs, expressions: Vec::new(), sums: Vec::new() };
        let mut drafts = Vec::new();
        // Moves that only look at labels share their checks.
        let mut of_labels: HashMap<LabelSetId, Vec<Pending>> = HashMap::new();
        for node in &graph.nodes {
            for step in &node.moves {
                control.check()?;
                let labels = step.step.or(step.offered);
                let checks: Vec<Pending> = match labels {
                    None => vec![pending.check(&mut formula, step, None, &[], place)],
                    Some(labels) => {
                        let is_plain = step.variables.is_empty() && step.conditions.is_empty();
                        let known = of_labels.get(&labels).filter(|_| is_plain);
                        let other = (None, &[][..]);
                        let all = shapes.iter().zip(&arguments);
                        let all = all.map(|(shape, own)| (Some(&shape[..]), &own[..])).chain([other]);
                        let checks = all.map(|(shape, own)| {
                            let condition = sat(&mut formula, labels, shape, own, place, control)?;
                            Ok(pending.check(&mut formula, step, Some(condition), own, place))
                        });
                        match known {
                            Some(known) => known.clone(),
                            None => {
                                let checks = checks.collect::<Result<Vec<Pending>, Stopped>>()?;
                                if is_plain {
                                    of_labels.insert(labels, checks.clone());
                                }
                                checks
                            }
                        }
                    }
                };
                let live = &graph.nodes[step.target.0 as usize].live;
                let mut sources = Vec::new();
                for &variable in live {
                    let slot = pending.slots[&variable];
                    if let Some(&(_, value)) = step.assignments.iter().find(|(assigned, _)| *assigned == variable) {
                        // A variable that is assigned to itself stays as it is, and is not read.
                        let tree = &formula.signature.data.tree;
                        let is_same = matches!(tree.expression(value), Typed::Variable(same) if *same == variable);
                        if is_same && !step.variables.contains(&variable) {
                            continue;
                        }
                        sources.push((slot, pending.source(&formula, step, value)));
                    } else if let Some(place) = step.variables.iter().position(|&chosen| chosen == variable) {
                        sources.push((slot, (None, vec![Input::Chosen(place as u32)])));
                    }
                }
                let dropped = node.live.iter().filter(|variable| !live.contains(variable));
                let dropped: Vec<u32> = dropped.map(|variable| pending.slots[variable]).collect();
                drafts.push((checks, sources, dropped));
            }
        }
        let sorts: BTreeSet<SortRef> = shapes
            .iter()
            .flatten()
            .flat_map(|&action| formula.signature.actions[action].sorts.iter().copied())
            .chain(observed.iter().map(|observed| observed.sort))
            .collect();
        let operations = Operations::new(&mut formula.signature.data, &sorts, place);
        let Collecting { mut expressions, sums, .. } = pending;
        let own = expressions.len();
        expressions.extend(operations.expressions());
        let pool = Pool::new(Options { control: control.clone(), ..Options::default() });
        let (program, codes, sums) = Program::with_sums(formula.signature.data.clone(), &expressions, &sums, &pool);
        let program = Arc::new(program);
        let found = Arc::new(Found::new(program.clone(), &pool));
        let reader = operations.reader(&codes[own..]);
        let mut drafts = drafts.into_iter();
        control.check()?;
        let nodes: Vec<NodePlan> = graph
            .nodes
            .iter()
            .map(|node| {
                let moves = node.moves.iter().zip(drafts.by_ref()).map(|(step, (checks, sources, dropped))| {
                    let checks: Vec<Check> = checks
                        .into_iter()
                        .map(|check| match check {
                            Pending::Never => Check::Never,
                            Pending::Always => Check::Always,
                            Pending::Condition(place, inputs) => Check::Condition(codes[place], inputs),
                            Pending::Choice(place, inputs) => Check::Choice(sums[place], inputs),
                        })
                        .collect();
                    let sources: Vec<(u32, Source)> = sources
                        .into_iter()
                        .map(|(slot, (code, inputs))| match code {
                            Some(place) => (slot, Source::Evaluated(codes[place], inputs)),
                            None => (slot, Source::Input(inputs[0])),
                        })
                        .collect();
                    let read = checks.iter().flat_map(|check| check.inputs().to_vec());
                    let read = read.chain(sources.iter().flat_map(|(_, source)| match source {
                        Source::Input(input) => vec![*input],
                        Source::Evaluated(_, inputs) => inputs.clone(),
                    }));
                    let (mut reads, mut observed) = (BTreeSet::new(), BTreeSet::new());
                    for input in read {
                        match input {
                            Input::Slot(slot) => reads.insert(slot),
                            Input::Observed(place) => observed.insert(place),
                            Input::Argument(_) | Input::Chosen(_) => false,
                        };
                    }
                    let (reads, observed) = (reads.into_iter().collect(), observed.into_iter().collect());
                    let uses = match (step.step, step.offered) {
                        (Some(_), _) => Use::Steps,
                        (None, Some(_)) => Use::Looks,
                        (None, None) => Use::Nothing,
                    };
                    let place = formula.place(node.part.0);
                    MovePlan { target: step.target, uses, checks, sources, dropped, reads, observed, place }
                });
                NodePlan { owner: node.owner, priority: node.priority, moves: moves.collect() }
            })
            .collect();
        let priorities = graph.nodes.iter().map(|node| node.priority).max().unwrap_or(0) + 1;
        let growth = Growth::new(variables.len());
        Ok(Compiled {
            formula,
            graph,
            pool,
            program,
            found,
            reader,
            shapes,
            variables,
            observed,
            nodes,
            priorities,
            growth,
        })
    }
}

/// The expressions that are to be compiled.
struct Collecting {
    slots: HashMap<VariableId, u32>,
    /// Where the value of a variable comes from that no move chooses.
    inputs: HashMap<VariableId, Input>,
    expressions: Vec<(TypedId, Vec<VariableId>)>,
    sums: Vec<Sum>,
}

impl Collecting {
    /// Which values a move can choose, given what its labels ask for.
    fn check(
        &mut self,
        formula: &mut Formula,
        step: &Move,
        labels: Option<TypedId>,
        arguments: &[Vec<(VariableId, TypedId)>],
        place: Span,
    ) -> Pending {
        let mut maker = Maker { data: &mut formula.signature.data, place };
        let all: Vec<TypedId> = labels.into_iter().chain(step.conditions.iter().copied()).collect();
        let condition = maker.conjunction(&all);
        let truth = maker.truth(condition);
        if truth == Some(false) {
            return Pending::Never;
        }
        if step.variables.is_empty() && truth == Some(true) {
            return Pending::Always;
        }
        let mut parameters = formula.signature.data.tree.free_variables(condition);
        parameters.sort_unstable();
        parameters.dedup();
        parameters.retain(|variable| !step.variables.contains(variable));
        let flat: Vec<VariableId> = arguments.iter().flatten().map(|&(variable, _)| variable).collect();
        let input = |variable: &VariableId| match flat.iter().position(|argument| argument == variable) {
            Some(place) => Input::Argument(place as u32),
            None => self.inputs[variable],
        };
        let inputs: Vec<Input> = parameters.iter().map(input).collect();
        if step.variables.is_empty() {
            self.expressions.push((condition, parameters));
            return Pending::Condition(self.expressions.len() - 1, inputs);
        }
        self.sums.push(Sum { parameters, variables: step.variables.clone(), condition });
        Pending::Choice(self.sums.len() - 1, inputs)
    }

    /// The value of a variable after a move: the place of its code if it needs one, and what it is made of.
    fn source(&mut self, formula: &Formula, step: &Move, value: TypedId) -> (Option<usize>, Vec<Input>) {
        let tree = &formula.signature.data.tree;
        let mut free = tree.free_variables(value);
        free.sort_unstable();
        free.dedup();
        let input = |variable: &VariableId| match step.variables.iter().position(|chosen| chosen == variable) {
            Some(place) => Input::Chosen(place as u32),
            None => self.inputs[variable],
        };
        let inputs: Vec<Input> = free.iter().map(input).collect();
        if let Typed::Variable(_) = tree.expression(value) {
            return (None, inputs);
        }
        self.expressions.push((value, free));
        (Some(self.expressions.len() - 1), inputs)
    }
}

/// The bags of actions that a formula mentions.
fn shapes(formula: &Formula) -> Vec<Shape> {
    let mut shapes = BTreeSet::new();
    for set in &formula.label_sets {
        if let LabelSet::Multi(parts) = set {
            let mut shape: Shape = parts.iter().map(|&(action, _)| action).collect();
            shape.sort_unstable();
            shapes.insert(shape);
        }
    }
    shapes.into_iter().collect()
}

/// When a label is in a set, as a condition: a label of a shape with these arguments, or one that the formula does not
/// mention.
fn sat(
    formula: &mut Formula,
    labels: LabelSetId,
    shape: Option<&[usize]>,
    arguments: &[Vec<(VariableId, TypedId)>],
    place: Span,
    control: &Control,
) -> Result<TypedId, Stopped> {
    control.check()?;
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || sat_inside(formula, labels, shape, arguments, place, control))
}

fn sat_inside(
    formula: &mut Formula,
    labels: LabelSetId,
    shape: Option<&[usize]>,
    arguments: &[Vec<(VariableId, TypedId)>],
    place: Span,
    control: &Control,
) -> Result<TypedId, Stopped> {
    Ok(match formula.label_set(labels).clone() {
        LabelSet::Constant(value) => Maker { data: &mut formula.signature.data, place }.constant(value),
        LabelSet::Value(value) => value,
        LabelSet::Not(inside) => {
            let inside = sat(formula, inside, shape, arguments, place, control)?;
            Maker { data: &mut formula.signature.data, place }.not(inside)
        }
        LabelSet::Infix(connective, left, right) => {
            let left = sat(formula, left, shape, arguments, place, control)?;
            let right = sat(formula, right, shape, arguments, place, control)?;
            let mut maker = Maker { data: &mut formula.signature.data, place };
            match connective {
                Connective::And => maker.and(left, right),
                Connective::Or => maker.or(left, right),
                Connective::Implies => {
                    let left = maker.not(left);
                    maker.or(left, right)
                }
            }
        }
        LabelSet::Quantified(quantifier, mut variables, mut inside) => {
            // Quantifiers inside each other are one.
            while let LabelSet::Quantified(same, more, body) = formula.label_set(inside)
                && *same == quantifier
            {
                variables.extend(more);
                inside = *body;
            }
            let inside = sat(formula, inside, shape, arguments, place, control)?;
            let quantifier = match quantifier {
                Quantifier::Forall => DataQuantifier::Forall,
                Quantifier::Exists => DataQuantifier::Exists,
            };
            Maker { data: &mut formula.signature.data, place }.quantified(quantifier, &variables, inside)
        }
        LabelSet::Multi(mut parts) => {
            parts.sort_by_key(|&(action, _)| action);
            let mut maker = Maker { data: &mut formula.signature.data, place };
            let mut any = maker.constant(false);
            let same = shape.is_some_and(|shape| shape.iter().copied().eq(parts.iter().map(|&(action, _)| action)));
            let Some(shape) = shape.filter(|_| same) else { return Ok(any) };
            let mut taken = vec![false; shape.len()];
            let mut matching = Vec::new();
            each_matching(shape, &mut taken, &mut matching, &mut |matching| {
                let mut equalities = Vec::new();
                for ((_, values), &position) in parts.iter().zip(matching) {
                    for (&value, &(_, argument)) in values.iter().zip(&arguments[position]) {
                        equalities.push(maker.equal(argument, value));
                    }
                }
                let all = maker.conjunction(&equalities);
                any = maker.or(any, all);
            });
            any
        }
    })
}

/// Every bijection between equal entries of an ascending list.
fn each_matching(shape: &[usize], taken: &mut Vec<bool>, matching: &mut Vec<usize>, each: &mut dyn FnMut(&[usize])) {
    let place = matching.len();
    if place == shape.len() {
        each(matching);
        return;
    }
    for position in 0..shape.len() {
        if !taken[position] && shape[position] == shape[place] {
            taken[position] = true;
            matching.push(position);
            each_matching(shape, taken, matching, each);
            matching.pop();
            taken[position] = false;
        }
    }
}
