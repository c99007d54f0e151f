//! Labels as disjunctions of cubes.
//!
//! A label is a node of a graph in which aliases share what they name, and its parts have smaller numbers. The cubes of
//! a label, and those of its negation where it occurs negated, are found from its parts upwards, so nothing recurses
//! and nothing is computed that is not needed.

use trefoil_system::Cube;

/// More cubes than this are too many for one label.
const MOST_CUBES: usize = 4096;

#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Constant(bool),
    Proposition(u32),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
}

/// The parts of all labels of a file.
#[derive(Default)]
pub(super) struct Labels {
    parts: Vec<Part>,
    /// For each part, the cubes of it and of its negation, once they are needed.
    cubes: Vec<[Option<Vec<Cube>>; 2]>,
}

impl Labels {
    pub(super) fn add(&mut self, part: Part) -> usize {
        self.parts.push(part);
        self.cubes.push([None, None]);
        self.parts.len() - 1
    }

    /// The cubes of a label; nothing when they are too many.
    pub(super) fn cubes(&mut self, label: usize) -> Option<&[Cube]> {
        let mut needed = vec![[false; 2]; label + 1];
        needed[label][0] = true;
        for at in (0..=label).rev() {
            for sign in 0..2 {
                if !needed[at][sign] || self.cubes[at][sign].is_some() {
                    needed[at][sign] = false;
                    continue;
                }
                match self.parts[at] {
                    Part::Constant(_) | Part::Proposition(_) => {}
                    Part::Not(inner) => needed[inner][1 - sign] = true,
                    Part::And(left, right) | Part::Or(left, right) => {
                        needed[left][sign] = true;
                        needed[right][sign] = true;
                    }
                }
            }
        }
        for at in 0..=label {
            for sign in 0..2 {
                if needed[at][sign] {
                    let own = self.made(at, sign)?;
                    self.cubes[at][sign] = Some(own);
                }
            }
        }
        self.cubes[label][0].as_deref()
    }

    fn made(&self, at: usize, sign: usize) -> Option<Vec<Cube>> {
        let of = |part: usize, sign: usize| self.cubes[part][sign].as_deref().unwrap_or_default();
        let is_negated = sign == 1;
        let all = match self.parts[at] {
            Part::Constant(value) => {
                if value != is_negated {
                    vec![Cube::ALL]
                } else {
                    Vec::new()
                }
            }
            Part::Proposition(number) => vec![Cube::literal(number, !is_negated)],
            Part::Not(inner) => of(inner, 1 - sign).to_vec(),
            Part::And(left, right) if !is_negated => return both(of(left, sign), of(right, sign)),
            Part::Or(left, right) if is_negated => return both(of(left, sign), of(right, sign)),
            Part::And(left, right) | Part::Or(left, right) => {
                let mut all = of(left, sign).to_vec();
                all.extend_from_slice(of(right, sign));
                all
            }
        };
        least(all)
    }
}

fn both(left: &[Cube], right: &[Cube]) -> Option<Vec<Cube>> {
    if left.len() * right.len() > 16 * MOST_CUBES {
        return None;
    }
    least(left.iter().flat_map(|one| right.iter().filter_map(|other| one.and(*other))).collect())
}

/// Without cubes that others cover.
fn least(mut all: Vec<Cube>) -> Option<Vec<Cube>> {
    all.sort_unstable();
    all.dedup();
    let mut kept: Vec<Cube> = Vec::new();
    all.sort_by_key(|cube| cube.yes.count_ones() + cube.no.count_ones());
    for cube in all {
        if !kept.iter().any(|other| other.covers(cube)) {
            kept.push(cube);
            if kept.len() > MOST_CUBES {
                return None;
            }
        }
    }
    Some(kept)
}
