//! Lines and points of a width in pixels: `shaders/marks.wgsl` in Rust.

use std::ops::Range;

use glam::{DMat4, DVec2, Vec3};

use super::light::encoded;
use super::raster::Viewport;
use crate::environment::smooth_step;
use crate::looks::{Line, Marker};

/// How much closer to the eye marks are, so that lines on a surface are not lost in it.
const CLOSER: f64 = 1.002;
/// Ends of lines are moved to at least this w.
const LEAST_W: f64 = 1e-4;

/// A line or point in the picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stroke {
    ends: [DVec2; 2],
    depths: [f64; 2],
    colour: Vec3,
    opacity: f32,
    half_width: f64,
    is_point: bool,
    /// Whether it is seen through what is in front of it.
    pub on_top: bool,
}

/// Marks in the order in which they are drawn.
pub(super) fn strokes(
    lines: &[Line],
    points: &[Marker],
    projection: &DMat4,
    viewport: &Viewport,
) -> Vec<Stroke> {
    let mut strokes = Vec::new();
    for on_top in [false, true] {
        let lines = lines.iter().filter(|line| line.on_top == on_top);
        strokes.extend(lines.filter_map(|line| line_stroke(line, projection, viewport)));
        let points = points.iter().filter(|point| point.on_top == on_top);
        strokes.extend(points.filter_map(|point| point_stroke(point, projection, viewport)));
    }
    strokes
}

fn line_stroke(line: &Line, projection: &DMat4, viewport: &Viewport) -> Option<Stroke> {
    let [mut a, mut b] = [line.from, line.to].map(|p| *projection * p.as_dvec3().extend(1.0));
    if a.w < LEAST_W && b.w < LEAST_W {
        return None;
    }
    if a.w < LEAST_W {
        a = a.lerp(b, (LEAST_W - a.w) / (b.w - a.w));
    }
    if b.w < LEAST_W {
        b = b.lerp(a, (LEAST_W - b.w) / (a.w - b.w));
    }
    let stroke = Stroke {
        ends: [a, b].map(|v| viewport.pixel(v)),
        depths: [a, b].map(|v| CLOSER * v.z / v.w),
        colour: Vec3::new(line.colour[0], line.colour[1], line.colour[2]),
        opacity: line.colour[3],
        half_width: 0.5 * f64::from(line.width),
        is_point: false,
        on_top: line.on_top,
    };
    stroke.is_finite().then_some(stroke)
}

fn point_stroke(point: &Marker, projection: &DMat4, viewport: &Viewport) -> Option<Stroke> {
    let clip = *projection * point.at.as_dvec3().extend(1.0);
    let at = viewport.pixel(clip);
    let stroke = Stroke {
        ends: [at; 2],
        depths: [CLOSER * clip.z / clip.w; 2],
        colour: Vec3::new(point.colour[0], point.colour[1], point.colour[2]),
        opacity: point.colour[3],
        half_width: 0.5 * f64::from(point.size),
        is_point: true,
        on_top: point.on_top,
    };
    (clip.w > 0.0 && stroke.is_finite()).then_some(stroke)
}

impl Stroke {
    fn is_finite(&self) -> bool {
        self.ends.iter().all(|end| end.is_finite())
            && self.depths.iter().all(|depth| depth.is_finite())
            && (self.half_width + f64::from(self.opacity)).is_finite()
            && self.colour.is_finite()
    }

    /// Half the width of what is looked at, with room for soft edges.
    fn pad(&self) -> f64 {
        self.half_width + 1.0
    }

    /// Pixels of a row that it may touch.
    pub fn columns(&self, row: i32, width: i32) -> Range<i32> {
        let [p, q] = self.ends;
        let (low, high) = (f64::from(row) - self.pad(), f64::from(row) + 1.0 + self.pad());
        // The part of the line that is near enough to the row.
        let step = q.y - p.y;
        let (mut from, mut to) = (0.0f64, 1.0f64);
        if step.abs() > 1e-9 {
            let (a, b) = ((low - p.y) / step, (high - p.y) / step);
            (from, to) = (from.max(a.min(b)), to.min(a.max(b)));
        } else if p.y < low || p.y > high {
            return 0..0;
        }
        if from > to {
            return 0..0;
        }
        let (a, b) = (p.x + (q.x - p.x) * from, p.x + (q.x - p.x) * to);
        let start = (a.min(b) - self.pad()).floor().max(0.0) as i32;
        let end = (a.max(b) + self.pad()).ceil().min(f64::from(width)) as i32;
        start..end.max(start)
    }

    /// Colour as it is stored, and opacity, at the middle of a pixel.
    pub fn colour(&self, x: i32, y: i32) -> (Vec3, f32) {
        let at = DVec2::new(f64::from(x) + 0.5, f64::from(y) + 0.5);
        let away = at.distance(self.ends[0].lerp(self.ends[1], self.along(at).clamp(0.0, 1.0)));
        let cover = (self.half_width + 0.5 - away).clamp(0.0, 1.0) as f32;
        let (away, half) = (away as f32, self.half_width as f32);
        let ring = if self.is_point { smooth_step(half - 2.0, half - 1.0, away) } else { 0.0 };
        (encoded(self.colour * (1.0 - 0.6 * ring)), (self.opacity * cover).clamp(0.0, 1.0))
    }

    /// Depth at a point of the picture, in pixels.
    pub fn depth(&self, at: DVec2) -> f64 {
        let length = self.ends[0].distance(self.ends[1]);
        // Depth is given at the ends of the rectangle that is drawn, which is longer than the line.
        let t = (self.along(at) * length + self.pad()) / (length + 2.0 * self.pad());
        self.depths[0] + (self.depths[1] - self.depths[0]) * t.clamp(0.0, 1.0)
    }

    /// How far along the line a point is: 0 at the first end, 1 at the other.
    fn along(&self, at: DVec2) -> f64 {
        let span = self.ends[1] - self.ends[0];
        let t = (at - self.ends[0]).dot(span) / span.length_squared();
        if t.is_finite() { t } else { 0.0 }
    }
}
