//! Folds of the bodies and skins of a scene that runs: carried on from frame to frame, drawn when somebody looks.
//!
//! Folds are part of the state; what is here is scratch memory and surfaces that were made from the state. Skins are folded in the frame of their
//! character, so that what it does as a whole moves no fold.

use std::sync::OnceLock;

use glam::DVec3;

use super::{Folds, Isometry, Projector, Tracker, Wrinkles};
use crate::model::Model;
use crate::state::{BodyState, State};

/// One body or skin.
#[derive(Debug, Default)]
struct Folded {
    tracker: Tracker,
    surface: OnceLock<Vec<DVec3>>,
}

/// All folds of a scene.
#[derive(Debug, Default)]
pub(crate) struct SceneFolds {
    bodies: Vec<Folded>,
    skins: Vec<Folded>,
}

impl SceneFolds {
    /// Room for the folds of a model.
    pub(crate) fn new(model: &Model) -> SceneFolds {
        let some = |count: usize| (0..count).map(|_| Folded::default()).collect();
        SceneFolds { bodies: some(model.bodies.len()), skins: some(model.colliders.len()) }
    }

    /// Gives everything the folds that it has when it stays as it is. `skins` has the vertices of each collider with folds.
    pub(crate) fn settle(&mut self, model: &Model, state: &mut State, skins: &[Vec<DVec3>]) {
        for (b, body) in model.bodies.iter().enumerate() {
            if let Some(wrinkles) = &body.wrinkles
                && let Some(x) = places_to_fold(wrinkles, &state.bodies[b])
            {
                state.folds[b] = wrinkles.settled(&mut self.bodies[b].tracker, x);
            }
        }
        for (c, collider) in model.colliders.iter().enumerate() {
            if let (Some(wrinkles), Some(x)) = (&collider.wrinkles, skins.get(c))
                && is_sound(wrinkles, x)
            {
                state.skin_folds[c] = wrinkles.settled(&mut self.skins[c].tracker, x);
            }
        }
    }

    /// Carries folds on by a frame.
    pub(crate) fn advance(&mut self, model: &Model, state: &mut State, skins: &[Vec<DVec3>]) {
        let dt = model.frame_dt();
        for (b, body) in model.bodies.iter().enumerate() {
            let Some(wrinkles) = &body.wrinkles else { continue };
            match places_to_fold(wrinkles, &state.bodies[b]) {
                Some(x) => wrinkles.advance(&mut self.bodies[b].tracker, &mut state.folds[b], x, dt),
                None => state.folds[b] = Folds::default(),
            }
        }
        for (c, collider) in model.colliders.iter().enumerate() {
            if let (Some(wrinkles), Some(x)) = (&collider.wrinkles, skins.get(c))
                && is_sound(wrinkles, x)
            {
                wrinkles.advance(&mut self.skins[c].tracker, &mut state.skin_folds[c], x, dt);
            }
        }
    }

    /// Forgets surfaces of the last state.
    pub(crate) fn forget(&mut self) {
        self.bodies.iter_mut().chain(&mut self.skins).for_each(|folded| folded.surface = OnceLock::new());
    }

    /// The surface of a body with folds; `keep_out` puts it out of what it must not cut.
    pub(crate) fn body(
        &self,
        model: &Model,
        state: &State,
        b: usize,
        keep_out: impl FnOnce(&[DVec3], &mut [DVec3]),
    ) -> Option<&[DVec3]> {
        let wrinkles = model.bodies.get(b)?.wrinkles.as_ref()?;
        let x = places_to_fold(wrinkles, &state.bodies[b])?;
        let made = self.bodies[b].surface.get_or_init(|| {
            let mut places = drawn(wrinkles, &state.folds[b], x);
            keep_out(x, &mut places);
            places
        });
        Some(made)
    }

    /// The surface of a skin with folds, in the frame of its character.
    pub(crate) fn skin(
        &self,
        model: &Model,
        state: &State,
        c: usize,
        places: impl FnOnce() -> Vec<DVec3>,
        keep_out: impl FnOnce(&[DVec3], &mut [DVec3]),
    ) -> Option<&[DVec3]> {
        let wrinkles = model.colliders.get(c)?.wrinkles.as_ref()?;
        let made = self.skins[c].surface.get_or_init(|| {
            let x = places();
            if !is_sound(wrinkles, &x) {
                return Vec::new();
            }
            let mut fine = drawn(wrinkles, &state.skin_folds[c], &x);
            keep_out(&x, &mut fine);
            fine
        });
        (!made.is_empty()).then_some(made)
    }

    /// How near the surface that is simulated, and the one that is drawn with folds, are to the pattern of a body.
    pub(crate) fn isometry(model: &Model, state: &State, b: usize, fine: &[DVec3]) -> Option<[Isometry; 2]> {
        let wrinkles = model.bodies.get(b)?.wrinkles.as_ref()?;
        Some(wrinkles.isometry(places_to_fold(wrinkles, &state.bodies[b])?, fine))
    }
}

fn drawn(wrinkles: &Wrinkles, folds: &Folds, x: &[DVec3]) -> Vec<DVec3> {
    let mut places = Vec::new();
    wrinkles.surface(&mut Projector::default(), folds, x, &mut places);
    places
}

fn is_sound(wrinkles: &Wrinkles, x: &[DVec3]) -> bool {
    x.len() == wrinkles.pattern.home.len() && x.iter().all(|p| p.is_finite())
}

/// Where the vertices are that folds are drawn on; none if the body was cut since, or its state was changed by hand to one that does not fit.
fn places_to_fold<'a>(wrinkles: &Wrinkles, body: &'a BodyState) -> Option<&'a [DVec3]> {
    let seen = wrinkles.pattern.home.len();
    let is_whole = body.topology.version == 0 || body.topology.in_use.is_some();
    body.x.get(..seen).filter(|x| is_whole && x.iter().all(|p| p.is_finite()))
}
