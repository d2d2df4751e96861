//! Soft bodies as the user writes them: shape, material, springs, limits, supports.

use serde::{Deserialize, Serialize};

use super::{
    Creasing, Dials, Elastic, Look, Material, Pin, Plasticity, Pull, Resolution, ShapeMatching, SkinShape,
    Vec3, VoxelShape, Wrinkling,
};

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
        /// Mass per area of a surface, kg/m², per length of a rope, kg/m, or per volume of a solid, kg/m³.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub density: Option<f64>,
        /// Total mass, kg; instead of density.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub mass: Option<f64>,
        /// Young's modulus, Pa: of a solid; with `thickness` it sets the modulus of the stretch springs of others.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub young_modulus: Option<f64>,
        /// Poisson's ratio of a solid, above −1 and below 0.5, which would be of constant volume (FAU-04).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub poisson_ratio: Option<f64>,
        /// How a solid answers strain.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub law: Option<SolidLaw>,
        /// When a solid gives way for good, and keeps a part of its strain.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub plasticity: Option<Plasticity>,
        /// Pulls it to where its shape at rest fits it best; of a solid it may stand instead of `young_modulus`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub shape_matching: Option<ShapeMatching>,
        /// What the parts of a solid of tetrahedra or voxels are made of, by their labels; what is not said here is that of the body (FAU-04).
        #[serde(rename = "material", skip_serializing_if = "Vec::is_empty")]
        pub materials: Vec<Material>,
        /// Makes a solid of a surface: cells around it are its mechanics, and the surface follows them.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub embed: Option<Embed>,
        /// Cells of several sizes, of a solid of hexahedra.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub resolution: Option<Resolution>,
        /// Whether it keeps its shape (FAU-06): a rigid body, with mass and inertia of what its surface encloses, or of its surface if that is open.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub rigid: bool,
        /// Thickness of the material, m (cross-section diameter of a rope).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub thickness: Option<f64>,
        /// Bending rigidity: of a sheet E t³/12(1 − ν²), N·m (cotton: 1e-5 to 1e-4); of a rope E I, N·m². Without it bend springs alone.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub bending: Option<f64>,
        /// When a sheet with `bending` keeps a bend for good.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub creasing: Option<Creasing>,
        /// Resistance of triangles to a change of their area, N/m: tension per width and relative change of area.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub area_stiffness: Option<f64>,
        /// What is inside a body whose triangles close a volume.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub inside: Option<Inside>,
        /// Stiffness without units, from 0 to 1, instead of numbers in units.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub dials: Option<Dials>,
        /// How a part of a skin gives way; with `shape = { skin = … }` alone.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub elastic: Option<Elastic>,
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
        /// How its surface touches itself; it passes through itself without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub contact: Option<SurfaceContact>,
        /// Velocity at the start, m/s.
        pub velocity: Vec3,
        /// How it looks.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub look: Option<Look>,
        /// Folds drawn on it where it is compressed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub wrinkles: Option<Wrinkling>,
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
            poisson_ratio: None,
            law: None,
            plasticity: None,
            shape_matching: None,
            materials: Vec::new(),
            embed: None,
            resolution: None,
            rigid: false,
            thickness: None,
            bending: None,
            creasing: None,
            area_stiffness: None,
            inside: None,
            dials: None,
            elastic: None,
            springs: Springs::default(),
            rayleigh: None,
            limits: None,
            tear: None,
            air: None,
            skin: 0.002,
            contact: None,
            velocity: [0.0; 3],
            look: None,
            wrinkles: None,
            pins: Vec::new(),
            pulls: Vec::new(),
        }
    }
}

scene_type! {
    /// How the surface of a body touches itself and others, at the distance of its skin; of two bodies, at the mean of both.
    #[serde(default)]
    pub struct SurfaceContact {
        /// Coulomb friction coefficient; of two bodies, the root of the product of both.
        pub friction: f64,
        /// Share of the approach speed that comes back, 0 to 1; of two bodies, the larger one.
        pub restitution: f64,
        /// Whether it touches itself.
        pub itself: bool,
        /// Whether it touches other bodies of its group that have `contact`, too.
        pub others: bool,
        /// Name of the layer it belongs to, which the masks of others speak of.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub layer: Option<String>,
        /// Mask: the layers that it touches; all without it. Two touch if each has the layer of the other in its mask.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub touches: Option<Vec<String>>,
    }
}

impl Default for SurfaceContact {
    fn default() -> Self {
        SurfaceContact {
            friction: 0.3,
            restitution: 0.0,
            itself: true,
            others: true,
            layer: None,
            touches: None,
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
        /// A hollow ball.
        Ball(Ball),
        /// A solid block of tetrahedra.
        Block(Block),
        /// Many ropes that grow out of a disc or a half ball: hair, fur, grass, a brush.
        Strands(Strands),
        /// A mesh file, path relative to the scene.
        File(MeshFile),
        /// A mesh written in the scene itself.
        Mesh(InlineMesh),
        /// A solid of labelled voxels.
        Voxels(VoxelShape),
        /// A part of the skin of a character; with `elastic`.
        Skin(SkinShape),
    }
}

impl Default for Shape {
    fn default() -> Self {
        Shape::Grid(Grid::default())
    }
}

scene_type! {
    /// How a solid answers strain.
    #[derive(Copy, Eq, Default)]
    pub enum SolidLaw {
        /// Hooke's law in the frame of the nearest rotation of each element.
        #[default]
        Polar,
        /// Hooke's law in a frame along the edges of each element (FAU-01).
        Qr,
        /// Stable neo-Hookean: large compression costs more and more.
        NeoHookean,
    }
}

scene_type! {
    /// How a surface is put into cells that are its mechanics (FAU-13, FAU-16, FAU-17).
    #[serde(default)]
    #[derive(Copy)]
    pub struct Embed {
        /// Edge of a cell, m.
        pub cell: f64,
        /// Fine cells along the edge of a cell: how closely it is known what fills cells that the surface passes.
        pub fine: u32,
        /// Whether what is inside is filled; without it a surface is filled if it is closed. If not, the cells that the surface passes are the body.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub fill: Option<bool>,
        /// What becomes of cells: hexahedra with the stiffness of what fills them, or tetrahedra, which are full wherever there is a cell.
        pub cut: Cells,
    }
}

impl Default for Embed {
    fn default() -> Self {
        Embed { cell: 0.1, fine: 4, fill: None, cut: Cells::Hexahedra }
    }
}

scene_type! {
    /// A solid block from the origin to `size`, of cells that are hexahedra, or are cut into tetrahedra.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Block {
        /// Extent along x, y and z, m.
        pub size: Vec3,
        /// Number of cells along x, y and z.
        pub cells: [u32; 3],
        /// How cells are cut.
        pub cut: Cells,
    }
}

impl Default for Block {
    fn default() -> Self {
        Block { size: [1.0; 3], cells: [4; 3], cut: Cells::Five }
    }
}

scene_type! {
    /// How the cells of a block are cut into tetrahedra, if they are.
    #[derive(Copy, Eq, Default)]
    pub enum Cells {
        /// Not cut: hexahedra that do not lock (FAU-20).
        Hexahedra,
        /// Not cut, and without the shape functions that let hexahedra bend freely: too stiff where they bend.
        PlainHexahedra,
        /// Into five, mirrored from cell to cell.
        #[default]
        Five,
        /// Into six, all the same way.
        Six,
    }
}

scene_type! {
    /// A rectangle of cloth (ESSI-17). Vertex (i, j) of row i and column j has index i·columns + j.
    #[serde(default)]
    pub struct Grid {
        /// Extent along columns (u) and along rows (v), m.
        pub size: [f64; 2],
        /// Number of vertices along u and along v.
        pub vertices: [u32; 2],
        /// The plane it lies in: `xz` is horizontal (u = x, v = z), `xy` hangs (u = x, v downwards from the top).
        pub plane: GridPlane,
        /// How cells are cut in two triangles.
        pub diagonals: Diagonals,
        /// Waves that lift it out of its plane, so that it knows where to fold.
        #[serde(rename = "wave", skip_serializing_if = "Vec::is_empty")]
        pub waves: Vec<Wave>,
    }
}

scene_type! {
    /// A wave across a grid: it lifts the point u, v, in metres from the corner (0, 0), by h sin(a u + b v + c).
    #[serde(default)]
    #[derive(Copy, Default)]
    pub struct Wave {
        /// Height h, m; upwards, or towards the viewer in the plane `xy`.
        pub height: f64,
        /// Angles per length a and b, rad/m.
        pub along: [f64; 2],
        /// Angle c at the corner, rad.
        pub phase: f64,
    }
}

impl Default for Grid {
    fn default() -> Self {
        Grid {
            size: [1.0, 1.0],
            vertices: [32, 32],
            plane: GridPlane::default(),
            diagonals: Diagonals::default(),
            waves: Vec::new(),
        }
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
        /// The same for each vertex: a chain of equal weights. The first is there to be pinned and is not counted in the mass.
        Beads,
    }
}

scene_type! {
    /// Many ropes of one length that grow out of a disc or a half ball around the origin of the placement. Vertex i of strand s, from its root on, has index s·(segments + 1) + i.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Strands {
        /// How many.
        pub strands: u32,
        /// Segments of each.
        pub segments: u32,
        /// Rest length of each, m.
        pub length: f64,
        /// Where the roots are.
        pub roots: Roots,
        /// Radius of the disc or the ball, m.
        pub radius: f64,
        /// Radius of the curls at rest, m; 0 for straight strands.
        pub curl_radius: f64,
        /// How far a curl goes on in one turn, m.
        pub curl_pitch: f64,
        /// Seed of what differs from strand to strand: roots and directions a little, where curls begin.
        pub seed: u32,
    }
}

impl Default for Strands {
    fn default() -> Self {
        Strands {
            strands: 200,
            segments: 20,
            length: 0.3,
            roots: Roots::default(),
            radius: 0.1,
            curl_radius: 0.0,
            curl_pitch: 0.03,
            seed: 1,
        }
    }
}

scene_type! {
    /// Where strands grow.
    #[derive(Copy, Default, Eq)]
    pub enum Roots {
        /// On a level disc, upwards.
        #[default]
        Disc,
        /// On the upper half of a ball, outwards.
        Hemisphere,
    }
}

scene_type! {
    /// A hollow ball around the origin of the placement, of nearly equal triangles.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Ball {
        /// Radius, m.
        pub radius: f64,
        /// How often the 20 triangles of an icosahedron are cut in four: n times make 10·4ⁿ + 2 vertices.
        pub subdivisions: u32,
    }
}

impl Default for Ball {
    fn default() -> Self {
        Ball { radius: 0.5, subdivisions: 3 }
    }
}

scene_type! {
    /// A mesh file.
    pub struct MeshFile {
        /// Path relative to the scene file: .obj, .ply, .stl or .3ds; of a solid .msh, .ele, .node, .vtk, .vtu or .mesh.
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
        /// Tetrahedra: with them it is a solid, whose surface is theirs (FAU-01).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub tetrahedra: Vec<[u32; 4]>,
        /// Label of the material of each tetrahedron, or none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub labels: Vec<u32>,
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

impl Placement {
    pub(super) fn is_default(&self) -> bool {
        *self == Placement::default()
    }
}

scene_type! {
    /// What is inside a body whose triangles close a volume: a gas, a liquid, or both numbers of one.
    #[serde(default)]
    #[derive(Copy, Default)]
    pub struct Inside {
        /// Pressure beyond that outside at the volume at rest, Pa.
        pub pressure: f64,
        /// How the pressure falls as the volume V grows: by K (V/V₀ − 1), Pa. 0 keeps it constant; air closed in has
        /// 1e5, water 2.2e9, which keeps the volume.
        pub bulk_modulus: f64,
    }
}

scene_type! {
    /// Springs between particles.
    #[serde(default)]
    #[derive(Copy, Default)]
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

scene_type! {
    /// Which pairs of particles get a spring.
    #[derive(Copy, Default)]
    pub enum Layout {
        /// Stretch to the 4 grid neighbours, shear to the 4 diagonals, bending to every second one (ESSI-18). A rope has
        /// stretch and bending. Only for grids and ropes: give meshes `graph` or `radius`.
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
        /// by the area around it. Exact for the structural layout; within a fifth on other meshes and layouts.
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
        /// β, s: damps changes of length in proportion to stiffness; the fabric's without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub stiffness: Option<f64>,
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
