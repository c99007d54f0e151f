//! Graphviz output: one node a state, one edge a transition, and an arrow from nowhere into the initial state.

use std::io::Write;

use trefoil_control::Control;

use super::WriteError;
use super::output::{Buffer, LabelTexts};
use crate::explicit::Lts;

pub(crate) fn write(lts: &Lts, out: &mut dyn Write, control: &Control) -> Result<(), WriteError> {
    let texts = LabelTexts::new(lts, control, |_, text, bytes| {
        bytes.extend_from_slice(b" [label=\"");
        escape(text, bytes);
        bytes.extend_from_slice(b"\"];\n");
        Ok(())
    })?;
    let mut buffer = Buffer::new(out, control);
    buffer.text(b"digraph lts {\n  node [shape=circle];\n  initial [shape=point, label=\"\"];\n  initial -> ");
    buffer.number(u64::from(lts.initial().0));
    buffer.text(b";\n");
    for state in lts.states() {
        buffer.text(b"  ");
        buffer.number(u64::from(state.0));
        buffer.text(b";\n");
        buffer.breathe(0)?;
    }
    for (done, (source, transition)) in lts.all_transitions().enumerate() {
        buffer.text(b"  ");
        buffer.number(u64::from(source.0));
        buffer.text(b" -> ");
        buffer.number(u64::from(transition.target.0));
        buffer.text(texts.get(transition.label));
        buffer.breathe(done)?;
    }
    buffer.text(b"}\n");
    buffer.finish(lts.transition_count())
}

/// In a quoted string of Graphviz a quote ends it and a backslash starts an escape of the label language.
fn escape(text: &str, bytes: &mut Vec<u8>) {
    for character in text.chars() {
        match character {
            '"' => bytes.extend_from_slice(b"\\\""),
            '\\' => bytes.extend_from_slice(b"\\\\"),
            '\n' => bytes.extend_from_slice(b"\\n"),
            '\r' => bytes.extend_from_slice(b"\\r"),
            '\0' => bytes.extend_from_slice("\u{2400}".as_bytes()),
            other => bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trefoil_system::{LabelId, Labels, StateId};

    use super::*;
    use crate::explicit::LtsBuilder;

    #[test]
    fn labels_are_escaped_and_every_state_is_there() {
        let labels = Arc::new(Labels::new());
        let odd = labels.name("say(\"a\\b\")\n&");
        let mut builder = LtsBuilder::new(labels);
        builder.at_least(3).add(StateId(1), odd, StateId(0)).add(StateId(1), LabelId::TAU, StateId(1));
        let mut out = Vec::new();
        write(&builder.build(StateId(1)), &mut out, &Control::unlimited()).expect("a vector takes everything");
        let text = String::from_utf8(out).expect("text");
        let expected = "digraph lts {\n  node [shape=circle];\n  initial [shape=point, label=\"\"];\n  initial -> 1;\n  0;\n  1;\n  2;\n  \
            1 -> 0 [label=\"say(\\\"a\\\\b\\\")\\n&\"];\n  1 -> 1 [label=\"tau\"];\n}\n";
        assert_eq!(text, expected);
    }
}
