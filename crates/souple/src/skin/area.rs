//! Volume and area at once (ROH-67): displacements that gain a wanted volume and a wanted area, to first order.
//!
//! Rohmer 2011, appendix B.4. Of all displacements u with Σ u · G⁻¹ u least, where G says how much and along what a vertex gives way, those that
//! gain ΔV and ΔA are u = G (λ ∇V + μ ∇A), with
//!
//! D λ = ΔV AA − ΔA VA, D μ = ΔA VV − ΔV VA, D = VV AA − VA², VV = Σ ∇V · G ∇V, VA = Σ ∇V · G ∇A, AA = Σ ∇A · G ∇A.
//!
//! (The thesis swaps AA and VV, with which neither is met.) Of ∇A only what is along ∇V counts, ∇A = h ∇V with twice the mean curvature h, as vertices that slide along a surface
//! change how it is cut into triangles, and not its shape. On a sphere h is the same everywhere: D is 0, and nothing can be done.
//!
//! Where a skin is creased h jumps from vertex to vertex, and so would the displacements. So h is smoothed along the surface, and λ and μ are those of the two equations
//! with it: both are met to first order as before, by smoother displacements that are not quite the least ones.
//!
//! G is that of the bulges as long as they can do it: a whole step that turns no triangle over. Where a skin is creased they cannot: what is around the crease has no room, and is crumpled. Then all
//! of the skin gives way evenly, by steps that are shortened until they lead there.

use glam::{DMat3, DVec3};

use super::volume::{Enclosure, Yielding, twice_area};

/// Steps that bring a volume back along a field: each has about the square of the error of the one before.
const REFILLS: usize = 4;

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

/// What of ∇A is along ∇V, as a factor of it, and smoothed: mean curvature of the surface. `passes` of 0 leave it as it is.
pub fn curvature(
    surface: &Enclosure,
    x: &[DVec3],
    of_volume: &[DVec3],
    of_area: &[DVec3],
    passes: usize,
) -> Vec<f64> {
    let factor = |(v, a): (&DVec3, &DVec3)| {
        let square = v.length_squared();
        if square > 0.0 { a.dot(*v) / square } else { 0.0 }
    };
    let mut all: Vec<f64> = of_volume.iter().zip(of_area).map(factor).collect();
    if passes == 0 {
        return all;
    }
    // A crumpled surface has vertices around which areas cancel: what is there is no curvature of anything.
    let triangles = &surface.triangles()[..surface.own_triangles()];
    let areas = surface.vertex_areas(x);
    for ((own, v), area) in all.iter_mut().zip(of_volume).zip(&areas) {
        *own *= if *area > 0.0 { (v.length() / area).min(1.0) } else { 0.0 };
    }
    let (mut sums, mut weights) = (Vec::new(), Vec::new());
    for _ in 0..passes {
        sums.clear();
        sums.resize(x.len(), 0.0);
        weights.clear();
        weights.resize(x.len(), 0.0);
        for t in triangles {
            let [a, b, c] = t.map(|v| areas[v as usize]);
            let weight = a + b + c;
            let mean = t.iter().map(|&v| areas[v as usize] * all[v as usize]).sum::<f64>();
            for &v in t {
                sums[v as usize] += mean;
                weights[v as usize] += weight;
            }
        }
        for ((own, sum), weight) in all.iter_mut().zip(&sums).zip(&weights) {
            *own = if *weight > 0.0 { sum / weight } else { 0.0 };
        }
    }
    all
}

/// How vertices give way where joints bulge, each joint by its share of what is missing.
pub fn ease_of_joints(
    places: usize,
    shares: &[f64],
    yielding: &[Yielding],
    of_volume: &[DVec3],
    ease: &mut Vec<DMat3>,
) {
    ease.clear();
    ease.resize(places, DMat3::ZERO);
    for (share, yielding) in shares.iter().zip(yielding).filter(|(share, _)| **share != 0.0) {
        let amplitude = share.abs() / yielding.capacity(of_volume);
        if amplitude.is_finite() {
            for &(v, gamma) in &yielding.gamma {
                ease[v as usize] += yielding.ease * (amplitude * gamma);
            }
        }
    }
}

/// How vertices give way if all of a skin does so evenly: ∇V grows with the area around a vertex, so that each goes as far per area.
pub fn ease_all(surface: &Enclosure, x: &[DVec3], ease: &mut Vec<DMat3>) {
    let each = |area: f64| if area > 0.0 { DMat3::IDENTITY * (1.0 / area) } else { DMat3::ZERO };
    ease.clear();
    ease.extend(surface.vertex_areas(x).into_iter().map(each));
    ease.resize(surface.places(), DMat3::ZERO);
}

/// Brings a volume back along G ∇V.
pub fn refill(surface: &Enclosure, ease: &[DMat3], wanted: f64, x: &mut [DVec3], gradient: &mut Vec<DVec3>) {
    for _ in 0..REFILLS {
        let volume = surface.volume_and_gradient(x, gradient, |_, _, _| ());
        let capacity: f64 = gradient.iter().zip(ease).map(|(v, g)| v.dot(*g * *v)).sum();
        let share = (wanted - volume) / capacity;
        if !share.is_finite() {
            return;
        }
        let mut u: Vec<DVec3> = gradient.iter().zip(ease).map(|(v, g)| *g * *v * share).collect();
        surface.place_lids(&mut u);
        x.iter_mut().zip(&u).for_each(|(x, u)| *x += *u);
    }
}

/// Whether displacements turn a triangle over.
pub fn turns_over(surface: &Enclosure, before: &[DVec3], after: &[DVec3]) -> bool {
    let normal = |x: &[DVec3], t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| x[v as usize]);
        twice_area(a, b, c)
    };
    let triangles = &surface.triangles()[..surface.own_triangles()];
    triangles.iter().any(|t| normal(before, t).dot(normal(after, t)) < 0.0)
}

/// Displacements u = G (λ + μ h) ∇V that gain a volume and an area. False, and none, where no λ and μ do.
pub fn displace(
    ease: &[DMat3],
    of_volume: &[DVec3],
    of_area: &[DVec3],
    h: &[f64],
    [volume, area]: [f64; 2],
    u: &mut [DVec3],
) -> bool {
    // Rows: what both fields gain of the volume, and of the area.
    let (mut vv, mut vh, mut av, mut ah) = (0.0, 0.0, 0.0, 0.0);
    for (((g, v), a), h) in ease.iter().zip(of_volume).zip(of_area).zip(h) {
        let way = *g * *v;
        vv += v.dot(way);
        vh += h * v.dot(way);
        av += a.dot(way);
        ah += h * a.dot(way);
    }
    let d = vv * ah - vh * av;
    if d.is_nan() || d.abs() <= PARALLEL * (vv * ah).abs() {
        return false;
    }
    let [evenly, curved] = [(volume * ah - area * vh) / d, (area * vv - volume * av) / d];
    for (((g, v), h), u) in ease.iter().zip(of_volume).zip(h).zip(u) {
        *u = *g * ((evenly + curved * h) * *v);
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
        let h = curvature(&ball, &x, &v, &a, 0);
        assert!(!displace(&ease, &v, &a, &h, [0.0, 0.1], &mut u));
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
        fn volume_and_area_are_met(seed in 0u64..1000, volume in -1.0..1.0f64, area in -1.0..1.0f64, passes in 0usize..3) {
            let (surface, x) = lump(seed, 0.2);
            let (mut v, mut a) = (Vec::new(), Vec::new());
            surface.volume_and_gradient(&x, &mut v, |_, _, _| ());
            area_and_gradient(&surface, &x, &mut a);
            let ease: Vec<DMat3> = (0..x.len() as u64).map(|k| DMat3::IDENTITY * math::uniform(seed, k)).collect();
            let mut u = vec![DVec3::ZERO; x.len()];
            let h = curvature(&surface, &x, &v, &a, passes);
            prop_assert!(displace(&ease, &v, &a, &h, [volume, area], &mut u));
            let gained = |of: &[DVec3]| u.iter().zip(of).map(|(u, g)| u.dot(*g)).sum::<f64>();
            prop_assert!((gained(&v) - volume).abs() < 1e-9 && (gained(&a) - area).abs() < 1e-9);
            if passes == 0 {
                // The formula as it is above.
                let along = |k: usize| h[k] * v[k];
                let sum = |of: &dyn Fn(usize) -> f64| (0..x.len()).map(of).sum::<f64>();
                let vv = sum(&|k| v[k].dot(ease[k] * v[k]));
                let va = sum(&|k| v[k].dot(ease[k] * along(k)));
                let aa = sum(&|k| along(k).dot(ease[k] * along(k)));
                let d = vv * aa - va * va;
                for k in 0..x.len() {
                    let both = (volume * aa - area * va) * v[k] + (area * vv - volume * va) * along(k);
                    prop_assert!(u[k].distance(ease[k] * both / d) < 1e-9);
                }
            }
        }
    }
}
