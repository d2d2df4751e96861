//! An order in which the nodes of a solid are eliminated so that its Cholesky factor stays small: nested dissection by place (George 1973).
//!
//! The nodes are cut in two by a plane across the axis for which the fewest of them lie at the cut; those that join the two halves come last, each
//! half before them in the same way. So no number of one half is ever joined with one of the other. For solids this leaves a factor that is smaller than
//! that of the order by least degree, which does not know where nodes are.
//!
//! Promised: a function of places and pairs alone.

use glam::DVec3;

/// Parts of so few nodes are not cut any more.
const WHOLE: usize = 24;

/// Of all nodes in a part, at least this share is on either side of a cut.
const LEAST_SHARE: f64 = 0.3;

/// Which nodes are neighbours, in compressed rows.
struct Graph {
    start: Vec<usize>,
    neighbours: Vec<u32>,
}

impl Graph {
    fn new(n: usize, pairs: &[(u32, u32)]) -> Graph {
        let mut both: Vec<(u32, u32)> = pairs.iter().flat_map(|&(i, j)| [(i, j), (j, i)]).collect();
        both.sort_unstable();
        both.dedup();
        let start = (0..=n).map(|i| both.partition_point(|(a, _)| (*a as usize) < i)).collect();
        Graph { start, neighbours: both.into_iter().map(|(_, b)| b).collect() }
    }

    fn of(&self, i: u32) -> &[u32] {
        &self.neighbours[self.start[i as usize]..self.start[i as usize + 1]]
    }
}

/// The nodes in the order in which they are eliminated.
pub(super) fn order(places: &[DVec3], pairs: &[(u32, u32)]) -> Vec<u32> {
    let graph = Graph::new(places.len(), pairs);
    let mut side = vec![Side::Outside; places.len()];
    let mut out = Vec::with_capacity(places.len());
    let all: Vec<u32> = (0..places.len() as u32).collect();
    dissect(all, places, &graph, &mut side, &mut out);
    out
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Outside,
    Low,
    High,
}

/// Appends a part in its order.
fn dissect(part: Vec<u32>, places: &[DVec3], graph: &Graph, side: &mut [Side], out: &mut Vec<u32>) {
    let cut = if part.len() > WHOLE { cut(&part, places, graph, side) } else { None };
    let Some([low, high, between]) = cut else {
        out.extend(part);
        return;
    };
    dissect(low, places, graph, side, out);
    dissect(high, places, graph, side, out);
    out.extend(between);
}

/// The two halves of a part and what is between them; none if it cannot be cut.
fn cut(part: &[u32], places: &[DVec3], graph: &Graph, side: &mut [Side]) -> Option<[Vec<u32>; 3]> {
    let mut best: Option<[Vec<u32>; 3]> = None;
    let mut sorted = part.to_vec();
    for axis in 0..3 {
        let along = |v: u32| places[v as usize][axis];
        sorted.sort_unstable_by(|a, b| along(*a).total_cmp(&along(*b)).then(a.cmp(b)));
        let middle = along(sorted[sorted.len() / 2]);
        // Nodes of one plane stay together, on the side where the halves are more alike.
        let below = sorted.partition_point(|v| along(*v) < middle);
        let through = sorted.partition_point(|v| along(*v) <= middle);
        for split in [below, through] {
            let (low, high) = sorted.split_at(split);
            low.iter().for_each(|v| side[*v as usize] = Side::Low);
            high.iter().for_each(|v| side[*v as usize] = Side::High);
            for (from, other) in [(low, Side::High), (high, Side::Low)] {
                let joins = |v: &u32| graph.of(*v).iter().any(|w| side[*w as usize] == other);
                let between: Vec<u32> = from.iter().copied().filter(joins).collect();
                let rest = from.len() - between.len();
                let opposite = part.len() - from.len();
                let is_even = rest.min(opposite) as f64 >= LEAST_SHARE * (rest + opposite) as f64;
                // The fewest between, and among those the halves that are most alike.
                let is_best = best.as_ref().is_none_or(|[one, two, known]| {
                    let fewer = known.len().cmp(&between.len());
                    fewer.then(rest.min(opposite).cmp(&one.len().min(two.len()))).is_gt()
                });
                if is_even && is_best {
                    let own: Vec<u32> = from.iter().copied().filter(|v| !joins(v)).collect();
                    let far = if other == Side::High { high.to_vec() } else { low.to_vec() };
                    best = Some([own, far, between]);
                }
            }
            part.iter().for_each(|v| side[*v as usize] = Side::Outside);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid whose nodes are joined with all their neighbours, as those of hexahedra are.
    fn grid(side: u32) -> (Vec<DVec3>, Vec<(u32, u32)>) {
        let place = |i: u32| [i % side, i / side % side, i / side / side];
        let all = 0..side * side * side;
        let near = |a: [u32; 3], b: [u32; 3]| a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 1);
        let pairs = all.clone().flat_map(|i| (0..i).map(move |j| (i, j)));
        let pairs = pairs.filter(|&(i, j)| near(place(i), place(j))).collect();
        (all.map(|i| DVec3::from(place(i).map(f64::from))).collect(), pairs)
    }

    #[test]
    fn every_node_is_eliminated_once() {
        let (places, pairs) = grid(9);
        let mut found = order(&places, &pairs);
        found.sort_unstable();
        assert_eq!(found, (0..9 * 9 * 9).collect::<Vec<u32>>());
        // Also where there is nothing to cut by.
        assert_eq!(order(&vec![DVec3::ONE; 100], &[]).len(), 100);
        assert!(order(&[], &[]).is_empty());
    }

    /// What is before the last separator falls apart in two halves.
    #[test]
    fn halves_are_not_joined() {
        let (places, pairs) = grid(9);
        let found = order(&places, &pairs);
        let last = &found[found.len() - 81..];
        let x = places[last[0] as usize];
        let axis = (0..3).find(|k| last.iter().all(|v| places[*v as usize][*k] == x[*k])).unwrap();
        assert_eq!(x[axis], 4.0, "a plane in the middle");
        assert!(pairs.iter().all(|&(i, j)| {
            let ends = [i, j].map(|v| places[v as usize][axis] - 4.0);
            ends[0] * ends[1] >= 0.0
        }));
    }
}
