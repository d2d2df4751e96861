//! `souple bench`: wall time of the step calls, with the quality of the result beside it.
//!
//! Workloads: `w1-32`, `w1-100`, `w1-200`, `w2`, `w3`, `pile`, `w4` are the scenes of `scenes/bench`; `integrators-40` and `integrators-100`
//! run one hanging cloth of 40×40 and 100×100 vertices with every integrator; `integrators` compares them on a small
//! cloth by stable step, cost and energy drift, and draws it with `--plot`; `viewer` times pictures, `skin` skins that keep their
//! volume. `scale-1k` to
//! `scale-1m` (all: `scale`) are `w1` with up to a million vertices, `many` is a thousand small cloths, `limit` sets the
//! real-time solver against what the machine can do; `methods` compares solvers by time, stretch and motion on the cloth of
//! w1, and draws it too (`methods-32`: the coarse cloth only); `growth-10k` to `growth-100k` (all: `growth`) are the pile with
//! up to 10⁵ triangles; `contact` runs the scenes of `scenes/contact` with fast and with safe contact. `convergence` solves a
//! beam with more and more elements, and draws it; `liver` times the livers of the thesis; `weights` finds those of a figure; `multigrid` compares preconditioners on a beam, and draws it; `paper` makes sheets of paper; `wrinkles` folds
//! garments of the sizes of the thesis. `scale`, `growth`, `methods`, `contact`,
//! `convergence`, `liver`, `multigrid`, `paper`, `weights` and `wrinkles` run only when they are named. A time says little without its neighbours: compare within one run, on one machine. `benches/peers` puts other
//! engines beside it.

mod contact;
mod convergence;
mod elastic;
mod garments;
mod integrators;
mod limit;
mod liver;
mod methods;
mod multigrid;
mod paper;
mod plot;
mod skin;
mod viewer;
mod weights;
mod workloads;
mod wrinkles;

use std::process::ExitCode;

use serde::Serialize;
use souple_files::disk;

use crate::args::BenchArgs;
use crate::failure::{Failure, Outcome};
use crate::report::{say, say_json};

/// Figures of one workload.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Name of the workload.
    pub name: String,
    /// Solver.
    pub solver: &'static str,
    /// Threads.
    pub threads: usize,
    /// Vertices.
    pub vertices: usize,
    /// Solver steps per frame.
    pub substeps: u32,
    /// Fastest of the repeats: mean ms per frame.
    pub ms_min: f64,
    /// Median of the repeats: mean ms per frame.
    pub ms_median: f64,
    /// Slowest single frame of all repeats, ms.
    pub ms_worst: f64,
    /// The first frame, in which the solver packs its data, ms; in no other figure. Absent where it counts as any other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms_first: Option<f64>,
    /// Time per vertex and solver step in the fastest repeat, ns.
    pub ns_per_vertex_substep: f64,
    /// Simulated time over wall time in the fastest repeat.
    pub times_real_time: f64,
    /// Growth of the memory of this program that is in RAM, from before the model is built to after the last frame, over
    /// vertices. Absent for small scenes and where the system does not tell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_vertex: Option<f64>,
    /// Mean |l/l0 − 1| of triangle edges in the last frame, percent.
    pub stretch_mean_percent: f64,
    /// Largest l/l0 − 1 in the last frame, percent.
    pub stretch_max_percent: f64,
    /// 99.9th percentile of l/l0 − 1 in the last frame, percent.
    pub stretch_p999_percent: f64,
    /// Median and largest of the same over all frames. Absent where only the last frame is measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stretch_p999_over_frames_percent: Option<(f64, f64)>,
    /// Lowest point in the last frame, m.
    pub lowest_m: f64,
    /// How far the free end of a beam is below where it was at rest, mean over the last second, mm. Absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tip_drop_mm: Option<f64>,
    /// Pairs of triangles of bodies that cross in the last frame. Absent where surfaces do not touch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intersections: Option<usize>,
    /// Share of the frames in which none crosses, percent. Absent where surfaces do not touch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clean_frames_percent: Option<f64>,
    /// Time for contact in the fastest repeat, ms per frame. Absent where surfaces do not touch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_ms: Option<f64>,
    /// Triangles. Absent where surfaces do not touch, as are the three below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub triangles: Option<usize>,
    /// Contacts of surfaces, mean over substeps of the fastest repeat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contacts: Option<f64>,
    /// Time for contact per contact and substep, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns_per_contact: Option<f64>,
    /// Time for all per triangle and substep, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns_per_triangle: Option<f64>,
    /// p of time ~ triangles^p, from the first row of `growth` with as many threads. Absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth_exponent: Option<f64>,
    /// Most iterations of a linear solve in the fastest repeat; 0 for solvers that do not iterate.
    pub iterations_max: u32,
    /// Linear solves of the fastest repeat that were stopped before they reached their tolerance.
    pub solves_cut_short: u64,
    /// Share of each stage in the fastest repeat, ms per frame.
    pub profile: serde_json::Value,
    /// Whether a body froze: the figures are then worth nothing.
    pub frozen: bool,
}

/// Runs the command.
pub fn run(args: &BenchArgs) -> Outcome {
    let known = workloads::NAMES;
    for name in &args.names {
        let is_group = workloads::GROUPS.contains(&name.as_str());
        if !known.contains(&name.as_str()) && !is_group && !contact::is_name(name) {
            return Err(Failure::input(
                format!("there is no workload '{name}'"),
                format!(
                    "known: {}, {} for all of that name",
                    known.join(", "),
                    workloads::GROUPS.join(" and ")
                ),
            ));
        }
    }
    let wanted = |name: &str| workloads::wanted(name, &args.names);
    let named = |name: &str| args.names.iter().any(|n| n == name);
    let sizes: &[u32] = match (named("methods"), named("methods-32")) {
        (true, _) => &[32, 100, 200],
        (false, true) => &[32],
        (false, false) => &[],
    };
    let (converges, preconditions) = (named(convergence::NAME), named(multigrid::NAME));
    if let Some(path) = &args.plot {
        let drawn = [wanted("integrators"), !sizes.is_empty(), converges, preconditions];
        if drawn.iter().filter(|one| **one).count() != 1 {
            return Err(Failure::Usage(
                "--plot draws one comparison: run `souple bench integrators --plot FILE`, with `methods`, `convergence` or `multigrid` instead"
                    .into(),
            ));
        }
        disk::check_writable(path)?;
    }
    let mut figures = Vec::new();
    let others = [
        "integrators",
        "viewer",
        "skin",
        elastic::NAME,
        "limit",
        "methods-32",
        "methods",
        contact::NAME,
        convergence::NAME,
        liver::NAME,
        multigrid::NAME,
        paper::NAME,
        wrinkles::NAME,
        weights::NAME,
    ];
    for name in known.iter().copied().filter(|name| !others.contains(name) && wanted(name)) {
        for workload in workloads::of(name)? {
            for (k, runs) in workloads::Runs::of(args).into_iter().enumerate() {
                let mut result = workloads::time(&workload, runs)?;
                if k > 0 {
                    // It used the memory of the runs before.
                    result.bytes_per_vertex = None;
                }
                result.growth_exponent = workloads::growth_exponent(&figures, &result);
                if !args.json {
                    say(&line(&result))?;
                }
                figures.push(result);
            }
        }
    }
    let comparison = if wanted("integrators") { integrators::compare()? } else { Vec::new() };
    if !args.json {
        for c in &comparison {
            say(&c.line())?;
        }
    }
    let pictures = if wanted("viewer") { viewer::time(args)? } else { Vec::new() };
    if !args.json {
        for figures in &pictures {
            say(&figures.line())?;
        }
    }
    let mut skins = Vec::new();
    if wanted("skin") {
        skins = skin::time(args, |row| if args.json { Ok(()) } else { say(&row.line()) })?;
    }
    let mut layers = Vec::new();
    if wanted(elastic::NAME) {
        layers = elastic::time(args, |row| if args.json { Ok(()) } else { say(&row.line()) })?;
    }
    let limit = if wanted("limit") { Some(limit::probe(args)?) } else { None };
    if let (Some(limit), false) = (&limit, args.json) {
        limit.lines().iter().try_for_each(|line| say(line))?;
    }
    let methods = methods::compare(sizes, args, |row| if args.json { Ok(()) } else { say(&row.line()) })?;
    let contact = contact::compare(args, |row| if args.json { Ok(()) } else { say(&row.line()) })?;
    let mut beams = Vec::new();
    if converges {
        beams = convergence::compare(|row| if args.json { Ok(()) } else { say(&row.line()) })?;
    }
    let mut livers = Vec::new();
    if named(liver::NAME) {
        livers = liver::compare(args, |row| if args.json { Ok(()) } else { say(&row.line()) })?;
    }
    let mut folds = Vec::new();
    if named(wrinkles::NAME) {
        folds = wrinkles::time(args, |row| if args.json { Ok(()) } else { say(&row.line()) })?;
    }
    let mut weighted = Vec::new();
    if named(weights::NAME) {
        weighted = weights::time(args, |row| if args.json { Ok(()) } else { say(&row.line()) })?;
    }
    let mut grids = multigrid::Figures::default();
    if preconditions {
        grids = multigrid::compare(|line| if args.json { Ok(()) } else { say(line) })?;
    }
    let mut sheets = Vec::new();
    if named(paper::NAME) {
        sheets = paper::compare(args, |row| if args.json { Ok(()) } else { say(&row.line()) })?;
    }
    if let Some(path) = &args.plot {
        let picture = match (converges, preconditions, sizes.is_empty()) {
            (true, ..) => plot::convergence(&beams),
            (_, true, _) => plot::multigrid(&grids),
            (_, _, true) => plot::integrators(&comparison),
            (_, _, false) => plot::methods(&methods),
        };
        disk::write(path, picture.as_bytes())?;
    }
    if args.json {
        let answer = serde_json::json!({
            "workloads": figures, "integrators": comparison, "viewer": pictures, "skin": skins, "elastic": layers, "limit": limit, "methods": methods,
            "contact": contact, "convergence": beams, "liver": livers, "weights": weighted, "multigrid": grids, "paper": sheets, "wrinkles": folds,
        });
        say_json(&answer)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn line(f: &Figures) -> String {
    format!(
        "{:<40} {:>6} vertices {} threads {:>4} steps/frame  {:>9.3} ms/frame (worst {:>8.2})  {:>7.2} x real time  {:>6.1} ns/vertex/step  stretch {:.3} % mean {:.1} % max  lowest {:.3} m{}{}{}{}{}{}",
        f.name,
        f.vertices,
        f.threads,
        f.substeps,
        f.ms_min,
        f.ms_worst,
        f.times_real_time,
        f.ns_per_vertex_substep,
        f.stretch_mean_percent,
        f.stretch_max_percent,
        f.lowest_m,
        f.tip_drop_mm.map_or(String::new(), |mm| format!("  tip drop {mm:.2} mm")),
        f.stretch_p999_over_frames_percent.map_or(String::new(), |(median, most)| {
            format!("  99.9 % of edges below {median:.1} % in the median frame, {most:.1} % in the worst")
        }),
        touching(f).unwrap_or_default(),
        f.ms_first.map_or(String::new(), |ms| format!("  first frame {ms:.1} ms")),
        f.bytes_per_vertex.map_or(String::new(), |bytes| format!("  {bytes:.0} bytes/vertex")),
        if f.frozen { "  FROZEN" } else { "" }
    )
}

/// What is said of surfaces that touch.
fn touching(f: &Figures) -> Option<String> {
    let (left, clean, ms) = (f.intersections?, f.clean_frames_percent?, f.contact_ms?);
    let contacts = f
        .contacts
        .zip(f.ns_per_contact)
        .map_or(String::new(), |(count, ns)| format!("  {count:.0} contacts/step, {ns:.0} ns each"));
    let triangle = f.ns_per_triangle.map_or(String::new(), |ns| format!("  {ns:.0} ns/triangle/step"));
    let growth = f.growth_exponent.map_or(String::new(), |p| format!("  time ~ triangles^{p:.2}"));
    Some(format!(
        "  contact {ms:.2} ms/frame{contacts}{triangle}{growth}  {left} crossings left  {clean:.1} % of frames clean"
    ))
}
