//! Deforming step by step, with a reference that moves along (ROH-66): after each step the skin as it is becomes the one that is bound.
//!
//! Rohmer 2011, section 2.7. There is no pose to come back to, so that a skin may be edited without end, and bones may be put in between
//! (`skin/insert.rs`). What is lost by it: a step that is not exact leaves its error to all that come after, so that `exact` and `three_passes` keep the
//! volume to rounding however many there are, and `one_pass` does not; the way back leads to another shape than the one it began with; and what a step has
//! collapsed to a point stays one.

use glam::{DAffine3, DVec3};

use super::keeper::{KeeperScratch, KeptVolume, Pose, VolumeKeeper};
use super::rig::CompiledRig;
use crate::scene::{SkinVolume, Skinning};

/// A skin that is deformed step by step.
#[derive(Clone, Debug, PartialEq)]
pub struct MovingReference {
    /// The rig, bound where the skin is now; without morphs.
    pub rig: CompiledRig,
    /// How bones move its skin.
    pub skinning: Skinning,
    /// How it keeps its volume.
    pub volume: SkinVolume,
    scratch: KeeperScratch,
}

impl MovingReference {
    /// A skin as it was bound, with the morphs it has if no clip says.
    pub fn new(rig: &CompiledRig, skinning: Skinning, volume: &SkinVolume) -> MovingReference {
        let mut rig = rig.clone();
        for mesh in &mut rig.meshes {
            let places =
                (0..mesh.mesh.positions.len()).map(|v| mesh.morphed(v, &rig.morph_weights)).collect();
            mesh.mesh.positions = places;
            mesh.morphs.clear();
        }
        MovingReference { rig, skinning, volume: volume.clone(), scratch: KeeperScratch::default() }
    }

    /// Moves the skin to where its frames are, each in the frame of the character, in lengths of the file. What volumes were is told of the step alone.
    pub fn step(&mut self, frames: &[DAffine3]) -> KeptVolume {
        let motions = self.rig.bone_motions(frames, self.skinning);
        let mut skin: Vec<Vec<DVec3>> = self
            .rig
            .meshes
            .iter()
            .map(|mesh| {
                let vertex = |v| mesh.vertex(v, &[], &motions[mesh.binding], self.skinning);
                (0..mesh.mesh.positions.len()).map(vertex).collect()
            })
            .collect();
        // Where it gives way depends on where it is bound.
        let keeper = VolumeKeeper::new(&self.rig, &self.volume);
        let pose = Pose { rig: &self.rig, skinning: self.skinning, morphs: &[], motions: &motions };
        let kept = keeper.keep(&pose, &mut skin, &mut self.scratch);
        for (mesh, places) in self.rig.meshes.iter_mut().zip(skin) {
            mesh.mesh.positions = places;
        }
        for (node, inverse) in self.rig.bindings.iter_mut().flatten() {
            let back = frames[*node as usize].inverse();
            // A frame that has shrunk to nothing cannot be bound to.
            if back.is_finite() {
                *inverse = back;
            }
        }
        kept
    }

    /// Volume inside the skin, of pieces that keep it, cubes of lengths of the file.
    pub fn skin_volume(&self) -> f64 {
        let keeper = VolumeKeeper::new(&self.rig, &self.volume);
        let places: Vec<Vec<DVec3>> =
            self.rig.meshes.iter().map(|mesh| mesh.mesh.positions.clone()).collect();
        keeper.volume(&places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math;
    use crate::scene::VolumeMethod;
    use crate::skin::generate::{Limb, limb};

    fn arm() -> CompiledRig {
        let bar = Limb { length: 3.0, radii: [0.35, 0.3], sides: 12, rings: 24, cap_rings: 2, bones: 3 };
        CompiledRig::new(&limb(&bar)).unwrap()
    }

    /// Frames of a rig whose middle joint is turned.
    fn frames(rig: &CompiledRig, degrees: f64) -> Vec<DAffine3> {
        let mut locals = rig.skeleton.rest.clone();
        locals[1].rotation = math::rotation(DVec3::Z * degrees);
        let mut places = Vec::new();
        rig.skeleton.place(&locals, &mut places);
        places
    }

    fn after(method: VolumeMethod, angles: impl Iterator<Item = f64>) -> MovingReference {
        let rig = arm();
        let written = SkinVolume { method, ..SkinVolume::default() };
        let mut moving = MovingReference::new(&rig, Skinning::LinearBlend, &written);
        angles.for_each(|degrees| {
            moving.step(&frames(&rig, degrees));
        });
        moving
    }

    fn furthest(a: &MovingReference, b: &MovingReference) -> f64 {
        let [a, b] = [a, b].map(|m| &m.rig.meshes[0].mesh.positions);
        a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
    }

    /// Errors add up only where a step has one; and the way there matters.
    #[test]
    fn exact_steps_keep_the_volume_however_many_they_are() {
        let rest = after(VolumeMethod::Exact, std::iter::empty());
        let steps = |count: u32| (1..=count).map(move |k| 100.0 * f64::from(k) / f64::from(count));
        let error = |m: &MovingReference| (m.skin_volume() / rest.skin_volume() - 1.0).abs();
        for method in [VolumeMethod::Exact, VolumeMethod::ThreePasses] {
            assert!(error(&after(method, steps(25))) < 1e-11, "{}", error(&after(method, steps(25))));
        }
        let rough = [1, 25].map(|count| error(&after(VolumeMethod::OnePass, steps(count))));
        println!("one pass, in 1 and in 25 steps: {rough:?}");
        assert!(rough.iter().all(|error| *error > 1e-7), "{rough:?}");
        // One step is the same as a pose.
        let (one, many) = (after(VolumeMethod::Exact, steps(1)), after(VolumeMethod::Exact, steps(25)));
        let apart = furthest(&one, &many);
        println!("25 steps of 4 degrees to 100 are {:.2} % of the radius from one", 100.0 * apart / 0.35);
        assert!(apart > 1e-3 && apart < 1.0, "{apart}");
        let back = after(VolumeMethod::Exact, steps(25).chain((0..25).rev().map(|k| 4.0 * f64::from(k))));
        println!("there and back: {:.2} % of the radius", 100.0 * furthest(&back, &rest) / 0.35);
        assert!(error(&back) < 1e-11 && furthest(&back, &rest) > 1e-6);
    }

    /// Half a turn in one step draws the middle to a line, from which nothing comes back; in many it does not.
    #[test]
    fn what_a_step_has_collapsed_stays_collapsed() {
        let rig = arm();
        let twisted = |degrees: f64| {
            let mut locals = rig.skeleton.rest.clone();
            locals[1].rotation = math::rotation(DVec3::Y * degrees);
            let mut places = Vec::new();
            rig.skeleton.place(&locals, &mut places);
            places
        };
        let radius = |angles: &[f64]| {
            let without = SkinVolume { gain: 0.0, ..SkinVolume::default() };
            let mut moving = MovingReference::new(&rig, Skinning::LinearBlend, &without);
            angles.iter().for_each(|degrees| {
                moving.step(&twisted(*degrees));
            });
            let x = &moving.rig.meshes[0].mesh.positions;
            let far = |p: &DVec3| DVec3::new(p.x, 0.0, p.z).length();
            // Of the ring that both bones share evenly.
            x.iter().filter(|p| (p.y - 0.75).abs() < 0.05).map(far).fold(f64::INFINITY, f64::min)
        };
        assert!(radius(&[180.0, 0.0]) < 1e-9);
        let many: Vec<f64> = (1..=18).chain((0..18).rev()).map(|k| 10.0 * f64::from(k)).collect();
        assert!(radius(&many) > 0.2, "{}", radius(&many));
    }
}
