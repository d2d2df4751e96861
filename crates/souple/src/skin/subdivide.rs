//! Smaller triangles where a skin bulges (ROH-60): cut where it was bound, once, before bones move it.
//!
//! Triangles with a vertex whose γ is large, and some more around them, have those of their edges halved that are too long. Then every triangle with an edge that is
//! halved has its longest one halved as well, until that is so everywhere (Rivara, *Algorithms for refining triangular grids suitable for adaptive and multigrid
//! techniques*, 1984): no cracks, and no angle gets smaller than half of what it was, however often it is done. Edges along seams are halved on
//! both sides.
//!
//! New vertices are in the middle between two others in everything: place, texture coordinates, colour, morphs, weights, painted maps. So the surface where it was
//! bound stays what it is; in a pose it becomes rounder, as bones move each new vertex by itself.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use thiserror::Error;

use super::rig::{CompiledRig, SkinMesh};
use super::skinning::Influence;
use crate::scene::SubdivideSkin;

/// Most vertices of a mesh that is cut up.
pub const MOST_VERTICES: usize = 2_000_000;

/// A skin would get too many vertices.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("mesh {mesh} would get more than {MOST_VERTICES} vertices")]
pub struct TooFine {
    /// The mesh.
    pub mesh: usize,
}

/// A rig with smaller triangles.
#[derive(Clone, Debug, PartialEq)]
pub struct Subdivided {
    /// The rig.
    pub rig: CompiledRig,
    /// Of each mesh, for each vertex that was added, in order, the two that it is in the middle of.
    pub halves: Vec<Vec<[u32; 2]>>,
}

impl Subdivided {
    /// Numbers of the vertices of a mesh, with those of the vertices that were added.
    pub fn extend(&self, mesh: usize, values: &mut Vec<f64>) {
        for [i, j] in &self.halves[mesh] {
            values.push(0.5 * (values[*i as usize] + values[*j as usize]));
        }
    }
}

/// Cuts up the triangles of a rig where `gammas`, of the vertices of its meshes, are large.
pub fn subdivide(
    rig: &CompiledRig,
    gammas: &[Vec<f64>],
    written: &SubdivideSkin,
) -> Result<Subdivided, TooFine> {
    let mut made = Subdivided { rig: rig.clone(), halves: vec![Vec::new(); rig.meshes.len()] };
    for (m, (mesh, gamma)) in made.rig.meshes.iter_mut().zip(gammas).enumerate() {
        let mut gamma = gamma.clone();
        for _ in 0..written.levels {
            let cut = Cut::new(mesh, &gamma, written);
            if cut.halved.is_empty() {
                break;
            }
            if mesh.mesh.positions.len() + 2 * cut.halved.len() > MOST_VERTICES {
                return Err(TooFine { mesh: m });
            }
            let added = cut.carry_out(mesh);
            gamma.extend(
                added
                    .iter()
                    .map(|&[i, j]| 0.5 * (gamma[i as usize] + gamma[j as usize]))
                    .collect::<Vec<f64>>(),
            );
            made.halves[m].extend(added);
        }
    }
    Ok(made)
}

/// Which edges are halved, by the first vertices at their ends.
struct Cut {
    /// Of each vertex the first one at its place that is moved alike.
    first: Vec<u32>,
    halved: BTreeSet<(u32, u32)>,
}

fn ordered(i: u32, j: u32) -> (u32, u32) {
    (i.min(j), i.max(j))
}

impl Cut {
    fn new(mesh: &SkinMesh, gamma: &[f64], written: &SubdivideSkin) -> Cut {
        let classes = mesh.bound_alike();
        let first = mesh.mesh.firsts_alike(&|v| classes[v as usize]);
        let mut cut = Cut { first, halved: BTreeSet::new() };
        let mut inside = vec![false; gamma.len()];
        for (v, gamma) in gamma.iter().enumerate() {
            inside[cut.first[v] as usize] |= *gamma > written.gamma;
        }
        let is_chosen =
            |inside: &[bool], t: &[u32; 3]| t.iter().any(|&v| inside[cut.first[v as usize] as usize]);
        for _ in 0..written.margin {
            let mut wider = inside.clone();
            for t in mesh.mesh.triangles.iter().filter(|t| is_chosen(&inside, t)) {
                t.iter().for_each(|&v| wider[cut.first[v as usize] as usize] = true);
            }
            inside = wider;
        }
        let mut halved = BTreeSet::new();
        for t in mesh.mesh.triangles.iter().filter(|t| is_chosen(&inside, t)) {
            for (square, edge) in cut.edges(mesh, t) {
                if square > written.size * written.size && edge.0 != edge.1 {
                    halved.insert(edge);
                }
            }
        }
        cut.halved = halved;
        // The longest edge of what is cut at all: that may touch a neighbour, so on until it touches none.
        loop {
            let before = cut.halved.len();
            for t in &mesh.mesh.triangles {
                let edges = cut.edges(mesh, t);
                if edges.iter().any(|(_, edge)| cut.halved.contains(edge)) {
                    let longest = edges[longest(&edges)].1;
                    if longest.0 != longest.1 {
                        cut.halved.insert(longest);
                    }
                }
            }
            if cut.halved.len() == before {
                return cut;
            }
        }
    }

    /// Squares of lengths and ends of the edges from each corner to the next.
    fn edges(&self, mesh: &SkinMesh, t: &[u32; 3]) -> [(f64, (u32, u32)); 3] {
        [0, 1, 2].map(|k| {
            let (i, j) = ordered(self.first[t[k] as usize], self.first[t[(k + 1) % 3] as usize]);
            let length = mesh.mesh.positions[i as usize].distance_squared(mesh.mesh.positions[j as usize]);
            (length, (i, j))
        })
    }

    /// Halves the edges; the vertices that each new one is in the middle of.
    fn carry_out(&self, mesh: &mut SkinMesh) -> Vec<[u32; 2]> {
        let mut middles: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut added: Vec<[u32; 2]> = Vec::new();
        let count = mesh.mesh.positions.len() as u32;
        let mut triangles = Vec::with_capacity(mesh.mesh.triangles.len());
        for t in &mesh.mesh.triangles {
            let edges = self.edges(mesh, t);
            let start = longest(&edges);
            // From a to b goes the longest.
            let [a, b, c] = [0, 1, 2].map(|k| t[(start + k) % 3]);
            let mut middle = |k: usize, i: u32, j: u32| {
                self.halved.contains(&edges[(start + k) % 3].1).then(|| {
                    *middles.entry(ordered(i, j)).or_insert_with(|| {
                        let (i, j) = ordered(i, j);
                        added.push([i, j]);
                        count + added.len() as u32 - 1
                    })
                })
            };
            let [ab, bc, ca] = [middle(0, a, b), middle(1, b, c), middle(2, c, a)];
            match (ab, bc, ca) {
                (None, ..) => triangles.push(*t),
                (Some(m), None, None) => triangles.extend([[a, m, c], [m, b, c]]),
                (Some(m), Some(n), None) => triangles.extend([[a, m, c], [m, b, n], [m, n, c]]),
                (Some(m), None, Some(p)) => triangles.extend([[a, m, p], [m, c, p], [m, b, c]]),
                (Some(m), Some(n), Some(p)) => {
                    triangles.extend([[a, m, p], [m, b, n], [p, n, c], [m, n, p]]);
                }
            }
        }
        mesh.mesh.triangles = triangles;
        added.iter().for_each(|ends| add_middle(mesh, *ends));
        added
    }
}

/// The edge of the largest length; of several that are as long, the same for all triangles that they are edges of.
fn longest(edges: &[(f64, (u32, u32)); 3]) -> usize {
    let mut best = 0;
    for k in 1..3 {
        let order = edges[k].0.total_cmp(&edges[best].0).then(edges[k].1.cmp(&edges[best].1));
        if order.is_gt() {
            best = k;
        }
    }
    best
}

fn mean<const N: usize>(a: [f64; N], b: [f64; N]) -> [f64; N] {
    std::array::from_fn(|k| 0.5 * (a[k] + b[k]))
}

/// Adds a vertex in the middle between two.
fn add_middle(mesh: &mut SkinMesh, ends: [u32; 2]) {
    let [i, j] = ends.map(|v| v as usize);
    let between = |list: &mut Vec<DVec3>| list.push(0.5 * (list[i] + list[j]));
    between(&mut mesh.mesh.positions);
    mesh.morphs.iter_mut().for_each(between);
    if let (Some(a), Some(b)) = (mesh.mesh.uvs.get(i), mesh.mesh.uvs.get(j)) {
        let uv = mean(*a, *b);
        mesh.mesh.uvs.push(uv);
    }
    if let (Some(a), Some(b)) = (mesh.colours.get(i), mesh.colours.get(j)) {
        let colour = mean(*a, *b);
        mesh.colours.push(colour);
    }
    let mut own: Vec<Influence> = mesh.influences(i).iter().map(|(b, w)| (*b, 0.5 * w)).collect();
    for &(bone, weight) in mesh.influences(j) {
        match own.iter_mut().find(|(b, _)| *b == bone) {
            Some((_, sum)) => *sum += 0.5 * weight,
            None => own.push((bone, 0.5 * weight)),
        }
    }
    own.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    mesh.influences.extend_from_slice(&own);
    mesh.starts.push(mesh.influences.len() as u32);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::math;
    use crate::mesh::{enclosed_volume, open_edges, triangle_area};
    use crate::scene::{Rig, RigMorph};
    use crate::skin::generate::{Limb, limb};

    fn bar() -> Rig {
        limb(&Limb { length: 2.0, radii: [0.5, 0.3], sides: 9, rings: 7, cap_rings: 2, bones: 3 })
    }

    /// Smallest angle of all triangles, radians.
    fn smallest_angle(mesh: &SkinMesh) -> f64 {
        let x = &mesh.mesh.positions;
        let angle =
            |a: DVec3, b: DVec3, c: DVec3| math::atan2((b - a).cross(c - a).length(), (b - a).dot(c - a));
        mesh.mesh.triangles.iter().fold(f64::INFINITY, |least, t| {
            let [a, b, c] = t.map(|v| x[v as usize]);
            least.min(angle(a, b, c)).min(angle(b, c, a)).min(angle(c, a, b))
        })
    }

    #[test]
    fn there_are_no_cracks_and_angles_stay() {
        let rig = CompiledRig::new(&bar()).unwrap();
        let gamma: Vec<f64> = rig.meshes[0]
            .mesh
            .positions
            .iter()
            .map(|p| f64::from(u8::from((p.y - 1.0).abs() < 0.3)))
            .collect();
        let before = enclosed_volume(&rig.meshes[0].mesh.positions, &rig.meshes[0].mesh.triangles);
        let angle = smallest_angle(&rig.meshes[0]);
        let mut last = rig.meshes[0].mesh.triangles.len();
        for levels in 1..5 {
            let written = SubdivideSkin { levels, ..SubdivideSkin::default() };
            let made = subdivide(&rig, std::slice::from_ref(&gamma), &written).unwrap();
            let mesh = &made.rig.meshes[0];
            mesh.mesh.validate().unwrap();
            assert!(mesh.mesh.triangles.len() > last + last / 4);
            last = mesh.mesh.triangles.len();
            assert_eq!(open_edges(&mesh.mesh.triangles), 0);
            let volume = enclosed_volume(&mesh.mesh.positions, &mesh.mesh.triangles);
            assert!((volume / before - 1.0).abs() < 1e-12);
            assert!(smallest_angle(mesh) > 0.5 * angle - 1e-9, "{levels}");
            // What is far away is left as it is.
            let far = |mesh: &SkinMesh| {
                let of = |t: &&[u32; 3]| t.iter().all(|&v| mesh.mesh.positions[v as usize].y > 1.99);
                mesh.mesh.triangles.iter().filter(of).count()
            };
            assert_eq!(far(mesh), far(&rig.meshes[0]));
        }
    }

    #[test]
    fn edges_are_halved_down_to_a_size() {
        let rig = CompiledRig::new(&bar()).unwrap();
        let gamma = vec![vec![1.0; rig.meshes[0].mesh.positions.len()]];
        let written = SubdivideSkin { levels: 6, size: 0.15, ..SubdivideSkin::default() };
        let made = subdivide(&rig, &gamma, &written).unwrap();
        let x = &made.rig.meshes[0].mesh.positions;
        let longest =
            made.rig.meshes[0].mesh.triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]);
        assert!(longest.map(|(i, j)| x[i as usize].distance(x[j as usize])).fold(0.0, f64::max) <= 0.15);
        assert!(made.rig.meshes[0].mesh.triangles.iter().all(|t| {
            let [a, b, c] = t.map(|v| x[v as usize]);
            triangle_area(a, b, c) > 1e-6
        }));
    }

    proptest! {
        /// All that a vertex has is linear along edges, and both sides of seams are cut alike.
        #[test]
        fn everything_is_interpolated(seed in 0u64..100, levels in 1u32..4) {
            let mut rig = bar();
            let mesh = &mut rig.meshes[0];
            // Every triangle its own vertices, as where texture coordinates differ.
            let all: Vec<usize> = mesh.triangles.iter().flatten().map(|v| *v as usize).collect();
            mesh.positions = all.iter().map(|&v| mesh.positions[v]).collect();
            mesh.uvs = mesh.positions.iter().map(|p| [p[0] + p[1], p[2]]).collect();
            mesh.colours = mesh.positions.iter().map(|p| [p[0], p[1], p[2], 1.0]).collect();
            mesh.joints = all.iter().flat_map(|&v| [mesh.joints[2 * v], mesh.joints[2 * v + 1]]).collect();
            mesh.weights = all.iter().flat_map(|&v| [mesh.weights[2 * v], mesh.weights[2 * v + 1]]).collect();
            mesh.triangles = (0..all.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
            let offsets = mesh.positions.iter().map(|p| [2.0 * p[1], 0.0, p[0]]).collect();
            mesh.morphs = vec![RigMorph { name: "m".into(), weight: 0.0, offsets }];
            let rig = CompiledRig::new(&rig).unwrap();
            // Random, but the same on both sides of a seam.
            let classes = rig.meshes[0].bound_alike();
            let first = rig.meshes[0].mesh.firsts_alike(&|v| classes[v as usize]);
            let gamma: Vec<f64> = first.iter().map(|v| math::uniform(seed, u64::from(*v))).collect();
            let written = SubdivideSkin { levels, gamma: 0.7, margin: 0, size: 0.0 };
            let made = subdivide(&rig, std::slice::from_ref(&gamma), &written).unwrap();
            let mesh = &made.rig.meshes[0];
            let count = mesh.mesh.positions.len();
            prop_assert!(count > all.len());
            prop_assert_eq!((mesh.mesh.uvs.len(), mesh.colours.len(), mesh.starts.len(), mesh.morphs[0].len()), (count, count, count + 1, count));
            for (v, p) in mesh.mesh.positions.iter().enumerate() {
                let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
                prop_assert!(near(mesh.mesh.uvs[v][0], p.x + p.y) && near(mesh.colours[v][2], p.z));
                prop_assert!(mesh.morphs[0][v].distance(DVec3::new(2.0 * p.y, 0.0, p.x)) < 1e-12);
                prop_assert!(near(mesh.influences(v).iter().map(|i| i.1).sum(), 1.0));
                prop_assert!(mesh.influences(v).windows(2).all(|pair| pair[0].1 >= pair[1].1));
            }
            // Welded, it is closed: no edge is halved on one side only.
            let classes = mesh.bound_alike();
            let (welded, _) = mesh.mesh.welded_alike(&|v| classes[v as usize]);
            prop_assert_eq!(open_edges(&welded.triangles), 0);
            let mut heights: Vec<f64> = rig.meshes[0].mesh.positions.iter().map(|p| p.y).collect();
            made.extend(0, &mut heights);
            prop_assert!(heights.iter().zip(&mesh.mesh.positions).all(|(y, p)| (y - p.y).abs() < 1e-12));
        }
    }
}
