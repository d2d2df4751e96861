//! Volume and area at once (ROH-67): displacements that gain a wanted volume and a wanted area, to first order.
//!
//! Rohmer 2011, appendix B.4. Of all displacements u with Σ u · G⁻¹ u least, where G says how much and along what a vertex gives way, those that
//! gain ΔV and ΔA are u = G (λ ∇V + μ ∇A), with
//!
//! D λ = ΔV AA − ΔA VA, D μ = ΔA VV − ΔV VA, D = VV AA − VA², VV = Σ ∇V · G ∇V, VA = Σ ∇V · G ∇A, AA = Σ ∇A · G ∇A.
//!
//! (The thesis swaps AA and VV, with which neither is met.) Of ∇A only what is along ∇V counts, as vertices that slide along a surface change how it is cut into
//! triangles, and not its shape. On a sphere ∇A is along ∇V everywhere, by the same factor: D is 0, and nothing can be done.

use glam::{DMat3, DVec3};

use super::volume::{Enclosure, twice_area};

/// D below this share of VV AA is none.
const PARALLEL: f64 = 1e-9;

/// Area of the triangles of a surface, lids left out, and its derivative by the place of each vertex: ½ m × (c − b) of a corner a, with the unit normal m.
pub fn area_and_gradient(surface: &Enclosure, x: &[DVec3], gradient: &mut Vec<DVec3>) -> f64 {
    gradient.clear();
    gradient.resize(surface.places(), DVec3::ZERO);
    let mut area = 0.0;
    for &[i, j, k] in &surface.triangles()[..surface.own_triangles()] {
        let [a, b, c] = [i, j, k].map(|v| x[v as usize]);
        let normal = twice_area(a, b, c);
        let twice = normal.length();
        if twice > 0.0 {
            area += 0.5 * twice;
            let half = normal * (0.5 / twice);
            for (v, opposite) in [(i, c - b), (j, a - c), (k, b - a)] {
                gradient[v as usize] += half.cross(opposite);
            }
        }
    }
    area
}

/// Area of the triangles of a surface, lids left out.
pub fn own_area(surface: &Enclosure, x: &[DVec3]) -> f64 {
    crate::measure::area(&surface.triangles()[..surface.own_triangles()], x)
}

/// Displacements u = G (λ ∇V + μ ∇A) that gain a volume and an area. False, and none, where D is 0.
pub fn displace(
    ease: &[DMat3],
    of_volume: &[DVec3],
    of_area: &[DVec3],
    [volume, area]: [f64; 2],
    u: &mut [DVec3],
) -> bool {
    // What of ∇A is along ∇V.
    let along = |v: DVec3, a: DVec3| {
        let square = v.length_squared();
        if square > 0.0 { v * (a.dot(v) / square) } else { DVec3::ZERO }
    };
    let (mut vv, mut va, mut aa) = (0.0, 0.0, 0.0);
    for ((g, v), a) in ease.iter().zip(of_volume).zip(of_area) {
        let a = along(*v, *a);
        let (gv, ga) = (*g * *v, *g * a);
        vv += v.dot(gv);
        va += v.dot(ga);
        aa += a.dot(ga);
    }
    let d = vv * aa - va * va;
    if d.is_nan() || d <= PARALLEL * vv * aa {
        return false;
    }
    let [by_volume, by_area] = [(volume * aa - area * va) / d, (area * vv - volume * va) / d];
    for (((g, v), a), u) in ease.iter().zip(of_volume).zip(of_area).zip(u) {
        *u = *g * (by_volume * *v + by_area * along(*v, *a));
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::math;
    use crate::mesh::generate;
    use crate::scene::Ball;

    fn lump(seed: u64, by: f64) -> (Enclosure, Vec<DVec3>) {
        let mesh = generate::ball(&Ball { radius: 1.0, subdivisions: 1 });
        let noise = |k: u64| by * (2.0 * math::uniform(seed, k) - 1.0);
        let shifted = (0u64..)
            .zip(&mesh.positions)
            .map(|(v, p)| *p + DVec3::new(noise(3 * v), noise(3 * v + 1), noise(3 * v + 2)));
        (Enclosure::new(mesh.positions.len(), &mesh.triangles), shifted.collect())
    }

    #[test]
    fn a_sphere_cannot_change_its_area_alone() {
        let (ball, x) = lump(0, 0.0);
        let (mut v, mut a) = (Vec::new(), Vec::new());
        ball.volume_and_gradient(&x, &mut v, |_, _, _| ());
        let found = area_and_gradient(&ball, &x, &mut a);
        assert!((found / own_area(&ball, &x) - 1.0).abs() < 1e-13);
        // Of the twelve corners of the icosahedron alone, which are all alike.
        let ease: Vec<DMat3> =
            (0..x.len()).map(|k| if k < 12 { DMat3::IDENTITY } else { DMat3::ZERO }).collect();
        let mut u = vec![DVec3::ZERO; x.len()];
        assert!(!displace(&ease, &v, &a, [0.0, 0.1], &mut u));
        assert!(u.iter().all(|u| *u == DVec3::ZERO));
    }

    proptest! {
        #[test]
        fn the_gradient_of_area_is_the_derivative(seed in 0u64..1000) {
            let (surface, x) = lump(seed, 0.2);
            let mut gradient = Vec::new();
            area_and_gradient(&surface, &x, &mut gradient);
            for v in (0..x.len()).step_by(7) {
                for e in [DVec3::X, DVec3::Y, DVec3::Z] {
                    let at = |by: f64| {
                        let mut moved = x.clone();
                        moved[v] += by * e;
                        own_area(&surface, &moved)
                    };
                    let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                    prop_assert!((slope - gradient[v].dot(e)).abs() < 1e-6);
                }
            }
        }

        /// Both are met to first order, whatever gives way.
        #[test]
        fn volume_and_area_are_met(seed in 0u64..1000, volume in -1.0..1.0f64, area in -1.0..1.0f64) {
            let (surface, x) = lump(seed, 0.2);
            let (mut v, mut a) = (Vec::new(), Vec::new());
            surface.volume_and_gradient(&x, &mut v, |_, _, _| ());
            area_and_gradient(&surface, &x, &mut a);
            let ease: Vec<DMat3> = (0..x.len() as u64).map(|k| DMat3::IDENTITY * math::uniform(seed, k)).collect();
            let mut u = vec![DVec3::ZERO; x.len()];
            prop_assert!(displace(&ease, &v, &a, [volume, area], &mut u));
            let gained = |of: &[DVec3]| u.iter().zip(of).map(|(u, g)| u.dot(*g)).sum::<f64>();
            prop_assert!((gained(&v) - volume).abs() < 1e-9 && (gained(&a) - area).abs() < 1e-9);
        }
    }
}
