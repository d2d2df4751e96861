//! One look for all panels: sizes, spacing and colours, in a dark and a light version.
//!
//! Numbers are set in a font whose figures are all as wide, so that values which run do not make the text jump.

use std::sync::Arc;

use eframe::egui::{
    self, Color32, Context, CornerRadius, FontData, FontDefinitions, FontFamily, FontId, Stroke,
    SurrenderFocusOn, TextStyle, Theme,
};

/// Space between groups of widgets, points.
pub const GAP: f32 = 8.0;
/// Width of the column of labels in forms, points.
pub const LABEL_WIDTH: f32 = 112.0;

/// Colours that have a meaning, besides those of egui's own visuals.
#[derive(Clone, Copy, Debug)]
pub struct Palette {
    /// What is selected, what the pointer can do.
    pub accent: Color32,
    /// All is well.
    pub good: Color32,
    /// Look here: something must be done before it holds.
    pub warning: Color32,
    /// Something failed.
    pub error: Color32,
    /// A recording is being made.
    pub record: Color32,
    /// Lines and captions of plots.
    pub grid: Color32,
}

/// The colours for the theme that is shown.
pub fn palette(dark: bool) -> Palette {
    if dark {
        Palette {
            accent: Color32::from_rgb(102, 170, 255),
            good: Color32::from_rgb(120, 200, 140),
            warning: Color32::from_rgb(240, 185, 80),
            error: Color32::from_rgb(245, 115, 105),
            record: Color32::from_rgb(235, 80, 80),
            grid: Color32::from_gray(70),
        }
    } else {
        Palette {
            accent: Color32::from_rgb(20, 95, 190),
            good: Color32::from_rgb(30, 125, 60),
            warning: Color32::from_rgb(165, 100, 0),
            error: Color32::from_rgb(185, 35, 30),
            record: Color32::from_rgb(200, 30, 30),
            grid: Color32::from_gray(195),
        }
    }
}

/// Colours of curves and areas, in order: told apart by people who see few colours, too (after Okabe and Ito).
pub const SERIES: [Color32; 8] = [
    Color32::from_rgb(86, 180, 233),
    Color32::from_rgb(230, 159, 0),
    Color32::from_rgb(0, 158, 115),
    Color32::from_rgb(204, 121, 167),
    Color32::from_rgb(213, 94, 0),
    Color32::from_rgb(240, 228, 66),
    Color32::from_rgb(0, 114, 178),
    Color32::from_rgb(150, 150, 150),
];

/// Sets fonts and both themes; which one is shown follows the system.
pub fn install(ctx: &Context) {
    install_fonts(ctx);
    // What was typed is done when something else is pressed, so that it is taken over before that acts.
    ctx.options_mut(|options| options.input_options.surrender_focus_on = SurrenderFocusOn::Presses);
    ctx.all_styles_mut(|style| {
        let sizes = [
            (TextStyle::Small, 10.5, FontFamily::Proportional),
            (TextStyle::Body, 13.0, FontFamily::Proportional),
            (TextStyle::Button, 13.0, FontFamily::Proportional),
            (TextStyle::Heading, 15.0, FontFamily::Proportional),
            (TextStyle::Monospace, 12.0, FontFamily::Monospace),
        ];
        style.text_styles =
            sizes.into_iter().map(|(name, size, family)| (name, FontId::new(size, family))).collect();
        style.spacing.item_spacing = egui::vec2(6.0, 4.0);
        style.spacing.button_padding = egui::vec2(6.0, 2.0);
        style.spacing.interact_size = egui::vec2(36.0, 20.0);
        style.spacing.slider_width = 84.0;
        style.spacing.combo_width = 90.0;
        style.spacing.tooltip_width = 340.0;
        style.spacing.indent = 14.0;
        style.spacing.scroll.floating = true;
        // Labels are captions here, not text to be copied: dragging over them must not start a selection.
        style.interaction.selectable_labels = false;
        style.interaction.tooltip_delay = 0.4;
        style.visuals.window_corner_radius = CornerRadius::same(6);
        style.visuals.menu_corner_radius = CornerRadius::same(4);
        style.visuals.slider_trailing_fill = true;
        style.visuals.striped = false;
    });
    ctx.style_mut_of(Theme::Dark, |style| {
        let visuals = &mut style.visuals;
        visuals.panel_fill = Color32::from_rgb(32, 34, 38);
        visuals.window_fill = Color32::from_rgb(38, 40, 45);
        visuals.extreme_bg_color = Color32::from_rgb(22, 23, 26);
        visuals.faint_bg_color = Color32::from_rgb(37, 39, 44);
        visuals.window_stroke = Stroke::new(1.0, Color32::from_rgb(62, 66, 74));
        visuals.widgets.noninteractive.fg_stroke.color = Color32::from_rgb(200, 203, 208);
        visuals.widgets.noninteractive.bg_stroke.color = Color32::from_rgb(52, 55, 61);
        visuals.widgets.inactive.weak_bg_fill = Color32::from_rgb(52, 55, 62);
        visuals.widgets.inactive.bg_fill = Color32::from_rgb(58, 61, 68);
        visuals.widgets.inactive.fg_stroke.color = Color32::from_rgb(214, 217, 222);
        visuals.selection.bg_fill = Color32::from_rgb(38, 84, 138);
        visuals.selection.stroke.color = Color32::from_rgb(226, 238, 252);
        visuals.hyperlink_color = palette(true).accent;
        visuals.warn_fg_color = palette(true).warning;
        visuals.error_fg_color = palette(true).error;
    });
    ctx.style_mut_of(Theme::Light, |style| {
        let visuals = &mut style.visuals;
        visuals.panel_fill = Color32::from_rgb(243, 244, 246);
        visuals.faint_bg_color = Color32::from_rgb(235, 237, 240);
        visuals.widgets.noninteractive.fg_stroke.color = Color32::from_rgb(48, 51, 56);
        visuals.widgets.inactive.fg_stroke.color = Color32::from_rgb(40, 43, 48);
        visuals.hyperlink_color = palette(false).accent;
        visuals.warn_fg_color = palette(false).warning;
        visuals.error_fg_color = palette(false).error;
    });
}

/// Lets text use the arrows and marks that only the monospaced font has.
fn install_fonts(ctx: &Context) {
    let mut fonts = FontDefinitions::default();
    if let Some(data) = fonts.font_data.get("Hack") {
        let data: Arc<FontData> = Arc::clone(data);
        fonts.font_data.insert("marks".into(), data);
        if let Some(family) = fonts.families.get_mut(&FontFamily::Proportional) {
            family.push("marks".into());
        }
    }
    ctx.set_fonts(fonts);
}

/// A number in few characters, for labels: four significant figures, powers of ten where they are shorter.
pub fn short(value: f64) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    let size = value.abs();
    if size == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{value:.2e}").replace('-', "−");
    }
    let decimals = (3.0 - size.log10().floor()).clamp(0.0, 6.0) as usize;
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "−2.5"),
            (0.016_666_7, "0.01667"),
            (1234.56, "1235"),
            (987_654.0, "987654"),
            (2.0e6, "2.00e6"),
            (1.5e-7, "1.50e−7"),
            (100.0, "100"),
            (f64::NAN, "–"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }
}
