//! Pictures to an animation on the disk: GIF, a video by ffmpeg, or a folder of numbered PNG files.
//!
//! Frames are written as they come and not kept. A file gets its name when it is whole; what was there before stays
//! until then. Videos need the program `ffmpeg`, which is looked for on the PATH and given raw pixels by a pipe.

use std::ffi::OsString;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::JoinHandle;

use souple_formats::picture::{GifWriter, Picture, PictureError, gif_frame_step, write_png};

use crate::disk::{self, NewFile};
use crate::error::FileError;

/// Least digits of the number of a picture in a folder.
const DIGITS: usize = 4;
/// How many lines of what ffmpeg says are shown when it fails.
const SHOWN_LINES: usize = 5;

/// What an animation is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovieFormat {
    /// Animated GIF, at most 50 frames per second.
    Gif,
    /// H.264 in MP4, by ffmpeg.
    Mp4,
    /// VP9 in WebM, by ffmpeg.
    Webm,
    /// A folder of PNG files, `0000.png` and so on.
    Folder,
}

impl MovieFormat {
    /// The format that goes with a name: by its ending, or a folder when it ends in a slash or is one.
    pub fn of(path: &Path) -> Option<MovieFormat> {
        let ends_in_slash =
            path.as_os_str().as_encoded_bytes().last().is_some_and(|&end| end == b'/' || end == b'\\');
        if ends_in_slash || path.is_dir() {
            return Some(MovieFormat::Folder);
        }
        match path.extension()?.to_string_lossy().to_lowercase().as_str() {
            "gif" => Some(MovieFormat::Gif),
            "mp4" => Some(MovieFormat::Mp4),
            "webm" => Some(MovieFormat::Webm),
            _ => None,
        }
    }

    /// Of how many frames one is shown: drawing the others would be for nothing.
    pub fn frame_step(self, fps: f64) -> u64 {
        if self == MovieFormat::Gif { gif_frame_step(fps) } else { 1 }
    }

    /// Checks that such a file can be written, before long work is done for it. A folder is made.
    pub fn check(self, path: &Path) -> Result<(), FileError> {
        self.check_program(path)?;
        match self {
            MovieFormat::Folder => disk::create_folder(path).and_then(|()| disk::check_folder(path)),
            _ => disk::check_writable(path),
        }
    }

    /// Checks that the program is there that such a file needs. `path` is named in the error.
    pub fn check_program(self, path: &Path) -> Result<(), FileError> {
        match self {
            MovieFormat::Mp4 | MovieFormat::Webm => ffmpeg(path).map(drop),
            MovieFormat::Gif | MovieFormat::Folder => Ok(()),
        }
    }
}

/// An animation that is being written.
pub struct Movie {
    path: PathBuf,
    size: (u32, u32),
    output: Output,
}

enum Output {
    Gif(Box<GifWriter<BufWriter<NewFile>>>),
    Video(Video),
    /// Files that were written.
    Folder(Vec<PathBuf>),
}

impl Movie {
    /// Begins an animation of `fps` frames per second.
    pub fn create(path: &Path, format: MovieFormat, size: (u32, u32), fps: f64) -> Result<Movie, FileError> {
        let output = match format {
            MovieFormat::Gif => {
                let file = BufWriter::new(NewFile::create(path)?);
                let writer =
                    GifWriter::new(file, size.0, size.1, fps).map_err(|error| unwritten(path, error))?;
                Output::Gif(Box::new(writer))
            }
            MovieFormat::Mp4 | MovieFormat::Webm => Output::Video(Video::start(path, format, size, fps)?),
            MovieFormat::Folder => {
                format.check(path)?;
                Output::Folder(Vec::new())
            }
        };
        Ok(Movie { path: path.to_path_buf(), size, output })
    }

    /// Adds the next frame; all must have the size that was given.
    pub fn push(&mut self, picture: &Picture) -> Result<(), FileError> {
        picture.check().map_err(|error| unwritten(&self.path, error))?;
        if (picture.width, picture.height) != self.size {
            return Err(FileError::file(&self.path, "not written: the frames differ in size", ""));
        }
        match &mut self.output {
            Output::Gif(writer) => writer.push(picture).map_err(|error| unwritten(&self.path, error)),
            Output::Video(video) => video.push(picture).map_err(|_| video.failure(&self.path)),
            Output::Folder(files) => {
                let path = self.path.join(format!("{:0DIGITS$}.png", files.len()));
                let bytes = write_png(picture).map_err(|error| unwritten(&path, error))?;
                disk::write(&path, &bytes)?;
                files.push(path);
                Ok(())
            }
        }
    }

    /// Completes the animation and tells which files it is.
    pub fn finish(self) -> Result<Vec<PathBuf>, FileError> {
        match self.output {
            Output::Gif(writer) => {
                let file = writer.finish().map_err(|error| unwritten(&self.path, error))?;
                let file =
                    file.into_inner().map_err(|error| disk::cannot_write(&self.path, error.error()))?;
                file.finish()?;
                Ok(vec![self.path])
            }
            Output::Video(video) => {
                video.finish(&self.path)?;
                Ok(vec![self.path])
            }
            Output::Folder(files) => Ok(files),
        }
    }
}

fn unwritten(path: &Path, error: PictureError) -> FileError {
    match error {
        PictureError::Write(error) => disk::cannot_write(path, &error),
        other => FileError::file(path, format!("not written: {other}"), ""),
    }
}

/// A program by its name: the file in the first folder of the PATH that has it.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH")?;
    // An empty entry would mean the current folder, where anything may lie.
    let folders = std::env::split_paths(&path).filter(|folder| !folder.as_os_str().is_empty());
    folders.map(|folder| folder.join(&name)).find(|program| program.is_file())
}

fn ffmpeg(path: &Path) -> Result<PathBuf, FileError> {
    find_program("ffmpeg").ok_or_else(|| {
        FileError::file(
            path,
            "videos are written by the program ffmpeg, which is not on the PATH",
            "install ffmpeg, or write .gif, or a folder of pictures (a name that ends in /, as in frames/)",
        )
    })
}

/// A video that ffmpeg writes.
struct Video {
    child: Child,
    /// Raw pixels for it; closed when there are no more.
    pixels: Option<ChildStdin>,
    /// Collects what it says.
    said: Option<JoinHandle<String>>,
    file: Option<NewFile>,
}

impl Video {
    fn start(
        path: &Path,
        format: MovieFormat,
        (width, height): (u32, u32),
        fps: f64,
    ) -> Result<Video, FileError> {
        let program = ffmpeg(path)?;
        let file = NewFile::create(path)?;
        // Otherwise a colon in the name would be taken for a protocol.
        let mut target = OsString::from("file:");
        target.push(file.temporary());
        let codec: &[&str] = match format {
            MovieFormat::Webm => {
                &["-c:v", "libvpx-vp9", "-crf", "28", "-b:v", "0", "-row-mt", "1", "-f", "webm"]
            }
            _ => &["-c:v", "libx264", "-crf", "18", "-movflags", "+faststart", "-f", "mp4"],
        };
        let mut command = Command::new(program);
        command
            .args(["-hide_banner", "-loglevel", "error", "-f", "rawvideo", "-pixel_format", "rgba"])
            .args([
                "-video_size",
                &format!("{width}x{height}"),
                "-framerate",
                &fps.to_string(),
                "-i",
                "-",
                "-an",
            ])
            // Colour is stored at half resolution, which needs even sides; players take HD for BT.709.
            .args([
                "-vf",
                "pad=ceil(iw/2)*2:ceil(ih/2)*2,scale=out_color_matrix=bt709:out_range=tv,format=yuv420p",
            ])
            .args([
                "-colorspace",
                "bt709",
                "-color_primaries",
                "bt709",
                "-color_trc",
                "bt709",
                "-color_range",
                "tv",
            ])
            .args(codec)
            .arg("-y")
            .arg(target)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| {
            FileError::file(path, format!("cannot start ffmpeg: {error}"), "install it again")
        })?;
        let pixels = child.stdin.take();
        let said = child.stderr.take().map(|mut pipe| {
            std::thread::spawn(move || {
                let mut said = Vec::new();
                // What could be read before an error is all there is to show.
                let _ = pipe.read_to_end(&mut said);
                String::from_utf8_lossy(&said).into_owned()
            })
        });
        Ok(Video { child, pixels, said, file: Some(file) })
    }

    fn push(&mut self, picture: &Picture) -> std::io::Result<()> {
        match &mut self.pixels {
            Some(pixels) => pixels.write_all(&picture.rgba),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn finish(mut self, path: &Path) -> Result<(), FileError> {
        drop(self.pixels.take());
        let done = self.child.wait().is_ok_and(|status| status.success());
        match self.file.take() {
            Some(file) if done => file.finish(),
            _ => Err(self.failure(path)),
        }
    }

    /// Why it failed, in the words of ffmpeg.
    fn failure(&mut self, path: &Path) -> FileError {
        drop(self.pixels.take());
        let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        let said = self.said.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n  ");
        FileError::file(
            path,
            format!("ffmpeg failed ({status}): {last}"),
            "use an ffmpeg with H.264 and VP9, or write .gif, or a folder of pictures (as in frames/)",
        )
    }
}

impl Drop for Video {
    fn drop(&mut self) {
        // One that has ended already cannot be killed, and needs not be. Its file goes away by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use souple_formats::picture::{PictureLimits, read_picture};

    use super::*;

    fn frame(number: u8) -> Picture {
        Picture::new(6, 4, [40 * number, 100, 200, 255])
    }

    #[test]
    fn names_tell_the_format() {
        for (name, format) in [
            ("a.gif", Some(MovieFormat::Gif)),
            ("b/a.MP4", Some(MovieFormat::Mp4)),
            ("a.webm", Some(MovieFormat::Webm)),
            ("a/", Some(MovieFormat::Folder)),
            ("a.gif/", Some(MovieFormat::Folder)),
            (".", Some(MovieFormat::Folder)),
            ("a.avi", None),
            ("a", None),
        ] {
            assert_eq!(MovieFormat::of(Path::new(name)), format, "{name}");
        }
        assert_eq!((MovieFormat::Gif.frame_step(60.0), MovieFormat::Mp4.frame_step(60.0)), (2, 1));
    }

    #[test]
    fn a_folder_holds_the_frames_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/frames/");
        let mut movie = Movie::create(&path, MovieFormat::Folder, (6, 4), 30.0).unwrap();
        (0..3).for_each(|number| movie.push(&frame(number)).unwrap());
        let files = movie.finish().unwrap();
        assert_eq!(files, ["0000.png", "0001.png", "0002.png"].map(|name| path.join(name)));
        for (number, file) in (0..).zip(files) {
            assert_eq!(
                read_picture(&fs::read(file).unwrap(), &PictureLimits::default()).unwrap(),
                frame(number)
            );
        }
    }

    #[test]
    fn a_gif_appears_when_it_is_whole_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.gif");
        fs::write(&path, b"old").unwrap();
        let mut movie = Movie::create(&path, MovieFormat::Gif, (6, 4), 20.0).unwrap();
        movie.push(&frame(0)).unwrap();
        assert!(movie.push(&Picture::new(4, 6, [0; 4])).is_err());
        drop(movie);
        assert_eq!((fs::read(&path).unwrap(), disk::names_in(folder.path()).len()), (b"old".to_vec(), 1));

        let mut movie = Movie::create(&path, MovieFormat::Gif, (6, 4), 20.0).unwrap();
        (0..3).for_each(|number| movie.push(&frame(number)).unwrap());
        assert_eq!(movie.finish().unwrap(), [path.as_path()]);
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.starts_with(b"GIF89a") && bytes.ends_with(b";"));
        assert_eq!(disk::names_in(folder.path()).len(), 1);
    }

    #[test]
    fn places_that_cannot_be_written_are_told_before() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), b"x").unwrap();
        assert!(MovieFormat::Gif.check(&folder.path().join("none/a.gif")).is_err());
        assert!(MovieFormat::Folder.check(&folder.path().join("file/frames/")).is_err());
        assert!(MovieFormat::Gif.check(&folder.path().join("a.gif")).is_ok());
        assert_eq!(disk::names_in(folder.path()), ["file"]);
    }
}
