//! What is done to the scene from outside: scripts, commands, wind, at the time of a step.
//!
//! [`Control`] is evaluated once per step: where every support and collider is at its start and at its end (solvers go
//! from one to the other at constant speed), the air, and the hands that hold particles. [`Command`]s are what a person
//! or a control stream does (GRI-10, GRI-11); they are checked when given, logged in recordings, and change the state at
//! the start of the next step.

use glam::DVec3;

use crate::command::{Command, apply, turn_bones};
use crate::math::{self, Pose};
use crate::mesh::bounds;
use crate::model::{BodyModel, Carrier, ColliderModel, Model, PinCarrier};
use crate::motion::{Jump, furthest_way, jump, pose_at};
use crate::paper::between;
use crate::scene::Wind;
use crate::skin::{CharacterModel, Posed, Rides, SkinPoint};
use crate::state::{BodyState, Fan, Grab, PinnedVertex, State};

/// A supported particle over one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PinTarget {
    /// The particle.
    pub vertex: u32,
    /// Where it is at the start of the step, m.
    pub start: DVec3,
    /// Where it is at the end, m.
    pub end: DVec3,
}

/// Everything imposed from outside during one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Control {
    /// Start of the step, s.
    pub t0: f64,
    /// End of the step, s.
    pub t1: f64,
    /// Number of the step.
    pub step: u64,
    /// Supported particles of each body.
    pub pins: Vec<Vec<PinTarget>>,
    /// Where characters are at the start and at the end.
    pub characters: [Posed; 2],
    /// Pose of each collider at the start and at the end.
    pub colliders: Vec<(Pose, Pose)>,
    /// Of each collider that is a skin: its vertices in its own frame at the start and at the end, m.
    pub skins: Vec<[Vec<DVec3>; 2]>,
    /// Of each body that is a layer of a skin: where the skin has its particles.
    pub rides: Vec<Rides>,
    /// The air, with the mean wind that holds now.
    pub wind: Wind,
    /// Particles held by a hand.
    pub grabs: Vec<Grab>,
    /// The fan that blows.
    pub fan: Option<Fan>,
    /// Forces on particles of each body by links with bodies of other groups, N, held during the step.
    pub held_links: Vec<Vec<(u32, DVec3)>>,
}

impl Control {
    /// Control that holds nothing yet, with room for the model.
    pub fn new(model: &Model) -> Control {
        Control {
            t0: 0.0,
            t1: 0.0,
            step: 0,
            pins: vec![Vec::new(); model.bodies.len()],
            characters: Default::default(),
            colliders: vec![(Pose::IDENTITY, Pose::IDENTITY); model.colliders.len()],
            skins: vec![Default::default(); model.colliders.len()],
            rides: vec![Rides::default(); model.bodies.len()],
            wind: model.wind,
            grabs: Vec::new(),
            fan: None,
            held_links: vec![Vec::new(); model.bodies.len()],
        }
    }

    /// Sets everything to where it is at the time of the state, standing still: what is true before a step was made.
    pub(crate) fn settle(&mut self, model: &Model, state: &State) {
        self.begin(model, state);
        let [start, end] = &mut self.characters;
        end.clone_from(start);
        self.skins.iter_mut().for_each(|[start, end]| end.clone_from(start));
        self.rides.iter_mut().for_each(Rides::settle);
        Rides::put_all(&mut self.rides, model, &self.characters, self.t1 - self.t0);
        self.take_over_air_and_hands(model, state);
    }

    /// Puts supports and colliders where they are at the time of the state, standing still, but for characters at the end of the step.
    fn begin(&mut self, model: &Model, state: &State) {
        self.begin_characters(model, state);
        self.begin_supports_and_colliders(model, state);
    }

    fn begin_characters(&mut self, model: &Model, state: &State) {
        (self.t0, self.t1, self.step) = (state.time, state.time, state.step);
        if self.characters[1].time == self.t0 && self.characters[1].turns == state.bone_turns {
            // Where the last step ended.
            self.characters.swap(0, 1);
            self.skins.iter_mut().for_each(|skin| skin.swap(0, 1));
            self.rides.iter_mut().for_each(Rides::swap);
        } else {
            // A teleport leaves the poses of its end behind, at the time of its start.
            self.characters[0].time = f64::NAN;
            self.characters[0].set_turned(&model.characters, &state.bone_turns, self.t0);
            for (collider, [start, _]) in model.colliders.iter().zip(&mut self.skins) {
                collider.skin_places(&model.characters, &self.characters[0], start);
            }
            Rides::find_all(&mut self.rides, model, &self.characters[0], 0);
        }
    }

    fn begin_supports_and_colliders(&mut self, model: &Model, state: &State) {
        let posed = &self.characters[0];
        for (b, body) in state.bodies.iter().enumerate() {
            self.pins[b].clear();
            self.pins[b].extend(body.pinned.iter().map(|pin| {
                let ridden = self.rides[b].support(&model.bodies[b], body, pin, 0);
                let start = ridden.unwrap_or_else(|| pin_position(model, posed, b, pin, &body.pin_offsets));
                PinTarget { vertex: pin.vertex, start, end: start }
            }));
        }
        for (c, pair) in self.colliders.iter_mut().enumerate() {
            let pose = collider_pose(&model.colliders[c], &state.collider_offsets[c], posed);
            *pair = (pose, pose);
        }
    }

    fn take_over_air_and_hands(&mut self, model: &Model, state: &State) {
        self.wind = model.wind;
        if let Some(velocity) = state.wind_override {
            self.wind.velocity = velocity.to_array();
        }
        self.grabs.clone_from(&state.grabs);
        self.fan = state.fan;
        self.hold_links(model, state);
    }

    /// Weak coupling (FAU-69): what links between groups pull with now, they pull with during the whole step.
    fn hold_links(&mut self, model: &Model, state: &State) {
        self.held_links.iter_mut().for_each(Vec::clear);
        for link in model.links.iter().filter(|link| !link.is_strong) {
            let [a, b] = link.bodies;
            for l in &link.links {
                let (one, other) = (&state.bodies[a], &state.bodies[b]);
                let ahead = l.to.place(&other.x) - l.from.place(&one.x);
                let force = l.force(ahead, l.to.motion(&other.v) - l.from.motion(&one.v));
                self.held_links[a].extend(l.from.each().map(|(i, w)| (i, force * w)));
                self.held_links[b].extend(l.to.each().map(|(j, w)| (j, force * -w)));
            }
        }
    }

    /// Applies the commands to `state` and evaluates everything for the step from `state.time` to `state.time + dt`.
    pub(crate) fn evaluate(&mut self, model: &Model, state: &mut State, commands: &[Command], dt: f64) {
        // What supports and colliders start from, before commands move them.
        self.begin_characters(model, state);
        self.t1 = state.time + dt;
        turn_bones(commands, model, &self.characters[0], state);
        self.characters[1].set_turned(&model.characters, &state.bone_turns, self.t1);
        for (collider, [_, end]) in model.colliders.iter().zip(&mut self.skins) {
            collider.skin_places(&model.characters, &self.characters[1], end);
        }
        Rides::find_all(&mut self.rides, model, &self.characters[1], 1);
        self.take_along(model, state);
        Rides::put_all(&mut self.rides, model, &self.characters, self.t1 - self.t0);
        self.begin_supports_and_colliders(model, state);
        let posed = &self.characters[1];
        for command in commands {
            apply(command, model, state);
        }
        for (b, body) in state.bodies.iter_mut().enumerate() {
            let sets = &model.bodies[b].pins;
            // A support whose time is up at the start of a step is none in it; to half a step, as times of steps are rounded.
            let holds = |set: u32| sets.get(set as usize).is_none_or(|p| p.until > state.time + 0.5 * dt);
            if body.pinned.iter().any(|pin| !holds(pin.set)) {
                body.pinned.retain(|pin| holds(pin.set));
                body.still_frames = 0;
            }
        }
        for (b, body) in state.bodies.iter().enumerate() {
            let mut before = 0;
            let old = self.pins[b].len();
            for pin in &body.pinned {
                let ridden = self.rides[b].support(&model.bodies[b], body, pin, 1);
                let end = ridden.unwrap_or_else(|| pin_position(model, posed, b, pin, &body.pin_offsets));
                while before < old && self.pins[b][before].vertex < pin.vertex {
                    before += 1;
                }
                // A particle anchored just now starts where it is.
                let start = match self.pins[b].get(before) {
                    Some(p) if before < old && p.vertex == pin.vertex => p.start,
                    _ => body.x[pin.vertex as usize],
                };
                self.pins[b].push(PinTarget { vertex: pin.vertex, start, end });
            }
            self.pins[b].drain(..old);
        }
        for (c, pair) in self.colliders.iter_mut().enumerate() {
            pair.1 = collider_pose(&model.colliders[c], &state.collider_offsets[c], posed);
        }
        self.take_over_air_and_hands(model, state);
    }

    /// A character whose motion takes it further than its own size in this step is somewhere else at once (SIM-04): what hangs on it alone is taken
    /// along as it is, and the step begins there. Thrown there at that speed, cloth would be torn to and fro for seconds.
    fn take_along(&mut self, model: &Model, state: &mut State) {
        let [start, end] = &mut self.characters;
        for (c, (from, to)) in start.characters.iter_mut().zip(&end.characters).enumerate() {
            let CharacterModel { rig, scale, .. } = &model.characters[c];
            let (low, high) = rig.rest_bounds;
            if from.pose == to.pose || jump((low * *scale, high * *scale), &from.pose, &to.pose).is_none() {
                continue;
            }
            let moved = to.pose.compose(&from.pose.inverse());
            let hangs = |(body, _): &(&BodyModel, &mut BodyState)| body.hangs_on(c);
            for (_, body) in model.bodies.iter().zip(&mut state.bodies).filter(hangs) {
                body.x.iter_mut().for_each(|x| *x = moved.apply(*x));
                body.v.iter_mut().for_each(|v| *v = moved.rotate(*v));
                body.still_frames = 0;
            }
            from.pose = to.pose;
        }
    }

    /// Where the vertices of a collider that is a mesh are at a share of the step, m. Those of a skin go straight from where they are at its
    /// start to where they are at its end, in the frame of the character, which turns.
    pub(crate) fn mesh_places<'a>(
        &'a self,
        model: &'a Model,
        c: usize,
        share: f64,
    ) -> impl Iterator<Item = DVec3> + 'a {
        let (start, end) = &self.colliders[c];
        let pose = start.lerp(end, share);
        let rigid = model.colliders[c].form.mesh().map_or(&[][..], |mesh| &mesh.positions);
        let [from, to] = &self.skins[c];
        let local = move |i: usize| match (from.get(i), to.get(i)) {
            (Some(from), Some(to)) => from.lerp(*to, share),
            _ => rigid[i],
        };
        (0..rigid.len()).map(move |i| pose.apply(local(i)))
    }

    /// Whether a collider does not move in this step.
    pub(crate) fn stands(&self, c: usize) -> bool {
        let ((start, end), [from, to]) = (&self.colliders[c], &self.skins[c]);
        start == end && from == to
    }

    /// How far the point of a collider that goes furthest moves in this step, m; not known of an endless plane.
    pub(crate) fn furthest_way(&self, model: &Model, c: usize) -> Option<f64> {
        let ((start, end), [from, to]) = (&self.colliders[c], &self.skins[c]);
        if from.is_empty() {
            return Some(furthest_way(model.colliders[c].form.bounds()?, start, end));
        }
        let ways = from.iter().zip(to).map(|(from, to)| start.apply(*from).distance(end.apply(*to)));
        Some(ways.fold(0.0, f64::max))
    }

    /// Whether a collider moves by more than its own size in this step.
    pub(crate) fn jump(&self, model: &Model, c: usize) -> Option<Jump> {
        let ((start, end), [from, _]) = (&self.colliders[c], &self.skins[c]);
        if from.is_empty() {
            return model.colliders[c].form.bounds().and_then(|bounds| jump(bounds, start, end));
        }
        let (low, high) = bounds(from);
        let (distance, size) = (self.furthest_way(model, c)?, (high - low).length());
        (distance > size).then_some(Jump { distance, size })
    }

    /// Velocity of the air at a point, m/s, gusts and fan included: eddies drift with the mean wind (Taylor's
    /// hypothesis).
    pub fn air_velocity(&self, p: DVec3, t: f64) -> DVec3 {
        let mean = DVec3::from(self.wind.velocity);
        let wind = match &self.wind.gusts {
            Some(g) => mean + math::noise_vector((p - mean * t) / g.size, t / g.period, g.seed) * g.strength,
            None => mean,
        };
        match &self.fan {
            Some(fan) => wind + fan.velocity(p),
            None => wind,
        }
    }

    /// The sinusoidal wind of ESSI-28 as one particle feels it, m/s.
    pub fn sinus_velocity(&self, particle: u32, t: f64) -> DVec3 {
        match &self.wind.sinus {
            Some(s) => {
                let swing = 0.5 * (1.0 + math::sin(std::f64::consts::TAU * s.frequency * t));
                let response =
                    1.0 + s.spread * (2.0 * math::uniform(u64::from(s.seed), u64::from(particle)) - 1.0);
                DVec3::from(s.amplitude) * (swing * response)
            }
            None => DVec3::ZERO,
        }
    }

    /// The random force of GRI-15 on every particle, N: A cos(ωt + φ) + B sin(ωt + θ), drawn anew at each step or gust.
    pub fn random_force(&self, t: f64) -> DVec3 {
        let Some(r) = &self.wind.random_force else { return DVec3::ZERO };
        let draw = if r.hold > 0.0 { (t / r.hold).floor().max(0.0) as u64 } else { self.step };
        let number = |k: u64| math::uniform(u64::from(r.seed), draw.wrapping_mul(5).wrapping_add(k));
        let tau = std::f64::consts::TAU;
        let (a, b, omega) = (r.amplitude * number(0), r.amplitude * number(1), r.max_frequency * number(2));
        let value = a * math::cos(omega * t + tau * number(3)) + b * math::sin(omega * t + tau * number(4));
        DVec3::from(r.direction).normalize_or_zero() * value
    }

    /// Replaces what is not finite by standing still: supports where they are, colliders where they were put, the
    /// scene's own wind, no fan.
    pub(crate) fn hold_still(&mut self, body: usize, model: &Model, state: &State) {
        for pin in self.pins[body].iter_mut().filter(|p| !(p.start.is_finite() && p.end.is_finite())) {
            (pin.start, pin.end) =
                (state.bodies[body].x[pin.vertex as usize], state.bodies[body].x[pin.vertex as usize]);
        }
        for (c, pair) in
            self.colliders.iter_mut().enumerate().filter(|(_, p)| !(p.0.is_finite() && p.1.is_finite()))
        {
            *pair = (model.colliders[c].pose, model.colliders[c].pose);
        }
        for (skin, collider) in self.skins.iter_mut().zip(&model.colliders) {
            if !skin.iter().flatten().all(|x| x.is_finite())
                && let Some(mesh) = collider.form.mesh()
            {
                *skin = [mesh.positions.clone(), mesh.positions.clone()];
                // What is worked out from these is as little of use; they are made anew in the next step.
                self.characters[1].time = f64::NAN;
            }
        }
        if !self.rides[body].is_finite() {
            self.rides[body].hold(&state.bodies[body].x);
            self.characters[1].time = f64::NAN;
        }
        if !DVec3::from(self.wind.velocity).is_finite() {
            self.wind = model.wind;
        }
        self.fan = self.fan.filter(Fan::is_finite);
    }

    /// Whether the parts that concern one body alone are all finite numbers.
    pub(crate) fn is_finite_for(&self, body: usize) -> bool {
        self.pins[body].iter().all(|p| p.start.is_finite() && p.end.is_finite())
            && self.grabs.iter().all(|g| g.body as usize != body || g.target.is_finite())
            && self.rides[body].is_finite()
    }

    /// Whether the parts that concern all bodies are all finite numbers.
    pub(crate) fn is_finite_for_all(&self) -> bool {
        DVec3::from(self.wind.velocity).is_finite()
            && self.fan.is_none_or(|fan| fan.is_finite())
            && self.colliders.iter().all(|(a, b)| a.is_finite() && b.is_finite())
            && self.skins.iter().flatten().flatten().all(|x| x.is_finite())
    }
}

/// Where a supported particle is when characters are posed so, m: its script or what carries it, then what commands moved its set by.
pub(crate) fn pin_position(
    model: &Model,
    posed: &Posed,
    body: usize,
    pin: &PinnedVertex,
    offsets: &[DVec3],
) -> DVec3 {
    let Some(set) = model.bodies[body].pins.get(pin.set as usize) else { return pin.anchor };
    let scripted = match (&set.carrier, &set.motion) {
        (PinCarrier::Script, Some(motion)) => pose_at(motion, set.pivot, posed.time).apply(pin.anchor),
        (PinCarrier::Script, None) => pin.anchor,
        (PinCarrier::Bone(bone), _) => bone.motion(posed).apply(pin.anchor),
        (PinCarrier::Paper(keys), _) => {
            let at = set.vertices.binary_search(&pin.vertex).ok();
            let place = between(keys, posed.time).zip(at);
            place.map_or(pin.anchor, |((from, to, part), at)| from[at].lerp(to[at], part))
        }
        (PinCarrier::Layer, _) => {
            let layer = model.bodies[body].layer.as_ref();
            layer.and_then(|l| l.place(&model.characters, posed, pin.vertex)).unwrap_or(pin.anchor)
        }
        (PinCarrier::Skin { character, points }, _) => {
            let place =
                |point: &SkinPoint| point.place(&model.characters[*character], &posed.characters[*character]);
            match set.vertices.binary_search(&pin.vertex) {
                Ok(at) => place(&points[at]),
                // Born by a tear: it goes along with the one it was split from, which was anchored at the same place.
                Err(_) => {
                    let rest = &model.bodies[body].topology.rest_positions;
                    let same = set.vertices.iter().position(|v| rest[*v as usize] == pin.anchor);
                    same.map_or(pin.anchor, |at| place(&points[at]))
                }
            }
        }
    };
    scripted + offsets[pin.set as usize]
}

/// Where a collider's script, or what carries it, puts it when characters are posed so.
pub(crate) fn scripted_pose(collider: &ColliderModel, posed: &Posed) -> Pose {
    let put = collider.pose;
    match (&collider.carrier, &collider.motion) {
        (Carrier::Script, Some(motion)) => {
            let moved = pose_at(motion, collider.pivot, posed.time);
            Pose { rotation: moved.rotation * put.rotation, translation: moved.apply(put.translation) }
        }
        (Carrier::Script, None) => put,
        (Carrier::Bone(bone), _) => bone.motion(posed).compose(&put),
        (Carrier::Skin { character, .. }, _) => posed.characters[*character].pose,
    }
}

/// Where a collider is when characters are posed so: its script, then what commands moved it by.
pub(crate) fn collider_pose(collider: &ColliderModel, offset: &Pose, posed: &Posed) -> Pose {
    let scripted = scripted_pose(collider, posed);
    Pose {
        rotation: offset.rotation * scripted.rotation,
        translation: scripted.translation + offset.translation,
    }
}
