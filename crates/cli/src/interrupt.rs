//! Ctrl-C: the running job stops and reports what it has; the program ends a job that does not stop within a second. At
//! a prompt Ctrl-C stops the work of the line, and the prompt goes on.

use std::io::{self, IsTerminal};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use trefoil_control::Control;

use crate::terminal;

/// How long a job may take to stop.
const GRACE: Duration = Duration::from_millis(800);

/// What a first and a second Ctrl-C do.
#[derive(Clone, Default)]
pub(crate) struct Interrupt {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    pressed: AtomicBool,
    answered: AtomicBool,
    job: Mutex<Option<Control>>,
}

impl Interrupt {
    /// Listens from now on.
    pub(crate) fn listen() -> Interrupt {
        let interrupt = Interrupt::default();
        let heard = interrupt.clone();
        // Without a handler Ctrl-C still ends the program, only less politely.
        let _ = ctrlc::set_handler(move || heard.press());
        interrupt
    }

    fn press(&self) {
        if self.shared.pressed.swap(true, Ordering::SeqCst) {
            process::exit(crate::exit::UNKNOWN.into());
        }
        if let Some(job) = &*self.job() {
            job.cancel();
        }
        let waiting = self.clone();
        thread::spawn(move || {
            thread::sleep(GRACE);
            if !waiting.shared.answered.load(Ordering::SeqCst) {
                terminal::complain("unknown: interrupted\n");
                process::exit(crate::exit::UNKNOWN.into());
            }
        });
    }

    /// Was Ctrl-C pressed?
    pub(crate) fn is_pressed(&self) -> bool {
        self.shared.pressed.load(Ordering::SeqCst)
    }

    /// From now on Ctrl-C ends this job; at once if it was pressed before.
    pub(crate) fn watch(&self, control: &Control) {
        *self.job() = Some(control.clone());
        self.shared.answered.store(false, Ordering::SeqCst);
        if self.is_pressed() {
            control.cancel();
        }
    }

    /// The job has its answer, and only a second Ctrl-C interrupts its printing.
    pub(crate) fn answered(&self) {
        self.shared.answered.store(true, Ordering::SeqCst);
    }

    fn job(&self) -> std::sync::MutexGuard<'_, Option<Control>> {
        self.shared.job.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ctrl-C at a prompt: the work on a line stops and the prompt goes on. A second one, or one while the prompt waits for
/// a line, ends the program. (An editor on a terminal reads the key itself.)
#[derive(Clone, Default)]
pub(crate) struct PromptInterrupt {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
enum State {
    /// Between two lines.
    #[default]
    Idle,
    /// Pressed since the last line came: its work stops as soon as it begins.
    Pressed,
    /// The prompt waits for a line.
    Reading,
    Working(Control),
    /// Working, and asked to stop.
    Ending,
}

impl PromptInterrupt {
    /// Listens from now on.
    pub(crate) fn listen() -> PromptInterrupt {
        let interrupt = PromptInterrupt::default();
        let heard = interrupt.clone();
        // Without a handler Ctrl-C ends the program.
        let _ = ctrlc::set_handler(move || heard.press());
        interrupt
    }

    fn press(&self) {
        let mut state = self.state();
        match std::mem::take(&mut *state) {
            State::Idle => *state = State::Pressed,
            State::Working(control) => {
                control.cancel();
                *state = State::Ending;
            }
            State::Pressed | State::Reading | State::Ending => process::exit(crate::exit::UNKNOWN.into()),
        }
    }

    /// Reads a line, and forgets what was pressed before.
    pub(crate) fn reading<X>(&self, read: impl FnOnce() -> X) -> X {
        // An editor on a terminal reads the key itself. A signal that arrives nevertheless was sent just after the line
        // was entered, and is meant for its work.
        *self.state() = if io::stdin().is_terminal() { State::Idle } else { State::Reading };
        let line = read();
        let mut state = self.state();
        if let State::Reading = *state {
            *state = State::Idle;
        }
        line
    }

    /// Does the work of a line, which Ctrl-C can cut short.
    pub(crate) fn during<X>(&self, control: &Control, work: impl FnOnce(&Control) -> X) -> X {
        let pressed = matches!(std::mem::replace(&mut *self.state(), State::Working(control.clone())), State::Pressed);
        if pressed {
            control.cancel();
            *self.state() = State::Ending;
        }
        let result = work(control);
        *self.state() = State::Idle;
        result
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
