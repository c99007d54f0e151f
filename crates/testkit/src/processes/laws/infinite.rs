//! `RUN` and `CHAOS`. Their meanings are known up to a horizon; the tool decides the laws for all traces.

use trefoil_system::Model;

use super::super::alphabet::Events;
use super::super::tree::{Process, choice_of};
use super::{ALL, DIVERGENCES, Law, Operands};

use Process::{Chaos, Div, Run, Skip, Stop};

/// At most two events: more traces would be too many.
fn few(o: &mut Operands<'_>) -> Events {
    let (first, second) = (o.event(), o.event());
    Events::of([first, second])
}

pub(super) const LAWS: &[Law] = &[
    Law { name: "RUN({}) = STOP", models: ALL, sides: |_| (Run(Events::NONE), Stop) },
    Law { name: "CHAOS({}) = STOP", models: ALL, sides: |_| (Chaos(Events::NONE), Stop) },
    Law {
        name: "RUN(A) = ?x:A -> RUN(A)",
        models: ALL,
        sides: |o| {
            let a = few(o);
            (Run(a), choice_of(a, |_| Run(a)))
        },
    },
    Law {
        name: "CHAOS(A) = STOP |~| ?x:A -> CHAOS(A)",
        models: ALL,
        sides: |o| {
            let a = few(o);
            (Chaos(a), Stop.internal(choice_of(a, |_| Chaos(a))))
        },
    },
    Law {
        name: "CHAOS(A) |~| RUN(A) = CHAOS(A)",
        models: ALL,
        sides: |o| {
            let a = few(o);
            (Chaos(a).internal(Run(a)), Chaos(a))
        },
    },
    Law {
        name: "RUN(A) ||| RUN(B) = RUN(A∪B)",
        models: ALL,
        sides: |o| {
            let (a, b) = (few(o), Events::one(o.event()));
            (Run(a).interleave(Run(b)), Run(a.union(b)))
        },
    },
    Law {
        name: "CHAOS(A) ||| CHAOS(B) = CHAOS(A∪B)",
        models: ALL,
        sides: |o| {
            let (a, b) = (few(o), Events::one(o.event()));
            (Chaos(a).interleave(Chaos(b)), Chaos(a.union(b)))
        },
    },
    Law {
        name: "CHAOS(A) [|A∪B|] CHAOS(B) = CHAOS(A∩B)",
        models: ALL,
        sides: |o| {
            let (a, b) = (few(o), few(o));
            (Chaos(a).parallel(a.union(b), Chaos(b)), Chaos(a.meet(b)))
        },
    },
    Law {
        name: "RUN(A) [|A∪B|] RUN(B) = RUN(A∩B)",
        models: ALL,
        sides: |o| {
            let (a, b) = (few(o), few(o));
            (Run(a).parallel(a.union(b), Run(b)), Run(a.meet(b)))
        },
    },
    Law {
        name: "(P ; STOP) [|A|] RUN(A) = P ; STOP",
        models: ALL,
        sides: |o| {
            let (p, a) = (o.process().then(Stop), few(o));
            (p.clone().parallel(a, Run(a)), p)
        },
    },
    Law {
        name: "RUN(A) ; P = RUN(A)",
        models: ALL,
        sides: |o| {
            let a = few(o);
            (Run(a).then(o.process()), Run(a))
        },
    },
    Law {
        name: "RUN(A) [] SKIP = RUN(A) [> SKIP",
        models: ALL,
        sides: |o| {
            let a = few(o);
            (Run(a).external(Skip), Run(a).sliding(Skip))
        },
    },
    Law {
        name: "RUN(A) \\ A = DIV",
        models: ALL,
        sides: |o| {
            let a = few(o);
            (Run(a).hide(a), Div)
        },
    },
    Law {
        name: "RUN(A) \\ B = DIV when they meet",
        models: DIVERGENCES,
        sides: |o| {
            let (a, event) = (few(o), o.event());
            let a = a.union(Events::one(event));
            (Run(a).hide(Events::one(event)), Div)
        },
    },
    Law {
        name: "CHAOS(A) \\ B = CHAOS(A∖B)",
        models: &[Model::Traces, Model::Failures],
        sides: |o| {
            let (a, b) = (few(o), few(o));
            (Chaos(a).hide(b), Chaos(a.without(b)))
        },
    },
    Law {
        name: "RUN(A)[[R]] = RUN(R(A))",
        models: ALL,
        sides: |o| {
            let (a, r) = (few(o), o.permutation());
            (Run(a).rename(r.clone()), Run(super::image(&r, a)))
        },
    },
    Law {
        name: "RUN(A) [|A|> P = ?x:A -> P",
        models: ALL,
        sides: |o| {
            let (a, p) = (few(o), o.process());
            (Run(a).exception(a, p.clone()), choice_of(a, |_| p.clone()))
        },
    },
    Law {
        name: "P /\\ RUN(A) = P /+{}+\\ RUN(A)",
        models: ALL,
        sides: |o| {
            let (a, p) = (few(o), o.process());
            (p.clone().interrupt(Run(a)), p.synchronising_interrupt(Events::NONE, Run(a)))
        },
    },
    Law {
        name: "RUN(A) [+A+] RUN(A) = RUN(A)",
        models: ALL,
        sides: |o| {
            let a = few(o);
            (Run(a).synchronising_choice(a, Run(a)), Run(a))
        },
    },
];
