//! A sheet whose border moves: its creases persist from frame to frame (beyond the seed, which made each frame anew).
//!
//! Each frame the mesh of the frame before is kept, its border moved, and all is relaxed; edges flip where that helps by a margin. The matrix is
//! factored again only if one did. When the sheet keeps its pattern clearly worse than after it was last made, a new one is tried, and
//! taken only if it is better by half: creases neither flicker nor wander off.

use glam::{DMat3, DVec3};

use super::relax::Relaxer;
use super::{Border, Criteria, Handle, PaperError, Pattern, Settings, Sheet};
use crate::math::polar;

/// A new sheet is tried when E has grown by this factor since the last trial.
const WORSE: f64 = 1.5;
/// A new sheet is taken when it has less than this share of the E of the old.
const BETTER: f64 = 0.5;
/// Times that edges are flipped and all is relaxed per frame.
const SETTLINGS: usize = 2;

/// What a frame changed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// Whether a new sheet was tried.
    pub tried: bool,
    /// Whether it was taken: all creases may have moved.
    pub remade: bool,
    /// Edges flipped, if not.
    pub flipped: usize,
    /// E after it, m².
    pub energy: f64,
}

/// A sheet that follows its border.
#[derive(Debug)]
pub struct Live {
    pattern: Pattern,
    settings: Settings,
    step: f64,
    border: Border,
    sheet: Sheet,
    relaxer: Option<Relaxer>,
    /// E at the last trial of a new sheet, m².
    known: f64,
}

impl Live {
    /// Begins with a border in space.
    pub fn new(pattern: Pattern, points: &[DVec3], settings: Settings) -> Result<Live, PaperError> {
        let step = settings.step_for(&pattern)?;
        let border = Border::matched(&pattern, points, step)?;
        Ok(Live::from_border(pattern, border, step, settings))
    }

    /// Begins with the sheet flat, wherever `place` puts points of the pattern.
    pub fn flat(
        pattern: Pattern,
        place: impl Fn(glam::DVec2) -> DVec3,
        settings: Settings,
    ) -> Result<Live, PaperError> {
        let step = settings.step_for(&pattern)?;
        let border = Border::flat(&pattern, step, place);
        Ok(Live::from_border(pattern, border, step, settings))
    }

    fn from_border(pattern: Pattern, border: Border, step: f64, settings: Settings) -> Live {
        let sheet = Sheet::from_border(border.clone(), step, &settings);
        let known = sheet.isometry().energy;
        Live { pattern, settings, step, border, sheet, relaxer: None, known }
    }

    /// The sheet as it is now.
    pub fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    /// Its border as it was last given, mended if that is wanted.
    pub fn border(&self) -> &Border {
        &self.border
    }

    /// Goes on with another border in space.
    pub fn follow(&mut self, points: &[DVec3]) -> Result<Change, PaperError> {
        self.border.follow(&self.pattern, points)?;
        Ok(self.update())
    }

    /// Goes on with points of the border pulled to other places.
    pub fn pull(&mut self, handles: &[Handle]) -> Result<(Change, Criteria), PaperError> {
        let criteria = self.border.pull(handles)?;
        Ok((self.update(), criteria))
    }

    fn update(&mut self) -> Change {
        if self.settings.repair {
            self.sheet.repair = self.border.repair();
        }
        let hold = self.settings.hold();
        let count = self.sheet.border;
        // What is inside goes along as a whole first, so that a border that is only carried about leaves nothing to be relaxed.
        let moved = carry(&self.sheet.places[..count], &self.border.places);
        self.sheet.places[count..].iter_mut().for_each(|place| *place = moved(*place));
        self.sheet.places[..count].copy_from_slice(&self.border.places);
        let mut change = Change::default();
        for _ in 0..SETTLINGS {
            change.flipped +=
                self.sheet.settle(&mut self.relaxer, &self.border.places, hold, self.settings.rounds);
        }
        change.energy =
            self.relaxer.as_ref().map_or(f64::INFINITY, |relaxer| relaxer.energy(&self.sheet.places));
        let tolerance = self.settings.tolerance;
        let good = 2.0 * tolerance * tolerance * self.pattern.area();
        if change.energy > WORSE * self.known.max(good) {
            change.tried = true;
            let fresh = Sheet::from_border(self.border.clone(), self.step, &self.settings);
            let energy = fresh.isometry().energy;
            if energy < BETTER * change.energy {
                (self.sheet, self.relaxer) = (fresh, None);
                (change.remade, change.energy) = (true, energy);
            }
            self.known = change.energy;
        }
        // What has got better may get worse again without a new sheet at once.
        self.known = self.known.min(WORSE * change.energy).max(good);
        change
    }
}

/// The rigid motion nearest to that from one list of points to another (Kabsch 1976).
fn carry(from: &[DVec3], to: &[DVec3]) -> impl Fn(DVec3) -> DVec3 + use<> {
    let middle = |points: &[DVec3]| points.iter().sum::<DVec3>() / points.len().max(1) as f64;
    let (a, b) = (middle(from), middle(to));
    let outer = |(p, q): (&DVec3, &DVec3)| {
        let (p, q) = (*p - a, *q - b);
        DMat3::from_cols(q * p.x, q * p.y, q * p.z)
    };
    let rotation = polar(from.iter().zip(to).map(outer).fold(DMat3::ZERO, |sum, one| sum + one));
    let rotation = if rotation.is_finite() { rotation } else { DMat3::IDENTITY };
    move |p| b + rotation * (p - a)
}
