//! Parameters that are taken apart: random processes over records and functions are strongly bisimilar with it and
//! without, and the text of the linear process is read again.

// `minimised` is for other tests.
#[allow(dead_code)]
#[path = "support/bisimulation.rs"]
mod bisimulation;

use std::sync::Arc;

use bisimulation::bisimilar;
use trefoil_control::Control;
use trefoil_lts::{Lts, generate};
use trefoil_mcrl2::linear::{Analyses, LinearProcess, linearise, print};
use trefoil_mcrl2::system::Model;
use trefoil_mcrl2::{processes, syntax};
use trefoil_source::FileId;
use trefoil_system::{Checked, Labels, Writing};
use trefoil_testkit::{Random, seed};

fn linear(text: &str, analyses: Analyses) -> LinearProcess {
    let mut diagnostics = Vec::new();
    let tree = syntax::parse(text, FileId(0), &mut diagnostics);
    let typed = processes::check(&tree, text, &mut diagnostics).unwrap_or_else(|| panic!("{text}: {diagnostics:?}"));
    linearise(&typed, analyses, &Control::unlimited()).unwrap_or_else(|refusal| panic!("{text}: {refusal:?}"))
}

fn graph(linear: LinearProcess, context: &str) -> Lts {
    let control = Control::unlimited();
    let labels = Arc::new(Labels::written(Writing::Brackets));
    let model = Model::new(Arc::new(linear), labels, &control).unwrap_or_else(|none| panic!("{context}: {none:?}"));
    let generated = generate(&Checked::new(model), 1, &control);
    generated.unwrap_or_else(|unfinished| panic!("{context}: {:?}", unfinished.cut)).lts
}

fn apart(linear: &LinearProcess) -> usize {
    let line = linear.report.iter().find_map(|line| line.strip_prefix("unfolded parameters: "));
    line.and_then(|line| line.split(' ').next()?.parse().ok()).expect("a line about it")
}

const DATA: &str = "\
sort D = struct d1 | d2 | d3;
     R = struct r(left: D, right: Bool, inner: Q);
     Q = struct q(one: Bool, two: D);
     F = D -> Bool;
     G = Bool -> D;
map next: D -> D; swap: R -> R; some: F -> Bool;
var x: D; b: Bool; p: Q; f: F;
eqn next(d1) = d2; next(d2) = d3; next(d3) = d1;
    swap(r(x, b, p)) = r(two(p), one(p), q(b, x));
    some(f) = f(d1) || f(d2);
act a: D; b: Bool; c: D # Bool; t;
";

/// Random expressions over the parameters `u: R`, `f: F`, `g: G` and a summed variable `e: D`.
struct Writer<'r> {
    random: &'r mut Random,
}

impl Writer<'_> {
    fn one(&mut self, choices: &[&str]) -> String {
        choices[self.random.below(choices.len())].to_string()
    }

    fn d(&mut self, depth: usize) -> String {
        match self.random.below(if depth == 0 { 4 } else { 7 }) {
            0 => self.one(&["d1", "d2", "d3", "e"]),
            1 => self.one(&["left(u)", "two(inner(u))"]),
            2 => format!("g({})", self.one(&["true", "false"])),
            3 => self.one(&["left(u)", "e"]),
            4 => format!("next({})", self.d(depth - 1)),
            5 => format!("g({})", self.b(depth - 1)),
            _ => format!("if({}, {}, {})", self.b(depth - 1), self.d(depth - 1), self.d(depth - 1)),
        }
    }

    fn b(&mut self, depth: usize) -> String {
        match self.random.below(if depth == 0 { 3 } else { 8 }) {
            0 => self.one(&["true", "false", "right(u)", "one(inner(u))"]),
            1 => format!("f({})", self.one(&["d1", "d2", "d3"])),
            2 => self.one(&["right(u)", "one(inner(u))"]),
            3 => format!("f({})", self.d(depth - 1)),
            4 => format!("{} == {}", self.d(depth - 1), self.d(depth - 1)),
            5 => format!("!({})", self.b(depth - 1)),
            6 => format!("u == {}", self.r(depth - 1)),
            _ => {
                if self.random.below(4) == 0 {
                    "some(f)".to_string()
                } else {
                    format!("({}) && ({})", self.b(depth - 1), self.b(depth - 1))
                }
            }
        }
    }

    fn r(&mut self, depth: usize) -> String {
        match self.random.below(if depth == 0 { 2 } else { 4 }) {
            0 => "u".to_string(),
            1 => format!("r({}, right(u), inner(u))", self.d(0)),
            2 => format!("r({}, {}, q({}, {}))", self.d(depth - 1), self.b(depth - 1), self.b(0), self.d(0)),
            _ => format!("swap({})", self.r(depth - 1)),
        }
    }

    fn summand(&mut self) -> String {
        let action = match self.random.below(4) {
            0 => "t".to_string(),
            1 => format!("a({})", self.d(1)),
            2 => format!("b({})", self.b(1)),
            _ => format!("c({}, {})", self.d(1), self.b(0)),
        };
        let mut updates = Vec::new();
        if self.random.below(2) == 0 {
            updates.push(format!("u = {}", self.r(2)));
        }
        if self.random.below(2) == 0 {
            updates.push(format!("f = f[{} -> {}]", self.d(0), self.b(1)));
        }
        if self.random.below(3) == 0 {
            updates.push(format!(
                "g = {}",
                if self.random.below(4) == 0 {
                    "lambda y: Bool. d2".to_string()
                } else {
                    format!("g[{} -> {}]", self.b(0), self.d(1))
                }
            ));
        }
        format!("sum e: D. ({}) -> {action} . P({})", self.b(2), updates.join(", "))
    }
}

#[test]
fn processes_with_parameters_taken_apart_are_strongly_bisimilar_to_those_without() {
    let (mut taken, mut states) = (0, 0);
    for number in 0..120 {
        let context = format!("TREFOIL_SEED={}", seed() + number);
        let mut random = Random::new(seed() + number);
        let mut writer = Writer { random: &mut random };
        let summands: Vec<String> = (0..2 + number as usize % 3).map(|_| writer.summand()).collect();
        let text = format!(
            "{DATA}proc P(u: R, f: F, g: G) = {};\ninit P(r(d1, false, q(true, d2)), lambda x: D. x == d1, lambda y: \
             Bool. d3);\n",
            summands.join("\n  + ")
        );
        let context = format!("{context}\n{text}");
        let with = linear(&text, Analyses::ALL);
        let only = linear(&text, Analyses { unfold: true, ..Analyses::NONE });
        let without = graph(linear(&text, Analyses { unfold: false, ..Analyses::ALL }), &context);
        taken += apart(&only);
        let written = print(&with, &syntax::parse(&text, FileId(0), &mut Vec::new()), &text);
        let again = linear(&written, Analyses::ALL);
        states += without.state_count();
        for (name, linear) in [("all", with), ("only", only), ("its text", again)] {
            assert!(bisimilar(&graph(linear, &context), &without), "{name}: {context}");
        }
    }
    assert!(taken > 40 && states > 400, "{taken} parameters taken apart, {states} states");
}

#[test]
fn a_parameter_is_taken_apart_where_a_summand_needs_only_some_of_it() {
    let record = "sort R = struct r(left: Bool, right: Bool); act a: Bool; b: R;\n";
    let text = |summands: &str| format!("{record}proc P(u: R) = {summands}; init P(r(true, false));");
    let only = Analyses { unfold: true, ..Analyses::NONE };
    let names = |linear: &LinearProcess| -> Vec<String> {
        linear.parameters.iter().map(|parameter| parameter.source.clone()).collect()
    };
    let some = linear(&text("a(left(u)) . P(r(!left(u), right(u))) + b(u) . P(r(left(u), !right(u)))"), only);
    assert_eq!((apart(&some), names(&some)), (1, vec!["u_left".to_string(), "u_right".to_string()]));
    let whole = linear(&text("b(u) . P(r(!right(u), left(u)))"), only);
    assert_eq!((apart(&whole), names(&whole)), (0, vec!["u".to_string()]));
    // What stays constant in a record is found afterwards.
    let constant = linear(&text("a(left(u)) . P(r(!left(u), right(u)))"), Analyses::ALL);
    assert_eq!(names(&constant), ["u_left"]);
    let off = linear(&text("a(left(u)) . P(r(!left(u), right(u)))"), Analyses { unfold: false, ..Analyses::ALL });
    assert_eq!(names(&off), ["u"]);
    // A function that an expression needs as a whole stays one.
    let functions =
        "sort D = struct d1 | d2; map m: (D -> Bool) -> Bool; var f: D -> Bool; eqn m(f) = f(d1); act a: Bool;\n";
    let process = |summand: &str| format!("{functions}proc P(f: D -> Bool) = {summand}; init P(lambda x: D. false);");
    let indexed = linear(&process("a(f(d1)) . P(f[d1 -> !f(d1)]) + a(f(d2)) . P(f[d2 -> true])"), only);
    assert_eq!(names(&indexed), ["f_d1", "f_d2"]);
    assert_eq!(apart(&linear(&process("a(f(d2)) . P(lambda x: D. !f(x))"), only)), 0);
}
