//! Meshes from bytes: triangles from OBJ, PLY, STL and 3DS (ESSI-13, ESSI-14), characters from glTF ([`read_rig`], SIM-01), tetrahedra from Gmsh, TetGen, VTK, VTU and
//! MEDIT files (FAU-01, FAU-04), and voxels from NRRD and NIfTI ([`volume`], FAU-14).
//!
//! Each reader is small and our own, so that an error names the line or the byte where the file went wrong and what to
//! do about it. Promises, for any bytes at all: no panic, no endless loop, memory in proportion to the bytes given (a
//! file that announces more than it holds is refused before anything is allocated), and a result that passed
//! [`TriMesh::validate`]. Nothing here opens files: the caller hands over the bytes.
//!
//! Polygons become fans around their first corner, which is right for convex ones only. Normals, materials, colours,
//! groups and transforms are not read. Degenerate triangles and duplicate vertices stay as they are in the file
//! ([`TriMesh::lint`] counts them, [`TriMesh::welded`] merges them), except in STL, which has no shared vertices and is
//! welded on reading. Lengths are taken as metres. Only 3DS data is turned (from z up to y up); the other formats do
//! not say which way is up.

mod gltf;
mod gltf_accessor;
mod gltf_json;
mod gmsh;
mod medit;
mod numbers;
mod obj;
mod ply;
mod reader;
mod solid;
mod stl;
mod tetgen;
mod three_ds;
pub mod volume;
mod vtk;
mod vtu;
mod xml;

pub(crate) use gltf::{MAX_INFLUENCES, MeshPlace, Opened, open as open_gltf, without_percent};
pub use gltf::{ReadBeside, read_gltf_surface, read_rig};
pub use solid::{SolidMesh, read_solid, read_tetgen};

use std::fmt;

use glam::DVec3;
use souple::mesh::{MAX_VERTICES, MeshError, TriMesh};
use souple::skin::RigError;
use thiserror::Error;

/// The mesh formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MeshFormat {
    /// Wavefront OBJ, text.
    Obj,
    /// Stanford PLY, text or binary of either byte order.
    Ply,
    /// Stereolithography STL, text or binary.
    Stl,
    /// Autodesk 3D Studio 3DS, binary chunks.
    ThreeDs,
    /// Gmsh MSH 2.2 and 4.1, text or binary; a solid.
    Gmsh,
    /// TetGen, a `.node` and an `.ele` file, text; a solid.
    TetGen,
    /// VTK legacy unstructured grid, text or binary; a solid.
    Vtk,
    /// VTK XML unstructured grid; a solid.
    Vtu,
    /// MEDIT mesh, text; a solid.
    Medit,
    /// glTF 2.0, binary or text; a character, or its surface at rest.
    Gltf,
}

impl MeshFormat {
    /// Every format, in the order of their names in messages.
    pub const ALL: [MeshFormat; 10] = [
        MeshFormat::Obj,
        MeshFormat::Ply,
        MeshFormat::Stl,
        MeshFormat::ThreeDs,
        MeshFormat::Gmsh,
        MeshFormat::TetGen,
        MeshFormat::Vtk,
        MeshFormat::Vtu,
        MeshFormat::Medit,
        MeshFormat::Gltf,
    ];

    /// Every file extension that is known, in lower case and without the dot.
    pub const EXTENSIONS: [&str; 12] =
        ["obj", "ply", "stl", "3ds", "msh", "ele", "node", "vtk", "vtu", "mesh", "glb", "gltf"];

    /// The format that goes with a file extension (without the dot, upper or lower case).
    pub fn from_extension(extension: &str) -> Option<MeshFormat> {
        if extension.eq_ignore_ascii_case("node") {
            return Some(MeshFormat::TetGen);
        }
        if extension.eq_ignore_ascii_case("gltf") {
            return Some(MeshFormat::Gltf);
        }
        MeshFormat::ALL.into_iter().find(|format| format.extension().eq_ignore_ascii_case(extension))
    }

    /// Whether files of it hold tetrahedra, for [`read_solid`]; of those [`read_mesh`] gives the surface.
    pub fn is_solid(self) -> bool {
        match self {
            MeshFormat::Obj | MeshFormat::Ply | MeshFormat::Stl | MeshFormat::ThreeDs | MeshFormat::Gltf => {
                false
            }
            MeshFormat::Gmsh | MeshFormat::TetGen | MeshFormat::Vtk | MeshFormat::Vtu | MeshFormat::Medit => {
                true
            }
        }
    }

    /// The usual file extension, in lower case and without the dot; of the two of TetGen that of the tetrahedra.
    pub fn extension(self) -> &'static str {
        match self {
            MeshFormat::Obj => "obj",
            MeshFormat::Ply => "ply",
            MeshFormat::Stl => "stl",
            MeshFormat::ThreeDs => "3ds",
            MeshFormat::Gmsh => "msh",
            MeshFormat::TetGen => "ele",
            MeshFormat::Vtk => "vtk",
            MeshFormat::Vtu => "vtu",
            MeshFormat::Medit => "mesh",
            MeshFormat::Gltf => "glb",
        }
    }
}

impl fmt::Display for MeshFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MeshFormat::Obj => "OBJ",
            MeshFormat::Ply => "PLY",
            MeshFormat::Stl => "STL",
            MeshFormat::ThreeDs => "3DS",
            MeshFormat::Gmsh => "Gmsh",
            MeshFormat::TetGen => "TetGen",
            MeshFormat::Vtk => "VTK",
            MeshFormat::Vtu => "VTU",
            MeshFormat::Medit => "MEDIT",
            MeshFormat::Gltf => "glTF",
        })
    }
}

/// The most a reader takes in. A file beyond it is refused with [`ImportError::OverLimit`] or
/// [`ImportError::FileTooLarge`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most vertices of the mesh. More than [`MAX_VERTICES`] has no effect.
    pub max_vertices: usize,
    /// Most triangles of the mesh, after polygons are cut up.
    pub max_triangles: usize,
    /// Most tetrahedra of a solid.
    pub max_tetrahedra: usize,
    /// Most bytes of the file.
    pub max_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_vertices: 20_000_000,
            max_triangles: 40_000_000,
            max_tetrahedra: 40_000_000,
            max_bytes: 2 << 30,
        }
    }
}

impl Limits {
    /// The most vertices that both the caller and 32-bit indices allow.
    fn vertices(&self) -> usize {
        self.max_vertices.min(MAX_VERTICES)
    }

    fn check_vertices(&self, format: MeshFormat, place: Place, count: usize) -> Result<(), ImportError> {
        let limit = self.vertices();
        let what = "vertices";
        if count > limit { Err(ImportError::OverLimit { format, place, what, count, limit }) } else { Ok(()) }
    }

    fn check_triangles(&self, format: MeshFormat, place: Place, count: usize) -> Result<(), ImportError> {
        let limit = self.max_triangles;
        let what = "triangles";
        if count > limit { Err(ImportError::OverLimit { format, place, what, count, limit }) } else { Ok(()) }
    }
}

impl Limits {
    fn check_tetrahedra(&self, format: MeshFormat, place: Place, count: usize) -> Result<(), ImportError> {
        let limit = self.max_tetrahedra;
        let what = "tetrahedra";
        if count > limit { Err(ImportError::OverLimit { format, place, what, count, limit }) } else { Ok(()) }
    }
}

/// Where in a file something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of text, the first being 1.
    Line(usize),
    /// A byte offset, the first being 0.
    Byte(usize),
    /// An entry of a list of the file, the first being 0.
    Item(&'static str, usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Byte(byte) => write!(f, "byte {byte}"),
            Place::Item(list, index) => write!(f, "{list} {index}"),
        }
    }
}

/// Why a file is not a usable mesh: the format, the place, what is wrong there and what to do.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ImportError {
    /// There is not a single byte.
    #[error("{format}: the file is empty (0 bytes); export or copy it again")]
    EmptyFile {
        /// Format that was asked for.
        format: MeshFormat,
    },
    /// The file is larger than [`Limits::max_bytes`].
    #[error(
        "{format}: the file has {bytes} bytes, the limit is {limit}; use a smaller mesh or raise max_bytes"
    )]
    FileTooLarge {
        /// Format that was asked for.
        format: MeshFormat,
        /// Size of the file.
        bytes: usize,
        /// The limit it exceeds.
        limit: usize,
    },
    /// The file holds more than [`Limits`] allows.
    #[error(
        "{format}, {place}: {count} {what} are more than the limit of {limit}; simplify the mesh or raise max_{what}"
    )]
    OverLimit {
        /// Format of the file.
        format: MeshFormat,
        /// Where the limit was passed.
        place: Place,
        /// "vertices", "triangles" or "tetrahedra".
        what: &'static str,
        /// How many there are, at least.
        count: usize,
        /// The limit they exceed.
        limit: usize,
    },
    /// The bytes do not start as files of this format do.
    #[error("{format}: {what}; check that the extension fits the content")]
    WrongFormat {
        /// Format that was asked for.
        format: MeshFormat,
        /// What was expected.
        what: &'static str,
    },
    /// Less data than the file announces.
    #[error(
        "{format}, {place}: {what}; {missing} {unit} are missing: the file is cut short or a count in it is wrong, \
         export or copy it again"
    )]
    Truncated {
        /// Format of the file.
        format: MeshFormat,
        /// Where the data starts that is not whole.
        place: Place,
        /// What was announced and what is there.
        what: String,
        /// How much is missing, at least.
        missing: u64,
        /// Unit of `missing`: "bytes" or "rows".
        unit: &'static str,
    },
    /// A coordinate is NaN, infinite or too large for a number.
    #[error("{format}, {place}: {what} is not a finite number: {text}; repair the mesh where it was made")]
    NonFinite {
        /// Format of the file.
        format: MeshFormat,
        /// Where it stands.
        place: Place,
        /// Which number.
        what: &'static str,
        /// The number as found.
        text: String,
    },
    /// A face names something that is not there.
    #[error(
        "{format}, {place}: {what} index {index} is out of range, the count is {count} ({counting}); \
         the file is not whole or its exporter is wrong"
    )]
    IndexOutOfRange {
        /// Format of the file.
        format: MeshFormat,
        /// Where the face stands.
        place: Place,
        /// "vertex" or "texture coordinate".
        what: &'static str,
        /// The index as written.
        index: i64,
        /// How many there are.
        count: usize,
        /// How this format counts.
        counting: &'static str,
    },
    /// Anything else that does not follow the format.
    #[error("{format}, {place}: {what}; {fix}")]
    Malformed {
        /// Format of the file.
        format: MeshFormat,
        /// Where it stands.
        place: Place,
        /// What is wrong.
        what: String,
        /// What to do.
        fix: &'static str,
    },
    /// The file is well formed but describes no vertex.
    #[error(
        "{format}: the file has no vertices; check that a mesh was exported, not only curves, lights or cameras"
    )]
    NoVertices {
        /// Format of the file.
        format: MeshFormat,
    },
    /// The file is well formed but has no tetrahedron.
    #[error(
        "{format}: the file has no tetrahedra; make a mesh of the volume, not of the surface alone, and save all elements"
    )]
    NoTetrahedra {
        /// Format of the file.
        format: MeshFormat,
    },
    /// A tetrahedron has no volume.
    #[error(
        "{format}: element {element} has no volume: its corners {corners} lie in a plane; remove it, or make the mesh again \
         with better shapes"
    )]
    FlatElement {
        /// Format of the file.
        format: MeshFormat,
        /// Its number in the file.
        element: u64,
        /// Its corners, as the file numbers them, or where they are.
        corners: String,
    },
    /// Two tetrahedra have the same corners.
    #[error(
        "{format}: elements {first} and {second} have the same corners, so that they overlap; remove one of the two"
    )]
    DoubledElement {
        /// Format of the file.
        format: MeshFormat,
        /// Number of one in the file.
        first: u64,
        /// Number of the other.
        second: u64,
    },
    /// The mesh that was read is not usable.
    #[error("{format}: {source}; repair the mesh where it was made")]
    Mesh {
        /// Format of the file.
        format: MeshFormat,
        /// What is wrong with the mesh.
        source: MeshError,
    },
    /// The character that was read is not usable.
    #[error("{format}: {source}; repair it where it was made")]
    Rig {
        /// Format of the file.
        format: MeshFormat,
        /// What is wrong with it.
        source: RigError,
    },
}

impl ImportError {
    /// Where in the file it went wrong, if at one place.
    pub fn place(&self) -> Option<Place> {
        match self {
            ImportError::OverLimit { place, .. }
            | ImportError::Truncated { place, .. }
            | ImportError::NonFinite { place, .. }
            | ImportError::IndexOutOfRange { place, .. }
            | ImportError::Malformed { place, .. } => Some(*place),
            ImportError::EmptyFile { .. }
            | ImportError::FileTooLarge { .. }
            | ImportError::WrongFormat { .. }
            | ImportError::NoVertices { .. }
            | ImportError::NoTetrahedra { .. }
            | ImportError::FlatElement { .. }
            | ImportError::DoubledElement { .. }
            | ImportError::Mesh { .. }
            | ImportError::Rig { .. } => None,
        }
    }
}

/// Refuses a file without bytes, or with too many.
fn check_bytes(bytes: &[u8], format: MeshFormat, limits: &Limits) -> Result<(), ImportError> {
    if bytes.is_empty() {
        return Err(ImportError::EmptyFile { format });
    }
    if bytes.len() > limits.max_bytes {
        return Err(ImportError::FileTooLarge { format, bytes: bytes.len(), limit: limits.max_bytes });
    }
    Ok(())
}

/// Reads a mesh; of a solid, its surface. Time and memory are in proportion to `bytes`; see the module for what is promised.
pub fn read_mesh(bytes: &[u8], format: MeshFormat, limits: &Limits) -> Result<TriMesh, ImportError> {
    check_bytes(bytes, format, limits)?;
    let mesh =
        match format {
            MeshFormat::Obj => obj::read(bytes, limits),
            MeshFormat::Ply => ply::read(bytes, limits),
            MeshFormat::Stl => stl::read(bytes, limits),
            MeshFormat::ThreeDs => three_ds::read(bytes, limits),
            MeshFormat::Gltf => {
                return read_gltf_surface(bytes, limits, &mut |_| {
                    Err("it is not given with the file".to_owned())
                });
            }
            MeshFormat::Gmsh | MeshFormat::TetGen | MeshFormat::Vtk | MeshFormat::Vtu | MeshFormat::Medit => {
                read_solid(bytes, format, limits).map(|solid| solid.surface())
            }
        }?;
    match mesh.validate() {
        Ok(()) => Ok(mesh),
        Err(MeshError::Empty) => Err(ImportError::NoVertices { format }),
        Err(source) => Err(ImportError::Mesh { format, source }),
    }
}

fn malformed(format: MeshFormat, place: Place, what: impl Into<String>, fix: &'static str) -> ImportError {
    ImportError::Malformed { format, place, what: what.into(), fix }
}

/// A file that holds `left` bytes where `needed` were announced.
fn cut_short(
    format: MeshFormat,
    at: usize,
    what: impl Into<String>,
    needed: u64,
    left: usize,
) -> ImportError {
    let missing = needed.saturating_sub(left as u64);
    ImportError::Truncated { format, place: Place::Byte(at), what: what.into(), missing, unit: "bytes" }
}

/// Passes a position on if all its coordinates are finite.
fn finite_position(format: MeshFormat, place: Place, p: DVec3) -> Result<DVec3, ImportError> {
    if p.is_finite() {
        return Ok(p);
    }
    let text = format!("({}, {}, {})", p.x, p.y, p.z);
    Err(ImportError::NonFinite { format, place, what: "a vertex coordinate", text })
}

/// Passes a texture coordinate on if both its numbers are finite.
fn finite_uv(format: MeshFormat, place: Place, uv: [f64; 2]) -> Result<[f64; 2], ImportError> {
    if uv.iter().all(|c| c.is_finite()) {
        return Ok(uv);
    }
    let text = format!("({}, {})", uv[0], uv[1]);
    Err(ImportError::NonFinite { format, place, what: "a texture coordinate", text })
}

/// The triangles of a convex polygon: a fan around its first corner, none for fewer than three corners.
fn fan<T: Copy>(corners: &[T]) -> impl Iterator<Item = [T; 3]> + '_ {
    let first = corners.first().copied();
    let rest = corners.get(1..).unwrap_or_default();
    rest.windows(2).filter_map(move |edge| match (first, edge) {
        (Some(a), &[b, c]) => Some([a, b, c]),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_lead_to_formats_in_any_case() {
        assert_eq!(MeshFormat::from_extension("obj"), Some(MeshFormat::Obj));
        assert_eq!(MeshFormat::from_extension("PLY"), Some(MeshFormat::Ply));
        assert_eq!(MeshFormat::from_extension("Stl"), Some(MeshFormat::Stl));
        assert_eq!(MeshFormat::from_extension("3DS"), Some(MeshFormat::ThreeDs));
        assert_eq!(MeshFormat::from_extension("fbx"), None);
        assert_eq!(MeshFormat::from_extension(""), None);
        for format in MeshFormat::ALL {
            assert_eq!(MeshFormat::from_extension(format.extension()), Some(format));
            assert!(MeshFormat::EXTENSIONS.contains(&format.extension()));
        }
        for extension in MeshFormat::EXTENSIONS {
            assert!(MeshFormat::from_extension(extension).is_some(), "{extension}");
        }
        assert_eq!(MeshFormat::from_extension("Node"), Some(MeshFormat::TetGen));
    }

    #[test]
    fn fans_keep_the_winding() {
        assert_eq!(fan(&[7, 8]).count(), 0);
        assert_eq!(fan(&[4, 5, 6]).collect::<Vec<_>>(), [[4, 5, 6]]);
        assert_eq!(fan(&[0, 1, 2, 3, 4]).collect::<Vec<_>>(), [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
    }
}
