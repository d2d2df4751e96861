//! How each item is shaded, and what is drawn besides: lines, points, the view.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::Vec3;
use souple::scene::{ColliderShape, Look, Scene, Style, View};
use souple_formats::picture::Picture;

use crate::backdrop::Extent;
use crate::capture::{Item, ItemKind, Moment};
use crate::style::{Quantity, StyleSheet};

/// Colours of bodies that have none of their own, sRGB: told apart by people who see few colours, too.
const BODY_COLOURS: [[f32; 3]; 6] = [
    [0.80, 0.27, 0.22],
    [0.20, 0.48, 0.72],
    [0.90, 0.65, 0.20],
    [0.25, 0.58, 0.42],
    [0.58, 0.40, 0.68],
    [0.72, 0.56, 0.44],
];
/// Colour of colliders that have none of their own, sRGB.
const COLLIDER_COLOUR: [f32; 3] = [0.62, 0.64, 0.67];
/// Colour of paper that has none of its own, sRGB.
const PAPER_COLOUR: [f32; 3] = [0.80, 0.78, 0.73];
/// How much darker the other side of a cloth is without a colour of its own.
const BACK_SHADE: f32 = 0.62;

/// How one item is shaded.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemLook {
    /// Name of a built-in style, or the path of a shader as written in the scene: a name of a [`StyleSheet`].
    pub style: Arc<str>,
    /// Colour, linear.
    pub colour: Vec3,
    /// Colour of the other side, linear.
    pub back_colour: Vec3,
    /// Image, when the look has one.
    pub texture: Option<Arc<Picture>>,
    /// Numbers of the style that differ from its own.
    pub parameters: BTreeMap<String, f64>,
    /// Ends of the colour map; fitted without it.
    pub range: Option<[f32; 2]>,
    /// Whether the elements of a solid are drawn as lines, too.
    pub cells: bool,
    /// Whether creases of paper and crests of folds are drawn as lines, too.
    pub creases: bool,
    /// Whether it is drawn at all.
    pub visible: bool,
}

/// How everything is seen.
#[derive(Clone, Debug)]
pub struct Looks {
    /// Looks of the bodies of the model.
    pub bodies: Vec<ItemLook>,
    /// Looks of the sheets of paper of the model.
    pub papers: Vec<ItemLook>,
    /// Looks of the colliders of the model.
    pub colliders: Vec<ItemLook>,
    /// Which colliders are skins of characters.
    pub skins: Vec<bool>,
    /// Camera, background, ground, light.
    pub view: View,
    /// What ground and shadows are made for; each moment's own without it, so that they move with the cloth.
    pub extent: Option<Extent>,
}

impl Looks {
    /// The looks that a scene asks for. `texture` gives the image of a path; what it cannot give is drawn without.
    pub fn of_scene(scene: &Scene, mut texture: impl FnMut(&str) -> Option<Arc<Picture>>) -> Looks {
        let skins = scene.colliders.iter().map(|c| matches!(c.shape, ColliderShape::Skin(_))).collect();
        let papers = scene.papers.iter().map(|p| item_look(p.look.as_ref(), PAPER_COLOUR, &mut texture));
        let papers = papers.collect();
        let mut looks = Looks {
            bodies: Vec::new(),
            papers,
            colliders: Vec::new(),
            skins,
            view: scene.view,
            extent: None,
        };
        for (b, body) in scene.bodies.iter().enumerate() {
            looks.bodies.push(item_look(
                body.look.as_ref(),
                BODY_COLOURS[b % BODY_COLOURS.len()],
                &mut texture,
            ));
        }
        for collider in &scene.colliders {
            looks.colliders.push(item_look(collider.look.as_ref(), COLLIDER_COLOUR, &mut texture));
        }
        looks
    }

    /// Gives every body one style, keeping colours and textures (ESSI-15, ESSI-16); and skins of characters, where there are no
    /// bodies. Styles that show what only skins have are given to them alone.
    pub fn set_style(&mut self, style: &str) {
        let of_skins = Quantity::ALL.into_iter().any(|q| q.is_of_skins() && q.name() == style);
        let alone = of_skins || self.bodies.is_empty() && self.papers.is_empty();
        let skins = self.colliders.iter_mut().zip(&self.skins).filter(|(_, skin)| alone && **skin);
        let bodies = self.bodies.iter_mut().chain(&mut self.papers).filter(|_| !of_skins);
        for look in bodies.chain(skins.map(|(look, _)| look)) {
            look.style = style.into();
            look.parameters.clear();
            look.range = None;
        }
    }

    /// Shows what is painted on the skins of characters.
    pub fn show_painted(&mut self) {
        for (look, _) in self.colliders.iter_mut().zip(&self.skins).filter(|(_, skin)| **skin) {
            look.style = Quantity::Painted.name().into();
            look.parameters.clear();
            look.range = Some([0.0, 1.0]);
        }
    }

    /// Draws the elements of all solids (FAU-13).
    pub fn show_cells(&mut self) {
        self.bodies.iter_mut().for_each(|look| look.cells = true);
    }

    /// Draws creases of paper and crests of folds.
    pub fn show_creases(&mut self) {
        let looks = self.bodies.iter_mut().chain(&mut self.papers).chain(&mut self.colliders);
        looks.for_each(|look| look.creases = true);
    }

    /// The look of an item.
    pub fn of(&self, item: &Item) -> Option<&ItemLook> {
        match item.kind {
            ItemKind::Body(b) => self.bodies.get(b),
            ItemKind::Paper(p) => self.papers.get(p),
            ItemKind::Collider(c) => self.colliders.get(c),
        }
    }

    /// Sets the ends of colour maps that have none from all values of the moments and of all bodies that show the same
    /// quantity, so that a colour means the same in each.
    /// Signed quantities get a range with zero in the middle. One percent of the values at each end may fall outside.
    pub fn fit_ranges(&mut self, styles: &StyleSheet, moments: &[Moment]) {
        for quantity in Quantity::ALL {
            let fitted =
                |look: &ItemLook| look.range.is_none() && styles.quantity(&look.style) == Some(quantity);
            let mut values = Vec::new();
            for item in moments.iter().flat_map(|moment| &moment.items) {
                let counts = !matches!(item.kind, ItemKind::Collider(_)) || quantity.is_of_skins();
                if counts && self.of(item).is_some_and(fitted) {
                    values.extend(quantity.seen_values(item));
                }
            }
            let range = quantity.range_of(&mut values);
            let skins = self.colliders.iter_mut().filter(|_| quantity.is_of_skins());
            let looks = self.bodies.iter_mut().chain(&mut self.papers).chain(skins);
            looks.filter(|look| fitted(look)).for_each(|look| look.range = Some(range));
        }
    }

    /// The quantity shown by colours, with its range, for the legend. None when bodies show different ones: a legend could
    /// be true for some of them only. `drawn` says which styles the renderer can draw.
    pub fn legend(&self, styles: &StyleSheet, drawn: impl Fn(&str) -> bool) -> Option<(Quantity, [f32; 2])> {
        let bodies = self.bodies.iter().chain(&self.papers).map(|look| (look, false));
        let looks = bodies.chain(self.colliders.iter().map(|look| (look, true)));
        let mut shown =
            looks.filter(|(look, _)| look.visible && drawn(&look.style)).filter_map(|(look, is_collider)| {
                let quantity = styles.quantity(&look.style)?;
                (!is_collider || quantity.is_of_skins()).then_some((quantity, look.range?))
            });
        let first = shown.next()?;
        shown.all(|other| other == first).then_some(first)
    }
}

/// Name that a [`StyleSheet`] knows a style by.
pub fn style_name(style: &Style) -> Arc<str> {
    match style {
        Style::Shader(path) => Arc::from(path.as_str()),
        Style::Standard => "standard".into(),
        Style::Phong => "phong".into(),
        Style::Velvet => "velvet".into(),
        Style::Satin => "satin".into(),
        Style::Chrome => "chrome".into(),
        Style::CubeMap => "cube_map".into(),
        Style::Bump => "bump".into(),
        Style::Toon => "toon".into(),
        Style::Silhouette => "silhouette".into(),
        Style::Glass => "glass".into(),
        Style::Wireframe => "wireframe".into(),
        Style::Normal => "normal".into(),
        Style::Texture => "texture".into(),
        Style::Checker => "checker".into(),
        Style::Strain => "strain".into(),
        Style::Stress => "stress".into(),
        Style::Velocity => "velocity".into(),
        Style::Curvature => "curvature".into(),
        Style::Contact => "contact".into(),
        Style::Crossing => "crossing".into(),
        Style::Gain => "gain".into(),
        Style::Painted => "painted".into(),
        Style::Compression => "compression".into(),
        Style::Isometry => "isometry".into(),
    }
}

/// An sRGB colour from 0 to 1 as linear light.
pub fn linear(srgb: [f32; 3]) -> Vec3 {
    let part = |c: f32| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
    Vec3::from(srgb.map(part))
}

/// Linear light as an sRGB colour from 0 to 1.
pub fn srgb(linear: Vec3) -> [f32; 3] {
    let part = |c: f32| if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
    linear.clamp(Vec3::ZERO, Vec3::ONE).to_array().map(part)
}

fn item_look(
    look: Option<&Look>,
    fallback: [f32; 3],
    texture: &mut impl FnMut(&str) -> Option<Arc<Picture>>,
) -> ItemLook {
    let plain = Look::default();
    let look = look.unwrap_or(&plain);
    let single = |c: [f64; 3]| c.map(|part| part as f32);
    let front = look.colour.map_or(fallback, single);
    let back = look.back_colour.map_or(front.map(|part| part * BACK_SHADE), single);
    ItemLook {
        style: style_name(&look.style),
        colour: linear(front),
        back_colour: linear(back),
        texture: look.texture.as_deref().and_then(texture),
        parameters: look.parameters.clone(),
        range: look.range.map(|range| range.map(|end| end as f32)),
        cells: look.cells,
        creases: look.creases,
        visible: !look.hidden,
    }
}

/// A line drawn on top of the scene or in it: hands, gizmos, outlines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// One end, m.
    pub from: Vec3,
    /// The other end, m.
    pub to: Vec3,
    /// Colour, linear, with opacity.
    pub colour: [f32; 4],
    /// Width, pixels.
    pub width: f32,
    /// Whether it is seen through what is in front of it.
    pub on_top: bool,
}

/// A round point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marker {
    /// Where, m.
    pub at: Vec3,
    /// Colour, linear, with opacity.
    pub colour: [f32; 4],
    /// Diameter, pixels.
    pub size: f32,
    /// Whether it is seen through what is in front of it.
    pub on_top: bool,
}

/// What is drawn besides the items.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// Lines.
    pub lines: Vec<Line>,
    /// Points.
    pub points: Vec<Marker>,
}

#[cfg(test)]
mod tests {
    use souple::scene::{Body, Collider, SkinShape};

    use super::*;

    #[test]
    fn styles_of_skins_are_for_skins_alone() {
        let skin = Collider { shape: ColliderShape::Skin(SkinShape::default()), ..Collider::default() };
        let mut scene = Scene {
            bodies: vec![Body::default()],
            colliders: vec![Collider::default(), skin],
            ..Scene::default()
        };
        let styles = |looks: &Looks| -> Vec<String> {
            looks.bodies.iter().chain(&looks.colliders).map(|look| look.style.to_string()).collect()
        };
        let mut looks = Looks::of_scene(&scene, |_| None);
        looks.set_style("gain");
        assert_eq!(styles(&looks), ["standard", "standard", "gain"]);
        looks.set_style("toon");
        assert_eq!(styles(&looks), ["toon", "standard", "gain"], "there is a body");
        looks.show_painted();
        assert_eq!(styles(&looks), ["toon", "standard", "painted"]);
        let sheet = StyleSheet::built_in();
        assert_eq!(looks.legend(&sheet, |_| true), Some((Quantity::Painted, [0.0, 1.0])));
        scene.bodies.clear();
        let mut looks = Looks::of_scene(&scene, |_| None);
        looks.set_style("toon");
        assert_eq!(styles(&looks), ["standard", "toon"], "a character alone");
    }
}
