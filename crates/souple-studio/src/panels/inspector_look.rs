//! Fields of a look: style, colours, image, numbers of the style, range of its colour map.

use eframe::egui::{self, ComboBox, Slider, SliderClamping, Ui};
use souple::scene::{Look, Style};
use souple_viewer::ItemLook;
use souple_viewer::looks::{srgb, style_name};
use souple_viewer::style::StyleSheet;

use super::fields::{Effect, Form, labelled_row, look, plain, typed, words};

/// What the person wants that a form cannot do itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookWish {
    /// Choose an image file.
    Texture,
    /// Choose a shader file.
    Shader,
}

/// The built-in styles in the order of menus.
pub const STYLES: [Style; 24] = [
    Style::Standard,
    Style::Phong,
    Style::Velvet,
    Style::Satin,
    Style::Chrome,
    Style::CubeMap,
    Style::Bump,
    Style::Toon,
    Style::Silhouette,
    Style::Glass,
    Style::Wireframe,
    Style::Normal,
    Style::Texture,
    Style::Checker,
    Style::Strain,
    Style::Stress,
    Style::Velocity,
    Style::Curvature,
    Style::Contact,
    Style::Crossing,
    Style::Gain,
    Style::Painted,
    Style::Compression,
    Style::Isometry,
];

/// Fields of a look. `shown` is how the thing is drawn now.
pub fn look_fields(
    form: &mut Form,
    ui: &mut Ui,
    look_of: &mut Option<Look>,
    shown: Option<&ItemLook>,
    styles: &StyleSheet,
    has_back: bool,
) -> Option<LookWish> {
    let mut wish = None;
    let mut edited = look_of.clone().unwrap_or_default();
    style_field(form, ui, &mut edited, styles, &mut wish);
    let front = shown.map_or([0.6; 3], |s| srgb(s.colour));
    form.colour(ui, look("Colour", "Look", "colour", ""), &mut edited.colour, front, "one of a series");
    if has_back {
        let back = shown.map_or([0.4; 3], |s| srgb(s.back_colour));
        form.colour(
            ui,
            look("Other side", "Look", "back_colour", ""),
            &mut edited.back_colour,
            back,
            "darker",
        );
    }
    image_field(form, ui, &mut edited, &mut wish);
    let name = style_name(&edited.style);
    if let Ok(style) = styles.get(&name) {
        for parameter in &style.parameters {
            parameter_field(form, ui, &mut edited, parameter);
        }
        if style.quantity.is_some() {
            range_field(form, ui, &mut edited, shown, style.quantity.map_or(("", 1.0), |q| q.unit()));
        }
    }
    if form.changes.field.is_some() && look_of.as_ref() != Some(&edited) {
        *look_of = (edited != Look::default()).then_some(edited);
    }
    wish
}

/// Whether the elements of a solid are drawn, too.
pub fn cells_field(form: &mut Form, ui: &mut Ui, look_of: &mut Option<Look>) {
    let mut edited = look_of.clone().unwrap_or_default();
    let before = edited.cells;
    form.flag(ui, look("Elements", "Look", "cells", ""), &mut edited.cells);
    if edited.cells != before {
        *look_of = (edited != Look::default()).then_some(edited);
    }
}

fn style_field(
    form: &mut Form,
    ui: &mut Ui,
    edited: &mut Look,
    styles: &StyleSheet,
    wish: &mut Option<LookWish>,
) {
    let mut chosen: Option<Style> = None;
    form.row(ui, look("Style", "Look", "style", ""), |ui| {
        let shown = words(&style_name(&edited.style));
        let width = ui.available_width().min(150.0);
        ComboBox::from_id_salt("style").selected_text(shown).width(width).height(420.0).truncate().show_ui(
            ui,
            |ui| {
                for style in &STYLES {
                    let name = style_name(style);
                    let response = ui.selectable_label(edited.style == *style, words(&name));
                    if response.clicked() {
                        chosen = Some(style.clone());
                    }
                    if let Ok(source) = styles.get(&name) {
                        response.on_hover_text(source.about.as_str());
                    }
                }
                ui.separator();
                if ui
                    .button("Shader of your own…")
                    .on_hover_text("A WGSL file; it is read again when it changes.")
                    .clicked()
                {
                    *wish = Some(LookWish::Shader);
                }
            },
        );
    });
    if let Some(style) = chosen.filter(|style| *style != edited.style) {
        // Numbers and ranges belong to the style that was.
        edited.style = style;
        edited.parameters.clear();
        edited.range = None;
        form.changed("style", Effect::Look);
    }
}

fn image_field(form: &mut Form, ui: &mut Ui, edited: &mut Look, wish: &mut Option<LookWish>) {
    let mut removed = false;
    form.row(ui, look("Image", "Look", "texture", ""), |ui| {
        if ui.button("Choose…").clicked() {
            *wish = Some(LookWish::Texture);
        }
        match &edited.texture {
            Some(path) => {
                removed = ui.button("Remove").clicked();
                ui.add(egui::Label::new(path.as_str()).truncate()).on_hover_text(path.as_str());
            }
            None => {
                ui.weak("none");
            }
        }
    });
    if removed {
        edited.texture = None;
        form.changed("image", Effect::Look);
    }
}

fn parameter_field(
    form: &mut Form,
    ui: &mut Ui,
    edited: &mut Look,
    parameter: &souple_viewer::style::Parameter,
) {
    let (least, most, default) =
        (f64::from(parameter.min), f64::from(parameter.max), f64::from(parameter.default));
    let mut value = edited.parameters.get(&parameter.name).copied().unwrap_or(default);
    let (mut changed, mut over) = (false, false);
    let label = words(&parameter.name);
    labelled_row(ui, &label, &parameter.about, false, |ui| {
        let before = value;
        let slider = Slider::new(&mut value, least..=most)
            .clamping(SliderClamping::Edits)
            .custom_parser(typed(before))
            .custom_formatter(|n, _| plain(n));
        let response =
            ui.add(slider).on_hover_text(format!("{}\nUsually {}.", parameter.about, plain(default)));
        changed = response.changed();
        over = response.drag_stopped() || response.lost_focus();
    });
    if changed {
        // Four digits read well in scene files; a slider cannot be set more finely anyway.
        let rounded = (value * 1e4).round() / 1e4;
        edited.parameters.insert(parameter.name.clone(), rounded.clamp(least, most));
        form.changed(&label, Effect::Look);
        form.changes.finished = false;
    }
    form.changes.finished |= over;
}

fn range_field(
    form: &mut Form,
    ui: &mut Ui,
    edited: &mut Look,
    shown: Option<&ItemLook>,
    (unit, factor): (&'static str, f32),
) {
    let field = look("Colour range", "Look", "range", unit);
    let factor = f64::from(factor);
    let fitted = shown.and_then(|s| s.range).map_or([0.0, 1.0], |range| range.map(f64::from));
    let mut set = edited.range.is_some();
    let mut clicked = false;
    form.row(ui, field, |ui| {
        clicked =
            ui.checkbox(&mut set, "").on_hover_text("Set here; otherwise fitted to what is shown").clicked();
        if edited.range.is_none() {
            ui.weak(format!("fitted: {} to {} {unit}", plain(fitted[0] * factor), plain(fitted[1] * factor)));
        }
    });
    if clicked {
        edited.range = set.then_some(fitted);
        form.changed("colour range", Effect::Look);
    }
    if let Some(range) = &mut edited.range {
        let shown = range.map(|end| end * factor);
        let mut ends = shown;
        form.pair(ui, look("from – to", "Look", "range", unit), -1e9..=1e9, &mut ends);
        if ends != shown {
            *range = ends.map(|end| end / factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_styles_is_that_of_the_viewer() {
        let names: Vec<String> = STYLES.iter().map(|style| style_name(style).to_string()).collect();
        let known: Vec<&str> = StyleSheet::built_in_names().collect();
        assert_eq!(names, known);
    }
}
