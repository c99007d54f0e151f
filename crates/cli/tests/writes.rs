//! Every place where the program writes, on a disk that is full after `n` bytes, through a symbolic link, into a
//! folder, onto a device that takes nothing, and into a pipe without a reader.
//!
//! A full disk is a limit on the size of files (`prlimit --fsize`) with its signal ignored: a write beyond it is cut
//! short, and the next one fails.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// Older content, which a failed write must leave.
const OLD: &str = "old";

const FILES: &[(&str, &str)] = &[
    ("s.csp", "channel a, b\nP = a -> b -> P\nassert P [T= a -> STOP\nassert STOP [T= P\n"),
    ("m.pml", "byte x;\nactive proctype A() { x = 1; assert(x == 2) }\n"),
    ("m.mcrl2", "act a, b; proc P(n: Bool) = a . P(!n) + b . P(n); init P(true);\n"),
    (
        "d.mcrl2",
        "act a, b; proc P(n, m: Nat) = (n < 2) -> a . P(n + 1, m) + (m < 2) -> b . P(n, m + 1); init P(0, 0);\n",
    ),
    ("s.aut", "des (0,2,2)\n(0,\"a\",1)\n(1,\"b\",0)\n"),
    ("g.pg", "parity 1;\n0 0 0 1;\n1 1 1 0;\n"),
];

/// A folder with the input files and a subfolder for output.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = tempfile::tempdir().expect("a folder");
        FILES.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).expect("a file"));
        fs::create_dir(folder.path().join("out")).expect("a folder");
        Folder(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, limit: Option<u64>, arguments: &[&str], input: Option<&str>) -> Command {
        let program = env!("CARGO_BIN_EXE_trefoil");
        let mut command = match limit {
            None => Command::new(program),
            Some(limit) => {
                let mut command = Command::new("sh");
                let script = "trap '' XFSZ; limit=$0; exec prlimit --fsize=$limit \"$@\"";
                command.args(["-c", script, &limit.to_string(), program]);
                command
            }
        };
        command.args(arguments).current_dir(self.0.path()).env_remove("CLICOLOR_FORCE").env("NO_COLOR", "1");
        match input {
            None => command.stdin(Stdio::null()),
            Some(input) => {
                fs::write(self.path("input"), input).expect("a file");
                command.stdin(fs::File::open(self.path("input")).expect("a file"))
            }
        };
        command
    }

    fn run(&self, limit: Option<u64>, arguments: &[&str], input: Option<&str>) -> Output {
        self.command(limit, arguments, input).output().expect("it runs")
    }

    /// The names in the folder for output.
    fn written(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("out")).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect();
        names.sort();
        names
    }

    fn clear(&self) {
        fs::remove_dir_all(self.path("out")).expect("a folder");
        fs::create_dir(self.path("out")).expect("a folder");
    }
}

/// A command that writes a file `out/FILE`.
struct Writer {
    file: &'static str,
    arguments: &'static [&'static str],
    input: Option<&'static str>,
    code: i32,
}

const fn writes(file: &'static str, arguments: &'static [&'static str], code: i32) -> Writer {
    Writer { file, arguments, input: None, code }
}

/// Every writer of a file, once for each of its kinds of files.
const WRITERS: &[Writer] = &[
    writes("r.html", &["check", "s.csp", "--report", "out/r.html"], 1),
    writes("c.svg", &["check", "s.csp", "--only", "2", "--chart", "out/c.svg"], 1),
    writes("t.trail", &["check", "m.pml", "--only", "1", "--trail", "out/t.trail"], 1),
    writes("c.svg", &["check", "m.pml", "--only", "1", "--chart", "out/c.svg"], 1),
    writes("e.aut", &["check", "m.mcrl2", "--formula", "[true*.a]false", "--evidence", "out/e.aut"], 1),
    writes("e.svg", &["check", "m.mcrl2", "--formula", "[true*.a]false", "--evidence", "out/e.svg"], 1),
    writes("e.dot", &["check", "m.mcrl2", "--formula", "[true*.a]false", "--evidence", "out/e.dot"], 1),
    writes("g.svg", &["graph", "s.csp", "P", "-o", "out/g.svg"], 0),
    writes("g.png", &["graph", "s.csp", "P", "-o", "out/g.png"], 0),
    writes("c.png", &["check", "m.pml", "--only", "1", "--chart", "out/c.png"], 1),
    writes("q.png", &["game", "solve", "g.pg", "--picture", "out/q.png"], 0),
    writes("g.dot", &["graph", "s.csp", "P", "-o", "out/g.dot"], 0),
    writes("t.svg", &["structure", "s.csp", "P", "-o", "out/t.svg"], 0),
    writes("d.svg", &["symmetry", "m.pml", "-o", "out/d.svg"], 0),
    writes("d.dot", &["symmetry", "m.pml", "-o", "out/d.dot"], 0),
    writes("a.hoa", &["automaton", "--ltl", "[] <> a", "-o", "out/a.hoa"], 0),
    writes("a.svg", &["automaton", "--ltl", "[] <> a", "-o", "out/a.svg"], 0),
    writes("l.aut", &["lts", "convert", "s.aut", "out/l.aut"], 0),
    writes("l.fsm", &["lts", "convert", "s.aut", "out/l.fsm"], 0),
    writes("l.json", &["lts", "convert", "s.aut", "out/l.json"], 0),
    writes("l.lts", &["lts", "convert", "s.aut", "out/l.lts"], 0),
    writes("l.dot", &["lts", "convert", "s.aut", "out/l.dot"], 0),
    writes("l.aut.gz", &["lts", "convert", "s.aut", "out/l.aut.gz"], 0),
    writes("m.aut", &["lts", "minimise", "s.aut", "-o", "out/m.aut"], 0),
    writes("p.aut", &["lts", "compose", "s.aut", "s.aut", "-o", "out/p.aut"], 0),
    writes("n.aut", &["lts", "generate", "m.mcrl2", "-o", "out/n.aut"], 0),
    writes("x.aut", &["lts", "random", "out/x.aut", "--states", "2", "--transitions", "3"], 0),
    writes("w.svg", &["lts", "draw", "s.aut", "-o", "out/w.svg"], 0),
    writes("q.sol", &["game", "solve", "g.pg", "-o", "out/q.sol"], 0),
    writes("q.svg", &["game", "solve", "g.pg", "--picture", "out/q.svg"], 0),
    writes("k.aut", &["mcrl2", "decompose", "d.mcrl2", "--partition", "n / m", "-o", "out/k.aut"], 0),
    writes("k.svg", &["mcrl2", "decompose", "d.mcrl2", "--partition", "n / m", "--picture", "out/k.svg"], 0),
    writes("w.svg", &["trace", "m.pml", "--random", "3", "--chart", "out/w.svg"], 0),
    Writer { file: "y.json", arguments: &["trace", "s.csp", "P"], input: Some("a\nsave out/y.json\n"), code: 0 },
    Writer { file: "y.trc", arguments: &["trace", "s.csp", "P"], input: Some("a\nsave out/y.trc\n"), code: 0 },
    Writer { file: "y.trail", arguments: &["trace", "m.pml"], input: Some("1\nsave out/y.trail\n"), code: 0 },
    Writer { file: "y.png", arguments: &["trace", "m.pml"], input: Some("1\nsave out/y.png\n"), code: 0 },
    Writer { file: "y.svg", arguments: &["trace", "m.pml"], input: Some("1\nsave out/y.svg\n"), code: 0 },
];

/// Files with no more bytes than this are cut at each of them; `TREFOIL_WRITES_SMALL` sets another size.
const SMALL: usize = 60;

/// How many bytes of a file of this size are written before the disk is full.
fn limits(size: usize) -> Vec<usize> {
    let small = std::env::var("TREFOIL_WRITES_SMALL").ok().and_then(|size| size.parse().ok()).unwrap_or(SMALL);
    match size <= small {
        true => (0..size).collect(),
        // The largest limit leaves room for a report with shorter times in it.
        false => vec![0, 1, size / 2, size - size / 16],
    }
}

#[test]
fn on_a_full_disk_the_old_file_stays_and_the_exit_code_is_two() {
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let part = |part: usize| scope.spawn(move || WRITERS.iter().skip(part).step_by(2).filter_map(cut).collect());
        let parts = [part(0), part(1)];
        parts.into_iter().flat_map(|part| part.join().unwrap_or_else(|_| vec!["a panic".to_string()])).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with a writer, if anything is.
fn cut(writer: &Writer) -> Option<String> {
    let found = std::panic::catch_unwind(|| cut_at_every_byte(writer));
    found.err().map(|why| why.downcast::<String>().map_or_else(|_| format!("{:?}", writer.arguments), |why| *why))
}

fn cut_at_every_byte(writer: &Writer) {
    let &Writer { file, arguments, input, code } = writer;
    let folder = Folder::new();
    let target = folder.path("out").join(file);
    let whole = folder.run(None, arguments, input);
    assert_eq!(whole.status.code(), Some(code), "{arguments:?}: {}", said(&whole));
    assert_eq!(folder.written(), [file], "{arguments:?}");
    let size = fs::read(&target).expect("a file").len();
    assert!(size > 0, "{arguments:?}");
    for limit in limits(size) {
        fs::write(&target, OLD).expect("a file");
        let cut = folder.run(Some(limit as u64), arguments, input);
        let said = said(&cut);
        assert_eq!(cut.status.code(), Some(2), "{arguments:?} with {limit} of {size} bytes: {said}");
        assert_eq!(said.matches("cannot write").count(), 1, "{arguments:?} with {limit} of {size} bytes: {said}");
        assert_eq!(fs::read_to_string(&target).expect("a file"), OLD, "{arguments:?} with {limit} of {size} bytes");
        assert_eq!(folder.written(), [file], "{arguments:?} with {limit} of {size} bytes leaves something");
    }
    // A link stays a link.
    folder.clear();
    std::os::unix::fs::symlink("../target", &target).expect("a link");
    let linked = folder.run(None, arguments, input);
    assert_eq!(linked.status.code(), Some(code), "{arguments:?}: {}", said(&linked));
    assert!(fs::symlink_metadata(&target).expect("a link").is_symlink(), "{arguments:?}");
    assert!(fs::metadata(folder.path("target")).is_ok_and(|file| file.len() > 0), "{arguments:?}");
    // A folder is no file.
    folder.clear();
    fs::create_dir(&target).expect("a folder");
    let refused = folder.run(None, arguments, input);
    assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {}", said(&refused));
    assert_eq!(said(&refused).matches("cannot write").count(), 1, "{arguments:?}: {}", said(&refused));
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn parts_of_a_decomposition_replace_older_ones_when_all_is_well() {
    let folder = Folder::new();
    let arguments = ["mcrl2", "decompose", "d.mcrl2", "--partition", "n / m", "--write-parts", "out"];
    let whole = folder.run(None, &arguments, None);
    assert_eq!(whole.status.code(), Some(0), "{}", said(&whole));
    let names = folder.written();
    assert_eq!(names.len(), 3, "{names:?}");
    for name in &names {
        fs::write(folder.path("out").join(name), OLD).expect("a file");
    }
    let cut = folder.run(Some(10), &arguments, None);
    assert_eq!(cut.status.code(), Some(2), "{}", said(&cut));
    assert_eq!(said(&cut).matches("cannot write").count(), 1, "{}", said(&cut));
    assert_eq!(folder.written(), names);
    for name in &names {
        assert_eq!(fs::read_to_string(folder.path("out").join(name)).expect("a file"), OLD, "{name}");
    }
}

/// Commands that write to standard output, with their exit codes.
const PRINTERS: &[(&[&str], i32)] = &[
    (&["check", "s.csp"], 1),
    (&["check", "s.csp", "--format", "json"], 1),
    (&["check", "s.csp", "--format", "junit"], 1),
    (&["check", "s.csp", "--format", "sarif"], 1),
    (&["check", "s.csp", "--list"], 0),
    (&["check", "s.csp", "--explain"], 1),
    (&["check", "m.pml", "m.mcrl2"], 1),
    (&["refines", "s.csp"], 0),
    (&["refines", "--format", "json", "s.csp"], 0),
    (&["refines", "--format", "xml", "s.csp"], 0),
    (&["refines", "--help"], 0),
    (&["graph", "s.csp", "P"], 0),
    (&["graph", "s.csp", "P", "--format", "dot"], 0),
    (&["graph", "s.csp", "P", "--format", "json"], 0),
    (&["structure", "s.csp", "P"], 0),
    (&["structure", "m.pml", "--groups"], 0),
    (&["symmetry", "s.csp"], 0),
    (&["symmetry", "m.pml", "--format", "json"], 0),
    (&["trace", "s.csp", "P"], 0),
    (&["trace", "s.csp", "P", "--random", "3"], 0),
    (&["trace", "s.csp", "--assertion", "2", "--all"], 0),
    (&["automaton", "--ltl", "[] <> a"], 0),
    (&["automaton", "--ltl", "[] <> a", "--format", "svg"], 0),
    (&["lts", "info", "s.aut"], 0),
    (&["lts", "convert", "s.aut", "-", "--to", "aut"], 0),
    (&["lts", "convert", "s.aut", "-", "--to", "lts"], 0),
    (&["lts", "minimise", "s.aut", "-o", "-", "--to", "fsm"], 0),
    (&["lts", "compare", "s.aut", "s.aut"], 0),
    (&["lts", "refine", "s.aut", "s.aut"], 0),
    (&["lts", "draw", "s.aut"], 0),
    (&["lts", "compose", "s.aut", "s.aut"], 0),
    (&["lts", "generate", "m.mcrl2", "-o", "-", "--to", "aut"], 0),
    (&["lts", "random", "-", "--to", "aut"], 0),
    (&["game", "solve", "g.pg"], 0),
    (&["game", "solve", "g.pg", "-o", "-"], 0),
    (&["cspm", "print", "s.csp"], 0),
    (&["cspm", "typecheck", "s.csp"], 0),
    (&["cspm", "eval", "s.csp", "1 + 1"], 0),
    (&["cspm", "repl", "s.csp"], 0),
    (&["mcrl2", "print", "m.mcrl2"], 0),
    (&["mcrl2", "linear", "m.mcrl2"], 0),
    (&["mcrl2", "eval", "m.mcrl2", "1 + 1"], 0),
    (&["mcrl2", "decompose", "d.mcrl2", "--partition", "n / m"], 0),
    (&["group", "(1,2,3)"], 0),
    (&["matrix"], 0),
    (&["matrix", "--format", "json"], 0),
    (&["completions", "bash"], 0),
    (&["man"], 0),
    (&["--help"], 0),
    (&["check", "--help"], 0),
    (&["help"], 0),
    (&["help", "lts", "refine"], 0),
    (&["--version"], 0),
];

#[test]
fn output_onto_a_device_that_takes_nothing_is_one_error() {
    let folder = Folder::new();
    let mut wrong = Vec::new();
    for (arguments, code) in PRINTERS {
        let input = Some("1 + 1\n");
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let mut command = folder.command(None, arguments, input);
        let failed = command.stdout(full).output().expect("it runs");
        if failed.status.code() != Some(2) || said(&failed).matches("cannot write").count() != 1 {
            wrong.push(format!("{arguments:?} onto a full device: {:?}: {}", failed.status.code(), said(&failed)));
        }
        // A reader that went away is none.
        let (reader, pipe) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = folder.command(None, arguments, input);
        let closed = command.stdout(pipe).output().expect("it runs");
        let complains = said(&closed).contains("panicked") || said(&closed).contains("cannot write");
        if closed.status.code() != Some(*code) || complains {
            wrong.push(format!("{arguments:?} into a closed pipe: {:?}: {}", closed.status.code(), said(&closed)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Results that go to standard error, because standard output holds a system, and complaints.
#[test]
fn a_full_standard_error_is_an_error_that_only_the_exit_code_tells() {
    let folder = Folder::new();
    for arguments in [&["lts", "convert", "s.aut", "-", "--to", "aut"][..], &["check", "none.csp"], &["nonsense"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let failed = folder.command(None, arguments, None).stderr(full).output().expect("it runs");
        assert_eq!(failed.status.code(), Some(2), "{arguments:?}");
    }
}

/// A pipe without a reader once held up reports and charts without end, and pictures beyond `--timeout`.
#[test]
fn a_pipe_without_a_reader_is_left_after_the_time_and_one_with_a_reader_gets_all() {
    // Most of the time they wait.
    std::thread::scope(|scope| {
        for part in 0..8 {
            scope.spawn(move || WRITERS.iter().skip(part).step_by(8).for_each(write_into_pipes));
        }
    });
}

fn write_into_pipes(writer: &Writer) {
    let &Writer { file, arguments, input, code } = writer;
    if input.is_some() {
        return; // A prompt goes on after its time.
    }
    let folder = Folder::new();
    let pipe = folder.path("out").join(file);
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let limited: Vec<&str> = arguments.iter().copied().chain(["--timeout", "500ms"]).collect();
    let left = folder.run(None, &limited, None);
    let told = String::from_utf8_lossy(&left.stdout).into_owned() + &said(&left);
    let code_of_left = left.status.code();
    assert!(matches!(code_of_left, Some(2 | 3)) && told.contains("timeout of 0.5 s reached"), "{arguments:?}: {told}");
    let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().expect("cat runs");
    let written = folder.run(None, arguments, None);
    let taken = reader.wait_with_output().expect("it ends");
    assert_eq!(written.status.code(), Some(code), "{arguments:?}: {}", said(&written));
    assert!(!taken.stdout.is_empty(), "{arguments:?}");
    assert_eq!(folder.written(), [file], "{arguments:?}");
}

/// A link in a circle was once replaced by a file, and so was a file that its owner had made read-only.
#[cfg(unix)]
#[test]
fn what_may_not_be_written_stays() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new();
    for Writer { file, arguments, input, .. } in WRITERS {
        let target = folder.path("out").join(file);
        symlink("circle", &target).expect("a link");
        symlink(file, folder.path("out").join("circle")).expect("a link");
        let refused = folder.run(None, arguments, *input);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {}", said(&refused));
        assert_eq!(said(&refused).matches("cannot write").count(), 1, "{arguments:?}: {}", said(&refused));
        assert!(fs::symlink_metadata(&target).expect("a link").is_symlink(), "{arguments:?}");
        folder.clear();
        fs::write(&target, OLD).expect("a file");
        fs::set_permissions(&target, fs::Permissions::from_mode(0o444)).expect("it is ours");
        if fs::OpenOptions::new().write(true).open(&target).is_ok() {
            // The superuser may write everything.
            folder.clear();
            continue;
        }
        let refused = folder.run(None, arguments, *input);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {}", said(&refused));
        assert_eq!(fs::read_to_string(&target).expect("a file"), OLD, "{arguments:?}");
        folder.clear();
    }
}

#[test]
fn every_option_that_names_a_file_to_write_is_among_the_writers() {
    let folder = Folder::new();
    let manual = folder.run(None, &["man"], None);
    let manual = String::from_utf8_lossy(&manual.stdout).replace('\\', "");
    let mut missing = Vec::new();
    for option in ["--output", "--report", "--trail", "--chart", "--evidence", "--picture", "--write-parts"] {
        assert!(manual.contains(option), "{option} is gone");
        let short = if option == "--output" { "-o" } else { option };
        let known = WRITERS.iter().any(|writer| writer.arguments.contains(&short));
        missing.extend((!known && option != "--write-parts").then_some(option));
    }
    assert!(missing.is_empty(), "{missing:?}");
}
