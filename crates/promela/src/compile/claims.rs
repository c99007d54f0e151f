//! `ltl` formulas and `never` claims.
//!
//! Claims are compiled behind everything else, whatever their place in the text, as Spin does with `ltl`: they may name
//! what is declared below them. The parts of a formula without temporal operators are its propositions; a condition of
//! a `never` claim is one, too. Propositions that are written alike are one, also across claims, and `!p` is `p`
//! negated.
//!
//! A `never` claim is compiled like a process and becomes an automaton: its control states are states, a condition is
//! an edge, `else` is an edge with the negations of the other conditions. What is atomic happens at one state of the
//! model: its conditions are joined. A claim accepts when it is at an `accept` label again and again, or when it comes
//! to its end; an assertion that fails is such an end. A claim that cannot move drops the run.

use std::collections::HashMap;

use trefoil_source::{Diagnostic, Place as Where, Span};
use trefoil_system::{Automaton, AutomatonEdge, Cube, Ltl, LtlId};

use super::{Compiled, Compiler, Wrong};
use crate::codes::{MISPLACED, counted};
use crate::program::{
    Action, ClaimSays, ExpressionId, NamedClaim, Node, ProcessType, Program, RemoteTarget, Transition,
    WrittenProposition,
};
use crate::syntax::tree::{Binary, Claim, ClaimBody, Expression, ExpressionKind, Unary, Unit, Word};
use crate::walk::visit;

/// A claim whose expressions are compiled.
pub(super) enum Drafted {
    Formula(Draft),
    Never(Box<ProcessType>),
}

/// A formula.
pub(super) enum Draft {
    Leaf(ExpressionId, Span),
    Operator(&'static str, Vec<Draft>),
}

/// More statements than this are not joined in an atomic sequence of a claim.
const LONGEST_ATOMIC: usize = 64;

impl Compiler<'_> {
    /// The expressions of all claims; a mistake in one does not hide those in the others.
    pub(super) fn draft_claims(&mut self, units: &[Unit]) -> Vec<(NamedClaim, Drafted)> {
        self.in_claim = true;
        let mut drafted: Vec<(NamedClaim, Drafted)> = Vec::new();
        for unit in units {
            let Unit::Claim(claim) = unit else { continue };
            let kind = match claim.body {
                ClaimBody::Never(_) => "never",
                ClaimBody::Formula(_) => "ltl",
            };
            let count = drafted.iter().filter(|(other, _)| other.kind == kind).count();
            let name = claim.name.as_ref().map_or_else(|| format!("{kind}_{count}"), |word| word.text.to_string());
            if let Ok(draft) = self.draft_claim(claim) {
                let says = ClaimSays::Refused(String::new());
                drafted.push((
                    NamedClaim { name, kind, span: claim.span, says, propositions: Vec::new(), places: Vec::new() },
                    draft,
                ));
            }
        }
        self.in_claim = false;
        drafted
    }

    fn draft_claim(&mut self, claim: &Claim) -> Compiled<Drafted> {
        match &claim.body {
            ClaimBody::Formula(formula) => Ok(Drafted::Formula(self.draft_formula(formula)?)),
            ClaimBody::Never(body) => {
                let numbered = self.numbered;
                let name = Word { text: ":never:".into(), span: claim.span };
                let automaton = self.process_type(&name, Some(&[]), body, claim.span, None, false);
                self.numbered = numbered;
                Ok(Drafted::Never(Box::new(automaton?)))
            }
        }
    }

    fn draft_formula(&mut self, formula: &Expression) -> Compiled<Draft> {
        stacker::maybe_grow(128 << 10, 2 << 20, || self.draft_formula_here(formula))
    }

    fn draft_formula_here(&mut self, formula: &Expression) -> Compiled<Draft> {
        if !has_temporal(formula) {
            return Ok(Draft::Leaf(self.expression(formula)?, formula.span));
        }
        let parts = |compiler: &mut Self, name: &'static str, parts: &[&Expression]| {
            let drafted: Vec<Compiled<Draft>> = parts.iter().map(|part| compiler.draft_formula(part)).collect();
            Ok(Draft::Operator(name, drafted.into_iter().collect::<Compiled<Vec<Draft>>>()?))
        };
        match &formula.kind {
            ExpressionKind::Temporal(name, inner) => parts(self, name, &inner.iter().collect::<Vec<_>>()),
            ExpressionKind::Unary(Unary::Not, inner) => parts(self, "not", &[inner]),
            ExpressionKind::Binary(Binary::And, left, right) => parts(self, "and", &[left, right]),
            ExpressionKind::Binary(Binary::Or, left, right) => parts(self, "or", &[left, right]),
            _ => {
                let message = "a formula stands here where a value is needed";
                let help = "temporal operators bind tighter than comparisons: write `<> (x > 3)`";
                self.diagnostics.push(Diagnostic::error(MISPLACED, message, Where::Span(formula.span)).help(help));
                Err(Wrong)
            }
        }
    }

    /// Claims, now that labels are known.
    pub(super) fn finish_claims(&mut self, drafted: Vec<(NamedClaim, Drafted)>) {
        let mut known: HashMap<String, u32> = HashMap::new();
        for (mut claim, draft) in drafted {
            let mut atoms = Atoms {
                program: &mut self.program,
                known: &mut known,
                own: Vec::new(),
                places: Vec::new(),
                misplaced: None,
            };
            claim.says = match draft {
                Drafted::Formula(draft) => {
                    let mut ltl = Ltl::default();
                    let root = atoms.formula(&draft, &mut ltl);
                    ClaimSays::Formula(ltl, root)
                }
                Drafted::Never(process) => match atoms.automaton(&process) {
                    Ok(automaton) => ClaimSays::Automaton(automaton),
                    Err(why) => ClaimSays::Refused(why),
                },
            };
            if let Some(what) = atoms.misplaced {
                claim.says = ClaimSays::Refused(format!("{what} in a claim is not supported"));
            }
            (claim.propositions, claim.places) = (atoms.own, atoms.places);
            if claim.propositions.len() > 64 {
                let count = counted(claim.propositions.len(), "proposition");
                claim.says =
                    ClaimSays::Refused(format!("a claim has at most 64 propositions, and this one has {count}"));
            }
            self.program.claims.push(claim);
        }
        let labelled = |marks: fn(&ProcessType) -> &Vec<bool>| {
            self.program.processes.iter().any(|process| marks(process).contains(&true))
        };
        let (progress, accepting) = (labelled(|process| &process.progress), labelled(|process| &process.accepting));
        if progress {
            let node = self.node(Node::NonProgress);
            self.program.non_progress = Some(proposition(&mut self.program, &mut known, node, None));
        }
        if accepting {
            let node = self.node(Node::Accepting);
            self.program.accepting = Some(proposition(&mut self.program, &mut known, node, None));
        }
    }
}

fn has_temporal(expression: &Expression) -> bool {
    stacker::maybe_grow(64 << 10, 1 << 20, || match &expression.kind {
        ExpressionKind::Temporal(..) => true,
        ExpressionKind::Unary(_, inner) => has_temporal(inner),
        ExpressionKind::Binary(_, left, right) => has_temporal(left) || has_temporal(right),
        ExpressionKind::Conditional(parts) => parts.iter().any(has_temporal),
        _ => false,
    })
}

/// The number of a proposition among those of the program.
fn proposition(
    program: &mut Program,
    known: &mut HashMap<String, u32>,
    expression: ExpressionId,
    written: Option<WrittenProposition>,
) -> u32 {
    let next = known.len() as u32;
    let number = *known.entry(key(program, expression)).or_insert(next);
    if number == next {
        program.propositions.push(expression);
        program.written.push(written);
    }
    number
}

/// An expression as text, the same for those that mean the same by their form.
fn key(program: &Program, root: ExpressionId) -> String {
    let mut text = String::new();
    visit(program, root, &mut |_, node| {
        use std::fmt::Write;
        let _ = match node {
            // Operands follow in the order of the walk.
            Node::Not(_) => write!(text, "!"),
            Node::Negate(_) => write!(text, "-"),
            Node::Complement(_) => write!(text, "~"),
            Node::Binary(operator, ..) => write!(text, "({operator:?}"),
            Node::Conditional(..) => write!(text, "(?"),
            Node::Length(_) => write!(text, "len"),
            Node::Full(_) => write!(text, "full"),
            Node::Empty(_) => write!(text, "empty"),
            Node::NotFull(_) => write!(text, "nfull"),
            Node::NotEmpty(_) => write!(text, "nempty"),
            Node::ProgramCounter(_) => write!(text, "pc"),
            Node::Priority(_) => write!(text, "priority"),
            Node::Enabled(_) => write!(text, "enabled"),
            Node::Place(place) => {
                let place = &program.places[place as usize];
                let sizes: Vec<(u32, u32)> = place.indices.iter().map(|index| (index.length, index.stride)).collect();
                write!(text, "[{} {} {:?} {sizes:?}]", place.global, place.base, place.sort)
            }
            Node::Run(run) => write!(text, "run{run}"),
            Node::Poll(poll) => {
                let poll = &program.polls[poll as usize];
                let shape: Vec<bool> = poll.fields.iter().map(Option::is_some).collect();
                write!(text, "poll{} {shape:?}", poll.random)
            }
            Node::Remote(remote) => {
                let remote = &program.remotes[remote as usize];
                match remote.target {
                    RemoteTarget::Label(state) => {
                        write!(text, "{}{}@{state}", remote.process, remote.index.is_some())
                    }
                    RemoteTarget::Place(place) => {
                        let place = &program.places[place as usize];
                        let sizes: Vec<u32> = place.indices.iter().map(|index| index.length).collect();
                        let (process, index) = (remote.process, remote.index.is_some());
                        write!(text, "{process}{index}:{} {:?} {sizes:?}", place.base, place.sort)
                    }
                }
            }
            other => write!(text, "{other:?}"),
        };
        text.push(' ');
    });
    text
}

/// The propositions of a claim.
struct Atoms<'p> {
    program: &'p mut Program,
    known: &'p mut HashMap<String, u32>,
    /// Those of this claim, in its own order.
    own: Vec<u32>,
    /// Where it names each first.
    places: Vec<Span>,
    /// What a claim cannot ask.
    misplaced: Option<&'static str>,
}

/// What decides whether an edge can be taken.
#[derive(Clone, Copy)]
enum Condition {
    Constant(bool),
    Literal(u32, bool),
}

impl Condition {
    fn cube(self, holds: bool) -> Option<Cube> {
        match self {
            Condition::Constant(value) => (value == holds).then_some(Cube::ALL),
            // The number is checked before the cube is used.
            Condition::Literal(own, plain) if own < 64 => Some(Cube::literal(own, plain == holds)),
            Condition::Literal(..) => None,
        }
    }
}

impl Atoms<'_> {
    fn condition(&mut self, mut expression: ExpressionId, span: Span) -> Condition {
        let (mut plain, mut negations) = (true, 0);
        while let Node::Not(inner) = self.program.expressions[expression as usize] {
            plain = !plain;
            negations += 1;
            expression = inner;
        }
        if let Node::Constant(value) = self.program.expressions[expression as usize] {
            return Condition::Constant((value != 0) == plain);
        }
        visit(self.program, expression, &mut |_, node| {
            self.misplaced = match node {
                Node::Timeout => Some("`timeout`"),
                Node::Run(_) => Some("`run`"),
                Node::Pid | Node::OwnPriority | Node::Local(_) => Some("a name that belongs to a process"),
                _ => self.misplaced,
            };
        });
        if self.misplaced.is_some() {
            return Condition::Constant(true);
        }
        let written = WrittenProposition { span, negations };
        let number = proposition(self.program, self.known, expression, Some(written));
        let own = self.own.iter().position(|&known| known == number).unwrap_or_else(|| {
            self.own.push(number);
            self.places.push(span);
            self.own.len() - 1
        });
        Condition::Literal(own as u32, plain)
    }

    fn formula(&mut self, draft: &Draft, ltl: &mut Ltl) -> LtlId {
        stacker::maybe_grow(64 << 10, 1 << 20, || match draft {
            Draft::Leaf(expression, span) => match self.condition(*expression, *span) {
                Condition::Constant(true) => ltl.truth(),
                Condition::Constant(false) => ltl.falsehood(),
                Condition::Literal(own, plain) => {
                    let literal = ltl.proposition(own);
                    if plain { literal } else { ltl.not(literal) }
                }
            },
            Draft::Operator(name, parts) => {
                let parts: Vec<LtlId> = parts.iter().map(|part| self.formula(part, ltl)).collect();
                match (*name, &parts[..]) {
                    ("not", &[part]) => ltl.not(part),
                    ("always", &[part]) => ltl.always(part),
                    ("eventually", &[part]) => ltl.eventually(part),
                    ("next", &[part]) => ltl.next(part),
                    ("and", &[one, other]) => ltl.and(one, other),
                    ("or", &[one, other]) => ltl.or(one, other),
                    ("implies", &[one, other]) => ltl.implies(one, other),
                    ("equivalent", &[one, other]) => ltl.equivalent(one, other),
                    ("until", &[one, other]) => ltl.until(one, other),
                    ("weakuntil", &[one, other]) => ltl.weak_until(one, other),
                    ("release", &[one, other]) => ltl.release(one, other),
                    _ => unreachable!("the parser makes no other operators"),
                }
            }
        })
    }

    /// The automaton of a claim, or why there is none.
    fn automaton(&mut self, claim: &ProcessType) -> Result<Automaton, String> {
        if !claim.frame.cells.is_empty() {
            return Err("a claim with variables is not supported".to_string());
        }
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        let mut controls: Vec<u32> = Vec::new();
        let mut number = |control: u32, controls: &mut Vec<u32>| {
            *numbers.entry(control).or_insert_with(|| {
                controls.push(control);
                controls.len() as u32 - 1
            })
        };
        const END: u32 = 0;
        let start = number(if ends(claim, claim.start) { END } else { claim.start }, &mut controls);
        let mut edges: Vec<Vec<AutomatonEdge>> = Vec::new();
        let mut at = 0;
        while at < controls.len() {
            let control = controls[at];
            let mut own = Vec::new();
            if control == END {
                own.push((Cube::ALL, END));
            } else {
                self.edges(claim, control, Cube::ALL, 0, &mut own)?;
            }
            let marks = u32::from(control == END || claim.accepting[control as usize]);
            let own = own.into_iter().map(|(letters, control)| {
                let control = if ends(claim, control) { END } else { control };
                AutomatonEdge { letters, marks, target: number(control, &mut controls) }
            });
            edges.push(own.collect());
            at += 1;
        }
        let end = numbers.get(&END).copied();
        Ok(Automaton { edges, initial: vec![start], marks: 1, end })
    }

    /// The edges out of a control state, each with the letters at which it is taken.
    fn edges(
        &mut self,
        claim: &ProcessType,
        control: u32,
        letters: Cube,
        depth: usize,
        into: &mut Vec<(Cube, u32)>,
    ) -> Result<(), String> {
        if depth > LONGEST_ATOMIC {
            return Err("an atomic sequence of the claim is too long or has a loop".to_string());
        }
        let transitions = &claim.transitions[control as usize];
        // When no transition before an `else` can be taken.
        let mut others = Some(letters);
        for transition in transitions {
            let span = claim.statements[transition.statement as usize].span;
            let (taken, failing) = match &*transition.action {
                Action::Skip => (Some(letters), None),
                Action::Condition(expression) => {
                    let condition = self.condition(*expression, span);
                    let and = |cube: Cube, holds| condition.cube(holds).and_then(|own| cube.and(own));
                    let taken = and(letters, true);
                    others = others.and_then(|cube| and(cube, false));
                    (taken, None)
                }
                Action::Assert(expression) => {
                    let condition = self.condition(*expression, span);
                    let and = |holds| condition.cube(holds).and_then(|own| letters.and(own));
                    (and(true), and(false))
                }
                Action::Else => (others, None),
                Action::Assign(..) | Action::SetPriority(..) => {
                    return Err("a claim with assignments is not supported".to_string());
                }
                Action::Send(_) | Action::Receive(_) => {
                    return Err("a claim that sends or receives is not supported".to_string());
                }
                Action::Indivisible(_) => return Err("a claim with a d_step is not supported".to_string()),
                Action::End => continue,
            };
            if matches!(&*transition.action, Action::Skip | Action::Assert(_)) {
                others = None;
            }
            into.extend(failing.map(|letters| (letters, 0)));
            if let Some(letters) = taken {
                self.behind(claim, transition, letters, depth, into)?;
            }
        }
        Ok(())
    }

    /// Where an edge leads: what is atomic goes on at once, and a claim that cannot go on there drops the run.
    fn behind(
        &mut self,
        claim: &ProcessType,
        transition: &Transition,
        letters: Cube,
        depth: usize,
        into: &mut Vec<(Cube, u32)>,
    ) -> Result<(), String> {
        let target = transition.target;
        if !transition.atomic || ends(claim, target) {
            into.push((letters, target));
            return Ok(());
        }
        self.edges(claim, target, letters, depth + 1, into)
    }
}

/// Is a control state the end of a claim?
fn ends(claim: &ProcessType, control: u32) -> bool {
    control == 0
        || claim.transitions[control as usize].iter().any(|transition| matches!(*transition.action, Action::End))
}
