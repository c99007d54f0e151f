//! What is printed reads as what was read, and printing it again changes nothing.

use trefoil_mcrl2::syntax;
use trefoil_source::FileId;

fn printed(text: &str) -> String {
    let mut diagnostics = Vec::new();
    let specification = syntax::parse(text, FileId(0), &mut diagnostics);
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    syntax::print(&specification, text)
}

/// A text without blank space and comments: brackets and every token remain.
fn tokens(text: &str) -> String {
    let without: String = text.lines().map(|line| line.split('%').next().unwrap_or_default()).collect();
    without.split_whitespace().collect()
}

#[test]
fn printing_keeps_tokens_brackets_and_comments() {
    let text = include_str!("specifications/everything.mcrl2");
    let once = printed(text);
    assert_eq!(tokens(text), tokens(&once));
    assert_eq!(once, printed(&once));
    let comments = |text: &str| text.matches('%').count();
    assert_eq!(comments(text), comments(&once));
    assert_eq!(once, include_str!("specifications/everything.printed.mcrl2"));
    assert!(once.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn prefix_operators_are_cut_off_by_their_surroundings() {
    // The same text with the brackets that mCRL2's grammar implies has the same tokens and another tree; what `print`
    // gives shows the grouping by where it breaks, so the trees are compared through a bracketing printer.
    for (text, grouped) in [
        ("A && forall x: S. B || C", "((A && (forall x. B)) || C)"),
        ("forall x: S. A && B", "(forall x. (A && B))"),
        ("!forall x: S. A && B", "((!(forall x. A)) && B)"),
        ("7 mod 2*n", "(7 mod (2 * n))"),
        ("#l.1", "((#l) . 1)"),
        ("!x.0", "((!x) . 0)"),
        ("-x * y", "((-x) * y)"),
        ("a - b - c", "((a - b) - c)"),
        ("a => b => c", "(a => (b => c))"),
        ("1 |> 2 |> l", "(1 |> (2 |> l))"),
        ("l <| 1 <| 2", "((l <| 1) <| 2)"),
        ("a == b == c", "((a == b) == c)"),
        ("forall x: S. a whr y = 1 end", "((forall x. a) whr y = 1 end)"),
        ("a + b whr y = 1 end", "((a + b) whr y = 1 end)"),
    ] {
        assert_eq!(bracketed(text), grouped, "{text}");
    }
}

fn bracketed(text: &str) -> String {
    use trefoil_data::syntax::Parser;
    use trefoil_data::syntax::tree::{Expression, ExpressionId, Tree};
    fn show(tree: &Tree, id: ExpressionId) -> String {
        let name = |symbol| tree.names.text(symbol);
        match tree.expression(id) {
            Expression::Name(symbol) | Expression::Number(symbol) => name(*symbol).to_string(),
            Expression::Prefix(prefix, operand) => format!("({}{})", prefix.text(), show(tree, *operand)),
            Expression::Infix(infix, left, right) => {
                format!("({} {} {})", show(tree, *left), infix.text(), show(tree, *right))
            }
            Expression::Binder(binder, variables, body) => {
                let variable = name(variables[0].names[0].symbol);
                format!("({} {variable}. {})", binder.text(), show(tree, *body))
            }
            Expression::Where(body, definitions) => {
                let (variable, value) = &definitions[0];
                format!("({} whr {} = {} end)", show(tree, *body), name(variable.symbol), show(tree, *value))
            }
            other => panic!("{other:?} is not on this page"),
        }
    }
    let mut parser = Parser::new(text, FileId(0));
    let expression = parser.whole_expression().expect("an expression");
    show(&parser.tree, expression)
}

#[test]
fn an_else_belongs_to_the_nearest_condition() {
    use trefoil_mcrl2::syntax::tree::{Process, ProcessId, Section, Specification};
    fn show(specification: &Specification, id: ProcessId) -> String {
        let name = |symbol| specification.tree.names.text(symbol);
        match specification.process(id) {
            Process::Action(action, _) => name(action.symbol).to_string(),
            Process::Brackets(inside) => show(specification, *inside),
            Process::Infix(infix, left, right) => {
                format!("({} {} {})", show(specification, *left), infix.text(), show(specification, *right))
            }
            Process::Condition(_, yes, None) => format!("[{}]", show(specification, *yes)),
            Process::Condition(_, yes, Some(no)) => {
                format!("[{} <> {}]", show(specification, *yes), show(specification, *no))
            }
            Process::Sum(_, body) => format!("(sum {})", show(specification, *body)),
            other => panic!("{other:?} is not on this page"),
        }
    }
    for (text, grouped) in [
        ("c -> p + q", "([p] + q)"),
        ("c -> p + q <> r", "[(p + q) <> r]"),
        ("c -> d -> p <> q", "[[p <> q]]"),
        ("c -> d -> p <> q <> r", "[[p <> q] <> r]"),
        ("c -> p + d -> q <> r", "([p] + [q <> r])"),
        ("c -> p <> d -> q <> r", "[p <> [q <> r]]"),
        ("a . sum x: D. b . P + c", "((a . (sum (b . P))) + c)"),
        ("l . 0 -> a", "(l . [a])"),
        ("a . c -> p + q", "((a . [p]) + q)"),
        ("c -> sum f: A -> B. p <> q", "[(sum p) <> q]"),
        ("a || b + c", "((a || b) + c)"),
        ("a | b . c", "((a | b) . c)"),
        ("f(x) -> p", "[p]"),
        ("(x == 1) -> p <> q", "[p <> q]"),
    ] {
        let text = format!("init {text};");
        let mut diagnostics = Vec::new();
        let specification = syntax::parse(&text, FileId(0), &mut diagnostics);
        assert!(diagnostics.is_empty(), "{text}: {diagnostics:#?}");
        let Some((Section::Init(body, _), _)) = specification.sections.last() else { panic!("{text} has no process") };
        assert_eq!(show(&specification, *body), grouped, "{text}");
    }
}
