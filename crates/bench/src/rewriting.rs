//! Rewriting, beside the innermost rewriter of `merc_sabre` in the same run: problems of the Rewrite Engine Competition
//! (REC), whose rules are in `benchsuite/rewriting`.
//!
//! A row is repeated until it ran for a second, each time in a new pool. Its time is that from the call of the rewriter
//! to the normal form: of the processor in the thread that rewrites, the mean of all repetitions, and in brackets the
//! least wall time. A step is the application of a user's rule; equality of values and the
//! connectives of conditions are none. Both normal forms are compared with what Rust computes. On two threads each
//! thread has a rewriter of its own over one pool and does all the work, so twice the work in the same time is 2.

use std::sync::Barrier;
use std::time::Instant;

use merc_aterm::ATerm;
use merc_data::to_untyped_data_expression;
use merc_sabre::{Condition, InnermostRewriter, RewriteEngine, RewriteSpecification, Rule};
use trefoil_data::rewrite::{FunctionIndex, Program, Rewriter};
use trefoil_data::signature::{Operator, Origin};
use trefoil_data::syntax::Parser;
use trefoil_data::typed::{DataSpecification, Typed, TypedId, VariableId};
use trefoil_data::types::Checker;
use trefoil_mcrl2::syntax;
use trefoil_source::FileId;
use trefoil_terms::{Pool, Section, Term};

/// Time of a rewrite: of the processor in the thread that rewrites, and of the clock on the wall.
#[derive(Clone, Copy)]
struct Taken {
    processor: f64,
    wall: f64,
}

impl std::fmt::Display for Taken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&format!("{:.4} ({:.4})", self.processor, self.wall))
    }
}

impl Taken {
    const NOTHING: Taken = Taken { processor: 0.0, wall: 0.0 };

    /// Measures some work.
    fn by<R>(work: impl FnOnce() -> R) -> (Taken, R) {
        let (started, before) = (Instant::now(), Taken::of_this_thread());
        let result = work();
        let wall = started.elapsed().as_secs_f64();
        let processor = Taken::of_this_thread().zip(before).map_or(wall, |(after, before)| after - before);
        (Taken { processor, wall }, result)
    }

    /// Seconds that the processor spent on the calling thread.
    fn of_this_thread() -> Option<f64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(text.split(' ').next()?.parse::<u64>().ok()? as f64 / 1e9)
    }

    fn add(&mut self, other: Taken) {
        self.processor += other.processor;
        self.wall += other.wall;
    }
}

/// Ours should be so many times as fast on every problem, and on the geometric mean.
const AT_LEAST: f64 = 4.0;
const MEAN_AT_LEAST: f64 = 8.0;

/// A problem: its rules, what is rewritten, and the normal forms.
struct Problem {
    name: &'static str,
    rules: &'static str,
    terms: fn() -> Vec<String>,
    normal_forms: fn() -> Vec<String>,
}

const PROBLEMS: &[Problem] = &[
    Problem {
        name: "fib32",
        rules: include_str!("../../../benchsuite/rewriting/fib32.mcrl2"),
        terms: || vec![format!("fib({})", binary(32))],
        // The rules carry wrongly where the bits differ, so this is not the Fibonacci number 2 178 309.
        normal_forms: || vec![binary(3_175_897)],
    },
    Problem {
        name: "evalexpr",
        rules: include_str!("../../../benchsuite/rewriting/evalexpr.mcrl2"),
        terms: || vec!["problem(exponent)".into()],
        normal_forms: || vec!["no".into()],
    },
    Problem {
        name: "benchexpr20",
        rules: include_str!("../../../benchsuite/rewriting/benchexpr20.mcrl2"),
        terms: || vec!["problem(twenty)".into()],
        normal_forms: || vec!["yes".into()],
    },
    Problem {
        name: "benchsym20",
        rules: include_str!("../../../benchsuite/rewriting/benchsym20.mcrl2"),
        terms: || vec!["problem(twenty)".into()],
        normal_forms: || vec!["yes".into()],
    },
    Problem {
        name: "sieve1000",
        rules: include_str!("../../../benchsuite/rewriting/sieve1000.mcrl2"),
        terms: || vec!["sieve(between(S(S(Z)),times(ten,times(ten,ten))))".into()],
        normal_forms: || {
            let primes = (2..1000).filter(|number| (2..*number).all(|divisor| number % divisor > 0)).map(peano);
            vec![chain("some", "none", primes)]
        },
    },
    Problem {
        name: "permutations7",
        rules: include_str!("../../../benchsuite/rewriting/permutations7.mcrl2"),
        terms: || vec![format!("permutations({})", peano(7))],
        normal_forms: || {
            let permutations = (2..=7).fold(vec![vec![1]], |shorter, number| {
                let inserted = |row: &Vec<usize>| {
                    let row = row.clone();
                    (0..=row.len()).map(move |place| [&row[..place], &[number], &row[place..]].concat())
                };
                shorter.iter().flat_map(inserted).collect()
            });
            let row = |row: &Vec<usize>| {
                format!("row({})", chain("join", "nil", row.iter().map(|&number| format!("entry({})", peano(number)))))
            };
            vec![chain("rows", "none", permutations.iter().map(row))]
        },
    },
    Problem {
        name: "hanoi16",
        rules: include_str!("../../../benchsuite/rewriting/hanoi16.mcrl2"),
        terms: || vec!["solve(left,middle,d16)".into()],
        normal_forms: || {
            fn solve(from: usize, to: usize, disk: usize, moves: &mut Vec<String>) {
                const TOWERS: [&str; 3] = ["left", "middle", "right"];
                if disk > 0 {
                    solve(from, 3 - from - to, disk - 1, moves);
                    moves.push(format!("move(d{disk},{},{})", TOWERS[from], TOWERS[to]));
                    solve(3 - from - to, to, disk - 1, moves);
                }
            }
            let mut moves = Vec::new();
            solve(0, 1, 16, &mut moves);
            vec![chain("first", "nil", moves.into_iter())]
        },
    },
    Problem {
        name: "tak18",
        rules: include_str!("../../../benchsuite/rewriting/tak18.mcrl2"),
        terms: || {
            let [first, second, third] = [18, 12, 6].map(peano);
            vec![format!("tak(positive({first}),positive({second}),positive({third}))")]
        },
        normal_forms: || vec![format!("positive({})", peano(7))],
    },
    Problem {
        name: "closure",
        rules: include_str!("../../../benchsuite/rewriting/closure.mcrl2"),
        terms: || GRAPHS.iter().map(|(size, rows)| format!("closure({})", matrix(*size, rows))).collect(),
        normal_forms: || {
            let closed = |&(size, rows): &(usize, &[u32])| {
                let mut rows = rows.to_vec();
                loop {
                    let through = |row: &u32| {
                        let targets = (0..size).filter(|target| row >> (size - 1 - target) & 1 == 1);
                        targets.fold(0, |all, target| all | rows[target])
                    };
                    let next: Vec<u32> = rows.iter().map(through).collect();
                    if next == rows {
                        return matrix(size, &rows);
                    }
                    rows = next;
                }
            };
            GRAPHS.iter().map(closed).collect()
        },
    },
];

/// The graphs of the problem of closures: how many vertices, and whither each has edges, the first vertex topmost.
const GRAPHS: &[(usize, &[u32])] = &[
    (10, &[0x2a0, 0x24, 0x2a9, 0x45, 0x114, 0x51, 0x9, 0xc, 0xa8, 0x64]),
    (
        20,
        &[
            0xa8002, 0x9043, 0xaa442, 0x11403, 0x45042, 0x14631, 0x2402, 0x3254, 0x2a132, 0x19023, 0x8b54a, 0x990e8,
            0xc5c5a, 0x10631, 0x25142, 0x23654, 0x2e132, 0x19463, 0x88502, 0x180a3,
        ],
    ),
    (32, DENSE),
    (32, DENSE),
    (
        32,
        &[
            0x89000000, 0x60080000, 0x28000080, 0x10001000, 0x18000000, 0x4001004, 0x22020000, 0x11000001, 0x4800200,
            0x400810, 0x204000, 0x100080, 0x4080000, 0x841000, 0x20009, 0x410100, 0x8010, 0x804004, 0x102040, 0x21100,
            0x2000800, 0x10000400, 0x20000240, 0x401100, 0x4000090, 0x1000041, 0x248028, 0x8001012, 0x8, 0x800204,
            0x2000002, 0x404001,
        ],
    ),
];

const DENSE: &[u32] = &[
    0xa8002050, 0x9043944, 0xaa442154, 0x11403a50, 0x4504252a, 0x14631642, 0x2402144, 0x3254a39, 0x2a132e53,
    0x19023106, 0x8b54a444, 0x990e8216, 0xc5c5a52a, 0x106316c3, 0x25142804, 0x23654a39, 0x2e132643, 0x19463106,
    0x88502104, 0x180a3256, 0x6181052a, 0x10230243, 0x221ca544, 0x8345c029, 0x80502653, 0x11001146, 0x8502854,
    0x280a3a54, 0xa481652a, 0x14220443, 0x2154a144, 0xa3600a29,
];

/// A natural number above 0 in binary, the last digit outermost.
fn binary(number: u32) -> String {
    let mut text = "one".to_string();
    for digit in (0..number.ilog2()).rev() {
        text = format!("twice({},{text})", if number >> digit & 1 == 1 { "T" } else { "F" });
    }
    format!("positive({text})")
}

fn peano(number: usize) -> String {
    format!("{}Z{}", "S(".repeat(number), ")".repeat(number))
}

/// A list by its constructors.
fn chain(cons: &str, nil: &str, elements: impl Iterator<Item = String>) -> String {
    let mut count = 0;
    let mut text = String::new();
    for element in elements {
        text += &format!("{cons}({element},");
        count += 1;
    }
    text + nil + &")".repeat(count)
}

fn matrix(size: usize, rows: &[u32]) -> String {
    let bit = |row: u32, place: usize| if row >> (size - 1 - place) & 1 == 1 { "d1" } else { "d0" };
    let vector = |&row: &u32| chain("v", "nothing", (0..size).map(|place| bit(row, place).to_string()));
    chain("m", "empty", rows.iter().map(vector))
}

/// `[PROBLEM ...] [alone]`: all of them, or those that are named; with `alone`, without `merc_sabre`.
pub(crate) fn run(arguments: &[String]) {
    let alone = arguments.iter().any(|argument| argument == "alone");
    let names: Vec<&String> = arguments.iter().filter(|argument| *argument != "alone").collect();
    println!("seconds: processor (wall)\n");
    println!(
        "{:<16}{:>18}{:>10}{:>14}{:>20}{:>8}{:>18}",
        "problem", "ours", "M steps", "M steps / s", "merc_sabre", "times", "2 threads / 1"
    );
    let (mut ratios, mut shares) = (Vec::new(), Vec::new());
    for problem in PROBLEMS {
        if !names.is_empty() && !names.iter().any(|name| *name == problem.name) {
            continue;
        }
        let (ours, steps) = ours(problem, 1);
        let (two, _) = self::ours(problem, 2);
        let theirs = if alone { Taken { processor: f64::NAN, wall: f64::NAN } } else { theirs(problem) };
        let share = Taken { processor: 2.0 * ours.processor / two.processor, wall: 2.0 * ours.wall / two.wall };
        let steps = steps as f64 / 1e6;
        println!(
            "{:<16}{ours:>18}{steps:>10.3}{:>14.1}{theirs:>20}{:>8.1}{:>18}",
            problem.name,
            steps / ours.processor,
            theirs.processor / ours.processor,
            format!("{:.2} ({:.2})", share.processor, share.wall),
        );
        ratios.push(theirs.processor / ours.processor);
        shares.push(share);
    }
    let mean = |all: &mut dyn Iterator<Item = f64>| {
        let (sum, count) = all.fold((0.0, 0), |(sum, count), one| (sum + one.ln(), count + 1));
        (sum / f64::from(count)).exp()
    };
    println!(
        "\ngeometric mean {:.1} times (at least {MEAN_AT_LEAST}), least {:.1} (at least {AT_LEAST}); 2 threads {:.2} \
         ({:.2}) (at least 1.8)",
        mean(&mut ratios.iter().copied()),
        ratios.iter().copied().fold(f64::INFINITY, f64::min),
        mean(&mut shares.iter().map(|share| share.processor)),
        mean(&mut shares.iter().map(|share| share.wall)),
    );
}

/// Repeats for a second or more; the mean time of the processor, which the system counts in ticks, and the least time
/// of the wall's clock.
fn repeat(mut repetition: impl FnMut() -> Taken) -> Taken {
    let (mut sum, mut least, mut count) = (Taken::NOTHING, f64::INFINITY, 0);
    while sum.wall < 1.0 {
        let taken = repetition();
        sum.add(taken);
        least = least.min(taken.wall);
        count += 1;
    }
    Taken { processor: sum.processor / f64::from(count), wall: least }
}

fn typed(rules: &str) -> DataSpecification {
    let mut diagnostics = Vec::new();
    let specification = syntax::parse(rules, FileId(0), &mut diagnostics);
    let mut checker = Checker::new(&specification.tree, rules, &[]);
    checker.data(specification.data());
    assert!(diagnostics.is_empty() && checker.diagnostics.is_empty(), "{diagnostics:?} {:?}", checker.diagnostics);
    checker.specification
}

/// Our time on so many threads, and the steps of one of them.
fn ours(problem: &Problem, threads: usize) -> (Taken, u64) {
    let mut data = typed(problem.rules);
    let mut expressions = Vec::new();
    for text in (problem.terms)() {
        let mut parser = Parser::with_names(&text, FileId(1), data.names.clone());
        let read = parser.whole_expression().unwrap_or_else(|_| panic!("{text}: {:?}", parser.diagnostics));
        let mut checker = Checker::over(data, &parser.tree, &text);
        let typed = checker.infer(read).unwrap_or_else(|_| panic!("{text}: {:?}", checker.diagnostics));
        expressions.push((typed, Vec::new()));
        data = checker.specification;
    }
    let expected = (problem.normal_forms)();
    let mut steps = 0;
    let taken = repeat(|| {
        let pool = Pool::default();
        let (program, codes) = Program::new(data.clone(), &expressions, &pool);
        let barrier = Barrier::new(threads);
        let times: Vec<(Taken, u64)> = std::thread::scope(|scope| {
            let runs: Vec<_> =
                (0..threads).map(|_| scope.spawn(|| evaluate(&pool, &program, &codes, &expected, &barrier))).collect();
            runs.into_iter().map(|run| run.join().expect("a rewrite that ends")).collect()
        });
        steps = times[0].1;
        times.iter().fold(Taken::NOTHING, |all, (time, _)| Taken {
            processor: all.processor.max(time.processor),
            wall: all.wall.max(time.wall),
        })
    });
    (taken, steps)
}

fn evaluate(
    pool: &Pool,
    program: &Program,
    codes: &[FunctionIndex],
    expected: &[String],
    barrier: &Barrier,
) -> (Taken, u64) {
    let worker = pool.worker();
    let mut rewriter = Rewriter::new(program, &worker);
    let mut time = Taken::NOTHING;
    barrier.wait();
    for (&code, expected) in codes.iter().zip(expected) {
        let (taken, term) = Taken::by(|| rewriter.evaluate(code, &[]).expect("nothing stops it"));
        time.add(taken);
        assert!(text(rewriter.section(), term) == *expected, "the normal form is right");
    }
    (time, rewriter.steps())
}

/// A term with the names of its symbols as they were declared.
fn text(section: &Section<'_>, term: Term) -> String {
    enum Piece {
        Term(Term),
        Text(&'static str),
    }
    let mut pieces = vec![Piece::Term(term)];
    let mut text = String::new();
    while let Some(piece) = pieces.pop() {
        match piece {
            Piece::Text(piece) => text += piece,
            Piece::Term(term) => {
                let name = section.name(section.head(term));
                text += name.split('@').next().unwrap_or_default();
                let arguments = section.arguments(term);
                if !arguments.is_empty() {
                    text += "(";
                    pieces.push(Piece::Text(")"));
                    for (place, argument) in arguments.iter().enumerate().rev() {
                        pieces.push(Piece::Term(argument));
                        if place > 0 {
                            pieces.push(Piece::Text(","));
                        }
                    }
                }
            }
        }
    }
    text
}

/// The time of `merc_sabre`.
fn theirs(problem: &Problem) -> Taken {
    // Terms are written and dropped recursively.
    let thread = std::thread::Builder::new().stack_size(1 << 30);
    std::thread::scope(|scope| {
        let run = thread.spawn_scoped(scope, || {
            let specification = rules_of(&typed(problem.rules));
            let terms: Vec<_> = (problem.terms)()
                .iter()
                .map(|text| to_untyped_data_expression(ATerm::from_string(text).expect("a term"), None))
                .collect();
            let expected = (problem.normal_forms)();
            let mut rewriter = InnermostRewriter::new(&specification);
            repeat(|| {
                let mut time = Taken::NOTHING;
                for (term, expected) in terms.iter().zip(&expected) {
                    let (taken, normal_form) = Taken::by(|| rewriter.rewrite(term));
                    time.add(taken);
                    let normal_form = normal_form.to_string().replace(' ', "");
                    assert!(normal_form == *expected, "the normal form is right");
                }
                time
            })
        });
        run.expect("a thread").join().expect("a rewrite that ends")
    })
}

/// The rules of a specification for `merc_sabre`.
fn rules_of(data: &DataSpecification) -> RewriteSpecification {
    let rules = data.equations.iter().map(|equation| {
        let mut names: Vec<VariableId> = Vec::new();
        let sides = [Some(equation.left), Some(equation.right), equation.condition];
        for side in sides.into_iter().flatten() {
            names.extend(data.tree.free_variables(side));
        }
        let name = |&variable: &VariableId| data.names.text(data.tree.variable(variable).0).to_string();
        let variables = names.iter().map(name).collect();
        let convert = |id: TypedId| {
            let term = ATerm::from_string(&written(data, id)).expect("a term");
            to_untyped_data_expression(term, Some(&variables))
        };
        let mut conditions = Vec::new();
        if let Some(condition) = equation.condition {
            let mut pending = vec![condition];
            while let Some(condition) = pending.pop() {
                let (operator, arguments) = operation(data, condition).expect("an operator");
                match operator {
                    Operator::And => pending.extend(arguments.iter().rev()),
                    Operator::Equal | Operator::NotEqual => conditions.push(Condition {
                        lhs: convert(arguments[0]),
                        rhs: convert(arguments[1]),
                        equality: operator == Operator::Equal,
                    }),
                    other => panic!("{other:?} in a condition"),
                }
            }
        }
        Rule { conditions, lhs: convert(equation.left), rhs: convert(equation.right) }
    });
    RewriteSpecification::new(rules.collect())
}

fn operation(data: &DataSpecification, id: TypedId) -> Option<(Operator, &[TypedId])> {
    let Typed::Apply(function, arguments) = data.tree.expression(id) else { return None };
    let Typed::Function(function) = data.tree.expression(*function) else { return None };
    match data.signature.function(*function).origin {
        Origin::Builtin(operator) => Some((operator, data.tree.elements(arguments))),
        _ => None,
    }
}

/// An expression of functions and variables as text.
fn written(data: &DataSpecification, id: TypedId) -> String {
    match data.tree.expression(id) {
        Typed::Variable(variable) => data.names.text(data.tree.variable(*variable).0).to_string(),
        Typed::Function(function) => data.names.text(data.signature.function(*function).name).to_string(),
        Typed::Apply(function, arguments) => {
            let arguments: Vec<String> = data.tree.elements(arguments).iter().map(|&id| written(data, id)).collect();
            format!("{}({})", written(data, *function), arguments.join(","))
        }
        other => panic!("{other:?} in a rule"),
    }
}
