//! What must not happen by the way: nothing is lost, changed or restarted that nobody asked for.

use souple_studio::actions::{After, Question};

use super::*;

/// Presses and lets go of the left button as a person does, in two frames.
fn click_at(studio: &mut Studio, at: egui::Pos2) {
    studio.hover_at(at);
    studio.run_steps(1);
    for pressed in [true, false] {
        let (button, modifiers) = (egui::PointerButton::Primary, Modifiers::NONE);
        studio.event(egui::Event::PointerButton { pos: at, button, pressed, modifiers });
        studio.run_steps(1);
    }
    studio.run_steps(2);
}

/// Puts the focus into a number and selects all of its text.
fn focus_number(studio: &mut Studio, label: &str) {
    studio.get_by_role_and_label(Role::SpinButton, label).focus();
    studio.run_steps(2);
    assert!(studio.state().typing, "{label} is typed into");
}

#[test]
fn a_recording_that_ended_by_itself_can_be_saved() {
    let (folder, _, mut studio) = opened(HANGING);
    press(&mut studio, "Record");
    wait(&mut studio, "it records", |app| app.shown.recording);
    step_some(&mut studio);
    press(&mut studio, "Reset");
    wait(&mut studio, "it ended", |app| app.shown.recorded && !app.shown.recording);
    // Closing the window would lose it.
    studio.state_mut().ask_to_quit();
    studio.run_steps(2);
    assert!(!studio.state().closing);
    assert_eq!(studio.state().question, Some(Question::Unfinished));
    press(&mut studio, "Cancel");
    press(&mut studio, "Save the recording");
    answer_dialog(&mut studio, &folder.path().join("none/run"), "Save");
    assert!(studio.state().dialog.is_some(), "there is no such folder");
    answer_dialog(&mut studio, &folder.path().join("run"), "Save");
    let file = folder.path().join("run.souprec");
    wait(&mut studio, "it is written", |app| !app.shown.recorded && file.exists());
    assert!(studio.query_by_role_and_label(Role::Button, "Record").is_some());
    studio.state_mut().ask_to_quit();
    assert!(studio.state().closing);
}

#[test]
fn looking_at_a_scene_does_not_change_it() {
    let text = HANGING
        .replace("frames = 2000", "frames = 2000000\n[[collider]]\nname = 'ball'\nfriction = 150.0")
        .replace("vertices = [9, 9]", "vertices = [1002, 2]")
        .replace(
            "fabric = 'cotton'",
            "fabric = 'cotton'\nmass = 0.123456789012\nlimits = { method = 'position', iterations = 300 }\n\
             look = { style = 'phong', parameters = { exponent = 900.0 } }",
        );
    let (_folder, _, mut studio) = opened(&text);
    for object in [Object::Scene, Object::Body(0), Object::Collider(0), Object::Pin(0, 0)] {
        studio.state_mut().select(object);
        studio.run_steps(4);
        assert!(!studio.state().document.is_dirty(), "{object:?}");
    }
    // Nor does a number that gets the focus and loses it.
    for (object, field) in [(Object::Body(0), "Mass"), (Object::Scene, "Frames")] {
        studio.state_mut().select(object);
        studio.run_steps(3);
        focus_number(&mut studio, field);
        studio.key_press(Key::Enter);
        studio.run_steps(3);
        assert!(!studio.state().typing);
        assert!(!studio.state().document.is_dirty(), "{field}");
    }
    assert_eq!(studio.state().document.undo_label(), None);
}

#[test]
fn a_number_that_is_typed_is_not_lost_on_a_click_elsewhere() {
    let (_folder, _, mut studio) = opened(HANGING);
    studio.state_mut().layout.tab = LeftTab::Tree;
    studio.state_mut().select(Object::Body(0));
    studio.run_steps(3);
    // The one in the tree; the inspector has another one.
    let places = studio.get_all_by_role_and_label(Role::Button, "right").map(|node| node.rect().center());
    let pin = places.min_by(|a, b| a.x.total_cmp(&b.x)).unwrap();
    focus_number(&mut studio, "Stretch stiffness");
    studio.event(egui::Event::Text("555".into()));
    studio.run_steps(1);
    click_at(&mut studio, pin);
    assert_eq!(studio.state().selected, Object::Pin(0, 1));
    assert_eq!(studio.state().document.scene().bodies[0].springs.stretch.stiffness, Some(555.0));
}

#[test]
fn escape_in_a_field_leaves_the_field_and_nothing_else() {
    let (_folder, _, mut studio) = opened(HANGING);
    studio.state_mut().select(Object::Body(0));
    studio.run_steps(3);
    studio.get_by_role_and_label(Role::TextInput, "Name").focus();
    studio.run_steps(2);
    studio.event(egui::Event::Text("sail".into()));
    studio.run_steps(2);
    studio.key_press(Key::Escape);
    studio.run_steps(3);
    assert_eq!(studio.state().document.scene().bodies[0].name, "cloth");
    assert_eq!(studio.state().selected, Object::Body(0), "the field alone was meant");
    studio.key_press(Key::Escape);
    studio.run_steps(2);
    assert_eq!(studio.state().selected, Object::Scene);
}

#[test]
fn a_scene_that_cannot_run_takes_the_place_of_the_one_before() {
    let (folder, _, mut studio) = opened(HANGING);
    press(&mut studio, "Play");
    wait(&mut studio, "it plays", |app| app.shown.moment.step > 2);
    let path = folder.path().join("heavy.toml");
    std::fs::write(&path, HANGING.replace("fabric = 'cotton'", "fabric = 'cotton'\nmass = -1.0")).unwrap();
    studio.state_mut().open_file(&path);
    assert!(!studio.state().runs_document() && !studio.state().is_live());
    wait(&mut studio, "the message", |app| app.messages.get("build").is_some());
    let app = studio.state();
    assert!(app.shown.moment.items.is_empty() && app.shown.scene.is_none() && !app.shown.playing);
    // The message can be closed, and comes back only when another build fails.
    studio.state_mut().messages.clear("build");
    studio.state_mut().perform(Action::Loop, Held::default());
    wait(&mut studio, "something else happened", |app| app.shown.at_end_rule == AtEnd::Loop);
    assert!(studio.state().messages.get("build").is_none());
    studio.state_mut().document.edit("mass", |scene| scene.bodies[0].mass = Some(-2.0));
    studio.state_mut().build();
    wait(&mut studio, "the message again", |app| app.messages.get("build").is_some());
    assert_eq!(studio.state().messages.get("build").unwrap().count, 1);
    studio.state_mut().document.edit("mass", |scene| scene.bodies[0].mass = Some(1.0));
    studio.state_mut().build();
    wait(&mut studio, "it runs", |app| app.runs_document() && app.shown.moment.items.len() == 1);
    assert!(studio.state().messages.get("build").is_none());
}

#[test]
fn names_and_pin_sets_wait_for_a_restart() {
    let (_folder, _, mut studio) = opened(HANGING);
    step_some(&mut studio);
    let run = studio.state().shown.run;
    studio.state_mut().document.rename(Object::Pin(0, 0), "mast").unwrap();
    studio.state_mut().build();
    wait(&mut studio, "that is told", |app| app.shown.needs_restart.is_some());
    assert!(studio.state().restart_reason().unwrap().contains("renamed"));
    assert_eq!((studio.state().shown.run, studio.state().shown.moment.step), (run, 1), "it goes on");
    // The pin set of the first vertices of each body that has a selection.
    studio.state_mut().hands.selection.insert(0, [40, 41].into());
    studio.state_mut().add_pin_sets();
    assert_eq!(studio.state().selected, Object::Pin(0, 2));
    wait(&mut studio, "the restart is offered", |app| app.restart_reason().is_some());
    studio.run_steps(2);
    assert_eq!(studio.state().shown.run, run);
    press(&mut studio, "Apply and restart");
    wait(&mut studio, "it started again", |app| app.shown.run > run && app.shown.supports.len() == 3);
    assert_eq!(studio.state().restart_reason(), None);
    assert_eq!(studio.state().shown.supports[0].pin, "mast");
}

#[test]
fn colours_are_fitted_anew_after_a_reset() {
    // From flat it swings down fast.
    let (_folder, _, mut studio) = opened(&HANGING.replace("plane = 'xy'", "plane = 'xz'"));
    studio.state_mut().set_style(Some("velocity"));
    press(&mut studio, "Play");
    let top = |app: &StudioApp| app.looks.bodies[0].range.map_or(0.0, |range| range[1]);
    wait(&mut studio, "it is fast", |app| top(app) > 0.3);
    press(&mut studio, "Pause");
    wait(&mut studio, "it stands", |app| !app.shown.playing);
    press(&mut studio, "Reset");
    wait(&mut studio, "the range of the start", |app| {
        app.shown.moment.step == 0 && top(app) > 0.0 && top(app) < 0.1
    });
    press(&mut studio, "Play");
    wait(&mut studio, "it widens again", |app| top(app) > 0.3);
}

#[test]
fn a_recording_is_seen_whole_and_selects_nothing() {
    let far =
        HANGING.replace("plane = 'xy' } }", "plane = 'xy' } }\nplacement = { translate = [50.0, 0.0, 0.0] }");
    let (folder, near_path, mut studio) = opened(HANGING);
    let far_path = folder.path().join("far.toml");
    std::fs::write(&far_path, far).unwrap();
    studio.state_mut().open_file(&far_path);
    wait(&mut studio, "it is here", |app| app.runs_document());
    assert!(studio.state().camera.target.x > 40.0, "its own moment was looked at");
    press(&mut studio, "Record");
    wait(&mut studio, "it records", |app| app.shown.recording);
    let step = studio.state().shown.moment.step;
    wait(&mut studio, "some steps", |app| app.shown.moment.step > step + 3);
    press(&mut studio, "Stop recording");
    answer_dialog(&mut studio, &folder.path().join("run"), "Save");
    wait(&mut studio, "it is written", |app| !app.shown.recording && !app.shown.recorded);

    studio.state_mut().open_file(&near_path);
    wait(&mut studio, "the near one", |app| app.runs_document());
    assert!(studio.state().camera.target.x < 10.0);
    studio.state_mut().open_file(&folder.path().join("run.souprec"));
    wait(&mut studio, "the recording", |app| app.shown.replaying);
    assert!(studio.state().camera.target.x > 40.0, "{:?}", studio.state().camera);
    // Nothing of the scene behind it can be selected or removed.
    studio.state_mut().layout.tab = LeftTab::Tree;
    studio.run_steps(3);
    studio.get_all_by_role_and_label(Role::Button, "left").next().unwrap().click();
    studio.run_steps(3);
    assert_eq!(studio.state().selected, Object::Scene);
    studio.state_mut().selected = Object::Body(0);
    studio.state_mut().perform(Action::Remove, Held::default());
    assert_eq!(studio.state().document.scene().bodies.len(), 1);
    studio.state_mut().leave_recording();
    wait(&mut studio, "the scene is back", |app| app.runs_document());
    assert!(studio.state().camera.target.x < 10.0);
}

#[test]
fn questions_are_asked_one_after_the_other() {
    let (folder, _, mut studio) = opened(HANGING);
    for name in ["one.obj", "two.obj"] {
        std::fs::write(folder.path().join(name), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    }
    studio.state_mut().document.edit("name", |scene| scene.name = "Changed".into());
    studio.state_mut().perform(Action::New, Held::default());
    studio.state_mut().perform(Action::New, Held::default());
    for name in ["one.obj", "two.obj"] {
        studio.state_mut().drop_file(&folder.path().join(name));
    }
    assert_eq!(studio.state().question, Some(Question::Unsaved(After::New)));
    studio.run_steps(2);
    press(&mut studio, "Cancel");
    press(&mut studio, "Soft body");
    press(&mut studio, "Mesh collider");
    let scene = studio.state().document.scene();
    assert_eq!((scene.bodies.len(), scene.colliders.len()), (2, 1));
    assert!(studio.state().question.is_none());
}

#[test]
fn a_file_that_another_program_wrote_is_not_overwritten_unasked() {
    let (_folder, path, mut studio) = opened(HANGING);
    let other = HANGING.replace("Hanging", "From elsewhere, with more letters");
    std::fs::write(&path, &other).unwrap();
    studio.state_mut().document.edit("name", |scene| scene.name = "Mine".into());
    for answer in ["Cancel", "Overwrite it"] {
        studio.state_mut().save();
        assert_eq!(studio.state().question, Some(Question::Overtaken(None)));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), other);
        studio.run_steps(2);
        press(&mut studio, answer);
    }
    assert!(std::fs::read_to_string(&path).unwrap().contains("Mine"));
}

#[test]
fn saving_a_scene_with_a_mesh_from_elsewhere_needs_no_restart() {
    let (folder, _, mut studio) = opened(HANGING);
    let elsewhere = tempfile::tempdir().unwrap();
    let mesh = elsewhere.path().join("tetra.obj");
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(&mesh, text).unwrap();
    studio.state_mut().add_mesh(&mesh, souple_studio::document::MeshUse::SoftBody);
    wait(&mut studio, "it runs", |app| app.shown.bodies.len() == 2);
    step_some(&mut studio);
    studio.state_mut().save();
    assert!(folder.path().join("tetra.obj").exists());
    assert_eq!(studio.state().restart_reason(), None);
    studio.run_steps(2);
    assert_eq!(studio.state().restart_reason(), None);
}

#[test]
fn names_and_descriptions_leave_the_style_as_it_is() {
    let (_folder, _, mut studio) = opened(HANGING);
    step_some(&mut studio);
    let run = studio.state().shown.run;
    studio.state_mut().set_style(Some("toon"));
    studio.get_by_role_and_label(Role::MultilineTextInput, "Description").focus();
    studio.run_steps(2);
    studio.event(egui::Event::Text("a cloth".into()));
    studio.run_steps(2);
    assert_eq!(studio.state().document.scene().description, "a cloth");
    assert_eq!(studio.state().style_override.as_deref(), Some("toon"));
    assert_eq!(studio.state().shown.run, run);
    // Opening another scene keeps the tool in hand.
    let app = studio.state_mut();
    app.perform(Action::Tool(souple_studio::tools::Tool::Fan), Held::default());
    app.replace_document(souple_studio::document::Document::new(), false);
    assert_eq!(app.hands.tool(), souple_studio::tools::Tool::Fan);
}
