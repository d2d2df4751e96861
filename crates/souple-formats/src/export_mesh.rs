//! Triangle meshes to bytes: OBJ, binary PLY, binary STL.
//!
//! The same mesh gives the same bytes, always. OBJ and PLY keep every bit of the positions and texture coordinates
//! (shortest decimal numbers that read back the same, and doubles); reading them back gives the mesh again. STL has
//! 32-bit floats and neither shared vertices nor texture coordinates. Axes are written as they are: y up. The mesh
//! should pass [`TriMesh::validate`]; the writers do not check, and do not panic if it does not.

use std::io::Write;

use glam::DVec3;
use souple::mesh::TriMesh;

/// Writes Wavefront OBJ. Faces tie texture coordinates to vertices there, so those of vertices without a triangle are
/// lost to readers.
pub fn write_obj(mesh: &TriMesh) -> Vec<u8> {
    let mut out = Vec::with_capacity(mesh.positions.len() * 40 + mesh.triangles.len() * 24);
    line(&mut out, format_args!("# {} vertices, {} triangles", mesh.positions.len(), mesh.triangles.len()));
    for p in &mesh.positions {
        line(&mut out, format_args!("v {} {} {}", Number(p.x), Number(p.y), Number(p.z)));
    }
    for uv in &mesh.uvs {
        line(&mut out, format_args!("vt {} {}", Number(uv[0]), Number(uv[1])));
    }
    for t in &mesh.triangles {
        let [a, b, c] = t.map(|v| u64::from(v) + 1);
        if mesh.uvs.is_empty() {
            line(&mut out, format_args!("f {a} {b} {c}"));
        } else {
            line(&mut out, format_args!("f {a}/{a} {b}/{b} {c}/{c}"));
        }
    }
    out
}

/// Writes binary little-endian PLY, coordinates as doubles, texture coordinates as s and t.
pub fn write_ply(mesh: &TriMesh) -> Vec<u8> {
    let has_uvs = !mesh.uvs.is_empty();
    let vertex_bytes = if has_uvs { 40 } else { 24 };
    let mut out = Vec::with_capacity(300 + mesh.positions.len() * vertex_bytes + mesh.triangles.len() * 13);
    line(&mut out, format_args!("ply\nformat binary_little_endian 1.0"));
    line(&mut out, format_args!("element vertex {}", mesh.positions.len()));
    line(&mut out, format_args!("property double x\nproperty double y\nproperty double z"));
    if has_uvs {
        line(&mut out, format_args!("property double s\nproperty double t"));
    }
    line(&mut out, format_args!("element face {}", mesh.triangles.len()));
    line(&mut out, format_args!("property list uchar int vertex_indices\nend_header"));
    for (i, p) in mesh.positions.iter().enumerate() {
        out.extend(p.to_array().into_iter().flat_map(f64::to_le_bytes));
        if has_uvs {
            let uv = mesh.uvs.get(i).copied().unwrap_or_default();
            out.extend(uv.into_iter().flat_map(f64::to_le_bytes));
        }
    }
    for t in &mesh.triangles {
        out.push(3);
        out.extend(t.iter().flat_map(|v| v.to_le_bytes()));
    }
    out
}

/// Writes binary STL. Positions are rounded to 32-bit floats (beyond 3.4e38 m they become infinite); vertices that
/// no triangle uses and texture coordinates are lost; a triangle that names a missing vertex is left out.
pub fn write_stl(mesh: &TriMesh) -> Vec<u8> {
    let mut out = Vec::with_capacity(84 + 50 * mesh.triangles.len());
    let mut header = [b' '; 80];
    // Not "solid": readers that look at the first word only would take the file for text.
    let title = b"binary STL, y up, metres";
    header[..title.len()].copy_from_slice(title);
    out.extend_from_slice(&header);
    out.extend_from_slice(&[0; 4]);
    let mut count: u32 = 0;
    for t in &mesh.triangles {
        let [Some(a), Some(b), Some(c)] = t.map(|v| mesh.positions.get(v as usize).copied()) else {
            continue;
        };
        let Some(next) = count.checked_add(1) else { break };
        count = next;
        let normal = (b - a).cross(c - a).try_normalize().unwrap_or(DVec3::ZERO);
        for vector in [normal, a, b, c] {
            out.extend(vector.to_array().into_iter().flat_map(|x| (x as f32).to_le_bytes()));
        }
        out.extend_from_slice(&[0; 2]);
    }
    out[80..84].copy_from_slice(&count.to_le_bytes());
    out
}

/// A number as the shortest decimal text that reads back the same.
struct Number(f64);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let size = self.0.abs();
        // Without an exponent, 1e300 would take 301 digits.
        if size != 0.0 && !(1e-5..1e16).contains(&size) {
            write!(f, "{:e}", self.0)
        } else {
            write!(f, "{}", self.0)
        }
    }
}

fn line(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to a vector cannot fail.
    let _ = writeln!(out, "{text}");
}
