//! Wrinkles on coarse cloth: folds that give back the length which a coarse mesh has lost (ROH-70 to ROH-88).
//!
//! Rohmer, Popa, Cani, Hahmann, Sheffer, *Animation wrinkling: augmenting coarse cloth simulations with realistic-looking wrinkles*, SIGGRAPH Asia 2010;
//! Rohmer's thesis of 2011, chapter 3. Per frame: `tensor.rs` measures how the cloth is stretched against its pattern (`pattern.rs`), `track.rs`
//! carries the curves of folds on and traces them anew (`trace.rs`), `project.rs` moves a fine mesh (`fine.rs`) onto the folds, whose section is that of
//! `fold.rs` and whose fields are those of `field.rs`, out of other surfaces (`keep_out.rs`); `measure.rs` says how near the result is to the pattern.
//!
//! Promised: the same bits for any number of threads and after a restore; no fold moves by more than the smallest radius per frame, no strength
//! changes faster than 1/[`track::RISE_TIME`]. Not promised: that folds do not cut through other layers of the same cloth, nor forces back on the
//! coarse cloth.

pub mod field;
pub mod fine;
pub mod fold;
mod keep_out;
pub mod measure;
pub mod pattern;
mod played;
pub mod project;
mod still;
pub mod tensor;
pub mod trace;
pub mod track;

use glam::DVec3;

pub use fine::FineMesh;
pub use fold::Profile;
pub(crate) use keep_out::{keep_body_out, keep_skin_out};
pub use measure::{Isometry, isometry};
pub use pattern::{Pattern, PatternError};
pub(crate) use played::SceneFolds;
pub use project::Projector;
pub use track::{Folds, Tracker};

/// How wide folds are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spacing {
    /// By the smallest radius and the compression (ROH-80).
    Radius,
    /// By the wavelength of stretched sheets.
    Measured {
        /// Length of the stretched sheet, m.
        length: f64,
        /// Its thickness, m.
        thickness: f64,
        /// Its Poisson's ratio.
        poisson_ratio: f64,
    },
}

/// What the user says about folds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The smallest radius of a fold, m: that of the fabric.
    pub smallest_radius: f64,
    /// Compression from which there are folds.
    pub threshold: f64,
    /// 1 for folds along the normals, −1 for the other side.
    pub side: f64,
    /// How wide they are.
    pub spacing: Spacing,
}

/// All that does not change about the wrinkles of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrinkles {
    /// What the user said.
    pub settings: Settings,
    /// The pattern.
    pub pattern: Pattern,
    /// The mesh that is drawn.
    pub fine: FineMesh,
    /// The sections of folds.
    pub profile: Profile,
}

impl Wrinkles {
    /// Folds as they would be if the cloth had been at these places for long.
    pub fn settled(&self, tracker: &mut Tracker, places: &[DVec3]) -> Folds {
        let mut folds = Folds::default();
        // Widths follow from neighbours, which come one after the other.
        for _ in 0..3 {
            tracker.advance(&self.pattern, &self.settings, &mut folds, places, f64::INFINITY);
        }
        folds
    }

    /// Carries folds on by a frame of `dt` seconds, to cloth whose vertices are at those places, m.
    pub fn advance(&self, tracker: &mut Tracker, folds: &mut Folds, places: &[DVec3], dt: f64) {
        tracker.advance(&self.pattern, &self.settings, folds, places, dt);
    }

    /// A mesh along the folds of a still frame, and where its vertices are, m.
    pub fn still(&self, folds: &Folds, places: &[DVec3]) -> (FineMesh, Vec<DVec3>) {
        let Settings { smallest_radius, side, .. } = self.settings;
        let mesh = FineMesh::along_folds(&self.pattern, folds, smallest_radius, 0.5 * smallest_radius);
        let mut out = Vec::new();
        let Wrinkles { pattern, profile, .. } = self;
        Projector::default().surface(pattern, &mesh, profile, folds, smallest_radius, side, places, &mut out);
        (mesh, out)
    }

    /// How near a coarse and a fine surface are to the pattern.
    pub fn isometry(&self, coarse: &[DVec3], fine: &[DVec3]) -> [Isometry; 2] {
        let mut field = tensor::StretchField::default();
        field.measure(&self.pattern, coarse);
        let threshold = self.settings.threshold;
        let whole = FineMesh::new(&self.pattern, 1);
        [(&whole, coarse), (&self.fine, fine)]
            .map(|(mesh, x)| isometry(&self.pattern, &field, mesh, x, threshold, |_| true))
    }

    /// Places of the fine mesh, m.
    pub fn surface(&self, projector: &mut Projector, folds: &Folds, places: &[DVec3], out: &mut Vec<DVec3>) {
        let Settings { smallest_radius, side, .. } = self.settings;
        projector.surface(
            &self.pattern,
            &self.fine,
            &self.profile,
            folds,
            smallest_radius,
            side,
            places,
            out,
        );
    }
}

#[cfg(test)]
pub(crate) mod tests;
