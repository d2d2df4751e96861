//! Properties of the mesh readers and writers on random input: what is written reads back, every encoding of a PLY
//! gives the same mesh, and no bytes at all make a reader panic or give a mesh that is not valid.

mod import_support;

use glam::DVec3;
use import_support::{QUAD, binary_stl, read, three_ds_file, three_ds_object};
use proptest::collection::vec;
use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
use proptest::prelude::*;
use proptest::sample::Index;
use souple::mesh::TriMesh;
use souple::scene::RigFile;
use souple::skin::CompiledRig;
use souple_formats::export_mesh::{write_obj, write_ply, write_stl};
use souple_formats::import::MeshFormat;
use souple_formats::scene::{read_rig_file, read_skeleton};

/// Any finite number, signed zeros and the smallest and largest included.
fn finite() -> impl Strategy<Value = f64> + Clone {
    POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO
}

/// A valid mesh of 3 to 40 vertices, triangles of three different vertices, with or without texture coordinates.
fn meshes(coordinate: impl Strategy<Value = f64> + Clone) -> impl Strategy<Value = TriMesh> {
    (3usize..40, any::<bool>()).prop_flat_map(move |(n, textured)| {
        let point = [coordinate.clone(), coordinate.clone(), coordinate.clone()];
        let triangle = (0..n as u32, 1..n as u32, 0..n as u32 - 2).prop_map(move |(a, step, skip)| {
            let b = (a + step) % n as u32;
            let c = (0..n as u32).filter(|&v| v != a && v != b).nth(skip as usize).unwrap_or_default();
            [a, b, c]
        });
        let uvs = vec([finite(), finite()], if textured { n } else { 0 });
        (vec(point, n), vec(triangle, 0..60), uvs).prop_map(|(positions, triangles, uvs)| {
            let positions = positions.into_iter().map(DVec3::from_array).collect();
            TriMesh { positions, triangles, uvs }
        })
    })
}

/// Positions bit by bit, because -0 equals 0.
fn bits(mesh: &TriMesh) -> Vec<[u64; 3]> {
    mesh.positions.iter().map(|p| p.to_array().map(f64::to_bits)).collect()
}

/// A PLY document: what its rows hold, whatever the encoding.
#[derive(Clone, Debug)]
struct Document {
    elements: Vec<(String, Vec<PlyProperty>, Vec<Vec<Value>>)>,
}

#[derive(Clone, Debug)]
enum PlyProperty {
    Scalar(usize, String),
    List(usize, usize, String),
}

#[derive(Clone, Debug)]
enum Value {
    Scalar(u8),
    List(Vec<u8>),
}

const TYPES: [(&str, &str); 8] = [
    ("char", "int8"),
    ("uchar", "uint8"),
    ("short", "int16"),
    ("ushort", "uint16"),
    ("int", "int32"),
    ("uint", "uint32"),
    ("float", "float32"),
    ("double", "float64"),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum PlyEncoding {
    Text,
    Little,
    Big,
}

fn encode_value(out: &mut Vec<u8>, encoding: PlyEncoding, kind: usize, value: u8) {
    let mut bytes = match kind {
        0 | 1 => vec![value],
        2 | 3 => u16::from(value).to_le_bytes().to_vec(),
        4 | 5 => u32::from(value).to_le_bytes().to_vec(),
        6 => f32::from(value).to_le_bytes().to_vec(),
        _ => f64::from(value).to_le_bytes().to_vec(),
    };
    match encoding {
        PlyEncoding::Text => return out.extend(format!("{value} ").bytes()),
        PlyEncoding::Little => {}
        PlyEncoding::Big => bytes.reverse(),
    }
    out.extend(bytes);
}

fn encode(document: &Document, encoding: PlyEncoding) -> Vec<u8> {
    let name = match encoding {
        PlyEncoding::Text => "ascii",
        PlyEncoding::Little => "binary_little_endian",
        PlyEncoding::Big => "binary_big_endian",
    };
    let mut out = format!("ply\nformat {name} 1.0\n").into_bytes();
    for (i, (name, properties, rows)) in document.elements.iter().enumerate() {
        // Both spellings of the types, in turn.
        let type_name = |kind: usize| if i % 2 == 0 { TYPES[kind].0 } else { TYPES[kind].1 };
        out.extend(format!("element {name} {}\n", rows.len()).bytes());
        for property in properties {
            let line = match property {
                PlyProperty::Scalar(kind, name) => format!("property {} {name}\n", type_name(*kind)),
                PlyProperty::List(count, item, name) => {
                    format!("property list {} {} {name}\n", type_name(*count), type_name(*item))
                }
            };
            out.extend(line.bytes());
        }
    }
    out.extend(b"end_header\n");
    for (_, properties, rows) in &document.elements {
        for row in rows {
            for (property, value) in properties.iter().zip(row) {
                match (property, value) {
                    (PlyProperty::Scalar(kind, _), Value::Scalar(value)) => {
                        encode_value(&mut out, encoding, *kind, *value);
                    }
                    (PlyProperty::List(count, item, _), Value::List(values)) => {
                        encode_value(&mut out, encoding, *count, values.len() as u8);
                        values.iter().for_each(|&value| encode_value(&mut out, encoding, *item, value));
                    }
                    _ => unreachable!("rows follow their properties"),
                }
            }
            if encoding == PlyEncoding::Text && !properties.is_empty() {
                out.push(b'\n');
            }
        }
    }
    out
}

/// Properties with this prefix of names, and a row of values for each of `rows`.
fn extras(prefix: &'static str, rows: usize) -> impl Strategy<Value = (Vec<PlyProperty>, Vec<Vec<Value>>)> {
    vec((any::<bool>(), 0..8usize, 0..8usize), 0..4).prop_flat_map(move |kinds| {
        let named = kinds.iter().enumerate().map(|(i, &(is_list, a, b))| match is_list {
            true => PlyProperty::List(a, b, format!("{prefix}{i}")),
            false => PlyProperty::Scalar(a, format!("{prefix}{i}")),
        });
        let row: Vec<BoxedStrategy<Value>> = kinds
            .iter()
            .map(|&(is_list, ..)| match is_list {
                true => vec(0..100u8, 0..5).prop_map(Value::List).boxed(),
                false => (0..100u8).prop_map(Value::Scalar).boxed(),
            })
            .collect();
        (Just(named.collect::<Vec<_>>()), vec(row, rows))
    })
}

/// A document with a known mesh in it, among other properties and elements, and that mesh.
fn documents() -> impl Strategy<Value = (Document, TriMesh)> {
    let polygons = vec(vec(any::<Index>(), 3..7), 0..10);
    let types = [0..8usize, 0..8usize, 0..8usize, 0..8usize, 0..8usize];
    (vec([0..100u8, 0..100, 0..100], 3..20), polygons, types, any::<[Index; 4]>(), any::<bool>())
        .prop_flat_map(|(points, polygons, types, places, swap)| {
            let (vertices, faces) = (points.len(), polygons.len());
            let all = (extras("a", vertices), extras("b", faces), extras("c", 3));
            (Just((points, polygons, types, places, swap)), all)
        })
        .prop_map(|((points, polygons, types, places, swap), (on_vertices, on_faces, other))| {
            let mut mesh = TriMesh::default();
            let (mut properties, mut rows) = on_vertices;
            for (i, name) in ["x", "y", "z"].into_iter().enumerate() {
                let at = places[i].index(properties.len() + 1);
                properties.insert(at, PlyProperty::Scalar(types[i], name.into()));
                rows.iter_mut().zip(&points).for_each(|(row, point)| row.insert(at, Value::Scalar(point[i])));
            }
            mesh.positions = points.iter().map(|p| DVec3::from_array(p.map(f64::from))).collect();
            let vertex = ("vertex".to_string(), properties, rows);

            let (mut properties, mut rows) = on_faces;
            let at = places[3].index(properties.len() + 1);
            properties.insert(at, PlyProperty::List(types[3], types[4], "vertex_indices".into()));
            for (row, polygon) in rows.iter_mut().zip(&polygons) {
                let corners: Vec<u8> = polygon.iter().map(|index| index.index(points.len()) as u8).collect();
                for i in 2..corners.len() {
                    mesh.triangles.push([corners[0], corners[i - 1], corners[i]].map(u32::from));
                }
                row.insert(at, Value::List(corners));
            }
            let face = ("face".to_string(), properties, rows);
            let other = ("other".to_string(), other.0, other.1);
            let elements = if swap { vec![face, other, vertex] } else { vec![vertex, other, face] };
            (Document { elements }, mesh)
        })
}

/// Whole files of every format and encoding, as a start for mutations.
fn valid_files() -> Vec<(MeshFormat, Vec<u8>)> {
    let point = DVec3::new;
    let mesh = TriMesh {
        positions: vec![point(0., 0., 0.), point(1., 0., 0.), point(1., 1., 0.5), point(0., 1., 0.)],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        uvs: vec![[0., 0.], [1., 0.], [1., 1.], [0., 1.]],
    };
    let corners = [[0., 0., 0.], [1., 0., 0.], [1., 1., 0.5], [0., 1., 0.]];
    let object = three_ds_object("quad", &corners, &[[0, 1, 2], [0, 2, 3]], &[[0., 0.]; 4]);
    let obj_text = "v 0 0 0\nv 1 0 0\nv 1 1 0 \\\n 1\nvt 0 0\nvn 0 0 1\nf 1/1 2/1/1 3//1 -1\nf -1 -2 -3\n";
    let stl_text = "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n\
                    endfacet\nendsolid s\n";
    let ply_text = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
                    property float s\nproperty float t\nelement extra 1\nproperty list uchar int l\nelement face 1\n\
                    property list uchar int vertex_indices\nend_header\n0 0 0 0 0\n1 0 0 1 0\n0 1 0 0 1\n2 5 6\n3 0 1 2\n";
    vec![
        (MeshFormat::Obj, write_obj(&mesh)),
        (MeshFormat::Obj, obj_text.into()),
        (MeshFormat::Ply, write_ply(&mesh)),
        (MeshFormat::Ply, ply_text.into()),
        (MeshFormat::Stl, binary_stl(b"exported", &QUAD)),
        (MeshFormat::Stl, stl_text.into()),
        (MeshFormat::ThreeDs, three_ds_file(&[object.clone(), object])),
    ]
}

/// One change of a file.
#[derive(Clone, Debug)]
enum Mutation {
    Set(Index, u8),
    Flip(Index, u8),
    Cut(Index),
    Insert(Index, Vec<u8>),
    Remove(Index, u8),
    Repeat(Index, u8),
}

fn mutations() -> impl Strategy<Value = Mutation> {
    let telling = prop::sample::select(b"\0\x01\x7f\x80\xff0123456789-+.e/ \n\r#\\nait\x41\x4d".to_vec());
    let at = any::<Index>;
    prop_oneof![
        (at(), prop_oneof![telling, any::<u8>()]).prop_map(|(at, byte)| Mutation::Set(at, byte)),
        (at(), 0..8u8).prop_map(|(at, bit)| Mutation::Flip(at, bit)),
        at().prop_map(Mutation::Cut),
        (at(), vec(any::<u8>(), 1..8)).prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
        (at(), 1..16u8).prop_map(|(at, count)| Mutation::Remove(at, count)),
        (at(), 1..60u8).prop_map(|(at, count)| Mutation::Repeat(at, count)),
    ]
}

fn mutate(bytes: &mut Vec<u8>, mutation: &Mutation) {
    if bytes.is_empty() {
        return;
    }
    let size = bytes.len();
    match mutation {
        Mutation::Set(at, byte) => bytes[at.index(size)] = *byte,
        Mutation::Flip(at, bit) => bytes[at.index(size)] ^= 1 << bit,
        Mutation::Cut(at) => bytes.truncate(at.index(size)),
        Mutation::Insert(at, new) => drop(bytes.splice(at.index(size)..at.index(size), new.iter().copied())),
        Mutation::Remove(at, count) => {
            let start = at.index(size);
            bytes.drain(start..(start + usize::from(*count)).min(size));
        }
        Mutation::Repeat(at, count) => {
            let start = at.index(size);
            let copy = bytes[start..(start + usize::from(*count)).min(size)].to_vec();
            bytes.splice(start..start, copy);
        }
    }
}

/// Reads, and checks a mesh that comes out.
fn read_and_check(bytes: &[u8], format: MeshFormat) {
    match read(bytes, format) {
        Ok(mesh) => {
            assert_eq!(mesh.validate(), Ok(()), "{format}");
            assert!(mesh.uvs.iter().flatten().all(|c| c.is_finite()), "{format}");
        }
        Err(error) => assert!(error.to_string().starts_with(&format.to_string())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn obj_round_trip_keeps_every_bit(mesh in meshes(finite())) {
        let bytes = write_obj(&mesh);
        prop_assert_eq!(&bytes, &write_obj(&mesh.clone()));
        let back = read(&bytes, MeshFormat::Obj).unwrap();
        prop_assert_eq!(bits(&back), bits(&mesh));
        prop_assert_eq!(&back.triangles, &mesh.triangles);
        // Faces carry texture coordinates in OBJ: vertices without a face have none.
        for &v in mesh.triangles.as_flattened() {
            prop_assert_eq!(back.uvs.get(v as usize), mesh.uvs.get(v as usize));
        }
    }

    #[test]
    fn ply_round_trip_keeps_every_bit(mesh in meshes(finite())) {
        let bytes = write_ply(&mesh);
        let back = read(&bytes, MeshFormat::Ply).unwrap();
        prop_assert_eq!(bits(&back), bits(&mesh));
        prop_assert_eq!(&back, &mesh);
        prop_assert_eq!(write_ply(&back), bytes);
    }

    #[test]
    fn stl_round_trip_keeps_the_triangles_and_welds(
        // Few different values, so that vertices coincide.
        mesh in meshes(prop_oneof![any::<i16>().prop_map(f64::from), (0..3u8).prop_map(f64::from)]),
    ) {
        let bytes = write_stl(&mesh);
        prop_assert_eq!(bytes.len(), 84 + 50 * mesh.triangles.len());
        let Ok(back) = read(&bytes, MeshFormat::Stl) else {
            prop_assert!(mesh.triangles.is_empty());
            return Ok(());
        };
        let corners = |mesh: &TriMesh| -> Vec<[DVec3; 3]> {
            mesh.triangles.iter().map(|t| t.map(|v| mesh.positions[v as usize])).collect()
        };
        prop_assert_eq!(corners(&back), corners(&mesh));
        prop_assert_eq!(back.lint().duplicate_vertices, 0);
        prop_assert_eq!(back.lint().isolated_vertices, 0);
    }

    #[test]
    fn ply_encodings_and_types_give_the_same_mesh((document, mesh) in documents()) {
        for encoding in [PlyEncoding::Text, PlyEncoding::Little, PlyEncoding::Big] {
            let bytes = encode(&document, encoding);
            let found = read(&bytes, MeshFormat::Ply).unwrap_or_else(|error| panic!("{encoding:?}: {error}"));
            prop_assert_eq!(&found, &mesh, "{:?}", encoding);
        }
    }

    #[test]
    fn three_ds_gives_the_vertices_and_faces_of_all_objects(
        objects in vec((vec(any::<[i16; 3]>(), 1..9), vec(any::<[Index; 3]>(), 0..9)), 1..5),
    ) {
        let mut expected = TriMesh::default();
        let mut chunks = Vec::new();
        for (points, faces) in &objects {
            let first = expected.positions.len() as u32;
            let points: Vec<[f32; 3]> = points.iter().map(|p| p.map(f32::from)).collect();
            let faces: Vec<[u16; 3]> = faces.iter().map(|f| f.map(|v| v.index(points.len()) as u16)).collect();
            expected.triangles.extend(faces.iter().map(|f| f.map(|v| u32::from(v) + first)));
            let turned = points.iter().map(|&[x, y, z]| DVec3::new(x.into(), z.into(), -f64::from(y)));
            expected.positions.extend(turned);
            chunks.push(three_ds_object("o", &points, &faces, &[]));
        }
        prop_assert_eq!(read(&three_ds_file(&chunks), MeshFormat::ThreeDs).unwrap(), expected);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..400)) {
        let starts: [&[u8]; 6] = [
            b"",
            b"v 0 0 0\nf ",
            b"ply\nformat ascii 1.0\n",
            b"ply\nformat binary_big_endian 1.0\nelement vertex 2\nproperty char x\nproperty char y\nproperty char z\n\
              element face 4\nproperty list char char vertex_index\nend_header\n",
            b"solid ",
            b"\x4d\x4d\xff\0\0\0\x3d\x3d",
        ];
        for format in MeshFormat::ALL {
            for start in starts {
                read_and_check(&[start, &bytes].concat(), format);
            }
        }
    }

    #[test]
    fn arbitrary_text_never_panics(text in "(v|vt|f|facet|vertex|element|property|[-0-9./ e#\\\\nan\r\n]){0,80}") {
        for format in MeshFormat::ALL {
            read_and_check(text.as_bytes(), format);
        }
    }

    #[test]
    fn mutated_files_never_panic(changes in vec(mutations(), 1..6)) {
        for (format, bytes) in valid_files() {
            let mut changed = bytes;
            changes.iter().for_each(|change| mutate(&mut changed, change));
            read_and_check(&changed, format);
        }
    }
}

/// A mesh with these bytes as its skeleton: refused by the field that names it, or a rig that is sound.
fn skin_and_check(bytes: &[u8]) {
    let file = RigFile { path: "mesh.obj".into(), skeleton: Some("bones.toml".into()) };
    let mut read = |path: &str| match path {
        "mesh.obj" => Ok(b"v 0 0 0\nv 0 2 0\nv 0.1 1 0\nf 1 3 2\n".to_vec()),
        _ => Ok(bytes.to_vec()),
    };
    match read_rig_file(&file, "path", &mut read) {
        Ok(rig) => drop(CompiledRig::new(&rig).unwrap()),
        Err(error) => assert!(error.field == "skeleton" && !error.problem.is_empty(), "{error}"),
    }
}

const SKELETON: &[u8] = include_bytes!("../../../fuzz/seeds/skeleton/arm.toml");

proptest! {
    #[test]
    fn skeletons_never_panic(
        changes in vec(mutations(), 1..6),
        text in "(\\[\\[(bone|clip|clip.turn)\\]\\]|(name|head|tail|parent|bone|times|rotate_deg) = ([-0-9.e]{1,4}|\"[a-c]\"|\\[[-0-9., \\[\\]]{0,20}\\])|[\n]){0,30}",
    ) {
        let mut changed = SKELETON.to_vec();
        changes.iter().for_each(|change| mutate(&mut changed, change));
        skin_and_check(&changed);
        skin_and_check(text.as_bytes());
    }

    #[test]
    fn chains_of_bones_are_read_whatever_their_order(order in Just((0..8usize).collect::<Vec<_>>()).prop_shuffle()) {
        let bone = |k: usize| {
            let parent = if k > 0 { format!("parent = \"b{}\"\n", k - 1) } else { String::new() };
            format!("[[bone]]\nname = \"b{k}\"\nhead = [0, {k}, 0]\ntail = [0, {}, 0]\n{parent}", k + 1)
        };
        let text: String = order.iter().map(|k| bone(*k)).collect();
        let (skeleton, _) = read_skeleton(text.as_bytes(), "bones.toml").unwrap();
        prop_assert_eq!(skeleton.bones.iter().map(|b| b.head[1] as usize).collect::<Vec<_>>(), order);
        skin_and_check(text.as_bytes());
    }
}

#[test]
fn files_for_mutation_are_valid() {
    skin_and_check(SKELETON);
    for (format, bytes) in valid_files() {
        assert!(read(&bytes, format).is_ok(), "{format}: {:?}", read(&bytes, format));
    }
}

#[test]
fn writers_give_these_bytes() {
    let mesh = TriMesh {
        positions: vec![
            DVec3::new(0.1, -0.0, 1e300),
            DVec3::new(1e-7, 5e-324, 3.0),
            DVec3::new(1.0 / 3.0, 2.0, 0.0),
        ],
        triangles: vec![[0, 1, 2]],
        uvs: vec![],
    };
    let obj =
        "# 3 vertices, 1 triangles\nv 0.1 -0 1e300\nv 1e-7 5e-324 3\nv 0.3333333333333333 2 0\nf 1 2 3\n";
    assert_eq!(String::from_utf8(write_obj(&mesh)).unwrap(), obj);
    let textured = TriMesh { uvs: vec![[0.0, 0.5]; 3], ..mesh };
    assert!(write_obj(&textured).ends_with(b"vt 0 0.5\nvt 0 0.5\nvt 0 0.5\nf 1/1 2/2 3/3\n"));

    let flat = TriMesh {
        positions: vec![DVec3::ZERO, DVec3::new(0.0, 0.0, 2.0), DVec3::new(2.0, 0.0, 0.0)],
        triangles: vec![[0, 1, 2], [0, 0, 1], [0, 1, 7]],
        uvs: vec![],
    };
    let stl = write_stl(&flat);
    assert_eq!(stl[80..84], 2u32.to_le_bytes(), "the triangle of a missing vertex is left out");
    let float = |at: usize| f32::from_le_bytes(stl[at..at + 4].try_into().unwrap());
    assert_eq!([float(84), float(88), float(92)], [0.0, 1.0, 0.0], "the normal of the first triangle");
    assert_eq!([float(134), float(138), float(142)], [0.0; 3], "a triangle without area has no normal");
}
