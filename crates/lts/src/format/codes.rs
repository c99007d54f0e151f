//! The stable codes of what can be wrong with an input, with a line and an example each.

use trefoil_source::{Code, CodeEntry};

pub(crate) const CANNOT_READ: Code = "A001";
pub(crate) const DIRECTORY: Code = "A002";
pub(crate) const EMPTY: Code = "A003";
pub(crate) const MCRL2_BINARY: Code = "A004";
pub(crate) const UNKNOWN_CONTENT: Code = "A005";
pub(crate) const NOT_READ: Code = "A006";
pub(crate) const DAMAGED_GZIP: Code = "A007";
pub(crate) const NO_HEADER: Code = "A008";
pub(crate) const MALFORMED_HEADER: Code = "A009";
pub(crate) const INITIAL_OUT_OF_RANGE: Code = "A010";
pub(crate) const TOO_MANY_STATES: Code = "A011";
pub(crate) const TRANSITION_COUNT: Code = "A012";
pub(crate) const STATE_OUT_OF_RANGE: Code = "A013";
pub(crate) const MALFORMED_TRANSITION: Code = "A014";
pub(crate) const UNCLOSED_LABEL: Code = "A015";
pub(crate) const EMPTY_LABEL: Code = "A016";
pub(crate) const LABEL_NOT_TEXT: Code = "A017";
pub(crate) const TOO_LONG: Code = "A018";
pub(crate) const PROBABILISTIC: Code = "A019";
pub(crate) const JSON_SYNTAX: Code = "A020";
pub(crate) const JSON_SHAPE: Code = "A021";
pub(crate) const JSON_VERSION: Code = "A022";
pub(crate) const LABEL_OUT_OF_RANGE: Code = "A023";
pub(crate) const LABEL_NOT_WRITABLE: Code = "A024";
pub(crate) const LABELS_COLLIDE: Code = "A025";
pub(crate) const NO_OUTPUT_FORMAT: Code = "A026";
pub(crate) const CANNOT_WRITE: Code = "A027";
pub(crate) const FSM_SECTIONS: Code = "A028";
pub(crate) const FSM_PARAMETER: Code = "A029";
pub(crate) const FSM_STATE: Code = "A030";
pub(crate) const FSM_TRANSITION: Code = "A031";
pub(crate) const MCRL2_DAMAGED: Code = "A032";

/// Every code that reading and writing systems can give.
pub const CODES: &[CodeEntry] = &[
    CodeEntry::new(CANNOT_READ, "a file cannot be read", "trefoil lts info no-such-file.aut"),
    CodeEntry::new(DIRECTORY, "a directory was given instead of a file", "trefoil lts info ."),
    CodeEntry::new(EMPTY, "the input is empty", "trefoil lts info /dev/null"),
    CodeEntry::new(
        MCRL2_BINARY,
        "a binary file of mCRL2 has no transition system, or an old version",
        "trefoil lts info model.lps",
    ),
    CodeEntry::new(UNKNOWN_CONTENT, "the content is in no format that is known", "trefoil lts info picture.png"),
    CodeEntry::new(NOT_READ, "the format can be written or converted but not read", "trefoil lts info graph.dot"),
    CodeEntry::new(
        DAMAGED_GZIP,
        "the compressed content is damaged or cut off",
        "head -c 100 model.aut.gz | trefoil lts info -",
    ),
    CodeEntry::new(NO_HEADER, "the file does not start with `des`", "(0,\"a\",1)"),
    CodeEntry::new(MALFORMED_HEADER, "the header is not `des (initial,transitions,states)`", "des (0,1)"),
    CodeEntry::new(INITIAL_OUT_OF_RANGE, "the initial state is none of the promised states", "des (3,0,3)"),
    CodeEntry::new(
        TOO_MANY_STATES,
        "there are more states than Trefoil or the memory can hold",
        "des (0,1,1000000000000)",
    ),
    CodeEntry::new(TRANSITION_COUNT, "the header promises another number of transitions", "des (0,2,2)\n(0,\"a\",1)"),
    CodeEntry::new(STATE_OUT_OF_RANGE, "a state number is not below the number of states", "des (0,1,2)\n(0,\"a\",2)"),
    CodeEntry::new(MALFORMED_TRANSITION, "a transition is not `(source,label,target)`", "des (0,1,2)\n(0,\"a\" 1)"),
    CodeEntry::new(UNCLOSED_LABEL, "a quoted label does not end on its line", "des (0,1,2)\n(0,\"a,1)"),
    CodeEntry::new(EMPTY_LABEL, "a transition has no label", "des (0,1,2)\n(0,,1)"),
    CodeEntry::new(LABEL_NOT_TEXT, "a label is not UTF-8 text", "a label in Latin-1 with an accent"),
    CodeEntry::new(
        TOO_LONG,
        "a line is longer than 64 MB, or a label of a binary file than 4 MB",
        "a binary file without line breaks",
    ),
    CodeEntry::new(PROBABILISTIC, "the system is probabilistic", "des (0,1,3)\n(0,\"a\",1 1/2 2)"),
    CodeEntry::new(JSON_SYNTAX, "the content is not JSON", "{\"format\":}"),
    CodeEntry::new(
        JSON_SHAPE,
        "the JSON does not describe a system",
        "{\"format\":\"trefoil-lts\",\"states\":\"many\"}",
    ),
    CodeEntry::new(
        JSON_VERSION,
        "the JSON is of another kind or a later version",
        "{\"format\":\"trefoil-lts\",\"version\":99}",
    ),
    CodeEntry::new(
        LABEL_OUT_OF_RANGE,
        "a label number is not below the number of labels",
        "\"labels\":[\"a\"],\"transitions\":[[0,1,0]]",
    ),
    CodeEntry::new(
        LABEL_NOT_WRITABLE,
        "a label cannot be written in this format",
        "a label with a line break, as .aut",
    ),
    CodeEntry::new(
        LABELS_COLLIDE,
        "two different labels would be written alike",
        "the event a.1 beside the plain name a.1",
    ),
    CodeEntry::new(
        NO_OUTPUT_FORMAT,
        "the output's name does not say which format is meant",
        "trefoil lts convert in.aut out.xyz",
    ),
    CodeEntry::new(CANNOT_WRITE, "the output cannot be created", "trefoil lts convert in.aut no-such-folder/out.aut"),
    CodeEntry::new(FSM_SECTIONS, "an .fsm file has too few or too many sections", "b(2) Bool \"F\" \"T\"\n---\n0"),
    CodeEntry::new(FSM_PARAMETER, "a parameter is not `name(count) Type \"value\" …`", "b(2) Bool \"F\"\n---\n---"),
    CodeEntry::new(FSM_STATE, "a state is not a row of numbers of values", "b(2) Bool \"F\" \"T\"\n---\n2\n---"),
    CodeEntry::new(FSM_TRANSITION, "a transition is not `source target \"label\"`", "---\n---\n1 2 a"),
    CodeEntry::new(
        MCRL2_DAMAGED,
        "a binary file of mCRL2 is damaged or cut off",
        "head -c 100 model.lts | trefoil lts info -",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_are_unique() {
        assert!(CODES.windows(2).all(|pair| pair[0].code < pair[1].code));
        assert_eq!(CODES.last().map(|row| row.code), Some(format!("A{:03}", CODES.len()).as_str()));
    }
}
