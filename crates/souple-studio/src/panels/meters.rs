//! Meters: rates, times per stage, energies, stretch, warnings.

use eframe::egui::{self, Grid, ScrollArea, Ui, vec2};
use souple::Stage;

use super::fields::words;
use super::plots::{Kind, Series, plot};
use super::theme::{SERIES, palette, short};
use crate::app::StudioApp;
use crate::history::Sample;

/// Steps that plots go back.
const STEPS: usize = 600;

/// Draws the meters, as many as there is room for.
pub fn show(app: &StudioApp, ui: &mut Ui) {
    let samples: Vec<Sample> = {
        let history = app.worker.history();
        let samples = history.samples();
        samples[samples.len().saturating_sub(STEPS)..].to_vec()
    };
    let height = ui.available_height();
    let total = ui.available_width();
    let (numbers, warnings) = (196.0_f32.min(0.3 * total), (0.22 * total).clamp(120.0, 320.0));
    let spacing = 6.0;
    let plots = total - numbers - warnings - 4.0 * spacing;
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = spacing;
        ui.allocate_ui(vec2(numbers, height), |ui| {
            ui.set_width(numbers);
            rates(app, ui, samples.last());
        });
        let width = ((plots - 2.0 * spacing) / 3.0).max(60.0);
        let size = vec2(width, height);
        plot(ui, size, Kind::Stacked, "Step", "ms", &stage_series(&samples));
        plot(ui, size, Kind::Curves, "Energy", "J", &energy_series(&samples));
        plot(ui, size, Kind::Curves, "Stretch", "%", &stretch_series(&samples));
        ui.allocate_ui(vec2(warnings, height), |ui| {
            ui.set_width(warnings);
            warning_list(app, ui);
        });
    });
}

/// Times of the stages, the longest one lowest.
pub fn stage_series(samples: &[Sample]) -> Vec<Series> {
    let mut order: Vec<usize> = (0..Stage::ALL.len()).collect();
    let sum = |k: usize| samples.iter().map(|s| s.stage_ms[k]).sum::<f64>();
    order.sort_by(|&a, &b| sum(b).total_cmp(&sum(a)));
    let series = order.into_iter().map(|k| Series {
        name: words(Stage::ALL[k].name()),
        colour: SERIES[k % SERIES.len()],
        values: samples.iter().map(|s| s.stage_ms[k]).collect(),
    });
    series.collect()
}

fn series(name: &'static str, colour: usize, samples: &[Sample], value: fn(&Sample) -> f64) -> Series {
    Series { name: name.to_owned(), colour: SERIES[colour], values: samples.iter().map(value).collect() }
}

/// Kinetic and elastic energy; the energy of weight is measured from the start of the plot, as only its changes matter.
pub fn energy_series(samples: &[Sample]) -> Vec<Series> {
    let start = samples.first().map_or(0.0, |s| s.potential_energy);
    let mut weight = series("weight", 2, samples, |s| s.potential_energy);
    weight.values.iter_mut().for_each(|value| *value -= start);
    vec![
        series("kinetic", 0, samples, |s| s.kinetic_energy),
        series("elastic", 1, samples, |s| s.elastic_energy),
        weight,
    ]
}

/// Mean and largest stretch of edges.
pub fn stretch_series(samples: &[Sample]) -> Vec<Series> {
    vec![
        series("mean", 2, samples, |s| s.stretch_mean_percent),
        series("largest", 4, samples, |s| s.stretch_max_percent),
    ]
}

fn rates(app: &StudioApp, ui: &mut Ui, last: Option<&Sample>) {
    let shown = &app.shown;
    let rate = app.frame_rate();
    let vertices: usize = shown.bodies.iter().map(|body| body.vertices).sum();
    let memory = app.worker.history().bytes();
    let rows: [(&str, String, &str); 7] = [
        ("Window", format!("{rate:.0} 1/s"), "Frames of the window per second, while it is drawn"),
        ("Simulation", format!("{:.0} 1/s", shown.steps_per_second), "Steps per second of real time"),
        ("One step", format!("{} ms", short(shown.step_ms)), "Time of the last step"),
        ("Vertices", vertices.to_string(), "Particles of all bodies"),
        ("Kinetic", last.map_or("–".into(), |s| format!("{} J", short(s.kinetic_energy))), "Kinetic energy"),
        (
            "Lowest",
            last.map_or("–".into(), |s| format!("{} m", short(s.lowest))),
            "Height of the lowest particle",
        ),
        ("Past", souple_files::size(memory as u128), "Memory of the moments that are kept"),
    ];
    ScrollArea::vertical().id_salt("rates").auto_shrink([false, false]).show(ui, |ui| {
        ui.spacing_mut().interact_size.y = 14.0;
        Grid::new("rates").num_columns(2).spacing([10.0, 1.0]).show(ui, |ui| {
            for (name, value, tip) in rows {
                ui.add(egui::Label::new(egui::RichText::new(name).weak())).on_hover_text(tip);
                ui.add(egui::Label::new(egui::RichText::new(value).monospace().size(11.5)))
                    .on_hover_text(tip);
                ui.end_row();
            }
        });
    });
}

fn warning_list(app: &StudioApp, ui: &mut Ui) {
    let count = app.shown.warning_count;
    let colours = palette(ui.visuals().dark_mode);
    if count == 0 {
        ui.colored_label(colours.good, "No warnings").on_hover_text("Bodies that diverge are told here");
        return;
    }
    ui.colored_label(colours.warning, format!("{count} warnings"));
    ScrollArea::vertical().id_salt("warnings").auto_shrink([false, false]).show(ui, |ui| {
        for warning in app.shown.warnings.iter().rev() {
            ui.add(egui::Label::new(egui::RichText::new(words(&warning.to_string())).small()).wrap());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_stage_is_the_lowest_layer() {
        let mut sample = Sample::default();
        sample.stage_ms[4] = 9.0;
        sample.stage_ms[2] = 3.0;
        let layers = stage_series(&[sample, sample]);
        assert_eq!(layers.len(), Stage::ALL.len());
        assert_eq!((layers[0].name.as_str(), layers[0].values.as_slice()), ("solve", &[9.0, 9.0][..]));
        assert_eq!(layers[1].name, "broad phase");
    }

    #[test]
    fn the_energy_of_weight_begins_at_zero() {
        let sample = |potential_energy| Sample { potential_energy, ..Sample::default() };
        let weight = energy_series(&[sample(50.0), sample(48.0)]).pop().unwrap();
        assert_eq!(weight.values, [0.0, -2.0]);
    }
}
