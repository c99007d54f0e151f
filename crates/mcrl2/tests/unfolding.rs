//! Parameters that are taken apart: random processes over records, functions, sorts with several constructors, lists
//! and sets are strongly bisimilar with it and without, and the text of the linear process is read again.

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
        let most = graph(linear(&text, Analyses::NONE), &context).state_count();
        for (name, linear) in [("all", with), ("only", only), ("its text", again)] {
            let graph = graph(linear, &context);
            let most = if name == "only" { most } else { without.state_count() };
            assert!(graph.state_count() <= most, "{name}: {} states, not {most}: {context}", graph.state_count());
            assert!(bisimilar(&graph, &without), "{name}: {context}");
        }
    }
    assert!(taken > 40 && states > 400, "{taken} parameters taken apart, {states} states");
}

const SHAPED: &str = "\
sort D = struct d1 | d2 | d3;
     M = struct none ? is_none | one(of: D) ? is_one | two(left: D, flag: Bool) ? is_two;
map next: D -> D; turn: M -> M; last: M -> D;
var x: D; b: Bool;
eqn next(d1) = d2; next(d2) = d3; next(d3) = d1;
    turn(none) = one(d1); turn(one(x)) = two(x, true); turn(two(x, b)) = if(b, two(next(x), false), none);
    last(none) = d3; last(one(x)) = x; last(two(x, b)) = if(b, x, next(x));
act a: D; b: Bool; c: D # Bool; m: M; l: List(D); t;
";

/// Random expressions over `u, v: M`, `l: List(D)`, `s: Set(D)`, `z: FSet(D)` and the summed variables `e: D`, `w: M`.
struct Shaped<'r> {
    random: &'r mut Random,
}

impl Shaped<'_> {
    fn one(&mut self, choices: &[&str]) -> String {
        choices[self.random.below(choices.len())].to_string()
    }

    fn d(&mut self, depth: usize) -> String {
        match self.random.below(if depth == 0 { 3 } else { 5 }) {
            0 => self.one(&["d1", "d2", "d3", "e"]),
            1 => "e".to_string(),
            2 => self.one(&["last(u)", "last(v)"]),
            3 => format!("next({})", self.d(depth - 1)),
            _ => format!("if({}, {}, {})", self.b(depth - 1), self.d(depth - 1), self.d(depth - 1)),
        }
    }

    fn b(&mut self, depth: usize) -> String {
        match self.random.below(if depth == 0 { 7 } else { 11 }) {
            0 => self.one(&["true", "is_none(u)", "is_one(v)"]),
            1 => self.one(&["is_two(u)", "is_two(v)", "u == v", "u == w"]),
            2 => self.one(&["#l == 0", "#l < 2", "l == []", "e in l"]),
            3 => format!("{} in {}", self.d(0), self.one(&["s", "z"])),
            4 => self.one(&["s == {d1, d2}", "z == {}", "s <= {d1}", "z < {d1, d3}", "s != {}"]),
            5 => self.one(&["#l >= 1 && head(l) == e", "#l >= 2 && l.1 == d2"]),
            6 => self.one(&["is_two(u) && flag(u)", "is_one(u) && of(u) == e"]),
            7 => format!("!({})", self.b(depth - 1)),
            8 => format!("({}) && ({})", self.b(depth - 1), self.b(depth - 1)),
            9 => format!("u == {}", self.m(depth - 1)),
            _ => format!("{} in ({})", self.d(depth - 1), self.s()),
        }
    }

    fn m(&mut self, depth: usize) -> String {
        match self.random.below(if depth == 0 { 4 } else { 7 }) {
            0 => self.one(&["u", "v", "none"]),
            1 => format!("one({})", self.d(0)),
            2 => format!("two({}, {})", self.d(0), self.b(0)),
            3 => self.one(&["w", "u", "v"]),
            4 => format!("turn({})", self.m(depth - 1)),
            5 => format!("if({}, {}, {})", self.b(depth - 1), self.m(depth - 1), self.m(depth - 1)),
            _ => format!("two({}, {})", self.d(depth - 1), self.b(depth - 1)),
        }
    }

    fn s(&mut self) -> String {
        let element = self.d(0);
        match self.random.below(6) {
            0 => format!("s + {{{element}}}"),
            1 => format!("s - {{{element}}}"),
            2 => "!s".to_string(),
            3 => format!("if({}, s, {{d1, {element}}})", self.b(0)),
            4 => "s * {d1, d2}".to_string(),
            _ => format!("{{x: D | x == {element}}}"),
        }
    }

    fn summand(&mut self) -> String {
        let action = match self.random.below(7) {
            0 => "t".to_string(),
            1 => format!("a({})", self.d(1)),
            2 => format!("b({})", self.b(1)),
            3 => format!("m({})", self.m(1)),
            4 => self.one(&["l(l)", "t", "t", "t"]),
            _ => format!("c({}, {})", self.d(1), self.b(0)),
        };
        let mut updates = Vec::new();
        let mut conditions = vec![self.b(1)];
        if self.random.below(2) == 0 {
            updates.push(format!("u = {}", self.m(2)));
        }
        if self.random.below(2) == 0 {
            updates.push(format!("v = {}", self.m(1)));
        }
        match self.random.below(8) {
            0 => {
                conditions.push("#l < 2".to_string());
                updates.push(format!("l = {} |> l", self.d(0)));
            }
            1 => {
                conditions.push("#l < 3".to_string());
                updates.push(format!("l = l <| {}", self.d(0)));
            }
            2 => {
                conditions.push("l != []".to_string());
                updates.push("l = tail(l)".to_string());
            }
            3 => {
                conditions.push("#l > 0".to_string());
                updates.push("l = rtail(l)".to_string());
            }
            4 => updates.push(self.one(&["l = []", "l = [d1, e]"])),
            _ => {}
        }
        if self.random.below(3) == 0 {
            updates.push(format!("s = {}", self.s()));
        }
        if self.random.below(3) == 0 {
            let element = self.d(0);
            let operator = self.one(&["+", "-", "*"]);
            updates.push(format!("z = z {operator} {{{element}, d2}}"));
        }
        format!("sum e: D, w: M. ({}) -> {action} . P({})", conditions.join(" && "), updates.join(", "))
    }
}

#[test]
fn processes_with_shapes_and_elements_taken_apart_are_strongly_bisimilar_to_those_without() {
    let (mut shapes, mut lists, mut sets, mut states) = (0, 0, 0, 0);
    for number in 0..120 {
        let context = format!("TREFOIL_SEED={}", seed() + number);
        let mut random = Random::new(seed() + number);
        let mut writer = Shaped { random: &mut random };
        let summands: Vec<String> = (0..2 + number as usize % 3).map(|_| writer.summand()).collect();
        let text = format!(
            "{SHAPED}proc P(u, v: M, l: List(D), s: Set(D), z: FSet(D)) = {};\ninit P(none, one(d2), [d1], {{d2}}, \
             {{}});\n",
            summands.join("\n  + ")
        );
        let context = format!("{context}\n{text}");
        let with = linear(&text, Analyses::ALL);
        let only = linear(&text, Analyses { unfold: true, ..Analyses::NONE });
        let without = graph(linear(&text, Analyses { unfold: false, ..Analyses::ALL }), &context);
        let line = only.report.iter().find(|line| line.starts_with("unfolded parameters: ")).expect("a line about it");
        shapes += line.matches("by its constructors").count();
        lists += line.matches("by its length").count();
        sets += line.matches("by its elements").count();
        let written = print(&with, &syntax::parse(&text, FileId(0), &mut Vec::new()), &text);
        let again = linear(&written, Analyses::ALL);
        states += without.state_count();
        let most = graph(linear(&text, Analyses::NONE), &context).state_count();
        for (name, linear) in [("all", with), ("only", only), ("its text", again)] {
            let graph = graph(linear, &context);
            let most = if name == "only" { most } else { without.state_count() };
            assert!(graph.state_count() <= most, "{name}: {} states, not {most}: {context}", graph.state_count());
            assert!(bisimilar(&graph, &without), "{name}: {context}");
        }
    }
    let all = format!("{shapes} by constructors, {lists} lists, {sets} sets, {states} states");
    assert!(shapes > 8 && lists > 8 && sets > 8 && states > 400, "{all}");
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

#[test]
fn lists_are_taken_apart_where_their_length_is_bounded() {
    let text = |guard: &str, more: &str| {
        format!(
            "sort D = struct d1 | d2; act r, s: D; n; w: List(D);\nproc P(q: List(D)) = sum d: D. ({guard}) -> r(d) . \
             P(q <| d) + (q != []) -> s(head(q)) . P(tail(q)){more};\ninit P([]);"
        )
    };
    let only = Analyses { unfold: true, ..Analyses::NONE };
    let names = |text: &str| -> Vec<String> {
        linear(text, only).parameters.iter().map(|parameter| parameter.source.clone()).collect()
    };
    let idle = " + (#q > 1) -> n . P(q) + (#q == 1 || #q > 1) -> n . P(q)";
    assert_eq!(names(&text("#q < 2", idle)), ["q_length", "q_0", "q_1"]);
    // A queue shifts all positions whenever an element goes, so it stays whole where nothing else happens.
    assert_eq!(names(&text("#q < 2", "")), ["q"]);
    // Without a bound, or where an action needs all of it, it stays whole.
    assert_eq!(names(&text("true", idle)), ["q"]);
    assert_eq!(names(&text("#q < 2", &format!("{idle} + w(q) . P(q)"))), ["q"]);
    // A list of fixed length needs no parameter for that.
    let array = "act a: Bool; proc P(l: List(Bool)) = a(l.0) . P([!(l.0), l.1]) + a(l.1) . P([l.0, !(l.1)]); init \
                 P([true, false]);";
    assert_eq!(names(array), ["l_0", "l_1"]);
}

#[test]
fn constructors_and_sets_are_taken_apart_where_a_summand_needs_only_some_of_them() {
    let only = Analyses { unfold: true, ..Analyses::NONE };
    let names = |text: &str| -> Vec<String> {
        linear(text, only).parameters.iter().map(|parameter| parameter.source.clone()).collect()
    };
    let message = "sort M = struct none ? is_none | some(of: Bool, also: Bool) ? is_some; act r: M; s: Bool; n;\n";
    let text = format!(
        "{message}proc P(m: M) = sum b: Bool. is_none(m) -> r(some(b, b)) . P(some(b, b)) + is_some(m) -> s(of(m)) . \
         P(some(!of(m), also(m))) + is_some(m) -> n . P(none); init P(none);"
    );
    assert_eq!(names(&text), ["m_case", "m_some_of", "m_some_also"]);
    // Two parameters that pass values to each other are taken apart together.
    let text = format!(
        "{message}proc P(m, k: M) = sum x: M. r(x) . P(m = x, k = m) + is_some(k) -> s(of(k)) . P(); init P(none, \
         none);"
    );
    assert_eq!(names(&text), ["m_case", "m_some_of", "m_some_also", "k_case", "k_some_of", "k_some_also"]);
    // A sort that holds itself is not.
    let tree = "sort T = struct leaf ? is_leaf | node(left: T, value: Bool) ? is_node; act a; proc P(t: T) = \
                is_node(t) -> a . P(left(t)) + is_leaf(t) -> a . P(node(t, true)); init P(leaf);";
    assert_eq!(names(tree), ["t"]);
    let set = |more: &str| {
        format!(
            "sort D = struct d1 | d2 | d3; act a; b: Nat; c: D;\nproc P(s: FSet(D)) = !(d1 in s) -> a . P(s + {{d1}}) \
             + sum d: D. (d in s) -> c(d) . P(s - {{d}}){more}; init P({{}});"
        )
    };
    assert_eq!(names(&set("")), ["s_d1", "s_d2", "s_d3"]);
    assert_eq!(names(&set(" + b(#s) . P(s)")), ["s"]);
}
