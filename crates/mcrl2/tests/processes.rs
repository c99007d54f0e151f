//! `processes.md`: what names in processes stand for.

use trefoil_data::typed::{Typed, TypedId};
use trefoil_mcrl2::processes::{self, Process, ProcessRef, ProcessSpecification};
use trefoil_mcrl2::syntax;
use trefoil_source::FileId;

fn checked(text: &str) -> ProcessSpecification {
    let mut diagnostics = Vec::new();
    let read = syntax::parse(text, FileId(0), &mut diagnostics);
    let typed = processes::check(&read, text, &mut diagnostics);
    typed.unwrap_or_else(|| panic!("{text}: {diagnostics:#?}"))
}

fn show_data(specification: &ProcessSpecification, id: TypedId) -> String {
    let data = &specification.data;
    match data.tree.expression(id) {
        Typed::Variable(variable) => specification.name(data.tree.variable(*variable).0).to_string(),
        Typed::Function(function) => specification.name(data.signature.function(*function).name).to_string(),
        Typed::Number(digits) => specification.name(*digits).to_string(),
        Typed::Apply(function, arguments) => {
            let arguments: Vec<String> =
                data.tree.elements(arguments).iter().map(|&argument| show_data(specification, argument)).collect();
            format!("{}({})", show_data(specification, *function), arguments.join(", "))
        }
        Typed::Lambda(_, body) => format!("\\{}", show_data(specification, *body)),
        other => panic!("{other:?} is not on this page"),
    }
}

fn show(specification: &ProcessSpecification, id: ProcessRef) -> String {
    let inside = |id: &ProcessRef| show(specification, *id);
    let name = |name| specification.name(name).to_string();
    let values = |values: &[TypedId]| {
        let values: Vec<String> = values.iter().map(|&value| show_data(specification, value)).collect();
        if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) }
    };
    let bag = |names: &[_]| names.iter().map(|&symbol| name(symbol)).collect::<Vec<_>>().join("|");
    match specification.process(id) {
        Process::MultiAction(actions) if actions.is_empty() => "tau".to_string(),
        Process::MultiAction(actions) => {
            let parts: Vec<String> = actions
                .iter()
                .map(|(action, arguments)| {
                    let declared = specification.action(*action);
                    let sorts: Vec<String> =
                        declared.sorts.iter().map(|&sort| specification.data.sort_text(sort)).collect();
                    let sorts = if sorts.is_empty() { String::new() } else { format!(":{}", sorts.join("#")) };
                    format!("{}{sorts}{}", name(declared.name), values(arguments))
                })
                .collect();
            parts.join("|")
        }
        Process::Call(called, arguments) => format!("#{}{}", called.0, values(arguments)),
        Process::Delta => "delta".to_string(),
        Process::Choice(left, right) => format!("({} + {})", inside(left), inside(right)),
        Process::Sequence(left, right) => format!("({} . {})", inside(left), inside(right)),
        Process::Parallel(left, right) => format!("({} || {})", inside(left), inside(right)),
        Process::Sum(variables, body) => {
            let names: Vec<String> =
                variables.iter().map(|&variable| name(specification.data.tree.variable(variable).0)).collect();
            format!("(sum {}. {})", names.join(", "), inside(body))
        }
        Process::Condition(condition, yes, no) => {
            let no = no.as_ref().map(|no| format!(" <> {}", inside(no))).unwrap_or_default();
            format!("({} -> {}{no})", show_data(specification, *condition), inside(yes))
        }
        Process::Block(names, body) => format!("block({}; {})", bag(names), inside(body)),
        Process::Hide(names, body) => format!("hide({}; {})", bag(names), inside(body)),
        Process::Rename(pairs, body) => {
            let pairs: Vec<String> = pairs.iter().map(|&(from, to)| format!("{}->{}", name(from), name(to))).collect();
            format!("rename({}; {})", pairs.join(","), inside(body))
        }
        Process::Allow(bags, body) => {
            let bags: Vec<String> = bags.iter().map(|names| bag(names)).collect();
            format!("allow({}; {})", bags.join(","), inside(body))
        }
        Process::Comm(rules, body) => {
            let rules: Vec<String> =
                rules.iter().map(|(names, result)| format!("{}->{}", bag(names), name(*result))).collect();
            format!("comm({}; {})", rules.join(","), inside(body))
        }
    }
}

#[test]
fn names_stand_for_what_the_page_says() {
    let page = include_str!("processes.md");
    let block = |language: &str| {
        let (_, rest) = page.split_once(&format!("```{language}\n")).expect("a block");
        rest.split_once("\n```").expect("its end").0
    };
    let specification = checked(block("mcrl2"));
    let mut shown: Vec<String> = specification
        .definitions
        .iter()
        .enumerate()
        .map(|(index, definition)| {
            format!("#{index} {} = {}", specification.name(definition.name), show(&specification, definition.body))
        })
        .collect();
    shown.push(format!("init = {}", show(&specification, specification.init.expect("an initial process"))));
    let expected: Vec<&str> = block("text").lines().collect();
    assert_eq!(shown.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{}", shown.join("\n"));
}

#[test]
fn sections_stand_in_any_order() {
    let specification = checked("init P(d1); proc P(d: D) = a(d) . P(); act a: D; sort D = struct d1 | d2;");
    assert_eq!(specification.declared(), 5);
}

#[test]
fn a_specification_of_data_has_no_initial_process() {
    let specification = checked("act a; proc P = a . P; map f: Nat;");
    let diagnostic = specification.initial("f.mcrl2").expect_err("no process");
    assert_eq!((diagnostic.code, diagnostic.message.as_str()), ("M221", "f.mcrl2 has no initial process"));
    assert!(checked("act a; init a;").initial("f.mcrl2").is_ok());
}

#[test]
fn definitions_without_an_action_are_refused_only_where_they_are_reached() {
    checked("act a; proc P = P; Q = a . Q; init Q;");
}

/// Operators of processes are as deep as the text is long.
#[test]
fn long_processes_are_checked() {
    let long = format!("act a; init {}a;", "a + ".repeat(20_000));
    checked(&long);
    let deep = format!("act a; init {}a{};", "(".repeat(4_000), ")".repeat(4_000));
    checked(&deep);
}

#[test]
fn several_mistakes_are_reported_together() {
    let text =
        "act a: Nat; b: D; proc P(n: Nat) = a(true) . b(1) . c + Q(); R(x: E) = a(1); init P(f) || R(1) || x @ 1;";
    let mut diagnostics = Vec::new();
    let read = syntax::parse(text, FileId(0), &mut diagnostics);
    assert!(processes::check(&read, text, &mut diagnostics).is_none());
    let codes: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, ["M102", "M102", "M109", "M201", "M201", "M101", "M216", "M201"], "{diagnostics:#?}");
}
