//! What the text shows to be interchangeable is: random scripts over a datatype are compiled, and the states of a
//! process must be strongly bisimilar to themselves with two constants of one class exchanged in every event.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_cspm::eval::{Evaluator, Options};
use trefoil_cspm::process::{CompileOptions, Compiler};
use trefoil_cspm::rename::rename;
use trefoil_cspm::symmetry::{Analysis, Points, Spoiler, TypeSymmetry};
use trefoil_cspm::syntax::{MemoryLoader, parse, parse_expression_into};
use trefoil_cspm::types::{Typed, typecheck};
use trefoil_lts::equivalence::{Equivalence, compare};
use trefoil_lts::random::Random;
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_network::compose;
use trefoil_source::{Severity, Sources, render};
use trefoil_system::{LabelId, Labels};

const CONSTANTS: [&str; 4] = ["A", "B", "C", "D"];

/// How many names of processes a script has; each takes a constant and a set of constants.
const PROCESSES: usize = 3;

/// Writes scripts whose types are right.
struct Writer {
    random: Random,
    /// How often, in percent, a constant is named or listed where one is wanted.
    naming: usize,
    constants: Vec<String>,
    sets: Vec<String>,
    fresh: usize,
}

impl Writer {
    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound)
    }

    fn pick(&mut self, from: &[String]) -> Option<String> {
        (!from.is_empty()).then(|| from[self.random.below(from.len())].clone())
    }

    fn fresh(&mut self) -> String {
        self.fresh += 1;
        format!("x{}", self.fresh)
    }

    /// Something written with one more constant in scope.
    fn with_constant(&mut self, name: &str, write: impl FnOnce(&mut Writer) -> String) -> String {
        self.constants.push(name.to_string());
        let written = write(self);
        self.constants.pop();
        written
    }

    fn constant(&mut self, depth: usize) -> String {
        if self.random.chance(self.naming) {
            return match self.below(6) {
                0 => format!("head(seq({}))", self.set(depth.saturating_sub(1))),
                1 => format!("least({})", self.set(depth.saturating_sub(1))),
                2 => format!("favourite({})", self.constant(depth.saturating_sub(1))),
                3 => "hidden".to_string(),
                _ => CONSTANTS[self.below(4)].to_string(),
            };
        }
        let known = self.constants.clone();
        let Some(variable) = self.pick(&known) else { return CONSTANTS[self.below(4)].to_string() };
        if depth == 0 {
            return variable;
        }
        match self.below(7) {
            0 => format!("(if {} then {} else {})", self.truth(depth - 1), self.constant(depth - 1), variable),
            1 => {
                let (name, value) = (self.fresh(), self.constant(depth - 1));
                let body = self.with_constant(&name, |writer| writer.constant(depth - 1));
                format!("(let {name} = {value} within {body})")
            }
            2 => format!("same({})", self.constant(depth - 1)),
            3 => format!("mapLookup((| 1 => {} |), 1)", self.constant(depth - 1)),
            _ => variable,
        }
    }

    fn set(&mut self, depth: usize) -> String {
        let known = self.sets.clone();
        if depth == 0 {
            return match self.below(4) {
                0 => "T".to_string(),
                1 if self.random.chance(self.naming * 2) => "Low".to_string(),
                _ => self.pick(&known).unwrap_or_else(|| "T".to_string()),
            };
        }
        match self.below(9) {
            0 => format!("union({}, {})", self.set(depth - 1), self.set(depth - 1)),
            1 => format!("diff({}, {{{}}})", self.set(depth - 1), self.constant(depth - 1)),
            2 => format!("inter({}, {})", self.set(depth - 1), self.set(depth - 1)),
            3 => format!("{{{}}}", self.constant(depth - 1)),
            4 => {
                let (name, from) = (self.fresh(), self.set(depth - 1));
                let test = self.with_constant(&name, |writer| writer.truth(depth - 1));
                format!("{{{name} | {name} <- {from}, {test}}}")
            }
            5 => format!("Union({{{}, {}}})", self.set(depth - 1), self.set(depth - 1)),
            6 => format!("{{x | Box.x <- {{Box.y | y <- {}}}}}", self.set(depth - 1)),
            _ => self.set(0),
        }
    }

    fn truth(&mut self, depth: usize) -> String {
        let below = depth.saturating_sub(1);
        match self.below(8) {
            0 => format!("{} == {}", self.constant(below), self.constant(below)),
            1 => format!("member({}, {})", self.constant(below), self.set(below)),
            2 => format!("empty({})", self.set(below)),
            3 => format!("{} <= {}", self.set(below), self.set(below)),
            4 => format!("card({}) < {}", self.set(below), 1 + self.below(4)),
            5 if depth > 0 => format!("not ({})", self.truth(below)),
            6 if self.random.chance(self.naming) => format!("special({})", self.constant(below)),
            7 if self.random.chance(20) => format!("length(seq({{1..{}}})) == 2", 1 + self.below(3)),
            _ => format!("{} != {}", self.constant(below), self.constant(below)),
        }
    }

    fn process(&mut self, depth: usize) -> String {
        if depth == 0 {
            let at = self.below(PROCESSES + 1);
            return if at == PROCESSES {
                "STOP".to_string()
            } else {
                format!("P{at}({}, {})", self.constant(1), self.set(1))
            };
        }
        match self.below(12) {
            0 => format!("c!{} -> {}", self.constant(2), self.process(depth - 1)),
            1 | 2 => {
                let (name, from) = (self.fresh(), self.set(2));
                let then = self.with_constant(&name, |writer| writer.process(depth - 1));
                format!("c?{name}:{from} -> {then}")
            }
            3 => {
                let (name, value) = (self.fresh(), self.constant(1));
                let then = self.with_constant(&name, |writer| writer.process(depth - 1));
                format!("d!{value}?{name} -> {then}")
            }
            4 => format!("s!{} -> {}", self.set(2), self.process(depth - 1)),
            5 => format!("b!{} -> {}", self.constant(2), self.process(depth - 1)),
            6 => {
                let name = self.fresh();
                let from = self.set(1);
                let then = self.with_constant(&name, |writer| writer.process(depth - 1));
                format!("([] {name} : {from} @ c!{name} -> {then})")
            }
            7 => {
                let name = self.fresh();
                let then = self.with_constant(&name, |writer| writer.process(depth - 1));
                format!("(|~| {name} : T @ c!{name} -> {then})")
            }
            8 => format!("(c?_ -> {} [] q -> {})", self.process(depth - 1), self.process(depth - 1)),
            9 => format!("(q -> {} |~| c?_ -> {})", self.process(depth - 1), self.process(depth - 1)),
            10 => format!(
                "(if {} then q -> {} else c?_ -> {})",
                self.truth(2),
                self.process(depth - 1),
                self.process(depth - 1)
            ),
            _ => {
                let (name, value) = (self.fresh(), self.constant(2));
                let then = self.with_constant(&name, |writer| writer.process(depth - 1));
                format!("(let {name} = {value} within c!{name} -> {then})")
            }
        }
    }

    /// A process from constants and sets that are not chosen yet.
    fn start(&mut self) -> String {
        let at = self.below(PROCESSES);
        match self.below(3) {
            0 => format!("([] x : T @ d!x.x -> P{at}(x, {{x}}))"),
            1 => format!("(|~| x : T @ P{at}(x, T))"),
            _ => format!("P{at}({}, {})", self.constant(0), self.set(1)),
        }
    }

    fn system(&mut self) -> String {
        let (left, right) = (self.start(), self.start());
        let both = match self.below(4) {
            0 => left,
            1 => format!("({left} ||| {right})"),
            2 => format!("({left} [| {{| c |}} |] {right})"),
            _ => format!("({left} [| {{| c, d |}} |] {right})"),
        };
        match self.below(7) {
            0 => format!("{both} \\ {{| d |}}"),
            1 => format!("{both}[[b <- c]]"),
            2 => format!("{both}[[c.x <- d.x.x | x <- {}]]", self.set(1)),
            3 if self.random.chance(self.naming) => {
                format!("{both}[[c.{} <- q]]", CONSTANTS[self.random.below(4)])
            }
            4 if self.random.chance(self.naming) => {
                format!("{both} \\ {{c.{}}}", CONSTANTS[self.random.below(4)])
            }
            _ => both,
        }
    }

    fn script(&mut self) -> String {
        let mut script = String::from(
            "datatype T = A | B | C | D\nsubtype Low = A | B\ndatatype Boxes = Box.T\n\
             channel c, b : T\nchannel d : T.T\nchannel s : Set(T)\nchannel q\n\
             same(x) = x\nleast(set) = head(seq(set))\nhidden = let x = C within same(x)\n\
             favourite(A) = B\nfavourite(x) = x\nspecial(D) = true\nspecial(_) = false\n",
        );
        for at in 0..PROCESSES {
            self.constants = vec!["p".to_string()];
            self.sets = vec!["S".to_string()];
            // Guarded, so that everything has an end.
            let body = self.process(2);
            script += &format!("P{at}(p, S) = q -> {body}\n");
        }
        self.constants.clear();
        self.sets.clear();
        let system = self.system();
        script + &format!("System = {system}\n")
    }
}

fn typed(script: &str) -> Typed {
    let mut sources = Sources::default();
    let parsed = parse("test.csp", &MemoryLoader::one("test.csp", script), &mut sources);
    let (mut tree, mut diagnostics) = (parsed.tree, parsed.diagnostics);
    let file = sources.add("expression", "System".to_string());
    let (query, found) = parse_expression_into(&mut tree, file, &sources);
    diagnostics.extend(found);
    let (renamed, found) = rename(tree, &[query]);
    diagnostics.extend(found);
    let (typed, found) = typecheck(renamed);
    diagnostics.extend(found);
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let errors: Vec<String> = errors.map(|diagnostic| render(diagnostic, &sources, false)).collect();
    assert!(errors.is_empty(), "{script}\n{}", errors.join("\n"));
    typed
}

/// The process with its compiler; none when it cannot be evaluated or is large.
fn compiled(typed: &Typed, options: CompileOptions) -> Option<(Compiler, Lts)> {
    let evaluator = Evaluator::new(typed, Control::unlimited(), Options::default());
    let mut compiler = Compiler::new(evaluator, Arc::new(Labels::new()), Control::unlimited(), options);
    let value = compiler.evaluator().query(0).and_then(|value| compiler.evaluator().process(value)).ok()?;
    let machine = compiler.compile(&value).ok()?;
    let lts = compose(&machine.network, 1, &Control::unlimited()).ok()?.lts;
    // Large ones teach nothing that small ones do not.
    (lts.state_count() < 1_000).then_some((compiler, lts))
}

/// Whether exchanging two constants gives the same process.
fn exchangeable(compiler: &mut Compiler, lts: &Lts, of: &TypeSymmetry, pair: (usize, usize)) -> bool {
    let names = [pair.0, pair.1].map(|at| of.constants[at].name.clone()).to_vec();
    let points = Points::new(compiler.evaluator(), &[(of.name.clone(), names)]).expect("the constants are there");
    let all: Vec<LabelId> = (0..compiler.labels().len() as u32).map(LabelId).collect();
    let map = compiler.label_map(&mut points.permutation(&[1, 0]), &all).expect("no budget");
    let Ok(map) = map else { return false };
    let mut image = LtsBuilder::new(lts.labels().clone());
    image.at_least(lts.state_count() as u32);
    for (source, step) in lts.all_transitions() {
        image.add(source, map[step.label.index()], step.target);
    }
    let image = image.build(lts.initial());
    compare(lts, &image, Equivalence::Strong, &Control::unlimited()).expect("no budget").equivalent
}

#[test]
fn interchangeable_constants_can_be_exchanged() {
    let (mut compared, mut told_apart, mut whole, mut failed) = (0, 0, 0, 0);
    let options = [
        CompileOptions::default(),
        CompileOptions { compress_leaves: false, expand: true, ..CompileOptions::default() },
        CompileOptions { leaf_states: 0, ..CompileOptions::default() },
    ];
    for seed in 0..600 {
        let naming = [0, 4, 15][seed as usize % 3];
        let random = Random::new(seed);
        let mut writer = Writer { random, naming, constants: Vec::new(), sets: Vec::new(), fresh: 0 };
        let script = writer.script();
        let typed = typed(&script);
        let Some((mut compiler, lts)) = compiled(&typed, options[seed as usize / 3 % 3]) else {
            failed += 1;
            continue;
        };
        let types = Analysis::new(&typed).of(typed.renamed().queries());
        let Some(of) = types.iter().find(|of| of.name == "T") else { continue };
        for class in &of.classes {
            for pair in class.windows(2) {
                compared += 1;
                let same = exchangeable(&mut compiler, &lts, of, (pair[0], pair[1]));
                assert!(same, "seed {seed}: {pair:?} of {:?}\n{script}", of.classes);
            }
        }
        whole += usize::from(of.classes.first().is_some_and(|class| class.len() == 4));
        // Constants that the analysis distinguishes often differ indeed; otherwise this test could not fail.
        for found in &of.breaks {
            if let (Spoiler::Named | Spoiler::Matched, Some(at)) = (&found.spoiler, found.constant) {
                let other = (at + 1) % of.constants.len();
                told_apart += usize::from(!exchangeable(&mut compiler, &lts, of, (at, other)));
            }
        }
    }
    assert!(failed < 300, "{failed} scripts could not be compiled or are large");
    assert!(compared > 400 && whole > 80, "{compared} pairs were compared, {whole} scripts were symmetric as a whole");
    assert!(told_apart > 100, "only {told_apart} exchanges changed something");
}
