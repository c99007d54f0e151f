//! Damaged files: valid ones with random changes, and noise. Every one is read or refused with a place; none panics.

use std::io::Write;
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::format::{CODES, Format, Input, ReadError, ReadOptions, read_lts, write_lts};
use trefoil_lts::random::{Random, RandomShape, random_lts};
use trefoil_source::{Place, Report, Sources, render};
use trefoil_system::Labels;

const CASES: u64 = 30_000;

/// Pieces that are likely to hurt.
const PIECES: &[&[u8]] = &[
    b"(",
    b")",
    b",",
    b"\"",
    b"\n",
    b"\r\n",
    b"\r",
    b" ",
    b"des",
    b"des (0,1,2)",
    b"0",
    b"1",
    b"4294967295",
    b"18446744073709551616",
    b"1000000000000",
    b"-1",
    b"1/2",
    b"tau",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b"\\u12",
    b"\\ud83d",
    b"\\",
    b"null",
    b"1e5",
    b"\xff",
    b"\xc3",
    b"\xef\xbb\xbf",
    b"\0",
    b"\x1f\x8b",
    b"\x00\x8b\xaf",
    b"\"labels\":[",
    b"\"transitions\":[[0,0,0]",
    b"(0,\"a\",0)\n",
    b"\n---\n",
    b"1 2 \"a\"\n",
    b"x(2) Nat \"0\" \"1\"\n",
    b"\x04",
];

fn seed_file(random: &mut Random) -> Vec<u8> {
    let shape = RandomShape {
        states: 1 + random.below(6) as u32,
        transitions: random.below(10),
        labels: 1 + random.below(4),
        tau_percent: 20,
    };
    let lts = random_lts(&Arc::new(Labels::new()), shape, random);
    let format = [Format::Aut, Format::Aut, Format::Fsm, Format::Json][random.below(4)];
    let mut content = Vec::new();
    write_lts(&lts, format, &mut content, &Control::unlimited()).expect("a vector takes everything");
    if random.chance(30) {
        content.retain(|&byte| byte != b'"' || random.chance(50));
    }
    content
}

fn damage(content: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(content.len() + 1);
    let until = (at + random.below(8)).min(content.len());
    match random.below(8) {
        0 => content.truncate(at),
        1 => drop(content.drain(at..until)),
        2 if at < content.len() => content[at] ^= 1 << random.below(8),
        3 => content.insert(at, random.bits() as u8),
        4 => {
            let copy = content[at..until].to_vec();
            content.splice(at..at, copy);
        }
        5 if at < content.len() => content[at] = b'0' + random.below(10) as u8,
        6 => {
            let other = random.below(content.len() + 1);
            let tail = content[other..].to_vec();
            content.truncate(at);
            content.extend(tail);
        }
        _ => {
            let piece = PIECES[random.below(PIECES.len())];
            content.splice(at..at, piece.iter().copied());
        }
    }
}

#[test]
fn damaged_files_are_read_or_refused_with_a_place() {
    let labels = Arc::new(Labels::new());
    let (mut read, mut refused) = (0, vec![0; CODES.len()]);
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let mut content = seed_file(&mut random);
        let packed = random.chance(5);
        if packed {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(&content).expect("a vector takes everything");
            content = encoder.finish().expect("a vector takes everything");
        }
        for _ in 0..random.below(4) {
            damage(&mut content, &mut random);
        }
        let format = [None, Some(Format::Aut), Some(Format::Json), Some(Format::Fsm)][random.below(4)];
        let options = ReadOptions { tau_names: vec!["a0".into()], format };
        let shown = String::from_utf8_lossy(&content).into_owned();
        let result = std::panic::catch_unwind(|| {
            read_lts(Input::text("fuzz", content), &options, &labels, &Control::unlimited())
        });
        let result = result.unwrap_or_else(|_| panic!("seed {seed} panics: {shown:?}"));
        match result {
            Ok(lts) => {
                read += 1;
                // What is accepted can be written and means the same again.
                let mut again = Vec::new();
                write_lts(&lts, Format::Json, &mut again, &Control::unlimited()).expect("JSON holds every label");
                let second =
                    read_lts(Input::text("again", again), &ReadOptions::default(), &labels, &Control::unlimited());
                assert_eq!(
                    second.map(|second| format!("{second:?}")),
                    Ok(format!("{lts:?}")),
                    "seed {seed}: {shown:?}"
                );
            }
            Err(ReadError::Stopped(stopped)) => panic!("seed {seed}: {stopped}"),
            Err(ReadError::Diagnostic(diagnostic)) => {
                let row = CODES.iter().position(|row| row.code == diagnostic.code);
                refused[row.unwrap_or_else(|| panic!("seed {seed}: {} is not in the table", diagnostic.code))] += 1;
                let place = &diagnostic.labels[0].place;
                let named = match place {
                    Place::File(name) => name == "fuzz",
                    Place::Line(line) => line.file == "fuzz" && line.number >= 1 && line.column >= 1,
                    Place::Span(_) => false,
                };
                assert!(named, "seed {seed}: {diagnostic:?}");
                assert!(!render(&diagnostic, &Sources::default(), false).is_empty());
                assert_eq!(Report::new(&diagnostic, &Sources::default()).code, diagnostic.code);
            }
        }
    }
    let codes_met = refused.iter().filter(|&&count| count > 0).count();
    assert!(read > CASES as usize / 20 && codes_met > 18, "{read} read, refused {refused:?}");
}
