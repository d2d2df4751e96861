use std::path::Path;

use proptest::prelude::*;
use souple::Simulation;
use souple::scene::{RigMesh, RigSource};
use souple_viewer::Capture;

use super::*;
use crate::document::Document;

/// A flat square of `n` by `n` vertices a unit apart, that faces up.
fn flat(n: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let place = |v: u32| Vec3::new((v % n) as f32, 0.0, (v / n) as f32);
    let cell = |v: u32| [[v, v + n, v + 1], [v + 1, v + n, v + n + 1]];
    let cells = (0..n * n).filter(|v| v % n < n - 1 && v / n < n - 1);
    ((0..n * n).map(place).collect(), cells.flat_map(cell).collect())
}

fn dab(at: Vec3, radius: f32, stroke: Stroke) -> Dab {
    Dab { item: 0, at, towards: Vec3::Y, radius, stroke }
}

#[test]
fn a_dab_acts_where_it_touches_and_nowhere_else() {
    let (x, triangles) = flat(11);
    let middle = Vec3::new(5.0, 0.0, 5.0);
    let brush = Brush { strength: 1.0, ..Brush::default() };
    let mut values = vec![0.0; x.len()];
    touch(&mut values, &x, &triangles, &dab(middle, 2.5, Stroke::Paint), &brush);
    assert_eq!(values[60], 1.0, "all of it in its middle");
    for (value, place) in values.iter().zip(&x) {
        assert_eq!(*value > 0.0, place.distance(middle) < 2.5, "{place}");
    }
    // From below it is the other side.
    let mut below = vec![0.0; x.len()];
    let other = Dab { towards: Vec3::NEG_Y, ..dab(middle, 2.5, Stroke::Paint) };
    touch(&mut below, &x, &triangles, &other, &brush);
    assert!(below.iter().all(|value| *value == 0.0));
    // Softened, a peak comes down and what is beside it goes up; erased, nothing is left.
    let peak = values.clone();
    touch(&mut values, &x, &triangles, &dab(middle, 2.5, Stroke::Soften), &brush);
    assert!(values[60] < peak[60] && values[60] > 0.0);
    for _ in 0..40 {
        touch(&mut values, &x, &triangles, &dab(middle, 4.0, Stroke::Erase), &brush);
    }
    assert!(values.iter().all(|value| *value == 0.0), "{values:?}");
}

#[test]
fn a_small_brush_finds_the_nearest_vertex() {
    let (x, triangles) = flat(4);
    let mut values = vec![0.0; x.len()];
    let brush = Brush { strength: 1.0, ..Brush::default() };
    touch(&mut values, &x, &triangles, &dab(x[5] + Vec3::new(0.2, 0.0, 0.3), 0.01, Stroke::Paint), &brush);
    assert!(values[5] > 0.1);
    assert_eq!(values.iter().filter(|value| **value > 0.0).count(), 1);
    touch(&mut [], &[], &[], &dab(Vec3::ZERO, 1.0, Stroke::Paint), &brush);
}

#[test]
fn a_stroke_reaches_its_value() {
    let (x, triangles) = flat(5);
    let brush = Brush { strength: 0.2, value: 0.7, ..Brush::default() };
    let mut values = vec![0.0; x.len()];
    for _ in 0..60 {
        touch(&mut values, &x, &triangles, &dab(x[12], 1.5, Stroke::Paint), &brush);
    }
    assert_eq!(values[12], 0.7);
    assert_eq!(dabs_between(Vec2::ZERO, Vec2::new(31.0, 0.0), &Brush { radius: 40.0, ..brush }).len(), 3);
}

proptest! {
    #[test]
    fn values_stay_between_0_and_1(
        strokes in prop::collection::vec((0u32..3, -2.0f32..8.0, -2.0f32..8.0, 0.1f32..5.0), 1..20),
        value in -1.0..2.0, strength in -1.0..2.0,
    ) {
        let (x, triangles) = flat(7);
        let brush = Brush { value, strength, ..Brush::default() };
        let mut values = vec![0.5; x.len()];
        for (kind, a, b, radius) in strokes {
            let stroke = Stroke::ALL[kind as usize];
            touch(&mut values, &x, &triangles, &dab(Vec3::new(a, 0.0, b), radius, stroke), &brush);
        }
        prop_assert!(values.iter().all(|value| (0.0..=1.0).contains(value)));
    }
}

/// Gives each triangle corners of its own.
fn unweld(mesh: &mut RigMesh) {
    let corners: Vec<usize> = mesh.triangles.iter().flatten().map(|v| *v as usize).collect();
    let bones = mesh.influences as usize;
    let row = |v: usize| v * bones..(v + 1) * bones;
    mesh.joints = corners.iter().flat_map(|v| mesh.joints[row(*v)].to_vec()).collect();
    mesh.weights = corners.iter().flat_map(|v| mesh.weights[row(*v)].to_vec()).collect();
    mesh.positions = corners.iter().map(|v| mesh.positions[*v]).collect();
    (mesh.uvs, mesh.colours) = (Vec::new(), Vec::new());
    mesh.morphs.clear();
    mesh.triangles = (0..corners.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
}

#[test]
fn every_vertex_of_the_file_goes_with_one_of_the_skin() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/characters/arm.glb");
    let mut document = Document::new();
    document.add_character(&file).unwrap();
    // As files with seams have them: each triangle has corners of its own.
    let mut scene = document.compile().unwrap().scene;
    let welded = Canvas::of(&document.compile().unwrap().model, 0).unwrap().members.len();
    if let RigSource::Inline(rig) = &mut scene.characters[0].rig {
        rig.meshes.iter_mut().for_each(unweld);
    }
    document.edit("seams", |edited| edited.characters = scene.characters);
    let compiled = document.compile().unwrap();
    let rig = Arc::clone(&compiled.model.characters[0].rig);
    let canvas = Canvas::of(&compiled.model, 0).unwrap();
    let count: usize = rig.meshes.iter().map(|mesh| mesh.mesh.positions.len()).sum();
    let mut seen: Vec<(u32, u32)> = canvas.members.iter().flatten().copied().collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count, "each once");
    assert_eq!(canvas.members.len(), welded, "seams are closed");
    assert!(count > 4 * welded);
    for members in &canvas.members {
        let place = |&(m, v): &(u32, u32)| rig.meshes[m as usize].mesh.positions[v as usize];
        assert!(members.iter().all(|member| place(member) == place(&members[0])));
    }
    // What is written is read back, and what is not touched stays.
    let mut map = PaintedMap { name: "a".into(), mesh: None, values: vec![0.25; count] };
    let before = canvas.read(&map, &rig).unwrap();
    let mut after = before.clone();
    after[7] = 0.5;
    canvas.write(&mut map, &rig, &before, &after);
    assert_eq!(canvas.read(&map, &rig).unwrap(), after);
    assert_eq!(map.values.iter().filter(|value| **value == 0.5).count(), canvas.members[7].len());
    // A map of another file does not fit.
    map.values.pop();
    assert!(canvas.read(&map, &rig).is_none());
    // The first map is what pictures show.
    map.values.push(0.25);
    document.edit("map", |scene| scene.characters[0].maps.push(map));
    let compiled = document.compile().unwrap();
    let mut capture = Capture::new(&compiled.scene, &compiled.model);
    let moment = capture.moment(&Simulation::new(compiled.model));
    let painted: Vec<f32> = after.iter().map(|value| *value as f32).collect();
    assert_eq!(*moment.items[0].painted, painted);
}
