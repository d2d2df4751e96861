//! Hands on paper: a point of the border of a sheet is dragged, and the sheet is folded anew as it goes (ROH-90).
//!
//! The corners and handles of a sheet are marked; a press on a mark, or Ctrl and a press anywhere on the sheet, takes hold of the border there. The
//! corners on the other side are held meanwhile, as by the other hand: a sheet that is held at one point alone would only be carried about. A
//! sheet whose border is a simulated body is pulled by that body.

use glam::{Vec2, Vec3};
use souple::Command;
use souple::paper::{BorderSource, PaperModel};
use souple_viewer::{Item, ItemKind};

use crate::sight::on_plane;
use crate::tools::{Seen, doubles};

/// How far from a mark a press may be, pixels.
const MARK_PIXELS: f32 = 12.0;

/// A point of a border in the hand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PaperHold {
    paper: String,
    /// Which point, by its share of the outline.
    share: f64,
    /// Points that are held meanwhile.
    others: Vec<f64>,
    offset: Vec3,
    /// Where it is pulled to, m.
    pub(crate) target: Vec3,
}

/// The compiled sheet that an item shows.
fn model(item: &Item) -> Option<&PaperModel> {
    let ItemKind::Paper(p) = item.kind else { return None };
    item.model.as_ref()?.papers.get(p)
}

/// Where a share of the outline is now, m.
fn place(item: &Item, paper: &PaperModel, share: f64) -> Option<Vec3> {
    item.border.get(paper.start.border.nearest(share)).copied()
}

/// Shares of the outline that are marked: corners and handles.
fn marked(paper: &PaperModel) -> Vec<f64> {
    if !paper.can_be_pulled() {
        return Vec::new();
    }
    let corners = (0..paper.rules.pattern.corners().len()).map(|k| paper.rules.pattern.corner_share(k));
    let mut shares: Vec<f64> = corners.chain(paper.handles.iter().map(|handle| handle.share)).collect();
    shares.sort_by(f64::total_cmp);
    shares.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
    shares
}

/// Marks of all sheets that can be pulled, m, and whether a handle is there.
pub(crate) fn marks(seen: &Seen) -> Vec<(Vec3, bool)> {
    let mut marks = Vec::new();
    for item in &seen.moment.items {
        let Some(paper) = model(item) else { continue };
        for share in marked(paper) {
            let held = paper.handles.iter().any(|handle| (handle.share - share).abs() < 1e-6);
            marks.extend(place(item, paper, share).map(|at| (at, held)));
        }
    }
    marks
}

/// Takes hold of a mark under the pointer.
pub(crate) fn take_mark(at: Vec2, seen: &Seen, commands: &mut Vec<Command>) -> Option<PaperHold> {
    let mut nearest: Option<(f32, &Item, f64)> = None;
    for item in &seen.moment.items {
        let Some(paper) = model(item) else { continue };
        for share in marked(paper) {
            let Some(pixel) = place(item, paper, share).and_then(|p| seen.camera.pixel(p, seen.size)) else {
                continue;
            };
            let distance = pixel.distance(at);
            if distance <= MARK_PIXELS && nearest.is_none_or(|(best, _, _)| distance < best) {
                nearest = Some((distance, item, share));
            }
        }
    }
    let (_, item, share) = nearest?;
    take(item, share, at, seen, commands)
}

/// Takes hold of the border where it is nearest to a point of a sheet; none if something else moves it.
pub(crate) fn take_near(
    item: &Item,
    point: Vec3,
    at: Vec2,
    seen: &Seen,
    commands: &mut Vec<Command>,
) -> Option<PaperHold> {
    let paper = model(item).filter(|paper| paper.can_be_pulled())?;
    let nearer = |a: &(usize, &Vec3), b: &(usize, &Vec3)| a.1.distance(point).total_cmp(&b.1.distance(point));
    let (sample, _) = item.border.iter().enumerate().min_by(nearer)?;
    take(item, *paper.start.border.shares.get(sample)?, at, seen, commands)
}

/// The body and particle that are nearest to a point of a sheet whose border is a body.
pub(crate) fn body_near(item: &Item, point: Vec3) -> Option<(String, u32)> {
    let paper = model(item)?;
    let BorderSource::Body { body, around } = &paper.source else { return None };
    let place = |k: usize| place(item, paper, k as f64 / around.len() as f64);
    let away = |k: &usize| place(*k).map_or(f32::INFINITY, |p| p.distance(point));
    let nearest = (0..around.len()).min_by(|a, b| away(a).total_cmp(&away(b)))?;
    Some((item.model.as_ref()?.bodies.get(*body)?.name.clone(), around[nearest]))
}

fn take(item: &Item, share: f64, at: Vec2, seen: &Seen, commands: &mut Vec<Command>) -> Option<PaperHold> {
    let paper = model(item)?;
    let target = place(item, paper, share)?;
    let offset = target - on_plane(&seen.camera, target, at, seen.size)?;
    let name = item.name.to_string();
    let others = held_meanwhile(paper, share);
    for &other in &others {
        let there = place(item, paper, other)?;
        commands.push(Command::PullPaper { paper: name.clone(), at: other, place: Some(doubles(there)) });
    }
    Some(PaperHold { paper: name, share, others, offset, target })
}

/// The corners that the other hand holds: all but the one that is dragged and the next, unless handles hold the sheet already.
fn held_meanwhile(paper: &PaperModel, share: f64) -> Vec<f64> {
    if paper.handles.iter().filter(|handle| (handle.share - share).abs() >= 1e-6).count() >= 2 {
        return Vec::new();
    }
    let pattern = &paper.rules.pattern;
    let ahead = |k: &usize| (pattern.corner_share(*k) - share).rem_euclid(1.0);
    let mut corners: Vec<usize> = (0..pattern.corners().len()).filter(|k| ahead(k) > 1e-6).collect();
    corners.sort_by(|a, b| ahead(a).total_cmp(&ahead(b)));
    let handled = |share: f64| paper.handles.iter().any(|handle| (handle.share - share).abs() < 1e-6);
    let shares = corners.into_iter().skip(1).map(|k| pattern.corner_share(k));
    shares.filter(|share| !handled(*share)).collect()
}

impl PaperHold {
    /// The pointer goes on.
    pub(crate) fn drag(&mut self, at: Vec2, seen: &Seen) -> Option<Command> {
        self.target = on_plane(&seen.camera, self.target, at, seen.size)? + self.offset;
        let place = Some(doubles(self.target));
        Some(Command::PullPaper { paper: self.paper.clone(), at: self.share, place })
    }

    /// Lets go of all of it; the sheet stays as it is.
    pub(crate) fn release(self) -> Vec<Command> {
        let all = self.others.into_iter().chain([self.share]);
        all.map(|at| Command::PullPaper { paper: self.paper.clone(), at, place: None }).collect()
    }
}

#[cfg(test)]
mod tests {
    use souple::scene::{Body, Grid, Paper, PaperBorder, Scene, Shape};
    use souple::{ModelBuilder, Simulation};
    use souple_viewer::{Camera, Capture};

    use crate::tools::{Button, Hands, Modifiers, Pointer};
    use crate::worker::Shown;

    use super::*;

    const SIZE: Vec2 = Vec2::new(640.0, 480.0);
    const CTRL: Modifiers = Modifiers { ctrl: true, shift: false, alt: false };

    /// A sheet that is seen from above, and a drag across it.
    fn drag(scene: &Scene, from: Vec3, by: Vec2, modifiers: Modifiers) -> (Simulation, Vec<Command>) {
        let model = ModelBuilder::new(scene).build().unwrap();
        let mut capture = Capture::new(scene, &model);
        let mut simulation = Simulation::new(model);
        let target = Vec3::new(0.15, 0.0, -0.1);
        let camera = Camera { target, yaw: 0.0, pitch: 1.2, distance: 1.0, ..Camera::default() };
        let (mut hands, shown) = (Hands::default(), Shown::default());
        let start = camera.pixel(from, SIZE).unwrap();
        let button = Button::Left;
        let events = [
            Pointer::Down { button, at: start, modifiers },
            Pointer::Move { at: start + 0.5 * by, modifiers },
            Pointer::Move { at: start + by, modifiers },
            Pointer::Up { button, at: start + by, modifiers },
        ];
        let mut given = Vec::new();
        for event in events {
            let moment = capture.moment(&simulation);
            let seen = Seen { shown: &shown, moment: &moment, camera, size: SIZE, live: true };
            let reaction = hands.handle(event, &seen);
            assert_eq!(reaction.camera, None, "the view stays");
            for command in reaction.commands {
                simulation.command(command.clone()).unwrap();
                given.push(command);
            }
            simulation.step();
        }
        (simulation, given)
    }

    fn sheet(border: PaperBorder, size: Option<[f64; 2]>) -> Paper {
        let folding = souple::scene::Folding { step: Some(0.03), ..Default::default() };
        Paper { name: "a4".into(), border, size, folding, ..Paper::default() }
    }

    #[test]
    fn a_corner_is_dragged_and_the_sheet_folds_and_stays() {
        let scene = Scene { papers: vec![sheet(PaperBorder::Flat, Some([0.297, 0.21]))], ..Scene::default() };
        let corner = Vec3::new(0.297, 0.0, -0.21);
        let (simulation, given) = drag(&scene, corner, Vec2::new(-40.0, -30.0), Modifiers::default());
        let state = &simulation.state().papers[0];
        let share = simulation.model().papers[0].rules.pattern.corner_share(2);
        let moved = state.crumple.border.at(share).as_vec3().distance(corner);
        assert!(moved > 0.02, "{moved}");
        assert!(state.hands.is_empty(), "all is let go");
        assert!(state.crumple.border.places[0].length() < 0.02, "the other hand held the first corner");
        let lets_go = |c: &&Command| matches!(c, Command::PullPaper { place: None, .. });
        assert_eq!(given.iter().filter(lets_go).count(), 3);
        // With Ctrl the border is taken wherever it is nearest.
        let (simulation, given) = drag(&scene, Vec3::new(0.15, 0.0, -0.2), Vec2::new(0.0, 40.0), CTRL);
        assert!(given.iter().all(|command| matches!(command, Command::PullPaper { .. })) && given.len() > 3);
        assert!(simulation.state().papers[0].crumple.sheet.places.iter().any(|p| p.y.abs() > 1e-3));
    }

    #[test]
    fn paper_around_a_body_is_pulled_by_the_body() {
        let cloth = Body {
            name: "cloth".into(),
            fabric: Some("denim".into()),
            shape: Shape::Grid(Grid { size: [0.3, 0.2], vertices: [7, 5], ..Grid::default() }),
            ..Body::default()
        };
        let papers = vec![sheet(PaperBorder::Body("cloth".into()), None)];
        let scene = Scene { bodies: vec![cloth], papers, gravity: [0.0; 3], ..Scene::default() };
        let model = ModelBuilder::new(&scene).build().unwrap();
        let corner = model.papers[0].start.border.places[0].as_vec3();
        let inwards = corner.lerp(Vec3::new(0.15, corner.y, 0.1), 0.1);
        let (_, given) = drag(&scene, inwards, Vec2::new(0.0, 20.0), CTRL);
        assert!(matches!(&given[0], Command::Grab { body, .. } if body == "cloth"), "{given:?}");
        assert!(matches!(given.last(), Some(Command::Release { .. })));
    }
}
