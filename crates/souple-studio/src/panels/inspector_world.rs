//! Fields of what surrounds the bodies: the scene itself, solver groups, colliders, motion, wind.

use eframe::egui::{self, Ui};
use souple::scene::{
    BoxShape, Cg, Collider, ColliderShape, GoalOrder, Group, Gusts, InlineMesh, Interpolation, Key, Motion,
    MultigridCycle, PlaneShape, Preconditioner, RandomForce, RoundShape, Scene, Sinus, Smoother, SolverKind,
    SphereShape, Wind,
};

use super::fields::{Effect, Form, live, look, words_only};
use super::icons::{Icon, icon_button};
use super::inspector::section;

/// Largest length that fields offer, m.
pub(super) const FAR: f64 = 1e3;

/// Fields of the scene but its name.
pub fn scene_fields(form: &mut Form, ui: &mut Ui, scene: &mut Scene) {
    form.text(ui, words_only("Description", "Scene", "description"), &mut scene.description);
    section(ui, "World", true, |ui| {
        form.vector(
            ui,
            live("Gravity, m/s²", "Scene", "gravity", "m/s²"),
            -100.0..=100.0,
            &mut scene.gravity,
        );
        form.number(ui, live("Frame rate", "Time", "fps", "1/s"), 1.0..=1000.0, &mut scene.time.fps);
        form.count(ui, live("Frames", "Time", "frames", ""), 1..=1_000_000, &mut scene.time.frames);
    });
    section(ui, "Picture", true, |ui| {
        form.flag(ui, look("Ground", "View", "ground", ""), &mut scene.view.ground);
        form.vector(ui, look("Light from", "View", "light", ""), -10.0..=10.0, &mut scene.view.light);
        let sky = [0.62, 0.70, 0.80];
        form.colour(
            ui,
            look("Background", "View", "background", ""),
            &mut scene.view.background,
            sky,
            "soft sky",
        );
    });
    section(ui, "Health", false, |ui| {
        form.number(
            ui,
            live("Max speed", "Health", "max_speed", "m/s"),
            1e-3..=1e9,
            &mut scene.health.max_speed,
        );
        form.number(
            ui,
            live("Max extent", "Health", "max_extent", "m"),
            1e-3..=1e12,
            &mut scene.health.max_extent,
        );
    });
}

/// The solvers, with their names in scene files.
const SOLVERS: [(SolverKind, &str); 14] = [
    (SolverKind::Xpbd, "xpbd"),
    (SolverKind::Goals, "goals"),
    (SolverKind::ImplicitEulerCg, "implicit_euler_cg"),
    (SolverKind::ImplicitEulerCholesky, "implicit_euler_cholesky"),
    (SolverKind::QuasiStatic, "quasi_static"),
    (SolverKind::ImplicitFilter, "implicit_filter"),
    (SolverKind::ProjectiveDynamics, "projective_dynamics"),
    (SolverKind::VertexBlockDescent, "vertex_block_descent"),
    (SolverKind::SymplecticEuler, "symplectic_euler"),
    (SolverKind::Verlet, "verlet"),
    (SolverKind::Midpoint, "midpoint"),
    (SolverKind::ModifiedEuler, "modified_euler"),
    (SolverKind::Rk4, "rk4"),
    (SolverKind::ExplicitEuler, "explicit_euler"),
];

/// Fields of a solver group but its name.
pub fn group_fields(form: &mut Form, ui: &mut Ui, group: &mut Group) {
    form.choice(ui, live("Solver", "Group", "solver", ""), "SolverKind", &SOLVERS, &mut group.solver);
    form.optional(ui, live("Step", "Group", "dt", "s"), 1e-6..=1.0, &mut group.dt, 0.002, "one per frame");
    if group.solver == SolverKind::Xpbd {
        section(ui, "Real time", true, |ui| {
            form.flag(ui, live("Levels", "Xpbd", "levels", ""), &mut group.xpbd.levels);
            form.flag(ui, live("Attachments", "Xpbd", "attachments", ""), &mut group.xpbd.attachments);
        });
    }
    if group.solver == SolverKind::Goals {
        section(ui, "Goals", true, |ui| {
            let orders = [
                (GoalOrder::Automatic, "automatic"),
                (GoalOrder::Always, "always"),
                (GoalOrder::Never, "never"),
            ];
            form.choice(
                ui,
                live("Order", "Goals", "order", ""),
                "GoalOrder",
                &orders,
                &mut group.goals.order,
            );
            let attenuation = live("Attenuation", "Goals", "attenuation", "");
            form.number(ui, attenuation, 0.0..=1.0, &mut group.goals.attenuation);
        });
    }
    if matches!(group.solver, SolverKind::ProjectiveDynamics | SolverKind::VertexBlockDescent) {
        section(ui, "Descent", true, |ui| {
            let iterations = live("Iterations", "Descent", "iterations", "");
            form.count(ui, iterations, 1..=1000, &mut group.descent.iterations);
        });
    }
    if matches!(group.solver, SolverKind::ImplicitEulerCg | SolverKind::QuasiStatic) {
        section(ui, "Conjugate gradient", true, |ui| {
            form.number(ui, live("Tolerance", "Cg", "tolerance", ""), 1e-12..=0.5, &mut group.cg.tolerance);
            form.count(
                ui,
                live("Most iterations", "Cg", "max_iterations", ""),
                1..=10_000,
                &mut group.cg.max_iterations,
            );
            if group.solver == SolverKind::ImplicitEulerCg {
                preconditioner_fields(form, ui, &mut group.cg);
            }
        });
    }
}

/// What makes the conjugate gradient converge faster, and the grids it may use (FAU-28).
fn preconditioner_fields(form: &mut Form, ui: &mut Ui, cg: &mut Cg) {
    let kinds = [
        (Preconditioner::Auto, "auto"),
        (Preconditioner::Blocks, "blocks"),
        (Preconditioner::Cholesky, "cholesky"),
        (Preconditioner::Multigrid, "multigrid"),
        (Preconditioner::IncompleteCholesky, "incomplete_cholesky"),
    ];
    let field = live("Preconditioner", "Cg", "preconditioner", "");
    form.choice(ui, field, "Preconditioner", &kinds, &mut cg.preconditioner);
    if !matches!(cg.preconditioner, Preconditioner::Auto | Preconditioner::Multigrid) {
        return;
    }
    let grids = &mut cg.multigrid;
    let cycles = [(MultigridCycle::V, "v"), (MultigridCycle::Full, "full")];
    form.choice(ui, live("Cycle", "Multigrid", "cycle", ""), "MultigridCycle", &cycles, &mut grids.cycle);
    let smoothers =
        [(Smoother::GaussSeidel, "gauss_seidel"), (Smoother::ConjugateGradient, "conjugate_gradient")];
    form.choice(
        ui,
        live("Smoother", "Multigrid", "smoother", ""),
        "Smoother",
        &smoothers,
        &mut grids.smoother,
    );
    let levels = live("Grids", "Multigrid", "levels", "");
    form.optional_count(ui, levels, 1..=20, &mut grids.levels, 3, "until they are small");
    form.count(ui, live("Sweeps", "Multigrid", "sweeps", ""), 1..=20, &mut grids.sweeps);
}

/// Fields of a collider but its name and look; `triangles` are those of a mesh as it is shown.
pub fn collider_fields(form: &mut Form, ui: &mut Ui, collider: &mut Collider, triangles: Option<usize>) {
    section(ui, "Shape", true, |ui| {
        let mut kinds = vec![(0, "plane"), (1, "sphere"), (2, "box"), (3, "capsule"), (4, "cylinder")];
        let mut kind = match collider.shape {
            ColliderShape::Plane(_) => 0,
            ColliderShape::Sphere(_) => 1,
            ColliderShape::Box(_) => 2,
            ColliderShape::Capsule(_) => 3,
            ColliderShape::Cylinder(_) => 4,
            ColliderShape::File(_) => 5,
            ColliderShape::Mesh(_) => 6,
            ColliderShape::Skin(_) => 7,
        };
        // A mesh is added from the menu; here it can only become something else.
        match kind {
            5 => kinds.push((5, "file")),
            6 => kinds.push((6, "mesh")),
            7 => kinds.push((7, "skin")),
            _ => {}
        }
        if form.choice(ui, live("Kind", "Collider", "shape", ""), "ColliderShape", &kinds, &mut kind) {
            let round = RoundShape { radius: 0.15, height: 0.5 };
            collider.shape = match kind {
                1 => ColliderShape::Sphere(SphereShape { radius: 0.25 }),
                2 => ColliderShape::Box(BoxShape { size: [0.5; 3] }),
                3 => ColliderShape::Capsule(round),
                4 => ColliderShape::Cylinder(round),
                _ => ColliderShape::Plane(PlaneShape::default()),
            };
        }
        match &mut collider.shape {
            ColliderShape::Plane(plane) => {
                form.vector(ui, live("Normal", "PlaneShape", "normal", ""), -1.0..=1.0, &mut plane.normal);
            }
            ColliderShape::Sphere(sphere) => {
                form.number(ui, live("Radius", "SphereShape", "radius", "m"), 1e-3..=FAR, &mut sphere.radius);
            }
            ColliderShape::Box(shape) => {
                form.vector(ui, live("Size, m", "BoxShape", "size", "m"), 1e-3..=FAR, &mut shape.size);
            }
            ColliderShape::Capsule(round) | ColliderShape::Cylinder(round) => {
                form.number(ui, live("Radius", "RoundShape", "radius", "m"), 1e-3..=FAR, &mut round.radius);
                form.number(ui, live("Height", "RoundShape", "height", "m"), 0.0..=FAR, &mut round.height);
            }
            ColliderShape::File(file) => {
                form.row(ui, live("Mesh file", "MeshFile", "path", ""), |ui| {
                    ui.add(egui::Label::new(file.path.as_str()).truncate()).on_hover_text(file.path.as_str())
                });
                form.flag(ui, live("Weld", "MeshFile", "weld", ""), &mut file.weld);
            }
            // The form has it without its contents.
            ColliderShape::Mesh(_) => {
                form.row(ui, live("Mesh", "ColliderShape", "mesh", ""), |ui| {
                    ui.label("in the scene file itself")
                });
            }
            ColliderShape::Skin(skin) => {
                form.row(ui, live("Character", "SkinShape", "character", ""), |ui| {
                    ui.label(skin.character.as_str())
                });
            }
        }
        if let (ColliderShape::File(_) | ColliderShape::Mesh(_), Some(n)) = (&collider.shape, triangles) {
            form.row(ui, live("Triangles", "InlineMesh", "triangles", ""), |ui| ui.label(n.to_string()));
        }
    });
    section(ui, "Placement", true, |ui| {
        form.vector(ui, live("Position, m", "Collider", "position", "m"), -FAR..=FAR, &mut collider.position);
        let turn = live("Turn, °", "Collider", "rotate_deg", "degrees about the axis");
        form.vector(ui, turn, -720.0..=720.0, &mut collider.rotate_deg);
        if !matches!(collider.shape, ColliderShape::Plane(_)) {
            form.number(ui, live("Scale", "Collider", "scale", ""), 1e-6..=1e6, &mut collider.scale);
        }
    });
    section(ui, "Contact", true, |ui| {
        form.slider(
            ui,
            live("Friction", "Collider", "friction", ""),
            0.0..=1.5,
            100.0,
            &mut collider.friction,
        );
        form.slider(
            ui,
            live("Restitution", "Collider", "restitution", ""),
            0.0..=1.0,
            1.0,
            &mut collider.restitution,
        );
        let keep = live("Slip kept", "Collider", "tangential_keep", "");
        form.optional(ui, keep, 0.0..=1.0, &mut collider.tangential_keep, 1.0, "by friction");
    });
    section(ui, "Motion", false, |ui| {
        form.part(
            ui,
            live("Moves", "Collider", "motion", ""),
            &mut collider.motion,
            Motion::default,
            motion_fields,
        );
    });
}

/// Fields of a motion: velocity, spin, keys.
pub fn motion_fields(form: &mut Form, ui: &mut Ui, motion: &mut Motion) {
    form.vector(ui, live("Speed, m/s", "Motion", "velocity", "m/s"), -100.0..=100.0, &mut motion.velocity);
    form.vector(
        ui,
        live("Spin, °/s", "Motion", "spin_deg", "degrees per second"),
        -1e4..=1e4,
        &mut motion.spin_deg,
    );
    let pivot = live("Pivot", "Motion", "pivot", "");
    form.part(
        ui,
        pivot,
        &mut motion.pivot,
        || [0.0; 3],
        |form, ui, pivot| {
            form.vector(ui, live("Turn about, m", "Motion", "pivot", "m"), -FAR..=FAR, pivot);
        },
    );
    let ways = [(Interpolation::Linear, "linear"), (Interpolation::Smooth, "smooth")];
    form.choice(
        ui,
        live("Between keys", "Motion", "interpolation", ""),
        "Interpolation",
        &ways,
        &mut motion.interpolation,
    );
    form.flag(ui, live("Repeat", "Motion", "repeat", ""), &mut motion.repeat);
    let mut removed = None;
    for (k, key) in motion.keys.iter_mut().enumerate() {
        ui.push_id(k, |ui| {
            ui.horizontal(|ui| {
                ui.strong(format!("Key {}", k + 1));
                let name = format!("Remove key {}", k + 1);
                if icon_button(ui, Icon::Close, false, &name, "Remove this key").clicked() {
                    removed = Some(k);
                }
            });
            form.number(ui, live("At", "Key", "t", "s"), 0.0..=1e5, &mut key.t);
            form.vector(ui, live("Move, m", "Key", "translate", "m"), -FAR..=FAR, &mut key.translate);
            let turn = live("Turn, °", "Key", "rotate_deg", "degrees about the axis");
            form.vector(ui, turn, -3600.0..=3600.0, &mut key.rotate_deg);
        });
    }
    if let Some(k) = removed {
        motion.keys.remove(k);
        form.changed("keys", Effect::Live);
    }
    if ui.button("Add key").on_hover_text("A pose at a time, one second after the last").clicked() {
        let last = motion.keys.last().copied();
        motion.keys.push(last.map_or(Key::default(), |key| Key { t: key.t + 1.0, ..key }));
        form.changed("keys", Effect::Live);
    }
}

/// Fields of the wind.
pub fn wind_fields(form: &mut Form, ui: &mut Ui, wind: &mut Wind) {
    form.vector(ui, live("Speed, m/s", "Wind", "velocity", "m/s"), -100.0..=100.0, &mut wind.velocity);
    form.number(ui, live("Air density", "Wind", "air_density", "kg/m³"), 0.0..=100.0, &mut wind.air_density);
    form.part(ui, live("Gusts", "Wind", "gusts", ""), &mut wind.gusts, Gusts::default, |form, ui, gusts| {
        form.slider(ui, live("Strength", "Gusts", "strength", "m/s"), 0.0..=20.0, 1e3, &mut gusts.strength);
        form.number(ui, live("Eddy size", "Gusts", "size", "m"), 1e-3..=FAR, &mut gusts.size);
        form.number(ui, live("Period", "Gusts", "period", "s"), 1e-3..=1e3, &mut gusts.period);
        form.count(ui, live("Seed", "Gusts", "seed", ""), 0..=u32::MAX, &mut gusts.seed);
    });
    form.part(
        ui,
        live("Swinging", "Wind", "sinus", ""),
        &mut wind.sinus,
        Sinus::default,
        |form, ui, sinus| {
            form.vector(
                ui,
                live("Peak, m/s", "Sinus", "amplitude", "m/s"),
                -100.0..=100.0,
                &mut sinus.amplitude,
            );
            form.number(ui, live("Frequency", "Sinus", "frequency", "Hz"), 0.0..=100.0, &mut sinus.frequency);
            form.slider(ui, live("Spread", "Sinus", "spread", ""), 0.0..=1.0, 1.0, &mut sinus.spread);
            form.count(ui, live("Seed", "Sinus", "seed", ""), 0..=u32::MAX, &mut sinus.seed);
        },
    );
    let random = live("Random force", "Wind", "random_force", "");
    form.part(ui, random, &mut wind.random_force, RandomForce::default, |form, ui, force| {
        form.vector(ui, live("Direction", "RandomForce", "direction", ""), -1.0..=1.0, &mut force.direction);
        form.number(ui, live("Amplitude", "RandomForce", "amplitude", "N"), 0.0..=1e3, &mut force.amplitude);
        let frequency = live("Max frequency", "RandomForce", "max_frequency", "rad/s");
        form.number(ui, frequency, 0.0..=1e3, &mut force.max_frequency);
        form.number(ui, live("Hold", "RandomForce", "hold", "s"), 0.0..=100.0, &mut force.hold);
        form.count(ui, live("Seed", "RandomForce", "seed", ""), 0..=u32::MAX, &mut force.seed);
    });
}

/// What a collider is, in a line.
pub fn collider_line(collider: &Collider) -> String {
    let p = |v: f64| super::fields::plain(v);
    match &collider.shape {
        ColliderShape::Plane(_) => "plane, endless".into(),
        ColliderShape::Sphere(s) => format!("sphere of radius {} m", p(s.radius)),
        ColliderShape::Box(b) => format!("box of {} × {} × {} m", p(b.size[0]), p(b.size[1]), p(b.size[2])),
        ColliderShape::Capsule(r) => format!("capsule of radius {} m, {} m long", p(r.radius), p(r.height)),
        ColliderShape::Cylinder(r) => format!("cylinder of radius {} m, {} m long", p(r.radius), p(r.height)),
        ColliderShape::File(file) => format!("mesh {}", file.path),
        ColliderShape::Mesh(mesh) => format!("mesh of {} vertices", mesh.positions.len()),
        ColliderShape::Skin(skin) => format!("skin of {}", skin.character),
    }
}

/// A copy of a collider for its form, which shows nothing of a mesh that stands in the scene itself: that may be large.
pub fn collider_for_form(collider: &Collider) -> Collider {
    let shape = match &collider.shape {
        ColliderShape::Mesh(_) => ColliderShape::Mesh(InlineMesh::default()),
        shape => shape.clone(),
    };
    Collider {
        name: collider.name.clone(),
        shape,
        position: collider.position,
        rotate_deg: collider.rotate_deg,
        scale: collider.scale,
        motion: collider.motion.clone(),
        follow: collider.follow.clone(),
        friction: collider.friction,
        restitution: collider.restitution,
        solid: collider.solid,
        tangential_keep: collider.tangential_keep,
        layer: collider.layer.clone(),
        touches: collider.touches.clone(),
        only: collider.only.clone(),
        wrinkles: collider.wrinkles,
        look: collider.look.clone(),
    }
}

/// Writes what a form changed back into its collider.
pub fn collider_from_form(edited: Collider, collider: &mut Collider) {
    let mesh = match &mut collider.shape {
        ColliderShape::Mesh(mesh) => Some(std::mem::take(mesh)),
        _ => None,
    };
    *collider = edited;
    if let (ColliderShape::Mesh(place), Some(mesh)) = (&mut collider.shape, mesh) {
        *place = mesh;
    }
}

/// A line of weak text under a heading.
pub fn subtitle(ui: &mut Ui, text: &str) {
    ui.add(egui::Label::new(egui::RichText::new(text).weak().small()).wrap());
}
