//! Wide rows as trees of nodes that are shared.
//!
//! The states of a model with many processes and channels differ from each other in few places. So a wide row is not
//! kept as a whole: it is cut into leaves of two words, and each different leaf is kept once, in a table that numbers
//! what it keeps; up to four numbers are a node of the next level, which is kept and numbered in the same way, and so
//! on, until at most four numbers are left: the root. A state then takes eight to sixteen bytes and its entry in the
//! index, however wide its row is; what the table of nodes takes is shared by all states, and is little as long as
//! there are far fewer different parts than states. This is the tree compression of Laarman, van de Pol and Weber
//! (*Parallel recursive state compression for free*, 2011), from which we depart by nodes with four children instead of
//! two (half as many lookups, for some bytes more a state), and by keeping all nodes in one table that numbers densely
//! ([`crate::states`], which also keeps the roots).
//!
//! Looking up a successor costs only what it changed: there are two copies of the tree of the state that is expanded.
//! The words of one of them are changed ([`Climber::put`]), only the paths from changed leaves to the root are looked
//! up, and then the two copies are made equal again. Reading is cheap for the same reason: the tree of the state that
//! was read before is kept, packed and unpacked, and only nodes whose numbers differ are read and unpacked. A thread
//! remembers the nodes that it looked up last, so that most lookups touch nothing that is shared.
//!
//! A number always means the same node, and a node has one number for all threads and at all places of a tree; so two
//! rows are equal exactly when their roots are. A thread that knows a root may read everything below it: the nodes were
//! published before the root was made from their numbers, and the numbers were passed on with acquire and release.
//!
//! Cost: for a row of n words, some 2n / 3 lookups, and for a change in one leaf as many as there are levels: one for
//! rows of up to 64 bytes, two up to 256. In the worst case, when states share nothing, a row takes some 20 bytes for
//! each of its words.
#![allow(unsafe_code)]

use trefoil_system::{Layout, Slot, StateId, Value};

use crate::packing::{Field, Packing};
use crate::states::{Full, Inserter, StateSet};

/// Rows of at least this many bytes are worth a tree; narrower ones take little more than their trees would, and are
/// faster to look up.
pub(crate) const LEAST_BYTES: usize = 33;

/// Nodes that a thread remembers; some hundred kilobytes, which its own cache holds.
const REMEMBERED_BITS: u32 = if cfg!(test) { 2 } else { 12 };

/// The most children of a node.
const FANOUT: usize = 4;

/// Two words of a row, or the numbers of up to four nodes, the first in the lowest bits.
type Node = [u64; 2];

/// The table of nodes for rows of some number of words.
pub(crate) struct Tree {
    pub(crate) nodes: StateSet,
    pub(crate) packing: Packing,
    shape: Shape,
}

/// The levels of a tree: where the nodes of each begin and how many there are, leaves first. Each level has room for a
/// multiple of [`FANOUT`]; what is not used is zero.
#[derive(Clone)]
struct Shape {
    levels: Vec<(usize, usize)>,
    nodes: usize,
    /// How many leaves, as a power of two, share a bit of [`Climber::dirty`].
    grain: usize,
}

impl Shape {
    fn new(words: usize) -> Shape {
        let (mut levels, mut nodes, mut count) = (Vec::new(), 0, words.div_ceil(2));
        let grain = count.div_ceil(64).next_power_of_two().ilog2() as usize;
        loop {
            levels.push((nodes, count));
            nodes += count.next_multiple_of(FANOUT);
            if count <= FANOUT {
                return Shape { levels, nodes, grain };
            }
            count = count.div_ceil(FANOUT);
        }
    }
}

/// How this many numbers of nodes are packed.
fn numbers(count: usize) -> Packing {
    let number = || Slot::word("");
    Packing::new(&Layout::new((0..count).map(|_| number()).collect()))
}

/// The node whose children are the numbers from a place on.
#[inline]
fn node_of(ids: &[u32], from: usize) -> Node {
    let ids: &[u32] = &ids[from..from + FANOUT];
    [u64::from(ids[0]) | u64::from(ids[1]) << 32, u64::from(ids[2]) | u64::from(ids[3]) << 32]
}

/// A node that a thread remembers, in a line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Remembered {
    node: Node,
    /// Its number; no number is as large as that of an empty place.
    id: u32,
}

fn id_of(node: Node, child: usize) -> u32 {
    (node[child / 2] >> (child % 2 * 32)) as u32
}

impl Tree {
    /// For rows that are packed in this way.
    pub(crate) fn new(packing: &Packing, threads: usize) -> Tree {
        let shape = Shape::new(packing.words());
        Tree { nodes: StateSet::new(numbers(FANOUT), threads), packing: packing.clone(), shape }
    }

    /// How roots are packed.
    pub(crate) fn roots(&self) -> Packing {
        let top = self.shape.levels.last().map_or(0, |&(_, count)| count);
        numbers(top)
    }

    /// A thread's access.
    pub(crate) fn climber(&self) -> Climber<'_> {
        let leaves = self.shape.levels[0].1;
        let empty = Remembered { node: [0; 2], id: u32::MAX };
        Climber {
            nodes: self.nodes.inserter(),
            tree: self,
            read: Standing { ids: vec![0; self.shape.nodes], words: vec![0; 2 * leaves] },
            now: Standing { ids: vec![0; self.shape.nodes], words: vec![0; 2 * leaves] },
            row: self.packing.least_row(),
            dirty: 0,
            loaded: false,
            changed: Vec::new(),
            below: Vec::new(),
            remembered: vec![empty; 1 << REMEMBERED_BITS].into_boxed_slice(),
        }
    }
}

/// A row and its tree.
struct Standing {
    /// The number of each node of the tree; level by level, leaves first.
    ids: Vec<u32>,
    /// The words of the leaves; one more than the row has when their number is odd.
    words: Vec<u64>,
}

/// One thread's access to a tree.
pub(crate) struct Climber<'a> {
    nodes: Inserter<'a>,
    tree: &'a Tree,
    /// The row that was read last.
    read: Standing,
    /// The same with all changes since; nodes above dirty leaves are looked up on demand.
    now: Standing,
    /// The row that was read last, unpacked.
    row: Vec<Value>,
    /// A bit for each leaf that was written since, or, where there are more than 64, for [`Shape::grain`] of them.
    dirty: u64,
    /// Was a row read?
    loaded: bool,
    /// While a row is read: nodes of a level whose number is another than before.
    changed: Vec<u32>,
    /// The same of the level below.
    below: Vec<u32>,
    /// Each at a place that its bits choose.
    remembered: Box<[Remembered]>,
}

/// Calls `with` for the leaves of a set, ascending.
#[inline]
fn leaves(mut dirty: u64, shape: &Shape, mut with: impl FnMut(usize) -> Result<(), Full>) -> Result<(), Full> {
    while dirty != 0 {
        let bit = dirty.trailing_zeros() as usize;
        dirty &= dirty - 1;
        if shape.grain == 0 {
            with(bit)?;
        } else {
            for leaf in bit << shape.grain..((bit + 1) << shape.grain).min(shape.levels[0].1) {
                with(leaf)?;
            }
        }
    }
    Ok(())
}

impl Climber<'_> {
    pub(crate) fn release(&mut self) {
        self.nodes.release();
    }

    /// The words of the row that was read last with all changes since; perhaps one more than the row has.
    #[inline]
    pub(crate) fn words(&self) -> &[u64] {
        &self.now.words
    }

    /// The row that was read last.
    #[inline]
    pub(crate) fn row(&self) -> &[Value] {
        &self.row
    }

    /// Writes a packed value that fits.
    #[inline]
    pub(crate) fn put(&mut self, field: Field, packed: u64) {
        let (word, grain) = (field.first_word(), self.tree.shape.grain + 1);
        self.dirty |= 1 << (word >> grain);
        if let Some(other) = field.other_word() {
            self.dirty |= 1 << (other >> grain);
        }
        field.set(packed, &mut self.now.words);
    }

    /// Writes a whole row, which may be unrelated to the one that was read last.
    pub(crate) fn put_row(&mut self, row: &[u64]) {
        self.now.words[..row.len()].copy_from_slice(row);
        self.now.words[row.len()..].fill(0);
        let last = (self.tree.shape.levels[0].1 - 1) >> self.tree.shape.grain;
        self.dirty = u64::MAX >> (63 - last);
    }

    /// The root of the row that was read last with all changes since.
    #[inline]
    pub(crate) fn fold(&mut self, root: &mut [u64]) -> Result<(), Full> {
        let Climber { nodes, tree, read, now, dirty, remembered, .. } = self;
        let shape = &tree.shape;
        let node = if shape.levels.len() == 1 {
            // The numbers of the leaves are the root.
            let mut ids = [0; FANOUT];
            ids.copy_from_slice(&read.ids[..FANOUT]);
            leaves(*dirty, shape, |leaf| {
                let node = [now.words[2 * leaf], now.words[2 * leaf + 1]];
                ids[leaf % FANOUT] = look_up(remembered, nodes, node)?;
                Ok(())
            })?;
            node_of(&ids, 0)
        } else {
            leaves(*dirty, shape, |leaf| {
                let node = [now.words[2 * leaf], now.words[2 * leaf + 1]];
                now.ids[leaf] = look_up(remembered, nodes, node)?;
                Ok(())
            })?;
            climb(shape, *dirty, &mut now.ids, |node| look_up(remembered, nodes, node))?
        };
        root.copy_from_slice(&node[..root.len()]);
        Ok(())
    }

    /// Reverts all changes.
    #[inline]
    pub(crate) fn restore(&mut self) {
        let Climber { tree, read, now, dirty, .. } = self;
        let (shape, dirty) = (&tree.shape, std::mem::take(dirty));
        let outcome = leaves(dirty, shape, |leaf| {
            now.words[2 * leaf] = read.words[2 * leaf];
            now.words[2 * leaf + 1] = read.words[2 * leaf + 1];
            if shape.levels.len() > 1 {
                let mut node = leaf;
                for &(from, _) in &shape.levels {
                    now.ids[from + node] = read.ids[from + node];
                    node /= FANOUT;
                }
            }
            Ok(())
        });
        debug_assert!(outcome.is_ok());
    }

    /// Reads the row with this root; there must be no pending changes.
    ///
    /// # Safety
    ///
    /// The root was made by [`Climber::fold`] of the same tree, on this thread or on one that this thread has
    /// synchronised with since.
    pub(crate) unsafe fn unfold(&mut self, root: &[u64]) {
        let Climber { nodes, tree, read, now, row, changed, below: changed_below, loaded, .. } = self;
        let levels = &tree.shape.levels;
        let renumber = |read: &mut Standing, now: &mut Standing, node: usize, id: u32| {
            let other = read.ids[node] != id || !*loaded;
            (read.ids[node], now.ids[node]) = (id, id);
            other
        };
        let (top, count) = levels[levels.len() - 1];
        changed.clear();
        for child in 0..count {
            if renumber(read, now, top + child, (root[child / 2] >> (child % 2 * 32)) as u32) {
                changed.push(child as u32);
            }
        }
        for level in (1..levels.len()).rev() {
            let ((below, count), (from, _)) = (levels[level - 1], levels[level]);
            changed_below.clear();
            for &parent in changed.iter() {
                let id = now.ids[from + parent as usize];
                let (first, end) = (FANOUT * parent as usize, count.min(FANOUT * (parent as usize + 1)));
                let mut children = [u64::from(id), 0];
                if first + 1 < end {
                    // SAFETY: as the caller promises; see the head of this file.
                    unsafe { nodes.read_kept(StateId(id), &mut children) };
                }
                for at in first..end {
                    if renumber(read, now, below + at, id_of(children, at - first)) {
                        changed_below.push(at as u32);
                    }
                }
            }
            std::mem::swap(changed, changed_below);
        }
        // A slot may lie in two leaves, so all are read before the first is unpacked.
        for &at in changed.iter() {
            let leaf = &mut read.words[2 * at as usize..][..2];
            // SAFETY: as the caller promises; see the head of this file.
            unsafe { nodes.read_kept(StateId(read.ids[at as usize]), leaf) };
        }
        let packing = &tree.packing;
        for &at in changed.iter() {
            let from = 2 * at as usize;
            let before = &now.words[from..packing.words().min(from + 2)];
            packing.unpack_changes(from, before, &read.words, row);
        }
        for &at in changed.iter() {
            let from = 2 * at as usize;
            now.words[from..from + 2].copy_from_slice(&read.words[from..from + 2]);
        }
        *loaded = true;
    }
}

/// Looks up the nodes above dirty leaves whose numbers are known, level by level; the root.
fn climb(
    shape: &Shape,
    dirty: u64,
    ids: &mut [u32],
    mut look_up: impl FnMut(Node) -> Result<u32, Full>,
) -> Result<Node, Full> {
    let levels = &shape.levels;
    for level in 1..levels.len() {
        let ((below, count), (from, _)) = (levels[level - 1], levels[level]);
        let mut done = usize::MAX;
        leaves(dirty, shape, |leaf| {
            let parent = leaf >> (FANOUT.ilog2() as usize * level);
            if parent == done {
                return Ok(());
            }
            done = parent;
            let first = FANOUT * parent;
            ids[from + parent] = if first + 1 < count {
                look_up(node_of(ids, below + first))?
            } else {
                // A single remaining node moves up unchanged.
                ids[below + first]
            };
            Ok(())
        })?;
    }
    Ok(node_of(ids, levels[levels.len() - 1].0))
}

/// The number of a node.
#[inline]
fn look_up(remembered: &mut [Remembered], nodes: &mut Inserter<'_>, node: Node) -> Result<u32, Full> {
    let mixed = (node[0] ^ node[1].rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let place = &mut remembered[(mixed >> (64 - REMEMBERED_BITS)) as usize];
    if place.node == node && place.id != u32::MAX {
        return Ok(place.id);
    }
    *place = Remembered { node, id: enter(nodes, node)? };
    Ok(place.id)
}

/// The number of a node that this thread does not remember.
#[inline(never)]
fn enter(nodes: &mut Inserter<'_>, node: Node) -> Result<u32, Full> {
    let hash = nodes.hash(&node);
    nodes.insert_packed(&node, hash, 0).map(|(id, _)| id.0)
}
