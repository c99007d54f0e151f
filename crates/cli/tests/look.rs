//! `trefoil graph`, `trefoil lts draw`, `trefoil structure` and `trefoil trace`, from outside.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const SCRIPT: &str = "\
transparent sbisim
channel a, b, c : {0..2}
channel left, mid, right : {0, 1}
P(n) = a.n -> P((n + 1) % 3)
CELL(in, out) = in?x -> out!x -> CELL(in, out)
COPY = (CELL(left, mid) [|{|mid|}|] CELL(mid, right)) \\ {|mid|}
MANY = ||| i : {1..1000} @ P(0)
ENDS = a.0 -> SKIP [] b.0 -> STOP [] c.0 -> (let D = a.1 -> D within D \\ {|a|})
CHOICE = a.0 -> a.1 -> STOP [] a.0 -> b.1 -> STOP
SPEC = left?x -> right!x -> SPEC
assert SPEC [T= COPY
assert ENDS :[deadlock free]
assert COPY :[divergence free]
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder with the script in it.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("script.csp"), SCRIPT).expect("a script");
    folder
}

/// Runs the program in a folder with lines on its standard input.
fn trefoil(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    command.current_dir(folder).args(arguments).env("NO_COLOR", "1");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A program that refuses at once does not read, and may be gone already.
    let _ = child.stdin.take().expect("an input").write_all(input.as_bytes());
    child.wait_with_output().expect("the program ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn said(output: &Output) -> String {
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_process_is_drawn_with_what_is_behind_its_internal_steps() {
    let folder = folder();
    let output = trefoil(folder.path(), &["graph", "script.csp", "COPY"], "");
    let svg = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{svg}");
    assert!(svg.contains("COPY: 9 states, 14 transitions"), "{svg}");
    assert!(svg.contains(">τ (mid.0)<") && svg.contains(">left.1<"));
    assert!(svg.contains("CELL(left, mid): "), "titles say what the components do");
    let output =
        trefoil(folder.path(), &["graph", "script.csp", "COPY", "--compress", "dbisim", "--format", "json"], "");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let result = &document["results"][0];
    assert_eq!((result["states"].as_u64(), result["explored"]["states"].as_u64()), (Some(7), Some(9)), "{result}");
    assert!(result["picture"].as_str().is_some_and(|svg| svg.contains("modulo dbisim")));
}

#[test]
fn special_states_are_marked() {
    let folder = folder();
    let svg = text(&trefoil(folder.path(), &["graph", "script.csp", "ENDS", "--no-leaf-compression"], "").stdout);
    for class in ["node deadlock", "node diverging", "node terminated"] {
        // Once in the picture, once in the legend.
        assert_eq!(svg.matches(&format!("class=\"{class}\"")).count(), 2, "{class}: {svg}");
    }
}

#[test]
fn the_output_tells_the_format() {
    let folder = folder();
    let output = trefoil(folder.path(), &["graph", "script.csp", "P(0)", "-o", "p.dot"], "");
    assert!(text(&output.stdout).contains("written to"), "{}", said(&output));
    let dot = std::fs::read_to_string(folder.path().join("p.dot")).expect("a picture");
    assert!(dot.starts_with("digraph \"P(0): 3 states, 3 transitions\""), "{dot}");
    let output = trefoil(folder.path(), &["graph", "script.csp", "P(0)", "--format", "dot"], "");
    assert_eq!(text(&output.stdout), dot);
    let output = trefoil(folder.path(), &["graph", "script.csp", "P(0)", "-o", "no/such/folder.svg"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("S001"));
    // A name that promises another kind of file is refused before any work.
    for arguments in [&["graph", "script.csp", "P(0)", "-o", "p.aut"][..], &["lts", "draw", "no.aut", "-o", "p.json"]] {
        let output = trefoil(folder.path(), arguments, "");
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("a picture is not written as"), "{}", said(&output));
        assert!(!folder.path().join("p.aut").exists() && !folder.path().join("p.json").exists());
    }
    // Pixels, of graphs and of structures; an option that names a kind of picture comes before the name.
    for arguments in
        [&["graph", "script.csp", "COPY", "-o", "p.png"][..], &["structure", "script.csp", "COPY", "-o", "p.PNG"]]
    {
        let output = trefoil(folder.path(), arguments, "");
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let file = folder.path().join(arguments[4]);
        assert!(std::fs::read(file).expect("a picture").starts_with(b"\x89PNG\r\n\x1a\n"));
    }
    // Operands that look alike are one node: none stands alone.
    let output = trefoil(folder.path(), &["structure", "script.csp", "MANY", "-o", "s.dot"], "");
    let tree = std::fs::read_to_string(folder.path().join("s.dot")).expect("a picture");
    assert!(tree.contains("1000 ×") && tree.matches("[label=").count() == 3, "{}{tree}", said(&output));
    let output = trefoil(folder.path(), &["graph", "script.csp", "P(0)", "--format", "svg", "-o", "p.png"], "");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(std::fs::read(folder.path().join("p.png")).expect("a picture").starts_with(b"<svg"));
    let arguments = ["graph", "script.csp", "P(0)", "-o", "p.txt", "--format", "dot"];
    assert_eq!(trefoil(folder.path(), &arguments, "").status.code(), Some(0));
    assert_eq!(std::fs::read_to_string(folder.path().join("p.txt")).expect("a picture"), dot);
    let output = trefoil(folder.path(), &["structure", "script.csp", "P(0)", "--format", "svg"], "");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

#[test]
fn what_cannot_be_drawn_is_refused_with_a_place_or_a_hint() {
    let folder = folder();
    for (arguments, code, words) in [
        (&["graph", "script.csp", "P(0) ||| Q"][..], 2, "expression:1:10"),
        (&["graph", "script.csp", "1 + 1"], 2, "type `Int`"),
        (&["graph", "script.csp"], 2, "S007"),
        (&["graph", "script.csp", "P(1/0)"], 2, "E002"),
        (&["graph", "script.csp", "MANY"], 2, "--compress"),
        (&["graph", "script.csp", "P(0)", "--max", "2"], 2, "S006"),
        (&["graph", "nowhere.csp", "P(0)"], 2, "nowhere.csp"),
        (&["graph", "script.csp", "MANY", "--compress", "sbisim", "--timeout", "300ms"], 3, "timeout"),
        (&["structure", "script.csp", "P("], 2, "expression:1"),
        (&["trace", "script.csp", "left"], 2, "S007"),
    ] {
        let output = trefoil(folder.path(), arguments, "");
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains(words), "{arguments:?}: {}", said(&output));
    }
}

/// A step into a ring of 400 states, in every form that is offered for what is too large.
#[test]
fn large_systems_are_drawn_in_parts_and_as_summaries() {
    let folder = folder();
    let many = "RING(n) = a.(n % 3) -> RING((n + 1) % 400)\nTWO = a.0 -> RING(0)\n";
    std::fs::write(folder.path().join("ring.csp"), format!("{SCRIPT}{many}")).expect("a script");
    let output = trefoil(folder.path(), &["graph", "ring.csp", "TWO"], "");
    assert_eq!(output.status.code(), Some(2));
    for offer in ["--compress branching or components", "--depth 3", "--around STATE", "trefoil trace ring.csp 'TWO'"] {
        assert!(said(&output).contains(offer), "{}", said(&output));
    }
    let data = |arguments: &[&str]| -> Value {
        let all = [&["graph", "ring.csp", "TWO", "--no-leaf-compression", "--format", "json"], arguments].concat();
        let document: Value = serde_json::from_slice(&trefoil(folder.path(), &all, "").stdout).expect("JSON");
        document["results"][0].clone()
    };
    // The first state, and 400 that reach each other.
    let summary = data(&["--compress", "components"]);
    let counts: Vec<u64> = summary["system"]["states"]
        .as_array()
        .expect("states")
        .iter()
        .map(|s| s["count"].as_u64().unwrap_or(0))
        .collect();
    assert_eq!(counts, [1, 400], "{summary}");
    assert_eq!(summary["explored"]["states"], 401);
    let first = data(&["--depth", "2"]);
    assert_eq!((first["states"].as_u64(), first["system"]["edges"].as_array().map(Vec::len)), (Some(3), Some(2)));
    assert_eq!(first["system"]["states"][2]["mark"], "has steps to states that are not drawn");
    let part = data(&["--around", "100", "--depth", "1"]);
    let numbers: Vec<u64> = part["system"]["states"]
        .as_array()
        .expect("states")
        .iter()
        .map(|s| s["number"].as_u64().unwrap_or(0))
        .collect();
    assert_eq!(numbers, [99, 100, 101]);
    assert_eq!(part["system"]["initial"], Value::Null);
    let output = trefoil(folder.path(), &["graph", "ring.csp", "TWO", "--around", "5000"], "");
    assert!(output.status.code() == Some(2) && said(&output).contains("there is no state 5000"), "{}", said(&output));
}

/// Every statement of a Promela model is a step.
#[test]
fn promela_models_are_drawn() {
    let folder = folder();
    std::fs::write(folder.path().join("m.pml"), "byte x; active proctype P() { x = 1; x = 2 }").expect("a model");
    let output = trefoil(folder.path(), &["graph", "m.pml", "--format", "json"], "");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let system = &document["results"][0]["system"];
    let labels: Vec<&str> = system["labels"].as_array().expect("labels").iter().filter_map(Value::as_str).collect();
    assert!(labels.iter().any(|label| label.contains("x = 1")), "{labels:?}");
    assert_eq!(system["states"][0]["mark"], "");
}

#[test]
fn systems_in_files_are_drawn() {
    let folder = folder();
    let aut = "des (0,4,3)\n(0,\"a <&> b\",1)\n(1,tau,1)\n(0,c,2)\n(0,d,1)\n";
    std::fs::write(folder.path().join("small.aut"), aut).expect("a file");
    let svg = text(&trefoil(folder.path(), &["lts", "draw", "small.aut"], "").stdout);
    assert!(svg.contains("small.aut: 3 states, 4 transitions") && svg.contains("a &lt;&amp;&gt; b"), "{svg}");
    assert!(svg.contains("node diverging") && svg.contains("node deadlock"));
    let same = trefoil(folder.path(), &["graph", "small.aut"], "");
    assert_eq!(text(&same.stdout), svg);
    let output =
        trefoil(folder.path(), &["lts", "draw", "small.aut", "--compress", "wbisim", "--direction", "right"], "");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let output = trefoil(folder.path(), &["trace", "small.aut"], "c\nrefusals\n");
    assert!(text(&output.stdout).contains("no step is possible"), "{}", said(&output));
}

#[test]
fn the_structure_of_a_process_has_sizes_before_and_after() {
    let folder = folder();
    let output = trefoil(folder.path(), &["structure", "script.csp", "COPY"], "");
    let tree = text(&output.stdout);
    for line in [
        "COPY: hiding of 2 events",
        "└─ parallel of 2 events",
        "   └─ 2 × CELL(left, mid), CELL(mid, right): component, 3 states, 4 transitions, 4 labels",
        "components             2, 2 distinct machines",
        "upper bound of states  9",
    ] {
        assert!(tree.contains(line), "`{line}` in\n{tree}");
    }
    let output = trefoil(folder.path(), &["structure", "script.csp", "sbisim(COPY ||| COPY)"], "");
    assert!(text(&output.stdout).contains("sbisim(COPY ||| COPY): sbisim, 81 → 45 states"), "{}", said(&output));
    let output =
        trefoil(folder.path(), &["structure", "script.csp", "sbisim(COPY ||| COPY) ||| MANY", "--format", "json"], "");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    let result = &document["results"][0];
    assert_eq!(result["components"], 1001, "{result}");
    assert!(result["parts"].as_array().is_some_and(|parts| parts.len() < 12), "a thousand components are one line");
    let bound = result["state_bound"].as_str().unwrap_or_default();
    assert!(bound.starts_with("about ") && bound.contains(" × 10^"), "{result}");
}

/// A component is named after the process that the script composes, not after one that this process becomes at once.
#[test]
fn a_component_has_the_name_that_the_script_composes() {
    let folder = folder();
    let file = root().join("examples/csp/elevator.csp");
    let output = trefoil(folder.path(), &["structure", &file.to_string_lossy(), "BETTER"], "");
    assert!(text(&output.stdout).contains("├─ POLITE: component, 38 → 28 states"), "{}", said(&output));
}

#[test]
fn steps_are_taken_by_number_and_by_event_and_back() {
    let folder = folder();
    let lines = "left.1\ntau\nright . 1\nback 2\nnext\ngoto 0\npath\ngoto 2\nrefusals\nstate\nback\nrefusals\ngoto 9\nno.such\nback x\n";
    let output = trefoil(folder.path(), &["trace", "script.csp", "COPY"], lines);
    assert_eq!(output.status.code(), Some(0));
    let told = text(&output.stdout);
    for line in [
        "0  COPY\n",
        "   1  left.0  by CELL(left, mid)\n",
        "1  left.1  by CELL(left, mid)\n",
        "2  τ (mid.1)  by CELL(left, mid), CELL(mid, right)\n",
        "3  right.1  by CELL(mid, right)\n",
        "2 steps ahead on the path; `next` takes one\n",
        "trace: <>\n",
        "offered  {left.0, left.1, right.1}\n",
        "refused  {right.0}\n",
        "unstable",
        "after 2 steps\n",
    ] {
        assert!(told.contains(line), "`{line}` in\n{told}");
    }
    let wrong = text(&output.stderr);
    for line in ["the path has 3 steps", "`no.such` is neither an event offered here", "`x` is not a number"] {
        assert!(wrong.contains(line), "`{line}` in\n{wrong}");
    }
}

#[test]
fn an_event_with_several_outcomes_needs_a_number() {
    let folder = folder();
    let output = trefoil(folder.path(), &["trace", "script.csp", "CHOICE"], "a.0\n2\noffers\n1\nquit\n");
    assert!(text(&output.stderr).contains("names several steps; choose one of 1, 2"), "{}", said(&output));
    assert!(text(&output.stdout).contains("no step is possible"), "{}", said(&output));
}

#[test]
fn walks_depend_on_their_seed_alone() {
    let folder = folder();
    let walk = |seed: &str| {
        let arguments = ["trace", "script.csp", "COPY", "--random", "30", "--seed", seed];
        text(&trefoil(folder.path(), &arguments, "").stdout)
    };
    assert_eq!(walk("7"), walk("7"));
    assert_ne!(walk("7"), walk("8"));
    assert!(walk("7").contains("COPY: 30 steps, seed 7"), "{}", walk("7"));
    let output = trefoil(
        folder.path(),
        &["trace", "script.csp", "ENDS", "--random", "5", "--format", "json", "--seed", "2"],
        "",
    );
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(document["results"][0]["run"]["steps"].as_array().is_some_and(|steps| !steps.is_empty()));
    let typed = trefoil(folder.path(), &["trace", "script.csp", "COPY"], "random 30 7\npath\nquit\n");
    let steps = walk("7");
    let path: String = steps.lines().take(30).map(|line| format!("{line}\n")).collect();
    assert!(text(&typed.stdout).contains(&path), "{}", said(&typed));
}

#[test]
fn a_counterexample_can_be_followed_saved_and_followed_again() {
    let folder = folder();
    let lines = "next 2\nnext\nsave run.json\nsave run.trc\nquit\n";
    let output = trefoil(folder.path(), &["trace", "script.csp", "--assertion", "1"], lines);
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(told.starts_with("1  SPEC [T= COPY\n") && told.contains("3 steps ahead on the path"), "{told}");
    assert!(told.contains("3  left.") && told.contains("wrote 3 steps to run.json"), "{told}");
    let actions = std::fs::read_to_string(folder.path().join("run.trc")).expect("written");
    let actions: Vec<&str> = actions.lines().collect();
    assert!(matches!(actions[..], [first, "tau", last] if first.starts_with("left.") && last.starts_with("left.")));
    let again = trefoil(folder.path(), &["trace", "script.csp", "COPY", "--replay", "run.json"], "next 3\n");
    assert!(text(&again.stdout).contains("3  left."), "{}", said(&again));
    let checked = trefoil(folder.path(), &["check", "script.csp", "--format", "json"], "");
    std::fs::write(folder.path().join("check.json"), &checked.stdout).expect("written");
    let lines = "replay check.json 1\nnext 3\nreplay check.json 3\nreplay nothing.json\nreplay\n";
    let replayed = trefoil(folder.path(), &["trace", "script.csp", "COPY"], lines);
    assert!(text(&replayed.stdout).contains("3  left."), "{}", said(&replayed));
    let wrong = text(&replayed.stderr);
    assert!(wrong.contains("the file has no run") && wrong.contains("cannot read `"), "{wrong}");
    assert!(wrong.contains("there is no run to follow"), "{wrong}");
    // A run of another process is followed as far as it goes.
    let other = trefoil(folder.path(), &["trace", "script.csp", "CELL(left, right)", "--replay", "run.json"], "quit\n");
    assert!(text(&other.stdout).contains("after 1 step of the file, τ"), "{}", said(&other));
}

#[test]
fn an_assertion_without_a_run_says_so() {
    let folder = folder();
    let output = trefoil(folder.path(), &["trace", "script.csp", "--assertion", "3"], "quit\n");
    assert!(text(&output.stdout).contains("no run to follow"), "{}", said(&output));
    let output = trefoil(folder.path(), &["trace", "script.csp", "--assertion", "4"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("the script has 3 assertions"), "{}", said(&output));
    let output = trefoil(folder.path(), &["trace", "-", "COPY"], SCRIPT);
    assert_eq!(output.status.code(), Some(2));
}

/// The sessions in the documentation are what the program says, and its pictures what the program draws.
#[test]
fn the_documentation_shows_what_the_program_does() {
    assert!(shown_as_it_is("docs/csp.md", "## Looking at processes") >= 3, "a picture, a structure and a session");
    assert_eq!(shown_as_it_is("docs/symmetry.md", "## What it looks like"), 3, "two pictures and a group");
}

/// Runs the commands of a section of a page; how many there are.
fn shown_as_it_is(page: &str, heading: &str) -> usize {
    let page = std::fs::read_to_string(root().join(page)).expect("a page of the documentation");
    let from = page.find(heading).expect("the section");
    let section = &page[from..from + 1 + page[from + 1..].find("\n## ").unwrap_or(page.len() - from - 1)];
    let mut blocks = 0;
    for block in section.split("```\n").skip(1).step_by(2).filter(|block| block.starts_with("$ trefoil ")) {
        let (command, expected) = block.split_once('\n').expect("a command and what it says");
        let arguments: Vec<String> = words(command.trim_start_matches("$ trefoil "));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if arguments[0] == "graph" {
            let at = arguments.iter().position(|word| *word == "-o").expect("a file") + 1;
            let mut without = arguments.clone();
            without.drain(at - 1..=at);
            let made = trefoil(&root(), &without, "");
            let kept = std::fs::read_to_string(root().join(arguments[at])).expect("the picture");
            assert!(text(&made.stdout) == kept, "{command}: the picture in {} is another one", arguments[at]);
            blocks += 1;
            continue;
        }
        let lines: String =
            expected.lines().filter_map(|line| line.strip_prefix("trace> ")).map(|l| format!("{l}\n")).collect();
        let shown: Vec<&str> = expected
            .lines()
            .filter(|line| !line.starts_with("trace> ") && !line.trim_start().starts_with('…'))
            .collect();
        let output = trefoil(&root(), &arguments, &lines);
        let told = text(&output.stdout);
        for line in shown.iter().filter(|line| !line.contains("time  ") && !line.contains("peak memory")) {
            assert!(told.contains(line), "{command}: `{line}` is not in\n{told}");
        }
        blocks += 1;
    }
    blocks
}

/// The words of a command line, quotes taken away.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().expect("a word").push(character),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
