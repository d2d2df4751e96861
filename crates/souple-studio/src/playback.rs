//! What the picture shows: the simulation as it runs, one moment of its past, or its past played again (ESSI-16).

use crate::history::History;

/// What is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Showing {
    /// The newest moment.
    #[default]
    Live,
    /// One step of the past.
    Past {
        /// Which.
        step: u64,
    },
    /// The past, played again.
    Replay {
        /// Where it is now, in steps.
        step: f64,
        /// Whether it moves.
        running: bool,
    },
}

impl Showing {
    /// The step that is shown, unless it is the newest.
    pub fn step(self) -> Option<u64> {
        match self {
            Showing::Live => None,
            Showing::Past { step } => Some(step),
            Showing::Replay { step, .. } => Some(step.max(0.0) as u64),
        }
    }

    /// Begins to play the past from its first step.
    pub fn replay(history: &History) -> Showing {
        match history.range() {
            Some((first, last)) if last > first => Showing::Replay { step: first as f64, running: true },
            _ => Showing::Live,
        }
    }

    /// Goes on by a time of the window, s. At the end it begins again or stands still.
    pub fn advance(&mut self, seconds: f64, fps: f64, speed: f64, again: bool, range: Option<(u64, u64)>) {
        let Showing::Replay { step, running } = self else { return };
        let Some((first, last)) = range.map(|(first, last)| (first as f64, last as f64)) else {
            *self = Showing::Live;
            return;
        };
        if !*running {
            return;
        }
        *step += (seconds * fps * speed).max(0.0);
        if *step > last {
            (*step, *running) = if again { (first, true) } else { (last, false) };
        }
        *step = step.max(first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_runs_to_its_end_and_stands_there_or_begins_again() {
        let range = Some((10, 20));
        let mut showing = Showing::Replay { step: 10.0, running: true };
        showing.advance(0.1, 60.0, 1.0, false, range);
        assert_eq!(showing.step(), Some(16));
        showing.advance(0.1, 60.0, 1.0, false, range);
        assert_eq!(showing, Showing::Replay { step: 20.0, running: false });
        showing.advance(5.0, 60.0, 1.0, false, range);
        assert_eq!(showing.step(), Some(20));
        let mut looping = Showing::Replay { step: 20.0, running: true };
        looping.advance(0.1, 60.0, 1.0, true, range);
        assert_eq!(looping, Showing::Replay { step: 10.0, running: true });
    }

    #[test]
    fn without_a_past_there_is_no_replay() {
        assert_eq!(Showing::replay(&History::default()), Showing::Live);
        let mut showing = Showing::Replay { step: 3.0, running: true };
        showing.advance(0.1, 60.0, 1.0, true, None);
        assert_eq!(showing, Showing::Live);
        let mut past = Showing::Past { step: 4 };
        past.advance(1.0, 60.0, 1.0, true, Some((0, 9)));
        assert_eq!(past, Showing::Past { step: 4 });
    }
}
