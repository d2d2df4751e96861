//! Garments of the sizes of Rohmer's table 3.1, of our own making, and how they move. T-shirt, trousers and dress are those of `scenes/wrinkles`, by the same code, on the same
//! bones with the same clip; the towel, which hands push together, and the skirts, which are gathered while they turn, are a sheet and cones that move by formula.

use std::f64::consts::TAU;

use glam::DVec3;
use souple::math::{cos, exp, sin};
use souple::scene::{
    Character, Collider, ColliderShape, PlayedClip, RigMesh, RigSource, Scene, SkinShape, SkinWeights,
    WeightMethod,
};
use souple::skin::bones::rig_of;
use souple::skin::generate::{self, garment_bones};
use souple::{ModelBuilder, Simulation};

use crate::failure::Failure;

/// A garment: its mesh at rest, the smallest radius of its folds, into how many pieces edges are cut, and what the thesis says of it.
pub struct Garment {
    /// Its name in the table.
    pub name: &'static str,
    /// Vertices at rest, m.
    pub rest: Vec<DVec3>,
    /// Its triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Smallest radius of its folds, m.
    pub smallest_radius: f64,
    /// Pieces of each edge.
    pub pieces: u32,
    /// Times of the thesis for curves and projection, ms, and how many vertices it projected.
    pub thesis: (f64, f64, usize),
    /// Where its vertices are in each frame, from 0, m.
    pub frames: Vec<Vec<DVec3>>,
}

/// Frames per second.
pub const FPS: f64 = 60.0;

/// The garments of the table, and how they move for so many frames.
pub fn garments(frames: u32) -> Result<Vec<Garment>, Failure> {
    let posed =
        |name, (rest, triangles): Mesh, smallest_radius, pieces, thesis, pose: fn(DVec3, f64) -> DVec3| {
            let at = |frame: u32| rest.iter().map(|p| pose(*p, f64::from(frame) / FPS)).collect();
            let frames = (0..=frames).map(at).collect();
            Garment { name, rest, triangles, smallest_radius, pieces, thesis, frames }
        };
    let worn = |name, kind, edge, pieces, thesis| {
        let ((rest, triangles), frames) = worn(kind, edge, frames)?;
        Ok::<_, Failure>(Garment { name, rest, triangles, smallest_radius: 0.012, pieces, thesis, frames })
    };
    use generate::Garment::{Dress, TShirt, Trousers};
    Ok(vec![
        posed("towel", sheet(8, 10, 0.6, 0.9), 0.02, 6, (50.0, 75.0, 300), pinched),
        worn("T-shirt", TShirt, 0.0298, 3, (800.0, 750.0, 1500))?,
        worn("trousers", Trousers, 0.0372, 4, (400.0, 400.0, 500))?,
        posed("rabbit skirt", tube(28, 13, 0.24, 0.14, 0.35), 0.015, 4, (300.0, 700.0, 1000), gathered),
        worn("dancer dress", Dress, 0.0445, 4, (700.0, 600.0, 900))?,
        posed("silk dress", tube(50, 25, 0.45, 0.15, 1.1), 0.012, 5, (850.0, 2700.0, 3500), gathered),
    ])
}

/// A garment of the scenes: its mesh at rest, and its vertices while the clip of its bones plays again and again.
fn worn(kind: generate::Garment, edge: f64, frames: u32) -> Result<(Mesh, Vec<Vec<DVec3>>), Failure> {
    let mesh = generate::garment(kind, edge);
    let mesh = RigMesh {
        positions: mesh.positions.iter().map(|p| p.to_array()).collect(),
        triangles: mesh.triangles,
        ..RigMesh::default()
    };
    let refuse = |error: souple::SceneError| Failure::input(error.to_string(), error.help.clone());
    let rig = rig_of(&garment_bones(kind), mesh).map_err(refuse)?;
    let weights =
        SkinWeights { method: WeightMethod::InverseDistance, exponent: 4.0, ..SkinWeights::default() };
    let character = Character {
        name: "wearer".into(),
        rig: RigSource::Inline(rig),
        weights: Some(weights),
        clips: vec![PlayedClip { name: "step".into(), ..PlayedClip::default() }],
        ..Character::default()
    };
    let skin = SkinShape { character: "wearer".into(), ..SkinShape::default() };
    let collider =
        Collider { name: "garment".into(), shape: ColliderShape::Skin(skin), ..Collider::default() };
    let scene = Scene { characters: vec![character], colliders: vec![collider], ..Scene::default() };
    let mut played = Simulation::new(ModelBuilder::new(&scene).build().map_err(refuse)?);
    let Some(mesh) = played.model().colliders[0].form.mesh().cloned() else {
        return Err(Failure::input("the garment has no surface", ""));
    };
    let mut places = vec![played.skin_places(0)];
    for _ in 0..frames {
        played.step();
        places.push(played.skin_places(0));
    }
    Ok(((mesh.positions.clone(), mesh.triangles.clone()), places))
}

type Mesh = (Vec<DVec3>, Vec<[u32; 3]>);

fn sheet(columns: u32, rows: u32, width: f64, height: f64) -> Mesh {
    let place = |i: u32, j: u32| {
        let (u, v) = (f64::from(j) / f64::from(columns - 1), f64::from(i) / f64::from(rows - 1));
        DVec3::new(u * width, 0.0, v * height)
    };
    let x = (0..rows).flat_map(|i| (0..columns).map(move |j| place(i, j))).collect();
    let mut t = Vec::new();
    for a in (0..rows - 1).flat_map(|i| (0..columns - 1).map(move |j| i * columns + j)) {
        let (b, c, d) = (a + columns, a + columns + 1, a + 1);
        t.extend([[a, b, c], [a, c, d]]);
    }
    (x, t)
}

/// A tube around y, with the radius of its lower and of its upper end.
fn tube(around: u32, rows: u32, lower: f64, upper: f64, height: f64) -> Mesh {
    let mut x = Vec::new();
    for i in 0..rows {
        let share = f64::from(i) / f64::from(rows - 1);
        let radius = lower + share * (upper - lower);
        x.extend((0..around).map(|j| {
            let a = TAU * f64::from(j) / f64::from(around);
            DVec3::new(radius * cos(a), height * share, radius * sin(a))
        }));
    }
    let mut t = Vec::new();
    for i in 0..rows - 1 {
        for j in 0..around {
            let k = (j + 1) % around;
            let (a, b, c, d) = (i * around + j, i * around + k, (i + 1) * around + k, (i + 1) * around + j);
            t.extend([[a, c, b], [a, d, c]]);
        }
    }
    (x, t)
}

/// Two hands push a towel together, more and less, at a place that wanders.
fn pinched(p: DVec3, t: f64) -> DVec3 {
    let strength = 0.06 * (1.0 - cos(1.2 * t));
    let across = (p.z - 0.45 - 0.2 * sin(0.7 * t)) / 0.3;
    let push = strength * exp(-across * across) * (1.0 - 2.0 / (1.0 + exp((p.x - 0.3) / 0.08)));
    DVec3::new(p.x - push, 0.03 * sin(3.0 * p.z + t), p.z)
}

/// A skirt whose girth gets less, most where it is wide, and not the same all around, while it turns.
fn gathered(p: DVec3, t: f64) -> DVec3 {
    let down = (1.0 - p.y / 1.2).clamp(0.0, 1.0);
    let (length, angle) = ((p.x * p.x + p.z * p.z).sqrt(), souple::math::atan2(p.z, p.x));
    let less = 0.12 * (1.0 - cos(1.2 * t)) * down * (0.8 + 0.4 * sin(2.0 * angle + 0.6 * t));
    let turn = 0.15 * sin(0.9 * t) * down;
    let r = length * (1.0 - less);
    DVec3::new(r * cos(angle + turn), p.y, r * sin(angle + turn))
}
