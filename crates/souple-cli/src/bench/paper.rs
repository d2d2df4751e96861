//! Sheets of paper: how long they take and how well they keep their pattern, beside the thesis they come from (Rohmer 2011, table 4.1; its machine is
//! not named, its borders are not given), a corner of an A4 sheet dragged about, and a stiff sheet that keeps creases with the same border in
//! the engine's implicit solver.

use std::time::Instant;

use glam::{DVec2, DVec3};
use serde::Serialize;
use souple::paper::measure::isometry;
use souple::paper::{Case, Handle, Isometry, Live, PaperError, Pattern, Settings, Sheet};
use souple::scene::{
    Body, Border, Creasing, Family, Grid, Group, GrowingBorder, Paper, PaperBorder, Pin, Rayleigh, Scene,
    Select, Shape, Springs,
};
use souple::{ModelBuilder, Simulation};

use crate::args::BenchArgs;
use crate::failure::Failure;

/// Name of the workload.
pub const NAME: &str = "paper";
/// Frames for which the corner is dragged.
const FRAMES: u32 = 240;
/// Frames in which the twin's border goes to its place, and in which it then comes to rest.
const TWIN_FRAMES: [u32; 2] = [60, 60];

/// Cases that have a twin: those of the thesis, and the can.
const TWINS: usize = 7;

/// Figures of one sheet.
#[derive(Clone, Debug, Serialize)]
pub struct PaperFigures {
    /// Which.
    pub name: String,
    /// Vertices.
    pub vertices: usize,
    /// Triangles.
    pub triangles: usize,
    /// Fastest of the repeats, or mean of the frames, ms.
    pub ms: f64,
    /// Slowest repeat or frame, ms.
    pub ms_worst: f64,
    /// E, m²; the longest side is 1 m but for the A4 sheet.
    pub energy: f64,
    /// Mean strain: √(E / 2A).
    pub strain: f64,
    /// Largest strain of a triangle.
    pub worst_strain: f64,
    /// Sum over corners, rad.
    pub angle: f64,
    /// Sum over triangles, m².
    pub area: f64,
    /// E_angle, E_area and time, s, in the thesis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thesis: Option<[f64; 3]>,
    /// Frames in which all creases were made anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remade: Option<usize>,
}

impl PaperFigures {
    fn new(name: String, counts: [usize; 2], ms: [f64; 2], isometry: &Isometry) -> PaperFigures {
        PaperFigures {
            name,
            vertices: counts[0],
            triangles: counts[1],
            ms: ms[0],
            ms_worst: ms[1],
            energy: isometry.energy,
            strain: isometry.strain,
            worst_strain: isometry.worst_strain,
            angle: isometry.angle,
            area: isometry.area,
            thesis: None,
            remade: None,
        }
    }

    /// For people.
    pub fn line(&self) -> String {
        let thesis = self.thesis.map_or(String::new(), |[angle, area, s]| {
            format!("  thesis: E_angle {angle:.2}, E_area {area:.1e}, {:.0} ms", 1e3 * s)
        });
        let remade =
            self.remade.map_or(String::new(), |n| format!("  creases anew in {n} of {FRAMES} frames"));
        format!(
            "{:<18} {:>5} vertices {:>5} triangles {:>8.2} ms (slowest {:>8.2})  E {:.2e}  strain {:.4} % mean {:>6.2} % worst  E_angle {:>7.3}  E_area {:.2e}{thesis}{remade}",
            self.name,
            self.vertices,
            self.triangles,
            self.ms,
            self.ms_worst,
            self.energy,
            100.0 * self.strain,
            100.0 * self.worst_strain,
            self.angle,
            self.area
        )
    }
}

fn refuse(error: PaperError) -> Failure {
    Failure::input(error.to_string(), "")
}

/// Times all sheets; each row is told as it comes.
pub fn compare(
    args: &BenchArgs,
    mut tell: impl FnMut(&PaperFigures) -> Result<(), Failure>,
) -> Result<Vec<PaperFigures>, Failure> {
    let mut rows = Vec::new();
    let mut add = |row: PaperFigures| {
        tell(&row)?;
        rows.push(row);
        Ok::<(), Failure>(())
    };
    for case in Case::ALL {
        add(one(case, args.repeats.max(1))?)?;
    }
    add(dragged()?)?;
    for case in Case::ALL.into_iter().take(TWINS) {
        add(twin(case)?)?;
    }
    Ok(rows)
}

fn one(case: Case, repeats: u32) -> Result<PaperFigures, Failure> {
    let (pattern, points) = case.make().map_err(refuse)?;
    let mut ms = [f64::INFINITY, 0.0];
    let mut sheet = None;
    for _ in 0..repeats {
        let clock = Instant::now();
        sheet = Some(Sheet::new(&pattern, &points, &Settings::default()).map_err(refuse)?);
        let taken = clock.elapsed().as_secs_f64() * 1e3;
        ms = [ms[0].min(taken), ms[1].max(taken)];
    }
    let Some(sheet) = sheet else { return Err(Failure::input("no sheet", "")) };
    let counts = [sheet.places.len(), sheet.triangles.len()];
    let row = PaperFigures::new(case.name().into(), counts, ms, &sheet.isometry());
    Ok(PaperFigures { thesis: case.printed(), ..row })
}

/// A corner of an A4 sheet goes in and up and round, the other long side is held at its ends.
fn dragged() -> Result<PaperFigures, Failure> {
    let pattern = Pattern::rectangle(0.297, 0.21).map_err(refuse)?;
    let at = |corner: usize| pattern.corner_share(corner);
    let shares = [at(0), at(1), at(2)];
    let mut live = Live::flat(pattern, |p| p.extend(0.0), Settings::default()).map_err(refuse)?;
    let (mut sum, mut worst, mut remade, mut strain) = (0.0, 0.0f64, 0, Isometry::default());
    for frame in 0..FRAMES {
        let t = f64::from(frame) / f64::from(FRAMES) * std::f64::consts::TAU;
        let lift = t.sin().abs();
        let inwards = 0.08 * lift + 0.03 * (1.0 - (2.0 * t).cos());
        let corner = DVec3::new(0.297 - inwards, 0.21 - 0.05 * t.sin(), 0.1 * lift);
        let places = [DVec3::ZERO, DVec3::new(0.297, 0.0, 0.0), corner];
        let handles: Vec<Handle> =
            shares.iter().zip(places).map(|(&share, place)| Handle { share, place }).collect();
        let clock = Instant::now();
        let (change, _) = live.pull(&handles).map_err(refuse)?;
        let taken = clock.elapsed().as_secs_f64() * 1e3;
        sum += taken;
        worst = worst.max(taken);
        remade += usize::from(change.remade);
        let now = live.sheet().isometry();
        if now.strain > strain.strain {
            strain = now;
        }
    }
    let counts = [live.sheet().places.len(), live.sheet().triangles.len()];
    let row =
        PaperFigures::new("A4, corner dragged".into(), counts, [sum / f64::from(FRAMES), worst], &strain);
    Ok(PaperFigures { remade: Some(remade), ..row })
}

/// A stiff sheet that keeps creases, whose border goes to that of a case and then rests there.
fn twin(case: Case) -> Result<PaperFigures, Failure> {
    let (pattern, _) = case.make().map_err(refuse)?;
    let size = pattern.corners()[2];
    let border = |border: Border| Pin {
        name: format!("{border:?}"),
        select: Select::Border(border),
        paper: Some("sheet".into()),
        ..Pin::default()
    };
    let stiff = |modulus: f64| Family { modulus: Some(modulus), ..Family::default() };
    let vertices = [41, (40.0 * size.y / size.x).round() as u32 + 1];
    let body = Body {
        name: "twin".into(),
        shape: Shape::Grid(Grid { size: [size.x, size.y], vertices, ..Grid::default() }),
        density: Some(0.2),
        bending: Some(1e-3),
        creasing: Some(Creasing { radius: 0.2, creep: None }),
        springs: Springs { stretch: stiff(1e5), shear: stiff(5e4), ..Springs::default() },
        rayleigh: Some(Rayleigh { mass: 1.0, stiffness: Some(1e-3) }),
        pins: [Border::U0, Border::U1, Border::V0, Border::V1].map(border).to_vec(),
        ..Body::default()
    };
    let growing = GrowingBorder { case: case.name().into(), seconds: f64::from(TWIN_FRAMES[0]) / 60.0 };
    let paper = Paper { name: "sheet".into(), border: PaperBorder::Growing(growing), ..Paper::default() };
    let scene = Scene {
        gravity: [0.0; 3],
        bodies: vec![body],
        papers: vec![paper],
        groups: vec![Group::default()],
        ..Scene::default()
    };
    let mut model = ModelBuilder::new(&scene)
        .build()
        .map_err(|error| Failure::input(error.to_string(), error.help.clone()))?;
    // Its supports know where to go; the sheet beside it is timed on its own.
    model.papers.clear();
    let flat: Vec<DVec2> =
        model.bodies[0].topology.rest_positions.iter().map(|p| DVec2::new(p.x, -p.z)).collect();
    let triangles = model.bodies[0].topology.triangles.clone();
    let mut simulation = Simulation::new(model);
    let (mut sum, mut worst) = (0.0, 0.0f64);
    for _ in 0..TWIN_FRAMES[0] + TWIN_FRAMES[1] {
        let clock = Instant::now();
        simulation.step();
        let taken = clock.elapsed().as_secs_f64() * 1e3;
        sum += taken;
        worst = worst.max(taken);
    }
    let found = isometry(&flat, &simulation.state().bodies[0].x, &triangles);
    // All of its frames: that is what it takes to get there.
    Ok(PaperFigures::new(
        format!("{}, twin", case.name()),
        [flat.len(), triangles.len()],
        [sum, worst],
        &found,
    ))
}
