//! Live tuning: carries a running state over to a changed model.
//!
//! What a body is made of must be the same: bodies, vertices, triangles, segments, elements, followers, supports. All that acts on it may
//! change: springs, masses, forces, limits, solvers, scripts, colliders. Torn bodies keep their own topology; each torn
//! spring takes rest length, stiffness and damping from the spring of the new model that it stems from, and keeps the
//! share of it that its lip got when it tore. Masses go the same way. With an unchanged model nothing changes, to the
//! last bit.
//!
//! A script that changes is felt as another speed, never as a jump: supports and colliders move on from where they are.
//! Where a body or a particle *starts* (placement, start velocity) is that of the next restart.

use std::sync::Arc;

use glam::DVec3;
use thiserror::Error;

use crate::control::{collider_pose, pin_position, scripted_pose};
use crate::math::Pose;
use crate::mesh::octree::Octree;
use crate::mesh::{Spring, SpringFamily, Topology};
use crate::model::{BodyModel, Carrier, ColliderModel, Model, PinCarrier, PinModel};
use crate::motion::pose_at;
use crate::paper::{PaperModel, PaperState};
use crate::scene::Motion;
use crate::skin::{BoneTurn, CharacterModel, Posed};
use crate::state::{BodyState, PinnedVertex, State};
use crate::wrinkles::Folds;

/// Why a running state cannot go on with a changed model ([`Simulation::adopt`](crate::Simulation::adopt)).
///
/// Bodies (names and order), their vertices, triangles, segments, elements and followers, and their pins (names and vertices) must be the
/// same. Springs may be others, unless the body is torn: each torn spring then takes rest length, stiffness and damping
/// from the spring of the model that it stems from, in the share that its lip got.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Misfit {
    /// Bodies were added, removed, renamed or reordered.
    #[error(
        "the bodies are not the same (were: {was}; are: {is}): restart the scene to take the change over"
    )]
    Bodies {
        /// Names before.
        was: String,
        /// Names in the new model.
        is: String,
    },
    /// The mesh of a body is another one.
    #[error("the {what} of body '{body}' are not the same: restart the scene to take the change over")]
    Mesh {
        /// The body.
        body: String,
        /// "vertices", "triangles", "segments", "tetrahedra", "hexahedra" or "followers".
        what: &'static str,
    },
    /// The supports of a body are other ones; their scripts may change.
    #[error(
        "the pins of body '{body}' have other names or vertices: restart the scene to take the change over"
    )]
    Pins {
        /// The body.
        body: String,
    },
    /// The body is torn, and the model joins other particles by springs than before.
    #[error(
        "body '{body}' is torn, and the change adds or removes springs: restart the scene to take it over, or change \
         stiffness only"
    )]
    TornSprings {
        /// The body.
        body: String,
    },
}

/// The state, to go on with under the new model.
pub(crate) fn carry_over(old: &Model, new: &Model, state: &State) -> Result<State, Misfit> {
    let names = |model: &Model| model.bodies.iter().map(|b| b.name.clone()).collect::<Vec<_>>();
    if names(old) != names(new) {
        return Err(Misfit::Bodies { was: names(old).join(", "), is: names(new).join(", ") });
    }
    let mut carried = state.clone();
    carried.bone_turns = state.bone_turns.iter().filter_map(|turn| carry_turn(old, new, turn)).collect();
    carried.bone_turns.sort_by_key(|turn| (turn.character, turn.node));
    let posed = [(old, state), (new, &carried)]
        .map(|(model, state)| Posed::turned(&model.characters, &state.bone_turns, state.time));
    for (b, body) in carried.bodies.iter_mut().enumerate() {
        check_body(&old.bodies[b], &new.bodies[b])?;
        body.topology = carry_topology(&old.bodies[b], &new.bodies[b], &body.topology)?;
        // What has flowed stays so, if there are the same elements to flow.
        if body.plastic.len() != new.bodies[b].plastic_elements() {
            body.plastic = new.bodies[b].unflowed();
        }
        let BodyState { pinned, pin_offsets, .. } = body;
        for pin in pinned {
            let sets = (&old.bodies[b].pins, &new.bodies[b].pins);
            let (Some(was), Some(is)) = (sets.0.get(pin.set as usize), sets.1.get(pin.set as usize)) else {
                continue;
            };
            if script(was) != script(is) {
                let now = pin_position(old, &posed[0], b, pin, pin_offsets);
                *pin = reanchored(pin, is, now - pin_offsets[pin.set as usize], &posed[1]);
            }
        }
    }
    // Folds of another pattern or another fabric rise anew.
    for (folds, (was, is)) in carried.folds.iter_mut().zip(old.bodies.iter().zip(&new.bodies)) {
        let fabric = |body: &BodyModel| body.wrinkles.as_ref().map(|w| w.settings.smallest_radius);
        let same = fabric(was) == fabric(is)
            && was.wrinkles.as_ref().zip(is.wrinkles.as_ref()).is_some_and(|(a, b)| a.pattern == b.pattern);
        if !same {
            *folds = Folds::default();
        }
    }
    carried.skin_folds =
        new.colliders.iter().map(|collider| carry_skin_folds(old, collider, state)).collect();
    carried.papers = new.papers.iter().map(|paper| carry_paper(old, paper, state)).collect();
    carried.collider_offsets =
        new.colliders.iter().map(|c| carry_collider(old, c, state, &posed[1])).collect();
    Ok(carried)
}

/// A bone that a hand has turned stays so if there still is one of its name, and if the scene does not pose it in another way now: that is what the hand did, kept,
/// or taken back.
fn carry_turn(old: &Model, new: &Model, turn: &BoneTurn) -> Option<BoneTurn> {
    let was = old.characters.get(turn.character as usize)?;
    let character = new.characters.iter().position(|is| is.name == was.name)?;
    let name = was.rig.skeleton.names.get(turn.node as usize)?;
    let node = new.characters[character].rig.skeleton.names.iter().position(|is| is == name)?;
    let stands = |model: &CharacterModel, node: u32| {
        model.stance.iter().find(|turn| turn.node == node).map(|turn| (turn.rotation, turn.shift))
    };
    let is_posed_alike = stands(was, turn.node) == stands(&new.characters[character], node as u32);
    is_posed_alike.then_some(BoneTurn { character: character as u32, node: node as u32, ..*turn })
}

/// Folds of a skin stay while its pattern and fabric do.
fn carry_skin_folds(old: &Model, collider: &ColliderModel, state: &State) -> Folds {
    let was = old.colliders.iter().zip(&state.skin_folds).find(|(was, _)| was.name == collider.name);
    match (was, &collider.wrinkles) {
        (Some((ColliderModel { wrinkles: Some(was), .. }, folds)), Some(is))
            if was.settings.smallest_radius == is.settings.smallest_radius && was.pattern == is.pattern =>
        {
            folds.clone()
        }
        _ => Folds::default(),
    }
}

/// A sheet of the same pattern keeps its border, one that is folded in the same way all of it; others begin anew.
fn carry_paper(old: &Model, paper: &PaperModel, state: &State) -> PaperState {
    let known = old.papers.iter().zip(&state.papers).find(|(was, _)| was.name == paper.name);
    let Some((was, now)) = known else { return paper.begin() };
    let same_border = was.start.border.shares == paper.start.border.shares
        && was.rules.pattern == paper.rules.pattern
        && was.can_be_pulled() == paper.can_be_pulled();
    if !same_border {
        return paper.begin();
    }
    let same_handles = was.handles.len() == paper.handles.len();
    let offsets = if same_handles { now.offsets.clone() } else { paper.begin().offsets };
    let crumple = match was.rules == paper.rules {
        true => now.crumple.clone(),
        false => paper.rules.crumple(now.crumple.border.clone()),
    };
    PaperState { crumple, offsets, hands: now.hands.clone(), remade: now.remade }
}

fn octree(body: &BodyModel) -> Option<&Octree> {
    body.refining.as_ref().map(|refining| &refining.octree)
}

/// Whether the mesh and the supports of a body are the same.
fn check_body(old: &BodyModel, new: &BodyModel) -> Result<(), Misfit> {
    let (was, is) = (&old.topology, &new.topology);
    let parts = [
        ("vertices", was.len() == is.len()),
        ("triangles", was.triangles == is.triangles),
        ("segments", was.segments == is.segments),
        ("tetrahedra", was.tetrahedra == is.tetrahedra),
        ("hexahedra", was.hexahedra == is.hexahedra),
        ("followers", was.mapping == is.mapping),
        ("hexahedra", octree(old) == octree(new)),
    ];
    if let Some((what, _)) = parts.into_iter().find(|(_, same)| !same) {
        return Err(Misfit::Mesh { body: new.name.clone(), what });
    }
    let same_set = |(a, b): (&PinModel, &PinModel)| a.name == b.name && a.vertices == b.vertices;
    if old.pins.len() != new.pins.len() || !old.pins.iter().zip(&new.pins).all(same_set) {
        return Err(Misfit::Pins { body: new.name.clone() });
    }
    Ok(())
}

/// What moves a set of supports: what carries it, or its motion and, if it has one, the point it turns about.
fn script(set: &PinModel) -> (&PinCarrier, Option<(&Motion, DVec3)>) {
    (&set.carrier, set.motion.as_ref().map(|motion| (motion, set.pivot)))
}

/// A support whose new script puts it at `place` (m) when characters are posed so. One that follows a skin goes where the skin has it.
fn reanchored(pin: &PinnedVertex, set: &PinModel, place: DVec3, posed: &Posed) -> PinnedVertex {
    let scripted = match (&set.carrier, &set.motion) {
        (PinCarrier::Script, Some(motion)) => pose_at(motion, set.pivot, posed.time),
        (PinCarrier::Script, None) => Pose::IDENTITY,
        (PinCarrier::Bone(bone), _) => bone.motion(posed),
        (PinCarrier::Skin { .. } | PinCarrier::Layer | PinCarrier::Paper(_), _) => return *pin,
    };
    PinnedVertex { anchor: scripted.apply_inverse(place), ..*pin }
}

/// What a collider of the new model is moved by, on top of its script.
fn carry_collider(old: &Model, new: &ColliderModel, state: &State, posed: &Posed) -> Pose {
    let Some(c) = old.colliders.iter().position(|c| c.name == new.name) else { return Pose::IDENTITY };
    let (was, offset) = (&old.colliders[c], state.collider_offsets.get(c).copied().unwrap_or_default());
    if was.motion == new.motion || new.carrier != Carrier::Script {
        return offset;
    }
    // Where it would be if its script had not changed, but all else had.
    let pivot = was.motion.as_ref().and_then(|m| m.pivot).map_or(new.pose.translation, DVec3::from);
    let before = ColliderModel { motion: was.motion.clone(), pivot, ..new.clone() };
    let now = collider_pose(&before, &offset, posed);
    let scripted = scripted_pose(new, posed);
    Pose {
        rotation: (now.rotation * scripted.rotation.conjugate()).normalize(),
        translation: now.translation - scripted.translation,
    }
}

/// What joins the particles from now on: the model's topology, or the torn one with the numbers of the new model.
fn carry_topology(
    old: &BodyModel,
    new: &BodyModel,
    current: &Arc<Topology>,
) -> Result<Arc<Topology>, Misfit> {
    if current.version == 0 {
        return Ok(Arc::clone(&new.topology));
    }
    if let Some(cells) = &current.in_use {
        let divided =
            new.refining.as_ref().and_then(|r| r.topology_of(&new.topology, &cells.leaves, current.version));
        let other = || Misfit::Mesh { body: new.name.clone(), what: "hexahedra" };
        return divided.map(Arc::new).ok_or_else(other);
    }
    let misfit = || Misfit::TornSprings { body: new.name.clone() };
    let (was, is) = (&old.topology, &new.topology);
    let (old_springs, new_springs) = (Lookup::new(was), Lookup::new(is));
    if !old_springs.same_ends(&new_springs) {
        return Err(misfit());
    }
    let mut torn = (**current).clone();
    for (p, &parent) in torn.parents.iter().enumerate() {
        let parent = parent as usize;
        if parent >= was.len() {
            return Err(misfit());
        }
        torn.rest_positions[p] = is.rest_positions[parent];
        torn.masses[p] = scaled(torn.masses[p], was.masses[parent], is.masses[parent]);
    }
    for spring in &mut torn.springs {
        let Some(at) = old_springs.find(&key(spring, &torn.parents)) else { return Err(misfit()) };
        let (was, is) = (&was.springs[old_springs.list[at].1], &is.springs[new_springs.list[at].1]);
        let share = share_of(spring, was);
        let carry = |now: f64, was: f64, is: f64| if was == is { now } else { is * share };
        spring.stiffness = carry(spring.stiffness, was.stiffness, is.stiffness);
        spring.damping = carry(spring.damping, was.damping, is.damping);
        spring.rest_length = is.rest_length;
    }
    torn.bending = is.bending;
    torn.stars.clone_from(&is.stars);
    torn.rebuild_derived();
    Ok(Arc::new(torn))
}

/// A part of `was`, as a part of `is`; untouched, to the last bit, if both are the same.
fn scaled(part: f64, was: f64, is: f64) -> f64 {
    if was == is { part } else { is * (part / was) }
}

/// The share of a whole spring that one on a lip has: of its stiffness or, if it has none, of its damping.
fn share_of(part: &Spring, whole: &Spring) -> f64 {
    if whole.stiffness > 0.0 {
        part.stiffness / whole.stiffness
    } else if whole.damping > 0.0 {
        part.damping / whole.damping
    } else {
        1.0
    }
}

/// The particles of the untorn mesh that a spring joins, and its family.
type Key = (u32, u32, SpringFamily);

fn key(spring: &Spring, parents: &[u32]) -> Key {
    let (i, j) = (parents[spring.i as usize], parents[spring.j as usize]);
    (i.min(j), i.max(j), spring.family)
}

/// The springs of a model by what they join.
struct Lookup {
    /// Sorted by key; each key once, with the first spring that has it.
    list: Vec<(Key, usize)>,
}

impl Lookup {
    fn new(topology: &Topology) -> Lookup {
        let mut list: Vec<(Key, usize)> = topology
            .springs
            .iter()
            .enumerate()
            .map(|(s, spring)| (key(spring, &topology.parents), s))
            .collect();
        list.sort_unstable();
        list.dedup_by_key(|(key, _)| *key);
        Lookup { list }
    }

    fn same_ends(&self, other: &Lookup) -> bool {
        self.list.iter().map(|(key, _)| key).eq(other.list.iter().map(|(key, _)| key))
    }

    fn find(&self, key: &Key) -> Option<usize> {
        self.list.binary_search_by_key(key, |(key, _)| *key).ok()
    }
}
