//! The checking wrapper catches wrong declarations, and the replayer rejects wrong witnesses.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_system::replay::{
    ObservedEvent, Rejection, expected_after, replay_deadlock, replay_determinism, replay_divergence, replay_has_trace,
    replay_path, replay_refinement, replay_run,
};
use trefoil_system::{
    Checked, Cut, Explorer, Failure, Group, GroupId, LabelId, Labels, Layout, Model, Path, Sink, Slot, SlotSet, Step,
    System, TakenStep, Value, Walk, Witness,
};

/// From a row to its steps: group, label, new row.
type Steps = fn(&[Value]) -> Vec<(u32, u32, Vec<Value>)>;

/// A system given by a function.
struct Table {
    labels: Arc<Labels>,
    layout: Layout,
    groups: Vec<Group>,
    steps: Steps,
}

const A: LabelId = LabelId(2);
const B: LabelId = LabelId(3);
const TAU: u32 = 0;

impl Table {
    fn new(widths: &[u32], groups: Vec<Group>, steps: Steps) -> Table {
        let labels = Arc::new(Labels::new());
        assert_eq!((labels.name("a"), labels.name("b")), (A, B));
        let slots = widths.iter().enumerate().map(|(index, &values)| Slot::bounded(format!("s{index}"), values));
        Table { labels, layout: Layout::new(slots.collect()), groups, steps }
    }

    /// One slot, one group that reads and writes it.
    fn simple(values: u32, steps: Steps) -> Table {
        Table::new(&[values], vec![group(&[0], &[0], &[])], steps)
    }
}

fn group(reads: &[usize], may_write: &[usize], must_write: &[usize]) -> Group {
    let set = |slots: &[usize]| slots.iter().copied().collect::<SlotSet>();
    Group {
        name: "g".into(),
        guards: set(reads),
        reads: SlotSet::default(),
        may_write: set(may_write),
        must_write: set(must_write),
        ..Group::default()
    }
}

impl System for Table {
    fn layout(&self) -> &Layout {
        &self.layout
    }
    fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }
    fn groups(&self) -> &[Group] {
        &self.groups
    }
    fn initial(&self, _: &Control) -> Result<Vec<Value>, Cut> {
        Ok(vec![0; self.layout.width()])
    }
    fn explorer<'a>(&'a self, _: &'a Control) -> Box<dyn Explorer + 'a> {
        Box::new(TableExplorer(self))
    }
}

struct TableExplorer<'a>(&'a Table);

impl Explorer for TableExplorer<'_> {
    fn successors(&mut self, row: &[Value], sink: &mut Sink<'_>) -> Walk {
        for (group, label, next) in (self.0.steps)(row) {
            sink(Step::of_group(GroupId(group), LabelId(label), &next))?;
        }
        Ok(())
    }
}

/// Expands a few rows through the checking wrapper.
fn is_honest(table: Table, rows: &[&[Value]]) -> bool {
    let checked = Checked::new(table);
    catch_unwind(AssertUnwindSafe(|| {
        let control = Control::unlimited();
        let mut explorer = checked.explorer(&control);
        for row in rows {
            explorer.successors(row, &mut |_| Ok(())).expect("nothing stops it");
        }
    }))
    .is_ok()
}

const ROWS: &[&[Value]] = &[&[0, 0], &[1, 0], &[0, 1], &[1, 1]];

#[test]
fn an_honest_system_passes() {
    let table = Table::new(&[2, 2], vec![group(&[0], &[0], &[]), group(&[1], &[], &[1])], |row| {
        vec![(0, 2, vec![1 - row[0], row[1]]), (1, 3, vec![row[0], 1])]
    });
    assert!(is_honest(table, ROWS));
}

#[test]
fn a_secret_write_is_caught() {
    let table = Table::new(&[2, 2], vec![group(&[0, 1], &[0], &[])], |row| vec![(0, 2, vec![1 - row[0], 1 - row[1]])]);
    assert!(!is_honest(table, ROWS));
}

#[test]
fn a_secret_read_in_a_guard_is_caught() {
    let table = Table::new(&[2, 2], vec![group(&[0], &[0], &[])], |row| {
        if row[1] == 0 { vec![(0, 2, vec![1, row[1]])] } else { Vec::new() }
    });
    assert!(!is_honest(table, ROWS));
}

#[test]
fn a_secret_read_in_a_label_is_caught() {
    let table = Table::new(&[2, 2], vec![group(&[0], &[0], &[])], |row| vec![(0, 2 + row[1], vec![1, row[1]])]);
    assert!(!is_honest(table, ROWS));
}

#[test]
fn a_must_write_that_keeps_the_old_value_is_caught() {
    let table = Table::new(&[2, 2], vec![group(&[0], &[0], &[1])], |row| vec![(0, 2, vec![1 - row[0], row[1]])]);
    assert!(!is_honest(table, ROWS));
}

#[test]
fn a_value_outside_its_slot_is_caught() {
    let table = Table::new(&[2, 2], vec![group(&[0], &[0], &[])], |row| vec![(0, 2, row.to_vec())]);
    assert!(!is_honest(table, &[&[2, 0]]));
}

fn free() -> Control {
    Control::unlimited()
}

fn path(steps: &[(LabelId, Value)]) -> Path {
    let steps = steps.iter().map(|&(label, state)| TakenStep { label, row: vec![state] });
    Path { start: vec![0], steps: steps.collect() }
}

/// 0 -a-> 1 -τ-> 2 -τ-> 1, 2 -b-> 3.
fn looping() -> Table {
    Table::simple(4, |row| match row[0] {
        0 => vec![(0, 2, vec![1])],
        1 => vec![(0, TAU, vec![2])],
        2 => vec![(0, TAU, vec![1]), (0, 3, vec![3])],
        _ => Vec::new(),
    })
}

/// 0 -a-> 1 -b-> 2.
fn straight() -> Table {
    Table::simple(3, |row| match row[0] {
        0 => vec![(0, 2, vec![1])],
        1 => vec![(0, 3, vec![2])],
        _ => Vec::new(),
    })
}

/// 0 -a-> 1.
fn short() -> Table {
    Table::simple(2, |row| if row[0] == 0 { vec![(0, 2, vec![1])] } else { Vec::new() })
}

#[test]
fn a_run_is_walked_step_by_step() {
    let system = looping();
    assert_eq!(replay_path(&system, &path(&[(A, 1), (LabelId::TAU, 2), (B, 3)]), &free()), Ok(()));
    assert_eq!(replay_path(&system, &path(&[(A, 1), (B, 3)]), &free()), Err(Rejection::NoSuchStep(1)));
    let elsewhere = Path { start: vec![1], steps: Vec::new() };
    assert_eq!(replay_path(&system, &elsewhere, &free()), Err(Rejection::WrongStart));
}

#[test]
fn an_event_must_be_one_that_the_specification_lacks() {
    let event = |steps: &[(LabelId, Value)]| Witness::Path { path: path(steps), failure: Failure::Event };
    let shown = event(&[(A, 1), (B, 2)]);
    assert_eq!(replay_refinement(&short(), &straight(), Model::Traces, &shown, &free()), Ok(()));
    assert_eq!(replay_refinement(&looping(), &straight(), Model::Traces, &shown, &free()), Err(Rejection::Allowed));
    let divergent = replay_refinement(&looping(), &straight(), Model::FailuresDivergences, &shown, &free());
    assert_eq!(divergent, Err(Rejection::Allowed), "after a divergence everything is allowed");
    let allowed = event(&[(A, 1)]);
    assert_eq!(replay_refinement(&short(), &straight(), Model::Traces, &allowed, &free()), Err(Rejection::Allowed));
}

#[test]
fn an_acceptance_must_be_real_and_forbidden() {
    let deadlock = Witness::Path { path: path(&[(A, 1)]), failure: Failure::Acceptance(Vec::new()) };
    assert_eq!(replay_refinement(&straight(), &short(), Model::Failures, &deadlock, &free()), Ok(()));
    assert_eq!(replay_refinement(&straight(), &short(), Model::Traces, &deadlock, &free()), Err(Rejection::NotInModel));
    assert_eq!(replay_refinement(&short(), &short(), Model::Failures, &deadlock, &free()), Err(Rejection::Allowed));
    assert_eq!(
        replay_refinement(&straight(), &straight(), Model::Failures, &deadlock, &free()),
        Err(Rejection::WrongEnd)
    );
}

#[test]
fn a_lasso_must_close_silently_and_be_forbidden() {
    let model = Model::FailuresDivergences;
    let around = |steps: &[(LabelId, Value)]| Witness::Lasso { path: path(&[(A, 1)]), cycle: path(steps).steps };
    let shown = around(&[(LabelId::TAU, 2), (LabelId::TAU, 1)]);
    assert_eq!(replay_refinement(&straight(), &looping(), model, &shown, &free()), Ok(()));
    assert_eq!(
        replay_refinement(&straight(), &looping(), Model::Failures, &shown, &free()),
        Err(Rejection::NotInModel)
    );
    assert_eq!(replay_refinement(&looping(), &looping(), model, &shown, &free()), Err(Rejection::Allowed));
    let open = around(&[(LabelId::TAU, 2)]);
    assert_eq!(replay_refinement(&straight(), &looping(), model, &open, &free()), Err(Rejection::NoCycle));
    assert_eq!(replay_refinement(&straight(), &looping(), model, &around(&[]), &free()), Err(Rejection::NoCycle));
}

#[test]
fn acceptances_after_a_trace_are_those_of_its_stable_states() {
    let after = |system: &dyn System| {
        let expected = expected_after(system, &ObservedEvent::trace(&[A]), None, &free()).expect("no budget");
        expected.minimal(None)
    };
    assert_eq!(after(&straight()), [[B]]);
    assert_eq!(after(&short()), [[]]);
    assert!(after(&looping()).is_empty(), "no state after a is stable");
}

/// 0 -a-> 1 -b-> 0, 0 -a-> 2 -a-> 0, 0 -τ-> 3 -b-> 0.
fn choosing() -> Table {
    Table::simple(4, |row| match row[0] {
        0 => vec![(0, 2, vec![1]), (0, 2, vec![2]), (0, TAU, vec![3])],
        2 => vec![(0, 2, vec![0])],
        _ => vec![(0, 3, vec![0])],
    })
}

#[test]
fn a_deadlock_must_be_a_state_that_can_do_nothing() {
    let dead = |steps: &[(LabelId, Value)]| Witness::Path { path: path(steps), failure: Failure::Deadlock };
    let shown = dead(&[(A, 1)]);
    for model in [Model::Failures, Model::FailuresDivergences] {
        assert_eq!(replay_deadlock(&short(), model, &shown, &free()), Ok(()));
        assert_eq!(replay_deadlock(&straight(), model, &shown, &free()), Err(Rejection::WrongEnd));
        // A state with τ is not stable.
        assert_eq!(replay_deadlock(&looping(), model, &shown, &free()), Err(Rejection::WrongEnd));
    }
    assert_eq!(replay_deadlock(&short(), Model::Traces, &shown, &free()), Err(Rejection::NotInModel));
    assert_eq!(replay_deadlock(&short(), Model::Failures, &dead(&[(B, 1)]), &free()), Err(Rejection::NoSuchStep(0)));
    assert_eq!(replay_divergence(&short(), &shown, &free()), Err(Rejection::NotInModel));
}

#[test]
fn a_divergence_must_be_a_silent_cycle() {
    let around = |steps: &[(LabelId, Value)]| Witness::Lasso { path: path(&[(A, 1)]), cycle: path(steps).steps };
    let shown = around(&[(LabelId::TAU, 2), (LabelId::TAU, 1)]);
    assert_eq!(replay_divergence(&looping(), &shown, &free()), Ok(()));
    assert_eq!(replay_divergence(&looping(), &around(&[(LabelId::TAU, 2)]), &free()), Err(Rejection::NoCycle));
    assert_eq!(replay_divergence(&looping(), &around(&[(LabelId::TAU, 3)]), &free()), Err(Rejection::NoSuchStep(1)));
    for (model, expected) in [
        (Model::FailuresDivergences, Ok(())),
        (Model::Failures, Err(Rejection::NotInModel)),
        (Model::Traces, Err(Rejection::NotInModel)),
    ] {
        assert_eq!(replay_deadlock(&looping(), model, &shown, &free()), expected);
        assert_eq!(replay_determinism(&looping(), model, &shown, &free()), expected);
        let asked = replay_has_trace(&looping(), &[A, B], model, &shown, &free());
        assert_eq!(asked, expected);
    }
    // The cycle comes after the whole trace.
    let after = replay_has_trace(&looping(), &[A], Model::FailuresDivergences, &shown, &free());
    assert_eq!(after, Err(Rejection::Allowed));
}

#[test]
fn two_runs_must_share_a_trace_and_differ_about_the_event() {
    let runs = |can: &[(LabelId, Value)], cannot: &[(LabelId, Value)], accepted: &[LabelId]| Witness::TwoRuns {
        can: path(can),
        cannot: path(cannot),
        accepted: accepted.to_vec(),
    };
    let replay = |witness: &Witness| replay_determinism(&choosing(), Model::Failures, witness, &free());
    assert_eq!(replay(&runs(&[(A, 1), (B, 0)], &[(A, 2)], &[A])), Ok(()));
    assert_eq!(replay(&runs(&[(A, 1)], &[(LabelId::TAU, 3)], &[B])), Ok(()));
    assert_eq!(replay(&runs(&[(A, 1), (B, 0)], &[], &[])), Err(Rejection::WrongEnd), "other traces");
    assert_eq!(replay(&runs(&[(A, 1), (B, 0)], &[(A, 1)], &[B])), Err(Rejection::WrongEnd), "it accepts the event");
    assert_eq!(replay(&runs(&[(A, 1), (B, 0)], &[(A, 2)], &[])), Err(Rejection::WrongEnd), "it accepts more");
    assert_eq!(replay(&runs(&[(A, 1)], &[], &[])), Err(Rejection::WrongEnd), "the initial state is not stable");
    assert_eq!(replay(&runs(&[], &[], &[])), Err(Rejection::WrongEnd), "no event");
    let late = runs(&[(A, 2), (A, 0), (LabelId::TAU, 3)], &[(A, 1)], &[B]);
    assert_eq!(replay(&late), Err(Rejection::WrongEnd), "the event is not the last step");
    let shown = runs(&[(A, 1), (B, 0)], &[(A, 2)], &[A]);
    assert_eq!(replay_determinism(&choosing(), Model::Traces, &shown, &free()), Err(Rejection::NotInModel));
}

#[test]
fn a_trace_must_be_missing_or_refused_where_the_witness_says() {
    let missing =
        |steps: &[(LabelId, Value)], event| Witness::Path { path: path(steps), failure: Failure::Missing(event) };
    let asked =
        |trace: &[LabelId], model, witness: &Witness| replay_has_trace(&choosing(), trace, model, witness, &free());
    assert_eq!(replay_has_trace(&short(), &[A, B], Model::Traces, &missing(&[(A, 1)], B), &free()), Ok(()));
    assert_eq!(asked(&[A, B], Model::Traces, &missing(&[(A, 2)], B)), Err(Rejection::Allowed), "another state has it");
    assert_eq!(asked(&[A, B], Model::Traces, &missing(&[(A, 2)], A)), Err(Rejection::WrongEnd), "it is not required");
    assert_eq!(
        asked(&[B], Model::Traces, &missing(&[(A, 2)], B)),
        Err(Rejection::Allowed),
        "another trace is required"
    );
    let refused = |steps: &[(LabelId, Value)], event, accepted: &[LabelId]| Witness::Path {
        path: path(steps),
        failure: Failure::Refusal { event, accepted: accepted.to_vec() },
    };
    let shown = refused(&[(A, 2)], B, &[A]);
    assert_eq!(asked(&[A, B], Model::Failures, &shown), Ok(()));
    assert_eq!(asked(&[A, B], Model::FailuresDivergences, &shown), Ok(()));
    assert_eq!(asked(&[A, B], Model::Traces, &shown), Err(Rejection::NotInModel));
    assert_eq!(asked(&[A, A], Model::Failures, &shown), Err(Rejection::WrongEnd), "it is not required");
    assert_eq!(asked(&[A], Model::Failures, &shown), Err(Rejection::Allowed), "nothing more is required");
    assert_eq!(asked(&[A, B], Model::Failures, &refused(&[(A, 1)], B, &[B])), Err(Rejection::WrongEnd));
    assert_eq!(asked(&[A, B], Model::Failures, &refused(&[(A, 2)], B, &[])), Err(Rejection::WrongEnd));
    assert_eq!(replay_run(&choosing(), &[A, B], &path(&[(A, 1), (B, 0)]), &free()), Ok(()));
    assert_eq!(replay_run(&choosing(), &[A, A], &path(&[(A, 1), (B, 0)]), &free()), Err(Rejection::WrongEnd));
}
