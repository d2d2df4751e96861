//! What surrounds the bodies as the user writes it: colliders, scripted motion, wind.

use serde::{Deserialize, Serialize};

use super::{Follow, InlineMesh, Look, MeshFile, Select, SkinShape, Vec3, Wrinkling};

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
    /// Something that bodies run into, and that does not give way.
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
        /// Scale of its shape; an endless plane has none.
        pub scale: f64,
        /// How it moves; fixed without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub motion: Option<Motion>,
        /// The bone of a character that carries it, from where it is at the start.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub follow: Option<Follow>,
        /// Coulomb friction coefficient.
        pub friction: f64,
        /// Share of the normal speed that comes back, 0 to 1 (ESSI-48's N).
        pub restitution: f64,
        /// Whether what is inside is led out (SIM-B10), of a closed mesh; other shapes always are solid. If not, what begins inside
        /// stays there, as in a room.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub solid: Option<bool>,
        /// Share of the tangential velocity that is kept at each contact, 0 stick to 1 slip (ESSI-48's C), instead of
        /// Coulomb friction.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tangential_keep: Option<f64>,
        /// Name of the layer it belongs to, which the masks of bodies speak of.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub layer: Option<String>,
        /// Mask: the layers that it touches; all without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub touches: Option<Vec<String>>,
        /// The bodies, and their particles, that alone are held against it, so that no others are looked at (SIM-32); all of all
        /// bodies without it. Not for meshes, which touch by their surface.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub only: Option<Vec<Assigned>>,
        /// Folds on a skin, where it is compressed against its shape at rest.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub wrinkles: Option<Wrinkling>,
        /// How it looks.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub look: Option<Look>,
    }
}

impl Default for Collider {
    fn default() -> Self {
        Collider {
            name: "collider".into(),
            shape: ColliderShape::default(),
            position: [0.0; 3],
            rotate_deg: [0.0; 3],
            scale: 1.0,
            motion: None,
            follow: None,
            friction: 0.3,
            restitution: 0.0,
            solid: None,
            tangential_keep: None,
            layer: None,
            touches: None,
            wrinkles: None,
            only: None,
            look: None,
        }
    }
}

scene_type! {
    /// How two things touch, instead of what would follow from each: two bodies, a body and itself, or a body and a collider.
    #[serde(default)]
    pub struct Pair {
        /// Names of the two.
        pub between: [String; 2],
        /// Whether they touch at all.
        pub touch: bool,
        /// Coulomb friction coefficient.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub friction: Option<f64>,
        /// Share of the approach speed that comes back, 0 to 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub restitution: Option<f64>,
        /// Distance that they keep, m.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub distance: Option<f64>,
    }
}

impl Default for Pair {
    fn default() -> Self {
        Pair {
            between: [String::new(), String::new()],
            touch: true,
            friction: None,
            restitution: None,
            distance: None,
        }
    }
}

scene_type! {
    /// Particles of a body that are held against a collider.
    #[serde(default)]
    pub struct Assigned {
        /// Name of the body.
        pub body: String,
        /// Which of its particles; all without it.
        pub select: Select,
    }
}

impl Default for Assigned {
    fn default() -> Self {
        Assigned { body: String::new(), select: Select::All }
    }
}

scene_type! {
    /// Shape of a collider, with its origin at its position.
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
        /// A mesh file, path relative to the scene (ESSI-46, SIM-30).
        File(MeshFile),
        /// A mesh written in the scene itself.
        Mesh(InlineMesh),
        /// The skin of a character, which moves with it.
        Skin(SkinShape),
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
    /// Springs or a joint between two bodies, or one and the world (FAU-68, FAU-70). Bodies of one group are solved together (strong coupling); between groups
    /// the forces are held during a step (weak coupling, FAU-69).
    #[serde(default)]
    pub struct LinkSprings {
        /// Name.
        pub name: String,
        /// What it is.
        pub kind: LinkKind,
        /// Names of two bodies; of a joint the second may be `"world"`.
        pub between: [String; 2],
        /// One spring joins the particles of both that are nearest to this place, m.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub near: Option<Vec3>,
        /// Each particle of the first body is joined to the nearest one of the second that is no further away than this, m.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub within: Option<f64>,
        /// Where a joint is, m: in a rigid body any place, of others the particle that is nearest.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub at: Option<Vec3>,
        /// Direction of a hinge, any length.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub axis: Option<Vec3>,
        /// Distance of the two points that hold a hinge, m; as wide as its bodies without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub width: Option<f64>,
        /// Stiffness of each spring, N/m; without it 1e4, and of a joint as much as the step can bear.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub stiffness: Option<f64>,
        /// Damping of each spring, N·s/m.
        pub damping: f64,
        /// Length at which they neither pull nor push, m; as long as they are at the start without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rest_length: Option<f64>,
    }
}

impl LinkSprings {
    /// The name of what is no body.
    pub const WORLD: &str = "world";

    /// Whether it is a joint that holds one body where it is.
    pub fn joins_world(&self) -> bool {
        self.kind != LinkKind::Spring && self.between[1] == LinkSprings::WORLD
    }
}

impl Default for LinkSprings {
    fn default() -> Self {
        LinkSprings {
            name: "link".into(),
            kind: LinkKind::default(),
            between: [String::new(), String::new()],
            near: None,
            within: None,
            at: None,
            axis: None,
            width: None,
            stiffness: None,
            damping: 0.0,
            rest_length: None,
        }
    }
}

scene_type! {
    /// What a link is.
    #[derive(Copy, Default, Eq)]
    pub enum LinkKind {
        /// Springs between particles.
        #[default]
        Spring,
        /// A joint that keeps two points together.
        Ball,
        /// A joint that keeps two points together and turns about an axis only.
        Hinge,
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
