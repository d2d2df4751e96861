//! Keys and pointer of the window in the words of the core.

use eframe::egui;
use glam::Vec2;

use crate::keys::{Chord, Held, Key};
use crate::tools::{Button, Modifiers, Pointer};

/// Points of a smooth scroll that count as one notch of the wheel.
const POINTS_PER_NOTCH: f32 = 50.0;
/// Notches of a page.
const NOTCHES_PER_PAGE: f32 = 5.0;

/// A key of the window as a chord of the table, if the table can have it.
pub fn chord(key: egui::Key, modifiers: egui::Modifiers) -> Option<Chord> {
    let plain = match key {
        egui::Key::Space => Key::Space,
        egui::Key::Period => Key::Period,
        egui::Key::Home => Key::Home,
        egui::Key::Delete => Key::Delete,
        egui::Key::Escape => Key::Escape,
        egui::Key::F1 => Key::F1,
        egui::Key::ArrowLeft => Key::Left,
        egui::Key::ArrowRight => Key::Right,
        egui::Key::ArrowUp => Key::Up,
        egui::Key::ArrowDown => Key::Down,
        egui::Key::PageUp => Key::PageUp,
        egui::Key::PageDown => Key::PageDown,
        // Names of letters and digits are the letters and digits themselves.
        other => match other.name().as_bytes() {
            [letter @ b'A'..=b'Z'] => Key::Letter(char::from(*letter)),
            [digit @ b'0'..=b'9'] => Key::Digit(digit - b'0'),
            _ => return None,
        },
    };
    // On some keyboards a full stop takes Shift.
    let shift = modifiers.shift && plain != Key::Period;
    (!modifiers.alt).then_some(Chord { key: plain, ctrl: modifiers.command, shift })
}

/// Which of the keys that choose supports are held down.
pub fn held(input: &egui::InputState) -> Held {
    let down = |key| input.key_down(key);
    Held { m: down(egui::Key::M), l: down(egui::Key::L), k: down(egui::Key::K) }
}

/// What an event means to hands, in pixels of a picture whose top left corner is at `corner` points.
pub fn pointer(
    event: &egui::Event,
    corner: egui::Pos2,
    scale: f32,
    held: egui::Modifiers,
) -> Option<Pointer> {
    let pixel = |at: egui::Pos2| Vec2::new((at.x - corner.x) * scale, (at.y - corner.y) * scale);
    let plain = |m: &egui::Modifiers| Modifiers { ctrl: m.command, shift: m.shift, alt: m.alt };
    match event {
        egui::Event::PointerMoved(at) => Some(Pointer::Move { at: pixel(*at), modifiers: plain(&held) }),
        egui::Event::PointerButton { pos, button, pressed, modifiers } => {
            let button = match button {
                egui::PointerButton::Primary => Button::Left,
                egui::PointerButton::Middle => Button::Middle,
                egui::PointerButton::Secondary => Button::Right,
                _ => return None,
            };
            let (at, modifiers) = (pixel(*pos), plain(modifiers));
            Some(match pressed {
                true => Pointer::Down { button, at, modifiers },
                false => Pointer::Up { button, at, modifiers },
            })
        }
        egui::Event::PointerGone | egui::Event::WindowFocused(false) => Some(Pointer::Cancel),
        _ => None,
    }
}

/// Notches of the wheel in an event; positive is away from the person.
pub fn notches(event: &egui::Event) -> Option<f32> {
    match event {
        egui::Event::MouseWheel { unit, delta, .. } => Some(match unit {
            egui::MouseWheelUnit::Point => delta.y / POINTS_PER_NOTCH,
            egui::MouseWheelUnit::Line => delta.y,
            egui::MouseWheelUnit::Page => delta.y * NOTCHES_PER_PAGE,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Action, action_of};

    #[test]
    fn keys_of_the_window_are_those_of_the_table() {
        let none = egui::Modifiers::NONE;
        let action = |key, modifiers| chord(key, modifiers).and_then(action_of);
        assert_eq!(action(egui::Key::Space, none), Some(Action::PlayPause));
        assert_eq!(action(egui::Key::Period, none), Some(Action::Step));
        assert_eq!(action(egui::Key::Period, egui::Modifiers::SHIFT), Some(Action::Step));
        assert_eq!(action(egui::Key::R, none), Some(Action::Reset));
        assert_eq!(action(egui::Key::Num3, none), Some(Action::Style(2)));
        assert_eq!(action(egui::Key::Z, egui::Modifiers::COMMAND), Some(Action::Undo));
        let redo = egui::Modifiers::COMMAND | egui::Modifiers::SHIFT;
        assert_eq!(action(egui::Key::Z, redo), Some(Action::Redo));
        assert_eq!(chord(egui::Key::R, egui::Modifiers::ALT), None);
        assert_eq!(chord(egui::Key::F7, none), None);
    }

    #[test]
    fn every_binding_can_be_pressed() {
        for binding in crate::keys::bindings() {
            let modifiers = egui::Modifiers {
                command: binding.chord.ctrl,
                ctrl: binding.chord.ctrl,
                shift: binding.chord.shift,
                ..egui::Modifiers::NONE
            };
            let reached = egui::Key::ALL.iter().any(|&key| chord(key, modifiers) == Some(binding.chord));
            assert!(reached, "{}", binding.chord);
        }
    }

    #[test]
    fn positions_are_pixels_of_the_picture() {
        let event = egui::Event::PointerMoved(egui::pos2(30.0, 50.0));
        let seen = pointer(&event, egui::pos2(10.0, 40.0), 2.0, egui::Modifiers::NONE);
        let modifiers = Modifiers::default();
        assert_eq!(seen, Some(Pointer::Move { at: Vec2::new(40.0, 20.0), modifiers }));
        assert_eq!(
            pointer(&egui::Event::PointerGone, egui::Pos2::ZERO, 1.0, egui::Modifiers::NONE),
            Some(Pointer::Cancel)
        );
    }
}
