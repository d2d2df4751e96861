//! The scene, validated and compiled: everything that does not change while it runs.

use std::sync::Arc;

use glam::{DMat3, DVec3};

use crate::contact::primitives::Primitive;
use crate::contact::response::ContactMaterial;
use crate::contact::rules::PairModel;
use crate::energy::{Energy, Link, Volume};
use crate::math::Pose;
use crate::mesh::tear::TearLimits;
use crate::mesh::{ColliderMesh, Spring, SpringFamily, Topology};
use crate::paper::PaperModel;
use crate::refine::Refining;
use crate::rigid::RigidFrame;
use crate::scene::{
    Cg, ContactMode, Descent, Goals, Health, LimitMethod, Motion, Sleep, SolverKind, SurfaceContact, Wind,
    Xpbd,
};
use crate::skin::{CharacterModel, Layer, Posed, SkinPoint};
use crate::wrinkles::Wrinkles;

/// A compiled scene; made by [`crate::ModelBuilder`].
#[derive(Debug)]
pub struct Model {
    /// Name of the scene.
    pub name: String,
    /// Gravity, m/s².
    pub gravity: DVec3,
    /// Frames per second.
    pub fps: f64,
    /// How many frames a run makes.
    pub frames: u32,
    /// Limits beyond which an object counts as diverging.
    pub health: Health,
    /// Moving air.
    pub wind: Wind,
    /// Solver groups.
    pub groups: Vec<GroupModel>,
    /// Soft bodies.
    pub bodies: Vec<BodyModel>,
    /// Sheets of paper.
    pub papers: Vec<PaperModel>,
    /// Characters that colliders and supports follow.
    pub characters: Vec<CharacterModel>,
    /// Colliders.
    pub colliders: Vec<ColliderModel>,
    /// Pairs of things that touch in a way of their own.
    pub pairs: Vec<PairModel>,
    /// Springs between bodies.
    pub links: Vec<LinkModel>,
    /// Hash of everything above: a snapshot of one model is not taken for another's.
    pub fingerprint: u64,
}

impl Model {
    /// Length of a step, s: one frame.
    pub fn frame_dt(&self) -> f64 {
        1.0 / self.fps
    }

    /// Length of the substeps of a body, s, unless a frame is cut finer.
    pub fn usual_step(&self, b: usize) -> f64 {
        self.frame_dt() / f64::from(self.groups[self.bodies[b].group].substeps)
    }

    /// Index of the body of that name.
    pub fn body_index(&self, name: &str) -> Option<usize> {
        self.bodies.iter().position(|b| b.name == name)
    }

    /// Index of the sheet of paper of that name.
    pub fn paper_index(&self, name: &str) -> Option<usize> {
        self.papers.iter().position(|p| p.name == name)
    }

    /// Number of particles at the start.
    pub fn particle_count(&self) -> usize {
        self.bodies.iter().map(|b| b.topology.len()).sum()
    }
}

/// A group of bodies and its solver.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupModel {
    /// Name.
    pub name: String,
    /// Solver.
    pub solver: SolverKind,
    /// Equal substeps per frame.
    pub substeps: u32,
    /// Conjugate gradient settings.
    pub cg: Cg,
    /// Settings of the real-time solver.
    pub xpbd: Xpbd,
    /// When bodies at rest are no longer advanced.
    pub sleep: Option<Sleep>,
    /// Settings of projective dynamics and vertex block descent.
    pub descent: Descent,
    /// Settings of the solver by goals.
    pub goals: Goals,
    /// What contact of surfaces promises.
    pub contact_mode: ContactMode,
    /// Distances per substep that the search for contacts of surfaces may compute; without it all are found.
    pub contact_budget: Option<u32>,
}

impl GroupModel {
    /// Whether what it computes hangs on the clock, and so differs from run to run.
    pub fn is_timed(&self) -> bool {
        self.solver == SolverKind::ImplicitEulerCg && self.cg.max_ms.is_some()
    }
}

/// A compiled soft body.
#[derive(Debug)]
pub struct BodyModel {
    /// Name.
    pub name: String,
    /// Index of its group.
    pub group: usize,
    /// What joins its particles, untorn; rest positions are the positions at the start.
    pub topology: Arc<Topology>,
    /// Texture coordinates, one per particle at the start, or empty.
    pub uvs: Vec<[f64; 2]>,
    /// Velocity at the start, m/s.
    pub velocity: DVec3,
    /// Rayleigh's mass damping α, 1/s.
    pub dissipation: f64,
    /// Forces that act on it, in the order they are added up.
    pub energies: Vec<Box<dyn Energy>>,
    /// Resistance of its triangles to a change of area, N/m; among the energies too.
    pub area_stiffness: f64,
    /// What is inside it; among the energies too.
    pub inside: Option<Volume>,
    /// Stretch limits.
    pub limits: Option<LimitModel>,
    /// When it tears.
    pub tear: Option<TearLimits>,
    /// Distance at which its particles touch colliders, m.
    pub skin: f64,
    /// How its surface touches itself.
    pub contact: Option<SurfaceContact>,
    /// Sets of supported particles.
    pub pins: Vec<PinModel>,
    /// What holds it to the skin of a character, if it is a part of one.
    pub layer: Option<Layer>,
    /// The four particles of a rigid body.
    pub rigid: Option<RigidFrame>,
    /// How its cells are divided and joined as it bends; none if they never are.
    pub refining: Option<Refining>,
    /// Folds that are drawn on it.
    pub wrinkles: Option<Arc<Wrinkles>>,
    /// Whether a sheet of paper that has its border is drawn instead.
    pub is_paper: bool,
}

impl BodyModel {
    /// Whether its scene lets the air act on it.
    pub fn feels_air(&self) -> bool {
        self.energies.iter().any(|e| matches!(e.name(), "aerodynamics" | "viscous air"))
    }

    /// Elements that may give way for good.
    pub fn plastic_elements(&self) -> usize {
        self.energies.iter().map(|e| e.plastic_elements()).sum()
    }

    /// What these have in the state before anything has given way.
    pub fn unflowed(&self) -> Vec<DMat3> {
        self.energies.iter().flat_map(|e| std::iter::repeat_n(e.unflowed(), e.plastic_elements())).collect()
    }

    /// Whether an element could have flowed to that. Elements that may are all of one energy.
    pub(crate) fn may_flow_to(&self, plastic: &DMat3) -> bool {
        self.energies.iter().filter(|e| e.plastic_elements() > 0).all(|e| e.may_flow_to(plastic))
    }

    /// Whether it is a sheet or rope whose particles can be doubled: elements, what creases, followers, matched shapes, layers of skins and folds know theirs by
    /// number.
    pub fn can_be_cut(&self) -> bool {
        !self.topology.is_solid()
            && self.topology.mapping.is_empty()
            && self.layer.is_none()
            && self.wrinkles.is_none()
            && self.energies.iter().all(|e| e.name() != "shape matching" && e.plastic_elements() == 0)
    }

    /// Whether all its supports, of which it has some, or all that holds a part of a skin, follow that character.
    pub fn hangs_on(&self, character: usize) -> bool {
        let follows = |pin: &PinModel| match &pin.carrier {
            PinCarrier::Script | PinCarrier::Paper(_) => false,
            PinCarrier::Bone(bone) => bone.character == character,
            PinCarrier::Skin { character: followed, .. } => *followed == character,
            PinCarrier::Layer => self.layer.as_ref().is_some_and(|layer| layer.character == character),
        };
        let rides = self.layer.as_ref().is_some_and(|layer| layer.character == character);
        (rides || !self.pins.is_empty()) && self.pins.iter().all(follows)
    }

    /// Whether a collider that is the skin of its character, or a sheet of paper, shows it, so that it is not seen by itself.
    pub fn is_worn(&self) -> bool {
        self.is_paper || self.layer.as_ref().is_some_and(|layer| !layer.shown_by.is_empty())
    }

    /// Springs of the untorn body.
    pub fn springs(&self) -> &[Spring] {
        &self.topology.springs
    }
}

/// Compiled springs between two bodies (FAU-68).
#[derive(Clone, Debug, PartialEq)]
pub struct LinkModel {
    /// Name.
    pub name: String,
    /// Indices of the bodies.
    pub bodies: [usize; 2],
    /// Springs from points of the first body to points of the second.
    pub links: Vec<Link>,
    /// Whether both are solved as one system (FAU-69); else forces are held during a step.
    pub is_strong: bool,
}

/// Compiled stretch limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitModel {
    /// What is corrected.
    pub method: LimitMethod,
    /// Visits of all springs per substep.
    pub iterations: u32,
    /// Longest and shortest length over rest length per family; infinite and zero where there is no limit.
    pub range: [(f64, f64); 3],
}

impl LimitModel {
    /// Shortest and longest length of a spring, m.
    pub fn lengths(&self, spring: &Spring) -> (f64, f64) {
        let (max, min) = self.range[spring.family as usize];
        (min * spring.rest_length, max * spring.rest_length)
    }

    /// Whether a family is limited at all.
    pub fn limits_family(&self, family: SpringFamily) -> bool {
        let (max, min) = self.range[family as usize];
        max.is_finite() || min > 0.0
    }
}

/// A compiled set of supported particles.
#[derive(Clone, Debug, PartialEq)]
pub struct PinModel {
    /// Name.
    pub name: String,
    /// Particles, ascending.
    pub vertices: Vec<u32>,
    /// Scripted motion.
    pub motion: Option<Motion>,
    /// What carries them instead.
    pub carrier: PinCarrier,
    /// Point that rotations turn about, m.
    pub pivot: DVec3,
    /// When they are let go, s.
    pub until: f64,
}

/// What carries supports.
#[derive(Clone, Debug, PartialEq)]
pub enum PinCarrier {
    /// Their own script.
    Script,
    /// A bone, as one.
    Bone(BoneCarrier),
    /// The border of a sheet of paper: times, s, ascending, and where each of them is then, m.
    Paper(Vec<(f64, Vec<DVec3>)>),
    /// The skin of a character.
    Skin {
        /// Number of the character.
        character: usize,
        /// One point of it for each particle of the set.
        points: Vec<SkinPoint>,
    },
    /// The vertices of the skin that they are.
    Layer,
}

/// What carries a collider.
#[derive(Clone, Debug, PartialEq)]
pub enum Carrier {
    /// Its own script.
    Script,
    /// A bone, as one.
    Bone(BoneCarrier),
    /// It is the skin of a character, and its vertices move.
    Skin {
        /// Number of the character.
        character: usize,
        /// Mesh and vertex of each of its vertices.
        vertices: Vec<(u32, u32)>,
    },
}

/// A bone that carries things from where they were when the scene began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoneCarrier {
    /// Number of the character.
    pub character: usize,
    /// Number of its frame.
    pub node: u32,
    /// What leads from the world to the frame when the scene begins.
    pub bound: Pose,
}

impl BoneCarrier {
    /// What it has moved things by.
    pub fn motion(&self, posed: &Posed) -> Pose {
        posed.characters[self.character].bone(self.node).compose(&self.bound)
    }
}

/// A compiled collider.
#[derive(Clone, Debug, PartialEq)]
pub struct ColliderModel {
    /// Name.
    pub name: String,
    /// Shape in its own frame.
    pub form: ColliderForm,
    /// Where it was put.
    pub pose: Pose,
    /// What carries it.
    pub carrier: Carrier,
    /// Scripted motion.
    pub motion: Option<Motion>,
    /// Point that rotations turn about, m.
    pub pivot: DVec3,
    /// Friction and restitution.
    pub material: ContactMaterial,
    /// The layer it belongs to.
    pub layer: Option<String>,
    /// The layers that it touches; all without it.
    pub touches: Option<Vec<String>>,
    /// Whether what is inside a closed mesh is led out; not if it is not said.
    pub solid: Option<bool>,
    /// Folds that are drawn on it, if it is a skin.
    pub wrinkles: Option<Arc<Wrinkles>>,
    /// The bodies that alone are held against it (SIM-32), each once; all without it.
    pub only: Option<Vec<AssignedModel>>,
}

impl ColliderModel {
    /// Where the vertices of a skin are in the frame of its character, m; none of what is rigid.
    pub fn skin_places(&self, characters: &[CharacterModel], posed: &Posed, places: &mut Vec<DVec3>) {
        places.clear();
        if let Carrier::Skin { character, vertices } = &self.carrier {
            let (model, posed) = (&characters[*character], &posed.characters[*character]);
            posed.vertices(model, vertices, places);
        }
    }
}

/// Particles of a body that are held against a collider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignedModel {
    /// Index of the body.
    pub body: usize,
    /// Particles of the untorn body, ascending; all without it.
    pub vertices: Option<Vec<u32>>,
}

/// The shape of a collider, in its own frame.
#[derive(Clone, Debug, PartialEq)]
pub enum ColliderForm {
    /// A shape by formula.
    Primitive(Primitive),
    /// A surface of triangles.
    Mesh(Arc<ColliderMesh>),
}

impl ColliderForm {
    /// The shape by formula, if it is one.
    pub fn primitive(&self) -> Option<&Primitive> {
        match self {
            ColliderForm::Primitive(primitive) => Some(primitive),
            ColliderForm::Mesh(_) => None,
        }
    }

    /// The mesh, if it is one.
    pub fn mesh(&self) -> Option<&Arc<ColliderMesh>> {
        match self {
            ColliderForm::Primitive(_) => None,
            ColliderForm::Mesh(mesh) => Some(mesh),
        }
    }

    /// Smallest box around it in its own frame, m; none around an endless plane.
    pub fn bounds(&self) -> Option<(DVec3, DVec3)> {
        match self {
            ColliderForm::Primitive(Primitive::Plane { .. }) => None,
            ColliderForm::Primitive(primitive) => Some(primitive.bounds(&Pose::IDENTITY, 0.0)),
            ColliderForm::Mesh(mesh) => Some(mesh.bounds),
        }
    }
}
