//! Whether a file has changed since it was last looked at, for reloading scenes, shaders and images.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file that is looked at now and then.
///
/// One look asks the system for the time of the last change and the length, and reads nothing. A change that keeps both
/// is not seen. Editors that save by renaming make the file vanish for a moment: [`FileChange::Vanished`] is then
/// followed by [`FileChange::Changed`], so a program does well to keep what it has until then.
#[derive(Clone, Debug)]
pub struct FileWatch {
    path: PathBuf,
    seen: Option<Stamp>,
}

/// What is known of a file without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
}

/// What happened to a file since the last look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// Nothing; also when it was gone before and still is.
    Same,
    /// It was written, or it is there again.
    Changed,
    /// It is gone, or cannot be looked at any more.
    Vanished,
}

impl FileWatch {
    /// Begins with the file as it is now, which may be not at all.
    pub fn new(path: impl Into<PathBuf>) -> FileWatch {
        let path = path.into();
        let seen = stamp(&path);
        FileWatch { path, seen }
    }

    /// The file that is watched.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Looks at the file; every change is told once.
    pub fn poll(&mut self) -> FileChange {
        let now = stamp(&self.path);
        let before = std::mem::replace(&mut self.seen, now);
        match (before, now) {
            (before, now) if before == now => FileChange::Same,
            (_, Some(_)) => FileChange::Changed,
            (_, None) => FileChange::Vanished,
        }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let data = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    // Not every system knows the time; the length is then all there is.
    Some(Stamp { modified: data.modified().ok(), length: data.len() })
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_change_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.wgsl");
        fs::write(&path, "one").unwrap();
        let mut watch = FileWatch::new(&path);
        assert_eq!(watch.poll(), FileChange::Same);
        assert_eq!(watch.path(), path);

        fs::write(&path, "longer").unwrap();
        assert_eq!((watch.poll(), watch.poll()), (FileChange::Changed, FileChange::Same));

        // The same length at another time.
        let later = fs::metadata(&path).unwrap().modified().unwrap() + Duration::from_secs(3);
        File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
        assert_eq!((watch.poll(), watch.poll()), (FileChange::Changed, FileChange::Same));
    }

    #[test]
    fn a_file_that_goes_and_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        let mut watch = FileWatch::new(&path);
        assert_eq!(watch.poll(), FileChange::Same, "what was not there has not vanished");
        fs::write(&path, "x").unwrap();
        assert_eq!(watch.poll(), FileChange::Changed);
        fs::remove_file(&path).unwrap();
        assert_eq!((watch.poll(), watch.poll()), (FileChange::Vanished, FileChange::Same));
        fs::create_dir(&path).unwrap();
        assert_eq!(watch.poll(), FileChange::Same, "a folder is no file");
        fs::remove_dir(&path).unwrap();
        fs::write(&path, "x").unwrap();
        assert_eq!(watch.poll(), FileChange::Changed);
    }
}
