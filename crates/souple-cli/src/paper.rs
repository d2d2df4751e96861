//! `souple paper`: the crease pattern of a sheet of paper of a scene, to be folded, and how well the sheet keeps its pattern.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use serde::Serialize;
use souple::Simulation;
use souple::mesh::TriMesh;
use souple::paper::{Crease, PaperState, Sheet};
use souple_files::{disk, load};
use souple_formats::export_mesh::{write_obj, write_ply, write_stl};
use souple_formats::paper::{write_crease_svg, write_fold};

use crate::args::PaperArgs;
use crate::failure::{CHECK_FAILED, Failure, Outcome};
use crate::outputs::Writer;
use crate::report::{note, say, say_json};
use crate::run::unmet_paper;

/// Files that can be written, by their ending.
const ENDINGS: &str = ".svg .fold .obj .ply .stl";

/// What is said of a sheet. All strains are shares of 1.
#[derive(Debug, Serialize)]
pub struct SheetReport {
    name: String,
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
    remade: u32,
}

/// What the command says.
#[derive(Debug, Serialize)]
struct PaperReport {
    #[serde(flatten)]
    sheet: SheetReport,
    frames: u32,
    ms_mean: f64,
    ms_worst: f64,
    files: Vec<String>,
    failures: Vec<String>,
}

/// Runs the command.
pub fn run(args: &PaperArgs) -> Outcome {
    for output in &args.output {
        if !ENDINGS.split(' ').any(|known| known[1..] == *ending(output)) {
            let problem = format!("a sheet cannot be written as '.{}' here", ending(output));
            let help = format!(
                "end its name in one of {ENDINGS}; pictures and animations are made by `souple render` and `souple run`"
            );
            return Err(Failure::file(output, problem, help));
        }
        disk::check_writable(output)?;
    }
    let loaded = load(&args.scene, args.allow_outside)?;
    let names = loaded.model.papers.iter().map(|p| format!("'{}'", p.name)).collect::<Vec<_>>().join(", ");
    let chosen = match (&args.paper, &loaded.model.papers[..]) {
        (_, []) => return Err(Failure::file(&args.scene, "the scene has no paper", "add a `[[paper]]`")),
        (None, [_]) => Some(0),
        (None, _) => None,
        (Some(name), _) => loaded.model.paper_index(name),
    };
    let Some(p) = chosen else {
        return Err(Failure::file(
            &args.scene,
            "it does not follow which sheet is meant",
            format!("give --paper one of {names}"),
        ));
    };
    let last = loaded.scene.time.frames;
    let frames = args.frame.unwrap_or(last);
    if frames > last {
        let problem = format!("there is no frame {frames}: the last frame is {last}");
        return Err(Failure::file(&args.scene, problem, "give a smaller --frame"));
    }
    let mut simulation = Simulation::new(loaded.model);
    let mut ms: Vec<f64> = Vec::new();
    for _ in 0..frames {
        let clock = Instant::now();
        simulation.step();
        ms.push(clock.elapsed().as_secs_f64() * 1e3);
    }
    simulation.warnings().iter().for_each(|warning| note(&warning.to_string()));
    let (name, state) = (&simulation.model().papers[p].name, &simulation.state().papers[p]);
    let failures = match loaded.scene.expect.filter(|_| frames == last) {
        Some(expect) => unmet_paper(&expect, simulation.state()),
        None => Vec::new(),
    };
    let files = write(args, name, &state.crumple.sheet)?;
    let report = PaperReport {
        sheet: SheetReport::new(name, state),
        frames,
        ms_mean: ms.iter().sum::<f64>() / ms.len().max(1) as f64,
        ms_worst: ms.iter().copied().fold(0.0, f64::max),
        files: files.iter().map(|path| path.display().to_string()).collect(),
        failures,
    };
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

impl SheetReport {
    /// Of a sheet as it is.
    pub fn new(name: &str, state: &PaperState) -> SheetReport {
        let sheet = &state.crumple.sheet;
        let (isometry, repair) = (sheet.isometry(), sheet.repair);
        let sharp = |crease: Crease| matches!(crease, Crease::Mountain | Crease::Valley);
        SheetReport {
            name: name.to_owned(),
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
            remade: state.remade,
        }
    }

    /// For people.
    pub fn line(&self) -> String {
        format!(
            "{}: {} vertices, {} triangles, {} straight cuts, {} folds, {} edges along creases, anew in {} frames; \
             strain {:.4} % mean, {:.2} % worst",
            self.name,
            self.vertices,
            self.triangles,
            self.straight_cuts,
            self.folds,
            self.creases,
            self.remade,
            100.0 * self.strain_mean,
            100.0 * self.strain_worst,
        )
    }
}

impl PaperReport {
    fn print(&self) -> Result<(), Failure> {
        let sheet = &self.sheet;
        say(&sheet.line())?;
        say(&format!(
            "E {:.3e} m²   E_angle {:.3} rad   E_area {:.3e} m²",
            sheet.energy_m2, sheet.angle_sum_rad, sheet.area_sum_m2
        ))?;
        say(&format!(
            "border as given: {:+.3} % long, pieces {:.3} % off at worst, chords {:.3} % too long, angles {:.2}° too wide; moved by {:.2} mm at most",
            100.0 * sheet.border_length_off,
            100.0 * sheet.border_worst_piece_off,
            100.0 * sheet.border_worst_chord_off,
            sheet.border_worst_angle_off_rad.to_degrees(),
            1e3 * sheet.border_moved_m
        ))?;
        if self.frames > 0 {
            say(&format!(
                "{} frames: {:.2} ms per frame, {:.2} ms in the slowest",
                self.frames, self.ms_mean, self.ms_worst
            ))?;
        }
        self.files.iter().try_for_each(|file| say(&format!("wrote {file}")))?;
        self.failures.iter().for_each(|failure| note(&format!("expectation failed: {failure}")));
        Ok(())
    }
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

fn write(args: &PaperArgs, name: &str, sheet: &Sheet) -> Result<Vec<PathBuf>, Failure> {
    let mut writer = Writer::new();
    for path in &args.output {
        let bytes = match ending(path).as_str() {
            "obj" => Ok(write_obj(&mesh(sheet))),
            "ply" => Ok(write_ply(&mesh(sheet))),
            "stl" => Ok(write_stl(&mesh(sheet))),
            "svg" => Ok(write_crease_svg(sheet, name)),
            _ => write_fold(sheet, name).map_err(|error| Failure::file(path, error, "")),
        };
        writer.write(path, bytes);
    }
    match writer.failures.into_iter().next() {
        Some(failure) => Err(failure),
        None => Ok(writer.written),
    }
}
