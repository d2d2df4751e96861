//! Forces and the energies they come from.
//!
//! One trait, [`Energy`], and one law, checked for each by `tests/energy_law.rs`: the force is minus the gradient of the
//! value, the product is the derivative of the force, internal forces sum to zero and turn with the body. An energy
//! loops over arrays of elements and calls a small pure function for each; it keeps nothing between calls.

mod ambient;
mod area;
mod at_corners;
mod bending;
pub mod cell;
mod cell_kernels;
mod cell_modes;
mod contact;
mod corotated;
mod crease;
mod fan;
mod hexahedra;
mod in_use;
mod links;
mod plastic;
mod shape_matching;
mod spring;
mod tetrahedra;
mod volume;
mod wind;

use std::fmt::Debug;

use glam::{DMat3, DVec3};

pub use ambient::{Dissipation, Grabs, Gravity, Pulls, RandomForce};
pub use area::{Area, area_forces};
pub use bending::{Bending, patch_curvatures, patch_energy, patch_forces, second_derivatives};
pub use contact::{ContactSpring, ContactSprings};
pub use crease::{Creasing, creased};
pub use fan::FanDrag;
pub use hexahedra::{CellKind, Content, Hexahedra};
pub use in_use::{CellsInUse, InUse};
pub use links::{End, HeldLinks, Link, Links, Within};
pub use plastic::{Yielding, plastic_strain};
pub use shape_matching::ShapeMatching;
pub use spring::{Springs, spring_energy, spring_force, spring_tangent};
pub use tetrahedra::{RestTetrahedron, Tetrahedra, element_matrix, lame, stress};
pub use volume::Volume;
pub use wind::{Aerodynamics, Viscous, panel_force};

use crate::control::Control;
use crate::mesh::Topology;
use crate::parallel::Parallel;

/// Where a body is and what is done to it: all that a force may depend on.
#[derive(Clone, Copy)]
pub struct Configuration<'a> {
    /// Positions, m.
    pub x: &'a [DVec3],
    /// Velocities, m/s.
    pub v: &'a [DVec3],
    /// Time, s.
    pub t: f64,
    /// Index of the body.
    pub body: u32,
    /// What joins the particles.
    pub topology: &'a Topology,
    /// What each element has flowed to: Fₚ of solids (`energy/plastic.rs`), second derivatives of sheets (`energy/crease.rs`); empty if none has.
    pub plastic: &'a [DMat3],
    /// What is imposed from outside.
    pub control: &'a Control,
    /// Threads.
    pub parallel: &'a Parallel,
}

/// Which derivatives a product takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Those by position only.
    Stiffness,
    /// Those by position and by velocity.
    StiffnessAndDamping,
}

/// An off-diagonal block of the system matrix, for the pair i ≠ j; its transpose stands at (j, i).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairBlock {
    /// Row.
    pub i: u32,
    /// Column.
    pub j: u32,
    /// The block.
    pub block: DMat3,
}

/// What a solid feels at a corner of one of its elements, in the directions of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Felt {
    /// Volume that the corner stands for in that element, m³.
    pub volume: f64,
    /// Strain: relative change of length by direction.
    pub strain: DMat3,
    /// Stress, Pa: force per area at rest.
    pub stress: DMat3,
}

/// A force field.
///
/// Solvers need the matrix A = −hx ∂f/∂x − hv ∂f/∂v, with hx = h² and hv = h for backward Euler. `linearise` evaluates
/// its elements once, made positive semi-definite where the exact derivative is not, into a list of numbers of the
/// energy's own making; products and blocks read them. Forces that do not change with x or v leave these out.
pub trait Energy: Debug + Send + Sync {
    /// Name for profiles and trees.
    fn name(&self) -> &'static str;

    /// Whether the real-time solver has its own form of it inside the substeps; all other forces it takes once per frame.
    fn inside_substeps(&self) -> bool {
        false
    }

    /// Whether it may push a body that is at rest in this step: its force changes with time, not with the body. Such a body
    /// does not sleep.
    fn is_restless(&self, _control: &Control, _body: u32) -> bool {
        false
    }

    /// Whether it joins particles with each other and comes from a potential: solvers that minimise have their own form of
    /// it. What is inside the substeps and joins nothing is linear, and the same in all directions.
    fn joins_particles(&self) -> bool {
        false
    }

    /// Whether the force at rest comes from its value: searches for equilibrium leave others out.
    fn has_potential(&self) -> bool {
        true
    }

    /// How many elements may give way for good, and so have a shape of their own in the state.
    fn plastic_elements(&self) -> usize {
        0
    }

    /// What an element that has not flowed has in the state.
    fn unflowed(&self) -> DMat3 {
        DMat3::IDENTITY
    }

    /// Whether an element could have flowed to that, whoever wrote it.
    fn may_flow_to(&self, plastic: &DMat3) -> bool {
        (plastic.determinant() - 1.0).abs() < 1e-6
    }

    /// Lets elements flow for `h` seconds where particles are now.
    fn flow(&self, _topology: &Topology, _x: &[DVec3], _h: f64, _plastic: &mut [DMat3]) {}

    /// Potential energy, J; 0 for forces that have none.
    fn value(&self, _q: &Configuration) -> f64 {
        0.0
    }

    /// Adds the forces, N.
    fn add_force(&self, q: &Configuration, f: &mut [DVec3]);

    /// Adds the forces, N, where `elements` were evaluated at the same configuration and may hold what is needed.
    fn add_force_linearised(&self, q: &Configuration, _elements: &[f64], f: &mut [DVec3]) {
        self.add_force(q, f);
    }

    /// Adds f + h ∂f/∂x v, N, where `elements` were evaluated at the same configuration for backward Euler with steps of `h`, if it can do so at once;
    /// tells whether it did. Else it is made of forces and a product.
    fn add_implicit_force(&self, _q: &Configuration, _elements: &[f64], _h: f64, _f: &mut [DVec3]) -> bool {
        false
    }

    /// Evaluates −hx ∂f/∂x and −hv ∂f/∂v into `elements`, which is cleared first.
    fn linearise(&self, _q: &Configuration, _hx: f64, _hv: f64, elements: &mut Vec<f64>) {
        elements.clear();
    }

    /// Adds A d to `out`.
    fn add_product(
        &self,
        _q: &Configuration,
        _elements: &[f64],
        _part: Part,
        _d: &[DVec3],
        _out: &mut [DVec3],
    ) {
    }

    /// Whether A has rows of particles that follow others: else products need not know how these move.
    fn moves_followers(&self, _q: &Configuration, elements: &[f64]) -> bool {
        !elements.is_empty()
    }

    /// By which share of its size an element changes its shape at most, or turns, when particles move by `d`, m: what a linearisation does
    /// not know about. 0 of what is no solid.
    fn largest_change(&self, _q: &Configuration, _d: &[DVec3]) -> f64 {
        0.0
    }

    /// Adds the diagonal blocks of A.
    fn add_diagonal(&self, _q: &Configuration, _elements: &[f64], _diagonal: &mut [DMat3]) {}

    /// Adds the off-diagonal blocks of A, in an order that depends on the topology only.
    fn add_pairs(&self, _q: &Configuration, _elements: &[f64], _pairs: &mut Vec<PairBlock>) {}

    /// Visits the blocks of A element by element, in an order that depends on the topology only: the corners of an element, then the blocks
    /// of its corners followed by those of its pairs of corners 01, 02, …, 12, …, in one list.
    fn visit_blocks(&self, q: &Configuration, elements: &[f64], visit: &mut dyn FnMut(&[u32], &[DMat3])) {
        let mut diagonal = vec![DMat3::ZERO; q.x.len()];
        self.add_diagonal(q, elements, &mut diagonal);
        (0u32..).zip(&diagonal).for_each(|(i, block)| visit(&[i], &[*block]));
        let mut pairs = Vec::new();
        self.add_pairs(q, elements, &mut pairs);
        pairs.iter().for_each(|p| visit(&[p.i, p.j], &[DMat3::ZERO, DMat3::ZERO, p.block]));
    }

    /// Visits the corners of all elements that have a volume, with what the solid feels there; `plastic` is what they have flowed to, empty if none has.
    fn visit_felt(
        &self,
        _topology: &Topology,
        _x: &[DVec3],
        _plastic: &[DMat3],
        _visit: &mut dyn FnMut(u32, &Felt),
    ) {
    }

    /// The part w wᵀ of A that joins every particle with every other, as three numbers of w per particle, and the first particle that they are of.
    /// It is in the product, and in neither the diagonal nor the pairs.
    fn dense<'e>(&self, _elements: &'e [f64]) -> Option<(usize, &'e [f64])> {
        None
    }
}

/// Helpers for energies whose derivative couples each particle with itself only: six numbers of a symmetric block each.
pub(crate) mod own_blocks {
    use super::*;

    /// Room for one zero block per particle.
    pub(crate) fn reset(elements: &mut Vec<f64>, particles: usize) {
        elements.clear();
        elements.resize(particles * 6, 0.0);
    }

    /// Adds a symmetric block.
    pub(crate) fn add(elements: &mut [f64], particle: usize, m: DMat3) {
        let [xx, xy, xz, _, yy, yz, _, _, zz] = m.to_cols_array();
        for (e, v) in elements[particle * 6..].iter_mut().zip([xx, xy, xz, yy, yz, zz]) {
            *e += v;
        }
    }

    fn block(e: &[f64]) -> DMat3 {
        DMat3::from_cols_array(&[e[0], e[1], e[2], e[1], e[3], e[4], e[2], e[4], e[5]])
    }

    /// Adds the product for blocks that are derivatives by velocity.
    pub(crate) fn add_damping_product(elements: &[f64], part: Part, d: &[DVec3], out: &mut [DVec3]) {
        if part == Part::Stiffness {
            return;
        }
        for ((e, &d), out) in elements.chunks_exact(6).zip(d).zip(out) {
            *out += block(e) * d;
        }
    }

    pub(crate) fn add_diagonal(elements: &[f64], diagonal: &mut [DMat3]) {
        for (e, out) in elements.chunks_exact(6).zip(diagonal) {
            *out += block(e);
        }
    }
}

/// The matrix n nᵀ.
pub(crate) fn outer(n: DVec3) -> DMat3 {
    DMat3::from_cols(n * n.x, n * n.y, n * n.z)
}
