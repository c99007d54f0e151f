//! Runs the assertions of a script one after the other, and keeps a watcher informed.

use std::cell::RefCell;
use std::path::Path;

use trefoil_control::Control;
use trefoil_session::check::{AnyScript, Asked, Assertion, AssertionReport, PrintResult, RunReport, Unused, Wanted};
use trefoil_session::{Job, Problem, Verdict};

use crate::run::Jobs;
use crate::{exit, terminal, text};

/// An observer of a run.
pub(crate) trait Watcher {
    /// The script was read, and these assertions of it will be run.
    fn opened(&mut self, _file: &str, _chosen: &[Assertion]) {}
    /// There are warnings about the script.
    fn warned(&mut self, text: &str) {
        terminal::say_err(text);
    }
    /// The script cannot be used.
    fn refused(&mut self, problem: &Problem, report: &RunReport) {
        terminal::say_err(&problem.render(terminal::colour_err()));
        terminal::say_err(&stopped(report));
    }
    /// What the print statements say.
    fn printed(&mut self, _said: &[PrintResult]) {}
    /// An assertion is being run, by its place among those chosen.
    fn started(&mut self, _place: usize, _control: &Control) {}
    /// An assertion has its answer.
    fn finished(&mut self, _place: usize, _answer: &AssertionReport) {}
}

/// How scripts are run.
pub(crate) struct Runner {
    pub(crate) jobs: Jobs,
    pub(crate) options: Asked,
    pub(crate) language: Option<&'static str>,
    pub(crate) wanted: Choosing,
    /// Assertions are listed and not run.
    pub(crate) only_list: bool,
    /// Answers name their engine.
    pub(crate) why: bool,
    /// Properties beside those of the scripts.
    pub(crate) properties: Wanted,
}

/// A script that was opened, or why it could not be.
pub(crate) struct Opened<'f> {
    file: &'f Path,
    job: Job,
    script: Result<AnyScript, Problem>,
    /// The assertions that were chosen.
    chosen: Vec<Assertion>,
}

impl Runner {
    /// Opens a script, and chooses its assertions.
    pub(crate) fn open<'f>(&self, file: &'f Path) -> Opened<'f> {
        let job = self.jobs.start();
        let script = AnyScript::open_with(file, self.language, &self.properties, &job).and_then(|mut script| {
            script.accepts(&self.options, &job)?;
            Ok(script)
        });
        self.jobs.answered();
        let all = script.as_ref().map(AnyScript::assertions).unwrap_or_default();
        let chosen = all.into_iter().filter(|assertion| self.wanted.takes(assertion)).collect();
        Opened { file, job, script, chosen }
    }

    /// For each assertion that was chosen, the options that it cannot use.
    pub(crate) fn unused(&self, opened: &Opened<'_>) -> Vec<Vec<Unused>> {
        let Ok(script) = &opened.script else { return Vec::new() };
        opened.chosen.iter().map(|assertion| script.unused(assertion.index, &self.options)).collect()
    }

    /// Runs the chosen assertions of a script.
    pub(crate) fn run(&self, opened: Opened<'_>, watcher: &mut dyn Watcher) -> RunReport {
        let Opened { file, job, script, chosen } = opened;
        let mut script = match script {
            Ok(script) => script,
            Err(problem) => {
                let report = RunReport::refused(file, &problem, &job);
                watcher.refused(&problem, &report);
                return report;
            }
        };
        watcher.warned(script.warnings().text(terminal::colour_err()));
        watcher.opened(&file.display().to_string(), &chosen);
        let (mut said, mut answers) = (Vec::new(), Vec::new());
        if !self.only_list {
            let job = self.jobs.start();
            said = script.print_statements(&self.options, &job);
            self.jobs.answered();
            watcher.printed(&said);
            for (place, assertion) in chosen.iter().enumerate() {
                let job = self.jobs.start();
                watcher.started(place, &job.control);
                let mut answer = script.run(assertion.index, &self.options, &job);
                answer.why = answer.why.filter(|_| self.why);
                answer.growth = job.control.progress().growth();
                self.jobs.answered();
                watcher.finished(place, &answer);
                answers.push(answer);
            }
        }
        script.report(said, answers)
    }
}

/// How far opening a script came, if it was stopped.
pub(crate) fn stopped(report: &RunReport) -> String {
    let files = std::slice::from_ref(&report.file_name);
    report.unfinished.as_ref().map_or(String::new(), |unfinished| text::unfinished(files, unfinished))
}

/// The exit code of a run.
pub(crate) fn exit_code(report: &RunReport) -> u8 {
    let codes = report.results.iter().map(|result| exit::of(result.verdict));
    let refused = match (report.unfinished.is_some(), report.errors.is_empty()) {
        (true, _) => exit::UNKNOWN,
        (false, false) => exit::WRONG,
        (false, true) => exit::HOLDS,
    };
    let prints = report.print_statement_results.iter().any(|said| !said.errors.is_empty());
    exit::together(codes.chain([refused, if prints { exit::WRONG } else { exit::HOLDS }]))
}

/// Assertions chosen by number or by a part of their text; all of them when nothing is chosen.
pub(crate) struct Choosing {
    chosen: Vec<Choice>,
}

struct Choice {
    text: String,
    number: Option<usize>,
    taken: RefCell<bool>,
}

impl Choosing {
    pub(crate) fn new(texts: &[String]) -> Choosing {
        let choice = |text: &str| Choice {
            text: text.to_string(),
            number: text.trim().parse().ok(),
            taken: RefCell::new(false),
        };
        Choosing { chosen: texts.iter().flat_map(|text| numbers(text)).map(choice).collect() }
    }

    /// Why values of `--only` choose nothing, if one does not.
    pub(crate) fn refused(texts: &[String]) -> Option<&'static str> {
        let blank = texts.iter().any(|text| text.trim().is_empty());
        blank.then_some("--only needs a number or a part of the text of an assertion")
    }

    /// Is this one chosen?
    pub(crate) fn takes(&self, assertion: &Assertion) -> bool {
        let mut taken = self.chosen.is_empty();
        for choice in &self.chosen {
            let fits = match choice.number {
                Some(number) => number == assertion.index,
                None => squeezed(&assertion.assertion_string).contains(&squeezed(&choice.text)),
            };
            if fits {
                *choice.taken.borrow_mut() = true;
                taken = true;
            }
        }
        taken
    }

    /// Choices that no assertion fits, each as the end of a complaint about an option.
    pub(crate) fn never(&self) -> impl Iterator<Item = String> {
        let unused = self.chosen.iter().filter(|choice| !*choice.taken.borrow());
        unused.map(|choice| {
            let what = if choice.number.is_some() { "has this number" } else { "contains this text" };
            format!("{}: no assertion {what}", choice.text)
        })
    }
}

/// The numbers of a list such as `1,4`; a text that is no list of numbers as it is.
fn numbers(text: &str) -> Vec<&str> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.iter().all(|part| part.parse::<usize>().is_ok()) { parts } else { vec![text] }
}

/// The answers to explain: chosen ones, or all counterexamples.
pub(crate) struct Explaining {
    chosen: Choosing,
    /// `--explain` without a value.
    failures: bool,
}

impl Explaining {
    /// The assertions that `--explain` selects; an empty value selects every assertion that fails.
    pub(crate) fn new(texts: &[String]) -> Explaining {
        let chosen: Vec<String> = texts.iter().filter(|text| !text.is_empty()).cloned().collect();
        Explaining { failures: chosen.len() < texts.len(), chosen: Choosing::new(&chosen) }
    }

    /// Is nothing to be explained?
    pub(crate) fn is_empty(&self) -> bool {
        !self.failures && self.chosen.chosen.is_empty()
    }

    /// The assertions to run for it.
    pub(crate) fn needed(texts: &[String]) -> Choosing {
        if texts.iter().any(String::is_empty) { Choosing::new(&[]) } else { Choosing::new(texts) }
    }

    /// Is this one to be explained?
    pub(crate) fn takes(&self, answer: &AssertionReport) -> bool {
        let chosen = !self.chosen.chosen.is_empty() && self.chosen.takes(&answer.assertion);
        chosen || (self.failures && answer.verdict == Verdict::Fails)
    }

    /// Choices that no assertion fits.
    pub(crate) fn never(&self) -> impl Iterator<Item = String> {
        self.chosen.never()
    }
}

/// A text without blanks: those of an assertion are the printer's, not the user's.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// How many answers of each sort there are.
pub(crate) fn tally(report: &RunReport) -> [(Verdict, usize); 4] {
    [Verdict::Holds, Verdict::Fails, Verdict::Unknown, Verdict::Error]
        .map(|verdict| (verdict, report.results.iter().filter(|result| result.verdict == verdict).count()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::samples;

    #[test]
    fn assertions_are_chosen_by_number_or_by_text_whatever_the_blanks() {
        let report = samples::run();
        let numbers = |texts: &[&str]| -> Vec<usize> {
            let texts: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
            let choosing = Choosing::new(&texts);
            let taken = report.results.iter().filter(|result| choosing.takes(&result.assertion));
            taken.map(|result| result.assertion.index).collect()
        };
        assert_eq!(numbers(&[]), vec![1, 2, 3, 4, 5, 6]);
        assert_eq!(numbers(&["2"]), vec![2]);
        assert_eq!(numbers(&["deadlockfree"]), vec![2]);
        assert_eq!(numbers(&["[T=", "4"]), vec![1, 3, 4]);
        assert_eq!(numbers(&["2,4"]), vec![2, 4]);
        assert_eq!(numbers(&["3, 1", "6"]), vec![1, 3, 6]);
        assert!(Choosing::refused(&["1".to_string(), " ".to_string()]).is_some());
        assert!(Choosing::refused(&["1".to_string(), "deadlock".to_string()]).is_none());
        let none = Choosing::new(&["17".to_string(), "1".to_string()]);
        report
            .results
            .iter()
            .for_each(|result| assert!(none.takes(&result.assertion) == (result.assertion.index == 1)));
        assert_eq!(none.never().collect::<Vec<_>>(), vec!["17: no assertion has this number"]);
    }

    #[test]
    fn failures_are_explained_without_being_named() {
        let report = samples::run();
        let explained = |texts: &[&str]| -> Vec<usize> {
            let explaining = Explaining::new(&texts.iter().map(|text| text.to_string()).collect::<Vec<_>>());
            let taken = report.results.iter().filter(|result| explaining.takes(result));
            taken.map(|result| result.assertion.index).collect()
        };
        assert!(explained(&[]).is_empty());
        assert_eq!(explained(&[""]), vec![2, 3]);
        assert_eq!(explained(&["6", ""]), vec![2, 3, 6]);
        assert_eq!(explained(&["1"]), vec![1]);
    }

    #[test]
    fn errors_count_more_than_failures_and_failures_more_than_unknown() {
        let mut report = samples::run();
        assert_eq!(exit_code(&report), exit::WRONG);
        report.results.retain(|result| result.verdict != Verdict::Error);
        assert_eq!(exit_code(&report), exit::FAILS);
        report.results.retain(|result| result.verdict != Verdict::Fails);
        assert_eq!(exit_code(&report), exit::UNKNOWN);
        report.results.retain(|result| result.verdict != Verdict::Unknown);
        assert_eq!(exit_code(&report), exit::HOLDS);
    }
}
