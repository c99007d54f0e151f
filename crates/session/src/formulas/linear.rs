//! Formulas of linear temporal logic, and automata in files, about the labels of a model.
//!
//! A run is read as the word of its visible labels (`crates/temporal/src/words.rs` has the definition and the
//! construction). A proposition is a name, which holds at a step whose label is that action with any arguments, or an
//! action formula as the modal µ-calculus has them. Before a run is shown, the formula is evaluated on its word: the
//! automaton is not trusted.

use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Instant;

use trefoil_check::formula::game::FormulaGame;
use trefoil_check::formula::{Formula, Signature};
use trefoil_check::{Offered, Posed, Table};
use trefoil_control::peak_memory;
use trefoil_questions::{
    Answer, ErrorKinds, Evidence as Shown, Explored, Facts, Found, Question, Recur, Says, TemporalClaim, Unanswered,
};
use trefoil_source::{Diagnostic, FileId, Place, Sources, nearest};
use trefoil_system::{Automaton, Cut, LabelId, Path, System, TakenStep};
use trefoil_temporal::{
    HoaAutomaton, HoaProposition, LetterOf, MOST_LABEL_PROPOSITIONS, Untranslated, Words, automaton, over_words,
    simplify,
};

use super::{Opened, Script};
use crate::check::{Asked, AssertionReport, Evidence, Finding, Run, Violation};
use crate::ltl::{LETTERS, LtlAtom, LtlFormula, read_ltl};
use crate::problem::BAD_LTL;
use crate::{Job, Verdict, seconds};

/// A formula with what its propositions mean.
#[derive(Clone)]
pub(super) struct Linear {
    says: LinearSays,
    atoms: Vec<Atom>,
}

#[derive(Clone)]
enum LinearSays {
    /// A formula holds of every run.
    Holds(LtlFormula),
    /// An automaton with this name accepts no run.
    Accepts(String, Automaton),
}

#[derive(Clone)]
enum Atom {
    /// An action with any arguments.
    Named(String),
    /// `<A>true`, `A` being the labels.
    Labels(Box<Formula>),
}

impl Linear {
    /// Reads a formula about the labels of a model; mistakes are added to those that are known.
    pub(super) fn read(
        text: &str,
        file: FileId,
        signature: &Signature,
        mistakes: &mut Vec<Diagnostic>,
    ) -> Option<Linear> {
        let formula = match read_ltl(text, file) {
            Ok(formula) => formula,
            Err(wrong) => {
                mistakes.push(*wrong);
                return None;
            }
        };
        if formula.atoms.len() > MOST_LABEL_PROPOSITIONS {
            let message = format!("a formula has at most {MOST_LABEL_PROPOSITIONS} different propositions");
            mistakes.push(Diagnostic::error(BAD_LTL, message, Place::Span(formula.atoms[0].span)));
            return None;
        }
        let atoms: Vec<Option<Atom>> = formula.atoms.iter().map(|atom| read_atom(atom, signature, mistakes)).collect();
        Some(Linear { says: LinearSays::Holds(formula), atoms: atoms.into_iter().collect::<Option<Vec<Atom>>>()? })
    }

    /// The same for an automaton of a file.
    pub(super) fn of_automaton(
        file: &FilePath,
        read: HoaAutomaton,
        signature: &Signature,
        mistakes: &mut Vec<Diagnostic>,
    ) -> Option<Linear> {
        if read.propositions.len() > MOST_LABEL_PROPOSITIONS {
            let message = format!("an automaton about labels has at most {MOST_LABEL_PROPOSITIONS} propositions");
            mistakes.push(Diagnostic::error(BAD_LTL, message, Place::Span(read.propositions[0].span)));
            return None;
        }
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let name = read.name.filter(|name| !name.trim().is_empty()).unwrap_or(stem);
        let atom = |proposition: HoaProposition| LtlAtom { text: proposition.text, span: proposition.span };
        let atoms: Vec<Option<Atom>> = read
            .propositions
            .into_iter()
            .map(|proposition| read_atom(&atom(proposition), signature, mistakes))
            .collect();
        let says = LinearSays::Accepts(name, read.automaton);
        Some(Linear { says, atoms: atoms.into_iter().collect::<Option<Vec<Atom>>>()? })
    }

    /// Its text in the list.
    pub(super) fn text(&self) -> String {
        match &self.says {
            LinearSays::Holds(formula) => format!("ltl {}", formula.written),
            LinearSays::Accepts(name, _) => format!("automaton {name}"),
        }
    }

    /// Does a word violate it?
    fn is_violated_by(&self, word: &[u64], back_to: usize) -> bool {
        match &self.says {
            LinearSays::Holds(LtlFormula { ltl, root, .. }) => {
                !ltl.holds_on(*root, word.len(), back_to, |proposition, at| word[at] >> proposition & 1 == 1)
            }
            LinearSays::Accepts(_, automaton) => automaton.accepts(word.len(), back_to, |at| word[at]),
        }
    }

    /// The function from labels to letters.
    fn letters(&self, model: &Opened, job: &Job) -> Result<LetterOf, Unanswered> {
        let (system, reader) = (model.system(), model.reader());
        let mut tests: Vec<LabelTest> = Vec::new();
        for atom in &self.atoms {
            tests.push(match atom {
                Atom::Named(name) => LabelTest::Named(name.clone()),
                Atom::Labels(formula) => LabelTest::Game(Box::new(FormulaGame::reading(
                    (**formula).clone(),
                    system.clone(),
                    reader.clone(),
                    &job.control,
                )?)),
            });
        }
        let labels = system.labels().clone();
        Ok(Arc::new(move |label, control| {
            let mut letter = 0;
            for (place, test) in tests.iter().enumerate() {
                let holds = match test {
                    LabelTest::Named(name) => matches!(&reader(&labels, label)[..], [(own, _)] if own == name),
                    LabelTest::Game(game) => game.admits(label, control)?,
                };
                letter |= u32::from(holds) << place;
            }
            Ok(letter)
        }))
    }
}

enum LabelTest {
    Named(String),
    Game(Box<FormulaGame>),
}

fn read_atom(atom: &LtlAtom, signature: &Signature, mistakes: &mut Vec<Diagnostic>) -> Option<Atom> {
    let place = Place::Span(atom.span);
    let is_letter = |character: char| character.is_alphanumeric() || character == '_' || character == '\'';
    let declared = signature.actions.iter().map(|action| signature.data.names.text(action.name));
    let mut names: Vec<&str> = declared.chain(signature.refused.iter().map(|(name, _)| name.as_str())).collect();
    names.sort_unstable();
    let head = atom.text.split('(').next().unwrap_or_default().trim_end();
    if ["G", "F"].contains(&head) && !names.contains(&head) {
        mistakes.push(Diagnostic::error(BAD_LTL, format!("there is no action `{head}`"), place).help(LETTERS));
        return None;
    }
    if atom.text.chars().all(is_letter) && !atom.text.is_empty() && !["true", "false"].contains(&atom.text.as_str()) {
        if names.contains(&atom.text.as_str()) {
            return Some(Atom::Named(atom.text.clone()));
        }
        let wrong = match atom.text.as_str() {
            "tau" => Diagnostic::error(BAD_LTL, "internal steps are no part of the word of a run", place)
                .help("a formula of the modal µ-calculus can speak about `tau`: --formula"),
            name => {
                let wrong = Diagnostic::error(BAD_LTL, format!("there is no action `{name}`"), place);
                match nearest(name, names.iter().copied()) {
                    Some(known) => wrong.help(format!("there is `{known}`")),
                    None => wrong,
                }
            }
        };
        mistakes.push(wrong);
        return None;
    }
    let before = mistakes.len();
    let text = format!("<{}>true", atom.text);
    let formula = Formula::read(&text, atom.span.file, signature, mistakes);
    for label in mistakes[before..].iter_mut().flat_map(|mistake| &mut mistake.labels) {
        // Places in the formula around the proposition are places in the text that the user wrote.
        if let Place::Span(span) = &mut label.place
            && span.file == atom.span.file
        {
            let moved = |at: u32| (atom.span.start + at.saturating_sub(1)).min(atom.span.end);
            (span.start, span.end) = (moved(span.start), moved(span.end));
        }
    }
    let formula = formula?;
    if !formula.text.is_about_one_step() {
        let message = "a proposition is an action formula: a set of labels";
        mistakes.push(Diagnostic::error(BAD_LTL, message, place));
        return None;
    }
    Some(Atom::Labels(Box::new(formula)))
}

impl Script {
    /// Checks a formula of linear temporal logic.
    pub(super) fn run_linear(&mut self, index: usize, options: &Asked, job: &Job) -> AssertionReport {
        let started = Instant::now();
        let mut report = AssertionReport::new(self.listed[index - 1].clone());
        let unused = self.unused(index, options);
        report.notes.extend(unused.iter().map(|unused| unused.words.clone()));
        let asked = unused.iter().fold(options.clone(), |rest, unused| rest.without(unused.setting));
        let linear = self.linear[index - 1 - self.formulas.len()].clone();
        match self.answer_linear(&linear, &asked, &report, job) {
            Ok((answer, witness)) => {
                report.count(&answer.counts);
                report.engine = Some(answer.engine);
                report.why = Some(answer.why);
                report.store_bytes = answer.counts.bytes;
                report.notes.extend(answer.notes);
                report.details = answer.reductions;
                match &self.model {
                    Opened::Mcrl2(model) => report.reductions = model.linear().report.clone(),
                    Opened::Cspm(script) => {
                        report.reductions = script.reductions();
                        report.notes.extend(script.left_out());
                    }
                    Opened::File(_) | Opened::Promela(_) => {}
                }
                report.verdict = if witness.is_some() { Verdict::Fails } else { Verdict::Holds };
                report.result = Some(u8::from(witness.is_none()));
                report.witness = witness;
            }
            Err(unanswered) => self.unanswered(&mut report, unanswered, Place::File(self.file.clone()), job),
        }
        report.check_seconds = seconds(started.elapsed());
        report.peak_memory_bytes = peak_memory();
        report
    }

    fn answer_linear(
        &mut self,
        linear: &Linear,
        asked: &Asked,
        report: &AssertionReport,
        job: &Job,
    ) -> Result<(Answer, Option<Evidence>), Unanswered> {
        let control = &job.control;
        let atoms = &linear.atoms;
        let forbidden = match &linear.says {
            LinearSays::Holds(LtlFormula { ltl, root, .. }) => match automaton(ltl, *root, true, control) {
                Ok(forbidden) => forbidden,
                Err(Untranslated::Stopped) => return Err(Unanswered::from(Cut::Stopped)),
                Err(other) => return Err(Unanswered::refused(other.words())),
            },
            LinearSays::Accepts(_, automaton) => simplify(automaton.clone(), control)?,
        };
        let system = Arc::new(Words::new(self.model.system(), atoms.len(), linear.letters(&self.model, job)?));
        let claims = [TemporalClaim {
            passing: 0,
            says: Says::Accepts(over_words(&forbidden)),
            propositions: (0..atoms.len() as u32 + 2).collect(),
            places: Vec::new(),
            stutters: true,
        }];
        let explored = Explored::default();
        let recur = Recur {
            claims: &claims,
            asked: 0,
            decided_as: 0,
            fairness: asked.fairness.unwrap_or_default(),
            explored: &explored,
            no_steps: ErrorKinds::default(),
            visible: None,
        };
        let posing = report.assertion.kind.posing();
        let facts = Facts { width: system.layout().width(), ..posing.facts };
        let asked = &posing.own.iter().fold(asked.clone(), |rest, &setting| rest.without(setting));
        let posed = Posed::new(Table::standard(), Question::Recur(recur), &facts, asked, job.threads, control)?;
        let answer = posed.answer(&Offered { system, reduction: None, insisted: false }, control)?;
        self.model.widest();
        let witness = match &answer.found[0] {
            Found::Fails(shown) => Some(self.linear_evidence(linear, shown)),
            Found::Holds(_) | Found::Won(_) | Found::Open => None,
        };
        Ok((answer, witness))
    }

    /// A run in words; it was replayed before. Its word violates the formula, whatever follows where it has no cycle.
    fn linear_evidence(&self, linear: &Linear, shown: &Shown) -> Evidence {
        let (path, cycle): (&Path, &[TakenStep]) = match shown {
            Shown::Lasso { path, cycle } => (path, cycle),
            other => (other.path(), &[]),
        };
        let ends = Words::has_ended(path.last());
        if let Shown::Lasso { .. } = shown {
            let (word, back_to) = Words::word(&path.steps, cycle);
            assert!(linear.is_violated_by(&word, back_to), "the word of the run does not violate the claim");
        }
        let labels = self.model.system().labels().clone();
        let event = |label: LabelId| -> String { labels.get(label).to_string() };
        // The step that says that the run has ended is none of the model.
        let stem: Vec<&TakenStep> = path.steps.iter().filter(|step| !Words::has_ended(&step.row)).collect();
        let mut before = Words::inner(&path.start);
        let mut told = Vec::new();
        for step in stem.iter().copied().chain(cycle) {
            let after = Words::inner(&step.row);
            told.push(self.model.step(before, step.label, after, event(step.label), &self.sources));
            before = after;
        }
        let around = told.split_off(stem.len());
        let visible = |step: &&TakenStep| step.label != LabelId::TAU;
        let last = stem.last().map(|step| step.label);
        let violation = match shown {
            Shown::Lasso { .. } if ends && last != Some(LabelId::TICK) => Violation::Deadlock,
            Shown::Lasso { .. } if ends => Violation::End,
            Shown::Lasso { .. } if !cycle.iter().any(|step| visible(&step)) => Violation::Divergence,
            Shown::Lasso { .. } => Violation::Cycle,
            _ => Violation::AtOnce,
        };
        Evidence {
            finding: Finding::Claim { violation, stem: stem.len(), cycle: cycle.len() },
            length: stem.iter().filter(|step| visible(step)).count(),
            trace: stem.iter().map(|step| event(step.label)).collect(),
            process: self.file.clone(),
            components: self.model.components(&self.file),
            operators: self.model.operators(),
            runs: vec![Run {
                initial: self.model.states(Words::inner(&path.start)),
                steps: told,
                cycle: around,
                offered: None,
                refused: None,
                waiting: Vec::new(),
            }],
            observed: Vec::new(),
            story: None,
            system: None,
        }
    }
}

/// A formula of the command line as a source of its own.
pub(super) fn source(text: &str, number: usize, sources: &mut Sources) -> (String, FileId) {
    let from = format!("<ltl {number}>");
    let id = sources.add(from.clone(), text.to_string());
    (from, id)
}
