//! `souple check`: what is wrong or odd about a scene and the files that it names, and how long its steps may be.

use std::process::ExitCode;

use serde::Serialize;
use souple::SceneError;
use souple::check::{Lint, StepForecast, forecast_steps, lint};
use souple::skin::{CharacterModel, Clip, Posed, SkinMesh};
use souple_files::{Loaded, SceneFolder, load};
use souple_formats::scene::{SceneFileError, Source};
use souple_viewer::style::StyleSheet;

use crate::args::CheckArgs;
use crate::drawing::read_looks;
use crate::failure::{CHECK_FAILED, Failure, Outcome};
use crate::report::{count, say, say_json};

/// Runs the command.
pub fn run(args: &CheckArgs) -> Outcome {
    let loaded = load(&args.scene, args.allow_outside)?;
    check_looks(args, &loaded)?;
    let report = CheckReport::new(args, &loaded);
    if args.json {
        say_json(&report)?;
    } else {
        report.print()?;
    }
    let failed = args.strict && !report.warnings.is_empty();
    Ok(if failed { ExitCode::from(CHECK_FAILED) } else { ExitCode::SUCCESS })
}

/// Refuses what `souple render` would refuse about looks: images and shaders that cannot be used, unknown parameters.
fn check_looks(args: &CheckArgs, loaded: &Loaded) -> Result<(), Failure> {
    let folder = SceneFolder::of_scene(&args.scene, args.allow_outside);
    let mut explain = |error: SceneError| Err(loaded.source.explain(&error).into());
    read_looks(&loaded.scene, &folder, &mut StyleSheet::built_in(), &mut explain).map(drop)
}

#[derive(Serialize)]
struct CheckReport {
    scene: String,
    bodies: usize,
    vertices: usize,
    triangles: usize,
    springs: usize,
    colliders: usize,
    characters: Vec<CharacterReport>,
    frames: u32,
    fps: f64,
    forecasts: Vec<ForecastReport>,
    warnings: Vec<SceneFileError>,
}

/// What of a character can be named in a scene.
#[derive(Serialize)]
struct CharacterReport {
    name: String,
    bones: Vec<String>,
    meshes: Vec<MeshReport>,
    clips: Vec<ClipReport>,
    /// Lowest and highest corner of the box around it when the scene begins, m.
    begins_within: [[f64; 3]; 2],
}

#[derive(Serialize)]
struct MeshReport {
    name: String,
    vertices: usize,
    triangles: usize,
}

#[derive(Serialize)]
struct ClipReport {
    name: String,
    /// How long it is, s.
    duration: f64,
}

/// Most names of one kind that people are shown; `--json` has all.
const MOST_NAMES: usize = 100;

#[derive(Serialize)]
struct ForecastReport {
    body: String,
    solver: &'static str,
    /// Step that the scene takes, s.
    dt: f64,
    /// Longest stable step, s; `null` when any is stable.
    longest_dt: Option<f64>,
    stable: bool,
    /// Stiffest mode, rad/s.
    omega: f64,
}

impl CheckReport {
    fn new(args: &CheckArgs, loaded: &Loaded) -> CheckReport {
        let Loaded { scene, source, model } = loaded;
        let topologies = || model.bodies.iter().map(|body| &body.topology);
        CheckReport {
            scene: args.scene.display().to_string(),
            bodies: model.bodies.len(),
            vertices: model.particle_count(),
            triangles: topologies().map(|topology| topology.triangles.len()).sum(),
            springs: topologies().map(|topology| topology.springs.len()).sum(),
            colliders: model.colliders.len(),
            characters: model.characters.iter().map(CharacterReport::from).collect(),
            frames: model.frames,
            fps: model.fps,
            forecasts: forecast_steps(model).into_iter().map(ForecastReport::from).collect(),
            warnings: lint(scene, model).iter().map(|lint| locate(source, lint)).collect(),
        }
    }

    fn print(&self) -> Result<(), Failure> {
        for warning in &self.warnings {
            say(&as_warning(warning))?;
            say("")?;
        }
        say(&format!(
            "{}: {}, {}, {}, {}, {}",
            self.scene,
            count(self.bodies, "body", "bodies"),
            count(self.vertices, "vertex", "vertices"),
            count(self.triangles, "triangle", "triangles"),
            count(self.springs, "spring", "springs"),
            count(self.colliders, "collider", "colliders"),
        ))?;
        for character in &self.characters {
            character.lines().iter().try_for_each(|line| say(line))?;
        }
        for forecast in &self.forecasts {
            say(&forecast.to_string())?;
        }
        match self.warnings.len() {
            0 => say("nothing odd found"),
            n => say(&count(n, "warning", "warnings")),
        }
    }
}

impl From<&CharacterModel> for CharacterReport {
    fn from(character: &CharacterModel) -> Self {
        let rig = &character.rig;
        let mut nodes: Vec<u32> = rig.bindings.iter().flatten().map(|(node, _)| *node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mesh = |mesh: &SkinMesh| MeshReport {
            name: mesh.name.clone(),
            vertices: mesh.mesh.positions.len(),
            triangles: mesh.mesh.triangles.len(),
        };
        let clip = |clip: &Clip| ClipReport { name: clip.name.clone(), duration: clip.duration };
        CharacterReport {
            name: character.name.clone(),
            bones: nodes.iter().filter_map(|node| rig.skeleton.names.get(*node as usize).cloned()).collect(),
            meshes: rig.meshes.iter().map(mesh).collect(),
            clips: rig.clips.iter().map(clip).collect(),
            begins_within: begins_within(character),
        }
    }
}

/// Lowest and highest corner of the box around the skin of a character when a scene begins, m.
fn begins_within(character: &CharacterModel) -> [[f64; 3]; 2] {
    let posed = Posed::at(std::slice::from_ref(character), 0.0);
    let Some(posed) = posed.characters.first() else { return [[0.0; 3]; 2] };
    let mut places = Vec::new();
    for (m, mesh) in (0u32..).zip(&character.rig.meshes) {
        let vertices = 0..mesh.mesh.positions.len() as u32;
        places.extend(vertices.map(|v| posed.pose.apply(posed.vertex(character, m, v))));
    }
    let (low, high) = souple::mesh::bounds(&places);
    [low.to_array(), high.to_array()]
}

impl CharacterReport {
    /// For people: each kind of what can be named in a line.
    fn lines(&self) -> Vec<String> {
        let CharacterReport { name, bones, meshes, clips, begins_within: [low, high] } = self;
        let list = |what: &str, names: Vec<String>| {
            let more = names.len().saturating_sub(MOST_NAMES);
            let shown = names.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(", ");
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            (!names.is_empty()).then(|| format!("  {what}: {shown}{more}"))
        };
        let quoted = |name: &String| format!("'{name}'");
        let mesh = |mesh: &MeshReport| {
            format!("'{}' ({} vertices, {} triangles)", mesh.name, mesh.vertices, mesh.triangles)
        };
        let clip = |clip: &ClipReport| format!("'{}' ({:.2} s)", clip.name, clip.duration);
        let title = format!(
            "character '{name}': {}, {}, {}",
            count(bones.len(), "bone", "bones"),
            count(meshes.len(), "mesh", "meshes"),
            count(clips.len(), "clip", "clips")
        );
        let lists = [
            list("bones", bones.iter().map(quoted).collect()),
            list("meshes", meshes.iter().map(mesh).collect()),
            list("clips", clips.iter().map(clip).collect()),
            (!meshes.is_empty()).then(|| {
                let range = |axis: usize| format!("{:.3} to {:.3} m", low[axis], high[axis]);
                format!("  it begins within x {}, y {}, z {}", range(0), range(1), range(2))
            }),
        ];
        std::iter::once(title).chain(lists.into_iter().flatten()).collect()
    }
}

impl From<StepForecast> for ForecastReport {
    fn from(forecast: StepForecast) -> Self {
        let StepForecast { body, solver, dt, longest_dt, mode } = forecast;
        let longest = longest_dt.is_finite().then_some(longest_dt);
        ForecastReport { body, solver, dt, longest_dt: longest, stable: dt <= longest_dt, omega: mode.omega }
    }
}

impl std::fmt::Display for ForecastReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ForecastReport { body, solver, dt, .. } = self;
        match self.longest_dt {
            Some(longest) => {
                write!(f, "'{body}': {solver} needs dt < {longest:.1e} s here; the scene takes {dt:.1e} s")
            }
            None => write!(f, "'{body}': {solver} is stable at any dt; the scene takes {dt:.1e} s"),
        }
    }
}

/// The oddities of a scene as people read them, for commands that go on all the same.
pub fn warnings(loaded: &Loaded) -> Vec<String> {
    let Loaded { scene, source, model } = loaded;
    lint(scene, model).iter().map(|lint| as_warning(&locate(source, lint))).collect()
}

/// Where in the file a lint belongs.
fn locate(source: &Source, lint: &Lint) -> SceneFileError {
    let Lint { field, message, help } = lint;
    let mut found = source.explain(&SceneError::new(field, message, help));
    // The engine's lints name what they are about; the path of the field in front of them would only be noise.
    if let Some(rest) = found.message.strip_prefix(&format!("{field}: ")) {
        found.message = rest.to_owned();
    }
    found
}

/// An error of a scene file, shown as a warning.
fn as_warning(error: &SceneFileError) -> String {
    let text = error.to_string();
    match text.strip_prefix("error: ") {
        Some(rest) => format!("warning: {rest}"),
        None => text,
    }
}
