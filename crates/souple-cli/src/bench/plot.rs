//! Comparisons as SVG pictures: integrators as three panels of bars, methods as two panels of points, beams as lines, all on
//! logarithmic axes.

use std::fmt::Write;

use super::convergence::{self, ELEMENTS, EXACT_MM};
use super::integrators::Comparison;
use super::methods::{PEERS, Row};
use super::multigrid::{self, ACROSS, DRAWN};

const WIDTH: f64 = 1080.0;
const ROW: f64 = 26.0;
const LABELS: f64 = 190.0;
const PANEL: f64 = 270.0;
const GAP: f64 = 26.0;
const TOP: f64 = 70.0;

/// A panel: title, colour, a number per row, and how it is written.
struct Panel {
    title: &'static str,
    colour: &'static str,
    values: Vec<f64>,
    text: Vec<String>,
}

/// The picture.
pub fn integrators(rows: &[Comparison]) -> String {
    let panels = [
        Panel {
            title: "longest stable step (longer is better)",
            colour: "#4c78a8",
            values: rows.iter().map(|r| r.stable_step_s).collect(),
            text: rows.iter().map(|r| seconds(r.stable_step_s)).collect(),
        },
        Panel {
            title: "cost per simulated second (shorter is better)",
            colour: "#f58518",
            values: rows.iter().map(|r| r.cost_ms_per_s).collect(),
            text: rows.iter().map(|r| format!("{:.1} ms", r.cost_ms_per_s)).collect(),
        },
        Panel {
            title: "energy drift in 2 s, undamped (shorter is better)",
            colour: "#54a24b",
            values: rows.iter().map(|r| r.energy_drift.abs()).collect(),
            text: rows.iter().map(|r| drift(r.energy_drift)).collect(),
        },
    ];
    let height = TOP + ROW * rows.len() as f64 + 20.0;
    let mut svg = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"12\" y=\"26\" font-size=\"17\" font-weight=\"bold\">One hanging cloth, {} integrators</text>",
        rows.len()
    );
    for (r, row) in rows.iter().enumerate() {
        let y = TOP + ROW * r as f64 + 17.0;
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\">{}</text>",
            LABELS - 8.0,
            row.solver.replace('_', " ")
        );
    }
    for (p, panel) in panels.iter().enumerate() {
        draw_panel(&mut svg, LABELS + p as f64 * (PANEL + GAP), panel);
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_panel(svg: &mut String, left: f64, panel: &Panel) {
    let finite = || panel.values.iter().copied().filter(|v| v.is_finite() && *v > 0.0);
    let low = finite().fold(f64::INFINITY, f64::min).log10().floor();
    let high = finite().fold(0.0, f64::max).log10().ceil().max(low + 1.0);
    // Room for the number at the end of the longest bar.
    let room = PANEL - 70.0;
    let place = |v: f64| ((v.log10() - low) / (high - low)).clamp(0.02, 1.0) * room;
    let bottom = TOP + ROW * panel.values.len() as f64;
    let _ = writeln!(svg, "<text x=\"{left}\" y=\"52\" font-size=\"12\">{}</text>", panel.title);
    for decade in 0..=(high - low) as i32 {
        let x = left + f64::from(decade) / (high - low) * room;
        let _ = writeln!(
            svg,
            "<line x1=\"{x}\" y1=\"{}\" x2=\"{x}\" y2=\"{bottom}\" stroke=\"#dddddd\"/>",
            TOP - 6.0
        );
    }
    for (r, (value, text)) in panel.values.iter().zip(&panel.text).enumerate() {
        let y = TOP + ROW * r as f64 + 3.0;
        let length = if value.is_finite() { place(*value) } else { room };
        let colour = if value.is_finite() { panel.colour } else { "#e45756" };
        let _ = writeln!(
            svg,
            "<rect x=\"{left}\" y=\"{y}\" width=\"{length:.1}\" height=\"18\" fill=\"{colour}\"/>\n\
             <text x=\"{:.1}\" y=\"{}\" font-size=\"12\">{text}</text>",
            left + length + 5.0,
            y + 14.0
        );
    }
}

fn seconds(s: f64) -> String {
    if s >= 0.1 { "≥ 100 ms".into() } else { format!("{:.2} ms", s * 1e3) }
}

fn drift(d: f64) -> String {
    if d.is_finite() { format!("{:+.2} %", d * 100.0) } else { "diverges".into() }
}

/// Width and height of a panel of points, and where the first one begins.
const FIELD: (f64, f64) = (450.0, 430.0);
const FIELD_LEFT: f64 = 62.0;
const FIELD_TOP: f64 = 84.0;
const FIELD_GAP: f64 = 70.0;

/// Colours of the solvers, in the order of the legend.
const COLOURS: [(&str, &str); 4] = [
    ("xpbd", "#e45756"),
    ("projective_dynamics", "#4c78a8"),
    ("vertex_block_descent", "#54a24b"),
    ("implicit_euler_cg", "#f58518"),
];

/// What is below the panels of methods.
const TIME: &str = "ms per frame, one thread";

/// A panel of points on two logarithmic axes.
struct Field {
    left: f64,
    /// Powers of ten at the ends of both axes.
    x: (f64, f64),
    y: (f64, f64),
}

impl Field {
    /// A panel whose axes begin and end at powers of ten around all points.
    fn around(left: f64, points: &[(f64, f64)]) -> Field {
        let ends = |values: &mut dyn Iterator<Item = f64>| {
            let (low, high) = values
                .filter(|v| v.is_finite() && *v > 0.0)
                .fold((f64::INFINITY, 0.0f64), |(low, high), v| (low.min(v), high.max(v)));
            if high == 0.0 { (0.0, 1.0) } else { (low.log10().floor(), high.log10().ceil()) }
        };
        let axis = |(low, high): (f64, f64)| (low, high.max(low + 1.0));
        Field {
            left,
            x: axis(ends(&mut points.iter().map(|p| p.0))),
            y: axis(ends(&mut points.iter().map(|p| p.1))),
        }
    }

    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let share = |v: f64, (low, high): (f64, f64)| (v.log10() - low) / (high - low);
        (self.left + FIELD.0 * share(x, self.x), FIELD_TOP + FIELD.1 * (1.0 - share(y, self.y)))
    }

    fn draw_axes(&self, svg: &mut String, title: &str, below: &str) {
        let (right, bottom) = (self.left + FIELD.0, FIELD_TOP + FIELD.1);
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\">{title}</text>", self.left, FIELD_TOP - 10.0);
        for power in self.x.0 as i32..=self.x.1 as i32 {
            let value = 10f64.powi(power);
            let (x, _) = self.place((value, 10f64.powf(self.y.0)));
            let _ = writeln!(
                svg,
                "<line x1=\"{x:.1}\" y1=\"{FIELD_TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\" stroke=\"#dddddd\"/>\n\
                 <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" font-size=\"12\">{value}</text>",
                bottom + 17.0
            );
        }
        for power in self.y.0 as i32..=self.y.1 as i32 {
            let value = 10f64.powi(power);
            let (_, y) = self.place((10f64.powf(self.x.0), value));
            let _ = writeln!(
                svg,
                "<line x1=\"{}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\n\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"12\">{value}</text>",
                self.left,
                self.left - 6.0,
                y + 4.0
            );
        }
        let middle = 0.5 * (self.left + right);
        let _ = writeln!(
            svg,
            "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\" font-size=\"12\">{below}</text>",
            bottom + 34.0
        );
    }

    /// Points of one solver and one mesh, joined by a line in the order of their times.
    fn draw_series(&self, svg: &mut String, n: u32, colour: &str, mut points: Vec<((f64, f64), String)>) {
        points.retain(|((x, y), _)| x.is_finite() && y.is_finite() && *x > 0.0 && *y > 0.0);
        points.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
        let places: Vec<(f64, f64)> = points.iter().map(|(p, _)| self.place(*p)).collect();
        let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-opacity=\"0.35\"/>",
            path.join(" ")
        );
        for ((x, y), (_, text)) in places.iter().zip(&points) {
            draw_mark(svg, n, colour, *x, *y);
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"9\" fill=\"{colour}\">{text}</text>",
                x + 6.0,
                y - 4.0
            );
        }
    }
}

/// A circle for 32 × 32, a square for 100 × 100, a diamond for 200 × 200.
fn draw_mark(svg: &mut String, n: u32, colour: &str, x: f64, y: f64) {
    let _ = match n {
        32 => writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>"),
        100 => writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\" fill=\"{colour}\"/>",
            x - 4.0,
            y - 4.0
        ),
        _ => writeln!(svg, "<path d=\"M{x:.1} {:.1} l6 6 l-6 6 l-6 -6 z\" fill=\"{colour}\"/>", y - 6.0),
    };
}

/// The picture of methods: stretch and motion error against time.
pub fn methods(rows: &[Row]) -> String {
    let (width, height) = (FIELD_LEFT + 2.0 * FIELD.0 + FIELD_GAP + 30.0, FIELD_TOP + FIELD.1 + 46.0);
    let mut svg = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"12\" y=\"24\" font-size=\"17\" font-weight=\"bold\">One stiff cloth that swings from two corners: lower left is better</text>"
    );
    let mut x = 12.0;
    for (solver, colour) in COLOURS {
        draw_mark(&mut svg, 100, colour, x + 4.0, 44.0);
        let name = solver.replace('_', " ");
        let _ = writeln!(svg, "<text x=\"{}\" y=\"48\" font-size=\"12\">{name}</text>", x + 13.0);
        x += 38.0 + 6.4 * name.len() as f64;
    }
    for (n, name) in [(32, "32²"), (100, "100²"), (200, "200²")] {
        draw_mark(&mut svg, n, "#777777", x + 4.0, 44.0);
        let _ = writeln!(svg, "<text x=\"{}\" y=\"48\" font-size=\"12\">{name}</text>", x + 13.0);
        x += 52.0;
    }
    draw_cross(&mut svg, x + 4.0, 44.0);
    let _ = writeln!(svg, "<text x=\"{}\" y=\"48\" font-size=\"12\">others, elsewhere</text>", x + 13.0);

    let stretch = |r: &Row| (r.ms_min, r.stretch_mean_percent);
    let motion = |r: &Row| (r.ms_min, r.com_error_mm);
    let peers = PEERS.iter().map(|p| (p.ms, p.stretch_percent));
    let all: Vec<(f64, f64)> = rows.iter().map(stretch).chain(peers).collect();
    let left = Field::around(FIELD_LEFT, &all);
    // The same times in both panels.
    let all: Vec<(f64, f64)> = rows.iter().map(motion).collect();
    let right = Field { x: left.x, ..Field::around(FIELD_LEFT + FIELD.0 + FIELD_GAP, &all) };
    left.draw_axes(&mut svg, "mean stretch at the end, %", TIME);
    right.draw_axes(&mut svg, "error of the motion over 2 s, mm (centre of mass, rms)", TIME);
    let mut lowest = f64::NEG_INFINITY;
    for peer in &PEERS {
        let (x, y) = left.place((peer.ms, peer.stretch_percent));
        draw_cross(&mut svg, x, y);
        // Names that would lie on the one before go below their mark, or to its left near the edge.
        let (dy, anchor, dx) = match (y - lowest).abs() < 9.0 {
            true => (13.0, "middle", 0.0),
            false if x > left.left + 0.8 * FIELD.0 => (4.0, "end", -7.0),
            false => (-6.0, "start", 3.0),
        };
        lowest = y;
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"10\" fill=\"#555555\" text-anchor=\"{anchor}\">{}</text>",
            x + dx,
            y + dy,
            peer.name
        );
    }
    for (field, point) in [(&left, &stretch as &dyn Fn(&Row) -> (f64, f64)), (&right, &motion)] {
        for n in [32, 100, 200] {
            for (solver, colour) in COLOURS {
                let own = rows.iter().filter(|r| r.n == n && r.solver == solver);
                let text = |r: &Row| match r.iterations {
                    0 => format!("{}", r.substeps),
                    rounds => format!("{}×{rounds}", r.substeps),
                };
                field.draw_series(&mut svg, n, colour, own.map(|r| (point(r), text(r))).collect());
            }
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_cross(svg: &mut String, x: f64, y: f64) {
    let _ = writeln!(
        svg,
        "<path d=\"M{:.1} {:.1} l8 8 m0 -8 l-8 8\" stroke=\"#555555\" stroke-width=\"1.5\"/>",
        x - 4.0,
        y - 4.0
    );
}

/// The picture of beams: how far their end drops, and how far that is from the beam of no mesh, against the number of vertices.
pub fn convergence(rows: &[convergence::Row]) -> String {
    let (width, height) = (FIELD_LEFT + 2.0 * FIELD.0 + FIELD_GAP + 30.0, FIELD_TOP + FIELD.1 + 46.0);
    let mut svg = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"12\" y=\"24\" font-size=\"17\" font-weight=\"bold\">A clamped beam that sags under its weight, ν = 0.45</text>"
    );
    let series: Vec<(&str, &str)> =
        ELEMENTS.iter().zip(["#4c78a8", "#72b7b2", "#f58518", "#e45756"]).map(|(e, c)| (e.0, c)).collect();
    let mut x = 12.0;
    for (name, colour) in &series {
        draw_mark(&mut svg, 32, colour, x + 4.0, 44.0);
        let _ = writeln!(svg, "<text x=\"{}\" y=\"48\" font-size=\"12\">{name}</text>", x + 13.0);
        x += 38.0 + 6.4 * name.len() as f64;
    }
    let drop = |r: &convergence::Row| (r.vertices as f64, r.tip_drop_mm);
    let error = |r: &convergence::Row| (r.vertices as f64, r.error_percent().abs());
    let around = |left: f64, point: &dyn Fn(&convergence::Row) -> (f64, f64)| {
        Field::around(left, &rows.iter().map(point).collect::<Vec<_>>())
    };
    let (left, right) = (around(FIELD_LEFT, &drop), around(FIELD_LEFT + FIELD.0 + FIELD_GAP, &error));
    left.draw_axes(&mut svg, "drop of the end, mm", "vertices");
    right.draw_axes(&mut svg, "distance from the beam of no mesh, %", "vertices");
    let (start, y) = left.place((10f64.powf(left.x.0), EXACT_MM));
    let _ = writeln!(
        svg,
        "<line x1=\"{start:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"#555555\" stroke-dasharray=\"5 4\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\" fill=\"#555555\">{EXACT_MM} mm</text>",
        start + FIELD.0,
        start + 6.0,
        y - 5.0
    );
    for (field, point) in [(&left, &drop as &dyn Fn(&convergence::Row) -> (f64, f64)), (&right, &error)] {
        for (name, colour) in &series {
            let own = rows.iter().filter(|r| r.elements == *name);
            let points = own.map(|r| (point(r), String::new())).collect();
            field.draw_series(&mut svg, 32, colour, points);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// The picture of preconditioners: error against time, iterations against nodes, what a budget does.
pub fn multigrid(figures: &multigrid::Figures) -> String {
    let width = FIELD_LEFT + 3.0 * FIELD.0 + 2.0 * FIELD_GAP + 30.0;
    let height = FIELD_TOP + FIELD.1 + 46.0;
    let mut svg = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"12\" y=\"24\" font-size=\"17\" font-weight=\"bold\">A bending beam of hexahedra by conjugate gradients with four preconditioners</text>"
    );
    let names = multigrid::METHODS.into_iter().take(DRAWN).map(|m| m.0);
    let series: Vec<(&str, &str)> = names.zip(["#f58518", "#54a24b", "#4c78a8", "#e45756"]).collect();
    let mut x = 12.0;
    for (name, colour) in &series {
        draw_mark(&mut svg, 100, colour, x + 4.0, 44.0);
        let _ = writeln!(svg, "<text x=\"{}\" y=\"48\" font-size=\"12\">{name}</text>", x + 13.0);
        x += 38.0 + 6.4 * name.len() as f64;
    }
    // The two finest beams in the first panel: more would lie upon each other.
    let sizes = [(ACROSS[2], 32), (ACROSS[3], 200)];
    for (across, mark) in sizes {
        draw_mark(&mut svg, mark, "#777777", x + 4.0, 44.0);
        let along = 4 * across;
        let text = format!("{along} × {across} × {across} cells");
        let _ = writeln!(svg, "<text x=\"{}\" y=\"48\" font-size=\"12\">{text}</text>", x + 13.0);
        x += 150.0;
    }
    let of = |name: &'static str| figures.rows.iter().filter(move |r| r.preconditioner == name);
    let drawn = || figures.rows.iter().filter(|r| series.iter().any(|(name, _)| *name == r.preconditioner));
    let point = |p: &multigrid::Point| (p.ms, p.error);
    let all: Vec<(f64, f64)> =
        drawn().filter(|r| r.cells[1] >= ACROSS[2]).flat_map(|r| r.points.iter().map(point)).collect();
    let left = Field::around(FIELD_LEFT, &all);
    let counts: Vec<(f64, f64)> = drawn().map(|r| (r.nodes as f64, f64::from(r.iterations_bent))).collect();
    let middle = Field::around(FIELD_LEFT + FIELD.0 + FIELD_GAP, &counts);
    let budget = |b: &multigrid::Budget| (f64::from(b.iterations), b.error_percent);
    let all: Vec<(f64, f64)> = figures.budgets.iter().map(budget).collect();
    let right = Field::around(FIELD_LEFT + 2.0 * (FIELD.0 + FIELD_GAP), &all);
    left.draw_axes(&mut svg, "error of a step, relative", "ms per step, one thread");
    middle.draw_axes(&mut svg, "iterations to 1e-6", "nodes");
    right.draw_axes(&mut svg, "few iterations: error of the tip over a second, %", "iterations per step");
    for (name, colour) in &series {
        for (across, mark) in sizes {
            let rows = of(name).filter(|r| r.cells[1] == across);
            let points = rows.flat_map(|r| r.points.iter().map(point)).map(|p| (p, String::new())).collect();
            left.draw_series(&mut svg, mark, colour, points);
        }
        let counts = of(name).map(|r| ((r.nodes as f64, f64::from(r.iterations_bent)), String::new()));
        middle.draw_series(&mut svg, 100, colour, counts.collect());
        let own = figures.budgets.iter().filter(|b| b.preconditioner == *name);
        right.draw_series(&mut svg, 100, colour, own.map(|b| (budget(b), String::new())).collect());
    }
    svg.push_str("</svg>\n");
    svg
}
