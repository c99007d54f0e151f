//! CSPM scripts for formulas: what their channels and datatypes are in the language of formulas.
//!
//! A channel is an action, and an event `c.1.true` is `c(1, true)`. `Int` is `Nat` where a declaration only allows
//! numbers from 0 on, and else `Int`; a datatype is a structured sort with its constructors, `A.1.true` being
//! `A(1, true)`; sets are `FSet`, sequences are `List`, and a tuple is a structured sort with the constructor `tuple`.
//! What contains characters, maps, functions, events or processes is refused where a formula names it.
//!
//! Names that formulas cannot have are changed ([`formula_name`]); where that makes two names one, neither is known.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use trefoil_check::formula::game::LabelParts;
use trefoil_check::formula::{Signature, formula_name};
use trefoil_control::{Control, count};
use trefoil_cspm::eval::{Evaluator, Reason};
use trefoil_cspm::process::{CompileOptions, Compiler, Keep, Machine};
use trefoil_cspm::types::Typed;
use trefoil_source::{Diagnostic, Place, Sources};
use trefoil_system::{Cut, LabelId, Labels, System, Value};

use crate::check::witness::Words;
use crate::check::{OperatorRow, Step, Wanted, asserted_processes};
use crate::cspm::{Opened, Warnings};
use crate::look::{OpenedProcess, open_process};
use crate::problem::NO_PROCESS;
use crate::{Job, Problem};

/// Candidates for the process that a message names.
const MOST_CANDIDATES: usize = 6;

/// A process of a script.
pub(super) struct ScriptModel {
    process: String,
    pub(super) compiler: RefCell<Compiler>,
    pub(super) machine: Machine,
    pub(super) sources: Sources,
    pub(super) signature: Signature,
    compressed: bool,
}

/// Opens the process that formulas are about.
pub(super) fn open(file: &Path, wanted: &Wanted, job: &Job) -> Result<(ScriptModel, Sources, Warnings), Problem> {
    let compress_leaves = !wanted.no_leaf_compression;
    let Some(process) = &wanted.process else { return Err(no_process(file, job)?) };
    let options = CompileOptions { compress_leaves, keep: Keep::Strong, ..CompileOptions::default() };
    let opened = open_process(file, process, options, job)?;
    let OpenedProcess { process, mut compiler, machine, sources, typed, warnings, .. } = opened;
    let signature = signature(&typed, compiler.evaluator(), job)?;
    let kept = sources.clone();
    let compiler = RefCell::new(compiler);
    Ok((ScriptModel { process, compiler, machine, sources, signature, compressed: compress_leaves }, kept, warnings))
}

/// The diagnostic for a missing process, with candidates.
fn no_process(file: &Path, job: &Job) -> Result<Problem, Problem> {
    let (mut opened, tree) = Opened::parsed(file, job)?;
    let mut candidates = asserted_processes(&tree, &opened.sources);
    let typed = opened.checked(tree, &[], &job.control)?;
    for (id, text) in typed.types() {
        let name = typed.renamed().qualified(*id);
        if text == "Proc" && !candidates.contains(&name) {
            candidates.push(name);
        }
    }
    let place = Place::File(file.display().to_string());
    let mut wrong = Diagnostic::error(NO_PROCESS, "a formula is about a process, and none is named", place);
    let more = candidates.len().saturating_sub(MOST_CANDIDATES);
    candidates.truncate(MOST_CANDIDATES);
    wrong = match candidates.first() {
        None => wrong.help("give --process, such as --process 'P(3) ||| Q'"),
        Some(first) => {
            let all: Vec<String> = candidates.iter().map(|name| format!("`{name}`")).collect();
            let more = if more > 0 { format!(" and {} more", count(more as u64)) } else { String::new() };
            wrong
                .note(format!("processes of this script are {}{more}", all.join(", ")))
                .help(format!("give --process '{first}', or any other process term"))
        }
    };
    Ok(Problem::from(wrong))
}

impl ScriptModel {
    pub(super) fn system(&self) -> Arc<dyn System> {
        self.machine.network.clone()
    }

    /// What every component is in.
    pub(super) fn states(&self, row: &[Value]) -> Vec<Arc<str>> {
        self.with_words(|words| words.states(row))
    }

    pub(super) fn components(&self) -> Vec<Arc<str>> {
        self.with_words(|words| words.components(&self.process))
    }

    pub(super) fn operators(&self) -> Vec<OperatorRow> {
        self.with_words(|words| words.operators())
    }

    /// A step with the components that take part, and the event behind a `τ`.
    pub(super) fn step(&self, before: &[Value], label: LabelId, after: &[Value]) -> Result<Step, Cut> {
        let control = Control::unlimited();
        self.with_words(|words| words.step(before, label, after, &control))
    }

    fn with_words<R>(&self, tell: impl FnOnce(&mut Words<'_>) -> R) -> R {
        let control = Control::unlimited();
        let mut compiler = self.compiler.borrow_mut();
        tell(&mut Words::new(&mut compiler, &self.machine, &self.sources, &control))
    }

    pub(super) fn reductions(&self) -> Vec<String> {
        let compressed = "components compressed by strong bisimulation".to_string();
        self.compressed.then_some(compressed).into_iter().collect()
    }

    /// A note on the compressions of the script that were left out.
    pub(super) fn left_out(&self) -> Option<String> {
        let compiler = self.compiler.borrow();
        let names: Vec<String> = compiler.left_out().map(|name| format!("`{name}`")).collect();
        let all = names.join(", ");
        (!names.is_empty()).then(|| format!("{all} of the script left out: only strong bisimulation keeps formulas"))
    }
}

/// A type of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Type {
    Int,
    Bool,
    Datatype(String),
    Set(Box<Type>),
    Sequence(Box<Type>),
    Tuple(Vec<Type>),
    /// Has no sort.
    Other(String),
}

/// Reads a type as the checker of types writes it.
fn read_type(text: &str) -> Type {
    let text = text.trim();
    let inside = |open: char, close: char| text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    if text.starts_with("(|") {
        return Type::Other(text.to_string());
    }
    if let Some(element) = inside('{', '}') {
        return Type::Set(Box::new(read_type(element)));
    }
    if let Some(element) = inside('<', '>') {
        return Type::Sequence(Box::new(read_type(element)));
    }
    if let Some(parts) = inside('(', ')') {
        let parts: Vec<Type> = split(parts, ",").into_iter().map(read_type).collect();
        return Type::Tuple(parts);
    }
    match text {
        "Int" => Type::Int,
        "Bool" => Type::Bool,
        "Char" | "Event" | "Proc" => Type::Other(text.to_string()),
        name if name.chars().all(|character| character.is_alphanumeric() || "_':".contains(character)) => {
            Type::Datatype(name.to_string())
        }
        other => Type::Other(other.to_string()),
    }
}

/// The pieces between separators that stand in no brackets.
fn split<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let (mut pieces, mut start, mut depth, mut at) = (Vec::new(), 0, 0usize, 0);
    while let Some(character) = text[at..].chars().next() {
        if depth == 0 && text[at..].starts_with(separator) {
            pieces.push(&text[start..at]);
            at += separator.len();
            start = at;
            continue;
        }
        let arrow = text[..at].ends_with('=') || text[..at].ends_with('-');
        match character {
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if arrow => {}
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += character.len_utf8();
    }
    pieces.push(&text[start..]);
    pieces
}

/// A constructor or channel.
struct Declared {
    name: String,
    is_channel: bool,
    /// Each with whether its numbers are natural.
    fields: Vec<(Type, bool)>,
    result: String,
}

/// The sorts and actions of a script.
fn signature(typed: &Typed, evaluator: &mut Evaluator, job: &Job) -> Result<Signature, Problem> {
    let types: BTreeMap<String, &str> =
        typed.types().iter().map(|(id, text)| (typed.renamed().qualified(*id), text.as_str())).collect();
    let mut declared = Vec::new();
    for id in evaluator.constructors() {
        job.control.check()?;
        let (name, is_channel) = evaluator.constructor(id);
        let name = name.to_string();
        let Some(text) = types.get(&name) else { continue };
        let mut pieces = split(text, "=>");
        let result = pieces.pop().unwrap_or_default().trim().to_string();
        // A declaration that cannot be evaluated is a mistake only where the process needs it.
        let natural = match evaluator.natural_fields(id) {
            Ok(natural) if natural.len() == pieces.len() => natural,
            Err(failure) if matches!(failure.reason(), Reason::Stopped(_)) => {
                return Err(Problem::Stopped(job.control.why()));
            }
            _ => vec![false; pieces.len()],
        };
        let fields = pieces.into_iter().map(read_type).zip(natural).collect();
        declared.push(Declared { name, is_channel, fields, result });
    }
    let mut sorts = Sorts { datatypes: BTreeSet::new(), tuples: Vec::new() };
    sorts.datatypes.extend(declared.iter().filter(|one| !one.is_channel).map(|one| one.result.clone()));
    // A datatype with a field that has no sort has none itself.
    loop {
        let bad = declared.iter().find(|one| {
            let known = sorts.datatypes.contains(&one.result);
            !one.is_channel && known && one.fields.iter().any(|(field, _)| sorts.refusal(field).is_some())
        });
        let Some(bad) = bad.map(|one| one.result.clone()) else { break };
        sorts.datatypes.remove(&bad);
    }
    let mut names: BTreeMap<(bool, String), usize> = BTreeMap::new();
    for one in &declared {
        *names.entry((one.is_channel, formula_name(&one.name))).or_default() += 1;
    }
    let mut text = String::new();
    let mut structures: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let (mut actions, mut refused) = (String::new(), Vec::new());
    for one in &declared {
        let name = formula_name(&one.name);
        let fields: Vec<Option<String>> =
            one.fields.iter().map(|(field, natural)| sorts.text(field, *natural)).collect();
        let unclear = names[&(one.is_channel, name.clone())] > 1;
        if !one.is_channel {
            if let Some(fields) = fields.into_iter().collect::<Option<Vec<String>>>()
                && sorts.datatypes.contains(&one.result)
            {
                let own = if fields.is_empty() { name } else { format!("{name}({})", fields.join(", ")) };
                structures.entry(&one.result).or_default().push(own);
            }
            continue;
        }
        let why = one.fields.iter().find_map(|(field, _)| sorts.refusal(field));
        match (fields.into_iter().collect::<Option<Vec<String>>>(), unclear) {
            (Some(fields), false) => {
                let sorts = if fields.is_empty() { String::new() } else { format!(": {}", fields.join(" # ")) };
                actions.push_str(&format!("act {name}{sorts};\n"));
            }
            (_, true) => refused.push((name, "two channels have this name".to_string())),
            (None, _) => refused.push((name, why.unwrap_or_default())),
        }
    }
    for (sort, constructors) in &structures {
        text.push_str(&format!("sort {} = struct {};\n", formula_name(sort), constructors.join(" | ")));
    }
    for (place, (_, parts)) in sorts.tuples.iter().enumerate() {
        text.push_str(&format!("sort Tuple{} = struct tuple({});\n", place + 1, parts.join(", ")));
    }
    text.push_str(&actions);
    text.push_str("act tick;\n");
    let signature = Signature::declared(&text).map_err(|mistakes| {
        let why = mistakes.first().map(|mistake| mistake.message.clone()).unwrap_or_default();
        let message = format!("the channels and datatypes of this script cannot be those of a formula: {why}");
        Problem::from(Diagnostic::error(NO_PROCESS, message, Place::File(String::new())))
    })?;
    Ok(Signature { refused, ..signature })
}

/// The sorts of types.
struct Sorts {
    /// Datatypes that have sorts.
    datatypes: BTreeSet<String>,
    /// Tuples, each with the sorts of its parts.
    tuples: Vec<(Vec<Type>, Vec<String>)>,
}

impl Sorts {
    /// Why a type has no sort.
    fn refusal(&self, field: &Type) -> Option<String> {
        match field {
            Type::Int | Type::Bool => None,
            Type::Datatype(name) if self.datatypes.contains(name) => None,
            Type::Datatype(name) => Some(format!("its values are of the type `{name}`, which has no sort")),
            Type::Set(inside) | Type::Sequence(inside) => self.refusal(inside),
            Type::Tuple(parts) => parts.iter().find_map(|part| self.refusal(part)),
            Type::Other(text) => Some(format!("its values have the type `{text}`, which has no sort")),
        }
    }

    /// The sort of a type as text.
    fn text(&mut self, field: &Type, natural: bool) -> Option<String> {
        if self.refusal(field).is_some() {
            return None;
        }
        Some(match field {
            Type::Int if natural => "Nat".to_string(),
            Type::Int => "Int".to_string(),
            Type::Bool => "Bool".to_string(),
            Type::Datatype(name) => formula_name(name),
            Type::Set(inside) => format!("FSet({})", self.text(inside, false)?),
            Type::Sequence(inside) => format!("List({})", self.text(inside, false)?),
            Type::Tuple(parts) => {
                let known = self.tuples.iter().position(|(known, _)| known == parts);
                let place = match known {
                    Some(known) => known,
                    None => {
                        let texts: Option<Vec<String>> = parts.iter().map(|part| self.text(part, false)).collect();
                        self.tuples.push((parts.clone(), texts?));
                        self.tuples.len() - 1
                    }
                };
                format!("Tuple{}", place + 1)
            }
            Type::Other(_) => return None,
        })
    }
}

/// The parts of an event, its values in the language of formulas.
pub(super) fn label_parts(labels: &Labels, label: LabelId) -> LabelParts {
    if label == LabelId::TICK {
        return vec![("tick".to_string(), Vec::new())];
    }
    let label = labels.get(label);
    let part = |part: &trefoil_system::Part| {
        (formula_name(&part.name), part.arguments.iter().map(|argument| data_text(argument)).collect())
    };
    label.parts().iter().map(part).collect()
}

/// A value of the script as one of the language of formulas: `A.1.<true>` is `A(1, [true])`.
fn data_text(text: &str) -> String {
    let text = text.trim();
    let inside = |open: char, close: char| text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    let all = |text: &str| {
        let pieces = if text.trim().is_empty() { Vec::new() } else { split(text, ",") };
        pieces.into_iter().map(data_text).collect::<Vec<String>>().join(", ")
    };
    let pieces = split(text, ".");
    if let [name, fields @ ..] = &pieces[..]
        && !fields.is_empty()
    {
        let fields: Vec<String> = fields.iter().map(|field| data_text(field)).collect();
        return format!("{}({})", formula_name(name), fields.join(", "));
    }
    if let Some(elements) = inside('{', '}') {
        return format!("{{{}}}", all(elements));
    }
    if let Some(elements) = inside('<', '>') {
        return format!("[{}]", all(elements));
    }
    if let Some(parts) = inside('(', ')') {
        return if split(parts, ",").len() > 1 { format!("tuple({})", all(parts)) } else { data_text(parts) };
    }
    let number = text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit());
    if number || ["true", "false"].contains(&text) { text.to_string() } else { formula_name(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_scripts_are_values_of_formulas() {
        let same = [
            ("1", "1"),
            ("-3", "-3"),
            ("true", "true"),
            ("A", "A"),
            ("in", "in_"),
            ("A.1.(B.2)", "A(1, B(2))"),
            ("<1, 2>", "[1, 2]"),
            ("<>", "[]"),
            ("{}", "{}"),
            ("{ -1, 2}", "{-1, 2}"),
            ("(1, true)", "tuple(1, true)"),
            ("(-1)", "-1"),
            ("{<A.1>, <>}", "{[A(1)], []}"),
            ("M::A", "M_A"),
        ];
        for (script, formula) in same {
            assert_eq!(data_text(script), formula);
        }
    }

    #[test]
    fn types_are_read_as_they_are_written() {
        let pieces = split("T=>(Int, Bool)=><Bool>=>Event", "=>");
        assert_eq!(pieces, ["T", "(Int, Bool)", "<Bool>", "Event"]);
        assert_eq!(read_type("{Int}"), Type::Set(Box::new(Type::Int)));
        assert_eq!(read_type("(Int, T)"), Type::Tuple(vec![Type::Int, Type::Datatype("T".to_string())]));
        assert_eq!(read_type("(| Int => Bool |)"), Type::Other("(| Int => Bool |)".to_string()));
    }
}
