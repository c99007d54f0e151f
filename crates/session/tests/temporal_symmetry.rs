//! Claims about whole runs, decided up to symmetry: random Promela models whose processes are exchanged, compared with
//! the same models without symmetries; and the questions that share a search or an answer.

use std::path::Path;

use trefoil_control::Control;
use trefoil_session::check::{AnyScript, Asked, AssertionReport, Fairness, SymmetryUse, Wanted};
use trefoil_session::{Job, Verdict};
use trefoil_testkit::promela_symmetric::{SHAPES, random_symmetric_program};
use trefoil_testkit::{Random, seed};

fn answers(text: &str, ltl: &[String], fairness: Fairness, symmetry: SymmetryUse) -> Vec<AssertionReport> {
    let mut job = Job::new(Control::unlimited(), 1);
    job.texts.put("m.pml", text);
    let wanted = Wanted { ltl: ltl.to_vec(), ..Wanted::default() };
    let script = AnyScript::open_with(Path::new("m.pml"), None, &wanted, &job);
    let mut script = script.unwrap_or_else(|problem| panic!("{text}\n{}", problem.render(false)));
    let temporal: Vec<usize> = script.assertions().iter().skip(2).map(|listed| listed.index).collect();
    let asked = Asked { fairness: Some(fairness), symmetry: Some(symmetry), ..Asked::default() };
    temporal.into_iter().map(|index| script.run(index, &asked, &job)).collect()
}

const PROPOSITIONS: &[&str] = &[
    "g == 1",
    "w == 2",
    "w == w",
    "h[1] == 1",
    "h[w] == 1",
    "h[1] + h[2] + h[3] > 1",
    "(h[3] == 0 && h[1] == 0 && h[2] == 0)",
    "len(o) > 0",
    "len(c[1]) > 0",
    "P[2]:x == 1",
    "(P[1]:x == 1 && P[2]:x == 1)",
    "P[1]:x == P[2]:x",
    "P[1]:mine == 2",
    "P[2]:v[2] == 1",
    "r[1] == 0",
    "q[1] == 0",
    "_last == 1",
    "_nr_pr > 2",
    "P[1]:mine == w",
];

fn random_claim(random: &mut Random) -> String {
    let mut proposition = || {
        let text = PROPOSITIONS[random.below(PROPOSITIONS.len())];
        if random.chance(30) { format!("!({text})") } else { format!("({text})") }
    };
    let (p, q) = (proposition(), proposition());
    match random.below(9) {
        0 => format!("[] {p}"),
        1 => format!("<> {p}"),
        2 => format!("[] <> {p}"),
        3 => format!("<> [] {p}"),
        4 => format!("[] ({p} -> <> {q})"),
        5 => format!("{p} U {q}"),
        6 => format!("X {p}"),
        7 => format!("([] <> {p}) -> ([] <> {q})"),
        _ => format!("<> ({p} && X {q})"),
    }
}

/// How many models are compared; more with `TREFOIL_TEMPORAL_MODELS`.
fn models() -> usize {
    std::env::var("TREFOIL_TEMPORAL_MODELS").ok().and_then(|text| text.parse().ok()).unwrap_or(30)
}

#[test]
fn claims_have_the_same_verdicts_up_to_symmetry() {
    let seed = seed();
    let mut random = Random::new(seed);
    let (mut reduced, mut failing, mut holding, mut carried) = (0, 0, 0, 0);
    for round in 0..models() {
        let shape = SHAPES[round % SHAPES.len()];
        let (text, _) = random_symmetric_program(&mut random, shape);
        let mut claims: Vec<String> = (0..4).map(|_| random_claim(&mut random)).collect();
        claims.extend(["[] <> (P[1]:x == 1)", "[] <> (P[2]:x == 1)"].map(str::to_string));
        let fairness = [Fairness::None, Fairness::Weak, Fairness::Strong][random.below(3)];
        let whole = answers(&text, &claims, fairness, SymmetryUse::Off);
        let reduce = || answers(&text, &claims, fairness, SymmetryUse::Automatic);
        let quotient = std::panic::catch_unwind(std::panic::AssertUnwindSafe(reduce));
        let quotient =
            quotient.unwrap_or_else(|_| panic!("TREFOIL_SEED={seed} round {round} {fairness:?} {claims:#?}\n{text}"));
        for (at, (expected, found)) in whole.iter().zip(&quotient).enumerate() {
            let words = format!("TREFOIL_SEED={seed} round {round} {fairness:?} {:?}\n{text}", claims.get(at));
            assert_eq!(found.verdict, expected.verdict, "{words}\n{:?}\n{:?}", found.errors, expected.errors);
            reduced += usize::from(found.symmetry.is_some());
            carried += usize::from(found.symmetry.is_some() && at == 5);
            match found.verdict {
                Verdict::Holds => holding += 1,
                Verdict::Fails => failing += 1,
                _ => {}
            }
        }
    }
    println!("{} models: {holding} claims hold, {failing} fail, {reduced} decided up to symmetry", models());
    assert!(reduced > models() && failing > models() && holding > models(), "{reduced} {failing} {holding}");
    assert!(5 * carried > models(), "{carried} claims about the second process");
}

const TURNS: &str = "\
byte turn; bool want[4];
active [4] proctype P() {
  do
  :: want[_pid] = 1;
wait: atomic { turn == 0 -> turn = _pid + 1 };
crit: turn = 0; want[_pid] = 0
  od
}
";

#[test]
fn claims_about_one_process_are_decided_once_for_all() {
    // Without the arithmetic of `turn` any two processes are alike.
    let model = TURNS.replace("turn = _pid + 1", "turn = 1");
    let claims: Vec<String> = (0..4).map(|process| format!("[] (P[{process}]@wait -> <> P[{process}]@crit)")).collect();
    for (fairness, expected) in [(Fairness::Weak, Verdict::Fails), (Fairness::Strong, Verdict::Holds)] {
        let reports = answers(&model, &claims, fairness, SymmetryUse::Automatic);
        let states: Vec<String> = reports.iter().map(|report| format!("{:?}", report.visited.states)).collect();
        for report in &reports {
            assert_eq!(report.verdict, expected);
            let symmetry = report.symmetry.as_ref().expect("three others are exchanged");
            assert_eq!(symmetry.order, "6");
            assert!(report.notes.iter().any(|note| note.contains("all 4 images")), "{:?}", report.notes);
        }
        assert!(states.windows(2).all(|two| two[0] == two[1]), "{states:?}");
    }
}

#[test]
fn two_processes_may_be_exchanged_where_a_claim_names_both_alike() {
    let model = TURNS.replace("turn = _pid + 1", "turn = 1");
    let claims = ["[] !(P[0]@crit && P[3]@crit)".to_string(), "[] (P[0]@crit -> !P[3]@crit)".to_string()];
    let reports = answers(&model, &claims, Fairness::None, SymmetryUse::Automatic);
    let orders: Vec<String> = reports
        .iter()
        .map(|report| report.symmetry.as_ref().map(|used| used.order.clone()).unwrap_or_default())
        .collect();
    // An implication is an expression with an order.
    assert_eq!(orders, ["4", "2"]);
    assert!(reports.iter().all(|report| report.verdict == Verdict::Holds));
}

#[test]
fn processes_that_disappear_are_seen_by_some_claims_only() {
    let model = "byte done;\n\
        proctype W() { byte k; do :: k < 2 -> k++ :: k == 2 -> break od; done++ }\n\
        init { atomic { run W(); run W(); run W() } }\n";
    let claims = ["<> (done == 3)", "X (done == 0)", "[] (_nr_pr > 1)", "<> [] (done < 3)", "[] (W[1]:k < 3)"]
        .map(str::to_string);
    for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
        let reports = answers(model, &claims, fairness, SymmetryUse::Automatic);
        let told: Vec<(Verdict, bool)> =
            reports.iter().map(|report| (report.verdict, report.symmetry.is_some())).collect();
        let expected = [
            (Verdict::Holds, true),
            (Verdict::Holds, false),
            (Verdict::Fails, false),
            (Verdict::Fails, true),
            (Verdict::Holds, false),
        ];
        assert_eq!(told, expected);
    }
}

#[test]
fn variables_are_exchanged_with_the_statements_that_change_them() {
    let model = "bit a, b, c;\nactive proctype A() { do :: a = 1 - a :: b = 1 - b :: c = 1 - c od }\n\
        active proctype B() { do :: a + b + c > 1 -> skip od }\n";
    let claims = ["<> (a + b + c > 2)", "[] (a + b + c < 2)", "[] <> (a + b + c == 3)"].map(str::to_string);
    for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
        let reports = answers(model, &claims, fairness, SymmetryUse::Automatic);
        for report in reports {
            assert_eq!(report.verdict, Verdict::Fails);
            assert_eq!(report.symmetry.expect("three variables alike").order, "6");
        }
    }
}
