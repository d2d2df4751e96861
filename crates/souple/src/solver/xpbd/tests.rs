//! Kernels that have no test of their own beside them: the same bits with all instructions.

use glam::DVec3;

use super::attachments::AttachmentSet;
use super::touch::{Clearances, Listed, Obstacle, collide};
use crate::contact::primitives::Primitive;
use crate::contact::response::ContactMaterial;
use crate::lanes::{Instructions, Point};
use crate::math::{Pose, rotation, uniform};
use crate::mesh::geodesic::Support;
use crate::parallel::Parallel;

fn random(seed: u64, i: usize, k: u64) -> f64 {
    uniform(seed, 16 * i as u64 + k) - 0.5
}

fn random_points(seed: u64, n: usize, size: f64) -> Vec<Point> {
    let part = |i: usize, k: u64| (size * random(seed, i, k)) as f32;
    // Some are supported.
    (0..n).map(|i| [part(i, 0), part(i, 1), part(i, 2), if i % 11 == 3 { 0.0 } else { 250.0 }]).collect()
}

/// On a machine without AVX2 both are the same, and nothing is tested.
const BOTH: fn() -> [Instructions; 2] = || [Instructions::Plain, Instructions::detect()];

#[test]
fn attachments_have_the_same_bits_with_all_instructions() {
    let n = 333;
    let x: Vec<DVec3> =
        (0..n).map(|i| DVec3::new(random(1, i, 0), random(1, i, 1), random(1, i, 2))).collect();
    let held: Vec<bool> = (0..n).map(|i| i % 11 == 3).collect();
    let supports: Vec<u32> = (0..n as u32).filter(|v| held[*v as usize]).collect();
    let attached: Vec<Vec<Support>> = (0..n)
        .map(|i| {
            let support = |k: usize| Support {
                vertex: supports[(7 * i + k) % supports.len()],
                // Some are within their distance already.
                distance: 0.3 + random(2, i, k as u64).abs(),
            };
            (0..i % 4).map(support).collect()
        })
        .collect();
    let free = |v: usize| if held[v] { &[][..] } else { &attached[v][..] };
    let mut set = AttachmentSet::new(n, |v| free(v).iter().copied());
    set.begin_frame(&Parallel::default(), &x);
    let start = random_points(3, n, 0.2);
    set.move_supports(&start);
    let [plain, best] = BOTH().map(|instructions| {
        let mut points = start.clone();
        for (b, block) in points.chunks_mut(crate::parallel::BLOCK).enumerate() {
            instructions.run(set.visit(b, block));
        }
        points
    });
    assert_eq!(plain, best);
    let moved = plain.iter().zip(&start).filter(|(a, b)| a != b).count();
    assert!(moved > n / 4 && moved < n, "{moved}");
}

#[test]
fn contact_has_the_same_bits_with_all_instructions_and_of_lists_nothing_else_is_looked_at() {
    let n = 1003;
    let shapes = [
        Primitive::Plane { normal: DVec3::Y },
        Primitive::Sphere { radius: 0.3 },
        Primitive::Box { half: DVec3::new(0.3, 0.2, 0.25) },
        Primitive::Capsule { radius: 0.2, half_height: 0.2 },
        Primitive::Cylinder { radius: 0.25, half_height: 0.2 },
    ];
    let sliding = ContactMaterial { friction: 0.3, restitution: 0.0, tangential_keep: None };
    let bouncing = ContactMaterial { restitution: 0.5, ..sliding };
    let sticking = ContactMaterial { tangential_keep: Some(0.4), ..sliding };
    let origin = DVec3::new(10.0, -3.0, 0.5);
    for shape in &shapes {
        for material in [&sliding, &bouncing, &sticking] {
            let pose0 = Pose {
                rotation: rotation(DVec3::new(20.0, -35.0, 50.0)),
                translation: origin + DVec3::new(0.05, 0.02, 0.0),
            };
            let pose1 = Pose { translation: pose0.translation + DVec3::new(0.0, 0.01, 0.02), ..pose0 };
            let obstacle = Obstacle {
                shape,
                pose0,
                pose1,
                material: *material,
                skin: 0.01,
                rest_speed: 0.02,
                only: None,
            };
            let base = random_points(4, n, 1.0);
            let velocities = random_points(5, n, 4.0);
            // A few are so fast that their path is followed, and one is in the very middle.
            let mut start = random_points(6, n, 0.05);
            start.iter_mut().step_by(50).for_each(|p| p[0] += 0.6);
            let middle = (pose1.translation - origin).to_array();
            (0..3).for_each(|k| start[500][k] = middle[k] as f32 - base[500][k]);
            let run = |instructions: Instructions, obstacle: &Obstacle| {
                let (mut before, mut points) = (random_points(7, n, 0.05), start.clone());
                let (mut marks, mut normals) = (vec![0u8; n], vec![[0.0; 3]; n]);
                let mut clearances = Clearances::default();
                clearances.begin_frame(n, 2.0, [obstacle.only].into_iter());
                clearances.vertices_moved(instructions, &before, &points);
                collide(
                    instructions,
                    (0, obstacle),
                    origin,
                    1e-3,
                    &mut clearances,
                    &base,
                    &mut before,
                    &velocities,
                    &mut points,
                    &mut marks,
                    &mut normals,
                );
                let looked_at = clearances.looked_at();
                (before, points, marks, normals, looked_at)
            };
            let [plain, best] = BOTH().map(|instructions| run(instructions, &obstacle));
            assert_eq!(plain, best, "{shape:?} {material:?}");
            let touched = plain.2.iter().filter(|m| **m != 0).count();
            assert!(touched > n / 20 && touched < n, "{shape:?}: {touched}");
            assert!(plain.1.as_flattened().iter().all(|c| c.is_finite()));
            // With a list the same happens to what is on it, and nothing to all else.
            for every in [2, 3, 40, 1] {
                let on_list = |v: usize| v.is_multiple_of(every) && (every == 1 || v % 7 < 5);
                let listed = Listed::new(n, on_list);
                let obstacle = Obstacle { only: Some(&listed), ..obstacle };
                let [plain_listed, best_listed] = BOTH().map(|instructions| run(instructions, &obstacle));
                assert_eq!(plain_listed, best_listed, "{shape:?} {material:?}");
                let (before, points, marks, normals, looked_at) = plain_listed;
                let untouched = random_points(7, n, 0.05);
                for v in 0..n {
                    let now = (before[v], points[v], marks[v], normals[v]);
                    let alone = if on_list(v) {
                        (plain.0[v], plain.1[v], plain.2[v], plain.3[v])
                    } else {
                        (untouched[v], start[v], 0, [0.0; 3])
                    };
                    assert_eq!(now, alone, "{shape:?} {material:?}, every {every}: vertex {v}");
                }
                let eights = (0..n).step_by(8).filter(|e| (*e..n.min(e + 8)).any(on_list)).count();
                assert_eq!(looked_at, (eights, eights), "every {every}");
                assert_eq!(eights < n / 16, every == 40);
            }
        }
    }
}

#[test]
fn vertices_far_from_a_collider_are_skipped_without_any_difference() {
    let n = 997;
    let shapes = [Primitive::Sphere { radius: 0.3 }, Primitive::Plane { normal: DVec3::Y }];
    let material = ContactMaterial { friction: 0.3, restitution: 0.2, tangential_keep: None };
    // Neighbours are near each other, as in a packed cloth.
    let base: Vec<Point> =
        (0..n).map(|i| [(i / 31) as f32 * 0.05 - 0.8, 0.31, (i % 31) as f32 * 0.05 - 0.8, 0.0]).collect();
    let run = |skips: bool, only: Option<&Listed>| {
        let lists = [only; 2];
        let (mut points, mut marks) = (vec![[0.0, 0.0, 0.0, 1.0]; n], vec![0u8; n]);
        let mut normals = vec![[0.0; 3]; n];
        let mut clearances = Clearances::default();
        clearances.begin_frame(n, 2.0, lists.into_iter());
        let (mut all_marks, mut first_skipped) = (Vec::new(), None);
        for step in 0..60 {
            if !skips {
                clearances.begin_frame(n, 2.0, lists.into_iter());
            }
            let mut before = points.clone();
            // It falls, drifts and turns about; the sphere comes towards it and turns for a while.
            for (i, p) in points.iter_mut().enumerate() {
                p[1] -= 0.012;
                p[0] += 0.002 * (step as f32 * 0.3 + i as f32 * 0.01).sin();
            }
            clearances.vertices_moved(Instructions::detect(), &before, &points);
            marks.fill(0);
            for (k, shape) in shapes.iter().enumerate() {
                let lift = |s: f64| if k == 0 { 0.005 * s } else { -0.5 };
                let turn = |s: f64| rotation(DVec3::new(0.0, 0.0, if k == 0 && step > 40 { s } else { 0.0 }));
                let pose = |s: f64| Pose { rotation: turn(s), translation: DVec3::new(0.0, lift(s), 0.0) };
                let (pose0, pose1) = (pose(f64::from(step)), pose(f64::from(step) + 1.0));
                let obstacle = Obstacle { shape, pose0, pose1, material, skin: 0.01, rest_speed: 0.02, only };
                let velocities = vec![[0.0, -1.2, 0.0, 0.0]; n];
                collide(
                    Instructions::detect(),
                    (k, &obstacle),
                    DVec3::ZERO,
                    1e-2,
                    &mut clearances,
                    &base,
                    &mut before,
                    &velocities,
                    &mut points,
                    &mut marks,
                    &mut normals,
                );
            }
            first_skipped = first_skipped.or(Some(clearances.far()));
            all_marks.push(marks.clone());
        }
        (points, all_marks, first_skipped)
    };
    let (fast, plain) = (run(true, None), run(false, None));
    assert!(fast.2 > Some(n / 8), "{:?} eights were far", fast.2);
    assert!(plain.1.iter().flatten().any(|m| *m != 0));
    assert_eq!((&fast.0, &fast.1), (&plain.0, &plain.1));
    // Nor does a list of all of them make one.
    let all = run(true, Some(&Listed::new(n, |_| true)));
    assert_eq!((all.0, all.1), (fast.0, fast.1));
    // What is on a list of some is skipped just as well.
    let some = Listed::new(n, |v| v % 31 < 20);
    let (fast, plain) = (run(true, Some(&some)), run(false, Some(&some)));
    assert!(plain.1.iter().flatten().any(|m| *m != 0));
    assert_eq!((fast.0, fast.1), (plain.0, plain.1));
}
