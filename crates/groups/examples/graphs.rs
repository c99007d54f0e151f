//! Times automorphisms and canonical labelling of generated graphs, or writes a graph for the field's other tools:
//! `graphs torus 316 317`, `graphs hypercube 16`, `graphs tree 16`, `graphs regular 1000 3`, `graphs star 100000`,
//! `graphs rings 10000 10`, `graphs paley 401`, `graphs random-tree 100000`; with `write` before it, in dreadnaut's
//! input format.

use std::fmt::Write;
use std::time::Instant;

use trefoil_control::Control;
use trefoil_groups::{ColouredGraph, Point, Random, automorphisms, canonical_labelling};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let write = words.first() == Some(&"write");
    if write {
        words.remove(0);
    }
    let number = |index: usize| words.get(index).and_then(|word| word.parse::<usize>().ok()).unwrap_or(10);
    if words.first() == Some(&"pictures") {
        return pictures(number(1));
    }
    let edges = match words.first().copied() {
        Some("torus") => torus(number(1), number(2)),
        Some("hypercube") => hypercube(number(1)),
        Some("tree") => (1..(2u32 << number(1)) - 1).map(|vertex| (vertex, (vertex - 1) / 2)).collect(),
        Some("random-tree") => {
            let mut random = Random::new(1);
            (1..number(1)).map(|vertex| (vertex as Point, random.below(vertex) as Point)).collect()
        }
        Some("regular") => regular(number(1), number(2)),
        Some("star") => (1..=number(1) as Point).map(|leaf| (0, leaf)).collect(),
        Some("rings") => rings(number(1), number(2)),
        Some("paley") => paley(number(1)),
        _ => {
            eprintln!("usage: graphs [write] (torus R C | hypercube D | tree H | random-tree N | regular N D)");
            eprintln!("       graphs [write] (star N | rings K N | paley P)");
            eprintln!("       graphs pictures N");
            return;
        }
    };
    let n = edges.iter().map(|&(a, b)| a.max(b) as usize + 1).max().unwrap_or(0);
    let mut graph = ColouredGraph::new(n);
    edges.iter().for_each(|&(a, b)| graph.add_edge(a, b, 0));
    // A random numbering, so that no tool profits from the order in which the graph was made.
    let graph = graph.relabelled(&Random::new(42).permutation(n));
    if write {
        println!("{}", dreadnaut(&graph));
    } else {
        measure(&graph);
    }
}

fn measure(graph: &ColouredGraph) {
    let control = Control::unlimited();
    let (automorphism_time, found) = best_of(|| automorphisms(graph, &control).expect("nothing stops it"));
    let (labelling_time, labelling) = best_of(|| canonical_labelling(graph, &control).expect("nothing stops it"));
    let digits = found.order.to_string();
    let shown = if digits.len() > 24 { format!("about 10^{}", digits.len() - 1) } else { digits };
    println!(
        "{} vertices, {} arcs: automorphisms {automorphism_time:.2} ms, canonical labelling {labelling_time:.2} ms; {} generators, order {shown}",
        graph.vertices(),
        graph.arcs().len(),
        found.generators.len(),
    );
    let copy = graph.relabelled(&Random::new(43).permutation(graph.vertices()));
    let other = canonical_labelling(&copy, &control).expect("nothing stops it");
    assert_eq!(graph.relabelled(&labelling.labels), copy.relabelled(&other.labels), "not canonical");
}

/// Many small graphs, as states of a model draw them: a few kinds of components that refer to each other.
fn pictures(components: usize) {
    let control = Control::unlimited();
    let mut random = Random::new(3);
    let graphs: Vec<ColouredGraph> = (0..2000)
        .map(|_| {
            let mut graph = ColouredGraph::new(components);
            for component in 0..components as Point {
                graph.set_colour(component, random.below(3) as u32);
                if random.below(3) > 0 {
                    graph.add_arc(component, random.below(components) as Point, random.below(2) as u32);
                }
            }
            graph
        })
        .collect();
    let mut times = Vec::new();
    for graph in &graphs {
        let (time, _) = (0..5)
            .map(|_| {
                let started = Instant::now();
                let labelling = canonical_labelling(graph, &control).expect("nothing stops it");
                (started.elapsed().as_secs_f64() * 1e6, labelling.automorphisms.generators.len())
            })
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .expect("five runs");
        times.push(time);
    }
    times.sort_by(f64::total_cmp);
    println!(
        "{components} components: median {:.2} us, 99 of 100 below {:.2} us",
        times[times.len() / 2],
        times[times.len() * 99 / 100]
    );
}

/// The least time of several runs, in milliseconds: other work on the machine only ever adds.
fn best_of<T>(mut run: impl FnMut() -> T) -> (f64, T) {
    let all = Instant::now();
    let mut best = f64::INFINITY;
    loop {
        let started = Instant::now();
        let result = run();
        best = best.min(started.elapsed().as_secs_f64() * 1e3);
        if all.elapsed().as_millis() > 300 {
            return (best, result);
        }
    }
}

fn dreadnaut(graph: &ColouredGraph) -> String {
    let mut text = format!("n={} $=0 g\n", graph.vertices());
    let mut arcs: Vec<(Point, Point)> =
        graph.arcs().iter().filter(|arc| arc.from < arc.to).map(|arc| (arc.from, arc.to)).collect();
    arcs.sort_unstable();
    for run in arcs.chunk_by(|a, b| a.0 == b.0) {
        let _ = write!(text, "{}:", run[0].0);
        run.iter().for_each(|arc| {
            let _ = write!(text, " {}", arc.1);
        });
        text.push_str(";\n");
    }
    text.push('.');
    text
}

fn torus(rows: usize, columns: usize) -> Vec<(Point, Point)> {
    let at = |row: usize, column: usize| (row % rows * columns + column % columns) as Point;
    let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let near = |(row, column)| [(at(row, column), at(row + 1, column)), (at(row, column), at(row, column + 1))];
    cells.flat_map(near).collect()
}

fn hypercube(dimension: usize) -> Vec<(Point, Point)> {
    (0..1u32 << dimension)
        .flat_map(|a| (0..dimension).map(move |bit| (a, a ^ 1 << bit)))
        .filter(|(a, b)| a < b)
        .collect()
}

fn regular(n: usize, degree: usize) -> Vec<(Point, Point)> {
    let mut random = Random::new(7);
    loop {
        let mut ends: Vec<Point> = (0..n * degree).map(|end| (end / degree) as Point).collect();
        random.shuffle(&mut ends);
        let mut pairs: Vec<(Point, Point)> =
            ends.chunks_exact(2).map(|pair| (pair[0].min(pair[1]), pair[0].max(pair[1]))).collect();
        pairs.sort_unstable();
        if pairs.iter().all(|(a, b)| a != b) && pairs.windows(2).all(|two| two[0] != two[1]) {
            return pairs;
        }
    }
}

fn rings(count: usize, size: usize) -> Vec<(Point, Point)> {
    let ring = |k: usize| (0..size).map(move |a| ((k * size + a) as Point, (k * size + (a + 1) % size) as Point));
    (0..count).flat_map(ring).collect()
}

fn paley(prime: usize) -> Vec<(Point, Point)> {
    let mut square = vec![false; prime];
    (1..prime).for_each(|x| square[x * x % prime] = true);
    let pairs = (0..prime).flat_map(|a| (0..a).map(move |b| (a, b)));
    pairs.filter(|(a, b)| square[a - b]).map(|(a, b)| (a as Point, b as Point)).collect()
}
