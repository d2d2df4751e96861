//! Characters while they are played: frames of their skins and of bodies beside them, and what became of their volume.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::DVec3;
use souple::model::BodyModel;
use souple::scene::{Rig, RigSource, Scene, Skinning};
use souple::skin::character::PosedCharacter;
use souple::skin::{CharacterModel, Posed, RigRepairs, SkinMesh, Transform};
use souple::{ModelBuilder, Simulation};
use souple_formats::animation::{Animation, BodyAnimation, Frame};
use souple_formats::export::baked::BakedFrame;

use crate::FrameRecorder;

/// The volume of a skin over a clip, relative to what it would be if no joint were bent, percent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClipVolume {
    /// Of skinning alone: the mean over frames.
    pub skinned_mean_percent: f64,
    /// And where it is furthest from 0.
    pub skinned_worst_percent: f64,
    /// Of the result: the mean over frames.
    pub kept_mean_percent: f64,
    /// And where it is furthest from 0.
    pub kept_worst_percent: f64,
    /// What each joint does, of those that do anything.
    pub joints: Vec<JointChange>,
}

/// What a joint does to the volume of a skin over a clip, percent of what it would be if no joint were bent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointChange {
    /// The bone that turns.
    pub bone: String,
    /// What bending it changes, frame by frame.
    pub changed_percent: Vec<f64>,
    /// What its bulge gives back, frame by frame.
    pub given_percent: Vec<f64>,
}

impl JointChange {
    /// What bending it changes where that is furthest from 0.
    pub fn worst_percent(&self) -> f64 {
        worst(self.changed_percent.iter().copied())
    }
}

/// The number that is furthest from 0.
fn worst(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().fold(0.0, |worst: f64, p| if p.abs() > worst.abs() { p } else { worst })
}

/// Volumes of the frames that were played.
struct Volumes {
    frames: usize,
    /// By skinning alone, and of the result, percent.
    changes: Vec<[f64; 2]>,
    /// By the bone that turns.
    joints: BTreeMap<u32, JointChange>,
}

impl Volumes {
    fn new(frames: usize) -> Volumes {
        Volumes { frames, changes: Vec::new(), joints: BTreeMap::new() }
    }

    fn add(&mut self, frame: usize, character: &CharacterModel, posed: &PosedCharacter) {
        let (Some(told), Some(volume)) = (posed.volume.as_ref(), posed.skin_volume(character)) else {
            return;
        };
        let of_rest = |volume: f64| if told.rest == 0.0 { 0.0 } else { 100.0 * volume / told.rest };
        self.changes.push([told.skinned, volume].map(|volume| of_rest(volume - told.rest)));
        for joint in posed.joint_volumes() {
            let change = self.joints.entry(joint.node).or_insert_with(|| JointChange {
                bone: character.rig.skeleton.names[joint.node as usize].clone(),
                changed_percent: vec![0.0; self.frames],
                given_percent: vec![0.0; self.frames],
            });
            change.changed_percent[frame] = of_rest(joint.changed);
            change.given_percent[frame] = of_rest(joint.given);
        }
    }

    fn finish(self) -> ClipVolume {
        let changes = &self.changes;
        let mean = |k: usize| changes.iter().map(|c| c[k]).sum::<f64>() / changes.len().max(1) as f64;
        let worst = |k: usize| worst(changes.iter().map(|c| c[k]));
        ClipVolume {
            skinned_mean_percent: mean(0),
            skinned_worst_percent: worst(0),
            kept_mean_percent: mean(1),
            kept_worst_percent: worst(1),
            joints: self.joints.into_values().collect(),
        }
    }
}

/// Numbers of the meshes of a character that have vertices.
fn meshes(character: &CharacterModel) -> Vec<u32> {
    let meshes = (0u32..).zip(&character.rig.meshes);
    meshes.filter(|(_, mesh)| !mesh.mesh.positions.is_empty()).map(|(m, _)| m).collect()
}

/// A mesh of a character, without frames.
fn empty(mesh: &SkinMesh) -> BodyAnimation {
    BodyAnimation {
        name: mesh.name.clone(),
        triangles: mesh.mesh.triangles.clone(),
        uvs: mesh.mesh.uvs.iter().map(|uv| uv.map(|c| c as f32)).collect(),
        ..BodyAnimation::default()
    }
}

fn frame(places: impl IntoIterator<Item = DVec3>) -> Frame {
    let positions = places.into_iter().map(|x| x.as_vec3().to_array()).collect();
    Frame { positions, velocities: Vec::new() }
}

/// What was played of a character.
#[derive(Clone, Debug, Default)]
pub struct Take {
    /// Meshes of the character frame by frame, then bodies that are none of its layers, m.
    pub animation: Animation,
    /// Those bodies in the frame and in lengths of its file.
    pub bodies: Vec<BodyAnimation>,
    /// All bodies that were simulated.
    pub simulated: Vec<BodyTake>,
    /// What becomes of its volume.
    pub volume: ClipVolume,
    /// The same frames as what is added to vertices before bones move them; empty if its file has other vertices.
    pub offsets: Vec<BakedFrame>,
    /// Vertices, counted in each frame, that bones squeeze so flat that nothing can be added.
    pub not_baked: usize,
}

/// A body while a clip was played.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BodyTake {
    /// Its name.
    pub name: String,
    /// Whether it is an elastic layer of the character, not a body beside it.
    pub is_layer: bool,
    /// Particles that move: those that nothing holds.
    pub particles: usize,
    /// By how much the edge that was stretched most was longer than at rest, percent; of a layer, than where the skin has it.
    pub stretch_percent: f64,
}

/// A character as its file has it: bones that were put in or posed and the volume that is kept are what is baked.
#[derive(Clone, Debug)]
pub struct PlainCharacter {
    model: CharacterModel,
    /// Its rig with the weights that it has got, if they are not those of the file.
    pub(crate) weighted: Option<Rig>,
}

impl PlainCharacter {
    /// Of a character of a scene; `is_gltf` tells whether the rig came from a glTF file as it is. If that has other vertices than the skin: why.
    pub fn new(
        scene: &Scene,
        character: usize,
        model: &CharacterModel,
        is_gltf: bool,
    ) -> Result<PlainCharacter, String> {
        let Some((written, rig)) = scene.characters.get(character).and_then(|written| match &written.rig {
            RigSource::Inline(rig) => Some((written, rig)),
            RigSource::File(_) => None,
        }) else {
            return Err("the file of the character was not read".to_owned());
        };
        let of_skin = model.rig.meshes.iter().map(|mesh| mesh.mesh.positions.len());
        if !of_skin.eq(rig.meshes.iter().map(|mesh| mesh.positions.len())) {
            let problem = "the skin is cut finer (`subdivide`), and the file has no such vertices";
            return Err(problem.to_owned());
        }
        let own_rig = match written.inserted.is_empty() {
            true => Arc::clone(&model.rig),
            false => {
                let mut alone = written.clone();
                alone.inserted.clear();
                // Poses may be of bones that were put in.
                alone.poses.clear();
                alone.volume = None;
                let alone = Scene { characters: vec![alone], ..Scene::default() };
                let built = ModelBuilder::new(&alone).build().map_err(|error| error.to_string())?;
                Arc::clone(&built.characters[0].rig)
            }
        };
        let repaired = |repairs: &RigRepairs| {
            repairs.normalised_vertices + repairs.unweighted_vertices + repairs.found_vertices > 0
        };
        let has_none = rig.meshes.iter().any(|mesh| mesh.skin.is_some() && mesh.influences == 0);
        let other = written.weights.is_some() || !is_gltf || has_none || repaired(&own_rig.repairs);
        let weighted = other.then(|| own_rig.with_weights(rig));
        let skinning = Skinning::LinearBlend;
        // Clips of the file know nothing of poses of the scene, which are baked.
        let stance = Vec::new();
        let model = CharacterModel { rig: own_rig, stance, volume: None, skinning, ..model.clone() };
        Ok(PlainCharacter { model, weighted })
    }
}

/// A character while it is played.
#[derive(Debug)]
pub struct SkinRecorder {
    meshes: Vec<u32>,
    pub(crate) plain: Option<PlainCharacter>,
    posed: Posed,
    pub(crate) offsets: Vec<BakedFrame>,
    not_baked: usize,
    pub(crate) locals: Vec<Vec<Transform>>,
    pub(crate) whole: Vec<Transform>,
}

impl SkinRecorder {
    /// No frames yet; without a plain character no offsets are kept.
    pub fn new(character: &CharacterModel, plain: Option<PlainCharacter>) -> SkinRecorder {
        SkinRecorder {
            meshes: meshes(character),
            plain: plain.map(|mut plain| {
                // It plays what the other plays.
                plain.model.clips.clone_from(&character.clips);
                plain
            }),
            posed: Posed::default(),
            offsets: Vec::new(),
            not_baked: 0,
            locals: Vec::new(),
            whole: Vec::new(),
        }
    }

    /// Adds a frame: the time, s, and where the vertices of each mesh are in the world, m.
    pub fn add(&mut self, time: f64, places: &[(u32, Vec<DVec3>)]) {
        let Some(PlainCharacter { model, .. }) = &self.plain else { return };
        self.posed.set(std::slice::from_ref(model), time);
        let posed = &self.posed.characters[0];
        let mut offsets = vec![Vec::new(); model.rig.meshes.len()];
        for (m, places) in places {
            let offset = |(v, x): (u32, &DVec3)| {
                let found = posed.before_bones(model, *m, v, posed.pose.apply_inverse(*x));
                self.not_baked += usize::from(found.is_none());
                found.unwrap_or_default().as_vec3().to_array()
            };
            offsets[*m as usize] = (0u32..).zip(places).map(offset).collect();
        }
        self.offsets.push(BakedFrame { offsets, morphs: posed.morphs().to_vec() });
        self.locals.push(posed.locals().to_vec());
        let (rotation, translation) = (posed.pose.rotation, posed.pose.translation);
        self.whole.push(Transform { translation, rotation, scale: DVec3::splat(model.scale) });
    }

    /// Where the vertices of all meshes of a character of a simulation are now, m.
    pub fn places(&self, simulation: &Simulation, character: usize) -> Vec<(u32, Vec<DVec3>)> {
        self.meshes.iter().map(|m| (*m, simulation.character_places(character, *m))).collect()
    }
}

/// A clip while it is played.
struct Recorder<'a> {
    character: &'a CharacterModel,
    skin: SkinRecorder,
    take: Take,
    volumes: Volumes,
    frame: usize,
}

impl Recorder<'_> {
    fn new<'a>(
        character: &'a CharacterModel,
        plain: Option<&PlainCharacter>,
        frames: usize,
        fps: f64,
    ) -> Recorder<'a> {
        let skin = SkinRecorder::new(character, plain.cloned());
        let bodies = skin.meshes.iter().map(|m| empty(&character.rig.meshes[*m as usize])).collect();
        let take = Take { animation: Animation { fps, bodies }, ..Take::default() };
        Recorder { character, skin, take, volumes: Volumes::new(frames), frame: 0 }
    }

    fn add(&mut self, time: f64, posed: &PosedCharacter, places: Vec<(u32, Vec<DVec3>)>) {
        self.skin.add(time, &places);
        self.volumes.add(self.frame, self.character, posed);
        self.frame += 1;
        for ((_, places), body) in places.into_iter().zip(&mut self.take.animation.bodies) {
            body.frames.push(frame(places));
        }
    }

    fn finish(self) -> Take {
        let SkinRecorder { offsets, not_baked, .. } = self.skin;
        Take { volume: self.volumes.finish(), offsets, not_baked, ..self.take }
    }
}

/// Plays a character.
pub fn bake_clip(
    character: &CharacterModel,
    plain: Option<&PlainCharacter>,
    frames: usize,
    fps: f64,
) -> Take {
    let (mut posed, mut recorder) = (Posed::default(), Recorder::new(character, plain, frames, fps));
    for k in 0..frames {
        let time = k as f64 / fps;
        posed.set(std::slice::from_ref(character), time);
        let one = &posed.characters[0];
        let of_mesh = |&m: &u32| {
            let count = character.rig.meshes[m as usize].mesh.positions.len() as u32;
            (m, (0..count).map(|v| one.pose.apply(one.vertex(character, m, v))).collect())
        };
        let places = recorder.skin.meshes.iter().map(of_mesh).collect();
        recorder.add(time, one, places);
    }
    recorder.finish()
}

/// Simulates a character of a scene with all that is in it: its skin with elastic layers, and bodies that are no layers of it.
pub fn bake_simulated(
    simulation: &mut Simulation,
    character: usize,
    plain: Option<&PlainCharacter>,
    frames: usize,
) -> Take {
    let model = simulation.shared_model();
    let own = &model.characters[character];
    let mut recorder = Recorder::new(own, plain, frames, model.fps);
    let mut bodies = FrameRecorder::new(simulation, false);
    let mut poses = Vec::new();
    let body_take = |(b, body): (usize, &BodyModel)| {
        let state = &simulation.state().bodies[b];
        BodyTake {
            name: body.name.clone(),
            is_layer: body.layer.as_ref().is_some_and(|layer| layer.character == character),
            particles: state.x.len() - state.pinned.len(),
            stretch_percent: 0.0,
        }
    };
    let mut simulated: Vec<BodyTake> = model.bodies.iter().enumerate().map(body_take).collect();
    for k in 0..frames {
        if k > 0 {
            simulation.step();
            bodies.record(simulation);
        }
        for (b, body) in simulated.iter_mut().enumerate() {
            body.stretch_percent = body.stretch_percent.max(100.0 * simulation.largest_stretch(b));
        }
        let places = recorder.skin.places(simulation, character);
        let posed = simulation.posed();
        poses.push(posed.characters[character].pose);
        recorder.add(posed.time, &posed.characters[character], places);
    }
    let other = |body: &BodyModel| body.layer.as_ref().is_none_or(|layer| layer.character != character);
    let mut bodies = bodies.finish_some(simulation, other, |_| false).bodies;
    let mut take = recorder.finish();
    take.simulated = simulated;
    take.animation.bodies.extend(bodies.iter().cloned());
    for (frame, pose) in bodies.iter_mut().flat_map(|body| body.frames.iter_mut().zip(&poses)) {
        for x in &mut frame.positions {
            let place = DVec3::from(x.map(f64::from));
            *x = (pose.apply_inverse(place) / own.scale).as_vec3().to_array();
        }
    }
    take.bodies = bodies;
    take
}
