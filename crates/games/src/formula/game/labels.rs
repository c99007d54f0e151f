//! The labels of a model as formulas see them: bags of names with the texts of their arguments.

use std::sync::Arc;

use trefoil_system::{LabelId, Labels, Writing};

use super::super::signature::is_name;

/// The parts of a label as formulas see them: names with the texts of their arguments, in the data language.
pub type LabelParts = Vec<(String, Vec<String>)>;

/// How the labels of a language are read.
pub type LabelReader = Arc<dyn Fn(&Labels, LabelId) -> LabelParts + Send + Sync>;

/// The action that formulas name for `✓`.
pub fn termination(labels: &Labels) -> &'static str {
    match labels.writing() {
        Writing::Brackets => "Terminate",
        Writing::Dots | Writing::Messages => "tick",
    }
}

/// The parts of a label with their arguments as texts. A label that a file has as a text alone is taken apart; a name
/// that is a word of the language of formulas is followed by `_`.
pub fn label_parts(labels: &Labels, label: LabelId) -> LabelParts {
    let mut parts = Vec::new();
    if label == LabelId::TICK {
        return vec![(termination(labels).to_string(), Vec::new())];
    }
    for part in labels.get(label).parts() {
        if part.arguments.is_empty() && part.name.contains(['(', '|']) {
            parts.extend(split(&part.name));
        } else {
            parts.push((part.name.to_string(), part.arguments.iter().map(|text| text.to_string()).collect()));
        }
    }
    for (name, _) in &mut parts {
        if is_word(name) {
            name.push('_');
        }
    }
    parts
}

/// Whether a name is a word of the language of formulas.
fn is_word(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(is_letter) && name.starts_with(|first: char| first.is_ascii_alphabetic()) && !is_name(name)
}

/// Takes `a(1, [2, 3])|b` apart.
fn split(text: &str) -> Vec<(String, Vec<String>)> {
    let pieces = |text: &str, separator: char| -> Vec<String> {
        let (mut all, mut last, mut depth) = (Vec::new(), String::new(), 0_i32);
        for character in text.chars() {
            depth += i32::from("([{".contains(character)) - i32::from(")]}".contains(character));
            if character == separator && depth == 0 {
                all.push(std::mem::take(&mut last));
            } else {
                last.push(character);
            }
        }
        all.push(last);
        all.iter().map(|piece| piece.trim().to_string()).collect()
    };
    let part = |piece: String| match piece.strip_suffix(')').and_then(|inside| inside.split_once('(')) {
        Some((name, inside)) => (name.trim().to_string(), pieces(inside, ',')),
        None => (piece, Vec::new()),
    };
    pieces(text, '|').into_iter().filter(|piece| piece != "tau").map(part).collect()
}
