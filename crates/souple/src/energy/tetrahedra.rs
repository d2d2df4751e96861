//! Linear tetrahedra of soft solids: corotational with polar or QR frames (FAU-01, FAU-02, FAU-03), and stable neo-Hookean (FAU-04).
//!
//! The deformation gradient F of an element maps what was a metre at rest. Three laws say what energy per volume that costs, with Lamé's
//! λ = E ν/((1 + ν)(1 − 2ν)) and μ = E/(2(1 + ν)):
//!
//! - **Polar.** Ψ = μ |F − R|² + λ/2 tr(RᵀF − I)², R the nearest rotation. The derivative of R drops out of the force, so that
//!   P = 2μ (F − R) + λ tr(RᵀF − I) R is exact, and P Fᵀ is symmetric: no ghost torque.
//! - **QR.** With F = Q U, U an upper triangle, and ε = ½ (U + Uᵀ) − I: Ψ = μ ε:ε + λ/2 tr(ε)². The frame Q of the seed (FAU-01), cheaper
//!   than R and less even: it hangs on the first edge. The seed rebuilds strain-displacement matrices in every step so that no torque is
//!   left; here the turn of the frame is in the force itself, which is the exact gradient: with S = 2μ ε + λ tr(ε) I and W the lower part
//!   of S Uᵀ − U S, P = Q (S − W U⁻ᵀ). Nothing is divided by the last entry of U, so that it stays finite where the element is flat.
//! - **Neo-Hookean.** Ψ = μ/2 (|F|² − 3) − μ (J − 1) + (λ + μ)/2 (J − 1)², J = det F (the rest-stable form of Smith, de Goes and Kim,
//!   "Stable neo-Hookean flesh simulation", 2018, without its logarithm). Linear at small strain like the others, and large
//!   compression costs more and more.
//!
//! All three have an energy for any F, also for elements that are flat or inside out, from which they come back by themselves (FAU-03).
//!
//! The matrix of an element is positive semi-definite. For the isotropic laws it is the exact one with eigenvalues below 0 left
//! out, which are known in closed form (Smith, de Goes and Kim, "Analytic eigensystems for isotropic distortion energies", 2019); for QR what the
//! stress does as the frame turns is left out (Gauss and Newton). Rayleigh's stiffness damping is β times the same matrix.
//!
//! Elements that have flowed ([`super::plastic`]) are elements with other gradients: the rest is the same.
//!
//! Promised: net force and torque are 0 to rounding; rigid motion costs nothing. Not promised: bending without locking: at ν near
//! 0.5 linear tetrahedra are too stiff, as in any code.

use glam::{DMat3, DVec3};

use super::corotated::{self, Sum};
use super::plastic::{Yielding, elastic, flow};
use super::{Configuration, Energy, Felt, PairBlock, Part};
use crate::math::{Svd, cofactors, inner, polar, qr, svd};
use crate::mesh::Topology;
use crate::scene::SolidLaw;

/// A tetrahedron at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestTetrahedron {
    /// Its corners.
    pub corners: [u32; 4],
    /// Volume, m³; positive.
    pub volume: f64,
    /// Gradients of the shares of the corners, 1/m: F = Σ x gᵀ.
    pub gradients: [DVec3; 4],
    /// Lamé's first modulus λ, Pa.
    pub lambda: f64,
    /// Shear modulus μ, Pa.
    pub mu: f64,
}

impl RestTetrahedron {
    /// Of corners at rest, with Young's modulus, Pa, and Poisson's ratio below ½; none if it has no volume or is inside out.
    pub fn new(corners: [u32; 4], rest: &[DVec3], young: f64, poisson: f64) -> Option<RestTetrahedron> {
        let [a, b, c, d] = corners.map(|v| rest[v as usize]);
        let edges = DMat3::from_cols(b - a, c - a, d - a);
        let volume = edges.determinant() / 6.0;
        let inverse = edges.inverse().transpose();
        let is_sound = volume > 0.0 && inverse.is_finite();
        is_sound.then(|| {
            let [gb, gc, gd] = [inverse.x_axis, inverse.y_axis, inverse.z_axis];
            let (lambda, mu) = lame(young, poisson);
            RestTetrahedron { corners, volume, gradients: [-(gb + gc + gd), gb, gc, gd], lambda, mu }
        })
    }

    /// The same after it has flowed: F = Σ x gᵀ is then what is elastic of its deformation, F Fₚ⁻¹.
    pub fn flowed(&self, plastic: DMat3) -> RestTetrahedron {
        let inverse = cofactors(plastic);
        RestTetrahedron { gradients: self.gradients.map(|g| inverse * g), ..*self }
    }

    /// The deformation gradient where its corners are now.
    #[inline(always)]
    pub fn deformation(&self, x: &[DVec3]) -> DMat3 {
        // Edges instead of places: far from the origin digits would be lost.
        let [a, b, c, d] = self.corners.map(|v| x[v as usize]);
        let [_, gb, gc, gd] = self.gradients;
        dyad(b - a, gb) + dyad(c - a, gc) + dyad(d - a, gd)
    }
}

/// Lamé's λ and μ, Pa, of Young's modulus and Poisson's ratio.
pub fn lame(young: f64, poisson: f64) -> (f64, f64) {
    (young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)), young / (2.0 * (1.0 + poisson)))
}

/// The matrix a bᵀ.
#[inline(always)]
fn dyad(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

fn trace(m: DMat3) -> f64 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

/// Energy per volume, J/m³, and the first Piola stress, Pa.
pub fn stress(law: SolidLaw, f: DMat3, lambda: f64, mu: f64) -> (f64, DMat3) {
    match law {
        SolidLaw::Polar => {
            let r = polar(f);
            let (difference, more) = (f - r, inner(r, f) - 3.0);
            let energy = mu * inner(difference, difference) + 0.5 * lambda * more * more;
            (energy, difference * (2.0 * mu) + r * (lambda * more))
        }
        SolidLaw::Qr => {
            let (q, u) = qr(f);
            let strain = (u + u.transpose()) * 0.5 - DMat3::IDENTITY;
            let more = trace(strain);
            let energy = mu * inner(strain, strain) + 0.5 * lambda * more * more;
            let s = hooke(strain, lambda, mu);
            let w = s * u.transpose() - u * s;
            let turn = lower(w) * inverse_triangle(u).transpose();
            (energy, q * (s - turn))
        }
        SolidLaw::NeoHookean => {
            let more = f.determinant() - 1.0;
            let energy = 0.5 * mu * (inner(f, f) - 3.0) - mu * more + 0.5 * (lambda + mu) * more * more;
            (energy, f * mu + cofactors(f) * ((lambda + mu) * more - mu))
        }
    }
}

/// Hooke's law: the stress of a small strain, Pa.
pub(super) fn hooke(strain: DMat3, lambda: f64, mu: f64) -> DMat3 {
    strain * (2.0 * mu) + DMat3::IDENTITY * (lambda * trace(strain))
}

/// Strain and stress of an element in the directions of the world: of F = R U, what is in U besides I, and what P does in that frame, both
/// turned by R.
fn felt(law: SolidLaw, f: DMat3, lambda: f64, mu: f64) -> (DMat3, DMat3) {
    let back = polar(f).transpose();
    let symmetric = |m: DMat3| (m + m.transpose()) * 0.5;
    (symmetric(f * back) - DMat3::IDENTITY, symmetric(stress(law, f, lambda, mu).1 * back))
}

/// What is below the diagonal.
fn lower(m: DMat3) -> DMat3 {
    let [_, yx, zx, _, _, zy, ..] = m.to_cols_array();
    DMat3::from_cols(DVec3::new(0.0, yx, zx), DVec3::new(0.0, 0.0, zy), DVec3::ZERO)
}

/// An element whose first edge or face is shorter than this share of what it was has its frame turn no faster.
pub(super) const LEAST: f64 = 1e-3;

/// The inverse of an upper triangle, but for its last column, which is not needed.
pub(super) fn inverse_triangle(u: DMat3) -> DMat3 {
    let (a, b, d) = (u.x_axis.x.max(LEAST), u.y_axis.x, u.y_axis.y.max(LEAST));
    DMat3::from_cols(DVec3::new(1.0 / a, 0.0, 0.0), DVec3::new(-b / (a * d), 1.0 / d, 0.0), DVec3::ZERO)
}

/// Pairs of axes, and the third of each.
pub(super) const PLANES: [(usize, usize, usize); 3] = [(0, 1, 2), (1, 2, 0), (2, 0, 1)];

/// The derivative of an isotropic stress in the frames of the singular values, where it is sparse.
struct Eigensystem {
    /// By stretches along axes and the stress along them.
    along: DMat3,
    /// By plane: half the sum and half the difference of what resists shear without and with turn.
    across: [[f64; 2]; 3],
}

impl Eigensystem {
    fn new(law: SolidLaw, sigma: DVec3, lambda: f64, mu: f64) -> Eigensystem {
        let s = sigma.to_array();
        let mut across = [[0.0; 2]; 3];
        let along = match law {
            SolidLaw::NeoHookean => {
                let more = (lambda + mu) * (s[0] * s[1] * s[2] - 1.0) - mu;
                let faces = DVec3::new(s[1] * s[2], s[2] * s[0], s[0] * s[1]);
                let mut along = dyad(faces, faces) * (lambda + mu) + DMat3::IDENTITY * mu;
                for (p, (i, j, k)) in PLANES.into_iter().enumerate() {
                    along.col_mut(i)[j] += more * s[k];
                    along.col_mut(j)[i] += more * s[k];
                    let (turn, shear) = ((mu + more * s[k]).max(0.0), (mu - more * s[k]).max(0.0));
                    across[p] = [0.5 * (shear + turn), 0.5 * (shear - turn)];
                }
                positive(along)
            }
            SolidLaw::Polar | SolidLaw::Qr => {
                let tension = 2.0 * lambda * (s[0] + s[1] + s[2] - 3.0);
                for (p, (i, j, _)) in PLANES.into_iter().enumerate() {
                    // Of an element that is inside out the sum may be 0; such a turn is left out, too.
                    let (sum, stress) = (s[i] + s[j], 2.0 * mu * (s[i] + s[j] - 2.0) + tension);
                    let turn = if sum > LEAST { (stress / sum).max(0.0) } else { 0.0 };
                    across[p] = [0.5 * (2.0 * mu + turn), 0.5 * (2.0 * mu - turn)];
                }
                DMat3::from_diagonal(DVec3::splat(2.0 * mu)) + dyad(DVec3::ONE, DVec3::ONE) * lambda
            }
        };
        Eigensystem { along, across }
    }

    /// The block of two corners whose gradients are given in the right frame; in the left frame.
    #[inline(always)]
    fn block(&self, a: DVec3, b: DVec3) -> DMat3 {
        let (a, b) = (a.to_array(), b.to_array());
        let mut m = [[0.0; 3]; 3];
        for i in 0..3 {
            m[i][i] = self.along.col(i)[i] * a[i] * b[i];
        }
        for (p, (i, j, _)) in PLANES.into_iter().enumerate() {
            let [same, other] = self.across[p];
            m[i][i] += same * a[j] * b[j];
            m[j][j] += same * a[i] * b[i];
            let along = self.along.col(j)[i];
            // By column.
            m[j][i] = along * a[i] * b[j] + other * a[j] * b[i];
            m[i][j] = along * a[j] * b[i] + other * a[i] * b[j];
        }
        DMat3::from_cols_array_2d(&m)
    }
}

/// A symmetric matrix without its negative eigenvalues.
fn positive(m: DMat3) -> DMat3 {
    // Singular values of a symmetric matrix are its eigenvalues but for signs, which the frames on both sides tell.
    let Svd { u, sigma, v } = svd(m);
    let kept =
        |u: DVec3, v: DVec3, s: f64| if u.dot(v) * s > 0.0 { dyad(u, u) * s.abs() } else { DMat3::ZERO };
    kept(u.x_axis, v.x_axis, sigma.x) + kept(u.y_axis, v.y_axis, sigma.y) + kept(u.z_axis, v.z_axis, sigma.z)
}

/// Pairs of corners.
const PAIRS: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

/// The matrix of an element, N/m: the blocks of its corners, then those of the pairs 01, 02, 03, 12, 13, 23.
pub fn element_matrix(law: SolidLaw, element: &RestTetrahedron, f: DMat3) -> [DMat3; 10] {
    match law {
        SolidLaw::Qr => qr_matrix(element, f),
        SolidLaw::Polar | SolidLaw::NeoHookean => {
            let Svd { u, sigma, v } = svd(f);
            let system = Eigensystem::new(law, sigma, element.lambda, element.mu);
            let (right, back) = (v.transpose(), u.transpose());
            let g = element.gradients.map(|g| right * g);
            let block = |a: usize, b: usize| u * system.block(g[a], g[b]) * back * element.volume;
            blocks(block)
        }
    }
}

fn blocks(block: impl Fn(usize, usize) -> DMat3) -> [DMat3; 10] {
    std::array::from_fn(|k| if k < 4 { block(k, k) } else { block(PAIRS[k - 4].0, PAIRS[k - 4].1) })
}

/// Bᵀ C B, where B says how the strain in the frame of QR changes as a corner moves, with the turn of the frame.
fn qr_matrix(element: &RestTetrahedron, f: DMat3) -> [DMat3; 10] {
    let (q, u) = qr(f);
    let inverse = inverse_triangle(u).transpose();
    // By corner: how strain changes as it moves along each axis of the frame.
    let strains: [[DMat3; 3]; 4] = element.gradients.map(|g| {
        let turned = inverse * g;
        [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| {
            let below = lower(dyad(axis, turned));
            let change = dyad(axis, g) - (below - below.transpose()) * u;
            (change + change.transpose()) * 0.5
        })
    });
    let stresses = strains.map(|of| of.map(|e| hooke(e, element.lambda, element.mu)));
    let back = q.transpose();
    blocks(|a, b| {
        let column = |k: usize| DVec3::from([0, 1, 2].map(|i| inner(strains[a][i], stresses[b][k])));
        q * DMat3::from_cols(column(0), column(1), column(2)) * back * element.volume
    })
}

/// The tetrahedra of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Tetrahedra {
    /// The elements.
    pub elements: Vec<RestTetrahedron>,
    /// What they cost.
    pub law: SolidLaw,
    /// Rayleigh's stiffness damping β, s.
    pub damping: f64,
    /// When each element gives way for good; empty if none ever does.
    pub yielding: Vec<Yielding>,
}

/// Numbers per element in a linearisation of a law other than polar: all its blocks.
const STRIDE: usize = 90;

/// Numbers before those: what stiffness is multiplied with, and damping.
const HEAD: usize = 2;

fn read(e: &[f64; STRIDE]) -> [DMat3; 10] {
    std::array::from_fn(|k| DMat3::from_cols_slice(&e[9 * k..]))
}

/// Adds the product of an element matrix.
#[inline(always)]
fn multiply(blocks: &[DMat3; 10], d: [DVec3; 4]) -> [DVec3; 4] {
    let mut out: [DVec3; 4] = std::array::from_fn(|k| blocks[k] * d[k]);
    for ((a, b), block) in PAIRS.into_iter().zip(&blocks[4..]) {
        out[a] += *block * d[b];
        out[b] += block.transpose() * d[a];
    }
    out
}

/// A linearisation as it is kept.
enum Kept<'e> {
    /// Of the polar law.
    Corotated(&'e [corotated::Kept]),
    /// Of the others.
    Blocks(&'e [[f64; STRIDE]]),
}

impl Tetrahedra {
    /// The elements as they have flowed.
    fn flowed<'e>(&'e self, q: &Configuration<'e>) -> impl Iterator<Item = RestTetrahedron> + 'e {
        let plastic = q.plastic.iter().map(Some).chain(std::iter::repeat(None));
        self.elements.iter().zip(plastic).map(|(e, plastic)| plastic.map_or(*e, |p| e.flowed(*p)))
    }

    fn kept<'e>(&self, elements: &'e [f64]) -> Kept<'e> {
        let numbers = elements.get(HEAD..).unwrap_or(&[]);
        match self.law {
            SolidLaw::Polar => Kept::Corotated(corotated::kept(numbers)),
            SolidLaw::Qr | SolidLaw::NeoHookean => Kept::Blocks(numbers.as_chunks().0),
        }
    }
}

impl Energy for Tetrahedra {
    fn name(&self) -> &'static str {
        "tetrahedra"
    }

    fn joins_particles(&self) -> bool {
        true
    }

    fn plastic_elements(&self) -> usize {
        self.yielding.len()
    }

    fn flow(&self, _topology: &Topology, x: &[DVec3], h: f64, plastic: &mut [DMat3]) {
        for ((e, of), plastic) in self.elements.iter().zip(&self.yielding).zip(plastic) {
            if let Some(next) = flow(of, e.mu, e.deformation(x), *plastic, h) {
                *plastic = next;
            }
        }
    }

    fn value(&self, q: &Configuration) -> f64 {
        let energy = |e: RestTetrahedron| e.volume * stress(self.law, e.deformation(q.x), e.lambda, e.mu).0;
        self.flowed(q).map(energy).sum()
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        for e in self.flowed(q) {
            let deformation = e.deformation(q.x);
            let pull = stress(self.law, deformation, e.lambda, e.mu).1 * e.volume;
            let [_, b, c, d] = e.gradients.map(|g| pull * g);
            let mut forces = [b + c + d, -b, -c, -d];
            if self.damping > 0.0 {
                let rubs =
                    multiply(&element_matrix(self.law, &e, deformation), e.corners.map(|v| q.v[v as usize]));
                forces.iter_mut().zip(rubs).for_each(|(f, rub)| *f -= rub * self.damping);
            }
            for (&v, force) in e.corners.iter().zip(forces) {
                f[v as usize] += force;
            }
        }
    }

    fn add_force_linearised(&self, q: &Configuration, elements: &[f64], f: &mut [DVec3]) {
        match self.kept(elements) {
            Kept::Corotated(kept) => {
                let damping = (self.damping > 0.0).then_some((q.v, self.damping));
                corotated::add(q, &self.elements, kept, Sum::Forces(damping), f);
            }
            Kept::Blocks(_) => self.add_force(q, f),
        }
    }

    fn add_implicit_force(&self, q: &Configuration, elements: &[f64], h: f64, f: &mut [DVec3]) -> bool {
        let Kept::Corotated(kept) = self.kept(elements) else { return false };
        let damping = Some((q.v, self.damping + elements[0] / h));
        corotated::add(q, &self.elements, kept, Sum::Forces(damping), f);
        true
    }

    fn linearise(&self, q: &Configuration, hx: f64, hv: f64, elements: &mut Vec<f64>) {
        elements.clear();
        elements.extend([hx, hv * self.damping]);
        if self.law == SolidLaw::Polar {
            elements.resize(HEAD + corotated::length(self.elements.len()), 0.0);
            corotated::linearise(&self.elements, q.plastic, q.x, q.parallel, &mut elements[HEAD..]);
            return;
        }
        for e in self.flowed(q) {
            for block in element_matrix(self.law, &e, e.deformation(q.x)) {
                elements.extend(block.to_cols_array());
            }
        }
    }

    fn add_product(&self, q: &Configuration, elements: &[f64], part: Part, d: &[DVec3], out: &mut [DVec3]) {
        let scale = match part {
            Part::Stiffness => elements[0],
            Part::StiffnessAndDamping => elements[0] + elements[1],
        };
        match self.kept(elements) {
            Kept::Corotated(kept) => corotated::add(q, &self.elements, kept, Sum::Product(d, scale), out),
            Kept::Blocks(kept) => {
                for (e, kept) in self.elements.iter().zip(kept) {
                    let product = multiply(&read(kept), e.corners.map(|v| d[v as usize]));
                    for (&v, product) in e.corners.iter().zip(product) {
                        out[v as usize] += product * scale;
                    }
                }
            }
        }
    }

    fn moves_followers(&self, q: &Configuration, _elements: &[f64]) -> bool {
        q.topology.corners_follow
    }

    fn largest_change(&self, _q: &Configuration, d: &[DVec3]) -> f64 {
        let of_element = |e: &RestTetrahedron| {
            let [a, b, c, d] = e.corners.map(|v| d[v as usize]);
            let edges = DMat3::from_cols(b - a, c - a, d - a);
            let [_, gb, gc, gd] = e.gradients;
            let change = edges * DMat3::from_cols(gb, gc, gd).transpose();
            change.to_cols_array().iter().map(|c| c * c).sum::<f64>()
        };
        self.elements.iter().map(of_element).fold(0.0, f64::max).sqrt()
    }

    fn add_diagonal(&self, q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        self.visit_blocks(q, elements, &mut |corners, blocks| {
            for (&v, block) in corners.iter().zip(blocks) {
                diagonal[v as usize] += *block;
            }
        });
    }

    fn add_pairs(&self, q: &Configuration, elements: &[f64], pairs: &mut Vec<PairBlock>) {
        self.visit_blocks(q, elements, &mut |corners, blocks| {
            for ((a, b), block) in PAIRS.into_iter().zip(&blocks[4..]) {
                pairs.push(PairBlock { i: corners[a], j: corners[b], block: *block });
            }
        });
    }

    fn visit_felt(
        &self,
        _topology: &Topology,
        x: &[DVec3],
        plastic: &[DMat3],
        visit: &mut dyn FnMut(u32, &Felt),
    ) {
        let plastic = plastic.iter().copied().chain(std::iter::repeat(DMat3::IDENTITY));
        for (e, plastic) in self.elements.iter().zip(plastic) {
            // Strain is that of the whole, stress that of what has not flowed.
            let f = e.deformation(x);
            let (strain, _) = felt(self.law, f, e.lambda, e.mu);
            let (_, stress) = felt(self.law, elastic(f, plastic), e.lambda, e.mu);
            let felt = Felt { volume: e.volume / 4.0, strain, stress };
            e.corners.iter().for_each(|&v| visit(v, &felt));
        }
    }

    fn visit_blocks(&self, _q: &Configuration, elements: &[f64], visit: &mut dyn FnMut(&[u32], &[DMat3])) {
        let scale = elements[0] + elements[1];
        match self.kept(elements) {
            Kept::Corotated(kept) => corotated::visit(&self.elements, kept, scale, visit),
            Kept::Blocks(kept) => {
                for (e, kept) in self.elements.iter().zip(kept) {
                    visit(&e.corners, &read(kept).map(|block| block * scale));
                }
            }
        }
    }
}
