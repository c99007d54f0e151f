//! A refinable partition of numbers `0..n`, with marks.
//!
//! The elements of a block are a contiguous range; the marked ones are its prefix. Marking an element and asking for
//! its block cost a constant; splitting a block costs what is marked in it (Valmari and Lehtinen, *Efficient
//! minimization of DFAs with partial transition functions*, 2008).

/// A block: the range of its elements, the first `marked` of them marked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) marked: u32,
}

impl Block {
    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.end - self.start
    }
}

/// The partition.
pub(super) struct Partition {
    pub(super) elements: Vec<u32>,
    pub(super) position: Vec<u32>,
    pub(super) block_of: Vec<u32>,
    pub(super) blocks: Vec<Block>,
}

impl Partition {
    /// One block with all elements.
    pub(super) fn new(count: usize) -> Partition {
        Partition {
            elements: (0..count as u32).collect(),
            position: (0..count as u32).collect(),
            block_of: vec![0; count],
            blocks: vec![Block { start: 0, end: count as u32, marked: 0 }],
        }
    }

    /// The partition into given blocks, numbered from 0, none empty; the elements of a block ascend.
    pub(super) fn from_blocks(block_of: Vec<u32>, blocks: usize) -> Partition {
        let mut partition = Partition {
            elements: vec![0; block_of.len()],
            position: vec![0; block_of.len()],
            block_of,
            blocks: vec![Block { start: 0, end: 0, marked: 0 }; blocks],
        };
        for &block in &partition.block_of {
            partition.blocks[block as usize].end += 1;
        }
        let mut sum = 0;
        for block in &mut partition.blocks {
            (block.start, block.end, sum) = (sum, sum, sum + block.end);
        }
        for element in 0..partition.block_of.len() {
            let block = &mut partition.blocks[partition.block_of[element] as usize];
            partition.elements[block.end as usize] = element as u32;
            partition.position[element] = block.end;
            block.end += 1;
        }
        partition
    }

    /// Marks an element; true when it is the first of its block.
    #[inline]
    pub(super) fn mark(&mut self, element: u32) -> bool {
        let block = &mut self.blocks[self.block_of[element as usize] as usize];
        let here = self.position[element as usize];
        let there = block.start + block.marked;
        if here < there {
            return false;
        }
        block.marked += 1;
        let other = self.elements[there as usize];
        self.elements[there as usize] = element;
        self.elements[here as usize] = other;
        self.position[element as usize] = there;
        self.position[other as usize] = here;
        block.marked == 1
    }

    /// Is the element, which is in this block, marked?
    #[inline]
    pub(super) fn is_marked(&self, element: u32, block: Block) -> bool {
        self.position[element as usize] < block.start + block.marked
    }

    /// Makes blocks of the classes of a block's marked elements, which are given; the unmarked ones are a class of
    /// their own. The largest keeps the number; the elements of the others are reported with their new block. No mark
    /// is left.
    pub(super) fn divide(&mut self, number: u32, classes: &[Vec<u32>], mut moved: impl FnMut(u32, u32)) {
        let block = self.blocks[number as usize];
        let rest = Block { start: block.start + block.marked, end: block.end, marked: 0 };
        let largest = (0..classes.len()).rev().max_by_key(|&class| classes[class].len());
        let largest = largest.filter(|&class| classes[class].len() as u32 > rest.len());
        self.blocks[number as usize] = rest;
        let mut at = block.start;
        for (class, elements) in classes.iter().enumerate() {
            let part = Block { start: at, end: at + elements.len() as u32, marked: 0 };
            let home = if Some(class) == largest { number } else { self.blocks.len() as u32 };
            if home == number {
                self.blocks[number as usize] = part;
            } else {
                self.blocks.push(part);
            }
            for &element in elements {
                self.elements[at as usize] = element;
                self.position[element as usize] = at;
                at += 1;
                if home != number {
                    self.block_of[element as usize] = home;
                    moved(element, home);
                }
            }
        }
        if largest.is_some() && rest.len() > 0 {
            let home = self.blocks.len() as u32;
            self.blocks.push(rest);
            for place in rest.start..rest.end {
                let element = self.elements[place as usize];
                self.block_of[element as usize] = home;
                moved(element, home);
            }
        }
    }
}
