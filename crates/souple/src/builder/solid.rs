//! Checks and compiles soft solids: blocks of tetrahedra and what they are made of (FAU-04).

use super::body::Placed;
use super::materials::Moduli;
use super::{Checked, positive, wrong};
use crate::energy::{RestTetrahedron, Tetrahedra};
use crate::mesh::tetrahedron::{block, boundary, sixfold_volume};
use crate::mesh::{MAX_VERTICES, TriMesh};
use crate::model::GroupModel;
use crate::scene::{Block, Body, SolverKind};
use crate::solver::solver_name;

/// A block of tetrahedra.
pub(super) fn place_block(at: &str, b: &Block) -> Checked<Placed> {
    for k in 0..3 {
        positive(&format!("{at}.size"), b.size[k], "m")?;
        if b.cells[k] == 0 {
            return wrong(
                &format!("{at}.cells"),
                "a block needs at least 1 cell along each axis",
                "e.g. [10, 2, 2]",
            );
        }
    }
    let vertices = b.cells.iter().map(|&n| u128::from(n) + 1).product::<u128>();
    if vertices > MAX_VERTICES as u128 {
        return wrong(
            &format!("{at}.cells"),
            format!("the block has {vertices} vertices, more than {MAX_VERTICES}"),
            "use fewer cells",
        );
    }
    let mesh = block(b);
    let triangles = boundary(&mesh.tetrahedra);
    Ok(Placed {
        mesh: TriMesh { positions: mesh.positions, triangles, uvs: Vec::new() },
        tetrahedra: mesh.tetrahedra,
        ..Placed::default()
    })
}

/// The elements of a solid; none of a body that is not one.
pub(super) fn build_solid(
    at: &str,
    body: &Body,
    group: &GroupModel,
    placed: &Placed,
    beta: f64,
) -> Checked<Option<Tetrahedra>> {
    if placed.tetrahedra.is_empty() {
        let given = [
            ("poisson_ratio", body.poisson_ratio.is_some()),
            ("law", body.law.is_some()),
            ("material", !body.materials.is_empty()),
        ];
        if let Some((name, _)) = given.into_iter().find(|(_, given)| *given) {
            return wrong(
                &format!("{at}.{name}"),
                "only solids have it, and this body is a surface or a rope",
                "leave it out, or use a solid shape such as `block`",
            );
        }
        return Ok(None);
    }
    let not_of_solids = [
        ("thickness", body.thickness.is_some()),
        ("bending", body.bending.is_some()),
        ("area_stiffness", body.area_stiffness.is_some()),
        ("fabric", body.fabric.is_some()),
        ("dials", body.dials.is_some()),
        ("tear", body.tear.is_some()),
        ("limits", body.limits.is_some()),
        ("springs", body.springs != crate::scene::Springs::default()),
    ];
    if let Some((name, _)) = not_of_solids.into_iter().find(|(_, given)| *given) {
        return wrong(
            &format!("{at}.{name}"),
            "solids do not have it",
            "leave it out: `young_modulus`, `poisson_ratio` and `law` say what a solid is made of",
        );
    }
    let moduli = Moduli::new(at, body, &placed.labels)?;
    let takes = matches!(
        group.solver,
        SolverKind::ExplicitEuler
            | SolverKind::SymplecticEuler
            | SolverKind::ModifiedEuler
            | SolverKind::Midpoint
            | SolverKind::Rk4
            | SolverKind::Verlet
            | SolverKind::ImplicitEulerCg
            | SolverKind::ImplicitEulerCholesky
    );
    if !takes {
        return wrong(
            &format!("{at}.group"),
            format!(
                "the solver `{}` of group '{}' does not advance solids",
                solver_name(group.solver),
                group.name
            ),
            "use `implicit_euler_cholesky`, `implicit_euler_cg`, or an explicit solver",
        );
    }
    let x = &placed.mesh.positions;
    let mut elements = Vec::with_capacity(placed.tetrahedra.len());
    for (t, corners) in placed.tetrahedra.iter().enumerate() {
        let (young, poisson) = moduli.of(t);
        let Some(element) = RestTetrahedron::new(*corners, x, young, poisson) else {
            let volume = sixfold_volume(corners.map(|v| x[v as usize])) / 6.0;
            let what = if volume < 0.0 { "is inside out" } else { "has no volume" };
            return wrong(
                &format!("{at}.shape"),
                format!("tetrahedron {t}, of vertices {corners:?}, {what}"),
                "repair the mesh where it was made",
            );
        };
        elements.push(element);
    }
    Ok(Some(Tetrahedra { elements, law: body.law.unwrap_or_default(), damping: beta }))
}
