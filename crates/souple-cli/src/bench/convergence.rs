//! `souple bench convergence`: the clamped beam of `souple verify solids/beam`, at rest, with more and more elements: how far its
//! end drops, for tetrahedra and hexahedra.
//!
//! Nothing is timed to be compared: each beam is solved once to equilibrium (`quasi_static`), so that the figures are those
//! of the elements alone. The beam of no mesh drops by 31.72 mm.

use std::time::Instant;

use serde::Serialize;
use souple::scene::{Block, Body, Cells, Group, Pin, Region, Scene, Select, Shape, SolidLaw, SolverKind};
use souple::{ModelBuilder, Simulation};

use crate::failure::Failure;

/// Name of the workload.
pub const NAME: &str = "convergence";

/// What the beam of no mesh drops by, mm: bending and shear of a slender beam.
pub const EXACT_MM: f64 = 31.72;

/// Elements that are compared: name, what cells become, how they answer strain.
pub const ELEMENTS: [(&str, Cells, SolidLaw); 4] = [
    ("tetrahedra, polar", Cells::Five, SolidLaw::Polar),
    ("tetrahedra, QR", Cells::Five, SolidLaw::Qr),
    ("plain hexahedra", Cells::PlainHexahedra, SolidLaw::Polar),
    ("hexahedra", Cells::Hexahedra, SolidLaw::Polar),
];

/// Cells across the beam; along it are ten times as many.
const ACROSS: [u32; 5] = [1, 2, 3, 4, 6];

/// One beam.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the elements.
    pub elements: &'static str,
    /// Cells along x, y and z.
    pub cells: [u32; 3],
    /// Number of elements.
    pub count: usize,
    /// Number of particles.
    pub vertices: usize,
    /// How far the end is below where it was, mm.
    pub tip_drop_mm: f64,
    /// Wall time of the solve, ms.
    pub ms: f64,
}

impl Row {
    /// How far it is from the beam of no mesh, percent.
    pub fn error_percent(&self) -> f64 {
        (self.tip_drop_mm / EXACT_MM - 1.0) * 100.0
    }

    /// For people.
    pub fn line(&self) -> String {
        let [x, y, z] = self.cells;
        format!(
            "{:<18} {x:>3} × {y} × {z} cells  {:>6} elements  {:>6} vertices  tip drop {:>6.2} mm ({:+.1} %)  {:>8.1} ms",
            self.elements,
            self.count,
            self.vertices,
            self.tip_drop_mm,
            self.error_percent(),
            self.ms
        )
    }
}

/// Solves all beams and hands each out as it is done.
pub fn compare(mut done: impl FnMut(&Row) -> Result<(), Failure>) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for (name, cut, law) in ELEMENTS {
        for across in ACROSS {
            let row = solve(name, cut, law, [10 * across, across, across])?;
            done(&row)?;
            rows.push(row);
        }
    }
    Ok(rows)
}

fn beam(cut: Cells, law: SolidLaw, cells: [u32; 3]) -> Scene {
    let wall = Region { min: [-1e-6, -1.0, -1.0], max: [1e-6, 1.0, 1.0] };
    let body = Body {
        name: "beam".into(),
        shape: Shape::Block(Block { size: [0.2, 0.02, 0.02], cells, cut }),
        density: Some(1100.0),
        young_modulus: Some(2e6),
        poisson_ratio: Some(0.45),
        law: Some(law),
        pins: vec![Pin { select: Select::Within(wall), ..Pin::default() }],
        ..Body::default()
    };
    let group = Group { solver: SolverKind::QuasiStatic, ..Group::default() };
    Scene { bodies: vec![body], groups: vec![group], ..Scene::default() }
}

fn solve(elements: &'static str, cut: Cells, law: SolidLaw, cells: [u32; 3]) -> Result<Row, Failure> {
    let model = ModelBuilder::new(&beam(cut, law, cells))
        .build()
        .map_err(|error| Failure::input(error.to_string(), "this is a fault of the program"))?;
    let mut simulation = Simulation::new(model);
    let clock = Instant::now();
    simulation.step();
    let ms = clock.elapsed().as_secs_f64() * 1e3;
    if let Some(warning) = simulation.warnings().first() {
        let help = "the figures would be worth nothing";
        return Err(Failure::input(format!("{elements}, {cells:?} cells: {warning}"), help));
    }
    let topology = &simulation.model().bodies[0].topology;
    let ends = topology.rest_positions.iter().zip(&simulation.state().bodies[0].x);
    let drops: Vec<f64> =
        ends.filter(|(rest, _)| rest.x > 0.2 - 1e-9).map(|(rest, x)| rest.y - x.y).collect();
    Ok(Row {
        elements,
        cells,
        count: topology.tetrahedra.len() + topology.hexahedra.len(),
        vertices: topology.len(),
        tip_drop_mm: 1e3 * drops.iter().sum::<f64>() / drops.len() as f64,
        ms,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements that lock are too stiff and get better with the mesh; those that do not are nearly there at once.
    #[test]
    fn beams_come_closer_with_more_elements() {
        for (name, cut, law) in ELEMENTS {
            let drops = [1, 2].map(|n| solve(name, cut, law, [10 * n, n, n]).unwrap().tip_drop_mm);
            if cut == Cells::Hexahedra {
                assert!(drops.iter().all(|drop| (0.95 * EXACT_MM..EXACT_MM).contains(drop)), "{drops:?}");
            } else {
                assert!(drops[0] < drops[1] && drops[0] < 0.7 * EXACT_MM, "{name} locks: {drops:?}");
            }
        }
    }
}
