//! All that changes while a scene runs and that a snapshot saves.

use std::sync::Arc;

use glam::{DMat3, DVec3};

use crate::math::{Pose, mix};
use crate::mesh::Topology;
use crate::mesh::tear::Torn;
use crate::model::Model;
use crate::paper::{PaperModel, PaperState};
use crate::skin::BoneTurn;
use crate::wrinkles::Folds;

/// State of a running scene. Scratch memory of solvers is not part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Simulated time, s.
    pub time: f64,
    /// Steps done.
    pub step: u64,
    /// One per body of the model.
    pub bodies: Vec<BodyState>,
    /// What commands have moved each collider by, on top of its script.
    pub collider_offsets: Vec<Pose>,
    /// How commands have turned bones of characters, on top of their clips; each bone once, by character and node.
    pub bone_turns: Vec<BoneTurn>,
    /// Mean wind set by command instead of the scene's, m/s.
    pub wind_override: Option<DVec3>,
    /// Particles held by a hand, in the order they were grabbed.
    pub grabs: Vec<Grab>,
    /// A fan that blows, switched on by command.
    pub fan: Option<Fan>,
    /// Folds that are drawn on each body; none on bodies without.
    pub folds: Vec<Folds>,
    /// Folds that are drawn on each collider; none on those without.
    pub skin_folds: Vec<Folds>,
    /// One per sheet of paper of the model.
    pub papers: Vec<PaperState>,
}

/// State of one soft body.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyState {
    /// Positions, m.
    pub x: Vec<DVec3>,
    /// Velocities, m/s.
    pub v: Vec<DVec3>,
    /// What each element has flowed to: of solids, against the shape of the model, Fₚ with determinant 1 (`energy/plastic.rs`); of sheets the second
    /// derivatives that they keep, 1/m (`energy/crease.rs`); empty if none may.
    pub plastic: Vec<DMat3>,
    /// What joins the particles now; the model's until the body tears.
    pub topology: Arc<Topology>,
    /// Supported particles, ascending by vertex.
    pub pinned: Vec<PinnedVertex>,
    /// What commands have moved each pin set by, m.
    pub pin_offsets: Vec<DVec3>,
    /// Whether it diverged for good and is no longer simulated.
    pub frozen: bool,
    /// Frames in a row in which it was still; it sleeps when they are enough.
    pub still_frames: u32,
}

/// A supported particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PinnedVertex {
    /// The particle.
    pub vertex: u32,
    /// Its pin set in the model; [`PinnedVertex::BY_HAND`] if it was anchored by command.
    pub set: u32,
    /// Where it was when the scene began or when it was anchored, m.
    pub anchor: DVec3,
}

impl PinnedVertex {
    /// The set of particles anchored by command.
    pub const BY_HAND: u32 = u32::MAX;
}

/// A particle pulled by a spring towards a target (ESSI-29).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grab {
    /// Body.
    pub body: u32,
    /// Particle.
    pub vertex: u32,
    /// Where it is pulled to, m.
    pub target: DVec3,
    /// Stiffness of the pull, N/m.
    pub stiffness: f64,
}

/// A fan: a round jet of air. How it spreads is said in `energy/fan.rs`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fan {
    /// Centre of the fan, m.
    pub origin: DVec3,
    /// Unit vector along which it blows.
    pub direction: DVec3,
    /// Speed of the air on the axis where it leaves the fan, m/s.
    pub speed: f64,
    /// Distance from the axis at which the speed has fallen to 1/e there, m.
    pub radius: f64,
}

impl State {
    /// The state at the start of a scene.
    pub fn new(model: &Model) -> State {
        State {
            time: 0.0,
            step: 0,
            bodies: model
                .bodies
                .iter()
                .map(|body| {
                    let mut pinned: Vec<PinnedVertex> = (0u32..)
                        .zip(&body.pins)
                        .flat_map(|(set, pin)| {
                            pin.vertices.iter().map(move |&vertex| PinnedVertex {
                                vertex,
                                set,
                                anchor: body.topology.rest_positions[vertex as usize],
                            })
                        })
                        .collect();
                    pinned.sort_by_key(|p| (p.vertex, p.set));
                    pinned.dedup_by_key(|p| p.vertex);
                    BodyState {
                        x: body.topology.rest_positions.clone(),
                        v: vec![body.velocity; body.topology.len()],
                        plastic: body.unflowed(),
                        topology: Arc::clone(&body.topology),
                        pinned,
                        pin_offsets: vec![DVec3::ZERO; body.pins.len()],
                        frozen: false,
                        still_frames: 0,
                    }
                })
                .collect(),
            collider_offsets: vec![Pose::IDENTITY; model.colliders.len()],
            bone_turns: Vec::new(),
            wind_override: None,
            grabs: Vec::new(),
            fan: None,
            folds: vec![Folds::default(); model.bodies.len()],
            skin_folds: vec![Folds::default(); model.colliders.len()],
            papers: model.papers.iter().map(PaperModel::begin).collect(),
        }
    }

    /// Number of particles of all bodies.
    pub fn particle_count(&self) -> usize {
        self.bodies.iter().map(|b| b.x.len()).sum()
    }

    /// Hash of every bit that matters: equal states have equal hashes on every machine.
    pub fn hash(&self) -> u64 {
        let mut hash = Hasher::default();
        hash.word(self.time.to_bits());
        hash.word(self.step);
        for body in &self.bodies {
            hash.word(body.x.len() as u64);
            hash.vectors(&body.x);
            hash.vectors(&body.v);
            for m in &body.plastic {
                hash.vectors(&[m.x_axis, m.y_axis, m.z_axis]);
            }
            hash.word(body.topology.version);
            hash.word(body.pinned.len() as u64);
            for pin in &body.pinned {
                hash.word(u64::from(pin.vertex) << 32 | u64::from(pin.set));
            }
            hash.vectors(&body.pin_offsets);
            hash.word(u64::from(body.frozen));
            // Recordings made before bodies could sleep keep their hashes.
            if body.still_frames > 0 {
                hash.word(u64::from(body.still_frames));
            }
        }
        for pose in &self.collider_offsets {
            hash.vectors(&[pose.translation, pose.rotation.xyz()]);
            hash.number(pose.rotation.w);
        }
        for turn in &self.bone_turns {
            hash.word(u64::from(turn.character) << 32 | u64::from(turn.node));
            hash.vectors(&[turn.shift, turn.rotation.xyz()]);
            hash.number(turn.rotation.w);
        }
        hash.vectors(&[self.wind_override.unwrap_or(DVec3::ZERO)]);
        for grab in &self.grabs {
            hash.word(u64::from(grab.body) << 32 | u64::from(grab.vertex));
            hash.vectors(&[grab.target]);
            hash.number(grab.stiffness);
        }
        if let Some(fan) = &self.fan {
            hash.vectors(&[fan.origin, fan.direction]);
            hash.number(fan.speed);
            hash.number(fan.radius);
        }
        for folds in self.folds.iter().chain(&self.skin_folds).filter(|folds| !folds.curves.is_empty()) {
            folds.hash(&mut hash);
        }
        self.papers.iter().for_each(|paper| paper.hash(&mut hash));
        hash.finish()
    }
}

impl BodyState {
    /// Copies another state of the same body into this one without new memory where the sizes agree.
    pub fn copy_from(&mut self, other: &BodyState) {
        self.x.clone_from(&other.x);
        self.v.clone_from(&other.v);
        self.plastic.clone_from(&other.plastic);
        if !Arc::ptr_eq(&self.topology, &other.topology) {
            self.topology = Arc::clone(&other.topology);
        }
        self.pinned.clone_from(&other.pinned);
        self.pin_offsets.clone_from(&other.pin_offsets);
        self.frozen = other.frozen;
        self.still_frames = other.still_frames;
    }

    /// Keeps the list of supports true after the body, which had `before` particles, was opened.
    pub(crate) fn follow_supports(&mut self, torn: &Torn, before: u32) {
        let known = self.pinned.len();
        for &added in &torn.held {
            let source = torn.source(added, before);
            if let Ok(at) = self.pinned[..known].binary_search_by_key(&source, |p| p.vertex) {
                self.pinned.push(PinnedVertex { vertex: added, ..self.pinned[at] });
            }
        }
        self.pinned.retain(|p| !torn.released.contains(&p.vertex));
        self.pinned.sort_by_key(|p| p.vertex);
    }
}

/// A 64-bit hash with the same result on every machine; not for adversaries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hasher(u64);

impl Default for Hasher {
    fn default() -> Self {
        // Any odd constant: from 0, words of 0 would leave no trace.
        Hasher(0x5350_4c45_0000_0001)
    }
}

impl Hasher {
    pub(crate) fn word(&mut self, word: u64) {
        self.0 = mix(self.0.rotate_left(5) ^ word);
    }

    pub(crate) fn number(&mut self, value: f64) {
        self.word(value.to_bits());
    }

    pub(crate) fn triangles(&mut self, triangles: &[[u32; 3]]) {
        for t in triangles {
            self.word(u64::from(t[0]) << 32 | u64::from(t[1]));
            self.word(u64::from(t[2]));
        }
    }

    pub(crate) fn vectors(&mut self, vectors: &[DVec3]) {
        // Four chains that are joined at the end: the mixing of one number does not wait for the one before.
        let mut lanes = [self.0, self.0 ^ 1, self.0 ^ 2, self.0 ^ 3];
        for quad in vectors.chunks(4) {
            for (lane, v) in lanes.iter_mut().zip(quad) {
                *lane = mix(lane.rotate_left(5) ^ v.x.to_bits());
                *lane = mix(lane.rotate_left(5) ^ v.y.to_bits());
                *lane = mix(lane.rotate_left(5) ^ v.z.to_bits());
            }
        }
        for lane in lanes {
            self.word(lane);
        }
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        for byte in text.bytes() {
            self.word(u64::from(byte));
        }
    }

    pub(crate) fn finish(self) -> u64 {
        self.0
    }
}
