//! Whether two features are nearer to each other than what is beside them (FAU-41's local minima of the distance): only those push.

use crate::contact::surface::NONE;
use crate::lanes::Point;

/// What rises from the nearest point of a triangle or edge by less than this share of its length is as flat as it.
const FLAT: f32 = 0.02;

/// A weight that is less than this is none.
pub(super) const NO_WEIGHT: f32 = 1e-4;

/// Whether a place is further along a direction than another, as seen from there.
#[inline(always)]
fn rises(from: [f32; 3], to: Point, [x, y, z]: [f32; 3]) -> bool {
    let way = [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
    let length = (way[0] * way[0] + way[1] * way[1] + way[2] * way[2]).sqrt();
    way[0] * x + way[1] * y + way[2] * z > FLAT * length
}

/// The point that some places with weights make.
#[inline(always)]
fn point(weights: &[f32], places: &[Point]) -> [f32; 3] {
    let mut sum = [0.0; 3];
    for (weight, place) in weights.iter().zip(places) {
        for k in 0..3 {
            sum[k] += weight.abs() * place[k];
        }
    }
    sum
}

/// Whether a vertex is nearer to a triangle than to those beside it, whose far corners are `across`: if it is nearest to a side, and
/// the triangle beyond rises towards it from there, that one is nearer (its Voronoi region; the "ghost contacts" of games). If it is nearest to a
/// corner, nothing of the ring of that may rise. And the vertex must be nearer than its own ring (but for what the triangle has too): else a vertex
/// inside a floor would be felt as a spike by the edge of what slides over it.
#[inline(always)]
pub(super) fn is_nearest_triangle<'r>(
    across: [u32; 3],
    ring: impl Fn(u32) -> &'r [u32],
    vertices: [u32; 4],
    weights: [f32; 4],
    normal: [f32; 3],
    at: impl Fn(u32) -> Point,
) -> bool {
    if weights[1].max(weights[2]).max(weights[3]) < -NO_WEIGHT {
        return true;
    }
    let nearest = point(&weights[1..], &[at(vertices[1]), at(vertices[2]), at(vertices[3])]);
    let [x, y, z, _] = at(vertices[0]);
    let turned = normal.map(|c| -c);
    let corner = (1..4).find(|k| weights[*k] < NO_WEIGHT - 1.0).map(|k| vertices[k]);
    let is_other = |v: &&u32| !vertices.contains(v);
    (0..3).all(|k| weights[k + 1] < -NO_WEIGHT || across[k] == NONE || !rises(nearest, at(across[k]), normal))
        && !corner.is_some_and(|c| ring(c).iter().filter(is_other).any(|v| rises(nearest, at(*v), normal)))
        && !ring(vertices[0]).iter().filter(is_other).any(|v| rises([x, y, z], at(*v), turned))
}

/// Whether two edges are nearer to each other than the triangles beside them, whose far corners are `wings`, to the other edge; where one is nearest
/// with an end, also nearer than what is beside that, its ring.
#[inline(always)]
pub(super) fn are_nearest_edges<'r>(
    wings: [[u32; 2]; 2],
    ring: impl Fn(u32) -> &'r [u32],
    vertices: [u32; 4],
    weights: [f32; 4],
    normal: [f32; 3],
    at: impl Fn(u32) -> Point,
) -> bool {
    let turned = normal.map(|c| -c);
    [(0, turned), (2, normal)].into_iter().zip(wings).all(|((k, towards), wings)| {
        let (ends, weights) = ([vertices[k], vertices[k + 1]], [weights[k].abs(), weights[k + 1].abs()]);
        let nearest = point(&weights, &ends.map(&at));
        let beside = match weights {
            [_, b] if b < NO_WEIGHT => ring(ends[0]),
            [a, _] if a < NO_WEIGHT => ring(ends[1]),
            _ => &[],
        };
        wings.iter().all(|&w| w == NONE || !rises(nearest, at(w), towards))
            && !beside.iter().any(|v| !vertices.contains(v) && rises(nearest, at(*v), towards))
    })
}
