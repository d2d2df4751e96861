//! Tests of weights that nobody painted.

use glam::DVec3;
use proptest::prelude::*;

use super::generate::{Limb, limb};
use super::weights::{BoneLines, Diffusion, automatic, bone_lines, starts, weights};
use super::*;
use crate::math;
use crate::mesh::TriMesh;
use crate::mesh::voxel_distance::{Above, InsideCells, Search, plain_distances};
use crate::parallel::Parallel;
use crate::scene::{Rig, SkinWeights, WeightMethod, WeightedVertices};

const ALL: [WeightMethod; 4] = [
    WeightMethod::InverseDistance,
    WeightMethod::NormalTest,
    WeightMethod::Heat,
    WeightMethod::VoxelGeodesic,
];

fn how(method: WeightMethod, resolution: u32) -> SkinWeights {
    SkinWeights { method, resolution, vertices: WeightedVertices::All, ..SkinWeights::default() }
}

/// A closed surface around the cells of a grid that are filled: shapes with parts beside each other.
fn blocks(size: [usize; 3], cell: f64, filled: impl Fn([usize; 3]) -> bool) -> TriMesh {
    let inside = |at: [isize; 3]| {
        let place = at.map(|c| usize::try_from(c).unwrap_or(usize::MAX));
        (0..3).all(|k| place[k] < size[k]) && filled(place)
    };
    let mut mesh = TriMesh::default();
    let corner = |mesh: &mut TriMesh, p: [isize; 3]| {
        mesh.positions.push(DVec3::from(p.map(|c| c as f64 * cell)));
        mesh.positions.len() as u32 - 1
    };
    let size = size.map(|n| n as isize);
    for k in 0..size[2] {
        for j in 0..size[1] {
            for i in 0..size[0] {
                let at = [i, j, k];
                if !inside(at) {
                    continue;
                }
                for axis in 0..3 {
                    for up in [0, 1] {
                        let mut beyond = at;
                        beyond[axis] += 2 * up - 1;
                        if inside(beyond) {
                            continue;
                        }
                        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                        let point = |du: isize, dv: isize| {
                            let mut p = at;
                            p[axis] += up;
                            p[u] += du;
                            p[v] += dv;
                            p
                        };
                        let [a, b, c, d] = [point(0, 0), point(1, 0), point(1, 1), point(0, 1)]
                            .map(|p| corner(&mut mesh, p));
                        mesh.triangles.extend(match up {
                            1 => [[a, b, c], [a, c, d]],
                            _ => [[a, c, b], [a, d, c]],
                        });
                    }
                }
            }
        }
    }
    mesh.welded()
}

/// A body with an arm that hangs beside it, joined at the shoulder; the gap between is 1 wide.
///
/// Bones: 0 in the body, from the hip to the neck; 1 the shoulder, across; 2 the arm, down.
fn body_with_arm() -> (TriMesh, Vec<BoneLines>) {
    let mesh = blocks([11, 24, 4], 0.1, |[i, j, _]| i < 7 || (i >= 8 && j >= 4) || j >= 20);
    let p = |x: f64, y: f64| DVec3::new(x, y, 0.2);
    let line = |bone: u32, a: DVec3, b: DVec3| BoneLines { bone, lines: vec![[a, b]] };
    let bones = vec![
        line(0, p(0.35, 0.2), p(0.35, 2.2)),
        line(1, p(0.35, 2.2), p(0.95, 2.2)),
        line(2, p(0.95, 2.2), p(0.95, 0.5)),
    ];
    (mesh, bones)
}

fn weight(list: &[Influence], bone: u32) -> f64 {
    list.iter().find(|(b, _)| *b == bone).map_or(0.0, |(_, weight)| *weight)
}

#[test]
fn buckets_find_what_a_heap_finds_and_a_limit_changes_nothing_below_it() {
    let (mesh, bones) = body_with_arm();
    let cells = InsideCells::new(&mesh, 60).unwrap();
    let from: Vec<_> = bones.iter().map(|bone| cells.starts(&bone.lines)).collect();
    let (mut search, mut least) = (Search::default(), Search::default());
    cells.search(&from.concat(), None, &mut least);
    assert_eq!(least.distances, plain_distances(&cells, &from.concat()));
    for from in &from {
        cells.search(from, None, &mut search);
        let plain = plain_distances(&cells, from);
        assert_eq!(search.distances, plain);
        let limit = Above { least: &least.distances, slack: 4.0 };
        cells.search(from, Some(limit), &mut search);
        let mut found = 0;
        for ((d, plain), least) in search.distances.iter().zip(&plain).zip(&least.distances) {
            let expected = if *plain <= least + 4.0 { *plain } else { f32::INFINITY };
            assert_eq!(*d, expected);
            found += usize::from(d.is_finite());
        }
        assert!(found > 0 && found < cells.len(), "{found} of {}", cells.len());
    }
}

#[test]
fn ways_are_as_long_as_the_line_through_their_cells() {
    // A bar of 40 × 10 × 10, started at its end; then one bent around a slit.
    let bar = blocks([40, 10, 10], 1.0, |_| true);
    let cells = InsideCells::new(&bar, 40).unwrap();
    let end = [DVec3::new(0.5, 5.0, 5.0), DVec3::new(0.5, 5.0, 5.0)];
    let mut search = Search::default();
    cells.search(&cells.starts(&[end]), None, &mut search);
    for x in [3.5, 20.5, 39.5] {
        let d = search.distances[cells.around(DVec3::new(x, 4.9, 4.9)).unwrap() as usize];
        // Its own place is between four middles, 0.5 √2 from each.
        let straight = (f64::from(d) - (x - 0.5)).abs();
        assert!(straight < 0.75, "{x}: {d}");
    }
    let bent = blocks([9, 20, 4], 1.0, |[i, j, _]| i != 4 || j == 19);
    let cells = InsideCells::new(&bent, 60).unwrap();
    let foot = [DVec3::new(2.0, 0.5, 2.0); 2];
    cells.search(&cells.starts(&[foot]), None, &mut search);
    let d = f64::from(search.distances[cells.around(DVec3::new(7.0, 0.5, 2.0)).unwrap() as usize]);
    // In cells of a third: up one side, across, down the other, at least 2 × 18; straight it is 5. Diagonals cut corners, and the grid adds a little.
    assert!(d > 3.0 * 36.0 && d < 3.0 * 42.0, "{d}");
}

#[test]
fn weights_are_shares_whatever_the_method() {
    let (mesh, bones) = body_with_arm();
    for method in ALL {
        for influences in [1, 2, 4] {
            let how = SkinWeights { influences, ..how(method, 48) };
            let found = weights(&mesh, &bones, &how, &Parallel::default()).unwrap();
            assert_eq!(found.len(), mesh.positions.len());
            for list in &found {
                assert!(!list.is_empty() && list.len() <= influences as usize, "{method:?} {list:?}");
                let sum: f64 = list.iter().map(|(_, w)| w).sum();
                assert!(
                    (sum - 1.0).abs() < 1e-12 && list.iter().all(|(_, w)| *w > 0.0),
                    "{method:?} {list:?}"
                );
                assert!(list.windows(2).all(|pair| pair[0].1 >= pair[1].1), "heaviest first");
            }
        }
    }
}

/// What inverse distance gets wrong (ROH-19): the inner side of an arm that hangs beside the body is pulled by the body.
#[test]
fn an_arm_beside_the_body_is_not_pulled_by_it() {
    let (mesh, bones) = body_with_arm();
    let parallel = Parallel::default();
    let found = |method| weights(&mesh, &bones, &how(method, 96), &parallel).unwrap();
    let (inverse, geodesic) = (found(WeightMethod::InverseDistance), found(WeightMethod::VoxelGeodesic));
    let mut worst = [0.0f64; 2];
    for (v, p) in mesh.positions.iter().enumerate() {
        // The arm below the shoulder.
        if p.x > 0.75 && p.y < 1.4 {
            worst[0] = worst[0].max(weight(&inverse[v], 0));
            worst[1] = worst[1].max(weight(&geodesic[v], 0));
            assert!(weight(&geodesic[v], 2) > 0.95, "{p} {:?}", geodesic[v]);
        }
        // The side of the body under the arm.
        if p.x > 0.65 && p.x < 0.75 && p.y < 1.0 {
            assert!(weight(&geodesic[v], 0) > 0.95, "{p} {:?}", geodesic[v]);
        }
    }
    assert!(worst[0] > 0.05 && worst[1] < 0.005, "{worst:?}");
    // Heat sees through the inside only, and gets this right, too.
    let heat = found(WeightMethod::Heat);
    for (p, list) in mesh.positions.iter().zip(&heat).filter(|(p, _)| p.x > 0.75 && p.y < 1.4) {
        assert!(weight(list, 0) < 0.02, "{p} {list:?}");
    }
}

#[test]
fn mirrored_shapes_get_mirrored_weights() {
    // A trunk with two arms, whose halves are cut into triangles alike.
    let mut mesh = blocks([16, 12, 4], 0.1, |[i, j, _]| (5..11).contains(&i) || (7..11).contains(&j));
    mesh.triangles.retain(|t| t.iter().map(|v| mesh.positions[*v as usize].x).sum::<f64>() < 3.0 * 0.8);
    let count = mesh.positions.len() as u32;
    for v in 0..count as usize {
        let p = mesh.positions[v];
        // Those in the middle stay one.
        let x = if (p.x - 0.8).abs() < 1e-9 { p.x } else { 1.6 - p.x };
        mesh.positions.push(DVec3::new(x, p.y, p.z));
    }
    let other: Vec<[u32; 3]> = mesh.triangles.iter().map(|&[a, b, c]| [a, c, b].map(|v| v + count)).collect();
    mesh.triangles.extend(other);
    let mut mesh = mesh.welded();
    let kept: std::collections::BTreeSet<u32> = mesh.triangles.iter().flatten().copied().collect();
    let number = |v: u32| kept.iter().position(|k| *k == v).unwrap() as u32;
    mesh = TriMesh {
        positions: kept.iter().map(|v| mesh.positions[*v as usize]).collect(),
        triangles: mesh.triangles.iter().map(|t| t.map(number)).collect(),
        uvs: Vec::new(),
    };
    assert_eq!(crate::mesh::open_edges(&mesh.triangles), 0);
    let p = |x: f64, y: f64| DVec3::new(x, y, 0.2);
    let line = |bone: u32, a: DVec3, b: DVec3| BoneLines { bone, lines: vec![[a, b]] };
    let bones = [
        line(0, p(0.8, 0.1), p(0.8, 0.9)),
        line(1, p(0.8, 0.9), p(0.1, 0.9)),
        line(2, p(0.8, 0.9), p(1.5, 0.9)),
    ];
    for method in ALL {
        // Even and odd; not such that the surface lies between cells, where it belongs to one of both.
        for resolution in [33, 62] {
            let found = weights(&mesh, &bones, &how(method, resolution), &Parallel::default()).unwrap();
            for (v, p) in mesh.positions.iter().enumerate() {
                let other = DVec3::new(1.6 - p.x, p.y, p.z);
                let w = mesh.positions.iter().position(|q| q.distance(other) < 1e-9).unwrap();
                for (bone, mirrored) in [(0, 0), (1, 2), (2, 1)] {
                    let difference = weight(&found[v], bone) - weight(&found[w], mirrored);
                    // Solves end at 1e-7.
                    assert!(difference.abs() < 1e-5, "{method:?} {resolution} {p}: {difference}");
                }
            }
        }
    }
}

/// On a round bar with two bones in its axis d is its radius r: ω = ½ e^(−x/(s r)) beyond the joint.
#[test]
fn heat_on_a_bar_falls_off_as_it_must() {
    let (radius, length, sides, rings) = (0.1, 2.0, 24u32, 200u32);
    let bar = limb(&Limb { length, radii: [radius; 2], sides, rings, cap_rings: 0, bones: 2 });
    let mesh = CompiledRig::new(&bar).unwrap().meshes[0].mesh.clone();
    let line = |bone: u32, a: f64, b: f64| BoneLines { bone, lines: vec![[DVec3::Y * a, DVec3::Y * b]] };
    let bones = [line(0, 0.0, 1.0), line(1, 1.0, 2.0)];
    for (smoothing, method) in
        [(1.0, WeightMethod::Heat), (0.5, WeightMethod::Heat), (1.0, WeightMethod::VoxelGeodesic)]
    {
        let how = SkinWeights { smoothing, ..how(method, 200) };
        let found = weights(&mesh, &bones, &how, &Parallel::default()).unwrap();
        for (p, list) in mesh.positions.iter().zip(&found).filter(|(p, _)| p.y > 1.05 && p.y < 1.4) {
            let expected = 0.5 * math::exp(-(p.y - 1.0) / (smoothing * radius));
            let found = weight(list, 0);
            // Rings are 0.1 radii apart: their second difference is off by (0.1/s)²/12, 0.3 % at most. Ways through cells are up to half a cell too
            // short (0.05 r), as only cells inside are read, and up to 13 % too long across the grid: so is the length over which weights fall, so that
            // their logarithm is off by as much. Some 1e-4 are dropped or not solved for.
            let error = if method == WeightMethod::Heat { 0.005 } else { 0.18 };
            let fall = 1.0 + (p.y - 1.0) / (smoothing * radius);
            assert!(
                (found / expected - 1.0).abs() < error * fall + 2e-4 / expected,
                "{method:?} s {smoothing}, {p}: {found} {expected}"
            );
        }
        // Half a bone's length from its ends nothing else is left.
        let middle = mesh.positions.iter().zip(&found).filter(|(p, _)| (p.y - 0.5).abs() < 0.05);
        middle.for_each(|(_, list)| assert!(weight(list, 0) > 0.99, "{list:?}"));
    }
}

/// The matrix is symmetric, its rows sum to what is taken, and what is constant stays.
#[test]
fn heat_keeps_what_is_constant() {
    let (mesh, _) = body_with_arm();
    let distances: Vec<f64> = mesh.positions.iter().map(|p| 0.1 + p.x).collect();
    let diffusion = Diffusion::new(&mesh, &distances, 1.0);
    let factor = diffusion.factor(&mesh).unwrap();
    let mut ones = vec![1.0; mesh.positions.len()];
    diffusion.solve(&factor, &mut ones, &mut Vec::new());
    assert!(ones.iter().all(|w| (w - 1.0).abs() < 1e-12));
    // Of random shares nothing leaves their range; by a factor and by rounds it is the same.
    let random: Vec<f64> = (0..ones.len() as u64).map(|v| math::uniform(1, v)).collect();
    let (mut direct, mut rounds) = (random.clone(), random);
    diffusion.solve(&factor, &mut direct, &mut Vec::new());
    diffusion.solve_by_rounds(&mut rounds, &mut Default::default());
    assert!(direct.iter().all(|w| (0.0..=1.0).contains(w)));
    assert!(direct.iter().zip(&rounds).all(|(a, b)| (a - b).abs() <= 1.001e-7));
}

#[test]
fn threads_change_no_bit() {
    let (mesh, bones) = body_with_arm();
    for method in ALL {
        let found =
            |threads| weights(&mesh, &bones, &how(method, 64), &Parallel::new(threads).unwrap()).unwrap();
        let bits = |found: Vec<Vec<Influence>>| -> Vec<(u32, u64)> {
            found.into_iter().flatten().map(|(bone, w)| (bone, w.to_bits())).collect()
        };
        let one = bits(found(1));
        [2, 3, 8]
            .into_iter()
            .for_each(|threads| assert_eq!(one, bits(found(threads)), "{method:?} {threads}"));
    }
}

fn elbow() -> Rig {
    limb(&Limb { length: 2.0, radii: [0.2, 0.1], sides: 12, rings: 20, cap_rings: 3, bones: 3 })
}

#[test]
fn a_rig_gets_weights_where_it_has_none_or_everywhere() {
    let parallel = Parallel::default();
    let mut bare = elbow();
    let rig = elbow();
    let mesh = &mut bare.meshes[0];
    (mesh.influences, mesh.joints, mesh.weights) = (0, Vec::new(), Vec::new());
    let compiled = CompiledRig::new(&bare).unwrap();
    assert_eq!(compiled.repairs.unweighted_vertices, compiled.meshes[0].mesh.positions.len());
    // Without being asked: a mesh without any.
    let found = automatic(&bare, &compiled, None, &parallel).unwrap().unwrap();
    assert_eq!(CompiledRig::new(&found).unwrap().repairs, RigRepairs::default());
    assert_eq!(automatic(&rig, &CompiledRig::new(&rig).unwrap(), None, &parallel).unwrap(), None);
    // One vertex without any: that one, and only if it is asked for.
    let mut holed = rig.clone();
    holed.meshes[0].weights[40..42].fill(0.0);
    let compiled = CompiledRig::new(&holed).unwrap();
    assert_eq!(automatic(&holed, &compiled, None, &parallel).unwrap(), None);
    let mended = automatic(&holed, &compiled, Some(&SkinWeights::default()), &parallel).unwrap().unwrap();
    let (mended, before) = (CompiledRig::new(&mended).unwrap(), CompiledRig::new(&rig).unwrap());
    for v in 0..before.meshes[0].mesh.positions.len() {
        let same = mended.meshes[0].influences(v) == before.meshes[0].influences(v);
        assert_eq!(same, v != 20, "{v}");
    }
    let all = SkinWeights { vertices: WeightedVertices::All, ..SkinWeights::default() };
    assert!(automatic(&rig, &CompiledRig::new(&rig).unwrap(), Some(&all), &parallel).unwrap().is_some());
}

#[test]
fn bones_are_lines_to_what_they_carry() {
    let rig = elbow();
    let compiled = CompiledRig::new(&rig).unwrap();
    let y = |y: f64| DVec3::Y * y;
    let lines = bone_lines(&rig, &compiled, 0, &[]);
    assert_eq!(
        lines.iter().map(|b| b.lines.clone()).collect::<Vec<_>>(),
        [
            vec![[y(0.0), y(1.0)]],
            vec![[y(1.0), y(2.0)]],
            // Goes on as far again.
            vec![[y(2.0), y(3.0)]],
        ]
    );
    let some = bone_lines(&rig, &compiled, 0, &["bone1".into()]);
    assert_eq!(some.iter().map(|b| b.bone).collect::<Vec<_>>(), [0, 2]);
    let mut tailed = rig.clone();
    tailed.skins[0].tails = vec![[0.0, 0.5, 0.0], [0.0, 1.5, 0.0], [0.0, 2.1, 0.0]];
    let lines = bone_lines(&tailed, &compiled, 0, &[]);
    assert_eq!(lines[2].lines, [[y(2.0), y(2.1)]]);
    // A bone that is scaled to nothing where the skin was bound is nowhere.
    let mut flat = rig.clone();
    flat.skins[0].inverse_binds[1] = [0.0; 12];
    let compiled = CompiledRig::new(&flat).unwrap();
    assert_eq!(bone_lines(&flat, &compiled, 0, &[]).iter().map(|b| b.bone).collect::<Vec<_>>(), [0, 2]);
    flat.skins[0].inverse_binds.fill([0.0; 12]);
    let all = SkinWeights { vertices: WeightedVertices::All, ..SkinWeights::default() };
    let compiled = CompiledRig::new(&flat).unwrap();
    assert_eq!(automatic(&flat, &compiled, Some(&all), &Parallel::default()), Err(WeightError::NoBones(0)));
}

#[test]
fn open_and_thin_and_odd_surfaces_are_stood() {
    let bar = limb(&Limb { length: 2.0, radii: [0.2; 2], sides: 16, rings: 20, cap_rings: 0, bones: 2 });
    let closed = CompiledRig::new(&bar).unwrap().meshes[0].mesh.clone();
    let line = |bone: u32, a: f64, b: f64| BoneLines { bone, lines: vec![[DVec3::Y * a, DVec3::Y * b]] };
    let bones = [line(0, 0.0, 1.0), line(1, 1.0, 2.0)];
    // Without its ends: closed for the time, so that the weights are nearly those of the closed one.
    let ends = closed.positions.len() as u32 - 2;
    let mut open = closed.clone();
    open.triangles.retain(|t| t.iter().all(|v| *v < ends));
    let sheet = TriMesh {
        positions: (0..21)
            .flat_map(|k| [-0.1, 0.1].map(|x| DVec3::new(x, f64::from(k) / 10.0, 0.3)))
            .collect(),
        triangles: (0..20)
            .flat_map(|k| [[2 * k, 2 * k + 1, 2 * k + 3], [2 * k, 2 * k + 3, 2 * k + 2]])
            .collect(),
        uvs: Vec::new(),
    };
    let mut odd = closed.clone();
    // A vertex of no triangle, a triangle without area, two of three corners at one place.
    odd.positions.push(DVec3::new(0.5, 1.9, 0.0));
    odd.triangles.extend([[0, 1, 1], [0, 16, 32], [3, 3, 3]]);
    let point = TriMesh { positions: vec![DVec3::Y], triangles: Vec::new(), uvs: Vec::new() };
    for method in ALL {
        let find = |mesh: &TriMesh| weights(mesh, &bones, &how(method, 64), &Parallel::default()).unwrap();
        let (whole, cut) = (find(&closed), find(&open));
        for (v, (a, b)) in whole.iter().zip(&cut).enumerate().take(ends as usize) {
            let p = closed.positions[v];
            // The normals of the rim are others, which fades within some radii.
            if p.y > 0.5 && p.y < 1.5 {
                assert!((weight(a, 0) - weight(b, 0)).abs() < 0.02, "{method:?} {p} {a:?} {b:?}");
            }
        }
        for mesh in [&sheet, &odd, &point] {
            for (p, list) in mesh.positions.iter().zip(find(mesh)) {
                let sum: f64 = list.iter().map(|(_, w)| w).sum();
                assert!((sum - 1.0).abs() < 1e-12 && list.iter().all(|(_, w)| w.is_finite()), "{list:?}");
                if p.y > 1.75 {
                    assert!(weight(&list, 1) > 0.5, "{method:?} {p} {list:?}");
                }
            }
        }
    }
    let many = SkinWeights { resolution: 5000, ..SkinWeights::default() };
    assert!(matches!(weights(&closed, &bones, &many, &Parallel::default()), Err(WeightError::Cells(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever bones and surfaces are: no panic, shares.
    #[test]
    fn any_bones_and_triangles_give_shares(
        points in prop::collection::vec(prop::array::uniform3(-2.0f64..2.0), 4..20),
        corners in prop::collection::vec(prop::array::uniform3(0u32..20), 0..20),
        ends in prop::collection::vec((prop::array::uniform3(-3.0f64..3.0), prop::array::uniform3(-3.0f64..3.0)), 1..5),
        smoothing in 0.0f64..3.0,
    ) {
        let count = points.len() as u32;
        let mesh = TriMesh {
            positions: points.into_iter().map(DVec3::from).collect(),
            triangles: corners.into_iter().map(|t| t.map(|v| v % count)).collect(),
            uvs: Vec::new(),
        };
        let bones: Vec<BoneLines> = (0u32..).zip(&ends)
            .map(|(bone, (a, b))| BoneLines { bone, lines: vec![[DVec3::from(*a), DVec3::from(*b)]] })
            .collect();
        for method in ALL {
            let how = SkinWeights { smoothing, ..how(method, 16) };
            for list in weights(&mesh, &bones, &how, &Parallel::default()).unwrap() {
                let sum: f64 = list.iter().map(|(_, w)| w).sum();
                prop_assert!((sum - 1.0).abs() < 1e-12 && list.iter().all(|(b, w)| *w >= 0.0 && (*b as usize) < bones.len()));
            }
            let started = starts(&mesh, &bones, &how, &Parallel::default()).unwrap();
            prop_assert_eq!(started.len(), mesh.positions.len());
        }
    }
}
