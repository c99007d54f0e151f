//! Strongly connected components of small graphs, by Tarjan's algorithm without recursion.

/// The component of each node of a graph, given the targets of each node. Components are numbered so that an edge
/// between two of them leads to the one with the smaller number (Tarjan, *Depth-first search and linear graph
/// algorithms*, 1972).
pub(crate) fn components(targets: &[Vec<u32>]) -> (Vec<u32>, u32) {
    const UNSEEN: u32 = u32::MAX;
    let mut component = vec![UNSEEN; targets.len()];
    let mut index = vec![UNSEEN; targets.len()];
    let mut low = vec![0; targets.len()];
    let (mut next, mut count) = (0, 0);
    let mut open: Vec<u32> = Vec::new();
    let mut walk: Vec<(u32, usize)> = Vec::new();
    for root in 0..targets.len() as u32 {
        if index[root as usize] != UNSEEN {
            continue;
        }
        walk.push((root, 0));
        while let Some(&mut (node, ref mut edge)) = walk.last_mut() {
            let at = node as usize;
            if *edge == 0 {
                index[at] = next;
                low[at] = next;
                next += 1;
                open.push(node);
            }
            if let Some(&target) = targets[at].get(*edge) {
                *edge += 1;
                if index[target as usize] == UNSEEN {
                    walk.push((target, 0));
                } else if component[target as usize] == UNSEEN {
                    low[at] = low[at].min(index[target as usize]);
                }
                continue;
            }
            walk.pop();
            if let Some(&(above, _)) = walk.last() {
                low[above as usize] = low[above as usize].min(low[at]);
            }
            if low[at] == index[at] {
                while let Some(member) = open.pop() {
                    component[member as usize] = count;
                    if member == node {
                        break;
                    }
                }
                count += 1;
            }
        }
    }
    (component, count)
}
