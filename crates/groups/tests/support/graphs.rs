//! Graphs to try things on.

use trefoil_groups::{ColouredGraph, Point, Random};

/// Few vertices, colours on vertices and arcs, loops and parallel arcs; often undirected or plain.
pub fn random_graph(random: &mut Random, largest: usize) -> ColouredGraph {
    let n = 1 + random.below(largest);
    let mut graph = ColouredGraph::new(n);
    let (vertex_colours, arc_colours) = (1 + random.below(2), 1 + random.below(2));
    let directed = random.below(2) == 0;
    for vertex in 0..n as Point {
        graph.set_colour(vertex, random.below(vertex_colours) as u32);
    }
    for _ in 0..random.below(2 * n + 1) {
        let (from, to) = (random.below(n) as Point, random.below(n) as Point);
        let colour = random.below(arc_colours) as u32;
        if directed {
            graph.add_arc(from, to, colour);
        } else {
            graph.add_edge(from, to, colour);
        }
    }
    graph
}

/// Undirected, without loops or parallel edges where that comes out soon.
pub fn random_regular(random: &mut Random, n: usize, degree: usize) -> ColouredGraph {
    for _ in 0..1000 {
        let mut ends: Vec<Point> = (0..n * degree).map(|end| (end / degree) as Point).collect();
        random.shuffle(&mut ends);
        let mut pairs: Vec<(Point, Point)> =
            ends.chunks(2).map(|pair| (pair[0].min(pair[1]), pair[0].max(pair[1]))).collect();
        pairs.sort_unstable();
        let simple = pairs.iter().all(|(a, b)| a != b) && pairs.windows(2).all(|two| two[0] != two[1]);
        if simple {
            return from_edges(n, pairs);
        }
    }
    cycle_graph(n)
}

pub fn random_tree(random: &mut Random, n: usize) -> ColouredGraph {
    from_edges(n, (1..n).map(|vertex| (vertex as Point, random.below(vertex) as Point)).collect::<Vec<_>>())
}

pub fn from_edges(n: usize, edges: impl IntoIterator<Item = (Point, Point)>) -> ColouredGraph {
    let mut graph = ColouredGraph::new(n);
    for (a, b) in edges {
        graph.add_edge(a, b, 0);
    }
    graph
}

pub fn complete(n: usize) -> ColouredGraph {
    from_edges(n, (0..n as Point).flat_map(|a| (0..a).map(move |b| (a, b))))
}

pub fn cycle_graph(n: usize) -> ColouredGraph {
    from_edges(n, (0..n).map(|a| (a as Point, ((a + 1) % n) as Point)))
}

pub fn directed_cycle(n: usize) -> ColouredGraph {
    let mut graph = ColouredGraph::new(n);
    (0..n).for_each(|a| graph.add_arc(a as Point, ((a + 1) % n) as Point, 0));
    graph
}

pub fn star(leaves: usize) -> ColouredGraph {
    from_edges(leaves + 1, (1..=leaves).map(|leaf| (0, leaf as Point)))
}

pub fn hypercube(dimension: u32) -> ColouredGraph {
    let n = 1u32 << dimension;
    from_edges(n as usize, (0..n).flat_map(|a| (0..dimension).map(move |bit| (a, a ^ 1 << bit))).filter(|(a, b)| a < b))
}

pub fn torus(rows: usize, columns: usize) -> ColouredGraph {
    let at = move |row: usize, column: usize| (row % rows * columns + column % columns) as Point;
    let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    from_edges(
        rows * columns,
        cells
            .flat_map(|(row, column)| [(at(row, column), at(row + 1, column)), (at(row, column), at(row, column + 1))]),
    )
}

pub fn petersen() -> ColouredGraph {
    from_edges(10, (0..5).flat_map(|k| [(k, (k + 1) % 5), (k, k + 5), (k + 5, (k + 2) % 5 + 5)]))
}

pub fn paley(prime: u32) -> ColouredGraph {
    let is_square = |x: u32| (1..prime).any(|y| y * y % prime == x);
    let squares: Vec<u32> = (1..prime).filter(|&x| is_square(x)).collect();
    let pairs = (0..prime).flat_map(|a| squares.iter().map(move |&d| (a, (a + d) % prime)).collect::<Vec<_>>());
    from_edges(prime as usize, pairs.filter(|(a, b)| a < b))
}

/// The graph of Paley's Hadamard matrix of order `prime + 1`, for a prime that is 3 modulo 4: two vertices for each row
/// and column, joined straight or crossed.
pub fn hadamard(prime: u32) -> ColouredGraph {
    let n = prime + 1;
    let is_square = |x: u32| (1..prime).any(|y| y * y % prime == x);
    let plus =
        |row: u32, column: u32| row == 0 || column == 0 || (row != column && is_square((column + prime - row) % prime));
    let entries = (0..n).flat_map(|row| (0..n).map(move |column| (row, column)));
    let edges = entries.flat_map(|(row, column)| {
        let crossed = u32::from(!plus(row, column));
        [(2 * row, 2 * n + 2 * column + crossed), (2 * row + 1, 2 * n + 2 * column + 1 - crossed)]
    });
    from_edges(4 * n as usize, edges.collect::<Vec<_>>())
}

/// Squares of a board, joined along rows and columns.
pub fn rook(n: u32) -> ColouredGraph {
    let squares = (0..n * n).flat_map(move |a| (0..a).map(move |b| (a, b)));
    from_edges((n * n) as usize, squares.filter(|(a, b)| a / n == b / n || a % n == b % n))
}

pub fn shrikhande() -> ColouredGraph {
    let near = [(0, 1), (1, 0), (1, 1), (0, 3), (3, 0), (3, 3)];
    let pairs = (0..16u32).flat_map(|a| near.map(|(x, y)| (a, (a / 4 + x) % 4 * 4 + (a % 4 + y) % 4)));
    from_edges(16, pairs.filter(|(a, b)| a < b))
}

pub fn binary_tree(height: u32) -> ColouredGraph {
    let n = (2u32 << height) - 1;
    from_edges(n as usize, (1..n).map(|vertex| (vertex, (vertex - 1) / 2)))
}

pub fn union(left: &ColouredGraph, right: &ColouredGraph) -> ColouredGraph {
    let shift = left.vertices() as Point;
    let mut graph = left.clone();
    right.colours().iter().for_each(|&colour| {
        graph.add_vertex(colour);
    });
    right.arcs().iter().for_each(|arc| graph.add_arc(arc.from + shift, arc.to + shift, arc.colour));
    graph
}

pub fn copies(graph: &ColouredGraph, count: usize) -> ColouredGraph {
    let mut all = ColouredGraph::new(0);
    for index in 0..count {
        let shift = (index * graph.vertices()) as Point;
        graph.colours().iter().for_each(|&colour| {
            all.add_vertex(colour);
        });
        graph.arcs().iter().for_each(|arc| all.add_arc(arc.from + shift, arc.to + shift, arc.colour));
    }
    all
}

/// Cai, Fürer and Immerman's construction over a graph: a gadget for each vertex with one inner vertex for each even
/// set of its edges and two outer ones for each edge; `twist` crosses one connection.
pub fn gadgets(base: &ColouredGraph, twist: bool) -> ColouredGraph {
    let mut graph = ColouredGraph::new(0);
    let n = base.vertices() as Point;
    let edges: Vec<(Point, Point)> =
        base.arcs().iter().filter(|arc| arc.from < arc.to).map(|arc| (arc.from, arc.to)).collect();
    let mut outer = std::collections::BTreeMap::new();
    for vertex in 0..n {
        let at: Vec<usize> =
            (0..edges.len()).filter(|&edge| edges[edge].0 == vertex || edges[edge].1 == vertex).collect();
        for &edge in &at {
            let pair = [graph.add_vertex(1), graph.add_vertex(1)];
            outer.insert((vertex, edge), pair);
        }
        for set in (0u32..1 << at.len()).filter(|set| set.count_ones() % 2 == 0) {
            let inner = graph.add_vertex(0);
            for (bit, &edge) in at.iter().enumerate() {
                let pair: [Point; 2] = outer[&(vertex, edge)];
                graph.add_edge(inner, pair[(set >> bit & 1) as usize], 0);
            }
        }
    }
    for (index, &(a, b)) in edges.iter().enumerate() {
        let (left, right) = (outer[&(a, index)], outer[&(b, index)]);
        let crossed = usize::from(twist && index == 0);
        graph.add_edge(left[0], right[crossed], 0);
        graph.add_edge(left[1], right[1 - crossed], 0);
    }
    graph
}
