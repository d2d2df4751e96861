//! How long an elastic layer of a character takes per frame (Simard 2005: 200 to 5,000 particles on 7,000 to 30,000 polygons in less than 5 ms): a limb of our own
//! making that waves, half of it or all of it soft, by both solvers, on one thread. A frame is all of it: clip, bones, where the skin has the particles, the
//! step; the skin that is shown is skinned apart.

use std::time::Instant;

use glam::DVec3;
use serde::Serialize;
use souple::scene::{
    Body, Character, Elastic, ElasticDial, ElasticPaint, Group, PaintSource, PlayedClip, Region, RigSource,
    Scene, Select, Shape, SkinShape, SolverKind,
};
use souple::skin::Posed;
use souple::skin::generate::{Limb, add_turns, limb};
use souple::solver::solver_name;
use souple::{ModelBuilder, Simulation};

use crate::args::BenchArgs;
use crate::failure::Failure;

/// The name of this comparison.
pub const NAME: &str = "elastic";

/// Frames that are timed unless another number is asked for.
const FRAMES: u32 = 200;

/// The bound of the thesis, ms, per step or frame.
const THESIS_MS: f64 = 5.0;

/// Figures of one layer.
#[derive(Clone, Debug, Serialize)]
pub struct ElasticFigures {
    /// Solver.
    pub solver: &'static str,
    /// Particles that move.
    pub particles: usize,
    /// Springs.
    pub springs: usize,
    /// Triangles of the character.
    pub triangles: usize,
    /// Median frame, ms.
    pub ms_median: f64,
    /// Fastest frame, ms.
    pub ms_min: f64,
    /// Median time to skin all of the character, for those who show it, ms.
    pub skinning_ms: f64,
    /// The thesis took less than 5 ms: times as fast, by the median.
    pub times_thesis: f64,
}

impl ElasticFigures {
    /// For people.
    pub fn line(&self) -> String {
        format!(
            "elastic {:<6} {:>5} particles {:>6} springs on {:>6} triangles {:>7.3} ms/frame (fastest {:>6.3})  {:>5.0} x 5 ms  skinning all of it {:>6.3} ms",
            self.solver,
            self.particles,
            self.springs,
            self.triangles,
            self.ms_median,
            self.ms_min,
            self.times_thesis,
            self.skinning_ms
        )
    }
}

/// A limb of 100 sides and 150 bands, 30,000 triangles, of which the part above a height is soft.
fn scene(solver: SolverKind, above: f64) -> Scene {
    let bar = Limb { length: 3.0, radii: [0.3, 0.2], sides: 100, rings: 150, cap_rings: 0, bones: 6 };
    let mut rig = limb(&bar);
    add_turns(&mut rig, "wave", 6, &[0.0, 0.5, 1.0, 1.5, 2.0], |bone, t| {
        let side = [0.0, 1.0, 0.0, -1.0][(2.0 * t) as usize % 4];
        DVec3::new(8.0, 0.0, 12.0) * side * f64::from(u32::from(bone > 0))
    });
    let soft = Region { min: [-9.0, above, -9.0], max: [9.0, 9.0, 9.0] };
    Scene {
        groups: vec![Group { solver, ..Group::default() }],
        characters: vec![Character {
            rig: RigSource::Inline(rig),
            clips: vec![PlayedClip { name: "wave".into(), ..PlayedClip::default() }],
            ..Character::default()
        }],
        bodies: vec![Body {
            shape: Shape::Skin(SkinShape { character: "character".into(), meshes: None }),
            elastic: Some(Elastic {
                paints: vec![ElasticPaint {
                    dial: ElasticDial::Attachment,
                    to: 0.5,
                    with: PaintSource::Select(Select::Within(soft)),
                }],
                ..Elastic::default()
            }),
            ..Body::default()
        }],
        ..Scene::default()
    }
}

/// Times layers of 200, 1,000 and 5,000 particles, by both solvers.
pub fn time(
    args: &BenchArgs,
    mut tell: impl FnMut(&ElasticFigures) -> Result<(), Failure>,
) -> Result<Vec<ElasticFigures>, Failure> {
    let mut all = Vec::new();
    for solver in [SolverKind::Goals, SolverKind::Xpbd] {
        // Bands of 100 vertices, 0.02 m apart.
        for above in [2.97, 2.81, 2.01] {
            let figures = time_row(solver, above, args)?;
            tell(&figures)?;
            all.push(figures);
        }
    }
    Ok(all)
}

fn time_row(solver: SolverKind, above: f64, args: &BenchArgs) -> Result<ElasticFigures, Failure> {
    let build = || {
        let model = ModelBuilder::new(&scene(solver, above)).build();
        model.map(Simulation::new).map_err(|error| Failure::input(error.to_string(), error.help.clone()))
    };
    let (mut ms, mut skinning) = (Vec::new(), Vec::new());
    let frames = args.frames.unwrap_or(FRAMES);
    for _ in 0..args.repeats {
        let mut simulation = build()?;
        for _ in 0..frames {
            let start = Instant::now();
            simulation.step();
            ms.push(start.elapsed().as_secs_f64() * 1e3);
        }
        let (model, mut sum) = (simulation.model(), DVec3::ZERO);
        let mut posed = Posed::default();
        for frame in 0..frames.min(50) {
            let start = Instant::now();
            posed.set(&model.characters, f64::from(frame) / 60.0);
            let count = model.characters[0].rig.meshes[0].mesh.positions.len() as u32;
            sum += (0..count).map(|v| posed.characters[0].vertex(&model.characters[0], 0, v)).sum::<DVec3>();
            skinning.push(start.elapsed().as_secs_f64() * 1e3);
        }
        std::hint::black_box(sum);
    }
    let simulation = build()?;
    let (model, state) = (simulation.model(), simulation.state());
    [&mut ms, &mut skinning].iter_mut().for_each(|ms| ms.sort_by(f64::total_cmp));
    let median = |ms: &[f64]| ms.get(ms.len() / 2).copied().unwrap_or(f64::NAN);
    Ok(ElasticFigures {
        solver: solver_name(solver),
        particles: state.bodies[0].x.len() - state.bodies[0].pinned.len(),
        springs: model.bodies[0].springs().len(),
        triangles: model.characters[0].rig.meshes[0].mesh.triangles.len(),
        ms_median: median(&ms),
        ms_min: ms.first().copied().unwrap_or(f64::NAN),
        skinning_ms: median(&skinning),
        times_thesis: THESIS_MS / median(&ms),
    })
}
