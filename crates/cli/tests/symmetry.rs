//! `trefoil symmetry`, and assertions about symmetry, as users see them.

use std::process::Command;

use serde_json::Value;

/// Runs the program on a script; gives the exit code, and what was said on both streams.
fn trefoil(script: &str, arguments: &[&str]) -> (i32, String, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("script.csp"), script).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    command.current_dir(folder.path()).env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR").args(arguments);
    let output = command.output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    (output.status.code().expect("an exit code"), text(&output.stdout), text(&output.stderr))
}

/// A stack of linked nodes, in small.
const STACK: &str = "datatype NodeIDType = Null | N0 | N1 | N2
NodeID = diff(NodeIDType, {Null})
datatype Data = A | B
datatype ThreadID = T0 | T1
channel push, pop : ThreadID.Data
channel getTop, setTop : ThreadID.NodeIDType
Top(n) = getTop?t!n -> Top(n) [] setTop?t?n' -> Top(n')
Threads = ||| t : ThreadID @ Thread(t)
Thread(t) = push.t?d -> setTop.t?n:NodeID -> Thread(t) [] getTop.t?n -> Thread(t)
System = Top(Null) [| {| getTop, setTop |} |] Threads
Main = push.T0?d -> Main
assert System :[deadlock free [F]]
assert Main ||| System :[deadlock free [F]] :[symmetry reduce]: Data, diff(NodeIDType, {| Null |})
assert System :[symmetric]: Data, ThreadID, diff(NodeIDType, {| Null |})
assert System :[symmetric]: NodeIDType
assert not Main :[symmetric]: ThreadID
";

#[test]
fn types_are_told_with_reasons_and_places() {
    let (code, out, err) = trefoil(STACK, &["symmetry", "script.csp"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let expected = "\
script.csp
  1  System :[deadlock free [F]]
     NodeIDType  symmetric in {N0, N1, N2}, 3 of 4 constants
       `Null` is named, in `NodeID` (script.csp:2:28)
       `Null` is named, in `System` (script.csp:10:14)
     Data        symmetric: {A, B}
     ThreadID    symmetric: {T0, T1}
     proved on the compiled processes: the group S3 × S2 × S2, |G| = 24
       it has all permutations of the NodeIDType constants {N0, N1, N2}
       it has all permutations of the Data constants {A, B}
       it has all permutations of the ThreadID constants {T0, T1}
       generator (N0,N1)
       generator (N0,N1,N2)
       generator (A,B)
       generator (T0,T1)
       strategy canonical: S3 × S2 × S2 has every permutation of its types: a canonical labelling of each state finds its orbit
       `N0` and `Null` cannot be exchanged: component Top cannot do setTop.T0.Null at first, as its image can
  2  Main ||| System :[deadlock free [F]] :[symmetry reduce]: Data, diff(NodeIDType, {|Null|})
     NodeIDType  symmetric in {N0, N1, N2}, 3 of 4 constants
       `Null` is named, in `NodeID` (script.csp:2:28)
       `Null` is named, in `System` (script.csp:10:14)
     Data        symmetric: {A, B}
     ThreadID    the text distinguishes all of its 2 constants
       `T0` is named, in `Main` (script.csp:11:13)
";
    assert!(out.starts_with(expected), "{out}");
}

#[test]
fn the_same_as_json() {
    let (code, out, _) = trefoil(STACK, &["symmetry", "script.csp", "--format", "json"]);
    assert_eq!(code, 0);
    let document: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(document["command"], "symmetry");
    let first = &document["results"][0]["assertions"][0];
    assert_eq!(first["index"], 1);
    let nodes = &first["types"][0];
    assert_eq!(nodes["name"], "NodeIDType");
    assert_eq!(nodes["symmetric"], serde_json::json!(["N0", "N1", "N2"]));
    assert_eq!(nodes["reasons"][0]["constant"], "Null");
    assert_eq!(nodes["reasons"][0]["place"]["line"], 2);
    let group = &first["group"];
    assert_eq!((&group["order"], &group["structure"]), (&Value::from("24"), &Value::from("S3 × S2 × S2")));
    assert_eq!(group["points"].as_array().map(Vec::len), Some(7));
    assert_eq!(group["generators"][1], "(N0,N1,N2)");
    assert_eq!(group["permuted"][2]["datatype"], "ThreadID");
    assert!(first["reasons"][0].as_str().is_some_and(|why| why.contains("`N0` and `Null`")), "{first}");
    let (_, out, _) = trefoil(STACK, &["symmetry", "script.csp", "--format", "json", "--text-only", "--only", "1"]);
    let document: Value = serde_json::from_str(&out).expect("JSON");
    let assertions = &document["results"][0]["assertions"];
    assert_eq!((assertions.as_array().map(Vec::len), assertions[0].get("group")), (Some(1), None));
}

/// Stations in a ring, at each of which several equal ones stand, and hand on values of a type.
fn ring(stations: usize, copies: usize) -> String {
    let station = vec!["EMPTY(i)"; copies].join(" ||| ");
    format!(
        "datatype D = X | Y\nN = {stations}\nchannel pass, enter, leave : {{0..N-1}}.D\n\
         EMPTY(i) = enter.i?x -> FULL(i, x) [] pass.i?x -> FULL(i, x)\n\
         FULL(i, x) = leave.i.x -> EMPTY(i) [] pass.((i + 1) % N).x -> EMPTY(i)\n\
         Alphabet(i) = {{| enter.i, leave.i, pass.i, pass.((i + 1) % N) |}}\n\
         RING = || i : {{0..N-1}} @ [Alphabet(i)] ({station})\nassert RING :[deadlock free [F]]\n"
    )
}

#[test]
fn values_equal_components_and_the_network_make_one_group() {
    for (stations, copies, order, structure) in [(5, 1, "10", "S2 × C5"), (3, 2, "48", "S2 × (S2 wr C3)")] {
        let script = ring(stations, copies);
        let (code, out, _) = trefoil(&script, &["symmetry", "script.csp"]);
        assert_eq!(code, 0);
        assert!(
            out.contains(&format!("proved on the compiled processes: the group {structure}, |G| = {order}\n")),
            "{out}"
        );
        let (_, out, _) = trefoil(&script, &["check", "script.csp"]);
        let whole = 3_u64.pow((stations * copies) as u32);
        let of = if copies > 1 { "values, equal components, the network" } else { "values and the network" };
        assert!(out.contains(&format!("representing {whole}, |G| = {order} of {of}")), "{out}");
    }
}

#[test]
fn philosophers_at_fixed_places_turn() {
    let generator = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchsuite/csp/symmetry/generate");
    let script = Command::new(generator).args(["DiningPhilosophers", "6", "--fixed"]).output().expect("it runs");
    let script = String::from_utf8(script.stdout).expect("text");
    let (_, out, _) = trefoil(&script, &["check", "script.csp", "--only", "1"]);
    assert!(out.contains("5,686 states representing 33,985, |G| = 6 of the network"), "{out}");
    // A strategy that does not suit the group gives way, and naming the type is insisting.
    let (code, out, _) = trefoil(&script, &["check", "script.csp", "--only", "1", "--strategy", "sorted"]);
    assert_eq!(code, 0);
    assert!(out.contains("needs all permutations of each orbit, and the group is C6; used canonical instead"), "{out}");
    let (code, _, err) = trefoil(&script, &["check", "script.csp", "--only", "1", "--symmetry", "Name"]);
    assert_eq!(code, 2);
    assert!(err.contains("no two of them are interchangeable in the compiled network"), "{err}");
}

/// Assertions with one group share a picture; another group has the number of its assertion in its name.
#[test]
fn groups_are_drawn_once_each() {
    let script = "\
datatype T = A | B | C
channel a, b : T
P(x) = a.x -> b.x -> P(x)
ALL = ||| x : T @ P(x)
TWO = ||| x : {A, B} @ P(x)
assert ALL :[deadlock free]
assert ALL :[divergence free]
assert TWO :[deadlock free]
assert a.A -> STOP :[deadlock free]
";
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    let output = file("g.svg").display().to_string();
    let (code, out, err) = trefoil(script, &["symmetry", "script.csp", "-o", &output]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("wrote the group of assertions 1, 2 to") && out.contains("g3.svg"), "{out}");
    let (first, second) = (file("g.svg"), file("g3.svg"));
    let read = |file: &std::path::Path| std::fs::read_to_string(file).expect("a picture");
    assert!(read(&first).contains(">script.csp, assertions 1, 2: S3, |G| = 6<"), "{}", read(&first));
    for name in ["A", "B", "C"] {
        assert!(read(&first).contains(&format!(">{name}<")), "{name}: {}", read(&first));
    }
    assert!(read(&second).contains(", assertion 3: S2, |G| = 2<") && !read(&second).contains(">C<"));
    let (code, _, err) = trefoil(script, &["symmetry", "script.csp", "--only", "4", "-o", &output]);
    assert!(code == 0 && err.contains("no picture was written"), "{err}");
    let (code, _, err) = trefoil(script, &["symmetry", "script.csp", "-o", "g.pdf"]);
    assert!(code == 2 && err.contains("S001"), "{err}");
}

#[test]
fn parts_of_sequences_interrupts_and_choices_are_permuted() {
    let script = "N = 13\nchannel a, b : {0..N-1}\nP(i) = a.i -> SKIP\nR(i) = b.i -> a.i -> R(i)\n\
                  FIRST = ||| i : {0..N-1} @ P(i)\nSECOND = ||| i : {0..N-1} @ R(i)\n\
                  assert FIRST ; SECOND :[deadlock free [F]]\nassert FIRST /\\ SECOND :[divergence free]\n\
                  assert FIRST [] SECOND :[divergence free]\nassert FIRST [> SECOND :[divergence free]\n";
    let (code, out, _) = trefoil(script, &["check", "script.csp"]);
    assert_eq!(code, 0, "{out}");
    assert_eq!(out.matches("|G| = 6,227,020,800 of the network").count(), 4, "{out}");
    assert!(out.contains("28 states representing 16,384"), "{out}");
    // Small ones are states of one component, and not worth the trouble.
    let (_, out, _) = trefoil(&script.replace("13", "3"), &["symmetry", "script.csp"]);
    assert_eq!(out.matches("permute labels inside components, and there is little to be gained").count(), 4, "{out}");
}

#[test]
fn what_is_asked_for_and_not_found_is_told_once_and_with_reasons() {
    let script = "datatype T = A | B | C\nchannel c : T\nP = c.A -> c.B -> P\nQ = c?x -> Q\n\
                  assert P :[deadlock free] :[symmetry reduce]\nassert Q ||| P :[deadlock free] :[symmetry reduce]: T\n\
                  assert Q :[deadlock free]\n";
    let (code, out, _) = trefoil(script, &["check", "script.csp", "--only", "1"]);
    assert_eq!(code, 0);
    assert!(out.contains("no symmetry was found that could reduce it"), "{out}");
    assert!(out.contains("`T`: `A` is named, in `P` (script.csp:3:7), and 1 more reason"), "{out}");
    let (code, _, err) = trefoil(script, &["check", "script.csp", "--symmetry", "Foo"]);
    assert_eq!(code, 2);
    assert_eq!(err.matches("the script has no datatype of this name").count(), 1, "{err}");
    // The error of a list says what could be listed.
    let script = "datatype T = A | B | C | D\nchannel c, d : T\nP = c?x -> d.x -> P [] c.A -> STOP [] d.B -> STOP\n\
                  assert P :[deadlock free] :[symmetry reduce]: T\n";
    let (code, _, err) = trefoil(script, &["check", "script.csp"]);
    assert_eq!(code, 2);
    assert!(err.contains("the compiled network is symmetric in {C, D}"), "{err}");
    assert!(err.contains("reduce by `diff(T, {| A, B |})` instead"), "{err}");
}

#[test]
fn large_groups_are_rounded_in_text_and_not_listed() {
    let names: Vec<String> = (0..25).map(|name| format!("A{name}")).collect();
    let script = format!(
        "datatype T = {}\nchannel c, d : T\nSYSTEM = ||| x : T @ c.x -> d.x -> STOP\nassert not SYSTEM :[deadlock free [F]]\n",
        names.join(" | ")
    );
    let (code, out, _) = trefoil(&script, &["check", "script.csp"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("|G| = 1.55 × 10^25"), "{out}");
    let (_, out, _) = trefoil(&script, &["check", "script.csp", "--format", "json"]);
    assert!(out.contains("\"15511210043330985984000000\""), "{out}");
    let (code, out, _) = trefoil(&script, &["check", "script.csp", "--strategy", "enumerate"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("tries every element of the group, and S25 has more than 100000; used canonical"), "{out}");
}

#[test]
fn budgets_of_proofs_run_out_like_those_of_checks() {
    // The guard makes the process large, not without bound: that would be an error, found sooner or later.
    let script = "channel a\nP(n) = n < 1000000000 & a -> P(n + 1)\nQ = a -> Q\n\
                  assert P(0) :[deadlock free]\nassert Q :[deadlock free]\n";
    let (code, out, _) = trefoil(script, &["symmetry", "script.csp", "--timeout", "300ms"]);
    assert_eq!(code, 3, "{out}");
    assert_eq!(out.matches("unknown: ").count(), 1, "only the first is too large: {out}");
}

#[test]
fn symmetric_assertions_are_answered() {
    let (code, out, err) = trefoil(STACK, &["check", "script.csp", "--only", "3", "--only", "4", "--only", "5"]);
    assert_eq!((code, err.as_str()), (1, ""), "{out}");
    assert!(out.contains("3  holds"), "{out}");
    assert!(out.contains("4  fails"), "{out}");
    let why = "`NodeIDType` is not symmetric: `Null` is named, in `NodeID` (script.csp:2:28), and 1 more reason";
    assert!(out.contains(why), "{out}");
    assert!(out.contains("5  holds"), "{out}");
    assert!(
        out.contains("as expected, the negated assertion fails: `ThreadID` is not symmetric: `T0` is named, in `Main`"),
        "{out}"
    );
    let (_, out, _) = trefoil(STACK, &["check", "script.csp", "--explain", "4"]);
    assert!(out.contains("  NodeIDType {Null, N0, N1, N2}\n    `Null` is named, in `NodeID`"), "{out}");
    let (_, out, _) = trefoil(STACK, &["check", "script.csp", "--only", "4", "--format", "json"]);
    let document: Value = serde_json::from_str(&out).expect("JSON");
    let result = &document["runs"][0]["results"][0];
    assert_eq!((&result["verdict"], &result["result"]), (&Value::from("fails"), &Value::from(0)));
    let finding = &result["witness"]["finding"];
    assert_eq!(finding["kind"], "not_symmetric");
    assert_eq!(finding["types"][0]["type"], "NodeIDType");
    assert_eq!(finding["types"][0]["reasons"][1]["place"]["line"], 10);
}

#[test]
fn lists_that_make_no_sense_are_errors_of_their_assertion() {
    let script = "datatype T = A | B\nsubtype S = A\nchannel c : T\nP = c?x -> P\n\
                  assert P :[symmetric]: S\nassert P :[symmetric]: diff(T, {| c |})\nassert P :[symmetric]: T\n";
    let (code, out, err) = trefoil(&script.replace("{| c |}", "{| A.B |}"), &["check", "script.csp"]);
    assert_eq!(code, 2, "{out}{err}");
    let script = script.replace("diff(T, {| c |})", "diff(T, {x | x <- T})");
    let (code, out, err) = trefoil(&script, &["check", "script.csp"]);
    assert_eq!(code, 2);
    assert!(out.contains("1  error") && out.contains("2  error") && out.contains("3  holds"), "{out}");
    assert!(err.contains("C080") && err.contains("`S` is a subtype, not a datatype"), "{err}");
    assert!(err.contains("C081"), "{err}");
    let (code, out, _) = trefoil(&script, &["symmetry", "script.csp"]);
    assert_eq!(code, 2);
    assert!(out.contains("error: `S` is a subtype, not a datatype [C080]"), "{out}");
}

#[test]
fn instances_have_datatypes_of_their_own() {
    let script = "module M(n)\nexports\n  datatype D = X | Y | Z\n  channel c : D\n  P = c?x -> P\n  Q = c.X -> Q\nendmodule\n\
                  instance I = M(1)\ninstance J = M(2)\nassert I::P :[deadlock free]\nassert I::Q :[symmetric]: I::D\n\
                  assert I::Q :[symmetric]: diff(I::D, {| I::X |})\n";
    let (code, out, err) = trefoil(script, &["symmetry", "script.csp"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("I::D  symmetric: {I::X, I::Y, I::Z}"), "{out}");
    let (_, out, _) = trefoil(script, &["check", "script.csp", "--only", "2", "--only", "3"]);
    assert!(out.contains("2  fails") && out.contains("3  holds"), "{out}");
}

#[test]
fn a_list_that_leaves_nothing_to_exchange_exchanges_nothing_else() {
    let script = "datatype T = A | B | C\nchannel c, d : T\nP(x) = c.x -> d.x -> P(x)\nS = ||| x : T @ P(x)\n";
    for (list, states) in [("", 4), (": diff(T, {| A |})", 6), (": diff(T, {| A, B |})", 8)] {
        let script = format!("{script}assert S :[deadlock free] :[symmetry reduce]{list}\n");
        let (code, said, _) = trefoil(&script, &["check", "script.csp"]);
        assert_eq!(code, 0, "{said}");
        assert!(said.contains(&format!("({states} states")), "{list}: {said}");
    }
}
