//! Draws without any graphics driver: the slow twin of [`crate::gpu`], for machines that have none and for tests.
//!
//! A plain rasteriser: four samples per pixel at the places GPUs use, a depth buffer, shading once per pixel and triangle,
//! the mean of the samples as they are stored. Light, shadows, ground and tone mapping follow the shaders formula by formula;
//! the light and the backdrop are the same code. Styles: [`STYLES`]; every other one is drawn as standard, which the
//! caller is to say ([`crate::Artist::missing_styles`]).
//!
//! Promised: the same picture on every run, whatever the number of threads; no panic for any moment, camera or size.
//! Triangles with a corner that is not finite are left out. Sides of pictures are brought into 1 to [`MAX_SIDE`] pixels.
//! Not promised: outlines of toons, transparency, and speed (some tenths of a second for 1280 × 720).

#[cfg(test)]
pub(crate) mod fixture;
mod light;
mod marks;
mod raster;
mod surface;
#[cfg(test)]
mod tests;

use std::ops::Range;

use glam::{DMat4, DVec2, Vec3};
use rayon::prelude::*;
use souple_formats::picture::Picture;

use self::light::{Rays, Sun, encoded};
use self::marks::Stroke;
use self::raster::{CENTRE, FOUR, Face, Viewport, add_polygon};
use self::surface::Surface;
use crate::backdrop::Backdrop;
use crate::camera::Camera;
use crate::capture::Moment;
use crate::environment::Surroundings;
use crate::geometry::cell_lines;
use crate::gpu::SHADOW_SIZE;
use crate::looks::{Line, Looks, Marks};
use crate::sheets::crease_lines;
use crate::style::StyleSheet;

/// Styles that are drawn as such.
pub const STYLES: [&str; 10] = [
    "standard",
    "wireframe",
    "strain",
    "stress",
    "velocity",
    "curvature",
    "contact",
    "crossing",
    "gain",
    "painted",
];
/// Longest side of a picture, pixels.
pub const MAX_SIDE: u32 = 16_384;
/// Where [`item_ids`] finds no item.
pub const NO_ITEM: u32 = u32::MAX;

/// Rows that are drawn at a time.
const BAND: usize = 16;
/// A sample that no face covers.
const NO_FACE: u32 = u32::MAX;
/// Surface of the faces of the ground.
const GROUND: u32 = u32::MAX;

/// Draws a picture. A picture without width or height has one pixel; sides are at most [`MAX_SIDE`].
pub fn draw(
    moment: &Moment,
    looks: &Looks,
    marks: &Marks,
    styles: &StyleSheet,
    camera: &Camera,
    size: (u32, u32),
) -> Picture {
    let size = clamped(size);
    let scene = Scene::new(moment, looks, marks, styles, camera, size);
    let mut rgba = vec![0u8; size.0 as usize * size.1 as usize * 4];
    rgba.par_chunks_mut(BAND * size.0 as usize * 4).enumerate().for_each(|(k, pixels)| {
        let first = (k * BAND) as i32;
        let rows = first..first + (pixels.len() / (size.0 as usize * 4)) as i32;
        let mut band = Band::new(rows, size.0 as i32);
        band.cover(&scene.faces);
        band.shade(&scene);
        for stroke in &scene.strokes {
            band.add_stroke(stroke);
        }
        band.resolve(pixels);
    });
    Picture { width: size.0, height: size.1, rgba }
}

/// Index of the item that is seen in the middle of each pixel, row by row; [`NO_ITEM`] where there is none. Sides are
/// brought into range as by [`draw`]. Items without a look, and those that are not visible, are not there.
pub fn item_ids(
    moment: &Moment,
    looks: &Looks,
    styles: &StyleSheet,
    camera: &Camera,
    size: (u32, u32),
) -> Vec<u32> {
    let size = clamped(size);
    let viewport = Viewport::new(size);
    let (surfaces, faces) = faces(moment, looks, styles, &projection(camera, size), &viewport);
    let width = size.0 as usize;
    let mut ids = vec![NO_ITEM; width * size.1 as usize];
    ids.par_chunks_mut(BAND * width).enumerate().for_each(|(k, ids)| {
        let first = (k * BAND) as i32;
        let rows = first..first + (ids.len() / width) as i32;
        let mut nearest = vec![0f32; ids.len()];
        for face in faces.iter().filter(|face| face.touches(&rows)) {
            face.cover(&rows, width as i32, &CENTRE, |x, y, _, depth| {
                let at = (y - first) as usize * width + x as usize;
                if depth >= nearest[at] {
                    (nearest[at], ids[at]) = (depth, surfaces[face.surface as usize].item);
                }
            });
        }
    });
    ids
}

fn clamped((width, height): (u32, u32)) -> (u32, u32) {
    (width.clamp(1, MAX_SIDE), height.clamp(1, MAX_SIDE))
}

fn projection(camera: &Camera, (width, height): (u32, u32)) -> DMat4 {
    camera.view_projection(width as f32 / height as f32).as_dmat4()
}

/// Everything that is visible, and its faces as the camera sees them.
fn faces<'a>(
    moment: &'a Moment,
    looks: &Looks,
    styles: &StyleSheet,
    projection: &DMat4,
    viewport: &Viewport,
) -> (Vec<Surface<'a>>, Vec<Face>) {
    let mut shown: Vec<_> = moment
        .items
        .iter()
        .enumerate()
        .filter_map(|(k, item)| Some((k, item, looks.of(item).filter(|look| look.visible)?)))
        .collect();
    // The order of the GPU: of two surfaces at the same depth the later one is seen.
    shown.sort_by(|a, b| a.2.style.cmp(&b.2.style));
    let mut surfaces: Vec<Surface<'a>> =
        shown.into_par_iter().map(|(k, item, look)| Surface::new(k, item, look, styles)).collect();
    let mut faces = Vec::new();
    for (number, surface) in (0u32..).zip(&mut surfaces) {
        surface.add_faces(number, projection, viewport, &mut faces);
    }
    (surfaces, faces)
}

/// A frame: all that rows of pixels are made of.
struct Scene<'a> {
    viewport: Viewport,
    surfaces: Vec<Surface<'a>>,
    faces: Vec<Face>,
    strokes: Vec<Stroke>,
    backdrop: Backdrop,
    /// Colours at the top and at the bottom, as they are stored.
    background: (Vec3, Vec3),
    sun: Sun,
    rays: Rays,
    eye: Vec3,
}

impl<'a> Scene<'a> {
    fn new(
        moment: &'a Moment,
        looks: &Looks,
        marks: &Marks,
        styles: &StyleSheet,
        camera: &Camera,
        size: (u32, u32),
    ) -> Scene<'a> {
        let viewport = Viewport::new(size);
        let projection = projection(camera, size);
        let (surfaces, mut faces) = faces(moment, looks, styles, &projection, &viewport);
        let backdrop = Backdrop::of(moment, looks, camera);
        if backdrop.has_ground {
            let (centre, reach) = (backdrop.ground_centre, backdrop.ground_reach);
            let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
                .map(|(x, z)| centre + Vec3::new(x, 0.0, z) * reach)
                .map(|p| projection * p.as_dvec3().extend(1.0));
            add_polygon(&viewport, &corners, (GROUND, 0), &mut faces);
        }
        let (top, bottom) = backdrop.background(&looks.view);
        let surroundings = Surroundings::new(&looks.view);
        let map = Viewport::new((SHADOW_SIZE, SHADOW_SIZE));
        let sun_projection = backdrop.sun_projection(surroundings.sun).as_dmat4();
        let mut shadows = Vec::new();
        for (number, surface) in (0u32..).zip(&surfaces).filter(|(_, surface)| !surface.is_wireframe()) {
            surface.add_shadow_faces(number, &sun_projection, &map, &mut shadows);
        }
        let lines: Vec<Line> = cell_lines(moment, looks, size.1)
            .into_iter()
            .chain(crease_lines(moment, looks, size.1))
            .chain(marks.lines.iter().copied())
            .collect();
        Scene {
            strokes: marks::strokes(&lines, &marks.points, &projection, &viewport),
            background: (encoded(top), encoded(bottom)),
            sun: Sun::new(&surroundings, &backdrop, &shadows),
            rays: Rays::new(camera, size),
            eye: camera.eye(),
            viewport,
            surfaces,
            faces,
            backdrop,
        }
    }

    /// Colour behind everything in a row, as it is stored.
    fn background_at(&self, row: i32) -> Vec3 {
        let down = (row as f32 + 0.5) / self.viewport.size.y as f32;
        self.background.0.lerp(self.background.1, down)
    }

    /// Colour of a face at the middle of a pixel, as it is stored.
    fn colour(&self, face: &Face, pixel: [i32; 2], background: Vec3) -> Vec3 {
        match self.surfaces.get(face.surface as usize) {
            Some(surface) => surface.colour(face.part, pixel, &self.viewport, &self.sun, self.eye),
            None => {
                light::ground(&self.sun, &self.backdrop, &self.rays, pixel, background).unwrap_or(background)
            }
        }
    }
}

/// Samples of some rows.
struct Band {
    rows: Range<i32>,
    width: i32,
    /// Depth of each sample, 1 near to 0 far.
    depths: Vec<f32>,
    /// Face of each sample.
    faces: Vec<u32>,
    /// Colour of each sample as it is stored: sRGB from 0 to 1.
    colours: Vec<Vec3>,
}

impl Band {
    fn new(rows: Range<i32>, width: i32) -> Band {
        let count = rows.len() * width as usize * FOUR.len();
        let (depths, faces) = (vec![0.0; count], vec![NO_FACE; count]);
        Band { rows, width, depths, faces, colours: vec![Vec3::ZERO; count] }
    }

    /// Index of the first sample of a pixel.
    fn first(&self, x: i32, y: i32) -> usize {
        ((y - self.rows.start) as usize * self.width as usize + x as usize) * FOUR.len()
    }

    /// Finds the nearest face of each sample.
    fn cover(&mut self, faces: &[Face]) {
        let (rows, width) = (self.rows.clone(), self.width);
        for (k, face) in (0u32..).zip(faces).filter(|(_, face)| face.touches(&rows)) {
            face.cover(&rows, width, &FOUR, |x, y, s, depth| {
                let at = self.first(x, y) + s;
                if depth >= self.depths[at] {
                    (self.depths[at], self.faces[at]) = (depth, k);
                }
            });
        }
    }

    /// Gives each sample the colour of its face, or of the background.
    fn shade(&mut self, scene: &Scene<'_>) {
        for y in self.rows.clone() {
            let background = scene.background_at(y);
            for x in 0..self.width {
                let first = self.first(x, y);
                for s in 0..FOUR.len() {
                    let face = self.faces[first + s];
                    // Shaded once per pixel.
                    let same = (0..s).find(|other| self.faces[first + other] == face);
                    self.colours[first + s] = match (same, scene.faces.get(face as usize)) {
                        (Some(other), _) => self.colours[first + other],
                        (None, Some(face)) => scene.colour(face, [x, y], background),
                        (None, None) => background,
                    };
                }
            }
        }
    }

    fn add_stroke(&mut self, stroke: &Stroke) {
        for y in self.rows.clone() {
            for x in stroke.columns(y, self.width) {
                let (colour, alpha) = stroke.colour(x, y);
                if alpha <= 0.0 {
                    continue;
                }
                let first = self.first(x, y);
                for (s, [sx, sy]) in FOUR.iter().enumerate() {
                    let (px, py) = (f64::from(x) + *sx as f64 / 256.0, f64::from(y) + *sy as f64 / 256.0);
                    let depth = stroke.depth(DVec2::new(px, py)) as f32;
                    if depth <= 1.0 && (stroke.on_top || depth >= self.depths[first + s]) {
                        self.colours[first + s] = self.colours[first + s].lerp(colour, alpha);
                    }
                }
            }
        }
    }

    /// The mean of the samples of each pixel as bytes.
    fn resolve(&self, pixels: &mut [u8]) {
        for (pixel, samples) in pixels.chunks_exact_mut(4).zip(self.colours.chunks_exact(FOUR.len())) {
            let mean = samples.iter().copied().sum::<Vec3>() / FOUR.len() as f32;
            let [r, g, b] = mean.to_array().map(|c| (c * 255.0).round() as u8);
            pixel.copy_from_slice(&[r, g, b, 255]);
        }
    }
}
