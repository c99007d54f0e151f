//! mCRL2's binary files, written here bit by bit: what they mean, and that damage is refused.

use std::collections::HashMap;
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::format::{CODES, Format, Input, ReadError, ReadOptions, WriteError, read_lts, write_lts};
use trefoil_lts::random::Random;
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_source::{Diagnostic, Place};
use trefoil_system::{Label, LabelId, Labels, Part, StateId, Writing};

/// A term, before it is written.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Term {
    Node(String, Vec<Term>),
    Integer(u64),
}

fn node(name: &str, arguments: impl Into<Vec<Term>>) -> Term {
    Term::Node(name.to_string(), arguments.into())
}

fn list(elements: impl IntoIterator<Item = Term, IntoIter: DoubleEndedIterator>) -> Term {
    let cons = |rest, element| node("<list_constructor>", [element, rest]);
    elements.into_iter().rev().fold(node("<empty_list>", []), cons)
}

fn sort(name: &str) -> Term {
    node("SortId", [node(name, [])])
}

fn symbol(name: &str) -> Term {
    node("OpIdNoIndex", [node(name, []), sort("S")])
}

fn call(name: &str, arguments: impl IntoIterator<Item = Term>) -> Term {
    node("DataAppl", std::iter::once(symbol(name)).chain(arguments).collect::<Vec<_>>())
}

fn natural(value: u64) -> Term {
    call("@most_significant_digitNat", [Term::Integer(value)])
}

fn action(name: &str, arguments: impl IntoIterator<Item = Term, IntoIter: DoubleEndedIterator>) -> Term {
    node("Action", [node("ActId", [node(name, []), list([])]), list(arguments)])
}

fn multi_action(actions: impl IntoIterator<Item = Term, IntoIter: DoubleEndedIterator>) -> Term {
    let time = node("DataVarId", [node("@undefined_real", []), sort("Real")]);
    node("TimedMultAct", [list(actions), time])
}

/// The stream, as the format describes it.
struct Stream {
    bits: Vec<bool>,
    symbols: HashMap<(String, usize), usize>,
    terms: HashMap<Term, usize>,
}

impl Stream {
    fn new(version: u64) -> Stream {
        let mut stream = Stream { bits: Vec::new(), symbols: HashMap::new(), terms: HashMap::new() };
        stream.bits(0, 8);
        stream.bits(0x8baf, 16);
        stream.bits(version, 16);
        stream
    }

    /// The start of a transition system with one sort and no actions.
    fn system() -> Stream {
        let mut stream = Stream::new(0x8308);
        stream.output(&node("labelled_transition_system", []));
        stream.number(1);
        stream.output(&sort("D"));
        (0..4).for_each(|_| stream.number(0));
        stream.output(&list([]));
        stream.output(&list([]));
        stream
    }

    fn bits(&mut self, value: u64, count: u32) {
        self.bits.extend((0..count).rev().map(|bit| value >> bit & 1 == 1));
    }

    fn integer(&mut self, mut value: u64) {
        while value > 127 {
            self.bits(value & 127 | 128, 8);
            value >>= 7;
        }
        self.bits(value, 8);
    }

    fn symbol(&mut self, name: &str, arity: usize) -> u64 {
        let next = self.symbols.len() + 1;
        if let Some(&known) = self.symbols.get(&(name.to_string(), arity)) {
            return known as u64;
        }
        self.bits(0, 2);
        self.integer(name.len() as u64);
        name.bytes().for_each(|byte| self.bits(u64::from(byte), 8));
        self.integer(arity as u64);
        self.symbols.insert((name.to_string(), arity), next);
        next as u64
    }

    fn write(&mut self, term: &Term, kind: u64) {
        let (name, arguments): (&str, &[Term]) = match term {
            Term::Node(name, arguments) => (name, arguments),
            Term::Integer(_) => ("<aterm_int>", &[]),
        };
        arguments.iter().for_each(|argument| self.share(argument));
        let arity = if matches!(term, Term::Integer(_)) { 1 } else { arguments.len() };
        let symbol = self.symbol(name, arity);
        self.bits(kind, 2);
        self.bits(symbol, (self.symbols.len() + 1).ilog2() + 1);
        match term {
            Term::Integer(value) => self.integer(*value),
            Term::Node(..) => {
                for argument in arguments {
                    self.bits(self.terms[argument] as u64, self.terms.len().ilog2() + 1);
                }
            }
        }
    }

    fn share(&mut self, term: &Term) {
        if !self.terms.contains_key(term) {
            self.write(term, 1);
            self.terms.insert(term.clone(), self.terms.len());
        }
    }

    fn output(&mut self, term: &Term) {
        self.write(term, 2);
    }

    fn number(&mut self, value: u64) {
        self.bits(3, 2);
        self.integer(value);
    }

    fn transition(&mut self, source: u64, label: &Term, target: u64) {
        self.output(&node("transition", []));
        self.number(source);
        self.output(label);
        self.number(target);
    }

    fn finish(mut self, initial: u64) -> Vec<u8> {
        self.output(&node("initial_state", []));
        self.number(1);
        self.number(initial);
        self.end()
    }

    fn end(mut self) -> Vec<u8> {
        self.bits(1, 2);
        self.bits(0, (self.symbols.len() + 1).ilog2() + 1);
        self.bits
            .chunks(8)
            .map(|byte| byte.iter().enumerate().map(|(at, &bit)| u8::from(bit) << (7 - at)).sum())
            .collect()
    }
}

fn read(content: Vec<u8>) -> Result<Lts, ReadError> {
    read_lts(Input::text("x.lts", content), &ReadOptions::default(), &Arc::new(Labels::new()), &Control::unlimited())
}

fn refused(content: Vec<u8>) -> Diagnostic {
    match read(content) {
        Err(ReadError::Diagnostic(diagnostic)) => *diagnostic,
        other => panic!("{other:?}"),
    }
}

/// The text of a multi-action.
fn text(label: &Term) -> String {
    let mut stream = Stream::system();
    stream.transition(0, label, 1);
    let lts = read(stream.finish(0)).expect("a system");
    let label = lts.transitions()[0].label;
    lts.labels().get(label).to_string()
}

#[test]
fn states_transitions_and_the_initial_state() {
    let mut stream = Stream::system();
    let (a, b) = (multi_action([action("a", [])]), multi_action([action("b", [natural(1), symbol("true")])]));
    stream.transition(0, &a, 1);
    stream.transition(1, &b, 0);
    stream.output(&list([node("@single_node@", [natural(3)])]));
    stream.transition(1, &a, 1);
    stream.transition(1, &multi_action([]), 3);
    let lts = read(stream.finish(1)).expect("a system");
    let expected = "lts from 1 with 4 states\n  0 --a-> 1\n  1 --b(1, true)-> 0\n  1 --a-> 1\n  1 --tau-> 3\n";
    assert_eq!(format!("{lts:?}"), expected);
    // A state may have a label and no transition.
    let mut stream = Stream::system();
    (0..3).for_each(|_| stream.output(&list([])));
    assert_eq!(read(stream.finish(0)).expect("a system").state_count(), 3);
}

#[test]
fn multi_actions_are_bags_of_actions() {
    let parts = [action("b", []), action("a", [natural(10)]), action("a", [natural(2)]), action("b", [])];
    assert_eq!(text(&multi_action(parts.clone())), "a(10)|a(2)|b|b");
    assert_eq!(text(&multi_action(parts.into_iter().rev())), "a(10)|a(2)|b|b");
    assert_eq!(text(&multi_action([])), "tau");
    let timed = node(
        "TimedMultAct",
        [list([action("a", [])]), call("@cReal", [natural(7), call("@cDub", [symbol("false"), symbol("@c1")])])],
    );
    assert_eq!(text(&timed), "a @ (7 / 2)");
}

#[test]
fn data_is_written_as_people_write_it() {
    let written = |argument: Term| {
        let text = text(&multi_action([action("x", [argument])]));
        text.strip_prefix("x(").and_then(|text| text.strip_suffix(')')).expect("one argument").to_string()
    };
    let one = symbol("@c1");
    let double = |bit: &str, rest: Term| call("@cDub", [symbol(bit), rest]);
    assert_eq!(written(symbol("@c0")), "0");
    assert_eq!(written(call("@cNat", [double("false", double("true", one.clone()))])), "6");
    assert_eq!(written(call("@cNeg", [double("true", one.clone())])), "-3");
    let large = call("@concat_digit", [call("@most_significant_digit", [Term::Integer(2)]), Term::Integer(5)]);
    assert_eq!(written(call("Nat2Int", [call("Pos2Nat", [large])])), ((2u128 << 64) + 5).to_string());
    assert_eq!(written(call("@cReal", [call("@cNeg", [one.clone()]), double("false", one.clone())])), "-1 / 2");
    assert_eq!(written(call("@cReal", [natural(4), one.clone()])), "4");
    let cons = |element: Term, rest: Term| call("|>", [element, rest]);
    assert_eq!(written(cons(natural(1), cons(natural(2), symbol("[]")))), "[1, 2]");
    assert_eq!(written(call("<|", [call("<|", [symbol("[]"), natural(1)]), natural(2)])), "[1, 2]");
    assert_eq!(written(cons(natural(1), symbol("l"))), "1 |> l");
    let set = call("@fset_cons", [natural(1), call("@fset_cons", [natural(4), symbol("{}")])]);
    assert_eq!(written(set.clone()), "{1, 4}");
    assert_eq!(written(call("@set", [symbol("@false_"), set.clone()])), "{1, 4}");
    assert_eq!(written(call("@set", [symbol("@true_"), set])), "!{1, 4}");
    assert_eq!(written(call("@fbag_cons", [natural(1), natural(3), symbol("{:}")])), "{1: 3}");
    assert_eq!(written(call("node", [symbol("tt"), call("leaf", [])])), "node(tt, leaf)");
    let sum = call("+", [natural(1), symbol("n")]);
    assert_eq!(written(call("*", [sum.clone(), symbol("n")])), "(1 + n) * n");
    assert_eq!(written(call("-", [sum.clone(), sum.clone()])), "1 + n - (1 + n)");
    assert_eq!(written(call("-", [sum])), "-(1 + n)");
    assert_eq!(written(call("!", [call("==", [symbol("a"), symbol("b")])])), "!(a == b)");
    let variable = |name: &str, of: &str| node("DataVarId", [node(name, []), sort(of)]);
    let variables = list([variable("x", "Nat"), variable("y", "Nat"), variable("z", "Pos")]);
    let lambda = node("Binder", [node("Lambda", []), variables, symbol("x")]);
    assert_eq!(written(lambda.clone()), "lambda x,y: Nat, z: Pos. x");
    assert_eq!(written(node("DataAppl", [lambda, natural(1)])), "(lambda x,y: Nat, z: Pos. x)(1)");
    assert_eq!(written(call("@func_update", [symbol("f"), natural(1), natural(2)])), "f[1 -> 2]");
    assert_eq!(written(node("Unheard", [natural(1)])), "Unheard(1)");
}

#[test]
fn what_is_no_plain_system_is_refused() {
    let mut stream = Stream::new(0x8308);
    stream.output(&node("linear_process_specification", []));
    let diagnostic = refused(stream.end());
    assert_eq!(diagnostic.code, "A004");
    assert!(diagnostic.message.contains("a linear process"), "{}", diagnostic.message);
    assert_eq!(refused(Stream::new(0x8306).end()).code, "A004");

    let mut stream = Stream::system();
    stream.output(&node("probabilistic_transition", []));
    assert_eq!(refused(stream.end()).code, "A019");
    let mut stream = Stream::system();
    stream.output(&node("initial_state", []));
    stream.number(2);
    assert_eq!(refused(stream.end()).code, "A019");

    assert_eq!(refused(Stream::system().end()).code, "A032");
    let mut stream = Stream::system();
    stream.transition(0, &multi_action([]), u64::from(u32::MAX));
    assert_eq!(refused(stream.finish(0)).code, "A011");
    let mut stream = Stream::system();
    stream.transition(0, &multi_action([]), 1 << 30);
    assert_eq!(refused(stream.finish(0)).code, "A032");
    let mut stream = Stream::system();
    stream.transition(0, &action("a", []), 0);
    assert_eq!(refused(stream.finish(0)).code, "A032");
}

/// Shared terms can describe a text of 2^60 characters.
#[test]
fn a_label_beyond_all_bounds_is_refused() {
    let mut stream = Stream::system();
    // Hashing such a term takes as long as writing it, so it is put into the stream by hand.
    let (f, head) = (symbol("f"), symbol("a"));
    stream.share(&f);
    stream.share(&head);
    let mut last = stream.terms[&head] as u64;
    for step in 0..60u64 {
        let symbol = stream.symbol("DataAppl", 3);
        stream.bits(1, 2);
        stream.bits(symbol, (stream.symbols.len() + 1).ilog2() + 1);
        let width = stream.terms.len().ilog2() + 1;
        for argument in [stream.terms[&f] as u64, last, last] {
            stream.bits(argument, width);
        }
        last = stream.terms.len() as u64;
        stream.terms.insert(Term::Integer(u64::MAX - step), last as usize);
    }
    let deep = Term::Integer(u64::MAX - 59);
    stream.transition(0, &multi_action([action("x", [deep])]), 1);
    assert_eq!(refused(stream.finish(0)).code, "A018");
}

#[test]
fn damaged_files_are_read_or_refused() {
    let (mut read_anyway, mut codes) = (0, HashMap::new());
    for seed in 0..20_000 {
        let mut random = Random::new(seed);
        let mut stream = Stream::system();
        for _ in 0..random.below(6) {
            let arguments = (0..random.below(3)).map(|_| natural(random.below(300) as u64)).collect::<Vec<_>>();
            let actions = (0..random.below(3)).map(|at| action(["a", "b"][at], arguments.clone())).collect::<Vec<_>>();
            stream.transition(random.below(4) as u64, &multi_action(actions), random.below(4) as u64);
        }
        let mut content = stream.finish(0);
        for _ in 0..1 + random.below(3) {
            if content.len() <= 6 {
                break;
            }
            let at = 5 + random.below(content.len() - 5);
            match random.below(4) {
                0 => content.truncate(at.max(6)),
                1 => drop(content.remove(at)),
                2 => content.insert(at, random.bits() as u8),
                _ => content[at] ^= 1 << random.below(8),
            }
        }
        match read(content) {
            Ok(lts) => {
                read_anyway += 1;
                let mut again = Vec::new();
                write_lts(&lts, Format::Json, &mut again, &Control::unlimited()).expect("JSON holds every label");
            }
            Err(ReadError::Stopped(stopped)) => panic!("seed {seed}: {stopped}"),
            Err(ReadError::Diagnostic(diagnostic)) => {
                assert!(CODES.iter().any(|row| row.code == diagnostic.code), "seed {seed}: {diagnostic:?}");
                assert!(matches!(&diagnostic.labels[0].place, Place::File(name) if name == "x.lts"), "seed {seed}");
                *codes.entry(diagnostic.code).or_insert(0) += 1;
            }
        }
    }
    assert!(read_anyway > 200 && codes.len() >= 3, "{read_anyway} read, refused {codes:?}");
}

/// A system with labels of every kind, and a state that no transition mentions.
#[test]
fn what_is_written_is_read_again() {
    let labels = Arc::new(Labels::written(Writing::Brackets));
    let mut builder = LtsBuilder::new(labels.clone());
    let texts = [
        "a",
        "a(1)",
        "a(-7)",
        "a(x)",
        "b(0, true)",
        "b(18446744073709551615, false)",
        "c([1, 2], f(x, y))",
        "d.1.true",
    ];
    for (state, text) in (0..).zip(texts) {
        builder.add(StateId(state), labels.name(text), StateId(state + 1));
    }
    builder.add(StateId(0), LabelId::TAU, StateId(3));
    builder.add(StateId(3), LabelId::TICK, StateId(4));
    let part = |name: &str, argument: &str| Part { name: name.into(), arguments: [Box::from(argument)].into() };
    builder.add(StateId(4), labels.intern(Label::bag(vec![part("q", "5"), part("p", "z")])), StateId(0));
    builder.at_least(12);
    let lts = builder.build(StateId(2));
    let mut bytes = Vec::new();
    write_lts(&lts, Format::Lts, &mut bytes, &Control::unlimited()).expect("it is written");
    assert_eq!(bytes[..5], [0, 0x8b, 0xaf, 0x83, 0x08]);
    let again = read(bytes).expect("a system");
    assert_eq!(format!("{again:?}"), format!("{lts:?}"));
    // Written as one multi-action, different labels could not be told apart.
    let mut builder = LtsBuilder::new(labels.clone());
    builder.add(StateId(0), labels.intern(Label::of("a", [Box::from("1")])), StateId(1));
    builder.add(StateId(0), labels.name("a(1)"), StateId(2));
    let mut bytes = Vec::new();
    let refused = write_lts(&builder.build(StateId(0)), Format::Lts, &mut bytes, &Control::unlimited());
    assert!(matches!(&refused, Err(WriteError::Diagnostic(diagnostic)) if diagnostic.code == "A025"), "{refused:?}");
}
