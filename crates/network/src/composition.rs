//! Parallel composition as the command line offers it, compiled to rules.
//!
//! # What the options mean
//!
//! The *alphabet* of a component is the set of visible labels that occur in its file.
//!
//! - **Synchronisation** ([`Synchronise`]). *Shared* (the default, CSP's alphabetised parallel and LOTOS's `||` between
//!   components that have a label): all components with a label in their alphabet take it together. *Only* a list
//!   (CSP's `[|A|]`, LOTOS's `|[A]|`): so for the labels of the list; any other is taken by each component alone.
//!   *None* (`|||`): every component moves alone.
//! - **Vectors** (EXP.OPEN's synchronisation vectors, mCRL2's `comm` and `allow`): `send,_,receive -> c` lets the first
//!   component do `send` and the third `receive`, together, seen as `c`. An entry may have one `*`, and then all
//!   entries with a `*` must agree on what it stands for: `send(*),receive(*) -> c(*)`. Every label of a component that
//!   its entry in some vector fits moves by vectors only, and is blocked where no partner agrees: a sender of `send(2)`
//!   waits when no receiver has `receive(2)` (as with mCRL2's `comm` under `allow`). Everything else synchronises as
//!   said above.
//! - `τ` never synchronises: each component does it alone. `✓` is done by all components together (distributed
//!   termination), and so never if one of them cannot.
//! - **Renaming**, then: every `old=new` whose `old` fits a label gives it the new name, all at once; a label with
//!   several new names has a step for each (CSP's relational renaming). One `*` on the left may be used on the right.
//!   `new` may be `tau`.
//! - **Hiding**, last: the listed labels, as they are called after renaming, become `τ`; or all that are not listed.
//!
//! Entries are read as [`crate::patterns`] says. An entry that fits nothing is a mistake, not an empty set; a list
//! without entries is empty (the label without text is `""`), so to hide all but `` is to hide everything. A `*` that
//! nothing fills, in a vector's result or in a new name, is a mistake unless it is quoted or part of a label that
//! exists.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use trefoil_source::{Code, Diagnostic, Line, Place, nearest};
use trefoil_system::{LabelId, Labels};

use crate::codes;
use crate::network::Network;
use crate::patterns::{Entry, Unbalanced, entry, split, split_once};
use crate::rules::{Component, Rule};

/// Which labels components take together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Synchronise {
    /// Every label, by all that have it.
    #[default]
    Shared,
    /// None.
    None,
    /// Those in these lists, by all that have them.
    Only(Vec<String>),
}

/// A parallel composition; the texts are arguments as a user typed them.
#[derive(Clone, Debug)]
pub struct Composition {
    /// The table that the components share.
    pub labels: Arc<Labels>,
    /// The components.
    pub components: Vec<Component>,
    /// Which labels synchronise.
    pub synchronise: Synchronise,
    /// `label,_,label -> label` each.
    pub vectors: Vec<String>,
    /// Lists of `old=new`.
    pub rename: Vec<String>,
    /// Lists of labels.
    pub hide: Vec<String>,
    /// Lists of labels, all others being hidden.
    pub hide_all_but: Option<Vec<String>>,
    /// What the components do together, when neither synchronisation nor vectors define it.
    pub rules: Option<Vec<Rule>>,
}

/// An option and one of its arguments, as diagnostics show it.
#[derive(Clone, Copy)]
struct Argument<'a> {
    option: &'static str,
    text: &'a str,
}

impl Argument<'_> {
    fn error(&self, code: Code, message: impl Into<String>, range: Range<usize>) -> Diagnostic {
        Diagnostic::error(code, message, Place::Line(Line::cut(self.option, 1, self.text.as_bytes(), range)))
    }

    fn unbalanced(&self, Unbalanced(at): Unbalanced) -> Diagnostic {
        self.error(codes::UNBALANCED, "this is not closed", at..at + 1)
            .help("a label that has brackets or quotes of its own goes in double quotes")
    }
}

const QUOTE_STARS: &str = "a `*` that is part of a label goes in double quotes";

/// Visible labels by their text.
struct Alphabet {
    texts: BTreeMap<String, LabelId>,
}

impl Alphabet {
    fn new(labels: &Labels, members: impl IntoIterator<Item = LabelId>) -> Alphabet {
        let visible = members.into_iter().filter(|&label| label.is_visible() && label != LabelId::TICK);
        Alphabet { texts: visible.map(|label| (labels.get(label).to_string(), label)).collect() }
    }

    /// The labels that an entry fits: the one with its text, or those that it fits as a pattern.
    fn matching(&self, wanted: &Entry) -> Vec<LabelId> {
        match self.texts.get(&wanted.text) {
            Some(&exact) => vec![exact],
            None if wanted.has_wildcard() => {
                self.texts.iter().filter(|(text, _)| wanted.fits(text)).map(|(_, &label)| label).collect()
            }
            None => Vec::new(),
        }
    }

    fn nearest(&self, mistyped: &str) -> Option<&str> {
        nearest(mistyped, self.texts.keys().take(MOST_COMPARED).map(String::as_str))
    }

    /// Like [`Alphabet::matching`], but reports a mistake.
    fn resolve(&self, argument: Argument<'_>, wanted: &Entry, mistakes: &mut Vec<Diagnostic>) -> Vec<LabelId> {
        let found = self.matching(wanted);
        if found.is_empty() {
            mistakes.push(match reserved(argument, wanted) {
                Some(mistake) => mistake,
                None => {
                    let message = if wanted.has_wildcard() {
                        format!("no label fits `{}`", wanted.text)
                    } else {
                        format!("no component has the label `{}`", wanted.text)
                    };
                    let mistake = argument.error(codes::NO_SUCH_LABEL, message, wanted.range.clone());
                    suggest(mistake, self.nearest(&wanted.text))
                }
            });
        }
        found
    }

    /// The labels that a list of entries fits.
    fn resolve_list(&self, argument: Argument<'_>, mistakes: &mut Vec<Diagnostic>) -> Vec<LabelId> {
        if argument.text.trim().is_empty() {
            return Vec::new();
        }
        if let Some(&whole) = self.texts.get(argument.text) {
            return vec![whole];
        }
        match split(argument.text, 0..argument.text.len(), ",") {
            Err(unbalanced) => {
                mistakes.push(argument.unbalanced(unbalanced));
                Vec::new()
            }
            Ok(parts) => parts
                .into_iter()
                .flat_map(|range| self.resolve(argument, &entry(argument.text, range), mistakes))
                .collect(),
        }
    }
}

/// How many labels are compared with a mistyped one.
const MOST_COMPARED: usize = 20_000;

fn suggest(mistake: Diagnostic, nearest: Option<&str>) -> Diagnostic {
    match nearest {
        Some(near) => mistake.help(format!("there is `{near}`")),
        None => mistake,
    }
}

fn reserved(argument: Argument<'_>, wanted: &Entry) -> Option<Diagnostic> {
    let why = match wanted.text.as_str() {
        "tau" | "τ" => "`tau` is internal: it cannot be synchronised, renamed or hidden",
        "✓" => "`✓` is done by all components together; it cannot be synchronised otherwise, renamed or hidden",
        _ => return None,
    };
    Some(argument.error(codes::RESERVED, why, wanted.range.clone()))
}

/// What vectors make of the components' labels.
#[derive(Default)]
struct Vectors {
    rules: Vec<Rule>,
    /// Labels that a component does by vectors only, those without a partner among them.
    taken: HashSet<(usize, LabelId)>,
}

struct Renaming {
    old: Entry,
    new: Entry,
    /// The labels that it fits.
    fits: HashSet<LabelId>,
}

impl Composition {
    /// Components that synchronise on shared labels, nothing renamed or hidden.
    pub fn new(labels: Arc<Labels>, components: Vec<Component>) -> Composition {
        Composition {
            labels,
            components,
            synchronise: Synchronise::Shared,
            vectors: Vec::new(),
            rename: Vec::new(),
            hide: Vec::new(),
            hide_all_but: None,
            rules: None,
        }
    }

    /// The most bytes that the network takes beside its components.
    pub fn bytes_to_make(&self) -> usize {
        Network::bytes_to_make(&self.components)
    }

    /// The network, or everything that is wrong with the arguments.
    pub fn network(mut self) -> Result<Network, Vec<Diagnostic>> {
        let mut mistakes = Vec::new();
        if self.components.is_empty() {
            let place = Place::File("compose".into());
            return Err(vec![Diagnostic::error(codes::NO_COMPONENTS, "nothing to compose", place)]);
        }
        let mut rules = match self.rules.take() {
            Some(rules) => rules,
            None => self.synchronising_rules(&mut mistakes),
        };
        rules = self.renamed(rules, &mut mistakes);
        rules = self.hidden(rules, &mut mistakes);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let names: Vec<String> = self.components.iter().map(|component| component.name.clone()).collect();
        Network::new(self.labels, self.components, rules).map_err(|index| {
            let message = "this component has too many transitions to take part in a network";
            vec![Diagnostic::error(codes::TOO_LARGE, message, Place::File(names[index].clone()))]
        })
    }

    fn synchronising_rules(&self, mistakes: &mut Vec<Diagnostic>) -> Vec<Rule> {
        let members: Vec<Vec<LabelId>> =
            self.components.iter().map(|component| component.behaviour.alphabet()).collect();
        let mut holders: BTreeMap<LabelId, Vec<usize>> = BTreeMap::new();
        for (component, labels) in members.iter().enumerate() {
            for &label in labels {
                holders.entry(label).or_default().push(component);
            }
        }
        let mut rules = Vec::new();
        for component in holders.remove(&LabelId::TAU).unwrap_or_default() {
            rules.push(Rule::new([(component, LabelId::TAU)], LabelId::TAU));
        }
        let terminating = holders.remove(&LabelId::TICK).unwrap_or_default();
        if terminating.len() == self.components.len() {
            rules.push(Rule::new(terminating.into_iter().map(|component| (component, LabelId::TICK)), LabelId::TICK));
        }
        let listed: Option<HashSet<LabelId>> = match &self.synchronise {
            Synchronise::Shared => None,
            Synchronise::None => Some(HashSet::new()),
            Synchronise::Only(lists) => {
                let all = Alphabet::new(&self.labels, holders.keys().copied());
                let list = |text| all.resolve_list(Argument { option: "--sync", text }, mistakes);
                Some(lists.iter().map(String::as_str).flat_map(list).collect())
            }
        };
        let vectors = self.vector_rules(&members, mistakes);
        for (label, mut holders) in holders {
            holders.retain(|&component| !vectors.taken.contains(&(component, label)));
            if listed.as_ref().is_none_or(|listed| listed.contains(&label)) {
                if !holders.is_empty() {
                    rules.push(Rule::new(holders.into_iter().map(|component| (component, label)), label));
                }
            } else {
                rules.extend(holders.into_iter().map(|component| Rule::new([(component, label)], label)));
            }
        }
        rules.extend(vectors.rules);
        rules
    }

    fn vector_rules(&self, members: &[Vec<LabelId>], mistakes: &mut Vec<Diagnostic>) -> Vectors {
        let mut all = Vectors::default();
        if self.vectors.is_empty() {
            return all;
        }
        let alphabets: Vec<Alphabet> =
            members.iter().map(|labels| Alphabet::new(&self.labels, labels.iter().copied())).collect();
        for text in &self.vectors {
            if let Err(mistake) = self.vector(Argument { option: "--vector", text }, &alphabets, &mut all) {
                mistakes.push(mistake);
            }
        }
        all
    }

    fn vector(&self, argument: Argument<'_>, alphabets: &[Alphabet], all: &mut Vectors) -> Result<(), Diagnostic> {
        let text = argument.text;
        let whole = 0..text.len();
        let malformed = |message: &str, range| {
            argument
                .error(codes::VECTOR_SHAPE, message, range)
                .help("write `send,_,receive -> c`, with `_` for a component that does nothing")
        };
        let several_stars = |part: &Entry| {
            let message = "an entry has at most one `*`";
            argument.error(codes::VECTOR_SHAPE, message, part.range.clone()).help(QUOTE_STARS)
        };
        let Some((left, right)) = split_once(text, whole.clone(), "->").map_err(|at| argument.unbalanced(at))? else {
            return Err(malformed("a vector needs `->` and the label that is seen", whole));
        };
        let parts = split(text, left.clone(), ",").map_err(|at| argument.unbalanced(at))?;
        if parts.len() != alphabets.len() {
            let message = format!("{} entries for {} components", parts.len(), alphabets.len());
            return Err(argument.error(codes::VECTOR_LENGTH, message, left));
        }
        let seen = entry(text, right);
        if seen.text.is_empty() {
            return Err(malformed("the label that is seen is missing", seen.range));
        }
        if seen.text == "✓" {
            return Err(argument.error(codes::RESERVED, "a vector cannot make `✓`", seen.range));
        }
        let entries: Vec<(usize, Entry)> = parts
            .into_iter()
            .map(|range| entry(text, range))
            .enumerate()
            .filter(|(_, part)| part.quoted || part.text != "_")
            .collect();
        if entries.is_empty() {
            return Err(malformed("no component takes part", left));
        }
        // Entries with a text that is a label are that label; of the others, all that have a `*` agree on it.
        let mut fixed: Vec<(usize, LabelId)> = Vec::new();
        let mut open: Vec<&(usize, Entry)> = Vec::new();
        for indexed in &entries {
            let (component, part) = indexed;
            if part.text.is_empty() {
                return Err(malformed("an entry is empty", part.range.clone()));
            }
            if let Some(mistake) = reserved(argument, part) {
                return Err(mistake);
            }
            match alphabets[*component].texts.get(&part.text) {
                Some(&label) => fixed.push((*component, label)),
                None if part.around().is_some() => open.push(indexed),
                None if part.has_wildcard() => return Err(several_stars(part)),
                None => {
                    let name = &self.components[*component].name;
                    let message = format!("component {} ({name}) does not have `{}`", component + 1, part.text);
                    let mistake = argument.error(codes::VECTOR_LABEL, message, part.range.clone());
                    return Err(suggest(mistake, alphabets[*component].nearest(&part.text)));
                }
            }
        }
        let literal = alphabets.iter().any(|alphabet| alphabet.texts.contains_key(&seen.text));
        if seen.has_wildcard() && !literal {
            if seen.around().is_none() {
                return Err(several_stars(&seen));
            }
            if open.is_empty() {
                let message = "no entry says what this `*` stands for";
                return Err(argument.error(codes::VECTOR_SHAPE, message, seen.range).help(QUOTE_STARS));
            }
        }
        all.taken.extend(&fixed);
        let Some(((first, pattern), others)) = open.split_first().map(|(first, others)| (*first, others)) else {
            all.rules.push(Rule::new(fixed, self.labels.name(&seen.text)));
            return Ok(());
        };
        for (component, part) in open.iter().copied() {
            all.taken.extend(alphabets[*component].matching(part).into_iter().map(|label| (*component, label)));
        }
        let made = all.rules.len();
        for (label_text, &label) in &alphabets[*first].texts {
            let Some(captured) = pattern.captured(label_text) else { continue };
            let filled = |part: &Entry| part.around().map(|(before, after)| format!("{before}{captured}{after}"));
            let agreeing: Option<Vec<(usize, LabelId)>> = others
                .iter()
                .map(|(component, part)| Some((*component, *alphabets[*component].texts.get(&filled(part)?)?)))
                .collect();
            if let Some(agreeing) = agreeing {
                let parts = fixed.iter().copied().chain([(*first, label)]).chain(agreeing);
                let name = filled(&seen).filter(|_| !literal).unwrap_or_else(|| seen.text.clone());
                all.rules.push(Rule::new(parts, self.labels.name(&name)));
            }
        }
        if all.rules.len() == made {
            let message = "no labels of these components fit the vector";
            return Err(argument.error(codes::VECTOR_LABEL, message, left));
        }
        Ok(())
    }

    /// The visible labels that rules give, and those that components have.
    fn results(&self, rules: &[Rule]) -> Alphabet {
        Alphabet::new(&self.labels, rules.iter().map(Rule::label))
    }

    fn renamed(&self, rules: Vec<Rule>, mistakes: &mut Vec<Diagnostic>) -> Vec<Rule> {
        if self.rename.is_empty() {
            return rules;
        }
        let results = self.results(&rules);
        let mut renamings = Vec::new();
        for text in &self.rename {
            let argument = Argument { option: "--rename", text };
            match split(text, 0..text.len(), ",") {
                Err(unbalanced) => mistakes.push(argument.unbalanced(unbalanced)),
                Ok(parts) => {
                    renamings.extend(parts.into_iter().filter_map(|part| renaming(argument, part, &results, mistakes)));
                }
            }
        }
        let mut images: HashMap<LabelId, Vec<LabelId>> = HashMap::new();
        for (text, &label) in &results.texts {
            for renaming in renamings.iter().filter(|renaming| renaming.fits.contains(&label)) {
                let new = match (renaming.new.around(), renaming.old.captured(text)) {
                    (Some((before, after)), Some(captured)) => format!("{before}{captured}{after}"),
                    _ => renaming.new.text.clone(),
                };
                images.entry(label).or_default().push(self.labels.name(&new));
            }
        }
        let image = |rule: Rule| match images.get(&rule.label()) {
            Some(images) => images.iter().map(|&label| relabelled(&rule, label)).collect(),
            None => vec![rule],
        };
        rules.into_iter().flat_map(image).collect()
    }

    fn hidden(&self, rules: Vec<Rule>, mistakes: &mut Vec<Diagnostic>) -> Vec<Rule> {
        let results = self.results(&rules);
        let mut list = |option, lists: &[String]| -> BTreeSet<LabelId> {
            let resolve = |text: &String| results.resolve_list(Argument { option, text }, mistakes);
            lists.iter().flat_map(resolve).collect()
        };
        let hidden = list("--hide", &self.hide);
        let shown = self.hide_all_but.as_deref().map(|lists| list("--hide-all-but", lists));
        if shown.is_some() && !self.hide.is_empty() {
            let message = "labels to hide and labels not to hide are both listed";
            let place = Place::File("--hide-all-but".into());
            mistakes.push(Diagnostic::error(codes::HIDE_TWICE, message, place).help("give one of them"));
        }
        let hides = |label: LabelId| {
            let visible = label.is_visible() && label != LabelId::TICK;
            visible && shown.as_ref().map_or_else(|| hidden.contains(&label), |shown| !shown.contains(&label))
        };
        let hide = |rule: Rule| if hides(rule.label()) { relabelled(&rule, LabelId::TAU) } else { rule };
        rules.into_iter().map(hide).collect()
    }
}

/// The rule with another label; one that is hidden remembers what it was.
pub(crate) fn relabelled(rule: &Rule, label: LabelId) -> Rule {
    let origin = if label.is_visible() { label } else { rule.origin() };
    Rule::new(rule.parts(), label).with_origin(origin)
}

fn renaming(
    argument: Argument<'_>,
    part: Range<usize>,
    results: &Alphabet,
    mistakes: &mut Vec<Diagnostic>,
) -> Option<Renaming> {
    let mut malformed = |message: &str, range| {
        mistakes.push(argument.error(codes::RENAMING_SHAPE, message, range).help("write `old=new`"));
        None
    };
    let (old, new) = match split_once(argument.text, part.clone(), "=") {
        Ok(Some((old, new))) => (entry(argument.text, old), entry(argument.text, new)),
        Ok(None) => return malformed("a renaming needs `=`", part),
        Err(unbalanced) => {
            mistakes.push(argument.unbalanced(unbalanced));
            return None;
        }
    };
    if old.text.is_empty() || new.text.is_empty() {
        return malformed("a label is missing", part);
    }
    if new.text == "✓" {
        mistakes.push(argument.error(codes::RESERVED, "an event cannot become `✓`", new.range));
        return None;
    }
    let exact = results.texts.contains_key(&old.text);
    let literal = results.texts.contains_key(&new.text);
    if new.has_wildcard() && !literal {
        if exact || !old.has_wildcard() {
            return malformed("nothing says what the `*` of the new name stands for", part);
        }
        if old.around().is_none() || new.around().is_none() {
            return malformed("with several `*` it is not clear what goes where", part);
        }
    }
    let fits: HashSet<LabelId> = results.resolve(argument, &old, mistakes).into_iter().collect();
    // A label whose own text has the star neither captures nor is filled.
    let old = Entry { quoted: old.quoted || exact, ..old };
    let new = Entry { quoted: new.quoted || literal, ..new };
    (!fits.is_empty()).then_some(Renaming { old, new, fits })
}
