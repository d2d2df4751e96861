//! Readers of solid meshes: every format and encoding gives the same mesh back, what a scene names becomes a solid, and
//! nothing makes a reader panic.

mod solid_support;

use std::collections::BTreeSet;

use glam::DVec3;
use proptest::collection::vec;
use proptest::prelude::*;
use solid_support::{SolidFile, all_files, gmsh_22_text, two, vtu, write_tetgen};
use souple::mesh::MeshError;
use souple::mesh::tetrahedron::is_flat;
use souple::scene::Shape;
use souple::{ModelBuilder, SceneError};
use souple_formats::import::{ImportError, Limits, MeshFormat, SolidMesh, read_mesh, read_solid};
use souple_formats::scene::{read_scene_bytes, resolve_meshes};

#[test]
fn every_format_gives_the_same_mesh() {
    for file in all_files(&two()) {
        assert_eq!(
            file.read().unwrap_or_else(|error| panic!("{}: {error}", file.name)),
            two(),
            "{}",
            file.name
        );
        if file.format != MeshFormat::TetGen {
            let surface = read_mesh(&file.bytes, file.format, &Limits::default()).unwrap();
            assert_eq!((surface.positions.len(), surface.triangles.len()), (5, 6), "{}", file.name);
        }
    }
    let unlabelled = SolidMesh { labels: Vec::new(), ..two() };
    for file in all_files(&unlabelled) {
        assert_eq!(file.read().as_ref(), Ok(&unlabelled), "{}", file.name);
    }
}

#[test]
fn files_cut_anywhere_are_refused_or_read_but_never_panic() {
    for file in all_files(&two()) {
        let mut refused = 0;
        for end in 0..file.bytes.len() {
            let cut = SolidFile { bytes: file.bytes[..end].to_vec(), ..file.clone() };
            match cut.read() {
                Ok(mesh) => check(&mesh),
                Err(error) => {
                    assert!(error.to_string().starts_with(&file.format.to_string()), "{error}");
                    refused += 1;
                }
            }
        }
        // What is cut from the end may not matter; that little of a file is enough must not be.
        assert!(refused > file.bytes.len() / 2, "{}: {refused} of {}", file.name, file.bytes.len());
        for end in 0..file.node.len() {
            let cut = SolidFile { node: file.node[..end].to_vec(), ..file.clone() };
            cut.read().map_or_else(|_| (), |mesh| check(&mesh));
        }
    }
}

/// What holds for every mesh that comes out.
fn check(mesh: &SolidMesh) {
    let n = mesh.positions.len() as u32;
    assert!(mesh.positions.iter().all(|p| p.is_finite()));
    assert!(!mesh.tetrahedra.is_empty() && mesh.tetrahedra.as_flattened().iter().all(|&v| v < n));
    assert!(mesh.tetrahedra.iter().all(|t| !is_flat(t.map(|v| mesh.positions[v as usize]))));
    assert!(mesh.labels.is_empty() || mesh.labels.len() == mesh.tetrahedra.len());
    let mut used = vec![false; n as usize];
    mesh.tetrahedra.as_flattened().iter().for_each(|&v| used[v as usize] = true);
    assert!(used.iter().all(|used| *used));
    // Tetrahedra that overlap may have no face on one side alone.
    assert!(matches!(mesh.surface().validate(), Ok(()) | Err(MeshError::Empty)));
    let mut turned = mesh.clone().welded();
    assert_eq!(turned.turn_round(), mesh.inside_out());
    assert_eq!(turned.inside_out(), 0);
}

#[test]
fn flat_tetrahedra_are_named_and_turned_ones_counted() {
    let mut turned = two();
    turned.tetrahedra[1].swap(0, 1);
    turned.tetrahedra[0].swap(0, 1);
    for file in all_files(&turned) {
        let mesh = file.read().unwrap();
        assert_eq!(mesh.inside_out(), 2 - two().inside_out(), "{}", file.name);
        check(&mesh);
    }
    let mut flat = two();
    flat.positions[4] = DVec3::new(0.5, 0.5, 0.0);
    flat.tetrahedra[1] = [0, 1, 2, 4];
    for file in all_files(&flat) {
        let Err(ImportError::FlatElement { .. }) = file.read() else { panic!("{}", file.name) };
    }
    let mut doubled = two();
    doubled.tetrahedra[1] = [3, 2, 0, 1];
    for file in all_files(&doubled) {
        let Err(ImportError::DoubledElement { .. }) = file.read() else { panic!("{}", file.name) };
    }
    let error = read_solid(&gmsh_22_text(&flat), MeshFormat::Gmsh, &Limits::default()).unwrap_err();
    assert!(
        error.to_string().starts_with("Gmsh: element 3 has no volume: its corners [0, 0, 0], [1, 0, 0]"),
        "{error}"
    );
}

#[test]
fn limits_hold() {
    for file in all_files(&two()).into_iter().filter(|file| file.format != MeshFormat::TetGen) {
        for limits in [
            Limits { max_vertices: 4, ..Limits::default() },
            Limits { max_tetrahedra: 1, ..Limits::default() },
            Limits { max_bytes: 90, ..Limits::default() },
        ] {
            let error = read_solid(&file.bytes, file.format, &limits).unwrap_err();
            assert!(
                matches!(error, ImportError::OverLimit { .. } | ImportError::FileTooLarge { .. }),
                "{}: {error}",
                file.name
            );
        }
    }
}

#[test]
fn compressed_files_are_refused_with_what_to_do() {
    let text = String::from_utf8(vtu(&two(), "binary", false, false)).unwrap();
    let text = text.replace("header_type", "compressor=\"vtkZLibDataCompressor\" header_type");
    let error = read_solid(text.as_bytes(), MeshFormat::Vtu, &Limits::default()).unwrap_err().to_string();
    assert!(error.contains("the array is compressed; save it uncompressed: in ParaView"), "{error}");
}

const SCENE: &str = r#"
format = 1
[[body]]
shape = { file = { path = "FILE" } }
density = 1000.0
young_modulus = 1e4
[[body.material]]
label = 9
young_modulus = 2e5
density = 3000.0
"#;

fn scene_of(file: &SolidFile, path: &str, text: &str) -> Result<souple::scene::Scene, SceneError> {
    let mut scene = read_scene_bytes(text.replace("FILE", path).as_bytes(), "a.toml").unwrap().scene;
    resolve_meshes(&mut scene, &mut |name| match name.rsplit_once('.') {
        Some((_, "node")) => Ok(file.node.clone()),
        Some((_, "none")) => Err("no such file".into()),
        _ => Ok(file.bytes.clone()),
    })?;
    Ok(scene)
}

#[test]
fn a_file_of_a_scene_becomes_a_solid_of_its_materials() {
    for file in all_files(&two()) {
        let mut paths = vec![format!("meshes/a.{}", file.format.extension())];
        if file.format == MeshFormat::TetGen {
            paths.push("meshes/a.node".into());
        }
        for path in paths {
            let scene = scene_of(&file, &path, SCENE).unwrap();
            let model =
                ModelBuilder::new(&scene).build().unwrap_or_else(|error| panic!("{}: {error}", file.name));
            let topology = &model.bodies[0].topology;
            assert_eq!((topology.tetrahedra.len(), topology.triangles.len()), (2, 6));
            // 1/6 m³ of 1000 kg/m³ and 1/3 m³ of 3000 kg/m³.
            assert!((topology.masses.iter().sum::<f64>() - (1000.0 / 6.0 + 1000.0)).abs() < 1e-9);
            assert!((topology.masses[0] - 1000.0 / 24.0).abs() < 1e-9);
            let turned = two().inside_out();
            let lints = souple::check::lint(&scene, &model);
            let told = lints
                .iter()
                .any(|lint| lint.message.contains(&format!("{turned} of 2 tetrahedra are inside out")));
            assert_eq!(told, turned > 0);
        }
    }
}

#[test]
fn wrong_materials_are_refused_by_name() {
    let file = all_files(&two()).remove(0);
    let refused = |text: String| {
        let scene = scene_of(&file, "a.msh", &text).unwrap();
        let error = ModelBuilder::new(&scene).build().expect_err(&text);
        format!("{error} ({})", error.help)
    };
    for (from, to, told) in [
        (
            "label = 9",
            "label = 8",
            "body[0].material[0].label: no tetrahedron has the label 8 (known labels: 7, 9)",
        ),
        (
            "young_modulus = 1e4\n",
            "",
            "body[0].young_modulus: nothing holds the tetrahedra of label 7 together",
        ),
        ("2e5", "-1.0", "body[0].material[0].young_modulus: it must be greater than 0"),
        ("2e5", "1.0\npoisson_ratio = 0.5", "body[0].material[0].poisson_ratio: it must be above"),
        ("3000.0", "0.0", "body[0].material[0].density: it must be greater than 0"),
        ("density = 1000.0", "mass = 1.0", "body[0].mass: both the mass of the body and densities"),
        ("density = 1000.0", "", "body[0].density: the tetrahedra of label 7 have no mass"),
        (
            "3000.0",
            "3000.0\n[[body.material]]\nlabel = 9",
            "body[0].material[1].label: the label 9 has two materials",
        ),
    ] {
        let error = refused(SCENE.replacen(from, to, 1));
        assert!(error.starts_with(told), "{error}\n{told}");
    }
    let block = SCENE.replace("{ file = { path = \"FILE\" } }", "{ block = { } }");
    assert!(refused(block).contains("the shape has no labels"));
}

#[test]
fn tetrahedra_in_a_scene_are_checked_by_name() {
    const INLINE: &str = r#"
format = 1
[[body]]
density = 1000.0
young_modulus = 1e4
[body.shape.mesh]
positions = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
tetrahedra = [[0, 1, 2, 3], [1, 2, 3, 4]]
labels = [1, 2]
"#;
    let build = |text: &str| {
        let scene = read_scene_bytes(text.as_bytes(), "a.toml").unwrap().scene;
        ModelBuilder::new(&scene).build().map_err(|error| error.to_string())
    };
    assert_eq!(build(INLINE).unwrap().bodies[0].topology.triangles.len(), 6);
    for (from, to, told) in [
        (
            "3, 4]]",
            "3, 5]]",
            "body[0].shape.mesh.tetrahedra: tetrahedron 1 names vertex 5, but there are only 5 vertices",
        ),
        ("[1, 2]\n", "[1]\n", "body[0].shape.mesh.labels: there are 1 labels for 2 tetrahedra"),
        (
            "labels",
            "triangles = [[0, 1, 2]]\nlabels",
            "body[0].shape.mesh.triangles: the mesh has tetrahedra too",
        ),
        (
            "tetrahedra = [[0, 1, 2, 3], [1, 2, 3, 4]]",
            "",
            "body[0].shape.mesh.labels: there are labels, but no tetrahedra",
        ),
        (
            "[1, 2, 3, 4]]",
            "[1, 2, 3, 3]]",
            "body[0].shape.mesh.tetrahedra: tetrahedron 1, of vertices [1, 2, 3, 3], has no volume",
        ),
    ] {
        let error = build(&INLINE.replacen(from, to, 1)).unwrap_err();
        assert!(error.starts_with(told), "{error}\n{told}");
    }
}

#[test]
fn the_other_file_of_tetgen_is_missed_by_name() {
    let (node, bytes) = write_tetgen(&two(), 0);
    let file = SolidFile { name: "", format: MeshFormat::TetGen, bytes, node };
    let mut scene = read_scene_bytes(SCENE.replace("FILE", "a.ele").as_bytes(), "a.toml").unwrap().scene;
    let error = resolve_meshes(&mut scene, &mut |name| match name {
        "a.ele" => Ok(file.bytes.clone()),
        _ => Err("no such file".into()),
    });
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("body[0].shape.file.path: cannot read 'a.node': no such file"), "{error}");
    assert!(matches!(scene.bodies[0].shape, Shape::File(_)));
}

/// Meshes of random places and of tetrahedra between them that have a volume.
fn meshes() -> impl Strategy<Value = SolidMesh> {
    let place = [-1e3..1e3f64, -1e3..1e3f64, -1e3..1e3f64];
    (vec(place, 4..20), vec((any::<[u16; 4]>(), 0..4u32), 1..30)).prop_filter_map(
        "no volume",
        |(places, rows)| {
            let n = places.len() as u32;
            let positions: Vec<DVec3> = places.into_iter().map(DVec3::from_array).collect();
            let mut mesh = SolidMesh::default();
            for (corners, label) in rows {
                let corners = corners.map(|v| u32::from(v) % n);
                let name = |t: &[u32; 4]| BTreeSet::from(*t);
                let is_new = !mesh.tetrahedra.iter().any(|t| name(t) == name(&corners));
                if is_new && !is_flat(corners.map(|v| positions[v as usize])) {
                    mesh.tetrahedra.push(corners);
                    mesh.labels.push(label);
                }
            }
            // Only what is used is read back.
            let mut used: Vec<u32> = mesh.tetrahedra.as_flattened().to_vec();
            used.sort_unstable();
            used.dedup();
            mesh.positions = used.iter().map(|&v| positions[v as usize]).collect();
            for v in mesh.tetrahedra.as_flattened_mut() {
                *v = used.binary_search(v).ok()? as u32;
            }
            if mesh.labels.iter().all(|&label| label == 0) {
                mesh.labels.clear();
            }
            (!mesh.tetrahedra.is_empty()).then_some(mesh)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn random_meshes_come_back_bit_for_bit(mesh in meshes()) {
        for file in all_files(&mesh) {
            prop_assert_eq!(file.read(), Ok(mesh.clone()), "{}", file.name);
        }
    }

    #[test]
    fn changed_files_never_panic(changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), removed in 0..3usize) {
        for mut file in all_files(&two()) {
            for (at, byte) in &changes {
                let at = at.index(file.bytes.len());
                file.bytes[at] = *byte;
                file.bytes.drain(at..(at + removed).min(file.bytes.len()));
            }
            match file.read() {
                Ok(mesh) => check(&mesh),
                Err(error) => prop_assert!(error.to_string().starts_with(&file.format.to_string())),
            }
        }
    }
}

#[test]
fn the_plum_of_the_library_drops_and_comes_to_rest_on_its_stone() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/soft");
    let text = std::fs::read(folder.join("plum.toml")).unwrap();
    let mut scene = read_scene_bytes(&text, "plum.toml").unwrap().scene;
    resolve_meshes(&mut scene, &mut |name| Ok(std::fs::read(folder.join(name)).unwrap())).unwrap();
    let model = ModelBuilder::new(&scene).build().unwrap();
    assert_eq!(souple::check::lint(&scene, &model), []);
    let (topology, frames) = (model.bodies[0].topology.clone(), scene.time.frames);
    let mut simulation = souple::Simulation::new(model);
    (0..frames).for_each(|_| simulation.step());
    let x = &simulation.state().bodies[0].x;
    let lowest = x.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    let highest = x.iter().map(|p| p.y).fold(f64::NEG_INFINITY, f64::max);
    assert!(lowest > -1e-3 && lowest < 5e-3, "it lies on the table: {lowest}");
    assert!(highest > 0.1 && highest < 0.125, "it is a little flatter than 0.12 m: {highest}");
    // The stone, 80 times as stiff, keeps its shape better than the flesh.
    let Shape::Mesh(mesh) = &scene.bodies[0].shape else { panic!("it is a mesh") };
    let strain = |label: u32| {
        let of = topology.tetrahedra.iter().zip(&mesh.labels).filter(|(_, l)| **l == label);
        let edges = of.flat_map(|(t, _)| [(t[0], t[1]), (t[0], t[2]), (t[2], t[3])]);
        let ratio = |(a, b): (u32, u32)| {
            let rest = topology.rest_positions[a as usize].distance(topology.rest_positions[b as usize]);
            (x[a as usize].distance(x[b as usize]) / rest - 1.0).abs()
        };
        edges.map(ratio).fold(0.0, f64::max)
    };
    assert!(strain(1) < 0.1 * strain(2), "{} of {}", strain(1), strain(2));
}
