//! Elastic layers (SIM-05…15): particles that ride on the vertices of a skin, held to them or not.
//!
//! A particle is one place of the skin; vertices that lie there and move alike are one (SIM-06). It is fixed, attached or mobile (SIM-07): fixed ones are
//! supports that the skin carries; attached ones have an anchor, a spring of length 0 to where the skin has them that acts beyond a slack, the
//! amplitude of their motion (SIM-08), so that nothing happens at distance 0; mobile ones are held by their neighbours alone.

use glam::DVec3;

use super::character::{CharacterModel, Posed};
use crate::control::Control;
use crate::math::exp;
use crate::model::{BodyModel, Model, PinCarrier};
use crate::state::{BodyState, PinnedVertex};

/// A compiled elastic layer of a character.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Number of the character.
    pub character: usize,
    /// Mesh and vertex that each particle rides on.
    pub vertices: Vec<(u32, u32)>,
    /// All vertices of the rig that are where a particle is: mesh, vertex and particle, in their order.
    pub worn: Vec<(u32, u32, u32)>,
    /// What attaches particles.
    pub anchors: Vec<Anchor>,
    /// Which particles are fixed or attached: springs between two of them are as long as the skin has them, so that flesh rests where bones put it. Mobile
    /// ones, as of a strap, have lengths of their own.
    pub follows: Vec<bool>,
    /// How fast each particle loses its velocity against the skin, 1/s; may be infinite.
    pub damping: Vec<f64>,
    /// How fast each loses its velocity against the air, 1/s; may be infinite.
    pub drag: Vec<f64>,
    /// What the friction of colliders is multiplied by, for each.
    pub friction: Vec<f64>,
    /// The mean of that, for solvers that know no particle by itself in contact.
    pub mean_friction: f64,
    /// Colliders that are the skin itself, and so show the layer.
    pub shown_by: Vec<Wearer>,
}

/// A collider whose vertices are where particles of a layer are.
#[derive(Clone, Debug, PartialEq)]
pub struct Wearer {
    /// Number of the collider.
    pub collider: usize,
    /// Its vertices, and the particles that they are.
    pub vertices: Vec<(u32, u32)>,
}

/// A spring from a particle to where the skin has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    /// The particle.
    pub particle: u32,
    /// Its angular frequency, 1/s.
    pub frequency: f64,
    /// Distance up to which it does nothing, m.
    pub slack: f64,
}

impl Anchor {
    /// Share of what is beyond its slack that it takes back in a step of `h`: backward Euler of x″ = −ω² x.
    pub fn share(&self, h: f64) -> f64 {
        let z = self.frequency * h;
        z * z / (1.0 + z * z)
    }
}

impl Layer {
    /// Where the skin has a particle in the frame of its character, m.
    fn local(&self, characters: &[CharacterModel], posed: &Posed, particle: usize) -> DVec3 {
        let (mesh, v) = self.vertices[particle];
        posed.characters[self.character].vertex(&characters[self.character], mesh, v)
    }

    /// Where the skin has a particle, m; none of one that was cut from another.
    pub fn place(&self, characters: &[CharacterModel], posed: &Posed, particle: u32) -> Option<DVec3> {
        let is_ours = (particle as usize) < self.vertices.len();
        let place = || self.local(characters, posed, particle as usize);
        is_ours.then(|| posed.characters[self.character].pose.apply(place()))
    }
}

/// Where the skin has the particles of a layer during a step; empty of bodies that are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rides {
    /// In the frame of the character, at the start and at the end, m.
    local: [Vec<DVec3>; 2],
    /// In the world, at the start and at the end, m.
    pub places: Vec<[DVec3; 2]>,
    /// One over the length of the step, 1/s; 0 if it has none.
    rate: f64,
}

impl Rides {
    /// The end of the last step is the start of the next.
    pub(crate) fn swap(&mut self) {
        self.local.swap(0, 1);
    }

    /// Finds where particles of all bodies are in the frames of their characters at the start (0) or at the end (1) of a step.
    pub(crate) fn find_all(all: &mut [Rides], model: &Model, posed: &Posed, which: usize) {
        for (body, rides) in model.bodies.iter().zip(all) {
            if let Some(layer) = &body.layer {
                let local = &mut rides.local[which];
                local.clear();
                let c = layer.character;
                posed.characters[c].vertices(&model.characters[c], &layer.vertices, local);
            }
        }
    }

    /// Puts them in the world, where characters are at both ends of a step of `dt`.
    pub(crate) fn put_all(all: &mut [Rides], model: &Model, [start, end]: &[Posed; 2], dt: f64) {
        for (body, rides) in model.bodies.iter().zip(all) {
            if let Some(layer) = &body.layer {
                let [from, to] = [start, end].map(|posed| posed.characters[layer.character].pose);
                let Rides { local: [before, after], places, rate } = rides;
                *rate = if dt > 0.0 { 1.0 / dt } else { 0.0 };
                places.clear();
                places.extend(before.iter().zip(&*after).map(|(a, b)| [from.apply(*a), to.apply(*b)]));
            }
        }
    }

    /// Where a support is that the skin carries, at the start (0) or at the end (1); none of others.
    pub(crate) fn support(
        &self,
        body: &BodyModel,
        state: &BodyState,
        pin: &PinnedVertex,
        which: usize,
    ) -> Option<DVec3> {
        let set = body.pins.get(pin.set as usize).filter(|set| set.carrier == PinCarrier::Layer);
        let place = self.places.get(pin.vertex as usize).filter(|_| set.is_some())?;
        Some(place[which] + state.pin_offsets[pin.set as usize])
    }

    /// What stands where the step began.
    pub(crate) fn settle(&mut self) {
        let [from, to] = &mut self.local;
        to.clone_from(from);
    }

    /// Where a particle is at a share of the step, m.
    pub fn at(&self, particle: usize, share: f64) -> DVec3 {
        let [start, end] = self.places[particle];
        start.lerp(end, share)
    }

    /// The velocity of the skin there, m/s.
    pub fn velocity(&self, particle: usize) -> DVec3 {
        let [start, end] = self.places[particle];
        (end - start) * self.rate
    }

    /// Where the skin has a particle at the end of the step, m, if it follows it; none was cut from another.
    pub(crate) fn end(&self, layer: &Layer, particle: usize) -> Option<DVec3> {
        let [_, end] = self.places.get(particle)?;
        layer.follows.get(particle).is_some_and(|follows| *follows).then_some(*end)
    }

    /// Whether the skin stands still.
    pub(crate) fn stands(&self) -> bool {
        self.places.iter().all(|[start, end]| start == end)
    }

    /// Whether all of it are finite numbers.
    pub(crate) fn is_finite(&self) -> bool {
        self.places.iter().flatten().all(|x| x.is_finite())
    }

    /// Stands at these places, of particles that are somewhere.
    pub(crate) fn hold(&mut self, x: &[DVec3]) {
        self.places.iter_mut().zip(x).for_each(|(place, x)| *place = [*x; 2]);
    }
}

/// How much of its velocity each particle of a layer keeps in a step: known once, as long as steps are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keeps {
    step: f64,
    /// Against the skin, and against the air; none if nothing is lost.
    damping: Vec<f64>,
    drag: Vec<f64>,
}

impl Keeps {
    /// For steps of `h`.
    pub(crate) fn fit(&mut self, layer: &Layer, h: f64) {
        if self.step == h {
            return;
        }
        self.step = h;
        for (keeps, rates) in [(&mut self.damping, &layer.damping), (&mut self.drag, &layer.drag)] {
            keeps.clear();
            if rates.iter().any(|rate| *rate > 0.0) {
                keeps.extend(rates.iter().map(|rate| if rate.is_finite() { exp(-rate * h) } else { 0.0 }));
            }
        }
    }

    /// Slows particles down for one step: first against the skin, then against the air.
    pub(crate) fn slow(&self, rides: &Rides, control: &Control, inverse_masses: &[f64], v: &mut [DVec3]) {
        for (i, keep) in self.damping.iter().enumerate().filter(|(i, _)| inverse_masses[*i] > 0.0) {
            let skin = rides.velocity(i);
            v[i] = skin + (v[i] - skin) * *keep;
        }
        let air = DVec3::from(control.wind.velocity);
        for (i, keep) in self.drag.iter().enumerate().filter(|(i, _)| inverse_masses[*i] > 0.0) {
            v[i] = air + (v[i] - air) * *keep;
        }
    }
}
