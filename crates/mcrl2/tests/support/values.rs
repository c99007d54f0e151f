//! Texts to values.

use trefoil_data::rewrite::{Program, Rewriter, Unfinished, overlaps};
use trefoil_data::syntax::Parser;
use trefoil_data::typed::{DataSpecification, TypedId};
use trefoil_data::types::Checker;
use trefoil_mcrl2::syntax;
use trefoil_source::{FileId, Severity};
use trefoil_terms::{Options, Pool};

/// The data of a specification in which there is no mistake, and the codes of its warnings.
pub(crate) fn data(text: &str) -> (DataSpecification, Vec<&'static str>) {
    let mut diagnostics = Vec::new();
    let specification = syntax::parse(text, FileId(0), &mut diagnostics);
    let mut checker = Checker::new(&specification.tree, text, &[]);
    checker.data(specification.data());
    diagnostics.append(&mut checker.diagnostics);
    diagnostics.extend(overlaps(&checker.specification));
    assert!(diagnostics.iter().all(|found| found.severity == Severity::Warning), "{diagnostics:#?}\n{text}");
    (checker.specification, diagnostics.iter().map(|found| found.code).collect())
}

/// The normal form of an expression, made with collections at every poll where `zealous` is set.
pub(crate) fn value(text: &str, data: &DataSpecification, zealous: bool, steps: u64) -> Result<String, Unfinished> {
    values(&[text], data, zealous, steps).remove(0)
}

/// How many steps an expression takes.
pub(crate) fn steps(text: &str, data: &DataSpecification) -> u64 {
    let mut data = data.clone();
    let typed = typed(text, &mut data);
    let pool = Pool::default();
    let (program, codes) = Program::new(data, &[(typed, Vec::new())], &pool);
    let worker = pool.worker();
    let mut rewriter = Rewriter::new(&program, &worker);
    rewriter.evaluate(codes[0], &[]).expect("a value");
    rewriter.steps()
}

/// An expression over data, to which it adds what it uses.
pub(crate) fn typed(text: &str, data: &mut DataSpecification) -> TypedId {
    let mut parser = Parser::with_names(text, FileId(1), data.names.clone());
    let read = parser.whole_expression().unwrap_or_else(|_| panic!("{text}: {:?}", parser.diagnostics));
    let mut checker = Checker::over(std::mem::take(data), &parser.tree, text);
    let typed = checker.infer(read).unwrap_or_else(|_| panic!("{text}: {:?}", checker.diagnostics));
    *data = checker.specification;
    typed
}

/// The normal forms of expressions, each after at most `steps` steps.
pub(crate) fn values(
    texts: &[&str],
    data: &DataSpecification,
    zealous: bool,
    steps: u64,
) -> Vec<Result<String, Unfinished>> {
    let mut data = data.clone();
    let expressions: Vec<_> = texts.iter().map(|text| (typed(text, &mut data), Vec::new())).collect();
    let pool = Pool::new(Options { zealous, ..Options::default() });
    let (program, codes) = Program::new(data, &expressions, &pool);
    let worker = pool.worker();
    let mut rewriter = Rewriter::new(&program, &worker);
    let evaluate = |code: &_| {
        rewriter.limit_steps(steps);
        let term = rewriter.evaluate(*code, &[])?;
        rewriter.limit_steps(u64::MAX);
        rewriter.find_forms(term)?;
        Ok(program.text(rewriter.section(), term))
    };
    codes.iter().map(evaluate).collect()
}
