//! Folds on garments of the sizes of Rohmer's table 3.1: time per frame on one core, and how near the result is to the pattern.

use std::time::Instant;

use glam::DVec3;
use serde::Serialize;
use souple::wrinkles::{FineMesh, Pattern, Profile, Projector, Settings, Spacing, Tracker, Wrinkles};

use super::garments::{FPS, Garment, garments};
use crate::args::BenchArgs;
use crate::failure::Failure;

/// Name of the workload.
pub const NAME: &str = "wrinkles";

/// Frames of each garment.
const FRAMES: u32 = 300;

/// Compression from which there are folds.
const THRESHOLD: f64 = 0.05;

/// Figures of one garment.
#[derive(Clone, Debug, Serialize)]
pub struct WrinkleFigures {
    /// What the thesis calls the garment of that size.
    pub name: &'static str,
    /// Coarse vertices.
    pub vertices: usize,
    /// Fine vertices.
    pub fine_vertices: usize,
    /// Most folds in a frame.
    pub folds: usize,
    /// Fine vertices that folds moved, mean over frames, and how many the thesis projected.
    pub projected: [f64; 2],
    /// Median time for curves, and that of the thesis, ms.
    pub curves_ms: [f64; 2],
    /// Median time for projection, and that of the thesis, ms.
    pub projection_ms: [f64; 2],
    /// Times faster per frame, curves and projection together, by the median.
    pub times_thesis: f64,
    /// Mean compression (root of the mean square) of the coarse and of the fine mesh in the most compressed frame.
    pub compression: [f64; 2],
    /// Mean elongation across folds of the coarse and of the fine mesh there.
    pub across: [f64; 2],
    /// Largest way of a point of the fine mesh against the coarse one in a frame, in smallest radii.
    pub largest_change: f64,
}

impl WrinkleFigures {
    /// For people.
    pub fn line(&self) -> String {
        format!(
            "{:<13} {:>5} vertices {:>6} fine {:>3} folds  curves {:>7.3} ms ({:>4.0})  projection {:>7.3} ms ({:>4.0}) of {:>6.0} vertices ({:>4.0})  {:>5.0} x  compression {:.1} % -> {:.1} %  across {:.3} -> {:.3}  largest change {:.2} radii",
            self.name,
            self.vertices,
            self.fine_vertices,
            self.folds,
            self.curves_ms[0],
            self.curves_ms[1],
            self.projection_ms[0],
            self.projection_ms[1],
            self.projected[0],
            self.projected[1],
            self.times_thesis,
            100.0 * self.compression[0],
            100.0 * self.compression[1],
            self.across[0],
            self.across[1],
            self.largest_change,
        )
    }
}

/// Times all garments, on one thread.
pub fn time(
    args: &BenchArgs,
    mut tell: impl FnMut(&WrinkleFigures) -> Result<(), Failure>,
) -> Result<Vec<WrinkleFigures>, Failure> {
    let mut all = Vec::new();
    for garment in garments(args.frames.unwrap_or(FRAMES))? {
        let figures = time_garment(&garment)?;
        tell(&figures)?;
        all.push(figures);
    }
    Ok(all)
}

/// The folds of a garment.
fn wrinkles_of(garment: &Garment) -> Result<Wrinkles, Failure> {
    let pattern = Pattern::of_rest(&garment.rest, &garment.triangles)
        .map_err(|problem| Failure::input(problem.to_string(), ""))?;
    let fine = FineMesh::new(&pattern, garment.pieces);
    let smallest_radius = garment.smallest_radius;
    let settings = Settings { smallest_radius, threshold: THRESHOLD, side: 1.0, spacing: Spacing::Radius };
    Ok(Wrinkles { settings, pattern, fine, profile: Profile::default() })
}

fn time_garment(garment: &Garment) -> Result<WrinkleFigures, Failure> {
    let wrinkles = wrinkles_of(garment)?;
    let (Some(first), frames) = (garment.frames.first(), garment.frames.len() - 1) else {
        return Err(Failure::input("no frames", ""));
    };
    let (mut tracker, mut projector) = (Tracker::default(), Projector::default());
    let mut folds = wrinkles.settled(&mut tracker, first);
    let (mut curves_ms, mut projection_ms) = (Vec::new(), Vec::new());
    let (mut out, mut lifts): (Vec<DVec3>, Vec<DVec3>) = (Vec::new(), Vec::new());
    let (mut projected, mut most_folds, mut largest_change) = (0, 0, 0.0f64);
    let (mut compression, mut across) = ([0.0; 2], [1.0; 2]);
    for (frame, places) in garment.frames.iter().enumerate().skip(1) {
        let start = Instant::now();
        wrinkles.advance(&mut tracker, &mut folds, places, 1.0 / FPS);
        curves_ms.push(start.elapsed().as_secs_f64() * 1e3);
        let start = Instant::now();
        wrinkles.surface(&mut projector, &folds, places, &mut out);
        projection_ms.push(start.elapsed().as_secs_f64() * 1e3);
        projected += projector.moved;
        most_folds = most_folds.max(folds.curves.len());
        let now: Vec<DVec3> = (0..out.len()).map(|v| out[v] - wrinkles.fine.mixed(v, places)).collect();
        let change = now.iter().zip(&lifts).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        largest_change = largest_change.max(change);
        lifts = now;
        if frame % 15 == 0 {
            let [coarse, fine] = wrinkles.isometry(places, &out);
            if coarse.compression > compression[0] {
                compression = [coarse.compression, fine.compression];
                across = [coarse.mean_across, fine.mean_across];
            }
        }
    }
    let median = |ms: &mut Vec<f64>| {
        ms.sort_by(f64::total_cmp);
        ms.get(ms.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let (curves, projection) = (median(&mut curves_ms), median(&mut projection_ms));
    let (thesis_curves, thesis_projection, thesis_projected) = garment.thesis;
    Ok(WrinkleFigures {
        name: garment.name,
        vertices: garment.rest.len(),
        fine_vertices: out.len(),
        folds: most_folds,
        projected: [projected as f64 / frames.max(1) as f64, thesis_projected as f64],
        curves_ms: [curves, thesis_curves],
        projection_ms: [projection, thesis_projection],
        times_thesis: (thesis_curves + thesis_projection) / (curves + projection),
        compression,
        across,
        largest_change: largest_change / garment.smallest_radius,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes are those of the table, and in a second of motion folds come, give length back, and never jump.
    #[test]
    fn garments_are_as_large_as_in_the_table_and_get_length_back() {
        let garments = garments(90).unwrap();
        for (garment, vertices) in garments.iter().zip([80, 1168, 1112, 364, 931, 1249]) {
            let off = garment.rest.len() as f64 / f64::from(vertices) - 1.0;
            assert!(off.abs() < 0.05, "{}", garment.name);
        }
        for garment in garments.iter().filter(|g| g.rest.len() < 400) {
            let found = time_garment(garment).unwrap();
            assert!(found.folds > 3 && found.compression[1] < 0.8 * found.compression[0], "{found:?}");
            assert!((1.0 - found.across[1]).abs() < 0.5 * (1.0 - found.across[0]), "{found:?}");
            assert!(found.largest_change < 0.5, "{found:?}");
        }
    }
    /// The promise of the book, over the frames of the benchmark: no point of a garment moves by more than the smallest radius in one of them.
    #[test]
    fn no_fold_of_any_garment_jumps() {
        for garment in garments(FRAMES).unwrap() {
            let found = time_garment(&garment).unwrap();
            assert!(found.largest_change < 0.75, "{found:?}");
        }
    }
}
