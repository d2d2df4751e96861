//! Writers that turn an [`crate::animation::Animation`] into the bytes of files other programs open.
//!
//! | module | file | opens in |
//! |---|---|---|
//! | [`glb`] | animated `.glb`, morph targets with weights | Blender, three.js, any glTF 2.0 viewer |
//! | [`point_cache`] | `.pc2`, `.mdd`, one per body; also readers | Blender, Maya, 3ds Max, Houdini |
//! | [`obj_sequence`] | one `.obj` per frame | nearly everything |
//! | [`vtk`] | one `.vtp` per frame and a `.pvd` | ParaView, Python `vtk` |
//! | [`rig`] | a character as `.glb` | the same |
//! | [`baked`] | a glTF file with what became of its skin | the same |
//! | [`table`] | `.csv`, `.json` of measures | spreadsheets, pandas |
//!
//! No function here touches the disk: they return bytes, or names with bytes, and the caller writes them. The same
//! animation gives the same bytes on every machine. Coordinates are written as they are: metres, y up.

pub mod baked;
pub mod baked_scene;
pub mod glb;
pub mod obj_sequence;
pub mod point_cache;
pub mod rig;
pub mod table;
pub mod vtk;

use crate::animation::AnimationError;
use crate::import::ImportError;
use souple::skin::RigError;
use thiserror::Error;

/// Why a file could not be made.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The animation itself is wrong.
    #[error(transparent)]
    Animation(#[from] AnimationError),
    /// A character is not usable.
    #[error("{0}; repair the rig")]
    Rig(#[from] RigError),
    /// The file would be larger than its format can say.
    #[error("the {format} file would need {bytes} bytes, but the format ends at {limit}; {remedy}")]
    TooLarge {
        /// Which format.
        format: &'static str,
        /// How many bytes it would need.
        bytes: u128,
        /// How many are possible.
        limit: u128,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A count does not fit into the field of the format.
    #[error("the {format} format cannot hold {found} {what}; at most {limit} are possible, so export fewer")]
    Count {
        /// Which format.
        format: &'static str,
        /// What is counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many are possible.
        limit: usize,
    },
    /// The memory for the file could not be had.
    #[error("not enough memory for a {format} file of {bytes} bytes; export fewer frames")]
    OutOfMemory {
        /// Which format.
        format: &'static str,
        /// How many bytes were asked for.
        bytes: u128,
    },
    /// `max_targets` is zero, which leaves no frame but the first.
    #[error("max_targets is 0, so no motion could be kept; give at least 1")]
    NoTargets,
    /// Two frames get the same 32-bit time, or a time that is not finite.
    #[error(
        "frame {frame} at {time_s} s cannot be told from the frame before it in 32-bit seconds; \
         use a frame rate between 0.001 and 100000 per second or fewer frames"
    )]
    TimesNotIncreasing {
        /// The frame at fault.
        frame: usize,
        /// Its time, s.
        time_s: f64,
    },
    /// A displacement from frame 0 overflows a 32-bit float.
    #[error(
        "vertex {vertex} of body \"{body}\" moves too far in frame {frame} for 32-bit numbers; \
         the simulation has most likely exploded"
    )]
    DisplacementTooLarge {
        /// Name of the body.
        body: String,
        /// Index of the frame.
        frame: usize,
        /// Index of the vertex.
        vertex: usize,
    },
    /// A row of a table has another number of values than there are columns.
    #[error("row {row} of the table has {found} values for {expected} columns")]
    RowLength {
        /// Index of the row.
        row: usize,
        /// How many values it has.
        found: usize,
        /// How many columns there are.
        expected: usize,
    },
    /// Two columns of a table have the same name.
    #[error("the table has two columns called \"{0}\"; rename one")]
    DuplicateColumn(String),
    /// A table has no columns.
    #[error("the table has no columns; name at least one")]
    NoColumns,
    /// A glTF file that is to be added to cannot be read.
    #[error("{0}")]
    Source(#[from] Box<ImportError>),
    /// A glTF file that is to be added to writes objects in another way.
    #[error("the file writes lists where glTF has objects, and cannot be added to; export it again")]
    NotAddable,
    /// The JSON text could not be made.
    #[error("the JSON text could not be written: {0}")]
    Json(#[from] serde_json::Error),
}

/// Turns any name into one that is safe as the first part of a file name on every system: letters, digits, `-`, `_`
/// and inner dots stay, all else becomes `_`, and long names are cut. Different names may become the same.
pub fn safe_file_stem(name: &str) -> String {
    /// Names that Windows keeps for devices, whatever the extension.
    const RESERVED: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];
    /// File systems end names at 255 bytes; the rest is for numbers and extensions.
    const MAX_BYTES: usize = 100;
    let keep = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let fits = |&(start, c): &(usize, char)| start + c.len_utf8() <= MAX_BYTES;
    let stem: String = name.char_indices().take_while(fits).map(|(_, c)| keep(c)).collect();
    let stem = stem.trim_matches('.');
    if stem.is_empty() {
        return "unnamed".to_owned();
    }
    let device = stem.split('.').next().unwrap_or(stem).to_lowercase();
    let device = device.strip_suffix(|c: char| c.is_ascii_digit()).unwrap_or(&device);
    if RESERVED.contains(&device) { format!("_{stem}") } else { stem.to_owned() }
}

/// Name of the file of one frame: all numbers have the same width, so that names sort like frames.
fn frame_file_name(stem: &str, frame: usize, frame_count: usize, extension: &str) -> String {
    let width = frame_count.saturating_sub(1).to_string().len().max(4);
    format!("{stem}_{frame:0width$}.{extension}")
}

/// Times of frames in 32-bit seconds, which must grow from frame to frame or players would skip some.
fn frame_times(fps: f64, frames: impl IntoIterator<Item = usize>) -> Result<Vec<f32>, ExportError> {
    let mut times: Vec<f32> = Vec::new();
    for frame in frames {
        let time_s = frame as f64 / fps;
        let time = time_s as f32;
        if !time.is_finite() || times.last().is_some_and(|&before| time <= before) {
            return Err(ExportError::TimesNotIncreasing { frame, time_s });
        }
        times.push(time);
    }
    Ok(times)
}

/// An empty buffer with room for `bytes`, or an error instead of an abort.
fn reserve(format: &'static str, bytes: u128) -> Result<Vec<u8>, ExportError> {
    let mut buffer = Vec::new();
    let size = usize::try_from(bytes).map_err(|_| ExportError::OutOfMemory { format, bytes })?;
    buffer.try_reserve_exact(size).map_err(|_| ExportError::OutOfMemory { format, bytes })?;
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_stems_cannot_leave_their_folder() {
        for (name, stem) in [
            ("flag", "flag"),
            ("my flag/2", "my_flag_2"),
            ("../../etc/passwd", "_.._etc_passwd"),
            ("..", "unnamed"),
            ("", "unnamed"),
            ("nul", "_nul"),
            ("COM1.x", "_COM1.x"),
            ("été v1.2", "été_v1.2"),
            ("a\nb\\c:d", "a_b_c_d"),
        ] {
            assert_eq!(safe_file_stem(name), stem);
        }
        assert_eq!(safe_file_stem(&"x".repeat(5000)).len(), 100);
        assert_eq!(safe_file_stem(&"布".repeat(5000)).len(), 99);
    }

    #[test]
    fn frame_names_sort_like_frames() {
        assert_eq!(frame_file_name("a", 7, 10, "obj"), "a_0007.obj");
        assert_eq!(frame_file_name("a", 7, 10_000, "obj"), "a_0007.obj");
        assert_eq!(frame_file_name("a", 7, 10_001, "obj"), "a_00007.obj");
    }

    #[test]
    fn times_that_fall_together_are_refused() {
        assert_eq!(frame_times(4.0, [0, 1, 6]).unwrap(), [0.0, 0.25, 1.5]);
        assert!(matches!(frame_times(1e60, 0..2), Err(ExportError::TimesNotIncreasing { frame: 1, .. })));
        assert!(matches!(frame_times(1e-60, 0..2), Err(ExportError::TimesNotIncreasing { frame: 1, .. })));
        let far = 1 << 30;
        assert!(frame_times(60.0, [far, far + 1]).is_err());
    }

    #[test]
    fn impossible_memory_is_an_error_not_an_abort() {
        assert!(matches!(reserve("x", u128::MAX), Err(ExportError::OutOfMemory { .. })));
        assert!(matches!(reserve("x", 1 << 62), Err(ExportError::OutOfMemory { .. })));
    }
}
