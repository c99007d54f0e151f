//! Budgets that were once not kept, each named after what broke: reading, long chains, processes without bound, tight
//! memory, expanded text.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// A folder of its own for a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("trefoil-budgets-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn trefoil(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trefoil")).args(arguments).output().expect("trefoil runs")
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The number before ` MB)` at the end of a run.
fn megabytes(text: &str) -> f64 {
    let before = text.split(" MB)").next().expect("a text");
    let number = before.rsplit(' ').next().expect("a number");
    number.parse().unwrap_or_else(|_| panic!("no figure of memory in {text}"))
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_without_an_end_is_read_until_the_memory_budget() {
    let folder = Folder::new("zero");
    let script = folder.file("a.csp", "include \"/dev/zero\"\n");
    let model = folder.file("a.pml", "#include \"/dev/zero\"\nactive proctype P() { skip }\n");
    let good = folder.file("good.pml", "active proctype P() { skip }\n");
    let good_mcrl2 = folder.file("good.mcrl2", "act a; proc P = a.P; init P;\n");
    let link = |name: &str| {
        let path = folder.0.join(name);
        std::os::unix::fs::symlink("/dev/zero", &path).expect("a link");
        path.display().to_string()
    };
    let commands: Vec<Vec<String>> = vec![
        vec!["check".into(), script],
        vec!["check".into(), model],
        vec!["check".into(), link("z.csp")],
        vec!["check".into(), link("z.mcrl2")],
        vec!["check".into(), good_mcrl2, "--formula".into(), link("z.mcf")],
        vec!["symmetry".into(), link("z.pml")],
        vec!["trace".into(), good, "--trail".into(), link("z.trail")],
        vec!["group".into(), "/dev/zero".into()],
        vec!["automorphisms".into(), link("z.dot")],
        vec!["game".into(), "solve".into(), link("z.pg")],
        vec!["lts".into(), "compose".into(), link("z.exp")],
    ];
    for command in commands {
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        arguments.extend(["--memory", "150M"]);
        let output = trefoil(&arguments);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {said}");
        assert!(said.contains("memory budget of 150.0 MB reached"), "{arguments:?}: {said}");
        assert!(said.contains("while  reading "), "{arguments:?}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_without_a_writer_ends_with_the_time_and_with_ctrl_c() {
    let folder = Folder::new("pipe");
    let pipe = |name: &str| {
        let path = folder.0.join(name);
        assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo runs").success());
        path.display().to_string()
    };
    for (name, command) in [("p.csp", "check"), ("p.pml", "check"), ("p.mcrl2", "check"), ("p.aut", "lts info")] {
        let file = pipe(name);
        let begun = Instant::now();
        let mut arguments: Vec<&str> = command.split(' ').collect();
        arguments.extend([&*file, "--timeout", "300ms"]);
        let output = trefoil(&arguments);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("timeout of 0.3 s reached") && said.contains(&format!("reading {file}")), "{said}");
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
    let file = pipe("q.csp");
    let program = Command::new(env!("CARGO_BIN_EXE_trefoil")).args(["check", &file]).spawn().expect("trefoil runs");
    std::thread::sleep(Duration::from_millis(500));
    let pressed = Instant::now();
    let interrupted = Command::new("kill").args(["-INT", &program.id().to_string()]).status().expect("kill runs");
    assert!(interrupted.success());
    let output = program.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(3));
    assert!(pressed.elapsed() < Duration::from_secs(3), "{:?}", pressed.elapsed());
}

/// `P = …` with operands joined by an operator, leaning to the left or with brackets to the right.
fn chain(operator: &str, operand: &str, count: usize, right: bool) -> String {
    let operands = vec![operand; count];
    let chain = match right {
        false => operands.join(&format!(" {operator} ")),
        true => {
            let rest = format!("{operand} {operator} (").repeat(count - 1);
            format!("{rest}{operand}{}", ")".repeat(count - 1))
        }
    };
    format!("channel a\nP = {chain}\nassert P :[divergence free]\n")
}

#[test]
fn chains_of_operators_cost_linear_memory() {
    let folder = Folder::new("chains");
    for (operator, operand) in [("[>", "a -> STOP"), ("[]", "a -> STOP"), ("|~|", "a -> STOP"), (";", "a -> SKIP")] {
        for right in [false, true] {
            let script = folder.file("chain.csp", &chain(operator, operand, 20_000, right));
            let output = trefoil(&["check", &script, "--memory", "400M"]);
            let said = text(&output);
            assert_eq!(output.status.code(), Some(0), "{operator} {right}: {said}");
            assert!(megabytes(&said) < 400.0, "{operator} {right}: {said}");
        }
    }
}

/// The answers of a long chain are those of the same process written as a recursion.
#[test]
fn a_long_chain_means_what_a_recursion_means() {
    let folder = Folder::new("meaning");
    let timeouts: Vec<String> = (0..100).map(|number| format!("a.{number} -> STOP")).collect();
    let steps: Vec<String> = (0..100).map(|number| format!("a.{number} -> SKIP")).collect();
    let script = format!(
        "channel a : {{0..99}}\nP = {}\nQ(n) = if n == 99 then a.99 -> STOP else a.n -> STOP [> Q(n + 1)\n\
         S = {}\nT(n) = a.n -> (if n == 99 then SKIP else T(n + 1))\n\
         assert P [FD= Q(0)\nassert Q(0) [FD= P\nassert S [FD= T(0)\nassert T(0) [FD= S\nassert P :[deadlock free]\n",
        timeouts.join(" [> "),
        steps.join("; ")
    );
    let output = trefoil(&["check", &folder.file("meaning.csp", &script)]);
    let said = text(&output);
    assert!(said.contains("4 hold, 1 fails"), "{said}");
}

#[test]
fn a_process_without_bound_is_named_with_its_argument_and_last_values() {
    let folder = Folder::new("bound");
    let script = folder.file(
        "count.csp",
        "channel up, down\nchannel in : {0..1}\n\
         COUNT(n) = up -> COUNT(n+1) [] n > 0 & down -> COUNT(n-1)\n\
         BUFFER(s) = in?x -> BUFFER(s^<x>)\n\
         assert COUNT(0) :[deadlock free]\nassert BUFFER(<>) :[deadlock free]\n",
    );
    let output = trefoil(&["check", &script]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("error[E035]: `COUNT` grows without bound in `n`"), "{said}");
    assert!(said.contains("COUNT(199998), COUNT(199999)"), "{said}");
    assert!(said.contains("error[E035]: `BUFFER` grows without bound in `s`"), "{said}");
    assert!(said.contains("count.csp:3:12"), "{said}");
}

#[test]
fn a_large_process_with_a_bound_is_explored() {
    let folder = Folder::new("large");
    let script = folder.file(
        "large.csp",
        "channel up, down\n\
         COUNT(n) = n < 210000 & up -> COUNT(n+1) [] n > 0 & down -> COUNT(n-1)\n\
         ROUND(n) = up -> ROUND((n + 1) % 201000)\n\
         PAIR(n, m) = m < 201000 & up -> PAIR(n + 1, m + 1)\n\
         assert COUNT(0) :[deadlock free]\nassert ROUND(0) :[deadlock free]\nassert PAIR(0, 0) :[divergence free]\n",
    );
    let output = trefoil(&["check", &script]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
}

#[test]
fn a_tight_memory_budget_does_not_sleep() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/csp/vending.csp");
    let begun = Instant::now();
    let output = trefoil(&["check", &script.display().to_string(), "--memory", "20M", "--only", "1-8"]);
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}: {}", begun.elapsed(), text(&output));
}

#[test]
fn sequences_that_double_keep_to_the_memory() {
    let folder = Folder::new("doubled");
    let script = "channel a\nd(0, s) = s\nd(n, s) = d(n - 1, s ^ s)\n\
                  assert #d(28, <1>) == 1 & a -> STOP :[deadlock free]\n";
    let script = folder.file("doubled.csp", script);
    let output = trefoil(&["check", &script, "--memory", "150M"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("memory budget of 150.0 MB reached"), "{said}");
    assert!(megabytes(&said) < 165.0, "{said}");
}

#[test]
fn inlines_of_inlines_and_nested_conditions_keep_to_the_budgets() {
    let folder = Folder::new("promela");
    let mut inlines = "byte x;\ninline i0() { x = x + 1; x = x + 2 }\n".to_string();
    for number in 1..40 {
        inlines += &format!("inline i{number}() {{ i{0}(); i{0}() }}\n", number - 1);
    }
    let model = folder.file("inlines.pml", &(inlines + "active proctype P() { i39() }\n"));
    let output = trefoil(&["check", &model, "--memory", "80M"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("memory budget of 80.0 MB reached"), "{said}");

    let nested = "#define A\n".to_string() + &"#ifdef A\n".repeat(100_000) + &"#endif\n".repeat(100_000);
    let model = folder.file("nested.pml", &(nested + "active proctype P() { skip }\n"));
    let output = trefoil(&["check", &model, "--timeout", "5s"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));

    // All alternatives are on one line.
    let alternatives: Vec<String> =
        (0..100_000).map(|number| format!(":: x == {} -> x = {}", number % 250, number % 7)).collect();
    let model = folder
        .file("alternatives.pml", &format!("byte x; active [2] proctype P() {{ if {} fi }}", alternatives.join(" ")));
    let begun = Instant::now();
    trefoil(&["symmetry", &model, "--timeout", "1s"]);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn a_name_of_megabytes_is_cut_and_nul_is_refused_with_its_place() {
    let folder = Folder::new("names");
    let script = folder.file("name.csp", &format!("P = {}\nassert P :[deadlock free]\n", "x".repeat(2_000_000)));
    let output = trefoil(&["check", &script]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).len() < 5_000, "{} bytes", text(&output).len());
    let script = folder.file("nul.csp", "channel a\nP = a \0-> P\nassert P :[deadlock free]\n");
    let output = trefoil(&["check", &script]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("NUL") && said.contains("nul.csp:2:7"), "{said}");
}

/// A table of all labels in all states of a composed component, and lists that were copied while they grew, once took a
/// third more than the budget.
#[cfg(target_os = "linux")]
#[test]
fn composing_and_arranging_a_large_component_keeps_to_the_memory() {
    let folder = Folder::new("composing");
    let script = folder.file(
        "product.csp",
        "transparent sbisim\nchannel a : {0..5}.{0..7}\nC(i, k) = a.i.k -> C(i, (k + 1) % 8)\n\
         assert sbisim(||| i : {0..5} @ C(i, 0)) :[deadlock free]\n",
    );
    for (budget, limit) in [("100M", 100.0), ("135M", 135.0)] {
        let output = trefoil(&["check", &script, "--memory", budget]);
        let said = text(&output);
        assert!(matches!(output.status.code(), Some(0 | 3)), "{said}");
        assert!(megabytes(&said) < limit * 1.12, "{said}");
    }
    let output = trefoil(&["check", &script, "--memory", "1G", "--symmetry", "off"]);
    let said = text(&output);
    assert!(said.contains("262,144 states") && megabytes(&said) < 200.0, "{said}");
}

#[test]
fn long_expressions_cost_linear_memory_in_every_language() {
    let folder = Folder::new("expressions");
    let chain = |operand: &str, operator: &str, count: usize| vec![operand; count].join(operator);
    let sequence =
        format!("channel a\nx = {}\nassert #x > 1 & a -> STOP :[deadlock free [F]]\n", chain("<1>", "^", 100_000));
    let sum = format!("int x;\nactive proctype A() {{ x = {}; assert(x == 0) }}\n", chain("x", " + ", 4_000));
    let longer = format!("int x;\nactive proctype A() {{ x = {} }}\n", chain("x", " + ", 100_000));
    let data = format!("act a: Nat; init a({});\n", chain("1", " + ", 10_000));
    for (name, script, code, says) in [
        ("a.csp", sequence, 1, "1 fails"),
        ("a.pml", sum, 0, "2 hold"),
        ("longer.pml", longer, 2, "operators follow each other"),
        ("a.mcrl2", data, 0, "1 holds"),
    ] {
        let begun = Instant::now();
        let file = folder.file(name, &script);
        let output = trefoil(&["check", &file, "--memory", "300M"]);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(code), "{name}: {}", &said[said.len().saturating_sub(500)..]);
        assert!(said.contains(says), "{name}: {}", &said[said.len().saturating_sub(500)..]);
        assert!(begun.elapsed() < Duration::from_secs(30), "{name}: {:?}", begun.elapsed());
    }
}

#[test]
fn stepping_keeps_to_the_memory_and_a_prompt_to_lines() {
    let folder = Folder::new("stepping");
    let model = folder.file(
        "channel.pml",
        "chan c = [65536] of { byte };\nbyte n;\nactive proctype A() { do :: n < 3 -> c!n; n++ :: c?n od }\n",
    );
    let output = trefoil(&["trace", &model, "--random", "2000", "--memory", "100M"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("memory budget of 100.0 MB reached") && said.contains("walking"), "{said}");
    let endless = std::fs::File::open("/dev/zero").expect("a device");
    let mut command = Command::new(env!("CARGO_BIN_EXE_trefoil"));
    let output = command.args(["trace", &model]).stdin(endless).output().expect("trefoil runs");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("more than 1,048,576 bytes"), "{}", text(&output));
}

/// The phase once stayed "building the quotient" while further leaves were explored.
#[test]
fn the_phase_is_the_one_at_work() {
    let folder = Folder::new("phase");
    let script = folder.file(
        "leaves.csp",
        "channel a : {0..9}.{0..99}\nSMALL = a.0.0 -> SMALL\n\
         BIG(x, y) = a.x.y -> BIG((x + 1) % 10, (y + 1) % 99) [] a.0.y -> BIG(x, (y * 7 + x) % 100)\n\
         COUNT(n) = n < 199000 & a.1.0 -> COUNT(n + 1)\n\
         assert SMALL ||| BIG(0, 0) ||| COUNT(0) :[deadlock free]\n",
    );
    let output = trefoil(&["check", &script, "--memory", "60M"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("exploring a component"), "{said}");
}
