//! Contacts that an implicit system holds by itself: which they are, and what each of them does (FAU-44, FAU-45, FAU-64).
//!
//! What is put out of something after a step was solved has fallen in that step, and the rest of a heavy body with it: it comes to rest only on
//! average, and what lies on it is thrown. So what would be too near at the end of a step is part of the system that moves it: springs and brakes
//! ([`ContactSpring`]) between particles of one body, of several, or with colliders, primitives and meshes alike; those of followers act on what they
//! follow. A step is solved; contacts that are open are left out, those that were forgotten are added, each one's push is taken at the depth
//! that came out, its friction from the sliding that came out; and it is solved again, [`ROUNDS`] times at most, until nothing changes any
//! more. What is then still too near is put out as always (`contact/response.rs`, `contact/surfaces.rs`).
//!
//! Promised: a function of places, velocities and colliders of the substep, and of nothing else. A body that lies still keeps in its places what it
//! is pushed with, as the depth of its contacts, so that most steps need two solves. Not for what bounces: there impulses act.

use std::collections::BTreeSet;

use glam::DVec3;

use super::Contacts;
use crate::control::Control;
use crate::energy::{ContactSpring, ContactSprings};
use crate::model::Model;

/// How often a substep is solved at most as contacts appear, stick, slide and open.
pub(crate) const ROUNDS: u32 = 8;

/// Contacts that the system holds are put out by impulses only where they are nearer than this share of their distance.
pub(crate) const SLACK: f64 = 0.25;

/// How many times stiffer a contact is than the inertia of what it holds: it lets through 1 / (1 + this) of what would be without it.
const STIFFNESS: f64 = 50.0;

/// And a body that stands on so many contacts presses none of them to less than half of its distance, however light its feet are.
const LEGS: f64 = 4.0;

/// How many times stronger a brake is than the inertia of what it holds.
const GRIP: f64 = 50.0;

/// Or, if that is more: as strong as takes all that friction can give at this sliding speed, m/s.
const CREEP: f64 = 0.01;

/// Sliding is fast if friction would need so many steps to stop it.
const FAST: f64 = 2.0;

/// A push or a friction that changes by less than this share of what it can be is taken as it is,
const SETTLED: f64 = 0.005;

/// and what sticks if it slides slower than this, m/s.
const STILL: f64 = 2e-5;

/// Who touches whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    /// A particle of the system and a collider that is a primitive.
    Collider(u32, u32),
    /// Vertices of surfaces, and how many of them are on the first side.
    Surfaces([u32; 4], u8),
}

/// What a contact is between, before anything is known of what it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    /// Particles of the system, and what each counts in the gap.
    pub particles: [(u32, f64); 4],
    /// Direction of the gap, of length 1.
    pub normal: DVec3,
    /// Where the gap is counted from along the normal, m.
    pub offset: f64,
    /// Distance that is kept, m.
    pub distance: f64,
    /// How easily both sides give way, 1/kg.
    pub mobility: f64,
    /// The weight of the heavier of the solid bodies that it is between, N.
    pub weight: f64,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Velocity of what is touched, m/s.
    pub drift: DVec3,
}

/// The contacts of a system in one substep.
#[derive(Debug, Default)]
pub(crate) struct HeldContacts {
    /// In the order in which they appeared.
    keys: Vec<Key>,
    mobilities: Vec<f64>,
    /// What they do, as the system takes it.
    pub springs: ContactSprings,
    known: BTreeSet<Key>,
}

impl HeldContacts {
    /// Begins a substep.
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.mobilities.clear();
        self.springs.springs.clear();
        self.known.clear();
    }

    /// Adds a contact that is expected, unless it is there; tells whether it was not. Places and velocities are those of the beginning of a substep
    /// of `h`, whose usual length is `usual`, s: stiffness must not change when a frame is cut finer. As long as nothing is solved `only_closed` ones are
    /// added: another contact may keep the others open, and a spring that is open pulls.
    pub(crate) fn expect(
        &mut self,
        key: Key,
        meeting: &Meeting,
        (x0, v0): (&[DVec3], &[DVec3]),
        (h, usual): (f64, f64),
        only_closed: bool,
    ) -> bool {
        if meeting.mobility <= 0.0 || meeting.distance <= 0.0 || self.known.contains(&key) {
            return false;
        }
        let Meeting { particles, normal, offset, distance, mobility, weight, friction, drift } = *meeting;
        let for_inertia = STIFFNESS / (mobility * usual * usual);
        let for_weight = weight / (LEGS * distance);
        let mut spring = ContactSpring {
            particles,
            normal,
            offset,
            distance,
            stiffness: for_inertia.max(for_weight),
            friction,
            drift,
            at: 0.0,
            held: DVec3::ZERO,
            grip: 0.0,
        };
        let depth = spring.depth(x0);
        if only_closed && depth <= 0.0 {
            return false;
        }
        self.known.insert(key);
        spring.at = depth.clamp(0.0, distance);
        let (push, _) = spring.push(spring.at);
        rub(&mut spring, push, v0, mobility, h);
        self.keys.push(key);
        self.mobilities.push(mobility);
        self.springs.springs.push(spring);
        true
    }

    /// Takes each contact as it came out of a solve, at `x` and `v`; what is open is left out. Tells whether anything changed.
    pub(crate) fn review(&mut self, x: &[DVec3], v: &[DVec3], h: f64) -> bool {
        let HeldContacts { keys, mobilities, springs: ContactSprings { springs }, known, .. } = self;
        let mut changed = false;
        let mut kept = 0;
        for k in 0..springs.len() {
            let spring = &mut springs[k];
            let depth = spring.depth(x);
            if depth <= 0.0 {
                known.remove(&keys[k]);
                changed = true;
                continue;
            }
            let was = spring.linear_push(depth);
            spring.at = depth.min(spring.distance);
            let (push, _) = spring.push(depth);
            changed |= (push - was).abs() > SETTLED * push;
            changed |= rub(spring, was, v, mobilities[k], h);
            keys[kept] = keys[k];
            mobilities[kept] = mobilities[k];
            springs[kept] = springs[k];
            kept += 1;
        }
        keys.truncate(kept);
        mobilities.truncate(kept);
        springs.truncate(kept);
        changed
    }

    /// The contacts with colliders that are primitives: particle of the system, collider and spring.
    pub(crate) fn with_colliders(&self) -> impl Iterator<Item = (u32, u32, &ContactSpring)> {
        self.keys.iter().zip(&self.springs.springs).filter_map(|(key, spring)| match key {
            Key::Collider(particle, collider) => Some((*particle, *collider, spring)),
            Key::Surfaces(..) => None,
        })
    }
}

/// Finds what friction does, from velocities: what would take more than Coulomb's law allows for a push slides. Tells whether that has changed.
fn rub(spring: &mut ContactSpring, push: f64, v: &[DVec3], mobility: f64, h: f64) -> bool {
    let most = spring.friction * push.max(0.0);
    let firm = (GRIP / (mobility * h)).max(most / CREEP);
    let slip = spring.slip(v);
    let speed = slip.length();
    let used = spring.held - slip * spring.grip;
    let wanted = spring.held - slip * firm;
    // A force that turned the sliding round was too much: it sticks.
    let turned_round = spring.grip == 0.0 && spring.held.dot(slip) > 0.0;
    if turned_round || wanted.length() <= most {
        // What was held by its force and its brake together is held by that force next time.
        spring.held = if spring.grip > 0.0 { used.clamp_length_max(most) } else { DVec3::ZERO };
        spring.grip = firm;
        return speed > STILL;
    }
    let is_fast = speed > FAST * most * mobility * h;
    if is_fast || spring.grip >= GRIP / (mobility * h) {
        // Friction cannot turn round what is fast; and what begins to slide has no speed yet that tells how strong a brake must be.
        (spring.held, spring.grip) = (wanted * (most / wanted.length()), 0.0);
    } else {
        // A brake that takes what friction takes at this speed never turns the sliding round.
        (spring.held, spring.grip) = (DVec3::ZERO, most / speed);
    }
    let now = spring.held - slip * spring.grip;
    (now - used).length() > SETTLED * most
}

/// Finds particles of a body that are nearer to a collider at `ahead` than they should be, when the substep of `h` to share `s1` of the step ends.
pub(crate) fn meet_colliders(
    contacts: &Contacts,
    (model, control, b): (&Model, &Control, usize),
    (s0, s1, h): (f64, f64, f64),
    (mobilities, weight): (&[f64], f64),
    ahead: &[DVec3],
    mut meet: impl FnMut(u32, u32, Meeting),
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
            let normal = after.rotate(normal);
            let v = i as u32;
            let meeting = Meeting {
                particles: [(v, 1.0), (v, 0.0), (v, 0.0), (v, 0.0)],
                normal,
                offset: normal.dot(p) - distance,
                distance: skin,
                mobility: mobilities[i],
                weight,
                friction: material.friction,
                drift: (p - before.apply(local)) / h,
            };
            meet(v, c, meeting);
        }
    }
}
