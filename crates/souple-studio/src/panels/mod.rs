//! The panels around the picture. Each is a function that draws a part of the [`StudioApp`] and says what was asked for.

use eframe::egui::{self, Ui};

use crate::app::StudioApp;

pub mod browser;
pub mod curve;
pub mod docs;
pub mod fields;
pub mod files;
pub mod help;
pub mod icons;
pub mod inspector;
pub mod inspector_body;
pub mod inspector_character;
pub mod inspector_look;
pub mod inspector_sheets;
pub mod inspector_solid;
pub mod inspector_world;
pub mod menu;
pub mod messages;
pub mod meters;
pub mod paint;
pub mod plots;
pub mod theme;
pub mod timeline;
pub mod tree;

/// Smallest window in which side panels are drawn, points.
const LEAST_FOR_SIDES: egui::Vec2 = egui::vec2(420.0, 240.0);

/// What the left panel shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeftTab {
    /// The library of scenes.
    #[default]
    Scenes,
    /// The tree of the scene.
    Tree,
}

/// Which panels are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The left panel.
    pub left: bool,
    /// What it shows.
    pub tab: LeftTab,
    /// The inspector.
    pub right: bool,
    /// The meters.
    pub meters: bool,
    /// The window with keys.
    pub help: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Layout { left: true, tab: LeftTab::Scenes, right: true, meters: true, help: false }
    }
}

/// The panel on the left: library or tree.
pub fn left(app: &mut StudioApp, ui: &mut Ui) {
    if !app.layout.left || !has_room(ui) {
        return;
    }
    let most = (0.34 * ui.available_width()).max(180.0);
    egui::Panel::left("left").default_size(216.0_f32.min(most)).size_range(180.0..=most).show(ui, |ui| {
        ui.add_space(2.0);
        ui.horizontal(|ui| {
            ui.selectable_value(&mut app.layout.tab, LeftTab::Scenes, "Scenes")
                .on_hover_text("Scenes of the library; a click opens one");
            ui.selectable_value(&mut app.layout.tab, LeftTab::Tree, "Tree")
                .on_hover_text("What the scene is made of; a click selects");
        });
        ui.separator();
        match app.layout.tab {
            LeftTab::Scenes => browser::show(app, ui),
            LeftTab::Tree => tree::show(app, ui),
        }
    });
}

/// The panel on the right: the inspector.
pub fn right(app: &mut StudioApp, ui: &mut Ui) {
    if !app.layout.right || !has_room(ui) {
        return;
    }
    let most = (0.5 * ui.available_width()).max(200.0);
    egui::Panel::right("right").default_size(300.0_f32.min(most)).size_range(200.0..=most).show(ui, |ui| {
        inspector::show(app, ui);
    });
}

/// Timeline and meters below everything.
pub fn bottom(app: &mut StudioApp, ui: &mut Ui) {
    if ui.available_height() < 90.0 {
        return;
    }
    if app.layout.meters && ui.available_height() > 320.0 {
        let most = 0.45 * ui.available_height();
        egui::Panel::bottom("meters").resizable(true).default_size(136.0).size_range(90.0..=most).show(
            ui,
            |ui| {
                meters::show(app, ui);
            },
        );
    }
    egui::Panel::bottom("timeline").show(ui, |ui| timeline::show(app, ui));
}

fn has_room(ui: &Ui) -> bool {
    let size = ui.available_size();
    size.x > LEAST_FOR_SIDES.x && size.y > LEAST_FOR_SIDES.y
}
