//! A smooth closed surface around voxels: surface nets (Gibson 1998, "Constrained elastic surface nets"), for bodies from segmented volumes (FAU-14,
//! FAU-84).
//!
//! Each place where eight voxels meet, of which some are filled and some are not, gets one vertex: the mean of the points where the border passes
//! the lines between the centres of neighbours, which are half-way, as a label is there or not. Each face between a filled voxel and an empty
//! one becomes two triangles that face outwards. Steps are then smoothed by turns inwards and outwards (Taubin 1995), so that the whole does not shrink,
//! while each vertex stays among its eight voxels: the surface is never further than a voxel from where the labels say.
//!
//! Promised: the surface is closed; it is manifold where filled voxels that meet along an edge or at a corner also meet by faces there; no vertex lies in
//! a voxel that may hold none. Not here: voxels that touch along an edge alone share that edge, with four triangles; triangles
//! of thin parts may cross each other by a fraction of a voxel.

use glam::DVec3;

use super::TriMesh;
use super::cells::FACES;
use crate::energy::cell::corner;

/// How often the surface is smoothed.
const PASSES: usize = 4;
/// Share of the way to the mean of its neighbours that a vertex goes, and then back from it.
const STEPS: [f64; 2] = [0.5, -0.52];
/// How far from the place where its eight voxels meet a vertex may be along each axis, in voxels: less than a half, so that what is one voxel thick
/// keeps some thickness.
const FURTHEST: f64 = 0.4;

/// Voxels in a box, x runs fastest, of which some are filled.
struct Field<'a> {
    size: [usize; 3],
    filled: &'a [bool],
}

impl Field<'_> {
    /// Whether a voxel is filled; those beyond the box are not.
    fn has(&self, [i, j, k]: [Option<usize>; 3]) -> bool {
        let (Some(i), Some(j), Some(k)) = (i, j, k) else { return false };
        let [nx, ny, nz] = self.size;
        i < nx && j < ny && k < nz && self.filled[(k * ny + j) * nx + i]
    }

    /// Which of the eight voxels around a node are filled, as bits.
    fn around(&self, node: [usize; 3]) -> u8 {
        (0..8).filter(|&c| self.has(voxel_at(node, c))).map(|c| 1 << c).sum()
    }
}

/// The voxel in direction c from a node, which is up along an axis if its bit is set; none below the box.
fn voxel_at(node: [usize; 3], c: usize) -> [Option<usize>; 3] {
    [0, 1, 2].map(|axis| if c >> axis & 1 == 1 { Some(node[axis]) } else { node[axis].checked_sub(1) })
}

/// The mean of where the border passes the lines between neighbours of eight voxels, from where they meet.
fn mean_crossing(around: u8) -> DVec3 {
    let (mut sum, mut count) = (DVec3::ZERO, 0.0);
    for axis in 0..3 {
        for c in (0..8).filter(|c| c >> axis & 1 == 0) {
            if around >> c & 1 != around >> (c | 1 << axis) & 1 {
                let mut at = corner(c) - 0.5;
                at[axis] = 0.0;
                sum += at;
                count += 1.0;
            }
        }
    }
    if count > 0.0 { sum / count } else { DVec3::ZERO }
}

/// The surface around filled voxels, in voxels from the lowest corner of the box. `may_hold` says of voxels that are not filled whether vertices may
/// lie in them.
pub fn surface_nets(size: [usize; 3], filled: &[bool], may_hold: impl Fn([usize; 3]) -> bool) -> TriMesh {
    let field = Field { size, filled };
    let [nx, ny] = [size[0] + 1, size[1] + 1];
    let mut names = vec![u32::MAX; nx * ny * (size[2] + 1)];
    let mut nodes: Vec<[usize; 3]> = Vec::new();
    let mut offsets: Vec<DVec3> = Vec::new();
    for (place, name) in names.iter_mut().enumerate() {
        let node = [place % nx, place / nx % ny, place / (nx * ny)];
        let around = field.around(node);
        if around != 0 && around != u8::MAX {
            *name = nodes.len() as u32;
            nodes.push(node);
            offsets.push(mean_crossing(around));
        }
    }
    let quads = quads(&field, |[i, j, k]| names[(k * ny + j) * nx + i]);
    smooth(&nodes, &mut offsets, &quads);
    for (node, offset) in nodes.iter().zip(&mut offsets) {
        hold(&field, *node, offset, &may_hold);
    }
    let positions: Vec<DVec3> =
        nodes.iter().zip(&offsets).map(|(node, offset)| place(*node) + *offset).collect();
    let cut = |[a, b, c, d]: [u32; 4]| {
        let apart = |v: u32, w: u32| positions[v as usize].distance_squared(positions[w as usize]);
        // By the shorter diagonal: fewer slivers, and ridges are kept.
        match apart(a, c) <= apart(b, d) {
            true => [[a, b, c], [a, c, d]],
            false => [[a, b, d], [b, c, d]],
        }
    };
    let triangles = quads.into_iter().flat_map(cut).collect();
    TriMesh { positions, triangles, uvs: Vec::new() }
}

fn place(node: [usize; 3]) -> DVec3 {
    DVec3::from(node.map(|n| n as f64))
}

/// The faces between filled voxels and others, facing outwards, by the names of their corners.
fn quads(field: &Field, name: impl Fn([usize; 3]) -> u32) -> Vec<[u32; 4]> {
    let [nx, ny, _] = field.size;
    let mut quads = Vec::new();
    for p in (0..field.filled.len()).filter(|p| field.filled[*p]) {
        let voxel = [p % nx, p / nx % ny, p / (nx * ny)];
        for (side, face) in FACES.iter().enumerate() {
            let mut beyond = voxel.map(Some);
            let along = &mut beyond[side / 2];
            *along = along.and_then(|v| if side % 2 == 1 { Some(v + 1) } else { v.checked_sub(1) });
            if !field.has(beyond) {
                quads.push(face.map(|c| name([0, 1, 2].map(|axis| voxel[axis] + (c >> axis & 1)))));
            }
        }
    }
    quads
}

fn smooth(nodes: &[[usize; 3]], offsets: &mut [DVec3], quads: &[[u32; 4]]) {
    let mut sums = vec![(DVec3::ZERO, 0.0); nodes.len()];
    for step in (0..PASSES).flat_map(|_| STEPS) {
        sums.fill((DVec3::ZERO, 0.0));
        for quad in quads {
            for side in 0..4 {
                let (a, b) = (quad[side] as usize, quad[(side + 1) % 4] as usize);
                for (to, from) in [(a, b), (b, a)] {
                    // The difference of nodes is exact, whatever the size of the box.
                    sums[to].0 += place(nodes[from]) - place(nodes[to]) + offsets[from];
                    sums[to].1 += 1.0;
                }
            }
        }
        for (offset, (sum, count)) in offsets.iter_mut().zip(&sums).filter(|(_, (_, count))| *count > 0.0) {
            let moved = *offset + (*sum / *count - *offset) * step;
            *offset = moved.clamp(DVec3::splat(-FURTHEST), DVec3::splat(FURTHEST));
        }
    }
}

/// Moves a vertex that lies where none may lie to the border of the nearest filled voxel of its eight.
fn hold(field: &Field, node: [usize; 3], offset: &mut DVec3, may_hold: &impl Fn([usize; 3]) -> bool) {
    let here = (0..3).filter(|&axis| offset[axis] >= 0.0).map(|axis| 1 << axis).sum();
    let voxel = voxel_at(node, here);
    let inside = [0, 1, 2].map(|axis| voxel[axis].filter(|v| *v < field.size[axis]));
    let allowed = matches!(inside, [Some(i), Some(j), Some(k)] if may_hold([i, j, k]));
    if field.has(voxel) || allowed {
        return;
    }
    let pushed = |c: usize| {
        let mut at = *offset;
        (0..3).filter(|axis| (c ^ here) >> axis & 1 == 1).for_each(|axis| at[axis] = 0.0);
        at
    };
    let filled = (0..8).filter(|c| field.has(voxel_at(node, *c))).map(pushed);
    let nearest = filled.min_by(|p, q| p.distance_squared(*offset).total_cmp(&q.distance_squared(*offset)));
    *offset = nearest.unwrap_or(*offset);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math;
    use crate::mesh::{enclosed_volume, open_edges};

    fn filled(size: [usize; 3], is: impl Fn(DVec3) -> bool) -> Vec<bool> {
        let [nx, ny, nz] = size;
        (0..nx * ny * nz).map(|p| is(place([p % nx, p / nx % ny, p / (nx * ny)]) + 0.5)).collect()
    }

    #[test]
    fn a_ball_is_closed_manifold_smooth_and_of_its_volume() {
        let ball = filled([21, 23, 22], |p| p.distance(DVec3::new(10.5, 11.0, 11.2)) < 9.0);
        let mesh = surface_nets([21, 23, 22], &ball, |_| true);
        assert_eq!((open_edges(&mesh.triangles), mesh.lint().non_manifold_edges), (0, 0));
        assert_eq!(mesh.lint().degenerate_triangles, 0);
        let volume = enclosed_volume(&mesh.positions, &mesh.triangles);
        let count = ball.iter().filter(|f| **f).count() as f64;
        assert!((volume / count - 1.0).abs() < 0.03, "{volume} of {count}");
        let radii = mesh.positions.iter().map(|p| p.distance(DVec3::new(10.5, 11.0, 11.2)));
        let (low, high) = radii.fold((f64::INFINITY, 0.0f64), |(l, h), r| (l.min(r), h.max(r)));
        assert!(low > 8.4 && high < 9.4, "{low} to {high}: steps of voxels would be 8.3 to 9.9");
    }

    #[test]
    fn one_voxel_and_a_full_box_have_a_surface() {
        let one = surface_nets([1, 1, 1], &[true], |_| false);
        assert_eq!((one.positions.len(), one.triangles.len(), open_edges(&one.triangles)), (8, 12, 0));
        let volume = enclosed_volume(&one.positions, &one.triangles);
        assert!(volume > 0.005 && volume < 1.0, "{volume}");
        // Faces stay where they are; edges are rounded.
        let full = surface_nets([9, 8, 7], &[true; 9 * 8 * 7], |_| false);
        let volume = enclosed_volume(&full.positions, &full.triangles);
        assert!(volume > 0.93 * 504.0 && volume <= 504.0, "{volume}");
    }

    #[test]
    fn vertices_lie_where_they_may() {
        // A rough shape with notches, edges that touch and lone voxels; nothing but the filled voxels may hold vertices.
        let size = [12, 11, 10];
        let rough =
            filled(size, |p| math::sin(p.x * 1.7) + math::cos(p.y * 2.3) + math::sin(p.z * p.x) > 0.2);
        let mesh = surface_nets(size, &rough, |_| false);
        assert_eq!(open_edges(&mesh.triangles), 0);
        let field = Field { size, filled: &rough };
        for p in &mesh.positions {
            let near = |c: usize| (*p + (corner(c) * 2.0 - 1.0) * 1e-9).floor();
            let voxel = |q: DVec3| q.to_array().map(|v| (v >= 0.0).then_some(v as usize));
            assert!((0..8).any(|c| field.has(voxel(near(c)))), "{p}");
        }
    }
}
