//! Interleaving, generalised, alphabetised and link parallel.

use super::super::alphabet::Events;
use super::super::tree::{Process, Replication, prefix};
use super::{ALL, DIVERGENCES, Law};

use Process::{Div, Skip, Stop};

pub(super) const LAWS: &[Law] = &[
    Law {
        name: "P ||| Q = Q ||| P",
        models: ALL,
        sides: |o| {
            let (p, q) = (o.process(), o.process());
            (p.clone().interleave(q.clone()), q.interleave(p))
        },
    },
    Law {
        name: "P ||| (Q ||| R) = (P ||| Q) ||| R",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            (p.clone().interleave(q.clone().interleave(r.clone())), p.interleave(q).interleave(r))
        },
    },
    Law {
        name: "P ||| SKIP = P",
        models: ALL,
        sides: |o| {
            let p = o.process();
            (p.clone().interleave(Skip), p)
        },
    },
    Law {
        name: "P ||| STOP = P ; STOP",
        models: ALL,
        sides: |o| {
            let p = o.process();
            (p.clone().interleave(Stop), p.then(Stop))
        },
    },
    Law { name: "P ||| DIV = DIV", models: DIVERGENCES, sides: |o| (o.process().interleave(Div), Div) },
    Law {
        name: "P ||| (Q |~| R) = (P ||| Q) |~| (P ||| R)",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            (p.clone().interleave(q.clone().internal(r.clone())), p.clone().interleave(q).internal(p.interleave(r)))
        },
    },
    Law {
        name: "a -> P ||| b -> Q = a -> (P ||| b -> Q) [] b -> (a -> P ||| Q)",
        models: ALL,
        sides: |o| {
            let (a, b, p, q) = (o.event(), o.event(), o.process(), o.process());
            let (left, right) = (prefix(a, p.clone()), prefix(b, q.clone()));
            let steps = prefix(a, p.interleave(right.clone())).external(prefix(b, left.clone().interleave(q)));
            (left.interleave(right), steps)
        },
    },
    Law {
        name: "(a -> P [] SKIP) ||| Q, by what SKIP leaves open",
        models: ALL,
        sides: |o| {
            let (a, p, b, q) = (o.event(), o.process(), o.event(), o.process());
            let right = prefix(b, q.clone());
            let left = prefix(a, p.clone()).external(Skip).interleave(right.clone());
            // Either the left side has terminated, or both can step.
            let steps = prefix(a, p.clone().interleave(right.clone()))
                .external(prefix(b, prefix(a, p).external(Skip).interleave(q)));
            (left, steps.sliding(right))
        },
    },
    Law {
        name: "P [|{}|] Q = P ||| Q",
        models: ALL,
        sides: |o| {
            let (p, q) = (o.process(), o.process());
            (p.clone().parallel(Events::NONE, q.clone()), p.interleave(q))
        },
    },
    Law {
        name: "P [|A|] Q = Q [|A|] P",
        models: ALL,
        sides: |o| {
            let (p, q, a) = (o.process(), o.process(), o.events());
            (p.clone().parallel(a, q.clone()), q.parallel(a, p))
        },
    },
    Law {
        name: "P [|A|] (Q [|A|] R) = (P [|A|] Q) [|A|] R",
        models: ALL,
        sides: |o| {
            let (p, q, r, a) = (o.process(), o.process(), o.process(), o.events());
            (p.clone().parallel(a, q.clone().parallel(a, r.clone())), p.parallel(a, q).parallel(a, r))
        },
    },
    Law {
        name: "P [|A|] (Q |~| R) = (P [|A|] Q) |~| (P [|A|] R)",
        models: ALL,
        sides: |o| {
            let (p, q, r, a) = (o.process(), o.process(), o.process(), o.events());
            (p.clone().parallel(a, q.clone().internal(r.clone())), p.clone().parallel(a, q).internal(p.parallel(a, r)))
        },
    },
    Law { name: "P [|A|] DIV = DIV", models: DIVERGENCES, sides: |o| (o.process().parallel(o.events(), Div), Div) },
    Law { name: "P [|Σ|] STOP = STOP", models: ALL, sides: |o| (o.calm().parallel(Events::SIGMA, Stop), Stop) },
    Law { name: "SKIP [|A|] SKIP = SKIP", models: ALL, sides: |o| (Skip.parallel(o.events(), Skip), Skip) },
    Law {
        name: "a -> P [|A|] a -> Q = a -> (P [|A|] Q) when a is in A",
        models: ALL,
        sides: |o| {
            let (p, q, event) = (o.process(), o.process(), o.event());
            let a = o.with(&[event]);
            let left = prefix(event, p.clone()).parallel(a, prefix(event, q.clone()));
            (left, prefix(event, p.parallel(a, q)))
        },
    },
    Law {
        name: "a -> P [|A|] b -> Q = STOP when a and b differ and are in A",
        models: ALL,
        sides: |o| {
            let event = o.event();
            let other = o.other(event);
            let a = o.with(&[event, other]);
            (prefix(event, o.process()).parallel(a, prefix(other, o.process())), Stop)
        },
    },
    Law {
        name: "a -> P [|A|] b -> Q = a -> (P [|A|] b -> Q) [] b -> (a -> P [|A|] Q) when neither is in A",
        models: ALL,
        sides: |o| {
            let (p, q, event, other) = (o.process(), o.process(), o.event(), o.event());
            let a = o.without(&[event, other]);
            let (left, right) = (prefix(event, p.clone()), prefix(other, q.clone()));
            let steps =
                prefix(event, p.parallel(a, right.clone())).external(prefix(other, left.clone().parallel(a, q)));
            (left.parallel(a, right), steps)
        },
    },
    Law {
        name: "a -> P [|A|] b -> Q = a -> (P [|A|] b -> Q) when b is in A and a is not",
        models: ALL,
        sides: |o| {
            let (p, q, event) = (o.process(), o.process(), o.event());
            let other = o.other(event);
            let a = o.with(&[other]).without(Events::one(event));
            let right = prefix(other, q);
            let left = prefix(event, p.clone()).parallel(a, right.clone());
            (left, prefix(event, p.parallel(a, right)))
        },
    },
    Law {
        name: "a -> P [|A|] SKIP = STOP when a is in A",
        models: ALL,
        sides: |o| {
            let (p, event) = (o.process(), o.event());
            (prefix(event, p).parallel(o.with(&[event]), Skip), Stop)
        },
    },
    Law {
        name: "a -> P [|A|] SKIP = a -> (P [|A|] SKIP) when a is not in A",
        models: ALL,
        sides: |o| {
            let (p, event) = (o.process(), o.event());
            let a = o.without(&[event]);
            (prefix(event, p.clone()).parallel(a, Skip), prefix(event, p.parallel(a, Skip)))
        },
    },
    Law {
        name: "||| x:{0, 1, 2} @ P(x) = P(0) ||| P(1) ||| P(2)",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.process());
            let copies = vec![p.clone(), q.clone(), r.clone()];
            (Process::Replicated(Replication::Interleave, copies), p.interleave(q).interleave(r))
        },
    },
    Law {
        name: "P [A||B] Q = Q [B||A] P",
        models: ALL,
        sides: |o| {
            let (p, q, a, b) = (o.process(), o.process(), o.events(), o.events());
            (p.clone().alphabetised(a, b, q.clone()), q.alphabetised(b, a, p))
        },
    },
    Law {
        name: "(P [A||B] Q) [A∪B||C] R = P [A||B∪C] (Q [B||C] R)",
        models: ALL,
        sides: |o| {
            let (p, q, r, a, b, c) = (o.process(), o.process(), o.process(), o.events(), o.events(), o.events());
            let left = p.clone().alphabetised(a, b, q.clone()).alphabetised(a.union(b), c, r.clone());
            (left, p.alphabetised(a, b.union(c), q.alphabetised(b, c, r)))
        },
    },
    Law {
        name: "P [A||B] (Q |~| R) = (P [A||B] Q) |~| (P [A||B] R)",
        models: ALL,
        sides: |o| {
            let (p, q, r, a, b) = (o.process(), o.process(), o.process(), o.events(), o.events());
            let left = p.clone().alphabetised(a, b, q.clone().internal(r.clone()));
            (left, p.clone().alphabetised(a, b, q).internal(p.alphabetised(a, b, r)))
        },
    },
    Law {
        name: "P [Σ||Σ] Q = P [|Σ|] Q",
        models: ALL,
        sides: |o| {
            let (p, q) = (o.process(), o.process());
            (p.clone().alphabetised(Events::SIGMA, Events::SIGMA, q.clone()), p.parallel(Events::SIGMA, q))
        },
    },
    Law {
        name: "P [A||B] Q = (P [|Σ∖A|] SKIP) [|A∩B|] (Q [|Σ∖B|] SKIP)",
        models: ALL,
        sides: |o| {
            let (p, q, a, b) = (o.process(), o.process(), o.events(), o.events());
            let held = |p: Process, events| p.parallel(Events::SIGMA.without(events), Skip);
            (p.clone().alphabetised(a, b, q.clone()), held(p, a).parallel(a.meet(b), held(q, b)))
        },
    },
    Law {
        name: "|| x:{0, 1, 2} @ [A(x)] P(x) = P(0) [A(0)||A(1)∪A(2)] (P(1) [A(1)||A(2)] P(2))",
        models: ALL,
        sides: |o| {
            let (p, q, r, a, b, c) = (o.process(), o.process(), o.process(), o.events(), o.events(), o.events());
            let copies = vec![p.clone(), q.clone(), r.clone()];
            let all = Process::Replicated(Replication::Alphabetised(vec![a, b, c]), copies);
            (all, p.alphabetised(a, b.union(c), q.alphabetised(b, c, r)))
        },
    },
    Law {
        name: "P [a<->b] Q = Q [b<->a] P",
        models: ALL,
        sides: |o| {
            let (p, q, ties) = (o.finite(), o.finite(), o.renaming());
            let turned = ties.iter().map(|&(left, right)| (right, left)).collect();
            (p.clone().link(ties, q.clone()), q.link(turned, p))
        },
    },
    Law {
        name: "P [a<->b] (Q |~| R) = (P [a<->b] Q) |~| (P [a<->b] R)",
        models: ALL,
        sides: |o| {
            let (p, q, r, ties) = (o.finite(), o.finite(), o.finite(), o.renaming());
            let left = p.clone().link(ties.clone(), q.clone().internal(r.clone()));
            (left, p.clone().link(ties.clone(), q).internal(p.link(ties, r)))
        },
    },
    Law {
        name: "P [a<->b] Q = (P[[a <- m]] [|{m}|] Q[[b <- m]]) \\ {m} for a new m",
        models: ALL,
        sides: |o| {
            let m = o.event();
            let (p, q) = (o.avoiding(m), o.avoiding(m));
            let (a, b) = (o.other(m), o.other(m));
            let meet = p.clone().rename(vec![(a, m)]).parallel(Events::one(m), q.clone().rename(vec![(b, m)]));
            (p.link(vec![(a, b)], q), meet.hide(Events::one(m)))
        },
    },
    Law {
        name: "(a -> P) [a<->b] (b -> Q) = P [a<->b] Q",
        models: ALL,
        sides: |o| {
            let (p, q, a, b) = (o.finite(), o.finite(), o.event(), o.event());
            let ties = vec![(a, b)];
            (prefix(a, p.clone()).link(ties.clone(), prefix(b, q.clone())), p.link(ties, q))
        },
    },
];
