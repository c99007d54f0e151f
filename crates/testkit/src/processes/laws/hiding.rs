//! Hiding and projection.

use super::super::alphabet::Events;
use super::super::tree::{Process, prefix};
use super::{ALL, Law, image};

use Process::{Div, Skip, Stop};

pub(super) const LAWS: &[Law] = &[
    Law {
        name: "P \\ {} = P",
        models: ALL,
        sides: |o| {
            let p = o.process();
            (p.clone().hide(Events::NONE), p)
        },
    },
    Law {
        name: "(P \\ A) \\ B = P \\ A∪B",
        models: ALL,
        sides: |o| {
            let (p, a, b) = (o.finite(), o.events(), o.events());
            (p.clone().hide(a).hide(b), p.hide(a.union(b)))
        },
    },
    Law {
        name: "(P \\ A) \\ B = (P \\ B) \\ A",
        models: ALL,
        sides: |o| {
            let (p, a, b) = (o.finite(), o.events(), o.events());
            (p.clone().hide(a).hide(b), p.hide(b).hide(a))
        },
    },
    Law { name: "SKIP \\ A = SKIP", models: ALL, sides: |o| (Skip.hide(o.events()), Skip) },
    Law { name: "STOP \\ A = STOP", models: ALL, sides: |o| (Stop.hide(o.events()), Stop) },
    Law { name: "DIV \\ A = DIV", models: ALL, sides: |o| (Div.hide(o.events()), Div) },
    Law {
        name: "(P |~| Q) \\ A = (P \\ A) |~| (Q \\ A)",
        models: ALL,
        sides: |o| {
            let (p, q, a) = (o.finite(), o.finite(), o.events());
            (p.clone().internal(q.clone()).hide(a), p.hide(a).internal(q.hide(a)))
        },
    },
    Law {
        name: "(a -> P) \\ A = P \\ A when a is in A",
        models: ALL,
        sides: |o| {
            let (p, event) = (o.finite(), o.event());
            let a = o.with(&[event]);
            (prefix(event, p.clone()).hide(a), p.hide(a))
        },
    },
    Law {
        name: "(a -> P) \\ A = a -> (P \\ A) when a is not in A",
        models: ALL,
        sides: |o| {
            let (p, event) = (o.finite(), o.event());
            let a = o.without(&[event]);
            (prefix(event, p.clone()).hide(a), prefix(event, p.hide(a)))
        },
    },
    Law {
        name: "(a -> P [] b -> Q) \\ A = (b -> (Q \\ A)) [> (P \\ A) when a is in A and b is not",
        models: ALL,
        sides: |o| {
            let (p, q, event) = (o.finite(), o.finite(), o.event());
            let other = o.other(event);
            let a = o.with(&[event]).without(Events::one(other));
            let left = prefix(event, p.clone()).external(prefix(other, q.clone())).hide(a);
            (left, prefix(other, q.hide(a)).sliding(p.hide(a)))
        },
    },
    Law {
        name: "(a -> P [] b -> Q) \\ A = (P \\ A) |~| (Q \\ A) when both are in A",
        models: ALL,
        sides: |o| {
            let (p, q, event, other) = (o.finite(), o.finite(), o.event(), o.event());
            let a = o.with(&[event, other]);
            let left = prefix(event, p.clone()).external(prefix(other, q.clone())).hide(a);
            (left, p.hide(a).internal(q.hide(a)))
        },
    },
    Law {
        name: "(P ; Q) \\ A = (P \\ A) ; (Q \\ A)",
        models: ALL,
        sides: |o| {
            let (p, q, a) = (o.finite(), o.finite(), o.events());
            (p.clone().then(q.clone()).hide(a), p.hide(a).then(q.hide(a)))
        },
    },
    Law {
        name: "(P ||| Q) \\ A = (P \\ A) ||| (Q \\ A)",
        models: ALL,
        sides: |o| {
            let (p, q, a) = (o.finite(), o.finite(), o.events());
            (p.clone().interleave(q.clone()).hide(a), p.hide(a).interleave(q.hide(a)))
        },
    },
    Law {
        name: "(P [|B|] Q) \\ A = (P \\ A) [|B|] (Q \\ A) when A and B are disjoint",
        models: ALL,
        sides: |o| {
            let (p, q, b) = (o.finite(), o.finite(), o.events());
            let a = o.events().without(b);
            (p.clone().parallel(b, q.clone()).hide(a), p.hide(a).parallel(b, q.hide(a)))
        },
    },
    Law {
        name: "(P [A||B] Q) \\ C = (P \\ A∩C) [A||B] (Q \\ B∩C) when A, B and C have nothing in common",
        models: ALL,
        sides: |o| {
            let (p, q, a, b) = (o.finite(), o.finite(), o.events(), o.events());
            let c = o.events().without(a.meet(b));
            let right = p.clone().hide(a.meet(c)).alphabetised(a, b, q.clone().hide(b.meet(c)));
            (p.alphabetised(a, b, q).hide(c), right)
        },
    },
    Law {
        name: "(P [|A|> Q) \\ B = (P \\ B) [|A|> (Q \\ B) when A and B are disjoint",
        models: ALL,
        sides: |o| {
            let (p, q, a) = (o.finite(), o.finite(), o.events());
            let b = o.events().without(a);
            (p.clone().exception(a, q.clone()).hide(b), p.hide(b).exception(a, q.hide(b)))
        },
    },
    Law {
        name: "P |\\ A = P \\ Σ∖A",
        models: ALL,
        sides: |o| {
            let (p, a) = (o.finite(), o.events());
            (p.clone().project(a), p.hide(Events::SIGMA.without(a)))
        },
    },
    Law {
        name: "P |\\ Σ = P",
        models: ALL,
        sides: |o| {
            let p = o.process();
            (p.clone().project(Events::SIGMA), p)
        },
    },
    Law {
        name: "(P |\\ A) |\\ B = P |\\ A∩B",
        models: ALL,
        sides: |o| {
            let (p, a, b) = (o.finite(), o.events(), o.events());
            (p.clone().project(a).project(b), p.project(a.meet(b)))
        },
    },
    Law {
        name: "(P \\ A)[[R]] = P[[R]] \\ R(A) for a permutation R",
        models: ALL,
        sides: |o| {
            let (p, a, r) = (o.finite(), o.events(), o.permutation());
            (p.clone().hide(a).rename(r.clone()), p.rename(r.clone()).hide(image(&r, a)))
        },
    },
];
