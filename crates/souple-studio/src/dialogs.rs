//! Keys, file dialogs and questions: what stands between a person and the actions.

use eframe::egui;

use crate::actions::{Purpose, Question};
use crate::app::StudioApp;
use crate::document::MeshUse;
use crate::exports::SIZES;
use crate::input;
use crate::keys::{Action, action_of};
use crate::panels::files::Outcome;
use crate::panels::messages::Remedy;
use crate::worker::Request;

/// Keys that no widget wants.
pub fn keyboard(app: &mut StudioApp, ctx: &egui::Context) {
    if app.dialog.is_some() || app.question.is_some() || ctx.text_edit_focused() || ctx.any_popup_open() {
        return;
    }
    // A button or slider that was reached with Tab keeps space and arrows for itself.
    let focused = ctx.memory(|memory| memory.focused().is_some());
    let (events, held) = ctx.input(|input| (input.events.clone(), input::held(input)));
    let typing = app.typing;
    for event in events {
        let egui::Event::Key { key, pressed: true, modifiers, repeat, .. } = event else { continue };
        let Some(action) = input::chord(key, modifiers).and_then(action_of) else { continue };
        let repeats = matches!(action, Action::MoveSupport(_) | Action::Step | Action::Undo | Action::Redo);
        // Escape in a field is meant for that field, which has lost the focus by now.
        let is_meant_elsewhere = action == Action::Clear && typing;
        if (repeat && !repeats) || (focused && !modifiers.command) || is_meant_elsewhere {
            continue;
        }
        app.perform(action, held);
    }
}

/// Shows the open file dialog, if there is one.
pub fn show_dialog(app: &mut StudioApp, ctx: &egui::Context) {
    let Some(mut dialog) = app.dialog.take() else { return };
    let purpose = dialog.purpose;
    let mut dropped = false;
    let outcome = dialog.files.show(ctx, |ui| match purpose {
        Purpose::SavePicture => size_choice(ui, &mut app.picture_size),
        Purpose::SaveAnimation => {
            let steps = app.worker.history().moments().len();
            ui.small(format!(
                "{steps} frames of what was shown: meshes (.glb), pictures in one file (.gif) or numbered pictures (.png)."
            ));
            size_choice(ui, &mut app.picture_size);
        }
        Purpose::Bake(_) => {
            ui.small(
                "Every clip of its file, each by itself, with the skin as the scene has it: one file with a shape per frame \
                 (.glb), or places per frame (.pc2, .mdd). Several clips become several files.",
            );
            let fps = egui::DragValue::new(&mut app.bake_fps).range(1.0..=240.0).suffix(" frames per second");
            ui.add(fps).accessible_name("Frames per second");
        }
        Purpose::SaveRecording => {
            dropped = ui.button("Discard the recording").on_hover_text("End it without keeping it").clicked();
        }
        _ => {}
    });
    match outcome {
        _ if dropped => app.worker.send(Request::DropRecording),
        Outcome::Waiting => app.dialog = Some(dialog),
        Outcome::Cancelled => app.waiting = None,
        Outcome::Chosen(path) => app.file_chosen(purpose, &path),
    }
}

fn size_choice(ui: &mut egui::Ui, size: &mut (u32, u32)) {
    let name = |(width, height): (u32, u32)| format!("{width} × {height}");
    ui.horizontal(|ui| {
        let label = ui.label("Picture size, pixels");
        let combo =
            egui::ComboBox::from_id_salt("picture size").selected_text(name(*size)).show_ui(ui, |ui| {
                for choice in SIZES {
                    ui.selectable_value(size, choice, name(choice));
                }
            });
        combo.response.labelled_by(label.id);
    });
}

/// Shows the open question, if there is one.
pub fn show_question(app: &mut StudioApp, ctx: &egui::Context) {
    app.ask_next();
    let Some(question) = app.question.take() else { return };
    let mut answered = false;
    let response = egui::Modal::new(egui::Id::unique("question")).show(ctx, |ui| {
        ui.set_max_width(380.0);
        match &question {
            Question::Unsaved(after) => {
                ui.heading(format!("Save the changes of {}?", app.document.title()));
                ui.label("They are lost otherwise.");
                ui.add_space(8.0);
                ui.horizontal(|ui| {
                    if ui.button("Save").clicked() {
                        answered = true;
                        app.save_then(after.clone());
                    }
                    if ui.button("Don't save").clicked() {
                        answered = true;
                        app.go_on(after.clone());
                    }
                    answered |= ui.button("Cancel").clicked();
                });
            }
            Question::Comments(after) => {
                ui.heading(format!("{} has comments", app.document.title()));
                ui.label(
                    "The studio writes the scene anew: what it says is kept, comments and layout are not.",
                );
                ui.add_space(8.0);
                ui.horizontal(|ui| {
                    if ui.button("Save all the same").clicked() {
                        answered = true;
                        app.write_scene_now(after.clone());
                    }
                    if ui.button("Save as…").clicked() {
                        answered = true;
                        app.waiting.clone_from(after);
                        app.ask_file(Purpose::SaveSceneThen);
                    }
                    answered |= ui.button("Cancel").clicked();
                });
            }
            Question::Overtaken(after) => {
                ui.heading(format!("{} was changed by another program", app.document.title()));
                ui.label("Saved here, what the other program wrote is lost.");
                ui.add_space(8.0);
                ui.horizontal(|ui| {
                    if ui.button("Overwrite it").clicked() {
                        answered = true;
                        app.write_scene_now(after.clone());
                    }
                    if ui.button("Save as…").clicked() {
                        answered = true;
                        app.waiting.clone_from(after);
                        app.ask_file(Purpose::SaveSceneThen);
                    }
                    if ui.button("Reload from disk").clicked() {
                        answered = true;
                        app.apply_remedy(Remedy::Reload);
                    }
                    answered |= ui.button("Cancel").clicked();
                });
            }
            Question::Unfinished => {
                ui.heading("Close the window all the same?");
                for line in app.unfinished() {
                    ui.label(line);
                }
                ui.add_space(8.0);
                ui.horizontal(|ui| {
                    let recorded = app.shown.recording || app.shown.recorded;
                    if recorded && ui.button("Save the recording…").clicked() {
                        answered = true;
                        app.ask_file(Purpose::SaveRecording);
                    }
                    if ui.button("Close").clicked() {
                        answered = true;
                        app.closing = true;
                    }
                    answered |= ui.button("Cancel").clicked();
                });
            }
            Question::MeshUse(path) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                ui.heading(format!("What is {name} to become?"));
                ui.add_space(8.0);
                ui.horizontal(|ui| {
                    for (label, usage) in
                        [("Soft body", MeshUse::SoftBody), ("Mesh collider", MeshUse::Collider)]
                    {
                        if ui.button(label).clicked() {
                            answered = true;
                            app.add_mesh(path, usage);
                        }
                    }
                    answered |= ui.button("Cancel").clicked();
                });
            }
        }
    });
    if !answered && !response.should_close() {
        app.question = Some(question);
    }
}
