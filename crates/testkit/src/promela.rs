//! Random Promela programs, small enough for a quick search, with every construct that changes which states are kept.
//!
//! All values stay below four, loops count or may be left, and there are few processes, so that the programs have few
//! states. The generator does not know what a program means: Spin and Trefoil both search it, and the numbers of states
//! must agree.

use crate::Random;

/// A random program as text.
pub fn random_program(random: &mut Random) -> String {
    let mut writer = Writer { random, text: String::new(), labels: 0, depth: 0, runs: false };
    writer.program();
    writer.text
}

/// A random program whose processes mostly keep to themselves: channels and numbers are handed to them as parameters,
/// each reads one channel of its own and writes another's, and few statements touch what all share.
pub fn random_messages(random: &mut Random) -> String {
    let processes = 2 + random.below(2);
    let capacities: Vec<usize> = (0..processes).map(|_| [0, 1, 1, 2][random.below(4)]).collect();
    let mut text = "byte g; bit flag[3];\n".to_string();
    for (number, capacity) in capacities.iter().enumerate() {
        text.push_str(&format!("chan q{number} = [{capacity}] of {{ byte }};\n"));
    }
    text.push_str("proctype P(chan in, out; byte me) {\n byte x, y;\n");
    let statements = |random: &mut Random| {
        const OWN: &[&str] = &["x = 1 - x", "y = x", "x != 1", "x = 0", "skip", "flag[me] = 1 - flag[me]"];
        const MESSAGES: &[&str] = &["in?x", "out!x", "in?y; out!y", "out!me % 2", "in?1", "nempty(in)", "in?eval(x)"];
        const SHARED: &[&str] = &[
            "g = (g + 1) % 3",
            "flag[(me + 1) % 3] == 0",
            "g == x",
            "assert(g < 2)",
            "y = flag[x]",
            "in??y",
            "out!!x",
        ];
        let list = [OWN, OWN, MESSAGES, MESSAGES, SHARED][random.below(5)];
        list[random.below(list.len())].to_string()
    };
    let kinds = 1 + random.below(2);
    let body = |random: &mut Random| {
        let mut text = String::new();
        for _ in 0..1 + random.below(3) {
            let [one, two] = [statements(random), statements(random)];
            text.push_str(&match random.below(7) {
                0 => format!(" if :: {one} :: {two} fi;\n"),
                1 => format!(" if :: {one} -> {two} :: else -> x = (x + 1) % 2 fi;\n"),
                2 => format!(" atomic {{ {one}; {two} }};\n"),
                3 => format!(" do :: y < 1 -> y++; {one} :: {two} -> break od;\n"),
                4 => format!(" {one}; timeout -> {two};\n"),
                _ => format!(" {one}; {two};\n"),
            });
        }
        text
    };
    text.push_str(&body(random));
    text.push_str(if random.below(3) == 0 { "end: goto end2; end2: in?x; goto end2\n}\n" } else { " skip\n}\n" });
    if kinds > 1 {
        text.push_str("proctype Q(chan in, out; byte me) {\n byte x, y;\n");
        text.push_str(&body(random));
        text.push_str(" skip\n}\n");
    }
    text.push_str("init { atomic {");
    for number in 0..processes {
        let kind = if kinds > 1 && random.below(2) == 0 { "Q" } else { "P" };
        // Mostly a ring, sometimes two read one channel.
        let out = if random.below(4) == 0 { random.below(processes) } else { (number + 1) % processes };
        text.push_str(&format!(" run {kind}(q{number}, q{out}, {number});"));
    }
    let end = ["", " g = 1", " skip; run P(q0, q1, 0)"][random.below(3)];
    text.push_str(&format!(" }};{} }}\n", if end.is_empty() { " skip" } else { end }));
    text
}

struct Writer<'r> {
    random: &'r mut Random,
    text: String,
    labels: usize,
    depth: u32,
    /// Does `init` start processes of the type `R`?
    runs: bool,
}

impl Writer<'_> {
    fn pick<'t>(&mut self, choices: &[&'t str]) -> &'t str {
        choices[self.random.below(choices.len())]
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.random.below(one_in) == 0
    }

    fn program(&mut self) {
        self.text.push_str("mtype = { red, blue };\nbyte g, h = 1;\nbit b;\nbyte a[2];\n");
        let capacity = self.random.below(3);
        self.text.push_str(&format!("chan c = [{capacity}] of {{ byte }};\n"));
        let capacity = self.random.below(2);
        self.text.push_str(&format!("chan d = [{capacity}] of {{ byte, mtype }};\n"));
        self.text.push_str("inline bump(v) { v = (v + 1) % 3; if :: v == 2 -> b = 1 - b :: else fi }\n");
        self.runs = self.chance(2);
        let count = 1 + self.random.below(2);
        for number in 0..count {
            let copies = 1 + self.random.below(2);
            self.text.push_str(&format!("active [{copies}] proctype P{number}() "));
            self.body();
        }
        if self.runs {
            self.text.push_str("proctype R(byte p) ");
            self.body();
            let start = self.pick(&["run R(1)", "atomic { run R(0); run R(2) }", "run R(1); (_nr_pr < 3); run R(0)"]);
            self.text.push_str(&format!("init {{ {start} }}\n"));
        }
    }

    fn body(&mut self) {
        self.text.push_str("{\n byte x, y; mtype m;\n");
        self.labels = 0;
        let length = 2 + self.random.below(3);
        for _ in 0..length {
            self.text.push(' ');
            self.statement();
            self.text.push_str(";\n");
        }
        if self.labels > 0 && self.chance(2) {
            let label = self.random.below(self.labels);
            self.text.push_str(&format!(" x < 2 -> x++; goto L{label}\n"));
        } else {
            self.text.push_str(" skip\n");
        }
        self.text.push_str("}\n");
    }

    fn sequence(&mut self) {
        let length = 1 + self.random.below(2);
        for index in 0..length {
            if index > 0 {
                self.text.push_str("; ");
            }
            self.statement();
        }
    }

    fn basic(&mut self) {
        let text = self.pick(&[
            "g = (g + 1) % 3",
            "h = (h + x) % 3",
            "x = (x + 1) % 3",
            "y = g",
            "b = 1 - b",
            "a[b] = (a[b] + 1) % 2",
            "a[x % 2] = b",
            "g == h",
            "x != 1",
            "a[0] == b || g > 0",
            "(b -> g == 0 : h > 0)",
            "c!x",
            "c!g",
            "c?x",
            "c?eval(g)",
            "c?1",
            "d!y, red",
            "d!1(blue)",
            "d?x, m",
            "d?_, red",
            "d?y, eval(m)",
            "c?<y>",
            "c??y",
            "c!!h",
            "nempty(c)",
            "len(c) < 2",
            "c?[1]",
            "timeout",
            "skip",
            "printf(\"x\\n\")",
            "assert(g < 2 || b)",
            "m = (b -> red : blue)",
            "_nr_pr > 1",
            "bump(g)",
        ]);
        self.text.push_str(text);
    }

    /// Statements that can always be executed, for d_steps.
    fn plain(&mut self) {
        let text = self.pick(&["g = (g + 1) % 3", "x = (x + 1) % 3", "b = 1 - b", "a[b] = x % 2", "h = g", "y = 0"]);
        self.text.push_str(text);
    }

    fn option(&mut self, otherwise: bool) {
        self.text.push_str(" :: ");
        if otherwise {
            self.text.push_str("else -> ");
        }
        self.sequence();
    }

    fn statement(&mut self) {
        self.depth += 1;
        let kind = if self.depth > 3 { 0 } else { self.random.below(14) };
        match kind {
            0..=4 => self.basic(),
            5 | 6 => {
                self.text.push_str("if");
                let count = 1 + self.random.below(2);
                for _ in 0..count {
                    self.option(false);
                }
                if self.chance(2) {
                    self.option(true);
                }
                self.text.push_str(" fi");
            }
            7 | 8 => {
                self.text.push_str("do :: x < 2 -> x++; ");
                self.sequence();
                if self.chance(2) {
                    self.option(false);
                }
                let exit = self.pick(&[" :: break", " :: else -> break", " :: g == 1 -> break"]);
                self.text.push_str(exit);
                self.text.push_str(" od");
            }
            9 | 10 => {
                self.text.push_str("atomic { ");
                self.sequence();
                self.text.push_str(" }");
            }
            11 => {
                let guard = self.pick(&["", "g == 1 -> ", "c?x; ", "x < 2; "]);
                self.text.push_str(&format!("d_step {{ {guard}"));
                self.plain();
                self.text.push_str("; if :: x == 1 -> y = 1 :: b -> y = 2 :: else fi; ");
                self.plain();
                self.text.push_str(" }");
            }
            12 => {
                self.text.push_str("{ ");
                self.sequence();
                let guard = self.pick(&["g == 2", "b", "c?[2]", "c?x"]);
                self.text.push_str(&format!(" }} unless {{ {guard} -> "));
                self.basic();
                self.text.push_str(" }");
            }
            _ => {
                let before = self.pick(&["", "end", ""]);
                let number = self.labels;
                if self.depth == 1 {
                    // Only labels of the outermost sequence are jumped to.
                    self.labels += 1;
                    let label =
                        if before.is_empty() { format!("L{number}") } else { format!("L{number}: end{number}") };
                    self.text.push_str(&format!("{label}: "));
                }
                self.basic();
            }
        }
        self.depth -= 1;
    }
}
