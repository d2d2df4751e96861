//! The timeline: play, step, reset, loop, speed, record; the track of what was shown; replay; pictures and animations.

use eframe::egui::{self, Align2, FontId, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use super::icons::{Icon, icon_button};
use super::menu::{speed_name, speeds};
use super::theme::palette;
use crate::actions::Purpose;
use crate::app::StudioApp;
use crate::keys::{Action, Held, chord_of};
use crate::playback::Showing;
use crate::worker::{AtEnd, Request};

/// Draws the row.
pub fn show(app: &mut StudioApp, ui: &mut Ui) {
    ui.horizontal(|ui| {
        buttons(app, ui);
        ui.separator();
        let text = clock_text(app);
        let font = FontId::monospace(11.0);
        let text_width = ui.painter().layout_no_wrap(text.clone(), font, egui::Color32::PLACEHOLDER).size().x;
        let right = 3.0 * 34.0 + 20.0;
        let width = (ui.available_width() - text_width - right).max(40.0);
        track(app, ui, width);
        clock(app, ui, &text);
        ends(app, ui);
    });
}

fn key_tip(text: &str, action: Action) -> String {
    chord_of(action).map_or_else(|| text.to_owned(), |chord| format!("{text} ({chord})"))
}

fn buttons(app: &mut StudioApp, ui: &mut Ui) {
    let none = Held::default();
    if icon_button(ui, Icon::Reset, false, "Reset", &key_tip("Back to the start", Action::Reset)).clicked() {
        app.perform(Action::Reset, none);
    }
    let running = match app.showing {
        Showing::Replay { running, .. } => running,
        Showing::Past { .. } => false,
        Showing::Live => app.shown.playing,
    };
    let (icon, name) = if running { (Icon::Pause, "Pause") } else { (Icon::Play, "Play") };
    if icon_button(ui, icon, false, name, &key_tip("Play or pause", Action::PlayPause)).clicked() {
        app.perform(Action::PlayPause, none);
    }
    if icon_button(ui, Icon::Step, false, "Step", &key_tip("One frame", Action::Step)).clicked() {
        app.perform(Action::Step, none);
    }
    let again = app.shown.at_end_rule == AtEnd::Loop;
    if icon_button(ui, Icon::Loop, again, "Loop", &key_tip("Begin again at the last frame", Action::Loop))
        .clicked()
    {
        app.perform(Action::Loop, none);
    }
    record_button(app, ui);
    let shown = match speed_name(app.shown.speed).as_str() {
        "as fast as it can" => "fastest".to_owned(),
        text => text.trim_end_matches(" real time").to_owned(),
    };
    let combo = egui::ComboBox::from_id_salt("speed")
        .selected_text(shown)
        .width(64.0)
        .show_ui(ui, |ui| speeds(app, ui));
    combo
        .response
        .on_hover_text("Speed of the simulation, times real time, when the machine can")
        .accessible_name("Speed");
}

fn record_button(app: &mut StudioApp, ui: &mut Ui) {
    let recording = app.shown.recording;
    let recorded = app.shown.recorded;
    let (icon, name, tip) = match (recording, recorded) {
        (true, _) => (Icon::Stop, "Stop recording", "Stop recording and choose a file for it"),
        (false, true) => (Icon::Stop, "Save the recording", "It ended; choose a file for it, or discard it"),
        (false, false) => {
            (Icon::Record, "Record", "Record every step and everything you do, to be played again")
        }
    };
    ui.add_enabled_ui(app.can_record(), |ui| {
        if recording || recorded {
            // Seen from the corner of the eye.
            ui.visuals_mut().widgets.inactive.fg_stroke.color = palette(ui.visuals().dark_mode).record;
        }
        if icon_button(ui, icon, recording, name, tip).clicked() {
            app.record();
        }
    });
}

/// Frames from the first to the last, what is kept of them, and where we are. A drag looks into the past.
fn track(app: &mut StudioApp, ui: &mut Ui, width: f32) {
    let height = ui.spacing().interact_size.y + 4.0;
    let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::click_and_drag());
    let (kept, moments) = {
        let history = app.worker.history();
        (history.range(), history.moments().len())
    };
    let newest = app.shown.moment.step;
    let step = app.showing.step().unwrap_or(newest);
    let last = app.shown.frames.max(newest).max(1);
    response.widget_info(|| WidgetInfo {
        value: Some(step as f64),
        label: Some("Timeline".into()),
        ..WidgetInfo::new(Role::Slider)
    });
    if let Some(at) = response.interact_pointer_pos().filter(|_| response.clicked() || response.dragged()) {
        let share = ((at.x - rect.left()) / rect.width()).clamp(0.0, 1.0);
        seek(app, (share * last as f32).round() as u64, kept);
    }
    if !ui.is_rect_visible(rect) {
        return;
    }
    let painter = ui.painter_at(rect.expand(1.0));
    let visuals = ui.visuals();
    let colours = palette(visuals.dark_mode);
    let x_of = |step: u64| egui::lerp(rect.x_range(), (step as f32 / last as f32).min(1.0));
    let bar = Rect::from_min_max(
        pos2(rect.left(), rect.center().y - 3.0),
        pos2(rect.right(), rect.center().y + 3.0),
    );
    painter.rect_filled(bar, 3.0, visuals.extreme_bg_color);
    if let Some((first, newest)) = kept {
        let past = Rect::from_min_max(pos2(x_of(first), bar.top()), pos2(x_of(newest), bar.bottom()));
        painter.rect_filled(past, 3.0, colours.accent.gamma_multiply(0.45));
    }
    seconds(&painter, rect, last, app.shown.fps, visuals.weak_text_color());
    let x = x_of(step);
    let live = app.showing == Showing::Live;
    let colour = if live { colours.accent } else { colours.warning };
    painter.vline(x, rect.y_range(), Stroke::new(2.0, colour));
    painter.circle(pos2(x, rect.center().y), 5.0, colour, Stroke::new(1.0, visuals.panel_fill));
    if response.has_focus() {
        painter.rect_stroke(rect, 3.0, Stroke::new(1.0, colours.accent), StrokeKind::Inside);
    }
    response.on_hover_ui(|ui| {
        ui.label("Drag to look into the past; Play or Esc goes back to now.");
        ui.weak(format!("{moments} moments are kept."));
    });
}

/// Marks of whole seconds, as many as there is room for.
fn seconds(painter: &egui::Painter, rect: Rect, last: u64, fps: f64, colour: egui::Color32) {
    let total = last as f64 / fps.max(1e-9);
    let most = (rect.width() / 46.0).max(1.0);
    let every = super::plots::round_up(total / f64::from(most)).max(1.0);
    let mut t = every;
    while t < total {
        let x = egui::lerp(rect.x_range(), (t / total) as f32);
        painter.vline(x, rect.bottom() - 4.0..=rect.bottom(), Stroke::new(1.0, colour));
        let at = pos2(x + 2.0, rect.bottom() + 1.0);
        painter.text(at, Align2::LEFT_BOTTOM, format!("{t} s"), FontId::proportional(8.5), colour);
        t += every;
    }
}

/// Shows a step of the past; the newest one is now.
pub fn seek(app: &mut StudioApp, step: u64, kept: Option<(u64, u64)>) {
    let Some((first, newest)) = kept else { return };
    if app.shown.playing {
        app.worker.send(Request::Pause);
    }
    app.showing = if step >= newest { Showing::Live } else { Showing::Past { step: step.max(first) } };
}

/// Frame and time, as wide for the first as for the last frame.
fn clock_text(app: &StudioApp) -> String {
    let moment = app.moment();
    let digits = app.shown.frames.to_string().len();
    format!("{:>digits$}/{} {:>6.2} s", moment.step, app.shown.frames, moment.time)
}

fn clock(app: &StudioApp, ui: &mut Ui, text: &str) {
    let fps = super::fields::plain(app.shown.fps);
    let tip = format!("Frame of {}, and simulated time at {fps} frames per second", app.shown.frames);
    let text = egui::RichText::new(text).monospace().size(11.0);
    ui.add(egui::Label::new(text).wrap_mode(egui::TextWrapMode::Extend)).on_hover_text(tip);
}

fn ends(app: &mut StudioApp, ui: &mut Ui) {
    let replaying = matches!(app.showing, Showing::Replay { .. });
    if icon_button(ui, Icon::Restart, replaying, "Replay", "Play again what was shown, in the look of now")
        .clicked()
    {
        if replaying {
            app.showing = Showing::Live;
        } else {
            app.replay_past();
        }
    }
    if icon_button(ui, Icon::Camera, false, "Save picture", "Save a picture of what is seen").clicked() {
        app.ask_file(Purpose::SavePicture);
    }
    if icon_button(ui, Icon::Film, false, "Save animation", "Save what was shown: meshes or pictures")
        .clicked()
    {
        app.ask_file(Purpose::SaveAnimation);
    }
}
