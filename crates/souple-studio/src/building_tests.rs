use std::fs;
use std::path::PathBuf;

use souple::Simulation;
use souple::scene::{Assigned, Body, Scene};
use souple_files::disk;

use super::*;
use crate::file_kinds::unknown_kind;

/// Compiles, runs ten frames, and finds nothing to complain about.
fn runs(document: &Document) -> Simulation {
    let compiled = document.compile().unwrap();
    let mut simulation = Simulation::new(compiled.model);
    for _ in 0..10 {
        simulation.step();
    }
    assert_eq!(simulation.warnings(), []);
    let mut positions = simulation.state().bodies.iter().flat_map(|body| &body.x);
    assert!(positions.all(|x| x.is_finite() && x.length() < 100.0));
    simulation
}

fn teapot() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/cloth/meshes/teapot.3ds")
}

fn mesh_file(folder: &Path, name: &str, extent: f64) -> PathBuf {
    let path = folder.join(name);
    let text = format!(
        "v 0 0 0\nv {extent} 0 0\nv 0 {extent} 0\nv 0 0 {extent}\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    );
    disk::write(&path, text.as_bytes()).unwrap();
    path
}

#[test]
fn all_that_can_be_added_runs_alone() {
    let alone: [(&str, fn(&mut Document) -> Object); 13] = [
        ("sheet", |d| d.add_cloth(ClothKind::Sheet)),
        ("curtain", |d| d.add_cloth(ClothKind::Curtain)),
        ("rope", Document::add_rope),
        ("block", Document::add_block),
        ("rigid body", Document::add_rigid),
        ("soft mesh", |d| d.add_mesh(&teapot(), MeshUse::SoftBody).unwrap()),
        ("mesh collider", |d| d.add_mesh(&teapot(), MeshUse::Collider).unwrap()),
        ("floor", |d| d.add_collider(ColliderKind::Floor)),
        ("sphere", |d| d.add_collider(ColliderKind::Sphere)),
        ("box", |d| d.add_collider(ColliderKind::Box)),
        ("capsule", |d| d.add_collider(ColliderKind::Capsule)),
        ("cylinder", |d| d.add_collider(ColliderKind::Cylinder)),
        ("wind", Document::add_wind),
    ];
    for (what, add) in alone {
        let mut document = Document::new();
        let object = add(&mut document);
        assert!(document.name_of(object).is_some(), "{what}");
        runs(&document);
        // With a cloth, so that there is something to fall and to blow on.
        document.add_cloth(ClothKind::Sheet);
        runs(&document);
        document.undo();
        document.undo();
        assert_eq!(document.scene(), &Scene::default(), "{what}");
    }
}

#[test]
fn all_that_can_be_added_runs_together() {
    let mut document = Document::new();
    document.add_group();
    for _ in 0..2 {
        document.add_cloth(ClothKind::Sheet);
        document.add_cloth(ClothKind::Curtain);
        document.add_rope();
        document.add_mesh(&teapot(), MeshUse::SoftBody).unwrap();
        for kind in ColliderKind::ALL {
            document.add_collider(kind);
        }
        document.add_wind();
        document.add_group();
    }
    let names: Vec<&str> = document.scene().bodies.iter().map(|body| body.name.as_str()).collect();
    let expected = ["cloth", "curtain", "rope", "teapot", "cloth-2", "curtain-2", "rope-2", "teapot-2"];
    assert_eq!(names, expected);
    let groups: Vec<&str> = document.scene().groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(groups, ["default", "group", "group-2"]);
    runs(&document);
    // Bodies stand beside each other.
    let bounds: Vec<_> = document.scene().bodies.iter().map(|b| document.body_bounds(b).unwrap()).collect();
    for pair in bounds.windows(2) {
        assert!(pair[0].1.x < pair[1].0.x, "{pair:?}");
    }
}

#[test]
fn cloth_falls_on_what_is_put_under_it() {
    for kind in [ColliderKind::Sphere, ColliderKind::Box, ColliderKind::Capsule, ColliderKind::Cylinder] {
        for collider_first in [false, true] {
            let mut document = Document::new();
            if collider_first {
                document.add_collider(kind);
                document.add_cloth(ClothKind::Sheet);
            } else {
                document.add_cloth(ClothKind::Sheet);
                document.add_collider(kind);
            }
            let compiled = document.compile().unwrap();
            let mut simulation = Simulation::new(compiled.model);
            let touches = (0..60).any(|_| {
                simulation.step();
                !simulation.contacts(0).is_empty()
            });
            assert!(touches, "{kind:?}, {collider_first}");
        }
    }
}

#[test]
fn meshes_of_any_unit_become_about_a_metre() {
    let folder = tempfile::tempdir().unwrap();
    for (extent, scale) in [(2.0, 1.0), (1500.0, 6.67e-4), (0.001, 1000.0)] {
        let path = mesh_file(folder.path(), "tetra.obj", extent);
        let mut document = Document::new();
        assert_eq!(document.add_mesh(&path, MeshUse::SoftBody), Ok(Object::Body(0)));
        let body = &document.scene().bodies[0];
        assert_eq!((body.placement.scale, body.name.as_str()), (scale, "tetra"));
        runs(&document);
        let mut document = Document::new();
        assert_eq!(document.add_mesh(&path, MeshUse::Collider), Ok(Object::Collider(0)));
        let collider = &document.scene().colliders[0];
        assert!(matches!(collider.shape, ColliderShape::File(_)));
        assert_eq!((collider.scale, collider.name.as_str()), (scale, "tetra"));
        let compiled = document.compile().unwrap();
        let (low, high) = compiled.model.colliders[0].form.bounds().unwrap();
        assert!(((high - low).x - extent * scale).abs() < 1e-9);
        // A body that is added later is put above it.
        document.add_cloth(ClothKind::Sheet);
        assert!(document.scene().bodies[0].placement.translate[1] > high.y);
    }
    let broken = folder.path().join("broken.obj");
    fs::write(&broken, "v 1 2\n").unwrap();
    let mut document = Document::new();
    let refused = document.add_mesh(&broken, MeshUse::SoftBody).unwrap_err();
    assert!(refused.contains("line 1"), "{refused}");
    assert!(document.add_mesh(&folder.path().join("none.obj"), MeshUse::SoftBody).is_err());
    assert!(document.add_mesh(folder.path(), MeshUse::SoftBody).is_err());
    assert_eq!((document.scene(), document.undo_label()), (&Scene::default(), None));
}

#[test]
fn pin_sets_take_vertices_that_are_there() {
    let mut document = Document::new();
    assert!(document.add_pin_set(0, &[1]).is_err());
    document.add_cloth(ClothKind::Curtain);
    assert_eq!(document.add_pin_set(0, &[7, 3, 7, 40_000]), Ok(Object::Pin(0, 2)));
    let pin = &document.scene().bodies[0].pins[2];
    assert_eq!((pin.name.as_str(), &pin.select), ("pin", &Select::Vertices(vec![3, 7])));
    assert_eq!(document.add_pin_set(0, &[4]), Ok(Object::Pin(0, 3)));
    assert_eq!(document.scene().bodies[0].pins[3].name, "pin-2");
    let refused = document.add_pin_set(0, &[40_000]).unwrap_err();
    assert!(refused.contains("'curtain'"), "{refused}");
    let simulation = runs(&document);
    assert_eq!(simulation.state().bodies[0].pinned.len(), 5);

    let mut document = Document::new();
    document.add_mesh(&teapot(), MeshUse::SoftBody).unwrap();
    assert_eq!(document.add_pin_set(0, &[0, u32::MAX]), Ok(Object::Pin(0, 0)));
    runs(&document);
}

#[test]
fn wind_is_felt_by_all_and_added_once() {
    let mut document = Document::new();
    document.add_rope();
    assert_eq!(document.scene().bodies[0].air, None);
    document.add_wind();
    assert!(document.scene().bodies[0].air.is_some());
    document.edit("wind", |scene| scene.wind = Some(Wind { velocity: [9.0, 0.0, 0.0], ..Wind::default() }));
    document.finish_edit();
    let before = document.scene().clone();
    assert_eq!(document.add_wind(), Object::Wind);
    assert_eq!(document.scene(), &before);
}

#[test]
fn objects_are_renamed_and_removed() {
    let mut document = Document::new();
    let (group, other) = (document.add_group(), document.add_group());
    let (cloth, rope) = (document.add_cloth(ClothKind::Curtain), document.add_rope());
    let floor = document.add_collider(ColliderKind::Floor);
    document.edit("group", |scene| scene.bodies[0].group = Some("group".into()));
    document.edit("only", |scene| {
        let all = |body: &Body| Assigned { body: body.name.clone(), ..Assigned::default() };
        scene.colliders[0].only = Some(scene.bodies.iter().map(all).collect());
    });
    let held = |document: &Document| {
        let only = document.scene().colliders[0].only.clone().unwrap();
        only.into_iter().map(|assigned| assigned.body).collect::<Vec<_>>()
    };

    document.rename(other, " stiff ").unwrap();
    assert_eq!(document.scene().bodies[0].group.as_deref(), Some("stiff"));
    document.rename(cloth, "sail").unwrap();
    document.rename(cloth, "sail").unwrap();
    assert_eq!(held(&document), ["sail", "rope"]);
    document.rename(Object::Pin(0, 1), "mast").unwrap();
    document.rename(floor, "deck").unwrap();
    document.rename(Object::Scene, "Ship").unwrap();
    assert!(document.rename(rope, "sail").unwrap_err().contains("another 'sail'"));
    assert!(document.rename(Object::Pin(0, 0), "mast").is_err());
    assert!(document.rename(group, "stiff").is_err());
    assert!(document.rename(rope, "  ").unwrap_err().contains("at least one letter"));
    assert!(document.rename(Object::Wind, "x").is_err());
    assert!(document.rename(Object::Pin(7, 0), "x").is_err());
    document.add_wind();
    assert!(document.rename(Object::Wind, "x").unwrap_err().contains("no name"));
    let named = [Object::Scene, Object::Pin(0, 1), floor].map(|object| document.name_of(object).unwrap());
    assert_eq!(named, ["Ship", "mast", "deck"]);

    assert!(document.remove(other));
    assert_eq!(document.scene().bodies[0].group, None);
    assert!(document.remove(Object::Pin(0, 0)));
    assert_eq!(document.scene().bodies[0].pins[0].name, "mast");
    assert!(document.remove(cloth));
    assert_eq!(held(&document), ["rope"]);
    assert!(document.remove(floor) && document.remove(Object::Wind));
    for gone in [Object::Scene, Object::Wind, Object::Body(1), Object::Collider(0), Object::Pull(0, 0)] {
        assert!(!document.remove(gone), "{gone:?}");
    }
    let names: Vec<&str> = document.scene().bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["rope"]);
    assert_eq!(document.undo_label(), Some("remove 'wind'"));
}

#[test]
fn images_and_shaders_go_to_what_is_selected_or_to_the_only_body() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = mesh_file(folder.path(), "Soft.OBJ", 1.0);
    for name in ["cloth.png", "look.wgsl"] {
        fs::write(folder.path().join(name), b"x").unwrap();
    }
    fs::write(folder.path().join("scene.toml"), "format = 1\nname = 'opened'\n").unwrap();

    let mut document = Document::new();
    let set = |document: &mut Document, name: &str, selected: Object| {
        document.set_look_file(&folder.path().join(name), selected)
    };
    // Nothing to put an image on yet.
    assert!(set(&mut document, "cloth.png", Object::Scene).unwrap_err().contains("select"));
    document.add_mesh(&mesh, MeshUse::SoftBody).unwrap();
    document.add_mesh(&mesh, MeshUse::Collider).unwrap();
    // The only body, then the selected object.
    assert_eq!(set(&mut document, "cloth.png", Object::Scene), Ok(Object::Body(0)));
    assert_eq!(document.scene().bodies[0].look.as_ref().unwrap().style, Style::Texture);
    assert_eq!(set(&mut document, "look.wgsl", Object::Pin(0, 0)), Ok(Object::Body(0)));
    let look = document.scene().bodies[0].look.clone().unwrap();
    assert!(
        matches!(&look.style, Style::Shader(path) if path.ends_with("look.wgsl")) && look.texture.is_some()
    );
    assert_eq!(set(&mut document, "cloth.png", Object::Collider(0)), Ok(Object::Collider(0)));
    assert!(set(&mut document, "gone.png", Object::Body(0)).unwrap_err().contains("gone.png"));

    let mut document = Document::open(&folder.path().join("scene.toml")).unwrap();
    // Beside the scene, files are named by their own name alone.
    document.add_mesh(&mesh, MeshUse::SoftBody).unwrap();
    let Shape::File(file) = &document.scene().bodies[0].shape else { panic!() };
    assert_eq!(file.path, "Soft.OBJ");
    runs(&document);
}

#[test]
fn kinds_of_files() {
    let kind = |name: &str| file_kind(Path::new(name));
    assert_eq!(kind("a/B.TOML"), Some(FileKind::Scene));
    assert_eq!(kind("b.json"), Some(FileKind::Scene));
    for name in ["a.obj", "a.ply", "a.stl", "a.3DS", "a.msh", "a.node"] {
        assert_eq!(kind(name), Some(FileKind::Mesh), "{name}");
    }
    assert_eq!((kind("a.jpeg"), kind("a.wgsl")), (Some(FileKind::Image), Some(FileKind::Shader)));
    assert_eq!((kind("a"), kind("a.exe"), kind(".toml")), (None, None, None));
    assert_eq!(FileKind::Mesh.endings(), souple_formats::import::MeshFormat::EXTENSIONS);
    let told = unknown_kind(Path::new("notes.txt"));
    for kind in FileKind::ALL {
        assert!(told.contains("notes.txt") && kind.endings().iter().all(|end| told.contains(end)), "{told}");
    }
}

#[test]
fn a_surface_becomes_a_solid_a_rigid_body_and_a_surface_again() {
    let mut document = Document::new();
    document.add_cloth(ClothKind::Curtain);
    let folder = tempfile::tempdir().unwrap();
    document.add_mesh(&mesh_file(folder.path(), "corner.obj", 0.5), MeshUse::SoftBody).unwrap();
    document.add_block();
    document.add_rope();
    for body in [0, 1] {
        let before = document.scene().bodies[body].clone();
        for mechanics in [Mechanics::Solid, Mechanics::Rigid, Mechanics::Solid, Mechanics::Springs] {
            document.set_mechanics(body, mechanics).unwrap();
            let after = &document.scene().bodies[body];
            assert_eq!((&after.name, &after.shape, &after.pins), (&before.name, &before.shape, &before.pins));
            assert_eq!(after.embed.is_some(), mechanics == Mechanics::Solid);
            let topology = &document.compile().unwrap().model.bodies[body].topology;
            assert_eq!(!topology.mapping.is_empty(), mechanics != Mechanics::Springs, "layers");
        }
        (0..4).for_each(|_| assert!(document.undo().is_some()));
        assert_eq!(document.scene().bodies[body], before);
    }
    document.set_mechanics(0, Mechanics::Solid).unwrap();
    document.set_mechanics(2, Mechanics::Rigid).unwrap();
    runs(&document);
    document.set_mechanics(2, Mechanics::Solid).unwrap();
    assert_eq!(document.scene().bodies[2].embed, None, "a block has cells of its own");
    assert!(document.set_mechanics(2, Mechanics::Springs).unwrap_err().contains("solid from the start"));
    assert!(document.set_mechanics(3, Mechanics::Solid).unwrap_err().contains("rope"));
    assert!(document.set_mechanics(9, Mechanics::Solid).is_err());
}

#[test]
fn links_join_neighbours_and_follow_their_names() {
    let mut document = Document::new();
    assert!(document.add_link(Object::Scene).is_err(), "nothing to join");
    document.add_block();
    assert!(document.add_link(Object::Body(0)).is_err(), "one is not enough");
    document.add_rigid();
    document.add_block();
    // The last one stands beside the ball, the first one further away.
    let link = document.add_link(Object::Body(2)).unwrap();
    assert_eq!(document.scene().links[0].between, ["block-2", "ball"]);
    runs(&document);
    document.rename(Object::Body(1), "stone").unwrap();
    assert_eq!(document.scene().links[0].between, ["block-2", "stone"]);
    document.rename(link, "string").unwrap();
    assert_eq!(document.name_of(link).as_deref(), Some("string"));
    document.remove(Object::Body(1));
    assert!(document.scene().links.is_empty(), "it goes with its body");
    document.undo();
    assert_eq!(document.scene().links.len(), 1);
    document.remove(link);
    assert_eq!(document.name_of(link), None);
    runs(&document);
}
