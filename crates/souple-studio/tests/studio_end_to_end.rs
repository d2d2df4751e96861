//! The real program in a real window, with real events: under Xvfb, driven by xdotool, seen through the frame buffer.
//!
//! What is needed (Debian: xvfb, xdotool, mesa-vulkan-drivers) is installed in CI; without it the tests say so and pass.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

const STUDIO: &str = env!("CARGO_BIN_EXE_souple-studio");

/// A red cloth that hangs from its upper corners, and stands still at the beginning.
const SCENE: &str = "format = 1
name = 'End to end'
[time]
frames = 100000
[view]
background = [0.1, 0.2, 0.9]
ground = false
camera = { position = [0.5, -0.5, 3.2], target = [0.5, -0.5, 0.0] }
[[body]]
name = 'cloth'
fabric = 'cotton'
shape = { grid = { size = [1.0, 1.0], vertices = [17, 17], plane = 'xy' } }
mass = 1.0
springs = { stretch = { stiffness = 2000.0 }, shear = { stiffness = 60.0 } }
rayleigh = { mass = 1.0 }
look = { colour = [0.9, 0.1, 0.1], back_colour = [0.9, 0.1, 0.1] }
[[body.pin]]
name = 'left'
select = { near = [0.0, 0.0, 0.0] }
[[body.pin]]
name = 'right'
select = { near = [1.0, 0.0, 0.0] }
";

/// A child that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// A screen that nobody sees.
struct Screen {
    _server: Running,
    display: String,
    frame_buffer: PathBuf,
}

impl Screen {
    /// Starts a server on a free display; `None`, with a reason on the screen, where that cannot be.
    fn start(folder: &Path) -> Option<Screen> {
        for program in ["Xvfb", "xdotool"] {
            if !is_installed(program) {
                println!("skipped: {program} is not installed (Debian: apt install xvfb xdotool)");
                return None;
            }
        }
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-fbdir"])
            .arg(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb starts");
        let mut line = String::new();
        let output = server.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("the number of the display");
        let display = format!(":{}", line.trim());
        Some(Screen { _server: Running(server), display, frame_buffer: folder.join("Xvfb_screen0") })
    }

    /// Runs a program on this screen.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("DISPLAY", &self.display).env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
        command
    }

    /// Real events, in the words of xdotool.
    fn events(&self, words: &str) {
        let done = self.command("xdotool").args(words.split_whitespace()).output().expect("xdotool runs");
        assert!(done.status.success(), "xdotool {words}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn type_text(&self, text: &str) {
        let done =
            self.command("xdotool").args(["type", "--delay", "5", text]).status().expect("xdotool runs");
        assert!(done.success());
    }

    /// What is on the screen now.
    fn pixels(&self) -> Pixels {
        let bytes = fs::read(&self.frame_buffer).expect("the frame buffer");
        let word = |k: usize| u32::from_be_bytes(bytes[4 * k..4 * k + 4].try_into().unwrap()) as usize;
        // The header of the X window dump format, and its table of colours.
        let (header, width, height, bits, row, colours) =
            (word(0), word(4), word(5), word(11), word(12), word(19));
        assert_eq!(bits, 32, "a screen of 24 bits has 32 per pixel");
        let start = header + 12 * colours;
        let rgb = (0..height).flat_map(|y| {
            let line = &bytes[start + y * row..start + y * row + 4 * width];
            // Blue, green, red, nothing.
            line.chunks_exact(4).map(|p| [p[2], p[1], p[0]]).collect::<Vec<_>>()
        });
        Pixels { width, rgb: rgb.collect() }
    }
}

struct Pixels {
    width: usize,
    rgb: Vec<[u8; 3]>,
}

impl Pixels {
    fn at(&self, x: usize, y: usize) -> [u8; 3] {
        self.rgb[y * self.width + x]
    }

    /// Pixels of a rectangle of which something is true.
    fn count(&self, [x0, y0, x1, y1]: [usize; 4], is: impl Fn([u8; 3]) -> bool) -> usize {
        (y0..y1).map(|y| (x0..x1).filter(|&x| is(self.at(x, y))).count()).sum()
    }

    /// The lowest row of a rectangle with such a pixel.
    fn lowest(&self, [x0, y0, x1, y1]: [usize; 4], is: impl Fn([u8; 3]) -> bool) -> usize {
        (y0..y1).rev().find(|&y| (x0..x1).any(|x| is(self.at(x, y)))).unwrap_or(0)
    }

    /// Pixels of a rectangle that are not the same in another picture.
    fn difference(&self, other: &Pixels, [x0, y0, x1, y1]: [usize; 4]) -> usize {
        (y0..y1).map(|y| (x0..x1).filter(|&x| self.at(x, y) != other.at(x, y)).count()).sum()
    }
}

fn is_cloth([r, g, b]: [u8; 3]) -> bool {
    r > 60 && u32::from(r) > 2 * u32::from(g) && u32::from(r) > 2 * u32::from(b)
}

/// The program with its reports.
struct Studio<'a> {
    screen: &'a Screen,
    _program: Running,
    report: PathBuf,
}

impl<'a> Studio<'a> {
    fn start(screen: &'a Screen, folder: &Path, scene: &Path) -> Studio<'a> {
        let report = folder.join("report.json");
        let library = folder.join("library");
        fs::create_dir_all(&library).unwrap();
        let program = screen
            .command(STUDIO)
            .arg("--library")
            .arg(&library)
            .arg("--report")
            .arg(&report)
            .arg(scene)
            .spawn()
            .expect("the studio starts");
        Studio { screen, _program: Running(program), report }
    }

    fn state(&self) -> Value {
        let text = fs::read_to_string(&self.report).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }

    /// Waits until something holds of the state, and returns it.
    fn wait(&mut self, what: &str, mut holds: impl FnMut(&Value) -> bool) -> Value {
        for _ in 0..6000 {
            let state = self.state();
            if !state.is_null() && holds(&state) {
                return state;
            }
            if let Ok(Some(status)) = self._program.0.try_wait() {
                panic!("the studio ended ({status}) before: {what}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut last = self.state();
        if let Some(map) = last.as_object_mut() {
            // Too long to read.
            map.retain(|name, _| name != "bodies" && name != "places");
        }
        panic!("never: {what}; the last state: {last}");
    }

    /// Waits until something holds of the picture.
    fn wait_pixels(&self, what: &str, holds: impl Fn(&Pixels) -> bool) -> Pixels {
        for _ in 0..3000 {
            let pixels = self.screen.pixels();
            if holds(&pixels) {
                return pixels;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("never on the screen: {what}");
    }

    fn click(&self, place: &Value) {
        let [x0, y0, x1, y1] = rectangle(place);
        let (x, y) = ((x0 + x1) / 2, (y0 + y1) / 2);
        self.screen
            .events(&format!("mousemove {x} {y} sleep 0.1 mousedown 1 sleep 0.05 mouseup 1 sleep 0.1"));
    }
}

fn rectangle(value: &Value) -> [usize; 4] {
    let side =
        |k: usize| value[k].as_f64().unwrap_or_else(|| panic!("no rectangle: {value}")).max(0.0) as usize;
    [side(0), side(1), side(2), side(3)]
}

/// Place of a vertex of the cloth: in the world, and on the screen.
fn vertex(state: &Value, index: u64) -> ([f64; 3], [i64; 2]) {
    let list = state["bodies"][0]["vertices"].as_array().expect("vertices");
    let found = list.iter().find(|v| v["vertex"] == index).expect("the vertex");
    let at = |k: usize| found["at"][k].as_f64().unwrap();
    let pixel = |k: usize| found["pixel"][k].as_f64().expect("it is in front of the camera") as i64;
    ([at(0), at(1), at(2)], [pixel(0), pixel(1)])
}

fn lowest(state: &Value) -> f64 {
    let list = state["bodies"][0]["vertices"].as_array().expect("vertices");
    list.iter().filter_map(|v| v["at"][1].as_f64()).fold(f64::INFINITY, f64::min)
}

#[test]
fn a_person_opens_drags_tunes_cuts_restyles_replays_and_saves() {
    let folder = tempfile::tempdir().unwrap();
    let Some(screen) = Screen::start(folder.path()) else { return };
    let scene = folder.path().join("cloth.toml");
    fs::write(&scene, SCENE).unwrap();
    let mut studio = Studio::start(&screen, folder.path(), &scene);

    // It opens and moves.
    let state = studio
        .wait("the scene plays", |s| s["step"].as_u64() > Some(5) && s["pictures_drawn"].as_u64() > Some(2));
    assert_eq!(state["title"], "cloth.toml");
    screen.events("search --sync --onlyvisible --name Souple.studio windowfocus --sync");
    let picture = rectangle(&state["picture"]);
    // Without the strips of text along its edges.
    let inner = [picture[0] + 10, picture[1] + 40, picture[2] - 70, picture[3] - 10];
    let area = (inner[2] - inner[0]) * (inner[3] - inner[1]);
    let opened = studio.wait_pixels("the red cloth", |p| p.count(inner, is_cloth) > area / 20);
    let blue = opened.count(inner, |[r, g, b]| b > 100 && b > r && b > g);
    assert!(blue > area / 10, "the background of the scene is seen around it: {blue} of {area}");

    // Space holds it, `.` steps it, Space lets it go.
    screen.events("key space");
    let state = studio.wait("it stands", |s| s["playing"] == false);
    let step = state["step"].as_u64().unwrap();
    screen.events("key period");
    studio.wait("one step", |s| s["step"].as_u64() == Some(step + 1));
    screen.events("key space");
    studio.wait("it plays", |s| s["playing"] == true && s["step"].as_u64() > Some(step + 60));

    // Ctrl-drag pulls the middle of the lower border to the right.
    let before = screen.pixels();
    let state = studio.state();
    let index = 16 * 17 + 8;
    let (at, [x, y]) = vertex(&state, index);
    let (x, y) = (x, y - 4);
    screen.events(&format!("mousemove {x} {y} sleep 0.2 keydown ctrl sleep 0.1 mousedown 1 sleep 0.1"));
    for k in 1..=8 {
        screen.events(&format!("mousemove {} {} sleep 0.03", x + 20 * k, y - 6 * k));
    }
    let state = studio.wait("the vertex follows", |s| {
        s["grabs"].as_u64() == Some(1) && vertex(s, index).0[0] > at[0] + 0.1
    });
    assert!(vertex(&state, index).1[0] > x + 20);
    studio.wait_pixels("the picture follows", |p| p.difference(&before, inner) > area / 100);
    screen.events("mouseup 1 keyup ctrl");
    studio.wait("it is let go", |s| s["grabs"].as_u64() == Some(0));

    // A click on the cloth selects it; its stiffness is typed into the inspector.
    let (_, [x, y]) = vertex(&studio.state(), 8 * 17 + 8);
    screen.events(&format!("mousemove {x} {y} sleep 0.1 click 1"));
    studio.wait("the body is selected", |s| s["selected"] == "Body(0)");
    let field = "SpinButton Stretch stiffness";
    let state = studio.wait("the field", |s| !s["places"][field].is_null());
    let [_, _, x1, _] = rectangle(&state["places"][field]);
    let bottom = picture[3];
    // Down or up to it, a notch of the wheel at a time.
    for _ in 0..40 {
        let [_, y0, _, y1] = rectangle(&studio.state()["places"][field]);
        if y0 > picture[1] && y1 < bottom {
            break;
        }
        let notch = if y1 >= bottom { 5 } else { 4 };
        screen.events(&format!("mousemove {x1} {} sleep 0.1 click {notch} sleep 0.3", picture[1] + 120));
    }
    studio.wait("it is in sight", |s| {
        let [_, y0, _, y1] = rectangle(&s["places"][field]);
        y0 > picture[1] && y1 < bottom
    });
    std::thread::sleep(Duration::from_millis(500));
    let still = lowest(&studio.state());
    let still_row = screen.pixels().lowest(inner, is_cloth);
    // A click turns the number into text; while the form is still scrolling it may miss.
    for attempt in 0.. {
        let state = studio.state();
        if state["typing"] == true {
            break;
        }
        assert!(attempt < 20, "the field cannot be typed into: {}", state["places"]);
        studio.click(&state["places"][field]);
        std::thread::sleep(Duration::from_millis(500));
    }
    screen.events("key ctrl+a");
    screen.type_text("60");
    screen.events("key Return");
    studio.wait("it is typed", |s| s["typing"] == false);
    studio.wait("the running model has it", |s| s["running_stretch_stiffness"][0].as_f64() == Some(60.0));
    let run = studio.state()["run"].clone();
    studio.wait("the cloth hangs lower", |s| lowest(s) < still - 0.05);
    studio.wait_pixels("so it does on the screen", |p| p.lowest(inner, is_cloth) > still_row + 5);
    assert_eq!(studio.state()["run"], run, "it was changed while it ran");
    // Stiff again by undo, so that what follows stays in the picture.
    screen.events(&format!("mousemove {} {} sleep 0.1", inner[0] + 5, inner[3] - 5));
    screen.events("key ctrl+z");
    studio.wait("undo", |s| s["running_stretch_stiffness"][0].as_f64() == Some(2000.0));

    // Scissors: X, then a drag across the cloth.
    studio.wait("it came up again", |s| lowest(s) > still - 0.05);
    let count = studio.state()["bodies"][0]["count"].as_u64().unwrap();
    screen.events("key x");
    studio.wait("the tool", |s| s["tool"] == "Scissors");
    let uncut = screen.pixels();
    let state = studio.state();
    let (_, [left, row]) = vertex(&state, 10 * 17 + 3);
    let (_, [right, _]) = vertex(&state, 10 * 17 + 13);
    screen.events(&format!("mousemove {left} {row} sleep 0.1 mousedown 1 sleep 0.05"));
    for k in 1..=10 {
        screen.events(&format!("mousemove {} {row} sleep 0.03", left + (right - left) * k / 10));
    }
    screen.events("mouseup 1");
    studio.wait("it is cut", |s| {
        s["bodies"][0]["count"].as_u64() > Some(count) && s["bodies"][0]["tears"].as_u64() > Some(0)
    });
    studio.wait_pixels("the cut opens", |p| p.difference(&uncut, inner) > area / 100);
    screen.events("key v");

    // Number keys and W change the style.
    screen.events("key space");
    studio.wait("it stands", |s| s["playing"] == false);
    std::thread::sleep(Duration::from_millis(500));
    let plain = screen.pixels();
    screen.events("key 8");
    studio.wait("the style", |s| s["style"] == "toon");
    let toon = studio.wait_pixels("toon is another picture", |p| p.difference(&plain, inner) > area / 50);
    screen.events("key w");
    studio.wait("the wireframe", |s| s["style"] == "wireframe");
    let full = toon.count(inner, is_cloth);
    studio.wait_pixels("edges alone", |p| p.count(inner, is_cloth) < full / 2);
    screen.events("key w");
    studio.wait("toon again", |s| s["style"] == "toon");

    // The past is played again, in the new style.
    let state = studio.wait("the button", |s| !s["places"]["Button Replay"].is_null());
    let last = state["step"].as_u64().unwrap();
    studio.click(&state["places"]["Button Replay"]);
    let state = studio.wait("the replay", |s| s["showing"].as_str().is_some_and(|t| t.starts_with("Replay")));
    assert!(state["shown_step"].as_u64().unwrap() < last);
    studio.wait_pixels("the cloth is whole again", |p| p.count(inner, is_cloth) > area / 30);
    let state = studio.wait("it goes on", |s| s["shown_step"].as_u64() > Some(20));
    assert_eq!(state["step"].as_u64(), Some(last), "the simulation stands");
    screen.events("key Escape");
    studio.wait("now again", |s| s["showing"] == "Live");

    // A picture is saved.
    let target = folder.path().join("saved.png");
    studio.click(&studio.state()["places"]["Button Save picture"]);
    studio.wait("the dialog", |s| s["dialog"] == "SavePicture" && s["typing"] == true);
    screen.events("key ctrl+a");
    screen.type_text(&target.display().to_string());
    screen.events("key Return");
    studio.wait("it is written", |s| s["dialog"].is_null() && s["exports"] == 0 && target.exists());
    let saved =
        souple_formats::picture::read_picture(&fs::read(&target).unwrap(), &Default::default()).unwrap();
    assert_eq!((saved.width, saved.height), (1920, 1080));
    let red = saved.rgba.chunks_exact(4).filter(|p| is_cloth([p[0], p[1], p[2]])).count();
    assert!(red > 1920 * 1080 / 50, "{red} pixels of cloth");

    // A window without a size, and back.
    for size in ["1 1", "40 30", "1280 760"] {
        screen.events(&format!("search --onlyvisible --name Souple.studio windowsize {size}"));
        std::thread::sleep(Duration::from_millis(400));
    }
    studio.wait("the picture is as large as before", |s| rectangle(&s["picture"]) == picture);
    studio.wait_pixels("and shows the cloth", |p| p.count(inner, is_cloth) > area / 30);
    let messages = studio.state()["messages"].to_string();
    assert!(!messages.contains("\"Error\""), "{messages}");
}

fn run_to_end(mut command: Command) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the studio starts");
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut pipes = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    pipes.0.read_to_end(&mut out).unwrap();
    pipes.1.read_to_end(&mut err).unwrap();
    Output { status: child.wait().unwrap(), stdout: out, stderr: err }
}

#[test]
fn without_a_display_it_names_the_way_without_a_window() {
    let mut command = Command::new(STUDIO);
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    let ended = run_to_end(command);
    let text = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{text}");
    assert!(text.contains("no window can be opened") && text.contains("souple render"), "{text}");
}

#[test]
fn without_a_graphics_driver_it_names_the_way_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let Some(screen) = Screen::start(folder.path()) else { return };
    let mut command = screen.command(STUDIO);
    // Vulkan alone, and no driver for it.
    command
        .env("WGPU_BACKEND", "vulkan")
        .env("VK_DRIVER_FILES", "/dev/null")
        .env("VK_ICD_FILENAMES", "/dev/null");
    let ended = run_to_end(command);
    let text = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{text}");
    assert!(text.contains("souple render"), "{text}");
}

#[test]
fn help_and_version_need_no_window() {
    let run = |arg: &str| {
        let mut command = Command::new(STUDIO);
        command.arg(arg).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        run_to_end(command)
    };
    let help = run("--help");
    assert!(help.status.success() && String::from_utf8_lossy(&help.stdout).contains("Usage: souple-studio"));
    assert!(String::from_utf8_lossy(&run("--version").stdout).starts_with("souple-studio "));
    let wrong = run("--sparkle");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("--sparkle"));
}

/// Pixels of what is painted with 1: yellow, and nothing else of the picture is.
fn is_yellow([r, g, b]: [u8; 3]) -> bool {
    r > 150 && g > 130 && u32::from(b) + 60 < u32::from(g)
}

#[test]
fn a_person_opens_a_character_paints_it_and_takes_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let Some(screen) = Screen::start(folder.path()) else { return };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/characters/elbow.glb");
    let mut studio = Studio::start(&screen, folder.path(), &file);
    let state = studio.wait("the clip plays", |s| {
        s["step"].as_u64() > Some(5) && s["pictures_drawn"].as_u64() > Some(2) && s["playing"] == true
    });
    assert_eq!((&state["selected"], &state["question"]), (&Value::from("Character(0)"), &Value::Null));
    screen.events("search --sync --onlyvisible --name Souple.studio windowfocus --sync");
    screen.events("key space");
    studio.wait("it stands", |s| s["playing"] == false);

    // The brush.
    screen.events("key d");
    let state = studio.wait("the brush is in hand", |s| s["tool"] == "Paint");
    let picture = rectangle(&state["picture"]);
    let inner = [picture[0] + 10, picture[1] + 40, picture[2] - 110, picture[3] - 10];
    assert_eq!(screen.pixels().count(inner, is_yellow), 0);
    // Back and forth over what is nearest.
    let [x, y] = [0, 1].map(|k| state["skins"][0][k].as_f64().expect("it is seen") as i64);
    screen.events(&format!("mousemove {x} {y} sleep 0.2 mousedown 1 sleep 0.1"));
    for k in 1..=20 {
        screen.events(&format!("mousemove {} {y} sleep 0.02", x + 4 * (k % 7) - 12));
    }
    screen.events("mouseup 1 sleep 0.1");
    let painted = |s: &Value| s["characters"][0]["maps"][0]["mean"].as_f64().unwrap_or(0.0);
    studio.wait("it is painted", |s| painted(s) > 0.002);
    studio.wait_pixels("so it is on the screen", |p| p.count(inner, is_yellow) > 200);
    studio.wait("the running scene has it", |s| s["running_characters"][0]["maps"][0]["name"] == "paint");
    screen.events("key ctrl+z");
    studio.wait("it is taken back", |s| s["characters"][0]["maps"].as_array().is_some_and(Vec::is_empty));
    studio.wait_pixels("so it is on the screen", |p| p.count(inner, is_yellow) == 0);
}

/// An arm that stands, seen from the front.
const ARM: &str = "format = 1
name = 'Arm'
[time]
frames = 100000
[view]
background = [0.1, 0.2, 0.9]
ground = false
camera = { position = [0.0, 0.3, 1.6], target = [0.0, 0.3, 0.0] }
[[character]]
name = 'arm'
rig = { file = { path = 'elbow.glb' } }
[[collider]]
name = 'skin'
shape = { skin = { character = 'arm' } }
look = { colour = [0.9, 0.1, 0.1] }
";

/// Place of a joint of the character: in the world, and on the screen.
fn joint(state: &Value, index: usize) -> ([f64; 3], [i64; 2]) {
    let found = &state["bones"][0]["joints"][index];
    let number =
        |field: &str, k: usize| found[field][k].as_f64().unwrap_or_else(|| panic!("no joint: {found}"));
    ([0, 1, 2].map(|k| number("at", k)), [0, 1].map(|k| number("pixel", k) as i64))
}

#[test]
fn a_person_turns_a_bone_by_its_skin() {
    let folder = tempfile::tempdir().unwrap();
    let Some(screen) = Screen::start(folder.path()) else { return };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/characters/elbow.glb");
    fs::copy(file, folder.path().join("elbow.glb")).unwrap();
    let scene = folder.path().join("arm.toml");
    fs::write(&scene, ARM).unwrap();
    let mut studio = Studio::start(&screen, folder.path(), &scene);
    let state = studio.wait("the arm is seen", |s| {
        s["step"].as_u64() > Some(5) && s["pictures_drawn"].as_u64() > Some(2) && s["playing"] == true
    });
    screen.events("search --sync --onlyvisible --name Souple.studio windowfocus --sync");
    let picture = rectangle(&state["picture"]);
    let inner = [picture[0] + 10, picture[1] + 40, picture[2] - 70, picture[3] - 10];
    let area = (inner[2] - inner[0]) * (inner[3] - inner[1]);
    let before = studio.wait_pixels("its skin", |p| p.count(inner, is_cloth) > area / 200);

    // Between the elbow and the end of the arm is the lower bone; Ctrl and a drag to the right turn it about the elbow.
    let (elbow, [ex, ey]) = joint(&state, 1);
    let (end, [x, y]) = joint(&state, 2);
    let (x, y) = ((ex + 3 * x) / 4, (ey + 3 * y) / 4);
    assert!(is_cloth(before.at(x as usize, y as usize)), "the arm is under the pointer: {x}, {y}");
    screen.events(&format!("mousemove {x} {y} sleep 0.2 keydown ctrl sleep 0.1 mousedown 1 sleep 0.1"));
    for k in 1..=10 {
        screen.events(&format!("mousemove {} {y} sleep 0.03", x + 12 * k));
    }
    let state =
        studio.wait("the bone turns", |s| s["bones"][0]["posed"] == 1 && joint(s, 2).0[0] > end[0] + 0.02);
    let length = |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
    let (elbow_now, end_now) = (joint(&state, 1).0, joint(&state, 2).0);
    assert!(length(elbow, elbow_now) < 1e-4, "about its joint, which stays");
    assert!((length(elbow, end) - length(elbow_now, end_now)).abs() < 1e-4, "and gets no longer");
    studio.wait_pixels("so it does on the screen", |p| p.difference(&before, inner) > area / 500);
    screen.events("mouseup 1 keyup ctrl");
    // What the hand did last may still be on its way; then it stays where it was let go.
    let (mut since, mut stood) = (0, [f64::NAN; 3]);
    let state = studio.wait("it stays where it was let go", |s| {
        let (step, place) = (s["step"].as_u64().unwrap_or(0), joint(s, 2).0);
        if place != stood {
            (since, stood) = (step, place);
        }
        step >= since + 30
    });
    assert!(joint(&state, 2).0[0] > end[0] + 0.02, "not where it was before");
}
