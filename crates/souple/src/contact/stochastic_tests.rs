//! Contacts found by chance against all pairs.

use glam::{DQuat, DVec3};

use crate::contact::examine::{Contact, EMIT};
use crate::contact::pairs::{Pairs, REST_SHARE, Vertices};
use crate::contact::pairs_tests::{SKIN, crumpled, key, search, vector, wide};
use crate::contact::rules::{Rule, Rules};
use crate::contact::stochastic::Stochastic;
use crate::contact::surface::Surface;
use crate::contact::surfaces::SLOP;
use crate::lanes::{Instructions, Point};
use crate::mesh::{TriMesh, generate};
use crate::parallel::Parallel;
use crate::scene::{Ball, Grid, Wave};

/// Things that move from place to place.
struct Case {
    name: &'static str,
    surface: Surface,
    rules: Rules,
    rest: Vec<Point>,
    /// Places, substep after substep.
    steps: Vec<Vec<Point>>,
    /// Triangles of all, and edges, lower end first.
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    /// First vertex of the second thing.
    second: u32,
}

impl Case {
    fn new(
        name: &'static str,
        rest: Vec<Point>,
        things: &[Vec<[u32; 3]>],
        itself: bool,
        second: usize,
        steps: Vec<Vec<Point>>,
    ) -> Case {
        let lists: Vec<&[[u32; 3]]> = things.iter().map(|t| &t[..]).collect();
        let triangles: Vec<[u32; 3]> = things.concat();
        let mut edges: Vec<[u32; 2]> = triangles
            .iter()
            .flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]])
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        let surface = Surface::of_things(&rest, &lists);
        let rule = |a, b| Rule { touch: itself || a != b, skin: SKIN, ..Rule::default() };
        let rules = Rules::new(things.len(), rule);
        Case { name, surface, rules, rest, steps, triangles, edges, second: second as u32 }
    }

    /// Two things that come nearer along y by that much per substep, m.
    fn of_two(name: &'static str, [a, b]: [TriMesh; 2], speed: f32) -> Case {
        let first = a.positions.len();
        let place = |x: &DVec3| [x.x as f32, x.y as f32, x.z as f32, SKIN];
        let rest: Vec<Point> = a.positions.iter().chain(&b.positions).map(place).collect();
        let others = b.triangles.iter().map(|t| t.map(|v| v + first as u32)).collect();
        let step = |s: usize| {
            let lower = |(i, p): (usize, &Point)| {
                let way = if i < first { 0.0 } else { speed * s as f32 };
                [p[0], p[1] - way, p[2], 1.0]
            };
            rest.iter().enumerate().map(lower).collect()
        };
        let steps = (0..13).map(step).collect();
        Case::new(name, rest.clone(), &[a.triangles, others], false, first, steps)
    }

    fn sheet() -> Case {
        let (rest, triangles, steps) = crumpled();
        let n = rest.len();
        Case::new("crumpled sheet", rest, &[triangles], true, n, steps)
    }

    /// Two balls, one above the other and turned, 1 cm apart.
    fn balls() -> Case {
        let ball = || generate::ball(&Ball { radius: 0.5, subdivisions: 2 });
        let (a, mut b) = (ball(), ball());
        let turn = DQuat::from_xyzw(0.3, 0.2, 0.5, 0.787_400_787_401_181);
        let top = |mesh: &TriMesh, sign: f64| {
            mesh.positions.iter().map(|x| sign * x.y).fold(f64::NEG_INFINITY, f64::max)
        };
        b.positions.iter_mut().for_each(|x| *x = turn * *x);
        let up = top(&a, 1.0) + top(&b, -1.0) + 0.01;
        b.positions.iter_mut().for_each(|x| x.y += up);
        Case::of_two("two balls", [a, b], 0.0005)
    }

    /// Two sheets in waves, one 2 cm above the other and shifted.
    fn sheets() -> Case {
        let waves = vec![Wave { height: 0.05, along: [9.0, 4.0], phase: 0.3 }];
        let sheet = || generate::grid(&Grid { vertices: [30, 30], waves: waves.clone(), ..Grid::default() });
        let (a, mut b) = (sheet(), sheet());
        b.positions.iter_mut().for_each(|x| *x += DVec3::new(0.011, 0.02, 0.007));
        Case::of_two("two sheets", [a, b], 0.0002)
    }

    fn vertices(&self, s: usize) -> Vertices<'_> {
        Vertices { rest: &self.rest, before: &self.steps[s], now: &self.steps[s + 1] }
    }

    fn find(&self, stochastic: &mut Stochastic, s: usize, budget: u32, seed: u64) {
        stochastic.find(&self.surface, &self.rules, &self.vertices(s), SKIN, budget, seed);
        assert!(stochastic.evaluations() <= budget, "{} of {budget}", stochastic.evaluations());
    }

    fn stochastic(&self) -> Stochastic {
        Stochastic::new(&self.surface, self.rest.len())
    }

    /// All contacts of a substep.
    fn all(&self, s: usize) -> Vec<Contact> {
        let mut pairs = Pairs::default();
        let search = search(&self.rules, 1);
        let instructions = Instructions::detect();
        pairs.find(&Parallel::default(), instructions, &self.surface, &self.vertices(s), &search);
        pairs.contacts().copied().collect()
    }

    fn distance(&self, s: usize, kind: usize, v: [u32; 4]) -> f64 {
        vector(kind, v.map(|v| wide(&self.steps[s][v as usize]))).0.length()
    }

    /// The nearest of the pairs that have one feature replaced by one that shares a vertex with it, m.
    fn nearest_neighbour(&self, s: usize, kind: usize, [a, b, c, d]: [u32; 4]) -> f64 {
        let mut nearest = f64::INFINITY;
        let mut look = |v: [u32; 4]| nearest = nearest.min(self.distance(s, kind, v));
        if kind == 0 {
            for e in self.edges.iter().filter(|e| e.contains(&a)) {
                let other = e[0] + e[1] - a;
                if ![b, c, d].contains(&other) {
                    look([other, b, c, d]);
                }
            }
            for t in self.triangles.iter().filter(|t| !t.contains(&a)) {
                if t.contains(&b) || t.contains(&c) || t.contains(&d) {
                    look([a, t[0], t[1], t[2]]);
                }
            }
            return nearest;
        }
        let mut replace = |[a, b]: [u32; 2], [c, d]: [u32; 2]| {
            for e in self.edges.iter().filter(|e| e.contains(&a) || e.contains(&b)) {
                if !e.contains(&c) && !e.contains(&d) {
                    look([e[0], e[1], c, d]);
                }
            }
        };
        replace([a, b], [c, d]);
        replace([c, d], [a, b]);
        nearest
    }
}

/// Distances of 32 bits of places within 1 m: a few roundings, and half the digits in a flat angle.
const ROUNDED: f64 = 1e-5;

#[test]
fn what_is_told_is_true_and_told_once() {
    for case in [Case::sheet(), Case::balls(), Case::sheets()] {
        let mut stochastic = case.stochastic();
        let mut told = 0;
        for s in 0..12 {
            case.find(&mut stochastic, s, 20_000, s as u64);
            let mut keys: Vec<_> = stochastic.contacts().map(|c| key(&c.apart)).collect();
            keys.sort_unstable();
            assert!(keys.windows(2).all(|w| w[0] != w[1]), "a pair is told twice");
            told += keys.len();
            for c in stochastic.contacts() {
                let kind = usize::from(c.apart.first_side) - 1;
                let at = |points: &[Point]| c.apart.vertices.map(|v| wide(&points[v as usize]));
                let (r, ..) = vector(kind, at(&case.steps[s]));
                assert!((r.length() - f64::from(c.apart.distance)).abs() < ROUNDED, "{c:?}");
                let normal = DVec3::from_array(c.apart.normal.map(f64::from));
                let sum = |x: [DVec3; 4]| (0..4).map(|k| x[k] * f64::from(c.weights[k])).sum::<DVec3>();
                let (start, end) = (sum(at(&case.steps[s])), sum(at(&case.steps[s + 1])));
                assert!((start.length() - r.length()).abs() < ROUNDED);
                assert!((end.dot(normal) - f64::from(c.gap)).abs() < ROUNDED);
                assert!((end - start).distance(DVec3::from_array(c.way.map(f64::from))) < ROUNDED);
                assert!(c.weights.iter().sum::<f32>().abs() < 1e-6);
                let one = (c.apart.vertices[0] < case.second) == (c.apart.vertices[3] < case.second);
                let at_rest = vector(kind, at(&case.rest)).0.length();
                let skin = f64::from(SKIN);
                let skin = if one { skin.min(f64::from(REST_SHARE) * at_rest) } else { skin };
                assert!((skin - f64::from(c.apart.skin)).abs() < ROUNDED);
                assert!(f64::from(c.gap) < skin + f64::from(EMIT * SLOP * SKIN) + ROUNDED);
                assert!(case.rules.at(c.rule as usize).touch);
            }
        }
        assert!(told > 0, "{}", case.name);
    }
}

#[test]
fn a_minimum_has_no_nearer_neighbour() {
    for (case, s) in [(Case::sheet(), 11), (Case::balls(), 0), (Case::sheets(), 0)] {
        let mut stochastic = case.stochastic();
        case.find(&mut stochastic, s, 50_000, 3);
        for c in stochastic.contacts() {
            let nearest = case.nearest_neighbour(s, usize::from(c.apart.first_side) - 1, c.apart.vertices);
            assert!(f64::from(c.apart.distance) < nearest + ROUNDED, "{c:?} beside {nearest}");
        }
    }
}

#[test]
fn the_nearest_pair_of_two_balls_is_found() {
    let case = Case::balls();
    let mut stochastic = case.stochastic();
    case.find(&mut stochastic, 0, 100_000, 1);
    let mut nearest = f64::INFINITY;
    let n = case.rest.len() as u32;
    let is_second = |v: u32| v >= case.second;
    for v in 0..n {
        for t in case.triangles.iter().filter(|t| is_second(t[0]) != is_second(v)) {
            nearest = nearest.min(case.distance(0, 0, [v, t[0], t[1], t[2]]));
        }
    }
    for &[a, b] in case.edges.iter().filter(|e| !is_second(e[0])) {
        for &[c, d] in case.edges.iter().filter(|e| is_second(e[0])) {
            nearest = nearest.min(case.distance(0, 1, [a, b, c, d]));
        }
    }
    let found = stochastic.contacts().fold(f64::INFINITY, |d, c| d.min(c.apart.distance.into()));
    assert!((found - nearest).abs() < ROUNDED, "{found} m instead of {nearest} m");
}

#[test]
fn the_same_seed_tells_the_same_and_another_one_something_else() {
    let case = Case::sheet();
    let run = |seed: u64, forget: bool| {
        let mut stochastic = case.stochastic();
        if forget {
            case.find(&mut stochastic, 3, 3_000, 77);
            stochastic.forget();
        }
        let mut all = Vec::new();
        for s in 6..12 {
            case.find(&mut stochastic, s, 3_000, seed + s as u64);
            all.push(stochastic.contacts().copied().collect::<Vec<_>>());
        }
        all
    };
    assert_eq!(run(1, false), run(1, false));
    assert_eq!(run(1, true), run(1, false), "something is left of what was forgotten");
    assert_ne!(run(1, false), run(100, false));
}

#[test]
fn no_budget_is_exceeded_and_odd_places_do_no_harm() {
    let mut case = Case::sheet();
    let mut stochastic = case.stochastic();
    // From much to little: what is known is more than can be measured.
    for (s, budget) in [50_000, 500, 20, 3, 2, 1, 0, 100].into_iter().enumerate() {
        case.find(&mut stochastic, s + 4, budget, 9);
    }
    for odd in [f32::NAN, f32::INFINITY, f32::MAX] {
        case.steps[12][40][1] = odd;
        case.steps[11][90][0] = odd;
        case.find(&mut stochastic, 11, 5_000, 5);
        case.find(&mut stochastic, 11, 5_000, 6);
    }
    let nothing = Surface::of_things(&[], &[]);
    let (rest, rules) = ([], Rules::default());
    let vertices = Vertices { rest: &rest, before: &rest, now: &rest };
    let mut empty = Stochastic::new(&nothing, 0);
    empty.find(&nothing, &rules, &vertices, SKIN, 100, 1);
    assert_eq!((empty.contacts().count(), empty.evaluations()), (0, 0));
}

/// What share of all contacts is told with a budget, at once and after some substeps. Prints the table of the book:
/// `cargo test -p souple --lib shares_of_contacts -- --nocapture`.
#[test]
fn shares_of_contacts_grow_with_the_budget_and_with_time() {
    for case in [Case::sheet(), Case::balls(), Case::sheets()] {
        let s = 11;
        let all = case.all(s);
        let is_minimum = |c: &&Contact| {
            let nearest = case.nearest_neighbour(s, usize::from(c.apart.first_side) - 1, c.apart.vertices);
            f64::from(c.apart.distance) < nearest + 1e-7
        };
        let mut minima: Vec<_> = all.iter().filter(is_minimum).map(|c| key(&c.apart)).collect();
        minima.sort_unstable();
        let mut keys: Vec<_> = all.iter().map(|c| key(&c.apart)).collect();
        keys.sort_unstable();
        println!("{}: {} contacts, of which {} are minima", case.name, keys.len(), minima.len());
        let shares = |depth: usize, budget: u32, first: usize| {
            let mut stochastic = Stochastic::with_depth(&case.surface, case.rest.len(), depth);
            for s in first..=s {
                case.find(&mut stochastic, s, budget, s as u64);
            }
            let told: Vec<_> = stochastic.contacts().map(|c| key(&c.apart)).collect();
            let share = |of: &[(u8, [u32; 4])]| {
                told.iter().filter(|k| of.binary_search(k).is_ok()).count() as f64 / of.len() as f64
            };
            let others = told.iter().filter(|k| keys.binary_search(k).is_err()).count();
            (share(&keys), share(&minima), others)
        };
        for depth in [1, 4, 8] {
            for budget in [1_000, 3_000, 10_000, 30_000, 100_000] {
                let (once, again) = (shares(depth, budget, s), shares(depth, budget, 0));
                println!(
                    "  boxes of {depth}, {budget:>6}: at once {:.0} % ({:.0} % of minima), after 12 substeps {:.0} % ({:.0} %); {} others",
                    100.0 * once.0,
                    100.0 * once.1,
                    100.0 * again.0,
                    100.0 * again.1,
                    again.2,
                );
            }
        }
        let (little, much) = (shares(4, 300, s), shares(4, 100_000, s));
        assert!(much.0 > little.0 && much.1 > little.1, "{little:?} {much:?}");
        let (once, again) = (shares(4, 1_000, s), shares(4, 1_000, 0));
        assert!(again.0 >= once.0, "{once:?} {again:?}");
    }
}
