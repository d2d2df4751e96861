//! How far the cloth may stretch before levels and attachments step in, so that soft cloth is as soft as it says.
//!
//! Both make a pull travel faster than one link per visit. Cloth whose own waves travel slower than that needs no help:
//! they are left out where k h² / m is small, which is everywhere in the limit of small substeps. Stiffer cloth gets them with
//! some slack: the strain that its own weight causes, by a rough statement of the statics. The weight of all
//! that is further from the supports than D is carried by the links that cross from nearer to further: T = W(D) / n(D).
//! Pressure inside adds the strain of a sphere's membrane, with a tension of p R/2 per width.

use glam::DVec3;

use crate::energy::Volume;
use crate::mesh::geodesic::NearestSupports;
use crate::mesh::{SpringFamily, Topology};

/// Levels and attachments help from this value of k h² / m on.
const STIFF: f64 = 30.0;

/// Slack, as a multiple of the strain at rest.
const SLACK: f64 = 1.0;

/// Strains and elongations of a body that hangs from its supports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Softness {
    /// k/m of a typical link, 1/s².
    rate: f64,
    /// Slack of every way by pressure inside, as a strain.
    everywhere: f64,
    /// Slack of each vertex, as a strain.
    pub strain: Vec<f64>,
    /// Width of a bin of distances, m.
    bin: f64,
    /// Slack of the way from the supports to the end of each bin, m.
    elongation: Vec<f64>,
}

impl Softness {
    /// Of a body under gravity; `supports` are the nearest of each vertex.
    pub fn new(
        topology: &Topology,
        gravity: DVec3,
        supports: &NearestSupports,
        inside: Option<&Volume>,
    ) -> Softness {
        let along =
            topology.springs.iter().filter(|s| s.family == SpringFamily::Stretch && s.stiffness > 0.0);
        let mean_mass = |i: u32, j: u32| 0.5 * (topology.masses[i as usize] + topology.masses[j as usize]);
        let rate = median(along.clone().map(|s| s.stiffness / mean_mass(s.i, s.j)));
        // Force of a typical link at a strain of 1.
        let per_strain = median(along.clone().map(|s| s.stiffness * s.rest_length));
        let bin = median(along.map(|s| s.rest_length));
        let n = topology.len();
        if per_strain <= 0.0 || bin <= 0.0 {
            return Softness { rate, strain: vec![0.0; n], ..Softness::default() };
        }
        // R = 3V/A of a sphere; each link carries the tension of a width of its own length.
        let everywhere = inside.map_or(0.0, |inside| {
            let tension =
                1.5 * inside.pressure * inside.rest_volume / topology.rest_areas.iter().sum::<f64>();
            SLACK * tension * bin / per_strain
        });
        let weights: Vec<f64> = topology.masses.iter().map(|m| m * gravity.length()).collect();
        let distance = |v: u32| supports.of(v).first().map(|s| s.distance);
        if supports.is_empty() {
            // It lies or falls: its weight is carried by as many links as a square of that many vertices is wide.
            let tension = weights.iter().sum::<f64>() / (n as f64).sqrt();
            let strain = vec![SLACK * tension / per_strain + everywhere; n];
            return Softness { rate, everywhere, strain, ..Softness::default() };
        }
        let bin_of = |d: f64| (d / bin) as usize;
        let furthest = (0..n as u32).filter_map(distance).fold(0.0, f64::max);
        let bins = (bin_of(furthest) + 2).min(1 << 20);
        let (mut carried, mut crossing) = (vec![0.0; bins], vec![0u32; bins]);
        for v in 0..n as u32 {
            if let Some(d) = distance(v) {
                carried[bin_of(d).min(bins - 1)] += weights[v as usize];
            }
        }
        for b in (0..bins - 1).rev() {
            carried[b] += carried[b + 1];
        }
        for e in &topology.edges {
            if let (Some(a), Some(b)) = (distance(e.i), distance(e.j)) {
                let (near, far) = (bin_of(a.min(b)).min(bins - 1), bin_of(a.max(b)).min(bins - 1));
                crossing[near..=far].iter_mut().for_each(|c| *c += 1);
            }
        }
        let strains: Vec<f64> = carried
            .iter()
            .zip(&crossing)
            .map(|(w, &c)| SLACK * w / (f64::from(c.max(1)) * per_strain))
            .collect();
        let mut sum = 0.0;
        let elongation = strains
            .iter()
            .map(|s| {
                sum += s * bin;
                sum
            })
            .collect();
        let strain = |v: u32| everywhere + distance(v).map_or(0.0, |d| strains[bin_of(d).min(bins - 1)]);
        Softness { rate, everywhere, strain: (0..n as u32).map(strain).collect(), bin, elongation }
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

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    if values.is_empty() {
        return 0.0;
    }
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}
