//! Files and models of any language as explicit systems, and two of them under one set of labels.
//!
//! A model is explored; its labels are events of CSP (`c.1.true`) or messages of Promela (`c!1,true`, a handshake being
//! one label). Labels of two languages are equal when their names and arguments are: `c.1.true`, `c(1, true)`,
//! `c!1,true` and `c?1,true`. So that this means something, arguments are numbers, Booleans and names of constants, and
//! anything else is refused. Promela does not distinguish `bool` from `bit`: beside a model of it, `true` is 1 and
//! `false` is 0. Between two files labels are texts, except that the order in which a multi-action of mCRL2 is written
//! does not matter: `a|b(1)` is `b(1)|a`.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use trefoil_lts::equivalence::Equivalence;
use trefoil_lts::{Lts, generate};
use trefoil_mcrl2::decompose::{Freedom, Hiding};
use trefoil_promela::Exchanges;
use trefoil_questions::{Decompose, Setting};
use trefoil_source::{Diagnostic, Place, nearest};
use trefoil_system::{Label, LabelId, Labels, Part, Writing};

use super::{ConvertReport, Reading, Size, check_output, name, read, write};
use crate::check::{language_of, not_decomposed};
use crate::look::{Looking, Subject};
use crate::mcrl2::decompose::in_parts;
use crate::mcrl2::growth::watched;
use crate::problem::{NO_PROCESS, Origin, REFUSED};
use crate::{Job, Problem, Resources, promela};

/// How files and models are opened.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// How files with labelled transition systems are read.
    pub reading: Reading,
    /// The processes of CSPM scripts, in the order of the scripts; a single one is that of all of them.
    pub processes: Vec<String>,
    /// What of the labels is compared.
    pub view: View,
    /// How mCRL2 specifications are taken apart, if they are.
    pub decompose: Option<Decompose>,
}

/// What of the labels is compared.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The names of visible labels, after renaming; when there are none, all are visible.
    pub visible: Vec<String>,
    /// Renamings `old=new` of names.
    pub rename: Vec<String>,
}

impl View {
    pub(super) fn is_empty(&self) -> bool {
        self.visible.is_empty() && self.rename.is_empty()
    }
}

/// A file or a model, explored.
#[derive(Clone)]
pub(super) struct OpenedSystem {
    pub(super) file: String,
    pub(super) lts: Arc<Lts>,
    /// What came of taking it apart, with `--decompose`.
    pub(super) decomposed: Option<String>,
    /// None for a file with a labelled transition system.
    language: Option<&'static str>,
}

/// Where a system comes from.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) file: String,
    /// None for a file with a labelled transition system.
    pub(super) language: Option<&'static str>,
}

impl OpenedSystem {
    fn named(&self) -> Named {
        Named { file: self.file.clone(), language: self.language }
    }
}

/// The language of a file, by its ending; none when it has a labelled transition system.
pub(super) fn language(file: &Path, reading: &Reading) -> Result<Option<&'static str>, Problem> {
    match language_of(file, None) {
        Ok(language) if file.as_os_str() != "-" && reading.format.is_none() => Ok(Some(language)),
        Err(problem) if file.extension().is_some_and(|ending| ending == "mcrl2") => Err(problem),
        _ => Ok(None),
    }
}

/// The process of each file that is a script.
pub(super) fn processes(files: &[&Path], opening: &Opening) -> Result<Vec<Option<String>>, Problem> {
    let mut assigned = Vec::new();
    let mut given = opening.processes.iter();
    let only = if let [only] = &*opening.processes { Some(only) } else { None };
    for file in files {
        let is_script = language(file, &opening.reading)? == Some("cspm");
        let process = if is_script { given.next().or(only) } else { None };
        if is_script && process.is_none() {
            let help = "give --process for each script, such as --process 'P(3) ||| Q'";
            let place = Place::File(name(file));
            let diagnostic = Diagnostic::error(NO_PROCESS, "this command needs a process of the script", place);
            return Err(diagnostic.help(help).into());
        }
        assigned.push(process.cloned());
    }
    match given.next() {
        None => Ok(assigned),
        Some(left_over) => {
            let message = format!("there is no script for --process '{left_over}'");
            let place = Place::File(files.first().map_or_else(String::new, |file| name(file)));
            Err(Diagnostic::error(REFUSED, message, place).into())
        }
    }
}

/// Refuses to take files apart none of which is an mCRL2 specification.
pub(super) fn can_decompose(files: &[&Path], opening: &Opening) -> Result<(), Problem> {
    if opening.decompose.is_none() {
        return Ok(());
    }
    let mut why = "it is a system in a file already";
    for file in files {
        match language(file, &opening.reading)? {
            Some("mcrl2") => return Ok(()),
            Some(language) => why = not_decomposed(language).unwrap_or(why),
            None => {}
        }
    }
    let message = format!("{} applies to mCRL2 specifications only: {why}", Setting::Decompose.name());
    Err(Diagnostic::error(REFUSED, message, Place::File(name(files[0]))).into())
}

/// The labels that are not compared: all parts of them are invisible.
fn hidden(view: &View, file: &Path) -> Result<Hiding, Problem> {
    let (renamings, visible) = (renamings(view, &name(file))?, view.visible.clone());
    Ok(Arc::new(move |label: &Label| {
        let shows = |part: &Part| {
            let seen = renamings.get(&*part.name).map_or(&*part.name, String::as_str);
            visible.iter().any(|visible| visible == seen)
        };
        !visible.is_empty() && !label.parts().iter().any(shows)
    }))
}

/// Opens a file: a model of a language by its ending, else a labelled transition system. `labels` is for the latter.
/// Where a specification is taken apart, this equivalence has to be kept.
pub(super) fn open(
    file: &Path,
    process: Option<String>,
    opening: &Opening,
    keep: Equivalence,
    labels: &Arc<Labels>,
    job: &Job,
) -> Result<OpenedSystem, Problem> {
    let reading = &opening.reading;
    let language = language(file, reading)?;
    let mut decomposed = None;
    if let (Some("mcrl2"), Some(how)) = (language, &opening.decompose) {
        let hidden = hidden(&opening.view, file)?;
        match in_parts(file, how, &Freedom { equivalence: keep, hidden: &hidden, invariants: None }, job)? {
            (Some(lts), words) => {
                return Ok(OpenedSystem { file: name(file), lts, language, decomposed: Some(words) });
            }
            (None, words) => decomposed = Some(words),
        }
    }
    let explored = |system: &dyn trefoil_system::System, origin: &Origin| {
        job.control.progress().begin("exploring", 0);
        let generated = generate(system, job.threads, &job.control);
        generated.map_err(|rest| Problem::cut(rest.cut, &job.control, origin))
    };
    let lts = match language {
        None => read(file, reading, labels, job)?,
        Some("promela") => {
            let (simulation, origin) = promela::Script::open(file, job)?.simulation(job)?;
            explored(&Exchanges::new(simulation), &origin)?.lts
        }
        Some(language) => {
            let file = file.to_path_buf();
            let task = Looking { file, expression: process, language: Some(language), compress_leaves: true };
            let subject = Subject::open(&task, job)?;
            let explore = || explored(subject.system(), subject.origin());
            let found = subject.linear().map(|model| watched(model, &job.control, explore));
            found.unwrap_or_else(explore)?.lts
        }
    };
    Ok(OpenedSystem { file: name(file), lts: Arc::new(lts), language, decomposed })
}

/// Explores a model and writes it as a labelled transition system.
pub fn generate_lts(
    file: &Path,
    opening: &Opening,
    output: &Path,
    format: Option<&'static str>,
    job: &Job,
) -> Result<ConvertReport, Problem> {
    check_output(Some(output), format)?;
    let process = processes(&[file], opening)?.remove(0);
    can_decompose(&[file], opening)?;
    let opened = open(file, process, opening, Equivalence::Strong, &Arc::new(Labels::new()), job)?;
    write(&opened.lts, output, format, job)?;
    Ok(ConvertReport {
        output: name(output),
        size: Size::of(&opened.lts),
        decomposed: opened.decomposed,
        resources: Resources::new(&job.control),
    })
}

/// Two systems with one table of labels.
pub(super) fn together(
    left: &OpenedSystem,
    right: &OpenedSystem,
    view: &View,
) -> Result<(Arc<Lts>, Arc<Lts>), Problem> {
    if view.is_empty() && Arc::ptr_eq(left.lts.labels(), right.lts.labels()) {
        let ordered = |opened: &OpenedSystem| ordered(&opened.lts).map_or_else(|| opened.lts.clone(), Arc::new);
        return Ok((ordered(left), ordered(right)));
    }
    let mut common = Common::new(view, [&left.named(), &right.named()], left.lts.labels().writing())?;
    let systems = (common.seen(left)?, common.seen(right)?);
    common.has_all_visible(&left.file)?;
    Ok(systems)
}

/// The system with the parts of every multi-action in one order, if some have another one.
pub(super) fn ordered(lts: &Lts) -> Option<Lts> {
    let labels = lts.labels();
    let mut images: Vec<LabelId> = (0..labels.len() as u32).map(LabelId).collect();
    let mut changed = false;
    for image in &mut images {
        let label = labels.get(*image);
        let Some(mut parts) = label.name().filter(|_| label.arguments().is_empty()).and_then(multi_action) else {
            continue;
        };
        if !parts.is_sorted() {
            parts.sort_unstable();
            *image = labels.name(&parts.join("|"));
            changed = true;
        }
    }
    changed.then(|| lts.relabelled(labels.clone(), &images))
}

/// The parts of a multi-action of mCRL2: names with or without arguments in brackets, and bars between them.
fn multi_action(text: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0usize);
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            '|' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    let is_part = |part: &&str| match part.split_once('(') {
        None => is_constant(part),
        Some((name, rest)) => is_constant(name) && rest.ends_with(')'),
    };
    (depth == 0 && parts.len() > 1 && parts.iter().all(is_part)).then_some(parts)
}

fn renamings(view: &View, file: &str) -> Result<HashMap<String, String>, Problem> {
    let mut renamings = HashMap::new();
    for renaming in &view.rename {
        let (old, new) = match renaming.split_once('=') {
            Some((old, new)) if !old.is_empty() && !new.is_empty() => (old.to_string(), new.to_string()),
            _ => {
                let message = format!("the renaming `{renaming}` is not old=new");
                return Err(Diagnostic::error(REFUSED, message, Place::File(file.to_string())).into());
            }
        };
        renamings.insert(old, new);
    }
    Ok(renamings)
}

/// What labels of two systems are called.
pub(super) struct Common {
    view: View,
    renamings: HashMap<String, String>,
    /// Do the systems come from different languages?
    across: bool,
    /// Are Booleans numbers?
    counts_booleans: bool,
    table: Arc<Labels>,
    /// Names of labels, after renaming.
    names: BTreeSet<String>,
    /// Visible names that occur.
    met: BTreeSet<String>,
}

impl Common {
    pub(super) fn new(view: &View, systems: [&Named; 2], writing: Writing) -> Result<Common, Problem> {
        let languages = systems.map(|system| system.language);
        Ok(Common {
            view: view.clone(),
            renamings: renamings(view, &systems[0].file)?,
            across: languages[0] != languages[1],
            counts_booleans: languages.contains(&Some("promela")),
            table: Arc::new(Labels::written(writing)),
            names: BTreeSet::new(),
            met: BTreeSet::new(),
        })
    }

    /// The common labels.
    pub(super) fn table(&self) -> &Arc<Labels> {
        &self.table
    }

    /// Refuses a visible name that no label had.
    pub(super) fn has_all_visible(&self, file: &str) -> Result<(), Problem> {
        let Some(unknown) = self.view.visible.iter().find(|&visible| !self.met.contains(visible)) else {
            return Ok(());
        };
        let message = format!("neither system has a label with the name `{unknown}`");
        let diagnostic = Diagnostic::error(REFUSED, message, Place::File(file.to_string()));
        Err(match nearest(unknown, self.names.iter().map(String::as_str)) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic,
        }
        .into())
    }

    fn seen(&mut self, system: &OpenedSystem) -> Result<Arc<Lts>, Problem> {
        let (labels, named) = (system.lts.labels(), system.named());
        let mut images = vec![None; labels.len()];
        for transition in system.lts.transitions() {
            let image = &mut images[transition.label.index()];
            if image.is_none() {
                let common = self.image(labels, transition.label, &named).map_err(|refused| Problem::from(*refused))?;
                *image = Some(common);
            }
        }
        let images: Vec<LabelId> = images.into_iter().map(|image| image.unwrap_or(LabelId::TAU)).collect();
        Ok(Arc::new(system.lts.relabelled(self.table.clone(), &images)))
    }

    /// The common label of a label of a system.
    pub(super) fn image(
        &mut self,
        labels: &Labels,
        label: LabelId,
        system: &Named,
    ) -> Result<LabelId, Box<Diagnostic>> {
        if label <= LabelId::TICK {
            return Ok(label);
        }
        let label = labels.get(label);
        let parts = match (system.language, label.name()) {
            // The text of a file.
            (None, Some(text)) if label.arguments().is_empty() => {
                if self.across && ["✓", "tick", "Terminate"].contains(&text) {
                    return Ok(LabelId::TICK);
                }
                parsed(text)
            }
            _ => label.parts().to_vec(),
        };
        let mut seen = Vec::new();
        for part in parts {
            let own = part.name.strip_suffix(['!', '?']).unwrap_or(&part.name);
            let renamed = self.renamings.get(&*part.name).or_else(|| self.renamings.get(own));
            let name = renamed.map_or(own, String::as_str);
            self.names.insert(name.to_string());
            let exactly = if renamed.is_some() { name } else { &part.name };
            let found = self.view.visible.iter().find(|visible| *visible == name || *visible == exactly);
            if let Some(visible) = found {
                self.met.insert(visible.clone());
            } else if !self.view.visible.is_empty() {
                continue;
            }
            let same_language = !self.across && renamed.is_none();
            let kept = if same_language { part.name.clone() } else { name.into() };
            let arguments = part.arguments.iter().map(|argument| self.argument(argument, name, system));
            seen.push(Part { name: kept, arguments: arguments.collect::<Result<_, _>>()? });
        }
        Ok(self.table.intern(Label::bag(seen)))
    }

    fn argument(&self, argument: &str, name: &str, system: &Named) -> Result<Box<str>, Box<Diagnostic>> {
        if !self.across {
            return Ok(argument.into());
        }
        match argument {
            "true" if self.counts_booleans => Ok("1".into()),
            "false" if self.counts_booleans => Ok("0".into()),
            _ if is_number(argument) || is_constant(argument) => Ok(argument.into()),
            _ => {
                let message = format!("the argument `{argument}` of `{name}` cannot be compared across languages");
                let diagnostic = Diagnostic::error(REFUSED, message, Place::File(system.file.clone()))
                    .note("only numbers, Booleans and names of constants can")
                    .help("hide it: list the labels to compare with --visible");
                Err(Box::new(diagnostic))
            }
        }
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_constant(text: &str) -> bool {
    let first = text.chars().next();
    first.is_some_and(|first| first.is_alphabetic() || first == '_')
        && text.chars().all(|character| character.is_alphanumeric() || matches!(character, '_' | '\''))
}

/// The parts of a label in a file: `c.1.true`, `c(1, true)|d`, `c!1,true` or `c?1,true`.
fn parsed(text: &str) -> Vec<Part> {
    split(text, '|').into_iter().map(part).collect()
}

fn part(text: &str) -> Part {
    let (name, arguments) = if let Some((name, inside)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        (name, split(inside, ','))
    } else if let Some(at) = text.find(['!', '?']) {
        let (name, message) = text.split_at(at + 1);
        (name, if message.is_empty() { Vec::new() } else { split(message, ',') })
    } else {
        let mut fields = split(text, '.').into_iter();
        (fields.next().unwrap_or(text), fields.collect())
    };
    Part { name: name.trim().into(), arguments: arguments.into_iter().map(|argument| argument.trim().into()).collect() }
}

/// The pieces between separators that stand in no brackets.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut pieces, mut start, mut depth) = (Vec::new(), 0, 0usize);
    for (at, character) in text.char_indices() {
        match character {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            _ if character == separator && depth == 0 => {
                pieces.push(&text[start..at]);
                start = at + separator.len_utf8();
            }
            _ => {}
        }
    }
    pieces.push(&text[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_ways_to_write_a_label_are_one() {
        let shown = |text: &str| {
            let parts = parsed(text).into_iter().map(|part| format!("{} {}", part.name, part.arguments.join(" ")));
            parts.collect::<Vec<_>>().join(" | ")
        };
        assert_eq!(shown("c.1.true"), "c 1 true");
        assert_eq!(shown("c(1, true)"), "c 1 true");
        assert_eq!(shown("c!1,true"), "c! 1 true");
        assert_eq!(shown("c?1,true"), "c? 1 true");
        assert_eq!(shown("b(f(1, 2), [3, 4])|a"), "b f(1, 2) [3, 4] | a ");
        assert_eq!(shown("c.{1.2}"), "c {1.2}");
        assert_eq!(shown(""), " ");
        assert_eq!(shown("c!"), "c! ");
    }

    #[test]
    fn the_parts_of_a_multi_action() {
        assert_eq!(multi_action("b|a"), Some(vec!["b", "a"]));
        assert_eq!(multi_action("b(1 |> [], f(x || y))|a|b'(2)"), Some(vec!["b(1 |> [], f(x || y))", "a", "b'(2)"]));
        for other in ["a", "a(x|y)", "a | b", "a|", "|b", "a!1|b", "\"a|b\"", "a(|b", "a)|b(", "a(1)b|c", "1|2"] {
            assert_eq!(multi_action(other), None, "{other}");
        }
    }

    #[test]
    fn arguments_that_mean_the_same_everywhere() {
        assert!(["0", "-12", "340282366920938463463374607431768211456"].iter().all(|text| is_number(text)));
        assert!(!["", "-", "1.5", "1 / 2"].iter().any(|text| is_number(text)));
        assert!(["true", "Alice", "d_1", "x'"].iter().all(|text| is_constant(text)));
        assert!(!["", "<1>", "f(1)", "{}", "A.1"].iter().any(|text| is_constant(text)));
    }
}
