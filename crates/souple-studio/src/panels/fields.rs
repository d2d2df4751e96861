//! Fields of the inspector: label, value with its unit, tooltip, and a mark on those that hold only after a restart.
//!
//! A [`Form`] shows fields and remembers what was changed, so that the caller makes one edit of it: which field (for
//! undo), whether the change is over (a drag that ended), and what it concerns. A value that is only looked at stays as it
//! is, also when it is outside of what the field offers or has more figures than are shown.

use std::ops::RangeInclusive;

use eframe::egui::{self, ComboBox, DragValue, Response, Slider, SliderClamping, Ui};

use super::docs::Docs;
use super::icons::{Icon, icon_label};
use super::theme::{LABEL_WIDTH, palette};

/// What became of a form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The field that changed, as undo calls it.
    pub field: Option<String>,
    /// A drag or a typed number came to its end.
    pub finished: bool,
    /// Something changed that moves, now or after a restart.
    pub moves: bool,
    /// Something changed that is seen in the picture alone.
    pub looks: bool,
    /// Why something that was typed was not taken over.
    pub problem: Option<String>,
}

/// When a change takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// At the next step.
    Live,
    /// When the scene starts again.
    Restart,
    /// In the picture alone.
    Look,
    /// In the file alone.
    Words,
}

/// What a field is: its name in the window, its type and name in scene files, when it takes effect.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Label, short.
    pub label: &'static str,
    /// Type it belongs to, for its text.
    pub owner: &'static str,
    /// Name in the type.
    pub name: &'static str,
    /// Unit after numbers; may be empty.
    pub unit: &'static str,
    /// When a change takes effect.
    pub effect: Effect,
}

/// A field that changes the running scene.
pub const fn live(label: &'static str, owner: &'static str, name: &'static str, unit: &'static str) -> Field {
    Field { label, owner, name, unit, effect: Effect::Live }
}

/// A field that needs a restart.
pub const fn restart(
    label: &'static str,
    owner: &'static str,
    name: &'static str,
    unit: &'static str,
) -> Field {
    Field { label, owner, name, unit, effect: Effect::Restart }
}

/// A field of the picture.
pub const fn look(label: &'static str, owner: &'static str, name: &'static str, unit: &'static str) -> Field {
    Field { label, owner, name, unit, effect: Effect::Look }
}

/// A field of text that nothing depends on.
pub const fn words_only(label: &'static str, owner: &'static str, name: &'static str) -> Field {
    Field { label, owner, name, unit: "", effect: Effect::Words }
}

/// Fields one below the other.
pub struct Form<'a> {
    docs: &'a Docs,
    /// What the fields belong to, for undo: "'cloth'".
    subject: String,
    /// What changed so far.
    pub changes: Changes,
}

impl<'a> Form<'a> {
    /// A form for the fields of something.
    pub fn new(docs: &'a Docs, subject: impl Into<String>) -> Form<'a> {
        Form { docs, subject: subject.into(), changes: Changes::default() }
    }

    /// Label, mark and tooltip, then the value.
    pub fn row<R>(&mut self, ui: &mut Ui, field: Field, value: impl FnOnce(&mut Ui) -> R) -> R {
        let text = self.docs.text(field.owner, field.name);
        let tip = match field.effect {
            Effect::Restart => format!("{text}\n\nTakes effect when the scene starts again."),
            _ => text.to_owned(),
        };
        labelled_row(ui, field.label, &tip, field.effect == Effect::Restart, value)
    }

    fn note(&mut self, field: Field, response: &Response) {
        self.note_change(field, response.changed());
        self.changes.finished |= response.drag_stopped() || response.lost_focus();
    }

    /// Notes a change that was made at once, by a click.
    fn note_click(&mut self, field: Field, changed: bool) {
        self.note_change(field, changed);
        self.changes.finished |= changed;
    }

    fn note_change(&mut self, field: Field, changed: bool) {
        if changed {
            self.note_effect(field.effect);
            self.changes.field = Some(format!("{} of {}", field.label.to_lowercase(), self.subject));
        }
    }

    fn note_effect(&mut self, effect: Effect) {
        self.changes.moves |= matches!(effect, Effect::Live | Effect::Restart);
        self.changes.looks |= effect == Effect::Look;
    }

    /// A number that is dragged or typed.
    pub fn number(&mut self, ui: &mut Ui, field: Field, range: RangeInclusive<f64>, value: &mut f64) {
        let response =
            self.row(ui, field, |ui| ui.add(drag(value, range, field.unit)).accessible_name(field.label));
        self.note(field, &response);
    }

    /// A number with a slider; the ends are those of the slider, more can be typed up to `most`.
    pub fn slider(
        &mut self,
        ui: &mut Ui,
        field: Field,
        range: RangeInclusive<f64>,
        most: f64,
        value: &mut f64,
    ) {
        let (least, most, before) = (*range.start(), most.max(*range.end()), *value);
        let response = self.row(ui, field, |ui| {
            let slider = Slider::new(value, range)
                .suffix(suffix(field.unit))
                .clamping(SliderClamping::Never)
                .custom_parser(typed(before))
                .update_while_editing(false);
            ui.add(slider.custom_formatter(|n, _| plain(n))).accessible_name(field.label)
        });
        if response.changed() {
            *value = value.clamp(least, most);
        }
        self.note(field, &response);
    }

    /// A number that may be left to something else: `otherwise` says what holds then, `first` what it begins with.
    pub fn optional(
        &mut self,
        ui: &mut Ui,
        field: Field,
        range: RangeInclusive<f64>,
        value: &mut Option<f64>,
        first: f64,
        otherwise: &str,
    ) {
        let mut clicked = false;
        let response = self.row(ui, field, |ui| {
            clicked = set_here(ui, value, first, otherwise);
            match value {
                Some(number) => Some(ui.add(drag(number, range, field.unit)).accessible_name(field.label)),
                None => {
                    ui.add(egui::Label::new(egui::RichText::new(otherwise).weak()).truncate());
                    None
                }
            }
        });
        self.note_click(field, clicked);
        if let Some(response) = response {
            self.note(field, &response);
        }
    }

    /// A whole number.
    pub fn count(&mut self, ui: &mut Ui, field: Field, range: RangeInclusive<u32>, value: &mut u32) {
        let response = self.row(ui, field, |ui| {
            ui.add(whole(value, range).suffix(suffix(field.unit))).accessible_name(field.label)
        });
        self.note(field, &response);
    }

    /// A whole number that may be left to something else.
    pub fn optional_count(
        &mut self,
        ui: &mut Ui,
        field: Field,
        range: RangeInclusive<u32>,
        value: &mut Option<u32>,
        first: u32,
        otherwise: &str,
    ) {
        let mut clicked = false;
        let response = self.row(ui, field, |ui| {
            clicked = set_here(ui, value, first, otherwise);
            match value {
                Some(number) => Some(ui.add(whole(number, range)).accessible_name(field.label)),
                None => {
                    ui.add(egui::Label::new(egui::RichText::new(otherwise).weak()).truncate());
                    None
                }
            }
        });
        self.note_click(field, clicked);
        if let Some(response) = response {
            self.note(field, &response);
        }
    }

    /// Three whole numbers.
    pub fn three_counts(
        &mut self,
        ui: &mut Ui,
        field: Field,
        range: RangeInclusive<u32>,
        value: &mut [u32; 3],
    ) {
        let responses = self.row(ui, field, |ui| {
            let [x, y, z] = value;
            [(x, "x"), (y, "y"), (z, "z")].map(|(part, axis)| {
                ui.add(whole(part, range.clone())).accessible_name(format!("{} {axis}", field.label))
            })
        });
        responses.iter().for_each(|response| self.note(field, response));
    }

    /// Two whole numbers.
    pub fn counts(&mut self, ui: &mut Ui, field: Field, range: RangeInclusive<u32>, value: &mut [u32; 2]) {
        let responses = self.row(ui, field, |ui| {
            let [u, v] = value;
            [(u, "u"), (v, "v")].map(|(part, side)| {
                let widget = whole(part, range.clone()).prefix(format!("{side} "));
                ui.add(widget).accessible_name(format!("{} {side}", field.label))
            })
        });
        responses.iter().for_each(|response| self.note(field, response));
    }

    /// Two numbers.
    pub fn pair(&mut self, ui: &mut Ui, field: Field, range: RangeInclusive<f64>, value: &mut [f64; 2]) {
        let responses = self.row(ui, field, |ui| {
            let [a, b] = value;
            [(a, 1), (b, 2)].map(|(part, number)| {
                ui.add(drag(part, range.clone(), field.unit))
                    .accessible_name(format!("{} {number}", field.label))
            })
        });
        responses.iter().for_each(|response| self.note(field, response));
    }

    /// A point or vector; its unit is part of the label.
    pub fn vector(&mut self, ui: &mut Ui, field: Field, range: RangeInclusive<f64>, value: &mut [f64; 3]) {
        let responses = self.row(ui, field, |ui| {
            ui.spacing_mut().item_spacing.x = 3.0;
            let width = ((ui.available_width() - 8.0) / 3.0).clamp(30.0, 64.0);
            let [x, y, z] = value;
            [(x, "x"), (y, "y"), (z, "z")].map(|(part, axis)| {
                let tip =
                    if field.unit.is_empty() { axis.to_owned() } else { format!("{axis}, {}", field.unit) };
                let widget = drag(part, range.clone(), "");
                ui.add_sized([width, ui.spacing().interact_size.y], widget)
                    .on_hover_text(tip)
                    .accessible_name(format!("{} {axis}", field.label))
            })
        });
        responses.iter().for_each(|response| self.note(field, response));
    }

    /// On or off.
    pub fn flag(&mut self, ui: &mut Ui, field: Field, value: &mut bool) {
        let clicked = self.row(ui, field, |ui| ui.checkbox(value, "").changed());
        self.note_click(field, clicked);
    }

    /// One of several; each with the text of its variant.
    pub fn choice<T: PartialEq + Clone>(
        &mut self,
        ui: &mut Ui,
        field: Field,
        kind: &str,
        choices: &[(T, &str)],
        value: &mut T,
    ) -> bool {
        let shown = choices.iter().find(|(choice, _)| choice == value).map_or("", |(_, name)| name);
        let docs = self.docs;
        let mut clicked = false;
        self.row(ui, field, |ui| {
            let width = ui.available_width().min(150.0);
            ComboBox::from_id_salt((field.owner, field.name))
                .selected_text(words(shown))
                .width(width)
                .show_ui(ui, |ui| {
                    for (choice, name) in choices {
                        let response = ui.selectable_label(choice == value, words(name));
                        if response.clicked() && choice != value {
                            *value = choice.clone();
                            clicked = true;
                        }
                        let text = docs.text(kind, name);
                        if !text.is_empty() {
                            response.on_hover_text(text);
                        }
                    }
                });
        });
        self.note_click(field, clicked);
        clicked
    }

    /// A name; takes effect when the person is done typing. Returns the new one then.
    pub fn name(&mut self, ui: &mut Ui, field: Field, value: &str) -> Option<String> {
        self.row(ui, field, |ui| {
            let id = ui.scope_id().with((field.owner, field.name, value));
            let mut text = ui.data(|data| data.get_temp::<String>(id)).unwrap_or_else(|| value.to_owned());
            let response = ui.add(egui::TextEdit::singleline(&mut text).desired_width(f32::INFINITY));
            if response.lost_focus() {
                ui.data_mut(|data| data.remove::<String>(id));
                let given_up = ui.input(|input| input.key_pressed(egui::Key::Escape));
                return (!given_up && text.trim() != value).then(|| text.trim().to_owned());
            }
            if response.changed() {
                ui.data_mut(|data| data.insert_temp(id, text));
            }
            None
        })
    }

    /// A text in several lines.
    pub fn text(&mut self, ui: &mut Ui, field: Field, value: &mut String) {
        let edit = egui::TextEdit::multiline(value).desired_rows(2).desired_width(f32::INFINITY);
        let response = self.row(ui, field, |ui| ui.add(edit));
        self.note(field, &response);
    }

    /// A colour that may be left to something else, sRGB from 0 to 1.
    pub fn colour(
        &mut self,
        ui: &mut Ui,
        field: Field,
        value: &mut Option<[f64; 3]>,
        shown: [f32; 3],
        otherwise: &str,
    ) {
        let mut clicked = false;
        let response = self.row(ui, field, |ui| {
            clicked = set_here(ui, value, shown.map(f64::from), otherwise);
            let mut bytes =
                value.map_or(shown, |c| c.map(|part| part as f32)).map(|part| (part * 255.0).round() as u8);
            match value {
                Some(colour) => {
                    let response = ui.color_edit_button_srgb(&mut bytes);
                    if response.changed() {
                        // Three digits are more than 8 bits need, and read well in scene files.
                        *colour = bytes.map(|part| (f64::from(part) / 255.0 * 1e3).round() / 1e3);
                    }
                    Some(response)
                }
                None => {
                    let (rect, _) = ui.allocate_exact_size(egui::vec2(22.0, 14.0), egui::Sense::hover());
                    ui.painter().rect_filled(
                        rect,
                        2.0,
                        egui::Color32::from_rgb(bytes[0], bytes[1], bytes[2]),
                    );
                    ui.weak(otherwise);
                    None
                }
            }
        });
        self.note_click(field, clicked);
        if let Some(response) = response {
            self.note(field, &response);
            // What is dragged in the window of colours says nothing of its end itself.
            self.changes.finished |= ui.input(|input| input.pointer.any_released());
        }
    }

    /// A part that can be there or not, with its own fields when it is.
    pub fn part<T>(
        &mut self,
        ui: &mut Ui,
        field: Field,
        value: &mut Option<T>,
        first: impl FnOnce() -> T,
        fields: impl FnOnce(&mut Self, &mut Ui, &mut T),
    ) {
        let clicked = self.row(ui, field, |ui| {
            let mut set = value.is_some();
            let label = if set { "on" } else { "off" };
            let clicked = ui.checkbox(&mut set, label).clicked();
            if clicked {
                *value = set.then(first);
            }
            clicked
        });
        self.note_click(field, clicked);
        if let Some(inside) = value {
            ui.indent((field.owner, field.name), |ui| fields(self, ui, inside));
        }
    }

    /// Notes that something was changed by other means than a field, as one step.
    pub fn changed(&mut self, what: &str, effect: Effect) {
        self.changes.field = Some(format!("{what} of {}", self.subject));
        self.note_effect(effect);
        self.changes.finished = true;
    }
}

/// A label with its tooltip, and perhaps the mark of a restart, and what stands beside it.
pub fn labelled_row<R>(
    ui: &mut Ui,
    name: &str,
    tip: &str,
    needs_restart: bool,
    value: impl FnOnce(&mut Ui) -> R,
) -> R {
    ui.horizontal(|ui| {
        let height = ui.spacing().interact_size.y;
        let width = LABEL_WIDTH.min(0.45 * ui.available_width()).max(20.0);
        let layout = egui::Layout::left_to_right(egui::Align::Center);
        ui.allocate_ui_with_layout(egui::vec2(width, height), layout, |ui| {
            ui.set_min_width(width);
            ui.spacing_mut().item_spacing.x = 3.0;
            let label = ui.add(egui::Label::new(name).truncate().sense(egui::Sense::hover()));
            if needs_restart {
                let colour = palette(ui.visuals().dark_mode).warning.gamma_multiply(0.8);
                let mark = icon_label(ui, Icon::Restart, colour);
                let name = format!("{name} needs a restart");
                mark.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &name));
                mark.on_hover_text("Takes effect when the scene starts again.");
            }
            if !tip.is_empty() {
                label.on_hover_text(tip);
            }
        });
        ui.name_inputs(name, value)
    })
    .inner
}

/// A box to tick when a value is set here and not left to something else; returns whether it was clicked.
fn set_here<T>(ui: &mut Ui, value: &mut Option<T>, first: T, otherwise: &str) -> bool {
    let mut set = value.is_some();
    let clicked =
        ui.checkbox(&mut set, "").on_hover_text(format!("Set here; otherwise: {otherwise}")).clicked();
    if clicked {
        *value = set.then_some(first);
    }
    clicked
}

/// A whole number that is dragged or typed.
fn whole(value: &mut u32, range: RangeInclusive<u32>) -> DragValue<'_> {
    let before = f64::from(*value);
    DragValue::new(value)
        .range(range)
        .clamp_existing_to_range(false)
        .custom_parser(typed(before))
        .speed(0.2)
        .update_while_editing(false)
}

/// Reads a number that was typed in place of another one; none when it cannot be read, and when it is the other one or
/// what is shown of it: who looks at a number does not round it.
pub fn typed(before: f64) -> impl Fn(&str) -> Option<f64> {
    move |text: &str| {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let number: f64 = text.replace('−', "-").parse().ok()?;
        (number != before && text != plain(before)).then_some(number)
    }
}

/// A number that is dragged, as fast as it is large, or typed.
fn drag<'a>(value: &'a mut f64, range: RangeInclusive<f64>, unit: &str) -> DragValue<'a> {
    let (speed, before) = (drag_speed(*value, &range), *value);
    DragValue::new(value)
        .range(range)
        .clamp_existing_to_range(false)
        .custom_parser(typed(before))
        // A running scene must not be given the first digit of a number that is being typed.
        .update_while_editing(false)
        .speed(speed)
        .custom_formatter(|n, _| plain(n))
        .suffix(suffix(unit))
}

/// Change per point of a drag: a hundredth of the value, or of a small part of the range near zero.
pub fn drag_speed(value: f64, range: &RangeInclusive<f64>) -> f64 {
    let span = (range.end() - range.start()).abs();
    let least = if span.is_finite() && span < 1e4 { span * 1e-4 } else { 1e-3 };
    (value.abs() * 0.01).max(least)
}

fn suffix(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" {unit}") }
}

/// A number as it is typed in scene files: six figures at most, a power of ten when it is very large or small.
pub fn plain(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e7).contains(&size) {
        let text = format!("{value:.4e}");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'));
    }
    let whole_digits = if size >= 1.0 { size.log10().floor() as i32 + 1 } else { 0 };
    let leading_zeros = if size > 0.0 && size < 1.0 { -size.log10().floor() as i32 - 1 } else { 0 };
    let decimals = (6 - whole_digits + leading_zeros).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A name of scene files as words: `implicit_euler_cg` → `implicit euler cg`.
pub fn words(name: &str) -> String {
    name.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_typed() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (0.15, "0.15"),
            (0.0021, "0.0021"),
            (0.000_4, "0.0004"),
            (250_000.0, "250000"),
            (-9.81, "-9.81"),
            (1.0 / 3.0, "0.333333"),
            (5e7, "5e7"),
            (1.25e-5, "1.25e-5"),
        ];
        for (value, text) in cases {
            assert_eq!(plain(value), text);
            assert!((plain(value).parse::<f64>().unwrap() - value).abs() <= 1e-5 * value.abs());
        }
    }

    #[test]
    fn a_number_that_was_not_typed_anew_is_not_rounded() {
        let third = typed(1.0 / 3.0);
        assert_eq!((third("0.333333"), third(" 0.333333 "), third("x")), (None, None, None));
        assert_eq!((third("0.33"), third("−2"), third("1 000")), (Some(0.33), Some(-2.0), Some(1000.0)));
        assert_eq!((typed(2e6)("2000000"), typed(2e6)("2000001")), (None, Some(2_000_001.0)));
    }

    #[test]
    fn what_changes_together_counts_together() {
        let docs = Docs::default();
        let mut form = Form::new(&docs, "'cloth'");
        form.note_click(live("Mass", "Body", "mass", "kg"), true);
        form.note_click(look("Colour", "Look", "colour", ""), true);
        assert!(form.changes.moves && form.changes.looks);
        let mut form = Form::new(&docs, "the scene");
        form.note_click(words_only("Description", "Scene", "description"), true);
        assert!(form.changes.field.is_some() && !form.changes.moves && !form.changes.looks);
    }

    #[test]
    fn drags_suit_the_size_of_the_number() {
        assert_eq!(drag_speed(2000.0, &(0.0..=1e9)), 20.0);
        assert_eq!(drag_speed(0.0, &(0.0..=1.0)), 1e-4);
        assert_eq!(drag_speed(0.0, &(0.0..=1e9)), 1e-3);
    }
}
