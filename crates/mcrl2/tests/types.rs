//! `types.md`: sorts of expressions, as mCRL2's interpreter gives them.

use trefoil_data::syntax::Parser;
use trefoil_data::typed::DataSpecification;
use trefoil_data::types::Checker;
use trefoil_mcrl2::syntax;
use trefoil_source::FileId;

/// The sort of an expression over a specification, or what is wrong with it.
fn sort_of(text: &str, data: &DataSpecification) -> Result<String, String> {
    let mut parser = Parser::with_names(text, FileId(1), data.names.clone());
    let Ok(expression) = parser.whole_expression() else { return Err(parser.diagnostics[0].message.clone()) };
    let mut checker = Checker::over(data.clone(), &parser.tree, text);
    match checker.infer(expression) {
        Ok(typed) => Ok(checker.specification.sort_text(checker.specification.tree.sort(typed))),
        Err(_) => Err(checker.diagnostics[0].message.clone()),
    }
}

fn block<'p>(page: &'p str, heading: &str, language: &str) -> &'p str {
    let (_, rest) = page.split_once(heading).expect("the heading is there");
    let (_, rest) = rest.split_once(&format!("```{language}\n")).expect("a block follows");
    rest.split_once("\n```").expect("the block ends").0
}

#[test]
fn sorts_are_those_of_mcrl2() {
    let page = include_str!("types.md");
    let declarations = block(page, "# Types", "mcrl2");
    let mut diagnostics = Vec::new();
    let specification = syntax::parse(declarations, FileId(0), &mut diagnostics);
    let mut checker = Checker::new(&specification.tree, declarations, &[]);
    checker.data(specification.data());
    assert!(diagnostics.is_empty() && checker.diagnostics.is_empty());
    let data = checker.specification;
    let (mut accepted, mut rejected) = (0, 0);
    for line in block(page, "## Accepted", "text").lines() {
        let (expression, sort) = line.rsplit_once(" :: ").expect("a sort after two colons");
        assert_eq!(sort_of(expression, &data).as_deref(), Ok(sort), "{expression}");
        accepted += 1;
    }
    for expression in block(page, "## Rejected", "text").lines() {
        assert!(sort_of(expression, &data).is_err(), "{expression} has the sort {:?}", sort_of(expression, &data));
        rejected += 1;
    }
    assert!(accepted >= 200 && rejected >= 25, "{accepted} and {rejected}");
}
