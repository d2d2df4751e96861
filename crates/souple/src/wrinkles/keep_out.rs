//! Keeps folds on the side of other surfaces on which the cloth is (ROH-86): meshes that are run into, skins of characters, other bodies.
//!
//! A vertex of the fine mesh goes from its place on the coarse cloth, which contact keeps out of everything, to where folds have it. Where that way passes through a
//! triangle of an obstacle, the vertex is put back to the near side of it: the fold is lost there, as the thesis has it. The rule needs no inside, so that open meshes and
//! layers of cloth are obstacles like closed ones. Shapes by formula are kept out of by their distance. The coarse cloth is an obstacle to its own folds, too, but for the
//! triangles around the one that a vertex is on.
//!
//! Promised: no vertex is beyond a surface that its coarse place is before. Not promised: the same of what is between vertices, which are half of the smallest radius
//! apart, nor that a cloth which is inside already comes out, nor that folds of two layers which face each other do not meet between them.

use glam::DVec3;

use super::Wrinkles;
use super::fine::FineMesh;
use crate::mesh::bounds;
use crate::model::{BodyModel, Carrier};
use crate::simulation::Simulation;

/// Times that a vertex is put back, at most: in a corner of several triangles one after the other.
const ROUNDS: usize = 4;
/// Most cells of the grid that triangles are looked up in.
const MOST_CELLS: f64 = 262_144.0;

/// Distance that folds of skins keep from other surfaces, m: skins have no thickness of their own.
const SKIN_MARGIN: f64 = 0.002;

/// A surface that folds must not pass.
#[derive(Clone, Debug, Default)]
struct Obstacle {
    /// Vertices, m.
    places: Vec<DVec3>,
    /// Three vertices each.
    triangles: Vec<[u32; 3]>,
}

/// Triangles of an obstacle by the cells of a grid that their boxes reach.
struct Cells {
    low: DVec3,
    size: f64,
    counts: [usize; 3],
    /// Triangles of cell k: `held[starts[k]..starts[k + 1]]`.
    starts: Vec<u32>,
    held: Vec<u32>,
}

impl Cells {
    /// Of the triangles that reach into a box; none if no one does.
    fn new(obstacle: &Obstacle, (low, high): (DVec3, DVec3)) -> Option<Cells> {
        let reach = |t: &[u32; 3]| bounds(&t.map(|v| obstacle.places[v as usize]));
        let boxes: Vec<(u32, DVec3, DVec3)> = (0u32..)
            .zip(&obstacle.triangles)
            .map(|(k, t)| (k, reach(t)))
            .filter(|(_, (from, to))| from.cmple(high).all() && to.cmpge(low).all())
            .map(|(k, (from, to))| (k, from.max(low), to.min(high)))
            .collect();
        if boxes.is_empty() {
            return None;
        }
        let extent = (high - low).max(DVec3::splat(1e-9));
        let mean =
            boxes.iter().map(|(_, from, to)| (*to - *from).max_element()).sum::<f64>() / boxes.len() as f64;
        let least =
            crate::math::cbrt(extent.x * extent.y * extent.z / MOST_CELLS).max(1e-3 * extent.max_element());
        let size = mean.max(least);
        let counts = extent.to_array().map(|e| (e / size) as usize + 1);
        let mut cells = Cells {
            low,
            size,
            counts,
            starts: vec![0; counts.iter().product::<usize>() + 1],
            held: Vec::new(),
        };
        for (_, from, to) in &boxes {
            let mut starts = std::mem::take(&mut cells.starts);
            cells.each(*from, *to, |cell| starts[cell + 1] += 1);
            cells.starts = starts;
        }
        for k in 1..cells.starts.len() {
            cells.starts[k] += cells.starts[k - 1];
        }
        let mut next = cells.starts.clone();
        let mut held = vec![0; cells.starts.last().map_or(0, |count| *count as usize)];
        for (t, from, to) in &boxes {
            cells.each(*from, *to, |cell| {
                held[next[cell] as usize] = *t;
                next[cell] += 1;
            });
        }
        cells.held = held;
        Some(cells)
    }

    /// Visits the cells that a box reaches.
    fn each(&self, from: DVec3, to: DVec3, mut visit: impl FnMut(usize)) {
        let cell = |p: DVec3| {
            let p = ((p - self.low) / self.size).to_array();
            [0, 1, 2].map(|k| (p[k].max(0.0) as usize).min(self.counts[k] - 1))
        };
        let ([x0, y0, z0], [x1, y1, z1]) = (cell(from), cell(to));
        for x in x0..=x1 {
            for y in y0..=y1 {
                (z0..=z1).for_each(|z| visit((x * self.counts[1] + y) * self.counts[2] + z));
            }
        }
    }

    /// The first triangle that the way between two points passes, and at which share of it.
    fn first_hit(
        &self,
        obstacle: &Obstacle,
        from: DVec3,
        to: DVec3,
        counts: impl Fn(&[u32; 3]) -> bool,
    ) -> Option<(f64, u32)> {
        let mut first: Option<(f64, u32)> = None;
        self.each(from.min(to), from.max(to), |cell| {
            for &t in &self.held[self.starts[cell] as usize..self.starts[cell + 1] as usize] {
                let of = &obstacle.triangles[t as usize];
                if let Some(share) = crossing(from, to, of.map(|v| obstacle.places[v as usize]))
                    && counts(of)
                    && first.is_none_or(|(least, other)| (share, t) < (least, other))
                {
                    first = Some((share, t));
                }
            }
        });
        first
    }
}

/// At which share of the way between two points a triangle is passed (Möller and Trumbore 1997); its border counts, and a start in its plane does not.
fn crossing(from: DVec3, to: DVec3, [a, b, c]: [DVec3; 3]) -> Option<f64> {
    const ROUNDING: f64 = 1e-9;
    let (way, e, f) = (to - from, b - a, c - a);
    let p = way.cross(f);
    let volume = e.dot(p);
    if volume == 0.0 {
        return None;
    }
    let start = from - a;
    let (u, q) = (start.dot(p) / volume, start.cross(e));
    let (v, share) = (way.dot(q) / volume, f.dot(q) / volume);
    let inside = u >= -ROUNDING && v >= -ROUNDING && u + v <= 1.0 + ROUNDING;
    (inside && share > 0.0 && share <= 1.0).then_some(share)
}

/// Puts the vertices of a fine mesh that folds moved through an obstacle back to `margin` (m) before it, or as near as the coarse cloth is.
fn keep_out(fine: &FineMesh, coarse: &[DVec3], obstacle: &Obstacle, margin: f64, places: &mut [DVec3]) {
    keep_before(fine, coarse, obstacle, margin, |_, _| true, places);
}

/// The same of the cloth itself: no vertex passes a triangle of it that does not touch the one it is on.
fn keep_out_of_itself(wrinkles: &Wrinkles, coarse: &[DVec3], margin: f64, places: &mut [DVec3]) {
    let Wrinkles { pattern, fine, .. } = wrinkles;
    let obstacle = Obstacle { places: coarse.to_vec(), triangles: pattern.triangles.clone() };
    let is_apart = |v: usize, other: &[u32; 3]| {
        let own = &pattern.triangles[fine.at[v].triangle as usize];
        !other.iter().any(|corner| own.contains(corner))
    };
    keep_before(fine, coarse, &obstacle, margin, is_apart, places);
}

/// The same of those triangles of an obstacle that count for a vertex.
fn keep_before(
    fine: &FineMesh,
    coarse: &[DVec3],
    obstacle: &Obstacle,
    margin: f64,
    counts: impl Fn(usize, &[u32; 3]) -> bool,
    places: &mut [DVec3],
) {
    let starts: Vec<DVec3> = (0..places.len()).map(|v| fine.mixed(v, coarse)).collect();
    let ((low, high), (from, to)) = (bounds(places), bounds(&starts));
    let Some(cells) = Cells::new(obstacle, (low.min(from), high.max(to))) else { return };
    for (v, (start, place)) in starts.into_iter().zip(places).enumerate() {
        let moved = *place;
        for round in 0..=ROUNDS {
            let hit = cells.first_hit(obstacle, start, *place, |t| counts(v, t));
            let Some((share, t)) = hit else { break };
            if round == ROUNDS {
                *place = start.lerp(*place, 0.9 * share);
                break;
            }
            let [a, b, c] = obstacle.triangles[t as usize].map(|v| obstacle.places[v as usize]);
            let normal = (b - a).cross(c - a).normalize_or_zero();
            let before = (start - a).dot(normal);
            let (normal, before) = if before < 0.0 { (-normal, -before) } else { (normal, before) };
            *place += normal * ((a - *place).dot(normal) + before.min(margin));
        }
        if !place.is_finite() {
            *place = moved;
        }
    }
}

/// Keeps the folds of a body out of everything else of its scene.
pub(crate) fn keep_body_out(scene: &Simulation, body: usize, coarse: &[DVec3], places: &mut [DVec3]) {
    let BodyModel { wrinkles: Some(wrinkles), skin, .. } = &scene.model().bodies[body] else { return };
    let others = meshes_of_colliders(scene, None).chain(meshes_of_bodies(scene, Some(body)));
    others.for_each(|obstacle| keep_out(&wrinkles.fine, coarse, &obstacle, *skin, places));
    keep_out_of_itself(wrinkles, coarse, *skin, places);
    keep_out_of_shapes(scene, *skin, places);
}

/// Keeps the folds of a skin, whose places are in the frame of its character, out of other meshes of its scene.
pub(crate) fn keep_skin_out(scene: &Simulation, collider: usize, coarse: &[DVec3], places: &mut [DVec3]) {
    let Some(wrinkles) = &scene.model().colliders[collider].wrinkles else { return };
    let pose = scene.collider_pose(collider);
    for mut obstacle in meshes_of_colliders(scene, Some(collider)).chain(meshes_of_bodies(scene, None)) {
        obstacle.places.iter_mut().for_each(|place| *place = pose.apply_inverse(*place));
        keep_out(&wrinkles.fine, coarse, &obstacle, SKIN_MARGIN, places);
    }
    keep_out_of_itself(wrinkles, coarse, SKIN_MARGIN, places);
}

/// Colliders that are meshes, as they are now, but for one and what shows meshes of the same character that it does.
fn meshes_of_colliders(scene: &Simulation, but: Option<usize>) -> impl Iterator<Item = Obstacle> + '_ {
    let colliders = &scene.model().colliders;
    let shown = |c: usize| match &colliders[c].carrier {
        Carrier::Skin { character, vertices } => {
            let mut meshes: Vec<(usize, u32)> =
                vertices.iter().map(|(mesh, _)| (*character, *mesh)).collect();
            meshes.dedup();
            meshes
        }
        _ => Vec::new(),
    };
    let own = but.map_or(Vec::new(), shown);
    let others = (0..colliders.len()).filter(move |&c| but != Some(c));
    others.filter(move |&c| !shown(c).iter().any(|mesh| own.contains(mesh))).filter_map(move |c| {
        let mesh = colliders[c].form.mesh()?;
        let (pose, moving) = (scene.collider_pose(c), scene.skin_places(c));
        let places = if moving.is_empty() { &mesh.positions } else { &moving };
        let places = places.iter().map(|p| pose.apply(*p)).collect();
        Some(Obstacle { places, triangles: mesh.triangles.clone() })
    })
}

/// Bodies with a surface, as they are now, but for one and those that something else is drawn instead of.
fn meshes_of_bodies(scene: &Simulation, but: Option<usize>) -> impl Iterator<Item = Obstacle> + '_ {
    let bodies = scene.model().bodies.iter().zip(&scene.state().bodies).enumerate();
    let others = bodies.filter(move |(b, (model, _))| but != Some(*b) && !model.is_worn());
    others.filter(|(_, (_, state))| !state.topology.triangles.is_empty()).map(|(_, (_, state))| Obstacle {
        places: state.x.clone(),
        triangles: state.topology.triangles.clone(),
    })
}

/// Puts points that folds have moved into colliders by formula back to their surface.
fn keep_out_of_shapes(scene: &Simulation, skin: f64, places: &mut [DVec3]) {
    for (c, collider) in scene.model().colliders.iter().enumerate() {
        let Some(shape) = collider.form.primitive() else { continue };
        let pose = scene.collider_pose(c);
        let (low, high) = shape.bounds(&pose, skin);
        for place in places.iter_mut().filter(|p| p.cmpge(low).all() && p.cmple(high).all()) {
            let (distance, normal) = shape.signed_distance_and_normal(pose.apply_inverse(*place));
            if distance < skin {
                *place += pose.rotate(normal) * (skin - distance);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrinkles::tests::{sheet, wrinkles};
    use crate::wrinkles::{Projector, Tracker};

    /// Two triangles in the plane y = height.
    fn floor(height: f64) -> Obstacle {
        let corner = |x: f64, z: f64| DVec3::new(x, height, z);
        Obstacle {
            places: vec![corner(-2.0, -2.0), corner(2.0, -2.0), corner(2.0, 2.0), corner(-2.0, 2.0)],
            triangles: vec![[0, 2, 1], [0, 3, 2]],
        }
    }

    #[test]
    fn folds_stay_on_the_side_of_a_surface_on_which_the_cloth_is() {
        let (x, t) = sheet(11, 11, 1.0, 1.0);
        let w = wrinkles(&x, &t, 0.015, 6);
        let places: Vec<DVec3> = x.iter().map(|p| DVec3::new(0.8 * p.x, 0.0, p.z)).collect();
        let folds = w.settled(&mut Tracker::default(), &places);
        let mut out = Vec::new();
        w.surface(&mut Projector::default(), &folds, &places, &mut out);
        let (lowest, highest) = out.iter().fold((0.0f64, 0.0f64), |(l, h), p| (l.min(p.y), h.max(p.y)));
        assert!(highest > 0.012 && lowest > -1e-3, "{lowest} {highest}");
        // A ceiling 5 mm above: nothing passes it, what was below its margin is as it was.
        let (free, ceiling) = (out.clone(), floor(0.005));
        keep_out(&w.fine, &places, &ceiling, 0.001, &mut out);
        for (before, after) in free.iter().zip(&out) {
            assert!(after.y <= 0.004 + 1e-12 || before.y < 0.005 && after == before, "{before} {after}");
        }
        assert!(out.iter().zip(&free).any(|(a, b)| a != b));
        // The same from the other side, a cloth that is nearer than the margin, and a floor that no fold reaches.
        for (height, changed) in [(0.0005, true), (-0.01, false), (0.5, false)] {
            let mut out = free.clone();
            keep_out(&w.fine, &places, &floor(height), 0.001, &mut out);
            assert_eq!(out != free, changed, "{height}");
            assert!(!changed || out.iter().all(|p| p.y < height), "{height}");
        }
        // Broken obstacles are stood.
        let mut broken = floor(0.005);
        broken.places[0] = DVec3::splat(f64::NAN);
        let mut out = free.clone();
        keep_out(&w.fine, &places, &broken, 0.001, &mut out);
        keep_out(&w.fine, &places, &Obstacle::default(), 0.001, &mut out);
        assert!(out.iter().all(|p| p.is_finite()));
    }

    /// A sheet doubled over, its upper half 6 mm above the lower one, both pressed together across: folds of the lower half are 15 mm high.
    #[test]
    fn folds_do_not_pass_another_layer_of_the_same_cloth() {
        let (x, t) = sheet(13, 13, 1.2, 1.0);
        let w = wrinkles(&x, &t, 0.015, 6);
        let over = |p: &DVec3| {
            let (along, across) = (p.x, 0.8 * p.z);
            match along {
                _ if along < 0.55 => DVec3::new(along, 0.0, across),
                _ if along > 0.65 => DVec3::new(1.2 - along, 0.006, across),
                _ => DVec3::new(0.55 + 0.05, 0.003, across),
            }
        };
        let places: Vec<DVec3> = x.iter().map(over).collect();
        let folds = w.settled(&mut Tracker::default(), &places);
        let mut out = Vec::new();
        w.surface(&mut Projector::default(), &folds, &places, &mut out);
        // Away from the bend, folds of the lower half above the upper one, and folds of that one, which face down, below the lower.
        let through = |out: &[DVec3]| {
            let is_through = |s: DVec3, p: &DVec3| match s.y {
                y if y < 1e-9 => p.y > 0.006,
                y if y > 0.006 - 1e-9 => p.y < 0.0,
                _ => false,
            };
            // Beside the sheet there is no other layer to pass.
            let is_beside = |p: &DVec3| p.x < 0.0 || p.z < 0.0 || p.z > 0.8;
            let starts = (0..out.len()).map(|v| w.fine.mixed(v, &places));
            starts.zip(out).filter(|(s, p)| s.x < 0.45 && !is_beside(p) && is_through(*s, p)).count()
        };
        let before = through(&out);
        assert!(before > 100, "{before}");
        keep_out_of_itself(&w, &places, 0.001, &mut out);
        assert_eq!(through(&out), 0, "of {before}");
        // A single layer, however folded, is not its own obstacle.
        let flat: Vec<DVec3> = x.iter().map(|p| DVec3::new(p.x, 0.0, 0.8 * p.z)).collect();
        let folds = w.settled(&mut Tracker::default(), &flat);
        w.surface(&mut Projector::default(), &folds, &flat, &mut out);
        let free = out.clone();
        keep_out_of_itself(&w, &flat, 0.001, &mut out);
        assert_eq!(out, free);
    }

    #[test]
    fn a_corner_is_kept_out_of() {
        let (x, t) = sheet(5, 5, 0.2, 0.2);
        let w = wrinkles(&x, &t, 0.015, 4);
        // A wedge whose edge points down at the middle: vertices are pulled up through it.
        let tip = DVec3::new(0.1, 0.01, 0.1);
        let obstacle = Obstacle {
            places: vec![
                tip - DVec3::Z,
                tip + DVec3::Z,
                tip + DVec3::new(0.3, 0.3, -1.0),
                tip + DVec3::new(0.3, 0.3, 1.0),
                tip + DVec3::new(-0.3, 0.3, -1.0),
                tip + DVec3::new(-0.3, 0.3, 1.0),
            ],
            triangles: vec![[0, 1, 2], [1, 3, 2], [0, 4, 1], [1, 4, 5]],
        };
        let mut out: Vec<DVec3> =
            (0..w.fine.shares.len()).map(|v| w.fine.mixed(v, &x) + DVec3::Y * 0.05).collect();
        keep_out(&w.fine, &x, &obstacle, 0.001, &mut out);
        for p in &out {
            let above = p.y - tip.y - (p.x - tip.x).abs();
            assert!(above < 0.0, "{p} {above}");
        }
    }
}
