//! What the person should know: a list of short messages over the picture, newest last.
//!
//! A message about the same thing takes the place of the older one (same `key`), so that a body that diverges at every
//! step is one message and not a hundred. News go away by themselves; what is wrong stays until it is closed or mended.

use eframe::egui::{self, Color32, Context, Rect, ScrollArea, Ui};

use super::icons::{Icon, icon_button, icon_label};
use super::theme::palette;

/// How long news are shown, s.
const NEWS_SECONDS: f64 = 6.0;
/// Most messages that are kept.
const MAX_MESSAGES: usize = 30;
/// Most messages that are shown at once.
const MAX_SHOWN: usize = 4;
/// Longest text that is shown without scrolling, lines.
const MAX_LINES: f32 = 9.0;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Something was done.
    News,
    /// Something needs attention.
    Warning,
    /// Something failed.
    Error,
}

/// What a message offers to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Read the scene file again.
    Reload,
    /// Save the scene.
    Save,
    /// Let frozen bodies move again.
    Thaw,
}

impl Remedy {
    /// The text of its button.
    pub fn label(self) -> &'static str {
        match self {
            Remedy::Reload => "Reload from disk",
            Remedy::Save => "Save it again",
            Remedy::Thaw => "Thaw",
        }
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// What it is about; one message per key.
    pub key: String,
    /// How bad it is.
    pub severity: Severity,
    /// What happened.
    pub text: String,
    /// What to do about it.
    pub remedy: Option<Remedy>,
    /// How often it was told.
    pub count: u64,
    /// When it was last told, s of the window's clock.
    pub time: f64,
}

/// All messages.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    list: Vec<Message>,
    /// Clock of the window, s.
    pub now: f64,
}

impl Messages {
    /// Tells something, in place of what was told before about the same thing.
    pub fn tell(&mut self, key: &str, severity: Severity, text: impl Into<String>, remedy: Option<Remedy>) {
        let (text, time) = (text.into(), self.now);
        match self.list.iter_mut().find(|m| m.key == key) {
            Some(old) if old.text == text && old.severity == severity => {
                (old.count, old.time, old.remedy) = (old.count + 1, time, remedy);
            }
            Some(old) => *old = Message { key: key.to_owned(), severity, text, remedy, count: 1, time },
            None => self.list.push(Message { key: key.to_owned(), severity, text, remedy, count: 1, time }),
        }
        if self.list.len() > MAX_MESSAGES {
            // The oldest news goes first, then the oldest of all.
            let news = self.list.iter().position(|m| m.severity == Severity::News);
            self.list.remove(news.unwrap_or(0));
        }
    }

    /// Tells that something was done.
    pub fn news(&mut self, key: &str, text: impl Into<String>) {
        self.tell(key, Severity::News, text, None);
    }

    /// Tells that something failed.
    pub fn error(&mut self, key: &str, text: impl Into<String>) {
        self.tell(key, Severity::Error, text, None);
    }

    /// Takes back what was told about something that is well again.
    pub fn clear(&mut self, key: &str) {
        self.list.retain(|m| m.key != key);
    }

    /// Takes back everything whose key begins so.
    pub fn clear_starting(&mut self, start: &str) {
        self.list.retain(|m| !m.key.starts_with(start));
    }

    /// The message about something.
    pub fn get(&self, key: &str) -> Option<&Message> {
        self.list.iter().find(|m| m.key == key)
    }

    /// All of them, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Message> {
        self.list.iter()
    }

    /// Forgets news that were shown long enough; true while some are left that will go.
    pub fn age(&mut self, now: f64) -> bool {
        self.now = now;
        self.list.retain(|m| m.severity != Severity::News || now - m.time < NEWS_SECONDS);
        self.list.iter().any(|m| m.severity == Severity::News)
    }
}

/// Shows the messages in the lower left of a rectangle, the newest lowest; returns what the person wants done.
pub fn show(messages: &mut Messages, ctx: &Context, within: Rect) -> Option<Remedy> {
    if messages.list.is_empty() || within.width() < 120.0 || within.height() < 60.0 {
        return None;
    }
    let (mut closed, mut remedy) = (None, None);
    let width = (0.62 * within.width()).clamp(100.0, 440.0);
    let hidden = messages.list.len().saturating_sub(MAX_SHOWN);
    // An area of its own: what is pressed here does not reach the picture below.
    egui::Area::new(egui::Id::unique("messages"))
        .fixed_pos(within.left_bottom() + egui::vec2(8.0, -8.0))
        .pivot(egui::Align2::LEFT_BOTTOM)
        .constrain_to(within)
        .order(egui::Order::Middle)
        .show(ctx, |ui| {
            if hidden > 0 {
                ui.small(format!("and {hidden} older"));
            }
            for message in &messages.list[hidden..] {
                ui.push_id(&message.key, |ui| card(ui, message, width, &mut closed, &mut remedy));
            }
        });
    if let Some(key) = closed {
        messages.clear(&key);
    }
    remedy
}

fn card(
    ui: &mut Ui,
    message: &Message,
    width: f32,
    closed: &mut Option<String>,
    remedy: &mut Option<Remedy>,
) {
    let colours = palette(ui.visuals().dark_mode);
    let (icon, colour) = match message.severity {
        Severity::News => (Icon::Info, colours.accent),
        Severity::Warning => (Icon::Warning, colours.warning),
        Severity::Error => (Icon::Error, colours.error),
    };
    frame(ui, colour).show(ui, |ui| {
        ui.set_width(width);
        ui.horizontal_top(|ui| {
            icon_label(ui, icon, colour);
            let room = (ui.available_width() - 36.0).max(40.0);
            ui.vertical(|ui| {
                ui.set_width(room);
                text(ui, message);
                if let Some(wanted) = message.remedy {
                    let button = egui::Button::new(wanted.label()).stroke((1.0, colour));
                    if ui.add(button).clicked() {
                        *remedy = Some(wanted);
                    }
                }
            });
            if icon_button(ui, Icon::Close, false, "Close message", "Close this message").clicked() {
                *closed = Some(message.key.clone());
            }
        });
    });
}

fn frame(ui: &Ui, colour: Color32) -> egui::Frame {
    let fill = ui.visuals().window_fill.gamma_multiply(0.94);
    egui::Frame::new().fill(fill).stroke((1.0, colour.gamma_multiply(0.7))).corner_radius(4).inner_margin(6)
}

fn text(ui: &mut Ui, message: &Message) {
    let times = if message.count > 1 { format!(" ({} times)", message.count) } else { String::new() };
    let height = MAX_LINES * ui.text_style_height(&egui::TextStyle::Body);
    ScrollArea::vertical().max_height(height).show(ui, |ui| {
        ui.add(egui::Label::new(format!("{}{times}", message.text)).wrap().selectable(true));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_per_thing_and_news_go_away() {
        let mut messages = Messages::default();
        for _ in 0..3 {
            messages.tell("body/cloth", Severity::Error, "it diverged", Some(Remedy::Thaw));
        }
        messages.news("saved", "saved a.toml");
        assert_eq!(messages.iter().count(), 2);
        assert_eq!(messages.get("body/cloth").unwrap().count, 3);
        assert!(messages.age(3.0));
        assert!(!messages.age(7.0));
        assert!(messages.get("saved").is_none() && messages.get("body/cloth").is_some());
        messages.clear_starting("body/");
        assert_eq!(messages.iter().count(), 0);
    }

    #[test]
    fn the_list_is_bounded_and_errors_outlive_news() {
        let mut messages = Messages::default();
        messages.error("first", "broken");
        for k in 0..100 {
            messages.news(&format!("news {k}"), "done");
        }
        assert_eq!(messages.iter().count(), MAX_MESSAGES);
        assert!(messages.get("first").is_some());
    }
}
