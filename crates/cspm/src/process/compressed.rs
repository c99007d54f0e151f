//! Compressions: networks that are explored, minimised and then used as components.
//!
//! A compressed process is a machine before it is made. `dbisim(P)` as a term is the initial state of a machine whose
//! network is known, and the machine is *waiting*: its network is explored and compressed when its transitions are
//! first needed. Then all waiting machines are made, each on a thread of its own. They do not depend on each other,
//! because building a network has asked for all machines in it. So in `dbisim(P) [|A|] dbisim(Q)` both are made at
//! once, and in `dbisim(dbisim(P) [|A|] Q)` the inner one is made when the network of the outer one is built. A single
//! one has all threads to itself.
//!
//! # Reuse
//!
//! - The same compression of the same term is one machine.
//! - The same compression of networks with the same rules over the same components is made once, whatever the terms;
//!   components are the same when they have the same transitions. Generated scripts have many parts that differ in
//!   their names only.
//! - A compression that cannot change what it is given (`sbisim` of `dbisim` of `P`) is left out.
//!
//! A machine whose construction was stopped is made when a later check needs it; other machines do not wait for it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use trefoil_control::Control;
use trefoil_lts::Lts;
use trefoil_lts::compress::{Compression, compress};
use trefoil_network::{Format, Network, compose};
use trefoil_system::Cut;

use super::leaf::{MachineData, MachineId, Made, size};
use super::states::StateTerms;
use super::terms::{Node, TermId};
use super::{Compiler, EVALUATING, Machine};
use crate::eval::Result;
use crate::rename::Builtin;

/// How many rules a network may have for it to be remembered, so that another one can be the same.
const REMEMBERED: usize = 50_000;

/// The compression that a function of scripts stands for.
pub(super) fn compression(builtin: Builtin) -> Option<Compression> {
    Some(match builtin {
        Builtin::Explicate => Compression::Explicate,
        Builtin::Sbisim => Compression::Sbisim,
        Builtin::Dbisim => Compression::Dbisim,
        Builtin::Wbisim => Compression::Wbisim,
        Builtin::TauLoopFactor => Compression::TauLoopFactor,
        Builtin::Diamond => Compression::Diamond,
        Builtin::Normal => Compression::Normal,
        Builtin::ModelCompress => Compression::ModelCompress,
        Builtin::Deter => Compression::Deter,
        _ => return None,
    })
}

/// Does compressing the result of one in this way change nothing?
fn absorbed(outer: Compression, inner: Compression) -> bool {
    use Compression as C;
    let delay = matches!(inner, C::Dbisim | C::Wbisim | C::Diamond | C::Normal | C::ModelCompress);
    match outer {
        C::Explicate => true,
        C::Sbisim => delay || matches!(inner, C::Sbisim | C::Deter),
        C::Dbisim => delay,
        C::TauLoopFactor => delay || inner == C::TauLoopFactor,
        C::Wbisim | C::Diamond | C::Normal | C::ModelCompress | C::Deter => inner == outer,
    }
}

/// A machine with its states and transitions before it was compressed, or why there is none.
type Making = std::result::Result<(Arc<Lts>, (usize, usize)), Cut>;

/// A machine that is not made yet.
pub(super) struct Waiting {
    compression: Compression,
    network: Arc<Network>,
    /// Will its states, or do those of a component, stand for states that are not bisimilar?
    merged: bool,
    /// The term that is compressed.
    root: TermId,
    /// The same with its components in their places.
    inside: Option<TermId>,
}

/// The same compression of the same network: by component the first machine with the same transitions, and the rules.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    compression: Compression,
    merged: bool,
    components: Vec<MachineId>,
    formats: Vec<Format>,
}

/// What is compressed, and what was.
#[derive(Default)]
pub(super) struct Compressed {
    known: HashMap<(Compression, TermId), MachineId, foldhash::fast::FixedState>,
    /// The first machine of each compression of a network.
    networks: HashMap<Key, MachineId, foldhash::fast::FixedState>,
    /// How a machine was made.
    made_by: HashMap<MachineId, Compression, foldhash::fast::FixedState>,
    waiting: Vec<(MachineId, Waiting)>,
    /// Machines whose construction was stopped: each is made when it is needed again, by itself.
    stopped: HashMap<MachineId, Waiting, foldhash::fast::FixedState>,
    /// Machines that are to be as another one.
    copies: Vec<(MachineId, MachineId, TermId)>,
}

impl Compiler {
    /// A process that the script wants compressed, as the initial state of a machine.
    pub(super) fn compressed(&mut self, compression: Compression, term: TermId) -> Result<TermId> {
        if let Node::State(machine, 0) = *self.terms.node(term)
            && self.machines.compressed.made_by.get(&machine).is_some_and(|&inner| absorbed(compression, inner))
        {
            return Ok(term);
        }
        let machine = match self.machines.compressed.known.get(&(compression, term)) {
            Some(&known) => known,
            None => {
                let machine = self.wait_for(compression, term)?;
                self.machines.compressed.known.insert((compression, term), machine);
                self.machines.compressed.made_by.insert(machine, compression);
                machine
            }
        };
        Ok(self.terms.intern(Node::State(machine, 0)))
    }

    fn wait_for(&mut self, compression: Compression, term: TermId) -> Result<MachineId> {
        let Machine { network, machines, skeleton, .. } = self.network_of(term)?;
        let id = self.machines.reserve();
        let rules: usize = network.formats().iter().map(|format| format.rules.len()).sum();
        let inside = |id: &MachineId| id.layer().is_none() && self.machine(*id).merged;
        let merged = compression.merges() || machines.iter().any(inside);
        // A layer is not seen in the rules.
        if rules <= REMEMBERED && !network.is_layered() {
            let like = |&id: &MachineId| if id.layer().is_some() { id } else { self.machine(id).like };
            let components = machines.iter().map(like).collect();
            let key = Key { compression, merged, components, formats: network.formats().to_vec() };
            if let Some(&first) = self.machines.compressed.networks.get(&key) {
                self.machines.compressed.copies.push((id, first, term));
                return Ok(id);
            }
            self.machines.compressed.networks.insert(key, id);
        }
        self.machines
            .compressed
            .waiting
            .push((id, Waiting { compression, network, merged, root: term, inside: skeleton }));
        Ok(id)
    }

    /// Makes a machine, and all that wait beside it, unless it is made.
    pub(super) fn finish(&mut self, id: MachineId) -> Result<()> {
        if self.machines.data[id.index()].is_some() {
            return Ok(());
        }
        self.tell();
        let compressed = &mut self.machines.compressed;
        let wanted = compressed.copies.iter().find(|(copy, ..)| *copy == id).map_or(id, |&(_, first, _)| first);
        if let Some(again) = compressed.stopped.remove(&wanted) {
            compressed.waiting.push((wanted, again));
        }
        let waiting = std::mem::take(&mut compressed.waiting);
        let threads = match self.options.threads {
            0 => std::thread::available_parallelism().map_or(1, |threads| threads.get()),
            threads => threads,
        };
        let made = make_all(&waiting, threads, &self.control);
        self.control.progress().begin(EVALUATING, 0);
        let mut cut = None;
        for ((id, waiting), made) in waiting.into_iter().zip(made) {
            match made {
                Ok((lts, before)) => {
                    let (like, lts) = self.machines.alike(id, lts);
                    let data = MachineData::new(lts, StateTerms::default(), waiting.root, like, self.is_timed);
                    self.machines.data[id.index()] = Some(data);
                    self.set_merged(id, waiting.merged);
                    let compression = Some(waiting.compression.info().name);
                    self.set_made(id, Made { before, compression, inside: waiting.inside });
                }
                Err(reason) => {
                    cut = cut.or(Some(reason));
                    self.machines.compressed.stopped.insert(id, waiting);
                }
            }
        }
        let mut copies = std::mem::take(&mut self.machines.compressed.copies);
        copies.retain(|&(copy, first, root)| {
            let Some(first) = &self.machines.data[first.index()] else { return true };
            let (merged, made) = (first.merged, first.made);
            let data = MachineData::new(first.lts.clone(), StateTerms::default(), root, first.like, self.is_timed);
            self.machines.data[copy.index()] = Some(data);
            self.set_merged(copy, merged);
            self.set_made(copy, made);
            false
        });
        self.machines.compressed.copies = copies;
        match cut {
            Some(cut) => Err(self.cut_short(cut)),
            None => Ok(()),
        }
    }
}

/// Makes machines, several at once when there are several.
fn make_all(waiting: &[(MachineId, Waiting)], threads: usize, control: &Control) -> Vec<Making> {
    let workers = threads.min(waiting.len());
    if workers <= 1 {
        return waiting.iter().map(|(_, waiting)| make(waiting, threads, control)).collect();
    }
    control.progress().begin("composing and compressing processes", waiting.len() as u64);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let made: Vec<Mutex<Option<Making>>> = waiting.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let own = control.beside();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some((_, job)) = waiting.get(at) else { break };
                    let result = make(job, 1, &own);
                    *made[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                    control.progress().done(done.fetch_add(1, Ordering::Relaxed) as u64 + 1);
                }
                // What ended a part ends the whole.
                if let Err(stopped) = own.check() {
                    control.end_for(stopped);
                }
            });
        }
    });
    made.into_iter()
        .map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner).expect("every job was taken"))
        .collect()
}

fn make(waiting: &Waiting, threads: usize, control: &Control) -> Making {
    // A component alone is its own composition, and rows that its states share stay shared.
    if let Some(lts) = waiting.network.lone_component().filter(|lts| lts.shared().is_some()) {
        let before = size(lts);
        return match waiting.compression {
            Compression::Explicate => Ok((lts.clone(), before)),
            compression => Ok((Arc::new(compress(lts, compression, control)?), before)),
        };
    }
    let composed = compose(&waiting.network, threads, control).map_err(|unfinished| unfinished.cut)?;
    if waiting.compression == Compression::Explicate {
        let before = size(&composed.lts);
        return Ok((Arc::new(composed.lts), before));
    }
    Ok((Arc::new(compress(&composed.lts, waiting.compression, control)?), size(&composed.lts)))
}
