//! Reads with a size limit, writes whole files or none.
//!
//! A file is written under a temporary name in the same folder, flushed to the disk and then renamed. Whatever fails on
//! the way, an older file of that name is untouched and the temporary one is gone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::FileError;
use crate::size;

/// How often another temporary name is tried when one is taken.
const MAX_NAMES: u32 = 1000;
/// Number of the next temporary name: none is used twice by this process, whatever its threads do.
static NEXT_NAME: AtomicU64 = AtomicU64::new(0);

/// Reads a file of at most `limit` bytes. `what` says what is expected, as in "scene".
pub fn read(path: &Path, limit: usize, what: &str) -> Result<Vec<u8>, FileError> {
    let fail = |error: io::Error| cannot_read(path, &error, what);
    let file = File::open(path).map_err(fail)?;
    if file.metadata().map_err(fail)?.is_dir() {
        return Err(FileError::file(path, "is a folder", format!("name a {what} file inside it")));
    }
    match read_limited(file, limit).map_err(fail)? {
        Some(bytes) => Ok(bytes),
        None => Err(FileError::file(
            path,
            format!("the {what} is larger than {}", size(limit as u128)),
            "that much is not read; is it the right file?",
        )),
    }
}

/// Reads standard input up to `limit` bytes.
pub fn read_stdin(limit: usize, what: &str) -> Result<Vec<u8>, FileError> {
    match read_limited(io::stdin().lock(), limit) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(FileError::new(
            "standard input",
            format!("the {what} is larger than {}", size(limit as u128)),
            "",
        )),
        Err(error) => {
            Err(FileError::new("", format!("cannot read the {what} from standard input: {error}"), ""))
        }
    }
}

/// All bytes, or nothing when there are more than `limit`.
pub(crate) fn read_limited(source: impl Read, limit: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source.take((limit as u64).saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= limit).then_some(bytes))
}

fn cannot_read(path: &Path, error: &io::Error, what: &str) -> FileError {
    match error.kind() {
        ErrorKind::NotFound => FileError::file(
            path,
            "there is no such file",
            "check the path; it is relative to the current folder",
        ),
        ErrorKind::PermissionDenied => {
            FileError::file(path, "you may not read this file", "change its permissions or read a copy")
        }
        _ => FileError::file(path, format!("cannot read the {what}: {error}"), "check the file and the disk"),
    }
}

/// Writes a whole file, or leaves what was there.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = NewFile::create(path)?;
    file.write_all(bytes).map_err(|error| cannot_write(path, &error))?;
    file.finish()
}

/// Checks that a file can be written, before long work is done for it. Leaves nothing behind.
pub fn check_writable(path: &Path) -> Result<(), FileError> {
    NewFile::create(path).map(drop)
}

/// A file on its way to the disk: it has a temporary name until it is finished, and goes away if it never is.
///
/// Write to it, or let another program write to [`NewFile::temporary`].
#[derive(Debug)]
pub struct NewFile {
    /// As the user wrote it.
    path: PathBuf,
    target: PathBuf,
    temporary: PathBuf,
    file: File,
    /// Whether it has its name: the temporary one is then no longer its own.
    finished: bool,
}

impl NewFile {
    /// Begins a file. What is there under this name stays until [`NewFile::finish`].
    pub fn create(path: &Path) -> Result<NewFile, FileError> {
        let target = target(path)?;
        let (temporary, file) = create_temporary(&target).map_err(|error| cannot_write(path, &error))?;
        Ok(NewFile { path: path.to_path_buf(), target, temporary, file, finished: false })
    }

    /// The name it has until it is finished.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Gives the file its name, in place of what was there before.
    pub fn finish(mut self) -> Result<(), FileError> {
        self.rename()
    }

    fn rename(&mut self) -> Result<(), FileError> {
        let renamed = self.file.sync_all().and_then(|()| fs::rename(&self.temporary, &self.target));
        renamed.map_err(|error| cannot_write(&self.path, &error))?;
        self.finished = true;
        sync_folder(&self.target);
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.finished {
            // When removal fails there is nobody left to tell.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Makes a folder and those around it, if it is not there yet.
pub fn create_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(|error| {
        let problem = match error.kind() {
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => "a file is in the way".to_owned(),
            _ => error.to_string(),
        };
        FileError::file(path, format!("cannot make this folder: {problem}"), "choose another folder")
    })
}

/// Checks that files can be written in a folder. Leaves nothing behind.
pub fn check_folder(path: &Path) -> Result<(), FileError> {
    let (temporary, _) =
        create_temporary(&path.join("souple")).map_err(|error| cannot_write(path, &error))?;
    fs::remove_file(&temporary).map_err(|error| cannot_write(path, &error))
}

/// Names of what is in a folder; none when it cannot be read.
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// The file that a path leads to, links followed; refused when it is no file or must not be changed.
fn target(path: &Path) -> Result<PathBuf, FileError> {
    if path.file_name().is_none() {
        return Err(FileError::file(path, "this names no file", "name a file to write"));
    }
    let Ok(data) = fs::metadata(path) else { return Ok(path.to_path_buf()) };
    if data.is_dir() {
        return Err(FileError::file(path, "a folder is in the way", "name a file to write"));
    }
    if !data.is_file() {
        return Err(FileError::file(path, "this is a device or a pipe", "name an ordinary file to write"));
    }
    if data.permissions().readonly() {
        return Err(FileError::file(path, "this file is read-only", "write to another file"));
    }
    fs::canonicalize(path).map_err(|error| cannot_write(path, &error))
}

fn create_temporary(target: &Path) -> io::Result<(PathBuf, File)> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    // A long name would become too long for the file system with more around it.
    let name: String = name.chars().take(40).collect();
    let process = std::process::id();
    for _ in 0..MAX_NAMES {
        let number = NEXT_NAME.fetch_add(1, Ordering::Relaxed);
        // Taken all the same when an earlier process of this number was killed.
        let temporary = target.with_file_name(format!(".{name}.{process}-{number}.tmp"));
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

/// Why a file cannot be written, from what the system says.
pub fn cannot_write(path: &Path, error: &io::Error) -> FileError {
    match error.kind() {
        ErrorKind::NotFound => {
            FileError::file(path, "cannot write: its folder is not there", "make the folder first")
        }
        ErrorKind::PermissionDenied => {
            FileError::file(path, "cannot write: you may not write in this folder", "choose another folder")
        }
        ErrorKind::StorageFull => {
            FileError::file(path, "cannot write: the disk is full", "make room and try again")
        }
        _ => {
            FileError::file(path, format!("cannot write: {error}"), "choose another place or check the disk")
        }
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
    fn a_file_that_is_not_finished_leaves_the_old_one_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.glb");
        write(&path, b"old").unwrap();
        let mut file = NewFile::create(&path).unwrap();
        file.write_all(b"half of the new").unwrap();
        assert_eq!(names(folder.path()).len(), 2);
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["a.glb"]);
        let full = cannot_write(&path, &io::Error::new(ErrorKind::StorageFull, "full"));
        assert!(full.to_string().contains("the disk is full"));
    }

    #[test]
    fn a_finished_file_removes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.glb");
        let mut file = NewFile::create(&path).unwrap();
        let temporary = file.temporary().to_path_buf();
        file.rename().unwrap();
        fs::write(&temporary, b"of somebody else").unwrap();
        drop(file);
        assert!(temporary.exists());
        let next = NewFile::create(&path).unwrap();
        assert_ne!(next.temporary(), temporary, "no name is used twice");
    }

    #[test]
    fn another_program_can_fill_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mp4");
        let file = NewFile::create(&path).unwrap();
        assert_eq!(file.temporary().parent(), path.parent());
        fs::write(file.temporary(), b"from elsewhere").unwrap();
        assert!(!path.exists());
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"from elsewhere");
        assert_eq!(names(folder.path()), ["a.mp4"]);
    }

    #[test]
    fn folders_are_made_and_tried() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        create_folder(&deep).unwrap();
        create_folder(&deep).unwrap();
        check_folder(&deep).unwrap();
        assert!(names(&deep).is_empty());
        fs::write(folder.path().join("file"), b"x").unwrap();
        for path in ["file", "file/inside"] {
            let refused = create_folder(&folder.path().join(path)).unwrap_err().to_string();
            assert!(refused.contains("cannot make this folder: a file is in the way"), "{refused}");
        }
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
