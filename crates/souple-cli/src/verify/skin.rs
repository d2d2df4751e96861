//! A twisted cylinder on two bones: what linear blending loses, and dual quaternions keep.

use std::f64::consts::PI;
use std::sync::Arc;

use glam::DVec3;
use souple::math::{Pose, rotation};
use souple::mesh::enclosed_volume;
use souple::scene::Skinning;
use souple::skin::generate::{Limb, limb};
use souple::skin::{CharacterModel, CompiledRig, Posed};

use super::Case;

/// Bands along the cylinder.
const RINGS: u32 = 2000;

/// Volume of the cylinder whose upper bone is turned, m³.
fn volume(skinning: Skinning, degrees: f64) -> f64 {
    let bar = Limb { length: 4.0, radii: [1.0, 1.0], sides: 32, rings: RINGS, cap_rings: 0, bones: 2 };
    let mut rig = limb(&bar);
    rig.nodes[1].rotation = rotation(DVec3::Y * degrees).to_array();
    let Ok(rig) = CompiledRig::new(&rig) else { return f64::NAN };
    let wrung = CharacterModel {
        name: "cylinder".into(),
        rig: Arc::new(rig),
        clips: Vec::new(),
        skinning,
        volume: None,
        pose: Pose::IDENTITY,
        scale: 1.0,
        motion: None,
        pivot: DVec3::ZERO,
    };
    let posed = Posed::at(std::slice::from_ref(&wrung), 0.0);
    let mesh = &wrung.rig.meshes[0].mesh;
    let vertices = 0..mesh.positions.len() as u32;
    let x: Vec<DVec3> = vertices.map(|v| posed.characters[0].vertex(&wrung, 0, v)).collect();
    enclosed_volume(&x, &mesh.triangles)
}

/// Weights go from 1 to 0 along the cylinder; linear blending takes the mean of two rotations, which is shorter than 1: at w the radius is
/// |(1 − w) + w e^(iθ)|, and the mean of its square is 1 − (1 − cos θ)/3. A band of triangles that is twisted by δ has (2 + cos δ)/3 of the volume
/// of a prism, so that θ/N per band leaves an error of the order (θ/N)².
pub fn twist() -> Vec<Case> {
    let tolerance = (PI / f64::from(RINGS)) * (PI / f64::from(RINGS));
    let mut cases = Vec::new();
    for (skinning, name, angles) in [
        (Skinning::LinearBlend, "linear blend", [45.0, 90.0, 180.0]),
        // Half a turn may be made either way round, so that it is left out.
        (Skinning::DualQuaternion, "dual quaternions", [45.0, 90.0, 179.0]),
    ] {
        for degrees in angles {
            let (expected, formula) = match skinning {
                Skinning::LinearBlend => {
                    (1.0 - (1.0 - (degrees * PI / 180.0).cos()) / 3.0, "volume ratio 1 − (1 − cos θ)/3")
                }
                _ => (1.0, "volume ratio 1"),
            };
            let measured = volume(skinning, degrees) / volume(skinning, 0.0);
            let name = format!("skin/twist/{name}, {degrees}°");
            cases.push(Case::new(name, formula, expected, measured, tolerance));
        }
    }
    cases
}
