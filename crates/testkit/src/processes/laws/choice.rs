//! External, internal, sliding and synchronising choice, prefixes, guards.

use super::super::alphabet::{Events, communication};
use super::super::tree::{Process, Replication, choice_of, prefix};
use super::{ALL, DIVERGENCES, Law, TRACES};

use Process::{Div, Skip, Stop};

pub(super) const LAWS: &[Law] = &[
    Law {
        name: "P [] P = P",
        models: ALL,
        sides: |o| {
            let p = o.process();
            (p.clone().external(p.clone()), p)
        },
    },
    Law {
        name: "P [] Q = Q [] P",
        models: ALL,
        sides: |o| {
            let (p, q) = (o.process(), o.process());
            (p.clone().external(q.clone()), q.external(p))
        },
    },
    Law {
        name: "P [] (Q [] R) = (P [] Q) [] R",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            (p.clone().external(q.clone().external(r.clone())), p.external(q).external(r))
        },
    },
    Law {
        name: "P [] STOP = P",
        models: ALL,
        sides: |o| {
            let p = o.process();
            (p.clone().external(Stop), p)
        },
    },
    Law {
        name: "P [] SKIP = P [> SKIP",
        models: ALL,
        sides: |o| {
            let p = o.process();
            (p.clone().external(Skip), p.sliding(Skip))
        },
    },
    Law {
        name: "P [] DIV = P",
        models: TRACES,
        sides: |o| {
            let p = o.process();
            (p.clone().external(Div), p)
        },
    },
    Law { name: "P [] DIV = DIV", models: DIVERGENCES, sides: |o| (o.process().external(Div), Div) },
    Law { name: "P |~| DIV = DIV", models: DIVERGENCES, sides: |o| (o.process().internal(Div), Div) },
    Law {
        name: "P |~| P = P",
        models: ALL,
        sides: |o| {
            let p = o.process();
            (p.clone().internal(p.clone()), p)
        },
    },
    Law {
        name: "P |~| Q = Q |~| P",
        models: ALL,
        sides: |o| {
            let (p, q) = (o.process(), o.process());
            (p.clone().internal(q.clone()), q.internal(p))
        },
    },
    Law {
        name: "P |~| (Q |~| R) = (P |~| Q) |~| R",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            (p.clone().internal(q.clone().internal(r.clone())), p.internal(q).internal(r))
        },
    },
    Law {
        name: "P [] (Q |~| R) = (P [] Q) |~| (P [] R)",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            (p.clone().external(q.clone().internal(r.clone())), p.clone().external(q).internal(p.external(r)))
        },
    },
    Law {
        name: "P |~| (Q [] R) = (P |~| Q) [] (P |~| R)",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            (p.clone().internal(q.clone().external(r.clone())), p.clone().internal(q).external(p.internal(r)))
        },
    },
    Law {
        name: "P [] Q = P |~| Q in traces",
        models: TRACES,
        sides: |o| {
            let (p, q) = (o.process(), o.process());
            (p.clone().external(q.clone()), p.internal(q))
        },
    },
    Law {
        name: "a -> P [] a -> Q = a -> (P |~| Q)",
        models: ALL,
        sides: |o| {
            let (a, p, q) = (o.event(), o.process(), o.process());
            (prefix(a, p.clone()).external(prefix(a, q.clone())), prefix(a, p.internal(q)))
        },
    },
    Law {
        name: "a -> P |~| a -> Q = a -> (P |~| Q)",
        models: ALL,
        sides: |o| {
            let (a, p, q) = (o.event(), o.process(), o.process());
            (prefix(a, p.clone()).internal(prefix(a, q.clone())), prefix(a, p.internal(q)))
        },
    },
    Law {
        name: "e?x -> P(x) = e.0 -> P(0) [] e.1 -> P(1)",
        models: ALL,
        sides: |o| {
            let (p, q) = (o.process(), o.process());
            let branches = vec![(0, p.clone()), (1, q.clone())];
            let choice = prefix(communication(0), p).external(prefix(communication(1), q));
            (Process::Input { chosen: false, branches }, choice)
        },
    },
    Law {
        name: "e$x -> P(x) = e.0 -> P(0) |~| e.1 -> P(1)",
        models: ALL,
        sides: |o| {
            let (p, q) = (o.process(), o.process());
            let branches = vec![(0, p.clone()), (1, q.clone())];
            let choice = prefix(communication(0), p).internal(prefix(communication(1), q));
            (Process::Input { chosen: true, branches }, choice)
        },
    },
    Law {
        name: "STOP [> P = P",
        models: ALL,
        sides: |o| {
            let p = o.process();
            (Stop.sliding(p.clone()), p)
        },
    },
    Law {
        name: "P [> STOP = P |~| STOP",
        models: ALL,
        sides: |o| {
            let p = o.process();
            (p.clone().sliding(Stop), p.internal(Stop))
        },
    },
    Law {
        name: "P [> P = P",
        models: ALL,
        sides: |o| {
            let p = o.process();
            (p.clone().sliding(p.clone()), p)
        },
    },
    Law {
        name: "P [> Q = (P |~| STOP) [] Q",
        models: ALL,
        sides: |o| {
            let (p, q) = (o.process(), o.process());
            (p.clone().sliding(q.clone()), p.internal(Stop).external(q))
        },
    },
    Law {
        name: "P [> Q = (P [] Q) |~| Q",
        models: ALL,
        sides: |o| {
            let (p, q) = (o.process(), o.process());
            (p.clone().sliding(q.clone()), p.external(q.clone()).internal(q))
        },
    },
    Law {
        name: "P [> (Q [> R) = (P [> Q) [> R",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            (p.clone().sliding(q.clone().sliding(r.clone())), p.sliding(q).sliding(r))
        },
    },
    Law {
        name: "P [> (Q [> R) = (P [] Q) [> R",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            (p.clone().sliding(q.clone().sliding(r.clone())), p.external(q).sliding(r))
        },
    },
    Law {
        name: "(P |~| Q) [> R = (P [> R) |~| (Q [> R)",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            (p.clone().internal(q.clone()).sliding(r.clone()), p.sliding(r.clone()).internal(q.sliding(r)))
        },
    },
    Law {
        name: "P [> (Q |~| R) = (P [> Q) |~| (P [> R)",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            (p.clone().sliding(q.clone().internal(r.clone())), p.clone().sliding(q).internal(p.sliding(r)))
        },
    },
    Law {
        name: "(P [> Q) [] R = (P [] R) [> (Q [] R)",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            (p.clone().sliding(q.clone()).external(r.clone()), p.external(r.clone()).sliding(q.external(r)))
        },
    },
    Law {
        name: "true & P = P",
        models: ALL,
        sides: |o| {
            let p = o.process();
            (p.clone().guard(true), p)
        },
    },
    Law { name: "false & P = STOP", models: ALL, sides: |o| (o.process().guard(false), Stop) },
    Law {
        name: "[] x:{0, 1, 2} @ P(x) = P(0) [] P(1) [] P(2)",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            let copies = vec![p.clone(), q.clone(), r.clone()];
            (Process::Replicated(Replication::External, copies), p.external(q).external(r))
        },
    },
    Law {
        name: "|~| x:{0, 1, 2} @ P(x) = P(0) |~| P(1) |~| P(2)",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            let copies = vec![p.clone(), q.clone(), r.clone()];
            (Process::Replicated(Replication::Internal, copies), p.internal(q).internal(r))
        },
    },
    Law {
        name: "P [+{}+] Q = P [] Q",
        models: ALL,
        sides: |o| {
            let (p, q) = (o.process(), o.process());
            (p.clone().synchronising_choice(Events::NONE, q.clone()), p.external(q))
        },
    },
    Law {
        name: "P [+A+] Q = Q [+A+] P",
        models: ALL,
        sides: |o| {
            let (p, q, a) = (o.process(), o.process(), o.events());
            (p.clone().synchronising_choice(a, q.clone()), q.synchronising_choice(a, p))
        },
    },
    Law {
        name: "P [+A+] (Q [+A+] R) = (P [+A+] Q) [+A+] R",
        models: ALL,
        sides: |o| {
            let (p, q, r, a) = (o.process(), o.process(), o.process(), o.events());
            let left = p.clone().synchronising_choice(a, q.clone().synchronising_choice(a, r.clone()));
            (left, p.synchronising_choice(a, q).synchronising_choice(a, r))
        },
    },
    Law {
        name: "P [+A+] (Q |~| R) = (P [+A+] Q) |~| (P [+A+] R)",
        models: ALL,
        sides: |o| {
            let (p, q, r, a) = (o.process(), o.process(), o.process(), o.events());
            let left = p.clone().synchronising_choice(a, q.clone().internal(r.clone()));
            (left, p.clone().synchronising_choice(a, q).internal(p.synchronising_choice(a, r)))
        },
    },
    Law {
        name: "a -> P [+A+] a -> Q = a -> (P [+A+] Q) when a is in A",
        models: ALL,
        sides: |o| {
            let (p, q, event) = (o.process(), o.process(), o.event());
            let a = o.with(&[event]);
            let left = prefix(event, p.clone()).synchronising_choice(a, prefix(event, q.clone()));
            (left, prefix(event, p.synchronising_choice(a, q)))
        },
    },
    Law {
        name: "a -> P [+A+] b -> Q = STOP when a and b differ and are in A",
        models: ALL,
        sides: |o| {
            let event = o.event();
            let other = o.other(event);
            let a = o.with(&[event, other]);
            (prefix(event, o.process()).synchronising_choice(a, prefix(other, o.process())), Stop)
        },
    },
    Law {
        name: "?x:B -> P [+A+] ?x:C -> Q, by events in A and outside of it",
        models: ALL,
        sides: |o| {
            let (p, q, a, b, c) = (o.process(), o.process(), o.events(), o.events(), o.events());
            let left = choice_of(b, |_| p.clone()).synchronising_choice(a, choice_of(c, |_| q.clone()));
            let both = choice_of(a.meet(b).meet(c), |_| p.clone().synchronising_choice(a, q.clone()));
            let right = both.external(choice_of(b.without(a), |_| p.clone()));
            (left, right.external(choice_of(c.without(a), |_| q.clone())))
        },
    },
    Law {
        name: "a -> P [+A+] SKIP = SKIP when a is in A",
        models: ALL,
        sides: |o| {
            let (event, p) = (o.event(), o.process());
            (prefix(event, p).synchronising_choice(o.with(&[event]), Skip), Skip)
        },
    },
];
