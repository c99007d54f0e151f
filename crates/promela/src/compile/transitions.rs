//! Elements to the table of transitions that a machine runs.
//!
//! Selections and blocks are not states with steps of their own: the transitions of their options are pulled up into
//! them. Escapes come before the transitions that they interrupt, and once an escape is enabled, the machine tries only
//! transitions of that escape.

use std::sync::Arc;

use trefoil_source::Span;

use super::flow::{Body, Element, ElementId, Kind, SequenceId};
use super::{Compiled, Compiler};
use crate::program::{Action, Control, Frame, ProcessType, Statement, Transition};
use crate::syntax::tree::Word;

/// A state before its options are pulled up.
enum Entry {
    None,
    Single(Drafted),
    /// Where the options begin.
    Choice(Vec<usize>),
}

#[derive(Clone)]
struct Drafted {
    transition: Transition,
    /// The number of its element: two copies of one transition are one transition.
    number: u32,
    /// Where its escapes begin.
    escapes: Vec<usize>,
}

struct Draft<'c, 'a> {
    compiler: &'c mut Compiler<'a>,
    body: Body,
    entries: Vec<Entry>,
    listed: Vec<bool>,
}

/// The labels of control states with a meaning for a verifier.
#[derive(Clone, Copy, Default)]
struct Marked {
    end: bool,
    progress: bool,
    accept: bool,
}

impl Marked {
    fn or(self, other: Marked) -> Marked {
        Marked {
            end: self.end | other.end,
            progress: self.progress | other.progress,
            accept: self.accept | other.accept,
        }
    }
}

impl Compiler<'_> {
    /// The table of a process.
    pub(super) fn transitions(
        &mut self,
        mut body: Body,
        whole: SequenceId,
        name: &Word,
        end: Span,
    ) -> Compiled<ProcessType> {
        self.keep_remote_labels(&mut body, name);
        body.tie_ends();
        let states = body.elements.len() + 1;
        let mut draft = Draft {
            compiler: self,
            entries: (0..states).map(|_| Entry::None).collect(),
            listed: vec![true; states],
            body,
        };
        draft.put_sequence(whole)?;
        let first = draft.body.sequences[whole].first;
        let atomic = draft.body.elements[first].atomic;
        let start = draft.body.hunt(first, atomic, draft.compiler)?;
        let start = draft.body.elements[start].state;
        let Draft { body, mut entries, mut listed, .. } = draft;
        let mut marks = vec![Marked::default(); states];
        for label in &body.labels {
            let mark = &mut marks[body.elements[label.element].state as usize];
            mark.end |= label.name.starts_with("end");
            mark.progress |= label.name.starts_with("progress");
            mark.accept |= label.name.starts_with("accept");
        }
        flatten(&mut entries, &mut marks);
        let pulled = pull_up(entries, &mut marks, &mut listed);
        let table = add_escapes(pulled);
        for element in body.elements.iter().filter(|element| matches!(element.kind, Kind::End)) {
            marks[element.state as usize].end = true;
        }
        for (state, transitions) in table.iter().enumerate().skip(1) {
            let joint = matches!(body.elements[state - 1].kind, Kind::Joint);
            if let ([only], true, true) = (&transitions[..], joint, marks[state].end) {
                marks[only.transition.target as usize].end = true;
            }
        }
        let nowhere = Statement {
            text: String::new(),
            line: 0,
            column: 0,
            span: end,
            number: 0,
            listed: false,
            file: "".into(),
            print: None,
            shown: None,
        };
        let statements = std::iter::once(nowhere)
            .chain(body.elements.iter().map(|element| Statement {
                text: String::new(),
                line: 0,
                column: 0,
                span: element.span,
                number: element.number,
                listed: listed[element.state as usize] && !element.done_without_transition(),
                file: "".into(),
                print: if let Kind::Print(print) = element.kind { Some(print) } else { None },
                shown: element.shown,
            }))
            .collect();
        Ok(ProcessType {
            name: name.text.clone(),
            span: name.span,
            frame: Frame::default(),
            parameters: 0,
            start,
            transitions: table
                .into_iter()
                .map(|transitions| transitions.into_iter().map(|drafted| drafted.transition).collect())
                .collect(),
            statements,
            valid_end: marks.iter().map(|mark| mark.end).collect(),
            progress: marks.iter().map(|mark| mark.progress).collect(),
            accepting: marks.iter().map(|mark| mark.accept).collect(),
            labels: body.labels.iter().map(|label| (label.name.clone(), body.elements[label.element].state)).collect(),
            provided: None,
            deterministic: false,
        })
    }
}

impl Compiler<'_> {
    /// A jump with a label that a remote reference names becomes a state of its own: a skip before the jump.
    fn keep_remote_labels(&mut self, body: &mut Body, name: &Word) {
        for index in 0..body.labels.len() {
            let label = body.labels[index].name.clone();
            let element = body.labels[index].element;
            let looked_at = self.remote_names.contains(&(name.text.clone(), label));
            if !looked_at || !matches!(body.elements[element].kind, Kind::Goto(_)) {
                continue;
            }
            let kind = std::mem::replace(&mut body.elements[element].kind, Kind::Skip);
            let moved = Element {
                kind,
                next: body.elements[element].next,
                parts: Vec::new(),
                body: None,
                escapes: Vec::new(),
                state: body.elements.len() as u32 + 1,
                number: self.numbered,
                ..body.elements[element]
            };
            self.numbered += 1;
            body.elements.push(moved);
            let last = body.elements.len() - 1;
            body.elements[element].next = Some(last);
            for sequence in body.sequences.iter_mut().filter(|sequence| sequence.last == element) {
                sequence.last = last;
            }
        }
    }
}

impl super::flow::Element {
    /// Joints, jumps and selections are no statements that a person wrote to be reached.
    fn done_without_transition(&self) -> bool {
        matches!(
            self.kind,
            Kind::Joint
                | Kind::Break
                | Kind::Goto(_)
                | Kind::If
                | Kind::Do
                | Kind::Unless
                | Kind::Block
                | Kind::Skip
                | Kind::Else
        ) || (self.d_step > 0 && !matches!(self.kind, Kind::DStep))
    }
}

impl Draft<'_, '_> {
    fn put_sequence(&mut self, sequence: SequenceId) -> Compiled<()> {
        let mut at = Some(self.body.sequences[sequence].first);
        while let Some(element) = at {
            if !self.body.elements[element].done {
                self.body.elements[element].done = true;
                stacker::maybe_grow(128 << 10, 2 << 20, || self.put(element))?;
            }
            if element == self.body.sequences[sequence].last {
                break;
            }
            at = self.body.elements[element].next;
        }
        Ok(())
    }

    fn put(&mut self, element: ElementId) -> Compiled<()> {
        self.compiler.poll()?;
        let state = self.body.elements[element].state as usize;
        match self.body.elements[element].kind {
            Kind::Unless => {
                let main = self.body.elements[element].parts[0];
                self.put_sequence(main)
            }
            Kind::If | Kind::Do => {
                let parts = self.body.elements[element].parts.clone();
                let mut targets = Vec::new();
                for &part in &parts {
                    let start = self.body.hunt_start(self.body.sequences[part].first);
                    let start = &self.body.elements[start];
                    // An option that can never be taken is left out.
                    if matches!(start.kind, Kind::Never) && start.escapes.is_empty() {
                        self.listed[start.state as usize] = false;
                    } else {
                        targets.push(start.state as usize);
                    }
                }
                self.entries[state] = Entry::Choice(targets);
                parts.into_iter().try_for_each(|part| self.put_sequence(part))
            }
            Kind::Atomic | Kind::Block | Kind::DStep => self.put_block(element),
            _ => self.put_simple(element),
        }
    }

    fn put_block(&mut self, element: ElementId) -> Compiled<()> {
        let Some(body) = self.body.elements[element].body else { return Ok(()) };
        self.body.patch_atomic(body, self.compiler)?;
        let next = self.body.elements[element].next;
        let last = self.body.sequences[body].last;
        self.body.elements[last].next = next;
        let state = self.body.elements[element].state as usize;
        if matches!(self.body.elements[element].kind, Kind::DStep) {
            let action = self.compiler.indivisible(&self.body, body)?;
            let target = self.target_of(element)?;
            let drafted = self.draft(element, action, target)?;
            self.entries[state] = Entry::Single(drafted);
            return self.put_escapes(element);
        }
        let start = self.body.hunt_start(self.body.sequences[body].first);
        self.entries[state] = Entry::Choice(vec![self.body.elements[start].state as usize]);
        self.put_sequence(body)
    }

    /// Where control goes from an element.
    fn target_of(&mut self, element: ElementId) -> Compiled<Control> {
        let atomic = self.body.elements[element].atomic;
        let next = match self.body.elements[element].kind {
            Kind::Goto(_) => Some(self.body.target(element, self.compiler)?),
            _ => self.body.elements[element].next,
        };
        match next {
            Some(next) => {
                let found = self.body.hunt(next, atomic, self.compiler)?;
                Ok(self.body.elements[found].state)
            }
            None => Ok(0),
        }
    }

    fn draft(&mut self, element: ElementId, action: Arc<Action>, target: Control) -> Compiled<Drafted> {
        let here = &self.body.elements[element];
        let (state, number, atomic) = (here.state, here.number, here.atomic);
        let mut escapes = Vec::new();
        if !matches!(here.kind, Kind::Joint) {
            for escape in here.escapes.clone() {
                let first = self.body.sequences[escape].first;
                let found = self.body.hunt(first, atomic, self.compiler)?;
                escapes.push(self.body.elements[found].state as usize);
            }
        }
        let transition = Transition { statement: state, action, target, atomic, escape: 0 };
        Ok(Drafted { transition, number, escapes })
    }

    fn put_simple(&mut self, element: ElementId) -> Compiled<()> {
        let target = self.target_of(element)?;
        let action = match &self.body.elements[element].kind {
            Kind::Basic(action) => action.clone(),
            Kind::Else => Arc::new(Action::Else),
            Kind::End => Arc::new(Action::End),
            Kind::Never => {
                let never = self.compiler.node(crate::program::Node::Constant(0));
                Arc::new(Action::Condition(never))
            }
            _ => Arc::new(Action::Skip),
        };
        let drafted = self.draft(element, action, target)?;
        let state = self.body.elements[element].state as usize;
        self.entries[state] = Entry::Single(drafted);
        self.put_escapes(element)
    }

    fn put_escapes(&mut self, element: ElementId) -> Compiled<()> {
        if matches!(self.body.elements[element].kind, Kind::Joint) {
            return Ok(());
        }
        for escape in self.body.elements[element].escapes.clone() {
            self.put_sequence(escape)?;
        }
        Ok(())
    }
}

/// Choices whose options are choices become one choice.
fn flatten(entries: &mut [Entry], marks: &mut [Marked]) {
    // A choice is never an option of itself, so the depth is bounded by their number.
    for _ in 0..entries.len() {
        let mut changed = false;
        for state in 1..entries.len() {
            let Entry::Choice(targets) = &entries[state] else { continue };
            if !targets.iter().any(|&target| matches!(entries[target], Entry::Choice(_))) {
                continue;
            }
            let mut flat = Vec::new();
            for &target in targets {
                match &entries[target] {
                    Entry::Choice(inner) => {
                        for &option in inner {
                            marks[option] = marks[option].or(marks[target]);
                            flat.push(option);
                        }
                    }
                    _ => flat.push(target),
                }
            }
            entries[state] = Entry::Choice(flat);
            changed = true;
        }
        if !changed {
            return;
        }
    }
}

/// The transitions of options become those of their choice.
fn pull_up(entries: Vec<Entry>, marks: &mut [Marked], listed: &mut [bool]) -> Vec<Vec<Drafted>> {
    let mut table: Vec<Vec<Drafted>> = Vec::with_capacity(entries.len());
    for state in 0..entries.len() {
        table.push(match &entries[state] {
            Entry::None => Vec::new(),
            Entry::Single(drafted) => vec![drafted.clone()],
            Entry::Choice(targets) => {
                let mut pulled = Vec::new();
                for &target in targets {
                    let Entry::Single(drafted) = &entries[target] else { continue };
                    let behind = drafted.transition.target as usize;
                    marks[behind] = marks[behind].or(marks[target]);
                    pulled.push(drafted.clone());
                }
                listed[state] = false;
                pulled
            }
        });
    }
    table
}

/// Puts the transitions of escapes before those that they interrupt.
fn add_escapes(mut table: Vec<Vec<Drafted>>) -> Vec<Vec<Drafted>> {
    for state in 1..table.len() {
        let own = table[state].clone();
        for drafted in &own {
            for &escape in drafted.escapes.iter().rev() {
                for guard in table[escape].clone() {
                    if table[state].iter().any(|known| known.number == guard.number) {
                        continue;
                    }
                    let mut copy = guard;
                    copy.transition.escape = escape as Control;
                    table[state].insert(0, copy);
                }
            }
        }
    }
    table
}
