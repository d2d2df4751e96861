//! The characters of the scene library: made here, and written by our own exporter. With `SOUPLE_WRITE_CHARACTERS` set, their files are made anew.

use std::f64::consts::PI;
use std::path::Path;

use glam::DVec3;
use souple::scene::Rig;
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
    for (name, rig) in [("arm.glb", arm()), ("torso.glb", torso())] {
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
