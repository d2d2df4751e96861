//! `souple run`: what it writes, what it says, how it ends.

mod common;

use common::{SCENE, Scratch};
use serde_json::Value;
use souple_formats::export::point_cache::{PointCacheBudget, read_mdd, read_pc2};
use souple_formats::import::{Limits, read_rig};

#[test]
fn by_default_a_glb_and_a_table_land_in_out() {
    let scratch = Scratch::with_scene();
    let ran = scratch.souple(&["run", "napkin.toml"]).expect(0);
    ran.says("napkin.toml (Napkin): 1 body, 20 vertices").says("simulating 5 frames at 60 per second");
    ran.says("ms per frame").says("times real time").says("stretch").says("lowest point");
    ran.says("wrote out/napkin/napkin.glb").says("wrote out/napkin/napkin.csv");
    ran.complains("frame 5 of 5");
    assert_eq!(scratch.files(), ["napkin.toml", "out/napkin/napkin.csv", "out/napkin/napkin.glb"]);

    assert_eq!(&scratch.read("out/napkin/napkin.glb")[..4], b"glTF");
    let table = String::from_utf8(scratch.read("out/napkin/napkin.csv")).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 1 + 6, "a line of names, frame 0 and five steps");
    assert!(lines[0].starts_with("frame,time_s,kinetic_energy_j,"));
    assert!(lines[1].starts_with("0,0,0,"), "frame 0 is the state at the start: {}", lines[1]);
    assert!(lines[6].starts_with("5,0.0833333333333333"), "{}", lines[6]);
}

#[test]
fn every_format_is_written_with_all_frames() {
    let scratch = Scratch::with_scene();
    let formats = "glb,pc2,mdd,obj,vtk,csv,json,toml,glb";
    scratch.souple(&["run", "napkin.toml", "-o", "there/x", "--format", formats, "--frames", "2"]).expect(0);
    let mut expected: Vec<String> =
        ["csv", "glb", "json", "mdd", "pc2", "toml"].map(|end| format!("there/x/napkin.{end}")).to_vec();
    expected.extend((0..3).map(|frame| format!("there/x/obj/napkin_000{frame}.obj")));
    expected.extend((0..3).map(|frame| format!("there/x/vtk/napkin_000{frame}.vtp")));
    expected.extend(["there/x/vtk/napkin.pvd".to_owned(), "napkin.toml".to_owned()]);
    expected.sort();
    assert_eq!(scratch.files(), expected);

    let budget = PointCacheBudget::default();
    let pc2 = read_pc2(&scratch.read("there/x/napkin.pc2"), &budget).unwrap();
    let mdd = read_mdd(&scratch.read("there/x/napkin.mdd"), &budget).unwrap();
    assert_eq!((pc2.frames.point_count, pc2.frames.frame_count()), (20, 3));
    assert_eq!(pc2.frames, mdd.frames);
    assert_eq!(pc2.frames.frame(0).unwrap()[0], [0.0, 0.0, 0.0]);
    let table: Value = serde_json::from_slice(&scratch.read("there/x/napkin.json")).unwrap();
    assert_eq!(table["data"].as_array().unwrap().len(), 3);

    // The scene that was written is the same scene.
    let hash = |scene: &str, out: &str| {
        let json = scratch.souple(&["run", scene, "-o", out, "--format", "csv", "--json"]).expect(0).json();
        json["state_hash"].as_str().unwrap().to_owned()
    };
    assert_eq!(hash("napkin.toml", "a"), hash("there/x/napkin.toml", "b"));
}

#[test]
fn json_is_one_object_with_everything() {
    let scratch = Scratch::with_scene();
    let json = scratch.souple(&["run", "napkin.toml", "--json", "--threads", "2"]).expect(0).json();
    assert_eq!(json["scene"], "napkin.toml");
    assert_eq!((json["frames"].as_u64(), json["fps"].as_f64()), (Some(5), Some(60.0)));
    assert_eq!(json["state_hash"].as_str().unwrap().len(), 16);
    let ms = json["ms_per_frame"].as_f64().unwrap();
    assert!(ms > 0.0);
    assert!((json["seconds"].as_f64().unwrap() * 1e3 - 5.0 * ms).abs() < 1e-9);
    for name in [
        "kinetic_energy",
        "elastic_energy",
        "potential_energy",
        "mass",
        "stretch_mean_percent",
        "stretch_max_percent",
        "stretch_p999_percent",
        "area",
        "volume",
        "lowest",
    ] {
        assert!(json["measures"][name].is_f64(), "{name}");
        assert!(json["bodies"][0]["measures"][name].is_f64(), "{name}");
    }
    for name in ["momentum", "angular_momentum", "centre"] {
        assert_eq!(json["measures"][name].as_array().unwrap().len(), 3, "{name}");
    }
    let body = &json["bodies"][0];
    assert_eq!(body["name"], "cloth");
    assert_eq!((body["vertices"].as_u64(), body["triangles"].as_u64()), (Some(20), Some(24)));
    assert!(body["springs"].as_u64().unwrap() > 31);
    assert_eq!((body["torn"].as_bool(), body["frozen"].as_bool()), (Some(false), Some(false)));
    let stages = json["profile"].as_object().unwrap();
    assert!(stages.contains_key("solve") && stages.contains_key("check_health"));
    assert_eq!(json["warnings"], serde_json::json!([]));
    assert_eq!(json["files"], serde_json::json!(["out/napkin/napkin.glb", "out/napkin/napkin.csv"]));
    assert_eq!(json["expect"]["passed"], true);
    assert_eq!(json["expect"]["checked"], false);
}

#[test]
fn the_result_does_not_depend_on_threads() {
    let scratch = Scratch::with_scene();
    let hashes = ["1", "2", "3", "8"].map(|threads| {
        let ran = scratch.souple(&["run", "napkin.toml", "--json", "--threads", threads]).expect(0);
        ran.json()["state_hash"].as_str().unwrap().to_owned()
    });
    assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:?}");
}

/// The napkin, and another that goes through it at right angles.
fn crossed() -> String {
    let other = "\n[[body]]\nname = \"other\"\nfabric = \"cotton\"\n\
                 shape = { grid = { size = [0.5, 0.5], vertices = [4, 4] } }\n\
                 placement = { translate = [0.01, -0.22, -0.24] }\n";
    format!("{SCENE}{other}")
}

/// Columns of a table by name.
fn column(table: &str, name: &str) -> Option<Vec<f64>> {
    let k = table.lines().next()?.split(',').position(|column| column == name)?;
    table.lines().skip(1).map(|line| line.split(',').nth(k)?.parse().ok()).collect()
}

#[test]
fn crossings_are_counted_where_surfaces_touch_or_when_asked() {
    let scratch = Scratch::with_scene();
    let json = scratch.souple(&["run", "napkin.toml", "--json"]).expect(0).json();
    assert!(json.get("intersections").is_none() && json.get("clean_frames_percent").is_none());
    let run = ["run", "napkin.toml", "--intersections", "--format", "csv"];
    scratch.souple(&run).expect(0).says("no triangles cross at the end; 100.0 % of the frames are clean");
    scratch.write("napkin.toml", crossed());
    let json = scratch.souple(&[&run[..], &["--json"]].concat()).expect(0).json();
    let at_end = json["intersections"].as_u64().unwrap();
    // The upright plane cuts through at least a triangle of each of the three columns.
    assert!(at_end >= 3, "{at_end}");
    assert_eq!(json["clean_frames_percent"].as_f64(), Some(0.0));
    let table = String::from_utf8(scratch.read("out/napkin/napkin.csv")).unwrap();
    let counts = column(&table, "intersections").unwrap();
    assert_eq!((counts.len(), counts[5]), (6, at_end as f64));
    scratch.souple(&["run", "napkin.toml", "--format", "csv"]).expect(0);
    let table = String::from_utf8(scratch.read("out/napkin/napkin.csv")).unwrap();
    assert!(column(&table, "lowest_m").is_some() && column(&table, "intersections").is_none());

    // A body that touches itself is looked at in the end, without being asked.
    let touching = SCENE
        .replace("fabric", "contact = {}\nfabric")
        .replace("[[body]]", "[[group]]\nsolver = \"xpbd\"\n\n[[body]]");
    scratch.write("napkin.toml", touching);
    let json = scratch.souple(&["run", "napkin.toml", "--json"]).expect(0).json();
    assert_eq!(json["intersections"].as_u64(), Some(0));
    assert!(json.get("clean_frames_percent").is_none());
}

#[test]
fn expectations_that_are_not_met_exit_with_3_and_the_files_are_there() {
    let scratch = Scratch::new();
    let expect = "\n[expect]\nlowest_above = 10.0\nlowest_below = -10.0\nkinetic_below = 1e-30\n\
                  stretch_mean_percent = 1e-9\ntorn = true\nintersections = 0\n";
    scratch.write("napkin.toml", format!("{}{expect}", crossed()));
    let ran = scratch.souple(&["run", "napkin.toml"]).expect(3);
    for name in
        ["lowest_above", "lowest_below", "kinetic_below", "stretch_mean_percent", "intersections", "torn"]
    {
        ran.says(&format!("not as expected: {name}: "));
    }
    ran.says("wrote out/napkin/napkin.glb");
    let json = scratch.souple(&["run", "napkin.toml", "--json"]).expect(3).json();
    assert_eq!(json["expect"]["passed"], false);
    assert_eq!(json["expect"]["failures"].as_array().unwrap().len(), 6);

    // They are about the end of the scene: a shorter run does not check them, a longer one does at that frame.
    let json = scratch.souple(&["run", "napkin.toml", "--json", "--frames", "4"]).expect(0).json();
    assert_eq!(json["expect"]["checked"], false);
    let json = scratch.souple(&["run", "napkin.toml", "--json", "--frames", "7"]).expect(3).json();
    assert_eq!(json["expect"]["checked"], true);
}

#[test]
fn expectations_that_are_met_are_told() {
    let scratch = Scratch::new();
    let expect = "\n[expect]\nlowest_above = -0.6\nlowest_below = -0.4\nkinetic_below = 1.0\n\
                  stretch_mean_percent = 5.0\ntorn = false\nintersections = 0\n";
    scratch.write("napkin.toml", format!("{SCENE}{expect}"));
    scratch.souple(&["run", "napkin.toml"]).expect(0).says("all is as the scene expects");
}

#[test]
fn a_snapshot_goes_on_with_the_same_bits() {
    let scratch = Scratch::with_scene();
    let whole = scratch.souple(&["run", "napkin.toml", "--json"]).expect(0).json();
    scratch.souple(&["run", "napkin.toml", "--frames", "3", "--snapshot", "three.snap"]).expect(0);
    let rest = scratch.souple(&["run", "napkin.toml", "--from", "three.snap", "--json"]).expect(0).json();
    assert_eq!(rest["frames"], 2, "what is left of the scene");
    assert_eq!(rest["state_hash"], whole["state_hash"]);
    let table = String::from_utf8(scratch.read("out/napkin/napkin.csv")).unwrap();
    assert!(table.lines().nth(1).unwrap().starts_with("3,0.05"), "{table}");

    scratch.write("other.toml", SCENE.replace("cotton", "silk"));
    let other = scratch.souple(&["run", "other.toml", "--from", "three.snap"]).expect(1);
    other.complains("three.snap").complains("another scene");
    let damaged = scratch.read("three.snap");
    scratch.write("cut.snap", &damaged[..damaged.len() / 2]);
    scratch.souple(&["run", "napkin.toml", "--from", "cut.snap"]).expect(1).complains("damaged or cut short");
    scratch.souple(&["run", "napkin.toml", "--snapshot", "end.snap"]).expect(0);
    let ended = scratch.souple(&["run", "napkin.toml", "--from", "end.snap"]).expect(1);
    ended.complains("where the scene ends").complains("--frames");
    scratch.souple(&["run", "napkin.toml", "--from", "end.snap", "--frames", "1"]).expect(0);
}

#[test]
fn a_control_stream_moves_pins() {
    let scratch = Scratch::with_scene();
    let lift = r#"{"step":1,"do":{"move_pin":{"body":"cloth","pin":"left","by":[0,0.25,0]}}}"#;
    scratch.write("up.jsonl", format!("{lift}\n\n{}\n", lift.replace("left", "right")));
    let last_frame = |out: &str| {
        let pc2 = scratch.read(&format!("{out}/napkin.pc2"));
        let frames = read_pc2(&pc2, &PointCacheBudget::default()).unwrap().frames;
        frames.frame(5).unwrap().to_vec()
    };
    let run = ["run", "napkin.toml", "--format", "pc2", "-o"];
    scratch.souple(&[&run[..], &["still"]].concat()).expect(0);
    scratch.souple(&[&run[..], &["moved", "--control", "up.jsonl"]].concat()).expect(0);
    let stdin = format!("{lift}\n{}\n", lift.replace("left", "right"));
    scratch.souple_with_input(&[&run[..], &["piped", "--control", "-"]].concat(), &stdin).expect(0);
    let (still, moved) = (last_frame("still"), last_frame("moved"));
    assert_eq!((still[0][1], still[4][1]), (0.0, 0.0));
    assert_eq!((moved[0][1], moved[4][1]), (0.25, 0.25));
    assert_eq!(moved, last_frame("piped"));
}

#[test]
fn a_command_that_is_refused_stops_the_run_and_names_its_line() {
    let scratch = Scratch::with_scene();
    let lift = r#"{"step":1,"do":{"move_pin":{"body":"cloth","pin":"left","by":[0,0.25,0]}}}"#;
    scratch.write("bad.jsonl", format!("{lift}\n\n{}\n", lift.replace("left", "middle")));
    let ran = scratch.souple(&["run", "napkin.toml", "--control", "bad.jsonl"]).expect(1);
    ran.complains("bad.jsonl, line 3").complains("has no pin 'middle'");
    scratch.write("broken.jsonl", format!("{lift}\n{}\n", &lift[..20]));
    let ran = scratch.souple(&["run", "napkin.toml", "--control", "broken.jsonl"]).expect(1);
    ran.complains("broken.jsonl, line 2").complains("a line looks like");
    scratch.write("latin.jsonl", b"\n\n{\"step\":1,\"do\":\"\xe9\"}");
    let ran = scratch.souple(&["run", "napkin.toml", "--control", "latin.jsonl"]).expect(1);
    ran.complains("latin.jsonl, line 3").complains("UTF-8");
    assert!(scratch.files().iter().all(|file| !file.starts_with("out/")), "{:?}", scratch.files());
}

#[test]
fn commands_outside_the_run_are_told_of() {
    let scratch = Scratch::with_scene();
    let lift = r#"{"step":5,"do":{"move_pin":{"body":"cloth","pin":"left","by":[0,0.25,0]}}}"#;
    scratch.write("late.jsonl", lift);
    let ran = scratch.souple(&["run", "napkin.toml", "--control", "late.jsonl"]).expect(0);
    ran.says("warning: 1 command of the control stream left out: from step 5 on");
}

/// Explicit Euler with a step a hundred times too long.
fn exploding() -> String {
    SCENE.replace(
        "[[body]]",
        "[[group]]\nname = \"main\"\nsolver = \"explicit_euler\"\n\n[[body]]\nvelocity = [3.0, 0.0, 1.0]",
    )
}

#[test]
fn a_frozen_body_is_a_warning_and_strict_makes_it_a_failure() {
    let scratch = Scratch::new();
    scratch.write("napkin.toml", exploding().replace("frames = 5", "frames = 200"));
    let ran = scratch.souple(&["run", "napkin.toml"]).expect(0);
    ran.says("warning: step").says("frozen").says("Lower `dt` of group 'main'");
    ran.says("wrote out/napkin/napkin.glb");
    let json = scratch.souple(&["run", "napkin.toml", "--strict", "--json"]).expect(3).json();
    assert_eq!(json["bodies"][0]["frozen"], true);
    assert!(json["warnings"].as_array().unwrap().iter().any(|w| w.as_str().unwrap().contains("frozen")));
}

#[test]
fn a_torn_body_has_its_final_vertices_in_every_frame() {
    let scratch = Scratch::new();
    let pull = |speed: f64| format!("motion = {{ velocity = [{speed:?}, 0.0, 0.0] }}\nselect = {{ border = ");
    let scene = SCENE
        .replace("fabric = \"cotton\"", "fabric = \"cotton\"\ntear = { length_ratio = 1.15 }")
        .replace("select = { near = [0.0, 0.0, 0.0] }", &format!("{}\"u0\" }}", pull(-1.0)))
        .replace("select = { near = [0.5, 0.0, 0.0] }", &format!("{}\"u1\" }}", pull(1.0)))
        .replace("frames = 5", "frames = 30");
    scratch.write("banner.toml", format!("{scene}\n[expect]\ntorn = true\n"));
    let json = scratch.souple(&["run", "banner.toml", "--format", "pc2,glb,obj", "--json"]).expect(0).json();
    assert_eq!(json["bodies"][0]["torn"], true);
    let vertices = json["bodies"][0]["vertices"].as_u64().unwrap() as usize;
    assert!(vertices > 20);
    let pc2 = read_pc2(&scratch.read("out/banner/banner.pc2"), &PointCacheBudget::default()).unwrap();
    assert_eq!((pc2.frames.point_count, pc2.frames.frame_count()), (vertices, 31));
    let first = String::from_utf8(scratch.read("out/banner/obj/banner_0000.obj")).unwrap();
    assert_eq!(first.lines().filter(|line| line.starts_with("v ")).count(), vertices);
}

#[test]
fn several_bodies_get_a_point_cache_each() {
    let scratch = Scratch::new();
    let rope = "\n[[body]]\nname = \"a rope\"\nfabric = \"cotton\"\nshape = { rope = { vertices = 4 } }\n";
    scratch.write("two.toml", format!("{SCENE}{rope}"));
    scratch.souple(&["run", "two.toml", "--format", "pc2,glb"]).expect(0);
    assert_eq!(
        scratch.files(),
        ["out/two/two.glb", "out/two/two_a_rope.pc2", "out/two/two_cloth.pc2", "two.toml"]
    );
}

#[test]
fn a_scene_that_would_fill_the_memory_is_refused_at_once() {
    let scratch = Scratch::with_scene();
    let ran = scratch.souple(&["run", "napkin.toml", "--frames", "4000000000"]).expect(1);
    ran.complains("of memory; the limit is 8.0 GiB").complains("--frames");
    scratch.write("large.toml", SCENE.replace("[5, 4]", "[7000, 7000]"));
    let ran = scratch.souple(&["run", "large.toml"]).expect(1);
    ran.complains("large.toml:9:").complains("of memory").complains("use fewer vertices");
    assert_eq!(scratch.files(), ["large.toml", "napkin.toml"]);
}

#[test]
fn outputs_that_cannot_be_written_are_found_before_the_run() {
    let scratch = Scratch::with_scene();
    scratch.write("in-the-way", "a file");
    let ran = scratch.souple(&["run", "napkin.toml", "-o", "in-the-way"]).expect(1);
    ran.complains("in-the-way: cannot make this folder").complains("-o");
    let ran = scratch.souple(&["run", "napkin.toml", "--record", "none/x.souprec"]).expect(1);
    ran.complains("none/x.souprec: cannot write: its folder is not there");
    assert_eq!(scratch.files(), ["in-the-way", "napkin.toml"]);
    assert_eq!(scratch.read("in-the-way"), b"a file");
}

#[test]
fn a_file_that_fails_does_not_take_the_others_with_it() {
    let scratch = Scratch::with_scene();
    scratch.write("out/napkin/napkin.glb/in", "a folder where the file should go");
    let ran = scratch.souple(&["run", "napkin.toml", "--json"]).expect(1);
    ran.complains("napkin.glb: a folder is in the way");
    let json = ran.json();
    assert_eq!(json["files"], serde_json::json!(["out/napkin/napkin.csv"]));
    assert!(json["errors"][0].as_str().unwrap().contains("napkin.glb"));
}

#[test]
fn frames_of_an_earlier_longer_run_are_told_of() {
    let scratch = Scratch::with_scene();
    let run = ["run", "napkin.toml", "--format", "obj,vtk", "--frames"];
    let longer = scratch.souple(&[&run[..], &["4"]].concat()).expect(0);
    assert!(!longer.out.contains("warning"), "{}", longer.out);
    let shorter = scratch.souple(&[&run[..], &["2"]].concat()).expect(0);
    shorter.says("out/napkin/obj holds 2 more, not of this run").says("out/napkin/vtk holds 2 more");
}

#[test]
fn names_cannot_write_to_the_terminal() {
    let scratch = Scratch::new();
    scratch.write("napkin.toml", SCENE.replace("Napkin", r"\u001b]0;owned\u0007\u202e"));
    let ran = scratch.souple(&["run", "napkin.toml"]).expect(0);
    ran.says("(\u{fffd}]0;owned\u{fffd}\u{fffd})");
    assert!(!ran.out.contains('\u{1b}') && !ran.out.contains('\u{202e}'));
}

/// A scene that shows one character is written as the file of that, with the run as one more clip: where the character goes, how its clips are mixed, what its
/// skin becomes, and cloth beside it.
#[test]
fn the_file_of_a_character_is_kept() {
    let scratch = Scratch::new();
    let arm = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/characters/arm.glb");
    scratch.write("arm.glb", std::fs::read(arm).unwrap());
    let character = "format = 1\n[time]\nfps = 10\nframes = 6\n[[character]]\nname = \"arm\"\nrig = { file = { path = \"arm.glb\" } }\n\
                     clip = [{ name = \"wave\", weight = 0.5 }, { name = \"curl\", weight = 0.5 }]\nscale = 2.0\nvolume = {}\n\
                     motion = { velocity = [0.0, 0.0, 1.0] }\n";
    let skin = "[[collider]]\nname = \"skin\"\nshape = { skin = { character = \"arm\" } }\n";
    let cloth = "[[body]]\nname = \"cloth\"\nshape = { grid = { vertices = [3, 3] } }\nfabric = \"cotton\"\n\
                 placement = { translate = [5.0, 0.0, 0.0] }\n";
    scratch.write("kept.toml", format!("{character}{skin}{cloth}"));
    scratch.souple(&["run", "kept.toml", "-o", "out", "--format", "glb,pc2"]).expect(0);
    let read = |name: &str| {
        let mut none = |_: &str| Err(String::new());
        read_rig(&scratch.read(name), &Limits::default(), &mut none).unwrap()
    };
    let (source, made) = (read("arm.glb"), read("out/kept.glb"));
    assert_eq!((&made.skins, made.clips.len()), (&source.skins, source.clips.len() + 1));
    assert_eq!((made.clips[2].name.as_str(), made.nodes.len()), ("kept", source.nodes.len() + 2));
    let rig = souple::skin::CompiledRig::new(&made).unwrap();
    let mut pose = rig.rest_pose();
    rig.clips[2].apply(0.6, &mut pose);
    let mut places = Vec::new();
    rig.skeleton.place(&pose.locals, &mut places);
    let linear = souple::scene::Skinning::LinearBlend;
    let motions = rig.bone_motions(&places, linear);
    for (mesh, cache) in [(0, "out/kept_skin.pc2"), (1, "out/kept_cloth.pc2")] {
        let mesh = &rig.meshes[mesh];
        let cache = read_pc2(&scratch.read(cache), &PointCacheBudget::default()).unwrap();
        let last = cache.frames.frame(6).unwrap();
        assert_eq!(last.len(), mesh.mesh.positions.len());
        for (v, place) in last.iter().enumerate() {
            let shown = mesh.vertex(v, &pose.morphs, &motions[mesh.binding], linear).as_vec3();
            assert!(shown.distance((*place).into()) < 1e-4, "{shown} {place:?}");
        }
    }
    // Two of them are too many for one file.
    let other = character.split("[[character]]").nth(1).unwrap().replace("\"arm\"\n", "\"other\"\n");
    let second =
        format!("[[character]]{other}{}", skin.replace("arm", "other").replace("\"skin\"", "\"second\""));
    scratch.write("two.toml", format!("{character}{skin}{second}"));
    scratch.souple(&["run", "two.toml", "-o", "out", "--format", "glb"]).expect(0).says("shows 2 characters");
}
