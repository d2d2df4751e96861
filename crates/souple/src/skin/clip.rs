//! Clips (SIM-01): quantities of frames at key times, evaluated between the two keys that bracket a time, and blended.
//!
//! Interpolation is that of glTF 2.0, appendix C: straight, with rotations at constant angular speed; steps; Hermite cubics with the
//! tangents of the keys. Before its first key and after its last a quantity stays.

use glam::{DQuat, DVec3, DVec4};

use super::skeleton::Transform;
use crate::math::slerp;
use crate::scene::{ChannelTarget, KeyInterpolation};

/// One quantity of one frame over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// The frame.
    pub node: u32,
    /// What of it.
    pub target: ChannelTarget,
    /// How it goes from key to key.
    pub interpolation: KeyInterpolation,
    /// Times of keys, s, ascending; at least one.
    pub times: Vec<f64>,
    /// Values; see [`crate::scene::RigChannel`].
    pub values: Vec<f64>,
    /// Numbers per value.
    pub width: usize,
    /// Where in [`LocalPose::morphs`] the weights of the meshes begin that they are for.
    pub morphs: Vec<usize>,
}

/// What a clip moves, over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clip {
    /// Name.
    pub name: String,
    /// Its quantities.
    pub tracks: Vec<Track>,
    /// Time of its last key, s.
    pub duration: f64,
}

/// Where all frames of a character are in those of their parents, and how much of its morphs is added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LocalPose {
    /// One per frame.
    pub locals: Vec<Transform>,
    /// Of all meshes, one after the other.
    pub morphs: Vec<f64>,
}

impl Track {
    /// Between which keys a time is, and its share of the way from the first to the second, s.
    fn bracket(&self, t: f64) -> (usize, usize, f64) {
        let after = self.times.partition_point(|key| *key <= t);
        let (k, l) = (after.saturating_sub(1), after.min(self.times.len() - 1));
        let span = self.times[l] - self.times[k];
        (k, l, if span > 0.0 { ((t - self.times[k]) / span).clamp(0.0, 1.0) } else { 0.0 })
    }

    /// Number `c` of a key: 0 the tangent that arrives, 1 the value, 2 the tangent that leaves.
    fn key(&self, key: usize, part: usize, c: usize) -> f64 {
        let at = match self.interpolation {
            KeyInterpolation::Cubic => (3 * key + part) * self.width + c,
            KeyInterpolation::Linear | KeyInterpolation::Step => key * self.width + c,
        };
        self.values.get(at).copied().unwrap_or(0.0)
    }

    /// Number `c` of its value at a time.
    pub fn number(&self, t: f64, c: usize) -> f64 {
        let (k, l, s) = self.bracket(t);
        let (a, b) = (self.key(k, 1, c), self.key(l, 1, c));
        match self.interpolation {
            KeyInterpolation::Step => a,
            KeyInterpolation::Linear => a + s * (b - a),
            KeyInterpolation::Cubic => {
                let span = self.times[l] - self.times[k];
                hermite(a, span * self.key(k, 2, c), b, span * self.key(l, 0, c), s)
            }
        }
    }

    pub(super) fn vector(&self, t: f64) -> DVec3 {
        DVec3::new(self.number(t, 0), self.number(t, 1), self.number(t, 2))
    }

    pub(super) fn rotation(&self, t: f64) -> DQuat {
        if self.interpolation == KeyInterpolation::Linear {
            let (k, l, s) = self.bracket(t);
            let of = |key: usize| unit(std::array::from_fn(|c| self.key(key, 1, c)));
            return slerp(of(k), of(l), s);
        }
        unit(std::array::from_fn(|c| self.number(t, c)))
    }
}

/// p(s) of the cubic from a with tangent u to b with tangent v.
fn hermite(a: f64, u: f64, b: f64, v: f64, s: f64) -> f64 {
    let (s2, s3) = (s * s, s * s * s);
    (2.0 * s3 - 3.0 * s2 + 1.0) * a + (s3 - 2.0 * s2 + s) * u + (3.0 * s2 - 2.0 * s3) * b + (s3 - s2) * v
}

/// The rotation of four numbers; none at all for zeros.
pub(super) fn unit(q: [f64; 4]) -> DQuat {
    match DVec4::from_array(q).try_normalize() {
        Some(unit) => DQuat::from_vec4(unit),
        None => DQuat::IDENTITY,
    }
}

impl Clip {
    /// Puts what it moves where it is at a time of the clip.
    pub fn apply(&self, t: f64, pose: &mut LocalPose) {
        for track in &self.tracks {
            let local = &mut pose.locals[track.node as usize];
            match track.target {
                ChannelTarget::Translation => local.translation = track.vector(t),
                ChannelTarget::Rotation => local.rotation = track.rotation(t),
                ChannelTarget::Scale => local.scale = track.vector(t),
                ChannelTarget::MorphWeights => {
                    for first in &track.morphs {
                        for c in 0..track.width {
                            pose.morphs[first + c] = track.number(t, c);
                        }
                    }
                }
            }
        }
    }

    /// The time in the clip when it is played from `start` at a speed for `t` seconds, again and again or once.
    pub fn time(&self, start: f64, speed: f64, repeat: bool, t: f64) -> f64 {
        let at = start + speed * t;
        if repeat && self.duration > 0.0 && !(0.0..=self.duration).contains(&at) {
            at.rem_euclid(self.duration)
        } else {
            at.clamp(0.0, self.duration)
        }
    }
}

impl LocalPose {
    /// The mean of poses by weights that sum to 1: of rotations, the normalised sum on the side of the first.
    pub fn blend(poses: &[(f64, LocalPose)], mean: &mut LocalPose) {
        let Some((_, first)) = poses.first() else { return };
        mean.clone_from(first);
        if poses.len() == 1 {
            return;
        }
        for (node, local) in mean.locals.iter_mut().enumerate() {
            let (mut translation, mut scale, mut sum) = (DVec3::ZERO, DVec3::ZERO, DVec4::ZERO);
            let side = first.locals[node].rotation;
            for (weight, pose) in poses {
                let Transform { translation: t, rotation: r, scale: s } = pose.locals[node];
                let r = if side.dot(r) < 0.0 { -r } else { r };
                translation += *weight * t;
                scale += *weight * s;
                sum += *weight * DVec4::from(r);
            }
            let rotation = sum.try_normalize().map_or(side, DQuat::from_vec4);
            *local = Transform { translation, rotation, scale };
        }
        for (m, morph) in mean.morphs.iter_mut().enumerate() {
            *morph = poses.iter().map(|(weight, pose)| weight * pose.morphs[m]).sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{self, rotation_angle};

    fn track(interpolation: KeyInterpolation, target: ChannelTarget, values: Vec<f64>) -> Track {
        let width = if target == ChannelTarget::Rotation { 4 } else { 3 };
        Track { node: 0, target, interpolation, times: vec![1.0, 3.0], values, width, morphs: Vec::new() }
    }

    #[test]
    fn keys_are_met_and_held_and_between_them_is_what_is_said() {
        let values = vec![0.0, 1.0, 2.0, 4.0, 1.0, 0.0];
        let linear = track(KeyInterpolation::Linear, ChannelTarget::Translation, values.clone());
        let step = track(KeyInterpolation::Step, ChannelTarget::Translation, values);
        let x = |track: &Track, t| track.vector(t).x;
        assert_eq!([0.0, 1.0, 1.5, 3.0, 9.0].map(|t| x(&linear, t)), [0.0, 0.0, 1.0, 4.0, 4.0]);
        assert_eq!([0.0, 1.0, 2.99, 3.0, 9.0].map(|t| x(&step, t)), [0.0, 0.0, 0.0, 4.0, 4.0]);
    }

    /// A cubic with the tangents of t³ is t³.
    #[test]
    fn a_cubic_is_met_by_its_tangents() {
        let (p, v) = (|t: f64| t * t * t, |t: f64| 3.0 * t * t);
        let key = |t: f64| [v(t), 0.0, 0.0, p(t), 0.0, 0.0, v(t), 0.0, 0.0];
        let values = [key(1.0), key(3.0)].concat();
        let cubic = track(KeyInterpolation::Cubic, ChannelTarget::Scale, values);
        for t in [1.0, 1.3, 2.0, 2.9, 3.0] {
            assert!((cubic.vector(t).x - p(t)).abs() < 1e-12, "{t}");
        }
    }

    #[test]
    fn rotations_turn_at_constant_speed_the_short_way() {
        let (a, b) = (math::rotation(DVec3::Y * 10.0), -math::rotation(DVec3::Y * 130.0));
        let values = [a.to_array(), b.to_array()].concat();
        let turning = track(KeyInterpolation::Linear, ChannelTarget::Rotation, values);
        for (t, degrees) in [(1.0, 10.0), (1.5, 40.0), (2.5, 100.0), (3.0, 130.0)] {
            let angle = rotation_angle(turning.rotation(t), math::rotation(DVec3::Y * degrees));
            assert!(angle < 1e-12, "{t}: {angle}");
        }
    }

    #[test]
    fn clips_repeat_or_hold() {
        let clip = Clip { duration: 2.0, ..Clip::default() };
        let times = [0.0, 1.5, 2.0, 2.5, 5.0];
        assert_eq!(times.map(|t| clip.time(0.0, 1.0, true, t)), [0.0, 1.5, 2.0, 0.5, 1.0]);
        assert_eq!(times.map(|t| clip.time(0.0, 1.0, false, t)), [0.0, 1.5, 2.0, 2.0, 2.0]);
        assert_eq!(
            times.map(|t| clip.time(0.5, -1.0, true, t)),
            [0.5, 1.0, 0.5, 2.0, 1.5].map(|t: f64| t % 2.0)
        );
        assert_eq!(Clip::default().time(1.0, 1.0, true, 7.0), 0.0, "a single pose");
    }

    #[test]
    fn a_blend_is_the_mean() {
        let pose = |x: f64, turn: f64, sign: f64| LocalPose {
            locals: vec![Transform {
                translation: DVec3::X * x,
                rotation: math::rotation(DVec3::Z * turn) * sign,
                scale: DVec3::ONE,
            }],
            morphs: vec![x],
        };
        let mut mean = LocalPose::default();
        LocalPose::blend(&[(0.5, pose(1.0, 20.0, 1.0)), (0.5, pose(3.0, 60.0, -1.0))], &mut mean);
        assert_eq!((mean.locals[0].translation, mean.morphs[0]), (DVec3::X * 2.0, 2.0));
        assert!(rotation_angle(mean.locals[0].rotation, math::rotation(DVec3::Z * 40.0)) < 1e-12);
    }
}
