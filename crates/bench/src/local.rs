//! Local successors and the cache that is made of them.
//!
//! `local-successors [PHILOSOPHERS] [MODEL.pml]`: for a network and for a Promela model (by default the philosophers of
//! the examples), what one row costs expanded whole, group by group from the values that each group reads, and through
//! `Cached`.

use std::sync::Arc;
use std::time::Instant;

use trefoil_control::Control;
use trefoil_explore::{Finding, Options, Order, Visited, Visitor, search};
use trefoil_promela::{Model, read};
use trefoil_source::Sources;
use trefoil_system::{Cached, Cut, Explorer, LocalGroup, System, Value};

use crate::exploring::{number, philosophers};

/// How many rows are expanded.
const ROWS: usize = 20_000;

/// Keeps the first rows.
#[derive(Default)]
struct Rows(Vec<Vec<Value>>);

impl Visitor for Rows {
    fn visit(&mut self, state: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        self.0.push(state.row.to_vec());
        Ok(if self.0.len() < ROWS { Finding::Nothing } else { Finding::State })
    }
}

/// Nanoseconds a row.
fn timed(rows: &[Vec<Value>], mut expand: impl FnMut(&[Value]) -> Result<(), Cut>) -> f64 {
    let mut least = f64::MAX;
    for _ in 0..3 {
        let begin = Instant::now();
        rows.iter().for_each(|row| expand(row).expect("no budget"));
        least = least.min(begin.elapsed().as_secs_f64());
    }
    least / rows.len() as f64 * 1e9
}

fn report(name: &str, system: &dyn System, cached: &dyn System) {
    let control = Control::unlimited();
    let options = Options { threads: 1, order: Order::Steps, ..Options::default() };
    let found = search(system, &options, &control, Rows::default);
    let rows = &found.visitors[0].0;
    let mut explorer = system.explorer(&control);
    let mut steps = 0usize;
    let whole = timed(rows, |row| {
        explorer.successors(row, &mut |_| {
            steps += 1;
            Ok(())
        })
    });
    let groups = LocalGroup::all(system, &control).expect("it has an initial row");
    let (mut reads, mut local) = (Vec::new(), 0usize);
    let by_group = timed(rows, |row| {
        groups.iter().try_for_each(|group| {
            group.inputs.values(row, &mut reads);
            explorer.local_successors(group, &reads, &mut |_| {
                local += 1;
                Ok(())
            })
        })
    });
    assert_eq!(steps, local, "local successors are the successors");
    let mut explorer = cached.explorer(&control);
    let remembered = timed(rows, |row| explorer.successors(row, &mut |_| Ok(())));
    println!(
        "local-successors: {name}: {} rows, {} groups, {:.1} steps a row; {whole:.0} ns a row whole, {by_group:.0} ns by local successors ({:.1} ns a group), {remembered:.0} ns cached",
        rows.len(),
        groups.len(),
        steps as f64 / rows.len() as f64 / 3.0,
        by_group / groups.len() as f64,
    );
}

fn model(file: &str) -> Model {
    let mut load = |name: &str| std::fs::read_to_string(name).map_err(|error| error.to_string());
    let text = load(file).expect("the model can be read");
    let mut sources = Sources::default();
    let id = sources.add(file.to_string(), text);
    let control = Control::unlimited();
    let program = read(id, &mut sources, &mut load, &mut Vec::new(), &control);
    let program = Arc::new(program.expect("no budget").expect("a model without mistakes"));
    Model::new(program)
}

pub(crate) fn run(arguments: &[String]) {
    let count = number(arguments, 0, 8);
    report(&format!("{count} philosophers as a network"), &philosophers(count), &Cached::new(philosophers(count)));
    let file = arguments.get(1).map_or("examples/promela/philosophers.pml", String::as_str);
    report(file, &model(file), &Cached::new(model(file)));
}
