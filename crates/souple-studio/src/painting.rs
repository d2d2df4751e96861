//! Painting on the skin of a character (SIM-12): a brush sets numbers from 0 to 1 at its vertices, which the scene keeps as maps.
//!
//! A [`Dab`] is one touch of the brush: it acts on the vertices within its radius, in the pose on the screen, that face the eye. A
//! stroke is a row of dabs and one step of undo; the running scene gets what was painted when it ends. The skin that is
//! drawn has one vertex where the file has several (seams of textures), so [`Canvas`] knows which ones go together. What
//! a map means is said by whatever names it; here it is only painted.

use std::cell::{RefCell, RefMut};
use std::collections::BTreeMap;
use std::sync::Arc;

use glam::{Vec2, Vec3};
use souple::Model;
use souple::model::Carrier;
use souple::scene::{Character, ColliderShape, PaintedMap};
use souple::skin::CompiledRig;
use souple_viewer::pick::pick;
use souple_viewer::{Item, ItemKind, Moment};

use crate::app::StudioApp;
use crate::building::unique_name;
use crate::document::Object;
use crate::sight::metres_per_pixel;
use crate::tools::{Seen, Tool};

/// Distance between the dabs of a stroke, radii of the brush.
const SPACING: f32 = 0.25;
/// Cosine between the surface and the eye from which on a vertex gets all of a dab.
const FACING: f32 = 0.25;
/// Least reach of a dab, distances to the nearest vertex.
const LEAST_REACH: f32 = 1.3;
/// A value this near to what it goes to has arrived.
const ARRIVED: f64 = 4e-3;
/// Name of the first map that is made.
const FIRST_MAP: &str = "paint";

/// What a stroke does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stroke {
    /// Brings values to that of the brush.
    #[default]
    Paint,
    /// Brings values to the mean of those around.
    Soften,
    /// Brings values to 0.
    Erase,
}

impl Stroke {
    /// All of them, in the order of the tool bar.
    pub const ALL: [Stroke; 3] = [Stroke::Paint, Stroke::Soften, Stroke::Erase];

    /// Name on its button.
    pub fn name(self) -> &'static str {
        match self {
            Stroke::Paint => "Put on",
            Stroke::Soften => "Soften",
            Stroke::Erase => "Erase",
        }
    }
}

/// The brush.
#[derive(Clone, Debug, PartialEq)]
pub struct Brush {
    /// What it does, unless a key is held down.
    pub stroke: Stroke,
    /// What it paints, from 0 to 1.
    pub value: f64,
    /// Its radius, pixels of the picture.
    pub radius: f32,
    /// Share of the way that one dab goes in its middle, from 0 to 1.
    pub strength: f64,
    /// Name of the map that it paints; the first of the character, or a new one, if there is none of that name.
    pub map: String,
}

impl Default for Brush {
    fn default() -> Self {
        Brush { stroke: Stroke::Paint, value: 1.0, radius: 30.0, strength: 0.5, map: String::new() }
    }
}

/// One touch of the brush.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dab {
    /// The item of the moment that is touched.
    pub item: usize,
    /// Where, m.
    pub at: Vec3,
    /// Towards the eye, a unit vector.
    pub towards: Vec3,
    /// How far it reaches, m.
    pub radius: f32,
    /// What it does.
    pub stroke: Stroke,
}

/// A dab at a pixel, if there is the skin of a character.
pub(crate) fn dab_at(at: Vec2, seen: &Seen, brush: &Brush, stroke: Stroke) -> Option<Dab> {
    let (origin, direction) = seen.camera.ray(at, seen.size);
    let hit = pick(seen.moment, origin, direction)?;
    seen.moment.items.get(hit.item)?.skin()?;
    let radius = brush.radius.clamp(1.0, 1e4) * metres_per_pixel(&seen.camera, hit.point, seen.size);
    let towards = (origin - hit.point).try_normalize()?;
    Some(Dab { item: hit.item, at: hit.point, towards, radius, stroke })
}

/// Places of the dabs between the last one and the pointer, pixels.
pub(crate) fn dabs_between(last: Vec2, at: Vec2, brush: &Brush) -> Vec<Vec2> {
    let spacing = (SPACING * brush.radius).max(1.0);
    let steps = (at.distance(last) / spacing).floor().min(200.0) as u32;
    let way = (at - last).normalize_or_zero();
    (1..=steps).map(|k| last + way * spacing * k as f32).collect()
}

/// Changes values, one per vertex of a surface, by a dab whose place is in the frame of the surface.
pub fn touch(values: &mut [f64], positions: &[Vec3], triangles: &[[u32; 3]], dab: &Dab, brush: &Brush) {
    let count = values.len().min(positions.len());
    // Where vertices are far apart, the nearest is meant.
    let nearest = positions[..count].iter().map(|x| x.distance(dab.at)).fold(f32::INFINITY, f32::min);
    let radius = if nearest.is_finite() { dab.radius.max(LEAST_REACH * nearest) } else { dab.radius };
    let near = |v: usize| positions[v].distance_squared(dab.at) < radius * radius;
    let is_near: Vec<bool> = (0..count).map(near).collect();
    // Of what is near: its normal, and the mean of its neighbours.
    let mut around: BTreeMap<u32, (Vec3, f64, f64)> = BTreeMap::new();
    for t in triangles {
        if t.iter().any(|v| *v as usize >= count) {
            continue;
        }
        let [a, b, c] = t.map(|v| positions[v as usize]);
        let normal = (b - a).cross(c - a);
        for (v, one, other) in [(t[0], t[1], t[2]), (t[1], t[2], t[0]), (t[2], t[0], t[1])] {
            if is_near[v as usize] {
                let (sum, total, number) = around.entry(v).or_default();
                *sum += normal;
                *total += values[one as usize] + values[other as usize];
                *number += 2.0;
            }
        }
    }
    for (v, (normal, total, number)) in around {
        let facing = (normal.normalize_or_zero().dot(dab.towards) / FACING).clamp(0.0, 1.0);
        let share = positions[v as usize].distance(dab.at) / radius;
        let inside = (1.0 - share * share).max(0.0);
        let strength = brush.strength.clamp(0.0, 1.0) * f64::from(facing * inside * inside);
        let goal = match dab.stroke {
            Stroke::Paint => brush.value.clamp(0.0, 1.0),
            Stroke::Soften => total / number,
            Stroke::Erase => 0.0,
        };
        let value = &mut values[v as usize];
        let next = *value + strength * (goal - *value);
        // Three digits are enough, and read well in scene files.
        let next = if (next - goal).abs() < ARRIVED && strength > 0.0 { goal } else { next };
        *value = ((next * 1e3).round() / 1e3).clamp(0.0, 1.0);
    }
}

/// Which vertices of the meshes of a character each vertex of its skin stands for.
#[derive(Debug)]
pub struct Canvas {
    members: Vec<Vec<(u32, u32)>>,
}

impl Canvas {
    /// Of a collider that is a skin.
    pub fn of(model: &Model, collider: usize) -> Option<Canvas> {
        let Carrier::Skin { character, vertices } = &model.colliders.get(collider)?.carrier else {
            return None;
        };
        let rig = &model.characters.get(*character)?.rig;
        let classes: Vec<Vec<u32>> = rig.meshes.iter().map(|mesh| mesh.bound_alike()).collect();
        // Vertices at one place that are moved alike are one in the skin. Adding 0 makes one number of both zeros.
        let key = |m: u32, v: u32| {
            let mesh = &rig.meshes[m as usize].mesh;
            let place = mesh.positions[v as usize].to_array().map(|c| (c + 0.0).to_bits());
            (m, classes[m as usize][v as usize], place)
        };
        let shown: BTreeMap<_, usize> =
            vertices.iter().enumerate().map(|(k, &(m, v))| (key(m, v), k)).collect();
        let mut members = vec![Vec::new(); vertices.len()];
        for (m, mesh) in (0u32..).zip(&rig.meshes) {
            for v in 0..mesh.mesh.positions.len() as u32 {
                if let Some(&k) = shown.get(&key(m, v)) {
                    members[k].push((m, v));
                }
            }
        }
        Some(Canvas { members })
    }

    /// What a map has at each vertex of the skin; nothing if it does not fit the character.
    pub fn read(&self, map: &PaintedMap, rig: &CompiledRig) -> Option<Vec<f64>> {
        let slots = slots(map, rig)?;
        let at = |&(m, v): &(u32, u32)| Some(*map.values.get(slots[m as usize]? + v as usize)?);
        let value = |members: &Vec<(u32, u32)>| members.first().and_then(at).unwrap_or(0.0);
        Some(self.members.iter().map(value).collect())
    }

    /// Writes what has changed into a map. Meshes that it was not painted on stay as they are.
    fn write(&self, map: &mut PaintedMap, rig: &CompiledRig, before: &[f64], after: &[f64]) {
        let Some(slots) = slots(map, rig) else { return };
        for ((members, old), new) in self.members.iter().zip(before).zip(after) {
            if old == new {
                continue;
            }
            for &(m, v) in members {
                let place = slots[m as usize].and_then(|slot| map.values.get_mut(slot + v as usize));
                if let Some(place) = place {
                    *place = *new;
                }
            }
        }
    }
}

/// Where the values of each mesh begin in a map, of those that it was painted on; nothing if it does not fit the character.
fn slots(map: &PaintedMap, rig: &CompiledRig) -> Option<Vec<Option<usize>>> {
    let mut next = 0;
    let mut slot = |name: &str, count: usize| {
        let is_painted = map.mesh.as_ref().is_none_or(|painted| painted == name);
        let start = next;
        next += if is_painted { count } else { 0 };
        is_painted.then_some(start)
    };
    let slots = rig.meshes.iter().map(|mesh| slot(&mesh.name, mesh.mesh.positions.len())).collect();
    (next == map.values.len()).then_some(slots)
}

/// What was found out for painting, until it is out of date.
#[derive(Debug, Default)]
pub struct Easel {
    known: RefCell<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The model that all of it is of.
    model: Option<Arc<Model>>,
    /// Canvases, by collider.
    canvases: BTreeMap<usize, Option<Arc<Canvas>>>,
    /// Values as they are drawn, by collider, and the revision of the scene and the map that they are of.
    drawn: BTreeMap<usize, Arc<Vec<f32>>>,
    of: (u64, String),
}

impl Easel {
    /// What is known of a model.
    fn of(&self, model: &Arc<Model>) -> RefMut<'_, Known> {
        let mut known = self.known.borrow_mut();
        if !known.model.as_ref().is_some_and(|other| Arc::ptr_eq(other, model)) {
            *known = Known { model: Some(Arc::clone(model)), ..Known::default() };
        }
        known
    }

    fn canvas(&self, model: &Arc<Model>, collider: usize) -> Option<Arc<Canvas>> {
        let made = || Canvas::of(model, collider).map(Arc::new);
        self.of(model).canvases.entry(collider).or_insert_with(made).clone()
    }
}

/// The map that a brush paints on a character, by its place in the list.
fn map_of(character: &Character, brush: &Brush) -> Option<usize> {
    let named = character.maps.iter().position(|map| map.name == brush.map);
    named.or_else(|| (brush.map.is_empty() && !character.maps.is_empty()).then_some(0))
}

impl StudioApp {
    /// The character that is painted: the selected one, that of the selected skin, or the first.
    pub fn painted_character(&self) -> Option<usize> {
        let scene = self.document.scene();
        let selected = match self.selected {
            Object::Character(c) => Some(c),
            Object::Collider(c) => match &scene.colliders.get(c)?.shape {
                ColliderShape::Skin(skin) => {
                    scene.characters.iter().position(|character| character.name == skin.character)
                }
                _ => None,
            },
            _ => None,
        };
        selected.or((!scene.characters.is_empty()).then_some(0))
    }

    /// Paints.
    pub(crate) fn paint(&mut self, dabs: &[Dab]) {
        let moment = self.moment();
        for dabs in dabs.chunk_by(|a, b| a.item == b.item) {
            let Some(item) = dabs.first().and_then(|dab| moment.items.get(dab.item)) else { continue };
            if let Err(problem) = self.paint_item(item, dabs) {
                self.messages.error("paint", problem);
            }
        }
    }

    fn paint_item(&mut self, item: &Item, dabs: &[Dab]) -> Result<(), String> {
        let (Some((c, _)), ItemKind::Collider(collider), Some(model)) =
            (item.skin(), item.kind, item.model.as_ref())
        else {
            return Ok(());
        };
        let running = model.characters.get(c).ok_or("there is no such character")?;
        let scene = self.document.scene();
        let written = scene.characters.get(c).filter(|written| written.name == running.name);
        let written = written.ok_or("the characters have changed since it started: start it again first")?;
        if written.volume.as_ref().is_some_and(|volume| volume.subdivide.is_some()) {
            // The skin has vertices that its file has not.
            return Err(
                "a skin whose triangles are cut (`subdivide`) cannot be painted: leave that out until then"
                    .into(),
            );
        }
        let Some(canvas) = self.easel.canvas(model, collider) else { return Ok(()) };
        let rig = Arc::clone(&running.rig);
        let place = map_of(written, &self.hands.brush);
        let mut map = match place {
            Some(k) => written.maps[k].clone(),
            None => {
                let name = match self.hands.brush.map.is_empty() {
                    true => FIRST_MAP.to_owned(),
                    false => self.hands.brush.map.clone(),
                };
                let count = rig.meshes.iter().map(|mesh| mesh.mesh.positions.len()).sum();
                PaintedMap { name, mesh: None, values: vec![0.0; count] }
            }
        };
        let before = canvas.read(&map, &rig).ok_or_else(|| {
            format!("the map '{}' was painted on another file: remove it, or paint another", map.name)
        })?;
        let mut after = before.clone();
        let back = item.transform.inverse();
        for dab in dabs {
            let local = Dab {
                at: back.transform_point3(dab.at),
                towards: back.transform_vector3(dab.towards),
                ..*dab
            };
            touch(&mut after, &item.positions, &item.mesh.triangles, &local, &self.hands.brush);
        }
        canvas.write(&mut map, &rig, &before, &after);
        self.hands.brush.map.clone_from(&map.name);
        let key = format!("paint '{}' on '{}'", map.name, running.name);
        self.document.edit(&key, |scene| {
            let maps = &mut scene.characters[c].maps;
            match place {
                Some(k) => maps[k] = map,
                None => maps.push(map),
            }
        });
        Ok(())
    }

    /// A stroke is over: it is one step of undo, and acts from now on.
    pub(crate) fn end_stroke(&mut self) {
        self.document.finish_edit();
        self.send_pending();
    }

    /// Begins a map of a character, with zeros, and takes the brush for it.
    pub fn add_map(&mut self, character: usize) {
        let Some(written) = self.document.scene().characters.get(character) else { return };
        let name = unique_name(FIRST_MAP, written.maps.iter().map(|map| map.name.as_str()));
        // It is made by its first dab, which knows how many vertices there are.
        self.hands.brush.map = name;
    }

    /// Gives all vertices of the map in hand the value of the brush.
    pub fn fill_map(&mut self, character: usize) {
        let Some(written) = self.document.scene().characters.get(character) else { return };
        let value = (self.hands.brush.value.clamp(0.0, 1.0) * 1e3).round() / 1e3;
        let Some(k) = map_of(written, &self.hands.brush) else {
            self.messages.news("paint", "Paint something first: the map begins with its first stroke.");
            return;
        };
        let key = format!("fill '{}' of '{}'", written.maps[k].name, written.name);
        self.document.step(&key, |scene| {
            scene.characters[character].maps[k].values.iter_mut().for_each(|place| *place = value);
        });
        self.send_pending();
    }

    /// Whether the skins of characters show what is painted on them.
    pub fn is_painting(&self) -> bool {
        self.hands.tool() == Tool::Paint && self.runs_document()
    }

    /// Where the moment on the screen is kept: another one is elsewhere.
    pub(crate) fn moment_address(&self) -> usize {
        Arc::as_ptr(&self.moment()) as usize
    }

    /// The moment on the screen, with what is painted in the map in hand.
    pub fn painted_moment(&self) -> Arc<Moment> {
        let moment = self.moment();
        if !self.is_painting() {
            return moment;
        }
        let mut painted = Moment::clone(&moment);
        for item in &mut painted.items {
            if let Some(values) = self.drawn_values(item) {
                item.painted = values;
            }
        }
        Arc::new(painted)
    }

    fn drawn_values(&self, item: &Item) -> Option<Arc<Vec<f32>>> {
        let (c, vertices) = item.skin()?;
        let (ItemKind::Collider(collider), model) = (item.kind, item.model.as_ref()?) else { return None };
        let canvas = self.easel.canvas(model, collider)?;
        let mut known = self.easel.of(model);
        let of = (self.document.revision(), self.hands.brush.map.clone());
        if known.of != of {
            known.of = of;
            known.drawn.clear();
        }
        let make = || {
            let written = self.document.scene().characters.get(c)?;
            let map = &written.maps[map_of(written, &self.hands.brush)?];
            let values = canvas.read(map, &model.characters.get(c)?.rig)?;
            Some(values.iter().map(|value| *value as f32).collect())
        };
        let values = known.drawn.entry(collider).or_insert_with(|| {
            // Nothing is painted yet: zeros.
            Arc::new(make().unwrap_or_else(|| vec![0.0; vertices.len()]))
        });
        Some(Arc::clone(values))
    }
}

#[cfg(test)]
#[path = "painting_tests.rs"]
mod tests;
