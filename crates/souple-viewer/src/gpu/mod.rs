//! Draws on a GPU, or on a driver that does the same in software, through wgpu (SIM-38).
//!
//! [`Gpu`] finds a device without a window; [`Renderer`] works on any device, so that a window can share its own.

mod buffers;
mod pipelines;
mod renderer;
mod textures;

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

pub use renderer::Renderer;

/// Colour format of pictures: 8 bits; shaders write sRGB values.
pub const COLOUR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
/// Samples per pixel of a good picture. One is several times faster on drivers in software.
pub const SAMPLES: u32 = 4;
/// Sides of the map of shadows, pixels.
pub const SHADOW_SIZE: u32 = 1024;

/// How long a frame may take before the driver counts as stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why nothing can be drawn on a GPU.
#[derive(Clone, Debug, Error)]
pub enum GpuError {
    /// No driver was found.
    #[error(
        "no graphics driver was found: {0}; install one that works in software (Debian: mesa-vulkan-drivers), or use the \
         CPU rasteriser"
    )]
    NoAdapter(String),
    /// The driver refused a device.
    #[error("the graphics driver '{driver}' gives no device: {problem}")]
    NoDevice {
        /// Name of the driver.
        driver: String,
        /// What it says.
        problem: String,
    },
    /// The picture did not come back.
    #[error("the graphics driver did not finish the picture: {0}")]
    Lost(String),
}

/// A device without a window.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    /// Name of the driver, for people.
    pub name: Arc<str>,
    /// Largest side of a picture, pixels.
    pub max_size: u32,
}

impl Gpu {
    /// Finds a driver that needs no window; one in software counts.
    pub fn headless() -> Result<Gpu, GpuError> {
        // OpenGL only if there is nothing newer: looking for it costs time, and its libraries talk to the terminal.
        // WGPU_BACKEND=gl asks for it all the same.
        let adapter = [wgpu::Backends::PRIMARY, wgpu::Backends::SECONDARY].into_iter().find_map(find_adapter);
        let adapter =
            adapter.ok_or_else(|| GpuError::NoAdapter("neither Vulkan, Metal, DirectX nor OpenGL".into()))?;
        let info = adapter.get_info();
        let name = format!("{} ({:?})", info.name, info.backend);
        let limits = adapter.limits();
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("souple"),
            required_limits: wgpu::Limits {
                max_buffer_size: limits.max_buffer_size,
                ..wgpu::Limits::downlevel_defaults().using_resolution(limits.clone())
            },
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|error| GpuError::NoDevice { driver: name.clone(), problem: error.to_string() })?;
        Ok(Gpu { device, queue, name: name.into(), max_size: limits.max_texture_dimension_2d })
    }

    /// Waits until everything that was asked for is drawn.
    pub fn wait(&self) -> Result<(), GpuError> {
        wait(&self.device)
    }
}

/// A driver of one of those kinds that needs no window.
fn find_adapter(backends: wgpu::Backends) -> Option<wgpu::Adapter> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    descriptor.backends &= backends;
    if descriptor.backends.is_empty() {
        return None;
    }
    let instance = wgpu::Instance::new(descriptor);
    let power_preference = wgpu::PowerPreference::HighPerformance;
    let options = wgpu::RequestAdapterOptions { power_preference, ..Default::default() };
    pollster::block_on(instance.request_adapter(&options)).ok()
}

/// Runs something on a device; what the device refuses meanwhile is the message, not the end of the program.
fn guarded<T>(device: &wgpu::Device, run: impl FnOnce() -> T) -> (T, Option<String>) {
    let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let done = run();
    let refused = pollster::block_on(validation.pop());
    let too_large = pollster::block_on(memory.pop());
    (done, refused.or(too_large).map(|error| error.to_string()))
}

/// Waits until everything that was asked of a device is done.
fn wait(device: &wgpu::Device) -> Result<(), GpuError> {
    let poll = wgpu::PollType::Wait { submission_index: None, timeout: Some(PATIENCE) };
    device.poll(poll).map(|_| ()).map_err(|error| GpuError::Lost(error.to_string()))
}
