//! Searches with fewer steps beside whole ones: what must be found is found, whatever the number of threads.

mod support;

use std::collections::BTreeSet;

use trefoil_control::Control;
use trefoil_explore::{End, Finding, Options, Order, Proviso, Reducing, Visited, Visitor, search_reducing};
use trefoil_promela::Model;
use trefoil_system::{Cut, Explorer};
use trefoil_testkit::promela::{random_messages, random_program};
use trefoil_testkit::{Random, seed};

use support::{compile, roomy, unreached};

/// What a search finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    /// All states without steps.
    ends: BTreeSet<Vec<u32>>,
    /// The run-time errors that steps show, in words.
    errors: BTreeSet<String>,
    rows: BTreeSet<Vec<u32>>,
}

struct Watch<'m> {
    model: &'m Model,
    seen: Seen,
}

impl Visitor for Watch<'_> {
    fn visit(&mut self, state: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        self.seen.rows.insert(state.row.to_vec());
        if state.steps.is_empty() {
            self.seen.ends.insert(state.row.to_vec());
        }
        for fault in state.steps.iter().filter_map(|edge| self.model.fault(edge.label)) {
            self.seen.errors.insert(format!("{fault:?}"));
        }
        Ok(Finding::Nothing)
    }
}

/// Searches a model; with fewer steps where a proviso is given. Also the lines that no process came to.
fn search(model: &Model, proviso: Option<Proviso>, threads: usize) -> (Seen, Vec<usize>) {
    let control = Control::unlimited();
    let options = Options { threads, order: Order::Steps, ..Options::default() };
    let reducing = proviso.map(|proviso| Reducing { visible: &[], proviso });
    let watch = || Watch { model, seen: Seen::default() };
    let found = search_reducing(model, &options, reducing, &control, watch);
    assert_eq!(found.end, End::Complete);
    let mut all = Seen::default();
    for Watch { seen, .. } in found.visitors {
        all.ends.extend(seen.ends);
        all.errors.extend(seen.errors);
        all.rows.extend(seen.rows);
    }
    (all, unreached(model))
}

/// How many programs are tried; more with `TREFOIL_PROMELA_CASES`.
fn cases(few: u64) -> u64 {
    std::env::var("TREFOIL_PROMELA_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

#[test]
fn fewer_steps_find_the_same() {
    let seed = seed();
    let (mut all, mut kept, mut smaller) = (0, 0, 0);
    for case in 0..cases(120) {
        let random = &mut Random::new(seed.wrapping_add(case));
        let text = if case % 3 == 0 { random_program(random) } else { random_messages(random) };
        let (program, diagnostics, _) = compile("random.pml", &text);
        let program = program.unwrap_or_else(|| panic!("{diagnostics:?}\n{text}"));
        let widest = roomy(program);
        // Whether statements were reached is kept with a model.
        let whole = widest.letting_processes_go();
        let (full, untouched) = search(&whole, None, 1);
        if full.rows.len() > 20_000 {
            continue;
        }
        for proviso in [Proviso::One, Proviso::All] {
            let model = widest.letting_processes_go();
            let (fewer, unreached) = search(&model, Some(proviso), 1);
            let place = format!("TREFOIL_SEED={seed}, case {case}, {proviso:?}\n{text}");
            assert!(fewer.rows.is_subset(&full.rows), "{place}");
            assert_eq!(fewer.ends, full.ends, "{place}");
            assert_eq!(fewer.errors, full.errors, "{place}");
            assert_eq!(unreached, untouched, "{place}");
            let (again, _) = search(&model, Some(proviso), 3);
            assert_eq!(again, fewer, "{place}");
            if proviso == Proviso::One {
                (all, kept) = (all + full.rows.len(), kept + fewer.rows.len());
                smaller += usize::from(fewer.rows.len() < full.rows.len());
            }
        }
    }
    // Otherwise nothing was tested.
    assert!(smaller > 20 && kept * 10 < all * 9, "{kept} of {all} states, {smaller} models smaller");
    eprintln!("{kept} of {all} states, {smaller} models smaller");
}

/// Processes that end disappear in one order, the youngest first, whatever the older ones do meanwhile.
#[test]
fn processes_that_end_do_not_wait_for_older_ones() {
    let text = "active [4] proctype P() { byte x; x = 1; x = 2 }\n";
    let (program, diagnostics, _) = compile("ends.pml", text);
    let model = roomy(program.unwrap_or_else(|| panic!("{diagnostics:?}")));
    let (all, _) = search(&model, None, 1);
    for proviso in [Proviso::One, Proviso::All] {
        let (fewer, _) = search(&model, Some(proviso), 1);
        // Three steps of each process, one after the other.
        assert_eq!((fewer.rows.len(), &fewer.ends), (13, &all.ends));
    }
    assert!(all.rows.len() > 100, "{}", all.rows.len());
}
