//! PC2 and MDD: round trips, exact bytes, and what malformed files get.

mod export_common;

use export_common::{any_body, flag};
use proptest::prelude::*;
use souple_formats::animation::{BodyAnimation, Frame};
use souple_formats::export::ExportError;
use souple_formats::export::point_cache::{
    CacheFrames, PointCacheBudget, PointCacheError, read_mdd, read_pc2, write_mdd, write_pc2,
};

const BUDGET: fn() -> PointCacheBudget = PointCacheBudget::default;

fn one_point() -> BodyAnimation {
    let frames = [[1.0, 2.0, 3.0], [1.5, 2.0, -3.0]];
    let frame = |p| Frame { positions: vec![p], velocities: Vec::new() };
    BodyAnimation { frames: frames.map(frame).to_vec(), ..BodyAnimation::default() }
}

fn assert_same_frames(cache: &CacheFrames, body: &BodyAnimation) {
    assert_eq!(cache.point_count, body.vertex_count());
    assert_eq!(cache.frame_count(), body.frames.len());
    for (i, frame) in body.frames.iter().enumerate() {
        assert_eq!(cache.frame(i), Some(frame.positions.as_slice()));
    }
    assert_eq!(cache.frame(body.frames.len()), None);
    assert_eq!(cache.frame(usize::MAX), None);
}

#[test]
fn pc2_has_the_bytes_of_the_format() {
    let mut expected = b"POINTCACHE2\0".to_vec();
    expected.extend([1, 0, 0, 0]); // version
    expected.extend([1, 0, 0, 0]); // points
    expected.extend([0, 0, 0x80, 0x3f]); // start frame 1.0
    expected.extend([0, 0, 0x80, 0x3f]); // sample rate 1.0
    expected.extend([2, 0, 0, 0]); // samples
    expected.extend([0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40]); // 1, 2, 3
    expected.extend([0, 0, 0xc0, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0xc0]); // 1.5, 2, -3
    assert_eq!(write_pc2(&one_point(), 1).unwrap(), expected);
}

#[test]
fn mdd_has_the_bytes_of_the_format() {
    let mut expected = vec![0, 0, 0, 2, 0, 0, 0, 1]; // frames, points
    expected.extend([0, 0, 0, 0, 0x3f, 0, 0, 0]); // times 0, 0.5
    expected.extend([0x3f, 0x80, 0, 0, 0x40, 0, 0, 0, 0x40, 0x40, 0, 0]);
    expected.extend([0x3f, 0xc0, 0, 0, 0x40, 0, 0, 0, 0xc0, 0x40, 0, 0]);
    assert_eq!(write_mdd(&one_point(), 2.0).unwrap(), expected);
}

#[test]
fn round_trips() {
    let body = flag(30);
    let pc2 = read_pc2(&write_pc2(&body, -5).unwrap(), &BUDGET()).unwrap();
    assert_eq!((pc2.start_frame, pc2.sample_rate), (-5.0, 1.0));
    assert_same_frames(&pc2.frames, &body);
    let mdd = read_mdd(&write_mdd(&body, 24.0).unwrap(), &BUDGET()).unwrap();
    assert_eq!(mdd.times_s, (0..30).map(|i| (i as f64 / 24.0) as f32).collect::<Vec<_>>());
    assert_same_frames(&mdd.frames, &body);
}

#[test]
fn mdd_times_must_be_distinct() {
    assert!(matches!(write_mdd(&one_point(), 1e60), Err(ExportError::TimesNotIncreasing { frame: 1, .. })));
}

/// A kilobyte that announces whatever it is told.
fn pc2_announcing(version: i32, points: i32, sample_rate: f32, samples: i32) -> Vec<u8> {
    let mut bytes = b"POINTCACHE2\0".to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend(points.to_le_bytes());
    bytes.extend(0.0f32.to_le_bytes());
    bytes.extend(sample_rate.to_le_bytes());
    bytes.extend(samples.to_le_bytes());
    bytes.resize(1024, 0);
    bytes
}

fn mdd_announcing(frames: i32, points: i32) -> Vec<u8> {
    let mut bytes = [frames.to_be_bytes(), points.to_be_bytes()].concat();
    bytes.resize(1024, 0);
    bytes
}

#[test]
fn a_kilobyte_cannot_announce_a_billion_points() {
    let unlimited =
        PointCacheBudget { max_points: usize::MAX, max_frames: usize::MAX, max_bytes: usize::MAX };
    for count in [1_000_000_000, i32::MAX] {
        for (points, frames) in [(count, 1), (1, count), (count, count)] {
            let pc2 = pc2_announcing(1, points, 1.0, frames);
            assert!(matches!(read_pc2(&pc2, &BUDGET()), Err(PointCacheError::OverBudget { .. })));
            assert!(matches!(read_pc2(&pc2, &unlimited), Err(PointCacheError::Length { found: 1024, .. })));
            let mdd = mdd_announcing(frames, points);
            assert!(matches!(read_mdd(&mdd, &BUDGET()), Err(PointCacheError::OverBudget { .. })));
            assert!(matches!(read_mdd(&mdd, &unlimited), Err(PointCacheError::Length { found: 1024, .. })));
        }
    }
}

#[test]
fn malformed_files_are_named() {
    use PointCacheError as E;
    let pc2 = |bytes: &[u8]| read_pc2(bytes, &BUDGET()).unwrap_err();
    assert!(matches!(pc2(b""), E::HeaderCutOff { found: 0, needed: 32, .. }));
    assert!(matches!(pc2(b"POINTCA"), E::HeaderCutOff { found: 7, .. }));
    assert!(matches!(pc2(&pc2_announcing(1, 1, 1.0, 1)[..31]), E::HeaderCutOff { found: 31, .. }));
    assert_eq!(pc2(b"v 1 2 3\n"), E::Signature);
    assert_eq!(pc2(&[0; 64]), E::Signature);
    assert_eq!(pc2(&pc2_announcing(2, 1, 1.0, 1)), E::Version(2));
    assert!(matches!(pc2(&pc2_announcing(1, 0, 1.0, 1)), E::NotPositive { what: "points", offset: 16, .. }));
    assert!(matches!(pc2(&pc2_announcing(1, 1, 1.0, -1)), E::NotPositive { what: "frames", found: -1, .. }));
    for rate in [0.0, -1.0, f32::NAN] {
        assert!(matches!(pc2(&pc2_announcing(1, 1, rate, 1)), E::BadNumber { offset: 24, .. }));
    }
    let mdd = |bytes: &[u8]| read_mdd(bytes, &BUDGET()).unwrap_err();
    assert!(matches!(mdd(b""), E::HeaderCutOff { .. }));
    assert!(matches!(mdd(&[0, 0, 0, 1, 0, 0, 0]), E::HeaderCutOff { found: 7, needed: 8, .. }));
    assert!(matches!(mdd(&mdd_announcing(0, 1)), E::NotPositive { what: "frames", .. }));
    assert!(matches!(mdd(&mdd_announcing(1, i32::MIN)), E::NotPositive { what: "points", .. }));

    let mut bytes = write_mdd(&one_point(), 2.0).unwrap();
    bytes[12..16].copy_from_slice(&f32::NAN.to_be_bytes());
    assert!(matches!(mdd(&bytes), E::BadNumber { what: "time", offset: 12, .. }));
    let mut bytes = write_mdd(&one_point(), 2.0).unwrap();
    bytes[32..36].copy_from_slice(&f32::INFINITY.to_be_bytes());
    assert!(matches!(mdd(&bytes), E::BadNumber { what: "coordinate", offset: 32, .. }));
    let mut bytes = write_pc2(&one_point(), 0).unwrap();
    bytes[48..52].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(matches!(pc2(&bytes), E::BadNumber { what: "coordinate", offset: 48, .. }));
}

#[test]
fn any_cut_or_extra_byte_is_noticed() {
    let body = flag(3);
    let (pc2, mdd) = (write_pc2(&body, 0).unwrap(), write_mdd(&body, 30.0).unwrap());
    for length in 0..pc2.len() {
        assert!(read_pc2(&pc2[..length], &BUDGET()).is_err());
    }
    for length in 0..mdd.len() {
        assert!(read_mdd(&mdd[..length], &BUDGET()).is_err());
    }
    assert!(matches!(
        read_pc2(&[pc2.as_slice(), &[0]].concat(), &BUDGET()),
        Err(PointCacheError::Length { .. })
    ));
    assert!(matches!(
        read_mdd(&[mdd.as_slice(), &[0]].concat(), &BUDGET()),
        Err(PointCacheError::Length { .. })
    ));
}

#[test]
fn budgets_hold() {
    let bytes = write_pc2(&flag(3), 0).unwrap();
    let over = |budget| matches!(read_pc2(&bytes, &budget), Err(PointCacheError::OverBudget { .. }));
    assert!(!over(PointCacheBudget { max_points: 64, max_frames: 3, max_bytes: 64 * 3 * 12 }));
    assert!(over(PointCacheBudget { max_points: 63, ..BUDGET() }));
    assert!(over(PointCacheBudget { max_frames: 2, ..BUDGET() }));
    assert!(over(PointCacheBudget { max_bytes: 64 * 3 * 12 - 1, ..BUDGET() }));
}

proptest! {
    #[test]
    fn random_bodies_round_trip(body in (1usize..6).prop_flat_map(any_body), start in -100i32..100) {
        let pc2 = read_pc2(&write_pc2(&body, start).unwrap(), &BUDGET()).unwrap();
        prop_assert_eq!(pc2.start_frame, start as f32);
        assert_same_frames(&pc2.frames, &body);
        assert_same_frames(&read_mdd(&write_mdd(&body, 25.0).unwrap(), &BUDGET()).unwrap().frames, &body);
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_pc2(&bytes, &BUDGET());
        let _ = read_mdd(&bytes, &BUDGET());
    }

    /// Files that are nearly right reach deeper than noise; what is accepted must make sense.
    #[test]
    fn damaged_files_never_panic(
        (at, value) in (0usize..200, any::<u8>()),
        cut in 0usize..300,
        body in any_body(3),
    ) {
        let damage = |mut bytes: Vec<u8>| {
            let length = bytes.len();
            bytes[at % length] = value;
            bytes.truncate(cut.max(1));
            bytes
        };
        if let Ok(cache) = read_pc2(&damage(write_pc2(&body, 0).unwrap()), &BUDGET()) {
            prop_assert_eq!(cache.frames.positions.len(), cache.frames.point_count * cache.frames.frame_count());
        }
        if let Ok(cache) = read_mdd(&damage(write_mdd(&body, 25.0).unwrap()), &BUDGET()) {
            prop_assert_eq!(cache.frames.frame_count(), cache.times_s.len());
            prop_assert!(cache.frames.positions.iter().flatten().all(|c| c.is_finite()));
        }
    }
}
