//! What the user wrote: the scene, as plain data in SI units.
//!
//! The same types are read from TOML or JSON, built in Rust, edited in tools and described by the JSON schema. Nothing
//! here is checked beyond its type: [`crate::ModelBuilder`] validates a scene and names the field that is wrong.
//! A scene is the merged scene of ESSI-01 and GRI-01: soft bodies, rigid colliders, forces, supports.

use serde::{Deserialize, Serialize};

/// The version of the scene format that this engine reads.
pub const SCENE_FORMAT: u32 = 1;

/// A vector or point, m or as said by the field; y is up.
pub type Vec3 = [f64; 3];

macro_rules! scene_type {
    ($(#[$meta:meta])* $vis:vis struct $name:ident $body:tt) => {
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields)]
        $(#[$meta])*
        $vis struct $name $body
    };
    ($(#[$meta:meta])* $vis:vis enum $name:ident $body:tt) => {
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case", deny_unknown_fields)]
        $(#[$meta])*
        $vis enum $name $body
    };
}

mod body;
mod character;
mod elastic;
mod look;
mod material;
mod paper;
mod pin;
mod resolution;
mod skeleton;
mod voxels;
mod weights;
mod world;
mod wrinkles;

pub use body::*;
pub use character::*;
pub use elastic::*;
pub use look::*;
pub use material::*;
pub use paper::*;
pub use pin::*;
pub use resolution::*;
pub use skeleton::*;
pub use voxels::*;
pub use weights::*;
pub use world::*;
pub use wrinkles::*;

scene_type! {
    /// A whole scene.
    #[serde(default)]
    pub struct Scene {
        /// Version of the format; 1.
        pub format: u32,
        /// Name shown to people.
        pub name: String,
        /// One sentence on what the scene shows.
        pub description: String,
        /// Acceleration of gravity, m/s².
        pub gravity: Vec3,
        /// Frames and frame rate.
        pub time: Time,
        /// Limits beyond which an object counts as diverging.
        pub health: Health,
        /// Moving air.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub wind: Option<Wind>,
        /// How it is seen.
        pub view: View,
        /// Solver groups: bodies of one group are advanced by one solver. Without any, there is one called "default".
        #[serde(rename = "group", skip_serializing_if = "Vec::is_empty")]
        pub groups: Vec<Group>,
        /// Everything soft.
        #[serde(rename = "body", skip_serializing_if = "Vec::is_empty")]
        pub bodies: Vec<Body>,
        /// Sheets of paper.
        #[serde(rename = "paper", skip_serializing_if = "Vec::is_empty")]
        pub papers: Vec<Paper>,
        /// Rigs that play clips, for colliders and supports to follow.
        #[serde(rename = "character", skip_serializing_if = "Vec::is_empty")]
        pub characters: Vec<Character>,
        /// Everything that bodies run into.
        #[serde(rename = "collider", skip_serializing_if = "Vec::is_empty")]
        pub colliders: Vec<Collider>,
        /// How some things touch each other.
        #[serde(rename = "pair", skip_serializing_if = "Vec::is_empty")]
        pub pairs: Vec<Pair>,
        /// Springs between bodies.
        #[serde(rename = "link", skip_serializing_if = "Vec::is_empty")]
        pub links: Vec<LinkSprings>,
        /// What must be true at the end of the run: makes the scene a test.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub expect: Option<Expect>,
    }
}

impl Default for Scene {
    fn default() -> Self {
        Scene {
            format: SCENE_FORMAT,
            name: String::new(),
            description: String::new(),
            gravity: [0.0, -9.81, 0.0],
            time: Time::default(),
            health: Health::default(),
            wind: None,
            view: View::default(),
            groups: Vec::new(),
            bodies: Vec::new(),
            papers: Vec::new(),
            characters: Vec::new(),
            colliders: Vec::new(),
            pairs: Vec::new(),
            links: Vec::new(),
            expect: None,
        }
    }
}

scene_type! {
    /// Frames and frame rate.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Time {
        /// Frames per second of the animation; one step of the simulation is one frame.
        pub fps: f64,
        /// How many frames a run makes.
        pub frames: u32,
    }
}

impl Default for Time {
    fn default() -> Self {
        Time { fps: 60.0, frames: 300 }
    }
}

scene_type! {
    /// Limits beyond which an object counts as diverging: it is rolled back, retried with smaller steps, then frozen.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Health {
        /// Largest credible speed, m/s.
        pub max_speed: f64,
        /// Largest credible distance from the origin, m.
        pub max_extent: f64,
    }
}

impl Default for Health {
    fn default() -> Self {
        Health { max_speed: 1e3, max_extent: 1e6 }
    }
}

scene_type! {
    /// A group of bodies that one solver advances together.
    #[serde(default)]
    pub struct Group {
        /// Name that bodies refer to.
        pub name: String,
        /// How the equations of motion are integrated.
        pub solver: SolverKind,
        /// Longest solver step, s; a frame is divided into equal substeps no longer than this. Without it: one per frame, and
        /// 1/720 s for `xpbd`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub dt: Option<f64>,
        /// Conjugate gradient settings of `implicit_euler_cg`.
        pub cg: Cg,
        /// Settings of `xpbd`.
        pub xpbd: Xpbd,
        /// When bodies at rest are no longer advanced; without it never.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sleep: Option<Sleep>,
        /// Settings of `projective_dynamics` and `vertex_block_descent`.
        pub descent: Descent,
        /// Settings of `goals`.
        #[serde(skip_serializing_if = "Goals::is_default")]
        pub goals: Goals,
        /// What contact of surfaces promises.
        #[serde(skip_serializing_if = "ContactMode::is_fast")]
        pub contact_mode: ContactMode,
        /// Distances that the search for contacts of surfaces may compute per substep: some contacts are found, by chance.
        /// Without it all are.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub contact_budget: Option<u32>,
    }
}

impl Default for Group {
    fn default() -> Self {
        Group {
            name: "default".into(),
            solver: SolverKind::default(),
            dt: None,
            cg: Cg::default(),
            xpbd: Xpbd::default(),
            sleep: None,
            descent: Descent::default(),
            goals: Goals::default(),
            contact_mode: ContactMode::default(),
            contact_budget: None,
        }
    }
}

scene_type! {
    /// What contact of surfaces promises.
    #[derive(Copy, Default, Eq)]
    pub enum ContactMode {
        /// Real time; a few crossings may be left in violent motion. They can be counted.
        #[default]
        Fast,
        /// From a clean start no two triangles cross at the end of any frame: what would cross waits, supports too. Several times
        /// slower.
        Safe,
    }
}

impl ContactMode {
    fn is_fast(&self) -> bool {
        *self == ContactMode::Fast
    }
}

scene_type! {
    /// How the equations of motion are integrated.
    #[derive(Copy, Default, Eq)]
    pub enum SolverKind {
        /// v' = v + h a(x, v), x' = x + h v (ESSI-30). Gains energy; for teaching.
        ExplicitEuler,
        /// v' = v + h a(x, v), x' = x + h v' (ESSI-31, the seed's "modified Euler").
        SymplecticEuler,
        /// Heun's explicit trapezoid, second order.
        ModifiedEuler,
        /// Mid-point, second order (ESSI-32).
        Midpoint,
        /// Runge–Kutta of fourth order (ESSI-33).
        Rk4,
        /// Velocity Verlet, second order, symplectic.
        Verlet,
        /// Backward Euler, linearised, solved by filtered block-preconditioned conjugate gradient (ESSI-38, 40).
        #[default]
        ImplicitEulerCg,
        /// Backward Euler, linearised, solved by sparse Cholesky.
        ImplicitEulerCholesky,
        /// Constant-matrix force filter with one factorisation (ESSI-39).
        ImplicitFilter,
        /// Backward Euler by local projections and solves with one constant matrix. Brakes motion at long steps.
        ProjectiveDynamics,
        /// Backward Euler by steps of Newton's method for one vertex after the other.
        VertexBlockDescent,
        /// No motion in time: each step ends in equilibrium with supports and loads (FAU-11). Only for solids that are held.
        QuasiStatic,
        /// Real time: small substeps of position-based dynamics, coarse levels, long-range attachments.
        Xpbd,
        /// Geometric goals, one after the other from what is held to what is free, once per step (SIM-16…26): the least that looks right. Springs only.
        Goals,
    }
}

scene_type! {
    /// Settings of the solver by goals.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Goals {
        /// Where springs are visited from what is held outwards, and move each particle once (SIM-24, 25).
        pub order: GoalOrder,
        /// γ: how much of its stiffness a spring has between two particles that were moved before it (SIM-26), 0 to 1.
        pub attenuation: f64,
    }
}

impl Default for Goals {
    fn default() -> Self {
        Goals { order: GoalOrder::default(), attenuation: 0.1 }
    }
}

scene_type! {
    /// Where springs are visited in order and move each particle once; elsewhere as they are listed, both ends by mass.
    #[derive(Copy, Default, Eq)]
    pub enum GoalOrder {
        /// Where particles hang from one side: held by one run of neighbours, and not attached themselves.
        #[default]
        Automatic,
        /// Wherever something held leads to, as in the thesis. What is held on two sides comes apart in the middle.
        Always,
        /// Nowhere.
        Never,
    }
}

impl Goals {
    fn is_default(&self) -> bool {
        *self == Goals::default()
    }
}

scene_type! {
    /// Settings of the real-time solver.
    #[serde(default)]
    #[derive(Copy, Eq)]
    pub struct Xpbd {
        /// Coarse levels, so that a pull travels far in one substep. Without them stiff cloth stretches.
        pub levels: bool,
        /// Long-range attachments: no vertex goes further from a support than the cloth between them is long.
        pub attachments: bool,
    }
}

impl Default for Xpbd {
    fn default() -> Self {
        Xpbd { levels: true, attachments: true }
    }
}

scene_type! {
    /// When a body falls asleep: it is not advanced until something is done to it.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Sleep {
        /// Root mean square speed from frame to frame below which a body is still, m/s.
        pub speed: f64,
        /// How long it must be still, s.
        pub after: f64,
    }
}

impl Default for Sleep {
    fn default() -> Self {
        Sleep { speed: 0.002, after: 0.5 }
    }
}

scene_type! {
    /// Settings of the solvers that go down the function whose least value is the step of backward Euler.
    #[serde(default)]
    #[derive(Copy, Eq)]
    pub struct Descent {
        /// Rounds per step, over all particles. More follow backward Euler more closely.
        pub iterations: u32,
    }
}

impl Default for Descent {
    fn default() -> Self {
        Descent { iterations: 10 }
    }
}

scene_type! {
    /// Settings of the conjugate gradient.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Cg {
        /// Stop when the preconditioned residual fell to this fraction of the right-hand side's.
        pub tolerance: f64,
        /// Stop after this many iterations in any case.
        pub max_iterations: u32,
        /// Stop a search that has taken so long, ms (FAU-32). What comes of it then hangs on the machine: such runs cannot be recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub max_ms: Option<f64>,
        /// What makes it converge faster.
        #[serde(skip_serializing_if = "Preconditioner::is_auto")]
        pub preconditioner: Preconditioner,
        /// Settings of multigrid.
        #[serde(skip_serializing_if = "Multigrid::is_default")]
        pub multigrid: Multigrid,
    }
}

impl Default for Cg {
    fn default() -> Self {
        Cg {
            tolerance: 1e-3,
            max_iterations: 200,
            max_ms: None,
            preconditioner: Preconditioner::Auto,
            multigrid: Multigrid::default(),
        }
    }
}

scene_type! {
    /// What makes the conjugate gradient converge faster.
    #[derive(Copy, Default, Eq)]
    pub enum Preconditioner {
        /// For solids the system at rest, by a Cholesky factor or, where a body of hexahedra is large, by multigrid; for others blocks.
        #[default]
        Auto,
        /// Blocks of the diagonal and a coarse space.
        Blocks,
        /// The system of a solid at rest, by a Cholesky factor.
        Cholesky,
        /// The system of a body of hexahedra at rest, by grids of ever larger cells (FAU-28).
        Multigrid,
        /// The system of a solid at rest, by a Cholesky factor that keeps no more than the matrix.
        IncompleteCholesky,
    }
}

impl Preconditioner {
    fn is_auto(&self) -> bool {
        *self == Preconditioner::Auto
    }
}

scene_type! {
    /// Settings of multigrid.
    #[serde(default)]
    #[derive(Copy, Eq)]
    pub struct Multigrid {
        /// The way through the grids.
        pub cycle: MultigridCycle,
        /// What smooths on each grid.
        pub smoother: Smoother,
        /// Number of grids; without it, until the coarsest has fewer than 100 nodes (FAU-31).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub levels: Option<u32>,
        /// Rounds of the smoother on each grid, on the way down and on the way up.
        pub sweeps: u32,
    }
}

impl Default for Multigrid {
    fn default() -> Self {
        Multigrid { cycle: MultigridCycle::V, smoother: Smoother::GaussSeidel, levels: None, sweeps: 1 }
    }
}

impl Multigrid {
    fn is_default(&self) -> bool {
        *self == Multigrid::default()
    }
}

scene_type! {
    /// The way through the grids.
    #[derive(Copy, Default, Eq)]
    pub enum MultigridCycle {
        /// Down to the coarsest grid and up again (FAU-28).
        #[default]
        V,
        /// From the coarsest grid up, with a V on each (FAU-29).
        Full,
    }
}

scene_type! {
    /// What smooths on a grid.
    #[derive(Copy, Default, Eq)]
    pub enum Smoother {
        /// Gauss and Seidel's: node after node.
        #[default]
        GaussSeidel,
        /// Conjugate gradients (FAU-30).
        ConjugateGradient,
    }
}

scene_type! {
    /// What must be true at the end of the run.
    #[serde(default)]
    #[derive(Copy, Default)]
    pub struct Expect {
        /// Largest mean stretch of triangle edges, percent.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub stretch_mean_percent: Option<f64>,
        /// Lowest point must be above this, m.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub lowest_above: Option<f64>,
        /// Lowest point must be below this, m.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub lowest_below: Option<f64>,
        /// Kinetic energy must be below this, J.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub kinetic_below: Option<f64>,
        /// Most pairs of triangles of bodies that may cross.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub intersections: Option<u32>,
        /// Largest change of the volume of skins that keep it, percent of what they are to have.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub skin_volume_percent: Option<f64>,
        /// Most of the compression of a body with folds that its folds may leave, percent; above 100 if there is none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub compression_left_percent: Option<f64>,
        /// Largest mean strain of a sheet of paper, percent.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub paper_strain_percent: Option<f64>,
        /// Fewest folds of all sheets of paper together.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub paper_folds_at_least: Option<u32>,
        /// Most frames in which the creases of a sheet of paper may have been made anew.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub paper_remade_at_most: Option<u32>,
        /// Something must have torn, or nothing may have.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub torn: Option<bool>,
    }
}
