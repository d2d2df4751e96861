//! Sheets of paper as parts of a scene that runs: what moves their borders from frame to frame.
//!
//! A border is pulled by handles with key frames and by hands, follows key frames of its own, or is the outline of a simulated body.
//! Promised: the next frame depends on [`PaperState`] and the time alone; a border that cannot be followed leaves the sheet as it was.

use glam::{DVec2, DVec3};

use super::{Crumple, Handle, PaperError, Rules, Scratch};
use crate::health::{Warning, WarningKind};
use crate::model::Model;
use crate::profile::Stage;
use crate::state::{Hasher, State};

/// Two shares of an outline that are as near as this are the same point.
const SAME_SHARE: f64 = 1e-6;

/// A compiled sheet of paper.
#[derive(Clone, Debug, PartialEq)]
pub struct PaperModel {
    /// Name.
    pub name: String,
    /// Pattern and settings.
    pub rules: Rules,
    /// What moves its border.
    pub source: BorderSource,
    /// Points of the border that are held.
    pub handles: Vec<HandleModel>,
    /// The sheet when the scene begins.
    pub start: Crumple,
}

/// What moves the border of a sheet.
#[derive(Clone, Debug, PartialEq)]
pub enum BorderSource {
    /// Handles and hands, from where it was put.
    Held,
    /// Key frames: time, s, and points, m.
    Keys(Vec<(f64, Vec<DVec3>)>),
    /// A body of the scene, by its particles around.
    Body {
        /// Index of the body.
        body: usize,
        /// Particles in order, the first at the first corner of the pattern.
        around: Vec<u32>,
    },
}

/// A point of the border that is held.
#[derive(Clone, Debug, PartialEq)]
pub struct HandleModel {
    /// Which, by its share of the outline.
    pub share: f64,
    /// Time, s, and place, m, ascending; at least one.
    pub keys: Vec<(f64, DVec3)>,
}

/// What changes about a sheet of paper.
#[derive(Clone, Debug, PartialEq)]
pub struct PaperState {
    /// Border and sheet.
    pub crumple: Crumple,
    /// What hands have moved each handle by, on top of its key frames, m.
    pub offsets: Vec<DVec3>,
    /// Points that hands hold besides.
    pub hands: Vec<Handle>,
    /// Frames so far in which all creases were made anew.
    pub remade: u32,
}

/// Where key frames are at a time, from the one before and the one after with the share of the way.
pub(crate) fn between<T>(keys: &[(f64, T)], time: f64) -> Option<(&T, &T, f64)> {
    let next = keys.iter().position(|key| key.0 > time).unwrap_or(keys.len());
    let before = keys.get(next.saturating_sub(1))?;
    let after = keys.get(next).unwrap_or(before);
    let way = after.0 - before.0;
    let part = if way > 0.0 { ((time - before.0) / way).clamp(0.0, 1.0) } else { 0.0 };
    Some((&before.1, &after.1, part))
}

impl HandleModel {
    /// Where its key frames have it at a time, m.
    pub fn place(&self, time: f64) -> DVec3 {
        between(&self.keys, time).map_or(DVec3::ZERO, |(from, to, part)| from.lerp(*to, part))
    }
}

impl PaperModel {
    /// How it is when the scene begins.
    pub fn begin(&self) -> PaperState {
        let offsets = vec![DVec3::ZERO; self.handles.len()];
        PaperState { crumple: self.start.clone(), offsets, hands: Vec::new(), remade: 0 }
    }

    /// Whether hands can pull it; else its border is imposed.
    pub fn can_be_pulled(&self) -> bool {
        self.source == BorderSource::Held
    }

    /// The handle at a share of the outline.
    fn handle_at(&self, share: f64) -> Option<usize> {
        let away = |s: f64| (s - share).abs().min(1.0 - (s - share).abs());
        self.handles.iter().position(|handle| away(handle.share) < SAME_SHARE)
    }

    /// All points that are held at a time.
    pub fn held(&self, state: &PaperState, time: f64) -> Vec<Handle> {
        let own = self.handles.iter().zip(&state.offsets);
        let own = own.map(|(h, offset)| Handle { share: h.share, place: h.place(time) + *offset });
        own.chain(state.hands.iter().copied()).collect()
    }

    /// A hand pulls a point of the outline to a place, which a step that ends at `time` leads to, or lets it go. A handle stays where it was put,
    /// and its key frames go on from there; any other point is free again, and the sheet stays as it is.
    pub fn pull(&self, state: &mut PaperState, share: f64, place: Option<DVec3>, time: f64) {
        match (self.handle_at(share), place) {
            (Some(h), Some(place)) => state.offsets[h] = place - self.handles[h].place(time),
            (Some(_), None) => {}
            (None, place) => {
                state.hands.retain(|hand| (hand.share - share).abs() >= SAME_SHARE);
                state.hands.extend(place.map(|place| Handle { share, place }));
            }
        }
    }

    /// Goes on to a time, with the particles of the body that gives the border. On an error the sheet stays as it was.
    pub fn advance<'a>(
        &self,
        state: &mut PaperState,
        scratch: &mut Scratch,
        time: f64,
        particles: impl Fn(usize) -> Option<&'a [DVec3]>,
    ) -> Result<(), PaperError> {
        let before = state.crumple.border.places.clone();
        let change = match &self.source {
            BorderSource::Held => {
                let held = self.held(state, time);
                if held.is_empty() {
                    return Ok(());
                }
                state.crumple.pull(&self.rules, scratch, &held).map(|(change, _)| change)
            }
            BorderSource::Keys(keys) => {
                let Some((from, to, part)) = between(keys, time) else { return Ok(()) };
                let points: Vec<DVec3> = from.iter().zip(to).map(|(a, b)| a.lerp(*b, part)).collect();
                state.crumple.follow(&self.rules, scratch, &points)
            }
            BorderSource::Body { body, around } => {
                let Some(x) = particles(*body) else { return Ok(()) };
                let points: Option<Vec<DVec3>> = around.iter().map(|&v| x.get(v as usize).copied()).collect();
                let Some(points) = points else { return Ok(()) };
                state.crumple.follow(&self.rules, scratch, &points)
            }
        };
        match change {
            Ok(change) => {
                state.remade += u32::from(change.remade);
                Ok(())
            }
            Err(error) => {
                state.crumple.border.places = before;
                Err(error)
            }
        }
    }

    pub(crate) fn hash(&self, hash: &mut Hasher) {
        hash.text(&format!("{:?}{:?}{:?}", self.rules, self.source, self.handles));
        hash.vectors(&self.start.border.places);
    }
}

impl PaperState {
    pub(crate) fn hash(&self, hash: &mut Hasher) {
        let Crumple { border, sheet, known } = &self.crumple;
        hash.vectors(&border.places);
        hash.vectors(&sheet.places);
        for p in &sheet.pattern {
            hash.number(p.x);
            hash.number(p.y);
        }
        hash.triangles(&sheet.triangles);
        hash.number(*known);
        hash.vectors(&self.offsets);
        for hand in &self.hands {
            hash.number(hand.share);
            hash.vectors(&[hand.place]);
        }
        hash.word(u64::from(self.remade));
    }

    /// Whether numbers that anyone may have written can be gone on with under a model.
    pub(crate) fn fits(&self, model: &PaperModel) -> bool {
        let Crumple { border, sheet, .. } = &self.crumple;
        let n = sheet.places.len();
        let finite = |p: &DVec3| p.is_finite() && p.abs().max_element() <= 1e6;
        border.places.len() == model.start.border.places.len()
            && sheet.border == border.places.len()
            && sheet.pattern.len() == n
            && n >= sheet.border
            && sheet.pattern[..sheet.border] == border.pattern[..]
            && sheet.pattern.iter().all(|p| p.is_finite() && p.abs().max_element() <= 1e6)
            && border.places.iter().chain(&sheet.places).chain(&self.offsets).all(finite)
            && self.offsets.len() == model.handles.len()
            && self.hands.iter().all(|hand| (0.0..=1.0).contains(&hand.share) && finite(&hand.place))
            && sheet.triangles.iter().all(|t| t.iter().all(|&v| (v as usize) < n) && is_proper(*t))
    }
}

/// Carries the sheets of a scene on to where their borders are now. What cannot be followed is told once of each.
pub(crate) fn follow_borders(
    model: &Model,
    state: &mut State,
    scratch: &mut [(Scratch, bool)],
    warnings: &mut Vec<Warning>,
) {
    let State { bodies, papers, time, step, .. } = state;
    let particles = |b: usize| bodies.get(b).map(|body| &body.x[..]);
    for ((paper, state), (scratch, told)) in model.papers.iter().zip(papers).zip(scratch) {
        if let Err(error) = paper.advance(state, scratch, *time, particles)
            && !std::mem::replace(told, true)
        {
            warnings.push(Warning {
                step: *step,
                body: paper.name.clone(),
                stage: Stage::UpdateMappings,
                kind: WarningKind::NoBorder(error),
                remedy: "Keep its border as long as the outline of its pattern.".into(),
            });
        }
    }
}

fn is_proper([a, b, c]: [u32; 3]) -> bool {
    a != b && b != c && c != a
}

/// Points of a flat surface in its plane, counter-clockwise where its triangles are; nothing if it is not flat.
pub fn laid_flat(rest: &[DVec3], triangles: &[[u32; 3]]) -> Option<Vec<DVec2>> {
    let corner = |v: u32| rest[v as usize];
    let normal: DVec3 =
        triangles.iter().map(|t| (corner(t[1]) - corner(t[0])).cross(corner(t[2]) - corner(t[0]))).sum();
    let normal = normal.try_normalize()?;
    let used = || triangles.iter().flatten().map(|&v| corner(v));
    let from = used().next()?;
    let size = used().map(|p| p.distance(from)).fold(0.0, f64::max);
    if used().any(|p| (p - from).dot(normal).abs() > 1e-6 * size) {
        return None;
    }
    let x = normal.any_orthonormal_vector();
    let y = normal.cross(x);
    Some(rest.iter().map(|p| DVec2::new((*p - from).dot(x), (*p - from).dot(y))).collect())
}
