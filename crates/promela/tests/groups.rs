//! The declarations of groups: which of them read much, and why; and the marks of a model.

mod support;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use support::{compile, roomy, small};
use trefoil_control::Control;
use trefoil_promela::machine::Reason;
use trefoil_promela::{FaultKind, Model};
use trefoil_system::{Cut, GroupId, LocalGroup, MarkId, System, Value};

/// The examples: their paths and texts, in the order of their names.
fn examples() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/promela");
    let mut all: Vec<(String, String)> = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("one").path();
        if path.extension().is_some_and(|extension| extension == "pml") {
            all.push((path.display().to_string(), std::fs::read_to_string(&path).expect("an example")));
        }
    }
    all.sort();
    all
}

/// The models of these tests: the examples, and those of the page of semantics.
fn models() -> Vec<(String, String)> {
    let mut all = examples();
    for (number, part) in include_str!("semantics.md").split("```promela\n").skip(1).enumerate() {
        all.push((format!("model {number} of the page"), part.split("```").next().unwrap_or_default().to_string()));
    }
    all
}

fn model_of(name: &str, text: &str) -> std::sync::Arc<Model> {
    let (program, diagnostics, _) = compile(name, text);
    roomy(program.unwrap_or_else(|| panic!("{name}: {diagnostics:?}")))
}

/// A group may read every slot of a model for these reasons only, because a step then depends on every process:
/// `timeout` on whether any of them can move, priorities on which of them can, `provided` and `trace` on expressions
/// over the whole state.
///
/// No other reason is accepted. Most of the others are bounded by what a statement names, and not by the size of the
/// model: a run of an atomic sequence or a `d_step` reads for its statements, an unknown index the array, an unknown
/// channel those that the variable may hold, `run` the slots of the started type. `enabled` is not: it reads all slots
/// that any move reads, because the analysis does not distinguish the processes that its argument may mean. In the
/// models here these are fewer than all slots.
const EVERYTHING: &[Reason] = &[Reason::Timeout, Reason::Priority, Reason::Provided, Reason::Trace];

/// Whether a group reads more than a quarter of the slots.
fn reads_much(model: &Model, group: usize) -> bool {
    model.groups()[group].inputs().len() * 4 > model.layout().width()
}

/// The number of processes, the control state and type of the own process, and a few variables: a small model has no
/// more slots than a statement names.
const FEW: usize = 8;

/// A group that reads more than a quarter of the slots has a reason; without one it reads no more than its statement
/// names.
#[test]
fn groups_that_read_much_have_a_reason() {
    let mut listed: BTreeMap<Vec<Reason>, usize> = BTreeMap::new();
    let mut groups = 0;
    for (name, text) in models() {
        let model = model_of(&name, &text);
        let width = model.layout().width();
        groups += model.groups().len();
        for (number, group) in model.groups().iter().enumerate() {
            let reads = group.inputs().len();
            let reasons = model.reasons(GroupId(number as u32));
            if reads_much(&model, number) && reads > FEW {
                *listed.entry(reasons.to_vec()).or_default() += 1;
                assert!(!reasons.is_empty(), "{name}: {} reads {reads} of {width} slots without a reason", group.name);
            }
            if reads == width {
                let known = reasons.iter().any(|reason| EVERYTHING.contains(reason));
                assert!(known, "{name}: {} reads everything: {reasons:?}", group.name);
            }
        }
    }
    let much: usize = listed.values().sum();
    assert!(much * 2 < groups, "{much} of {groups} groups read much: {listed:?}");
}

/// The name of a group without the positions of its processes, as code in a table: `P(1) line 7: x` is `P line 7: x`.
fn without_positions(name: &str) -> String {
    let mut parts: Vec<&str> = name.split(") line ").collect();
    let last = parts.len() - 1;
    for part in &mut parts[..last] {
        *part = part.rsplit_once('(').map_or(*part, |(before, _)| before);
    }
    format!("`{}`", parts.join(" line ").replace('|', "\\|"))
}

/// Groups of an example that read equally many slots for the same reasons.
#[derive(Default)]
struct Row {
    groups: usize,
    statements: Vec<String>,
}

/// The page as it must be: each example with its groups that read more than a quarter of the slots.
fn page() -> String {
    let mut page = String::from(
        "# Groups that read much\n\n\
         For every example, the transition groups that read more than a quarter of the slots, and why they read\n\
         more than their statement names (`Reason`). Groups of the same statement in several processes stand in\n\
         one row. A group without a reason reads what its statement names: the model is small.\n\
         `TREFOIL_UPDATE=1 cargo test -p trefoil-promela --test groups` writes this page anew.\n",
    );
    for (path, text) in examples() {
        let model = model_of(&path, &text);
        let (width, count) = (model.layout().width(), model.groups().len());
        let mut rows: BTreeMap<(usize, &[Reason]), Row> = BTreeMap::new();
        for number in (0..count).filter(|&number| reads_much(&model, number)) {
            let group = &model.groups()[number];
            let key = (group.inputs().len(), model.reasons(GroupId(number as u32)));
            let (row, name) = (rows.entry(key).or_default(), without_positions(&group.name));
            row.groups += 1;
            if !row.statements.contains(&name) {
                row.statements.push(name);
            }
        }
        let much: usize = rows.values().map(|row| row.groups).sum();
        let name = path.rsplit('/').next().unwrap_or_default();
        let _ =
            write!(page, "\n## {name}\n\n{width} slots; {much} of {count} groups read more than a quarter of them.\n");
        if rows.is_empty() {
            continue;
        }
        let _ = write!(page, "\n| reads | reasons | groups | statements |\n|---|---|---|---|\n");
        for ((reads, reasons), row) in rows.iter().rev() {
            let reasons: Vec<String> = reasons.iter().map(|reason| format!("{reason:?}")).collect();
            let reasons = if reasons.is_empty() { "none".to_string() } else { reasons.join(", ") };
            let _ = writeln!(page, "| {reads} | {reasons} | {} | {} |", row.groups, row.statements.join("; "));
        }
    }
    page
}

/// `groups.md` lists the groups of each example that read more than a quarter of the slots, with their reasons.
#[test]
fn the_page_lists_the_groups_that_read_much() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/groups.md");
    let page = page();
    if std::env::var_os("TREFOIL_UPDATE").is_some() {
        std::fs::write(&file, &page).expect("the page is written");
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    let differing = page.lines().zip(written.lines()).find(|(must, is)| must != is);
    assert!(written == page, "groups.md differs; its head says how to write it: {differing:?}");
}

/// A rendezvous reads its two processes and nothing of the others.
#[test]
fn a_handshake_reads_two_processes() {
    let text = "chan c = [0] of { byte }; byte g[4];
        active [2] proctype S() { byte s; do :: s < 3 -> c!s; s++ od }
        active [2] proctype R() { byte r; do :: c?r :: r > 1 -> r = 0 od }";
    let model = model_of("pair.pml", text);
    let pairs: Vec<_> = (0..model.groups().len())
        .filter(|&group| model.reasons(GroupId(group as u32)).contains(&Reason::Handshake))
        .map(|group| &model.groups()[group])
        .collect();
    assert_eq!(pairs.len(), 4, "two senders and two receivers");
    for pair in pairs {
        let names: Vec<&str> = pair.guards.iter().map(|slot| &*model.layout().slots()[slot].name).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        let owners = |kind: &str| names.iter().filter(|name| name.starts_with(kind)).count();
        assert_eq!((owners("S("), owners("R(")), (2, 1), "{names:?}");
        assert_eq!(pair.may_write.len(), 3, "two control states and what is received");
    }
}

/// An index that comes from a variable splits the group of its statement by its values, and nothing depends on
/// variables that keep their initial values.
#[test]
fn an_index_splits_the_group_of_its_statement() {
    let text = "byte a[4]; byte t = 3;
        active [2] proctype P() {
            byte i, own = _pid;
            do :: i < 4 -> a[i] = own; i++ :: a[i] == t -> i = 0 :: else -> i = (own -> 1 : 2) od
        }";
    let model = model_of("split.pml", text);
    let slots = model.layout().slots();
    let mut split = 0;
    for group in model.groups() {
        let reads: Vec<&str> = group.guards.iter().map(|slot| &*slots[slot].name).collect();
        let read: Vec<&&str> = reads.iter().filter(|name| name.starts_with("a[")).collect();
        assert!(!reads.iter().any(|name| *name == "t" || name.ends_with("own")), "{}: {reads:?}", group.name);
        let value = group.name.split_once(" with ").map(|(_, rest)| rest.rsplit(' ').next().unwrap_or_default());
        if let Some(value) = value {
            split += 1;
            let own = format!("a[{value}]");
            assert!(read.iter().all(|name| ***name == own), "{}: {reads:?}", group.name);
            let written: Vec<&str> = group.may_write.iter().map(|slot| &*slots[slot].name).collect();
            assert!(written.iter().all(|name| !name.starts_with("a[") || *name == own), "{}: {written:?}", group.name);
        } else {
            assert!(read.is_empty(), "{}: {reads:?}", group.name);
        }
    }
    assert_eq!(split, 2 * 3 * 4, "an assignment, a condition and `else` of two processes");
}

/// The mark of valid ends is what the model says, from its own slots.
#[test]
fn valid_ends_are_marked() {
    let control = Control::unlimited();
    for (name, text) in models() {
        let (program, ..) = compile(&name, &text);
        let Some(model) = small(program.expect("it compiles"), 500) else { continue };
        let mut explorer = model.explorer(&control);
        let mark = &model.marks()[0];
        let mut work: Vec<Vec<Value>> = vec![model.initial(&control).expect("no budget")];
        let (mut seen, mut reads) = (std::collections::HashSet::new(), Vec::new());
        while let Some(row) = work.pop() {
            if !seen.insert(row.clone()) {
                continue;
            }
            mark.reads.values(&row, &mut reads);
            assert_eq!(explorer.mark(MarkId(0), &reads), Ok(u32::from(model.is_valid_end(&row))), "{name}");
            let walk = explorer.successors(&row, &mut |step| {
                work.push(step.row.to_vec());
                Ok(())
            });
            assert_eq!(walk, Ok(()), "{name}");
        }
    }
}

/// A long `d_step` and a long atomic sequence end with the control, and nothing of them is left.
#[test]
fn long_steps_are_stopped_and_leave_nothing_behind() {
    let d_step = "int i, x; active proctype P() { x = 1; d_step { do :: i < 500000 -> i++ :: else -> break od } }";
    let atomic = "int i, x; active proctype P() { atomic { do :: i < 100000 -> i++; x = i :: else -> break od } }";
    let asked = "int i; byte x; active proctype P() priority 2 { d_step { x == 1; do :: i < 500000 -> i++ :: else -> break od } }
        active proctype Q() priority 1 { x = 1; x = 2 }";
    for text in [d_step, atomic, asked] {
        let model = model_of("long.pml", text);
        let free = Control::unlimited();
        let mut row = model.initial(&free).expect("no budget");
        if text == d_step {
            let mut next = row.clone();
            let walk = model.explorer(&free).successors(&row, &mut |step| {
                next = step.row.to_vec();
                Ok(())
            });
            assert_eq!(walk, Ok(()));
            row = next;
        }
        let steps = |control: &Control| {
            let mut steps = Vec::new();
            let walk = model.explorer(control).successors(&row, &mut |step| {
                steps.push((step.label, step.row.to_vec()));
                Ok(())
            });
            (walk, steps)
        };
        let whole = steps(&free);
        let counting = Control::stopping_at(0, trefoil_control::Stopped::Interrupted);
        assert_eq!(steps(&counting), whole);
        for poll in 1..=counting.polls().min(20) {
            let stopping = Control::stopping_at(poll, trefoil_control::Stopped::Interrupted);
            let (walk, handed) = steps(&stopping);
            assert_eq!(walk, Err(Cut::Stopped), "{text}");
            assert!(handed.len() <= whole.1.len());
            assert_eq!(steps(&free), whole, "{text}");
        }
        assert!(text == asked || counting.polls() > 0, "{text}");
    }
}

/// Where a step leads, and the fault of it if it has one.
type Faulty = (Option<FaultKind>, Vec<Value>);

/// The steps of the initial state: their faults, and the rows that they lead to.
fn first_steps(text: &str) -> (Vec<Value>, Vec<Faulty>) {
    let model = model_of("first.pml", text);
    let control = Control::unlimited();
    let row = model.initial(&control).expect("no budget");
    let mut steps = Vec::new();
    let walk = model.explorer(&control).successors(&row, &mut |step| {
        steps.push((model.fault(step.label).map(|fault| fault.kind), step.row.to_vec()));
        Ok(())
    });
    assert_eq!(walk, Ok(()), "{text}");
    (row, steps)
}

/// The length of a `d_step` says nothing about its end: only a state that repeats does.
#[test]
fn a_d_step_is_endless_when_it_repeats_and_not_when_it_is_long() {
    let long =
        "int i; int j; active proctype p() { d_step { do :: i < 3500000 -> i++; j = i % 7 :: else -> break od } }";
    let (_, steps) = first_steps(long);
    let [(None, row)] = &steps[..] else { panic!("{steps:?}") };
    assert!(row.contains(&3_500_000), "{row:?}");
    for body in [
        "do :: true od",
        "do :: b++ od",
        "do :: s++; b = s od",
        "do :: s < 30000 -> s++ :: else -> if :: b < 100 -> b++ :: else -> b = 90 fi od",
        "assert(false); do :: b++ od",
    ] {
        let text = format!("byte b; short s; active proctype p() {{ d_step {{ skip; {body} }} }}");
        let (row, steps) = first_steps(&text);
        assert_eq!(steps, [(Some(FaultKind::Endless), row)], "{body}");
    }
}

/// Behind a statement that blocks or is wrong there is nothing, even if an assertion before it is violated.
#[test]
fn a_violated_assertion_does_not_hide_what_ends_a_d_step() {
    let faults =
        [("b == 2", FaultKind::Blocked), ("b = a[b + 2]", FaultKind::Index), ("b = 1 / a[0]", FaultKind::Division)];
    for (last, fault) in faults {
        let text = format!("byte b; byte a[2]; active proctype p() {{ d_step {{ b = 1; assert(false); {last} }} }}");
        let (row, steps) = first_steps(&text);
        assert_eq!(steps, [(Some(fault), row)], "{last}");
    }
}

/// Local steps of all groups are the steps of a state, in every state of a model whose walks are mixed with them and
/// cut.
#[test]
fn local_steps_survive_cuts() {
    let text = "chan c = [0] of { byte }; chan d = [1] of { byte }; byte g;
        active [2] proctype S() { byte s; do :: atomic { c!s; d!s } :: s < 2 -> s++ od }
        active [2] proctype R() { byte r; do :: atomic { c?r -> g = r; d?r } :: else -> d?r od }";
    let control = Control::unlimited();
    let model = model_of("cut.pml", text);
    let groups = LocalGroup::all(&*model, &control).expect("no budget");
    let (mut used, mut reads) = (model.explorer(&control), Vec::new());
    let mut work = vec![model.initial(&control).expect("no budget")];
    let mut seen = std::collections::HashSet::new();
    while let Some(row) = work.pop() {
        if !seen.insert(row.clone()) || seen.len() > 300 {
            continue;
        }
        for group in &groups {
            group.inputs.values(&row, &mut reads);
            let mut fresh = Vec::new();
            let mut whole = model.explorer(&control);
            let walk = whole.local_successors(group, &reads, &mut |step| {
                fresh.push((step.label, step.values.to_vec(), step.written.to_vec()));
                Ok(())
            });
            assert_eq!(walk, Ok(()));
            let cut = used.local_successors(group, &reads, &mut |_| Err(Cut::Enough));
            assert_eq!(cut.is_err(), !fresh.is_empty());
            let mut again = Vec::new();
            let walk = used.local_successors(group, &reads, &mut |step| {
                again.push((step.label, step.values.to_vec(), step.written.to_vec()));
                Ok(())
            });
            assert_eq!((walk, &again), (Ok(()), &fresh), "{}", model.groups()[group.id.index()].name);
        }
        let walk = used.successors(&row, &mut |step| {
            work.push(step.row.to_vec());
            Ok(())
        });
        assert_eq!(walk, Ok(()));
    }
}
