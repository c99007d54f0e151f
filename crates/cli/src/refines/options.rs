//! The options of FDR's `refines`. As there, the beginning of an option's name is enough when only one begins so, and
//! an unknown option gives a warning and is ignored.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How answers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// For people and for `grep`.
    Plain,
    /// One line for each script.
    Json,
    /// One line for each assertion.
    FramedJson,
    /// One element for each script.
    Xml,
    /// One document for each script.
    Yaml,
}

const FORMATS: &[(&str, Format)] = &[
    ("plain", Format::Plain),
    ("colour", Format::Plain),
    ("json", Format::Json),
    ("framed_json", Format::FramedJson),
    ("xml", Format::Xml),
    ("yaml", Format::Yaml),
];

/// The options of a run.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) format: Format,
    pub(super) quiet: bool,
    pub(super) brief: bool,
    pub(super) divide: bool,
    pub(super) typecheck: bool,
    pub(super) reveal_taus: bool,
    pub(super) threads: Option<u32>,
    pub(super) files: Vec<PathBuf>,
    pub(super) warnings: Vec<String>,
}

/// What the arguments mean.
#[derive(Debug)]
pub(super) enum Parsed {
    /// Scripts are to be checked.
    Run(Options),
    /// A text is to be printed, and nothing else.
    Say(String),
    /// They cannot be used, for this reason.
    Misuse(String),
}

const HELP: &str = "\
Checks the assertions of CSPM scripts, with the options of FDR's command.

Usage: PROGRAM [OPTION]… FILE…        a file - is standard input

Options:
      --format FORMAT   plain, json, framed_json, xml or yaml [default: plain]
  -q, --quiet           print answers only, no warnings
  -b, --brief           print only whether assertions passed
  -d, --divide          show what each component does in a counterexample
  -t, --typecheck       check types and run no assertion
      --reveal-taus     show hidden events in counterexamples
      --refinement.bfs.workers N
                        number of threads [default: one per core]
  -h, --help            print this text
  -v, --version         print the version

Other options give a warning and are ignored. The exit code is 0 when every assertion has an answer, be it Passed or
Failed, 2 when a script or an assertion cannot be used or answers cannot be written, and 3 when an answer is unknown.
`trefoil check` reports more.
";

/// The long names, and whether a value follows.
const NAMES: &[(&str, bool)] = &[
    ("brief", false),
    ("divide", false),
    ("format", true),
    ("help", false),
    ("quiet", false),
    ("refinement.bfs.workers", true),
    ("reveal-taus", false),
    ("typecheck", false),
    ("version", false),
];

/// Reads the arguments.
pub(super) fn parse(arguments: &[OsString]) -> Parsed {
    let mut options = Options {
        format: Format::Plain,
        quiet: false,
        brief: false,
        divide: false,
        typecheck: false,
        reveal_taus: false,
        threads: None,
        files: Vec::new(),
        warnings: Vec::new(),
    };
    let mut rest = arguments.iter().peekable();
    let mut only_files = false;
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        if only_files || text == "-" || !text.starts_with('-') {
            options.files.push(PathBuf::from(argument));
            continue;
        }
        if text == "--" {
            only_files = true;
            continue;
        }
        let (name, mut value) = match text.split_once('=') {
            Some((name, value)) => (name.to_string(), Some(value.to_string())),
            None => (text.to_string(), None),
        };
        let Some((known, takes)) = find(&name) else {
            // An unknown option may have a value behind it; a script is never one.
            let follows = rest.next_if(|next| value.is_none() && looks_like_value(next));
            let with = follows.map(|value| format!(" {}", value.to_string_lossy())).unwrap_or_default();
            options.warnings.push(format!("ignoring the unknown option {name}{with}"));
            continue;
        };
        if takes && value.is_none() {
            value = rest.next().map(|value| value.to_string_lossy().into_owned());
        }
        let value = value.unwrap_or_default();
        match known {
            "help" => return Parsed::Say(HELP.to_string()),
            "version" => return Parsed::Say(format!("Trefoil {}\n", env!("CARGO_PKG_VERSION"))),
            "quiet" => options.quiet = true,
            "brief" => options.brief = true,
            "divide" => options.divide = true,
            "typecheck" => options.typecheck = true,
            "reveal-taus" => options.reveal_taus = true,
            "format" => match FORMATS.iter().find(|(name, _)| *name == value) {
                Some((_, format)) => options.format = *format,
                None => {
                    let known: Vec<&str> = FORMATS.iter().map(|(name, _)| *name).collect();
                    return Parsed::Misuse(format!("`{value}` is not a format; choose one of {}", known.join(", ")));
                }
            },
            _ => match value.parse::<u32>() {
                Ok(threads @ 1..=1024) => options.threads = Some(threads),
                _ => options.warnings.push(format!("ignoring {name} {value}: it needs a number of threads")),
            },
        }
    }
    if options.files.is_empty() {
        return Parsed::Misuse("give at least one script".to_string());
    }
    if options.files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
        return Parsed::Misuse("standard input (-) is named twice, but it can be read only once".to_string());
    }
    Parsed::Run(options)
}

/// An option by its name, by the beginning of its name, or by its letter.
fn find(given: &str) -> Option<(&'static str, bool)> {
    let long = match given.strip_prefix("--") {
        Some(long) => long,
        None => match given {
            "-q" => "quiet",
            "-b" => "brief",
            "-d" => "divide",
            "-t" => "typecheck",
            "-h" => "help",
            "-v" => "version",
            _ => return None,
        },
    };
    let long = long.replace('_', "-");
    let exact = NAMES.iter().find(|(name, _)| *name == long);
    let mut begun = NAMES.iter().filter(|(name, _)| name.starts_with(&long));
    let only = begun.next().filter(|_| begun.next().is_none() && !long.is_empty());
    exact.or(only).copied()
}

fn looks_like_value(argument: &OsString) -> bool {
    let path = Path::new(argument);
    let script =
        path.extension().is_some_and(|extension| extension == "csp" || extension == "cspm" || extension == "fdr2");
    !argument.to_string_lossy().starts_with('-') && !script && !path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(arguments: &[&str]) -> Options {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        match parse(&arguments) {
            Parsed::Run(options) => options,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_may_stand_anywhere_and_be_shortened() {
        let read = options(&["a.csp", "--format=json", "--q", "--reveal-taus", "-"]);
        assert_eq!((read.format, read.quiet, read.reveal_taus), (Format::Json, true, true));
        assert_eq!(read.files, [PathBuf::from("a.csp"), PathBuf::from("-")]);
        assert_eq!(options(&["--format", "framed_json", "a.csp"]).format, Format::FramedJson);
        assert!(options(&["-b", "-d", "--", "-x.csp"]).divide);
    }

    #[test]
    fn what_is_not_known_is_warned_about() {
        let read = options(&["--archive", "there", "--nonsense=1", "a.csp", "--more", "b.csp"]);
        assert_eq!(read.warnings.len(), 3);
        assert_eq!(read.files, [PathBuf::from("a.csp"), PathBuf::from("b.csp")]);
        // `re` begins two options.
        assert_eq!(options(&["--re", "a.csp"]).warnings.len(), 1);
    }

    #[test]
    fn misuse_is_told() {
        assert!(matches!(parse(&[]), Parsed::Misuse(_)));
        assert!(matches!(parse(&["--format=latin".into(), "a.csp".into()]), Parsed::Misuse(_)));
        assert!(matches!(parse(&["-".into(), "-".into()]), Parsed::Misuse(_)));
        assert!(matches!(parse(&["--help".into()]), Parsed::Say(_)));
    }
}
