//! Checks and compiles soft bodies.

use std::sync::Arc;

use glam::DVec3;

use super::character::Characters;
use super::dials::{Dialled, dialled};
use super::elastic::place_layer;
use super::embed::{check_memory, embed};
use super::materials::solid_densities;
use super::resolution::divide;
use super::rigid::place_rigid;
use super::select::{Particles, select};
use super::shape::{Placed, build_shape};
use super::solid::{Elements, build_shape_matching, build_solid, cell_volumes, stiff_tetrahedron};
use super::world::{check_motion, share};
use super::wrinkles::build_wrinkles;
use super::{Checked, STIFFEST, finite, not_negative, positive, stiffness, vector, wrong};
use crate::energy::{
    Aerodynamics, Area, Bending, Creasing, Dissipation, Energy, Grabs, Gravity, InUse, Pulls, RandomForce,
    Springs, Viscous, Volume,
};
use crate::fabrics::{FABRICS, Fabric, fabric};
use crate::mesh::layout::{self, FamilyParameters, Stiffness, Surface};
use crate::mesh::tear::TearLimits;
use crate::mesh::tetrahedron::sixfold_volume;
use crate::mesh::{Spring, SpringFamily, Topology, bounds, enclosed_volume, open_edges, triangle_area};
use crate::model::{BodyModel, GroupModel, LimitModel, PinCarrier, PinModel};
use crate::scene::SurfaceContact;
use crate::scene::{Body, Family, Layout, LengthLimit, Shape, SolverKind, Wind};
use crate::solver::solver_name;

/// Whether shape matching alone holds it together.
fn is_matched_alone(body: &Body) -> bool {
    let springs = body.springs != crate::scene::Springs::default();
    body.shape_matching.is_some() && !springs && body.fabric.is_none() && body.dials.is_none()
}

pub(super) fn build_body(
    at: &str,
    body: &Body,
    groups: &[GroupModel],
    gravity: DVec3,
    wind: &Wind,
    fps: f64,
    characters: &Characters,
) -> Checked<BodyModel> {
    let group = match &body.group {
        None => 0,
        Some(name) => match groups.iter().position(|g| g.name == *name) {
            Some(g) => g,
            None => {
                let known = groups.iter().map(|g| g.name.as_str()).collect::<Vec<_>>().join(", ");
                return wrong(
                    &format!("{at}.group"),
                    format!("there is no group '{name}'"),
                    format!("known groups: {known}"),
                );
            }
        },
    };
    let fabric = match &body.fabric {
        None => None,
        Some(name) => match fabric(name) {
            Some(f) => Some(f),
            None => {
                let known = FABRICS.iter().map(|f| f.name).collect::<Vec<_>>().join(", ");
                return wrong(
                    &format!("{at}.fabric"),
                    format!("there is no fabric '{name}'"),
                    format!("known fabrics: {known}"),
                );
            }
        },
    };
    let mut placed = match &body.shape {
        Shape::Skin(shape) => place_layer(at, body, shape, &groups[group], characters)?,
        shape if body.elastic.is_none() => build_shape(at, shape, &body.placement)?,
        _ => {
            return wrong(
                &format!("{at}.elastic"),
                "only a part of a skin is an elastic layer",
                "write `shape = { skin = { character = \"…\" } }`, or leave `elastic` out",
            );
        }
    };
    let step = 1.0 / (fps * f64::from(groups[group].substeps));
    let rigid = match body.rigid {
        true => Some(place_rigid(at, body, &groups[group], step, &mut placed)?),
        false => None,
    };
    if let Some(cells) = &body.embed {
        embed(at, cells, &body.shape, &mut placed)?;
    }
    if let Some(resolution) = &body.resolution {
        divide(at, body, resolution, &mut placed)?;
    }
    if body.embed.is_some() && rigid.is_none() {
        check_memory(at, &placed)?;
    }
    let (masses, fine_masses) = match &rigid {
        Some(rigid) => {
            let mut masses = vec![0.0; placed.mesh.positions.len()];
            masses[rigid.frame.first..].fill(rigid.quarter);
            (masses, Vec::new())
        }
        None => build_masses(at, body, fabric, &placed)?,
    };
    let beta = match body.rayleigh.and_then(|r| r.stiffness) {
        Some(beta) => not_negative(&format!("{at}.rayleigh.stiffness"), beta, "s")?,
        None => fabric.map_or(0.0, |f| f.beta),
    };
    let alpha = match &body.rayleigh {
        Some(r) => not_negative(&format!("{at}.rayleigh.mass"), r.mass, "1/s")?,
        None => 0.0,
    };
    let dials = match body.dials {
        Some(_) => {
            let (extent, length) = placed.extent();
            dialled(at, body, masses.iter().sum::<f64>() / extent, length)?
        }
        None => Dialled::default(),
    };
    let solid = match &rigid {
        Some(rigid) => stiff_tetrahedron(&placed, rigid.young),
        None => build_solid(at, body, &groups[group], &placed, beta)?,
    };
    let springs = match solid {
        Some(_) => Vec::new(),
        None if rigid.is_some() || is_matched_alone(body) => Vec::new(),
        None => match &placed.layer {
            Some(layer) => {
                let (area, length) = placed.extent();
                layer.springs(&placed.mesh.triangles, masses.iter().sum::<f64>() / area, length)
            }
            None => build_springs(at, body, fabric, &placed, beta, &dials)?,
        },
    };
    let held = solid.is_some() || rigid.is_some() || body.shape_matching.is_some() || placed.layer.is_some();
    if springs.is_empty() && !held {
        return wrong(
            &format!("{at}.springs"),
            "the body has no springs: nothing holds it together",
            "name a fabric (`fabric = \"cotton\"`), turn a dial (`dials = { stretch = 0.8 }`) or give `springs.stretch.stiffness`",
        );
    }
    let n = placed.mesh.positions.len();
    let mut topology = Topology {
        rest_positions: placed.mesh.positions.clone(),
        masses,
        triangles: placed.mesh.triangles.clone(),
        segments: placed.segments.clone(),
        tetrahedra: placed.tetrahedra.clone(),
        hexahedra: placed.elements().map_or(Vec::new(), |cells| cells.corners.clone()),
        mapping: placed.mapping.clone(),
        hidden: placed.hidden,
        springs,
        parents: (0..n as u32).collect(),
        bending: match dials.bending {
            Some(rigidity) => rigidity,
            None => stiffness(&format!("{at}.bending"), body.bending.unwrap_or(0.0), "N·m")?,
        },
        ..Topology::default()
    };
    topology.creases = body.creasing.is_some();
    topology.rebuild_derived();
    let wrinkles = build_wrinkles(at, body, fabric, &placed)?;

    let weight = body.elastic.as_ref().map_or(1.0, |elastic| elastic.weight);
    let mut energies: Vec<Box<dyn Energy>> =
        vec![Box::new(Gravity { acceleration: gravity * weight }), Box::new(Springs)];
    let mut refining = None;
    match solid {
        None => {}
        Some(Elements::Lasting(elements)) => energies.push(elements),
        Some(Elements::Changing(all)) => {
            let divided = placed.divided.take();
            refining = divided.and_then(|divided| divided.refining(all, fine_masses, &mut topology));
            energies.push(Box::new(InUse));
        }
    }
    if let Some(matching) = build_shape_matching(at, body, &groups[group], &topology)? {
        energies.push(matching);
    }
    match build_creasing(at, body, &groups[group], &topology)? {
        Some(creasing) => energies.push(Box::new(creasing)),
        None if topology.bending > 0.0 => energies.push(Box::new(Bending)),
        None => {}
    }
    let area_stiffness = match dials.area_stiffness {
        Some(stiffness) => stiffness,
        None => not_negative(&format!("{at}.area_stiffness"), body.area_stiffness.unwrap_or(0.0), "N/m")?,
    };
    if area_stiffness > 0.0 {
        if topology.triangles.is_empty() {
            return wrong(
                &format!("{at}.area_stiffness"),
                "the body has no triangles",
                "leave it out: a rope has no area",
            );
        }
        energies.push(Box::new(Area { stiffness: area_stiffness }));
    }
    let inside = build_inside(at, body, &groups[group], &topology)?;
    if let Some(volume) = inside {
        energies.push(Box::new(volume));
    }
    if alpha > 0.0 {
        energies.push(Box::new(Dissipation { rate: alpha }));
    }
    if let Some(air) = &body.air {
        let field = |name: &str| format!("{at}.air.{name}");
        not_negative(&field("drag"), air.drag, "1")?;
        not_negative(&field("lift"), air.lift, "1")?;
        if not_negative(&field("viscous"), air.viscous, "N·s/m³")? > 0.0 {
            energies.push(Box::new(Viscous { coefficient: air.viscous }));
        }
        if air.drag > 0.0 || air.lift > 0.0 {
            energies.push(Box::new(Aerodynamics { drag: air.drag, lift: air.lift }));
        }
    }
    if wind.random_force.is_some() {
        energies.push(Box::new(RandomForce));
    }
    let particles = Particles::of(&body.shape, &placed.mesh.positions[..topology.visible()]);
    for (p, pull) in body.pulls.iter().enumerate() {
        let field = format!("{at}.pull[{p}]");
        let vertices = select(&format!("{field}.select"), &pull.select, &particles)?;
        let force = vector(&format!("{field}.force"), pull.force)?;
        let from = finite(&format!("{field}.from"), pull.from)?;
        energies.push(Box::new(Pulls { vertices, force, from, until: pull.until.unwrap_or(f64::INFINITY) }));
    }
    energies.push(Box::new(Grabs));

    let mut pins = build_pins(at, body, &particles, &topology)?;
    pins.extend(placed.layer.as_ref().and_then(|layer| layer.pins(&topology.rest_positions)));
    let limits = match &body.limits {
        None => None,
        Some(l) => {
            if l.iterations == 0 {
                return wrong(&format!("{at}.limits.iterations"), "it must be at least 1", "10 is usual");
            }
            let range = [
                limit_range(&format!("{at}.limits.stretch"), &l.stretch)?,
                limit_range(&format!("{at}.limits.shear"), &l.shear)?,
                limit_range(&format!("{at}.limits.bend"), &l.bend)?,
            ];
            Some(LimitModel { method: l.method, iterations: l.iterations, range })
        }
    };
    Ok(BodyModel {
        name: body.name.clone(),
        group,
        tear: build_tear(at, body, fabric, &topology)?,
        topology: Arc::new(topology),
        uvs: placed.mesh.uvs.clone(),
        velocity: vector(&format!("{at}.velocity"), body.velocity)?,
        dissipation: alpha,
        energies,
        area_stiffness,
        inside,
        limits,
        skin: not_negative(&format!("{at}.skin"), body.skin, "m")?,
        contact: surface_contact(at, body)?,
        pins,
        layer: placed.layer.map(|placed| placed.layer),
        rigid: rigid.map(|rigid| rigid.frame),
        refining,
        wrinkles,
        is_paper: false,
    })
}

/// When a sheet keeps a bend for good; none if it never does.
fn build_creasing(
    at: &str,
    body: &Body,
    group: &GroupModel,
    topology: &Topology,
) -> Checked<Option<Creasing>> {
    let Some(given) = &body.creasing else { return Ok(None) };
    let field = format!("{at}.creasing");
    if topology.triangles.is_empty() || topology.is_solid() || body.rigid {
        return wrong(&field, "only sheets keep creases", "leave it out; solids have `plasticity`");
    }
    if topology.bending <= 0.0 {
        return wrong(&field, "the sheet bends freely, so there is nothing to keep", "give `bending` in N·m");
    }
    if body.tear.is_some() {
        return wrong(&field, "a sheet that keeps creases does not tear", "leave out one of the two");
    }
    // These know bending by formulas of their own, in which a sheet is at rest as it was built.
    let has_own = matches!(
        group.solver,
        SolverKind::ProjectiveDynamics
            | SolverKind::VertexBlockDescent
            | SolverKind::Xpbd
            | SolverKind::Goals
            | SolverKind::ImplicitFilter
            | SolverKind::QuasiStatic
    );
    if has_own {
        return wrong(
            &field,
            format!("the solver `{}` of group '{}' does not know it", solver_name(group.solver), group.name),
            "use `implicit_euler_cg`, `implicit_euler_cholesky`, or an explicit solver",
        );
    }
    let elastic = 1.0 / positive(&format!("{field}.radius"), given.radius, "m")?;
    let creep = match given.creep {
        Some(creep) => positive(&format!("{field}.creep"), creep, "1/s")?,
        None => f64::INFINITY,
    };
    Ok(Some(Creasing::new(elastic, creep, topology)))
}

fn surface_contact(at: &str, body: &Body) -> Checked<Option<SurfaceContact>> {
    let Some(contact) = &body.contact else { return Ok(None) };
    not_negative(&format!("{at}.contact.friction"), contact.friction, "1")?;
    share(&format!("{at}.contact.restitution"), contact.restitution)?;
    if body.skin <= 0.0 {
        return wrong(
            &format!("{at}.skin"),
            "surfaces that touch need a distance to keep",
            "give the thickness of the cloth, for example 0.002",
        );
    }
    Ok(Some(contact.clone()))
}

/// Masses of all particles, kg, and what they would be if no node of cells followed others.
fn build_masses(
    at: &str,
    body: &Body,
    fabric: Option<&Fabric>,
    placed: &Placed,
) -> Checked<(Vec<f64>, Vec<f64>)> {
    let x = &placed.mesh.positions;
    let mut masses = vec![0.0; x.len()];
    // First the share of each particle, as an area (m²) or a length (m); then what that weighs.
    if placed.beads {
        let length: f64 = placed.segments.iter().map(|s| x[s[0] as usize].distance(x[s[1] as usize])).sum();
        let share = length / (x.len() - 1) as f64;
        masses[1..].fill(share);
    }
    for s in placed.segments.iter().filter(|_| !placed.beads) {
        let half = 0.5 * x[s[0] as usize].distance(x[s[1] as usize]);
        s.iter().for_each(|&v| masses[v as usize] += half);
    }
    let densities = solid_densities(at, body, placed)?;
    for (e, t) in placed.tetrahedra.iter().enumerate() {
        let quarter = sixfold_volume(t.map(|v| x[v as usize])) / 24.0;
        let weight = densities.as_ref().map_or(quarter, |of| quarter * of[e]);
        t.iter().for_each(|&v| masses[v as usize] += weight);
    }
    if let Some(cells) = &placed.cells {
        cell_volumes(cells, densities.as_deref(), &mut masses);
    }
    let is_solid = !placed.tetrahedra.is_empty() || placed.cells.is_some();
    for t in placed.mesh.triangles.iter().filter(|_| !is_solid) {
        let [a, b, c] = t.map(|v| x[v as usize]);
        let third = triangle_area(a, b, c) / 3.0;
        t.iter().for_each(|&v| masses[v as usize] += third);
    }
    let total: f64 = masses.iter().sum();
    let per_share = match (body.mass, body.density, fabric) {
        _ if densities.is_some() => 1.0,
        (Some(_), Some(_), _) => {
            return wrong(&format!("{at}.mass"), "both mass and density are given", "keep one of the two");
        }
        (Some(mass), None, _) => positive(&format!("{at}.mass"), mass, "kg")? / total,
        (None, Some(density), _) => {
            positive(&format!("{at}.density"), density, if is_solid { "kg/m³" } else { "kg/m²" })?
        }
        (None, None, Some(f)) => f.density,
        // All its dials are times and lengths: any will do.
        (None, None, None) if placed.layer.is_some() => 1.0,
        (None, None, None) => {
            return wrong(
                &format!("{at}.density"),
                "the body has no mass",
                "give `density` in kg/m² (cloth: 0.05 to 1) or of a solid in kg/m³, `mass` in kg, or a `fabric`",
            );
        }
    };
    masses.iter_mut().for_each(|m| *m *= per_share);
    if placed.beads {
        masses[0] = masses[1];
    }
    let fine_masses = masses.clone();
    placed.mapping.raise_masses(&mut masses);
    // Vertices that no triangle uses, or only triangles of zero area, would have no mass and no acceleration.
    let follows = |v: usize| placed.mapping.follows(v as u32);
    if let Some(v) = (0..masses.len()).find(|&v| (masses[v].is_nan() || masses[v] <= 0.0) && !follows(v)) {
        return wrong(
            &format!("{at}.shape"),
            format!("vertex {v} has no mass: no triangle of positive area uses it"),
            "remove isolated vertices and zero-area triangles from the mesh",
        );
    }
    let is_odd = |v: usize| !(1.0 / STIFFEST..=STIFFEST).contains(&masses[v]) && !follows(v);
    if let Some(v) = (0..masses.len()).find(|&v| is_odd(v)) {
        return wrong(
            &format!("{at}.shape"),
            format!("vertex {v} would weigh {:e} kg, which is beyond what can be computed with", masses[v]),
            "check the scale of the mesh, and `mass` or `density`",
        );
    }
    Ok((masses, fine_masses))
}

fn build_springs(
    at: &str,
    body: &Body,
    fabric: Option<&Fabric>,
    placed: &Placed,
    beta: f64,
    dials: &Dialled,
) -> Checked<Vec<Spring>> {
    let field = format!("{at}.springs");
    let is_rope = !placed.segments.is_empty();
    let thickness = match body.thickness {
        Some(t) => Some(positive(&format!("{at}.thickness"), t, "m")?),
        None => fabric.map(|f| f.thickness),
    };
    let from_young = match (body.young_modulus, thickness) {
        (None, _) => None,
        (Some(_), None) => {
            return wrong(
                &format!("{at}.thickness"),
                "Young's modulus needs a thickness",
                "give `thickness` in m, e.g. 0.0005",
            );
        }
        (Some(e), Some(t)) => {
            let e = positive(&format!("{at}.young_modulus"), e, "Pa")?;
            Some(if is_rope { e * std::f64::consts::PI * t * t / 4.0 } else { e * t })
        }
    };
    let presets = fabric.map_or([0.0; 3], |f| [f.stretch, f.shear, f.bend]);
    let families = [&body.springs.stretch, &body.springs.shear, &body.springs.bend];
    let mut parameters = [FamilyParameters { stiffness: Stiffness::PerSpring(0.0), damping: 0.0 }; 3];
    for (family, name) in SpringFamily::ALL.iter().map(|f| (*f as usize, f.name())) {
        let Family { stiffness: per_spring, modulus, damping } = *families[family];
        let at = format!("{field}.{name}");
        let young = if family == 0 { from_young } else { None };
        let given = [per_spring.is_some(), modulus.is_some(), young.is_some()].iter().filter(|g| **g).count();
        if given > 1 {
            return wrong(
                &at,
                "its stiffness is given twice",
                "keep one of `stiffness`, `modulus` and `young_modulus`",
            );
        }
        parameters[family].stiffness = match (per_spring, modulus, young) {
            (Some(k), _, _) => Stiffness::PerSpring(stiffness(&format!("{at}.stiffness"), k, "N/m")?),
            (None, Some(y), _) => Stiffness::Modulus(stiffness(&format!("{at}.modulus"), y, "N/m")?),
            (None, None, Some(y)) => Stiffness::Modulus(y),
            (None, None, None) => Stiffness::Modulus(dials.families[family].unwrap_or(presets[family])),
        };
        parameters[family].damping = stiffness(&format!("{at}.damping"), damping.unwrap_or(0.0), "N·s/m")?;
    }
    let surface = Surface {
        positions: &placed.mesh.positions,
        triangles: &placed.mesh.triangles,
        segments: &placed.segments,
    };
    let springs = match (body.springs.layout, placed.grid) {
        (Layout::Structural, Some([columns, rows])) => {
            Some(layout::structural_grid(&surface, columns, rows, &parameters))
        }
        (Layout::Structural, None) if is_rope => Some(layout::structural_rope(&surface, &parameters)),
        (Layout::Structural, None) => layout::graph(&surface, HOPS_OF_MESHES, &parameters),
        (Layout::Radius(radius), _) => {
            let radius = positive(&format!("{field}.layout.radius"), radius, "m")?;
            let (low, high) = bounds(&placed.mesh.positions);
            if (high - low).max_element() / radius > 1e9 {
                return wrong(
                    &format!("{field}.layout.radius"),
                    "it is tiny against the body",
                    "use about twice the edge length",
                );
            }
            layout::connection_radius(&surface, radius, &parameters)
        }
        (Layout::Graph(hops), _) => {
            if hops == 0 || hops > 8 {
                return wrong(
                    &format!("{field}.layout.graph"),
                    format!("the hop limit must be from 1 to 8, not {hops}"),
                    "2 is usual",
                );
            }
            layout::graph(&surface, hops as u8, &parameters)
        }
    };
    let Some(mut springs) = springs else {
        return wrong(
            &format!("{field}.layout"),
            format!("it makes more than {} springs", layout::MAX_SPRINGS),
            "use a smaller radius or hop limit",
        );
    };
    for s in &mut springs {
        s.damping += beta * s.stiffness;
    }
    // A modulus is shared by the square of the length: springs between vertices that nearly meet can be of any stiffness.
    let too_stiff = |s: &&Spring| s.stiffness.is_nan() || s.stiffness.max(s.damping) > STIFFEST;
    if let Some(s) = springs.iter().find(too_stiff) {
        return wrong(
            &format!("{field}.{}", s.family.name()),
            format!(
                "the spring between vertices {} and {}, {:e} m apart, would have {:e} N/m and {:e} N·s/m",
                s.i, s.j, s.rest_length, s.stiffness, s.damping
            ),
            "that is beyond what can be computed with: soften it, or merge vertices that nearly meet",
        );
    }
    Ok(springs)
}

/// A mesh has no rows and columns for a structural layout: these springs resist stretch and bending like it.
const HOPS_OF_MESHES: u8 = 2;

fn build_inside(at: &str, body: &Body, group: &GroupModel, topology: &Topology) -> Checked<Option<Volume>> {
    let Some(inside) = &body.inside else { return Ok(None) };
    let field = format!("{at}.inside");
    let pressure = not_negative(&format!("{field}.pressure"), inside.pressure, "Pa")?;
    let bulk_modulus = not_negative(&format!("{field}.bulk_modulus"), inside.bulk_modulus, "Pa")?;
    if group.solver == SolverKind::QuasiStatic && bulk_modulus > 0.0 {
        return wrong(
            &format!("{field}.bulk_modulus"),
            "the solver `quasi_static` does not take it: it joins all particles with each other",
            "use `implicit_euler_cg`, or a constant `pressure`",
        );
    }
    if !topology.closed {
        let open = open_edges(&topology.triangles);
        return wrong(
            &field,
            match open {
                0 => "the body has no triangles that could close a volume".into(),
                _ => format!(
                    "the triangles close no volume: {open} edges have no triangle on their other side, or one that \
                     faces the other way"
                ),
            },
            "close the holes of the mesh (`weld = true` closes seams of a mesh file), or leave `inside` out",
        );
    }
    let rest_volume = enclosed_volume(&topology.rest_positions, &topology.triangles);
    if rest_volume.is_nan() || rest_volume <= 0.0 {
        return wrong(
            &field,
            format!("the volume inside is {rest_volume:.3e} m³: the triangles face inwards"),
            "turn all triangles of the mesh round, by naming their vertices in the opposite order",
        );
    }
    Ok(Some(Volume { pressure, bulk_modulus, rest_volume }))
}

fn build_tear(
    at: &str,
    body: &Body,
    fabric: Option<&Fabric>,
    topology: &Topology,
) -> Checked<Option<TearLimits>> {
    let Some(tear) = &body.tear else { return Ok(None) };
    let field = |name: &str| format!("{at}.tear.{name}");
    let mut limits = TearLimits { length_ratio: tear.length_ratio, length: tear.length, force: tear.force };
    if let Some(ratio) = tear.length_ratio
        && positive(&field("length_ratio"), ratio, "times the rest length")? <= 1.0
    {
        return wrong(
            &field("length_ratio"),
            format!("a limit of {ratio} is not above the rest length: the body would tear at once"),
            "give a ratio above 1, e.g. 1.3",
        );
    }
    if let Some(length) = tear.length {
        positive(&field("length"), length, "m")?;
        let judged = topology.springs.iter().filter(|s| s.family != SpringFamily::Bend);
        let longest = judged.map(|s| s.rest_length).fold(0.0, f64::max);
        if length <= longest {
            return wrong(
                &field("length"),
                format!(
                    "a limit of {length} m is not above the rest length of every spring (the longest has {longest:.4} m)"
                ),
                format!("give more than {longest:.4} m, or use `length_ratio`"),
            );
        }
    }
    if let Some(force) = tear.force {
        positive(&field("force"), force, "N")?;
    }
    if (limits.length_ratio, limits.length, limits.force) == (None, None, None) {
        match fabric {
            Some(f) => limits.length_ratio = Some(f.tear_ratio),
            None => {
                return wrong(
                    &format!("{at}.tear"),
                    "no limit is given",
                    "give `length_ratio`, `length`, `force`, or a `fabric`",
                );
            }
        }
    }
    Ok(Some(limits))
}

fn limit_range(at: &str, limit: &LengthLimit) -> Checked<(f64, f64)> {
    let max = limit.max.unwrap_or(f64::INFINITY);
    if max.is_nan() || max < 1.0 {
        return wrong(
            &format!("{at}.max"),
            format!("the longest length must be at least the rest length, not {max} of it"),
            "1.1 is usual",
        );
    }
    let min = limit.min.unwrap_or(0.0);
    if !(0.0..=1.0).contains(&min) {
        return wrong(
            &format!("{at}.min"),
            format!("the shortest length must be from 0 to 1 times the rest length, not {min}"),
            "0.9 is usual",
        );
    }
    Ok((max, min))
}

/// The particles that have to be held so that these stand: themselves, or those that they follow. Moved as one, these lead them exactly, so that
/// the equation H u = c of embedded points (FAU-18) has its solution without a pseudo-inverse.
fn hold(topology: &Topology, vertices: Vec<u32>) -> Vec<u32> {
    let mut held: Vec<u32> =
        vertices.iter().flat_map(|v| topology.mapping.parents(*v).map(|(parent, _)| parent)).collect();
    held.sort_unstable();
    held.dedup();
    held
}

fn build_pins(at: &str, body: &Body, particles: &Particles, topology: &Topology) -> Checked<Vec<PinModel>> {
    let mut pins: Vec<PinModel> = Vec::new();
    for (p, pin) in body.pins.iter().enumerate() {
        let field = format!("{at}.pin[{p}]");
        let vertices = select(&format!("{field}.select"), &pin.select, particles)?;
        if let Some(motion) = &pin.motion {
            check_motion(&format!("{field}.motion"), motion)?;
        }
        let middle = particles.middle(&vertices);
        let vertices = hold(topology, vertices);
        let pivot = pin.motion.as_ref().and_then(|m| m.pivot).map_or(middle, DVec3::from);
        let until = match pin.until {
            Some(until) => not_negative(&format!("{field}.until"), until, "s")?,
            None => f64::INFINITY,
        };
        pins.push(PinModel {
            name: pin.name.clone(),
            vertices,
            motion: pin.motion.clone(),
            carrier: PinCarrier::Script,
            pivot,
            until,
        });
    }
    Ok(pins)
}
