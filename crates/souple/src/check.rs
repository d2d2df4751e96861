//! Lints of a scene that can run but may not do what its author means: scale, step size, supports off the mesh, meshes that
//! had to be repaired, colliders that jump.

use glam::DVec3;

use crate::control::{Control, scripted_pose};
use crate::energy::{Configuration, Energy};
use crate::mesh::tetrahedron::inside_out;
use crate::mesh::{ColliderMesh, MeshRepairs, bounds, mesh_edges, winding_number};
use crate::model::{BodyModel, Carrier, ColliderModel, Model, PinCarrier, PinModel};
use crate::motion::{Jump, jump};
use crate::paper::Repair;
use crate::parallel::Parallel;
use crate::scene::{InlineMesh, Scene, Select, Shape};
use crate::skin::{CharacterModel, OpenSkin, Posed, RigRepairs};
use crate::solver::solver_name;
use crate::solver::stability::{StiffestMode, longest_step, stiffest_mode, stiffest_mode_of};

/// Share by which a border of paper may be longer or wider than its pattern without a word.
const FAR_OFF: f64 = 0.125;

/// Frames that are looked at for a collider that jumps.
const MAX_FRAMES: u32 = 100_000;

/// Most frames that are looked at for jumps of what a character carries: its skin is made for each.
const CARRIED_FRAMES: u32 = 600;

/// Something worth a look.
#[derive(Clone, Debug, PartialEq)]
pub struct Lint {
    /// Path of the field, as in [`crate::SceneError`].
    pub field: String,
    /// What is odd.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

/// How long the steps of a body may be with the solver of its group.
#[derive(Clone, Debug, PartialEq)]
pub struct StepForecast {
    /// Body.
    pub body: String,
    /// Solver.
    pub solver: &'static str,
    /// Step that the scene takes, s.
    pub dt: f64,
    /// Longest stable step, s; infinite if any is.
    pub longest_dt: f64,
    /// The stiffest mode.
    pub mode: StiffestMode,
}

/// Forecasts the longest stable step of every body.
pub fn forecast_steps(model: &Model) -> Vec<StepForecast> {
    let (control, parallel) = (Control::new(model), Parallel::default());
    model
        .bodies
        .iter()
        .map(|body| {
            let group = &model.groups[body.group];
            let inverse = |m: &f64| if *m > 0.0 { 1.0 / m } else { 0.0 };
            let mut inverse_masses: Vec<f64> = body.topology.masses.iter().map(inverse).collect();
            for &v in body.pins.iter().flat_map(|p| &p.vertices) {
                inverse_masses[v as usize] = 0.0;
            }
            let is_solid = |e: &&dyn Energy| matches!(e.name(), "tetrahedra" | "hexahedra");
            let mode = match body.energies.iter().map(|e| &**e).find(is_solid) {
                Some(elements) => {
                    let q = Configuration {
                        x: &body.topology.rest_positions,
                        v: &vec![DVec3::ZERO; body.topology.len()],
                        t: 0.0,
                        body: 0,
                        topology: &body.topology,
                        plastic: &[],
                        control: &control,
                        parallel: &parallel,
                    };
                    stiffest_mode_of(elements, &q, &inverse_masses, body.dissipation)
                }
                None => stiffest_mode(&body.topology, &inverse_masses, body.dissipation),
            };
            let longest_dt = longest_step(group.solver, &mode);
            let dt = model.frame_dt() / f64::from(group.substeps);
            StepForecast { body: body.name.clone(), solver: solver_name(group.solver), dt, longest_dt, mode }
        })
        .collect()
}

/// How many tetrahedra of a mesh had to be turned round.
fn turned_round(mesh: &InlineMesh) -> usize {
    let positions: Vec<DVec3> = mesh.positions.iter().map(|&p| DVec3::from(p)).collect();
    inside_out(&positions, &mesh.tetrahedra)
}

/// Looks for oddities in a scene that compiled to `model`.
pub fn lint(scene: &Scene, model: &Model) -> Vec<Lint> {
    let mut lints = Vec::new();
    let mut say = |field: String, message: String, help: String| lints.push(Lint { field, message, help });
    if model.bodies.is_empty() && model.characters.is_empty() && model.papers.is_empty() {
        say("body".into(), "the scene has no body: nothing will move".into(), "add a `[[body]]`".into());
    }
    for (b, (body, written)) in model.bodies.iter().zip(&scene.bodies).enumerate() {
        let at = format!("body[{b}]");
        let (low, high) = bounds(&body.topology.rest_positions);
        let size = (high - low).max_element();
        // Gravity at human scale acts on a body that is not: it will look like a speck or a planet.
        if model.gravity.length() > 1.0 && !(5e-3..=500.0).contains(&size) {
            say(
                format!("{at}.placement.scale"),
                format!(
                    "'{}' is {size:.3e} m in size under a gravity of {:.2} m/s²",
                    body.name,
                    model.gravity.length()
                ),
                "lengths are in metres: is the mesh in millimetres or centimetres? Set `placement.scale`"
                    .into(),
            );
        }
        let lint = crate::mesh::TriMesh {
            // Corners of cells may lie on vertices of the surface that follows them.
            positions: body.topology.rest_positions[..body.topology.visible()].to_vec(),
            triangles: body.topology.triangles.clone(),
            uvs: Vec::new(),
        }
        .lint();
        if lint.degenerate_triangles > 0 {
            say(
                format!("{at}.shape"),
                format!("{} triangles have zero area", lint.degenerate_triangles),
                "they carry no mass and feel no wind; clean the mesh".into(),
            );
        }
        if lint.duplicate_triangles > 0 {
            say(
                format!("{at}.shape"),
                format!("{} triangles have the same vertices as another", lint.duplicate_triangles),
                "their mass counts twice, and nothing bends across them; clean the mesh".into(),
            );
        }
        if lint.non_manifold_edges > 0 {
            say(
                format!("{at}.shape"),
                format!("{} edges belong to more than two triangles", lint.non_manifold_edges),
                "tearing and normals are unreliable there".into(),
            );
        }
        if lint.turned_edges > 0 {
            say(
                format!("{at}.shape"),
                format!(
                    "the triangles at {} edges face opposite sides: one shows its back where the other shows its front",
                    lint.turned_edges
                ),
                "wind and light are wrong there; make its normals consistent where the mesh was made".into(),
            );
        }
        if lint.duplicate_vertices > 0 && !body.topology.triangles.is_empty() {
            say(
                format!("{at}.shape"),
                format!("{} vertices lie exactly on another: seams will come apart", lint.duplicate_vertices),
                "set `weld = true` for the mesh file".into(),
            );
        }
        if let Shape::Mesh(mesh) = &written.shape
            && let turned @ 1.. = turned_round(mesh)
        {
            say(
                format!("{at}.shape"),
                format!(
                    "{turned} of {} tetrahedra are inside out and were turned round",
                    mesh.tetrahedra.len()
                ),
                "that is right unless the mesh overlaps itself; some programs write corners in another order"
                    .into(),
            );
        }
        let edges = mesh_edges(&body.topology.triangles, &body.topology.segments);
        let longest_edge = edges
            .iter()
            .map(|&(i, j)| {
                body.topology.rest_positions[i as usize].distance(body.topology.rest_positions[j as usize])
            })
            .fold(0.0, f64::max);
        for (p, pin) in written.pins.iter().enumerate() {
            if let Select::Near(point) = &pin.select {
                let point = DVec3::from(*point);
                let chosen = body.pins[p].vertices.first().map(|&v| body.topology.rest_positions[v as usize]);
                if let Some(d) = chosen.map(|c| c.distance(point)).filter(|&d| d > longest_edge) {
                    say(
                        format!("{at}.pin[{p}].select.near"),
                        format!("pin '{}' is not on the mesh: the nearest vertex is {d:.3} m away", pin.name),
                        format!("the body reaches from {low} to {high}"),
                    );
                }
            }
        }
        let mut pinned: Vec<(u32, usize)> = Vec::new();
        for (p, pin) in body.pins.iter().enumerate() {
            pinned.extend(pin.vertices.iter().map(|&v| (v, p)));
        }
        pinned.sort_unstable();
        let twice: Vec<_> = pinned.windows(2).filter(|w| w[0].0 == w[1].0).collect();
        if let Some(&&[(v, first), (_, second)]) = twice.first() {
            let name = |p: usize| &body.pins[p].name;
            say(
                format!("{at}.pin[{second}].select"),
                format!(
                    "vertex {v} belongs to two pins; the first one, '{}', moves it, and '{}' does not",
                    name(first),
                    name(second)
                ),
                format!("select each vertex once; {} are selected more often", twice.len()),
            );
        }
        pinned.dedup_by_key(|p| p.0);
        if pinned.len() == body.topology.len() {
            say(
                format!("{at}.pin"),
                format!("every vertex of '{}' is supported: nothing of it moves by itself", body.name),
                "leave some of them free, or use a collider".into(),
            );
        }
        if !body.topology.triangles.is_empty()
            && written.air.is_none()
            && scene.wind.is_some_and(|w| w.velocity != [0.0; 3] || w.gusts.is_some() || w.sinus.is_some())
        {
            say(
                format!("{at}.air"),
                format!("there is wind, but '{}' does not feel it", body.name),
                "add `air = {}` to the body".into(),
            );
        }
        if written.air.is_some() && body.topology.triangles.is_empty() {
            say(
                format!("{at}.air"),
                format!("'{}' is a rope: air acts on triangles only", body.name),
                "leave `air` out, or use a narrow grid".into(),
            );
        }
        for (p, pin) in written.pins.iter().enumerate() {
            if written.pins[..p].iter().any(|other| other.name == pin.name) {
                say(
                    format!("{at}.pin[{p}].name"),
                    format!(
                        "two pins are called '{}': a control stream can only move them together",
                        pin.name
                    ),
                    "give each pin a name of its own".into(),
                );
            }
        }
        if body.skin == 0.0 && !model.colliders.is_empty() {
            say(
                format!("{at}.skin"),
                "a skin of 0 lets triangles dip into round colliders".into(),
                "a few millimetres are usual".into(),
            );
        }
    }
    lint_untouched(model, &mut say);
    lint_papers(model, &mut say);
    lint_characters(model, &mut say);
    for (c, collider) in model.colliders.iter().enumerate() {
        let at = format!("collider[{c}]");
        if let Some(mesh) = collider.form.mesh() {
            lint_mesh(&at, collider, mesh, model.gravity.length(), &mut say);
            if mesh.closed && collider.solid.is_none() {
                for body in model.bodies.iter().filter(|body| begins_inside(body, collider, mesh)) {
                    say(
                        format!("{at}.solid"),
                        format!("'{}' begins inside '{}', and will stay there", body.name, collider.name),
                        "set `solid = true` to have it led out, or `solid = false` if that is meant".into(),
                    );
                }
            }
        }
        if let Some(only) = &collider.only {
            if only.is_empty() {
                say(
                    format!("{at}.only"),
                    format!("'{}' names no body, so that it touches nothing", collider.name),
                    "name a body, or leave `only` out".into(),
                );
            }
            for (k, list) in only.iter().enumerate().filter(|(_, list)| !model.touches_collider(list.body, c))
            {
                let body = &model.bodies[list.body].name;
                say(
                    format!("{at}.only[{k}].body"),
                    format!("'{body}' is to be held against '{}', but does not touch it", collider.name),
                    "leave it out, or change `layer`, `touches` or `pair`".into(),
                );
            }
        }
        if let Some((frame, Jump { distance, size })) = first_jump(collider, model) {
            say(
                jump_field(&at, collider, f64::from(frame) * model.frame_dt()),
                format!(
                    "'{}' moves by {distance:.3} m in frame {frame}, more than its size of {size:.3} m",
                    collider.name
                ),
                match collider.carrier {
                    Carrier::Script => format!(
                        "what it meets is hit at {:.1} m/s; give its keys more time, or move it more slowly",
                        distance * model.fps
                    ),
                    _ => "by the `motion` of its character it is there at once, with what hangs on it; by a clip it hits what it \
                          meets: play that more slowly"
                        .into(),
                },
            );
        }
    }
    for (g, group) in model.groups.iter().enumerate().filter(|(_, group)| group.is_timed()) {
        say(
            format!("group[{g}].cg.max_ms"),
            format!("group '{}' stops its solves by the clock: no two runs are the same", group.name),
            "for results that can be repeated give `max_iterations` instead".into(),
        );
    }
    for (b, f) in forecast_steps(model).iter().enumerate() {
        if f.dt > f.longest_dt {
            say(
                scene.bodies.get(b).and_then(|w| w.group.as_ref()).map_or("group[0].dt".into(), |name| {
                    let g = model.groups.iter().position(|g| g.name == *name).unwrap_or(0);
                    format!("group[{g}].dt")
                }),
                format!(
                    "{} needs dt < {:.1e} s for '{}', and takes {:.1e} s: it will diverge",
                    f.solver, f.longest_dt, f.body, f.dt
                ),
                format!(
                    "set `dt = {:.1e}`, soften the springs or the material, or use `implicit_euler_cg`",
                    0.9 * f.longest_dt
                ),
            );
        }
    }
    lints
}

/// Bodies that will go through each other because not both have `contact`.
fn lint_untouched(model: &Model, say: &mut impl FnMut(String, String, String)) {
    let hulls: Vec<(DVec3, DVec3)> =
        model.bodies.iter().map(|b| bounds(&b.topology.rest_positions)).collect();
    let down = model.gravity.normalize_or_zero();
    let overlap = |a: usize, b: usize| {
        let (low, high) = (hulls[a].0.max(hulls[b].0), hulls[a].1.min(hulls[b].1));
        // A free body falls, so that all that is below it is in its way, if gravity is along an axis.
        let middle = |i: usize| 0.5 * (hulls[i].0 + hulls[i].1).dot(down);
        let falls = model.bodies[if middle(a) < middle(b) { a } else { b }].pins.is_empty();
        (0..3).all(|k| low[k] < high[k] || (falls && down[k].abs() > 0.99))
    };
    let linked = |a: usize, b: usize| model.links.iter().any(|l| [[a, b], [b, a]].contains(&l.bodies));
    for a in 0..model.bodies.len() {
        let lacks = |i: usize| model.bodies[i].contact.is_none();
        let met: Vec<usize> = (0..model.bodies.len())
            .filter(|&b| b != a && lacks(a) && (b > a || !lacks(b)) && !linked(a, b) && overlap(a, b))
            .collect();
        if let Some(&b) = met.first() {
            let both = if lacks(b) { "both" } else { "it" };
            let more = if met.len() > 1 { format!(", and {} more", met.len() - 1) } else { String::new() };
            say(
                format!("body[{a}].contact"),
                format!(
                    "'{}' has no `contact`: it will go through '{}'{more}",
                    model.bodies[a].name, model.bodies[b].name
                ),
                format!("add `contact = {{}}` to {both}, or move them apart if they are not to touch"),
            );
        }
    }
}

/// Whether a body is inside a closed mesh when everything begins, as its first, middle and last vertices are.
fn begins_inside(body: &BodyModel, collider: &ColliderModel, mesh: &ColliderMesh) -> bool {
    let rest = &body.topology.rest_positions;
    let is_inside = |v: usize| {
        let x = collider.pose.apply_inverse(rest[v]);
        let (low, high) = mesh.bounds;
        let in_box = x.cmpgt(low).all() && x.cmplt(high).all();
        let corners = mesh.triangles.iter().map(|t| t.map(|v| mesh.positions[v as usize]));
        in_box && winding_number(x, corners) > 0.5
    };
    !rest.is_empty() && [0, rest.len() / 2, rest.len() - 1].into_iter().all(is_inside)
}

/// Tells what was done to the mesh of a collider so that it could be used, and what is odd about it.
fn lint_mesh(
    at: &str,
    collider: &ColliderModel,
    mesh: &ColliderMesh,
    gravity: f64,
    say: &mut dyn FnMut(String, String, String),
) {
    let name = &collider.name;
    let is_skin = matches!(collider.carrier, Carrier::Skin { .. });
    let (low, high) = mesh.bounds;
    let size = (high - low).max_element();
    if gravity > 1.0 && !(5e-3..=500.0).contains(&size) {
        say(
            format!("{at}.scale"),
            format!("'{name}' is {size:.3e} m in size under a gravity of {gravity:.2} m/s²"),
            "lengths are in metres: is the mesh in millimetres or centimetres? Set `scale`".into(),
        );
    }
    let MeshRepairs {
        merged_vertices,
        unused_vertices,
        flat_triangles,
        doubled_triangles,
        turned_triangles,
        turned_parts,
        non_manifold_edges,
        clashing_edges,
    } = mesh.repairs;
    let both_sides = "it has no inside, so that it is touched from both sides; repair the mesh to close it";
    let found = [
        (
            // Every file of a character has them: textures and normals change there.
            if is_skin { 0 } else { merged_vertices },
            "vertices lie exactly on another; they were merged",
            "weld the mesh where it was made",
        ),
        (unused_vertices, "vertices belong to no triangle; they were left out", "clean the mesh"),
        (flat_triangles, "triangles have no area; they were left out", "clean the mesh"),
        (
            doubled_triangles,
            "triangles have the same vertices as another; they were left out",
            "clean the mesh",
        ),
        (
            turned_triangles,
            "triangles faced another way than their neighbours; they were turned round",
            "make its normals consistent where the mesh was made",
        ),
        (
            turned_parts,
            "closed parts were inside out; they were turned round",
            "flip its normals where the mesh was made",
        ),
        (non_manifold_edges, "edges belong to more than two triangles", both_sides),
        (clashing_edges, "edges have triangles that cannot face the same way", both_sides),
    ];
    for (count, what, help) in found.into_iter().filter(|(count, ..)| *count > 0) {
        say(format!("{at}.shape"), format!("of '{name}', {count} {what}"), help.into());
    }
}

/// The first frame in which the script of a collider, or what carries it, moves it by more than its own size.
fn first_jump(collider: &ColliderModel, model: &Model) -> Option<(u32, Jump)> {
    if collider.carrier != Carrier::Script {
        return first_carried_jump(collider, model);
    }
    let (bounds, motion) = (collider.form.bounds()?, collider.motion.as_ref()?);
    // Past its last key it goes on evenly, or begins again: one round more shows the jump back.
    let (first, last) = (motion.keys.first().map_or(0.0, |k| k.t), motion.keys.last().map_or(0.0, |k| k.t));
    let end = if motion.repeat { 2.0 * last - first } else { last };
    let frames = (end * model.fps).ceil().clamp(0.0, f64::from(MAX_FRAMES)) as u32 + 1;
    let at = |time: f64| scripted_pose(collider, &Posed { time, ..Posed::default() });
    let mut before = at(0.0);
    (1..=frames.min(model.frames.max(1))).find_map(|frame| {
        let after = at(f64::from(frame) * model.frame_dt());
        let found = jump(bounds, &before, &after);
        before = after;
        found.map(|found| (frame, found))
    })
}

/// The first frame in which a character moves a collider by more than its own size.
fn first_carried_jump(collider: &ColliderModel, model: &Model) -> Option<(u32, Jump)> {
    let corners: Vec<DVec3> = match collider.form.mesh() {
        Some(mesh) => mesh.positions.clone(),
        None => {
            let (low, high) = collider.form.bounds()?;
            let pick = |k: u32, axis: usize| if k >> axis & 1 == 0 { low[axis] } else { high[axis] };
            (0..8).map(|k| DVec3::new(pick(k, 0), pick(k, 1), pick(k, 2))).collect()
        }
    };
    let mut posed = Posed::default();
    let mut at = |frame: u32| -> Vec<DVec3> {
        posed.set(&model.characters, f64::from(frame) * model.frame_dt());
        let (pose, mut skin) = (scripted_pose(collider, &posed), Vec::new());
        collider.skin_places(&model.characters, &posed, &mut skin);
        let local = if skin.is_empty() { &corners } else { &skin };
        local.iter().map(|x| pose.apply(*x)).collect()
    };
    let mut before = at(0);
    (1..=model.frames.min(CARRIED_FRAMES)).find_map(|frame| {
        let after = at(frame);
        let (low, high) = bounds(&before);
        let size = (high - low).length();
        let distance = before.iter().zip(&after).fold(0.0, |way: f64, (a, b)| way.max(a.distance(*b)));
        before = after;
        (distance > size).then_some((frame, Jump { distance, size }))
    })
}

/// What was done to the rig of a character so that it could be used, and what its skin cannot keep.
pub fn lint_rig(c: usize, character: &CharacterModel) -> Vec<Lint> {
    let name = &character.name;
    let mut found = Vec::new();
    let mut say = |field: &str, message: String, help: &str| {
        found.push(Lint { field: format!("character[{c}].{field}"), message, help: help.to_owned() });
    };
    let RigRepairs { normalised_vertices, unweighted_vertices, found_vertices, null_rotations, flat_nodes } =
        character.rig.repairs;
    let repairs = [
        (normalised_vertices, "vertices had weights that do not sum to 1, and were divided by their sum"),
        (unweighted_vertices, "vertices have no weight, and follow the first bone of their skin"),
        (found_vertices, "vertices are of meshes without any weight: theirs were found from mesh and bones"),
        (null_rotations, "nodes have a rotation of length 0, and are not turned"),
        (flat_nodes, "nodes are scaled to nothing, and so is what hangs on them"),
    ];
    for (count, what) in repairs.into_iter().filter(|(count, _)| *count > 0) {
        let help = if what.contains("no weight") {
            "write `weights = {}`, which finds them"
        } else if what.contains("were found") {
            "write `weights = {}` to say that this is meant, or paint weights where the file was made"
        } else {
            "if that is not meant, repair it where the file was made"
        };
        say("rig", format!("of '{name}', {count} {what}"), help);
    }
    let Some(volume) = &character.volume else { return found };
    let OpenSkin { borders, left_alone, left_volume } = volume.open;
    if borders > 0 {
        let what = if borders == 1 { "1 border".to_owned() } else { format!("{borders} borders") };
        say(
            "volume",
            format!(
                "the skin of '{name}' is open at {what}: its volume is that up to lids, fans from the mean of each"
            ),
            "close the surface where the file was made, if that is not meant",
        );
    }
    if left_alone > 0 {
        let vertices: usize = character.rig.meshes.iter().map(|mesh| mesh.mesh.positions.len()).sum();
        let litres = 1e3 * character.scale * character.scale * character.scale * left_volume;
        say(
            "volume",
            format!(
                "{left_alone} of {vertices} vertices of '{name}' are of pieces that are open by more than half of their area: they have no volume to keep; \
                 closed by fans they would hold about {litres:.3} litres"
            ),
            "close the surface where the file was made, or write `volume = { close_open = true }` to keep that volume",
        );
    }
    found
}

/// Characters of another size are likely in other units, m.
const LIKELY_SIZES: std::ops::RangeInclusive<f64> = 0.01..=20.0;

/// A character that is so large or so small that its file is likely not in metres: then all that is simulated on it is too slow or too fast.
pub fn lint_size(c: usize, character: &CharacterModel) -> Option<Lint> {
    let (low, high) = character.rig.rest_bounds;
    let size = character.scale * (high - low).max_element();
    let is_odd = size.is_finite() && size > 0.0 && !LIKELY_SIZES.contains(&size);
    is_odd.then(|| Lint {
        field: format!("character[{c}].scale"),
        message: format!("'{}' is {size:.3} m large", character.name),
        help: "if its file is in centimetres write `scale = 0.01`, if it is in millimetres `scale = 0.001`"
            .into(),
    })
}

/// Tells of borders of paper that no sheet can have, if they are far off: a little is mended every day.
fn lint_papers(model: &Model, say: &mut impl FnMut(String, String, String)) {
    for (p, paper) in model.papers.iter().enumerate() {
        let Repair { before, moved, .. } = paper.start.sheet.repair;
        let longer = before.whole_length;
        let off = match (longer.abs() > FAR_OFF, before.chord > FAR_OFF) {
            (true, _) if longer > 0.0 => {
                format!("{:.1} % longer than the outline of its pattern", 100.0 * longer)
            }
            (true, _) => format!("{:.1} % shorter than the outline of its pattern", -100.0 * longer),
            (false, true) => format!("wider than its pattern, by {:.1} % at worst", 100.0 * before.chord),
            (false, false) => continue,
        };
        let (done, help) = match paper.rules.settings.repair {
            true => (
                format!("it was mended, and moved by up to {moved:.3} m"),
                "give a border with the lengths of the pattern, or write `folding = { repair = false }` to keep it",
            ),
            false => (
                "it is kept, and the sheet stretches".to_owned(),
                "give a border with the lengths of the pattern",
            ),
        };
        say(
            format!("paper[{p}].border"),
            format!("the border of '{}' is {off}: {done}", paper.name),
            help.into(),
        );
    }
}

/// Tells what was done to the rigs of characters, and who has no use.
fn lint_characters(model: &Model, say: &mut impl FnMut(String, String, String)) {
    for (c, character) in model.characters.iter().enumerate() {
        let at = format!("character[{c}]");
        let found = lint_rig(c, character).into_iter().chain(lint_size(c, character));
        found.for_each(|lint| say(lint.field, lint.message, lint.help));
        let carries = |carrier: &Carrier| match carrier {
            Carrier::Script => false,
            Carrier::Bone(bone) => bone.character == c,
            Carrier::Skin { character, .. } => *character == c,
        };
        let holds = |pin: &PinModel| match &pin.carrier {
            PinCarrier::Script | PinCarrier::Paper(_) => false,
            PinCarrier::Bone(bone) => bone.character == c,
            PinCarrier::Skin { character, .. } => *character == c,
            // What has such supports is a layer.
            PinCarrier::Layer => false,
        };
        let is_worn = |body: &BodyModel| body.layer.as_ref().is_some_and(|layer| layer.character == c);
        let is_used = model.colliders.iter().any(|collider| carries(&collider.carrier))
            || model.bodies.iter().any(|body| is_worn(body) || body.pins.iter().any(holds));
        if !is_used {
            say(
                at,
                format!("nothing follows '{}', so that it is neither seen nor touched", character.name),
                format!(
                    "add a [[collider]] with `shape = {{ skin = {{ character = \"{}\" }} }}`",
                    character.name
                ),
            );
        }
    }
}

/// The field that moves a collider at that time, s.
fn jump_field(at: &str, collider: &ColliderModel, t: f64) -> String {
    match &collider.carrier {
        Carrier::Script => {}
        Carrier::Bone(_) => return format!("{at}.follow"),
        Carrier::Skin { .. } => return format!("{at}.shape.skin"),
    }
    let keys = collider.motion.as_ref().map_or(&[][..], |motion| &motion.keys);
    match keys.len() {
        0 => format!("{at}.motion"),
        n => format!("{at}.motion.key[{}]", keys.partition_point(|key| key.t < t).min(n - 1)),
    }
}
