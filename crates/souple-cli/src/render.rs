//! `souple render`: draws a scene or a recording as a picture, an animation or a sheet of moments.
//!
//! The run comes first: what is seen in the frames that were asked for is kept, so that camera and colours can be fitted
//! to all of it. Then every picture is drawn and written before the next. What is wrong with the input, the names of the
//! files or the renderer is found before the first step.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use serde::Serialize;
use souple::scene::Scene;
use souple::{SceneError, Simulation};
use souple_files::{
    BYTES_PER_VERTEX, Loaded, MEMORY_LIMIT, Movie, MovieFormat, Played, Replay, SceneFolder, disk, load, size,
};
use souple_formats::picture::{Picture, write_png};
use souple_formats::scene::Source;
use souple_viewer::{Capture, Moment, WhichRenderer, overlay};

use crate::args::{RenderArgs, RendererName};
use crate::check;
use crate::drawing::{BYTES_PER_PIXEL, BYTES_PER_VERTEX_AND_MOMENT, Drawing, DrawingReport, Options};
use crate::failure::{Failure, Outcome};
use crate::report::{Progress, count, note, say, say_json, say_warnings};

/// Size of a picture when none is given, pixels.
pub const DEFAULT_SIZE: (u32, u32) = (1280, 720);
/// Size of a picture of a contact sheet when none is given, pixels.
const SHEET_PICTURE_SIZE: (u32, u32) = (480, 270);

/// Runs the command.
pub fn run(args: &RenderArgs) -> Outcome {
    let target = Target::of(args)?;
    let mut film = Film::open(args)?;
    let plan = Plan::new(args, target, film.frames, film.fps)?;
    plan.check_memory(film.player.simulation().model().particle_count() as u64)?;
    let folder = SceneFolder::of_scene(&args.input, args.allow_outside);
    let options = Options {
        style: args.style.as_deref(),
        cells: args.cells,
        creases: args.creases,
        size: plan.size,
        camera: args.camera,
        renderer: match args.renderer {
            RendererName::Auto => WhichRenderer::Auto,
            RendererName::Gpu => WhichRenderer::Gpu,
            RendererName::Cpu => WhichRenderer::Cpu,
        },
    };
    let source = film.source.as_ref();
    let mut drawing = Drawing::prepare(&film.scene, &folder, &options, &mut |error| explain(source, error))?;
    let simulation = film.player.simulation();
    drawing.try_out(&Capture::new(&film.scene, simulation.model()).moment(simulation))?;
    plan.check_writable(&args.output)?;

    let clock = Instant::now();
    let moments = film.play(&plan.frames)?;
    let simulated = clock.elapsed().as_secs_f64();
    drawing.fit(&moments);
    let files = plan.write(&args.output, &moments, &mut drawing)?;

    let mut warnings = film.warnings();
    warnings.extend(plan.stale_frames(&args.output, &files));
    let report = RenderReport {
        input: args.input.display().to_string(),
        frames: plan.frames,
        fps: plan.fps,
        simulate_seconds: simulated,
        drawing: drawing.report(),
        files: files.iter().map(|path| path.display().to_string()).collect(),
        warnings,
    };
    if args.json {
        say_json(&report)?;
    } else {
        report.print()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is wrong with a look of a scene is an error at its line. A recording has left its files behind: it is drawn
/// without them.
fn explain(source: Option<&Source>, error: SceneError) -> Result<(), Failure> {
    match source {
        Some(source) => Err(source.explain(&error).into()),
        None => {
            note(&format!("warning: {error}"));
            Ok(())
        }
    }
}

/// What shall come of it, by the name of the file and the flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Picture,
    /// Columns and rows.
    Sheet(u32, u32),
    Movie(MovieFormat),
}

impl Target {
    fn of(args: &RenderArgs) -> Result<Target, Failure> {
        let is_png = args.output.extension().is_some_and(|end| end.eq_ignore_ascii_case("png"));
        let movie = MovieFormat::of(&args.output);
        match (args.contact_sheet, movie) {
            (Some((columns, rows)), None) if is_png => Ok(Target::Sheet(columns, rows)),
            (Some(_), _) => Err(Failure::Usage("--contact-sheet is one picture: let OUT end in .png".to_owned())),
            (None, Some(format)) => Ok(Target::Movie(format)),
            (None, None) if is_png && (args.frames.is_some() || args.every.is_some()) => Err(Failure::Usage(
                "--frames and --every are for animations; for one picture give --frame N, for several let OUT end in / or \
                 add --contact-sheet"
                    .to_owned(),
            )),
            (None, None) if is_png => Ok(Target::Picture),
            (None, None) => {
                let end = args.output.extension().unwrap_or_default().to_string_lossy();
                let problem = format!("cannot tell what to write from its ending '{end}'");
                let help = "end it in .png, .gif, .mp4 or .webm, or in / for a folder of pictures";
                Err(Failure::file(&args.output, problem, help))
            }
        }
    }
}

/// Which frames are drawn, how large, and what becomes of them.
struct Plan {
    target: Target,
    size: (u32, u32),
    /// Numbers of the frames, ascending.
    frames: Vec<u64>,
    /// Pictures per second of an animation.
    fps: f64,
}

impl Plan {
    fn new(args: &RenderArgs, target: Target, last: u64, fps: f64) -> Result<Plan, Failure> {
        let beyond = |frame: u64| {
            let problem = format!("frame {frame} is beyond the end: the last frame is {last}");
            let help = "ask for an earlier frame, or let the scene go on longer (`time.frames`)";
            Failure::file(&args.input, problem, help)
        };
        let (first, end) = match (args.frame, args.frames) {
            (Some(frame), _) => (frame, frame),
            (None, Some(range)) => (range.first, range.last.unwrap_or(last)),
            (None, None) => (0, last),
        };
        if let Some(frame) = [first, end].into_iter().find(|&frame| frame > last) {
            return Err(beyond(frame));
        }
        let every = args.every.unwrap_or(1);
        let step = match target {
            // Frames that a GIF would leave out are not even drawn.
            Target::Movie(format) => every.saturating_mul(format.frame_step(fps / every as f64)),
            _ => every,
        };
        let spaced = |wanted: u64| {
            let mut frames: Vec<u64> = (0..wanted)
                .map(|k| {
                    first + (u128::from(end - first) * u128::from(k) / u128::from((wanted - 1).max(1))) as u64
                })
                .collect();
            frames.dedup();
            frames
        };
        // As long a list as this would not fit, whatever the frames hold.
        let most = (MEMORY_LIMIT / BYTES_PER_VERTEX_AND_MOMENT) as u64;
        if (end - first) / step > most {
            return Err(too_much(u128::from((end - first) / step) * BYTES_PER_VERTEX_AND_MOMENT));
        }
        let frames = match target {
            Target::Picture => vec![end],
            Target::Sheet(columns, rows) => spaced(u64::from(columns) * u64::from(rows)),
            Target::Movie(_) => (first..=end).step_by(usize::try_from(step).unwrap_or(usize::MAX)).collect(),
        };
        let default = if matches!(target, Target::Sheet(..)) { SHEET_PICTURE_SIZE } else { DEFAULT_SIZE };
        Ok(Plan { target, size: args.size.unwrap_or(default), frames, fps: fps / step as f64 })
    }

    /// Refuses what would fill the memory, before it starts.
    fn check_memory(&self, vertices: u64) -> Result<(), Failure> {
        let (frames, pixels) = (self.frames.len() as u128, u128::from(self.size.0) * u128::from(self.size.1));
        let moments = frames * u128::from(vertices) * BYTES_PER_VERTEX_AND_MOMENT;
        // The pictures of a sheet are kept until all are there.
        let kept = if matches!(self.target, Target::Sheet(..)) { frames * pixels * 4 } else { 0 };
        let bytes = moments + kept + pixels * BYTES_PER_PIXEL + u128::from(vertices) * BYTES_PER_VERTEX;
        if bytes <= MEMORY_LIMIT { Ok(()) } else { Err(too_much(bytes)) }
    }

    fn check_writable(&self, path: &Path) -> Result<(), Failure> {
        let checked = match self.target {
            Target::Picture | Target::Sheet(..) => disk::check_writable(path),
            Target::Movie(format) => format.check(path),
        };
        Ok(checked?)
    }

    /// Draws and writes everything; tells which files.
    fn write(&self, path: &Path, moments: &[Moment], drawing: &mut Drawing) -> Result<Vec<PathBuf>, Failure> {
        match self.target {
            Target::Picture => {
                let Some(moment) = moments.last() else { return Ok(Vec::new()) };
                write_picture(path, &drawing.draw(moment)?)
            }
            Target::Sheet(columns, _) => {
                let mut pictures = Vec::new();
                let mut progress = Progress::new("picture", moments.len() as u64);
                for moment in moments {
                    pictures.push((drawing.draw(moment)?, format!("{:.2} s", moment.time)));
                    progress.advance();
                }
                write_picture(path, &overlay::contact_sheet(&pictures, columns as usize))
            }
            Target::Movie(format) => write_movie(path, format, moments, self.size, self.fps, drawing),
        }
    }

    /// Tells what lies beside the frames in their folder: an earlier run may have been longer.
    fn stale_frames(&self, path: &Path, files: &[PathBuf]) -> Option<String> {
        if self.target != Target::Movie(MovieFormat::Folder) {
            return None;
        }
        let others = disk::names_in(path).len().saturating_sub(files.len());
        (others > 0).then(|| format!("{} holds {others} more, not of this run", path.display()))
    }
}

fn too_much(bytes: u128) -> Failure {
    Failure::input(
        format!("this would need about {} of memory; the limit is {}", size(bytes), size(MEMORY_LIMIT)),
        "draw fewer frames with --frames or --every, a smaller --size, or a scene with fewer vertices",
    )
}

/// Writes one picture as PNG.
pub fn write_picture(path: &Path, picture: &Picture) -> Result<Vec<PathBuf>, Failure> {
    let bytes =
        write_png(picture).map_err(|error| Failure::file(path, format!("not written: {error}"), ""))?;
    disk::write(path, &bytes)?;
    Ok(vec![path.to_path_buf()])
}

/// Draws and writes an animation.
pub fn write_movie(
    path: &Path,
    format: MovieFormat,
    moments: &[Moment],
    size: (u32, u32),
    fps: f64,
    drawing: &mut Drawing,
) -> Result<Vec<PathBuf>, Failure> {
    let mut movie = Movie::create(path, format, size, fps)?;
    let mut progress = Progress::new("picture", moments.len() as u64);
    for moment in moments {
        movie.push(&drawing.draw(moment)?)?;
        progress.advance();
    }
    Ok(movie.finish()?)
}

/// A scene or a recording, ready to be played.
struct Film {
    scene: Scene,
    /// Text of the scene file; none for a recording.
    source: Option<Source>,
    /// Number of the last frame.
    frames: u64,
    fps: f64,
    player: Player,
    /// What the person should know about the run.
    notes: Vec<String>,
}

enum Player {
    Scene(Box<Simulation>),
    Recording(Box<Replay>),
}

impl Player {
    fn simulation(&self) -> &Simulation {
        match self {
            Player::Scene(simulation) => simulation,
            Player::Recording(replay) => &replay.simulation,
        }
    }
}

impl Film {
    fn open(args: &RenderArgs) -> Result<Film, Failure> {
        let end = args.input.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        match end.as_str() {
            "toml" | "json" | "glb" | "gltf" => Film::open_scene(args),
            "souprec" => {
                let replay = Replay::open(&args.input, args.threads.count())?;
                Ok(Film {
                    scene: replay.scene.clone(),
                    source: None,
                    frames: replay.steps() as u64,
                    fps: replay.simulation.model().fps,
                    player: Player::Recording(Box::new(replay)),
                    notes: Vec::new(),
                })
            }
            _ => Err(Failure::file(
                &args.input,
                format!("cannot tell what this file holds from its ending '{end}'"),
                "scenes end in .toml or .json, characters in .glb or .gltf, recordings in .souprec",
            )),
        }
    }

    fn open_scene(args: &RenderArgs) -> Result<Film, Failure> {
        let loaded = load(&args.input, args.allow_outside)?;
        for warning in check::warnings(&loaded) {
            note(&warning);
        }
        let Loaded { scene, source, model } = loaded;
        let fps = model.fps;
        let simulation = Simulation::new(model)
            .with_threads(args.threads.count())
            .map_err(|error| Failure::input(error.to_string(), "ask for fewer threads"))?;
        Ok(Film {
            frames: u64::from(scene.time.frames),
            scene,
            source: Some(source),
            fps,
            player: Player::Scene(Box::new(simulation)),
            notes: Vec::new(),
        })
    }

    /// Plays up to the last of some frames, which ascend, and keeps what is seen in each of them.
    fn play(&mut self, frames: &[u64]) -> Result<Vec<Moment>, Failure> {
        let mut capture = Capture::new(&self.scene, self.player.simulation().model());
        let mut moments = Vec::new();
        let last = frames.last().copied().unwrap_or(0);
        let mut progress = Progress::new("frame", last);
        let mut wanted = frames.iter().copied().peekable();
        for frame in 0..=last {
            if wanted.next_if_eq(&frame).is_some() {
                moments.push(capture.moment(self.player.simulation()));
            }
            if frame == last {
                break;
            }
            self.step()?;
            progress.advance();
        }
        Ok(moments)
    }

    fn step(&mut self) -> Result<(), Failure> {
        match &mut self.player {
            Player::Scene(simulation) => simulation.step(),
            Player::Recording(replay) => {
                // A picture does not show the last bits; only the first difference is worth a word.
                if let (Played::Differs(difference), true) = (replay.step()?, self.notes.is_empty()) {
                    self.notes.push(format!(
                        "step {} does not come out as it was recorded: the pictures show what this program computes",
                        difference.step
                    ));
                }
            }
        }
        Ok(())
    }

    fn warnings(&self) -> Vec<String> {
        let warnings = self.player.simulation().warnings();
        self.notes.iter().cloned().chain(warnings.iter().map(ToString::to_string)).collect()
    }
}

/// What came of it, as JSON.
#[derive(Serialize)]
struct RenderReport {
    input: String,
    /// Numbers of the frames that were drawn.
    frames: Vec<u64>,
    /// Pictures per second of an animation.
    fps: f64,
    /// Wall time of the run, s.
    simulate_seconds: f64,
    #[serde(flatten)]
    drawing: DrawingReport,
    files: Vec<String>,
    warnings: Vec<String>,
}

impl RenderReport {
    fn print(&self) -> Result<(), Failure> {
        let drawing = &self.drawing;
        say(&format!(
            "{} of {} × {} pixels by {}: {:.1} ms each ({:.1} upload, {:.1} draw, {:.1} read back)",
            count(drawing.pictures as usize, "picture", "pictures"),
            drawing.size[0],
            drawing.size[1],
            drawing.renderer,
            drawing.ms(),
            drawing.upload_ms,
            drawing.draw_ms,
            drawing.read_back_ms,
        ))?;
        say_warnings(&self.warnings)?;
        match &self.files[..] {
            [first, .., last] => say(&format!("wrote {first} … {last}: {} files", self.files.len())),
            few => few.iter().try_for_each(|file| say(&format!("wrote {file}"))),
        }
    }
}
