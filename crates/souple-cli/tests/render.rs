//! `souple render`, `souple run --format png`, `souple styles`, `souple studio`: what they write, what they refuse.
//!
//! Pictures are drawn by the CPU rasteriser where the test is about files, so that no driver is needed.

mod common;

use common::{Ran, SCENE, Scratch};
use souple_formats::picture::{Picture, PictureLimits, read_picture};

const OLD: &[u8] = b"from an earlier run";

/// A small picture from a camera that sees the napkin.
const SMALL: [&str; 6] = ["--renderer", "cpu", "--size", "64x48", "--camera", "0.25,0,2 0.25,-0.25,0"];

impl Scratch {
    /// Renders with the CPU, small and from a fixed camera.
    fn render(&self, args: &[&str]) -> Ran {
        self.souple(&[&["render"], args, &SMALL].concat())
    }

    fn picture(&self, name: &str) -> Picture {
        read_picture(&self.read(name), &PictureLimits::default()).unwrap()
    }
}

/// How many pixels are red, as the first body of a scene is.
fn red(picture: &Picture) -> usize {
    let is_red = |p: &&[u8]| {
        p[0] > 90 && f32::from(p[0]) > 1.6 * f32::from(p[1]) && f32::from(p[0]) > 1.6 * f32::from(p[2])
    };
    picture.rgba.chunks(4).filter(is_red).count()
}

#[test]
fn a_picture_shows_the_last_frame() {
    let scratch = Scratch::with_scene();
    let ran = scratch.render(&["napkin.toml", "-o", "a.png"]).expect(0);
    ran.says("1 picture of 64 × 48 pixels by CPU rasteriser").says("wrote a.png").complains("frame 5 of 5");
    let picture = scratch.picture("a.png");
    assert_eq!((picture.width, picture.height), (64, 48));
    let seen = red(&picture);
    assert!(seen > 100 && seen < 64 * 48 / 2, "{seen} red pixels");
    assert_eq!(scratch.files(), ["a.png", "napkin.toml"]);

    scratch.render(&["napkin.toml", "-o", "five.png", "--frame", "5"]).expect(0);
    scratch.render(&["napkin.toml", "-o", "zero.png", "--frame", "0"]).expect(0);
    assert!(scratch.read("five.png") == scratch.read("a.png"));
    assert!(scratch.read("zero.png") != scratch.read("a.png"));
}

#[test]
fn json_tells_what_was_drawn() {
    let scratch = Scratch::with_scene();
    let json = scratch.render(&["napkin.toml", "-o", "a/", "--every", "2", "--json"]).expect(0).json();
    assert_eq!(json["input"], "napkin.toml");
    assert_eq!(json["frames"], serde_json::json!([0, 2, 4]));
    assert_eq!((json["fps"].as_f64(), json["pictures"].as_u64()), (Some(30.0), Some(3)));
    assert_eq!(json["size"], serde_json::json!([64, 48]));
    assert_eq!(json["files"], serde_json::json!(["a/0000.png", "a/0001.png", "a/0002.png"]));
    assert_eq!(json["renderer"], "CPU rasteriser");
    assert!(
        json["camera"]["position"][2].as_f64().is_some_and(|z| (z - 2.0).abs() < 1e-3),
        "{}",
        json["camera"]
    );
    for part in ["upload_ms", "draw_ms", "read_back_ms", "simulate_seconds"] {
        assert!(json[part].is_number(), "{part}");
    }
    assert_eq!(json["warnings"], serde_json::json!([]));
}

#[test]
fn a_folder_holds_the_frames_that_were_asked_for() {
    let scratch = Scratch::new();
    // The ground is put under all that is drawn, so that it would tell the selections apart.
    scratch.write("napkin.toml", format!("{SCENE}\n[view]\nground = false\n"));
    scratch
        .render(&["napkin.toml", "-o", "all/"])
        .expect(0)
        .says("wrote all/0000.png … all/0005.png: 6 files");
    scratch.render(&["napkin.toml", "-o", "some/", "--frames", "1..4", "--every", "3"]).expect(0);
    assert_eq!(scratch.files().iter().filter(|file| file.starts_with("some/")).count(), 2);
    assert!(scratch.read("some/0000.png") == scratch.read("all/0001.png"));
    assert!(scratch.read("some/0001.png") == scratch.read("all/0004.png"));
    scratch.render(&["napkin.toml", "-o", "end/", "--frames", "4.."]).expect(0);
    assert!(scratch.read("end/0001.png") == scratch.read("all/0005.png"));
    // A folder that is there needs no slash; what else lies in it is told of.
    scratch
        .render(&["napkin.toml", "-o", "all", "--frames", "..2"])
        .expect(0)
        .says("all holds 3 more, not of this run");
    // Also of a single one, and for programs.
    scratch
        .render(&["napkin.toml", "-o", "all", "--frames", "..0"])
        .expect(0)
        .says("all holds 5 more, not of this run");
    let json = scratch.render(&["napkin.toml", "-o", "all", "--frames", "..1", "--json"]).expect(0).json();
    assert_eq!(json["warnings"], serde_json::json!(["all holds 4 more, not of this run"]));
}

#[test]
fn a_recording_is_drawn_like_the_run_it_was_made_of() {
    let scratch = Scratch::with_scene();
    scratch.souple(&["run", "napkin.toml", "--record", "napkin.souprec", "--format", "csv"]).expect(0);
    scratch.render(&["napkin.toml", "-o", "scene/"]).expect(0);
    scratch.render(&["napkin.souprec", "-o", "recording/", "--threads", "2"]).expect(0);
    for frame in 0..6 {
        let of = |folder: &str| scratch.read(&format!("{folder}/000{frame}.png"));
        assert!(of("scene") == of("recording"), "frame {frame}");
    }
    // In another look (ESSI-16).
    scratch.render(&["napkin.souprec", "-o", "wire.png", "--style", "wireframe"]).expect(0);
    assert!(scratch.read("wire.png") != scratch.read("recording/0005.png"));
}

#[test]
fn a_recording_that_comes_out_differently_is_drawn_and_told_of() {
    let scratch = Scratch::with_scene();
    scratch.souple(&["run", "napkin.toml", "--record", "napkin.souprec", "--format", "csv"]).expect(0);
    let read_log =
        |text: &str| souple_formats::control_log::read_control_log(text).map_err(|e| e.to_string());
    let mut recording = souple::Recording::from_bytes(&scratch.read("napkin.souprec"), read_log).unwrap();
    recording.hashes[1] ^= 1;
    recording.hashes[3] ^= 1;
    scratch.write("other.souprec", recording.to_bytes(souple_formats::control_log::write_control_log));
    let json = scratch.render(&["other.souprec", "-o", "a.png", "--json"]).expect(0).json();
    let warnings = json["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].as_str().unwrap().contains("step 1 does not come out as it was recorded"));
}

#[test]
fn a_damaged_recording_is_refused() {
    let scratch = Scratch::with_scene();
    scratch.souple(&["run", "napkin.toml", "--record", "napkin.souprec", "--format", "csv"]).expect(0);
    let whole = scratch.read("napkin.souprec");
    scratch.write("cut.souprec", &whole[..whole.len() / 2]);
    let ran = scratch.render(&["cut.souprec", "-o", "a.png"]).expect(1);
    ran.complains("cut.souprec").complains("damaged or cut short").complains("help: ");
    assert!(!scratch.path("a.png").exists());
}

#[test]
fn the_camera_comes_from_the_command_line_or_the_scene_or_is_fitted() {
    let scratch = Scratch::with_scene();
    let view = "\n[view.camera]\nposition = [0.25, 0.0, 2.0]\ntarget = [0.25, -0.25, 0.0]\n";
    scratch.write("viewed.toml", format!("{SCENE}{view}"));
    let cpu = ["--renderer", "cpu", "--size", "64x48"];
    scratch.render(&["napkin.toml", "-o", "flag.png"]).expect(0);
    scratch.souple(&[&["render", "viewed.toml", "-o", "scene.png"], &cpu[..]].concat()).expect(0);
    assert!(scratch.read("flag.png") == scratch.read("scene.png"));
    scratch.souple(&[&["render", "napkin.toml", "-o", "fitted.png"], &cpu[..]].concat()).expect(0);
    let fitted = scratch.picture("fitted.png");
    assert!(fitted != scratch.picture("flag.png"));
    // All of it is seen, and it fills a good part: nothing red at the edges.
    assert!(red(&fitted) > 64 * 48 / 10, "{}", red(&fitted));
    let mut inner = fitted.clone();
    inner.paste(&Picture::new(60, 44, [0, 0, 0, 255]), 2, 2);
    assert_eq!(red(&inner), 0);
}

#[test]
fn a_contact_sheet_shows_evenly_spaced_moments() {
    let scratch = Scratch::with_scene();
    let json = scratch
        .render(&["napkin.toml", "-o", "sheet.png", "--contact-sheet", "3x1", "--json"])
        .expect(0)
        .json();
    assert_eq!(json["frames"], serde_json::json!([0, 2, 5]));
    let sheet = scratch.picture("sheet.png");
    assert!(
        sheet.width >= 3 * 64 && sheet.width < 4 * 64 && sheet.height > 48,
        "{} × {}",
        sheet.width,
        sheet.height
    );
    assert!(red(&sheet) > 300);
    // More cells than frames: each frame once.
    let json =
        scratch.render(&["napkin.toml", "-o", "all.png", "--json", "--contact-sheet"]).expect(0).json();
    assert_eq!(json["frames"], serde_json::json!([0, 1, 2, 3, 4, 5]));
}

#[test]
fn a_gif_plays_at_the_speed_of_the_scene() {
    let scratch = Scratch::with_scene();
    let json = scratch.render(&["napkin.toml", "-o", "a.gif", "--json"]).expect(0).json();
    // 60 frames per second are more than a GIF can show.
    assert_eq!(json["frames"], serde_json::json!([0, 2, 4]));
    assert_eq!(json["fps"], 30.0);
    let gif = scratch.read("a.gif");
    assert!(gif.starts_with(b"GIF89a\x40\x00\x30\x00") && gif.ends_with(b";"));
    assert_eq!(scratch.files(), ["a.gif", "napkin.toml"]);
}

#[test]
fn without_ffmpeg_a_video_is_refused_before_the_run() {
    let scratch = Scratch::with_scene();
    scratch.write("a.mp4", OLD);
    for name in ["a.mp4", "a.webm"] {
        let mut command = scratch.command(&[&["render", "napkin.toml", "-o", name], &SMALL[..]].concat());
        let ran = Ran::from(command.env("PATH", "").output().unwrap()).expect(1);
        ran.complains("ffmpeg").complains(".gif").complains("frames/");
        assert!(!ran.err.contains("frame 5"), "the run must not even begin: {}", ran.err);
    }
    let mut command = scratch.command(&["run", "napkin.toml", "--format", "mp4"]);
    Ran::from(command.env("PATH", "").output().unwrap()).expect(1).complains("ffmpeg");
    assert_eq!(scratch.read("a.mp4"), OLD);
    assert_eq!(scratch.files(), ["a.mp4", "napkin.toml"]);
    assert!(!scratch.path("out").exists(), "not even a folder was made");
}

#[cfg(unix)]
mod with_a_program {
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use super::*;

    /// Puts a script in the place of a program.
    fn program(scratch: &Scratch, name: &str, script: &str) {
        scratch.write(name, format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(scratch.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn video(scratch: &Scratch, script: &str) -> Ran {
        program(scratch, "bin/ffmpeg", script);
        let path = format!("{}:/usr/bin:/bin", scratch.path("bin").display());
        let mut command =
            scratch.command(&[&["render", "napkin.toml", "-o", "a b.mp4"], &SMALL[..]].concat());
        Ran::from(command.env("PATH", path).output().unwrap())
    }

    #[test]
    fn ffmpeg_gets_raw_frames_and_its_file_gets_the_name() {
        let scratch = Scratch::with_scene();
        // The last argument is the file; what comes in is kept to be counted.
        let script =
            "for last; do :; done\necho \"$@\" > arguments\ncat > pixels\necho video > \"${last#file:}\"";
        video(&scratch, script).expect(0).says("wrote a b.mp4");
        assert_eq!(scratch.read("a b.mp4"), b"video\n");
        assert_eq!(scratch.read("pixels").len(), 6 * 64 * 48 * 4);
        let arguments = String::from_utf8(scratch.read("arguments")).unwrap();
        for part in ["rawvideo", "rgba", "64x48", "-framerate 60", "libx264", "yuv420p", "bt709"] {
            assert!(arguments.contains(part), "no {part} in {arguments}");
        }
        assert_eq!(scratch.files(), ["a b.mp4", "arguments", "bin/ffmpeg", "napkin.toml", "pixels"]);
    }

    #[test]
    fn when_ffmpeg_fails_its_last_words_are_shown_and_the_old_file_stays() {
        let scratch = Scratch::with_scene();
        for script in [
            // After all frames, and before the first one.
            "cat > /dev/null\nfor n in 1 2 3 4 5 6 7; do echo line $n >&2; done\nexit 7",
            "for n in 1 2 3 4 5 6 7; do echo line $n >&2; done\nexit 7",
        ] {
            scratch.write("a b.mp4", OLD);
            let ran = video(&scratch, script).expect(1);
            ran.complains("a b.mp4: ffmpeg failed").complains("line 7").complains("line 3").complains(".gif");
            assert!(!ran.err.contains("line 2"), "{}", ran.err);
            assert_eq!(scratch.read("a b.mp4"), OLD);
            assert_eq!(scratch.files(), ["a b.mp4", "bin/ffmpeg", "napkin.toml"]);
        }
    }

    #[test]
    fn the_real_ffmpeg_makes_a_video() {
        if Command::new("ffmpeg").arg("-version").output().is_err() {
            return; // not on this machine; the tests above do without
        }
        let scratch = Scratch::with_scene();
        let odd = ["--size", "65x49", "--renderer", "cpu"];
        scratch.souple(&[&["render", "napkin.toml", "-o", "a.mp4"], &odd[..]].concat()).expect(0);
        assert_eq!(&scratch.read("a.mp4")[4..8], b"ftyp");
    }

    /// The command beside a script that stands for the studio.
    fn with_studio(scratch: &Scratch, script: Option<&str>) -> Command {
        std::fs::create_dir_all(scratch.path("bin")).unwrap();
        std::fs::copy(env!("CARGO_BIN_EXE_souple"), scratch.path("bin/souple")).unwrap();
        if let Some(script) = script {
            program(scratch, "bin/souple-studio", script);
        }
        let mut command = Command::new(scratch.path("bin/souple"));
        command.current_dir(scratch.path(""));
        command
    }

    #[test]
    fn the_studio_beside_the_command_gets_the_arguments_and_gives_the_exit_code() {
        let scratch = Scratch::with_scene();
        let mut command = with_studio(&scratch, Some("echo studio \"$@\"\nexit 42"));
        let ran =
            Ran::from(command.args(["studio", "my scene.toml", "--fps", "-1"]).output().unwrap()).expect(42);
        ran.says("studio my scene.toml --fps -1");
    }

    #[test]
    fn without_a_studio_the_way_to_build_it_is_told() {
        let scratch = Scratch::with_scene();
        let mut command = with_studio(&scratch, None);
        let ran = Ran::from(command.args(["studio"]).env("PATH", "").output().unwrap()).expect(1);
        ran.complains("cargo build --release -p souple-studio").complains("souple render");
        // One on the PATH will do.
        program(&scratch, "elsewhere/souple-studio", "exit 0");
        let mut command = with_studio(&scratch, None);
        Ran::from(command.args(["studio"]).env("PATH", scratch.path("elsewhere")).output().unwrap())
            .expect(0);
    }
}

#[test]
fn wrong_usage_exits_with_2_and_writes_nothing() {
    let scratch = Scratch::with_scene();
    for (args, complaint) in [
        (&["-o", "a.png", "--size", "0x0"][..], "such as 1280x720"),
        (&["-o", "a.png", "--size", "99999x9"], "from 1 to 16384"),
        (&["-o", "a.png", "--size", "12"], "such as 1280x720"),
        (&["-o", "a.png", "--camera", "NaN,0,0 1,1,1"], "finite"),
        (&["-o", "a.png", "--camera", "1,2 3"], "what it looks at"),
        (&["-o", "a.png", "--camera", "1,2,3 1,2,3"], "stands on what it looks at"),
        (&["-o", "a.png", "--frame", "-1"], "--frame"),
        (&["-o", "a.png", "--frame", "1", "--every", "2"], "--every"),
        (&["-o", "a.png", "--every", "2"], "--frame N"),
        (&["-o", "a.png", "--frames", "1..2"], "--contact-sheet"),
        (&["-o", "a/", "--frames", "3..1"], "comes before"),
        (&["-o", "a/", "--every", "0"], "--every"),
        (&["-o", "a.gif", "--contact-sheet"], ".png"),
        (&["-o", "a.png", "--contact-sheet", "0x3"], "columns and rows"),
        (&["-o", "a.png", "--renderer", "magic"], "renderer"),
        (&["-o", "a.png", "--style", "tooon"], "did you mean 'toon'?"),
        (&["-o", "a.png", "--style", "xyzzy"], "there are: standard"),
        (&[], "--output"),
    ] {
        let ran = scratch.souple(&[&["render", "napkin.toml"], args].concat()).expect(2);
        ran.complains("error: ").complains(complaint);
    }
    assert_eq!(scratch.files(), ["napkin.toml"]);
}

#[test]
fn bad_input_exits_with_1_and_writes_nothing() {
    let scratch = Scratch::with_scene();
    scratch.write("mesh.obj", "v 0 0 0\n");
    scratch.write("broken.toml", SCENE.replace("fabric", "fabrik"));
    scratch.write("a.png", OLD);
    let before = scratch.files();
    for (args, complaint) in [
        (&["napkin.toml", "-o", "a.bmp"][..], ".png, .gif, .mp4 or .webm"),
        (&["napkin.toml", "-o", "a"], "or in / for a folder"),
        (&["mesh.obj", "-o", "a.png"], "recordings in .souprec"),
        (&["nowhere.toml", "-o", "a.png"], "there is no such file"),
        (&["nowhere.souprec", "-o", "a.png"], "there is no such file"),
        (&["broken.toml", "-o", "a.png"], "did you mean 'fabric'?"),
        (&["napkin.toml", "-o", "a.png", "--frame", "6"], "frame 6 is beyond the end: the last frame is 5"),
        (&["napkin.toml", "-o", "b/", "--frames", "2..9"], "frame 9 is beyond the end"),
        (&["napkin.toml", "-o", "none/a.png"], "its folder is not there"),
        (&["napkin.toml", "-o", "none/a.gif"], "its folder is not there"),
        (&["napkin.toml", "-o", "napkin.toml/"], "a file is in the way"),
        (&["napkin.toml", "-o", "a.png", "--style", "none.wgsl"], "there is no such file"),
        (&["napkin.toml", "-o", "a.png", "--style", "mesh.wgsl"], "there is no such file"),
    ] {
        let ran = scratch.render(args).expect(1);
        ran.complains("error: ").complains(complaint);
        let json = scratch.render(&[args, &["--json"]].concat()).expect(1).json();
        assert!(!json["error"]["message"].as_str().unwrap().is_empty());
    }
    let huge = ["render", "napkin.toml", "-o", "a.png", "--renderer", "cpu", "--size", "16384x16384"];
    scratch.souple(&huge).expect(1).complains("of memory; the limit is 8.0 GiB").complains("--size");
    scratch.write("long.toml", SCENE.replace("frames = 5", "frames = 4000000000"));
    scratch.render(&["long.toml", "-o", "c/"]).expect(1).complains("of memory").complains("--every");
    std::fs::remove_file(scratch.path("long.toml")).unwrap();
    assert_eq!(scratch.read("a.png"), OLD);
    assert_eq!(scratch.files(), before);
}

#[test]
fn files_of_looks_are_read_and_what_is_wrong_with_them_is_shown_at_its_line() {
    let scratch = Scratch::new();
    let with_look = |look: &str| {
        SCENE.replace("fabric = \"cotton\"", &format!("fabric = \"cotton\"\nlook = {{ {look} }}"))
    };
    let render = || scratch.render(&["scene.toml", "-o", "a.png"]);
    scratch.write(
        "shaders/broken.wgsl",
        "//! Broken.\nfn shade(s: Surface) -> vec4<f32> {\n    return nothing;\n}\n",
    );
    scratch.write(
        "shaders/blue.wgsl",
        "//! Blue.\nfn shade(s: Surface) -> vec4<f32> {\n    return vec4<f32>(0.0, 0.0, 1.0, 1.0);\n}\n",
    );
    scratch.write("cut.png", b"\x89PNG\r\n\x1a\n");
    for (look, complaint) in [
        ("style = \"texture\", texture = \"none.png\"", "cannot read 'none.png': there is no such file"),
        ("style = \"texture\", texture = \"../none.png\"", "--allow-outside"),
        ("style = \"texture\", texture = \"cut.png\"", "cannot use 'cut.png': PNG"),
        ("style = { shader = \"none.wgsl\" }", "cannot read 'none.wgsl'"),
        ("style = { shader = \"shaders/broken.wgsl\" }", "shaders/broken.wgsl, line 3"),
        ("style = \"toon\", parameters = { tonnes = 3.0 }", "no parameter 'tonnes'"),
    ] {
        scratch.write("scene.toml", with_look(look));
        let ran = render().expect(1);
        ran.complains("scene.toml:9:").complains(complaint).complains("help: ");
        assert!(!scratch.path("a.png").exists());
        // A check finds the same, without drawing.
        let checked = scratch.souple(&["check", "scene.toml"]).expect(1);
        assert_eq!((checked.err, checked.out.as_str()), (ran.err, ""));
        let json = scratch.souple(&["check", "scene.toml", "--json"]).expect(1).json();
        assert_eq!(json["error"]["line"], 9, "{json}");
    }
    scratch.write("scene.toml", with_look("style = { shader = \"shaders/blue.wgsl\" }"));
    scratch.souple(&["check", "scene.toml", "--strict"]).expect(0).says("nothing odd found");
    // The CPU rasteriser cannot run it, which is told; the picture is drawn as standard.
    render().expect(0).complains("style 'shaders/blue.wgsl' needs a graphics driver");
    let ran = scratch.render(&["scene.toml", "-o", "b.png", "--style", "shaders/broken.wgsl"]).expect(1);
    ran.complains("shaders/broken.wgsl, line 3");

    // A recording has left its files behind and is drawn without them.
    scratch.write("scene.toml", with_look("style = \"texture\", texture = \"t.png\""));
    scratch.souple(&["run", "scene.toml", "--format", "csv", "--record", "scene.souprec"]).expect(0);
    scratch.render(&["scene.souprec", "-o", "c.png"]).expect(0).complains("warning: ").complains("t.png");
}

#[test]
fn a_run_writes_pictures_too() {
    let scratch = Scratch::with_scene();
    let ran =
        scratch.souple(&["run", "napkin.toml", "--format", "png,gif,csv,png", "--frames", "3"]).expect(0);
    ran.says("wrote out/napkin/napkin.csv")
        .says("wrote out/napkin/napkin.gif")
        .says("wrote out/napkin/napkin.png");
    assert_eq!(
        scratch.files(),
        ["napkin.toml", "out/napkin/napkin.csv", "out/napkin/napkin.gif", "out/napkin/napkin.png"]
    );
    let picture = scratch.picture("out/napkin/napkin.png");
    assert_eq!((picture.width, picture.height), (1280, 720));
    assert!(red(&picture) > 1280 * 720 / 20, "{}", red(&picture));
    // What is wrong with a look is found before the run.
    scratch.write(
        "bad.toml",
        SCENE.replace("fabric = \"cotton\"", "fabric = \"cotton\"\nlook = { texture = \"no.png\" }"),
    );
    let ran = scratch.souple(&["run", "bad.toml", "--format", "png"]).expect(1);
    ran.complains("bad.toml:9:").complains("no.png");
    assert!(!scratch.path("out/bad").exists(), "not even a folder was made");
    // Without pictures nobody needs the file.
    scratch.souple(&["run", "bad.toml", "--format", "csv"]).expect(0);
}

#[test]
fn styles_are_listed_with_their_parameters() {
    let scratch = Scratch::new();
    let ran = scratch.souple(&["styles"]).expect(0);
    ran.says("toon").says("tones = 3 (2 to 8)").says("without a graphics driver: standard");
    let json = scratch.souple(&["styles", "--json"]).expect(0).json();
    let styles = json["styles"].as_array().unwrap();
    assert!(styles.len() >= 18);
    let strain = styles.iter().find(|style| style["name"] == "strain").unwrap();
    assert_eq!(
        (strain["quantity"].as_str(), strain["without_driver"].as_bool()),
        (Some("strain"), Some(true))
    );
    assert!(styles.iter().all(|style| !style["about"].as_str().unwrap().is_empty()));
}

#[test]
fn the_viewer_is_timed_by_parts() {
    let scratch = Scratch::new();
    let json = scratch.souple(&["bench", "viewer", "--frames", "1", "--json"]).expect(0).json();
    let rows = json["viewer"].as_array().unwrap();
    let cpu = rows.iter().find(|row| row["renderer"] == "CPU rasteriser").unwrap();
    assert_eq!((cpu["vertices"].as_u64(), cpu["pictures"].as_u64()), (Some(40_000), Some(1)));
    assert!(cpu["draw_ms"].as_f64().unwrap() > 0.0);
    for row in rows.iter().filter(|row| row["renderer"] != "CPU rasteriser") {
        assert!(
            row["upload_ns_per_vertex"].as_f64().unwrap() > 0.0
                && row["read_back_ms"].as_f64().unwrap() > 0.0
        );
    }
}
