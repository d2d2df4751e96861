//! Joints of rigid bodies against closed forms.
//!
//! **Pendulum.** A bar of length L and square section b that swings on a hinge at its end has T = 2π √(I/(m g L/2)) with I = m (L²/3 + b²/12), which is
//! 2π √(2L/3g) if it is thin. An amplitude of 0.03 rad lengthens it by θ²/16 = 6e-5, an integrator by no more than (ωh)² = 3e-5, the hinge, which gives way by
//! g h²/1000, by less than 1e-6: 2e-4 in all.

use glam::DVec3;
use souple::Simulation;
use souple::scene::{Block, Body, Group, LinkKind, LinkSprings, Placement, Scene, Shape, SolverKind, Time};

use super::Case;
use super::integrators::simulate;

const LENGTH: f64 = 0.5;
const WIDTH: f64 = 0.01;
const GRAVITY: f64 = 9.81;

/// A bar that hangs from the origin, turned by an angle.
fn hanging(solver: SolverKind, h: f64, angle: f64) -> Scene {
    let turned = |x: f64, y: f64| [x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()];
    let [x, y] = turned(0.5 * WIDTH, LENGTH);
    let body = Body {
        name: "bar".into(),
        shape: Shape::Block(Block { size: [WIDTH, LENGTH, WIDTH], cells: [1, 4, 1], ..Block::default() }),
        placement: Placement {
            translate: [-x, -y, -0.5 * WIDTH],
            rotate_deg: [0.0, 0.0, angle.to_degrees()],
            ..Placement::default()
        },
        mass: Some(2.0),
        rigid: true,
        ..Body::default()
    };
    let hinge = LinkSprings {
        kind: LinkKind::Hinge,
        between: ["bar".into(), "world".into()],
        at: Some([0.0; 3]),
        axis: Some([0.0, 0.0, 1.0]),
        ..LinkSprings::default()
    };
    Scene {
        time: Time { fps: 1.0 / h, frames: 1 },
        gravity: [0.0, -GRAVITY, 0.0],
        groups: vec![Group { solver, ..Group::default() }],
        bodies: vec![body],
        links: vec![hinge],
        ..Scene::default()
    }
}

/// How far the bar is turned from hanging down, rad.
fn angle(s: &Simulation) -> f64 {
    let (model, state) = (&s.model().bodies[0], &s.state().bodies[0]);
    let centre = |x: &[DVec3]| model.rigid.map_or(DVec3::ZERO, |r| x[r.first..].iter().sum::<DVec3>() / 4.0);
    let now = centre(&state.x);
    now.x.atan2(-now.y)
}

/// Time between the first and the last of some passes through the middle, by straight lines between steps.
fn period(solver: SolverKind, h: f64) -> f64 {
    let mut s = simulate(hanging(solver, h, 0.03));
    let (mut passes, mut before) = (Vec::new(), angle(&s));
    for step in 1..200_000u32 {
        s.step();
        let now = angle(&s);
        if (now > 0.0) != (before > 0.0) {
            passes.push((f64::from(step) - now / (now - before)) * h);
        }
        before = now;
        if passes.len() == 5 {
            break;
        }
    }
    match passes.as_slice() {
        [first, _, _, _, last] => 0.5 * (last - first),
        _ => f64::NAN,
    }
}

/// A bar on a hinge, by implicit and explicit solvers.
pub(super) fn pendulum() -> Vec<Case> {
    let inertia = LENGTH * LENGTH / 3.0 + WIDTH * WIDTH / 12.0;
    let exact = std::f64::consts::TAU * (inertia / (0.5 * GRAVITY * LENGTH)).sqrt();
    [
        (SolverKind::ImplicitEulerCg, "cg", 1e-3),
        (SolverKind::ImplicitEulerCholesky, "cholesky", 1e-3),
        (SolverKind::Verlet, "verlet", 1e-4),
    ]
    .map(|(solver, name, h)| {
        Case::relative(
            format!("joints/pendulum/{name}"),
            "period of a bar on a hinge, s: 2π √(2L/3g) if it is thin",
            exact,
            period(solver, h),
            2e-4,
        )
    })
    .into()
}
