//! Surfaces that follow bones: rigid (ROH-08), by linear blending of matrices (ROH-09, SIM-02), by dual quaternions (ROH-10).
//!
//! Linear blending is p' = Σ ω_j T_j(t) T_j(0)⁻¹ p. A mean of rotations is not a rotation: a twist of θ between two bones, with weights linear
//! along a cylinder, leaves 1 − (1 − cos θ)/3 of the volume. Dual quaternions (Kavan, Collins, Žára, O'Sullivan, *Geometric skinning with
//! approximate dual quaternion blending*, ACM TOG 2008) blend to a rigid motion, so that a twist keeps it; bent joints bulge a little. Bones
//! that stretch are split in rotation and stretch, and the stretch is blended as matrices, before (their section 4.2).
//!
//! Promised: finite places for finite bones and weights that sum to 1. Not promised: that volume is kept where joints bend.

use glam::{DAffine3, DMat3, DQuat, DVec3, DVec4};

use super::skeleton::rigid_part;
use crate::lanes::{Instructions, Kernel, Lanes};
use crate::math::four::{Four, Number};
use crate::scene::Skinning;

/// A sum of dual quaternions that is shorter than this has no direction: the bones turn it every way at once.
const NO_DIRECTION: f64 = 1e-9;

/// How a bone has moved from where the surface was bound to it: T_j(t) T_j(0)⁻¹.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoneMotion {
    /// As a matrix.
    pub matrix: DAffine3,
    /// Its columns, the last its translation.
    columns: [Four; 4],
    /// Its stretch S, of matrix = R S.
    stretch: DMat3,
    /// Its rotation R,
    real: DVec4,
    /// and half its translation times that.
    dual: DVec4,
}

impl BoneMotion {
    /// Of a matrix; the parts are made only where dual quaternions are blended.
    pub fn new(matrix: DAffine3, skinning: Skinning) -> BoneMotion {
        let DMat3 { x_axis, y_axis, z_axis } = matrix.matrix3;
        let columns = [x_axis, y_axis, z_axis, matrix.translation].map(|c| Four([c.x, c.y, c.z, 0.0]));
        if skinning != Skinning::DualQuaternion {
            return BoneMotion {
                matrix,
                columns,
                stretch: DMat3::IDENTITY,
                real: DVec4::W,
                dual: DVec4::ZERO,
            };
        }
        let rotation = rigid_part(&matrix).rotation;
        let stretch = DMat3::from_quat(rotation).transpose() * matrix.matrix3;
        let half = 0.5 * matrix.translation;
        let dual = DQuat::from_xyzw(half.x, half.y, half.z, 0.0) * rotation;
        BoneMotion { matrix, columns, stretch, real: rotation.into(), dual: dual.into() }
    }
}

/// A bone of a vertex, and its weight.
pub type Influence = (u32, f64);

/// Where a point goes that follows one bone: the one of the largest weight, the first of several.
pub fn rigid(p: DVec3, influences: &[Influence], bones: &[BoneMotion]) -> DVec3 {
    match heaviest(influences) {
        Some((bone, _)) => bones[bone as usize].matrix.transform_point3(p),
        None => p,
    }
}

/// p' = Σ ω_j M_j p.
#[inline]
pub fn linear_blend(p: DVec3, influences: &[Influence], bones: &[BoneMotion]) -> DVec3 {
    let mut place = DVec3::ZERO;
    for &(bone, weight) in influences {
        place += weight * bones[bone as usize].matrix.transform_point3(p);
    }
    place
}

/// The same of many points, `scale` times as large; each comes with its bones. The three parts of a place are worked on at once, with the same bits.
pub fn linear_blend_all<'a>(
    points: impl Iterator<Item = (DVec3, &'a [Influence])>,
    bones: &[BoneMotion],
    scale: f64,
    out: &mut Vec<DVec3>,
) {
    Instructions::detect().run(Blend { points, bones, scale, out });
}

struct Blend<'a, P> {
    points: P,
    bones: &'a [BoneMotion],
    scale: f64,
    out: &'a mut Vec<DVec3>,
}

impl<'a, P: Iterator<Item = (DVec3, &'a [Influence])>> Kernel for Blend<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Blend { points, bones, scale, out } = self;
        out.reserve(points.size_hint().0);
        for (p, influences) in points {
            let (x, y, z) = (Four::splat(p.x), Four::splat(p.y), Four::splat(p.z));
            let mut place = Four::splat(0.0);
            for &(bone, weight) in influences {
                let m = &bones[bone as usize].columns;
                place = place + Four::splat(weight) * (m[0] * x + m[1] * y + m[2] * z + m[3]);
            }
            let [x, y, z, _] = place.0;
            out.push(scale * DVec3::new(x, y, z));
        }
    }
}

/// The rigid motion nearest to Σ ω_j q̂_j, of the point stretched by Σ ω_j S_j.
pub fn dual_quaternion(p: DVec3, influences: &[Influence], bones: &[BoneMotion]) -> DVec3 {
    let Some((pivot, _)) = heaviest(influences) else { return p };
    let side = bones[pivot as usize].real;
    let (mut real, mut dual, mut stretched) = (DVec4::ZERO, DVec4::ZERO, DVec3::ZERO);
    for &(bone, weight) in influences {
        let bone = &bones[bone as usize];
        // q and −q are the same rotation; those on the other side would cancel.
        let signed = if side.dot(bone.real) < 0.0 { -weight } else { weight };
        real += signed * bone.real;
        dual += signed * bone.dual;
        stretched += weight * (bone.stretch * p);
    }
    let length = real.length();
    if length < NO_DIRECTION {
        return bones[pivot as usize].matrix.transform_point3(p);
    }
    let (rotation, dual) = (DQuat::from_vec4(real / length), DQuat::from_vec4(dual / length));
    // t = 2 q_dual q_real*.
    let translation = 2.0 * (dual * rotation.conjugate()).xyz();
    rotation * stretched + translation
}

/// Where a point goes.
#[inline]
pub fn skin(p: DVec3, influences: &[Influence], bones: &[BoneMotion], skinning: Skinning) -> DVec3 {
    match skinning {
        Skinning::Rigid => rigid(p, influences, bones),
        Skinning::LinearBlend => linear_blend(p, influences, bones),
        Skinning::DualQuaternion => dual_quaternion(p, influences, bones),
    }
}

fn heaviest(influences: &[Influence]) -> Option<Influence> {
    influences.iter().copied().reduce(|best, next| if next.1 > best.1 { next } else { best })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::math;

    const ALL: [Skinning; 3] = [Skinning::Rigid, Skinning::LinearBlend, Skinning::DualQuaternion];

    fn motion(turn: DVec3, shift: DVec3) -> DAffine3 {
        DAffine3::from_rotation_translation(math::rotation(turn), shift)
    }

    fn bones(of: &[DAffine3], skinning: Skinning) -> Vec<BoneMotion> {
        of.iter().map(|matrix| BoneMotion::new(*matrix, skinning)).collect()
    }

    #[test]
    fn one_bone_or_equal_bones_carry_a_point_along_however_they_are_blended() {
        let stretched = motion(DVec3::new(30.0, 40.0, 50.0), DVec3::new(1.0, 2.0, 3.0))
            * DAffine3::from_scale(DVec3::new(2.0, 0.5, 1.0));
        let p = DVec3::new(0.3, -0.2, 0.7);
        for skinning in ALL {
            let bones = bones(&[stretched, stretched], skinning);
            let gone = skin(p, &[(0, 0.25), (1, 0.75)], &bones, skinning);
            assert!(gone.distance(stretched.transform_point3(p)) < 1e-12, "{skinning:?}");
        }
    }

    #[test]
    fn many_points_go_where_each_of_them_does() {
        let turned = [
            motion(DVec3::new(30.0, 40.0, 50.0), DVec3::new(1.0, 2.0, 3.0)),
            motion(DVec3::new(-70.0, 10.0, 5.0), DVec3::new(0.1, -2.0, 0.7)),
            motion(DVec3::ZERO, DVec3::ZERO),
        ];
        let bones = bones(&turned, Skinning::LinearBlend);
        let influences: [&[Influence]; 4] =
            [&[(0, 1.0)], &[(0, 0.3), (1, 0.7)], &[], &[(2, 0.2), (1, 0.3), (0, 0.5)]];
        let point = |k: usize| DVec3::new(0.1 * k as f64, 1.0 - 0.3 * k as f64, 0.07 * (k * k) as f64);
        let all = (0..40).map(|k| (point(k), influences[k % 4]));
        let each: Vec<DVec3> = all.clone().map(|(p, own)| 1.7 * linear_blend(p, own, &bones)).collect();
        let mut many = Vec::new();
        linear_blend_all(all.clone(), &bones, 1.7, &mut many);
        assert_eq!(many, each);
        let mut plain = Vec::new();
        Instructions::Plain.run(Blend { points: all, bones: &bones, scale: 1.7, out: &mut plain });
        assert_eq!(plain, each);
    }

    /// A twist: linear blending draws a point in to |(1 − w) + w e^(iθ)| of its distance from the axis, dual quaternions do not.
    #[test]
    fn a_twist_draws_in_by_matrices_and_not_by_dual_quaternions() {
        let p = DVec3::new(1.0, 0.4, 0.0);
        for degrees in [10.0, 90.0, 179.0] {
            for w in [0.0, 0.25, 0.5, 0.9] {
                let twisted = [DAffine3::IDENTITY, motion(DVec3::Y * degrees, DVec3::ZERO)];
                let radius = |skinning| {
                    let gone = skin(p, &[(0, 1.0 - w), (1, w)], &bones(&twisted, skinning), skinning);
                    assert!((gone.y - p.y).abs() < 1e-12);
                    DVec3::new(gone.x, 0.0, gone.z).length()
                };
                let (s, c) = math::sin_cos_degrees(degrees);
                let mean = ((1.0 - w + w * c) * (1.0 - w + w * c) + (w * s) * (w * s)).sqrt();
                assert!((radius(Skinning::LinearBlend) - mean).abs() < 1e-12);
                assert!((radius(Skinning::DualQuaternion) - 1.0).abs() < 1e-12);
                assert!((radius(Skinning::Rigid) - 1.0).abs() < 1e-12);
            }
        }
    }

    proptest! {
        /// What is seen does not depend on where it is seen from, and flat or mirrored bones give finite places.
        #[test]
        fn places_are_finite_and_go_along_with_the_whole(
            turns in prop::array::uniform3(prop::array::uniform3(-400.0..400.0f64)),
            shift in prop::array::uniform3(-5.0..5.0f64),
            scale in prop::sample::select(vec![1.0, 0.0, -1.0, 1e-9, 3.0]),
            w in 0.0..1.0f64,
        ) {
            let [turn, other, all] = turns.map(DVec3::from);
            let p = DVec3::new(0.5, -0.3, 0.2);
            let pair = [
                motion(turn, DVec3::from(shift)) * DAffine3::from_scale(DVec3::new(1.0, scale, 1.0)),
                motion(other, DVec3::ZERO),
            ];
            let whole = motion(all, DVec3::new(1.0, 2.0, -1.0));
            for skinning in ALL {
                let weights = [(0, w), (1, 1.0 - w)];
                let here = skin(p, &weights, &bones(&pair, skinning), skinning);
                prop_assert!(here.is_finite());
                let moved = pair.map(|bone| whole * bone);
                let there = skin(p, &weights, &bones(&moved, skinning), skinning);
                // Where two rotations are half a turn apart, either way round is right.
                let near = |a: DVec3, b: DVec3| a.distance(b) < 1e-6;
                let [a, b] = bones(&pair, skinning)[..] else { unreachable!() };
                let undecided = a.real.dot(b.real).abs() < 1e-6 || scale <= 1e-9;
                prop_assert!(undecided || near(there, whole.transform_point3(here)), "{skinning:?}");
            }
        }
    }
}
