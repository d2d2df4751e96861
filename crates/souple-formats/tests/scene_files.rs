//! Scenes in and out: what is accepted, round trips, mesh files, the schema, and text of any kind.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use souple::scene::*;
use souple_formats::scene::*;

fn scene(text: &str) -> Scene {
    read_scene(text, "a.toml").unwrap_or_else(|error| panic!("{error}")).scene
}

#[test]
fn defaults_are_those_of_the_engine() {
    assert_eq!(scene("format = 1"), Scene::default());
    assert_eq!(read_scene("{\"format\": 1}", "a.json").unwrap().scene, Scene::default());
}

#[test]
fn integers_are_good_where_numbers_are_wanted() {
    let text = "format = 1\ngravity = [0, -10, 0x10]\n[[body]]\nmass = 100000000000000000000\n\
                [body.shape.grid]\nsize = [1, 1]\nvertices = [2, 1_0]\n[body.springs.layout]\nradius = 1\n";
    let scene = scene(text);
    assert_eq!(scene.gravity, [0.0, -10.0, 16.0]);
    assert_eq!(scene.bodies[0].mass, Some(1e20));
    assert_eq!(scene.bodies[0].springs.layout, Layout::Radius(1.0));
    let Shape::Grid(grid) = &scene.bodies[0].shape else { panic!("not a grid") };
    assert_eq!((grid.size, grid.vertices), ([1.0, 1.0], [2, 10]));
}

#[test]
fn byte_order_mark_and_windows_line_ends() {
    let file = read_scene("\u{feff}format = 1\r\n\r\n[time]\r\nfps = 30\r\n", "a.toml").unwrap();
    assert_eq!(file.scene.time.fps, 30.0);
    assert!(file.source.text().starts_with("format"));
    assert_eq!(read_scene("\u{feff}{\"format\": 1}", "a.json").unwrap().scene, Scene::default());
}

#[test]
fn editors_may_name_the_schema() {
    assert_eq!(
        read_scene("{\"$schema\": \"s.json\", \"format\": 1}", "a.json").unwrap().scene,
        Scene::default()
    );
    assert!(read_scene("{\"$schema\": 3, \"format\": 1}", "a.json").is_err());
    assert!(read_scene("format = 1\n[time]\n\"$schema\" = \"x\"", "a.toml").is_err());
}

#[test]
fn toml_and_json_mean_the_same() {
    let toml = "format = 1\nname = \"é\\n\"\n[[body]]\n[[body.pin]]\nselect = \"all\"\n[body.pin.motion]\n\
                key = [{ t = 0 }, { t = 1.5, translate = [0, 1, 0] }]\n[[collider]]\nshape.sphere.radius = 0.25\n";
    let json = r#"{"format": 1, "name": "\u00e9\n", "body": [{"pin": [{"select": "all", "motion":
        {"key": [{"t": 0}, {"t": 15e-1, "translate": [0, 1, 0.0]}]}}]}],
        "collider": [{"shape": {"sphere": {"radius": 0.25}}}]}"#;
    assert_eq!(scene(toml), read_scene(json, "a.json").unwrap().scene);
}

fn library() -> Vec<PathBuf> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.to_string_lossy().ends_with(".skeleton.toml") {
                // The bones of a mesh: `own_characters.rs` reads them.
            } else if path.extension().is_some_and(|end| end == "toml" || end == "json") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes"), &mut found);
    found.sort();
    found
}

#[test]
fn every_scene_of_the_library_reads_and_round_trips() {
    for path in library() {
        let bytes = fs::read(&path).unwrap();
        let file =
            read_scene_bytes(&bytes, &path.to_string_lossy()).unwrap_or_else(|error| panic!("{error}"));
        let written = write_scene_toml(&file.scene).unwrap();
        assert_eq!(scene(&written), file.scene, "{}", path.display());
    }
}

#[test]
fn written_scenes_begin_with_their_format() {
    assert!(write_scene_toml(&Scene::default()).unwrap().starts_with("format = 1\n"));
}

#[test]
fn numbers_that_are_not_finite_are_not_written() {
    let mut scene = Scene::default();
    scene.bodies.push(Body::default());
    scene.bodies[0].springs.bend.damping = Some(f64::NAN);
    let error = write_scene_toml(&scene).unwrap_err();
    assert_eq!(error.field, "body[0].springs.bend.damping");
    scene.bodies[0].springs.bend.damping = None;
    scene.gravity[2] = f64::NEG_INFINITY;
    assert_eq!(write_scene_toml(&scene).unwrap_err().field, "gravity[2]");
}

#[test]
fn schema_says_what_the_reader_accepts() {
    let schema = scene_schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["title"], "Souple scene");
    assert_eq!(schema["required"], serde_json::json!(["format"]));
    assert_eq!(schema["properties"]["format"]["const"], 1);
    assert_eq!(schema["additionalProperties"], false);

    // Every table of the schema names the fields that the reader lists, so that neither is behind the other.
    let error = read_scene("format = 1\n[[body]]\nzzzzzzzz = 1", "a.toml").unwrap_err();
    let listed = error.help.strip_prefix("known here: ").unwrap();
    let mut listed: Vec<&str> = listed.split(", ").map(|name| name.trim_matches('\'')).collect();
    listed.sort_unstable();
    let mut described: Vec<&String> =
        schema["$defs"]["Body"]["properties"].as_object().unwrap().keys().collect();
    described.sort_unstable();
    assert_eq!(listed, described);

    // Whoever writes a scene in an editor sees what each field means.
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        for (field, property) in definition["properties"].as_object().into_iter().flatten() {
            assert!(property["description"].is_string(), "{name}.{field} has no description");
        }
    }
}

#[test]
fn paths_stay_in_the_folder() {
    use PathProblem::*;
    for (path, expected) in [
        ("teapot.obj", Ok("teapot.obj")),
        ("./meshes//teapot.obj", Ok("meshes/teapot.obj")),
        ("a/../b.obj", Ok("b.obj")),
        ("meshes\\teapot.obj", Ok("meshes/teapot.obj")),
        ("..teapot.obj", Ok("..teapot.obj")),
        ("é/ü 1.obj", Ok("é/ü 1.obj")),
        ("", Err(NoFile)),
        (".", Err(NoFile)),
        ("a/..", Err(NoFile)),
        ("..", Err(LeavesFolder)),
        ("../x.obj", Err(LeavesFolder)),
        ("a/../../x.obj", Err(LeavesFolder)),
        ("a\\..\\..\\x.obj", Err(LeavesFolder)),
        ("a/../../a/x.obj", Err(LeavesFolder)),
        ("/etc/passwd", Err(Absolute)),
        ("\\\\share\\x.obj", Err(Absolute)),
        ("\\\\?\\C:\\x.obj", Err(Absolute)),
        ("C:\\x.obj", Err(Absolute)),
        ("c:x.obj", Err(Absolute)),
        ("a/c:/x.obj", Err(Absolute)),
        ("a\0.obj", Err(Nul)),
    ] {
        assert_eq!(safe_relative_path(path), expected.map(PathBuf::from), "{path:?}");
    }
}

/// Two triangles that share an edge but, like an OBJ with seams, not its vertices.
const SEAM: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 4 5 6\n";

const ROCK: &str = "solid rock\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n\
                    endsolid rock\n";

fn scene_with_files() -> Scene {
    scene(
        "format = 1\n[[body]]\nname = 'a'\n[[body]]\nname = 'b'\nshape.file.path = 'meshes/seam.OBJ'\n\
         [[body]]\nname = 'c'\nshape.file = { path = 'other.obj', weld = false }\n\
         [[collider]]\nname = 'd'\n[[collider]]\nname = 'e'\nshape.file.path = 'rock.stl'\n",
    )
}

#[test]
fn meshes_take_the_place_of_their_files() {
    let mut scene = scene_with_files();
    let mut asked = Vec::new();
    let result = resolve_meshes(&mut scene, &mut |path| {
        asked.push(path.to_owned());
        Ok(if path == "rock.stl" { ROCK } else { SEAM }.as_bytes().to_vec())
    });
    assert_eq!(result, Ok(()));
    assert_eq!(asked, ["meshes/seam.OBJ", "other.obj", "rock.stl"]);
    assert_eq!(scene.bodies[0].shape, Shape::default());
    let counts = |shape: &Shape| match shape {
        Shape::Mesh(mesh) => (mesh.positions.len(), mesh.triangles.len()),
        other => panic!("{other:?}"),
    };
    assert_eq!(counts(&scene.bodies[1].shape), (4, 2));
    assert_eq!(counts(&scene.bodies[2].shape), (6, 2));
    assert_eq!(scene.colliders[0].shape, ColliderShape::default());
    match &scene.colliders[1].shape {
        ColliderShape::Mesh(mesh) => assert_eq!((mesh.positions.len(), mesh.triangles.len()), (3, 1)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn bad_mesh_files_name_their_field() {
    let field = "body[1].shape.file.path";
    let error = resolve_meshes(&mut scene_with_files(), &mut |_| Err("no such file".into())).unwrap_err();
    assert_eq!(error.field, field);
    assert_eq!(error.problem, "cannot read 'meshes/seam.OBJ': no such file");

    let error = resolve_meshes(&mut scene_with_files(), &mut |_| Ok(b"v 0 0\n".to_vec())).unwrap_err();
    assert_eq!(error.field, field);
    assert!(error.problem.starts_with("cannot use 'meshes/seam.OBJ': OBJ"), "{}", error.problem);

    let mut rock = scene("format = 1\n[[collider]]\nshape.file.path = 'rock.stl'\n");
    let error = resolve_meshes(&mut rock, &mut |_| Err("no such file".into())).unwrap_err();
    assert_eq!(error.field, "collider[0].shape.file.path");

    for path in ["teapot.fbx", "teapot", "obj", "a.obj/teapot"] {
        let mut scene = scene(&format!("format = 1\n[[body]]\nshape.file.path = '{path}'\n"));
        let error = resolve_meshes(&mut scene, &mut |_| panic!("read a file of unknown format")).unwrap_err();
        assert_eq!(error.field, "body[0].shape.file.path");
        assert_eq!(
            error.help,
            "convert it to one of .obj, .ply, .stl, .3ds, .msh, .ele, .node, .vtk, .vtu, .mesh, .glb, .gltf"
        );
    }
}

fn number() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    prop_oneof![NORMAL | SUBNORMAL | ZERO | POSITIVE | NEGATIVE, -10.0..10.0, (-5i32..5).prop_map(f64::from)]
}

fn vector() -> impl Strategy<Value = [f64; 3]> {
    [number(), number(), number()]
}

fn shape() -> impl Strategy<Value = Shape> {
    let grid = (number(), any::<u32>(), any::<bool>()).prop_map(|(size, vertices, hangs)| {
        let plane = if hangs { GridPlane::Xy } else { GridPlane::Xz };
        let waves = vec![Wave { height: 0.01 * size, along: [size, 2.0], phase: 0.5 }];
        let diagonals = Diagonals::Regular;
        Shape::Grid(Grid { size: [size, 1.0], vertices: [vertices, 3], plane, diagonals, waves })
    });
    let rope = (number(), vector()).prop_map(|(length, direction)| {
        Shape::Rope(Rope { length, direction, vertices: 7, mass_at: RopeMass::Beads })
    });
    let file = (any::<String>(), any::<bool>()).prop_map(|(path, weld)| Shape::File(MeshFile { path, weld }));
    let mesh = (prop::collection::vec(vector(), 0..5), prop::collection::vec(any::<[u32; 3]>(), 0..5))
        .prop_map(|(positions, triangles)| {
            let (tetrahedra, labels) = (vec![[0, 1, 2, u32::MAX]], vec![7]);
            Shape::Mesh(InlineMesh { positions, triangles, uvs: vec![[0.5, 1.0]], tetrahedra, labels })
        });
    let ball = (number(), any::<u32>())
        .prop_map(|(radius, subdivisions)| Shape::Ball(Ball { radius, subdivisions }));
    let strands = (number(), any::<u32>()).prop_map(|(curl_radius, strands)| {
        Shape::Strands(Strands { strands, curl_radius, roots: Roots::Hemisphere, ..Strands::default() })
    });
    let voxels = (any::<String>(), any::<u32>(), vector()).prop_map(|(path, group, spacing)| {
        let volume = InlineVolume { size: [2, 1, 1], spacing, origin: [0.5; 3], runs: vec![[3, 1], [0, 1]] };
        Shape::Voxels(VoxelShape { path, group, labels: vec![3], volume: Some(volume) })
    });
    prop_oneof![grid, rope, ball, strands, file, mesh, voxels]
}

fn select() -> impl Strategy<Value = Select> {
    prop_oneof![
        prop::collection::vec(any::<u32>(), 0..4).prop_map(Select::Vertices),
        vector().prop_map(Select::Near),
        (vector(), vector()).prop_map(|(min, max)| Select::Within(Region { min, max })),
        Just(Select::Border(Border::V1)),
        Just(Select::All),
        Just(Select::Roots),
    ]
}

fn motion() -> impl Strategy<Value = Motion> {
    let key = (number(), vector(), vector()).prop_map(|(t, translate, rotate_deg)| Key {
        t,
        translate,
        rotate_deg,
    });
    (prop::collection::vec(key, 0..3), any::<bool>(), prop::option::of(vector())).prop_map(
        |(keys, repeat, pivot)| Motion {
            keys,
            repeat,
            pivot,
            interpolation: Interpolation::Linear,
            ..Motion::default()
        },
    )
}

fn body() -> impl Strategy<Value = Body> {
    let pin = (any::<String>(), select(), prop::option::of(motion()))
        .prop_map(|(name, select, motion)| Pin { name, select, motion, ..Pin::default() });
    let layout = prop_oneof![
        Just(Layout::Structural),
        number().prop_map(Layout::Radius),
        any::<u32>().prop_map(Layout::Graph)
    ];
    let pull = (select(), vector(), prop::option::of(number())).prop_map(|(select, force, until)| Pull {
        select,
        force,
        from: 0.5,
        until,
    });
    let parts = (
        any::<String>(),
        prop::option::of(any::<String>()),
        shape(),
        prop::option::of(number()),
        layout,
        prop::collection::vec(pin, 0..3),
        prop::collection::vec(pull, 0..2),
        any::<bool>(),
    );
    parts.prop_map(|(name, group, shape, number, layout, pins, pulls, extras)| {
        let stretch = Family { stiffness: number, ..Family::default() };
        Body {
            name,
            group,
            shape,
            density: number,
            springs: Springs { layout, stretch, ..Springs::default() },
            limits: extras.then(Limits::default),
            air: extras.then(Air::default),
            tear: extras.then(|| Tear { force: number, ..Tear::default() }),
            area_stiffness: number,
            inside: number.map(|pressure| Inside { pressure, bulk_modulus: -pressure }),
            dials: extras.then(|| Dials { stretch: number, bend: number, ..Dials::default() }),
            pins,
            pulls,
            ..Body::default()
        }
    })
}

fn collider() -> impl Strategy<Value = Collider> {
    let shape = prop_oneof![
        vector().prop_map(|normal| ColliderShape::Plane(PlaneShape { normal })),
        number().prop_map(|radius| ColliderShape::Sphere(SphereShape { radius })),
        vector().prop_map(|size| ColliderShape::Box(BoxShape { size })),
        (number(), number())
            .prop_map(|(radius, height)| ColliderShape::Capsule(RoundShape { radius, height })),
        (any::<String>(), any::<bool>())
            .prop_map(|(path, weld)| ColliderShape::File(MeshFile { path, weld })),
        (prop::collection::vec(vector(), 0..5), prop::collection::vec(any::<[u32; 3]>(), 0..5)).prop_map(
            |(positions, triangles)| {
                ColliderShape::Mesh(InlineMesh { positions, triangles, ..InlineMesh::default() })
            }
        ),
    ];
    let assigned = (any::<String>(), select()).prop_map(|(body, select)| Assigned { body, select });
    let only = prop::option::of(prop::collection::vec(assigned, 0..3));
    (any::<String>(), shape, number(), prop::option::of(motion()), prop::option::of(number()), only).prop_map(
        |(name, shape, scale, motion, tangential_keep, only)| Collider {
            name,
            shape,
            scale,
            motion,
            tangential_keep,
            only,
            ..Collider::default()
        },
    )
}

fn any_scene() -> impl Strategy<Value = Scene> {
    let wind = (vector(), any::<bool>()).prop_map(|(velocity, all)| Wind {
        velocity,
        gusts: all.then(Gusts::default),
        sinus: all.then(Sinus::default),
        random_force: all.then(RandomForce::default),
        ..Wind::default()
    });
    let groups = prop::collection::vec((any::<String>(), prop::option::of(number())), 0..3);
    let parts = (
        any::<String>(),
        any::<String>(),
        vector(),
        prop::option::of(wind),
        groups,
        prop::collection::vec(body(), 0..3),
        prop::collection::vec(collider(), 0..3),
        prop::option::of(any::<bool>()),
    );
    parts.prop_map(|(name, description, gravity, wind, groups, bodies, colliders, torn)| Scene {
        name,
        description,
        gravity,
        wind,
        groups: groups.into_iter().map(|(name, dt)| Group { name, dt, ..Group::default() }).collect(),
        bodies,
        colliders,
        expect: torn.map(|torn| Expect { torn: Some(torn), ..Expect::default() }),
        ..Scene::default()
    })
}

/// A scene with most kinds of syntax, to be damaged.
const SAMPLE: &str = "format = 1 # one\nname = \"é\\t\"\ngravity = [0, -9.81, 0]\n\n[[body]]\nname = 'a'\n\
    shape = { grid = { size = [1, 0.5], vertices = [4, 4] } }\n[body.springs]\nstretch.stiffness = 2e1\n\
    [[body.pin]]\nselect.vertices = [0,\n 3]\n[[collider]]\n[collider.shape]\nsphere.radius = 0.5\n";

/// Whatever the text: no panic, and an error that points into it.
fn check_any(text: &str, file: &str) {
    match read_scene(text, file) {
        Ok(file) => {
            let written = write_scene_toml(&file.scene).unwrap();
            assert_eq!(scene(&written), file.scene);
            for field in ["body[0].shape.grid.size[1]", "collider[9].x", "[[", "a..b", "name[0]"] {
                let _ = file.source.explain(&souple::SceneError::new(field, "p", "h")).to_string();
            }
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert!(!error.message.is_empty());
            assert!(error.line >= 1 && error.line <= text.matches('\n').count() + 1);
            if let Some(excerpt) = error.excerpt {
                assert!(excerpt.length >= 1);
                assert!(excerpt.start <= excerpt.text.chars().count());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn toml_round_trips(original in any_scene()) {
        let text = write_scene_toml(&original).unwrap();
        let read = read_scene(&text, "a.toml");
        prop_assert!(read.is_ok(), "{}\n{text}", read.unwrap_err());
        prop_assert_eq!(read.unwrap().scene, original);
    }

    #[test]
    fn json_round_trips(original in any_scene()) {
        let text = serde_json::to_string_pretty(&original).unwrap();
        let read = read_scene(&text, "a.json");
        prop_assert!(read.is_ok(), "{}\n{text}", read.unwrap_err());
        prop_assert_eq!(read.unwrap().scene, original);
    }

    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_scene_bytes(&bytes, "a.toml").map_err(|error| error.to_string());
        let _ = read_scene_bytes(&bytes, "a.json").map_err(|error| error.to_string());
        check_any(&String::from_utf8_lossy(&bytes), "a.toml");
    }

    #[test]
    fn any_syntax_never_panics(text in "[\\[\\]{}a=.,:\"'0-9e\\-\n\r\t #\\\\é]{0,80}") {
        check_any(&text, "a.toml");
        check_any(&text, "a.json");
    }

    #[test]
    fn damaged_scenes_never_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..5, "[\\[\\]{}a=.,:\"'0-9\n é]{0,3}"), 1..4),
        json in any::<bool>(),
    ) {
        let mut text: Vec<char> = match json {
            true => serde_json::to_string_pretty(&scene(SAMPLE)).unwrap().chars().collect(),
            false => SAMPLE.chars().collect(),
        };
        for (place, removed, inserted) in edits {
            let start = place.index(text.len() + 1);
            let end = (start + removed).min(text.len());
            text.splice(start..end, inserted.chars());
        }
        let text: String = text.into_iter().collect();
        check_any(&text, if json { "a.json" } else { "a.toml" });
    }

    #[test]
    fn accepted_paths_stay_inside(path in "[a./\\\\:C]{0,12}") {
        if let Ok(safe) = safe_relative_path(&path) {
            let inside = safe.components().all(|part| matches!(part, std::path::Component::Normal(_)));
            prop_assert!(inside && safe.components().count() > 0, "{path:?} gave {safe:?}");
        }
    }
}
