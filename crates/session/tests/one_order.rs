//! Claims, assertions and ends of random Promela models, decided with independent steps taken in one order, also up to
//! symmetry, beside the same with all steps in every order.

use std::path::Path;

use trefoil_control::Control;
use trefoil_session::check::{AnyScript, Asked, AssertionReport, Fairness, Finding, SymmetryUse, Wanted};
use trefoil_session::{Job, Verdict};
use trefoil_testkit::promela::{random_messages, random_program};
use trefoil_testkit::promela_symmetric::{SHAPES, random_symmetric_program};
use trefoil_testkit::{Random, seed};

/// The answers to all properties of a model.
fn answers(text: &str, ltl: &[String], asked: &Asked) -> Vec<AssertionReport> {
    let mut job = Job::new(Control::unlimited(), 1);
    job.texts.put("m.pml", text);
    let wanted = Wanted { ltl: ltl.to_vec(), ..Wanted::default() };
    let script = AnyScript::open_with(Path::new("m.pml"), None, &wanted, &job);
    let mut script = script.unwrap_or_else(|problem| panic!("{text}\n{}", problem.render(false)));
    let all: Vec<usize> = script.assertions().iter().map(|listed| listed.index).collect();
    all.into_iter().map(|index| script.run(index, asked, &job)).collect()
}

fn options(partial_order: bool, symmetry: SymmetryUse) -> Asked {
    Asked { partial_order: Some(partial_order), symmetry: Some(symmetry), ..Asked::default() }
}

/// What the propositions of a sort of models are made of.
const MESSAGES: &[&str] = &[
    "g == 1",
    "g > 0",
    "flag[0]",
    "flag[1] != flag[2]",
    "len(q0) > 0",
    "full(q1)",
    "q0?[1]",
    "P[1]:x == 1",
    "P[1]@at",
    "P[2]@at",
    "(P[1]@at && g == 0)",
    "_nr_pr > 2",
    "P[1]@late",
];
const PROGRAMS: &[&str] =
    &["g == 1", "h > 1", "b", "a[0] == a[1]", "len(c) > 0", "nempty(d)", "P0[0]:x == 1", "P0[0]@at", "P0[0]@late"];
const SYMMETRIC: &[&str] = &[
    "g == 1",
    "w == 2",
    "h[1] + h[2] + h[3] > 1",
    "(h[3] == 0 && h[1] == 0 && h[2] == 0)",
    "len(o) > 0",
    "P[2]:x == 1",
    "(P[1]:x == 1 && P[2]:x == 1)",
    "P[1]:mine == 2",
    "r[1] == 0",
];

/// A formula without `X` over one or two of these.
fn formula(size: usize, own: &[&str], random: &mut Random) -> String {
    if size <= 1 {
        return format!("({})", own[random.below(own.len())]);
    }
    let part = |size: usize, random: &mut Random| formula(size, own, random);
    match random.below(8) {
        0 => format!("([] {})", part(size - 1, random)),
        1 => format!("(<> {})", part(size - 1, random)),
        2 => format!("(!{})", part(size - 1, random)),
        3 => format!("([] <> {})", part(size - 1, random)),
        operator => {
            let left = part(size / 2, random);
            let right = part(size - size / 2, random);
            let operator = ["&&", "||", "->", "U"][operator % 4];
            format!("({left} {operator} {right})")
        }
    }
}

fn claims(text: &str, propositions: &[&str], random: &mut Random) -> Vec<String> {
    // Not every body has a last statement that is always the same, which the label is put before.
    let is_late = text.split("\n}\n").next().is_some_and(|first| first.contains("late:"));
    let there: Vec<&str> = propositions.iter().copied().filter(|text| is_late || !text.contains("@late")).collect();
    let own: Vec<&str> = (0..1 + random.below(2)).map(|_| there[random.below(there.len())]).collect();
    (0..1 + random.below(3)).map(|_| formula(1 + random.below(6), &own, random)).collect()
}

/// A model and what its claims are about.
fn model(round: usize, random: &mut Random) -> (String, &'static [&'static str]) {
    let label = |text: String, random: &mut Random| {
        let late =
            [" late: skip\n}\n", "progress: skip; late: skip\n}\n", "late: skip; goto late\n}\n"][random.below(3)];
        let text = text.replace("byte x, y;\n", "byte x, y;\nat: x = 0;\n").replace(" skip\n}\n", late);
        // A model that never ends shows more.
        if random.chance(50) { text.replace("late: skip\n}\n", "late: skip; goto at\n}\n") } else { text }
    };
    match round % 4 {
        0 => {
            let (text, _) = random_symmetric_program(random, SHAPES[round / 4 % SHAPES.len()]);
            (text, SYMMETRIC)
        }
        1 => {
            let text = random_program(random).replace("byte x, y; mtype m;\n", "byte x, y; mtype m;\nat: x = 0;\n");
            (
                text.replace(" skip\n}\n", " late: skip\n}\n").replace("active [2] proctype P0", "active proctype P0"),
                PROGRAMS,
            )
        }
        _ => {
            let text = random_messages(random).replace(" run Q(", " run P(");
            (label(text, random), MESSAGES)
        }
    }
}

/// How many products of a model and a claim are compared; more with `TREFOIL_PRODUCTS`.
fn products() -> usize {
    std::env::var("TREFOIL_PRODUCTS").ok().and_then(|text| text.parse().ok()).unwrap_or(300)
}

#[test]
fn one_order_of_independent_steps_decides_as_all_orders() {
    let seed = seed();
    let mut random = Random::new(seed);
    let (mut compared, mut failing, mut holding, mut smaller, mut quotients) = (0, 0, 0, 0, 0);
    let mut round = 0;
    while compared < products() {
        let (text, propositions) = model(round, &mut random);
        let claims = claims(&text, propositions, &mut random);
        round += 1;
        let whole = answers(&text, &claims, &options(false, SymmetryUse::Off));
        for symmetry in [SymmetryUse::Off, SymmetryUse::Automatic] {
            if symmetry == SymmetryUse::Automatic && round % 4 != 1 {
                continue;
            }
            let reduced = answers(&text, &claims, &options(true, symmetry.clone()));
            for (expected, found) in whole.iter().zip(&reduced) {
                let words = || {
                    let place = format!("TREFOIL_SEED={seed} round {} {symmetry:?}", round - 1);
                    let texts = (&expected.assertion.assertion_string, &claims);
                    format!("{place}: {texts:?}\n{text}\n{:?} {:?}", expected.errors, found.errors)
                };
                assert_eq!(found.verdict, expected.verdict, "{}", words());
                let unreached = |report: &AssertionReport| serde_json::to_value(&report.unreached).expect("plain data");
                assert_eq!(unreached(found), unreached(expected), "{}", words());
                let counted = |report: &AssertionReport| report.visited.states.clone();
                smaller += usize::from(counted(found) != counted(expected));
                quotients += usize::from(found.symmetry.is_some());
                compared += 1;
                match found.verdict {
                    Verdict::Holds => holding += 1,
                    Verdict::Fails => failing += 1,
                    _ => {}
                }
            }
        }
    }
    println!(
        "{compared} products: {holding} hold, {failing} fail, {smaller} with other counts, {quotients} up to symmetry"
    );
    assert!(
        8 * holding > compared && 8 * failing > compared && 10 * smaller > compared,
        "{holding} {failing} {smaller}"
    );
    assert!(20 * quotients > compared, "{quotients} of {compared} up to symmetry");
}

const CLAIMS: &str = "\
byte x, y, z; bool done;
active proctype A() { do :: x = (x + 1) % 4 od }
active proctype B() { byte k; do :: k < 3 -> k++ :: k == 3 -> break od; y = 1; far: skip }
active proctype C() { byte k; do :: k < 3 -> k++ :: k == 3 -> break od; z = 1 }
";

/// One order is the default, but a claim that needs all steps makes the others of its search take them, too.
#[test]
fn without_a_wish_claims_share_the_search_that_one_of_them_needs() {
    let without = "checked without partial-order reduction: it shares its search with a claim that needs all steps";
    let default = Asked { symmetry: Some(SymmetryUse::Off), ..Asked::default() };
    let claim = "[] (y < 2)".to_string();
    for (claims, shares) in [(vec![claim.clone()], false), (vec![claim, "X (z == 0)".to_string()], true)] {
        let report = answers(CLAIMS, &claims, &default).remove(2);
        assert_eq!(report.details.iter().any(|detail| detail.contains("one order")), !shares, "{:?}", report.details);
        assert_eq!(report.notes.iter().any(|note| note == without), shares, "{:?}", report.notes);
        let report = answers(CLAIMS, &claims, &options(true, SymmetryUse::Off)).remove(2);
        assert!(report.details.iter().any(|detail| detail.contains("one order")), "{:?}", report.details);
    }
}

/// Claims about different variables share one search, in which the steps that any of them sees are visible.
#[test]
fn claims_that_share_a_search_see_what_each_of_them_sees() {
    let claims = ["[] (y == 0 -> z == 0)", "<> (z == 1)", "[] (y + z < 2)", "[] !B[1]@far"].map(str::to_string);
    let reports = answers(CLAIMS, &claims, &options(true, SymmetryUse::Off));
    let expected = answers(CLAIMS, &claims, &options(false, SymmetryUse::Off));
    for (found, expected) in reports.iter().zip(&expected).skip(2) {
        assert_eq!(
            (found.verdict, &found.errors),
            (Verdict::Fails, &expected.errors),
            "{}",
            found.assertion.assertion_string
        );
        assert_eq!(found.verdict, expected.verdict);
    }
}

/// Steps that only change where processes stand that no claim asks for are taken in one order.
#[test]
fn labels_are_seen_where_a_step_reaches_or_leaves_them() {
    let model = CLAIMS.replace("active proctype A() { do :: x = (x + 1) % 4 od }", "");
    let claims = ["<> B[0]@far".to_string()];
    let all = answers(&model, &claims, &options(false, SymmetryUse::Off)).remove(2);
    let fewer = answers(&model, &claims, &options(true, SymmetryUse::Off)).remove(2);
    assert_eq!((all.verdict, fewer.verdict), (Verdict::Holds, Verdict::Holds));
    let states = |report: &AssertionReport| report.visited.states.digits().parse::<u64>().expect("a number");
    assert!(2 * states(&fewer) < states(&all), "{:?} of {:?}", states(&fewer), states(&all));
    assert!(fewer.details.iter().any(|detail| detail.contains("one order")), "{:?}", fewer.details);
}

/// A run to a bad state is a shortest one where a search with all steps finds one soon.
#[test]
fn short_counterexamples_stay_shortest() {
    let claims = ["[] (z == 0)".to_string()];
    let length = |asked: &Asked| {
        let report = answers(CLAIMS, &claims, asked).remove(2);
        let evidence = report.witness.expect("it fails");
        let Finding::Claim { stem, .. } = evidence.finding else { panic!("{:?}", evidence.finding) };
        (stem, report.notes.iter().any(|note| note.contains("need not be shortest")))
    };
    let shortest = length(&options(false, SymmetryUse::Off));
    assert_eq!((length(&options(true, SymmetryUse::Off)), shortest.1), (shortest, false));
}

/// A claim that needs all orders of steps is refused when the user demands one order.
#[test]
fn claims_that_need_all_orders_are_refused() {
    let fair = Asked { fairness: Some(Fairness::Weak), ..options(true, SymmetryUse::Off) };
    for (claim, asked, why) in [
        ("[] <> (x == 1)", fair, "which runs are fair"),
        ("X (x == 1)", options(true, SymmetryUse::Off), "how often a state is repeated"),
    ] {
        let report = answers(CLAIMS, &[claim.to_string()], &asked).remove(2);
        assert_eq!(report.verdict, Verdict::Error, "{claim}");
        assert!(format!("{:?}", report.errors).contains(why), "{:?}", report.errors);
    }
}
