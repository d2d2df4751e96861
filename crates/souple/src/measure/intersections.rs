//! Which triangles of a surface cross: the proof of contact that does not leak, exact in spite of rounding.
//!
//! Two triangles **cross** if they lie in different planes and their insides, borders left out, share a point. Then they share a
//! piece of a line, and an edge of one goes through the other. So this is no crossing: a corner or an edge that touches a face,
//! edges that touch, a shared corner or a shared edge, triangles in one plane, and anything with a triangle without area. And
//! this is: an edge that goes through an edge of the other on its way inside; two triangles with a common corner of which one
//! pierces the other. None of it needs to know which corners are shared, only that they are at the same place, to the bit.
//!
//! All is decided by signs of orientation (which side of a plane a point is on) that the crate `robust` computes exactly, after
//! Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates", 1997; the order of the tests
//! follows Guigue and Devillers, "Fast and Robust Triangle-Triangle Overlap Test Using Orientation Predicates", 2003. Exact for
//! coordinates of which none but 0 is beyond 1e-60 to 1e90 m. Triangles with a corner that is not finite, and those that
//! name a vertex that is not there, are skipped.
//!
//! Which triangles are held against each other is found by the tree of `contact/bvh.rs`, with boxes that are rounded outwards, so
//! that none is missed.

use glam::DVec3;
use robust::{Coord3D, orient3d};

use crate::contact::bvh::{Tree, order};
use crate::control::collider_pose;
use crate::lanes::{Instructions, Kernel, Lanes};
use crate::model::Model;
use crate::skin::Posed;
use crate::state::State;

/// A triangle of one of several bodies, or of a collider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BodyTriangle {
    /// The body; colliders are counted on after the last one.
    pub body: u32,
    /// The triangle in the list of the body.
    pub triangle: u32,
}

/// The pairs of triangles of all bodies of a state that cross, be they of one body or of two; the lower one first, in rising order.
/// And those of a body and a collider that is a mesh, where it is then; colliders are counted on after the last body. Round
/// colliders have no triangles and are not part of it, nor are colliders that cross each other.
pub fn in_scene(model: &Model, state: &State) -> Vec<[BodyTriangle; 2]> {
    // What a skin shows is part of it, and cannot cross it.
    let triangles = |b: usize| match model.bodies[b].is_worn() {
        true => &[][..],
        false => &state.bodies[b].topology.triangles[..],
    };
    let bodies: Vec<Surface> =
        state.bodies.iter().enumerate().map(|(b, body)| (&body.x[..], triangles(b))).collect();
    let posed = Posed::turned(&model.characters, &state.bone_turns, state.time);
    let placed: Vec<Vec<DVec3>> = (model.colliders.iter().zip(&state.collider_offsets))
        .map(|(collider, offset)| {
            let pose = collider_pose(collider, offset, &posed);
            let mut skin = Vec::new();
            collider.skin_places(&model.characters, &posed, &mut skin);
            let rigid = collider.form.mesh().map_or(&[][..], |mesh| &mesh.positions);
            let positions = if skin.is_empty() { rigid } else { &skin[..] };
            positions.iter().map(|p| pose.apply(*p)).collect()
        })
        .collect();
    let triangles = model.colliders.iter().map(|c| c.form.mesh().map_or(&[][..], |mesh| &mesh.triangles));
    let colliders: Vec<Surface> = placed.iter().zip(triangles).map(|(x, t)| (&x[..], t)).collect();
    with_colliders(&bodies, &colliders)
}

/// A surface by its positions, m, and triangles.
pub type Surface<'a> = (&'a [DVec3], &'a [[u32; 3]]);

/// The pairs of triangles of bodies that cross, as [`in_scene`] of bodies alone.
pub fn between(bodies: &[Surface]) -> Vec<[BodyTriangle; 2]> {
    with_colliders(bodies, &[])
}

/// The pairs of triangles of bodies that cross, and those of a body and a collider: as [`in_scene`].
pub fn with_colliders(bodies: &[Surface], colliders: &[Surface]) -> Vec<[BodyTriangle; 2]> {
    let mut sound: Vec<Sound> = Vec::new();
    let rigid_from = bodies.len() as u32;
    for ((positions, triangles), body) in bodies.iter().chain(colliders).zip(0u32..) {
        let at = |v: u32| positions.get(v as usize).copied().filter(|x| x.is_finite());
        let corners = |[a, b, c]: [u32; 3]| Some([at(a)?, at(b)?, at(c)?]);
        let sound_one = |(&vertices, triangle): (&[u32; 3], u32)| {
            Some(Sound { name: BodyTriangle { body, triangle }, vertices, corners: corners(vertices)? })
        };
        sound.extend(triangles.iter().zip(0u32..).filter_map(sound_one));
    }
    crossing_pairs(&sound, rigid_from)
}

/// The pairs of triangles that cross, the lower index first, in rising order. `positions` in m.
pub fn crossings(positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    between(&[(positions, triangles)]).into_iter().map(|pair| pair.map(|t| t.triangle)).collect()
}

/// A triangle of which all vertices are there and finite.
struct Sound {
    name: BodyTriangle,
    vertices: [u32; 3],
    corners: [DVec3; 3],
}

impl Sound {
    /// Whether it has two vertices in common with another: they share an edge, or are one triangle twice, and never cross.
    fn is_joined(&self, other: &Sound) -> bool {
        let common = self.vertices.iter().filter(|v| other.vertices.contains(v)).count();
        self.name.body == other.name.body && common >= 2
    }
}

/// Whether two triangles cross, in the sense of the module. Corners must be finite.
pub fn crosses(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
    let Some(tip_a) = lone_corner(a.map(|p| side(b, p))) else { return false };
    let Some(tip_b) = lone_corner(b.map(|p| side(a, p))) else { return false };
    // Both planes meet in a line. It cuts each triangle in an interval, whose ends are on the two edges from the lone corner.
    // On which side an edge of one passes an edge of the other says whose end comes first on that line. The intervals share
    // more than an end if neither has all its ends at or before those of the other.
    let (mut before, mut after) = (false, false);
    for i in [1, 2] {
        for j in [1, 2] {
            let order = side([a[tip_a], a[(tip_a + i) % 3], b[tip_b]], b[(tip_b + j) % 3]);
            before |= order < 0;
            after |= order > 0;
        }
    }
    before && after
}

/// The corner that is on one side while no other is, if there are corners on both sides.
fn lone_corner(sides: [i32; 3]) -> Option<usize> {
    let only = |wanted: i32| {
        let mut there = (0..3).filter(|k| sides[*k] == wanted);
        there.next().filter(|_| there.next().is_none())
    };
    let both = sides.contains(&1) && sides.contains(&-1);
    if both { only(1).or(only(-1)) } else { None }
}

/// On which side of the plane of a triangle a point is, exactly: −1, 1, or 0 if the four are in one plane.
fn side([a, b, c]: [DVec3; 3], p: DVec3) -> i32 {
    // Neighbours in a mesh have common corners: without this, each would take the long way of exact arithmetic.
    if a == p || b == p || c == p || a == b || b == c || c == a {
        return 0;
    }
    let coord = |p: DVec3| Coord3D { x: p.x, y: p.y, z: p.z };
    let sign = orient3d(coord(a), coord(b), coord(c), coord(p));
    i32::from(sign > 0.0) - i32::from(sign < 0.0)
}

/// The pairs that cross, the lower first, in rising order; not those of two surfaces from `rigid_from` on.
fn crossing_pairs(sound: &[Sound], rigid_from: u32) -> Vec<[BodyTriangle; 2]> {
    let boxes: Vec<Box32> = sound.iter().map(|t| box_around(&t.corners)).collect();
    // Halves first: the sum of two large numbers may be none.
    let middle = |(low, high): &Box32| [0, 1, 2].map(|k| 0.5 * low[k] + 0.5 * high[k]);
    let order = order(&boxes.iter().map(middle).collect::<Vec<_>>());
    let boxes: Vec<Box32> = order.iter().map(|&i| boxes[i as usize]).collect();
    let mut tree = Tree::default();
    tree.fit(boxes.len(), |place| boxes[place]);
    let instructions = Instructions::detect();
    let (mut near, mut found) = (Vec::new(), Vec::new());
    for (place, &i) in order.iter().enumerate() {
        near.clear();
        instructions.run(Meet { tree: &tree, after: place, wanted: boxes[place], near: &mut near });
        let one = &sound[i as usize];
        for other in near.iter().map(|&place| &sound[order[place] as usize]) {
            let rigid = one.name.body.min(other.name.body) >= rigid_from;
            if !rigid && !one.is_joined(other) && crosses(one.corners, other.corners) {
                found.push([one.name.min(other.name), one.name.max(other.name)]);
            }
        }
    }
    found.sort_unstable();
    found
}

/// Lowest and highest corner of a box, m.
type Box32 = ([f32; 3], [f32; 3]);

/// The smallest box of 32-bit numbers around finite points; what is beyond those numbers is at their end, where it still meets
/// what it met.
fn box_around(corners: &[DVec3; 3]) -> Box32 {
    let end = DVec3::splat(f64::from(f32::MAX));
    let low = corners[0].min(corners[1]).min(corners[2]).clamp(-end, end).to_array();
    let high = corners[0].max(corners[1]).max(corners[2]).clamp(-end, end).to_array();
    let down = |x: f64| if f64::from(x as f32) > x { (x as f32).next_down() } else { x as f32 };
    let up = |x: f64| if f64::from(x as f32) < x { (x as f32).next_up() } else { x as f32 };
    (low.map(down), high.map(up))
}

/// Lists the leaves of a tree after a leaf that its box meets.
struct Meet<'a> {
    tree: &'a Tree,
    after: usize,
    wanted: Box32,
    near: &'a mut Vec<usize>,
}

impl Kernel for Meet<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Meet { tree, after, wanted, near } = self;
        tree.meet::<L>(after, wanted, |leaf| {
            if leaf != after {
                near.push(leaf);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{cos, sin};
    use proptest::prelude::*;

    type Whole = [i128; 3];

    fn minus(a: Whole, b: Whole) -> Whole {
        [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
    }

    fn cross(a: Whole, b: Whole) -> Whole {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    }

    fn dot(a: Whole, b: Whole) -> i128 {
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    }

    /// The twin, in whole numbers: cuts each triangle with the plane of the other, places the ends of both cuts on the common
    /// line as fractions, and compares.
    fn crosses_by_fractions(a: [Whole; 3], b: [Whole; 3]) -> bool {
        let normal = |t: [Whole; 3]| cross(minus(t[1], t[0]), minus(t[2], t[0]));
        let line = cross(normal(a), normal(b));
        if line == [0; 3] {
            return false;
        }
        // Lowest and highest place on the line where the inside of `t` meets the plane of `other`.
        let cut = |t: [Whole; 3], other: [Whole; 3]| -> Option<[(i128, i128); 2]> {
            let height = t.map(|p| dot(normal(other), minus(p, other[0])));
            if height.iter().all(|h| *h >= 0) || height.iter().all(|h| *h <= 0) {
                return None;
            }
            let mut places = Vec::new();
            for (i, j) in [(0, 1), (1, 2), (2, 0)] {
                let (from, to) = (height[i], height[j]);
                if (from > 0) != (to > 0) || (from < 0) != (to < 0) {
                    // p = t_i + (t_j − t_i) from / (from − to); with a positive denominator.
                    let under = (from - to).abs();
                    let over = (dot(line, t[i]) * (from - to) + dot(line, minus(t[j], t[i])) * from)
                        * (from - to).signum();
                    places.push((over, under));
                }
            }
            places.sort_by(|(a, b), (c, d)| (a * d).cmp(&(c * b)));
            Some([*places.first()?, *places.last()?])
        };
        let (Some([low_a, high_a]), Some([low_b, high_b])) = (cut(a, b), cut(b, a)) else { return false };
        let less = |(a, b): (i128, i128), (c, d): (i128, i128)| a * d < c * b;
        less(low_a, high_b) && less(low_b, high_a)
    }

    fn float(t: [Whole; 3]) -> [DVec3; 3] {
        t.map(|p| DVec3::new(p[0] as f64, p[1] as f64, p[2] as f64))
    }

    /// Corners on a lattice: few places for many touching cases, or many places.
    fn whole(reach: i128) -> impl Strategy<Value = [Whole; 3]> {
        let corner = move || [-reach..=reach, -reach..=reach, -reach..=reach];
        [corner(), corner(), corner()]
    }

    fn two() -> impl Strategy<Value = ([Whole; 3], [Whole; 3])> {
        prop_oneof![
            (whole(1), whole(1)),
            (whole(2), whole(2)),
            (whole(5), whole(5)),
            (whole(1000), whole(1000))
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn the_same_as_in_fractions((a, b) in two()) {
            prop_assert_eq!(crosses(float(a), float(b)), crosses_by_fractions(a, b));
        }

        /// With a common corner, as in a mesh, and with a common edge.
        #[test]
        fn the_same_with_common_corners((a, b) in two(), i in 0..3usize, j in 0..3usize) {
            let mut b = b;
            b[j] = a[i];
            prop_assert_eq!(crosses(float(a), float(b)), crosses_by_fractions(a, b));
            b[(j + 1) % 3] = a[(i + 1) % 3];
            prop_assert!(!crosses(float(a), float(b)));
        }

        #[test]
        fn the_same_for_any_order_of_corners((a, b) in two()) {
            let found = crosses(float(a), float(b));
            let ([a0, a1, a2], [b0, b1, b2]) = (float(a), float(b));
            prop_assert_eq!(crosses([b0, b1, b2], [a0, a1, a2]), found);
            prop_assert_eq!(crosses([a1, a2, a0], [b2, b1, b0]), found);
            prop_assert_eq!(crosses([a2, a1, a0], [b1, b2, b0]), found);
        }

        /// An edge of a triangle with area that goes strictly through the inside, found by five signs in whole numbers, is
        /// always a crossing.
        #[test]
        fn a_pierced_inside_is_a_crossing((a, b) in two()) {
            prop_assume!(cross(minus(b[1], b[0]), minus(b[2], b[0])) != [0; 3]);
            let volume = |p: Whole, q: Whole, r: Whole, s: Whole| dot(minus(p, s), cross(minus(q, s), minus(r, s))).signum();
            let pierced = [(0, 1), (1, 2), (2, 0)].into_iter().any(|(i, j)| {
                let (p, q) = (b[i], b[j]);
                let round = [volume(p, q, a[0], a[1]), volume(p, q, a[1], a[2]), volume(p, q, a[2], a[0])];
                let apart = volume(a[0], a[1], a[2], p) * volume(a[0], a[1], a[2], q) < 0;
                apart && (round == [1; 3] || round == [-1; 3])
            });
            prop_assert!(!pierced || crosses(float(a), float(b)));
        }
    }

    fn brute_force(positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
        let corners = |i: usize| triangles[i].map(|v| positions[v as usize]);
        let finite = |i: usize| corners(i).iter().all(|x| x.is_finite());
        let mut found = Vec::new();
        for i in 0..triangles.len() {
            for j in i + 1..triangles.len() {
                if finite(i) && finite(j) && crosses(corners(i), corners(j)) {
                    found.push([i as u32, j as u32]);
                }
            }
        }
        found
    }

    /// A grid of squares of two triangles each, at places given by column and row.
    fn grid(columns: u32, rows: u32, place: impl Fn(f64, f64) -> DVec3) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let at = |i: u32, j: u32| j * (columns + 1) + i;
        let positions = (0..=rows)
            .flat_map(|j| (0..=columns).map(move |i| (i, j)))
            .map(|(i, j)| place(i.into(), j.into()));
        let squares = (0..rows).flat_map(|j| (0..columns).map(move |i| (i, j)));
        let halves = |(i, j)| {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
            [[a, b, c], [b, d, c]]
        };
        (positions.collect(), squares.flat_map(halves).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Any triangles between any points, the same vertex twice in one included; a point that is not finite now and then.
        #[test]
        fn soups_agree_with_brute_force(
            places in prop::collection::vec([-1.0..1.0f64, -1.0..1.0f64, -0.2..0.2f64], 3..40),
            picks in prop::collection::vec([any::<u32>(), any::<u32>(), any::<u32>()], 0..120),
            odd in prop_oneof![4 => Just(0.0), 1 => Just(f64::NAN), 1 => Just(f64::INFINITY)],
        ) {
            let mut positions: Vec<DVec3> = places.into_iter().map(DVec3::from_array).collect();
            positions[0].x += odd;
            let triangles: Vec<[u32; 3]> = picks.into_iter().map(|t| t.map(|v| v % positions.len() as u32)).collect();
            prop_assert_eq!(crossings(&positions, &triangles), brute_force(&positions, &triangles));
        }

        /// Cloth wound up and folded so that it goes through itself.
        #[test]
        fn folded_grids_agree_with_brute_force(turns in 0.0..0.5f64, narrow in 0.0..0.3f64, slope in -0.3..0.3f64) {
            let place = |i: f64, j: f64| {
                let radius = 3.0 - narrow * i;
                DVec3::new(radius * sin(turns * i), radius * cos(turns * i), j + slope * i)
            };
            let (positions, triangles) = grid(16, 6, place);
            prop_assert_eq!(crossings(&positions, &triangles), brute_force(&positions, &triangles));
        }
    }

    #[test]
    fn flat_and_folded_cloth_is_clean_and_a_cut_through_it_is_counted() {
        let flat = grid(10, 10, |i, j| DVec3::new(i, 0.0, j));
        assert!(crossings(&flat.0, &flat.1).is_empty());
        // Folded in half onto itself, to the bit.
        let folded = grid(10, 10, |i, j| DVec3::new((i - 5.0).abs(), 0.0, j));
        assert!(crossings(&folded.0, &folded.1).is_empty());
        // An upright triangle through x = 2.25, where the halves of the squares of column 2 meet at z = 0.75, 1.75, …
        let (mut positions, mut triangles) = flat;
        let first = positions.len() as u32;
        positions.extend([
            DVec3::new(2.25, -1.0, 0.1),
            DVec3::new(2.25, -1.0, 0.9),
            DVec3::new(2.25, 1.0, 0.5),
        ]);
        triangles.push([first, first + 1, first + 2]);
        // At y = 0 the triangle spans z = 0.3 to 0.7: the first half only.
        assert_eq!(crossings(&positions, &triangles), [[4, 200]]);
        positions[first as usize + 2].z = 1.5;
        // Now z = 0.8 to 1.2: the second half of row 0, and the first of row 1.
        assert_eq!(crossings(&positions, &triangles), [[5, 200], [24, 200]]);
    }

    /// A triangle whose tip is one rounding above, on and below a plane that is no axis's.
    #[test]
    fn one_bit_decides() {
        let plane = [DVec3::new(0.1, 0.1, 0.1), DVec3::new(0.9, 0.2, 0.9), DVec3::new(0.3, 0.7, 0.3)];
        // The plane x = z, exactly.
        let with_tip =
            |x: f64| [DVec3::new(x, 0.3, 0.4), DVec3::new(-1.0, 0.3, 0.4), DVec3::new(-1.0, 0.4, 0.4)];
        assert!(!crosses(plane, with_tip(0.4f64.next_down())));
        assert!(!crosses(plane, with_tip(0.4)));
        assert!(crosses(plane, with_tip(0.4f64.next_up())));
    }

    /// Boxes of 32-bit numbers hold what is between two of them, and what is beyond all of them.
    #[test]
    fn nothing_is_missed_by_rounding() {
        let between = [0.1, -0.1, 1.0 / 3.0, 1e-50, -1e-50, 1e30, -1e30];
        for x in between {
            let (low, high) = box_around(&[DVec3::splat(x); 3]);
            assert!(f64::from(low[0]) <= x && x <= f64::from(high[0]), "{x}");
            assert!(high[0] <= low[0].next_up(), "{x}: the box is wider than it must be");
        }
        for scale in [1e-40, 1.0 / 3.0, 1e37, 1e60] {
            let (mut positions, triangles) =
                grid(12, 3, |i, j| DVec3::new(sin(i), cos(1.3 * i), j + 0.1 * i));
            let found = crossings(&positions, &triangles);
            assert!(found.len() > 10);
            assert_eq!(found, brute_force(&positions, &triangles));
            positions.iter_mut().for_each(|x| *x *= scale);
            assert_eq!(crossings(&positions, &triangles), brute_force(&positions, &triangles), "at {scale}");
        }
    }

    /// Two bodies are one soup: a crossing belongs to both, whatever their vertices are called.
    #[test]
    fn bodies_cross_themselves_and_each_other() {
        let (flat, squares) = grid(4, 4, |i, j| DVec3::new(i, 0.0, j));
        let upright = [DVec3::new(2.25, -1.0, 0.1), DVec3::new(2.25, -1.0, 0.9), DVec3::new(2.25, 1.0, 0.5)];
        // An edge of the second body that has the numbers of an edge of the first is no common one.
        let found = between(&[(&flat, &squares), (&upright, &[[0, 1, 2]])]);
        let name = |body, triangle| BodyTriangle { body, triangle };
        assert_eq!(found, [[name(0, 4), name(1, 0)]]);
        let swapped = between(&[(&upright, &[[0, 1, 2]]), (&flat, &squares)]);
        assert_eq!(swapped, [[name(0, 0), name(1, 4)]]);
        assert!(
            between(&[(&flat, &squares), (&[], &[]), (&flat, &squares)]).is_empty(),
            "one on the other, to the bit"
        );
        assert!(between(&[]).is_empty());
        // Through itself, beside another that is clean.
        let (folded, triangles) = grid(12, 3, |i, j| DVec3::new(sin(i), cos(1.3 * i), j + 0.1 * i));
        let own = crossings(&folded, &triangles).len();
        let away: Vec<DVec3> = flat.iter().map(|x| *x + DVec3::X * 100.0).collect();
        let found = between(&[(&away, &squares), (&folded, &triangles)]);
        assert!(own > 10 && found.len() == own && found.iter().flatten().all(|t| t.body == 1));
    }

    #[test]
    fn vertices_that_are_not_there_are_skipped() {
        let positions = [DVec3::ZERO, DVec3::X, DVec3::Y];
        assert!(crossings(&positions, &[[0, 1, 2], [0, 1, 7], [9, 9, 9]]).is_empty());
        assert!(crossings(&[], &[[0, 1, 2]]).is_empty());
        assert!(crossings(&positions, &[]).is_empty());
    }
}
