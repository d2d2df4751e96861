//! Images on the GPU: textures of looks, the cube map of the surroundings, the targets of a picture.

use souple_formats::picture::Picture;

use super::pipelines::DEPTH;
use super::{COLOUR, SHADOW_SIZE};
use crate::environment::{CUBE_LEVELS, CUBE_SIZE, Surroundings};

/// What a picture is drawn into.
#[derive(Debug)]
pub(super) struct Target {
    pub size: (u32, u32),
    pub texture: wgpu::Texture,
    pub view: wgpu::TextureView,
    /// Several samples per pixel, when there are several.
    pub samples: Option<wgpu::TextureView>,
    pub depth: wgpu::TextureView,
}

impl Target {
    pub fn new(device: &wgpu::Device, size: (u32, u32), samples: u32) -> Target {
        let attachment = wgpu::TextureUsages::RENDER_ATTACHMENT;
        let make = |label, format, sample_count, usage| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size: wgpu::Extent3d { width: size.0, height: size.1, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage,
                view_formats: &[],
            })
        };
        let usage = attachment | wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::TEXTURE_BINDING;
        let texture = make("picture", COLOUR, 1, usage);
        let view = |texture: &wgpu::Texture| texture.create_view(&Default::default());
        let depth = view(&make("depth", DEPTH, samples, attachment));
        let samples = (samples > 1).then(|| view(&make("samples", COLOUR, samples, attachment)));
        Target { size, view: view(&texture), samples, depth, texture }
    }
}

/// The map of shadows.
pub(super) fn shadow_map(device: &wgpu::Device) -> wgpu::TextureView {
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("shadows"),
        size: wgpu::Extent3d { width: SHADOW_SIZE, height: SHADOW_SIZE, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: DEPTH,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    });
    texture.create_view(&Default::default())
}

/// The cube map of the surroundings.
pub(super) fn surroundings(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    surroundings: &Surroundings,
) -> wgpu::TextureView {
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("surroundings"),
        size: wgpu::Extent3d { width: CUBE_SIZE, height: CUBE_SIZE, depth_or_array_layers: 6 },
        mip_level_count: CUBE_LEVELS,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba16Float,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    for (level, faces) in (0u32..).zip(surroundings.cube()) {
        let size = (CUBE_SIZE >> level).max(1);
        for (face, pixels) in (0u32..).zip(&faces) {
            let halves: Vec<u16> =
                pixels.iter().flat_map(|c| [half(c.x), half(c.y), half(c.z), half(1.0)]).collect();
            let place = wgpu::TexelCopyTextureInfo {
                texture: &texture,
                mip_level: level,
                origin: wgpu::Origin3d { x: 0, y: 0, z: face },
                aspect: wgpu::TextureAspect::All,
            };
            write(queue, place, bytemuck::cast_slice(&halves), size, size, 8);
        }
    }
    texture.create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::Cube),
        ..Default::default()
    })
}

/// The texture of a look, with smaller levels so that it does not flicker far away.
pub(super) fn texture(device: &wgpu::Device, queue: &wgpu::Queue, picture: &Picture) -> wgpu::TextureView {
    let max = device.limits().max_texture_dimension_2d;
    let mut levels = vec![picture.clone()];
    // Until one side is a single pixel: what is left of a long strip is not worth its own filter.
    while let Some(last) = levels.last().filter(|p| p.width > 1 && p.height > 1) {
        levels.push(last.scaled_down(2));
    }
    // A picture that is too large for the device begins with the first level that is not.
    let first = levels.iter().position(|p| p.width <= max && p.height <= max).unwrap_or(levels.len() - 1);
    let levels = &levels[first..];
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("texture"),
        size: wgpu::Extent3d {
            width: levels[0].width.max(1),
            height: levels[0].height.max(1),
            depth_or_array_layers: 1,
        },
        mip_level_count: levels.len() as u32,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8UnormSrgb,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    for (level, picture) in (0u32..).zip(levels) {
        let place = wgpu::TexelCopyTextureInfo {
            texture: &texture,
            mip_level: level,
            origin: wgpu::Origin3d::ZERO,
            aspect: wgpu::TextureAspect::All,
        };
        write(queue, place, &picture.rgba, picture.width, picture.height, 4);
    }
    texture.create_view(&Default::default())
}

fn write(
    queue: &wgpu::Queue,
    place: wgpu::TexelCopyTextureInfo<'_>,
    bytes: &[u8],
    width: u32,
    height: u32,
    pixel_bytes: u32,
) {
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(width * pixel_bytes),
        rows_per_image: None,
    };
    let size = wgpu::Extent3d { width, height, depth_or_array_layers: 1 };
    queue.write_texture(place, bytes, layout, size);
}

/// A number from 0 to 65504 as a half-precision float, rounded down.
fn half(value: f32) -> u16 {
    let value = value.clamp(0.0, 65504.0);
    let bits = value.to_bits();
    let exponent = (bits >> 23) as i32 - 127 + 15;
    match exponent {
        // Smaller than any normal half: a multiple of 2^-24.
        ..=0 => (value * 16_777_216.0) as u16,
        _ => (exponent as u16) << 10 | (bits >> 13 & 0x3ff) as u16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_what_the_standard_says() {
        let cases = [
            (0.0, 0),
            (1.0, 0x3c00),
            (0.5, 0x3800),
            (1.5, 0x3e00),
            (65504.0, 0x7bff),
            (1e9, 0x7bff),
            (-1.0, 0),
            (6.103_515_6e-5, 0x0400),
            (5.960_464_5e-8, 0x0001),
        ];
        for (value, expected) in cases {
            assert_eq!(half(value), expected, "{value}");
        }
    }
}
