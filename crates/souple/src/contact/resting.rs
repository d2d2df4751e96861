//! Colliders that a solid lies on, as springs of its implicit system (FAU-44, FAU-45).
//!
//! A particle that is put out of a collider after a step was solved has fallen in that step, and the rest of a heavy body with it: it comes to
//! rest only on average. So particles that would be nearer to a collider than they should be at the end of a step get a spring along
//! the normal there; with these the step is solved; those that would have to pull are left out, those that were forgotten are added, and it is
//! solved again, [`ROUNDS`] times at most. What is then still too near is put out as always (`contact/response.rs`).
//!
//! Promised: a function of places, velocities and colliders of the substep, and of nothing else. Not for colliders that bounce: there impulses act.

use glam::DVec3;

use super::Contacts;
use crate::control::Control;
use crate::energy::ContactSpring;
use crate::model::Model;

/// How often a substep is solved as contacts appear and disappear.
pub(crate) const ROUNDS: u32 = 3;

/// Springs let through 1 / (1 + this) of what would be without them.
const STIFFNESS: f64 = 10.0;

/// Adds springs for particles that are nearer to a collider at `ahead` than they should be, when the substep of `h` to share `s1` of the step ends.
pub(crate) fn expect(
    contacts: &Contacts,
    (model, control, b): (&Model, &Control, usize),
    (s0, s1, h): (f64, f64, f64),
    mobilities: &[f64],
    ahead: &[DVec3],
    mut add: impl FnMut(u32, ContactSpring),
) {
    for &c in &contacts.pairs {
        let collider = &model.colliders[c as usize];
        let material = model.material(b, c as usize);
        let Some(shape) = collider.form.primitive().filter(|_| material.restitution == 0.0) else { continue };
        let (start, end) = &control.colliders[c as usize];
        let (before, after) = (start.lerp(end, s0), start.lerp(end, s1));
        let skin = model.distance(b, c as usize);
        let (low, high) = shape.bounds(&after, skin);
        let assigned = collider.assigned(b);
        let parents = &model.bodies[b].topology.parents;
        for i in assigned.particles(parents.len(), parents) {
            let p = ahead[i];
            let is_far = p.cmplt(low).any() || p.cmpgt(high).any();
            if is_far || mobilities[i] == 0.0 {
                continue;
            }
            let local = after.apply_inverse(p);
            let (distance, normal) = shape.signed_distance_and_normal(local);
            if distance.is_nan() || distance >= skin {
                continue;
            }
            let n = after.rotate(normal);
            let drift = (p - before.apply(local)) / h;
            let v = i as u32;
            add(
                c,
                ContactSpring {
                    particles: [(v, 1.0), (v, 0.0), (v, 0.0), (v, 0.0)],
                    normal: n,
                    distance: n.dot(p) + skin - distance,
                    stiffness: STIFFNESS / (mobilities[i] * h * h),
                    friction: material.friction,
                    drift,
                },
            );
        }
    }
}
