//! Linear processes: a specification as one flat set of summands.
//!
//! A linear process has parameters with initial values, and summands `sum e. c -> a(f) . P(g)`: for values `e` with
//! which the condition `c` holds, the action `a(f)` happens and parameters get the values `g`. Every process without
//! unbounded recursion under `.` and without recursion through `||` has such a form (Groote and Ponse, *The syntax and
//! semantics of muCRL*, 1995; Usenko, *Linearization in muCRL*, 2002; Groote and Mousavi, *Modeling and analysis of
//! communicating systems*, 2014; the notation is that of Laveaux, *Accelerated verification of concurrent systems*,
//! 2024, chapter 3).
//!
//! How it is made, in the order of the files:
//!
//! 1. `structure.rs` unfolds the initial process into operators over sequential components.
//! 2. `component.rs` turns each component, with the constants of its call put in, into a graph of control states.
//! 3. `join.rs` finds the combinations of component summands that the operators let through.
//! 4. `draft.rs` makes one summand of each combination; `analyses.rs` makes the whole smaller.
//! 5. `finish.rs` gives names to variables and reads terms back as typed expressions.
//!
//! Where this departs from mCRL2's lineariser. Sequential parts are never brought into Greibach form: control states
//! are continuations, found by taking steps, so equal continuations are one state whatever names they have in the text.
//! Parallel parts are never multiplied pairwise: combinations are searched from the outermost operator inwards. Nothing
//! is clustered as long as combinations are few enough, so a summand stays as local as the components it comes from. A
//! condition is a list of conjuncts, and an update names only the parameters that change.
//!
//! Invariants. Parameters of a component are read and written by summands that the component takes part in, and by no
//! others. Summed variables of a summand occur in no other summand's parts. A parameter that its component's control
//! state does not use has its idle value. Summands come in an order that the text alone determines.
//!
//! Termination: when every component has terminated, one joint step `Terminate` is possible, once.
//!
//! Cost: linear in the summands of the result, times the size of their terms, for all but `join.rs`, which says more.

mod analyses;
mod apart;
mod cases;
pub mod codes;
mod component;
mod draft;
mod expressions;
mod finish;
mod join;
mod print;
mod sets;
mod structure;
mod unfold;

use trefoil_control::{Control, Stopped};
use trefoil_data::rewrite::{Program, Rewriter, Size};
use trefoil_data::sorts::SortRef;
use trefoil_data::typed::{DataSpecification, TypedId, VariableId};
use trefoil_source::{Diagnostic, Place, Span};
use trefoil_terms::{Options, Pool};

use crate::processes::{Action, ActionDeclaration, ActionId, ProcessSpecification};

use component::{Sequential, SequentialComponent};
use draft::Draft;
use expressions::{Environment, Expressions, Prepared};
use join::Joining;
use structure::Unfolding;

pub(crate) use expressions::Maker;
pub use print::print;
pub(crate) use print::{TERMINATE, call, declarations, equation, fresh};

/// Why a specification has no linear process.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// The specification is at fault.
    Wrong(Vec<Diagnostic>),
    /// A budget ran out, or the user interrupted.
    Stopped(Stopped),
}

impl From<Stopped> for Refusal {
    fn from(stopped: Stopped) -> Refusal {
        Refusal::Stopped(stopped)
    }
}

/// Which analyses run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Analyses {
    /// Parameters that never change are replaced by their values.
    pub constants: bool,
    /// Parameters that nothing depends on are removed.
    pub redundant: bool,
    /// Sums over finite sorts are replaced by their instances where that decides a conjunct.
    pub finite_sums: bool,
    /// Parameters that are not read before they get a new value are reset.
    pub dead: bool,
    /// Parameters that hold structures, lists, functions or sets are taken apart where that helps.
    pub unfold: bool,
}

impl Analyses {
    /// All of them.
    pub const ALL: Analyses =
        Analyses { constants: true, redundant: true, finite_sums: true, dead: true, unfold: true };
    /// None of them.
    pub const NONE: Analyses =
        Analyses { constants: false, redundant: false, finite_sums: false, dead: false, unfold: false };
}

/// A sequential component of a linear process.
#[derive(Clone, Debug)]
pub struct Component {
    /// The call it comes from, as text: `Phil(1)`.
    pub name: String,
    /// Where it stands.
    pub place: Span,
    /// What each of its control states is about to do, as text; the first one is initial.
    pub states: Vec<String>,
    /// Its summands before they were joined with those of others.
    pub summands: Vec<ComponentSummand>,
}

/// A summand of a component.
#[derive(Clone, Debug)]
pub struct ComponentSummand {
    /// The actions that the component contributes; none is `tau`.
    pub actions: Vec<ActionId>,
    /// Where they stand.
    pub place: Span,
}

/// A parameter of a linear process.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The variable that stands for it in expressions; its name is unique in the linear process.
    pub variable: VariableId,
    /// Its name in the text; for the control of a component, a name of ours.
    pub source: String,
    /// Its sort.
    pub sort: SortRef,
    /// Its initial value.
    pub initial: TypedId,
    /// The component that it belongs to.
    pub component: usize,
    /// For the control of a component, the number of its values: 1, 2 and so on.
    pub control: Option<u32>,
}

/// A summand of a component that a summand of the linear process was joined from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// The component.
    pub component: usize,
    /// Its summand; in the joint step of termination, the number behind the last one.
    pub summand: usize,
    /// The component's control states before and after, counted from 1; several when its summands were clustered.
    pub moves: Vec<(u32, u32)>,
}

/// What happens in a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Actions together, sorted by name; none is `tau`.
    Actions(Vec<Action>),
    /// Successful termination of all components.
    Terminate,
}

/// A summand of a linear process.
#[derive(Clone, Debug)]
pub struct Summand {
    /// The variables that it sums over.
    pub variables: Vec<VariableId>,
    /// The conjuncts of its condition.
    pub conditions: Vec<TypedId>,
    /// What happens.
    pub event: Event,
    /// New values of parameters, by their places; the others keep theirs.
    pub updates: Vec<(usize, TypedId)>,
    /// The summands that it was joined from, by component.
    pub parts: Vec<Part>,
}

/// A linear process.
#[derive(Clone, Debug)]
pub struct LinearProcess {
    /// The data, with every expression of the process.
    pub data: DataSpecification,
    /// The actions.
    pub actions: Vec<ActionDeclaration>,
    /// The components, in the order of the text.
    pub components: Vec<Component>,
    /// The parameters, by component; its control comes first.
    pub parameters: Vec<Parameter>,
    /// The summands.
    pub summands: Vec<Summand>,
    /// Which analyses ran and what each gained, one line each.
    pub report: Vec<String>,
    /// Sums whose values no condition bounds.
    pub warnings: Vec<Diagnostic>,
}

impl LinearProcess {
    /// Where the first action of a summand stands, if an action and not termination is what happens.
    pub fn place_of(&self, summand: usize) -> Option<Span> {
        let part = self.summands[summand].parts.first()?;
        self.components[part.component].summands.get(part.summand).map(|own| own.place)
    }
}

/// The refusal of a sort without a known value.
fn no_value(specification: &ProcessSpecification, sort: SortRef, place: Span) -> Refusal {
    let message = format!("no value of the sort `{}` is known", specification.data.sort_text(sort));
    Refusal::Wrong(vec![Diagnostic::error(codes::NO_VALUE, message, Place::Span(place))])
}

/// Warnings about summed variables with infinitely many values that no condition mentions.
fn unbounded(
    draft: &Draft,
    x: &mut Expressions<'_>,
    specification: &ProcessSpecification,
    components: &[SequentialComponent],
) -> Vec<Diagnostic> {
    let mut found: Vec<(String, Span)> = Vec::new();
    for summand in &draft.summands {
        for &sum in &summand.sums {
            let sort = x.described(sum).sort;
            let is_finite = matches!(x.program.size(sort), Size::Finite(_) | Size::TooMany);
            if is_finite || summand.conditions.iter().any(|&condition| x.free(condition).contains(&sum)) {
                continue;
            }
            let name = &x.described(sum).name;
            let message = format!(
                "no condition bounds the values of `{name}: {}` in this sum",
                specification.data.sort_text(sort)
            );
            let own = summand.parts.iter().find_map(|part| components[part.component].summands.get(part.summand));
            let place = own.map_or(components[0].place, |own| own.place);
            if !found.contains(&(message.clone(), place)) {
                found.push((message, place));
            }
        }
    }
    let warning = |(message, place)| {
        Diagnostic::warning(codes::UNBOUNDED, message, Place::Span(place))
            .help("a search ends where this sum is reached: give it a condition, or a finite sort")
    };
    found.into_iter().map(warning).collect()
}

/// Makes the linear process of a specification.
pub fn linearise(
    specification: &ProcessSpecification,
    analyses: Analyses,
    control: &Control,
) -> Result<LinearProcess, Refusal> {
    linearise_within(specification, analyses, MOST_WAYS, control)
}

/// Combinations of parallel steps beyond which a process is refused.
const MOST_WAYS: u64 = 200_000;

/// The same, with another number of ways in which a bag of actions may come about before summands are clustered.
pub fn linearise_within(
    specification: &ProcessSpecification,
    analyses: Analyses,
    most_ways: u64,
    control: &Control,
) -> Result<LinearProcess, Refusal> {
    let Some(init) = specification.init else { return Err(Refusal::Wrong(Vec::new())) };
    let reachable = structure::reachable(specification);
    let prepared = Prepared::new(specification, &reachable);
    let pool = Pool::new(Options { control: control.clone(), ..Options::default() });
    // Summed variables may be replaced by their values.
    let (program, function_codes) =
        Program::listing(prepared.data.clone(), &prepared.expressions, &specification.summed(), &pool);
    let worker = pool.worker();
    // Nothing is collected inside this section, so terms need no roots.
    let _outer = worker.enter();
    let rewriter = Rewriter::new(&program, &worker);
    let mut x = Expressions::new(&prepared, &function_codes, &program, rewriter, control)?;
    // A variable that may have any value has the one that idle parameters of its sort have.
    for &global in &specification.globals {
        let (_, sort) = specification.data.tree.variable(global);
        let value = x.default(sort).ok_or_else(|| no_value(specification, sort, specification.place(init)))?;
        x.bind_global(global, value);
    }
    let mut sequential = Sequential::new(specification);
    let (tree, starts) = {
        let mut unfolding = Unfolding::new(specification, &sequential);
        let tree = unfolding.unfold(&mut x, init, &Environment::new())?;
        (tree, unfolding.starts)
    };
    let place = specification.place(init);
    let mut components = Vec::new();
    for start in starts {
        control.check()?;
        components.push(match start {
            Some((node, values)) => sequential.component(&mut x, node, &values)?,
            None => SequentialComponent::delta(place),
        });
    }
    let mut clustering = None;
    let combinations = match Joining::all(specification, &components, &tree, &mut x, (place, most_ways)) {
        Err(Refusal::Wrong(found)) if found.iter().any(|one| one.code == codes::TOO_MANY) => {
            let before: usize = components.iter().map(|component| component.summands.len()).sum();
            for index in 0..components.len() {
                let name = draft::control_name(&components, index);
                components[index].cluster(&mut x, &name)?;
            }
            let after: usize = components.iter().map(|component| component.summands.len()).sum();
            if after == before && most_ways == MOST_WAYS {
                return Err(Refusal::Wrong(found));
            }
            clustering = Some(format!(
                "clusters: {before} summands of components as {after}, because they combine in too many ways"
            ));
            Joining::all(specification, &components, &tree, &mut x, (place, MOST_WAYS))?
        }
        other => other?,
    };
    let mut draft = Draft::new(&mut x, &components, combinations)?;
    let mut report = analyses::run(&mut draft, &mut x, analyses)?;
    report.extend(clustering);
    if x.given_up > 0 {
        report.push(format!("simplification: {} expressions took too many steps and stay as they are", x.given_up));
    }
    draft.order_conditions(&mut x);
    draft.remove_equal();
    let warnings = unbounded(&draft, &mut x, specification, &components);
    Ok(LinearProcess { warnings, ..finish::finish(specification, &x, &components, draft, report) })
}
