//! Expressions over files: random ones against steps as the operators define them, and what is said about mistakes.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_network::exp::{Flattened, NotFlattened, parse};
use trefoil_network::{Composition, Network};
use trefoil_source::{Diagnostic, Report, Sources};
use trefoil_system::{Checked, LabelId, Labels, StateId, System};
use trefoil_testkit::{Random, seed};

/// The labels of the random files; gates are `A`, `B` and `C`.
const LABELS: [&str; 7] = ["tau", "A", "B !1", "B !2", "C(1)", "C", "exit"];

/// An expression as the oracle sees it. A name is a gate or, in quotes, a label with at most one star.
#[derive(Clone, Debug)]
enum Tree {
    File(usize),
    Parallel(Vec<(Vec<String>, Tree)>, Vec<(String, Option<usize>)>, bool),
    Vectors(Vec<Tree>, Vec<(Vec<Option<String>>, String)>),
    Hide(Vec<String>, bool, Box<Tree>),
    Cut(Vec<String>, bool, Box<Tree>),
    Rename(Vec<(String, String)>, Box<Tree>),
}

type Steps = BTreeSet<(String, Vec<u32>)>;

/// What a name leaves open in a label that it fits.
fn open(name: &str, label: &str) -> Option<Option<String>> {
    if let Some(text) = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        if text == label {
            return Some(None);
        }
        let (before, after) = text.split_once('*')?;
        let middle = label.strip_prefix(before)?.strip_suffix(after)?;
        return Some(Some(middle.to_string()));
    }
    let rest = label.strip_prefix(name)?;
    let offers = rest.is_empty() || rest.starts_with(' ') || rest.starts_with('(') || rest.starts_with('!');
    offers.then(|| Some(rest.to_string()))
}

fn filled(name: &str, open: Option<&str>) -> String {
    match (name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')), open) {
        (Some(text), Some(open)) => text.replacen('*', open, 1),
        (Some(text), None) => text.to_string(),
        (None, open) => format!("{name}{}", open.unwrap_or_default()),
    }
}

impl Tree {
    fn leaves(&self) -> Vec<usize> {
        match self {
            Tree::File(file) => vec![*file],
            Tree::Parallel(branches, ..) => branches.iter().flat_map(|(_, tree)| tree.leaves()).collect(),
            Tree::Vectors(branches, _) => branches.iter().flat_map(Tree::leaves).collect(),
            Tree::Hide(.., inside) | Tree::Cut(.., inside) | Tree::Rename(_, inside) => inside.leaves(),
        }
    }

    fn steps(&self, files: &[Lts], state: &[u32]) -> Steps {
        let fits = |names: &[String], label: &str| names.iter().any(|name| open(name, label).is_some());
        match self {
            Tree::File(file) => {
                let steps = files[*file].outgoing(StateId(state[0])).iter();
                let text = |label: LabelId| files[*file].labels().get(label).to_string();
                steps.map(|step| (text(step.label), vec![step.target.0])).collect()
            }
            Tree::Hide(names, all_but, inside) => {
                let hide = |(label, to): (String, Vec<u32>)| {
                    let hidden = label != "tau" && fits(names, &label) != *all_but;
                    (if hidden { "tau".to_string() } else { label }, to)
                };
                inside.steps(files, state).into_iter().map(hide).collect()
            }
            Tree::Cut(names, all_but, inside) => {
                let stays = |(label, _): &(String, Vec<u32>)| label == "tau" || fits(names, label) == *all_but;
                inside.steps(files, state).into_iter().filter(stays).collect()
            }
            Tree::Rename(arrows, inside) => {
                let rename = |(label, to): (String, Vec<u32>)| {
                    let found = arrows.iter().find_map(|(old, new)| {
                        let open = open(old, &label)?;
                        Some((open.filter(|_| !old.starts_with('"') || new.starts_with('"')), new))
                    });
                    let renamed = match found {
                        _ if label == "tau" => label.clone(),
                        None => label.clone(),
                        Some((_, new)) if new == "i" => "tau".to_string(),
                        Some((open, new)) => filled(new, open.as_deref()),
                    };
                    (renamed, to)
                };
                inside.steps(files, state).into_iter().map(rename).collect()
            }
            Tree::Parallel(branches, listed, all) => {
                let parts = split(branches.iter().map(|(_, tree)| tree), state);
                let own: Vec<Steps> =
                    branches.iter().zip(&parts).map(|((_, tree), part)| tree.steps(files, part)).collect();
                let labels: BTreeSet<&String> = own.iter().flatten().map(|(label, _)| label).collect();
                let mut result = Steps::new();
                for label in labels {
                    let naming: Vec<usize> = (0..branches.len()).filter(|&at| fits(&branches[at].0, label)).collect();
                    let entry = listed.iter().find(|(name, _)| open(name, label).is_some());
                    let everybody: Vec<usize> = (0..branches.len()).collect();
                    let (group, count) = match entry {
                        _ if label == "tau" => (Vec::new(), 0),
                        _ if label == "exit" || *all => (everybody, branches.len()),
                        None => (naming.clone(), naming.len()),
                        Some((_, count)) => {
                            let group = if naming.is_empty() { everybody } else { naming };
                            let count = count.unwrap_or(group.len());
                            (group, count)
                        }
                    };
                    for chosen in 1..1usize << branches.len() {
                        let taking: Vec<usize> = (0..branches.len()).filter(|at| chosen >> at & 1 == 1).collect();
                        let alone = taking.len() == 1 && !group.contains(&taking[0]);
                        let together = count > 0 && taking.len() == count && taking.iter().all(|at| group.contains(at));
                        if alone || together {
                            let wanted = |at: usize| taking.contains(&at).then(|| label.clone());
                            for to in combinations(&own, &parts, &wanted) {
                                result.insert((label.clone(), to));
                            }
                        }
                    }
                }
                result
            }
            Tree::Vectors(branches, vectors) => {
                let parts = split(branches.iter(), state);
                let own: Vec<Steps> = branches.iter().zip(&parts).map(|(tree, part)| tree.steps(files, part)).collect();
                let mut result = Steps::new();
                for at in 0..branches.len() {
                    for to in combinations(&own, &parts, &|branch| (branch == at).then(|| "tau".to_string())) {
                        result.insert(("tau".to_string(), to));
                    }
                }
                for (names, seen) in vectors {
                    // Every choice of a label for each branch that takes part.
                    let mut choices: Vec<(Option<String>, Vec<Option<String>>)> = vec![(None, Vec::new())];
                    for (at, name) in names.iter().enumerate() {
                        let labels: BTreeSet<&String> =
                            own[at].iter().map(|(label, _)| label).filter(|label| *label != "tau").collect();
                        let mut next = Vec::new();
                        for (agreed, chosen) in choices {
                            let Some(name) = name else {
                                next.push((agreed, [chosen, vec![None]].concat()));
                                continue;
                            };
                            for label in &labels {
                                let Some(here) = open(name, label) else { continue };
                                if agreed.is_some() && here.is_some() && agreed != here {
                                    continue;
                                }
                                let more = vec![Some((*label).clone())];
                                next.push((agreed.clone().or(here), [chosen.clone(), more].concat()));
                            }
                        }
                        choices = next;
                    }
                    for (agreed, chosen) in choices {
                        let label = if seen == "i" { "tau".into() } else { filled(seen, agreed.as_deref()) };
                        for to in combinations(&own, &parts, &|at| chosen[at].clone()) {
                            result.insert((label.clone(), to));
                        }
                    }
                }
                result
            }
        }
    }

    fn text(&self, out: &mut String) {
        let list = |names: &[String]| names.join(", ");
        match self {
            Tree::File(file) => write!(out, "f{file}.aut").expect("a string"),
            Tree::Hide(names, all_but, inside) => {
                let but = if *all_but { "all but " } else { "" };
                write!(out, "hide {but}{} in ", list(names)).expect("a string");
                inside.text(out);
                out.push_str(" end hide");
            }
            Tree::Cut(names, all_but, inside) => {
                let but = if *all_but { "all but " } else { "" };
                write!(out, "cut {but}{} in (", list(names)).expect("a string");
                inside.text(out);
                out.push_str(") end cut");
            }
            Tree::Rename(arrows, inside) => {
                let arrows: Vec<String> = arrows.iter().map(|(old, new)| format!("{old} -> {new}")).collect();
                writeln!(out, "rename {} in", arrows.join(",\n  ")).expect("a string");
                inside.text(out);
                out.push_str(" end rename");
            }
            Tree::Parallel(branches, listed, all) => {
                let plain =
                    branches.iter().all(|(names, _)| names.is_empty()) && listed.iter().all(|(_, n)| n.is_none());
                if plain && branches.len() == 2 || *all {
                    let operator = match (*all, listed.is_empty()) {
                        (true, _) => "||".to_string(),
                        (false, true) => "|||".to_string(),
                        _ => format!("|[{}]|", list(&listed.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>())),
                    };
                    out.push('(');
                    for (at, (_, tree)) in branches.iter().enumerate() {
                        if at > 0 {
                            write!(out, " {operator} ").expect("a string");
                        }
                        tree.text(out);
                    }
                    out.push(')');
                    return;
                }
                let entry = |(name, count): &(String, Option<usize>)| {
                    name.clone() + &count.map_or(String::new(), |count| format!("#{count}"))
                };
                let listed: Vec<String> = listed.iter().map(entry).collect();
                writeln!(out, "par {} in -- these", listed.join(", ")).expect("a string");
                for (at, (names, tree)) in branches.iter().enumerate() {
                    out.push_str(if at > 0 { "\n || " } else { "" });
                    if !names.is_empty() {
                        write!(out, "{} -> ", list(names)).expect("a string");
                    }
                    tree.text(out);
                }
                out.push_str(" end par");
            }
            Tree::Vectors(branches, vectors) => {
                let part = |name: &Option<String>| name.clone().unwrap_or("_".into());
                let vector = |(names, seen): &(Vec<Option<String>>, String)| {
                    format!("{} -> {seen}", names.iter().map(part).collect::<Vec<_>>().join(" * "))
                };
                let vectors: Vec<String> = vectors.iter().map(vector).collect();
                write!(out, "par using {} in ", vectors.join(", ")).expect("a string");
                for (at, tree) in branches.iter().enumerate() {
                    out.push_str(if at > 0 { " || (* and *) " } else { "" });
                    tree.text(out);
                }
                out.push_str(" end par");
            }
        }
    }
}

fn split<'t>(branches: impl Iterator<Item = &'t Tree>, state: &[u32]) -> Vec<Vec<u32>> {
    let mut rest = state;
    let mut parts = Vec::new();
    for tree in branches {
        let (part, after) = rest.split_at(tree.leaves().len());
        parts.push(part.to_vec());
        rest = after;
    }
    parts
}

/// Where the whole goes when the chosen branches do their labels.
fn combinations(own: &[Steps], parts: &[Vec<u32>], label: &dyn Fn(usize) -> Option<String>) -> Vec<Vec<u32>> {
    let mut found = vec![Vec::new()];
    for (at, part) in parts.iter().enumerate() {
        let targets: Vec<Vec<u32>> = match label(at) {
            None => vec![part.clone()],
            Some(wanted) => own[at].iter().filter(|(label, _)| *label == wanted).map(|(_, to)| to.clone()).collect(),
        };
        found = found.iter().flat_map(|begun| targets.iter().map(|to| [begun.clone(), to.clone()].concat())).collect();
    }
    found
}

fn some_name(random: &mut Random) -> String {
    ["A", "B", "C", "D", "\"B !1\"", "\"B !*\"", "\"C(1)\"", "\"*\"", "\"A\""][random.below(9)].to_string()
}

fn names(random: &mut Random) -> Vec<String> {
    (0..1 + random.below(2)).map(|_| some_name(random)).collect()
}

fn random_tree(random: &mut Random, depth: usize) -> Tree {
    if depth == 0 || random.chance(15) {
        return Tree::File(random.below(3));
    }
    let inside = |random: &mut Random| Box::new(random_tree(random, depth - 1));
    match random.below(8) {
        0 => Tree::Hide(names(random), random.chance(30), inside(random)),
        1 => Tree::Cut(names(random), random.chance(30), inside(random)),
        2 => {
            let new = ["A", "D", "\"B !1\"", "i", "C"];
            let arrows = (0..1 + random.below(2)).map(|_| (some_name(random), new[random.below(5)].to_string()));
            Tree::Rename(arrows.collect(), inside(random))
        }
        3 => {
            let branches: Vec<Tree> = (0..2 + random.below(2)).map(|_| random_tree(random, depth - 1)).collect();
            let vectors = (0..1 + random.below(3))
                .map(|_| {
                    let mut parts: Vec<Option<String>> =
                        branches.iter().map(|_| random.chance(60).then(|| some_name(random))).collect();
                    if parts.iter().all(Option::is_none) {
                        parts[0] = Some("A".to_string());
                    }
                    (parts, ["V", "\"w\"", "\"x*\"", "i", "B"][random.below(5)].to_string())
                })
                .collect();
            Tree::Vectors(branches, vectors)
        }
        _ => {
            let all = random.chance(20);
            let fancy = !all && random.chance(40);
            let branches = (0..2 + usize::from(fancy && random.chance(50)))
                .map(|_| {
                    let interface = if fancy && random.chance(50) { names(random) } else { Vec::new() };
                    (interface, random_tree(random, depth - 1))
                })
                .collect();
            let count = |random: &mut Random| (fancy && random.chance(40)).then(|| 1 + random.below(3));
            let listed = (0..random.below(3)).map(|_| (some_name(random), count(random))).collect();
            Tree::Parallel(branches, if all { Vec::new() } else { listed }, all)
        }
    }
}

fn random_file(labels: &Arc<Labels>, random: &mut Random) -> Lts {
    let states = 1 + random.below(3) as u32;
    let mut builder = LtsBuilder::new(labels.clone());
    builder.at_least(states);
    for _ in 0..random.below(6) {
        let label = labels.name(LABELS[random.below(LABELS.len())]);
        let (from, to) = (random.below(states as usize) as u32, random.below(states as usize) as u32);
        builder.add(StateId(from), label, StateId(to));
    }
    builder.build(StateId(0))
}

fn flattened(text: &str, labels: &Arc<Labels>, files: &dyn Fn(&str) -> Lts) -> Result<Flattened, Diagnostic> {
    let mut sources = Sources::default();
    let id = sources.add("net.exp", text);
    let expression = parse(id, &sources)?;
    let systems: Vec<Arc<Lts>> = expression.files().map(|(name, _)| Arc::new(files(name))).collect();
    expression.flatten(labels, &systems, &Control::unlimited()).map_err(|why| match why {
        NotFlattened::Wrong(diagnostic) => diagnostic,
        NotFlattened::Stopped(stopped) => panic!("{stopped}"),
    })
}

fn network(flat: Flattened, labels: &Arc<Labels>) -> Network {
    let composition = Composition { rules: Some(flat.rules), ..Composition::new(labels.clone(), flat.components) };
    composition.network().expect("small components")
}

#[test]
fn random_expressions_step_as_their_operators_do() {
    let seed = seed();
    let mut random = Random::new(seed);
    let mut synchronised = 0;
    for round in 0..3000 {
        let labels = Arc::new(Labels::new());
        let files: Vec<Lts> = (0..3).map(|_| random_file(&labels, &mut random)).collect();
        let depth = 1 + random.below(3);
        let tree = random_tree(&mut random, depth);
        let mut text = String::new();
        tree.text(&mut text);
        let context = format!("TREFOIL_SEED={seed} round {round}: {text}");
        let by_name = |name: &str| files[usize::from(name.as_bytes()[1] - b'0')].clone();
        let flat = flattened(&text, &labels, &by_name).unwrap_or_else(|wrong| panic!("{context}: {wrong:?}"));
        let system = Checked::new(network(flat, &labels));
        let control = Control::unlimited();
        let mut explorer = system.explorer(&control);
        let initial: Vec<u32> = tree.leaves().iter().map(|&file| files[file].initial().0).collect();
        assert_eq!(system.initial(&control), Ok(initial.clone()), "{context}");
        let mut seen = BTreeSet::from([initial.clone()]);
        let mut work = vec![initial];
        while let Some(state) = work.pop() {
            let expected = tree.steps(&files, &state);
            let mut found = Steps::new();
            let walk = explorer.successors(&state, &mut |step| {
                found.insert((labels.get(step.label).to_string(), step.row.to_vec()));
                Ok(())
            });
            assert_eq!(walk, Ok(()));
            assert_eq!(found, expected, "{context} at {state:?}");
            for (_, to) in expected {
                synchronised += usize::from(to.iter().zip(&state).filter(|(a, b)| a != b).count() > 1);
                if seen.len() < 200 && seen.insert(to.clone()) {
                    work.push(to);
                }
            }
        }
    }
    assert!(synchronised > 300, "{synchronised} synchronisations");
}

fn wrong(text: &str) -> (&'static str, Option<usize>, Option<usize>) {
    let labels = Arc::new(Labels::new());
    let file = |_: &str| {
        let mut builder = LtsBuilder::new(labels.clone());
        builder.add(StateId(0), labels.name("A"), StateId(0));
        builder.build(StateId(0))
    };
    let diagnostic = match flattened(text, &labels, &file) {
        Err(diagnostic) => diagnostic,
        Ok(flat) => flat.warnings.into_iter().next().unwrap_or_else(|| panic!("{text} is good")),
    };
    let mut sources = Sources::default();
    sources.add("net.exp", text);
    let place = Report::new(&diagnostic, &sources).places[0].clone();
    (diagnostic.code, place.line, place.column)
}

#[test]
fn mistakes_have_a_code_and_a_place() {
    let at = |code, line, column| (code, Some(line), Some(column));
    let deep = "(".repeat(5000);
    for (text, expected) in [
        ("", at("N011", 1, 1)),
        ("a.aut ||", at("N011", 1, 9)),
        ("a.aut b.aut", at("N011", 1, 7)),
        ("hide A in a.aut", at("N011", 1, 16)),
        ("hide A in a.aut end cut", at("N011", 1, 21)),
        ("-- first\n  par A in a.aut ||| b.aut end par", at("N011", 2, 18)),
        ("par A * _ -> B, C in a.aut || b.aut end par", at("N011", 1, 17)),
        ("par using A * _ -> B in a.aut || b.aut || c.aut end par", at("N003", 1, 11)),
        ("par _ * _ -> B in a.aut || b.aut end par", at("N002", 1, 5)),
        ("par A#0 in a.aut || b.aut end par", at("N011", 1, 7)),
        ("hide tau in a.aut end hide", at("N006", 1, 6)),
        ("prio A > B in a.aut end prio", at("N011", 1, 8)),
        ("prio A in a.aut end prio", at("N012", 1, 1)),
        ("partial rename A -> B in a.aut end rename", at("N012", 1, 1)),
        ("\"a.aut", at("N010", 1, 1)),
        ("a.aut (* and", at("N010", 1, 7)),
        ("a.aut $ b.aut", at("N011", 1, 7)),
        (deep.as_str(), at("N013", 1, 201)),
        ("hide X in a.aut end hide", at("N001", 1, 6)),
        ("a.aut |[A, \"A !*\"]| b.aut", at("N001", 1, 12)),
        ("rename A -> \"✓\" in a.aut end rename", at("N006", 1, 13)),
    ] {
        assert_eq!(wrong(text), expected, "{text:.60}");
    }
}

#[test]
fn rules_that_multiply_are_refused_and_long_chains_are_not() {
    let labels = Arc::new(Labels::new());
    let choice = |_: &str| {
        let mut builder = LtsBuilder::new(labels.clone());
        builder.add(StateId(0), labels.name("A !1"), StateId(0)).add(StateId(0), labels.name("A !2"), StateId(0));
        builder.build(StateId(0))
    };
    let same = |count: usize| vec!["rename A -> \"A\" in a.aut end rename"; count].join(" || ");
    let error = flattened(&same(30), &labels, &choice).expect_err("two to the thirtieth ways");
    assert_eq!(error.code, "N014");
    let chain = vec!["a.aut"; 20_000].join(" ||| ");
    assert_eq!(flattened(&chain, &labels, &choice).expect("fine").rules.len(), 40_000);
    let mixed = "a.aut || a.aut ||| ".repeat(5000) + "a.aut";
    assert_eq!(flattened(&mixed, &labels, &choice).expect_err("too deep").code, "N013");
}

#[test]
fn damaged_expressions_are_refused_with_a_place() {
    let pieces =
        ["par ", "end ", "in ", "||", "|[", "]|", "->", "*", "\"", "(", ")", "(*", "--", "#", "_", ",", "é", "hide "];
    let mut random = Random::new(seed() + 1);
    for _ in 0..4000 {
        let depth = 1 + random.below(3);
        let tree = random_tree(&mut random, depth);
        let mut text = String::new();
        tree.text(&mut text);
        for _ in 0..1 + random.below(3) {
            let mut at = random.below(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            match random.below(3) {
                0 => text.truncate(at),
                1 => text.insert_str(at, pieces[random.below(pieces.len())]),
                _ => drop(text.pop()),
            }
        }
        let labels = Arc::new(Labels::new());
        let file = |_: &str| random_file(&labels, &mut Random::new(1));
        if let Err(diagnostic) = flattened(&text, &labels, &file) {
            let mut sources = Sources::default();
            sources.add("net.exp", text.clone());
            assert!(Report::new(&diagnostic, &sources).places[0].line.is_some(), "{text}");
        }
    }
}
