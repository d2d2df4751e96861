//! What must hold for any bytes; the fuzz targets call these checks.

use souple_formats::export_mesh::{write_obj, write_ply, write_stl};
use souple_formats::import::{Limits, MeshFormat, read_mesh};
use souple_formats::picture::{PictureLimits, read_picture, write_png};

/// Reads bytes as a mesh: it may be refused, but a mesh that comes out is valid, and written as PLY or OBJ it reads
/// back the same.
pub fn check_mesh(bytes: &[u8], format: MeshFormat) {
    let limits = Limits { max_vertices: 100_000, max_triangles: 200_000, ..Limits::default() };
    let mesh = match read_mesh(bytes, format, &limits) {
        Ok(mesh) => mesh,
        Err(error) => {
            assert!(error.to_string().starts_with(&format.to_string()), "no format in: {error}");
            return;
        }
    };
    assert_eq!(mesh.validate(), Ok(()));
    assert!(mesh.positions.len() <= limits.max_vertices && mesh.triangles.len() <= limits.max_triangles);
    assert!(mesh.uvs.iter().flatten().all(|c| c.is_finite()));

    let ply = read_mesh(&write_ply(&mesh), MeshFormat::Ply, &limits);
    assert_eq!(ply.as_ref(), Ok(&mesh), "PLY does not read back");
    let obj = read_mesh(&write_obj(&mesh), MeshFormat::Obj, &limits).expect("OBJ does not read back");
    assert_eq!(
        (&obj.positions, &obj.triangles),
        (&mesh.positions, &mesh.triangles),
        "OBJ reads back differently"
    );
    assert_eq!(write_stl(&mesh).len(), 84 + 50 * mesh.triangles.len());
}

/// Reads bytes as a picture: it may be refused, but a picture that comes out is whole and within the limits, and written
/// as PNG it reads back the same.
pub fn check_picture(bytes: &[u8]) {
    let limits =
        PictureLimits { max_width: 2048, max_height: 2048, max_pixels: 1 << 20, ..PictureLimits::default() };
    let picture = match read_picture(bytes, &limits) {
        Ok(picture) => picture,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    picture.check().expect("it is not whole");
    assert!(u64::from(picture.width) * u64::from(picture.height) <= limits.max_pixels);
    let png = write_png(&picture).expect("it cannot be written");
    assert_eq!(
        read_picture(&png, &limits).expect("PNG does not read back"),
        picture,
        "PNG reads back differently"
    );
}
