//! `souple paper`: a sheet of paper from its pattern and its border, as mesh, picture and crease pattern.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use glam::{DVec2, DVec3, Mat4};
use serde::Serialize;
use souple::Simulation;
use souple::mesh::{TriMesh, mesh_edges};
use souple::paper::{Case, Crease, Handle, Live, PaperError, Pattern, Sheet, outline};
use souple::scene::{Body, Scene};
use souple_files::{MovieFormat, SceneFolder, disk, load};
use souple_formats::animation::{Animation, BodyAnimation, Frame};
use souple_formats::export_mesh::{write_obj, write_ply, write_stl};
use souple_formats::paper::{BorderSource, PaperFile, write_crease_svg, write_fold};
use souple_formats::scene::{MAX_SCENE_BYTES, Source, read_paper};
use souple_viewer::{Item, ItemKind, ItemMesh, Line, Marks, Moment, WhichRenderer, geometry};

use crate::args::{PaperArgs, RendererName};
use crate::drawing::{Drawing, Options};
use crate::failure::{CHECK_FAILED, Failure, Outcome};
use crate::outputs::Writer;
use crate::render::{write_movie, write_picture};
use crate::report::{note, say, say_json};

/// Most frames of a sheet that moves.
const MAX_FRAMES: u32 = 10_000;
/// Files that can be written, by their ending.
const ENDINGS: &str = ".glb .obj .ply .stl .svg .fold .png .gif .mp4 .webm";

/// What is said of a sheet. All strains are shares of 1.
#[derive(Debug, Serialize)]
struct PaperReport {
    name: String,
    frames: usize,
    vertices: usize,
    triangles: usize,
    straight_cuts: usize,
    folds: usize,
    incomplete_regions: usize,
    creases: usize,
    energy_m2: f64,
    strain_mean: f64,
    strain_worst: f64,
    angle_sum_rad: f64,
    angle_mean_rad: f64,
    area_sum_m2: f64,
    area_mean: f64,
    border_length_off: f64,
    border_worst_piece_off: f64,
    border_worst_chord_off: f64,
    border_worst_angle_off_rad: f64,
    border_moved_m: f64,
    remade: usize,
    ms_mean: f64,
    ms_worst: f64,
    files: Vec<String>,
    failures: Vec<String>,
}

/// Runs the command.
pub fn run(args: &PaperArgs) -> Outcome {
    for output in &args.output {
        let known = ENDINGS.split(' ').any(|known| known[1..] == *ending(output))
            || MovieFormat::of(output).is_some();
        if !known {
            let problem = format!("a sheet cannot be written as '.{}'", ending(output));
            return Err(Failure::file(output, problem, format!("end its name in one of {ENDINGS}")));
        }
        disk::check_writable(output)?;
    }
    let bytes = disk::read(&args.sheet, MAX_SCENE_BYTES, "sheet")?;
    let (file, source) = read_paper(&bytes, &args.sheet.display().to_string())?;
    let mut film = Film::make(args, &file)?;
    let chosen = match args.frame {
        Some(frame) if frame >= film.sheets.len() => {
            let problem = format!("there is no frame {frame}: the sheet has {}", film.sheets.len());
            return Err(Failure::file(&args.sheet, problem, "give a smaller --frame"));
        }
        Some(frame) => {
            film.sheets.truncate(frame + 1);
            frame
        }
        None => film.sheets.len() - 1,
    };
    let sheet = &film.sheets[chosen];
    let mut report = film.report(&file, sheet);
    report.failures = failures(&file, &report);
    report.files =
        write(args, &file, &source, &film)?.iter().map(|path| path.display().to_string()).collect();
    if args.json {
        say_json(&report)?;
    } else {
        report.print()?;
    }
    Ok(if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// The sheet in each frame.
struct Film {
    sheets: Vec<Sheet>,
    /// Time of each frame, ms.
    ms: Vec<f64>,
    remade: usize,
}

impl Film {
    fn make(args: &PaperArgs, file: &PaperFile) -> Result<Film, Failure> {
        let refuse = |error: PaperError| Failure::file(&args.sheet, error, "");
        let (pattern, borders) = borders(args, file)?;
        if file.time.frames > MAX_FRAMES || !(file.time.fps > 0.0 && file.time.fps.is_finite()) {
            let problem =
                format!("time asks for {} frames at {} per second", file.time.frames, file.time.fps);
            return Err(Failure::file(
                &args.sheet,
                problem,
                format!("give up to {MAX_FRAMES} frames at a positive rate"),
            ));
        }
        let handles = |frame: u32| -> Result<Vec<Handle>, Failure> {
            let time = f64::from(frame) / file.time.fps;
            let each = file.handles.iter().enumerate().map(|(k, handle)| {
                let wrong = |problem: String| Failure::file(&args.sheet, problem, "");
                let share = match (handle.corner, handle.at) {
                    // Where the pattern was turned round, corners are counted the other way.
                    (Some(corner), None) if corner < pattern.corners().len() => match pattern.is_reversed() {
                        true => 1.0 - pattern.corner_share(pattern.corners().len() - corner),
                        false => pattern.corner_share(corner),
                    },
                    (None, Some(at)) => at,
                    _ => {
                        return Err(wrong(format!(
                            "handle[{k}] needs `corner`, one of the pattern's, or `at`, not both"
                        )));
                    }
                };
                let place = handle.place(time).ok_or_else(|| wrong(format!("handle[{k}] has no keys")))?;
                Ok(Handle { share: if pattern.is_reversed() { 1.0 - share } else { share }, place })
            });
            each.collect()
        };
        let mut film = Film { sheets: Vec::new(), ms: Vec::new(), remade: 0 };
        let mut clock = Instant::now();
        let mut live = match borders.first() {
            Some(border) => Live::new(pattern.clone(), border, file.settings()).map_err(refuse)?,
            None => Live::flat(pattern.clone(), |p| DVec3::new(p.x, 0.0, -p.y), file.settings())
                .map_err(refuse)?,
        };
        let moves = !file.handles.is_empty();
        let count = if moves { file.time.frames as usize + 1 } else { borders.len().max(1) };
        for frame in 0..count {
            if frame > 0 {
                clock = Instant::now();
            }
            let change = match (moves, borders.get(frame)) {
                (true, _) => Some(live.pull(&handles(frame as u32)?).map_err(refuse)?.0),
                (false, Some(border)) if frame > 0 => Some(live.follow(border).map_err(refuse)?),
                _ => None,
            };
            film.remade += usize::from(change.is_some_and(|change| change.remade));
            film.ms.push(clock.elapsed().as_secs_f64() * 1e3);
            film.sheets.push(live.sheet().clone());
        }
        Ok(film)
    }

    fn report(&self, file: &PaperFile, sheet: &Sheet) -> PaperReport {
        let (isometry, repair) = (sheet.isometry(), sheet.repair);
        let sharp = |crease: Crease| matches!(crease, Crease::Mountain | Crease::Valley);
        PaperReport {
            name: file.name.clone(),
            frames: self.sheets.len(),
            vertices: sheet.places.len(),
            triangles: sheet.triangles.len(),
            straight_cuts: sheet.cuts[0],
            folds: sheet.cuts[1],
            incomplete_regions: sheet.incomplete,
            creases: sheet.edges().iter().filter(|edge| sharp(edge.crease)).count(),
            energy_m2: isometry.energy,
            strain_mean: isometry.strain,
            strain_worst: isometry.worst_strain,
            angle_sum_rad: isometry.angle,
            angle_mean_rad: isometry.angle_mean,
            area_sum_m2: isometry.area,
            area_mean: isometry.area_mean,
            border_length_off: repair.before.whole_length,
            border_worst_piece_off: repair.before.length,
            border_worst_chord_off: repair.before.chord,
            border_worst_angle_off_rad: repair.before.angle,
            border_moved_m: repair.moved,
            remade: self.remade,
            ms_mean: self.ms.iter().sum::<f64>() / self.ms.len() as f64,
            ms_worst: self.ms.iter().copied().fold(0.0, f64::max),
            files: Vec::new(),
            failures: Vec::new(),
        }
    }
}

/// What the file expects and is not so.
fn failures(file: &PaperFile, report: &PaperReport) -> Vec<String> {
    let expect = file.expect.unwrap_or_default();
    let mut failures = Vec::new();
    let percent = 100.0 * report.strain_mean;
    // NaN is no number that could be expected.
    if let Some(limit) = expect.strain_percent.filter(|limit| percent.is_nan() || percent > *limit) {
        failures.push(format!("mean strain is {percent:.4} %, expected at most {limit} %"));
    }
    if let Some(least) = expect.folds_at_least.filter(|least| report.folds < *least) {
        failures.push(format!("there are {} folds, expected at least {least}", report.folds));
    }
    if let Some(most) = expect.remade_at_most.filter(|most| report.remade > *most) {
        failures.push(format!("creases were made anew in {} frames, expected at most {most}", report.remade));
    }
    failures
}

impl PaperReport {
    fn print(&self) -> Result<(), Failure> {
        say(&format!(
            "{}: {} vertices, {} triangles, {} straight cuts, {} folds, {} edges along creases",
            self.name, self.vertices, self.triangles, self.straight_cuts, self.folds, self.creases
        ))?;
        say(&format!(
            "strain {:.4} % mean, {:.2} % worst   E {:.3e} m²   E_angle {:.3} rad   E_area {:.3e} m²",
            100.0 * self.strain_mean,
            100.0 * self.strain_worst,
            self.energy_m2,
            self.angle_sum_rad,
            self.area_sum_m2
        ))?;
        say(&format!(
            "border as given: {:+.3} % long, pieces {:.3} % off at worst, chords {:.3} % too long, angles {:.2}° too wide; moved by {:.2} mm at most",
            100.0 * self.border_length_off,
            100.0 * self.border_worst_piece_off,
            100.0 * self.border_worst_chord_off,
            self.border_worst_angle_off_rad.to_degrees(),
            1e3 * self.border_moved_m
        ))?;
        let frames = if self.frames == 1 {
            String::new()
        } else {
            format!(", creases made anew in {} of {} frames", self.remade, self.frames)
        };
        say(&format!("{:.2} ms per frame, {:.2} ms at worst{frames}", self.ms_mean, self.ms_worst))?;
        self.files.iter().try_for_each(|file| say(&format!("wrote {file}")))?;
        self.failures.iter().for_each(|failure| note(&format!("expectation failed: {failure}")));
        Ok(())
    }
}

/// The pattern, and the border in each frame; none for a sheet that begins flat.
fn borders(args: &PaperArgs, file: &PaperFile) -> Result<(Pattern, Vec<Vec<DVec3>>), Failure> {
    let refuse = |error: PaperError| Failure::file(&args.sheet, error, "");
    let wrong = |problem: &str, help: &str| Failure::file(&args.sheet, problem, help);
    let own = || match (file.size, file.pattern.is_empty()) {
        (Some([width, height]), true) => Pattern::rectangle(width, height).map_err(refuse),
        (None, false) => {
            Pattern::new(&file.pattern.iter().map(|p| DVec2::from(*p)).collect::<Vec<_>>()).map_err(refuse)
        }
        _ => {
            Err(wrong("the sheet needs `size` or `pattern`, not both", "write `size = [0.297, 0.21]` for A4"))
        }
    };
    let given = file.size.is_some() || !file.pattern.is_empty();
    if given && matches!(file.border, BorderSource::Case(_) | BorderSource::Body { .. }) {
        return Err(wrong("this border has a pattern of its own", "leave out `size` and `pattern`"));
    }
    if !file.handles.is_empty() && file.border != BorderSource::Flat {
        return Err(wrong("handles pull a sheet that begins flat", "leave out `border`"));
    }
    match &file.border {
        BorderSource::Flat => Ok((own()?, Vec::new())),
        BorderSource::Points(points) => Ok((own()?, vec![points.iter().map(|p| DVec3::from(*p)).collect()])),
        BorderSource::Case(name) => {
            let Some(case) = Case::named(name) else {
                let known = Case::ALL.map(Case::name).join(", ");
                return Err(wrong(&format!("border.case: there is no '{name}'"), &format!("known: {known}")));
            };
            let (pattern, points) = case.make().map_err(refuse)?;
            Ok((pattern, vec![points.iter().map(|p| DVec3::new(p.x, p.z, -p.y)).collect()]))
        }
        BorderSource::Body { scene, body, frame } => of_body(args, scene, body, *frame),
    }
}

/// The border of a body of a scene in each frame up to one, and its pattern.
fn of_body(
    args: &PaperArgs,
    scene: &str,
    name: &str,
    frame: Option<u32>,
) -> Result<(Pattern, Vec<Vec<DVec3>>), Failure> {
    let folder = SceneFolder::of_scene(&args.sheet, args.allow_outside);
    let path = folder.path(scene, "scene").map_err(|problem| {
        Failure::file(&args.sheet, format!("border.body.scene: cannot read '{scene}': {problem}"), "")
    })?;
    let loaded = load(&path, args.allow_outside)?;
    let frames = frame.unwrap_or(loaded.scene.time.frames);
    if frames > MAX_FRAMES {
        return Err(Failure::file(
            &args.sheet,
            format!("border.body.frame is {frames}"),
            format!("give up to {MAX_FRAMES}"),
        ));
    }
    let bodies = &loaded.model.bodies;
    let Some(b) = bodies.iter().position(|body| body.name == name || name.is_empty() && bodies.len() == 1)
    else {
        let known = bodies.iter().map(|body| format!("'{}'", body.name)).collect::<Vec<_>>().join(", ");
        return Err(Failure::file(
            &args.sheet,
            format!("border.body: the scene has no body '{name}'"),
            format!("it has: {known}"),
        ));
    };
    let refuse = |error: PaperError| Failure::file(&args.sheet, error, "");
    let topology = &bodies[b].topology;
    let around = outline(&topology.triangles).map_err(refuse)?;
    let rest = &topology.rest_positions;
    let flat = laid_flat(rest, &topology.triangles).ok_or_else(|| {
        refuse(PaperError::NoBorder(format!(
            "body '{}' is not flat at rest, so it has no pattern",
            bodies[b].name
        )))
    })?;
    let n = around.len();
    let at = |k: usize| flat[around[k % n] as usize];
    let turns = |k: usize| {
        let (a, c) = (at(k) - at(k + n - 1), at(k + 1) - at(k));
        a.perp_dot(c).abs() > 1e-6 * a.length() * c.length()
    };
    let first = (0..n).find(|&k| turns(k)).unwrap_or(0);
    let corners: Vec<DVec2> = (first..first + n).filter(|k| turns(k % n)).map(at).collect();
    let pattern = Pattern::new(&corners).map_err(refuse)?;
    let mut simulation = Simulation::new(loaded.model);
    let mut borders = Vec::new();
    for step in 0..=frames {
        if step > 0 {
            simulation.step();
        }
        let x = &simulation.state().bodies[b].x;
        borders.push((first..first + n).map(|k| x[around[k % n] as usize]).collect());
    }
    Ok((pattern, borders))
}

/// Points of a flat surface in its plane, counter-clockwise where its triangles are; nothing if it is not flat.
fn laid_flat(rest: &[DVec3], triangles: &[[u32; 3]]) -> Option<Vec<DVec2>> {
    let corner = |v: u32| rest[v as usize];
    let normal: DVec3 =
        triangles.iter().map(|t| (corner(t[1]) - corner(t[0])).cross(corner(t[2]) - corner(t[0]))).sum();
    let normal = normal.try_normalize()?;
    let used = || triangles.iter().flatten().map(|&v| corner(v));
    let from = used().next()?;
    let size = used().map(|p| p.distance(from)).fold(0.0, f64::max);
    if used().any(|p| (p - from).dot(normal).abs() > 1e-6 * size) {
        return None;
    }
    let x = normal.any_orthonormal_vector();
    let y = normal.cross(x);
    Some(rest.iter().map(|p| DVec2::new((*p - from).dot(x), (*p - from).dot(y))).collect())
}

/// The mesh with its creases split, pattern as texture coordinates.
fn mesh(sheet: &Sheet) -> TriMesh {
    let (sources, triangles) = sheet.split_at_creases();
    TriMesh {
        positions: sources.iter().map(|&v| sheet.places[v as usize]).collect(),
        uvs: sources.iter().map(|&v| sheet.pattern[v as usize].to_array()).collect(),
        triangles,
    }
}

/// All frames on the vertices of the last: files want the same triangles in each. Creases are exact in the last frame; in others a crease that
/// is not in the last is cut across by its triangles.
fn animation(film: &Film, file: &PaperFile) -> Animation {
    let Some(last) = film.sheets.last() else { return Animation::default() };
    let (sources, triangles) = last.split_at_creases();
    let points: Vec<DVec2> = sources.iter().map(|&v| last.pattern[v as usize]).collect();
    let frame = |sheet: &Sheet| {
        let same = sheet.pattern == last.pattern;
        let place = |k: usize| if same { sheet.places[sources[k] as usize] } else { sheet.at(points[k]) };
        Frame {
            positions: (0..points.len()).map(|k| place(k).as_vec3().to_array()).collect(),
            velocities: Vec::new(),
        }
    };
    let body = BodyAnimation {
        name: if file.name.is_empty() { "sheet".to_owned() } else { file.name.clone() },
        triangles,
        lines: Vec::new(),
        uvs: points.iter().map(|p| p.as_vec2().to_array()).collect(),
        frames: film.sheets.iter().map(frame).collect(),
    };
    Animation { fps: file.time.fps, bodies: vec![body] }
}

fn write(args: &PaperArgs, file: &PaperFile, source: &Source, film: &Film) -> Result<Vec<PathBuf>, Failure> {
    let Some(sheet) = film.sheets.last() else { return Ok(Vec::new()) };
    let mut writer = Writer::new();
    let mut drawn = Vec::new();
    for path in &args.output {
        match ending(path).as_str() {
            "glb" => writer.animation_file(path, "glb", &animation(film, file)),
            "obj" => writer.write(path, Ok(write_obj(&mesh(sheet)))),
            "ply" => writer.write(path, Ok(write_ply(&mesh(sheet)))),
            "stl" => writer.write(path, Ok(write_stl(&mesh(sheet)))),
            "svg" => writer.write(path, Ok(write_crease_svg(sheet, &file.name))),
            "fold" => writer
                .write(path, write_fold(sheet, &file.name).map_err(|error| Failure::file(path, error, ""))),
            _ => drawn.push(path),
        }
    }
    if let Some(failure) = writer.failures.into_iter().next() {
        return Err(failure);
    }
    let mut files = writer.written;
    if drawn.is_empty() {
        return Ok(files);
    }
    let scene = Scene {
        view: file.view,
        bodies: vec![Body { look: Some(file.look.clone()), ..Body::default() }],
        ..Scene::default()
    };
    let options = Options {
        style: args.style.as_deref(),
        cells: false,
        size: args.size.unwrap_or((1280, 720)),
        camera: args.camera,
        renderer: match args.renderer {
            RendererName::Auto => WhichRenderer::Auto,
            RendererName::Gpu => WhichRenderer::Gpu,
            RendererName::Cpu => WhichRenderer::Cpu,
        },
    };
    let folder = SceneFolder::of_scene(&args.sheet, args.allow_outside);
    let mut drawing =
        Drawing::prepare(&scene, &folder, &options, &mut |error| Err(source.explain(&error).into()))?;
    let moments: Vec<Moment> =
        film.sheets.iter().enumerate().map(|(k, sheet)| moment(sheet, k, file)).collect();
    drawing.fit(&moments);
    for path in drawn {
        match (MovieFormat::of(path), moments.last()) {
            (Some(format), _) => {
                files.extend(write_movie(path, format, &moments, options.size, file.time.fps, &mut drawing)?);
            }
            (None, Some(last)) => {
                if args.creases {
                    drawing.marks = crease_lines(sheet);
                }
                files.extend(write_picture(path, &drawing.draw(last)?)?);
                drawing.marks = Marks::default();
            }
            (None, None) => {}
        }
    }
    Ok(files)
}

/// What is seen of a sheet.
fn moment(sheet: &Sheet, frame: usize, file: &PaperFile) -> Moment {
    let mesh = mesh(sheet);
    let edges: Vec<[u32; 2]> = mesh_edges(&mesh.triangles, &[]).into_iter().map(|(i, j)| [i, j]).collect();
    let size = sheet.pattern.iter().fold(1e-9f64, |size, p| size.max(p.abs().max_element()));
    let item = ItemMesh {
        edge_triangles: geometry::edge_triangles(&edges, &mesh.triangles),
        edges,
        uvs: mesh.uvs.iter().map(|uv| uv.map(|c| (c / size) as f32)).collect(),
        triangles: mesh.triangles,
        ..ItemMesh::default()
    };
    let positions: Vec<glam::Vec3> = mesh.positions.iter().map(|p| p.as_vec3()).collect();
    let speeds = vec![0.0; positions.len()];
    Moment {
        step: frame as u64,
        time: frame as f64 / file.time.fps,
        items: vec![Item {
            name: Arc::from(file.name.as_str()),
            kind: ItemKind::Body(0),
            mesh: Arc::new(item),
            positions: Arc::new(positions),
            speeds: Arc::new(speeds),
            contacts: Arc::default(),
            crossings: Arc::default(),
            fine: None,
            gains: Arc::default(),
            painted: Arc::default(),
            model: None,
            transform: Mat4::IDENTITY,
        }],
        floor: None,
    }
}

/// Mountains red, valleys blue, as in the crease pattern.
fn crease_lines(sheet: &Sheet) -> Marks {
    let line = |edge: &souple::paper::Edge| {
        let colour = match edge.crease {
            Crease::Mountain => [0.6, 0.02, 0.02, 1.0],
            Crease::Valley => [0.02, 0.08, 0.6, 1.0],
            Crease::Border | Crease::Flat => return None,
        };
        let [from, to] = edge.ends.map(|v| sheet.places[v as usize].as_vec3());
        Some(Line { from, to, colour, width: 2.5, on_top: false })
    };
    Marks { lines: sheet.edges().iter().filter_map(line).collect(), ..Marks::default() }
}
