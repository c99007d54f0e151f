//! Does a graph with levels have a cycle whose least level is one player's? For the verifier alone.
//!
//! King, Kupferman and Vardi, *On the complexity of parity word automata* (2001): levels are halved. A cycle whose
//! least level is in the upper half lies in a component of the vertices of that half. For all other cycles, each of
//! these components is as good as one vertex without a level. So an edge is looked at in one of two smaller graphs: in
//! that of its component, or in the one where components are vertices.
//!
//! Cost: linear times the logarithm of the number of levels; 8 bytes a vertex and 4 an edge for a graph, twice that
//! while it is divided, and 16 a vertex on the longest path of the depth-first search.

use trefoil_control::{Control, Stopped};

/// The level of a vertex that has none.
const NONE: u32 = u32::MAX;

/// A graph, made vertex by vertex.
#[derive(Default)]
pub(crate) struct LevelGraph {
    /// The edges of vertex `v` are `targets[ends[v - 1]..ends[v]]`.
    ends: Vec<u32>,
    targets: Vec<u32>,
    levels: Vec<u32>,
}

impl LevelGraph {
    /// Adds an edge from the vertex that is added next.
    pub(crate) fn edge(&mut self, target: u32) {
        self.targets.push(target);
    }

    /// Adds a vertex.
    pub(crate) fn vertex(&mut self, level: u32) {
        self.levels.push(level);
        self.ends.push(self.targets.len() as u32);
    }

    fn len(&self) -> usize {
        self.levels.len()
    }

    fn edges(&self, vertex: usize) -> &[u32] {
        let begin = if vertex == 0 { 0 } else { self.ends[vertex - 1] };
        &self.targets[begin as usize..self.ends[vertex] as usize]
    }

    /// Is there a cycle whose least level is one of those that `is_bad` says?
    pub(crate) fn has_bad_cycle(self, is_bad: impl Fn(u32) -> bool, control: &Control) -> Result<bool, Stopped> {
        let mut graphs = vec![self];
        while let Some(graph) = graphs.pop() {
            let levels = || graph.levels.iter().copied().filter(|&level| level != NONE);
            let (Some(least), Some(greatest)) = (levels().min(), levels().max()) else { continue };
            if !levels().any(&is_bad) {
                continue;
            }
            if least == greatest {
                // Every cycle has a vertex of the level: those without levels are components, and have none among them.
                if graph.components(|_| true, control)?.is_cyclic {
                    return Ok(true);
                }
                continue;
            }
            let middle = least + (greatest - least).div_ceil(2);
            let above = graph.components(|vertex| graph.levels[vertex] >= middle, control)?;
            let (inside, below) = graph.divided(&above);
            drop((graph, above));
            let around = below.components(|_| true, control)?;
            graphs.push(below.divided(&around).0);
            graphs.push(inside);
        }
        Ok(false)
    }

    /// The components of the vertices that `has` says.
    fn components(&self, has: impl Fn(usize) -> bool, control: &Control) -> Result<Division, Stopped> {
        const DONE: u32 = u32::MAX;
        let mut division = Division { of: vec![DONE; self.len()], sizes: Vec::new(), is_cyclic: false };
        let mut found = vec![0u32; self.len()];
        let mut time = 0;
        let mut open: Vec<u32> = Vec::new();
        // A vertex, the next of its edges, the earliest vertex that is known to be reached.
        let mut path: Vec<(u32, u32, u32)> = Vec::new();
        for start in (0..self.len()).filter(|&vertex| has(vertex)) {
            let mut enter = (found[start] == 0).then_some(start as u32);
            while enter.is_some() || !path.is_empty() {
                if let Some(vertex) = enter.take() {
                    time += 1;
                    if time % (1 << 14) == 0 {
                        control.check()?;
                    }
                    found[vertex as usize] = time;
                    open.push(vertex);
                    path.push((vertex, 0, time));
                }
                let (vertex, edge, low) = path.last_mut().expect("the path has a vertex");
                if let Some(&target) = self.edges(*vertex as usize).get(*edge as usize) {
                    *edge += 1;
                    division.is_cyclic |= target == *vertex;
                    match found[target as usize] {
                        0 if has(target as usize) => enter = Some(target),
                        0 | DONE => {}
                        earlier => *low = (*low).min(earlier),
                    }
                    continue;
                }
                let (vertex, low) = (*vertex, *low);
                path.pop();
                if let Some((_, _, above)) = path.last_mut() {
                    *above = (*above).min(low);
                }
                if low == found[vertex as usize] {
                    let place = open.iter().rposition(|&other| other == vertex).expect("it is open");
                    for &member in &open[place..] {
                        found[member as usize] = DONE;
                        division.of[member as usize] = division.sizes.len() as u32;
                    }
                    division.sizes.push((open.len() - place) as u32);
                    division.is_cyclic |= open.len() - place > 1;
                    open.truncate(place);
                }
            }
        }
        Ok(division)
    }

    /// The graph inside the components that have several vertices, or an edge from one to itself; and the graph in
    /// which each component is a vertex without a level.
    fn divided(&self, division: &Division) -> (LevelGraph, LevelGraph) {
        let (mut inside, mut outside) = (LevelGraph::default(), LevelGraph::default());
        let component = |vertex: u32| division.of[vertex as usize];
        let is_kept = |vertex: usize| {
            let own = division.of[vertex];
            own != NONE && (division.sizes[own as usize] > 1 || self.edges(vertex).contains(&(vertex as u32)))
        };
        let mut numbers = vec![NONE; self.len()];
        let mut next = 0;
        for vertex in (0..self.len()).filter(|&vertex| is_kept(vertex)) {
            numbers[vertex] = next;
            next += 1;
        }
        for vertex in (0..self.len()).filter(|&vertex| is_kept(vertex)) {
            let same = |&&target: &&u32| component(target) == division.of[vertex];
            self.edges(vertex).iter().filter(same).for_each(|&target| inside.edge(numbers[target as usize]));
            inside.vertex(self.levels[vertex]);
        }
        // The members of each component, one component behind the other, then the other vertices.
        let mut begins = vec![0u32; division.sizes.len() + 1];
        for (at, size) in division.sizes.iter().enumerate() {
            begins[at + 1] = begins[at] + size;
        }
        let count = *begins.last().expect("it has an end");
        let mut order = vec![0u32; self.len()];
        let (mut places, mut rest) = (begins, count);
        next = division.sizes.len() as u32;
        for vertex in 0..self.len() {
            let place = match division.of[vertex] {
                NONE => {
                    numbers[vertex] = next;
                    next += 1;
                    &mut rest
                }
                own => {
                    numbers[vertex] = own;
                    &mut places[own as usize]
                }
            };
            order[*place as usize] = vertex as u32;
            *place += 1;
        }
        let mut at = 0;
        for number in 0..next {
            let size = division.sizes.get(number as usize).copied().unwrap_or(1) as usize;
            for &vertex in &order[at..at + size] {
                let own = division.of[vertex as usize];
                let leaves = |&&target: &&u32| own == NONE || component(target) != own;
                let edges = self.edges(vertex as usize).iter();
                edges.filter(leaves).for_each(|&target| outside.edge(numbers[target as usize]));
            }
            let is_level = (number as usize) >= division.sizes.len();
            outside.vertex(if is_level { self.levels[order[at] as usize] } else { NONE });
            at += size;
        }
        (inside, outside)
    }
}

/// The component of each vertex, and their sizes.
struct Division {
    of: Vec<u32>,
    sizes: Vec<u32>,
    /// Is there a cycle?
    is_cyclic: bool,
}

#[cfg(test)]
mod tests {
    use trefoil_testkit::{Random, seed};

    use super::*;

    /// Is there a vertex of a bad level that can be reached from itself without lesser levels?
    fn by_definition(edges: &[Vec<u32>], levels: &[u32], is_bad: impl Fn(u32) -> bool) -> bool {
        (0..levels.len()).any(|start| {
            let mut reached = vec![false; levels.len()];
            let mut work = vec![start];
            while let Some(vertex) = work.pop() {
                for &target in &edges[vertex] {
                    let target = target as usize;
                    if levels[target] >= levels[start] && !reached[target] {
                        reached[target] = true;
                        work.push(target);
                    }
                }
            }
            is_bad(levels[start]) && reached[start]
        })
    }

    #[test]
    fn halves_of_levels_find_what_the_definition_finds() {
        let mut random = Random::new(seed());
        let mut found = [0, 0];
        for _ in 0..20_000 {
            let vertices = 1 + random.below(24);
            let greatest = 1 + random.below(20);
            let levels: Vec<u32> = (0..vertices).map(|_| random.below(greatest) as u32).collect();
            let degree = 1 + random.below(2);
            let edges: Vec<Vec<u32>> = (0..vertices)
                .map(|_| (0..random.below(degree + 2)).map(|_| random.below(vertices) as u32).collect())
                .collect();
            // Most levels are good, or there would hardly be a graph without a bad cycle.
            let bad = random.below(greatest) as u32;
            let is_bad = |level: u32| level == bad || level == bad + 4;
            let mut graph = LevelGraph::default();
            for (edges, &level) in edges.iter().zip(&levels) {
                edges.iter().for_each(|&target| graph.edge(target));
                graph.vertex(level);
            }
            let expected = by_definition(&edges, &levels, is_bad);
            let there = graph.has_bad_cycle(is_bad, &Control::unlimited()).expect("there is no budget");
            assert_eq!(there, expected, "{edges:?} {levels:?} {bad}");
            found[usize::from(there)] += 1;
        }
        assert!(found[0] > 2_000 && found[1] > 2_000, "{found:?}");
    }
}
