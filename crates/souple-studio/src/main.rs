//! `souple-studio [FILE]`: opens the window.

use std::path::PathBuf;
use std::process::ExitCode;

use eframe::egui;
use souple_studio::app::{Options, StudioApp};
use souple_viewer::WhichRenderer;

const HELP: &str = "\
The studio of Souple: scenes seen, touched, built and saved in a window

Usage: souple-studio [OPTIONS] [FILE]

Arguments:
  [FILE]  Scene (.toml, .json), recording (.souprec) or mesh to open

Options:
      --library <FOLDER>  Folder of scenes for the browser [default: the nearest folder called `scenes`]
      --report <FILE>     Write the state of the window to a file as JSON whenever it changes, for tests
  -h, --help              Print help
  -V, --version           Print version";

/// What to say when there is no window to be had.
const NO_WINDOW: &str = "help: pictures and videos need no window: `souple render SCENE -o picture.png`";

fn main() -> ExitCode {
    match parse(std::env::args_os().skip(1)) {
        Ok(Some(options)) => run(options),
        Ok(None) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}\n\nTry 'souple-studio --help'.");
            ExitCode::from(2)
        }
    }
}

/// Options of the command line; nothing when all was said already.
fn parse(mut args: impl Iterator<Item = std::ffi::OsString>) -> Result<Option<Options>, String> {
    let mut options = Options { thumbnails: Some(WhichRenderer::Auto), ..Options::default() };
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        let mut value = |name: &str| args.next().map(PathBuf::from).ok_or(format!("{name} needs a value"));
        match &*text {
            "-h" | "--help" => {
                println!("{HELP}");
                return Ok(None);
            }
            "-V" | "--version" => {
                println!("souple-studio {}", env!("CARGO_PKG_VERSION"));
                return Ok(None);
            }
            "--library" => options.library = Some(value("--library")?),
            "--report" => options.report = Some(value("--report")?),
            other if other.starts_with('-') && other.len() > 1 => {
                return Err(format!("there is no option '{other}'"));
            }
            _ if options.file.is_some() => {
                return Err(format!("one file is enough; '{text}' is another one"));
            }
            _ => options.file = Some(PathBuf::from(arg)),
        }
    }
    Ok(Some(options))
}

fn run(options: Options) -> ExitCode {
    let viewport = egui::ViewportBuilder::default()
        .with_title("Souple studio")
        .with_app_id("souple-studio")
        .with_inner_size([1280.0, 760.0])
        .with_min_inner_size([320.0, 200.0])
        .with_icon(icon())
        .with_drag_and_drop(true);
    let native = eframe::NativeOptions { viewport, renderer: eframe::Renderer::Wgpu, ..Default::default() };
    let opened = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        eframe::run_native("souple-studio", native, Box::new(|cc| Ok(Box::new(StudioApp::new(cc, options)))))
    }));
    match opened {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            eprintln!("error: no window can be opened: {error}\n{NO_WINDOW}");
            ExitCode::FAILURE
        }
        Err(_) => {
            // What went wrong was printed when it happened.
            eprintln!("error: the window was closed by a fault\n{NO_WINDOW}");
            ExitCode::FAILURE
        }
    }
}

/// A cloth held at two corners, drawn in code.
fn icon() -> egui::IconData {
    const SIDE: usize = 64;
    let mut rgba = vec![0; SIDE * SIDE * 4];
    for (k, pixel) in rgba.chunks_exact_mut(4).enumerate() {
        let (x, y) = ((k % SIDE) as f32 / SIDE as f32, (k / SIDE) as f32 / SIDE as f32);
        // The upper edge sags between two pins, the lower one is a wave.
        let top = 0.14 + 0.18 * (std::f32::consts::PI * x).sin();
        let bottom = 0.80 + 0.08 * (3.0 * std::f32::consts::PI * x).sin();
        if (0.08..0.92).contains(&x) && (top..bottom).contains(&y) {
            let fold = 0.5 + 0.5 * (16.0 * x + 3.0 * y).sin();
            let shade = |dark: f32, light: f32| (dark + (light - dark) * fold) as u8;
            pixel.copy_from_slice(&[shade(150.0, 225.0), shade(45.0, 90.0), shade(40.0, 75.0), 255]);
        }
    }
    egui::IconData { rgba, width: SIDE as u32, height: SIDE as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(args: &[&str]) -> Result<Option<Options>, String> {
        parse(args.iter().map(std::ffi::OsString::from))
    }

    #[test]
    fn the_command_line_is_read() {
        let read = options(&["--library", "s", "a.toml"]).unwrap().unwrap();
        assert_eq!(read.file, Some(PathBuf::from("a.toml")));
        assert_eq!(read.library, Some(PathBuf::from("s")));
        assert!(options(&["--nothing"]).unwrap_err().contains("--nothing"));
        assert!(options(&["a.toml", "b.toml"]).unwrap_err().contains("b.toml"));
        assert!(options(&["--report"]).unwrap_err().contains("needs a value"));
    }
}
