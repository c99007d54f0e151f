//! Scripts with `normal` and `diamond`: merged states that keep their acceptances against `τ` to a copy for each, with
//! symmetry and without.

use trefoil_control::Control;
use trefoil_session::check::{Asked, AssertionReport, Script, SymmetryUse};
use trefoil_session::{Job, Verdict};

/// Interchangeable clients that may give up, and a lock.
const CLIENTS: &str = "
transparent normal, diamond
datatype Id = A | B | C
channel take, give, try, drop : Id
CLIENT(i) = try.i -> (take.i -> give.i -> CLIENT(i) |~| drop.i -> CLIENT(i))
LOCK = take?i -> give.i -> LOCK
STRICT = take?i -> give.i -> (STRICT |~| STOP)
SYSTEM(compress, lock) = (||| i : Id @ compress(CLIENT(i) \\ {try.i, drop.i})) [| {| take, give |} |] lock
GREEDY(i) = take.i -> (give.i -> GREEDY(i) |~| (take.i -> STOP [] drop.i -> STOP))
HELD = (||| i : Id @ normal(GREEDY(i) \\ {drop.i})) [| {| take, give |} |] LOCK
USES = |~| i : Id @ take.i -> give.i -> USES
MAY = STOP |~| USES
assert SYSTEM(normal, LOCK) :[deadlock free [F]]
assert SYSTEM(normal, LOCK) :[deadlock free [FD]]
assert SYSTEM(diamond, STRICT) :[deadlock free [F]]
assert HELD :[deadlock free [F]]
assert HELD :[divergence free]
assert SYSTEM(normal, LOCK) :[divergence free]
assert USES [T= SYSTEM(normal, LOCK)
assert USES [F= SYSTEM(diamond, LOCK)
assert MAY [F= SYSTEM(normal, STRICT)
assert MAY [FD= HELD
assert USES [F= HELD
assert MAY [V= SYSTEM(normal, LOCK)
assert MAY [R= SYSTEM(normal, LOCK)
assert HELD :[deterministic [F]]
";

/// Nodes of a grid that pass packets to the right and down, or deliver them.
const GRID: &str = "
transparent normal
N = {1 .. 3}
channel right, down : {1 .. 4} . {1 .. 4}
channel in, out : N . N
NODE(x, y) = in.x.y -> SEND(x, y) [] right.x.y -> SEND(x, y) [] down.x.y -> SEND(x, y)
SEND(x, y) = |~| e : {right.(x + 1).y, down.x.(y + 1), out.x.y} @ e -> NODE(x, y)
alpha(x, y) = {right.x.y, right.(x + 1).y, down.x.y, down.x.(y + 1)}
edge(x, y) = union({in.x.y, out.x.y}, inter(alpha(x, y), {right.1.y, down.x.1, right.4.y, down.x.4}))
NET(hides) = (|| x : N, y : N @ [diff(union(alpha(x, y), {in.x.y, out.x.y}), hides(x, y))] normal(NODE(x, y) \\ hides(x, y)))
none(x, y) = {}
assert NET(none) :[deadlock free [F]]
assert NET(edge) :[deadlock free [F]]
assert NET(edge) \\ Events :[deadlock free [F]]
assert NET(edge) :[divergence free]
assert RUN(Events) [F= NET(edge)
";

fn answers(script: &str, symmetry: SymmetryUse, on_states: bool) -> Vec<AssertionReport> {
    let job = || Job::new(Control::unlimited(), 2);
    let path =
        std::env::temp_dir().join(format!("acceptances-{}-{on_states}-{}.csp", std::process::id(), script.len()));
    std::fs::write(&path, script).expect("a file in the temporary folder");
    let opened = Script::open(&path, None, &job());
    std::fs::remove_file(&path).expect("the file is there");
    let Ok(mut script) = opened else { panic!("a script of this test does not open") };
    script.keep_acceptances_on_states(on_states);
    let asked = Asked { symmetry: Some(symmetry), ..Asked::default() };
    (1..=script.assertions().count()).map(|index| script.run(index, &asked, &job())).collect()
}

fn kept(report: &AssertionReport) -> bool {
    report.reductions.iter().any(|reduction| reduction == "acceptances of merged states kept on them")
}

#[test]
fn merged_states_answer_as_their_copies() {
    for (name, script, least_kept) in [("clients", CLIENTS, 7), ("grid", GRID, 5)] {
        let plain = answers(script, SymmetryUse::Off, false);
        assert!(plain.iter().all(|report| !kept(report)), "{name}");
        for verdict in [Verdict::Holds, Verdict::Fails] {
            assert!(plain.iter().any(|report| report.verdict == verdict), "{name}: {verdict:?}");
        }
        for symmetry in [SymmetryUse::Off, SymmetryUse::Automatic] {
            let mut on_states = 0;
            for (with, without) in answers(script, symmetry.clone(), true).iter().zip(&plain) {
                let what = format!("{name}: {} {:?}", with.assertion.assertion_string, with.reason);
                assert_eq!(with.verdict, without.verdict, "{what}");
                let length = |report: &AssertionReport| report.witness.as_ref().map(|witness| witness.length);
                assert_eq!(length(with), length(without), "{what}");
                on_states += usize::from(kept(with));
                let observes_more = ["[V=", "[R=", "deterministic"];
                let may = !observes_more.iter().any(|word| with.assertion.assertion_string.contains(word));
                assert!(may || !kept(with), "{what}");
            }
            assert!(on_states >= least_kept, "{name}: {on_states}");
        }
    }
}
