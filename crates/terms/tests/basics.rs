//! What a pool promises to one worker. Small enough for Miri:
//! `cargo +nightly miri test -p trefoil-terms --test basics`.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_system::{Domain, Value};
use trefoil_terms::{Numbering, Options, Pool, Section, Symbol, Term, Worker};

const MANY: usize = if cfg!(miri) { 300 } else { 300_000 };
const HEIGHT: usize = if cfg!(miri) { 20 } else { 300 };
const NUMBERED: u32 = if cfg!(miri) { 30 } else { 200 };

/// `f(.. f(c, c) .., f(c, c))`, so high.
fn tower(section: &Section<'_>, f: Symbol, c: Symbol, height: usize) -> Term {
    let mut term = section.create(c, &[]);
    for _ in 0..height {
        term = section.create(f, &[term, term]);
    }
    term
}

#[test]
fn equal_terms_are_the_same_term() {
    let pool = Pool::default();
    let (c, f, g) = (pool.symbol("c", 0), pool.symbol("f", 2), pool.symbol("g", 3));
    assert_eq!(f, pool.symbol("f", 2));
    assert_ne!(f, pool.symbol("f", 3), "arities distinguish symbols");
    let worker = pool.worker();
    let section = worker.enter();
    let one = tower(&section, f, c, 50);
    assert_eq!(one, tower(&section, f, c, 50));
    assert_ne!(one, tower(&section, f, c, 51));
    let three = section.create(g, &[one, section.create(c, &[]), one]);
    assert_eq!(section.head(three), g);
    assert_eq!(section.arity(three), 3);
    assert_eq!(section.argument(three, 2), one);
    assert_eq!(section.arguments(three).iter().collect::<Vec<_>>(), [one, section.create(c, &[]), one]);
    assert_eq!(section.arguments(three).get(3), None);
    assert_eq!(&*pool.name(g), "g");
    assert_eq!(pool.arity(g), 3);
}

#[test]
fn fresh_symbols_are_new() {
    let pool = Pool::default();
    let taken = pool.symbol("x@1", 0);
    let (one, two) = (pool.fresh_symbol("x", 0), pool.fresh_symbol("x", 0));
    assert!(one != two && one != taken && two != taken);
    assert_eq!(pool.symbol(&pool.name(one), 0), one, "a fresh symbol is found by its name");
}

#[test]
fn leaves_hold_words_and_bytes() {
    let pool = Pool::default();
    let worker = pool.worker();
    let section = worker.enter();
    for word in [0, 1, u64::from(u32::MAX), u64::MAX, 1 << 32] {
        assert_eq!(section.word_of(section.word(word)), Some(word));
        assert_eq!(section.bytes_of(section.word(word)), None);
        assert_eq!(section.head(section.word(word)), Symbol::WORD);
    }
    let mut seen = Vec::new();
    for length in 0..20 {
        let bytes: Vec<u8> = (0..length).collect();
        let term = section.bytes(&bytes);
        assert_eq!(section.bytes_of(term), Some(bytes.clone()));
        assert_eq!(section.bytes(&bytes), term);
        assert!(section.arguments(term).is_empty());
        let zeros = section.bytes(&vec![0; usize::from(length)]);
        assert!(length < 2 || zeros != term);
        seen.push(term);
    }
    seen.dedup();
    assert_eq!(seen.len(), 20, "lengths distinguish byte strings");
    assert_ne!(section.bytes(&[0; 8]), section.word(0));
}

#[test]
fn wide_terms_say_how_many_arguments_they_have() {
    let pool = Pool::default();
    let worker = pool.worker();
    let section = worker.enter();
    for arity in [254, 255, 256, 700] {
        let f = pool.symbol("f", arity);
        let mut arguments: Vec<Term> = (0..arity as u64).map(|word| section.word(word)).collect();
        let term = section.create(f, &arguments);
        assert_eq!(section.create(f, &arguments), term);
        assert_eq!(section.arity(term), arity);
        assert_eq!(pool.arity(f), arity);
        assert_eq!(section.arguments(term).iter().collect::<Vec<_>>(), arguments);
        arguments.swap(0, arity - 1);
        assert_ne!(section.create(f, &arguments), term);
    }
}

#[test]
#[should_panic(expected = "f takes 2 arguments, not 1")]
fn an_arity_is_checked() {
    let pool = Pool::default();
    let worker = pool.worker();
    let section = worker.enter();
    section.create(pool.symbol("f", 2), &[section.word(1)]);
}

#[test]
fn lists_are_terms() {
    let pool = Pool::default();
    let worker = pool.worker();
    let section = worker.enter();
    let elements: Vec<Term> = (0..5).map(|word| section.word(word)).collect();
    let list = section.list(&elements);
    assert_eq!(section.elements(list).collect::<Vec<_>>(), elements);
    let (first, rest) = section.cons_of(list).expect("not empty");
    assert_eq!(section.cons(first, rest), list);
    assert_eq!(section.cons_of(section.empty()), None);
    assert_eq!(section.display(list).to_string(), "[0, 1, 2, 3, 4]");
}

#[test]
fn text_is_bounded() {
    let pool = Pool::default();
    let (c, f) = (pool.symbol("c", 0), pool.symbol("f", 2));
    let worker = pool.worker();
    let section = worker.enter();
    assert_eq!(section.display(tower(&section, f, c, 2)).to_string(), "f(f(c, c), f(c, c))");
    assert_eq!(format!("{:.4}", section.display(tower(&section, f, c, 2))), "f(f(c, c), …");
    // 2^200 symbols as a tree.
    let huge = section.display(tower(&section, f, c, 200)).to_string();
    assert!(huge.len() < 5_000 && huge.ends_with('…'), "{} bytes", huge.len());
    let numbers: Vec<Term> = (0..3_000).map(|word| section.word(word)).collect();
    assert!(section.display(section.list(&numbers)).to_string().ends_with(", …"));
    let pair = section.create(pool.symbol("|>", 2), &[section.word(1), section.word(2)]);
    assert_eq!(section.display(pair).to_string(), "[1 | 2]", "a list that does not end");
    assert_eq!(section.display(section.bytes(&[1, 255])).to_string(), "0x01ff");
}

#[test]
fn canonical_bytes_do_not_depend_on_the_pool() {
    let write = |first: &[&str]| {
        let pool = Pool::default();
        for name in first {
            pool.symbol(name, 2);
        }
        let (c, f) = (pool.symbol("c", 0), pool.symbol("f", 2));
        let worker = pool.worker();
        let section = worker.enter();
        let mut bytes = Vec::new();
        let tower = tower(&section, f, c, HEIGHT);
        let leaves = [section.word(7), section.bytes(b"seven"), tower, section.word(7)];
        section.canonical(section.list(&leaves), &mut bytes);
        assert_eq!(section.read_canonical(&bytes), Some(section.list(&leaves)));
        bytes
    };
    let bytes = write(&[]);
    assert_eq!(bytes, write(&["g", "f", "h"]));
    assert!(bytes.len() < HEIGHT * 8, "{} bytes for a tree of 2^{HEIGHT} nodes", bytes.len());

    let pool = Pool::default();
    let worker = pool.worker();
    let section = worker.enter();
    let term = section.read_canonical(&bytes).expect("another pool reads them");
    let mut again = Vec::new();
    section.canonical(term, &mut again);
    assert_eq!(again, bytes);
    // Anything that was changed or cut is another term or none.
    for at in 0..bytes.len().min(if cfg!(miri) { 4 } else { 60 }) {
        assert_eq!(section.read_canonical(&bytes[..at]), None);
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            assert_ne!(section.read_canonical(&changed), Some(term));
        }
    }
    let twice = [1, 2, 1, b'f', 3, 0, 0, 0, 0, 0, 0, 0, 7, 3, 0, 0, 0, 0, 0, 0, 0, 7];
    assert_eq!(section.read_canonical(&twice), None, "a node is written once");
    let endless = [1, 1, 1, b'f', 0, 0];
    assert_eq!(section.read_canonical(&endless), None, "a node is not below itself");
}

#[test]
fn the_order_is_that_of_canonical_bytes() {
    let order = |words: &[u64]| {
        let pool = Pool::default();
        let worker = pool.worker();
        let section = worker.enter();
        let mut terms: Vec<Term> = words.iter().map(|&word| section.word(word)).collect();
        terms.sort_by(|&left, &right| section.compare(left, right));
        terms.iter().filter_map(|&term| section.word_of(term)).collect::<Vec<_>>()
    };
    assert_eq!(order(&[5, 1, 3, 1 << 40]), order(&[1 << 40, 3, 1, 5]));
    assert_eq!(order(&[5, 1, 3, 1 << 40]), [1, 3, 5, 1 << 40]);
}

/// How many terms are in the pool after everything was collected.
fn live(worker: &mut Worker, pool: &Pool) -> usize {
    worker.collect_all();
    worker.audit().expect("every term once");
    pool.statistics().old_terms
}

#[test]
fn roots_hold_terms_and_what_is_below() {
    let pool = Pool::default();
    let (c, f) = (pool.symbol("c", 0), pool.symbol("f", 2));
    let mut worker = pool.worker();
    let mut stack = worker.stack();
    let (root, on_stack) = {
        let section = worker.enter();
        stack.push(tower(&section, f, c, 5));
        stack.push(tower(&section, f, c, 40));
        (section.root(tower(&section, f, c, 20)), stack[0])
    };
    assert_eq!(live(&mut worker, &pool), 41);
    {
        let section = worker.enter();
        assert_eq!(root.term(), tower(&section, f, c, 20));
        assert_eq!(on_stack, tower(&section, f, c, 5));
        assert_eq!(stack.pop(), Some(tower(&section, f, c, 40)));
    }
    assert_eq!(live(&mut worker, &pool), 21);
    let other = worker.enter().root(root.term());
    drop(root);
    assert_eq!(live(&mut worker, &pool), 21, "two roots hold it, and one is left");
    drop(other);
    assert_eq!(live(&mut worker, &pool), 6);
    {
        let section = worker.enter();
        stack.set(0, section.argument(on_stack, 0));
        stack.extend([section.create(c, &[])]);
    }
    assert_eq!(live(&mut worker, &pool), 5);
    {
        let _section = worker.enter();
        stack.truncate(1);
    }
    assert_eq!(live(&mut worker, &pool), 5);
    drop(stack);
    assert_eq!(live(&mut worker, &pool), 0);
}

#[test]
fn a_root_can_hold_another_term() {
    let pool = Pool::default();
    let (c, f) = (pool.symbol("c", 0), pool.symbol("f", 2));
    let mut worker = pool.worker();
    let mut root = {
        let section = worker.enter();
        section.root(tower(&section, f, c, 9))
    };
    {
        let section = worker.enter();
        root.set(section.argument(root.term(), 0));
    }
    assert_eq!(live(&mut worker, &pool), 9);
}

#[test]
#[should_panic(expected = "a stack of roots is changed inside a section")]
fn a_stack_is_changed_inside_a_section() {
    let pool = Pool::default();
    let worker = pool.worker();
    let term = worker.enter().word(1);
    worker.stack().push(term);
}

#[test]
fn old_garbage_is_collected_by_full_collections() {
    let pool = Pool::default();
    let (c, f) = (pool.symbol("c", 0), pool.symbol("f", 2));
    let mut worker = pool.worker();
    let root = {
        let section = worker.enter();
        section.root(tower(&section, f, c, 10))
    };
    worker.collect();
    drop(root);
    worker.collect();
    assert_eq!(pool.statistics().old_terms, 11, "old terms are not looked at");
    worker.collect_all();
    assert_eq!(pool.statistics().old_terms, 0);
    assert_eq!(pool.statistics().collected_terms, 11);
}

/// A collection of young terms reads only the part of a stack that changed, and takes only young terms out of the
/// table.
#[test]
fn terms_that_come_late_to_a_stack_survive_young_collections() {
    let pool = Pool::default();
    let mut worker = pool.worker();
    let mut stack = worker.stack();
    let mut next = 0;
    let mut word = |section: &Section<'_>| {
        next += 1;
        section.word(next)
    };
    {
        let section = worker.enter();
        stack.extend((0..2_000).map(|_| word(&section)));
    }
    worker.collect();
    assert_eq!(pool.statistics().old_terms, 2_000);
    for round in 0..40 {
        let mut held = {
            let section = worker.enter();
            for _ in 0..100 {
                word(&section);
            }
            match round % 4 {
                0 => stack.set(round, word(&section)),
                1 => {
                    stack.pop();
                    stack.push(word(&section));
                }
                2 => {
                    let height = stack.len();
                    stack.truncate(height - 1);
                    stack.extend([word(&section)]);
                }
                _ => {
                    let mut other = stack.to_vec();
                    other[round] = word(&section);
                    stack.exchange(&mut other);
                }
            }
            stack.to_vec()
        };
        worker.collect();
        worker.audit().expect("every term once");
        let statistics = pool.statistics();
        assert_eq!(statistics.old_terms, 2_001 + round, "one new term survives: {statistics:?}");
        let section = worker.enter();
        held.retain(|&term| section.word(section.word_of(term).expect("a word")) != term);
        assert_eq!(held, [], "a term on the stack is found again");
    }
    assert_eq!(pool.statistics().full_collections, 1);
    assert_eq!(live(&mut worker, &pool), 2_000);
}

#[test]
fn polls_collect_what_is_due_and_give_memory_back() {
    let pool = Pool::new(Options { young_bytes: 1 << 15, ..Options::default() });
    let (c, f) = (pool.symbol("c", 0), pool.symbol("f", 2));
    let mut worker = pool.worker();
    let mut stack = worker.stack();
    let mut section = worker.enter();
    let mut made = 0u64;
    for round in 0..MANY / 10 {
        let word = section.word(round as u64);
        stack.push(word);
        let mut term = section.create(f, &[word, section.create(c, &[])]);
        for _ in 0..8 {
            term = section.create(f, &[term, word]);
        }
        made += 10;
        section.poll().expect("nothing stops it");
        let holds = (0..=round).step_by(997).all(|word| section.word_of(stack[word]) == Some(word as u64));
        assert!(holds, "what is on the stack survives");
    }
    drop(section);
    let full = pool.statistics();
    if !cfg!(miri) {
        assert!(full.collections > 3 && full.growths > 0, "{full:?}");
        assert!(full.collected_terms > made / 2, "{full:?}");
    }
    drop(stack);
    assert_eq!(live(&mut worker, &pool), 0);
    let left = pool.statistics();
    assert!(left.cell_bytes <= 2 << 20, "{left:?}");
}

#[test]
fn terms_that_live_for_a_while_leave_no_garbage() {
    // Always the last terms are alive: what survives a collection is dead at the next one.
    let alive = MANY / 50;
    let pool = Pool::new(Options { young_bytes: 1 << 17, ..Options::default() });
    let mut worker = pool.worker();
    let mut stack = worker.stack();
    let mut section = worker.enter();
    for number in 0..MANY {
        let word = section.word(number as u64);
        if number < alive {
            stack.push(word);
        } else {
            stack.set(number % alive, word);
        }
        if number % 100 == 0 {
            section.poll().expect("nothing stops it");
            let old = pool.statistics().old_terms;
            assert!(old <= 2 * alive, "{old} terms survived a collection, {alive} are alive");
        }
    }
    drop(section);
    let statistics = pool.statistics();
    assert!(cfg!(miri) || statistics.full_collections > statistics.collections / 2, "{statistics:?}");
    assert!(statistics.table_bytes <= 1 << 18, "{statistics:?}");
    assert_eq!(live(&mut worker, &pool), alive);
}

#[test]
fn terms_that_stay_are_not_looked_at_again() {
    let pool = Pool::new(Options { young_bytes: 1 << 17, ..Options::default() });
    let mut worker = pool.worker();
    let mut stack = worker.stack();
    let mut section = worker.enter();
    for number in 0..MANY {
        let word = section.word(number as u64);
        if number < MANY / 50 {
            stack.push(word);
        }
        if number % 100 == 0 {
            section.poll().expect("nothing stops it");
        }
    }
    drop(section);
    let statistics = pool.statistics();
    assert!(cfg!(miri) || statistics.collections > 20 && statistics.full_collections < 5, "{statistics:?}");
    assert_eq!(live(&mut worker, &pool), MANY / 50);
}

/// Threads that mark meet in terms that many others share, and each table is swept by all of them.
#[test]
fn helpers_mark_every_term_once() {
    for threads in [1, 2, 3] {
        let pool = Pool::new(Options { collecting: false, threads, ..Options::default() });
        let f = pool.symbol("f", 2);
        let mut worker = pool.worker();
        let mut stack = worker.stack();
        let mut section = worker.enter();
        let mut state = 88_172_645_463_325_252u64;
        let mut terms: Vec<Term> = (0..MANY as u64 / 10).map(|number| section.word(number)).collect();
        for number in 0..MANY {
            let mut below = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                terms[(state % terms.len() as u64) as usize]
            };
            let term = section.create(f, &[below(), below()]);
            terms.push(term);
            if number % 9 == 0 {
                stack.push(term);
            }
            if number % 1_000 == 0 {
                // Nothing is collected, so no term needs a root.
                section.poll().expect("nothing stops it");
            }
        }
        let mut reached: HashSet<Term> = HashSet::new();
        let mut pending = stack.to_vec();
        while let Some(term) = pending.pop() {
            if reached.insert(term) {
                pending.extend(section.arguments(term).iter());
            }
        }
        drop(section);
        for _ in 0..3 {
            assert_eq!(live(&mut worker, &pool), reached.len(), "with {threads} threads");
        }
        let bytes = reached.len() * 16;
        let left = pool.statistics();
        assert!(left.cell_bytes - left.empty_bytes >= bytes, "{bytes} bytes are alive: {left:?}");
    }
}

#[test]
fn holes_between_live_terms_are_filled_again() {
    let pool = Pool::new(Options { young_bytes: 1 << 15, ..Options::default() });
    let f = pool.symbol("f", 1);
    let mut worker = pool.worker();
    let mut stack = worker.stack();
    // Every fourth term lives; the rest of each chunk is filled again and again.
    for round in 0..20u64 {
        let section = worker.enter();
        for word in 0..MANY as u64 / 20 {
            let term = section.create(f, &[section.word(round << 32 | word)]);
            if word.is_multiple_of(4) {
                stack.push(term);
            }
        }
        drop(section);
        worker.collect();
    }
    let statistics = pool.statistics();
    let live = statistics.old_terms * 16;
    assert!(statistics.cell_bytes < 2 * live + (4 << 20), "{live} bytes live, {statistics:?}");
    worker.audit().expect("every term once");
    let section = worker.enter();
    for (place, &term) in stack.iter().enumerate() {
        let of_round = (MANY / 20).div_ceil(4);
        let word = ((place / of_round) << 32) | (place % of_round * 4);
        assert_eq!(section.word_of(section.argument(term, 0)), Some(word as u64));
    }
}

#[test]
fn inner_sections_do_not_collect() {
    let pool = Pool::new(Options { zealous: true, ..Options::default() });
    let worker = pool.worker();
    let mut outer = worker.enter();
    let term = outer.word(1);
    {
        let mut inner = worker.enter();
        inner.poll().expect("nothing stops it");
        assert_eq!(inner.word(1), term);
    }
    assert_eq!(pool.statistics().collections, 0);
    outer.poll().expect("nothing stops it");
    assert_eq!(pool.statistics().collections, 1);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "was collected: it was held over a poll without a root")]
fn a_term_without_a_root_is_noticed() {
    let pool = Pool::new(Options { zealous: true, ..Options::default() });
    let worker = pool.worker();
    let mut section = worker.enter();
    let term = section.word(1);
    section.poll().expect("nothing stops it");
    section.head(term);
}

#[test]
fn numbers_are_dense_and_permanent() {
    let pool = Pool::default();
    let (c, f) = (pool.symbol("c", 0), pool.symbol("f", 2));
    let numbering = pool.numbering();
    let words = pool.numbering();
    let mut worker = pool.worker();
    {
        let section = worker.enter();
        for height in 0..NUMBERED {
            let term = tower(&section, f, c, height as usize);
            assert_eq!(numbering.find(&section, term), None);
            assert_eq!(numbering.number(&section, term), height);
            assert_eq!(numbering.number(&section, term), height);
            assert_eq!(words.number(&section, section.word(u64::from(height))), height);
        }
    }
    assert_eq!(live(&mut worker, &pool), 2 * NUMBERED as usize);
    assert_eq!(live(&mut worker, &pool), 2 * NUMBERED as usize);
    let section = worker.enter();
    assert_eq!(numbering.len(), NUMBERED as usize);
    assert_eq!(numbering.term(NUMBERED), None);
    for height in 0..NUMBERED {
        assert_eq!(numbering.term(height), Some(tower(&section, f, c, height as usize)));
        assert_eq!(section.word_of(words.term(height).expect("numbered")), Some(u64::from(height)));
    }
}

/// What a front end puts between a numbering and the waist.
struct Terms(Numbering);

impl Domain for Terms {
    fn bytes(&self, value: Value, into: &mut Vec<u8>) {
        self.0.bytes(value, into);
    }

    fn value(&self, bytes: &[u8]) -> Option<Value> {
        self.0.value(bytes)
    }

    fn compare(&self, left: Value, right: Value) -> Ordering {
        self.0.compare(left, right)
    }

    fn text(&self, value: Value) -> String {
        self.0.text(value)
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

#[test]
fn a_numbering_is_a_domain_of_the_waist() {
    let pool = Pool::default();
    let domain: Arc<dyn Domain> = Arc::new(Terms(pool.numbering()));
    let (mut five, mut six) = (Vec::new(), Vec::new());
    {
        let other = Pool::default();
        let worker = other.worker();
        let section = worker.enter();
        section.canonical(section.word(6), &mut six);
        section.canonical(section.word(5), &mut five);
    }
    assert_eq!(domain.value(&six), Some(0));
    assert_eq!(domain.value(&five), Some(1));
    assert_eq!(domain.value(&six), Some(0));
    assert_eq!(domain.value(b"no term"), None);
    assert_eq!(domain.compare(0, 1), Ordering::Greater, "by bytes, not by number");
    assert_eq!(domain.text(1), "5");
    let mut bytes = Vec::new();
    domain.bytes(1, &mut bytes);
    assert_eq!(bytes, five);
}

#[test]
fn parcels_hold_terms_until_they_are_received() {
    let pool = Pool::default();
    let (c, f) = (pool.symbol("c", 0), pool.symbol("f", 2));
    let parcel = {
        let pool = pool.clone();
        let made = std::thread::spawn(move || {
            let worker = pool.worker();
            let root = {
                let section = worker.enter();
                section.root(tower(&section, f, c, 10))
            };
            worker.end([root])
        });
        made.join().expect("no panic")
    };
    let mut worker = pool.worker();
    assert_eq!(live(&mut worker, &pool), 11);
    {
        let section = worker.enter();
        let terms = section.receive(parcel);
        assert_eq!(terms, [tower(&section, f, c, 10)]);
    }
    assert_eq!(live(&mut worker, &pool), 0);
}

#[test]
fn a_poll_says_when_the_job_must_end() {
    let control = Control::unlimited();
    let pool = Pool::new(Options { control: control.clone(), ..Options::default() });
    let worker = pool.worker();
    let mut section = worker.enter();
    assert_eq!(section.poll(), Ok(()));
    control.cancel();
    assert_eq!(section.poll(), Err(Stopped::Interrupted));
}

#[test]
fn many_short_workers_share_chunks() {
    let pool = Pool::default();
    let numbering = pool.numbering();
    for word in 0..200u64 {
        let mut bytes = vec![3];
        bytes.extend(word.to_be_bytes());
        assert_eq!(numbering.value(&bytes), Some(word as u32));
    }
    assert!(pool.statistics().cell_bytes < 2 << 20);
}

/// Makes terms in a pool that does not collect, and polls.
struct Creator<'w> {
    section: RefCell<Section<'w>>,
    f: Symbol,
    random: Cell<u64>,
}

impl Creator<'_> {
    fn create(&self, symbol: Symbol, arguments: [Term; 2]) -> Term {
        let term = self.section.borrow().create(symbol, &arguments);
        self.section.borrow_mut().poll().expect("nothing stops it");
        term
    }

    fn below(&self, bound: usize) -> usize {
        let mut state = self.random.get();
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.random.set(state);
        (state >> 8) as usize % bound
    }
}

#[test]
fn probes_stay_short() {
    if cfg!(miri) {
        return;
    }
    type Make<'m> = &'m dyn Fn(&Creator<'_>, &[Term]);
    let report = |name: &str, make: Make<'_>| {
        let pool = Pool::new(Options { collecting: false, ..Options::default() });
        let f = pool.symbol("f", 2);
        let mut worker = pool.worker();
        let creator = Creator { section: RefCell::new(worker.enter()), f, random: Cell::new(88_172_645_463_325_252) };
        let words: Vec<Term> = (0..1_000).map(|word| creator.section.borrow().word(word)).collect();
        make(&creator, &words);
        (0..2_000).for_each(|_| creator.section.borrow_mut().poll().expect("nothing stops it"));
        drop(creator);
        let probes = worker.audit().expect("every term once");
        // Slots, not cache lines: four of them lie beside each other.
        assert!(probes.mean() < 4.0 && probes.longest <= 64, "{name}: {probes:?}, mean {:.2}", probes.mean());
    };
    report("random pairs of random terms", &|creator, words| {
        let mut terms = words.to_vec();
        for _ in 0..200_000 {
            let pair = [terms[creator.below(terms.len())], terms[creator.below(terms.len())]];
            terms.push(creator.create(creator.f, pair));
        }
    });
    report("all pairs of a set", &|creator, words| {
        for &left in &words[..600] {
            for &right in &words[..600] {
                creator.create(creator.f, [left, right]);
            }
        }
    });
    report("all pairs of a set in random order", &|creator, words| {
        for _ in 0..400_000 {
            creator.create(creator.f, [words[creator.below(600)], words[creator.below(600)]]);
        }
    });
    report("lists that share their ends", &|creator, words| {
        let mut lists = vec![creator.section.borrow().empty()];
        for _ in 0..200_000 {
            let rest = lists[creator.below(lists.len().min(5_000))];
            lists.push(creator.create(Symbol::CONS, [words[creator.below(50)], rest]));
        }
    });
    report("a tower", &|creator, words| {
        (0..300_000).fold(words[0], |term, _| creator.create(creator.f, [term, term]));
    });
}
