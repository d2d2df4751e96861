//! How finely what moves is drawn on a driver in software: as finely as the machine can while the window stays fluid.
//!
//! Pictures that stand still are always drawn at full size; this is about those that are gone in a moment.

/// Shares of the full width and height that pictures are drawn with.
const SCALES: [f32; 4] = [1.0, 0.75, 0.5, 0.35];
/// Frames that are watched before anything is changed.
const FRAMES: usize = 6;
/// A frame that takes longer makes pictures coarser, s.
const SLOW: f32 = 0.055;
/// Frames that are faster make pictures finer again, s.
const QUICK: f32 = 0.022;

/// The scale of moving pictures, by the time that frames take.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    level: usize,
    frames: Vec<f32>,
}

impl Pace {
    /// Share of the full width and height that moving pictures are drawn with now.
    pub fn scale(&self) -> f32 {
        SCALES[self.level.min(SCALES.len() - 1)]
    }

    /// Takes note of a frame of something that moves, s.
    pub fn frame(&mut self, seconds: f32) {
        self.frames.push(seconds);
        if self.frames.len() < FRAMES {
            return;
        }
        // The middle one: a single hitch says nothing.
        self.frames.sort_by(f32::total_cmp);
        let usual = self.frames[FRAMES / 2];
        self.frames.clear();
        if usual > SLOW {
            self.level = (self.level + 1).min(SCALES.len() - 1);
        } else if usual < QUICK {
            self.level = self.level.saturating_sub(1);
        }
    }

    /// Forgets frames that do not follow each other: the picture stood still.
    pub fn rest(&mut self) {
        self.frames.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_frames_make_pictures_coarser_and_quick_ones_finer() {
        let mut pace = Pace::default();
        let watch =
            |pace: &mut Pace, seconds: f32, count: usize| (0..count).for_each(|_| pace.frame(seconds));
        watch(&mut pace, 0.016, 2 * FRAMES);
        assert_eq!(pace.scale(), 1.0);
        watch(&mut pace, 0.2, FRAMES);
        assert_eq!(pace.scale(), 0.75);
        watch(&mut pace, 0.2, 100 * FRAMES);
        assert_eq!(pace.scale(), 0.35, "there is an end to it");
        watch(&mut pace, 0.04, FRAMES);
        assert_eq!(pace.scale(), 0.35, "good enough, and not so quick that more would be");
        watch(&mut pace, 0.01, 100 * FRAMES);
        assert_eq!(pace.scale(), 1.0);
    }

    #[test]
    fn a_hitch_changes_nothing() {
        let mut pace = Pace::default();
        for _ in 0..10 {
            pace.frame(3.0);
            (1..FRAMES).for_each(|_| pace.frame(0.016));
        }
        assert_eq!(pace.scale(), 1.0);
        (1..FRAMES).for_each(|_| pace.frame(3.0));
        pace.rest();
        pace.frame(3.0);
        assert_eq!(pace.scale(), 1.0);
    }
}
