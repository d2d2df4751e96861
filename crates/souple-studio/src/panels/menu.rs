//! The menu bar.

use eframe::egui::{self, Button, MenuBar, Panel, Ui};
use souple_viewer::camera::Preset;
use souple_viewer::style::StyleSheet;

use super::fields::words;
use crate::actions::Purpose;
use crate::app::StudioApp;
use crate::document::{ClothKind, ColliderKind, Mechanics, MeshUse, Object};
use crate::keys::{Action, Held, chord_of};
use crate::playback::Showing;
use crate::tools::Tool;
use crate::worker::{AtEnd, Request, Speed};

/// Threads that are offered.
const THREADS: [usize; 6] = [0, 1, 2, 4, 8, 16];
/// Speeds that are offered, times real time.
pub const SPEEDS: [f64; 6] = [0.1, 0.25, 0.5, 1.0, 2.0, 4.0];

/// Draws the menu bar.
pub fn show(app: &mut StudioApp, ui: &mut Ui) {
    Panel::top("menu").show(ui, |ui| {
        MenuBar::new().ui(ui, |ui| {
            ui.menu_button("File", |ui| file(app, ui));
            ui.menu_button("Edit", |ui| edit(app, ui));
            ui.menu_button("Add", |ui| add(app, ui));
            ui.menu_button("View", |ui| view(app, ui));
            ui.menu_button("Simulation", |ui| simulation(app, ui));
            ui.menu_button("Help", |ui| {
                action(app, ui, "Keys and mouse", Action::Help);
            });
            title(app, ui);
        });
    });
}

/// Name of the scene at the right end, when there is room.
fn title(app: &StudioApp, ui: &mut Ui) {
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        if ui.available_width() < 60.0 {
            return;
        }
        let path = app.document.path().map_or("not saved yet".into(), |path| path.display().to_string());
        let mark = if app.document.is_dirty() { " • changed" } else { "" };
        let text = format!("{}{mark}", app.document.title());
        ui.add(egui::Label::new(egui::RichText::new(text).weak()).truncate()).on_hover_text(path);
    });
}

/// A line of a menu for an action, with its key.
fn action(app: &mut StudioApp, ui: &mut Ui, text: &str, action: Action) {
    line(app, ui, true, text, action);
}

fn line(app: &mut StudioApp, ui: &mut Ui, enabled: bool, text: &str, action: Action) {
    let key = chord_of(action).map_or_else(String::new, |chord| chord.to_string());
    if ui.add_enabled(enabled, Button::new(text).shortcut_text(key)).clicked() {
        app.perform(action, Held::default());
    }
}

fn file(app: &mut StudioApp, ui: &mut Ui) {
    action(app, ui, "New", Action::New);
    action(app, ui, "Open…", Action::Open);
    action(app, ui, "Save", Action::Save);
    action(app, ui, "Save as…", Action::SaveAs);
    let has_file = app.document.path().is_some();
    if ui.add_enabled(has_file, Button::new("Reload from disk")).clicked() {
        app.apply_remedy(super::messages::Remedy::Reload);
    }
    ui.separator();
    for (text, purpose) in [
        ("Save picture…", Purpose::SavePicture),
        ("Save animation…", Purpose::SaveAnimation),
        ("Export graph (GraphViz)…", Purpose::SaveGraph),
    ] {
        if ui.button(text).clicked() {
            app.ask_file(purpose);
        }
    }
    let character = app.painted_character();
    let bake = ui.add_enabled(character.is_some(), Button::new("Bake character…"));
    let bake =
        bake.on_hover_text("Its clips with the skin as it is here, for other programs: .glb, .pc2, .mdd");
    if let (true, Some(c)) = (bake.on_disabled_hover_text("There is no character").clicked(), character) {
        app.ask_file(Purpose::Bake(c));
    }
    ui.separator();
    if ui.button("Quit").clicked() {
        app.ask_to_quit();
    }
}

fn edit(app: &mut StudioApp, ui: &mut Ui) {
    let undo = app.document.undo_label().map(|label| format!("Undo {label}"));
    line(app, ui, undo.is_some(), undo.as_deref().unwrap_or("Undo"), Action::Undo);
    let redo = app.document.redo_label().map(|label| format!("Redo {label}"));
    line(app, ui, redo.is_some(), redo.as_deref().unwrap_or("Redo"), Action::Redo);
    ui.separator();
    action(app, ui, "Select all vertices", Action::SelectAll);
    action(app, ui, "Forget the selection", Action::Clear);
    let some = app.hands.selection.values().any(|vertices| !vertices.is_empty());
    line(app, ui, some, "Pin the selection", Action::PinSelection);
    line(app, ui, some, "Unpin the selection", Action::UnpinSelection);
    ui.separator();
    let removable = app.selected != Object::Scene;
    line(app, ui, removable, "Remove the selected object", Action::Remove);
}

fn add(app: &mut StudioApp, ui: &mut Ui) {
    let tip = "A square metre of cotton in the air";
    if ui.button("Cloth that falls").on_hover_text(tip).clicked() {
        app.add_cloth(ClothKind::Sheet);
    }
    if ui.button("Cloth that hangs").on_hover_text("Held by its two upper corners").clicked() {
        app.add_cloth(ClothKind::Curtain);
    }
    if ui.button("Rope").on_hover_text("Hangs from its first particle").clicked() {
        app.add(|document| document.add_rope());
    }
    if ui.button("Block").on_hover_text("Jelly, a solid of hexahedra").clicked() {
        app.add(|document| document.add_block());
    }
    if ui.button("Rigid body").on_hover_text("A ball of wood: nothing bends it").clicked() {
        app.add(|document| document.add_rigid());
    }
    if ui.button("Paper").on_hover_text("An A4 sheet: drag its corners while it plays").clicked() {
        app.add(|document| document.add_paper());
    }
    if ui.button("Character…").on_hover_text("A glTF file with bones: .glb or .gltf").clicked() {
        app.ask_file(Purpose::Character);
    }
    if ui.button("Soft mesh…").on_hover_text("A mesh file: .obj, .ply, .stl or .3ds").clicked() {
        app.ask_file(Purpose::Mesh(MeshUse::SoftBody));
    }
    ui.menu_button("Collider", |ui| {
        for kind in ColliderKind::ALL {
            if ui.button(kind.name()).clicked() {
                app.add_collider(kind);
            }
        }
        if ui.button("mesh…").on_hover_text("A mesh file: .obj, .ply, .stl or .3ds").clicked() {
            app.ask_file(Purpose::Mesh(MeshUse::Collider));
        }
    });
    ui.separator();
    let surface = match app.selected {
        Object::Body(b) => app.can_embed(b).then_some(b),
        _ => None,
    };
    let cells = ui.add_enabled(surface.is_some(), Button::new("Cells around the surface"));
    let cells = cells.on_hover_text("Makes a solid of the selected body: cells move it, its surface follows");
    let clicked = cells.on_disabled_hover_text("Select a body with a surface first").clicked();
    if let (Some(b), true) = (surface, clicked) {
        app.set_mechanics(b, Mechanics::Solid);
    }
    let two = app.document.scene().bodies.len() >= 2;
    let link = ui.add_enabled(two, Button::new("Link")).on_hover_text("A spring between two bodies");
    if link.on_disabled_hover_text("A link joins two bodies; add another one first").clicked() {
        app.add_link();
    }
    let some = app.hands.selection.values().any(|vertices| !vertices.is_empty());
    let pins = ui.add_enabled(some, Button::new("Pin set of the selection"));
    if pins.on_disabled_hover_text("Select vertices first: Shift-click, or Shift-drag a box").clicked() {
        app.add_pin_sets();
    }
    let no_wind = app.document.scene().wind.is_none();
    if ui.add_enabled(no_wind, Button::new("Wind")).on_disabled_hover_text("There is wind already").clicked()
    {
        app.add(|document| document.add_wind());
    }
    if ui.button("Solver group").on_hover_text("Bodies of a group share a solver and a step").clicked() {
        app.add(|document| document.add_group());
    }
}

fn view(app: &mut StudioApp, ui: &mut Ui) {
    for (text, preset) in
        [("Front", Preset::Front), ("Side", Preset::Side), ("Top", Preset::Top), ("Corner", Preset::Corner)]
    {
        action(app, ui, text, Action::View(preset));
    }
    action(app, ui, "See everything", Action::ShowAll);
    action(app, ui, "Look at the selection", Action::Focus);
    let tip = "The scene opens from here from now on; also for `souple render`";
    if ui.button("Keep this view in the scene").on_hover_text(tip).clicked() {
        let camera = app.camera.to_scene();
        app.document.edit("view of the scene", |scene| scene.view.camera = Some(camera));
        app.document.finish_edit();
    }
    let has_view = app.document.scene().view.camera.is_some();
    if ui.add_enabled(has_view, Button::new("Forget the kept view")).clicked() {
        app.document.edit("view of the scene", |scene| scene.view.camera = None);
        app.document.finish_edit();
    }
    ui.separator();
    ui.menu_button("Style", |ui| styles(app, ui));
    action(app, ui, "Wireframe", Action::Wireframe);
    action(app, ui, "Elements of solids", Action::Cells);
    ui.separator();
    ui.checkbox(&mut app.layout.left, "Scenes and tree");
    ui.checkbox(&mut app.layout.right, "Inspector");
    ui.checkbox(&mut app.layout.meters, "Meters");
    ui.menu_button("Colours of the window", |ui| {
        let mut preference = ui.ctx().options(|options| options.theme_preference);
        for (choice, name) in [
            (egui::ThemePreference::System, "As the system"),
            (egui::ThemePreference::Dark, "Dark"),
            (egui::ThemePreference::Light, "Light"),
        ] {
            if ui.radio_value(&mut preference, choice, name).clicked() {
                ui.ctx().set_theme(choice);
            }
        }
    });
}

/// The styles, with their keys: one for all bodies, or each its own.
pub fn styles(app: &mut StudioApp, ui: &mut Ui) {
    if ui.radio(app.style_override.is_none(), "as in the scene").clicked() {
        app.set_style(None);
    }
    for (k, name) in StyleSheet::built_in_names().enumerate() {
        let chosen = app.style_override.as_deref() == Some(name);
        let key = chord_of(Action::Style(k)).map_or_else(String::new, |chord| format!("  {chord}"));
        let response = ui.radio(chosen, format!("{}{key}", words(name)));
        let clicked = response.clicked();
        if let Ok(style) = app.styles.get(name) {
            response.on_hover_text(style.about.as_str());
        }
        if clicked {
            app.set_style(Some(name));
        }
    }
}

fn simulation(app: &mut StudioApp, ui: &mut Ui) {
    let playing = app.shown.playing;
    action(app, ui, if playing { "Pause" } else { "Play" }, Action::PlayPause);
    action(app, ui, "One step", Action::Step);
    action(app, ui, "Back to the start", Action::Reset);
    ui.menu_button("At the last frame", |ui| {
        for (rule, name) in [(AtEnd::Stop, "stop"), (AtEnd::Loop, "begin again"), (AtEnd::GoOn, "go on")] {
            if ui.radio(app.shown.at_end_rule == rule, name).clicked() {
                app.worker.send(Request::SetAtEnd(rule));
            }
        }
    });
    ui.menu_button("Speed", |ui| speeds(app, ui));
    ui.menu_button("Threads", |ui| {
        for threads in THREADS {
            let name = if threads == 0 { "one per core".into() } else { threads.to_string() };
            if ui.radio(app.shown.threads == threads, name).clicked() {
                app.worker.send(Request::SetThreads(threads));
            }
        }
    });
    ui.separator();
    let record = match (app.shown.recording, app.shown.recorded) {
        (true, _) => "Stop recording…",
        (false, true) => "Save the recording…",
        (false, false) => "Record",
    };
    if ui.add_enabled(app.can_record(), Button::new(record)).clicked() {
        app.record();
    }
    if app.shown.replaying && ui.button("Leave the recording").clicked() {
        app.leave_recording();
    }
    ui.separator();
    if ui.button("Keep this state").on_hover_text("In memory, to come back to it").clicked() {
        app.worker.send(Request::SaveSnapshot(None));
    }
    if ui.add_enabled(app.shown.has_snapshot, Button::new("Go back to the kept state")).clicked() {
        app.showing = Showing::Live;
        app.worker.send(Request::Restore(None));
    }
    if ui.button("Save this state…").clicked() {
        app.ask_file(Purpose::SaveState);
    }
    if ui.button("Go back to a saved state…").clicked() {
        app.ask_file(Purpose::OpenState);
    }
    ui.separator();
    ui.menu_button("Hands", |ui| hands(app, ui));
}

/// Speeds to choose from.
pub fn speeds(app: &mut StudioApp, ui: &mut Ui) {
    for times in SPEEDS {
        if ui.radio(app.shown.speed == Speed::Times(times), speed_name(Speed::Times(times))).clicked() {
            app.worker.send(Request::SetSpeed(Speed::Times(times)));
        }
    }
    if ui.radio(app.shown.speed == Speed::Fastest, speed_name(Speed::Fastest)).clicked() {
        app.worker.send(Request::SetSpeed(Speed::Fastest));
    }
}

/// A speed in words.
pub fn speed_name(speed: Speed) -> String {
    match speed {
        Speed::Times(times) => format!("{} × real time", super::fields::plain(times)),
        Speed::Fastest => "as fast as it can".into(),
    }
}

fn hands(app: &mut StudioApp, ui: &mut Ui) {
    for tool in Tool::ALL {
        action(app, ui, tool.name(), Action::Tool(tool));
    }
    ui.separator();
    ui.set_min_width(260.0);
    let pull = egui::Slider::new(&mut app.hands.pull_strength, 0.1..=10.0)
        .logarithmic(true)
        .text("strength of pulls");
    ui.add(pull).on_hover_text("1 is what suits the scene");
    let fan = egui::Slider::new(&mut app.hands.fan_speed, 0.5..=40.0).suffix(" m/s").text("speed of the fan");
    ui.add(fan);
    let radius = egui::Slider::new(&mut app.hands.fan_radius, 0.02..=0.5).text("radius of the fan");
    ui.add(radius).on_hover_text("As a share of the distance to the camera");
}
