//! Point caches: vertex positions of one body over time, without topology. Writers and readers.
//!
//! - PC2 (`POINTCACHE2`, version 1), little endian: signature (12 bytes), version, number of points, start frame (f32),
//!   frames per sample (f32), number of samples; then the samples, three f32 per point.
//! - MDD (Lightwave), big endian: number of frames, number of points, the time of each frame in seconds (f32); then the
//!   frames, three f32 per point.
//!
//! A cache fits any mesh with the same vertices in the same order, such as frame 0 of [`super::obj_sequence`] for a
//! single body. Coordinates are written as they are: metres, y up.
//!
//! The readers take untrusted bytes: counts are checked against the bytes that are there and against a
//! [`PointCacheBudget`] before any memory is asked for, and a file must have exactly the length its header announces
//! (MDD has no signature, so its length is the only sign that it is one).

use super::{ExportError, frame_times, reserve};
use crate::animation::{BodyAnimation, check_fps};
use souple::mesh::MAX_VERTICES;
use thiserror::Error;

const PC2_SIGNATURE: &[u8; 12] = b"POINTCACHE2\0";
const PC2_VERSION: i32 = 1;
const PC2_HEADER_BYTES: usize = 32;
const MDD_HEADER_BYTES: usize = 8;
const POINT_BYTES: usize = 12;

/// Positions of the same points in several frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CacheFrames {
    /// Points in each frame.
    pub point_count: usize,
    /// Positions, frame after frame.
    pub positions: Vec<[f32; 3]>,
}

impl CacheFrames {
    /// Number of frames.
    pub fn frame_count(&self) -> usize {
        self.positions.len().checked_div(self.point_count).unwrap_or(0)
    }

    /// Positions of one frame, if there is such a frame.
    pub fn frame(&self, index: usize) -> Option<&[[f32; 3]]> {
        let start = index.checked_mul(self.point_count)?;
        self.positions.get(start..start.checked_add(self.point_count)?).filter(|points| !points.is_empty())
    }
}

/// A PC2 file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pc2 {
    /// Number of the frame of the first sample.
    pub start_frame: f32,
    /// Frames from one sample to the next.
    pub sample_rate: f32,
    /// The samples.
    pub frames: CacheFrames,
}

/// An MDD file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mdd {
    /// Time of each frame, s.
    pub times_s: Vec<f32>,
    /// The frames.
    pub frames: CacheFrames,
}

/// How much a reader accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointCacheBudget {
    /// Most points in a frame.
    pub max_points: usize,
    /// Most frames.
    pub max_frames: usize,
    /// Most bytes of positions in all frames together.
    pub max_bytes: usize,
}

impl Default for PointCacheBudget {
    /// As many points as a mesh may have, a million frames, 2 GiB.
    fn default() -> Self {
        Self { max_points: MAX_VERTICES, max_frames: 1_000_000, max_bytes: 2 << 30 }
    }
}

/// Why bytes are not a point cache.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum PointCacheError {
    /// The file ends inside its header.
    #[error(
        "the {format} file has {found} bytes, but its header alone needs {needed}; it is cut off or empty"
    )]
    HeaderCutOff {
        /// "PC2" or "MDD".
        format: &'static str,
        /// Bytes there are.
        found: usize,
        /// Bytes the header needs.
        needed: usize,
    },
    /// The first 12 bytes are not those of PC2.
    #[error("byte 0: the file does not start with POINTCACHE2, so it is not a PC2 file")]
    Signature,
    /// A version of PC2 that nobody has described.
    #[error("byte 12: PC2 version {0} is not known; only version 1 is")]
    Version(i32),
    /// A count is zero or negative.
    #[error("byte {offset}: the file announces {found} {what}; there must be at least 1")]
    NotPositive {
        /// "points" or "frames".
        what: &'static str,
        /// The count.
        found: i32,
        /// Where it stands.
        offset: usize,
    },
    /// A count is above the budget.
    #[error("byte {offset}: the file announces {found} {what}; the limit is {limit}")]
    OverBudget {
        /// "points", "frames" or "bytes of positions".
        what: &'static str,
        /// The count.
        found: u128,
        /// The budget.
        limit: usize,
        /// Where it stands.
        offset: usize,
    },
    /// The length of the file is not what its header says.
    #[error(
        "{points} points in {frames} frames need a {format} file of {needed} bytes, but it has {found}; \
         it is cut off, damaged or not {format}"
    )]
    Length {
        /// "PC2" or "MDD".
        format: &'static str,
        /// Announced points.
        points: usize,
        /// Announced frames.
        frames: usize,
        /// Bytes these need.
        needed: u128,
        /// Bytes there are.
        found: usize,
    },
    /// A number is NaN or infinite, or a sample rate is not positive.
    #[error("byte {offset}: the {what} is {value}, which is not usable")]
    BadNumber {
        /// What the number is.
        what: &'static str,
        /// The number.
        value: f32,
        /// Where it stands.
        offset: usize,
    },
    /// The memory could not be had.
    #[error("not enough memory for {0} bytes of positions")]
    OutOfMemory(usize),
}

/// PC2 bytes of one body: frame 0 is sample 0 at frame `start_frame`, one sample per frame.
pub fn write_pc2(body: &BodyAnimation, start_frame: i32) -> Result<Vec<u8>, ExportError> {
    body.validate()?;
    let (points, frames) = counts("PC2", body)?;
    let mut bytes = reserve("PC2", PC2_HEADER_BYTES as u128 + payload_bytes(body))?;
    bytes.extend_from_slice(PC2_SIGNATURE);
    bytes.extend_from_slice(&PC2_VERSION.to_le_bytes());
    bytes.extend_from_slice(&points.to_le_bytes());
    bytes.extend_from_slice(&(start_frame as f32).to_le_bytes());
    bytes.extend_from_slice(&1.0f32.to_le_bytes());
    bytes.extend_from_slice(&frames.to_le_bytes());
    for coordinate in coordinates(body) {
        bytes.extend_from_slice(&coordinate.to_le_bytes());
    }
    Ok(bytes)
}

/// MDD bytes of one body; frame i has time i / `fps`, s.
pub fn write_mdd(body: &BodyAnimation, fps: f64) -> Result<Vec<u8>, ExportError> {
    check_fps(fps)?;
    body.validate()?;
    let (points, frames) = counts("MDD", body)?;
    let times = frame_times(fps, 0..body.frames.len())?;
    let mut bytes = reserve("MDD", (MDD_HEADER_BYTES + 4 * times.len()) as u128 + payload_bytes(body))?;
    bytes.extend_from_slice(&frames.to_be_bytes());
    bytes.extend_from_slice(&points.to_be_bytes());
    for time in times {
        bytes.extend_from_slice(&time.to_be_bytes());
    }
    for coordinate in coordinates(body) {
        bytes.extend_from_slice(&coordinate.to_be_bytes());
    }
    Ok(bytes)
}

/// Points and frames as the signed 32-bit counts of both formats.
fn counts(format: &'static str, body: &BodyAnimation) -> Result<(i32, i32), ExportError> {
    let fit = |what, found| {
        let limit = i32::MAX as usize;
        i32::try_from(found).map_err(|_| ExportError::Count { format, what, found, limit })
    };
    Ok((fit("points", body.vertex_count())?, fit("frames", body.frames.len())?))
}

fn payload_bytes(body: &BodyAnimation) -> u128 {
    body.vertex_count() as u128 * body.frames.len() as u128 * POINT_BYTES as u128
}

fn coordinates(body: &BodyAnimation) -> impl Iterator<Item = f32> {
    body.frames.iter().flat_map(|frame| &frame.positions).flatten().copied()
}

/// Reads a PC2 file.
pub fn read_pc2(bytes: &[u8], budget: &PointCacheBudget) -> Result<Pc2, PointCacheError> {
    let found = bytes.len();
    let cut_off = PointCacheError::HeaderCutOff { format: "PC2", found, needed: PC2_HEADER_BYTES };
    // The signature first: a short text file is "not PC2" rather than "cut off".
    if !bytes.starts_with(PC2_SIGNATURE) {
        return Err(if PC2_SIGNATURE.starts_with(bytes) { cut_off } else { PointCacheError::Signature });
    }
    let Some((header, payload)) = bytes.split_first_chunk::<PC2_HEADER_BYTES>() else {
        return Err(cut_off);
    };
    let words = header.as_chunks::<4>().0;
    let [_, _, _, version, points, start_frame, sample_rate, samples] = words else {
        return Err(cut_off);
    };
    let version = i32::from_le_bytes(*version);
    if version != PC2_VERSION {
        return Err(PointCacheError::Version(version));
    }
    let points = positive("points", i32::from_le_bytes(*points), budget.max_points, 16)?;
    let start_frame = finite("start frame", f32::from_le_bytes(*start_frame), 20)?;
    let sample_rate = finite("sample rate", f32::from_le_bytes(*sample_rate), 24)?;
    if sample_rate <= 0.0 {
        return Err(PointCacheError::BadNumber { what: "sample rate", value: sample_rate, offset: 24 });
    }
    let frames = positive("frames", i32::from_le_bytes(*samples), budget.max_frames, 28)?;
    check_length("PC2", points, frames, PC2_HEADER_BYTES as u128, found, budget)?;
    let frames = read_frames(payload, points, PC2_HEADER_BYTES, f32::from_le_bytes)?;
    Ok(Pc2 { start_frame, sample_rate, frames })
}

/// Reads an MDD file.
pub fn read_mdd(bytes: &[u8], budget: &PointCacheBudget) -> Result<Mdd, PointCacheError> {
    let found = bytes.len();
    let cut_off = PointCacheError::HeaderCutOff { format: "MDD", found, needed: MDD_HEADER_BYTES };
    let Some((frames, rest)) = bytes.split_first_chunk::<4>() else { return Err(cut_off) };
    let Some((points, rest)) = rest.split_first_chunk::<4>() else { return Err(cut_off) };
    let frames = positive("frames", i32::from_be_bytes(*frames), budget.max_frames, 0)?;
    let points = positive("points", i32::from_be_bytes(*points), budget.max_points, 4)?;
    let header = MDD_HEADER_BYTES as u128 + 4 * frames as u128;
    check_length("MDD", points, frames, header, found, budget)?;
    let (times, payload) = rest.split_at_checked(4 * frames).ok_or(cut_off)?;
    let mut times_s = Vec::with_capacity(frames);
    for (i, word) in times.as_chunks::<4>().0.iter().enumerate() {
        times_s.push(finite("time", f32::from_be_bytes(*word), MDD_HEADER_BYTES + 4 * i)?);
    }
    let frames = read_frames(payload, points, found - payload.len(), f32::from_be_bytes)?;
    Ok(Mdd { times_s, frames })
}

fn positive(what: &'static str, found: i32, limit: usize, offset: usize) -> Result<usize, PointCacheError> {
    match usize::try_from(found) {
        Ok(0) | Err(_) => Err(PointCacheError::NotPositive { what, found, offset }),
        Ok(count) if count > limit => {
            Err(PointCacheError::OverBudget { what, found: count as u128, limit, offset })
        }
        Ok(count) => Ok(count),
    }
}

fn finite(what: &'static str, value: f32, offset: usize) -> Result<f32, PointCacheError> {
    if value.is_finite() { Ok(value) } else { Err(PointCacheError::BadNumber { what, value, offset }) }
}

/// Compares the announced counts with the bytes that are there, in 128 bits so that nothing can overflow.
fn check_length(
    format: &'static str,
    points: usize,
    frames: usize,
    header: u128,
    found: usize,
    budget: &PointCacheBudget,
) -> Result<(), PointCacheError> {
    let payload = points as u128 * frames as u128 * POINT_BYTES as u128;
    let needed = header + payload;
    if needed != found as u128 {
        return Err(PointCacheError::Length { format, points, frames, needed, found });
    }
    if payload > budget.max_bytes as u128 {
        let offset = header as usize;
        let what = "bytes of positions";
        return Err(PointCacheError::OverBudget { what, found: payload, limit: budget.max_bytes, offset });
    }
    Ok(())
}

/// Reads all positions; `offset` is where `payload` starts in the file.
fn read_frames(
    payload: &[u8],
    point_count: usize,
    offset: usize,
    float: fn([u8; 4]) -> f32,
) -> Result<CacheFrames, PointCacheError> {
    let chunks = payload.as_chunks::<POINT_BYTES>().0;
    let mut positions = Vec::new();
    positions.try_reserve_exact(chunks.len()).map_err(|_| PointCacheError::OutOfMemory(payload.len()))?;
    for (i, chunk) in chunks.iter().enumerate() {
        let mut position = [0.0; 3];
        for (axis, word) in chunk.as_chunks::<4>().0.iter().enumerate() {
            position[axis] = finite("coordinate", float(*word), offset + i * POINT_BYTES + 4 * axis)?;
        }
        positions.push(position);
    }
    Ok(CacheFrames { point_count, positions })
}
