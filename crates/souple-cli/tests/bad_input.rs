//! Bad input: a clear error that names file, line and remedy, exit code 1, and nothing lost.

mod common;

use std::path::Path;

use common::{Ran, SCENE, Scratch};

const OLD: &[u8] = b"from an earlier run";

/// Runs a scene that must be refused, where an earlier run left a file, and checks that nothing changed on the disk.
#[track_caller]
fn refuse(scratch: &Scratch, scene: &str) -> Ran {
    scratch.write("out/scene/scene.glb", OLD);
    let before = scratch.files();
    let ran = scratch.souple(&["run", scene, "-o", "out/scene"]).expect(1);
    assert!(ran.out.is_empty(), "{}", ran.out);
    // The same must come of a check, and both must say the same.
    let checked = scratch.souple(&["check", scene]).expect(1);
    assert_eq!(checked.err, ran.err);
    let json = scratch.souple(&["run", scene, "-o", "new", "--json"]).expect(1).json();
    assert!(!json["error"]["message"].as_str().unwrap().is_empty());
    assert_eq!(scratch.files(), before, "no file was written");
    assert_eq!(scratch.read("out/scene/scene.glb"), OLD, "the old file was not touched");
    assert!(!scratch.path("new").exists(), "not even a folder was made");
    ran
}

#[track_caller]
fn refuse_text(text: &str) -> Ran {
    let scratch = Scratch::new();
    scratch.write("scene.toml", text);
    refuse(&scratch, "scene.toml")
}

/// A scene whose body is the given mesh file.
fn with_mesh(path: &str) -> String {
    let shape =
        format!("shape = {{ file = {{ path = {path:?} }} }}\nsprings = {{ layout = {{ graph = 2 }} }}");
    SCENE.replace("shape = { grid = { size = [0.5, 0.5], vertices = [5, 4], plane = \"xy\" } }", &shape)
}

#[track_caller]
fn refuse_mesh(name: &str, bytes: &[u8]) -> Ran {
    let scratch = Scratch::new();
    scratch.write("scene.toml", with_mesh(name));
    scratch.write(name, bytes);
    let ran = refuse(&scratch, "scene.toml");
    ran.complains("scene.toml:9:").complains(name).complains("help: ");
    // Converting the mesh must be refused for the same reason, without a file left behind.
    let converted = scratch.souple(&["convert", name, "converted.ply"]).expect(1);
    converted.complains(name);
    assert!(!scratch.path("converted.ply").exists());
    ran
}

/// A binary STL that announces `announced` triangles and holds `held`.
fn stl(announced: u32, held: usize) -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes.extend(announced.to_le_bytes());
    for triangle in 0..held {
        for corner in [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, triangle as f32]] {
            bytes.extend(corner.into_iter().flat_map(f32::to_le_bytes));
        }
        bytes.extend([0, 0]);
    }
    bytes
}

/// A 3DS chunk.
fn chunk(id: u16, content: &[u8]) -> Vec<u8> {
    let mut bytes = id.to_le_bytes().to_vec();
    bytes.extend((content.len() as u32 + 6).to_le_bytes());
    bytes.extend(content);
    bytes
}

/// A 3DS file of one triangle.
fn three_ds() -> Vec<u8> {
    let mut vertices = 3u16.to_le_bytes().to_vec();
    vertices.extend([0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].into_iter().flat_map(f32::to_le_bytes));
    let mut faces = 1u16.to_le_bytes().to_vec();
    faces.extend([0u16, 1, 2, 0].into_iter().flat_map(u16::to_le_bytes));
    let mesh = chunk(0x4100, &[chunk(0x4110, &vertices), chunk(0x4120, &faces)].concat());
    chunk(0x4d4d, &chunk(0x3d3d, &chunk(0x4000, &[b"thing\0".to_vec(), mesh].concat())))
}

#[test]
fn the_meshes_of_these_tests_are_good_until_they_are_damaged() {
    for (name, bytes) in [("m.stl", stl(2, 2)), ("m.3ds", three_ds())] {
        let scratch = Scratch::new();
        scratch.write("scene.toml", with_mesh(name).replace("near = [0.5", "near = [0.0"));
        scratch.write(name, bytes);
        scratch.souple(&["run", "scene.toml", "--frames", "1"]).expect(0);
    }
}

#[test]
fn empty_scene() {
    refuse_text("").complains("the scene is empty").complains("scene.toml").complains("help: a scene needs");
    refuse_text(" \n\n").complains("the scene is empty");
}

#[test]
fn scene_without_a_body() {
    let scratch = Scratch::new();
    scratch.write("scene.toml", "format = 1\n");
    let ran = scratch.souple(&["run", "scene.toml"]).expect(1);
    ran.complains("the scene has no body").complains("scene.toml").complains("add a `[[body]]`");
    assert_eq!(scratch.files(), ["scene.toml"]);
    // A check of it is done all the same: the scene can be read, it is only odd.
    scratch.souple(&["check", "scene.toml"]).expect(0).says("warning: the scene has no body");
}

#[test]
fn missing_scene() {
    let scratch = Scratch::new();
    let ran = refuse(&scratch, "nowhere.toml");
    ran.complains("nowhere.toml: there is no such file").complains("help: check the path");
    scratch.write("folder/x.toml", SCENE);
    refuse(&scratch, "folder").complains("folder: is a folder");
}

#[test]
fn missing_mesh() {
    let scratch = Scratch::new();
    scratch.write("scene.toml", with_mesh("nowhere.obj"));
    let ran = refuse(&scratch, "scene.toml");
    ran.complains("scene.toml:9:")
        .complains("cannot read 'nowhere.obj': there is no such file")
        .complains("help: ");
}

#[test]
fn mesh_of_unknown_format() {
    let scratch = Scratch::new();
    scratch.write("scene.toml", with_mesh("dress.fbx"));
    refuse(&scratch, "scene.toml")
        .complains("scene.toml:9:")
        .complains("convert it to one of .obj, .ply, .stl, .3ds");
}

#[test]
fn empty_mesh() {
    for name in ["m.obj", "m.ply", "m.stl", "m.3ds"] {
        refuse_mesh(name, b"").complains("the file is empty").complains("export or copy it again");
    }
    refuse_mesh("m.obj", b"# nothing\n").complains("no vertices");
}

#[test]
fn truncated_stl() {
    refuse_mesh("m.stl", &stl(2, 2)[..150]).complains("cut short").complains("byte ");
}

#[test]
fn truncated_3ds() {
    let whole = three_ds();
    for length in [whole.len() - 1, whole.len() / 2, 7] {
        refuse_mesh("m.3ds", &whole[..length]).complains("3DS").complains("byte ");
    }
}

#[test]
fn face_index_out_of_range() {
    let ran = refuse_mesh("m.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n");
    ran.complains("OBJ, line 4").complains("4");
}

#[test]
fn vertex_that_is_not_a_number() {
    let ran = refuse_mesh("m.obj", b"v 0 0 0\nv NaN 0 0\nv 0 1 0\nf 1 2 3\n");
    ran.complains("OBJ, line 2").complains("not a finite number").complains("repair the mesh");
}

#[test]
fn a_billion_vertices_announced_in_a_small_file() {
    let ply = "ply\nformat binary_little_endian 1.0\nelement vertex 1000000000\nproperty float x\nproperty float y\n\
               property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";
    let mut bytes = ply.as_bytes().to_vec();
    bytes.resize(1000, 0);
    refuse_mesh("m.ply", &bytes).complains("1000000000");
    refuse_mesh("m.stl", &stl(1_000_000_000, 18)).complains("1000000000");
}

#[test]
fn mesh_outside_the_folder() {
    let scratch = Scratch::new();
    scratch.write("secret.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    scratch.write("inner/a/keeps the folder", "");
    let absolute = scratch.path("secret.obj").display().to_string();
    for (path, problem) in [
        ("../secret.obj", "leaves the folder of the scene"),
        ("a/../../secret.obj", "leaves the folder of the scene"),
        ("..\\secret.obj", "leaves the folder of the scene"),
        (absolute.as_str(), "the path is absolute"),
    ] {
        scratch.write("inner/scene.toml", with_mesh(path).replace("near = [0.5", "near = [0.0"));
        let ran = refuse(&scratch, "inner/scene.toml");
        ran.complains("inner/scene.toml:9:").complains(problem).complains("--allow-outside");
        let windows_only = path.contains('\\');
        if !windows_only {
            let allowed = ["run", "inner/scene.toml", "--frames", "1", "--allow-outside", "-o", "allowed"];
            scratch.souple(&allowed).expect(0);
            std::fs::remove_dir_all(scratch.path("allowed")).unwrap();
        }
    }
}

#[cfg(unix)]
#[test]
fn mesh_outside_the_folder_through_a_link() {
    use std::os::unix::fs::symlink;

    let scratch = Scratch::new();
    scratch.write("secret/m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    scratch.write("inner/real.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    symlink(scratch.path("secret/m.obj"), scratch.path("inner/file.obj")).unwrap();
    symlink(scratch.path("secret"), scratch.path("inner/folder")).unwrap();
    for path in ["file.obj", "folder/m.obj"] {
        scratch.write("inner/scene.toml", with_mesh(path));
        let ran = refuse(&scratch, "inner/scene.toml");
        ran.complains("inner/scene.toml:9:")
            .complains("a link leads out of the folder")
            .complains("--allow-outside");
    }
    // A link that stays inside is fine.
    symlink("real.obj", scratch.path("inner/inside.obj")).unwrap();
    scratch.write("inner/scene.toml", with_mesh("inside.obj").replace("near = [0.5", "near = [0.0"));
    scratch.souple(&["run", "inner/scene.toml", "--frames", "1"]).expect(0);
}

#[test]
fn zero_time_step() {
    let ran = refuse_text(&SCENE.replace("[[body]]", "[[group]]\nname = \"main\"\ndt = 0.0\n\n[[body]]"));
    ran.complains("scene.toml:8:6")
        .complains("group[0].dt")
        .complains("help: give a positive number of seconds");
    let ran = refuse_text(&SCENE.replace("fps = 60.0", "fps = 0"));
    ran.complains("scene.toml:4:").complains("time.fps").complains("help: give a positive number");
}

#[test]
fn negative_stiffness() {
    let ran =
        refuse_text(&SCENE.replace(
            "fabric = \"cotton\"",
            "fabric = \"cotton\"\nsprings = { stretch = { stiffness = -5.0 } }",
        ));
    ran.complains("scene.toml:9:").complains("springs.stretch.stiffness").complains("must not be negative");
    ran.complains("help: give 0 or a positive number");
}

#[test]
fn infinite_stiffness() {
    let real_time = SCENE.replace("[[body]]", "[[group]]\nname = \"main\"\nsolver = \"xpbd\"\n\n[[body]]");
    let with = |line: &str| real_time.replace("fabric = \"cotton\"", &format!("fabric = \"cotton\"\n{line}"));
    let ran = refuse_text(&with("springs = { stretch = { modulus = inf } }"));
    ran.complains("scene.toml:13:").complains("springs.stretch.modulus").complains("not a finite number");
    let ran = refuse_text(&with("springs = { stretch = { stiffness = 1e300 } }"));
    ran.complains("springs.stretch.stiffness").complains("beyond what can be computed with");
    let ran = refuse_text(&with("bending = 1e300"));
    ran.complains("scene.toml:13:").complains("bending").complains("help: 1e30 is the most");
    let ran = refuse_text(&with("mass = 1e-40"));
    ran.complains("would weigh").complains("help: ");
}

#[test]
fn vertex_of_no_triangle() {
    let scratch = Scratch::new();
    scratch.write("scene.toml", with_mesh("m.obj"));
    scratch.write("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 5 5\nf 1 2 3\n");
    let ran = refuse(&scratch, "scene.toml");
    ran.complains("vertex 3 has no mass").complains("help: remove isolated vertices");
}

#[test]
fn pins_that_share_a_vertex_and_pins_on_every_vertex_are_warned_of() {
    let scratch = Scratch::new();
    scratch.write("shared.toml", SCENE.replace("near = [0.5, 0.0, 0.0]", "vertices = [0, 4]"));
    let ran = scratch.souple(&["check", "shared.toml"]).expect(0);
    ran.says("vertex 0 belongs to two pins").says("'left', moves it, and 'right' does not");
    scratch.write("held.toml", SCENE.replace("{ near = [0.5, 0.0, 0.0] }", "\"all\""));
    let ran = scratch.souple(&["check", "held.toml"]).expect(0);
    ran.says("every vertex of 'cloth' is supported");
    scratch.souple(&["check", "held.toml", "--strict"]).expect(3);
}

#[test]
fn tear_limit_below_the_rest_length() {
    let tear = |limit: &str| {
        SCENE.replace("fabric = \"cotton\"", &format!("fabric = \"cotton\"\ntear = {{ {limit} }}"))
    };
    let ran = refuse_text(&tear("length = 0.001"));
    ran.complains("scene.toml:9:").complains("tear.length").complains("rest").complains("help: ");
    let ran = refuse_text(&tear("length_ratio = 0.9"));
    ran.complains("scene.toml:9:").complains("tear.length_ratio").complains("help: ");
}

#[test]
fn two_bodies_of_one_name() {
    let body = &SCENE[SCENE.find("[[body]]").unwrap()..];
    let ran = refuse_text(&format!("{SCENE}\n{body}"));
    ran.complains("scene.toml:20:").complains("'cloth'").complains("help: rename one of them");
    // A key written twice is another kind of double name.
    let ran = refuse_text(&SCENE.replace("name = \"cloth\"", "name = \"cloth\"\nname = \"towel\""));
    ran.complains("scene.toml:8:").complains("duplicate key").complains("keep one of the two");
}

#[test]
fn not_a_number_in_toml() {
    for bad in ["nan", "inf", "-inf", "1e999"] {
        let ran = refuse_text(&SCENE.replace("0.5, 0.5", &format!("0.5, {bad}")));
        ran.complains("scene.toml:9:")
            .complains("not a finite number")
            .complains("help: every number must be finite");
    }
}

#[test]
fn unknown_field() {
    let ran = refuse_text(&SCENE.replace("fabric", "fabrik"));
    ran.complains("scene.toml:8:1")
        .complains("unknown field 'fabrik'")
        .complains("help: did you mean 'fabric'?");
}

#[test]
fn text_that_is_no_toml() {
    refuse_text("format = 1\nname = cloth\n").complains("scene.toml:2:8").complains("needs quotes");
    let scratch = Scratch::new();
    scratch.write("scene.json", "{\"format\": 1,\n \"name\": }\n");
    refuse(&scratch, "scene.json").complains("scene.json:2:");
    scratch.write("latin.toml", b"format = 1\nname = \"\xe9t\xe9\"\n");
    refuse(&scratch, "latin.toml").complains("latin.toml:2:").complains("UTF-8");
}

#[test]
fn a_json_error_has_parts() {
    let scratch = Scratch::new();
    scratch.write("scene.toml", SCENE.replace("fabric", "fabrik"));
    let error = scratch.souple(&["check", "scene.toml", "--json"]).expect(1).json()["error"].clone();
    assert_eq!((error["file"].as_str(), error["line"].as_u64()), (Some("scene.toml"), Some(8)));
    assert_eq!(error["help"], "did you mean 'fabric'?");
}

/// A tetrahedron that faces inwards, with a triangle twice.
const INSIDE_OUT: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\nf 2 4 3\n";

/// The small scene with a collider of that mesh file.
fn with_collider(scratch: &Scratch, more: &str) {
    let collider = format!(
        "[[collider]]\nname = \"rock\"\nshape = {{ file = {{ path = \"rock.obj\" }} }}\nposition = [0.0, -9.0, 0.0]\n{more}"
    );
    scratch.write("scene.toml", format!("{SCENE}\n{collider}"));
}

#[test]
fn meshes_of_colliders_are_refused_or_repaired_and_told() {
    let scratch = Scratch::new();
    with_collider(&scratch, "");
    scratch.write("rock.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
    refuse(&scratch, "scene.toml")
        .complains("none of its 1 triangles has an area")
        .complains("scene.toml:21:")
        .complains("help: ");
    std::fs::remove_file(scratch.path("rock.obj")).unwrap();
    refuse(&scratch, "scene.toml").complains("rock.obj").complains("there is no such file");

    scratch.write("rock.obj", INSIDE_OUT);
    let checked = scratch.souple(&["check", "scene.toml"]).expect(0);
    let ran = scratch.souple(&["run", "scene.toml", "-o", "out"]).expect(0);
    for told in ["closed parts were inside out", "the same vertices as another", "scene.toml:21:"] {
        assert!(checked.out.contains(told), "{}", checked.out);
        assert!(ran.err.contains(told), "{}", ran.err);
    }
}

#[test]
fn colliders_that_jump_are_told_by_check_and_run() {
    let scratch = Scratch::new();
    scratch.write("rock.obj", INSIDE_OUT);
    with_collider(
        &scratch,
        "motion = { key = [{ t = 0.02 }, { t = 0.03, translate = [0.0, -5.0, 0.0] }] }\n",
    );
    let checked = scratch.souple(&["check", "scene.toml", "--json"]).expect(0).json();
    let warnings = checked["warnings"].as_array().unwrap();
    let jumps = warnings.iter().filter(|w| w["message"].as_str().unwrap().contains("more than its size"));
    assert_eq!(jumps.count(), 1, "{warnings:?}");
    let ran = scratch.souple(&["run", "scene.toml", "-o", "out", "--json"]).expect(0).json();
    let warnings = ran["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].as_str().unwrap().contains("collider 'rock'"), "{warnings:?}");
}

#[test]
fn sheets_that_cannot_be() {
    let circle = |n: usize, part: f64, radius: f64| {
        let point = |k: usize| {
            let angle = k as f64 / n as f64 * part * std::f64::consts::TAU;
            format!("[{}, 0, {}]", radius * angle.cos(), radius * angle.sin())
        };
        format!("border = {{ points = [{}] }}", (0..n).map(point).collect::<Vec<_>>().join(", "))
    };
    let a4 = "size = [0.297, 0.21]\n";
    let many = format!("pattern = [{}]", vec!["[0, 0]"; 5000].join(", "));
    let cases: [(String, &str); 16] = [
        (String::new(), "needs `size` or `pattern`"),
        (format!("{a4}pattern = [[0, 0], [1, 0], [0, 1]]"), "not both"),
        ("size = [0, 1]".into(), "side 0 of the pattern has no length"),
        ("pattern = [[0, 0], [1, 0]]".into(), "has 2 corners"),
        ("pattern = [[0, 0], [1, 1], [1, 0], [0, 1]]".into(), "sides 0 and 2 of the pattern cross"),
        ("pattern = [[0, 0], [1e300, 0], [0, 1]]".into(), "corner 1 of the pattern"),
        (many, "at most 1000"),
        (format!("{a4}border = {{ points = [[0, 0, 0], [1, 0, 0]] }}"), "has 2 points"),
        (
            format!("{a4}border = {{ points = [[0, 0, 0], [1e99, 0, 0], [0, 0, 1]] }}"),
            "paper[0].border.points[1]",
        ),
        (format!("{a4}{}", circle(100, 0.8, 0.16)), "does not close"),
        (format!("{a4}{}", circle(100, 1.0, 16.0)), "check the units"),
        (format!("{a4}folding = {{ step = 1e-9 }}"), "give a step of"),
        (format!("{a4}folding = {{ tolerance = -1 }}"), "tolerance is -1"),
        ("border = { case = 'crane' }".into(), "known: bent"),
        (format!("{a4}[[paper.handle]]\ncorner = 9\nkeys = [{{}}]"), "there is no corner 9"),
        ("border = { body = 'nobody' }".into(), "there is no body 'nobody'"),
    ];
    let scratch = Scratch::new();
    for (text, complaint) in cases {
        scratch.write("sheet.toml", format!("format = 1\n[[paper]]\nname = 'a'\n{text}\n"));
        let before = scratch.files();
        let ran = scratch.souple(&["paper", "sheet.toml", "-o", "sheet.obj"]).expect(1);
        ran.complains("sheet.toml").complains(complaint);
        assert_eq!(scratch.files(), before, "no file was written");
    }
    scratch.write("sheet.toml", "format = 1\n[[paper]]\nname = 'a'\nsize = [1, nan]\n");
    scratch.souple(&["paper", "sheet.toml"]).expect(1).complains("sheet.toml:4:");
    let sheet = |name: &str| format!("[[paper]]\nname = '{name}'\nsize = [0.297, 0.21]\n");
    let head = "format = 1\ntime = { frames = 2 }\n";
    scratch.write("sheet.toml", format!("{head}{}", sheet("a")));
    scratch.souple(&["paper", "sheet.toml", "-o", "sheet.png"]).expect(1).complains("souple render");
    scratch.souple(&["paper", "sheet.toml", "--frame", "7"]).expect(1).complains("there is no frame 7");
    scratch.write("sheet.toml", format!("{head}{}{}", sheet("a"), sheet("b")));
    scratch.souple(&["paper", "sheet.toml"]).expect(1).complains("one of 'a', 'b'");
    scratch.souple(&["paper", "sheet.toml", "--paper", "b"]).expect(0);
    scratch.write("sheet.toml", "format = 1\n");
    scratch.souple(&["paper", "sheet.toml"]).expect(1).complains("has no paper");
}

#[test]
fn a_sheet_in_every_format() {
    let scratch = Scratch::new();
    let scene = |expect: &str| {
        format!(
            "format = 1\ntime = {{ frames = 2 }}\n[[paper]]\nname = 'fold'\nborder = {{ case = 'bent' }}\n[expect]\n{expect}\n"
        )
    };
    scratch.write("sheet.toml", scene("paper_strain_percent = 0.1"));
    let names = ["a.obj", "a.ply", "a.stl", "a.svg", "a.fold"];
    let mut args = vec!["paper", "sheet.toml", "--json"];
    names.iter().for_each(|name| args.extend(["-o", *name]));
    let told = scratch.souple(&args).expect(0).json();
    assert_eq!(told["files"].as_array().unwrap().len(), names.len());
    assert!(told["strain_mean"].as_f64().unwrap() < 1e-3);
    names.iter().for_each(|name| assert!(!scratch.read(name).is_empty(), "{name}"));
    // The same scene as any other: run, exported, drawn with its creases.
    let formats = "glb,pc2,obj,vtk,csv";
    let ran =
        scratch.souple(&["run", "sheet.toml", "--format", formats, "-o", "out", "--json"]).expect(0).json();
    assert_eq!(ran["papers"][0]["name"], "fold");
    assert!(ran["expect"]["passed"].as_bool().unwrap());
    let render = ["render", "sheet.toml", "-o", "a.png", "--creases", "--renderer", "cpu", "--size", "64x48"];
    scratch.souple(&render).expect(0);
    scratch
        .souple(
            &[&render[..2], &["-o", "b.png", "--style", "isometry", "--renderer", "cpu", "--size", "64x48"]]
                .concat(),
        )
        .expect(0);
    scratch.write("sheet.toml", scene("paper_strain_percent = 1e-9\npaper_folds_at_least = 99"));
    scratch.souple(&["paper", "sheet.toml"]).expect(3).complains("expectation failed");
    scratch.souple(&["run", "sheet.toml", "--format", "csv", "-o", "out"]).expect(3);
}

#[test]
fn an_animation_from_elsewhere_gets_folds() {
    // A square metre of 9 × 9 vertices that is pressed together by 30 % in 12 frames.
    let place = |k: usize, t: f64| {
        let (i, j) = (k % 9, k / 9);
        [i as f64 / 8.0 * (1.0 - 0.3 * t), 0.0, j as f64 / 8.0]
    };
    let obj = |t: f64| {
        let mut text = String::new();
        for k in 0..81 {
            let [x, y, z] = place(k, t);
            text += &format!("v {x} {y} {z}\n");
        }
        for (i, j) in (0..8).flat_map(|j| (0..8).map(move |i| (i, j))) {
            let a = j * 9 + i + 1;
            text += &format!("f {a} {} {}\nf {a} {} {}\n", a + 9, a + 10, a + 10, a + 1);
        }
        text
    };
    let scratch = Scratch::new();
    let names: Vec<String> = (0..=12).map(|k| format!("f{k:02}.obj")).collect();
    for (k, name) in names.iter().enumerate() {
        scratch.write(name, obj(k as f64 / 12.0));
    }
    let mut pc2 = b"POINTCACHE2\0".to_vec();
    pc2.extend([1i32, 81].iter().flat_map(|n| n.to_le_bytes()));
    pc2.extend([0f32, 1.0].iter().flat_map(|n| n.to_le_bytes()));
    pc2.extend(13i32.to_le_bytes());
    for (k, v) in (0..=12).flat_map(|k| (0..81).map(move |v| (k, v))) {
        pc2.extend(place(v, f64::from(k) / 12.0).iter().flat_map(|c| (*c as f32).to_le_bytes()));
    }
    scratch.write("f.pc2", pc2);
    let folds = ["--radius", "0.03", "-o", "out.glb", "-o", "out.pc2", "--json"];
    let cached = [&["wrinkle", "f00.obj", "--cache", "f.pc2"][..], &folds].concat();
    let listed: Vec<&str> =
        ["wrinkle"].into_iter().chain(names.iter().map(String::as_str)).chain(folds).collect();
    for args in [&cached, &listed] {
        let told = scratch.souple(args).expect(0).json();
        assert_eq!((told["frames"].as_u64(), told["vertices"][0].as_u64()), (Some(13), Some(81)));
        let [before, after] = [0, 1].map(|k| told["compression"][k].as_f64().unwrap());
        assert!(after < 0.8 * before, "{told}");
        assert_eq!(told["files"].as_array().unwrap().len(), 2);
    }
    let refused = |args: &[&str], complaint: &str| {
        scratch.souple(&[&["wrinkle"][..], args, &["-o", "x.glb"]].concat()).expect(1).complains(complaint);
    };
    refused(&["f00.obj", "--cache", "f.pc2", "--radius", "5"], "no fold of radius 5 m fits");
    refused(&["f00.obj", "--cache", "f.pc2", "--radius", "0"], "--radius");
    refused(&["f00.obj", "--cache", "f.pc2", "--uv"], "no texture coordinates");
    scratch.write("other.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    refused(&["f00.obj", "other.obj"], "every frame needs the vertices");
    refused(&["other.obj", "--cache", "f.pc2"], "81 points");
    refused(&["f00.obj", "--cache", "f.pc2", "--rest", "other.obj"], "another mesh");
    refused(&["f00.obj", "--cache", "other.obj"], "other.obj");
    scratch.souple(&["wrinkle", "f00.obj", "-o", "x.glb"]).expect(2);
}

/// The clip of a glTF file is folded frame by frame, and one frame of it as a mesh along its folds.
#[test]
fn a_gltf_animation_gets_folds_and_a_still_frame() {
    let scratch = Scratch::new();
    let arm = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/characters/arm.glb");
    scratch.write("arm.glb", std::fs::read(arm).unwrap());
    let common = ["wrinkle", "arm.glb", "--clip", "curl", "--fps", "5", "--radius", "0.03", "--json"];
    let with = |more: &[&str]| scratch.souple(&[&common[..], more].concat());
    let told = with(&["-o", "folded.glb", "-o", "folded.pc2"]).expect(0).json();
    assert_eq!((told["frames"].as_u64(), told["vertices"][0].as_u64()), (Some(21), Some(498)), "{told}");
    let [before, after] = [0, 1].map(|k| told["compression"][k].as_f64().unwrap());
    assert!(told["folds"].as_u64() > Some(3) && after < 0.8 * before, "{told}");
    assert_eq!(&scratch.read("folded.glb")[..4], b"glTF");
    let fine = told["vertices"][1].as_u64().unwrap();
    let points = i32::from_le_bytes(scratch.read("folded.pc2")[16..20].try_into().unwrap());
    assert_eq!((points as u64, told.get("still_vertices")), (fine, None));
    // One frame: fewer vertices, each of which a triangle uses, on the same animation.
    let still = with(&["--still", "12", "-o", "still.obj", "-o", "still.stl"]).expect(0).json();
    let count = still["still_vertices"].as_u64().unwrap();
    assert!(498 < count && count < fine, "{still}");
    let text = String::from_utf8(scratch.read("still.obj")).unwrap();
    let vertices = text.lines().filter(|line| line.starts_with("v ")).count();
    assert_eq!((vertices as u64, &still["compression"]), (count, &told["compression"]));
    assert_eq!(still["files"], serde_json::json!(["still.obj", "still.stl"]));
    let files = scratch.files();
    with(&["--still", "21", "-o", "x.obj"]).expect(1);
    with(&["--still", "12", "-o", "x.glb"]).expect(1);
    with(&["-o", "x.obj"]).expect(1);
    with(&["--cache", "folded.pc2", "-o", "x.glb"]).expect(2);
    with(&["--mesh", "sleeve", "-o", "x.glb"]).expect(1);
    scratch
        .souple(&["wrinkle", "arm.glb", "--clip", "walk", "-o", "x.glb"])
        .expect(1)
        .complains("'wave', 'curl'");
    scratch
        .souple(&["wrinkle", "arm.glb", "--radius", "3", "-o", "x.glb"])
        .expect(1)
        .complains("no fold of radius 3 m fits");
    assert_eq!(scratch.files(), files, "nothing was written by what was refused");
}

#[test]
fn files_that_are_no_scenes() {
    for name in ["thing.obj", "thing.PNG", "thing.souprec", "thing.md"] {
        let scratch = Scratch::new();
        scratch.write(name, "v 0 0 0\n");
        refuse(&scratch, name).complains("is no scene").complains("scenes end in .toml or .json");
    }
}

#[test]
fn a_mesh_with_a_fabric_alone_is_cloth() {
    let scratch = Scratch::new();
    scratch.write("scene.toml", with_mesh("quad.obj").replace("springs = { layout = { graph = 2 } }", ""));
    scratch.write("quad.obj", "v 0 0 0\nv 0.1 0 0\nv 0.1 0 0.1\nv 0 0 0.1\nf 1 2 3\nf 1 3 4\n");
    scratch.souple(&["run", "scene.toml", "--frames", "2", "-o", "out"]).expect(0);
}
