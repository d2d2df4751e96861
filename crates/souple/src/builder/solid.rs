//! Checks and compiles soft solids: blocks of elements and what they are made of (FAU-04, FAU-21).

use glam::DVec3;

use super::embed::PlacedCells;
use super::materials::Moduli;
use super::resolution::Divided;
use super::shape::Placed;
use super::{Checked, positive, stiffness, wrong};
use crate::energy::cell::{self, CellMatrix, Inside, Part};
use crate::energy::{
    CellKind, Content, Energy, Hexahedra, RestTetrahedron, ShapeMatching, Tetrahedra, Yielding, lame,
};
use crate::mesh::cells::{Filled, block_cells, cell_boundary};
use crate::mesh::tetrahedron::{block, boundary, sixfold_volume};
use crate::mesh::{MAX_VERTICES, Topology, TriMesh};
use crate::model::GroupModel;
use crate::scene::{Block, Body, Preconditioner, SolidLaw, SolverKind};
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
    if mesh.tetrahedra.is_empty() {
        let corners: Vec<[u32; 8]> = block_cells(b.cells).into_iter().map(|(corners, _)| corners).collect();
        let [_, ny, nz] = b.cells;
        let at = (0..corners.len() as u32).map(|n| [n / (ny * nz), n / nz % ny, n % nz]).collect();
        let size = DVec3::from(b.size) / DVec3::from(b.cells.map(f64::from));
        return Ok(Placed {
            mesh: TriMesh { positions: mesh.positions, triangles: cell_boundary(&corners), uvs: Vec::new() },
            cells: Some(PlacedCells::full(corners, at, size, b.cut)),
            ..Placed::default()
        });
    }
    let triangles = boundary(&mesh.tetrahedra);
    Ok(Placed {
        mesh: TriMesh { positions: mesh.positions, triangles, uvs: Vec::new() },
        tetrahedra: mesh.tetrahedra,
        ..Placed::default()
    })
}

/// The elements of a solid.
pub(super) enum Elements {
    /// The same from beginning to end.
    Lasting(Box<dyn Energy>),
    /// Those of all cells of which some are in use.
    Changing(Hexahedra),
}

/// The elements of a solid; none of a body that is not one.
pub(super) fn build_solid(
    at: &str,
    body: &Body,
    group: &GroupModel,
    placed: &Placed,
    beta: f64,
) -> Checked<Option<Elements>> {
    check_preconditioner(at, group, placed)?;
    if group.solver == SolverKind::QuasiStatic && body.pins.is_empty() {
        return wrong(
            &format!("{at}.pin"),
            "nothing holds the body, and the solver `quasi_static` looks for the place where it rests",
            "give it a pin, or use another solver",
        );
    }
    if placed.tetrahedra.is_empty() && placed.cells.is_none() {
        if group.solver == SolverKind::QuasiStatic {
            return wrong(
                &format!("{at}.group"),
                format!("the solver `quasi_static` of group '{}' is for solids", group.name),
                "use `implicit_euler_cg`, or a solid shape such as `block`",
            );
        }
        let given = [
            ("poisson_ratio", body.poisson_ratio.is_some()),
            ("law", body.law.is_some()),
            ("plasticity", body.plasticity.is_some()),
            ("material", !body.materials.is_empty()),
        ];
        if let Some((name, _)) = given.into_iter().find(|(_, given)| *given) {
            return wrong(
                &format!("{at}.{name}"),
                "only solids have it, and this body is a surface or a rope",
                "leave it out, use a solid shape such as `block`, or put cells around a surface with `embed`",
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
    if body.shape_matching.is_some() && body.young_modulus.is_none() && body.materials.is_empty() {
        let of_elements = [
            ("poisson_ratio", body.poisson_ratio.is_some()),
            ("law", body.law.is_some()),
            ("plasticity", body.plasticity.is_some()),
        ];
        return match of_elements.into_iter().find(|(_, given)| *given) {
            Some((name, _)) => wrong(
                &format!("{at}.{name}"),
                "it is of elements, and the body has `shape_matching` instead of them",
                "leave it out, or give `young_modulus` too",
            ),
            None => Ok(None),
        };
    }
    let moduli = Moduli::new(at, body, placed.labelled())?;
    if body.tear.is_some() {
        return wrong(
            &format!("{at}.tear"),
            "a body with `shape_matching` does not tear: its shape is matched as a whole",
            "leave one of the two out",
        );
    }
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
            | SolverKind::QuasiStatic
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
    let law = body.law.unwrap_or_default();
    if let Some(cells) = &placed.cells {
        if law == SolidLaw::NeoHookean {
            return wrong(
                &format!("{at}.law"),
                "hexahedra have no neo-Hookean law",
                "use `polar` or `qr`, or cut cells into tetrahedra",
            );
        }
        let of = |row: usize| {
            let (young, poisson) = moduli.of(row);
            let (lambda, mu) = lame(young, poisson);
            Numbers { lambda, mu, density: 1.0 }
        };
        let cells = placed.divided.as_ref().map_or(cells, |divided| &divided.cells);
        let kinds = (0..cells.kinds.len()).map(|kind| cell_kind(cells, kind, &of)).collect();
        let (corners, kind) = (cells.corners.clone(), cells.kind.clone());
        let yielding = match moduli.is_plastic() {
            true => {
                let kinds: Vec<_> = cells.kinds.iter().map(|f| cell_yielding(cells, f, &moduli)).collect();
                kind.iter().map(|k| kinds[*k as usize]).collect()
            }
            false => Vec::new(),
        };
        let elements = Hexahedra { corners, kind, kinds, law, damping: beta, yielding };
        return Ok(Some(match placed.divided.as_ref().is_some_and(Divided::changes) {
            true => Elements::Changing(elements),
            false => Elements::Lasting(Box::new(elements)),
        }));
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
    let yielding = match moduli.is_plastic() {
        true => (0..elements.len()).map(|t| moduli.yielding(t)).collect(),
        false => Vec::new(),
    };
    Ok(Some(Elements::Lasting(Box::new(Tetrahedra { elements, law, damping: beta, yielding }))))
}

/// What pulls a body to where its shape fits best.
pub(super) fn build_shape_matching(
    at: &str,
    body: &Body,
    group: &GroupModel,
    topology: &Topology,
) -> Checked<Option<Box<dyn Energy>>> {
    let Some(given) = body.shape_matching else { return Ok(None) };
    let field = |name: &str| format!("{at}.shape_matching.{name}");
    let turns = std::f64::consts::TAU * positive(&field("frequency"), given.frequency, "Hz")?;
    let stiffness = stiffness(&field("frequency"), turns * turns, "1/s²")?;
    if !(0.0..1.0).contains(&given.linear) {
        return wrong(
            &field("linear"),
            format!("it must be from 0 to below 1, but is {}", given.linear),
            "0.5 lets it stretch and shear about as much as it bends",
        );
    }
    let takes = matches!(
        group.solver,
        SolverKind::ExplicitEuler
            | SolverKind::SymplecticEuler
            | SolverKind::ModifiedEuler
            | SolverKind::Midpoint
            | SolverKind::Rk4
            | SolverKind::Verlet
            | SolverKind::ImplicitEulerCg
    );
    if !takes {
        return wrong(
            &format!("{at}.group"),
            format!(
                "the solver `{}` of group '{}' does not take shape matching, which joins all particles with each other",
                solver_name(group.solver),
                group.name
            ),
            "use `implicit_euler_cg`, or an explicit solver",
        );
    }
    match ShapeMatching::new(stiffness, given.linear, &topology.rest_positions, &topology.masses) {
        Some(matching) => Ok(Some(Box::new(matching))),
        None => wrong(
            &format!("{at}.shape_matching"),
            "the body is flat or a line: its place does not follow from its shape",
            "use `linear = 0` for a flat body, and another model for a rope",
        ),
    }
}

/// What holds the four particles of a rigid body together during a solve; nothing with explicit solvers.
pub(super) fn stiff_tetrahedron(placed: &Placed, young: f64) -> Option<Elements> {
    let corners = *placed.tetrahedra.first()?;
    let element = RestTetrahedron::new(corners, &placed.mesh.positions, young, 0.0)?;
    let yielding = Vec::new();
    let elements = Tetrahedra { elements: vec![element], law: SolidLaw::Polar, damping: 0.0, yielding };
    Some(Elements::Lasting(Box::new(elements)))
}

/// Whether the preconditioner that its group asks for is one for this body.
fn check_preconditioner(at: &str, group: &GroupModel, placed: &Placed) -> Checked<()> {
    let name = match group.cg.preconditioner {
        _ if group.solver != SolverKind::ImplicitEulerCg => return Ok(()),
        Preconditioner::Auto | Preconditioner::Blocks => return Ok(()),
        Preconditioner::Multigrid if placed.cells.is_none() => {
            return wrong(
                &format!("{at}.group"),
                format!(
                    "group '{}' has the preconditioner `multigrid`, which needs a body of hexahedra",
                    group.name
                ),
                "cut it into hexahedra, or use another `cg.preconditioner`, e.g. `auto`",
            );
        }
        Preconditioner::Multigrid => return Ok(()),
        Preconditioner::Cholesky => "cholesky",
        Preconditioner::IncompleteCholesky => "incomplete_cholesky",
    };
    if placed.tetrahedra.is_empty() && placed.cells.is_none() {
        return wrong(
            &format!("{at}.group"),
            format!("group '{}' has the preconditioner `{name}`, which is for solids", group.name),
            "use `auto` or `blocks`",
        );
    }
    Ok(())
}

/// What cells with next to nothing in them have as much of as if so large a share of them were filled: their corners need something that holds them.
const LEAST_FILLING: f64 = 0.03;

/// Lamé's moduli, Pa, and mass per volume of a material.
#[derive(Clone, Copy)]
struct Numbers {
    lambda: f64,
    mu: f64,
    density: f64,
}

/// What fills a cell, with numbers of its materials: `of` gives those of each of the labels of the cells, in their order, or of all if there are none.
fn parts(cells: &PlacedCells, filled: &[Filled], of: &dyn Fn(usize) -> Numbers) -> Vec<Part> {
    let numbers = |f: &Filled| of(cells.labels.binary_search(&u32::from(f.label)).unwrap_or(0));
    let part = |low: DVec3, high: DVec3, n: Numbers| Part {
        low,
        high,
        lambda: n.lambda,
        mu: n.mu,
        density: n.density,
    };
    let mut parts: Vec<Part> = filled.iter().map(|f| part(f.low, f.high, numbers(f))).collect();
    if !is_full(filled) {
        // Of the softest or lightest material in it: a little of a hard one all over a cell would hold the soft one.
        let least = |a: &Numbers, b: &Numbers| a.mu.total_cmp(&b.mu).then(a.density.total_cmp(&b.density));
        let softest = filled.iter().map(numbers).min_by(least);
        let Numbers { lambda, mu, density } = softest.unwrap_or_else(|| of(0));
        let least = Numbers {
            lambda: lambda * LEAST_FILLING,
            mu: mu * LEAST_FILLING,
            density: density * LEAST_FILLING,
        };
        parts.push(part(DVec3::ZERO, DVec3::ONE, least));
    }
    parts
}

/// Whether nothing of a cell is empty.
fn is_full(filled: &[Filled]) -> bool {
    let volume = |f: &Filled| (f.high - f.low).to_array().iter().product::<f64>();
    filled.iter().map(volume).sum::<f64>() > 1.0 - 1e-9
}

fn cell_kind(cells: &PlacedCells, kind: usize, of: &dyn Fn(usize) -> Numbers) -> CellKind {
    let (filled, size) = (&cells.kinds[kind][..], cells.size_of(kind));
    let parts = parts(cells, filled, of);
    let (matrix, inside) = match cells.plain {
        true => (CellMatrix::compatible(size, &parts), Inside::none()),
        false => CellMatrix::with_inside(size, &parts),
    };
    let volume = size.x * size.y * size.z;
    // Means over what is filled; what is everywhere a little is not part of it.
    let share = |p: &Part| (p.high - p.low).to_array().iter().product::<f64>();
    let filling = &parts[..filled.len()];
    let all: f64 = filling.iter().map(share).sum();
    let mean = |of: fn(&Part) -> f64| filling.iter().map(|p| of(p) * share(p)).sum::<f64>() / all;
    let (lambda, mu) = if all > 0.0 { (mean(|p| p.lambda), mean(|p| p.mu)) } else { (0.0, 0.0) };
    let sum: DVec3 = filling.iter().map(|p| (p.low + p.high) * (0.5 * share(p))).sum();
    let middle = (!is_full(filled) && all > 0.0).then(|| sum / all);
    CellKind { size, matrix, content: Content { volume: all * volume, lambda, mu, inside, middle } }
}

/// When a cell yields, and its shear modulus, Pa: means of what fills it, by volume; never if a part of it never does.
fn cell_yielding(cells: &PlacedCells, filled: &[Filled], moduli: &Moduli) -> (Yielding, f64) {
    let mut mean = (Yielding { yield_stress: 0.0, creep: 0.0, max_strain: 0.0 }, 0.0);
    let volume = |f: &Filled| (f.high - f.low).to_array().iter().product::<f64>();
    let total: f64 = filled.iter().map(volume).sum();
    for f in filled {
        let row = cells.labels.binary_search(&u32::from(f.label)).unwrap_or(0);
        let ((young, poisson), of) = (moduli.of(row), moduli.yielding(row));
        let share = volume(f) / total;
        mean.0.yield_stress += share * of.yield_stress;
        mean.0.creep += share * of.creep;
        mean.0.max_strain += share * of.max_strain;
        mean.1 += share * lame(young, poisson).1;
    }
    mean
}

/// Adds the volume that each corner of the cells stands for, m³, or its mass, kg, if there are densities of the labels, kg/m³.
pub(super) fn cell_volumes(cells: &PlacedCells, densities: Option<&[f64]>, volumes: &mut [f64]) {
    let of = |row: usize| Numbers {
        lambda: 1.0,
        mu: 1.0,
        density: densities.and_then(|all| all.get(row).copied()).unwrap_or(1.0),
    };
    let lumped =
        |filled: &Vec<Filled>| cell::lumped(&cell::mass_matrix(cells.size, &parts(cells, filled, &of)));
    let kinds: Vec<[f64; 8]> = cells.kinds.iter().map(lumped).collect();
    let exact = |filled: &Vec<Filled>| -> f64 {
        let share = |f: &Filled| {
            let density = densities.map_or(1.0, |_| parts(cells, std::slice::from_ref(f), &of)[0].density);
            density * (f.high - f.low).to_array().iter().product::<f64>()
        };
        filled.iter().map(share).sum::<f64>() * cells.size.x * cells.size.y * cells.size.z
    };
    let filled: Vec<f64> = cells.kinds.iter().map(exact).collect();
    let sum = |of: &dyn Fn(usize) -> f64| cells.kind.iter().map(|k| of(*k as usize)).sum::<f64>();
    // What is filled everywhere, a little, is taken from all.
    let scale = sum(&|k| filled[k]) / sum(&|k| kinds[k].iter().sum());
    for (corners, kind) in cells.corners.iter().zip(&cells.kind) {
        for (&v, volume) in corners.iter().zip(kinds[*kind as usize]) {
            volumes[v as usize] += volume * scale;
        }
    }
}
