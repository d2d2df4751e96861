//! Meshes of tetrahedra, as their readers give them (FAU-01, FAU-04).
//!
//! Whatever the format: the corners of elements with more nodes are kept and the nodes between them dropped, vertices that no
//! tetrahedron uses are dropped, and other elements (points, lines, triangles, bricks) are skipped. A tetrahedron without volume
//! is an error that names it, and so are two of the same corners. One that is inside out is left as it is in the file, since programs disagree on the order
//! of corners: [`SolidMesh::inside_out`] counts them, [`SolidMesh::turn_round`] and the builder of scenes turn them, and
//! `souple check` tells it. Lengths are taken as metres; which way is up is not changed.
//!
//! Labels are what each format has to tell parts apart: physical groups of Gmsh, regions of TetGen, references of MEDIT, a
//! cell array of VTK. They are empty if the file has none, or 0 alone.

use std::collections::HashMap;

use glam::DVec3;
use souple::mesh::TriMesh;
use souple::mesh::tetrahedron::{boundary, inside_out, is_flat, turn_round};

use super::{
    ImportError, Limits, MeshFormat, Place, check_bytes, finite_position, gmsh, malformed, medit, tetgen,
    vtk, vtu,
};

/// A mesh of tetrahedra.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolidMesh {
    /// Places, m; each belongs to a tetrahedron.
    pub positions: Vec<DVec3>,
    /// Four different vertices each, of a volume that is not 0.
    pub tetrahedra: Vec<[u32; 4]>,
    /// What each tetrahedron belongs to, or empty.
    pub labels: Vec<u32>,
}

impl SolidMesh {
    /// How many tetrahedra are inside out.
    pub fn inside_out(&self) -> usize {
        inside_out(&self.positions, &self.tetrahedra)
    }

    /// Turns those round that are inside out, and says how many were.
    pub fn turn_round(&mut self) -> usize {
        turn_round(&self.positions, &mut self.tetrahedra)
    }

    /// Its surface, facing outwards, without the vertices inside.
    pub fn surface(&self) -> TriMesh {
        let mut solid = self.clone();
        solid.turn_round();
        let triangles = boundary(&solid.tetrahedra);
        let mut renumbered = Renumbering::new(solid.positions.len());
        let triangles: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|v| renumbered.of(v))).collect();
        TriMesh { positions: renumbered.kept(&solid.positions), triangles, uvs: Vec::new() }
    }

    /// The same with vertices at the same place merged into the first of them.
    pub fn welded(mut self) -> SolidMesh {
        let mut first: HashMap<[u64; 3], u32> = HashMap::with_capacity(self.positions.len());
        // Minus zero is zero.
        let place = |p: &DVec3| (*p + DVec3::ZERO).to_array().map(f64::to_bits);
        let merged: Vec<u32> =
            (0u32..).zip(&self.positions).map(|(v, p)| *first.entry(place(p)).or_insert(v)).collect();
        let mut renumbered = Renumbering::new(self.positions.len());
        for corner in self.tetrahedra.as_flattened_mut() {
            *corner = renumbered.of(merged[*corner as usize]);
        }
        self.positions = renumbered.kept(&self.positions);
        self
    }
}

/// Reads a mesh of tetrahedra. Time and memory are in proportion to `bytes`; see [`super`] for what is promised. TetGen's are two
/// files, for [`read_tetgen`].
pub fn read_solid(bytes: &[u8], format: MeshFormat, limits: &Limits) -> Result<SolidMesh, ImportError> {
    check_bytes(bytes, format, limits)?;
    match format {
        MeshFormat::Gmsh => gmsh::read(bytes, limits),
        MeshFormat::Vtk => vtk::read(bytes, limits),
        MeshFormat::Vtu => vtu::read(bytes, limits),
        MeshFormat::Medit => medit::read(bytes, limits),
        MeshFormat::TetGen => {
            let what = "a TetGen mesh is two files, .node and .ele, and only one is given";
            Err(malformed(format, Place::Byte(0), what, "keep both beside each other, with the same name"))
        }
        MeshFormat::Obj | MeshFormat::Ply | MeshFormat::Stl | MeshFormat::ThreeDs | MeshFormat::Gltf => {
            let what = "files of this format have triangles, not the tetrahedra of a solid";
            Err(ImportError::WrongFormat { format, what })
        }
    }?
    .finish(format)
}

/// Reads a mesh of TetGen: its `.node` and its `.ele` file.
pub fn read_tetgen(node: &[u8], ele: &[u8], limits: &Limits) -> Result<SolidMesh, ImportError> {
    check_bytes(node, MeshFormat::TetGen, limits)?;
    check_bytes(ele, MeshFormat::TetGen, limits)?;
    tetgen::read(node, ele, limits)?.finish(MeshFormat::TetGen)
}

/// What a reader found, before it is checked.
#[derive(Default)]
pub(super) struct Found {
    pub(super) positions: Vec<DVec3>,
    pub(super) tetrahedra: Vec<[u32; 4]>,
    pub(super) labels: Vec<u32>,
    /// Numbers of the tetrahedra in the file, for messages.
    pub(super) names: Vec<u64>,
}

impl Found {
    /// Adds a vertex.
    pub(super) fn vertex(
        &mut self,
        p: [f64; 3],
        format: MeshFormat,
        place: Place,
        limits: &Limits,
    ) -> Result<(), ImportError> {
        limits.check_vertices(format, place, self.positions.len() + 1)?;
        self.positions.push(finite_position(format, place, DVec3::from_array(p))?);
        Ok(())
    }

    /// Adds a tetrahedron; its corners are checked by the reader.
    pub(super) fn tetrahedron(
        &mut self,
        corners: [u32; 4],
        label: u32,
        name: u64,
        format: MeshFormat,
        place: Place,
        limits: &Limits,
    ) -> Result<(), ImportError> {
        limits.check_tetrahedra(format, place, self.tetrahedra.len() + 1)?;
        self.tetrahedra.push(corners);
        self.labels.push(label);
        self.names.push(name);
        Ok(())
    }

    /// The mesh, without vertices that are not used.
    fn finish(self, format: MeshFormat) -> Result<SolidMesh, ImportError> {
        let Found { positions, mut tetrahedra, mut labels, names } = self;
        if positions.is_empty() {
            return Err(ImportError::NoVertices { format });
        }
        if tetrahedra.is_empty() {
            return Err(ImportError::NoTetrahedra { format });
        }
        for (corners, &element) in tetrahedra.iter().zip(&names) {
            let places = corners.map(|v| positions[v as usize]);
            if is_flat(places) {
                let corners = places.map(|p| p.to_string()).join(", ");
                return Err(ImportError::FlatElement { format, element, corners });
            }
        }
        if let Some((first, second)) = doubled(&tetrahedra) {
            let (first, second) = (names[first], names[second]);
            return Err(ImportError::DoubledElement { format, first, second });
        }
        let mut renumbered = Renumbering::in_order(positions.len(), tetrahedra.as_flattened());
        for corner in tetrahedra.as_flattened_mut() {
            *corner = renumbered.of(*corner);
        }
        if labels.iter().all(|&label| label == 0) {
            labels.clear();
        }
        Ok(SolidMesh { positions: renumbered.kept(&positions), tetrahedra, labels })
    }
}

/// Two tetrahedra of the same corners, in whatever order: their masses and stiffnesses would add up, and faces between them would
/// count as inside.
fn doubled(tetrahedra: &[[u32; 4]]) -> Option<(usize, usize)> {
    let mut sorted: Vec<([u32; 4], u32)> = tetrahedra.iter().copied().zip(0u32..).collect();
    sorted.iter_mut().for_each(|(corners, _)| corners.sort_unstable());
    sorted.sort_unstable();
    let twins = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0)?;
    Some((twins[0].1 as usize, twins[1].1 as usize))
}

/// New numbers of the vertices that are used.
struct Renumbering {
    new: Vec<u32>,
    kept: Vec<u32>,
}

/// Stands for a vertex that has no new number.
const UNUSED: u32 = u32::MAX;

impl Renumbering {
    fn new(vertices: usize) -> Renumbering {
        Renumbering { new: vec![UNUSED; vertices], kept: Vec::new() }
    }

    /// With new numbers in the order of the old ones for all that are used.
    fn in_order(vertices: usize, used: &[u32]) -> Renumbering {
        let mut is_used = vec![false; vertices];
        used.iter().for_each(|&v| is_used[v as usize] = true);
        let mut renumbered = Renumbering::new(vertices);
        for (v, _) in (0u32..).zip(&is_used).filter(|(_, used)| **used) {
            renumbered.of(v);
        }
        renumbered
    }

    /// The new number of a vertex: the next if it has none yet.
    fn of(&mut self, v: u32) -> u32 {
        let new = &mut self.new[v as usize];
        if *new == UNUSED {
            *new = self.kept.len() as u32; // fits: at most MAX_VERTICES
            self.kept.push(v);
        }
        *new
    }

    fn kept(&self, positions: &[DVec3]) -> Vec<DVec3> {
        self.kept.iter().map(|&v| positions[v as usize]).collect()
    }
}

/// A label of a file, of any sign, as one of ours: Gmsh marks turned groups by a minus.
pub(super) fn label(value: f64) -> u32 {
    // A cast holds numbers beyond 32 bits at the last one, and NaN at 0.
    value.abs().round() as u32
}
