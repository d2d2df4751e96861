//! Solids that give way for good, against the equations of perfect plasticity and of Bingham's flow.
//!
//! **Held and let go.** One cell whose corners are all supported is stretched by ε along x and keeps its width. It flows without a change of volume until it is at
//! its yield stress; with the plastic stretch λ along x, von Mises' stress is 2μ ((1 + ε)/λ − √λ) = σ_y. Let go, it rests at λ: for small strain
//! λ − 1 = ⅔ (ε − σ_y/2μ). The tolerance is that of the rest: 1e-6 of the strain.
//!
//! **Creep.** A bar that is pulled by a constant stress σ above σ_y flows at ε̇ = creep (σ − σ_y)/3μ, and keeps all of it when it is let go. In steps of h what is beyond
//! decays by 1 − exp(−creep h) instead of creep h, which is the expected number here. The force is per section at the start, and the section shrinks as it
//! flows: that, and the logarithm of lengths, are of the order of the strain, 0.2 %, in what is beyond of σ, of which half is; the first steps, in which it
//! begins to be stretched, are 1 % of all.

use souple::Simulation;
use souple::energy::lame;
use souple::scene::{
    Block, Body, Cells, Group, Key, Motion, Pin, Plasticity, Pull, Rayleigh, Region, Scene, Select, Shape,
    SolidLaw, SolverKind, Time,
};

use super::Case;
use super::integrators::simulate;

const YOUNG: f64 = 1e5;
const POISSON: f64 = 0.3;

fn scene(body: Body, h: f64) -> Scene {
    Scene {
        time: Time { fps: 1.0 / h, frames: 1 },
        gravity: [0.0; 3],
        groups: vec![Group { solver: SolverKind::ImplicitEulerCholesky, ..Group::default() }],
        bodies: vec![body],
        ..Scene::default()
    }
}

fn block(cut: Cells, law: SolidLaw, length: f64, cells: u32, plasticity: Plasticity) -> Body {
    Body {
        shape: Shape::Block(Block { size: [length, 0.1, 0.1], cells: [cells, 1, 1], cut }),
        density: Some(1000.0),
        young_modulus: Some(YOUNG),
        poisson_ratio: Some(POISSON),
        law: Some(law),
        plasticity: Some(plasticity),
        rayleigh: Some(Rayleigh { mass: 2.0, stiffness: Some(0.01) }),
        ..Body::default()
    }
}

fn face(x: f64) -> Select {
    Select::Within(Region { min: [x - 1e-6, -1.0, -1.0], max: [x + 1e-6, 1.0, 1.0] })
}

/// Distance of the ends along x, over what it was, less 1.
fn strain(s: &Simulation, length: f64) -> f64 {
    let (rest, x) = (&s.model().bodies[0].topology.rest_positions, &s.state().bodies[0].x);
    let mean = |at: f64| {
        let all: Vec<f64> =
            rest.iter().zip(x).filter(|(r, _)| (r.x - at).abs() < 1e-9).map(|(_, x)| x.x).collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    (mean(length) - mean(0.0)) / length - 1.0
}

/// Perfect plasticity: what is left of a stretch.
pub(super) fn held() -> Vec<Case> {
    let (pulled, yield_stress) = (0.1, 2e3);
    let (_, mu) = lame(YOUNG, POISSON);
    // By halves: stress falls as it flows.
    let (mut low, mut high) = (1.0, 1.0 + pulled);
    for _ in 0..60 {
        let middle: f64 = 0.5 * (low + high);
        let stress = 2.0 * mu * ((1.0 + pulled) / middle - middle.sqrt());
        if stress > yield_stress {
            low = middle;
        } else {
            high = middle;
        }
    }
    let exact = low - 1.0;
    let case = |(cut, law, name): (Cells, SolidLaw, &str)| {
        let plasticity = Plasticity { yield_stress, ..Plasticity::default() };
        let mut body = block(cut, law, 0.1, 1, plasticity);
        let motion = Motion {
            keys: vec![Key::default(), Key { t: 1.0, translate: [0.1 * pulled, 0.0, 0.0], ..Key::default() }],
            ..Motion::default()
        };
        let pin = |name: &str, at: f64, motion: Option<Motion>| Pin {
            name: name.into(),
            select: face(at),
            motion,
            until: Some(1.5),
            ..Pin::default()
        };
        body.pins = vec![pin("still", 0.0, None), pin("pulled", 0.1, Some(motion))];
        let mut s = simulate(scene(body, 0.05));
        (0..400).for_each(|_| s.step());
        Case::relative(
            format!("solids/plastic/held-{name}"),
            "strain left of 10 %: 2μ ((1 + ε)/λ − √λ) = σ_y",
            exact,
            strain(&s, 0.1),
            1e-6,
        )
    };
    [
        (Cells::Five, SolidLaw::Polar, "polar"),
        (Cells::Five, SolidLaw::NeoHookean, "neo_hookean"),
        (Cells::Hexahedra, SolidLaw::Polar, "hexahedra-polar"),
        (Cells::Hexahedra, SolidLaw::Qr, "hexahedra-qr"),
    ]
    .map(case)
    .into()
}

/// Bingham's flow at a constant pull, which means the same at any step.
pub(super) fn creep() -> Vec<Case> {
    let (stress, yield_stress, creep, time) = (1e3, 500.0, 0.15, 4.0);
    let (_, mu) = lame(YOUNG, POISSON);
    let case = |steps: u32| {
        let h = time / f64::from(steps);
        let plasticity = Plasticity { yield_stress, creep: Some(creep), ..Plasticity::default() };
        let mut body = block(Cells::Hexahedra, SolidLaw::Polar, 0.4, 4, plasticity);
        let force = stress * 0.1 * 0.1;
        let pull = |at: f64, force: f64| Pull {
            select: face(at),
            force: [force, 0.0, 0.0],
            until: Some(time),
            ..Pull::default()
        };
        body.pulls = vec![pull(0.0, -force), pull(0.4, force)];
        let mut s = simulate(scene(body, h));
        (0..2 * steps).for_each(|_| s.step());
        let per_step = 1.0 - (-creep * h).exp();
        let exact = f64::from(steps) * per_step * (stress - yield_stress) / (3.0 * mu);
        Case::relative(
            format!("solids/plastic/creep-{steps}"),
            "strain after 4 s: Σ (1 − exp(−creep h)) (σ − σ_y)/3μ",
            exact,
            strain(&s, 0.4),
            0.015,
        )
    };
    [100, 400].map(case).into()
}
