//! Checks and compiles colliders, what they are held against (SIM-32), scripted motion and wind.

use std::sync::Arc;

use glam::DVec3;

use super::character::{Characters, check_carried};
use super::select::{Particles, select};
use super::tet_mesh::place_mesh;
use super::wrinkles::build_skin_wrinkles;
use super::{Checked, LARGEST, direction, finite, not_negative, positive, vector, wrong};
use crate::contact::primitives::Primitive;
use crate::contact::response::ContactMaterial;
use crate::contact::rules::{PairModel, Thing};
use crate::math::{Pose, rotation};
use crate::mesh::{ColliderMesh, ColliderMeshError};
use crate::model::{AssignedModel, BodyModel, Carrier, ColliderForm, ColliderModel, Model};
use crate::scene::{Body, Collider, ColliderShape, InlineMesh, Motion, Pair, Wind};

pub(super) fn check_wind(wind: &Wind) -> Checked<Wind> {
    vector("wind.velocity", wind.velocity)?;
    not_negative("wind.air_density", wind.air_density, "kg/m³")?;
    if let Some(g) = &wind.gusts {
        not_negative("wind.gusts.strength", g.strength, "m/s")?;
        positive("wind.gusts.size", g.size, "m")?;
        positive("wind.gusts.period", g.period, "s")?;
    }
    if let Some(s) = &wind.sinus {
        vector("wind.sinus.amplitude", s.amplitude)?;
        not_negative("wind.sinus.frequency", s.frequency, "Hz")?;
        not_negative("wind.sinus.spread", s.spread, "1")?;
    }
    if let Some(r) = &wind.random_force {
        direction("wind.random_force.direction", r.direction)?;
        not_negative("wind.random_force.amplitude", r.amplitude, "N")?;
        not_negative("wind.random_force.max_frequency", r.max_frequency, "rad/s")?;
        not_negative("wind.random_force.hold", r.hold, "s")?;
    }
    Ok(*wind)
}

pub(super) fn check_motion(at: &str, motion: &Motion) -> Checked<()> {
    vector(&format!("{at}.velocity"), motion.velocity)?;
    vector(&format!("{at}.spin_deg"), motion.spin_deg)?;
    if let Some(pivot) = motion.pivot {
        vector(&format!("{at}.pivot"), pivot)?;
    }
    let mut last = f64::NEG_INFINITY;
    for (k, key) in motion.keys.iter().enumerate() {
        let field = format!("{at}.key[{k}]");
        vector(&format!("{field}.translate"), key.translate)?;
        vector(&format!("{field}.rotate_deg"), key.rotate_deg)?;
        if finite(&format!("{field}.t"), key.t)? <= last {
            return wrong(
                &format!("{field}.t"),
                format!("key {k} is not later than the one before"),
                "put keys in order of time",
            );
        }
        last = key.t;
    }
    Ok(())
}

/// A share of what there is.
pub(super) fn share(field: &str, value: f64) -> Checked<f64> {
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        wrong(field, format!("it must be from 0 to 1, but is {value}"), "0 is usual for cloth")
    }
}

/// The shape of a collider, scaled.
fn build_form(at: &str, collider: &Collider) -> Checked<ColliderForm> {
    let field = |name: &str| format!("{at}.{name}");
    let scale = positive(&field("scale"), collider.scale, "times the size")?;
    let scaled = |value: f64| finite(&field("scale"), value * scale);
    let size = |name: &str, value: f64| scaled(positive(&field(name), value, "m")?);
    let primitive = match &collider.shape {
        ColliderShape::Plane(p) => {
            Primitive::Plane { normal: direction(&field("shape.plane.normal"), p.normal)? }
        }
        ColliderShape::Sphere(s) => Primitive::Sphere { radius: size("shape.sphere.radius", s.radius)? },
        ColliderShape::Box(b) => {
            let part = |k: usize| size("shape.box.size", b.size[k]);
            Primitive::Box { half: DVec3::new(part(0)?, part(1)?, part(2)?) * 0.5 }
        }
        ColliderShape::Capsule(c) => Primitive::Capsule {
            radius: size("shape.capsule.radius", c.radius)?,
            half_height: 0.5 * scaled(not_negative(&field("shape.capsule.height"), c.height, "m")?)?,
        },
        ColliderShape::Cylinder(c) => Primitive::Cylinder {
            radius: size("shape.cylinder.radius", c.radius)?,
            half_height: 0.5 * size("shape.cylinder.height", c.height)?,
        },
        ColliderShape::Mesh(mesh) => return mesh_form(at, mesh, scale),
        // Made where the character is known.
        ColliderShape::Skin(_) => {
            return wrong(&field("shape.skin"), "it has no character", "name a character of the scene");
        }
        ColliderShape::File(file) => {
            return wrong(
                &field("shape.file.path"),
                format!("the mesh file '{}' was not read", file.path),
                "read mesh files into the scene before it is built (souple_formats::scene::resolve_meshes)",
            );
        }
    };
    Ok(ColliderForm::Primitive(primitive))
}

/// A mesh as the shape of a collider.
fn mesh_form(at: &str, mesh: &InlineMesh, scale: f64) -> Checked<ColliderForm> {
    let mut mesh = place_mesh(&format!("{at}.shape.mesh"), mesh)?.mesh;
    // As given, so that the message shows the numbers of the file.
    if let Err(problem) = mesh.validate() {
        return wrong(&format!("{at}.shape"), problem.to_string(), "repair or re-export the mesh");
    }
    mesh.positions.iter_mut().for_each(|p| *p *= scale);
    let (low, high) = mesh.bounds();
    if low.abs().max(high.abs()).max_element() > LARGEST {
        return wrong(
            &format!("{at}.scale"),
            format!("the mesh reaches from {low} to {high}"),
            format!("keep everything within {LARGEST:.0e} m of the origin"),
        );
    }
    match ColliderMesh::new(&mesh) {
        Ok(mesh) => Ok(ColliderForm::Mesh(Arc::new(mesh))),
        Err(problem) => {
            let help = match problem {
                ColliderMeshError::NoTriangles => {
                    "a collider needs a surface: export the mesh with its faces"
                }
                ColliderMeshError::TooManyTriangles(_) => "simplify the mesh",
                ColliderMeshError::NoArea(_) => {
                    "repair or re-export the mesh, or set `scale`: lengths are in metres"
                }
                ColliderMeshError::Mesh(_) => "repair or re-export the mesh",
            };
            wrong(&format!("{at}.shape"), problem.to_string(), help)
        }
    }
}

/// What a collider is held against, by numbers; `bodies` are what the scene's were compiled to.
fn build_assigned(
    at: &str,
    collider: &Collider,
    scene: &[Body],
    bodies: &[BodyModel],
) -> Checked<Option<Vec<AssignedModel>>> {
    let Some(only) = &collider.only else { return Ok(None) };
    if matches!(collider.shape, ColliderShape::Mesh(_) | ColliderShape::File(_) | ColliderShape::Skin(_)) {
        return wrong(
            at,
            "a mesh touches by its surface, so it cannot be held against some particles only",
            "leave `only` out, and choose bodies by `layer` and `touches`",
        );
    }
    let mut built: Vec<AssignedModel> = Vec::new();
    for (k, assigned) in only.iter().enumerate() {
        let at = format!("{at}[{k}]");
        let name = &assigned.body;
        let Some(body) = bodies.iter().position(|b| b.name == *name) else {
            let known = bodies.iter().map(|b| b.name.as_str()).collect::<Vec<_>>().join(", ");
            return wrong(
                &format!("{at}.body"),
                format!("there is no body '{name}'"),
                format!("known bodies: {known}"),
            );
        };
        if built.iter().any(|b| b.body == body) {
            return wrong(
                &format!("{at}.body"),
                format!("'{name}' has been named before"),
                "name each body once, with all its particles in one `select`",
            );
        }
        let positions = &bodies[body].topology.rest_positions;
        let particles = Particles::of(&scene[body].shape, positions);
        let vertices = select(&format!("{at}.select"), &assigned.select, &particles)?;
        // A list of all is no list: nothing has to be looked up.
        let vertices = (vertices.len() < positions.len()).then_some(vertices);
        built.push(AssignedModel { body, vertices });
    }
    Ok(Some(built))
}

pub(super) fn build_collider(
    at: &str,
    collider: &Collider,
    scene: &[Body],
    bodies: &[BodyModel],
    characters: &Characters,
) -> Checked<ColliderModel> {
    let field = |name: &str| format!("{at}.{name}");
    check_carried(at, collider)?;
    let translation = vector(&field("position"), collider.position)?;
    let turn = rotation(vector(&field("rotate_deg"), collider.rotate_deg)?);
    let put = Pose { rotation: turn, translation };
    let (form, carrier, pose) = match (&collider.shape, &collider.follow) {
        (ColliderShape::Skin(skin), _) => characters.skin(at, skin)?,
        (_, Some(follow)) => {
            let (carrier, put) = characters.carrier(at, follow, put)?;
            (build_form(at, collider)?, carrier, put)
        }
        (_, None) => (build_form(at, collider)?, Carrier::Script, put),
    };
    if let Some(motion) = &collider.motion {
        check_motion(&field("motion"), motion)?;
    }
    if collider.solid == Some(true) && form.mesh().is_some_and(|mesh| !mesh.closed) {
        return wrong(
            &field("solid"),
            format!("the mesh of '{}' has no inside: it is not closed", collider.name),
            "close its holes where it was made, or leave `solid` away",
        );
    }
    let wrinkles = build_skin_wrinkles(at, collider, &form, &carrier, characters)?;
    let share = |name: &str, value: f64| share(&field(name), value);
    let material = ContactMaterial {
        friction: not_negative(&field("friction"), collider.friction, "1")?,
        restitution: share("restitution", collider.restitution)?,
        tangential_keep: collider.tangential_keep.map(|k| share("tangential_keep", k)).transpose()?,
    };
    Ok(ColliderModel {
        name: collider.name.clone(),
        form,
        pose,
        carrier,
        pivot: collider.motion.as_ref().and_then(|m| m.pivot).map_or(translation, DVec3::from),
        motion: collider.motion.clone(),
        material,
        layer: collider.layer.clone(),
        touches: collider.touches.clone(),
        solid: collider.solid,
        wrinkles,
        only: build_assigned(&field("only"), collider, scene, bodies)?,
    })
}

/// What is said about two things in particular, by their numbers.
pub(super) fn build_pairs(pairs: &[Pair], model: &Model) -> Checked<Vec<PairModel>> {
    let named = |at: &str, name: &String| {
        let body = model.bodies.iter().position(|b| b.name == *name).map(Thing::Body);
        let collider = model.colliders.iter().position(|c| c.name == *name).map(Thing::Collider);
        match (body, collider) {
            (Some(one), None) | (None, Some(one)) => Ok(one),
            (None, None) => wrong(
                at,
                format!("there is no body or collider '{name}'"),
                "give the names of two bodies, or of a body and a collider",
            ),
            (Some(_), Some(_)) => {
                wrong(at, format!("'{name}' is both a body and a collider"), "give them different names")
            }
        }
    };
    let mut built: Vec<PairModel> = Vec::new();
    for (p, pair) in pairs.iter().enumerate() {
        let field = |name: &str| format!("pair[{p}].{name}");
        let at = field("between");
        let between = [named(&at, &pair.between[0])?, named(&at, &pair.between[1])?];
        if let [Thing::Collider(_), Thing::Collider(_)] = between {
            return wrong(&at, "colliders do not touch each other", "name a body");
        }
        if built.iter().any(|b| b.between == between || b.between == [between[1], between[0]]) {
            return wrong(&at, "these two have been named before", "say all about two things in one place");
        }
        built.push(PairModel {
            between,
            touch: pair.touch,
            friction: pair.friction.map(|f| not_negative(&field("friction"), f, "1")).transpose()?,
            restitution: pair.restitution.map(|r| share(&field("restitution"), r)).transpose()?,
            distance: pair.distance.map(|d| not_negative(&field("distance"), d, "m")).transpose()?,
        });
    }
    Ok(built)
}

/// Surfaces that touch need a distance to keep.
pub(super) fn check_distances(model: &Model) -> Checked<()> {
    let things = || {
        let bodies = (0..model.bodies.len()).map(Thing::Body);
        bodies.chain((0..model.colliders.len()).map(Thing::Collider))
    };
    let name = |thing: Thing| match thing {
        Thing::Body(b) => &model.bodies[b].name,
        Thing::Collider(c) => &model.colliders[c].name,
    };
    for b in 0..model.bodies.len() {
        for other in things() {
            let rule = model.rule(Thing::Body(b), other);
            if rule.touch && rule.skin <= 0.0 {
                return wrong(
                    &format!("body[{b}].skin"),
                    format!("its surface touches '{}', so it needs a distance to keep", name(other)),
                    "give the thickness of the cloth, for example 0.002",
                );
            }
        }
    }
    Ok(())
}
