//! What few iterations do to a beam that bends, and what multigrid changes (FAU-32, FAU-38).
//!
//! A clamped beam of 4 : 1 : 1, E = 40 kPa, ν = 0.3, falls under its weight for a second at 60 steps per second, with so many iterations per step and no more. Printed and
//! drawn is how far its tip is at most from where it is if every step is solved to 1e-10, as a share of its deepest drop. Run with
//! `cargo run --release -p souple --example budget -- [CELLS ACROSS] [--plot FILE.svg]`.

#![allow(clippy::disallowed_methods)] // Of a plot, whose last bits nobody compares.

use std::fmt::Write;

use souple::scene::{
    Block, Body, Cells, Cg, Group, Pin, Preconditioner, Region, Scene, Select, Shape, SolverKind,
};
use souple::{ModelBuilder, Simulation};

const BUDGETS: [u32; 9] = [1, 2, 3, 5, 8, 13, 20, 50, 100];

const METHODS: [(Preconditioner, &str, &str); 4] = [
    (Preconditioner::Blocks, "blocks", "#f58518"),
    (Preconditioner::IncompleteCholesky, "incomplete_cholesky", "#54a24b"),
    (Preconditioner::Multigrid, "multigrid", "#e45756"),
    (Preconditioner::Cholesky, "cholesky", "#4c78a8"),
];

fn beam(across: u32, cg: Cg) -> Scene {
    let wall = Region { min: [-1e-6, -1.0, -1.0], max: [1e-6, 1.0, 1.0] };
    let shape = Block { size: [0.4, 0.1, 0.1], cells: [4 * across, across, across], cut: Cells::Hexahedra };
    let body = Body {
        name: "beam".into(),
        shape: Shape::Block(shape),
        density: Some(1000.0),
        young_modulus: Some(4e4),
        poisson_ratio: Some(0.3),
        pins: vec![Pin { select: Select::Within(wall), ..Pin::default() }],
        ..Body::default()
    };
    let groups = vec![Group { solver: SolverKind::ImplicitEulerCg, cg, ..Group::default() }];
    Scene { bodies: vec![body], groups, ..Scene::default() }
}

/// How far the tip is below where it was, m, in each frame of a second.
fn drops(scene: &Scene) -> Result<Vec<f64>, Box<dyn std::error::Error>> {
    let mut s = Simulation::new(ModelBuilder::new(scene).build()?);
    let rest = s.model().bodies[0].topology.rest_positions.clone();
    let tip: Vec<usize> = (0..rest.len()).filter(|i| rest[*i].x > 0.4 - 1e-9).collect();
    let mut all = Vec::new();
    for _ in 0..60 {
        s.step();
        let x = &s.state().bodies[0].x;
        all.push(tip.iter().map(|i| rest[*i].y - x[*i].y).sum::<f64>() / tip.len() as f64);
    }
    Ok(all)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut across, mut plot) = (8, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--plot" => plot = arguments.next(),
            size => across = size.parse()?,
        }
    }
    let exact = drops(&beam(across, Cg { tolerance: 1e-10, max_iterations: 5000, ..Cg::default() }))?;
    let deepest = exact.iter().copied().fold(0.0, f64::max);
    println!("{} × {across} × {across} cells; deepest drop {:.1} mm", 4 * across, 1e3 * deepest);
    println!("| iterations | {} |", METHODS.map(|(_, name, _)| format!("`{name}`")).join(" | "));
    println!("|---|---|---|---|---|");
    let mut errors = vec![Vec::new(); METHODS.len()];
    for budget in BUDGETS {
        let mut row = String::new();
        for ((preconditioner, ..), errors) in METHODS.into_iter().zip(&mut errors) {
            let cg = Cg { tolerance: 1e-10, max_iterations: budget, preconditioner, ..Cg::default() };
            let found = drops(&beam(across, cg))?;
            let apart = exact.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            errors.push(100.0 * apart / deepest);
            write!(row, " {:.2} % |", 100.0 * apart / deepest)?;
        }
        println!("| {budget} |{row}");
    }
    if let Some(path) = plot {
        std::fs::write(path, picture(&errors)?)?;
    }
    Ok(())
}

/// Lines of errors against iterations, on logarithmic axes.
fn picture(errors: &[Vec<f64>]) -> Result<String, std::fmt::Error> {
    let (left, top, width, height) = (60.0, 60.0, 560.0, 330.0);
    let (low, high) = (-3.0, 2.0);
    let place = |budget: f64, error: f64| {
        let share = (error.max(1e-9).log10().clamp(low, high) - low) / (high - low);
        (left + width * budget.log10() / 2.0, top + height * (1.0 - share))
    };
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 660 450\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"660\" height=\"450\" fill=\"white\"/>\n\
         <text x=\"12\" y=\"24\" font-size=\"16\" font-weight=\"bold\">A bending beam with few iterations per step: error of its tip</text>\n",
    );
    for power in -3..=2 {
        let value = 10f64.powi(power);
        let (_, y) = place(1.0, value);
        writeln!(
            svg,
            "<line x1=\"{left}\" y1=\"{y:.1}\" x2=\"{}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\n\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value} %</text>",
            left + width,
            left - 6.0,
            y + 4.0
        )?;
    }
    for budget in [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0] {
        let (x, y) = place(budget, 1e-9);
        writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\n\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{budget}</text>",
            y + 16.0
        )?;
    }
    writeln!(
        svg,
        "<text x=\"{}\" y=\"438\" text-anchor=\"middle\">iterations per step</text>",
        left + 0.5 * width
    )?;
    let mut x = left;
    for ((_, name, colour), errors) in METHODS.into_iter().zip(errors) {
        let places = BUDGETS.iter().zip(errors).map(|(b, e)| place(f64::from(*b), *e));
        let path: Vec<String> = places.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n\
             <rect x=\"{x:.1}\" y=\"36\" width=\"10\" height=\"10\" fill=\"{colour}\"/>\n\
             <text x=\"{:.1}\" y=\"46\">{name}</text>",
            path.join(" "),
            x + 15.0
        )?;
        x += 40.0 + 7.0 * name.len() as f64;
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}
