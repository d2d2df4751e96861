//! Scenes, recordings and results on the disk: what the `souple` command and the studio share.
//!
//! This is the only code that touches the disk. Files are read up to a limit and written whole or not at all
//! ([`disk`]); files that a scene names stay inside its folder ([`SceneFolder`]); a scene file becomes a model
//! ([`load()`]), and so does the file of a character ([`character_scene`]), a recording a simulation that can be stepped ([`Replay`]), a folder of scenes a list ([`library`]), pictures an
//! animation ([`Movie`]). What
//! goes wrong is a [`FileError`]: what, where, and what to do about it.
#![forbid(unsafe_code)]

pub mod bake;
pub mod character_scene;
pub mod disk;
mod error;
mod frames;
pub mod library;
mod load;
mod movie;
mod recording;
mod scene_folder;
mod takes;
mod watch;

pub use error::FileError;
pub use frames::{BodyFrames, FrameRecorder};
pub use load::{
    BYTES_PER_VERTEX, Loaded, MEMORY_LIMIT, build, check_size, load, read_scene_file, read_whole_scene,
    resolve_files, vertex_count,
};
pub use movie::{Movie, MovieFormat, find_program};
pub use recording::{Difference, MAX_STATE_BYTES, Played, Replay, scene_for_recording};
pub use scene_folder::SceneFolder;
pub use watch::{FileChange, FileWatch};

/// A number of bytes for people, as in "1.5 MiB".
pub fn size(bytes: u128) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} bytes") } else { format!("{value:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_for_people() {
        assert_eq!(size(1023), "1023 bytes");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(8 << 30), "8.0 GiB");
        assert_eq!(size(1 << 60), "1048576.0 TiB");
    }
}
