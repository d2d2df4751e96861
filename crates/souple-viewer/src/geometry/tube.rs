//! Tubes around ropes.

use std::f32::consts::{FRAC_PI_2, TAU};

use glam::{Quat, Vec3};

use super::unit;

/// Rings of the round end of a rope between the last cross-section and the tip.
const END_RINGS: u32 = 2;

/// The surface of a rope.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tube {
    /// Positions, m.
    pub positions: Vec<Vec3>,
    /// Unit normals, outward.
    pub normals: Vec<Vec3>,
    /// Triangles, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Vertex of the rope that each vertex of the tube goes with.
    pub source: Vec<u32>,
    /// Texture coordinates in metres: around, and along from the beginning of the chain.
    pub uvs: Vec<[f32; 2]>,
}

/// The surface of a rope of that radius around its segments, with `sides` flat sides (3 to 64) and round ends. A torn
/// rope gives several tubes in one; a vertex without segments, or one that is not finite, gives nothing.
pub fn tube(positions: &[Vec3], segments: &[[u32; 2]], radius: f32, sides: u32) -> Tube {
    let mut tube = Tube::default();
    if !(radius > 0.0 && radius.is_finite()) {
        return tube;
    }
    for chain in chains(positions, segments) {
        tube.add_chain(positions, &chain, radius, sides.clamp(3, 64));
    }
    tube
}

/// Vertices along each unbranched run of segments, in order; a closed run ends with the vertex it began with.
fn chains(positions: &[Vec3], segments: &[[u32; 2]]) -> Vec<Vec<u32>> {
    let is_finite = |v: u32| positions.get(v as usize).is_some_and(|p| p.is_finite());
    let is_usable = |s: &[u32; 2]| s[0] != s[1] && is_finite(s[0]) && is_finite(s[1]);
    // Neighbours of each vertex: (vertex, neighbour, segment), sorted by vertex.
    let usable = segments.iter().enumerate().filter(|(_, s)| is_usable(s));
    let mut links: Vec<(u32, u32, usize)> =
        usable.flat_map(|(k, s)| [(s[0], s[1], k), (s[1], s[0], k)]).collect();
    links.sort_unstable();
    let row = |v: u32| {
        let from = links.partition_point(|link| link.0 < v);
        let count = links[from..].partition_point(|link| link.0 == v);
        &links[from..from + count]
    };
    let mut used = vec![false; segments.len()];
    let mut chains = Vec::new();
    // First from loose ends and branches, then what is left: closed loops.
    for open in [true, false] {
        for &(start, next, segment) in &links {
            if used[segment] || (open && row(start).len() == 2) {
                continue;
            }
            used[segment] = true;
            let mut chain = vec![start, next];
            let mut end = next;
            while end != start
                && let [one, other] = row(end)
                && let Some(&(_, next, segment)) = [one, other].into_iter().find(|link| !used[link.2])
            {
                used[segment] = true;
                chain.push(next);
                end = next;
            }
            chains.push(chain);
        }
    }
    chains
}

impl Tube {
    fn add_chain(&mut self, positions: &[Vec3], chain: &[u32], radius: f32, sides: u32) {
        let points: Vec<Vec3> = chain.iter().filter_map(|v| positions.get(*v as usize).copied()).collect();
        let (Some(&first), Some(&last)) = (chain.first(), chain.last()) else { return };
        if points.len() != chain.len() || points.len() < 2 {
            return;
        }
        let closed = first == last && points.len() > 2;
        let frames = frames(&points, closed);
        let mut along = 0.0;
        let mut below: Option<u32> = None;
        let end = |tube: &mut Tube, k: usize, along: f32, share: f32| {
            // Share −1 is the tip of the first end, 1 that of the last, 0 the cross-section itself.
            let (tangent, normal) = frames[k];
            let (sin, cos) = (share * FRAC_PI_2).sin_cos();
            let cos = if share.abs() == 1.0 { 0.0 } else { cos };
            tube.add_ring(points[k], tangent, normal, [radius, sin, cos], chain[k], along, sides)
        };
        for k in 0..points.len() {
            if k > 0 {
                along += points[k].distance(points[k - 1]);
            }
            if k == 0 && !closed {
                for ring in 0..=END_RINGS {
                    let share = ring as f32 / (END_RINGS + 1) as f32 - 1.0;
                    let ring = end(self, k, along + share * radius, share);
                    self.join(below, ring, sides);
                    below = Some(ring);
                }
            }
            let ring = end(self, k, along, 0.0);
            self.join(below, ring, sides);
            below = Some(ring);
        }
        if !closed {
            for ring in 1..=END_RINGS + 1 {
                let share = ring as f32 / (END_RINGS + 1) as f32;
                let ring = end(self, points.len() - 1, along + share * radius, share);
                self.join(below, ring, sides);
                below = Some(ring);
            }
        }
    }

    /// A ring of `sides` + 1 vertices, the last at the place of the first for the texture; gives its first index.
    fn add_ring(
        &mut self,
        centre: Vec3,
        tangent: Vec3,
        normal: Vec3,
        [radius, sin, cos]: [f32; 3],
        source: u32,
        along: f32,
        sides: u32,
    ) -> u32 {
        let start = self.positions.len() as u32;
        let binormal = tangent.cross(normal);
        for k in 0..=sides {
            // The last one exactly where the first is.
            let angle = TAU * (k % sides) as f32 / sides as f32;
            let outward = (normal * angle.cos() + binormal * angle.sin()) * cos + tangent * sin;
            self.positions.push(centre + outward * radius);
            self.normals.push(outward);
            self.source.push(source);
            self.uvs.push([TAU * radius * k as f32 / sides as f32, along]);
        }
        start
    }

    /// Triangles between two rings. Those of a tip have no area on one side and are left out.
    fn join(&mut self, below: Option<u32>, above: u32, sides: u32) {
        let Some(below) = below else { return };
        for k in 0..sides {
            let [a, b, c, d] = [below + k, below + k + 1, above + k, above + k + 1];
            let same = |p: u32, q: u32| self.positions[p as usize] == self.positions[q as usize];
            let (tip_below, tip_above) = (same(a, b), same(c, d));
            if !tip_below {
                self.triangles.push([a, b, d]);
            }
            if !tip_above {
                self.triangles.push([a, d, c]);
            }
        }
    }
}

/// Unit tangent and unit normal at each point, carried along without twist; on a closed curve what is left of a turn at
/// the end is spread over all points.
fn frames(points: &[Vec3], closed: bool) -> Vec<(Vec3, Vec3)> {
    let last = points.len() - 1;
    let direction = |from: Vec3, to: Vec3| unit(to - from);
    let tangent = |k: usize| {
        let (before, after) = match (closed, k) {
            (true, k) if k == 0 || k == last => (points[last - 1], points[1]),
            _ => (points[k.saturating_sub(1)], points[(k + 1).min(last)]),
        };
        // A hairpin has its neighbours at the same place: then along one leg.
        direction(before, after)
            .or_else(|| direction(before, points[k]))
            .or_else(|| direction(points[k], after))
    };
    let mut current = (0..=last).find_map(tangent).unwrap_or(Vec3::Y);
    let mut normal = current.any_orthonormal_vector();
    let mut frames = Vec::with_capacity(points.len());
    for k in 0..=last {
        let next = tangent(k).unwrap_or(current);
        let turned = Quat::from_rotation_arc(current, next) * normal;
        normal = unit(turned - next * next.dot(turned)).unwrap_or_else(|| next.any_orthonormal_vector());
        current = next;
        frames.push((current, normal));
    }
    if closed {
        let (axis, start) = frames[0];
        let end = frames[last].1;
        let twist = end.cross(start).dot(axis).atan2(end.dot(start));
        for (k, (tangent, normal)) in frames.iter_mut().enumerate() {
            *normal = Quat::from_axis_angle(*tangent, twist * k as f32 / last as f32) * *normal;
        }
    }
    frames
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::f32::consts::PI;

    use proptest::prelude::*;

    use super::super::tests::{area, euler, volume};
    use super::*;

    fn straight(count: u32) -> (Vec<Vec3>, Vec<[u32; 2]>) {
        let positions = (0..count).map(|k| Vec3::new(0.1 * k as f32, 0.0, 0.0)).collect();
        (positions, (1..count).map(|k| [k - 1, k]).collect())
    }

    #[test]
    fn the_tube_of_a_straight_rope_has_the_right_area() {
        let (positions, segments) = straight(11);
        let radius = 0.02;
        let tube = tube(&positions, &segments, radius, 64);
        assert_eq!(euler(&tube.positions, &tube.triangles), 2);
        // A metre of cylinder and a sphere in two halves; three facets from the equator to the pole of an end.
        let exact = TAU * radius + 4.0 * PI * radius * radius;
        let found = area(&tube.positions, &tube.triangles);
        assert!((found / exact - 1.0).abs() < 5e-3, "{found} {exact}");
        assert!(volume(&tube.positions, &tube.triangles) > 0.0, "inside out");
        for ((p, n), source) in tube.positions.iter().zip(&tube.normals).zip(&tube.source) {
            assert!((n.length() - 1.0).abs() < 1e-5);
            let centre = positions[*source as usize];
            assert!((*p - centre - *n * radius).length() < 1e-6);
        }
    }

    #[test]
    fn torn_ropes_give_several_tubes() {
        let (positions, mut segments) = straight(12);
        segments.remove(5);
        let whole = tube(&positions, &segments, 0.01, 6);
        assert_eq!(euler(&whole.positions, &whole.triangles), 4);
        let used: BTreeSet<u32> = whole.source.iter().copied().collect();
        assert_eq!(used.len(), 12);
        let mut broken = positions.clone();
        broken[9] = Vec3::NAN;
        let parts = tube(&broken, &segments, 0.01, 6);
        assert_eq!(euler(&parts.positions, &parts.triangles), 6);
        assert!(!parts.source.contains(&9) && parts.positions.iter().all(|p| p.is_finite()));
        assert_eq!(tube(&positions, &[], 0.01, 6), Tube::default());
        assert_eq!(tube(&positions, &segments, f32::NAN, 6), Tube::default());
    }

    #[test]
    fn closed_ropes_are_rings() {
        // A ring that leaves its plane: its frame comes back turned, and that must not show.
        let count = 40u32;
        let place = |k: u32| {
            let angle = TAU * k as f32 / count as f32;
            Vec3::new(angle.cos(), 0.4 * (2.0 * angle).sin(), angle.sin())
        };
        let positions: Vec<Vec3> = (0..count).map(place).collect();
        let segments: Vec<_> = (0..count).map(|k| [k, (k + 1) % count]).collect();
        let ring = tube(&positions, &segments, 0.05, 8);
        // The first and the last ring meet within rounding.
        let (first, last) = (&ring.positions[..9], &ring.positions[ring.positions.len() - 9..]);
        for (p, q) in first.iter().zip(last) {
            assert!(p.distance(*q) < 1e-4, "{p} {q}");
        }
        // Neighbouring rings are not twisted against each other.
        for (k, pair) in ring.normals.chunks_exact(9).collect::<Vec<_>>().windows(2).enumerate() {
            assert!(pair[0][0].dot(pair[1][0]) > 0.9, "ring {k}");
        }
    }

    proptest! {
        #[test]
        fn tubes_are_finite_and_closed(
            points in prop::collection::vec(prop::array::uniform3(-1.0f32..1.0), 2..12),
            segments in prop::collection::vec((0u32..14, 0u32..14), 0..14),
            nan in 0usize..14,
        ) {
            let mut positions: Vec<Vec3> = points.into_iter().map(Vec3::from).collect();
            if let Some(p) = positions.get_mut(nan) {
                *p = Vec3::NAN;
            }
            let segments: Vec<[u32; 2]> = segments.into_iter().map(|(a, b)| [a, b]).collect();
            let tube = tube(&positions, &segments, 0.05, 5);
            prop_assert!(tube.positions.iter().chain(&tube.normals).all(|p| p.is_finite()));
            prop_assert!(tube.triangles.iter().flatten().all(|v| (*v as usize) < tube.positions.len()));
            prop_assert_eq!(tube.positions.len(), tube.uvs.len());
            prop_assert_eq!(tube.positions.len(), tube.source.len());
        }

        #[test]
        fn doubled_back_ropes_are_no_trouble(a in prop::array::uniform3(-1.0f32..1.0), b in prop::array::uniform3(-1.0f32..1.0)) {
            let (a, b) = (Vec3::from(a), Vec3::from(b));
            let tube = tube(&[a, b, a, a, b], &[[0, 1], [1, 2], [2, 3], [3, 4]], 0.1, 6);
            prop_assert!(tube.positions.iter().chain(&tube.normals).all(|p| p.is_finite()));
        }
    }
}
