//! A sheet whose border moves: its creases persist from frame to frame (beyond the seed, which made each frame anew).
//!
//! Each frame the mesh of the frame before is kept, its border moved, and all is relaxed; edges flip where that helps by a margin. The matrix is
//! factored again only if one did. When the sheet keeps its pattern clearly worse than after it was last made, a new one is tried, and
//! taken only if it is better by half: creases neither flicker nor wander off.

use glam::{DMat3, DVec2, DVec3};

use super::relax::Relaxer;
use super::sheet::Effort;
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

/// What does not change about a sheet that moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// The flat sheet.
    pub pattern: Pattern,
    /// How it is folded.
    pub settings: Settings,
    /// Distance of vertices along the outline, m.
    step: f64,
}

impl Rules {
    /// Refuses settings that are out of range.
    pub fn new(pattern: Pattern, settings: Settings) -> Result<Rules, PaperError> {
        let step = settings.step_for(&pattern)?;
        Ok(Rules { pattern, settings, step })
    }

    /// Begins with a closed curve in space.
    pub fn matched(&self, points: &[DVec3]) -> Result<Crumple, PaperError> {
        Ok(self.crumple(Border::matched(&self.pattern, points, self.step)?))
    }

    /// Begins with the sheet flat, wherever `place` puts points of the pattern.
    pub fn flat(&self, place: impl Fn(DVec2) -> DVec3) -> Crumple {
        self.crumple(Border::flat(&self.pattern, self.step, place))
    }

    /// Folds a sheet into a border that is matched already.
    pub fn crumple(&self, border: Border) -> Crumple {
        let sheet = Sheet::from_border(border.clone(), self.step, &self.settings, &Effort::WHOLE);
        let known = sheet.isometry().energy;
        Crumple { border, sheet, known }
    }
}

/// Memory that a sheet that moves is faster with. What comes of it is the same without.
#[derive(Debug, Default)]
pub struct Scratch {
    relaxer: Option<Relaxer>,
}

/// A sheet and its border, as they are in a frame: all that the next one depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Crumple {
    /// Its border as it was last given, mended if that is wanted.
    pub border: Border,
    /// The sheet.
    pub sheet: Sheet,
    /// E at the last trial of a new sheet, m².
    pub(crate) known: f64,
}

impl Crumple {
    /// Goes on with another border in space.
    pub fn follow(
        &mut self,
        rules: &Rules,
        scratch: &mut Scratch,
        points: &[DVec3],
    ) -> Result<Change, PaperError> {
        self.border.follow(&rules.pattern, points)?;
        Ok(self.update(rules, scratch))
    }

    /// Goes on with points of the border pulled to other places.
    pub fn pull(
        &mut self,
        rules: &Rules,
        scratch: &mut Scratch,
        handles: &[Handle],
    ) -> Result<(Change, Criteria), PaperError> {
        let criteria = self.border.pull(handles)?;
        Ok((self.update(rules, scratch), criteria))
    }

    fn update(&mut self, rules: &Rules, scratch: &mut Scratch) -> Change {
        let Rules { pattern, settings, step } = rules;
        let Scratch { relaxer } = scratch;
        if settings.repair {
            self.sheet.repair = self.border.repair();
        }
        let hold = settings.hold();
        let count = self.sheet.border;
        // What is inside goes along as a whole first, so that a border that is only carried about leaves nothing to be relaxed.
        let moved = carry(&self.sheet.places[..count], &self.border.places);
        self.sheet.places[count..].iter_mut().for_each(|place| *place = moved(*place));
        self.sheet.places[..count].copy_from_slice(&self.border.places);
        let mut change = Change::default();
        for _ in 0..SETTLINGS {
            change.flipped += self.sheet.settle(relaxer, &self.border.places, hold, settings.rounds);
        }
        change.energy = relaxer.as_ref().map_or(f64::INFINITY, |relaxer| relaxer.energy(&self.sheet.places));
        let tolerance = settings.tolerance;
        let good = 2.0 * tolerance * tolerance * pattern.area();
        if change.energy > WORSE * self.known.max(good) {
            change.tried = true;
            let fresh = Sheet::from_border(self.border.clone(), *step, settings, &Effort::FRAME);
            let energy = fresh.isometry().energy;
            if energy < BETTER * change.energy {
                (self.sheet, *relaxer) = (fresh, None);
                (change.remade, change.energy) = (true, energy);
            }
            self.known = change.energy;
        }
        // What has got better may get worse again without a new sheet at once.
        self.known = self.known.min(WORSE * change.energy).max(good);
        change
    }
}

/// A sheet that follows its border, with all it needs.
#[derive(Debug)]
pub struct Live {
    rules: Rules,
    now: Crumple,
    scratch: Scratch,
}

impl Live {
    /// Begins with a border in space.
    pub fn new(pattern: Pattern, points: &[DVec3], settings: Settings) -> Result<Live, PaperError> {
        let rules = Rules::new(pattern, settings)?;
        Ok(Live { now: rules.matched(points)?, rules, scratch: Scratch::default() })
    }

    /// Begins with the sheet flat, wherever `place` puts points of the pattern.
    pub fn flat(
        pattern: Pattern,
        place: impl Fn(DVec2) -> DVec3,
        settings: Settings,
    ) -> Result<Live, PaperError> {
        let rules = Rules::new(pattern, settings)?;
        Ok(Live { now: rules.flat(place), rules, scratch: Scratch::default() })
    }

    /// The sheet as it is now.
    pub fn sheet(&self) -> &Sheet {
        &self.now.sheet
    }

    /// Its border as it was last given, mended if that is wanted.
    pub fn border(&self) -> &Border {
        &self.now.border
    }

    /// Goes on with another border in space.
    pub fn follow(&mut self, points: &[DVec3]) -> Result<Change, PaperError> {
        self.now.follow(&self.rules, &mut self.scratch, points)
    }

    /// Goes on with points of the border pulled to other places.
    pub fn pull(&mut self, handles: &[Handle]) -> Result<(Change, Criteria), PaperError> {
        self.now.pull(&self.rules, &mut self.scratch, handles)
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
