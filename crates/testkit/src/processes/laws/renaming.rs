//! Renaming: one to one, many to one, one to many.

use super::super::alphabet::Events;
use super::super::tree::{Pairs, Process, choice_of, prefix};
use super::{ALL, Law, image};

use Process::{Div, Skip, Stop};

pub(super) const LAWS: &[Law] = &[
    Law {
        name: "P[[a <- a]] = P",
        models: ALL,
        sides: |o| {
            let (p, a) = (o.process(), o.event());
            (p.clone().rename(vec![(a, a)]), p)
        },
    },
    Law { name: "STOP[[R]] = STOP", models: ALL, sides: |o| (Stop.rename(o.renaming()), Stop) },
    Law { name: "SKIP[[R]] = SKIP", models: ALL, sides: |o| (Skip.rename(o.renaming()), Skip) },
    Law { name: "DIV[[R]] = DIV", models: ALL, sides: |o| (Div.rename(o.renaming()), Div) },
    Law {
        name: "(a -> P)[[R]] = ?x:R(a) -> P[[R]]",
        models: ALL,
        sides: |o| {
            let (p, a, r) = (o.process(), o.event(), o.renaming());
            let renamed = p.clone().rename(r.clone());
            (prefix(a, p).rename(r.clone()), choice_of(image(&r, Events::one(a)), |_| renamed.clone()))
        },
    },
    Law {
        name: "(P [] Q)[[R]] = P[[R]] [] Q[[R]]",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.renaming());
            (p.clone().external(q.clone()).rename(r.clone()), p.rename(r.clone()).external(q.rename(r)))
        },
    },
    Law {
        name: "(P |~| Q)[[R]] = P[[R]] |~| Q[[R]]",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.renaming());
            (p.clone().internal(q.clone()).rename(r.clone()), p.rename(r.clone()).internal(q.rename(r)))
        },
    },
    Law {
        name: "(P [> Q)[[R]] = P[[R]] [> Q[[R]]",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.renaming());
            (p.clone().sliding(q.clone()).rename(r.clone()), p.rename(r.clone()).sliding(q.rename(r)))
        },
    },
    Law {
        name: "(P ; Q)[[R]] = P[[R]] ; Q[[R]]",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.renaming());
            (p.clone().then(q.clone()).rename(r.clone()), p.rename(r.clone()).then(q.rename(r)))
        },
    },
    Law {
        name: "(P /\\ Q)[[R]] = P[[R]] /\\ Q[[R]]",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.renaming());
            (p.clone().interrupt(q.clone()).rename(r.clone()), p.rename(r.clone()).interrupt(q.rename(r)))
        },
    },
    Law {
        name: "(P ||| Q)[[R]] = P[[R]] ||| Q[[R]]",
        models: ALL,
        sides: |o| {
            let (p, q, r) = (o.process(), o.process(), o.renaming());
            (p.clone().interleave(q.clone()).rename(r.clone()), p.rename(r.clone()).interleave(q.rename(r)))
        },
    },
    Law {
        name: "(P [|A|] Q)[[R]] = P[[R]] [|R(A)|] Q[[R]] for a permutation R",
        models: ALL,
        sides: |o| {
            let (p, q, a, r) = (o.process(), o.process(), o.events(), o.permutation());
            let right = p.clone().rename(r.clone()).parallel(image(&r, a), q.clone().rename(r.clone()));
            (p.parallel(a, q).rename(r), right)
        },
    },
    Law {
        name: "(P [|A|> Q)[[R]] = P[[R]] [|R(A)|> Q[[R]] for a permutation R",
        models: ALL,
        sides: |o| {
            let (p, q, a, r) = (o.process(), o.process(), o.events(), o.permutation());
            let right = p.clone().rename(r.clone()).exception(image(&r, a), q.clone().rename(r.clone()));
            (p.exception(a, q).rename(r), right)
        },
    },
    Law {
        name: "(P [+A+] Q)[[R]] = P[[R]] [+R(A)+] Q[[R]] for a permutation R",
        models: ALL,
        sides: |o| {
            let (p, q, a, r) = (o.process(), o.process(), o.events(), o.permutation());
            let right = p.clone().rename(r.clone()).synchronising_choice(image(&r, a), q.clone().rename(r.clone()));
            (p.synchronising_choice(a, q).rename(r), right)
        },
    },
    Law {
        name: "P[[R]][[S]] = P[[R;S]]",
        models: ALL,
        sides: |o| {
            let (p, r, s) = (o.process(), o.renaming(), o.renaming());
            let mut both = Pairs::new();
            for event in Events::SIGMA.members() {
                let images = image(&s, image(&r, Events::one(event)));
                both.extend(images.members().map(|new| (event, new)));
            }
            (p.clone().rename(r).rename(s), p.rename(both))
        },
    },
    Law {
        name: "P[[a <- b]] = P for a process without a",
        models: ALL,
        sides: |o| {
            let a = o.event();
            let (p, b) = (o.avoiding(a), o.event());
            (p.clone().rename(vec![(a, b)]), p)
        },
    },
    Law {
        name: "P[[a <- b, b <- a]][[a <- b, b <- a]] = P",
        models: ALL,
        sides: |o| {
            let (p, a) = (o.process(), o.event());
            let b = o.other(a);
            let swap = vec![(a, b), (b, a)];
            (p.clone().rename(swap.clone()).rename(swap), p)
        },
    },
    Law {
        name: "P[[a <- a, a <- b]] \\ {a, b} = P \\ {a} for a process without b",
        models: ALL,
        sides: |o| {
            let b = o.event();
            let (p, a) = (o.avoiding(b), o.other(b));
            (p.clone().rename(vec![(a, a), (a, b)]).hide(Events::of([a, b])), p.hide(Events::one(a)))
        },
    },
];
