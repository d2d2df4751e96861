//! Near pairs against a loop over all pairs.

use glam::DVec3;

use crate::contact::examine::Separation;
use crate::contact::pairs::{EDGE_SHARE, Pairs, REST_SHARE, Search, Vertices};
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
    Search { rules, skin: SKIN, left: left as u32, ahead: 2.0, slop: 0.2 * SKIN, around: true }
}

/// A name of a contact: sides of edges may be told either way round.
pub(super) fn key(c: &Separation) -> (u8, [u32; 4]) {
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

/// All pairs that were told to be near, and whether they are contacts.
fn all_told(pairs: &Pairs) -> impl Iterator<Item = (&Separation, bool)> {
    pairs.contacts().map(|c| (&c.apart, true)).chain(pairs.others().map(|apart| (apart, false)))
}

/// Finds the contacts of one of the 12 substeps, on this thread.
fn find(pairs: &mut Pairs, surface: &Surface, rest: &[Point], steps: &[Vec<Point>], s: usize) {
    let vertices = Vertices { rest, before: &steps[s], now: &steps[s + 1] };
    let (parallel, instructions) = (Parallel::default(), Instructions::detect());
    pairs.find(&parallel, instructions, surface, &vertices, &search(&rules(), 12 - s));
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
        find(&mut pairs, &surface, &rest, &steps, s);
        let mut told: Vec<(u8, [u32; 4])> = all_told(&pairs).map(|(c, _)| key(c)).collect();
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
        for (c, _) in all_told(&pairs) {
            let start = c.vertices.map(|v| wide(&steps[s][v as usize]));
            let (r, ..) = vector(usize::from(c.first_side) - 1, start);
            assert!((r.length() - f64::from(c.distance)).abs() < 1e-5);
        }
        assert!(pairs.contacts().all(|c| c.weights.iter().sum::<f32>().abs() < 1e-6));
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
            all.push((
                pairs.contacts().copied().collect::<Vec<_>>(),
                pairs.others().copied().collect::<Vec<_>>(),
            ));
        }
        all
    };
    let one = run(&Parallel::default(), Instructions::detect());
    assert!(one[11].0.len() + one[11].1.len() > 50);
    assert_eq!(run(&Parallel::default(), Instructions::Plain), one);
    assert_eq!(run(&Parallel::new(3).unwrap(), Instructions::detect()), one);
}

/// Far corners of the triangles at a side.
fn far_corners(triangles: &[[u32; 3]], [a, b]: [u32; 2]) -> Vec<u32> {
    let at_side = triangles.iter().filter(|t| t.contains(&a) && t.contains(&b));
    at_side.map(|t| *t.iter().find(|v| **v != a && **v != b).unwrap()).collect()
}

/// The distance of an edge from a triangle, m: 0 if it pierces it.
fn triangle_edge(triangle: [DVec3; 3], edge: [DVec3; 2]) -> f64 {
    let [a, b, c] = triangle;
    let normal = (b - a).cross(c - a);
    let [below, above] = edge.map(|end| (end - a).dot(normal));
    let pierced = edge[0].lerp(edge[1], below / (below - above));
    if below * above < 0.0 && proximity::point_triangle(pierced, triangle).vector.length() < 1e-9 {
        return 0.0;
    }
    let sides = [[a, b], [b, c], [c, a]].map(|side| proximity::edge_edge(side, edge).vector.length());
    let ends = edge.map(|end| proximity::point_triangle(end, triangle).vector.length());
    sides.into_iter().chain(ends).fold(f64::INFINITY, f64::min)
}

#[test]
fn only_what_has_nothing_nearer_beside_it_is_nearest() {
    let (rest, triangles, steps) = crumpled();
    let surface = Surface::new(&rest, &triangles);
    let mut pairs = Pairs::default();
    // By kind: those that are nearest, and others.
    let mut counts = [[0; 2]; 2];
    for s in 0..12 {
        find(&mut pairs, &surface, &rest, &steps, s);
        let place = |v: u32| wide(&steps[s][v as usize]);
        for (c, is_nearest) in all_told(&pairs) {
            let distance = f64::from(c.distance);
            // Distances of the triangles beside it, and how far their far corners are.
            let mut beside: Vec<(f64, f64)> = Vec::new();
            let v = c.vertices;
            let weights = vector(usize::from(c.first_side) - 1, v.map(place)).1;
            let point =
                |range: std::ops::Range<usize>| range.map(|k| place(v[k]) * weights[k].abs()).sum::<DVec3>();
            if c.first_side == 1 {
                if weights[1..].iter().any(|w| *w > -1e-4) {
                    let triangle = [v[1], v[2], v[3]].map(place);
                    for n in surface.ring(v[0]).iter().filter(|n| !v.contains(n)) {
                        let near = triangle_edge(triangle, [place(v[0]), place(*n)]);
                        beside.push((near, place(*n).distance(place(v[0]))));
                    }
                    if let Some(k) = (1..4).find(|k| weights[*k] < 1e-4 - 1.0) {
                        for n in surface.ring(v[k]).iter().filter(|n| !v.contains(n)) {
                            let [from, to] = [v[k], *n].map(place);
                            let near = proximity::point_triangle(place(v[0]), [from, to, to]).vector.length();
                            beside.push((near, from.distance(to)));
                        }
                    }
                }
                for k in (0..3).filter(|k| weights[k + 1] > -1e-4) {
                    let (a, b) = (v[(k + 1) % 3 + 1], v[(k + 2) % 3 + 1]);
                    for w in far_corners(&triangles, [a, b]).into_iter().filter(|w| *w != v[k + 1]) {
                        let near = proximity::point_triangle(place(v[0]), [place(a), place(b), place(w)]);
                        beside.push((near.vector.length(), place(w).distance(point(1..4))));
                    }
                }
            } else {
                for (own, other) in [(0, 2), (2, 0)] {
                    let edge = [v[other], v[other + 1]];
                    let end = (0..2).find(|k| weights[own + 1 - k].abs() < 1e-4).map(|k| v[own + k]);
                    let ring = end.map_or(&[][..], |end| surface.ring(end));
                    for n in ring.iter().filter(|n| !v.contains(n)) {
                        let from = place(end.unwrap());
                        let near = proximity::edge_edge([from, place(*n)], edge.map(place)).vector.length();
                        beside.push((near, from.distance(place(*n))));
                    }
                    for w in far_corners(&triangles, [v[own], v[own + 1]]) {
                        if edge.contains(&w) {
                            continue;
                        }
                        let triangle = [place(v[own]), place(v[own + 1]), place(w)];
                        let near = triangle_edge(triangle, edge.map(place));
                        beside.push((near, place(w).distance(point(own..own + 2))));
                    }
                }
            }
            counts[usize::from(c.first_side) - 1][usize::from(!is_nearest)] += 1;
            if is_nearest {
                for (near, far) in beside {
                    // A triangle that rises by one in fifty is as flat as what is beside it.
                    assert!(near > distance - 0.02 * far - 1e-5, "substep {s}: {near} is nearer: {c:?}");
                }
            } else {
                let any = beside.iter().any(|(near, _)| *near < distance);
                // Edges that end at a far corner meet the triangle there.
                let meets = c.first_side == 2
                    && [(0, 2), (2, 0)].into_iter().any(|(own, other)| {
                        let far = far_corners(&triangles, [v[own], v[own + 1]]);
                        far.iter().any(|w| v[other..other + 2].contains(w))
                    });
                assert!(any || meets, "substep {s}: nothing is nearer than {c:?}");
            }
        }
    }
    assert!(counts.iter().flatten().all(|n| *n > 50), "{counts:?}");
}
