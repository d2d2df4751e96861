//! How many frames per second skins that keep their volume make, beside those of the thesis they come from (Rohmer 2011, table 2.1; its machine is not
//! named): limbs of our own making with as many vertices as its animals. A frame is all of it: clip, bones, skinning, volumes.

use std::sync::Arc;
use std::time::Instant;

use glam::DVec3;
use serde::Serialize;
use souple::math::Pose;
use souple::scene::{BulgePreset, SkinVolume, Skinning, VolumeMethod};
use souple::skin::generate::{Limb, add_turns, limb};
use souple::skin::{CharacterModel, CompiledRig, PlayedModel, Posed, VolumeKeeper};

use crate::args::BenchArgs;
use crate::failure::Failure;

/// Frames that are timed unless another number is asked for.
const FRAMES: u32 = 200;

/// Figures of one skin.
#[derive(Clone, Debug, Serialize)]
pub struct SkinFigures {
    /// What the thesis has of that size.
    pub name: &'static str,
    /// Vertices.
    pub vertices: usize,
    /// Joints that bend in every frame.
    pub joints: u32,
    /// What bulges look like.
    pub preset: BulgePreset,
    /// How the volume is brought back.
    pub method: VolumeMethod,
    /// Median frame, ms.
    pub ms_median: f64,
    /// Fastest frame, ms.
    pub ms_min: f64,
    /// Median frame by skinning alone, ms.
    pub skinning_ms: f64,
    /// Frames per second of the thesis.
    pub thesis_fps: f64,
    /// Times as many here, by the median.
    pub times_thesis: f64,
    /// Largest |V/V_rest − 1| of skinning, and of the result.
    pub worst_skinned: f64,
    /// The same of the result, measured on it.
    pub worst_kept: f64,
}

impl SkinFigures {
    /// For people.
    pub fn line(&self) -> String {
        format!(
            "{:<32} {:>6} vertices {:>2} joints {:<10} {:<9} {:>7.3} ms/frame (fastest {:>6.3}, skinning alone {:>6.3})  {:>7.0} fps, {:>5.0} x {:>4.1}  volume error {:.2} % -> {:.1e}",
            self.name,
            self.vertices,
            self.joints,
            format!("{:?}", self.preset),
            format!("{:?}", self.method),
            self.ms_median,
            self.ms_min,
            self.skinning_ms,
            1e3 / self.ms_median,
            self.times_thesis,
            self.thesis_fps,
            100.0 * self.worst_skinned,
            self.worst_kept
        )
    }
}

/// Name, sides and bands of the limb, joints, preset, method, frames per second of the thesis.
type Row = (&'static str, u32, u32, u32, BulgePreset, VolumeMethod, f64);

const ROWS: [Row; 6] = [
    ("elephant, fast", 38, 146, 12, BulgePreset::Automatic, VolumeMethod::OnePass, 25.0),
    ("giraffe", 37, 40, 8, BulgePreset::Rubber, VolumeMethod::Exact, 35.0),
    ("elephant, exact", 38, 146, 12, BulgePreset::Automatic, VolumeMethod::Exact, 15.0),
    ("arm", 22, 33, 2, BulgePreset::Muscle, VolumeMethod::Exact, 25.0),
    ("elephant, subdivided", 60, 219, 12, BulgePreset::Folds, VolumeMethod::Exact, 5.0),
    ("elephant, whole animation", 60, 219, 30, BulgePreset::Folds, VolumeMethod::Exact, 2.5),
];

/// Times all of them, on one thread.
pub fn time(
    args: &BenchArgs,
    mut tell: impl FnMut(&SkinFigures) -> Result<(), Failure>,
) -> Result<Vec<SkinFigures>, Failure> {
    let mut all = Vec::new();
    for row in ROWS {
        let figures = time_row(row, args)?;
        tell(&figures)?;
        all.push(figures);
    }
    Ok(all)
}

fn time_row(
    (name, sides, rings, joints, preset, method, thesis_fps): Row,
    args: &BenchArgs,
) -> Result<SkinFigures, Failure> {
    let bar = Limb { length: 3.0, radii: [0.12, 0.1], sides, rings, cap_rings: 3, bones: joints + 1 };
    let mut rig = limb(&bar);
    let share = 200.0 / f64::from(joints);
    add_turns(&mut rig, "bend", joints + 1, &[0.0, 1.0, 2.0], |bone, t| {
        DVec3::new(0.3, 0.0, 1.0) * share * (0.5 + 0.5 * t) * f64::from(u32::from(bone > 0))
    });
    let rig = CompiledRig::new(&rig).map_err(|error| Failure::input(error.to_string(), ""))?;
    let keeper = VolumeKeeper::new(&rig, &SkinVolume { preset, method, ..SkinVolume::default() });
    let mut character = CharacterModel {
        name: name.into(),
        rig: Arc::new(rig),
        clips: vec![PlayedModel { clip: 0, weight: 1.0, start: 0.0, speed: 1.0, repeat: true }],
        skinning: Skinning::LinearBlend,
        volume: None,
        stance: Vec::new(),
        maps: Vec::new(),
        pose: Pose::IDENTITY,
        scale: 1.0,
        motion: None,
        pivot: DVec3::ZERO,
    };
    let frames = args.frames.unwrap_or(FRAMES);
    let vertices = character.rig.meshes[0].mesh.positions.len();
    let mut sum = DVec3::ZERO;
    let mut times: [Vec<f64>; 2] = Default::default();
    // In turn, so that what else the machine does touches both.
    for _ in 0..args.repeats {
        for (way, ms) in times.iter_mut().enumerate() {
            character.volume = (way == 1).then(|| Arc::new(keeper.clone()));
            let models = std::slice::from_ref(&character);
            let mut posed = Posed::at(models, 0.0);
            for frame in 1..=frames {
                let start = Instant::now();
                posed.set(models, f64::from(frame) / 101.0);
                if way == 0 {
                    // Without a keeper vertices are placed when they are asked for.
                    sum += (0..vertices as u32)
                        .map(|v| posed.characters[0].vertex(&character, 0, v))
                        .sum::<DVec3>();
                }
                ms.push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
    times.iter_mut().for_each(|ms| ms.sort_by(f64::total_cmp));
    std::hint::black_box(sum);
    let (mut worst_skinned, mut worst_kept): (f64, f64) = (0.0, 0.0);
    for frame in 0..20 {
        let posed = Posed::at(std::slice::from_ref(&character), f64::from(frame) / 10.0);
        if let (Some(told), Some(kept)) =
            (posed.characters[0].volume, posed.characters[0].skin_volume(&character))
        {
            worst_skinned = worst_skinned.max((told.skinned / told.rest - 1.0).abs());
            worst_kept = worst_kept.max((kept / told.rest - 1.0).abs());
        }
    }
    let median = |ms: &[f64]| ms.get(ms.len() / 2).copied().unwrap_or(f64::NAN);
    let (skinning_ms, ms_median) = (median(&times[0]), median(&times[1]));
    Ok(SkinFigures {
        name,
        vertices,
        joints,
        preset,
        method,
        ms_median,
        ms_min: times[1].first().copied().unwrap_or(f64::NAN),
        skinning_ms,
        thesis_fps,
        times_thesis: 1e3 / ms_median / thesis_fps,
        worst_skinned,
        worst_kept,
    })
}
