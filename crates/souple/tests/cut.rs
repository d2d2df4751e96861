//! Scissors: a cut right across separates, a shorter one opens a slit; what a cut body keeps; ropes, supports, replays.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::DVec3;
use proptest::prelude::*;
use souple::mesh::cut::{Blade, Torn, cut};
use souple::mesh::{Spring, SpringFamily, Topology, TriMesh, mesh_edges, neighbours};
use souple::scene::*;
use souple::{Command, ModelBuilder, Simulation};

/// A body with its positions and velocities.
#[derive(Clone, Debug, PartialEq)]
struct Sheet {
    topology: Arc<Topology>,
    x: Vec<DVec3>,
    v: Vec<DVec3>,
}

impl Sheet {
    fn new(shape: Shape, layout: Layout) -> Sheet {
        let scene = Scene { bodies: vec![body(shape, layout)], ..Scene::default() };
        let topology = Arc::clone(&ModelBuilder::new(&scene).build().unwrap().bodies[0].topology);
        let x = topology.rest_positions.clone();
        let v = (0..x.len()).map(|p| DVec3::new(p as f64, 1.0, -2.0)).collect();
        Sheet { topology, x, v }
    }

    /// Cuts once, checks what must hold after any cut, and gives what happened.
    fn cut(&mut self, blade: &Blade, pinned: &dyn Fn(u32) -> bool) -> Option<Torn> {
        let before = self.clone();
        let torn = cut(&mut self.topology, &mut self.x, &mut self.v, pinned, blade);
        match &torn {
            Some(torn) => check_step(&before, self, torn),
            None => assert!(Arc::ptr_eq(&before.topology, &self.topology) && before == *self),
        }
        torn
    }
}

fn body(shape: Shape, layout: Layout) -> Body {
    let family = |k: f64| Family { stiffness: Some(k), damping: Some(1e-3 * k), ..Family::default() };
    Body {
        name: "sheet".into(),
        shape,
        density: Some(0.3),
        springs: Springs { layout, stretch: family(100.0), shear: family(30.0), bend: family(2.0) },
        ..Body::default()
    }
}

fn grid(vertices: [u32; 2], diagonals: Diagonals) -> Shape {
    let size = vertices.map(|n| f64::from(n - 1));
    Shape::Grid(Grid { size, vertices, diagonals, ..Grid::default() })
}

/// The blade of a drag in the plane y = 0, seen from above.
fn drag(from: [f64; 2], to: [f64; 2]) -> Blade {
    let at = |[x, z]: [f64; 2]| DVec3::new(x, 0.0, z);
    Blade::new(DVec3::new(3.3, 50.0, 2.1), at(from), at(to)).unwrap()
}

fn free(_: u32) -> bool {
    false
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}

/// For each particle, the lowest index it is joined to over the mesh.
fn component_of(topology: &Topology) -> Vec<u32> {
    let table = neighbours(topology.len(), &mesh_edges(&topology.triangles, &topology.segments));
    let mut label = vec![u32::MAX; topology.len()];
    for start in 0..topology.len() as u32 {
        let mut open = vec![start];
        while let Some(p) = open.pop() {
            if label[p as usize] == u32::MAX {
                label[p as usize] = start;
                open.extend(table.row(p as usize));
            }
        }
    }
    label
}

fn component_count(topology: &Topology) -> usize {
    let mut labels = component_of(topology);
    labels.sort_unstable();
    labels.dedup();
    labels.len()
}

/// Mass, area, stiffness, derived data; at most two triangles per edge, one fan per vertex; springs only within the parts
/// that the mesh joins.
fn check_step(before: &Sheet, after: &Sheet, torn: &Torn) {
    let (old, new) = (&*before.topology, &*after.topology);
    assert!(torn.changed_topology() && torn.released.is_empty());
    assert_eq!(new.len(), old.len() + torn.vertices_split());
    assert_eq!((after.x.len(), after.v.len(), new.version), (new.len(), new.len(), old.version + 1));
    for (copy, &from) in (old.len()..).zip(&torn.copied_from) {
        assert_eq!((after.x[copy], after.v[copy]), (after.x[from as usize], after.v[from as usize]));
    }
    assert_eq!((&after.x[..old.len()], &after.v[..old.len()]), (&before.x[..], &before.v[..]));
    assert_eq!(new.rest_areas, old.rest_areas);
    assert!(close(new.masses.iter().sum(), old.masses.iter().sum()));
    assert!(new.masses.iter().all(|&m| m > 0.0));
    let mut rebuilt = new.clone();
    rebuilt.rebuild_derived();
    assert_eq!(*new, rebuilt, "everything derived is up to date");
    check_surface(new);
    let label = component_of(new);
    // Springs that are kept have all their stiffness; each joins particles that the mesh joins too.
    let mut origin: Vec<u32> = (0..old.len() as u32).collect();
    torn.copied_from.iter().for_each(|&from| origin.push(origin[from as usize]));
    let key = |s: &Spring| {
        let (i, j) = (origin[s.i as usize], origin[s.j as usize]);
        (i.min(j), i.max(j), s.family)
    };
    let sums = |t: &Topology| {
        let mut sums: BTreeMap<(u32, u32, SpringFamily), f64> = BTreeMap::new();
        t.springs.iter().for_each(|s| *sums.entry(key(s)).or_default() += s.stiffness);
        sums
    };
    let whole = sums(old);
    for (key, stiffness) in sums(new) {
        assert!(close(stiffness, whole[&key]), "{key:?}");
    }
    for s in new.springs.iter().filter(|s| s.hops > 0) {
        assert_eq!(label[s.i as usize], label[s.j as usize], "{s:?} joins parts that the cut separated");
    }
}

fn check_surface(topology: &Topology) {
    let mut sides = BTreeMap::new();
    for t in &topology.triangles {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            *sides.entry((a.min(b), a.max(b))).or_insert(0) += 1;
        }
    }
    assert!(sides.values().all(|&count| count <= 2), "an edge has more than two triangles");
    for vertex in 0..topology.len() as u32 {
        let mut left: Vec<[u32; 3]> =
            topology.triangles.iter().copied().filter(|t| t.contains(&vertex)).collect();
        let Some(first) = left.pop() else { continue };
        let mut fan = vec![first];
        while let Some(t) = fan.pop() {
            let touches = |u: &[u32; 3]| u.iter().any(|w| *w != vertex && t.contains(w));
            fan.extend(left.iter().copied().filter(touches));
            left.retain(|u| !touches(u));
        }
        assert!(left.is_empty(), "vertex {vertex} joins two fans");
    }
}

/// No part reaches further than `reach` to both sides of the vertical plane through two points; parts lie on both.
fn check_sides(sheet: &Sheet, from: [f64; 2], to: [f64; 2], reach: f64) {
    let (a, along) = (DVec3::new(from[0], 0.0, from[1]), DVec3::new(to[0] - from[0], 0.0, to[1] - from[1]));
    let normal = along.cross(DVec3::Y).normalize();
    let mut ranges: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (label, x) in component_of(&sheet.topology).into_iter().zip(&sheet.x) {
        let height = (*x - a).dot(normal);
        let range = ranges.entry(label).or_insert((f64::INFINITY, f64::NEG_INFINITY));
        *range = (range.0.min(height), range.1.max(height));
    }
    assert!(ranges.values().all(|&(low, high)| low > -reach || high < reach), "{from:?} {to:?}: {ranges:?}");
    assert!(ranges.values().any(|&(low, _)| low < -reach) && ranges.values().any(|&(_, high)| high > reach));
}

#[test]
fn a_drag_across_a_grid_separates_it_in_one_go() {
    // Straight between rows and columns, along them, along diagonals, slanted, through corners of cells.
    let drags = [
        ([-1.0, 2.5], [8.0, 2.5]),
        ([3.5, -1.0], [3.5, 6.0]),
        ([3.5, 6.0], [3.5, -1.0]),
        ([-1.0, 2.0], [8.0, 2.0]),
        ([3.0, -1.0], [3.0, 6.0]),
        ([-1.0, -1.0], [6.0, 6.0]),
        ([6.0, -1.0], [-1.0, 6.0]),
        ([-1.0, 1.2], [8.0, 4.1]),
        ([1.3, -2.0], [5.9, 7.0]),
        ([-0.5, 0.7], [3.0, 6.0]),
        ([-2.0, 3.4], [9.0, 2.2]),
    ];
    for diagonals in [Diagonals::Regular, Diagonals::Alternating] {
        for layout in [Layout::Structural, Layout::Graph(2), Layout::Graph(3), Layout::Radius(2.1)] {
            let whole = Sheet::new(grid([8, 6], diagonals), layout);
            for (from, to) in drags {
                let mut sheet = whole.clone();
                let torn = sheet.cut(&drag(from, to), &free).unwrap();
                assert_eq!(component_count(&sheet.topology), 2, "{diagonals:?} {layout:?} {from:?} {to:?}");
                check_sides(&sheet, from, to, 1.0);
                assert!(torn.springs_cut > 0);
                assert_eq!(sheet.cut(&drag(from, to), &free), None, "the same cut again finds nothing");
                // Across: four pieces.
                let (middle, way) =
                    ([(from[0] + to[0]) / 2.0, (from[1] + to[1]) / 2.0], [to[0] - from[0], to[1] - from[1]]);
                let (p, q) = (
                    [middle[0] - 2.0 * way[1], middle[1] + 2.0 * way[0]],
                    [middle[0] + 2.0 * way[1], middle[1] - 2.0 * way[0]],
                );
                sheet.cut(&drag(p, q), &free).unwrap();
                check_sides(&sheet, p, q, 1.0);
            }
        }
    }
}

#[test]
fn a_cut_between_two_rows_is_straight() {
    let mut sheet = Sheet::new(grid([12, 9], Diagonals::Alternating), Layout::Structural);
    let torn = sheet.cut(&drag([-1.0, 4.5], [13.0, 4.5]), &free).unwrap();
    assert_eq!(torn.vertices_split(), 12);
    let rows: Vec<f64> = torn.copied_from.iter().map(|&p| sheet.x[p as usize].z).collect();
    assert!(rows.iter().all(|z| *z == rows[0]), "{rows:?}");
    // Springs along the crack are shared: half of each on each lip.
    let lips: Vec<f64> = (sheet.topology.springs.iter())
        .filter(|s| s.hops == 1 && s.family == SpringFamily::Stretch)
        .filter(|s| [s.i, s.j].iter().all(|&p| sheet.x[p as usize].z == rows[0]))
        .map(|s| s.stiffness)
        .collect();
    assert_eq!(lips.len(), 2 * 11);
    assert!(lips.iter().all(|k| close(*k, 50.0)), "{lips:?}");
}

#[test]
fn a_drag_that_ends_inside_opens_a_slit_of_its_length() {
    for diagonals in [Diagonals::Regular, Diagonals::Alternating] {
        let mut sheet = Sheet::new(grid([11, 11], diagonals), Layout::Structural);
        let torn = sheet.cut(&drag([-1.0, 5.2], [6.2, 5.2]), &free).unwrap();
        assert_eq!(component_count(&sheet.topology), 1);
        let reach = torn.copied_from.iter().map(|&p| sheet.x[p as usize].x).fold(0.0, f64::max);
        // The tip itself stays whole.
        assert!((5.0..=7.0).contains(&reach), "{reach}");
        // Inside, from end to end: a hole.
        let mut sheet = Sheet::new(grid([11, 11], diagonals), Layout::Structural);
        let torn = sheet.cut(&drag([2.5, 3.0], [7.5, 6.5]), &free).unwrap();
        let t = &sheet.topology;
        assert_eq!(
            t.len() as i64 - t.edges.len() as i64 + t.triangles.len() as i64,
            0,
            "a disc with one hole"
        );
        for &p in &torn.copied_from {
            assert!(
                (1.5..=8.5).contains(&sheet.x[p as usize].x) && (2.0..=7.5).contains(&sheet.x[p as usize].z)
            );
        }
        // Going on from there to both borders separates it.
        sheet.cut(&drag([-1.0, 0.55], [2.6, 3.07]), &free).unwrap();
        sheet.cut(&drag([7.4, 6.43], [12.5, 10.0]), &free).unwrap();
        assert_eq!(component_count(&sheet.topology), 2, "{diagonals:?}");
    }
}

#[test]
fn a_drag_in_pieces_separates_too() {
    let mut sheet = Sheet::new(grid([21, 21], Diagonals::Alternating), Layout::Structural);
    // A wave from border to border, in pieces a few edges long.
    let at = |k: u32| {
        let x = -1.0 + 2.75 * f64::from(k);
        [x, 10.0 + 4.0 * souple::math::sin(0.4 * x)]
    };
    for k in 0..8 {
        sheet.cut(&drag(at(k), at(k + 1)), &free);
    }
    let mut sizes = BTreeMap::new();
    component_of(&sheet.topology).into_iter().for_each(|label| *sizes.entry(label).or_insert(0) += 1);
    assert_eq!(sizes.values().filter(|&&size| size > 100).count(), 2, "{sizes:?}");
}

#[test]
fn a_blade_that_misses_does_nothing() {
    let mut sheet = Sheet::new(grid([5, 5], Diagonals::Regular), Layout::Structural);
    assert_eq!(sheet.cut(&drag([-3.0, -2.0], [9.0, -2.0]), &free), None, "beside it");
    assert_eq!(sheet.cut(&drag([5.0, 2.5], [9.0, 2.5]), &free), None, "in its plane, further on");
    let upwards = Blade::new(DVec3::Y, DVec3::new(-9.0, 2.0, 2.5), DVec3::new(9.0, 2.0, 2.5)).unwrap();
    assert_eq!(sheet.cut(&upwards, &free), None, "behind the eye");
    assert_eq!(sheet.cut(&drag([1.4, 1.3], [1.5, 1.4]), &free), None, "within one triangle");
}

#[test]
fn a_cut_goes_through_all_layers_and_the_crest_of_a_fold() {
    // A sheet folded over the line z = 3: the blade meets both halves.
    let mut sheet = Sheet::new(grid([5, 7], Diagonals::Regular), Layout::Graph(2));
    for x in &mut sheet.x {
        *x = if x.z > 3.0 { DVec3::new(x.x, -0.2, 6.0 - x.z) } else { *x };
    }
    let mut both = sheet.clone();
    both.cut(&drag([-9.0, 1.5], [9.0, 1.5]), &free).unwrap();
    assert_eq!(component_count(&both.topology), 3);
    // Only the crest sticks out on the other side of the blade: cut off there, the halves part.
    let mut crest = sheet.clone();
    crest.cut(&drag([-9.0, 2.8], [9.0, 2.8]), &free).unwrap();
    assert_eq!(component_count(&crest.topology), 2);
}

/// An octahedron whose triangles are divided in four twice, on a sphere.
fn sphere() -> InlineMesh {
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    let mut positions: Vec<DVec3> = axes.into_iter().chain(axes.map(|a| -a)).collect();
    let mut triangles: Vec<[u32; 3]> =
        vec![[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];
    for _ in 0..3 {
        let mut next = TriMesh::default();
        for t in triangles {
            let [a, b, c] = t.map(|w| positions[w as usize]);
            let start = next.positions.len() as u32;
            let middle = |p: DVec3, q: DVec3| (p + q).normalize();
            next.positions.extend([a, b, c, middle(a, b), middle(b, c), middle(c, a)]);
            let corners = [[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]];
            next.triangles.extend(corners.map(|t| t.map(|w| w + start)));
        }
        let next = next.welded();
        (positions, triangles) = (next.positions, next.triangles);
    }
    InlineMesh {
        positions: positions.iter().map(|p| p.to_array()).collect(),
        triangles,
        ..InlineMesh::default()
    }
}

#[test]
fn a_closed_surface_is_cut_in_two() {
    for (eye, from, to) in [
        (DVec3::new(0.0, 9.0, 0.0), DVec3::new(-2.0, 0.0, 0.1), DVec3::new(2.0, 0.0, 0.3)),
        (DVec3::new(3.0, 4.0, 5.0), DVec3::new(-2.0, 2.0, 0.5), DVec3::new(2.0, -2.0, 0.3)),
        (DVec3::new(0.0, 9.0, 0.0), DVec3::new(-2.0, 0.0, 0.0), DVec3::new(2.0, 0.0, 0.0)),
    ] {
        let mut ball = Sheet::new(Shape::Mesh(sphere()), Layout::Graph(2));
        let torn = ball.cut(&Blade::new(eye, from, to).unwrap(), &free).unwrap();
        assert!(torn.vertices_split() > 10);
        assert_eq!(component_count(&ball.topology), 2);
    }
}

#[test]
fn a_rope_loses_every_segment_that_the_blade_crosses() {
    let rope = Shape::Rope(Rope { length: 9.0, vertices: 10, direction: [1.0, 0.0, 0.0], ..Rope::default() });
    let straight = Sheet::new(rope, Layout::Structural);
    let mut once = straight.clone();
    let torn = once.cut(&drag([4.5, -1.0], [4.5, 1.0]), &free).unwrap();
    assert_eq!((torn.segments_cut, torn.vertices_split()), (1, 0));
    assert!(!once.topology.segments.contains(&[4, 5]));
    assert_eq!(component_of(&once.topology), [0, 0, 0, 0, 0, 5, 5, 5, 5, 5]);
    // Bent like a hairpin, it is met twice.
    let mut twice = straight.clone();
    twice.x.iter_mut().filter(|x| x.x > 4.5).for_each(|x| *x = DVec3::new(9.0 - x.x, 0.0, 1.0));
    let torn = twice.cut(&drag([2.5, -1.0], [2.5, 2.0]), &free).unwrap();
    assert_eq!(torn.segments_cut, 2);
    assert_eq!(component_count(&twice.topology), 3);
    let mut beside = straight.clone();
    assert_eq!(beside.cut(&drag([4.5, 1.0], [4.5, 3.0]), &free), None);
}

#[test]
fn a_tie_is_cut_if_the_blade_crosses_it() {
    let mut sheet = Sheet::new(grid([5, 5], Diagonals::Regular), Layout::Structural);
    let topology = Arc::make_mut(&mut sheet.topology);
    let tie = |i, j| Spring {
        i,
        j,
        rest_length: 3.0,
        stiffness: 9.0,
        damping: 0.0,
        family: SpringFamily::Bend,
        hops: 0,
    };
    topology.springs.extend([tie(0, 20), tie(15, 24)]);
    topology.rebuild_derived();
    sheet.cut(&drag([-1.0, 1.4], [9.0, 1.4]), &free).unwrap();
    let ties: Vec<(u32, u32)> =
        sheet.topology.springs.iter().filter(|s| s.hops == 0).map(|s| (s.i, s.j)).collect();
    assert_eq!(ties, [(15, 24)]);
}

#[test]
fn both_lips_of_a_cut_support_stay_held() {
    let mut sheet = Sheet::new(grid([5, 5], Diagonals::Regular), Layout::Structural);
    // The first row is held; the cut goes down the middle column.
    let torn = sheet.cut(&drag([2.0, -1.0], [2.0, 6.0]), &|p| p < 5).unwrap();
    assert_eq!(torn.held.len(), 1);
    assert_eq!(torn.copied_from[(torn.held[0] - 25) as usize], 2);
}

/// A shaken grid with random diagonals.
fn random_mesh(columns: u32, rows: u32, shake: &[[f64; 2]], flips: &[bool]) -> InlineMesh {
    let at = |i: u32, j: u32| i * columns + j;
    let positions = (0..rows * columns)
        .map(|p| {
            let (i, j) = (p / columns, p % columns);
            let inside = i > 0 && i + 1 < rows && j > 0 && j + 1 < columns;
            let [dx, dz] = if inside { shake[p as usize] } else { [0.0; 2] };
            [f64::from(j) + dx, 0.0, f64::from(i) + dz]
        })
        .collect();
    let mut triangles = Vec::new();
    for i in 0..rows - 1 {
        for j in 0..columns - 1 {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            let flip = flips[(i * columns + j) as usize];
            triangles.extend(if flip { [[a, b, d], [b, c, d]] } else { [[a, b, c], [a, c, d]] });
        }
    }
    InlineMesh { positions, triangles, ..InlineMesh::default() }
}

#[derive(Clone, Debug)]
struct Case {
    mesh: InlineMesh,
    size: [f64; 2],
    through: [f64; 2],
    angle: f64,
    hops: u32,
}

fn cases() -> impl Strategy<Value = Case> {
    (6..10u32, 6..10u32).prop_flat_map(|(columns, rows)| {
        let n = (columns * rows) as usize;
        (
            prop::collection::vec([-0.3..0.3f64, -0.3..0.3f64], n),
            prop::collection::vec(any::<bool>(), n),
            [0.35..0.65f64, 0.35..0.65f64],
            0.0..std::f64::consts::PI,
            1..3u32,
        )
            .prop_map(move |(shake, flips, through, angle, hops)| Case {
                mesh: random_mesh(columns, rows, &shake, &flips),
                size: [f64::from(columns - 1), f64::from(rows - 1)],
                through,
                angle,
                hops,
            })
    })
}

impl Case {
    /// Both ends of a drag right across.
    fn ends(&self) -> [[f64; 2]; 2] {
        let middle = [self.size[0] * self.through[0], self.size[1] * self.through[1]];
        let way = [30.0 * souple::math::cos(self.angle), 30.0 * souple::math::sin(self.angle)];
        [[middle[0] - way[0], middle[1] - way[1]], [middle[0] + way[0], middle[1] + way[1]]]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_mesh_is_separated_by_any_drag_across(case in cases()) {
        let mut sheet = Sheet::new(Shape::Mesh(case.mesh.clone()), Layout::Graph(case.hops));
        let [from, to] = case.ends();
        let again = sheet.clone().cut(&drag(from, to), &free);
        let torn = sheet.cut(&drag(from, to), &free);
        prop_assert_eq!(&torn, &again);
        prop_assert!(component_count(&sheet.topology) >= 2);
        // The crack goes through vertices no further from the blade than this share of the longest edge.
        check_sides(&sheet, from, to, 1.6 * std::f64::consts::SQRT_2 / 1.8);
    }

    /// Any triangles at all, with repeated corners, more than two on an edge, no area: no vertex lost or weightless.
    #[test]
    fn a_heap_of_triangles_is_cut_without_harm(
        triangles in prop::collection::vec([0..8u32, 0..8u32, 0..8u32], 1..16),
        positions in prop::collection::vec([-2.0..2.0f64, -2.0..2.0f64, -2.0..2.0f64], 8),
        ends in [[-2.0..2.0f64, -2.0..2.0f64, -2.0..2.0f64], [-2.0..2.0f64, -2.0..2.0f64, -2.0..2.0f64]],
    ) {
        let positions: Vec<DVec3> = positions.into_iter().map(DVec3::from).collect();
        let mut topology = Topology {
            masses: vec![0.5; 8],
            parents: (0..8).collect(),
            rest_positions: positions.clone(),
            triangles,
            ..Topology::default()
        };
        topology.rebuild_derived();
        let spring = |i, j| Spring {
            i, j, rest_length: 1.0, stiffness: 3.0, damping: 0.1, family: SpringFamily::Stretch, hops: 1,
        };
        topology.springs = topology.edges.iter().map(|e| spring(e.i, e.j)).collect();
        topology.rebuild_derived();
        let before = topology.clone();
        let mut topology = Arc::new(topology);
        let (mut x, mut v) = (positions, vec![DVec3::ZERO; 8]);
        let Some(blade) = Blade::new(DVec3::new(0.0, 0.0, 9.0), ends[0].into(), ends[1].into()) else { return Ok(()) };
        for _ in 0..2 {
            cut(&mut topology, &mut x, &mut v, &free, &blade);
        }
        prop_assert_eq!(&topology.rest_areas, &before.rest_areas);
        prop_assert!(close(topology.masses.iter().sum(), 4.0));
        prop_assert!(topology.masses.iter().all(|&m| m > 0.0));
        prop_assert_eq!((x.len(), v.len()), (topology.len(), topology.len()));
        prop_assert!(topology.triangles.iter().flatten().all(|&w| (w as usize) < topology.len()));
    }
}

#[test]
fn positions_that_are_not_numbers_do_no_harm() {
    for bad in [f64::NAN, f64::INFINITY, f64::MAX] {
        let mut sheet = Sheet::new(grid([4, 4], Diagonals::Regular), Layout::Structural);
        sheet.x[5].x = bad;
        let Sheet { topology, x, v } = &mut sheet;
        cut(topology, x, v, &free, &drag([-1.0, 1.5], [6.0, 1.5]));
        check_surface(topology);
    }
}

/// A banner that hangs from its upper border, without limits of tearing.
fn banner(solver: SolverKind) -> Scene {
    let mut cloth = body(
        Shape::Grid(Grid { vertices: [15, 13], plane: GridPlane::Xy, ..Grid::default() }),
        Layout::Structural,
    );
    cloth.pins = vec![Pin { name: "top".into(), select: Select::Border(Border::V0), ..Pin::default() }];
    Scene {
        bodies: vec![cloth],
        groups: vec![Group { solver, dt: Some(1e-3), ..Group::default() }],
        ..Scene::default()
    }
}

#[test]
fn a_cut_banner_falls_and_the_rest_hangs() {
    for solver in [SolverKind::ImplicitEulerCg, SolverKind::SymplecticEuler, SolverKind::ImplicitFilter] {
        let scene = banner(solver);
        let run = |threads: usize| {
            let model = ModelBuilder::new(&scene).build().unwrap();
            let mut s = Simulation::new(model).with_threads(threads).unwrap();
            s.start_recording(String::new()).unwrap();
            for step in 0..60 {
                if step == 10 {
                    let [from, to, eye] = [[-1.0, -0.45, 0.0], [2.0, -0.55, 0.0], [0.5, -0.4, 4.0]];
                    s.command(Command::Cut { body: "sheet".into(), from, to, eye }).unwrap();
                    // Down the middle as well, through the support.
                    let [from, to] = [[0.5, 1.0, 0.0], [0.5, -0.2, 0.0]];
                    s.command(Command::Cut { body: "sheet".into(), from, to, eye }).unwrap();
                }
                s.step();
            }
            s
        };
        let mut s = run(1);
        assert!(s.warnings().is_empty(), "{solver:?}: {}", s.warnings()[0]);
        let state = &s.state().bodies[0];
        assert_eq!(component_count(&state.topology), 2);
        assert_eq!(state.topology.version, 2);
        assert_eq!(state.pinned.len(), 16, "the support was split, and both lips are held");
        let labels = component_of(&state.topology);
        let part = |of_top: bool| {
            let chosen = (0..labels.len()).filter(|&p| (labels[p] == 0) == of_top);
            chosen.map(|p| state.x[p].y).fold(f64::INFINITY, f64::min)
        };
        // 50 frames of free fall: 3.4 m.
        assert!(part(true) > -1.2 && part(false) < -3.0, "{solver:?}: {} {}", part(true), part(false));

        assert_eq!(run(3).state_hash(), s.state_hash(), "{solver:?}");
        // The recording plays again to the same hashes.
        let recording = s.finish_recording().unwrap();
        assert_eq!(recording.commands.len(), 2);
        let mut again = Simulation::new(ModelBuilder::new(&scene).build().unwrap());
        again.restore(&recording.snapshot).unwrap();
        let mut commands = recording.commands.iter().peekable();
        for hash in &recording.hashes {
            while let Some(logged) = commands.next_if(|c| c.step == again.state().step) {
                again.command(logged.command.clone()).unwrap();
            }
            again.step();
            assert_eq!(again.state_hash(), *hash);
        }
        // And the cut mesh is part of a snapshot.
        let mut restored = Simulation::new(ModelBuilder::new(&scene).build().unwrap());
        restored.restore(&s.snapshot()).unwrap();
        assert_eq!(restored.state(), s.state());
    }
}

#[test]
fn cuts_are_checked_at_the_door() {
    let mut s = Simulation::new(ModelBuilder::new(&banner(SolverKind::ImplicitEulerCg)).build().unwrap());
    let cut = |body: &str, from: Vec3, to: Vec3, eye: Vec3| Command::Cut { body: body.into(), from, to, eye };
    let eye = [0.0, 0.0, 3.0];
    for (command, reason) in [
        (cut("nobody", [0.0; 3], [1.0, 0.0, 0.0], eye), "no body"),
        (cut("sheet", [f64::NAN; 3], [1.0, 0.0, 0.0], eye), "not finite"),
        (cut("sheet", [0.0; 3], [1e10, 0.0, 0.0], eye), "beyond"),
        (cut("sheet", [0.0; 3], [0.0; 3], eye), "no width"),
        (cut("sheet", [0.0; 3], [0.0, 0.0, 1.0], eye), "no width"),
        (cut("sheet", eye, [1.0, 0.0, 0.0], eye), "no width"),
    ] {
        let error = s.command(command.clone()).unwrap_err().to_string();
        assert!(error.contains(reason), "{command:?}: {error}");
    }
}

/// Elements, followers and matched shapes know their particles by number: those cannot be doubled.
#[test]
fn solids_followers_and_matched_shapes_are_not_cut() {
    let ball = Shape::Ball(Ball { radius: 0.5, subdivisions: 1 });
    let soft =
        Body { density: Some(100.0), young_modulus: Some(1e4), poisson_ratio: Some(0.3), ..Body::default() };
    let bodies = [
        Body { shape: Shape::Block(Block { cells: [2; 3], ..Block::default() }), ..soft.clone() },
        Body { shape: ball.clone(), embed: Some(Embed { cell: 0.5, ..Embed::default() }), ..soft },
        Body { shape: ball.clone(), rigid: true, density: Some(100.0), ..Body::default() },
        Body {
            shape: ball,
            shape_matching: Some(ShapeMatching::default()),
            density: Some(1.0),
            ..Body::default()
        },
    ];
    for body in bodies {
        let scene = Scene { bodies: vec![Body { name: "sheet".into(), ..body }], ..Scene::default() };
        let mut s = Simulation::new(ModelBuilder::new(&scene).build().unwrap());
        let (from, to, eye) = ([-2.0, 0.1, 0.0], [2.0, 0.1, 0.0], [0.0, 0.0, 3.0]);
        let error = s.command(Command::Cut { body: "sheet".into(), from, to, eye }).unwrap_err().to_string();
        assert!(error.contains("cannot be cut"), "{error}");
    }
}
