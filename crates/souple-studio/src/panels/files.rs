//! A file dialog inside the window: the same on every system, and one that tests can press.
//!
//! It lists one folder at a time, folders first, and of the files only those whose ending fits. What is typed wins over
//! what is clicked: a whole path may be typed, and a name without an ending gets the first one that fits. A file that
//! is there already is overwritten only after a question. The dialog touches nothing but lists of folders.

use std::fs;
use std::path::{Path, PathBuf};

use eframe::egui::{self, Align, Context, Key, Layout, Modal, ScrollArea, TextEdit, Ui};

use super::icons::{Icon, icon_button, icon_label};
use super::theme::GAP;
use crate::exports::series_in_the_way;

/// Most entries of a folder that are listed.
const MAX_ENTRIES: usize = 5000;

/// Whether a file is to be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A file that is there.
    Open,
    /// A file that is there or not yet.
    Save,
    /// A folder that is there.
    Folder,
}

/// Something in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Its length, bytes; 0 for folders.
    pub bytes: u64,
}

/// What came of showing the dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It stays open.
    Waiting,
    /// It was closed without a choice.
    Cancelled,
    /// A file was chosen.
    Chosen(PathBuf),
}

/// A dialog that asks for one file.
#[derive(Clone, Debug)]
pub struct FileDialog {
    /// What is asked, as in "Open scene".
    pub title: String,
    /// Whether the file is read or written.
    pub mode: Mode,
    /// The folder that is listed.
    pub folder: PathBuf,
    /// Name of the chosen file, or a whole path.
    pub name: String,
    /// Endings that fit, without the dot; all when empty.
    pub extensions: Vec<String>,
    /// What is in the folder.
    pub entries: Vec<Entry>,
    /// Why the folder or the choice is not to be had.
    pub problem: Option<String>,
    /// A file that would be overwritten, while that is asked.
    pub overwrite: Option<PathBuf>,
    /// Pictures are a series of files, whose names are made of the one that is chosen.
    pub is_series: bool,
    is_new: bool,
}

impl FileDialog {
    /// A dialog that begins in a folder; in the current one when that is not there.
    pub fn new(mode: Mode, title: &str, folder: &Path, name: &str, extensions: &[&str]) -> FileDialog {
        let mut dialog = FileDialog {
            title: title.to_owned(),
            mode,
            folder: PathBuf::new(),
            name: name.to_owned(),
            extensions: extensions.iter().map(|&end| end.to_owned()).collect(),
            entries: Vec::new(),
            problem: None,
            overwrite: None,
            is_series: false,
            is_new: true,
        };
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let folder = if folder.as_os_str().is_empty() { here.clone() } else { here.join(folder) };
        dialog.enter(if folder.is_dir() { &folder } else { &here });
        dialog
    }

    /// Lists a folder; stays where it is when that cannot be read.
    pub fn enter(&mut self, folder: &Path) {
        // Without `..` and links the path that is shown is the one people know.
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
        match list(&folder) {
            Ok((entries, is_whole)) => {
                self.folder = folder;
                self.entries = entries;
                let cut = format!("Only {MAX_ENTRIES} entries of this folder are listed; type the name.");
                self.problem = (!is_whole).then_some(cut);
            }
            Err(error) => {
                self.problem = Some(format!("{}: cannot read this folder: {error}", folder.display()))
            }
        }
    }

    /// Folders, and those files whose ending fits.
    pub fn fitting(&self) -> impl Iterator<Item = &Entry> {
        let fits = |entry: &&Entry| entry.is_folder || (self.mode != Mode::Folder && self.fits(&entry.name));
        self.entries.iter().filter(fits)
    }

    fn fits(&self, name: &str) -> bool {
        let end = Path::new(name).extension().map(|end| end.to_string_lossy().to_lowercase());
        self.extensions.is_empty() || end.is_some_and(|end| self.extensions.contains(&end))
    }

    /// Takes what is typed: enters a folder, or returns the file when it can be had.
    pub fn choose(&mut self) -> Option<PathBuf> {
        self.problem = None;
        let typed = self.name.trim().to_owned();
        if self.mode == Mode::Folder {
            let folder = self.folder.join(&typed);
            if !folder.is_dir() {
                self.problem = Some(format!("{}: there is no such folder", folder.display()));
            }
            return folder.is_dir().then_some(if typed.is_empty() { self.folder.clone() } else { folder });
        }
        if typed.is_empty() {
            self.problem = Some("Type a name or choose a file.".into());
            return None;
        }
        let mut path = self.folder.join(&typed);
        if path.is_dir() {
            self.enter(&path);
            self.name.clear();
            return None;
        }
        if self.mode == Mode::Save
            && !self.fits(&typed)
            && let Some(end) = self.extensions.first()
        {
            path.as_mut_os_string().push(format!(".{end}"));
        }
        match self.mode {
            Mode::Open if !path.is_file() => {
                self.problem = Some(format!("{}: there is no such file", path.display()));
                None
            }
            Mode::Save if !path.parent().is_some_and(Path::is_dir) => {
                self.problem = Some(format!("{}: its folder is not there", path.display()));
                None
            }
            Mode::Save if self.in_the_way(&path).is_some() => {
                self.overwrite = Some(path);
                None
            }
            _ => Some(path),
        }
    }

    /// What would be overwritten by saving under that path.
    fn in_the_way(&self, path: &Path) -> Option<PathBuf> {
        let is_picture = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("png"));
        match self.is_series && is_picture {
            true => series_in_the_way(path),
            false => path.exists().then(|| path.to_path_buf()),
        }
    }

    /// Shows the dialog over everything else. `extra` adds settings above the buttons.
    pub fn show(&mut self, ctx: &Context, extra: impl FnOnce(&mut Ui)) -> Outcome {
        let mut outcome = Outcome::Waiting;
        let screen = ctx.content_rect();
        let response = Modal::new(egui::Id::unique("file dialog")).show(ctx, |ui| {
            ui.set_width((screen.width() - 40.0).clamp(80.0, 560.0));
            ui.heading(&self.title);
            ui.add_space(2.0);
            if let Some(path) = self.overwrite.clone() {
                let there = self.in_the_way(&path);
                let more = if there.as_ref().is_some_and(|there| *there != path) {
                    " Others of its series may be, too."
                } else {
                    ""
                };
                let there = there.unwrap_or_else(|| path.clone());
                ui.label(format!("{} is there already.{more} Overwrite it?", there.display()));
                ui.add_space(GAP);
                ui.horizontal(|ui| {
                    if ui.button("Overwrite").clicked() {
                        outcome = Outcome::Chosen(path);
                    }
                    if ui.button("Back").clicked() {
                        self.overwrite = None;
                    }
                });
                return;
            }
            self.path_row(ui);
            let height = (screen.height() - 240.0).clamp(40.0, 300.0);
            let chosen = self.list(ui, height);
            let name = ui.horizontal(|ui| {
                let label = ui.label("Name");
                let edit = TextEdit::singleline(&mut self.name).desired_width(f32::INFINITY);
                let edit = ui.add(edit).labelled_by(label.id);
                if self.is_new {
                    edit.request_focus();
                    self.is_new = false;
                }
                edit
            });
            let entered = name.inner.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
            if !self.extensions.is_empty() {
                let ends: Vec<String> = self.extensions.iter().map(|end| format!(".{end}")).collect();
                ui.small(format!("Files: {}", ends.join(", ")));
            }
            extra(ui);
            if let Some(problem) = &self.problem {
                ui.colored_label(ui.visuals().error_fg_color, problem);
            }
            ui.add_space(4.0);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let verb = match self.mode {
                    Mode::Open => "Open",
                    Mode::Save => "Save",
                    Mode::Folder => "Choose this folder",
                };
                let pressed = ui.button(verb).clicked();
                if ui.button("Cancel").clicked() {
                    outcome = Outcome::Cancelled;
                }
                if (pressed || entered || chosen)
                    && let Some(path) = self.choose()
                {
                    outcome = Outcome::Chosen(path);
                }
            });
        });
        if outcome == Outcome::Waiting && response.should_close() {
            outcome = Outcome::Cancelled;
        }
        outcome
    }

    fn path_row(&mut self, ui: &mut Ui) {
        let mut target = None;
        ui.horizontal(|ui| {
            if icon_button(ui, Icon::Up, false, "Folder above", "The folder above").clicked() {
                target = self.folder.parent().map(Path::to_path_buf);
            }
            // The last folders of a long path say most.
            let parts: Vec<PathBuf> = self.folder.ancestors().map(Path::to_path_buf).collect();
            let shown = parts.len().min(4);
            if parts.len() > shown {
                ui.weak("…");
            }
            for part in parts[..shown].iter().rev() {
                let name = part.file_name().map_or("/".into(), |name| name.to_string_lossy().into_owned());
                if ui.add(egui::Button::new(name).frame(false).truncate()).clicked() {
                    target = Some(part.clone());
                }
                if *part != self.folder {
                    ui.weak("›");
                }
            }
        });
        if let Some(folder) = target {
            self.enter(&folder);
        }
    }

    /// The entries; true when a file was chosen by a double click.
    fn list(&mut self, ui: &mut Ui, height: f32) -> bool {
        let mut clicked: Option<Entry> = None;
        let mut doubly = false;
        let row = ui.spacing().interact_size.y;
        let rows: Vec<Entry> = self.fitting().cloned().collect();
        egui::Frame::new().fill(ui.visuals().extreme_bg_color).inner_margin(4).corner_radius(3).show(
            ui,
            |ui| {
                ui.set_min_height(height);
                let scroll = ScrollArea::vertical().max_height(height).auto_shrink([false, false]);
                scroll.show_rows(ui, row, rows.len(), |ui, range| {
                    for entry in &rows[range] {
                        ui.horizontal(|ui| {
                            let icon = if entry.is_folder { Icon::Folder } else { Icon::File };
                            icon_label(ui, icon, ui.visuals().weak_text_color());
                            let selected = !entry.is_folder && self.name == entry.name;
                            let bytes = souple_files::size(u128::from(entry.bytes));
                            let size = if entry.is_folder { String::new() } else { bytes };
                            let size = egui::RichText::new(size).weak();
                            let width = ui.available_width() - 8.0;
                            let line =
                                egui::Button::selectable(selected, entry.name.as_str()).right_text(size);
                            let response = ui.add(line.truncate().min_size(egui::vec2(width.max(40.0), row)));
                            let response = response.accessible_name(entry.name.as_str());
                            if response.clicked() {
                                clicked = Some(entry.clone());
                                doubly = response.double_clicked();
                            }
                        });
                    }
                });
                if rows.is_empty() {
                    ui.weak("nothing here that fits");
                }
            },
        );
        match clicked {
            Some(entry) if entry.is_folder => {
                self.enter(&self.folder.join(&entry.name));
                false
            }
            Some(entry) => {
                self.name = entry.name;
                doubly
            }
            None => false,
        }
    }
}

/// What is in a folder, folders first, by name without regard to capitals, and whether that is all; hidden files are
/// left out.
fn list(folder: &Path) -> std::io::Result<(Vec<Entry>, bool)> {
    let mut all = fs::read_dir(folder)?.flatten();
    let mut entries: Vec<Entry> = all
        .by_ref()
        .take(MAX_ENTRIES)
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            // Links are followed: a link to a folder can be entered.
            let data = fs::metadata(entry.path()).ok()?;
            let is_folder = data.is_dir();
            let bytes = if is_folder { 0 } else { data.len() };
            (!name.starts_with('.')).then_some(Entry { name, is_folder, bytes })
        })
        .collect();
    entries.sort_by_key(|entry| (!entry.is_folder, entry.name.to_lowercase()));
    Ok((entries, all.next().is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("Meshes")).unwrap();
        for name in ["b.toml", "A.TOML", "c.txt", ".hidden.toml"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        folder
    }

    #[test]
    fn folders_come_first_and_only_fitting_files_are_listed() {
        let folder = folder();
        let dialog = FileDialog::new(Mode::Open, "Open", folder.path(), "", &["toml", "json"]);
        let names: Vec<&str> = dialog.fitting().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["Meshes", "A.TOML", "b.toml"]);
    }

    #[test]
    fn what_is_typed_opens_folders_and_files() {
        let folder = folder();
        let mut dialog = FileDialog::new(Mode::Open, "Open", folder.path(), "", &["toml"]);
        assert_eq!(dialog.choose(), None);
        assert!(dialog.problem.is_some());
        dialog.name = "none.toml".into();
        assert_eq!(dialog.choose(), None);
        assert!(dialog.problem.as_ref().unwrap().contains("there is no such file"));
        dialog.name = "Meshes".into();
        assert_eq!(dialog.choose(), None);
        assert!(dialog.folder.ends_with("Meshes") && dialog.name.is_empty());
        dialog.name = folder.path().join("b.toml").display().to_string();
        assert_eq!(dialog.choose(), Some(folder.path().join("b.toml")));
    }

    #[test]
    fn saving_adds_an_ending_and_asks_before_it_overwrites() {
        let folder = folder();
        let mut dialog = FileDialog::new(Mode::Save, "Save", folder.path(), "new.scene", &["toml"]);
        let root = dialog.folder.clone();
        assert_eq!(dialog.choose(), Some(root.join("new.scene.toml")));
        dialog.name = "b.toml".into();
        assert_eq!(dialog.choose(), None);
        assert_eq!(dialog.overwrite, Some(root.join("b.toml")));
        dialog.name = "nowhere/x.toml".into();
        assert_eq!(dialog.choose(), None);
        assert!(dialog.problem.as_ref().unwrap().contains("its folder is not there"));
    }

    #[test]
    fn a_series_of_pictures_is_in_the_way_of_another_one() {
        let folder = folder();
        for name in ["a.png", "b-0003.png", "b-0001.png"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let mut dialog = FileDialog::new(Mode::Save, "Save", folder.path(), "a.png", &["glb", "png"]);
        dialog.is_series = true;
        let root = dialog.folder.clone();
        assert_eq!(dialog.choose(), Some(root.join("a.png")), "it is never written itself");
        dialog.name = "b.png".into();
        assert_eq!(dialog.choose(), None);
        assert_eq!(dialog.overwrite, Some(root.join("b.png")));
        assert_eq!(dialog.in_the_way(&root.join("b.png")), Some(root.join("b-0001.png")));
        fs::write(folder.path().join("c.glb"), "x").unwrap();
        (dialog.name, dialog.overwrite) = ("c.glb".into(), None);
        assert_eq!((dialog.choose(), dialog.overwrite), (None, Some(root.join("c.glb"))));
    }

    #[test]
    fn a_folder_can_be_chosen() {
        let folder = folder();
        let mut dialog = FileDialog::new(Mode::Folder, "Folder", folder.path(), "", &[]);
        let root = dialog.folder.clone();
        assert_eq!(dialog.fitting().count(), 1);
        assert_eq!(dialog.choose(), Some(root.clone()));
        dialog.name = "Meshes".into();
        assert_eq!(dialog.choose(), Some(root.join("Meshes")));
        dialog.name = "b.toml".into();
        assert_eq!(dialog.choose(), None);
        assert!(dialog.problem.is_some());
    }

    #[test]
    fn a_folder_that_is_gone_is_told_and_the_old_list_stays() {
        let folder = folder();
        let mut dialog = FileDialog::new(Mode::Open, "Open", folder.path(), "", &[]);
        let before = dialog.entries.clone();
        dialog.enter(&folder.path().join("none"));
        assert!(dialog.problem.is_some());
        assert_eq!(dialog.entries, before);
    }
}
