//! Checks and compiles rigid bodies (FAU-06): four particles with the mass and inertia of a shape, which its surface follows.

use super::link::couples;
use super::shape::Placed;
use super::{Checked, positive, wrong};
use crate::mapping::{Mapping, rows};
use crate::mesh::open_edges;
use crate::mesh::tetrahedron::sixfold_volume;
use crate::model::GroupModel;
use crate::rigid::{Inertia, RigidFrame};
use crate::scene::{Body, SolverKind};

/// How much stiffer than its mass in a step the tetrahedron is that holds the four together during a solve.
const STIFFNESS: f64 = 1e4;

/// The frame of a placed rigid body, the mass of each of its particles, kg, and Young's modulus of what holds them together, Pa.
pub(super) struct PlacedRigid {
    pub(super) frame: RigidFrame,
    pub(super) quarter: f64,
    pub(super) young: f64,
}

/// Gives a placed surface four particles that it follows.
pub(super) fn place_rigid(
    at: &str,
    body: &Body,
    group: &GroupModel,
    step: f64,
    placed: &mut Placed,
) -> Checked<PlacedRigid> {
    let not_of_rigid = [
        ("young_modulus", body.young_modulus.is_some()),
        ("poisson_ratio", body.poisson_ratio.is_some()),
        ("law", body.law.is_some()),
        ("plasticity", body.plasticity.is_some()),
        ("shape_matching", body.shape_matching.is_some()),
        ("material", !body.materials.is_empty()),
        ("embed", body.embed.is_some()),
        ("fabric", body.fabric.is_some()),
        ("dials", body.dials.is_some()),
        ("tear", body.tear.is_some()),
        ("limits", body.limits.is_some()),
        ("bending", body.bending.is_some()),
        ("area_stiffness", body.area_stiffness.is_some()),
        ("inside", body.inside.is_some()),
        ("springs", body.springs != crate::scene::Springs::default()),
    ];
    if let Some((name, _)) = not_of_rigid.into_iter().find(|(_, given)| *given) {
        return wrong(
            &format!("{at}.{name}"),
            "rigid bodies do not have it",
            "leave it out, or leave `rigid` out",
        );
    }
    if !couples(group.solver) {
        return wrong(
            &format!("{at}.group"),
            format!("the solver of group '{}' does not advance rigid bodies", group.name),
            "use `implicit_euler_cg`, `implicit_euler_cholesky`, or an explicit solver",
        );
    }
    // Of a shape whose surface follows cells the surface is enough.
    placed.mesh.positions.truncate(placed.mesh.positions.len() - placed.hidden);
    placed.mapping = Mapping::default();
    let (x, triangles) = (&placed.mesh.positions, &placed.mesh.triangles);
    if triangles.is_empty() {
        return wrong(&format!("{at}.rigid"), "it has no surface", "use a surface or a block");
    }
    let shape = match open_edges(triangles) {
        0 => Inertia::of_volume(x, triangles),
        _ => Inertia::of_sheet(x, triangles),
    };
    if shape.mass.is_nan() || shape.mass <= 0.0 {
        return wrong(
            &format!("{at}.shape"),
            "it encloses no volume: its triangles face inwards",
            "turn them round, by naming their vertices in the opposite order",
        );
    }
    let mass = match (body.mass, body.density) {
        (Some(mass), None) => positive(&format!("{at}.mass"), mass, "kg")?,
        (None, Some(density)) => positive(&format!("{at}.density"), density, "kg/m³")? * shape.mass,
        (Some(_), Some(_)) => {
            return wrong(&format!("{at}.mass"), "both mass and density are given", "keep one of the two");
        }
        (None, None) => {
            return wrong(
                &format!("{at}.density"),
                "the body has no mass",
                "give `density` in kg/m³, or `mass` in kg",
            );
        }
    };
    let mut corners = shape.particles();
    if sixfold_volume(corners) < 0.0 {
        corners.swap(2, 3);
    }
    let first = x.len();
    let frame: [u32; 4] = std::array::from_fn(|k| (first + k) as u32);
    for (v, p) in (0u32..).zip(x) {
        let Some(row) = rows::rigid(*p, frame, corners) else {
            return wrong(&format!("{at}.shape"), "it has no extent", "repair or re-export the mesh");
        };
        placed.mapping.push(v, &row);
    }
    let is_implicit = matches!(group.solver, SolverKind::ImplicitEulerCg | SolverKind::ImplicitEulerCholesky);
    placed.cells = None;
    // Explicit solvers could not stand what holds them together, and need it less: their steps are short.
    placed.tetrahedra = if is_implicit { vec![frame] } else { Vec::new() };
    placed.hidden = 4;
    placed.mesh.positions.extend(corners);
    if !placed.mesh.uvs.is_empty() {
        placed.mesh.uvs.resize(first + 4, [0.0; 2]);
    }
    let edge = corners[0]
        .distance(corners[1])
        .min(corners[0].distance(corners[2]))
        .min(corners[0].distance(corners[3]));
    let young = STIFFNESS * mass / (step * step * edge);
    Ok(PlacedRigid { frame: RigidFrame { first }, quarter: mass / 4.0, young })
}
