//! Shortest ways through the inside of a shape, from cell to cell (ROH-15, ROH-16).
//!
//! Rohmer, *Géométrie active pour l'animation et la modélisation* (2011), section 2.2: cells that are inside a surface or passed by it are the
//! nodes of a graph; each leads to the 26 around it, and a way is as long as the line through the middles of its cells. What lies between two
//! parts of a shape, such as the air between an arm and the body, has no cells, so that no way leads through it. The thesis searches by Dijkstra's
//! algorithm with a heap. No way between cells is shorter than 1 cell, so that here the cells at distances from k to k + 1 cells are a bucket:
//! nothing in a bucket can come closer by something else in it, and buckets need no order inside (Dial 1969, Dinitz 1978).
//!
//! Promised: the distances of [`plain_distances`], to the last bit. Ways along the grid are longer than straight ones by up to 13 %, in
//! directions between its axes and diagonals. Parts of a shape that share a cell are joined.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use glam::DVec3;

use super::voxels::{Fill, VoxelError, Voxels};
use super::{TriMesh, bounds};

/// No cell.
const NONE: u32 = u32::MAX;

/// Where distances start: a cell that is kept, and its own distance, in cells.
pub type Start = (u32, f32);

/// The cells that are inside a surface or passed by it.
#[derive(Clone, Debug, PartialEq)]
pub struct InsideCells {
    /// Edge of a cell, m.
    pub cell: f64,
    origin: DVec3,
    /// Cells along x, y and z, with one more on each side, which is empty.
    size: [usize; 3],
    /// Number of each cell of the box, or none.
    numbers: Vec<u32>,
    /// Where each cell is in that list.
    places: Vec<u32>,
}

/// Memory of a search, used again and again.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// Distances of all cells, in cells; infinite where no way leads or none was looked for.
    pub distances: Vec<f32>,
    /// Those that were reached, some more than once.
    reached: Vec<u32>,
    buckets: [Vec<u32>; 3],
}

/// A limit to a search: distances that are known, and by how much others may be above them, in cells.
#[derive(Clone, Copy, Debug)]
pub struct Above<'a> {
    /// The least of all searches, of all cells.
    pub least: &'a [f32],
    /// How much above it is still looked at.
    pub slack: f32,
}

/// Ways to the 26 cells around a cell: how far in the list of a box of that size, and how long.
fn ways([nx, ny, _]: [usize; 3]) -> [(isize, f32); 26] {
    let (nx, ny) = (nx as isize, ny as isize);
    let mut ways = [(0, 0.0); 26];
    let mut next = ways.iter_mut();
    for k in -1..=1isize {
        for j in -1..=1isize {
            for i in -1..=1isize {
                let squared = (i * i + j * j + k * k) as f32;
                if squared > 0.0
                    && let Some(way) = next.next()
                {
                    *way = ((k * ny + j) * nx + i, squared.sqrt());
                }
            }
        }
    }
    ways
}

impl InsideCells {
    /// Of a closed surface, or of what an open one passes, with so many cells along its longest side.
    pub fn new(mesh: &TriMesh, resolution: usize) -> Result<InsideCells, VoxelError> {
        let (low, high) = bounds(&mesh.positions);
        let longest = (high - low).max_element();
        let cell = if longest > 0.0 { longest / resolution as f64 } else { 1.0 };
        let voxels = Voxels::of_surface(mesh, cell, 1, Fill::IfClosed)?;
        let size = voxels.size.map(|n| n + 2);
        let mut numbers = vec![NONE; size.iter().product()];
        let mut places = Vec::new();
        let [nx, ny, nz] = voxels.size;
        for k in 0..nz {
            for j in 0..ny {
                let (row, padded) = ((k * ny + j) * nx, ((k + 1) * size[1] + j + 1) * size[0] + 1);
                for (i, _) in voxels.kept[row..row + nx].iter().enumerate().filter(|(_, kept)| **kept) {
                    numbers[padded + i] = places.len() as u32;
                    places.push((padded + i) as u32);
                }
            }
        }
        Ok(InsideCells { cell, origin: voxels.origin - cell, size, numbers, places })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Where a point is, in cells from the corner of the box.
    fn in_cells(&self, p: DVec3) -> DVec3 {
        (p - self.origin) / self.cell
    }

    /// The cell at a place of the box; none if nothing is there.
    fn at(&self, place: [isize; 3]) -> Option<u32> {
        let mut index = 0;
        for axis in [2, 1, 0] {
            let c = usize::try_from(place[axis]).ok().filter(|c| *c < self.size[axis])?;
            index = index * self.size[axis] + c;
        }
        self.numbers.get(index).copied().filter(|n| *n != NONE)
    }

    /// The cell that a point lies in; none if nothing is there.
    pub fn around(&self, p: DVec3) -> Option<u32> {
        self.at(self.in_cells(p).floor().to_array().map(|c| c as isize))
    }

    /// Middle of a cell, in cells from the corner of the box.
    fn middle(&self, cell: u32) -> DVec3 {
        let [nx, ny, _] = self.size;
        let place = self.places[cell as usize] as usize;
        DVec3::new((place % nx) as f64, (place / nx % ny) as f64, (place / (nx * ny)) as f64) + 0.5
    }

    /// Cells whose middles are around a point, and their shares in what is read there; the shares sum to 1.
    pub fn stencil(&self, p: DVec3) -> Vec<(u32, f64)> {
        let at = self.in_cells(p) - 0.5;
        let low = at.floor();
        let part = at - low;
        let low = low.to_array().map(|c| c as isize);
        let mut found = Vec::new();
        for corner in 0..8 {
            let up = [corner & 1, corner >> 1 & 1, corner >> 2];
            let share: f64 =
                (0..3).map(|axis| if up[axis] == 1 { part[axis] } else { 1.0 - part[axis] }).product();
            let place: [isize; 3] = std::array::from_fn(|axis| low[axis] + up[axis]);
            if share > 0.0
                && let Some(cell) = self.at(place)
            {
                found.push((cell, share));
            }
        }
        let sum: f64 = found.iter().map(|(_, share)| share).sum();
        found.iter_mut().for_each(|(_, share)| *share /= sum);
        found
    }

    /// Whether a straight line stays in cells, from the one that its start is in.
    pub fn is_clear(&self, from: DVec3, to: DVec3) -> bool {
        let steps = (2.0 * from.distance(to) / self.cell).ceil().min(1e6) as usize;
        (1..=steps).all(|s| self.around(from + (to - from) * (s as f64 / steps as f64)).is_some())
    }

    /// Cells that the lines of a bone pass, or that are beside them, with their distances to it; if it passes none, those that are nearest to it.
    pub fn starts(&self, lines: &[[DVec3; 2]]) -> Vec<Start> {
        let lines: Vec<[DVec3; 2]> = lines.iter().map(|line| line.map(|p| self.in_cells(p))).collect();
        let distance = |cell: u32| {
            let p = self.middle(cell);
            lines.iter().map(|line| nearest_on(*line, p).distance(p)).fold(f64::INFINITY, f64::min)
        };
        let mut cells: Vec<u32> = Vec::new();
        let reach = DVec3::from(self.size.map(|n| n as f64));
        for &[a, b] in &lines {
            // What is far beyond the box passes no cell.
            let inside = |p: DVec3| p.cmpge(DVec3::splat(-1.0)).all() && p.cmple(reach + 1.0).all();
            let steps = (2.0 * a.distance(b)).ceil().clamp(1.0, 1e6) as usize;
            for s in 0..=steps {
                let p = a + (b - a) * (s as f64 / steps as f64);
                if !inside(p) {
                    continue;
                }
                let place = p.floor().to_array().map(|c| c as isize);
                for around in 0..27isize {
                    let by = [around % 3 - 1, around / 3 % 3 - 1, around / 9 - 1];
                    cells.extend(self.at(std::array::from_fn(|axis| place[axis] + by[axis])));
                }
            }
        }
        cells.sort_unstable();
        cells.dedup();
        let mut found: Vec<Start> = cells.iter().map(|&cell| (cell, distance(cell) as f32)).collect();
        found.retain(|(_, d)| *d <= 1.0);
        if found.is_empty() {
            let all: Vec<f32> = (0..self.len() as u32).map(|cell| distance(cell) as f32).collect();
            let least = all.iter().copied().fold(f32::INFINITY, f32::min);
            let near = (0u32..).zip(&all).filter(|(_, d)| **d <= least + 0.5);
            found.extend(near.map(|(cell, d)| (cell, *d)));
        }
        found
    }

    /// Distances from some cells to all, or to those that a limit leaves. Those along a way to a cell are within the limit, if that of the cell is:
    /// what is found is exact.
    pub fn search(&self, starts: &[Start], limit: Option<Above>, search: &mut Search) {
        let Search { distances, reached, buckets } = search;
        if distances.len() != self.len() {
            // Of another shape.
            reached.clear();
            distances.clear();
            distances.resize(self.len(), f32::INFINITY);
        }
        reached.drain(..).for_each(|cell| distances[cell as usize] = f32::INFINITY);
        let mut starts = starts.to_vec();
        // The last is the nearest.
        starts.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        let ways = ways(self.size);
        let may = |cell: u32, d: f32| limit.is_none_or(|l| d <= l.least[cell as usize] + l.slack);
        let Some(mut now) = starts.last().map(|(_, d)| *d as usize) else { return };
        loop {
            while let Some((cell, d)) = starts.pop_if(|(_, d)| *d as usize <= now) {
                if d < distances[cell as usize] && may(cell, d) {
                    distances[cell as usize] = d;
                    buckets[now % 3].push(cell);
                }
            }
            let bucket = std::mem::take(&mut buckets[now % 3]);
            for &cell in &bucket {
                let d = distances[cell as usize];
                // It came closer after it was put here, and was looked at then.
                if (d as usize) < now {
                    continue;
                }
                let place = self.places[cell as usize] as usize;
                for (by, length) in ways {
                    let next = self.numbers[place.wrapping_add_signed(by)];
                    if next == NONE {
                        continue;
                    }
                    let (new, old) = (d + length, distances[next as usize]);
                    if new < old && may(next, new) {
                        distances[next as usize] = new;
                        // It is in that bucket already if it was at nearly the same distance.
                        if old == f32::INFINITY || old as usize != new as usize {
                            buckets[new as usize % 3].push(next);
                        }
                    }
                }
            }
            reached.extend_from_slice(&bucket);
            buckets[now % 3] = bucket;
            buckets[now % 3].clear();
            now = match buckets.iter().all(Vec::is_empty) {
                false => now + 1,
                true => match starts.last() {
                    Some((_, d)) => *d as usize,
                    None => return,
                },
            };
        }
    }
}

/// The point of a line that is nearest to another.
pub fn nearest_on([a, b]: [DVec3; 2], p: DVec3) -> DVec3 {
    let along = b - a;
    let length = along.length_squared();
    if length > 0.0 { a + along * ((p - a).dot(along) / length).clamp(0.0, 1.0) } else { a }
}

/// An entry of the heap of [`plain_distances`].
struct Entry(f32, u32);

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// The same by Dijkstra's algorithm with a heap: the plain twin of [`InsideCells::search`].
pub fn plain_distances(cells: &InsideCells, starts: &[Start]) -> Vec<f32> {
    let mut distances = vec![f32::INFINITY; cells.len()];
    let mut heap = BinaryHeap::new();
    for &(cell, d) in starts {
        if d < distances[cell as usize] {
            distances[cell as usize] = d;
            heap.push(Reverse(Entry(d, cell)));
        }
    }
    let ways = ways(cells.size);
    while let Some(Reverse(Entry(d, cell))) = heap.pop() {
        if d > distances[cell as usize] {
            continue;
        }
        for (by, length) in ways {
            let next = cells.numbers[(cells.places[cell as usize] as usize).wrapping_add_signed(by)];
            if next != NONE && d + length < distances[next as usize] {
                distances[next as usize] = d + length;
                heap.push(Reverse(Entry(d + length, next)));
            }
        }
    }
    distances
}
