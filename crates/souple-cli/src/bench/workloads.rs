//! The workloads, and how they are timed.

use std::path::Path;
use std::time::Instant;

use souple::measure::intersections;
use souple::scene::{
    Body, Cg, Family, Grid, Group, Interpolation, Key, Motion, Pin, Scene, Select, Shape, SolverKind, Springs,
};
use souple::solver::{ALL_SOLVERS, solver_name, stability};
use souple::{Model, ModelBuilder, Simulation, Stage, State};
use souple_files::disk;
use souple_formats::scene::read_scene;

use super::Figures;
use crate::args::BenchArgs;
use crate::failure::Failure;
use crate::report::ProfileReport;

/// Names that can be asked for, in the order in which they run. Those of [`SCALE`] come first: memory that others have left
/// behind would be used again and not be seen.
pub const NAMES: &[&str] = &[
    "scale-1k",
    "scale-10k",
    "scale-100k",
    "scale-490k",
    "scale-1m",
    "w1-32",
    "w1-100",
    "w1-200",
    "w2",
    "w3",
    "pile",
    "w4",
    "growth-10k",
    "growth-20k",
    "growth-50k",
    "growth-100k",
    "shaken",
    "many",
    "integrators-40",
    "integrators-100",
    "integrators",
    "viewer",
    "skin",
    super::elastic::NAME,
    "limit",
    "methods-32",
    "methods",
    super::contact::NAME,
    super::convergence::NAME,
    super::liver::NAME,
    super::multigrid::NAME,
    super::paper::NAME,
    super::wrinkles::NAME,
    super::weights::NAME,
];

/// The groups: each stands for all workloads whose names begin with it and a dash. They take minutes, so they only run when
/// asked for.
pub const GROUPS: [&str; 2] = [SCALE, GROWTH];
const SCALE: &str = "scale";
/// The pile with more and more triangles.
const GROWTH: &str = "growth";

/// Rows and columns of the cloths of `many`, and their distance from the next, m.
const MANY: (u32, u32, f64) = (25, 40, 1.5);

/// A scene to be timed.
pub struct Workload {
    /// Name in the report.
    pub name: String,
    /// The scene.
    pub scene: Scene,
    /// Frames to run.
    pub frames: u32,
    /// Whether the time of the first frame, in which the real-time solver packs its data, is reported apart.
    pub first_apart: bool,
    /// Whether stretch is measured in every frame.
    pub every_frame: bool,
}

/// Whether a workload runs when these names were given.
pub fn wanted(name: &str, given: &[String]) -> bool {
    let group = name.split_once('-').map(|(group, _)| group).filter(|group| GROUPS.contains(group));
    given.iter().any(|n| n == name || group == Some(n)) || (given.is_empty() && group.is_none())
}

/// The scenes of a workload.
pub fn of(name: &str) -> Result<Vec<Workload>, Failure> {
    let large = |scene: Result<Scene, Failure>, frames: u32| {
        Ok(vec![Workload { name: name.into(), scene: scene?, frames, first_apart: true, every_frame: false }])
    };
    match name {
        "scale-1k" => return large(w1(32), 10),
        "scale-10k" => return large(w1(100), 10),
        "scale-100k" => return large(w1(316), 10),
        "scale-490k" => return large(w1(700), 10),
        "scale-1m" => return large(w1(1000), 10),
        "many" => return large(many(), 30),
        "growth-10k" => return grown(name, 71),
        "growth-20k" => return grown(name, 100),
        "growth-50k" => return grown(name, 158),
        "growth-100k" => return grown(name, 224),
        "shaken" => {
            let (name, scene, frames) = (name.into(), shaken()?, 300);
            return Ok(vec![Workload { name, scene, frames, first_apart: false, every_frame: true }]);
        }
        _ => {}
    }
    let text = match name {
        "w1-32" => include_str!("../../../../scenes/bench/w1-32.toml"),
        "w1-100" => include_str!("../../../../scenes/bench/w1-100.toml"),
        "w1-200" => include_str!("../../../../scenes/bench/w1-200.toml"),
        "w2" => include_str!("../../../../scenes/bench/w2.toml"),
        "w3" => include_str!("../../../../scenes/bench/w3.toml"),
        "pile" => include_str!("../../../../scenes/bench/pile.toml"),
        "w4" => include_str!("../../../../scenes/bench/w4.toml"),
        "integrators-40" => return each_solver(40),
        _ => return each_solver(100),
    };
    let scene = read_scene(text, &format!("scenes/bench/{name}.toml"))?.scene;
    let frames = scene.time.frames;
    Ok(vec![Workload { name: name.into(), scene, frames, first_apart: false, every_frame: false }])
}

/// The cloth of `w1-100` with n × n vertices.
fn w1(n: u32) -> Result<Scene, Failure> {
    let text = include_str!("../../../../scenes/bench/w1-100.toml");
    let mut scene = read_scene(text, "scenes/bench/w1-100.toml")?.scene;
    // Finer cloth wants the solver's own step.
    scene.groups.iter_mut().for_each(|group| group.dt = None);
    for body in &mut scene.bodies {
        if let Shape::Grid(grid) = &mut body.shape {
            grid.vertices = [n, n];
        }
    }
    Ok(scene)
}

/// The sheet of `pile` with n × n vertices, as large and heavy as ever; its skin is as many edges as in `pile`, its substeps are
/// the same. Two seconds: it falls and lies in a heap.
fn grown(name: &str, n: u32) -> Result<Vec<Workload>, Failure> {
    let text = include_str!("../../../../scenes/bench/pile.toml");
    let mut scene = read_scene(text, "scenes/bench/pile.toml")?.scene;
    for body in &mut scene.bodies {
        if let Shape::Grid(grid) = &mut body.shape {
            body.skin *= f64::from(grid.vertices[0] - 1) / f64::from(n - 1);
            grid.vertices = [n, n];
        }
    }
    Ok(vec![Workload { name: name.into(), scene, frames: 120, first_apart: false, every_frame: false }])
}

/// The exponent p with which time grows as triangles^p, from the first row of the group `growth` with as many threads to this one.
pub fn growth_exponent(rows: &[Figures], last: &Figures) -> Option<f64> {
    let of_group = |f: &&Figures| f.name.split_once('-').is_some_and(|(group, _)| group == GROWTH);
    Some(last).filter(of_group)?;
    let first = rows.iter().filter(of_group).find(|f| f.threads == last.threads)?;
    let more = last.triangles? as f64 / first.triangles? as f64;
    Some((last.ms_min / first.ms_min).ln() / more.ln()).filter(|p| p.is_finite())
}

/// The cloth of `w1-100`, its supports shaken by 0.2 m at 1.5 Hz along x and by 0.1 m at 2.3 Hz along z: nearly three
/// times the acceleration of gravity.
fn shaken() -> Result<Scene, Failure> {
    let mut scene = w1(100)?;
    let at = |frame: u32| {
        let t = f64::from(frame) / scene.time.fps;
        let sway = |amplitude: f64, hertz: f64| amplitude * (std::f64::consts::TAU * hertz * t).sin();
        Key { t, translate: [sway(0.2, 1.5), 0.0, sway(0.1, 2.3)], ..Key::default() }
    };
    let keys: Vec<Key> = (0..=600).map(at).collect();
    let motion = Motion { keys, interpolation: Interpolation::Linear, repeat: true, ..Motion::default() };
    for pin in scene.bodies.iter_mut().flat_map(|body| &mut body.pins) {
        pin.motion = Some(motion.clone());
    }
    Ok(scene)
}

/// A thousand cloths of 20 × 20 vertices like that of `w1-100`, side by side, too far apart to meet.
fn many() -> Result<Scene, Failure> {
    let mut scene = w1(20)?;
    let (rows, columns, apart) = MANY;
    let one = std::mem::take(&mut scene.bodies);
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        for body in &one {
            let mut body = body.clone();
            let offset = [f64::from(column) * apart, 0.0, f64::from(row) * apart];
            body.name = format!("{}-{row}-{column}", body.name);
            body.placement.translate = offset;
            for pin in &mut body.pins {
                pin.name = format!("{}-{row}-{column}", pin.name);
                if let Select::Near(point) = &mut pin.select {
                    (0..3).for_each(|c| point[c] += offset[c]);
                }
            }
            scene.bodies.push(body);
        }
    }
    Ok(scene)
}

/// The seed's cloth: 1 m, 0.2 kg, springs of 50 N/m, hung by two corners, n×n vertices.
pub fn hanging_cloth(n: u32, solver: SolverKind, dt: Option<f64>) -> Scene {
    let corner =
        |x: f64| Pin { name: format!("corner-{x}"), select: Select::Near([x, 0.0, 0.0]), ..Pin::default() };
    let family = |k: f64, c: f64| Family { stiffness: Some(k), damping: Some(c), modulus: None };
    let body = Body {
        name: "cloth".into(),
        mass: Some(0.2),
        shape: Shape::Grid(Grid { vertices: [n, n], ..Grid::default() }),
        springs: Springs {
            stretch: family(50.0, 0.01),
            shear: family(20.0, 0.004),
            bend: family(1.0, 0.0),
            ..Springs::default()
        },
        pins: vec![corner(0.0), corner(1.0)],
        ..Body::default()
    };
    let cg = Cg { tolerance: 1e-2, max_iterations: 200, ..Cg::default() };
    Scene {
        groups: vec![Group { solver, dt, cg, ..Group::default() }],
        bodies: vec![body],
        ..Scene::default()
    }
}

/// Longest stable step of the only body of a scene by forecast, s.
pub fn forecast(model: &Model, solver: SolverKind) -> f64 {
    let body = &model.bodies[0];
    let inverse_masses: Vec<f64> = body.topology.masses.iter().map(|m| 1.0 / m).collect();
    stability::longest_step(
        solver,
        &stability::stiffest_mode(&body.topology, &inverse_masses, body.dissipation),
    )
}

fn each_solver(n: u32) -> Result<Vec<Workload>, Failure> {
    ALL_SOLVERS
        .into_iter()
        .map(|solver| {
            let probe = build(&hanging_cloth(n, solver, None))?;
            // Nine tenths of the forecast; a frame at most.
            let dt = (0.9 * forecast(&probe, solver)).min(1.0 / 60.0);
            let name = format!("integrators-{n}/{}", solver_name(solver));
            let scene = hanging_cloth(n, solver, Some(dt));
            Ok(Workload { name, scene, frames: 30, first_apart: false, every_frame: false })
        })
        .collect()
}

/// Compiles a scene of the program's own.
pub fn build(scene: &Scene) -> Result<Model, Failure> {
    ModelBuilder::new(scene).build().map_err(|e| Failure::input(e.to_string(), e.help))
}

/// How a workload is run.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    /// Threads; 0 for one per core.
    pub threads: usize,
    /// How often, from a fresh scene.
    pub repeats: u32,
    /// Frames, unless the workload says how many.
    pub frames: Option<u32>,
}

impl Runs {
    /// One for each number of threads that was asked for.
    pub fn of(args: &BenchArgs) -> Vec<Runs> {
        let one = |&threads: &u64| {
            // At most `MAX_THREADS`, so it always fits.
            let threads = usize::try_from(threads).unwrap_or(0);
            Runs { threads, repeats: args.repeats, frames: args.frames }
        };
        args.threads.iter().map(one).collect()
    }
}

/// Counts crossings in frames that were kept, so that counting between frames does not disturb their times.
#[derive(Default)]
pub struct Crossings {
    kept: Vec<State>,
    frames: u32,
    clean: u32,
    /// In the last frame.
    pub last: usize,
    /// Added up over all frames.
    pub in_all: usize,
}

impl Crossings {
    /// Frames that are kept at most: a few dozen megabytes of the largest cloth.
    const KEPT: usize = 60;

    /// Keeps a frame, to be counted later.
    pub fn keep(&mut self, simulation: &Simulation) {
        self.kept.push(simulation.state().clone());
        if self.kept.len() >= Self::KEPT {
            self.count(simulation.model());
        }
    }

    /// Counts in the frames that were kept.
    pub fn count(&mut self, model: &Model) {
        for state in self.kept.drain(..) {
            self.last = intersections::in_scene(model, &state).len();
            self.frames += 1;
            self.clean += u32::from(self.last == 0);
            self.in_all += self.last;
        }
    }

    /// Share of the frames without any, percent.
    pub fn clean_percent(&self) -> f64 {
        100.0 * f64::from(self.clean) / f64::from(self.frames.max(1))
    }
}

/// Runs a workload from a fresh scene as often as asked and takes the wall time of every step.
pub fn time(workload: &Workload, runs: Runs) -> Result<Figures, Failure> {
    let frames = runs.frames.unwrap_or(workload.frames);
    let apart = workload.first_apart && frames > 1;
    let mut means = Vec::new();
    let mut worst = 0.0f64;
    let mut first_ms = f64::INFINITY;
    let mut bytes_per_vertex = None;
    let mut over_frames = None;
    let mut drop_mm = None;
    let touching = workload.scene.bodies.iter().any(|body| body.contact.is_some());
    let mut crossings = touching.then(Crossings::default);
    let mut best: Option<(f64, Simulation, u32)> = None;
    for repeat in 0..runs.repeats {
        let resident_before = resident_bytes();
        let mut simulation = Simulation::new(build(&workload.scene)?)
            .with_threads(runs.threads)
            .map_err(|e| Failure::input(e.to_string(), "ask for fewer threads"))?;
        let mut total = 0.0;
        let mut iterations = 0;
        let mut p999 = Vec::new();
        let mut drops = Vec::new();
        for frame in 0..frames {
            let clock = Instant::now();
            simulation.step();
            let ms = clock.elapsed().as_secs_f64() * 1e3;
            iterations = iterations.max(simulation.solver_iterations(0));
            if workload.every_frame {
                p999.push(simulation.measures().stretch_p999_percent);
            }
            if f64::from(frames - frame) <= simulation.model().fps {
                drops.extend(tip_drop(&simulation));
            }
            // Every repeat moves by the same bits: one is looked at.
            if let (Some(crossings), 0) = (&mut crossings, repeat) {
                crossings.keep(&simulation);
            }
            if apart && frame == 0 {
                first_ms = first_ms.min(ms);
                continue;
            }
            total += ms;
            worst = worst.max(ms);
        }
        if let Some(crossings) = &mut crossings {
            crossings.count(simulation.model());
        }
        drop_mm = (!drops.is_empty()).then(|| 1e3 * drops.iter().sum::<f64>() / drops.len() as f64);
        p999.sort_by(f64::total_cmp);
        over_frames = p999.get(p999.len() / 2).copied().zip(p999.last().copied()).or(over_frames);
        let mean = total / f64::from(frames - u32::from(apart));
        means.push(mean);
        // Later repeats use the memory of earlier ones.
        if repeat == 0 && workload.first_apart {
            let grown = resident_before.zip(resident_bytes()).map(|(a, b)| b.saturating_sub(a));
            bytes_per_vertex = grown.map(|bytes| bytes as f64 / simulation.model().particle_count() as f64);
        }
        if best.as_ref().is_none_or(|(fastest, ..)| mean < *fastest) {
            best = Some((mean, simulation, iterations));
        }
    }
    means.sort_by(f64::total_cmp);
    let Some((fastest, simulation, iterations_max)) = best else {
        return Err(Failure::Usage("--repeats must be at least 1".into()));
    };
    let model = simulation.model();
    let group = &model.groups[0];
    let vertices = model.particle_count();
    let measures = simulation.measures();
    let profile = ProfileReport(*simulation.profile());
    let triangles: usize = model.bodies.iter().map(|body| body.topology.triangles.len()).sum();
    let contact_ms = profile.milliseconds(Stage::FindContacts);
    let (found, rounds) = (profile.0.contacts as f64, profile.0.contact_rounds as f64);
    let found_per_frame = found / profile.0.steps.max(1) as f64;
    Ok(Figures {
        name: workload.name.clone(),
        solver: solver_name(group.solver),
        threads: if runs.threads > 0 { runs.threads } else { available() },
        vertices,
        substeps: group.substeps,
        ms_min: fastest,
        ms_median: means[means.len() / 2],
        ms_worst: worst,
        ms_first: apart.then_some(first_ms),
        ns_per_vertex_substep: fastest * 1e6 / (vertices as f64 * f64::from(group.substeps)),
        times_real_time: 1e3 / model.fps / fastest,
        bytes_per_vertex,
        stretch_mean_percent: measures.stretch_mean_percent,
        stretch_max_percent: measures.stretch_max_percent,
        stretch_p999_percent: measures.stretch_p999_percent,
        stretch_p999_over_frames_percent: over_frames,
        lowest_m: measures.lowest,
        tip_drop_mm: drop_mm,
        intersections: crossings.as_ref().map(|c| c.last),
        clean_frames_percent: crossings.as_ref().map(Crossings::clean_percent),
        contact_ms: touching.then_some(contact_ms),
        triangles: touching.then_some(triangles),
        contacts: (rounds > 0.0).then(|| found / rounds),
        ns_per_contact: (found > 0.0).then(|| contact_ms * 1e6 / found_per_frame),
        ns_per_triangle: (touching && triangles > 0)
            .then(|| fastest * 1e6 / (triangles as f64 * f64::from(group.substeps))),
        growth_exponent: None,
        iterations_max,
        solves_cut_short: profile.0.cut_short,
        profile: serde_json::to_value(profile).unwrap_or_default(),
        frozen: simulation.state().bodies.iter().any(|b| b.frozen),
    })
}

/// How far the far end of a solid along x has come down, m; none of what is no solid.
fn tip_drop(simulation: &Simulation) -> Option<f64> {
    let topology = &simulation.model().bodies.first()?.topology;
    if topology.tetrahedra.is_empty() {
        return None;
    }
    let rest = &topology.rest_positions;
    let far = rest.iter().map(|x| x.x).fold(f64::NEG_INFINITY, f64::max);
    let tip = rest.iter().zip(&simulation.state().bodies[0].x).filter(|(rest, _)| rest.x > far - 1e-9);
    let drops: Vec<f64> = tip.map(|(rest, x)| rest.y - x.y).collect();
    Some(drops.iter().sum::<f64>() / drops.len() as f64)
}

/// How many cores there are.
pub fn available() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// Memory of this program that is in RAM, bytes; nothing where the system does not tell it as Linux does.
fn resident_bytes() -> Option<u64> {
    let status = disk::read(Path::new("/proc/self/status"), 1 << 16, "state of this program").ok()?;
    let status = String::from_utf8(status).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    Some(1024 * kib)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_only_run_when_asked_for() {
        let given = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let runs =
            |names: &[&str]| NAMES.iter().copied().filter(|n| wanted(n, &given(names))).collect::<Vec<_>>();
        assert_eq!(runs(&[]), [&NAMES[5..12], &NAMES[16..]].concat());
        assert_eq!(runs(&["scale"]), NAMES[..5]);
        assert_eq!(runs(&["growth"]), NAMES[12..16]);
        assert_eq!(runs(&["limit", "scale-1k"]), ["scale-1k", "limit"]);
    }

    /// From 10⁴ to 10⁵ triangles of one sheet, in equally many substeps, with the skin in the same proportion to edges.
    #[test]
    fn growth_is_one_sheet_of_more_and_more_triangles() {
        let names = ["growth-10k", "growth-20k", "growth-50k", "growth-100k"];
        let built = names.map(|name| build(&of(name).unwrap()[0].scene).unwrap());
        let triangles = built.each_ref().map(|model| model.bodies[0].topology.triangles.len());
        assert_eq!(triangles, [9_800, 19_602, 49_298, 99_458]);
        for (name, model) in names.iter().zip(&built) {
            assert_eq!(model.groups[0].substeps, 12, "{name}");
            let Shape::Grid(grid) = &of(name).unwrap()[0].scene.bodies[0].shape else { panic!("{name}") };
            let skin_in_edges = of(name).unwrap()[0].scene.bodies[0].skin * f64::from(grid.vertices[0] - 1);
            assert!((skin_in_edges - 0.004 * 99.0).abs() < 1e-12, "{name}: {skin_in_edges}");
        }
    }

    /// Each cloth is held by two corners of its own, and none hangs where another does.
    #[test]
    fn many_is_a_thousand_cloths_apart() {
        let model = build(&many().unwrap()).unwrap();
        assert_eq!((model.bodies.len(), model.particle_count()), (1000, 400_000));
        let simulation = Simulation::new(model);
        for (b, body) in simulation.state().bodies.iter().enumerate() {
            let held: Vec<u32> = body.pinned.iter().map(|p| p.vertex).collect();
            assert_eq!(held, [0, 19], "body {b}");
        }
    }
}
