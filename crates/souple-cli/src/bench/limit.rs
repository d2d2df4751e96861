//! How far the real-time solver is from what the machine can do: measured speed of memory and arithmetic, and the share of
//! each that a cloth uses on one thread.
//!
//! **The probe.** Read, copy and triad (a = b + s c) over 32-bit numbers, with bytes counted as a program sees them (a
//! machine that reads a line before it writes it moves a third more). Far larger than the caches for the memory, and as
//! large as what the cloth touches for the cache that it lives in. Arithmetic: products and sums, eight at a time and
//! never fused, as in the solver, on numbers that stay in registers. Loops are plain Rust that the compiler turns into vector
//! instructions, compiled for AVX2 too and chosen at run time: what a simple loop gets, a little below the data sheet.
//!
//! **What a substep asks for**, per vertex of a large grid that hangs by two corners, without bending, limits and contact,
//! from the layout of `solver/xpbd` (sizes in bytes; a `Point` has 16):
//!
//! | part | streams | per vertex |
//! |---|---|---|
//! | predict | reads 4 points, writes 3 | 7 points; 24 operations |
//! | attachments | 224/8 each, two; reads and writes a point | 22 operations each |
//! | links | 288/8 each, three; reads and writes a point | 44 operations each |
//! | levels, every second substep | below | below |
//!
//! From a level (or the cloth) of b vertices to the next of c = b/4: R and P have 2.25 b entries of 8 bytes (a kept vertex
//! 1, those between two 2, those between four 4) and rows of 4 bytes; 8 operations per entry. Restricting reads b points,
//! writes c, copies c. A sweep visits 4 c links (every mean has 8 neighbours); 1 sweep on the finest level, 3 on others.
//! Prolonging reads 2 c points and writes c for the moves, then reads c and b points and b mobilities of 4 bytes, and
//! writes b points.
//!
//! A point is counted once per part, as a strip of vertices stays in the first cache while its links are visited. Divisions,
//! roots and comparisons count as one operation. Not counted: what is done once per frame (differences in 64 bits, outer
//! forces) and marks of contact, so the true shares are a little higher. The numbers change with the solver: they are
//! constants below, each beside the name of what it counts.

use std::hint::black_box;
use std::time::Instant;

use pulp::Arch;
use serde::Serialize;

use super::workloads::{self, Runs, available};
use crate::args::BenchArgs;
use crate::failure::Failure;

/// A `Point` of `lanes/mod.rs`.
const POINT: f64 = 16.0;
/// A link of `Links8`.
const LINK: f64 = 288.0 / 8.0;
/// An attachment of `Attachments8`.
const ATTACHMENT: f64 = 224.0 / 8.0;
/// An entry of a row of `Sparse`, and where a row begins.
const ENTRY: f64 = 8.0;
const ROW: f64 = 4.0;
/// A mobility.
const MOBILITY: f64 = 4.0;

/// Operations of `Xpbd::predict`, of a visit of a link and of an attachment, and of an entry of `Sparse`.
const PREDICT_FLOPS: f64 = 24.0;
const LINK_FLOPS: f64 = 44.0;
const ATTACHMENT_FLOPS: f64 = 22.0;
const ENTRY_FLOPS: f64 = 8.0;

/// Per vertex of the cloth.
const LINKS: f64 = 3.0;
const ATTACHMENTS: f64 = 2.0;
/// Links per vertex of a level, and entries per vertex below it.
const LEVEL_LINKS: f64 = 4.0;
const ENTRIES: f64 = 2.25;
/// `LEVELS_EVERY` and `COARSE_SWEEPS` of the solver, and the share of vertices that a level keeps.
const LEVELS_EVERY: f64 = 2.0;
const COARSE_SWEEPS: f64 = 3.0;
const KEPT: f64 = 0.25;
/// Levels of a large cloth.
const LEVELS: usize = 8;

/// Bytes of the buffers that are far larger than caches.
const FAR: usize = 384 << 20;

/// What one vertex asks of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Demand {
    /// Bytes that are read and written in a substep.
    bytes: f64,
    /// Operations of a substep.
    flops: f64,
    /// Bytes that all substeps come back to.
    held: f64,
}

impl Demand {
    /// Of one vertex of a hanging cloth.
    fn of_hanging_cloth() -> Demand {
        let mut d = Demand {
            bytes: 7.0 * POINT + (ATTACHMENTS * ATTACHMENT + 2.0 * POINT) + (LINKS * LINK + 2.0 * POINT),
            flops: PREDICT_FLOPS + ATTACHMENTS * ATTACHMENT_FLOPS + LINKS * LINK_FLOPS,
            held: 4.0 * POINT + ATTACHMENTS * ATTACHMENT + LINKS * LINK,
        };
        let mut below = 1.0;
        for level in 0..LEVELS {
            let own = KEPT * below;
            let sweeps = if level == 0 { 1.0 } else { COARSE_SWEEPS };
            let restrict = own * ROW + below * (ENTRIES * ENTRY + POINT) + own * 3.0 * POINT;
            let sweep = own * (LEVEL_LINKS * LINK + 2.0 * POINT);
            let moves = own * 3.0 * POINT;
            let prolong = below * (ROW + ENTRIES * ENTRY + MOBILITY + 2.0 * POINT) + own * POINT;
            d.bytes += (restrict + sweeps * sweep + moves + prolong) / LEVELS_EVERY;
            let flops = 2.0 * below * ENTRIES * ENTRY_FLOPS
                + sweeps * own * LEVEL_LINKS * LINK_FLOPS
                + 4.0 * own // the moves
                + 8.0 * below; // added where a vertex is free
            d.flops += flops / LEVELS_EVERY;
            d.held += own * (2.0 * POINT + LEVEL_LINKS * LINK + ROW)
                + below * (2.0 * ENTRIES * ENTRY + ROW + MOBILITY);
            below = own;
        }
        d
    }
}

/// Speed of memory, 10⁹ bytes per second: best of several rounds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Bandwidth {
    /// Threads that worked.
    pub threads: usize,
    /// Bytes of all buffers.
    pub bytes: usize,
    /// Sum of all numbers.
    pub read_gb_per_s: f64,
    /// Numbers copied: bytes read and bytes written.
    pub copy_gb_per_s: f64,
    /// a = b + s c: bytes read and bytes written.
    pub triad_gb_per_s: f64,
}

/// What a cloth uses of the machine, on one thread.
#[derive(Clone, Debug, Serialize)]
pub struct Share {
    /// Name of the workload.
    pub name: String,
    /// Vertices.
    pub vertices: usize,
    /// Time per vertex and solver step, ns.
    pub ns_per_vertex_substep: f64,
    /// Bytes that are read and written, per vertex and solver step.
    pub bytes_per_vertex_substep: f64,
    /// Operations, per vertex and solver step.
    pub flops_per_vertex_substep: f64,
    /// Bytes that every substep comes back to, of the whole cloth.
    pub held_bytes: f64,
    /// Bytes per second, 10⁹.
    pub gb_per_s: f64,
    /// Share of the triad over memory, percent. Above 100 only a cloth that lives in a cache can be.
    pub memory_percent: f64,
    /// Speed of a triad over as many bytes as the cloth holds, 10⁹ bytes per second.
    pub own_triad_gb_per_s: f64,
    /// Share of that, percent.
    pub own_percent: f64,
    /// Operations per second, 10⁹.
    pub gflop_per_s: f64,
    /// Share of the arithmetic, percent.
    pub flops_percent: f64,
}

/// The machine, and what cloths use of it.
#[derive(Clone, Debug, Serialize)]
pub struct Limit {
    /// Memory by one thread and by all.
    pub memory: Vec<Bandwidth>,
    /// Products and sums of 32-bit numbers by one thread, 10⁹ per second.
    pub gflop_per_s: f64,
    /// Cloths.
    pub workloads: Vec<Share>,
}

/// Measures the machine and two cloths on it, on one thread.
pub fn probe(args: &BenchArgs) -> Result<Limit, Failure> {
    let memory = vec![bandwidth(FAR, 1), bandwidth(FAR, available())];
    let gflop_per_s = 1e-9 * flops_per_second();
    let demand = Demand::of_hanging_cloth();
    let mut shares = Vec::new();
    for (name, frames) in [("w1-100", 60), ("scale-100k", 10)] {
        let runs = Runs { threads: 1, repeats: args.repeats, frames: Some(args.frames.unwrap_or(frames)) };
        for mut workload in workloads::of(name)? {
            // Packing is no part of a substep.
            workload.first_apart = true;
            let figures = workloads::time(&workload, runs)?;
            let ns = figures.ns_per_vertex_substep;
            let held = demand.held * figures.vertices as f64;
            let own = bandwidth(held as usize, 1).triad_gb_per_s;
            // Bytes per ns are 10⁹ bytes per second.
            let (gb_per_s, gflop) = (demand.bytes / ns, demand.flops / ns);
            shares.push(Share {
                name: workload.name,
                vertices: figures.vertices,
                ns_per_vertex_substep: ns,
                bytes_per_vertex_substep: demand.bytes,
                flops_per_vertex_substep: demand.flops,
                held_bytes: held,
                gb_per_s,
                memory_percent: 100.0 * gb_per_s / memory[0].triad_gb_per_s,
                own_triad_gb_per_s: own,
                own_percent: 100.0 * gb_per_s / own,
                gflop_per_s: gflop,
                flops_percent: 100.0 * gflop / gflop_per_s,
            });
        }
    }
    Ok(Limit { memory, gflop_per_s, workloads: shares })
}

impl Limit {
    /// For people.
    pub fn lines(&self) -> Vec<String> {
        let memory = self.memory.iter().map(|m| {
            format!(
                "limit/memory {:>3} threads  read {:.1}  copy {:.1}  triad {:.1} GB/s over {} MiB",
                m.threads,
                m.read_gb_per_s,
                m.copy_gb_per_s,
                m.triad_gb_per_s,
                m.bytes >> 20
            )
        });
        let arithmetic = format!(
            "limit/arithmetic 1 thread  {:.1} GFLOP/s, products and sums of 32-bit numbers, not fused",
            self.gflop_per_s
        );
        let shares = self.workloads.iter().map(|s| {
            format!(
                "limit/{:<12} {:>6.2} ns, {:.0} bytes and {:.0} operations per vertex and step: {:.1} GB/s, {:.0} % of memory, {:.0} % of a triad over its {:.1} MB ({:.1} GB/s); {:.1} GFLOP/s, {:.0} % of arithmetic",
                s.name,
                s.ns_per_vertex_substep,
                s.bytes_per_vertex_substep,
                s.flops_per_vertex_substep,
                s.gb_per_s,
                s.memory_percent,
                s.own_percent,
                1e-6 * s.held_bytes,
                s.own_triad_gb_per_s,
                s.gflop_per_s,
                s.flops_percent
            )
        });
        memory.chain([arithmetic]).chain(shares).collect()
    }
}

/// How often each loop is timed; the fastest counts.
const ROUNDS: usize = 5;

/// Speed of loops over three buffers of `bytes` in all.
fn bandwidth(bytes: usize, threads: usize) -> Bandwidth {
    let count = (bytes / 12).max(threads);
    // Small buffers are gone over so often that a clock can tell.
    let passes = (FAR / 4 / bytes.max(1)).max(1);
    // Not zero, or the system would hand out one page for all.
    let (mut a, mut b, mut c) = (vec![0.5f32; count], vec![0.25f32; count], vec![0.125f32; count]);
    let share = count.div_ceil(threads);
    let mut best = [f64::INFINITY; 3];
    for _ in 0..ROUNDS {
        for (kind, best) in best.iter_mut().enumerate() {
            let clock = Instant::now();
            std::thread::scope(|scope| {
                let parts = a.chunks_mut(share).zip(b.chunks_mut(share)).zip(c.chunks_mut(share));
                let mut parts = parts.map(|((a, b), c)| {
                    move || {
                        for _ in 0..passes {
                            match kind {
                                0 => drop(black_box([sum(a), sum(b), sum(c)])),
                                1 => black_box(&mut *a).copy_from_slice(black_box(b)),
                                _ => triad(black_box(a), black_box(b), black_box(c)),
                            }
                        }
                    }
                });
                // The first part is done here, so that one thread starts no other.
                let first = parts.next();
                parts.for_each(|part| drop(scope.spawn(part)));
                if let Some(mut part) = first {
                    part();
                }
            });
            *best = best.min(clock.elapsed().as_secs_f64());
        }
    }
    let gb = |buffers: usize, seconds: f64| 1e-9 * (passes * buffers * 4 * count) as f64 / seconds;
    Bandwidth {
        threads,
        bytes: 12 * count,
        read_gb_per_s: gb(3, best[0]),
        copy_gb_per_s: gb(2, best[1]),
        triad_gb_per_s: gb(3, best[2]),
    }
}

/// Lanes that are added up side by side: one sum alone would wait for itself.
const LANES: usize = 32;

fn sum(values: &[f32]) -> f32 {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let mut lanes = [0.0f32; LANES];
            for chunk in values.as_chunks::<LANES>().0 {
                for l in 0..LANES {
                    lanes[l] += chunk[l];
                }
            }
            lanes.iter().sum()
        },
    )
}

fn triad(a: &mut [f32], b: &[f32], c: &[f32]) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                *a = *b + 3.0 * *c;
            }
        },
    );
}

/// Chains of products and sums that do not wait for each other: as many as registers of eight numbers hold.
const CHAINS: usize = 12;

/// Products and sums per second on one thread.
fn flops_per_second() -> f64 {
    let steps = 4_000_000;
    let run = |chains: &mut [[f32; 8]; CHAINS], factor: f32, summand: f32| {
        Arch::new().dispatch(
            #[inline(always)]
            || {
                let mut own = *chains;
                for _ in 0..steps {
                    for chain in &mut own {
                        for l in 0..8 {
                            chain[l] = chain[l] * factor + summand;
                        }
                    }
                }
                *chains = own;
            },
        );
    };
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let mut chains = [[1.0; 8]; CHAINS];
        let clock = Instant::now();
        run(black_box(&mut chains), black_box(0.5), black_box(0.5));
        black_box(chains);
        best = best.min(clock.elapsed().as_secs_f64());
    }
    2.0 * 8.0 * CHAINS as f64 * f64::from(steps) / best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums of the table in the module's documentation, by hand: levels below the cloth are a geometric series.
    #[test]
    fn demand_is_what_the_table_says() {
        let d = Demand::of_hanging_cloth();
        // Σ b = 4/3, Σ c = 1/3; sweeps: 1/4 + 3/12 = 1/2 of the vertices, 2 links visited per vertex.
        let tail = 1e-3;
        let flops = 24.0 + 44.0 + 132.0 + 0.5 * (4.0 / 3.0 * (36.0 + 8.0) + 2.0 * 44.0 + 4.0 / 3.0);
        assert!((d.flops / flops - 1.0).abs() < tail, "{} against {flops}", d.flops);
        let per_below = (18.0 + 16.0) + (4.0 + 18.0 + 4.0 + 32.0);
        let per_own = 4.0 + 48.0 + 48.0 + 16.0;
        let levels = 4.0 / 3.0 * per_below + 1.0 / 3.0 * per_own + 0.5 * (144.0 + 32.0);
        let bytes = 112.0 + 88.0 + 140.0 + 0.5 * levels;
        assert!((d.bytes / bytes - 1.0).abs() < tail, "{} against {bytes}", d.bytes);
        let held = 64.0 + 56.0 + 108.0 + 1.0 / 3.0 * (32.0 + 144.0 + 4.0) + 4.0 / 3.0 * (36.0 + 8.0);
        assert!((d.held / held - 1.0).abs() < tail, "{} against {held}", d.held);
    }

    #[test]
    fn loops_do_what_they_are_timed_for() {
        let b: Vec<f32> = (0..200).map(|i| i as f32).collect();
        let mut a = vec![0.0; 200];
        triad(&mut a, &b, &b);
        assert!(a.iter().zip(&b).all(|(a, b)| *a == 4.0 * b));
        // What fills no group of lanes is left out: nobody needs the sum.
        assert_eq!(sum(&b[..128]), 127.0 * 64.0);
        let measured = bandwidth(1 << 16, 2);
        assert!(
            [measured.read_gb_per_s, measured.copy_gb_per_s, measured.triad_gb_per_s]
                .iter()
                .all(|g| *g > 0.0)
        );
    }
}
