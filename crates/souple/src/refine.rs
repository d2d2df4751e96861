//! Bodies whose cells are divided where they bend and joined where they are straight again (FAU-25, FAU-26).
//!
//! All nodes that any cell may need are particles of the body from the start: those that no cell in use has as a corner follow the cell they lie in, as
//! T-nodes do ([`crate::mesh::octree`]). So particles keep their numbers, and dividing a cell only sets nodes free that are where they belong already:
//! places and velocities are interpolated. Joining cells takes nodes away: what they differ by from where their new parents put them goes to these by
//! the transposed weights, in proportion to mass. Masses are those of the finest cells, raised to what they follow.
//!
//! A cell is divided if the body turns by more than a given angle across it: the largest change of the deformation gradient F from its middle to its corners
//! and to its neighbours. F is linear in places and changes with curvature alone, so that neither rigid motion nor uniform
//! strain counts (the seed's |Laplacian of displacement| × cell size). Cells are joined if the angle, doubled as their size is, stays below a lower one.
//!
//! Promised: mass, centre of mass and momentum do not change, to rounding; the cells of a step hang on the state before it alone, so that runs have the same bits for
//! any number of threads and go on after a restore. Not promised: energy; joining throws away what coarse cells cannot show. Angular momentum is kept to
//! the order of what is thrown away.

use std::sync::Arc;

use glam::{DMat3, DVec3};

use crate::energy::cell::{CORNERS, corner, gradients};
use crate::energy::{CellsInUse, Hexahedra};
use crate::mapping::Mapping;
use crate::math::inner;
use crate::mesh::Topology;
use crate::mesh::octree::{Octree, OctreeCut};
use crate::state::BodyState;

/// When cells are divided and joined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefineRules {
    /// Cells across which the body turns by more are divided, rad.
    pub refine_above: f64,
    /// Cells are joined if it turns by less across what they become, rad.
    pub join_below: f64,
    /// The most cells there may be.
    pub max_cells: usize,
}

/// All that a body needs to change its cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Refining {
    /// Cells of all sizes.
    pub octree: Octree,
    /// The elements of all of them, in the same order.
    pub all: Hexahedra,
    /// What follows nodes of the finest cells: the surface.
    pub surface: Mapping,
    /// Masses of all particles if all cells were the finest, kg.
    pub fine_masses: Vec<f64>,
    /// Cells that always stay divided.
    pub always: Vec<bool>,
    /// When cells change.
    pub rules: RefineRules,
}

impl Refining {
    /// What joins the particles in a cut; all else is that of `base`.
    pub fn topology(&self, base: &Topology, cut: &OctreeCut, version: u64) -> Topology {
        let leaves = self.octree.leaves(cut);
        let elements = only(&self.all, &leaves);
        let mapping = self.octree.mapping(cut, &self.surface);
        let mut masses = self.fine_masses.clone();
        mapping.raise_masses(&mut masses);
        let mut topology = Topology {
            masses,
            hexahedra: elements.corners.clone(),
            mapping,
            in_use: Some(Arc::new(CellsInUse { leaves, elements })),
            version,
            ..base.clone()
        };
        topology.rebuild_corners();
        topology
    }

    /// The topology with these leaves; none if they are not those of a cut.
    pub fn topology_of(&self, base: &Topology, leaves: &[u32], version: u64) -> Option<Topology> {
        self.octree.cut_of(leaves).map(|cut| self.topology(base, &cut, version))
    }

    /// Divides and joins cells where the body asks for it.
    pub(crate) fn adapt(&self, body: &mut BodyState) {
        let Some(cut) = body.topology.in_use.as_ref().and_then(|c| self.octree.cut_of(&c.leaves)) else {
            return;
        };
        let turns = self.turns(&cut, &body.x);
        let finer = self.divided(&cut, &turns);
        let joined = self.joined(&finer, &turns);
        if finer != cut {
            self.change(body, (&cut, &finer), Change::Divide);
        }
        if joined != finer {
            self.change(body, (&finer, &joined), Change::Join);
        }
    }

    /// By how much the body turns across each leaf, rad; 0 for other cells.
    fn turns(&self, cut: &OctreeCut, x: &[DVec3]) -> Vec<f64> {
        let cells = self.octree.cells();
        let leaves = self.octree.leaves(cut);
        let mut turns = vec![0.0f64; cells.len()];
        let mut middles = vec![DMat3::ZERO; cells.len()];
        for &leaf in &leaves {
            let size = self.all.kinds[self.all.kind[leaf as usize] as usize].size;
            let places = cells[leaf as usize].corners.map(|v| x[v as usize]);
            let at = |share: DVec3| deformation(&places, &gradients(size, share));
            let middle = at(DVec3::splat(0.5));
            middles[leaf as usize] = middle;
            // From the middle to a corner is half of the way across.
            let most = (0..CORNERS).map(|c| angle(at(corner(c)) - middle)).fold(0.0, f64::max);
            turns[leaf as usize] = 2.0 * most;
        }
        for &leaf in &leaves {
            for (axis, step) in [(0, -1), (0, 1), (1, -1), (1, 1), (2, -1), (2, 1)] {
                let mut direction = [0; 3];
                direction[axis] = step;
                let Some(beside) = self.octree.leaf_beside(cut, leaf, direction) else { continue };
                // Of smaller ones, those that touch it look from their side: what is found from here may be further off.
                if cells[beside as usize].level < cells[leaf as usize].level {
                    continue;
                }
                let change = angle(middles[leaf as usize] - middles[beside as usize]);
                let size = |cell: u32| f64::from(1u32 << cells[cell as usize].level);
                let way = 0.5 * (size(leaf) + size(beside));
                for cell in [leaf, beside] {
                    let across = change * size(cell) / way;
                    turns[cell as usize] = turns[cell as usize].max(across);
                }
            }
        }
        turns
    }

    /// The cut with all leaves divided across which the body turns too much: as many, the most bent first, as there may be cells.
    fn divided(&self, cut: &OctreeCut, turns: &[f64]) -> OctreeCut {
        let cells = self.octree.cells();
        let asks = |c: &u32| cells[*c as usize].level > 0 && turns[*c as usize] > self.rules.refine_above;
        let mut wanted: Vec<u32> = self.octree.leaves(cut).into_iter().filter(asks).collect();
        if wanted.is_empty() {
            return cut.clone();
        }
        wanted.sort_by(|a, b| turns[*b as usize].total_cmp(&turns[*a as usize]).then(a.cmp(b)));
        let with = |count: usize| {
            let mut next = cut.clone();
            wanted[..count].iter().for_each(|c| self.octree.divide(&mut next, *c));
            self.octree.balance(&mut next);
            next
        };
        let fits = |cut: &OctreeCut| self.octree.leaves(cut).len() <= self.rules.max_cells;
        let all = with(wanted.len());
        if fits(&all) {
            return all;
        }
        // More divided cells are never fewer leaves.
        let (mut few, mut many) = (0, wanted.len());
        while many - few > 1 {
            let middle = few + (many - few) / 2;
            *(if fits(&with(middle)) { &mut few } else { &mut many }) = middle;
        }
        with(few)
    }

    /// The cut with all cells joined across which the body would hardly turn.
    fn joined(&self, cut: &OctreeCut, turns: &[f64]) -> OctreeCut {
        let cells = self.octree.cells();
        let (mut next, mut any) = (cut.clone(), false);
        for cell in (0..cells.len() as u32).filter(|c| self.octree.is_divided(cut, *c)) {
            let mut parts = cells[cell as usize].children().map(|(_, part)| part);
            // A part that was divided just now has the turn of before.
            let is_straight = parts.all(|part| {
                !self.octree.is_divided(cut, part) && 2.0 * turns[part as usize] < self.rules.join_below
            });
            // Cells that are new have not been asked.
            let is_old = turns[cell as usize] == 0.0;
            if is_straight && is_old && !self.always[cell as usize] {
                self.octree.join(&mut next, cell);
                any = true;
            }
        }
        if any {
            self.octree.balance(&mut next);
        }
        next
    }

    /// Goes over from one cut to another.
    fn change(&self, body: &mut BodyState, (now, next): (&OctreeCut, &OctreeCut), change: Change) {
        let BodyState { x, v, topology, .. } = body;
        topology.mapping.apply(x);
        topology.mapping.apply_j(v);
        let after = self.topology(topology, next, topology.version + 1);
        if change == Change::Join {
            let joined = self.octree.leaves(next).into_iter().filter(|c| self.octree.is_divided(now, *c));
            // Corners that were in no leaf: nobody knew where they were.
            let corners = joined.flat_map(|cell| self.octree.outer_corners(cell));
            for (node, row) in corners.filter(|(node, _)| !self.octree.is_in_leaf(now, *node)) {
                x[node as usize] = row.iter().map(|(p, w)| x[*p as usize] * *w).sum();
                v[node as usize] = row.iter().map(|(p, w)| v[*p as usize] * *w).sum();
            }
            for values in [&mut *x, &mut *v] {
                raise(&topology.mapping, &topology.masses, &after, values);
            }
        }
        after.mapping.apply(x);
        after.mapping.apply_j(v);
        *topology = Arc::new(after);
    }
}

/// What is done to cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Divide,
    Join,
}

/// Gives what particles that are free no more differ by from what they will follow to that, by the transposed weights: Σ m x stays as it is.
fn raise(before: &Mapping, masses: &[f64], next: &Topology, values: &mut [DVec3]) {
    let mut sums: Vec<(u32, DVec3)> = Vec::new();
    for (child, row) in next.mapping.rows().filter(|(child, _)| !before.follows(*child)) {
        let mass = masses[child as usize];
        if mass == 0.0 {
            continue;
        }
        let row: Vec<(u32, f64)> = row.collect();
        let there: DVec3 = row.iter().map(|(p, w)| values[*p as usize] * *w).sum();
        let lack = values[child as usize] - there;
        sums.extend(row.iter().map(|(p, w)| (*p, lack * (w * mass / next.masses[*p as usize]))));
    }
    for (parent, change) in sums {
        values[parent as usize] += change;
    }
}

/// The elements of some cells.
fn only(all: &Hexahedra, cells: &[u32]) -> Hexahedra {
    let mut place = vec![None; all.kinds.len()];
    let mut kinds = Vec::new();
    let mut kind = Vec::with_capacity(cells.len());
    for cell in cells {
        let of = all.kind[*cell as usize] as usize;
        kind.push(*place[of].get_or_insert_with(|| {
            kinds.push(all.kinds[of].clone());
            kinds.len() as u32 - 1
        }));
    }
    let corners = cells.iter().map(|cell| all.corners[*cell as usize]).collect();
    Hexahedra { corners, kind, kinds, law: all.law, damping: all.damping, yielding: Vec::new() }
}

/// Σ x gᵀ.
fn deformation(x: &[DVec3; CORNERS], slopes: &[DVec3; CORNERS]) -> DMat3 {
    x.iter().zip(slopes).fold(DMat3::ZERO, |f, (p, g)| {
        let edge = *p - x[0];
        f + DMat3::from_cols(edge * g.x, edge * g.y, edge * g.z)
    })
}

/// The angle of a turn that changes F by this, rad, if it is small.
fn angle(change: DMat3) -> f64 {
    (0.5 * inner(change, change)).sqrt()
}
