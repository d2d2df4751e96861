//! What can be written on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use souple::scene::Camera;

/// Longest side of a picture, pixels.
const MAX_SIDE: u32 = 16_384;
/// Most pictures in a row or column of a sheet.
const MAX_SHEET: u32 = 100;
/// Most threads that can be asked for; more than any machine has cores only wastes memory.
const MAX_THREADS: u64 = 1024;

/// Souple simulates everything that bends.
#[derive(Debug, Parser)]
#[command(
    name = "souple",
    version,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done, 1 the scene or the input is wrong, 2 wrong usage, 3 a check failed.\n\n\
                  Example:\n  souple run scenes/cloth/flag.toml"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulates a scene and writes the animation as files
    Run(RunArgs),
    /// Draws a scene, a character or a recording as a picture, an animation or a sheet of moments
    Render(RenderArgs),
    /// Opens the studio, a window to see, touch and build scenes in
    Studio(StudioArgs),
    /// Reads a scene, and says what is wrong or odd about it and how long its steps may be
    Check(CheckArgs),
    /// Turns a mesh, a scene or a recording into another format
    Convert(ConvertArgs),
    /// Plays the clips of a character with a skin that keeps its volume, and elastic layers, into files
    Bake(BakeArgs),
    /// Writes the crease pattern of a sheet of paper of a scene, and says how well it keeps its pattern
    Paper(PaperArgs),
    /// Draws folds on a coarse animation from another program
    Wrinkle(WrinkleArgs),
    /// Plays a recording again and compares every step
    Replay(ReplayArgs),
    /// Compares the engine with closed forms: expected and measured side by side
    Verify(VerifyArgs),
    /// Times the benchmark workloads
    Bench(BenchArgs),
    /// Lists the scene library
    Scenes(ScenesArgs),
    /// Lists the styles that surfaces can be drawn in, and their parameters
    Styles(StylesArgs),
    /// Prints the JSON schema of scene files, for editors
    #[command(after_help = "Example:\n  souple schema > souple-scene.schema.json")]
    Schema,
    /// Prints a script that completes this command in a shell
    Completions(CompletionsArgs),
}

impl Command {
    /// Whether the answer, or the error, is one JSON object on standard output.
    pub fn wants_json(&self) -> bool {
        match self {
            Command::Run(args) => args.json,
            Command::Render(args) => args.json,
            Command::Check(args) => args.json,
            Command::Convert(args) => args.json,
            Command::Bake(args) => args.json,
            Command::Paper(args) => args.json,
            Command::Wrinkle(args) => args.json,
            Command::Replay(args) => args.json,
            Command::Verify(args) => args.json,
            Command::Bench(args) => args.json,
            Command::Scenes(args) => args.json,
            Command::Styles(args) => args.json,
            Command::Studio(_) | Command::Schema | Command::Completions(_) => false,
        }
    }
}

/// `souple run`
#[derive(Args, Debug)]
#[command(
    after_help = "Frame 0 is the state at the start; every step of the simulation adds one frame. When the scene has an \
                  `expect` table, it is checked after the scene's own last frame.\n\n\
                  Example:\n  souple run scenes/cloth/flag.toml -o out/flag --format glb,pc2,csv"
)]
pub struct RunArgs {
    /// Scene file, TOML or JSON, or a character, .glb or .gltf
    pub scene: PathBuf,
    /// Folder for the files [default: out/<name of the scene file>]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// What to write, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', default_value = "glb,csv")]
    pub format: Vec<Format>,
    /// How many frames to simulate [default: what the scene says]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub frames: Option<u32>,
    #[command(flatten)]
    pub threads: Threads,
    /// Print one JSON object on standard output and nothing else
    #[arg(long)]
    pub json: bool,
    /// Record the run, to be played again by `souple replay`
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Control stream, one JSON command per line; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    pub control: Option<PathBuf>,
    /// Save the state at the end
    #[arg(long, value_name = "FILE")]
    pub snapshot: Option<PathBuf>,
    /// Begin from a saved state instead of the start of the scene
    #[arg(long, value_name = "SNAPSHOT")]
    pub from: Option<PathBuf>,
    /// Let the scene name files outside its own folder
    #[arg(long)]
    pub allow_outside: bool,
    /// Exit with code 3 when a body diverged and was frozen
    #[arg(long)]
    pub strict: bool,
    /// Count in every frame which triangles of bodies cross; takes about as long as a frame of cloth
    #[arg(long)]
    pub intersections: bool,
}

/// What `souple run` can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Animated glTF for Blender, three.js, any viewer
    Glb,
    /// Point cache, one per body
    Pc2,
    /// Motion designer point cache, one per body
    Mdd,
    /// One OBJ file per frame
    Obj,
    /// One VTP file per frame and a PVD file for ParaView
    Vtk,
    /// Measures of every frame as a table
    Csv,
    /// Measures of every frame as JSON
    Json,
    /// The scene with its defaults written out and its meshes inside
    Toml,
    /// The last frame as a picture
    Png,
    /// All frames as an animated picture
    Gif,
    /// All frames as a video; needs the program ffmpeg
    Mp4,
}

impl Format {
    /// Whether the positions of every frame are needed for it.
    pub fn needs_frames(self) -> bool {
        matches!(self, Format::Glb | Format::Pc2 | Format::Mdd | Format::Obj | Format::Vtk)
    }

    /// Whether it is drawn.
    pub fn is_drawn(self) -> bool {
        matches!(self, Format::Png | Format::Gif | Format::Mp4)
    }

    /// Whether the measures of every frame are needed for it.
    pub fn needs_measures(self) -> bool {
        matches!(self, Format::Csv | Format::Json)
    }
}

/// How many threads work.
#[derive(Args, Clone, Copy, Debug)]
pub struct Threads {
    /// How many threads work; 0 for one per core. The result does not depend on it
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = value_parser!(u64).range(..=MAX_THREADS))]
    pub threads: u64,
}

impl Threads {
    /// As the engine takes it.
    pub fn count(self) -> usize {
        // At most MAX_THREADS, so it always fits.
        usize::try_from(self.threads).unwrap_or(0)
    }
}

/// `souple render`
#[derive(Args, Debug)]
#[command(after_help = "What is written follows from the name of OUT:\n  \
                  .png              the last frame, --frame N, or a --contact-sheet\n  \
                  .gif              an animation; at most 50 frames per second are shown\n  \
                  .mp4 .webm        a video; needs the program ffmpeg\n  \
                  a name ending in /  a folder of pictures, 0000.png and so on\n\n\
                  Frame 0 is the state at the start. Without --camera, the scene is seen from its own camera, or from one \
                  that is fitted to everything that is drawn.\n\n\
                  Example:\n  souple render scenes/cloth/flag.toml --style satin -o flag.gif\n  \
                  souple render scenes/cloth/sphere.toml --contact-sheet 4x2 -o sphere.png")]
pub struct RenderArgs {
    /// Scene file, TOML or JSON, a character, .glb or .gltf, or a recording made by `souple run --record`
    #[arg(value_name = "SCENE|RECORDING")]
    pub input: PathBuf,
    /// What to write: .png, .gif, .mp4, .webm, or a folder (a name that ends in /)
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Draw all bodies in this style, or in your own: a file that ends in .wgsl. `souple styles` lists them
    #[arg(long, value_name = "NAME")]
    pub style: Option<String>,
    /// Draw the elements of solids as lines, over whatever style
    #[arg(long)]
    pub cells: bool,
    /// Draw creases of paper and crests of folds: mountains red, valleys blue
    #[arg(long)]
    pub creases: bool,
    /// Width and height of a picture, pixels [default: 1280x720; 480x270 in a contact sheet]
    #[arg(long, value_name = "WxH", value_parser = picture_size)]
    pub size: Option<(u32, u32)>,
    /// Draw this frame alone
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with_all = ["frames", "every", "contact_sheet"])]
    pub frame: Option<u64>,
    /// Draw the frames from A to B, both included; either may be left out
    #[arg(long, value_name = "A..B", value_parser = frame_range)]
    pub frames: Option<FrameRange>,
    /// Draw one frame of K; the animation keeps its speed
    #[arg(long, value_name = "K", conflicts_with = "contact_sheet", value_parser = value_parser!(u64).range(1..))]
    pub every: Option<u64>,
    /// Where the camera stands and what it looks at, m, and its vertical field of view, degrees
    #[arg(long, value_name = "\"PX,PY,PZ TX,TY,TZ [FOV]\"", value_parser = camera, allow_hyphen_values = true)]
    pub camera: Option<Camera>,
    /// Draw evenly spaced moments in one picture, in so many columns and rows [default: 4x3]
    #[arg(long, value_name = "COLSxROWS", value_parser = sheet_size, num_args = 0..=1, default_missing_value = "4x3")]
    pub contact_sheet: Option<(u32, u32)>,
    /// What draws: a graphics driver (also one in software), or the CPU rasteriser, which needs none
    #[arg(long, value_enum, default_value = "auto")]
    pub renderer: RendererName,
    #[command(flatten)]
    pub threads: Threads,
    /// Let the scene name files outside its own folder
    #[arg(long)]
    pub allow_outside: bool,
    /// Print one JSON object on standard output and nothing else
    #[arg(long)]
    pub json: bool,
}

/// What draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RendererName {
    /// A graphics driver if there is one, else the CPU rasteriser
    Auto,
    /// A graphics driver, or an error
    Gpu,
    /// The CPU rasteriser
    Cpu,
}

/// Frames from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRange {
    /// First frame; 0 when it was left out.
    pub first: u64,
    /// Last frame.
    pub last: Option<u64>,
}

/// `souple studio`
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  souple studio scenes/cloth/flag.toml")]
pub struct StudioArgs {
    /// Scene to open, and whatever else the studio takes; `souple-studio --help` lists it
    #[arg(value_name = "SCENE", trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

/// `souple styles`
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  souple styles --json")]
pub struct StylesArgs {
    /// Print one JSON object on standard output and nothing else
    #[arg(long)]
    pub json: bool,
}

/// `souple check`
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  souple check scenes/cloth/flag.toml")]
pub struct CheckArgs {
    /// Scene file, TOML or JSON, or a character, .glb or .gltf
    pub scene: PathBuf,
    /// Print one JSON object on standard output and nothing else
    #[arg(long)]
    pub json: bool,
    /// Exit with code 3 when there is a warning
    #[arg(long)]
    pub strict: bool,
    /// Let the scene name files outside its own folder
    #[arg(long)]
    pub allow_outside: bool,
}

/// `souple convert`
#[derive(Args, Debug)]
#[command(after_help = "Formats follow from the names of the files:\n  \
                  mesh       .obj .ply .stl .3ds  to  .obj .ply .stl .glb\n  \
                  solid      .msh .ele .node .vtk .vtu .mesh  to  the same, of its surface\n  \
                  scene      .toml .json          to  .toml .json\n  \
                  recording  .souprec             to  .glb .pc2 .mdd\n\n\
                  Example:\n  souple convert teapot.3ds teapot.obj --weld")]
pub struct ConvertArgs {
    /// File to read
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// File to write
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Merge vertices of a mesh that lie at the same place
    #[arg(long)]
    pub weld: bool,
    /// Multiply all coordinates of a mesh
    #[arg(long, value_name = "S", value_parser = positive_number, allow_negative_numbers = true)]
    pub scale: Option<f64>,
    /// Print one JSON object on standard output and nothing else
    #[arg(long)]
    pub json: bool,
}

/// `souple bake`
#[derive(Args, Debug)]
#[command(
    after_help = "The recipe is a scene file with one [[character]] without a rig: its `weights`, `volume`, `skinning` and `scale` are used, and \
                  bodies, as elastic layers of it, and colliders are simulated. Without it every joint keeps its volume. A .glb file has all \
                  clips, and all that the character's file has: skin, materials, pictures; a point cache has one clip, so that several become \
                  several files, with their names in theirs.\n\n\
                  Example:\n  souple bake scenes/characters/arm.glb -o arm-kept.glb --format glb,pc2"
)]
pub struct BakeArgs {
    /// Character, .glb or .gltf, or a mesh with a --skeleton
    #[arg(value_name = "CHARACTER")]
    pub input: PathBuf,
    /// Bones of a mesh that has none, .toml
    #[arg(long, value_name = "FILE")]
    pub skeleton: Option<PathBuf>,
    /// Scene file that says how the skin keeps its volume, and what of it is elastic
    #[arg(long, value_name = "FILE")]
    pub recipe: Option<PathBuf>,
    /// File to write, .glb, .pc2 or .mdd; may be given several times
    #[arg(short, long, value_name = "OUT", required = true)]
    pub output: Vec<PathBuf>,
    /// What to write beside the first of them, by the same name: glb, pc2, mdd
    #[arg(long, value_name = "FORMAT", value_delimiter = ',')]
    pub format: Vec<Format>,
    /// Clip to play, by its name or its number from 0; may be given several times [default: all]
    #[arg(long, value_name = "NAME")]
    pub clip: Vec<String>,
    /// Frames per second
    #[arg(long, value_name = "FPS", default_value_t = 30.0, value_parser = positive_number, allow_negative_numbers = true)]
    pub fps: f64,
    /// Print one JSON object on standard output and nothing else
    #[arg(long)]
    pub json: bool,
}

/// `souple wrinkle`
#[derive(Args, Debug)]
#[command(
    after_help = "Of a .glb or .gltf a clip is played: bones, morph targets, or both. Its rest is how it stands without any.\n\n\
                  Examples:\n  souple wrinkle shirt.obj --cache shirt.pc2 --fabric silk -o folded.glb\n  \
                  souple wrinkle dancer.glb --mesh dress --clip walk -o folded.glb\n  \
                  souple wrinkle frames/*.obj --rest pattern.obj --radius 0.01 -o folded.pc2"
)]
pub struct WrinkleArgs {
    /// An animated .glb or .gltf; the mesh of a point cache; or the meshes of all frames in order: .obj, .ply, .stl or .3ds, in metres
    #[arg(required = true, value_name = "MESH")]
    pub input: Vec<PathBuf>,
    /// Point cache of the mesh: .pc2 or .mdd
    #[arg(long, value_name = "FILE")]
    pub cache: Option<PathBuf>,
    /// The mesh at rest, which folds give its lengths back; the first mesh without it
    #[arg(long, value_name = "MESH")]
    pub rest: Option<PathBuf>,
    /// Mesh of a .glb that gets folds, by name; may be given several times; all without it
    #[arg(long, value_name = "NAME")]
    pub mesh: Vec<String>,
    /// Clip of a .glb that is played, by name or number; the first without it
    #[arg(long, value_name = "NAME")]
    pub clip: Option<String>,
    /// Compare with texture coordinates instead of the mesh at rest
    #[arg(long)]
    pub uv: bool,
    /// Radius of the smallest folds, m; that of the fabric without it
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    pub radius: Option<f64>,
    /// Fabric whose smallest folds are taken
    #[arg(long, value_name = "NAME", default_value = "cotton")]
    pub fabric: String,
    /// Let folds rise to the side that triangles do not face
    #[arg(long)]
    pub inwards: bool,
    /// Frames per second
    #[arg(long, value_name = "FPS", default_value_t = 30.0, value_parser = positive_number, allow_negative_numbers = true)]
    pub fps: f64,
    /// Write this frame alone, from 0, with a mesh along its folds: .obj, .ply or .stl
    #[arg(long, value_name = "FRAME")]
    pub still: Option<usize>,
    /// What to write: .glb, .pc2 or .mdd; may be given several times
    #[arg(short, long, value_name = "OUT", required = true)]
    pub output: Vec<PathBuf>,
    /// Print one JSON object on standard output and nothing else
    #[arg(long)]
    pub json: bool,
}

/// `souple paper`
#[derive(Args, Debug)]
#[command(after_help = "What is written follows from the name of OUT:\n  \
                  .svg .fold        the crease pattern, to be folded\n  \
                  .obj .ply .stl    the sheet, split along its creases\n\n\
                  Pictures, videos and animations of paper are those of its scene: souple render, souple run.\n\n\
                  Example:\n  souple paper scenes/paper/pinched.toml -o pinched.svg -o pinched.fold")]
pub struct PaperArgs {
    /// Scene file with a `[[paper]]`, TOML or JSON
    pub scene: PathBuf,
    /// What to write; may be given several times
    #[arg(short, long, value_name = "OUT")]
    pub output: Vec<PathBuf>,
    /// Which sheet, where the scene has several
    #[arg(long, value_name = "NAME")]
    pub paper: Option<String>,
    /// Take this frame instead of the scene's last
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub frame: Option<u32>,
    /// Let the scene name files outside its own folder
    #[arg(long)]
    pub allow_outside: bool,
    /// Print one JSON object on standard output and nothing else
    #[arg(long)]
    pub json: bool,
}

/// `souple replay`
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  souple run scenes/cloth/flag.toml --record flag.souprec\n  souple replay flag.souprec"
)]
pub struct ReplayArgs {
    /// Recording made by `souple run --record`
    pub recording: PathBuf,
    #[command(flatten)]
    pub threads: Threads,
    /// Print one JSON object on standard output and nothing else
    #[arg(long)]
    pub json: bool,
}

/// `souple verify`
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  souple verify --json")]
pub struct VerifyArgs {
    /// Cases to run; all without any
    #[arg(value_name = "CASE")]
    pub cases: Vec<String>,
    /// Print one JSON object on standard output and nothing else
    #[arg(long)]
    pub json: bool,
}

/// `souple bench`
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  souple bench w1-32 --threads 1,2 --repeats 3\n  souple bench scale limit"
)]
pub struct BenchArgs {
    /// Workloads to run; without any, all but those that take minutes: `scale`, `growth`, `methods`, `contact`, `convergence`, `liver`, `multigrid`
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Print one JSON object on standard output and nothing else
    #[arg(long)]
    pub json: bool,
    /// How many threads work; 0 for one per core; each workload once for each number of a list like 1,2
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "0", value_parser = value_parser!(u64).range(..=MAX_THREADS))]
    pub threads: Vec<u64>,
    /// How often each workload is run from a fresh scene
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u32).range(1..))]
    pub repeats: u32,
    /// How many frames are simulated [default: what the workload says]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub frames: Option<u32>,
    /// From how many starts each scene of `contact` is run
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u32).range(1..))]
    pub starts: u32,
    /// Draw the figures as an SVG plot
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

/// `souple scenes`
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  souple scenes --json")]
pub struct ScenesArgs {
    /// Folder of scenes [default: the nearest folder called `scenes`, from here upwards]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Print one JSON object on standard output and nothing else
    #[arg(long)]
    pub json: bool,
}

/// `souple completions`
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  souple completions bash > ~/.local/share/bash-completion/completions/souple"
)]
pub struct CompletionsArgs {
    /// Shell to complete in
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

fn positive_number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("give a number greater than 0, such as 0.01".to_owned()),
    }
}

/// Two whole numbers with an x between them, each from 1 to `most`.
fn two_counts(text: &str, most: u32) -> Option<(u32, u32)> {
    let (a, b) = text.split_once(['x', 'X', '×'])?;
    let count = |text: &str| text.trim().parse::<u32>().ok().filter(|count| (1..=most).contains(count));
    Some((count(a)?, count(b)?))
}

fn picture_size(text: &str) -> Result<(u32, u32), String> {
    two_counts(text, MAX_SIDE)
        .ok_or_else(|| format!("give width and height from 1 to {MAX_SIDE} pixels, such as 1280x720"))
}

fn sheet_size(text: &str) -> Result<(u32, u32), String> {
    two_counts(text, MAX_SHEET).ok_or_else(|| {
        format!("give columns and rows from 1 to {MAX_SHEET}, such as 4x3, or nothing, as in `--contact-sheet -o OUT`")
    })
}

fn frame_range(text: &str) -> Result<FrameRange, String> {
    let wrong = || "give the first and the last frame, such as 60..120, 60.. or ..120".to_owned();
    let (first, last) = text.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str| match text.trim() {
        "" => Ok(None),
        text => text.parse::<u64>().map(Some).map_err(|_| wrong()),
    };
    let range = FrameRange { first: number(first)?.unwrap_or(0), last: number(last)? };
    match range.last {
        Some(last) if last < range.first => Err(format!("frame {last} comes before frame {}", range.first)),
        _ => Ok(range),
    }
}

fn camera(text: &str) -> Result<Camera, String> {
    let wrong = || {
        "give where it stands and what it looks at, such as \"2,1.5,3 0,0.5,0\", then its field of view"
            .to_owned()
    };
    let point = |text: &str| -> Option<[f64; 3]> {
        let numbers: Option<Vec<f64>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
        numbers?.try_into().ok()
    };
    let parts: Vec<&str> = text.split_whitespace().collect();
    let (position, target, angle) = match parts[..] {
        [position, target] => (position, target, None),
        [position, target, angle] => (position, target, Some(angle)),
        _ => return Err(wrong()),
    };
    let camera = Camera {
        position: point(position).ok_or_else(wrong)?,
        target: point(target).ok_or_else(wrong)?,
        field_of_view_deg: match angle {
            Some(angle) => angle.parse().map_err(|_| wrong())?,
            None => Camera::default().field_of_view_deg,
        },
    };
    if !camera.position.iter().chain(&camera.target).all(|number| number.is_finite() && number.abs() <= 1e6) {
        return Err("all places must be finite numbers of metres, at most a million".to_owned());
    }
    if camera.position == camera.target {
        return Err("the camera stands on what it looks at".to_owned());
    }
    if !(1.0..=150.0).contains(&camera.field_of_view_deg) {
        return Err("the field of view must be from 1 to 150 degrees; 35 is usual".to_owned());
    }
    Ok(camera)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn sizes_and_ranges_are_read() {
        assert_eq!(picture_size("1280x720"), Ok((1280, 720)));
        assert_eq!(picture_size("16384×1"), Ok((16384, 1)));
        for bad in ["0x0", "1280", "1280x", "x720", "-1x5", "16385x10", "99999999999x2", "1.5x2", "axb"] {
            assert!(picture_size(bad).is_err(), "{bad}");
        }
        let range = |first, last| Ok(FrameRange { first, last });
        assert_eq!(frame_range("2..5"), range(2, Some(5)));
        assert_eq!(frame_range("..5"), range(0, Some(5)));
        assert_eq!(frame_range("7.."), range(7, None));
        assert_eq!(frame_range("3..3"), range(3, Some(3)));
        for bad in ["5", "5..2", "a..b", "-1..2", "1...2", ""] {
            assert!(frame_range(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn cameras_are_read() {
        let read = camera(" 1,-2.5,3e0  0,0,0 50 ").unwrap();
        assert_eq!((read.position, read.target, read.field_of_view_deg), ([1.0, -2.5, 3.0], [0.0; 3], 50.0));
        assert_eq!(camera("1,2,3 0,0,0").unwrap().field_of_view_deg, Camera::default().field_of_view_deg);
        for bad in [
            "",
            "1,2,3",
            "1,2 3,4,5",
            "1,2,3 4,5,6 7 8",
            "NaN,0,0 1,1,1",
            "1,1,1 inf,0,0",
            "1,1,1 1,1,1",
            "1,2,3 0,0,0 NaN",
            "1,2,3 0,0,0 180",
            "1e9,0,0 0,0,0",
        ] {
            assert!(camera(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
