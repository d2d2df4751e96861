//! Hinges of a sheet, the edges between two triangles, and fans, the triangles around a vertex that they join: what
//! [`super::star`] is made of.

use std::f64::consts::{PI, SQRT_2};

use glam::DVec3;

use crate::math::{atan2, cos, sin};

/// An edge between two triangles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hinge {
    /// Its ends, then the tips of its triangles.
    pub vertices: [u32; 4],
    pub triangles: [u32; 2],
    /// m.
    pub length: f64,
    /// The angle is the sum of these times the heights of `vertices`, 1/m.
    pub weights: [f64; 4],
    /// Angles of the surfaces of second derivative 1/m along the edge, across it and both; across it is towards the first tip. m.
    pub angles: DVec3,
}

impl Hinge {
    fn new(rest: &[DVec3], vertices: [u32; 4], triangles: [u32; 2]) -> Hinge {
        let [a, b, p, q] = vertices.map(|v| rest[v as usize]);
        let edge = b - a;
        let length = edge.length();
        // Each triangle in its own plane: how far its tip is along the edge and off it.
        let along = [p, q].map(|tip| (tip - a).dot(edge) / length);
        let off = [p, q].map(|tip| (tip - a).cross(edge).length() / length);
        let mut weights = [0.0; 4];
        let mut angles = DVec3::new(0.0, 0.5 * (off[0] + off[1]), (along[0] - along[1]) / SQRT_2);
        for k in 0..2 {
            // Seen from a tip at height h above the edge, the angle is the height out of the plane over h.
            weights[2 + k] += 1.0 / off[k];
            weights[0] -= (1.0 - along[k] / length) / off[k];
            weights[1] -= along[k] / length / off[k];
            angles.x += 0.5 * along[k] * (along[k] - length) / off[k];
        }
        Hinge { vertices, triangles, length, weights, angles }
    }
}

/// Hinges of a mesh, and which of them is at each side of each triangle; side k is opposite corner k.
pub(super) struct Hinges<'a> {
    pub rest: &'a [DVec3],
    pub triangles: &'a [[u32; 3]],
    pub hinges: Vec<Hinge>,
    pub at: Vec<[Option<u32>; 3]>,
}

impl Hinges<'_> {
    pub fn new<'a>(rest: &'a [DVec3], triangles: &'a [[u32; 3]]) -> Hinges<'a> {
        // Sides (low, high, triangle), so that the two of an edge come one after the other.
        let mut sides: Vec<(u32, u32, u32)> = (0u32..)
            .zip(triangles)
            .flat_map(|(t, &[a, b, c])| [(a, b, t), (b, c, t), (c, a, t)])
            .map(|(i, j, t)| (i.min(j), i.max(j), t))
            .collect();
        sides.sort_unstable();
        let spans = |t: u32| spans_a_plane(triangles[t as usize].map(|v| rest[v as usize]));
        let mut hinges = Vec::new();
        let mut at = vec![[None; 3]; triangles.len()];
        for run in sides.chunk_by(|s, t| (s.0, s.1) == (t.0, t.1)) {
            let [(a, b, s), (_, _, t)] = *run else { continue };
            if s == t || !spans(s) || !spans(t) {
                continue;
            }
            let corner = |t: u32| triangles[t as usize].iter().position(|&v| v != a && v != b);
            if let (Some(k), Some(l)) = (corner(s), corner(t)) {
                let (p, q) = (triangles[s as usize][k], triangles[t as usize][l]);
                if p != q {
                    at[s as usize][k] = Some(hinges.len() as u32);
                    at[t as usize][l] = Some(hinges.len() as u32);
                    hinges.push(Hinge::new(rest, [a, b, p, q], [s, t]));
                }
            }
        }
        Hinges { rest, triangles, hinges, at }
    }

    /// The corner of a triangle that is neither of two others.
    fn third(&self, t: u32, v: u32, w: u32) -> Option<u32> {
        self.triangles[t as usize].iter().copied().find(|&c| c != v && c != w)
    }

    /// The hinge between `v` and `w` at a triangle, and the triangle on its other side.
    fn across(&self, t: u32, v: u32, w: u32) -> Option<(u32, u32)> {
        let k = self.triangles[t as usize].iter().position(|&c| c != v && c != w)?;
        let hinge = self.at[t as usize][k]?;
        let [first, second] = self.hinges[hinge as usize].triangles;
        Some((hinge, if first == t { second } else { first }))
    }

    /// Finds the triangles around `v` that hinges join to `t`, in order.
    pub fn find_fan(&self, v: u32, t: u32, fan: &mut Fan) {
        fan.triangles.clear();
        fan.spokes.clear();
        fan.closed = false;
        let Some(mut near) = self.third(t, v, v) else { return };
        // Back to where it begins, or once around.
        let mut first = t;
        while let Some((_, next)) = self.across(first, v, near)
            && let Some(w) = self.third(next, v, near)
        {
            (first, near) = (next, w);
            if first == t {
                break;
            }
        }
        let mut t = first;
        let from = |w: u32| self.rest[w as usize] - self.rest[v as usize];
        fan.radii[0] = from(near).length();
        while let Some(far) = self.third(t, v, near) {
            let (a, b) = (from(near), from(far));
            fan.triangles.push((t, a.dot(b), a.cross(b).length()));
            fan.radii[1] = b.length();
            let Some((hinge, next)) = self.across(t, v, far) else { break };
            fan.spokes.push(hinge);
            if next == first {
                fan.closed = true;
                break;
            }
            (t, near) = (next, far);
        }
        fan.lay_flat();
    }
}

/// Triangles around a vertex.
#[derive(Default)]
pub(super) struct Fan {
    /// With the inner and outer product of their sides at the vertex, m².
    pub triangles: Vec<(u32, f64, f64)>,
    /// Where the edge after each of them goes when all are laid into a plane: cosine and sine.
    pub directions: Vec<(f64, f64)>,
    /// Hinges between each of them and the next.
    pub spokes: Vec<u32>,
    /// Whether the last is followed by the first.
    pub closed: bool,
    /// Lengths of the first edge and of the last, m.
    pub radii: [f64; 2],
}

impl Fan {
    /// Finds the directions. The top of a cone is flattened evenly.
    fn lay_flat(&mut self) {
        self.directions.clear();
        let (mut cosine, mut sine) = (1.0, 0.0);
        for (_, inner, outer) in &self.triangles {
            let (x, y) = (cosine * inner - sine * outer, cosine * outer + sine * inner);
            let length = (x * x + y * y).sqrt();
            (cosine, sine) = (x / length, y / length);
            self.directions.push((cosine, sine));
        }
        if self.closed && (cosine - 1.0).abs() + sine.abs() > 1e-9 {
            let angles = || self.triangles.iter().map(|(_, inner, outer)| atan2(*outer, *inner));
            let scale = 2.0 * PI / angles().sum::<f64>();
            let mut angle = 0.0;
            for (direction, own) in self.directions.iter_mut().zip(angles()) {
                angle += own * scale;
                *direction = (cos(angle), sin(angle));
            }
        }
    }
}

/// Whether a triangle is more than a line: the height of a tip above an edge is divided by.
fn spans_a_plane([a, b, c]: [DVec3; 3]) -> bool {
    let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
    (b - a).cross(c - a).length() > 1e-9 * longest
}
