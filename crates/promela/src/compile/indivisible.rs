//! The body of a `d_step`.

use std::collections::HashMap;
use std::sync::Arc;

use super::flow::{Body, ElementId, Kind, SequenceId};
use super::{Compiled, Compiler};
use crate::codes::{D_STEP, LOOP_OF_JUMPS};
use crate::program::{Action, Guard, Indivisible, IndivisibleStep, Node};

/// Behind the last step.
pub(crate) const OVER: u32 = u32::MAX;

struct Draft<'b> {
    body: &'b Body,
    number: u32,
    steps: Vec<Option<IndivisibleStep>>,
    known: HashMap<ElementId, u32>,
    work: Vec<ElementId>,
}

impl Compiler<'_> {
    /// Compiles the body of a d_step.
    pub(super) fn indivisible(&mut self, body: &Body, sequence: SequenceId) -> Compiled<Arc<Action>> {
        let first = body.sequences[sequence].first;
        let number = body.elements[first].d_step;
        let guard = self.guard(body, first)?;
        let mut draft = Draft { body, number, steps: Vec::new(), known: HashMap::new(), work: Vec::new() };
        let start = self.entry(&mut draft, Some(first))?;
        while let Some(element) = draft.work.pop() {
            let step = self.step_of(&mut draft, element)?;
            let index = draft.known[&element] as usize;
            draft.steps[index] = Some(step);
        }
        let steps = draft.steps.into_iter().flatten().collect();
        Ok(Arc::new(Action::Indivisible(Box::new(Indivisible { guard, start, steps }))))
    }

    /// The step that control reaches from an element.
    fn entry(&mut self, draft: &mut Draft<'_>, from: Option<ElementId>) -> Compiled<u32> {
        let mut at = from;
        for _ in 0..10_000 {
            let Some(element) = at else { return Ok(OVER) };
            let here = &draft.body.elements[element];
            if here.d_step != draft.number {
                return Ok(OVER);
            }
            at = match here.kind {
                Kind::Joint | Kind::Break => here.next,
                Kind::Goto(_) => Some(draft.body.target(element, self)?),
                Kind::Block | Kind::Atomic | Kind::DStep => here.body.map(|body| draft.body.sequences[body].first),
                _ => {
                    let fresh = draft.steps.len() as u32;
                    let index = *draft.known.entry(element).or_insert(fresh);
                    if index == fresh {
                        draft.steps.push(None);
                        draft.work.push(element);
                    }
                    return Ok(index);
                }
            };
        }
        let span = from.map_or(draft.body.elements[0].span, |from| draft.body.elements[from].span);
        self.complain(LOOP_OF_JUMPS, "these jumps lead to each other and never to a statement", span)
    }

    fn step_of(&mut self, draft: &mut Draft<'_>, element: ElementId) -> Compiled<IndivisibleStep> {
        let here = &draft.body.elements[element];
        let action = match &here.kind {
            // Of an `unless` its first part, or else its second.
            Kind::If | Kind::Do | Kind::Unless => {
                let mut options = Vec::new();
                for &part in &here.parts {
                    options.push(self.entry(draft, Some(draft.body.sequences[part].first))?);
                }
                return Ok(IndivisibleStep::Choose(options));
            }
            Kind::Basic(action) => (**action).clone(),
            Kind::Never => Action::Condition(self.node(Node::Constant(0))),
            Kind::End => return self.complain(D_STEP, "a d_step cannot contain this", here.span),
            _ => Action::Skip,
        };
        let next = self.entry(draft, here.next)?;
        Ok(IndivisibleStep::Do { action, next, statement: here.state })
    }

    /// When it can begin: decided by what stands first.
    fn guard(&mut self, body: &Body, first: ElementId) -> Compiled<Guard> {
        let here = &body.elements[first];
        Ok(match &here.kind {
            Kind::Block | Kind::Atomic | Kind::DStep => match here.body {
                Some(inner) => {
                    let inner = body.sequences[inner].first;
                    return stacker::maybe_grow(64 << 10, 1 << 20, || self.guard(body, inner));
                }
                None => Guard::Free,
            },
            Kind::Unless => return self.complain(D_STEP, "a d_step cannot begin with `unless`", here.span),
            Kind::If => collected(body, first, self),
            Kind::Joint => match here.next {
                Some(next) if matches!(body.elements[next].kind, Kind::Do) => collected(body, next, self),
                _ => Guard::Free,
            },
            Kind::Basic(action) if decides(action) => Guard::Any(vec![(**action).clone()]),
            Kind::Never => Guard::Any(vec![Action::Condition(self.node(Node::Constant(0)))]),
            Kind::Else => Guard::Any(vec![Action::Else]),
            _ => Guard::Free,
        })
    }
}

fn decides(action: &Action) -> bool {
    matches!(action, Action::Condition(_) | Action::Send(_) | Action::Receive(_))
}

/// The guards of a selection. Options that begin with anything but a condition, send, receive or `else` do not count,
/// as in Spin's verifiers; where none counts the selection can always begin.
fn collected(body: &Body, selection: ElementId, compiler: &mut Compiler<'_>) -> Guard {
    let mut guards = Vec::new();
    let mut work = vec![selection];
    while let Some(selection) = work.pop() {
        for &part in &body.elements[selection].parts {
            let start = body.hunt_start(body.sequences[part].first);
            let here = &body.elements[start];
            match &here.kind {
                Kind::Block => {
                    if let Some(inner) = here.body {
                        work.push(body.sequences[inner].first);
                    }
                }
                Kind::If | Kind::Do => work.push(start),
                Kind::Else | Kind::Skip => guards.push(Action::Skip),
                Kind::Never => guards.push(Action::Condition(compiler.node(Node::Constant(0)))),
                Kind::Basic(action) if decides(action) => guards.push((**action).clone()),
                _ => {}
            }
        }
    }
    if guards.is_empty() { Guard::Free } else { Guard::Any(guards) }
}
