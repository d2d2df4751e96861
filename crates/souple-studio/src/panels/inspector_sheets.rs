//! Fields of sheets of paper, and of the folds that are drawn on a body.

use std::sync::Arc;

use eframe::egui::Ui;
use souple::fabrics::FABRICS;
use souple::paper::Case;
use souple::scene::{
    Body, FoldPattern, FoldSide, FoldSpacing, Folding, Paper, PaperBorder, Shape, Wrinkling,
};

use super::fields::{Effect, Form, live, look};
use super::inspector::{rename, section, wish_for};
use super::inspector_look::look_fields;
use super::inspector_world::FAR;
use crate::app::StudioApp;
use crate::document::Object;

/// What is said of a sheet under its name.
pub fn paper_line(paper: &Paper) -> String {
    match (&paper.border, paper.size) {
        (PaperBorder::Case(name), _) => format!("border '{name}'"),
        (PaperBorder::Growing(growing), _) => format!("border '{}', growing", growing.case),
        (PaperBorder::Body(name), _) => format!("border of '{name}'"),
        (_, Some([width, height])) => format!("{:.0} × {:.0} mm", 1e3 * width, 1e3 * height),
        _ => format!("{} corners", paper.pattern.len()),
    }
}

/// All fields of a sheet.
pub fn show(app: &mut StudioApp, ui: &mut Ui, p: usize) {
    let Some(mut paper) = app.document.scene().papers.get(p).cloned() else { return };
    let docs = Arc::clone(&app.docs);
    let mut form = Form::new(&docs, format!("'{}'", paper.name));
    let name = form.name(ui, live("Name", "Paper", "name", ""), &paper.name);
    section(ui, "Sheet", true, |ui| sheet_fields(&mut form, ui, &mut paper));
    section(ui, "Folding", true, |ui| folding_fields(&mut form, ui, &mut paper.folding));
    let mut wish = None;
    section(ui, "Look", true, |ui| {
        wish = look_fields(&mut form, ui, &mut paper.look, app.looks.papers.get(p), &app.styles, true);
        creases_field(&mut form, ui, &mut paper.look);
    });
    app.apply_form(&form.changes, |scene| {
        if let Some(place) = scene.papers.get_mut(p) {
            *place = paper;
        }
    });
    rename(app, Object::Paper(p), name);
    wish_for(app, wish, Object::Paper(p));
}

fn sheet_fields(form: &mut Form, ui: &mut Ui, paper: &mut Paper) {
    if let Some(size) = &mut paper.size {
        form.pair(ui, live("Size", "Paper", "size", "m"), 1e-3..=FAR, size);
    }
    let is_known = matches!(paper.border, PaperBorder::Flat | PaperBorder::Case(_));
    if is_known && paper.handles.is_empty() && paper.pattern.is_empty() {
        let mut chosen = match &paper.border {
            PaperBorder::Case(name) => name.clone(),
            _ => "flat".to_owned(),
        };
        let choices: Vec<(String, &str)> = ["flat"]
            .into_iter()
            .chain(Case::ALL.map(Case::name))
            .map(|name| (name.to_owned(), name))
            .collect();
        if form.choice(ui, live("Border", "Paper", "border", ""), "PaperBorder", &choices, &mut chosen) {
            (paper.border, paper.size) = match chosen.as_str() {
                "flat" => (PaperBorder::Flat, Some([0.297, 0.21])),
                _ => (PaperBorder::Case(chosen), None),
            };
        }
    }
    if !matches!(paper.border, PaperBorder::Body(_)) {
        let place = &mut paper.placement;
        form.vector(ui, live("Move, m", "Placement", "translate", "m"), -FAR..=FAR, &mut place.translate);
        let turn = live("Turn, °", "Placement", "rotate_deg", "degrees about the axis");
        form.vector(ui, turn, -720.0..=720.0, &mut place.rotate_deg);
    }
    for (h, handle) in paper.handles.iter_mut().enumerate() {
        let at = match (handle.corner, handle.at) {
            (Some(corner), _) => format!("corner {corner}"),
            (None, Some(at)) => format!("at {at:.3}"),
            (None, None) => format!("handle {h}"),
        };
        ui.push_id(h, |ui| {
            let keys = handle.keys.len();
            for (k, key) in handle.keys.iter_mut().enumerate() {
                let when = if keys > 1 {
                    format!("Handle at {at}, {} s", key.time)
                } else {
                    format!("Handle at {at}")
                };
                ui.push_id(k, |ui| {
                    ui.weak(when);
                    form.vector(ui, live("Place, m", "HandleKey", "place", "m"), -FAR..=FAR, &mut key.place);
                });
            }
        });
    }
    ui.weak("Drag a corner or a handle of the sheet in the picture while it plays.");
}

fn folding_fields(form: &mut Form, ui: &mut Ui, folding: &mut Folding) {
    let step = live("Step", "Folding", "step", "m");
    form.optional(ui, step, 1e-4..=1.0, &mut folding.step, 0.01, "a 20th of a side");
    form.number(ui, live("Tolerance", "Folding", "tolerance", ""), 1e-6..=1.0, &mut folding.tolerance);
    form.number(ui, live("Taut", "Folding", "taut", ""), 0.0..=1.0, &mut folding.taut);
    let mut counts = [folding.chords, folding.restarts, folding.rounds].map(|count| count as u32);
    form.count(ui, live("Chords", "Folding", "chords", ""), 0..=64, &mut counts[0]);
    form.count(ui, live("Restarts", "Folding", "restarts", ""), 0..=100, &mut counts[1]);
    form.count(ui, live("Rounds", "Folding", "rounds", ""), 0..=1000, &mut counts[2]);
    [folding.chords, folding.restarts, folding.rounds] = counts.map(|count| count as usize);
    form.flag(ui, live("Least bad", "Folding", "least_bad", ""), &mut folding.least_bad);
    form.flag(ui, live("Repair", "Folding", "repair", ""), &mut folding.repair);
    let crease = live("Crease from", "Folding", "crease_deg", "°");
    form.number(ui, crease, 1.0..=180.0, &mut folding.crease_deg);
}

/// Whether creases and crests are drawn, too.
pub fn creases_field(form: &mut Form, ui: &mut Ui, look_of: &mut Option<souple::scene::Look>) {
    let mut edited = look_of.clone().unwrap_or_default();
    let before = edited.creases;
    form.flag(ui, look("Crease lines", "Look", "creases", ""), &mut edited.creases);
    if edited.creases != before {
        *look_of = (edited != Default::default()).then_some(edited);
    }
}

/// Folds on a body: whether there are any, their radius, and the rest.
pub fn wrinkle_fields(form: &mut Form, ui: &mut Ui, body: &mut Body) {
    let is_grid = matches!(body.shape, Shape::Grid(_));
    fold_fields(form, ui, "Body", &mut body.wrinkles, body.fabric.as_deref(), is_grid);
}

/// Folds on a body or on the skin of a character.
pub fn fold_fields(
    form: &mut Form,
    ui: &mut Ui,
    owner: &'static str,
    wrinkles: &mut Option<Wrinkling>,
    fabric: Option<&str>,
    is_grid: bool,
) {
    let of_fabric = fabric.and_then(|name| FABRICS.iter().find(|f| f.name == name));
    let usual = of_fabric.map_or(0.01, |fabric| fabric.fold_radius);
    let needs_radius = of_fabric.is_none();
    let first = || Wrinkling { smallest_radius: needs_radius.then_some(usual), ..Wrinkling::default() };
    let folds = live("Folds", owner, "wrinkles", "");
    form.part(ui, folds, wrinkles, first, |form, ui, folds| {
        let radius = live("Radius", "Wrinkling", "smallest_radius", "m");
        form.optional(ui, radius, 5e-4..=0.2, &mut folds.smallest_radius, usual, "that of the fabric");
        let mut preset = None;
        ui.horizontal_wrapped(|ui| {
            for fabric in FABRICS.iter() {
                let tip = format!("{} mm", 1e3 * fabric.fold_radius);
                if ui.small_button(fabric.name).on_hover_text(tip).clicked() {
                    preset = Some(fabric.fold_radius);
                }
            }
        });
        if preset.is_some() {
            folds.smallest_radius = preset;
            form.changed("radius of folds", Effect::Live);
        }
        let threshold = live("From compression", "Wrinkling", "threshold", "");
        form.slider(ui, threshold, 0.01..=0.35, 0.0, &mut folds.threshold);
        let sides = [(FoldSide::Out, "out"), (FoldSide::In, "in")];
        form.choice(ui, live("Side", "Wrinkling", "side", ""), "FoldSide", &sides, &mut folds.side);
        let spacings = [(FoldSpacing::Radius, "radius"), (FoldSpacing::Measured, "measured")];
        let spacing = live("Spacing", "Wrinkling", "spacing", "");
        form.choice(ui, spacing, "FoldSpacing", &spacings, &mut folds.spacing);
        if !is_grid {
            let patterns = [(FoldPattern::Rest, "rest"), (FoldPattern::Uv, "uv")];
            let pattern = live("Pattern", "Wrinkling", "pattern", "");
            form.choice(ui, pattern, "FoldPattern", &patterns, &mut folds.pattern);
        }
        let edge = live("Finest edge", "Wrinkling", "edge", "m");
        form.optional(ui, edge, 5e-4..=0.1, &mut folds.edge, 0.5 * usual, "half the radius");
    });
}
