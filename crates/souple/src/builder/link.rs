//! Checks and compiles springs between bodies (FAU-68, FAU-69).

use glam::DVec3;

use super::{Checked, not_negative, positive, stiffness, vector, wrong};
use crate::energy::Link;
use crate::mesh::Topology;
use crate::model::{LinkModel, Model};
use crate::scene::{LinkSprings, SolverKind};

pub(super) fn build_links(links: &[LinkSprings], model: &Model) -> Checked<Vec<LinkModel>> {
    links.iter().enumerate().map(|(k, link)| build_link(&format!("link[{k}]"), link, model)).collect()
}

fn build_link(at: &str, link: &LinkSprings, model: &Model) -> Checked<LinkModel> {
    let field = |name: &str| format!("{at}.{name}");
    let known = || model.bodies.iter().map(|b| b.name.as_str()).collect::<Vec<_>>().join(", ");
    let named = |name: &str| match model.body_index(name) {
        Some(b) => Ok(b),
        None => wrong(
            &field("between"),
            format!("there is no body '{name}'"),
            format!("known bodies: {}", known()),
        ),
    };
    let bodies = [named(&link.between[0])?, named(&link.between[1])?];
    if bodies[0] == bodies[1] {
        return wrong(&field("between"), "both names are of the same body", "give the names of two bodies");
    }
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
    let k = stiffness(&field("stiffness"), positive(&field("stiffness"), link.stiffness, "N/m")?, "N/m")?;
    let damping = not_negative(&field("damping"), link.damping, "N·s/m")?;
    let given = link.rest_length.map(|l| not_negative(&field("rest_length"), l, "m")).transpose()?;
    let spring = |(i, j): (u32, u32)| {
        let length = one.rest_positions[i as usize].distance(other.rest_positions[j as usize]);
        Link { i, j, rest_length: given.unwrap_or(length), stiffness: k, damping }
    };
    let groups = bodies.map(|b| model.bodies[b].group);
    let is_strong = groups[0] == groups[1] && couples(model.groups[groups[0]].solver);
    Ok(LinkModel {
        name: link.name.clone(),
        bodies,
        links: ends.into_iter().map(spring).collect(),
        is_strong,
    })
}

/// Whether a solver can advance several bodies as one system, and rigid ones.
pub(super) fn couples(solver: SolverKind) -> bool {
    !matches!(
        solver,
        SolverKind::Xpbd
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
