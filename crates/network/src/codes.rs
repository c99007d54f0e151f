//! The stable codes of what can be wrong with a composition, with a line and an example each.

use trefoil_source::{Code, CodeEntry};

pub(crate) const NO_SUCH_LABEL: Code = "N001";
pub(crate) const VECTOR_SHAPE: Code = "N002";
pub(crate) const VECTOR_LENGTH: Code = "N003";
pub(crate) const VECTOR_LABEL: Code = "N004";
pub(crate) const RENAMING_SHAPE: Code = "N005";
pub(crate) const RESERVED: Code = "N006";
pub(crate) const NO_COMPONENTS: Code = "N007";
pub(crate) const TOO_LARGE: Code = "N008";
pub(crate) const HIDE_TWICE: Code = "N009";
pub(crate) const UNBALANCED: Code = "N010";
pub(crate) const EXP_SYNTAX: Code = "N011";
pub(crate) const EXP_UNSUPPORTED: Code = "N012";
pub(crate) const EXP_NESTING: Code = "N013";
pub(crate) const EXP_RULES: Code = "N014";

/// Every code that composing can give.
pub const CODES: &[CodeEntry] = &[
    CodeEntry::new(NO_SUCH_LABEL, "no component has this label", "trefoil lts compose a.aut b.aut --sync sned"),
    CodeEntry::new(
        VECTOR_SHAPE,
        "a vector is not `label,…,label -> label`",
        "trefoil lts compose a.aut b.aut --vector send,receive",
    ),
    CodeEntry::new(
        VECTOR_LENGTH,
        "a vector does not have one entry per component",
        "trefoil lts compose a.aut b.aut --vector 'send -> c'",
    ),
    CodeEntry::new(
        VECTOR_LABEL,
        "the component does not have the label that a vector gives it",
        "trefoil lts compose a.aut b.aut --vector 'receive,_ -> c'",
    ),
    CodeEntry::new(RENAMING_SHAPE, "a renaming is not `old=new`", "trefoil lts compose a.aut b.aut --rename send"),
    CodeEntry::new(
        RESERVED,
        "tau and ✓ cannot be synchronised, renamed or hidden by name",
        "trefoil lts compose a.aut b.aut --sync tau",
    ),
    CodeEntry::new(NO_COMPONENTS, "nothing to compose", "trefoil lts compose"),
    CodeEntry::new(TOO_LARGE, "a component has more than 2^32 transitions", "trefoil lts compose enormous.aut b.aut"),
    CodeEntry::new(
        HIDE_TWICE,
        "a list of labels to hide and a list of labels not to hide",
        "trefoil lts compose a.aut b.aut --hide a --hide-all-but b",
    ),
    CodeEntry::new(UNBALANCED, "a quote or a bracket is not closed", "trefoil lts compose a.aut b.aut --hide 'send(1'"),
    CodeEntry::new(
        EXP_SYNTAX,
        "an .exp file does not go on as it should",
        "trefoil lts compose net.exp, in which hide A in \"a.aut\" has no end hide",
    ),
    CodeEntry::new(
        EXP_UNSUPPORTED,
        "an .exp file uses an operator that is not read",
        "trefoil lts compose net.exp, in which there is prio",
    ),
    CodeEntry::new(
        EXP_NESTING,
        "an .exp file is nested too deep",
        "trefoil lts compose net.exp, in which there are a thousand brackets around a file",
    ),
    CodeEntry::new(
        EXP_RULES,
        "synchronising multiplies to more than a million rules",
        "trefoil lts compose net.exp, in which thirty choices of two are synchronised with each other",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_numbered_without_gaps() {
        for (index, entry) in CODES.iter().enumerate() {
            assert_eq!(entry.code, format!("N{:03}", index + 1));
            assert!(!entry.meaning.is_empty() && entry.example.starts_with("trefoil "));
        }
    }
}
