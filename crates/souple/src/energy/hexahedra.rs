//! Corotational hexahedra (FAU-20): box-shaped cells that turn with the body.
//!
//! The edges of a cell, averaged in each of its three directions, are its mean deformation F̄; a rotation R is taken from it, the nearest one (polar)
//! or one along the averaged edges (QR, the seed's). In that frame the corners are y = Rᵀ (x − c), and what they have moved by, e = y − y₀, costs
//! ½ e·K e with the matrix of the cell ([`super::cell`]), which was integrated once.
//!
//! The force is the exact gradient: as a corner moves, the frame turns by ω, and with g = K e and the torque τ = Σ y × g that frame would leave over,
//! f = −R (g − what ω·τ changes by). So there is no ghost torque (FAU-02), net force and torque are 0, and a cell that is inside
//! out is pushed back (FAU-03), as the frame is never a mirror. The matrix that solvers get is R K Rᵀ, which is exact at rest and positive semi-definite.
//!
//! Rayleigh's stiffness damping is β times that matrix. Cells share matrices: those that are full have one for all of them. Not offered: neo-Hookean
//! cells.

use glam::{DMat3, DVec3};

use super::cell::{CORNERS, CellMatrix, ROWS, corner, gradients};
use super::tetrahedra::inverse_triangle;
use super::{Configuration, Energy, PairBlock, Part};
use crate::math::{polar, qr};
use crate::scene::SolidLaw;

/// The hexahedra of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Hexahedra {
    /// Corners of each, at x, y, z by their bits 0, 1, 2.
    pub corners: Vec<[u32; 8]>,
    /// The kind of each: an index of `kinds`.
    pub kind: Vec<u32>,
    /// Kinds of cells.
    pub kinds: Vec<CellKind>,
    /// Which frame they turn with: polar or QR.
    pub law: SolidLaw,
    /// Rayleigh's stiffness damping β, s.
    pub damping: f64,
}

/// What cells of one size and filling share.
#[derive(Clone, Debug, PartialEq)]
pub struct CellKind {
    /// Edges at rest, m.
    pub size: DVec3,
    /// Stiffness, N/m.
    pub matrix: CellMatrix,
}

type Corners = [DVec3; CORNERS];

/// A cell in the frame that turns with it.
struct Turned {
    /// The frame R.
    frame: DMat3,
    /// What of the mean deformation it does not explain: symmetric if it is the nearest rotation, a triangle if it is along edges.
    rest: DMat3,
    /// Gradients of the corners in the middle of the cell, 1/m.
    slopes: Corners,
    /// Corners from their middle, in the frame, m.
    y: Corners,
    /// What each corner pulls back with in the frame, K e, N.
    pull: Corners,
    /// ½ e·K e, J.
    energy: f64,
}

/// The frame of a cell with these corners, and what is left of its mean deformation.
fn frame_of(law: SolidLaw, slopes: &Corners, x: &Corners) -> (DMat3, DMat3) {
    // From one corner: far from the origin digits would be lost.
    let mean = slopes.iter().zip(x).fold(DMat3::ZERO, |f, (g, x1)| {
        let edge = *x1 - x[0];
        f + DMat3::from_cols(edge * g.x, edge * g.y, edge * g.z)
    });
    match law {
        SolidLaw::Qr => qr(mean),
        SolidLaw::Polar | SolidLaw::NeoHookean => {
            let r = polar(mean);
            (r, r.transpose() * mean)
        }
    }
}

fn turned(kind: &CellKind, law: SolidLaw, x: Corners) -> Turned {
    let slopes = gradients(kind.size, DVec3::splat(0.5));
    let (frame, rest) = frame_of(law, &slopes, &x);
    let back = frame.transpose();
    let middle = x.iter().fold(DVec3::ZERO, |sum, x1| sum + (*x1 - x[0])) / CORNERS as f64 + x[0];
    let y: Corners = std::array::from_fn(|c| back * (x[c] - middle));
    let moved: Corners = std::array::from_fn(|c| y[c] - (corner(c) - 0.5) * kind.size);
    let pull = product(&kind.matrix, &moved);
    let energy = 0.5 * moved.iter().zip(&pull).map(|(e, g)| e.dot(*g)).sum::<f64>();
    Turned { frame, rest, slopes, y, pull, energy }
}

/// K d.
#[inline(always)]
fn product(matrix: &CellMatrix, d: &Corners) -> Corners {
    let mut out = [0.0; ROWS];
    // By columns, which are rows: the matrix is symmetric, and so the loop inside is over neighbours in memory.
    for (row, d) in matrix.rows.iter().zip(d.iter().flat_map(|d| d.to_array())) {
        for (out, k) in out.iter_mut().zip(row) {
            *out += k * d;
        }
    }
    std::array::from_fn(|c| DVec3::from_slice(&out[3 * c..]))
}

impl Turned {
    /// Forces on the corners, N: −∂E/∂x, with the turn of the frame in it.
    fn forces(&self, law: SolidLaw) -> Corners {
        let torque: DVec3 = self.y.iter().zip(&self.pull).map(|(y, g)| y.cross(*g)).sum();
        let turns: Corners = match law {
            SolidLaw::Qr => {
                let inverse = inverse_triangle(self.rest).transpose();
                std::array::from_fn(|c| {
                    let t = inverse * self.slopes[c];
                    DVec3::new(0.0, torque.z * t.x, torque.x * t.y - torque.y * t.x)
                })
            }
            SolidLaw::Polar | SolidLaw::NeoHookean => {
                let axis = per_turn(self.rest, torque);
                std::array::from_fn(|c| axis.cross(self.slopes[c]))
            }
        };
        std::array::from_fn(|c| self.frame * (turns[c] - self.pull[c]))
    }
}

/// (tr(S) I − S)⁻¹ τ, the change of energy per turn that stretches without turn would have to make; 0 where the frame may jump, as in a
/// cell that is inside out.
fn per_turn(stretch: DMat3, torque: DVec3) -> DVec3 {
    let trace = stretch.x_axis.x + stretch.y_axis.y + stretch.z_axis.z;
    let g = DMat3::from_diagonal(DVec3::splat(trace)) - stretch;
    let minor = g.x_axis.x * g.y_axis.y - g.x_axis.y * g.y_axis.x;
    let determinant = g.determinant();
    let is_safe = g.x_axis.x > LEAST && minor > LEAST * LEAST && determinant > LEAST * LEAST * LEAST;
    if is_safe { g.inverse() * torque } else { DVec3::ZERO }
}

/// Frames of cells that are nearly flat are not followed.
const LEAST: f64 = 1e-3;

/// Numbers per cell in a linearisation: its frame.
const STRIDE: usize = 9;

/// Numbers before those: what stiffness is multiplied with, and damping.
const HEAD: usize = 2;

impl Hexahedra {
    fn cells(&self) -> impl Iterator<Item = (&[u32; 8], &CellKind)> {
        self.corners.iter().zip(&self.kind).map(|(corners, kind)| (corners, &self.kinds[*kind as usize]))
    }

    fn linearised<'e>(
        &'e self,
        elements: &'e [f64],
    ) -> impl Iterator<Item = (&'e [u32; 8], &'e CellKind, DMat3)> {
        let frames = elements.get(HEAD..).unwrap_or(&[]).as_chunks::<STRIDE>().0;
        self.cells().zip(frames).map(|((corners, kind), r)| (corners, kind, DMat3::from_cols_array(r)))
    }
}

fn gather(corners: &[u32; 8], x: &[DVec3]) -> Corners {
    corners.map(|v| x[v as usize])
}

/// The block of two corners of a matrix, in the frame R.
fn block(matrix: &CellMatrix, r: DMat3, a: usize, b: usize) -> DMat3 {
    let column = |k: usize| {
        DVec3::new(
            matrix.rows[3 * a][3 * b + k],
            matrix.rows[3 * a + 1][3 * b + k],
            matrix.rows[3 * a + 2][3 * b + k],
        )
    };
    r * DMat3::from_cols(column(0), column(1), column(2)) * r.transpose()
}

impl Energy for Hexahedra {
    fn name(&self) -> &'static str {
        "hexahedra"
    }

    fn joins_particles(&self) -> bool {
        true
    }

    fn value(&self, q: &Configuration) -> f64 {
        self.cells().map(|(corners, kind)| turned(kind, self.law, gather(corners, q.x)).energy).sum()
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        for (corners, kind) in self.cells() {
            let cell = turned(kind, self.law, gather(corners, q.x));
            let mut forces = cell.forces(self.law);
            if self.damping > 0.0 {
                let (frame, back) = (cell.frame, cell.frame.transpose());
                let rub = product(&kind.matrix, &gather(corners, q.v).map(|v| back * v));
                forces.iter_mut().zip(rub).for_each(|(f, rub)| *f -= frame * rub * self.damping);
            }
            for (&v, force) in corners.iter().zip(forces) {
                f[v as usize] += force;
            }
        }
    }

    fn linearise(&self, q: &Configuration, hx: f64, hv: f64, elements: &mut Vec<f64>) {
        elements.clear();
        elements.extend([hx, hv * self.damping]);
        for (corners, kind) in self.cells() {
            let slopes = gradients(kind.size, DVec3::splat(0.5));
            let (frame, _) = frame_of(self.law, &slopes, &gather(corners, q.x));
            elements.extend(frame.to_cols_array());
        }
    }

    fn add_product(&self, _q: &Configuration, elements: &[f64], part: Part, d: &[DVec3], out: &mut [DVec3]) {
        let scale = match part {
            Part::Stiffness => elements[0],
            Part::StiffnessAndDamping => elements[0] + elements[1],
        };
        for (corners, kind, r) in self.linearised(elements) {
            let back = r.transpose();
            let change = product(&kind.matrix, &gather(corners, d).map(|d| back * d));
            for (&v, change) in corners.iter().zip(change) {
                out[v as usize] += r * change * scale;
            }
        }
    }

    fn add_diagonal(&self, _q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        let scale = elements[0] + elements[1];
        for (corners, kind, r) in self.linearised(elements) {
            for (c, &v) in corners.iter().enumerate() {
                diagonal[v as usize] += block(&kind.matrix, r, c, c) * scale;
            }
        }
    }

    fn add_pairs(&self, _q: &Configuration, elements: &[f64], pairs: &mut Vec<PairBlock>) {
        let scale = elements[0] + elements[1];
        for (corners, kind, r) in self.linearised(elements) {
            for a in 0..CORNERS {
                for b in a + 1..CORNERS {
                    let block = block(&kind.matrix, r, a, b) * scale;
                    pairs.push(PairBlock { i: corners[a], j: corners[b], block });
                }
            }
        }
    }
}
