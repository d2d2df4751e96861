//! `souple run`: simulates a scene and writes what came of it.
//!
//! Everything that can be wrong with the input is found before the first step, and nothing is written until the last one.
//! Files that cannot be written do not take the others with them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde::Serialize;
use souple::measure::intersections;
use souple::model::Carrier;
use souple::scene::{Expect, Scene};
use souple::skin::CharacterModel;
use souple::skin::character::PosedCharacter;
use souple::{Measures, SceneError, Simulation, Stage, State, Warning, WarningKind};
use souple_files::bake::{Recipe, SkinRecorder, character_of_run};
use souple_files::{
    BYTES_PER_VERTEX, FrameRecorder, Loaded, MAX_STATE_BYTES, MEMORY_LIMIT, disk, load, scene_for_recording,
    size,
};
use souple_formats::control_log::{
    MAX_CONTROL_LOG_BYTES, NumberedCommand, read_numbered_commands, write_control_log,
};
use souple_formats::export::safe_file_stem;

use crate::args::{Format, RunArgs};
use crate::check;
use crate::failure::{CHECK_FAILED, Failure, Outcome};
use crate::outputs::{Results, Writer, estimate_bytes, make_folder};
use crate::paper::SheetReport;
use crate::report::{self, MeasuresReport, ProfileReport, Progress, count, note, say, say_warnings};
use crate::run_pictures::RunPictures;

/// Runs the command.
pub fn run(args: &RunArgs) -> Outcome {
    let loaded = load(&args.scene, args.allow_outside)?;
    let mut run = Run::prepare(args, loaded)?;
    if !args.json {
        run.announce()?;
    }
    run.simulate()?;
    let writer = run.write_files();
    let report = run.finish(&writer);
    if args.json {
        report::say_json(&report)?;
    } else {
        report.print()?;
    }
    for failure in &writer.failures {
        note(&failure.to_string());
    }
    let frozen = report.bodies.iter().any(|body| body.frozen);
    Ok(if !writer.failures.is_empty() {
        ExitCode::from(1)
    } else if !report.expect.passed || (args.strict && frozen) {
        ExitCode::from(CHECK_FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

/// A character whose own file is written with what became of it.
struct Kept {
    recipe: Recipe<'static>,
    skin: SkinRecorder,
    /// Its own frames of bodies: the others may be written in other formats.
    bodies: FrameRecorder,
}

impl Kept {
    fn record(&mut self, simulation: &Simulation) {
        let places = self.skin.places(simulation, self.recipe.character);
        self.skin.add(simulation.state().time, &places);
    }
}

/// A scene on its way through a run.
struct Run<'a> {
    args: &'a RunArgs,
    scene: Scene,
    simulation: Simulation,
    /// Frames to simulate.
    frames: u64,
    control: Vec<NumberedCommand>,
    folder: PathBuf,
    stem: String,
    recorder: Option<FrameRecorder>,
    /// A character whose own file is written as .glb, with all that is run.
    kept: Option<Kept>,
    pictures: Option<RunPictures>,
    rows: Vec<Vec<f64>>,
    /// Pairs of triangles that cross: of the state that was looked at last, by its step.
    crossings: Option<(u64, usize)>,
    /// Frames in which nothing crossed, when every frame is looked at.
    clean_frames: u64,
    step_time: Duration,
    notes: Vec<String>,
    expect: ExpectReport,
}

impl<'a> Run<'a> {
    /// Checks all that is asked for, and gets ready for the first step.
    fn prepare(args: &'a RunArgs, loaded: Loaded) -> Result<Run<'a>, Failure> {
        // What `souple check` would say; on standard error, so that it does not mix with the answer.
        for warning in check::warnings(&loaded) {
            note(&warning);
        }
        let Loaded { scene, source, model } = loaded;
        // Characters and paper move by themselves.
        if model.bodies.is_empty() && model.characters.is_empty() && model.papers.is_empty() {
            let error = SceneError::new(
                "",
                "the scene has no body: there is nothing to simulate",
                "add a `[[body]]`",
            );
            return Err(source.explain(&error).into());
        }
        let skins = model.colliders.iter().filter(|c| matches!(c.carrier, Carrier::Skin { .. }));
        let of_skins: usize = skins.filter_map(|c| c.form.mesh()).map(|mesh| mesh.positions.len()).sum();
        let vertices = (model.particle_count() + of_skins) as u64;
        let mut simulation = Simulation::new(model)
            .with_threads(args.threads.count())
            .map_err(|error| Failure::input(error.to_string(), "ask for fewer threads"))?;
        if let Some(path) = &args.from {
            let bytes = disk::read(path, MAX_STATE_BYTES, "snapshot")?;
            simulation.restore(&bytes).map_err(|error| {
                Failure::file(
                    path,
                    error,
                    "give a snapshot of this very scene, made by `souple run --snapshot`",
                )
            })?;
        }
        let step = simulation.state().step;
        let left = u64::from(scene.time.frames).saturating_sub(step);
        let frames = args.frames.map_or(left, u64::from);
        if let (Some(path), None, 0) = (&args.from, args.frames, left) {
            let problem = format!("the snapshot is of step {step}, where the scene ends");
            return Err(Failure::file(path, problem, "say with --frames how many frames to go on"));
        }
        check_memory(&args.format, frames, vertices)?;
        let control = read_control(args.control.as_deref())?;
        let mut notes = unused_commands(&control, step, frames);
        let stem = args.scene.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let folder = args.output.clone().unwrap_or_else(|| Path::new("out").join(&stem));
        for path in args.record.iter().chain(&args.snapshot) {
            disk::check_writable(path)?;
        }
        if args.record.is_some() {
            let text = scene_for_recording(&scene, &args.scene)
                .map_err(|error| error.with_help("use coarser meshes or run without --record"))?;
            let help = "leave `cg.max_ms` out of the scene, or run without --record";
            simulation
                .start_recording(text)
                .map_err(|error| Failure::file(&args.scene, error.to_string(), help))?;
        }
        let pictures = match args.format.iter().any(|format| format.is_drawn()) {
            true => {
                let stem_path = folder.join(safe_file_stem(&stem));
                Some(RunPictures::prepare(args, &scene, &source, &simulation, &stem_path)?)
            }
            false => None,
        };
        make_folder(&folder)?;
        if let Some(pictures) = &pictures {
            pictures.check_writable(&args.format)?;
        }
        let needs_frames = args.format.iter().any(|format| format.needs_frames());
        let recorder =
            needs_frames.then(|| FrameRecorder::new(&simulation, args.format.contains(&Format::Vtk)));
        let kept = match args.format.contains(&Format::Glb) {
            true => character_of_run(&args.scene, &scene, simulation.model(), args.allow_outside),
            false => None,
        };
        let kept = match kept {
            Some(Ok((recipe, plain))) => {
                let character = &simulation.model().characters[recipe.character];
                let skin = SkinRecorder::new(character, Some(plain));
                let mut kept = Kept { recipe, skin, bodies: FrameRecorder::new(&simulation, false) };
                kept.record(&simulation);
                Some(kept)
            }
            Some(Err(why)) => {
                notes.push(format!(
                    "{why}: .glb holds positions per frame, without bones and materials of characters"
                ));
                None
            }
            None => None,
        };
        let mut run = Run {
            args,
            scene,
            simulation,
            frames,
            control,
            folder,
            stem,
            recorder,
            kept,
            pictures,
            rows: Vec::new(),
            crossings: None,
            clean_frames: 0,
            step_time: Duration::ZERO,
            notes,
            expect: ExpectReport::default(),
        };
        run.measure();
        Ok(run)
    }

    fn announce(&self) -> Result<(), Failure> {
        let model = self.simulation.model();
        let springs = model.bodies.iter().map(|body| body.springs().len()).sum();
        let bodies = count(model.bodies.len(), "body", "bodies");
        let colliders = count(model.colliders.len(), "collider", "colliders");
        let title = if model.name.is_empty() { String::new() } else { format!(" ({})", model.name) };
        let (vertices, springs) =
            (count(model.particle_count(), "vertex", "vertices"), count(springs, "spring", "springs"));
        say(&format!("{}{title}: {bodies}, {vertices}, {springs}, {colliders}", self.args.scene.display()))?;
        let from = match self.simulation.state().step {
            0 => String::new(),
            step => format!(" from step {step}"),
        };
        let frames = count(self.frames as usize, "frame", "frames");
        say(&format!("simulating {frames}{from} at {} per second", model.fps))
    }

    fn simulate(&mut self) -> Result<(), Failure> {
        let mut progress = Progress::new("frame", self.frames);
        let mut next = self.control.partition_point(|c| c.logged.step < self.simulation.state().step);
        self.check_expectations();
        for _ in 0..self.frames {
            while let Some(command) =
                self.control.get(next).filter(|c| c.logged.step == self.simulation.state().step)
            {
                let given = self.simulation.command(command.logged.command.clone());
                given.map_err(|error| self.refused(command.line, &error))?;
                next += 1;
            }
            let clock = Instant::now();
            self.simulation.step();
            self.step_time += clock.elapsed();
            if let Some(recorder) = &mut self.recorder {
                recorder.record(&self.simulation);
            }
            if let Some(kept) = &mut self.kept {
                kept.bodies.record(&self.simulation);
                kept.record(&self.simulation);
            }
            if let Some(pictures) = &mut self.pictures {
                pictures.record(&self.simulation);
            }
            self.measure();
            if self.args.intersections {
                self.clean_frames += u64::from(self.count_crossings() == 0);
            }
            self.check_expectations();
            progress.advance();
        }
        Ok(())
    }

    fn refused(&self, line: usize, error: &souple::Error) -> Failure {
        let name = self.args.control.as_deref().map_or_else(String::new, control_name);
        let help = "correct the line; nothing was written";
        Failure::input(format!("{name}, line {line}: {error}"), help)
    }

    fn measure(&mut self) {
        if self.args.format.iter().any(|format| format.needs_measures()) {
            let crossings = self.args.intersections.then(|| self.count_crossings() as f64);
            let state = self.simulation.state();
            let row = [state.step as f64, state.time].into_iter().chain(self.simulation.measures().row());
            self.rows.push(row.chain(crossings).collect());
        }
    }

    /// Pairs of triangles that cross now. It takes about as long as a frame, so no state is looked at twice.
    fn count_crossings(&mut self) -> usize {
        let state = self.simulation.state();
        match self.crossings {
            Some((step, count)) if step == state.step => count,
            _ => {
                let count = intersections::in_scene(self.simulation.model(), state).len();
                self.crossings = Some((state.step, count));
                count
            }
        }
    }

    /// Holds the state against what the scene expects, when this is the scene's own last frame.
    fn check_expectations(&mut self) {
        let last = self.simulation.state().step == u64::from(self.scene.time.frames);
        if let (Some(expect), true) = (self.scene.expect, last) {
            let torn = self.simulation.state().bodies.iter().any(|body| body.topology.is_torn());
            let crossings = expect.intersections.map_or(0, |_| self.count_crossings());
            let mut failures = unmet(&expect, &self.simulation.measures(), torn, crossings);
            failures.extend(expect.skin_volume_percent.and_then(|limit| self.unmet_volume(limit)));
            failures.extend(unmet_paper(&expect, self.simulation.state()));
            failures.extend(expect.compression_left_percent.and_then(|limit| self.unmet_folds(limit)));
            self.expect = ExpectReport { checked: true, passed: failures.is_empty(), failures };
        }
    }

    /// Compression that folds leave, of the body that has most; infinite if none is folded.
    fn unmet_folds(&self, limit: f64) -> Option<String> {
        let (model, state) = (self.simulation.model(), self.simulation.state());
        let bodies =
            (0..model.bodies.len()).filter_map(|b| Some((self.simulation.isometry(b)?, &state.folds[b])));
        let skins = 0..model.colliders.len();
        let skins = skins.filter_map(|c| Some((self.simulation.skin_isometry(c)?, &state.skin_folds[c])));
        let left = bodies.chain(skins).map(|([coarse, fine], folds)| match folds.curves.is_empty() {
            true => f64::INFINITY,
            false => 100.0 * fine.compression / coarse.compression,
        });
        let found = left.reduce(|a, b| if a >= b { a } else { b }).unwrap_or(f64::NAN);
        (found.is_nan() || found > limit).then(|| {
            format!(
                "compression_left_percent: folds leave {found:.1} % of the compression, more than {limit} %"
            )
        })
    }

    fn unmet_volume(&self, limit: f64) -> Option<String> {
        let found = skin_volume_percent(&self.simulation);
        (found.is_nan() || found > limit).then(|| {
            format!("skin_volume_percent: the volume of a skin is {found:.3e} % off, more than {limit} %")
        })
    }

    /// Writes everything: what cannot be made again by other means comes first.
    fn write_files(&mut self) -> Writer {
        let mut writer = Writer::new();
        if let (Some(path), Some(recording)) = (&self.args.record, self.simulation.finish_recording()) {
            writer.write(path, Ok(recording.to_bytes(write_control_log)));
        }
        if let Some(path) = &self.args.snapshot {
            writer.write(path, Ok(self.simulation.snapshot()));
        }
        let animation = self.recorder.take().map(|recorder| recorder.finish(&self.simulation));
        let results = Results {
            scene: &self.scene,
            animation: animation.as_ref(),
            rows: &self.rows,
            crossings: self.args.intersections,
            glb: self.kept.take().map(|Kept { mut recipe, skin, bodies }| {
                recipe.write_run(skin, bodies, &self.simulation, &self.stem)
            }),
        };
        writer.write_formats(&self.args.format, &self.folder, &self.stem, &results);
        if let Some(pictures) = &mut self.pictures {
            pictures.write(&self.args.format, &self.simulation, &mut writer);
        }
        writer
    }

    fn finish(mut self, writer: &Writer) -> RunReport {
        let touching = self.scene.bodies.iter().any(|body| body.contact.is_some())
            || self.simulation.model().colliders.iter().any(|collider| collider.form.mesh().is_some());
        let crossings = (touching || self.args.intersections).then(|| self.count_crossings());
        let every_frame = self.args.intersections && self.frames > 0;
        let clean_share = every_frame.then(|| 100.0 * self.clean_frames as f64 / self.frames as f64);
        let simulation = &self.simulation;
        let (model, state) = (simulation.model(), simulation.state());
        let bodies = model.bodies.iter().zip(&state.bodies).enumerate();
        let bodies = bodies.map(|(b, (body, state))| BodyReport {
            name: body.name.clone(),
            vertices: state.topology.len(),
            triangles: state.topology.triangles.len(),
            springs: state.topology.springs.len(),
            torn: state.topology.is_torn(),
            frozen: state.frozen,
            measures: simulation.body_measures(b).into(),
            folds: simulation.isometry(b).map(|both| FoldsReport {
                count: state_folds(simulation, b),
                vertices: simulation.wrinkled(b).map_or(0, <[_]>::len),
                compression: both.map(|found| found.compression),
                across: both.map(|found| found.mean_across),
            }),
        });
        let skins = model.colliders.iter().enumerate().filter_map(|(c, collider)| {
            let both = simulation.skin_isometry(c)?;
            let folds = FoldsReport {
                count: state.skin_folds[c].curves.len(),
                vertices: simulation.wrinkled_skin(c).map_or(0, <[_]>::len),
                compression: both.map(|found| found.compression),
                across: both.map(|found| found.mean_across),
            };
            Some(SkinReport { name: collider.name.clone(), folds })
        });
        let seconds = self.step_time.as_secs_f64();
        let per_frame = |value: f64| if self.frames > 0 { value / self.frames as f64 } else { 0.0 };
        let warnings = simulation.warnings();
        let notes: Vec<String> = self.notes.iter().chain(&writer.notes).cloned().collect();
        RunReport {
            scene: self.args.scene.display().to_string(),
            frames: self.frames,
            fps: model.fps,
            seconds,
            ms_per_frame: per_frame(seconds * 1e3),
            times_real_time: if seconds > 0.0 { self.frames as f64 / model.fps / seconds } else { 0.0 },
            state_hash: format!("{:016x}", simulation.state_hash()),
            measures: simulation.measures().into(),
            has_springs: model.bodies.iter().any(|body| !body.topology.springs.is_empty()),
            intersections: crossings,
            clean_frames_percent: clean_share,
            bodies: bodies.collect(),
            skins: skins.collect(),
            papers: model
                .papers
                .iter()
                .zip(&state.papers)
                .map(|(p, s)| SheetReport::new(&p.name, s))
                .collect(),
            profile: ProfileReport(*simulation.profile()),
            solves_cut_short: simulation.profile().cut_short,
            warnings: warnings.iter().map(ToString::to_string).chain(notes.iter().cloned()).collect(),
            files: writer.written.iter().map(|path| path.display().to_string()).collect(),
            expect: self.expect,
            errors: writer.failures.iter().map(Failure::message).collect(),
            summary: Summary { measures: simulation.measures(), worst_first: worst_first(warnings, &notes) },
        }
    }
}

/// Refuses a run that would fill the memory, before it starts.
fn check_memory(formats: &[Format], frames: u64, vertices: u64) -> Result<(), Failure> {
    let bytes = estimate_bytes(formats, frames, vertices) + u128::from(vertices) * BYTES_PER_VERTEX;
    if bytes <= MEMORY_LIMIT {
        return Ok(());
    }
    let (needed, limit) = (size(bytes), size(MEMORY_LIMIT));
    Err(Failure::input(
        format!(
            "{frames} frames of {vertices} vertices would need about {needed} of memory; the limit is {limit}"
        ),
        "simulate a part at a time with --frames, --snapshot and --from, keep no animation with --format csv, or \
         use fewer vertices",
    ))
}

fn control_name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

fn read_control(path: Option<&Path>) -> Result<Vec<NumberedCommand>, Failure> {
    let Some(path) = path else { return Ok(Vec::new()) };
    let bytes = match path == Path::new("-") {
        true => disk::read_stdin(MAX_CONTROL_LOG_BYTES, "control stream")?,
        false => disk::read(path, MAX_CONTROL_LOG_BYTES, "control stream")?,
    };
    let name = control_name(path);
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count() + 1;
        Failure::input(format!("{name}, line {line}: this is not UTF-8 text"), "save the file as UTF-8")
    })?;
    read_numbered_commands(&text)
        .map_err(|error| Failure::input(format!("{name}, line {}: {}", error.line, error.message), ""))
}

/// Says which commands will not be carried out, because their steps are not part of the run.
fn unused_commands(control: &[NumberedCommand], start: u64, frames: u64) -> Vec<String> {
    let early = control.iter().filter(|c| c.logged.step < start).count();
    let late = control.iter().filter(|c| c.logged.step >= start.saturating_add(frames)).count();
    let mut notes = Vec::new();
    if early > 0 {
        notes.push(format!(
            "{} of the control stream left out: before step {start}",
            count(early, "command", "commands")
        ));
    }
    if late > 0 {
        let end = start.saturating_add(frames);
        notes.push(format!(
            "{} of the control stream left out: from step {end} on",
            count(late, "command", "commands")
        ));
    }
    notes
}

/// Warnings as text: bodies that were given up first, then what was overcome, then notes.
fn worst_first(warnings: &[Warning], notes: &[String]) -> Vec<String> {
    let is_freeze = |w: &&Warning| matches!(w.kind, WarningKind::Frozen { .. });
    let (freezes, others): (Vec<_>, Vec<_>) = warnings.iter().partition(is_freeze);
    freezes.into_iter().chain(others).map(ToString::to_string).chain(notes.iter().cloned()).collect()
}

/// Largest change of the volume of skins that keep it, percent of what they are to have; not a number if none does.
fn skin_volume_percent(simulation: &Simulation) -> f64 {
    let (model, posed) = (simulation.model(), simulation.posed());
    let change = |(posed, character): (&PosedCharacter, &CharacterModel)| {
        let (told, volume) = (posed.volume?, posed.skin_volume(character)?);
        Some(100.0 * (volume / told.wanted - 1.0).abs())
    };
    let changes = posed.characters.iter().zip(&model.characters).filter_map(change);
    changes.reduce(|a, b| if a >= b { a } else { b }).unwrap_or(f64::NAN)
}

/// What the scene expects of its sheets of paper and did not get.
pub fn unmet_paper(expect: &Expect, state: &State) -> Vec<String> {
    let mut failures = Vec::new();
    let sheets = || state.papers.iter().map(|paper| &paper.crumple.sheet);
    if let Some(limit) = expect.paper_strain_percent {
        let strains = sheets().map(|sheet| 100.0 * sheet.isometry().strain);
        let found = strains.reduce(|a, b| if a >= b { a } else { b }).unwrap_or(f64::NAN);
        // NaN is no number that could be expected.
        if found.is_nan() || found > limit {
            failures.push(format!(
                "paper_strain_percent: the mean strain of a sheet is {found:.4} %, more than {limit} %"
            ));
        }
    }
    let folds: usize = sheets().map(|sheet| sheet.cuts[1]).sum();
    if let Some(least) = expect.paper_folds_at_least.filter(|least| folds < *least as usize) {
        failures.push(format!("paper_folds_at_least: there are {folds} folds, fewer than {least}"));
    }
    let remade = state.papers.iter().map(|paper| paper.remade).max().unwrap_or(0);
    if let Some(most) = expect.paper_remade_at_most.filter(|most| remade > *most) {
        failures.push(format!(
            "paper_remade_at_most: creases were made anew in {remade} frames, more than {most}"
        ));
    }
    failures
}

fn state_folds(simulation: &Simulation, body: usize) -> usize {
    simulation.state().folds.get(body).map_or(0, |folds| folds.curves.len())
}

/// What the scene expects and did not get.
fn unmet(expect: &Expect, measures: &Measures, torn: bool, crossings: usize) -> Vec<String> {
    let mut failures = Vec::new();
    // Written so that a measure that is not a number fails.
    let mut demand = |met: bool, failure: String| {
        if !met {
            failures.push(failure);
        }
    };
    if let Some(limit) = expect.stretch_mean_percent {
        let found = measures.stretch_mean_percent;
        demand(found <= limit, format!("stretch_mean_percent: {found:.4} % is more than {limit} %"));
    }
    if let Some(limit) = expect.lowest_above {
        let found = measures.lowest;
        demand(found > limit, format!("lowest_above: the lowest point {found:.6} m is not above {limit} m"));
    }
    if let Some(limit) = expect.lowest_below {
        let found = measures.lowest;
        demand(found < limit, format!("lowest_below: the lowest point {found:.6} m is not below {limit} m"));
    }
    if let Some(limit) = expect.kinetic_below {
        let found = measures.kinetic_energy;
        demand(
            found < limit,
            format!("kinetic_below: the kinetic energy {found:.4e} J is not below {limit} J"),
        );
    }
    if let Some(limit) = expect.intersections {
        demand(
            crossings as u64 <= u64::from(limit),
            format!("intersections: {crossings} pairs of triangles cross, more than {limit}"),
        );
    }
    if let Some(wanted) = expect.torn {
        let what = if wanted { "nothing has torn" } else { "something has torn" };
        demand(torn == wanted, format!("torn: {what}"));
    }
    failures
}

/// What came of the run, as JSON.
#[derive(Serialize)]
struct RunReport {
    scene: String,
    frames: u64,
    fps: f64,
    /// Wall time of the steps alone, s.
    seconds: f64,
    ms_per_frame: f64,
    times_real_time: f64,
    state_hash: String,
    measures: MeasuresReport,
    /// Whether anything is held together by springs: solids are not.
    #[serde(skip)]
    has_springs: bool,
    /// Pairs of triangles of bodies that cross at the end; absent when nobody wants to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    intersections: Option<usize>,
    /// Share of the frames in which none crossed; absent when only the end was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    clean_frames_percent: Option<f64>,
    bodies: Vec<BodyReport>,
    /// Skins with folds; absent without any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skins: Vec<SkinReport>,
    /// Absent without sheets of paper.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    papers: Vec<SheetReport>,
    /// Milliseconds per frame of every stage.
    profile: ProfileReport,
    /// Linear solves that were stopped before they reached their tolerance.
    solves_cut_short: u64,
    warnings: Vec<String>,
    files: Vec<String>,
    expect: ExpectReport,
    /// Why files that were asked for are not there.
    errors: Vec<String>,
    #[serde(skip)]
    summary: Summary,
}

/// What only the text needs.
struct Summary {
    measures: Measures,
    /// Warnings of the simulation, those of frozen bodies in front.
    worst_first: Vec<String>,
}

#[derive(Serialize)]
struct BodyReport {
    name: String,
    vertices: usize,
    triangles: usize,
    springs: usize,
    torn: bool,
    frozen: bool,
    measures: MeasuresReport,
    /// Absent of bodies without folds.
    #[serde(skip_serializing_if = "Option::is_none")]
    folds: Option<FoldsReport>,
}

#[derive(Serialize)]
struct SkinReport {
    name: String,
    folds: FoldsReport,
}

/// Folds at the end of a run; first of the mesh that is simulated, then of the one that is drawn.
#[derive(Serialize)]
struct FoldsReport {
    count: usize,
    vertices: usize,
    /// Root of the mean square of compression.
    compression: [f64; 2],
    /// Mean elongation across folds, where cloth is compressed.
    across: [f64; 2],
}

/// How the scene did against its own expectations.
#[derive(Serialize)]
struct ExpectReport {
    /// Whether there were any and the run reached the scene's own last frame.
    checked: bool,
    passed: bool,
    failures: Vec<String>,
}

impl Default for ExpectReport {
    fn default() -> Self {
        ExpectReport { checked: false, passed: true, failures: Vec::new() }
    }
}

/// Stretch that cloth does not bear, percent: told.
const TORN_APART_PERCENT: f64 = 50.0;

impl RunReport {
    fn print(&self) -> Result<(), Failure> {
        say(&format!(
            "{} in {:.2} s: {:.2} ms per frame, {:.1} times real time",
            count(self.frames as usize, "frame", "frames"),
            self.seconds,
            self.ms_per_frame,
            self.times_real_time
        ))?;
        let slow = |stage: &Stage| self.profile.milliseconds(*stage) >= 0.1 * self.ms_per_frame;
        let stages = Stage::ALL.into_iter().filter(slow);
        let stages =
            stages.map(|stage| format!("{} {:.2} ms", stage.name(), self.profile.milliseconds(stage)));
        say(&format!("per frame: {}", stages.collect::<Vec<_>>().join(", ")))?;
        let m = &self.summary.measures;
        say(&format!(
            "stretch {:.2} % mean of longer and shorter, {:.2} % max; lowest point {:.4} m; state {}",
            m.stretch_mean_percent, m.stretch_max_percent, m.lowest, self.state_hash
        ))?;
        if self.has_springs && m.stretch_max_percent > TORN_APART_PERCENT {
            say(
                "a spring is more than half as long again as at rest; if that is not meant, steps are too long for what is stiff and touched or held: \
                 give the group `solver = \"xpbd\"`, or a shorter `dt`",
            )?;
        }
        if let Some(crossings) = self.intersections {
            let end = match crossings {
                0 => "no triangles cross at the end".into(),
                n => format!("{} of triangles cross at the end", count(n, "pair", "pairs")),
            };
            let frames =
                self.clean_frames_percent.map(|share| format!("; {share:.1} % of the frames are clean"));
            say(&format!("{end}{}", frames.unwrap_or_default()))?;
        }
        self.papers.iter().try_for_each(|sheet| say(&sheet.line()))?;
        for body in self.bodies.iter().filter(|body| body.torn) {
            say(&format!("'{}' has torn: {} vertices now", body.name, body.vertices))?;
        }
        say_warnings(&self.summary.worst_first)?;
        if self.expect.checked {
            for failure in &self.expect.failures {
                say(&format!("not as expected: {failure}"))?;
            }
            if self.expect.passed {
                say("all is as the scene expects")?;
            }
        }
        for run in self.files.chunk_by(|a, b| same_sequence(a, b)) {
            match run {
                [first, .., last] if run.len() > 2 => {
                    say(&format!("wrote {first} … {last}: {} files", run.len()))?;
                }
                few => few.iter().try_for_each(|file| say(&format!("wrote {file}")))?,
            }
        }
        Ok(())
    }
}

/// Whether two files are frames of one sequence: the same name but for its digits.
fn same_sequence(a: &str, b: &str) -> bool {
    let shape = |name: &str| name.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    shape(a) == shape(b)
}
