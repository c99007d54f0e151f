//! Reports and pictures in a real browser: Chromium, driven by playwright-core. Where one of them is missing, the test
//! says so and passes; `.ci/run` installs both.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn trefoil(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    let output = command.current_dir(folder).args(arguments).env("NO_COLOR", "1").output().expect("the program starts");
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 1)), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The first of these files that exists.
fn first(candidates: &[PathBuf]) -> Option<PathBuf> {
    candidates.iter().find(|file| file.exists()).cloned()
}

/// Where playwright-core and Chromium are, if they are.
fn browser() -> Option<(PathBuf, PathBuf)> {
    let package = first(&[
        std::env::var_os("TREFOIL_PLAYWRIGHT").map(PathBuf::from).unwrap_or_default(),
        root().join("target/browser/node_modules/playwright-core"),
    ])?;
    let chromium =
        first(&["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].map(PathBuf::from))?;
    Command::new("node").arg("--version").output().ok().filter(|output| output.status.success())?;
    Some((package.canonicalize().ok()?, chromium))
}

/// A grid of 17 by 17 states, in which two counters go up.
fn grid() -> String {
    let (size, mut edges) = (17, Vec::new());
    for (a, b) in (0..size).flat_map(|a| (0..size).map(move |b| (a, b))) {
        let number = |a: usize, b: usize| a * size + b;
        if a + 1 < size {
            edges.push(format!("({},\"left.{a}\",{})", number(a, b), number(a + 1, b)));
        }
        if b + 1 < size {
            edges.push(format!("({},\"right.{b}\",{})", number(a, b), number(a, b + 1)));
        }
    }
    format!("des (0,{},{})\n{}\n", edges.len(), size * size, edges.join("\n"))
}

#[test]
fn what_readers_see_is_right() {
    let Some((package, chromium)) = browser() else {
        eprintln!("node, playwright-core or Chromium is missing: reports and pictures are not opened in a browser");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let examples = root().join("examples").canonicalize().expect("the examples");
    let example = |name: &str| examples.join(name).to_string_lossy().into_owned();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    let report = |arguments: &[&str], name: &str| {
        trefoil(folder.path(), &[&["check"], arguments, &["--report", name]].concat());
    };
    report(&[&example("csp/philosophers.csp")], "csp.html");
    report(&[&example("promela/peterson_wrong.pml")], "promela.html");
    report(&[&example("mcrl2/philosophers.mcrl2")], "mcrl2.html");
    report(&[&example("csp/alternating_bit.csp"), "--only", "4"], "lasso.html");
    let lock = example("mcrl2/naive_lock.mcrl2");
    report(&[&lock, "--formula", "<true*>[true]false"], "formula.html");
    write("starving.pml", "bool x; active [2] proctype P() { do :: x = !x od }\nltl never_set { [] !x }\n");
    report(&["starving.pml"], "claim.html");
    write("markup.aut", "des (0,2,3)\n(0,\"<script>document.title='bad'</script>\",1)\n(1,\"<b>bold</b>\",2)\n");
    report(&["markup.aut", "--formula", "[true*]<true>true"], "markup.html");
    write("long.csp", "channel a : {0..1}\nP(n) = n < 10000 & a.(n % 2) -> P(n + 1)\nassert P(0) :[deadlock free]\n");
    report(&["long.csp"], "long.html");
    let draw = |arguments: &[&str], name: &str| {
        trefoil(folder.path(), &[arguments, &["-o", name]].concat());
    };
    draw(&["graph", &example("mcrl2/readers_writers.mcrl2")], "small.svg");
    draw(&["graph", &example("csp/atm.csp"), "SYSTEM2"], "middle.svg");
    draw(&["graph", &example("promela/philosophers.pml")], "large.svg");
    write("grid.aut", &grid());
    draw(&["lts", "draw", "grid.aut"], "grid.svg");
    draw(&["lts", "draw", "markup.aut"], "markup.svg");
    trefoil(
        folder.path(),
        &["lts", "random", "dense.aut", "--states", "300", "--transitions", "2400", "--labels", "5"],
    );
    draw(&["lts", "draw", "dense.aut"], "dense.svg");
    let output = Command::new("node")
        .arg(root().join("crates/cli/tests/browser/look.js"))
        .args([&package, &chromium])
        .arg(folder.path())
        .output()
        .expect("node starts");
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{said}");
}
