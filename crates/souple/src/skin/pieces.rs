//! The connected pieces of a skin, each of which keeps its own volume (`skin/keeper.rs`).

use glam::DVec3;

use super::apart::Parts;
use super::bulge::Bulge;
use super::crumpled::Neighbours;
use super::joints::{JointParts, JointTree, Measured};
use super::rig::SkinMesh;
use super::volume::{Enclosure, find};

/// A connected piece of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) mesh: usize,
    /// For each vertex of the piece, one of the mesh.
    pub(super) kept: Vec<u32>,
    /// All of the mesh that go with them: theirs, ours.
    pub(super) members: Vec<(u32, u32)>,
    pub(super) surface: Enclosure,
    pub(super) parts: JointParts,
    /// One per crossing.
    pub(super) bulges: Vec<Bulge>,
    /// Diagonal of the box around it where it was bound.
    pub(super) size: f64,
    /// 1 if it faces outwards there, −1 if inwards.
    pub(super) facing: f64,
    /// Where it was bound, without morphs.
    pub(super) bound: Bound,
    /// To which bone its vertices belong, their neighbours and their areas; nothing if parts are not kept apart.
    pub(super) apart: Parts,
    pub(super) neighbours: Neighbours,
    pub(super) areas: Vec<f64>,
}

/// What is known of where a piece was bound, which only morphs change.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bound {
    pub(super) places: Vec<DVec3>,
    pub(super) measured: Measured,
}

/// The connected pieces of a mesh, whose vertices at one place that move alike are one.
pub(super) fn pieces(m: usize, mesh: &SkinMesh) -> Vec<Piece> {
    let classes = mesh.bound_alike();
    let first = mesh.mesh.firsts_alike(&|v| classes[v as usize]);
    let triangles: Vec<[u32; 3]> = mesh
        .mesh
        .triangles
        .iter()
        .map(|t| t.map(|v| first[v as usize]))
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .collect();
    let mut root: Vec<u32> = (0..first.len() as u32).collect();
    for &[a, b, c] in &triangles {
        for (i, j) in [(a, b), (a, c)] {
            let (i, j) = (find(&mut root, i), find(&mut root, j));
            root[i.max(j) as usize] = i.min(j);
        }
    }
    let mut order: Vec<(u32, usize)> =
        triangles.iter().enumerate().map(|(k, t)| (find(&mut root, t[0]), k)).collect();
    order.sort_unstable();
    let (mut found, mut number) = (Vec::new(), vec![u32::MAX; first.len()]);
    for run in order.chunk_by(|a, b| a.0 == b.0) {
        let mut kept: Vec<u32> = run.iter().flat_map(|(_, k)| triangles[*k]).collect();
        kept.sort_unstable();
        kept.dedup();
        for (k, &v) in (0u32..).zip(&kept) {
            number[v as usize] = k;
        }
        let own: Vec<[u32; 3]> = run.iter().map(|(_, k)| triangles[*k].map(|v| number[v as usize])).collect();
        let (low, high) =
            crate::mesh::bounds(&kept.iter().map(|&v| mesh.mesh.positions[v as usize]).collect::<Vec<_>>());
        found.push(Piece {
            mesh: m,
            surface: Enclosure::new(kept.len(), &own),
            kept,
            members: Vec::new(),
            parts: JointParts::default(),
            bulges: Vec::new(),
            size: (high - low).length(),
            facing: 1.0,
            bound: Bound::default(),
            apart: Parts::default(),
            neighbours: Neighbours::default(),
            areas: Vec::new(),
        });
    }
    let mut of_root: Vec<(u32, usize)> = Vec::new();
    for (k, run) in order.chunk_by(|a, b| a.0 == b.0).enumerate() {
        of_root.push((run[0].0, k));
    }
    for (v, &one) in (0u32..).zip(&first) {
        let own = find(&mut root, one);
        if let Ok(k) = of_root.binary_search_by_key(&own, |entry| entry.0) {
            found[of_root[k].1].members.push((v, number[one as usize]));
        }
    }
    found
}

impl Piece {
    /// What is known of where it was bound, with morphs.
    pub(super) fn bind(
        &self,
        mesh: &SkinMesh,
        morphs: &[f64],
        tree: &JointTree,
        bound: &mut Bound,
        gradient: &mut Vec<DVec3>,
    ) {
        let places = &mut bound.places;
        places.clear();
        places.extend(self.kept.iter().map(|&v| mesh.morphed(v as usize, morphs)));
        places.resize(self.surface.places(), DVec3::ZERO);
        self.surface.place_lids(places);
        self.parts.measure(tree, &self.surface, places, gradient, &mut bound.measured);
    }
}
