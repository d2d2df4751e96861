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
use crate::mapping::Mapping;
use crate::model::Model;

/// How often a substep is solved as contacts appear and disappear.
pub(crate) const ROUNDS: u32 = 3;

/// Springs let through 1 / (1 + this) of what would be without them.
const STIFFNESS: f64 = 50.0;

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

/// How often friction is shared among the contacts of a body whose surface follows others.
const SWEEPS: u32 = 10;

/// Friction of followers that lie on something, by turns: each contact takes from its sliding velocity what Coulomb's law still allows it, through its
/// parents, until what one takes fits what the others took. `settle` makes velocities of parents what they can be, as those of a rigid body. Places
/// go along for a step of `h`, s.
pub(crate) fn rub_followers(
    springs: &[ContactSpring],
    h: f64,
    mapping: &Mapping,
    inverse_masses: &[f64],
    x: &mut [DVec3],
    v: &mut [DVec3],
    settle: impl Fn(&[DVec3], &mut [DVec3]),
) {
    let mut contacts: Vec<(&ContactSpring, f64, f64, f64)> = springs
        .iter()
        .filter_map(|s| {
            let most = s.friction * h * s.stiffness * s.depth(x);
            let ease = mapping.most_ease(s.particles[0].0, inverse_masses);
            let parents = mapping.parents(s.particles[0].0);
            let mobility: f64 = parents.map(|(p, w)| w * w * inverse_masses[p as usize].min(ease)).sum();
            (most > 0.0 && mobility > 0.0).then_some((s, most, ease, mobility))
        })
        .collect();
    if contacts.is_empty() {
        return;
    }
    let before = v.to_vec();
    let mut taken = vec![DVec3::ZERO; contacts.len()];
    for _ in 0..SWEEPS {
        for ((s, most, ease, mobility), taken) in contacts.iter_mut().zip(&mut taken) {
            let parents = || mapping.parents(s.particles[0].0);
            let velocity = |v: &[DVec3]| parents().map(|(p, w)| v[p as usize] * w).sum::<DVec3>();
            let own = velocity(v);
            let slip = (own - s.drift).reject_from_normalized(s.normal);
            let next = (*taken - slip / *mobility).clamp_length_max(*most);
            let impulse = next - *taken;
            *taken = next;
            parents()
                .for_each(|(p, w)| v[p as usize] += impulse * (w * inverse_masses[p as usize].min(*ease)));
            settle(x, v);
            // A rigid body gives way less than its particles would: next time it is known by how much.
            let asked = impulse.length() * *mobility;
            if asked > 0.0 {
                let given = (velocity(v) - own).dot(impulse) / impulse.length();
                *mobility *= (given / asked).clamp(0.2, 1.0);
            }
        }
    }
    let share = if contacts.iter().all(|(s, ..)| s.drift == DVec3::ZERO) {
        calmest(&before, v, inverse_masses)
    } else {
        1.0
    };
    for ((x, v), before) in x.iter_mut().zip(v).zip(&before) {
        let change = (*v - *before) * share;
        *v = *before + change;
        *x += change * h;
    }
}

/// The share of a change of velocities, from 0 to 1, with which there is the least kinetic energy: friction on what stands never adds any.
fn calmest(before: &[DVec3], after: &[DVec3], inverse_masses: &[f64]) -> f64 {
    let (mut along, mut change) = (0.0, 0.0);
    for ((from, to), w) in before.iter().zip(after).zip(inverse_masses).filter(|(_, w)| **w > 0.0) {
        along += from.dot(*to - *from) / w;
        change += from.distance_squared(*to) / w;
    }
    if change > 0.0 { (-along / change).clamp(0.0, 1.0) } else { 0.0 }
}
