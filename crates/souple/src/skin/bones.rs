//! A mesh and a skeleton file as a rig (ROH-07, ROH-19): for those who have a shape, and no program to rig it with.
//!
//! Each bone is a frame at its head, with the axes of the mesh. The skin has no weights: they are found, [`super::weights`].

use std::collections::BTreeMap;

use glam::DVec3;

use super::MAX_NODES;
use crate::error::SceneError;
use crate::math;
use crate::scene::{
    ChannelTarget, KeyInterpolation, Rig, RigChannel, RigClip, RigMesh, RigNode, RigSkin, SkeletonFile,
};

/// What is wrong with a field of a skeleton file.
fn wrong<T>(field: String, problem: impl Into<String>, help: &str) -> Result<T, SceneError> {
    Err(SceneError::new(field, problem.into(), help))
}

/// The rig of a mesh, whose node, skin and weights are set. Errors name the field of the skeleton file.
pub fn rig_of(skeleton: &SkeletonFile, mesh: RigMesh) -> Result<Rig, SceneError> {
    if skeleton.format != 1 {
        let problem = format!("skeletons of format {} are not read, 1 is", skeleton.format);
        return wrong("format".into(), problem, "write `format = 1`");
    }
    let bones = &skeleton.bones;
    if bones.is_empty() {
        return wrong("bone".into(), "the skeleton has no bones", "add a [[bone]] with name, head and tail");
    }
    if bones.len() >= MAX_NODES {
        let problem = format!("the skeleton has {} bones; fewer than {MAX_NODES} are possible", bones.len());
        return wrong("bone".into(), problem, "use fewer");
    }
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    for (b, bone) in bones.iter().enumerate() {
        let field = |name: &str| format!("bone[{b}].{name}");
        if bone.name.is_empty() {
            return wrong(field("name"), "the bone has no name", "give it one that no other has");
        }
        if numbers.insert(&bone.name, b as u32).is_some() {
            let problem = format!("another bone is called '{}', too", bone.name);
            return wrong(field("name"), problem, "give each a name of its own");
        }
        for (name, place) in [("head", bone.head), ("tail", bone.tail)] {
            if !DVec3::from(place).is_finite() {
                return wrong(field(name), "a number is not finite", "write three numbers");
            }
        }
    }
    let known = || bones.iter().take(40).map(|b| b.name.as_str()).collect::<Vec<_>>().join(", ");
    let number = |field: String, name: &str| match numbers.get(name) {
        Some(number) => Ok(*number),
        None => wrong(field, format!("there is no bone '{name}'"), &format!("it has: {}", known())),
    };
    let mut parents: Vec<Option<u32>> = Vec::new();
    for (b, bone) in bones.iter().enumerate() {
        let named = bone.parent.as_ref().map(|name| number(format!("bone[{b}].parent"), name));
        parents.push(named.transpose()?);
    }
    find_ring(&parents).map_or(Ok(()), |b| {
        let problem = format!("'{}' carries itself, through others or not", bones[b].name);
        wrong(format!("bone[{b}].parent"), problem, "leave one `parent` of the ring out")
    })?;
    let mut nodes = Vec::new();
    for (bone, parent) in bones.iter().zip(parents) {
        let from = parent.map_or(DVec3::ZERO, |p| DVec3::from(bones[p as usize].head));
        let translation = (DVec3::from(bone.head) - from).to_array();
        nodes.push(RigNode { name: bone.name.clone(), parent, translation, ..RigNode::default() });
    }
    let node = nodes.len() as u32;
    nodes.push(RigNode { name: mesh.name.clone(), ..RigNode::default() });
    let mut clips = Vec::new();
    for (c, clip) in skeleton.clips.iter().enumerate() {
        let mut channels: Vec<RigChannel> = Vec::new();
        for (t, turn) in clip.turns.iter().enumerate() {
            let field = |name: &str| format!("clip[{c}].turn[{t}].{name}");
            let node = number(field("bone"), &turn.bone)?;
            if channels.iter().any(|channel| channel.node == node) {
                let problem = format!("'{}' is turned twice in this clip", turn.bone);
                return wrong(field("bone"), problem, "write all its keys in one list");
            }
            if turn.times.is_empty() || turn.times.len() != turn.rotate_deg.len() {
                let problem = format!("{} times for {} rotations", turn.times.len(), turn.rotate_deg.len());
                return wrong(field("times"), problem, "write one time for each rotation, at least one");
            }
            if !turn.times.iter().all(|t| t.is_finite()) || turn.times.windows(2).any(|p| p[0] > p[1]) {
                return wrong(field("times"), "times do not ascend", "order the keys by their times");
            }
            if !turn.rotate_deg.iter().flatten().all(|degrees| degrees.abs() <= 1e6) {
                return wrong(field("rotate_deg"), "an angle is not finite, or huge", "write degrees");
            }
            if turn.interpolation == KeyInterpolation::Cubic {
                let problem = "cubic keys need tangents, which a skeleton file has not";
                return wrong(field("interpolation"), problem, "write \"linear\" or \"step\"");
            }
            let rotation = |degrees: &[f64; 3]| math::rotation(DVec3::from(*degrees)).to_array();
            channels.push(RigChannel {
                node,
                target: ChannelTarget::Rotation,
                interpolation: turn.interpolation,
                times: turn.times.clone(),
                values: turn.rotate_deg.iter().flat_map(rotation).collect(),
            });
        }
        clips.push(RigClip { name: clip.name.clone(), channels });
    }
    let bind = |head: [f64; 3]| {
        let [x, y, z] = head;
        [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, -x, -y, -z]
    };
    Ok(Rig {
        nodes,
        skins: vec![RigSkin {
            name: "bones".into(),
            joints: (0..node).collect(),
            inverse_binds: bones.iter().map(|bone| bind(bone.head)).collect(),
            tails: bones.iter().map(|bone| bone.tail).collect(),
        }],
        meshes: vec![RigMesh {
            node,
            skin: Some(0),
            influences: 0,
            joints: Vec::new(),
            weights: Vec::new(),
            ..mesh
        }],
        clips,
    })
}

/// A bone of a ring, if there is one.
fn find_ring(parents: &[Option<u32>]) -> Option<usize> {
    // The round in which each was met.
    let mut met = vec![usize::MAX; parents.len()];
    for start in 0..parents.len() {
        let mut at = start;
        while met[at] == usize::MAX {
            met[at] = start;
            match parents[at] {
                Some(parent) => at = parent as usize,
                None => break,
            }
        }
        // It ended at a root, at one that an earlier walk has met, or at one that it has met itself.
        if met[at] == start && parents[at].is_some() {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{SkeletonBone, SkeletonClip, SkeletonTurn};
    use crate::skin::CompiledRig;

    fn bone(name: &str, from: f64, parent: Option<&str>) -> SkeletonBone {
        SkeletonBone {
            name: name.into(),
            head: [0.0, from, 0.0],
            tail: [0.0, from + 1.0, 0.0],
            parent: parent.map(Into::into),
        }
    }

    fn arm() -> SkeletonFile {
        SkeletonFile {
            // The child comes first.
            bones: vec![bone("lower", 1.0, Some("upper")), bone("upper", 0.0, None)],
            clips: vec![SkeletonClip {
                name: "bend".into(),
                turns: vec![SkeletonTurn {
                    bone: "lower".into(),
                    times: vec![0.0, 1.0],
                    rotate_deg: vec![[0.0; 3], [0.0, 0.0, 90.0]],
                    interpolation: KeyInterpolation::Linear,
                }],
            }],
            ..SkeletonFile::default()
        }
    }

    fn stick() -> RigMesh {
        RigMesh {
            name: "stick".into(),
            positions: vec![[0.0; 3], [0.0, 2.0, 0.0], [0.1, 1.0, 0.0]],
            triangles: vec![[0, 2, 1]],
            ..RigMesh::default()
        }
    }

    #[test]
    fn bones_turn_about_their_heads() {
        let rig = CompiledRig::new(&rig_of(&arm(), stick()).unwrap()).unwrap();
        let mut pose = rig.rest_pose();
        rig.clips[0].apply(1.0, &mut pose);
        let mut places = Vec::new();
        rig.skeleton.place(&pose.locals, &mut places);
        let lower = places[0] * rig.bindings[0][0].1;
        let tip = lower.transform_point3(DVec3::Y * 2.0);
        assert!(tip.distance(DVec3::new(-1.0, 1.0, 0.0)) < 1e-12, "{tip}");
        assert_eq!(rig.clips[0].duration, 1.0);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let with = |change: &dyn Fn(&mut SkeletonFile)| {
            let mut skeleton = arm();
            change(&mut skeleton);
            let error = rig_of(&skeleton, stick()).unwrap_err();
            (error.field, error.problem)
        };
        for (field, part, change) in [
            ("format", "format 2", &(|s: &mut SkeletonFile| s.format = 2) as &dyn Fn(&mut SkeletonFile)),
            ("bone", "no bones", &|s| s.bones.clear()),
            ("bone", "fewer than 65536", &|s| s.bones = vec![bone("x", 0.0, None); 100_000]),
            ("bone[1].name", "'lower'", &|s| s.bones[1].name = "lower".into()),
            ("bone[0].name", "no name", &|s| s.bones[0].name.clear()),
            ("bone[0].head", "not finite", &|s| s.bones[0].head[1] = f64::NAN),
            ("bone[0].tail", "not finite", &|s| s.bones[0].tail[1] = f64::INFINITY),
            ("bone[0].parent", "'hand'", &|s| s.bones[0].parent = Some("hand".into())),
            ("bone[0].parent", "itself", &|s| s.bones[0].parent = Some("lower".into())),
            ("bone[0].parent", "itself", &|s| s.bones[1].parent = Some("lower".into())),
            ("clip[0].turn[0].bone", "'hand'", &|s| s.clips[0].turns[0].bone = "hand".into()),
            ("clip[0].turn[1].bone", "twice", &|s| {
                let again = s.clips[0].turns[0].clone();
                s.clips[0].turns.push(again);
            }),
            ("clip[0].turn[0].times", "1 times for 2", &|s| s.clips[0].turns[0].times.truncate(1)),
            ("clip[0].turn[0].times", "ascend", &|s| s.clips[0].turns[0].times[0] = 2.0),
            ("clip[0].turn[0].times", "ascend", &|s| s.clips[0].turns[0].times[0] = f64::NAN),
            ("clip[0].turn[0].rotate_deg", "finite", &|s| s.clips[0].turns[0].rotate_deg[0][0] = f64::NAN),
            ("clip[0].turn[0].interpolation", "tangents", &|s| {
                s.clips[0].turns[0].interpolation = KeyInterpolation::Cubic;
            }),
        ] {
            let (found, problem) = with(change);
            assert_eq!(found, field, "{problem}");
            assert!(problem.contains(part), "{problem}");
        }
    }

    #[test]
    fn rings_are_found_and_nothing_else() {
        assert_eq!(find_ring(&[None, Some(0), Some(1), Some(0)]), None);
        assert_eq!(find_ring(&[Some(1), Some(2), None]), None);
        assert_eq!(find_ring(&[Some(0)]), Some(0));
        assert!(find_ring(&[None, Some(2), Some(3), Some(1)]).is_some());
        assert!(find_ring(&[Some(1), Some(2), Some(3), Some(2)]).is_some());
        assert_eq!(find_ring(&[]), None);
    }
}
