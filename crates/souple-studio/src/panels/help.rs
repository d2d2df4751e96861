//! The window with keys and mouse, made from the table of keys, so that it is always right.

use eframe::egui::{self, Context, Grid, ScrollArea, Ui};

use crate::app::StudioApp;
use crate::keys::{HELD_HELP, bindings};
use crate::tools::Tool;

/// What the mouse does in every tool.
const MOUSE: [(&str, &str); 4] = [
    ("Drag", "Orbit (in the tool View)"),
    ("Middle drag", "Pan"),
    ("Wheel", "Zoom to the pointer"),
    ("Click", "Select the object"),
];

/// Shows the window when it is open.
pub fn show(app: &mut StudioApp, ctx: &Context) {
    if !app.layout.help {
        return;
    }
    let screen = ctx.content_rect();
    let size =
        egui::vec2((screen.width() - 60.0).clamp(200.0, 940.0), (screen.height() - 110.0).clamp(80.0, 560.0));
    let mut open = true;
    egui::Window::new("Keys and mouse")
        .open(&mut open)
        .collapsible(false)
        .resizable(false)
        .default_pos(screen.center() - 0.5 * size)
        .show(ctx, |ui| {
            ui.set_width(size.x);
            ScrollArea::vertical().max_height(size.y).auto_shrink([false, true]).show(ui, contents);
        });
    app.layout.help &= open;
}

fn contents(ui: &mut Ui) {
    ui.spacing_mut().interact_size.y = 15.0;
    ui.spacing_mut().item_spacing = egui::vec2(18.0, 3.0);
    let (first, second) = bindings().split_at(bindings().len().div_ceil(2));
    let width = ((ui.available_width() - 44.0) / 3.0).max(160.0);
    let column = |ui: &mut Ui, fill: &mut dyn FnMut(&mut Ui)| {
        ui.vertical(|ui| {
            ui.set_width(width);
            fill(ui);
        });
    };
    ui.horizontal_wrapped(|ui| {
        ui.with_layout(egui::Layout::left_to_right(egui::Align::TOP).with_main_wrap(true), |ui| {
            column(ui, &mut mouse_and_tools);
            for (title, part) in [("Keys", first), ("More keys", second)] {
                column(ui, &mut |ui| {
                    ui.strong(title);
                    table(ui, title, part.iter().map(|binding| (binding.chord.to_string(), binding.help)));
                });
            }
        });
    });
}

fn mouse_and_tools(ui: &mut Ui) {
    ui.strong("Mouse");
    table(ui, "mouse", MOUSE.into_iter().map(|(key, text)| (key.to_owned(), text)));
    ui.add_space(6.0);
    ui.strong("Tools");
    for tool in Tool::ALL {
        let line = format!("{}: {}", tool.name(), tool.help());
        ui.add(egui::Label::new(line).wrap());
    }
    ui.add_space(6.0);
    ui.strong("Held while supports are moved");
    table(ui, "held", HELD_HELP.into_iter().map(|(key, text)| (key.to_owned(), text)));
}

fn table(ui: &mut Ui, id: &str, lines: impl Iterator<Item = (String, &'static str)>) {
    Grid::new(id).num_columns(2).spacing([10.0, 2.0]).show(ui, |ui| {
        for (key, text) in lines {
            ui.monospace(key);
            ui.label(text);
            ui.end_row();
        }
    });
}
