//! Cycle notation, `(1,2,3)(4,5)`, read and written.
//!
//! Points are written from 1, as in every textbook and algebra system; commas and blanks both separate them, so `(1 2
//! 3)` is read too, and `()` is the identity. Cycles of one word need not be disjoint: they are multiplied from left to
//! right. A point above [`LARGEST_POINT`] is refused, since the degree is allocated.

use std::fmt;

use crate::graph::SparsePermutation;
use crate::permutation::{Permutation, Point};

/// The largest point that cycle notation may name.
pub const LARGEST_POINT: u32 = 1_000_000;

/// What is wrong with a text in cycle notation, and at which byte of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleError {
    /// Offset in bytes.
    pub at: usize,
    /// What was expected, in words.
    pub message: String,
}

impl fmt::Display for CycleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at character {})", self.message, self.at + 1)
    }
}

impl std::error::Error for CycleError {}

impl Permutation {
    /// Reads cycle notation; the degree is the largest point named, and at least `degree`.
    pub fn parse(text: &str, degree: usize) -> Result<Permutation, CycleError> {
        let cycles = parse_cycles(text)?;
        let largest = cycles.iter().flatten().copied().max().map_or(0, |point| point as usize + 1);
        let degree = degree.max(largest);
        // Disjoint cycles, the usual case, are one permutation; others are multiplied in the order written.
        let mut images: Vec<Point> = (0..degree as Point).collect();
        let mut preimages = images.clone();
        for cycle in &cycles {
            // Following by a cycle changes only the points whose image lies in it.
            let sources: Vec<Point> = cycle.iter().map(|&point| preimages[point as usize]).collect();
            for (index, &source) in sources.iter().enumerate() {
                let image = cycle[(index + 1) % cycle.len()];
                images[source as usize] = image;
                preimages[image as usize] = source;
            }
        }
        Ok(Permutation::from_bijection(images))
    }
}

impl SparsePermutation {
    /// Reads cycle notation in time and memory that do not depend on how large the points are; with the degree, which
    /// is the largest point named, even when it stays where it is.
    pub fn parse(text: &str) -> Result<(SparsePermutation, usize), CycleError> {
        let cycles = parse_cycles(text)?;
        let mut named: Vec<Point> = cycles.iter().flatten().copied().collect();
        named.sort_unstable();
        named.dedup();
        let degree = named.last().map_or(0, |&point| point as usize + 1);
        let place = |point: Point| named.binary_search(&point).unwrap_or_default();
        let mut images: Vec<usize> = (0..named.len()).collect();
        let mut preimages = images.clone();
        for cycle in &cycles {
            let places: Vec<usize> = cycle.iter().map(|&point| place(point)).collect();
            let sources: Vec<usize> = places.iter().map(|&place| preimages[place]).collect();
            for (index, &source) in sources.iter().enumerate() {
                let image = places[(index + 1) % places.len()];
                images[source] = image;
                preimages[image] = source;
            }
        }
        let moved = images.iter().enumerate().filter(|&(place, &image)| place != image);
        let moves = moved.map(|(place, &image)| (named[place], named[image])).collect();
        Ok((SparsePermutation::from_moves(moves), degree))
    }
}

fn parse_cycles(text: &str) -> Result<Vec<Vec<Point>>, CycleError> {
    let error = |at: usize, message: &str| Err(CycleError { at, message: message.to_string() });
    let bytes = text.as_bytes();
    let mut at = 0;
    let skip_blanks = |at: &mut usize| {
        while bytes.get(*at).is_some_and(u8::is_ascii_whitespace) {
            *at += 1;
        }
    };
    let mut cycles = Vec::new();
    skip_blanks(&mut at);
    if at == bytes.len() {
        return error(at, "a permutation in cycle notation is missing; the identity is written ()");
    }
    while at < bytes.len() {
        if bytes[at] != b'(' {
            return error(at, "expected '('");
        }
        let opened = at;
        at += 1;
        skip_blanks(&mut at);
        let mut cycle: Vec<Point> = Vec::new();
        if bytes.get(at) == Some(&b')') {
            at += 1;
        } else {
            loop {
                let point = parse_point(bytes, &mut at)?;
                cycle.push(point);
                let after = at;
                skip_blanks(&mut at);
                match bytes.get(at) {
                    None => return error(opened, "this '(' is never closed"),
                    Some(b')') => {
                        at += 1;
                        break;
                    }
                    Some(b',') => {
                        at += 1;
                        skip_blanks(&mut at);
                    }
                    Some(_) if at > after => {}
                    Some(_) => return error(at, "expected ',' or ')'"),
                }
            }
            let mut sorted = cycle.clone();
            sorted.sort_unstable();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                return error(opened, &format!("point {} occurs twice in this cycle", pair[0] + 1));
            }
            cycles.push(cycle);
        }
        skip_blanks(&mut at);
    }
    Ok(cycles)
}

/// Reads a set, `{1,2}`, or several with bars between them, `{1,2}|{3,4}`: the cells of a partition. The points become
/// 0-based. Blanks separate points as commas do, and `{1..3}` is `{1,2,3}`.
pub fn parse_cells(text: &str) -> Result<Vec<Vec<Point>>, CycleError> {
    let error = |at: usize, message: &str| Err(CycleError { at, message: message.to_string() });
    let bytes = text.as_bytes();
    let mut at = 0;
    let skip_blanks = |at: &mut usize| {
        while bytes.get(*at).is_some_and(u8::is_ascii_whitespace) {
            *at += 1;
        }
    };
    let mut cells = Vec::new();
    loop {
        skip_blanks(&mut at);
        if bytes.get(at) != Some(&b'{') {
            return error(at, "expected '{'");
        }
        let opened = at;
        at += 1;
        skip_blanks(&mut at);
        let mut cell = Vec::new();
        while bytes.get(at) != Some(&b'}') {
            if at == bytes.len() {
                return error(opened, "this '{' is never closed");
            }
            let first = parse_point(bytes, &mut at)?;
            let mut after = at;
            skip_blanks(&mut at);
            let mut last = first;
            if bytes[at..].starts_with(b"..") {
                at += 2;
                skip_blanks(&mut at);
                let place = at;
                last = parse_point(bytes, &mut at)?;
                if last < first {
                    return error(place, &format!("{} is less than {}", last + 1, first + 1));
                }
                after = at;
                skip_blanks(&mut at);
            }
            if cell.len() > LARGEST_POINT as usize {
                return error(opened, "this set names more points than there are");
            }
            cell.extend(first..=last);
            match bytes.get(at) {
                Some(b',') => {
                    at += 1;
                    skip_blanks(&mut at);
                    if bytes.get(at) == Some(&b'}') {
                        return error(at, "expected a point, a number from 1 on");
                    }
                }
                Some(b'}') => {}
                None => return error(opened, "this '{' is never closed"),
                Some(_) if at > after => {}
                Some(_) => return error(at, "expected ',' or '}'"),
            }
        }
        at += 1;
        cells.push(cell);
        skip_blanks(&mut at);
        match bytes.get(at) {
            None => return Ok(cells),
            Some(b'|') => at += 1,
            Some(_) => return error(at, "expected '|' or the end"),
        }
    }
}

/// One number of at least 1; points are counted from 0 inside.
fn parse_point(bytes: &[u8], at: &mut usize) -> Result<Point, CycleError> {
    let start = *at;
    let mut value: u64 = 0;
    while let Some(digit) = bytes.get(*at).filter(|byte| byte.is_ascii_digit()) {
        value = (value * 10 + u64::from(digit - b'0')).min(u64::from(u32::MAX));
        *at += 1;
    }
    let error = |message: String| Err(CycleError { at: start, message });
    if *at == start {
        return error("expected a point, a number from 1 on".to_string());
    }
    match value {
        0 => error("points are counted from 1".to_string()),
        value if value > u64::from(LARGEST_POINT) => error(format!("points above {LARGEST_POINT} are not supported")),
        value => Ok(value as Point - 1),
    }
}

impl fmt::Display for Permutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_cycles(f, &self.cycles())
    }
}

/// Writes disjoint cycles of internal points, counted from 1 on paper; none at all is `()`.
pub(crate) fn write_cycles(f: &mut fmt::Formatter<'_>, cycles: &[Vec<Point>]) -> fmt::Result {
    if cycles.is_empty() {
        return write!(f, "()");
    }
    for cycle in cycles {
        for (index, point) in cycle.iter().enumerate() {
            write!(f, "{}{}", if index == 0 { '(' } else { ',' }, point + 1)?;
        }
        write!(f, ")")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn notation_is_read() {
        let parse = |text| Permutation::parse(text, 0).map(|permutation| permutation.images().to_vec());
        assert_eq!(parse("(1,2,3)(4,5)"), Ok(vec![1, 2, 0, 4, 3]));
        assert_eq!(parse(" ( 1 2, 3 ) "), Ok(vec![1, 2, 0]));
        assert_eq!(parse("()"), Ok(vec![]));
        assert_eq!(parse("(3)"), Ok(vec![0, 1, 2]));
        // Overlapping cycles are multiplied from left to right: 1 goes to 2, and 2 to 3.
        assert_eq!(parse("(1,2)(2,3)"), Ok(vec![2, 0, 1]));
        assert_eq!(
            SparsePermutation::parse("(1,1000000)(1000000)").map(|(sparse, degree)| (sparse.moves().len(), degree)),
            Ok((2, 1_000_000))
        );
        assert_eq!(Permutation::parse("(1,2)", 4).map(|permutation| permutation.degree()), Ok(4));
    }

    #[test]
    fn mistakes_are_placed() {
        let at = |text: &str| Permutation::parse(text, 0).map_err(|error| error.at);
        assert_eq!(at(""), Err(0));
        assert_eq!(at("(1,2"), Err(0));
        assert_eq!(at("(1,,2)"), Err(3));
        assert_eq!(at("(1,0)"), Err(3));
        assert_eq!(at("(1,1)"), Err(0));
        assert_eq!(at("(1,2)x"), Err(5));
        assert_eq!(at("(1;2)"), Err(2));
        assert_eq!(at("(1,99999999999999999999)"), Err(3));
    }

    #[test]
    fn cells_are_read() {
        assert_eq!(parse_cells("{1,2}|{3, 4}"), Ok(vec![vec![0, 1], vec![2, 3]]));
        assert_eq!(parse_cells(" {} "), Ok(vec![vec![]]));
        assert_eq!(parse_cells("{1 2}|{4 .. 6, 9}"), Ok(vec![vec![0, 1], vec![3, 4, 5, 8]]));
        assert_eq!(parse_cells("{3..3}"), Ok(vec![vec![2]]));
        let at = |text: &str| parse_cells(text).map_err(|error| error.at);
        assert_eq!(at("1,2"), Err(0));
        assert_eq!(at("{1,2"), Err(0));
        assert_eq!(at("{1,}"), Err(3));
        assert_eq!(at("{1;2}"), Err(2));
        assert_eq!(at("{3..1}"), Err(4));
        assert_eq!(at("{1..}"), Err(4));
        assert_eq!(at("{1...3}"), Err(4));
        let many = format!("{{{}}}", vec!["1..1000000"; 1000].join(","));
        assert_eq!(at(&many), Err(0));
        assert_eq!(at("{1}{2}"), Err(3));
        assert_eq!(at("{1}|"), Err(4));
    }

    #[test]
    fn writing_and_reading_are_inverse() {
        for seed in 0..100 {
            let mut random = Random::new(seed);
            let degree = 1 + random.below(20);
            let permutation = random.permutation(degree);
            assert_eq!(Permutation::parse(&permutation.to_string(), degree), Ok(permutation), "seed {seed}");
            let (a, b) = (random.permutation(degree), random.permutation(degree));
            assert_eq!(Permutation::parse(&format!("{a}{b}"), degree), Ok(a.then(&b)), "seed {seed}");
            let (sparse, named) = SparsePermutation::parse(&format!("{a}{b}")).expect("the notation is right");
            assert!(named <= degree);
            assert_eq!(sparse.to_permutation(degree), a.then(&b), "seed {seed}");
        }
    }
}
