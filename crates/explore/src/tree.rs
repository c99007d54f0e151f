//! Wide rows as trees of nodes that are shared.
//!
//! The states of a model with many processes and channels differ from each other in few places. So a wide row is not kept as a whole: it is cut
//! into leaves of two words, and each different leaf is kept once, in a table that numbers what it keeps; up to four numbers are a node of
//! the next level, which is kept and numbered in the same way, and so on, until at most four numbers are left: the root. A state then takes eight to
//! sixteen bytes and its entry in the index, however wide its row is; what the table of nodes takes is shared by all states, and is little
//! as long as there are far fewer different parts than states. This is the tree compression of Laarman, van de Pol and Weber
//! (*Parallel recursive state compression for free*, 2011), from which we depart by nodes with four children instead of two (half as many lookups, for some
//! bytes more a state), and by keeping all nodes in one table that numbers densely ([`crate::states`], which also keeps the roots).
//!
//! Looking up a successor costs only what it changed: the tree of the state that is expanded is at hand, and only the paths from changed
//! leaves to the root are looked up. Reading is cheap for the same reason: the tree of the state that was read before is kept, and
//! only where the numbers differ something is read. A thread remembers the nodes that it looked up last, so that most lookups touch nothing that
//! is shared.
//!
//! A number means a node for ever, and a node has one number, whatever thread asks and at whatever place of a tree it stands; so two
//! rows are equal exactly when their roots are. Who knows a root knows everything below it: the nodes were published before the root was
//! made from their numbers, and the numbers passed on with acquire and release.
//!
//! Cost: for a row of n words, some 2n / 3 lookups, and for a change in one leaf as many as there are levels: one for rows of up to
//! 64 bytes, two up to 256. In the worst case, when states share nothing, a row takes some 20 bytes for each of its words.
#![allow(unsafe_code)]

use trefoil_system::{Layout, Slot, StateId};

use crate::packing::Packing;
use crate::states::{Full, Inserter, StateSet};

/// Rows of at least so many bytes are worth a tree; narrower ones take little more than their trees would, and are faster to look up.
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
    shape: Shape,
}

/// The levels of a tree: where the nodes of each begin and how many there are, leaves first.
#[derive(Clone)]
struct Shape {
    levels: Vec<(usize, usize)>,
    nodes: usize,
}

impl Shape {
    fn new(words: usize) -> Shape {
        let (mut levels, mut nodes, mut count) = (Vec::new(), 0, words.div_ceil(2));
        loop {
            levels.push((nodes, count));
            nodes += count;
            if count <= FANOUT {
                return Shape { levels, nodes };
            }
            count = count.div_ceil(FANOUT);
        }
    }
}

/// How so many numbers of nodes are packed.
fn numbers(count: usize) -> Packing {
    let number = || Slot { name: String::new(), values: None, portable: false };
    Packing::new(&Layout::new((0..count).map(|_| number()).collect()))
}

fn node_of(ids: &[u32]) -> Node {
    let at = |index: usize| ids.get(index).map_or(0, |&id| u64::from(id));
    [at(0) | at(1) << 32, at(2) | at(3) << 32]
}

fn id_of(node: Node, child: usize) -> u32 {
    (node[child / 2] >> (child % 2 * 32)) as u32
}

impl Tree {
    pub(crate) fn new(words: usize, threads: usize) -> Tree {
        Tree { nodes: StateSet::new(numbers(FANOUT), threads), shape: Shape::new(words) }
    }

    /// How roots are packed.
    pub(crate) fn roots(&self) -> Packing {
        let top = self.shape.levels.last().map_or(0, |&(_, count)| count);
        numbers(top)
    }

    /// A thread's access.
    pub(crate) fn climber(&self) -> Climber<'_> {
        let leaves = self.shape.levels[0].1;
        Climber {
            nodes: self.nodes.inserter(),
            shape: &self.shape,
            ids: vec![0; self.shape.nodes],
            words: vec![0; 2 * leaves],
            loaded: false,
            changed: Vec::new(),
            below: Vec::new(),
            undone: Vec::new(),
            remembered: vec![([0; 2], u32::MAX); 1 << REMEMBERED_BITS].into_boxed_slice(),
        }
    }
}

/// One thread's access to a tree: the row that was read last, with the numbers of all its nodes.
pub(crate) struct Climber<'a> {
    nodes: Inserter<'a>,
    shape: &'a Shape,
    /// The number of each node of the tree; level by level, leaves first.
    ids: Vec<u32>,
    /// The words of the leaves; one more than the row has when their number is odd.
    words: Vec<u64>,
    /// Was a row read?
    loaded: bool,
    /// Nodes of a level whose number is another than that of the row that was read.
    changed: Vec<u32>,
    /// The same of the level below.
    below: Vec<u32>,
    /// What nodes had before they were changed.
    undone: Vec<(u32, u32)>,
    /// Nodes with their numbers, each at a place that its bits choose; no number is as large as those of empty places.
    remembered: Box<[(Node, u32)]>,
}

impl Climber<'_> {
    pub(crate) fn release(&mut self) {
        self.nodes.release();
    }

    /// The root of a row. When `changed` is given, the row differs from the one that was read last in these words (ascending) and in no
    /// others.
    pub(crate) fn fold(&mut self, row: &[u64], changed: Option<&[u32]>, root: &mut [u64]) -> Result<(), Full> {
        self.undone.clear();
        self.changed.clear();
        match changed.filter(|_| self.loaded) {
            Some(words) => {
                for leaf in words.iter().map(|word| word / 2) {
                    if self.changed.last() != Some(&leaf) {
                        self.changed.push(leaf);
                    }
                }
            }
            None => self.changed.extend(0..self.shape.levels[0].1 as u32),
        }
        let outcome = self.climb(row);
        let (top, _) = self.shape.levels[self.shape.levels.len() - 1];
        let node = node_of(&self.ids[top..]);
        root.copy_from_slice(&node[..root.len()]);
        for &(node, id) in self.undone.iter().rev() {
            self.ids[node as usize] = id;
        }
        outcome
    }

    /// Looks up what changed, level by level.
    fn climb(&mut self, row: &[u64]) -> Result<(), Full> {
        for index in 0..self.changed.len() {
            let at = self.changed[index] as usize;
            let leaf = [row[2 * at], row.get(2 * at + 1).copied().unwrap_or(0)];
            self.look_up(at, leaf)?;
        }
        for level in 1..self.shape.levels.len() {
            let ((below, count), (from, _)) = (self.shape.levels[level - 1], self.shape.levels[level]);
            let mut parents = 0;
            for index in 0..self.changed.len() {
                let parent = self.changed[index] as usize / FANOUT;
                if parents > 0 && self.changed[parents - 1] == parent as u32 {
                    continue;
                }
                self.changed[parents] = parent as u32;
                parents += 1;
                let (first, end) = (FANOUT * parent, count.min(FANOUT * (parent + 1)));
                if first + 1 < end {
                    self.look_up(from + parent, node_of(&self.ids[below + first..below + end]))?;
                } else {
                    // One that is left over goes up as it is.
                    self.put(from + parent, self.ids[below + first]);
                }
            }
            self.changed.truncate(parents);
        }
        Ok(())
    }

    #[inline]
    fn put(&mut self, node: usize, id: u32) {
        self.undone.push((node as u32, self.ids[node]));
        self.ids[node] = id;
    }

    #[inline]
    fn look_up(&mut self, node: usize, key: Node) -> Result<(), Full> {
        let mixed = (key[0] ^ key[1].rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let at = (mixed >> (64 - REMEMBERED_BITS)) as usize;
        let (known, id) = self.remembered[at];
        if known == key && id != u32::MAX {
            self.put(node, id);
            return Ok(());
        }
        let hash = self.nodes.hash(&key);
        let (id, _) = self.nodes.insert_packed(&key, hash, 0)?;
        self.remembered[at] = (key, id.0);
        self.put(node, id.0);
        Ok(())
    }

    /// Reads the row with this root.
    ///
    /// # Safety
    ///
    /// The root was made by [`Climber::fold`] of the same tree, on this thread or on one that this thread has synchronised with since.
    pub(crate) unsafe fn unfold(&mut self, root: &[u64], row: &mut [u64]) {
        let levels = &self.shape.levels;
        let (top, count) = levels[levels.len() - 1];
        self.changed.clear();
        for child in 0..count {
            let id = (root[child / 2] >> (child % 2 * 32)) as u32;
            if self.ids[top + child] != id || !self.loaded {
                self.ids[top + child] = id;
                self.changed.push(child as u32);
            }
        }
        for level in (1..levels.len()).rev() {
            let ((below, count), (from, _)) = (levels[level - 1], levels[level]);
            self.below.clear();
            for &parent in &self.changed {
                let id = self.ids[from + parent as usize];
                let (first, end) = (FANOUT * parent as usize, count.min(FANOUT * (parent as usize + 1)));
                let mut children = [u64::from(id), 0];
                if first + 1 < end {
                    // SAFETY: as the caller promises; see the head of this file.
                    unsafe { self.nodes.read_packed(StateId(id), &mut children) };
                }
                for at in first..end {
                    let child = id_of(children, at - first);
                    if self.ids[below + at] != child || !self.loaded {
                        self.ids[below + at] = child;
                        self.below.push(at as u32);
                    }
                }
            }
            std::mem::swap(&mut self.changed, &mut self.below);
        }
        for &at in &self.changed {
            let leaf = &mut self.words[2 * at as usize..][..2];
            // SAFETY: as the caller promises; see the head of this file.
            unsafe { self.nodes.read_packed(StateId(self.ids[at as usize]), leaf) };
        }
        self.loaded = true;
        row.copy_from_slice(&self.words[..row.len()]);
    }
}
