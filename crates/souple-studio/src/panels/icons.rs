//! Icons drawn as shapes: they need no font, are sharp at every size and follow the colours of the theme.

use eframe::egui::{
    self, Color32, Painter, Pos2, Rect, Response, Role, Sense, Shape, Stroke, StrokeKind, Ui, Vec2,
    WidgetInfo, pos2, vec2,
};

/// What an icon shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    /// A triangle: go on.
    Play,
    /// Two bars: hold.
    Pause,
    /// A bar and a triangle: one frame.
    Step,
    /// A triangle against a bar on its left: back to the start.
    Reset,
    /// A circle of arrows: begin again at the end.
    Loop,
    /// A disc: record.
    Record,
    /// A square: stop.
    Stop,
    /// A photo camera.
    Camera,
    /// A strip of film.
    Film,
    /// An eye: look around and pull.
    View,
    /// A dashed box: select.
    Select,
    /// Four arrows: move.
    Move,
    /// Scissors.
    Scissors,
    /// A fan.
    Fan,
    /// A brush.
    Brush,
    /// A triangle with a stroke: look here.
    Warning,
    /// A disc with a cross.
    Error,
    /// A disc with an i.
    Info,
    /// A cross.
    Close,
    /// A folder.
    Folder,
    /// A sheet of paper.
    File,
    /// An arrow up.
    Up,
    /// Arrows in a circle, for what holds only after a restart.
    Restart,
    /// Edges of a mesh.
    Wireframe,
    /// A frame around a point: see all.
    Fit,
    /// A dot.
    Dot,
}

/// A button with an icon. `name` is what assistive programs and tests call it, `tip` is shown when the pointer rests.
pub fn icon_button(ui: &mut Ui, icon: Icon, selected: bool, name: &str, tip: &str) -> Response {
    let side = ui.spacing().interact_size.y + 4.0;
    painted_button(ui, vec2(side + 4.0, side), selected, name, tip, |ui, rect, visuals| {
        let square = Rect::from_center_size(rect.center(), Vec2::splat(side - 9.0));
        paint(ui.painter(), square, icon, visuals.fg_stroke.color);
    })
}

/// A button with an icon and a word.
pub fn labelled_button(ui: &mut Ui, icon: Icon, selected: bool, name: &str, tip: &str) -> Response {
    let font = egui::TextStyle::Button.resolve(ui.style());
    let galley = ui.painter().layout_no_wrap(name.to_owned(), font, Color32::PLACEHOLDER);
    let height = ui.spacing().interact_size.y + 4.0;
    let icon_side = height - 9.0;
    let padding = ui.spacing().button_padding.x;
    let width = galley.size().x + icon_side + 3.0 * padding;
    painted_button(ui, vec2(width, height), selected, name, tip, |ui, rect, visuals| {
        let middle = rect.left() + padding + 0.5 * icon_side;
        let square = Rect::from_center_size(pos2(middle, rect.center().y), Vec2::splat(icon_side));
        paint(ui.painter(), square, icon, visuals.fg_stroke.color);
        let at = pos2(square.right() + padding, rect.center().y - 0.5 * galley.size().y);
        ui.painter().galley(at, galley, visuals.text_color());
    })
}

/// A button of that size, framed when it is selected or pointed at, whose inside `draw` paints.
fn painted_button(
    ui: &mut Ui,
    size: Vec2,
    selected: bool,
    name: &str,
    tip: &str,
    draw: impl FnOnce(&Ui, Rect, &egui::style::WidgetVisuals),
) -> Response {
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let enabled = ui.is_enabled();
    response.widget_info(|| WidgetInfo::selected(Role::Button, enabled, selected, name));
    if ui.is_rect_visible(rect) {
        let visuals = ui.style().interact_selectable(&response, selected);
        if selected || response.hovered() || response.has_focus() {
            ui.painter().rect(
                rect,
                visuals.corner_radius,
                visuals.weak_bg_fill,
                visuals.bg_stroke,
                StrokeKind::Inside,
            );
        }
        draw(ui, rect, &visuals);
    }
    response.on_hover_text(tip).on_disabled_hover_text(tip)
}

/// An icon that cannot be pressed, as high as the text beside it.
pub fn icon_label(ui: &mut Ui, icon: Icon, colour: Color32) -> Response {
    let side = ui.text_style_height(&egui::TextStyle::Body);
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(side), Sense::hover());
    if ui.is_rect_visible(rect) {
        paint(ui.painter(), rect.shrink(0.06 * side), icon, colour);
    }
    response
}

/// Draws an icon into a square.
pub fn paint(painter: &Painter, square: Rect, icon: Icon, colour: Color32) {
    let at = |x: f32, y: f32| pos2(egui::lerp(square.x_range(), x), egui::lerp(square.y_range(), y));
    let side = square.width();
    let thin = Stroke::new((0.09 * side).max(1.2), colour);
    let polygon = |points: &[(f32, f32)]| {
        let points: Vec<Pos2> = points.iter().map(|&(x, y)| at(x, y)).collect();
        painter.add(Shape::convex_polygon(points, colour, Stroke::NONE));
    };
    let line = |points: &[(f32, f32)]| {
        let points: Vec<Pos2> = points.iter().map(|&(x, y)| at(x, y)).collect();
        painter.add(Shape::line(points, thin));
    };
    let bar = |x0: f32, y0: f32, x1: f32, y1: f32| {
        painter.rect_filled(Rect::from_min_max(at(x0, y0), at(x1, y1)), 0.5, colour);
    };
    let arc = |from: f32, to: f32, radius: f32| {
        let points = (0..=16).map(|k| {
            let angle = egui::lerp(from..=to, k as f32 / 16.0) * std::f32::consts::TAU;
            at(0.5 + radius * angle.cos(), 0.5 + radius * angle.sin())
        });
        painter.add(Shape::line(points.collect(), thin));
    };
    match icon {
        Icon::Play => polygon(&[(0.15, 0.05), (0.95, 0.5), (0.15, 0.95)]),
        Icon::Pause => {
            bar(0.14, 0.08, 0.40, 0.92);
            bar(0.60, 0.08, 0.86, 0.92);
        }
        Icon::Step => {
            bar(0.06, 0.1, 0.26, 0.9);
            polygon(&[(0.38, 0.1), (0.98, 0.5), (0.38, 0.9)]);
        }
        Icon::Reset => {
            bar(0.04, 0.1, 0.22, 0.9);
            polygon(&[(0.94, 0.1), (0.30, 0.5), (0.94, 0.9)]);
        }
        Icon::Loop | Icon::Restart => {
            arc(0.06, 0.44, 0.38);
            arc(0.56, 0.94, 0.38);
            polygon(&[(0.02, 0.56), (0.34, 0.56), (0.13, 0.84)]);
            polygon(&[(0.98, 0.44), (0.66, 0.44), (0.87, 0.16)]);
        }
        Icon::Record => {
            painter.circle_filled(square.center(), 0.42 * side, colour);
        }
        Icon::Stop => bar(0.14, 0.14, 0.86, 0.86),
        Icon::Camera => {
            painter.rect_stroke(
                Rect::from_min_max(at(0.02, 0.28), at(0.98, 0.9)),
                1.5,
                thin,
                StrokeKind::Inside,
            );
            bar(0.34, 0.14, 0.66, 0.30);
            painter.circle_stroke(at(0.5, 0.59), 0.17 * side, thin);
        }
        Icon::Film => {
            painter.rect_stroke(
                Rect::from_min_max(at(0.04, 0.08), at(0.96, 0.92)),
                1.0,
                thin,
                StrokeKind::Inside,
            );
            for y in [0.26, 0.5, 0.74] {
                bar(0.15, y - 0.06, 0.27, y + 0.06);
                bar(0.73, y - 0.06, 0.85, y + 0.06);
            }
            line(&[(0.36, 0.1), (0.36, 0.9)]);
            line(&[(0.64, 0.1), (0.64, 0.9)]);
        }
        Icon::View => {
            let lid = |sign: f32| -> Vec<Pos2> {
                (0..=12)
                    .map(|k| k as f32 / 12.0)
                    .map(|t| at(t, 0.5 + sign * 0.34 * (std::f32::consts::PI * t).sin()))
                    .collect()
            };
            painter.add(Shape::line(lid(-1.0), thin));
            painter.add(Shape::line(lid(1.0), thin));
            painter.circle_filled(square.center(), 0.15 * side, colour);
        }
        Icon::Select => {
            let corners = [at(0.06, 0.1), at(0.94, 0.1), at(0.94, 0.9), at(0.06, 0.9), at(0.06, 0.1)];
            painter.extend(Shape::dashed_line(&corners, thin, 0.2 * side, 0.14 * side));
        }
        Icon::Move => {
            line(&[(0.5, 0.08), (0.5, 0.92)]);
            line(&[(0.08, 0.5), (0.92, 0.5)]);
            polygon(&[(0.5, -0.04), (0.66, 0.18), (0.34, 0.18)]);
            polygon(&[(0.5, 1.04), (0.34, 0.82), (0.66, 0.82)]);
            polygon(&[(-0.04, 0.5), (0.18, 0.34), (0.18, 0.66)]);
            polygon(&[(1.04, 0.5), (0.82, 0.66), (0.82, 0.34)]);
        }
        Icon::Scissors => {
            line(&[(0.24, 0.64), (0.80, 0.02)]);
            line(&[(0.76, 0.64), (0.20, 0.02)]);
            painter.circle_stroke(at(0.20, 0.80), 0.15 * side, thin);
            painter.circle_stroke(at(0.80, 0.80), 0.15 * side, thin);
        }
        Icon::Fan => {
            for k in 0..3 {
                let turn = (k as f32 / 3.0 + 0.08) * std::f32::consts::TAU;
                let point = |radius: f32, angle: f32| {
                    let angle = turn + angle;
                    (0.5 + radius * angle.cos(), 0.5 + radius * angle.sin())
                };
                polygon(&[point(0.06, 0.0), point(0.36, -0.42), point(0.50, -0.02), point(0.42, 0.34)]);
            }
            painter.circle_filled(square.center(), 0.09 * side, colour);
        }
        Icon::Brush => {
            line(&[(0.96, 0.04), (0.50, 0.52)]);
            polygon(&[(0.34, 0.44), (0.58, 0.68), (0.40, 0.90), (0.06, 0.96), (0.12, 0.62)]);
        }
        Icon::Warning => {
            let points = [at(0.5, 0.06), at(0.98, 0.92), at(0.02, 0.92)];
            painter.add(Shape::closed_line(points.to_vec(), thin));
            line(&[(0.5, 0.36), (0.5, 0.64)]);
            painter.circle_filled(at(0.5, 0.78), 0.06 * side, colour);
        }
        Icon::Error => {
            painter.circle_stroke(square.center(), 0.44 * side, thin);
            line(&[(0.33, 0.33), (0.67, 0.67)]);
            line(&[(0.67, 0.33), (0.33, 0.67)]);
        }
        Icon::Info => {
            painter.circle_stroke(square.center(), 0.44 * side, thin);
            painter.circle_filled(at(0.5, 0.29), 0.07 * side, colour);
            line(&[(0.5, 0.44), (0.5, 0.74)]);
        }
        Icon::Close => {
            line(&[(0.18, 0.18), (0.82, 0.82)]);
            line(&[(0.82, 0.18), (0.18, 0.82)]);
        }
        Icon::Folder => {
            bar(0.04, 0.14, 0.44, 0.34);
            painter.rect_filled(Rect::from_min_max(at(0.04, 0.26), at(0.96, 0.86)), 1.5, colour);
        }
        Icon::File => {
            line(&[(0.2, 0.06), (0.62, 0.06), (0.82, 0.28), (0.82, 0.94), (0.2, 0.94), (0.2, 0.06)]);
            line(&[(0.6, 0.06), (0.6, 0.3), (0.82, 0.3)]);
        }
        Icon::Up => {
            line(&[(0.5, 0.92), (0.5, 0.12)]);
            line(&[(0.18, 0.44), (0.5, 0.1), (0.82, 0.44)]);
        }
        Icon::Wireframe => {
            line(&[(0.5, 0.04), (0.96, 0.9), (0.04, 0.9), (0.5, 0.04)]);
            line(&[(0.27, 0.47), (0.73, 0.47), (0.5, 0.9), (0.27, 0.47)]);
        }
        Icon::Fit => {
            line(&[(0.06, 0.32), (0.06, 0.06), (0.32, 0.06)]);
            line(&[(0.68, 0.06), (0.94, 0.06), (0.94, 0.32)]);
            line(&[(0.94, 0.68), (0.94, 0.94), (0.68, 0.94)]);
            line(&[(0.32, 0.94), (0.06, 0.94), (0.06, 0.68)]);
            painter.circle_filled(square.center(), 0.14 * side, colour);
        }
        Icon::Dot => {
            painter.circle_filled(square.center(), 0.28 * side, colour);
        }
    }
}
