//! Tearing (GRI-08, GRI-09): what a torn body keeps, and how cracks start, grow and end.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::DVec3;
use proptest::prelude::*;
use souple::mesh::tear::{TearLimits, TearScratch, Torn, tear};
use souple::mesh::{HopSearch, Spring, SpringFamily, Topology, mesh_edges, neighbours};

const STRETCH_BY_HALF: TearLimits = TearLimits { length_ratio: Some(1.5), length: None, force: None };

/// A body with its positions and velocities.
#[derive(Clone, Debug, PartialEq)]
struct Body {
    topology: Arc<Topology>,
    x: Vec<DVec3>,
    v: Vec<DVec3>,
}

impl Body {
    fn new(rest_positions: Vec<DVec3>, triangles: Vec<[u32; 3]>, segments: Vec<[u32; 2]>) -> Body {
        let n = rest_positions.len();
        let mut topology = Topology {
            masses: (0..n).map(|p| 0.01 + 0.001 * p as f64).collect(),
            parents: (0..n as u32).collect(),
            rest_positions,
            triangles,
            segments,
            ..Topology::default()
        };
        topology.rebuild_derived();
        let x = topology.rest_positions.clone();
        Body { topology: Arc::new(topology), x, v: vec![DVec3::ZERO; n] }
    }

    fn join(&mut self, i: u32, j: u32, family: SpringFamily) {
        let topology = Arc::make_mut(&mut self.topology);
        let hops = hops_between(topology, i, j, 6).unwrap_or(0);
        let rest_length = topology.rest_positions[i as usize].distance(topology.rest_positions[j as usize]);
        let (stiffness, damping) = (100.0 + i as f64, 0.5);
        topology.springs.push(Spring { i, j, rest_length, stiffness, damping, family, hops });
        topology.rebuild_derived();
    }

    fn spring_mut(&mut self, i: u32, j: u32) -> &mut Spring {
        Arc::make_mut(&mut self.topology).springs.iter_mut().find(|s| (s.i, s.j) == (i, j)).unwrap()
    }

    /// Tears once, checks everything that must hold after any tear, and gives what happened.
    fn tear(&mut self, limits: &TearLimits, pinned: &dyn Fn(u32) -> bool) -> Option<Torn> {
        let before = self.clone();
        let torn =
            tear(&mut self.topology, &mut self.x, &mut self.v, pinned, limits, &mut TearScratch::default());
        match &torn {
            Some(torn) => check_step(&before, self, torn),
            None => assert!(Arc::ptr_eq(&before.topology, &self.topology) && before == *self),
        }
        torn
    }
}

/// A grid in the plane z = 0, one metre between neighbours, rows downwards, with the springs of a cloth: both
/// diagonals of each cell as shear, every second particle as bend.
fn grid(columns: u32, rows: u32) -> Body {
    let at = |c: u32, r: u32| r * columns + c;
    let mut triangles = Vec::new();
    for r in 0..rows - 1 {
        for c in 0..columns - 1 {
            triangles.push([at(c, r), at(c, r + 1), at(c + 1, r + 1)]);
            triangles.push([at(c, r), at(c + 1, r + 1), at(c + 1, r)]);
        }
    }
    let positions =
        (0..rows * columns).map(|p| DVec3::new((p % columns) as f64, -((p / columns) as f64), 0.0));
    let mut body = Body::new(positions.collect(), triangles, Vec::new());
    let steps = [
        (1, 0, SpringFamily::Stretch),
        (0, 1, SpringFamily::Stretch),
        (1, 1, SpringFamily::Shear),
        (-1, 1, SpringFamily::Shear),
        (2, 0, SpringFamily::Bend),
        (0, 2, SpringFamily::Bend),
    ];
    for r in 0..rows {
        for c in 0..columns {
            for (right, down, family) in steps {
                let (to, below) = (c as i32 + right, r + down);
                if (0..columns as i32).contains(&to) && below < rows {
                    body.join(at(c, r), at(to as u32, below), family);
                }
            }
        }
    }
    body
}

/// A rope of `count` particles, one metre apart, with a stretch spring per segment and bend springs over two.
fn rope(count: u32) -> Body {
    let positions = (0..count).map(|p| DVec3::new(p as f64, 0.0, 0.0)).collect();
    let mut body = Body::new(positions, Vec::new(), (1..count).map(|p| [p - 1, p]).collect());
    (1..count).for_each(|p| body.join(p - 1, p, SpringFamily::Stretch));
    (2..count).for_each(|p| body.join(p - 2, p, SpringFamily::Bend));
    body
}

/// Adds springs that skip two particles, as the graph-distance layout makes them.
fn with_long_springs(mut body: Body, columns: u32, rows: u32) -> Body {
    for r in 0..rows.saturating_sub(1) {
        for c in 0..columns.saturating_sub(3) {
            let from = r * columns + c;
            body.join(from, from + columns + 3, SpringFamily::Bend);
            body.join(from + columns, from + 3, SpringFamily::Shear);
        }
    }
    body
}

fn hops_between(topology: &Topology, i: u32, j: u32, limit: u8) -> Option<u8> {
    let table = neighbours(topology.len(), &mesh_edges(&topology.triangles, &topology.segments));
    let mut search = HopSearch::default();
    search.within(&table, i, limit);
    search.hops(j)
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

/// Number of triangles in each component, ascending.
fn component_sizes(topology: &Topology) -> Vec<usize> {
    let label = component_of(topology);
    let mut sizes = BTreeMap::new();
    for t in &topology.triangles {
        *sizes.entry(label[t[0] as usize]).or_insert(0) += 1;
    }
    let mut sizes: Vec<usize> = sizes.into_values().collect();
    sizes.sort_unstable();
    sizes
}

/// How many fans of triangles that share edges meet at a vertex.
fn fan_count(topology: &Topology, vertex: u32) -> usize {
    let mut left: Vec<[u32; 3]> =
        topology.triangles.iter().copied().filter(|t| t.contains(&vertex)).collect();
    let mut count = 0;
    while let Some(first) = left.pop() {
        count += 1;
        let mut fan = vec![first];
        while let Some(t) = fan.pop() {
            let touches = |u: &[u32; 3]| u.iter().any(|w| *w != vertex && t.contains(w));
            fan.extend(left.iter().copied().filter(touches));
            left.retain(|u| !touches(u));
        }
    }
    count
}

/// Vertices − edges + triangles: 1 for a disc, 0 for a disc with one hole.
fn euler(topology: &Topology) -> i64 {
    topology.len() as i64 - topology.edges.len() as i64 + topology.triangles.len() as i64
}

fn elastic_energy(body: &Body) -> f64 {
    let energy = |s: &Spring| {
        let stretch = body.x[s.i as usize].distance(body.x[s.j as usize]) - s.rest_length;
        0.5 * s.stiffness * stretch * stretch
    };
    body.topology.springs.iter().map(energy).sum()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}

/// What must hold after any tear of a manifold body.
fn check_step(before: &Body, after: &Body, torn: &Torn) {
    let (old, new) = (&*before.topology, &*after.topology);
    let (m, n) = (old.len(), new.len());
    assert_eq!(n, m + torn.vertices_split());
    for len in [new.rest_positions.len(), new.parents.len(), after.x.len(), after.v.len()] {
        assert_eq!(len, n);
    }
    assert_eq!(new.version, old.version + u64::from(torn.changed_topology()));
    let mut rebuilt = new.clone();
    rebuilt.rebuild_derived();
    assert_eq!(*new, rebuilt, "everything derived is up to date");

    let mut origin: Vec<usize> = (0..m).collect();
    for (copy, &from) in (m..).zip(&torn.copied_from) {
        let from = from as usize;
        assert!(from < copy);
        origin.push(origin[from]);
        assert_eq!((after.x[copy], after.v[copy]), (after.x[from], after.v[from]));
        assert_eq!(new.rest_positions[copy], new.rest_positions[from]);
        assert_eq!(new.parents[copy], new.parents[from]);
    }
    assert_eq!((&after.x[..m], &after.v[..m]), (&before.x[..], &before.v[..]));
    check_surface(new);
    assert_eq!(new.rest_areas, old.rest_areas);
    let as_before: Vec<[usize; 3]> = new.triangles.iter().map(|t| t.map(|w| origin[w as usize])).collect();
    assert_eq!(as_before, old.triangles.iter().map(|t| t.map(|w| w as usize)).collect::<Vec<_>>());

    let mut masses = vec![0.0; m];
    for p in 0..n {
        assert!(new.masses[p] > 0.0);
        masses[origin[p]] += new.masses[p];
    }
    assert!((0..m).all(|p| close(masses[p], old.masses[p])));
    check_springs(old, new, &origin, torn);
    assert!(elastic_energy(after) <= elastic_energy(before) * (1.0 + 1e-12), "a tear adds no energy");
}

/// Indices in range, at most two triangles per edge, one fan per vertex.
fn check_surface(topology: &Topology) {
    let mut sides = BTreeMap::new();
    for t in &topology.triangles {
        assert!(t.iter().all(|&w| (w as usize) < topology.len()));
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            *sides.entry((a.min(b), a.max(b))).or_insert(0) += 1;
        }
    }
    assert!(sides.values().all(|&count| count <= 2));
    if !topology.triangles.is_empty() {
        (0..topology.len() as u32).for_each(|p| assert_eq!(fan_count(topology, p), 1, "vertex {p}"));
    }
}

/// A spring survives exactly if copies of its ends are still as near on the mesh, and then with all its stiffness.
fn check_springs(old: &Topology, new: &Topology, origin: &[usize], torn: &Torn) {
    let key = |s: &Spring| {
        let (a, b) = (origin[s.i as usize], origin[s.j as usize]);
        (a.min(b), a.max(b), s.family)
    };
    let mut kept: BTreeMap<_, (f64, f64)> = BTreeMap::new();
    let mut pairs = BTreeMap::new();
    for s in &new.springs {
        assert!(s.i != s.j && (s.i as usize) < new.len() && (s.j as usize) < new.len());
        assert!(s.rest_length > 0.0 && s.stiffness > 0.0);
        assert_eq!(pairs.insert((s.i.min(s.j), s.i.max(s.j), s.family), ()), None, "no spring twice");
        assert!(s.hops == 0 || hops_between(new, s.i, s.j, s.hops).is_some());
        let sum = kept.entry(key(s)).or_default();
        *sum = (sum.0 + s.stiffness, sum.1 + s.damping);
    }
    let mut cut = 0;
    for s in &old.springs {
        let family = |p: u32| (0..new.len() as u32).filter(move |&c| origin[c as usize] == p as usize);
        match kept.remove(&key(s)) {
            Some((stiffness, damping)) => assert!(close(stiffness, s.stiffness) && close(damping, s.damping)),
            None => {
                cut += 1;
                let joined = |i, j| hops_between(new, i, j, s.hops).is_some();
                assert!(s.hops == 0 || !family(s.i).any(|i| family(s.j).any(|j| joined(i, j))));
            }
        }
    }
    assert!(kept.is_empty(), "no spring comes from nowhere");
    assert_eq!(cut, torn.springs_cut);
}

fn free(_: u32) -> bool {
    false
}

#[test]
fn nothing_tears_below_the_limits() {
    let mut body = grid(4, 4);
    body.x.iter_mut().for_each(|p| *p *= 1.4999);
    assert_eq!(body.tear(&STRETCH_BY_HALF, &free), None);
    assert_eq!(body.tear(&TearLimits::default(), &free), None);
}

#[test]
fn bend_springs_are_not_judged() {
    let mut body = grid(5, 5);
    body.spring_mut(10, 12).rest_length = 0.1;
    assert_eq!(body.tear(&STRETCH_BY_HALF, &free), None);
}

#[test]
fn one_overloaded_edge_opens_one_hole() {
    let mut body = grid(6, 6);
    body.spring_mut(14, 15).rest_length = 0.5;
    let mass: f64 = body.topology.masses.iter().sum();
    let area: f64 = body.topology.rest_areas.iter().sum();
    assert_eq!(euler(&body.topology), 1);
    let torn = body.tear(&STRETCH_BY_HALF, &free).unwrap();
    assert_eq!(torn.copied_from.len(), 1);
    assert!(torn.springs_cut > 0);
    assert_eq!((torn.released, torn.held, torn.segments_cut), (vec![], vec![], 0));
    assert_eq!(euler(&body.topology), 0, "a disc with one hole");
    assert_eq!(component_sizes(&body.topology), [50]);
    assert!(close(body.topology.masses.iter().sum(), mass));
    assert!(close(body.topology.rest_areas.iter().sum(), area));
    // The crack is one of a vertex between two tips: the edges along it are doubled, each with half the stiffness.
    let split = torn.copied_from[0];
    let doubled: Vec<&Spring> = (body.topology.springs.iter())
        .filter(|s| s.hops == 1 && (s.i == 36 || s.j == 36))
        .filter(|s| {
            let tip = s.i + s.j - 36;
            hops_between(&body.topology, split, tip, 1).is_some()
        })
        .collect();
    assert_eq!(doubled.len(), 2);
    let whole = |s: &Spring| 100.0 + body.topology.parents[s.i as usize] as f64;
    assert!(doubled.iter().all(|s| close(s.stiffness, whole(s) / 2.0)));
    assert!(close(body.topology.masses[36], body.topology.masses[split as usize]), "three triangles each");
    // No spring goes from one lip around a tip to the other side, though the way is short enough.
    let across = |p: u32| body.topology.rest_positions[p as usize].x - body.topology.rest_positions[36].x;
    let side = across(29 - split).signum();
    for s in &body.topology.springs {
        for (end, other) in [(s.i, s.j), (s.j, s.i)] {
            assert!(end != 36 || across(other) * side >= 0.0, "{s:?}");
            assert!(end != split || across(other) * side <= 0.0, "{s:?}");
        }
    }
    assert_eq!(
        body.tear(&STRETCH_BY_HALF, &free),
        None,
        "the lip is free to follow, so the spring waits for it"
    );
}

#[test]
fn an_overload_everywhere_starts_one_crack_and_then_grows_it() {
    let mut body = grid(9, 9);
    body.x.iter_mut().for_each(|p| p.y *= 2.0);
    body.spring_mut(40, 49).rest_length = 0.9;
    let first = body.tear(&STRETCH_BY_HALF, &free).unwrap();
    assert!(first.copied_from == [40] || first.copied_from == [49], "starts at the worst spring only");
    let lips = [first.copied_from[0], 81];
    let is_tip = |p: &u32| lips.iter().all(|&lip| hops_between(&body.topology, *p, lip, 1) == Some(1));
    let tips: Vec<u32> = (0..81).filter(is_tip).collect();
    assert_eq!(tips.len(), 2);
    let mut second = body.tear(&STRETCH_BY_HALF, &free).unwrap().copied_from;
    second.sort_unstable();
    assert_eq!(second, tips, "grows at both its tips and nowhere else");
}

/// Rows from `cut` on are held and pulled down by `gap`; whatever hangs only on them follows.
fn pull_apart(columns: u32, rows: u32, cut: u32) -> (Body, Vec<Torn>) {
    let mut body = grid(columns, rows);
    let held = |p: u32| p < columns * rows && p / columns >= cut;
    let row_of = |t: &[u32; 3], body: &Body| {
        t.iter().map(|&w| -body.topology.rest_positions[w as usize].y as u32).max().unwrap()
    };
    let mut steps = Vec::new();
    loop {
        let mut hangs_on_top = vec![false; body.x.len()];
        for t in &body.topology.triangles {
            if row_of(t, &body) < cut {
                t.iter().for_each(|&w| hangs_on_top[w as usize] = true);
            }
        }
        for p in 0..body.x.len() {
            let gap = if hangs_on_top[p] { 0.0 } else { 3.0 };
            body.x[p] = body.topology.rest_positions[p] - DVec3::Y * gap;
        }
        match body.tear(&STRETCH_BY_HALF, &held) {
            Some(torn) => steps.push(torn),
            None => return (body, steps),
        }
        assert!(steps.len() < 200);
    }
}

#[test]
fn pulled_apart_it_ends_in_two_halves() {
    let (body, steps) = pull_apart(7, 8, 4);
    assert!(steps.len() > 1, "the crack grows step by step");
    assert!(steps.iter().all(|torn| torn.released.is_empty()));
    assert_eq!(component_sizes(&body.topology), [36, 48]);
    let side = component_of(&body.topology);
    assert!(body.topology.springs.iter().all(|s| side[s.i as usize] == side[s.j as usize]));
    assert_eq!(body.topology.len(), 7 * 8 + 7, "each vertex of the row is there twice");
    assert_eq!(euler(&body.topology), 2, "two discs");
    for parent in 0..56 {
        let copies = body.topology.parents.iter().filter(|&&p| p == parent).count();
        assert_eq!(copies, if parent / 7 == 3 { 2 } else { 1 });
    }
}

#[test]
fn a_pin_that_cannot_tear_the_surface_lets_go() {
    let mut body = grid(2, 2);
    body.x[0] += DVec3::new(-3.0, 3.0, 0.0);
    let torn = body.tear(&STRETCH_BY_HALF, &|p| p == 0).unwrap();
    assert_eq!(torn, Torn { released: vec![0], ..Torn::default() });
    assert!(!torn.changed_topology());
    assert_eq!(body.tear(&STRETCH_BY_HALF, &free), None, "nothing left to tear");
}

#[test]
fn a_pin_holds_while_the_surface_follows_it() {
    let mut body = grid(2, 2);
    body.x[0] += DVec3::new(-3.0, 3.0, 0.0);
    body.v[1..].fill(DVec3::new(-1.0, 1.0, 0.0));
    assert_eq!(body.tear(&STRETCH_BY_HALF, &|p| p == 0), None);
}

#[test]
fn a_corner_pin_of_a_large_cloth_tears_the_surface_and_stays() {
    let mut body = grid(6, 6);
    body.x[0] += DVec3::new(-1.0, 1.0, 0.0);
    let torn = body.tear(&STRETCH_BY_HALF, &|p| p == 0).unwrap();
    assert!(torn.released.is_empty());
    assert!(!torn.copied_from.is_empty() && !torn.copied_from.contains(&0));
}

#[test]
fn a_crack_through_a_pin_leaves_both_lips_in_it() {
    // The spring to the right of vertex 4 opens the edge up to the pinned vertex 1 on the border.
    let mut body = grid(3, 4);
    body.spring_mut(4, 5).rest_length = 0.5;
    let held = |p: u32| p == 1 || p == 5;
    let torn = body.tear(&STRETCH_BY_HALF, &held).unwrap();
    assert_eq!(torn.copied_from, [4, 1]);
    assert_eq!(torn.held, [13]);
}

#[test]
fn a_split_pinned_vertex_frees_the_side_that_pulls() {
    let mut body = grid(5, 5);
    body.spring_mut(12, 13).rest_length = 0.5;
    let torn = body.tear(&STRETCH_BY_HALF, &|p| p == 12 || p == 13).unwrap();
    let split = torn.copied_from[0];
    let other = 25 - split;
    assert!(torn.held.is_empty());
    assert!(hops_between(&body.topology, 25, other, 1).is_some(), "the copy goes with the other end");
    assert!(hops_between(&body.topology, split, other, 1).is_none());
}

#[test]
fn a_rope_breaks_in_two() {
    let mut body = rope(8);
    body.x.iter_mut().skip(5).for_each(|p| p.x += 1.0);
    let torn = body.tear(&STRETCH_BY_HALF, &free).unwrap();
    assert_eq!((torn.segments_cut, torn.springs_cut, torn.vertices_split()), (1, 3, 0));
    assert!(!body.topology.segments.contains(&[4, 5]));
    assert_eq!(component_of(&body.topology), [0, 0, 0, 0, 0, 5, 5, 5]);
    assert_eq!(body.tear(&STRETCH_BY_HALF, &free), None);
}

#[test]
fn a_rope_with_long_springs_breaks_at_its_longest_segment() {
    let mut body = rope(6);
    let topology = Arc::make_mut(&mut body.topology);
    topology.springs.retain(|s| s.hops == 2);
    topology.springs.iter_mut().for_each(|s| s.family = SpringFamily::Stretch);
    topology.rebuild_derived();
    body.x.iter_mut().skip(3).for_each(|p| p.x += 1.5);
    let torn = body.tear(&STRETCH_BY_HALF, &free).unwrap();
    assert_eq!((torn.segments_cut, torn.springs_cut), (1, 2));
    assert!(!body.topology.segments.contains(&[2, 3]));
}

#[test]
fn a_tie_breaks_by_itself_and_goes_with_its_side() {
    // Two sheets side by side; a tie that no mesh edge replaces joins them.
    let two_sheets = || {
        let left = grid(5, 5);
        let mut positions = left.x.clone();
        positions.extend(left.x.iter().map(|p| *p + DVec3::X * 10.0));
        let shifted = left.topology.triangles.iter().map(|t| t.map(|w| w + 25));
        let triangles = left.topology.triangles.iter().copied().chain(shifted).collect();
        let mut body = Body::new(positions, triangles, Vec::new());
        body.join(12, 37, SpringFamily::Stretch);
        body.join(12, 13, SpringFamily::Stretch);
        body
    };
    let mut overloaded = two_sheets();
    overloaded.x[25..].iter_mut().for_each(|p| p.x += 10.0);
    let torn = overloaded.tear(&STRETCH_BY_HALF, &free).unwrap();
    assert_eq!((torn.springs_cut, torn.vertices_split()), (1, 0));

    let mut moved = two_sheets();
    moved.spring_mut(12, 13).rest_length = 0.5;
    let torn = moved.tear(&STRETCH_BY_HALF, &free).unwrap();
    assert_eq!(torn.copied_from, [12]);
    let tie = moved.topology.springs.iter().find(|s| s.hops == 0).unwrap();
    assert_eq!((tie.i, tie.j), (50, 37), "the copy is on the right, where the tie pulls");
}

#[test]
fn positions_that_are_not_numbers_do_no_harm() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
        let mut body = grid(4, 4);
        body.x[5].x = bad;
        let (mut x, mut v) = (body.x.clone(), body.v.clone());
        tear(&mut body.topology, &mut x, &mut v, &free, &STRETCH_BY_HALF, &mut TearScratch::default());
        check_surface(&body.topology);
    }
}

#[test]
fn used_scratch_changes_nothing() {
    let mut scratch = TearScratch::default();
    let mut other = grid(8, 3);
    other.x.iter_mut().for_each(|p| p.x *= 3.0);
    tear(&mut other.topology, &mut other.x, &mut other.v, &free, &STRETCH_BY_HALF, &mut scratch);
    let (mut fresh, mut used) = (grid(5, 5), grid(5, 5));
    for body in [&mut fresh, &mut used] {
        body.x.iter_mut().for_each(|p| p.y *= 2.0);
    }
    let expected = fresh.tear(&STRETCH_BY_HALF, &free);
    let torn = tear(&mut used.topology, &mut used.x, &mut used.v, &free, &STRETCH_BY_HALF, &mut scratch);
    assert_eq!((torn, used), (expected, fresh));
}

#[derive(Clone, Debug)]
struct Case {
    columns: u32,
    rows: u32,
    shake: Vec<[f64; 3]>,
    pins: Vec<bool>,
    long_springs: bool,
    limits: TearLimits,
}

fn cases() -> impl Strategy<Value = Case> {
    let limits =
        (1.05..2.0f64, 1.5..3.0f64, 1.0..200.0f64, 1..8u8).prop_map(|(ratio, length, force, which)| {
            let pick = |bit: u8, value: f64| (which & bit != 0).then_some(value);
            TearLimits { length_ratio: pick(1, ratio), length: pick(2, length), force: pick(4, force) }
        });
    (2..7u32, 2..7u32).prop_flat_map(move |(columns, rows)| {
        let n = (columns * rows) as usize;
        let shake = prop::collection::vec([-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64], n * 4);
        let pins = prop::collection::vec(prop::bool::weighted(0.2), n);
        (shake, pins, any::<bool>(), limits.clone()).prop_map(move |(shake, pins, long_springs, limits)| {
            Case { columns, rows, shake, pins, long_springs, limits }
        })
    })
}

/// Shakes the particles and tears, again and again; every single tear is checked.
fn shake_and_tear(case: &Case) -> (Body, Vec<Torn>) {
    let mut body = grid(case.columns, case.rows);
    if case.long_springs {
        body = with_long_springs(body, case.columns, case.rows);
    }
    let mut pins = case.pins.clone();
    let mut tears = Vec::new();
    for round in 0..4 {
        for p in 0..body.x.len() {
            let shake = case.shake[(round * case.pins.len() + p) % case.shake.len()];
            body.x[p] = body.topology.rest_positions[p] + DVec3::from(shake);
            body.v[p] = DVec3::new(shake[1], shake[2], shake[0]);
        }
        let Some(torn) = body.tear(&case.limits, &|p| pins[p as usize]) else { continue };
        pins.resize(body.x.len(), false);
        torn.held.iter().for_each(|&p| pins[p as usize] = true);
        torn.released.iter().for_each(|&p| pins[p as usize] = false);
        tears.push(torn);
    }
    (body, tears)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn random_tears_keep_the_body_sound(case in cases()) {
        let start = grid(case.columns, case.rows);
        let (body, tears) = shake_and_tear(&case);
        let total = |masses: &[f64]| masses.iter().sum::<f64>();
        prop_assert!(close(total(&body.topology.masses), total(&start.topology.masses)));
        let changes = tears.iter().filter(|torn| torn.changed_topology()).count() as u64;
        prop_assert_eq!(body.topology.version, changes);
        for torn in &tears {
            prop_assert!(torn.released.windows(2).all(|w| w[0] != w[1]));
        }
    }

    #[test]
    fn the_same_tear_twice_is_the_same(case in cases()) {
        prop_assert_eq!(shake_and_tear(&case), shake_and_tear(&case));
    }

    /// Any triangles at all: repeated corners, more than two on an edge, no area. No vertex gets lost or weightless.
    #[test]
    fn a_heap_of_triangles_tears_without_harm(
        triangles in prop::collection::vec([0..8u32, 0..8u32, 0..8u32], 1..16),
        positions in prop::collection::vec([-2.0..2.0f64, -2.0..2.0f64, 0.0..0.1f64], 8),
        shaken in prop::collection::vec([-4.0..4.0f64, -4.0..4.0f64, -4.0..4.0f64], 8),
    ) {
        let mut body = Body::new(positions.into_iter().map(DVec3::from).collect(), triangles, Vec::new());
        let edges = body.topology.edges.clone();
        edges.iter().for_each(|e| body.join(e.i, e.j, SpringFamily::Stretch));
        body.x = shaken.into_iter().map(DVec3::from).collect();
        let before = body.clone();
        for _ in 0..4 {
            let mut scratch = TearScratch::default();
            let _ = tear(&mut body.topology, &mut body.x, &mut body.v, &free, &STRETCH_BY_HALF, &mut scratch);
        }
        let (old, new) = (&before.topology, &body.topology);
        prop_assert_eq!(&new.rest_areas, &old.rest_areas);
        prop_assert!(close(new.masses.iter().sum(), old.masses.iter().sum()));
        prop_assert!(new.masses.iter().all(|&m| m > 0.0));
        prop_assert!(new.triangles.iter().flatten().all(|&w| (w as usize) < new.len()));
        prop_assert!(new.springs.iter().all(|s| hops_between(new, s.i, s.j, s.hops).is_some()));
        let parents = |topology: &Topology| -> Vec<[u32; 3]> {
            topology.triangles.iter().map(|t| t.map(|w| topology.parents[w as usize])).collect()
        };
        prop_assert_eq!(parents(new), parents(old));
    }
}
