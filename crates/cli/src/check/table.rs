//! Answers as they come: one line each on standard output and, on a terminal, a table of running and waiting assertions
//! below them.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use trefoil_control::{Control, count, counted, human_bytes, resident_memory};
use trefoil_session::check::{Assertion, AssertionReport, PrintResult};

use super::results;
use super::runner::Watcher;
use crate::terminal;
use crate::text::cut;

/// How often the table changes.
const REFRESH: Duration = Duration::from_millis(100);
/// How many waiting assertions are shown.
const SHOWN: usize = 8;

/// How many letters of the assertion that runs are shown; counters come behind.
const NAME: usize = 40;

/// The answers of one script.
pub(crate) struct Table {
    /// Whether answers are for people.
    text: bool,
    /// Whether there are several scripts.
    several: bool,
    chosen: Vec<Assertion>,
    live: Option<Live>,
    running: Option<Running>,
}

struct Live {
    rows: MultiProgress,
    waiting: Vec<ProgressBar>,
    rest: ProgressBar,
}

/// A thread that redraws one row as long as its assertion runs.
struct Running {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    row: ProgressBar,
}

impl Table {
    pub(crate) fn new(text: bool, several: bool) -> Table {
        Table { text, several, chosen: Vec::new(), live: None, running: None }
    }

    fn say(&self, text: &str) {
        match &self.live {
            Some(live) => live.rows.suspend(|| terminal::say(text)),
            None => terminal::say(text),
        };
    }

    /// Shows the rows that wait from this place on.
    fn show_waiting(&mut self, from: usize) {
        let Some(live) = &mut self.live else { return };
        for row in live.waiting.drain(..) {
            live.rows.remove(&row);
        }
        live.rows.remove(&live.rest);
        let width = results::index_width(&self.chosen);
        for assertion in self.chosen.iter().skip(from).take(SHOWN) {
            let row = live.rows.add(bar("{wide_msg:.dim}"));
            row.set_message(format!("  {:>width$}  waits    {}", assertion.index, assertion.assertion_string));
            live.waiting.push(row);
        }
        let left = self.chosen.len().saturating_sub(from + SHOWN);
        if left > 0 {
            live.rest = live.rows.add(bar("{wide_msg:.dim}"));
            live.rest.set_message(format!("  … and {}", counted(left as u64, "more assertion")));
        }
    }
}

impl Watcher for Table {
    fn opened(&mut self, file: &str, chosen: &[Assertion]) {
        self.chosen = chosen.to_vec();
        if self.text && self.several {
            self.say(&format!("{file}\n"));
        }
        if std::io::stderr().is_terminal() {
            let rows = MultiProgress::new();
            self.live = Some(Live { rows, waiting: Vec::new(), rest: ProgressBar::hidden() });
        }
    }

    fn printed(&mut self, said: &[PrintResult]) {
        if self.text {
            self.say(&results::printed(said));
        }
    }

    fn started(&mut self, place: usize, control: &Control) {
        self.show_waiting(place + 1);
        let Some(live) = &self.live else { return };
        let row = live.rows.insert(0, bar("{wide_msg}"));
        let width = results::index_width(&self.chosen);
        let assertion = &self.chosen[place];
        let (index, name) = (assertion.index, cut(&assertion.assertion_string, NAME));
        let (stop, stopped) = mpsc::channel();
        let (control, drawn) = (control.clone(), row.clone());
        let draw = move || {
            let mut pace = Pace::new();
            loop {
                let words = pace.words(&control);
                drawn.set_message(format!("  {index:>width$}  runs     {name}: {words}"));
                drawn.tick();
                if stopped.recv_timeout(REFRESH) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("progress".into()).spawn(draw).ok();
        self.running = Some(Running { stop: Some(stop), thread, row });
    }

    fn finished(&mut self, _place: usize, answer: &AssertionReport) {
        if let (Some(running), Some(live)) = (self.running.take(), &self.live) {
            live.rows.remove(&running.row);
        }
        if !answer.rendered[0].is_empty() {
            let text = &answer.rendered[usize::from(terminal::colour_err())];
            match &self.live {
                Some(live) => live.rows.suspend(|| terminal::say_err(text)),
                None => terminal::say_err(text),
            }
        }
        if self.text {
            self.say(&results::line(answer, results::index_width(&self.chosen), terminal::colour_out()));
        }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        self.running = None;
        if let Some(live) = &self.live {
            let _ = live.rows.clear();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.row.finish_and_clear();
    }
}

fn bar(template: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template(template).expect("the template is a constant"));
    bar
}

/// How fast states are found in the phase that runs.
struct Pace {
    phase: String,
    since: Instant,
}

impl Pace {
    fn new() -> Pace {
        Pace { phase: String::new(), since: Instant::now() }
    }

    fn words(&mut self, control: &Control) -> String {
        let now = control.progress().snapshot();
        if now.phase != self.phase {
            (self.phase, self.since) = (now.phase.clone(), Instant::now());
        }
        let mut parts = vec![format!("{:.1} s", control.elapsed().as_secs_f64())];
        if !now.phase.is_empty() {
            parts.insert(0, now.phase);
        }
        if now.states > 0 {
            parts.push(counted(now.states, "state"));
            let seconds = self.since.elapsed().as_secs_f64();
            if seconds >= 0.2 {
                parts.push(format!("{}/s", count((now.states as f64 / seconds) as u64)));
            }
        }
        if now.depth > 0 {
            parts.push(format!("depth {}", count(now.depth)));
        }
        let percent = (now.done.min(now.total) * 100).checked_div(now.total);
        parts.extend(percent.map(|percent| format!("{percent} %")));
        parts.extend(resident_memory().map(human_bytes));
        parts.extend(Some(now.detail).filter(|detail| !detail.is_empty()));
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_put_into_words() {
        let control = Control::unlimited();
        control.progress().begin("searching", 0);
        control.progress().add(1_234_567, 0);
        let text = Pace::new().words(&control);
        assert!(text.starts_with("searching, 0.0 s, 1,234,567 states"), "{text}");
    }
}
