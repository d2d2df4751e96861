//! Where a skin gains and loses volume (ROH-20…23, 25): prisms between it and where its bones would carry it whole.
//!
//! Rohmer 2011, section 2.2. A triangle belongs to the bone that has the largest weight in it. Seen from that bone it has gone from where it was bound to where it
//! is now: the prism between both is what it has gained, or lost. Sides of prisms, which are not flat, are cut into four triangles around their middle, so that
//! prisms side by side fit together. It takes one pass, and tells where; the sum over the triangles of a bone is about what its region gains, and not what its joints do,
//! which `skin/joints.rs` has exactly. Skin that slides along a bone, and bones that stretch, are misread.
//!
//! Any two surfaces of the same triangles will do: what has moved one to the other need not be known, only the bones.

use glam::{DAffine3, DVec3};

use super::rig::SkinMesh;
use super::volume::twice_area;

/// Volume between a triangle where it was and where it is, outwards.
pub fn prism(was: [DVec3; 3], now: [DVec3; 3]) -> f64 {
    // From a point of it: far from the origin digits would be lost.
    let origin = was[0];
    let six = |a: DVec3, b: DVec3, c: DVec3| (a - origin).dot(twice_area(a, b, c));
    let mut sum = six(now[0], now[1], now[2]) - six(was[0], was[1], was[2]);
    for (i, j) in [(0, 1), (1, 2), (2, 0)] {
        let side = [was[i], was[j], now[j], now[i]];
        let middle = (side[0] + side[1] + side[2] + side[3]) / 4.0;
        for k in 0..4 {
            sum += six(side[k], side[(k + 1) % 4], middle);
        }
    }
    sum / 6.0
}

/// The bone of each triangle: that of the largest sum of weights of its corners, the first of several.
pub fn regions(mesh: &SkinMesh) -> Vec<u32> {
    let region = |t: &[u32; 3]| {
        let mut sums: Vec<(u32, f64)> = Vec::new();
        for &(bone, weight) in t.iter().flat_map(|&v| mesh.influences(v as usize)) {
            match sums.iter_mut().find(|(b, _)| *b == bone) {
                Some((_, sum)) => *sum += weight,
                None => sums.push((bone, weight)),
            }
        }
        sums.sort_unstable_by_key(|(bone, _)| *bone);
        sums.iter().fold((0, 0.0), |best, own| if own.1 > best.1 { *own } else { best }).0
    };
    mesh.mesh.triangles.iter().map(region).collect()
}

/// What a skin has gained, in lengths of its file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LocalGains {
    /// Volume of the region of each bone.
    pub of_bones: Vec<f64>,
    /// Volume per area of each vertex: how far the skin has come out there, or gone in.
    pub of_vertices: Vec<f64>,
}

/// What a skin has gained from where it was bound, `was`, to where it is, `now`, as `bones` have moved. `regions` are those of its triangles.
pub fn local_gains(
    triangles: &[[u32; 3]],
    regions: &[u32],
    was: &[DVec3],
    now: &[DVec3],
    bones: &[DAffine3],
) -> LocalGains {
    // A bone that has shrunk to nothing carries nothing back.
    let back: Vec<Option<DAffine3>> =
        bones.iter().map(|bone| Some(bone.inverse()).filter(DAffine3::is_finite)).collect();
    let mut gains = LocalGains { of_bones: vec![0.0; bones.len()], of_vertices: vec![0.0; was.len()] };
    let mut areas = vec![0.0; was.len()];
    for (t, &region) in triangles.iter().zip(regions) {
        let rest = t.map(|v| was[v as usize]);
        let area = 0.5 * twice_area(rest[0], rest[1], rest[2]).length();
        let Some(Some(back)) = back.get(region as usize) else { continue };
        let gain = prism(rest, t.map(|v| back.transform_point3(now[v as usize])));
        gains.of_bones[region as usize] += gain;
        for &v in t {
            areas[v as usize] += area / 3.0;
            gains.of_vertices[v as usize] += gain / 3.0;
        }
    }
    for (gain, area) in gains.of_vertices.iter_mut().zip(areas) {
        *gain = if area > 0.0 { *gain / area } else { 0.0 };
    }
    gains
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math;
    use crate::mesh::{enclosed_volume, generate};
    use crate::scene::Ball;

    /// All prisms of a surface that one bone carries sum to what its volume has changed by; and a surface that its bone has carried whole has none.
    #[test]
    fn prisms_of_one_region_fit_together() {
        let ball = generate::ball(&Ball { radius: 1.0, subdivisions: 2 });
        let noise = |k: usize| 0.2 * (2.0 * math::uniform(5, k as u64) - 1.0);
        let lump = |k: usize, p: &DVec3| *p + DVec3::new(noise(3 * k), noise(3 * k + 1), noise(3 * k + 2));
        let bent: Vec<DVec3> = ball.positions.iter().enumerate().map(|(k, p)| lump(k, p)).collect();
        let motion = DAffine3::from_rotation_translation(
            math::rotation(DVec3::new(40.0, -100.0, 20.0)),
            DVec3::new(3.0, 0.0, -7.0),
        );
        let regions = vec![0; ball.triangles.len()];
        let of = |x: &[DVec3]| {
            let now: Vec<DVec3> = x.iter().map(|p| motion.transform_point3(*p)).collect();
            local_gains(&ball.triangles, &regions, &ball.positions, &now, &[motion])
        };
        let change =
            enclosed_volume(&bent, &ball.triangles) - enclosed_volume(&ball.positions, &ball.triangles);
        assert!((of(&bent).of_bones[0] - change).abs() < 1e-12, "{:?} {change}", of(&bent).of_bones);
        let still = of(&ball.positions);
        assert!(still.of_bones[0].abs() < 1e-12 && still.of_vertices.iter().all(|g| g.abs() < 1e-12));
        // A ball that grows by a hundredth comes out by about that everywhere.
        let larger: Vec<DVec3> = ball.positions.iter().map(|p| 1.01 * *p).collect();
        assert!(of(&larger).of_vertices.iter().all(|g| (g - 0.01).abs() < 3e-4));
    }

    #[test]
    fn a_bone_that_has_no_inverse_carries_nothing_back() {
        let flat = DAffine3::from_scale(DVec3::new(1.0, 0.0, 1.0));
        let x = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let gains = local_gains(&[[0, 1, 2]], &[0], &x, &x, &[flat]);
        assert_eq!((gains.of_bones, gains.of_vertices), (vec![0.0], vec![0.0; 3]));
    }
}
