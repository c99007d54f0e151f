//! Mistakes that users make: one diagnostic each, at the right place, with a hint that says what to write; and all
//! stages report what they can find, although an earlier one found mistakes.

mod support;

use support::{TestLoader, said_in, scripts_of};
use trefoil_control::Control;
use trefoil_cspm::checked::{Checked, check_under};
use trefoil_cspm::syntax::*;
use trefoil_source::{Severity, Sources, render};

/// All stages over a text.
fn checked(text: &str, sources: &mut Sources) -> Checked {
    let loader = MemoryLoader::one("test.csp", text);
    let Parsed { tree, diagnostics } = parse("test.csp", &loader, sources);
    check_under(&Control::unlimited(), tree, &[], diagnostics).expect("nothing stops it")
}

/// Declarations for the tables below, on lines 1 to 3.
const BEFORE: &str = "channel call, arrive : {0..2}.Bool\nchannel a, b\nP = a -> b -> P\n";

/// What is wrong on line 4 on, the code and place of the one diagnostic, and a part of its hint.
const HINTS: &[(&str, &str, &str)] = &[
    // Channels with fields.
    (
        "Q = P [| {call, arrive} |] P",
        "C060 4:11",
        "write `{| call, arrive |}` for the set of all events of these channels",
    ),
    ("Q = P \\ {a, call}", "C060 4:13", "`{| a, call |}`"),
    ("Q = P [| {call.1} |] P", "C060 4:11", "`{| call.1 |}`"),
    ("Q = P \\ call", "C060 4:9", "write `{| call |}`"),
    ("Q = P [| a |] P", "C060 4:10", "write `{| a |}`"),
    ("Q = P [{a} || {call}] P", "C060 4:16", "write `{| call |}`"),
    ("Q = P \\ union({call}, {a})", "C060 4:16", "{| call |}"),
    ("Q = P \\ S\nS = {call, arrive}", "C060 5:6", "{| call, arrive |}"),
    ("Q = call -> STOP", "C060 4:5", "write `?x` to receive a field, `!value` to send one"),
    ("Q = call!1 -> STOP", "C060 4:5", "write `?x`"),
    // Torn tokens, and those of other languages.
    ("Q = P [ ] P", "C011 4:7", "write `[]`"),
    ("Q = [ ] x : {a, b} @ x -> STOP", "C011 4:5", "write `[]`"),
    ("Q = P \\ { | a | }", "C011 4:15", "write `{|` and `|}`"),
    ("Q = P \\ {| a | }", "C011 4:14", "write `|}`"),
    ("Q = P \\ { | a |}", "C011 4:9", "write `{|`"),
    ("Q = P [ |{a}|] P", "C011 4:7", "write `[|`"),
    ("Q = P [|{a}| ] P", "C011 4:12", "write `|]`"),
    ("Q = a - > P", "C011 4:7", "write `->`"),
    ("Q = P \\\\ {a}", "C011 4:7", "write `\\`"),
    ("x = 1 < 2 && true", "C011 4:11", "write `and`"),
    ("Q = P |[{a}]| P", "C014 4:7", "write `[|A|]`"),
    ("Q = P || P", "C014 4:7", "write `P [|A|] Q` to synchronise on the events in `A`"),
    ("Q = a -> P | b -> P", "C014 4:12", "write `[]` for external choice"),
    ("Q = a => P", "C014 4:7", "write `->`"),
    ("Q = a P", "C014 4:7", "write `->` between an event and a process"),
    ("Q = call!1!true P", "C023 4:17", "write `->` and a process after a communication"),
    ("x = if 1 <> 2 then 1 else 2", "C010 4:11", "write `!=`"),
    ("x = !true", "C010 4:5", "write `not`"),
    ("x = 1 // one", "C010 4:8", "write `--` to start a comment"),
    ("x = 1 /* one */", "C010 4:8", "write `{-` and `-}`"),
    ("Q = P \\/ P", "C010 4:8", "write `/\\`"),
    ("x := 1", "C025 4:3", "write `=`"),
    ("nametype N = 0..3", "C014 4:15", "write a range in brackets: `{0..3}`"),
    ("channel c : 0..3", "C014 4:14", "{0..3}"),
    ("channel c : Bool, d : Bool", "C014 4:17", "write another declaration"),
    ("channel c d\nQ = c -> d -> STOP", "C014 4:11", "separate names by commas"),
    ("datatype T = A(Bool)\nf(A.x) = x", "C014 4:15", "after a dot: `A.T`"),
    ("Q = P[[a -> b]]", "C011 4:14", "write `P[[a <- b]]`"),
    ("Q = P[[b/a]]", "C011 4:11", "write `P[[a <- b]]`"),
    ("S = {x | x in {1}}", "C011 4:12", "write a generator as `x <- S`"),
    ("f = \\ x -> x", "C011 4:13", "write a function as `\\ x @ e`"),
    ("Q = [] x : {a, b} x -> STOP", "C011 4:19", "write `@` between the generators and the process"),
    // An `if` without `else`, wherever it ends.
    ("Q = if true then P\nassert Q [T= P", "C011 4:19", "such as `else STOP`"),
    ("Q = if true then P", "C011 4:19", "such as `else STOP`"),
    ("Q = (if true then P) [] P", "C011 4:20", "such as `else STOP`"),
    ("Q = let R = if true then P\n within R", "C011 4:27", "such as `else STOP`"),
    // Lines that continue by mistake.
    ("Q = a ->\nR = b -> STOP", "C014 4:7", ""),
    ("Q = a -> P;\nR = b -> Q", "C014 4:11", ""),
    ("x = let y = 1 +\n        z = 2\n within y + z", "C014 4:15", ""),
    ("x = let y = (1 +\n        z = 2\n within y + z", "C012 4:17", ""),
    // Assertions.
    ("assert P [FD P", "C011 4:10", "write `[FD=`"),
    ("assert P [T P", "C011 4:10", "write `[T=`"),
    ("assert P [FD = P", "C011 4:10", "write `[FD=`"),
    ("assert P [fd= P", "C011 4:10", "write `[FD=`"),
    ("assert P [= P", "C019 4:10", "write `[T=`, `[F=` or `[FD=`"),
    ("assert P [X= P", "C019 4:10", "the models are `T`"),
    ("assert P [T= P [T= P", "C011 4:16", "an assertion for each refinement"),
    ("assert P :[dealock free]", "C020 4:12", "did you mean `:[deadlock free]`?"),
    ("assert P :[deadlock]", "C020 4:12", "did you mean `:[deadlock free]`?"),
    ("assert P :[deterministc [F]]", "C020 4:12", "did you mean `:[deterministic]`?"),
    ("assert P : [deadlock free]", "C011 4:10", "write `:[`"),
    ("assert P [deadlock free]", "C011 4:10", "write `:[` instead of `[`"),
    ("P [T= P", "C025 4:3", "write `assert`"),
    ("P :[deadlock free]", "C025 4:3", "write `assert`"),
    ("assert P [=T P", "C011 4:10", "write `[T=`"),
    ("assert not (P [T= P)", "C011 4:12", "write `assert not P [T= Q`"),
    ("assert (P :[deadlock free])", "C011 4:8", "write `assert P [T= Q`"),
    ("assert P :[deadlock free FD]", "C020 4:26", "write `:[deadlock free [FD]]`"),
    ("assert P deadlock free", "C011 4:10", "write `:[deadlock free]`"),
    ("#include \"b.csp\"", "C016 4:1", "write `include` without `#`"),
    // Words of other languages, and misspelt ones.
    ("Q = if true then P endif", "C011 4:20", "CSPM has no `endif`; write an `else` branch"),
    ("Q = if true then P else STOP endif", "C014 4:30", "CSPM has no `endif`; remove it"),
    ("Q(x) = case x of 1 -> P", "C014 4:13", "CSPM has no `case`"),
    ("Q(x) = if x =! 4 then P else STOP", "C011 4:13", "write `!=`"),
    ("x =! 4", "C010 4:4", "write `!=`"),
    ("chanel c\nQ = c -> STOP", "C025 4:1", "did you mean `channel`?"),
    ("asert P [T= P", "C025 4:1", "did you mean `assert`?"),
    ("Q = let x = 3\nchannel z", "C022 4:14", "write `within`"),
    ("Q = P [|{a}| P", "C011 4:12", "write `|]` after the set of events"),
    // Events where processes belong, and channels where events belong.
    ("Q = a ; STOP", "C060 4:5", "write `->` and a process after an event: `a -> STOP`"),
    ("Q = RUN({call})", "C060 4:10", "{| call |}"),
    ("Q = P [{call}||{arrive}] P", "C060 4:9", "{| call |}"),
];

#[test]
fn classic_mistakes_have_hints() {
    let mut wrong = String::new();
    for (text, expected, hint) in HINTS {
        let mut sources = Sources::default();
        let diagnostics = checked(&format!("{BEFORE}{text}\n"), &mut sources).diagnostics;
        let said = said_in(&diagnostics, &sources);
        let helped = diagnostics.iter().any(|diagnostic| diagnostic.help.as_deref().unwrap_or("").contains(hint));
        if said != [*expected] || !helped {
            wrong += &format!("## {text}\nexpected {expected}: {hint}\n");
            wrong.extend(diagnostics.iter().map(|diagnostic| render(diagnostic, &sources, false)));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The same mistakes in front of a mistake of each later stage: these are found too, and nothing else.
#[test]
fn a_mistake_hides_no_other() {
    let after = "x_unknown = unknown_name + 1\nx_typed = 1 + true\n";
    for (text, expected, _) in HINTS {
        let mut sources = Sources::default();
        let diagnostics = checked(&format!("{BEFORE}{text}\n{after}"), &mut sources).diagnostics;
        let line = 4 + text.lines().count();
        let said = said_in(&diagnostics, &sources);
        let all = [expected.to_string(), format!("C040 {line}:13"), format!("C060 {}:15", line + 1)];
        assert_eq!(said, all, "{text}");
    }
}

/// A mistake of syntax does not hide names and types in its own declaration: what was read of it, and what follows.
#[test]
fn a_mistake_hides_nothing_in_its_own_declaration() {
    let scripts: &[(&str, &[&str])] = &[
        ("Q = (NOPE [] a.3", &["C040 4:6", "C060 4:14", "C012 4:17"]),
        ("Q = (NOPE [] P\nR = STOP", &["C040 4:6", "C012 4:15"]),
        ("assert NOPE deadlock free", &["C040 4:8", "C011 4:13"]),
        ("assert NOPE [T= (P", &["C040 4:8", "C012 4:19"]),
        ("assert NOPE :[deadly]", &["C040 4:8", "C020 4:15"]),
        ("Q = if a then P endif", &["C060 4:8", "C011 4:17"]),
        ("Q = if NOPE then P endif", &["C040 4:8", "C011 4:20"]),
        ("Q = call?x?y -> (NOPE(x) [] ", &["C040 4:18", "C010 4:28"]),
        ("Q(x) = a -> NOPE(x) P", &["C040 4:13", "C014 4:21"]),
        ("Q = a -> (P [] NOPE) ) ||| NEITHER", &["C040 4:16", "C013 4:22", "C040 4:28"]),
        ("Q = a -> | b -> NOPE", &["C010 4:10", "C040 4:17"]),
        ("Q = NOPE ->\nR = b -> STOP", &["C040 4:5", "C014 4:10"]),
        ("x = {1 + true, NOPE, 2", &["C060 4:10", "C040 4:16", "C012 4:23"]),
        ("channel c : {0..NOPE", &["C040 4:17", "C012 4:21"]),
        ("Q = let R = NOPE [] STOP", &["C040 4:13", "C022 4:25"]),
        // What broken text binds is no mistake.
        ("Q = call?x?y (a -> P(x, y))", &["C023 4:28"]),
        ("S = {x + y | x <- {0..2}, y <- {0..x}, x y}", &["C011 4:42"]),
        ("f = \\ x, y -> x + y", &["C011 4:20"]),
    ];
    let mut wrong = String::new();
    for (text, expected) in scripts {
        let mut sources = Sources::default();
        let diagnostics = checked(&format!("{BEFORE}{text}\n"), &mut sources).diagnostics;
        if said_in(&diagnostics, &sources) != *expected {
            wrong += &format!("## {text}\nexpected {expected:?}, found {:?}\n", said_in(&diagnostics, &sources));
            wrong.extend(diagnostics.iter().map(|diagnostic| render(diagnostic, &sources, false)));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What follows from a mistake of one stage is not reported by a later one.
#[test]
fn a_mistake_is_reported_once() {
    let scripts: &[(&str, &str)] = &[
        // Names that broken text declares, or may declare.
        ("channel c : {0..\nP = c?x -> P", "C012 1:17"),
        ("datatype T = A | B.{0.. | C\nf(A) = 1\nf(B.x) = x\nf(C) = 2", "C012 1:28"),
        ("f(x) = x +\nassert STOP [T= f(1)", "C010 1:11"),
        ("f(0) = 1\nf(1) = )\nf(n) = n\ny = f(2) + 1", "C010 2:8"),
        ("f(0) = 1\nf(x = 2\nf(n) = n\ny = f(2) + 1", "C011 2:5"),
        ("f(x + 1) = x\ny = f(2)", "C015 1:3"),
        ("(x, y + 1) = (1, 2)\nz = x + y", "C015 1:5"),
        ("x = 1 y = 2\nz = x + y", "C014 1:7"),
        ("module M(x = 1)\ny = x\nexports\nz = y\nendmodule\ninstance I = M(1)\nw = I::z", "C011 1:12"),
        ("module M\nx = 1\nendmodule\ny = M::x", "C027 2:6"),
        ("external chase, , normal\nP = chase(STOP)", "C011 1:17"),
        (
            "include \"no-such-file.csp\"\nP = c?x:T -> P\nf(A.x) = g(x)\nf :: (T) -> Int\nTimed { Q = STOP }",
            "C030 1:9",
        ),
        ("x = let channel c : Bool\n within c.true", "C017 1:9"),
        ("module M(p)\nexports\ny = p\nendmodule\nx = let instance I = M(1)\n within I::y", "C017 5:9"),
        ("include missing.csp\nP = c?x:T -> Q(x)", "C032 1:1"),
        ("f :: Eqs a => (a) -> Bool\nf(x) = x == x", "C028 1:6"),
        // Names.
        ("P = undeclared?x -> P\nQ = P \\ {| undeclared.1 |}\nassert P [T= Q \\ {undeclared}", "C040 1:5"),
        ("channel c : undeclared\nP = c.1.true -> P", "C040 1:13"),
        ("channel c : Set(undeclared)\nP = c?x -> if x == {1} then P else STOP", "C040 1:17"),
        ("x = 1\ny = 2\nx = true\nz = x + 1\nw = not x", "C041 3:1"),
        ("channel c\nc = 5\nP = c -> P", "C041 2:1"),
        ("datatype T = A | B\ndatatype U = A | C\nf(A) = 1\ng(A.x) = A.1", "C041 2:14"),
        ("x = 1\nsubtype T = x.Bool\nf(y) = member(y, T)", "C054 2:13"),
        ("instance I = M(1)\nx = I::y + 1", "C040 1:14"),
        ("f :: Eq b => (a) -> Bool\nf(x) = x == x", "C051 1:9"),
        ("f :: (unknown::T) -> Bool\nf(x) = x + 1 == 2", "C040 1:7"),
        ("external prioritize\nP = prioritize(1)", "C044 1:10"),
        ("Timed {\n P = WAIT(1)\n}", "C053 1:1"),
    ];
    let mut wrong = String::new();
    for (text, expected) in scripts {
        let mut sources = Sources::default();
        let diagnostics = checked(text, &mut sources).diagnostics;
        if said_in(&diagnostics, &sources) != [*expected] {
            wrong += &format!("## {text}\nexpected {expected}\n");
            wrong.extend(diagnostics.iter().map(|diagnostic| render(diagnostic, &sources, false)));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Every script that a stage refuses is refused for the same reasons by all stages together.
#[test]
fn later_stages_add_nothing_to_the_mistakes_of_earlier_ones() {
    let mut wrong = String::new();
    for path in scripts_of("syntax", "should_fail").into_iter().chain(scripts_of("rename", "should_fail")) {
        let name = path.to_string_lossy();
        let mut sources = Sources::default();
        let Parsed { tree, diagnostics } = parse(&name, &TestLoader, &mut sources);
        let (_, named) = trefoil_cspm::rename::rename(tree.clone(), &[]);
        let syntax = diagnostics.len();
        let checked = check_under(&Control::unlimited(), tree, &[], diagnostics).expect("nothing stops it");
        let codes = |diagnostic: &&trefoil_source::Diagnostic| diagnostic.code >= "C040";
        let more: Vec<_> = checked.diagnostics.iter().filter(codes).collect();
        // Names that a script of the syntax tests uses without declaring them are real.
        let unknown = |diagnostic: &&&trefoil_source::Diagnostic| ["C040", "C053"].contains(&diagnostic.code);
        if syntax > 0 && more.iter().filter(|diagnostic| !unknown(diagnostic)).count() > 0 {
            wrong += &format!("## {name}\n");
            wrong.extend(more.iter().map(|diagnostic| render(diagnostic, &sources, false)));
        }
        let wrong_names = named.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        if syntax == 0 && wrong_names && checked.diagnostics.len() > named.len() {
            wrong += &format!("## {name}\n");
            wrong.extend(checked.diagnostics.iter().map(|diagnostic| render(diagnostic, &sources, false)));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Examples without one of their operators or keywords. Some mistakes show in several places, but most are reported
/// once.
#[test]
fn a_missing_operator_is_reported_once_as_a_rule() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/csp");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "csp"));
    paths.sort();
    let (mut wrong, mut several) = (0, Vec::new());
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a script");
        if text.contains("include") {
            continue;
        }
        let code = text.lines().flat_map(|line| line.split("--").next());
        let is_operator = |word: &&str| {
            let keywords = ["if", "then", "else", "let", "within", "assert", "channel", "datatype", "and", "or", "not"];
            keywords.contains(word) || !word.contains(|character: char| character.is_alphanumeric())
        };
        for word in code.flat_map(str::split_whitespace).filter(is_operator) {
            let at = word.as_ptr() as usize - text.as_ptr() as usize;
            let mut sources = Sources::default();
            let less = format!("{}{}", &text[..at], &text[at + word.len()..]);
            let diagnostics = checked(&less, &mut sources).diagnostics;
            wrong += usize::from(!diagnostics.is_empty());
            if diagnostics.len() > 1 {
                several.push(format!("{} without `{word}`: {:?}", path.display(), said_in(&diagnostics, &sources)));
            }
        }
    }
    assert!(wrong > 1000, "{wrong}");
    assert!(several.len() * 20 < wrong, "{} of {wrong}:\n{}", several.len(), several.join("\n"));
}
