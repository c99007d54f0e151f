//! `laws.md`: algebraic laws of the built-in sorts, for random values.

mod support;

use support::values::{data, values};
use trefoil_data::typed::DataSpecification;
use trefoil_testkit::{Random, seed};

const DECLARATIONS: &str = "sort C = struct red | green | blue;
    D = struct leaf ? isleaf | node(num: Nat, rest: D) ? isnode;
    E = struct pair(Bool, C) | none;
";

/// Instances of a law for one choice of sorts; more with `TREFOIL_DATA_CASES`.
fn cases() -> usize {
    std::env::var("TREFOIL_DATA_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(4)
}

/// A sort as text: a name, and what stands in its brackets.
fn inside(sort: &str) -> Option<(&str, &str)> {
    let (name, rest) = sort.split_once('(')?;
    Some((name, rest.strip_suffix(')')?))
}

/// A random number of digits, few more often than many.
fn number(random: &mut Random) -> String {
    match random.below(8) {
        0 => (0..1 + random.below(40)).map(|place| char::from(b'1' + random.below(9 - place.min(1)) as u8)).collect(),
        1 => ["18446744073709551615", "18446744073709551616", "9223372036854775808"][random.below(3)].to_string(),
        2 => random.below(1000).to_string(),
        _ => random.below(5).to_string(),
    }
}

/// A random value of a sort, as an expression.
fn value(sort: &str, random: &mut Random) -> String {
    let some = |random: &mut Random, sort: &str, most: usize| -> Vec<String> {
        (0..random.below(most)).map(|_| value(sort, random)).collect()
    };
    if let Some((from, to)) = sort.split_once(" -> ") {
        let mut function = match random.below(3) {
            0 if to == "Bool" && from != "Bool" => format!("(lambda k: {from}. k < {})", value(from, random)),
            1 if from == to => format!("(lambda k: {from}. k)"),
            _ => format!("(lambda k: {from}. {})", value(to, random)),
        };
        for _ in 0..random.below(4) {
            function += &format!("[{} -> {}]", value(from, random), value(to, random));
        }
        return function;
    }
    match (sort, inside(sort)) {
        ("Bool", _) => ["true", "false"][random.below(2)].to_string(),
        ("Nat", _) => number(random),
        ("Pos", _) => match number(random) {
            zero if zero == "0" => "1".to_string(),
            other => other,
        },
        ("Int", _) => format!("{}{}", ["", "-"][random.below(2)], number(random)),
        ("Real", _) => format!("({} / {})", value("Int", random), value("Pos", random)),
        ("C", _) => ["red", "green", "blue"][random.below(3)].to_string(),
        ("D", _) if random.chance(40) => "leaf".to_string(),
        ("D", _) => format!("node({}, {})", value("Nat", random), value("D", random)),
        ("E", _) if random.chance(20) => "none".to_string(),
        ("E", _) => format!("pair({}, {})", value("Bool", random), value("C", random)),
        (_, Some(("List", element))) => format!("[{}]", some(random, element, 5).join(", ")),
        (_, Some(("FSet", element))) => format!("{{{}}}", some(random, element, 6).join(", ")),
        (_, Some(("Literal", element))) => {
            format!("{}{{{}}}", ["", "!"][random.below(2)], some(random, element, 6).join(", "))
        }
        (_, Some(("Set", element))) => match random.below(3) {
            0 => format!("{{ k: {element} | k < {} }}", value(element, random)),
            1 => format!("{{ k: {element} | k != {} && {} }}", value(element, random), value("Bool", random)),
            _ => value(&format!("Literal({element})"), random),
        },
        (_, Some(("Bag", element))) if random.chance(40) => {
            format!(
                "{{ k: {element} | if(k == {}, {}, {}) }}",
                value(element, random),
                random.below(4),
                random.below(3)
            )
        }
        (_, Some(("FBag" | "Bag", element))) => {
            let counted: Vec<String> =
                some(random, element, 5).into_iter().map(|element| format!("{element}: {}", random.below(4))).collect();
            if counted.is_empty() { "{:}".to_string() } else { format!("{{{}}}", counted.join(", ")) }
        }
        other => panic!("{other:?} is not on the page"),
    }
}

/// The sorts of a heading's list, such as `For S in Bool, Nat.`
fn choices<'p>(section: &'p str, letter: &str) -> Vec<&'p str> {
    let start = format!("For {letter} in ");
    match section.split_once(&start) {
        Some((_, rest)) => rest.split_once('.').expect("a full stop").0.split(", ").collect(),
        None => vec![""],
    }
}

/// The closed instances of every law of a section.
fn instances(section: &str, random: &mut Random) -> Vec<(String, String)> {
    let (_, block) = section.split_once("```text\n").expect("laws");
    let (block, _) = block.split_once("\n```").expect("the end of the laws");
    let (declared, laws) = block.split_once('\n').expect("variables and laws");
    let declared = declared.strip_prefix("var ").expect("variables").trim_end_matches(';');
    let mut instances = Vec::new();
    for s in choices(section, "S") {
        for t in choices(section, "T") {
            let sorts = |text: &str| {
                let words = text.split_inclusive(|letter: char| !letter.is_alphanumeric()).map(|word| {
                    let (name, end) = match word.char_indices().last() {
                        Some((at, last)) if !last.is_alphanumeric() => word.split_at(at),
                        _ => (word, ""),
                    };
                    let name = match name {
                        "S" => s,
                        "T" => t,
                        other => other,
                    };
                    format!("{name}{end}")
                });
                words.collect::<String>()
            };
            let variables: Vec<(&str, String)> = declared
                .split("; ")
                .flat_map(|group| {
                    let (names, sort) = group.split_once(": ").expect("a sort");
                    names.split(", ").map(move |name| (name, sort)).collect::<Vec<_>>()
                })
                .map(|(name, sort)| (name, sorts(sort)))
                .collect();
            for law in laws.lines() {
                let law = sorts(law);
                for _ in 0..cases() {
                    let binders: Vec<String> = variables
                        .iter()
                        .map(|(name, sort)| format!("{name}: {}", sort.replace("Literal", "Set")))
                        .collect();
                    let values: Vec<String> = variables.iter().map(|(_, sort)| value(sort, random)).collect();
                    instances
                        .push((law.clone(), format!("(lambda {}. {law})({})", binders.join(", "), values.join(", "))));
                }
            }
        }
    }
    instances
}

#[test]
fn laws_hold_for_random_values() {
    let seed = seed();
    println!("TREFOIL_SEED={seed}");
    let mut random = Random::new(seed);
    let (data, _): (DataSpecification, _) = data(DECLARATIONS);
    let (mut tried, mut wrong) = (0, Vec::new());
    for section in include_str!("laws.md").split("\n## ").skip(1) {
        let instances = instances(section, &mut random);
        for part in instances.chunks(200) {
            let texts: Vec<&str> = part.iter().map(|(_, text)| text.as_str()).collect();
            for ((law, text), found) in part.iter().zip(values(&texts, &data, false, u64::MAX)) {
                tried += 1;
                if found.as_deref() != Ok("true") {
                    wrong.push(format!("{law}: {text} is {found:?}"));
                }
            }
        }
    }
    println!("{tried} instances");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
