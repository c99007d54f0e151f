//! Sets in files: our own format, and the models of Sylvan's `lddmc`.
//!
//! Our format is the word `TREFLDD1`, the number of nodes, and for each node its key (64 bits), the node below and the
//! node beside it (32 bits each), children before parents; nodes are numbered from 2. Then the number of the set. All
//! numbers are little-endian. A key is 0 for a copied slot of a relation, else the value plus one.
//!
//! A model of `lddmc` (`*.ldd`) is: the width of rows; the initial set; the number of relations; for each the numbers
//! of slots read and written and these slots; and the relations' pairs. A set there is a portion of new nodes, 16 bytes
//! each, numbered on from one set to the next, and the number of its root. What follows the relations is not read. A
//! relation may have an action label behind its last slot, which is dropped.
//!
//! Whatever a file says is checked: children come first, keys ascend, rows have one width.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::{self, Read, Write};

use trefoil_control::Stopped;

use crate::pool::{Diagrams, Set};
use crate::relation::Relation;
use crate::table::{COPIED, EMPTY, Node, NodeId, UNIT, key_of};

/// Why a file cannot be read.
#[derive(Debug)]
pub enum LoadError {
    /// The file cannot be read, or ends too early.
    Input(io::Error),
    /// What it says makes no sense.
    Malformed(&'static str),
    /// The control stopped it.
    Stopped(Stopped),
}

impl From<io::Error> for LoadError {
    fn from(error: io::Error) -> LoadError {
        LoadError::Input(error)
    }
}

impl From<Stopped> for LoadError {
    fn from(stopped: Stopped) -> LoadError {
        LoadError::Stopped(stopped)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Input(error) => write!(f, "{error}"),
            LoadError::Malformed(what) => write!(f, "not a file of decision diagrams: {what}"),
            LoadError::Stopped(stopped) => write!(f, "{stopped}"),
        }
    }
}

impl std::error::Error for LoadError {}

/// A model of Sylvan's `lddmc`.
#[derive(Debug)]
pub struct LddModel {
    /// How many slots a state has.
    pub width: usize,
    /// The initial states.
    pub initial: Set,
    /// The relations.
    pub relations: Vec<Relation>,
}

const WORD: &[u8; 8] = b"TREFLDD1";

/// More slots than any model has; a larger number is a sign of another format.
const MOST_SLOTS: i32 = 1 << 20;

/// Nodes of a file that were made, by their numbers there, with the widths of their rows.
struct Made {
    sets: Vec<(Set, u32)>,
}

impl Made {
    fn new(diagrams: &Diagrams) -> Made {
        Made { sets: vec![(diagrams.empty(), 0), (diagrams.unit(), 0)] }
    }

    fn get(&self, number: u64) -> Result<&(Set, u32), LoadError> {
        usize::try_from(number)
            .ok()
            .and_then(|number| self.sets.get(number))
            .ok_or(LoadError::Malformed("a node stands before its children"))
    }

    fn make(&mut self, diagrams: &Diagrams, key: u64, down: u64, right: u64) -> Result<(), LoadError> {
        let ((down, below), (right, beside)) = (self.get(down)?, self.get(right)?);
        if down.id == EMPTY || right.id == UNIT {
            return Err(LoadError::Malformed("a leaf in the place of a node"));
        }
        if right.id != EMPTY {
            if diagrams.store().table.node(right.id).key <= key {
                return Err(LoadError::Malformed("values do not ascend"));
            }
            if *beside != below + 1 {
                return Err(LoadError::Malformed("rows of different widths"));
            }
        }
        let (below, node) = (*below, Node { key, down: down.id, right: right.id });
        let set = diagrams.run(0, |worker| worker.make(node.key, node.down, node.right))?;
        self.sets.push((set, below + 1));
        Ok(())
    }
}

impl Diagrams {
    /// Writes a set.
    pub fn save(&self, set: &Set, out: &mut dyn Write) -> io::Result<()> {
        let store = self.store();
        let mut numbers: HashMap<NodeId, u32> = HashMap::from([(EMPTY, 0), (UNIT, 1)]);
        let mut nodes: Vec<Node> = Vec::new();
        // Children first; lists are walked in a loop, and what is below is put on a stack of its own.
        let mut waiting = vec![set.id];
        while let Some(&id) = waiting.last() {
            if numbers.contains_key(&id) {
                waiting.pop();
                continue;
            }
            let node = store.table.node(id);
            match (numbers.get(&node.down), numbers.get(&node.right)) {
                (Some(&down), Some(&right)) => {
                    numbers.insert(id, nodes.len() as u32 + 2);
                    nodes.push(Node { key: node.key, down, right });
                    waiting.pop();
                }
                (down, right) => {
                    waiting.extend(down.is_none().then_some(node.down));
                    waiting.extend(right.is_none().then_some(node.right));
                }
            }
        }
        out.write_all(WORD)?;
        out.write_all(&(nodes.len() as u32).to_le_bytes())?;
        for Node { key, down, right } in nodes {
            out.write_all(&key.to_le_bytes())?;
            out.write_all(&down.to_le_bytes())?;
            out.write_all(&right.to_le_bytes())?;
        }
        out.write_all(&numbers[&set.id].to_le_bytes())
    }

    /// Reads a set that [`Diagrams::save`] wrote.
    pub fn load(&self, input: &mut dyn Read) -> Result<Set, LoadError> {
        if bytes::<8>(input)? != *WORD {
            return Err(LoadError::Malformed("its first word is not TREFLDD1"));
        }
        let mut made = Made::new(self);
        for _ in 0..number(input)? {
            let key = u64::from_le_bytes(bytes(input)?);
            if key > u64::from(u32::MAX) + 1 {
                return Err(LoadError::Malformed("a value has more than 32 bits"));
            }
            let (down, right) = (number(input)?, number(input)?);
            made.make(self, key, down.into(), right.into())?;
        }
        Ok(made.get(number(input)?.into())?.0.clone())
    }

    /// Reads a model of Sylvan's `lddmc`.
    pub fn load_lddmc(&self, input: &mut dyn Read) -> Result<LddModel, LoadError> {
        let mut made = Made::new(self);
        let width = slots(input)?;
        if signed(input)? != -1 {
            return Err(LoadError::Malformed("the initial states do not have all slots"));
        }
        let initial = self.portion(&mut made, input)?;
        if !initial.0.is_empty() && initial.1 as usize != width {
            return Err(LoadError::Malformed("the initial states have another width"));
        }
        let count = slots(input)?;
        let mut relations = Vec::new();
        for _ in 0..count {
            let (reads, writes) = (slots(input)?, slots(input)?);
            let mut read = |count: usize| -> Result<Vec<usize>, LoadError> {
                let slots: Vec<usize> = (0..count).map(|_| slots(input)).collect::<Result<_, _>>()?;
                if slots.windows(2).any(|pair| pair[0] >= pair[1]) || slots.last().is_some_and(|&last| last >= width) {
                    return Err(LoadError::Malformed("the slots of a relation do not ascend"));
                }
                Ok(slots)
            };
            let (reads, writes) = (read(reads)?, read(writes)?);
            relations.push((self.relation(&reads, &writes)?, reads.len() + writes.len()));
        }
        for (relation, levels) in &mut relations {
            let (rows, found) = self.portion(&mut made, input)?;
            if !rows.is_empty() && (found as usize) < *levels {
                return Err(LoadError::Malformed("the pairs of a relation are too short"));
            }
            let own = self.slots(&(0..*levels).collect::<Vec<_>>())?;
            *relation = self.with_rows(relation, &self.project(&rows, &own)?)?;
            if self.reads_a_copy(relation) {
                return Err(LoadError::Malformed("a relation copies a value that it reads"));
            }
        }
        Ok(LddModel {
            width,
            initial: initial.0,
            relations: relations.into_iter().map(|(relation, _)| relation).collect(),
        })
    }

    /// Does a relation have a copied value where it reads?
    fn reads_a_copy(&self, relation: &Relation) -> bool {
        let store = self.store();
        let mut level = HashSet::from([relation.rows().id]);
        for is_read in relation.levels() {
            let mut next = HashSet::new();
            for mut id in level {
                while id != EMPTY {
                    let node = store.table.node(id);
                    if is_read && node.key == COPIED {
                        return true;
                    }
                    next.insert(node.down);
                    id = node.right;
                }
            }
            level = next;
        }
        false
    }

    /// New nodes and the number of a set.
    fn portion(&self, made: &mut Made, input: &mut dyn Read) -> Result<(Set, u32), LoadError> {
        for _ in 0..u64::from_le_bytes(bytes(input)?) {
            let node: [u8; 16] = bytes(input)?;
            let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| node[at + byte]));
            let (first, second) = (word(0), word(8));
            let value = u32::from_le_bytes(std::array::from_fn(|byte| node[6 + byte]));
            let key = if second & 1 << 16 != 0 { COPIED } else { key_of(value) };
            made.make(self, key, second >> 17, (first & 0xffff_ffff_ffff) >> 1)?;
        }
        made.get(u64::from_le_bytes(bytes(input)?)).cloned()
    }
}

fn bytes<const N: usize>(input: &mut dyn Read) -> Result<[u8; N], LoadError> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn number(input: &mut dyn Read) -> Result<u32, LoadError> {
    Ok(u32::from_le_bytes(bytes(input)?))
}

fn signed(input: &mut dyn Read) -> Result<i32, LoadError> {
    Ok(i32::from_le_bytes(bytes(input)?))
}

/// A number of slots, or of a slot.
fn slots(input: &mut dyn Read) -> Result<usize, LoadError> {
    let count = signed(input)?;
    if (0..MOST_SLOTS).contains(&count) { Ok(count as usize) } else { Err(LoadError::Malformed("a number of slots")) }
}
