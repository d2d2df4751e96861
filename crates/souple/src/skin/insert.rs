//! Bones that are put into a rig (ROH-65): a bone is split, or gets a branch to a point, and weights near it are found anew.
//!
//! Rohmer 2011, section 2.7, where a hand that touches a shape makes a bone from the nearest point of the skeleton to where it touches. As long as the new bone is where it
//! was put, nothing moves, in any pose: it takes its weight from the bone it is put on, and clips do what they did. It moves by keys of its own, and a part of a split bone
//! takes its share of how clips turn and stretch the whole: q = q₀ d becomes q₀ d^(1−s) of the first part and d^s of the second, so that what the bone carries is
//! turned as before, and the skin between along a curve.

use glam::{DAffine3, DQuat, DVec3};
use thiserror::Error;

use super::clip::{Track, unit};
use crate::math::{rotation, slerp};
use crate::scene::{
    ChannelTarget, InsertedBone, KeyInterpolation, Rig, RigChannel, RigClip, RigMesh, RigNode,
};

/// Straight pieces that a cubic between two keys becomes where its motion is shared out.
const PIECES: usize = 8;

/// Branches are as wide as this share of their length, from their tip.
const BRANCH_REACH: f64 = 1.0;

/// Why a bone cannot be put into a rig.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum InsertError {
    /// There is no such bone, or several.
    #[error("the rig has {found} nodes of the name '{name}'; a bone is put on one")]
    Bone {
        /// The name.
        name: String,
        /// How many have it.
        found: usize,
    },
    /// The bone leads nowhere, and none was named for it to lead to.
    #[error("'{0}' carries no bone that it could lead to")]
    End(String),
    /// The new name is taken.
    #[error("there is a node '{0}' already")]
    Taken(String),
    /// Nothing is bound to the bone.
    #[error("no skin is bound to '{0}'")]
    Unbound(String),
    /// A number is not usable.
    #[error("{0}")]
    Number(&'static str),
}

fn smooth(s: f64) -> f64 {
    let s = s.clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}

fn node_named(rig: &Rig, name: &str) -> Result<u32, InsertError> {
    let mut found = (0u32..).zip(&rig.nodes).filter(|(_, node)| node.name == name).map(|(n, _)| n);
    match (found.next(), found.next()) {
        (Some(node), None) => Ok(node),
        (one, two) => Err(InsertError::Bone {
            name: name.to_owned(),
            found: usize::from(one.is_some()) + usize::from(two.is_some()) + found.count(),
        }),
    }
}

/// What leads from a mesh to the frame of a bone where they were bound.
fn inverse_bind(rig: &Rig, skin: usize, joint: usize) -> DAffine3 {
    let list = &rig.skins[skin].inverse_binds;
    list.get(joint).map_or(DAffine3::IDENTITY, DAffine3::from_cols_array)
}

/// Puts a bone into a rig; the number of its node.
pub fn insert_bone(rig: &mut Rig, written: &InsertedBone) -> Result<u32, InsertError> {
    let bone = node_named(rig, &written.on)?;
    if rig.nodes.iter().any(|node| node.name == written.name) {
        return Err(InsertError::Taken(written.name.clone()));
    }
    if !(0.0..=1.0).contains(&written.at) {
        return Err(InsertError::Number("`at` goes from 0, the joint of the bone, to 1, its end"));
    }
    if written.to.iter().flatten().any(|c| !c.is_finite()) {
        return Err(InsertError::Number("`to` has a number that is not finite"));
    }
    let mut before = f64::NEG_INFINITY;
    for key in &written.keys {
        if !(key.t > before && key.t.is_finite()) {
            return Err(InsertError::Number("times of `key` are finite and get larger"));
        }
        before = key.t;
        if key.rotate_deg.iter().chain(&key.shift).any(|c| !c.is_finite()) {
            return Err(InsertError::Number("`key` has a number that is not finite"));
        }
    }
    let child = (0u32..).zip(&rig.nodes).find(|(_, node)| node.parent == Some(bone)).map(|(n, _)| n);
    let bound: Vec<(usize, usize)> = rig
        .skins
        .iter()
        .enumerate()
        .filter_map(|(s, skin)| skin.joints.iter().position(|joint| *joint == bone).map(|j| (s, j)))
        .collect();
    let Some(&(skin, joint)) = bound.first() else { return Err(InsertError::Unbound(written.on.clone())) };
    // To the end of the bone, in its own frame: where it was bound, if the end was.
    let own = inverse_bind(rig, skin, joint);
    let end = child.and_then(|child| {
        let at = rig.skins[skin].joints.iter().position(|joint| *joint == child);
        let bound = at.map(|at| own.transform_point3(inverse_bind(rig, skin, at).inverse().translation));
        bound.or_else(|| rig.nodes.get(child as usize).map(|node| DVec3::from(node.translation)))
    });
    let end = match (end, written.at > 0.0) {
        (Some(end), _) if end.is_finite() => end,
        (_, false) => DVec3::ZERO,
        _ => return Err(InsertError::End(written.on.clone())),
    };
    let shift = written.at * end;
    let node = rig.nodes.len() as u32;
    rig.nodes.push(RigNode {
        name: written.name.clone(),
        parent: Some(bone),
        translation: shift.to_array(),
        ..RigNode::default()
    });
    let is_branch = written.to.is_some();
    if let (false, Some(child)) = (is_branch, child) {
        carry(rig, child, node, shift);
    }
    for (skin, joint) in bound {
        let new = rig.skins[skin].joints.len() as u32;
        let back = inverse_bind(rig, skin, joint);
        let count = rig.skins[skin].joints.len();
        let list = &mut rig.skins[skin];
        list.joints.push(node);
        if !list.inverse_binds.is_empty() || shift != DVec3::ZERO {
            list.inverse_binds.resize(count, DAffine3::IDENTITY.to_cols_array());
            list.inverse_binds.push((DAffine3::from_translation(-shift) * back).to_cols_array());
        }
        if let Some(tail) = list.tails.get(joint).copied() {
            // A branch ends where it leads to; of a bone that is split, the second half ends where all of it did.
            let root = back.inverse().transform_point3(shift).to_array();
            list.tails.push(written.to.unwrap_or(tail));
            if written.to.is_none() {
                list.tails[joint] = root;
            }
        }
        for mesh in rig.meshes.iter_mut().filter(|mesh| mesh.skin == Some(skin as u32)) {
            match written.to {
                Some(to) => {
                    let root = back.inverse().transform_point3(shift);
                    branch_weights(mesh, joint as u32, new, [root, to.into()]);
                }
                None => split_weights(mesh, joint as u32, new, &back, end, written),
            }
        }
    }
    let pose = &mut rig.nodes[node as usize];
    pose.rotation = rotation(written.rotate_deg.into()).to_array();
    pose.translation = (shift + DVec3::from(written.shift)).to_array();
    let child = child.filter(|_| !is_branch);
    let stands = unit(rig.nodes[bone as usize].rotation);
    let end = child.map_or(DVec3::ZERO, |child| rig.nodes[child as usize].translation.into());
    for clip in &mut rig.clips {
        if child.is_some() {
            share_turn(clip, [bone, node], stands, written);
        } else {
            turn_by_keys(clip, node, None, written);
        }
        move_joint(clip, [child.unwrap_or(u32::MAX), node], [shift, end], written);
    }
    Ok(node)
}

/// The channel of a node, as a track; none if there is none, or not as many numbers as it needs.
fn track(clip: &RigClip, node: u32, target: ChannelTarget) -> Option<(usize, Track)> {
    let width = if target == ChannelTarget::Rotation { 4 } else { 3 };
    let is_it = |channel: &RigChannel| channel.node == node && channel.target == target;
    let (at, channel) = clip.channels.iter().enumerate().find(|(_, channel)| is_it(channel))?;
    let RigChannel { interpolation, times, values, .. } = channel;
    let per_key = if *interpolation == KeyInterpolation::Cubic { 3 * width } else { width };
    // What is not as it should be is refused when the rig is compiled.
    if times.is_empty() || values.len() != times.len() * per_key || !times.is_sorted() {
        return None;
    }
    let (interpolation, times, values) = (*interpolation, times.clone(), values.clone());
    Some((at, Track { node, target, interpolation, times, values, width, morphs: Vec::new() }))
}

/// Times at which a track and keys are looked at.
fn key_times(track: Option<&Track>, written: &InsertedBone) -> Vec<f64> {
    let mut times: Vec<f64> = written.keys.iter().map(|key| key.t).collect();
    if let Some(track) = track {
        times.extend(&track.times);
        if track.interpolation == KeyInterpolation::Cubic {
            let between = |pair: &[f64]| {
                let [a, b] = [pair[0], pair[1]];
                (1..PIECES).map(move |k| a + (b - a) * k as f64 / PIECES as f64)
            };
            times.extend(track.times.windows(2).flat_map(between).collect::<Vec<f64>>());
        }
    }
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

/// Straight from key to key; of what stays from key to key, and has no keys beside, as it was.
fn interpolation(track: Option<&Track>, written: &InsertedBone) -> KeyInterpolation {
    match track {
        Some(track) if written.keys.is_empty() && track.interpolation == KeyInterpolation::Step => {
            KeyInterpolation::Step
        }
        _ => KeyInterpolation::Linear,
    }
}

/// The keys around a time, and how far it is from the first to the second; none without keys.
fn keys_around(written: &InsertedBone, t: f64) -> Option<([usize; 2], f64)> {
    let last = written.keys.len().checked_sub(1)?;
    let after = written.keys.partition_point(|key| key.t <= t);
    let (a, b) = (after.saturating_sub(1), after.min(last));
    let span = written.keys[b].t - written.keys[a].t;
    Some(([a, b], if span > 0.0 { ((t - written.keys[a].t) / span).clamp(0.0, 1.0) } else { 0.0 }))
}

/// How the new bone is turned by itself at a time of a clip.
fn own_turn(written: &InsertedBone, t: f64) -> DQuat {
    match keys_around(written, t) {
        Some((around, s)) => {
            let [a, b] = around.map(|k| rotation(written.keys[k].rotate_deg.into()));
            slerp(a, b, s)
        }
        None => rotation(written.rotate_deg.into()),
    }
}

/// How the new bone is shifted by itself at a time of a clip.
fn own_shift(written: &InsertedBone, t: f64) -> DVec3 {
    match keys_around(written, t) {
        Some((around, s)) => {
            let [a, b] = around.map(|k| DVec3::from(written.keys[k].shift));
            a.lerp(b, s)
        }
        None => written.shift.into(),
    }
}

/// Lets the second part of a split bone take its share of how a clip turns the whole.
fn share_turn(clip: &mut RigClip, [bone, node]: [u32; 2], stands: DQuat, written: &InsertedBone) {
    let share = written.turn_share;
    let found = track(clip, bone, ChannelTarget::Rotation).filter(|_| share > 0.0);
    let Some((at, track)) = found else { return turn_by_keys(clip, node, None, written) };
    let turn = |t: f64| stands.inverse() * track.rotation(t);
    let none = InsertedBone::default();
    let times = key_times(Some(&track), &none);
    let first = |t: &f64| (stands * slerp(DQuat::IDENTITY, turn(*t), 1.0 - share)).to_array();
    clip.channels[at] = RigChannel {
        node: bone,
        target: ChannelTarget::Rotation,
        interpolation: interpolation(Some(&track), &none),
        values: times.iter().flat_map(first).collect(),
        times,
    };
    turn_by_keys(clip, node, Some((&track, &|t| slerp(DQuat::IDENTITY, turn(t), share))), written);
}

/// Turns the new bone by its keys, on top of what it takes from another.
fn turn_by_keys(
    clip: &mut RigClip,
    node: u32,
    taken: Option<(&Track, &dyn Fn(f64) -> DQuat)>,
    written: &InsertedBone,
) {
    if taken.is_none() && written.keys.is_empty() {
        return;
    }
    let track = taken.map(|(track, _)| track);
    let times = key_times(track, written);
    let turn = |t: &f64| {
        let taken = taken.map_or(DQuat::IDENTITY, |(_, turn)| turn(*t));
        (taken * own_turn(written, *t)).to_array()
    };
    clip.channels.push(RigChannel {
        node,
        target: ChannelTarget::Rotation,
        interpolation: interpolation(track, written),
        values: times.iter().flat_map(turn).collect(),
        times,
    });
}

/// Moves the new joint by its keys, and with its share of how a clip makes the bone longer. `shift` is where it stands, `end` where what it carries stands in its frame.
fn move_joint(clip: &mut RigClip, [child, node]: [u32; 2], [shift, end]: [DVec3; 2], written: &InsertedBone) {
    let share = written.stretch_share * written.at;
    let stretch = track(clip, child, ChannelTarget::Translation).filter(|_| share > 0.0);
    if stretch.is_none() && written.keys.is_empty() {
        return;
    }
    let (none, track) = (InsertedBone::default(), stretch.as_ref().map(|(_, track)| track));
    let longer = |t: f64| track.map_or(DVec3::ZERO, |track| track.vector(t) - end);
    let times = key_times(track, written);
    let place = |t: &f64| (shift + own_shift(written, *t) + share * longer(*t)).to_array();
    let joint = RigChannel {
        node,
        target: ChannelTarget::Translation,
        interpolation: interpolation(track, written),
        values: times.iter().flat_map(place).collect(),
        times,
    };
    if let (Some((at, _)), Some(track)) = (&stretch, track) {
        let times = key_times(Some(track), &none);
        let left = |t: &f64| (track.vector(*t) - share * longer(*t)).to_array();
        clip.channels[*at] = RigChannel {
            node: child,
            target: ChannelTarget::Translation,
            interpolation: interpolation(Some(track), &none),
            values: times.iter().flat_map(left).collect(),
            times,
        };
    }
    clip.channels.push(joint);
}

/// Hangs a node on another that is at `shift` in the frame of what carried it: it stays where it is, and so do its clips.
fn carry(rig: &mut Rig, node: u32, by: u32, shift: DVec3) {
    let less = |t: &mut [f64]| t.iter_mut().zip(shift.to_array()).for_each(|(t, s)| *t -= s);
    rig.nodes[node as usize].parent = Some(by);
    less(&mut rig.nodes[node as usize].translation);
    let channels = rig.clips.iter_mut().flat_map(|clip| &mut clip.channels);
    for channel in channels.filter(|c| c.node == node && c.target == ChannelTarget::Translation) {
        let is_cubic = channel.interpolation == KeyInterpolation::Cubic;
        for (k, value) in channel.values.chunks_exact_mut(3).enumerate() {
            // Of cubic keys the first and the last are tangents.
            if !is_cubic || k % 3 == 1 {
                less(value);
            }
        }
    }
}

/// Gives each vertex one more bone, with `share(v)` of the weight of another.
fn give_weight(mesh: &mut RigMesh, new: u32, from: u32, share: impl Fn(usize, &RigMesh) -> f64) {
    let per_vertex = mesh.influences as usize;
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
    for v in 0..mesh.positions.len() {
        let own = v * per_vertex..(v + 1) * per_vertex;
        let (Some(bones), Some(old)) = (mesh.joints.get(own.clone()), mesh.weights.get(own)) else { return };
        let share = share(v, mesh);
        let mut given = 0.0;
        for (bone, weight) in bones.iter().zip(old) {
            let part = if *bone == from { share * weight } else { 0.0 };
            given += part;
            joints.push(*bone);
            weights.push(weight - part);
        }
        joints.push(new);
        weights.push(given);
    }
    mesh.influences += 1;
    (mesh.joints, mesh.weights) = (joints, weights);
}

/// What is beyond the new joint, along the bone, goes to it.
fn split_weights(
    mesh: &mut RigMesh,
    joint: u32,
    new: u32,
    back: &DAffine3,
    end: DVec3,
    written: &InsertedBone,
) {
    let (square, blend) = (end.length_squared(), written.blend.max(1e-9));
    give_weight(mesh, new, joint, |v, mesh| {
        let along = back.transform_point3(mesh.positions[v].into()).dot(end);
        let s = if square > 0.0 { along / square } else { 1.0 };
        smooth(0.5 + 0.5 * (s - written.at) / blend)
    });
}

/// What is nearer to the branch than to where it begins goes to it, near its tip.
fn branch_weights(mesh: &mut RigMesh, joint: u32, new: u32, [root, tip]: [DVec3; 2]) {
    let way = tip - root;
    let square = way.length_squared();
    let reach = BRANCH_REACH * way.length();
    give_weight(mesh, new, joint, |v, mesh| {
        let p = DVec3::from(mesh.positions[v]);
        let s = if square > 0.0 { ((p - root).dot(way) / square).clamp(0.0, 1.0) } else { 0.0 };
        let (to_branch, to_root) = (p.distance(root + s * way), p.distance(root));
        let near = to_root * to_root / (to_root * to_root + to_branch * to_branch).max(f64::MIN_POSITIVE);
        let local = if reach > 0.0 { 1.0 - smooth(p.distance(tip) / reach) } else { 0.0 };
        smooth(2.0 * near - 1.0) * local
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math;
    use crate::scene::{InsertedKey, Skinning};
    use crate::skin::CompiledRig;
    use crate::skin::generate::{Limb, add_turns, limb};

    fn arm() -> Rig {
        let bar = Limb { length: 3.0, radii: [0.35, 0.3], sides: 12, rings: 24, cap_rings: 2, bones: 3 };
        let mut rig = limb(&bar);
        add_turns(&mut rig, "bend", 3, &[0.0, 1.0], |bone, t| DVec3::Z * 40.0 * t * f64::from(bone));
        rig.clips[0].channels.push(RigChannel {
            node: 2,
            times: vec![0.0, 1.0],
            values: vec![0.0, 1.5, 0.0, 0.1, 1.6, 0.0],
            ..Default::default()
        });
        rig
    }

    /// The skin at a time of its first clip.
    fn skin(rig: &Rig, t: f64) -> Vec<DVec3> {
        let rig = CompiledRig::new(rig).unwrap();
        let mut pose = rig.rest_pose();
        rig.clips[0].apply(t, &mut pose);
        let mut places = Vec::new();
        rig.skeleton.place(&pose.locals, &mut places);
        let motions = rig.bone_motions(&places, Skinning::LinearBlend);
        let mesh = &rig.meshes[0];
        (0..mesh.mesh.positions.len())
            .map(|v| mesh.vertex(v, &[], &motions[mesh.binding], Skinning::LinearBlend))
            .collect()
    }

    fn furthest(a: &[DVec3], b: &[DVec3]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
    }

    #[test]
    fn a_bone_that_is_put_in_changes_nothing_until_it_moves() {
        let written = InsertedBone { name: "new".into(), on: "bone1".into(), ..InsertedBone::default() };
        for written in [
            written.clone(),
            InsertedBone { at: 0.25, blend: 0.01, ..written.clone() },
            InsertedBone { to: Some([0.3, 2.2, 0.0]), ..written },
        ] {
            let mut rig = arm();
            insert_bone(&mut rig, &written).unwrap();
            assert_eq!(CompiledRig::new(&rig).unwrap().repairs, Default::default());
            for t in [0.0, 0.4, 1.0] {
                let apart = furthest(&skin(&rig, t), &skin(&arm(), t));
                assert!(apart < 1e-12, "{written:?} {t}: {apart}");
            }
        }
    }

    /// A split bone is a limb with one more joint: what is beyond turns about the new joint, what is before stays.
    #[test]
    fn a_split_bone_bends_in_the_middle() {
        let mut rig = arm();
        let written = InsertedBone {
            name: "new".into(),
            on: "bone1".into(),
            at: 0.5,
            blend: 0.1,
            rotate_deg: [0.0, 0.0, 90.0],
            ..InsertedBone::default()
        };
        // Weights of a limb are linear between joints: here each bone carries its own part.
        rig.meshes[0].weights.chunks_exact_mut(2).for_each(|pair| pair.copy_from_slice(&[1.0, 0.0]));
        insert_bone(&mut rig, &written).unwrap();
        let (before, now) = (skin(&arm(), 0.0), skin(&rig, 0.0));
        let joint = DVec3::new(0.0, 2.25, 0.0);
        let turn = rotation(DVec3::Z * 90.0);
        for (p, x) in before.iter().zip(&now) {
            if p.y < 1.5 + 1.5 * 0.39 {
                assert!(x.distance(*p) < 1e-12, "{p}");
            }
            if p.y > 1.5 + 1.5 * 0.61 {
                assert!(x.distance(joint + turn * (*p - joint)) < 1e-12, "{p} {x}");
            }
        }
    }

    /// A branch that is pulled takes its tip with it, and nothing that is far.
    #[test]
    fn a_branch_pulls_what_is_near_its_tip() {
        let (mut rig, tip) = (arm(), DVec3::new(0.325, 1.5, 0.0));
        let written = InsertedBone {
            name: "horn".into(),
            on: "bone1".into(),
            at: 0.0,
            to: Some(tip.to_array()),
            shift: [0.4, 0.0, 0.0],
            ..InsertedBone::default()
        };
        insert_bone(&mut rig, &written).unwrap();
        let (before, now) = (skin(&arm(), 0.0), skin(&rig, 0.0));
        let moved = |p: &DVec3, x: &DVec3| (*x - *p).x / 0.4;
        let most = before.iter().zip(&now).map(|(p, x)| moved(p, x)).fold(0.0, f64::max);
        assert!(most > 0.9 && most < 1.0 + 1e-12, "{most}");
        for (p, x) in before.iter().zip(&now) {
            assert!(moved(p, x) > -1e-12 && (p.distance(tip) < 0.33 || moved(p, x) < 1e-12), "{p} {x}");
        }
    }

    /// Where nodes are at a time of the first clip.
    fn places(rig: &Rig, t: f64) -> Vec<DAffine3> {
        let rig = CompiledRig::new(rig).unwrap();
        let mut pose = rig.rest_pose();
        rig.clips[0].apply(t, &mut pose);
        let mut places = Vec::new();
        rig.skeleton.place(&pose.locals, &mut places);
        places
    }

    /// A turn that is spread along a bone ends as it did: what the bone carries is turned as before, and the new joint half of the way.
    #[test]
    fn clips_turn_and_stretch_both_parts_of_a_split_bone() {
        let written = InsertedBone {
            name: "new".into(),
            on: "bone1".into(),
            turn_share: 0.5,
            stretch_share: 1.0,
            ..InsertedBone::default()
        };
        for kind in [KeyInterpolation::Linear, KeyInterpolation::Step, KeyInterpolation::Cubic] {
            let mut plain = arm();
            for channel in plain.clips[0].channels.iter_mut().filter(|_| kind == KeyInterpolation::Cubic) {
                let width = if channel.target == ChannelTarget::Rotation { 4 } else { 3 };
                let zero = vec![0.0; width];
                let keys = channel.values.chunks_exact(width);
                channel.values = keys.flat_map(|key| [&zero[..], key, &zero[..]].concat()).collect();
            }
            plain.clips[0].channels.iter_mut().for_each(|channel| channel.interpolation = kind);
            let mut rig = plain.clone();
            let node = insert_bone(&mut rig, &written).unwrap() as usize;
            for t in [0.0, 0.5, 0.875, 1.0] {
                let (was, now) = (places(&plain, t), places(&rig, t));
                let turn = |place: &DAffine3| DQuat::from_mat3(&place.matrix3);
                let apart = math::rotation_angle(turn(&was[2]), turn(&now[2]));
                assert!(apart < 1e-9, "{kind:?} {t}: {apart}");
                let whole = math::rotation_angle(turn(&was[0]), turn(&was[1]));
                let half = math::rotation_angle(turn(&now[0]), turn(&now[1]));
                assert!((half - 0.5 * whole).abs() < 1e-9, "{kind:?} {t}: {half} of {whole}");
                assert!((math::rotation_angle(turn(&now[1]), turn(&now[node])) - half).abs() < 1e-9);
                // Both parts get longer alike.
                let long = |a: usize, b: usize| (now[b].translation - now[a].translation).length();
                let whole = (was[2].translation - was[1].translation).length();
                assert!((long(1, node) - 0.5 * whole).abs() < 1e-9, "{kind:?} {t}");
                assert!((long(node, 2) - 0.5 * whole).abs() < 1e-9, "{kind:?} {t}");
            }
        }
    }

    /// Keys move the new bone while a clip plays, between and beyond them.
    #[test]
    fn keys_move_a_bone_that_was_put_in() {
        let key = |t: f64, turn: f64, shift: f64| InsertedKey {
            t,
            rotate_deg: [0.0, 0.0, turn],
            shift: [shift, 0.0, 0.0],
        };
        let written = InsertedBone {
            name: "new".into(),
            on: "bone1".into(),
            keys: vec![key(0.25, 0.0, 0.0), key(0.75, 60.0, 0.2)],
            ..InsertedBone::default()
        };
        let mut rig = arm();
        let node = insert_bone(&mut rig, &written).unwrap() as usize;
        for (t, s) in [(0.0, 0.0), (0.25, 0.0), (0.5, 0.5), (0.75, 1.0), (1.0, 1.0)] {
            let now = places(&rig, t);
            let local = now[1].inverse() * now[node];
            let turn = math::rotation_angle(DQuat::IDENTITY, DQuat::from_mat3(&local.matrix3));
            assert!((turn - (60.0 * s * 1.0_f64).to_radians()).abs() < 1e-9, "{t}: {turn}");
            let shift = DVec3::new(0.2 * s, 0.75, 0.0);
            assert!(local.translation.distance(shift) < 1e-9, "{t}: {}", local.translation);
        }
        let wrong = InsertedBone { keys: vec![key(1.0, 0.0, 0.0), key(0.5, 0.0, 0.0)], ..written };
        assert!(matches!(insert_bone(&mut arm(), &wrong), Err(InsertError::Number(_))));
    }

    #[test]
    fn what_cannot_be_put_in_is_told() {
        let written = InsertedBone { name: "new".into(), on: "bone1".into(), ..InsertedBone::default() };
        let of = |written: InsertedBone| insert_bone(&mut arm(), &written).unwrap_err();
        let stranger = InsertError::Bone { name: "x".into(), found: 0 };
        assert_eq!(of(InsertedBone { on: "x".into(), ..written.clone() }), stranger);
        assert_eq!(
            of(InsertedBone { name: "bone0".into(), ..written.clone() }),
            InsertError::Taken("bone0".into())
        );
        assert_eq!(
            of(InsertedBone { on: "bone2".into(), ..written.clone() }),
            InsertError::End("bone2".into())
        );
        assert_eq!(
            of(InsertedBone { on: "limb".into(), ..written.clone() }),
            InsertError::Unbound("limb".into())
        );
        assert!(matches!(of(InsertedBone { at: f64::NAN, ..written.clone() }), InsertError::Number(_)));
        assert!(matches!(of(InsertedBone { to: Some([f64::NAN; 3]), ..written }), InsertError::Number(_)));
    }
}
