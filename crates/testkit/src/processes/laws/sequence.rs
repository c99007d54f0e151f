//! Sequential composition, interrupt, exception.

use super::super::alphabet::Events;
use super::super::tree::{Process, Replication, prefix};
use super::{ALL, DIVERGENCES, Law};

use Process::{Div, Skip, Stop};

pub(super) const LAWS: &[Law] = &[
    Law {
        name: "SKIP ; P = P",
        models: ALL,
        sides: |o| {
            let p = o.process();
            (Skip.then(p.clone()), p)
        },
    },
    Law {
        name: "P ; SKIP = P",
        models: ALL,
        sides: |o| {
            let p = o.process();
            (p.clone().then(Skip), p)
        },
    },
    Law { name: "STOP ; P = STOP", models: ALL, sides: |o| (Stop.then(o.process()), Stop) },
    Law { name: "DIV ; P = DIV", models: ALL, sides: |o| (Div.then(o.process()), Div) },
    Law {
        name: "P ; (Q ; R) = (P ; Q) ; R",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            (p.clone().then(q.clone().then(r.clone())), p.then(q).then(r))
        },
    },
    Law {
        name: "(a -> P) ; Q = a -> (P ; Q)",
        models: ALL,
        sides: |o| {
            let (a, p, q) = (o.event(), o.process(), o.process());
            (prefix(a, p.clone()).then(q.clone()), prefix(a, p.then(q)))
        },
    },
    Law {
        name: "(P |~| Q) ; R = (P ; R) |~| (Q ; R)",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            (p.clone().internal(q.clone()).then(r.clone()), p.then(r.clone()).internal(q.then(r)))
        },
    },
    Law {
        name: "P ; (Q |~| R) = (P ; Q) |~| (P ; R)",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            (p.clone().then(q.clone().internal(r.clone())), p.clone().then(q).internal(p.then(r)))
        },
    },
    Law {
        name: "(a -> P [] b -> Q) ; R = a -> (P ; R) [] b -> (Q ; R)",
        models: ALL,
        sides: |o| {
            let (a, b, p, q, r) = (o.event(), o.event(), o.process(), o.process(), o.process());
            let left = prefix(a, p.clone()).external(prefix(b, q.clone())).then(r.clone());
            (left, prefix(a, p.then(r.clone())).external(prefix(b, q.then(r))))
        },
    },
    Law {
        name: "(a -> P [] SKIP) ; Q = a -> (P ; Q) [> Q",
        models: ALL,
        sides: |o| {
            let (a, p, q) = (o.event(), o.process(), o.process());
            (prefix(a, p.clone()).external(Skip).then(q.clone()), prefix(a, p.then(q.clone())).sliding(q))
        },
    },
    Law {
        name: "(a -> P [> Q) ; R = a -> (P ; R) [> (Q ; R)",
        models: ALL,
        sides: |o| {
            let (a, p, q, r) = (o.event(), o.process(), o.process(), o.process());
            let left = prefix(a, p.clone()).sliding(q.clone()).then(r.clone());
            (left, prefix(a, p.then(r.clone())).sliding(q.then(r)))
        },
    },
    Law {
        name: "; x:<0, 1, 2> @ P(x) = P(0) ; P(1) ; P(2)",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            let copies = vec![p.clone(), q.clone(), r.clone()];
            (Process::Replicated(Replication::Sequence, copies), p.then(q).then(r))
        },
    },
    Law {
        name: "P /\\ STOP = P",
        models: ALL,
        sides: |o| {
            let p = o.process();
            (p.clone().interrupt(Stop), p)
        },
    },
    Law {
        name: "STOP /\\ P = P",
        models: ALL,
        sides: |o| {
            let p = o.process();
            (Stop.interrupt(p.clone()), p)
        },
    },
    Law {
        name: "SKIP /\\ P = SKIP [] P",
        models: ALL,
        sides: |o| {
            let p = o.process();
            (Skip.interrupt(p.clone()), Skip.external(p))
        },
    },
    Law { name: "P /\\ DIV = DIV", models: DIVERGENCES, sides: |o| (o.process().interrupt(Div), Div) },
    Law {
        name: "P /\\ (Q /\\ R) = (P /\\ Q) /\\ R",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            (p.clone().interrupt(q.clone().interrupt(r.clone())), p.interrupt(q).interrupt(r))
        },
    },
    Law {
        name: "(a -> P) /\\ Q = Q [] a -> (P /\\ Q)",
        models: ALL,
        sides: |o| {
            let (a, p, q) = (o.event(), o.process(), o.process());
            (prefix(a, p.clone()).interrupt(q.clone()), q.clone().external(prefix(a, p.interrupt(q))))
        },
    },
    Law {
        name: "(P |~| Q) /\\ R = (P /\\ R) |~| (Q /\\ R)",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            (p.clone().internal(q.clone()).interrupt(r.clone()), p.interrupt(r.clone()).internal(q.interrupt(r)))
        },
    },
    Law {
        name: "P /\\ (Q |~| R) = (P /\\ Q) |~| (P /\\ R)",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            (p.clone().interrupt(q.clone().internal(r.clone())), p.clone().interrupt(q).internal(p.interrupt(r)))
        },
    },
    Law {
        name: "(P [] Q) /\\ R = (P /\\ R) [] (Q /\\ R)",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            (p.clone().external(q.clone()).interrupt(r.clone()), p.interrupt(r.clone()).external(q.interrupt(r)))
        },
    },
    Law {
        name: "P /+{}+\\ Q = P /\\ Q",
        models: ALL,
        sides: |o| {
            let (p, q) = (o.process(), o.process());
            (p.clone().synchronising_interrupt(Events::NONE, q.clone()), p.interrupt(q))
        },
    },
    Law {
        name: "P /+A+\\ (Q |~| R) = (P /+A+\\ Q) |~| (P /+A+\\ R)",
        models: ALL,
        sides: |o| {
            let (p, q, r, a) = (o.process(), o.process(), o.process(), o.events());
            let left = p.clone().synchronising_interrupt(a, q.clone().internal(r.clone()));
            (left, p.clone().synchronising_interrupt(a, q).internal(p.synchronising_interrupt(a, r)))
        },
    },
    Law {
        name: "(a -> P) /+A+\\ (a -> Q) = a -> (P /+A+\\ Q) when a is in A",
        models: ALL,
        sides: |o| {
            let (p, q, event) = (o.process(), o.process(), o.event());
            let a = o.with(&[event]);
            let left = prefix(event, p.clone()).synchronising_interrupt(a, prefix(event, q.clone()));
            (left, prefix(event, p.synchronising_interrupt(a, q)))
        },
    },
    Law {
        name: "(a -> P) /+A+\\ (b -> Q) = b -> Q when a is in A and b is not",
        models: ALL,
        sides: |o| {
            let (p, q, event) = (o.process(), o.process(), o.event());
            let other = o.other(event);
            let a = o.with(&[event]).without(Events::one(other));
            let right = prefix(other, q);
            (prefix(event, p).synchronising_interrupt(a, right.clone()), right)
        },
    },
    Law {
        name: "(a -> P) /+A+\\ (b -> Q) = a -> (P /+A+\\ (b -> Q)) [] b -> Q when neither is in A",
        models: ALL,
        sides: |o| {
            let (p, q, event, other) = (o.process(), o.process(), o.event(), o.event());
            let a = o.without(&[event, other]);
            let right = prefix(other, q);
            let left = prefix(event, p.clone()).synchronising_interrupt(a, right.clone());
            (left, prefix(event, p.synchronising_interrupt(a, right.clone())).external(right))
        },
    },
    Law { name: "STOP [|A|> P = STOP", models: ALL, sides: |o| (Stop.exception(o.events(), o.process()), Stop) },
    Law { name: "SKIP [|A|> P = SKIP", models: ALL, sides: |o| (Skip.exception(o.events(), o.process()), Skip) },
    Law { name: "DIV [|A|> P = DIV", models: ALL, sides: |o| (Div.exception(o.events(), o.process()), Div) },
    Law {
        name: "P [|{}|> Q = P",
        models: ALL,
        sides: |o| {
            let (p, q) = (o.process(), o.process());
            (p.clone().exception(Events::NONE, q), p)
        },
    },
    Law {
        name: "(a -> P) [|A|> Q = a -> Q when a is in A",
        models: ALL,
        sides: |o| {
            let (p, q, event) = (o.process(), o.process(), o.event());
            (prefix(event, p).exception(o.with(&[event]), q.clone()), prefix(event, q))
        },
    },
    Law {
        name: "(a -> P) [|A|> Q = a -> (P [|A|> Q) when a is not in A",
        models: ALL,
        sides: |o| {
            let (p, q, event) = (o.process(), o.process(), o.event());
            let a = o.without(&[event]);
            (prefix(event, p.clone()).exception(a, q.clone()), prefix(event, p.exception(a, q)))
        },
    },
    Law {
        name: "(P |~| Q) [|A|> R = (P [|A|> R) |~| (Q [|A|> R)",
        models: ALL,
        sides: |o| {
            let (p, q, r, a) = (o.process(), o.process(), o.process(), o.events());
            let left = p.clone().internal(q.clone()).exception(a, r.clone());
            (left, p.exception(a, r.clone()).internal(q.exception(a, r)))
        },
    },
    Law {
        name: "P [|A|> (Q |~| R) = (P [|A|> Q) |~| (P [|A|> R)",
        models: ALL,
        sides: |o| {
            let (p, q, r, a) = (o.process(), o.process(), o.process(), o.events());
            let left = p.clone().exception(a, q.clone().internal(r.clone()));
            (left, p.clone().exception(a, q).internal(p.exception(a, r)))
        },
    },
    Law {
        name: "(P [] Q) [|A|> R = (P [|A|> R) [] (Q [|A|> R)",
        models: ALL,
        sides: |o| {
            let (p, q, r, a) = (o.process(), o.process(), o.process(), o.events());
            let left = p.clone().external(q.clone()).exception(a, r.clone());
            (left, p.exception(a, r.clone()).external(q.exception(a, r)))
        },
    },
    Law {
        name: "(P [|A|> Q) [|A|> R = P [|A|> R",
        models: ALL,
        sides: |o| {
            let (p, q, r, a) = (o.process(), o.process(), o.process(), o.events());
            (p.clone().exception(a, q).exception(a, r.clone()), p.exception(a, r))
        },
    },
];
