//! Souple and other engines on the same cloth, in one run on one thread: a time says little without its neighbours.
//!
//! Repeats go round all engines, so that a machine that gets slower or faster does so for all of them. The quality of every
//! result is taken from its positions after the same simulated time, by the same code (`cloth.rs`).

mod cloth;
mod peer;
mod rapier;
mod souple;

use std::time::Instant;

use clap::{Parser, ValueEnum};
use serde::Serialize;

use crate::cloth::{Cloth, Quality};
use crate::peer::{ENTRIES, Entry};

/// What the cloth does.
#[derive(Clone, Copy, ValueEnum)]
enum Motion {
    /// Hangs by two corners and touches nothing
    W1,
    /// Falls on its edge and folds up on itself
    Pile,
}

/// Times Souple and other engines on the same cloth
#[derive(Parser)]
struct Args {
    /// Engines to run besides Souple [default: all]
    names: Vec<String>,
    /// What the cloth does
    #[arg(long, value_enum, default_value = "w1")]
    scene: Motion,
    /// Vertices along an edge of the cloth [default: 32,100, and 100 for the pile]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=1000))]
    sizes: Vec<u32>,
    /// Frames of 1/60 s; stretch is taken after the last
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// How often each engine runs from a fresh scene
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// Figures of one engine on one cloth.
#[derive(Serialize)]
struct Row {
    /// Name of the engine.
    name: String,
    /// Name of the scene in `souple bench`.
    workload: String,
    threads: u32,
    vertices: usize,
    /// Solver steps per frame.
    substeps: u32,
    /// Fastest of the repeats: mean ms per frame.
    ms_min: f64,
    /// Median of the repeats: mean ms per frame.
    ms_median: f64,
    /// Least of the repeats: time on a core, mean ms per frame; other programs hardly change it. Absent where the system
    /// does not tell it as Linux does.
    #[serde(skip_serializing_if = "Option::is_none")]
    ms_core: Option<f64>,
    /// Time per vertex and solver step in the fastest repeat, ns.
    ns_per_vertex_substep: f64,
    #[serde(flatten)]
    quality: Quality,
    /// `ms_min` over that of Souple in this run.
    ratio_to_souple: f64,
    /// `ms_core` over that of Souple in this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    core_ratio_to_souple: Option<f64>,
}

/// What the repeats of one engine gave.
struct Trial {
    entry: &'static Entry,
    substeps: u32,
    /// Mean ms per frame of each repeat.
    means: Vec<f64>,
    /// Least mean ms per frame on a core.
    core: Option<f64>,
    positions: Vec<[f64; 3]>,
}

fn main() {
    let args = Args::parse();
    let known: Vec<&str> = ENTRIES.iter().map(|e| e.name).collect();
    if let Some(name) = args.names.iter().find(|n| !known.contains(&n.as_str())) {
        eprintln!("there is no engine '{name}'; known: {}", known.join(", "));
        std::process::exit(2);
    }
    let mut rows = Vec::new();
    let (make, usual): (fn(usize) -> Cloth, &[u32]) = match args.scene {
        Motion::W1 => (Cloth::hanging, &[32, 100]),
        Motion::Pile => (Cloth::pile, &[100]),
    };
    for &n in if args.sizes.is_empty() { usual } else { &args.sizes } {
        rows.extend(compare(&make(n as usize), &args));
    }
    if args.json {
        let report = serde_json::json!({ "frames": args.frames, "repeats": args.repeats, "rows": rows });
        println!("{report:#}");
    } else {
        print_table(&rows);
    }
}

/// All engines on one cloth.
fn compare(cloth: &Cloth, args: &Args) -> Vec<Row> {
    let wanted = |name: &str| args.names.is_empty() || args.names.iter().any(|n| n == name);
    let chosen = ENTRIES.iter().enumerate().filter(|(k, entry)| *k == 0 || wanted(entry.name));
    let trial =
        |(_, entry)| Trial { entry, substeps: 0, means: Vec::new(), core: None, positions: Vec::new() };
    let mut trials: Vec<Trial> = chosen.map(trial).collect();
    for repeat in 1..=args.repeats {
        for trial in &mut trials {
            eprintln!("{}, repeat {repeat}: {}", cloth.name, trial.entry.name);
            let mut peer = (trial.entry.make)(cloth);
            let (clock, before) = (Instant::now(), core_ms());
            (0..args.frames).for_each(|_| peer.step());
            trial.means.push(clock.elapsed().as_secs_f64() * 1e3 / f64::from(args.frames));
            let core = before.zip(core_ms()).map(|(a, b)| (b - a) / f64::from(args.frames));
            trial.core = core.map(|ms| trial.core.map_or(ms, |least| least.min(ms)));
            trial.substeps = peer.substeps();
            trial.positions = peer.positions();
        }
    }
    trials.iter_mut().for_each(|trial| trial.means.sort_by(f64::total_cmp));
    let (souple, souple_core) = (trials[0].means[0], trials[0].core);
    let vertices = cloth.positions.len();
    let row = |trial: &Trial| Row {
        name: trial.entry.name.into(),
        workload: cloth.name.clone(),
        threads: 1,
        vertices,
        substeps: trial.substeps,
        ms_min: trial.means[0],
        ms_median: trial.means[trial.means.len() / 2],
        ms_core: trial.core,
        ns_per_vertex_substep: trial.means[0] * 1e6 / (vertices as f64 * f64::from(trial.substeps)),
        quality: cloth.measure(&trial.positions),
        ratio_to_souple: trial.means[0] / souple,
        core_ratio_to_souple: trial.core.zip(souple_core).map(|(own, souple)| own / souple),
    };
    trials.iter().map(row).collect()
}

/// How long this thread has been on a core, ms.
fn core_ms() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(1e-6 * text.split(' ').next()?.parse::<f64>().ok()?)
}

/// For people; it is also a table in Markdown.
fn print_table(rows: &[Row]) {
    println!(
        "| scene  | engine          | substeps | ms per frame |  median | on a core | ns per vertex and substep | mean stretch | 99.9th pct |  largest | lowest m | crossings | time of Souple | on a core |"
    );
    println!("|{}", "---|".repeat(14));
    let or_none = |value: Option<f64>, digits: usize| value.map_or("–".into(), |v| format!("{v:.digits$}"));
    for r in rows {
        let q = &r.quality;
        println!(
            "| {:<6} | {:<15} | {:>8} | {:>12.3} | {:>7.2} | {:>9} | {:>25.1} | {:>10.3} % | {:>8.2} % | {:>6.1} % | {:>8.3} | {:>9} | {:>14.2} | {:>9} |",
            r.workload,
            r.name,
            r.substeps,
            r.ms_min,
            r.ms_median,
            or_none(r.ms_core, 3),
            r.ns_per_vertex_substep,
            q.stretch_mean_percent,
            q.stretch_p999_percent,
            q.stretch_max_percent,
            q.lowest_m,
            q.intersections.map_or("–".into(), |count| count.to_string()),
            r.ratio_to_souple,
            or_none(r.core_ratio_to_souple, 2)
        );
    }
}
