//! `souple convert`: meshes, scenes and recordings into other formats. Which ones follows from the names of the files.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use souple::mesh::TriMesh;
use souple::scene::{Body, ColliderShape, PaintSource, RigSource, Shape};
use souple_files::{BYTES_PER_VERTEX, FrameRecorder, MEMORY_LIMIT, Replay, disk, read_scene_file, size};
use souple_formats::animation::{Animation, BodyAnimation, Frame};
use souple_formats::export_mesh::{write_obj, write_ply, write_stl};
use souple_formats::import::{Limits, MeshFormat, read_mesh, read_tetgen};
use souple_formats::scene::{tetgen_pair, write_scene_toml};

use crate::args::{ConvertArgs, Format};
use crate::failure::{Failure, Outcome};
use crate::outputs::{Writer, estimate_bytes};
use crate::replay::play;
use crate::report::{note, say, say_json};

/// Frame rate of a single frame: any positive number will do.
const STATIC_FPS: f64 = 60.0;

/// Runs the command.
pub fn run(args: &ConvertArgs) -> Outcome {
    let report = match Kind::of(&args.input)? {
        // A scene that shows the character, to go on from.
        Kind::Mesh(MeshFormat::Gltf) if ["toml", "json"].contains(&extension(&args.output).as_str()) => {
            convert_scene(args)?
        }
        Kind::Mesh(format) => convert_mesh(args, format)?,
        Kind::Scene => convert_scene(args)?,
        Kind::Recording => convert_recording(args)?,
    };
    if args.json {
        say_json(&report)?;
    } else {
        for file in &report.files {
            say(&format!("wrote {file}: {}", report.what))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct ConvertReport {
    input: String,
    /// What was converted, in a few words.
    what: String,
    files: Vec<String>,
}

impl ConvertReport {
    fn new(args: &ConvertArgs, what: String, files: Vec<String>) -> ConvertReport {
        ConvertReport { input: args.input.display().to_string(), what, files }
    }
}

/// What a file holds, judged by its name.
enum Kind {
    Mesh(MeshFormat),
    Scene,
    Recording,
}

impl Kind {
    fn of(path: &Path) -> Result<Kind, Failure> {
        let extension = extension(path);
        match extension.as_str() {
            "toml" | "json" => Ok(Kind::Scene),
            "souprec" => Ok(Kind::Recording),
            _ => MeshFormat::from_extension(&extension).map(Kind::Mesh).ok_or_else(|| {
                let problem = format!("cannot tell what this file holds from its ending '{extension}'");
                Failure::file(
                    path,
                    problem,
                    "meshes end in .obj .ply .stl .3ds, solids in .msh .ele .node .vtk .vtu .mesh, scenes in .toml .json, recordings in .souprec",
                )
            }),
        }
    }
}

fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

fn cannot_become(args: &ConvertArgs, what: &str, known: &str) -> Failure {
    let problem = format!("a {what} cannot be written as '.{}'", extension(&args.output));
    Failure::file(&args.output, problem, format!("end its name in one of {known}"))
}

fn no_mesh_options(args: &ConvertArgs) -> Result<(), Failure> {
    if args.weld || args.scale.is_some() {
        return Err(Failure::Usage("--weld and --scale are for meshes".to_owned()));
    }
    Ok(())
}

fn convert_mesh(args: &ConvertArgs, format: MeshFormat) -> Result<ConvertReport, Failure> {
    const KNOWN: &str = ".obj .ply .stl .glb";
    let out = extension(&args.output);
    if !["obj", "ply", "stl", "glb"].contains(&out.as_str()) {
        return Err(cannot_become(args, "mesh", KNOWN));
    }
    let limits = Limits::default();
    let bytes = disk::read(&args.input, limits.max_bytes, "mesh")?;
    let mesh = if format == MeshFormat::TetGen {
        read_both(args, &limits)?
    } else {
        read_mesh(&bytes, format, &limits).map_err(|error| Failure::file(&args.input, error, ""))?
    };
    drop(bytes);
    let mut mesh = if args.weld { mesh.welded() } else { mesh };
    if let Some(scale) = args.scale {
        mesh.positions.iter_mut().for_each(|position| *position *= scale);
    }
    mesh.validate().map_err(|error| Failure::file(&args.input, error, "use a smaller --scale"))?;
    let what = format!("{} vertices, {} triangles", mesh.positions.len(), mesh.triangles.len());
    let mut writer = Writer::new();
    match out.as_str() {
        "obj" => writer.write(&args.output, Ok(write_obj(&mesh))),
        "ply" => writer.write(&args.output, Ok(write_ply(&mesh))),
        "stl" => writer.write(&args.output, stl_bytes(&args.output, &mesh)),
        _ => writer.animation_file(&args.output, "glb", &still(&args.input, &mesh)),
    }
    Ok(ConvertReport::new(args, what, finished(writer)?))
}

/// The surface of a mesh of TetGen, of which one file is named and the other lies beside it.
fn read_both(args: &ConvertArgs, limits: &Limits) -> Result<TriMesh, Failure> {
    let name = args.input.display().to_string();
    let (node, ele) = tetgen_pair(&name).unwrap_or((name.clone(), name));
    let read = |path: &str| disk::read(Path::new(path), limits.max_bytes, "mesh");
    let solid = read_tetgen(&read(&node)?, &read(&ele)?, limits);
    solid.map(|solid| solid.surface()).map_err(|error| Failure::file(&args.input, error, ""))
}

/// STL holds triangles of 32-bit floats and nothing else.
fn stl_bytes(path: &Path, mesh: &TriMesh) -> Result<Vec<u8>, Failure> {
    if mesh.triangles.is_empty() {
        return Err(Failure::file(
            path,
            "the mesh has no triangles, and STL holds nothing else",
            "write .ply or .obj",
        ));
    }
    if mesh.positions.iter().any(|position| !position.as_vec3().is_finite()) {
        return Err(Failure::file(
            path,
            "a coordinate is too large for STL",
            "use --scale, or write .ply or .obj",
        ));
    }
    Ok(write_stl(mesh))
}

/// A mesh as an animation of one frame.
fn still(path: &Path, mesh: &TriMesh) -> Animation {
    let positions = mesh.positions.iter().map(|position| position.as_vec3().to_array()).collect();
    let body = BodyAnimation {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        triangles: mesh.triangles.clone(),
        lines: Vec::new(),
        uvs: mesh.uvs.iter().map(|uv| uv.map(|c| c as f32)).collect(),
        frames: vec![Frame { positions, velocities: Vec::new() }],
    };
    Animation { fps: STATIC_FPS, bodies: vec![body] }
}

fn convert_scene(args: &ConvertArgs) -> Result<ConvertReport, Failure> {
    no_mesh_options(args)?;
    let out = extension(&args.output);
    if !["toml", "json"].contains(&out.as_str()) {
        return Err(cannot_become(args, "scene", ".toml .json"));
    }
    let file = read_scene_file(&args.input)?;
    let text = match out.as_str() {
        "toml" => write_scene_toml(&file.scene).map_err(|error| file.source.explain(&error))?,
        _ => {
            let text = serde_json::to_string_pretty(&file.scene);
            text.map_err(|error| Failure::file(&args.output, error, ""))? + "\n"
        }
    };
    let names_file = |shape: &Shape| match shape {
        Shape::File(_) => true,
        Shape::Voxels(voxels) => !voxels.path.is_empty(),
        _ => false,
    };
    let is_painted = |body: &Body| {
        let paints = body.elastic.iter().flat_map(|elastic| &elastic.paints);
        paints.into_iter().any(|paint| matches!(paint.with, PaintSource::Picture(_)))
    };
    let has_files = file.scene.bodies.iter().any(|body| names_file(&body.shape) || is_painted(body))
        || file.scene.characters.iter().any(|character| matches!(character.rig, RigSource::File(_)))
        || file.scene.colliders.iter().any(|collider| matches!(collider.shape, ColliderShape::File(_)));
    if has_files && args.input.parent() != args.output.parent() {
        note("warning: the scene names mesh files by paths relative to itself; copy them along");
    }
    disk::write(&args.output, text.as_bytes())?;
    Ok(ConvertReport::new(args, "scene".to_owned(), vec![args.output.display().to_string()]))
}

fn convert_recording(args: &ConvertArgs) -> Result<ConvertReport, Failure> {
    no_mesh_options(args)?;
    let out = extension(&args.output);
    let format = match out.as_str() {
        "glb" => Format::Glb,
        "pc2" => Format::Pc2,
        "mdd" => Format::Mdd,
        _ => return Err(cannot_become(args, "recording", ".glb .pc2 .mdd")),
    };
    let mut replay = Replay::open(&args.input, 0)?;
    let (frames, vertices) = (replay.steps() as u64, replay.simulation.model().particle_count() as u64);
    let needed = estimate_bytes(&[format], frames, vertices) + u128::from(vertices) * BYTES_PER_VERTEX;
    if needed > MEMORY_LIMIT {
        let problem =
            format!("{frames} frames of {vertices} vertices would need about {} of memory", size(needed));
        return Err(Failure::file(&args.input, problem, "record a part at a time"));
    }
    disk::check_writable(&args.output)?;
    let mut recorder = FrameRecorder::new(&replay.simulation, false);
    if let Some(difference) = play(&mut replay, |simulation| recorder.record(simulation))? {
        let problem = format!("step {} does not come out as it was recorded", difference.step);
        let help = "replay it with the version of the program that recorded it; nothing was written";
        return Err(Failure::file(&args.input, problem, help));
    }
    let animation = recorder.finish(&replay.simulation);
    let mut writer = Writer::new();
    writer.animation_file(&args.output, &out, &animation);
    let what = format!("{} frames", animation.frame_count());
    Ok(ConvertReport::new(args, what, finished(writer)?))
}

/// What was written, or the first thing that was not.
fn finished(writer: Writer) -> Result<Vec<String>, Failure> {
    match writer.failures.into_iter().next() {
        Some(failure) => Err(failure),
        None => Ok(writer.written.iter().map(|path| path.display().to_string()).collect()),
    }
}
