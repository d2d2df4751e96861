//! Checks and compiles characters, and what follows them: skins as colliders, colliders on bones, supports on bones and skins.

use std::sync::Arc;

use glam::DVec3;

use super::world::check_motion;
use super::{Checked, LARGEST, finite, not_negative, positive, vector, wrong};
use crate::math::{Pose, rotation};
use crate::mesh::ColliderMesh;
use crate::model::{BodyModel, BoneCarrier, Carrier, ColliderForm, PinCarrier};
use crate::parallel::Parallel;
use crate::scene::{
    Body, BonePose, Character, Collider, Follow, JointBulge, PaintedMap, PlayedClip, Rig, RigSource,
    SkinShape, SkinVolume, SkinWeights, Skinning, SubdivideSkin,
};
use crate::skin::insert::insert_bone;
use crate::skin::subdivide::subdivide;
use crate::skin::{
    BoneTurn, CharacterModel, CompiledRig, MapModel, PlayedModel, Posed, RigError, SkinPoint, VolumeKeeper,
    WeightError, weights,
};

/// The characters of a scene, and where they are when it starts.
pub(super) struct Characters {
    pub models: Vec<CharacterModel>,
    pub start: Posed,
}

impl Characters {
    pub(super) fn build(characters: &[Character]) -> Checked<Characters> {
        let mut models = Vec::new();
        for (c, character) in characters.iter().enumerate() {
            let mut model = build_character(&format!("character[{c}]"), character)?;
            model.stance.iter_mut().for_each(|turn| turn.character = c as u32);
            models.push(model);
        }
        let start = Posed::at(&models, 0.0);
        Ok(Characters { models, start })
    }

    /// The number of a character by its name.
    pub(super) fn named(&self, at: &str, name: &str) -> Checked<usize> {
        match self.models.iter().position(|c| c.name == name) {
            Some(found) => Ok(found),
            None => {
                let known = self.models.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
                let help = match known.is_empty() {
                    true => format!("add a [[character]] with `name = \"{name}\"`"),
                    false => format!("known characters: {known}"),
                };
                wrong(&format!("{at}.character"), format!("there is no character '{name}'"), help)
            }
        }
    }

    fn bone(&self, at: &str, character: usize, name: &str) -> Checked<BoneCarrier> {
        let model = &self.models[character];
        let owner = format!("'{}'", model.name);
        let node = node_named(&format!("{at}.bone"), &owner, &model.rig.skeleton.names, name)?;
        Ok(BoneCarrier { character, node, bound: self.start.characters[character].bone(node).inverse() })
    }

    /// What carries a collider that was put somewhere, and where that is when the scene begins.
    pub(super) fn carrier(&self, at: &str, follow: &Follow, put: Pose) -> Checked<(Carrier, Pose)> {
        let at = format!("{at}.follow");
        let character = self.named(&at, &follow.character)?;
        let Some(bone) = &follow.bone else {
            return wrong(
                &at,
                "a collider follows a bone, and none is named",
                "write `bone = \"…\"`; for the whole surface write `shape = { skin = { character = \"…\" } }`",
            );
        };
        let carrier = self.bone(&at, character, bone)?;
        let put = match follow.at_rest {
            true => {
                let model = &self.models[character];
                let standing = Posed::at(&[model.unposed()], 0.0);
                let rest = standing.characters[0].bone(carrier.node);
                carrier.bound.inverse().compose(&rest.inverse()).compose(&put)
            }
            false => put,
        };
        Ok((Carrier::Bone(carrier), put))
    }

    /// The meshes of a character that a skin is made of.
    pub(super) fn chosen_meshes(&self, at: &str, c: usize, shape: &SkinShape) -> Checked<Vec<u32>> {
        let character = &self.models[c];
        let rig = &character.rig;
        match &shape.meshes {
            None => Ok((0..rig.meshes.len() as u32).collect()),
            Some(names) => {
                let known = rig.meshes.iter().map(|m| m.name.as_str()).collect::<Vec<_>>().join(", ");
                if let Some(stranger) = names.iter().find(|n| rig.meshes.iter().all(|m| m.name != **n)) {
                    return wrong(
                        &format!("{at}.meshes"),
                        format!("'{}' has no mesh '{stranger}'", character.name),
                        format!("it has: {known}"),
                    );
                }
                let named = (0u32..).zip(&rig.meshes).filter(|(_, m)| names.contains(&m.name));
                Ok(named.map(|(m, _)| m).collect())
            }
        }
    }

    /// The skin of a character as a collider: its surface at the start, and which of its vertices move that.
    pub(super) fn skin(&self, at: &str, shape: &SkinShape) -> Checked<(ColliderForm, Carrier, Pose)> {
        let at = format!("{at}.shape.skin");
        let c = self.named(&at, &shape.character)?;
        let (character, posed) = (&self.models[c], &self.start.characters[c]);
        let rig = &character.rig;
        let chosen = self.chosen_meshes(&at, c, shape)?;
        let (surface, vertices) = rig.surface(chosen.iter().copied(), |m, v| posed.vertex(character, m, v));
        let mut classes: Vec<u32> = Vec::new();
        for m in chosen {
            let first = classes.len() as u32;
            classes.extend(rig.meshes[m as usize].bound_alike().into_iter().map(|class| first + class));
        }
        if surface.positions.iter().any(|x| x.abs().max_element() > LARGEST) {
            return wrong(
                &at,
                format!("the skin of '{}' is beyond {LARGEST:.0e} m from its origin", character.name),
                "set the `scale` of the character: lengths are in metres",
            );
        }
        match ColliderMesh::bound(&surface, &classes) {
            Ok((mesh, kept)) => {
                let vertices = kept.iter().map(|&v| vertices[v as usize]).collect();
                Ok((ColliderForm::Mesh(Arc::new(mesh)), Carrier::Skin { character: c, vertices }, posed.pose))
            }
            Err(problem) => wrong(
                &at,
                format!("the skin of '{}' cannot be touched: {problem}", character.name),
                "repair or re-export the character, or name other `meshes` of it",
            ),
        }
    }

    /// Where vertices of meshes of a character are as it was modelled, in its frame, m.
    pub(super) fn modelled(&self, character: usize, vertices: &[(u32, u32)]) -> Vec<DVec3> {
        let model = self.models[character].unposed();
        let (posed, mut places) = (Posed::at(std::slice::from_ref(&model), 0.0), Vec::new());
        posed.characters[0].vertices(&model, vertices, &mut places);
        places
    }

    /// What carries the supports of each body.
    pub(super) fn carry_pins(&self, scene: &[Body], bodies: &mut [BodyModel]) -> Checked<()> {
        for (b, (written, body)) in scene.iter().zip(bodies).enumerate() {
            for (p, (pin, set)) in written.pins.iter().zip(&mut body.pins).enumerate() {
                let Some(follow) = &pin.follow else { continue };
                let at = format!("body[{b}].pin[{p}].follow");
                if pin.motion.is_some() {
                    return wrong(
                        &at,
                        "supports that follow a character have no `motion` of their own",
                        MOTION,
                    );
                }
                if follow.at_rest {
                    let help = "leave `at_rest` out: supports are where their body is when the scene begins";
                    return wrong(&format!("{at}.at_rest"), "supports have no place of their own", help);
                }
                let character = self.named(&at, &follow.character)?;
                set.carrier = match &follow.bone {
                    Some(bone) => PinCarrier::Bone(self.bone(&at, character, bone)?),
                    None => {
                        let places: Vec<_> =
                            set.vertices.iter().map(|&v| body.topology.rest_positions[v as usize]).collect();
                        let (model, posed) = (&self.models[character], &self.start.characters[character]);
                        let Some(points) = SkinPoint::nearest(model, posed, &places) else {
                            has_rig(&at, model)?;
                            return wrong(
                                &at,
                                format!("'{}' has no skin that could be followed", model.name),
                                "name a `bone`",
                            );
                        };
                        PinCarrier::Skin { character, points }
                    }
                };
            }
        }
        Ok(())
    }
}

/// A recipe for `souple bake` has characters without a rig, which cannot be followed before one is there.
pub(super) fn has_rig(field: &str, model: &CharacterModel) -> Checked<()> {
    match model.rig.meshes.is_empty() && model.rig.skeleton.names.is_empty() {
        true => wrong(
            field,
            format!("'{}' has no rig", model.name),
            "name its file, `rig = { file = { path = \"character.glb\" } }`, or bake a character with this recipe: `souple bake \
             character.glb --recipe …`",
        ),
        false => Ok(()),
    }
}

/// The one node of a name; `owner` is whose it is, for people.
fn node_named(field: &str, owner: &str, names: &[String], name: &str) -> Checked<u32> {
    let mut found = (0u32..).zip(names).filter(|(_, n)| *n == name).map(|(node, _)| node);
    match (found.next(), found.next()) {
        (Some(node), None) => Ok(node),
        (Some(_), Some(_)) => wrong(
            field,
            format!("{owner} has several nodes of the name '{name}'"),
            "give them different names where the file was made",
        ),
        _ => {
            let known = names.iter().take(40).map(String::as_str).collect::<Vec<_>>().join(", ");
            wrong(field, format!("{owner} has no bone or node '{name}'"), format!("it has: {known}"))
        }
    }
}

/// Most rounds in which the area of a skin is kept.
const MOST_AREA_ROUNDS: u32 = 32;

/// How often edges of a skin are halved, and how wide the margin around them is, at most.
const MOST_LEVELS: u32 = 6;

const MOTION: &str = "give the `motion` to the character, or leave `follow` out";

/// A collider that a character carries has no script of its own.
pub(super) fn check_carried(at: &str, collider: &Collider) -> Checked<()> {
    let is_skin = matches!(collider.shape, crate::scene::ColliderShape::Skin(_));
    if collider.motion.is_some() && (is_skin || collider.follow.is_some()) {
        return wrong(
            &format!("{at}.motion"),
            "a collider that follows a character has no `motion` of its own",
            MOTION,
        );
    }
    if !is_skin {
        return Ok(());
    }
    let put = [
        ("follow", collider.follow.is_some()),
        ("position", collider.position != [0.0; 3]),
        ("rotate_deg", collider.rotate_deg != [0.0; 3]),
        ("scale", collider.scale != 1.0),
    ];
    match put.iter().find(|(_, given)| *given) {
        Some((field, _)) => wrong(
            &format!("{at}.{field}"),
            "a skin is where its character is",
            "give position, rotate_deg and scale to the character",
        ),
        None => Ok(()),
    }
}

fn build_character(at: &str, character: &Character) -> Checked<CharacterModel> {
    let field = |name: &str| format!("{at}.{name}");
    let rig = match &character.rig {
        RigSource::Inline(rig) => rig,
        RigSource::File(file) => {
            return wrong(
                &field("rig.file.path"),
                format!("the file '{}' was not read", file.path),
                "read rigs into the scene before it is built (souple_formats::scene::resolve_meshes)",
            );
        }
    };
    let mut rig = std::borrow::Cow::Borrowed(rig);
    for (k, inserted) in character.inserted.iter().enumerate() {
        let at = format!("{at}.insert_bone[{k}]");
        vector(&format!("{at}.rotate_deg"), inserted.rotate_deg)?;
        vector(&format!("{at}.shift"), inserted.shift)?;
        not_negative(&format!("{at}.blend"), inserted.blend, "0.25")?;
        super::share(&format!("{at}.turn_share"), inserted.turn_share)?;
        super::share(&format!("{at}.stretch_share"), inserted.stretch_share)?;
        if let Err(problem) = insert_bone(rig.to_mut(), inserted) {
            let known =
                rig.nodes.iter().take(40).map(|node| node.name.as_str()).collect::<Vec<_>>().join(", ");
            return wrong(&at, problem.to_string(), format!("the rig has: {known}"));
        }
    }
    let compile = |rig: &Rig| match CompiledRig::new(rig) {
        Ok(rig) => Ok(rig),
        Err(problem) => {
            let help = match problem {
                RigError::Ring(_) => "remove the ring where the file was made",
                _ => "repair or re-export the character",
            };
            wrong(&field("rig"), problem.to_string(), help)
        }
    };
    let mut compiled = compile(&rig)?;
    if let Some(weighted) = find_weights(&field("weights"), character.weights.as_ref(), &rig, &compiled)? {
        let had_none = compiled.repairs.unweighted_vertices;
        compiled = compile(&weighted)?;
        if character.weights.is_none() {
            compiled.repairs.found_vertices = had_none.saturating_sub(compiled.repairs.unweighted_vertices);
        }
    }
    let mut rig = compiled;
    let translation = vector(&field("position"), character.position)?;
    let turn = rotation(vector(&field("rotate_deg"), character.rotate_deg)?);
    if let Some(motion) = &character.motion {
        check_motion(&field("motion"), motion)?;
    }
    let mut clips = Vec::new();
    for (k, played) in character.clips.iter().enumerate() {
        clips.push(build_played(&format!("{at}.clip[{k}]"), played, &rig)?);
    }
    let sum: f64 = clips.iter().map(|played| played.weight).sum();
    if !clips.is_empty() && sum <= 0.0 {
        return wrong(&field("clip"), "no clip has a weight", "give one of them a `weight` above 0");
    }
    clips.iter_mut().for_each(|played| played.weight /= sum);
    let stance = build_stance(at, &character.poses, &rig)?;
    let mut maps = build_maps(at, &character.maps, &rig)?;
    let volume = match &character.volume {
        Some(written) => {
            let at = field("volume");
            check_volume(&at, written, character.skinning, &rig)?;
            for (j, joint) in written.joints.iter().enumerate() {
                if let Some(map) = joint.map.as_ref().filter(|name| maps.iter().all(|map| map.name != **name))
                {
                    let known = maps.iter().map(|map| map.name.as_str()).collect::<Vec<_>>().join(", ");
                    let help = match known.is_empty() {
                        true => format!("add a [[character.map]] with `name = \"{map}\"`"),
                        false => format!("it has: {known}"),
                    };
                    return wrong(&format!("{at}.joint[{j}].map"), format!("there is no map '{map}'"), help);
                }
            }
            let mut keeper = VolumeKeeper::painted(&rig, written, &maps);
            if let Some(finer) = &written.subdivide {
                match subdivide(&rig, &keeper.gammas(&rig), finer) {
                    Ok(made) => {
                        for map in &mut maps {
                            let painted = map.values.iter_mut().enumerate().filter(|(_, v)| !v.is_empty());
                            painted.for_each(|(m, values)| made.extend(m, values));
                        }
                        rig = made.rig;
                        keeper = VolumeKeeper::painted(&rig, written, &maps);
                    }
                    Err(problem) => {
                        let help = "give a larger `size`, or fewer `levels`";
                        return wrong(&format!("{at}.subdivide"), problem.to_string(), help);
                    }
                }
            }
            Some(Arc::new(keeper))
        }
        None => None,
    };
    let rig = Arc::new(rig);
    Ok(CharacterModel {
        name: character.name.clone(),
        volume,
        maps,
        rig,
        clips,
        stance,
        skinning: character.skinning,
        pose: Pose { rotation: turn, translation },
        scale: positive(&field("scale"), character.scale, "times the size")?,
        pivot: character.motion.as_ref().and_then(|m| m.pivot).map_or(translation, Into::into),
        motion: character.motion.clone(),
    })
}

/// How the bones of a character are posed, by node; the number of the character is that of the first.
fn build_stance(at: &str, poses: &[BonePose], rig: &CompiledRig) -> Checked<Vec<BoneTurn>> {
    let mut stance: Vec<BoneTurn> = Vec::new();
    for (k, BonePose { bone, rotate_deg, shift }) in poses.iter().enumerate() {
        let at = format!("{at}.pose[{k}]");
        let node = node_named(&format!("{at}.bone"), "the character", &rig.skeleton.names, bone)?;
        if stance.iter().any(|turn| turn.node == node) {
            let help = "write its turn and its shift into one entry";
            return wrong(&format!("{at}.bone"), format!("'{bone}' is posed twice"), help);
        }
        let rotation = rotation(vector(&format!("{at}.rotate_deg"), *rotate_deg)?);
        let shift = vector(&format!("{at}.shift"), *shift)?;
        stance.push(BoneTurn { character: 0, node, rotation, shift });
    }
    stance.sort_by_key(|turn| turn.node);
    Ok(stance)
}

fn build_maps(at: &str, written: &[PaintedMap], rig: &CompiledRig) -> Checked<Vec<MapModel>> {
    let mut maps: Vec<MapModel> = Vec::new();
    for (k, PaintedMap { name, mesh, values }) in written.iter().enumerate() {
        let at = format!("{at}.map[{k}]");
        let field = |name: &str| format!("{at}.{name}");
        if name.is_empty() {
            return wrong(&field("name"), "a map needs a name", "say what it is: `name = \"softness\"`");
        }
        if maps.iter().any(|other| other.name == *name) {
            let problem = format!("another map of this character is called '{name}'");
            return wrong(&field("name"), problem, "give each a name of its own");
        }
        let painted: Vec<usize> = match mesh {
            None => (0..rig.meshes.len()).collect(),
            Some(mesh) => {
                let found: Vec<usize> =
                    (0..rig.meshes.len()).filter(|m| rig.meshes[*m].name == *mesh).collect();
                if found.len() != 1 {
                    let known = rig.meshes.iter().map(|m| m.name.as_str()).collect::<Vec<_>>().join(", ");
                    let many = if found.is_empty() { "no mesh" } else { "several meshes" };
                    return wrong(
                        &field("mesh"),
                        format!("the rig has {many} '{mesh}'"),
                        format!("it has: {known}; without `mesh` values are of all of them, in this order"),
                    );
                }
                found
            }
        };
        let count = |m: &usize| rig.meshes[*m].mesh.positions.len();
        let needed: usize = painted.iter().map(count).sum();
        if values.len() != needed {
            return wrong(
                &field("values"),
                format!("{} values for {needed} vertices", values.len()),
                "give one value per vertex, in the order of the file",
            );
        }
        if let Some(v) = values.iter().position(|value| !(0.0..=1.0).contains(value)) {
            return wrong(
                &field(&format!("values[{v}]")),
                format!("a map goes from 0 to 1, not to {}", values[v]),
                "divide all values by the largest",
            );
        }
        let mut rest = &values[..];
        let mut per_mesh = vec![Vec::new(); rig.meshes.len()];
        for m in painted {
            let (of, others) = rest.split_at(count(&m));
            (per_mesh[m], rest) = (of.to_vec(), others);
        }
        maps.push(MapModel { name: name.clone(), values: per_mesh });
    }
    Ok(maps)
}

/// A rig with the weights that it is to get; none if it gets none.
pub fn find_weights(
    at: &str,
    written: Option<&SkinWeights>,
    rig: &Rig,
    compiled: &CompiledRig,
) -> Checked<Option<Rig>> {
    let field = |name: &str| format!("{at}.{name}");
    if let Some(how) = written {
        let whole =
            |name: &str, value: u32, range: std::ops::RangeInclusive<u32>| match range.contains(&value) {
                true => Ok(()),
                false => wrong(
                    &field(name),
                    format!("{value} is not from {} to {}", range.start(), range.end()),
                    "leave it out: the default is good for most",
                ),
            };
        whole("resolution", how.resolution, 8..=512)?;
        whole("influences", how.influences, 1..=64)?;
        positive(&field("exponent"), how.exponent, "4")?;
        not_negative(&field("smoothing"), how.smoothing, "1")?;
        let names = || compiled.bindings.iter().flatten().map(|(n, _)| &compiled.skeleton.names[*n as usize]);
        if let Some(stranger) = how.without.iter().find(|name| !names().any(|known| known == *name)) {
            let known = names().take(40).map(String::as_str).collect::<Vec<_>>().join(", ");
            return wrong(
                &field("without"),
                format!("there is no bone '{stranger}' that moves a skin"),
                format!("it has: {known}"),
            );
        }
    }
    // Threads change no bit.
    let parallel = Parallel::new(0).unwrap_or_default();
    weights::automatic(rig, compiled, written, &parallel).or_else(|problem| {
        let (name, help) = match problem {
            WeightError::NoBones(_) => (field("without"), "leave fewer bones out, or repair the skeleton"),
            WeightError::TooMany { .. } => (at.to_owned(), "use a coarser mesh or fewer bones"),
            WeightError::Cells(_) => (field("resolution"), "use a smaller `resolution`"),
        };
        wrong(&name, problem.to_string(), help)
    })
}

/// Checks how a skin keeps its volume.
pub fn check_volume(at: &str, written: &SkinVolume, skinning: Skinning, rig: &CompiledRig) -> Checked<()> {
    let field = |name: &str| format!("{at}.{name}");
    if skinning == Skinning::Rigid {
        return wrong(
            at,
            "a skin whose vertices follow one bone each has no joints that could bulge",
            "use `skinning = \"linear_blend\"` or \"dual_quaternion\", or leave `volume` out",
        );
    }
    positive(&field("target"), written.target, "1")?;
    not_negative(&field("gain"), written.gain, "1")?;
    if written.area_rounds > MOST_AREA_ROUNDS {
        let problem = format!("{} rounds; at most {MOST_AREA_ROUNDS} are possible", written.area_rounds);
        return wrong(&field("area_rounds"), problem, "4 are enough, 16 for sharp bends");
    }
    if let Some(SubdivideSkin { levels, size, gamma, margin }) = &written.subdivide {
        let field = |name: &str| field(&format!("subdivide.{name}"));
        not_negative(&field("size"), *size, "0")?;
        not_negative(&field("gamma"), *gamma, "0.1")?;
        for (name, value) in [("levels", *levels), ("margin", *margin)] {
            if value > MOST_LEVELS {
                return wrong(&field(name), format!("{value}; at most {MOST_LEVELS} are possible"), "1");
            }
        }
    }
    for (j, joint) in written.joints.iter().enumerate() {
        let at = field(&format!("joint[{j}]"));
        let field = |name: &str| format!("{at}.{name}");
        let known = |name: &String| {
            rig.bindings.iter().flatten().any(|(node, _)| rig.skeleton.names[*node as usize] == *name)
        };
        if let Some(stranger) = joint.bones.iter().find(|name| !known(name)) {
            let mut names: Vec<&str> = rig
                .bindings
                .iter()
                .flatten()
                .map(|(node, _)| rig.skeleton.names[*node as usize].as_str())
                .collect();
            names.dedup();
            names.truncate(40);
            let help = format!("it has: {}", names.join(", "));
            return wrong(&field("bones"), format!("there is no bone '{stranger}' that moves a skin"), help);
        }
        let earlier = &written.joints[..j];
        let again = |other: &JointBulge| {
            other.bones.iter().any(|name| joint.bones.contains(name))
                || (other.bones.is_empty() && joint.bones.is_empty())
        };
        if earlier.iter().any(again) {
            return wrong(
                &field("bones"),
                "another entry before is for the same joints",
                "name each bone once",
            );
        }
        not_negative(&field("gain"), joint.gain.unwrap_or(1.0), "1")?;
        not_negative(&field("weight_exponent"), joint.weight_exponent, "1")?;
        not_negative(&field("distance_exponent"), joint.distance_exponent, "1")?;
        positive(&field("width"), joint.width.unwrap_or(1.0), "0.25")?;
        finite(&field("offset"), joint.offset.unwrap_or(0.0))?;
        positive(&field("folds"), joint.folds, "3")?;
        if let Some(axes) = joint.axes {
            axes.iter().try_for_each(|share| not_negative(&field("axes"), *share, "1").map(|_| ()))?;
            if axes == [0.0; 3] {
                return wrong(
                    &field("axes"),
                    "the skin can go nowhere",
                    "give one of the three a number above 0",
                );
            }
        }
        for (name, profile) in [
            ("profile_x", &joint.profile_x),
            ("profile_y", &joint.profile_y),
            ("profile_z", &joint.profile_z),
        ] {
            for point in profile {
                finite(&field(name), point[0])?;
                not_negative(&field(name), point[1], "1")?;
            }
            if profile.windows(2).any(|pair| pair[0][0] >= pair[1][0]) {
                return wrong(&field(name), "places do not ascend", "order its points by their first number");
            }
        }
    }
    Ok(())
}

fn build_played(at: &str, played: &PlayedClip, rig: &CompiledRig) -> Checked<PlayedModel> {
    let field = |name: &str| format!("{at}.{name}");
    let by_name = rig.clips.iter().position(|clip| clip.name == played.name);
    let by_number = || played.name.parse().ok().filter(|number: &usize| *number < rig.clips.len());
    let Some(clip) = by_name.or_else(by_number) else {
        let known = rig.clips.iter().map(|c| format!("'{}'", c.name)).collect::<Vec<_>>().join(", ");
        let help = match known.is_empty() {
            true => "the file has no animations; leave `clip` out".to_owned(),
            false => format!("it has: {known}; or give its number, from 0"),
        };
        return wrong(&field("name"), format!("there is no clip '{}'", played.name), help);
    };
    Ok(PlayedModel {
        clip,
        weight: not_negative(&field("weight"), played.weight, "1")?,
        start: finite(&field("start"), played.start)?,
        speed: finite(&field("speed"), played.speed)?,
        repeat: played.repeat,
    })
}
