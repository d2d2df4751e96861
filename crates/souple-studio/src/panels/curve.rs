//! A curve drawn with the mouse: points of place and factor, straight between them, level beyond (ROH-58).
//!
//! A click or a drag on empty ground adds a point, a drag moves one, a right click removes it. The numbers of the point that was
//! touched last can be typed. What a gesture does is in [`Curve`], which knows nothing of windows.

use std::ops::RangeInclusive;

use eframe::egui::{self, Color32, Rect, Sense, Stroke, Ui, pos2, vec2};

use super::fields::{Effect, Form, plain};
use super::theme::palette;

/// Height of the field that is drawn in, points.
const HEIGHT: f32 = 84.0;
/// How far from a point the pointer takes hold of it, points.
const REACH: f32 = 9.0;
/// Least distance between the places of two points: they must ascend.
const APART: f64 = 0.01;
/// Most points that can be added.
const MOST: usize = 64;

/// What a curve shows of its plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Places, from left to right.
    pub places: RangeInclusive<f64>,
    /// Largest factor; the smallest is 0.
    pub most: f64,
}

impl Window {
    /// What suits some points: places from −1 to 1 and factors up to 2, and more where there are points beyond.
    pub fn of(points: &[[f64; 2]]) -> Window {
        let ends = [points.first(), points.last()].map(|end| end.map_or(0.0, |point| point[0]));
        let largest = points.iter().fold(0.0, |largest: f64, point| largest.max(point[1]));
        let steps = [2.0, 5.0, 10.0, 20.0, 50.0, 100.0];
        let most = steps.into_iter().find(|step| largest <= *step).unwrap_or(largest);
        Window { places: ends[0].min(-1.0)..=ends[1].max(1.0), most }
    }

    fn at(&self, rect: Rect, point: [f64; 2]) -> egui::Pos2 {
        let (low, high) = (*self.places.start(), *self.places.end());
        let x = ((point[0] - low) / (high - low)) as f32;
        let y = (point[1] / self.most) as f32;
        pos2(rect.left() + x * rect.width(), rect.bottom() - y * rect.height())
    }

    fn point(&self, rect: Rect, at: egui::Pos2) -> [f64; 2] {
        let (low, high) = (*self.places.start(), *self.places.end());
        let x = f64::from(((at.x - rect.left()) / rect.width()).clamp(0.0, 1.0));
        let y = f64::from(((rect.bottom() - at.y) / rect.height()).clamp(0.0, 1.0));
        [low + x * (high - low), y * self.most]
    }
}

/// The points of a curve, with places that ascend.
#[derive(Debug)]
pub struct Curve<'a>(pub &'a mut Vec<[f64; 2]>);

impl Curve<'_> {
    /// Adds a point, if there is room for it between its neighbours; returns its number.
    pub fn add(&mut self, point: [f64; 2]) -> Option<usize> {
        let point = rounded(point);
        let k = self.0.partition_point(|other| other[0] < point[0]);
        let near = |other: Option<&[f64; 2]>| other.is_some_and(|other| (other[0] - point[0]).abs() < APART);
        if self.0.len() >= MOST || near(self.0.get(k)) || near(k.checked_sub(1).and_then(|k| self.0.get(k))) {
            return None;
        }
        self.0.insert(k, point);
        Some(k)
    }

    /// Moves a point, but not past its neighbours nor below 0.
    pub fn place(&mut self, k: usize, point: [f64; 2]) {
        let least = k.checked_sub(1).and_then(|k| self.0.get(k)).map_or(-1e6, |before| before[0] + APART);
        let most = self.0.get(k + 1).map_or(1e6, |after| after[0] - APART);
        if let Some(place) = self.0.get_mut(k)
            && least <= most
        {
            let [x, y] = rounded(point);
            *place = [x.clamp(least, most), y.max(0.0)];
        }
    }

    /// Removes a point.
    pub fn remove(&mut self, k: usize) {
        if k < self.0.len() {
            self.0.remove(k);
        }
    }
}

/// Three digits read well in scene files; a mouse is not more exact.
fn rounded(point: [f64; 2]) -> [f64; 2] {
    point.map(|c| (c * 1e3).round() / 1e3)
}

/// A field for a curve; `otherwise` says what holds without any points.
pub fn curve_field(form: &mut Form, ui: &mut Ui, label: &str, points: &mut Vec<[f64; 2]>, otherwise: &str) {
    ui.push_id(label, |ui| {
        let tip = "Click to add a point, drag to move it, right click to remove it.\nAcross: place in lengths of the bone, \
                   0 is the joint. Up: factor.";
        ui.horizontal(|ui| {
            ui.label(label).on_hover_text(tip);
            if points.is_empty() {
                ui.weak(otherwise);
            } else if ui.small_button("Clear").on_hover_text("Forget all its points").clicked() {
                points.clear();
                form.changed(&label.to_lowercase(), Effect::Live);
            }
        });
        let id = ui.scope_id().with("touched");
        let mut touched: Option<usize> = ui.data(|data| data.get_temp(id)).filter(|k| *k < points.len());
        let window = Window::of(points);
        let size = vec2(ui.available_width().max(40.0), HEIGHT);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, label));
        let inner = rect.shrink2(vec2(6.0, 6.0));
        let near = |points: &[[f64; 2]], at: egui::Pos2| {
            let distance = |k: usize| window.at(inner, points[k]).distance(at);
            let nearest = (0..points.len()).min_by(|a, b| distance(*a).total_cmp(&distance(*b)));
            nearest.filter(|k| distance(*k) <= REACH)
        };
        let before = points.clone();
        let mut curve = Curve(points);
        if let Some(at) = response.interact_pointer_pos() {
            if response.secondary_clicked() {
                if let Some(k) = near(curve.0, at) {
                    curve.remove(k);
                    touched = None;
                }
            } else if response.drag_started_by(egui::PointerButton::Primary) || response.clicked() {
                let from = ui.input(|input| input.pointer.press_origin()).unwrap_or(at);
                touched = near(curve.0, from).or_else(|| curve.add(window.point(inner, from)));
            }
            if response.dragged_by(egui::PointerButton::Primary)
                && let Some(k) = touched
            {
                curve.place(k, window.point(inner, at));
            }
        }
        if let Some(k) = touched.filter(|k| *k < curve.0.len()) {
            numbers(form, ui, &mut curve, k, label);
        }
        if *curve.0 != before {
            form.changed(&label.to_lowercase(), Effect::Live);
            form.changes.finished = !response.dragged();
        }
        form.changes.finished |= response.drag_stopped();
        ui.data_mut(|data| match touched {
            Some(k) => {
                data.insert_temp(id, k);
            }
            None => data.remove::<usize>(id),
        });
        draw(ui, inner, &window, points, touched, &response);
        response.on_hover_text(tip);
    });
}

/// The numbers of one point.
fn numbers(form: &mut Form, ui: &mut Ui, curve: &mut Curve, k: usize, label: &str) {
    let Some(mut point) = curve.0.get(k).copied() else { return };
    ui.horizontal(|ui| {
        let [place, factor] = &mut point;
        let drag = |value, range| {
            egui::DragValue::new(value)
                .range(range)
                .speed(0.01)
                .custom_formatter(|n, _| plain(n))
                .update_while_editing(false)
        };
        ui.weak(format!("Point {}", k + 1));
        let fields = [
            ui.add(drag(place, -100.0..=100.0)).accessible_name(format!("{label} place")),
            ui.add(drag(factor, 0.0..=1000.0)).accessible_name(format!("{label} factor")),
        ];
        if fields.iter().any(egui::Response::changed) {
            curve.place(k, point);
        }
        form.changes.finished |= fields.iter().any(|field| field.drag_stopped() || field.lost_focus());
        if ui.small_button("Remove").on_hover_text("Remove this point").clicked() {
            curve.remove(k);
        }
    });
}

fn draw(
    ui: &Ui,
    rect: Rect,
    window: &Window,
    points: &[[f64; 2]],
    touched: Option<usize>,
    response: &egui::Response,
) {
    let colours = palette(ui.visuals().dark_mode);
    let outer = rect.expand(6.0);
    let painter = ui.painter_at(outer);
    painter.rect_filled(outer, 3.0, ui.visuals().extreme_bg_color);
    let (low, high) = (*window.places.start(), *window.places.end());
    let thin = Stroke::new(1.0, colours.grid);
    for (from, to) in [([0.0, 0.0], [0.0, window.most]), ([low, 0.0], [high, 0.0]), ([low, 1.0], [high, 1.0])]
    {
        painter.line_segment([window.at(rect, from), window.at(rect, to)], thin);
    }
    let small = egui::FontId::proportional(9.5);
    let text = |at: egui::Pos2, align: egui::Align2, text: String| {
        painter.text(at, align, text, small.clone(), ui.visuals().weak_text_color());
    };
    text(window.at(rect, [low, 1.0]), egui::Align2::LEFT_BOTTOM, "1".into());
    text(rect.left_top(), egui::Align2::LEFT_TOP, plain(window.most));
    text(window.at(rect, [0.0, 0.0]) + vec2(3.0, 0.0), egui::Align2::LEFT_BOTTOM, "joint".into());
    text(rect.right_bottom(), egui::Align2::RIGHT_BOTTOM, plain(high));
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return;
    };
    let places = std::iter::once([low, first[1]]).chain(points.iter().copied()).chain([[high, last[1]]]);
    let line: Vec<egui::Pos2> = places.map(|point| window.at(rect, point)).collect();
    painter.line(line, Stroke::new(1.8, colours.accent));
    let pointer = response.hover_pos();
    for (k, point) in points.iter().enumerate() {
        let at = window.at(rect, *point);
        let is_near = pointer.is_some_and(|pointer| pointer.distance(at) <= REACH);
        let radius = if is_near || touched == Some(k) { 5.0 } else { 3.5 };
        painter.circle(at, radius, colours.accent, Stroke::new(1.0, Color32::WHITE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_always_ascend() {
        let mut points = Vec::new();
        let mut curve = Curve(&mut points);
        assert_eq!(curve.add([0.5, 1.0]), Some(0));
        assert_eq!(curve.add([-0.5, 0.25]), Some(0));
        assert_eq!(curve.add([0.0, 2.0]), Some(1));
        assert_eq!(curve.add([0.004, 3.0]), None, "there is one");
        curve.place(1, [0.9, -1.0]);
        assert_eq!(*curve.0, [[-0.5, 0.25], [0.49, 0.0], [0.5, 1.0]]);
        curve.place(0, [-7.0, 1.23456]);
        assert_eq!(curve.0[0], [-7.0, 1.235]);
        curve.place(9, [0.0, 0.0]);
        curve.remove(9);
        curve.remove(1);
        assert_eq!(*curve.0, [[-7.0, 1.235], [0.5, 1.0]]);
        assert!(curve.0.windows(2).all(|pair| pair[0][0] < pair[1][0]));
    }

    #[test]
    fn what_is_drawn_is_where_it_is_taken_hold_of() {
        let rect = Rect::from_min_size(pos2(10.0, 20.0), vec2(200.0, 80.0));
        for points in [vec![], vec![[-3.0, 0.5], [0.2, 7.0]]] {
            let window = Window::of(&points);
            for point in [[0.0, 0.0], [0.25, 1.5], [*window.places.start(), window.most]] {
                let back = window.point(rect, window.at(rect, point));
                assert!((back[0] - point[0]).abs() < 1e-5 && (back[1] - point[1]).abs() < 1e-5, "{back:?}");
            }
        }
        assert_eq!(Window::of(&[[-3.0, 0.5], [0.2, 7.0]]), Window { places: -3.0..=1.0, most: 10.0 });
    }
}
