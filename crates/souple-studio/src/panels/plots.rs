//! Small plots drawn with egui's painter: curves over the steps, and times per stage stacked on each other.
//!
//! Scales begin at zero (or at the lowest value when there are negative ones) and end at a round number, so that they
//! stay still while values wander. Many samples share a column of pixels: the largest one is drawn, so no peak is lost.

use eframe::egui::{self, Align2, Color32, FontId, Pos2, Rect, Sense, Shape, Stroke, Ui, pos2, vec2};

use super::theme::{palette, short};

/// One curve, or one layer of a stack.
#[derive(Clone, Debug)]
pub struct Series {
    /// What it is.
    pub name: String,
    /// Its colour.
    pub colour: Color32,
    /// One value per sample, the newest last.
    pub values: Vec<f64>,
}

/// How series are drawn together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Each as a line.
    Curves,
    /// As areas on top of each other.
    Stacked,
}

/// Draws a plot of a size, with title, scale and a tooltip that reads the values under the pointer.
pub fn plot(ui: &mut Ui, size: egui::Vec2, kind: Kind, title: &str, unit: &str, series: &[Series]) {
    let (outer, response) = ui.allocate_exact_size(size, Sense::hover());
    if !ui.is_rect_visible(outer) || outer.width() < 40.0 || outer.height() < 24.0 {
        return;
    }
    let painter = ui.painter_at(outer);
    let visuals = ui.visuals();
    let colours = palette(visuals.dark_mode);
    painter.rect_filled(outer, 3.0, visuals.extreme_bg_color);
    let font = FontId::proportional(10.5);
    let weak = visuals.weak_text_color();
    let title_at = outer.left_top() + vec2(5.0, 2.0);
    let mut end = painter
        .text(title_at, Align2::LEFT_TOP, format!("{title}, {unit}"), font.clone(), visuals.text_color())
        .right_top();
    // As many names as fit beside the title; the tooltip has them all.
    for series in series {
        let name = painter.layout_no_wrap(series.name.clone(), font.clone(), series.colour);
        if end.x + 9.0 + name.size().x > outer.right() - 44.0 {
            break;
        }
        let at = pos2(end.x + 9.0, title_at.y);
        end.x = at.x + name.size().x;
        painter.galley(at, name, series.colour);
    }

    let samples = series.iter().map(|s| s.values.len()).max().unwrap_or(0);
    let inner = Rect::from_min_max(outer.left_top() + vec2(5.0, 16.0), outer.right_bottom() - vec2(5.0, 4.0));
    if samples == 0 {
        painter.text(inner.center(), Align2::CENTER_CENTER, "no steps yet", font, weak);
        return;
    }
    let columns = (inner.width() as usize).max(1);
    let binned: Vec<Vec<f64>> = series.iter().map(|s| bins(&s.values, samples, columns)).collect();
    let (low, high) = scale(kind, &binned);
    let top = painter.layout_no_wrap(short(high), font.clone(), weak);
    painter.galley(outer.right_top() + vec2(-5.0 - top.size().x, 2.0), top, weak);
    let y_of = |value: f64| {
        let share = ((value - low) / (high - low)).clamp(0.0, 1.0) as f32;
        egui::lerp(inner.bottom()..=inner.top(), share)
    };
    let x_of = |k: usize, count: usize| {
        let share = if count > 1 { k as f32 / (count - 1) as f32 } else { 1.0 };
        egui::lerp(inner.x_range(), share)
    };
    for share in [0.0, 0.5, 1.0] {
        let y = egui::lerp(inner.y_range(), share).round() + 0.5;
        painter.hline(inner.x_range(), y, Stroke::new(1.0, colours.grid.gamma_multiply(0.6)));
    }
    if low < 0.0 {
        painter.hline(inner.x_range(), y_of(0.0), Stroke::new(1.0, colours.grid));
    }
    match kind {
        Kind::Curves => {
            for (series, values) in series.iter().zip(&binned) {
                let points = values.iter().enumerate().filter(|(_, v)| v.is_finite());
                let points: Vec<Pos2> = points.map(|(k, v)| pos2(x_of(k, values.len()), y_of(*v))).collect();
                painter.add(Shape::line(points, Stroke::new(1.4, series.colour)));
            }
        }
        Kind::Stacked => {
            let layers = stack(&binned);
            for (layer, upper) in layers.iter().enumerate() {
                let lower = layer.checked_sub(1).map(|below| &layers[below]);
                let edge = |k: usize| egui::lerp(inner.x_range(), k as f32 / upper.len() as f32).round();
                for (k, value) in upper.iter().enumerate() {
                    let from = lower.map_or(inner.bottom(), |lower| y_of(lower[k]));
                    let column = Rect::from_min_max(pos2(edge(k), y_of(*value)), pos2(edge(k + 1), from));
                    painter.rect_filled(column, 0.0, series[layer].colour);
                }
            }
        }
    }
    if let Some(pointer) = response.hover_pos().filter(|p| inner.x_range().contains(p.x)) {
        let share = (pointer.x - inner.left()) / inner.width();
        let sample = ((share * (samples.max(1) - 1) as f32).round() as usize).min(samples - 1);
        painter.vline(pointer.x, inner.y_range(), Stroke::new(1.0, visuals.text_color()));
        response.show_tooltip_ui(|ui| {
            ui.strong(format!("{title}, {} steps ago", samples - 1 - sample));
            for series in series.iter().rev() {
                let value = series.values.get(sample).copied().unwrap_or(f64::NAN);
                ui.horizontal(|ui| {
                    let (dot, _) = ui.allocate_exact_size(vec2(8.0, 8.0), Sense::hover());
                    ui.painter().rect_filled(dot, 1.0, series.colour);
                    ui.label(format!("{}  {} {unit}", series.name, short(value)));
                });
            }
        });
    }
}

/// The largest value of each column when `samples` values share `columns` of them; as many as there are, at most.
pub fn bins(values: &[f64], samples: usize, columns: usize) -> Vec<f64> {
    let count = samples.min(columns).max(1);
    (0..count)
        .map(|k| {
            let (from, to) = (k * samples / count, ((k + 1) * samples / count).max(k * samples / count + 1));
            let in_column = values.get(from..to.min(values.len())).unwrap_or_default();
            in_column.iter().copied().filter(|v| v.is_finite()).fold(f64::NAN, f64::max)
        })
        .collect()
}

/// Sums of layers from the first to each.
pub fn stack(layers: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut sum: Vec<f64> = Vec::new();
    layers
        .iter()
        .map(|layer| {
            sum.resize(layer.len().max(sum.len()), 0.0);
            for (total, value) in sum.iter_mut().zip(layer) {
                *total += if value.is_finite() { *value } else { 0.0 };
            }
            sum.clone()
        })
        .collect()
}

/// Ends of the scale for what is drawn; never empty.
pub fn scale(kind: Kind, binned: &[Vec<f64>]) -> (f64, f64) {
    let drawn = match kind {
        Kind::Curves => binned.to_vec(),
        Kind::Stacked => stack(binned).pop().into_iter().collect(),
    };
    let finite = || drawn.iter().flatten().copied().filter(|v| v.is_finite());
    let high = round_up(finite().fold(0.0, f64::max));
    let low = -round_up(-finite().fold(0.0, f64::min));
    match (low, high) {
        (low, high) if high > low => (low, high),
        _ => (0.0, 1.0),
    }
}

/// The next of 1, 2, 5, 10, 20, 50 … that is not below a value; 0 for 0.
pub fn round_up(value: f64) -> f64 {
    if !(value > 0.0 && value.is_finite()) {
        return 0.0;
    }
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    let step = steps.into_iter().find(|step| step * power >= value * (1.0 - 1e-12)).unwrap_or(10.0);
    step * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_peak_is_lost_in_columns() {
        let mut values = vec![1.0; 1000];
        values[613] = 9.0;
        let columns = bins(&values, values.len(), 70);
        assert_eq!(columns.len(), 70);
        assert_eq!(columns.iter().copied().fold(0.0, f64::max), 9.0);
        assert_eq!(bins(&[1.0, 2.0], 2, 70), [1.0, 2.0]);
        assert!(bins(&[], 0, 70)[0].is_nan());
    }

    #[test]
    fn scales_end_at_round_numbers() {
        assert_eq!(round_up(0.0), 0.0);
        assert_eq!(round_up(0.013), 0.02);
        assert_eq!(round_up(5.0), 5.0);
        assert_eq!(round_up(51.0), 100.0);
        assert_eq!(round_up(f64::INFINITY), 0.0);
        let layers = [vec![1.0, 2.0], vec![0.5, f64::NAN]];
        assert_eq!(stack(&layers), [vec![1.0, 2.0], vec![1.5, 2.0]]);
        assert_eq!(scale(Kind::Stacked, &layers), (0.0, 2.0));
        assert_eq!(scale(Kind::Curves, &[vec![-3.0, 1.0]]), (-5.0, 1.0));
        assert_eq!(scale(Kind::Curves, &[vec![f64::NAN]]), (0.0, 1.0));
    }
}
