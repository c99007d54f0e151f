//! Looking at systems: pictures, structure, steps taken by hand.
//!
//! A [`Subject`] is a process of a script, the process of an assertion with its counterexample, or a labelled
//! transition system in a file. It consists of a system of the waist and a narrator, which describes the system;
//! pictures and steps use nothing else of it, so that every language gets them.

mod declared;
mod graph;
mod part;
mod picture;
mod stepper;
mod structure;
pub(crate) mod words;

use std::path::PathBuf;
use std::sync::Arc;

use trefoil_control::{Control, counted};
use trefoil_cspm::eval::{Evaluator, Failure, Options as EvaluationOptions, Reason};
use trefoil_cspm::process::{CompileOptions, Compiler, Machine};
use trefoil_cspm::types::Typed;
use trefoil_lts::Lts;
use trefoil_mcrl2 as mcrl2;
use trefoil_promela::{Simulation, Trail};
use trefoil_source::{Diagnostic, FileId, Place, Sources, Span};
use trefoil_system::{Cut, Labels, Path, System, TakenStep, Witness};

pub use declared::{GroupReport, GroupsReport};
pub(crate) use graph::title as state_title;
pub use graph::{COMPRESSIONS, DIRECTIONS, Drawing, GraphReport, PICTURES, draw, graph};
pub use part::{StateData, SystemData};
pub use picture::save_chart;
pub(crate) use picture::{draw_to, drawn, format_of, save_picture};
pub use stepper::{Change, Followed, Offer, Recorded, Refusals, Situation, Stepper, Told, Unclear, WalkReport};
pub(crate) use structure::bound;
pub use structure::{OperandsReport, PartReport, Showing, StructureReport, Structured, structure};

use crate::check::witness::Words;
use crate::check::{Asked, AssertionReport, Script, Setting, language_of, must_be_cspm};
use crate::cspm::{Opened, Warnings};
use crate::lts::{Reading, read};
use crate::mcrl2::check::{OpenedModel, open_model};
use crate::mcrl2::words::LinearWords;
use crate::problem::{NO_PROCESS, NOT_SUPPORTED, Origin, REFUSED};
use crate::promela;
use crate::promela::simulate::{along_trail, read_trail};
use crate::promela::words::ModelWords;
use crate::{Job, Problem};
use words::{Narrator, PlainWords, ScriptWords};

/// The process or system to look at.
#[derive(Clone, Debug)]
pub struct Looking {
    /// A script, or a file with a labelled transition system.
    pub file: PathBuf,
    /// The process of the script; none for a system in a file.
    pub expression: Option<String>,
    /// The language of the script; found out when absent.
    pub language: Option<&'static str>,
    /// Whether sequential components are compressed by strong bisimulation.
    pub compress_leaves: bool,
}

impl Looking {
    /// Refuses what only processes of CSPM scripts have: an expression, sequential components that are compressed.
    fn is_whole(&self) -> Result<(), Problem> {
        if self.expression.is_some() {
            let message = "this command looks at a whole mCRL2 specification; give no expression";
            return Err(no_process(message, Place::File(self.file.display().to_string())).into());
        }
        self.has_no_leaves()
    }

    /// Refuses a number that no assertion has.
    fn has_assertion(&self, index: usize, count: usize, (kind, of): (&str, &str)) -> Result<(), Problem> {
        if (1..=count).contains(&index) {
            return Ok(());
        }
        let message = format!("there is no {kind} {index}; the {of} has {}", counted(count as u64, kind));
        Err(no_process(message, Place::File(self.file.display().to_string())).into())
    }

    /// Refuses an option for sequential components of CSPM scripts where there are none.
    fn has_no_leaves(&self) -> Result<(), Problem> {
        if self.compress_leaves {
            return Ok(());
        }
        let message = format!("{} applies to CSPM scripts only", Setting::LeafCompression.name());
        Err(Diagnostic::error(REFUSED, message, Place::File(self.file.display().to_string())).into())
    }
}

/// Something that can be looked at.
pub struct Subject {
    origin: Origin,
    process: String,
    content: Content,
    /// The control of the narrator, which works long after the budgets of opening.
    control: Control,
    /// Runs of a witness, their cycles included.
    runs: Vec<Vec<TakenStep>>,
}

enum Content {
    Script(Box<(Compiler, Machine, Sources)>),
    File(Box<Lts>),
    Model(Box<Simulation>),
    Linear(Arc<mcrl2::system::Model>),
}

impl Subject {
    /// Opens a process of a script, a file with a system when no expression is given, or a Promela model for stepping.
    pub fn open_to_step(task: &Looking, job: &Job) -> Result<Subject, Problem> {
        if language_of(&task.file, task.language).is_ok_and(|language| language == "promela") {
            if task.expression.is_some() {
                let message = "this command looks at a whole Promela model; give no expression";
                return Err(no_process(message, Place::File(task.file.display().to_string())).into());
            }
            task.has_no_leaves()?;
            let (simulation, origin) = promela::Script::open(&task.file, job)?.simulation(job)?;
            return Ok(Subject::of_model(simulation, origin));
        }
        Subject::open(task, job)
    }

    /// Opens a Promela model with the run of a trail; also says why the trail cannot be followed to its end, if it
    /// cannot.
    pub fn of_trail(task: &Looking, trail: &std::path::Path, job: &Job) -> Result<(Subject, Option<String>), Problem> {
        let place = || Place::File(task.file.display().to_string());
        if language_of(&task.file, task.language)? != "promela" {
            return Err(Diagnostic::error(NOT_SUPPORTED, "only Promela models have trails", place()).into());
        }
        let trail = read_trail(trail, job)?;
        let mut subject = Subject::open_to_step(task, job)?;
        let lost = subject.follow_trail(&trail, job)?;
        Ok((subject, lost))
    }

    fn follow_trail(&mut self, trail: &Trail, job: &Job) -> Result<Option<String>, Problem> {
        let Content::Model(simulation) = &self.content else { return Ok(None) };
        let followed = along_trail(simulation, trail, job);
        let (steps, lost) = followed.map_err(|cut| Problem::cut(cut, &job.control, &self.origin))?;
        self.runs = vec![steps];
        Ok(lost)
    }

    fn of_model(simulation: Simulation, origin: Origin) -> Subject {
        Subject::whole(Content::Model(Box::new(simulation)), origin)
    }

    /// All of a file.
    fn whole(content: Content, origin: Origin) -> Subject {
        Subject { process: origin.file.clone(), origin, content, control: Control::unlimited(), runs: Vec::new() }
    }

    /// The whole of an mCRL2 specification.
    fn of_linear(task: &Looking, job: &Job) -> Result<Subject, Problem> {
        task.is_whole()?;
        let OpenedModel { file, sources, model, .. } = open_model(&task.file, job)?;
        Ok(Subject::whole(Content::Linear(Arc::new(model.wide())), Origin { file, sources }))
    }

    /// Opens a process of a script, or a file with a system when no expression is given.
    pub fn open(task: &Looking, job: &Job) -> Result<Subject, Problem> {
        if language_of(&task.file, task.language).is_ok_and(|language| language == "mcrl2") {
            return Subject::of_linear(task, job);
        }
        let Some(expression) = &task.expression else {
            if language_of(&task.file, task.language).is_ok() {
                let message = "this command needs a process of the script";
                let help = "give an expression after the file, such as 'SYSTEM' or 'P(3) ||| Q'";
                return Err(no_process(message, Place::File(task.file.display().to_string())).help(help).into());
            }
            task.has_no_leaves()?;
            let labels = Arc::new(Labels::new());
            let lts = read(&task.file, &Reading::default(), &labels, job)?;
            return Ok(Subject::of_lts(task.file.display().to_string(), lts));
        };
        must_be_cspm(&task.file, task.language)?;
        let options = CompileOptions { compress_leaves: task.compress_leaves, ..CompileOptions::default() };
        let OpenedProcess { file, process, compiler, machine, sources, .. } =
            open_process(&task.file, expression, options, job)?;
        Ok(Subject::of_script(file, process, compiler, machine, sources))
    }

    /// Runs an assertion and opens its process with what was found.
    pub fn of_assertion(
        task: &Looking,
        index: usize,
        options: &Asked,
        job: &Job,
    ) -> Result<(Option<Subject>, AssertionReport), Problem> {
        match language_of(&task.file, task.language) {
            Ok("promela") => return Subject::of_property(task, index, options, job),
            Ok("mcrl2") => return Subject::of_linear_property(task, index, options, job),
            _ => {}
        }
        let mut script = Script::open(&task.file, task.language, job)?;
        task.has_assertion(index, script.assertions().len(), ("assertion", "script"))?;
        let (report, found) = script.run_and_keep(index, options, job);
        let process = script.process_text(index).unwrap_or_default().to_string();
        let subject = match (found, script.into_parts()) {
            (Some(found), Some((compiler, sources))) => {
                let file = task.file.display().to_string();
                let runs = match (found.witness(), found.run()) {
                    (Some(Witness::Path { path, .. }), _) => vec![path.steps.clone()],
                    (Some(Witness::Lasso { path, cycle }), _) => vec![[&path.steps[..], cycle].concat()],
                    (Some(Witness::TwoRuns { can, cannot, .. }), _) => vec![can.steps.clone(), cannot.steps.clone()],
                    (None, Some(run)) => vec![run.steps.clone()],
                    (None, None) => Vec::new(),
                };
                let subject = Subject::of_script(file, process, compiler, found.machine, sources);
                Some(Subject { runs, ..subject })
            }
            _ => None,
        };
        Ok((subject, report))
    }

    /// The same for a property of a Promela model: its counterexample is followed as its trail.
    fn of_property(
        task: &Looking,
        index: usize,
        options: &Asked,
        job: &Job,
    ) -> Result<(Option<Subject>, AssertionReport), Problem> {
        task.has_no_leaves()?;
        let mut script = promela::Script::open(&task.file, job)?;
        task.has_assertion(index, script.assertions().len(), ("property", "model"))?;
        let report = script.run(index, options, job);
        let (simulation, origin) = script.simulation(job)?;
        let mut subject = Subject::of_model(simulation, origin);
        let story = report.witness.as_ref().and_then(|evidence| evidence.story.as_ref());
        if let Some(trail) = story.and_then(|story| Trail::read(&story.trail).ok()) {
            subject.follow_trail(&trail, job)?;
        }
        Ok((Some(subject), report))
    }

    /// The same for a property of an mCRL2 specification: its counterexample is followed state by state.
    fn of_linear_property(
        task: &Looking,
        index: usize,
        options: &Asked,
        job: &Job,
    ) -> Result<(Option<Subject>, AssertionReport), Problem> {
        task.has_no_leaves()?;
        let mut script = crate::mcrl2::check::Script::open(&task.file, &[], job)?;
        task.has_assertion(index, script.assertions().len(), ("property", "specification"))?;
        let (report, path) = script.run_and_keep(index, options, job);
        let Some(path) = path else { return Ok((None, report)) };
        let (model, origin) = script.into_parts();
        model.widened();
        let wide = model.widest().unwrap_or(&model).clone();
        let steps = followed(&model, &wide, &path, &job.control);
        let steps = steps.map_err(|cut| Problem::cut(cut, &job.control, &origin))?;
        Ok((Some(Subject { runs: vec![steps], ..Subject::whole(Content::Linear(wide), origin) }), report))
    }

    fn of_script(file: String, process: String, mut compiler: Compiler, machine: Machine, sources: Sources) -> Subject {
        let control = Control::unlimited();
        compiler.set_control(control.clone());
        let origin = Origin { file, sources: sources.clone() };
        let content = Content::Script(Box::new((compiler, machine, sources)));
        Subject { origin, process, content, control, runs: Vec::new() }
    }

    fn of_lts(file: String, lts: Lts) -> Subject {
        Subject::whole(Content::File(Box::new(lts)), Origin::file(file))
    }

    /// The file it comes from.
    pub fn file(&self) -> &str {
        &self.origin.file
    }

    /// Where it comes from.
    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The process, as the user or the script writes it.
    pub fn process(&self) -> &str {
        &self.process
    }

    /// Steps through it from the beginning.
    pub fn stepper(&mut self, seed: u64, control: &Control) -> Result<Stepper<'_>, Problem> {
        let (origin, process, runs) = (self.origin.clone(), self.process.clone(), self.runs.clone());
        let (system, narrator) = self.parts();
        Stepper::new(system, narrator, (Told { file: origin.file.clone(), process }, origin), runs, seed, control)
    }

    /// The system of an mCRL2 specification.
    pub(crate) fn linear(&self) -> Option<&mcrl2::system::Model> {
        match &self.content {
            Content::Linear(model) => Some(model),
            _ => None,
        }
    }

    /// The system.
    pub(crate) fn system(&self) -> &dyn System {
        match &self.content {
            Content::Script(content) => &*content.1.network,
            Content::File(lts) => &**lts,
            Content::Model(simulation) => &**simulation,
            Content::Linear(model) => &**model,
        }
    }

    /// The system, to be kept beyond this.
    pub(crate) fn shared_system(self) -> (Arc<dyn System>, Origin) {
        let system: Arc<dyn System> = match self.content {
            Content::Script(content) => content.1.network,
            Content::File(lts) => Arc::new(*lts),
            Content::Model(simulation) => Arc::new(*simulation),
            Content::Linear(model) => model,
        };
        (system, self.origin)
    }

    /// The system and its narrator.
    fn parts(&mut self) -> (&dyn System, Box<dyn Narrator + '_>) {
        match &mut self.content {
            Content::Script(content) => {
                let (compiler, machine, sources) = &mut **content;
                let words = Words::new(compiler, machine, sources, &self.control);
                (&*machine.network, Box::new(ScriptWords::new(words, &self.process)))
            }
            Content::File(lts) => (&**lts, Box::new(PlainWords::new(&**lts, &self.process))),
            Content::Model(simulation) => (&**simulation, Box::new(ModelWords::new(simulation))),
            Content::Linear(model) => (&**model, Box::new(LinearWords::new(model, &self.origin.sources))),
        }
    }
}

/// A run of a specification as one of its wide form, in which values have other numbers.
fn followed(
    model: &mcrl2::system::Model,
    wide: &mcrl2::system::Model,
    path: &Path,
    control: &Control,
) -> Result<Vec<TakenStep>, Cut> {
    let mut explorer = wide.explorer(control);
    let mut here = wide.initial(control)?;
    let mut steps = Vec::with_capacity(path.steps.len());
    for step in &path.steps {
        let wanted = model.describe(&step.row);
        let mut next = None;
        explorer.successors(&here, &mut |found| {
            if next.is_none() && found.label == step.label && wide.describe(found.row) == wanted {
                next = Some(found.row.to_vec());
            }
            Ok(())
        })?;
        let Some(row) = next else { unreachable!("both forms of a specification have the same runs") };
        here.clone_from(&row);
        steps.push(TakenStep { label: step.label, row });
    }
    Ok(steps)
}

/// A process of a script, compiled.
pub(crate) struct OpenedProcess {
    pub(crate) file: String,
    /// Its text on one line.
    pub(crate) process: String,
    pub(crate) compiler: Compiler,
    pub(crate) machine: Machine,
    pub(crate) sources: Sources,
    pub(crate) typed: Typed,
    pub(crate) warnings: Warnings,
}

/// Compiles a process of a script.
pub(crate) fn open_process(
    file: &std::path::Path,
    expression: &str,
    options: CompileOptions,
    job: &Job,
) -> Result<OpenedProcess, Problem> {
    let (mut opened, mut tree) = Opened::parsed(file, job)?;
    let (query, file) = opened.expression(&mut tree, expression)?;
    let typed = opened.checked(tree, &[query], &job.control)?;
    let warnings = opened.warnings();
    let Opened { file: name, sources, .. } = opened;
    let place = whole(&sources, file);
    let kind = typed.query_types().first().map_or("", String::as_str);
    if kind != "Proc" {
        let diagnostic = no_process(format!("this is not a process but a value of type `{kind}`"), place);
        return Err(Problem::Script(vec![diagnostic], sources));
    }
    job.control.progress().begin("evaluating", 0);
    let evaluator = Evaluator::new(&typed, job.control.clone(), EvaluationOptions::default());
    let options = CompileOptions { threads: job.threads, ..options };
    let mut compiler = Compiler::new(evaluator, Arc::new(Labels::new()), job.control.clone(), options);
    compiler.set_subject(expression);
    let value = compiler.evaluator().query(0);
    let process = value.and_then(|value| compiler.evaluator().process(value));
    match process.and_then(|process| compiler.compile(&process)) {
        Ok(machine) => {
            let process = expression.split_whitespace().collect::<Vec<_>>().join(" ");
            Ok(OpenedProcess { file: name, process, compiler, machine, sources, typed, warnings })
        }
        Err(failure) => Err(problem(&failure, sources, place)),
    }
}

fn no_process(message: impl Into<String>, place: Place) -> Diagnostic {
    Diagnostic::error(NO_PROCESS, message, place)
}

/// All of a file.
fn whole(sources: &Sources, file: FileId) -> Place {
    Place::Span(Span { file, start: 0, end: sources.file(file).text().len() as u32 })
}

/// A mistake without a place is one of the expression.
fn problem(failure: &Failure, sources: Sources, place: Place) -> Problem {
    match (failure.reason(), failure.diagnostic()) {
        (Reason::Stopped(stopped), _) => Problem::Stopped(*stopped),
        (_, Some(mut diagnostic)) => {
            if diagnostic.labels.first().is_none_or(|label| matches!(label.place, Place::File(_))) {
                diagnostic.labels.clear();
            }
            Problem::Script(vec![diagnostic.also(place, "in this expression")], sources)
        }
        (_, None) => Problem::Script(vec![no_process("this expression cannot be evaluated", place)], sources),
    }
}
