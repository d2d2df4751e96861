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
//! A cell that has flowed ([`super::plastic`]) is taken for one whose mean deformation is F̄ Fₚ⁻¹ instead of F̄, with all else of its shape as it is: its corners
//! are put to x + F̄ (Fₚ⁻¹ − I) y₀ first, which is linear, and what is found there goes back by the transpose. So forces stay exact. Cells flow as a
//! whole, by their mean strain: what bends needs several across.
//!
//! Rayleigh's stiffness damping is β times that matrix. Cells share matrices: those that are full have one for all of them. Not offered: neo-Hookean
//! cells.

use glam::{DMat3, DVec3};

use super::cell::{CORNERS, CellMatrix, Inside, corner, gradients};
use super::cell_kernels::{self, Cells};
use super::plastic::{Yielding, flow};
use super::tetrahedra::{hooke, inverse_triangle};
use super::{Configuration, Energy, Felt, PairBlock, Part, at_corners};
use crate::math::{cofactors, polar, qr};
use crate::mesh::Topology;
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
    /// When each cell gives way for good, and its shear modulus, Pa; empty if none ever does.
    pub yielding: Vec<(Yielding, f64)>,
}

/// What cells of one size and filling share.
#[derive(Clone, Debug, PartialEq)]
pub struct CellKind {
    /// Edges at rest, m.
    pub size: DVec3,
    /// Stiffness, N/m.
    pub matrix: CellMatrix,
    /// What is in it, which stress and strain are told by.
    pub content: Content,
}

/// What fills a cell, on average.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    /// Volume that is filled, m³.
    pub volume: f64,
    /// Lamé's first modulus λ, Pa.
    pub lambda: f64,
    /// Shear modulus μ, Pa.
    pub mu: f64,
    /// What bends inside.
    pub inside: Inside,
    /// The middle of what is filled, from 0 to 1, where some of the cell is empty: its corners may be far from anything that feels.
    pub middle: Option<DVec3>,
}

pub(super) type Corners = [DVec3; CORNERS];

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
    /// What they have moved by there, e, m.
    moved: Corners,
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
    turned_by(kind, frame, rest, slopes, x)
}

/// The same with a frame that is known, and what it does not explain.
#[inline(always)]
fn turned_by(kind: &CellKind, frame: DMat3, rest: DMat3, slopes: Corners, x: Corners) -> Turned {
    let back = frame.transpose();
    let middle = x.iter().fold(DVec3::ZERO, |sum, x1| sum + (*x1 - x[0])) / CORNERS as f64 + x[0];
    let y: Corners = std::array::from_fn(|c| back * (x[c] - middle));
    let moved: Corners = std::array::from_fn(|c| y[c] - (corner(c) - 0.5) * kind.size);
    let pull = kind.matrix.packed.times(&moved);
    let energy = 0.5 * moved.iter().zip(&pull).map(|(e, g)| e.dot(*g)).sum::<f64>();
    Turned { frame, rest, slopes, y, moved, pull, energy }
}

/// Forces on the corners of a cell whose frame is known, N, with damping by these velocities.
#[inline(always)]
pub(super) fn forces_in_frame(
    kind: &CellKind,
    law: SolidLaw,
    frame: DMat3,
    x: Corners,
    damping: Option<(Corners, f64)>,
) -> Corners {
    let (slopes, back) = (gradients(kind.size, DVec3::splat(0.5)), frame.transpose());
    // Of both frames, the nearest rotation and that along edges, it is what the frame leaves of the mean deformation.
    let rest = back * sum_of_dyads(x.map(|x1| x1 - x[0]), slopes);
    let mut forces = turned_by(kind, frame, rest, slopes, x).forces(law);
    if let Some((v, damping)) = damping {
        let rub = kind.matrix.packed.times(&v.map(|v| back * v));
        forces.iter_mut().zip(rub).for_each(|(f, rub)| *f -= frame * rub * damping);
    }
    forces
}

impl Turned {
    /// Forces on the corners, N: −∂E/∂x, with the turn of the frame in it.
    #[inline(always)]
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
    if is_safe(g.x_axis.x, minor, determinant) { g.inverse() * torque } else { DVec3::ZERO }
}

/// Whether a matrix with these leading minors is positive, and not nearly 0 in any direction.
#[inline(always)]
pub(super) fn is_safe(first: f64, second: f64, determinant: f64) -> bool {
    first > LEAST && second > LEAST * LEAST && determinant > LEAST * LEAST * LEAST
}

/// Frames of cells that are nearly flat are not followed.
const LEAST: f64 = 1e-3;

/// Numbers per cell in a linearisation: its frame.
const STRIDE: usize = 9;

/// Numbers before those: what stiffness is multiplied with, and damping.
const HEAD: usize = 2;

/// The frames of a linearisation.
fn frames_of(elements: &[f64]) -> &[[f64; STRIDE]] {
    elements.get(HEAD..).unwrap_or(&[]).as_chunks().0
}

impl Hexahedra {
    /// The cells as kernels take them, with what they have flowed to.
    fn packed<'e>(&'e self, plastic: &'e [DMat3]) -> Cells<'e> {
        Cells { corners: &self.corners, kind: &self.kind, kinds: &self.kinds, plastic }
    }

    /// Adds forces, with damping times that factor, in frames that are known.
    fn add_forces(&self, q: &Configuration, elements: &[f64], damping: f64, f: &mut [DVec3]) {
        let (frames, cells) = (frames_of(elements), self.packed(q.plastic));
        let damping = (damping > 0.0).then_some((q.v, damping));
        at_corners::add(
            q,
            |e| self.corners[e],
            self.corners.len(),
            f,
            |first, out| {
                cell_kernels::forces(cells.from(first), self.law, &frames[first..], q.x, damping, out);
            },
        );
    }

    fn cells(&self) -> impl Iterator<Item = (&[u32; 8], &CellKind)> {
        self.corners.iter().zip(&self.kind).map(|(corners, kind)| (corners, &self.kinds[*kind as usize]))
    }

    fn linearised<'e>(
        &'e self,
        plastic: &'e [DMat3],
        elements: &'e [f64],
    ) -> impl Iterator<Item = (&'e [u32; 8], &'e CellKind, Option<Unflow>, DMat3)> {
        let frames = frames_of(elements);
        self.flowed(plastic).zip(frames).map(|((corners, kind, unflow), r)| {
            let r = DMat3::from_cols_array(r);
            (corners, kind, unflow, r)
        })
    }

    /// Cells, and how those that have flowed are put back.
    fn flowed<'e>(
        &'e self,
        plastic: &'e [DMat3],
    ) -> impl Iterator<Item = (&'e [u32; 8], &'e CellKind, Option<Unflow>)> {
        let plastic = plastic.iter().map(|p| Some(*p).filter(|p| *p != DMat3::IDENTITY));
        self.cells().zip(plastic.chain(std::iter::repeat(None))).map(|((corners, kind), plastic)| {
            let unflow = plastic.map(|plastic| Unflow::new(kind, plastic));
            (corners, kind, unflow)
        })
    }
}

/// What a cell takes its corners for.
fn seen(unflow: &Option<Unflow>, x: Corners) -> Corners {
    unflow.as_ref().map_or(x, |unflow| unflow.apply(x))
}

/// What comes back from there.
fn felt(unflow: &Option<Unflow>, f: Corners) -> Corners {
    unflow.as_ref().map_or(f, |unflow| unflow.transposed(f))
}

fn gather(corners: &[u32; 8], x: &[DVec3]) -> Corners {
    corners.map(|v| x[v as usize])
}

/// How a cell that has flowed is put back into the shape it was made with: corner c goes to x_c + Σ w_cd x_d.
pub(super) struct Unflow {
    /// (Fₚ⁻¹ − I) y₀ of each corner, m.
    shifts: Corners,
    slopes: Corners,
}

impl Unflow {
    pub(super) fn new(kind: &CellKind, plastic: DMat3) -> Unflow {
        let back = cofactors(plastic).transpose() - DMat3::IDENTITY;
        let shifts = std::array::from_fn(|c| back * ((corner(c) - 0.5) * kind.size));
        Unflow { shifts, slopes: gradients(kind.size, DVec3::splat(0.5)) }
    }

    /// Places or displacements of the corners.
    pub(super) fn apply(&self, x: Corners) -> Corners {
        // From one corner, as weights sum to nothing.
        let mean = sum_of_dyads(x.map(|x1| x1 - x[0]), self.slopes);
        std::array::from_fn(|c| x[c] + mean * self.shifts[c])
    }

    /// Forces on the corners.
    pub(super) fn transposed(&self, f: Corners) -> Corners {
        let mean = sum_of_dyads(f, self.shifts);
        std::array::from_fn(|c| f[c] + mean * self.slopes[c])
    }

    /// Blocks of pairs of corners, K → Qᵀ K Q.
    fn condense(&self, block: impl Fn(usize, usize) -> DMat3) -> Vec<[DMat3; CORNERS]> {
        let weight = |c: usize, d: usize| f64::from(u8::from(c == d)) + self.shifts[c].dot(self.slopes[d]);
        let right: Vec<[DMat3; CORNERS]> = (0..CORNERS)
            .map(|a| {
                let row: [DMat3; CORNERS] = std::array::from_fn(|c| block(a, c));
                std::array::from_fn(|b| (0..CORNERS).map(|c| row[c] * weight(c, b)).sum())
            })
            .collect();
        let sum = |a: usize, b: usize| (0..CORNERS).map(|c| right[c][b] * weight(c, a)).sum();
        (0..CORNERS).map(|a| std::array::from_fn(|b| sum(a, b))).collect()
    }
}

/// Σ a bᵀ.
fn sum_of_dyads(a: Corners, b: Corners) -> DMat3 {
    a.into_iter().zip(b).fold(DMat3::ZERO, |m, (a, b)| m + DMat3::from_cols(a * b.x, a * b.y, a * b.z))
}

/// The block of two corners of a matrix as products have it, in the frame R.
fn block(matrix: &CellMatrix, r: DMat3, a: usize, b: usize) -> DMat3 {
    r * matrix.block(a, b) * r.transpose()
}

impl Energy for Hexahedra {
    fn name(&self) -> &'static str {
        "hexahedra"
    }

    fn joins_particles(&self) -> bool {
        true
    }

    fn plastic_elements(&self) -> usize {
        self.yielding.len()
    }

    fn flow(&self, _topology: &Topology, x: &[DVec3], h: f64, plastic: &mut [DMat3]) {
        for (((corners, kind), (of, mu)), plastic) in self.cells().zip(&self.yielding).zip(plastic) {
            let slopes = gradients(kind.size, DVec3::splat(0.5));
            let x = gather(corners, x);
            let mean = sum_of_dyads(x.map(|x1| x1 - x[0]), slopes);
            if let Some(next) = flow(of, *mu, mean, *plastic, h) {
                *plastic = next;
            }
        }
    }

    fn value(&self, q: &Configuration) -> f64 {
        let energy = |(corners, kind, unflow): (&[u32; 8], &CellKind, Option<Unflow>)| {
            turned(kind, self.law, seen(&unflow, gather(corners, q.x))).energy
        };
        self.flowed(q.plastic).map(energy).sum()
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        for (corners, kind, unflow) in self.flowed(q.plastic) {
            let cell = turned(kind, self.law, seen(&unflow, gather(corners, q.x)));
            let mut forces = cell.forces(self.law);
            if self.damping > 0.0 {
                let (frame, back) = (cell.frame, cell.frame.transpose());
                let rub = kind.matrix.packed.times(&seen(&unflow, gather(corners, q.v)).map(|v| back * v));
                forces.iter_mut().zip(rub).for_each(|(f, rub)| *f -= frame * rub * self.damping);
            }
            for (&v, force) in corners.iter().zip(felt(&unflow, forces)) {
                f[v as usize] += force;
            }
        }
    }

    fn linearise(&self, q: &Configuration, hx: f64, hv: f64, elements: &mut Vec<f64>) {
        elements.clear();
        elements.extend([hx, hv * self.damping]);
        if self.law == SolidLaw::Polar && q.plastic.is_empty() {
            elements.resize(HEAD + STRIDE * self.corners.len(), 0.0);
            let frames = elements[HEAD..].as_chunks_mut().0;
            q.parallel.heavy_blocks(frames, |start, frames| {
                cell_kernels::frames(self.packed(&[]).from(start), q.x, frames);
            });
            return;
        }
        for (corners, kind, unflow) in self.flowed(q.plastic) {
            let slopes = gradients(kind.size, DVec3::splat(0.5));
            let (frame, _) = frame_of(self.law, &slopes, &seen(&unflow, gather(corners, q.x)));
            elements.extend(frame.to_cols_array());
        }
    }

    fn add_force_linearised(&self, q: &Configuration, elements: &[f64], f: &mut [DVec3]) {
        self.add_forces(q, elements, self.damping, f);
    }

    fn add_implicit_force(&self, q: &Configuration, elements: &[f64], h: f64, f: &mut [DVec3]) -> bool {
        self.add_forces(q, elements, self.damping + elements[0] / h, f);
        true
    }

    fn add_product(&self, q: &Configuration, elements: &[f64], part: Part, d: &[DVec3], out: &mut [DVec3]) {
        let scale = match part {
            Part::Stiffness => elements[0],
            Part::StiffnessAndDamping => elements[0] + elements[1],
        };
        let (frames, cells) = (frames_of(elements), self.packed(q.plastic));
        at_corners::add(
            q,
            |e| self.corners[e],
            self.corners.len(),
            out,
            |first, out| {
                cell_kernels::products(cells.from(first), &frames[first..], d, scale, out);
            },
        );
    }

    fn moves_followers(&self, q: &Configuration, _elements: &[f64]) -> bool {
        q.topology.corners_follow
    }

    fn largest_change(&self, _q: &Configuration, d: &[DVec3]) -> f64 {
        let of_cell = |(corners, kind): (&[u32; 8], &CellKind)| {
            let d = gather(corners, d);
            let mean = d.iter().sum::<DVec3>() / CORNERS as f64;
            let furthest = d.iter().fold(0.0f64, |far, d| far.max(d.distance_squared(mean)));
            let side = kind.size.min_element();
            furthest / (side * side)
        };
        self.cells().map(of_cell).fold(0.0, f64::max).sqrt()
    }

    fn add_diagonal(&self, q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        let scale = elements[0] + elements[1];
        for (corners, kind, unflow, r) in self.linearised(q.plastic, elements) {
            let own = |a: usize, b: usize| block(&kind.matrix, r, a, b);
            let flowed = unflow.map(|unflow| unflow.condense(own));
            for (c, &v) in corners.iter().enumerate() {
                diagonal[v as usize] += flowed.as_ref().map_or_else(|| own(c, c), |all| all[c][c]) * scale;
            }
        }
    }

    fn visit_felt(
        &self,
        _topology: &Topology,
        x: &[DVec3],
        plastic: &[DMat3],
        visit: &mut dyn FnMut(u32, &Felt),
    ) {
        for (corners, kind, unflow) in self.flowed(plastic) {
            let own = gather(corners, x);
            let whole = turned(kind, self.law, own);
            let elastic = unflow.map(|unflow| turned(kind, self.law, unflow.apply(own)));
            let Content { volume, lambda, mu, inside, middle } = &kind.content;
            for (c, &v) in corners.iter().enumerate() {
                let strain = |cell: &Turned| {
                    let h = inside.gradient(kind.size, middle.unwrap_or(corner(c)), &cell.moved);
                    cell.frame * ((h + h.transpose()) * 0.5) * cell.frame.transpose()
                };
                // Strain is that of the whole, stress that of what has not flowed.
                let stress = hooke(strain(elastic.as_ref().unwrap_or(&whole)), *lambda, *mu);
                visit(v, &Felt { volume: volume / CORNERS as f64, strain: strain(&whole), stress });
            }
        }
    }

    fn add_pairs(&self, q: &Configuration, elements: &[f64], pairs: &mut Vec<PairBlock>) {
        let scale = elements[0] + elements[1];
        for (corners, kind, unflow, r) in self.linearised(q.plastic, elements) {
            let own = |a: usize, b: usize| block(&kind.matrix, r, a, b);
            let flowed = unflow.map(|unflow| unflow.condense(own));
            for a in 0..CORNERS {
                for b in a + 1..CORNERS {
                    let block = flowed.as_ref().map_or_else(|| own(a, b), |all| all[a][b]) * scale;
                    pairs.push(PairBlock { i: corners[a], j: corners[b], block });
                }
            }
        }
    }
}
