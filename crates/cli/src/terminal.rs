//! Output: results on standard output, diagnostics and progress on standard error.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use terminal_size::{Height, Width, terminal_size_of};
use trefoil_control::{Control, Snapshot, count, human_bytes, resident_memory};

use crate::text::folded;

/// Work shorter than this shows no progress.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the progress line changes.
const REFRESH: Duration = Duration::from_millis(100);

/// May colours be used on standard output? (`NO_COLOR`, `CLICOLOR`, and whether it is a terminal.)
pub(crate) fn colour_out() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// May colours be used on standard error?
pub(crate) fn colour_err() -> bool {
    anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never
}

/// Whether something could not be written.
static FAILED: AtomicBool = AtomicBool::new(false);

/// Writes to standard output. A reader that went away is no error; the first other error is reported, and
/// [`output_failed`] remembers it. False when the text could not be written.
pub(crate) fn print(text: &str) -> bool {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            drop(out);
            if !FAILED.swap(true, Ordering::Relaxed) {
                complain(&format!("error: cannot write to standard output: {error}\n"));
            }
            false
        }
        _ => true,
    }
}

/// Remembers that something could not be written, which was reported elsewhere.
pub(crate) fn fail() {
    FAILED.store(true, Ordering::Relaxed);
}

/// Writes text for people to standard output; on a terminal, long lines break between words.
pub(crate) fn say(text: &str) -> bool {
    match width(terminal_size_of(io::stdout())) {
        Some(width) => print(&folded(text, width)),
        None => print(text),
    }
}

/// Writes text for people to standard error; on a terminal, long lines break between words.
pub(crate) fn say_err(text: &str) {
    match width(terminal_size_of(io::stderr())) {
        Some(width) => complain(&folded(text, width)),
        None => complain(text),
    }
}

/// The width of a terminal, unless it is too narrow for columns of text.
fn width(size: Option<(Width, Height)>) -> Option<usize> {
    const NARROWEST: usize = 40;
    size.map(|(Width(width), _)| usize::from(width)).filter(|&width| width >= NARROWEST)
}

/// Could something not be written?
pub(crate) fn output_failed() -> bool {
    FAILED.load(Ordering::Relaxed)
}

/// Writes to standard error. A failure there can be reported nowhere, but [`output_failed`] remembers it.
pub(crate) fn complain(text: &str) {
    if let Err(error) = io::stderr().lock().write_all(text.as_bytes())
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        fail();
    }
}

/// A line on standard error that lives as long as the work, only on a terminal.
pub(crate) struct ProgressLine {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressLine {
    /// Shows the counters of a job from now on.
    pub(crate) fn show(control: &Control) -> ProgressLine {
        if !io::stderr().is_terminal() {
            return ProgressLine { stop: None, thread: None };
        }
        let (stop, stopped) = mpsc::channel();
        let control = control.clone();
        let draw = move || {
            let mut bar: Option<ProgressBar> = None;
            let mut wait = PATIENCE;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = REFRESH;
                let bar = bar.get_or_insert_with(ProgressBar::new_spinner);
                draw(bar, &control.progress().snapshot(), control.elapsed());
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        };
        ProgressLine { stop: Some(stop), thread: thread::Builder::new().name("progress".into()).spawn(draw).ok() }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn draw(bar: &ProgressBar, now: &Snapshot, elapsed: Duration) {
    if now.total > 0 {
        bar.set_length(now.total);
        bar.set_position(now.done.min(now.total));
        bar.set_style(style("{spinner} {msg} {wide_bar} {percent}%"));
    } else {
        bar.set_style(style("{spinner} {msg}"));
    }
    bar.set_message(words(now, elapsed));
    bar.tick();
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is a constant")
}

/// The counters in words, leaving out those that the phase does not count.
fn words(now: &Snapshot, elapsed: Duration) -> String {
    let mut parts = vec![format!("{} {:.1} s", now.phase, elapsed.as_secs_f64())];
    let counts = match now.vertices {
        true => [(now.states, "vertex", "vertices"), (now.transitions, "edge", "edges")],
        false => [(now.states, "state", "states"), (now.transitions, "transition", "transitions")],
    };
    for (number, one, more) in counts {
        if number > 0 {
            parts.push(format!("{} {}", count(number), if number == 1 { one } else { more }));
        }
    }
    if now.depth > 0 {
        parts.push(format!("depth {}", count(now.depth)));
    }
    parts.extend(resident_memory().map(human_bytes));
    parts.extend(Some(now.detail.clone()).filter(|detail| !detail.is_empty()));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_in_words() {
        let now = Snapshot { phase: "searching".into(), states: 1_234_567, depth: 8, ..Snapshot::default() };
        let text = words(&now, Duration::from_millis(2500));
        assert!(text.starts_with("searching 2.5 s, 1,234,567 states, depth 8"), "{text}");
    }
}
