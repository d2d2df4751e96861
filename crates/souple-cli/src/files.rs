//! The one place that touches the disk: reads with a size limit, writes whole files or none.
//!
//! A file is written under a temporary name in the same folder, flushed to the disk and then renamed. Whatever fails on
//! the way, an older file of that name is untouched and the temporary one is gone. Mesh files that a scene names are
//! kept inside its folder, symbolic links included, unless the user allows more.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use souple_formats::import::Limits;
use souple_formats::scene::safe_relative_path;

use crate::failure::Failure;
use crate::report::size;

/// How often another temporary name is tried when one is taken.
const MAX_NAMES: u32 = 1000;

/// Reads a file of at most `limit` bytes. `what` says what is expected, as in "scene".
pub fn read(path: &Path, limit: usize, what: &str) -> Result<Vec<u8>, Failure> {
    let fail = |error: io::Error| cannot_read(path, &error, what);
    let file = File::open(path).map_err(fail)?;
    if file.metadata().map_err(fail)?.is_dir() {
        return Err(Failure::file(path, "is a folder", format!("name a {what} file inside it")));
    }
    match read_limited(file, limit).map_err(fail)? {
        Some(bytes) => Ok(bytes),
        None => Err(Failure::file(
            path,
            format!("the {what} is larger than {}", size(limit as u128)),
            "that much is not read; is it the right file?",
        )),
    }
}

/// Reads standard input up to `limit` bytes.
pub fn read_stdin(limit: usize, what: &str) -> Result<Vec<u8>, Failure> {
    match read_limited(io::stdin().lock(), limit) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(Failure::input(
            format!("standard input: the {what} is larger than {}", size(limit as u128)),
            "",
        )),
        Err(error) => Err(Failure::input(format!("cannot read the {what} from standard input: {error}"), "")),
    }
}

/// All bytes, or nothing when there are more than `limit`.
fn read_limited(source: impl Read, limit: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= limit).then_some(bytes))
}

fn cannot_read(path: &Path, error: &io::Error, what: &str) -> Failure {
    match error.kind() {
        ErrorKind::NotFound => Failure::file(
            path,
            "there is no such file",
            "check the path; it is relative to the current folder",
        ),
        ErrorKind::PermissionDenied => {
            Failure::file(path, "you may not read this file", "change its permissions or read a copy")
        }
        _ => Failure::file(path, format!("cannot read the {what}: {error}"), "check the file and the disk"),
    }
}

/// Reads the mesh files of one scene.
pub struct MeshFolder {
    folder: PathBuf,
    allow_outside: bool,
}

impl MeshFolder {
    /// The folder that a scene file lies in.
    pub fn of_scene(scene: &Path, allow_outside: bool) -> MeshFolder {
        let parent = scene.parent().filter(|folder| !folder.as_os_str().is_empty());
        MeshFolder { folder: parent.unwrap_or(Path::new(".")).to_path_buf(), allow_outside }
    }

    /// Reads a mesh file by the path that is written in the scene; says why not otherwise.
    pub fn read(&self, written: &str) -> Result<Vec<u8>, String> {
        const REMEDY: &str =
            "copy the mesh into the folder of the scene, or pass --allow-outside if you trust the scene";
        let path = if self.allow_outside {
            self.folder.join(written)
        } else {
            let inside = safe_relative_path(written).map_err(|problem| format!("{problem}; {REMEDY}"))?;
            let folder = fs::canonicalize(&self.folder).map_err(|error| plain(&error))?;
            // Links are followed first, so that none of them leads out of the folder.
            let real = fs::canonicalize(folder.join(inside)).map_err(|error| plain(&error))?;
            if !real.starts_with(&folder) {
                return Err(format!("a link leads out of the folder of the scene; {REMEDY}"));
            }
            real
        };
        // Not a pipe or a device, which could block or never end.
        let data = fs::metadata(&path).map_err(|error| plain(&error))?;
        if !data.is_file() {
            return Err("it is not a file".to_owned());
        }
        let limit = Limits::default().max_bytes;
        let file = File::open(&path).map_err(|error| plain(&error))?;
        let bytes = read_limited(file, limit).map_err(|error| plain(&error))?;
        bytes.ok_or_else(|| format!("it is larger than {}; simplify the mesh", size(limit as u128)))
    }
}

fn plain(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "you may not read it".to_owned(),
        _ => error.to_string(),
    }
}

/// Writes a whole file, or leaves what was there.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_with(path, |file| file.write_all(bytes))
}

/// Checks that a file can be written, before long work is done for it. Leaves nothing behind.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    let target = target(path)?;
    let (temporary, _) = create_temporary(&target).map_err(|error| cannot_write(path, &error))?;
    fs::remove_file(&temporary).map_err(|error| cannot_write(path, &error))
}

/// Makes a folder and those around it, and checks that files can be written there.
pub fn create_folder(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => Failure::file(
            path,
            "cannot make this folder: a file is in the way",
            "choose another folder with -o",
        ),
        _ => {
            Failure::file(path, format!("cannot make this folder: {error}"), "choose another folder with -o")
        }
    })?;
    let (temporary, _) =
        create_temporary(&path.join("souple")).map_err(|error| cannot_write(path, &error))?;
    fs::remove_file(&temporary).map_err(|error| cannot_write(path, &error))
}

/// Names of what is in a folder; none when it cannot be read.
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn write_with(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), Failure> {
    let target = target(path)?;
    let (temporary, mut file) = create_temporary(&target).map_err(|error| cannot_write(path, &error))?;
    let written = fill(&mut file).and_then(|()| file.sync_all());
    drop(file);
    let renamed = written.and_then(|()| fs::rename(&temporary, &target));
    renamed.map_err(|error| {
        // When even this fails there is nothing more to do than to tell of the first error.
        let _ = fs::remove_file(&temporary);
        cannot_write(path, &error)
    })?;
    sync_folder(&target);
    Ok(())
}

/// The file that a path leads to, links followed; refused when it is no file or must not be changed.
fn target(path: &Path) -> Result<PathBuf, Failure> {
    if path.file_name().is_none() {
        return Err(Failure::file(path, "this names no file", "name a file to write"));
    }
    let Ok(data) = fs::metadata(path) else { return Ok(path.to_path_buf()) };
    if data.is_dir() {
        return Err(Failure::file(path, "a folder is in the way", "name a file to write"));
    }
    if !data.is_file() {
        return Err(Failure::file(path, "this is a device or a pipe", "name an ordinary file to write"));
    }
    if data.permissions().readonly() {
        return Err(Failure::file(path, "this file is read-only", "write to another file"));
    }
    fs::canonicalize(path).map_err(|error| cannot_write(path, &error))
}

fn create_temporary(target: &Path) -> io::Result<(PathBuf, File)> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    // A long name would become too long for the file system with more around it.
    let name: String = name.chars().take(40).collect();
    let process = std::process::id();
    for attempt in 0..MAX_NAMES {
        let temporary = target.with_file_name(format!(".{name}.{process}-{attempt}.tmp"));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "too many temporary files are in this folder"))
}

/// Makes the new name survive a power cut, where the system can.
fn sync_folder(target: &Path) {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The file itself is whole; not every system can flush a folder, so a refusal is not an error.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::NotFound => {
            Failure::file(path, "cannot write: its folder is not there", "make the folder first")
        }
        ErrorKind::PermissionDenied => {
            Failure::file(path, "cannot write: you may not write in this folder", "choose another folder")
        }
        ErrorKind::StorageFull => {
            Failure::file(path, "cannot write: the disk is full", "make room and try again")
        }
        _ => Failure::file(path, format!("cannot write: {error}"), "choose another place or check the disk"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_write_that_fails_half_way_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.glb");
        write(&path, b"old").unwrap();
        let failure = write_with(&path, |file| {
            file.write_all(b"half of the new")?;
            Err(io::Error::new(ErrorKind::StorageFull, "full"))
        });
        assert!(failure.unwrap_err().to_string().contains("the disk is full"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["a.glb"]);
    }

    #[test]
    fn a_write_replaces_the_old_file_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.glb");
        write(&path, b"a long old file").unwrap();
        write(&path, b"new").unwrap();
        check_writable(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["a.glb"]);
    }

    #[test]
    fn folders_and_missing_folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refused = write(folder.path(), b"x").unwrap_err().to_string();
        assert!(refused.contains("a folder is in the way"), "{refused}");
        let refused = write(&folder.path().join("none/a"), b"x").unwrap_err().to_string();
        assert!(refused.contains("its folder is not there"), "{refused}");
        assert!(names(folder.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_read_only_files_are_refused_and_links_are_followed() {
        let refused = write(Path::new("/dev/null"), b"x").unwrap_err().to_string();
        assert!(refused.contains("device"), "{refused}");

        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, b"old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");

        let mut permissions = fs::metadata(&real).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&real, permissions).unwrap();
        let refused = write(&real, b"newer").unwrap_err().to_string();
        assert!(refused.contains("read-only"), "{refused}");
        assert_eq!(fs::read(&real).unwrap(), b"new");
    }

    #[test]
    fn reading_stops_at_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, b"12345").unwrap();
        assert_eq!(read(&path, 5, "scene").unwrap(), b"12345");
        let refused = read(&path, 4, "scene").unwrap_err().to_string();
        assert!(refused.contains("the scene is larger than 4 bytes"), "{refused}");
        assert!(read(folder.path(), 4, "scene").unwrap_err().to_string().contains("is a folder"));
    }
}
