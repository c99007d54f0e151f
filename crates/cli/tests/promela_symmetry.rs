//! Symmetry reduction of Promela models through the command line.

mod models;

use serde_json::Value;

use models::{folder, results, trefoil};

fn model(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".pml").tempfile().expect("a file");
    std::fs::write(file.path(), text).expect("written");
    file
}

#[test]
fn representatives_answer_as_all_states_do() {
    let mut reduced = 0;
    for entry in std::fs::read_dir(folder()).expect("the examples") {
        let path = entry.expect("one").path();
        if path.extension().is_none_or(|extension| extension != "pml") {
            continue;
        }
        // Representatives stand for all states only where all steps are taken.
        let all = results(&path, &["--symmetry", "off", "--keep-going", "--partial-order", "off"]);
        for threads in ["1", "2"] {
            let options = ["--symmetry", "auto", "--keep-going", "--partial-order", "off", "--threads", threads];
            let some = results(&path, &options);
            assert_eq!(all.len(), some.len());
            for (one, other) in all.iter().zip(&some) {
                assert_eq!(one["verdict"], other["verdict"], "{}", path.display());
                assert!(one["symmetry"].is_null());
                if other["symmetry"].is_null() {
                    assert_eq!(one["visited_states"], other["visited_states"], "{}", path.display());
                    continue;
                }
                reduced += 1;
                let stays = other["notes"].to_string().contains("ended processes keep their slots");
                if !stays {
                    let total: u64 =
                        other["symmetry"]["total_states"].as_str().expect("text").parse().expect("a number");
                    assert_eq!(one["visited_states"], total, "{}", path.display());
                    assert_eq!(one["witness"]["length"], other["witness"]["length"], "{}", path.display());
                }
            }
        }
    }
    assert!(reduced > 10, "too few: {reduced}");
}

#[test]
fn a_counterexample_is_one_of_the_model_itself() {
    // Two of three processes have ended when the third is stuck; the older one has to go before nothing can happen.
    let file = model("byte x; active [3] proctype P() { x++; x == 2 -> skip }\n");
    for strategy in ["auto", "canonical", "enumerate", "sorted", "hillclimbing"] {
        let answers = results(file.path(), &["--strategy", strategy]);
        assert_eq!(answers[1]["verdict"], "fails");
        assert_eq!(answers[1]["symmetry"]["order"], "6");
        assert_eq!(answers[1]["witness"]["finding"]["kind"], "invalid_end");
    }
}

#[test]
fn the_symmetries_of_a_model_are_told() {
    let file = folder().join("philosophers.pml");
    let file = file.to_string_lossy();
    let picture = tempfile::Builder::new().suffix(".svg").tempfile().expect("a file");
    let output = trefoil(&["symmetry", &file, "--output", &picture.path().to_string_lossy(), "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let told = &document["results"][0];
    assert_eq!(told["order"], "4", "{document}");
    assert_eq!(told["structure"], "C4");
    assert!(told["generators"][0].as_str().is_some_and(|cycles| cycles.starts_with('(')));
    assert!(told["reasons"].is_array());
    assert!(std::fs::read_to_string(picture.path()).expect("a picture").contains("<svg"));
    let output = trefoil(&["symmetry", &file]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("the group is C4, |G| = 4"), "{output:?}");
}

#[test]
fn what_is_in_the_way_is_told_with_its_place() {
    let file = model("byte x;\nactive [3] proctype P() {\n  do\n  :: x = (x + _pid) % 2\n  od\n}\n");
    let output = trefoil(&["symmetry", &file.path().to_string_lossy()]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("no symmetry found"), "{text}");
    assert!(text.contains("the expression here is 0 for P(0) and 1 for P(1)") && text.contains(":4:"), "{text}");
}

#[test]
fn a_strategy_that_does_not_suit_gives_way_with_a_note() {
    let file = folder().join("philosophers.pml");
    let output = trefoil(&["check", &file.to_string_lossy(), "--strategy", "sorted"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("the strategy sorted needs all permutations") && said.contains("; used canonical instead"),
        "{said}"
    );
}

#[test]
fn processes_that_are_started_one_by_one_are_reduced() {
    let body = "do :: x < 3 -> x++ :: x == 3 -> assert(x != 3) od";
    let wrong = model(&format!("byte x;\nproctype P() {{ {body} }}\ninit {{ run P(); run P(); run P() }}\n"));
    let body = "byte y; do :: x < 2 -> x++; y++; y < 2 od";
    let stuck = model(&format!("byte x;\nproctype P() {{ {body} }}\ninit {{ run P(); run P(); run P() }}\n"));
    for (file, at) in [(&wrong, 0), (&stuck, 1)] {
        let all = results(file.path(), &["--symmetry", "off"]);
        for strategy in ["auto", "canonical", "enumerate", "sorted", "hillclimbing"] {
            let some = results(file.path(), &["--strategy", strategy]);
            assert_eq!(some[at]["symmetry"]["order"], "6", "{some:?}");
            assert_eq!(some[at]["verdict"], "fails", "{strategy}");
            assert_eq!(some[at]["witness"]["length"], all[at]["witness"]["length"], "{strategy}");
        }
        let all = results(file.path(), &["--symmetry", "off", "--keep-going", "--partial-order", "off"]);
        let some = results(file.path(), &["--keep-going", "--partial-order", "off"]);
        assert_eq!(some[0]["symmetry"]["total_states"], all[0]["visited_states"].to_string());
    }
}

#[test]
fn processes_that_are_started_one_by_one_have_counterexamples_with_every_strategy() {
    let file = model(
        "byte w; proctype P() { byte q; do :: q = w; w = _pid; q = 0; false od }\ninit { run P(); run P(); run P() }\n",
    );
    // Only with all steps is every counterexample of a search that goes on a shortest one.
    let all = results(file.path(), &["--symmetry", "off", "--keep-going", "--partial-order", "off"]);
    for strategy in
        ["auto", "canonical", "ordering", "sorted", "segmented", "enumerate", "fast", "stabiliser", "hillclimbing"]
    {
        let some = results(file.path(), &["--strategy", strategy, "--keep-going", "--partial-order", "off"]);
        assert_eq!(some[1]["symmetry"]["order"], "6", "{strategy}");
        assert_eq!(some[1]["verdict"], "fails", "{strategy}");
        assert_eq!(some[1]["witness"]["length"], all[1]["witness"]["length"], "{strategy}");
        let gives_way = some[1]["notes"].to_string().contains("start one by one");
        assert_eq!(gives_way, ["ordering", "sorted", "fast", "hillclimbing"].contains(&strategy), "{strategy}");
    }
}

#[test]
fn statements_that_a_representative_stands_for_are_reached() {
    // Only the process with the token acts, and there is one representative of that; three statements stand for each
    // other, and one is never reached.
    let file = model(
        "byte at; bit dead;\nproctype P() { byte x;\n do\n :: atomic { at == _pid ->\n  if\n  :: _pid == 1 -> if :: x = 2 fi\n  :: _pid == 2 -> if :: x = 3 fi\n  \
         :: _pid == 3 -> if :: x = 1 fi\n  fi; at = x; x = 0 }\n :: dead -> at = 0\n od }\n\
         init { atomic { run P(); run P(); run P(); if :: at = 1 :: at = 2 :: at = 3 fi } }\n",
    );
    let all = results(file.path(), &["--symmetry", "off", "--keep-going", "--partial-order", "off"]);
    let some = results(file.path(), &["--keep-going"]);
    assert_eq!(some[0]["symmetry"]["order"], "3");
    assert!(all[1]["unreached"].to_string().contains("at = 0"), "{}", all[1]["unreached"]);
    assert_eq!(some[1]["unreached"], all[1]["unreached"]);
    assert_eq!(some[1]["notes"], all[1]["notes"]);
}

#[test]
fn the_pictures_of_the_documentation_are_those_that_are_drawn() {
    for name in ["load_balancer", "email"] {
        let picture = tempfile::Builder::new().suffix(".svg").tempfile().expect("a file");
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let drawn = std::process::Command::new(env!("CARGO_BIN_EXE_trefoil"))
            .current_dir(&root)
            .args(["symmetry", &format!("examples/promela/{name}.pml"), "--output"])
            .arg(picture.path())
            .output()
            .expect("trefoil runs");
        assert_eq!(drawn.status.code(), Some(0), "{drawn:?}");
        let read = |path: &std::path::Path| std::fs::read_to_string(path).expect("a picture");
        assert_eq!(read(picture.path()), read(&root.join(format!("docs/pictures/{name}.svg"))), "{name}");
    }
}
