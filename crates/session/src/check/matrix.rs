//! The table of engines, and which sort of assertion can use which option: what `trefoil matrix` prints.

use std::fmt::Write;

use serde::Serialize;
use trefoil_check::Table;
use trefoil_questions::{Algorithm, Asked, Facts, Kind, Setting, Store};

use super::posing::{REASONS, unused};
use super::report::Claim;
use crate::lts::{Comparison, MODELS};

/// The table of engines.
#[derive(Clone, Debug, Serialize)]
pub struct MatrixReport {
    /// A row for each engine.
    pub engines: Vec<EngineRow>,
    /// A row for each sort of assertion of each language.
    pub assertions: Vec<AssertionRow>,
    /// Options that no assertion of a language can use, where there is a reason in the language.
    pub refused: Vec<RefusedRow>,
}

/// An option that a language refuses.
#[derive(Clone, Debug, Serialize)]
pub struct RefusedRow {
    /// The language.
    pub language: &'static str,
    /// The option.
    pub option: &'static str,
    /// Why.
    pub why: &'static str,
}

/// What one engine does.
#[derive(Clone, Debug, Serialize)]
pub struct EngineRow {
    /// Its name.
    pub engine: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// The questions that it answers.
    pub questions: Vec<&'static str>,
    /// The reductions of systems that it can be combined with, one at a time.
    pub reductions: Vec<&'static str>,
    /// The options that it honours.
    pub options: Vec<&'static str>,
}

/// What can be said with a sort of assertion.
#[derive(Clone, Debug, Serialize)]
pub struct AssertionRow {
    /// The language.
    pub language: &'static str,
    /// The sort of assertion.
    pub assertion: String,
    /// The question that it poses; none when no engine answers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<&'static str>,
    /// The engines that answer it.
    pub engines: Vec<&'static str>,
    /// The options that it can use.
    pub options: Vec<&'static str>,
}

/// What stands above the tables.
const HEAD: &str = "\
# Questions, engines, options

Which engine answers which question, and which options it honours. `trefoil matrix` prints this page; a test keeps the
two equal. `trefoil check` refuses an option that applies to nothing in a run before it checks anything; an option that
does not apply to some assertions is named in their answers. Values that ask for nothing (`off`, `auto`, `automatic`,
`exact`, `explicit`) are always honoured; `--threads`, `--memory` and `--timeout` limit every check.

## Engines

";

/// Values of options that ask for something: of each option all sorts of values.
fn examples() -> Vec<Asked> {
    let algorithms = Algorithm::ALL.map(|algorithm| Asked { algorithm: Some(algorithm), ..Asked::default() });
    let store = |store| Asked { store: Some(store), ..Asked::default() };
    let stores = [store(Store::HashCompact), store(Store::Bitstate { bytes: 1 << 20 })];
    [Asked::everything()].into_iter().chain(algorithms).chain(stores).collect()
}

/// Options that only commands on files have.
const OF_FILES: &[Setting] = &[Setting::Order, Setting::Preprocess];

/// What depends on the model of a refinement.
const OF_MODELS: &str = "
CSPM refinement has the models `[T=`, `[F=`, `[FD=`, `[V=`, `[VD=`, `[R=` and `[RD=`. In the last four `symbolic` is
refused, and in the last two also `normal-form`; these are searched without `--partial-order`, with a note.
";

/// The engines that answer questions of a kind.
fn answering(kind: Kind, facts: &Facts) -> Vec<&'static str> {
    let rows = Table::standard().rows().iter().filter(|row| row.engine.takes(kind, facts).is_ok());
    rows.map(|row| row.engine.name()).collect()
}

/// Two files with labelled transition systems are compared by `trefoil lts refine`, in one of its models. Simulations
/// are decided without an engine.
fn of_files() -> impl Iterator<Item = AssertionRow> {
    let facts = Facts { explicit: true, ..Claim::Refinement.posing().facts };
    MODELS.iter().map(move |model| {
        let comparison = Comparison::named(model.name);
        let refines = matches!(comparison, Some(Comparison::Refinement(_) | Comparison::Strong(_)));
        let tests = matches!(comparison, Some(Comparison::Refinement(model)) if model.observes_refusals_on_the_way());
        let kind = refines.then_some(Kind::Refine);
        let options = [Setting::Algorithm].into_iter().chain(OF_FILES.iter().copied()).filter(|_| refines);
        AssertionRow {
            language: "LTS",
            assertion: format!("`lts refine --model {}`", model.name),
            question: kind.map(Kind::name),
            engines: kind
                .map(|kind| answering(kind, &facts))
                .unwrap_or_default()
                .into_iter()
                // Refusal testing has no normal form to build before the search.
                .filter(|engine| !tests || *engine != Algorithm::NormalForm.name())
                .collect(),
            options: options.map(Setting::name).collect(),
        }
    })
}

/// The table of engines.
pub fn matrix() -> MatrixReport {
    let examples = examples();
    let table = Table::standard();
    let engines = table.matrix(&examples).rows.into_iter().map(|row| EngineRow {
        engine: row.engine,
        about: row.about,
        questions: row.questions,
        reductions: row.reductions,
        options: row.options,
    });
    let uses = |claim: Claim, setting: Setting| {
        let asked = examples.iter().map(|asked| asked.only(&[setting])).filter(|asked| asked.wants(setting));
        asked.into_iter().any(|asked| unused(claim, &asked).is_empty())
    };
    let assertions = Claim::ALL.into_iter().map(|claim| {
        let posing = claim.posing();
        AssertionRow {
            language: claim.language(),
            assertion: claim.name().to_string(),
            question: posing.kind.map(|kind| kind.name()),
            engines: posing.kind.map(|kind| answering(kind, &posing.facts)).unwrap_or_default(),
            options: Setting::ALL
                .into_iter()
                .filter(|setting| !OF_FILES.contains(setting))
                .filter(|&setting| uses(claim, setting))
                .map(|setting| setting.name())
                .collect(),
        }
    });
    let refused =
        REASONS.iter().map(|&(language, setting, why)| RefusedRow { language, option: setting.name(), why }).collect();
    MatrixReport { engines: engines.collect(), assertions: assertions.chain(of_files()).collect(), refused }
}

impl MatrixReport {
    /// The table as Markdown.
    pub fn markdown(&self) -> String {
        let list = |words: &[&str]| if words.is_empty() { "–".to_string() } else { words.join(", ") };
        let code = |words: &[&str]| {
            let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            if quoted.is_empty() { "–".to_string() } else { quoted.join(", ") }
        };
        let mut text = String::from(HEAD);
        text.push_str("| engine | answers | reductions | options | how |\n|---|---|---|---|---|\n");
        for row in &self.engines {
            let EngineRow { engine, about, questions, reductions, options } = row;
            let (questions, reductions, options) = (list(questions), list(reductions), code(options));
            let _ = writeln!(text, "| `{engine}` | {questions} | {reductions} | {options} | {about} |");
        }
        text.push_str(
            "\n## Assertions\n\n| language | assertion | question | engines | options |\n|---|---|---|---|---|\n",
        );
        for row in &self.assertions {
            let AssertionRow { language, assertion, question, engines, options } = row;
            let (engines, options) = (code(engines), code(options));
            let question = question.unwrap_or("–");
            let _ = writeln!(text, "| {language} | {assertion} | {question} | {engines} | {options} |");
        }
        text.push_str(OF_MODELS);
        text.push_str("\n## Options that a language cannot use\n\n| language | option | why |\n|---|---|---|\n");
        for RefusedRow { language, option, why } in &self.refused {
            let _ = writeln!(text, "| {language} | `{option}` | {why} |");
        }
        text
    }
}
