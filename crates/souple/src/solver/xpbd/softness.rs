//! What it takes that soft cloth is as soft as it says.
//!
//! One visit per substep leaves an error of second order in κ = k h²/m (`links.rs`). Where κ is small nothing else is needed;
//! where it is moderate the substeps are made finer; where it is large, the cloth is so stiff that levels and attachments
//! must help: they make a pull travel faster than one link per visit. So that they do not make it stiffer than it is, they get
//! some slack, the strain that its own weight causes, by a rough statement of the statics. The weight of all that is
//! further from the supports than D is carried by the springs that cross from nearer to further. One of length l that reaches
//! from D to D + d pulls with k ε d³/l² when the cloth is stretched by ε.

use glam::DVec3;

use crate::energy::Volume;
use crate::mesh::geodesic::NearestSupports;
use crate::mesh::{Patch, SpringFamily, Topology};

/// The largest κ that one visit stands: springs and patches are then a few per cent too soft.
const MODERATE: f64 = 0.5;

/// Substeps are made finer by this factor at most.
const FINEST: f64 = 3.0;

/// Levels and attachments help from this value of κ on: finer substeps would cost more.
const STIFF: f64 = MODERATE * FINEST * FINEST;

/// Slack, as a share of the strain at rest: all of it up to this κ, less beyond, where the strain is less than anyone
/// sees and tight levels keep single edges shorter.
const ALL_SLACK_TO: f64 = 100.0;
const LEAST_SLACK: f64 = 0.3;

/// What moves a body is taken to weigh this many times as much as it does at rest.
const PULLED: f64 = 4.0;

/// The largest strain at a distance from a point that a body hangs from, over the mean: measured on squares hung by two
/// corners, of any modulus and mesh.
const GATHERED: f64 = 2.0;

/// Strains and elongations of a body that hangs from its supports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Softness {
    /// k/m of a typical link, 1/s².
    rate: f64,
    /// The same of a typical patch, 1/s².
    bending_rate: f64,
    /// Slack of every way by pressure inside, as a strain.
    everywhere: f64,
    /// Rest length of a typical link, m.
    pub link_length: f64,
    /// Strain that forces may cause, on average and in all but a hundredth of the body: at the support itself it grows without
    /// end as the mesh gets finer.
    pub by_forces: (f64, f64),
    /// Slack of each vertex, as a strain.
    pub strain: Vec<f64>,
    /// Width of a bin of distances, m.
    bin: f64,
    /// Slack of the way from the supports to the end of each bin, m.
    elongation: Vec<f64>,
}

impl Softness {
    /// Of a body under gravity that is advanced by substeps of `h`, s; `supports` are the nearest of each vertex.
    pub fn new(
        topology: &Topology,
        gravity: DVec3,
        h: f64,
        supports: &NearestSupports,
        inside: Option<&Volume>,
    ) -> Softness {
        let along =
            topology.springs.iter().filter(|s| s.family == SpringFamily::Stretch && s.stiffness > 0.0);
        let mean_mass = |i: u32, j: u32| 0.5 * (topology.masses[i as usize] + topology.masses[j as usize]);
        let rate = median(along.clone().map(|s| s.stiffness / mean_mass(s.i, s.j)));
        let bending_rate = median(topology.patches.iter().map(|p| bending_rate(p, &topology.masses)));
        let slack = (ALL_SLACK_TO / (rate * h * h)).sqrt().clamp(LEAST_SLACK, 1.0);
        let rates = Softness { rate, bending_rate, ..Softness::default() };
        // Force of a typical link at a strain of 1.
        let per_strain = median(along.clone().map(|s| s.stiffness * s.rest_length));
        let bin = median(along.map(|s| s.rest_length));
        let rates = Softness { link_length: bin, ..rates };
        let n = topology.len();
        if per_strain <= 0.0 || bin <= 0.0 {
            return Softness { strain: vec![0.0; n], ..rates };
        }
        // R = 3V/A of a sphere; each link carries the tension of a width of its own length.
        let everywhere = inside.map_or(0.0, |inside| {
            let tension =
                1.5 * inside.pressure * inside.rest_volume / topology.rest_areas.iter().sum::<f64>();
            slack * tension * bin / per_strain
        });
        let weights: Vec<f64> = topology.masses.iter().map(|m| m * gravity.length()).collect();
        let distance = |v: u32| supports.of(v).first().map(|s| s.distance);
        if supports.is_empty() {
            // It lies or falls: its weight is carried by as many links as a square of that many vertices is wide.
            let tension = weights.iter().sum::<f64>() / (n as f64).sqrt();
            let strain = vec![slack * tension / per_strain + everywhere; n];
            let by_forces = (PULLED * strain[0] / slack, PULLED * strain[0] / slack);
            return Softness { by_forces, everywhere, strain, ..rates };
        }
        let bin_of = |d: f64| (d / bin) as usize;
        let furthest = (0..n as u32).filter_map(distance).fold(0.0, f64::max);
        let bins = (bin_of(furthest) + 2).min(1 << 20);
        let (mut carried, mut stiffness) = (vec![0.0; bins], vec![0.0; bins]);
        for v in 0..n as u32 {
            if let Some(d) = distance(v) {
                carried[bin_of(d).min(bins - 1)] += weights[v as usize];
            }
        }
        for b in (0..bins - 1).rev() {
            carried[b] += carried[b + 1];
        }
        for s in topology.springs.iter().filter(|s| s.family != SpringFamily::Bend) {
            let (Some(a), Some(b)) = (distance(s.i), distance(s.j)) else { continue };
            let (near, far) = (a.min(b), a.max(b));
            // Distances along the surface differ by the length of a spring at most, but for springs across gaps.
            let reach = (far - near).min(s.rest_length);
            let pull = s.stiffness * reach * reach * reach / (s.rest_length * s.rest_length);
            for b in bin_of(near).min(bins - 1)..=bin_of(far).min(bins - 1) {
                // As much of it as lies in the bin.
                let (begin, end) = (b as f64 * bin, (b + 1) as f64 * bin);
                stiffness[b] += pull * (far.min(end) - near.max(begin)).max(0.0) / bin;
            }
        }
        // Pulls that gather at few points do not spread evenly over what they cross.
        let at_supports = stiffness.iter().copied().find(|k| *k > 0.0).unwrap_or(0.0);
        let most = stiffness.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let uneven = 1.0 + (GATHERED - 1.0) * (1.0 - at_supports / most);
        let strain_of = |(w, k): (&f64, &f64)| if *k > 0.0 { slack * uneven * w / k } else { 0.0 };
        let strains: Vec<f64> = carried.iter().zip(&stiffness).map(strain_of).collect();
        let mut sum = 0.0;
        let elongation = strains
            .iter()
            .map(|s| {
                sum += s * bin;
                sum
            })
            .collect();
        let strain = |v: u32| everywhere + distance(v).map_or(0.0, |d| strains[bin_of(d).min(bins - 1)]);
        let strain: Vec<f64> = (0..n as u32).map(strain).collect();
        let mean = strain.iter().sum::<f64>() / n as f64;
        let most = nearly_all(&strain);
        let by_forces = (PULLED * mean / slack, PULLED * most / slack);
        Softness { by_forces, everywhere, strain, bin, elongation, ..rates }
    }

    /// Into how many substeps of its own the real-time solver cuts a substep of `h`, s.
    pub fn cuts(&self, h: f64) -> u32 {
        let needed = |rate: f64| (rate * h * h / MODERATE).sqrt().ceil();
        // Stiff cloth has levels and attachments; what bends has nothing else.
        let links = if self.rate * h * h > STIFF { 1.0 } else { needed(self.rate) };
        links.max(needed(self.bending_rate)).clamp(1.0, FINEST) as u32
    }

    /// Whether the body is so stiff that levels and attachments help, at substeps of `h`, s.
    pub fn needs_help(&self, h: f64) -> bool {
        self.rate * h * h > STIFF
    }

    /// Slack of a way of that length from a support, m.
    pub fn slack(&self, distance: f64) -> f64 {
        let b = (distance / self.bin) as usize;
        let by_weight = self.elongation.get(b).or(self.elongation.last()).copied().unwrap_or(0.0);
        by_weight + distance * self.everywhere
    }
}

/// k Σ w²/m of the second derivative of a patch that has most of it, 1/s².
fn bending_rate(patch: &Patch, masses: &[f64]) -> f64 {
    let of = |weights: &[f64]| -> f64 {
        patch.vertices.iter().zip(weights).map(|(&v, w)| w * w / masses[v as usize]).sum()
    };
    patch.stiffness * patch.weights.iter().map(|w| of(w)).fold(0.0, f64::max)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    let middle = values.len() / 2;
    ranked(values, middle)
}

/// What no more than a hundredth of the values are above.
fn nearly_all(values: &[f64]) -> f64 {
    ranked(values.to_vec(), values.len().saturating_sub(1 + values.len() / 100))
}

/// The value that `rank` others are below or equal to; 0 if there are none.
fn ranked(mut values: Vec<f64>, rank: usize) -> f64 {
    if values.is_empty() { 0.0 } else { *values.select_nth_unstable_by(rank, f64::total_cmp).1 }
}
