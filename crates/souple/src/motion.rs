//! Scripted rigid motion of supports and colliders (key-framed paths, GRI-07).

use glam::{DQuat, DVec3};

use crate::math::{self, Pose};
use crate::scene::{Interpolation, Motion};

/// Pose of a scripted thing at time `t`, relative to where it was put, turning about `pivot`.
pub fn pose_at(motion: &Motion, pivot: DVec3, t: f64) -> Pose {
    let (key_translation, key_rotation) = key_pose(motion, t);
    let spin = math::rotation(DVec3::from(motion.spin_deg) * t);
    let rotation = spin * key_rotation;
    let translation = key_translation + DVec3::from(motion.velocity) * t + pivot - rotation * pivot;
    Pose { rotation, translation }
}

/// A rigid thing that moves by more than its own size in one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// How far the point of it that goes furthest moves, m.
    pub distance: f64,
    /// The diagonal of the box around it, m.
    pub size: f64,
}

/// Whether a thing in that box (in its own frame, m) jumps from one pose to the next. It is then nowhere near where it was: what lies
/// between is hit by something that was not meant to go there, or not at that speed.
pub fn jump(hull: (DVec3, DVec3), before: &Pose, after: &Pose) -> Option<Jump> {
    let size = (hull.1 - hull.0).length();
    let distance = furthest_way(hull, before, after);
    (distance > size).then_some(Jump { distance, size })
}

/// How far the point of a thing in that box (in its own frame, m) that goes furthest moves from one pose to the next, m.
pub fn furthest_way((low, high): (DVec3, DVec3), before: &Pose, after: &Pose) -> f64 {
    let distance = |k: u32| {
        let pick = |axis: usize| if k >> axis & 1 == 0 { low[axis] } else { high[axis] };
        let corner = DVec3::new(pick(0), pick(1), pick(2));
        before.apply(corner).distance(after.apply(corner))
    };
    // The way of a point is a convex function of its place: no point inside the box goes further than all corners.
    (0..8).map(distance).fold(0.0, f64::max)
}

fn key_pose(motion: &Motion, t: f64) -> (DVec3, DQuat) {
    let keys = &motion.keys;
    let (Some(first), Some(last)) = (keys.first(), keys.last()) else {
        return (DVec3::ZERO, DQuat::IDENTITY);
    };
    let span = last.t - first.t;
    let t = if motion.repeat && span > 0.0 && t > last.t { first.t + (t - first.t) % span } else { t };
    let after = keys.partition_point(|k| k.t <= t);
    let (a, b) = (&keys[after.saturating_sub(1)], &keys[after.min(keys.len() - 1)]);
    let s = if b.t > a.t { ((t - a.t) / (b.t - a.t)).clamp(0.0, 1.0) } else { 0.0 };
    let s = match motion.interpolation {
        Interpolation::Linear => s,
        Interpolation::Smooth => s * s * (3.0 - 2.0 * s),
    };
    let translation = DVec3::from(a.translate).lerp(DVec3::from(b.translate), s);
    // Axis times angle is blended, not the quaternions, so that a turn of more than half a circle is one.
    let rotation = math::rotation(DVec3::from(a.rotate_deg).lerp(DVec3::from(b.rotate_deg), s));
    (translation, rotation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Key;

    fn path() -> Motion {
        let key = |t, x| Key { t, translate: [x, 0.0, 0.0], rotate_deg: [0.0; 3] };
        Motion {
            keys: vec![key(1.0, 0.0), key(2.0, 1.0), key(4.0, 3.0)],
            interpolation: Interpolation::Linear,
            ..Motion::default()
        }
    }

    #[test]
    fn keys_are_met_and_held_at_both_ends() {
        let x = |t| pose_at(&path(), DVec3::ZERO, t).translation.x;
        assert_eq!(
            [x(0.0), x(1.0), x(1.5), x(2.0), x(3.0), x(4.0), x(9.0)],
            [0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 3.0]
        );
    }

    #[test]
    fn repeat_starts_again() {
        let motion = Motion { repeat: true, ..path() };
        let x = |t| pose_at(&motion, DVec3::ZERO, t).translation.x;
        assert!((x(4.5) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_jump_is_further_than_the_size() {
        let half = DVec3::new(0.3, 0.0, 0.4);
        let (put, size) = (Pose::IDENTITY, 1.0);
        let moved = |by: f64| jump((-half, half), &put, &Pose { translation: DVec3::Y * by, ..put });
        assert_eq!(moved(size - 1e-9), None);
        let found = moved(size + 1e-9).unwrap();
        assert!((found.size - size).abs() < 1e-12 && (found.distance - size).abs() < 1e-8);
        // No turn about its own middle is one; about a point far away it is.
        let half_turn = math::rotation(DVec3::Y * 179.0);
        assert_eq!(jump((-half, half), &put, &Pose { rotation: half_turn, ..put }), None);
        let away = DVec3::X * 2.0;
        assert!(jump((away - half, away + half), &put, &Pose { rotation: half_turn, ..put }).is_some());
    }

    #[test]
    fn spin_turns_about_the_pivot() {
        let motion = Motion { spin_deg: [0.0, 90.0, 0.0], ..Motion::default() };
        let pivot = DVec3::new(1.0, 0.0, 0.0);
        let pose = pose_at(&motion, pivot, 1.0);
        assert!(pose.apply(pivot).distance(pivot) < 1e-12);
        assert!(pose.apply(DVec3::new(2.0, 0.0, 0.0)).distance(DVec3::new(1.0, 0.0, -1.0)) < 1e-12);
    }
}
