//! Timed sections: random processes against an interpreter over explicit time, laws of timed processes, and what each
//! operator is translated to.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_cspm::eval::{Evaluator, Failure, Options as EvaluatorOptions};
use trefoil_cspm::process::{CompileOptions, Compiler};
use trefoil_cspm::rename::rename;
use trefoil_cspm::syntax::{MemoryLoader, parse, parse_expression_into};
use trefoil_cspm::types::typecheck;
use trefoil_lts::Lts;
use trefoil_lts::equivalence::{Equivalence, compare};
use trefoil_network::compose;
use trefoil_refine::{Options, refine};
use trefoil_source::{Severity, Sources, render};
use trefoil_system::{LabelId, Labels, Model};
use trefoil_testkit::timed::{DECLARATIONS, Timed, random_timed};
use trefoil_testkit::{Random, seed};

/// A script whose processes are compiled by their names.
struct Scene {
    compiler: Compiler,
    names: Vec<String>,
}

impl Scene {
    /// What is wrong with a script, or the script.
    fn try_new(script: &str, names: &[&str]) -> Result<Scene, Vec<String>> {
        let mut sources = Sources::default();
        let parsed = parse("test.csp", &MemoryLoader::one("test.csp", script), &mut sources);
        let (mut tree, mut diagnostics) = (parsed.tree, parsed.diagnostics);
        let mut queries = Vec::new();
        for name in names {
            let file = sources.add("expression", name.to_string());
            let (query, found) = parse_expression_into(&mut tree, file, &sources);
            queries.push(query);
            diagnostics.extend(found);
        }
        let (renamed, found) = rename(tree, &queries);
        diagnostics.extend(found);
        let (typed, found) = typecheck(renamed);
        diagnostics.extend(found);
        let errors: Vec<String> = diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == Severity::Error)
            .map(|diagnostic| render(diagnostic, &sources, false))
            .collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        let evaluator = Evaluator::new(&typed, Control::unlimited(), EvaluatorOptions::default());
        let labels = Arc::new(Labels::new());
        let compiler = Compiler::new(evaluator, labels, Control::unlimited(), CompileOptions::default());
        Ok(Scene { compiler, names: names.iter().map(|name| name.to_string()).collect() })
    }

    fn new(script: &str, names: &[&str]) -> Scene {
        Scene::try_new(script, names).unwrap_or_else(|errors| panic!("{}\n{script}", errors.join("\n")))
    }

    fn try_lts(&mut self, name: &str, options: CompileOptions) -> Result<Lts, Failure> {
        let at = self.names.iter().position(|known| known == name).expect("a name of the script");
        self.compiler.set_options(options);
        let value = self.compiler.evaluator().query(at)?;
        let process = self.compiler.evaluator().process(value)?;
        let machine = self.compiler.compile(&process)?;
        Ok(compose(&machine.network, 1, &Control::unlimited()).unwrap_or_else(|_| panic!("no budget")).lts)
    }

    fn lts(&mut self, name: &str, options: CompileOptions) -> Lts {
        self.try_lts(name, options).unwrap_or_else(|failure| panic!("{name}: {failure:?}"))
    }
}

/// As it is, networks of the smallest components, one component; with and without compression.
fn compilations() -> Vec<CompileOptions> {
    let options = CompileOptions::default();
    vec![
        options,
        CompileOptions { leaf_states: 0, ..options },
        CompileOptions { leaf_states: 0, compress_leaves: false, ..options },
        CompileOptions { expand: true, ..options },
    ]
}

/// The same process but for `τ` that change nothing.
fn same(left: &Lts, right: &Lts) -> bool {
    compare(left, right, Equivalence::DivergenceBranching, &Control::unlimited()).is_ok_and(|found| found.equivalent)
}

fn section(processes: &[(String, String)]) -> String {
    let mut script = format!("{DECLARATIONS}Timed(takes) {{\n");
    for (name, process) in processes {
        script += &format!("{name} = {process}\n");
    }
    script + "}\n"
}

#[test]
fn random_processes_agree_with_explicit_time() {
    let seed = seed();
    let mut random = Random::new(seed);
    let (mut compared, mut formats, mut networks, mut states) = (0, 0, 0, 0);
    for _ in 0..20 {
        let mut processes: Vec<Timed> = Vec::new();
        while processes.len() < 30 {
            let size = 1 + random.below(12);
            let process = random_timed(size, &mut random);
            if process.explore(&Arc::new(Labels::new()), 400).is_some() {
                processes.push(process);
            }
        }
        let named: Vec<(String, String)> =
            processes.iter().enumerate().map(|(at, process)| (format!("P{at}"), process.to_string())).collect();
        let names: Vec<&str> = named.iter().map(|(name, _)| name.as_str()).collect();
        let mut scene = Scene::new(&section(&named), &names);
        for options in compilations() {
            for (at, process) in processes.iter().enumerate() {
                let say = |what: &str| format!("TREFOIL_SEED={seed}\n{process}\n{options:?}\n{what}");
                let found = scene.try_lts(names[at], options);
                let found = found.unwrap_or_else(|failure| panic!("{}", say(&format!("{failure:?}"))));
                let expected = process.explore(found.labels(), 400).expect("it was explored before");
                assert!(same(&found, &expected), "{}", say(&shown(&found, &expected)));
                compared += 1;
                states += expected.state_count();
            }
        }
        for name in names {
            scene.compiler.set_options(compilations()[1]);
            let at = scene.names.iter().position(|known| known == name).expect("known");
            let value = scene.compiler.evaluator().query(at).expect("evaluated before");
            let process = scene.compiler.evaluator().process(value).expect("a process");
            let machine = scene.compiler.compile(&process).expect("compiled before");
            networks += usize::from(machine.network.components().len() > 1);
            formats += usize::from(machine.network.formats().len() > 1);
        }
    }
    println!("{compared} comparisons, {states} states, {networks} networks, {formats} with formats");
    assert!(networks > 100 && formats > 100, "only {networks} networks, {formats} with formats");
}

fn shown(found: &Lts, expected: &Lts) -> String {
    let lines = |lts: &Lts| -> String {
        let line = |(source, step): (trefoil_system::StateId, trefoil_lts::Transition)| {
            let label = match step.label {
                LabelId::TAU => "τ".to_string(),
                label => lts.labels().get(label).to_string(),
            };
            format!("  {} {label} {}\n", source.0, step.target.0)
        };
        format!("initially {}\n{}", lts.initial().0, lts.all_transitions().map(line).collect::<String>())
    };
    format!("found\n{}expected\n{}", lines(found), lines(expected))
}

/// Both sides of an equation in one script: the section and what stands outside it.
fn equal(outside: &str, left: &str, right: &str) -> Result<(), String> {
    let script = format!("{DECLARATIONS}{outside}\nTimed(takes) {{\nLEFT = {left}\nRIGHT = {right}\n}}\n");
    let mut scene = Scene::new(&script, &["LEFT", "RIGHT"]);
    for options in compilations() {
        let (left, right) = (scene.lts("LEFT", options), scene.lts("RIGHT", options));
        if !same(&left, &right) {
            return Err(format!("{script}{options:?}\n{}", shown(&left, &right)));
        }
    }
    Ok(())
}

/// What the operators of a section are translated to, written with those outside.
#[test]
fn every_operator_is_translated() {
    let outside = "\
        T_STOP = tock -> T_STOP\n\
        T_SKIP = tock -> T_SKIP [] SKIP\n\
        T_WAIT(n) = if n == 0 then T_SKIP else tock -> T_WAIT(n - 1)\n\
        TOCKS(n, P) = if n == 0 then P else tock -> TOCKS(n - 1, P)\n\
        T_PREFIX(e, P) = tock -> T_PREFIX(e, P) [] e -> TOCKS(takes(e), P)\n\
        T_ANY(S, P) = tock -> T_ANY(S, P) [] ([] e : S @ e -> TOCKS(takes(e), P))\n\
        T_CHOICE(P, Q) = P [+ {tock} +] Q\n\
        T_INTERRUPT(P, Q) = P /+ {tock} +\\ Q\n\
        T_INTERLEAVE(P, Q) = P [| {tock} |] Q\n\
        T_PARALLEL(P, A, Q) = P [| union(A, {tock}) |] Q\n\
        T_ALPHABETISED(P, A, B, Q) = P [ union(A, {tock}) || union(B, {tock}) ] Q\n\
        T_BOTH(P, A, Q) = P [+ union(A, {tock}) +] Q\n\
        T_BREAK(P, A, Q) = P /+ union(A, {tock}) +\\ Q\n\
        U_THEN(P, Q) = P ; Q\n\
        U_EITHER(P, Q) = P |~| Q\n\
        U_SLIDE(P, Q) = P [> Q\n\
        U_THROW(P, A, Q) = P [| A |> Q\n\
        U_HIDE(P, A) = P \\ A\n\
        U_PROJECT(P, A) = P |\\ A\n\
        U_RENAME(P) = P [[ a <- b, tock <- tock ]]\n\
        U_CHAOS = CHAOS({a, tock})\n\
        U_RUN = RUN({a, b})\n\
        U_BUFFER = BUFFER(1, {(a, b)})\n\
        channel ch : {0, 1}.{0, 1}\n\
        T_INPUT = tock -> T_INPUT [] ch?x!0 -> tock -> (if x == 0 then T_STOP else T_SKIP)\n\
        CHOOSE(P, Q) = P [] Q\n";
    let (p, q) = ("(a -> b -> SKIP)", "(c -> SKIP [] WAIT(2))");
    let of = |shape: &str| shape.replace("P ", &format!("{p} ")).replace("Q", q);
    let cases = [
        ("STOP".into(), "T_STOP".into()),
        ("SKIP".into(), "T_SKIP".into()),
        ("TSTOP".into(), "T_STOP".into()),
        ("TSKIP".into(), "T_SKIP".into()),
        ("WAIT(0)".into(), "T_SKIP".into()),
        ("WAIT(3)".into(), "T_WAIT(3)".into()),
        ("a -> STOP".into(), "T_PREFIX(a, T_STOP)".into()),
        ("b -> STOP".into(), "T_PREFIX(b, T_STOP)".into()),
        ("c -> SKIP".into(), "T_PREFIX(c, T_SKIP)".into()),
        ("[] x : {a, b, c} @ x -> SKIP".into(), "T_ANY({a, b, c}, T_SKIP)".into()),
        ("ch?x!0 -> if x == 0 then STOP else SKIP".into(), "T_INPUT".into()),
        ("ch?x:{}?y -> SKIP".into(), "T_STOP".into()),
        ("true & a -> STOP".into(), "T_PREFIX(a, T_STOP)".into()),
        ("false & a -> STOP".into(), "T_STOP".into()),
        (of("P [] Q"), format!("T_CHOICE({p}, {q})")),
        (of("(STOP) [] P [] (STOP)"), p.to_string()),
        (of("P /\\ Q"), format!("T_INTERRUPT({p}, {q})")),
        (of("P ||| Q"), format!("T_INTERLEAVE({p}, {q})")),
        (of("P [| {a} |] Q"), format!("T_PARALLEL({p}, {{a}}, {q})")),
        (of("P [ {a} || {b, c} ] Q"), format!("T_ALPHABETISED({p}, {{a}}, {{b, c}}, {q})")),
        (of("P [+ {a} +] Q"), format!("T_BOTH({p}, {{a}}, {q})")),
        (of("P /+ {a} +\\ Q"), format!("T_BREAK({p}, {{a}}, {q})")),
        (of("P ; Q"), format!("U_THEN({p}, {q})")),
        (of("P |~| Q"), format!("U_EITHER({p}, {q})")),
        (of("P [> Q"), format!("U_SLIDE({p}, {q})")),
        (of("P [| {b} |> Q"), format!("U_THROW({p}, {{b}}, {q})")),
        (of("P [| {tock} |> Q"), format!("U_THROW({p}, {{tock}}, {q})")),
        (of("P \\ {a}"), format!("U_HIDE({p}, {{a}})")),
        (of("P |\\ {a}"), format!("U_PROJECT({p}, {{a}})")),
        (of("P [[ a <- b ]]"), format!("U_RENAME({p})")),
        ("CHAOS({a, tock})".into(), "U_CHAOS".into()),
        ("RUN({a, b})".into(), "U_RUN".into()),
        ("BUFFER(1, {(a, b)})".into(), "U_BUFFER".into()),
        ("DIV".into(), "U_HIDE(ULOOP(a), {a})".into()),
        ("[] x : {} @ x -> STOP".into(), "T_STOP".into()),
        ("[+ {a} +] x : {} @ x -> STOP".into(), "T_STOP".into()),
        ("||| x : {} @ x -> STOP".into(), "T_STOP".into()),
        ("[| {a} |] x : {} @ x -> STOP".into(), "T_STOP".into()),
        ("|| x : {} @ [{a}] x -> STOP".into(), "T_STOP".into()),
        ("; x : <> @ x -> SKIP".into(), "T_SKIP".into()),
        ("; x : <a, b> @ x -> SKIP".into(), "U_THEN(T_PREFIX(a, T_SKIP), T_PREFIX(b, T_SKIP))".into()),
        ("||| x : {a, b} @ x -> SKIP".into(), "T_INTERLEAVE(T_PREFIX(a, T_SKIP), T_PREFIX(b, T_SKIP))".into()),
        ("[| {a} |] x : {a, b} @ x -> SKIP".into(), "T_PARALLEL(T_PREFIX(a, T_SKIP), {a}, T_PREFIX(b, T_SKIP))".into()),
        (
            "|| x : {a, b} @ [{x}] x -> SKIP".into(),
            "T_ALPHABETISED(T_PREFIX(a, T_SKIP), {a}, {b}, T_PREFIX(b, T_SKIP))".into(),
        ),
        ("[+ {a} +] x : {a, b} @ x -> SKIP".into(), "T_BOTH(T_PREFIX(a, T_SKIP), {a}, T_PREFIX(b, T_SKIP))".into()),
        ("|~| x : {a, b} @ x -> SKIP".into(), "U_EITHER(T_PREFIX(a, T_SKIP), T_PREFIX(b, T_SKIP))".into()),
    ];
    for (left, right) in &cases {
        equal(outside, left, right).unwrap_or_else(|why| panic!("{left} = {right}\n{why}"));
    }
    // What is no translation is told apart: time does not pass for one side alone, and decides nothing.
    let wrong = [
        (of("P ||| Q"), format!("U_RUN [] {p}")),
        (of("P [] Q"), format!("CHOOSE({p}, {q})")),
        ("STOP".into(), "USTOP".into()),
        ("SKIP".into(), "USKIP".into()),
        ("b -> STOP".into(), "T_PREFIX(a, T_STOP)".into()),
        ("WAIT(2)".into(), "WAIT(3)".into()),
    ];
    for (left, right) in &wrong {
        assert!(equal(outside, left, right).is_err(), "{left} = {right}");
    }
}

/// Laws for random operands, which are named `P`, `Q`, `R`.
#[test]
fn laws_of_timed_processes_hold() {
    const LAWS: &[(&str, &str)] = &[
        ("STOP [] P", "P"),
        ("P [] P", "P [] P [] STOP"),
        ("P [] Q", "Q [] P"),
        ("(P [] Q) [] R", "P [] (Q [] R)"),
        ("P ||| SKIP", "P"),
        ("P ||| Q", "Q ||| P"),
        ("(P ||| Q) ||| R", "P ||| (Q ||| R)"),
        ("P [| {a, b} |] Q", "Q [| {b, a} |] P"),
        ("P [ {a} || {b, c} ] Q", "Q [ {b, c} || {a} ] P"),
        ("P /\\ STOP", "P"),
        ("STOP /\\ P", "P"),
        ("P [| {} |> Q", "P"),
        ("WAIT(1) ||| WAIT(2)", "WAIT(2)"),
        ("WAIT(0)", "SKIP"),
        ("STOP ; P", "STOP"),
        ("STOP ||| STOP", "STOP"),
        ("STOP \\ {a}", "STOP"),
        ("b -> P [] b -> P", "b -> P"),
        ("(b -> P) \\ {d}", "b -> (P \\ {d})"),
        ("(a -> P) [[ a <- d ]]", "(a -> P) [[ a <- d ]] [] STOP"),
        ("true & P", "P"),
        ("false & P", "STOP"),
        ("P |~| Q", "Q |~| P"),
        ("(P |~| Q) ; R", "(P ; R) |~| (Q ; R)"),
        ("(P ; Q) ; R", "P ; (Q ; R)"),
    ];
    let seed = seed();
    let mut random = Random::new(seed ^ 0x71e);
    for round in 0..6 {
        let mut operand = |name: &str| loop {
            let size = 1 + random.below(5);
            let process = random_timed(size, &mut random);
            if process.explore(&Arc::new(Labels::new()), 60).is_some() {
                break (name.to_string(), process.to_string());
            }
        };
        let mut named = vec![operand("P"), operand("Q"), operand("R")];
        for (at, (left, right)) in LAWS.iter().enumerate() {
            named.push((format!("L{at}"), left.to_string()));
            named.push((format!("R{at}"), right.to_string()));
        }
        let names: Vec<&str> = named.iter().map(|(name, _)| name.as_str()).collect();
        let script = section(&named);
        let mut scene = Scene::new(&script, &names);
        let options = compilations()[round % 4];
        for (at, (left, right)) in LAWS.iter().enumerate() {
            let (one, other) = (scene.lts(&format!("L{at}"), options), scene.lts(&format!("R{at}"), options));
            let say = || format!("TREFOIL_SEED={seed}\n{left} = {right}\n{script}{options:?}\n{}", shown(&one, &other));
            assert!(same(&one, &other), "{}", say());
        }
    }
}

fn refines(scene: &mut Scene, specification: &str, model: Model, implementation: &str) -> bool {
    let options = CompileOptions::default();
    let (specification, implementation) = (scene.lts(specification, options), scene.lts(implementation, options));
    let outcome = refine(&specification, &implementation, Options::new(model), &Control::unlimited());
    outcome.unwrap_or_else(|_| panic!("no budget")).holds()
}

/// Infinitely many events that take time cannot happen in no time; events that take none can.
#[test]
fn time_passes_between_events_that_take_time() {
    let script = format!(
        "{DECLARATIONS}Timed(takes) {{\nB = b -> B\nC = c -> C\nA = a -> A\nHIDDEN = A \\ {{a}}\nSLOW = B \\ {{b}}\n}}\n\
         ONE = b -> tock -> ONE [] tock -> ONE\nTWO = c -> tock -> tock -> TWO [] tock -> TWO\n\
         MANY = a -> MANY [] tock -> MANY\nNONE = c -> tock -> NONE [] tock -> NONE\nTOCKS = tock -> TOCKS\n"
    );
    let names = ["A", "B", "C", "HIDDEN", "SLOW", "ONE", "TWO", "MANY", "NONE", "TOCKS"];
    let mut scene = Scene::new(&script, &names);
    for (specification, implementation) in [("ONE", "B"), ("TWO", "C"), ("MANY", "A")] {
        assert!(refines(&mut scene, specification, Model::FailuresDivergences, implementation));
        assert!(refines(&mut scene, implementation, Model::FailuresDivergences, specification));
    }
    assert!(refines(&mut scene, "NONE", Model::Traces, "C"), "one unit less is needed than passes");
    assert!(!refines(&mut scene, "C", Model::Traces, "NONE"));
    assert!(refines(&mut scene, "TOCKS", Model::FailuresDivergences, "SLOW"));
    assert!(!refines(&mut scene, "TOCKS", Model::FailuresDivergences, "HIDDEN"), "infinitely many events in no time");
    assert!(refines(&mut scene, "TOCKS", Model::Traces, "HIDDEN"));
}

/// What is ready to terminate waits for the others and does not stop their time.
#[test]
fn termination_waits_for_the_others() {
    let script = format!(
        "{DECLARATIONS}Timed(takes) {{\nP = (SKIP ||| (a -> SKIP)) ; b -> STOP\nQ = (a -> SKIP) ; b -> STOP\n\
         READY = (SKIP [] c -> STOP) ||| (a -> SKIP)\nBOTH = SKIP /\\ (c -> STOP) ||| (a -> SKIP)\n}}\n\
         LATE = tock -> LATE [] a -> STOP\nTOCKS = tock -> TOCKS\nOPEN = SKIP [] tock -> OPEN\n"
    );
    let mut scene = Scene::new(&script, &["P", "Q", "READY", "BOTH", "LATE", "TOCKS", "OPEN"]);
    for (left, right) in [("P", "Q"), ("Q", "P")] {
        assert!(refines(&mut scene, left, Model::FailuresDivergences, right));
    }
    for name in ["READY", "BOTH"] {
        let lts = scene.lts(name, CompileOptions::default());
        let tock = lts.all_transitions().find(|(_, step)| lts.labels().get(step.label).to_string() == "tock");
        let tock = tock.map(|(_, step)| step.label).expect("time passes");
        assert!(lts.outgoing(lts.initial()).iter().any(|step| step.label == tock), "{name}");
        assert!(lts.outgoing(lts.initial()).iter().all(|step| step.label > LabelId::TICK), "{name} is stable");
    }
    // Nothing is outside the process that is checked: termination just happens there, even if a process could wait.
    let lts = scene.lts("OPEN", CompileOptions::default());
    assert!(lts.outgoing(lts.initial()).iter().any(|step| step.label == LabelId::TAU));
}

/// Laws that need internal steps to come before time passes; each side is a process below `timed_priority`.
#[test]
fn laws_of_maximal_progress_hold() {
    const LAWS: &[(&str, &str)] = &[
        ("WAIT(1) ; WAIT(2)", "WAIT(3)"),
        ("WAIT(2) ; P", "WAIT(1) ; (WAIT(1) ; P)"),
        ("SKIP ; P", "P"),
        ("P [> STOP", "STOP |~| (P [> STOP)"),
        ("(b -> STOP) \\ {b}", "WAIT(1) ; STOP"),
        ("(c -> STOP) \\ {c}", "WAIT(2) ; STOP"),
        ("(a -> P) \\ {a}", "P \\ {a}"),
        ("SKIP [] WAIT(1) ; STOP", "USKIP"),
        ("(WAIT(1) ; a -> STOP) [] (WAIT(2) ; USTOP)", "WAIT(1) ; (a -> STOP [] WAIT(1) ; USTOP)"),
        ("timed_priority(P)", "P"),
        ("(WAIT(1) ||| WAIT(2)) ; P", "WAIT(2) ; P"),
    ];
    let seed = seed();
    let mut random = Random::new(seed ^ 0x9107);
    for round in 0..6 {
        let operand = loop {
            let size = 1 + random.below(5);
            let process = random_timed(size, &mut random);
            if process.explore(&Arc::new(Labels::new()), 60).is_some() {
                break process.to_string();
            }
        };
        let mut named = vec![("P".to_string(), operand)];
        for (at, (left, right)) in LAWS.iter().enumerate() {
            named.push((format!("L{at}"), format!("timed_priority({left})")));
            named.push((format!("R{at}"), format!("timed_priority({right})")));
        }
        let names: Vec<&str> = named.iter().map(|(name, _)| name.as_str()).collect();
        let script = section(&named);
        let mut scene = Scene::new(&script, &names);
        for (at, (left, right)) in LAWS.iter().enumerate() {
            let options = compilations()[round % 4];
            let (one, other) = (scene.lts(&format!("L{at}"), options), scene.lts(&format!("R{at}"), options));
            for (specification, implementation) in [(&one, &other), (&other, &one)] {
                let outcome = refine(
                    specification,
                    implementation,
                    Options::new(Model::FailuresDivergences),
                    &Control::unlimited(),
                );
                let holds = outcome.unwrap_or_else(|_| panic!("no budget")).holds();
                let say = || format!("TREFOIL_SEED={seed}\n{left} = {right}\n{script}\n{}", shown(&one, &other));
                assert!(holds, "{}", say());
            }
        }
    }
}

/// Without priority the internal step of `;` may be late.
#[test]
fn waits_add_up_only_with_priority() {
    let script = format!(
        "{DECLARATIONS}Timed(takes) {{\nTHREE = WAIT(3)\nSUM = WAIT(1) ; WAIT(2)\nPROMPT = timed_priority(SUM)\n}}\n\
         external prioritise\nSAME = prioritise(SUM, <{{}}, {{tock}}>)\n"
    );
    let mut scene = Scene::new(&script, &["THREE", "SUM", "PROMPT", "SAME"]);
    let three = scene.lts("THREE", CompileOptions::default());
    let outcome = |scene: &mut Scene, name: &str| {
        let lts = scene.lts(name, CompileOptions::default());
        refine(&three, &lts, Options::new(Model::Failures), &Control::unlimited())
            .unwrap_or_else(|_| panic!("no budget"))
            .holds()
    };
    assert!(!outcome(&mut scene, "SUM"));
    assert!(outcome(&mut scene, "PROMPT"));
    assert!(outcome(&mut scene, "SAME"));
}

/// Assertions in a section are about timed processes, and those behind it are not.
#[test]
fn assertions_stand_in_sections() {
    use trefoil_session::check::{Asked, Script};
    use trefoil_session::{Job, Verdict};
    let text = "channel a, b, tock\nP = a -> STOP\nassert STOP :[deadlock free [F]]\n\
                Timed {\n Q = a -> Q\n assert STOP :[deadlock free [F]]\n assert (a -> SKIP) ||| Q :[has trace]: <a, tock, tock, a>\n\
                assert (a -> SKIP) ||| Q :[has trace]: <tock, a, a>\n assert (a -> SKIP) ||| Q :[has trace]: <a, a, tock, a>\n\
                Timed(\\ _ @ 2) { assert a -> STOP :[has trace]: <a, tock, tock>\n assert (a -> b -> STOP) :[has trace]: <a, tock, b>\n }\n\
                assert timed_priority((b -> STOP) \\ {b}) :[has trace]: <tock>\n assert P :[deadlock free [F]]\n\
                assert WAIT(2) [F= WAIT(1) ; WAIT(1)\n assert WAIT(2) [F= WAIT(1) ; WAIT(1) :[tau priority over]: {tock}\n}\n\
                assert Q :[deadlock free [F]]\nassert STOP :[deadlock free [F]]\n";
    let file = std::env::temp_dir().join(format!("trefoil-{}-timed.csp", std::process::id()));
    std::fs::write(&file, text).expect("a file");
    let job = Job::new(Control::unlimited(), 1);
    let mut script = Script::open(&file, None, &job).unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    let _ = std::fs::remove_file(file);
    let count = script.assertions().count();
    let verdicts: Vec<Verdict> = (1..=count).map(|at| script.run(at, &Asked::default(), &job).verdict).collect();
    use Verdict::{Fails, Holds};
    let expected = [Fails, Holds, Holds, Holds, Holds, Holds, Fails, Holds, Fails, Fails, Holds, Holds, Fails];
    assert_eq!(verdicts, expected);
}

/// Sections that are nested, without a function, in modules and in `let`, and processes named across their borders.
#[test]
fn sections_stand_where_definitions_do() {
    let script = "channel a, b, tock\n\
        two(_) = 2\n\
        OUTSIDE = a -> b -> OUTSIDE\n\
        Timed {\n ONE = a -> ONE\n Timed(two) {\n  TWO = a -> TWO\n }\n CALLS = b -> OUTSIDE\n ALSO = a -> ALSO\n}\n\
        module M(n)\n count(_) = n\nexports\n Timed(count) {\n  P = a -> P\n }\nendmodule\n\
        instance M3 = M(3)\n\
        PARAMETER(n) = let f(_) = n\n  m = n\n  Timed(\\ x @ f(x) + m - n) { P = a -> Q }\n  Timed(f) { Q = a -> P } within P\n\
        LOCAL = let Timed(\\ _ @ 4) { P = a -> P } within P\n\
        MIXED = ONE ||| ONE\n\
        module TIMED\n channel tock\nexports\n channel go\n Timed { P = go -> STOP }\nendmodule\n\
        S_ONE = a -> tock -> S_ONE [] tock -> S_ONE\n\
        S_TWO = a -> tock -> tock -> S_TWO [] tock -> S_TWO\n\
        S_THREE = a -> tock -> tock -> tock -> S_THREE [] tock -> S_THREE\n\
        S_FOUR = a -> tock -> tock -> tock -> tock -> S_FOUR [] tock -> S_FOUR\n\
        S_CALLS = b -> tock -> OUTSIDE [] tock -> S_CALLS\n\
        S_MIXED = S_ONE ||| S_ONE\n";
    let names = ["ONE", "TWO", "CALLS", "ALSO", "M3::P", "LOCAL", "PARAMETER(3)", "MIXED", "TIMED::P"];
    let others = ["S_ONE", "S_TWO", "S_THREE", "S_FOUR", "S_CALLS", "S_MIXED"];
    let all: Vec<&str> = names.iter().chain(&others).copied().collect();
    let mut scene = Scene::new(script, &all);
    let pairs = [
        ("ONE", "S_ONE"),
        ("TWO", "S_TWO"),
        ("ALSO", "S_ONE"),
        ("M3::P", "S_THREE"),
        ("LOCAL", "S_FOUR"),
        ("PARAMETER(3)", "S_THREE"),
        ("CALLS", "S_CALLS"),
        ("MIXED", "S_MIXED"),
    ];
    for (left, right) in pairs {
        let (one, other) = (scene.lts(left, CompileOptions::default()), scene.lts(right, CompileOptions::default()));
        assert!(same(&one, &other), "{left}\n{}", shown(&one, &other));
    }
    // The module has a `tock` of its own.
    let lts = scene.lts("TIMED::P", CompileOptions::default());
    let labels: Vec<String> = lts.all_transitions().map(|(_, step)| lts.labels().get(step.label).to_string()).collect();
    assert!(
        labels.iter().any(|label| label == "TIMED::tock") && labels.iter().all(|label| label != "tock"),
        "{labels:?}"
    );
}

#[test]
fn mistakes_in_sections_are_told() {
    let compile = |script: &str| -> String {
        match Scene::try_new(script, &["P"]) {
            Err(errors) => errors.join("\n"),
            Ok(mut scene) => match scene.try_lts("P", CompileOptions::default()) {
                Ok(_) => "nothing".to_string(),
                Err(failure) => {
                    let diagnostic = failure.diagnostic().expect("a mistake");
                    format!("{} {}", diagnostic.code, diagnostic.message)
                }
            },
        }
    };
    let cases = [
        ("channel a\nTimed { P = a -> STOP }", "C053"),
        ("channel tock : {0, 1}\nTimed { P = STOP }", "tock"),
        ("channel a\nf(tock) = let Timed { Q = a -> STOP } within Q\nP = f(a)", "C053"),
        ("channel a, tock\nf(_) = -1\nTimed(f) { P = a -> STOP }", "E041 a takes -1 units of time"),
        ("channel a, tock\nTimed { P = WAIT(0 - 2) }", "E041 a process that waits -2 units of time"),
        ("channel a, tock\nf(_) = true\nTimed(f) { P = a -> STOP }", "Int"),
        ("channel a, tock\nf(x, y) = 1\nTimed(f) { P = a -> STOP }", "Event"),
        ("channel a, tock\nP = WAIT(1)", "WAIT"),
        ("channel c, d : {0, 1}\nchannel tock\nTimed { P = (c!0 -> STOP) [c <-> d] (d?x -> STOP) }", "E040"),
        ("channel c : {0, 1}\nchannel tock\nTimed { P = c$x -> STOP }", "E040"),
        ("channel c : {0, 1}\nchannel tock\nTimed { P = [c <-> c] i : <0, 1> @ c.0 -> STOP }", "E040"),
        ("channel a, tock\nf(x) = if x == a then error(\"no time\") else 1\nTimed(f) { P = a -> STOP }", "no time"),
        ("channel a, tock\nTimed { P = P [] a -> STOP }", "E030"),
    ];
    for (script, expected) in cases {
        let found = compile(script);
        assert!(found.contains(expected), "{script}\n{found}");
    }
}
