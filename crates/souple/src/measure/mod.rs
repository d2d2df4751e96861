//! What can be measured on a state: energies, momenta, stretch, area, volume, lowest point; and fields of one number per
//! particle. All public, all in SI units.

mod fields;
pub mod intersections;
mod solids;

use glam::DVec3;

pub use fields::{vertex_contact, vertex_crossing, vertex_curvature, vertex_speed, vertex_strain};
pub use solids::{vertex_solid_strain, vertex_stress};

use crate::control::Control;
use crate::energy::Configuration;
use crate::mesh::{Edge, Topology, enclosed_volume, triangle_area};
use crate::model::{BodyModel, Model};
use crate::parallel::Parallel;
use crate::state::{BodyState, State};

/// Measures of one body, or summed over all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measures {
    /// Kinetic energy, J.
    pub kinetic_energy: f64,
    /// Energy stored in springs, in bending, in areas and in what is inside, J.
    pub elastic_energy: f64,
    /// Energy of weight, from the origin, J.
    pub potential_energy: f64,
    /// Linear momentum, kg·m/s.
    pub momentum: DVec3,
    /// Angular momentum about the origin, kg·m²/s.
    pub angular_momentum: DVec3,
    /// Mass, kg.
    pub mass: f64,
    /// Centre of mass, m.
    pub centre: DVec3,
    /// Mean of |l/l0 − 1| over the edges of triangles and ropes, percent.
    pub stretch_mean_percent: f64,
    /// Largest l/l0 − 1, percent.
    pub stretch_max_percent: f64,
    /// 99.9th percentile of l/l0 − 1, percent: a steadier largest.
    pub stretch_p999_percent: f64,
    /// Area of the surface, m².
    pub area: f64,
    /// Volume inside closed surfaces, m³; 0 for open ones.
    pub volume: f64,
    /// Lowest y of any particle, m.
    pub lowest: f64,
}

/// Names of the columns of [`Measures::row`], in its order.
pub const COLUMNS: [&str; 17] = [
    "kinetic_energy_j",
    "elastic_energy_j",
    "potential_energy_j",
    "momentum_x",
    "momentum_y",
    "momentum_z",
    "angular_momentum_x",
    "angular_momentum_y",
    "angular_momentum_z",
    "centre_x_m",
    "centre_y_m",
    "centre_z_m",
    "stretch_mean_percent",
    "stretch_max_percent",
    "area_m2",
    "volume_m3",
    "lowest_m",
];

impl Measures {
    /// All numbers in the order of [`COLUMNS`].
    pub fn row(&self) -> [f64; COLUMNS.len()] {
        let (p, l, c) = (self.momentum, self.angular_momentum, self.centre);
        [
            self.kinetic_energy,
            self.elastic_energy,
            self.potential_energy,
            p.x,
            p.y,
            p.z,
            l.x,
            l.y,
            l.z,
            c.x,
            c.y,
            c.z,
            self.stretch_mean_percent,
            self.stretch_max_percent,
            self.area,
            self.volume,
            self.lowest,
        ]
    }

    /// Kinetic, elastic and potential energy together, J.
    pub fn total_energy(&self) -> f64 {
        self.kinetic_energy + self.elastic_energy + self.potential_energy
    }
}

/// ½ Σ m v², J.
pub fn kinetic_energy(masses: &[f64], v: &[DVec3]) -> f64 {
    masses.iter().zip(v).map(|(m, v)| 0.5 * m * v.length_squared()).sum()
}

/// Σ m v, kg·m/s.
pub fn momentum(masses: &[f64], v: &[DVec3]) -> DVec3 {
    masses.iter().zip(v).map(|(m, v)| *v * *m).sum()
}

/// Σ x × m v about the origin, kg·m²/s.
pub fn angular_momentum(masses: &[f64], x: &[DVec3], v: &[DVec3]) -> DVec3 {
    masses.iter().zip(x).zip(v).map(|((m, x), v)| x.cross(*v) * *m).sum()
}

/// Strain l/l0 − 1 of every edge, in the order of `topology.edges`.
pub fn edge_strains<'a>(topology: &'a Topology, x: &'a [DVec3]) -> impl Iterator<Item = f64> + 'a {
    let long = topology.edges.iter().filter(|e| e.rest_length > 0.0);
    long.map(|e| x[e.i as usize].distance(x[e.j as usize]) / e.rest_length - 1.0)
}

/// By which share of its length the edge that is stretched most is longer than at rest; 0 if none is. Of an elastic layer, edges between particles that follow
/// the skin rest as long as they are there: what bones stretch is no stretch of it.
pub fn largest_stretch(index: usize, model: &BodyModel, state: &BodyState, control: &Control) -> f64 {
    let rides = &control.rides[index];
    let rest = |e: &Edge| {
        let end = |v: u32| rides.end(model.layer.as_ref()?, v as usize);
        end(e.i).zip(end(e.j)).map_or(e.rest_length, |(i, j)| i.distance(j))
    };
    let of_edge = |e: &Edge| state.x[e.i as usize].distance(state.x[e.j as usize]) / rest(e) - 1.0;
    state.topology.edges.iter().map(of_edge).filter(|s| s.is_finite()).fold(0.0, f64::max)
}

/// Area of the surface, m².
pub fn area(triangles: &[[u32; 3]], x: &[DVec3]) -> f64 {
    triangles.iter().map(|t| triangle_area(x[t[0] as usize], x[t[1] as usize], x[t[2] as usize])).sum()
}

/// Measures of one body.
pub fn body(index: usize, model: &BodyModel, state: &BodyState, control: &Control) -> Measures {
    let topology = &state.topology;
    let serial = Parallel::default();
    let q = Configuration {
        x: &state.x,
        v: &state.v,
        t: control.t1,
        body: index as u32,
        topology,
        plastic: &state.plastic,
        control,
        parallel: &serial,
    };
    let value = |name: &str| -> f64 {
        let named = model.energies.iter().filter(|e| e.name() == name);
        named.map(|e| e.value(&q)).sum()
    };
    let mass: f64 = topology.masses.iter().sum();
    let mut strains: Vec<f64> = edge_strains(topology, &state.x).collect();
    let count = strains.len().max(1);
    let mean = strains.iter().map(|s| s.abs()).sum::<f64>() / count as f64;
    strains.sort_unstable_by(f64::total_cmp);
    let percentile = strains.get((strains.len().saturating_sub(1) as f64 * 0.999).round() as usize).copied();
    Measures {
        kinetic_energy: kinetic_energy(&topology.masses, &state.v),
        elastic_energy: value("springs")
            + value("bending")
            + value("area")
            + value("volume")
            + value("tetrahedra")
            + value("shape matching")
            + value("hexahedra"),
        potential_energy: value("gravity"),
        momentum: momentum(&topology.masses, &state.v),
        angular_momentum: angular_momentum(&topology.masses, &state.x, &state.v),
        mass,
        centre: topology.masses.iter().zip(&state.x).map(|(m, x)| *x * *m).sum::<DVec3>() / mass,
        stretch_mean_percent: 100.0 * mean,
        stretch_max_percent: 100.0 * strains.last().copied().unwrap_or(0.0),
        stretch_p999_percent: 100.0 * percentile.unwrap_or(0.0),
        area: area(&topology.triangles, &state.x),
        volume: if topology.closed { enclosed_volume(&state.x, &topology.triangles) } else { 0.0 },
        lowest: state.x[..topology.visible()].iter().fold(f64::INFINITY, |low, x| low.min(x.y)),
    }
}

/// Measures of the whole scene: energies, momenta, mass, area and volume add up; stretch is averaged over all edges.
pub fn scene(model: &Model, state: &State, control: &Control) -> Measures {
    let mut total = Measures {
        kinetic_energy: 0.0,
        elastic_energy: 0.0,
        potential_energy: 0.0,
        momentum: DVec3::ZERO,
        angular_momentum: DVec3::ZERO,
        mass: 0.0,
        centre: DVec3::ZERO,
        stretch_mean_percent: 0.0,
        stretch_max_percent: 0.0,
        stretch_p999_percent: 0.0,
        area: 0.0,
        volume: 0.0,
        lowest: f64::INFINITY,
    };
    let mut edges = 0.0;
    for (b, (body_model, body_state)) in model.bodies.iter().zip(&state.bodies).enumerate() {
        let m = body(b, body_model, body_state, control);
        let count = body_state.topology.edges.len() as f64;
        total.kinetic_energy += m.kinetic_energy;
        total.elastic_energy += m.elastic_energy;
        total.potential_energy += m.potential_energy;
        total.momentum += m.momentum;
        total.angular_momentum += m.angular_momentum;
        total.mass += m.mass;
        total.centre += m.centre * m.mass;
        total.stretch_mean_percent += m.stretch_mean_percent * count;
        total.stretch_max_percent = total.stretch_max_percent.max(m.stretch_max_percent);
        total.stretch_p999_percent = total.stretch_p999_percent.max(m.stretch_p999_percent);
        total.area += m.area;
        total.volume += m.volume;
        total.lowest = total.lowest.min(m.lowest);
        edges += count;
    }
    if total.mass > 0.0 {
        total.centre /= total.mass;
        total.stretch_mean_percent /= edges.max(1.0);
    }
    total
}
