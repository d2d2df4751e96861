//! The inspector: every field of the selected object, with its unit, changed while the scene runs.

use std::sync::Arc;

use eframe::egui::{self, ScrollArea, Ui};
use souple::scene::{Border, ColliderShape, Pull, Scene, Select, Shape};
use souple_viewer::ItemKind;

use super::fields::{Effect, Form, live, restart, words_only};
use super::icons::{Icon, icon_button, icon_label};
use super::inspector_body::{body_fields, body_line, for_form, from_form, pin_fields, pull_fields};
use super::inspector_character::{self, character_line};
use super::inspector_look::{LookWish, cells_field, look_fields};
use super::inspector_sheets::{self, creases_field, fold_fields, paper_line};
use super::inspector_solid::{link_fields, link_line, mechanics_field};
use super::inspector_world::{
    collider_fields, collider_for_form, collider_from_form, collider_line, group_fields, scene_fields,
    subtitle, wind_fields,
};
use super::theme::palette;
use crate::actions::Purpose;
use crate::app::{StudioApp, solver_words};
use crate::document::{Mechanics, Object};
use crate::keys::{Action, Held};

/// A part of the inspector that can be folded.
pub fn section(ui: &mut Ui, title: &str, open: bool, fields: impl FnOnce(&mut Ui)) {
    let header = egui::CollapsingHeader::new(egui::RichText::new(title).strong()).default_open(open);
    header.show_unindented(ui, |ui| {
        ui.add_space(1.0);
        fields(ui);
        ui.add_space(3.0);
    });
}

/// Draws the inspector.
pub fn show(app: &mut StudioApp, ui: &mut Ui) {
    let object = app.selected;
    let Some(name) = app.document.name_of(object) else {
        app.selected = Object::Scene;
        return;
    };
    ui.add_space(2.0);
    head(app, ui, object, &name);
    restart_bar(app, ui);
    ui.separator();
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.push_id(object_id(object), |ui| match object {
            Object::Scene => scene(app, ui),
            Object::Wind => wind(app, ui),
            Object::Group(g) => group(app, ui, g),
            Object::Body(b) => body(app, ui, b),
            Object::Pin(b, p) => pin(app, ui, b, p),
            Object::Pull(b, p) => pull(app, ui, b, p),
            Object::Link(k) => link(app, ui, k),
            Object::Paper(p) => inspector_sheets::show(app, ui, p),
            Object::Collider(c) => collider(app, ui, c),
            Object::Character(c) => inspector_character::show(app, ui, c),
        });
    });
}

/// Something that differs for each object, so that widgets of one never take over the state of another.
fn object_id(object: Object) -> (u8, usize, usize) {
    match object {
        Object::Scene => (0, 0, 0),
        Object::Wind => (1, 0, 0),
        Object::Group(g) => (2, g, 0),
        Object::Body(b) => (3, b, 0),
        Object::Pin(b, p) => (4, b, p),
        Object::Pull(b, p) => (5, b, p),
        Object::Collider(c) => (6, c, 0),
        Object::Link(k) => (7, k, 0),
        Object::Character(c) => (8, c, 0),
        Object::Paper(p) => (9, p, 0),
    }
}

fn head(app: &mut StudioApp, ui: &mut Ui, object: Object, name: &str) {
    let scene = app.document.scene();
    let (kind, line) = match object {
        Object::Scene => (
            "Scene",
            format!(
                "{}, {}",
                count(scene.bodies.len(), "body", "bodies"),
                count(scene.colliders.len(), "collider", "colliders")
            ),
        ),
        Object::Wind => ("Wind", "moving air".into()),
        Object::Group(g) => {
            ("Solver group", scene.groups.get(g).map_or_else(String::new, |g| solver_words(g.solver)))
        }
        Object::Body(b) => ("Body", scene.bodies.get(b).map_or_else(String::new, body_line)),
        Object::Pin(b, _) => {
            ("Pin set", scene.bodies.get(b).map_or_else(String::new, |b| format!("of '{}'", b.name)))
        }
        Object::Pull(b, _) => {
            ("Pull", scene.bodies.get(b).map_or_else(String::new, |b| format!("of '{}'", b.name)))
        }
        Object::Link(k) => ("Link", scene.links.get(k).map_or_else(String::new, link_line)),
        Object::Paper(p) => ("Paper", scene.papers.get(p).map_or_else(String::new, paper_line)),
        Object::Collider(c) => ("Collider", scene.colliders.get(c).map_or_else(String::new, collider_line)),
        Object::Character(c) => {
            ("Character", scene.characters.get(c).map_or_else(String::new, character_line))
        }
    };
    ui.horizontal(|ui| {
        ui.add(egui::Label::new(egui::RichText::new(kind).weak()));
        if object != Object::Scene {
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let tip = format!("Remove {name} from the scene");
                if icon_button(ui, Icon::Close, false, "Remove object", &tip).clicked() {
                    app.perform(Action::Remove, Held::default());
                }
                parent_button(app, ui, object);
            });
        }
    });
    ui.add(
        egui::Label::new(egui::RichText::new(if name.is_empty() { "untitled" } else { name }).heading())
            .truncate(),
    );
    subtitle(ui, &line);
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// From a pin set or pull back to its body.
fn parent_button(app: &mut StudioApp, ui: &mut Ui, object: Object) {
    if let Object::Pin(b, _) | Object::Pull(b, _) = object
        && icon_button(ui, Icon::Up, false, "To its body", "Back to the body").clicked()
    {
        app.select(Object::Body(b));
    }
}

/// What waits for a restart, with the button that does it.
fn restart_bar(app: &mut StudioApp, ui: &mut Ui) {
    let Some(reason) = app.restart_reason() else { return };
    let colour = palette(ui.visuals().dark_mode).warning;
    egui::Frame::new().stroke((1.0, colour)).corner_radius(4).inner_margin(5).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal_top(|ui| {
            icon_label(ui, Icon::Restart, colour);
            ui.add(egui::Label::new(format!("Needs a restart: {reason}.")).wrap());
        });
        if ui.button("Apply and restart").on_hover_text("Starts the scene again with all changes").clicked() {
            app.start_scene(app.shown.playing);
        }
    });
}

pub(super) fn rename(app: &mut StudioApp, object: Object, new: Option<String>) {
    let Some(new) = new else { return };
    match app.document.rename(object, &new) {
        Ok(()) => {
            app.document.finish_edit();
            app.messages.clear("rename");
            app.build();
        }
        Err(problem) => app.messages.error("rename", problem),
    }
}

fn scene(app: &mut StudioApp, ui: &mut Ui) {
    // Meshes in the scene itself may be large; they are not copied for the form.
    let mut edited = Scene { bodies: Vec::new(), ..shallow(app.document.scene()) };
    let docs = Arc::clone(&app.docs);
    let mut form = Form::new(&docs, "the scene");
    if let Some(name) = form.name(ui, words_only("Name", "Scene", "name"), &edited.name) {
        edited.name = name;
        form.changed("name", Effect::Words);
    }
    scene_fields(&mut form, ui, &mut edited);
    app.apply_form(&form.changes, |scene| {
        scene.name = edited.name;
        scene.description = edited.description;
        scene.gravity = edited.gravity;
        scene.time = edited.time;
        scene.health = edited.health;
        scene.view = edited.view;
    });
    let scene = app.document.scene();
    let parts: Vec<(Object, String)> = (0..scene.bodies.len())
        .map(Object::Body)
        .chain((0..scene.papers.len()).map(Object::Paper))
        .chain((0..scene.links.len()).map(Object::Link))
        .chain((0..scene.characters.len()).map(Object::Character))
        .chain((0..scene.colliders.len()).map(Object::Collider))
        .chain((0..scene.groups.len()).map(Object::Group))
        .chain(scene.wind.is_some().then_some(Object::Wind))
        .filter_map(|object| Some((object, app.document.name_of(object)?)))
        .collect();
    section(ui, "Objects", true, |ui| {
        if parts.is_empty() {
            subtitle(ui, "Nothing yet. The menu Add has cloth, ropes, solids, colliders and wind.");
        }
        ui.horizontal_wrapped(|ui| {
            for (object, name) in parts {
                if ui.button(name).clicked() {
                    app.select(object);
                }
            }
        });
    });
}

/// A scene without its bodies and colliders, which the form of the scene does not show.
fn shallow(scene: &Scene) -> Scene {
    Scene {
        format: scene.format,
        name: scene.name.clone(),
        description: scene.description.clone(),
        gravity: scene.gravity,
        time: scene.time,
        health: scene.health,
        wind: scene.wind,
        view: scene.view,
        groups: Vec::new(),
        bodies: Vec::new(),
        papers: Vec::new(),
        colliders: Vec::new(),
        characters: Vec::new(),
        pairs: Vec::new(),
        links: Vec::new(),
        expect: scene.expect,
    }
}

fn wind(app: &mut StudioApp, ui: &mut Ui) {
    let Some(mut wind) = app.document.scene().wind else { return };
    let docs = Arc::clone(&app.docs);
    let mut form = Form::new(&docs, "the wind");
    wind_fields(&mut form, ui, &mut wind);
    app.apply_form(&form.changes, |scene| scene.wind = Some(wind));
}

fn group(app: &mut StudioApp, ui: &mut Ui, g: usize) {
    let Some(mut group) = app.document.scene().groups.get(g).cloned() else { return };
    let docs = Arc::clone(&app.docs);
    let mut form = Form::new(&docs, format!("group '{}'", group.name));
    let name = form.name(ui, live("Name", "Group", "name", ""), &group.name);
    group_fields(&mut form, ui, &mut group);
    app.apply_form(&form.changes, |scene| {
        if let Some(place) = scene.groups.get_mut(g) {
            *place = group;
        }
    });
    rename(app, Object::Group(g), name);
    section(ui, "Now", true, |ui| {
        let bodies =
            app.shown.bodies.iter().filter(|body| {
                app.document.scene().groups.get(g).is_some_and(|group| group.name == body.group)
            });
        for body in bodies {
            let iterations =
                if body.iterations > 0 { format!(", {} iterations", body.iterations) } else { String::new() };
            ui.label(format!("{}: {} steps per frame{iterations}", body.name, body.substeps));
        }
    });
}

fn body(app: &mut StudioApp, ui: &mut Ui, b: usize) {
    let Some(mut body) = app.document.scene().bodies.get(b).map(for_form) else { return };
    let docs = Arc::clone(&app.docs);
    let mut form = Form::new(&docs, format!("'{}'", body.name));
    let name = form.name(ui, restart("Name", "Body", "name", ""), &body.name);
    let has_elements = has_elements(app, b);
    let is_solid = has_elements || body.embed.is_some();
    let other = mechanics_field(&mut form, ui, &body, is_solid, has_elements);
    let mechanics = Mechanics::of(&body, is_solid);
    body_fields(&mut form, ui, &mut body, app.document.scene(), mechanics);
    let mut wish = None;
    section(ui, "Look", true, |ui| {
        let has_back = !matches!(body.shape, Shape::Rope(_) | Shape::Strands(_));
        wish = look_fields(&mut form, ui, &mut body.look, app.looks.bodies.get(b), &app.styles, has_back);
        if mechanics == Mechanics::Solid {
            cells_field(&mut form, ui, &mut body.look);
        }
        if body.wrinkles.is_some() {
            creases_field(&mut form, ui, &mut body.look);
        }
    });
    let (pins, pulls) = (names_of(&body.pins, |pin| &pin.name), body.pulls.len());
    let grid = matches!(body.shape, Shape::Grid(_));
    app.apply_form(&form.changes, |scene| {
        if let Some(place) = scene.bodies.get_mut(b) {
            from_form(body, place);
        }
    });
    rename(app, Object::Body(b), name);
    if let Some(other) = other {
        app.set_mechanics(b, other);
    }
    section(ui, "Supports and pulls", true, |ui| {
        ui.horizontal_wrapped(|ui| {
            for (p, pin) in pins.iter().enumerate() {
                if ui.button(pin).on_hover_text("Pin set: a set of supported particles").clicked() {
                    app.select(Object::Pin(b, p));
                }
            }
            for p in 0..pulls {
                if ui.button(format!("pull {}", p + 1)).on_hover_text("A constant force").clicked() {
                    app.select(Object::Pull(b, p));
                }
            }
        });
        ui.horizontal(|ui| {
            if ui.button("Add pin set").on_hover_text("Of the selected vertices, or of a border").clicked() {
                add_pin(app, b, grid);
            }
            if ui.button("Add pull").on_hover_text("A constant force on chosen particles").clicked() {
                app.document.edit("pull", |scene| {
                    if let Some(body) = scene.bodies.get_mut(b) {
                        let force = [0.0, 1.0, 0.0];
                        body.pulls.push(Pull { select: Select::Vertices(vec![0]), force, ..Pull::default() });
                    }
                });
                app.document.finish_edit();
                app.build();
                app.select(Object::Pull(b, pulls));
            }
        });
    });
    state_of_body(app, ui, b);
    wish_for(app, wish, Object::Body(b));
}

/// Whether the shape of a body is a solid by itself: as the running scene says, as a mesh file would have to be read.
fn has_elements(app: &StudioApp, b: usize) -> bool {
    let Some(body) = app.document.scene().bodies.get(b) else { return false };
    match &body.shape {
        Shape::File(_) => {
            let shown = app.shown.moment.items.iter().find(|item| item.kind == ItemKind::Body(b));
            body.embed.is_none() && !body.rigid && shown.is_some_and(|item| item.solid().is_some())
        }
        shape => app.document.has_elements(shape),
    }
}

fn names_of<T>(list: &[T], name: impl Fn(&T) -> &String) -> Vec<String> {
    list.iter().map(|item| name(item).clone()).collect()
}

/// Adds a pin set: of the selection in this body, else of the first row, else of the first particle.
fn add_pin(app: &mut StudioApp, b: usize, grid: bool) {
    if app.hands.selection.get(&b).is_some_and(|vertices| !vertices.is_empty()) {
        app.add_pin_set(b);
        return;
    }
    let select = if grid { Select::Border(Border::V0) } else { Select::Vertices(vec![0]) };
    let added = app.document.add_pin(b, select);
    app.after_change(added);
}

/// What is known of the running body.
fn state_of_body(app: &StudioApp, ui: &mut Ui, b: usize) {
    let Some(info) = app.shown.bodies.get(b) else { return };
    section(ui, "Now", false, |ui| {
        ui.label(format!("{} vertices, {} times torn or cut", info.vertices, info.tears));
        let iterations =
            if info.iterations > 0 { format!(", {} iterations", info.iterations) } else { String::new() };
        ui.label(format!("{}, {} steps per frame{iterations}", solver_words(info.solver), info.substeps));
        let held = app.shown.pinned.get(b).map_or(0, Vec::len);
        ui.label(format!("{held} particles held"));
        if info.frozen {
            ui.colored_label(palette(ui.visuals().dark_mode).error, "frozen: it diverged");
        }
    });
}

pub(super) fn wish_for(app: &mut StudioApp, wish: Option<LookWish>, object: Object) {
    match wish {
        Some(LookWish::Texture) => app.ask_file(Purpose::Texture(object)),
        Some(LookWish::Shader) => app.ask_file(Purpose::Shader(object)),
        None => {}
    }
}

fn pin(app: &mut StudioApp, ui: &mut Ui, b: usize, p: usize) {
    let Some(mut pin) = app.document.scene().bodies.get(b).and_then(|body| body.pins.get(p)).cloned() else {
        return;
    };
    let docs = Arc::clone(&app.docs);
    let mut form = Form::new(&docs, format!("pin set '{}'", pin.name));
    let name = form.name(ui, restart("Name", "Pin", "name", ""), &pin.name);
    pin_fields(&mut form, ui, &mut pin);
    app.apply_form(&form.changes, |scene| {
        if let Some(place) = scene.bodies.get_mut(b).and_then(|body| body.pins.get_mut(p)) {
            *place = pin;
        }
    });
    rename(app, Object::Pin(b, p), name);
    subtitle(ui, "Arrows and PageUp/PageDown move this pin set while it is selected.");
}

fn pull(app: &mut StudioApp, ui: &mut Ui, b: usize, p: usize) {
    let Some(mut pull) = app.document.scene().bodies.get(b).and_then(|body| body.pulls.get(p)).cloned()
    else {
        return;
    };
    let docs = Arc::clone(&app.docs);
    let mut form = Form::new(&docs, format!("pull {}", p + 1));
    pull_fields(&mut form, ui, &mut pull);
    app.apply_form(&form.changes, |scene| {
        if let Some(place) = scene.bodies.get_mut(b).and_then(|body| body.pulls.get_mut(p)) {
            *place = pull;
        }
    });
}

fn link(app: &mut StudioApp, ui: &mut Ui, k: usize) {
    let Some(mut link) = app.document.scene().links.get(k).cloned() else { return };
    let docs = Arc::clone(&app.docs);
    let mut form = Form::new(&docs, format!("'{}'", link.name));
    let name = form.name(ui, live("Name", "LinkSprings", "name", ""), &link.name);
    link_fields(&mut form, ui, &mut link, app.document.scene());
    app.apply_form(&form.changes, |scene| {
        if let Some(place) = scene.links.get_mut(k) {
            *place = link;
        }
    });
    rename(app, Object::Link(k), name);
}

fn collider(app: &mut StudioApp, ui: &mut Ui, c: usize) {
    let Some(mut collider) = app.document.scene().colliders.get(c).map(collider_for_form) else { return };
    let shown = app.shown.moment.items.iter().find(|item| item.kind == ItemKind::Collider(c));
    let triangles = shown.map(|item| item.mesh.triangles.len());
    let docs = Arc::clone(&app.docs);
    let mut form = Form::new(&docs, format!("'{}'", collider.name));
    let name = form.name(ui, live("Name", "Collider", "name", ""), &collider.name);
    collider_fields(&mut form, ui, &mut collider, triangles);
    if matches!(collider.shape, ColliderShape::Skin(_)) {
        section(ui, "Folds", collider.wrinkles.is_some(), |ui| {
            fold_fields(&mut form, ui, "Collider", &mut collider.wrinkles, None, false);
        });
    }
    let mut wish = None;
    section(ui, "Look", false, |ui| {
        wish = look_fields(&mut form, ui, &mut collider.look, app.looks.colliders.get(c), &app.styles, false);
    });
    app.apply_form(&form.changes, |scene| {
        if let Some(place) = scene.colliders.get_mut(c) {
            collider_from_form(collider, place);
        }
    });
    rename(app, Object::Collider(c), name);
    let shape = app.document.scene().colliders.get(c).map(|collider| &collider.shape);
    if let Some(ColliderShape::Skin(skin)) = shape
        && let Some(owner) =
            app.document.scene().characters.iter().position(|character| character.name == skin.character)
        && ui.button("To its character").on_hover_text("Clips, skinning, volume").clicked()
    {
        app.select(Object::Character(owner));
    }
    wish_for(app, wish, Object::Collider(c));
}
