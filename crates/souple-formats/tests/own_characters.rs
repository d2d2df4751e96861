//! The characters of the scene library: made here, and written by our own exporter. With `SOUPLE_WRITE_CHARACTERS` set, their files are made anew.

use std::f64::consts::PI;
use std::path::Path;

use glam::DVec3;
use souple::scene::{ChannelTarget, Rig, RigChannel, RigClip};
use souple::skin::generate::{Limb, add_turns, limb};
use souple_formats::export::rig::write_rig_glb;
use souple_formats::import::{Limits, read_rig};

/// Key times, s.
fn times(end: f64, per_second: u32) -> Vec<f64> {
    let count = (end * f64::from(per_second)).round() as u32;
    (0..=count).map(|k| f64::from(k) / f64::from(per_second)).collect()
}

/// Grows from 0 to 1 between two times, gently.
fn ease(t: f64, from: f64, to: f64) -> f64 {
    let s = ((t - from) / (to - from)).clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}

/// An arm, or a trunk, of nine bones. `wave`: it rests for a second, then rises and falls like a wave, bending sideways. `curl`: it rolls up.
fn arm() -> Rig {
    let mut rig =
        limb(&Limb { length: 1.2, radii: [0.1, 0.05], sides: 16, rings: 24, cap_rings: 4, bones: 9 });
    add_turns(&mut rig, "wave", 9, &times(6.0, 10), |bone, t| {
        let (b, strength) = (f64::from(bone), ease(t, 1.0, 2.0) * (1.0 - ease(t, 5.0, 6.0)));
        let phase = 2.0 * PI * (t - 1.0) / 2.0 - 0.6 * b;
        DVec3::new(8.0 * (0.5 * phase).sin(), 0.0, 11.0 * phase.sin()) * strength * (b / 8.0).sqrt()
    });
    add_turns(&mut rig, "curl", 9, &times(4.0, 10), |bone, t| {
        let roll = ease(t, 0.5, 2.0) * (1.0 - ease(t, 2.5, 4.0));
        DVec3::Z * (if bone == 0 { 0.0 } else { 32.0 } * roll)
    });
    rig
}

/// Weights of a limb that change only within `reach` lengths of its bones of each joint, gently.
fn gather_weights(rig: &mut Rig, reach: f64) {
    // The last bone is the end of the limb.
    let last = rig.skins[0].joints.len() as f64 - 2.0;
    let mesh = &mut rig.meshes[0];
    for (joints, weights) in mesh.joints.chunks_exact_mut(2).zip(mesh.weights.chunks_exact_mut(2)) {
        // Bone k carries what is above its joint: the nearest joint is at the rounded height.
        let height = f64::from(joints[0]) + weights[1];
        let joint = height.round().clamp(1.0, last);
        let upper = ease(height, joint - reach, joint + reach);
        joints.copy_from_slice(&[joint as u32 - 1, joint as u32]);
        weights.copy_from_slice(&[1.0 - upper, upper]);
    }
}

/// A tube of four joints, as the chart of effects in Rohmer's thesis has it. `bend`: each is bent by a right angle, about different axes.
fn tube() -> Rig {
    let mut rig =
        limb(&Limb { length: 3.0, radii: [0.13, 0.13], sides: 18, rings: 90, cap_rings: 3, bones: 6 });
    gather_weights(&mut rig, 0.25);
    let axes = [DVec3::ZERO, DVec3::Z, -DVec3::Z, DVec3::X, -DVec3::Z, DVec3::ZERO];
    add_turns(&mut rig, "bend", 6, &times(3.0, 10), |bone, t| 90.0 * ease(t, 0.2, 2.0) * axes[bone as usize]);
    rig
}

/// A trunk like an elephant's, of eight joints. `curl`: it rolls up, and out again.
fn trunk() -> Rig {
    let mut rig =
        limb(&Limb { length: 1.8, radii: [0.24, 0.07], sides: 20, rings: 72, cap_rings: 4, bones: 10 });
    gather_weights(&mut rig, 0.5);
    add_turns(&mut rig, "curl", 10, &times(4.0, 10), |bone, t| {
        let roll = ease(t, 0.3, 1.8) * (1.0 - ease(t, 2.4, 4.0));
        DVec3::Z * (if bone == 0 { 0.0 } else { 26.0 + 2.0 * f64::from(bone) } * roll)
    });
    rig
}

/// A neck like a giraffe's, of four joints. `graze`: it bows down, and up again.
fn neck() -> Rig {
    let mut rig =
        limb(&Limb { length: 1.6, radii: [0.2, 0.11], sides: 20, rings: 48, cap_rings: 4, bones: 6 });
    gather_weights(&mut rig, 0.4);
    let most = [0.0, 70.0, 40.0, 10.0, -30.0, 0.0];
    add_turns(&mut rig, "graze", 6, &times(4.0, 10), |bone, t| {
        DVec3::Z * (most[bone as usize] * ease(t, 0.3, 1.8) * (1.0 - ease(t, 2.4, 4.0)))
    });
    rig
}

/// An upper arm and a forearm. `lift`: the elbow is bent, and stretched again.
fn elbow() -> Rig {
    let mut rig =
        limb(&Limb { length: 0.6, radii: [0.055, 0.045], sides: 24, rings: 60, cap_rings: 5, bones: 3 });
    gather_weights(&mut rig, 0.2);
    add_turns(&mut rig, "lift", 3, &times(3.0, 10), |bone, t| {
        let bend = ease(t, 0.3, 1.3) * (1.0 - ease(t, 1.8, 3.0));
        DVec3::Z * (if bone == 1 { 115.0 } else { 0.0 } * bend)
    });
    rig
}

/// A finger of three parts, whose bones are nearer to its back. `curl`: it bends until its parts lie on each other.
fn finger() -> Rig {
    let mut rig =
        limb(&Limb { length: 0.105, radii: [0.0095, 0.0075], sides: 20, rings: 63, cap_rings: 6, bones: 4 });
    gather_weights(&mut rig, 0.35);
    // The finger bends to −x: that side is the soft one.
    rig.meshes[0].positions.iter_mut().for_each(|p| p[0] -= 0.002);
    let most = [0.0, 115.0, 80.0, 0.0];
    add_turns(&mut rig, "curl", 4, &times(3.0, 10), |bone, t| {
        DVec3::Z * (most[bone as usize] * ease(t, 0.2, 1.4) * (1.0 - ease(t, 2.0, 3.0)))
    });
    rig
}

/// A neck of rubber. `reach`: two of its bones get longer by a half, then shorter by a quarter.
fn rubber_neck() -> Rig {
    let mut rig =
        limb(&Limb { length: 1.2, radii: [0.16, 0.12], sides: 20, rings: 48, cap_rings: 5, bones: 5 });
    let keys = times(4.0, 10);
    let length =
        |t: f64| 0.3 * (1.0 + 0.5 * ease(t, 0.2, 1.2) * (1.0 - ease(t, 1.6, 2.4)) - 0.25 * ease(t, 2.4, 3.2));
    let channel = |node: u32| RigChannel {
        node,
        target: ChannelTarget::Translation,
        times: keys.clone(),
        values: keys.iter().flat_map(|t| [0.0, length(*t), 0.0]).collect(),
        ..RigChannel::default()
    };
    rig.clips.push(RigClip { name: "reach".into(), channels: vec![channel(2), channel(3)] });
    rig
}

/// A trunk as the one above, of few triangles.
fn coarse_trunk() -> Rig {
    let mut rig =
        limb(&Limb { length: 1.8, radii: [0.24, 0.07], sides: 10, rings: 27, cap_rings: 2, bones: 10 });
    gather_weights(&mut rig, 0.5);
    add_turns(&mut rig, "curl", 10, &times(4.0, 10), |bone, t| {
        let roll = ease(t, 0.3, 1.8) * (1.0 - ease(t, 2.4, 4.0));
        DVec3::Z * (if bone == 0 { 0.0 } else { 26.0 + 2.0 * f64::from(bone) } * roll)
    });
    rig
}

/// A torso of five bones. `bow`: it turns left and right, and bows.
fn torso() -> Rig {
    let mut rig =
        limb(&Limb { length: 0.6, radii: [0.16, 0.2], sides: 20, rings: 12, cap_rings: 5, bones: 5 });
    add_turns(&mut rig, "bow", 5, &times(5.0, 10), |bone, t| {
        let turn = 14.0 * (2.0 * PI * t / 2.5).sin() * ease(t, 0.5, 1.0) * (1.0 - ease(t, 4.5, 5.0));
        let bow = 9.0 * ease(t, 1.5, 2.5) * (1.0 - ease(t, 3.0, 4.0));
        DVec3::new(bow, turn, 0.0) * f64::from(u32::from(bone > 0))
    });
    rig
}

#[test]
fn the_characters_of_the_library_are_what_is_made_here() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/characters");
    let all = [
        ("arm.glb", arm()),
        ("torso.glb", torso()),
        ("tube.glb", tube()),
        ("trunk.glb", trunk()),
        ("neck.glb", neck()),
        ("elbow.glb", elbow()),
        ("finger.glb", finger()),
        ("rubber_neck.glb", rubber_neck()),
        ("coarse_trunk.glb", coarse_trunk()),
    ];
    for (name, rig) in all {
        let bytes = write_rig_glb(&rig).unwrap();
        if std::env::var_os("SOUPLE_WRITE_CHARACTERS").is_some() {
            std::fs::write(folder.join(name), &bytes).unwrap();
        }
        let read = |bytes: &[u8]| read_rig(bytes, &Limits::default(), &mut |_| Err(String::new())).unwrap();
        let (stored, made) = (read(&std::fs::read(folder.join(name)).unwrap()), read(&bytes));
        // Sines of other machines may differ in the last bit.
        assert_eq!((&stored.meshes, &stored.skins, &stored.nodes), (&made.meshes, &made.skins, &made.nodes));
        for (a, b) in stored.clips.iter().zip(&made.clips) {
            for (a, b) in a.channels.iter().zip(&b.channels) {
                assert_eq!(a.times, b.times);
                assert!(a.values.iter().zip(&b.values).all(|(a, b)| (a - b).abs() < 1e-6), "{name}");
            }
        }
    }
}
