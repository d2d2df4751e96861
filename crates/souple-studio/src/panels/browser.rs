//! The library of scenes as cards with a picture, a name and a line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use eframe::egui::{
    self, ColorImage, Context, Rect, Role, ScrollArea, Sense, TextureHandle, TextureOptions, Ui, WidgetInfo,
    vec2,
};
use souple_files::library::SceneEntry;
use souple_viewer::WhichRenderer;

use super::icons::{Icon, paint};
use super::theme::palette;
use crate::actions::{After, Purpose};
use crate::app::StudioApp;
use crate::thumbnails::{Found, Search};

/// Height of the picture over its width.
const ASPECT: f32 = 200.0 / 320.0;

/// The scenes of a library, as far as they were found.
#[derive(Default)]
pub struct Browser {
    /// The folder that is looked through.
    pub library: Option<PathBuf>,
    /// Scenes by path.
    pub entries: Vec<SceneEntry>,
    /// What is typed to find a scene.
    pub filter: String,
    /// Why the folder cannot be read.
    pub problem: Option<String>,
    pictures: BTreeMap<PathBuf, TextureHandle>,
    search: Option<Search>,
    /// Searches of other folders that have not ended yet; the window does not wait for them.
    ending: Vec<Search>,
}

impl Browser {
    /// Begins to look through a library, if there is one.
    pub fn new(
        library: Option<PathBuf>,
        thumbnails: Option<WhichRenderer>,
        wake: impl Fn() + Send + 'static,
    ) -> Browser {
        let mut browser = Browser::default();
        if let Some(folder) = library {
            browser.look_into(&folder, thumbnails, wake);
        }
        browser
    }

    /// Looks through another folder.
    pub fn look_into(
        &mut self,
        folder: &Path,
        thumbnails: Option<WhichRenderer>,
        wake: impl Fn() + Send + 'static,
    ) {
        let mut ending = std::mem::take(&mut self.ending);
        ending.extend(self.search.take());
        ending.iter().for_each(Search::end);
        let search = Some(Search::start(folder, thumbnails, wake));
        *self = Browser { library: Some(folder.to_path_buf()), search, ending, ..Browser::default() };
    }

    /// Takes over what the thread has found.
    pub fn take_found(&mut self, ctx: &Context) {
        self.ending.retain(|search| !search.has_ended());
        let Some(search) = &self.search else { return };
        let found: Vec<Found> = search.found().collect();
        for found in found {
            match found {
                Found::Scene(entry) => self.entries.push(entry),
                Found::Picture(path, picture) => {
                    let size = [picture.width as usize, picture.height as usize];
                    let image = ColorImage::from_rgba_unmultiplied(size, &picture.rgba);
                    let name = path.display().to_string();
                    self.pictures.insert(path, ctx.load_texture(name, image, TextureOptions::LINEAR));
                }
                Found::Problem(problem) => self.problem = Some(problem),
                Found::Done => self.search = None,
            }
        }
    }

    /// Whether everything was found.
    pub fn is_done(&self) -> bool {
        self.search.is_none()
    }

    /// Scenes that fit what was typed, grouped by their folder.
    pub fn groups(&self) -> Vec<(String, Vec<&SceneEntry>)> {
        let wanted = self.filter.trim().to_lowercase();
        let mut groups: Vec<(String, Vec<&SceneEntry>)> = Vec::new();
        for entry in &self.entries {
            let text = format!("{} {}", entry.title(), entry.path.display()).to_lowercase();
            if !text.contains(&wanted) {
                continue;
            }
            let folder = entry.path.parent().and_then(Path::file_name);
            let folder = folder.unwrap_or_default().to_string_lossy().into_owned();
            match groups.iter_mut().find(|(name, _)| *name == folder) {
                Some((_, list)) => list.push(entry),
                None => groups.push((folder, vec![entry])),
            }
        }
        // Benchmarks are scenes, but nobody begins with them.
        groups.sort_by_key(|(folder, _)| folder == "bench");
        groups
    }
}

/// Draws the library.
pub fn show(app: &mut StudioApp, ui: &mut Ui) {
    let hint = "Find a scene";
    ui.add(egui::TextEdit::singleline(&mut app.browser.filter).hint_text(hint).desired_width(f32::INFINITY));
    if let Some(problem) = &app.browser.problem {
        ui.colored_label(ui.visuals().error_fg_color, problem);
    }
    let mut opened = None;
    let open_path = app.document.path().map(Path::to_path_buf);
    let footer = ui.spacing().interact_size.y + 8.0;
    let height = (ui.available_height() - footer).max(20.0);
    ScrollArea::vertical().max_height(height).auto_shrink([false, false]).show(ui, |ui| {
        let groups = app.browser.groups();
        for (folder, entries) in &groups {
            ui.add_space(2.0);
            ui.weak(folder);
            for entry in entries {
                let picture = app.browser.pictures.get(&entry.path);
                let current = open_path.as_ref() == Some(&entry.path);
                if card(ui, entry, picture, current) {
                    opened = Some(entry.path.clone());
                }
            }
        }
        if groups.is_empty() {
            ui.add_space(8.0);
            let text = match (&app.browser.library, app.browser.entries.is_empty()) {
                (None, _) => "No folder called \"scenes\" was found here. Choose one below.",
                (Some(_), true) if !app.browser.is_done() => "Looking for scenes …",
                (Some(_), true) => "There are no scenes in this folder.",
                _ => "No scene has these words.",
            };
            ui.add(egui::Label::new(egui::RichText::new(text).weak()).wrap());
        }
    });
    let tip = app.browser.library.as_ref().map_or_else(String::new, |folder| folder.display().to_string());
    if ui.button("Other folder…").on_hover_text(format!("Scenes of another folder. Now: {tip}")).clicked() {
        app.ask_file(Purpose::Library);
    }
    if let Some(path) = opened {
        app.unless_unsaved(After::Open(path));
    }
}

/// What a scene is called: its name, or that of its file.
pub fn card_name(entry: &SceneEntry) -> String {
    match entry.name.is_empty() {
        true => entry.path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        false => entry.name.clone(),
    }
}

/// A card; true when it was clicked.
fn card(ui: &mut Ui, entry: &SceneEntry, picture: Option<&TextureHandle>, current: bool) -> bool {
    let name = card_name(entry);
    let width = ui.available_width();
    let picture_width = (0.42 * width).clamp(40.0, 110.0);
    let picture_size = vec2(picture_width, picture_width * ASPECT);
    let height = picture_size.y + 8.0;
    let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Button, entry.error.is_none(), current, &name));
    if ui.is_rect_visible(rect) {
        let visuals = ui.style().interact_selectable(&response, current);
        let fill =
            if current || response.hovered() { visuals.weak_bg_fill } else { ui.visuals().faint_bg_color };
        ui.painter().rect_filled(rect, 4.0, fill);
        let image = Rect::from_min_size(rect.min + vec2(4.0, 4.0), picture_size);
        match picture {
            Some(texture) => {
                let whole = Rect::from_min_max(egui::Pos2::ZERO, egui::pos2(1.0, 1.0));
                ui.painter().image(texture.id(), image, whole, egui::Color32::WHITE);
            }
            None => {
                ui.painter().rect_filled(image, 3.0, ui.visuals().extreme_bg_color);
                let icon = if entry.error.is_some() { Icon::Error } else { Icon::Wireframe };
                let square = Rect::from_center_size(image.center(), egui::Vec2::splat(18.0));
                paint(ui.painter(), square, icon, palette(ui.visuals().dark_mode).grid);
            }
        }
        let text_rect = Rect::from_min_max(image.right_top() + vec2(6.0, 0.0), rect.max - vec2(4.0, 2.0));
        texts(ui, entry, &name, text_rect, visuals.text_color());
    }
    let tip = match &entry.error {
        Some(error) => format!("{}\n{error}", entry.path.display()),
        None => format!("{}\n{} vertices\n{}", entry.description, entry.vertices, entry.path.display()),
    };
    let clicked = response.clicked();
    response.on_hover_text(tip);
    clicked
}

/// Name and description, in the lines that there is room for; the rest is in the tooltip.
fn texts(ui: &Ui, entry: &SceneEntry, name: &str, rect: Rect, colour: egui::Color32) {
    let painter = ui.painter_at(rect);
    let lines = |text: &str, size: f32, colour: egui::Color32, rows: usize| {
        let mut job = egui::text::LayoutJob::simple(
            text.to_owned(),
            egui::FontId::proportional(size),
            colour,
            rect.width(),
        );
        job.wrap.max_rows = rows;
        painter.layout_job(job)
    };
    let title = lines(name, 13.0, colour, 2);
    let height = title.size().y;
    painter.galley(rect.min, title, colour);
    let weak = ui.visuals().weak_text_color();
    let (text, colour) = match &entry.error {
        Some(error) => (error.as_str(), palette(ui.visuals().dark_mode).error),
        None => (entry.description.as_str(), weak),
    };
    let rows = ((rect.height() - height) / 12.5).floor().max(0.0) as usize;
    if rows > 0 {
        painter.galley(rect.min + vec2(0.0, height + 1.0), lines(text, 10.5, colour, rows), colour);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, name: &str) -> SceneEntry {
        SceneEntry {
            path: path.into(),
            name: name.into(),
            description: String::new(),
            vertices: 1,
            error: None,
        }
    }

    #[test]
    fn scenes_are_grouped_by_folder_and_found_by_words() {
        let entries = vec![
            entry("s/cloth/flag.toml", "Flag"),
            entry("s/bench/w1.toml", ""),
            entry("s/cloth/box.toml", "Box"),
        ];
        let mut browser = Browser { entries, ..Browser::default() };
        let names = |browser: &Browser| -> Vec<(String, usize)> {
            browser.groups().into_iter().map(|(name, list)| (name, list.len())).collect()
        };
        assert_eq!(names(&browser), [("cloth".to_owned(), 2), ("bench".to_owned(), 1)]);
        browser.filter = "FLAG".into();
        assert_eq!(names(&browser), [("cloth".to_owned(), 1)]);
        assert_eq!(card_name(&browser.entries[1]), "w1");
    }
}
