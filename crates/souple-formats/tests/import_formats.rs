//! What each mesh reader takes in, feature by feature (ESSI-13, ESSI-14), against values written by hand and, for OBJ,
//! against an independent reader.

mod import_support;

use std::path::Path;

use glam::DVec3;
use import_support::{QUAD, binary_stl, read, three_ds_file, three_ds_object};
use souple::mesh::TriMesh;
use souple_formats::import::{ImportError, Limits, MeshFormat, Place, read_mesh};

fn obj(text: &str) -> TriMesh {
    read(text.as_bytes(), MeshFormat::Obj).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn ply(bytes: &[u8]) -> TriMesh {
    read(bytes, MeshFormat::Ply).unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(bytes)))
}

fn points(list: &[[f64; 3]]) -> Vec<DVec3> {
    list.iter().copied().map(DVec3::from_array).collect()
}

const CORNERS: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

#[test]
fn obj_reads_every_form_of_corner() {
    let texture = "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvn 0 0 1\n";
    let plain = obj(&format!("{CORNERS}f 1 2 3 4\n"));
    assert_eq!(plain.positions, points(&[[0., 0., 0.], [1., 0., 0.], [1., 1., 0.], [0., 1., 0.]]));
    assert_eq!(plain.triangles, [[0, 1, 2], [0, 2, 3]]);
    assert!(plain.uvs.is_empty());
    for faces in
        ["f 1// 2// 3// 4//", "f 1//1 2//1 3//1 4//1", "f -4 -3 -2 -1", "f -4//-1 2//1 3 4", "f 1/ 2/ 3/ 4/"]
    {
        assert_eq!(obj(&format!("{CORNERS}{texture}{faces}")), plain, "{faces}");
    }
    let uvs = vec![[0., 0.], [1., 0.], [1., 1.], [0., 1.]];
    for faces in ["f 1/1 2/2 3/3 4/4", "f 1/1/1 2/2/1 3/3/1 4/4/1", "f -4/-4 -3/-3 -2/-2 -1/-1"] {
        assert_eq!(obj(&format!("{CORNERS}{texture}{faces}")), TriMesh { uvs: uvs.clone(), ..plain.clone() });
    }
}

#[test]
fn obj_takes_the_text_as_people_and_programs_write_it() {
    let expected = obj(&format!("{CORNERS}f 1 2 3\nf 1 3 4\n"));
    let dressed = "\u{feff}# comment \\\r\nmtllib a b.mtl\r\no Quad # name\r\n\tv 0 0 0 1.0\r\nv  1.0e0 0 0 0.5 0.5 0.5\r\n\
                   v +1 1. 0\r\n\r\nv .0 1 -0\r\ng x\r\nusemtl y\r\ns off\r\nl 1 2\r\nvp 0.5\r\nvn 0 0 1\r\n\
                   f 1 2 \\\r\n  3\r\nf 1 3 4#end";
    assert_eq!(obj(dressed), expected);
    assert_eq!(obj(&dressed.replace("\r\n", "\r")), expected);
    let mut latin1 = b"# caf\xe9 \xff\xfe\ng \xe9t\xe9\n".to_vec();
    latin1.extend(CORNERS.as_bytes());
    latin1.extend(b"f 1 2 3\nf 1 3 4\n");
    assert_eq!(read(&latin1, MeshFormat::Obj).unwrap(), expected);
}

#[test]
fn obj_faces_may_come_before_their_vertices() {
    assert_eq!(obj(&format!("f 1 2 3\nf 1 3 4\n{CORNERS}")), obj(&format!("{CORNERS}f 1 2 3\nf 1 3 4\n")));
}

#[test]
fn obj_repeats_a_vertex_per_texture_coordinate_and_keeps_the_numbering() {
    // A strip of two quads with a seam in the middle edge (vertices 2 and 5) and one vertex that no face uses.
    let mesh = obj("v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nv 1 1 0\nv 2 1 0\nv 9 9 9\n\
                    vt 0 0\nvt 1 0\nvt 0 1\nvt 1 1\n\
                    f 1/1 2/2 5/4 4/3\nf 2/1 3/2 6/4 5/3\nf 2 3/2 6\n");
    assert_eq!(mesh.positions.len(), 9, "seven of the file and two copies");
    assert_eq!(
        mesh.positions[..7],
        obj("v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nv 1 1 0\nv 2 1 0\nv 9 9 9\n").positions
    );
    assert_eq!(mesh.triangles, [[0, 1, 4], [0, 4, 3], [7, 2, 5], [7, 5, 8], [1, 2, 5]]);
    assert_eq!(mesh.positions[7..], points(&[[1., 0., 0.], [1., 1., 0.]]));
    assert_eq!(
        mesh.uvs,
        [[0., 0.], [1., 0.], [1., 0.], [0., 1.], [1., 1.], [1., 1.], [0., 0.], [0., 0.], [0., 1.]]
    );
    assert_eq!(mesh.welded().positions.len(), 7, "welding closes the seam");
}

/// Triangles as corner values, so that the numbering does not matter.
type Soup = Vec<[([f32; 3], [f32; 2]); 3]>;

fn soup(mesh: &TriMesh) -> Soup {
    let corner = |v: u32| {
        let uv = mesh.uvs.get(v as usize).copied().unwrap_or_default();
        (mesh.positions[v as usize].to_array().map(|c| c as f32), uv.map(|c| c as f32))
    };
    mesh.triangles.iter().map(|t| t.map(corner)).collect()
}

fn soup_of_tobj(mut bytes: &[u8]) -> Soup {
    let options = tobj::LoadOptions { triangulate: true, ..Default::default() };
    let (models, _) = tobj::load_obj_buf(&mut bytes, &options, |_| Ok(Default::default())).unwrap();
    let mut out = Soup::new();
    for mesh in models.iter().map(|model| &model.mesh) {
        let corner = |i: usize| {
            let v = mesh.indices[i] as usize * 3;
            let uv = mesh.texcoord_indices.get(i).map_or([0.0; 2], |&vt| {
                let vt = vt as usize * 2;
                [mesh.texcoords[vt], mesh.texcoords[vt + 1]]
            });
            ([mesh.positions[v], mesh.positions[v + 1], mesh.positions[v + 2]], uv)
        };
        out.extend(
            (0..mesh.indices.len() / 3).map(|t| [corner(3 * t), corner(3 * t + 1), corner(3 * t + 2)]),
        );
    }
    out
}

#[test]
fn obj_agrees_with_an_independent_reader_on_a_generated_file() {
    // A bumpy grid with texture coordinates of its own count, quads, pentagons and triangles, indices both ways.
    let n = 20;
    let mut text = String::from("# grid\no first\n");
    for i in 0..n * n {
        let (x, y) = ((i % n) as f32 * 0.37, (i / n) as f32 * 0.11);
        text += &format!("v {x} {y} {}\nvn 0 0 1\n", x * y - 1.5e-3);
    }
    for i in 0..7 {
        text += &format!("vt {} {}\n", i as f32 / 7.0, (i * i) as f32 / 49.0);
    }
    let mut corners = 0;
    for row in 0..n - 1 {
        for col in 0..n - 1 {
            let a = row * n + col + 1;
            let mut polygon = vec![a, a + 1, a + n + 1, a + n];
            match (row + col) % 3 {
                0 => drop(polygon.pop()),
                1 if col + 2 < n => polygon.insert(2, a + 2),
                _ => {}
            }
            text += "f";
            for v in polygon {
                let vt = corners % 7 + 1;
                corners += 1;
                text += &match row % 2 {
                    0 => format!(" {v}/{vt}/1"),
                    _ => format!(" {}/{}/-1", v - n * n - 1, vt - 7 - 1),
                };
            }
            text += "\n";
        }
    }
    let mesh = obj(&text);
    assert!(mesh.triangles.len() > 700 && mesh.positions.len() > (n * n) as usize);
    assert_eq!(soup(&mesh), soup_of_tobj(text.as_bytes()));
}

#[test]
fn obj_agrees_with_an_independent_reader_on_real_models() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: there is no folder of real models at {}", folder.display());
        return;
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "obj"));
    paths.sort();
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        let mesh =
            read(&bytes, MeshFormat::Obj).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(!mesh.triangles.is_empty(), "{}", path.display());
        assert!(soup(&mesh) == soup_of_tobj(&bytes), "{} reads differently", path.display());
        println!("{}: {} vertices, {} triangles", path.display(), mesh.positions.len(), mesh.triangles.len());
    }
}

#[test]
fn ply_reads_text_with_unknown_elements_and_any_names_for_texture_coordinates() {
    for (u, v) in [("u", "v"), ("s", "t"), ("texture_u", "texture_v")] {
        let text = format!(
            "ply\nformat ascii 1.0\ncomment made by hand\nobj_info \nelement camera 1\nproperty list uchar float m\n\
             property int id\nelement nothing 1000000000\nelement vertex 4\nproperty uchar red\nproperty float z\n\
             property double x\nproperty short y\nproperty float {v}\nproperty float {u}\nproperty float quality\n\
             element face 2\nproperty uchar material\nproperty list uchar int vertex_indices\n\
             property list uchar float texcoord\nend_header\n\
             2 1.5 2.5 7\n9 0 0.25 0 0 0 nan\n9 0 1 0 0 1 nan\n\n9 0 1 1 1 1 nan\n9 -2 0 1 1 0 nan\n\
             0 4 0 1 2 3 1 0.5\n0 3 0 2 3 0\n"
        );
        let mesh = ply(text.as_bytes());
        assert_eq!(mesh.positions, points(&[[0.25, 0., 0.], [1., 0., 0.], [1., 1., 0.], [0., 1., -2.]]));
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 2, 3]]);
        assert_eq!(mesh.uvs, [[0., 0.], [1., 0.], [1., 1.], [0., 1.]]);
        assert_eq!(ply(text.replace('\n', "\r\n").as_bytes()), mesh, "CRLF");
        assert_eq!(ply(text.replace('\n', "\r").as_bytes()), mesh, "CR");
    }
}

#[test]
fn ply_reads_both_byte_orders() {
    let header = |order: &str| {
        format!(
            "ply\r\nformat binary_{order}_endian 1.0\r\nelement vertex 3\r\nproperty float x\r\nproperty double y\r\n\
             property short z\r\nelement face 1\r\nproperty list ushort uint vertex_index\r\nend_header\r\n"
        )
        .into_bytes()
    };
    let (mut little, mut big) = (header("little"), header("big"));
    for (x, y, z) in [(0.5f32, -1e300f64, -300i16), (1.5, 0.1, 0x0a0a), (2.5, 3.0, 2)] {
        little.extend([&x.to_le_bytes()[..], &y.to_le_bytes(), &z.to_le_bytes()].concat());
        big.extend([&x.to_be_bytes()[..], &y.to_be_bytes(), &z.to_be_bytes()].concat());
    }
    little.extend([3, 0]);
    big.extend([0, 3]);
    for index in [2u32, 0, 1] {
        little.extend(index.to_le_bytes());
        big.extend(index.to_be_bytes());
    }
    let mesh = ply(&little);
    assert_eq!(mesh.positions, points(&[[0.5, -1e300, -300.], [1.5, 0.1, 2570.], [2.5, 3., 2.]]));
    assert_eq!(mesh.triangles, [[2, 0, 1]]);
    assert_eq!(ply(&big), mesh);
}

#[test]
fn ply_headers_that_end_lines_with_cr_keep_a_body_that_starts_with_lf() {
    let mut bytes =
        b"ply\rformat binary_little_endian 1.0\relement vertex 1\rproperty uchar x\rproperty uchar y\r\
                      property uchar z\rend_header\r"
            .to_vec();
    bytes.extend([10, 20, 30]);
    assert_eq!(ply(&bytes).positions, points(&[[10., 20., 30.]]));
}

#[test]
fn ply_faces_may_come_before_vertices() {
    let mesh = ply(b"ply\nformat ascii 1.0\nelement face 1\nproperty list int int vertex_index\nelement vertex 3\n\
                     property int x\nproperty int y\nproperty int z\nend_header\n3 0 1 2\n0 0 0\n1 0 0\n0 1 0");
    assert_eq!((mesh.positions.len(), mesh.triangles), (3, vec![[0, 1, 2]]));
}

const STL_TEXT: &str = "solid two words\n facet normal 0 0 nan\n  outer loop\n   vertex 0 0 0\n   vertex 1 0 0\n   \
                        vertex 1 1 0.5\n  endloop\n endfacet\n FACET NORMAL 0 0 1\n  OUTER LOOP\n   vertex -0 0 0\n   \
                        vertex 1.0 1e0 5e-1\n   vertex 0 1 0\n  endloop\n endfacet\nendsolid two words\n";

#[test]
fn stl_text_and_binary_are_welded_to_the_same_mesh() {
    let text = read(STL_TEXT.as_bytes(), MeshFormat::Stl).unwrap();
    assert_eq!(text.positions, points(&[[0., 0., 0.], [1., 0., 0.], [1., 1., 0.5], [0., 1., 0.]]));
    assert_eq!(text.triangles, [[0, 1, 2], [0, 2, 3]]);
    for header in [&b"exported"[..], b"solid but binary", &[b' '; 80], b"solid\nfacet normal"] {
        assert_eq!(read(&binary_stl(header, &QUAD), MeshFormat::Stl).unwrap(), text);
    }
    let crlf = STL_TEXT.replace('\n', "\r\n");
    assert_eq!(read(crlf.as_bytes(), MeshFormat::Stl).unwrap(), text);
    // A few bytes of padding cannot be a triangle.
    let padded = [binary_stl(b"", &QUAD), vec![0; 49]].concat();
    assert_eq!(read(&padded, MeshFormat::Stl).unwrap(), text);
}

#[test]
fn stl_solids_of_one_text_become_one_mesh() {
    let twice = format!("{STL_TEXT}{}", STL_TEXT.replace("1 0 0", "0.5 0 0"));
    let mesh = read(twice.as_bytes(), MeshFormat::Stl).unwrap();
    assert_eq!((mesh.positions.len(), mesh.triangles.len()), (5, 4));
}

#[test]
fn three_ds_objects_are_merged_and_turned_to_y_up() {
    let first = three_ds_object("a", &[[1., 2., 3.], [4., 5., 6.], [7., 0., 9.]], &[[0, 1, 2]], &[]);
    let uvs = [[0.25, 0.5], [0.5, 0.5], [1., 0.]];
    let second =
        three_ds_object("b", &[[0., 0., 0.], [1., 0., 0.], [0., 1., 0.]], &[[2, 0, 1], [0, 1, 2]], &uvs);
    let lamp = import_support::chunk(
        0x4000,
        &[b"lamp\0".to_vec(), import_support::chunk(0x4600, &[0; 12])].concat(),
    );
    let mesh = read(&three_ds_file(&[first, lamp, second]), MeshFormat::ThreeDs).unwrap();
    assert_eq!(
        mesh.positions,
        points(&[[1., 3., -2.], [4., 6., -5.], [7., 9., 0.], [0., 0., 0.], [1., 0., 0.], [0., 0., -1.]])
    );
    assert_eq!(mesh.triangles, [[0, 1, 2], [5, 3, 4], [3, 4, 5]]);
    assert_eq!(mesh.uvs, [[0., 0.], [0., 0.], [0., 0.], [0.25, 0.5], [0.5, 0.5], [1., 0.]]);
}

#[test]
fn three_ds_keeps_the_winding_when_it_turns() {
    // Counter-clockwise seen from above in z up must be counter-clockwise seen from above in y up.
    let object = three_ds_object("floor", &[[0., 0., 0.], [1., 0., 0.], [0., 1., 0.]], &[[0, 1, 2]], &[]);
    let mesh = read(&three_ds_file(&[object]), MeshFormat::ThreeDs).unwrap();
    let [a, b, c] = mesh.triangles[0].map(|v| mesh.positions[v as usize]);
    assert_eq!((b - a).cross(c - a), DVec3::Y);
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let object = three_ds_object("a", &[[1., 2., 3.], [4., 5., 6.], [7., 0., 9.]], &[[0, 1, 2]], &[]);
    let mesh = read(&three_ds_file(std::slice::from_ref(&object)), MeshFormat::ThreeDs).unwrap();
    let files = [
        (MeshFormat::Stl, binary_stl(b"exported", &QUAD)),
        (MeshFormat::Stl, binary_stl(b"solid exported", &QUAD)),
        (MeshFormat::Stl, STL_TEXT.trim_end_matches(" two words\n").as_bytes().to_vec()),
        (MeshFormat::ThreeDs, three_ds_file(&[object])),
        (MeshFormat::Ply, souple_formats::export_mesh::write_ply(&mesh)),
    ];
    for (format, bytes) in files {
        assert!(read(&bytes, format).is_ok(), "{format}");
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length], format).is_err(), "{format} of {length} bytes");
        }
    }
}

#[test]
fn limits_hold_in_every_format() {
    let quad = obj(&format!("{CORNERS}f 1 2 3\nf 1 3 4\n"));
    let object =
        three_ds_object("a", &[[0.; 3], [1., 0., 0.], [1.; 3], [0., 1., 0.]], &[[0, 1, 2], [0, 2, 3]], &[]);
    let files = [
        (MeshFormat::Obj, souple_formats::export_mesh::write_obj(&quad)),
        (MeshFormat::Ply, souple_formats::export_mesh::write_ply(&quad)),
        (MeshFormat::Stl, souple_formats::export_mesh::write_stl(&quad)),
        (MeshFormat::Stl, STL_TEXT.as_bytes().to_vec()),
        (MeshFormat::ThreeDs, three_ds_file(&[object])),
    ];
    for (format, bytes) in files {
        let exact = Limits { max_vertices: 4, max_triangles: 2, max_bytes: bytes.len(), ..Limits::default() };
        assert!(read_mesh(&bytes, format, &exact).is_ok(), "{format}");
        let error = |limits: Limits| read_mesh(&bytes, format, &limits).unwrap_err();
        let vertices = error(Limits { max_vertices: 3, ..exact });
        assert!(
            matches!(vertices, ImportError::OverLimit { what: "vertices", count: 4, limit: 3, .. }),
            "{vertices}"
        );
        let triangles = error(Limits { max_triangles: 1, ..exact });
        assert!(
            matches!(triangles, ImportError::OverLimit { what: "triangles", count: 2, limit: 1, .. }),
            "{triangles}"
        );
        let size = error(Limits { max_bytes: bytes.len() - 1, ..exact });
        assert!(matches!(size, ImportError::FileTooLarge { .. }), "{size}");
    }
    // Polygons and texture seams count as what they become.
    let seam = format!("{CORNERS}vt 0 0\nvt 1 1\nf 1/1 2/1 3/1 4/1\nf 1/2 2/2 3/2 4/2\n");
    let limits = Limits { max_vertices: 7, max_triangles: 4, ..Limits::default() };
    let error = read_mesh(seam.as_bytes(), MeshFormat::Obj, &limits).unwrap_err();
    assert!(matches!(error, ImportError::OverLimit { what: "vertices", count: 8, .. }), "{error}");
    let limits = Limits { max_vertices: 8, max_triangles: 3, ..Limits::default() };
    let error = read_mesh(seam.as_bytes(), MeshFormat::Obj, &limits).unwrap_err();
    assert!(matches!(error, ImportError::OverLimit { what: "triangles", count: 4, .. }), "{error}");
}

#[test]
fn errors_name_the_place() {
    let error = read(b"v 0 0 0\n\nv 1 \\\n x 0\n", MeshFormat::Obj).unwrap_err();
    assert_eq!(error.place(), Some(Place::Line(3)));
    let mut stl = binary_stl(b"", &QUAD);
    let second_vertex = 84 + 50 + 12 + 12;
    stl[second_vertex..second_vertex + 4].copy_from_slice(&f32::INFINITY.to_le_bytes());
    let error = read(&stl, MeshFormat::Stl).unwrap_err();
    assert_eq!(error.place(), Some(Place::Byte(second_vertex)));
    assert_eq!(
        error.to_string(),
        "STL, byte 158: a vertex coordinate is not a finite number: (inf, 1, 0.5); \
                                   repair the mesh where it was made"
    );
}
