//! Benchmarks by name: `cargo run --release -p trefoil-bench -- NAME [ARGUMENTS]`.
//!
//! Each prints what it measured with the sizes beside it. `benchsuite/README.md` has the commands and dated results.

mod chains;
mod cspm;
mod diagrams;
mod exploring;
mod games;
mod labelling;
mod list_stack;
mod list_stack_symmetry;
mod local;
mod minimise;
mod partial_order;
mod pictures;
mod read;
mod refinement;
mod rewriting;
mod terms;
mod unfolding;

use std::process::ExitCode;

/// A benchmark: its name, one line about it, and what runs it with the remaining arguments.
struct Benchmark {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]),
}

const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "cspm-eval",
        about: "CSPM evaluation: 10^7 calls, mtransclose of 500 and 20 000 pairs, images, a comprehension of 10^6 elements",
        run: cspm::evaluation,
    },
    Benchmark {
        name: "cspm-front",
        about: "CSPM text to checked types, of a generated script: [LINES]",
        run: cspm::front_end,
    },
    Benchmark {
        name: "read-aut",
        about: "reads and writes Aldebaran files: [TRANSITIONS] [STATES] [LABELS]",
        run: read::read_aut,
    },
    Benchmark {
        name: "minimise",
        about: "minimisation: transitions a second, rounds, bytes a transition",
        run: minimise::run,
    },
    Benchmark { name: "store", about: "inserting rows: [STATES] [BYTES]", run: exploring::store },
    Benchmark { name: "compose", about: "exploring a network: [PHILOSOPHERS]", run: exploring::compose },
    Benchmark {
        name: "local-successors",
        about: "rows expanded whole, by local successors and cached: [PHILOSOPHERS] [MODEL.pml]",
        run: local::run,
    },
    Benchmark {
        name: "partial-order",
        about: "exploring networks with partial-order reduction and without: [PHILOSOPHERS] [WORKERS]",
        run: partial_order::run,
    },
    Benchmark {
        name: "list-stack",
        about: "exploring a stack as a linked list: [NODES] [THREADS] [DATA] [WORKERS]",
        run: list_stack::run,
    },
    Benchmark {
        name: "list-stack-refine",
        about: "the same, checked: refinement, deadlock, divergence, determinism",
        run: list_stack::checks,
    },
    Benchmark {
        name: "list-stack-symmetry",
        about: "the same refinement by symmetry: [NODES] [THREADS] [DATA] [WORKERS] [STRATEGY] [MODEL]",
        run: list_stack_symmetry::run,
    },
    Benchmark {
        name: "example-2-3-4",
        about: "refinement of a ladder against itself: linear in n and in k",
        run: refinement::example_2_3_4,
    },
    Benchmark {
        name: "refine",
        about: "refinement of larger systems; [PATH of ltscompare]",
        run: refinement::refinements,
    },
    Benchmark {
        name: "preprocess",
        about: "what minimising the specification, the implementation or both first does to refinement",
        run: refinement::preprocessing,
    },
    Benchmark { name: "chains", about: "stabiliser chains and structures of groups: [PATH of gap]", run: chains::run },
    Benchmark {
        name: "labelling",
        about: "canonical labelling and automorphisms of graphs: [PATH of dreadnaut]",
        run: labelling::run,
    },
    Benchmark {
        name: "terms",
        about: "terms beside merc_aterm, the lock, collections: [a|b|c|d|e|f|lock|collection ...]",
        run: terms::run,
    },
    Benchmark {
        name: "terms-stress",
        about: "threads make, drop and collect terms, and look for what they hold: [CREATIONS] [THREADS]",
        run: terms::stress,
    },
    Benchmark {
        name: "rewriting",
        about: "problems of the Rewrite Engine Competition beside merc_sabre: [PROBLEM ...] [alone]",
        run: rewriting::run,
    },
    Benchmark {
        name: "diagrams",
        about: "saturation of models in Sylvan's format: FOLDER [SECONDS] [PATH of lddmc]",
        run: diagrams::run,
    },
    Benchmark {
        name: "unfolding",
        about: "state spaces with parameters taken apart and without: FOLDER [SECONDS] [TEXT]",
        run: unfolding::run,
    },
    Benchmark { name: "games", about: "solving parity games: [VERTICES] [PATH of oink]", run: games::run },
    Benchmark { name: "pictures", about: "representatives of generated pictures, by strategy", run: pictures::run },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let chosen = arguments.first().and_then(|name| BENCHMARKS.iter().find(|benchmark| benchmark.name == *name));
    match chosen {
        Some(benchmark) => {
            (benchmark.run)(&arguments[1..]);
            ExitCode::SUCCESS
        }
        None => {
            eprintln!("usage: trefoil-bench NAME [ARGUMENTS]\n");
            for benchmark in BENCHMARKS {
                eprintln!("  {:<24} {}", benchmark.name, benchmark.about);
            }
            ExitCode::from(2)
        }
    }
}
