//! How long pictures take: a cloth of 200 × 200 vertices with shadows, by the graphics driver and by the CPU rasteriser.
//!
//! The cloth is the one of `w1-200`, some frames into its fall; every picture shows another frame, so that all vertices
//! are sent anew.

use serde::Serialize;
use souple::Simulation;
use souple_formats::scene::read_scene;
use souple_viewer::{Artist, Camera, Capture, Looks, Marks, Moment, WhichRenderer};

use super::workloads::{Runs, build};
use crate::args::BenchArgs;
use crate::failure::Failure;
use crate::report::note;

/// Size of the pictures, pixels.
const SIZE: (u32, u32) = (1280, 720);
/// Pictures that are drawn unless another number is asked for.
const PICTURES: u32 = 30;
/// Pictures that are drawn before the clock counts: the first ones compile shaders and fill caches.
const WARM_UP: usize = 2;

/// Figures of one renderer.
#[derive(Clone, Debug, Serialize)]
pub struct ViewerFigures {
    /// Name of the renderer.
    pub renderer: String,
    /// Width and height, pixels.
    pub size: [u32; 2],
    /// Pictures that were timed.
    pub pictures: usize,
    /// Vertices of the cloth.
    pub vertices: usize,
    /// Median time of a whole picture, ms.
    pub ms_median: f64,
    /// Slowest picture, ms.
    pub ms_worst: f64,
    /// Mean time to compute normals and send vertices, ms.
    pub upload_ms: f64,
    /// Mean time to draw, ms.
    pub draw_ms: f64,
    /// Mean time to bring the pixels back, ms.
    pub read_back_ms: f64,
    /// Mean upload time per vertex, ns; 0 for the CPU rasteriser, which sends nothing.
    pub upload_ns_per_vertex: f64,
}

/// Times both renderers; without a graphics driver only the CPU rasteriser.
pub fn time(args: &BenchArgs) -> Result<Vec<ViewerFigures>, Failure> {
    let text = include_str!("../../../../scenes/bench/w1-200.toml");
    let scene = read_scene(text, "scenes/bench/w1-200.toml")?.scene;
    let mut simulation = Simulation::new(build(&scene)?)
        .with_threads(Runs::of(args).first().map_or(0, |runs| runs.threads))
        .map_err(|error| Failure::input(error.to_string(), "ask for fewer threads"))?;
    let mut capture = Capture::new(&scene, simulation.model());
    let pictures = args.frames.unwrap_or(PICTURES) as usize;
    let mut moments = Vec::new();
    for _ in 0..pictures + WARM_UP {
        simulation.step();
        moments.push(capture.moment(&simulation));
    }
    let aspect = SIZE.0 as f32 / SIZE.1 as f32;
    let camera = Camera::fitted(moments.iter().flat_map(|moment| moment.points(false)), aspect);
    let looks = Looks::of_scene(&scene, |_| None);
    let mut figures = Vec::new();
    for which in [WhichRenderer::Gpu, WhichRenderer::Cpu] {
        match Artist::new(which) {
            Ok(mut artist) => figures.push(time_artist(&mut artist, &moments, &looks, &camera)?),
            Err(error) => note(&format!("viewer: left out: {error}")),
        }
    }
    Ok(figures)
}

fn time_artist(
    artist: &mut Artist,
    moments: &[Moment],
    looks: &Looks,
    camera: &Camera,
) -> Result<ViewerFigures, Failure> {
    let mut parts = [0.0; 3];
    let mut totals = Vec::new();
    let mut sent = 0;
    for (number, moment) in moments.iter().enumerate() {
        artist
            .draw(moment, looks, &Marks::default(), camera, SIZE)
            .map_err(|error| Failure::input(error.to_string(), "see `souple render --renderer cpu`"))?;
        if number < WARM_UP {
            continue;
        }
        let timings = artist.timings();
        let ms = [timings.upload, timings.draw, timings.read_back].map(|part| part.as_secs_f64() * 1e3);
        parts.iter_mut().zip(ms).for_each(|(sum, part)| *sum += part);
        totals.push(ms.iter().sum::<f64>());
        sent = timings.vertices;
    }
    totals.sort_by(f64::total_cmp);
    let count = totals.len().max(1) as f64;
    let [upload_ms, draw_ms, read_back_ms] = parts.map(|sum: f64| sum / count);
    let body_vertices = moments.last().map_or(0, |moment| moment.points(true).count());
    Ok(ViewerFigures {
        renderer: artist.name().to_owned(),
        size: [SIZE.0, SIZE.1],
        pictures: totals.len(),
        vertices: body_vertices,
        ms_median: totals.get(totals.len() / 2).copied().unwrap_or(0.0),
        ms_worst: totals.last().copied().unwrap_or(0.0),
        upload_ms,
        draw_ms,
        read_back_ms,
        upload_ns_per_vertex: if sent > 0 { upload_ms * 1e6 / sent as f64 } else { 0.0 },
    })
}

impl ViewerFigures {
    /// For people.
    pub fn line(&self) -> String {
        // The CPU rasteriser sends nothing and brings nothing back.
        let part = |value: f64, unit: &str, digits: usize| match value > 0.0 {
            true => format!("{value:.digits$} {unit}"),
            false => "–".to_owned(),
        };
        format!(
            "{:<40} {:>6} vertices {:>4} × {:<4} pixels  {:>9.3} ms/picture (worst {:>8.2})  upload {}  draw {:.3} ms  read back {}  {:>16} of upload",
            format!("viewer/{}", self.renderer),
            self.vertices,
            self.size[0],
            self.size[1],
            self.ms_median,
            self.ms_worst,
            part(self.upload_ms, "ms", 3),
            self.draw_ms,
            part(self.read_back_ms, "ms", 3),
            part(self.upload_ns_per_vertex, "ns/vertex", 1),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_renderer_does_not_do_has_no_time() {
        let mut figures = ViewerFigures {
            renderer: "CPU rasteriser".into(),
            size: [8, 6],
            pictures: 1,
            vertices: 9,
            ms_median: 2.0,
            ms_worst: 3.0,
            upload_ms: 0.0,
            draw_ms: 2.0,
            read_back_ms: 0.0,
            upload_ns_per_vertex: 0.0,
        };
        let line = figures.line();
        assert!(
            line.contains("upload –  draw 2.000 ms  read back –  ") && line.ends_with(" – of upload"),
            "{line}"
        );
        (figures.upload_ms, figures.read_back_ms, figures.upload_ns_per_vertex) = (0.25, 0.5, 12.5);
        let line = figures.line();
        assert!(line.contains("upload 0.250 ms  draw 2.000 ms  read back 0.500 ms"), "{line}");
        assert!(line.ends_with("12.5 ns/vertex of upload"), "{line}");
    }
}
