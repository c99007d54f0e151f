//! `trefoil game` as users see it.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Two vertices of even, one of odd: even stays in 0 and 1, where the greatest priority is even; odd stays in 2.
const GAME: &str = "parity 2;\n0 2 0 1 \"start\";\n1 1 1 0,2;\n2 3 1 2;\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Folder {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("a file");
        }
        Folder(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file that was written")
    }

    fn run(&self, arguments: &[&str]) -> Output {
        program().current_dir(self.0.path()).args(arguments).output().expect("the program runs")
    }
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    command.env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR");
    command
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

#[test]
fn a_game_is_solved_by_every_solver_and_its_solution_passes_the_check() {
    let folder = Folder::new(&[("g.pg", GAME)]);
    for solver in ["zielonka", "promotion", "fixpoint"] {
        let solved = folder.run(&["game", "solve", "g.pg", "--solver", solver, "-o", "g.sol"]);
        assert_eq!(solved.status.code(), Some(0), "{}", err(&solved));
        let text = out(&solved);
        assert!(text.starts_with("g.pg: odd wins vertex 0\n"), "{text}");
        assert!(text.contains("won by odd   3\n") && text.contains(solver), "{text}");
        assert_eq!(folder.read("g.sol"), "paritysol 2;\n0 1;\n1 1 2;\n2 1 2;\n");
        let checked = folder.run(&["game", "solve", "g.pg", "--check", "g.sol"]);
        assert_eq!(checked.status.code(), Some(0), "{}", err(&checked));
        assert!(out(&checked).starts_with("holds: g.sol is a solution of g.pg\n"), "{}", out(&checked));
    }
}

#[test]
fn the_solution_can_go_to_standard_output_and_the_game_come_from_standard_input() {
    let mut child = program()
        .args(["game", "solve", "-", "-o", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    child.stdin.take().expect("a pipe").write_all(GAME.as_bytes()).expect("input is taken");
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(out(&output), "paritysol 2;\n0 1;\n1 1 2;\n2 1 2;\n");
}

#[test]
fn a_wrong_solution_fails_with_its_flaw() {
    for (solution, flaw) in [
        ("paritysol 2;\n0 0 1;\n1 1 2;\n2 1 2;\n", "vertex 0 to 1"),
        ("paritysol 2;\n0 1;\n1 1 0;\n2 1 2;\n", "cycle through vertex 0"),
        ("paritysol 2;\n0 1;\n1 1;\n2 1 2;\n", "has no move"),
        ("paritysol 2;\n0 1;\n2 1 2;\n", "vertex 1 is not won by exactly one player"),
        ("paritysol 2;\n0 1;\n1 1 1;\n2 1 2;\n", "vertex 1 to 1 is not an edge"),
    ] {
        let folder = Folder::new(&[("g.pg", GAME), ("g.sol", solution)]);
        let checked = folder.run(&["game", "solve", "g.pg", "--check", "g.sol"]);
        assert_eq!(checked.status.code(), Some(1), "{solution}{}", err(&checked));
        let text = out(&checked);
        assert!(text.starts_with("fails: g.sol is not a solution of g.pg: ") && text.contains(flaw), "{text}");
    }
}

#[test]
fn mistakes_have_a_code_a_place_and_exit_code_2() {
    for (text, code, place) in [
        ("parity 1;\n0 1 0;\n", "J006", "g.pg:2:6"),
        ("0 1 0 7;\n", "J005", "g.pg:1:7"),
        ("0 1 3 0;\n", "J003", "g.pg:1:5"),
        ("digraph {\n", "J001", "g.pg:1:1"),
    ] {
        let folder = Folder::new(&[("g.pg", text)]);
        let solved = folder.run(&["game", "solve", "g.pg"]);
        assert_eq!(solved.status.code(), Some(2), "{text}");
        let message = err(&solved);
        assert!(message.contains(code) && message.contains(place), "{message}");
    }
    let folder = Folder::new(&[("g.pg", GAME), ("g.sol", "0 1;\n9 1;\n")]);
    let checked = folder.run(&["game", "solve", "g.pg", "--check", "g.sol"]);
    assert!(err(&checked).contains("J005") && err(&checked).contains("g.sol:2:1"), "{}", err(&checked));
    assert_eq!(folder.run(&["game", "solve", "none.pg"]).status.code(), Some(2));
}

#[test]
fn programs_get_json() {
    let folder = Folder::new(&[("g.pg", GAME)]);
    let solved = folder.run(&["game", "solve", "g.pg", "--format", "json"]);
    let document: Value = serde_json::from_slice(&solved.stdout).expect("a JSON document");
    assert_eq!(document["command"], "game solve");
    let result = &document["results"][0];
    assert_eq!(result["verdict"], "holds");
    assert_eq!((&result["vertices"], &result["edges"], &result["priorities"]), (&3.into(), &4.into(), &3.into()));
    assert_eq!((&result["winner"], &result["start"]), (&"odd".into(), &0.into()));
    assert_eq!((&result["won"]["even"], &result["won"]["odd"]), (&0.into(), &3.into()));
    assert_eq!(result["solver"], "zielonka");
}

#[test]
fn a_small_game_is_drawn_and_a_large_one_refused() {
    let folder = Folder::new(&[("g.pg", GAME)]);
    for name in ["g.svg", "g.dot"] {
        let drawn = folder.run(&["game", "solve", "g.pg", "--picture", name]);
        assert_eq!(drawn.status.code(), Some(0), "{}", err(&drawn));
        assert!(folder.read(name).contains("won by odd"), "{}", folder.read(name));
    }
    let drawn = folder.run(&["game", "solve", "g.pg", "--picture", "g.png"]);
    assert_eq!(drawn.status.code(), Some(0), "{}", err(&drawn));
    assert!(std::fs::read(folder.path("g.png")).expect("a picture").starts_with(b"\x89PNG"));
    let refused = folder.run(&["game", "solve", "g.pg", "--picture", "g.pdf"]);
    assert!(refused.status.code() == Some(2) && err(&refused).contains("S001"), "{}", err(&refused));
    let many: String = (0..501).map(|vertex| format!("{vertex} 0 0 {vertex};\n")).collect();
    std::fs::write(folder.path("many.pg"), many).expect("a file");
    let refused = folder.run(&["game", "solve", "many.pg", "--picture", "m.svg"]);
    assert!(refused.status.code() == Some(2) && err(&refused).contains("S006"), "{}", err(&refused));
}

#[test]
fn a_budget_that_runs_out_gives_unknown() {
    let many: String =
        (0..400_000).map(|vertex| format!("{vertex} {} 0 {};\n", vertex % 7, (vertex + 1) % 400_000)).collect();
    let folder = Folder::new(&[("many.pg", &many)]);
    let stopped = folder.run(&["game", "solve", "many.pg", "--timeout", "1ms"]);
    assert_eq!(stopped.status.code(), Some(3), "{}{}", out(&stopped), err(&stopped));
}
