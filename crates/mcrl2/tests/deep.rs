//! Texts that are nested deeply: they are typed, printed and evaluated in time that hardly grows faster than they do,
//! and without Rust's stack; sorts that are nested deeply are refused.

use trefoil_control::Control;
use trefoil_mcrl2::{Data, NoValue, syntax};
use trefoil_source::{FileId, Sources};

const DECLARATIONS: &str =
    "sort D = struct d(p: D) | e; map k: Bool -> Bool; f: Nat # Nat -> Nat; var n, m: Nat; eqn f(n, m) = n + m;\n";

/// How deep.
const DEPTH: usize = 2_000;

/// A part, nested.
fn nested(before: &str, inside: &str, after: &str) -> String {
    [&before.repeat(DEPTH), inside, &after.repeat(DEPTH)].concat()
}

fn data(text: &str) -> Data {
    let mut diagnostics = Vec::new();
    let specification = syntax::parse(text, FileId(0), &mut diagnostics);
    Data::check(&specification, text, &mut diagnostics).unwrap_or_else(|| panic!("{diagnostics:#?}"))
}

#[test]
fn deeply_nested_expressions_have_values() {
    let data = data(DECLARATIONS);
    let chain = |first: &str, more: &str| [first, &more.repeat(DEPTH)].concat();
    for (text, expected) in [
        (nested("(", "1", ")"), "1".to_string()),
        (nested("!", "true", ""), "true".to_string()),
        (nested("- ", "1", ""), "1".to_string()),
        (nested("succ(", "1", ")"), (DEPTH + 1).to_string()),
        (nested("(1 + ", "1", ")"), (DEPTH + 1).to_string()),
        (chain("1", " + 1"), (DEPTH + 1).to_string()),
        (chain("true", " && true"), "true".to_string()),
        (chain("true", " => true"), "true".to_string()),
        (chain("true", " == true"), "true".to_string()),
        (nested("if(true, ", "1", ", 2)"), "1".to_string()),
        (nested("if(", "true", ", true, false)"), "true".to_string()),
        (nested("f(", "1", ", 2)"), (2 * DEPTH + 1).to_string()),
        (nested("head([", "1", "])"), "1".to_string()),
        (nested("(lambda x: Nat. ", "x", ")(1)"), "1".to_string()),
        (nested("exists b: Bool. ", "b", ""), "true".to_string()),
        (nested("forall b: Bool. ", "b", ""), "false".to_string()),
        (nested("forall b: Bool. ", "true", ""), "true".to_string()),
        (nested("exists n: Nat. n == 1 && ", "true", ""), "true".to_string()),
        (nested("(forall b: Bool. b || ", "true", ")"), "true".to_string()),
        (chain("x", " whr x = 1 end"), "1".to_string()),
        (nested("x whr x = ", "1", " end"), "1".to_string()),
        (chain("(lambda x: Nat. x)", "[0 -> 1]") + "(0)", "1".to_string()),
        (nested("(lambda x: Nat. x)[0 -> ", "1", "](0)"), "1".to_string()),
        (format!("#({}[])", "1 |> ".repeat(DEPTH)), DEPTH.to_string()),
        (format!("#({})", chain("[1]", " ++ [1]")), (DEPTH + 1).to_string()),
        (chain("{1}", " + {1}"), "{1}".to_string()),
        (nested("d(", "e", ")"), nested("d(", "e", ")")),
        (nested("k(", "true", ")"), nested("k(", "true", ")")),
        (nested("p(d(", "e", "))"), "e".to_string()),
        (format!("{} == {}", nested("d(", "e", ")"), nested("d(", "d(e)", ")")), "false".to_string()),
        (format!("{} < {}", nested("d(", "e", ")"), nested("d(", "d(e)", ")")), "false".to_string()),
    ] {
        let file = Sources::default().add("expression", text.as_str());
        let shown: String = text.chars().take(60).collect();
        let value = data.value(&text, file, None, &Control::default());
        let value = value.unwrap_or_else(|none| panic!("{shown}: {none:?}"));
        assert!(value.text == expected, "{shown}: {}", value.text.chars().take(60).collect::<String>());
        // As a part of a specification it is typed and printed, and printing again changes nothing.
        let text = format!("{DECLARATIONS}map q: Bool; eqn q = ({text}) == ({text});\n");
        self::data(&text);
        let printed = |text: &str| {
            let mut diagnostics = Vec::new();
            let specification = syntax::parse(text, FileId(0), &mut diagnostics);
            assert!(diagnostics.is_empty(), "{shown}");
            syntax::print(&specification, text)
        };
        let once = printed(&text);
        assert!(printed(&once) == once, "{shown}");
    }
}

#[test]
fn deeply_nested_sorts_are_refused() {
    let data = data(DECLARATIONS);
    let forms = [("[", "1", "]"), ("[", "", "]"), ("{", "1", "}"), ("{", "1", ":1}"), ("lambda x: Nat. ", "x", "")];
    for (before, inside, after) in forms {
        let text = nested(before, inside, after);
        let file = Sources::default().add("expression", text.as_str());
        let Err(NoValue::Wrong(diagnostics)) = data.value(&text, file, None, &Control::default()) else {
            panic!("{before}: the sort is not refused")
        };
        let codes: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        assert_eq!(codes, ["M120"], "{before}");
        assert!(diagnostics[0].help.is_some());
    }
    // What real specifications nest is far below the limit.
    let text = "[".repeat(20) + "1" + &"]".repeat(20);
    let file = Sources::default().add("expression", text.as_str());
    assert_eq!(data.value(&text, file, None, &Control::default()).expect("a value").text, text);
    for text in [
        format!("sort L = {};", nested("List(", "Nat", ")")),
        format!("sort F = {};", nested("Nat -> ", "Nat", "")),
        format!("sort A0 = Nat; {}", (0..DEPTH).map(|n| format!("A{} = Set(A{n}); ", n + 1)).collect::<String>()),
    ] {
        let mut diagnostics = Vec::new();
        let specification = syntax::parse(&text, FileId(0), &mut diagnostics);
        assert!(Data::check(&specification, &text, &mut diagnostics).is_none());
        assert!(diagnostics.iter().any(|diagnostic| diagnostic.code == "M120"), "{diagnostics:#?}");
    }
}
