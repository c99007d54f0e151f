//! From a tree to rules over its files.
//!
//! A behaviour becomes the list of its rules, from the inside out; a composition joins the rules of its branches by
//! label. A file that is named twice is two components of one LTS. Cost: the rules that are made on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_lts::Lts;
use trefoil_source::{Diagnostic, Place, Span, nearest};
use trefoil_system::{LabelId, Labels};

use super::expression::{Behaviour, Branch, Expression, Name, Names, Synchronised, Vector};
use crate::codes;
use crate::composition::relabelled;
use crate::patterns::Entry;
use crate::rules::{Component, Rule};

/// More rules than this are refused.
const MOST_RULES: usize = 1_000_000;

/// The components and rules of an expression, and what is suspicious about it.
#[derive(Debug)]
pub struct Flattened {
    /// One for each time a file is named.
    pub components: Vec<Component>,
    /// What they do together.
    pub rules: Vec<Rule>,
    /// Names that no label has.
    pub warnings: Vec<Diagnostic>,
}

/// Why there are no rules.
#[derive(Debug)]
pub enum NotFlattened {
    /// The expression is wrong.
    Wrong(Diagnostic),
    /// The job was stopped.
    Stopped(Stopped),
}

impl From<Diagnostic> for NotFlattened {
    fn from(diagnostic: Diagnostic) -> Self {
        NotFlattened::Wrong(diagnostic)
    }
}

impl From<Stopped> for NotFlattened {
    fn from(stopped: Stopped) -> Self {
        NotFlattened::Stopped(stopped)
    }
}

impl Expression {
    /// The components and rules; `systems` are those of [`Expression::files`], in that order, over the same label
    /// table.
    pub fn flatten(
        &self,
        labels: &Arc<Labels>,
        systems: &[Arc<Lts>],
        control: &Control,
    ) -> Result<Flattened, NotFlattened> {
        let mut flattening = Flattening {
            expression: self,
            labels,
            systems,
            control,
            alphabets: systems.iter().map(|lts| lts.alphabet()).collect(),
            components: Vec::new(),
            warnings: Vec::new(),
        };
        let rules = flattening.rules(&self.root)?;
        Ok(Flattened { components: flattening.components, rules, warnings: flattening.warnings })
    }
}

struct Flattening<'a> {
    expression: &'a Expression,
    labels: &'a Arc<Labels>,
    systems: &'a [Arc<Lts>],
    control: &'a Control,
    /// By file.
    alphabets: Vec<Vec<LabelId>>,
    components: Vec<Component>,
    warnings: Vec<Diagnostic>,
}

/// Where the offers of a label begin.
fn gate_length(label: &str) -> usize {
    label.find([' ', '!', '(']).unwrap_or(label.len())
}

impl Name {
    fn entry(&self) -> Entry {
        Entry { text: self.text.clone(), quoted: !self.text.contains('*'), range: 0..0 }
    }

    fn fits(&self, label: &str) -> bool {
        if self.quoted {
            self.text == label || self.entry().fits(label)
        } else {
            self.text == label[..gate_length(label)]
        }
    }

    /// The part of a label that a matching name leaves open: the offers of a gate, or what its only `*` stands for;
    /// `None` when the name leaves nothing open.
    fn open<'l>(&self, label: &'l str) -> Option<&'l str> {
        if !self.quoted {
            return Some(&label[gate_length(label)..]);
        }
        if self.text == label {
            return None;
        }
        self.entry().captured(label)
    }

    /// The text of a label with this name and what was open.
    fn filled(&self, open: Option<&str>) -> String {
        match (open, self.quoted) {
            (Some(offers), false) => format!("{}{offers}", self.text),
            (Some(text), true) => match self.entry().around() {
                Some((before, after)) => format!("{before}{text}{after}"),
                None => self.text.clone(),
            },
            (None, _) => self.text.clone(),
        }
    }
}

/// Which branches do a label together.
enum Together {
    Nobody,
    All(Vec<usize>),
    Some(Vec<usize>, usize),
}

type Made = Result<Vec<Rule>, NotFlattened>;

/// The participants of a rule that is being made.
type Parts = Vec<(usize, LabelId)>;

impl Flattening<'_> {
    fn text(&self, label: LabelId) -> String {
        self.labels.get(label).to_string()
    }

    fn named(&self, text: &str) -> LabelId {
        if matches!(text, "i" | "τ") { LabelId::TAU } else { self.labels.name(text) }
    }

    /// Recursion as deep as the text is nested, which is limited.
    fn rules(&mut self, behaviour: &Behaviour) -> Made {
        self.control.check()?;
        match behaviour {
            Behaviour::File(file) => {
                let component = self.components.len();
                let name = self.expression.files[*file].0.clone();
                self.components.push(Component::new(name, self.systems[*file].clone()));
                let rule = |&label: &LabelId| Rule::new([(component, label)], label);
                Ok(self.alphabets[*file].iter().map(rule).collect())
            }
            Behaviour::Hide { names, inside } => {
                let rules = self.rules(inside)?;
                let named = self.resolve(names, &rules);
                let hide = |rule: Rule| {
                    if named.contains(&rule.label()) { relabelled(&rule, LabelId::TAU) } else { rule }
                };
                Ok(rules.into_iter().map(hide).collect())
            }
            Behaviour::Cut { names, inside } => {
                let mut rules = self.rules(inside)?;
                let named = self.resolve(names, &rules);
                rules.retain(|rule| !named.contains(&rule.label()));
                Ok(rules)
            }
            Behaviour::Rename { arrows, inside } => {
                let rules = self.rules(inside)?;
                self.rename(arrows, rules)
            }
            Behaviour::Parallel { synchronised, branches, span } => self.parallel(synchronised, branches, *span),
            Behaviour::Vectors { vectors, branches, span } => self.vectors(vectors, branches, *span),
        }
    }

    /// The visible labels of rules with their texts.
    fn visible<'r>(&self, rules: impl IntoIterator<Item = &'r Rule>) -> BTreeMap<LabelId, String> {
        let labels: BTreeSet<LabelId> = rules.into_iter().map(Rule::label).collect();
        let visible = labels.into_iter().filter(|label| label.is_visible() && *label != LabelId::TICK);
        visible.map(|label| (label, self.text(label))).collect()
    }

    /// The labels that a name fits; a warning when there are none.
    fn matching(&mut self, name: &Name, alphabet: &BTreeMap<LabelId, String>) -> Vec<LabelId> {
        let found: Vec<LabelId> =
            alphabet.iter().filter(|(_, text)| name.fits(text)).map(|(&label, _)| label).collect();
        if found.is_empty() {
            let message = match name.quoted {
                true => format!("no label here fits \"{}\"", name.text),
                false => format!("no label here has the gate `{}`", name.text),
            };
            let mut warning = Diagnostic::warning(codes::NO_SUCH_LABEL, message, Place::Span(name.span));
            let known = alphabet.values().map(|text| if name.quoted { &text[..] } else { &text[..gate_length(text)] });
            if let Some(near) = nearest(&name.text, known) {
                warning = warning.help(format!("there is `{near}`"));
            } else if name.quoted && name.text.contains([']', '\\', '.']) {
                warning = warning.help("`*` stands for any text; regular expressions are not read");
            }
            self.warnings.push(warning);
        }
        found
    }

    fn resolve(&mut self, names: &Names, rules: &[Rule]) -> BTreeSet<LabelId> {
        let alphabet = self.visible(rules);
        let listed: BTreeSet<LabelId> = names.names.iter().flat_map(|name| self.matching(name, &alphabet)).collect();
        if !names.all_but {
            return listed;
        }
        alphabet.into_keys().filter(|label| !listed.contains(label)).collect()
    }

    fn rename(&mut self, arrows: &[(Name, Name)], rules: Vec<Rule>) -> Made {
        let alphabet = self.visible(&rules);
        let mut image: BTreeMap<LabelId, LabelId> = BTreeMap::new();
        for (old, new) in arrows {
            for label in self.matching(old, &alphabet) {
                let text = &alphabet[&label];
                let open = old.open(text);
                // A gate that becomes a gate keeps its offers; what replaces a whole label is the whole label.
                let renamed = if old.quoted && !new.quoted { new.text.clone() } else { new.filled(open) };
                if renamed == "✓" {
                    let message = "an event cannot become `✓`";
                    return Err(Diagnostic::error(codes::RESERVED, message, Place::Span(new.span)).into());
                }
                let renamed =
                    self.named(if matches!(new.text.as_str(), "i" | "τ" | "tau") { "tau" } else { &renamed });
                image.entry(label).or_insert(renamed);
            }
        }
        let rename = |rule: Rule| match image.get(&rule.label()) {
            Some(&label) => relabelled(&rule, label),
            None => rule,
        };
        Ok(rules.into_iter().map(rename).collect())
    }

    fn parallel(&mut self, synchronised: &Synchronised, branches: &[Branch], span: Span) -> Made {
        let mut by_branch = Vec::with_capacity(branches.len());
        for branch in branches {
            by_branch.push(self.rules(&branch.behaviour)?);
        }
        let alphabet = self.visible(by_branch.iter().flatten());
        let everybody: Vec<usize> = (0..branches.len()).collect();
        // The branches that name a label before the arrow.
        let mut naming: BTreeMap<LabelId, Vec<usize>> = BTreeMap::new();
        for (index, branch) in branches.iter().enumerate() {
            for name in &branch.interface {
                for label in self.matching(name, &alphabet) {
                    let named = naming.entry(label).or_default();
                    if named.last() != Some(&index) {
                        named.push(index);
                    }
                }
            }
        }
        let mut counts: BTreeMap<LabelId, Option<u32>> = BTreeMap::new();
        if let Synchronised::Listed(listed) = synchronised {
            for (name, count) in listed {
                for label in self.matching(name, &alphabet) {
                    counts.entry(label).or_insert(*count);
                }
            }
        }
        let together = |label: LabelId| {
            if label == LabelId::TAU {
                return Together::Nobody;
            }
            if label == LabelId::TICK || alphabet.get(&label).is_some_and(|text| text == "exit") {
                return Together::All(everybody.clone());
            }
            if matches!(synchronised, Synchronised::All) {
                return Together::All(everybody.clone());
            }
            let naming = naming.get(&label);
            match (counts.get(&label), naming) {
                (None, None) => Together::Nobody,
                (None | Some(None), Some(naming)) => Together::All(naming.clone()),
                (Some(None), None) => Together::All(everybody.clone()),
                (Some(Some(count)), naming) => Together::Some(naming.unwrap_or(&everybody).clone(), *count as usize),
            }
        };
        // By label, the rules of each branch that has any.
        let mut grouped: BTreeMap<LabelId, BTreeMap<usize, Vec<Rule>>> = BTreeMap::new();
        for (index, rules) in by_branch.into_iter().enumerate() {
            for rule in rules {
                grouped.entry(rule.label()).or_default().entry(index).or_default().push(rule);
            }
        }
        let mut made = Vec::new();
        let none: Vec<Rule> = Vec::new();
        for (label, rules) in &grouped {
            let of = |branch: usize| rules.get(&branch).unwrap_or(&none).as_slice();
            let (group, count) = match together(*label) {
                Together::Nobody => (Vec::new(), 0),
                Together::All(group) => {
                    let count = group.len();
                    (group, count)
                }
                Together::Some(group, count) => (group, count),
            };
            for (_, alone) in rules.iter().filter(|(branch, _)| !group.contains(branch)) {
                made.extend_from_slice(alone);
            }
            if count > 0 {
                let able: Vec<&[Rule]> =
                    group.iter().map(|&branch| of(branch)).filter(|rules| !rules.is_empty()).collect();
                self.some_of(&able, count, *label, span, &mut made)?;
            }
            self.bounded(made.len(), span)?;
        }
        Ok(made)
    }

    fn bounded(&self, rules: usize, span: Span) -> Result<(), NotFlattened> {
        if rules > MOST_RULES {
            let message = format!("more than {MOST_RULES} ways to synchronise come together here");
            return Err(Diagnostic::error(codes::EXP_RULES, message, Place::Span(span)).into());
        }
        self.control.afford(rules * 8)?;
        Ok(())
    }

    /// Joins the rules of any `count` of the branches, in every combination.
    fn some_of(
        &self,
        branches: &[&[Rule]],
        count: usize,
        label: LabelId,
        span: Span,
        made: &mut Vec<Rule>,
    ) -> Result<(), NotFlattened> {
        // Partial combinations by how many branches take part; branch after branch, each may take part or not.
        let mut begun: Vec<Vec<Parts>> = vec![Vec::new(); count + 1];
        begun[0].push(Vec::new());
        for (at, rules) in branches.iter().enumerate() {
            for taken in (0..count.min(at + 1)).rev() {
                let mut longer = Vec::new();
                for parts in &begun[taken] {
                    for rule in *rules {
                        longer.push(parts.iter().copied().chain(rule.parts()).collect());
                        self.bounded_while(longer.len() + made.len(), span)?;
                    }
                }
                begun[taken + 1].append(&mut longer);
                // What cannot be completed any more is dropped.
                if taken + (branches.len() - at - 1) < count {
                    begun[taken].clear();
                }
            }
            self.bounded(begun.iter().map(Vec::len).sum::<usize>() + made.len(), span)?;
        }
        made.extend(begun.swap_remove(count).into_iter().map(|parts| Rule::new(parts, label)));
        Ok(())
    }

    fn bounded_while(&self, rules: usize, span: Span) -> Result<(), NotFlattened> {
        if rules.is_multiple_of(1 << 12) || rules > MOST_RULES { self.bounded(rules, span) } else { Ok(()) }
    }

    fn vectors(&mut self, vectors: &[Vector], branches: &[Behaviour], span: Span) -> Made {
        let mut by_branch = Vec::with_capacity(branches.len());
        for branch in branches {
            by_branch.push(self.rules(branch)?);
        }
        let mut made: Vec<Rule> =
            by_branch.iter().flatten().filter(|rule| rule.label() == LabelId::TAU).cloned().collect();
        let alphabets: Vec<BTreeMap<LabelId, String>> = by_branch.iter().map(|rules| self.visible(rules)).collect();
        let mut of: Vec<BTreeMap<LabelId, Vec<&Rule>>> = vec![BTreeMap::new(); branches.len()];
        for (rules, of) in by_branch.iter().zip(&mut of) {
            for rule in rules {
                of.entry(rule.label()).or_default().push(rule);
            }
        }
        for vector in vectors {
            // What was open in the names so far, and the parts.
            let mut begun: Vec<(Option<String>, Parts)> = vec![(None, Vec::new())];
            for (branch, name) in vector.parts.iter().enumerate() {
                let Some(name) = name else { continue };
                let mut longer = Vec::new();
                for label in self.matching(name, &alphabets[branch]) {
                    let open = name.open(&alphabets[branch][&label]);
                    for (agreed, parts) in &begun {
                        if open.is_some() && agreed.is_some() && agreed.as_deref() != open {
                            continue;
                        }
                        for rule in &of[branch][&label] {
                            let agreed = agreed.clone().or_else(|| open.map(str::to_string));
                            longer.push((agreed, parts.iter().copied().chain(rule.parts()).collect()));
                            self.bounded_while(longer.len() + made.len(), span)?;
                        }
                    }
                }
                begun = longer;
            }
            for (open, parts) in begun {
                let text = vector.result.filled(open.as_deref());
                let internal = matches!(vector.result.text.as_str(), "i" | "τ" | "tau");
                if text == "✓" {
                    let message = "a vector cannot make `✓`";
                    return Err(Diagnostic::error(codes::RESERVED, message, Place::Span(vector.result.span)).into());
                }
                made.push(Rule::new(parts, if internal { LabelId::TAU } else { self.named(&text) }));
            }
            self.bounded(made.len(), span)?;
        }
        Ok(made)
    }
}
