//! Whole characters: a cylinder on two bones.

use std::sync::Arc;

use glam::DVec3;

use super::generate::{Limb, limb};
use super::*;
use crate::math::{self, Pose};
use crate::mesh::enclosed_volume;
use crate::scene::{
    ChannelTarget, KeyInterpolation, Rig, RigChannel, RigClip, RigMesh, RigNode, RigSkin, Skinning,
};

/// A quad of two triangles whose corner at (0, 1, 0) hangs on a second bone, which turns and scales.
fn flap() -> Rig {
    let bone =
        |parent: Option<u32>, y: f64| RigNode { parent, translation: [0.0, y, 0.0], ..RigNode::default() };
    let clip = |name: &str, target, values: Vec<f64>| RigClip {
        name: name.into(),
        channels: vec![RigChannel {
            node: 1,
            target,
            interpolation: KeyInterpolation::Linear,
            times: vec![0.0, 1.0],
            values,
        }],
    };
    let half = math::rotation(DVec3::Z * 90.0).to_array();
    Rig {
        nodes: vec![bone(None, 0.0), bone(Some(0), 0.5)],
        skins: vec![RigSkin {
            joints: vec![0, 1],
            inverse_binds: [0.0, -0.5]
                .map(|y| [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, y, 0.0])
                .into(),
            ..RigSkin::default()
        }],
        meshes: vec![RigMesh {
            name: "flap".into(),
            skin: Some(0),
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            triangles: vec![[0, 1, 2]],
            influences: 2,
            joints: vec![0, 1, 0, 1, 0, 1],
            weights: vec![1.0, 0.0, 1.0, 0.0, 0.0, 1.0],
            ..RigMesh::default()
        }],
        clips: vec![
            clip("turn", ChannelTarget::Rotation, [[0.0, 0.0, 0.0, 1.0], half].concat()),
            clip("grow", ChannelTarget::Scale, vec![1.0, 1.0, 1.0, 1.0, 3.0, 1.0]),
        ],
    }
}

fn character(rig: &Rig, clips: Vec<PlayedModel>) -> CharacterModel {
    CharacterModel {
        name: "flap".into(),
        rig: Arc::new(CompiledRig::new(rig).unwrap()),
        clips,
        skinning: Skinning::LinearBlend,
        volume: None,
        stance: Vec::new(),
        maps: Vec::new(),
        pose: Pose { translation: DVec3::X * 10.0, ..Pose::IDENTITY },
        scale: 2.0,
        motion: None,
        pivot: DVec3::ZERO,
    }
}

fn played(clip: usize, weight: f64) -> PlayedModel {
    PlayedModel { clip, weight, start: 0.0, speed: 1.0, repeat: false }
}

#[test]
fn a_clip_moves_what_hangs_on_its_bone() {
    let flap = character(&flap(), vec![played(0, 1.0)]);
    let corner = |t| {
        let posed = &Posed::at(std::slice::from_ref(&flap), t).characters[0];
        assert!(posed.vertex(&flap, 0, 1).distance(DVec3::X * 2.0) < 1e-12, "the other bone stays");
        posed.pose.apply(posed.vertex(&flap, 0, 2))
    };
    assert!(corner(0.0).distance(DVec3::new(10.0, 2.0, 0.0)) < 1e-12);
    assert!(corner(1.0).distance(DVec3::new(9.0, 1.0, 0.0)) < 1e-12);
    let (s, c) = math::sin_cos_degrees(45.0);
    assert!(corner(0.5).distance(DVec3::new(10.0 - s, 1.0 + c, 0.0)) < 1e-12);
}

#[test]
fn clips_are_blended_and_what_is_beside_a_skin_goes_along() {
    let flap = character(&flap(), vec![played(0, 0.5), played(1, 0.5)]);
    let pose = |t| Posed::at(std::slice::from_ref(&flap), t).characters[0].clone();
    // Half of a right angle, half of twice as long more.
    let (s, c) = math::sin_cos_degrees(45.0);
    let corner = pose(1.0).vertex(&flap, 0, 2);
    assert!(corner.distance(DVec3::new(-2.0 * s, 1.0 + 2.0 * c, 0.0)) < 1e-12, "{corner}");
    let place = DVec3::new(10.4, 0.2, 0.7);
    let points = SkinPoint::nearest(&flap, &pose(0.0), &[place]).unwrap();
    assert!(points[0].place(&flap, &pose(0.0)).distance(place) < 1e-12);
    assert!((points[0].offset - DVec3::Z * 0.7).length() < 1e-12);
    let later = points[0].place(&flap, &pose(1.0));
    assert!((later.z - 0.7).abs() < 1e-12 && later.distance(place) > 0.1, "{later}");
    let bone = pose(1.0).bone(1);
    assert!(bone.translation.distance(DVec3::new(10.0, 1.0, 0.0)) < 1e-12);
    assert!(math::rotation_angle(bone.rotation, math::rotation(DVec3::Z * 45.0)) < 1e-12);
}

/// Offsets before the bones do what was done after them, whatever it was: here, other ways of skinning.
#[test]
fn what_must_be_added_before_bones_is_found() {
    let mut rig = limb(&Limb { length: 2.0, radii: [0.2; 2], sides: 8, rings: 8, cap_rings: 2, bones: 3 });
    rig.nodes[1].rotation = math::rotation(DVec3::new(20.0, 0.0, 60.0)).to_array();
    rig.nodes[2].scale = [1.5, 1.0, 0.7];
    for skinning in [Skinning::LinearBlend, Skinning::DualQuaternion, Skinning::Rigid] {
        let limb = CharacterModel { skinning, ..character(&rig, Vec::new()) };
        let plain = CharacterModel { skinning: Skinning::LinearBlend, ..character(&rig, Vec::new()) };
        let posed = &Posed::at(std::slice::from_ref(&limb), 0.0).characters[0];
        let mut moved = rig.clone();
        let mut furthest = 0.0f64;
        for (v, p) in moved.meshes[0].positions.iter_mut().enumerate() {
            let offset = posed.before_bones(&limb, 0, v as u32, posed.vertex(&limb, 0, v as u32)).unwrap();
            furthest = furthest.max(offset.length());
            *p = (DVec3::from(*p) + offset).to_array();
        }
        assert_eq!(furthest < 1e-12, skinning == Skinning::LinearBlend, "{furthest}");
        let shown = CharacterModel { rig: Arc::new(CompiledRig::new(&moved).unwrap()), ..plain };
        let seen = &Posed::at(std::slice::from_ref(&shown), 0.0).characters[0];
        for v in 0..rig.meshes[0].positions.len() as u32 {
            assert!(seen.vertex(&shown, 0, v).distance(posed.vertex(&limb, 0, v)) < 1e-12);
        }
    }
    // Bones of scale 0 squeeze what hangs on them into a point: it is finite, and nothing can be added before.
    rig.nodes[2].scale = [0.0; 3];
    let limb = character(&rig, Vec::new());
    let posed = &Posed::at(std::slice::from_ref(&limb), 0.0).characters[0];
    let count = rig.meshes[0].positions.len() as u32;
    assert!((0..count).all(|v| posed.vertex(&limb, 0, v).is_finite()));
    let before = |v: u32| posed.before_bones(&limb, 0, v, posed.vertex(&limb, 0, v));
    assert_eq!(before(count - 1), None);
    assert!((0..count).filter_map(before).all(|offset| offset.is_finite()));
}

#[test]
fn odd_weights_are_repaired_and_counted() {
    let mut rig = flap();
    rig.meshes[0].weights = vec![3.0, 1.0, 0.0, 0.0, -1.0, 0.5];
    let made = CompiledRig::new(&rig).unwrap();
    let mesh = &made.meshes[0];
    assert_eq!(mesh.influences(0), [(0, 0.75), (1, 0.25)]);
    assert_eq!(mesh.influences(1), [(0, 1.0)]);
    assert_eq!(mesh.influences(2), [(1, 1.0)]);
    let repairs = RigRepairs { normalised_vertices: 2, unweighted_vertices: 1, ..RigRepairs::default() };
    assert_eq!(made.repairs, repairs);
    rig.nodes[1].scale = [1.0, 0.0, 1.0];
    rig.nodes[1].rotation = [0.0; 4];
    let repairs = CompiledRig::new(&rig).unwrap().repairs;
    assert_eq!((repairs.flat_nodes, repairs.null_rotations), (1, 1));
}

#[test]
fn what_cannot_be_used_is_refused_by_name() {
    let refused = |change: &dyn Fn(&mut Rig)| {
        let mut rig = flap();
        change(&mut rig);
        CompiledRig::new(&rig).unwrap_err().to_string()
    };
    let cases: [(&dyn Fn(&mut Rig), &str); 14] = [
        (&|r| r.nodes[0].parent = Some(1), "carries itself"),
        (&|r| r.nodes[1].parent = Some(9), "node 1 names node 9"),
        (&|r| r.nodes = vec![RigNode::default(); MAX_NODES + 1], "at most 65536"),
        (&|r| r.nodes[0].translation[1] = f64::NAN, "translation of node 0"),
        (&|r| r.skins[0].joints[1] = 7, "skin 0 names node 7"),
        (&|r| r.skins[0].inverse_binds.truncate(1), "inverse bind matrices of skin 0: 1 numbers, but 2"),
        (&|r| r.meshes[0].skin = Some(3), "names skin 3"),
        (&|r| r.meshes[0].joints[0] = 5, "names bone 5"),
        (&|r| r.meshes[0].weights.truncate(5), "weights of mesh 0 ('flap'): 5 numbers, but 6"),
        (&|r| r.meshes[0].triangles[0][0] = 8, "names vertex 8"),
        (&|r| r.clips[0].channels[0].times[1] = -1.0, "clip 'turn', channel 0: key 1"),
        (&|r| r.clips[0].channels[0].times[1] = f64::NAN, "time of key 1"),
        (&|r| r.clips[1].channels[0].values[2] = f64::INFINITY, "value 2"),
        (&|r| r.clips[1].channels[0].values.truncate(3), "values: 3 numbers, but 6"),
    ];
    for (change, expected) in cases {
        let found = refused(change);
        assert!(found.contains(expected), "{expected}: {found}");
    }
}

/// The volume of a twisted cylinder against the closed form; `souple verify skin` has the figures.
#[test]
fn a_twist_loses_the_volume_that_the_formula_says() {
    for (skinning, degrees, expected) in [
        (Skinning::LinearBlend, 90.0, 2.0 / 3.0),
        (Skinning::LinearBlend, 180.0, 1.0 / 3.0),
        (Skinning::DualQuaternion, 90.0, 1.0),
        (Skinning::DualQuaternion, 170.0, 1.0),
        (Skinning::Rigid, 90.0, 1.0),
    ] {
        let rings = 100;
        let bar = Limb { length: 4.0, radii: [1.0, 1.0], sides: 48, rings, cap_rings: 0, bones: 2 };
        let tube = limb(&bar);
        let mut wrung = character(&tube, vec![]);
        wrung.skinning = skinning;
        let volume = |degrees: f64| {
            let mut wrung = wrung.clone();
            let mut rig = (*wrung.rig).clone();
            rig.skeleton.rest[1].rotation = math::rotation(DVec3::Y * degrees);
            wrung.rig = Arc::new(rig);
            let posed = &Posed::at(std::slice::from_ref(&wrung), 0.0).characters[0];
            let mesh = &wrung.rig.meshes[0].mesh;
            let x: Vec<DVec3> =
                (0..mesh.positions.len() as u32).map(|v| posed.vertex(&wrung, 0, v)).collect();
            enclosed_volume(&x, &mesh.triangles)
        };
        let ratio = volume(degrees) / volume(0.0);
        // Rigid: one band of triangles is twisted by all of it, and is all that can be lost.
        let tolerance = if skinning == Skinning::Rigid { 1.0 / f64::from(rings) } else { 1e-3 };
        assert!((ratio - expected).abs() < tolerance, "{skinning:?} {degrees}: {ratio}");
    }
}
