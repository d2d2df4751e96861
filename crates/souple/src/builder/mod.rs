//! From scene to model: checks every number, names the field that is wrong, compiles the rest.

mod body;
mod character;
mod dials;
mod elastic;
mod embed;
mod link;
mod look;
mod materials;
mod paper;
mod resolution;
mod rigid;
mod select;
mod shape;
mod solid;
mod tet_mesh;
mod voxels;
mod world;
mod wrinkles;

use glam::DVec3;

use body::build_body;
use character::Characters;
use elastic::{check_goals, show_layers};
use link::build_links;
use look::{check_look, check_view};
use paper::{build_paper, carry_pins_by_paper};
use world::{build_collider, build_pairs, check_distances, check_wind, share};

use crate::energy::HeldLinks;
use crate::error::SceneError;
use crate::model::{self, BodyModel, Carrier, ColliderForm, ColliderModel, GroupModel, Model, PinCarrier};
use crate::scene::{ContactMode, Goals, Group, Motion, SCENE_FORMAT, Scene, SolverKind, Vec3};
use crate::solver::solver_name;
use crate::state::Hasher;

/// Largest coordinate, length or speed that a scene may hold, m or m/s: its square and cube are still finite numbers.
const LARGEST: f64 = 1e12;

/// Largest stiffness, damping or rigidity, and mass of a particle, that a scene may hold, in SI units; the smallest mass is
/// one over it. The real-time solver computes in 32 bits, whose numbers end at 3e38.
const STIFFEST: f64 = 1e30;

/// Longest step of the real-time solver unless the scene says otherwise, s: 12 per frame at 60 frames per second.
const XPBD_DT: f64 = 1.0 / 720.0;

/// Most rounds of a descent in one step: more would be a slip of the pen, and look like a hang.
const MAX_ROUNDS: u32 = 100_000;

type Checked<T> = Result<T, SceneError>;

/// Compiles a scene into a [`Model`].
#[derive(Clone, Copy, Debug)]
pub struct ModelBuilder<'a> {
    scene: &'a Scene,
}

fn wrong<T>(field: &str, problem: impl Into<String>, help: impl Into<String>) -> Checked<T> {
    Err(SceneError::new(field, problem, help))
}

fn finite(field: &str, value: f64) -> Checked<f64> {
    if value.is_finite() {
        Ok(value)
    } else {
        wrong(field, format!("{value} is not a finite number"), "write a plain number")
    }
}

/// A unit in a sentence; nothing for plain numbers, whose unit is "1".
fn of(unit: &str) -> String {
    if unit == "1" { String::new() } else { format!(" of {unit}") }
}

fn positive(field: &str, value: f64, unit: &str) -> Checked<f64> {
    if finite(field, value)? > 0.0 {
        Ok(value)
    } else {
        wrong(
            field,
            format!("it must be greater than 0, but is {value}"),
            format!("give a positive number{}", of(unit)),
        )
    }
}

fn not_negative(field: &str, value: f64, unit: &str) -> Checked<f64> {
    if finite(field, value)? >= 0.0 {
        Ok(value)
    } else {
        wrong(
            field,
            format!("it must not be negative, but is {value}"),
            format!("give 0 or a positive number{}", of(unit)),
        )
    }
}

/// Not negative, and not so large that a number made from it would be infinite.
fn stiffness(field: &str, value: f64, unit: &str) -> Checked<f64> {
    if not_negative(field, value, unit)? <= STIFFEST {
        Ok(value)
    } else {
        wrong(
            field,
            format!("{value:e} {unit} is beyond what can be computed with"),
            format!("{STIFFEST:e} is the most; 1e6 hardly gives way"),
        )
    }
}

fn vector(field: &str, value: Vec3) -> Checked<DVec3> {
    let v = DVec3::from(value);
    if !v.is_finite() {
        return wrong(
            field,
            format!("{value:?} has a part that is not a finite number"),
            "write three plain numbers",
        );
    }
    if v.abs().max_element() > LARGEST {
        return wrong(field, format!("{value:?} is beyond what can be computed with"), "1e12 is the most");
    }
    Ok(v)
}

fn direction(field: &str, value: Vec3) -> Checked<DVec3> {
    match vector(field, value)?.try_normalize() {
        Some(unit) => Ok(unit),
        None => wrong(
            field,
            "a direction of length 0 points nowhere",
            "give any vector that is not zero, e.g. [0, 1, 0]",
        ),
    }
}

impl<'a> ModelBuilder<'a> {
    /// A builder of that scene. Mesh files must have been read into the scene before (`Shape::Mesh`, `ColliderShape::Mesh`).
    pub fn new(scene: &'a Scene) -> Self {
        ModelBuilder { scene }
    }

    /// Checks and compiles the whole scene.
    pub fn build(self) -> Checked<Model> {
        let scene = self.scene;
        if scene.format != SCENE_FORMAT {
            return wrong(
                "format",
                format!("this engine reads scenes of format {SCENE_FORMAT}, not {}", scene.format),
                format!("write `format = {SCENE_FORMAT}`"),
            );
        }
        let gravity = vector("gravity", scene.gravity)?;
        let fps = positive("time.fps", scene.time.fps, "frames per second")?;
        if !(1e-6..=1e9).contains(&fps) {
            return wrong(
                "time.fps",
                format!("{fps:e} frames per second are out of range"),
                "24, 30 or 60 are usual",
            );
        }
        for (field, value) in
            [("health.max_speed", scene.health.max_speed), ("health.max_extent", scene.health.max_extent)]
        {
            if positive(field, value, "m/s or m")? > LARGEST {
                return wrong(
                    field,
                    format!("{value:e} is beyond what can be computed with"),
                    "1e12 is the most",
                );
            }
        }
        unique("body", scene.bodies.iter().map(|b| b.name.as_str()))?;
        unique("paper", scene.papers.iter().map(|p| p.name.as_str()))?;
        unique("character", scene.characters.iter().map(|c| c.name.as_str()))?;
        unique("collider", scene.colliders.iter().map(|c| c.name.as_str()))?;
        unique("group", scene.groups.iter().map(|g| g.name.as_str()))?;
        let groups = self.groups(fps)?;
        let wind = check_wind(&scene.wind.unwrap_or_default())?;
        check_view(&scene.view)?;
        let characters = Characters::build(&scene.characters)?;
        let mut bodies = Vec::new();
        for (b, body) in scene.bodies.iter().enumerate() {
            check_look(&format!("body[{b}]"), body.look.as_ref())?;
            let built = build_body(&format!("body[{b}]"), body, &groups, gravity, &wind, fps, &characters)?;
            check_descent(&format!("body[{b}]"), &built, &groups)?;
            check_goals(&format!("body[{b}]"), &built, &groups)?;
            bodies.push(built);
        }
        characters.carry_pins(&scene.bodies, &mut bodies)?;
        let mut colliders = Vec::new();
        for (c, collider) in scene.colliders.iter().enumerate() {
            check_look(&format!("collider[{c}]"), collider.look.as_ref())?;
            colliders.push(build_collider(
                &format!("collider[{c}]"),
                collider,
                &scene.bodies,
                &bodies,
                &characters,
            )?);
        }
        show_layers(&mut bodies, &colliders);
        let mut papers = Vec::new();
        for (p, paper) in scene.papers.iter().enumerate() {
            check_look(&format!("paper[{p}]"), paper.look.as_ref())?;
            papers.push(build_paper(&format!("paper[{p}]"), paper, &mut bodies)?);
        }
        carry_pins_by_paper(scene, &papers, &mut bodies)?;
        let mut model = Model {
            name: scene.name.clone(),
            gravity,
            fps,
            frames: scene.time.frames,
            health: scene.health,
            wind,
            groups,
            bodies,
            papers,
            characters: characters.models,
            colliders,
            pairs: Vec::new(),
            links: Vec::new(),
            fingerprint: 0,
        };
        model.pairs = build_pairs(&scene.pairs, &model)?;
        check_distances(&model)?;
        build_links(&scene.links, &mut model)?;
        for b in 0..model.bodies.len() {
            if model.links.iter().any(|link| !link.is_strong && link.bodies.contains(&b)) {
                model.bodies[b].energies.push(Box::new(HeldLinks));
            }
        }
        model.fingerprint = fingerprint(&model);
        Ok(model)
    }

    fn groups(&self, fps: f64) -> Checked<Vec<GroupModel>> {
        let default = [Group::default()];
        let groups = if self.scene.groups.is_empty() { &default[..] } else { &self.scene.groups };
        let compile = |(g, group): (usize, &Group)| {
            let field = |name: &str| format!("group[{g}].{name}");
            let longest = match (group.dt, group.solver) {
                (Some(dt), _) => positive(&field("dt"), dt, "seconds")?,
                (None, SolverKind::Xpbd) => XPBD_DT,
                (None, _) => f64::INFINITY,
            };
            let substeps = (1.0 / (fps * longest) - 1e-9).ceil().max(1.0);
            if substeps > 1e6 {
                return wrong(
                    &field("dt"),
                    format!("a frame of {:.4} s would take {substeps:.0} steps", 1.0 / fps),
                    "give a dt of at least a millionth of a frame",
                );
            }
            let tolerance = positive(&field("cg.tolerance"), group.cg.tolerance, "relative residual")?;
            if tolerance >= 1.0 {
                return wrong(
                    &field("cg.tolerance"),
                    "a tolerance of 1 or more solves nothing",
                    "1e-3 is usual",
                );
            }
            if group.cg.max_iterations == 0 {
                return wrong(&field("cg.max_iterations"), "it must be at least 1", "200 is usual");
            }
            if let Some(ms) = group.cg.max_ms {
                positive(&field("cg.max_ms"), ms, "ms")?;
            }
            for (name, count) in
                [("sweeps", Some(group.cg.multigrid.sweeps)), ("levels", group.cg.multigrid.levels)]
            {
                if count.is_some_and(|n| !(1..=100).contains(&n)) {
                    return wrong(
                        &field(&format!("cg.multigrid.{name}")),
                        "it must be from 1 to 100",
                        "1 sweep is usual; without `levels` there are as many as are of use",
                    );
                }
            }
            if let Some(sleep) = &group.sleep {
                positive(&field("sleep.speed"), sleep.speed, "m/s")?;
                positive(&field("sleep.after"), sleep.after, "s")?;
            }
            if !(1..=MAX_ROUNDS).contains(&group.descent.iterations) {
                return wrong(
                    &field("descent.iterations"),
                    format!("it must be from 1 to {MAX_ROUNDS}, but is {}", group.descent.iterations),
                    "10 is usual",
                );
            }
            if group.contact_budget == Some(0) {
                return wrong(
                    &field("contact_budget"),
                    "with no distance nothing is found",
                    "give at least 1, or leave it out to find all contacts",
                );
            }
            Ok(GroupModel {
                name: group.name.clone(),
                solver: group.solver,
                substeps: substeps as u32,
                cg: group.cg,
                xpbd: group.xpbd,
                sleep: group.sleep,
                descent: group.descent,
                goals: Goals {
                    attenuation: share(&field("goals.attenuation"), group.goals.attenuation)?,
                    ..group.goals
                },
                contact_mode: group.contact_mode,
                contact_budget: group.contact_budget,
            })
        };
        groups.iter().enumerate().map(compile).collect()
    }
}

/// The solvers that go down a function know springs and bending alone.
fn check_descent(at: &str, body: &BodyModel, groups: &[GroupModel]) -> Checked<()> {
    let solver = groups[body.group].solver;
    if !matches!(solver, SolverKind::ProjectiveDynamics | SolverKind::VertexBlockDescent) {
        return Ok(());
    }
    let unknown = [("area_stiffness", body.area_stiffness > 0.0), ("inside", body.inside.is_some())];
    match unknown.iter().find(|(_, given)| *given) {
        Some((field, _)) => wrong(
            &format!("{at}.{field}"),
            format!("the solver `{}` does not know it", solver_name(solver)),
            "take another solver for its group, for example `xpbd` or `implicit_euler_cg`",
        ),
        None => Ok(()),
    }
}

fn unique<'n>(kind: &str, names: impl Iterator<Item = &'n str>) -> Checked<()> {
    let mut seen: Vec<&str> = Vec::new();
    for (i, name) in names.enumerate() {
        let field = format!("{kind}[{i}].name");
        if name.is_empty() {
            return wrong(&field, format!("a {kind} needs a name"), format!("write `name = \"{kind}{i}\"`"));
        }
        if let Some(first) = seen.iter().position(|s| *s == name) {
            return wrong(
                &field,
                format!("there are two of kind {kind} with the name '{name}': number {first} and number {i}"),
                format!("rename one of them, e.g. '{name}-{i}'"),
            );
        }
        seen.push(name);
    }
    Ok(())
}

/// A collider as its debug form was before there were meshes, so that older snapshots still fit; without its mesh.
struct Written<'a>(&'a ColliderModel);

impl std::fmt::Debug for Written<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let ColliderModel { name, form, pose, motion, pivot, material, .. } = self.0;
        let shape: &dyn std::fmt::Debug = match form {
            ColliderForm::Primitive(primitive) => primitive,
            ColliderForm::Mesh(_) => &"mesh",
        };
        (f.debug_struct("ColliderModel").field("name", name).field("shape", shape).field("pose", pose))
            .field("motion", motion)
            .field("pivot", pivot)
            .field("material", material)
            .finish()
    }
}

/// Hash of what decides how the model moves.
fn fingerprint(model: &Model) -> u64 {
    let mut hash = Hasher::default();
    hash.vectors(&[model.gravity]);
    hash.number(model.fps);
    // Plain data is hashed through its debug form, which names every field and every digit.
    let colliders: Vec<Written> = model.colliders.iter().map(Written).collect();
    hash.text(&format!("{:?}{:?}{colliders:?}", model.wind, model.health));
    for mesh in model.colliders.iter().filter_map(|collider| collider.form.mesh()) {
        hash.vectors(&mesh.positions);
        hash.triangles(&mesh.triangles);
        hash.word(u64::from(mesh.closed));
    }
    for ColliderModel { layer, touches, solid, .. } in &model.colliders {
        if layer.is_some() || touches.is_some() {
            hash.text(&format!("{layer:?}{touches:?}"));
        }
        if *solid == Some(true) {
            hash.text("solid");
        }
    }
    for (c, collider) in model.colliders.iter().enumerate() {
        if let Some(only) = &collider.only {
            hash.text(&format!("{c} only {only:?}"));
        }
    }
    for wrinkles in model.colliders.iter().filter_map(|collider| collider.wrinkles.as_ref()) {
        hash.text(&format!("{:?}", wrinkles.settings));
    }
    for character in &model.characters {
        character.hash(&mut hash);
    }
    for (c, collider) in model.colliders.iter().enumerate().filter(|(_, c)| c.carrier != Carrier::Script) {
        hash.text(&format!("{c} carried {:?}", collider.carrier));
    }
    if !model.links.is_empty() {
        hash.text(&format!("{:?}", model.links));
    }
    for group in &model.groups {
        hash.text(solver_name(group.solver));
        hash.word(u64::from(group.substeps));
        // Scenes without a budget keep the fingerprint that they had.
        hash.text(&format!("{:?}", group.cg).replace(" max_ms: None,", ""));
        if group.solver == SolverKind::Xpbd {
            hash.text(&format!("{:?}", group.xpbd));
        }
        if group.contact_mode != ContactMode::Fast {
            hash.text(&format!("{:?}", group.contact_mode));
        }
        if let Some(budget) = group.contact_budget {
            hash.text(&format!("contact_budget {budget}"));
        }
        if let Some(sleep) = group.sleep {
            hash.text(&format!("{sleep:?}"));
        }
        if matches!(group.solver, SolverKind::ProjectiveDynamics | SolverKind::VertexBlockDescent) {
            hash.text(&format!("{:?}", group.descent));
        }
        if group.solver == SolverKind::Goals {
            hash.text(&format!("{:?}", group.goals));
        }
    }
    for body in &model.bodies {
        hash.word(body.group as u64);
        hash.vectors(&body.topology.rest_positions);
        hash.vectors(&[body.velocity]);
        for m in &body.topology.masses {
            hash.number(*m);
        }
        for s in &body.topology.springs {
            hash.word(u64::from(s.i) << 32 | u64::from(s.j));
            hash.number(s.rest_length);
            hash.number(s.stiffness);
            hash.number(s.damping);
            hash.word(u64::from(s.family as u8) << 8 | u64::from(s.hops));
        }
        if body.topology.bending > 0.0 {
            hash.number(body.topology.bending);
        }
        hash.triangles(&body.topology.triangles);
        hash.text(&format!(
            "{:?}{:?}{:?}{:?}{:?}",
            body.energies,
            body.limits,
            body.tear,
            body.skin,
            pins_as_ever(&body.pins)
        ));
        for pin in body.pins.iter().filter(|p| p.until.is_finite()) {
            hash.number(pin.until);
        }
        for pin in body.pins.iter().filter(|p| p.carrier != PinCarrier::Script) {
            hash.text(&format!("{:?}", pin.carrier));
        }
        if let Some(wrinkles) = &body.wrinkles {
            hash.text(&format!("{:?}", wrinkles.settings));
        }
        if let Some(refining) = &body.refining {
            hash.text(&format!("{:?}{:?}", refining.all, refining.rules));
        }
        if let Some(contact) = &body.contact {
            hash.text(&format!("{contact:?}"));
        }
        if let Some(layer) = &body.layer {
            hash.text(&format!("{layer:?}"));
        }
    }
    if !model.pairs.is_empty() {
        hash.text(&format!("{:?}", model.pairs));
    }
    model.papers.iter().for_each(|paper| paper.hash(&mut hash));
    hash.finish()
}

/// Pins in the debug form they had before they could be let go, so that snapshots made then still fit.
fn pins_as_ever(pins: &[model::PinModel]) -> impl std::fmt::Debug {
    #[derive(Debug)]
    #[expect(dead_code, reason = "its fields are read by its debug form")]
    struct PinModel<'a> {
        name: &'a str,
        vertices: &'a [u32],
        motion: &'a Option<Motion>,
        pivot: DVec3,
    }
    let as_ever = pins.iter().map(|model::PinModel { name, vertices, motion, pivot, .. }| PinModel {
        name,
        vertices,
        motion,
        pivot: *pivot,
    });
    as_ever.collect::<Vec<_>>()
}
