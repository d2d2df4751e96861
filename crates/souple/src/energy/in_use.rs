//! The cells of a body that refines itself (FAU-25): hexahedra, of which the topology says which are in use.
//!
//! Which cells are in use is part of the state, as what is torn is: so the elements lie in the topology, made anew whenever cells are divided or
//! joined, and the energy of the model only looks there.

use glam::{DMat3, DVec3};

use super::{Configuration, Energy, Felt, Hexahedra, PairBlock, Part};
use crate::mesh::Topology;

/// The cells of a body that are in use now.
#[derive(Clone, Debug, PartialEq)]
pub struct CellsInUse {
    /// Their names in the octree of the body, ascending.
    pub leaves: Vec<u32>,
    /// Their elements, in the same order.
    pub elements: Hexahedra,
}

/// The elements that the topology has in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InUse;

fn elements(topology: &Topology) -> Option<&Hexahedra> {
    topology.in_use.as_ref().map(|cells| &cells.elements)
}

impl Energy for InUse {
    fn name(&self) -> &'static str {
        "hexahedra"
    }

    fn joins_particles(&self) -> bool {
        true
    }

    fn value(&self, q: &Configuration) -> f64 {
        elements(q.topology).map_or(0.0, |e| e.value(q))
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        if let Some(e) = elements(q.topology) {
            e.add_force(q, f);
        }
    }

    fn add_force_linearised(&self, q: &Configuration, numbers: &[f64], f: &mut [DVec3]) {
        if let Some(e) = elements(q.topology) {
            e.add_force_linearised(q, numbers, f);
        }
    }

    fn add_implicit_force(&self, q: &Configuration, numbers: &[f64], h: f64, f: &mut [DVec3]) -> bool {
        elements(q.topology).is_some_and(|e| e.add_implicit_force(q, numbers, h, f))
    }

    fn moves_followers(&self, q: &Configuration, numbers: &[f64]) -> bool {
        elements(q.topology).is_some_and(|e| e.moves_followers(q, numbers))
    }

    fn linearise(&self, q: &Configuration, hx: f64, hv: f64, numbers: &mut Vec<f64>) {
        numbers.clear();
        if let Some(e) = elements(q.topology) {
            e.linearise(q, hx, hv, numbers);
        }
    }

    fn add_product(&self, q: &Configuration, numbers: &[f64], part: Part, d: &[DVec3], out: &mut [DVec3]) {
        if let Some(e) = elements(q.topology) {
            e.add_product(q, numbers, part, d, out);
        }
    }

    fn largest_change(&self, q: &Configuration, d: &[DVec3]) -> f64 {
        elements(q.topology).map_or(0.0, |e| e.largest_change(q, d))
    }

    fn add_diagonal(&self, q: &Configuration, numbers: &[f64], diagonal: &mut [DMat3]) {
        if let Some(e) = elements(q.topology) {
            e.add_diagonal(q, numbers, diagonal);
        }
    }

    fn add_pairs(&self, q: &Configuration, numbers: &[f64], pairs: &mut Vec<PairBlock>) {
        if let Some(e) = elements(q.topology) {
            e.add_pairs(q, numbers, pairs);
        }
    }

    fn visit_blocks(&self, q: &Configuration, numbers: &[f64], visit: &mut dyn FnMut(&[u32], &[DMat3])) {
        if let Some(e) = elements(q.topology) {
            e.visit_blocks(q, numbers, visit);
        }
    }

    fn visit_felt(
        &self,
        topology: &Topology,
        x: &[DVec3],
        plastic: &[DMat3],
        visit: &mut dyn FnMut(u32, &Felt),
    ) {
        if let Some(e) = elements(topology) {
            e.visit_felt(topology, x, plastic, visit);
        }
    }
}
