//! The volume inside a surface, how it changes with its vertices, and displacements that bring it to a wanted one (ROH-02, 05, 06, 26…28, 68, 69).
//!
//! Rohmer, *Géométrie active pour l'animation et la modélisation* (2011), chapter 2. V = 1/6 Σ det(a, b, c) over triangles. It is linear in the place of
//! each vertex, so that along any field of displacements V(x + s u) is a cubic of s, and an exact volume takes one pass: displacements by the
//! linear part, then the root of the cubic that is nearest to none. His three passes, each along one axis, along which V is linear, are here too.
//!
//! Surfaces with borders are closed by a fan from the mean of each border, which moves with it: their volume is that up to those lids.
//!
//! Promised: exact volumes up to rounding, of surfaces that turn inside out, too. Not promised: that a displaced surface does not cross itself.

use glam::{DMat3, DVec3};

/// A volume below this share of area times size is that of a folded sheet.
const LEAST_VOLUME: f64 = 1e-9;

/// A surface without a border: triangles, and what they are closed by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Enclosure {
    /// How many vertices the surface has; lids add one each, after them.
    vertices: usize,
    /// Three vertices per triangle, those of lids last.
    triangles: Vec<[u32; 3]>,
    /// How many triangles are not of lids.
    own: usize,
    /// Where the border of each lid begins, and the length of all.
    starts: Vec<u32>,
    /// Vertices of borders.
    borders: Vec<u32>,
}

impl Enclosure {
    /// Triangles of some vertices, with their lids.
    pub fn new(vertices: usize, triangles: &[[u32; 3]]) -> Enclosure {
        let mut made = Enclosure {
            vertices,
            own: triangles.len(),
            triangles: triangles.to_vec(),
            ..Enclosure::default()
        };
        let open = open_sides(triangles);
        let mut root: Vec<u32> = (0..vertices as u32).collect();
        for &[i, j] in &open {
            let (a, b) = (find(&mut root, i), find(&mut root, j));
            root[a.max(b) as usize] = a.min(b);
        }
        let mut border: Vec<(u32, u32)> = open.iter().flatten().map(|&v| (find(&mut root, v), v)).collect();
        border.sort_unstable();
        border.dedup();
        let mut lids: Vec<u32> = Vec::new();
        made.starts.push(0);
        for run in border.chunk_by(|a, b| a.0 == b.0) {
            lids.push(run[0].0);
            made.borders.extend(run.iter().map(|(_, v)| *v));
            made.starts.push(made.borders.len() as u32);
        }
        for [i, j] in open {
            let own = find(&mut root, i);
            if let Ok(lid) = lids.binary_search(&own) {
                made.triangles.push([j, i, (vertices + lid) as u32]);
            }
        }
        made
    }

    /// How many places it has: of vertices, then the middles of lids.
    pub fn places(&self) -> usize {
        self.vertices + self.starts.len().saturating_sub(1)
    }

    /// How many vertices it has.
    pub fn vertices(&self) -> usize {
        self.vertices
    }

    /// Its triangles, those of lids last.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// How many of them are not of lids.
    pub fn own_triangles(&self) -> usize {
        self.own
    }

    /// The border of each lid.
    pub fn borders(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.borders[ends[0] as usize..ends[1] as usize])
    }

    /// Puts the middle of each lid to the mean of its border; of displacements, as well.
    pub fn place_lids(&self, x: &mut [DVec3]) {
        for (lid, border) in self.borders().enumerate() {
            let sum: DVec3 = border.iter().map(|&v| x[v as usize]).sum();
            x[self.vertices + lid] = sum / border.len() as f64;
        }
    }

    /// Whether it has an inside where it was bound, of that size: lids of at most that share of its area, and a volume.
    pub fn has_inside(&self, rest: &[DVec3], size: f64, widest: f64) -> bool {
        let area = |triangles: &[[u32; 3]]| -> f64 {
            let one = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|v| rest[v as usize]);
                0.5 * twice_area(a, b, c).length()
            };
            triangles.iter().map(one).sum()
        };
        let (own, lids) = self.triangles.split_at(self.own);
        let (own, lids) = (area(own), area(lids));
        own > 0.0 && lids <= widest * own && self.volume(rest).abs() > LEAST_VOLUME * own * size
    }

    /// Gives to vertices of borders what belongs to the middles of lids, which move with them.
    fn spread_lids(&self, gradient: &mut [DVec3]) {
        for (lid, border) in self.borders().enumerate() {
            let share = gradient[self.vertices + lid] / border.len() as f64;
            border.iter().for_each(|&v| gradient[v as usize] += share);
        }
    }

    /// Volume inside, and its derivative by the place of each vertex. `each` is told of the triangles: number, (a − x₀) · N, N = (b − a) × (c − a).
    #[inline(always)]
    pub fn volume_and_gradient(
        &self,
        x: &[DVec3],
        gradient: &mut Vec<DVec3>,
        mut each: impl FnMut(usize, f64, DVec3),
    ) -> f64 {
        gradient.clear();
        gradient.resize(self.places(), DVec3::ZERO);
        // From a point of it: far from the origin digits would be lost.
        let Some(&origin) = x.first() else { return 0.0 };
        let mut sixfold = 0.0;
        for (k, t) in self.triangles.iter().enumerate() {
            let [a, b, c] = corners(x, t);
            let normal = twice_area(a, b, c);
            let own = (a - origin).dot(normal);
            sixfold += own;
            each(k, own, normal);
            t.iter().for_each(|&v| gradient[v as usize] += normal);
        }
        gradient.iter_mut().for_each(|g| *g /= 6.0);
        self.spread_lids(gradient);
        sixfold / 6.0
    }

    /// A third of the area of the triangles around each vertex, lids left out.
    pub fn vertex_areas(&self, x: &[DVec3]) -> Vec<f64> {
        let mut areas = vec![0.0; self.places()];
        for t in &self.triangles[..self.own] {
            let [a, b, c] = corners(x, t);
            let third = twice_area(a, b, c).length() / 6.0;
            t.iter().for_each(|&v| areas[v as usize] += third);
        }
        areas
    }

    /// Volume inside.
    pub fn volume(&self, x: &[DVec3]) -> f64 {
        let Some(&origin) = x.first() else { return 0.0 };
        let sixfold = |t: &[u32; 3]| {
            let [a, b, c] = corners(x, t);
            (a - origin).dot(twice_area(a, b, c))
        };
        self.triangles.iter().map(sixfold).sum::<f64>() / 6.0
    }

    /// What V(x + s u) − V(x) is: a cubic of s, by the triangles of which some vertex is displaced.
    pub fn cubic(&self, x: &[DVec3], u: &[DVec3]) -> Cubic {
        let mut sum = Cubic::default();
        for t in &self.triangles {
            let [ua, ub, uc] = corners(u, t);
            if (ua, ub, uc) == (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO) {
                continue;
            }
            let [a, b, c] = corners(x, t);
            let [a, b, c] = [a - x[0], b - x[0], c - x[0]];
            sum.add(&triangle_cubic([a, b, c], [ua, ub, uc]));
        }
        sum
    }
}

/// Where the corners of a triangle are. (`map` of an array is not always inlined.)
#[inline(always)]
pub(super) fn corners(x: &[DVec3], t: &[u32; 3]) -> [DVec3; 3] {
    [x[t[0] as usize], x[t[1] as usize], x[t[2] as usize]]
}

/// Twice the area of a triangle, along its normal.
#[inline(always)]
pub fn twice_area(a: DVec3, b: DVec3, c: DVec3) -> DVec3 {
    (b - a).cross(c - a)
}

/// Sides of triangles along which not as many run one way as the other, once for each that is missing.
fn open_sides(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let mut sides: Vec<(u32, u32, bool)> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)])
        .filter(|(i, j)| i != j)
        .map(|(i, j)| (i.min(j), i.max(j), i < j))
        .collect();
    sides.sort_unstable();
    let mut open = Vec::new();
    for run in sides.chunk_by(|s, t| (s.0, s.1) == (t.0, t.1)) {
        let up = run.iter().filter(|s| s.2).count();
        let down = run.len() - up;
        let (i, j, _) = run[0];
        open.extend((down..up).map(|_| [i, j]));
        open.extend((up..down).map(|_| [j, i]));
    }
    open
}

pub(super) fn find(root: &mut [u32], mut v: u32) -> u32 {
    while root[v as usize] != v {
        root[v as usize] = root[root[v as usize] as usize];
        v = root[v as usize];
    }
    v
}

/// c₁ s + c₂ s² + c₃ s³.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cubic {
    /// c₁, c₂, c₃.
    pub c: [f64; 3],
}

/// How far from none a root is looked for.
const LARGEST_STEP: f64 = 2.0;

impl Cubic {
    #[inline(always)]
    fn add(&mut self, other: &Cubic) {
        self.c.iter_mut().zip(other.c).for_each(|(a, b)| *a += b);
    }

    /// Its value.
    pub fn at(&self, s: f64) -> f64 {
        s * (self.c[0] + s * (self.c[1] + s * self.c[2]))
    }

    /// The s nearest to 0, on the side to which its linear part leads, at which it has a value; if none is within 2, the s up to there at which it
    /// comes nearest.
    pub fn reach(&self, value: f64) -> f64 {
        let [c1, c2, c3] = self.c;
        if value == 0.0 || c1 == 0.0 || !(value / c1).is_finite() {
            return 0.0;
        }
        // h(s) = c s / value − 1 rises from −1, with s counted towards the linear solution.
        let side = if value / c1 > 0.0 { 1.0 } else { -1.0 };
        let h = |s: f64| self.at(side * s) / value - 1.0;
        let slope = |s: f64| side * (c1 + side * s * (2.0 * c2 + 3.0 * c3 * side * s)) / value;
        // Where it turns: between those it is monotone.
        let mut ends = [LARGEST_STEP; 3];
        let (a, b, c) = (3.0 * c3, 2.0 * c2 * side, c1);
        let discriminant = b * b - 4.0 * a * c;
        if discriminant > 0.0 {
            let q = -0.5 * (b + if b >= 0.0 { discriminant.sqrt() } else { -discriminant.sqrt() });
            let turns = [q / a, c / q].map(|s| if s > 0.0 && s < LARGEST_STEP { s } else { LARGEST_STEP });
            ends = [turns[0].min(turns[1]), turns[0].max(turns[1]), LARGEST_STEP];
        }
        let (mut low, mut best) = (0.0, 0.0);
        for high in ends {
            if h(high) >= 0.0 {
                return side * root(h, slope, low, high);
            }
            if h(high) > h(best) {
                best = high;
            }
            low = high;
        }
        side * best
    }
}

/// The root of a function that rises from below 0 to above it: Newton's steps, halving where they lead outside.
fn root(h: impl Fn(f64) -> f64, slope: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let mut s = if low == 0.0 { high.min(1.0) } else { 0.5 * (low + high) };
    for _ in 0..100 {
        let value = h(s);
        if value >= 0.0 {
            high = s;
        } else {
            low = s;
        }
        let newton = s - value / slope(s);
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if next == s || (next - s).abs() <= f64::EPSILON * s.abs() {
            return next;
        }
        s = next;
    }
    s
}

/// Six times what a triangle adds is (a + s uₐ) · ((b − a + s (u_b − uₐ)) × (c − a + s (u_c − uₐ))).
#[inline(always)]
fn triangle_cubic([a, b, c]: [DVec3; 3], [ua, ub, uc]: [DVec3; 3]) -> Cubic {
    let ([p, q], [up, uq]) = ([b - a, c - a], [ub - ua, uc - ua]);
    let (n0, n1, n2) = (p.cross(q), up.cross(q) + p.cross(uq), up.cross(uq));
    Cubic { c: [ua.dot(n0) + a.dot(n1), ua.dot(n1) + a.dot(n2), ua.dot(n2)].map(|c| c / 6.0) }
}

/// Where a surface gives way, and along what: displacements are γ E ∇V.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Yielding {
    /// Vertices, and how much each gives way, γ.
    pub gamma: Vec<(u32, f64)>,
    /// How easily it goes along each direction, E: the identity for all alike, a a^T for the direction a only.
    pub ease: DMat3,
}

impl Yielding {
    /// The volume per unit of displacement: Σ γ ∇V · E ∇V.
    pub fn capacity(&self, gradient: &[DVec3]) -> f64 {
        let term = |&(v, gamma): &(u32, f64)| {
            let g = gradient[v as usize];
            gamma * g.dot(self.ease * g)
        };
        self.gamma.iter().map(term).sum()
    }

    /// Adds the displacements that gain a volume, to first order (ROH-27): u = γ E ∇V · ΔV / Σ γ ∇V · E ∇V. None if nothing gives way.
    pub fn add_displacements(&self, gradient: &[DVec3], gain: f64, u: &mut [DVec3]) {
        let capacity = self.capacity(gradient);
        if capacity > 0.0 && (gain / capacity).is_finite() {
            let amplitude = gain / capacity;
            for &(v, gamma) in &self.gamma {
                u[v as usize] += (amplitude * gamma) * (self.ease * gradient[v as usize]);
            }
        }
    }
}

/// Displacements that gain a volume to first order, a third of it along each of x, y and z, everywhere (ROH-26; Sauvage, Hahmann, Bonneau, *Volume
/// preservation of multiresolution meshes*, 2007): u = ΔV/3 (∂ₓV/|∂ₓV|², ∂ᵧV/|∂ᵧV|², ∂_zV/|∂_zV|²). Nothing says where: ends of a bent bar move, and its joint stays
/// pinched. For comparison only.
pub fn global_thirds(gradient: &[DVec3], gain: f64) -> Vec<DVec3> {
    let squares: DVec3 = gradient.iter().map(|g| *g * *g).sum();
    let third = |square: f64| if square > 0.0 { gain / (3.0 * square) } else { 0.0 };
    let scale = DVec3::new(third(squares.x), third(squares.y), third(squares.z));
    gradient.iter().map(|g| scale * *g).collect()
}

/// Gains a volume exactly, in one pass along each of three axes (ROH-28): along one the volume is linear. `shares` of it go to each, and sum to 1;
/// an axis along which nothing gives way leaves its own to the others.
pub fn three_passes(
    surface: &Enclosure,
    x: &mut [DVec3],
    gamma: &[(u32, f64)],
    axes: &DMat3,
    shares: DVec3,
    gain: f64,
) {
    let (mut gradient, mut left, mut shares_left) = (Vec::new(), gain, shares.element_sum());
    for a in 0..3 {
        let axis = axes.col(a);
        surface.volume_and_gradient(x, &mut gradient, |_, _, _| ());
        let along = |v: u32| gradient[v as usize].dot(axis);
        let square: f64 = gamma.iter().map(|&(v, gamma)| gamma * along(v) * along(v)).sum();
        let share = if shares_left > 0.0 { left * shares[a] / shares_left } else { 0.0 };
        if share != 0.0 && (share / square).is_finite() {
            for &(v, gamma) in gamma {
                x[v as usize] += (share / square * gamma * along(v)) * axis;
            }
            surface.place_lids(x);
            left -= share;
        }
        shares_left -= shares[a];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::math;
    use crate::mesh::{enclosed_volume, generate};
    use crate::scene::Ball;
    use crate::skin::generate::{Limb, limb};

    /// A ball whose vertices are shifted by noise.
    fn lump(seed: u64, by: f64) -> (Enclosure, Vec<DVec3>) {
        let mesh = generate::ball(&Ball { radius: 1.0, subdivisions: 2 });
        let noise = |v: u64, axis: u64| by * (2.0 * math::uniform(seed, 3 * v + axis) - 1.0);
        let shifted = (0u64..)
            .zip(&mesh.positions)
            .map(|(v, p)| *p + DVec3::new(noise(v, 0), noise(v, 1), noise(v, 2)));
        (Enclosure::new(mesh.positions.len(), &mesh.triangles), shifted.collect())
    }

    /// A round bar without its ends, and the same with flat ones: their volumes.
    fn open_bar() -> (Enclosure, Vec<DVec3>, f64) {
        let bar = Limb { length: 2.0, radii: [0.5, 0.3], sides: 12, rings: 6, cap_rings: 0, bones: 2 };
        let mesh = &limb(&bar).meshes[0];
        let x: Vec<DVec3> = mesh.positions.iter().map(|p| DVec3::from(*p)).collect();
        let closed = enclosed_volume(&x, &mesh.triangles);
        let ends = x.len() as u32 - 2;
        let open: Vec<[u32; 3]> =
            mesh.triangles.iter().copied().filter(|t| t.iter().all(|v| *v < ends)).collect();
        let surface = Enclosure::new(ends as usize, &open);
        let mut places = x[..ends as usize].to_vec();
        places.resize(surface.places(), DVec3::ZERO);
        surface.place_lids(&mut places);
        (surface, places, closed)
    }

    #[test]
    fn lids_close_what_is_open() {
        let (surface, x, closed) = open_bar();
        assert_eq!(surface.borders().map(<[u32]>::len).collect::<Vec<_>>(), [12, 12]);
        assert!((surface.volume(&x) - closed).abs() < 1e-14);
        assert!(
            Enclosure::new(x.len(), surface.triangles()).borders().next().is_none(),
            "the fans are turned right"
        );
        let (ball, _) = lump(0, 0.0);
        assert_eq!((ball.places(), ball.borders().count()), (ball.vertices(), 0));
    }

    /// The volume is linear in each coordinate: central differences are exact, and Σ x · ∂V/∂x over one axis is V (ROH-06).
    #[test]
    fn the_gradient_is_the_derivative() {
        let (bar, places, _) = open_bar();
        let (ball, lump) = lump(7, 0.2);
        for (surface, x) in [(ball, lump), (bar, places)] {
            let mut gradient = Vec::new();
            let volume = surface.volume_and_gradient(&x, &mut gradient, |_, _, _| ());
            assert_eq!(volume, surface.volume(&x));
            for axis in 0..3 {
                let sum: f64 = (0..surface.vertices()).map(|v| x[v][axis] * gradient[v][axis]).sum();
                assert!((sum / volume - 1.0).abs() < 1e-12, "{axis}: {sum} {volume}");
                for v in (0..surface.vertices()).step_by(5) {
                    let at = |by: f64| {
                        let mut moved = x.clone();
                        moved[v][axis] += by;
                        surface.place_lids(&mut moved);
                        surface.volume(&moved)
                    };
                    let slope = at(0.5) - at(-0.5);
                    assert!((slope - gradient[v][axis]).abs() < 1e-12, "{v} {axis}");
                }
            }
        }
    }

    /// Each axis gives a third, to first order; a ball grows evenly.
    #[test]
    fn thirds_gain_the_volume_to_first_order() {
        let (surface, x) = lump(3, 0.2);
        let mut gradient = Vec::new();
        surface.volume_and_gradient(&x, &mut gradient, |_, _, _| ());
        let u = global_thirds(&gradient, 0.1);
        assert!((surface.cubic(&x, &u).c[0] - 0.1).abs() < 1e-14);
        for axis in 0..3 {
            let along: f64 = gradient.iter().zip(&u).map(|(g, u)| g[axis] * u[axis]).sum();
            assert!((along - 0.1 / 3.0).abs() < 1e-15, "{axis}: {along}");
        }
        let (ball, x) = lump(0, 0.0);
        ball.volume_and_gradient(&x, &mut gradient, |_, _, _| ());
        let u = global_thirds(&gradient, 0.1);
        assert!(x.iter().zip(&u).all(|(x, u)| u.normalize().dot(x.normalize()) > 0.999));
        assert!(global_thirds(&[DVec3::ZERO, DVec3::X], 1.0).iter().all(|u| u.is_finite()));
    }

    #[test]
    fn a_cubic_that_does_not_get_there_goes_as_near_as_it_can() {
        let hill = Cubic { c: [1.0, -1.0, 0.0] };
        assert!((hill.reach(0.16) - 0.2).abs() < 1e-12);
        assert!((hill.reach(0.5) - 0.5).abs() < 1e-12, "its top");
        assert_eq!(Cubic { c: [1.0, 0.0, 0.0] }.reach(-7.0), -2.0);
        assert_eq!((Cubic::default().reach(1.0), Cubic { c: [1.0; 3] }.reach(0.0)), (0.0, 0.0));
        assert_eq!(Cubic { c: [f64::NAN, 1.0, 1.0] }.reach(1.0), 0.0);
        // Down before up: the root is beyond the valley.
        let valley = Cubic { c: [1.0, -3.0, 2.5] };
        assert!((valley.at(valley.reach(0.4)) - 0.4).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn along_any_field_the_volume_is_its_cubic(seed in 0u64..1000, s in -2.0..2.0f64) {
            let (surface, x) = lump(seed, 0.3);
            let (_, u) = lump(seed + 1, 0.5);
            // Half of it stays.
            let u: Vec<DVec3> = u.iter().map(|u| if u.y > 0.0 { *u } else { DVec3::ZERO }).collect();
            let moved: Vec<DVec3> = x.iter().zip(&u).map(|(x, u)| *x + s * *u).collect();
            let gain = surface.volume(&moved) - surface.volume(&x);
            prop_assert!((gain - surface.cubic(&x, &u).at(s)).abs() < 1e-12);
        }

        /// What is reached is the value, and no nearer s has it.
        #[test]
        fn the_root_is_the_nearest(c1 in 0.2..3.0f64, c2 in -2.0..2.0f64, c3 in -2.0..2.0f64, value in -1.0..1.0f64) {
            let cubic = Cubic { c: [c1, c2, c3] };
            let s = cubic.reach(value);
            prop_assert!(s.abs() <= 2.0 && s * value >= 0.0);
            let is_below = |s: f64| cubic.at(s) / value < 1.0 + 1e-9;
            prop_assert!((1..200).all(|k| is_below(s * f64::from(k) / 200.0)));
            let ends = (1..=2000).map(|k| f64::from(k) / 1000.0 * value.signum());
            if ends.into_iter().any(|s| cubic.at(s) / value >= 1.0) {
                prop_assert!((cubic.at(s) - value).abs() < 1e-12, "{s}");
            }
        }

        /// Any γ, axes and shares give the volume that is asked for, and vertices without γ stay.
        #[test]
        fn three_passes_are_exact(seed in 0u64..1000, gain in -1.0..1.0f64, turn in prop::array::uniform3(-90.0..90.0f64), shares in prop::array::uniform3(0.0..1.0f64)) {
            let (surface, mut x) = lump(seed, 0.1);
            let before = x.clone();
            let gamma: Vec<(u32, f64)> = (0..x.len() as u32).step_by(2).map(|v| (v, math::uniform(seed, u64::from(v)))).collect();
            let axes = DMat3::from_quat(math::rotation(DVec3::from(turn)));
            let shares = DVec3::from(shares) + DVec3::new(0.1, 0.0, 0.0);
            three_passes(&surface, &mut x, &gamma, &axes, shares / shares.element_sum(), gain);
            prop_assert!((surface.volume(&x) - surface.volume(&before) - gain).abs() < 1e-12);
            prop_assert!((1..x.len()).step_by(2).all(|v| x[v] == before[v]));
        }
    }

    /// A tube of length 6 and radius 0.6, 24 × 60, bent in the middle, with weights that go as s²(3 − 2s) over ±1 and γ = 1 − ω_max: figures of a plain
    /// program of the formulas. One pass along gradients instead of normals leaves nearly the same.
    #[test]
    fn a_bent_tube_loses_and_gets_back_what_the_formulas_say() {
        let bar = Limb { length: 6.0, radii: [0.6; 2], sides: 24, rings: 60, cap_rings: 0, bones: 2 };
        let mesh = &limb(&bar).meshes[0];
        let rest: Vec<DVec3> = mesh.positions.iter().map(|p| DVec3::from(*p) - 3.0 * DVec3::Y).collect();
        let surface = Enclosure::new(rest.len(), &mesh.triangles);
        let weight = |p: &DVec3| {
            let s = (0.5 * (p.y + 1.0)).clamp(0.0, 1.0);
            s * s * (3.0 - 2.0 * s)
        };
        let gamma: Vec<(u32, f64)> =
            (0u32..).zip(&rest).map(|(v, p)| (v, weight(p).min(1.0 - weight(p)))).collect();
        let volume = surface.volume(&rest);
        for (degrees, loss, left) in [(45.0, 1.27, 0.02), (90.0, 4.34, 0.40), (120.0, 6.50, 1.02)] {
            let turn = math::rotation(DVec3::Z * degrees);
            let bent: Vec<DVec3> = rest.iter().map(|p| *p + weight(p) * (turn * *p - *p)).collect();
            let mut gradient = Vec::new();
            let lost = volume - surface.volume_and_gradient(&bent, &mut gradient, |_, _, _| ());
            assert!((100.0 * lost / volume - loss).abs() < 0.02, "{degrees}: {lost}");
            let yielding = Yielding { gamma: gamma.clone(), ease: DMat3::IDENTITY };
            let mut u = vec![DVec3::ZERO; bent.len()];
            yielding.add_displacements(&gradient, lost, &mut u);
            let once: Vec<DVec3> = bent.iter().zip(&u).map(|(x, u)| *x + *u).collect();
            let residual = 100.0 * (surface.volume(&once) / volume - 1.0);
            assert!((residual - left).abs() < 0.25 * left + 0.01, "{degrees}: {residual}");
            let step = surface.cubic(&bent, &u).reach(lost);
            let exact: Vec<DVec3> = bent.iter().zip(&u).map(|(x, u)| *x + step * *u).collect();
            assert!((surface.volume(&exact) / volume - 1.0).abs() < 1e-13);
        }
    }
}
