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
    press(&mut studio, "Add bulge");
    press(&mut studio, "bone1");
    let volume = character(studio.state()).volume.clone().unwrap();
    assert_eq!(volume.joints[0].bones, ["bone1"]);
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

/// Opens the first drop-down of that name and chooses from it.
fn press_choice(studio: &mut Studio, label: &str, choice: &str) {
    let boxes = studio.get_all_by_role(Role::ComboBox);
    let named = boxes.into_iter().find(|node| node.accesskit_node().label().as_deref() == Some(label));
    named.unwrap_or_else(|| panic!("no drop-down '{label}'")).click();
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
