//! Animated GIF (GIF89a), frame by frame.
//!
//! Every frame has a palette of its own for what changed; what did not change is not written again, so that still parts
//! neither flicker nor cost bytes. Delays are whole hundredths of a second, rounded so that the sum is right.

use std::io::Write;

use gif::{DisposalMethod, Encoder, EncodingError, Frame, Repeat};

use super::palette::Palette;
use super::{Picture, PictureError, RGBA};
use crate::animation::check_fps;

/// Hundredths of a second: shorter delays are shown as a tenth by browsers.
const SHORTEST_DELAY: u64 = 2;
/// Units of the delay per second.
const TICKS: f64 = 100.0;
/// Colours of a frame; one more is kept for "as before".
const MOST_COLOURS: usize = 255;

/// How many frames of an animation make one frame of a GIF, which shows at most 50 per second.
pub fn gif_frame_step(fps: f64) -> u64 {
    (fps * SHORTEST_DELAY as f64 / TICKS).ceil().max(1.0) as u64
}

/// Writes an animated GIF that repeats for ever; frames come one at a time and are not kept.
pub struct GifWriter<W: Write> {
    encoder: Encoder<W>,
    size: (u32, u32),
    fps: f64,
    /// Frames that were given.
    given: u64,
    /// What the last frame showed.
    shown: Vec<u8>,
    /// The last frame, without its delay, and its number among those given.
    pending: Option<(Frame<'static>, u64)>,
}

impl<W: Write> GifWriter<W> {
    /// Begins an animation of `fps` frames per second; above 50, some are left out, see [`gif_frame_step`].
    pub fn new(writer: W, width: u32, height: u32, fps: f64) -> Result<GifWriter<W>, PictureError> {
        check_fps(fps).map_err(|_| PictureError::FpsNotPositive(fps))?;
        let what = "GIF has 1 to 65535 pixels in each direction";
        let refused = PictureError::Size { width, height, bytes: 0, what };
        let (Ok(w @ 1..), Ok(h @ 1..)) = (u16::try_from(width), u16::try_from(height)) else {
            return Err(refused);
        };
        let mut encoder = Encoder::new(writer, w, h, &[]).map_err(not_encoded)?;
        encoder.set_repeat(Repeat::Infinite).map_err(not_encoded)?;
        Ok(GifWriter { encoder, size: (width, height), fps, given: 0, shown: Vec::new(), pending: None })
    }

    /// Adds the next frame. Alpha is shown over white: a GIF knows no half-transparent pixels.
    pub fn push(&mut self, picture: &Picture) -> Result<(), PictureError> {
        picture.check()?;
        if (picture.width, picture.height) != self.size {
            return Err(picture.unusable("all frames of an animation must have the same size"));
        }
        let number = self.given;
        self.given += 1;
        // Left out at a steady beat; and what has not changed only stays longer.
        if !number.is_multiple_of(gif_frame_step(self.fps)) || picture.rgba == self.shown {
            return Ok(());
        }
        let frame = self.difference(picture);
        self.write_pending(number)?;
        self.pending = Some((frame, number));
        picture.rgba.clone_into(&mut self.shown);
        Ok(())
    }

    /// Writes what is left and gives the writer back.
    pub fn finish(mut self) -> Result<W, PictureError> {
        self.write_pending(self.given)?;
        self.encoder.into_inner().map_err(not_encoded)
    }

    /// Writes the frame that waits, now that it is known when the next one begins.
    fn write_pending(&mut self, next: u64) -> Result<(), PictureError> {
        let Some((mut frame, number)) = self.pending.take() else { return Ok(()) };
        let tick = |frame: u64| (frame as f64 * TICKS / self.fps).round() as u64;
        let delay = (tick(next) - tick(number)).max(SHORTEST_DELAY);
        frame.delay = u16::try_from(delay).unwrap_or(u16::MAX);
        self.encoder.write_frame(&frame).map_err(not_encoded)
    }

    /// The smallest rectangle that holds all that changed, with its own palette.
    fn difference(&self, picture: &Picture) -> Frame<'static> {
        let width = picture.width as usize;
        let old = |at: usize| self.shown.get(at * RGBA..(at + 1) * RGBA);
        let new = |at: usize| &picture.rgba[at * RGBA..(at + 1) * RGBA];
        let changed = |at: usize| old(at) != Some(new(at));
        let pixels = width * picture.height as usize;
        let (mut left, mut right, mut top, mut bottom) = (width, 0, usize::MAX, 0);
        for at in (0..pixels).filter(|&at| changed(at)) {
            let (x, y) = (at % width, at / width);
            (left, right) = (left.min(x), right.max(x));
            (top, bottom) = (top.min(y), bottom.max(y));
        }
        let places = || (top..=bottom).flat_map(move |y| (left..=right).map(move |x| (x, y)));
        let seen =
            places().map(|(x, y)| y * width + x).filter(|&at| changed(at)).map(|at| over_white(new(at)));
        let mut palette = Palette::of(seen, MOST_COLOURS);
        // The palette has at most 255 colours, so that the number after its last one is free.
        let as_before = palette.len() as u8;
        let indices = places().map(|(x, y)| {
            let at = y * width + x;
            if changed(at) { palette.index(over_white(new(at)), x as u32, y as u32) } else { as_before }
        });
        let buffer: Vec<u8> = indices.collect();
        let mut colours = palette.bytes();
        colours.extend([0; 3]);
        Frame {
            dispose: DisposalMethod::Keep,
            transparent: Some(as_before),
            // The size was checked to fit.
            left: left as u16,
            top: top as u16,
            width: (right - left + 1) as u16,
            height: (bottom - top + 1) as u16,
            palette: Some(colours),
            buffer: buffer.into(),
            ..Frame::default()
        }
    }
}

/// Red, green and blue of a pixel seen on white paper.
fn over_white(pixel: &[u8]) -> [u8; 3] {
    let &[r, g, b, a] = pixel else { return [255; 3] };
    [r, g, b].map(|c| ((u32::from(c) * u32::from(a) + 255 * (255 - u32::from(a)) + 127) / 255) as u8)
}

fn not_encoded(error: EncodingError) -> PictureError {
    match error {
        EncodingError::Io(error) => PictureError::Write(error),
        other => PictureError::Write(std::io::Error::other(other)),
    }
}
