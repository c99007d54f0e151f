//! Several workers at once, beside the naive map and under stress.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use trefoil_terms::{Numbering, Options, Parcel, Pool, Root, Section, Symbol, Term, Worker};
use trefoil_testkit::Random;
use trefoil_testkit::terms::{NaiveTerm, NaiveTerms};

/// What all threads agree on: the naive map, and which term stands for which place while a root holds it.
#[derive(Default)]
struct Oracle {
    naive: NaiveTerms,
    /// For each place that is held: its term, and how often it is held.
    held: HashMap<usize, (Term, usize)>,
    /// The place of each term that is held.
    places: HashMap<Term, usize>,
    numbers: HashMap<usize, u32>,
}

impl Oracle {
    /// A root is about to hold a term, or a term was made again.
    fn check(&mut self, place: usize, term: Term) {
        let seed = trefoil_testkit::seed();
        if let Some(&(known, _)) = self.held.get(&place) {
            assert_eq!(known, term, "{} has two ids (TREFOIL_SEED={seed})", self.naive.text(place));
        }
        if let Some(&known) = self.places.get(&term) {
            let texts = (self.naive.text(known), self.naive.text(place));
            assert_eq!(known, place, "{term:?} stands for {} and {} (TREFOIL_SEED={seed})", texts.0, texts.1);
        }
    }

    fn hold(&mut self, place: usize, term: Term) {
        self.check(place, term);
        self.held.entry(place).or_insert((term, 0)).1 += 1;
        self.places.insert(term, place);
    }

    /// A root is about to let a term go.
    fn release(&mut self, place: usize) {
        let (term, count) = self.held.get_mut(&place).expect("held");
        *count -= 1;
        if *count == 0 {
            self.places.remove(term);
            self.held.remove(&place);
        }
    }
}

/// A term of the pool must be made as the naive map says.
fn same(section: &Section<'_>, naive: &NaiveTerms, term: Term, place: usize) {
    let mut pending = vec![(term, place)];
    while let Some((term, place)) = pending.pop() {
        match naive.get(place) {
            NaiveTerm::Word(word) => assert_eq!(section.word_of(term), Some(*word)),
            NaiveTerm::Bytes(bytes) => assert_eq!(section.bytes_of(term).as_ref(), Some(bytes)),
            NaiveTerm::Application(name, arguments) => {
                assert_eq!(&*section.name(section.head(term)), name);
                assert_eq!(section.arity(term), arguments.len());
                pending.extend(section.arguments(term).iter().zip(arguments.iter().copied()));
            }
        }
    }
}

struct Thread {
    worker: Worker,
    roots: Vec<(Root, usize)>,
    random: Random,
    oracle: Arc<Mutex<Oracle>>,
    symbols: Vec<(Symbol, &'static str, usize)>,
    numbering: Numbering,
}

impl Thread {
    /// Makes a random term and checks it; holds it as a rule.
    fn make(&mut self) {
        let section = self.worker.enter();
        let (term, content) = match self.random.below(10) {
            0 | 1 => {
                let word = self.random.below(40) as u64;
                (section.word(word), NaiveTerm::Word(word))
            }
            2 => {
                let bytes = vec![self.random.below(3) as u8; self.random.below(9)];
                (section.bytes(&bytes), NaiveTerm::Bytes(bytes))
            }
            _ => {
                let (symbol, name, arity) = self.symbols[self.random.below(self.symbols.len())];
                if arity > 0 && self.roots.is_empty() {
                    return;
                }
                let chosen: Vec<&(Root, usize)> =
                    (0..arity).map(|_| &self.roots[self.random.below(self.roots.len())]).collect();
                let terms: Vec<Term> = chosen.iter().map(|(root, _)| root.term()).collect();
                let places = chosen.iter().map(|&&(_, place)| place).collect();
                (section.create(symbol, &terms), NaiveTerm::Application(name.into(), places))
            }
        };
        let mut oracle = self.oracle.lock().expect("no thread panicked");
        let place = oracle.naive.make(content);
        if self.random.chance(70) && self.roots.len() < 60 {
            oracle.hold(place, term);
            self.roots.push((section.root(term), place));
        } else {
            oracle.check(place, term);
        }
        if self.random.chance(2) {
            let number = self.numbering.number(&section, term);
            let known = *oracle.numbers.entry(place).or_insert(number);
            assert_eq!(known, number, "a term has one number");
            assert_eq!(self.numbering.term(number), Some(term));
        }
    }

    fn release(&mut self) {
        if !self.roots.is_empty() {
            let (root, place) = self.roots.swap_remove(self.random.below(self.roots.len()));
            self.oracle.lock().expect("no thread panicked").release(place);
            drop(root);
        }
    }

    fn run(
        &mut self,
        steps: usize,
        pool: &Pool,
        to: &Sender<(Parcel, usize)>,
        from: &Mutex<Receiver<(Parcel, usize)>>,
    ) {
        for _ in 0..steps {
            match self.random.below(1000) {
                0..700 => self.make(),
                700..960 => self.release(),
                960..975 => drop(self.worker.enter().poll()),
                975..978 => self.worker.collect(),
                978..980 => self.worker.collect_all(),
                980..985 => {
                    if let Some((root, place)) = self.roots.pop() {
                        let parcel = self.worker.enter().send(&[root.term()]);
                        to.send((parcel, place)).expect("the test receives");
                    }
                }
                985..990 => {
                    let received = from.lock().expect("no thread panicked").try_recv();
                    if let Ok((parcel, place)) = received {
                        let section = self.worker.enter();
                        let term = parcel.terms()[0];
                        same(&section, &self.oracle.lock().expect("no thread panicked").naive, term, place);
                        self.roots.push((section.root(section.receive(parcel)[0]), place));
                    }
                }
                990..992 => {
                    // The worker ends and hands its roots over to the next one.
                    let (roots, places): (Vec<Root>, Vec<usize>) = self.roots.drain(..).unzip();
                    let parcel = std::mem::replace(&mut self.worker, pool.worker()).end(roots);
                    let section = self.worker.enter();
                    let terms = section.receive(parcel);
                    self.roots.extend(terms.iter().map(|&term| section.root(term)).zip(places));
                }
                _ => {
                    let section = self.worker.enter();
                    let oracle = self.oracle.lock().expect("no thread panicked");
                    let some = self.roots.iter().step_by(5);
                    some.for_each(|(root, place)| same(&section, &oracle.naive, root.term(), *place));
                }
            }
        }
    }
}

#[test]
fn random_operations_agree_with_the_naive_map() {
    let steps = if cfg!(miri) { 200 } else { 12_000 };
    for (threads, zealous) in [(1, false), (2, false), (4, false), (3, true)] {
        let steps = if zealous { steps / 10 } else { steps };
        let options = Options { young_bytes: 1 << 14, zealous, ..Options::default() };
        let pool = Pool::new(options);
        let symbols: Vec<(Symbol, &str, usize)> =
            [("a", 0), ("b", 0), ("f", 1), ("g", 2), ("h", 2), ("k", 3), ("m", 7)]
                .map(|(name, arity)| (pool.symbol(name, arity), name, arity))
                .to_vec();
        let oracle = Arc::new(Mutex::new(Oracle::default()));
        let numbering = pool.numbering();
        let (to, from) = channel();
        let from = Arc::new(Mutex::new(from));
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (pool, symbols, oracle, numbering, to, from) =
                    (pool.clone(), symbols.clone(), oracle.clone(), numbering.clone(), to.clone(), from.clone());
                scope.spawn(move || {
                    let random = Random::new(trefoil_testkit::seed() + thread * 1_000 + threads);
                    let worker = pool.worker();
                    let mut thread = Thread { worker, roots: Vec::new(), random, oracle, symbols, numbering };
                    // Terms stay small, as the naive map writes them as trees in its messages.
                    for _ in 0..20 {
                        thread.run(steps / 20, &pool, &to, &from);
                        while !thread.roots.is_empty() {
                            thread.release();
                        }
                    }
                });
            }
        });
        let mut worker = pool.worker();
        worker.audit().expect("every term once");
        // Only what is numbered, or still on its way, is alive now.
        let mut alive: Vec<usize> = Vec::new();
        let mut parcels = Vec::new();
        while let Ok((parcel, place)) = from.lock().expect("no thread panicked").try_recv() {
            parcels.push(parcel);
            alive.push(place);
        }
        worker.collect_all();
        let oracle = oracle.lock().expect("no thread panicked");
        alive.extend(oracle.numbers.keys());
        assert_eq!(pool.statistics().old_terms, oracle.naive.reachable(alive).len());
        assert_eq!(numbering.len(), oracle.numbers.len());
    }
}

/// `f(word, g(word / 8))` for each number below `family`; every fourth is held by the test, the others come and go.
#[test]
fn threads_create_drop_and_collect() {
    let (threads, creations, family) = if cfg!(miri) { (2, 200, 32) } else { (8, 400_000, 4_096u64) };
    let pool = Pool::new(Options { young_bytes: 1 << 16, ..Options::default() });
    let (f, g) = (pool.symbol("f", 2), pool.symbol("g", 1));
    let make = move |section: &Section<'_>, number: u64| {
        let inner = section.create(g, &[section.word(number / 8)]);
        section.create(f, &[section.word(number), inner])
    };
    let keeper = pool.worker();
    let mut held = keeper.stack();
    {
        let section = keeper.enter();
        held.extend((0..family / 4).map(|number| make(&section, number * 4)));
    }
    let terms: Arc<[Term]> = held.to_vec().into();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (pool, terms) = (pool.clone(), terms.clone());
            scope.spawn(move || {
                let mut random = Random::new(trefoil_testkit::seed() ^ thread);
                let mut worker = pool.worker();
                let mut stack = worker.stack();
                let mut numbers: Vec<u64> = Vec::new();
                let mut done = 0;
                while done < creations {
                    let mut section = worker.enter();
                    for _ in 0..creations / 10 {
                        let number = random.below(family as usize) as u64;
                        let term = make(&section, number);
                        done += 1;
                        if number.is_multiple_of(4) {
                            assert_eq!(term, terms[number as usize / 4], "a term that is held is found");
                        } else if random.chance(10) {
                            stack.push(term);
                            numbers.push(number);
                        }
                        if numbers.len() > 100 {
                            let kept = stack.iter().zip(&numbers);
                            kept.for_each(|(&term, &number)| assert_eq!(term, make(&section, number)));
                            stack.truncate(0);
                            numbers.clear();
                        }
                        if done % 100 == 0 {
                            section.poll().expect("nothing stops it");
                        }
                    }
                    drop(section);
                    drop(stack);
                    numbers.clear();
                    if thread == 0 {
                        worker.collect();
                    }
                    worker = pool.worker();
                    stack = worker.stack();
                }
            });
        }
    });
    let mut worker = pool.worker();
    worker.audit().expect("every term once");
    worker.collect_all();
    // The held terms with two words each (some words are in both roles), and the terms between.
    let section = worker.enter();
    let expected: std::collections::HashSet<Term> = terms
        .iter()
        .flat_map(|&term| {
            let (word, inner) = (section.argument(term, 0), section.argument(term, 1));
            [term, word, inner, section.argument(inner, 0)]
        })
        .collect();
    assert_eq!(pool.statistics().old_terms, expected.len());
    // The first thread asks for a collection after each of its ten sections, whatever the polls of the others do.
    let statistics = pool.statistics();
    assert!(statistics.collections > 10, "{statistics:?}");
}
