//! Components whose states are found when they are asked for.
//!
//! A layer over a network ([`crate::prioritise`], [`crate::chase`]) can be a component of a larger network without being
//! enumerated first: FDR's manual calls such machines lazy. The rows of the inner network are its states, numbered as they are
//! met; state 0 is the initial one, which resets rely on. Its alphabet is known beforehand: the labels that the rules of the
//! inner network can give, whether or not they ever do.
//!
//! # What is asked
//!
//! There are two ways to look at a state. Under priority nothing can be said of one label without knowing the others, so a
//! state is expanded *whole*, once. Under `chase` labels are independent and dear: an intruder offers thousands of messages, of
//! which the honest agents take two or three, and every target costs a chase. So it is asked *by label*, and what was found
//! is remembered per state and label.
//!
//! # Threads
//!
//! All threads share the numbers and what was found. States lie in an append-only vector whose elements never move; a packed row is found
//! again through one of several locked tables, chosen by its hash. What was found under a label lies in a second
//! such vector, and each thread has a small table in front of it, so that no lock is taken for what it met lately. Results
//! live as long as the machine, and explorers hand out references to them.
//!
//! Numbers depend on who came first. They are names of rows and nothing else depends on them (see [`Slot::discovered`]): targets come in the
//! order of their rows.
//!
//! Cost: a packed row and some sixty bytes a state; about forty bytes for every state and label that was asked.
//!
//! [`Slot::discovered`]: trefoil_system::Slot::discovered

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use trefoil_explore::Packing;
use trefoil_system::{Explorer, LabelId, Labels, System, Value};

use crate::chase::ChasedExplorer;
use crate::network::{Layer, Network};

/// How many tables share the rows, and how many share what was found under labels.
const SHARDS: usize = 64;

/// How many results a thread has at hand; a power of two.
const AT_HAND: usize = 1 << 12;

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
    /// It does nothing but diverge.
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
        let mut words = vec![0; machine.packing.words()];
        machine.packing.pack(&machine.network.initial(), &mut words);
        assert_eq!(machine.intern(&words, diverges), LazyMachine::INITIAL);
        machine
    }

    /// The network that it is made of.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// How many states were met.
    pub fn states_met(&self) -> usize {
        self.states.count()
    }

    /// The row of a state that was met.
    pub fn row(&self, state: Value) -> Vec<Value> {
        let mut row = vec![0; self.packing.width()];
        self.packing.unpack(&self.states[state as usize].row, &mut row);
        row
    }

    /// Puts the row of a state that was met into `row`, which has its width.
    pub(crate) fn row_into(&self, state: Value, row: &mut [Value]) {
        self.packing.unpack(&self.states[state as usize].row, row);
    }

    /// The number of a row that never does nothing but diverge, as under priorities; `words` is scratch space.
    pub(crate) fn number_of_settled(&self, row: &[Value], words: &mut Vec<u64>) -> Value {
        words.clear();
        words.resize(self.packing.words(), 0);
        self.packing.pack(row, words);
        self.intern(words, false)
    }

    /// The number of a reachable row.
    pub fn number(&self, row: &[Value]) -> Value {
        let diverges = match self.network.layer() {
            Some(Layer::Chase(_)) => {
                let mut diverges = false;
                self.network.explorer().successors(row, &mut |step| diverges |= step.label == LabelId::TAU);
                diverges
            }
            _ => false,
        };
        let mut words = vec![0; self.packing.words()];
        self.packing.pack(row, &mut words);
        self.intern(&words, diverges)
    }

    /// Its labels, ascending; it may never do some of them.
    pub fn labels(&self) -> &[LabelId] {
        &self.labels
    }

    /// What it can do in a state that was met: labels and targets, ascending.
    pub fn steps(&self, state: Value) -> Vec<(LabelId, Value)> {
        let mut explorer = self.explorer();
        let all = (0..self.labels.len() as u32).flat_map(|local| {
            let label = self.labels[local as usize];
            explorer.find(state, local).iter().map(move |&target| (label, target))
        });
        all.collect()
    }

    /// The labels that it can do in a state that was met, ascending.
    pub fn offers(&self, state: Value) -> Vec<LabelId> {
        let mut labels: Vec<LabelId> = self.steps(state).into_iter().map(|(label, _)| label).collect();
        labels.dedup();
        labels
    }

    pub(crate) fn label_table(&self) -> &Arc<Labels> {
        self.network.labels()
    }

    /// The order of states by their rows. Who asks for the first target of several (a chase) gets the same one whoever came first.
    fn by_row(&self, left: u32, right: u32) -> Ordering {
        self.states[left as usize].row.cmp(&self.states[right as usize].row)
    }

    /// The number of a packed row.
    fn intern(&self, words: &[u64], diverges: bool) -> u32 {
        let mut hash = Hasher::default().hash_one(words);
        let mut numbers = lock(&self.numbers[(hash >> 58) as usize % SHARDS]);
        while let Some(&known) = numbers.get(&hash) {
            if *self.states[known as usize].row == *words {
                return known;
            }
            hash = hash.wrapping_add(1);
        }
        let state = State { row: words.into(), diverges, offers: OnceLock::new() };
        let number = u32::try_from(self.states.push(state)).expect("fewer than 2^32 states");
        numbers.insert(hash, number);
        number
    }

    pub(crate) fn explorer(&self) -> LazyExplorer<'_> {
        let view = match self.network.layer() {
            Some(Layer::Chase(_)) => View::ByLabel(Box::new(ChasedExplorer::new(&self.network))),
            _ => View::Whole(self.network.explorer()),
        };
        LazyExplorer {
            machine: self,
            view,
            loaded: None,
            row: vec![0; self.packing.width()],
            words: vec![0; self.packing.words()],
            at_hand: Vec::new(),
        }
    }
}

/// How the states of a lazy machine are looked at.
enum View<'a> {
    Whole(Box<dyn Explorer + 'a>),
    ByLabel(Box<ChasedExplorer<'a>>),
}

/// One thread's access to a lazy machine.
pub(crate) struct LazyExplorer<'a> {
    machine: &'a LazyMachine,
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
    pub(crate) fn find(&mut self, state: u32, local: u32) -> &'a [u32] {
        if let View::ByLabel(_) = self.view {
            return self.find_by_label(state, local);
        }
        let offers = self.expanded(state);
        match offers.labels.binary_search(&local) {
            Ok(at) => &offers.targets[offers.starts[at] as usize..offers.starts[at + 1] as usize],
            Err(_) => &[],
        }
    }

    /// The local labels that a state offers, when it costs no more to find all than to find one.
    pub(crate) fn offered(&mut self, state: u32) -> Option<&'a [u32]> {
        match self.view {
            View::Whole(_) => Some(&self.expanded(state).labels),
            View::ByLabel(_) => None,
        }
    }

    fn load(&mut self, state: u32) {
        if self.loaded != Some(state) {
            self.machine.packing.unpack(&self.machine.states[state as usize].row, &mut self.row);
            self.loaded = Some(state);
        }
    }

    fn expanded(&mut self, number: u32) -> &'a Offers {
        let machine = self.machine;
        let state = &machine.states[number as usize];
        if let Some(known) = state.offers.get() {
            return known;
        }
        self.load(number);
        let (words, row) = (&mut self.words, &self.row);
        let View::Whole(explorer) = &mut self.view else { unreachable!("this machine is asked by label") };
        state.offers.get_or_init(|| {
            let mut steps: Vec<(u32, u32)> = Vec::new();
            explorer.successors(row, &mut |step| {
                machine.packing.pack(step.row, words);
                let target = machine.intern(words, false);
                let local = machine.labels.binary_search(&step.label).expect("the alphabet has every label");
                steps.push((local as u32, target));
            });
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
            Offers { labels: labels.into(), starts: starts.into(), targets }
        })
    }

    fn find_by_label(&mut self, state: u32, local: u32) -> &'a [u32] {
        let machine = self.machine;
        let label = machine.labels[local as usize];
        if machine.states[state as usize].diverges != (label == LabelId::TAU) {
            return &[];
        }
        let key = u64::from(state) << 32 | u64::from(local);
        let hash = Hasher::default().hash_one(key);
        let place = hash as usize % AT_HAND;
        if self.at_hand.is_empty() {
            self.at_hand = vec![(u64::MAX, &[][..]); AT_HAND];
        }
        let (known, targets) = self.at_hand[place];
        if known == key {
            return targets;
        }
        let shard = &machine.known[(hash >> 58) as usize % SHARDS];
        let known = lock(shard).get(&key).copied();
        let result = known.unwrap_or_else(|| {
            let found = self.chased(state, label);
            // Another thread may have found the same meanwhile.
            *lock(shard).entry(key).or_insert_with(|| machine.results.push(found) as u32)
        });
        let targets: &'a [u32] = &machine.results[result as usize];
        self.at_hand[place] = (key, targets);
        targets
    }

    /// The targets of a state under a label, found now.
    fn chased(&mut self, state: u32, label: LabelId) -> Box<[u32]> {
        if label == LabelId::TAU {
            return [state].into();
        }
        self.load(state);
        let (machine, words) = (self.machine, &mut self.words);
        let View::ByLabel(explorer) = &mut self.view else { unreachable!("this machine is expanded whole") };
        let mut targets = Vec::new();
        explorer.by_label(&self.row, label, &mut |row, diverges| {
            machine.packing.pack(row, words);
            targets.push(machine.intern(words, diverges));
        });
        targets.sort_unstable();
        targets.dedup();
        targets.sort_by(|&a, &b| machine.by_row(a, b));
        targets.into()
    }
}
