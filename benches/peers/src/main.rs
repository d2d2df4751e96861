//! Souple and other engines on the same cloth, in one run on one thread: a time says little without its neighbours.
//!
//! Repeats go round all engines, so that a machine that gets slower or faster does so for all of them. The quality of every
//! result is taken from its positions after the same simulated time, by the same code (`cloth.rs`).

mod cloth;
mod peer;
mod rapier;
mod souple;

use std::time::Instant;

use clap::Parser;
use serde::Serialize;

use crate::cloth::{Cloth, Quality};
use crate::peer::{ENTRIES, Entry};

/// Times Souple and other engines on the same hanging cloth
#[derive(Parser)]
struct Args {
    /// Engines to run besides Souple [default: all]
    names: Vec<String>,
    /// Vertices along an edge of the cloth
    #[arg(long, value_delimiter = ',', default_value = "32,100", value_parser = clap::value_parser!(u32).range(2..=1000))]
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
    /// Time per vertex and solver step in the fastest repeat, ns.
    ns_per_vertex_substep: f64,
    #[serde(flatten)]
    quality: Quality,
    /// `ms_min` over that of Souple in this run.
    ratio_to_souple: f64,
}

/// What the repeats of one engine gave.
struct Trial {
    entry: &'static Entry,
    substeps: u32,
    /// Mean ms per frame of each repeat.
    means: Vec<f64>,
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
    for &n in &args.sizes {
        rows.extend(compare(&Cloth::hanging(n as usize), &args));
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
    let trial = |(_, entry)| Trial { entry, substeps: 0, means: Vec::new(), positions: Vec::new() };
    let mut trials: Vec<Trial> = chosen.map(trial).collect();
    for repeat in 1..=args.repeats {
        for trial in &mut trials {
            eprintln!("{} × {0} vertices, repeat {repeat}: {}", cloth.n, trial.entry.name);
            let mut peer = (trial.entry.make)(cloth);
            let clock = Instant::now();
            (0..args.frames).for_each(|_| peer.step());
            trial.means.push(clock.elapsed().as_secs_f64() * 1e3 / f64::from(args.frames));
            trial.substeps = peer.substeps();
            trial.positions = peer.positions();
        }
    }
    trials.iter_mut().for_each(|trial| trial.means.sort_by(f64::total_cmp));
    let souple = trials[0].means[0];
    let vertices = cloth.positions.len();
    let row = |trial: &Trial| Row {
        name: trial.entry.name.into(),
        workload: format!("w1-{}", cloth.n),
        threads: 1,
        vertices,
        substeps: trial.substeps,
        ms_min: trial.means[0],
        ms_median: trial.means[trial.means.len() / 2],
        ns_per_vertex_substep: trial.means[0] * 1e6 / (vertices as f64 * f64::from(trial.substeps)),
        quality: cloth.measure(&trial.positions),
        ratio_to_souple: trial.means[0] / souple,
    };
    trials.iter().map(row).collect()
}

/// For people; it is also a table in Markdown.
fn print_table(rows: &[Row]) {
    println!(
        "| scene  | engine       | substeps | ms per frame | median | ns per vertex and substep | mean stretch | 99.9th pct | largest | lowest m | time of Souple |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for r in rows {
        let q = &r.quality;
        println!(
            "| {:<6} | {:<12} | {:>8} | {:>12.3} | {:>6.2} | {:>25.1} | {:>10.3} % | {:>8.2} % | {:>6.1} % | {:>8.3} | {:>12.2} x |",
            r.workload,
            r.name,
            r.substeps,
            r.ms_min,
            r.ms_median,
            r.ns_per_vertex_substep,
            q.stretch_mean_percent,
            q.stretch_p999_percent,
            q.stretch_max_percent,
            q.lowest_m,
            r.ratio_to_souple
        );
    }
}
