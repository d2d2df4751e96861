//! The panels, pressed as a person would, without a window and without a graphics driver.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use eframe::egui::{self, Key, Modifiers, Role, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use souple_studio::app::{Options, StudioApp};
use souple_studio::document::Object;
use souple_studio::keys::{Action, Held, bindings};
use souple_studio::panels::LeftTab;
use souple_studio::playback::Showing;
use souple_studio::worker::{AtEnd, Request};
use souple_viewer::WhichRenderer;

#[path = "panels/characters.rs"]
mod characters;
#[path = "panels/faults.rs"]
mod faults;
#[path = "panels/solids.rs"]
mod solids;

/// A cloth that hangs from two corners.
const HANGING: &str = "format = 1
name = 'Hanging'
[time]
frames = 2000
[[body]]
name = 'cloth'
fabric = 'cotton'
shape = { grid = { size = [1.0, 1.0], vertices = [9, 9], plane = 'xy' } }
springs = { stretch = { stiffness = 400.0 } }
[[body.pin]]
name = 'left'
select = { near = [0.0, 0.0, 0.0] }
[[body.pin]]
name = 'right'
select = { near = [1.0, 0.0, 0.0] }
";

type Studio = Harness<'static, StudioApp>;

fn options() -> Options {
    Options {
        library: Some(std::env::temp_dir().join("there is no such library")),
        renderer: WhichRenderer::Cpu,
        ..Options::default()
    }
}

fn studio(options: Options) -> Studio {
    Harness::builder().with_size(vec2(1280.0, 720.0)).build_eframe(|cc| StudioApp::new(cc, options))
}

/// Steps the window until something holds.
fn wait(studio: &mut Studio, what: &str, holds: impl Fn(&StudioApp) -> bool) {
    for _ in 0..20_000 {
        studio.step();
        if holds(studio.state()) {
            // One more, so that what is drawn is up to date.
            studio.step();
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let messages: Vec<&str> = studio.state().messages.iter().map(|m| m.text.as_str()).collect();
    panic!("never: {what}; messages: {messages:?}");
}

/// A folder with a scene in it, open and paused at its start.
fn opened(text: &str) -> (tempfile::TempDir, PathBuf, Studio) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.toml");
    std::fs::write(&path, text).unwrap();
    let mut studio = studio(Options { file: Some(path.clone()), ..options() });
    wait(&mut studio, "the scene runs", |app| !app.shown.moment.items.is_empty());
    // It was told to play when it was opened; a run that began after that is the one that stands.
    let run = studio.state().shown.run;
    studio.state_mut().worker.send(Request::Pause);
    studio.state_mut().worker.send(Request::Reset);
    wait(&mut studio, "it stands at its start", |app| app.shown.run > run && !app.shown.playing);
    assert_eq!(studio.state().shown.moment.step, 0);
    (folder, path, studio)
}

fn running_stiffness(app: &StudioApp) -> Option<f64> {
    app.shown.scene.as_ref()?.bodies[0].springs.stretch.stiffness
}

fn step_some(studio: &mut Studio) {
    studio.get_by_role_and_label(Role::Button, "Step").click();
    wait(studio, "a step", |app| app.shown.moment.step > 0 && !app.shown.playing);
}

fn press(studio: &mut Studio, label: &str) {
    studio.get_by_role_and_label(Role::Button, label).click();
    studio.run_steps(3);
}

/// Types into the name of the open dialog and presses its button.
fn answer_dialog(studio: &mut Studio, name: &Path, button: &str) {
    let dialog = &mut studio.state_mut().dialog.as_mut().expect("a dialog is open").files;
    dialog.name = name.display().to_string();
    studio.run_steps(2);
    press(studio, button);
}

#[test]
fn the_inspector_changes_the_running_model_and_undo_brings_it_back() {
    let (_folder, _, mut studio) = opened(HANGING);
    step_some(&mut studio);
    let run = studio.state().shown.run;
    studio.state_mut().select(Object::Body(0));
    studio.run_steps(3);
    studio.get_by_role_and_label(Role::SpinButton, "Stretch stiffness").set_value_accesskit(555.0);
    studio.run_steps(2);
    let written = |app: &StudioApp| app.document.scene().bodies[0].springs.stretch.stiffness;
    assert_eq!(written(studio.state()), Some(555.0));
    wait(&mut studio, "the worker has it", |app| running_stiffness(app) == Some(555.0));
    assert_eq!(studio.state().shown.run, run, "it went on without a start");
    assert_eq!(studio.state().restart_reason(), None);
    assert!(studio.state().document.is_dirty());

    studio.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    studio.run_steps(2);
    assert_eq!(written(studio.state()), Some(400.0));
    wait(&mut studio, "the worker has the old one", |app| running_stiffness(app) == Some(400.0));
    studio.key_press_modifiers(Modifiers::COMMAND, Key::Y);
    studio.run_steps(2);
    assert_eq!(written(studio.state()), Some(555.0));
}

#[test]
fn a_field_that_needs_a_restart_says_so_and_offers_it() {
    let (_folder, _, mut studio) = opened(HANGING);
    step_some(&mut studio);
    studio.state_mut().select(Object::Body(0));
    studio.run_steps(3);
    // The mark stands beside such fields, and beside no other.
    assert!(studio.query_by_label("Vertices needs a restart").is_some());
    assert!(studio.query_by_label("Stretch stiffness needs a restart").is_none());
    assert!(studio.query_by_role_and_label(Role::Button, "Apply and restart").is_none());
    let vertices = studio
        .get_all_by_role(Role::SpinButton)
        .find(|node| node.accesskit_node().label().is_some_and(|label| label == "Vertices u"));
    vertices.expect("the number of vertices along u").set_value_accesskit(12.0);
    studio.run_steps(2);
    assert!(studio.state().restart_reason().is_some());
    let run = studio.state().shown.run;
    studio.run_steps(2);
    press(&mut studio, "Apply and restart");
    wait(&mut studio, "it started again", |app| {
        app.shown.run != run && app.shown.bodies[0].vertices == 12 * 9
    });
    assert_eq!(studio.state().restart_reason(), None);
    assert!(studio.query_by_role_and_label(Role::Button, "Apply and restart").is_none());
}

#[test]
fn a_scene_that_cannot_run_names_the_field_and_the_last_good_one_goes_on() {
    let (_folder, _, mut studio) = opened(HANGING);
    step_some(&mut studio);
    studio.state_mut().document.edit("mass", |scene| scene.bodies[0].mass = Some(-1.0));
    studio.state_mut().build();
    wait(&mut studio, "the message", |app| app.messages.get("build").is_some());
    let text = studio.state().messages.get("build").unwrap().text.clone();
    assert!(text.contains("mass"), "{text}");
    assert!(studio.query_all_by_label_contains("cannot run as it is written").next().is_some());
    assert_eq!(studio.state().shown.moment.items.len(), 1);
    studio.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    wait(&mut studio, "the message is gone", |app| app.messages.get("build").is_none());
}

#[test]
fn the_browser_lists_the_library_and_opens_a_scene() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("one.toml"), HANGING.replace("Hanging", "Number one")).unwrap();
    std::fs::write(folder.path().join("two.toml"), HANGING.replace("Hanging", "Number two")).unwrap();
    std::fs::write(folder.path().join("broken.toml"), "format = 1\nnonsense = 2").unwrap();
    let library = Some(folder.path().to_path_buf());
    let mut studio = studio(Options { library, thumbnails: Some(WhichRenderer::Cpu), ..options() });
    wait(&mut studio, "the list", |app| app.browser.is_done());
    assert_eq!(studio.state().browser.entries.len(), 3);
    for name in ["Number one", "Number two", "broken"] {
        assert!(studio.query_by_role_and_label(Role::Button, name).is_some(), "{name}");
    }
    press(&mut studio, "Number two");
    wait(&mut studio, "it is open", |app| app.document.path().is_some_and(|path| path.ends_with("two.toml")));
    wait(&mut studio, "it plays", |app| app.shown.playing);
    // What is typed narrows the list.
    studio.state_mut().browser.filter = "one".into();
    studio.run_steps(2);
    assert!(studio.query_by_role_and_label(Role::Button, "Number two").is_none());
    // A scene that cannot be read is told, and what was open stays.
    studio.state_mut().browser.filter.clear();
    studio.run_steps(2);
    press(&mut studio, "broken");
    wait(&mut studio, "the message", |app| app.messages.get("open").is_some());
    assert!(studio.state().messages.get("open").unwrap().text.contains("nonsense"));
    assert!(studio.state().document.path().unwrap().ends_with("two.toml"));
}

#[test]
fn the_buttons_of_the_timeline_do_what_they_say() {
    let (_folder, _, mut studio) = opened(HANGING);
    press(&mut studio, "Step");
    wait(&mut studio, "one step", |app| app.shown.moment.step == 1 && !app.shown.playing);
    press(&mut studio, "Loop");
    wait(&mut studio, "the loop", |app| app.shown.at_end_rule == AtEnd::Loop);
    press(&mut studio, "Loop");
    wait(&mut studio, "no loop", |app| app.shown.at_end_rule == AtEnd::Stop);
    press(&mut studio, "Play");
    wait(&mut studio, "it plays", |app| app.shown.moment.step > 5);
    press(&mut studio, "Pause");
    wait(&mut studio, "it stands", |app| !app.shown.playing);

    // A click in the middle of the track shows the past, and hands cannot touch it.
    let step = studio.state().shown.moment.step;
    souple_studio::panels::timeline::seek(studio.state_mut(), 2, Some((0, step)));
    studio.run_steps(2);
    assert_eq!(studio.state().moment().step, 2);
    assert!(!studio.state().is_live());
    studio.key_press(Key::Escape);
    studio.run_steps(2);
    assert_eq!(studio.state().showing, Showing::Live);

    press(&mut studio, "Replay");
    assert!(matches!(studio.state().showing, Showing::Replay { .. }));
    wait(&mut studio, "the replay ends", |app| matches!(app.showing, Showing::Replay { running: false, .. }));
    assert_eq!(studio.state().moment().step, step);
    press(&mut studio, "Replay");
    assert_eq!(studio.state().showing, Showing::Live);

    press(&mut studio, "Reset");
    wait(&mut studio, "the start", |app| app.shown.moment.step == 0);
}

#[test]
fn keys_play_and_change_the_style_but_not_while_a_name_is_typed() {
    let (_folder, _, mut studio) = opened(HANGING);
    studio.key_press(Key::Num8);
    studio.run_steps(2);
    assert_eq!(studio.state().style_override.as_deref(), Some("toon"));
    studio.key_press(Key::W);
    studio.run_steps(2);
    assert_eq!(studio.state().style_override.as_deref(), Some("wireframe"));
    assert_eq!(&*studio.state().looks.bodies[0].style, "wireframe");
    studio.key_press(Key::W);
    studio.run_steps(2);
    assert_eq!(studio.state().style_override.as_deref(), Some("toon"));
    studio.key_press(Key::Space);
    wait(&mut studio, "it plays", |app| app.shown.playing);
    studio.key_press(Key::Space);
    wait(&mut studio, "it stands", |app| !app.shown.playing);

    studio.get_by_role_and_label(Role::TextInput, "Name").focus();
    studio.run_steps(2);
    studio.key_press(Key::Num3);
    studio.run_steps(2);
    assert_eq!(studio.state().style_override.as_deref(), Some("toon"), "the name was meant");
}

#[test]
fn the_dialog_opens_and_saves_in_a_folder() {
    let (folder, path, mut studio) = opened(HANGING);
    studio.state_mut().document.edit("name", |scene| scene.name = "Renamed".into());
    studio.run_steps(2);
    studio.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::S);
    studio.run_steps(3);
    let target = folder.path().join("copy.toml");
    answer_dialog(&mut studio, &folder.path().join("copy"), "Save");
    assert!(studio.state().dialog.is_none());
    let text = std::fs::read_to_string(&target).unwrap();
    assert!(text.contains("Renamed"), "{text}");
    assert!(!studio.state().document.is_dirty());
    assert_eq!(studio.state().document.path(), Some(target.as_path()));

    // The first file again, through the list of the dialog.
    studio.key_press_modifiers(Modifiers::COMMAND, Key::O);
    studio.run_steps(3);
    press(&mut studio, "scene.toml");
    press(&mut studio, "Open");
    wait(&mut studio, "it is open", |app| app.document.scene().name == "Hanging");
    assert!(path.ends_with(studio.state().document.path().unwrap().file_name().unwrap()));

    // A file that is there is overwritten only after a question.
    studio.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::S);
    studio.run_steps(3);
    answer_dialog(&mut studio, &target, "Save");
    assert!(std::fs::read_to_string(&target).unwrap().contains("Renamed"));
    press(&mut studio, "Overwrite");
    assert!(std::fs::read_to_string(&target).unwrap().contains("Hanging"));
}

#[test]
fn unsaved_changes_are_not_lost_without_a_question() {
    let (_folder, path, mut studio) = opened(HANGING);
    studio.state_mut().document.edit("name", |scene| scene.name = "Changed".into());
    studio.state_mut().perform(Action::New, Held::default());
    studio.run_steps(3);
    press(&mut studio, "Cancel");
    assert_eq!(studio.state().document.scene().name, "Changed");
    studio.state_mut().perform(Action::New, Held::default());
    studio.run_steps(3);
    press(&mut studio, "Save");
    assert!(std::fs::read_to_string(&path).unwrap().contains("Changed"));
    assert_eq!(studio.state().document.path(), None);
    // Closing the window with nothing to lose needs no question.
    studio.state_mut().ask_to_quit();
    assert!(studio.state().closing);
}

#[test]
fn a_broken_shader_shows_the_message_of_the_compiler_and_goes_when_it_is_mended() {
    let good = "//! Red.\nfn shade(s: Surface) -> vec4<f32> {\n    return vec4(1.0, 0.0, 0.0, 1.0);\n}\n";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("my.wgsl"), good).unwrap();
    let path = folder.path().join("scene.toml");
    let text =
        HANGING.replace("fabric = 'cotton'", "fabric = 'cotton'\nlook = { style = { shader = 'my.wgsl' } }");
    std::fs::write(&path, text).unwrap();
    let mut studio = studio(Options { file: Some(path), ..options() });
    wait(&mut studio, "the shader", |app| app.styles.get("my.wgsl").is_ok());
    let kept = studio.state().styles.get("my.wgsl").unwrap().version;
    std::fs::write(folder.path().join("my.wgsl"), good.replace("1.0, 0.0, 0.0", "glow(), 0.0, 0.0, 0.0"))
        .unwrap();
    wait(&mut studio, "the message", |app| app.messages.get("file/my.wgsl").is_some());
    let message = studio.state().messages.get("file/my.wgsl").unwrap().text.clone();
    assert!(message.contains("line 3") && message.contains("glow"), "{message}");
    assert!(studio.query_all_by_label_contains("my.wgsl, line 3").next().is_some());
    assert_eq!(studio.state().styles.get("my.wgsl").unwrap().version, kept, "the last good one stays");
    std::fs::write(folder.path().join("my.wgsl"), good.replace("1.0, 0.0, 0.0", "0.0, 1.0, 0.0")).unwrap();
    wait(&mut studio, "all is well", |app| app.messages.get("file/my.wgsl").is_none());
    assert_ne!(studio.state().styles.get("my.wgsl").unwrap().version, kept);
}

#[test]
fn a_diverging_body_becomes_a_message_that_offers_to_thaw_it() {
    let text = HANGING.replace("stiffness = 400.0", "stiffness = 1e9")
        + "[[group]]\nname = 'bad'\nsolver = 'explicit_euler'\n";
    let (_folder, _, mut studio) = opened(&text);
    press(&mut studio, "Play");
    wait(&mut studio, "it is frozen", |app| app.messages.get("frozen/cloth").is_some());
    let message = studio.state().messages.get("frozen/cloth").unwrap().text.clone();
    assert!(message.contains("diverged") && message.contains("Lower `dt`"), "{message}");
    assert!(studio.query_all_by_label_contains("diverged").next().is_some());
    assert!(studio.state().shown.warning_count > 0);
    studio.state_mut().worker.send(Request::Pause);
    wait(&mut studio, "it stands", |app| !app.shown.playing);
    press(&mut studio, "Thaw");
    press(&mut studio, "Reset");
    wait(&mut studio, "it is well at the start", |app| {
        app.shown.moment.step == 0 && app.messages.get("frozen/cloth").is_none()
    });
}

#[test]
fn menus_build_a_scene_that_compiles() {
    let mut studio = studio(options());
    for (menu, item) in
        [("Add", "Cloth that hangs"), ("Add", "Cloth that falls"), ("Add", "Rope"), ("Add", "Wind")]
    {
        press(&mut studio, menu);
        press(&mut studio, item);
    }
    press(&mut studio, "Add");
    studio.get_by_role_and_label(Role::Button, "Collider").hover();
    studio.run_steps(3);
    press(&mut studio, "Collider");
    press(&mut studio, "sphere");
    let scene = studio.state().document.scene().clone();
    assert_eq!((scene.bodies.len(), scene.colliders.len(), scene.wind.is_some()), (3, 1, true));
    let revision = studio.state().document.revision();
    wait(&mut studio, "it compiles", |app| app.shown.revision == Some(revision));
    assert_eq!(studio.state().shown.build_error, None);
    assert_eq!(studio.state().shown.moment.items.len(), 4);
    assert!(matches!(studio.state().selected, Object::Collider(0)));
    press(&mut studio, "Play");
    wait(&mut studio, "it moves", |app| app.shown.moment.step > 3);
    // Taking something away is one step of undo.
    studio.state_mut().worker.send(Request::Pause);
    studio.state_mut().perform(Action::Remove, Held::default());
    studio.run_steps(2);
    assert!(studio.state().document.scene().colliders.is_empty());
    studio.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    studio.run_steps(2);
    assert_eq!(studio.state().document.scene().colliders.len(), 1);
}

#[test]
fn the_tree_selects_and_exports_a_graph_that_is_whole() {
    let (folder, _, mut studio) = opened(HANGING);
    studio.state_mut().layout.tab = LeftTab::Tree;
    wait(&mut studio, "the tree", |app| !app.shown.graph.nodes.is_empty());
    press(&mut studio, "left");
    assert_eq!(studio.state().selected, Object::Pin(0, 0));
    press(&mut studio, "cloth");
    assert_eq!(studio.state().selected, Object::Body(0));
    press(&mut studio, "Export graph…");
    answer_dialog(&mut studio, &folder.path().join("graph"), "Save");
    let file = folder.path().join("graph.dot");
    wait(&mut studio, "the graph is written", |_| file.exists());
    let dot = std::fs::read_to_string(&file).unwrap();
    assert!(dot.starts_with("digraph souple {") && dot.trim_end().ends_with('}'), "{dot}");
    let nodes = dot.lines().filter(|line| line.contains("label=")).count();
    let edges = dot.lines().filter(|line| line.contains("->")).count();
    assert_eq!(nodes, studio.state().shown.graph.nodes.len());
    assert_eq!(edges, nodes - 1, "a tree");
    assert!(dot.contains("cloth") && dot.contains("left"));
}

#[test]
fn pictures_and_recordings_are_saved() {
    let (folder, _, mut studio) = opened(HANGING);
    press(&mut studio, "Record");
    wait(&mut studio, "it records", |app| app.shown.recording);
    for step in 1..=5 {
        studio.state_mut().worker.send(Request::Step);
        wait(&mut studio, "a step", |app| app.shown.moment.step >= step);
    }
    press(&mut studio, "Stop recording");
    answer_dialog(&mut studio, &folder.path().join("run"), "Save");
    let file = folder.path().join("run.souprec");
    wait(&mut studio, "the recording is written", |app| !app.shown.recording && file.exists());

    press(&mut studio, "Save picture");
    studio.state_mut().picture_size = (160, 90);
    answer_dialog(&mut studio, &folder.path().join("picture"), "Save");
    let picture = folder.path().join("picture.png");
    wait(&mut studio, "the picture is written", |_| picture.exists());
    wait(&mut studio, "that is told", |app| app.messages.iter().any(|m| m.text.contains("Saved picture")));
    let bytes = std::fs::read(&picture).unwrap();
    let read = souple_formats::picture::read_picture(&bytes, &Default::default()).unwrap();
    assert_eq!((read.width, read.height), (160, 90));

    press(&mut studio, "Save animation");
    answer_dialog(&mut studio, &folder.path().join("animation"), "Save");
    let glb = folder.path().join("animation.glb");
    wait(&mut studio, "the animation is written", |_| glb.exists());
    assert_eq!(&std::fs::read(&glb).unwrap()[..4], b"glTF");

    studio.state_mut().open_file(&file);
    wait(&mut studio, "the recording is open", |app| app.shown.replaying);
    assert!(!studio.state().is_live());
    studio.state_mut().worker.send(Request::Play);
    wait(&mut studio, "it is played to its end", |app| app.shown.moment.step == 5);
    studio.state_mut().leave_recording();
    wait(&mut studio, "the scene is back", |app| !app.shown.replaying && app.shown.moment.step == 0);
}

#[test]
fn files_that_vanish_or_change_on_the_disk_are_told() {
    let (_folder, path, mut studio) = opened(HANGING);
    std::fs::write(&path, HANGING.replace("Hanging", "From elsewhere, with more letters")).unwrap();
    wait(&mut studio, "the change is told", |app| app.messages.get("disk").is_some());
    press(&mut studio, "Reload from disk");
    assert_eq!(studio.state().document.scene().name, "From elsewhere, with more letters");
    std::fs::remove_file(&path).unwrap();
    wait(&mut studio, "the loss is told", |app| app.messages.get("disk").is_some());
    assert_eq!(studio.state().document.scene().bodies.len(), 1, "the scene is still here");
    press(&mut studio, "Save it again");
    assert!(path.exists());
    assert!(studio.state().messages.get("disk").is_none());
}

#[test]
fn comments_of_a_scene_are_not_lost_without_a_question() {
    let (_folder, path, mut studio) = opened(&format!("# by hand\n{HANGING}"));
    studio.key_press_modifiers(Modifiers::COMMAND, Key::S);
    studio.run_steps(2);
    assert!(studio.state().question.is_none(), "nothing has changed, nothing is written");
    studio.state_mut().document.edit("name", |scene| scene.name = "Changed".into());
    for answer in ["Cancel", "Save as…", "Save all the same"] {
        studio.key_press_modifiers(Modifiers::COMMAND, Key::S);
        studio.run_steps(3);
        assert!(std::fs::read_to_string(&path).unwrap().contains("# by hand"));
        press(&mut studio, answer);
        if answer == "Save as…" {
            press(&mut studio, "Cancel");
        }
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("Changed") && !text.contains("# by hand"), "{text}");
}

/// A file as the window system hands it over.
#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

#[test]
fn dropped_files_are_opened_added_or_refused() {
    let (folder, _, mut studio) = opened(HANGING);
    let drop = |studio: &mut Studio, name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        studio.input_mut().dropped_files.push(Arc::new(Dropped(path)));
        studio.run_steps(3);
    };
    drop(&mut studio, "notes.txt", "x");
    assert!(studio.state().messages.get("open").unwrap().text.contains("notes.txt"));
    drop(&mut studio, "tri.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    press(&mut studio, "Soft body");
    assert_eq!(studio.state().document.scene().bodies.len(), 2);
    wait(&mut studio, "it runs", |app| app.shown.bodies.len() == 2);
    studio.state_mut().perform(Action::Save, Held::default());
    drop(&mut studio, "other.toml", &HANGING.replace("Hanging", "Other"));
    wait(&mut studio, "it is open", |app| app.document.scene().name == "Other");
}

#[test]
fn hands_pull_and_select_in_the_picture() {
    let (_folder, _, mut studio) = opened(HANGING);
    let app = studio.state();
    // The lower right corner of the cloth, on the screen.
    let corner = app.moment().items[0].positions[80];
    let pixel = app.camera.pixel(corner, app.viewport.size_pixels()).unwrap();
    let at = app.viewport.point(pixel) - vec2(3.0, 3.0);
    let button = |pressed, pos, modifiers| egui::Event::PointerButton {
        pos,
        button: egui::PointerButton::Primary,
        pressed,
        modifiers,
    };
    studio.hover_at(at);
    studio.run_steps(2);
    studio.event_modifiers(button(true, at, Modifiers::COMMAND), Modifiers::COMMAND);
    studio.run_steps(1);
    let away = at + vec2(60.0, 30.0);
    studio.hover_at(away);
    studio.run_steps(1);
    studio.state_mut().worker.send(Request::Step);
    wait(&mut studio, "it is pulled", |app| app.shown.moment.step == 1);
    assert_eq!(studio.state().shown.grabs.len(), 1);
    // One step after the drag the vertex has moved with it; by its weight alone it would only fall.
    let moved = studio.state().moment().items[0].positions[80] - corner;
    assert!(moved.dot(studio.state().camera.axes().0) > 1e-4, "{moved}");
    studio.event(button(false, away, Modifiers::NONE));
    studio.run_steps(1);
    studio.state_mut().worker.send(Request::Step);
    wait(&mut studio, "it is let go", |app| app.shown.grabs.is_empty());

    // Shift-click selects the vertex, P pins it, Esc forgets it.
    let app = studio.state();
    let corner = app.moment().items[0].positions[80];
    let at = app.viewport.point(app.camera.pixel(corner, app.viewport.size_pixels()).unwrap());
    for pressed in [true, false] {
        studio.hover_at(at);
        studio.event_modifiers(button(pressed, at, Modifiers::SHIFT), Modifiers::SHIFT);
        studio.run_steps(2);
    }
    assert_eq!(studio.state().hands.selection.get(&0).map(|v| v.contains(&80)), Some(true));
    studio.key_press(Key::P);
    studio.run_steps(1);
    studio.state_mut().worker.send(Request::Step);
    wait(&mut studio, "it is pinned", |app| app.shown.pinned[0].iter().any(|pin| pin.vertex == 80));
    studio.key_press(Key::Escape);
    studio.run_steps(2);
    assert!(studio.state().hands.selection.values().all(|vertices| vertices.is_empty()));
}

#[test]
fn every_size_of_the_window_is_drawn_without_a_fault() {
    let (_folder, _, mut studio) = opened(HANGING);
    studio.state_mut().layout.help = true;
    studio
        .state_mut()
        .messages
        .error("test", "a message that is long enough to need several lines in a small window");
    for size in
        [(1, 1), (0, 0), (30, 20), (90, 300), (300, 90), (320, 200), (640, 480), (1024, 640), (2560, 1440)]
    {
        studio.set_size(vec2(size.0 as f32, size.1 as f32));
        studio.run_steps(3);
    }
    studio.state_mut().ask_file(souple_studio::actions::Purpose::Open);
    for size in [(40, 40), (0, 0), (320, 200), (1280, 720)] {
        studio.set_size(vec2(size.0 as f32, size.1 as f32));
        studio.run_steps(3);
    }
    let rect = studio.state().viewport.rect.unwrap();
    assert!(rect.width() > 300.0 && rect.height() > 200.0, "{rect:?}");
}

#[test]
fn all_buttons_around_the_picture_are_inside_small_windows_and_apart() {
    let (_folder, _, mut studio) = opened(HANGING);
    let names = [
        "File",
        "Edit",
        "Add",
        "View",
        "Simulation",
        "Help",
        "Select",
        "Move",
        "Scissors",
        "Fan",
        "Wireframe",
        "Front",
        "Side",
        "Top",
        "See everything",
        "Reset",
        "Play",
        "Step",
        "Loop",
        "Record",
        "Replay",
        "Save picture",
        "Save animation",
    ];
    for size in [vec2(1280.0, 720.0), vec2(1024.0, 640.0)] {
        studio.set_size(size);
        studio.run_steps(4);
        let rects: Vec<(String, egui::Rect)> = names
            .iter()
            .flat_map(|name| {
                studio
                    .get_all_by_role_and_label(Role::Button, name)
                    .map(|node| ((*name).to_owned(), node.rect()))
            })
            .collect();
        assert!(rects.len() >= names.len());
        for (k, (name, rect)) in rects.iter().enumerate() {
            assert!(
                egui::Rect::from_min_size(egui::Pos2::ZERO, size).contains_rect(*rect),
                "{name} {rect:?}"
            );
            for (other, other_rect) in &rects[k + 1..] {
                assert!(
                    !rect.shrink(0.5).intersects(other_rect.shrink(0.5)),
                    "{name} and {other} at {size:?}"
                );
            }
        }
    }
}

#[test]
fn the_help_window_lists_every_key() {
    let mut studio = studio(options());
    studio.key_press(Key::F1);
    studio.run_steps(4);
    assert!(studio.state().layout.help);
    for binding in bindings() {
        assert!(studio.query_all_by_label(binding.help).next().is_some(), "{}", binding.help);
    }
    studio.key_press(Key::F1);
    studio.run_steps(2);
    assert!(!studio.state().layout.help);
}

#[test]
fn everything_that_can_be_selected_has_its_fields() {
    let text = HANGING.to_owned()
        + "[[body.pull]]\nselect = 'all'\nforce = [1.0, 0.0, 0.0]\n[[collider]]\nname = 'ball'\nshape = { sphere = { radius = 0.2 } }\n\
           [[group]]\nname = 'g'\n[wind]\nvelocity = [1.0, 0.0, 0.0]\n";
    let (_folder, _, mut studio) = opened(&text);
    for (object, field) in [
        (Object::Scene, "Frame rate"),
        (Object::Wind, "Air density"),
        (Object::Group(0), "Tolerance"),
        (Object::Body(0), "Stretch stiffness"),
        (Object::Collider(0), "Radius"),
        (Object::Pull(0, 0), "From"),
    ] {
        studio.state_mut().select(object);
        studio.run_steps(4);
        assert_eq!(studio.state().selected, object);
        assert!(
            studio.query_all_by_role_and_label(Role::SpinButton, field).next().is_some(),
            "{object:?} {field}"
        );
    }
    studio.state_mut().select(Object::Pin(0, 1));
    studio.run_steps(4);
    assert!(studio.query_by_role_and_label(Role::TextInput, "Name").is_some());
}
