//! Cells of several sizes in one body (FAU-24): the patch test, and traction at ν = 0, where every mesh ends in the same place.
//!
//! A bar is pulled by the same force per area of its end, and has the same strain everywhere, which cells of any size can show. So there is nothing that a mesh may get
//! wrong but the T-nodes: if they passed on forces or motion otherwise than by the same weights, some meshes would give way more than others. The rows compare all
//! vertices, also those that are T-nodes or lie inside large cells, with where the strain puts them. **Tolerance.** Rounding, and what is left of a search for rest by
//! Newton's steps: relative 1e-9.

use glam::{DMat3, DVec3};
use souple::Simulation;
use souple::scene::{Body, Cells, FineAt, Pull, Region, Resolution, Select, SolidLaw};

use super::integrators::simulate;
use super::solids::{clamp, cut, forces, scene, solid};
use super::{Case, largest};

const SIZE: [f64; 3] = [0.8, 0.4, 0.4];
const CELLS: [u32; 3] = [16, 8, 8];
const YOUNG: f64 = 2e4;

/// A box of the bar.
fn region(min: [f64; 3], max: [f64; 3]) -> Region {
    Region { min, max }
}

/// Meshes of the same bar: uniform ones, and ones with cells of two and three sizes.
fn meshes() -> Vec<(&'static str, Option<Resolution>)> {
    let of = |fine_at, regions| Some(Resolution { levels: 2, fine_at, regions, ..Resolution::default() });
    let end = region([0.75, -1.0, -1.0], [1.0, 1.0, 1.0]);
    let middle = region([0.31, 0.11, 0.11], [0.34, 0.14, 0.14]);
    let corner = region([-0.1, -0.1, -0.1], [0.01, 0.01, 0.01]);
    vec![
        ("fine", None),
        ("coarse", of(FineAt::Regions, Vec::new())),
        ("surface", of(FineAt::Surface, Vec::new())),
        ("end", of(FineAt::Regions, vec![end])),
        ("middle", of(FineAt::Regions, vec![middle])),
        ("corner", of(FineAt::Regions, vec![corner])),
        ("three-places", of(FineAt::Regions, vec![end, middle, corner])),
    ]
}

fn bar(resolution: Option<Resolution>, poisson: f64) -> Body {
    let body = cut(solid(SolidLaw::Polar, SIZE, CELLS, YOUNG, poisson), Cells::Hexahedra);
    Body { resolution, ..body }
}

/// Forces on the vertices of the free end that pull with so much per area, N/m²: each stands for a part of the area.
fn pulls(traction: f64) -> Vec<Pull> {
    let [nx, ny, nz] = CELLS;
    let cell = SIZE[1] * SIZE[2] / f64::from(ny * nz);
    let mut all = Vec::new();
    for j in 0..=ny {
        for k in 0..=nz {
            let half = |a: u32, n: u32| if a == 0 || a == n { 0.5 } else { 1.0 };
            let force = traction * cell * half(j, ny) * half(k, nz);
            let vertex = (nx * (ny + 1) + j) * (nz + 1) + k;
            all.push(Pull {
                select: Select::Vertices(vec![vertex]),
                force: [force, 0.0, 0.0],
                ..Pull::default()
            });
        }
    }
    all
}

/// At rest.
fn pulled(resolution: Option<Resolution>, traction: f64) -> Simulation {
    let body = Body { pulls: pulls(traction), ..clamp(bar(resolution, 0.0)) };
    let mut s = simulate(scene(body, 0.0, 1.0));
    (0..40).for_each(|_| s.step());
    s
}

pub(super) fn cases() -> Vec<Case> {
    let strain = 0.05;
    let mut all = Vec::new();
    for (name, resolution) in meshes() {
        let s = pulled(resolution.clone(), strain * YOUNG);
        let rest = &s.model().bodies[0].topology.rest_positions;
        let off = |(r, x): (&DVec3, &DVec3)| (*r + DVec3::X * (strain * r.x)).distance(*x);
        let worst = largest(rest.iter().zip(&s.state().bodies[0].x).map(off));
        let count = s.model().bodies[0].topology.hexahedra.len();
        all.push(Case::new(
            format!("solids/mixed/traction-{name}"),
            format!("ν = 0, {count} cells: farthest vertex from F L/(E A), over the elongation"),
            0.0,
            worst / (strain * SIZE[0]),
            1e-9,
        ));
    }
    for (name, resolution) in meshes().into_iter().skip(2) {
        let s = simulate(scene(bar(resolution, 0.4), 0.0, 0.01));
        let map = DMat3::from_cols_array(&[1.1, 0.05, -0.1, 0.2, 0.9, 0.07, -0.03, 0.1, 1.2]);
        let x: Vec<DVec3> = s.state().bodies[0].x.iter().map(|x| map * *x).collect();
        let topology = &s.model().bodies[0].topology;
        let mut f = forces(&s, &x);
        topology.mapping.apply_jt(&mut f);
        let is_inside = |r: &DVec3| (0..3).all(|k| r[k] > 1e-6 && r[k] < SIZE[k] - 1e-6);
        let largest_force = |inside: bool| {
            let chosen = f.iter().zip(&topology.rest_positions).filter(|(_, r)| is_inside(r) == inside);
            largest(chosen.map(|(f, _)| f.length()))
        };
        all.push(Case::new(
            format!("solids/mixed/patch-{name}"),
            "affine displacement: force inside over that outside",
            0.0,
            largest_force(true) / largest_force(false),
            1e-13,
        ));
    }
    all
}
