//! Pictures of a run: what is seen is kept as it goes, and drawn when it is over.

use std::path::{Path, PathBuf};

use souple::Simulation;
use souple::scene::Scene;
use souple_files::{MovieFormat, SceneFolder, disk};
use souple_formats::scene::Source;
use souple_viewer::{Capture, Moment, WhichRenderer};

use crate::args::{Format, RunArgs};
use crate::drawing::{Drawing, Options};
use crate::failure::Failure;
use crate::outputs::Writer;
use crate::render::{DEFAULT_SIZE, write_movie, write_picture};

/// Pictures of one run.
pub struct RunPictures {
    drawing: Drawing,
    capture: Capture,
    /// What is seen in each frame, when an animation is wanted.
    moments: Option<Vec<Moment>>,
    fps: f64,
    /// Path of the files without their endings.
    stem: PathBuf,
}

impl RunPictures {
    /// Gets ready before the first step, and refuses what cannot be drawn. Writes nothing.
    pub fn prepare(
        args: &RunArgs,
        scene: &Scene,
        source: &Source,
        simulation: &Simulation,
        stem: &Path,
    ) -> Result<RunPictures, Failure> {
        let folder = SceneFolder::of_scene(&args.scene, args.allow_outside);
        let options = Options {
            style: None,
            cells: false,
            creases: false,
            size: DEFAULT_SIZE,
            camera: None,
            renderer: WhichRenderer::Auto,
        };
        let mut drawing =
            Drawing::prepare(scene, &folder, &options, &mut |error| Err(source.explain(&error).into()))?;
        let mut capture = Capture::new(scene, simulation.model());
        drawing.try_out(&capture.moment(simulation))?;
        let has = |format| args.format.contains(&format);
        let mut pictures = RunPictures {
            drawing,
            capture,
            moments: (has(Format::Gif) || has(Format::Mp4)).then(Vec::new),
            fps: simulation.model().fps,
            stem: stem.to_path_buf(),
        };
        for &format in &args.format {
            if let Some(movie) = movie(format) {
                movie.check_program(&pictures.path(format))?;
            }
        }
        pictures.record(simulation);
        Ok(pictures)
    }

    /// Checks that the files can be written, once their folder is there.
    pub fn check_writable(&self, formats: &[Format]) -> Result<(), Failure> {
        for &format in formats.iter().filter(|format| format.is_drawn()) {
            disk::check_writable(&self.path(format))?;
        }
        Ok(())
    }

    /// Keeps what is seen now, when an animation is wanted.
    pub fn record(&mut self, simulation: &Simulation) {
        if let Some(moments) = &mut self.moments {
            moments.push(self.capture.moment(simulation));
        }
    }

    /// Draws and writes everything that was asked for.
    pub fn write(&mut self, formats: &[Format], simulation: &Simulation, writer: &mut Writer) {
        let last = [self.capture.moment(simulation)];
        let moments = self.moments.take().unwrap_or_default();
        self.drawing.fit(if moments.is_empty() { &last } else { &moments });
        for (i, &format) in formats.iter().enumerate() {
            if !format.is_drawn() || formats[..i].contains(&format) {
                continue;
            }
            let path = self.path(format);
            let written = match movie(format) {
                None => self.drawing.draw(&last[0]).and_then(|picture| write_picture(&path, &picture)),
                Some(movie) => {
                    let step = movie.frame_step(self.fps);
                    // Sharing a moment costs little: its lists are not copied.
                    let some: Vec<Moment> = moments.iter().step_by(step as usize).cloned().collect();
                    write_movie(&path, movie, &some, DEFAULT_SIZE, self.fps / step as f64, &mut self.drawing)
                }
            };
            match written {
                Ok(files) => writer.written.extend(files),
                Err(failure) => writer.failures.push(failure),
            }
        }
    }

    fn path(&self, format: Format) -> PathBuf {
        let end = match format {
            Format::Gif => "gif",
            Format::Mp4 => "mp4",
            _ => "png",
        };
        // The name may have dots of its own, so that the ending is added, not exchanged.
        let mut name = self.stem.file_name().unwrap_or_default().to_owned();
        name.push(".");
        name.push(end);
        self.stem.with_file_name(name)
    }
}

/// The kind of animation that a format is; none for a picture.
fn movie(format: Format) -> Option<MovieFormat> {
    match format {
        Format::Gif => Some(MovieFormat::Gif),
        Format::Mp4 => Some(MovieFormat::Mp4),
        _ => None,
    }
}
