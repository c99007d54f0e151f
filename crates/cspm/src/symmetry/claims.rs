//! What `:[symmetric]: …` and `:[symmetry reduce]: …` list: datatypes, perhaps without some of their constants.
//!
//! Each item is the name `T` of a datatype or `diff(T, {| c_1, c_2 |})`. The names may be qualified. What is listed is
//! a claim that all constants of `T`, but for those taken away, are interchangeable; [`Claim::refuted`] says why they
//! are not.

use trefoil_control::counted;
use trefoil_source::{Diagnostic, Place, Span};

use super::codes;
use super::constant_free::{Break, TypeSymmetry};
use crate::rename::{Builtin, DefinitionId, DefinitionKind, Renamed, Resolved};
use crate::syntax::*;

/// One item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The datatype; of an instance of a module, that of the module.
    pub datatype: DefinitionId,
    /// Its name at the top level.
    pub name: String,
    /// The definitions of the removed constants, likewise those of the module.
    pub without: Vec<DefinitionId>,
    /// Where it stands.
    pub span: Span,
}

impl Claim {
    /// The constants that are claimed to be interchangeable, by their places among those of the datatype.
    pub fn constants(&self, of: &TypeSymmetry) -> Vec<usize> {
        let kept = |at: &usize| !self.without.contains(&of.constants[*at].definition);
        (0..of.constants.len()).filter(kept).collect()
    }

    /// The reasons why the text does not show the symmetry; none if it does.
    pub fn refuted<'t>(&self, of: &'t TypeSymmetry) -> Vec<&'t Break> {
        of.against(&self.constants(of))
    }

    /// The reasons as an error.
    pub fn diagnostic(&self, of: &TypeSymmetry) -> Option<Diagnostic> {
        let refuted = self.refuted(of);
        let (first, others) = refuted.split_first()?;
        let message = format!("`{}` is not symmetric: {}", self.name, first.describe(of));
        let mut diagnostic = Diagnostic::error(codes::NOT_SYMMETRIC, message, Place::Span(self.span));
        diagnostic = diagnostic.also(Place::Span(first.span), first.describe(of));
        for other in others.iter().take(MOST_PLACES) {
            diagnostic = diagnostic.also(Place::Span(other.span), other.describe(of));
        }
        if others.len() > MOST_PLACES {
            diagnostic =
                diagnostic.note(format!("{} like these", counted((others.len() - MOST_PLACES) as u64, "more place")));
        }
        let kept: Vec<&str> = of.symmetric().map(|constant| constant.name.as_str()).collect();
        if kept.len() < 2 {
            return Some(diagnostic.help("the text shows no two interchangeable constants of it"));
        }
        let away = of.constants.iter().filter(|constant| !kept.contains(&constant.name.as_str()));
        let away: Vec<&str> = away.map(|constant| constant.name.as_str()).collect();
        Some(diagnostic.help(format!("`diff({}, {{| {} |}})` is symmetric", self.name, away.join(", "))))
    }
}

/// Messages name at most this many places beside the first.
const MOST_PLACES: usize = 5;

/// Reads a list; returns its mistakes if there are any.
pub fn claims(renamed: &Renamed, list: List<ExpressionId>) -> Result<Vec<Claim>, Vec<Diagnostic>> {
    let mut claims: Vec<Claim> = Vec::new();
    let mut wrong = Vec::new();
    for &item in renamed.tree().list(list) {
        match claim(renamed, item) {
            Err(diagnostic) => wrong.push(*diagnostic),
            Ok(claim) => {
                if let Some(before) = claims.iter().find(|before| before.name == claim.name) {
                    let message = format!("`{}` is listed twice", claim.name);
                    let diagnostic = Diagnostic::error(codes::LISTED_TWICE, message, Place::Span(claim.span));
                    wrong.push(diagnostic.also(Place::Span(before.span), "first listed here"));
                } else {
                    claims.push(claim);
                }
            }
        }
    }
    if wrong.is_empty() { Ok(claims) } else { Err(wrong) }
}

fn claim(renamed: &Renamed, item: ExpressionId) -> Result<Claim, Box<Diagnostic>> {
    let tree = renamed.tree();
    let span = tree.expression_span(item);
    let (named, taken) = match *tree.expression(item) {
        Expression::Apply { function, arguments }
            if *tree.expression(function) == Expression::Name(Resolved::Builtin(Builtin::Diff)) =>
        {
            match *tree.list(arguments) {
                [named, taken] => (named, Some(taken)),
                _ => (item, None),
            }
        }
        _ => (item, None),
    };
    let (datatype, name) = datatype(renamed, named)?;
    let mut without = Vec::new();
    if let Some(taken) = taken {
        let listed = match *tree.expression(taken) {
            Expression::Collection {
                kind: CollectionKind::Productions | CollectionKind::Set,
                items: Items::Listed(items),
                statements,
            } if statements.is_empty() => Some(items),
            _ => None,
        };
        let Some(items) = listed else {
            let message = "the constants removed from a datatype must be listed";
            let place = Place::Span(tree.expression_span(taken));
            let diagnostic = Diagnostic::error(codes::NOT_A_CONSTANT, message, place);
            return Err(Box::new(diagnostic.help(format!("write `diff({name}, {{| c_1, c_2 |}})`"))));
        };
        for &item in tree.list(items) {
            without.push(constant(renamed, item, datatype, &name)?);
        }
    }
    Ok(Claim { datatype, name, without, span })
}

/// The definition that is no member, of a name.
fn plain(renamed: &Renamed, id: DefinitionId) -> DefinitionId {
    match renamed.definition(id).kind {
        DefinitionKind::Member { of, .. } => of,
        _ => id,
    }
}

fn datatype(renamed: &Renamed, id: ExpressionId) -> Result<(DefinitionId, String), Box<Diagnostic>> {
    let place = Place::Span(renamed.tree().expression_span(id));
    let help = "write the name `T` of a datatype, or `diff(T, {| c_1, c_2 |})` without some of its constants";
    let Expression::Name(Resolved::Definition(written)) = *renamed.tree().expression(id) else {
        let diagnostic = Diagnostic::error(codes::NOT_A_DATATYPE, "this is not the name of a datatype", place);
        return Err(Box::new(diagnostic.help(help)));
    };
    let definition = plain(renamed, written);
    let what = match renamed.definition(definition).kind {
        DefinitionKind::Datatype => return Ok((definition, renamed.qualified(written))),
        DefinitionKind::Subtype => "a subtype",
        DefinitionKind::Nametype => "a name for a set",
        _ => "not the name of a datatype",
    };
    let message = match what {
        "not the name of a datatype" => format!("`{}` is {what}", renamed.qualified(written)),
        _ => format!("`{}` is {what}, not a datatype", renamed.qualified(written)),
    };
    let declared = Place::Span(renamed.definition(definition).span);
    Err(Box::new(Diagnostic::error(codes::NOT_A_DATATYPE, message, place).also(declared, "declared here").help(help)))
}

fn constant(
    renamed: &Renamed,
    id: ExpressionId,
    datatype: DefinitionId,
    name: &str,
) -> Result<DefinitionId, Box<Diagnostic>> {
    let tree = renamed.tree();
    let Declaration::Datatype { constructors, .. } = *tree.declaration(renamed.definition(datatype).declaration) else {
        unreachable!("datatypes are declared as such");
    };
    let found = match *tree.expression(id) {
        Expression::Name(Resolved::Definition(written)) => {
            let definition = plain(renamed, written);
            tree.list(constructors)
                .iter()
                .find(|constructor| constructor.name.name == Resolved::Definition(definition))
                .map(|constructor| (definition, constructor.fields.is_some()))
        }
        _ => None,
    };
    let message = match found {
        Some((definition, false)) => return Ok(definition),
        Some((_, true)) => {
            "this constructor has fields, so it is not a constant and symmetries do not move it".to_string()
        }
        None => format!("this is not a constant of `{name}`"),
    };
    let constants = tree.list(constructors).iter().filter(|constructor| constructor.fields.is_none());
    let constants: Vec<String> = constants
        .filter_map(|constructor| match constructor.name.name {
            Resolved::Definition(id) => Some(format!("`{}`", renamed.text(renamed.definition(id).name))),
            _ => None,
        })
        .take(MOST_NAMED)
        .collect();
    let diagnostic = Diagnostic::error(codes::NOT_A_CONSTANT, message, Place::Span(tree.expression_span(id)));
    let diagnostic = diagnostic.also(Place::Span(renamed.definition(datatype).span), "the datatype");
    Err(Box::new(diagnostic.help(format!("its constants are {}", constants.join(", ")))))
}

/// Help names at most this many constants.
const MOST_NAMED: usize = 12;
