use std::sync::Arc;
use trefoil_control::Control;
use trefoil_explore::{Finding, Options, Order, Visited, Visitor, search};
use trefoil_promela::{Model, read};
use trefoil_source::{Sources, render};
struct V<'a>(&'a Model, u64, u64);
impl Visitor for V<'_> {
    fn visit(&mut self, state: &Visited<'_>) -> Finding {
        if self.0.needs_room() {
            return Finding::State;
        }
        if state.steps.is_empty() && !self.0.is_valid_end(state.row) {
            self.1 += 1;
        }
        self.2 += state.steps.iter().filter(|e| self.0.fault(e.label).is_some()).count() as u64;
        Finding::Nothing
    }
}
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let threads = std::env::args().nth(2).map_or(1, |t| t.parse().unwrap());
    let control = Control::unlimited();
    let mut sources = Sources::default();
    let file = sources.add(path.clone(), std::fs::read_to_string(&path).unwrap());
    let mut diagnostics = Vec::new();
    let mut reader = |name: &str| std::fs::read_to_string(name).map_err(|e| e.to_string());
    let program = read(file, &mut sources, &mut reader, &mut diagnostics, &control).unwrap();
    for d in &diagnostics {
        eprint!("{}", render(d, &sources, false));
    }
    let Some(program) = program else {
        println!("refused");
        return;
    };
    let mut model = Model::new(Arc::new(program), &control);
    loop {
        let started = std::time::Instant::now();
        let options = Options { threads, order: Order::Steps, cycles: false };
        let found = search(&model, &options, &control, || V(&model, 0, 0));
        if model.needs_room() {
            model = model.with_more_room();
            continue;
        }
        let ends: u64 = found.visitors.iter().map(|v| v.1).sum();
        let faults: u64 = found.visitors.iter().map(|v| v.2).sum();
        println!("{} {}", found.counts.states, found.counts.transitions + 1);
        eprintln!("ends {ends} faults {faults} time {:?} width {}", started.elapsed(), found.states.packing().bits());
        break;
    }
}
