//! The specifications in `tests/eval`: scripts with expressions and their values beside them.
//!
//! All `cspm` blocks of a section (from one `#` heading to the next) make one script; each row of its tables is an
//! expression and the text of its value, or the code of the error. A value's text, read again, must give the same
//! value.

#[path = "support/evaluation.rs"]
mod evaluation;

use std::path::Path;

use evaluation::{Answer, evaluate};
use trefoil_control::Control;
use trefoil_cspm::eval::{CODES, Evaluator, Options, Reason};
use trefoil_cspm::rename::rename;
use trefoil_cspm::syntax::{MemoryLoader, parse, parse_expression_into};

struct Section {
    title: String,
    script: String,
    rows: Vec<(String, String)>,
}

fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```cspm";
            continue;
        }
        if let Some(title) = line.strip_prefix("# ").filter(|_| !inside) {
            sections.push(Section { title: title.to_string(), script: String::new(), rows: Vec::new() });
            continue;
        }
        let Some(section) = sections.last_mut() else { continue };
        if inside {
            section.script.push_str(line);
            section.script.push('\n');
        } else if let Some(row) = line.strip_prefix("| `").and_then(|row| row.strip_suffix("` |")) {
            let (expression, value) = row.split_once("` | `").unwrap_or_else(|| panic!("not a row: {line}"));
            section.rows.push((expression.replace("\\|", "|"), value.replace("\\|", "|")));
        }
    }
    sections
}

#[test]
fn specifications() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/eval");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        for section in sections(&std::fs::read_to_string(&path).expect("a text")) {
            let expressions: Vec<&str> = section.rows.iter().map(|(expression, _)| expression.as_str()).collect();
            let answers = evaluate(&section.script, &expressions);
            let mut shown = Vec::new();
            for ((expression, wanted), answer) in section.rows.iter().zip(&answers) {
                count += 1;
                let found = match answer {
                    Answer::Value(text) => {
                        shown.push(text.as_str());
                        text.clone()
                    }
                    Answer::Error(code) => format!("error {code}"),
                };
                if found != *wanted {
                    wrong.push(format!("{}: {}: {expression} = {found}, not {wanted}", path.display(), section.title));
                }
            }
            for (text, again) in shown.iter().zip(evaluate(&section.script, &shown)) {
                if again != Answer::Value(text.to_string()) {
                    wrong.push(format!("{}: {text} is read again as {again:?}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 250, "only {count} rows were found");
}

#[test]
fn depth_costs_no_stack() {
    let brackets = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    let calls = format!("{}1{}", "f(".repeat(20_000), ")".repeat(20_000));
    let sums = vec!["1"; 100_000].join(" + ");
    let sequences = format!("length({}{})", "<".repeat(20_000), ">".repeat(20_000));
    let script = "f(x) = x + 1\nlen(<>) = 0\nlen(<x>^xs) = 1 + len(xs)\nbuild(n) = if n == 0 then <> else <n> ^ build(n - 1)\n\
                  sum(n) = if n == 0 then 0 else 1 + sum(n - 1)\n";
    let expressions = [
        brackets.as_str(),
        &calls,
        &sums,
        &sequences,
        "len(<1..200000>)",
        "length(build(200000))",
        "sum(200000)",
        "let go(n, x) = if n == 0 then x else go(n - 1, f(x)) within go(100000, 0)",
    ];
    let wanted = ["1", "20001", "100000", "1", "200000", "200000", "200000", "100000"];
    for (answer, wanted) in evaluate(script, &expressions).iter().zip(wanted) {
        assert_eq!(*answer, Answer::Value(wanted.to_string()));
    }
}

#[test]
fn what_could_not_be_read_is_not_evaluated() {
    let script = "good = 1\nbad = 1 +\nuses = bad + 1\n";
    let mut sources = trefoil_source::Sources::default();
    let mut tree = parse("test.csp", &MemoryLoader::one("test.csp", script), &mut sources).tree;
    let query = |tree: &mut _, sources: &mut trefoil_source::Sources, text: &str| {
        let file = sources.add("expression", text.to_string());
        parse_expression_into(tree, file, sources).0
    };
    let queries = ["good", "uses"].map(|text| query(&mut tree, &mut sources, text));
    let (renamed, _) = rename(tree, &queries);
    let mut evaluator = Evaluator::untyped(&renamed, Control::unlimited(), Options::default());
    let value = evaluator.query(0).expect("a value");
    assert_eq!(evaluator.show(&value), "1");
    let Err(failure) = evaluator.query(1) else { panic!("it is broken") };
    assert!(matches!(failure.reason(), Reason::Mistake(mistake) if mistake.code == "E021"));
}

/// Each code is the expectation of a row of the specifications, or of a test of what rows cannot say.
#[test]
fn every_code_is_expected_somewhere() {
    let mut texts = String::from(include_str!("eval_processes.rs")) + include_str!("eval.rs");
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/eval")).expect("a folder") {
        texts += &std::fs::read_to_string(entry.expect("an entry").path()).expect("a specification");
    }
    for entry in CODES {
        assert!(texts.contains(entry.code), "nothing expects {}: {}", entry.code, entry.meaning);
    }
}
