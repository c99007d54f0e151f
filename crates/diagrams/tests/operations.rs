//! Diagrams against sets of rows: random operations in long sequences, with collections in between, on one thread and
//! on two.

use std::collections::BTreeSet;

use trefoil_control::{Control, Stopped};
use trefoil_diagrams::{Diagrams, LoadError, Options, Pair, Relation, Set, UBig};
use trefoil_groups::Random;

type Row = Vec<u32>;
type Model = BTreeSet<Row>;

/// A relation as a list of pairs.
struct Pairs {
    reads: Vec<usize>,
    writes: Vec<usize>,
    pairs: Vec<Pair>,
}

impl Pairs {
    fn applied(&self, row: &Row, pair: &Pair) -> Option<Row> {
        let fits = self.reads.iter().zip(&pair.read).all(|(&slot, &value)| row[slot] == value);
        fits.then(|| {
            let mut next = row.clone();
            for (&slot, value) in self.writes.iter().zip(&pair.written) {
                next[slot] = value.unwrap_or(next[slot]);
            }
            next
        })
    }

    fn image(&self, rows: &Model) -> Model {
        rows.iter().flat_map(|row| self.pairs.iter().filter_map(|pair| self.applied(row, pair))).collect()
    }

    fn preimage(&self, rows: &Model, within: &Model) -> Model {
        let leads =
            |row: &&Row| self.pairs.iter().any(|pair| self.applied(row, pair).is_some_and(|n| rows.contains(&n)));
        within.iter().filter(leads).cloned().collect()
    }
}

struct Generator {
    random: Random,
    width: usize,
    values: usize,
}

impl Generator {
    fn row(&mut self) -> Row {
        (0..self.width).map(|_| self.random.below(self.values) as u32).collect()
    }

    fn value(&mut self) -> u32 {
        self.random.below(self.values) as u32
    }

    fn order(&mut self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.width).collect();
        for last in (1..self.width).rev() {
            order.swap(last, self.random.below(last + 1));
        }
        order
    }

    fn rows(&mut self, most: usize) -> Model {
        (0..self.random.below(most + 1)).map(|_| self.row()).collect()
    }

    fn slots(&mut self) -> Vec<usize> {
        (0..self.width).filter(|_| self.random.below(3) == 0).collect()
    }

    fn pairs(&mut self) -> Pairs {
        let (reads, writes) = (self.slots(), self.slots());
        let pairs = (0..self.random.below(12)).map(|_| Pair {
            read: reads.iter().map(|_| self.random.below(self.values) as u32).collect(),
            written: writes
                .iter()
                .map(|_| (self.random.below(3) > 0).then(|| self.random.below(self.values) as u32))
                .collect(),
        });
        let pairs = pairs.collect();
        Pairs { reads, writes, pairs }
    }
}

fn set_of(diagrams: &Diagrams, model: &Model) -> Set {
    diagrams.rows_of(model.iter().map(Vec::as_slice)).expect("nothing stops it")
}

fn relation_of(diagrams: &Diagrams, pairs: &Pairs) -> Relation {
    let relation = diagrams.relation(&pairs.reads, &pairs.writes).expect("nothing stops it");
    diagrams.with_pairs(&relation, &pairs.pairs).expect("nothing stops it")
}

fn projected(model: &Model, slots: &[usize]) -> Model {
    model.iter().map(|row| slots.iter().map(|&slot| row[slot]).collect()).collect()
}

/// Everything that relations reach.
fn reached(from: &Model, all: &[Pairs]) -> Model {
    let mut reached = from.clone();
    loop {
        let next = all.iter().fold(reached.clone(), |sum, pairs| &sum | &pairs.image(&reached));
        if next == reached {
            return reached;
        }
        reached = next;
    }
}

/// A sequence of operations on a few sets, each compared with sets of rows.
fn sequence(seed: u64, length: usize, options: &Options) {
    let diagrams = Diagrams::new(options, &Control::unlimited());
    let mut random = Random::new(seed);
    let (width, values) = (1 + random.below(6), 1 + random.below(5));
    let mut generator = Generator { random, width, values };
    let mut sets: Vec<(Set, Model)> = (0..4)
        .map(|_| {
            let model = generator.rows(40);
            (set_of(&diagrams, &model), model)
        })
        .collect();
    // Relations that get more pairs from one saturation to the next.
    let mut growing: Vec<Pairs> = (0..3).map(|_| Pairs { pairs: Vec::new(), ..generator.pairs() }).collect();
    for step in 0..length {
        let pick = |generator: &mut Generator| generator.random.below(4);
        let (one, other, to) = (pick(&mut generator), pick(&mut generator), pick(&mut generator));
        let ((a, left), (b, right)) = (&sets[one], &sets[other]);
        let what = generator.random.below(15);
        let (set, model) = match what {
            0 | 1 => (diagrams.union(a, b), left | right),
            2 => (diagrams.intersection(a, b), left & right),
            3 => (diagrams.difference(a, b), left - right),
            4 => {
                let slots = generator.slots();
                let own = diagrams.slots(&slots).expect("nothing stops it");
                let short = diagrams.project(a, &own).expect("nothing stops it");
                let expected = projected(left, &slots);
                assert_eq!(diagrams.rows(&short).collect::<Model>(), expected, "projection, seed {seed}, step {step}");
                // And back: the rows of the other set whose projection is among these.
                let filter = diagrams.filter(&slots, &short).expect("nothing stops it");
                let kept: Model = right
                    .iter()
                    .filter(|row| expected.contains(&slots.iter().map(|&slot| row[slot]).collect::<Row>()))
                    .cloned()
                    .collect();
                (diagrams.image(b, &filter), kept)
            }
            5 | 6 => {
                let pairs = generator.pairs();
                (diagrams.image(a, &relation_of(&diagrams, &pairs)), pairs.image(left))
            }
            7 => {
                let pairs = generator.pairs();
                (diagrams.preimage(a, &relation_of(&diagrams, &pairs), b), pairs.preimage(left, right))
            }
            8 => {
                let pairs = generator.pairs();
                (diagrams.extended(a, &relation_of(&diagrams, &pairs)), left | &pairs.image(left))
            }
            9 => {
                let all: Vec<Pairs> = (0..generator.random.below(4)).map(|_| generator.pairs()).collect();
                let relations: Vec<Relation> = all.iter().map(|pairs| relation_of(&diagrams, pairs)).collect();
                let refs: Vec<&Relation> = relations.iter().collect();
                let saturated = diagrams.saturated(a, &refs);
                let by_images = diagrams.least(a, |now| {
                    relations
                        .iter()
                        .try_fold(now.clone(), |sum, relation| diagrams.union(&sum, &diagrams.image(now, relation)?))
                });
                let order = Relation::common_slots_first(diagrams.width(a), &refs);
                let ordered = saturated_in(&diagrams, &order, a, &refs);
                let moved = saturated.as_ref().map(|all| diagrams.reordered(all, &order).expect("nothing stops it"));
                assert_eq!(ordered.ok(), moved.ok(), "another order, seed {seed}, step {step}");
                diagrams.tidy();
                assert_eq!(saturated.as_ref().ok(), by_images.as_ref().ok(), "saturation, seed {seed}, step {step}");
                (saturated, reached(left, &all))
            }
            11 => {
                let grown = generator.random.below(3);
                let (reads, writes) = (growing[grown].reads.len(), growing[grown].writes.len());
                let mut value = || generator.random.below(generator.values) as u32;
                let read = (0..reads).map(|_| value()).collect();
                let written = (0..writes).map(|_| Some(value()).filter(|value| value % 3 > 0)).collect();
                growing[grown].pairs.push(Pair { read, written });
                let relations: Vec<Relation> = growing.iter().map(|pairs| relation_of(&diagrams, pairs)).collect();
                (diagrams.saturated(a, &relations.iter().collect::<Vec<_>>()), reached(left, &growing))
            }
            12 => {
                let order = generator.order();
                let moved = |rows: &Model| -> Model {
                    rows.iter().map(|row| order.iter().map(|&slot| row[slot]).collect()).collect()
                };
                let set = diagrams.reordered(a, &order).expect("nothing stops it");
                let pairs = generator.pairs();
                let relation = diagrams.reordered_relation(&relation_of(&diagrams, &pairs), &order);
                let image = diagrams.image(&set, &relation.expect("nothing stops it")).expect("nothing stops it");
                let expected = moved(&pairs.image(left));
                assert!(diagrams.rows(&image).eq(expected.iter().cloned()), "an order, seed {seed}, step {step}");
                (Ok(set), moved(left))
            }
            13 => {
                let columns: Vec<Vec<u32>> = (0..generator.width)
                    .map(|_| (0..generator.random.below(4)).map(|_| generator.value()).collect())
                    .collect();
                let mut rows: Model = [Vec::new()].into();
                for column in &columns {
                    let longer = |row: &Row| column.iter().map(|&value| [row.clone(), vec![value]].concat()).collect();
                    rows = rows.iter().flat_map::<Vec<Row>, _>(longer).collect();
                }
                (diagrams.product(&columns), rows)
            }
            10 => {
                let mut bytes = Vec::new();
                diagrams.save(a, &mut bytes).expect("memory takes it");
                let read = diagrams.load(&mut bytes.as_slice()).expect("what was written is read");
                assert_eq!(read, *a, "a file, seed {seed}, step {step}");
                (Ok(read), left.clone())
            }
            _ => {
                let model = generator.rows(40);
                (Ok(set_of(&diagrams, &model)), model)
            }
        };
        let set = set.expect("nothing stops it");
        assert!(diagrams.rows(&set).eq(model.iter().cloned()), "operation {what}, seed {seed}, step {step}");
        assert_eq!(diagrams.count(&set).expect("nothing stops it"), UBig::from(model.len()));
        sets[to] = (set, model);
        if generator.random.below(50) == 0 {
            diagrams.collect();
        }
        for (set, model) in &sets {
            assert!(*set == set_of(&diagrams, model), "a set was lost, seed {seed}, step {step}");
        }
    }
}

/// What relations reach from a set, with the slots of all of them in another order.
fn saturated_in(diagrams: &Diagrams, order: &[usize], set: &Set, relations: &[&Relation]) -> Result<Set, Stopped> {
    let relations: Vec<Relation> =
        relations.iter().map(|relation| diagrams.reordered_relation(relation, order)).collect::<Result<_, _>>()?;
    diagrams.saturated(&diagrams.reordered(set, order)?, &relations.iter().collect::<Vec<_>>())
}

#[test]
fn slots_that_most_wide_relations_touch_come_first() {
    let diagrams = Diagrams::new(&Options::default(), &Control::unlimited());
    let touching = |slots: &[usize]| diagrams.relation(slots, slots).expect("nothing stops it");
    let wide = [touching(&[0, 2, 3]), touching(&[1, 3, 4]), touching(&[1, 2, 3, 4]), touching(&[3, 4])];
    assert_eq!(Relation::common_slots_first(5, &wide.each_ref()), [3, 4, 0, 1, 2], "three of four touch slot 4");
    let narrow = [touching(&[0, 3]), touching(&[1, 3]), touching(&[2, 3]), touching(&[3, 4])];
    assert_eq!(Relation::common_slots_first(5, &narrow.each_ref()), [0, 1, 2, 3, 4], "they touch two of five");
}

#[test]
fn a_thousand_operations_on_one_thread_and_two() {
    for seed in 0..6 {
        for threads in [1, 2] {
            sequence(seed, 1000, &Options { threads, ..Options::default() });
        }
    }
}

#[test]
fn operations_with_collections_at_every_few_polls() {
    for seed in 100..106 {
        for threads in [1, 2] {
            sequence(seed, 150, &Options { threads, nodes: 1, zealous: true });
        }
    }
}

/// Counters: `slots` digits below `values`, and a relation for each that counts it up.
fn counters(diagrams: &Diagrams, slots: usize, values: u32) -> (Set, Vec<Relation>) {
    let relations = (0..slots).map(|slot| {
        let relation = diagrams.relation(&[slot], &[slot]).expect("nothing stops it");
        let pairs: Vec<Pair> =
            (1..values).map(|value| Pair { read: vec![value - 1], written: vec![Some(value)] }).collect();
        diagrams.with_pairs(&relation, &pairs).expect("nothing stops it")
    });
    (diagrams.row(&vec![0; slots]).expect("nothing stops it"), relations.collect())
}

#[test]
fn counts_are_exact_beyond_machine_words() {
    let diagrams = Diagrams::new(&Options::default(), &Control::unlimited());
    let (initial, relations) = counters(&diagrams, 300, 10);
    let all = diagrams.saturated(&initial, &relations.iter().collect::<Vec<_>>()).expect("nothing stops it");
    let count = diagrams.count(&all).expect("nothing stops it");
    assert_eq!(count, UBig::from(10u32).pow(300));
    assert_eq!(diagrams.nodes(&all), 3000);
    let inside = diagrams.greatest(&all, |now| diagrams.image(now, &relations[0])).expect("nothing stops it");
    assert!(inside.is_empty(), "every digit ends");
}

#[test]
fn long_lists_and_wide_rows_need_no_deep_stack() {
    let diagrams = Diagrams::new(&Options { threads: 2, ..Options::default() }, &Control::unlimited());
    let rows: Vec<Row> = (0..200_000).map(|value| vec![value, 7]).collect();
    let set = diagrams.rows_of(rows.iter().map(Vec::as_slice)).expect("nothing stops it");
    let odd: Vec<&[u32]> = rows.iter().skip(1).step_by(2).map(Vec::as_slice).collect();
    let odd = diagrams.rows_of(odd).expect("nothing stops it");
    let even = diagrams.difference(&set, &odd).expect("nothing stops it");
    assert_eq!(diagrams.count(&even).expect("nothing stops it"), UBig::from(100_000u32));
    assert_eq!(diagrams.union(&even, &odd).expect("nothing stops it"), set);
    let wide: Vec<Row> = (0..3).map(|value| vec![value; 5_000]).collect();
    let wide_set = diagrams.rows_of(wide.iter().map(Vec::as_slice)).expect("nothing stops it");
    let one = diagrams.row(&wide[1]).expect("nothing stops it");
    let rest = diagrams.difference(&wide_set, &one).expect("nothing stops it");
    assert!(diagrams.rows(&rest).eq([wide[0].clone(), wide[2].clone()]));
    assert_eq!(diagrams.union(&one, &rest).expect("nothing stops it"), wide_set);
}

#[test]
fn a_stop_leaves_a_pool_that_works() {
    for threads in [1, 2] {
        for poll in 1..60 {
            let control = Control::stopping_at(poll, Stopped::Interrupted);
            let options = Options { threads, nodes: 1, zealous: true };
            let diagrams = Diagrams::new(&options, &control);
            let run = || -> Result<UBig, Stopped> {
                let initial = diagrams.row(&[0; 5])?;
                let step = diagrams.relation(&[0, 4], &[0, 4])?;
                let pairs: Vec<Pair> = (0..40)
                    .map(|k| Pair { read: vec![k / 8, k % 8], written: vec![Some((k + 1) / 8), Some((k + 1) % 8)] })
                    .collect();
                let step = diagrams.with_pairs(&step, &pairs)?;
                diagrams.count(&diagrams.saturated(&initial, &[&step])?)
            };
            match run() {
                Ok(count) => assert_eq!(count, UBig::from(41u32)),
                Err(stopped) => assert_eq!(stopped, Stopped::Interrupted),
            }
        }
    }
}

#[test]
fn a_table_grows_and_collects() {
    let diagrams = Diagrams::new(&Options { threads: 2, nodes: 1, zealous: false }, &Control::unlimited());
    let mut random = Random::new(7);
    let mut all = diagrams.empty();
    let mut model = Model::new();
    for _ in 0..60 {
        let rows: Model = (0..200).map(|_| (0..6).map(|_| random.below(20) as u32).collect()).collect();
        all = diagrams.union(&all, &set_of(&diagrams, &rows)).expect("nothing stops it");
        model.extend(rows);
    }
    assert!(diagrams.rows(&all).eq(model.into_iter()));
    assert!(diagrams.collections() > 5, "{} collections", diagrams.collections());
    assert!(diagrams.peak_nodes() > diagrams.nodes(&all) as u64);
}

/// A model of `lddmc` with two slots. Its relation raises the second slot where the first is 1, keeps the first by a
/// copy and has an action label behind; or it copies what it reads, which is refused.
fn small_model(copies_what_it_reads: bool) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    let node = |bytes: &mut Vec<u8>, key: Option<u32>, down: u64, right: u64| {
        let value = key.unwrap_or(0);
        let first = right << 1 | u64::from(value) << 48;
        let second = down << 17 | u64::from(key.is_none()) << 16 | u64::from(value >> 16);
        bytes.extend_from_slice(&first.to_le_bytes());
        bytes.extend_from_slice(&second.to_le_bytes());
    };
    let int = |bytes: &mut Vec<u8>, value: i32| bytes.extend_from_slice(&value.to_le_bytes());
    let long = |bytes: &mut Vec<u8>, value: u64| bytes.extend_from_slice(&value.to_le_bytes());
    int(&mut bytes, 2);
    int(&mut bytes, -1);
    // The initial row (1, 70000).
    long(&mut bytes, 2);
    node(&mut bytes, Some(70_000), 1, 0); // 2
    node(&mut bytes, Some(1), 2, 0); // 3
    long(&mut bytes, 3);
    int(&mut bytes, 1);
    for value in [2, 2, 0, 1, 0, 1] {
        int(&mut bytes, value);
    }
    // Pairs 1 → copied, 70000 → 70001, with the label 5.
    long(&mut bytes, 5);
    node(&mut bytes, Some(5), 1, 0); // 4
    node(&mut bytes, Some(70_001), 4, 0); // 5
    node(&mut bytes, Some(70_000), 5, 0); // 6
    node(&mut bytes, None, 6, 0); // 7
    node(&mut bytes, (!copies_what_it_reads).then_some(1), 7, 0); // 8
    long(&mut bytes, 8);
    bytes
}

#[test]
fn models_of_lddmc_are_read_and_broken_ones_refused() {
    let diagrams = Diagrams::new(&Options::default(), &Control::unlimited());
    let error = diagrams.load_lddmc(&mut small_model(true).as_slice()).expect_err("every value is meant there");
    assert_eq!(error.to_string(), "not a file of decision diagrams: a relation copies a value that it reads");
    let bytes = small_model(false);
    let model = diagrams.load_lddmc(&mut bytes.as_slice()).expect("a model");
    assert_eq!(model.width, 2);
    assert!(diagrams.rows(&model.initial).eq([vec![1, 70_000]]));
    let all = diagrams.saturated(&model.initial, &[&model.relations[0]]).expect("nothing stops it");
    assert!(diagrams.rows(&all).eq([vec![1, 70_000], vec![1, 70_001]]));
    // Every file that ends too early, and files with other bytes, give an error or a model, never a panic.
    for end in 0..bytes.len() {
        let error = diagrams.load_lddmc(&mut &bytes[..end]).expect_err("it ends too early");
        assert!(matches!(error, LoadError::Input(_) | LoadError::Malformed(_)), "{error}");
    }
    let mut random = Random::new(3);
    for _ in 0..2000 {
        let mut other = bytes.clone();
        let at = random.below(other.len());
        other[at] ^= 1 << random.below(8);
        let _ = diagrams.load_lddmc(&mut other.as_slice()).map(|model| diagrams.count(&model.initial));
        let _ = diagrams.load(&mut other.as_slice());
    }
    let broken: &[u8] = b"TREFLDD1\x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0";
    let error = diagrams.load(&mut &*broken).expect_err("nothing is below the node");
    assert_eq!(error.to_string(), "not a file of decision diagrams: a leaf in the place of a node");
}
