//! Decomposition as users see it: `trefoil mcrl2 decompose`, and `--decompose` for checks and systems.

use std::process::Command;

use serde_json::Value;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Folder {
        let folder = Folder(tempfile::tempdir().expect("a temporary folder"));
        files.iter().for_each(|(name, text)| folder.write(name, text));
        folder
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).expect("a file");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join(name)).expect("a file")
    }

    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
        command.current_dir(self.0.path()).env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR");
        let output = command.args(arguments).output().expect("the program runs");
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
        (output.status.code().expect("an exit code"), text(&output.stdout), text(&output.stderr))
    }

    /// The first result of a run in JSON.
    fn result(&self, arguments: &[&str]) -> Value {
        let (_, out, err) = self.run(&[arguments, &["--format", "json"]].concat());
        let document: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{arguments:?}: {out}{err}"));
        let results = document.get("results").or_else(|| document["runs"][0].get("results"));
        results.unwrap_or_else(|| panic!("{out}"))[0].clone()
    }
}

/// A chat box for three users with messages hidden: 512 states, strongly bisimilar to 8. `more` are summands.
fn chat_box(more: &str) -> String {
    let pairs: Vec<(u8, u8)> = (0..3).flat_map(|one| (0..3).map(move |other| (one, other))).collect();
    let pairs: Vec<(u8, u8)> = pairs.into_iter().filter(|(one, other)| one != other).collect();
    let mut parameters: Vec<String> = (0..3).map(|user| format!("h{user}: Bool")).collect();
    parameters.extend(pairs.iter().map(|(one, other)| format!("s{one}{other}: Bool")));
    let mut summands = Vec::new();
    for user in 0..3 {
        summands.push(format!("(!h{user}) -> join({user}) . Box(h{user} = true)"));
        summands.push(format!("h{user} -> leave({user}) . Box(h{user} = false)"));
    }
    for (one, other) in pairs {
        let (both, sent) = (format!("h{one} && h{other}"), format!("s{one}{other}"));
        summands.push(format!("({both} && !{sent}) -> message . Box({sent} = true)"));
        summands.push(format!("({both} && {sent}) -> message . Box({sent} = false)"));
    }
    format!(
        "act join, leave: Nat; message; alarm;\nproc Box({}) =\n   {}{more};\ninit hide({{message}}, Box({}));\n",
        parameters.join(", "),
        summands.join("\n + "),
        ["false"; 9].join(", ")
    )
}

/// Two counters that are reset three times; then nothing more happens. 100 states.
const COUNTERS: &str = "act a, b, c;\n\
    proc P(x: Nat, y: Nat, z: Nat) = (x < 4) -> a . P(x = x + 1) + (y < 4) -> b . P(y = y + 1)\n\
    + (x == 4 && y == 4 && z < 3) -> c . P(x = 0, y = 0, z = z + 1);\ninit P(0, 0, 0);\n";

#[test]
fn a_specification_is_taken_apart_and_written() {
    let folder = Folder::new(&[("box.mcrl2", &chat_box(""))]);
    let result = folder.result(&["mcrl2", "decompose", "box.mcrl2", "-o", "parts.aut", "--picture", "parts.svg"]);
    let number = |field: &str| result[field].as_u64().unwrap_or_else(|| panic!("{field}: {result}"));
    assert!(number("peak_states") <= 64, "{result}");
    assert_eq!(number("minimised_states"), 8, "{result}");
    let parts = result["parts"].as_array().expect("parts");
    let all: usize = parts.iter().map(|part| part["parameters"].as_array().expect("names").len()).sum();
    let shared: usize = parts.iter().map(|part| part["shared"].as_array().expect("names").len()).sum();
    assert!(parts.len() > 1 && all - shared <= 9 && all >= 9, "{result}");
    for part in parts {
        assert!(part["states"].as_u64() >= part["minimised_states"].as_u64() && part["transitions"].is_u64(), "{part}");
    }
    let compositions = result["compositions"].as_array().expect("compositions");
    assert_eq!(compositions.len(), parts.len() - 1);
    assert_eq!(compositions[compositions.len() - 1]["states"], result["states"]);
    let written = folder.read("parts.aut");
    assert!(written.starts_with(&format!("des (0,{},{})", number("transitions"), number("states"))), "{written}");
    assert!(folder.read("parts.svg").starts_with("<svg") || folder.read("parts.svg").starts_with("<?xml"));
    let (code, out, err) = folder.run(&["lts", "compare", "parts.aut", "box.mcrl2"]);
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, err) = folder.run(&["mcrl2", "decompose", "box.mcrl2", "--why"]);
    assert_eq!(code, 0, "{err}");
    for shown in ["part", "minimised", "peak", "summands of several", "together", "tried", "chosen: "] {
        assert!(out.contains(shown), "{shown}: {out}");
    }
}

#[test]
fn parts_can_be_named() {
    let folder = Folder::new(&[("counters.mcrl2", COUNTERS)]);
    let parts = |partition: &str| folder.result(&["mcrl2", "decompose", "counters.mcrl2", "--partition", partition]);
    let result = parts("x / y, z");
    assert_eq!(result["parts"][0]["parameters"], serde_json::json!(["x"]), "{result}");
    assert_eq!((&result["states"], &result["minimised_states"]), (&100.into(), &100.into()), "{result}");
    let result = parts("x, z / *, z");
    assert_eq!(result["parts"][1]["shared"], serde_json::json!(["z"]), "{result}");
    assert_eq!(result["states"], 100, "{result}");
    for (partition, why) in [
        ("x / w, *", "has no parameter `w`"),
        ("x / y", "has z; `*` stands for all that are not named"),
        ("x, y, z", "has one part"),
        ("x / * / *", "more than one `*`"),
        ("x, y, z / *", "no parameter is left for the `*`"),
        ("x / / *", "empty name"),
    ] {
        let (code, out, err) = folder.run(&["mcrl2", "decompose", "counters.mcrl2", "--partition", partition]);
        assert!(code == 2 && out.is_empty() && err.contains(why), "{partition}: {out}{err}");
        let (code, out, err) = folder.run(&["check", "counters.mcrl2", &format!("--decompose={partition}")]);
        assert!(code == 2 && (out.clone() + &err).contains(why), "{partition}: {out}{err}");
    }
}

#[test]
fn two_parts_are_written_as_specifications() {
    let folder = Folder::new(&[("counters.mcrl2", COUNTERS)]);
    let decompose = ["mcrl2", "decompose", "counters.mcrl2", "--write-parts", "parts", "--partition"];
    let (code, out, err) = folder.run(&[&decompose[..], &["x / *"]].concat());
    assert!(code == 0 && out.contains("composition.mcrl2"), "{out}{err}");
    assert!(folder.read("parts/part1.mcrl2").contains("proc V(x: Nat)"));
    assert!(folder.read("parts/part2.mcrl2").contains("proc W(y: Nat, z: Nat)"));
    let (code, out, err) = folder.run(&["lts", "compare", "counters.mcrl2", "parts/composition.mcrl2"]);
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, err) = folder.run(&[&decompose[..], &["x / y / z"]].concat());
    assert!(code == 2 && out.is_empty() && err.contains("--write-parts writes two parts"), "{out}{err}");
}

#[test]
fn what_is_not_worth_it_is_not_taken_apart() {
    let folder = Folder::new(&[(
        "one.mcrl2",
        "act a; proc P(n: Nat) = (n < 9) -> a . P(n + 1) + (n == 9) -> a . P(0); init P(0);\n",
    )]);
    let (code, out, err) = folder.run(&["mcrl2", "decompose", "one.mcrl2"]);
    assert!(code == 2 && out.is_empty(), "{out}{err}");
    assert!(err.contains("not decomposed: the process has fewer than two parameters"), "{err}");
    let (code, out, err) = folder.run(&["check", "one.mcrl2", "--decompose"]);
    assert!(code == 0 && out.contains("checked without decomposition: "), "{out}{err}");
    let (code, out, err) = folder.run(&["lts", "generate", "one.mcrl2", "--decompose", "-o", "one.aut"]);
    assert!(code == 0 && out.contains("not decomposed: "), "{out}{err}");
    assert!(folder.read("one.aut").starts_with("des (0,10,10)"));
}

#[test]
fn a_counterexample_is_a_run_of_the_specification() {
    let alarm = "\n + (h0 && h1 && h2 && s01 && s12 && s20) -> alarm . Box()";
    let folder = Folder::new(&[("box.mcrl2", &chat_box(alarm)), ("counters.mcrl2", COUNTERS)]);
    let (code, out, err) = folder.run(&["check", "box.mcrl2", "--never", "alarm", "--decompose", "--explain", "--why"]);
    assert_eq!(code, 1, "{out}{err}");
    // Three join, three messages are sent, and the alarm has these values before it.
    for shown in ["join(0)", "join(1)", "join(2)", "alarm", "h0 = true", "s01 = true", "s12 = true"] {
        assert!(out.contains(shown), "{shown}: {out}");
    }
    assert!(out.contains("decomposition into ") && out.contains("need not be shortest"), "{out}");
    let failed = folder.result(&["check", "box.mcrl2", "--never", "alarm", "--decompose", "--only", "2"]);
    assert_eq!(failed["verdict"], "fails", "{failed}");
    let steps = failed["witness"]["runs"][0]["steps"].as_array().unwrap_or_else(|| panic!("{failed}"));
    let (last, before) = (steps.last().expect("a step"), &steps[steps.len() - 2]);
    let box_before = before["states"][0].as_str().expect("a text");
    assert_eq!(last["event"], "alarm", "{last}");
    for value in ["h0 = true", "h1 = true", "h2 = true", "s01 = true", "s12 = true", "s20 = true"] {
        assert!(box_before.contains(value), "{value}: {before}");
    }
    for partition in ["--decompose", "--decompose=x / *", "--decompose=x / y / z", "--decompose=x,z / y,z"] {
        let (code, out, err) = folder.run(&["check", "counters.mcrl2", partition, "--explain"]);
        assert_eq!(code, 1, "{out}{err}");
        assert!(out.contains("x = 4, y = 4, z = 3"), "{partition}: {out}");
        let whole = folder.result(&["check", "counters.mcrl2"]);
        let parts = folder.result(&["check", "counters.mcrl2", partition]);
        assert_eq!(whole["verdict"], parts["verdict"]);
    }
}

#[test]
fn verdicts_are_those_of_the_specification() {
    let alarm = "\n + (h0 && !h0) -> alarm . Box()";
    let folder = Folder::new(&[("box.mcrl2", &chat_box(alarm))]);
    for engine in [&[][..], &["--engine=symbolic"], &["--store=hash-compact"]] {
        let (code, out, err) =
            folder.run(&[&["check", "box.mcrl2", "--decompose", "--never", "alarm"], engine].concat());
        let expected = if engine == ["--store=hash-compact"] { 3 } else { 0 };
        assert_eq!(code, expected, "{engine:?}: {out}{err}");
    }
}

#[test]
fn systems_are_generated_and_compared_in_parts() {
    let folder = Folder::new(&[("box.mcrl2", &chat_box("")), ("counters.mcrl2", COUNTERS)]);
    let (code, out, err) = folder.run(&["lts", "generate", "box.mcrl2", "--decompose", "-o", "parts.aut"]);
    assert!(code == 0 && out.contains("decomposition into "), "{out}{err}");
    for equivalence in ["strong", "branching", "dpbranching", "weak", "trace", "weaktrace"] {
        for view in [&[][..], &["--visible=join"], &["--rename=join=go", "--visible=go"]] {
            let arguments = [&["lts", "compare", "box.mcrl2", "parts.aut", "--decompose", "-e", equivalence], view];
            let (code, out, err) = folder.run(&arguments.concat());
            assert_eq!(code, 0, "{equivalence} {view:?}: {out}{err}");
            let arguments =
                [&["lts", "compare", "box.mcrl2", "counters.mcrl2", "--decompose", "-e", equivalence], view];
            if view.is_empty() {
                let (code, out, err) = folder.run(&arguments.concat());
                assert!(code == 1 && out.contains("decomposition into "), "{equivalence}: {out}{err}");
            }
        }
    }
}

#[test]
fn refinement_in_parts_is_refinement_of_the_whole() {
    let worse = COUNTERS.replace("z < 3) -> c", "z < 3) -> a");
    let folder = Folder::new(&[("good.mcrl2", COUNTERS), ("worse.mcrl2", &worse), ("x.aut", "des (0,1,2)\n(0,a,1)\n")]);
    let mut verdicts = [0, 0];
    for model in ["trace", "failures", "failures-divergences", "simulation", "ready-simulation"] {
        for (specification, implementation) in [("good.mcrl2", "good.mcrl2"), ("good.mcrl2", "worse.mcrl2")] {
            for visible in ["--visible=a,b", "--visible=b"] {
                let refine = ["lts", "refine", specification, implementation, "-m", model, visible];
                let (whole, out, err) = folder.run(&refine);
                assert!(whole < 2, "{out}{err}");
                verdicts[whole as usize] += 1;
                let (code, out, err) = folder.run(&[&refine[..], &["--decompose=x / *"]].concat());
                assert!(code == whole && out.contains("decomposition into 2 parts"), "{refine:?}: {out}{err}");
            }
        }
    }
    assert!(verdicts.iter().all(|&count| count > 0), "{verdicts:?}");
    let (code, _, err) = folder.run(&["lts", "refine", "x.aut", "x.aut", "--decompose"]);
    assert!(code == 2 && err.contains("applies to mCRL2 specifications only"), "{err}");
}

#[test]
fn parts_that_exchange_functions_are_read_back() {
    let text = "act a, b: Bool;\nproc P(f: Bool -> Bool, i: Bool) = i -> a(f(i)) . P(f = f[i -> !f(i)], i = !i)\n\
        + (!i) -> b(f(true) == f(false)) . P(i = true);\ninit P(lambda n: Bool. true, true);\n";
    let folder = Folder::new(&[("f.mcrl2", text)]);
    let linear = folder.run(&["mcrl2", "linear", "f.mcrl2"]).1;
    assert!(linear.contains("f: Bool -> Bool"), "{linear}");
    let decompose = ["mcrl2", "decompose", "f.mcrl2", "--partition", "f / i", "--write-parts", "parts"];
    let (code, out, err) = folder.run(&decompose);
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, err) = folder.run(&["lts", "compare", "f.mcrl2", "parts/composition.mcrl2"]);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn messages_help_where_nothing_can_be_taken_apart() {
    let none = "act a;\nproc P = a . P;\ninit P;\n";
    let folder = Folder::new(&[("none.mcrl2", none), ("box.mcrl2", &chat_box(" + h0 -> alarm . Box()"))]);
    let (code, _, err) = folder.run(&["mcrl2", "decompose", "none.mcrl2"]);
    assert!(code == 2 && err.contains("fewer than two parameters") && !err.contains("--partition"), "{err}");
    let (code, _, err) = folder.run(&["check", "none.mcrl2", "--decompose=x / y"]);
    assert!(code == 2 && err.contains("no parameter `x`; it has no parameters"), "{err}");
    let (code, _, err) = folder.run(&["mcrl2", "decompose", "box.mcrl2", "--picture", "-"]);
    assert!(code == 2 && err.contains("name a file"), "{err}");
    // Only the answer that has a counterexample says that it need not be shortest.
    let (_, out, err) = folder.run(&["check", "box.mcrl2", "--decompose", "--never", "alarm"]);
    assert_eq!(out.matches("need not be shortest").count(), 1, "{out}{err}");
}

#[test]
fn other_languages_are_refused_with_the_reason() {
    let folder = Folder::new(&[
        ("s.csp", "channel a\nP = a -> P\nassert P :[deadlock free]\n"),
        ("m.pml", "active proctype P() { skip }\n"),
        ("x.aut", "des (0,1,2)\n(0,a,1)\n"),
    ]);
    for (file, why) in [("s.csp", "network of components already"), ("m.pml", "look at states")] {
        let (code, out, err) = folder.run(&["check", file, "--decompose"]);
        assert!(code == 2 && out.is_empty() && err.contains(why), "{out}{err}");
        let process = if file == "s.csp" { &["--process", "P"][..] } else { &[] };
        let generate = ["lts", "generate", file, "--decompose", "-o", "y.aut"];
        let (code, out, err) = folder.run(&[&generate[..], process].concat());
        assert!(code == 2 && out.is_empty() && err.contains(why), "{out}{err}");
        let (code, _, err) = folder.run(&["mcrl2", "decompose", file]);
        assert!(code == 2 && err.contains(why), "{err}");
    }
    let (code, out, err) = folder.run(&["lts", "compare", "x.aut", "x.aut", "--decompose"]);
    assert!(code == 2 && out.is_empty() && err.contains("mCRL2 specifications only"), "{out}{err}");
}

#[test]
fn formulas_are_answered_in_parts_and_explained_in_the_specification() {
    let folder = Folder::new(&[("counters.mcrl2", COUNTERS), ("box.mcrl2", &chat_box(""))]);
    let check =
        |file: &str, more: &[&str]| folder.run(&[&["check", file, "--decompose", "--explain", "--why"], more].concat());
    let (code, out, err) = check("counters.mcrl2", &["--property", "deadlock_free"]);
    assert!(code == 1 && out.contains("x = 4, y = 4, z = 3"), "{out}{err}");
    assert!(out.contains("divergence-preserving branching bisimulation"), "{out}");
    let (code, out, err) = check("box.mcrl2", &["--formula", "mu X. [!leave(1)]X && <true>true"]);
    assert!(code == 1 && out.contains("h0 = "), "{out}{err}");
    let (code, out, err) = check("box.mcrl2", &["--formula", "[true* . leave(0)]<join(0)>true"]);
    assert!(code == 0 && out.contains("`<join(0)>true` notices internal steps"), "{out}{err}");
    folder.write("x.aut", "des (0,1,2)\n(0,\"a\",1)\n");
    let (code, out, err) = folder.run(&["check", "x.aut", "--formula", "<true>true", "--decompose"]);
    assert!(code == 2 && out.is_empty() && err.contains("a system in a file already"), "{out}{err}");
}
