//! Wavefront OBJ (ESSI-13), after the "Object Files" appendix of the Advanced Visualizer manual.
//!
//! Read: `v` (what follows x y z, a weight or a colour, is passed over), `vt`, `f` with `v`, `v/vt`, `v//vn` and
//! `v/vt/vn` corners, indices from the end (negative) and to vertices that come later in the file, polygons,
//! continued lines. Any other keyword is skipped, whatever bytes follow it.
//!
//! Vertex i of the file is vertex i of the mesh. If faces name texture coordinates, a vertex with several of them is
//! repeated: the first stays at its place, the others come after all vertices of the file, in the order of the faces.

use std::collections::HashMap;

use glam::DVec3;
use souple::mesh::TriMesh;

use super::reader::{Words, excerpt, parse_number};
use super::{ImportError, Limits, MeshFormat, Place, fan, finite_position, finite_uv, malformed};

const FORMAT: MeshFormat = MeshFormat::Obj;

/// Stands for "no texture coordinate" in a corner.
const NO_UV: u32 = u32::MAX;

/// A corner of a face: vertex and texture coordinate, both counted from 0.
type Corner = (u32, u32);

pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<TriMesh, ImportError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes); // byte order mark of some Windows editors
    let mut words = Words::with_obj_rules(bytes);
    let mut positions = Vec::new();
    let mut uvs = Vec::new();
    let mut triangles: Vec<[Corner; 3]> = Vec::new();
    let mut vertex_list = IndexList::new("vertex");
    let mut uv_list = IndexList::new("texture coordinate");
    let mut polygon: Vec<Corner> = Vec::new();

    while let Some(keyword) = words.first_word() {
        let place = words.place();
        match keyword {
            b"v" => {
                limits.check_vertices(FORMAT, place, positions.len() + 1)?;
                positions.push(read_position(&mut words, place)?);
            }
            b"vt" => {
                // More texture coordinates than vertices are allowed make more vertices than allowed.
                limits.check_vertices(FORMAT, place, uvs.len() + 1)?;
                uvs.push(read_uv(&mut words, place)?);
            }
            b"f" => {
                polygon.clear();
                while let Some(word) = words.word() {
                    let place = words.place();
                    let mut parts = word.split(|&byte| byte == b'/');
                    let vertex = parts.next().unwrap_or_default();
                    let uv = parts.next().unwrap_or_default();
                    let v = vertex_list.resolve(vertex, positions.len(), place)?;
                    let vt = if uv.is_empty() { NO_UV } else { uv_list.resolve(uv, uvs.len(), place)? };
                    polygon.push((v, vt));
                }
                if polygon.len() < 3 {
                    let what = format!("a face needs at least 3 corners, this one has {}", polygon.len());
                    return Err(malformed(FORMAT, place, what, "remove the face or write it as a line (l)"));
                }
                limits.check_triangles(FORMAT, place, triangles.len() + polygon.len() - 2)?;
                triangles.extend(fan(&polygon));
            }
            _ => {}
        }
        words.next_line();
    }

    if positions.is_empty() {
        return Err(ImportError::NoVertices { format: FORMAT });
    }
    vertex_list.check(positions.len())?;
    uv_list.check(uvs.len())?;
    assemble(positions, &uvs, &triangles, limits, words.place())
}

fn read_position(words: &mut Words<'_>, place: Place) -> Result<DVec3, ImportError> {
    let mut p = [0.0; 3];
    for (i, coordinate) in p.iter_mut().enumerate() {
        let word = words.word().ok_or_else(|| {
            let what = format!("a vertex needs 3 coordinates, this one has {i}");
            malformed(FORMAT, place, what, "write it as: v x y z")
        })?;
        *coordinate = parse_number(word, FORMAT, place)?;
    }
    finite_position(FORMAT, place, DVec3::from_array(p))
}

fn read_uv(words: &mut Words<'_>, place: Place) -> Result<[f64; 2], ImportError> {
    let Some(u) = words.word() else {
        return Err(malformed(FORMAT, place, "a texture coordinate has no numbers", "write it as: vt u v"));
    };
    let u = parse_number(u, FORMAT, place)?;
    let v = words.word().map_or(Ok(0.0), |v| parse_number(v, FORMAT, place))?;
    finite_uv(FORMAT, place, [u, v])
}

/// Turns written indices into indices from 0. Faces may name what comes later in the file, so the range is checked
/// at the end; of all indices only the largest can fail there.
struct IndexList {
    what: &'static str,
    largest: Option<(i64, Place)>,
}

impl IndexList {
    fn new(what: &'static str) -> Self {
        IndexList { what, largest: None }
    }

    /// `count` is how many there are up to here, which negative indices count back from.
    fn resolve(&mut self, word: &[u8], count: usize, place: Place) -> Result<u32, ImportError> {
        let index: i64 =
            std::str::from_utf8(word).ok().and_then(|text| text.parse().ok()).ok_or_else(|| {
                let what = format!("'{}' is not a {} index", excerpt(word), self.what);
                malformed(
                    FORMAT,
                    place,
                    what,
                    "write corners as v, v/vt, v//vn or v/vt/vn with whole numbers",
                )
            })?;
        if index > 0 {
            if self.largest.is_none_or(|(largest, _)| index > largest) {
                self.largest = Some((index, place));
            }
            // An index too large for u32 is beyond any count and refused by `check`.
            return Ok(u32::try_from(index - 1).unwrap_or(u32::MAX));
        }
        let back = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
        match count.checked_sub(back) {
            Some(from_start) if index < 0 => Ok(u32::try_from(from_start).unwrap_or(u32::MAX)),
            _ => Err(self.out_of_range(index, count, place)),
        }
    }

    fn check(&self, count: usize) -> Result<(), ImportError> {
        match self.largest {
            Some((index, place)) if usize::try_from(index).map_or(true, |index| index > count) => {
                Err(self.out_of_range(index, count, place))
            }
            _ => Ok(()),
        }
    }

    fn out_of_range(&self, index: i64, count: usize, place: Place) -> ImportError {
        let counting = "OBJ counts from 1, and back from -1";
        ImportError::IndexOutOfRange { format: FORMAT, place, what: self.what, index, count, counting }
    }
}

/// Makes the mesh. The indices of all corners were checked to be in range.
fn assemble(
    positions: Vec<DVec3>,
    file_uvs: &[[f64; 2]],
    triangles: &[[Corner; 3]],
    limits: &Limits,
    place: Place,
) -> Result<TriMesh, ImportError> {
    let mut mesh = TriMesh { positions, ..TriMesh::default() };
    mesh.triangles.reserve_exact(triangles.len());
    if triangles.as_flattened().iter().all(|&(_, vt)| vt == NO_UV) {
        mesh.triangles.extend(triangles.iter().map(|corners| corners.map(|(v, _)| v)));
        return Ok(mesh);
    }
    mesh.uvs = vec![[0.0; 2]; mesh.positions.len()];
    let mut own_uv = vec![NO_UV; mesh.positions.len()];
    let mut copies: HashMap<Corner, u32> = HashMap::new();
    for corners in triangles {
        let mut triangle = [0; 3];
        for (slot, &(v, vt)) in triangle.iter_mut().zip(corners) {
            let own = &mut own_uv[v as usize];
            *slot = if vt == NO_UV || *own == vt {
                v // a corner without texture coordinate goes with whatever the vertex has
            } else if *own == NO_UV {
                *own = vt;
                mesh.uvs[v as usize] = file_uvs[vt as usize];
                v
            } else if let Some(&copy) = copies.get(&(v, vt)) {
                copy
            } else {
                limits.check_vertices(FORMAT, place, mesh.positions.len() + 1)?;
                let copy = mesh.positions.len() as u32; // fits: the limit is at most MAX_VERTICES
                mesh.positions.push(mesh.positions[v as usize]);
                mesh.uvs.push(file_uvs[vt as usize]);
                copies.insert((v, vt), copy);
                copy
            };
        }
        mesh.triangles.push(triangle);
    }
    Ok(mesh)
}
