//! The files of a run: which ones, what they are called, and how much memory they take.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use souple::measure;
use souple::scene::Scene;
use souple_files::bake::animation_files;
use souple_files::{FileError, disk};
use souple_formats::animation::Animation;
use souple_formats::export::glb::GlbOptions;
use souple_formats::export::obj_sequence::ObjSequence;
use souple_formats::export::table::{write_csv, write_json};
use souple_formats::export::vtk::VtkSeries;
use souple_formats::export::{ExportError, safe_file_stem};
use souple_formats::scene::write_scene_toml;

use crate::args::Format;
use crate::drawing::{BYTES_PER_PIXEL, BYTES_PER_VERTEX_AND_MOMENT};
use crate::failure::Failure;
use crate::render::DEFAULT_SIZE;

/// Position or velocity of a vertex in a frame, bytes.
const VECTOR_BYTES: u128 = 12;

/// What a run has to show for itself.
pub struct Results<'a> {
    /// The scene with its meshes inside.
    pub scene: &'a Scene,
    /// All frames, when a format needs them.
    pub animation: Option<&'a Animation>,
    /// Rows of measures in the order of [`table_columns`].
    pub rows: &'a [Vec<f64>],
    /// Whether a row ends with how many pairs of triangles cross.
    pub crossings: bool,
    /// The .glb, if it is that of a character with all that was run.
    pub glb: Option<Result<Vec<u8>, FileError>>,
}

/// Names of the columns of the tables of measures; the last counts pairs of triangles that cross, if it is there.
pub fn table_columns(crossings: bool) -> Vec<&'static str> {
    let last = crossings.then_some("intersections");
    ["frame", "time_s"].into_iter().chain(measure::COLUMNS).chain(last).collect()
}

/// About how much memory frames, tables and the largest file will take, bytes.
pub fn estimate_bytes(formats: &[Format], frames: u64, vertices: u64) -> u128 {
    let (frames, vertices) = (u128::from(frames) + 1, u128::from(vertices));
    let has = |format| formats.contains(&format);
    let mut bytes = 0;
    if formats.iter().any(|format| format.needs_frames()) {
        let vectors = if has(Format::Vtk) { 2 } else { 1 };
        bytes += frames * vertices * VECTOR_BYTES * vectors;
    }
    if formats.iter().any(|format| format.needs_measures()) {
        // As numbers, and at most 24 characters each as text.
        bytes += frames * table_columns(true).len() as u128 * (8 + 24);
    }
    let moments = if has(Format::Gif) || has(Format::Mp4) { frames } else { 1 };
    if formats.iter().any(|format| format.is_drawn()) {
        let (width, height) = DEFAULT_SIZE;
        bytes += moments * vertices * BYTES_PER_VERTEX_AND_MOMENT;
        bytes += u128::from(width) * u128::from(height) * BYTES_PER_PIXEL;
    }
    let glb_frames = frames.min(GlbOptions::default().max_targets as u128 + 1);
    let glb = if has(Format::Glb) { glb_frames * vertices * 2 * VECTOR_BYTES } else { 0 };
    let cache = if has(Format::Pc2) || has(Format::Mdd) { frames * vertices * VECTOR_BYTES } else { 0 };
    bytes + glb.max(cache)
}

/// Makes the folder for the files of a run and checks that files can be written there.
pub fn make_folder(path: &Path) -> Result<(), Failure> {
    disk::create_folder(path).map_err(|error| error.with_help("choose another folder with -o"))?;
    Ok(disk::check_folder(path)?)
}

/// Writes files one after the other; what fails does not stop the others.
pub struct Writer {
    /// Files that were written.
    pub written: Vec<PathBuf>,
    /// Files that were not, and why.
    pub failures: Vec<Failure>,
    /// What else the person should know.
    pub notes: Vec<String>,
}

impl Writer {
    /// Nothing written yet.
    pub fn new() -> Writer {
        Writer { written: Vec::new(), failures: Vec::new(), notes: Vec::new() }
    }

    /// Writes one file of bytes that may have failed to come about.
    pub fn write(&mut self, path: &Path, bytes: Result<Vec<u8>, Failure>) {
        match bytes.and_then(|bytes| Ok(disk::write(path, &bytes)?)) {
            Ok(()) => self.written.push(path.to_path_buf()),
            Err(failure) => self.failures.push(failure),
        }
    }

    /// Writes one file of each format, or one series, into a folder that is there.
    pub fn write_formats(&mut self, formats: &[Format], folder: &Path, stem: &str, results: &Results<'_>) {
        let stem = safe_file_stem(stem);
        let path = |extension: &str| folder.join(format!("{stem}.{extension}"));
        for (i, &format) in formats.iter().enumerate() {
            if formats[..i].contains(&format) {
                continue;
            }
            match (format, results.animation) {
                (Format::Csv, _) => self.table(&path("csv"), results, write_csv),
                (Format::Json, _) => self.table(&path("json"), results, write_json),
                (Format::Toml, _) => {
                    let text = write_scene_toml(results.scene).map(String::into_bytes);
                    let text = text.map_err(|error| Failure::file(&path("toml"), &error, error.help.clone()));
                    self.write(&path("toml"), text);
                }
                (Format::Glb, _) if results.glb.is_some() => {
                    let bytes = results.glb.clone().unwrap_or_else(|| Ok(Vec::new()));
                    self.write(&path("glb"), bytes.map_err(Failure::from));
                }
                (Format::Glb, Some(animation)) => self.animation_file(&path("glb"), "glb", animation),
                (Format::Pc2, Some(animation)) => self.animation_file(&path("pc2"), "pc2", animation),
                (Format::Mdd, Some(animation)) => self.animation_file(&path("mdd"), "mdd", animation),
                (Format::Obj, Some(animation)) => self.obj_series(&folder.join("obj"), &stem, animation),
                (Format::Vtk, Some(animation)) => self.vtk_series(&folder.join("vtk"), &stem, animation),
                // Pictures are drawn when all else is written.
                (Format::Png | Format::Gif | Format::Mp4, _) => {}
                // Frames are kept whenever a format needs them.
                (_, None) => {}
            }
        }
    }

    /// Writes an animation as GLB, PC2 or MDD; a point cache holds one body, so that several become several files.
    pub fn animation_file(&mut self, path: &Path, extension: &str, animation: &Animation) {
        for (path, bytes) in animation_files(path, extension, animation) {
            self.write(&path, bytes.map_err(|error| not_exported(&path, &error)));
        }
    }

    fn table(
        &mut self,
        path: &Path,
        results: &Results<'_>,
        write: fn(&[&str], &[Vec<f64>]) -> Result<Vec<u8>, ExportError>,
    ) {
        let bytes = write(&table_columns(results.crossings), results.rows);
        self.write(path, bytes.map_err(|error| not_exported(path, &error)));
    }

    fn obj_series(&mut self, folder: &Path, stem: &str, animation: &Animation) {
        match ObjSequence::new(animation, stem) {
            Ok(series) => self.series(folder, series),
            Err(error) => self.failures.push(not_exported(folder, &error)),
        }
    }

    fn vtk_series(&mut self, folder: &Path, stem: &str, animation: &Animation) {
        match VtkSeries::new(animation, stem) {
            Ok(series) => {
                let list = series.pvd();
                // The list comes last, so that it never names frames that are not there.
                self.series(folder, series.chain([list]));
            }
            Err(error) => self.failures.push(not_exported(folder, &error)),
        }
    }

    /// Stops at the first file that cannot be written: the others would fail in the same way.
    fn series(&mut self, folder: &Path, series: impl Iterator<Item = (String, Vec<u8>)>) {
        let failures = self.failures.len();
        if let Err(failure) = make_folder(folder) {
            return self.failures.push(failure);
        }
        let mut names = BTreeSet::new();
        for (name, bytes) in series {
            self.write(&folder.join(&name), Ok(bytes));
            if self.failures.len() > failures {
                return;
            }
            names.insert(name);
        }
        let older = disk::names_in(folder).into_iter().filter(|name| !names.contains(name)).count();
        if older > 0 {
            let folder = folder.display();
            self.notes.push(format!(
                "{folder} holds {older} more, not of this run: an earlier one may have been longer"
            ));
        }
    }
}

fn not_exported(path: &Path, error: &ExportError) -> Failure {
    Failure::file(path, format!("not written: {error}"), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_estimated_for_what_is_kept() {
        assert_eq!(estimate_bytes(&[Format::Toml], 1000, 1000), 0);
        assert_eq!(estimate_bytes(&[Format::Obj], 9, 100), 10 * 100 * 12);
        assert_eq!(estimate_bytes(&[Format::Vtk], 9, 100), 10 * 100 * 24);
        assert_eq!(estimate_bytes(&[Format::Pc2], 9, 100), 2 * 10 * 100 * 12);
        assert_eq!(estimate_bytes(&[Format::Glb], 999, 100), 1000 * 100 * 12 + 201 * 100 * 24);
        let picture = 1280 * 720 * BYTES_PER_PIXEL;
        assert_eq!(estimate_bytes(&[Format::Png], 9, 100), 100 * BYTES_PER_VERTEX_AND_MOMENT + picture);
        assert_eq!(estimate_bytes(&[Format::Gif], 9, 100), 1000 * BYTES_PER_VERTEX_AND_MOMENT + picture);
        assert!(estimate_bytes(&[Format::Csv], u64::from(u32::MAX), 1) > 8 << 30);
    }
}
