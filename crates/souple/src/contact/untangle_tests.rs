//! Crossings against exact ones, pulls against differences, and cloth that must get free.

use glam::DVec3;

use crate::contact::surface::Surface;
use crate::contact::untangle::{Crossing, Pull, Tangle, contour, pierce, unit_normal, wide};
use crate::lanes::{Instructions, Point};
use crate::math::{cos, noise_vector, rotation, sin, uniform};
use crate::measure::intersections;
use crate::parallel::Parallel;

/// Sheets, each vertex as heavy as the others.
#[derive(Clone, Default)]
struct Cloth {
    places: Vec<Point>,
    triangles: Vec<[u32; 3]>,
}

impl Cloth {
    /// Adds a sheet of columns × rows vertices, at `place` of column and row.
    fn with(mut self, columns: u32, rows: u32, place: impl Fn(f64, f64) -> DVec3) -> Cloth {
        let first = self.places.len() as u32;
        for j in 0..rows {
            for i in 0..columns {
                let p = place(i.into(), j.into());
                self.places.push([p.x as f32, p.y as f32, p.z as f32, 1.0]);
            }
        }
        for j in 0..rows - 1 {
            for i in 0..columns - 1 {
                let a = first + j * columns + i;
                let (b, c, d) = (a + 1, a + columns, a + columns + 1);
                let cut = if (i + j) % 2 == 0 { [[a, c, b], [b, c, d]] } else { [[a, c, d], [a, d, b]] };
                self.triangles.extend(cut);
            }
        }
        self
    }

    fn surface(&self) -> Surface {
        Surface::new(&self.places, &self.triangles)
    }

    fn find(&self) -> Tangle {
        self.find_on(&self.surface())
    }

    /// With the patches that another shape has.
    fn find_on(&self, surface: &Surface) -> Tangle {
        let mut tangle = Tangle::default();
        tangle.find(&Parallel::default(), Instructions::detect(), surface, |_, _| true, &self.places);
        tangle
    }

    fn exact(&self) -> Vec<[u32; 2]> {
        let positions: Vec<DVec3> = self.places.iter().map(|p| wide(*p)).collect();
        intersections::crossings(&positions, &self.triangles)
    }

    /// The pairs of triangles that cross because an edge of one pierces the other.
    fn found(&self, tangle: &Tangle) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        for Crossing { ends, corners, .. } in tangle.crossings() {
            let pierced = self.triangles.iter().position(|t| t == corners).unwrap() as u32;
            let at_edge =
                self.triangles.iter().zip(0u32..).filter(|(t, _)| ends.iter().all(|v| t.contains(v)));
            pairs.extend(at_edge.map(|(_, t)| [t.min(pierced), t.max(pierced)]));
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

/// A sheet that is crumpled and squeezed through itself.
fn crumpled(seed: u32) -> Cloth {
    Cloth::default().with(24, 24, |i, j| {
        let p = DVec3::new(0.15 * i, 0.5 * sin(0.7 * i), 0.15 * j);
        p + 1.5 * noise_vector(p, 0.0, seed)
    })
}

/// Triangles anywhere, of random size.
fn soup(seed: u64, n: u64) -> Cloth {
    let mut cloth = Cloth::default();
    for t in 0..n {
        let number = |k: u64| uniform(seed, 16 * t + k) as f32;
        let middle = [number(0), number(1), number(2)];
        let size = number(3);
        for c in 0..3 {
            let at = |k: usize| middle[k] + size * (number(4 + 3 * c + k as u64) - 0.5);
            cloth.places.push([at(0), at(1), at(2), 1.0]);
        }
        let first = 3 * t as u32;
        cloth.triangles.push([first, first + 1, first + 2]);
    }
    cloth
}

#[test]
fn crossings_are_the_exact_ones() {
    for seed in 0..6 {
        for cloth in [soup(seed, 300), crumpled(seed as u32)] {
            let exact = cloth.exact();
            assert!(exact.len() > 50, "{}", exact.len());
            assert_eq!(cloth.found(&cloth.find()), exact, "seed {seed}");
        }
        // Patches of the flat sheet: neighbours that face alike are not looked at.
        let cloth = crumpled(seed as u32);
        let flat = Cloth::default().with(24, 24, |i, j| DVec3::new(i, 0.0, j));
        assert_eq!(cloth.found(&cloth.find_on(&flat.surface())), cloth.exact(), "seed {seed}");
    }
}

#[test]
fn the_same_bits_for_all_threads_and_instructions() {
    // Large enough to be shared among threads.
    let mut cloth = Cloth::default();
    for layer in 0..3 {
        cloth = cloth.with(40, 40, |i, j| {
            let p = DVec3::new(0.1 * i, 0.1 * f64::from(layer), 0.1 * j);
            p + 0.5 * noise_vector(p, f64::from(layer), 5)
        });
    }
    let surface = cloth.surface();
    let run = |parallel: &Parallel, instructions: Instructions| {
        let mut tangle = Tangle::default();
        // A second time, with lists that are full.
        tangle.find(parallel, instructions, &surface, |_, _| true, &cloth.places);
        tangle.find(parallel, instructions, &surface, |_, _| true, &cloth.places);
        let mut moves = vec![[0.0, 0.0, 0.0, 1.0]; cloth.places.len()];
        tangle.spread(1.0, &mut moves);
        (tangle.crossings().to_vec(), tangle.pulls().to_vec(), moves)
    };
    let one = run(&Parallel::default(), Instructions::detect());
    assert!(one.0.len() > 300);
    assert_eq!(run(&Parallel::default(), Instructions::Plain), one);
    for threads in [2, 3] {
        assert_eq!(run(&Parallel::new(threads).unwrap(), Instructions::detect()), one);
    }
}

#[test]
fn what_touches_shares_corners_or_is_no_number_does_not_pierce() {
    let flat = |i: f64, j: f64| DVec3::new(i, 0.0, j);
    // One on the other to the bit; an upright sheet on the same corners, one that hangs on them.
    let sheet = Cloth::default().with(6, 6, flat);
    assert!(sheet.clone().with(6, 6, flat).find().crossings().is_empty());
    assert!(sheet.clone().with(6, 6, |i, j| DVec3::new(i, j, 2.0)).find().crossings().is_empty());
    assert!(sheet.clone().with(6, 6, |i, j| DVec3::new(i, -j, 2.0)).find().crossings().is_empty());
    // Flat in a plane that is no axis's.
    let turn = rotation(DVec3::new(20.0, 30.0, 40.0));
    assert!(Cloth::default().with(30, 30, |i, j| turn * flat(i, j)).find().crossings().is_empty());
    for odd in [f32::NAN, f32::INFINITY, f32::MAX] {
        let mut cloth = sheet.clone().with(6, 6, |i, j| DVec3::new(i, j - 2.6, 2.4));
        let all = cloth.find().crossings().len();
        cloth.places[40][1] = odd;
        let tangle = cloth.find();
        assert!(all > 5 && (odd == f32::MAX || tangle.crossings().len() <= all));
        assert!(tangle.pulls().iter().all(|p| p.direction.iter().all(|x| x.is_finite())));
    }
    assert!(Cloth::default().find().crossings().is_empty());
}

/// An edge right through a common edge, or a common corner, of triangles pierces exactly one of them, so that contours have no gaps.
#[test]
fn nothing_slips_between_triangles() {
    let flat = Cloth::default().with(5, 5, |i, j| DVec3::new(i, 0.0, j));
    for (x, z) in [(2.0, 2.0), (1.0, 2.0), (1.5, 2.0), (2.0, 1.5), (1.5, 1.5), (2.5, 1.5), (1.25, 1.75)] {
        let mut cloth = flat.clone();
        cloth.places.extend([[x, -1.0, z, 1.0], [x, 1.0, z, 1.0], [9.0, 1.0, 9.0, 1.0]]);
        cloth.triangles.push([25, 26, 27]);
        let through = cloth.find().crossings().iter().filter(|c| c.ends == [25, 26]).count();
        assert_eq!(through, 1, "at {x}, {z}");
    }
}

/// Where a triangle meets the plane of another.
fn cut(t: [DVec3; 3], plane: [DVec3; 3]) -> Option<[DVec3; 2]> {
    let normal = unit_normal(plane);
    let height = t.map(|p| normal.dot(p - plane[0]));
    let mut ends = (0..3).filter_map(|k| {
        let (a, b) = (height[k], height[(k + 1) % 3]);
        ((a < 0.0) != (b < 0.0)).then(|| t[k].lerp(t[(k + 1) % 3], a / (a - b)))
    });
    Some([ends.next()?, ends.next()?])
}

/// How long all contours are.
fn contour_length(positions: &[DVec3], triangles: &[[u32; 3]], pairs: &[[u32; 2]]) -> f64 {
    let common = |[s, t]: [u32; 2]| {
        let [a, b] = [s, t].map(|t| triangles[t as usize].map(|v| positions[v as usize]));
        let (Some([p, q]), Some([r, s])) = (cut(a, b), cut(b, a)) else { return 0.0 };
        let line = (q - p).normalize();
        let [r, s] = [line.dot(r - p), line.dot(s - p)];
        ((q - p).length().min(r.max(s)) - r.min(s).max(0.0)).max(0.0)
    };
    pairs.iter().map(|pair| common(*pair)).sum()
}

/// The length changes with motion of the vertices as the module says: −Σ R·x + Σ (E·R)/(E·N) N·(x − y).
#[test]
fn contours_lengthen_as_differences_say() {
    for seed in 0..5u64 {
        let sheet = |tilt: f64, layer: f64| {
            move |i: f64, j: f64| {
                let turn = rotation(DVec3::new(tilt, 0.0, 10.0 * layer));
                let p = turn * DVec3::new(i - 6.0, 0.0, j - 6.0 + 0.3 * layer);
                p + 0.4 * noise_vector(0.4 * p, layer, seed as u32)
            }
        };
        let cloth = Cloth::default().with(13, 13, sheet(10.0, 0.0)).with(13, 13, sheet(70.0, 1.0));
        let (tangle, pairs) = (cloth.find(), cloth.exact());
        let direction = |v: usize| {
            let number = |k: u64| uniform(seed, 3 * v as u64 + k) - 0.5;
            DVec3::new(number(0), number(1), number(2))
        };
        let length = |h: f64| {
            let move_by = |(v, p): (usize, &Point)| wide(*p) + h * direction(v);
            let positions: Vec<DVec3> = cloth.places.iter().enumerate().map(move_by).collect();
            contour_length(&positions, &cloth.triangles, &pairs)
        };
        let mut predicted = 0.0;
        for (Crossing { ends, corners, along, inside, .. }, pull) in
            tangle.crossings().iter().zip(tangle.pulls())
        {
            let at = |v: u32| wide(cloth.places[v as usize]);
            let apexes = cloth.triangles.iter().filter(|t| ends.iter().all(|v| t.contains(v)));
            let apexes = apexes.map(|t| at(t.iter().copied().find(|v| !ends.contains(v)).unwrap()));
            let normal = unit_normal(corners.map(at));
            let (into, slope) = contour(ends.map(at), apexes, normal);
            let along = f64::from(*along);
            let x = direction(ends[0] as usize).lerp(direction(ends[1] as usize), along);
            let y: DVec3 = (0..3).map(|k| f64::from(inside[k]) * direction(corners[k] as usize)).sum();
            predicted += slope * normal.dot(x - y) - into.dot(x);
            // Weights make the place of the crossing of both.
            let sum: DVec3 = (0..5).map(|k| f64::from(pull.weights[k]) * at(pull.vertices[k])).sum();
            assert!(sum.length() < 1e-5 && pull.weights.iter().sum::<f32>().abs() < 1e-6);
        }
        let h = 1e-6;
        let measured = (length(h) - length(-h)) / (2.0 * h);
        assert!(tangle.crossings().len() > 20 && length(0.0) > 5.0);
        // Where on the edge is known to 32 bits; slopes are up to some tens.
        assert!(
            (measured - predicted).abs() < 1e-4 * tangle.crossings().len() as f64,
            "{measured} {predicted}"
        );
    }
}

/// What a loop of pulls and projections of edge lengths does.
struct Outcome {
    /// Rounds until nothing crossed.
    rounds: Option<usize>,
    /// Pairs of triangles that crossed at first, and at the end.
    pairs: [usize; 2],
}

/// Pulls sheets apart, 0.1 edge lengths per round; their edges keep the lengths they have, by 10 sweeps per round.
fn untangle(cloth: &mut Cloth, most: usize) -> Outcome {
    let surface = cloth.surface();
    let mut edges: Vec<[u32; 2]> = cloth
        .triangles
        .iter()
        .flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    let span = |places: &[Point], [a, b]: [u32; 2]| wide(places[b as usize]) - wide(places[a as usize]);
    let lengths: Vec<f64> = edges.iter().map(|e| span(&cloth.places, *e).length()).collect();
    let first = cloth.exact().len();
    let mut tangle = Tangle::default();
    for round in 0..=most {
        tangle.find(&Parallel::default(), Instructions::detect(), &surface, |_, _| true, &cloth.places);
        if tangle.crossings().is_empty() {
            return Outcome { rounds: Some(round), pairs: [first, cloth.exact().len()] };
        }
        let mut moves = vec![[0.0, 0.0, 0.0, 1.0]; cloth.places.len()];
        tangle.spread(0.1 * surface.edge_length(), &mut moves);
        for (p, m) in cloth.places.iter_mut().zip(&moves) {
            (0..3).for_each(|k| p[k] += m[k]);
        }
        for _ in 0..10 {
            for (e, length) in edges.iter().zip(&lengths) {
                let way = span(&cloth.places, *e);
                let push = (way * (0.5 - 0.5 * length / way.length())).as_vec3().to_array();
                for k in 0..3 {
                    cloth.places[e[0] as usize][k] += push[k];
                    cloth.places[e[1] as usize][k] -= push[k];
                }
            }
        }
    }
    Outcome { rounds: None, pairs: [first, cloth.exact().len()] }
}

#[track_caller]
fn gets_free(name: &str, mut cloth: Cloth) {
    let outcome = untangle(&mut cloth, 1000);
    println!("{name}: {:?} rounds, pairs {:?}", outcome.rounds, outcome.pairs);
    assert!(outcome.pairs[0] > 0, "{name}: nothing crosses");
    assert!(outcome.rounds.is_some(), "{name}: still crosses");
    assert_eq!(outcome.pairs[1], 0, "{name}: exact test");
}

/// A bump of some height and width, cells, in the middle of 24 × 24 vertices.
fn bump(height: f64, width: f64, i: f64, j: f64) -> f64 {
    let square = ((i - 11.5) * (i - 11.5) + (j - 11.5) * (j - 11.5)) / (width * width);
    height / (1.0 + square * square)
}

#[test]
fn a_poke_gets_free() {
    let flat = |i: f64, j: f64| DVec3::new(i + 0.13, 0.0, j + 0.21);
    let poke = |i: f64, j: f64| DVec3::new(i, bump(4.0, 3.0, i, j) - 0.7, j);
    gets_free("bump", Cloth::default().with(24, 24, flat).with(24, 24, poke));
    // In line with the other mesh.
    let flat = |i: f64, j: f64| DVec3::new(i, 0.0, j);
    gets_free("bump, aligned", Cloth::default().with(24, 24, flat).with(24, 24, poke));
    // Through three layers, nearer to each other than to the tip.
    let layer = |y: f64| move |i: f64, j: f64| DVec3::new(i + 0.13 + y, y, j + 0.21);
    let layers = Cloth::default().with(24, 24, layer(0.0)).with(24, 24, layer(0.6)).with(24, 24, layer(1.2));
    gets_free("bump through three", layers.with(24, 24, |i, j| DVec3::new(i, bump(6.0, 4.0, i, j) - 0.7, j)));
    // From one half of a sheet through its other half.
    let folded = |i: f64, j: f64| {
        if i < 24.0 {
            return DVec3::new(i, bump(4.0, 3.0, i, j), j);
        }
        let round = (i - 23.0).min(4.0) * 45.0_f64.to_radians();
        let back = (i - 27.0).max(0.0);
        DVec3::new(23.0 + 1.2 * sin(round) - back, 1.2 - 1.2 * cos(round) + 0.1 * sin(i + j), j + 0.01 * i)
    };
    gets_free("bump of a folded sheet", Cloth::default().with(52, 24, folded));
}

/// A sheet bent to a U, its fold upwards; `span` cells between its legs.
fn bent(i: f64, middle: f64, span: f64) -> (f64, f64) {
    let (radius, s) = (0.5 * span, i - middle);
    let quarter = radius * std::f64::consts::FRAC_PI_2;
    if s.abs() < quarter {
        let angle = s / radius;
        return (radius * sin(angle), radius * cos(angle));
    }
    (radius * s.signum(), quarter - s.abs())
}

#[test]
fn a_fold_gets_free() {
    let flat = |i: f64, j: f64| DVec3::new(i + 0.13, 0.02 * j, j + 0.21);
    let fold = |from: f64, middle: f64| {
        move |i: f64, j: f64| {
            let (x, y) = bent(i, middle, 5.0);
            DVec3::new(x + 11.3 + 0.02 * j, y, j + from)
        }
    };
    gets_free("narrow fold", Cloth::default().with(24, 24, flat).with(30, 8, fold(8.1, 14.7)));
    gets_free("fold over the whole width", Cloth::default().with(24, 24, flat).with(30, 24, fold(0.1, 13.7)));
}

#[test]
fn sheets_across_each_other_get_free() {
    let flat = |i: f64, j: f64| DVec3::new(i, 0.0, j);
    let upright = |i: f64, j: f64| DVec3::new(7.5, i - 13.5, j);
    gets_free("X, aligned", Cloth::default().with(20, 20, flat).with(20, 20, upright));
    let tilted = |degrees: f64| {
        let turn = rotation(DVec3::new(0.0, 3.0, degrees));
        move |i: f64, j: f64| turn * DVec3::new(i - 13.3, 0.0, j - 9.7) + DVec3::new(7.2, 0.1, 9.6)
    };
    gets_free("X, 80°", Cloth::default().with(20, 20, flat).with(20, 20, tilted(80.0)));
    gets_free("X, 25°", Cloth::default().with(20, 20, flat).with(20, 20, tilted(25.0)));
    // Stuck into each other half way: no region is cut off.
    let half = |i: f64, j: f64| DVec3::new(9.3, i - 9.6, j + 10.3);
    gets_free("half way", Cloth::default().with(20, 20, flat).with(20, 20, half));
}

#[test]
fn a_corner_gets_free() {
    let flat = |i: f64, j: f64| DVec3::new(i, 0.0, j);
    let turn = rotation(DVec3::new(0.0, 0.0, -70.0)) * rotation(DVec3::new(0.0, 45.0, 0.0));
    let corner = |i: f64, j: f64| turn * DVec3::new(i - 5.0, 0.0, j - 5.0) + DVec3::new(9.7, 0.4, 10.2);
    gets_free("corner", Cloth::default().with(20, 20, flat).with(20, 20, corner));
}

#[test]
fn a_sheet_through_itself_gets_free() {
    // A loop, the ends of unlike length.
    let looped = |i: f64, j: f64| {
        let t = (i - 13.0) / 9.0;
        DVec3::new(6.0 * (t * t * t - 0.9 * t) + 0.05 * j, -8.0 * t * t, j + 0.3 * sin(0.4 * i))
    };
    gets_free("loop", Cloth::default().with(30, 30, looped));
    // Folded in three, the last third through the first.
    let folded = |i: f64, j: f64| {
        let (t, half_turn) = (i / 29.0, std::f64::consts::PI);
        let (rise, fall) = (sin(0.75 * half_turn * t), (t - 0.62).max(0.0));
        let y = 4.5 * rise * rise - 40.0 * fall * fall;
        DVec3::new(6.0 * cos(3.0 * half_turn * t), y + 0.2 * sin(0.7 * j), j + 0.02 * i)
    };
    gets_free("three folds", Cloth::default().with(30, 30, folded));
}

/// Cloth that is on the wrong side but crosses nothing is left where it is.
#[test]
fn what_does_not_cross_is_left_alone() {
    let layer = |y: f64| move |i: f64, j: f64| DVec3::new(i, y + 0.1 * sin(i), j);
    let mut cloth = Cloth::default().with(8, 8, layer(0.0)).with(4, 4, layer(-0.01));
    let before = cloth.places.clone();
    assert_eq!(untangle(&mut cloth, 10).rounds, Some(0));
    assert_eq!(cloth.places, before);
    let mut tangle = cloth.find();
    assert!(tangle.pulls().is_empty() && !tangle.ignores([0, 64, 65, 68], 1));
    let mut moves = vec![[0.0, 0.0, 0.0, 1.0]; cloth.places.len()];
    tangle.spread(1.0, &mut moves);
    assert!(moves.iter().all(|m| *m == [0.0, 0.0, 0.0, 1.0]));
}

/// Contacts of the tip of a poke are ignored with what it pokes through, and with nothing else.
#[test]
fn contacts_that_would_hold_a_poke_are_ignored() {
    let flat = |y: f64| move |i: f64, j: f64| DVec3::new(i + 0.13, y, j + 0.21);
    let poke = |i: f64, j: f64| DVec3::new(i, bump(4.0, 3.0, i, j) - 0.7, j);
    let cloth = Cloth::default().with(24, 24, flat(0.0)).with(24, 24, poke).with(24, 24, flat(4.0));
    let tangle = cloth.find();
    let at = |sheet: u32, i: u32, j: u32| sheet * 576 + 24 * j + i;
    let triangle = |sheet: u32, i: u32, j: u32| [at(sheet, i, j), at(sheet, i + 1, j), at(sheet, i, j + 1)];
    let with = |v: u32, [a, b, c]: [u32; 3]| tangle.ignores([v, a, b, c], 1);
    let tip = at(1, 11, 11);
    assert!(with(tip, triangle(0, 11, 11)), "what is inside of both");
    assert!(with(tip, triangle(0, 5, 11)), "the tip, and the other sheet around it");
    assert!(!with(tip, triangle(0, 0, 0)), "the other sheet further out than the tip reaches");
    assert!(with(at(0, 11, 11), triangle(1, 11, 11)), "the other way round");
    assert!(!with(at(1, 1, 1), triangle(0, 1, 1)), "outside of both");
    assert!(!with(tip, triangle(2, 11, 11)), "a sheet that it does not poke through");
    assert!(!with(tip, triangle(1, 2, 2)), "its own sheet");
    assert!(tangle.ignores([tip, tip + 1, at(0, 11, 11), at(0, 12, 11)], 2), "edges");
    for Pull { vertices: [a, b, c, d, _], .. } in tangle.pulls() {
        assert!(tangle.ignores([*a, *b, *c, *d], 2), "edges at a crossing");
    }
}

/// Two wavy sheets thrown into each other.
fn thrown_together(seed: u64) -> Cloth {
    let mut cloth = Cloth::default();
    for sheet in 0..2u64 {
        let number = |k: u64| uniform(seed, 10 * sheet + k) - 0.5;
        let turn = rotation(360.0 * DVec3::new(number(0), number(1), number(2)));
        let middle = 6.0 * DVec3::new(number(3), number(4), number(5));
        cloth = cloth.with(20, 20, |i, j| {
            let p = DVec3::new(i - 9.5, 0.0, j - 9.5);
            turn * (p + 2.0 * noise_vector(0.2 * p, sheet as f64, seed as u32)) + middle
        });
    }
    cloth
}

#[test]
fn sheets_thrown_together_get_free() {
    let (mut free, mut left) = (Vec::new(), 0);
    for seed in 0..20 {
        let mut cloth = thrown_together(seed);
        let outcome = untangle(&mut cloth, 1000);
        // Pairs of triangles of both sheets, each of which has 722.
        let between = cloth.exact().iter().filter(|pair| pair[0] < 722 && pair[1] >= 722).count();
        println!(
            "seed {seed}: {:?} rounds, pairs {:?}, {between} of both sheets",
            outcome.rounds, outcome.pairs
        );
        free.extend(outcome.rounds);
        left += between;
    }
    free.sort_unstable();
    println!("{} free, median {:?}, at most {:?} rounds", free.len(), free.get(free.len() / 2), free.last());
    assert_eq!(left, 0);
}

#[test]
fn an_edge_in_the_plane_of_a_triangle_beside_it_does_not_pierce_it() {
    // The side of a box that has been turned by 10⁻⁴: what is left of the heights is rounding.
    let places = [
        [-0.49999943, 0.0019637148, -0.049999967, 0.0],
        [-0.50000715, 0.051963713, 3.3208522e-8, 0.0],
        [-0.49999943, 0.0019637148, 3.3144012e-8, 0.0],
        [-0.50000715, 0.051963713, 0.050000034, 0.0],
        [-0.49999943, 0.0019637148, 0.050000034, 0.0],
    ];
    assert_eq!(pierce([0, 1], 0, [2, 3, 4], &places), None);
    // Some thousandths of a millimetre out of the plane it does.
    let through = [[-0.5, 0.02, 0.03, 0.0], [-0.500008, 0.03, 0.035, 0.0], places[2], places[3], places[4]];
    assert!(pierce([0, 1], 0, [2, 3, 4], &through).is_some());
}
