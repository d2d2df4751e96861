//! What can be written on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};

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
    /// Reads a scene, and says what is wrong or odd about it and how long its steps may be
    Check(CheckArgs),
    /// Turns a mesh, a scene or a recording into another format
    Convert(ConvertArgs),
    /// Plays a recording again and compares every step
    Replay(ReplayArgs),
    /// Compares the engine with closed forms: expected and measured side by side
    Verify(VerifyArgs),
    /// Times the benchmark workloads
    Bench(BenchArgs),
    /// Lists the scene library
    Scenes(ScenesArgs),
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
            Command::Check(args) => args.json,
            Command::Convert(args) => args.json,
            Command::Replay(args) => args.json,
            Command::Verify(args) => args.json,
            Command::Bench(args) => args.json,
            Command::Scenes(args) => args.json,
            Command::Schema | Command::Completions(_) => false,
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
    /// Scene file, TOML or JSON
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
    /// Let the scene name mesh files outside its own folder
    #[arg(long)]
    pub allow_outside: bool,
    /// Exit with code 3 when a body diverged and was frozen
    #[arg(long)]
    pub strict: bool,
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
}

impl Format {
    /// Whether the positions of every frame are needed for it.
    pub fn needs_frames(self) -> bool {
        matches!(self, Format::Glb | Format::Pc2 | Format::Mdd | Format::Obj | Format::Vtk)
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

/// `souple check`
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  souple check scenes/cloth/flag.toml")]
pub struct CheckArgs {
    /// Scene file, TOML or JSON
    pub scene: PathBuf,
    /// Print one JSON object on standard output and nothing else
    #[arg(long)]
    pub json: bool,
    /// Exit with code 3 when there is a warning
    #[arg(long)]
    pub strict: bool,
    /// Let the scene name mesh files outside its own folder
    #[arg(long)]
    pub allow_outside: bool,
}

/// `souple convert`
#[derive(Args, Debug)]
#[command(after_help = "Formats follow from the names of the files:\n  \
                  mesh       .obj .ply .stl .3ds  to  .obj .ply .stl .glb\n  \
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
#[command(after_help = "Example:\n  souple bench w1-32 --threads 1 --repeats 3")]
pub struct BenchArgs {
    /// Workloads to run; all without any
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Print one JSON object on standard output and nothing else
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub threads: Threads,
    /// How often each workload is run from a fresh scene
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u32).range(1..))]
    pub repeats: u32,
    /// How many frames are simulated [default: what the workload says]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub frames: Option<u32>,
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
