//! Deep, long and broken input: an answer always, and soon.

mod support;

use support::{TestLoader, parse_text, scripts_of};
use trefoil_cspm::syntax::*;
use trefoil_source::Sources;

/// A hundred thousand of everything that nests or goes on.
#[test]
fn depth_and_length_cost_no_stack() {
    const N: usize = 100_000;
    let nested = |open: &str, middle: &str, close: &str| format!("x = {}{middle}{}\n", open.repeat(N), close.repeat(N));
    let texts = [
        nested("(", "1", ")"),
        nested("{", "1", "}"),
        nested("<", "1", ">"),
        nested("f(", "1", ")"),
        nested("(| 1 => ", "2", " |)"),
        nested("P [|", "A", "|] Q"),
        nested("not ", "a", ""),
        nested("a -> ", "STOP", ""),
        nested("a & ", "STOP", ""),
        nested("a.", "b", ""),
        nested("a + ", "b", ""),
        nested("a ^ ", "b", ""),
        nested("P [] ", "Q", ""),
        nested("P \\ ", "A", ""),
        nested("\\ x @ ", "x", ""),
        nested("if a then b else ", "c", ""),
        nested("if ", "a", " then b else c"),
        nested("let y = 1 within ", "c", ""),
        nested("let y = ", "1", " within 1"),
        nested("[] x : S @ ", "P", ""),
        nested("", "P", "[[a <- b]]"),
        nested("", "f", "(x)"),
        nested("f(1, ", "1", ")"),
        format!("f({}) = 1\n", "x.".repeat(N) + "y"),
        format!("f({}x{}) = 1\n", "(".repeat(N), ")".repeat(N)),
        format!("f({}x{}) = 1\n", "<".repeat(N), ">".repeat(N)),
        format!("f :: {}Int{}\n", "{".repeat(N), "}".repeat(N)),
        format!("f :: {}Int\n", "Int.".repeat(N)),
        format!("{}{}", "module M\nexports\n".repeat(N / 100), "endmodule\n".repeat(N / 100)),
        format!("s = {{{}1}}\n", "1, ".repeat(N)),
    ];
    for text in texts {
        let parsed = parse_text(&text);
        let start: String = text.chars().take(40).collect();
        assert!(parsed.diagnostics.is_empty(), "{start}: {:?}", parsed.diagnostics[0]);
        let printed = print(&parsed.tree);
        let again = parse_text(&printed);
        assert!(again.diagnostics.is_empty(), "{start}: {:?}", again.diagnostics[0]);
        assert!(parsed.tree.same(&again.tree), "{start}");
    }
}

#[test]
fn unclosed_depth_is_reported_once() {
    for open in ["(", "{", "<", "[", "f(", "let x = ", "if ", "{|", "[|", "(|", "{-", "\\ x @ ", "a -> ", "- ", "<-"] {
        let parsed = parse_text(&format!("x = {}", open.repeat(20_000)));
        assert_eq!(parsed.diagnostics.len(), 1, "{open}: {:?}", parsed.diagnostics.get(1));
    }
}

/// Mutations of the test scripts: cut, repeated, swapped and stray bytes.
#[test]
fn mutated_scripts_never_break_the_stages() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound.max(1) as u64) as usize
    };
    let stages = ["syntax", "rename", "types"];
    let files = stages
        .iter()
        .flat_map(|stage| scripts_of(stage, "should_pass").into_iter().chain(scripts_of(stage, "should_fail")));
    let files = files.filter(|path| !path.ends_with("too_large.csp"));
    let texts: Vec<Vec<u8>> = files.map(|path| std::fs::read(path).expect("a file")).collect();
    let pieces: &[&[u8]] = &[
        b"(",
        b")",
        b"<",
        b">",
        b"{",
        b"}",
        b"{|",
        b"|}",
        b"[[",
        b"]]",
        b"[|",
        b"|]",
        b"let ",
        b" within ",
        b"\n",
        b"@",
        b"->",
        b"?",
        b"\xc3",
        b"\"",
        b"'",
        b"{-",
        b"--",
        b"=",
        b"::",
        b"module M\n",
        b"exports\n",
        b"Timed {",
        b"..",
    ];
    for round in 0..3000 {
        let mut text = texts[below(texts.len())].clone();
        for _ in 0..1 + below(4) {
            let at = below(text.len() + 1);
            match below(4) {
                0 => {
                    let end = (at + below(20)).min(text.len());
                    text.drain(at..end);
                }
                1 => {
                    let piece = pieces[below(pieces.len())];
                    text.splice(at..at, piece.iter().copied());
                }
                2 => {
                    let other = &texts[below(texts.len())];
                    let from = below(other.len() + 1);
                    let to = (from + below(60)).min(other.len());
                    text.splice(at..at, other[from..to].iter().copied());
                }
                _ => text.truncate(at),
            }
        }
        let loader = MemoryLoader::one("test.csp", text.clone());
        let parsed = parse("test.csp", &loader, &mut Sources::default());
        let printed = print(&parsed.tree);
        // The later stages take what parsing left.
        let (renamed, _) = trefoil_cspm::rename::rename(parsed.tree.clone(), &[]);
        trefoil_cspm::types::typecheck(renamed);
        if parsed.diagnostics.is_empty() {
            let again = parse_text(&printed);
            let shown = String::from_utf8_lossy(&text);
            assert!(again.diagnostics.is_empty(), "round {round}:\n{shown}\nprinted:\n{printed}");
            assert!(parsed.tree.same(&again.tree), "round {round}:\n{shown}\nprinted:\n{printed}");
        }
    }
}

#[test]
fn included_files_are_read_once_and_cycles_are_reported() {
    let mut loader =
        MemoryLoader::one("a/main.csp", "include \"lib/x.csp\"\ninclude \"y.csp\"\ninclude \"lib/x.csp\"\n");
    loader.files.insert("a/lib/x.csp".to_string(), b"include \"../y.csp\"\nx = y\n".to_vec());
    loader.files.insert("a/y.csp".to_string(), b"y = 1\n".to_vec());
    let parsed = parse("a/main.csp", &loader, &mut Sources::default());
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    assert_eq!(parsed.tree.flat_declarations().len(), 2);
    loader.files.insert("a/y.csp".to_string(), b"include \"lib/x.csp\"\n".to_vec());
    let parsed = parse("a/main.csp", &loader, &mut Sources::default());
    assert_eq!(parsed.diagnostics.len(), 1);
    assert_eq!(parsed.diagnostics[0].code, "C031");
}

#[test]
fn every_module_has_its_own_copy_of_a_file() {
    let text = "include \"x.csp\"\nmodule M\n include \"x.csp\"\nexports\n include \"x.csp\"\n y = x\nendmodule\n\
                module N\nexports\n include \"x.csp\"\nendmodule\nz = x + M::y + N::x\n";
    let mut loader = MemoryLoader::one("main.csp", text);
    loader.files.insert("x.csp".to_string(), b"x = 1 -- \xe9\n".to_vec());
    let parsed = parse("main.csp", &loader, &mut Sources::default());
    // What is wrong with the file is said once.
    let codes: Vec<&str> = parsed.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, ["C001"]);
    let (_, diagnostics) = trefoil_cspm::rename::rename(parsed.tree, &[]);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
}

#[test]
fn modules_that_double_the_inclusions_end() {
    let mut loader = MemoryLoader::default();
    for at in 0..40 {
        let include = format!("include \"{}.csp\"", at + 1);
        let text = format!("module A\nexports\n{include}\nendmodule\nmodule B\nexports\n{include}\nendmodule\n");
        loader.files.insert(format!("{at}.csp"), text.into_bytes());
    }
    loader.files.insert("40.csp".to_string(), b"x = 1\n".to_vec());
    let parsed = parse("0.csp", &loader, &mut Sources::default());
    assert!(parsed.diagnostics.iter().all(|diagnostic| diagnostic.code == "C030") && !parsed.diagnostics.is_empty());
}

#[test]
fn a_file_that_cannot_be_read_is_reported() {
    let parsed = parse("no/such/file.csp", &TestLoader, &mut Sources::default());
    assert_eq!(parsed.diagnostics.len(), 1);
    assert!(parsed.tree.flat_declarations().is_empty());
}
