//! Pressure and volume in the same sweep: the energy of [`crate::energy::Volume`] as one constraint on all vertices.
//!
//! With the gradient g = ∂V/∂x and the pressure p = p₀ − K (V/V₀ − 1) at the end of the substep, vertices move by
//! h² w p g, and so V by h² p S, S = Σ w |g|². Solved for the pressure: p = (p₀ − K (V/V₀ − 1)) / (1 + h² K S/V₀). Without K
//! that is the impulse of a constant pressure, h² w p₀ g; for large K it is −(V − V₀) w g / S, which makes V the volume at
//! rest. Visited last of all but contact, so that nothing else takes from the volume what it gave.
//!
//! Positions are taken in 32 bits from the middle of the body, sums in 64, over fixed blocks.

use crate::energy;
use crate::lanes::Point;
use crate::mesh::{Rows, Topology, bounds};
use crate::parallel::Parallel;

/// What is inside a body, for packed vertices.
#[derive(Clone, Debug)]
pub struct Volume {
    law: energy::Volume,
    triangles: Vec<[u32; 3]>,
    /// Triangles of each vertex.
    around: Rows,
    /// No vertex moves further in a visit, m: a body that has collapsed to a speck would be thrown about.
    most: f32,
    /// Twice the area vector of each triangle, m².
    normals: Vec<[f32; 3]>,
    /// w g of each vertex, m²/kg.
    moves: Vec<[f32; 3]>,
    partial: Vec<f64>,
}

impl Volume {
    /// Packs the triangles of a body; `place` is where each vertex went.
    pub fn new(law: energy::Volume, topology: &Topology, place: &[u32]) -> Volume {
        let triangles: Vec<[u32; 3]> =
            topology.triangles.iter().map(|t| t.map(|v| place[v as usize])).collect();
        let corners =
            triangles.iter().enumerate().flat_map(|(t, tri)| tri.iter().map(move |&v| (v, t as u32)));
        let (low, high) = bounds(&topology.rest_positions);
        Volume {
            law,
            around: Rows::from_pairs(place.len(), corners),
            most: (0.125 * (high - low).max_element()) as f32,
            normals: vec![[0.0; 3]; triangles.len()],
            moves: vec![[0.0; 3]; place.len()],
            triangles,
            partial: Vec::new(),
        }
    }

    /// One visit. `base` are positions when the frame began, from the middle of the body, m.
    pub fn visit(&mut self, parallel: &Parallel, h: f32, base: &[Point], displacements: &mut [Point]) {
        let Volume { law, triangles, around, most, normals, moves, partial } = self;
        let at = |v: u32| {
            let (base, d) = (&base[v as usize], &displacements[v as usize]);
            [base[0] + d[0], base[1] + d[1], base[2] + d[2]]
        };
        let sixfold = parallel.blocks_sum(normals, partial, |start, normals| {
            let mut sum = 0.0;
            for (normal, &[a, b, c]) in normals.iter_mut().zip(&triangles[start..]) {
                let (a, b, c) = (at(a), at(b), at(c));
                *normal = cross(minus(b, a), minus(c, a));
                sum += dot(a, *normal);
            }
            sum
        });
        let placed = &*displacements;
        let normals = &*normals;
        let softness = parallel.blocks_sum(moves, partial, |start, moves| {
            let mut sum = 0.0;
            for (k, out) in moves.iter_mut().enumerate() {
                let mut g = [0.0f32; 3];
                for &t in around.row(start + k) {
                    let n = &normals[t as usize];
                    g = [g[0] + n[0], g[1] + n[1], g[2] + n[2]];
                }
                let w = placed[start + k][3];
                let g = g.map(|c| c * (1.0 / 6.0));
                *out = g.map(|c| c * w);
                sum += dot(g, *out);
            }
            sum
        });
        let h2 = f64::from(h) * f64::from(h);
        let stiffness = law.bulk_modulus / law.rest_volume;
        let share = h2 * law.pressure_at(sixfold / 6.0) / (1.0 + h2 * stiffness * softness);
        let (share, most) = (share as f32, *most);
        let moves = &*moves;
        parallel.blocks(displacements, |start, block| {
            for (p, m) in block.iter_mut().zip(&moves[start..]) {
                let m = m.map(|c| c * share);
                let length = (m[0] * m[0] + m[1] * m[1] + m[2] * m[2]).sqrt();
                let kept = if length > most { most / length } else { 1.0 };
                for c in 0..3 {
                    p[c] += m[c] * kept;
                }
            }
        });
    }
}

fn minus(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// In 64 bits: thousands of these are summed.
fn dot(a: [f32; 3], b: [f32; 3]) -> f64 {
    let product = |c: usize| f64::from(a[c]) * f64::from(b[c]);
    product(0) + product(1) + product(2)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::mesh::{enclosed_volume, generate};
    use crate::scene::Ball;

    /// A ball of 1 kg, its rest volume, and points that are shaken a little from it.
    fn shaken() -> (Topology, Vec<Point>, Vec<Point>) {
        let mesh = generate::ball(&Ball { radius: 0.4, subdivisions: 2 });
        let n = mesh.positions.len();
        let mut topology = Topology {
            rest_positions: mesh.positions,
            masses: vec![1.0 / n as f64; n],
            triangles: mesh.triangles,
            ..Topology::default()
        };
        topology.rebuild_derived();
        let r = |i: usize, k: u64| 0.04 * (crate::math::uniform(5, 3 * i as u64 + k) - 0.5);
        let base: Vec<Point> =
            topology.rest_positions.iter().map(|p| [p.x as f32, p.y as f32, p.z as f32, 0.0]).collect();
        let w = n as f32;
        let moved = (0..n).map(|i| [r(i, 0) as f32, r(i, 1) as f32, r(i, 2) as f32, w]).collect();
        (topology, base, moved)
    }

    fn volume_of(topology: &Topology, base: &[Point], displacements: &[Point]) -> f64 {
        let at = |(b, d): (&Point, &Point)| {
            let c = |k: usize| f64::from(b[k]) + f64::from(d[k]);
            DVec3::new(c(0), c(1), c(2))
        };
        let x: Vec<DVec3> = base.iter().zip(displacements).map(at).collect();
        enclosed_volume(&x, &topology.triangles)
    }

    fn visited(law: energy::Volume, h: f32) -> (f64, f64, Vec<[f64; 3]>) {
        let (topology, base, mut displacements) = shaken();
        let place: Vec<u32> = (0..base.len() as u32).collect();
        let before = volume_of(&topology, &base, &displacements);
        let old = displacements.clone();
        Volume::new(law, &topology, &place).visit(&Parallel::default(), h, &base, &mut displacements);
        let moves = old.iter().zip(&displacements);
        let moves = moves.map(|(a, b)| [0, 1, 2].map(|c| f64::from(b[c]) - f64::from(a[c]))).collect();
        (before, volume_of(&topology, &base, &displacements), moves)
    }

    #[test]
    fn a_stiff_inside_restores_its_volume_in_one_visit() {
        let (topology, ..) = shaken();
        let rest_volume = 1.02 * enclosed_volume(&topology.rest_positions, &topology.triangles);
        let law = energy::Volume { pressure: 0.0, bulk_modulus: 1e15, rest_volume };
        let (before, after, _) = visited(law, 1e-3);
        let (was, is) = (before / rest_volume - 1.0, after / rest_volume - 1.0);
        // Newton's step on a cubic: what is left is the square of the error, over the volume.
        assert!(was.abs() > 0.01 && is.abs() < was * was, "{was} {is}");
    }

    #[test]
    fn without_a_modulus_it_is_the_impulse_of_the_pressure() {
        let (topology, ..) = shaken();
        let rest_volume = enclosed_volume(&topology.rest_positions, &topology.triangles);
        let (pressure, h) = (300.0, 1e-3f32);
        let (before, after, moves) = visited(energy::Volume { pressure, bulk_modulus: 0.0, rest_volume }, h);
        // Work of the pressure to first order: Σ m |Δx|² / h² = p ΔV; the radius grows by 1.5e-3 of itself.
        let mass = 1.0 / moves.len() as f64;
        let squares: f64 = moves.iter().flatten().map(|m| m * m).sum();
        let work = mass * squares / f64::from(h * h);
        let more = after - before;
        assert!((work / (pressure * more) - 1.0).abs() < 5e-3, "{work} {}", pressure * more);
        // Nothing pushes the whole.
        let size: f64 = moves.iter().flatten().map(|m| m.abs()).sum();
        for c in 0..3 {
            assert!(moves.iter().map(|m| m[c]).sum::<f64>().abs() < 1e-6 * size);
        }
    }

    #[test]
    fn a_speck_is_not_thrown_about() {
        let (topology, base, displacements) = shaken();
        let place: Vec<u32> = (0..base.len() as u32).collect();
        let law = energy::Volume { pressure: 1e6, bulk_modulus: 1e12, rest_volume: 0.2 };
        for size in [0.0f32, 1e-12, 1e-6, 1e-3, 0.1] {
            let base: Vec<Point> = base.iter().map(|p| p.map(|c| c * size)).collect();
            let mut moved: Vec<Point> = displacements.iter().map(|d| [0.0, 0.0, 0.0, d[3]]).collect();
            Volume::new(law, &topology, &place).visit(&Parallel::default(), 1e-3, &base, &mut moved);
            assert!(moved.iter().all(|p| p[..3].iter().all(|c| c.abs() <= 0.1001)), "{size}: {moved:?}");
        }
    }
}
