//! Formulas of the modal µ-calculus, asked of a model of any language, and of linear temporal logic ([`linear`]).
//!
//! A model that is opened for formulas has these formulas as its assertions, and no others. Each becomes a game with
//! the model, which the table of engines decides. The winner's strategy is the evidence ([`evidence`]).

mod evidence;

mod cspm;
mod linear;
mod promela;
mod symmetry;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use trefoil_check::formula::game::{FormulaGame, LabelReader, label_parts, termination};
use trefoil_check::formula::{ActionSignature, Formula, Sight, Signature, template};
use trefoil_check::{Offered, Posed, Reduction, Table};
use trefoil_control::{Control, peak_memory};
use trefoil_lts::Lts;
use trefoil_lts::equivalence::Equivalence;
use trefoil_mcrl2::decompose::{ComposedSystem, Freedom, Hiding};
use trefoil_mcrl2::system::Model;
use trefoil_questions::{Answer, EngineChoice, Evidence as Shown, Facts, Found, Question, SymmetryUse, Unanswered};
use trefoil_source::{Diagnostic, Place, ReportedPlace, Sources};
use trefoil_system::{Cut, Label, LabelId, Labels, System, Value};

use crate::check::{
    Asked, Assertion, AssertionReport, Claim, OperatorRow, Setting, Step, Trouble, Unused, Wanted, unused,
    unused_strategy,
};
use crate::cspm::Warnings;
use crate::look::words::Narrator;
use crate::mcrl2::check::{OpenedModel, open_model};
use crate::mcrl2::decompose::{apart, words};
use crate::mcrl2::words::LinearWords;
use crate::problem::{REFUSED, UNREADABLE, cut_short};
use crate::promela::{Story, read_automaton};
use crate::{Job, Problem, Unfinished, Verdict, read_file, seconds};

use linear::Linear;
use symmetry::{SymmetricGame, Symmetries};

pub use evidence::{ProofSystem, check_evidence_file};

/// A model with formulas about it.
pub struct Script {
    pub(crate) file: String,
    sources: Sources,
    warnings: Warnings,
    model: Opened,
    formulas: Vec<Formula>,
    /// Formulas of linear temporal logic, listed behind the others.
    linear: Vec<Linear>,
    listed: Vec<Assertion>,
}

/// A model of one of the languages.
enum Opened {
    Mcrl2(Arc<Model>),
    File(Arc<Lts>),
    Cspm(Box<cspm::ScriptModel>),
    Promela(Box<promela::ModelView>),
}

impl Opened {
    fn system(&self) -> Arc<dyn System> {
        match self {
            Opened::Mcrl2(model) => model.clone(),
            Opened::File(lts) => lts.clone(),
            Opened::Cspm(script) => script.system(),
            Opened::Promela(view) => view.system(),
        }
    }

    /// How its labels are read.
    fn reader(&self) -> LabelReader {
        match self {
            Opened::Mcrl2(_) | Opened::File(_) => Arc::new(label_parts),
            Opened::Cspm(_) => Arc::new(cspm::label_parts),
            Opened::Promela(view) => view.reader(),
        }
    }

    /// The data and the actions that formulas name.
    fn signature(&self) -> Signature {
        match self {
            Opened::Mcrl2(model) => {
                let linear = model.linear();
                let mut data = linear.data.clone();
                let declared = linear.actions.iter();
                let mut actions: Vec<ActionSignature> =
                    declared.map(|action| ActionSignature { name: action.name, sorts: action.sorts.clone() }).collect();
                let end = ActionSignature { name: data.names.intern(termination(model.labels())), sorts: Vec::new() };
                if !actions.contains(&end) {
                    actions.push(end);
                }
                Signature { data, actions, ..Signature::default() }
            }
            Opened::File(lts) => Signature::of_labels(lts.labels()),
            Opened::Cspm(script) => script.signature.clone(),
            Opened::Promela(view) => view.signature.clone(),
        }
    }

    /// The operators above several components, where the language has operators.
    fn operators(&self) -> Vec<OperatorRow> {
        match self {
            Opened::Cspm(script) => script.operators(),
            Opened::Mcrl2(_) | Opened::File(_) | Opened::Promela(_) => Vec::new(),
        }
    }

    /// What each component is in, as text.
    fn states(&self, row: &[Value]) -> Vec<Arc<str>> {
        match self {
            Opened::Mcrl2(model) => model.component_states(row).into_iter().map(Arc::from).collect(),
            Opened::File(_) => vec![Arc::from(format!("state {}", row[0]))],
            Opened::Cspm(script) => script.states(row),
            Opened::Promela(view) => view.states(row),
        }
    }

    /// A step in words; `event` is its label.
    fn step(&self, before: &[Value], label: LabelId, after: &[Value], event: String, sources: &Sources) -> Step {
        let told = match self {
            Opened::File(_) => None,
            Opened::Mcrl2(model) => {
                LinearWords::new(model, sources).step(before, label, after, &Control::unlimited()).ok()
            }
            Opened::Cspm(script) => script.step(before, label, after).ok(),
            Opened::Promela(view) => view.step(before, label, after).ok(),
        };
        let plain =
            || Step { event, place: None, parts: Vec::new(), states: self.states(after), number: 0, revealed: 0 };
        told.unwrap_or_else(plain)
    }

    /// A run statement by statement, where the language has statements.
    fn story(&self, run: &trefoil_system::Path, job: &Job) -> Option<Story> {
        match self {
            Opened::Promela(view) => view.story(run, job).ok().flatten(),
            _ => None,
        }
    }

    fn components(&self, file: &str) -> Vec<Arc<str>> {
        match self {
            Opened::Mcrl2(model) => {
                model.linear().components.iter().map(|component| Arc::from(component.name.as_str())).collect()
            }
            Opened::File(_) => vec![Arc::from(file)],
            Opened::Cspm(script) => script.components(),
            Opened::Promela(view) => view.components(),
        }
    }

    /// The form of the model that a search needed.
    fn widest(&mut self) {
        match self {
            Opened::Mcrl2(model) => {
                if let Some(widest) = model.widest() {
                    let widest = widest.clone();
                    *model = widest;
                }
            }
            Opened::Promela(view) => view.widest(),
            Opened::File(_) | Opened::Cspm(_) => {}
        }
    }
}

impl Script {
    /// Opens a model with formulas and patterns of properties about it. Without a language the model is a file with a
    /// transition system.
    pub fn open(file: &Path, language: Option<&str>, wanted: &Wanted, job: &Job) -> Result<Script, Problem> {
        if wanted.process.is_some() && language != Some("cspm") {
            let place = Place::File(file.display().to_string());
            return Err(Problem::from(Diagnostic::error(REFUSED, "--process applies to CSPM scripts only", place)));
        }
        let (name, mut sources, warnings, model) = match language {
            Some("mcrl2") => {
                let OpenedModel { file, sources, warnings, model, .. } = open_model(file, job)?;
                (file, sources, warnings, Opened::Mcrl2(Arc::new(model)))
            }
            Some("promela") => {
                let (opened, sources, warnings) = promela::open(file, job)?;
                (file.display().to_string(), sources, warnings, Opened::Promela(Box::new(opened)))
            }
            Some(_) => {
                let (opened, sources, warnings) = cspm::open(file, wanted, job)?;
                (file.display().to_string(), sources, warnings, Opened::Cspm(Box::new(opened)))
            }
            None => {
                let labels = Arc::new(Labels::new());
                let lts = crate::lts::read(file, &crate::lts::Reading::default(), &labels, job)?;
                let name = file.display().to_string();
                (name, Sources::default(), Warnings::default(), Opened::File(Arc::new(lts)))
            }
        };
        let claim = match language {
            Some("cspm") => Claim::ScriptFormula,
            Some("promela") => Claim::ModelFormula,
            _ => Claim::Formula,
        };
        let signature = model.signature();
        let (mut read, mut listed, mut mistakes) = (Vec::new(), Vec::new(), Vec::new());
        let mut texts = Vec::new();
        for formula in &wanted.formulas {
            texts.push(formula_text(formula, texts.len() + 1, job)?);
        }
        for property in &wanted.properties {
            let text = template(property).map_err(|wrong| Problem::from(*wrong))?;
            texts.push((format!("<property {property}>"), text));
        }
        let count = texts.len();
        for (place, (from, text)) in texts.into_iter().enumerate() {
            let id = sources.add(from.clone(), text.clone());
            let Some(formula) = Formula::read(&text, id, &signature, &mut mistakes) else { continue };
            listed.push(Assertion {
                index: place + 1,
                assertion_string: formula.text.root.map(|root| formula.text.state_text(root)).unwrap_or_default(),
                kind: claim,
                model: None,
                is_negated: false,
                options: Vec::new(),
                place: ReportedPlace { file: from, line: None, column: None, text: String::new() },
            });
            read.push(formula);
        }
        let claim = if language == Some("cspm") { Claim::ScriptLtl } else { Claim::Ltl };
        let mut linear = Vec::new();
        for (place, text) in wanted.ltl.iter().enumerate() {
            let (from, id) = linear::source(text, place + 1, &mut sources);
            let Some(formula) = Linear::read(text, id, &signature, &mut mistakes) else { continue };
            listed.push(Assertion {
                index: count + place + 1,
                assertion_string: formula.text(),
                kind: claim,
                model: None,
                is_negated: false,
                options: Vec::new(),
                place: ReportedPlace { file: from, line: None, column: None, text: String::new() },
            });
            linear.push(formula);
        }
        for (place, file) in wanted.claims.iter().enumerate() {
            let read = read_automaton(file, job, &mut sources)?;
            let Some(automaton) = Linear::of_automaton(file, read, &signature, &mut mistakes) else { continue };
            listed.push(Assertion {
                index: count + wanted.ltl.len() + place + 1,
                assertion_string: automaton.text(),
                kind: claim,
                model: None,
                is_negated: false,
                options: Vec::new(),
                place: ReportedPlace {
                    file: file.display().to_string(),
                    line: None,
                    column: None,
                    text: String::new(),
                },
            });
            linear.push(automaton);
        }
        if listed.len() < count + wanted.ltl.len() + wanted.claims.len() {
            return Err(Problem::Script(mistakes, sources));
        }
        let warnings = if mistakes.is_empty() { warnings } else { Warnings::new(&mistakes, &sources) };
        Ok(Script { file: name, sources, warnings, model, formulas: read, linear, listed })
    }

    /// The warnings about it.
    pub fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    /// The formulas, in order.
    pub fn assertions(&self) -> impl ExactSizeIterator<Item = &Assertion> {
        self.listed.iter()
    }

    /// The options that the formula with this number cannot use.
    pub(crate) fn unused(&self, index: usize, options: &Asked) -> Vec<Unused> {
        let kind = self.listed[index - 1].kind;
        let mut all = unused(kind, options);
        if kind.is_linear() {
            return all;
        }
        if let (Opened::File(_), true) = (&self.model, options.wants(Setting::Decompose)) {
            let option = options.text(Setting::Decompose);
            let words = format!("{option} applies to mCRL2 specifications only: this is a system in a file already");
            all.push(Unused { setting: Setting::Decompose, option, conflict: None, words });
        }
        // Name the part of the formula that prevents a reduction which other questions of the language admit.
        for unused in all.iter_mut().filter(|unused| unused.conflict.is_none() && kind != Claim::Formula) {
            let why = match unused.setting {
                Setting::PartialOrder => Some(match self.formulas[index - 1].first_modality(false) {
                    Some(part) => format!("`{part}` sees the order of steps"),
                    None => "nothing in it sees the order of steps, but games have no partial-order reduction".into(),
                }),
                _ => None,
            };
            if let Some(why) = why {
                unused.words = format!("{} cannot be used with this formula: {why}", unused.option);
            }
        }
        all
    }

    /// Checks one of them.
    pub fn run(&mut self, index: usize, options: &Asked, job: &Job) -> AssertionReport {
        if index > self.formulas.len() {
            return self.run_linear(index, options, job);
        }
        let started = Instant::now();
        let mut report = AssertionReport::new(self.listed[index - 1].clone());
        let unused = self.unused(index, options);
        report.notes.extend(unused.iter().map(|unused| unused.words.clone()));
        let asked = unused.iter().fold(options.clone(), |rest, unused| rest.without(unused.setting));
        if (&asked.symmetry, asked.engine) == (&Some(SymmetryUse::Automatic), Some(EngineChoice::Symbolic)) {
            let option = asked.text(Setting::Symmetry);
            report.notes.push(format!("{option} was not used: --engine symbolic has no symmetry reduction"));
        }
        let place = Place::File(self.file.clone());
        let composed = match self.in_parts(index, &asked, &mut report, job) {
            Ok(composed) => composed,
            Err(unanswered) => {
                self.unanswered(&mut report, unanswered, place, job);
                report.check_seconds = seconds(started.elapsed());
                return report;
            }
        };
        job.control.progress().begin("compiling", 0);
        let (formula, reader) = (self.formulas[index - 1].clone(), self.model.reader());
        let system: Arc<dyn System> = match &composed {
            Some(composed) => composed.clone(),
            None => self.model.system(),
        };
        let game = FormulaGame::reading(formula, system, reader, &job.control).map(Arc::new);
        let mut symmetric = None;
        let answered = match &game {
            Ok(game) => match self.symmetries(game, &asked, job) {
                Ok(found) => {
                    report.notes.extend(found.notes);
                    report.details.extend(found.details);
                    symmetric = found.symmetric;
                    if symmetric.is_none() {
                        report.notes.extend(unused_strategy(&asked));
                    }
                    answered(game, symmetric.as_ref(), report.assertion.kind, &asked, job)
                }
                Err(Trouble::Wrong(diagnostic)) => {
                    report.tell(&diagnostic, &self.sources);
                    return report;
                }
                Err(Trouble::Cut(cut)) => Err(Unanswered::Cut { cut, counts: Box::default() }),
            },
            Err(stopped) => Err(Unanswered::Cut { cut: (*stopped).into(), counts: Box::default() }),
        };
        match answered {
            Ok(mut answer) => {
                report.symmetry = symmetric.zip(answer.symmetry.take()).map(|(game, used)| game.told(used));
                let game = game.expect("an answer is about a game");
                let reported = self.report_answer(&mut report, &game, answer, composed.as_deref(), job);
                if let Err(cut) = reported {
                    self.unanswered(&mut report, cut.into(), place, job);
                }
            }
            Err(unanswered) => {
                if let (Unanswered::Cut { cut: Cut::Stopped, .. }, Ok(game)) = (&unanswered, &game) {
                    report.notes.extend(game.growing());
                }
                self.unanswered(&mut report, unanswered, place, job);
            }
        }
        report.check_seconds = seconds(started.elapsed());
        report.peak_memory_bytes = peak_memory();
        report
    }

    /// The symmetries that the formula of a game keeps, where the options request them.
    fn symmetries(&self, game: &FormulaGame, asked: &Asked, job: &Job) -> Result<Symmetries, Trouble> {
        match &self.model {
            Opened::Cspm(script) => script.symmetries(game, asked, &job.control),
            Opened::Promela(view) => view.symmetries(game, asked, &job.control),
            Opened::Mcrl2(_) | Opened::File(_) => Ok(Symmetries::default()),
        }
    }

    fn unanswered(&self, report: &mut AssertionReport, unanswered: Unanswered, place: Place, job: &Job) {
        match unanswered {
            Unanswered::Refused(refusal) => {
                report.tell(&Diagnostic::error(REFUSED, refusal.why, place), &self.sources);
            }
            Unanswered::Cut { cut: Cut::Stopped, counts } => {
                report.give_up(Unfinished::new(job.control.why(), &job.control));
                report.count_unfinished(&counts);
                report.solver = counts.solver;
            }
            Unanswered::Cut { cut, .. } => report.tell(&cut_short(&cut, &job.control, place), &self.sources),
        }
    }

    /// The model taken apart, where the user wants that and it is worth it. Labels that the formula does not name are
    /// hidden there; how far parts are minimised depends on whether the formula notices internal steps.
    fn in_parts(
        &self,
        index: usize,
        asked: &Asked,
        report: &mut AssertionReport,
        job: &Job,
    ) -> Result<Option<Arc<ComposedSystem>>, Unanswered> {
        let (Some(how), Opened::Mcrl2(model)) = (&asked.decompose, &self.model) else { return Ok(None) };
        let Sight { named, counts_steps } = self.formulas[index - 1].sight();
        let hidden: Hiding = Arc::new(move |label: &Label| match &named {
            Some(names) => !label.parts().iter().any(|part| names.contains(&*part.name)),
            None => false,
        });
        let equivalence = if counts_steps.is_some() { Equivalence::Strong } else { Equivalence::DivergenceBranching };
        let (made, mut tried) =
            apart(model, how, &Freedom { equivalence, hidden: &hidden, invariants: None }, &job.control)?;
        let Some(made) = made else {
            report.notes.extend(tried.pop().map(|why| format!("checked without decomposition: {why}")));
            return Ok(None);
        };
        report.reductions.push(words(&made));
        report.reductions.push(match counts_steps {
            Some(part) => format!("parts minimised modulo strong bisimulation: `{part}` notices internal steps"),
            None => "parts minimised modulo divergence-preserving branching bisimulation".to_string(),
        });
        Ok(Some(Arc::new(ComposedSystem::new(Arc::new(made)))))
    }

    fn report_answer(
        &mut self,
        report: &mut AssertionReport,
        game: &FormulaGame,
        answer: Answer,
        composed: Option<&ComposedSystem>,
        job: &Job,
    ) -> Result<(), Cut> {
        self.model.widest();
        report.count(&answer.counts);
        report.engine = Some(answer.engine);
        report.why = Some(answer.why);
        report.algorithm = Some(answer.engine.to_string());
        report.solver = answer.solver;
        report.store_bytes = answer.counts.bytes;
        report.game_bytes = answer.counts.game.map(|game| game.most);
        report.partial_game_bytes = answer.counts.game.map(|game| game.partial).filter(|&bytes| bytes > 0);
        report.notes.extend(answer.notes);
        match &self.model {
            Opened::Mcrl2(model) => {
                report.reductions.splice(0..0, model.linear().report.clone());
            }
            Opened::Cspm(script) => {
                report.reductions = script.reductions();
                report.notes.extend(script.left_out());
            }
            Opened::File(_) | Opened::Promela(_) => {}
        }
        match &answer.found[0] {
            Found::Fails(Shown::Strategy(strategy)) => {
                report.witness = Some(self.evidence(game, strategy, false, composed, job)?);
                report.verdict = Verdict::Fails;
            }
            Found::Won(strategy) => {
                report.witness = Some(self.evidence(game, strategy, true, composed, job)?);
                report.verdict = Verdict::Holds;
            }
            _ => report.verdict = Verdict::Holds,
        }
        report.result = Some(u8::from(report.verdict == Verdict::Holds));
        Ok(())
    }
}

/// Whether the extension of a file is one of transition systems.
pub(crate) fn is_system(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    ["aut", "lts", "fsm", "json", "gz"].contains(&extension.to_ascii_lowercase().as_str())
}

/// Whether a file is a project of mCRL2: a specification with formulas about it.
pub(crate) fn is_project(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "mcrl2proj")
}

/// The specification of a project, and the files of its formulas: those in the folder `properties` beside it that it
/// names.
pub(crate) fn project(file: &Path, job: &Job) -> Result<(PathBuf, Vec<String>), Problem> {
    let name = file.display().to_string();
    let wrong = |message: String| Problem::from(Diagnostic::error(UNREADABLE, message, Place::File(name.clone())));
    let bytes = read_file(file, job)?.map_err(|why| wrong(trefoil_source::cannot_read(&name, &why)))?;
    let text = String::from_utf8_lossy(&bytes);
    let elements = |tag: &str| -> Vec<String> {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        let pieces = text.split(&open).skip(1).filter_map(|piece| piece.split_once(&close));
        pieces.map(|(inside, _)| unescaped(inside.trim())).collect()
    };
    let folder = file.parent().unwrap_or(Path::new(""));
    let Some(specification) = elements("spec").into_iter().next() else {
        return Err(wrong("this project names no specification: it has no `<spec>`".to_string()));
    };
    let formula = |name: String| folder.join("properties").join(format!("{name}.mcf")).display().to_string();
    Ok((folder.join(specification), elements("property").into_iter().map(formula).collect()))
}

/// Text without the escapes of XML.
fn unescaped(text: &str) -> String {
    let escapes = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    escapes.iter().fold(text.to_string(), |text, (escape, character)| text.replace(escape, character))
}

/// The text of a formula, and what it is called in messages: a file of that name is read.
fn formula_text(formula: &str, number: usize, job: &Job) -> Result<(String, String), Problem> {
    let is_file = formula.ends_with(".mcf") || Path::new(formula).is_file();
    if !is_file {
        return Ok((format!("<formula {number}>"), formula.to_string()));
    }
    let read = read_file(Path::new(formula), job)?
        .and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it is not text in UTF-8".to_string()));
    match read {
        Ok(text) => Ok((formula.to_string(), text)),
        Err(why) => {
            let message = trefoil_source::cannot_read(formula, &why);
            Err(Problem::Input(vec![Diagnostic::error(UNREADABLE, message, Place::File(formula.to_string()))]))
        }
    }
}

fn answered(
    game: &Arc<FormulaGame>,
    symmetric: Option<&SymmetricGame>,
    claim: Claim,
    asked: &Asked,
    job: &Job,
) -> Result<Answer, Unanswered> {
    let facts = Facts { width: game.layout().width(), ..claim.posing().facts };
    // What a language does with its models and its evidence is none of an engine's business.
    let asked = &claim.posing().own.iter().fold(asked.clone(), |rest, &setting| rest.without(setting));
    let posed = Posed::new(Table::standard(), Question::Win, &facts, asked, job.threads, &job.control)?;
    let reduction = symmetric.map(|game| game as &dyn Reduction);
    let insisted = asked.wants(Setting::Symmetry);
    posed.answer(&Offered { system: game.clone(), reduction, insisted }, &job.control)
}
