//! Near pairs against a loop over all pairs.

use glam::DVec3;

use crate::contact::pairs::{Contact, EDGE_SHARE, Pairs, REST_SHARE, Search, Vertices};
use crate::contact::proximity;
use crate::contact::rules::{Rule, Rules};
use crate::contact::surface::Surface;
use crate::lanes::{Instructions, Point};
use crate::math::uniform;
use crate::mesh::generate;
use crate::parallel::Parallel;
use crate::scene::Grid;

pub(super) const SKIN: f32 = 0.03;

/// A sheet of 14 × 14 vertices, 1 m wide, that is crumpled more and more in 12 substeps.
pub(super) fn crumpled() -> (Vec<Point>, Vec<[u32; 3]>, Vec<Vec<Point>>) {
    let mesh = generate::grid(&Grid { vertices: [14, 14], ..Grid::default() });
    let rest: Vec<Point> =
        mesh.positions.iter().map(|x| [x.x as f32, x.y as f32, x.z as f32, SKIN]).collect();
    let step = |s: usize| {
        let squeeze = 1.0 / (1.0 + 0.4 * s as f32);
        let place = |(i, p): (usize, &Point)| {
            let noise = |k: u64| (uniform(7, 4 * i as u64 + k) - 0.5) as f32;
            let lift = 0.3 * (9.0 * p[0]).sin() + 0.02 * s as f32 * noise(0);
            let [x, z] = [p[0] * squeeze, p[2] * (0.5 + 0.5 * squeeze)];
            [x + 0.01 * s as f32 * noise(1), lift, z + 0.01 * noise(2) * s as f32, 100.0]
        };
        rest.iter().enumerate().map(place).collect()
    };
    let steps = (0..13).map(step).collect();
    (rest, mesh.triangles, steps)
}

pub(super) fn wide(p: &Point) -> DVec3 {
    DVec3::new(p[0].into(), p[1].into(), p[2].into())
}

/// The vector between the closest points of a pair, and whether they are edges that are nearest inside both.
pub(super) fn vector(kind: usize, x: [DVec3; 4]) -> (DVec3, [f64; 4], bool) {
    if kind == 0 {
        let near = proximity::point_triangle(x[0], [x[1], x[2], x[3]]);
        let [a, b, c] = near.weights;
        return (near.vector, [1.0, -a, -b, -c], true);
    }
    let near = proximity::edge_edge([x[0], x[1]], [x[2], x[3]]);
    let (s, t) = (near.first[1], near.second[1]);
    let inside = |s: f64| s > 1e-3 && s < 1.0 - 1e-3;
    (near.vector, [1.0 - s, s, t - 1.0, -t], inside(s) && inside(t))
}

fn rules() -> Rules {
    Rules::new(1, |_, _| Rule { touch: true, skin: SKIN, ..Rule::default() })
}

pub(super) fn search(rules: &Rules, left: usize) -> Search<'_> {
    Search { rules, skin: SKIN, left: left as u32, ahead: 2.0, slop: 0.2 * SKIN }
}

/// A name of a contact: sides of edges may be told either way round.
pub(super) fn key(c: &Contact) -> (u8, [u32; 4]) {
    let mut v = c.vertices;
    if c.first_side == 1 {
        v[1..].sort_unstable();
    } else {
        v[..2].sort_unstable();
        v[2..].sort_unstable();
        if v[..2] > v[2..] {
            v.rotate_left(2);
        }
    }
    (c.first_side - 1, v)
}

#[test]
fn all_that_a_loop_over_all_pairs_finds_is_told() {
    let (rest, triangles, steps) = crumpled();
    let surface = Surface::new(&rest, &triangles);
    let mut edges: Vec<[u32; 2]> = triangles
        .iter()
        .flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    let mut all: Vec<(usize, [u32; 4])> = Vec::new();
    for v in 0..rest.len() as u32 {
        all.extend(triangles.iter().filter(|t| !t.contains(&v)).map(|t| (0, [v, t[0], t[1], t[2]])));
    }
    for (i, &[a, b]) in edges.iter().enumerate() {
        let others = edges[i + 1..].iter().filter(|e| !e.contains(&a) && !e.contains(&b));
        all.extend(others.map(|&[c, d]| (1, [a, b, c, d])));
    }
    let mut pairs = Pairs::default();
    let mut told_in_all = 0;
    for s in 0..12 {
        let vertices = Vertices { rest: &rest, before: &steps[s], now: &steps[s + 1] };
        pairs.find(
            &Parallel::default(),
            Instructions::detect(),
            &surface,
            &vertices,
            &search(&rules(), 12 - s),
        );
        let mut told: Vec<(u8, [u32; 4])> = pairs.contacts().map(key).collect();
        told.sort_unstable();
        assert!(told.windows(2).all(|w| w[0] != w[1]), "a pair is told twice");
        let mut near = 0;
        for &(kind, v) in &all {
            let at = |points: &[Point]| v.map(|v| wide(&points[v as usize]));
            let (start, end) = (at(&steps[s]), at(&steps[s + 1]));
            let (r, weights, proper) = vector(kind, start);
            let at_rest = vector(kind, at(&rest)).0.length();
            let whole = f64::from(if kind == 0 { SKIN } else { EDGE_SHARE * SKIN });
            let skin = whole.min(f64::from(REST_SHARE) * at_rest) - 1e-5;
            let gap: f64 = (0..4).map(|k| weights[k] * end[k].dot(r.normalize())).sum();
            let nearest = (0..=8).map(|i| {
                let t = f64::from(i) / 8.0;
                vector(kind, [0, 1, 2, 3].map(|k| start[k].lerp(end[k], t))).0.length()
            });
            if !proper || gap > skin || nearest.fold(f64::INFINITY, f64::min) > skin {
                continue;
            }
            near += 1;
            let mut v = v;
            if kind == 0 {
                v[1..].sort_unstable();
            }
            assert!(told.binary_search(&(kind as u8, v)).is_ok(), "substep {s}: {kind} {v:?} is not told");
        }
        told_in_all += near;
        for c in pairs.contacts() {
            let start = c.vertices.map(|v| wide(&steps[s][v as usize]));
            let (r, ..) = vector(usize::from(c.first_side) - 1, start);
            assert!((r.length() - f64::from(c.distance)).abs() < 1e-5);
            assert!(c.weights.iter().sum::<f32>().abs() < 1e-6);
        }
    }
    assert!(told_in_all > 500, "{told_in_all}");
}

#[test]
fn the_same_contacts_in_the_same_order_for_all_threads_and_instructions() {
    let (rest, triangles, steps) = crumpled();
    let surface = Surface::new(&rest, &triangles);
    let run = |parallel: &Parallel, instructions: Instructions| {
        let mut pairs = Pairs::default();
        let mut all = Vec::new();
        for s in 0..12 {
            let vertices = Vertices { rest: &rest, before: &steps[s], now: &steps[s + 1] };
            pairs.find(parallel, instructions, &surface, &vertices, &search(&rules(), 12 - s));
            all.push(pairs.contacts().copied().collect::<Vec<_>>());
        }
        all
    };
    let one = run(&Parallel::default(), Instructions::detect());
    assert!(one[11].len() > 50);
    assert_eq!(run(&Parallel::default(), Instructions::Plain), one);
    assert_eq!(run(&Parallel::new(3).unwrap(), Instructions::detect()), one);
}
