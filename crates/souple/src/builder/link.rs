//! Checks and compiles springs and joints between bodies (FAU-68, FAU-69, FAU-70).

use glam::DVec3;

use super::{Checked, direction, not_negative, positive, stiffness, vector, wrong};
use crate::energy::{End, Link, Links};
use crate::mapping::rows;
use crate::mesh::{Topology, bounds};
use crate::model::{BodyModel, LinkModel, Model};
use crate::scene::{LinkKind, LinkSprings, SolverKind};

/// Stiffness of springs for which none is given, N/m.
const STIFFNESS: f64 = 1e4;

/// How much stiffer than a mass in a step a joint is; of explicit solvers, than what its points weigh.
const JOINT: f64 = 1e3;
const EXPLICIT_JOINT: f64 = 0.1;

/// Links between bodies go to the list of the model, joints with the world to the energies of their body.
pub(super) fn build_links(links: &[LinkSprings], model: &mut Model) -> Checked<()> {
    for (k, link) in links.iter().enumerate() {
        let at = format!("link[{k}]");
        if link.joins_world() {
            let body = named(&at, &link.between[0], model)?;
            let links = build_joint(&at, link, model, [Some(body), None])?;
            if !couples(model.groups[model.bodies[body].group].solver) {
                return wrong(
                    &format!("{at}.between"),
                    format!(
                        "the solver of the group of '{}' takes no joints with the world",
                        link.between[0]
                    ),
                    "use `implicit_euler_cg`, `implicit_euler_cholesky`, an explicit solver, or a pin",
                );
            }
            model.bodies[body].energies.push(Box::new(Links { links }));
            continue;
        }
        let built = build_link(&at, link, model)?;
        model.links.push(built);
    }
    Ok(())
}

fn named(at: &str, name: &str, model: &Model) -> Checked<usize> {
    let known = || model.bodies.iter().map(|b| b.name.as_str()).collect::<Vec<_>>().join(", ");
    match model.body_index(name) {
        Some(b) => Ok(b),
        None => wrong(
            &format!("{at}.between"),
            format!("there is no body '{name}'"),
            format!("known bodies: {}; of joints the second may be `{}`", known(), LinkSprings::WORLD),
        ),
    }
}

fn build_link(at: &str, link: &LinkSprings, model: &Model) -> Checked<LinkModel> {
    let bodies = [named(at, &link.between[0], model)?, named(at, &link.between[1], model)?];
    if bodies[0] == bodies[1] {
        return wrong(
            &format!("{at}.between"),
            "both names are of the same body",
            "give the names of two bodies",
        );
    }
    let groups = bodies.map(|b| model.bodies[b].group);
    let is_strong = groups[0] == groups[1] && couples(model.groups[groups[0]].solver);
    let links = match link.kind {
        LinkKind::Spring => build_springs(at, link, model, bodies)?,
        LinkKind::Ball | LinkKind::Hinge if is_strong => build_joint(at, link, model, bodies.map(Some))?,
        LinkKind::Ball | LinkKind::Hinge => {
            return wrong(
                &format!("{at}.kind"),
                "joints need bodies of one group, with a solver that advances them as one",
                "put both into a group of `implicit_euler_cg`, or use springs",
            );
        }
    };
    Ok(LinkModel { name: link.name.clone(), bodies, links, is_strong })
}

/// Refuses fields that are of another kind of links.
fn refuse(at: &str, fields: &[(&str, bool)], kind: &str) -> Checked<()> {
    match fields.iter().find(|(_, given)| *given) {
        Some((name, _)) => wrong(&format!("{at}.{name}"), format!("{kind} do not have it"), "leave it out"),
        None => Ok(()),
    }
}

fn build_springs(at: &str, link: &LinkSprings, model: &Model, bodies: [usize; 2]) -> Checked<Vec<Link>> {
    let field = |name: &str| format!("{at}.{name}");
    let of_joints =
        [("at", link.at.is_some()), ("axis", link.axis.is_some()), ("width", link.width.is_some())];
    refuse(at, &of_joints, "springs")?;
    let [one, other] = bodies.map(|b| &*model.bodies[b].topology);
    let ends: Vec<(u32, u32)> = match (link.near, link.within) {
        (Some(p), None) => {
            let p = vector(&field("near"), p)?;
            let pair = nearest(one, p).zip(nearest(other, p));
            pair.map(|((i, _), (j, _))| (i, j)).into_iter().collect()
        }
        (None, Some(reach)) => {
            let reach = positive(&field("within"), reach, "m")?;
            let ends = (0u32..).zip(&one.rest_positions[..one.visible()]);
            ends.filter_map(|(i, p)| nearest(other, *p).filter(|(_, d)| *d <= reach).map(|(j, _)| (i, j)))
                .collect()
        }
        _ => {
            return wrong(
                at,
                "it must say which particles are joined, in one way",
                "give `near`, a place, or `within`, a distance",
            );
        }
    };
    if ends.is_empty() {
        return wrong(
            &field("within"),
            "no particles of the two bodies are so near to each other",
            "move the bodies together, or give a larger distance",
        );
    }
    let given = link.stiffness.unwrap_or(STIFFNESS);
    let k = stiffness(&field("stiffness"), positive(&field("stiffness"), given, "N/m")?, "N/m")?;
    let damping = not_negative(&field("damping"), link.damping, "N·s/m")?;
    let given = link.rest_length.map(|l| not_negative(&field("rest_length"), l, "m")).transpose()?;
    let spring = |(i, j): (u32, u32)| {
        let length = one.rest_positions[i as usize].distance(other.rest_positions[j as usize]);
        let rest_length = given.unwrap_or(length);
        Link { from: End::particle(i), to: End::particle(j), rest_length, stiffness: k, damping }
    };
    Ok(ends.into_iter().map(spring).collect())
}

/// A ball joint is one spring without length, a hinge two on its axis.
fn build_joint(
    at: &str,
    link: &LinkSprings,
    model: &Model,
    bodies: [Option<usize>; 2],
) -> Checked<Vec<Link>> {
    let field = |name: &str| format!("{at}.{name}");
    let of_springs = [
        ("near", link.near.is_some()),
        ("within", link.within.is_some()),
        ("rest_length", link.rest_length.is_some()),
    ];
    refuse(at, &of_springs, "joints")?;
    let Some(place) = link.at else {
        return wrong(&field("at"), "a joint must say where it is", "give the place, e.g. `at = [0, 1, 0]`");
    };
    let place = vector(&field("at"), place)?;
    let models = bodies.map(|b| b.map(|b| &model.bodies[b]));
    let places = match link.kind {
        LinkKind::Hinge => {
            let Some(axis) = link.axis else {
                return wrong(
                    &field("axis"),
                    "a hinge has an axis",
                    "give its direction, e.g. `axis = [0, 0, 1]`",
                );
            };
            let axis = direction(&field("axis"), axis)?;
            let width = match link.width {
                Some(width) => positive(&field("width"), width, "m")?,
                None => models.iter().flatten().map(|b| extent(b, axis)).fold(f64::INFINITY, f64::min),
            };
            vec![place - axis * (0.5 * width), place + axis * (0.5 * width)]
        }
        LinkKind::Ball | LinkKind::Spring => {
            refuse(at, &[("axis", link.axis.is_some()), ("width", link.width.is_some())], "ball joints")?;
            vec![place]
        }
    };
    let mut pairs: Vec<[End; 2]> = Vec::new();
    for place in places {
        let pair = ends(&field("at"), models, place)?;
        if pairs.iter().any(|other| other.iter().zip(&pair).any(|(a, b)| a == b)) {
            return wrong(
                &field("width"),
                "both points of the hinge are nearest to the same particle",
                "give a larger `width`, or use a ball joint",
            );
        }
        pairs.push(pair);
    }
    let damping = not_negative(&field("damping"), link.damping, "N·s/m")?;
    let k = match link.stiffness {
        Some(k) => stiffness(&field("stiffness"), positive(&field("stiffness"), k, "N/m")?, "N/m")?,
        None => joint_stiffness(model, models, &pairs),
    };
    let joint = |[from, to]: [End; 2]| Link { from, to, rest_length: 0.0, stiffness: k, damping };
    Ok(pairs.into_iter().map(joint).collect())
}

/// The points of two bodies that a joint keeps together: of what is not rigid the nearest particle, and of the other one the same place.
fn ends(field: &str, bodies: [Option<&BodyModel>; 2], place: DVec3) -> Checked<[End; 2]> {
    let soft = bodies.iter().flatten().find(|b| b.rigid.is_none());
    let place = soft
        .and_then(|b| nearest(&b.topology, place).map(|(i, _)| b.topology.rest_positions[i as usize]))
        .unwrap_or(place);
    let mut found = [End::world(place); 2];
    for (end, body) in found.iter_mut().zip(bodies) {
        let Some(body) = body else { continue };
        *end = match end_of(body, place) {
            Some((end, apart)) if apart <= 1e-3 * size(body) => end,
            _ => {
                return wrong(
                    field,
                    format!("body '{}' has no particle where the other one has", body.name),
                    "move the bodies together, make one of them rigid, or join them by springs",
                );
            }
        };
    }
    Ok(found)
}

/// The point of a body at a place, and how far from there it is, m.
fn end_of(body: &BodyModel, place: DVec3) -> Option<(End, f64)> {
    let Some(rigid) = body.rigid else {
        return nearest(&body.topology, place).map(|(i, apart)| (End::particle(i), apart));
    };
    let frame: [u32; 4] = std::array::from_fn(|k| (rigid.first + k) as u32);
    let rest = frame.map(|i| body.topology.rest_positions[i as usize]);
    rows::rigid(place, frame, rest).map(|row| (End::mean(row), 0.0))
}

/// Its extent along an axis, m.
fn extent(body: &BodyModel, axis: DVec3) -> f64 {
    let along = body.topology.rest_positions[..body.topology.visible()].iter().map(|x| x.dot(axis));
    let (low, high) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    high - low
}

/// Its least extent, m, but not less than a tenth of the largest.
fn size(body: &BodyModel) -> f64 {
    let (low, high) = bounds(&body.topology.rest_positions[..body.topology.visible()]);
    let extent = high - low;
    extent.min_element().max(0.1 * extent.max_element())
}

/// So stiff that a joint gives way by a thousandth of what its bodies fall in a step; of explicit solvers so soft that they can follow.
fn joint_stiffness(model: &Model, bodies: [Option<&BodyModel>; 2], pairs: &[[End; 2]]) -> f64 {
    let group = bodies.iter().flatten().map(|b| &model.groups[b.group]).next();
    let step = model.frame_dt() / group.map_or(1.0, |group| f64::from(group.substeps));
    let is_implicit = group.is_some_and(|group| {
        matches!(group.solver, SolverKind::ImplicitEulerCg | SolverKind::ImplicitEulerCholesky)
    });
    if is_implicit {
        let mass = |b: &BodyModel| b.topology.masses.iter().sum::<f64>();
        let lightest = bodies.iter().flatten().map(|b| mass(b)).fold(f64::INFINITY, f64::min);
        return JOINT * lightest / (step * step);
    }
    // The particles of a rigid body move by themselves within a step; what only follows others weighs nothing, and is as light as the lightest.
    let mobility = |pair: &[End; 2]| -> f64 {
        let of = |(end, body): (&End, &Option<&BodyModel>)| -> f64 {
            let Some(body) = body else { return 0.0 };
            let masses = &body.topology.masses;
            let lightest = masses.iter().copied().filter(|m| *m > 0.0).fold(f64::INFINITY, f64::min);
            end.each().map(|(i, w)| w * w / masses[i as usize].max(lightest)).sum()
        };
        pair.iter().zip(&bodies).map(of).sum()
    };
    let most = pairs.iter().map(mobility).fold(0.0, f64::max);
    EXPLICIT_JOINT / (step * step * most)
}

/// Whether a solver can advance several bodies as one system, and rigid ones.
pub(super) fn couples(solver: SolverKind) -> bool {
    !matches!(
        solver,
        SolverKind::Xpbd
            | SolverKind::Goals
            | SolverKind::QuasiStatic
            | SolverKind::ImplicitFilter
            | SolverKind::ProjectiveDynamics
            | SolverKind::VertexBlockDescent
    )
}

/// The particle that is seen nearest to a place, and how far it is, m.
fn nearest(topology: &Topology, p: DVec3) -> Option<(u32, f64)> {
    let all = (0u32..).zip(&topology.rest_positions[..topology.visible()]);
    all.map(|(i, x)| (i, x.distance(p))).min_by(|a, b| a.1.total_cmp(&b.1))
}
