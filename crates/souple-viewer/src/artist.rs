//! Pictures without a window: on a graphics driver if there is one, else by the CPU rasteriser.

use std::time::{Duration, Instant};

use souple_formats::picture::Picture;
use thiserror::Error;

use crate::camera::Camera;
use crate::capture::Moment;
use crate::cpu;
use crate::gpu::{Gpu, GpuError, Renderer, SAMPLES};
use crate::looks::{Looks, Marks};
use crate::overlay;
use crate::style::StyleSheet;

/// Largest side of a picture, pixels.
pub const MAX_SIZE: u32 = 16_384;

/// Which renderer to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhichRenderer {
    /// A graphics driver if there is one, else the CPU rasteriser.
    #[default]
    Auto,
    /// A graphics driver, or an error.
    Gpu,
    /// The CPU rasteriser.
    Cpu,
}

/// Why there is no picture.
#[derive(Clone, Debug, Error)]
pub enum ArtistError {
    /// The graphics driver failed.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The picture cannot have that size.
    #[error("a picture of {width} × {height} pixels cannot be drawn; give 1 to {max} for each")]
    Size {
        /// Width that was asked for, pixels.
        width: u32,
        /// Height that was asked for, pixels.
        height: u32,
        /// Largest side, pixels.
        max: u32,
    },
}

/// What the parts of the last picture took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timings {
    /// Normals, colours, and sending the vertices to the device.
    pub upload: Duration,
    /// Drawing, until the device is done.
    pub draw: Duration,
    /// Bringing the pixels back.
    pub read_back: Duration,
    /// Vertices that were sent.
    pub vertices: usize,
}

/// Draws pictures without a window.
#[derive(Debug)]
pub struct Artist {
    /// The styles it knows; add your own with [`StyleSheet::set`].
    pub styles: StyleSheet,
    gpu: Option<(Gpu, Box<Renderer>)>,
    why_not_gpu: Option<GpuError>,
    timings: Timings,
}

impl Artist {
    /// An artist with that renderer.
    pub fn new(which: WhichRenderer) -> Result<Artist, ArtistError> {
        let gpu = match which {
            WhichRenderer::Cpu => None,
            WhichRenderer::Auto | WhichRenderer::Gpu => Some(Gpu::headless()),
        };
        let (gpu, why_not_gpu) = match gpu {
            Some(Ok(gpu)) => {
                let renderer = Box::new(Renderer::new(&gpu.device, &gpu.queue, SAMPLES));
                (Some((gpu, renderer)), None)
            }
            Some(Err(error)) if which == WhichRenderer::Gpu => return Err(error.into()),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        Ok(Artist { styles: StyleSheet::built_in(), gpu, why_not_gpu, timings: Timings::default() })
    }

    /// Name of the renderer, for people.
    pub fn name(&self) -> &str {
        self.gpu.as_ref().map_or("CPU rasteriser", |(gpu, _)| &gpu.name)
    }

    /// Why no graphics driver is used, when one was looked for.
    pub fn why_not_gpu(&self) -> Option<&GpuError> {
        self.why_not_gpu.as_ref()
    }

    /// Styles of the looks that this renderer draws as standard, because only a graphics driver can do them.
    pub fn missing_styles(&self, looks: &Looks) -> Vec<String> {
        let mut missing = Vec::new();
        if self.gpu.is_none() {
            let styles = looks.bodies.iter().chain(&looks.colliders).map(|look| look.style.to_string());
            missing.extend(styles.filter(|style| !cpu::STYLES.contains(&style.as_str())));
            missing.sort();
            missing.dedup();
        }
        missing
    }

    /// Draws a picture; with a legend when colours show a quantity.
    pub fn draw(
        &mut self,
        moment: &Moment,
        looks: &Looks,
        marks: &Marks,
        camera: &Camera,
        (width, height): (u32, u32),
    ) -> Result<Picture, ArtistError> {
        let max = self.gpu.as_ref().map_or(MAX_SIZE, |(gpu, _)| gpu.max_size.min(MAX_SIZE));
        if !(1..=max).contains(&width) || !(1..=max).contains(&height) {
            return Err(ArtistError::Size { width, height, max });
        }
        let clock = Instant::now();
        let mut picture = match &mut self.gpu {
            Some((gpu, renderer)) => {
                renderer.draw(moment, looks, marks, &self.styles, camera, (width, height));
                if let Some(fault) = renderer.fault() {
                    return Err(GpuError::Lost(fault.to_owned()).into());
                }
                gpu.wait()?;
                let drawn = clock.elapsed();
                let picture = renderer.read_back()?;
                let (upload, vertices) = renderer.upload();
                let read_back = clock.elapsed() - drawn;
                self.timings = Timings { upload, draw: drawn.saturating_sub(upload), read_back, vertices };
                picture
            }
            None => {
                let picture = cpu::draw(moment, looks, marks, &self.styles, camera, (width, height));
                self.timings = Timings { draw: clock.elapsed(), ..Timings::default() };
                picture
            }
        };
        // A legend of colours that were not drawn would be a lie.
        let drawn = |style: &str| self.gpu.is_some() || cpu::STYLES.contains(&style);
        if let Some((quantity, range)) = looks.legend(&self.styles, drawn) {
            overlay::draw_legend(&mut picture, quantity, range);
        }
        Ok(picture)
    }

    /// What the driver said of styles that it refused: name of the style and message. They are not drawn.
    pub fn refused_styles(&self) -> Vec<(String, String)> {
        let refused = self.gpu.iter().flat_map(|(_, renderer)| renderer.refused_styles());
        refused.map(|(name, message)| (name.to_owned(), message.to_owned())).collect()
    }

    /// What the parts of the last picture took.
    pub fn timings(&self) -> Timings {
        self.timings
    }
}
