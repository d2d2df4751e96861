//! Response of one particle to one rigid collider over one substep: out of the shape, no more approach, friction.
//!
//! Seed feature ESSI-48: put the particle on the surface, split its velocity, keep a share of each part; no contact forces.
//! Corrected and extended: the bounce turns the normal velocity round (as printed, a positive coefficient keeps the inward
//! motion); everything is relative to the surface, so that moving colliders push and carry; friction is Coulomb's law by
//! default, and the seed's plain factor on request.
//!
//! The path of the particle is taken in the frame of the collider, from its place before the substep to its place after.
//! There it is a straight line against a shape at rest, so a fast collider cannot pass through a particle, nor a fast
//! particle through a thin collider. Position and velocity follow the same friction: what is left of the path after the
//! touch is shortened by the share of sliding speed that is left. So a particle that sticks stays on its spot to
//! the last bits, whichever integrator moved it, instead of creeping down a slope by h² g each step.
//!
//! Promised: the particle ends at `margin` or farther from the shape (up to rounding) and on the side it came from; in the
//! frame of the surface it never gains speed (restitution and factor at most 1). Not promised: several
//! colliders at once (call for each in turn, again while any still moves the particle); a collider that turns by a large
//! part of a turn in one substep, whose true path in its own frame is no straight line.

use super::primitives::Primitive;
use crate::math::Pose;
use glam::DVec3;

/// How a collider rubs and bounces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactMaterial {
    /// Coulomb friction coefficient, at least 0.
    pub friction: f64,
    /// Share of the approach speed that comes back, from 0 (no bounce) to 1.
    pub restitution: f64,
    /// Share of the sliding velocity that each touching substep keeps, from 0 (stick) to 1 (slip). When given, it replaces
    /// Coulomb friction: the friction coefficient of ESSI-48, whose effect depends on the substep.
    pub tangential_keep: Option<f64>,
}

/// What happened at a contact, in the world at the end of the substep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Where the particle first touched, carried along with the collider, m.
    pub point: DVec3,
    /// Unit normal of the collider there, outward.
    pub normal: DVec3,
    /// How far the particle was moved out along the normal, m.
    pub depth: f64,
    /// Normal impulse per unit of the particle's mass, m/s; 0 when it was not approaching.
    pub normal_impulse_per_mass: f64,
    /// True when the particle still slides on the surface, false when it sticks.
    pub slipping: bool,
}

/// Lets a collider act on a particle that moved from `x0` to `x1` while the collider moved from `pose0` to `pose1`, over
/// `h` > 0 seconds. Corrects the end position `x1` and the velocity `v1` in m/s. Returns `None`, and changes nothing, when
/// the path stays farther than `margin` metres from the shape, or when a position or pose is not finite.
///
/// A particle that approaches at `rest_speed` (m/s) or less does not bounce: that ends the patter of ever smaller bounces.
/// A good value is what gravity gives in two substeps.
pub fn resolve(
    shape: &Primitive,
    pose0: &Pose,
    pose1: &Pose,
    h: f64,
    margin: f64,
    material: &ContactMaterial,
    rest_speed: f64,
    x0: DVec3,
    x1: &mut DVec3,
    v1: &mut DVec3,
) -> Option<Touch> {
    let l0 = pose0.apply_inverse(x0);
    let l1 = pose1.apply_inverse(*x1);
    let (contact, normal) = touching_point(shape, l0, l1, margin)?;

    let world_normal = pose1.rotate(normal);
    let end_contact = pose1.apply(contact);
    let surface_velocity = if h > 0.0 { (end_contact - pose0.apply(contact)) / h } else { DVec3::ZERO };
    let rebound = rebound(*v1 - surface_velocity, world_normal, material, rest_speed);

    let end = outside(shape, slide(contact, normal, l1, rebound.tangential_keep), margin);
    *x1 = pose1.apply(end);
    *v1 = surface_velocity + rebound.relative_velocity;
    Some(Touch {
        point: end_contact,
        normal: world_normal,
        depth: normal.dot(end - l1).max(0.0),
        normal_impulse_per_mass: rebound.normal_impulse_per_mass,
        slipping: rebound.slipping,
    })
}

/// Where a path in the frame of the shape touches it, and the normal there. A path that began in the band within `margin`
/// and goes outward is no hit, but touches with its end if that is still in the band.
fn touching_point(shape: &Primitive, l0: DVec3, l1: DVec3, margin: f64) -> Option<(DVec3, DVec3)> {
    if !(l0.is_finite() && l1.is_finite()) {
        return None;
    }
    let distance = shape.signed_distance(l0);
    if distance - margin > (l1 - l0).length() {
        return None; // the common case, for the price of one distance
    }
    if let Some(hit) = shape.first_hit(l0, l1, margin) {
        return Some((hit.point, hit.normal));
    }
    let (distance, normal) = shape.signed_distance_and_normal(l1);
    (distance < margin).then_some((l1, normal))
}

/// End of a path that goes on from the contact to `l1`: without its way into the tangent plane, and with a share of its
/// way along it. The shape is convex, so the tangent plane lies outside it.
fn slide(contact: DVec3, normal: DVec3, l1: DVec3, tangential_keep: f64) -> DVec3 {
    let rest = l1 - contact;
    let outward = normal.dot(rest);
    let along = rest - normal * outward;
    contact + along * tangential_keep + normal * outward.max(0.0)
}

/// The point itself, or the nearest one at distance `margin` if it is closer than that.
fn outside(shape: &Primitive, p: DVec3, margin: f64) -> DVec3 {
    let (distance, normal) = shape.signed_distance_and_normal(p);
    if distance < margin { p + normal * (margin - distance) } else { p }
}

/// Velocity relative to the surface after a contact, and how it came about.
struct Rebound {
    relative_velocity: DVec3,
    normal_impulse_per_mass: f64,
    tangential_keep: f64,
    slipping: bool,
}

/// Splits the relative velocity, turns its normal part round and lets friction act on its tangential part.
fn rebound(relative: DVec3, normal: DVec3, material: &ContactMaterial, rest_speed: f64) -> Rebound {
    let normal_speed = normal.dot(relative);
    let along = relative - normal * normal_speed;
    let sliding_speed = along.length();
    if normal_speed >= 0.0 || !relative.is_finite() {
        // Not approaching: nothing presses on the surface, so nothing rubs either.
        return Rebound {
            relative_velocity: relative,
            normal_impulse_per_mass: 0.0,
            tangential_keep: 1.0,
            slipping: sliding_speed > 0.0,
        };
    }
    let approach = -normal_speed;
    let bounce = if approach > rest_speed { material.restitution * approach } else { 0.0 };
    let impulse = approach + bounce;
    let keep = match material.tangential_keep {
        Some(keep) => keep,
        None => coulomb_keep(sliding_speed, material.friction * impulse),
    };
    Rebound {
        relative_velocity: along * keep + normal * bounce,
        normal_impulse_per_mass: impulse,
        tangential_keep: keep,
        slipping: keep > 0.0 && sliding_speed > 0.0,
    }
}

/// Share of the sliding speed left when friction can take `most` of it: none when it can take all (static friction).
fn coulomb_keep(sliding_speed: f64, most: f64) -> f64 {
    if most <= 0.0 {
        1.0
    } else if sliding_speed <= most {
        0.0
    } else {
        1.0 - most / sliding_speed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{cos, rotation, sin, uniform};
    use glam::DQuat;
    use proptest::prelude::*;

    const G: f64 = 9.81;
    const MARGIN: f64 = 0.002;
    const FLOOR: Primitive = Primitive::Plane { normal: DVec3::Y };
    const SLIPPERY: ContactMaterial =
        ContactMaterial { friction: 0.0, restitution: 0.0, tangential_keep: None };
    const SHAPES: [Primitive; 5] = [
        FLOOR,
        Primitive::Sphere { radius: 0.25 },
        Primitive::Box { half: DVec3::new(0.2, 0.02, 0.3) },
        Primitive::Capsule { radius: 0.1, half_height: 0.2 },
        Primitive::Cylinder { radius: 0.15, half_height: 0.05 },
    ];

    fn rubbing(friction: f64) -> ContactMaterial {
        ContactMaterial { friction, ..SLIPPERY }
    }

    fn bouncing(restitution: f64) -> ContactMaterial {
        ContactMaterial { restitution, ..SLIPPERY }
    }

    fn vector(range: f64) -> impl Strategy<Value = DVec3> {
        (-range..range, -range..range, -range..range).prop_map(|(x, y, z)| DVec3::new(x, y, z))
    }

    /// Height of a shape above its centre.
    fn top(shape: &Primitive) -> f64 {
        match *shape {
            Primitive::Plane { .. } => 0.0,
            Primitive::Sphere { radius } => radius,
            Primitive::Box { half } => half.y,
            Primitive::Capsule { radius, half_height } => radius + half_height,
            Primitive::Cylinder { half_height, .. } => half_height,
        }
    }

    /// A particle under gravity with one collider.
    struct Particle {
        x: DVec3,
        v: DVec3,
    }

    impl Particle {
        /// One step of symplectic Euler.
        fn step(
            &mut self,
            shape: &Primitive,
            poses: [Pose; 2],
            h: f64,
            material: &ContactMaterial,
        ) -> Option<Touch> {
            let v = self.v - DVec3::Y * (G * h);
            self.finish(shape, poses, h, material, self.x + v * h, v)
        }

        fn finish(
            &mut self,
            shape: &Primitive,
            [pose0, pose1]: [Pose; 2],
            h: f64,
            material: &ContactMaterial,
            mut x: DVec3,
            mut v: DVec3,
        ) -> Option<Touch> {
            let touch =
                resolve(shape, &pose0, &pose1, h, MARGIN, material, 2.0 * G * h, self.x, &mut x, &mut v);
            (self.x, self.v) = (x, v);
            touch
        }
    }

    #[test]
    fn a_particle_sticks_on_a_slope_below_the_friction_angle() {
        let h = 1.0 / 600.0;
        for (degrees, friction) in [(0.0, 0.0), (20.0, 0.4), (-30.0, 0.6), (44.9, 1.0)] {
            let pose = Pose::new(rotation(DVec3::Z * degrees), DVec3::new(1.0, -2.0, 3.0));
            for shape in SHAPES {
                // What an integrator makes of gravity: end position and velocity from start position and velocity.
                let integrators: [fn(DVec3, DVec3, DVec3) -> (DVec3, DVec3); 3] = [
                    |x, v, gh| (x + (v + gh) * (1.0 / 600.0), v + gh), // symplectic Euler
                    |x, v, gh| (x + v * (1.0 / 600.0), v + gh),        // explicit Euler
                    |x, v, gh| (x + (v + gh * 0.5) * (1.0 / 600.0), v + gh), // velocity Verlet
                ];
                for (i, integrate) in integrators.iter().enumerate() {
                    let start = pose.apply(DVec3::Y * (top(&shape) + MARGIN));
                    let mut p = Particle { x: start, v: DVec3::ZERO };
                    for _ in 0..10_000 {
                        let (x, v) = integrate(p.x, p.v, DVec3::NEG_Y * (G * h));
                        p.finish(&shape, [pose; 2], h, &rubbing(friction), x, v);
                    }
                    let moved = (p.x - start).length();
                    assert!(
                        moved < 1e-9,
                        "{shape:?} at {degrees} degrees, integrator {i}: moved {moved:e} m"
                    );
                }
            }
        }
    }

    #[test]
    fn a_particle_slides_down_a_slope_above_the_friction_angle() {
        for (degrees, friction, h) in [(30.0, 0.3, 1e-3), (60.0, 1.0, 1e-3), (10.0, 0.0, 1e-2)] {
            let pose = Pose::new(rotation(DVec3::Z * degrees), DVec3::new(0.0, 1.0, 0.0));
            let start = pose.apply(DVec3::Y * MARGIN);
            let mut p = Particle { x: start, v: DVec3::ZERO };
            let steps = 1000_u32;
            for _ in 0..steps {
                let touch = p.step(&FLOOR, [pose; 2], h, &rubbing(friction)).expect("stays on the slope");
                assert!(touch.slipping);
                assert!(
                    (touch.normal_impulse_per_mass - G * h * cos(f64::to_radians(degrees))).abs() < 1e-12
                );
            }
            let time = h * f64::from(steps);
            let angle = f64::to_radians(degrees);
            let acceleration = G * (sin(angle) - friction * cos(angle));
            let down = pose.rotate(DVec3::NEG_X);
            assert!((p.v - down * (acceleration * time)).length() < acceleration * h);
            // Symplectic Euler runs half a step ahead: a t (t + h) / 2.
            let ahead = down.dot(p.x - start) - 0.5 * acceleration * time * time;
            assert!(ahead.abs() < acceleration * time * h, "{ahead}");
        }
    }

    #[test]
    fn a_sliding_particle_stops_where_friction_has_used_up_its_energy() {
        for h in [1e-2, 1e-3, 1e-4] {
            let (speed, friction) = (3.0, 0.5);
            let mut p = Particle { x: DVec3::Y * MARGIN, v: DVec3::X * speed };
            let mut steps = 0;
            while p
                .step(&FLOOR, [Pose::IDENTITY; 2], h, &rubbing(friction))
                .expect("stays on the floor")
                .slipping
            {
                steps += 1;
                assert!(steps < 100_000, "never stops");
            }
            assert_eq!(p.v, DVec3::ZERO);
            let expected = speed * speed / (2.0 * friction * G);
            assert!((p.x.x - expected).abs() < speed * h, "h = {h}: {} for {expected}", p.x.x);
            let rest = p.x;
            p.step(&FLOOR, [Pose::IDENTITY; 2], h, &rubbing(friction));
            assert_eq!(p.x, rest);
        }
    }

    #[test]
    fn a_bounce_returns_the_square_of_the_restitution_of_the_height() {
        for h in [1e-3, 1e-4, 1e-5] {
            for restitution in [0.3, 0.7, 1.0] {
                let height = 1.0;
                let mut p = Particle { x: DVec3::Y * (MARGIN + height), v: DVec3::ZERO };
                // Down and up again, until the speed turns from up to down.
                let fall = (2.0 * height / G).sqrt();
                let mut apex = None;
                for _ in 0..(3.0 * fall / h) as u32 {
                    let rising = p.v.y > 0.0;
                    p.step(&FLOOR, [Pose::IDENTITY; 2], h, &bouncing(restitution));
                    if rising && p.v.y <= 0.0 {
                        apex = Some(p.x.y - MARGIN);
                        break;
                    }
                }
                let apex = apex.expect("it comes back up");
                let expected = restitution * restitution * height;
                // One step at the speed of impact, for each of: place of impact, speed of impact, way up.
                let tolerance = 3.0 * (2.0 * G * height).sqrt() * h;
                assert!((apex - expected).abs() < tolerance, "{h} {restitution}: {apex}");
            }
        }
    }

    #[test]
    fn slow_approach_does_not_bounce_and_fast_approach_turns_round() {
        let hit = |speed: f64, rest_speed: f64| {
            let (mut x, mut v) = (DVec3::NEG_Y * 0.01, DVec3::NEG_Y * speed);
            let pose = Pose::IDENTITY;
            resolve(
                &FLOOR,
                &pose,
                &pose,
                0.01,
                0.0,
                &bouncing(0.5),
                rest_speed,
                DVec3::Y * 0.01,
                &mut x,
                &mut v,
            );
            v
        };
        assert_eq!(hit(2.0, 0.5), DVec3::Y);
        assert_eq!(hit(0.5, 0.5), DVec3::ZERO);
    }

    #[test]
    fn the_seeds_factor_replaces_coulomb_friction() {
        let material = ContactMaterial { friction: 9.0, restitution: 0.0, tangential_keep: Some(0.75) };
        let (mut x, mut v) = (DVec3::new(4.0, -1.0, 0.0), DVec3::new(4.0, -2.0, 0.0));
        let pose = Pose::IDENTITY;
        let touch = resolve(&FLOOR, &pose, &pose, 1.0, 0.0, &material, 0.0, DVec3::Y, &mut x, &mut v);
        assert_eq!(v, DVec3::X * 3.0);
        // Touches half way, at x = 2; keeps three quarters of the rest.
        assert!((x - DVec3::X * 3.5).length() < 1e-12);
        let touch = touch.expect("crosses the floor");
        assert!(touch.slipping && touch.normal == DVec3::Y && touch.normal_impulse_per_mass == 2.0);
        assert!((touch.depth - 1.0).abs() < 1e-12 && (touch.point - DVec3::X * 2.0).length() < 1e-12);
    }

    #[test]
    fn a_particle_leaves_a_slippery_sphere_at_two_thirds_of_the_height() {
        let sphere = Primitive::Sphere { radius: 1.0 - MARGIN };
        let start = rotation(DVec3::Z * -10.0) * DVec3::Y;
        let mut p = Particle { x: start, v: DVec3::ZERO };
        let h = 1e-4;
        let mut left_at = 0.0;
        // Two seconds are enough to slide off, and to fall far below.
        for _ in 0..20_000 {
            if p.step(&sphere, [Pose::IDENTITY; 2], h, &SLIPPERY)
                .is_some_and(|t| t.normal_impulse_per_mass > 0.0)
            {
                left_at = p.x.y;
            }
        }
        assert!(p.x.y < -1.0, "still on the sphere");
        assert!((left_at - start.y * 2.0 / 3.0).abs() < 100.0 * h, "left at {left_at}");
    }

    #[test]
    fn a_turning_and_moving_table_carries_a_particle() {
        let table = Primitive::Cylinder { radius: 1.0, half_height: 0.1 };
        let h = 1.0 / 600.0;
        // 90°/s at 0.8 m asks for 0.2 g; the table also speeds up sideways at 0.1 g and rises at 0.5 m/s.
        let pose_at = |step: u32| {
            let time = h * f64::from(step);
            let place = DVec3::new(0.05 * G * time * time, 0.5 * time, 0.0);
            Pose::new(rotation(DVec3::Y * (90.0 * time)), place)
        };
        let spot = DVec3::new(0.0, 0.1 + MARGIN, 0.8);
        let velocity = (pose_at(1).apply(spot) - pose_at(0).apply(spot)) / h;
        let run = |friction: f64| {
            let mut p = Particle { x: spot, v: velocity };
            let mut stuck = true;
            for step in 0..1200 {
                let poses = [pose_at(step), pose_at(step + 1)];
                stuck &= p.step(&table, poses, h, &rubbing(friction)).is_some_and(|touch| !touch.slipping);
            }
            (stuck, (pose_at(1200).apply_inverse(p.x) - spot).length())
        };
        let (stuck, moved) = run(0.4);
        assert!(stuck && moved < 1e-9, "slipped by {moved:e} m");
        let (stuck, moved) = run(0.1);
        assert!(!stuck && moved > 0.1, "0.1 of friction cannot hold 0.2 g");
    }

    #[test]
    fn fast_colliders_push_a_resting_particle_ahead_of_them() {
        let h = 1.0 / 60.0;
        let turn = rotation(DVec3::new(30.0, 40.0, 50.0));
        for shape in SHAPES {
            for speed in [-10.0, 10.0, 50.0, -50.0] {
                for (i, offset) in [0.0, 0.3, 0.6, 0.9].into_iter().enumerate() {
                    // The collider comes from below itself: its own y axis leads, whichever way that points.
                    for rotation in [DQuat::IDENTITY, turn, turn * rotation(DVec3::X * 90.0)] {
                        let ahead = rotation * (DVec3::Y * f64::signum(speed));
                        if matches!(shape, Primitive::Plane { .. }) && speed < 0.0 {
                            continue; // a half-space has nothing on its other side
                        }
                        let aside = rotation * DVec3::X * (offset * 0.1);
                        let x0 = DVec3::new(1.0, 2.0, 3.0);
                        let gap = 0.01 + 0.08 * uniform(1, i as u64);
                        let from = x0 + aside - ahead * (top(&shape) + MARGIN + gap);
                        let pose0 = Pose::new(rotation, from);
                        let pose1 = Pose::new(rotation, from + ahead * (f64::abs(speed) * h));
                        assert!(shape.signed_distance(pose0.apply_inverse(x0)) > MARGIN);
                        let (mut x1, mut v1) = (x0, DVec3::ZERO);
                        let touch =
                            resolve(&shape, &pose0, &pose1, h, MARGIN, &SLIPPERY, 0.0, x0, &mut x1, &mut v1)
                                .expect("it reaches the particle");
                        let what = format!("{shape:?} at {speed} m/s, offset {offset}");
                        assert!(shape.signed_distance(pose1.apply_inverse(x1)) >= MARGIN - 1e-12, "{what}");
                        // On the side it was hit from: on the plane of first contact, which faces ahead.
                        assert!(touch.normal.dot(ahead) > 0.0, "{what}: hit from behind");
                        assert!(
                            (touch.normal.dot(x1 - touch.point)).abs() < 1e-9,
                            "{what}: on the wrong side"
                        );
                        if offset == 0.0 {
                            assert!((x1 - touch.point).length() < 1e-9, "{what}: thrown aside");
                        }
                        // It now runs ahead as fast as the surface pushes.
                        let push = ahead * f64::abs(speed);
                        assert!((touch.normal.dot(v1 - push)).abs() < 1e-9, "{what}: velocity {v1}");
                        assert!(ahead.dot(v1) > 0.0, "{what}");
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_happens_away_from_the_collider_or_with_bad_numbers() {
        let poses = [Pose::IDENTITY, Pose::new(DQuat::IDENTITY, DVec3::NEG_Y)];
        let v0 = DVec3::new(0.0, -3.0, 0.0);
        for (x0, x) in [
            (DVec3::Y, DVec3::Y * 0.5),
            (DVec3::Y, DVec3::NAN),
            (DVec3::NAN, DVec3::NEG_Y * 5.0),
            (DVec3::Y, DVec3::NEG_Y * f64::INFINITY),
        ] {
            for shape in SHAPES {
                let (mut x1, mut v1) = (x, v0);
                let touch = resolve(
                    &shape,
                    &poses[0],
                    &poses[1],
                    0.1,
                    MARGIN,
                    &rubbing(1.0),
                    0.0,
                    x0,
                    &mut x1,
                    &mut v1,
                );
                assert_eq!(touch, None);
                assert!(v1 == v0 && x1.to_array().map(f64::to_bits) == x.to_array().map(f64::to_bits));
            }
        }
        // A velocity that is not a number is left for the health check to see; the position is still put right.
        let (mut x1, mut v1) = (DVec3::NEG_Y * 5.0, DVec3::NAN);
        let pose = Pose::IDENTITY;
        resolve(&FLOOR, &pose, &pose, 0.1, MARGIN, &rubbing(1.0), 0.0, DVec3::Y, &mut x1, &mut v1);
        assert!(v1.is_nan() && (x1.y - MARGIN).abs() < 1e-12);
        // No time passes: the collider counts as standing still.
        let (mut x1, mut v1) = (DVec3::NEG_Y * 5.0, DVec3::NEG_Y);
        resolve(&FLOOR, &poses[0], &poses[1], 0.0, MARGIN, &rubbing(1.0), 0.0, DVec3::Y, &mut x1, &mut v1);
        assert_eq!(v1, DVec3::ZERO);
    }

    #[test]
    fn a_particle_in_the_band_that_leaves_is_helped_out_but_not_braked() {
        let (mut x, mut v) = (DVec3::new(0.1, 0.0015, 0.0), DVec3::new(1.0, 0.005, 0.0));
        let pose = Pose::IDENTITY;
        let touch =
            resolve(&FLOOR, &pose, &pose, 0.1, MARGIN, &rubbing(1.0), 0.0, DVec3::Y * 0.001, &mut x, &mut v)
                .expect("still in the band");
        assert_eq!(v, DVec3::new(1.0, 0.005, 0.0));
        assert!((x - DVec3::new(0.1, MARGIN, 0.0)).length() < 1e-15);
        assert!(
            (touch.depth - 0.0005).abs() < 1e-15 && touch.normal_impulse_per_mass == 0.0 && touch.slipping
        );
    }

    #[test]
    fn a_particle_that_starts_inside_may_leave_by_itself() {
        let (end, speed) = (DVec3::new(0.5, 1.0, 0.0), DVec3::new(5.0, 11.0, 0.0));
        let (mut x, mut v) = (end, speed);
        let pose = Pose::IDENTITY;
        resolve(&FLOOR, &pose, &pose, 0.1, MARGIN, &rubbing(1.0), 0.0, DVec3::NEG_Y * 0.1, &mut x, &mut v);
        assert!((x - end).length() < 1e-15 && v == speed);
    }

    /// One contact of a random particle and a random moving collider.
    #[derive(Clone, Debug)]
    struct Case {
        shape: Primitive,
        poses: [Pose; 2],
        x0: DVec3,
        v: DVec3,
        material: ContactMaterial,
        margin: f64,
    }

    const STEP: f64 = 1.0 / 60.0;

    impl Case {
        fn resolve(&self, x1: &mut DVec3, v1: &mut DVec3) -> Option<Touch> {
            let [pose0, pose1] = &self.poses;
            resolve(&self.shape, pose0, pose1, STEP, self.margin, &self.material, 0.1, self.x0, x1, v1)
        }
    }

    fn case() -> impl Strategy<Value = Case> {
        (
            (0..SHAPES.len(), vector(180.0), vector(30.0), vector(20.0)),
            (vector(0.5), vector(20.0)),
            (0.0..2.0f64, 0.0..=1.0f64, proptest::option::of(0.0..=1.0f64), 0.0..0.02f64),
        )
            .prop_map(
                |((i, turn, spin, push), (x0, v), (friction, restitution, tangential_keep, margin))| {
                    let first = rotation(turn);
                    let pose0 = Pose::new(first, DVec3::new(0.1, 0.2, 0.3));
                    let pose1 = Pose::new(rotation(spin) * first, pose0.translation + push * STEP);
                    let material = ContactMaterial { friction, restitution, tangential_keep };
                    Case {
                        shape: SHAPES[i],
                        poses: [pose0, pose1],
                        x0: pose0.translation + x0,
                        v,
                        material,
                        margin,
                    }
                },
            )
    }

    proptest! {
        #[test]
        fn every_particle_ends_outside_on_its_side_without_gaining_energy(case in case()) {
            let [pose0, pose1] = case.poses;
            let end = case.x0 + case.v * STEP;
            let (mut x1, mut v1) = (end, case.v);
            let touch = case.resolve(&mut x1, &mut v1);
            let local = pose1.apply_inverse(x1);
            prop_assert!(case.shape.signed_distance(local) >= case.margin - 1e-9);
            let Some(touch) = touch else {
                prop_assert!(x1 == end && v1 == case.v);
                return Ok(());
            };
            prop_assert!((touch.normal.length() - 1.0).abs() < 1e-12);
            prop_assert!(touch.depth >= 0.0 && touch.normal_impulse_per_mass >= 0.0);
            // The side: never behind the plane of first contact.
            prop_assert!(touch.normal.dot(x1 - touch.point) >= -1e-9);
            let contact = pose1.apply_inverse(touch.point);
            let surface = (touch.point - pose0.apply(contact)) / STEP;
            let (before, after) = (case.v - surface, v1 - surface);
            prop_assert!(after.length() <= before.length() + 1e-9);
            prop_assert!(touch.normal.dot(after) >= -1e-9, "still approaching");
            // Coulomb's law: the tangential impulse is at most friction times the normal one, and against the sliding.
            let impulse = after - before;
            let normal_part = touch.normal.dot(impulse);
            prop_assert!((normal_part - touch.normal_impulse_per_mass).abs() < 1e-9);
            let sideways = impulse - touch.normal * normal_part;
            let sliding = before - touch.normal * touch.normal.dot(before);
            prop_assert!(sideways.dot(sliding) <= 1e-9);
            prop_assert!(sideways.cross(sliding).length() < 1e-9);
            if case.material.tangential_keep.is_none() {
                let most = case.material.friction * normal_part;
                prop_assert!(sideways.length() <= most + 1e-9);
                // It slides on only when friction has done all it can.
                let left = after - touch.normal * touch.normal.dot(after);
                prop_assert!(left.length() < 1e-9 || (sideways.length() - most).abs() < 1e-9);
                prop_assert_eq!(touch.slipping, left.length() > 0.0 && sliding.length() > most);
            }
        }

        #[test]
        fn only_relative_motion_matters(case in case(), wind in vector(10.0), shift in vector(5.0)) {
            let mut moved = case.clone();
            moved.poses[0].translation += shift;
            moved.poses[1].translation += shift + wind * STEP;
            moved.x0 += shift;
            moved.v += wind;
            let end = case.x0 + case.v * STEP;
            let (mut x, mut v) = (end, case.v);
            let (mut xm, mut vm) = (end + shift + wind * STEP, moved.v);
            let (touch, touch_moved) = (case.resolve(&mut x, &mut v), moved.resolve(&mut xm, &mut vm));
            // A path that grazes, or starts on an edge between two nearest faces, may go either way by rounding.
            let [pose0, pose1] = case.poses;
            let (l0, l1) = (pose0.apply_inverse(case.x0), pose1.apply_inverse(end));
            let steady = |d: DVec3| {
                case.shape.first_hit(l0 + d, l1 + d, case.margin).map(|hit| hit.normal)
            };
            let normal = steady(DVec3::ZERO);
            for d in [DVec3::X, DVec3::Y, DVec3::Z, DVec3::NEG_ONE] {
                prop_assume!(match (normal, steady(d * 1e-9)) {
                    (Some(a), Some(b)) => (a - b).length() < 1e-4,
                    (a, b) => a.is_none() && b.is_none(),
                });
            }
            prop_assert_eq!(touch.is_some(), touch_moved.is_some());
            prop_assert!((xm - shift - wind * STEP - x).length() < 1e-6);
            prop_assert!((vm - wind - v).length() < 1e-6);
        }
    }
}
