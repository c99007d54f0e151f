//! Reading and writing systems: what comes back, and what is said about mistakes.

use std::io::Write;
use std::sync::Arc;

use trefoil_control::{Control, Limits, Stopped};
use trefoil_lts::format::{
    CODES, Format, Input, Output, ReadError, ReadOptions, WriteError, read_lts, save_lts, write_lts,
};
use trefoil_lts::random::Random;
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_source::{Diagnostic, Place, Report, Sources};
use trefoil_system::{Label, LabelId, Labels, StateId};

fn read_with(content: impl Into<Vec<u8>>, options: &ReadOptions) -> Result<Lts, ReadError> {
    read_lts(Input::text("x.aut", content), options, &Arc::new(Labels::new()), &Control::unlimited())
}

fn read(content: impl Into<Vec<u8>>) -> Lts {
    read_with(content, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error:?}"))
}

/// The diagnostic with which a content is refused.
fn refused(content: impl Into<Vec<u8>>) -> Diagnostic {
    refused_as(content, None)
}

fn refused_as(content: impl Into<Vec<u8>>, format: Option<Format>) -> Diagnostic {
    match read_with(content, &ReadOptions { format, ..ReadOptions::default() }) {
        Err(ReadError::Diagnostic(diagnostic)) => *diagnostic,
        other => panic!("a diagnostic was expected, not {other:?}"),
    }
}

/// Code, line and column with which a content is refused.
fn place_of(content: impl Into<Vec<u8>>) -> (&'static str, Option<usize>, Option<usize>) {
    place_in(refused(content))
}

fn place_in(diagnostic: Diagnostic) -> (&'static str, Option<usize>, Option<usize>) {
    let report = Report::new(&diagnostic, &Sources::default());
    (diagnostic.code, report.places[0].line, report.places[0].column)
}

fn at(code: &'static str, line: usize, column: usize) -> (&'static str, Option<usize>, Option<usize>) {
    (code, Some(line), Some(column))
}

/// Everything about a system, with label texts instead of numbers.
fn picture(lts: &Lts) -> String {
    let edge = |(source, t): (StateId, trefoil_lts::Transition)| {
        format!("{} {:?} {}", source.0, lts.labels().get(t.label), t.target.0)
    };
    let edges: Vec<String> = lts.all_transitions().map(edge).collect();
    format!("{} of {}: {}", lts.initial().0, lts.state_count(), edges.join("; "))
}

fn label_texts(lts: &Lts) -> Vec<String> {
    lts.all_transitions().map(|(_, transition)| lts.labels().get(transition.label).to_string()).collect()
}

#[test]
fn both_ways_of_quoting_name_the_same_label() {
    let lts = read("des (0,4,2)\n(0,a,1)\n(0,\"a\",1)\r\n  ( 1 , \"a b\", 0 )\n\n(1,c(1,2),0)");
    assert_eq!(label_texts(&lts), ["a", "a", "a b", "c(1,2)"]);
    let (first, second) = (lts.outgoing(StateId(0))[0], lts.outgoing(StateId(0))[1]);
    assert_eq!(first, second);
}

#[test]
fn tau_is_tau_and_other_names_only_when_listed() {
    let text = "des (0,4,1)\n(0,tau,0)\n(0,\"tau\",0)\n(0,i,0)\n(0,\"i\",0)\n";
    let hidden = |lts: &Lts| lts.transitions().iter().filter(|t| t.label == LabelId::TAU).count();
    assert_eq!(hidden(&read(text)), 2);
    let options = ReadOptions { tau_names: vec!["i".into()], ..ReadOptions::default() };
    assert_eq!(read_with(text, &options).map(|lts| hidden(&lts)), Ok(4));
}

#[test]
fn states_without_transitions_count() {
    let lts = read("des (2,1,5)\n(3,\"a\",0)");
    assert_eq!((lts.state_count(), lts.initial(), lts.transition_count()), (5, StateId(2), 1));
    assert_eq!(read("des (0,0,1)").state_count(), 1);
}

#[test]
fn blank_lines_broken_lines_and_a_byte_order_mark_do_no_harm() {
    let lts = read("\u{feff}\n\ndes\n(0,\n2,2)\n(0,\n\n\"a\",1\n)\n\n(1,b,0)\n\n\n");
    assert_eq!(picture(&lts), picture(&read("des (0,2,2)\n(0,a,1)\n(1,b,0)\n")));
}

#[test]
fn headers_that_promise_too_much_allocate_nothing() {
    let error = refused("des (0,1,1000000000000)\n(0,a,0)\n");
    assert_eq!((error.code, error.message.split(' ').next().unwrap_or("")), ("A011", "1000000000000"));
    assert_eq!(place_of("des (0,1,4294967295)\n(0,a,0)\n"), at("A011", 1, 10));
    assert_eq!(place_of("des (0,99999999999999999999999999,3)\n(0,a,0)\n"), at("A012", 1, 8));
    // Numbers that 64 bits do not hold are shown as they are written, or as what is known of them.
    let long = "99999999999999999999999999";
    assert_eq!(
        refused(format!("des (0,{long},2)\n(0,a,0)\n")).message,
        format!("the header promises {long} transitions, but there are 1")
    );
    let endless = "9".repeat(1000);
    let json = format!("{{\"format\":\"trefoil-lts\",\"version\":1,\"initial\":0,\"states\":{long}}}");
    for message in [
        refused(format!("des (0,1,{long})\n")).message,
        refused(format!("des ({long},1,2)\n")).message,
        refused(format!("des (0,1,2)\n(0,a,{long})\n")).message,
        refused(format!("des (0,1,{endless})\n")).message,
        refused(json).message,
    ] {
        assert!(message.contains(long) || message.contains("more than 18446744073709551614"), "{message}");
        assert!(message.len() < 120 && !message.contains("18446744073709551615"), "{message}");
    }
    let control = Control::new(Limits { memory: Some(1 << 30), time: None });
    let input = Input::text("x.aut", "des (0,1,1000000000)\n(0,a,0)\n");
    let result = read_lts(input, &ReadOptions::default(), &Arc::new(Labels::new()), &control);
    assert_eq!(result.err(), Some(ReadError::Stopped(Stopped::Memory { limit: 1 << 30 })));
}

#[test]
fn mistakes_in_aut_files_have_a_code_and_a_place() {
    let cases: &[(&str, &str, usize, usize)] = &[
        ("(0,\"a\",1)", "A008", 1, 1),
        ("\n  dse (0,1,2)", "A008", 2, 3),
        ("des (0,1)", "A009", 1, 9),
        ("des (0;1,2)", "A009", 1, 7),
        ("des (-1,1,2)", "A009", 1, 6),
        ("des (0,1,2) 3", "A009", 1, 13),
        ("des (0,1", "A009", 1, 9),
        ("des (0,1,2\n(0,a,1)", "A009", 1, 11),
        ("des (2,0,2)", "A010", 1, 6),
        ("des (0,0,0)", "A010", 1, 10),
        ("des (0,2,2)\n(0,\"a\",1)\n", "A012", 1, 8),
        ("des (0,0,2)\n(0,\"a\",1)\n", "A012", 1, 8),
        ("des (0,1,2)\n(0,\"a\",2)\n", "A013", 2, 8),
        ("des (0,1,2)\n(7,\"a\",1)\n", "A013", 2, 2),
        ("des (0,1,2)\n(99999999999999999999999,\"a\",1)\n", "A013", 2, 2),
        ("des (0,1,2)\n\n(0,\"a\" 1)\n", "A014", 3, 8),
        ("des (0,1,2)\n(0 \"a\",1)\n", "A014", 2, 4),
        ("des (0,1,2)\n0,\"a\",1)\n", "A014", 2, 1),
        ("des (0,1,2)\n(0,\"é\",x)\n", "A014", 2, 8),
        ("des (0,1,2)\n(0,\"a\",1\n(1,\"a\",0)", "A014", 2, 9),
        ("des (0,1,2)\n(0,\"a\",1) (1,\"a\",0)", "A014", 2, 5),
        ("des (0,1,2)\n(0,a,1)(1,b,0)", "A014", 2, 4),
        ("des (0,1,2)\n(0,\"a\",1) x", "A014", 2, 11),
        ("des (0,1,2)\n(0,\"a\",1)\n(1,", "A014", 3, 4),
        ("des (0,1,2)\n(0,a 1)", "A014", 2, 8),
        ("des (0,1,2)\n(0,\"a,1)", "A015", 2, 4),
        ("des (0,1,2)\n(0,,1)", "A016", 2, 4),
        ("des (0,1,3)\n(0,\"a\",1 1/2 2)", "A019", 2, 8),
        ("des (0 1/2 1,0,3)\n", "A019", 1, 6),
    ];
    for &(text, code, line, column) in cases {
        let diagnostic = refused_as(text, Some(Format::Aut));
        assert_eq!(place_in(diagnostic), at(code, line, column), "{text:?}");
    }
    let latin: &[u8] = b"des (0,1,2)\n(0,\"caf\xe9\",1)\n";
    assert_eq!(place_of(latin), at("A017", 2, 5));
}

#[test]
fn what_a_diagnostic_looks_like() {
    let diagnostic = refused("des (0,1,2)\n(0,\"a\",2)\n");
    let text = trefoil_source::render(&diagnostic, &Sources::default(), false);
    for part in ["error[A013]", "x.aut:2:8", "(0,\"a\",2)", "promises 2 states"] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn a_line_without_end_is_refused_in_bounded_memory() {
    struct Endless;
    impl std::io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            buffer.fill(b'x');
            Ok(buffer.len())
        }
    }
    let start: &[u8] = b"des (0,1,2)\n(0,\"";
    let reader = Box::new(std::io::Read::chain(start, Endless));
    let input = Input::Reader { name: "endless".into(), reader };
    match read_lts(input, &ReadOptions::default(), &Arc::new(Labels::new()), &Control::unlimited()) {
        Err(ReadError::Diagnostic(diagnostic)) => {
            assert_eq!((diagnostic.code, diagnostic.message.as_str()), ("A018", "this line is longer than 64.0 MB"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn long_labels_are_kept() {
    let label = "ab, ".repeat(400_000);
    let lts = read(format!("des (0,2,2)\n(0,\"{label}\",1)\n(1,\"b\",1)\n"));
    assert_eq!(label_texts(&lts), [label.as_str(), "b"]);
}

#[test]
fn a_cancelled_job_stops_reading() {
    let control = Control::unlimited();
    control.cancel();
    let result = read_lts(Input::text("x", "des (0,0,1)"), &ReadOptions::default(), &Arc::new(Labels::new()), &control);
    assert_eq!(result.err(), Some(ReadError::Stopped(Stopped::Interrupted)));
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content).expect("a vector takes everything");
    encoder.finish().expect("a vector takes everything")
}

#[test]
fn gzip_is_taken_off_and_damage_is_noticed() {
    let text = "des (0,2,2)\n(0,a,1)\n(1,b,0)\n";
    let packed = gzip(text.as_bytes());
    assert_eq!(picture(&read(packed.clone())), picture(&read(text)));
    let in_two_parts = [gzip(&text.as_bytes()[..15]), gzip(&text.as_bytes()[15..])].concat();
    assert_eq!(picture(&read(in_two_parts)), picture(&read(text)));
    for length in 2..packed.len() {
        assert_eq!(refused(&packed[..length]).code, "A007", "cut off after {length} bytes");
    }
    let mut damaged = packed;
    let checksum = damaged.len() - 6;
    damaged[checksum] ^= 1;
    assert_eq!(refused(damaged).code, "A007");
    assert_eq!(refused(gzip(b"")).code, "A003");
    assert_eq!(refused(gzip(b"\x00\x8b\xaf\x83\x08")).code, "A032");
}

#[test]
fn content_that_is_no_system_is_named() {
    assert_eq!(refused("").code, "A003");
    assert_eq!(refused("\n \n").code, "A005");
    assert_eq!(refused("\x7fELF\0\0\0").code, "A005");
    assert_eq!(refused("hello").code, "A005");
    let mcrl2: &[u8] = b"\x00\x8b\xaf\x83\x08\x0c";
    let diagnostic = refused(mcrl2);
    assert_eq!(diagnostic.code, "A032");
    assert!(diagnostic.message.contains("cut off"));
    let old: &[u8] = b"\x00\x8b\xaf\x83\x05\x0c";
    let diagnostic = refused(old);
    assert_eq!(diagnostic.code, "A004");
    assert!(diagnostic.help.is_some_and(|help| help.contains("mCRL2 tools")));
    let force = |format| ReadOptions { format: Some(format), ..ReadOptions::default() };
    let code = |content: &str, format| match read_with(content, &force(format)) {
        Err(ReadError::Diagnostic(diagnostic)) => diagnostic.code,
        other => panic!("{other:?}"),
    };
    assert_eq!(code("\n\n", Format::Aut), "A003");
    assert_eq!(code("hello", Format::Aut), "A008");
    assert_eq!(code("hello", Format::Json), "A020");
    assert_eq!(code("digraph {}", Format::Dot), "A006");
}

/// A folder of its own for a test, removed in the end.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("trefoil-formats-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn foreign_systems_come_with_the_command_that_converts_them() {
    let folder = Folder::new("foreign");
    let path = folder.0.join("a.bcg");
    std::fs::write(&path, "nothing known").expect("a temporary file");
    let result = read_lts(Input::Path(path), &ReadOptions::default(), &Arc::new(Labels::new()), &Control::unlimited());
    let Err(ReadError::Diagnostic(diagnostic)) = result else { panic!("a.bcg is read") };
    assert_eq!(diagnostic.code, "A006");
    assert!(diagnostic.help.is_some_and(|help| help.contains("bcg_io") && help.ends_with("a.aut")));
}

#[cfg(unix)]
#[test]
fn endings_are_known_whatever_bytes_come_before_them() {
    use std::os::unix::ffi::OsStrExt;
    let format = |name: &[u8]| Format::of_path(std::path::Path::new(std::ffi::OsStr::from_bytes(name)));
    assert_eq!(format(b"dir.json/\xff\xfe.aut"), Some(Format::Aut));
    assert_eq!(format(b"\xff.JSON.Gz"), Some(Format::Json));
    assert_eq!(format(b"a.\xff"), None);
    assert_eq!(format(b"a.gz"), None);
    assert_eq!(format(b"dir.aut/a"), None);
}

#[test]
fn files_are_told_apart_by_name_and_content() {
    let folder = Folder::new("names");
    let code = |name: &str, content: &[u8]| {
        let path = folder.0.join(name);
        std::fs::write(&path, content).expect("a temporary file");
        let labels = Arc::new(Labels::new());
        match read_lts(Input::Path(path), &ReadOptions::default(), &labels, &Control::unlimited()) {
            Err(ReadError::Diagnostic(diagnostic)) => diagnostic.code,
            Err(stopped) => panic!("{stopped:?}"),
            Ok(_) => "read",
        }
    };
    let aut = b"des (0,0,1)\n";
    let json =
        b"{\"format\":\"trefoil-lts\",\"version\":1,\"initial\":0,\"states\":1,\"labels\":[],\"transitions\":[]}";
    assert_eq!(code("a.aut", aut), "read");
    assert_eq!(code("a.AUT", aut), "read");
    assert_eq!(code("a.aut.gz", &gzip(aut)), "read");
    assert_eq!(code("packed.aut", &gzip(aut)), "read");
    assert_eq!(code("not-packed.aut.gz", aut), "read");
    assert_eq!(code("a", aut), "read");
    assert_eq!(code("a.json", json), "read");
    assert_eq!(code("b", json), "read");
    assert_eq!(code("b.aut", json), "A008");
    assert_eq!(code("b.json", aut), "A020");
    assert_eq!(code("a.dot", b"digraph {}"), "A006");
    assert_eq!(code("a.bcg", b"\x01\x02\0"), "A006");
    assert_eq!(code("a.lts", b"\x00\x8b\xaf\x83\x08"), "A032");
    assert_eq!(code("a.lps", b"\x00\x8b\xaf\x83\x08"), "A032");
    assert_eq!(code("b.lts", b"\x01\x02\0"), "A032");
    assert_eq!(code("b.LTS", b"something else"), "A032");
    assert_eq!(code("c.lts", aut), "read");
    assert_eq!(code("empty.aut", b""), "A003");
    assert_eq!(code("binary.aut", b"\x01\x02\0"), "A005");

    let opened = |path: &std::path::Path| {
        let result = read_lts(
            Input::from_argument(path),
            &ReadOptions::default(),
            &Arc::new(Labels::new()),
            &Control::unlimited(),
        );
        match result {
            Err(ReadError::Diagnostic(diagnostic)) => diagnostic.code,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(opened(&folder.0), "A002");
    assert_eq!(opened(&folder.0.join("missing.aut")), "A001");
    assert!(matches!(Input::from_argument("-"), Input::Stdin));
}

#[test]
fn mistakes_in_json_have_a_code_and_a_place() {
    let head = "{\"format\":\"trefoil-lts\",\"version\":1,\"initial\":0,\"states\":2,\n";
    let cases: &[(&str, &str, usize, usize)] = &[
        ("{\"labels\":[],,}", "A020", 1, 14),
        ("{\"labels\":[\"a\" \"b\"]}", "A020", 1, 16),
        ("{\"labels\":[\"a\\q\"]}", "A020", 1, 15),
        ("{\"labels\":[\"a\\ud800\"]}", "A020", 1, 20),
        ("{\"labels\":[\"a", "A020", 1, 14),
        ("{\"labels\":[\"a\nb\"]}", "A020", 1, 14),
        ("{\"other\":[1,{\"x\":tru}]}", "A020", 1, 18),
        ("{\"labels\":[5]}", "A021", 1, 12),
        ("{\"states\":\"many\"}", "A021", 1, 11),
        ("{\"states\":2.5}", "A021", 1, 11),
        ("{\"states\":-2}", "A021", 1, 11),
        ("{\"initial\":0,\n \"initial\":0}", "A021", 2, 2),
        ("{\"transitions\":[]}", "A021", 1, 2),
        ("{\"format\":\"x\"}", "A022", 1, 11),
        ("{\"format\":\"trefoil-lts\",\"version\":2}", "A022", 1, 35),
        ("{\"states\":1000000000000}", "A011", 1, 11),
    ];
    for &(text, code, line, column) in cases {
        assert_eq!(place_of(text), at(code, line, column), "{text:?}");
    }
    let bodies: &[(&str, &str, usize, usize)] = &[
        ("\"labels\":[\"a\"],\"transitions\":[[0,1,0]]}", "A023", 2, 34),
        ("\"labels\":[\"a\"],\"transitions\":[[0,0,2]]}", "A013", 2, 36),
        ("\"labels\":[\"a\"],\"transitions\":[[0,0]]}", "A020", 2, 35),
        ("\"labels\":[\"a\"],\"transitions\":[]} x", "A020", 2, 34),
        ("\"labels\":[\"a\"]}", "A021", 2, 16),
    ];
    for &(body, code, line, column) in bodies {
        assert_eq!(place_of(format!("{head}{body}")), at(code, line, column), "{body:?}");
    }
    assert_eq!(
        refused(
            "{\"initial\":2,\"states\":2,\"format\":\"trefoil-lts\",\"version\":1,\"labels\":[],\"transitions\":[]}"
        )
        .code,
        "A010"
    );
    let deep = format!("{{\"other\":{}", "[".repeat(1_000_000));
    assert_eq!(refused(deep).code, "A021");
    // A document on one long line: the place is right although the line was never whole in memory.
    let long = format!(
        "{head}\"other\":\"{}\",\"labels\":[\"a\"],\"transitions\":[{}[0,0,5]]}}",
        "é".repeat(700_000),
        "[0,0,1], ".repeat(100_000)
    );
    assert_eq!(place_of(long), at("A013", 2, 9 + 700_000 + 32 + 900_000 + 6));
}

#[test]
fn json_by_other_hands_is_read() {
    let text = " {\n\t\"tool\" : {\"name\": \"x\", \"args\": [1, -2.5e3, null, true, [], {}]},\r\n \"labels\" : [ \"tau\" , \"\\u00e9\\ud83d\\ude00\\n\" , [\"c\",\"1\"] ],\n\
        \"states\":2,\"transitions\" : [ [ 0 , 2 , 1 ] , [1,1,0] ] , \"initial\":1, \"version\":1, \"format\":\"trefoil-lts\"} \n";
    let lts = read(text);
    assert_eq!(label_texts(&lts), ["c.1", "é😀\n"]);
    assert_eq!(lts.initial(), StateId(1));
}

/// Small systems with all kinds of odd labels.
fn odd_lts(random: &mut Random, characters: &[&str]) -> Lts {
    let labels = Arc::new(Labels::new());
    let states = 1 + random.below(12) as u32;
    let mut builder = LtsBuilder::new(labels.clone());
    builder.at_least(states);
    for _ in 0..random.below(30) {
        let label = if random.chance(20) {
            LabelId::TAU
        } else {
            let text: String = (0..random.below(5)).map(|_| characters[random.below(characters.len())]).collect();
            labels.name(&text)
        };
        let mut state = || StateId(random.below(states as usize) as u32);
        let (source, target) = (state(), state());
        builder.add(source, label, target);
    }
    builder.build(StateId(random.below(states as usize) as u32))
}

fn written(lts: &Lts, format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    write_lts(lts, format, &mut out, &Control::unlimited()).unwrap_or_else(|error| panic!("{error:?}"));
    out
}

#[test]
fn what_is_written_is_read_back() {
    let characters =
        ["a", "b", " ", ",", "(", ")", "\"", "\\", "1", "é", "tau", "\t", "\r", "{", "\u{1f600}", "\0", "/"];
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let lts = odd_lts(&mut random, &characters);
        for format in [Format::Aut, Format::Json] {
            let content = written(&lts, format);
            assert_eq!(picture(&read(content.clone())), picture(&lts), "seed {seed}, {format}");
            assert_eq!(picture(&read(gzip(&content))), picture(&lts), "seed {seed}, {format}, compressed");
        }
    }
}

#[test]
fn json_keeps_line_breaks_and_arguments_and_aut_refuses_what_it_cannot_keep() {
    let labels = Arc::new(Labels::new());
    let broken = labels.name("a\nb");
    let event = labels.intern(Label::of("c", ["1".into(), "x\"".into()]));
    let mut builder = LtsBuilder::new(labels.clone());
    builder.add(StateId(0), broken, StateId(0)).add(StateId(0), event, StateId(0));
    let lts = builder.build(StateId(0));
    assert_eq!(picture(&read(written(&lts, Format::Json))), picture(&lts));
    let refusal = |lts: &Lts| {
        let mut out = Vec::new();
        match write_lts(lts, Format::Aut, &mut out, &Control::unlimited()) {
            Err(WriteError::Diagnostic(diagnostic)) if out.is_empty() => diagnostic.code,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refusal(&lts), "A024");
    let mut builder = LtsBuilder::new(labels.clone());
    builder.add(StateId(0), event, StateId(0)).add(StateId(0), labels.name("c.1.x\""), StateId(0));
    assert_eq!(refusal(&builder.build(StateId(0))), "A025");
    let mut builder = LtsBuilder::new(labels.clone());
    builder.add(StateId(0), labels.name("a\",1)\t( 1 ,\"b"), StateId(0));
    assert_eq!(refusal(&builder.build(StateId(0))), "A024");
}

#[test]
fn aut_is_written_as_others_write_it() {
    let lts = read("des (1, 3, 2)\n(1,a,0)\n(0,tau,1)\n(1,\"b c\",1)");
    let text = String::from_utf8(written(&lts, Format::Aut)).expect("text");
    assert_eq!(text, "des (1,3,2)\n(0,\"tau\",1)\n(1,\"a\",0)\n(1,\"b c\",1)\n");
}

#[test]
fn saving_goes_by_the_name() {
    let folder = Folder::new("save");
    let lts = read("des (0,1,2)\n(0,a,1)\n");
    let control = Control::unlimited();
    for name in ["a.aut", "a.json", "a.aut.gz", "a.json.gz"] {
        let path = folder.0.join(name);
        save_lts(&lts, &Output::Path(path.clone()), None, &control).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let packed = std::fs::read(&path).expect("the file").starts_with(&[0x1f, 0x8b]);
        assert_eq!(packed, name.ends_with(".gz"));
        let again = read_lts(Input::Path(path), &ReadOptions::default(), &Arc::new(Labels::new()), &control);
        assert_eq!(again.map(|again| picture(&again)), Ok(picture(&lts)), "{name}");
    }
    let code = |name: &str, format| match save_lts(&lts, &Output::Path(folder.0.join(name)), format, &control) {
        Err(WriteError::Diagnostic(diagnostic)) => diagnostic.code,
        Err(error) => panic!("{error:?}"),
        Ok(()) => "written",
    };
    assert_eq!(code("a.xyz", None), "A026");
    assert_eq!(code("a.xyz", Some(Format::Dot)), "written");
    assert_eq!(code("no/such/folder.aut", None), "A027");
    assert_eq!(Output::from_argument("-").format(), Ok(Format::Aut));
}

#[test]
fn examples_in_the_table_of_codes_show_their_codes() {
    for entry in CODES.iter().filter(|entry| entry.example.starts_with("des") || entry.example.starts_with('{')) {
        assert_eq!(refused(entry.example).code, entry.code, "{}", entry.example);
    }
    let places_are_given =
        refused("hello").labels.iter().any(|label| matches!(&label.place, Place::File(name) if name == "x.aut"));
    assert!(places_are_given);
}

fn read_fsm(content: &str) -> Lts {
    let options = ReadOptions { format: Some(Format::Fsm), ..ReadOptions::default() };
    read_with(content, &options).unwrap_or_else(|error| panic!("{error:?}"))
}

#[test]
fn fsm_files_have_parameters_states_and_transitions() {
    let text = "busy(2) Bool \"F\" \"T\"\nqueue(3) List(Nat # Bool) \"[]\" \"[1, 2]\" \"[ (3) ]\"\nunused(0)  Pos\n---\n\
        0 0 7\n1 2 0\n0 1 0\n---\n1 2 \"send(1, 2)\"\n2 1 \"tau\"\n\n2 2 \"\"\r\n";
    let expected = "des (0,3,3)\n(0,\"send(1, 2)\",1)\n(1,tau,0)\n(1,\"\",1)\n";
    assert_eq!(picture(&read_fsm(text)), picture(&read(expected)));
    // The lines of dashes identify the format.
    assert_eq!(picture(&read(text)), picture(&read(expected)));
    assert_eq!(picture(&read(gzip(text.as_bytes()))), picture(&read(expected)));
    let elsewhere = format!("{text}---\n3\n");
    assert_eq!(read_fsm(&elsewhere).initial(), StateId(2));
}

#[test]
fn fsm_files_without_parameters_have_the_states_that_transitions_name() {
    assert_eq!(picture(&read_fsm("---\n\n\n---\n1 3 \"a\"\n")), picture(&read("des (0,1,3)\n(0,a,2)")));
    assert_eq!(read_fsm("---\n---\n").state_count(), 1);
}

#[test]
fn mistakes_in_fsm_files_have_a_code_and_a_place() {
    let cases: &[(&str, &str, usize, usize)] = &[
        ("b(2) Bool \"F\"\n---\n---\n", "A029", 1, 3),
        ("b 2 Bool\n---\n", "A029", 1, 1),
        ("b(x) Bool\n---\n", "A029", 1, 3),
        ("b(2 Bool\n---\n", "A029", 1, 5),
        ("b(1) Bool \"F\n---\n", "A029", 1, 11),
        ("b(1) Bool \"F\" x\n---\n", "A029", 1, 15),
        ("b(2) Bool \"F\" \"T\"\n---\n0\n2\n---\n", "A030", 4, 1),
        ("b(2) Bool \"F\" \"T\"\n---\n0 0\n---\n", "A030", 3, 3),
        ("b(2) Bool \"F\" \"T\"\nc(0) Bool\n---\n0\n---\n", "A030", 4, 2),
        ("b(0) Bool\n---\n0 x\n---\n", "A030", 3, 3),
        ("---\n---\n1 2\n", "A031", 3, 4),
        ("---\n---\n1 a 2\n", "A031", 3, 3),
        ("---\n---\n(1,\"a\",2)\n", "A031", 3, 1),
        ("---\n---\n1 2 \"a\n", "A015", 3, 5),
        ("---\n---\n0 2 \"a\"\n", "A013", 3, 1),
        ("---\n---\n1 400000000 \"a\"\n", "A013", 3, 3),
        ("b(0)\n---\n0\n---\n1 2 \"a\"\n", "A013", 5, 3),
        ("---\n---\n1 99999999999999999999999 \"a\"\n", "A011", 3, 3),
        ("---\n---\n1 [1 1/2 2 1/2] \"a\"\n", "A019", 3, 3),
        ("---\n---\n1 1 \"a\"\n---\n[1 1/2 2 1/2]\n", "A019", 5, 1),
        ("---\n---\n1 1 \"a\"\n---\n2\n", "A010", 5, 1),
        ("---\n---\n---\n1\n---\n", "A028", 5, 1),
    ];
    for &(text, code, line, column) in cases {
        let diagnostic = refused_as(text, Some(Format::Fsm));
        assert_eq!(place_in(diagnostic), at(code, line, column), "{text:?}");
    }
    assert_eq!(refused_as("b(0)\n---\n0\n", Some(Format::Fsm)).code, "A028");
}

#[test]
fn fsm_files_come_back_and_the_initial_state_is_first() {
    let lts = read("des (2,4,4)\n(2,a,0)\n(0,tau,2)\n(0,\"b c\",1)\n(2,\"\",2)\n");
    let mut written = Vec::new();
    write_lts(&lts, Format::Fsm, &mut written, &Control::unlimited()).expect("a vector takes everything");
    let text = String::from_utf8(written).expect("text");
    let expected =
        "deadlock(2) Bool \"false\" \"true\"\n---\n0\n1\n0\n1\n---\n1 3 \"a\"\n1 1 \"\"\n3 1 \"tau\"\n3 2 \"b c\"\n";
    assert_eq!(text, expected);
    let swapped = read("des (0,4,4)\n(0,a,2)\n(0,\"\",0)\n(2,tau,0)\n(2,\"b c\",1)\n");
    assert_eq!(picture(&read_fsm(&text)), picture(&swapped));
    for label in ["say \"a\"", "two\nlines"] {
        let labels = Arc::new(Labels::new());
        let odd = labels.name(label);
        let mut builder = LtsBuilder::new(labels);
        builder.add(StateId(0), odd, StateId(0));
        let result = write_lts(&builder.build(StateId(0)), Format::Fsm, &mut Vec::new(), &Control::unlimited());
        assert!(matches!(result, Err(WriteError::Diagnostic(diagnostic)) if diagnostic.code == "A024"));
    }
}

/// A disk that is full after this many bytes.
struct Full {
    left: usize,
}

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.left == 0 && !bytes.is_empty() {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        let taken = bytes.len().min(self.left);
        self.left -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_disk_that_is_full_after_any_number_of_bytes_is_an_error() {
    let lts = read("des (0,3,2)\n(0,\"a\",1)\n(1,\"b(true)\",0)\n(1,\"tau\",1)\n");
    let control = Control::unlimited();
    for format in [Format::Aut, Format::Fsm, Format::Json, Format::Lts, Format::Dot] {
        let mut whole = Vec::new();
        write_lts(&lts, format, &mut whole, &control).expect("it is written");
        for left in 0..whole.len() {
            let failed = write_lts(&lts, format, &mut Full { left }, &control);
            let is_full =
                matches!(&failed, Err(WriteError::Io(error)) if error.kind() == std::io::ErrorKind::StorageFull);
            let is_told = matches!(&failed, Err(WriteError::Diagnostic(_)));
            assert!(is_full || is_told, "{format:?} with {left} of {} bytes: {failed:?}", whole.len());
        }
        write_lts(&lts, format, &mut Full { left: whole.len() }, &control).expect("it fits");
    }
}
