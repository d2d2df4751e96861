//! `souple bench contact`: what safe contact costs, and whether it keeps its promise.
//!
//! Each scene of `scenes/contact` is run from `--starts` starts, in which every free particle is moved by up to 0.1 mm: once with
//! fast contact and once with safe contact. Beside the time per frame stand the crossings, counted exactly in every
//! frame, outside the times. Safe contact promises none from a clean start; `clean_starts` says how many were, as the scene `tangled`
//! begins with crossings. It takes minutes, so it only runs when it is named; `contact-pile` is one scene of it.

use std::time::Instant;

use serde::Serialize;
use souple::math::uniform;
use souple::measure::intersections;
use souple::scene::{ContactMode, Scene};
use souple::solver::solver_name;
use souple::{Simulation, State};
use souple_formats::scene::{read_scene, resolve_meshes};

use super::workloads::{Crossings, available, build};
use crate::args::BenchArgs;
use crate::failure::Failure;

/// Stands for all scenes; one of them is called this, a dash and its name.
pub const NAME: &str = "contact";

/// How far a free particle is moved at most before a run begins, m.
const JITTER: f64 = 1e-4;

/// The scenes and their files.
const SCENES: [(&str, &str); 11] = [
    ("bullet", include_str!("../../../../scenes/contact/bullet.toml")),
    ("drape", include_str!("../../../../scenes/contact/drape.toml")),
    ("five_layers", include_str!("../../../../scenes/contact/five_layers.toml")),
    ("knot", include_str!("../../../../scenes/contact/knot.toml")),
    ("pile", include_str!("../../../../scenes/contact/pile.toml")),
    ("sheet_on_mesh", include_str!("../../../../scenes/contact/sheet_on_mesh.toml")),
    ("skirt", include_str!("../../../../scenes/contact/skirt.toml")),
    ("squeezed_ball", include_str!("../../../../scenes/contact/squeezed_ball.toml")),
    ("tangled", include_str!("../../../../scenes/contact/tangled.toml")),
    ("through_ring", include_str!("../../../../scenes/contact/through_ring.toml")),
    ("twist", include_str!("../../../../scenes/contact/twist.toml")),
];

/// The meshes that they name.
const MESHES: [(&str, &[u8]); 3] = [
    ("meshes/knot.obj", include_bytes!("../../../../scenes/contact/meshes/knot.obj")),
    ("meshes/skirt.obj", include_bytes!("../../../../scenes/contact/meshes/skirt.obj")),
    ("meshes/torus.obj", include_bytes!("../../../../scenes/contact/meshes/torus.obj")),
];

/// Figures of one way of contact in one scene.
#[derive(Clone, Debug, Serialize)]
pub struct Mode {
    /// Mean ms per frame of all starts.
    pub ms_mean: f64,
    /// Slowest single frame, ms.
    pub ms_worst: f64,
    /// Share of the frames in which no two triangles cross, percent.
    pub clean_frames_percent: f64,
    /// Pairs of triangles that cross in the last frame, the most of all starts.
    pub intersections: usize,
    /// Pairs of triangles that cross, added up over all frames and starts.
    pub intersections_in_all: usize,
    /// Whether a body froze: the figures are then worth nothing.
    pub frozen: bool,
}

/// Figures of one scene.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the scene.
    pub name: String,
    /// Solver.
    pub solver: &'static str,
    /// Threads.
    pub threads: usize,
    /// Vertices.
    pub vertices: usize,
    /// Frames of each run.
    pub frames: u32,
    /// Runs of each way.
    pub starts: u32,
    /// Starts without a crossing.
    pub clean_starts: u32,
    /// `contact_mode = "fast"`.
    pub fast: Mode,
    /// `contact_mode = "safe"`.
    pub safe: Mode,
    /// Mean time of a safe frame over that of a fast one.
    pub safe_over_fast: f64,
}

impl Row {
    /// One line of the table.
    pub fn line(&self) -> String {
        let Row { fast, safe, .. } = self;
        format!(
            "contact-{:<14} {:>5} vertices {} threads {} starts ({} clean)  fast {:>8.2} ms/frame {:>5.1} % of frames clean {:>3} crossings left  safe {:>8.2} ms/frame (worst {:>8.1}), {:>5.2} times as long, {:>5.1} % of frames clean {:>3} crossings in all{}",
            self.name,
            self.vertices,
            self.threads,
            self.starts,
            self.clean_starts,
            fast.ms_mean,
            fast.clean_frames_percent,
            fast.intersections,
            safe.ms_mean,
            safe.ms_worst,
            self.safe_over_fast,
            safe.clean_frames_percent,
            safe.intersections_in_all,
            if fast.frozen || safe.frozen { "  FROZEN" } else { "" }
        )
    }
}

/// The scene that a name stands for; none for other names.
fn scene_called(name: &str) -> Option<&str> {
    let scene = name.strip_prefix(NAME)?.strip_prefix('-')?;
    SCENES.iter().map(|(known, _)| *known).find(|known| *known == scene)
}

/// Whether a name is one of these.
pub fn is_name(name: &str) -> bool {
    name == NAME || scene_called(name).is_some()
}

/// Runs the scenes that were named.
pub fn compare(
    args: &BenchArgs,
    mut done: impl FnMut(&Row) -> Result<(), Failure>,
) -> Result<Vec<Row>, Failure> {
    let wanted = |scene: &str| args.names.iter().any(|n| n == NAME || scene_called(n) == Some(scene));
    let mut rows = Vec::new();
    for (name, text) in SCENES.into_iter().filter(|(name, _)| wanted(name)) {
        let scene = read(name, text)?;
        for &threads in &args.threads {
            // At most `MAX_THREADS`, so it always fits.
            let threads = usize::try_from(threads).unwrap_or(0);
            let row = row(name, &scene, threads, args.frames.unwrap_or(scene.time.frames), args.starts)?;
            done(&row)?;
            rows.push(row);
        }
    }
    Ok(rows)
}

fn read(name: &str, text: &str) -> Result<Scene, Failure> {
    let mut file = read_scene(text, &format!("scenes/contact/{name}.toml"))?;
    let mesh = |written: &str| {
        let known = MESHES.iter().find(|(path, _)| *path == written);
        known.map(|(_, bytes)| bytes.to_vec()).ok_or_else(|| "it is not part of the program".to_owned())
    };
    resolve_meshes(&mut file.scene, &mut |written| mesh(written))
        .map_err(|error| file.source.explain(&error))?;
    Ok(file.scene)
}

fn row(name: &str, scene: &Scene, threads: usize, frames: u32, starts: u32) -> Result<Row, Failure> {
    let (fast, _) = run(scene, ContactMode::Fast, threads, frames, starts)?;
    let (safe, clean_starts) = run(scene, ContactMode::Safe, threads, frames, starts)?;
    let model = build(scene)?;
    Ok(Row {
        name: name.into(),
        solver: solver_name(model.groups[0].solver),
        threads: if threads > 0 { threads } else { available() },
        vertices: model.particle_count(),
        frames,
        starts,
        clean_starts,
        safe_over_fast: safe.ms_mean / fast.ms_mean,
        fast,
        safe,
    })
}

/// All starts of a scene with one way of contact; and how many of the starts were clean.
fn run(
    scene: &Scene,
    contact_mode: ContactMode,
    threads: usize,
    frames: u32,
    starts: u32,
) -> Result<(Mode, u32), Failure> {
    let mut scene = scene.clone();
    scene.groups.iter_mut().for_each(|group| group.contact_mode = contact_mode);
    let mut crossings = Crossings::default();
    let (mut total, mut worst, mut left, mut clean_starts, mut frozen) = (0.0, 0.0f64, 0, 0, false);
    for start in 0..starts {
        let mut simulation = Simulation::new(build(&scene)?)
            .with_threads(threads)
            .map_err(|e| Failure::input(e.to_string(), "ask for fewer threads"))?;
        jitter(simulation.state_mut(), start.into());
        let clean = intersections::in_scene(simulation.model(), simulation.state()).is_empty();
        clean_starts += u32::from(clean);
        for _ in 0..frames {
            let clock = Instant::now();
            simulation.step();
            let ms = clock.elapsed().as_secs_f64() * 1e3;
            total += ms;
            worst = worst.max(ms);
            crossings.keep(&simulation);
        }
        crossings.count(simulation.model());
        left = left.max(crossings.last);
        frozen |= simulation.state().bodies.iter().any(|b| b.frozen);
    }
    let mode = Mode {
        ms_mean: total / (f64::from(frames) * f64::from(starts)),
        ms_worst: worst,
        clean_frames_percent: crossings.clean_percent(),
        intersections: left,
        intersections_in_all: crossings.in_all,
        frozen,
    };
    Ok((mode, clean_starts))
}

/// Moves every free particle by up to [`JITTER`] in any direction; supports stay where they are held.
fn jitter(state: &mut State, seed: u64) {
    let mut index = 0;
    for body in &mut state.bodies {
        let mut free = vec![true; body.x.len()];
        body.pinned.iter().for_each(|pin| free[pin.vertex as usize] = false);
        for (x, free) in body.x.iter_mut().zip(free) {
            let mut part = || {
                index += 1;
                // A cube in the ball of that radius.
                (2.0 * uniform(seed, index) - 1.0) * JITTER / 3f64.sqrt()
            };
            let moved = glam::DVec3::new(part(), part(), part());
            if free {
                *x += moved;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every scene can be read and built without the folder of scenes, and has a surface that touches something.
    #[test]
    fn all_scenes_are_inside_the_program() {
        for (name, text) in SCENES {
            let scene = read(name, text).unwrap();
            assert!(scene.bodies.iter().any(|b| b.contact.is_some()), "{name}");
            build(&scene).unwrap();
            assert!(is_name(&format!("contact-{name}")));
        }
        assert!(is_name("contact") && !is_name("contact-") && !is_name("contact-what"));
    }

    #[test]
    fn starts_differ_by_a_tenth_of_a_millimetre_and_supports_stay() {
        let (name, text) = SCENES[0];
        let start = Simulation::new(build(&read(name, text).unwrap()).unwrap());
        let moved = |seed| {
            let mut state = start.state().clone();
            jitter(&mut state, seed);
            let ways = state.bodies[0].x.iter().zip(&start.state().bodies[0].x);
            ways.map(|(a, b)| a.distance(*b)).collect::<Vec<f64>>()
        };
        let (first, second) = (moved(0), moved(1));
        assert_ne!(first, second);
        assert!(first.iter().all(|way| *way <= JITTER * (1.0 + 1e-9)));
        assert_eq!([first[0], first[40]], [0.0, 0.0]);
        assert!(first.iter().filter(|way| **way > 0.0).count() == first.len() - 2);
    }
}
