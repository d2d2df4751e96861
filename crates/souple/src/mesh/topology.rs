//! What joins the particles of one body: triangles, rope segments, springs, and what follows from them.
//!
//! A [`Topology`] is shared between model and state until the body tears; then the state gets its own, changed by
//! [`super::tear`] and [`super::cut`]. Everything under "derived" is recomputed by [`Topology::rebuild_derived`] and
//! never saved.

use std::sync::Arc;

use glam::DVec3;

use super::open_edges;
use super::patch::{Patch, rope_patches};
use super::star::{StarWeights, sheet_patches};
use super::triangle_area;
use crate::energy::CellsInUse;
use crate::mapping::Mapping;

/// Family of a spring (ESSI-18, ESSI-19).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum SpringFamily {
    /// Along threads or mesh edges.
    Stretch = 0,
    /// Across the cells of a grid.
    Shear = 1,
    /// Skips a particle and so resists bending.
    Bend = 2,
}

impl SpringFamily {
    /// All families, in the order of their numbers.
    pub const ALL: [SpringFamily; 3] = [SpringFamily::Stretch, SpringFamily::Shear, SpringFamily::Bend];

    /// The name used in scene files.
    pub fn name(self) -> &'static str {
        match self {
            SpringFamily::Stretch => "stretch",
            SpringFamily::Shear => "shear",
            SpringFamily::Bend => "bend",
        }
    }
}

/// A damped spring between two particles (ESSI-23, ESSI-24, GRI-04, GRI-05).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// First particle.
    pub i: u32,
    /// Second particle.
    pub j: u32,
    /// Rest length, m; positive.
    pub rest_length: f64,
    /// Stiffness, N/m.
    pub stiffness: f64,
    /// Axial damping, N·s/m, Rayleigh's share included.
    pub damping: f64,
    /// Family.
    pub family: SpringFamily,
    /// How many mesh edges apart the ends were at the start; a tear that separates them further cuts the spring. 0 when
    /// no path on the mesh joined them: such a spring is never cut by a tear elsewhere.
    pub hops: u8,
}

/// An edge of a triangle or a rope segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// First particle; lower than `j`.
    pub i: u32,
    /// Second particle.
    pub j: u32,
    /// Rest length, m.
    pub rest_length: f64,
    /// Whether it is a side of one triangle alone: a hem.
    pub border: bool,
}

/// For each of n things, a list of numbers, ascending: compressed rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    start: Vec<u32>,
    items: Vec<u32>,
}

impl Rows {
    /// Rows from (row, item) pairs given in ascending order of items: a counting sort, so each row stays ascending.
    pub fn from_pairs(rows: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Rows {
        let mut start = vec![0u32; rows + 1];
        for (row, _) in pairs.clone() {
            start[row as usize + 1] += 1;
        }
        for r in 0..rows {
            start[r + 1] += start[r];
        }
        let mut next = start.clone();
        let mut items = vec![0u32; start[rows] as usize];
        for (row, item) in pairs {
            let at = &mut next[row as usize];
            items[*at as usize] = item;
            *at += 1;
        }
        Rows { start, items }
    }

    /// The items of one row.
    pub fn row(&self, r: usize) -> &[u32] {
        &self.items[self.start[r] as usize..self.start[r + 1] as usize]
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// How many items all rows have.
    pub fn items(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What joins the particles of one body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// Positions at rest, m, one per particle; a particle made by a tear has those of its parent.
    pub rest_positions: Vec<DVec3>,
    /// Masses, kg, one per particle.
    pub masses: Vec<f64>,
    /// Triangles of the surface; empty for a rope.
    pub triangles: Vec<[u32; 3]>,
    /// Segments of a rope; empty for a surface.
    pub segments: Vec<[u32; 2]>,
    /// Tetrahedra of a solid, of which the triangles are the surface; empty for others.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Hexahedra of a solid, whose corner c is at x, y, z by its bits 0, 1, 2; empty for others.
    pub hexahedra: Vec<[u32; 8]>,
    /// Particles that follow others and have no mass of their own.
    pub mapping: Mapping,
    /// The cells that are in use, of a body that refines itself; none of others.
    pub in_use: Option<Arc<CellsInUse>>,
    /// How many particles at the end of the list are mechanics alone: they are neither seen nor touched.
    pub hidden: usize,
    /// Springs.
    pub springs: Vec<Spring>,
    /// For each particle, the one of the original mesh that it comes from.
    pub parents: Vec<u32>,
    /// Bending rigidity: of a sheet, N·m; of a rope, N·m². 0 for what bends freely.
    pub bending: f64,
    /// Whether it keeps bends for good: then every patch has a frame that turns with it.
    pub creases: bool,
    /// Counts tears and changes of cells: solvers rebuild what they keep when it changes.
    pub version: u64,

    /// Derived: edges of triangles and segments, sorted.
    pub edges: Vec<Edge>,
    /// Derived: what bends; empty without bending rigidity.
    pub patches: Vec<Patch>,
    /// Derived when the body was whole, and kept when it tears: how its stars bend.
    pub stars: Option<Arc<StarWeights>>,
    /// Derived: whether the triangles close a volume.
    pub closed: bool,
    /// Derived: rest area of each triangle, m².
    pub rest_areas: Vec<f64>,
    /// Derived: a third of the rest area of the triangles around each particle, m².
    pub particle_areas: Vec<f64>,
    /// Derived: the two ends of each spring, packed for the loops that need nothing else.
    pub spring_ends: Vec<[u32; 2]>,
    /// Derived: springs of each particle.
    pub particle_springs: Rows,
    /// Derived: triangles of each particle.
    pub particle_triangles: Rows,
    /// Derived: where each particle is among the corners of all tetrahedra, or of all hexahedra.
    pub particle_corners: Rows,
    /// Derived: whether a corner of a tetrahedron or a hexahedron follows others.
    pub corners_follow: bool,
}

impl Topology {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.masses.len()
    }

    /// Whether there are no particles.
    pub fn is_empty(&self) -> bool {
        self.masses.is_empty()
    }

    /// Number of particles that are seen and touched: the first ones.
    pub fn visible(&self) -> usize {
        self.len() - self.hidden
    }

    /// Whether it is a solid, of elements that have a volume.
    pub fn is_solid(&self) -> bool {
        !self.tetrahedra.is_empty() || !self.hexahedra.is_empty()
    }

    /// Whether it is not as it was built because something tore or was cut.
    pub fn is_torn(&self) -> bool {
        self.version > 0 && self.in_use.is_none()
    }

    /// Number of particles, springs, triangles or corners of elements, whichever are most.
    pub fn largest_count(&self) -> usize {
        let surface = self.len().max(self.springs.len()).max(self.triangles.len());
        surface.max(self.particle_corners.items())
    }

    /// Adds the particles of another body after its own, with what solvers of several bodies need to know of them.
    pub(crate) fn append(&mut self, other: &Topology) {
        let first = self.len() as u32;
        self.rest_positions.extend(&other.rest_positions);
        self.masses.extend(&other.masses);
        self.parents.extend(other.parents.iter().map(|p| p + first));
        self.tetrahedra.extend(other.tetrahedra.iter().map(|t| t.map(|v| v + first)));
        self.hexahedra.extend(other.hexahedra.iter().map(|h| h.map(|v| v + first)));
        for (child, row) in other.mapping.rows() {
            let row: Vec<(u32, f64)> = row.map(|(parent, w)| (parent + first, w)).collect();
            self.mapping.push(child + first, &row);
        }
    }

    /// Recomputes everything derived; call after a change.
    pub fn rebuild_derived(&mut self) {
        let n = self.rest_positions.len();
        let rest = &self.rest_positions;
        let mut sides = sorted_sides(&self.triangles).into_iter().peekable();
        self.edges = mesh_edges(&self.triangles, &self.segments)
            .into_iter()
            .map(|(i, j)| {
                let triangles = std::iter::from_fn(|| sides.next_if_eq(&side(i, j))).count();
                let rest_length = rest[i as usize].distance(rest[j as usize]);
                Edge { i, j, rest_length, border: triangles == 1 }
            })
            .collect();
        // Sheets have too many edges to be closed: most need no closer look.
        let whole = !self.triangles.is_empty() && 2 * self.edges.len() <= 3 * self.triangles.len();
        self.closed = whole && open_edges(&self.triangles) == 0;
        self.rest_areas = self
            .triangles
            .iter()
            .map(|t| triangle_area(rest[t[0] as usize], rest[t[1] as usize], rest[t[2] as usize]))
            .collect();
        self.particle_areas = vec![0.0; n];
        for (t, area) in self.triangles.iter().zip(&self.rest_areas) {
            for &v in t {
                self.particle_areas[v as usize] += area / 3.0;
            }
        }
        self.patches.clear();
        if self.version == 0 {
            self.stars = None;
        }
        if self.bending > 0.0 {
            self.patches = sheet_patches(rest, &self.triangles, self.bending, &self.parents, &mut self.stars);
            self.patches.append(&mut rope_patches(rest, &self.segments, self.bending));
            if self.creases {
                self.patches.iter_mut().for_each(|patch| patch.lead_with_largest(rest));
            }
        }
        let springs = &self.springs;
        self.spring_ends = springs.iter().map(|s| [s.i, s.j]).collect();
        self.particle_springs = Rows::from_pairs(
            n,
            springs.iter().enumerate().flat_map(|(s, spring)| [(spring.i, s as u32), (spring.j, s as u32)]),
        );
        let triangles = &self.triangles;
        self.particle_triangles = Rows::from_pairs(
            n,
            triangles.iter().enumerate().flat_map(|(t, tri)| tri.iter().map(move |&v| (v, t as u32))),
        );
        self.rebuild_corners();
    }

    /// Recomputes what follows from elements and from what follows what.
    pub(crate) fn rebuild_corners(&mut self) {
        let n = self.rest_positions.len();
        let corners: &[u32] = match self.hexahedra.is_empty() {
            true => self.tetrahedra.as_flattened(),
            false => self.hexahedra.as_flattened(),
        };
        self.corners_follow = corners.iter().any(|v| self.mapping.follows(*v));
        self.particle_corners = Rows::from_pairs(n, corners.iter().copied().zip(0..));
    }
}

/// Two vertices as one number: sorting these is twice as fast as sorting pairs.
fn side(i: u32, j: u32) -> u64 {
    (u64::from(i.min(j)) << 32) | u64::from(i.max(j))
}

/// The sides of all triangles, sorted: as often as there are triangles on them.
fn sorted_sides(triangles: &[[u32; 3]]) -> Vec<u64> {
    let mut sides: Vec<u64> = triangles
        .iter()
        .flat_map(|t| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])])
        .filter(|(i, j)| i != j)
        .map(|(i, j)| side(i, j))
        .collect();
    sides.sort_unstable();
    sides
}

/// Each edge of the triangles and each segment once, as (low, high), sorted.
pub fn mesh_edges(triangles: &[[u32; 3]], segments: &[[u32; 2]]) -> Vec<(u32, u32)> {
    let mut sides = sorted_sides(triangles);
    if !segments.is_empty() {
        sides.extend(segments.iter().filter(|s| s[0] != s[1]).map(|s| side(s[0], s[1])));
        sides.sort_unstable();
    }
    sides.dedup();
    sides.into_iter().map(|s| ((s >> 32) as u32, s as u32)).collect()
}

/// Neighbours of each vertex along the given edges, each row ascending.
pub fn neighbours(vertex_count: usize, edges: &[(u32, u32)]) -> Rows {
    if edges.is_sorted() && edges.iter().all(|(i, j)| i < j) {
        // The lower neighbours of a vertex come in the order of the first ends, then its higher ones in that of the second.
        let lower = edges.iter().map(|&(i, j)| (j, i));
        return Rows::from_pairs(vertex_count, lower.chain(edges.iter().copied()));
    }
    let mut both: Vec<(u32, u32)> = edges.iter().flat_map(|&(i, j)| [(i, j), (j, i)]).collect();
    both.sort_unstable();
    Rows::from_pairs(vertex_count, both.iter().copied())
}

/// Breadth-first search over a neighbour table, limited in depth (ESSI-21). Keeps its scratch memory between calls.
#[derive(Debug, Default)]
pub struct HopSearch {
    distance: Vec<u8>,
    reached: Vec<u32>,
}

impl HopSearch {
    /// All vertices within `limit` hops of `from`, in order of discovery, `from` first.
    pub fn within(&mut self, neighbours: &Rows, from: u32, limit: u8) -> &[u32] {
        for &v in &self.reached {
            self.distance[v as usize] = u8::MAX;
        }
        self.distance.resize(neighbours.len(), u8::MAX);
        self.reached.clear();
        self.reached.push(from);
        self.distance[from as usize] = 0;
        let mut next = 0;
        while let Some(&v) = self.reached.get(next) {
            next += 1;
            let d = self.distance[v as usize];
            if d >= limit {
                continue;
            }
            for &w in neighbours.row(v as usize) {
                if self.distance[w as usize] == u8::MAX {
                    self.distance[w as usize] = d + 1;
                    self.reached.push(w);
                }
            }
        }
        &self.reached
    }

    /// Hops from the last start to `v`, if it was reached.
    pub fn hops(&self, v: u32) -> Option<u8> {
        self.distance.get(v as usize).copied().filter(|&d| d != u8::MAX)
    }
}
