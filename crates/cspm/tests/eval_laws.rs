//! Built-ins on random values against direct models, and the theorem that symmetry reduction rests on.

#[path = "support/evaluation.rs"]
mod evaluation;

use std::collections::{BTreeMap, BTreeSet};

use evaluation::{Answer, evaluate};

/// A small generator of random numbers (xorshift), so that a seed gives the same run everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn numbers(&mut self) -> Vec<i32> {
        (0..self.below(7)).map(|_| self.below(9) as i32 - 4).collect()
    }
}

fn listed(items: impl IntoIterator<Item = i32>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

fn set(items: &BTreeSet<i32>) -> String {
    let text = listed(items.iter().copied());
    // `{-` begins a comment.
    if text.starts_with('-') { format!("{{ {text}}}") } else { format!("{{{text}}}") }
}

fn sequence(items: &[i32]) -> String {
    format!("<{}>", listed(items.iter().copied()))
}

fn map(entries: &BTreeMap<i32, i32>) -> String {
    if entries.is_empty() {
        return "emptyMap".to_string();
    }
    let pairs: Vec<String> = entries.iter().map(|(key, value)| format!("{key} => {value}")).collect();
    format!("(| {} |)", pairs.join(", "))
}

fn pairs(items: &[(i32, i32)]) -> String {
    let shown: Vec<String> = items.iter().map(|(a, b)| format!("({a}, {b})")).collect();
    format!("<{}>", shown.join(", "))
}

fn check(cases: &[(String, String)], seed: u64) {
    let expressions: Vec<&str> = cases.iter().map(|(expression, _)| expression.as_str()).collect();
    for ((expression, wanted), answer) in cases.iter().zip(evaluate("", &expressions)) {
        assert_eq!(answer, Answer::Value(wanted.clone()), "{expression} (seed {seed})");
    }
}

#[test]
fn sets_as_their_model() {
    let seed = 0x5eed_0001;
    let mut random = Random(seed);
    let mut cases = Vec::new();
    for _ in 0..400 {
        let (a, b) = (random.numbers(), random.numbers());
        let (x, y): (BTreeSet<i32>, BTreeSet<i32>) = (a.iter().copied().collect(), b.iter().copied().collect());
        let (p, q) = (format!("{{ {}}}", listed(a.clone())), format!("{{ {}}}", listed(b.clone())));
        let k = random.below(9) as i32 - 4;
        let mut add = |expression: String, wanted: String| cases.push((expression, wanted));
        add(format!("union({p}, {q})"), set(&x.union(&y).copied().collect()));
        add(format!("inter({p}, {q})"), set(&x.intersection(&y).copied().collect()));
        add(format!("diff({p}, {q})"), set(&x.difference(&y).copied().collect()));
        add(format!("Union({{{p}, {q}}})"), set(&x.union(&y).copied().collect()));
        add(format!("Inter({{{p}, {q}}})"), set(&x.intersection(&y).copied().collect()));
        add(format!("member({k}, {p})"), x.contains(&k).to_string());
        add(format!("card({p})"), x.len().to_string());
        add(format!("empty({p})"), x.is_empty().to_string());
        add(format!("{p} <= {q}"), x.is_subset(&y).to_string());
        add(format!("{p} == {q}"), (x == y).to_string());
        add(format!("seq({p})"), sequence(&x.iter().copied().collect::<Vec<_>>()));
        add(format!("card(Set({p}))"), (1u32 << x.len()).to_string());
        add(format!("member({p}, Set({q}))"), x.is_subset(&y).to_string());
        add(format!("{{n * n | n <- {p}, n > {k}}}"), set(&x.iter().filter(|&&n| n > k).map(|n| n * n).collect()));
    }
    check(&cases, seed);
}

#[test]
fn sequences_as_their_model() {
    let seed = 0x5eed_0002;
    let mut random = Random(seed);
    let mut cases = Vec::new();
    for _ in 0..400 {
        let (a, b) = (random.numbers(), random.numbers());
        let (p, q) = (sequence(&a), sequence(&b));
        let k = random.below(9) as i32 - 4;
        let mut add = |expression: String, wanted: String| cases.push((expression, wanted));
        add(format!("{p} ^ {q}"), sequence(&[a.clone(), b.clone()].concat()));
        add(format!("#({p} ^ {q})"), (a.len() + b.len()).to_string());
        add(format!("concat(<{p}, {q}, {p}>)"), sequence(&[a.clone(), b.clone(), a.clone()].concat()));
        add(format!("elem({k}, {p})"), a.contains(&k).to_string());
        add(format!("set({p})"), set(&a.iter().copied().collect()));
        add(format!("null({p})"), a.is_empty().to_string());
        add(format!("{p} <= {q}"), b.starts_with(&a).to_string());
        add(
            format!("<n - 1 | n <- {p}, n != {k}>"),
            sequence(&a.iter().filter(|&&n| n != k).map(|n| n - 1).collect::<Vec<_>>()),
        );
        if !a.is_empty() {
            add(format!("head({p} ^ {q})"), a[0].to_string());
            add(format!("tail({p} ^ {q})"), sequence(&[a.clone(), b.clone()].concat()[1..]));
            add(
                format!("let f(s^<x>) = (x, s) within f({p})"),
                format!("({}, {})", a[a.len() - 1], sequence(&a[..a.len() - 1])),
            );
        }
    }
    check(&cases, seed);
}

#[test]
fn maps_as_their_model() {
    let seed = 0x5eed_0003;
    let mut random = Random(seed);
    let mut cases = Vec::new();
    for _ in 0..400 {
        let list: Vec<(i32, i32)> = random.numbers().into_iter().zip(random.numbers()).collect();
        let more: Vec<(i32, i32)> = random.numbers().into_iter().zip(random.numbers()).collect();
        let model: BTreeMap<i32, i32> = list.iter().copied().collect();
        let text = format!("mapFromList({})", pairs(&list));
        let k = random.below(9) as i32 - 4;
        let mut add = |expression: String, wanted: String| cases.push((expression, wanted));
        add(text.clone(), map(&model));
        add(format!("mapMember({text}, {k})"), model.contains_key(&k).to_string());
        add(format!("mapToList({text})"), pairs(&model.iter().map(|(&a, &b)| (a, b)).collect::<Vec<_>>()));
        let mut changed = model.clone();
        changed.insert(k, 7);
        add(format!("mapUpdate({text}, {k}, 7)"), map(&changed));
        add(format!("mapLookup(mapUpdate({text}, {k}, 7), {k})"), "7".to_string());
        changed.remove(&k);
        add(format!("mapDelete({text}, {k})"), map(&changed));
        let mut changed = model.clone();
        changed.extend(more.iter().rev().copied());
        add(format!("mapUpdateMultiple({text}, {})", pairs(&more)), map(&changed));
        add(format!("mapFromList(mapToList({text})) == {text}"), "true".to_string());
    }
    check(&cases, seed);
}

/// The elements of the type that is permuted.
const NAMES: [&str; 4] = ["Ann", "Bob", "Cyd", "Dan"];

/// Random expressions without constants of the type: `x`, `y` are elements, `s` a set, `q` a sequence, `m` a map.
fn element(random: &mut Random, depth: u32) -> String {
    let inner = depth.saturating_sub(1);
    match if depth == 0 { random.below(2) } else { random.below(7) } {
        0 => "x".to_string(),
        1 => "y".to_string(),
        2 => format!("(if {} then {} else {})", truth(random, inner), element(random, inner), element(random, inner)),
        3 => format!("head({} ^ <{}>)", many(random, inner), element(random, inner)),
        4 => format!("(\\ z @ if z == x then {} else z)({})", element(random, inner), element(random, inner)),
        5 => format!("(let (v, w) = ({}, {}) within w)", element(random, inner), element(random, inner)),
        _ => format!("mapLookup(mapUpdate(m, {}, {}), x)", element(random, inner), element(random, inner)),
    }
}

fn truth(random: &mut Random, depth: u32) -> String {
    let inner = depth.saturating_sub(1);
    match random.below(6) {
        0 => format!("({} == {})", element(random, inner), element(random, inner)),
        1 => format!("member({}, {})", element(random, inner), some(random, inner)),
        2 => format!("({} <= {})", some(random, inner), some(random, inner)),
        3 => format!("elem({}, {})", element(random, inner), many(random, inner)),
        4 => format!("(card({}) > #{})", some(random, inner), many(random, inner)),
        _ => format!("mapMember(m, {})", element(random, inner)),
    }
}

fn some(random: &mut Random, depth: u32) -> String {
    let inner = depth.saturating_sub(1);
    match if depth == 0 { random.below(2) } else { random.below(8) } {
        0 => "s".to_string(),
        1 => "T".to_string(),
        2 => format!("union({}, {})", some(random, inner), some(random, inner)),
        3 => format!("diff({}, {})", some(random, inner), some(random, inner)),
        4 => format!("{{{}, {}}}", element(random, inner), element(random, inner)),
        5 => format!("{{z | z <- {}, z != {}}}", some(random, inner), element(random, inner)),
        6 => format!("set({})", many(random, inner)),
        _ => format!("Union({{a | a <- Set({}), card(a) <= 1}})", some(random, inner)),
    }
}

fn many(random: &mut Random, depth: u32) -> String {
    let inner = depth.saturating_sub(1);
    match if depth == 0 { 0 } else { random.below(4) } {
        0 => "q".to_string(),
        1 => format!("<{}, {}>", element(random, inner), element(random, inner)),
        2 => format!("({} ^ {})", many(random, inner), many(random, inner)),
        _ => format!("<z | z <- {}, member(z, {})>", many(random, inner), some(random, inner)),
    }
}

fn permuted(text: &str, permutation: &[usize]) -> String {
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        match NAMES.iter().position(|name| rest.starts_with(name)) {
            Some(at) => {
                out.push_str(NAMES[permutation[at]]);
                rest = &rest[NAMES[at].len()..];
            }
            None => {
                let length = rest.chars().next().map_or(1, char::len_utf8);
                out.push_str(&rest[..length]);
                rest = &rest[length..];
            }
        }
    }
    out
}

/// `π(eval ρ e) = eval (π∘ρ) e` for expressions without constants of the permuted type (Gibson-Robinson and Lowe,
/// Symmetry reduction in CSP model checking, 2017).
#[test]
fn evaluation_commutes_with_permutations() {
    let seed = 0x5eed_0004;
    let mut random = Random(seed);
    let mut script = String::from("datatype T = Ann | Bob | Cyd | Dan\n");
    let mut calls = Vec::new();
    let mut permutations = Vec::new();
    for at in 0..600 {
        let depth = 1 + random.below(4) as u32;
        let (a, b) = (element(&mut random, depth), some(&mut random, depth));
        let (c, d) = (many(&mut random, depth), truth(&mut random, depth));
        script.push_str(&format!("f{at}(x, y, s, q, m) = ({a}, {b}, {c}, {d}, {{| pair.x, pair.y |}})\n"));
        let name = |random: &mut Random| NAMES[random.below(4) as usize];
        let names = |random: &mut Random| (0..random.below(4)).map(|_| name(random)).collect::<Vec<_>>();
        let (x, y) = (name(&mut random), name(&mut random));
        let (s, q) = (names(&mut random).join(", "), names(&mut random).join(", "));
        let m: Vec<String> = names(&mut random).iter().map(|key| format!("({key}, {})", name(&mut random))).collect();
        let call = format!("f{at}({x}, {y}, {{{s}}}, <{q}>, mapFromList(<{}>))", m.join(", "));
        let mut permutation: Vec<usize> = (0..4).collect();
        for i in (1..4).rev() {
            permutation.swap(i, random.below(i as u64 + 1) as usize);
        }
        calls.push(call.clone());
        calls.push(permuted(&call, &permutation));
        permutations.push(permutation);
    }
    script.push_str("channel pair : T.{0, 1}\n");
    let expressions: Vec<&str> = calls.iter().map(String::as_str).collect();
    let answers = evaluate(&script, &expressions);
    let mut moved = Vec::new();
    let mut wanted = Vec::new();
    for (at, both) in answers.chunks(2).enumerate() {
        match (&both[0], &both[1]) {
            (Answer::Value(left), Answer::Value(right)) => {
                moved.push(permuted(left, &permutations[at]));
                wanted.push((right.clone(), &calls[2 * at]));
            }
            (left, right) => assert_eq!(left, right, "{} (seed {seed})", calls[2 * at]),
        }
    }
    assert!(moved.len() > 500, "only {} of the expressions have values", moved.len());
    let expressions: Vec<&str> = moved.iter().map(String::as_str).collect();
    for (answer, (wanted, call)) in evaluate(&script, &expressions).into_iter().zip(wanted) {
        assert_eq!(answer, Answer::Value(wanted), "{call} (seed {seed})");
    }
}
