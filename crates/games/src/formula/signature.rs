//! Signatures of models: declared in a text, or, for a model that declares nothing, what its labels show.
//!
//! A file with a transition system has labels and no declarations. An action is a name with a number of arguments; the
//! sort of an argument is `Bool`, `Nat` or `Int` where all its values are such, and else the sort of all names that
//! occur as arguments, `Name`, which is finite. An argument with other values (lists, applications, numbers beside
//! names) has no sort here; it gets that of the values that the formula writes, and a label whose values are not of it
//! cannot be read.

use std::collections::{BTreeMap, BTreeSet};

use trefoil_data::sorts::{BOOL, INT, NAT, SortRef};
use trefoil_data::syntax::Parser;
use trefoil_data::types::Checker;
use trefoil_source::{Diagnostic, FileId};
use trefoil_system::{LabelId, Labels};

use super::game::label_parts;
use super::typed::{ActionSignature, Formula, Signature};

impl Signature {
    /// The signature that a text declares, in sections `sort`, `map` and `act`.
    pub fn declared(text: &str) -> Result<Signature, Vec<Diagnostic>> {
        let mut mistakes = Vec::new();
        let text = format!("{text}\nform true;");
        let read = Formula::read(&text, FileId(u32::MAX), &Signature::default(), &mut mistakes);
        read.map(|formula| formula.signature).ok_or(mistakes)
    }

    /// The signature of the labels in a table.
    pub fn of_labels(labels: &Labels) -> Signature {
        let mut actions: BTreeMap<(String, usize), Vec<BTreeSet<String>>> = BTreeMap::new();
        for number in 0..labels.len() as u32 {
            for (name, values) in label_parts(labels, LabelId(number)) {
                let arguments =
                    actions.entry((name, values.len())).or_insert_with(|| vec![BTreeSet::new(); values.len()]);
                arguments.iter_mut().zip(values).for_each(|(known, value)| {
                    known.insert(value);
                });
            }
        }
        let named = |values: &BTreeSet<String>| values.iter().all(|value| is_name(value));
        let names: BTreeSet<&String> =
            actions.values().flatten().filter(|values| kind(values).is_none() && named(values)).flatten().collect();
        let mut text = String::new();
        if !names.is_empty() {
            let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
            text = format!("sort Name = struct {};", names.join(" | "));
        }
        let mut parser = Parser::new(&text, FileId(u32::MAX));
        let sections: Vec<_> = std::iter::from_fn(|| parser.data_section()).collect();
        for (name, _) in actions.keys() {
            parser.tree.names.intern(name);
        }
        let mut checker = Checker::new(&parser.tree, &text, &[]);
        checker.data(sections.iter());
        let data = checker.specification;
        let name_sort: Option<SortRef> = data.sort_names.first().map(|&(_, sort)| sort);
        let (mut sorted, mut unsorted) = (Vec::new(), Vec::new());
        for ((name, _), arguments) in &actions {
            let sort = |values: &BTreeSet<String>| kind(values).or_else(|| name_sort.filter(|_| named(values)));
            let sorts: Option<Vec<SortRef>> = arguments.iter().map(sort).collect();
            match (data.names.find(name), sorts) {
                (Some(name), Some(sorts)) => sorted.push(ActionSignature { name, sorts }),
                _ => unsorted.push(name.clone()),
            }
        }
        Signature { actions: sorted, data, open: true, unsorted, ..Signature::default() }
    }
}

/// A name of a model as formulas write it: a word of their language, and `tau` and `tick`, are followed by `_`, and
/// what stands between the parts of a compound name becomes `_`.
pub fn formula_name(name: &str) -> String {
    let name: String = name.replace("::", "_").replace(['.', '[', ':', '-'], "_").replace(']', "");
    let taken = ["tau", "tick", "true", "false"].contains(&name.as_str()) || BUILT_IN_SORTS.contains(&name.as_str());
    if taken || !is_name(&name) { format!("{name}_") } else { name }
}

const BUILT_IN_SORTS: &[&str] = &["Bool", "Pos", "Nat", "Int", "Real", "List", "Set", "Bag", "FSet", "FBag"];

/// The built-in sort of some values.
fn kind(values: &BTreeSet<String>) -> Option<SortRef> {
    let digits = |value: &str| !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    if values.iter().all(|value| value == "true" || value == "false") {
        return Some(BOOL);
    }
    if values.iter().all(|value| digits(value)) {
        return Some(NAT);
    }
    values.iter().all(|value| digits(value.strip_prefix('-').unwrap_or(value))).then_some(INT)
}

/// Whether a text can be a name.
pub(super) fn is_name(value: &str) -> bool {
    let mut parser = Parser::new(value, FileId(u32::MAX));
    let read = parser.name();
    read.is_ok() && parser.peek() == trefoil_data::syntax::token::Kind::End && parser.diagnostics.is_empty()
}
