//! Components whose states are found on demand.
//!
//! A layer over a network ([`crate::prioritise`], [`crate::chase`]) can be a component of a larger network without
//! being enumerated first: FDR's manual calls such machines lazy. The rows of the inner network are its states,
//! numbered as they are found; state 0 is the initial one, which resets rely on. Its alphabet is known beforehand: the
//! labels that the rules of the inner network can give, whether or not they ever do.
//!
//! # Whole states, or labels
//!
//! There are two ways to expand a state. Under priority each label depends on the others, so a state is expanded
//! *whole*, once. Under `chase` labels are independent and expensive: an intruder offers thousands of messages, the
//! honest agents accept two or three of them, and every target costs a chase. So a chased state is expanded *by label*,
//! and the targets are remembered per state and label.
//!
//! # Threads
//!
//! All threads share the numbers and what was found. States lie in an append-only vector whose elements never move; a
//! packed row is found again through one of several locked tables, chosen by its hash. What was found under a label
//! lies in a second such vector, and each thread has a small table in front of it, so that no lock is taken for recent
//! results. Results live as long as the machine, and explorers return references to them.
//!
//! Numbers depend on which thread came first. They are names of rows and nothing else depends on them: the machine is
//! the [`Domain`] of its slot, the canonical bytes of a state are those of its row (and a byte that says whether it
//! only diverges, which follows from the row but is not visible in it), and targets come in the order of their rows by
//! the layout of the inner network.
//!
//! # Cuts
//!
//! Finding what a state can do may be cut. Only a walk that ended with `Ok` is remembered; states that were found on
//! the way keep their numbers, since a row becomes a state only when its chase has ended.
//!
//! Numbers have 32 bits. Where one more is needed the job is stopped.
//!
//! Cost: a packed row and some sixty bytes a state; about forty bytes for each pair of a state and a label that was
//! expanded.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use trefoil_control::Control;
use trefoil_explore::Packing;
use trefoil_system::{Cut, Domain, Explorer, LabelId, Labels, System, Value};

use crate::chase::ChasedExplorer;
use crate::network::{Layer, Network};

/// How many tables share the rows, and how many share what was found under labels.
const SHARDS: usize = 64;

/// How many results a thread caches; a power of two.
const AT_HAND: usize = 1 << 12;

/// How many steps of a state are found between two polls of the control; a power of two.
const PATIENCE: usize = 1 << 12;

/// There are no numbers left.
struct OutOfNumbers;

type Hasher = foldhash::fast::FixedState;

/// A layer as a component; see the head of this file.
pub struct LazyMachine {
    network: Arc<Network>,
    /// Ascending; positions are local labels.
    labels: Vec<LabelId>,
    packing: Packing,
    states: boxcar::Vec<State>,
    /// State numbers by the hash of their row; a hash that is taken is followed by the next number.
    numbers: Vec<Mutex<HashMap<u64, u32, Hasher>>>,
    /// Where in `results` the targets of a state and label are.
    known: Vec<Mutex<HashMap<u64, u32, Hasher>>>,
    results: boxcar::Vec<Box<[u32]>>,
}

struct State {
    row: Box<[u64]>,
    /// It only diverges.
    diverges: bool,
    /// What it offers, when it was expanded whole.
    offers: OnceLock<Offers>,
}

/// Everything a state can do.
struct Offers {
    /// Local labels, ascending.
    labels: Box<[u32]>,
    /// The targets under label `i` are `targets[starts[i]..starts[i + 1]]`.
    starts: Box<[u32]>,
    targets: Box<[u32]>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LazyMachine {
    /// The number of the initial state.
    pub const INITIAL: Value = 0;

    /// A network as a component.
    pub fn new(network: Arc<Network>) -> LazyMachine {
        let shards = || (0..SHARDS).map(|_| Mutex::default()).collect();
        let machine = LazyMachine {
            labels: network.alphabet(),
            packing: Packing::new(network.layout()),
            states: boxcar::Vec::new(),
            numbers: shards(),
            known: shards(),
            results: boxcar::Vec::new(),
            network,
        };
        let diverges = match machine.network.layer() {
            Some(Layer::Chase(chase)) => chase.diverges_at_once(),
            _ => false,
        };
        let number = machine.number_of(&machine.network.start(), diverges);
        assert_eq!(number.ok(), Some(LazyMachine::INITIAL), "the initial state is found first");
        machine
    }

    /// The network that it is made of.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// How many states were found.
    pub fn states_met(&self) -> usize {
        self.states.count()
    }

    /// The row of a state that was found.
    pub fn row(&self, state: Value) -> Vec<Value> {
        let mut row = vec![0; self.packing.width()];
        self.row_into(state, &mut row);
        row
    }

    /// Puts the row of a state that was met into `row`, which has its width.
    pub(crate) fn row_into(&self, state: Value, row: &mut [Value]) {
        self.packing.unpack(&self.states[state as usize].row, row);
    }

    /// The number of a row that does not only diverge, as under priorities; `words` is scratch space.
    pub(crate) fn number_of_settled(
        &self,
        row: &[Value],
        words: &mut Vec<u64>,
        control: &Control,
    ) -> Result<Value, Cut> {
        words.clear();
        words.resize(self.packing.words(), 0);
        self.packing.pack(row, words);
        self.intern(words, false).map_err(|OutOfNumbers| control.out_of_numbers().into())
    }

    /// The number of a reachable row.
    pub fn number(&self, row: &[Value], control: &Control) -> Result<Value, Cut> {
        let diverges = match self.network.layer() {
            Some(Layer::Chase(_)) => ChasedExplorer::new(&self.network, control).diverges(row)?,
            _ => false,
        };
        self.number_of(row, diverges).map_err(|OutOfNumbers| control.out_of_numbers().into())
    }

    fn number_of(&self, row: &[Value], diverges: bool) -> Result<Value, OutOfNumbers> {
        let mut words = vec![0; self.packing.words()];
        self.packing.pack(row, &mut words);
        self.intern(&words, diverges)
    }

    /// Its labels, ascending; it may never do some of them.
    pub fn labels(&self) -> &[LabelId] {
        &self.labels
    }

    /// What it can do in a state that was found: labels, ascending, and targets in the order of their rows.
    pub fn steps(&self, state: Value, control: &Control) -> Result<Vec<(LabelId, Value)>, Cut> {
        let mut explorer = self.explorer(control);
        let mut all = Vec::new();
        for (local, &label) in (0..).zip(&self.labels) {
            all.extend(explorer.find(state, local)?.iter().map(|&target| (label, target)));
        }
        Ok(all)
    }

    /// The labels that it can do in a state that was found, ascending.
    pub fn offers(&self, state: Value, control: &Control) -> Result<Vec<LabelId>, Cut> {
        let mut labels: Vec<LabelId> = self.steps(state, control)?.into_iter().map(|(label, _)| label).collect();
        labels.dedup();
        Ok(labels)
    }

    pub(crate) fn label_table(&self) -> &Arc<Labels> {
        self.network.labels()
    }

    /// The order of states by their rows, slot by slot. A chase, which takes the first of several targets, takes the
    /// same one whichever thread came first.
    fn by_row(&self, left: u32, right: u32) -> Ordering {
        if left == right {
            return Ordering::Equal;
        }
        let (one, other) = (&self.states[left as usize].row, &self.states[right as usize].row);
        match self.packing.first_difference(one, other) {
            None => Ordering::Equal,
            Some((slot, one, other)) => self.network.layout().slots()[slot].values.compare(one, other),
        }
    }

    /// The number of a packed row.
    fn intern(&self, words: &[u64], diverges: bool) -> Result<u32, OutOfNumbers> {
        let mut hash = Hasher::default().hash_one(words);
        let mut numbers = lock(&self.numbers[(hash >> 58) as usize % SHARDS]);
        while let Some(&known) = numbers.get(&hash) {
            if *self.states[known as usize].row == *words {
                return Ok(known);
            }
            hash = hash.wrapping_add(1);
        }
        let state = State { row: words.into(), diverges, offers: OnceLock::new() };
        let number = u32::try_from(self.states.push(state)).map_err(|_| OutOfNumbers)?;
        numbers.insert(hash, number);
        Ok(number)
    }

    pub(crate) fn explorer<'a>(&'a self, control: &'a Control) -> LazyExplorer<'a> {
        let view = match self.network.layer() {
            Some(Layer::Chase(_)) => View::ByLabel(Box::new(ChasedExplorer::new(&self.network, control))),
            _ => View::Whole(self.network.explorer(control)),
        };
        LazyExplorer {
            machine: self,
            control,
            view,
            loaded: None,
            row: vec![0; self.packing.width()],
            words: vec![0; self.packing.words()],
            at_hand: Vec::new(),
        }
    }
}

impl Domain for LazyMachine {
    fn bytes(&self, value: Value, into: &mut Vec<u8>) {
        self.network.layout().bytes(&self.row(value), into);
        into.push(u8::from(self.states[value as usize].diverges));
    }

    fn value(&self, bytes: &[u8]) -> Option<Value> {
        let (&diverges, row) = bytes.split_last()?;
        let row = self.network.layout().row(row).filter(|_| diverges <= 1)?;
        self.number_of(&row, diverges == 1).ok()
    }

    fn compare(&self, left: Value, right: Value) -> Ordering {
        self.by_row(left, right)
    }

    fn text(&self, value: Value) -> String {
        self.network.describe(&self.row(value))
    }

    fn len(&self) -> usize {
        self.states_met()
    }
}

/// How the states of a lazy machine are expanded.
enum View<'a> {
    Whole(Box<dyn Explorer + 'a>),
    ByLabel(Box<ChasedExplorer<'a>>),
}

/// One thread's access to a lazy machine.
pub(crate) struct LazyExplorer<'a> {
    machine: &'a LazyMachine,
    control: &'a Control,
    view: View<'a>,
    /// The state whose row was unpacked last.
    loaded: Option<u32>,
    row: Vec<Value>,
    words: Vec<u64>,
    /// Results by the hash of state and label; the key stands beside them. Empty until it is needed.
    at_hand: Vec<(u64, &'a [u32])>,
}

impl<'a> LazyExplorer<'a> {
    /// The targets of a state under a local label.
    #[inline]
    pub(crate) fn find(&mut self, state: u32, local: u32) -> Result<&'a [u32], Cut> {
        if let View::ByLabel(_) = self.view {
            return self.find_by_label(state, local);
        }
        let offers = self.expanded(state)?;
        Ok(match offers.labels.binary_search(&local) {
            Ok(at) => &offers.targets[offers.starts[at] as usize..offers.starts[at + 1] as usize],
            Err(_) => &[],
        })
    }

    /// The local labels that a state offers, when it costs no more to find all than to find one.
    pub(crate) fn offered(&mut self, state: u32) -> Result<Option<&'a [u32]>, Cut> {
        match self.view {
            View::Whole(_) => self.expanded(state).map(|offers| Some(&*offers.labels)),
            View::ByLabel(_) => Ok(None),
        }
    }

    fn load(&mut self, state: u32) {
        if self.loaded != Some(state) {
            self.machine.row_into(state, &mut self.row);
            self.loaded = Some(state);
        }
    }

    fn expanded(&mut self, number: u32) -> Result<&'a Offers, Cut> {
        let state = &self.machine.states[number as usize];
        if let Some(known) = state.offers.get() {
            return Ok(known);
        }
        self.load(number);
        let found = self.found_whole()?;
        // Another thread may have found the same meanwhile.
        Ok(state.offers.get_or_init(|| found))
    }

    /// Everything that the loaded state can do, found now.
    fn found_whole(&mut self) -> Result<Offers, Cut> {
        let (machine, control, words, row) = (self.machine, self.control, &mut self.words, &self.row);
        let View::Whole(explorer) = &mut self.view else { unreachable!("this machine is expanded by label") };
        let mut steps: Vec<(u32, u32)> = Vec::new();
        control.check()?;
        explorer.successors(row, &mut |step| {
            machine.packing.pack(step.row, words);
            let target = machine.intern(words, false).map_err(|OutOfNumbers| control.out_of_numbers())?;
            let local = machine.labels.binary_search(&step.label).expect("the alphabet has every label");
            steps.push((local as u32, target));
            if steps.len().is_multiple_of(PATIENCE) {
                control.check()?;
            }
            Ok(())
        })?;
        steps.sort_unstable();
        steps.dedup();
        steps.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| machine.by_row(a.1, b.1)));
        let (mut labels, mut starts) = (Vec::new(), Vec::new());
        for (at, &(label, _)) in steps.iter().enumerate() {
            if labels.last() != Some(&label) {
                labels.push(label);
                starts.push(at as u32);
            }
        }
        starts.push(steps.len() as u32);
        let targets = steps.iter().map(|&(_, target)| target).collect();
        Ok(Offers { labels: labels.into(), starts: starts.into(), targets })
    }

    fn find_by_label(&mut self, state: u32, local: u32) -> Result<&'a [u32], Cut> {
        let machine = self.machine;
        let label = machine.labels[local as usize];
        if machine.states[state as usize].diverges != (label == LabelId::TAU) {
            return Ok(&[]);
        }
        let key = u64::from(state) << 32 | u64::from(local);
        let hash = Hasher::default().hash_one(key);
        let place = hash as usize % AT_HAND;
        if self.at_hand.is_empty() {
            self.at_hand = vec![(u64::MAX, &[][..]); AT_HAND];
        }
        let (known, targets) = self.at_hand[place];
        if known == key {
            return Ok(targets);
        }
        let shard = &machine.known[(hash >> 58) as usize % SHARDS];
        let known = lock(shard).get(&key).copied();
        let result = match known {
            Some(result) => result,
            None => {
                let found = self.chased(state, label)?;
                self.remembered(shard, key, found)?
            }
        };
        let targets: &'a [u32] = &machine.results[result as usize];
        self.at_hand[place] = (key, targets);
        Ok(targets)
    }

    /// Where the targets of a state and label are from now on. Another thread may have found the same meanwhile.
    fn remembered(&self, shard: &Mutex<HashMap<u64, u32, Hasher>>, key: u64, found: Box<[u32]>) -> Result<u32, Cut> {
        match lock(shard).entry(key) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(place) => {
                let result = u32::try_from(self.machine.results.push(found));
                Ok(*place.insert(result.map_err(|_| self.control.out_of_numbers())?))
            }
        }
    }

    /// The targets of a state under a label, found now.
    fn chased(&mut self, state: u32, label: LabelId) -> Result<Box<[u32]>, Cut> {
        if label == LabelId::TAU {
            return Ok([state].into());
        }
        self.load(state);
        let (machine, control, words) = (self.machine, self.control, &mut self.words);
        let View::ByLabel(explorer) = &mut self.view else { unreachable!("this machine is expanded whole") };
        let mut targets = Vec::new();
        explorer.by_label(&self.row, label, &mut |row, diverges| {
            machine.packing.pack(row, words);
            targets.push(machine.intern(words, diverges).map_err(|OutOfNumbers| control.out_of_numbers())?);
            Ok(())
        })?;
        targets.sort_unstable();
        targets.dedup();
        targets.sort_by(|&a, &b| machine.by_row(a, b));
        Ok(targets.into())
    }
}
