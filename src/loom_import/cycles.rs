//! Cycles of parents, which a file may have and a tree may not.

/// Breaks cycles of parents, each before its first node in order; returns these nodes.
pub(super) fn cut_cycles(parents: &mut [Option<usize>]) -> Vec<usize> {
    let mut cut = Vec::new();
    // The walk that visited each node, from 1.
    let mut walks: Vec<usize> = vec![0; parents.len()];
    for start in 0..parents.len() {
        let walk = start.saturating_add(1);
        let mut at = start;
        loop {
            match walks.get_mut(at) {
                Some(seen) if *seen == 0 => *seen = walk,
                Some(seen) if *seen == walk => {
                    let mut first = at;
                    let mut next = parents.get(at).copied().flatten();
                    while let Some(other) = next.filter(|&other| other != at) {
                        first = first.min(other);
                        next = parents.get(other).copied().flatten();
                    }
                    if let Some(parent) = parents.get_mut(first) {
                        *parent = None;
                        cut.push(first);
                    }
                    break;
                }
                // An earlier walk visited this node.
                _ => break,
            }
            match parents.get(at).copied().flatten() {
                Some(parent) => at = parent,
                None => break,
            }
        }
    }
    cut
}
