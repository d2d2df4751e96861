//! Meshes that bodies run into (ESSI-46, SIM-30): refused if they cannot be used, cleaned if they can.
//!
//! Vertices at the same place become one; triangles that repeat another and triangles without area are dropped; triangles that
//! face another way than their neighbours, and closed parts that face inwards, are turned round. What was done is counted
//! in [`MeshRepairs`], so that `souple check` can tell.
//!
//! Promised: finite positions, indices in range, every triangle with an area and three vertices of its own, every vertex in
//! a triangle; the same mesh for the same input. Not promised: that edges have at most two triangles, or that the surface
//! does not cross itself.

use glam::DVec3;
use thiserror::Error;

use super::{MAX_VERTICES, MeshError, TriMesh, bounds, enclosed_volume, triangle_area};

/// Most triangles of one mesh: about two for each vertex there may be.
pub const MAX_TRIANGLES: usize = 2 * MAX_VERTICES;

/// A triangle whose height is less than this share of its longest side has no direction to push in: contact computes in 32
/// bits, which hold seven digits.
const LEAST_HEIGHT: f64 = 1e-6;

/// A volume below this share of area times size is that of a folded sheet and of rounding.
const LEAST_VOLUME: f64 = 1e-12;

/// How many of the largest parts are asked whether another lies inside them.
const SHELLS: usize = 64;

/// No neighbour.
const NONE: u32 = u32::MAX;

/// The surface of a collider, in its own frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColliderMesh {
    /// Vertex positions, m.
    pub positions: Vec<DVec3>,
    /// Three vertices per triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates, one per vertex, or empty.
    pub uvs: Vec<[f64; 2]>,
    /// Whether it has an inside: every edge had two triangles that run along it opposite ways, and they enclose a volume.
    /// Judged before triangles without area were dropped, which leave no gap that anything could pass.
    pub closed: bool,
    /// Smallest box around it, m.
    pub bounds: (DVec3, DVec3),
    /// What was done to the mesh as it was given.
    pub repairs: MeshRepairs,
}

/// Why a mesh cannot be run into.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ColliderMeshError {
    /// Its numbers are wrong.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// It has no triangles.
    #[error("the mesh has no triangles")]
    NoTriangles,
    /// More triangles than can be used.
    #[error("the mesh has {0} triangles; at most {MAX_TRIANGLES} are possible")]
    TooManyTriangles(usize),
    /// All its triangles are lines or points.
    #[error("none of its {0} triangles has an area")]
    NoArea(usize),
}

/// What was done to a mesh so that bodies can run into it, and what stayed odd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeshRepairs {
    /// Vertices at the same place as another, merged with it.
    pub merged_vertices: usize,
    /// Vertices that no triangle uses, dropped.
    pub unused_vertices: usize,
    /// Triangles of zero area, or thinner than a millionth of their length, dropped.
    pub flat_triangles: usize,
    /// Triangles of the same vertices as another, dropped.
    pub doubled_triangles: usize,
    /// Triangles that faced another way than their neighbours, turned round.
    pub turned_triangles: usize,
    /// Closed parts that faced inwards, turned round.
    pub turned_parts: usize,
    /// Edges of more than two triangles; they stay.
    pub non_manifold_edges: usize,
    /// Edges whose triangles cannot be made to face the same way, as on a Möbius strip; they stay.
    pub clashing_edges: usize,
}

impl ColliderMesh {
    /// Checks and cleans a mesh.
    pub fn new(mesh: &TriMesh) -> Result<ColliderMesh, ColliderMeshError> {
        Ok(ColliderMesh::cleaned(mesh, &|_| 0)?.0)
    }

    /// Checks and cleans a mesh whose vertices move: only those of one class, which move alike, become one. And which vertex each was.
    pub fn bound(mesh: &TriMesh, classes: &[u32]) -> Result<(ColliderMesh, Vec<u32>), ColliderMeshError> {
        ColliderMesh::cleaned(mesh, &|v| classes.get(v as usize).copied().unwrap_or(0))
    }

    fn cleaned(
        mesh: &TriMesh,
        class: &dyn Fn(u32) -> u32,
    ) -> Result<(ColliderMesh, Vec<u32>), ColliderMeshError> {
        mesh.validate()?;
        let given = mesh.triangles.len();
        if given == 0 {
            return Err(ColliderMeshError::NoTriangles);
        }
        if given > MAX_TRIANGLES {
            return Err(ColliderMeshError::TooManyTriangles(given));
        }
        let unused = mesh.positions.len() - used(mesh.positions.len(), &mesh.triangles).1;
        // Without those that no triangle uses: they are not merged with any, but dropped.
        let (mesh, in_use) = without_unused(&mesh.positions, &mesh.triangles, &mesh.uvs);
        let (welded, first) = mesh.welded_alike(&|v| class(in_use[v as usize]));
        let mut repairs = MeshRepairs {
            merged_vertices: mesh.positions.len() - welded.positions.len(),
            unused_vertices: unused,
            ..MeshRepairs::default()
        };
        let mut whole = without_doubles(&welded.triangles);
        repairs.doubled_triangles = welded.triangles.len() - whole.len();
        let has_area = |t: &[u32; 3]| !is_flat(t.map(|v| welded.positions[v as usize]));
        let mut triangles: Vec<[u32; 3]> = whole.iter().copied().filter(has_area).collect();
        let flat = whole.len() - triangles.len();
        repairs.flat_triangles = given - welded.triangles.len() + flat;
        if triangles.is_empty() {
            return Err(ColliderMeshError::NoArea(given));
        }
        let mut turned = repairs;
        let mut closed = turn(&welded.positions, &mut triangles, &mut turned);
        if !closed && flat > 0 {
            // A triangle without area may be all that joins its neighbours: without it there is an edge of one triangle, but
            // no gap.
            let mut turned_whole = repairs;
            closed = turn(&welded.positions, &mut whole, &mut turned_whole);
            if closed {
                turned = turned_whole;
                triangles = whole.into_iter().filter(has_area).collect();
            }
        }
        let (TriMesh { positions, triangles, uvs }, last) =
            without_unused(&welded.positions, &triangles, &welded.uvs);
        let bounds = bounds(&positions);
        let sources = last.iter().map(|&v| in_use[first[v as usize] as usize]).collect();
        Ok((ColliderMesh { positions, triangles, uvs, closed, bounds, repairs: turned }, sources))
    }
}

/// Whether a triangle is a line or a point, or nearly so.
fn is_flat([a, b, c]: [DVec3; 3]) -> bool {
    let longest = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
    // Twice the area is the longest side times the height over it. Not `<`: what is not a number is flat.
    let height = 2.0 * triangle_area(a, b, c) / longest;
    height.is_nan() || height <= LEAST_HEIGHT
}

/// Which vertices triangles use, and how many those are.
fn used(vertices: usize, triangles: &[[u32; 3]]) -> (Vec<bool>, usize) {
    let mut used = vec![false; vertices];
    triangles.iter().flatten().for_each(|&v| used[v as usize] = true);
    let count = used.iter().filter(|used| **used).count();
    (used, count)
}

/// The mesh without vertices that no triangle uses; and which those are that stay.
fn without_unused(positions: &[DVec3], triangles: &[[u32; 3]], uvs: &[[f64; 2]]) -> (TriMesh, Vec<u32>) {
    let (used, _) = used(positions.len(), triangles);
    let mut place = vec![NONE; positions.len()];
    let (mut out, mut kept) = (TriMesh::default(), Vec::new());
    for v in (0..positions.len()).filter(|&v| used[v]) {
        kept.push(v as u32);
        place[v] = out.positions.len() as u32;
        out.positions.push(positions[v]);
        out.uvs.extend(uvs.get(v));
    }
    out.triangles = triangles.iter().map(|t| t.map(|v| place[v as usize])).collect();
    (out, kept)
}

/// The triangles, the first of those that have the same vertices.
fn without_doubles(triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let sorted = |t: &[u32; 3]| {
        let mut t = *t;
        t.sort_unstable();
        t
    };
    let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
    order.sort_unstable_by_key(|&t| (sorted(&triangles[t as usize]), t));
    let mut first: Vec<u32> = (order
        .chunk_by(|&s, &t| sorted(&triangles[s as usize]) == sorted(&triangles[t as usize])))
    .map(|run| run[0])
    .collect();
    first.sort_unstable();
    first.iter().map(|&t| triangles[t as usize]).collect()
}

/// How the triangles of a mesh are joined.
struct Joints {
    /// Across each side of each triangle: the triangle there, if the edge has two, and whether both face the same way.
    across: Vec<[(u32, bool); 3]>,
    non_manifold_edges: usize,
}

impl Joints {
    fn new(triangles: &[[u32; 3]]) -> Joints {
        let mut sides: Vec<(u32, u32, u32, u8)> = Vec::with_capacity(3 * triangles.len());
        for (t, corners) in (0u32..).zip(triangles) {
            for k in 0..3u8 {
                let (i, j) = (corners[usize::from(k)], corners[usize::from(k + 1) % 3]);
                sides.push((i.min(j), i.max(j), t, k));
            }
        }
        sides.sort_unstable();
        let mut joints = Joints { across: vec![[(NONE, true); 3]; triangles.len()], non_manifold_edges: 0 };
        let forward = |&(low, _, t, k): &(u32, u32, u32, u8)| triangles[t as usize][usize::from(k)] == low;
        for run in sides.chunk_by(|s, t| (s.0, s.1) == (t.0, t.1)) {
            match run {
                [one, other] => {
                    // Neighbours that face the same way run along their edge opposite ways.
                    let agree = forward(one) != forward(other);
                    joints.across[one.2 as usize][usize::from(one.3)] = (other.2, agree);
                    joints.across[other.2 as usize][usize::from(other.3)] = (one.2, agree);
                }
                run if run.len() > 2 => joints.non_manifold_edges += 1,
                _ => {}
            }
        }
        joints
    }
}

/// Triangles that are joined by edges of two.
struct Part {
    triangles: Vec<u32>,
    closed: bool,
    volume: f64,
    low: DVec3,
    high: DVec3,
}

/// Turns triangles round so that neighbours face the same way and closed parts outwards; tells whether all of it is closed.
fn turn(x: &[DVec3], triangles: &mut [[u32; 3]], repairs: &mut MeshRepairs) -> bool {
    let joints = Joints::new(triangles);
    repairs.non_manifold_edges = joints.non_manifold_edges;
    let mut turned: Vec<Option<bool>> = vec![None; triangles.len()];
    let mut parts = Vec::new();
    for first in 0..triangles.len() {
        if turned[first].is_none() {
            parts.push(turn_part(x, triangles, &joints, &mut turned, first as u32, repairs));
        }
    }
    turn_outwards(&mut parts, triangles, repairs);
    let (low, high) = bounds(x);
    let area: f64 = triangles.iter().map(|t| area_of(x, t)).sum();
    let volume: f64 = parts.iter().map(|part| part.volume).sum();
    parts.iter().all(|part| part.closed) && volume > LEAST_VOLUME * area * (high - low).length()
}

fn area_of(x: &[DVec3], t: &[u32; 3]) -> f64 {
    triangle_area(x[t[0] as usize], x[t[1] as usize], x[t[2] as usize])
}

/// Makes the part that a triangle belongs to face one way: that of most of its triangles.
fn turn_part(
    x: &[DVec3],
    triangles: &mut [[u32; 3]],
    joints: &Joints,
    turned: &mut [Option<bool>],
    first: u32,
    repairs: &mut MeshRepairs,
) -> Part {
    let mut part = vec![first];
    turned[first as usize] = Some(false);
    let (mut next, mut clashes, mut disagree, mut closed) = (0, 0, 0, true);
    while let Some(&t) = part.get(next) {
        next += 1;
        let own = turned[t as usize].unwrap_or(false);
        for &(other, agree) in &joints.across[t as usize] {
            if other == NONE {
                closed = false;
                continue;
            }
            disagree += usize::from(!agree);
            let wanted = own == agree;
            match turned[other as usize] {
                // Turned like this one if they agree, else the other way.
                None => {
                    turned[other as usize] = Some(wanted);
                    part.push(other);
                }
                Some(is) => clashes += usize::from(is != wanted),
            }
        }
    }
    if clashes > 0 {
        // No way to turn them is right: they stay as they were made. Each edge was seen from both sides.
        repairs.clashing_edges += disagree / 2;
        closed = false;
    } else {
        let others = part.iter().filter(|&&t| turned[t as usize] == Some(true)).count();
        let wanted = 2 * others <= part.len();
        for &t in part.iter().filter(|&&t| turned[t as usize] == Some(wanted)) {
            triangles[t as usize].swap(1, 2);
            repairs.turned_triangles += 1;
        }
    }
    let own: Vec<[u32; 3]> = part.iter().map(|&t| triangles[t as usize]).collect();
    let corners = own.iter().flatten().map(|&v| x[v as usize]);
    let (low, high) = corners.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)));
    let area: f64 = own.iter().map(|t| area_of(x, t)).sum();
    let volume = if closed { enclosed_volume(x, &own) } else { 0.0 };
    let is_volume = volume.abs() > LEAST_VOLUME * area * (high - low).length();
    Part { triangles: part, closed, volume: if is_volume { volume } else { 0.0 }, low, high }
}

/// Turns closed parts that face inwards, unless they may be the wall of a hollow in a larger one.
fn turn_outwards(parts: &mut [Part], triangles: &mut [[u32; 3]], repairs: &mut MeshRepairs) {
    let mut order: Vec<usize> = (0..parts.len()).filter(|&p| parts[p].volume != 0.0).collect();
    order.sort_by(|&p, &q| parts[q].volume.abs().total_cmp(&parts[p].volume.abs()));
    // If the largest is the wrong way round, all are, hollows too; each may still differ.
    let all = order.first().is_some_and(|&largest| parts[largest].volume < 0.0);
    for (rank, &p) in order.iter().enumerate() {
        let (own, shells) = (&parts[p], &order[..rank.min(SHELLS)]);
        let is_around = |&q: &usize| {
            let shell = &parts[q];
            shell.low.cmplt(own.low).all() && shell.high.cmpgt(own.high).all()
        };
        let inwards = (own.volume < 0.0) != all && !shells.iter().any(is_around);
        if inwards != all {
            for &t in &own.triangles {
                triangles[t as usize].swap(1, 2);
            }
            parts[p].volume = -parts[p].volume;
            repairs.turned_parts += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mesh::{generate, open_edges};
    use crate::scene::{Ball, Grid};

    fn ball(radius: f64) -> TriMesh {
        generate::ball(&Ball { radius, subdivisions: 1 })
    }

    fn joined(mut a: TriMesh, b: &TriMesh) -> TriMesh {
        let shift = a.positions.len() as u32;
        a.positions.extend(&b.positions);
        a.triangles.extend(b.triangles.iter().map(|t| t.map(|v| v + shift)));
        a
    }

    fn moved(mut mesh: TriMesh, by: DVec3) -> TriMesh {
        mesh.positions.iter_mut().for_each(|p| *p += by);
        mesh
    }

    fn inside_out(mut mesh: TriMesh) -> TriMesh {
        mesh.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        mesh
    }

    fn volume(mesh: &ColliderMesh) -> f64 {
        enclosed_volume(&mesh.positions, &mesh.triangles)
    }

    #[test]
    fn a_sound_mesh_is_left_as_it_is() {
        let mesh = ball(0.3);
        let made = ColliderMesh::new(&mesh).unwrap();
        assert_eq!((&made.positions, &made.triangles), (&mesh.positions, &mesh.triangles));
        assert!(made.closed && made.repairs == MeshRepairs::default());
        let sheet = generate::grid(&Grid { vertices: [5, 4], ..Grid::default() });
        let made = ColliderMesh::new(&sheet).unwrap();
        assert_eq!(
            (made.triangles, made.closed, made.repairs),
            (sheet.triangles, false, MeshRepairs::default())
        );
    }

    #[test]
    fn meshes_that_face_inwards_are_turned() {
        let sound = volume(&ColliderMesh::new(&ball(0.3)).unwrap());
        let made = ColliderMesh::new(&inside_out(ball(0.3))).unwrap();
        // A turned triangle starts at another corner: the sums round differently.
        let same = |a: f64, b: f64| (a - b).abs() < 1e-14 * b;
        assert!(made.closed && same(volume(&made), sound));
        assert_eq!((made.repairs.turned_parts, made.repairs.turned_triangles), (1, 0));
        // One of two balls: the sum of both volumes alone would not tell.
        let two = joined(ball(0.3), &moved(inside_out(ball(0.2)), DVec3::X));
        let made = ColliderMesh::new(&two).unwrap();
        assert!(made.closed && made.repairs.turned_parts == 1 && volume(&made) > sound);
        // A hollow keeps facing the hollow.
        let hollow = joined(ball(0.3), &inside_out(ball(0.2)));
        let made = ColliderMesh::new(&hollow).unwrap();
        assert!(made.closed && made.repairs.turned_parts == 0 && volume(&made) < sound);
        // And when all of it was wrong.
        let solid = volume(&made);
        let made = ColliderMesh::new(&inside_out(hollow)).unwrap();
        assert!(made.closed && made.repairs.turned_parts == 2 && same(volume(&made), solid));
    }

    #[test]
    fn single_triangles_are_turned_like_their_neighbours() {
        let sound = ball(0.3);
        let mut mesh = sound.clone();
        for t in [0, 7, 30] {
            mesh.triangles[t].swap(0, 2);
        }
        let made = ColliderMesh::new(&mesh).unwrap();
        assert_eq!((made.repairs.turned_triangles, made.closed), (3, true));
        assert_eq!(open_edges(&made.triangles), 0);
        let made_sound = ColliderMesh::new(&sound).unwrap();
        assert!((volume(&made) / volume(&made_sound) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn what_is_useless_is_dropped_and_counted() {
        // A square of two triangles, apart at its seam; one triangle twice, once turned; a line; a point no one uses.
        let at = |x: f64, y: f64| DVec3::new(x, y, 0.0);
        let mesh = TriMesh {
            positions: vec![
                at(9.0, 9.0),
                at(0.0, 0.0),
                at(1.0, 0.0),
                at(1.0, 1.0),
                at(0.0, 0.0),
                at(1.0, 1.0),
                at(0.0, 1.0),
                at(2.0, 2.0),
            ],
            triangles: vec![[1, 2, 3], [4, 5, 6], [3, 2, 1], [1, 3, 7], [2, 2, 3]],
            uvs: Vec::new(),
        };
        let made = ColliderMesh::new(&mesh).unwrap();
        let wanted = MeshRepairs {
            merged_vertices: 2,
            unused_vertices: 1,
            flat_triangles: 2,
            doubled_triangles: 1,
            ..MeshRepairs::default()
        };
        assert_eq!(made.repairs, wanted);
        assert_eq!((made.positions.len(), made.triangles.len(), made.closed), (4, 2, false));
    }

    #[test]
    fn a_dropped_sliver_leaves_a_closed_mesh_closed() {
        // One edge of a ball is cut by a point on it: one of its two triangles becomes two, the other keeps the edge, and a
        // triangle without area lies between them.
        let mut mesh = ball(1.0);
        let [a, b, c] = mesh.triangles[0];
        let middle = mesh.positions.len() as u32;
        let place = 0.5 * (mesh.positions[a as usize] + mesh.positions[b as usize]);
        mesh.positions.push(place);
        mesh.triangles[0] = [a, middle, c];
        mesh.triangles.push([middle, b, c]);
        mesh.triangles.push([a, b, middle]);
        let made = ColliderMesh::new(&mesh).unwrap();
        assert_eq!((made.closed, made.repairs.flat_triangles), (true, 1));
    }

    #[test]
    fn strips_with_one_side_and_books_are_open() {
        // A Möbius strip of five quads.
        let n = 5u32;
        let angle = |k: u32| std::f64::consts::TAU * f64::from(k) / f64::from(n);
        let mut mesh = TriMesh::default();
        for k in 0..n {
            let (s, c) = (crate::math::sin(angle(k)), crate::math::cos(angle(k)));
            let (hs, hc) = (crate::math::sin(0.5 * angle(k)), crate::math::cos(0.5 * angle(k)));
            for side in [-0.3, 0.3] {
                let r = 1.0 + side * hc;
                mesh.positions.push(DVec3::new(r * c, r * s, side * hs));
            }
        }
        for k in 0..n {
            let (a, b) = (2 * k, 2 * k + 1);
            let (c, d) = if k + 1 < n { (2 * k + 2, 2 * k + 3) } else { (1, 0) };
            mesh.triangles.extend([[a, c, d], [a, d, b]]);
        }
        let made = ColliderMesh::new(&mesh).unwrap();
        assert_eq!((made.closed, made.repairs.clashing_edges, made.repairs.turned_triangles), (false, 1, 0));
        // Three pages at one edge.
        let book = TriMesh {
            positions: vec![DVec3::ZERO, DVec3::Y, DVec3::X, DVec3::Z, -DVec3::X],
            triangles: vec![[0, 1, 2], [0, 1, 3], [0, 1, 4]],
            uvs: Vec::new(),
        };
        let made = ColliderMesh::new(&book).unwrap();
        assert_eq!((made.closed, made.repairs.non_manifold_edges), (false, 1));
    }

    #[test]
    fn useless_meshes_are_refused() {
        let refused = |mesh: &TriMesh| ColliderMesh::new(mesh).unwrap_err();
        assert_eq!(refused(&TriMesh::default()), MeshError::Empty.into());
        let points = TriMesh { positions: vec![DVec3::ZERO; 3], ..TriMesh::default() };
        assert_eq!(refused(&points), ColliderMeshError::NoTriangles);
        let line = TriMesh { triangles: vec![[0, 1, 2]; 4], ..points.clone() };
        assert_eq!(refused(&line), ColliderMeshError::NoArea(4));
        let outside = TriMesh { triangles: vec![[0, 1, 3]], ..points.clone() };
        assert!(matches!(refused(&outside), ColliderMeshError::Mesh(MeshError::IndexOutOfRange { .. })));
        let mut nan = line;
        nan.positions[1].y = f64::NAN;
        assert!(matches!(refused(&nan), ColliderMeshError::Mesh(MeshError::NonFinite { vertex: 1, .. })));
    }

    proptest! {
        /// Whatever is given: no panic, and what is promised holds.
        #[test]
        fn any_mesh_is_refused_or_made_sound(
            corners in prop::collection::vec([-2..3i8, -2..3i8, -2..3i8], 1..12),
            triangles in prop::collection::vec([0..12u32, 0..12u32, 0..12u32], 0..30),
        ) {
            let positions: Vec<DVec3> =
                corners.iter().map(|c| DVec3::from(c.map(f64::from))).collect();
            let mesh = TriMesh { positions, triangles, uvs: Vec::new() };
            if let Ok(made) = ColliderMesh::new(&mesh) {
                let again = TriMesh { positions: made.positions.clone(), triangles: made.triangles.clone(), uvs: Vec::new() };
                prop_assert_eq!(again.validate(), Ok(()));
                let lint = again.lint();
                prop_assert_eq!(
                    (lint.degenerate_triangles, lint.duplicate_triangles, lint.isolated_vertices, lint.duplicate_vertices),
                    (0, 0, 0, 0)
                );
                if made.closed {
                    prop_assert!(volume(&made) > 0.0);
                }
                let twice = ColliderMesh::new(&again).unwrap();
                prop_assert_eq!(&twice.triangles, &made.triangles);
            }
        }
    }
}
