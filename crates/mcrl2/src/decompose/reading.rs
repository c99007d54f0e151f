//! Invariants that the user writes: Boolean expressions over the parameters of the linear process.

use trefoil_data::signature::Operator;
use trefoil_data::sorts::BOOL;
use trefoil_data::syntax::Parser;
use trefoil_data::typed::{DataSpecification, TypedId, VariableId};
use trefoil_data::types::Checker;
use trefoil_data::types::codes::UNKNOWN_NAME;
use trefoil_source::{Diagnostic, FileId};

use super::expressions::applied;
use super::invariants::WrittenInvariant;
use crate::linear::LinearProcess;

/// Types an invariant over the parameters of a linear process, whose data gets its expression. The conjuncts stand
/// alone: each can be proved, or refused, by itself.
pub fn read_invariant(
    linear: &mut LinearProcess,
    text: &str,
    file: FileId,
) -> Result<Vec<WrittenInvariant>, Vec<Diagnostic>> {
    let mut parser = Parser::with_names(text, file, linear.data.names.clone());
    let Ok(read) = parser.whole_expression() else { return Err(parser.diagnostics) };
    let mut checker = Checker::over(linear.data.clone(), &parser.tree, text);
    let parameters: Vec<VariableId> = linear.parameters.iter().map(|parameter| parameter.variable).collect();
    checker.rebind(&parameters);
    let Ok(typed) = checker.check(read, BOOL) else {
        let name = |&variable: &VariableId| linear.data.names.text(linear.data.tree.variable(variable).0);
        let names: Vec<&str> = parameters.iter().map(name).collect();
        let help = format!("an invariant is about the parameters of the linear process: {}", names.join(", "));
        let helped = |found: Diagnostic| if found.code == UNKNOWN_NAME { found.help(help.as_str()) } else { found };
        return Err(checker.diagnostics.into_iter().map(helped).collect());
    };
    linear.data = checker.specification;
    let mut conjuncts = Vec::new();
    split(&linear.data, typed, &mut conjuncts);
    Ok(conjuncts.into_iter().map(|condition| WrittenInvariant { condition, text: text.to_string() }).collect())
}

fn split(data: &DataSpecification, id: TypedId, into: &mut Vec<TypedId>) {
    let mut pending = vec![id];
    while let Some(id) = pending.pop() {
        match applied(data, id) {
            Some((Operator::And, &[left, right])) => pending.extend([right, left]),
            _ => into.push(id),
        }
    }
}
