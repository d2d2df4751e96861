//! Bones that are put into a rig (ROH-65): a bone is split, or gets a branch to a point, and weights near it are found anew.
//!
//! Rohmer 2011, section 2.7, where a hand that touches a shape makes a bone from the nearest point of the skeleton to where it touches. As long as the new bone is where it
//! was put, nothing moves, in any pose: it takes its weight from the bone it is put on, and clips do what they did.

use glam::{DAffine3, DVec3};
use thiserror::Error;

use crate::scene::{ChannelTarget, InsertedBone, Rig, RigMesh, RigNode};

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
    pose.rotation = crate::math::rotation(written.rotate_deg.into()).to_array();
    pose.translation = (shift + DVec3::from(written.shift)).to_array();
    Ok(node)
}

/// Hangs a node on another that is at `shift` in the frame of what carried it: it stays where it is, and so do its clips.
fn carry(rig: &mut Rig, node: u32, by: u32, shift: DVec3) {
    let less = |t: &mut [f64]| t.iter_mut().zip(shift.to_array()).for_each(|(t, s)| *t -= s);
    rig.nodes[node as usize].parent = Some(by);
    less(&mut rig.nodes[node as usize].translation);
    let channels = rig.clips.iter_mut().flat_map(|clip| &mut clip.channels);
    for channel in channels.filter(|c| c.node == node && c.target == ChannelTarget::Translation) {
        let is_cubic = channel.interpolation == crate::scene::KeyInterpolation::Cubic;
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
    use crate::scene::Skinning;
    use crate::skin::CompiledRig;
    use crate::skin::generate::{Limb, add_turns, limb};

    fn arm() -> Rig {
        let bar = Limb { length: 3.0, radii: [0.35, 0.3], sides: 12, rings: 24, cap_rings: 2, bones: 3 };
        let mut rig = limb(&bar);
        add_turns(&mut rig, "bend", 3, &[0.0, 1.0], |bone, t| DVec3::Z * 40.0 * t * f64::from(bone));
        rig.clips[0].channels.push(crate::scene::RigChannel {
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
        let turn = math::rotation(DVec3::Z * 90.0);
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
