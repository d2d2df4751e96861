//! How long weights that nobody painted take, beside the figure of the thesis they come from (Rohmer 2011, section 2.2: about 20 s per bone with
//! 256³ voxels; its machine is not named), and how well they tell a leg from the one beside it. A figure of our own making with 17 bones.

use std::time::Instant;

use glam::DVec3;
use serde::Serialize;
use souple::mesh::TriMesh;
use souple::mesh::voxel_distance::{InsideCells, Search, plain_distances};
use souple::parallel::Parallel;
use souple::scene::{SkinWeights, WeightMethod};
use souple::skin::generate::{figure, figure_bones};
use souple::skin::weights::{BoneLines, weights};

use crate::args::BenchArgs;
use crate::failure::Failure;

/// Name of the comparison.
pub const NAME: &str = "weights";

/// Edges of the figure, m: 26,500 vertices.
const EDGE: f64 = 0.01;
/// Cells along its height.
const RESOLUTION: u32 = 256;
/// Of the thesis, s per bone.
const THESIS: f64 = 20.0;

/// Figures of one method, or of a part of it.
#[derive(Clone, Debug, Serialize)]
pub struct WeightFigures {
    /// What was timed.
    pub name: String,
    /// Threads.
    pub threads: usize,
    /// Time of all bones, s; the shortest of those that were measured.
    pub seconds: f64,
    /// The same by bone.
    pub seconds_per_bone: f64,
    /// Times as fast by bone as the thesis; only of ways through voxels.
    pub times_thesis: Option<f64>,
    /// Largest weight that the bones of the right leg have on the left one, from ankle to the middle of the thigh: 0 is right.
    pub other_leg: Option<f64>,
}

impl WeightFigures {
    /// For people.
    pub fn line(&self) -> String {
        let thesis = self.times_thesis.map_or(String::new(), |t| format!("  {t:>6.0} x the thesis"));
        let pull = self.other_leg.map_or(String::new(), |w| format!("  other leg {w:.4}"));
        format!(
            "{:<44} {:>2} threads {:>9.4} s, {:>9.5} s per bone{thesis}{pull}",
            self.name, self.threads, self.seconds, self.seconds_per_bone
        )
    }
}

/// Bones of the figure as lines.
fn bones() -> Vec<BoneLines> {
    let line = |(bone, b): (u32, souple::scene::SkeletonBone)| BoneLines {
        bone,
        lines: vec![[DVec3::from(b.head), DVec3::from(b.tail)]],
    };
    (0u32..).zip(figure_bones().bones).map(line).collect()
}

/// The shortest time of some runs, s, and what the last gave.
fn shortest<R>(runs: u32, mut work: impl FnMut() -> Result<R, Failure>) -> Result<(f64, R), Failure> {
    let mut best = f64::INFINITY;
    for run in 1.. {
        let clock = Instant::now();
        let made = work()?;
        best = best.min(clock.elapsed().as_secs_f64());
        if run >= runs {
            return Ok((best, made));
        }
    }
    Err(Failure::input("nothing was timed", ""))
}

/// Times all of them.
pub fn time(
    args: &BenchArgs,
    mut tell: impl FnMut(&WeightFigures) -> Result<(), Failure>,
) -> Result<Vec<WeightFigures>, Failure> {
    let (mesh, bones) = (figure(EDGE), bones());
    let runs = args.frames.unwrap_or(3).clamp(1, 20);
    let mut all = Vec::new();
    let mut add = |name: String, threads, seconds: f64, count: usize, compared, other_leg| {
        let seconds_per_bone = seconds / count as f64;
        let times_thesis = Some(THESIS / seconds_per_bone).filter(|_| compared);
        let row = WeightFigures { name, threads, seconds, seconds_per_bone, times_thesis, other_leg };
        tell(&row)?;
        all.push(row);
        Ok::<(), Failure>(())
    };
    let wrong = |error: &dyn std::fmt::Display| Failure::input(error.to_string(), "");
    let (seconds, cells) = shortest(runs, || {
        InsideCells::new(&mesh, RESOLUTION as usize).map_err(|error| wrong(&format!("{error:?}")))
    })?;
    add(format!("voxels, {} inside", cells.len()), 1, seconds, bones.len(), false, None)?;
    let starts: Vec<_> = bones.iter().map(|bone| cells.starts(&bone.lines)).collect();
    let (seconds, plain) = shortest(1, || Ok(plain_distances(&cells, &starts[0])))?;
    add("one bone, whole map, by a heap".into(), 1, seconds, 1, true, None)?;
    let mut search = Search::default();
    let (seconds, ()) = shortest(runs, || {
        cells.search(&starts[0], None, &mut search);
        Ok(())
    })?;
    if search.distances != plain {
        return Err(Failure::input("buckets and heap do not agree", "report this"));
    }
    add("one bone, whole map, by buckets".into(), 1, seconds, 1, true, None)?;
    for (method, name) in [
        (WeightMethod::InverseDistance, "inverse distance"),
        (WeightMethod::NormalTest, "normal test"),
        (WeightMethod::Heat, "heat"),
        (WeightMethod::VoxelGeodesic, "voxel geodesic"),
    ] {
        let how = SkinWeights { method, resolution: RESOLUTION, ..SkinWeights::default() };
        for threads in [1, 2] {
            let parallel = Parallel::new(threads).map_err(|error| wrong(&error))?;
            let (seconds, found) =
                shortest(runs, || weights(&mesh, &bones, &how, &parallel).map_err(|error| wrong(&error)))?;
            let compared = method == WeightMethod::VoxelGeodesic;
            let name = format!("{name}, {} vertices, {} bones", mesh.positions.len(), bones.len());
            add(name, threads, seconds, bones.len(), compared, Some(other_leg(&mesh, &bones, &found)))?;
        }
    }
    Ok(all)
}

/// The largest weight of the right leg on the left one, which is where x is positive.
fn other_leg(mesh: &TriMesh, bones: &[BoneLines], found: &[Vec<(u32, f64)>]) -> f64 {
    // Bones of legs are below the hip.
    let is_right_leg = |bone: u32| {
        let [head, tail] = bones[bone as usize].lines[0];
        head.y < 0.94 && tail.y < 0.6 && tail.x < 0.0 && head.x > -0.2
    };
    let on_left = |p: &DVec3| p.x > 0.0 && p.x < 0.2 && p.y > 0.1 && p.y < 0.7;
    let pull = |list: &Vec<(u32, f64)>| -> f64 {
        list.iter().filter(|(bone, _)| is_right_leg(*bone)).map(|(_, weight)| weight).sum()
    };
    let left = mesh.positions.iter().zip(found).filter(|(p, _)| on_left(p));
    left.map(|(_, list)| pull(list)).fold(0.0, f64::max)
}
