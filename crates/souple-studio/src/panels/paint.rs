//! What is painted on characters: the bar of the brush, and the list of maps in the inspector.

use eframe::egui::{ComboBox, DragValue, Ui};

use super::fields::words_only;
use super::inspector_world::subtitle;
use crate::app::StudioApp;
use crate::keys::{Action, Held};
use crate::painting::Stroke;
use crate::tools::Tool;

/// The bar of the brush, under the tools.
pub fn bar(app: &mut StudioApp, ui: &mut Ui) {
    let Some(c) = app.painted_character() else {
        ui.weak("There is nothing to paint on: open or drop a character (.glb).");
        return;
    };
    ui.horizontal_wrapped(|ui| {
        map_choice(app, ui, c);
        ui.separator();
        for stroke in Stroke::ALL {
            ui.selectable_value(&mut app.hands.brush.stroke, stroke, stroke.name());
        }
        ui.separator();
        let brush = &mut app.hands.brush;
        let value = DragValue::new(&mut brush.value).range(0.0..=1.0).speed(0.01).prefix("value ");
        ui.add(value.fixed_decimals(2))
            .on_hover_text("What is painted, from 0 to 1")
            .accessible_name("Value");
        let radius = DragValue::new(&mut brush.radius).range(2.0..=400.0).prefix("radius ").suffix(" px");
        ui.add(radius.fixed_decimals(0)).on_hover_text("Of the brush, pixels").accessible_name("Radius");
        let strength = DragValue::new(&mut brush.strength).range(0.05..=1.0).speed(0.01).prefix("strength ");
        ui.add(strength.fixed_decimals(2))
            .on_hover_text("How much of the way one touch goes, from 0 to 1")
            .accessible_name("Strength");
        if ui.button("Fill").on_hover_text("All of the map gets this value").clicked() {
            app.fill_map(c);
        }
    });
}

/// Chooses the map that is painted, or begins one.
fn map_choice(app: &mut StudioApp, ui: &mut Ui, c: usize) {
    let names: Vec<String> =
        app.document.scene().characters[c].maps.iter().map(|map| map.name.clone()).collect();
    let chosen = &app.hands.brush.map;
    let shown = match (chosen.is_empty(), names.first()) {
        (true, Some(first)) => first.clone(),
        (true, None) => "new map".to_owned(),
        (false, _) => chosen.clone(),
    };
    let mut wish = None;
    let combo = ComboBox::from_id_salt("map").selected_text(shown.as_str()).width(110.0).show_ui(ui, |ui| {
        for name in &names {
            if ui.selectable_label(*name == shown, name).clicked() {
                wish = Some(Some(name.clone()));
            }
        }
        if ui.button("New map").clicked() {
            wish = Some(None);
        }
    });
    combo.response.on_hover_text("The map that is painted").accessible_name("Map");
    match wish {
        Some(Some(name)) => app.hands.brush.map = name,
        Some(None) => app.add_map(c),
        None => {}
    }
}

/// The maps of a character: to be painted, renamed, removed.
pub fn maps(app: &mut StudioApp, ui: &mut Ui, c: usize) {
    let Some(character) = app.document.scene().characters.get(c) else { return };
    let of = format!("'{}'", character.name);
    let maps: Vec<(String, f64)> = character
        .maps
        .iter()
        .map(|map| (map.name.clone(), map.values.iter().sum::<f64>() / map.values.len().max(1) as f64))
        .collect();
    if maps.is_empty() {
        subtitle(ui, "Numbers from 0 to 1 on the skin, by name. The tool Paint makes them.");
    }
    let docs = std::sync::Arc::clone(&app.docs);
    let mut form = super::fields::Form::new(&docs, of);
    let (mut painted, mut removed, mut renamed) = (None, None, None);
    for (k, (name, mean)) in maps.iter().enumerate() {
        ui.push_id(k, |ui| {
            if let Some(new) = form.name(ui, words_only("Map", "PaintedMap", "name"), name) {
                renamed = Some((k, new));
            }
            ui.horizontal(|ui| {
                if ui.button("Paint").on_hover_text("Takes the brush for this map").clicked() {
                    painted = Some(name.clone());
                }
                if ui.button("Remove map").clicked() {
                    removed = Some(k);
                }
                ui.weak(format!("mean {mean:.3}"));
            });
        });
    }
    if ui.button("New painted map").on_hover_text("Takes the brush; the first stroke makes it").clicked() {
        app.add_map(c);
        painted = Some(app.hands.brush.map.clone());
    }
    if let Some(name) = painted {
        app.perform(Action::Tool(Tool::Paint), Held::default());
        app.hands.brush.map = name;
    }
    if let Some(k) = removed {
        app.document.step(&format!("remove map '{}'", maps[k].0), |scene| {
            scene.characters[c].maps.remove(k);
        });
        app.build();
    }
    if let Some((k, new)) = renamed {
        let is_taken = new.is_empty() || maps.iter().any(|(name, _)| *name == new);
        if is_taken {
            app.messages.error("rename", format!("there is another map '{new}', or it has no name"));
            return;
        }
        if app.hands.brush.map == maps[k].0 {
            app.hands.brush.map.clone_from(&new);
        }
        app.document.step(&format!("rename map '{}'", maps[k].0), |scene| {
            let character = &mut scene.characters[c];
            let bulges = character.volume.iter_mut().flat_map(|volume| &mut volume.joints);
            for named in bulges.filter_map(|bulge| bulge.map.as_mut()).filter(|map| **map == maps[k].0) {
                named.clone_from(&new);
            }
            character.maps[k].name = new;
        });
        app.build();
    }
}
