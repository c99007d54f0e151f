//! The symbolic engine takes over from an explicit search that has used up the memory; alone in its process.

mod cells;

use std::time::Duration;

use cells::{Cells, asked_of};
use trefoil_control::{Control, Limits, Stopped, resident_memory};
use trefoil_questions::{Asked, EngineChoice, Unanswered};
use trefoil_system::Cut;

#[test]
fn memory_that_is_used_up_is_given_to_the_symbolic_engine() {
    let system = Cells::in_a_row(40, 4, None, false);
    let memory = resident_memory().map(|bytes| bytes + (30 << 20));
    let control = Control::new(Limits { time: Some(Duration::from_secs(120)), memory });
    let answer = asked_of(&system, &Asked::default(), u64::MAX, 2, &control).unwrap();
    assert_eq!(answer.engine, "symbolic", "{}", answer.why);
    assert!(answer.why.contains("memory budget of") && answer.why.contains("slots on average"), "{}", answer.why);
    assert_eq!(answer.counts.states, u64::MAX);
    assert_eq!(control.check(), Ok(()));
    // Where the user wants explicit states, the budget is the end.
    let memory = resident_memory().map(|bytes| bytes + (20 << 20));
    let control = Control::new(Limits { time: Some(Duration::from_secs(120)), memory });
    let explicit = Asked { engine: Some(EngineChoice::Explicit), ..Asked::default() };
    let stopped = asked_of(&system, &explicit, u64::MAX, 2, &control);
    assert!(matches!(stopped, Err(Unanswered::Cut { cut: Cut::Stopped, .. })), "{stopped:?}");
    assert!(matches!(control.why(), Stopped::Memory { .. }));
}
