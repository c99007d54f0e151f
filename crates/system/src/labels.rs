//! Labels of transitions: bags of parts, each a name with arguments, and a table that numbers them.
//!
//! One table serves a whole check: a specification and an implementation intern into the same [`Labels`], so that equal
//! labels are equal numbers and no engine ever compares text. The table only grows, and from any thread, because some
//! systems find new labels while they are explored.
//!
//! `τ` is the empty bag; `✓` is reserved; an event of CSP and a message of Promela have one part, a multi-action of
//! mCRL2 has any number. A label is numbered by its structure: a part is an action (a name with the domains of its
//! arguments, declared once: [`Labels::action`]) and the numbers of its arguments in those domains. A caller that only
//! has texts uses [`Labels::intern`], for which texts are one more domain. So two labels are equal when their names,
//! the domains of their arguments and the values are: two languages that share a table agree on labels only if they
//! share domains.
//!
//! A system that makes labels at every step keeps a [`LabelMemo`] for each thread: a hash table over a few numbers,
//! without locks and without strings. The text of a label is made when it is first written or compared, and once.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use crate::layout::{Domain, Value};
use crate::numbered::Numbered;

/// The number of a label in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelId(pub u32);

impl LabelId {
    /// The internal step, `τ`.
    pub const TAU: LabelId = LabelId(0);
    /// Successful termination, `✓`.
    pub const TICK: LabelId = LabelId(1);

    /// As an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Can an observer see it?
    #[inline]
    pub fn is_visible(self) -> bool {
        self != LabelId::TAU
    }
}

/// The name of `✓` in labels.
const TICK: &str = "✓";

/// The name that stands for `τ` where text is all there is.
const TAU: &str = "tau";

/// How labels are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writing {
    /// As events of CSP: `c.1.true`.
    #[default]
    Dots,
    /// As actions of mCRL2: `c(1, true)`, and `✓` as `Terminate`.
    Brackets,
    /// As messages of Promela: `c!1,true`. The name of a part ends with its operator; one without is written with dots.
    Messages,
}

/// One part of a label: the name of an event, action or channel, and the values that go with it, as text.
///
/// A label read from a file that only has text keeps that text, whole, as the name of one part.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Part {
    /// The name.
    pub name: Box<str>,
    /// The values.
    pub arguments: Box<[Box<str>]>,
}

/// A label as text: a bag of parts, by name and then by arguments. No part is `τ`.
#[derive(Clone, Debug)]
pub struct Label {
    parts: Box<[Part]>,
    writing: Writing,
}

impl Label {
    /// A label of one part.
    pub fn of(name: impl Into<Box<str>>, arguments: impl IntoIterator<Item = Box<str>>) -> Label {
        Label::bag(vec![Part { name: name.into(), arguments: arguments.into_iter().collect() }])
    }

    /// A label of one part without arguments.
    pub fn plain(name: impl Into<Box<str>>) -> Label {
        Label::of(name, [])
    }

    /// A label of any parts, in any order.
    pub fn bag(mut parts: Vec<Part>) -> Label {
        parts.retain(|part| &*part.name != TAU || !part.arguments.is_empty());
        parts.sort();
        Label { parts: parts.into(), writing: Writing::default() }
    }

    /// Its parts, by name and then by arguments; none for `τ`.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The name of its only part; `tau` for `τ`, and nothing when it has several parts.
    pub fn name(&self) -> Option<&str> {
        match &*self.parts {
            [] => Some(TAU),
            [part] => Some(&part.name),
            _ => None,
        }
    }

    /// The arguments of its only part; none when it has several.
    pub fn arguments(&self) -> &[Box<str>] {
        match &*self.parts {
            [part] => &part.arguments,
            _ => &[],
        }
    }
}

// How a label is written does not make it another one.
impl PartialEq for Label {
    fn eq(&self, other: &Label) -> bool {
        self.parts == other.parts
    }
}

impl Eq for Label {}

impl Hash for Label {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts.hash(state);
    }
}

impl Ord for Label {
    fn cmp(&self, other: &Label) -> Ordering {
        self.parts.cmp(&other.parts)
    }
}

impl PartialOrd for Label {
    fn partial_cmp(&self, other: &Label) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.parts.is_empty() {
            return f.write_str(TAU);
        }
        for (at, Part { name, arguments }) in self.parts.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { "|" })?;
            let terminates = self.writing == Writing::Brackets && &**name == TICK;
            f.write_str(if terminates { "Terminate" } else { name })?;
            let (open, between, close) = match self.writing {
                Writing::Brackets => ("(", ", ", ")"),
                Writing::Messages if name.ends_with(['!', '?']) => ("", ",", ""),
                Writing::Dots | Writing::Messages => (".", ".", ""),
            };
            for (at, argument) in arguments.iter().enumerate() {
                f.write_str(if at == 0 { open } else { between })?;
                f.write_str(argument)?;
            }
            f.write_str(if arguments.is_empty() { "" } else { close })?;
        }
        Ok(())
    }
}

/// A domain that arguments of labels come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DomainId(u32);

impl DomainId {
    /// Texts, which the table numbers itself.
    pub const TEXTS: DomainId = DomainId(0);
}

/// A declared action: a name and the domains of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ActionId(pub u32);

/// What an [`ActionId`] stands for.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Action {
    name: Box<str>,
    arguments: Box<[DomainId]>,
}

/// The texts that are arguments.
#[derive(Default)]
struct Texts(Numbered<Box<str>, ()>);

impl Domain for Texts {
    fn bytes(&self, value: Value, into: &mut Vec<u8>) {
        into.extend_from_slice(self.0.get(value).0.as_bytes());
    }

    fn value(&self, bytes: &[u8]) -> Option<Value> {
        Some(self.0.number(std::str::from_utf8(bytes).ok()?, |key| key.into()))
    }

    fn text(&self, value: Value) -> String {
        self.0.get(value).0.to_string()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

/// The table of labels of one check. [`LabelId::TAU`] is the empty bag, [`LabelId::TICK`] is `✓`.
pub struct Labels {
    writing: Writing,
    texts: Arc<Texts>,
    domains: boxcar::Vec<Arc<dyn Domain>>,
    actions: Numbered<Action, ()>,
    /// Each label as its parts: an action and its arguments, and the next. The parts ascend.
    bags: Numbered<Box<[u32]>, OnceLock<Label>>,
}

impl Default for Labels {
    fn default() -> Self {
        Labels::new()
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries((0..self.len() as u32).map(|id| self.get(LabelId(id)).to_string())).finish()
    }
}

impl Labels {
    /// A table with the two reserved labels.
    pub fn new() -> Labels {
        Labels::written(Writing::default())
    }

    /// The same for labels that are written in another way.
    pub fn written(writing: Writing) -> Labels {
        let texts = Arc::new(Texts::default());
        let domains = boxcar::Vec::new();
        domains.push(texts.clone() as Arc<dyn Domain>);
        let labels = Labels { writing, texts, domains, actions: Numbered::default(), bags: Numbered::default() };
        assert_eq!(labels.number(&[]), LabelId::TAU);
        assert_eq!(labels.name(TICK), LabelId::TICK);
        labels
    }

    /// How its labels are written.
    pub fn writing(&self) -> Writing {
        self.writing
    }

    /// Announces a domain; the same domain gets the same number.
    pub fn domain(&self, domain: &Arc<dyn Domain>) -> DomainId {
        let known = self.domains.iter().find(|(_, known)| Arc::ptr_eq(known, domain));
        let place = known.map_or_else(|| self.domains.push(domain.clone()), |(place, _)| place);
        DomainId(u32::try_from(place).expect("fewer than 2^32 domains"))
    }

    /// The number of an action with arguments from these domains.
    pub fn action(&self, name: &str, arguments: &[DomainId]) -> ActionId {
        let action = Action { name: name.into(), arguments: arguments.into() };
        ActionId(self.actions.number(&action, Action::clone))
    }

    /// The label with these parts, in any order: for each the number of an action and those of its arguments, one after
    /// the other. None is `τ`. Takes a lock; see [`LabelMemo`].
    pub fn number(&self, words: &[u32]) -> LabelId {
        let mut parts = Vec::new();
        let mut rest = words;
        while let [action, after @ ..] = rest {
            let length = 1 + self.actions.get(*action).0.arguments.len();
            assert!(after.len() + 1 >= length, "an action lacks arguments");
            parts.push(&rest[..length]);
            rest = &rest[length..];
        }
        if parts.is_sorted() {
            return LabelId(self.bags.number(words, |key| key.into()));
        }
        parts.sort();
        LabelId(self.bags.number(parts.concat().as_slice(), |key| key.into()))
    }

    /// The number of a text as an argument.
    pub fn text(&self, text: &str) -> u32 {
        self.texts.0.number(text, |key| key.into())
    }

    /// The number of a label given as text; a new one when it was not known.
    pub fn intern(&self, label: Label) -> LabelId {
        let mut words = Vec::new();
        for part in &label.parts {
            let domains = vec![DomainId::TEXTS; part.arguments.len()];
            words.push(self.action(&part.name, &domains).0);
            words.extend(part.arguments.iter().map(|argument| self.text(argument)));
        }
        self.number(&words)
    }

    /// The number of a label without arguments.
    pub fn name(&self, name: &str) -> LabelId {
        self.intern(Label::plain(name))
    }

    /// The number of a label without arguments, when it is known.
    pub fn find(&self, name: &str) -> Option<LabelId> {
        if name == TAU {
            return Some(LabelId::TAU);
        }
        let action = self.actions.known(&Action { name: name.into(), arguments: Box::default() })?;
        self.bags.known([action].as_slice()).map(LabelId)
    }

    /// The label with this number.
    pub fn get(&self, id: LabelId) -> &Label {
        let (words, label) = self.bags.get(id.0);
        label.get_or_init(|| {
            let mut parts = Vec::new();
            let mut rest: &[u32] = words;
            while let [action, after @ ..] = rest {
                let Action { name, arguments } = &self.actions.get(*action).0;
                let (values, next) = after.split_at(arguments.len());
                let text = |(domain, &value): (&DomainId, &u32)| self.domains[domain.0 as usize].text(value).into();
                parts.push(Part { name: name.clone(), arguments: arguments.iter().zip(values).map(text).collect() });
                rest = next;
            }
            parts.sort();
            Label { parts: parts.into(), writing: self.writing }
        })
    }

    /// The order of two labels by their text: the same in every run, whichever was interned first. `τ` comes before `✓`
    /// and both before all others.
    pub fn compare(&self, left: LabelId, right: LabelId) -> Ordering {
        if left == right {
            return Ordering::Equal;
        }
        let reserved = LabelId::TICK;
        match (left <= reserved, right <= reserved) {
            (false, false) => self.get(left).cmp(self.get(right)),
            _ => left.cmp(&right),
        }
    }

    /// How many labels there are, the reserved ones included.
    pub fn len(&self) -> usize {
        self.bags.len()
    }

    /// Never: the reserved labels are always there.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Labels as text, in the order given.
    pub fn texts(&self, ids: impl IntoIterator<Item = LabelId>) -> Vec<String> {
        ids.into_iter().map(|id| self.get(id).to_string()).collect()
    }
}

/// What one thread knows of a table: labels by the numbers of their parts, without a lock.
pub struct LabelMemo<'l> {
    labels: &'l Labels,
    known: HashMap<Box<[u32]>, LabelId, foldhash::fast::FixedState>,
}

impl<'l> LabelMemo<'l> {
    /// Nothing known yet.
    pub fn new(labels: &'l Labels) -> LabelMemo<'l> {
        LabelMemo { labels, known: HashMap::default() }
    }

    /// The label with these parts, as [`Labels::number`] has it.
    #[inline]
    pub fn label(&mut self, words: &[u32]) -> LabelId {
        match self.known.get(words) {
            Some(&known) => known,
            None => self.learn(words),
        }
    }

    #[cold]
    fn learn(&mut self, words: &[u32]) -> LabelId {
        let label = self.labels.number(words);
        self.known.insert(words.into(), label);
        label
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_labels_have_their_numbers_and_equal_labels_one_number() {
        let labels = Labels::new();
        assert_eq!(labels.name("tau"), LabelId::TAU);
        assert_eq!(labels.find("tau"), Some(LabelId::TAU));
        assert_eq!(labels.get(LabelId::TAU).to_string(), "tau");
        assert_eq!(labels.find("a"), None);
        let a = labels.name("a");
        let a1 = labels.intern(Label::of("a", ["1".into()]));
        assert_ne!(a, a1);
        assert_eq!(labels.name("a"), a);
        assert_eq!(labels.find("a"), Some(a));
        assert_eq!(labels.get(a1).to_string(), "a.1");
        assert_eq!(labels.len(), 4);
    }

    #[test]
    fn many_threads_agree_on_the_numbers() {
        let labels = Labels::new();
        let names: Vec<String> = (0..500).map(|i| format!("e{i}")).collect();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| names.iter().all(|name| labels.name(name).index() > 1));
            }
        });
        assert_eq!(labels.len(), 502);
        assert!(names.iter().all(|name| labels.get(labels.name(name)).to_string() == *name));
    }

    #[test]
    fn bags_are_equal_whatever_the_order_of_their_parts() {
        let labels = Labels::written(Writing::Brackets);
        let part = |name: &str, arguments: &[&str]| Part {
            name: name.into(),
            arguments: arguments.iter().map(|&argument| argument.into()).collect(),
        };
        let one = Label::bag(vec![part("b", &[]), part("a", &["2", "true"]), part("a", &["10"]), part("tau", &[])]);
        let other = Label::bag(vec![part("a", &["10"]), part("a", &["2", "true"]), part("b", &[])]);
        assert_eq!(one, other);
        let id = labels.intern(one);
        assert_eq!(labels.intern(other), id);
        assert_eq!(labels.get(id).to_string(), "a(10)|a(2, true)|b");
        assert_eq!(labels.intern(Label::bag(vec![part("tau", &[])])), LabelId::TAU);
        assert_ne!(labels.intern(Label::bag(vec![part("b", &[]), part("b", &[])])), labels.name("b"));
        assert_eq!(labels.get(LabelId::TICK).to_string(), "Terminate");
        let messages = Labels::written(Writing::Messages);
        let sent = messages.intern(Label::bag(vec![part("c!", &["1", "true"])]));
        assert_eq!(messages.get(sent).to_string(), "c!1,true");
        let renamed = messages.intern(Label::bag(vec![part("c", &["1", "true"])]));
        assert_eq!(messages.get(renamed).to_string(), "c.1.true");
    }

    /// Squares, by their roots.
    struct Squares;

    impl Domain for Squares {
        fn bytes(&self, value: Value, into: &mut Vec<u8>) {
            into.extend_from_slice(&value.to_be_bytes());
        }

        fn value(&self, bytes: &[u8]) -> Option<Value> {
            bytes.try_into().ok().map(Value::from_be_bytes)
        }

        fn text(&self, value: Value) -> String {
            (u64::from(value) * u64::from(value)).to_string()
        }

        fn len(&self) -> usize {
            1 << 32
        }
    }

    #[test]
    fn values_of_a_domain_are_put_into_words_late() {
        let labels = Labels::written(Writing::Brackets);
        let squares: Arc<dyn Domain> = Arc::new(Squares);
        let domain = labels.domain(&squares);
        assert_eq!(labels.domain(&squares), domain);
        assert_ne!(domain, DomainId::TEXTS);
        let (put, get) = (labels.action("put", &[domain, domain]), labels.action("get", &[domain]));
        assert_eq!(labels.action("put", &[domain, domain]), put);
        let mut memo = LabelMemo::new(&labels);
        let both = memo.label(&[put.0, 3, 2, get.0, 11]);
        assert_eq!(memo.label(&[put.0, 3, 2, get.0, 11]), both);
        assert_eq!(memo.label(&[get.0, 11, put.0, 3, 2]), both);
        assert_ne!(memo.label(&[get.0, 3, put.0, 11, 2]), both);
        assert_eq!(memo.label(&[]), LabelId::TAU);
        assert_eq!(labels.get(both).to_string(), "get(121)|put(9, 4)");
        // A text is another value, even when it reads alike.
        let text = labels.intern(Label::of("get", ["121".into()]));
        assert_ne!(memo.label(&[get.0, 11]), text);
    }
}
