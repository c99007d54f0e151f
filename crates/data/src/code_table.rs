//! Each stage has a table of the codes of what it reports.

/// Makes a constant for each code and the table `CODES` of them all.
#[macro_export]
macro_rules! code_table {
    ($visible:vis $($name:ident = $code:literal, $meaning:literal, $example:expr;)*) => {
        $(#[doc = $meaning] $visible const $name: &str = $code;)*

        /// Every code of this stage.
        pub const CODES: &[trefoil_source::CodeEntry] = &[$(trefoil_source::CodeEntry::new($code, $meaning, $example)),*];
    };
}

pub(crate) use code_table;
