//! The built-ins on relations, against their definitions on random relations.

#[path = "support/evaluation.rs"]
mod evaluation;

use std::collections::BTreeSet;

use evaluation::{Answer, evaluate};
use trefoil_lts::random::Random;

type Relation = BTreeSet<(usize, usize)>;

fn seed() -> u64 {
    std::env::var("TREFOIL_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_261_116)
}

fn pairs(relation: &Relation) -> String {
    let all: Vec<String> = relation.iter().map(|(a, b)| format!("({a}, {b})")).collect();
    format!("{{{}}}", all.join(", "))
}

fn numbers(set: &BTreeSet<usize>) -> String {
    let all: Vec<String> = set.iter().map(usize::to_string).collect();
    format!("{{{}}}", all.join(", "))
}

/// Closed under turning over and under joining, by adding what is missing until nothing is.
fn closure(relation: &Relation) -> Relation {
    let mut closed = relation.clone();
    loop {
        let mut more = closed.clone();
        for &(a, b) in &closed {
            more.insert((b, a));
            more.extend(closed.iter().filter(|(c, _)| *c == b).map(|&(_, d)| (a, d)));
        }
        if more.len() == closed.len() {
            return closed;
        }
        closed = more;
    }
}

/// Every element with the least one that it is related to, both in the set, unless it is the same.
fn representatives(relation: &Relation, among: &BTreeSet<usize>) -> Relation {
    let closed = closure(relation);
    let least = |of: usize| closed.iter().filter(|(a, _)| *a == of).map(|&(_, b)| b).min();
    let every = closed.iter().map(|&(a, _)| a).filter_map(|of| Some((least(of)?, of)));
    every.filter(|(least, of)| least != of && among.contains(least) && among.contains(of)).collect()
}

#[test]
fn relations_are_what_their_definitions_say() {
    let seed = seed();
    let mut random = Random::new(seed);
    for _ in 0..120 {
        let most = 1 + random.below(9);
        let relation: Relation = (0..random.below(14)).map(|_| (random.below(most), random.below(most))).collect();
        let among: BTreeSet<usize> = (0..most).filter(|_| random.chance(70)).collect();
        let image =
            |of: usize| -> BTreeSet<usize> { relation.iter().filter(|(a, _)| *a == of).map(|&(_, b)| b).collect() };
        let inverse =
            |of: usize| -> BTreeSet<usize> { relation.iter().filter(|(_, b)| *b == of).map(|&(a, _)| a).collect() };
        let turned: Relation = relation.iter().map(|&(a, b)| (b, a)).collect();
        let mut cases = vec![
            ("transpose(R)".to_string(), pairs(&turned)),
            ("transpose(transpose(R))".to_string(), pairs(&relation)),
            ("mtransclose(R, S)".to_string(), pairs(&representatives(&relation, &among))),
        ];
        for of in 0..=most {
            cases.push((format!("f({of})"), numbers(&image(of))));
            cases.push((format!("g({of})"), numbers(&inverse(of))));
            cases.push((format!("relational_image(R)({of})"), numbers(&image(of))));
            cases.push((format!("relational_inverse_image(R)({of})"), numbers(&inverse(of))));
        }
        let script = format!(
            "external mtransclose, relational_image, relational_inverse_image, transpose\n\
             R = {}\nS = {}\nf = relational_image(R)\ng = relational_inverse_image(R)\n",
            pairs(&relation),
            numbers(&among)
        );
        let queries: Vec<&str> = cases.iter().map(|(query, _)| query.as_str()).collect();
        for ((query, expected), found) in cases.iter().zip(evaluate(&script, &queries)) {
            assert_eq!(found, Answer::Value(expected.clone()), "TREFOIL_SEED={seed}\n{script}{query}");
        }
    }
}

/// Values that are not numbers, and images in a loop over thousands of pairs.
#[test]
fn relations_over_data_and_in_loops() {
    let script = "external mtransclose, relational_image, relational_inverse_image, transpose\n\
        datatype T = A | B.{0..2} | C.Bool\n\
        R = {(A, B.0), (B.0, B.1), (C.true, C.false)}\n\
        big = {(x, (x * 7919) % 5000) | x <- {0..4999}}\n\
        image(x) = relational_image(big)(x)\n\
        back(x) = relational_inverse_image(big)(x)\n\
        sum(<>) = 0\nsum(<x>^xs) = x + sum(xs)\n";
    let queries = [
        ("mtransclose(R, T)", "{(A, B.0), (A, B.1), (C.false, C.true)}"),
        ("mtransclose({(A, B.0)}, {B.0})", "{}"),
        ("relational_image(R)(B.0)", "{B.1}"),
        ("relational_inverse_image(R)(A)", "{}"),
        ("card(Union({image(x) | x <- {0..4999}}))", "5000"),
        ("card({x | x <- {0..4999}, member(x, Union({back(y) | y <- image(x)}))})", "5000"),
        ("card(mtransclose({(x, x + 1) | x <- {0..4998}}, {0..4999}))", "4999"),
    ];
    let texts: Vec<&str> = queries.iter().map(|(query, _)| *query).collect();
    for ((query, expected), found) in queries.iter().zip(evaluate(script, &texts)) {
        assert_eq!(found, Answer::Value(expected.to_string()), "{query}");
    }
}
