//! The comparison of integrators as an SVG picture: three panels of bars on logarithmic axes.

use std::fmt::Write;

use super::integrators::Comparison;

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
