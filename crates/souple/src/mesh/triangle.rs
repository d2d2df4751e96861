//! Triangle meshes: positions, triangles, optional texture coordinates.
//!
//! A [`TriMesh`] that went through [`TriMesh::validate`] has finite positions and indices in range. The engine takes
//! no other: importers and generators end with it.

use glam::DVec3;
use thiserror::Error;

/// Indices are 32-bit; this many vertices is the most one mesh may have.
pub const MAX_VERTICES: usize = 50_000_000;

/// A surface made of triangles. Positions are in metres, y up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Vertex positions, m.
    pub positions: Vec<DVec3>,
    /// Three vertex indices per triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates, one per vertex, or empty.
    pub uvs: Vec<[f64; 2]>,
}

/// What makes a mesh unusable.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum MeshError {
    /// The mesh has no vertex.
    #[error("the mesh has no vertices")]
    Empty,
    /// More vertices than indices can name.
    #[error("the mesh has {0} vertices; at most {MAX_VERTICES} are possible")]
    TooLarge(usize),
    /// A coordinate is NaN or infinite.
    #[error("vertex {vertex} has a coordinate that is not a finite number: {position}")]
    NonFinite {
        /// Index of the vertex.
        vertex: usize,
        /// Its position.
        position: DVec3,
    },
    /// A triangle names a vertex that is not there.
    #[error("triangle {triangle} names vertex {vertex}, but there are only {count} vertices")]
    IndexOutOfRange {
        /// Index of the triangle.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many vertices there are.
        count: usize,
    },
    /// There are texture coordinates, but not one per vertex.
    #[error("there are {uvs} texture coordinates for {vertices} vertices")]
    UvCount {
        /// How many texture coordinates.
        uvs: usize,
        /// How many vertices.
        vertices: usize,
    },
}

/// Things a mesh may have that do not stop it from being used, counted by [`TriMesh::lint`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeshLint {
    /// Triangles of zero area, or that name one vertex twice.
    pub degenerate_triangles: usize,
    /// Triangles of the same three vertices as another.
    pub duplicate_triangles: usize,
    /// Edges shared by more than two triangles.
    pub non_manifold_edges: usize,
    /// Edges that two triangles run along the same way: one of them faces the other side.
    pub turned_edges: usize,
    /// Vertices that no triangle uses.
    pub isolated_vertices: usize,
    /// Vertices at exactly the same place as another one (UV seams come apart there unless welded).
    pub duplicate_vertices: usize,
}

impl TriMesh {
    /// Checks that every number is finite and every index in range.
    pub fn validate(&self) -> Result<(), MeshError> {
        let n = self.positions.len();
        if n == 0 {
            return Err(MeshError::Empty);
        }
        if n > MAX_VERTICES {
            return Err(MeshError::TooLarge(n));
        }
        if let Some(vertex) = self.positions.iter().position(|p| !p.is_finite()) {
            return Err(MeshError::NonFinite { vertex, position: self.positions[vertex] });
        }
        for (triangle, t) in self.triangles.iter().enumerate() {
            if let Some(&vertex) = t.iter().find(|&&v| v as usize >= n) {
                return Err(MeshError::IndexOutOfRange { triangle, vertex, count: n });
            }
        }
        if !self.uvs.is_empty() && self.uvs.len() != n {
            return Err(MeshError::UvCount { uvs: self.uvs.len(), vertices: n });
        }
        Ok(())
    }

    /// Counts degenerate and duplicate triangles, non-manifold and turned edges, isolated and duplicate vertices.
    pub fn lint(&self) -> MeshLint {
        let mut lint = MeshLint::default();
        let mut used = vec![false; self.positions.len()];
        let mut edges = Vec::with_capacity(self.triangles.len() * 3);
        for t in &self.triangles {
            let [a, b, c] = t.map(|v| self.positions[v as usize]);
            if t[0] == t[1] || t[1] == t[2] || t[2] == t[0] || (b - a).cross(c - a) == DVec3::ZERO {
                lint.degenerate_triangles += 1;
            }
            for (i, j) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                used[i as usize] = true;
                edges.push((i.min(j), i.max(j), i < j));
            }
        }
        edges.sort_unstable();
        for run in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            lint.non_manifold_edges += usize::from(run.len() > 2);
            lint.turned_edges += usize::from(run.len() == 2 && run[0].2 == run[1].2);
        }
        let mut corners = self.triangles.clone();
        corners.iter_mut().for_each(|t| t.sort_unstable());
        corners.sort_unstable();
        lint.duplicate_triangles = corners.windows(2).filter(|w| w[0] == w[1]).count();
        lint.isolated_vertices = used.iter().filter(|&&u| !u).count();
        let mut keys: Vec<_> =
            self.positions.iter().map(|p| p.to_array().map(|c| (c + 0.0).to_bits())).collect();
        keys.sort_unstable();
        lint.duplicate_vertices = keys.windows(2).filter(|w| w[0] == w[1]).count();
        lint
    }

    /// Merges vertices at exactly the same place and drops triangles that collapse. Texture coordinates of merged
    /// vertices are those of the first. Without it, UV seams of imported meshes come apart (ESSI-13).
    pub fn welded(&self) -> TriMesh {
        self.welded_alike(&|_| 0).0
    }

    /// For each vertex the first one at exactly its place that is of the same class.
    pub fn firsts_alike(&self, class: &dyn Fn(u32) -> u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.positions.len() as u32).collect();
        let key = |v: u32| (self.positions[v as usize].to_array().map(|c| (c + 0.0).to_bits()), class(v));
        order.sort_by_key(|&v| (key(v), v));
        let mut first = vec![0u32; self.positions.len()];
        for run in order.chunk_by(|&a, &b| key(a) == key(b)) {
            for &v in run {
                first[v as usize] = run[0];
            }
        }
        first
    }

    /// As [`TriMesh::welded`], but only of vertices of the same class; and which vertex each was.
    pub fn welded_alike(&self, class: &dyn Fn(u32) -> u32) -> (TriMesh, Vec<u32>) {
        let first = self.firsts_alike(class);
        let mut new_index = vec![u32::MAX; self.positions.len()];
        let (mut out, mut kept) = (TriMesh::default(), Vec::new());
        for v in 0..self.positions.len() {
            if first[v] as usize == v {
                kept.push(v as u32);
                new_index[v] = out.positions.len() as u32;
                out.positions.push(self.positions[v]);
                if let Some(&uv) = self.uvs.get(v) {
                    out.uvs.push(uv);
                }
            }
        }
        for t in &self.triangles {
            let t = t.map(|v| new_index[first[v as usize] as usize]);
            if t[0] != t[1] && t[1] != t[2] && t[2] != t[0] {
                out.triangles.push(t);
            }
        }
        (out, kept)
    }

    /// Smallest box around all vertices, m.
    pub fn bounds(&self) -> (DVec3, DVec3) {
        bounds(&self.positions)
    }
}

/// Smallest box around the points; an inverted box for none.
pub fn bounds(points: &[DVec3]) -> (DVec3, DVec3) {
    points.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(lo, hi), &p| (lo.min(p), hi.max(p)))
}

/// Area of a triangle, m².
pub fn triangle_area(a: DVec3, b: DVec3, c: DVec3) -> f64 {
    0.5 * (b - a).cross(c - a).length()
}

/// Smooth vertex normals: the normalised sum of incident face normals weighted by area (ESSI-27's n_i). Written into
/// `normals`, which is resized; vertices without area get +y.
pub fn vertex_normals(positions: &[DVec3], triangles: &[[u32; 3]], normals: &mut Vec<DVec3>) {
    normals.clear();
    normals.resize(positions.len(), DVec3::ZERO);
    for t in triangles {
        let [a, b, c] = t.map(|v| positions[v as usize]);
        let n = (b - a).cross(c - a);
        for &v in t {
            normals[v as usize] += n;
        }
    }
    for n in normals.iter_mut() {
        *n = n.try_normalize().unwrap_or(DVec3::Y);
    }
}
