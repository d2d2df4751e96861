//! Tests of the deterministic mathematics. Golden bits come from a separate implementation in another language.

use super::*;
use proptest::prelude::*;

fn vector(range: f64) -> impl Strategy<Value = DVec3> {
    (-range..range, -range..range, -range..range).prop_map(|(x, y, z)| DVec3::new(x, y, z))
}

fn unit_quaternion() -> impl Strategy<Value = DQuat> {
    (-1.0..1.0, -1.0..1.0, -1.0..1.0, -1.0..1.0f64)
        .prop_map(|(x, y, z, w)| DQuat::from_xyzw(x, y, z, w))
        .prop_filter("too short to normalise", |q| q.length() > 0.1)
        .prop_map(|q| q.normalize())
}

#[test]
fn elementary_functions_have_golden_bits() {
    // All are the correctly rounded values, but for exp(1): libm promises one unit in the last place, and there uses it.
    for (name, value, bits) in [
        ("sin 1", sin(1.0), 0x3fea_ed54_8f09_0cee_u64),
        ("cos 1", cos(1.0), 0x3fe1_4a28_0fb5_068c),
        ("tan 1", tan(1.0), 0x3ff8_eb24_5cbe_e3a6),
        ("asin 0.3", asin(0.3), 0x3fd3_8015_9e14_f6ff),
        ("acos 0.3", acos(0.3), 0x3ff4_41f5_ecbe_ef59),
        ("atan 3", atan(3.0), 0x3ff3_fc17_6b7a_8560),
        ("atan2(1, -2)", atan2(1.0, -2.0), 0x4005_6c6e_7397_f5ae),
        ("exp 1", exp(1.0), 0x4005_bf0a_8b14_576a),
        ("exp2 0.3", exp2(0.3), 0x3ff3_b2c4_7bff_8329),
        ("ln 10", ln(10.0), 0x4002_6bb1_bbb5_5516),
        ("log2 10", log2(10.0), 0x400a_934f_0979_a371),
        ("log10 2", log10(2.0), 0x3fd3_4413_509f_79ff),
        ("pow(0.7, 1.7)", pow(0.7, 1.7), 0x3fe1_736b_10d5_852e),
        ("cbrt 27", cbrt(27.0), 3.0f64.to_bits()),
    ] {
        assert_eq!(value.to_bits(), bits, "{name} = {value:e}");
    }
}

#[test]
fn sine_and_cosine_of_right_angles_are_exact() {
    for (degrees, expected) in [
        (0.0, (0.0, 1.0)),
        (90.0, (1.0, 0.0)),
        (180.0, (0.0, -1.0)),
        (270.0, (-1.0, 0.0)),
        (360.0, (0.0, 1.0)),
        (-90.0, (-1.0, 0.0)),
        (-180.0, (0.0, -1.0)),
        (-270.0, (1.0, 0.0)),
        (3_600_090.0, (1.0, 0.0)),
    ] {
        assert_eq!(sin_cos_degrees(degrees), expected, "{degrees} degrees");
    }
}

#[test]
fn rotation_turns_the_right_way() {
    assert_eq!(rotation(DVec3::ZERO), DQuat::IDENTITY);
    assert_eq!(rotation(DVec3::new(0.0, 180.0, 0.0)), DQuat::from_xyzw(0.0, 1.0, 0.0, 0.0));
    assert_eq!(rotation(DVec3::new(0.0, 0.0, 360.0)) * DVec3::X, DVec3::X);
    // Right-handed: z turns x into y, x turns y into z, y turns z into x.
    assert!((rotation(DVec3::Z * 90.0) * DVec3::X - DVec3::Y).length() < 1e-15);
    assert!((rotation(DVec3::X * 90.0) * DVec3::Y - DVec3::Z).length() < 1e-15);
    assert!((rotation(DVec3::Y * 90.0) * DVec3::Z - DVec3::X).length() < 1e-15);
    // The diagonal permutes the axes.
    let third = DVec3::ONE.normalize() * 120.0;
    assert!((rotation(third) * DVec3::X - DVec3::Y).length() < 1e-15);
}

#[test]
fn hashes_have_golden_bits() {
    // The first number of SplitMix64 started from 0, as published with it.
    assert_eq!(mix(GOLDEN), 0xe220_a839_7b1d_cdaf);
    assert_eq!(random_bits(0, 0), 0xe220_a839_7b1d_cdaf);
    assert_eq!(random_bits(7, 3), 0xe21b_5034_36e9_7f5b);
    assert_eq!(uniform(7, 3).to_bits(), 0x3fec_436a_0686_dd2f);
}

#[test]
fn uniform_numbers_are_uniform_and_streams_differ() {
    let n = 100_000_u32;
    let values: Vec<f64> = (0..n).map(|i| uniform(5, u64::from(i))).collect();
    assert!(values.iter().all(|v| (0.0..1.0).contains(v)));
    // Six standard deviations of the mean, and of the count in one tenth.
    let mean = values.iter().sum::<f64>() / f64::from(n);
    assert!((mean - 0.5).abs() < 6.0 * (1.0 / 12.0 / f64::from(n)).sqrt(), "mean {mean}");
    for tenth in 0..10 {
        let count = values.iter().filter(|v| (*v * 10.0) as i32 == tenth).count() as f64;
        assert!((count - 1e4).abs() < 6.0 * (1e5_f64 * 0.09).sqrt(), "tenth {tenth}: {count}");
    }
    // Neighbours in one stream and equal places of two streams are uncorrelated.
    let correlation = |a: &dyn Fn(u64) -> f64, b: &dyn Fn(u64) -> f64| {
        (0..n).map(|i| (a(i.into()) - 0.5) * (b(i.into()) - 0.5)).sum::<f64>() * 12.0 / f64::from(n)
    };
    let limit = 6.0 / f64::from(n).sqrt();
    assert!(correlation(&|i| uniform(5, i), &|i| uniform(5, i + 1)).abs() < limit);
    assert!(correlation(&|i| uniform(5, i), &|i| uniform(6, i)).abs() < limit);
}

#[test]
fn noise_has_golden_bits() {
    assert_eq!(noise3(DVec3::new(0.3, -1.7, 12.25), 1).to_bits(), 0xbfd8_16a3_0393_3f84);
    assert_eq!(noise3(DVec3::new(1000.5, 0.0, -0.125), 42).to_bits(), 0x3fd5_0e48_d63e_522d);
    let v = noise_vector(DVec3::new(0.3, -1.7, 12.25), 2.5, 9);
    assert_eq!(
        v.to_array().map(f64::to_bits),
        [0x3fd2_ea82_92ae_5880, 0xbfa1_2791_84c8_bfa2, 0x3fbb_ab75_b89f_9a9e]
    );
}

#[test]
fn noise_has_mean_zero_and_does_not_fade_away() {
    // Lattice points are independent and uniform on [-1, 1]: variance 1/3, so the mean of n has deviation 1/√(3 n).
    let n = 30_i32;
    let (mut mean, mut square) = (DVec3::ZERO, DVec3::ZERO);
    let mut mean3 = 0.0;
    for i in 0..n {
        for j in 0..n {
            for k in 0..n {
                let p = DVec3::new(f64::from(i), f64::from(j), f64::from(k));
                let v = noise_vector(p, 3.0, 11);
                mean += v;
                square += v * v;
                mean3 += noise3(p, 11);
            }
        }
    }
    let count = f64::from(n * n * n);
    let limit = 6.0 / (3.0 * count).sqrt();
    assert!((mean / count).abs().max_element() < limit, "{}", mean / count);
    assert!((mean3 / count).abs() < limit, "{}", mean3 / count);
    // Variance of the square of such a number: 1/5 - 1/9.
    let limit = 6.0 * ((1.0 / 5.0 - 1.0 / 9.0) / count).sqrt();
    assert!((square / count - DVec3::splat(1.0 / 3.0)).abs().max_element() < limit, "{}", square / count);
}

#[test]
fn noise_differs_with_seed_time_and_component() {
    let p = DVec3::new(0.2, 3.4, -5.6);
    let v = noise_vector(p, 0.0, 1);
    assert!(v.x != v.y && v.y != v.z && v.x != v.z);
    assert_ne!(v, noise_vector(p, 0.0, 2));
    assert_ne!(v, noise_vector(p, 0.5, 1));
    assert_ne!(noise3(p, 1), noise3(p, 2));
    // A neighbouring seed is not a shifted copy.
    for d in [DVec3::X, DVec3::Y, DVec3::Z, -DVec3::X] {
        assert_ne!(noise3(p, 1), noise3(p + d, 2));
    }
}

#[test]
fn noise_far_away_and_non_finite_does_not_panic() {
    for x in [1e18, -1e18, 1e19, -1e300, f64::MAX] {
        let v = noise_vector(DVec3::new(x, 0.5, -x), x, 3);
        assert!(v.is_finite() && v.abs().max_element() <= 1.0);
        assert!(noise3(DVec3::splat(x), 3).abs() <= 1.0);
    }
    assert!(noise3(DVec3::NAN, 3).is_nan());
    assert!(noise_vector(DVec3::ZERO, f64::INFINITY, 3).is_nan());
}

#[test]
fn pose_identity_and_known_values() {
    let p = DVec3::new(1.0, -2.0, 3.0);
    assert_eq!(Pose::IDENTITY.apply(p), p);
    assert_eq!(Pose::default(), Pose::IDENTITY);
    let pose = Pose::new(rotation(DVec3::Z * 90.0), DVec3::new(10.0, 0.0, 0.0));
    assert!((pose.apply(DVec3::X) - DVec3::new(10.0, 1.0, 0.0)).length() < 1e-14);
    assert!((pose.rotate(DVec3::X) - DVec3::Y).length() < 1e-14);
    let half = Pose::IDENTITY.lerp(&pose, 0.5);
    assert!(rotation_angle(half.rotation, rotation(DVec3::Z * 45.0)) < 1e-14);
    assert_eq!(half.translation, DVec3::new(5.0, 0.0, 0.0));
    assert!(!Pose::new(DQuat::IDENTITY, DVec3::NAN).is_finite() && pose.is_finite());
}

proptest! {
    #[test]
    fn sine_and_cosine_in_degrees_agree_with_radians(degrees in -1000.0..1000.0f64) {
        let (s, c) = sin_cos_degrees(degrees);
        prop_assert!((s - sin(degrees.to_radians())).abs() < 1e-14);
        prop_assert!((c - cos(degrees.to_radians())).abs() < 1e-14);
    }

    #[test]
    fn rotation_keeps_its_axis_and_turns_by_its_angle(axis in vector(1.0), degrees in 0.1..179.0f64) {
        prop_assume!(axis.length() > 1e-3);
        let axis = axis.normalize();
        let q = rotation(axis * degrees);
        prop_assert!((q.length() - 1.0).abs() < 1e-15);
        prop_assert!((q * axis - axis).length() < 1e-14);
        prop_assert!((rotation_angle(DQuat::IDENTITY, q) - degrees.to_radians()).abs() < 1e-13);
        // Half the turn, twice.
        let half = rotation(axis * (0.5 * degrees));
        prop_assert!(rotation_angle(half * half, q) < 1e-13);
    }

    #[test]
    fn interpolated_rotations_lie_on_the_short_arc(a in unit_quaternion(), b in unit_quaternion(), s in 0.0..1.0f64) {
        let whole = rotation_angle(a, b);
        prop_assert!(whole <= std::f64::consts::PI + 1e-12);
        for q in [nlerp(a, b, s), slerp(a, b, s)] {
            prop_assert!((q.length() - 1.0).abs() < 1e-14);
            prop_assert!((rotation_angle(a, q) + rotation_angle(q, b) - whole).abs() < 1e-12);
        }
        prop_assert!((rotation_angle(a, slerp(a, b, s)) - s * whole).abs() < 1e-12);
        // The sign of a quaternion means nothing.
        prop_assert!(rotation_angle(slerp(a, -b, s), slerp(a, b, s)) < 1e-12);
        for (end, q) in [(0.0, a), (1.0, b)] {
            prop_assert!(rotation_angle(nlerp(a, b, end), q) < 1e-14);
            prop_assert!(rotation_angle(slerp(a, b, end), q) < 1e-14);
        }
    }

    #[test]
    fn close_rotations_interpolate_evenly(a in unit_quaternion(), axis in vector(1.0), exponent in -9.0..-1.0f64, s in 0.0..1.0f64) {
        prop_assume!(axis.length() > 1e-3);
        let small = pow(10.0, exponent);
        let b = a * rotation(axis.normalize() * small.to_degrees());
        prop_assert!((rotation_angle(a, slerp(a, b, s)) - s * small).abs() < 1e-15);
    }

    #[test]
    fn pose_and_inverse_undo_each_other(q in unit_quaternion(), t in vector(10.0), p in vector(10.0)) {
        let pose = Pose::new(q, t);
        prop_assert!((pose.apply_inverse(pose.apply(p)) - p).length() < 1e-13);
        prop_assert!((pose.rotate_inverse(pose.rotate(p)) - p).length() < 1e-13);
        prop_assert!((pose.apply(p) - pose.apply(DVec3::ZERO) - pose.rotate(p)).length() < 1e-13);
        prop_assert!((pose.rotate(p).length() - p.length()).abs() < 1e-13);
    }

    #[test]
    fn mix_is_a_bijection_that_spreads_every_bit(x: u64, bit in 0..64u32) {
        let flipped = (mix(x) ^ mix(x ^ (1 << bit))).count_ones();
        // 64 fair coins: fewer than 8 heads has probability 3e-11.
        prop_assert!((8..=56).contains(&flipped), "{flipped} bits");
    }

    #[test]
    fn noise_is_bounded_and_smooth(p in vector(50.0), t in -50.0..50.0f64, d in vector(1.0), seed: u32) {
        let v = noise_vector(p, t, seed);
        prop_assert!(v.abs().max_element() <= 1.0);
        prop_assert!(noise3(p, seed).abs() <= 1.0);
        // The fade is at most 15/8 steep and lattice values differ by at most 2, so no axis is steeper than 15/4.
        let e = 1e-4;
        let steepest = 15.0 / 4.0 * (d.x.abs() + d.y.abs() + d.z.abs()) * e + 1e-14;
        prop_assert!((noise3(p + d * e, seed) - noise3(p, seed)).abs() <= steepest);
        prop_assert!((noise_vector(p + d * e, t, seed) - v).abs().max_element() <= steepest);
        prop_assert!((noise_vector(p, t + e, seed) - v).abs().max_element() <= 15.0 / 4.0 * e + 1e-14);
    }

    #[test]
    fn noise_slope_has_no_jump_at_cell_borders(p in vector(20.0), t in -20.0..20.0f64, seed: u32, axis in 0..4usize) {
        // On a border the slope along the axis is zero from both sides.
        let (mut q, mut time) = (p, t);
        let step = 1e-4;
        let at = |q: DVec3, time: f64| noise_vector(q, time, seed);
        let (before, after);
        if axis < 3 {
            q[axis] = q[axis].round();
            let mut d = DVec3::ZERO;
            d[axis] = step;
            before = (at(q, time) - at(q - d, time)) / step;
            after = (at(q + d, time) - at(q, time)) / step;
        } else {
            time = time.round();
            before = (at(q, time) - at(q, time - step)) / step;
            after = (at(q, time + step) - at(q, time)) / step;
        }
        // 10 t³ of the fade, twice the unit, over t: 20 step².
        prop_assert!(before.abs().max_element() < 1e-6 && after.abs().max_element() < 1e-6, "{before} {after}");
    }
}
