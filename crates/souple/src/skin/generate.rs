//! Characters of our own making: limbs, from which arms, necks and trunks are made.

use std::f64::consts::PI;

use glam::DVec3;

use crate::math;
use crate::scene::{
    ChannelTarget, KeyInterpolation, Rig, RigChannel, RigClip, RigMesh, RigNode, RigSkin, Vec3,
};

/// A round bar along y on a chain of bones, closed at both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limb {
    /// From the first bone to the last, m.
    pub length: f64,
    /// Radius at both ends, m.
    pub radii: [f64; 2],
    /// Corners of its cross-section, at least 3.
    pub sides: u32,
    /// Bands along it, at least 1.
    pub rings: u32,
    /// Bands of the round cap at each end; none makes it flat.
    pub cap_rings: u32,
    /// Bones at equal distances, at least 2. Weights are linear between each two.
    pub bones: u32,
}

/// A ring of a limb: its height, its radius.
fn rings(limb: &Limb) -> Vec<(f64, f64)> {
    let Limb { length, radii: [low, high], rings, cap_rings, .. } = *limb;
    let quarter = |k: u32| 0.5 * PI * f64::from(k) / f64::from(cap_rings.max(1));
    let mut list: Vec<(f64, f64)> =
        (1..cap_rings).map(|k| (-low * math::cos(quarter(k)), low * math::sin(quarter(k)))).collect();
    list.extend((0..=rings).map(|k| {
        let s = f64::from(k) / f64::from(rings);
        (s * length, low + s * (high - low))
    }));
    list.extend(
        (1..cap_rings).map(|k| (length + high * math::sin(quarter(k)), high * math::cos(quarter(k)))),
    );
    list
}

/// A limb, at rest straight up. Its bones are called `bone0`, `bone1` …, from the bottom; it has no clip.
pub fn limb(limb: &Limb) -> Rig {
    let limb = Limb { sides: limb.sides.max(3), rings: limb.rings.max(1), bones: limb.bones.max(2), ..*limb };
    let Limb { length, sides, bones, cap_rings, .. } = limb;
    let spacing = length / f64::from(bones - 1);
    let bone = |k: u32| RigNode {
        name: format!("bone{k}"),
        parent: k.checked_sub(1),
        translation: [0.0, if k == 0 { 0.0 } else { spacing }, 0.0],
        ..RigNode::default()
    };
    let inverse_bind =
        |k: u32| [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, -spacing * f64::from(k), 0.0];
    let mut mesh =
        RigMesh { name: "limb".into(), node: bones, skin: Some(0), influences: 2, ..RigMesh::default() };
    let mut add = |p: Vec3, v: f64, u: f64| {
        mesh.positions.push(p);
        mesh.uvs.push([u, v]);
        // The bones below and above it.
        let at = (p[1] / spacing).clamp(0.0, f64::from(bones - 1));
        let below = (at.floor() as u32).min(bones - 2);
        let share = at - f64::from(below);
        mesh.joints.extend([below, below + 1]);
        mesh.weights.extend([1.0 - share, share]);
    };
    let list = rings(&limb);
    for (r, &(y, radius)) in list.iter().enumerate() {
        for k in 0..sides {
            let turn = f64::from(k) / f64::from(sides);
            let (s, c) = (math::sin(2.0 * PI * turn), math::cos(2.0 * PI * turn));
            add([radius * c, y, -radius * s], r as f64 / (list.len() - 1) as f64, turn);
        }
    }
    let round = |radius: f64| if cap_rings > 0 { radius } else { 0.0 };
    add([0.0, -round(limb.radii[0]), 0.0], 0.0, 0.5);
    add([0.0, length + round(limb.radii[1]), 0.0], 1.0, 0.5);
    let corner = |ring: u32, k: u32| ring * sides + k % sides;
    let (last, bottom) = (list.len() as u32 - 1, list.len() as u32 * sides);
    for k in 0..sides {
        mesh.triangles.push([bottom, corner(0, k + 1), corner(0, k)]);
        for r in 0..last {
            let [a, b] = [corner(r, k), corner(r, k + 1)];
            let [d, c] = [corner(r + 1, k), corner(r + 1, k + 1)];
            // Diagonals lean left and right in turn: leaning one way, they would gain or lose volume by a twist.
            let leans = r % 2 == 0;
            mesh.triangles.extend(if leans { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] });
        }
        mesh.triangles.push([bottom + 1, corner(last, k), corner(last, k + 1)]);
    }
    let mut nodes: Vec<RigNode> = (0..bones).map(bone).collect();
    nodes.push(RigNode { name: "limb".into(), ..RigNode::default() });
    Rig {
        nodes,
        skins: vec![RigSkin {
            name: "bones".into(),
            joints: (0..bones).collect(),
            inverse_binds: (0..bones).map(inverse_bind).collect(),
        }],
        meshes: vec![mesh],
        clips: Vec::new(),
    }
}

/// Adds a clip that turns the first `bones` nodes at key times; `turn` gives unit axis times degrees of a bone at a time.
pub fn add_turns(rig: &mut Rig, name: &str, bones: u32, times: &[f64], turn: impl Fn(u32, f64) -> DVec3) {
    let channel = |node: u32| RigChannel {
        node,
        target: ChannelTarget::Rotation,
        interpolation: KeyInterpolation::Linear,
        times: times.to_vec(),
        values: times.iter().flat_map(|t| math::rotation(turn(node, *t)).to_array()).collect(),
    };
    rig.clips.push(RigClip { name: name.into(), channels: (0..bones).map(channel).collect() });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{enclosed_volume, open_edges};
    use crate::skin::CompiledRig;

    #[test]
    fn a_limb_is_closed_and_has_its_volume() {
        let bar = Limb { length: 2.0, radii: [0.5, 0.5], sides: 64, rings: 3, cap_rings: 0, bones: 2 };
        for (bar, volume) in [
            (bar, PI * 0.25 * 2.0),
            (Limb { cap_rings: 16, ..bar }, PI * 0.25 * 2.0 + 4.0 / 3.0 * PI * 0.125),
            (Limb { radii: [0.5, 0.25], ..bar }, PI * 2.0 * (0.25 + 0.125 + 0.0625) / 3.0),
        ] {
            let made = CompiledRig::new(&limb(&bar)).unwrap();
            assert_eq!(made.repairs, Default::default());
            let mesh = &made.meshes[0].mesh;
            assert_eq!(open_edges(&mesh.triangles), 0);
            let found = enclosed_volume(&mesh.positions, &mesh.triangles);
            // A cross-section of 64 sides lacks 0.16 % of a circle, a cap of 16 bands a little more.
            assert!((found / volume - 1.0).abs() < 0.006, "{found} {volume}");
        }
    }
}
