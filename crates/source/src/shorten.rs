//! Long texts cut short, at the end of a word.

/// The text in at most `letters` characters; a longer one loses its end, which an ellipsis replaces. The cut is between
/// two words if one ends behind the first quarter, else beside a sign such as a dot or a bracket, and inside a word
/// only if all of the text is one.
pub fn shortened(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_string();
    }
    let kept: String = text.chars().take(letters.saturating_sub(1)).collect();
    let rest = &text[kept.len()..];
    if rest.starts_with(' ') {
        return format!("{}…", kept.trim_end());
    }
    let least = kept.len() / 4;
    if let Some(end) = kept.rfind(' ').filter(|&end| end > least) {
        return format!("{} …", kept[..end].trim_end());
    }
    let in_word = |character: char| character.is_alphanumeric() || character == '_';
    if !rest.starts_with(in_word) {
        return format!("{kept}…");
    }
    match kept.rfind(|character| !in_word(character)).filter(|&end| end > least) {
        Some(end) => {
            let sign = kept[end..].chars().next().map_or(0, char::len_utf8);
            format!("{}…", &kept[..end + sign])
        }
        None => format!("{kept}…"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_words() {
        assert_eq!(shortened("picks.i.first -> picks.i.second", 24), "picks.i.first -> …");
        assert_eq!(shortened("picks.i.first -> picks.i.second", 40), "picks.i.first -> picks.i.second");
        let long = "send.One.b.Na.Alice -> receive.Two.Alice.Na?n!signature(repaired, b) -> STOP";
        assert_eq!(shortened(long, 60), "send.One.b.Na.Alice -> …");
        assert_eq!(shortened("receive.Two.Alice.Nonce", 16), "receive.Two.…");
        assert_eq!(shortened("one two three", 8), "one two…");
        assert_eq!(shortened(&"x".repeat(1000), 10).chars().count(), 10);
    }
}
