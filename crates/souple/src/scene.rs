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
        /// Solver groups: bodies of one group are advanced by one solver. Without any, there is one called "default".
        #[serde(rename = "group", skip_serializing_if = "Vec::is_empty")]
        pub groups: Vec<Group>,
        /// Everything soft.
        #[serde(rename = "body", skip_serializing_if = "Vec::is_empty")]
        pub bodies: Vec<Body>,
        /// Everything rigid that bodies run into.
        #[serde(rename = "collider", skip_serializing_if = "Vec::is_empty")]
        pub colliders: Vec<Collider>,
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
            groups: Vec::new(),
            bodies: Vec::new(),
            colliders: Vec::new(),
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
        /// Largest credible coordinate, m.
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
        /// Longest solver step, s; a frame is divided into equal substeps no longer than this. Without it: one per frame.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub dt: Option<f64>,
        /// Conjugate gradient settings of `implicit_euler_cg`.
        pub cg: Cg,
    }
}

impl Default for Group {
    fn default() -> Self {
        Group { name: "default".into(), solver: SolverKind::default(), dt: None, cg: Cg::default() }
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
    }
}

impl Default for Cg {
    fn default() -> Self {
        Cg { tolerance: 1e-3, max_iterations: 200 }
    }
}

scene_type! {
    /// A soft body: particles joined by springs, with a surface or a line to show.
    #[serde(default)]
    pub struct Body {
        /// Name, unique in the scene.
        pub name: String,
        /// Group whose solver advances it; the first group without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub group: Option<String>,
        /// Its shape at rest.
        pub shape: Shape,
        /// Where it is put.
        pub placement: Placement,
        /// Named fabric that gives every material number not written here: cotton, silk, wool, denim, leather, rubber.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub fabric: Option<String>,
        /// Mass per area of a surface, kg/m², or per length of a rope, kg/m.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub density: Option<f64>,
        /// Total mass, kg; instead of density.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub mass: Option<f64>,
        /// Young's modulus, Pa; with `thickness` it sets the modulus of the stretch springs.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub young_modulus: Option<f64>,
        /// Thickness of the material, m (cross-section diameter of a rope).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub thickness: Option<f64>,
        /// Springs between the particles.
        pub springs: Springs,
        /// Rayleigh damping.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rayleigh: Option<Rayleigh>,
        /// Stretch limits beyond what springs can do.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub limits: Option<Limits>,
        /// When it tears.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tear: Option<Tear>,
        /// How the air acts on it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub air: Option<Air>,
        /// Distance at which its particles touch colliders, m.
        pub skin: f64,
        /// Velocity at the start, m/s.
        pub velocity: Vec3,
        /// Supports.
        #[serde(rename = "pin", skip_serializing_if = "Vec::is_empty")]
        pub pins: Vec<Pin>,
        /// Constant forces on chosen points.
        #[serde(rename = "pull", skip_serializing_if = "Vec::is_empty")]
        pub pulls: Vec<Pull>,
    }
}

impl Default for Body {
    fn default() -> Self {
        Body {
            name: "body".into(),
            group: None,
            shape: Shape::default(),
            placement: Placement::default(),
            fabric: None,
            density: None,
            mass: None,
            young_modulus: None,
            thickness: None,
            springs: Springs::default(),
            rayleigh: None,
            limits: None,
            tear: None,
            air: None,
            skin: 0.002,
            velocity: [0.0; 3],
            pins: Vec::new(),
            pulls: Vec::new(),
        }
    }
}

scene_type! {
    /// Shape of a body at rest.
    pub enum Shape {
        /// A rectangle of cloth.
        Grid(Grid),
        /// A line of particles.
        Rope(Rope),
        /// A mesh file, path relative to the scene.
        File(MeshFile),
        /// A mesh written in the scene itself.
        Mesh(InlineMesh),
    }
}

impl Default for Shape {
    fn default() -> Self {
        Shape::Grid(Grid::default())
    }
}

scene_type! {
    /// A rectangle of cloth (ESSI-17). Vertex (i, j) of row i and column j has index i·columns + j.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Grid {
        /// Extent along columns (u) and along rows (v), m.
        pub size: [f64; 2],
        /// Number of vertices along u and along v.
        pub vertices: [u32; 2],
        /// The plane it lies in: `xz` is horizontal (u = x, v = z), `xy` hangs (u = x, v downwards from the top).
        pub plane: GridPlane,
        /// How cells are cut in two triangles.
        pub diagonals: Diagonals,
    }
}

impl Default for Grid {
    fn default() -> Self {
        Grid { size: [1.0, 1.0], vertices: [32, 32], plane: GridPlane::default(), diagonals: Diagonals::default() }
    }
}

scene_type! {
    /// The plane of a grid. The grid starts at the origin; `placement` moves it.
    #[derive(Copy, Default, Eq)]
    pub enum GridPlane {
        /// Horizontal: u along x, v along z.
        #[default]
        Xz,
        /// Vertical: u along x, v along −y, so that row 0 is the top.
        Xy,
    }
}

scene_type! {
    /// How a cell of the grid is cut in two triangles.
    #[derive(Copy, Default, Eq)]
    pub enum Diagonals {
        /// Like a chess-board.
        #[default]
        Alternating,
        /// All the same way.
        Regular,
    }
}

scene_type! {
    /// A line of particles, from the origin of the placement along `direction`.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Rope {
        /// Rest length, m.
        pub length: f64,
        /// Number of vertices.
        pub vertices: u32,
        /// Direction, any length.
        pub direction: Vec3,
        /// Where the mass sits.
        pub mass_at: RopeMass,
    }
}

impl Default for Rope {
    fn default() -> Self {
        Rope { length: 1.0, vertices: 20, direction: [0.0, -1.0, 0.0], mass_at: RopeMass::default() }
    }
}

scene_type! {
    /// How the mass of a rope is shared among its vertices.
    #[derive(Copy, Default, Eq)]
    pub enum RopeMass {
        /// By length: end vertices carry half.
        #[default]
        Segments,
        /// The same for each vertex but the first, which carries none but is to be pinned: a chain of equal weights.
        Beads,
    }
}

scene_type! {
    /// A mesh file.
    pub struct MeshFile {
        /// Path relative to the scene file: .obj, .ply, .stl or .3ds.
        pub path: String,
        /// Merge vertices at the same place, so that seams do not come apart (on by default).
        #[serde(default = "yes")]
        pub weld: bool,
    }
}

fn yes() -> bool {
    true
}

scene_type! {
    /// A mesh written in the scene itself.
    #[derive(Default)]
    pub struct InlineMesh {
        /// Vertex positions, m.
        pub positions: Vec<Vec3>,
        /// Triangles.
        #[serde(default)]
        pub triangles: Vec<[u32; 3]>,
        /// Texture coordinates, one per vertex, or none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub uvs: Vec<[f64; 2]>,
    }
}

scene_type! {
    /// Where something is put: scaled, then turned, then moved (ESSI-03, ESSI-04).
    #[serde(default)]
    #[derive(Copy)]
    pub struct Placement {
        /// Translation, m.
        pub translate: Vec3,
        /// Rotation: unit axis times angle in degrees.
        pub rotate_deg: Vec3,
        /// Scale of the shape.
        pub scale: f64,
    }
}

impl Default for Placement {
    fn default() -> Self {
        Placement { translate: [0.0; 3], rotate_deg: [0.0; 3], scale: 1.0 }
    }
}

scene_type! {
    /// Springs between particles.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Springs {
        /// Which pairs of particles get a spring.
        pub layout: Layout,
        /// Springs along threads or mesh edges.
        pub stretch: Family,
        /// Springs across the cells of a grid.
        pub shear: Family,
        /// Springs that skip a particle and so resist bending.
        pub bend: Family,
    }
}

impl Default for Springs {
    fn default() -> Self {
        Springs {
            layout: Layout::default(),
            stretch: Family::default(),
            shear: Family::default(),
            bend: Family::default(),
        }
    }
}

scene_type! {
    /// Which pairs of particles get a spring.
    #[derive(Copy, Default)]
    pub enum Layout {
        /// Stretch to the 4 grid neighbours, shear to the 4 diagonals, bending to every second one (ESSI-18). A rope has
        /// stretch and bending. Meshes that are not grids use `graph` instead.
        #[default]
        Structural,
        /// Every pair closer than this, m (ESSI-20).
        Radius(f64),
        /// Every pair within this many edges on the mesh (ESSI-21); works on any mesh.
        Graph(u32),
    }
}

scene_type! {
    /// One family of springs (ESSI-19). Give `stiffness` or `modulus`, or leave both to the fabric.
    #[serde(default)]
    #[derive(Copy, Default)]
    pub struct Family {
        /// Stiffness of each spring, N/m; 0 leaves the family out.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub stiffness: Option<f64>,
        /// Tension per width and strain of the sheet, N/m (for a rope: force per strain, N): each spring gets its share
        /// by the area around it, so that the sheet is as stiff on any mesh.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub modulus: Option<f64>,
        /// Axial damping of each spring, N·s/m (GRI-05).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub damping: Option<f64>,
    }
}

scene_type! {
    /// Rayleigh damping: force −(α M + β K) v, with K taken along each spring.
    #[serde(default)]
    #[derive(Copy, Default)]
    pub struct Rayleigh {
        /// α, 1/s: slows all motion, like dissipation (ESSI-26).
        pub mass: f64,
        /// β, s: damps changes of length in proportion to stiffness.
        pub stiffness: f64,
    }
}

scene_type! {
    /// Limits on the length of springs (ESSI-34…37), applied after each substep.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Limits {
        /// What is corrected.
        pub method: LimitMethod,
        /// How often all springs are visited per substep.
        pub iterations: u32,
        /// Limits of stretch springs.
        pub stretch: LengthLimit,
        /// Limits of shear springs.
        pub shear: LengthLimit,
        /// Limits of bend springs; none by default, or the cloth could not fold (ESSI-37).
        pub bend: LengthLimit,
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            method: LimitMethod::default(),
            iterations: 10,
            stretch: LengthLimit { max: Some(1.1), min: None },
            shear: LengthLimit { max: Some(1.1), min: None },
            bend: LengthLimit::default(),
        }
    }
}

scene_type! {
    /// What a stretch limit corrects.
    #[derive(Copy, Default, Eq)]
    pub enum LimitMethod {
        /// Nothing: stiffness alone (ESSI-34).
        None,
        /// Positions, after Provot (ESSI-35).
        Position,
        /// Relative velocities along the spring (ESSI-36).
        #[default]
        Velocity,
    }
}

scene_type! {
    /// Limits on the length of a spring, as ratios of its rest length.
    #[serde(default)]
    #[derive(Copy, Default)]
    pub struct LengthLimit {
        /// Longest, at least 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub max: Option<f64>,
        /// Shortest, at most 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub min: Option<f64>,
    }
}

scene_type! {
    /// When a body tears (GRI-08). Give at least one limit; the first that is passed counts. Only stretch and shear
    /// springs are judged: a bend spring is cut when the surface between its ends is.
    #[serde(default)]
    #[derive(Copy, Default)]
    pub struct Tear {
        /// Longest length of a spring as a ratio of its rest length; above 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub length_ratio: Option<f64>,
        /// Longest length of a spring, m; above the rest length of every spring.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub length: Option<f64>,
        /// Largest tension of a spring, N.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub force: Option<f64>,
    }
}

scene_type! {
    /// How the air acts on a body.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Air {
        /// Drag coefficient of each triangle facing the flow.
        pub drag: f64,
        /// Lift coefficient of each triangle.
        pub lift: f64,
        /// Viscous force per area and normal speed, N·s/m³ (ESSI-27).
        pub viscous: f64,
    }
}

impl Default for Air {
    fn default() -> Self {
        Air { drag: 1.0, lift: 0.5, viscous: 0.0 }
    }
}

scene_type! {
    /// A set of supported particles (GRI-07, ESSI-11).
    #[serde(default)]
    pub struct Pin {
        /// Name, for control streams; `left` and `right` say more than `0` and `1`.
        pub name: String,
        /// Which particles.
        pub select: Select,
        /// How they move; fixed without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub motion: Option<Motion>,
    }
}

impl Default for Pin {
    fn default() -> Self {
        Pin { name: "pin".into(), select: Select::Vertices(Vec::new()), motion: None }
    }
}

scene_type! {
    /// A choice of particles.
    pub enum Select {
        /// By index.
        Vertices(Vec<u32>),
        /// The one nearest to a point of the world, m.
        Near(Vec3),
        /// All inside a box of the world, m.
        Within(Region),
        /// A border of a grid.
        Border(Border),
        /// Every particle.
        All,
    }
}

scene_type! {
    /// A box of the world.
    #[derive(Copy)]
    pub struct Region {
        /// Lowest corner, m.
        pub min: Vec3,
        /// Highest corner, m.
        pub max: Vec3,
    }
}

scene_type! {
    /// A border of a grid.
    #[derive(Copy, Eq)]
    pub enum Border {
        /// First column.
        U0,
        /// Last column.
        U1,
        /// First row (the top of a hanging grid).
        V0,
        /// Last row.
        V1,
    }
}

scene_type! {
    /// A constant force shared by chosen particles (ESSI-29).
    #[serde(default)]
    pub struct Pull {
        /// Which particles.
        pub select: Select,
        /// Total force, N.
        pub force: Vec3,
        /// When it begins, s.
        pub from: f64,
        /// When it ends, s; never without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub until: Option<f64>,
    }
}

impl Default for Pull {
    fn default() -> Self {
        Pull { select: Select::Vertices(Vec::new()), force: [0.0; 3], from: 0.0, until: None }
    }
}

scene_type! {
    /// Rigid motion in time, relative to where the thing was put.
    #[serde(default)]
    pub struct Motion {
        /// Key frames, in order of time. Before the first and after the last, the pose is held.
        #[serde(rename = "key", skip_serializing_if = "Vec::is_empty")]
        pub keys: Vec<Key>,
        /// How the pose goes from key to key.
        pub interpolation: Interpolation,
        /// Start again after the last key.
        pub repeat: bool,
        /// Constant velocity on top, m/s.
        pub velocity: Vec3,
        /// Constant spin on top: unit axis times degrees per second.
        pub spin_deg: Vec3,
        /// Point that rotations turn about, in the world at the start, m; the position of the collider or the middle of the pinned particles
        /// without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub pivot: Option<Vec3>,
    }
}

impl Default for Motion {
    fn default() -> Self {
        Motion {
            keys: Vec::new(),
            interpolation: Interpolation::default(),
            repeat: false,
            velocity: [0.0; 3],
            spin_deg: [0.0; 3],
            pivot: None,
        }
    }
}

scene_type! {
    /// A pose at a time.
    #[serde(default)]
    #[derive(Copy, Default)]
    pub struct Key {
        /// Time, s.
        pub t: f64,
        /// Translation from the start, m.
        pub translate: Vec3,
        /// Rotation from the start: unit axis times angle in degrees.
        pub rotate_deg: Vec3,
    }
}

scene_type! {
    /// How a pose goes from key to key.
    #[derive(Copy, Default, Eq)]
    pub enum Interpolation {
        /// At constant speed.
        Linear,
        /// Starting and stopping gently at each key.
        #[default]
        Smooth,
    }
}

scene_type! {
    /// A rigid thing that bodies run into.
    #[serde(default)]
    pub struct Collider {
        /// Name, unique in the scene.
        pub name: String,
        /// Its shape.
        pub shape: ColliderShape,
        /// Where its centre is, m.
        pub position: Vec3,
        /// How it is turned: unit axis times angle in degrees.
        pub rotate_deg: Vec3,
        /// How it moves; fixed without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub motion: Option<Motion>,
        /// Coulomb friction coefficient.
        pub friction: f64,
        /// Share of the normal speed that comes back, 0 to 1 (ESSI-48's N).
        pub restitution: f64,
        /// Share of the tangential velocity that is kept at each contact, 0 stick to 1 slip (ESSI-48's C), instead of
        /// Coulomb friction.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tangential_keep: Option<f64>,
    }
}

impl Default for Collider {
    fn default() -> Self {
        Collider {
            name: "collider".into(),
            shape: ColliderShape::default(),
            position: [0.0; 3],
            rotate_deg: [0.0; 3],
            motion: None,
            friction: 0.3,
            restitution: 0.0,
            tangential_keep: None,
        }
    }
}

scene_type! {
    /// Shape of a collider, centred on its position.
    #[derive(Copy)]
    pub enum ColliderShape {
        /// Everything below a plane through the position (ESSI-43, GRI-12).
        Plane(PlaneShape),
        /// A ball (ESSI-42, GRI-13).
        Sphere(SphereShape),
        /// A box (GRI-14).
        Box(BoxShape),
        /// A cylinder along y with hemispherical ends (ESSI-44).
        Capsule(RoundShape),
        /// A cylinder along y with flat ends.
        Cylinder(RoundShape),
    }
}

impl Default for ColliderShape {
    fn default() -> Self {
        ColliderShape::Plane(PlaneShape::default())
    }
}

scene_type! {
    /// A half space.
    #[serde(default)]
    #[derive(Copy)]
    pub struct PlaneShape {
        /// Outward normal, any length.
        pub normal: Vec3,
    }
}

impl Default for PlaneShape {
    fn default() -> Self {
        PlaneShape { normal: [0.0, 1.0, 0.0] }
    }
}

scene_type! {
    /// A ball.
    #[derive(Copy)]
    pub struct SphereShape {
        /// Radius, m.
        pub radius: f64,
    }
}

scene_type! {
    /// A box.
    #[derive(Copy)]
    pub struct BoxShape {
        /// Full extent along x, y and z, m.
        pub size: Vec3,
    }
}

scene_type! {
    /// A capsule or cylinder along y.
    #[derive(Copy)]
    pub struct RoundShape {
        /// Radius, m.
        pub radius: f64,
        /// Length of the axis, m; a capsule is two radii longer.
        pub height: f64,
    }
}

scene_type! {
    /// Moving air. Parts add up.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Wind {
        /// Mean velocity, m/s.
        pub velocity: Vec3,
        /// Density of the air, kg/m³.
        pub air_density: f64,
        /// Turbulence carried along by the mean wind.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub gusts: Option<Gusts>,
        /// Sinusoidal wind with a random response of each particle (ESSI-28).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sinus: Option<Sinus>,
        /// The random force of GRI-15.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub random_force: Option<RandomForce>,
    }
}

impl Default for Wind {
    fn default() -> Self {
        Wind { velocity: [0.0; 3], air_density: 1.225, gusts: None, sinus: None, random_force: None }
    }
}

scene_type! {
    /// Coherent noise added to the mean wind.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Gusts {
        /// Largest deviation from the mean, m/s.
        pub strength: f64,
        /// Size of the eddies, m.
        pub size: f64,
        /// Time in which an eddy changes by itself, s.
        pub period: f64,
        /// Seed of the noise.
        pub seed: u32,
    }
}

impl Default for Gusts {
    fn default() -> Self {
        Gusts { strength: 2.0, size: 1.0, period: 1.0, seed: 1 }
    }
}

scene_type! {
    /// Wind whose speed swings, with a random factor for each particle (ESSI-28).
    #[serde(default)]
    #[derive(Copy)]
    pub struct Sinus {
        /// Velocity at the peak, m/s.
        pub amplitude: Vec3,
        /// Swings per second, Hz.
        pub frequency: f64,
        /// Each particle feels 1 ± this share of the wind.
        pub spread: f64,
        /// Seed of the factors.
        pub seed: u32,
    }
}

impl Default for Sinus {
    fn default() -> Self {
        Sinus { amplitude: [0.0; 3], frequency: 0.5, spread: 0.3, seed: 1 }
    }
}

scene_type! {
    /// Force A cos(ωt + φ) + B sin(ωt + θ) on every particle along a direction, with random A, B, ω, φ, θ (GRI-15).
    #[serde(default)]
    #[derive(Copy)]
    pub struct RandomForce {
        /// Direction, any length.
        pub direction: Vec3,
        /// A and B are drawn from 0 to this, N.
        pub amplitude: f64,
        /// ω is drawn from 0 to this, rad/s.
        pub max_frequency: f64,
        /// How long a draw lasts, s; 0 draws anew at every step as the seed did, which is noise, not gusts.
        pub hold: f64,
        /// Seed of the draws.
        pub seed: u32,
    }
}

impl Default for RandomForce {
    fn default() -> Self {
        RandomForce { direction: [0.0, 0.0, 1.0], amplitude: 1e-3, max_frequency: 10.0, hold: 0.0, seed: 1 }
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
        /// Something must have torn, or nothing may have.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub torn: Option<bool>,
    }
}
