//! Makers of test files that do not use the code under test.
#![allow(dead_code)] // each test program uses its own part

use souple::mesh::TriMesh;
use souple_formats::import::{ImportError, Limits, MeshFormat, read_mesh};

/// Reads with the default limits.
pub fn read(bytes: &[u8], format: MeshFormat) -> Result<TriMesh, ImportError> {
    read_mesh(bytes, format, &Limits::default())
}

/// A chunk of a 3DS file: id, length with the header, body.
pub fn chunk(id: u16, body: &[u8]) -> Vec<u8> {
    let mut out = id.to_le_bytes().to_vec();
    out.extend((body.len() as u32 + 6).to_le_bytes());
    out.extend(body);
    out
}

/// The body of a 3DS list: count and values.
fn list<const N: usize, const M: usize, T: Copy>(items: &[[T; N]], to_bytes: fn(T) -> [u8; M]) -> Vec<u8> {
    let mut out = (items.len() as u16).to_le_bytes().to_vec();
    out.extend(items.iter().flatten().flat_map(|&value| to_bytes(value)));
    out
}

/// One object of a 3DS file, z up, with the chunks that real exporters add around the lists.
pub fn three_ds_object(name: &str, vertices: &[[f32; 3]], faces: &[[u16; 3]], uvs: &[[f32; 2]]) -> Vec<u8> {
    let flagged: Vec<[u16; 4]> = faces.iter().map(|&[a, b, c]| [a, b, c, 7]).collect();
    let mut face_body = list(&flagged, u16::to_le_bytes);
    face_body.extend(chunk(0x4150, &vec![0; 4 * faces.len()])); // smoothing groups, within the faces chunk
    let mut mesh = chunk(0x4110, &list(vertices, f32::to_le_bytes));
    if !uvs.is_empty() {
        mesh.extend(chunk(0x4140, &list(uvs, f32::to_le_bytes)));
    }
    mesh.extend(chunk(0x4160, &[0xff; 48])); // local matrix, to be ignored
    mesh.extend(chunk(0x4120, &face_body));
    let mut object = name.as_bytes().to_vec();
    object.push(0);
    object.extend(chunk(0x4100, &mesh));
    chunk(0x4000, &object)
}

/// A whole 3DS file of objects.
pub fn three_ds_file(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut editor = chunk(0x3d3e, &3u32.to_le_bytes()); // version of the mesh data
    editor.extend(chunk(0xafff, &chunk(0xa000, b"material\0")));
    editor.extend(objects.concat());
    let mut main = chunk(0x0002, &3u32.to_le_bytes()); // version of the file
    main.extend(chunk(0x3d3d, &editor));
    main.extend(chunk(0xb000, &[1, 2, 3])); // key frames
    chunk(0x4d4d, &main)
}

/// A binary STL file.
pub fn binary_stl(header: &[u8], triangles: &[[[f32; 3]; 3]]) -> Vec<u8> {
    let mut out = header.to_vec();
    out.resize(80, 0);
    out.extend((triangles.len() as u32).to_le_bytes());
    for corners in triangles {
        out.extend([0; 12]);
        out.extend(corners.iter().flatten().flat_map(|c| c.to_le_bytes()));
        out.extend([0xab, 0xcd]);
    }
    out
}

/// Two triangles that share an edge.
pub const QUAD: [[[f32; 3]; 3]; 2] = [
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.5]],
    [[0.0, 0.0, 0.0], [1.0, 1.0, 0.5], [0.0, 1.0, 0.0]],
];
