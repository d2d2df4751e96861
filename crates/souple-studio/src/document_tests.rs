use std::time::Duration;

use proptest::prelude::*;
use souple::scene::{Body, InlineMesh, Look, MeshFile, Style};

use super::*;

const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// Something a person does to a scene.
#[derive(Clone, Debug)]
enum Deed {
    Drag(u8, i8),
    Finish,
    Name(u8),
    Cloth(bool),
    Rope,
    Collider(usize),
    PinSet(usize, Vec<u32>),
    Wind,
    Group,
    Remove(Object),
    Rename(Object, u8),
}

fn any_object() -> impl Strategy<Value = Object> {
    prop_oneof![
        Just(Object::Scene),
        Just(Object::Wind),
        (0usize..3).prop_map(Object::Group),
        (0usize..4).prop_map(Object::Body),
        (0usize..4, 0usize..3).prop_map(|(b, p)| Object::Pin(b, p)),
        (0usize..4, 0usize..2).prop_map(|(b, p)| Object::Pull(b, p)),
        (0usize..4).prop_map(Object::Collider),
    ]
}

fn any_deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => (0u8..3, -3i8..3).prop_map(|(key, value)| Deed::Drag(key, value)),
        2 => Just(Deed::Finish),
        1 => any::<u8>().prop_map(Deed::Name),
        1 => any::<bool>().prop_map(Deed::Cloth),
        1 => Just(Deed::Rope),
        1 => (0usize..5).prop_map(Deed::Collider),
        1 => (0usize..4, prop::collection::vec(0u32..2000, 0..4)).prop_map(|(b, v)| Deed::PinSet(b, v)),
        1 => Just(Deed::Wind),
        1 => Just(Deed::Group),
        2 => any_object().prop_map(Deed::Remove),
        2 => (any_object(), 0u8..4).prop_map(|(object, name)| Deed::Rename(object, name)),
    ]
}

fn perform(document: &mut Document, deed: &Deed) {
    match deed {
        Deed::Drag(key, value) => {
            let axis = usize::from(*key);
            document.edit(&format!("key {key}"), |scene| scene.gravity[axis] = f64::from(*value));
        }
        Deed::Finish => document.finish_edit(),
        Deed::Name(name) => {
            document.edit("name", |scene| scene.name = name.to_string());
        }
        Deed::Cloth(true) => {
            document.add_cloth(ClothKind::Sheet);
        }
        Deed::Cloth(false) => {
            document.add_cloth(ClothKind::Curtain);
        }
        Deed::Rope => {
            document.add_rope();
        }
        Deed::Collider(kind) => {
            document.add_collider(ColliderKind::ALL[*kind]);
        }
        Deed::PinSet(body, vertices) => {
            let _ = document.add_pin_set(*body, vertices);
        }
        Deed::Wind => {
            document.add_wind();
        }
        Deed::Group => {
            document.add_group();
        }
        Deed::Remove(object) => {
            document.remove(*object);
        }
        Deed::Rename(object, name) => {
            let _ = document.rename(*object, &format!("name {name}"));
        }
    }
}

proptest! {
    #[test]
    fn undo_all_is_the_start_and_redo_all_is_the_end(deeds in prop::collection::vec(any_deed(), 0..40)) {
        let mut document = Document::new();
        document.add_cloth(ClothKind::Curtain);
        let start = document.scene().clone();
        document.undo.clear();
        deeds.iter().for_each(|deed| perform(&mut document, deed));
        let end = document.scene().clone();
        // Every scene on the way back is met again on the way forth.
        let mut scenes = vec![end.clone()];
        while document.undo().is_some() {
            scenes.push(document.scene().clone());
        }
        prop_assert_eq!(document.scene(), &start);
        prop_assert!(scenes.windows(2).all(|pair| pair[0] != pair[1]), "a step that changes nothing");
        prop_assert_eq!(document.undo_label(), None);
        while let Some(expected) = scenes.pop() {
            prop_assert_eq!(document.scene(), &expected);
            prop_assert_eq!(document.redo().is_some(), !scenes.is_empty());
        }
        prop_assert_eq!(document.scene(), &end);
        prop_assert_eq!(document.redo_label(), None);
    }

    #[test]
    fn names_stay_unique_and_the_scene_compiles(deeds in prop::collection::vec(any_deed(), 0..25)) {
        let mut document = Document::new();
        for deed in &deeds {
            // A drag of gravity and the like is fine too.
            perform(&mut document, deed);
        }
        let compiled = document.compile();
        prop_assert!(compiled.is_ok(), "{:?}", compiled.err());
        for body in &document.scene().bodies {
            let mut names: Vec<&str> = body.pins.iter().map(|pin| pin.name.as_str()).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            prop_assert_eq!(names.len(), count);
        }
    }
}

#[test]
fn edits_of_one_drag_are_one_step() {
    let mut document = Document::new();
    let drag = |document: &mut Document, key: &str, value: f64| document.edit(key, |s| s.gravity[1] = value);
    for value in [-1.0, -2.0, -3.0] {
        assert!(drag(&mut document, "gravity", value));
    }
    assert!(!drag(&mut document, "gravity", -3.0), "nothing changed");
    document.finish_edit();
    drag(&mut document, "gravity", -4.0);
    // Another key ends the drag by itself.
    drag(&mut document, "other", -5.0);
    drag(&mut document, "gravity", -6.0);
    let mut seen = Vec::new();
    while let Some(key) = document.undo() {
        seen.push((key, document.scene().gravity[1]));
    }
    let expected = [("gravity", -5.0), ("other", -4.0), ("gravity", -3.0), ("gravity", -9.81)];
    assert_eq!(seen, expected.map(|(key, value)| (key.to_owned(), value)));
    assert_eq!((document.redo_label(), document.undo_label()), (Some("gravity"), None));
    // Something new takes the place of what was undone.
    drag(&mut document, "gravity", 1.0);
    assert_eq!(document.redo_label(), None);
}

#[test]
fn a_drag_that_comes_back_leaves_no_step() {
    let mut document = Document::new();
    document.edit("gravity", |scene| scene.gravity[1] = -1.0);
    document.edit("gravity", |scene| scene.gravity[1] = -9.81);
    assert!(!document.is_dirty());
    document.finish_edit();
    assert_eq!(document.undo(), None);
}

#[test]
fn no_two_scenes_share_a_revision() {
    let (mut a, mut b) = (Document::new(), Document::new());
    let (first, other) = (a.revision(), b.revision());
    assert!(first != other && a.has_revision(first) && !a.has_revision(other));
    a.edit("gravity", |scene| scene.gravity[1] = -1.0);
    b.edit("gravity", |scene| scene.gravity[1] = -1.0);
    assert_ne!(a.revision(), b.revision());
    assert!(a.has_revision(first) && a.has_revision(a.revision()) && !b.has_revision(first));
}

#[test]
fn the_oldest_steps_are_forgotten() {
    let mut document = Document::new();
    for step in 0..MAX_STEPS + 20 {
        document.step("count", |scene| scene.time.frames = step as u32);
    }
    assert_eq!(document.undo.len(), MAX_STEPS);
    // Large meshes leave room for fewer steps, but always for one.
    let vertices = MAX_STEP_BYTES / 24 / 2;
    let mesh = InlineMesh { positions: vec![[0.0; 3]; vertices], ..InlineMesh::default() };
    let body = Body { shape: Shape::Mesh(mesh), ..Body::default() };
    document.step("mesh", |scene| scene.bodies.push(body));
    for step in 0..4 {
        document.step("count", |scene| scene.time.frames = step);
    }
    assert_eq!(document.undo.len(), 1);
}

#[test]
fn a_scene_is_saved_opened_and_dirty_in_between() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.toml");
    let mut document = Document::new();
    assert_eq!((document.is_dirty(), document.title().as_str(), document.path()), (false, "untitled", None));
    assert!(document.save().unwrap_err().to_string().contains("Save as"));
    document.add_cloth(ClothKind::Sheet);
    assert!(document.is_dirty());
    assert_eq!(document.save_as(&path).unwrap(), Saved::default());
    assert_eq!((document.is_dirty(), document.title().as_str()), (false, "a.toml"));

    document.undo();
    assert!(document.is_dirty());
    document.redo();
    assert!(!document.is_dirty(), "back at what is on the disk");

    let mut again = Document::open(&path).unwrap();
    assert_eq!(again.scene(), document.scene());
    again.edit("name", |scene| scene.name = "other".into());
    again.save().unwrap();
    assert_eq!(Document::open(&path).unwrap().scene().name, "other");

    // JSON is written as JSON.
    let json = folder.path().join("a.json");
    again.save_as(&json).unwrap();
    assert!(fs::read_to_string(&json).unwrap().starts_with('{'));
    assert_eq!(Document::open(&json).unwrap().scene(), again.scene());
}

#[test]
fn what_cannot_be_written_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.toml");
    let mut document = Document::new();
    document.save_as(&path).unwrap();
    let before = fs::read(&path).unwrap();
    document.edit("gravity", |scene| scene.gravity[0] = f64::NAN);
    let refused = document.save().unwrap_err().to_string();
    assert!(refused.contains("gravity[0]"), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), before);
    assert!(document.is_dirty());
    let refused = document.save_as(&folder.path().join("none/a.toml")).unwrap_err().to_string();
    assert!(refused.contains("its folder is not there"), "{refused}");
    assert_eq!(document.path(), Some(path.as_path()));
}

#[test]
fn changes_on_the_disk_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.toml");
    let mut document = Document::new();
    assert_eq!(document.poll_disk(), FileChange::Same);
    document.add_rope();
    document.save_as(&path).unwrap();
    assert_eq!(document.poll_disk(), FileChange::Same, "its own writing is no news");

    fs::write(&path, "format = 1\nname = 'from elsewhere'\n").unwrap();
    let later = fs::metadata(&path).unwrap().modified().unwrap() + Duration::from_secs(5);
    fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
    assert!(!document.is_overtaken());
    assert_eq!((document.poll_disk(), document.poll_disk()), (FileChange::Changed, FileChange::Same));
    assert!(document.is_overtaken(), "remembered until it is read or written");
    document.reload().unwrap();
    assert_eq!((document.scene().name.as_str(), document.is_dirty()), ("from elsewhere", false));
    assert!(!document.is_overtaken());
    assert_eq!(document.undo().as_deref(), Some("reload"));
    assert_eq!(document.scene().bodies[0].name, "rope");
    document.redo();

    // Gone: the document is still there and can be saved.
    fs::remove_file(&path).unwrap();
    assert_eq!(document.poll_disk(), FileChange::Vanished);
    assert!(document.is_dirty());
    assert!(document.reload().is_err());
    document.save().unwrap();
    assert!(!document.is_dirty());
    assert_eq!(Document::open(&path).unwrap().scene().name, "from elsewhere");
    // Something that is no scene.
    fs::write(&path, "format = 1\nnam = 'x'\n").unwrap();
    let refused = document.reload().unwrap_err().to_string();
    assert!(refused.contains("did you mean 'name'?"), "{refused}");
    assert_eq!(document.scene().name, "from elsewhere");
}

/// `outside/a.obj`, `outside/paint.png`, `one/`, `two/`.
fn folders() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["outside", "one", "two"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("outside/a.obj"), TETRAHEDRON).unwrap();
    fs::write(folder.path().join("outside/paint.png"), b"not looked into").unwrap();
    folder
}

fn mesh_path(scene: &Scene) -> &str {
    match &scene.bodies[0].shape {
        Shape::File(MeshFile { path, .. }) => path,
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_from_elsewhere_come_along_when_the_scene_is_saved() {
    let folder = folders();
    let outside = folder.path().join("outside");
    let mut document = Document::new();
    let body = document.add_mesh(&outside.join("a.obj"), MeshUse::SoftBody).unwrap();
    document.set_texture(body, &outside.join("paint.png")).unwrap();
    document.compile().unwrap();
    assert!(Path::new(mesh_path(document.scene())).is_absolute());

    let one = folder.path().join("one/scene.toml");
    let saved = document.save_as(&one).unwrap();
    assert_eq!((saved.copied.len(), saved.missing.len()), (2, 0));
    assert_eq!(mesh_path(document.scene()), "a.obj");
    assert_eq!(document.scene().bodies[0].look.as_ref().unwrap().texture.as_deref(), Some("paint.png"));
    assert!(!document.is_dirty());
    assert_eq!(document.files().read("paint.png", 99, "texture").unwrap(), b"not looked into");
    // It stands on its own: the originals are not needed any more.
    fs::remove_dir_all(&outside).unwrap();
    Document::open(&one).unwrap().compile().unwrap();
    assert_eq!(document.save().unwrap(), Saved::default());

    // To another folder, where another file has the name.
    fs::write(folder.path().join("two/a.obj"), "v 0 0 0\n").unwrap();
    let two = folder.path().join("two/scene.toml");
    assert_eq!(document.save_as(&two).unwrap().copied.len(), 2);
    assert_eq!(mesh_path(document.scene()), "a-2.obj");
    Document::open(&two).unwrap().compile().unwrap();
    // What was done before the move can still be undone and compiled.
    document.undo();
    assert_eq!(document.scene().bodies[0].look, None);
    document.compile().unwrap();
    // Saved to the folder above, the files of the folder below are named where they are.
    document.redo();
    let saved = document.save_as(&folder.path().join("scene.toml")).unwrap();
    assert_eq!((saved.copied.len(), saved.missing.len()), (0, 0));
    assert_eq!(saved.renamed.get("a-2.obj").map(String::as_str), Some("two/a-2.obj"));
    assert_eq!(mesh_path(document.scene()), "two/a-2.obj");
    document.compile().unwrap();
}

#[test]
fn files_that_are_not_there_do_not_stop_a_scene_from_being_saved() {
    let folder = folders();
    let mut document = Document::new();
    document.add_cloth(ClothKind::Sheet);
    let look = Look { style: Style::Shader("gone.wgsl".into()), ..Look::default() };
    document.edit("look", |scene| scene.bodies[0].look = Some(look));
    let saved = document.save_as(&folder.path().join("one/scene.toml")).unwrap();
    assert_eq!(saved, Saved { missing: vec!["gone.wgsl".into()], ..Saved::default() });
    let refused = document.files().path("gone.wgsl", "shader").unwrap_err();
    assert_eq!(refused, "there is no such file");
}
