//! `solve.md` and `stuck.md`: solutions of conditions, and what is reported of normal forms that are no values.

use trefoil_control::Control;
use trefoil_mcrl2::{Data, syntax};
use trefoil_source::{Place, Sources};

/// A specification and the rows of a page over it.
fn page(page: &'static str) -> (Data, Sources, Vec<&'static str>) {
    let (_, rest) = page.split_once("```mcrl2\n").expect("declarations");
    let (declarations, rest) = rest.split_once("\n```").expect("the end of the declarations");
    let (_, rest) = rest.split_once("```text\n").expect("rows");
    let (rows, _) = rest.split_once("\n```").expect("the end of the rows");
    let mut sources = Sources::default();
    let file = sources.add("page", declarations);
    let mut diagnostics = Vec::new();
    let specification = syntax::parse(declarations, file, &mut diagnostics);
    let data = Data::check(&specification, declarations, &mut diagnostics).expect("no mistake");
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    (data, sources, rows.lines().collect())
}

#[test]
fn solutions_are_those_of_mcrl2() {
    let (data, mut sources, rows) = page(include_str!("solve.md"));
    for row in rows {
        let (condition, expected) = row.split_once("  → ").expect("an arrow");
        let file = sources.add("expression", condition);
        let mut found = Vec::new();
        let warnings = data
            .solve(condition, file, Some(1_000_000), &Control::default(), &mut |solution| {
                found.push(solution);
                true
            })
            .unwrap_or_else(|none| panic!("{condition}: {none:?}"));
        found.extend(warnings.iter().map(|warning| warning.message.clone()));
        found.sort_unstable();
        let mut wanted: Vec<&str> = expected.trim().split("  ").filter(|part| !part.is_empty()).collect();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{condition}");
    }
}

#[test]
fn what_is_missing_is_reported_beside_a_stuck_normal_form() {
    let (data, mut sources, rows) = page(include_str!("stuck.md"));
    for row in rows {
        let mut parts = row.split("  → ").map(str::trim);
        let (Some(expression), Some(normal), Some(report)) = (parts.next(), parts.next(), parts.next()) else {
            panic!("{row} has three parts")
        };
        let file = sources.add("expression", expression);
        let value = data.value(expression, file, None, &Control::default()).expect("a normal form");
        assert_eq!(value.text, normal, "{expression}");
        let text = |place: &Place| match place {
            Place::Span(span) => sources.text(*span).to_string(),
            other => panic!("{other:?} is no place in a text"),
        };
        let found: Vec<String> = value
            .warnings
            .iter()
            .map(|warning| {
                let places: Vec<String> = warning.labels.iter().map(|label| text(&label.place)).collect();
                let help = warning.help.clone().unwrap_or_default();
                format!("{} | {} | {help}", warning.message, places.join(" ")).trim().to_string()
            })
            .collect();
        assert_eq!(found, if report.is_empty() { Vec::new() } else { vec![report] }, "{expression}");
    }
}
