//! A finished sheet: mesh, creases, and how well it keeps its pattern (ROH-97).

use glam::{DVec2, DVec3};

use super::flip::flip_edges;
use super::measure::{self, Element, Isometry};
use super::mesh::Triangulator;
use super::relax::{Hold, Relaxer};
use super::slide::slide_vertices;
use super::split::{Cutter, Region};
use super::{Border, PaperError, Pattern, Repair, Settings};
use crate::math;

/// Times as many rounds as before: nothing is cut any more, so what is gained stays.
const LAST_TIMES: usize = 2;

/// How much is done for a sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Effort {
    /// Times that vertices slide, edges are flipped and all is relaxed at the end.
    settlings: usize,
    /// Vertices for each one of the border from which on nothing is cut any more.
    vertices: usize,
}

impl Effort {
    /// A sheet that is made once.
    pub(super) const WHOLE: Effort = Effort { settlings: 5, vertices: usize::MAX };
    /// One that is made anew within a frame, and relaxed in the frames that follow.
    pub(super) const FRAME: Effort = Effort { settlings: 1, vertices: 4 };
}

/// What an edge of the mesh is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crease {
    /// On the outline.
    Border,
    /// Bent up towards the side from which the pattern is seen counter-clockwise: a mountain seen from there.
    Mountain,
    /// Bent the other way.
    Valley,
    /// Bent by less than a crease: a ruling of a smooth part, or the diagonal of a flat one.
    Flat,
}

/// An edge of the mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Its ends.
    pub ends: [u32; 2],
    /// What it is.
    pub crease: Crease,
    /// By how much it is bent, rad: 0 if flat or on the outline, above for a valley, below for a mountain.
    pub angle: f64,
}

/// A sheet of paper in space.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Vertices in the pattern, m; the first ones are the border.
    pub pattern: Vec<DVec2>,
    /// Vertices in space, m.
    pub places: Vec<DVec3>,
    /// How many vertices are the border, in order.
    pub border: usize,
    /// Triangles, counter-clockwise in the pattern.
    pub triangles: Vec<[u32; 3]>,
    /// What was done to the border.
    pub repair: Repair,
    /// How many straight cuts and how many folds it has.
    pub cuts: [usize; 2],
    /// Regions that are compressed and in which no fold was found that helps.
    pub incomplete: usize,
    /// Angle from which an edge is a crease, rad.
    pub(crate) crease: f64,
}

impl Sheet {
    /// Makes a sheet from its pattern and a closed curve in space, whose first point is that of the pattern's first corner.
    pub fn new(pattern: &Pattern, points: &[DVec3], settings: &Settings) -> Result<Sheet, PaperError> {
        let step = settings.step_for(pattern)?;
        Ok(Sheet::from_border(Border::matched(pattern, points, step)?, step, settings, &Effort::WHOLE))
    }

    /// Makes a sheet from a border that is matched already.
    pub(super) fn from_border(mut border: Border, step: f64, settings: &Settings, effort: &Effort) -> Sheet {
        let repair = match settings.repair {
            true => border.repair(),
            false => {
                let now = border.criteria();
                Repair { before: now, after: now, moved: 0.0 }
            }
        };
        let count = border.places.len();
        let wanted = border.places.clone();
        let mut cutter = Cutter::new(border.pattern, border.places, step, settings);
        cutter.most_points = effort.vertices.saturating_mul(count);
        let hold = settings.hold();
        for restart in 0..=settings.restarts {
            let last = restart == settings.restarts;
            cutter.cut(last && settings.least_bad);
            relax(&mut cutter, count, &wanted, hold, settings.rounds);
            if !cutter.tag() {
                break;
            }
        }
        let mut sheet = Sheet::from_cutter(cutter, count, repair, settings);
        let mut relaxer = None;
        for round in 0..effort.settlings {
            if round > 0 && slide_vertices(&mut sheet.pattern, &mut sheet.places, count, &sheet.triangles) > 0
            {
                relaxer = None;
            }
            sheet.settle(&mut relaxer, &wanted, hold, LAST_TIMES * settings.rounds);
        }
        sheet
    }

    /// Flips edges, then relaxes. The relaxer is made again if an edge was flipped. How many were.
    pub(super) fn settle(
        &mut self,
        relaxer: &mut Option<Relaxer>,
        wanted: &[DVec3],
        hold: Hold,
        rounds: usize,
    ) -> usize {
        let flipped = flip_edges(&self.pattern, &self.places, &mut self.triangles);
        if flipped > 0 || relaxer.is_none() {
            let elements = self.triangles.iter().filter_map(|t| Element::new(&self.pattern, *t)).collect();
            *relaxer = Relaxer::new(elements, self.pattern.len(), self.border, hold);
        }
        if let Some(relaxer) = relaxer {
            relaxer.rounds(&mut self.places, wanted, rounds);
        }
        flipped
    }

    fn from_cutter(cutter: Cutter, border: usize, repair: Repair, settings: &Settings) -> Sheet {
        let straight = cutter.cuts.iter().filter(|cut| cut.straight).count();
        let mut triangles = Vec::new();
        triangulate(&cutter.points, &cutter.regions, &mut triangles);
        Sheet {
            border,
            triangles,
            repair,
            cuts: [straight, cutter.cuts.len() - straight],
            incomplete: cutter.regions.iter().filter(|region| region.incomplete).count(),
            crease: settings.crease_deg.to_radians(),
            pattern: cutter.points,
            places: cutter.places,
        }
    }

    /// How well it keeps its pattern.
    pub fn isometry(&self) -> Isometry {
        measure::isometry(&self.pattern, &self.places, &self.triangles)
    }

    /// All edges, sorted by their ends, the lower first.
    pub fn edges(&self) -> Vec<Edge> {
        let mut sides: Vec<(u32, u32, usize, u32)> = Vec::with_capacity(3 * self.triangles.len());
        for (t, corners) in self.triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                sides.push((a.min(b), a.max(b), t, corners[(k + 2) % 3]));
            }
        }
        sides.sort_unstable();
        let mut edges: Vec<Edge> = Vec::new();
        let mut k = 0;
        while let Some(&(a, b, t, _)) = sides.get(k) {
            let both = sides.get(k + 1).filter(|other| (other.0, other.1) == (a, b));
            let (crease, angle) = match both {
                None => (Crease::Border, 0.0),
                Some(&(_, _, s, opposite)) => {
                    let angle = self.bend(t, s, opposite);
                    match angle {
                        _ if angle.abs() < self.crease => (Crease::Flat, angle),
                        _ if angle < 0.0 => (Crease::Mountain, angle),
                        _ => (Crease::Valley, angle),
                    }
                }
            };
            edges.push(Edge { ends: [a, b], crease, angle });
            k += if both.is_some() { 2 } else { 1 };
        }
        edges
    }

    fn normal(&self, t: usize) -> DVec3 {
        let [a, b, c] = self.triangles[t].map(|v| self.places[v as usize]);
        (b - a).cross(c - a)
    }

    /// Angle between two triangles, rad; above zero if the second, with that corner, rises on the side of the first's normal.
    fn bend(&self, t: usize, s: usize, corner: u32) -> f64 {
        let (n, m) = (self.normal(t), self.normal(s));
        let angle = math::atan2(n.cross(m).length(), n.dot(m));
        let rise = n.dot(self.places[corner as usize] - self.places[self.triangles[t][0] as usize]);
        if rise < 0.0 { -angle } else { angle }
    }

    /// The mesh with vertices doubled where creases are, so that normals of vertices are smooth in between and sharp across: of each
    /// vertex the one it comes from, and the triangles.
    pub fn split_at_creases(&self) -> (Vec<u32>, Vec<[u32; 3]>) {
        let sharp: Vec<[u32; 2]> = self
            .edges()
            .iter()
            .filter(|edge| matches!(edge.crease, Crease::Mountain | Crease::Valley))
            .map(|edge| edge.ends)
            .collect();
        // Corners of triangles are joined across every edge that is not sharp.
        let mut root: Vec<u32> = (0..3 * self.triangles.len() as u32).collect();
        fn find(root: &mut [u32], mut k: u32) -> u32 {
            while root[k as usize] != k {
                root[k as usize] = root[root[k as usize] as usize];
                k = root[k as usize];
            }
            k
        }
        let mut sides: Vec<(u32, u32, u32, u32)> = Vec::new();
        for (t, corners) in (0u32..).zip(&self.triangles) {
            for k in 0..3u32 {
                let next = (k + 1) % 3;
                let (a, b) = (corners[k as usize], corners[next as usize]);
                let (low, high) = if a < b { (k, next) } else { (next, k) };
                sides.push((a.min(b), a.max(b), 3 * t + low, 3 * t + high));
            }
        }
        sides.sort_unstable();
        for pair in sides.windows(2) {
            let (one, other) = (pair[0], pair[1]);
            if (one.0, one.1) == (other.0, other.1) && sharp.binary_search(&[one.0, one.1]).is_err() {
                for (a, b) in [(one.2, other.2), (one.3, other.3)] {
                    let (a, b) = (find(&mut root, a), find(&mut root, b));
                    root[a.max(b) as usize] = a.min(b);
                }
            }
        }
        let mut number = vec![u32::MAX; root.len()];
        let mut sources = Vec::new();
        let mut triangles = self.triangles.clone();
        for corner in 0..root.len() as u32 {
            let r = find(&mut root, corner) as usize;
            let (t, k) = (corner as usize / 3, corner as usize % 3);
            if number[r] == u32::MAX {
                number[r] = sources.len() as u32;
                sources.push(self.triangles[t][k]);
            }
            triangles[t][k] = number[r];
        }
        (sources, triangles)
    }

    /// Where a point of the pattern is in space: in the triangle that it is in, or in the nearest.
    pub fn at(&self, point: DVec2) -> DVec3 {
        let mut best = (f64::NEG_INFINITY, DVec3::ZERO);
        for t in &self.triangles {
            let Some(e) = Element::new(&self.pattern, *t) else { continue };
            let from = self.pattern[t[0] as usize];
            let mut weights = e.gradients.map(|g| g.dot(point - from));
            weights[0] += 1.0;
            let inside = weights.iter().copied().fold(f64::INFINITY, f64::min);
            if inside > best.0 {
                best = (inside, (0..3).map(|k| self.places[t[k] as usize] * weights[k]).sum());
                if inside >= 0.0 {
                    break;
                }
            }
        }
        best.1
    }
}

fn triangulate(points: &[DVec2], regions: &[Region], out: &mut Vec<[u32; 3]>) {
    let mut triangulator = Triangulator::default();
    regions.iter().for_each(|region| triangulator.add(points, &region.outline, out));
}

fn relax(cutter: &mut Cutter, border: usize, wanted: &[DVec3], hold: Hold, rounds: usize) {
    let mut triangles = Vec::new();
    triangulate(&cutter.points, &cutter.regions, &mut triangles);
    let elements = triangles.iter().filter_map(|t| Element::new(&cutter.points, *t)).collect();
    if let Some(mut relaxer) = Relaxer::new(elements, cutter.points.len(), border, hold) {
        relaxer.rounds(&mut cutter.places, wanted, rounds);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Case, Live};
    use super::*;

    fn sheet(case: Case, settings: &Settings) -> Sheet {
        let (pattern, points) = case.make().unwrap();
        Sheet::new(&pattern, &points, settings).unwrap()
    }

    #[test]
    fn every_case_gives_a_whole_sheet() {
        for case in Case::ALL {
            let (pattern, _) = case.make().unwrap();
            let sheet = sheet(case, &Settings::default());
            let name = case.name();
            assert!(sheet.places.iter().all(|p| p.is_finite()), "{name}");
            // One disc: V − E + F = 1, no gap and no overlap in the pattern.
            let edges = sheet.edges();
            let used = sheet.places.len();
            assert_eq!(used + sheet.triangles.len(), edges.len() + 1, "{name}");
            let area: f64 =
                sheet.triangles.iter().filter_map(|t| Element::new(&sheet.pattern, *t)).map(|e| e.area).sum();
            assert!((area / pattern.area() - 1.0).abs() < 1e-9, "{name}: {area}");
            assert_eq!(
                edges.iter().filter(|edge| edge.crease == Crease::Border).count(),
                sheet.border,
                "{name}"
            );
            let isometry = sheet.isometry();
            let limit = match case {
                Case::Can => 0.1,
                Case::Folded | Case::Twisted => 0.03,
                Case::Pinched => 0.01,
                _ => 1e-3,
            };
            assert!(isometry.strain < limit, "{name}: {isometry:?}");
        }
    }

    #[test]
    fn the_same_bits_twice_and_a_pinned_border_where_it_was() {
        let settings = Settings { repair: false, ..Settings::default() };
        let (pattern, points) = Case::Pinched.make().unwrap();
        let (one, other) = (
            Sheet::new(&pattern, &points, &settings).unwrap(),
            Sheet::new(&pattern, &points, &settings).unwrap(),
        );
        assert_eq!((&one.places, &one.triangles), (&other.places, &other.triangles));
        let border = Border::matched(&pattern, &points, settings.step_for(&pattern).unwrap()).unwrap();
        assert_eq!(one.places[..one.border], border.places[..]);
    }

    #[test]
    fn a_border_too_large_has_no_folds_and_one_too_small_has_some() {
        let pattern = Pattern::rectangle(0.3, 0.2).unwrap();
        let settings = Settings { repair: false, ..Settings::default() };
        let scaled = |scale: f64| {
            let points: Vec<DVec3> = pattern.corners().iter().map(|p| (*p * scale).extend(0.0)).collect();
            Sheet::new(&pattern, &points, &settings).unwrap()
        };
        let large = scaled(1.05);
        assert_eq!(large.cuts[1], 0);
        assert!((large.isometry().strain - 0.05).abs() < 1e-6);
        let small = scaled(0.9);
        assert!(small.cuts[1] > 0);
        // The plain sheet would be compressed by a tenth; the border alone, which stays as it is, costs some of it.
        assert!(small.isometry().strain < 0.09, "{:?}", small.isometry());
    }

    #[test]
    fn a_pattern_that_is_not_convex() {
        // An L, rolled on a cylinder.
        let corners = [(0.0, 0.0), (0.4, 0.0), (0.4, 0.2), (0.2, 0.2), (0.2, 0.4), (0.0, 0.4)]
            .map(|(x, y)| DVec2::new(x, y));
        for clockwise in [false, true] {
            let mut corners = corners.to_vec();
            if clockwise {
                corners[1..].reverse();
            }
            let pattern = Pattern::new(&corners).unwrap();
            let n = corners.len();
            let points: Vec<DVec3> = (0..n)
                .flat_map(|k| (0..40).map(move |i| (k, f64::from(i) / 40.0)))
                .map(|(k, part)| corners[k].lerp(corners[(k + 1) % n], part))
                .map(|p| DVec3::new(0.3 * math::sin(p.x / 0.3), p.y, 0.3 * math::cos(p.x / 0.3)))
                .collect();
            let sheet = Sheet::new(&pattern, &points, &Settings::default()).unwrap();
            assert!(sheet.isometry().strain < 1e-3, "{:?}", sheet.isometry());
        }
    }

    #[test]
    fn creases_split_normals_and_smooth_parts_do_not() {
        let smooth = sheet(Case::Cylinder, &Settings::default());
        let (sources, triangles) = smooth.split_at_creases();
        assert_eq!((sources.len(), triangles.len()), (smooth.places.len(), smooth.triangles.len()));
        // A sheet folded along its middle.
        let pattern = Pattern::rectangle(0.2, 0.2).unwrap();
        let fold = |x: f64, y: f64| DVec3::new((x - 0.1) * 0.6, y, (x - 0.1).abs() * 0.8);
        let points =
            [fold(0.0, 0.0), fold(0.1, 0.0), fold(0.2, 0.0), fold(0.2, 0.2), fold(0.1, 0.2), fold(0.0, 0.2)];
        let folded = Sheet::new(&pattern, &points, &Settings::default()).unwrap();
        let (sources, triangles) = folded.split_at_creases();
        assert!(sources.len() > folded.places.len());
        assert_eq!(triangles.len(), folded.triangles.len());
        for (split, whole) in triangles.iter().zip(&folded.triangles) {
            assert_eq!(split.map(|v| sources[v as usize]), *whole);
        }
        let valleys: Vec<Edge> =
            folded.edges().into_iter().filter(|edge| edge.crease == Crease::Valley).collect();
        assert!(!valleys.is_empty() && folded.edges().iter().all(|edge| edge.crease != Crease::Mountain));
        for edge in valleys {
            // 2 atan(0.8 / 0.6) of the half angles.
            assert!((edge.angle - 2.0 * math::atan2(0.8, 0.6)).abs() < 0.02, "{edge:?}");
            assert!(edge.ends.iter().all(|&v| (folded.pattern[v as usize].x - 0.1).abs() < 1e-9));
        }
        assert!(folded.isometry().strain < 1e-3);
        // Points of the pattern are found again.
        assert!(folded.at(DVec2::new(0.1, 0.1)).distance(DVec3::new(0.0, 0.1, 0.0)) < 1e-3);
    }

    #[test]
    fn relaxation_never_makes_e_worse() {
        let (pattern, points) = Case::Folded.make().unwrap();
        let border = Border::matched(&pattern, &points, 0.06).unwrap();
        let settings = Settings { repair: false, ..Settings::default() };
        let mut cutter = Cutter::new(border.pattern.clone(), border.places.clone(), 0.06, &settings);
        cutter.cut(true);
        let mut triangles = Vec::new();
        triangulate(&cutter.points, &cutter.regions, &mut triangles);
        let elements = triangles.iter().filter_map(|t| Element::new(&cutter.points, *t)).collect();
        let mut relaxer =
            Relaxer::new(elements, cutter.points.len(), border.places.len(), Hold::Pinned).unwrap();
        let mut before = relaxer.energy(&cutter.places);
        // Each count from the same start, so that rounds know of those before them.
        let start = cutter.places.clone();
        for count in 1..=30 {
            cutter.places.copy_from_slice(&start);
            relaxer.rounds(&mut cutter.places, &border.places, count);
            let after = relaxer.energy(&cutter.places);
            assert!(after <= before * (1.0 + 1e-9), "{before} → {after}");
            before = after;
        }
        let flipped = flip_edges(&cutter.points, &cutter.places, &mut triangles);
        assert!(
            flipped > 0 && measure::isometry(&cutter.points, &cutter.places, &triangles).energy <= before
        );
    }

    #[test]
    fn any_polygon_with_any_border_gives_a_disc() {
        for seed in 0..60u64 {
            let random = |k: u64| math::uniform(seed + 1, k);
            // A star around the origin, convex or not, and a border that has little to do with it.
            let n = 3 + (random(0) * 8.0) as u64;
            let corner = |k: u64| {
                let angle = (k as f64 + 0.7 * random(10 + k)) / n as f64 * std::f64::consts::TAU;
                DVec2::new(math::cos(angle), math::sin(angle)) * (0.3 + random(30 + k))
            };
            let corners: Vec<DVec2> = (0..n).map(corner).collect();
            let Ok(pattern) = Pattern::new(&corners) else { continue };
            let wild = 0.6 * random(1);
            let shake = |k: u64| DVec3::new(random(k), random(k + 1), random(k + 2)) * wild;
            let points: Vec<DVec3> =
                (0u64..).zip(pattern.corners()).map(|(k, p)| p.extend(0.0) + shake(50 + 3 * k)).collect();
            let settings = Settings {
                step: Some(pattern.length() / 30.0),
                repair: seed % 2 == 0,
                ..Settings::default()
            };
            let Ok(sheet) = Sheet::new(&pattern, &points, &settings) else { continue };
            assert!(sheet.places.iter().all(|p| p.is_finite()), "{seed}");
            assert_eq!(sheet.places.len() + sheet.triangles.len(), sheet.edges().len() + 1, "{seed}");
            let area: f64 =
                sheet.triangles.iter().filter_map(|t| Element::new(&sheet.pattern, *t)).map(|e| e.area).sum();
            assert!((area / pattern.area() - 1.0).abs() < 1e-6, "{seed}: {area} {}", pattern.area());
        }
    }

    #[test]
    fn bad_settings_are_named() {
        let (pattern, points) = Case::Bent.make().unwrap();
        let try_it = |settings: Settings| Sheet::new(&pattern, &points, &settings).unwrap_err();
        assert!(matches!(
            try_it(Settings { step: Some(1e-9), ..Settings::default() }),
            PaperError::FineStep { .. }
        ));
        for settings in [
            Settings { step: Some(0.0), ..Settings::default() },
            Settings { step: Some(f64::NAN), ..Settings::default() },
            Settings { tolerance: -1.0, ..Settings::default() },
            Settings { taut: f64::NAN, ..Settings::default() },
            Settings { rounds: 1 << 40, ..Settings::default() },
            Settings { crease_deg: 0.0, ..Settings::default() },
        ] {
            assert!(matches!(try_it(settings), PaperError::Setting { .. }));
        }
    }

    #[test]
    fn a_live_sheet_keeps_its_creases_while_they_serve() {
        let (pattern, points) = Case::Pinched.make().unwrap();
        let mut live = Live::new(pattern, &points, Settings::default()).unwrap();
        let before = live.sheet().triangles.clone();
        let mut remade = 0;
        for frame in 1..=10 {
            // The whole border swings: nothing has to be folded anew.
            let turn = math::rotation(DVec3::Y * f64::from(frame));
            let moved: Vec<DVec3> = points.iter().map(|p| turn * *p).collect();
            let change = live.follow(&moved).unwrap();
            remade += usize::from(change.remade);
        }
        assert_eq!(remade, 0);
        let kept = live.sheet().triangles.iter().filter(|t| before.contains(t)).count();
        assert!(kept * 2 > before.len(), "{kept} of {}", before.len());
        assert!(live.follow(&[DVec3::NAN; 4]).is_err());
    }
}
