//! `trefoil check --report` and `--chart`, from outside; what a browser makes of them is in `browser.rs`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn trefoil(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    command.current_dir(folder).args(arguments).env("NO_COLOR", "1").output().expect("the program starts")
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The data inside a page.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").expect("data");
    let (data, _) = rest.split_once("</script>").expect("the end of the data");
    serde_json::from_str(data).expect("JSON")
}

/// A report of this check, with its data.
fn report(arguments: &[&str]) -> (String, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let output = trefoil(folder.path(), &[&["check"], arguments, &["--report", "out.html"]].concat());
    assert!(said(&output).contains("wrote the report to out.html"), "{}", said(&output));
    let page = std::fs::read_to_string(folder.path().join("out.html")).expect("a page");
    let data = data(&page);
    (page, data)
}

#[test]
fn a_report_has_the_answers_the_texts_and_the_charts() {
    for (name, line) in [
        ("csp/philosophers.csp", "PHIL(i, first, second) ="),
        ("promela/peterson_wrong.pml", "assert(inside == 1)"),
        ("mcrl2/philosophers.mcrl2", "take"),
    ] {
        let file = examples().join(name).to_string_lossy().into_owned();
        let (page, data) = report(&[&file]);
        assert_eq!(data["document"]["schema"], 1);
        let answer = &data["document"]["runs"][0]["results"][0];
        assert_eq!(answer["verdict"], "fails", "{name}");
        assert!(data["sentences"][0][0].as_str().is_some_and(|sentence| !sentence.is_empty()), "{name}");
        assert!(data["charts"][0][0].as_str().is_some_and(|chart| chart.starts_with("<svg ")), "{name}");
        let steps = answer["witness"]["runs"][0]["steps"].as_array().expect("steps");
        for step in steps {
            let place = &step["place"];
            let text = data["sources"][place["file"].as_str().expect("a file")].as_str().expect("its text");
            let number = place["line"].as_u64().expect("a line") as usize;
            assert!(text.lines().nth(number - 1).is_some(), "{name}: {step}");
            assert!(place["column"].as_u64().is_some_and(|column| column > 0), "{name}: {step}");
        }
        assert!(page.contains(&line.replace('"', "\\\"").replace('<', "\\u003c")), "{name}: the text of the model");
    }
}

/// What stands at the places of steps is what they do.
#[test]
fn places_are_where_the_event_stands() {
    let file = examples().join("csp/needham_schroeder.csp").to_string_lossy().into_owned();
    let (_, data) = report(&[&file, "--only", "1"]);
    let text = data["sources"].as_object().and_then(|all| all.values().next()?.as_str()).expect("the script");
    let witness = &data["document"]["runs"][0]["results"][0]["witness"];
    for step in witness["runs"][0]["steps"].as_array().expect("steps") {
        let event = step["event"].as_str().expect("an event").trim_start_matches("τ (");
        let channel = event.split('.').next().expect("a channel");
        let (line, column) = (step["place"]["line"].as_u64().expect("a line"), step["place"]["column"].as_u64());
        let line = text.lines().nth(line as usize - 1).expect("the line");
        let there: String = line.chars().skip(column.expect("a column") as usize - 1).collect();
        assert!(there.starts_with(channel), "{event}: {there}");
    }
}

/// The evidence about the only assertion of a script.
fn witness(script: &str) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("script.csp");
    std::fs::write(&file, script).expect("a file");
    let (_, data) = report(&[&file.to_string_lossy()]);
    data["document"]["runs"][0]["results"][0]["witness"].clone()
}

/// What stands in a script where each step is taken, as far as the next blank.
fn texts_at_places(script: &str) -> Vec<String> {
    let told = witness(script);
    let steps = told["runs"][0]["steps"].as_array().expect("steps").iter();
    let text = |step: &Value| {
        let (line, column) = (&step["place"]["line"], &step["place"]["column"]);
        let line = script.lines().nth(line.as_u64().expect("a line") as usize - 1).expect("the line");
        let rest: String = line.chars().skip(column.as_u64().expect("a column") as usize - 1).collect();
        rest.split_whitespace().next().unwrap_or_default().to_string()
    };
    steps.map(text).collect()
}

/// A choice that the process makes by itself is taken at its operator; of two prefixes of one channel the one that
/// offers the event is shown.
#[test]
fn places_tell_choices_and_prefixes_of_one_channel_apart() {
    let script = "channel a, b : {0..1}\nP = a.0 -> (b.0 -> STOP |~| P)\nassert P :[deadlock free]\n";
    assert_eq!(texts_at_places(script), ["a.0", "|~|", "b.0"]);
    let script = "channel b : {0..1}\nP = b.0 -> P [] b.1 -> STOP\nassert P :[deadlock free]\n";
    assert_eq!(texts_at_places(script), ["b.1"]);
}

/// Operators above several components, but not above all of them: by the names of the script, or what they are.
#[test]
fn components_stand_below_the_operators_of_the_process() {
    let told = witness(
        "channel a, b : {0..3}\nP(i) = a.i -> b.i -> P(i)\nQ(i) = b.i -> STOP\n\
         PAIR = P(2) [|{|b|}|] P(3)\n\
         S = (P(0) ||| P(1) ||| PAIR) [|{|b|}|] (||| i : {0..3} @ Q(i))\nassert S :[deadlock free]\n",
    );
    let operators = told["operators"].as_array().expect("operators").iter();
    let rows: Vec<(&str, u64, u64, u64)> = operators
        .map(|row| {
            let number = |field: &str| row[field].as_u64().expect("a number");
            (row["name"].as_str().expect("a name"), number("depth"), number("first"), number("count"))
        })
        .collect();
    let names: Vec<&str> = told["components"].as_array().expect("names").iter().filter_map(Value::as_str).collect();
    assert_eq!(names, ["P(0)", "P(1)", "P(2)", "P(3)", "Q(0)", "Q(1)", "Q(2)", "Q(3)"]);
    // A chain of one operator is one row.
    let expected = [("interleaving", 0, 0, 4), ("PAIR", 1, 2, 2), ("interleaving", 0, 4, 4)];
    assert_eq!(rows, expected);
}

#[test]
fn symmetries_and_growth_are_in_the_report() {
    let file = examples().join("csp/philosophers.csp").to_string_lossy().into_owned();
    let (_, data) = report(&[&file, "--only", "1"]);
    let group = &data["symmetry"][0][0]["group"];
    assert_eq!((&group["order"], group["generators"].as_array().map(Vec::len)), (&"4".into(), Some(1)));
    let growth = data["document"]["runs"][0]["results"][0]["growth"].as_array().expect("levels").clone();
    assert!(growth.len() > 3 && growth.is_sorted_by_key(|level| level[1].as_u64()), "{growth:?}");
    let file = examples().join("promela/email.pml").to_string_lossy().into_owned();
    let (_, data) = report(&[&file, "--only", "1"]);
    assert_eq!(data["symmetry"][0][0]["order"], "6");
}

/// A label may contain anything; it ends no element and begins none.
#[test]
fn labels_never_become_markup() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("m.aut");
    std::fs::write(&file, "des (0,1,2)\n(0,\"</script><script>alert(1)</script>\",1)\n").expect("a file");
    let (page, data) = report(&[&file.to_string_lossy(), "--formula", "[true*]<true>true"]);
    assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (2, 2));
    let step = &data["document"]["runs"][0]["results"][0]["witness"]["runs"][0]["steps"][0];
    assert!(step["event"].as_str().is_some_and(|event| event.contains("<script>alert(1)")), "{step}");
}

#[test]
fn names_that_promise_other_files_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("s.csp"), "channel a\nP = a -> STOP\nassert P :[deadlock free]\n")
        .expect("a file");
    for (option, name, why) in [
        ("--report", "r.pdf", "name the file .html"),
        ("--report", "r", "name the file .html"),
        ("--chart", "c.pdf", "name the file .svg"),
        ("--report", "no/such/folder/r.html", "cannot write"),
    ] {
        let output = trefoil(folder.path(), &["check", "s.csp", option, name]);
        assert!(output.status.code() == Some(2) && said(&output).contains(why), "{}", said(&output));
        assert!(!folder.path().join(name).exists());
    }
    let output = trefoil(folder.path(), &["check", "s.csp", "--chart", "c.png"]);
    assert!(said(&output).contains("wrote the chart of assertion 1 to c.png"), "{}", said(&output));
    assert!(std::fs::read(folder.path().join("c.png")).expect("a chart").starts_with(b"\x89PNG"));
    let output = trefoil(folder.path(), &["graph", "s.csp", "P", "-o", "p.pdf"]);
    assert!(output.status.code() == Some(2) && said(&output).contains("write .svg"), "{}", said(&output));
    // The report changes nothing on standard output.
    let output = trefoil(folder.path(), &["check", "s.csp", "--report", "r.html", "--format", "json"]);
    assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok(), "{}", said(&output));
    assert!(folder.path().join("r.html").exists());
}

/// A specification whose symmetries are not searched says so.
#[test]
fn a_report_says_why_there_are_no_symmetries() {
    let (_, data) = report(&[&examples().join("mcrl2/philosophers.mcrl2").to_string_lossy(), "--only", "1"]);
    let told = &data["symmetry"][0][0]["none"];
    assert!(told.as_str().is_some_and(|why| why.contains("one linear process")), "{told}");
}

/// Walks have charts in every language, with a number for each step.
#[test]
fn charts_of_walks_are_drawn_for_every_language() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in
        [&["csp/philosophers.csp", "TABLE(ASYMMETRIC)"][..], &["promela/peterson.pml"], &["mcrl2/philosophers.mcrl2"]]
    {
        let file = examples().join(arguments[0]).to_string_lossy().into_owned();
        let walk = [&["trace", &file], &arguments[1..], &["--random", "7", "--chart", "w.svg"]].concat();
        let output = trefoil(folder.path(), &walk);
        assert!(output.status.success(), "{}", said(&output));
        let chart = std::fs::read_to_string(folder.path().join("w.svg")).expect("a chart");
        assert!(chart.contains(">7</text>") && chart.contains("a walk with seed 1"), "{arguments:?}: {chart}");
    }
}

/// Components that take part in a step have a box each; the numbers are those of the explanation.
#[test]
fn charts_are_drawn_for_every_language() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, boxes) in [("csp/philosophers.csp", 12), ("mcrl2/philosophers.mcrl2", 8)] {
        let file = examples().join(name).to_string_lossy().into_owned();
        let output = trefoil(folder.path(), &["check", &file, "--only", "1", "--chart", "c.svg"]);
        assert!(said(&output).contains("wrote the chart of assertion 1"), "{}", said(&output));
        let chart = std::fs::read_to_string(folder.path().join("c.svg")).expect("a chart");
        // Four sit down alone and four forks are taken by two; without seats, four steps of two.
        assert_eq!(chart.matches("<g class=\"happening\">").count(), boxes, "{name}: {chart}");
    }
    let file = examples().join("csp/alternating_bit.csp").to_string_lossy().into_owned();
    trefoil(folder.path(), &["check", &file, "--only", "4", "--chart", "lasso.svg"]);
    let chart = std::fs::read_to_string(folder.path().join("lasso.svg")).expect("a chart");
    assert_eq!(chart.matches("class=\"cycle\"").count(), 1, "a divergence is drawn as a lasso");
}
