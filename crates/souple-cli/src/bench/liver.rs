//! `souple bench liver`: the table of livers of the thesis behind FAU-01 and FAU-20 (2008), tetrahedra and hexahedra of three sizes.
//!
//! The liver of `scenes/soft/liver.toml`, a shape of our own, in cells of such sizes that there are about as many elements as in the thesis. A lobe is
//! pulled for two seconds, lightly; steps of 1/60 s by the implicit solver with its defaults. Of each step the fastest repeat counts; the first step, in
//! which the solver gets ready, is told apart: `ms_first`. Beside the steps per second stands where the time goes. The thesis does not say how exactly it solved a
//! step, nor on which machine.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use souple::Simulation;
use souple::scene::{Cells, Scene};
use souple_files::disk;
use souple_formats::scene::{read_scene, resolve_meshes};

use super::workloads::{available, build};
use crate::args::BenchArgs;
use crate::failure::Failure;

/// Name of the workload.
pub const NAME: &str = "liver";

/// Steps unless others are asked for: as long as the lobe is pulled.
const FRAMES: u32 = 120;

/// A liver of the thesis and what comes near it.
struct Size {
    elements: &'static str,
    cut: Cells,
    /// Edge of a cell, m.
    cell: f64,
    /// Elements and nodes of the thesis, and its steps per second.
    seed: (usize, usize, f64),
}

const fn size(elements: &'static str, cut: Cells, cell: f64, count: usize, nodes: usize, hertz: f64) -> Size {
    Size { elements, cut, cell, seed: (count, nodes, hertz) }
}

/// All of them. The thesis says "< 1" of the largest hexahedra: 1 is taken.
const SIZES: [Size; 6] = [
    size("tetrahedra", Cells::Five, 0.026, 929, 309, 40.0),
    size("tetrahedra", Cells::Five, 0.012, 6_725, 2_032, 5.0),
    size("tetrahedra", Cells::Five, 0.0074, 25_204, 7_655, 1.0),
    size("hexahedra", Cells::Hexahedra, 0.0235, 242, 436, 70.0),
    size("hexahedra", Cells::Hexahedra, 0.012, 1_346, 2_003, 13.0),
    size("hexahedra", Cells::Hexahedra, 0.006, 8_913, 11_378, 1.0),
];

/// Figures of one liver.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What it is made of.
    pub elements: &'static str,
    /// Edge of a cell, m.
    pub cell_m: f64,
    /// Number of elements.
    pub count: usize,
    /// Number of corners of elements.
    pub nodes: usize,
    /// Number of elements in the thesis.
    pub seed_count: usize,
    /// Number of nodes in the thesis.
    pub seed_nodes: usize,
    /// Threads.
    pub threads: usize,
    /// Mean ms per step, each from its fastest repeat, without the first step.
    pub ms_min: f64,
    /// Median of the repeats: mean ms per step.
    pub ms_median: f64,
    /// Slowest single step of all repeats, ms.
    pub ms_worst: f64,
    /// Time that a core worked on a step, ms: the mean of a repeat, the least of all. On a machine that has other work, too, it says more than the clock. Of one thread, and
    /// where the system tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<f64>,
    /// The first step, in which the solver gets ready, ms; in no other figure.
    pub ms_first: f64,
    /// Steps per second: 1000 over `ms_min`.
    pub steps_per_second: f64,
    /// Steps per second of the thesis.
    pub seed_steps_per_second: f64,
    /// Ratio of both.
    pub ratio: f64,
    /// Mean iterations of a linear solve.
    pub iterations_mean: f64,
    /// Most iterations of a linear solve.
    pub iterations_max: u32,
    /// Time for forces and their derivatives in these steps, ms per step.
    pub linearise_ms: f64,
    /// Time for products with the matrix, ms per step.
    pub product_ms: f64,
    /// Time for preconditioning, ms per step.
    pub precondition_ms: f64,
    /// All other time, ms per step.
    pub other_ms: f64,
    /// Linear solves that were stopped before they reached their tolerance.
    pub solves_cut_short: u64,
    /// Whether the body froze: the figures are then worth nothing.
    pub frozen: bool,
}

impl Row {
    /// For people.
    pub fn line(&self) -> String {
        format!(
            "liver {:<10} {:>6} ({:>5}) {:>6} nodes ({:>5}) {} threads  {:>8.3} ms/step{} (worst {:>7.2}, first {:>6.0})  {:>7.1} steps/s  {:>5.1} times {:>2}  {:>4.1} iterations (most {:>2}): linearise {:.3} ms, product {:.3}, precondition {:.3}, other {:.3}{}",
            self.elements,
            self.count,
            self.seed_count,
            self.nodes,
            self.seed_nodes,
            self.threads,
            self.ms_min,
            self.cpu_ms.map_or(String::new(), |ms| format!(", {ms:.3} of a core")),
            self.ms_worst,
            self.ms_first,
            self.steps_per_second,
            self.ratio,
            self.seed_steps_per_second,
            self.iterations_mean,
            self.iterations_max,
            self.linearise_ms,
            self.product_ms,
            self.precondition_ms,
            self.other_ms,
            if self.frozen { "  FROZEN" } else { "" }
        )
    }
}

/// Runs all livers and hands each out as it is done.
pub fn compare(
    args: &BenchArgs,
    mut done: impl FnMut(&Row) -> Result<(), Failure>,
) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for size in &SIZES {
        let scene = liver(size.cut, size.cell)?;
        for &threads in &args.threads {
            // At most `MAX_THREADS`, so it always fits.
            let threads = usize::try_from(threads).unwrap_or(0);
            let row = time(size, &scene, threads, args.frames.unwrap_or(FRAMES), args.repeats)?;
            done(&row)?;
            rows.push(row);
        }
    }
    Ok(rows)
}

/// The scene with cells of that size.
fn liver(cut: Cells, cell: f64) -> Result<Scene, Failure> {
    let text = include_str!("../../../../scenes/soft/liver.toml");
    let mesh = include_bytes!("../../../../scenes/soft/meshes/liver.obj");
    let mut file = read_scene(text, "scenes/soft/liver.toml")?;
    resolve_meshes(&mut file.scene, &mut |_| Ok(mesh.to_vec()))
        .map_err(|error| file.source.explain(&error))?;
    for body in &mut file.scene.bodies {
        // Pulled lightly, and never thrust through itself: the thesis tells the time of usual steps.
        body.pulls.truncate(1);
        for pull in &mut body.pulls {
            (pull.force, pull.from, pull.until) = ([0.02, 0.06, 0.0], 0.0, Some(2.0));
        }
        if let Some(embed) = &mut body.embed {
            embed.cut = cut;
            embed.cell = cell;
        }
    }
    Ok(file.scene)
}

/// What one step took, ms: all of it, and the parts that its linear solve books.
#[derive(Clone, Copy, Debug)]
struct Step {
    ms: f64,
    linearise: f64,
    product: f64,
    precondition: f64,
}

fn time(size: &Size, scene: &Scene, threads: usize, frames: u32, repeats: u32) -> Result<Row, Failure> {
    let (mut first, mut worst, mut most) = (f64::INFINITY, 0.0f64, 0);
    let mut means = Vec::new();
    // Of each step the fastest repeat: all of them do the same work, and what else the machine does only makes them slower.
    let mut fastest: Vec<Step> = Vec::new();
    let (mut last, mut cpu_ms) = (None, None);
    for _ in 0..repeats {
        let mut simulation = Simulation::new(build(scene)?)
            .with_threads(threads)
            .map_err(|e| Failure::input(e.to_string(), "ask for fewer threads"))?;
        let first_step = step(&mut simulation);
        first = first.min(first_step.ms);
        let before = simulation.profile().solves;
        let start = worked();
        let mut steps = Vec::new();
        for _ in 0..frames {
            steps.push(step(&mut simulation));
            most = most.max(simulation.solver_iterations(0));
        }
        if let (Some(from), Some(to), 1) = (start, worked(), threads) {
            let ms = milliseconds(to.saturating_sub(from)) / f64::from(frames);
            cpu_ms = Some(cpu_ms.map_or(ms, |least: f64| least.min(ms)));
        }
        worst = steps.iter().fold(worst, |worst, step| worst.max(step.ms));
        means.push(mean(&steps, |step| step.ms));
        match fastest.is_empty() {
            true => fastest = steps,
            false => fastest.iter_mut().zip(steps).for_each(|(fastest, step)| {
                if step.ms < fastest.ms {
                    *fastest = step;
                }
            }),
        }
        last = Some((simulation, before));
    }
    means.sort_by(f64::total_cmp);
    let Some((simulation, before)) = last else {
        return Err(Failure::Usage("--repeats must be at least 1".into()));
    };
    let topology = &simulation.model().bodies[0].topology;
    let solves = simulation.profile().solves;
    let [ms_min, linearise_ms, product_ms, precondition_ms] = [
        mean(&fastest, |step| step.ms),
        mean(&fastest, |step| step.linearise),
        mean(&fastest, |step| step.product),
        mean(&fastest, |step| step.precondition),
    ];
    let (seed_count, seed_nodes, seed_steps_per_second) = size.seed;
    Ok(Row {
        elements: size.elements,
        cell_m: size.cell,
        count: topology.tetrahedra.len() + topology.hexahedra.len(),
        nodes: topology.len() - topology.mapping.len(),
        seed_count,
        seed_nodes,
        threads: if threads > 0 { threads } else { available() },
        ms_min,
        ms_median: means[means.len() / 2],
        ms_worst: worst,
        cpu_ms,
        ms_first: first,
        steps_per_second: 1e3 / ms_min,
        seed_steps_per_second,
        ratio: 1e3 / ms_min / seed_steps_per_second,
        iterations_mean: (solves.iterations - before.iterations) as f64
            / (solves.solves - before.solves).max(1) as f64,
        iterations_max: most,
        linearise_ms,
        product_ms,
        precondition_ms,
        other_ms: ms_min - linearise_ms - product_ms - precondition_ms,
        solves_cut_short: simulation.profile().cut_short,
        frozen: simulation.state().bodies.iter().any(|b| b.frozen),
    })
}

/// Takes a step and times it.
fn step(simulation: &mut Simulation) -> Step {
    let before = simulation.profile().solves;
    let clock = Instant::now();
    simulation.step();
    let ms = milliseconds(clock.elapsed());
    let after = simulation.profile().solves;
    Step {
        ms,
        linearise: milliseconds(after.linearise - before.linearise),
        product: milliseconds(after.product - before.product),
        precondition: milliseconds(after.precondition - before.precondition),
    }
}

/// For how long a core has worked for this thread; nothing where the system does not tell it as Linux does.
fn worked() -> Option<Duration> {
    let told = disk::read(Path::new("/proc/thread-self/schedstat"), 1 << 10, "work of this program").ok()?;
    let nanoseconds = String::from_utf8(told).ok()?.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn mean(steps: &[Step], of: impl Fn(&Step) -> f64) -> f64 {
    steps.iter().map(of).sum::<f64>() / steps.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// There are about as many elements as the thesis had, and none is cut off from the others.
    #[test]
    fn livers_have_the_sizes_of_the_thesis() {
        for size in &SIZES {
            let model = build(&liver(size.cut, size.cell).unwrap()).unwrap();
            let topology = &model.bodies[0].topology;
            let count = topology.tetrahedra.len() + topology.hexahedra.len();
            let apart = (count as f64 / size.seed.0 as f64 - 1.0).abs();
            assert!(apart < 0.1, "{} of {}: {count} for {}", size.elements, size.cell, size.seed.0);
        }
    }

    #[test]
    fn time_is_told_by_where_it_goes() {
        let size = &SIZES[3];
        let row = time(size, &liver(size.cut, size.cell).unwrap(), 1, 3, 1).unwrap();
        assert!(!row.frozen && row.iterations_mean >= 1.0, "{row:?}");
        for part in [row.linearise_ms, row.product_ms, row.precondition_ms, row.other_ms] {
            assert!(part > 0.0 && part < row.ms_min, "{row:?}");
        }
    }
}
