//! Contact of particles with rigid colliders: broad phase by boxes (ESSI-45), a continuous test of each particle
//! against each primitive that may be met, and the response (ESSI-48).
//!
//! A collider may name the particles that alone are held against it (SIM-32, `assigned.rs`).
//!
//! Against colliders particles are tested, not the edges and triangles between them: a collider smaller than a triangle can
//! poke through. Surfaces that touch themselves are tested by all their features (`surface.rs`, `bvh.rs`, `pairs.rs`).

pub mod assigned;
pub(crate) mod bvh;
pub(crate) mod closest;
pub mod continuous;
pub(crate) mod contours;
pub(crate) mod examine;
pub(crate) mod held;
mod nearest;
pub(crate) mod pairs;
#[cfg(test)]
mod pairs_tests;
pub mod primitives;
pub mod proximity;
pub mod response;
pub mod rules;
pub(crate) mod stochastic;
#[cfg(test)]
mod stochastic_tests;
mod sunk;
pub(crate) mod surface;
pub(crate) mod surfaces;
pub(crate) mod swept;
pub(crate) mod untangle;
#[cfg(test)]
mod untangle_tests;
mod ways;

use glam::DVec3;

use crate::contact::assigned::Assigned;
use crate::contact::response::ContactMaterial;
use crate::control::Control;
use crate::mesh::{Topology, bounds};
use crate::model::{BodyModel, Model};
use crate::state::BodyState;

/// How often all pairs of a body are visited per substep.
const MAX_PASSES: usize = 3;

/// A particle that touches a collider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// The particle.
    pub vertex: u32,
    /// The collider.
    pub collider: u32,
    /// Where, m.
    pub point: DVec3,
    /// Outward normal of the collider.
    pub normal: DVec3,
    /// How deep the particle was before the response, m.
    pub depth: f64,
}

/// What a body may meet and does meet during a step.
#[derive(Clone, Debug, Default)]
pub struct Contacts {
    /// The box it is expected to stay in during the step, m.
    pub(crate) reach: (DVec3, DVec3),
    /// The colliders whose box meets its reach.
    pub(crate) pairs: Vec<u32>,
    /// The contacts of its last substep.
    pub points: Vec<ContactPoint>,
    /// Whether a particle inside several colliders leaves the one first that it is deepest in (SIM-33); else as they are listed.
    pub(crate) deepest_first: bool,
    pub(crate) met: Vec<(f64, usize)>,
    /// Whether its system holds it off colliders: then it is put out only where it is nearer than [`held::SLACK`] says.
    pub(crate) lies: bool,
}

impl Contacts {
    /// No contacts of a body, with room for all: every collider, and every particle on one of them.
    pub(crate) fn new(body: &BodyModel, colliders: usize) -> Contacts {
        Contacts {
            reach: (DVec3::ZERO, DVec3::ZERO),
            pairs: Vec::with_capacity(colliders),
            points: Vec::with_capacity(body.topology.len()),
            deepest_first: false,
            met: Vec::with_capacity(colliders),
            lies: false,
        }
    }

    /// The box that a body should stay in during the step, with room to spare; [`Contacts::collide`] looks again if it does not.
    pub(crate) fn estimate_reach(&mut self, body: &BodyState, gravity: DVec3, dt: f64) {
        let (low, high) = bounds(&body.x);
        let fastest = body.v.iter().fold(0.0f64, |m, v| m.max(v.length_squared())).sqrt();
        let margin = DVec3::splat(2.0 * fastest * dt + gravity.length() * dt * dt);
        self.reach = (low - margin, high + margin);
    }

    /// Lists the colliders whose swept box meets the reach of a body. A box that is not finite meets everything: better
    /// slow than blind.
    pub(crate) fn broad_phase(&mut self, b: usize, model: &Model, control: &Control) {
        let (low, high) = self.reach;
        self.pairs.clear();
        for (c, (collider, (pose0, pose1))) in model.colliders.iter().zip(&control.colliders).enumerate() {
            let Some(shape) = collider.form.primitive() else { continue };
            let skin = model.distance(b, c);
            let (collider_low, collider_high) = shape.swept_bounds(pose0, pose1, skin);
            let apart = collider_low.cmpgt(high).any() || collider_high.cmplt(low).any();
            if !apart && model.touches_collider(b, c) {
                self.pairs.push(c as u32);
            }
        }
    }

    /// Whether a body is still in the box the broad phase was made for.
    pub(crate) fn within_reach(&self, x: &[DVec3]) -> bool {
        let (low, high) = self.reach;
        x.iter().all(|x| x.cmpge(low).all() && x.cmple(high).all())
    }

    /// Makes the broad phase anew for where the body is and was.
    pub(crate) fn widen_reach(
        &mut self,
        x0: &[DVec3],
        x1: &[DVec3],
        b: usize,
        model: &Model,
        control: &Control,
    ) {
        let ((l0, h0), (l1, h1)) = (bounds(x0), bounds(x1));
        let (low, high) = self.reach;
        let room = (h1.max(h0) - l1.min(l0)) * 0.5;
        self.reach = (low.min(l0).min(l1) - room, high.max(h0).max(h1) + room);
        self.broad_phase(b, model, control);
    }

    /// Responds to all contacts of a body over the substep from share `s0` to share `s1` of the step, of length `h`.
    /// Particles with inverse mass 0 are left alone.
    pub(crate) fn collide(
        &mut self,
        b: usize,
        model: &Model,
        control: &Control,
        (s0, s1): (f64, f64),
        h: f64,
        topology: &Topology,
        inverse_masses: &[f64],
        x0: &[DVec3],
        x: &mut [DVec3],
        v: &mut [DVec3],
    ) {
        self.points.clear();
        // A particle that fell for a step or two is at rest, not bouncing.
        let rest_speed = 2.0 * model.gravity.length() * h;
        if self.deepest_first && self.pairs.len() > 1 {
            let of = (b, model, control);
            self.collide_deepest_first(of, (s0, s1, h), rest_speed, topology, inverse_masses, x0, x, v);
            return;
        }
        // In a corner one collider may push a particle into the other: look again, a few times at most.
        let passes = if self.pairs.len() > 1 { MAX_PASSES } else { 1 };
        for pass in 0..passes {
            // Later passes meet the same contacts again; what is told is where they were first found.
            let pushed = self.one_pass(
                b,
                model,
                control,
                (s0, s1),
                h,
                rest_speed,
                topology,
                inverse_masses,
                x0,
                x,
                v,
                pass == 0,
            );
            if !pushed {
                break;
            }
        }
    }

    /// Responds to the contacts of each particle, the deepest first, then to what that pushed it into (SIM-33).
    fn collide_deepest_first(
        &mut self,
        (b, model, control): (usize, &Model, &Control),
        (s0, s1, h): (f64, f64, f64),
        rest_speed: f64,
        topology: &Topology,
        inverse_masses: &[f64],
        x0: &[DVec3],
        x: &mut [DVec3],
        v: &mut [DVec3],
    ) {
        let near = |c: &u32| {
            let collider = &model.colliders[*c as usize];
            let shape = collider.form.primitive()?;
            let (start, end) = &control.colliders[*c as usize];
            let poses = (start.lerp(end, s0), start.lerp(end, s1));
            let skin = model.distance(b, *c as usize);
            let reach = shape.swept_bounds(&poses.0, &poses.1, skin);
            Some((*c, shape, poses, skin, reach, model.material(b, *c as usize), collider.assigned(b)))
        };
        let all: Vec<_> = self.pairs.iter().filter_map(near).collect();
        let layer = model.bodies[b].layer.as_ref();
        for i in (0..x.len()).filter(|i| inverse_masses[*i] > 0.0) {
            self.met.clear();
            for (k, (_, shape, (_, pose1), skin, (low, high), _, assigned)) in all.iter().enumerate() {
                let (from, to) = (x0[i].min(x[i]), x0[i].max(x[i]));
                let apart = from.cmpgt(*high).any() || to.cmplt(*low).any();
                if !apart && assigned.contains(topology.parents[i]) {
                    self.met.push((skin - shape.signed_distance(pose1.apply_inverse(x[i])), k));
                }
            }
            self.met.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            for pass in 0..if self.met.len() > 1 { MAX_PASSES } else { 1 } {
                let mut pushed = false;
                for &(_, k) in &self.met {
                    let (c, shape, (pose0, pose1), skin, _, material, _) = &all[k];
                    // Friction once: later passes only push.
                    let push = ContactMaterial { friction: 0.0, restitution: 0.0, tangential_keep: None };
                    let rub = layer.and_then(|layer| layer.friction.get(i)).map_or(1.0, |share| *share);
                    let material = match pass {
                        0 => ContactMaterial { friction: material.friction * rub, ..*material },
                        _ => push,
                    };
                    let touch = response::resolve(
                        shape, pose0, pose1, h, *skin, &material, rest_speed, x0[i], &mut x[i], &mut v[i],
                    );
                    let Some(t) = touch else { continue };
                    pushed |= t.depth > 0.0;
                    if pass == 0 {
                        self.points.push(ContactPoint {
                            vertex: i as u32,
                            collider: *c,
                            point: t.point,
                            normal: t.normal,
                            depth: t.depth,
                        });
                    }
                }
                if !pushed {
                    break;
                }
            }
        }
    }

    /// Puts particles that something else has pushed into colliders out again, without friction, which has acted already.
    pub(crate) fn push_out(
        &mut self,
        b: usize,
        model: &Model,
        control: &Control,
        shares: (f64, f64),
        h: f64,
        topology: &Topology,
        inverse_masses: &[f64],
        x0: &[DVec3],
        x: &mut [DVec3],
        v: &mut [DVec3],
    ) {
        let rest_speed = 2.0 * model.gravity.length() * h;
        self.one_pass(b, model, control, shares, h, rest_speed, topology, inverse_masses, x0, x, v, false);
    }

    /// Responds once to each contact of each pair, and lists them if `keep`. Returns whether any particle was pushed.
    fn one_pass(
        &mut self,
        b: usize,
        model: &Model,
        control: &Control,
        (s0, s1): (f64, f64),
        h: f64,
        rest_speed: f64,
        topology: &Topology,
        inverse_masses: &[f64],
        x0: &[DVec3],
        x: &mut [DVec3],
        v: &mut [DVec3],
        keep: bool,
    ) -> bool {
        let mut pushed = false;
        for &c in &self.pairs {
            let collider = &model.colliders[c as usize];
            let Some(shape) = collider.form.primitive() else { continue };
            let (start, end) = &control.colliders[c as usize];
            let (pose0, pose1) = (start.lerp(end, s0), start.lerp(end, s1));
            let by_springs = self.lies && model.material(b, c as usize).restitution == 0.0;
            let skin = model.distance(b, c as usize) * if by_springs { held::SLACK } else { 1.0 };
            let (low, high) = shape.swept_bounds(&pose0, &pose1, skin);
            // Friction once: later passes only push.
            let push = ContactMaterial { friction: 0.0, restitution: 0.0, tangential_keep: None };
            let material = if keep { model.material(b, c as usize) } else { push };
            // Bounding-box rejection; NaN is not rejected.
            let is_near = |i: usize, x: DVec3| {
                let (near, far) = (x0[i].min(x), x0[i].max(x));
                !(inverse_masses[i] == 0.0 || near.cmpgt(high).any() || far.cmplt(low).any())
            };
            let layer = model.bodies[b].layer.as_ref();
            let mut respond = |i: usize, x: &mut DVec3, v: &mut DVec3| {
                let rub = layer.and_then(|layer| layer.friction.get(i)).map_or(1.0, |share| *share);
                let material = ContactMaterial { friction: material.friction * rub, ..material };
                let touch =
                    response::resolve(shape, &pose0, &pose1, h, skin, &material, rest_speed, x0[i], x, v);
                let Some(t) = touch else { return };
                pushed |= t.depth > 0.0;
                if keep {
                    self.points.push(ContactPoint {
                        vertex: i as u32,
                        collider: c,
                        point: t.point,
                        normal: t.normal,
                        depth: t.depth,
                    });
                }
            };
            match collider.assigned(b) {
                // A loop of its own: most particles are rejected, and looking up which is next would take as long as that.
                Assigned::All => {
                    for i in 0..x.len() {
                        if is_near(i, x[i]) {
                            respond(i, &mut x[i], &mut v[i]);
                        }
                    }
                }
                listed => {
                    for i in listed.particles(model.bodies[b].topology.len(), &topology.parents) {
                        if is_near(i, x[i]) {
                            respond(i, &mut x[i], &mut v[i]);
                        }
                    }
                }
            }
        }
        pushed
    }
}
