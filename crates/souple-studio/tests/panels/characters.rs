//! Characters: opened, played, changed while they play.

use souple::scene::{BulgePreset, Skinning};

use super::*;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/characters").join(name)
}

/// The studio with a character that plays.
fn playing(name: &str) -> Studio {
    let mut studio = studio(Options { file: Some(file(name)), ..options() });
    wait(&mut studio, "it plays", |app| app.shown.moment.step > 3 && app.shown.playing);
    assert_eq!(studio.state().selected, Object::Character(0));
    studio
}

fn character(app: &StudioApp) -> &souple::scene::Character {
    &app.document.scene().characters[0]
}

/// The same, in the running scene.
fn runs(app: &StudioApp, holds: impl Fn(&souple::scene::Character) -> bool) -> bool {
    app.runs_document() && app.shown.scene.as_ref().is_some_and(|scene| holds(&scene.characters[0]))
}

#[test]
fn a_rigged_file_is_seen_and_plays_at_once() {
    let mut studio = playing("elbow.glb");
    let app = studio.state();
    assert_eq!(app.question, None, "there is nothing to ask");
    let item = &app.shown.moment.items[0];
    let aspect = app.viewport.aspect();
    // The camera sees all of it.
    let size = app.viewport.size_pixels();
    assert!(aspect > 0.5);
    for p in item.positions.iter() {
        let pixel = app.camera.pixel(item.transform.transform_point3(*p), size).expect("in front");
        assert!(pixel.x > 0.0 && pixel.y > 0.0 && pixel.x < size.x && pixel.y < size.y, "{pixel}");
    }
    // Dropped on a scene, another one joins it.
    studio.state_mut().drop_file(&file("neck.glb"));
    wait(&mut studio, "both are there", |app| app.shown.moment.items.len() == 2);
    assert_eq!(studio.state().document.scene().characters.len(), 2);
    assert_eq!(studio.state().selected, Object::Character(1));
}

/// A bone that a hand has turned is kept by a button, as one step of undo; the running scene goes on.
#[test]
fn a_pose_made_by_hand_is_kept_in_the_scene_and_taken_back() {
    let mut studio = playing("elbow.glb");
    let turn = souple::Command::MoveBone {
        character: "elbow".into(),
        bone: "bone1".into(),
        by: [0.0; 3],
        rotate_deg: [0.0, 0.0, 30.0],
    };
    studio.state().worker.send(Request::Do(vec![turn]));
    wait(&mut studio, "it is turned", |app| !app.shown.characters[0].posed.is_empty());
    studio.get_by_role_and_label(Role::Button, "Keep pose").scroll_to_me();
    studio.run_steps(4);
    press(&mut studio, "Keep pose");
    let poses = character(studio.state()).poses.clone();
    let [pose] = &poses[..] else { panic!("{poses:?}") };
    let angle = pose.rotate_deg.iter().map(|c| c * c).sum::<f64>().sqrt();
    assert!(pose.bone == "bone1" && (angle - 30.0).abs() < 1e-6, "{pose:?}");
    wait(&mut studio, "the scene stands so", |app| {
        runs(app, |c| c.poses == poses) && app.shown.characters[0].posed.is_empty()
    });
    let written = souple_formats::scene::write_scene_toml(studio.state().document.scene()).unwrap();
    assert!(written.contains("[[character.pose]]"), "{written}");
    studio.state_mut().perform(Action::Undo, Held::default());
    wait(&mut studio, "it is taken back", |app| runs(app, |c| c.poses.is_empty()));
    assert!(studio.state().shown.characters[0].posed.is_empty());
}

#[test]
fn skinning_clips_and_volume_change_while_it_plays() {
    let mut studio = playing("elbow.glb");
    let run = studio.state().shown.run;
    press_choice(&mut studio, "Skinning", "dual quaternion");
    assert_eq!(character(studio.state()).skinning, Skinning::DualQuaternion);
    wait(&mut studio, "it runs so", |app| runs(app, |c| c.skinning == Skinning::DualQuaternion));
    studio.get_by_role_and_label(Role::SpinButton, "Speed").set_value_accesskit(2.0);
    studio.run_steps(2);
    assert_eq!(character(studio.state()).clips[0].speed, 2.0);
    studio.get_by_label("off").click();
    studio.run_steps(3);
    assert!(character(studio.state()).volume.is_some());
    wait(&mut studio, "its volume is kept", |app| runs(app, |c| c.volume.is_some()));
    assert_eq!(studio.state().shown.run, run, "all without a start");
    assert!(studio.state().shown.playing);
    assert_eq!(studio.state().restart_reason(), None);

    // A bulge of one joint, with a preset of its own.
    studio.get_by_role_and_label(Role::Button, "Add bulge").scroll_to_me();
    studio.run_steps(4);
    press(&mut studio, "Add bulge");
    press(&mut studio, "bone1");
    let volume = character(studio.state()).volume.clone().unwrap();
    assert_eq!(volume.joints[0].bones, ["bone1"]);
    // The first preset is that of all joints.
    press_choice(&mut studio, "Preset", "muscle");
    let presets = |app: &StudioApp| {
        let volume = character(app).volume.clone().unwrap();
        (volume.preset, volume.joints[0].preset)
    };
    assert_eq!(presets(studio.state()), (BulgePreset::Muscle, None));
    studio.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    studio.run_steps(2);
    assert_eq!(presets(studio.state()), (BulgePreset::Automatic, None));
    for _ in 0..4 {
        studio.key_press_modifiers(Modifiers::COMMAND, Key::Z);
        studio.run_steps(2);
    }
    assert_eq!(character(studio.state()).skinning, Skinning::LinearBlend);
    assert!(character(studio.state()).volume.is_none());
}

/// The first drop-down of a name.
fn drop_down<'s>(studio: &'s Studio, label: &str) -> egui_kittest::Node<'s> {
    let boxes = studio.get_all_by_role(Role::ComboBox);
    let named = boxes.into_iter().find(|node| node.accesskit_node().label().as_deref() == Some(label));
    named.unwrap_or_else(|| panic!("no drop-down '{label}'"))
}

/// Opens the first drop-down of that name and chooses from it.
fn press_choice(studio: &mut Studio, label: &str, choice: &str) {
    drop_down(studio, label).scroll_to_me();
    studio.run_steps(4);
    drop_down(studio, label).click();
    studio.run_steps(3);
    studio.get_by_role_and_label(Role::Button, choice).click();
    studio.run_steps(3);
}

#[test]
fn a_profile_is_drawn_with_the_mouse() {
    let mut studio = playing("elbow.glb");
    studio.state_mut().document.edit("bulge", |scene| {
        let joint =
            souple::scene::JointBulge { bones: vec!["bone1".into()], ..souple::scene::JointBulge::default() };
        let volume = souple::scene::SkinVolume { joints: vec![joint], ..Default::default() };
        scene.characters[0].volume = Some(volume);
    });
    studio.state_mut().document.finish_edit();
    studio.state_mut().build();
    studio.run_steps(3);
    let profile = |app: &StudioApp| character(app).volume.as_ref().unwrap().joints[0].profile_x.clone();
    studio.get_by_role_and_label(Role::Canvas, "Profile along the bone").scroll_to_me();
    studio.run_steps(4);
    let rect = studio.get_by_role_and_label(Role::Canvas, "Profile along the bone").rect();
    let at = |x: f32, y: f32| rect.min + vec2(x * rect.width(), y * rect.height());
    // A click adds a point, a drag another one and moves it.
    studio.drag_at(at(0.25, 0.5));
    studio.run_steps(2);
    studio.drop_at(at(0.25, 0.5));
    studio.run_steps(2);
    assert_eq!(profile(studio.state()).len(), 1);
    studio.drag_at(at(0.75, 0.5));
    studio.run_steps(2);
    studio.hover_at(at(0.75, 0.2));
    studio.run_steps(2);
    studio.drop_at(at(0.75, 0.2));
    studio.run_steps(2);
    let drawn = profile(studio.state());
    assert_eq!(drawn.len(), 2);
    assert!(drawn[0][0] < -0.3 && drawn[1][0] > 0.3, "{drawn:?}");
    assert!(drawn[1][1] > drawn[0][1] + 0.4, "{drawn:?}");
    wait(&mut studio, "the skin has it", |app| {
        runs(app, |c| c.volume.as_ref().is_some_and(|volume| volume.joints[0].profile_x == drawn))
    });
    // A drag is one step of undo.
    studio.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    studio.run_steps(2);
    assert_eq!(profile(studio.state()).len(), 1);
}

/// Drags the pointer back and forth over the vertex of the skin that is nearest to the eye.
fn stroke(studio: &mut Studio) {
    let app = studio.state();
    let item = &app.shown.moment.items[0];
    let places = item.positions.iter().map(|p| item.transform.transform_point3(*p));
    let distance = |p: &glam::Vec3| p.distance_squared(app.camera.eye());
    let place = places.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
    let pixel = app.camera.pixel(place, app.viewport.size_pixels()).expect("in front of the camera");
    let middle = app.viewport.point(pixel);
    studio.hover_at(middle);
    studio.run_steps(2);
    studio.drag_at(middle);
    studio.run_steps(2);
    for k in 1..=8 {
        studio.hover_at(middle + vec2(12.0 * (k % 3) as f32 - 12.0, 0.0));
        studio.run_steps(1);
    }
    studio.drop_at(middle);
    studio.run_steps(3);
}

fn mean(app: &StudioApp, map: usize) -> f64 {
    let values = &character(app).maps[map].values;
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn a_brush_paints_softens_and_erases_maps_of_the_scene() {
    let mut studio = playing("elbow.glb");
    studio.state_mut().worker.send(Request::Pause);
    wait(&mut studio, "it stands", |app| !app.shown.playing);
    studio.key_press(Key::D);
    studio.run_steps(2);
    assert_eq!(studio.state().hands.tool(), souple_studio::tools::Tool::Paint);
    stroke(&mut studio);
    let app = studio.state();
    assert_eq!(
        character(app).maps.len(),
        1,
        "{:?}",
        app.messages.iter().map(|m| &m.text).collect::<Vec<_>>()
    );
    assert_eq!(character(app).maps[0].name, "paint");
    let painted = mean(app, 0);
    assert!(painted > 0.002 && painted < 0.9, "{painted}");
    // What is drawn is what is painted, and the running scene has it.
    let seen = app.painted_moment();
    assert!(seen.items[0].painted.iter().any(|value| *value > 0.5));
    assert_eq!(&*app.looks.colliders[0].style, "painted");
    wait(&mut studio, "it runs so", |app| runs(app, |c| c.maps.len() == 1));
    // A second stroke is a step of its own; Ctrl erases.
    studio.state_mut().hands.brush.stroke = souple_studio::painting::Stroke::Erase;
    for _ in 0..3 {
        stroke(&mut studio);
    }
    assert!(mean(studio.state(), 0) < 0.5 * painted);
    for _ in 0..3 {
        studio.key_press_modifiers(Modifiers::COMMAND, Key::Z);
        studio.run_steps(2);
    }
    assert!((mean(studio.state(), 0) - painted).abs() < 1e-12);
    studio.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    studio.run_steps(2);
    assert_eq!(character(studio.state()).maps.len(), 0, "one stroke, one step");
    studio.key_press_modifiers(Modifiers::COMMAND, Key::Y);
    studio.run_steps(2);
    // Another map, filled, renamed and removed again.
    studio.get_by_role_and_label(Role::Button, "New painted map").scroll_to_me();
    studio.run_steps(4);
    press(&mut studio, "New painted map");
    studio.state_mut().hands.brush.stroke = souple_studio::painting::Stroke::Paint;
    stroke(&mut studio);
    assert_eq!(character(studio.state()).maps[1].name, "paint-2");
    studio.state_mut().hands.brush.value = 0.25;
    press(&mut studio, "Fill");
    assert!(character(studio.state()).maps[1].values.iter().all(|value| *value == 0.25));
    // It is kept in the file.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.toml");
    studio.state_mut().file_chosen(souple_studio::actions::Purpose::SaveScene, &path);
    let back = souple_files::read_scene_file(&path).unwrap().scene;
    assert_eq!(back.characters[0].maps, character(studio.state()).maps);
    assert!(folder.path().join("elbow.glb").exists(), "the file goes with the scene");
}

#[test]
fn numbers_say_what_each_joint_does_and_colours_show_it() {
    let mut studio = playing("elbow.glb");
    assert!(studio.state().shown.characters[0].volume.is_none());
    studio.state_mut().document.edit("volume", |scene| {
        scene.characters[0].volume = Some(souple::scene::SkinVolume::default());
    });
    studio.state_mut().build();
    wait(&mut studio, "a joint is bent", |app| {
        let volume = app.shown.characters.first().and_then(|c| c.volume.as_ref());
        volume.is_some_and(|volume| volume.joints.iter().any(|joint| joint.changed < -1e-3 * volume.rest))
    });
    let app = studio.state();
    let volume = app.shown.characters[0].volume.as_ref().unwrap();
    assert!((volume.kept / volume.rest - 1.0).abs() < 1e-9 && volume.skinned < volume.rest);
    let changed: f64 = volume.joints.iter().map(|joint| joint.changed).sum();
    assert!((changed - (volume.skinned - volume.rest)).abs() < 1e-3 * volume.rest, "{volume:?}");
    studio.get_by_label("Gain and loss as colours").scroll_to_me();
    studio.run_steps(3);
    studio.get_by_label("Gain and loss as colours").click();
    studio.run_steps(3);
    let app = studio.state();
    assert_eq!(&*app.looks.colliders[0].style, "gain");
    let (quantity, range) = app.looks.legend(&app.styles, |_| true).expect("a legend");
    assert!(quantity.name() == "gain" && range[1] > 0.0 && range[0] == -range[1]);
}

#[test]
fn a_character_is_baked_from_the_menu() {
    let mut studio = playing("elbow.glb");
    press(&mut studio, "File");
    press(&mut studio, "Bake character…");
    let folder = tempfile::tempdir().unwrap();
    answer_dialog(&mut studio, &folder.path().join("out.glb"), "Save");
    wait(&mut studio, "it is written", |app| app.exports.progress().count() == 0);
    wait(&mut studio, "it is told", |app| app.messages.iter().any(|m| m.text.starts_with("Baked 1 clip")));
    let bytes = std::fs::read(folder.path().join("out.glb")).unwrap();
    assert_eq!(&bytes[..4], b"glTF");
}
