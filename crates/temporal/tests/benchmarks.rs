//! The formulas of the usual benchmark sets: Etessami and Holzmann, *Optimizing Büchi automata*, 2000; Somenzi and
//! Bloem, *Efficient Büchi automata from LTL formulae*, 2000; Dwyer, Avrunin and Corbett, *Patterns in property
//! specifications for finite-state verification*, 1999; and two of the form that fairness assumptions have.

use std::time::{Duration, Instant};

use trefoil_control::Control;
use trefoil_system::{Ltl, LtlId};
use trefoil_temporal::automaton;

/// States of the automaton that `spin -f` of Spin 6.5.2 prints, and the formula; 0 where it refuses `X` and `W` or does
/// not end in 10 seconds.
const FORMULAS: &[(usize, &str)] = &[
    (2, "p U (q && []r)"),
    (0, "p U (q && X(r U s))"),
    (0, "p U (q && X(r && (<>(s && X(<>(t && X(<>(u && X(<>v)))))))))"),
    (0, "<>(p && X([]q))"),
    (0, "<>(p && X(q && X(<>r)))"),
    (0, "<>(q && X(p U r))"),
    (3, "(<>([]q)) || (<>([]p))"),
    (4, "[](p -> (q U r))"),
    (0, "<>(p && X(<>(q && X(<>(r && X(<>s))))))"),
    (0, "([](<>p)) && ([](<>q)) && ([](<>r)) && ([](<>s)) && ([](<>t))"),
    (8, "(p U (q U r)) || (q U (r U p)) || (r U (p U q))"),
    (8, "[](p -> (q U (([]r) || ([]s))))"),
    (2, "p U q"),
    (3, "p U (q U r)"),
    (5, "!(p U (q U r))"),
    (5, "([](<>p)) -> ([](<>q))"),
    (4, "(<>p) U ([]q)"),
    (4, "([]p) U q"),
    (3, "!((<>(<>p)) <-> (<>p))"),
    (3, "!(([](<>p)) -> ([](<>q)))"),
    (9, "!(([](<>p)) <-> ([](<>q)))"),
    (3, "p V (p || q)"),
    (0, "((X p) U (X q)) || !(X(p U q))"),
    (0, "((X p) U q) || !(X(p U (p && q)))"),
    (0, "([](p -> (<>q))) && (((X p) U q) || !(X(p U (p && q))))"),
    (0, "([](p -> (<>q))) && (((X p) U (X q)) || !(X(p U q)))"),
    (4, "[](p -> (<>q))"),
    (0, "!([](p -> X(q V r)))"),
    (3, "!(([](<>p)) || (<>([]q)))"),
    (3, "[]((<>p) && (<>q))"),
    (4, "(<>p) && (<>(!p))"),
    (0, "(X(q && r)) V (X(((s U p) V r) U (s V r)))"),
    (13, "(([](q || ([](<>p)))) && ([](r || ([](<>(!p)))))) || ([]q) || ([]r)"),
    (18, "(([](q || (<>([]p)))) && ([](r || (<>([](!p)))))) || ([]q) || ([]r)"),
    (23, "!((([](q || ([](<>p)))) && ([](r || ([](<>(!p)))))) || ([]q) || ([]r))"),
    (18, "!((([](q || (<>([]p)))) && ([](r || (<>([](!p)))))) || ([]q) || ([]r))"),
    (0, "([](q || (X([]p)))) && ([](r || (X([](!p)))))"),
    (0, "[](q || ((X p) && (X(!p))))"),
    (2, "(p U p) || (q U p)"),
    (2, "[](!p)"),
    (4, "(<>r) -> ((!p) U r)"),
    (4, "[](q -> ([](!p)))"),
    (7, "[]((q && (!r) && (<>r)) -> ((!p) U r))"),
    (2, "<>p"),
    (0, "(!r) W (p && (!r))"),
    (5, "[](!q) || <>(q && (<>p))"),
    (4, "[]((q && (!r)) -> ((!r) U (p && (!r))))"),
    (2, "[]p"),
    (4, "(<>r) -> (p U r)"),
    (4, "[](q -> ([]p))"),
    (7, "[]((q && (!r) && (<>r)) -> (p U r))"),
    (0, "(!p) W s"),
    (4, "(<>r) -> ((!p) U (s || r))"),
    (0, "[](!q) || (<>(q && ((!p) W s)))"),
    (8, "[]((q && (!r) && (<>r)) -> ((!p) U (s || r)))"),
    (4, "[](p -> (<>s))"),
    (6, "(<>r) -> ((p -> ((!r) U (s && (!r)))) U r)"),
    (6, "[](q -> ([](p -> (<>s))))"),
    (23, "[]((q && (!r) && (<>r)) -> ((p -> ((!r) U (s && (!r)))) U r))"),
    (0, "(<>p) -> ((!p) U (s && (!p) && (X((!p) U t))))"),
    (0, "[]((s && (X(<>t))) -> (X(<>(t && (<>p)))))"),
    (0, "[](p -> (<>(s && (X(<>t)))))"),
    (0, "[](p -> (<>(s && (!u) && (X((!u) U t)))))"),
    (14, "!((([](<>p)) && ([](<>q)) && ([](<>s))) -> ([](r -> (<>t))))"),
    (0, "!((([](<>p)) && ([](<>q)) && ([](<>s)) && ([](<>u))) -> ([](r -> (<>t))))"),
];

/// Reads a formula: operators of one precedence, from left to right.
struct Reader<'t> {
    rest: &'t str,
    ltl: Ltl,
}

impl Reader<'_> {
    fn take(&mut self, word: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(word) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn formula(&mut self) -> LtlId {
        let mut left = self.operand();
        loop {
            let operator = ["&&", "||", "<->", "->", "U", "V", "W"].into_iter().find(|word| self.take(word));
            let Some(operator) = operator else { return left };
            let right = self.operand();
            left = match operator {
                "&&" => self.ltl.and(left, right),
                "||" => self.ltl.or(left, right),
                "->" => self.ltl.implies(left, right),
                "<->" => self.ltl.equivalent(left, right),
                "U" => self.ltl.until(left, right),
                "V" => self.ltl.release(left, right),
                _ => self.ltl.weak_until(left, right),
            };
        }
    }

    fn operand(&mut self) -> LtlId {
        if self.take("!") {
            let part = self.operand();
            return self.ltl.not(part);
        }
        if self.take("[]") {
            let part = self.operand();
            return self.ltl.always(part);
        }
        if self.take("<>") {
            let part = self.operand();
            return self.ltl.eventually(part);
        }
        if self.take("X") {
            let part = self.operand();
            return self.ltl.next(part);
        }
        if self.take("(") {
            let part = self.formula();
            assert!(self.take(")"), "{}", self.rest);
            return part;
        }
        let names = ["p", "q", "r", "s", "t", "u", "v"];
        let name = (0..names.len()).find(|&at| self.take(names[at])).expect("a proposition");
        self.ltl.proposition(name as u32)
    }
}

#[test]
fn automata_are_small_and_made_at_once() {
    let (mut own, mut spin) = (0, 0);
    for &(states, text) in FORMULAS {
        let mut reader = Reader { rest: text, ltl: Ltl::default() };
        let formula = reader.formula();
        assert!(reader.rest.trim().is_empty(), "{text}: {}", reader.rest);
        let started = Instant::now();
        let made = automaton(&reader.ltl, formula, false, &Control::unlimited()).expect("an automaton");
        // A tenth of a second in a release build on an idle machine.
        assert!(started.elapsed() < Duration::from_secs(3), "{text} took {:?}", started.elapsed());
        println!("{:>3} {states:>3}  {text}  ({:?})", made.edges.len(), started.elapsed());
        if states > 0 {
            own += made.edges.len();
            spin += states;
        }
    }
    assert!(2 * own <= spin, "{own} states, Spin has {spin}");
}
