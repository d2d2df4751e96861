//! Triangles to samples: clipping, and an exact fill rule on a grid of 1/256 pixel, like that of GPUs.
//!
//! Corners are rounded to the grid, edges are tested in whole numbers, and a sample exactly on an edge belongs to one of
//! the two triangles that share it: no gaps and no overlaps, however thin the triangles are.

use std::ops::Range;

use glam::{DVec2, DVec4};

/// Steps of the grid per pixel.
const GRID: f64 = 256.0;
/// Farthest corner from the corner of the picture, pixels; what reaches farther is clipped. Products of two such numbers
/// on the grid fit easily.
const GUARD: f64 = 131_072.0;

/// Places of samples in a pixel, steps of the grid: the usual pattern of four.
pub(super) const FOUR: [[i64; 2]; 4] = [[96, 32], [224, 96], [32, 160], [160, 224]];
/// One sample, in the middle.
pub(super) const CENTRE: [[i64; 2]; 1] = [[128, 128]];

/// What is drawn into.
#[derive(Clone, Copy, Debug)]
pub(super) struct Viewport {
    /// Width and height, pixels.
    pub size: DVec2,
}

impl Viewport {
    pub fn new((width, height): (u32, u32)) -> Viewport {
        Viewport { size: DVec2::new(f64::from(width), f64::from(height)) }
    }

    /// Pixels from the upper left corner.
    pub fn pixel(&self, clip: DVec4) -> DVec2 {
        let (x, y) = (clip.x / clip.w, clip.y / clip.w);
        DVec2::new(0.5 * (x + 1.0) * self.size.x, 0.5 * (1.0 - y) * self.size.y)
    }

    /// The six distances that are not negative inside: near, far, and the guard band on four sides.
    fn inside(&self, v: DVec4) -> [f64; 6] {
        let guard = |side: f64| (2.0 * GUARD / side.max(1.0) - 1.0) * v.w;
        let (across, down) = (guard(self.size.x), guard(self.size.y));
        [v.w - v.z, v.z, across - v.x, across + v.x, down - v.y, down + v.y]
    }
}

/// A triangle on the grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    /// Surface it is part of.
    pub surface: u32,
    /// Triangle or edge of the surface.
    pub part: u32,
    /// In an order that makes the area positive.
    corners: [[i32; 2]; 3],
    /// Depth at the upper left corner of the picture, and its change per pixel to the right and down.
    depth: [f64; 3],
    /// Least and greatest depth at the corners.
    depths: [f32; 2],
    /// Pixels it may touch.
    columns: [i32; 2],
    rows: [i32; 2],
}

impl Face {
    /// Largest change of depth from a pixel to the next.
    pub fn slope(&self) -> f64 {
        self.depth[1].abs().max(self.depth[2].abs())
    }

    /// Whether it may touch those rows.
    pub fn touches(&self, rows: &Range<i32>) -> bool {
        self.rows[0] < rows.end && self.rows[1] > rows.start
    }

    /// Calls `visit` with the column, the row, the number of the sample and the depth of every sample it covers in those
    /// rows of a picture of that width.
    pub fn cover(
        &self,
        rows: &Range<i32>,
        width: i32,
        samples: &[[i64; 2]],
        mut visit: impl FnMut(i32, i32, usize, f32),
    ) {
        // Each edge as a x + b y + c, not negative inside.
        let mut edges = [[0i64; 3]; 3];
        for (k, edge) in edges.iter_mut().enumerate() {
            let [from, to] = [k, (k + 1) % 3].map(|k| self.corners[k].map(i64::from));
            let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
            // Two triangles run along the edge they share in opposite directions: one of them has what is on it.
            let has_edge = dy > 0 || (dy == 0 && dx > 0);
            *edge = [-dy, dx, dy * from[0] - dx * from[1] - i64::from(!has_edge)];
        }
        // The most that an edge can gain from the upper left corner of a pixel to anywhere in it.
        let gains = edges.map(|[a, b, _]| 256 * (a.max(0) + b.max(0)));
        for y in self.rows[0].max(rows.start)..self.rows[1].min(rows.end) {
            for x in self.columns[0].max(0)..self.columns[1].min(width) {
                let corner = [i64::from(x) * 256, i64::from(y) * 256];
                let at = edges.map(|[a, b, c]| a * corner[0] + b * corner[1] + c);
                if (0..3).any(|k| at[k] + gains[k] < 0) {
                    continue;
                }
                for (s, [sx, sy]) in samples.iter().enumerate() {
                    if (0..3).all(|k| at[k] + edges[k][0] * sx + edges[k][1] * sy >= 0) {
                        let (px, py) = (f64::from(x) + *sx as f64 / GRID, f64::from(y) + *sy as f64 / GRID);
                        let depth = (self.depth[0] + self.depth[1] * px + self.depth[2] * py) as f32;
                        visit(x, y, s, depth.max(self.depths[0]).min(self.depths[1]));
                    }
                }
            }
        }
    }
}

/// Clips a polygon in clip space (depth from 0 to w) and adds the triangles of what is left. What is not finite or has no
/// area adds nothing.
pub(super) fn add_polygon(
    viewport: &Viewport,
    corners: &[DVec4],
    (surface, part): (u32, u32),
    faces: &mut Vec<Face>,
) {
    if !corners.iter().all(|v| v.is_finite()) {
        return;
    }
    let distances = |v: &DVec4| viewport.inside(*v);
    let is_inside = |v: &DVec4| distances(v).iter().all(|d| *d >= 0.0) && v.w > 0.0;
    if corners.iter().all(is_inside) {
        return add_fan(viewport, corners, (surface, part), faces);
    }
    let mut polygon = corners.to_vec();
    for plane in 0..6 {
        let before = std::mem::take(&mut polygon);
        for (k, &v) in before.iter().enumerate() {
            let next = before[(k + 1) % before.len()];
            let (here, there) = (viewport.inside(v)[plane], viewport.inside(next)[plane]);
            if here >= 0.0 {
                polygon.push(v);
            }
            if (here >= 0.0) != (there >= 0.0) {
                // From the inside out, so that both triangles at an edge get the same corner.
                let (inner, outer, a, b) =
                    if here >= 0.0 { (v, next, here, there) } else { (next, v, there, here) };
                polygon.push(inner + (outer - inner) * (a / (a - b)));
            }
        }
    }
    // Corners with w = 0 are left only when everything there is at the eye itself.
    if polygon.iter().all(|v| v.w > 0.0) {
        add_fan(viewport, &polygon, (surface, part), faces);
    }
}

fn add_fan(viewport: &Viewport, polygon: &[DVec4], id: (u32, u32), faces: &mut Vec<Face>) {
    for k in 2..polygon.len() {
        let corners = [polygon[0], polygon[k - 1], polygon[k]];
        let points = corners.map(|v| viewport.pixel(v));
        let depths = corners.map(|v| v.z / v.w);
        faces.extend(face(points, depths, id, viewport));
    }
}

/// A triangle of points in pixels with their depths; nothing when it has no area on the grid or is outside.
pub(super) fn face(
    points: [DVec2; 3],
    mut depths: [f64; 3],
    (surface, part): (u32, u32),
    viewport: &Viewport,
) -> Option<Face> {
    let within = |p: &DVec2| p.x.abs() <= 2.0 * GUARD && p.y.abs() <= 2.0 * GUARD;
    if !points.iter().all(within) || !depths.iter().all(|d| d.is_finite()) {
        return None;
    }
    let mut corners = points.map(|p| [(p.x * GRID).round() as i32, (p.y * GRID).round() as i32]);
    let side = |k: usize| [0, 1].map(|axis| i64::from(corners[k][axis]) - i64::from(corners[0][axis]));
    let ([x1, y1], [x2, y2]) = (side(1), side(2));
    let area = x1 * y2 - x2 * y1;
    if area == 0 {
        return None;
    }
    let bounds = |axis: usize, limit: f64| {
        let of = corners.map(|c| c[axis]);
        let low = of[0].min(of[1]).min(of[2]) >> 8;
        let high = (of[0].max(of[1]).max(of[2]) >> 8) + 1;
        [low.max(0), high.min(limit as i32)]
    };
    let (columns, rows) = (bounds(0, viewport.size.x), bounds(1, viewport.size.y));
    if columns[0] >= columns[1] || rows[0] >= rows[1] {
        return None;
    }
    let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(|d| d as f64 / GRID);
    let (d1, d2) = (depths[1] - depths[0], depths[2] - depths[0]);
    let area_pixels = x1 * y2 - x2 * y1;
    let (across, down) = ((d1 * y2 - d2 * y1) / area_pixels, (d2 * x1 - d1 * x2) / area_pixels);
    let [x0, y0] = corners[0].map(|c| f64::from(c) / GRID);
    let depth = [depths[0] - across * x0 - down * y0, across, down];
    if area < 0 {
        corners.swap(1, 2);
        depths.swap(1, 2);
    }
    let least = depths[0].min(depths[1]).min(depths[2]) as f32;
    let most = depths[0].max(depths[1]).max(depths[2]) as f32;
    Some(Face { surface, part, corners, depth, depths: [least, most], columns, rows })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZE: (u32, u32) = (40, 30);

    fn counts(faces: &[Face]) -> Vec<u32> {
        let mut counts = vec![0; (SIZE.0 * SIZE.1 * 4) as usize];
        for face in faces {
            face.cover(&(0..SIZE.1 as i32), SIZE.0 as i32, &FOUR, |x, y, s, _| {
                counts[((y * SIZE.0 as i32 + x) * 4) as usize + s] += 1;
            });
        }
        counts
    }

    proptest! {
        #[test]
        fn triangles_that_share_edges_cover_each_sample_once(
            hub in prop::array::uniform2(1.0f64..29.0), on_grid in any::<bool>(),
        ) {
            // A fan around any point that fills the picture and more.
            let snap = |c: f64| if on_grid { (c * 8.0).round() / 8.0 } else { c };
            let hub = DVec2::new(snap(hub[0]), snap(hub[1]));
            let rim = [(-5.0, -5.0), (20.0, -7.0), (45.0, -5.0), (47.0, 15.0), (45.0, 35.0), (-5.0, 35.0)];
            let rim = rim.map(|(x, y)| DVec2::new(x, y));
            let viewport = Viewport::new(SIZE);
            let faces: Vec<Face> = (0..rim.len())
                .filter_map(|k| face([hub, rim[k], rim[(k + 1) % rim.len()]], [0.5; 3], (0, 0), &viewport))
                .collect();
            prop_assert!(counts(&faces).iter().all(|count| *count == 1));
        }

        #[test]
        fn clipping_keeps_what_is_in_the_picture(
            corners in prop::array::uniform3((-4.0f64..4.0, -4.0f64..4.0, -2.0f64..6.0)), near in 0.05f64..0.5,
        ) {
            // Reverse depth of a camera at the origin that looks along w: z is the near distance everywhere.
            let corners = corners.map(|(x, y, w)| DVec4::new(x, y, near, w));
            let viewport = Viewport::new(SIZE);
            let mut faces = Vec::new();
            add_polygon(&viewport, &corners, (0, 0), &mut faces);
            let counts = counts(&faces);
            let (normal, offset) = {
                let [a, b, c] = corners.map(|v| glam::DVec3::new(v.x, v.y, v.w));
                let normal = (b - a).cross(c - a);
                (normal, normal.dot(a))
            };
            for y in 0..SIZE.1 {
                for x in 0..SIZE.0 {
                    // The ray through the middle of the pixel against the triangle itself.
                    let ndc = DVec2::new((f64::from(x) + 0.5) / 20.0 - 1.0, 1.0 - (f64::from(y) + 0.5) / 15.0);
                    let ray = glam::DVec3::new(ndc.x, ndc.y, 1.0);
                    let t = offset / normal.dot(ray);
                    let sides = [0, 1, 2].map(|k| {
                        let [a, b] = [k, (k + 1) % 3].map(|k| corners[k]).map(|v| glam::DVec3::new(v.x, v.y, v.w));
                        let inward = normal.cross(b - a).normalize_or_zero();
                        (ray * t - a).dot(inward)
                    });
                    // Well inside, and well beyond the near plane: by more than the size of a pixel there.
                    let margin = 0.2 * t.abs();
                    let all = (0..4).all(|s| counts[((y * SIZE.0 + x) * 4) as usize + s] == 1);
                    let none = (0..4).all(|s| counts[((y * SIZE.0 + x) * 4) as usize + s] == 0);
                    let steep = normal.normalize_or_zero().dot(ray.normalize()).abs() < 0.2;
                    if !steep && t > near * 1.2 && sides.iter().all(|d| *d > margin) {
                        prop_assert!(all, "hole at {x}, {y}");
                    }
                    if !steep && (t < near * 0.8 || sides.iter().any(|d| *d < -margin)) {
                        prop_assert!(none, "too much at {x}, {y}");
                    }
                }
            }
        }
    }

    #[test]
    fn depth_is_that_of_the_plane() {
        let points = [DVec2::new(-10.0, -10.0), DVec2::new(90.0, -10.0), DVec2::new(-10.0, 90.0)];
        let plane = |p: DVec2| 0.2 + 0.004 * p.x + 0.003 * p.y;
        let face = face(points, points.map(plane), (0, 0), &Viewport::new(SIZE)).unwrap();
        face.cover(&(0..30), 40, &CENTRE, |x, y, _, depth| {
            let exact = plane(DVec2::new(f64::from(x) + 0.5, f64::from(y) + 0.5));
            assert!((f64::from(depth) - exact).abs() < 1e-6);
        });
        assert!((face.slope() - 0.004).abs() < 1e-9);
    }
}
