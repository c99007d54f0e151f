//! Which edges point against the layers, and in which layer every node is.
//!
//! # Cycles
//!
//! Cycles are broken inside strongly connected components only, so that an edge that is on no cycle always points
//! onwards. Inside a component nodes are ordered by their distance from where the component is entered, and an edge
//! against this order is turned round while the layout is made. For transition systems this reads better than turning
//! the back edges of a depth-first search: states lie by how soon they can be reached, and a component does not become
//! one long thread.
//!
//! # Layers
//!
//! Every node is first put as early as its predecessors allow. Then nodes are moved, a few times over, to the end of
//! the room between their neighbours at which their edges together are shortest. That is a descent, not the optimum of
//! Gansner, Koutsofios, North and Vo, *A technique for drawing directed graphs*, 1993, and needs linear time.
//!
//! # Wide layers
//!
//! Where a layer is wider than the picture may be, nodes are dealt out again: layer by layer, those whose predecessors
//! are in earlier layers, in the order found so far, until the layer is full (after Coffman and Graham, *Optimal
//! scheduling for two-processor systems*, 1972, with widths in place of counts). A layer holds one node at least, so
//! that only a node that is wider than the picture makes a layer too wide.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use trefoil_control::{Control, Stopped};

use crate::Graph;
use crate::bundles::Bundle;

/// How often the nodes are moved to shorten edges.
pub(crate) const ROUNDS: usize = 8;

/// The layer of every node; loops aside, the two ends of an edge are in different layers. The widths of the nodes of a
/// layer sum up to at most `widest`, if each does.
pub(crate) fn layers(
    graph: &Graph,
    bundles: &[Bundle],
    widths: &[f64],
    widest: f64,
    control: &Control,
) -> Result<Vec<u32>, Stopped> {
    let count = graph.nodes.len();
    let mut successors: Vec<Vec<u32>> = vec![Vec::new(); count];
    for bundle in bundles.iter().filter(|bundle| !bundle.is_loop()) {
        successors[bundle.source].push(bundle.target as u32);
        if bundle.back.is_some() {
            successors[bundle.target].push(bundle.source as u32);
        }
    }
    let roots = beginnings(graph, &successors);
    control.check()?;
    let components = components(&successors, &roots);
    control.check()?;
    let order = order(&successors, &components, &roots);
    let mut position = vec![0u32; count];
    for (at, &node) in order.iter().enumerate() {
        position[node as usize] = at as u32;
    }
    let (mut before, mut after) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    for (node, targets) in successors.iter().enumerate() {
        for &target in targets {
            let (first, second) =
                if position[node] < position[target as usize] { (node as u32, target) } else { (target, node as u32) };
            after[first as usize].push(second);
            before[second as usize].push(first);
        }
    }
    let mut layer = vec![0u32; count];
    for &node in &order {
        let earliest = before[node as usize].iter().map(|&node: &u32| layer[node as usize] + 1).max();
        layer[node as usize] = earliest.unwrap_or(0);
    }
    shorten(&order, &before, &after, &mut layer, control)?;
    let mut full = vec![0.0; layer.iter().max().map_or(0, |&last| last as usize + 1)];
    for (node, &layer) in layer.iter().enumerate() {
        full[layer as usize] += widths[node];
    }
    if full.iter().any(|&width| width > widest) {
        deal_out(&position, &before, &after, widths, widest, &mut layer);
    }
    Ok(layer)
}

/// Puts the nodes into layers that are at most so wide.
fn deal_out(position: &[u32], before: &[Vec<u32>], after: &[Vec<u32>], widths: &[f64], widest: f64, layer: &mut [u32]) {
    let wanted = layer.to_vec();
    let mut waits: Vec<usize> = before.iter().map(Vec::len).collect();
    let entry = |node: u32| Reverse((wanted[node as usize], position[node as usize], node));
    let mut ready: BinaryHeap<_> =
        (0..layer.len() as u32).filter(|&node| waits[node as usize] == 0).map(entry).collect();
    let mut number = 0;
    while !ready.is_empty() {
        let (mut taken, mut width): (Vec<u32>, f64) = (Vec::new(), 0.0);
        while let Some(&Reverse((from, _, node))) = ready.peek() {
            let fits = width + widths[node as usize] <= widest && from <= number;
            if !taken.is_empty() && !fits {
                break;
            }
            ready.pop();
            width += widths[node as usize];
            taken.push(node);
        }
        for &node in &taken {
            layer[node as usize] = number;
            for &next in &after[node as usize] {
                waits[next as usize] -= 1;
                if waits[next as usize] == 0 {
                    ready.push(entry(next));
                }
            }
        }
        number += 1;
    }
}

/// Nodes in the order in which searches start: initial nodes, nodes without incoming edges, all others.
fn beginnings(graph: &Graph, successors: &[Vec<u32>]) -> Vec<u32> {
    let mut entered = vec![false; successors.len()];
    for &target in successors.iter().flatten() {
        entered[target as usize] = true;
    }
    let rank = |node: usize| match (graph.nodes[node].initial, entered[node]) {
        (true, _) => 0,
        (false, false) => 1,
        (false, true) => 2,
    };
    let mut all: Vec<u32> = (0..successors.len() as u32).collect();
    all.sort_by_key(|&node| rank(node as usize));
    all
}

/// The strongly connected component of every node, numbered so that edges lead to lower numbers (Tarjan, *Depth-first
/// search and linear graph algorithms*, 1972, without recursion).
fn components(successors: &[Vec<u32>], roots: &[u32]) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let count = successors.len();
    let (mut number, mut low, mut component) = (vec![NONE; count], vec![0u32; count], vec![NONE; count]);
    let (mut stack, mut work): (Vec<u32>, Vec<(u32, usize)>) = (Vec::new(), Vec::new());
    let (mut next, mut found) = (0, 0);
    for &root in roots {
        if number[root as usize] != NONE {
            continue;
        }
        work.push((root, 0));
        while let Some((node, at)) = work.pop() {
            let here = node as usize;
            if at == 0 {
                number[here] = next;
                low[here] = next;
                next += 1;
                stack.push(node);
            } else {
                low[here] = low[here].min(low[successors[here][at - 1] as usize]);
            }
            let mut at = at;
            let mut deeper = None;
            while let Some(&target) = successors[here].get(at) {
                at += 1;
                if number[target as usize] == NONE {
                    deeper = Some(target);
                    break;
                }
                if component[target as usize] == NONE {
                    low[here] = low[here].min(number[target as usize]);
                }
            }
            if let Some(target) = deeper {
                work.push((node, at));
                work.push((target, 0));
                continue;
            }
            if low[here] == number[here] {
                while let Some(member) = stack.pop() {
                    component[member as usize] = found;
                    if member == node {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    component
}

/// All nodes: component by component along the edges, inside a component by distance from where it is entered.
fn order(successors: &[Vec<u32>], component: &[u32], roots: &[u32]) -> Vec<u32> {
    let count = component.iter().max().map_or(0, |&last| last as usize + 1);
    let mut entries: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut is_entry = vec![false; successors.len()];
    for (node, targets) in successors.iter().enumerate() {
        for &target in targets {
            if component[node] != component[target as usize] && !is_entry[target as usize] {
                is_entry[target as usize] = true;
                entries[component[target as usize] as usize].push(target);
            }
        }
    }
    // No edge enters the component of a root; and a component without an incoming edge needs a node to begin with.
    for &root in roots {
        let own = &mut entries[component[root as usize] as usize];
        if own.is_empty() {
            own.push(root);
        }
    }
    let mut order = Vec::with_capacity(successors.len());
    let mut seen = vec![false; successors.len()];
    for number in (0..count).rev() {
        let mut queue: VecDeque<u32> = std::mem::take(&mut entries[number]).into();
        for &entry in &queue {
            seen[entry as usize] = true;
        }
        while let Some(node) = queue.pop_front() {
            order.push(node);
            for &target in &successors[node as usize] {
                if component[target as usize] as usize == number && !seen[target as usize] {
                    seen[target as usize] = true;
                    queue.push_back(target);
                }
            }
        }
    }
    order
}

fn shorten(
    order: &[u32],
    before: &[Vec<u32>],
    after: &[Vec<u32>],
    layer: &mut [u32],
    control: &Control,
) -> Result<(), Stopped> {
    for _ in 0..ROUNDS {
        control.check()?;
        let mut moved = false;
        for &node in order.iter().rev() {
            let here = node as usize;
            let (above, below) = (&before[here], &after[here]);
            let first = above.iter().map(|&node| layer[node as usize] + 1).max();
            let last = below.iter().map(|&node| layer[node as usize] - 1).min();
            let best = match (first, last) {
                (Some(first), Some(last)) if below.len() > above.len() => last.max(first),
                (None, Some(last)) if !below.is_empty() => last,
                (Some(first), Some(_)) if above.len() > below.len() => first,
                _ => continue,
            };
            moved |= best != layer[here];
            layer[here] = best;
        }
        if !moved {
            break;
        }
    }
    let least = layer.iter().copied().min().unwrap_or(0);
    layer.iter_mut().for_each(|layer| *layer -= least);
    Ok(())
}
