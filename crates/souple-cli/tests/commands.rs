//! The other commands: check, convert, replay, scenes, schema, completions; usage and help.

mod common;

use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use common::{SCENE, Scratch};
use souple::skin::{CompiledRig, RigRepairs};
use souple_formats::export::point_cache::{PointCacheBudget, read_mdd, read_pc2};
use souple_formats::import::{Limits, MeshFormat, read_mesh, read_rig};

#[test]
fn every_command_has_help_that_ends_with_an_example() {
    let scratch = Scratch::new();
    let commands = [
        "run",
        "render",
        "studio",
        "check",
        "convert",
        "bake",
        "replay",
        "verify",
        "bench",
        "scenes",
        "styles",
        "schema",
        "completions",
    ];
    for command in commands {
        let help = scratch.souple(&[command, "--help"]).expect(0).out;
        let example = help.split("Example:\n").nth(1).unwrap_or_else(|| panic!("no example in {help}"));
        let lines = example.lines().filter(|line| !line.is_empty());
        assert!(lines.into_iter().all(|line| line.starts_with(&"  souple ".to_owned())), "{example}");
    }
    let help = scratch.souple(&["--help"]).expect(0);
    commands.iter().for_each(|command| assert!(help.out.contains(command), "{command}"));
    help.says("Exit codes: 0 done, 1 the scene or the input is wrong, 2 wrong usage, 3 a check failed.");
}

#[test]
fn wrong_usage_exits_with_2() {
    let scratch = Scratch::with_scene();
    for args in [
        &["fly"][..],
        &["run"],
        &["run", "napkin.toml", "--format", "fbx"],
        &["run", "napkin.toml", "--frames", "-1"],
        &["run", "napkin.toml", "--threads", "99999999"],
        &["convert", "a.obj", "b.obj", "--scale", "0"],
        &["convert", "a.obj", "b.obj", "--scale", "nan"],
        &["convert", "napkin.toml", "b.json", "--weld"],
        &["completions", "cmd"],
    ] {
        let ran = scratch.souple(args).expect(2);
        ran.complains("error: ");
    }
    assert_eq!(scratch.files(), ["napkin.toml"]);
}

#[test]
fn check_counts_and_forecasts() {
    let scratch = Scratch::with_scene();
    let ran = scratch.souple(&["check", "napkin.toml"]).expect(0);
    ran.says("1 body, 20 vertices, 24 triangles").says("0 colliders").says("is stable at any dt");
    ran.says("nothing odd found");
    let group = "[[group]]\nname = \"main\"\nsolver = \"symplectic_euler\"\ndt = 1e-3\n\n[[body]]";
    scratch.write("napkin.toml", SCENE.replace("[[body]]", group));
    let ran = scratch.souple(&["check", "napkin.toml"]).expect(0);
    ran.says("'cloth': symplectic_euler needs dt < ").says(" s here; the scene takes 9.8e-4 s");
    assert_eq!(scratch.files(), ["napkin.toml"]);
}

#[test]
fn check_shows_warnings_at_their_lines() {
    let scratch = Scratch::new();
    let odd = SCENE
        .replace("[0.5, 0.5]", "[0.0005, 0.0005]")
        .replace("near = [0.5, 0.0, 0.0]", "near = [9.0, 0.0, 0.0]")
        .replace(
            "[[body]]",
            "[[group]]\nname = \"main\"\nsolver = \"explicit_euler\"\ndt = 0.01\n\n[[body]]",
        );
    scratch.write("odd.toml", odd);
    let ran = scratch.souple(&["check", "odd.toml"]).expect(0);
    ran.says("warning: ").says("--> odd.toml:").says("help: lengths are in metres");
    ran.says("pin 'right' is not on the mesh").says("select = { near = [9.0, 0.0, 0.0] }");
    ran.says("9 | dt = 0.01").says("it will diverge");
    assert!(!ran.out.contains("error"), "{}", ran.out);
    scratch.souple(&["check", "odd.toml", "--strict"]).expect(3);

    let json = scratch.souple(&["check", "odd.toml", "--json"]).expect(0).json();
    assert_eq!((json["bodies"].as_u64(), json["vertices"].as_u64()), (Some(1), Some(20)));
    let warnings = json["warnings"].as_array().unwrap();
    let diverges = warnings.iter().find(|w| w["message"].as_str().unwrap().contains("diverge")).unwrap();
    assert_eq!(diverges["line"], 9);
    let forecast = &json["forecasts"][0];
    assert_eq!(
        (forecast["solver"].as_str(), forecast["stable"].as_bool()),
        (Some("explicit_euler"), Some(false))
    );
    assert!(forecast["longest_dt"].as_f64().unwrap() < forecast["dt"].as_f64().unwrap());
}

const QUAD: &str = "v 0 0 0\nv 1 0 0\nv 1 2 0\nv 0 2 0\nv 0 0 0\nf 1 2 3\nf 5 3 4\n";

#[test]
fn meshes_are_converted_welded_and_scaled() {
    let scratch = Scratch::new();
    scratch.write("quad.obj", QUAD);
    let mesh = |name: &str, format| read_mesh(&scratch.read(name), format, &Limits::default()).unwrap();
    let original = mesh("quad.obj", MeshFormat::Obj);

    scratch
        .souple(&["convert", "quad.obj", "quad.ply"])
        .expect(0)
        .says("wrote quad.ply: 5 vertices, 2 triangles");
    assert_eq!(mesh("quad.ply", MeshFormat::Ply), original);
    scratch.souple(&["convert", "quad.ply", "back.OBJ"]).expect(0);
    assert_eq!(mesh("back.OBJ", MeshFormat::Obj), original);
    scratch.souple(&["convert", "quad.obj", "quad.stl"]).expect(0);
    assert_eq!(mesh("quad.stl", MeshFormat::Stl).triangles.len(), 2);

    scratch.souple(&["convert", "quad.obj", "small.obj", "--weld", "--scale", "0.5"]).expect(0);
    let small = mesh("small.obj", MeshFormat::Obj);
    assert_eq!(small.positions.len(), 4);
    assert_eq!(small.positions[2].to_array(), [0.5, 1.0, 0.0]);

    let json = scratch.souple(&["convert", "quad.obj", "quad.glb", "--json"]).expect(0).json();
    assert_eq!(json["files"], serde_json::json!(["quad.glb"]));
    assert_eq!(&scratch.read("quad.glb")[..4], b"glTF");
}

#[test]
fn conversions_that_make_no_sense_are_refused() {
    let scratch = Scratch::with_scene();
    scratch.write("quad.obj", QUAD);
    scratch.write("points.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n0 0 0\n");
    scratch.write("kept.fbx", "old");
    let before = scratch.files();
    scratch
        .souple(&["convert", "quad.obj", "kept.fbx"])
        .expect(1)
        .complains("end its name in one of .obj .ply .stl .glb");
    scratch
        .souple(&["convert", "napkin.toml", "x.glb"])
        .expect(1)
        .complains("end its name in one of .toml .json");
    scratch.souple(&["convert", "kept.fbx", "x.obj"]).expect(1).complains("cannot tell what this file holds");
    scratch.souple(&["convert", "points.ply", "x.stl"]).expect(1).complains("no triangles");
    let large = ["convert", "quad.obj", "x.stl", "--scale", "1e39"];
    scratch.souple(&large).expect(1).complains("too large for STL");
    scratch
        .souple(&["convert", "quad.obj", "x.glb", "--scale", "1e39"])
        .expect(1)
        .complains("not a finite number");
    scratch
        .souple(&["convert", "quad.obj", "x.obj", "--scale", "1e308"])
        .expect(1)
        .complains("smaller --scale");
    assert_eq!(scratch.files(), before);
}

#[test]
fn scenes_are_converted_there_and_back() {
    let scratch = Scratch::with_scene();
    scratch.souple(&["convert", "napkin.toml", "napkin.json"]).expect(0);
    scratch.souple(&["convert", "napkin.json", "again.toml"]).expect(0);
    let hash = |scene: &str| {
        let json = scratch.souple(&["run", scene, "--json", "--format", "csv"]).expect(0).json();
        json["state_hash"].as_str().unwrap().to_owned()
    };
    assert_eq!(hash("napkin.toml"), hash("napkin.json"));
    assert_eq!(hash("napkin.toml"), hash("again.toml"));
}

/// A recording of the small scene with a pin that moves.
fn record(scratch: &Scratch) -> Vec<u8> {
    let lift = r#"{"step":2,"do":{"move_pin":{"body":"cloth","pin":"left","by":[0,0.1,0]}}}"#;
    scratch.write("up.jsonl", lift);
    let args =
        ["run", "napkin.toml", "--control", "up.jsonl", "--record", "napkin.souprec", "--format", "pc2"];
    scratch.souple(&args).expect(0);
    scratch.read("napkin.souprec")
}

#[test]
fn a_recording_plays_the_same_for_any_number_of_threads() {
    let scratch = Scratch::with_scene();
    record(&scratch);
    for threads in ["1", "2", "3", "8"] {
        let ran = scratch.souple(&["replay", "napkin.souprec", "--threads", threads]).expect(0);
        ran.says("5 steps, all the same");
    }
    let json = scratch.souple(&["replay", "napkin.souprec", "--json"]).expect(0).json();
    assert_eq!((json["steps"].as_u64(), json["same"].as_bool()), (Some(5), Some(true)));
}

#[test]
fn a_recording_holds_its_meshes() {
    let scratch = Scratch::with_scene();
    scratch.write("quad.obj", QUAD);
    let shape = "shape = { grid = { size = [0.5, 0.5], vertices = [5, 4], plane = \"xy\" } }";
    scratch.write(
        "quad.toml",
        SCENE.replace(
            shape,
            "shape = { file = { path = \"quad.obj\" } }\nsprings = { layout = { graph = 2 } }",
        ),
    );
    scratch.souple(&["run", "quad.toml", "--record", "quad.souprec"]).expect(0);
    std::fs::remove_file(scratch.path("quad.obj")).unwrap();
    scratch.souple(&["replay", "quad.souprec"]).expect(0).says("5 steps, all the same");
}

#[test]
fn a_recording_that_goes_on_from_a_snapshot_plays_the_same() {
    let scratch = Scratch::with_scene();
    scratch.souple(&["run", "napkin.toml", "--frames", "2", "--snapshot", "two.snap"]).expect(0);
    scratch.souple(&["run", "napkin.toml", "--from", "two.snap", "--record", "rest.souprec"]).expect(0);
    let json = scratch.souple(&["replay", "rest.souprec", "--json"]).expect(0).json();
    assert_eq!((json["start"].as_u64(), json["steps"].as_u64()), (Some(2), Some(3)));
}

#[test]
fn a_damaged_recording_is_refused() {
    let scratch = Scratch::with_scene();
    let whole = record(&scratch);
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for (bytes, problem) in [
        (&whole[..whole.len() - 1], "damaged or cut short"),
        (&whole[..20], "damaged or cut short"),
        (&flipped[..], "damaged or cut short"),
        (b"", "does not begin like a recording"),
        (SCENE.as_bytes(), "does not begin like a recording"),
    ] {
        scratch.write("bad.souprec", bytes);
        for args in [&["replay", "bad.souprec"][..], &["convert", "bad.souprec", "x.glb"]] {
            let ran = scratch.souple(args).expect(1);
            ran.complains("bad.souprec: ").complains(problem).complains("help: give a whole file");
        }
    }
    assert!(!scratch.path("x.glb").exists());
}

#[test]
fn a_recording_with_another_hash_names_the_step() {
    let scratch = Scratch::with_scene();
    let bytes = record(&scratch);
    let read_log =
        |text: &str| souple_formats::control_log::read_control_log(text).map_err(|e| e.to_string());
    let mut recording = souple::Recording::from_bytes(&bytes, read_log).unwrap();
    assert_eq!((recording.hashes.len(), recording.commands.len()), (5, 1));
    recording.hashes[3] ^= 1 << 40;
    scratch.write("other.souprec", recording.to_bytes(souple_formats::control_log::write_control_log));
    scratch.souple(&["replay", "other.souprec"]).expect(3).says("step 3 differs");
    let json = scratch.souple(&["replay", "other.souprec", "--json"]).expect(3).json();
    assert_eq!((json["same"].as_bool(), json["difference"]["step"].as_u64()), (Some(false), Some(3)));

    // What was done is part of it: without the command, the step it was given for differs.
    recording.hashes[3] ^= 1 << 40;
    recording.commands.clear();
    scratch.write("idle.souprec", recording.to_bytes(souple_formats::control_log::write_control_log));
    scratch.souple(&["replay", "idle.souprec"]).expect(3).says("step 2 differs");
}

#[test]
fn a_recording_becomes_the_animation_that_the_run_wrote() {
    let scratch = Scratch::with_scene();
    record(&scratch);
    scratch.souple(&["convert", "napkin.souprec", "napkin.pc2"]).expect(0).says("6 frames");
    assert_eq!(scratch.read("napkin.pc2"), scratch.read("out/napkin/napkin.pc2"));
    scratch.souple(&["convert", "napkin.souprec", "napkin.mdd"]).expect(0);
    let budget = PointCacheBudget::default();
    let mdd = read_mdd(&scratch.read("napkin.mdd"), &budget).unwrap();
    assert_eq!(mdd.frames, read_pc2(&scratch.read("napkin.pc2"), &budget).unwrap().frames);
    scratch.souple(&["convert", "napkin.souprec", "napkin.glb"]).expect(0);
    assert_eq!(&scratch.read("napkin.glb")[..4], b"glTF");
}

#[test]
fn the_library_is_found_upwards_and_listed() {
    let scratch = Scratch::new();
    scratch.write("scenes/cloth/napkin.toml", SCENE);
    scratch.write("scenes/cloth/notes.txt", "not a scene");
    scratch.write("scenes/a.json", "{\"format\": 1, \"name\": \"Nothing\"}");
    scratch.write("deep/down/here.txt", "");
    let ran = scratch.souple(&["scenes"]).expect(0);
    ran.says("Napkin: A napkin that hangs from two corners.").says("      20  ").says("2 scenes in scenes");
    let mut command = scratch.command(&["scenes", "--json"]);
    let output = command.current_dir(scratch.path("deep/down")).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let scenes = json["scenes"].as_array().unwrap();
    assert_eq!(scenes.len(), 2);
    assert!(scenes[1]["path"].as_str().unwrap().ends_with("napkin.toml"));
    assert_eq!((scenes[1]["name"].as_str(), scenes[1]["vertices"].as_u64()), (Some("Napkin"), Some(20)));

    scratch.write("scenes/broken.toml", "format = 2");
    let ran = scratch.souple(&["scenes", "--dir", "scenes"]).expect(0);
    ran.says("cannot be read").says("Napkin").complains("souple check scenes/broken.toml");
    scratch.souple(&["scenes", "--dir", "nowhere"]).expect(1).complains("nowhere").complains("--dir");
}

#[test]
fn the_schema_is_json() {
    let schema = Scratch::new().souple(&["schema"]).expect(0).json();
    assert_eq!(schema["title"], "Souple scene");
    assert!(schema["properties"]["body"].is_object());
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        Scratch::new().souple(&["completions", shell]).expect(0).says("replay").says("allow-outside");
    }
}

#[test]
fn a_closed_pipe_is_no_panic_and_the_work_is_done() {
    let scratch = Scratch::with_scene();
    for args in [
        &["schema"][..],
        &["run", "napkin.toml"],
        &["check", "napkin.toml"],
        &["completions", "bash"],
        &["--help"],
    ] {
        let mut child = scratch.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}: {err}");
        assert!(!err.contains("panicked"), "{args:?}: {err}");
    }
    assert!(scratch.path("out/napkin/napkin.glb").exists());
}

#[test]
fn a_large_cloth_is_timed_by_threads_and_weighed() {
    let scratch = Scratch::new();
    let args = ["bench", "scale-1k", "--threads", "1,2", "--frames", "3", "--repeats", "1", "--json"];
    let json = scratch.souple(&args).expect(0).json();
    let rows = json["workloads"].as_array().unwrap();
    let threads: Vec<_> = rows.iter().map(|row| row["threads"].as_u64().unwrap()).collect();
    assert_eq!(threads, [1, 2]);
    for row in rows {
        assert_eq!((row["name"].as_str(), row["vertices"].as_u64()), (Some("scale-1k"), Some(1024)));
        assert!(row["ms_first"].as_f64().unwrap() > 0.0);
        assert_eq!(row["stretch_mean_percent"], rows[0]["stretch_mean_percent"], "the same bits");
    }
    if cfg!(target_os = "linux") {
        // At least positions and velocities in 64 bits.
        assert!(rows[0]["bytes_per_vertex"].as_f64().unwrap() > 48.0);
    }
    scratch
        .souple(&["bench", "scale-2m"])
        .expect(1)
        .complains("there is no workload 'scale-2m'")
        .complains("scale-1m");
}

/// Safe contact beside fast contact, from starts of their own; the mesh of the scene is inside the program.
#[test]
fn bench_contact_counts_crossings_of_both_ways() {
    let scratch = Scratch::new();
    let args = ["bench", "contact-knot", "--frames", "2", "--starts", "2", "--threads", "1", "--json"];
    let json = scratch.souple(&args).expect(0).json();
    let rows = json["contact"].as_array().unwrap();
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!(row["name"], "knot");
    assert_eq!((row["starts"].as_u64(), row["clean_starts"].as_u64()), (Some(2), Some(2)));
    assert!(row["safe_over_fast"].as_f64().unwrap() > 0.0);
    for way in ["fast", "safe"] {
        assert_eq!(row[way]["intersections_in_all"], 0, "{way}");
        assert_eq!(row[way]["clean_frames_percent"], 100.0, "{way}");
    }
    scratch.souple(&["bench", "contact-knit"]).expect(1).complains("there is no workload 'contact-knit'");
}

#[test]
fn cloth_that_touches_itself_is_timed_and_its_crossings_are_counted() {
    let scratch = Scratch::new();
    let args = ["bench", "w2", "w3", "pile", "--frames", "2", "--repeats", "1"];
    let json = scratch.souple(&[&args[..], &["--json"]].concat()).expect(0).json();
    let rows = json["workloads"].as_array().unwrap();
    assert_eq!(
        rows.iter().map(|row| row["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["w2", "w3", "pile"]
    );
    assert!(rows[0].get("intersections").is_none() && rows[0].get("clean_frames_percent").is_none());
    for row in &rows[1..] {
        // Two frames of free fall.
        assert_eq!(
            (row["intersections"].as_u64(), row["clean_frames_percent"].as_f64()),
            (Some(0), Some(100.0))
        );
        assert_eq!(row["contact_ms"], row["profile"]["find_contacts"]);
    }
    scratch.souple(&args).expect(0).says("0 crossings left  100.0 % of frames clean");
}

#[test]
fn the_machine_is_probed() {
    let scratch = Scratch::new();
    let json =
        scratch.souple(&["bench", "limit", "--frames", "2", "--repeats", "1", "--json"]).expect(0).json();
    assert!(json["workloads"].as_array().unwrap().is_empty());
    let limit = &json["limit"];
    assert!(limit["gflop_per_s"].as_f64().unwrap() > 0.0);
    assert_eq!(limit["memory"].as_array().unwrap().len(), 2);
    let shares = limit["workloads"].as_array().unwrap();
    assert_eq!(
        shares.iter().map(|s| s["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["w1-100", "scale-100k"]
    );
    for share in shares {
        // Bytes and time give the speed, and the speed its share.
        let of = |field: &str| share[field].as_f64().unwrap();
        assert!(
            (of("bytes_per_vertex_substep") / of("ns_per_vertex_substep") / of("gb_per_s") - 1.0).abs()
                < 1e-9
        );
        let triad = limit["memory"][0]["triad_gb_per_s"].as_f64().unwrap();
        assert!((100.0 * of("gb_per_s") / triad / of("memory_percent") - 1.0).abs() < 1e-9);
    }
}

/// The file of a character is as good as a scene; what is odd about it is told where it is baked, too.
#[test]
fn character_files_are_checked_drawn_and_repaired() {
    let scratch = Scratch::new();
    let own = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/characters").join(name);
    scratch.write("arm.glb", std::fs::read(own("arm.glb")).unwrap());
    let json = scratch.souple(&["check", "arm.glb", "--json"]).expect(0).json();
    let character = &json["characters"][0];
    assert_eq!((&character["bones"][0], character["bones"].as_array().unwrap().len()), (&"bone0".into(), 9));
    assert_eq!((&character["clips"][1]["name"], &json["frames"]), (&"curl".into(), &360.into()));
    assert!(character["begins_within"][1][1].as_f64().unwrap() > 0.5, "{character}");
    scratch.souple(&["check", "arm.glb"]).expect(0).says("clips: 'wave' (6.00 s), 'curl' (4.00 s)");
    scratch.souple(&["convert", "arm.glb", "arm.toml"]).expect(0).says("wrote arm.toml: scene");
    scratch.souple(&["check", "arm.toml"]).expect(0).says("nothing odd found");
    let args = ["render", "arm.glb", "--frame", "3", "--size", "64x48", "--renderer", "cpu", "-o", "arm.png"];
    scratch.souple(&args).expect(0).says("wrote arm.png");
    // As its exporter would have it without weights, with some that sum to 3, and a hundred times as large.
    let mut none = |_: &str| Err(String::new());
    let rig = read_rig(&scratch.read("arm.glb"), &Limits::default(), &mut none).unwrap();
    let mut heavy = rig.clone();
    heavy.meshes[0].weights.iter_mut().for_each(|weight| *weight *= 3.0);
    scratch.write("heavy.glb", souple_formats::export::rig::write_rig_glb(&heavy).unwrap());
    scratch
        .souple(&["bake", "heavy.glb", "-o", "out.glb", "--fps", "2"])
        .expect(0)
        .complains("weights that do not sum to 1");
    let layer = "format = 1\n[[group]]\nsolver = \"goals\"\n[[character]]\nscale = 100.0\n[[body]]\n\
                 shape = { skin = { character = \"character\" } }\n\
                 elastic = { paint = [{ dial = \"attachment\", to = 0.4, with = { bones = [\"bone8\"] } }] }\n";
    scratch.write("layer.toml", layer);
    scratch
        .souple(&[
            "bake",
            "arm.glb",
            "--recipe",
            "layer.toml",
            "-o",
            "out.glb",
            "--fps",
            "2",
            "--clip",
            "curl",
        ])
        .expect(0)
        .complains("m large")
        .complains("scale = 0.01");
}

#[test]
fn characters_are_baked_with_their_volume() {
    let scratch = Scratch::new();
    let arm = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/characters/arm.glb");
    scratch.write("arm.glb", std::fs::read(arm).unwrap());
    let json =
        scratch.souple(&["bake", "arm.glb", "-o", "out.glb", "--fps", "10", "--json"]).expect(0).json();
    // All clips are in one file, with its bones and a morph target per frame.
    assert_eq!(
        (&json["files"], &json["not_baked"]),
        (&serde_json::json!(["out.glb"]), &serde_json::json!(0))
    );
    let read = |name: &str| {
        let mut none = |_: &str| Err(String::new());
        read_rig(&scratch.read(name), &Limits::default(), &mut none).unwrap()
    };
    let (source, baked) = (read("arm.glb"), read("out.glb"));
    assert_eq!((&source.skins, &source.nodes), (&baked.skins, &baked.nodes));
    assert_eq!(baked.meshes[0].morphs.len(), 61 + 41);
    for (clip, frames) in [(0, 61), (1, 41)] {
        let clip = &json["clips"][clip];
        assert_eq!(clip["frames"], frames);
        assert!(clip["skinned_worst_percent"].as_f64().unwrap().abs() > 0.05, "{clip}");
        assert!(clip["kept_worst_percent"].as_f64().unwrap().abs() < 1e-10, "{clip}");
    }
    let recipe = "format = 1\n[[character]]\nvolume = { method = \"one_pass\", preset = \"rubber\" }\n";
    scratch.write("recipe.toml", recipe);
    let args =
        ["bake", "arm.glb", "--recipe", "recipe.toml", "--clip", "curl", "-o", "one.glb", "-o", "one.pc2"];
    scratch.souple(&args).expect(0).says("clip 'curl', 121 frames").says("wrote one.pc2");
    let cache = read_pc2(&scratch.read("one.pc2"), &PointCacheBudget::default()).unwrap();
    assert_eq!(cache.frames.frame_count(), 121);
    let args = ["bake", "arm.glb", "-o", "two.glb", "--format", "glb,pc2,mdd", "--fps", "2"];
    let written = ["two.glb", "two-wave.pc2", "two-curl.pc2", "two-wave.mdd", "two-curl.mdd"];
    let ran = scratch.souple(&args).expect(0);
    for file in written {
        ran.says(&format!("wrote {file}"));
    }
    scratch
        .souple(&["bake", "arm.glb", "-o", "x.glb", "--format", "vtk"])
        .expect(1)
        .complains("glb, pc2 and mdd");

    // A mesh without bones, and a skeleton: weights are found.
    for name in ["figure.obj", "figure.skeleton.toml"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/characters").join(name);
        scratch.write(name, std::fs::read(file).unwrap());
    }
    let args = ["bake", "figure.obj", "--skeleton", "figure.skeleton.toml", "-o", "figure.glb", "--fps", "4"];
    scratch.souple(&args).expect(0).says("clip 'step', 11 frames").says("wrote figure.glb");
    let figure = read("figure.glb");
    assert_eq!((figure.meshes[0].influences, figure.meshes[0].morphs.len(), figure.nodes.len()), (4, 11, 18));
    assert_eq!(CompiledRig::new(&figure).unwrap().repairs, RigRepairs::default());
    scratch.souple(&["bake", "figure.obj", "-o", "x.glb"]).expect(1).complains("--skeleton");
    scratch
        .write("ring.toml", "[[bone]]\nname = \"a\"\nhead = [0, 0, 0]\ntail = [0, 1, 0]\nparent = \"a\"\n");
    scratch
        .souple(&["bake", "figure.obj", "--skeleton", "ring.toml", "-o", "x.glb"])
        .expect(1)
        .complains("line 5")
        .complains("carries itself");

    // With an elastic layer: the end of the arm lags behind, and the rest is where it was.
    let layer = "[[group]]\nsolver = \"goals\"\n[[body]]\nshape = { skin = { character = \"character\" } }\n\
                 elastic = { paint = [{ dial = \"attachment\", to = 0.4, with = { bones = [\"bone8\"] } }] }\n";
    scratch.write("layer.toml", format!("{recipe}{layer}"));
    let args = ["bake", "arm.glb", "--recipe", "layer.toml", "--clip", "curl", "-o", "soft.pc2"];
    scratch.souple(&args).expect(0).says("clip 'curl', 121 frames");
    let soft = read_pc2(&scratch.read("soft.pc2"), &PointCacheBudget::default()).unwrap();
    assert_eq!(soft.frames.frame_count(), 121);
    let (stiff, soft) = (&cache.frames, &soft.frames);
    let moved = |frame: usize| {
        let ways = stiff.frame(frame).unwrap().iter().zip(soft.frame(frame).unwrap());
        ways.filter(|(a, b)| a.iter().zip(*b).any(|(a, b)| (a - b).abs() > 1e-4)).count()
    };
    assert!((1..150).contains(&moved(60)), "{}", moved(60));
    // Cloth beside it, too: in the file of the character, as one more node. A skin that is cut finer is told.
    let cloth = "[[body]]\nname = \"cloth\"\nshape = { grid = { vertices = [3, 3] } }\nfabric = \"cotton\"\n";
    scratch.write("beside.toml", format!("{recipe}{layer}{cloth}"));
    let args =
        ["bake", "arm.glb", "--recipe", "beside.toml", "--clip", "curl", "-o", "both.glb", "--fps", "5"];
    scratch.souple(&args).expect(0);
    let both = read("both.glb");
    assert_eq!((&both.skins, both.nodes.len()), (&source.skins, source.nodes.len() + 1));
    assert_eq!(both.meshes[1].name, "cloth");
    scratch.write("finer.toml", recipe.replace("preset", "subdivide = { levels = 1 }, preset"));
    let args =
        ["bake", "arm.glb", "--recipe", "finer.toml", "--clip", "curl", "-o", "finer.glb", "--fps", "2"];
    scratch.souple(&args).expect(0).complains("`subdivide`").complains("positions per frame");
    scratch.write("bad.toml", format!("{recipe}{}", layer.replace("to = 0.4", "to = 4")));
    let bad = ["bake", "arm.glb", "--recipe", "bad.toml", "-o", "x.glb"];
    scratch.souple(&bad).expect(1).complains("bad.toml").complains("a dial goes from 0 to 1");

    scratch.souple(&["bake", "none.glb", "-o", "x.glb"]).expect(1).complains("none.glb");
    scratch.souple(&["bake", "recipe.toml", "-o", "x.glb"]).expect(1).complains("not a character");
    scratch.souple(&["bake", "arm.glb", "-o", "x.fbx"]).expect(1).complains(".glb .pc2 .mdd");
    scratch
        .souple(&["bake", "arm.glb", "-o", "x.glb", "--clip", "fly"])
        .expect(1)
        .complains("it has: 'wave', 'curl'");
    scratch
        .souple(&["bake", "arm.glb", "-o", "x.glb", "--fps", "1e12"])
        .expect(1)
        .complains("a smaller --fps");
    scratch.souple(&["bake", "arm.glb", "-o", "x.glb", "--fps", "0"]).expect(2).complains("error: ");
    scratch.souple(&["bake", "arm.glb"]).expect(2).complains("error: ");
    scratch.write("bad.toml", recipe.replace("rubber", "jelly"));
    let bad = ["bake", "arm.glb", "--recipe", "bad.toml", "-o", "x.glb"];
    scratch.souple(&bad).expect(1).complains("bad.toml").complains("jelly");
    scratch.write("bad.toml", recipe.replace("preset = \"rubber\"", "joint = [{ bones = [\"tail\"] }]"));
    scratch.souple(&bad).expect(1).complains("there is no bone 'tail'").complains("bone1");
    scratch.write("bad.toml", "format = 1\n");
    scratch.souple(&bad).expect(1).complains("one [[character]]");
    scratch.write("broken.glb", &b"glTF\x02\0\0\0 not at all"[..]);
    scratch.souple(&["bake", "broken.glb", "-o", "x.glb"]).expect(1).complains("broken.glb");
    assert!(!scratch.files().iter().any(|name| name.starts_with("x.")));
}
