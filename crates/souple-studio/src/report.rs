//! The state of the window as JSON, for tests that press real keys and buttons: written to a file whenever it changes.
//!
//! Besides what runs, it says where things are on the screen, in pixels from the top left corner of the window: the
//! picture, some vertices, and every widget that has a name.

use std::fs;
use std::path::PathBuf;

use eframe::egui::{self, Rect};
use glam::Vec2;
use serde_json::{Map, Value, json};
use souple::scene::{Character, PaintedMap};
use souple_viewer::{Item, ItemKind};

use crate::app::StudioApp;
use crate::characters::CharacterInfo;
use crate::worker::AtEnd;

/// Vertices of a body whose place on the screen is told.
const VERTICES: usize = 400;

/// Writes the state to a file.
#[derive(Debug)]
pub struct Reporter {
    path: PathBuf,
    last: String,
}

impl Reporter {
    /// Writes to that file.
    pub fn new(path: PathBuf, ctx: &egui::Context) -> Reporter {
        ctx.add_plugin(Places::default());
        Reporter { path, last: String::new() }
    }

    /// Writes the state when it is another than the last time.
    pub fn write(&mut self, app: &StudioApp, ctx: &egui::Context) {
        let text = state(app, ctx).to_string();
        if text != self.last {
            // Renamed when it is whole, so that nobody reads half of it; but not flushed to the disk, which would hold up
            // every frame. A test that waits for the file finds out by itself when it never comes.
            let new = self.path.with_extension("new");
            if fs::write(&new, &text).and_then(|()| fs::rename(&new, &self.path)).is_ok() {
                self.last = text;
            }
        }
    }
}

/// Everything a test may want to know.
pub fn state(app: &StudioApp, ctx: &egui::Context) -> Value {
    let scale = ctx.pixels_per_point();
    let moment = app.moment();
    let size = app.viewport.size_pixels();
    let bodies: Vec<Value> = moment
        .items
        .iter()
        .filter_map(|item| {
            let ItemKind::Body(b) = item.kind else { return None };
            let info = app.shown.bodies.get(b);
            let every = item.positions.len().div_ceil(VERTICES).max(1);
            let vertices: Vec<Value> = item
                .positions
                .iter()
                .enumerate()
                .step_by(every)
                .map(|(v, p)| json!({"vertex": v, "at": p.to_array(), "pixel": pixel(app, *p, size, scale)}))
                .collect();
            let pinned: Vec<u32> =
                app.shown.pinned.get(b).into_iter().flatten().map(|pin| pin.vertex).collect();
            Some(json!({
                "name": &*item.name,
                "count": item.positions.len(),
                "tears": info.map_or(0, |info| info.tears),
                "frozen": info.is_some_and(|info| info.frozen),
                "pinned": pinned,
                "vertices": vertices,
            }))
        })
        .collect();
    let messages: Vec<Value> = app
        .messages
        .iter()
        .map(|m| json!({"key": m.key, "text": m.text, "severity": format!("{:?}", m.severity)}))
        .collect();
    let stiffness: Vec<Value> = app
        .shown
        .scene
        .iter()
        .flat_map(|scene| &scene.bodies)
        .map(|body| json!(body.springs.stretch.stiffness))
        .collect();
    let mean = |map: &PaintedMap| map.values.iter().sum::<f64>() / map.values.len().max(1) as f64;
    let map = |map: &PaintedMap| json!({"name": map.name, "mean": mean(map)});
    let character = |c: &Character| {
        let maps: Vec<Value> = c.maps.iter().map(map).collect();
        json!({"name": c.name, "skinning": format!("{:?}", c.skinning), "keeps_volume": c.volume.is_some(), "maps": maps})
    };
    // The vertex of a skin that is nearest to the eye: it is surely seen.
    let nearest = |item: &Item| {
        let places = item.positions.iter().map(|p| item.transform.transform_point3(*p));
        let distance = |p: &glam::Vec3| p.distance_squared(app.camera.eye());
        let place = places.min_by(|a, b| distance(a).total_cmp(&distance(b)));
        place.map_or(Value::Null, |place| pixel(app, place, size, scale))
    };
    // Where joints are, and how many bones hands have posed.
    let bones = |info: &CharacterInfo| {
        let joint = |at: &glam::Vec3| json!({"at": at.to_array(), "pixel": pixel(app, *at, size, scale)});
        json!({"joints": info.joints.iter().map(joint).collect::<Vec<_>>(), "posed": info.posed.len()})
    };
    let running = app.shown.scene.iter().flat_map(|scene| &scene.characters).map(character);
    json!({
        "characters": app.document.scene().characters.iter().map(character).collect::<Vec<_>>(),
        "running_characters": running.collect::<Vec<_>>(),
        "bones": app.shown.characters.iter().map(bones).collect::<Vec<_>>(),
        "skins": moment.items.iter().filter(|item| item.skin().is_some()).map(nearest).collect::<Vec<_>>(),
        "title": app.document.title(),
        "dirty": app.document.is_dirty(),
        "revision": app.document.revision(),
        "running_revision": app.shown.revision,
        "step": app.shown.moment.step,
        "shown_step": moment.step,
        "run": app.shown.run,
        "playing": app.shown.playing,
        "loop": app.shown.at_end_rule == AtEnd::Loop,
        "recording": app.shown.recording,
        "replaying": app.shown.replaying,
        "showing": format!("{:?}", app.showing),
        "grabs": app.shown.grabs.len(),
        "running_stretch_stiffness": stiffness,
        "style": app.style_override.as_deref(),
        "tool": app.hands.tool().name(),
        "selected": format!("{:?}", app.selected),
        "selection": app.hands.selection.iter().map(|(b, v)| json!({"body": b, "vertices": v})).collect::<Vec<_>>(),
        "camera": {"yaw": app.camera.yaw, "pitch": app.camera.pitch, "distance": app.camera.distance, "target": app.camera.target.to_array()},
        "picture": app.viewport.rect.map(|rect| pixels(rect, scale)),
        "pictures_drawn": app.viewport.drawn,
        "frames": ctx.cumulative_frame_nr(),
        "typing": ctx.text_edit_focused(),
        "dialog": app.dialog.as_ref().map(|dialog| format!("{:?}", dialog.purpose)),
        "question": app.question.as_ref().map(|question| format!("{question:?}")),
        "exports": app.exports.progress().count(),
        "messages": messages,
        "bodies": bodies,
        "places": places(ctx, scale),
    })
}

fn pixel(app: &StudioApp, at: glam::Vec3, size: Vec2, scale: f32) -> Value {
    match app.camera.pixel(at, size) {
        Some(pixel) => {
            let point = app.viewport.point(pixel);
            json!([(point.x * scale).round(), (point.y * scale).round()])
        }
        None => Value::Null,
    }
}

fn pixels(rect: Rect, scale: f32) -> Value {
    let corners = [rect.left(), rect.top(), rect.right(), rect.bottom()];
    json!(corners.map(|side| (side * scale).round()))
}

/// Where every widget with a name was in the last frame: what screen readers are told.
#[derive(Default)]
pub struct Places {
    found: Vec<(String, Rect)>,
}

impl egui::Plugin for Places {
    fn debug_name(&self) -> &'static str {
        "places of widgets"
    }

    fn setup(&mut self, ctx: &egui::Context) {
        ctx.enable_accesskit();
    }

    fn output_hook(&mut self, _ctx: &egui::Context, output: &mut egui::FullOutput) {
        let Some(update) = &output.platform_output.accesskit_update else { return };
        let named = update.nodes.iter().filter_map(|(_, node)| {
            let (label, bounds) = (node.label()?, node.bounds()?);
            let corners = [bounds.x0, bounds.y0, bounds.x1, bounds.y1].map(|side| side as f32);
            let rect =
                Rect::from_min_max(egui::pos2(corners[0], corners[1]), egui::pos2(corners[2], corners[3]));
            Some((format!("{:?} {label}", node.role()), rect))
        });
        self.found = named.collect();
    }
}

fn places(ctx: &egui::Context, scale: f32) -> Value {
    let mut map = Map::new();
    if let Some(places) = ctx.plugin_opt::<Places>() {
        for (name, rect) in &places.lock().found {
            map.insert(name.clone(), pixels(*rect, scale));
        }
    }
    Value::Object(map)
}
