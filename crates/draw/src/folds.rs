//! Labels of parallel edges, folded by channel: `read.0`, `read.1` and `read.2` are written `read.{0,1,2}`.
//!
//! A label is cut into atoms at the marks that separate fields (`.`, commas, brackets, `|`, `!`, `?`). Labels with the
//! same marks between their atoms have the same *shape*. An atom at which labels of one shape may differ is a field;
//! the first atom and those behind `|` are names of channels or actions, and stay apart.
//!
//! Field by field, from the last to the first, labels that agree in everything else become one, with the union of their
//! values at that field. So every folded label stands for the product of its sets, and the folded labels together for
//! exactly the labels that were there: nothing is added and nothing is lost.
//!
//! Cost: the labels times their atoms, with a hash table.

use std::collections::HashMap;

/// From this number of consecutive numbers on, a set is written as a range.
const RANGE: usize = 4;

/// A label in pieces.
struct Cut {
    /// By atom, the mark in front of it, and the mark at the end.
    marks: Vec<String>,
    atoms: Vec<Vec<String>>,
    /// Whether an atom is a field.
    fields: Vec<bool>,
}

fn cut(label: &str) -> Cut {
    let mut cut = Cut { marks: Vec::new(), atoms: Vec::new(), fields: Vec::new() };
    let (mut mark, mut atom) = (String::new(), String::new());
    let mut finish = |mark: &mut String, atom: &mut String| {
        if atom.is_empty() {
            return;
        }
        let first = cut.atoms.is_empty();
        // `τ (read.0)`: what is behind an internal step begins with a name again.
        let behind_tau = cut.atoms.last().is_some_and(|atoms: &Vec<String>| atoms[0].ends_with(' '));
        cut.fields.push(!first && !behind_tau && !mark.contains('|'));
        cut.marks.push(std::mem::take(mark));
        cut.atoms.push(vec![std::mem::take(atom)]);
    };
    for character in label.chars() {
        if matches!(character, '.' | ',' | '(' | ')' | '[' | ']' | '|' | '!' | '?') {
            finish(&mut mark, &mut atom);
            mark.push(character);
        } else if character == ' ' && atom.is_empty() && !mark.is_empty() {
            mark.push(character);
        } else {
            atom.push(character);
        }
    }
    finish(&mut mark, &mut atom);
    cut.marks.push(mark);
    cut
}

impl Cut {
    fn text(&self) -> String {
        let mut text = String::new();
        for (mark, atoms) in self.marks.iter().zip(&self.atoms) {
            text.push_str(mark);
            text.push_str(&set(atoms));
        }
        text.push_str(self.marks.last().map_or("", String::as_str));
        text
    }
}

/// One value as it is, several in braces; consecutive numbers as a range.
fn set(values: &[String]) -> String {
    if let [only] = values {
        return only.clone();
    }
    let numbers: Option<Vec<i64>> = values.iter().map(|value| value.parse().ok()).collect();
    if let Some(mut numbers) = numbers {
        numbers.sort_unstable();
        if numbers.len() >= RANGE && numbers.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1])) {
            return format!("{{{}..{}}}", numbers[0], numbers[numbers.len() - 1]);
        }
        let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
        return format!("{{{}}}", numbers.join(","));
    }
    format!("{{{}}}", values.join(","))
}

/// The labels, folded by channel, in the order in which they come first.
pub(crate) fn folded(labels: &[&str]) -> Vec<String> {
    let mut cuts: Vec<Cut> = labels.iter().map(|label| cut(label)).collect();
    let longest = cuts.iter().map(|cut| cut.atoms.len()).max().unwrap_or(0);
    for at in (1..longest).rev() {
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut kept: Vec<Cut> = Vec::with_capacity(cuts.len());
        for mut cut in cuts {
            if !cut.fields.get(at).copied().unwrap_or(false) {
                kept.push(cut);
                continue;
            }
            let own = std::mem::take(&mut cut.atoms[at]);
            // Control characters separate what is compared; they are in no label that a user can tell apart.
            let mut key = format!("{}\u{1}", cut.atoms.len());
            for (number, atoms) in cut.atoms.iter().enumerate() {
                key.push_str(&cut.marks[number]);
                key.push('\u{2}');
                key.push_str(&atoms.join("\u{3}"));
                key.push('\u{4}');
            }
            key.push_str(cut.marks.last().map_or("", String::as_str));
            let number = *known.entry(key).or_insert(kept.len());
            if number == kept.len() {
                cut.atoms[at] = own;
                kept.push(cut);
            } else {
                for value in own {
                    if !kept[number].atoms[at].contains(&value) {
                        kept[number].atoms[at].push(value);
                    }
                }
            }
        }
        cuts = kept;
    }
    cuts.iter().map(Cut::text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_one_channel_are_one() {
        assert_eq!(folded(&["read.0", "read.1", "write.0", "read.2"]), ["read.{0,1,2}", "write.0"]);
        assert_eq!(folded(&["c.0", "c.1", "c.2", "c.3"]), ["c.{0..3}"]);
        assert_eq!(folded(&["a", "b", "c"]), ["a", "b", "c"], "names stay apart");
        assert_eq!(folded(&["s(d1, 0)", "s(d2, 0)", "s(d1, 1)"]), ["s(d1, {0,1})", "s(d2, 0)"]);
        assert_eq!(folded(&["τ (in.1)", "τ (in.2)", "τ (out.1)"]), ["τ (in.{1,2})", "τ (out.1)"]);
        assert_eq!(folded(&["a(1)|b(2)", "a(1)|c(2)", "a(2)|b(2)"]), ["a({1,2})|b(2)", "a(1)|c(2)"]);
    }

    /// A product is one label; what is not a product never becomes one.
    #[test]
    fn a_folded_label_is_a_product() {
        assert_eq!(folded(&["m.a.x", "m.a.y", "m.b.x", "m.b.y"]), ["m.{a,b}.{x,y}"]);
        let parts = folded(&["m.a.x", "m.b.y"]);
        assert_eq!(parts, ["m.a.x", "m.b.y"]);
        let mut seed = 5u64;
        let mut random = |bound: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % bound
        };
        for _ in 0..200 {
            let labels: Vec<String> = (0..1 + random(9))
                .map(|_| format!("m.{}.{}", ["a", "b", "c"][random(3)], ["x", "y"][random(2)]))
                .collect();
            let mut wanted: Vec<&str> = labels.iter().map(String::as_str).collect();
            let made = folded(&wanted);
            let choices = |field: &str| -> Vec<String> {
                field.trim_matches(['{', '}']).split(',').map(str::to_string).collect()
            };
            let mut meant = Vec::new();
            for label in &made {
                let fields: Vec<&str> = label.split('.').collect();
                for first in choices(fields[1]) {
                    meant.extend(choices(fields[2]).iter().map(|second| format!("m.{first}.{second}")));
                }
            }
            meant.sort();
            wanted.sort_unstable();
            wanted.dedup();
            assert_eq!(meant, wanted, "{made:?}");
        }
    }
}
