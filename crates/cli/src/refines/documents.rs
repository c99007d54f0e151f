//! Answers as JSON, XML and YAML: one object for each script, with FDR's fields first.

use std::fmt::Write;

use serde_json::{Map, Value, json};
use trefoil_session::check::RunReport;

use super::options::Options;

/// One line.
pub(super) fn json(report: &RunReport, options: &Options) -> String {
    framed(value(report, options))
}

/// One line for each assertion, each with all that belongs to the script.
pub(super) fn framed_json(report: &RunReport, options: &Options) -> String {
    let whole = value(report, options);
    let results = match &whole["results"] {
        Value::Array(results) if !results.is_empty() => results.clone(),
        _ => return framed(whole),
    };
    let frame = |result: Value| {
        let mut frame = whole.clone();
        frame["results"] = json!([result]);
        framed(frame)
    };
    results.into_iter().map(frame).collect()
}

/// A line that names its schema.
fn framed(mut value: Value) -> String {
    if let Some(run) = value.as_object_mut() {
        run.insert("schema".into(), json!(crate::schema::VERSION));
        run.insert("trefoil".into(), json!(env!("CARGO_PKG_VERSION")));
        run.insert("command".into(), json!("refines"));
    }
    let text = value.to_string() + "\n";
    crate::schema::check(&text);
    text
}

/// One element.
pub(super) fn xml(report: &RunReport, options: &Options) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    element(&mut text, "fdr", &value(report, options), 0);
    text
}

/// One document.
pub(super) fn yaml(report: &RunReport, options: &Options) -> String {
    let mut text = String::from("---\n");
    block(&mut text, &value(report, options), 0);
    text
}

/// The report, without what was not asked for.
fn value(report: &RunReport, options: &Options) -> Value {
    let mut value = serde_json::to_value(report).expect("reports are plain data");
    if let Some(run) = value.as_object_mut() {
        // All assertions are among the results.
        run.remove("assertions");
    }
    for result in value["results"].as_array_mut().into_iter().flatten() {
        let Some(result) = result.as_object_mut() else { continue };
        if options.brief {
            result.insert("counterexamples".into(), json!([]));
        }
        // The states of every component at every step are only for `--divide`.
        if options.brief || !options.divide {
            result.remove("witness");
        }
        for found in result.get_mut("counterexamples").and_then(Value::as_array_mut).into_iter().flatten() {
            for side in ["implementation_behaviour", "specification_behaviour"] {
                let Some(side) = found.get_mut(side).and_then(Value::as_object_mut) else { continue };
                if !options.reveal_taus {
                    side.remove("revealed_trace");
                }
                if !options.divide {
                    side.remove("children");
                }
            }
        }
    }
    value
}

fn element(text: &mut String, name: &str, value: &Value, indent: usize) {
    let name = if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name.to_string() } else { format!("_{name}") };
    let pad = " ".repeat(indent);
    match value {
        Value::Array(items) => {
            let _ = writeln!(text, "{pad}<{name}>");
            items.iter().for_each(|item| element(text, "item", item, indent + 2));
            let _ = writeln!(text, "{pad}</{name}>");
        }
        Value::Object(fields) => {
            let _ = writeln!(text, "{pad}<{name}>");
            fields.iter().for_each(|(field, value)| element(text, field, value, indent + 2));
            let _ = writeln!(text, "{pad}</{name}>");
        }
        Value::Null => {
            let _ = writeln!(text, "{pad}<{name}/>");
        }
        Value::String(said) => {
            let _ = writeln!(text, "{pad}<{name}>{}</{name}>", escaped(said));
        }
        other => {
            let _ = writeln!(text, "{pad}<{name}>{other}</{name}>");
        }
    }
}

/// Text that may stand in an element; what XML cannot hold is replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

/// Block style; strings are always quoted as in JSON, which is YAML too.
fn block(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(field, value)| entry(text, &key(field), value, indent)),
        Value::Array(items) => items.iter().for_each(|item| listed(text, item, indent)),
        scalar => {
            let _ = writeln!(text, "{}{scalar}", " ".repeat(indent));
        }
    }
}

fn entry(text: &mut String, key: &str, value: &Value, indent: usize) {
    let pad = " ".repeat(indent);
    if simple(value) {
        let _ = writeln!(text, "{pad}{key}: {value}");
    } else {
        let _ = writeln!(text, "{pad}{key}:");
        block(text, value, indent + 2);
    }
}

fn listed(text: &mut String, item: &Value, indent: usize) {
    let pad = " ".repeat(indent);
    match item {
        Value::Object(fields) if !fields.is_empty() => {
            for (at, (field, value)) in fields.iter().enumerate() {
                let mut inner = String::new();
                entry(&mut inner, &key(field), value, indent + 2);
                if at == 0 {
                    let _ = write!(text, "{pad}- {}", inner.trim_start());
                } else {
                    text.push_str(&inner);
                }
            }
        }
        item if simple(item) => {
            let _ = writeln!(text, "{pad}- {item}");
        }
        nested => {
            let _ = writeln!(text, "{pad}-");
            block(text, nested, indent + 2);
        }
    }
}

/// Can it stand on the line of its key?
fn simple(value: &Value) -> bool {
    match value {
        Value::Object(fields) => Map::is_empty(fields),
        Value::Array(items) => items.iter().all(|item| item.is_number() || item.is_boolean() || item.is_null()),
        _ => true,
    }
}

/// A key; a number is quoted, because the keys of the event map are texts.
fn key(field: &str) -> String {
    let plain = field.starts_with(|c: char| c.is_ascii_alphabetic())
        && field.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain { field.to_string() } else { Value::from(field).to_string() }
}

#[cfg(test)]
mod tests {
    use super::super::options::{Parsed, parse};
    use super::*;
    use crate::check::samples;

    fn options(arguments: &[&str]) -> Options {
        match parse(&arguments.iter().map(std::ffi::OsString::from).collect::<Vec<_>>()) {
            Parsed::Run(options) => options,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_script_is_a_line_of_json_with_the_fields_of_fdr() {
        let text = json(&samples::run(), &options(&["x.csp"]));
        assert_eq!(text.lines().count(), 1);
        let run: Value = serde_json::from_str(&text).expect("JSON");
        for field in ["file_name", "errors", "warnings", "print_statement_results", "event_map", "results"] {
            assert!(!run[field].is_null(), "{field}");
        }
        let result = &run["results"][1];
        assert_eq!((&result["result"], &result["is_negated"]), (&json!(0), &json!(false)));
        let found = &result["counterexamples"][0];
        assert_eq!(found["type"], "deadlock");
        assert_eq!(found["implementation_behaviour"]["trace"], json!([3, 1, 4]));
        assert!(found["implementation_behaviour"].get("revealed_trace").is_none());
        assert_eq!(run["event_map"]["3"], "a");
        assert_eq!(run["results"][3]["result"], Value::Null);
        let text = json(&samples::run(), &options(&["x.csp", "--reveal-taus", "--divide"]));
        let run: Value = serde_json::from_str(&text).expect("JSON");
        let shown = &run["results"][1]["counterexamples"][0]["implementation_behaviour"];
        assert_eq!(shown["revealed_trace"], json!([3, 5, 4]));
        assert_eq!(shown["children"][0]["name"], "P");
    }

    #[test]
    fn a_frame_has_one_assertion() {
        let text = framed_json(&samples::run(), &options(&["x.csp"]));
        assert_eq!(text.lines().count(), 6);
        for line in text.lines() {
            let frame: Value = serde_json::from_str(line).expect("JSON");
            assert_eq!(frame["results"].as_array().map(Vec::len), Some(1));
            assert_eq!(frame["event_map"]["1"], "τ");
        }
    }

    #[test]
    fn xml_nests_and_escapes() {
        let text = xml(&samples::run(), &options(&["x.csp"]));
        assert!(text.contains("  <file_name>sample.csp</file_name>\n"), "{text}");
        assert!(text.contains("<_3>a</_3>") && text.contains("<result>0</result>"), "{text}");
        assert_eq!(escaped("a<b & \u{1}"), "a&lt;b &amp; \u{fffd}");
    }

    #[test]
    fn yaml_is_in_blocks() {
        let value = json!({"a": "x: y", "b": [1, 2], "c": [{"d": null, "e": ["f"]}, []], "1": {}});
        let mut text = String::new();
        block(&mut text, &value, 0);
        assert_eq!(text, "a: \"x: y\"\nb: [1,2]\nc:\n  - d: null\n    e:\n      - \"f\"\n  - []\n\"1\": {}\n");
        assert!(yaml(&samples::run(), &options(&["x.csp"])).starts_with("---\nfile_name: \"sample.csp\"\n"));
    }
}
