//! Autodesk 3D Studio 3DS (ESSI-13, ESSI-14): little-endian chunks within chunks.
//!
//! A chunk is a u16 id and a u32 length that counts its own 6-byte header. Read are main 0x4D4D > editor 0x3D3D >
//! object 0x4000 (a name that ends with a zero byte, then chunks) > mesh 0x4100 > vertices 0x4110, faces 0x4120,
//! texture coordinates 0x4140. All other chunks are skipped whole, so nesting deeper than that costs nothing. The
//! local matrix 0x4160 is not applied: vertices are stored in world space already.
//!
//! All objects of the file become one mesh, in the order of the file. 3DS is z up, the mesh is y up: (x, y, z)
//! becomes (x, z, -y), which keeps the winding. If only some objects have texture coordinates, the others get (0, 0).

use glam::DVec3;
use souple::mesh::TriMesh;

use super::reader::Cursor;
use super::{ImportError, Limits, MeshFormat, Place, cut_short, finite_position, finite_uv, malformed};

const FORMAT: MeshFormat = MeshFormat::ThreeDs;
const MAIN: u16 = 0x4d4d;
const EDITOR: u16 = 0x3d3d;
const OBJECT: u16 = 0x4000;
const MESH: u16 = 0x4100;
const VERTICES: u16 = 0x4110;
const FACES: u16 = 0x4120;
const UVS: u16 = 0x4140;
const CHUNK_HEADER_BYTES: usize = 6;
const EXPORT_AGAIN: &str = "the file is damaged: export it again";

pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<TriMesh, ImportError> {
    if !bytes.starts_with(&MAIN.to_le_bytes()) {
        let what = "a 3DS file begins with the bytes 4D 4D ('MM'), this one does not";
        return Err(ImportError::WrongFormat { format: FORMAT, what });
    }
    if bytes.len() < CHUNK_HEADER_BYTES {
        let what = "the header of the main chunk is not whole";
        return Err(cut_short(FORMAT, 0, what, CHUNK_HEADER_BYTES as u64, bytes.len()));
    }
    let mut merged = TriMesh::default();
    let mut file = Cursor::new(bytes, 0);
    let Some(mut main) = next_chunk(&mut file, bytes.len())? else { return Ok(merged) };
    while let Some(mut editor) = next_chunk_of(EDITOR, &mut main.body, bytes.len())? {
        while let Some(mut object) = next_chunk_of(OBJECT, &mut editor.body, bytes.len())? {
            skip_name(&mut object)?;
            while let Some(mesh) = next_chunk_of(MESH, &mut object.body, bytes.len())? {
                append(&mut merged, &read_object(mesh.body, bytes.len(), limits)?, mesh.at, limits)?;
            }
        }
    }
    Ok(merged)
}

/// One chunk; `body` is what follows its header.
struct Chunk<'a> {
    id: u16,
    at: usize,
    body: Cursor<'a>,
}

/// The next chunk of a parent, which the parent's cursor passes. None at its end; a rest too short for a chunk
/// header is padding that some exporters leave.
fn next_chunk<'a>(parent: &mut Cursor<'a>, file_bytes: usize) -> Result<Option<Chunk<'a>>, ImportError> {
    let at = parent.offset();
    let left = parent.left().len();
    let mut header = *parent;
    let (Some(id), Some(length)) = (header.u16(), header.u32()) else { return Ok(None) };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let Some(body_bytes) = length.checked_sub(CHUNK_HEADER_BYTES) else {
        let what = format!("chunk {id:#06x} has length {length}, less than its own header of 6 bytes");
        return Err(malformed(FORMAT, Place::Byte(at), what, EXPORT_AGAIN));
    };
    let Some(body) = header.split(body_bytes) else {
        let left_in_file = file_bytes.saturating_sub(at);
        if length > left_in_file {
            let what =
                format!("chunk {id:#06x} has length {length}, but the file ends {left_in_file} bytes on");
            return Err(cut_short(FORMAT, at, what, length as u64, left_in_file));
        }
        let what = format!("chunk {id:#06x} has length {length}, but its parent ends {left} bytes on");
        return Err(malformed(FORMAT, Place::Byte(at), what, EXPORT_AGAIN));
    };
    *parent = header;
    Ok(Some(Chunk { id, at, body }))
}

/// The next chunk with this id, past all others.
fn next_chunk_of<'a>(
    id: u16,
    parent: &mut Cursor<'a>,
    file_bytes: usize,
) -> Result<Option<Chunk<'a>>, ImportError> {
    loop {
        match next_chunk(parent, file_bytes)? {
            Some(chunk) if chunk.id != id => {}
            found => return Ok(found),
        }
    }
}

fn skip_name(object: &mut Chunk<'_>) -> Result<(), ImportError> {
    let length = object.body.left().iter().position(|&byte| byte == 0);
    match length.and_then(|length| object.body.take(length + 1)) {
        Some(_) => Ok(()),
        None => {
            let what = "the name of the object has no zero byte at its end";
            Err(malformed(FORMAT, Place::Byte(object.at), what, EXPORT_AGAIN))
        }
    }
}

/// Reads the lists of one mesh chunk, in any order. The result has indices in range.
fn read_object(mut body: Cursor<'_>, file_bytes: usize, limits: &Limits) -> Result<TriMesh, ImportError> {
    let mut object = TriMesh::default();
    let (mut vertices_at, mut faces_at, mut uvs_at) = (None, None, None);
    while let Some(mut chunk) = next_chunk(&mut body, file_bytes)? {
        let place = Place::Byte(chunk.at);
        let (seen, item_bytes, what) = match chunk.id {
            VERTICES => (&mut vertices_at, 12, "vertices"),
            FACES => (&mut faces_at, 8, "faces"),
            UVS => (&mut uvs_at, 8, "texture coordinates"),
            _ => continue,
        };
        if seen.replace(chunk.at).is_some() {
            let what = format!("the mesh has a second list of {what}");
            return Err(malformed(FORMAT, place, what, EXPORT_AGAIN));
        }
        let count = list_count(&mut chunk, item_bytes, what)?;
        match chunk.id {
            VERTICES => {
                limits.check_vertices(FORMAT, place, count)?;
                for _ in 0..count {
                    let at = Place::Byte(chunk.body.offset());
                    let stored = chunk.body.floats().unwrap_or([f64::NAN; 3]); // there: the size was checked
                    let z_up = finite_position(FORMAT, at, DVec3::from_array(stored))?;
                    object.positions.push(DVec3::new(z_up.x, z_up.z, 0.0 - z_up.y)); // no -0 from 0
                }
            }
            FACES => {
                limits.check_triangles(FORMAT, place, count)?;
                for _ in 0..count {
                    let [a, b, c, _flags] =
                        std::array::from_fn(|_| chunk.body.u16().map_or(u32::MAX, u32::from));
                    object.triangles.push([a, b, c]);
                }
            }
            _ => {
                for _ in 0..count {
                    let at = Place::Byte(chunk.body.offset());
                    let uv = chunk.body.floats().unwrap_or([f64::NAN; 2]);
                    object.uvs.push(finite_uv(FORMAT, at, uv)?);
                }
            }
        }
    }
    let count = object.positions.len();
    if let Some(at) = uvs_at.filter(|_| object.uvs.len() != count) {
        let what = format!("{} texture coordinates for {count} vertices", object.uvs.len());
        return Err(malformed(FORMAT, Place::Byte(at), what, "export one for each vertex, or none"));
    }
    check_indices(&object, faces_at.unwrap_or_default())?;
    Ok(object)
}

/// The item count that a list begins with, checked against the size of the chunk.
fn list_count(chunk: &mut Chunk<'_>, item_bytes: usize, what: &str) -> Result<usize, ImportError> {
    let Some(count) = chunk.body.u16().map(usize::from) else {
        let what = format!("the list of {what} has no count");
        return Err(malformed(FORMAT, Place::Byte(chunk.at), what, EXPORT_AGAIN));
    };
    let left = chunk.body.left().len();
    if count * item_bytes > left {
        let what = format!("{count} {what} are announced, but the chunk has room for {}", left / item_bytes);
        return Err(cut_short(FORMAT, chunk.at, what, (count * item_bytes) as u64, left));
    }
    Ok(count)
}

fn check_indices(object: &TriMesh, faces_at: usize) -> Result<(), ImportError> {
    let count = object.positions.len();
    for (face, triangle) in object.triangles.iter().enumerate() {
        if let Some(&vertex) = triangle.iter().find(|&&v| v as usize >= count) {
            return Err(ImportError::IndexOutOfRange {
                format: FORMAT,
                place: Place::Byte(faces_at + CHUNK_HEADER_BYTES + 2 + 8 * face),
                what: "vertex",
                index: i64::from(vertex),
                count,
                counting: "3DS counts from 0",
            });
        }
    }
    Ok(())
}

fn append(merged: &mut TriMesh, object: &TriMesh, at: usize, limits: &Limits) -> Result<(), ImportError> {
    let place = Place::Byte(at);
    let vertices = merged.positions.len() + object.positions.len();
    limits.check_vertices(FORMAT, place, vertices)?;
    limits.check_triangles(FORMAT, place, merged.triangles.len() + object.triangles.len())?;
    let first = merged.positions.len() as u32; // fits: the limit is at most MAX_VERTICES
    if !object.uvs.is_empty() || !merged.uvs.is_empty() {
        merged.uvs.resize(merged.positions.len(), [0.0; 2]);
        merged.uvs.extend_from_slice(&object.uvs);
        merged.uvs.resize(vertices, [0.0; 2]);
    }
    merged.positions.extend_from_slice(&object.positions);
    merged.triangles.extend(object.triangles.iter().map(|triangle| triangle.map(|v| v + first)));
    Ok(())
}
