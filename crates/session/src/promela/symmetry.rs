//! Searching one state of each orbit, and telling a counterexample in the model as it is written.
//!
//! A claim about whole runs admits the part of the group that keeps its propositions. Claims with one part share one
//! search; a claim that an element of the group carries to another one is answered by the answer to that
//! ([`ClaimParts`]).
//!
//! A run of representatives is first unwound to a run of the model that was searched. It is then followed in the model
//! itself, state by state: where elements exchange variables, the statement that leads to a state may be another one.
//! Where the searched model keeps processes at their ends, they go in the model itself: the same processes execute the
//! same statements, and a process goes where the next statement or the end of the run has to wait for that. What
//! reaches a user is a run of the model without any of this.

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_check::{Offered, Posed, Reduces, Reduction, Table};
use trefoil_control::Control;
use trefoil_groups::{Permutation, PermutationGroup};
use trefoil_promela::symmetry::{KeptPart, Symmetric, SymmetricPart, Symmetries, symmetries};
use trefoil_promela::{FaultKind, Model};
use trefoil_questions::{
    Answer, Asked, ErrorKinds, Evidence, Explored, Facts, Fairness, Kind, Question, Recur, Says, TemporalClaim,
    Unanswered,
};
use trefoil_system::{Cut, Explorer, LabelId, Path, System, TakenStep, Value, Walk};

use crate::Job;
use crate::check::{Claim, Permuted, PermutedKind, UsedSymmetry};

/// The symmetries of a model, once a question needs them; the model then has room for all processes.
fn prove<'f>(
    model: &mut Arc<Model>,
    found: &'f mut Option<Symmetries>,
    control: &Control,
) -> Result<Option<&'f Arc<Symmetric>>, Cut> {
    if found.is_none() {
        control.progress().begin("proving symmetries", 0);
        let proved = symmetries(model.program(), control)?;
        if let Some(symmetric) = &proved.symmetric {
            *model = Arc::new(symmetric.model().letting_processes_go());
        }
        *found = Some(proved);
    }
    Ok(found.as_ref().and_then(|found| found.symmetric.as_ref()))
}

fn facts(model: &Model) -> Facts {
    Facts { width: model.layout().width(), ..Claim::Assertions.posing().facts }
}

/// The answer of a search: among representatives where symmetries are wanted and proved.
pub(super) fn answer(
    question: Question<'_>,
    asked: &Asked,
    model: &mut Arc<Model>,
    found: &mut Option<Symmetries>,
    job: &Job,
) -> Result<Answer, Unanswered> {
    let control = &job.control;
    let posed = Posed::new(Table::standard(), question, &facts(model), asked, job.threads, control)?;
    let symmetric = match posed.reduction() {
        Some(Reduces::Symmetry) => prove(model, found, control)?,
        _ => None,
    };
    let reduced = symmetric.map(|symmetric| Reduced { symmetric, model });
    let reduction = reduced.as_ref().map(|reduced| reduced as &dyn Reduction);
    let mut answer = posed.answer(&Offered { system: model.clone(), reduction, insisted: false }, control)?;
    // Where the user asks for it by name, the engine says why it cannot be honoured.
    if asked.partial_order.is_none() && takes_candidates(&answer) {
        answer.notes.extend(model.reducing_explorer(control, &[]).err().map(all_steps_note));
    }
    Ok(answer)
}

/// Was the answer found by a search that takes candidates where there are any?
fn takes_candidates(answer: &Answer) -> bool {
    answer.counts.symbolic.is_none() && answer.coverage.is_none()
}

fn all_steps_note(why: &str) -> String {
    format!("checked without partial-order reduction: {why}")
}

/// How the claims of a model are reduced.
#[derive(Default)]
pub(super) struct ClaimParts {
    /// What searches without symmetries have kept.
    whole: Searches,
    parts: Vec<ClaimPart>,
    /// For each claim that was looked at, how it is decided.
    known: HashMap<usize, Way>,
}

/// What searches of one system have kept.
#[derive(Default)]
struct Searches {
    all_steps: Explored,
    /// Of the search in which independent steps were taken in one order.
    fewer_steps: Explored,
}

impl Searches {
    fn with(&self, fewer_steps: bool) -> &Explored {
        if fewer_steps { &self.fewer_steps } else { &self.all_steps }
    }
}

/// The claims that one part of the group keeps.
struct ClaimPart {
    group: PermutationGroup,
    explored: Searches,
    /// A claim, and its images.
    claims: Vec<(usize, KeptPart)>,
}

/// How a claim is decided.
#[derive(Clone)]
enum Way {
    /// Without symmetries, for this reason.
    Whole(Option<String>),
    /// Under a part, as another claim, with the element that carries that one to this one.
    Part { part: usize, decided_as: usize, element: Vec<u32>, images: usize },
}

/// A claim among all claims of a model.
pub(super) struct Claims<'c> {
    pub(super) all: &'c [TemporalClaim],
    pub(super) asked: usize,
    pub(super) no_steps: ErrorKinds,
}

/// The answer to a claim, under the part of the group that keeps it.
pub(super) fn answer_claim(
    claims: &Claims<'_>,
    asked: &Asked,
    model: &mut Arc<Model>,
    found: &mut Option<Symmetries>,
    parts: &mut ClaimParts,
    job: &Job,
) -> Result<Answer, Unanswered> {
    let control = &job.control;
    let Claims { all, asked: claim, no_steps } = *claims;
    let fairness = asked.fairness.unwrap_or_default();
    let all_steps = why_all_steps(&all[claim], fairness);
    if let (Some(why), Some(true)) = (all_steps, asked.partial_order) {
        return Err(Unanswered::refused(format!("--partial-order cannot be honoured: {why}")));
    }
    let wanted = Table::standard().choose(Kind::Recur, &facts(model), asked);
    let is_wanted = wanted.is_ok_and(|chosen| chosen.reduction == Some(Reduces::Symmetry));
    let symmetric = if is_wanted { prove(model, found, control)?.cloned() } else { None };
    let way = match &symmetric {
        Some(symmetric) => parts.way(symmetric, all, claim, control)?,
        None => Way::Whole(None),
    };
    let own = match &way {
        Way::Part { part, .. } => Some(*part),
        Way::Whole(_) => None,
    };
    let mut why_not = all_steps.filter(|_| asked.partial_order != Some(false));
    let mut visible = None;
    if all_steps.is_none() && asked.partial_order != Some(false) {
        let sharing = parts.sharing(symmetric.as_ref(), all, own, control)?;
        if asked.partial_order.is_none() && sharing.iter().any(|&other| why_all_steps(&all[other], fairness).is_some())
        {
            why_not = Some("it shares its search with a claim that needs all steps");
        } else {
            let propositions = visible_to(&sharing, all);
            why_not = model.reducing_explorer(control, &propositions).err();
            visible = Some(propositions).filter(|_| why_not.is_none());
        }
    }
    let visible = visible.as_deref();
    let recur = |explored, decided_as| {
        Question::Recur(Recur { claims: all, asked: claim, decided_as, fairness, explored, no_steps, visible })
    };
    parts.drop_unfinished_but(own, visible.is_some());
    let all_steps_note = why_not.map(all_steps_note);
    let facts = facts(model);
    let pose = |question| Posed::new(Table::standard(), question, &facts, asked, job.threads, control);
    let (Way::Part { part, decided_as, element, images }, Some(symmetric)) = (&way, &symmetric) else {
        let posed = pose(recur(parts.whole.with(visible.is_some()), claim))?;
        let mut answer = posed.answer(&Offered { system: model.clone(), reduction: None, insisted: false }, control)?;
        if let Way::Whole(Some(why)) = way {
            answer.notes.push(format!("checked without symmetry reduction: {why}"));
        }
        answer.notes.extend(all_steps_note);
        return Ok(answer);
    };
    let ClaimPart { group, explored, .. } = &parts.parts[*part];
    let generators = group.generators().iter().map(|generator| generator.images().to_vec()).collect();
    let kept = symmetric.part(generators);
    let reduced = Reduced { symmetric, model };
    let reduction = ReducedClaim { reduced, kept, element };
    let posed = pose(recur(explored.with(visible.is_some()), *decided_as))?;
    let offered = Offered { system: model.clone(), reduction: Some(&reduction), insisted: false };
    let mut answer = posed.answer(&offered, control)?;
    if *images > 1 && !symmetric.is_staggered() {
        answer.notes.push(format!("by symmetry the same is true of all {images} images of the claim"));
    }
    answer.notes.extend(all_steps_note);
    Ok(answer)
}

impl ClaimParts {
    /// Drops what other searches have kept that a budget has ended.
    fn drop_unfinished_but(&self, own: Option<usize>, fewer_steps: bool) {
        let all = self.parts.iter().map(|part| &part.explored).enumerate();
        let all = all.map(|(part, explored)| (Some(part), explored)).chain([(None, &self.whole)]);
        let all = all.flat_map(|(part, Searches { all_steps, fewer_steps })| {
            [((part, false), all_steps), ((part, true), fewer_steps)]
        });
        all.filter(|(search, _)| *search != (own, fewer_steps)).for_each(|(_, explored)| explored.drop_unfinished());
    }

    /// The claims that are decided by the search of a part.
    fn sharing(
        &mut self,
        symmetric: Option<&Arc<Symmetric>>,
        all: &[TemporalClaim],
        own: Option<usize>,
        control: &Control,
    ) -> Result<Vec<usize>, Cut> {
        let mut sharing = Vec::new();
        for number in 0..all.len() {
            let shares = match symmetric {
                None => true,
                Some(symmetric) => match self.way(symmetric, all, number, control)? {
                    Way::Whole(_) => own.is_none(),
                    Way::Part { part, decided_as, .. } => own == Some(part) && decided_as == number,
                },
            };
            if shares {
                sharing.push(number);
            }
        }
        Ok(sharing)
    }

    fn way(
        &mut self,
        symmetric: &Arc<Symmetric>,
        all: &[TemporalClaim],
        claim: usize,
        control: &Control,
    ) -> Result<Way, Cut> {
        if let Some(known) = self.known.get(&claim) {
            return Ok(known.clone());
        }
        let way = self.choose(symmetric, all, claim, control)?;
        self.known.insert(claim, way.clone());
        Ok(way)
    }

    fn choose(
        &mut self,
        symmetric: &Arc<Symmetric>,
        all: &[TemporalClaim],
        claim: usize,
        control: &Control,
    ) -> Result<Way, Cut> {
        let whole = |why: &str| Ok(Way::Whole(Some(why.to_string())));
        let TemporalClaim { says, propositions, .. } = &all[claim];
        if symmetric.model().keeps_processes() {
            if symmetric.sees_ends(propositions) {
                return whole("processes end one after the other, and the claim reveals which have disappeared");
            }
            if counts_steps(&all[claim]) {
                return whole("the claim notices the steps in which processes disappear after their ends");
            }
            if symmetric.is_staggered() {
                return whole("processes start one by one, and some end before all have started");
            }
        }
        if !symmetric.is_staggered() {
            for (part, of_part) in self.parts.iter().enumerate() {
                for (other, kept) in &of_part.claims {
                    if all[*other].stutters == all[claim].stutters
                        && says_the_same(&all[*other].says, says)
                        && let Some(element) = symmetric.carrying(kept, propositions)
                    {
                        return Ok(Way::Part { part, decided_as: *other, element, images: kept.images() });
                    }
                }
            }
        }
        let kept = match symmetric.keeping(propositions, control)? {
            Ok(kept) => kept,
            Err(why) => return whole(&format!("{why}, in a proposition of the claim")),
        };
        if kept.generators.is_empty() {
            return whole("no symmetry keeps the propositions of the claim");
        }
        let degree = symmetric.points();
        let generators: Vec<Permutation> =
            kept.generators.iter().filter_map(|images| Permutation::from_images(images.clone()).ok()).collect();
        let group = PermutationGroup::generate(degree, &generators, control)?;
        let same = |part: &ClaimPart| part.group.is_subgroup_of(&group) && group.is_subgroup_of(&part.group);
        let part = self.parts.iter().position(same).unwrap_or_else(|| {
            self.parts.push(ClaimPart { group, explored: Searches::default(), claims: Vec::new() });
            self.parts.len() - 1
        });
        let (element, images) = ((0..degree as u32).collect(), kept.images());
        self.parts[part].claims.push((claim, kept));
        Ok(Way::Part { part, decided_as: claim, element, images })
    }
}

/// May a claim notice a step that changes none of its propositions?
fn counts_steps(claim: &TemporalClaim) -> bool {
    match &claim.says {
        Says::Holds(ltl, formula) => ltl.has_next(*formula),
        Says::Accepts(automaton) => !automaton.ignores_repetition(),
    }
}

/// Why a claim needs all steps in every order, if it does.
fn why_all_steps(claim: &TemporalClaim, fairness: Fairness) -> Option<&'static str> {
    match fairness {
        Fairness::None if counts_steps(claim) => Some("the claim may depend on how often a state is repeated"),
        // What a step passes is no proposition.
        Fairness::None if claim.passing != 0 => Some("a step inside an `atomic` sequence may pass an accept label"),
        Fairness::None => None,
        _ => Some("which runs are fair depends on all steps of a state"),
    }
}

/// The propositions of those of some claims that do not need all steps.
fn visible_to(sharing: &[usize], all: &[TemporalClaim]) -> Vec<u32> {
    let mut visible = Vec::new();
    for claim in sharing.iter().map(|&number| &all[number]) {
        if why_all_steps(claim, Fairness::None).is_none() {
            visible.extend(&claim.propositions);
        }
    }
    visible.sort_unstable();
    visible.dedup();
    visible
}

/// Do two claims say the same of their propositions, in their order?
fn says_the_same(one: &Says, other: &Says) -> bool {
    let name = |number: u32| number.to_string();
    match (one, other) {
        (Says::Holds(one, formula), Says::Holds(other, same)) => one.text(*formula, &name) == other.text(*same, &name),
        (Says::Accepts(one), Says::Accepts(other)) => one == other,
        _ => false,
    }
}

/// A model under a part of its group, for a claim to which an element carries the one that is decided.
struct ReducedClaim<'m> {
    reduced: Reduced<'m>,
    kept: SymmetricPart,
    element: &'m [u32],
}

impl Reduction for ReducedClaim<'_> {
    fn system(&self) -> &dyn System {
        &self.kept
    }

    fn back(&self, evidence: Evidence, control: &Control) -> Result<Evidence, Cut> {
        let Some(action) = self.kept.action() else { return Ok(evidence) };
        let mut actor = action.actor(control);
        Ok(match evidence {
            Evidence::Prefix(path) => {
                let path = path.permuted(self.element, &mut *actor)?;
                Evidence::Prefix(self.reduced.followed(&path, false, control)?)
            }
            Evidence::Lasso { path, cycle } => {
                let cycle = Path { start: path.last().to_vec(), steps: cycle };
                let cycle = cycle.permuted(self.element, &mut *actor)?.steps;
                let path = path.permuted(self.element, &mut *actor)?;
                self.reduced.followed_around(&path, &cycle, control)?
            }
            other => other,
        })
    }

    fn note(&self, fails: bool) -> Option<&'static str> {
        self.reduced.note(fails)
    }
}

/// A model with its symmetries, whose processes may stay at their ends, in place of the model itself.
struct Reduced<'m> {
    symmetric: &'m Symmetric,
    /// The model itself, in which processes go.
    model: &'m Model,
}

impl Reduction for Reduced<'_> {
    fn system(&self) -> &dyn System {
        self.symmetric
    }

    fn run_back(&self, path: Path, control: &Control) -> Result<Path, Cut> {
        self.followed(&path, false, control)
    }

    fn back(&self, evidence: Evidence, control: &Control) -> Result<Evidence, Cut> {
        Ok(match evidence {
            Evidence::Error(path) => Evidence::Error(self.followed(&path, false, control)?),
            Evidence::InvalidEnd(mut path) => {
                let keeps = self.symmetric.model().keeps_processes();
                if let (true, false, Some(action)) = (keeps, self.symmetric.is_staggered(), self.symmetric.action()) {
                    let element = self.symmetric.fewest_go(path.last());
                    path = path.permuted(&element, &mut *action.actor(control))?;
                }
                Evidence::InvalidEnd(self.followed(&path, true, control)?)
            }
            other @ (Evidence::Witness(_) | Evidence::Strategy(_) | Evidence::Prefix(_) | Evidence::Lasso { .. }) => {
                other
            }
        })
    }

    fn beyond(&self, row: &[Value]) -> u32 {
        self.symmetric.must_go(row)
    }

    fn exact_only(&self) -> Option<&'static str> {
        self.symmetric.is_staggered().then_some("processes start one by one")
    }

    fn note(&self, _: bool) -> Option<&'static str> {
        let note =
            "ended processes keep their slots, which no statement can observe; the counts are those of this model";
        self.symmetric.model().keeps_processes().then_some(note)
    }
}

impl Reduced<'_> {
    /// Turns a run of the searched model into one of the model itself, up to a state without successors if that is
    /// wanted.
    fn followed(&self, run: &Path, to_the_end: bool, control: &Control) -> Result<Path, Cut> {
        let mut follower = Follower::new(self, control)?;
        run.steps.iter().try_for_each(|wanted| follower.follow(wanted))?;
        if to_the_end {
            follower.end()?;
        }
        Ok(follower.real)
    }

    /// The same for a run into a cycle. Where processes stay at their ends, all that can disappear do so before it: in
    /// a fair run none of them waits forever.
    fn followed_around(&self, run: &Path, cycle: &[TakenStep], control: &Control) -> Result<Evidence, Cut> {
        let mut follower = Follower::new(self, control)?;
        run.steps.iter().try_for_each(|wanted| follower.follow(wanted))?;
        let keeps = self.symmetric.model().keeps_processes();
        if cycle.is_empty() {
            if keeps {
                follower.end()?;
            }
            return Ok(Evidence::Lasso { path: follower.real, cycle: Vec::new() });
        }
        if keeps {
            follower.let_go()?;
        }
        let stem = follower.real.steps.len();
        let home = follower.real.last().to_vec();
        loop {
            cycle.iter().try_for_each(|wanted| follower.follow(wanted))?;
            if follower.real.last() == home {
                break;
            }
        }
        let cycle = follower.real.steps.split_off(stem);
        Ok(Evidence::Lasso { path: follower.real, cycle })
    }
}

/// A run of the model itself beside one of a model whose processes stay at their ends.
struct Follower<'f> {
    searched: &'f Model,
    model: &'f Model,
    explorer: Box<dyn Explorer + 'f>,
    control: &'f Control,
    real: Path,
}

impl<'f> Follower<'f> {
    fn new(reduced: &Reduced<'f>, control: &'f Control) -> Result<Follower<'f>, Cut> {
        let (searched, model) = (&**reduced.symmetric.model(), reduced.model);
        let real = Path { start: model.initial(control)?, steps: Vec::new() };
        Ok(Follower { searched, model, explorer: model.explorer(control), control, real })
    }

    fn next(&mut self) -> Result<Vec<TakenStep>, Cut> {
        self.control.check()?;
        let mut steps: Vec<TakenStep> = Vec::new();
        self.explorer.successors(self.real.last(), &mut |step| {
            steps.push(TakenStep { label: step.label, row: step.row.to_vec() });
            Ok(())
        })?;
        Ok(steps)
    }

    /// Takes a step of the searched model.
    fn follow(&mut self, wanted: &TakenStep) -> Walk {
        let kind = self.searched.fault(wanted.label).map(|fault| fault.kind);
        let text = self.searched.labels().get(wanted.label);
        loop {
            let mut steps = self.next()?;
            let fits = |step: &TakenStep| {
                kind_of(self.model, step.label) == kind && self.model.is_but_for_gone(&step.row, &wanted.row)
            };
            let label = |step: &TakenStep| self.model.labels().get(step.label);
            // Two statements of a process may lead to one state, and other processes may take part in one of them.
            let same_statement =
                steps.iter().position(|step| fits(step) && label(step).to_string() == text.to_string());
            let same_process = || steps.iter().position(|step| fits(step) && label(step).name() == text.name());
            if let Some(at) = same_statement.or_else(same_process).or_else(|| steps.iter().position(fits)) {
                self.real.steps.push(steps.swap_remove(at));
                return Ok(());
            }
            let gone = steps.iter().position(|step| self.model.has_gone(self.real.last(), &step.row));
            let at = gone.expect("what was found can be done in the model itself");
            self.real.steps.push(steps.swap_remove(at));
        }
    }

    /// Lets all processes disappear that can.
    fn let_go(&mut self) -> Walk {
        loop {
            let mut steps = self.next()?;
            let gone = steps.iter().position(|step| self.model.has_gone(self.real.last(), &step.row));
            let Some(at) = gone else { return Ok(()) };
            self.real.steps.push(steps.swap_remove(at));
        }
    }

    /// Goes on to a state without successors, where nothing but the end of processes is left.
    fn end(&mut self) -> Walk {
        while let Some(step) = self.next()?.into_iter().next() {
            assert!(self.model.has_gone(self.real.last(), &step.row), "nothing but the end of processes is left");
            self.real.steps.push(step);
        }
        Ok(())
    }
}

fn kind_of(model: &Model, label: LabelId) -> Option<FaultKind> {
    model.fault(label).map(|fault| fault.kind)
}

/// The statements that were not reached, nor any that stands for them.
pub(super) fn unreached(symmetric: &Symmetric) -> Vec<(u16, Vec<u32>)> {
    let model = symmetric.model();
    let mut unreached = model.unreached();
    for orbit in symmetric.control_orbits() {
        // All statements of a state are tried where one is.
        let statements: Vec<(u16, u32)> = orbit
            .iter()
            .flat_map(|&(kind, state)| {
                let transitions = &model.program().processes[usize::from(kind)].transitions[state as usize];
                let own = transitions.iter().map(move |transition| (kind, transition.statement));
                own.chain([(kind, state)])
            })
            .collect();
        if statements.iter().any(|&(kind, statement)| model.has_reached(kind, statement)) {
            for (kind, states) in &mut unreached {
                states.retain(|&state| !statements.contains(&(*kind, state)));
            }
        }
    }
    unreached
}

/// The symmetry that was used, for people.
pub(super) fn used(used: trefoil_questions::UsedSymmetry) -> UsedSymmetry {
    UsedSymmetry {
        order: used.order,
        structure: used.structure,
        strategy: used.strategy,
        total_states: used.total_states,
        permuted: permuted(used.orbits),
    }
}

/// The permuted processes, orbit by orbit.
pub(crate) fn permuted(orbits: Vec<Vec<String>>) -> Vec<Permuted> {
    orbits.into_iter().map(|names| Permuted { kind: PermutedKind::Processes, datatype: None, names }).collect()
}
