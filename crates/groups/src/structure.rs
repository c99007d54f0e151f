//! What a group is made of, as data for strategies and as text for users.
//!
//! A [`Structure`] is a tree. Its leaves are symmetric, alternating, cyclic and dihedral groups in their natural
//! actions, and groups without a known structure; its inner nodes are products of factors that move disjoint points,
//! and wreath products. Each node stands for a subgroup of the whole, and all its permutations have the whole's degree:
//! the node acts on its *key* points as its variant says, it is faithful there, and its action on all other points
//! follows. So the channels of a process follow the process, and a strategy applies the permutations as they are.
//!
//! Nothing here is a guess: `recognise` compares orders before it says anything.

use std::fmt;

use dashu_int::UBig;

use crate::giants::generators_of_cell;
use crate::permutation::{Permutation, Point};

/// A group with what is known about how it is built.
#[derive(Clone, Debug)]
pub struct Structure {
    /// The number of elements.
    pub order: UBig,
    /// All points that some element moves, ascending.
    pub moved: Vec<Point>,
    /// How it is built.
    pub kind: Kind,
}

/// The ways to be built.
#[derive(Clone, Debug)]
pub enum Kind {
    /// The identity alone.
    Trivial,
    /// All permutations of the key points.
    Symmetric {
        /// The key points, ascending.
        points: Vec<Point>,
        /// `swaps[i]` exchanges `points[i]` and `points[i + 1]` and fixes the other key points. None for several
        /// hundred points when nothing else moves: the swaps are then what they say and no more.
        swaps: Vec<Permutation>,
    },
    /// All even permutations of the key points, at least four.
    Alternating {
        /// The key points, ascending.
        points: Vec<Point>,
        /// `turns[i]` carries `points[i]` to `points[i + 1]`, that to `points[i + 2]` and that back; it fixes the other
        /// key points. None for several hundred points when nothing else moves.
        turns: Vec<Permutation>,
    },
    /// The powers of one element.
    Cyclic {
        /// That element.
        generator: Permutation,
    },
    /// The symmetries of a ring of at least four points.
    Dihedral {
        /// The ring, one after the other.
        points: Vec<Point>,
        /// Carries each point of the ring to the next.
        rotation: Permutation,
        /// Keeps the first point and turns the ring over.
        reflection: Permutation,
    },
    /// Independent factors that move disjoint points.
    Product {
        /// The factors, in the order of their least points; none of them is a product.
        factors: Vec<Structure>,
    },
    /// A copy of a base group on each of several blocks, and a top group that exchanges the blocks.
    Wreath {
        /// The key points block by block; equal positions correspond: the top group keeps them.
        blocks: Vec<Vec<Point>>,
        /// The base group on the first block; it fixes the key points of the others.
        base: Box<Structure>,
        /// The top group. It carries `blocks[i][p]` to `blocks[j][p]`, the same `j` for all positions `p`.
        top: Box<Structure>,
    },
    /// None of these.
    Other {
        /// Generators.
        generators: Vec<Permutation>,
    },
}

impl Structure {
    /// The name without points: `(S3 wr S2) × S3`.
    pub fn name(&self) -> String {
        match &self.kind {
            Kind::Trivial => "the trivial group".to_string(),
            Kind::Symmetric { points, .. } => format!("S{}", points.len()),
            Kind::Alternating { points, .. } => format!("A{}", points.len()),
            Kind::Cyclic { .. } => format!("C{}", self.order),
            Kind::Dihedral { points, .. } => format!("D{}", points.len()),
            Kind::Product { .. } => self.factor_names().join(" × "),
            Kind::Wreath { base, top, .. } => format!("{} wr {}", base.bracketed(), top.bracketed()),
            Kind::Other { .. } => format!("a group of order {}", self.order),
        }
    }

    /// The names of its factors, in brackets where a product needs them; none for the trivial group.
    pub fn factor_names(&self) -> Vec<String> {
        match &self.kind {
            Kind::Trivial => Vec::new(),
            Kind::Product { factors } => factors.iter().map(Structure::bracketed).collect(),
            _ => vec![self.bracketed()],
        }
    }

    fn bracketed(&self) -> String {
        match self.kind {
            Kind::Product { .. } | Kind::Wreath { .. } => format!("({})", self.name()),
            Kind::Other { .. } => format!("[{}]", self.name()),
            _ => self.name(),
        }
    }

    /// Permutations that generate it.
    pub fn generators(&self) -> Vec<Permutation> {
        let degree = self.moved.last().map_or(0, |&last| last as usize + 1);
        match &self.kind {
            Kind::Trivial => Vec::new(),
            Kind::Symmetric { points, swaps } if swaps.is_empty() => generators_of_cell(degree, points, false),
            Kind::Alternating { points, turns } if turns.is_empty() => generators_of_cell(degree, points, true),
            Kind::Symmetric { swaps, .. } => swaps.clone(),
            Kind::Alternating { turns, .. } => turns.clone(),
            Kind::Cyclic { generator } => vec![generator.clone()],
            Kind::Dihedral { rotation, reflection, .. } => vec![rotation.clone(), reflection.clone()],
            Kind::Product { factors } => factors.iter().flat_map(Structure::generators).collect(),
            // The top group carries the base group's block to every other.
            Kind::Wreath { base, top, .. } => base.generators().into_iter().chain(top.generators()).collect(),
            Kind::Other { generators } => generators.clone(),
        }
    }

    /// The points in whose terms the node says what it is.
    pub fn key_points(&self) -> Vec<Point> {
        let mut points = match &self.kind {
            Kind::Trivial => Vec::new(),
            Kind::Symmetric { points, .. } | Kind::Alternating { points, .. } | Kind::Dihedral { points, .. } => {
                points.clone()
            }
            Kind::Cyclic { .. } | Kind::Other { .. } => self.moved.clone(),
            Kind::Product { factors } => factors.iter().flat_map(Structure::key_points).collect(),
            Kind::Wreath { blocks, .. } => blocks.concat(),
        };
        points.sort_unstable();
        points
    }
}

/// As text, with the points: `(S3 wr S2) on {1..6} moving {10,11} along × S3 on {7,8,9}`.
impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &|point| point)
    }
}

impl Structure {
    /// The same when the points of the group stand for these, which ascend.
    pub fn on_points(&self, points: &[Point]) -> String {
        struct On<'a>(&'a Structure, &'a [Point]);
        impl fmt::Display for On<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.write(f, &|point| self.1[point as usize])
            }
        }
        On(self, points).to_string()
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, shown: &dyn Fn(Point) -> Point) -> fmt::Result {
        if let Kind::Product { factors } = &self.kind {
            for (index, factor) in factors.iter().enumerate() {
                write!(f, "{}", if index == 0 { "" } else { " × " })?;
                factor.write(f, shown)?;
            }
            return Ok(());
        }
        if let Kind::Trivial = self.kind {
            return write!(f, "{}", self.name());
        }
        let key = self.key_points();
        let name = if let Kind::Other { .. } = self.kind { self.name() } else { self.bracketed() };
        let along = self.moved.iter().copied().filter(|point| key.binary_search(point).is_err());
        let along: Vec<Point> = along.map(shown).collect();
        let key: Vec<Point> = key.into_iter().map(shown).collect();
        write!(f, "{name} on {}", set(&key))?;
        if along.is_empty() { Ok(()) } else { write!(f, " moving {} along", set(&along)) }
    }
}

/// `{1,2,3}`, runs of four and more as `{1..6,9}`; points from 1.
pub(crate) fn set(points: &[Point]) -> String {
    let runs = points.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [first, .., last] if run.len() > 3 => format!("{}..{}", first + 1, last + 1),
        _ => run.iter().map(|point| (point + 1).to_string()).collect::<Vec<_>>().join(","),
    });
    format!("{{{}}}", runs.collect::<Vec<_>>().join(","))
}
