//! Characters: a glTF file with a skeleton becomes one, drawn and played at once (SIM-01, ROH-07).
//!
//! How one is made of a file is in [`souple_files::character_scene`].

use std::path::Path;
use std::sync::Arc;

use glam::{DVec3, Vec3};
use souple::Simulation;
use souple::scene::{Body, BonePose, ColliderShape, Rig, RigFile, RigSource, Scene, Shape};
use souple::skin::character::PosedCharacter;
use souple::skin::{BoneTurn, CharacterModel, JointVolume};
use souple_files::character_scene::{character_bounds, first_character, is_alive, skin_collider};
use souple_viewer::Camera;

use crate::app::StudioApp;
use crate::building::{corners, remove_body, unique_name};
use crate::document::{Document, Object};
use crate::worker::{AtEnd, Request};

/// What is known of a running character.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterInfo {
    /// Name.
    pub name: String,
    /// Where its bones and other nodes are, m: their joints.
    pub joints: Vec<Vec3>,
    /// The volume of its skin; none if nothing keeps it.
    pub volume: Option<VolumeInfo>,
    /// How the bones that hands have moved stand now, on top of what is played: as the scene could keep them.
    pub posed: Vec<BonePose>,
}

/// Volume of a skin, m³.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeInfo {
    /// What it would be if no joint were bent.
    pub rest: f64,
    /// By skinning alone.
    pub skinned: f64,
    /// As it is.
    pub kept: f64,
    /// What each bent joint does to it, the largest change first.
    pub joints: Vec<JointInfo>,
}

/// What a joint does to the volume of a skin, m³.
#[derive(Clone, Debug, PartialEq)]
pub struct JointInfo {
    /// The bone that turns.
    pub bone: String,
    /// What bending it changes the volume by; negative is a loss.
    pub changed: f64,
    /// What its bulge gives back.
    pub given: f64,
}

impl CharacterInfo {
    /// Of all characters of a simulation.
    pub fn of(simulation: &Simulation) -> Vec<CharacterInfo> {
        let posed = simulation.posed();
        let turns = &simulation.state().bone_turns[..];
        let characters = (0u32..).zip(&simulation.model().characters).zip(&posed.characters);
        let of_one = |((c, model), posed): ((u32, &CharacterModel), &PosedCharacter)| {
            let cube = model.scale * model.scale * model.scale;
            let joint = |joint: &JointVolume| JointInfo {
                bone: model.rig.skeleton.names.get(joint.node as usize).cloned().unwrap_or_default(),
                changed: cube * joint.changed,
                given: cube * joint.given,
            };
            let volume = posed.volume.map(|volume| {
                let mut joints: Vec<JointInfo> = posed.joint_volumes().iter().map(joint).collect();
                joints.sort_by(|a, b| b.changed.abs().total_cmp(&a.changed.abs()));
                let [rest, skinned, kept] = [volume.rest, volume.skinned, volume.kept].map(|v| cube * v);
                VolumeInfo { rest, skinned, kept, joints }
            });
            let joint = |node: u32| posed.bone(node).translation.as_vec3();
            let joints = (0..model.rig.skeleton.len() as u32).map(joint).collect();
            let posed = turns.iter().filter(|turn| turn.character == c).map(|turn| bone_pose(model, turn));
            CharacterInfo { name: model.name.clone(), joints, volume, posed: posed.collect() }
        };
        characters.map(of_one).collect()
    }
}

/// How a bone stands that a hand has turned from where the scene has it.
fn bone_pose(model: &CharacterModel, turn: &BoneTurn) -> BonePose {
    let (mut rotation, mut shift) = (turn.rotation, turn.shift);
    if let Some(stance) = model.stance.iter().find(|stance| stance.node == turn.node) {
        rotation *= stance.rotation;
        shift += stance.shift;
    }
    // q and −q are the same turn: the one of no more than 180°.
    let rotation = if rotation.w < 0.0 { -rotation } else { rotation };
    let (axis, angle) = rotation.normalize().to_axis_angle();
    let bone = model.rig.skeleton.names.get(turn.node as usize).cloned().unwrap_or_default();
    BonePose { bone, rotate_deg: (axis * angle.to_degrees()).to_array(), shift: shift.to_array() }
}

/// Keeps how bones stand: each replaces what was said of its bone.
pub(crate) fn keep_poses(poses: &mut Vec<BonePose>, posed: &[BonePose]) {
    for pose in posed {
        match poses.iter_mut().find(|known| known.bone == pose.bone) {
            Some(known) => known.clone_from(pose),
            None => poses.push(pose.clone()),
        }
    }
}

/// Times of a clip at which a character is looked at, to see all of what it does.
const LOOKS: u32 = 16;

/// Names of the bones of a rig whose joints can bulge, in the order of the file, each once.
pub fn bone_names(rig: &Rig) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for joint in rig.skins.iter().flat_map(|skin| &skin.joints) {
        if let Some(node) = rig.nodes.get(*joint as usize)
            && !names.contains(&node.name)
        {
            names.push(node.name.clone());
        }
    }
    names
}

/// Calls back with every place of a scene that names a character.
fn for_each_name(scene: &mut Scene, change: &mut dyn FnMut(&mut String)) {
    for collider in &mut scene.colliders {
        if let ColliderShape::Skin(skin) = &mut collider.shape {
            change(&mut skin.character);
        }
        if let Some(follow) = &mut collider.follow {
            change(&mut follow.character);
        }
    }
    for body in &mut scene.bodies {
        if let Shape::Skin(skin) = &mut body.shape {
            change(&mut skin.character);
        }
        let follows = body.pins.iter_mut().filter_map(|pin| pin.follow.as_mut());
        follows.for_each(|follow| change(&mut follow.character));
    }
}

/// Gives a character another name, wherever it is named.
pub(crate) fn rename(scene: &mut Scene, index: usize, name: &str) {
    let Some(character) = scene.characters.get_mut(index) else { return };
    let old = std::mem::replace(&mut character.name, name.to_owned());
    for_each_name(scene, &mut |named| {
        if *named == old {
            name.clone_into(named);
        }
    });
}

/// Removes a character, its skins and its elastic layers; what followed it stays where it is.
pub(crate) fn remove(scene: &mut Scene, index: usize) {
    if index >= scene.characters.len() {
        return;
    }
    let name = scene.characters.remove(index).name;
    scene
        .colliders
        .retain(|collider| !matches!(&collider.shape, ColliderShape::Skin(skin) if skin.character == name));
    let is_layer = |body: &Body| matches!(&body.shape, Shape::Skin(skin) if skin.character == name);
    while let Some(layer) = scene.bodies.iter().position(is_layer) {
        remove_body(scene, layer);
    }
    for collider in &mut scene.colliders {
        collider.follow.take_if(|follow| follow.character == name);
    }
    for pin in scene.bodies.iter_mut().flat_map(|body| &mut body.pins) {
        pin.follow.take_if(|follow| follow.character == name);
    }
}

impl Document {
    /// The rig of a file that the person chose, and how the scene names that file; none if the file holds only a surface.
    fn chosen_rig(&mut self, path: &Path) -> Result<Option<(String, Arc<Rig>)>, String> {
        let written = self.name_file(path)?;
        let file = RigFile { path: written.clone(), skeleton: None };
        let rig = self.files.rig(&file, "").map_err(|error| {
            let is_text = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gltf"));
            match is_text && error.problem.contains("folder") {
                true => format!("{}; save the scene next to it first, or export it as .glb", error.problem),
                false => error.problem,
            }
        })?;
        Ok(is_alive(&rig).then_some((written, rig)))
    }

    /// Adds a character with its skin, playing its first clip; none if the file holds only a surface.
    pub fn add_character(&mut self, path: &Path) -> Result<Option<Object>, String> {
        let Some((written, rig)) = self.chosen_rig(path)? else { return Ok(None) };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let stem = if stem.is_empty() { "character".to_owned() } else { stem };
        let name = unique_name(&stem, self.scene.characters.iter().map(|c| c.name.as_str()));
        let mut character =
            first_character(&name, &rig).map_err(|problem| format!("{}: {problem}", path.display()))?;
        character.rig = RigSource::File(RigFile { path: written, skeleton: None });
        let collider = unique_name(&character.name, self.scene.colliders.iter().map(|c| c.name.as_str()));
        let collider = skin_collider(&character.name, collider);
        let index = self.scene.characters.len();
        self.step(&format!("add '{}'", character.name), |scene| {
            if scene.name.is_empty() && is_empty(scene) {
                scene.name.clone_from(&character.name);
            }
            scene.characters.push(character);
            scene.colliders.push(collider);
        });
        Ok(Some(Object::Character(index)))
    }
}

impl Document {
    /// Box around all that a character does in the first clip that it plays, m.
    fn seen_box(&self, object: Object) -> Option<(DVec3, DVec3)> {
        let Object::Character(c) = object else { return None };
        let mut character = self.scene.characters.get(c)?.clone();
        if let RigSource::File(file) = &character.rig {
            character.rig = RigSource::Inline(Rig::clone(&*self.files.rig(file, "").ok()?));
        }
        character_bounds(&character, LOOKS).ok()
    }
}

/// Whether a scene has nothing in it that could be seen.
pub(crate) fn is_empty(scene: &Scene) -> bool {
    scene.bodies.is_empty() && scene.colliders.is_empty() && scene.characters.is_empty()
}

impl StudioApp {
    /// Keeps in the scene how hands have posed the bones of a character, as one step that can be undone.
    pub(crate) fn keep_pose(&mut self, c: usize) {
        let info = self.shown.characters.get(c).filter(|_| self.runs_document());
        let Some(CharacterInfo { name, posed, .. }) = info.cloned() else { return };
        let changed = self.document.step(&format!("pose '{name}'"), |scene| {
            if let Some(character) = scene.characters.iter_mut().find(|character| character.name == name) {
                keep_poses(&mut character.poses, &posed);
            }
        });
        if changed {
            self.build();
        }
    }

    /// Opens a glTF file: one with a skeleton or clips is added as a character that plays. Says whether it was; a mere surface
    /// is left to the caller.
    pub(crate) fn open_character(&mut self, path: &Path) -> bool {
        let was_empty = is_empty(self.document.scene());
        match self.document.add_character(path) {
            Ok(None) => return false,
            Ok(Some(object)) => {
                self.select(object);
                self.build();
                if was_empty && let Some((low, high)) = self.document.seen_box(object) {
                    // Not only where it is at first: a clip may take it elsewhere.
                    self.fit = None;
                    let corners = corners(low, high).into_iter().map(|corner| corner.as_vec3());
                    self.camera = Camera::fitted(corners, self.viewport.aspect());
                }
                // A clip that is repeated has no last frame.
                self.worker.send(Request::SetAtEnd(AtEnd::GoOn));
                self.worker.send(Request::Play);
            }
            Err(problem) => self.messages.error("open", problem),
        }
        true
    }
}

#[cfg(test)]
#[path = "characters_tests.rs"]
mod tests;
