//! `semantics.md` says what Promela means, example by example; every number in it is checked, and compared with Spin's
//! where Spin is.

mod support;

use support::{
    Numbers, check_honesty, compile, has_spin, is_compared, numbers_in, numbers_of, pan, roomy, unreached, unreached_in,
};

use trefoil_source::{Diagnostic, Report, Severity, Sources};

struct Case {
    line: usize,
    text: String,
    said: String,
}

/// A block of Promela and the paragraph after it that begins with `→`.
fn cases(page: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut lines = page.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        if line != "```promela" {
            continue;
        }
        let mut text = String::new();
        for (_, line) in lines.by_ref().take_while(|(_, line)| *line != "```") {
            text.push_str(line);
            text.push('\n');
        }
        while lines.peek().is_some_and(|(_, line)| line.is_empty()) {
            lines.next();
        }
        let paragraph: Vec<&str> = lines.by_ref().map(|(_, line)| line).take_while(|line| !line.is_empty()).collect();
        let paragraph = paragraph.join(" ");
        let said = paragraph.strip_prefix("→ ").map(str::to_string);
        let said = said.unwrap_or_else(|| panic!("line {number}: no arrow follows this model"));
        cases.push(Case { line: number + 1, text, said });
    }
    cases
}

#[test]
fn models_mean_what_the_page_says() {
    let compared = has_spin();
    for (number, case) in cases(include_str!("semantics.md")).into_iter().enumerate() {
        let (program, diagnostics, _) = compile("page.pml", &case.text);
        let program = program.unwrap_or_else(|| panic!("line {}: {diagnostics:?}", case.line));
        let numbers: Vec<u64> = case.said.split(' ').filter_map(|word| word.parse().ok()).collect();
        let wanted = Numbers { states: numbers[0], transitions: numbers[1], errors: numbers[2] };
        let model = roomy(program.clone());
        assert_eq!(numbers_of(&model, 1), Some(wanted), "line {}", case.line);
        assert_eq!(check_honesty(program), wanted.states, "line {}", case.line);
        if compared && is_compared(number) {
            let said = pan(&case.text).unwrap_or_default();
            assert_eq!(numbers_in(&said), Some(wanted), "line {}: Spin says otherwise", case.line);
            assert_eq!(unreached(&model), unreached_in(&said), "line {}: Spin reaches others", case.line);
        }
    }
}

#[test]
fn mistakes_are_reported_at_their_place() {
    for case in cases(include_str!("mistakes.md")) {
        let (program, diagnostics, sources) = compile("page.pml", &case.text);
        let places: Vec<String> = diagnostics.iter().map(|diagnostic| place(diagnostic, &sources)).collect();
        assert_eq!(places.join(", "), case.said, "line {}: {diagnostics:?}", case.line);
        let wrong = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        assert_eq!(program.is_none(), wrong, "line {}", case.line);
    }
}

#[test]
fn classic_mistakes_get_one_diagnostic_and_a_hint() {
    for case in cases(include_str!("hints.md")) {
        let (program, diagnostics, sources) = compile("page.pml", &case.text);
        let texts: Vec<String> = diagnostics
            .iter()
            .map(|diagnostic| {
                let hint = diagnostic.help.as_ref().map_or_else(String::new, |help| format!(" — {help}"));
                format!("{}: {}{hint}", place(diagnostic, &sources), diagnostic.message)
            })
            .collect();
        assert_eq!(texts.join("; "), case.said, "line {}", case.line);
        let wrong = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        assert_eq!(program.is_none(), wrong, "line {}", case.line);
    }
}

/// `P010 in line 3`
fn place(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let report = Report::new(diagnostic, sources);
    format!("{} in line {}", report.code, report.places[0].line.unwrap_or(0))
}

/// Spin takes states that differ in hidden variables only for one, and goes on from the first that it meets: here it
/// has 5 states and no error. Nothing is left out here.
#[test]
fn hidden_variables_on_which_runs_disagree_are_state() {
    let chosen = "byte top, x; active proctype P() { if :: top = 1 :: top = 2 fi; x = top; assert(x == 1) }";
    let waiting = "byte top; chan c = [1] of { byte }; active proctype P() { atomic { top = 1; c!1; c!top }; c?top }";
    let asked = "byte top, x; active proctype P() { atomic { top = 1; if :: x == top -> x = 0 fi } }
        active proctype Q() { x = 1; top = 2 }";
    for text in [chosen, waiting, asked] {
        let (hidden, plain) =
            (text.replace("byte top", "hidden byte top"), text.replace("byte top, x", "byte top; byte x"));
        let hidden = hidden.replace("top, x;", "top; byte x;");
        let numbers = |text: &str| {
            let (program, diagnostics, _) = compile("page.pml", text);
            numbers_of(&roomy(program.unwrap_or_else(|| panic!("{diagnostics:?}"))), 1)
        };
        assert_eq!(numbers(&hidden), numbers(&plain), "{hidden}");
    }
}
