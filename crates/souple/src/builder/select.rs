//! Choices of particles of a body: for pins, pulls and colliders that are held against some vertices only.

use glam::DVec3;

use super::{Checked, vector, wrong};
use crate::mesh::bounds;
use crate::scene::{Border, Select, Shape};

/// The particles of a body that can be chosen from.
#[derive(Clone, Copy)]
pub(super) struct Particles<'a> {
    /// Where they are in the world when the scene begins, m.
    positions: &'a [DVec3],
    /// Columns and rows, if they are a grid.
    grid: Option<[usize; 2]>,
    /// How many each rope has, if they are ropes.
    strand: Option<usize>,
}

impl<'a> Particles<'a> {
    /// Those of a shape, which was found to be right, at these places.
    pub(super) fn of(shape: &Shape, positions: &'a [DVec3]) -> Particles<'a> {
        let (grid, strand) = match shape {
            Shape::Grid(g) => (Some(g.vertices.map(|n| n as usize)), None),
            Shape::Rope(r) => (None, Some(r.vertices as usize)),
            Shape::Strands(s) => (None, Some(s.segments as usize + 1)),
            Shape::Ball(_)
            | Shape::Block(_)
            | Shape::Mesh(_)
            | Shape::File(_)
            | Shape::Voxels(_)
            | Shape::Skin(_) => (None, None),
        };
        Particles { positions, grid, strand }
    }

    /// The middle of some of them, m.
    pub(super) fn middle(&self, vertices: &[u32]) -> DVec3 {
        vertices.iter().map(|&v| self.positions[v as usize]).sum::<DVec3>() / vertices.len() as f64
    }
}

/// The particles that a selection chooses, ascending; at least one.
pub(super) fn select(at: &str, select: &Select, particles: &Particles) -> Checked<Vec<u32>> {
    let x = particles.positions;
    let n = x.len();
    let mut chosen: Vec<u32> = match select {
        Select::All => (0..n as u32).collect(),
        Select::Vertices(list) => {
            if let Some(v) = list.iter().find(|v| **v as usize >= n) {
                return wrong(
                    &format!("{at}.vertices"),
                    format!("there is no vertex {v}"),
                    format!("the last one is {}", n - 1),
                );
            }
            list.clone()
        }
        Select::Near(p) => {
            let p = vector(&format!("{at}.near"), *p)?;
            let nearest =
                (0..n).min_by(|&a, &b| x[a].distance_squared(p).total_cmp(&x[b].distance_squared(p)));
            nearest.map(|v| v as u32).into_iter().collect()
        }
        Select::Within(region) => {
            let min = vector(&format!("{at}.within.min"), region.min)?;
            let max = vector(&format!("{at}.within.max"), region.max)?;
            (0..n as u32)
                .filter(|&v| x[v as usize].cmpge(min).all() && x[v as usize].cmple(max).all())
                .collect()
        }
        Select::Roots => {
            let Some(each) = particles.strand else {
                return wrong(
                    at,
                    "only ropes and strands have roots",
                    "use `border`, `near`, `within` or `vertices`",
                );
            };
            (0..n).filter(|v| v % each < 2).map(|v| v as u32).collect()
        }
        Select::Border(border) => {
            let Some([columns, rows]) = particles.grid else {
                return wrong(
                    &format!("{at}.border"),
                    "only a grid has borders",
                    "use `near`, `within` or `vertices`",
                );
            };
            (0..n)
                .filter(|v| match border {
                    Border::U0 => v % columns == 0,
                    Border::U1 => v % columns == columns - 1,
                    Border::V0 => v / columns == 0,
                    Border::V1 => v / columns == rows - 1,
                })
                .map(|v| v as u32)
                .collect()
        }
    };
    chosen.sort_unstable();
    chosen.dedup();
    if chosen.is_empty() {
        let (low, high) = bounds(x);
        return wrong(at, "it selects no vertex", format!("the body reaches from {low} to {high}"));
    }
    Ok(chosen)
}
