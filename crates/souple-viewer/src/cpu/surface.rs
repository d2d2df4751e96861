//! Items ready to be drawn, and the colour of a point of them: `shaders/surface.wgsl` and the styles standard, wireframe
//! and those of colour maps in Rust. Change both together; a test compares the pictures.

use std::borrow::Cow;

use glam::{DMat4, DVec2, DVec3, DVec4, Vec2, Vec3};
use souple_formats::picture::Picture;

use super::light::{Sun, encoded};
use super::raster::{Face, Viewport, add_polygon, face};
use crate::capture::{Item, ItemKind};
use crate::environment::{SUN, tone_map};
use crate::geometry::{self, ROPE_SIDES};
use crate::looks::{ItemLook, linear};
use crate::overlay::colour_map;
use crate::style::{Quantity, StyleSheet};

/// Half the width of the lines of a wireframe, pixels.
const HALF_LINE: f64 = 0.5;

/// How a surface is shaded.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shading {
    Standard { roughness: f32, highlight: f32, translucency: f32 },
    ColourMap { quantity: Quantity, relief: f32 },
    Wireframe { shading: f32 },
}

/// An item in the world, ready to be drawn.
#[derive(Debug)]
pub(super) struct Surface<'a> {
    /// Index of the item in the moment.
    pub item: u32,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    values: Vec<f32>,
    uvs: Cow<'a, [[f32; 2]]>,
    triangles: Cow<'a, [[u32; 3]]>,
    edges: Cow<'a, [[u32; 2]]>,
    clip: Vec<DVec4>,
    colour: Vec3,
    back_colour: Vec3,
    one_sided: bool,
    shading: Shading,
    texture: Option<Texture>,
}

impl<'a> Surface<'a> {
    /// An item with its look; styles that are not known here are drawn as standard.
    pub fn new(index: usize, item: &'a Item, look: &ItemLook, styles: &StyleSheet) -> Surface<'a> {
        let shading = shading(look, styles);
        let (mesh, positions) = item.drawn();
        let values = match shading {
            Shading::ColourMap { quantity, .. } => {
                let [low, high] = look.range.unwrap_or([0.0, 1.0]);
                item.drawn_values(quantity.values(item)).iter().map(|v| (v - low) / (high - low)).collect()
            }
            _ => vec![0.0; positions.len()],
        };
        let mut surface = Surface {
            item: index as u32,
            positions: Vec::new(),
            normals: Vec::new(),
            values,
            uvs: Cow::Borrowed(&mesh.uvs),
            triangles: Cow::Borrowed(&mesh.triangles),
            edges: Cow::Borrowed(&mesh.edges),
            clip: Vec::new(),
            colour: look.colour,
            back_colour: look.back_colour,
            one_sided: matches!(item.kind, ItemKind::Collider(_)) || !mesh.segments.is_empty(),
            shading,
            texture: look.texture.as_deref().and_then(Texture::new),
        };
        if mesh.segments.is_empty() {
            surface.positions = positions.to_vec();
            geometry::vertex_normals(positions, &mesh.triangles, &mut surface.normals);
        } else {
            let tube = geometry::tube(positions, &mesh.segments, mesh.rope_radius, ROPE_SIDES);
            let value = |v: &u32| surface.values.get(*v as usize).copied().unwrap_or(0.0);
            surface.values = tube.source.iter().map(value).collect();
            surface.edges = tube.triangles.iter().flat_map(|t| [[t[0], t[1]], [t[1], t[2]]]).collect();
            (surface.positions, surface.normals) = (tube.positions, tube.normals);
            surface.uvs = Cow::Owned(tube.uvs);
            surface.triangles = Cow::Owned(tube.triangles);
        }
        for p in &mut surface.positions {
            *p = item.transform.transform_point3(*p);
        }
        for n in &mut surface.normals {
            *n = item.transform.transform_vector3(*n);
        }
        surface
    }

    /// Whether it is drawn by its edges; then it throws no shadow.
    pub fn is_wireframe(&self) -> bool {
        matches!(self.shading, Shading::Wireframe { .. })
    }

    /// Adds what is seen of it by a camera.
    pub fn add_faces(&mut self, number: u32, projection: &DMat4, viewport: &Viewport, faces: &mut Vec<Face>) {
        self.clip = self.positions.iter().map(|p| *projection * p.as_dvec3().extend(1.0)).collect();
        if self.is_wireframe() {
            for k in 0..self.edges.len() {
                if let Some(line) = self.line(k, viewport) {
                    line.add_faces((number, k as u32), viewport, faces);
                }
            }
        } else {
            self.add_triangles(number, &self.clip, viewport, faces);
        }
    }

    /// Adds all of its triangles, as they are seen by the sun.
    pub fn add_shadow_faces(
        &self,
        number: u32,
        projection: &DMat4,
        viewport: &Viewport,
        faces: &mut Vec<Face>,
    ) {
        let clip: Vec<DVec4> =
            self.positions.iter().map(|p| *projection * p.as_dvec3().extend(1.0)).collect();
        self.add_triangles(number, &clip, viewport, faces);
    }

    fn add_triangles(&self, number: u32, clip: &[DVec4], viewport: &Viewport, faces: &mut Vec<Face>) {
        for (k, t) in (0u32..).zip(self.triangles.iter()) {
            if let [Some(a), Some(b), Some(c)] = t.map(|v| clip.get(v as usize)) {
                add_polygon(viewport, &[*a, *b, *c], (number, k), faces);
            }
        }
    }

    /// An edge in the picture, without what is nearer than the nearest distance that is seen.
    fn line(&self, edge: usize, viewport: &Viewport) -> Option<ScreenLine> {
        let [a, b] = self.edges.get(edge)?.map(|v| self.clip.get(v as usize).copied());
        let (a, b) = (a?, b?);
        if !a.is_finite() || !b.is_finite() {
            return None;
        }
        let (inside_a, inside_b) = (a.w - a.z, b.w - b.z);
        let cut = inside_a / (inside_a - inside_b);
        let (from, to) = match (inside_a >= 0.0, inside_b >= 0.0) {
            (true, true) => (0.0, 1.0),
            (true, false) => (0.0, cut),
            (false, true) => (cut, 1.0),
            (false, false) => return None,
        };
        let [p, q] = [from, to].map(|t| a.lerp(b, t));
        (p.w > 0.0 && q.w > 0.0).then(|| ScreenLine {
            ends: [viewport.pixel(p), viewport.pixel(q)],
            depths: [p.z / p.w, q.z / q.w],
            w: [p.w, q.w],
            shares: [from, to],
        })
    }

    /// Colour of a triangle or edge at the middle of a pixel, as it is stored.
    pub fn colour(&self, part: u32, pixel: [i32; 2], viewport: &Viewport, sun: &Sun, eye: Vec3) -> Vec3 {
        let middle = DVec2::new(f64::from(pixel[0]) + 0.5, f64::from(pixel[1]) + 0.5);
        let found = match self.shading {
            Shading::Wireframe { shading } => self.edge_colour(part, middle, viewport, sun, shading),
            _ => self.triangle_colour(part, middle, viewport, sun, eye),
        };
        encoded(found.filter(|colour| colour.is_finite()).unwrap_or(Vec3::ZERO))
    }

    fn edge_colour(
        &self,
        part: u32,
        at: DVec2,
        viewport: &Viewport,
        sun: &Sun,
        shading: f32,
    ) -> Option<Vec3> {
        let t = self.line(part as usize, viewport)?.share(at) as f32;
        let [a, b] = self.edges.get(part as usize)?.map(|v| self.normals.get(v as usize).copied());
        let normal = a?.lerp(b?, t).normalize_or(Vec3::Y);
        let facing = normal.dot(sun.direction).abs();
        Some(self.colour * (1.0 - shading * (1.0 - facing)))
    }

    fn triangle_colour(
        &self,
        part: u32,
        at: DVec2,
        viewport: &Viewport,
        sun: &Sun,
        eye: Vec3,
    ) -> Option<Vec3> {
        let corners = *self.triangles.get(part as usize)?;
        let [a, b, c] = corners.map(|v| self.clip.get(v as usize).map(|v| DVec3::new(v.x, v.y, v.w)));
        let weights = Weights::new([a?, b?, c?]);
        let shares = weights.near(at, viewport);
        let mix = |of: &[Vec3]| -> Option<Vec3> {
            let [a, b, c] = corners.map(|v| of.get(v as usize).copied());
            Some(a? * shares[0] + b? * shares[1] + c? * shares[2])
        };
        let position = mix(&self.positions)?;
        let turn = if weights.is_front { 1.0 } else { -1.0 };
        let normal = turn * mix(&self.normals)?.normalize_or(Vec3::Y);
        let view = (eye - position).normalize_or(Vec3::Y);
        match self.shading {
            Shading::ColourMap { quantity, relief } => {
                let value = |v: u32| self.values.get(v as usize).copied().unwrap_or(0.0);
                let value: f32 = corners.iter().zip(shares).map(|(v, share)| value(*v) * share).sum();
                let light = 1.0 - relief * (1.0 - normal.dot(view).clamp(0.0, 1.0));
                Some(colour_map(quantity, value) * light)
            }
            Shading::Standard { roughness, highlight, translucency } => {
                let side = if weights.is_front || self.one_sided { self.colour } else { self.back_colour };
                let base = side * self.texel(corners, &weights, at, viewport);
                let cosine = normal.dot(sun.direction);
                let direct = SUN * sun.reaches(position, normal);
                let exponent = (9.0 - 8.0 * roughness).exp2();
                let halfway = normal.dot((view + sun.direction).normalize_or(Vec3::Y)).max(0.0);
                let shine = highlight * halfway.powf(exponent) * cosine.max(0.0);
                let matt =
                    direct * (cosine.max(0.0) + translucency * (-cosine).max(0.0)) + sun.ambient(normal);
                Some(tone_map(base * matt + direct * shine))
            }
            Shading::Wireframe { .. } => None,
        }
    }

    /// Colour of the texture, white without one.
    fn texel(&self, corners: [u32; 3], weights: &Weights, at: DVec2, viewport: &Viewport) -> Vec3 {
        let Some(texture) = &self.texture else { return Vec3::ONE };
        let uv = |at: DVec2| {
            let shares = weights.at(at, viewport);
            let uvs = corners.map(|v| Vec2::from(self.uvs.get(v as usize).copied().unwrap_or_default()));
            uvs[0] * shares[0] + uvs[1] * shares[1] + uvs[2] * shares[2]
        };
        let here = uv(at);
        texture.sample(here, [uv(at + DVec2::X) - here, uv(at + DVec2::Y) - here])
    }
}

/// The shading of a look.
fn shading(look: &ItemLook, styles: &StyleSheet) -> Shading {
    let known = super::STYLES.contains(&&*look.style);
    let mut look = look.clone();
    if !known {
        look.style = "standard".into();
        look.parameters.clear();
    }
    let values = styles.values(&look);
    let value = |name: &str| {
        let style = styles.get_or_standard(&look.style)?;
        let place = style.parameters.iter().position(|p| p.name == name)?;
        values.get(place).copied()
    };
    match (&*look.style, styles.quantity(&look.style)) {
        ("wireframe", _) => Shading::Wireframe { shading: value("shading").unwrap_or(0.0) },
        (_, Some(quantity)) => Shading::ColourMap { quantity, relief: value("relief").unwrap_or(0.0) },
        _ => Shading::Standard {
            roughness: value("roughness").unwrap_or(1.0),
            highlight: value("highlight").unwrap_or(0.0),
            translucency: value("translucency").unwrap_or(0.0),
        },
    }
}

/// Shares of the corners of a triangle at points of the picture, right in perspective. Made in homogeneous coordinates,
/// so that corners behind the eye do no harm.
struct Weights {
    /// For each corner, the product of the two others.
    planes: [DVec3; 3],
    is_front: bool,
}

impl Weights {
    /// Corners as x, y and w of clip space.
    fn new([a, b, c]: [DVec3; 3]) -> Weights {
        let planes = [b.cross(c), c.cross(a), a.cross(b)];
        Weights { planes, is_front: a.dot(planes[0]) > 0.0 }
    }

    /// Shares at a point, outside of the triangle too.
    fn at(&self, at: DVec2, viewport: &Viewport) -> [f32; 3] {
        let ndc = DVec3::new(2.0 * at.x / viewport.size.x - 1.0, 1.0 - 2.0 * at.y / viewport.size.y, 1.0);
        let shares = self.planes.map(|plane| plane.dot(ndc));
        let sum = shares[0] + shares[1] + shares[2];
        shares.map(|share| (share / sum) as f32)
    }

    /// Shares at a point that may be just outside, as the middle of a pixel at an edge is; far outside, where a triangle
    /// seen from the side would give anything, those of a point of the triangle.
    fn near(&self, at: DVec2, viewport: &Viewport) -> [f32; 3] {
        let shares = self.at(at, viewport);
        if shares.iter().all(|share| (-1.0..=2.0).contains(share)) {
            return shares;
        }
        let shares = shares.map(|share| share.max(0.0));
        let sum = shares[0] + shares[1] + shares[2];
        if sum > 0.0 && sum.is_finite() { shares.map(|share| share / sum) } else { [1.0 / 3.0; 3] }
    }
}

/// An edge in the picture.
struct ScreenLine {
    ends: [DVec2; 2],
    depths: [f64; 2],
    w: [f64; 2],
    /// Where its ends are on the edge, 0 to 1.
    shares: [f64; 2],
}

impl ScreenLine {
    fn add_faces(&self, id: (u32, u32), viewport: &Viewport, faces: &mut Vec<Face>) {
        // What is far outside of the picture is cut off, so that its corners fit on the grid.
        let Some([from, to]) = cut_to_picture(self.ends, viewport) else { return };
        let [p, q] = [from, to].map(|t| self.ends[0].lerp(self.ends[1], t));
        let [near, far] = [from, to].map(|t| self.depths[0] + (self.depths[1] - self.depths[0]) * t);
        let across = (q - p).normalize_or(DVec2::X).perp() * HALF_LINE;
        faces.extend(face([p - across, q - across, q + across], [near, far, far], id, viewport));
        faces.extend(face([p - across, q + across, p + across], [near, far, near], id, viewport));
    }

    /// Where on the edge, 0 to 1, the point is that is drawn nearest to a point of the picture.
    fn share(&self, at: DVec2) -> f64 {
        let span = self.ends[1] - self.ends[0];
        let t = ((at - self.ends[0]).dot(span) / span.length_squared()).clamp(0.0, 1.0);
        let t = if t.is_finite() { t } else { 0.5 };
        let (a, b) = ((1.0 - t) / self.w[0], t / self.w[1]);
        self.shares[0] + (self.shares[1] - self.shares[0]) * (b / (a + b))
    }
}

/// The part of a segment, as shares of it, that is in the picture or at most a few pixels outside.
pub(super) fn cut_to_picture([p, q]: [DVec2; 2], viewport: &Viewport) -> Option<[f64; 2]> {
    let (mut from, mut to) = (0.0f64, 1.0f64);
    for axis in 0..2 {
        let (low, high) = (-64.0, viewport.size[axis] + 64.0);
        let step = q[axis] - p[axis];
        if step.abs() < 1e-9 {
            if p[axis] < low || p[axis] > high {
                return None;
            }
            continue;
        }
        let (a, b) = ((low - p[axis]) / step, (high - p[axis]) / step);
        (from, to) = (from.max(a.min(b)), to.min(a.max(b)));
    }
    (from <= to).then_some([from, to])
}

/// An image and its smaller levels, in linear light.
#[derive(Debug)]
struct Texture {
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    width: i32,
    height: i32,
    pixels: Vec<Vec3>,
}

impl Texture {
    fn new(picture: &Picture) -> Option<Texture> {
        picture.check().ok()?;
        let light: Vec<f32> = (0..=255u8).map(|byte| linear([f32::from(byte) / 255.0; 3]).x).collect();
        let level = |picture: &Picture| Level {
            width: picture.width as i32,
            height: picture.height as i32,
            pixels: picture
                .rgba
                .chunks_exact(4)
                .map(|p| Vec3::new(light[p[0] as usize], light[p[1] as usize], light[p[2] as usize]))
                .collect(),
        };
        let mut levels = vec![level(picture)];
        let mut smaller = picture.clone();
        while smaller.width.min(smaller.height) > 1 {
            smaller = smaller.scaled_down(2);
            levels.push(level(&smaller));
        }
        Some(Texture { levels })
    }

    /// The colour at texture coordinates that change by `steps` to the next pixels; repeated beyond 0 to 1.
    fn sample(&self, uv: Vec2, steps: [Vec2; 2]) -> Vec3 {
        let whole = &self.levels[0];
        let size = Vec2::new(whole.width as f32, whole.height as f32);
        let spread = steps.map(|step| (step * size).length());
        let last = (self.levels.len() - 1) as f32;
        let level = spread[0].max(spread[1]).max(1e-6).log2().clamp(0.0, last);
        let (low, high) = (level.floor() as usize, level.ceil() as usize);
        self.levels[low].sample(uv).lerp(self.levels[high].sample(uv), level.fract())
    }
}

impl Level {
    fn sample(&self, uv: Vec2) -> Vec3 {
        let wrapped = uv - uv.floor();
        let at = wrapped * Vec2::new(self.width as f32, self.height as f32) - 0.5;
        let (low, share) = (at.floor(), at - at.floor());
        let pixel = |dx: i32, dy: i32| {
            let x = (low.x as i32 + dx).rem_euclid(self.width);
            let y = (low.y as i32 + dy).rem_euclid(self.height);
            self.pixels.get((y * self.width + x) as usize).copied().unwrap_or(Vec3::ONE)
        };
        let upper = pixel(0, 0).lerp(pixel(1, 0), share.x);
        upper.lerp(pixel(0, 1).lerp(pixel(1, 1), share.x), share.y)
    }
}
