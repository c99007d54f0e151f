//! What the states of a specification hold: for the reasons of an answer, and while a search runs.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use trefoil_control::{Control, count, counted};
use trefoil_mcrl2::system::Model;
use trefoil_system::{Domain, System, Values};

/// How long a description of the values stays.
const REFRESH: Duration = Duration::from_secs(1);
/// Fewer values than this are not worth a word.
const MANY: usize = 100;
/// How many letters of a value are shown.
const LETTERS: usize = 60;
/// How many sets of parameters are shown, those with the most values.
const SHOWN: usize = 3;

/// Runs a search; while it runs, the progress says which parameters get more and more values.
pub(crate) fn watched<X>(model: &Model, control: &Control, search: impl FnOnce() -> X) -> X {
    std::thread::scope(|scope| {
        let (ended, waiting) = mpsc::channel::<()>();
        scope.spawn(move || {
            while waiting.recv_timeout(REFRESH) == Err(RecvTimeoutError::Timeout) {
                show_growing(model, control);
            }
        });
        let found = search();
        drop(ended);
        found
    })
}

/// Shows which parameters get more and more values, if any do; otherwise what the search itself shows stays.
pub(crate) fn show_growing(model: &Model, control: &Control) {
    let words = growing(model);
    if !words.is_empty() {
        control.progress().detail(words);
    }
}

/// A numbering of values.
struct Numbered<'m> {
    domain: &'m Arc<dyn Domain>,
    /// How many there are.
    values: usize,
    /// The first slot that has them.
    slot: usize,
    /// The names of all such slots.
    names: Vec<&'m str>,
}

/// The parameters whose values are numbered as they are found, when these are many, with the value that was found
/// last. Parameters whose values can be the same have one numbering.
fn growing(model: &Model) -> String {
    let model = model.widest().map_or(model, |widest| &**widest);
    let mut numberings: Vec<Numbered<'_>> = Vec::new();
    for (place, slot) in model.layout().slots().iter().enumerate() {
        let Values::Met(domain) = &slot.values else { continue };
        match numberings.iter_mut().find(|known| Arc::ptr_eq(known.domain, domain)) {
            Some(known) => known.names.push(&slot.name),
            // The search goes on meanwhile, so the length is read once.
            None => numberings.push(Numbered { domain, values: domain.len(), slot: place, names: vec![&slot.name] }),
        }
    }
    numberings.retain(|known| known.values >= MANY);
    numberings.sort_by_key(|known| std::cmp::Reverse(known.values));
    let words = numberings.into_iter().take(SHOWN).filter_map(|Numbered { slot, mut names, .. }| {
        let (values, latest) = model.latest_value(slot)?;
        let more = names.len().saturating_sub(SHOWN);
        names.truncate(SHOWN);
        let more = if more > 0 { format!(" and {} more", count(more as u64)) } else { String::new() };
        let latest = crate::shortened(&latest, LETTERS);
        Some(format!("{}{more}: {} values, the latest {latest}", names.join(", "), count(values as u64)))
    });
    words.collect::<Vec<_>>().join("; ")
}

/// How often the steps of a summand were known already, and for which summands they are not remembered any more.
pub(crate) fn remembered(model: &Model) -> Option<String> {
    let facts = model.facts();
    let all = facts.tables.iter().chain([&facts.parts]);
    let (questions, hits) =
        all.fold((0, 0), |(questions, hits), table| (questions + table.questions, hits + table.hits));
    if questions == 0 {
        return None;
    }
    let answered = 100.0 * hits as f64 / questions as f64;
    let mut text = format!("steps of summands: asked {} times, {answered:.0} % remembered", count(questions));
    let dropped = facts.tables.iter().zip(model.groups()).filter(|(table, _)| table.dropped);
    let mut names: Vec<&str> = dropped.map(|(_, group)| group.name.as_str()).collect();
    if !names.is_empty() {
        let tables = counted(names.len() as u64, "table");
        names.sort_unstable();
        names.dedup();
        let more = names.len().saturating_sub(SHOWN);
        names.truncate(SHOWN);
        let more = if more > 0 { format!(" and {} more", count(more as u64)) } else { String::new() };
        text.push_str(&format!("; {tables} dropped, seldom hit: {}{more}", names.join(", ")));
    }
    Some(text)
}

/// How a state is kept, and why so; `outgrown` says that a value of a finite sort was none of those that are listed.
pub(crate) fn width(model: &Model, outgrown: bool) -> String {
    let slots = model.layout().slots();
    let known = slots.iter().filter_map(|slot| slot.values.count());
    let bits: u32 = known.clone().map(|values| values.max(1).next_power_of_two().trailing_zeros()).sum();
    let listed = known.count();
    let met = slots.len() - listed;
    let mut text = format!("a state has {}", counted(slots.len() as u64, "parameter"));
    if listed > 0 {
        text.push_str(&format!(
            ", {} in {} because all values are known",
            count(listed as u64),
            counted(bits.into(), "bit")
        ));
    }
    if met > 0 {
        let why = if outgrown { ", since a value of a finite sort was stuck" } else { "" };
        text.push_str(&format!(", {} numbered as values are found{why}", count(met as u64)));
    }
    text
}
