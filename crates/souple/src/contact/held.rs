//! Contacts that an implicit system holds by itself: which they are, and what each of them does (FAU-44, FAU-45, FAU-64).
//!
//! What is put out of something after a step was solved has fallen in that step, and the rest of a heavy body with it: it comes to rest only on
//! average, and what lies on it is thrown. So what would be too near at the end of a step is part of the system that moves it: springs and brakes
//! ([`ContactSpring`]) between particles of one body, of several, or with colliders, primitives and meshes alike; those of followers act on what they
//! follow. A step is solved; its answer is gone towards as far as the step is less there, by the laws of contacts themselves and not by their tangents;
//! contacts that were forgotten are added, each one's push is taken at the depth where it is now, its friction from the sliding, and it is solved
//! again, [`ROUNDS`] times at most, until nothing changes any more. Each of these solves makes a convex function less, so that what comes out is
//! no worse than where it began, however many contacts appear at once and however few rounds there are. What is then still too near is put out as
//! always (`contact/response.rs`, `contact/surfaces.rs`).
//!
//! Many vertices of a fine surface in cells may lean on the same few particles. Where they lie on something that does not give way, together they are as stiff
//! as one alone would be: what each is given is what it has by itself, divided by how much more it gives way when all push. So a finer surface lands
//! as a coarser one does, and the system is no harder to solve. Between two bodies in cells the side that gives way less when all push, the heavier one, tells how
//! stiff they are together: a heavy body on a light one needs all that contacts have, and keeps it. Others, such as rigid bodies, share nothing with each other.
//!
//! Promised: a function of places, velocities and colliders of the substep, and of nothing else. A body that lies still keeps in its places what it
//! is pushed with, as the depth of its contacts, so that most steps need two solves. Not for what bounces: there impulses act.

use std::collections::BTreeMap;

use glam::DVec3;

use super::Contacts;
use crate::control::Control;
use crate::energy::{ContactSpring, ContactSprings};
use crate::mapping::Mapping;
use crate::model::Model;

/// How often a substep is solved at most as contacts appear, stick, slide and open.
pub(crate) const ROUNDS: u32 = 8;

/// Contacts that the system holds are put out by impulses only where they are nearer than this share of their distance.
pub(crate) const SLACK: f64 = 0.25;

/// How many times stiffer a contact is than the inertia of what it holds: it lets through 1 / (1 + this) of what would be without it.
const STIFFNESS: f64 = 50.0;

/// And a body that stands on so many particles, or on as many as there are if these are fewer, presses none of its contacts to less than half of their
/// distance, however light its feet are.
const LEGS: f64 = 4.0;

/// How many times stronger a brake is than the inertia of what it holds.
const GRIP: f64 = 50.0;

/// Or, if that is more: as strong as takes all that friction can give at this sliding speed, m/s.
const CREEP: f64 = 0.01;

/// Sliding is fast if friction would need so many steps to stop it.
const FAST: f64 = 2.0;

/// A contact that is only expected begins at this share of its distance.
const CLOSING: f64 = 1e-6;

/// A way is far enough where it goes down so many times less steeply than where it begins,
const FLAT: f64 = 0.2;

/// and halved so often at most.
const HALVINGS: u32 = 20;

/// A push or a friction that changes by less than this share of what it can be is taken as it is,
const SETTLED: f64 = 0.005;

/// and what sticks if it slides slower than this, m/s,
const STILL: f64 = 2e-5;

/// or than this share of the speed of all that is solved with it.
const STILL_BESIDE: f64 = 1e-3;

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
    /// Whether many of its kind may lean on the same few particles: all that can be moved of it follows cells.
    pub is_shared: bool,
}

/// The contacts of a system in one substep.
#[derive(Debug, Default)]
pub(crate) struct HeldContacts {
    /// In the order in which they appeared.
    keys: Vec<Key>,
    meetings: Vec<Meeting>,
    /// How easily each gives way when all push, 1/kg.
    mobilities: Vec<f64>,
    /// What they do, as the system takes it.
    pub springs: ContactSprings,
    known: BTreeMap<Key, usize>,
    /// Those that nothing is known of yet but that they are expected.
    fresh: Vec<usize>,
    /// For each particle of the system, how much contacts lean on it.
    load: Vec<f64>,
}

impl HeldContacts {
    /// Begins a substep.
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.meetings.clear();
        self.mobilities.clear();
        self.springs.clear();
        self.known.clear();
        self.fresh.clear();
    }

    /// Adds a contact that is expected, unless it is there and closed; tells whether it was not. Places are those of the beginning of the substep.
    /// As long as nothing is solved `only_closed` ones are added: another contact may keep the others open.
    pub(crate) fn expect(&mut self, key: Key, meeting: &Meeting, x0: &[DVec3], only_closed: bool) -> bool {
        let place = self.known.get(&key).copied();
        let is_held = place.is_some_and(|k| self.springs.springs[k].is_closed());
        if meeting.mobility <= 0.0 || meeting.distance <= 0.0 || is_held {
            return false;
        }
        let Meeting { particles, normal, offset, distance, friction, drift, .. } = *meeting;
        let mut spring = ContactSpring {
            particles,
            normal,
            offset,
            distance,
            stiffness: 0.0,
            friction,
            drift,
            most: 0.0,
            multiplier: DVec3::ZERO,
            firm: 0.0,
            at: 0.0,
            held: DVec3::ZERO,
            grip: 0.0,
        };
        let depth = spring.depth(x0);
        if only_closed && depth <= 0.0 {
            return false;
        }
        // It pushes with what it was pressed with; what has just come near is a plain spring at first.
        spring.at = depth.clamp(CLOSING * distance, distance);
        let k = place.unwrap_or(self.keys.len());
        if place.is_some() {
            self.springs.replace(k, spring);
            self.meetings[k] = *meeting;
        } else {
            self.known.insert(key, k);
            self.keys.push(key);
            self.meetings.push(*meeting);
            self.mobilities.push(0.0);
            self.springs.springs.push(spring);
        }
        self.fresh.push(k);
        true
    }

    /// Finds how stiff contacts are, of particles that follow others as a mapping says and have these inverse masses, 1/kg. Velocities are those of the
    /// beginning of a substep of `h`, whose usual length is `usual`, s: stiffness must not change when a frame is cut finer.
    pub(crate) fn arrange(
        &mut self,
        mapping: &Mapping,
        inverse_mass: impl Fn(u32) -> f64,
        v0: &[DVec3],
        (h, usual): (f64, f64),
    ) {
        let HeldContacts { meetings, mobilities, springs, fresh, load, .. } = self;
        springs.lay_out(mapping);
        load.clear();
        load.resize(v0.len(), 0.0);
        let leaning = springs.springs.iter().zip(springs.rows()).zip(&*meetings);
        for ((_, row), _) in leaning.filter(|((spring, _), meeting)| spring.is_closed() && meeting.is_shared)
        {
            row.iter().for_each(|(p, w)| load[*p as usize] += w.abs());
        }
        // Where many lean on the same particles, all together are as stiff as one alone would be.
        let mut legs = 0.0;
        for (k, row) in springs.rows().enumerate() {
            let sharing = if meetings[k].is_shared { sharing(row, load, &inverse_mass) } else { 1.0 };
            mobilities[k] = meetings[k].mobility * sharing;
            legs += if springs.springs[k].is_closed() { 1.0 / sharing } else { 0.0 };
        }
        let legs = legs.clamp(1.0, LEGS);
        for ((spring, meeting), mobility) in springs.springs.iter_mut().zip(&*meetings).zip(&*mobilities) {
            let for_inertia = STIFFNESS / (mobility * usual * usual);
            let for_weight = meeting.weight / (legs * meeting.distance) * (meeting.mobility / mobility);
            spring.stiffness = for_inertia.max(for_weight);
        }
        for k in fresh.drain(..) {
            let spring = &mut springs.springs[k];
            let (push, _) = spring.push(spring.at);
            rub(spring, push, v0, mobilities[k], h, STILL);
        }
    }

    /// How far to go from places and velocities where the laws were taken to those that a solve with their tangents has found, from 0 to 1, in a substep
    /// of `h`: to where the step is least, by the laws themselves. `slopes` are the derivatives of what all but contacts add to it, at both ends.
    pub(crate) fn way(
        &self,
        (x, v): (&[DVec3], &[DVec3]),
        (to_x, to_v): (&[DVec3], &[DVec3]),
        slopes: [f64; 2],
        h: f64,
    ) -> f64 {
        /// A contact on the way.
        struct Course<'a> {
            spring: &'a ContactSpring,
            depth: [f64; 2],
            slip: [DVec3; 2],
        }
        let course = |spring| {
            let spring: &ContactSpring = spring;
            Course {
                spring,
                depth: [spring.depth(x), spring.depth(to_x)],
                slip: [spring.slip(v), spring.slip(to_v)],
            }
        };
        let courses: Vec<Course> = self.springs.springs.iter().map(course).collect();
        let derivative = |share: f64| {
            let of_contact = |c: &Course| {
                let [deep, deeper] = c.depth;
                let [slip, to] = c.slip;
                let push = c.spring.push(deep + share * (deeper - deep)).0;
                let rub = c.spring.friction_force(slip.lerp(to, share));
                push * (deeper - deep) - h * rub.dot(to - slip)
            };
            slopes[0] + share * (slopes[1] - slopes[0]) + courses.iter().map(of_contact).sum::<f64>()
        };
        let steepest = -derivative(0.0);
        let is_flat = |slope: f64| slope.abs() <= FLAT * steepest;
        let end = derivative(1.0);
        if end <= 0.0 || is_flat(end) {
            return 1.0;
        }
        // What is sought is convex: its derivative grows.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            let slope = derivative(middle);
            if is_flat(slope) {
                return middle;
            }
            if slope < 0.0 { low = middle } else { high = middle }
        }
        low
    }

    /// Takes each contact as it is at `x` and `v`, which a solve has led to; one that is open does nothing. Tells whether anything changed.
    pub(crate) fn review(&mut self, x: &[DVec3], v: &[DVec3], h: f64) -> bool {
        let mut changed = false;
        let squares: f64 = v.iter().map(|v| v.length_squared()).sum();
        let still = STILL.max(STILL_BESIDE * (squares / v.len() as f64).sqrt());
        for (spring, mobility) in self.springs.springs.iter_mut().zip(&self.mobilities) {
            let depth = spring.depth(x);
            let was = spring.linear_push(depth);
            let was_closed = spring.is_closed();
            spring.at = depth.clamp(0.0, spring.distance);
            let (push, _) = spring.push(depth);
            changed |= was_closed != spring.is_closed() || (push - was).abs() > SETTLED * push;
            changed |= rub(spring, push, v, *mobility, h, still) && spring.is_closed();
        }
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

/// How many times more a contact gives way when all that lean on its particles push, on the side that gives way less of those that can be moved; at least 1.
fn sharing(row: &[(u32, f64)], load: &[f64], inverse_mass: impl Fn(u32) -> f64) -> f64 {
    let (mut alone, mut all) = (0.0, [0.0; 2]);
    for (p, w) in row {
        let ease = inverse_mass(*p) * w.abs();
        alone += ease * w.abs();
        all[usize::from(*w < 0.0)] += ease * load[*p as usize];
    }
    let least = all.into_iter().filter(|all| *all > 0.0).fold(f64::INFINITY, f64::min);
    if least.is_finite() && least > alone { least / alone } else { 1.0 }
}

/// Finds what friction does, from velocities: what would take more than Coulomb's law allows for a push slides. Tells whether that has changed.
fn rub(spring: &mut ContactSpring, push: f64, v: &[DVec3], mobility: f64, h: f64, still: f64) -> bool {
    let slip = spring.slip(v);
    let speed = slip.length();
    let used = spring.held - slip * spring.grip;
    let stuck = spring.grip > 0.0 && spring.grip == spring.firm;
    spring.most = spring.friction * push.max(0.0);
    let is_new = spring.firm == 0.0;
    // What it held with it holds with from now on, as far as it can.
    let wanted = spring.multiplier - slip * spring.firm;
    spring.multiplier = wanted.clamp_length_max(spring.most);
    spring.firm = (GRIP / (mobility * h)).max(spring.most / CREEP);
    // What begins to be rubbed has held with nothing yet: then its brake tells whether it sticks.
    let tried = if is_new { slip * spring.firm } else { wanted };
    if tried.length() <= spring.most {
        (spring.held, spring.grip) = (spring.multiplier, spring.firm);
        return speed > still;
    }
    if stuck || speed > FAST * spring.most * mobility * h {
        // Friction cannot turn round what is fast; and what begins to slide has no speed yet that tells how strong a brake must be.
        (spring.held, spring.grip) = (spring.friction_force(slip), 0.0);
    } else {
        // A brake that takes what friction takes at this speed never turns the sliding round.
        (spring.held, spring.grip) = (DVec3::ZERO, spring.most / speed);
    }
    let now = spring.held - slip * spring.grip;
    (now - used).length() > SETTLED * spring.most
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
                is_shared: model.bodies[b].rigid.is_none(),
            };
            meet(v, c, meeting);
        }
    }
}
