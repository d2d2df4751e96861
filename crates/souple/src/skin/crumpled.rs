//! Skin that is crumpled in a fold is made smooth until it no longer crosses itself (ROH-62).
//!
//! Where weights are sharp and a joint is bent far, bones pull the skin in the fold past itself: which part a vertex belongs to says nothing there, so that bringing parts apart
//! (`skin/apart.rs`) leaves it crumpled. But the skin was in order where it was bound, and the mean of its neighbours puts a vertex back in order: vertices of triangles that cross,
//! and some around them, go half of the way to that mean, a few times, until nothing crosses. The rim of what is smoothed stays, so that the fold stays where it is.
//!
//! What crosses is found exactly (`measure/intersections.rs`), and only among what is near another part.

use glam::DVec3;

use super::volume::Enclosure;
use crate::measure::intersections::crossings;

/// Rings of vertices around those of triangles that cross that are smoothed along.
const RINGS: usize = 2;

/// How often vertices go half of the way to the mean of their neighbours, in a round.
const PASSES: usize = 3;

/// Neighbours of the vertices of a surface along its edges, lids left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbours {
    starts: Vec<u32>,
    list: Vec<u32>,
}

impl Neighbours {
    /// Of a surface.
    pub fn new(surface: &Enclosure) -> Neighbours {
        let own = &surface.triangles()[..surface.own_triangles()];
        let both = |&[a, b, c]: &[u32; 3]| [(a, b), (b, a), (b, c), (c, b), (c, a), (a, c)];
        let mut pairs: Vec<(u32, u32)> = own.iter().flat_map(both).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0u32; surface.vertices() + 1];
        pairs.iter().for_each(|(v, _)| starts[*v as usize + 1] += 1);
        for v in 1..starts.len() {
            starts[v] += starts[v - 1];
        }
        Neighbours { starts, list: pairs.into_iter().map(|(_, other)| other).collect() }
    }

    fn of(&self, v: usize) -> &[u32] {
        &self.list[self.starts[v] as usize..self.starts[v + 1] as usize]
    }

    /// Adds the neighbours of all that are marked.
    fn widen(&self, marked: &mut [bool]) {
        let before: Vec<usize> = (0..marked.len()).filter(|v| marked[*v]).collect();
        before.iter().flat_map(|v| self.of(*v)).for_each(|v| marked[*v as usize] = true);
    }

    /// Brings marked vertices half of the way to the mean of their neighbours.
    fn relax(&self, marked: &[usize], x: &mut [DVec3]) {
        let mean = |v: usize| {
            let around = self.of(v);
            around.iter().map(|w| x[*w as usize]).sum::<DVec3>() / around.len().max(1) as f64
        };
        let next: Vec<DVec3> = marked.iter().map(|&v| x[v].lerp(mean(v), 0.5)).collect();
        marked.iter().zip(next).for_each(|(&v, place)| x[v] = place);
    }
}

/// Makes what crosses itself smoother, once; false if nothing crosses. Vertices with `free` below 1 are near another part: only there it is looked for. Those that were moved
/// get 0.
pub fn smooth(surface: &Enclosure, neighbours: &Neighbours, x: &mut [DVec3], free: &mut [f64]) -> bool {
    let mut near: Vec<bool> = free[..surface.vertices()].iter().map(|free| *free < 1.0).collect();
    neighbours.widen(&mut near);
    let own = &surface.triangles()[..surface.own_triangles()];
    let looked: Vec<[u32; 3]> = own.iter().copied().filter(|t| t.iter().any(|v| near[*v as usize])).collect();
    let found = crossings(x, &looked);
    if found.is_empty() {
        return false;
    }
    let mut marked = vec![false; surface.vertices()];
    let corners = found.iter().flatten().flat_map(|t| looked[*t as usize]);
    corners.for_each(|v| marked[v as usize] = true);
    (0..RINGS).for_each(|_| neighbours.widen(&mut marked));
    let marked: Vec<usize> = (0..marked.len()).filter(|v| marked[*v]).collect();
    (0..PASSES).for_each(|_| neighbours.relax(&marked, x));
    marked.iter().for_each(|&v| free[v] = 0.0);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Grid, GridPlane};

    /// A flat sheet with a vertex that is pushed past its neighbours, through another, crosses itself no longer; far from it nothing moves.
    #[test]
    fn what_is_pushed_past_its_neighbours_comes_back() {
        let grid = Grid { size: [1.0, 1.0], vertices: [21, 21], plane: GridPlane::Xz, ..Grid::default() };
        let mesh = crate::mesh::generate::grid(&grid);
        let surface = Enclosure::new(mesh.positions.len(), &mesh.triangles);
        let neighbours = Neighbours::new(&surface);
        let mut x = mesh.positions.clone();
        x.resize(surface.places(), DVec3::ZERO);
        let (middle, before) = (10 * 21 + 10, x.clone());
        // It is pulled into a tent that stands three cells away, through its side.
        let tent = middle + 3 * 21 + 3;
        x[middle] = before[tent] + DVec3::Y * 0.1;
        x[tent] += DVec3::Y * 0.2;
        assert!(!crossings(&x, &mesh.triangles).is_empty());
        let mut free = vec![0.5; x.len()];
        let mut rounds = 0;
        while smooth(&surface, &neighbours, &mut x, &mut free) {
            rounds += 1;
            assert!(rounds < 20);
        }
        assert!(rounds > 0 && crossings(&x, &mesh.triangles).is_empty());
        assert_eq!(x[..21], before[..21]);
        // Where nothing is near another part nothing is looked for.
        x[middle] += DVec3::new(0.12, 0.02, 0.12);
        assert!(!smooth(&surface, &neighbours, &mut x, &mut vec![1.0; before.len()]));
    }
}
