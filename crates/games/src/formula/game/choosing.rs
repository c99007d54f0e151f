//! What a move can choose: the values of its variables for which its conditions hold beside a label.
//!
//! It depends on the values that the check of the move reads and on the label, so it is computed once for each of these
//! and remembered as numbers. A label is read once: which of the formula's bags of actions it is, and its arguments as
//! values. Solutions of a condition come from the enumerator of the data language, at most [`MOST_TUPLES`] trials a
//! move where a sort is infinite.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use trefoil_control::Control;
use trefoil_data::rewrite::{Enumerated, Rewriter, Unfinished};
use trefoil_source::Span;
use trefoil_system::{Cut, LabelId, Value, Wrong, WrongPlace};
use trefoil_terms::{Term, Worker};

use super::compile::{Check, Input, MovePlan, Source};
use super::product::FormulaGame;
use super::values::{NONE, NoValue};
use crate::formula::quantifiers::WrittenQuantifier;

/// Values of infinite sorts that are tried for one move.
const MOST_TUPLES: u64 = 100_000;

/// A list of values that takes so long is named when a budget ends.
const LONG: Duration = Duration::from_secs(1);

/// So many records are compared with each other, one by one.
const FEW_RECORDS: usize = 64;

/// What a label is to the formula: its shape, and the values of its arguments.
#[derive(Clone)]
pub(super) struct LabelValues {
    shape: usize,
    values: Arc<[Value]>,
}

/// What a move can choose: so many records, from a place on.
#[derive(Clone, Copy)]
pub(super) struct Choices {
    pub(super) at: usize,
    pub(super) count: usize,
}

/// The computation of what moves can choose.
pub(super) struct Choosing<'c, 'a> {
    pub(super) game: &'a FormulaGame,
    pub(super) control: &'a Control,
    pub(super) worker: &'c Worker,
    pub(super) rewriter: Option<Rewriter<'c>>,
    pub(super) labels: &'c mut HashMap<LabelId, LabelValues, foldhash::fast::FixedState>,
    pub(super) known: &'c mut HashMap<Box<[Value]>, Choices, foldhash::fast::FixedState>,
    pub(super) records: &'c mut Vec<Value>,
    pub(super) shown: &'c [Value],
}

/// What a computation of choices needs that depend on labels alone.
pub(super) struct Asking {
    worker: Worker,
    labels: HashMap<LabelId, LabelValues, foldhash::fast::FixedState>,
    known: HashMap<Box<[Value]>, Choices, foldhash::fast::FixedState>,
    records: Vec<Value>,
}

impl Asking {
    pub(super) fn new(game: &FormulaGame) -> Asking {
        let worker = game.compiled.pool.worker();
        Asking { worker, labels: HashMap::default(), known: HashMap::default(), records: Vec::new() }
    }

    /// The computation, and a row without values that goes with it.
    pub(super) fn choosing<'c, 'a: 'c>(
        &'c mut self,
        game: &'a FormulaGame,
        control: &'a Control,
    ) -> (Choosing<'c, 'a>, Vec<Value>) {
        let Asking { worker, labels, known, records } = self;
        let choosing = Choosing { game, control, worker, rewriter: None, labels, known, records, shown: &[] };
        (choosing, vec![NONE; game.offset])
    }
}

impl<'c, 'a: 'c> Choosing<'c, 'a> {
    fn rewriter(&mut self) -> &mut Rewriter<'c> {
        let (game, control, worker) = (self.game, self.control, self.worker);
        self.rewriter.get_or_insert_with(|| {
            let mut rewriter = Rewriter::new(&game.compiled.program, worker);
            rewriter.obey(control);
            rewriter
        })
    }

    /// What a move can choose in a row, beside a step with a label.
    pub(super) fn choices(
        &mut self,
        plan: &'a MovePlan,
        number: u32,
        label: Option<LabelId>,
        row: &[Value],
    ) -> Result<Choices, Cut> {
        let mut arguments: Arc<[Value]> = Arc::default();
        let mut shape = 0;
        let check = match label {
            None => &plan.checks[0],
            Some(label) => {
                // The values of a label are read only where a check needs them.
                shape = self.shape(label)?;
                let check = &plan.checks[shape];
                if check.inputs().iter().any(|input| matches!(input, Input::Argument(_))) {
                    arguments = self.values(label)?;
                }
                check
            }
        };
        match check {
            Check::Never => return Ok(Choices { at: 0, count: 0 }),
            Check::Always if plan.sources.is_empty() => return Ok(Choices { at: 0, count: 1 }),
            _ => {}
        }
        let mut key = Vec::with_capacity(2 + plan.reads.len());
        key.push(number);
        // Labels of one shape are alike where no argument is looked at.
        key.push(if arguments.is_empty() { shape as u32 } else { label.map_or(0, |label| label.0 + (1 << 24)) });
        key.extend(plan.reads.iter().map(|&slot| row[slot as usize]));
        key.extend(plan.observed.iter().map(|&place| self.shown[place as usize]));
        if let Some(&known) = self.known.get(&key[..]) {
            return Ok(known);
        }
        // No run leads to a row in which a variable that is read has no value.
        let choices = match plan.reads.iter().any(|&slot| row[slot as usize] == NONE) {
            true => Choices { at: 0, count: 0 },
            false => {
                let started = Instant::now();
                let computed = self.compute(plan, check, &arguments, row);
                if matches!((&computed, check), (Err(Cut::Stopped), Check::Choice(..))) && started.elapsed() >= LONG {
                    self.game.compiled.growth.listing(number);
                }
                computed?
            }
        };
        self.known.insert(key.into(), choices);
        Ok(choices)
    }

    fn compute(
        &mut self,
        plan: &'a MovePlan,
        check: &Check,
        arguments: &[Value],
        row: &[Value],
    ) -> Result<Choices, Cut> {
        let game = self.game;
        let found = &game.compiled.found;
        let at = self.records.len();
        let mut own = Vec::new();
        let shown = self.shown;
        let rewriter = self.rewriter();
        let term = |input: &Input| match input {
            Input::Slot(slot) => found.term(row[*slot as usize]),
            Input::Argument(place) => found.term(arguments[*place as usize]),
            Input::Observed(place) => found.term(shown[*place as usize]),
            Input::Chosen(_) => unreachable!("a check does not read what it chooses"),
        };
        let mut count = 0;
        let mut known: HashSet<Box<[Value]>, foldhash::fast::FixedState> = HashSet::default();
        // The record of one choice; the chosen values are numbered first, so that nothing collects them.
        let mut record = |rewriter: &mut Rewriter<'_>, chosen: &[Value]| -> Result<(), Unfinished> {
            let start = own.len();
            let value = |input: &Input| match input {
                Input::Slot(slot) => row[*slot as usize],
                Input::Chosen(place) => chosen[*place as usize],
                Input::Argument(place) => arguments[*place as usize],
                Input::Observed(place) => shown[*place as usize],
            };
            for (slot, source) in &plan.sources {
                let new = match source {
                    Source::Input(input) => value(input),
                    Source::Evaluated(code, inputs) => {
                        let terms: Vec<Term> = inputs.iter().map(|input| found.term(value(input))).collect();
                        let term = rewriter.evaluate(*code, &terms)?;
                        found.number(rewriter, term)
                    }
                };
                game.compiled.growth.met(*slot, new);
                own.push(new);
            }
            let width = plan.sources.len();
            let (before, new) = own.split_at(start);
            let again = match width {
                0 => count > 0,
                _ if count < FEW_RECORDS => before.chunks_exact(width).any(|known| known == new),
                _ => {
                    if known.is_empty() {
                        known.extend(before.chunks_exact(width).map(Box::from));
                    }
                    !known.insert(new.into())
                }
            };
            if again {
                own.truncate(start);
            } else {
                count += 1;
            }
            Ok(())
        };
        match check {
            Check::Never => {}
            Check::Always => record(rewriter, &[]).map_err(|_| Cut::Stopped)?,
            Check::Condition(code, inputs) => {
                let terms: Vec<Term> = inputs.iter().map(term).collect();
                let value = rewriter.evaluate(*code, &terms).map_err(|_| Cut::Stopped)?;
                match game.compiled.program.truth_of(value) {
                    Some(true) => record(rewriter, &[]).map_err(|_| Cut::Stopped)?,
                    Some(false) => {}
                    None => return Err(undecided(game, rewriter, value, plan.place)),
                }
            }
            Check::Choice(sum, inputs) => {
                let terms: Vec<Term> = inputs.iter().map(term).collect();
                let listed = rewriter.solutions(*sum, &terms, MOST_TUPLES, &mut |rewriter, values| {
                    let chosen: Vec<Value> = values.iter().map(|&value| found.number(rewriter, value)).collect();
                    record(rewriter, &chosen)?;
                    // Where the values are forgotten, one solution is as good as all of them.
                    Ok(if plan.sources.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
                });
                match listed.map_err(|_| Cut::Stopped)? {
                    Enumerated::All | Enumerated::Left => {}
                    Enumerated::Open(term) => return Err(undecided(game, rewriter, term.term(), plan.place)),
                    Enumerated::Unbounded(variable) => return Err(unbounded(game, variable, plan.place)),
                }
            }
        }
        self.records.extend(own);
        Ok(Choices { at, count })
    }

    /// Which of the formula's bags of actions a label is.
    fn shape(&mut self, label: LabelId) -> Result<usize, Cut> {
        if let Some(known) = self.labels.get(&label) {
            return Ok(known.shape);
        }
        let read = self.read(label)?;
        let shape = read.shape;
        self.labels.insert(label, read);
        Ok(shape)
    }

    fn values(&mut self, label: LabelId) -> Result<Arc<[Value]>, Cut> {
        self.shape(label)?;
        Ok(self.labels[&label].values.clone())
    }

    fn read(&mut self, label: LabelId) -> Result<LabelValues, Cut> {
        let game = self.game;
        let compiled = &game.compiled;
        let signature = &compiled.formula.signature;
        let other = LabelValues { shape: compiled.shapes.len(), values: Arc::default() };
        let parts = (game.reader)(game.model.labels(), label);
        let name = |action: usize| signature.data.names.text(signature.actions[action].name);
        // A shape with the names and numbers of arguments of this label; of several the one whose sorts fit.
        for (place, shape) in compiled.shapes.iter().enumerate() {
            if shape.len() != parts.len() {
                continue;
            }
            let mut left: Vec<&(String, Vec<String>)> = parts.iter().collect();
            let mut values = Vec::new();
            let fits = shape.iter().try_for_each(|&action| -> Result<(), Option<Cut>> {
                let sorts = &signature.actions[action].sorts;
                let own = left.iter().position(|(own, texts)| own == name(action) && texts.len() == sorts.len());
                let own = left.remove(own.ok_or(None)?);
                for (text, &sort) in own.1.iter().zip(sorts) {
                    let rewriter = self.rewriter();
                    let value = compiled.reader.read(&compiled.program, &compiled.found, rewriter, text, sort);
                    values.push(value.map_err(|error| match error {
                        NoValue::Text => None,
                        NoValue::Unfinished => Some(Cut::Stopped),
                    })?);
                }
                Ok(())
            });
            match fits {
                Ok(()) => return Ok(LabelValues { shape: place, values: values.into() }),
                Err(Some(cut)) => return Err(cut),
                Err(None) => {}
            }
        }
        // No other action of the model can have these names and numbers of arguments, so the values are unreadable.
        let mentioned = compiled.shapes.iter().any(|shape| {
            let mut left: Vec<&(String, Vec<String>)> = parts.iter().collect();
            shape.len() == parts.len()
                && shape.iter().all(|&action| {
                    let arity = signature.actions[action].sorts.len();
                    let own = left.iter().position(|(own, texts)| own == name(action) && texts.len() == arity);
                    own.map(|place| left.remove(place)).is_some()
                })
        });
        let overloaded = |(own, texts): &(String, Vec<String>)| {
            let alike = (0..signature.actions.len())
                .filter(|&action| name(action) == own && signature.actions[action].sorts.len() == texts.len());
            alike.count() > 1
        };
        if mentioned && !parts.iter().any(overloaded) {
            let label = game.model.labels().get(label);
            let message = format!("the values of the label `{label}` cannot be read as those of its action");
            return Err(Cut::Wrong(Box::new(Wrong { message, place: None, hint: None })));
        }
        Ok(other)
    }
}

fn place_of(span: Span) -> Option<WrongPlace> {
    Some(WrongPlace { file: span.file.0, start: span.start, end: span.end })
}

#[cold]
fn undecided(game: &FormulaGame, rewriter: &Rewriter<'_>, value: Term, place: Span) -> Cut {
    let text = game.compiled.program.text(rewriter.section(), value);
    if let Some(written) = first_quantified(&text).find_map(|name| game.compiled.formula.text.quantifier(name, place)) {
        return endless(written);
    }
    let message = format!("a condition of the formula is neither true nor false: it is stuck at `{text}`");
    Cut::Wrong(Box::new(Wrong { message, place: place_of(place), hint: None }))
}

/// The first variable of each quantifier in a term that is stuck.
fn first_quantified(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_inclusive(|one: char| !one.is_alphanumeric() && !"_'".contains(one));
    let pairs = words.clone().zip(words.skip(1));
    let is_quantifier = |word: &str| matches!(word.trim_end(), "exists" | "forall");
    let names = pairs.filter(move |(first, _)| is_quantifier(first)).map(|(_, second)| second);
    names.map(|name| name.trim_end_matches([':', ',', ' ']))
}

#[cold]
fn unbounded(game: &FormulaGame, variable: trefoil_data::typed::VariableId, place: Span) -> Cut {
    let data = &game.compiled.formula.signature.data;
    let (name, sort) = data.tree.variable(variable);
    let (name, sort) = (data.names.text(name), data.sort_text(sort));
    if let Some(written) = game.compiled.formula.text.quantifier(name, place) {
        return endless(written);
    }
    let message = format!(
        "the values of `{name}: {sort}` cannot be listed: no label and no condition bounds them, or {MOST_TUPLES} were \
         tried"
    );
    Cut::Wrong(Box::new(Wrong { message, place: place_of(place), hint: None }))
}

/// The values of a quantifier cannot be listed.
fn endless(written: WrittenQuantifier) -> Cut {
    let WrittenQuantifier { quantifier, name, sort, place } = written;
    let message = format!(
        "the values of `{name}: {sort}` cannot be listed: no label and no condition bounds this `{quantifier}`, or \
         {MOST_TUPLES} were tried"
    );
    let then = if quantifier == "exists" { "&&" } else { "=>" };
    let hint = match &*sort {
        "Nat" | "Pos" => format!("a condition bounds it: `{quantifier} {name}: {sort}. val({name} < 100) {then} …`"),
        "Int" => {
            format!("conditions bound it: `{quantifier} {name}: Int. val(-100 < {name} && {name} < 100) {then} …`")
        }
        _ => format!("bind `{name}` by the argument of an action, or by a condition such as `val({name} == …)`"),
    };
    Cut::Wrong(Box::new(Wrong { message, place: place_of(place), hint: Some(hint) }))
}

#[cfg(test)]
mod tests {
    use super::first_quantified;

    #[test]
    fn quantified_variables_are_found_in_stuck_terms() {
        let found = |text| first_quantified(text).collect::<Vec<_>>();
        assert_eq!(found("exists n: Nat. !(n * n == 3)"), ["n"]);
        assert_eq!(found("b && (forall x', y: Nat. exists z_1: List(Nat). x' == #z_1)"), ["x'", "z_1"]);
        assert!(found("existsn: Nat").is_empty());
    }
}
