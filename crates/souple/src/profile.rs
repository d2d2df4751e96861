//! The stages of a step, and the time each takes.

use std::time::{Duration, Instant};

use crate::solver::SolveWork;

/// A stage of [`crate::Simulation::step`], in the order they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Rejects non-finite input, keeps the last good state.
    Begin,
    /// Pins, colliders, wind at this time.
    ApplyControl,
    /// Pairs of boxes.
    BroadPhase,
    /// Points, normals, depths; also the response of particles to them.
    FindContacts,
    /// Each group by its solver, substeps inside.
    Solve,
    /// Finite? Credible? Roll back, retry smaller, then freeze and warn.
    CheckHealth,
    /// What is seen: normals.
    UpdateMappings,
    /// Control log and hash.
    Record,
}

impl Stage {
    /// All stages, in the order they run.
    pub const ALL: [Stage; 8] = [
        Stage::Begin,
        Stage::ApplyControl,
        Stage::BroadPhase,
        Stage::FindContacts,
        Stage::Solve,
        Stage::CheckHealth,
        Stage::UpdateMappings,
        Stage::Record,
    ];

    /// Name in profiles and reports.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Begin => "begin",
            Stage::ApplyControl => "apply_control",
            Stage::BroadPhase => "broad_phase",
            Stage::FindContacts => "find_contacts",
            Stage::Solve => "solve",
            Stage::CheckHealth => "check_health",
            Stage::UpdateMappings => "update_mappings",
            Stage::Record => "record",
        }
    }
}

/// Time spent in each stage since the last reset.
#[derive(Clone, Copy, Debug, Default)]
pub struct Profile {
    times: [Duration; Stage::ALL.len()],
    /// Time already booked on other stages since the last lap: a stage inside a stage is counted once.
    nested: Duration,
    /// Steps measured.
    pub steps: u64,
    /// Contacts of surfaces that were found, summed over [`Profile::contact_rounds`].
    pub contacts: u64,
    /// How often contacts of surfaces were looked for: once per substep of bodies that may touch.
    pub contact_rounds: u64,
    /// Linear solves that were stopped before they reached their tolerance.
    pub cut_short: u64,
    /// What linear solves have cost: part of the time of [`Stage::Solve`].
    pub solves: SolveWork,
}

impl Profile {
    /// Time spent in a stage.
    pub fn time(&self, stage: Stage) -> Duration {
        self.times[stage as usize]
    }

    /// Time spent in all stages.
    pub fn total(&self) -> Duration {
        self.times.iter().sum()
    }

    /// Books the time since `clock` on a stage, less what was booked inside it, and restarts the clock.
    pub(crate) fn lap(&mut self, stage: Stage, clock: &mut Instant) {
        let now = Instant::now();
        self.times[stage as usize] += (now - *clock).saturating_sub(self.nested);
        self.nested = Duration::ZERO;
        *clock = now;
    }

    /// Books what another profile has booked inside stages, `share` of it, and empties it.
    pub(crate) fn take_inside(&mut self, other: &mut Profile, share: f64) {
        for (mine, theirs) in self.times.iter_mut().zip(other.times) {
            *mine += theirs.mul_f64(share);
        }
        self.nested += other.nested.mul_f64(share);
        self.contacts += other.contacts;
        self.contact_rounds += other.contact_rounds;
        self.cut_short += other.cut_short;
        self.solves.add(other.solves);
        *other = Profile::default();
    }

    /// Books the time since `clock` on a stage that runs inside another, and restarts the clock.
    pub(crate) fn lap_inside(&mut self, stage: Stage, clock: &mut Instant) {
        let now = Instant::now();
        self.times[stage as usize] += now - *clock;
        self.nested += now - *clock;
        *clock = now;
    }
}
