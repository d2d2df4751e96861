//! Pictures: PNG and JPEG in, PNG and animated GIF out (ESSI-63, ESSI-64, ESSI-70: images of styles; results of the viewer).
//!
//! A [`Picture`] has 8 bits per channel in sRGB, straight alpha, rows from the top. [`read_picture`] tells the format by
//! the first bytes. PNG (ISO/IEC 15948, by the `png` crate) is read in all its variants, of 16 bits per channel the
//! upper 8, of an animated one the first frame. JPEG (ITU-T T.81, a reader of our own, so that no bytes can make it
//! panic) is read as grey or colour, sequential or progressive; not as CMYK, lossless or with arithmetic coding. Colour profiles,
//! gamma and the orientation in EXIF are ignored.
//!
//! Promises, for any bytes at all: no panic, and memory in proportion to the bytes and within [`PictureLimits`]: a size
//! that the file only announces is refused before anything is allocated for it.

mod gif;
mod jpeg;
mod palette;

pub use self::gif::{GifWriter, gif_frame_step};

use std::fmt;
use std::io::Cursor;

use thiserror::Error;

/// Bytes of a pixel.
const RGBA: usize = 4;
/// The most that a byte of compressed PNG data can become, by the limits of deflate.
const MOST_INFLATED: u64 = 1032;

/// An image in memory: 8-bit sRGB with straight alpha, rows from the top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// Width, pixels.
    pub width: u32,
    /// Height, pixels.
    pub height: u32,
    /// Red, green, blue and alpha of every pixel, row by row: 4 × width × height bytes.
    pub rgba: Vec<u8>,
}

/// The picture formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// Portable Network Graphics.
    Png,
    /// JPEG in a JFIF, EXIF or Adobe file.
    Jpeg,
}

impl fmt::Display for PictureFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PictureFormat::Png => "PNG",
            PictureFormat::Jpeg => "JPEG",
        })
    }
}

/// The most that [`read_picture`] takes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureLimits {
    /// Most pixels in a row.
    pub max_width: u32,
    /// Most rows.
    pub max_height: u32,
    /// Most pixels in all. Reading needs up to 13 bytes for each (JPEG with chroma for every pixel).
    pub max_pixels: u64,
    /// Most bytes of the file.
    pub max_bytes: usize,
}

impl Default for PictureLimits {
    fn default() -> Self {
        PictureLimits { max_width: 16_384, max_height: 16_384, max_pixels: 64 << 20, max_bytes: 256 << 20 }
    }
}

/// Why a picture cannot be read or written: what, where, and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PictureError {
    /// There is not a single byte.
    #[error("the picture file is empty (0 bytes); export or copy it again")]
    Empty,
    /// The first bytes are of no known format.
    #[error("this is neither PNG nor JPEG by its first bytes; convert the picture to .png or .jpg")]
    UnknownFormat,
    /// The file is larger than [`PictureLimits::max_bytes`].
    #[error("{format}: the file has {bytes} bytes, the limit is {limit}; use a smaller picture")]
    FileTooLarge {
        /// Format of the file.
        format: PictureFormat,
        /// Size of the file.
        bytes: usize,
        /// The limit it exceeds.
        limit: usize,
    },
    /// The picture has more pixels than [`PictureLimits`] allows.
    #[error(
        "{format}: the picture is {width} × {height} pixels; at most {max_width} × {max_height} and {max_pixels} in \
         all are read, so scale it down"
    )]
    TooLarge {
        /// Format of the file.
        format: PictureFormat,
        /// Width that the file announces.
        width: u32,
        /// Height that the file announces.
        height: u32,
        /// Widest that is read.
        max_width: u32,
        /// Highest that is read.
        max_height: u32,
        /// Most pixels that are read.
        max_pixels: u64,
    },
    /// The file does not follow its format.
    #[error("{format}{}: {what}; the file is damaged or cut short, export or copy it again", Place(*byte))]
    Damaged {
        /// Format of the file.
        format: PictureFormat,
        /// Where, as an offset from the first byte, where that is known.
        byte: Option<usize>,
        /// What is wrong.
        what: String,
    },
    /// The file is whole but of a kind that is not read.
    #[error("{format}, byte {byte}: {what} is not read; save the picture as an ordinary .jpg or as .png")]
    Unsupported {
        /// Format of the file.
        format: PictureFormat,
        /// Where this is said.
        byte: usize,
        /// Which kind.
        what: &'static str,
    },
    /// A [`Picture`] that contradicts itself, or does not fit the format it shall be written in.
    #[error("a picture of {width} × {height} pixels with {bytes} bytes cannot be used: {what}")]
    Size {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
        /// Bytes of its pixels.
        bytes: usize,
        /// What is wrong with that.
        what: &'static str,
    },
    /// The frame rate of an animation is zero, negative or not a number.
    #[error("the animation has {0} frames per second; give a positive number, such as 30")]
    FpsNotPositive(f64),
    /// The writer that was given failed.
    #[error("cannot write the picture: {0}")]
    Write(#[from] std::io::Error),
}

/// Where in a file, if that is known.
struct Place(Option<usize>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |byte| write!(f, ", byte {byte}"))
    }
}

impl Picture {
    /// A picture of one colour. It takes 4 × width × height bytes: sizes that come from outside must be checked before.
    pub fn new(width: u32, height: u32, colour: [u8; 4]) -> Picture {
        Picture { width, height, rgba: colour.repeat(width as usize * height as usize) }
    }

    /// Whether it has pixels, and as many as it says.
    pub fn check(&self) -> Result<(), PictureError> {
        let what = match pixel_bytes(self.width, self.height) {
            Some(0) => "it has no pixels",
            Some(bytes) if bytes == self.rgba.len() => return Ok(()),
            _ => "there must be 4 bytes for each pixel",
        };
        Err(self.unusable(what))
    }

    fn unusable(&self, what: &'static str) -> PictureError {
        PictureError::Size { width: self.width, height: self.height, bytes: self.rgba.len(), what }
    }

    /// Where a pixel begins in `rgba`; nothing outside.
    fn offset(&self, x: u32, y: u32) -> Option<usize> {
        (x < self.width && y < self.height)
            .then(|| (y as usize * self.width as usize + x as usize) * RGBA)
            .filter(|at| at + RGBA <= self.rgba.len())
    }

    /// Red, green, blue and alpha of a pixel, counted from the upper left corner; nothing outside.
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 4]> {
        let at = self.offset(x, y)?;
        self.rgba.get(at..at + RGBA)?.try_into().ok()
    }

    /// Gives a pixel another colour; outside, nothing happens.
    pub fn set_pixel(&mut self, x: u32, y: u32, colour: [u8; 4]) {
        if let Some(at) = self.offset(x, y) {
            self.rgba[at..at + RGBA].copy_from_slice(&colour);
        }
    }

    /// Puts another picture over this one, its upper left corner at (x, y). Nothing is blended; what lies outside is cut
    /// off.
    pub fn paste(&mut self, other: &Picture, x: u32, y: u32) {
        let width = other.width.min(self.width.saturating_sub(x)) as usize * RGBA;
        let height = other.height.min(self.height.saturating_sub(y));
        for row in 0..height {
            let (Some(to), Some(from)) = (self.offset(x, y + row), other.offset(0, row)) else { return };
            let (Some(to), Some(from)) =
                (self.rgba.get_mut(to..to + width), other.rgba.get(from..from + width))
            else {
                return;
            };
            to.copy_from_slice(from);
        }
    }

    /// The picture `factor` times smaller: every pixel is the mean of a square of `factor` × `factor`, taken in linear
    /// light and weighted by alpha. Pixels at the right and lower edge that fill no square are left out.
    pub fn scaled_down(&self, factor: u32) -> Picture {
        let factor = factor.clamp(1, self.width.min(self.height).max(1));
        if factor == 1 {
            return self.clone();
        }
        let (width, height) = (self.width / factor, self.height / factor);
        let linear: Vec<f32> = (0..=255u8).map(to_linear).collect();
        let mut scaled =
            Picture { width, height, rgba: Vec::with_capacity(width as usize * height as usize * RGBA) };
        for y in 0..height {
            for x in 0..width {
                let (mut light, mut alpha) = ([0f32; 3], 0f32);
                for v in 0..factor {
                    for u in 0..factor {
                        let [r, g, b, a] = self.pixel(x * factor + u, y * factor + v).unwrap_or_default();
                        let a = f32::from(a);
                        alpha += a;
                        for (sum, channel) in light.iter_mut().zip([r, g, b]) {
                            *sum += a * linear[usize::from(channel)];
                        }
                    }
                }
                let weight = if alpha > 0.0 { 1.0 / alpha } else { 0.0 };
                scaled.rgba.extend(light.map(|sum| from_linear(sum * weight)));
                scaled.rgba.push((alpha / (factor as f32 * factor as f32)).round() as u8);
            }
        }
        scaled
    }
}

/// sRGB to linear light from 0 to 1 (IEC 61966-2-1).
fn to_linear(value: u8) -> f32 {
    let c = f32::from(value) / 255.0;
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// Linear light from 0 to 1 to sRGB, rounded.
fn from_linear(light: f32) -> u8 {
    let c = if light <= 0.003_130_8 { 12.92 * light } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
    (c * 255.0).round().clamp(0.0, 255.0) as u8
}

/// Bytes that a picture takes in memory, where that is a number.
fn pixel_bytes(width: u32, height: u32) -> Option<usize> {
    (width as usize).checked_mul(height as usize)?.checked_mul(RGBA)
}

/// A picture as a PNG file.
pub fn write_png(picture: &Picture) -> Result<Vec<u8>, PictureError> {
    picture.check()?;
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, picture.width, picture.height);
    // Alpha that says nothing would only make the file larger.
    let opaque = picture.rgba.chunks_exact(RGBA).all(|pixel| pixel[3] == 255);
    encoder.set_color(if opaque { png::ColorType::Rgb } else { png::ColorType::Rgba });
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    let mut writer = encoder.write_header().map_err(not_encoded)?;
    if opaque {
        let rgb: Vec<u8> =
            picture.rgba.chunks_exact(RGBA).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        writer.write_image_data(&rgb).map_err(not_encoded)?;
    } else {
        writer.write_image_data(&picture.rgba).map_err(not_encoded)?;
    }
    writer.finish().map_err(not_encoded)?;
    Ok(bytes)
}

fn not_encoded(error: png::EncodingError) -> PictureError {
    match error {
        png::EncodingError::IoError(error) => PictureError::Write(error),
        other => PictureError::Write(std::io::Error::other(other)),
    }
}

/// Reads a PNG or JPEG file; see the module for what is promised.
pub fn read_picture(bytes: &[u8], limits: &PictureLimits) -> Result<Picture, PictureError> {
    let format = match bytes {
        [] => return Err(PictureError::Empty),
        [0x89, b'P', b'N', b'G', ..] => PictureFormat::Png,
        [0xff, 0xd8, 0xff, ..] => PictureFormat::Jpeg,
        _ => return Err(PictureError::UnknownFormat),
    };
    if bytes.len() > limits.max_bytes {
        return Err(PictureError::FileTooLarge { format, bytes: bytes.len(), limit: limits.max_bytes });
    }
    match format {
        PictureFormat::Png => read_png(bytes, limits),
        PictureFormat::Jpeg => jpeg::read(bytes, limits),
    }
}

impl PictureLimits {
    /// Refuses a size that is over the limits.
    fn check(&self, format: PictureFormat, width: u32, height: u32) -> Result<(), PictureError> {
        let &PictureLimits { max_width, max_height, max_pixels, .. } = self;
        let pixels = u64::from(width) * u64::from(height);
        if width <= max_width && height <= max_height && pixels <= max_pixels {
            return Ok(());
        }
        Err(PictureError::TooLarge { format, width, height, max_width, max_height, max_pixels })
    }
}

fn read_png(bytes: &[u8], limits: &PictureLimits) -> Result<Picture, PictureError> {
    let damaged = |what: String| PictureError::Damaged { format: PictureFormat::Png, byte: None, what };
    let failed = |error: png::DecodingError| damaged(error.to_string());
    // Rows, palettes and the like that the decoder keeps for itself.
    let own = png::Limits { bytes: 64 << 20 };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), own);
    decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let header = decoder.read_header_info().map_err(failed)?;
    let (width, height) = header.size();
    limits.check(PictureFormat::Png, width, height)?;
    let packed = header.raw_row_length() as u64 * u64::from(height);
    if packed > bytes.len() as u64 * MOST_INFLATED {
        return Err(damaged(format!("{} bytes cannot hold {width} × {height} pixels", bytes.len())));
    }
    let mut reader = decoder.read_info().map_err(failed)?;
    // The decoder relies on this without checking it.
    if reader.info().palette.as_ref().is_some_and(|palette| palette.len() % 3 != 0) {
        return Err(damaged("its palette is not whole".to_owned()));
    }
    let size = reader.output_buffer_size().ok_or_else(|| damaged("it is too large".to_owned()))?;
    let mut pixels = vec![0; size];
    let frame = reader.next_frame(&mut pixels).map_err(failed)?;
    if (frame.width, frame.height) != (width, height) {
        return Err(damaged("its first frame has another size than the picture".to_owned()));
    }
    let rgba = match frame.color_type {
        png::ColorType::Rgba => pixels,
        png::ColorType::GrayscaleAlpha => {
            pixels.chunks_exact(2).flat_map(|pixel| [pixel[0], pixel[0], pixel[0], pixel[1]]).collect()
        }
        other => return Err(damaged(format!("its colours come out as {other:?}"))),
    };
    let picture = Picture { width, height, rgba };
    picture.check()?;
    Ok(picture)
}
