//! What a person or a control stream does (GRI-10, GRI-11): commands, checked when given, applied at the start of the next step.
//!
//! One list of particles per command ([`Command::AnchorMany`], [`Command::FreeMany`], [`Command::MoveAnchored`]) is what
//! a selection with the mouse needs: its cost grows with the length of the list, not with its square.

use std::collections::BTreeSet;

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::math;
use crate::mesh::cut::{Blade, cut};
use crate::model::Model;
use crate::scene::Vec3;
use crate::skin::{BoneTurn, Posed};
use crate::state::{BodyState, Fan, Grab, PinnedVertex, State};

/// Most particles that one command may name: as a line of a control log it is then far below the longest that is read.
pub const MAX_SELECTION: usize = 1_000_000;

/// Largest coordinate, length or speed in a command, m or m/s.
const LARGEST: f64 = 1e9;

/// Largest stiffness in a command, N/m, as in scenes.
const STIFFEST: f64 = 1e30;

/// Something a person or a control stream does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Moves a set of supports by a vector, m, over the next step (GRI-10). To move two supports apart, give two (GRI-11).
    MovePin {
        /// Body.
        body: String,
        /// Pin set.
        pin: String,
        /// By how much, m.
        by: Vec3,
    },
    /// Moves a collider over the next step.
    MoveCollider {
        /// Collider.
        collider: String,
        /// By how much, m.
        by: Vec3,
        /// Turn about its own position: unit axis times angle in degrees.
        #[serde(default)]
        rotate_deg: Vec3,
    },
    /// Turns a bone of a character about its joint and shifts that, over the next step, on top of what clips do; what it carries goes along (ROH-63).
    MoveBone {
        /// Character.
        character: String,
        /// Bone, or another node of it.
        bone: String,
        /// By how much its joint goes, m.
        #[serde(default)]
        by: Vec3,
        /// Turn about its joint: unit axis times angle in degrees.
        #[serde(default)]
        rotate_deg: Vec3,
    },
    /// Anchors a particle where it is (ESSI-11).
    Anchor {
        /// Body.
        body: String,
        /// Particle.
        vertex: u32,
    },
    /// Frees a supported particle.
    Free {
        /// Body.
        body: String,
        /// Particle.
        vertex: u32,
    },
    /// Anchors all these particles where they are (ESSI-11); those that are supported already stay as they are.
    AnchorMany {
        /// Body.
        body: String,
        /// Particles, at most [`MAX_SELECTION`].
        vertices: Vec<u32>,
    },
    /// Frees all these particles.
    FreeMany {
        /// Body.
        body: String,
        /// Particles, at most [`MAX_SELECTION`].
        vertices: Vec<u32>,
    },
    /// Moves particles that were anchored by command by a vector, m, over the next step. Refused if one of them was not;
    /// particles of a pin set move with [`Command::MovePin`].
    MoveAnchored {
        /// Body.
        body: String,
        /// Particles, at most [`MAX_SELECTION`]; each moves once, however often it is named.
        vertices: Vec<u32>,
        /// By how much, m.
        by: Vec3,
    },
    /// Pulls a particle towards a point with a spring (ESSI-29); again to move the point.
    Grab {
        /// Body.
        body: String,
        /// Particle.
        vertex: u32,
        /// Where to, m.
        target: Vec3,
        /// Stiffness, N/m.
        stiffness: f64,
    },
    /// Lets a grabbed particle go.
    Release {
        /// Body.
        body: String,
        /// Particle.
        vertex: u32,
    },
    /// Cuts a body with scissors along a drag, at once. The blade is everything that is seen from `eye` between `from`
    /// and `to`, at any distance; see [`crate::mesh::cut`]. A drag right across a sheet separates it; of a drag that is
    /// given in pieces, each should be a few mesh edges long.
    Cut {
        /// Body.
        body: String,
        /// Where the drag begins, m.
        from: Vec3,
        /// Where it ends, m.
        to: Vec3,
        /// Where it is seen from, m: the camera.
        eye: Vec3,
    },
    /// Switches a fan on, or moves it: a round jet of air on top of the wind. It moves every surface it points at, those
    /// that feel no other air too; see [`Fan`].
    Blow {
        /// Centre of the fan, m.
        origin: Vec3,
        /// Where it blows to; of any length but 0.
        direction: Vec3,
        /// Speed of the air at the fan, m/s.
        speed: f64,
        /// Radius of the jet at the fan, m.
        radius: f64,
    },
    /// Switches the fan off.
    StopBlowing,
    /// Sets the mean wind, m/s.
    SetWind {
        /// Velocity, m/s.
        velocity: Vec3,
    },
    /// Simulates a frozen body again, at rest.
    Thaw {
        /// Body.
        body: String,
    },
    /// Pulls a point of the border of a sheet of paper, and the sheet with it; without a place lets it go.
    PullPaper {
        /// Paper.
        paper: String,
        /// Which point, by its share of the outline of the pattern, counter-clockwise from its first corner, 0 to 1.
        at: f64,
        /// Where to, m.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<Vec3>,
    },
}

/// Checks a command against the model, the state and the commands that wait to be applied before it.
pub(crate) fn check(
    command: &Command,
    model: &Model,
    state: &State,
    pending: &[Command],
) -> Result<(), Error> {
    let refuse = |text: String| Err(Error::Command(text));
    let body = |name: &str| match model.body_index(name) {
        Some(b) => Ok(b),
        None => Err(Error::Command(format!(
            "there is no body '{name}'; there are: {}",
            model.bodies.iter().map(|b| b.name.as_str()).collect::<Vec<_>>().join(", ")
        ))),
    };
    let all_there = |name: &str, vertices: &[u32]| {
        let count = state.bodies[body(name)?].x.len();
        if vertices.len() > MAX_SELECTION {
            return Err(Error::Command(format!(
                "the command names {} vertices; give several with at most {MAX_SELECTION} each",
                vertices.len()
            )));
        }
        match vertices.iter().find(|&&v| v as usize >= count) {
            Some(v) => Err(Error::Command(format!("body '{name}' has no vertex {v}; it has {count}"))),
            None => Ok(()),
        }
    };
    let vertex = |name: &str, vertex: u32| all_there(name, &[vertex]);
    // NaN is not below anything.
    let finite = |what: &str, v: &Vec3| match v.iter().all(|c| c.abs() <= LARGEST) {
        true => Ok(()),
        false => Err(Error::Command(format!("{what} is not finite, or beyond {LARGEST:e}: {v:?}"))),
    };
    match command {
        Command::MovePin { body: name, pin, by } => {
            let b = body(name)?;
            finite("the move", by)?;
            if !model.bodies[b].pins.iter().any(|p| p.name == *pin) {
                let known =
                    model.bodies[b].pins.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ");
                return refuse(format!("body '{name}' has no pin '{pin}'; it has: {known}"));
            }
            Ok(())
        }
        Command::MoveCollider { collider, by, rotate_deg } => {
            finite("the move", by)?;
            finite("the rotation", rotate_deg)?;
            if !model.colliders.iter().any(|c| c.name == *collider) {
                return refuse(format!("there is no collider '{collider}'"));
            }
            Ok(())
        }
        Command::MoveBone { character: name, bone, by, rotate_deg } => {
            finite("the move", by)?;
            finite("the rotation", rotate_deg)?;
            let Some(character) = model.characters.iter().find(|c| c.name == *name) else {
                return refuse(format!("there is no character '{name}'"));
            };
            match character.rig.skeleton.names.iter().filter(|other| *other == bone).count() {
                1 => Ok(()),
                0 => refuse(format!("character '{name}' has no bone '{bone}'")),
                _ => refuse(format!("character '{name}' has several bones '{bone}'")),
            }
        }
        Command::Anchor { body: name, vertex: v } | Command::Free { body: name, vertex: v } => {
            vertex(name, *v)
        }
        Command::Release { body: name, vertex: v } => vertex(name, *v),
        Command::Grab { body: name, vertex: v, target, stiffness } => {
            vertex(name, *v)?;
            finite("the target", target)?;
            if !(0.0..=STIFFEST).contains(stiffness) {
                return refuse(format!(
                    "the stiffness of a grab must be from 0 to {STIFFEST:e} N/m: {stiffness}"
                ));
            }
            Ok(())
        }
        Command::AnchorMany { body: name, vertices } | Command::FreeMany { body: name, vertices } => {
            all_there(name, vertices)
        }
        Command::MoveAnchored { body: name, vertices, by } => {
            finite("the move", by)?;
            all_there(name, vertices)?;
            let anchored = anchored_by_hand(name, &state.bodies[body(name)?], pending);
            match vertices.iter().find(|v| !anchored.contains(v)) {
                Some(v) => refuse(format!(
                    "vertex {v} of body '{name}' was not anchored by hand; anchor it first (supports of a pin set \
                     move with move_pin)"
                )),
                None => Ok(()),
            }
        }
        Command::Cut { body: name, from, to, eye } => {
            let b = body(name)?;
            if !model.bodies[b].can_be_cut() {
                return refuse(format!(
                    "body '{name}' cannot be cut: only sheets and ropes of springs are, not solids, what follows cells or a skin, matched shapes, or cloth with folds"
                ));
            }
            finite("the start of the cut", from)?;
            finite("the end of the cut", to)?;
            finite("the eye", eye)?;
            match blade(*eye, *from, *to) {
                Some(_) => Ok(()),
                None => refuse(format!(
                    "the cut has no width: from {eye:?}, {from:?} and {to:?} are seen in one direction"
                )),
            }
        }
        Command::Blow { origin, direction, speed, radius } => {
            finite("the fan's place", origin)?;
            finite("the fan's direction", direction)?;
            if DVec3::from(*direction).try_normalize().is_none() {
                return refuse("a fan's direction of length 0 points nowhere".into());
            }
            if !(0.0..=LARGEST).contains(speed) {
                return refuse(format!("the speed of a fan must be from 0 to {LARGEST:e} m/s: {speed}"));
            }
            if !(*radius > 0.0 && *radius <= LARGEST) {
                return refuse(format!(
                    "the radius of a fan must be above 0 and up to {LARGEST:e} m: {radius}"
                ));
            }
            Ok(())
        }
        Command::StopBlowing => Ok(()),
        Command::SetWind { velocity } => finite("the wind", velocity),
        Command::Thaw { body: name } => body(name).map(|_| ()),
        Command::PullPaper { paper, at, place } => {
            if let Some(place) = place {
                finite("the place", place)?;
            }
            match model.papers.iter().find(|p| p.name == *paper) {
                None => refuse(format!("there is no paper '{paper}'")),
                Some(p) if !p.can_be_pulled() => {
                    refuse(format!("the border of paper '{paper}' is moved by its keys or by a body"))
                }
                Some(_) if !(0.0..=1.0).contains(at) => {
                    refuse(format!("the point of an outline is a share from 0 to 1: {at}"))
                }
                Some(_) => Ok(()),
            }
        }
    }
}

fn blade(eye: Vec3, from: Vec3, to: Vec3) -> Option<Blade> {
    Blade::new(DVec3::from(eye), DVec3::from(from), DVec3::from(to))
}

/// The particles of a body that will be anchored by hand once the waiting commands are applied.
fn anchored_by_hand(name: &str, body: &BodyState, pending: &[Command]) -> BTreeSet<u32> {
    let by_hand = |p: &&PinnedVertex| p.set == PinnedVertex::BY_HAND;
    let mut anchored: BTreeSet<u32> = body.pinned.iter().filter(by_hand).map(|p| p.vertex).collect();
    // A support of a pin set stays one when it is anchored too, unless it was freed before.
    let mut in_set: BTreeSet<u32> = body.pinned.iter().map(|p| p.vertex).collect();
    in_set.retain(|v| !anchored.contains(v));
    for command in pending {
        match command {
            Command::Anchor { body, vertex } if body == name && !in_set.contains(vertex) => {
                anchored.insert(*vertex);
            }
            Command::AnchorMany { body, vertices } if body == name => {
                anchored.extend(vertices.iter().filter(|v| !in_set.contains(v)));
            }
            Command::Free { body, vertex } if body == name => {
                anchored.remove(vertex);
                in_set.remove(vertex);
            }
            Command::FreeMany { body, vertices } if body == name => {
                for vertex in vertices {
                    anchored.remove(vertex);
                    in_set.remove(vertex);
                }
            }
            _ => {}
        }
    }
    anchored
}

/// Applies those of checked commands that move bones, from where characters are when the step begins.
pub(crate) fn turn_bones(commands: &[Command], model: &Model, posed: &Posed, state: &mut State) {
    for command in commands {
        let Command::MoveBone { character, bone, by, rotate_deg } = command else { continue };
        let Some(c) = model.characters.iter().position(|c| c.name == *character) else { continue };
        let Some(of) = posed.characters.get(c) else { continue };
        let character = &model.characters[c];
        let Some(node) = character.rig.skeleton.names.iter().position(|name| name == bone) else { continue };
        let (c, node) = (c as u32, node as u32);
        // A turn R of the world is P⁻¹ R P in the frame P that carries the bone.
        let carrier = of.carrier(character, node).rotation;
        let rotation = carrier.inverse() * math::rotation(DVec3::from(*rotate_deg)) * carrier;
        let shift = carrier.inverse() * DVec3::from(*by) / character.scale;
        match state.bone_turns.binary_search_by_key(&(c, node), |turn| (turn.character, turn.node)) {
            Ok(k) => {
                let turn = &mut state.bone_turns[k];
                turn.rotation = (rotation * turn.rotation).normalize();
                turn.shift += shift;
            }
            Err(k) => {
                let rotation = rotation.normalize();
                state.bone_turns.insert(k, BoneTurn { character: c, node, rotation, shift });
            }
        }
    }
}

/// Applies a checked command; one that no longer fits (its particle's body was restored, say) does nothing.
pub(crate) fn apply(command: &Command, model: &Model, state: &mut State) {
    match command {
        Command::MovePin { body, pin, by } => {
            let Some(b) = model.body_index(body) else { return };
            for (set, offset) in model.bodies[b].pins.iter().zip(&mut state.bodies[b].pin_offsets) {
                if set.name == *pin {
                    *offset += DVec3::from(*by);
                }
            }
        }
        // Bones are moved before all else.
        Command::MoveBone { .. } => {}
        Command::MoveCollider { collider, by, rotate_deg } => {
            for (c, offset) in model.colliders.iter().zip(&mut state.collider_offsets) {
                if c.name == *collider {
                    offset.translation += DVec3::from(*by);
                    offset.rotation =
                        (math::rotation(DVec3::from(*rotate_deg)) * offset.rotation).normalize();
                }
            }
        }
        Command::Anchor { body, vertex } => {
            let Some(b) = model.body_index(body) else { return };
            let body = &mut state.bodies[b];
            let Some(&anchor) = body.x.get(*vertex as usize) else { return };
            if let Err(at) = body.pinned.binary_search_by_key(vertex, |p| p.vertex) {
                body.pinned.insert(at, PinnedVertex { vertex: *vertex, set: PinnedVertex::BY_HAND, anchor });
            }
        }
        Command::Free { body, vertex } => {
            let Some(b) = model.body_index(body) else { return };
            let pinned = &mut state.bodies[b].pinned;
            if let Ok(at) = pinned.binary_search_by_key(vertex, |p| p.vertex) {
                pinned.remove(at);
            }
        }
        Command::AnchorMany { body, vertices } => {
            let Some(b) = model.body_index(body) else { return };
            let BodyState { x, pinned, .. } = &mut state.bodies[b];
            let known = pinned.len();
            for vertex in sorted(vertices) {
                let is_free = pinned[..known].binary_search_by_key(&vertex, |p| p.vertex).is_err();
                if let Some(&anchor) = x.get(vertex as usize).filter(|_| is_free) {
                    pinned.push(PinnedVertex { vertex, set: PinnedVertex::BY_HAND, anchor });
                }
            }
            pinned.sort_by_key(|p| p.vertex);
        }
        Command::FreeMany { body, vertices } => {
            let Some(b) = model.body_index(body) else { return };
            let freed = sorted(vertices);
            state.bodies[b].pinned.retain(|p| freed.binary_search(&p.vertex).is_err());
        }
        Command::MoveAnchored { body, vertices, by } => {
            let Some(b) = model.body_index(body) else { return };
            let moved = sorted(vertices);
            let by_hand = state.bodies[b].pinned.iter_mut().filter(|p| p.set == PinnedVertex::BY_HAND);
            for pin in by_hand.filter(|p| moved.binary_search(&p.vertex).is_ok()) {
                pin.anchor += DVec3::from(*by);
            }
        }
        Command::Cut { body, from, to, eye } => {
            let (Some(b), Some(blade)) = (model.body_index(body), blade(*eye, *from, *to)) else { return };
            if !model.bodies[b].can_be_cut() {
                return;
            }
            let body = &mut state.bodies[b];
            let before = body.x.len() as u32;
            let held: Vec<u32> = body.pinned.iter().map(|p| p.vertex).collect();
            let is_held = |v: u32| held.binary_search(&v).is_ok();
            let torn = cut(&mut body.topology, &mut body.x, &mut body.v, &is_held, &blade);
            if let Some(torn) = torn {
                body.follow_supports(&torn, before);
            }
        }
        Command::Blow { origin, direction, speed, radius } => {
            let Some(direction) = DVec3::from(*direction).try_normalize() else { return };
            let origin = DVec3::from(*origin);
            state.fan = Some(Fan { origin, direction, speed: *speed, radius: *radius });
        }
        Command::StopBlowing => state.fan = None,
        Command::Grab { body, vertex, target, stiffness } => {
            let Some(b) = model.body_index(body) else { return };
            let grab =
                Grab { body: b as u32, vertex: *vertex, target: DVec3::from(*target), stiffness: *stiffness };
            match state.grabs.iter_mut().find(|g| g.body == grab.body && g.vertex == grab.vertex) {
                Some(held) => *held = grab,
                None => state.grabs.push(grab),
            }
        }
        Command::Release { body, vertex } => {
            let Some(b) = model.body_index(body) else { return };
            state.grabs.retain(|g| g.body != b as u32 || g.vertex != *vertex);
        }
        Command::SetWind { velocity } => state.wind_override = Some(DVec3::from(*velocity)),
        Command::Thaw { body } => {
            let Some(b) = model.body_index(body) else { return };
            state.bodies[b].frozen = false;
        }
        Command::PullPaper { paper, at, place } => {
            let Some(p) = model.paper_index(paper) else { return };
            let time = state.time + model.frame_dt();
            model.papers[p].pull(&mut state.papers[p], *at, place.map(DVec3::from), time);
        }
    }
}

/// A list in order, each number once.
fn sorted(vertices: &[u32]) -> Vec<u32> {
    let mut list = vertices.to_vec();
    list.sort_unstable();
    list.dedup();
    list
}
