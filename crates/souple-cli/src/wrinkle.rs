//! `souple wrinkle`: folds on a coarse animation that another program made, as a glTF file, as a mesh with a point cache or as a sequence of meshes.
//!
//! A glTF file becomes a scene of its own, with a collider that is the skin of a character: so vertices that move as one are joined across seams, and what the
//! character does as a whole moves no fold.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use glam::DVec3;
use serde::Serialize;
use souple::fabrics;
use souple::mesh::TriMesh;
use souple::scene::{
    Body, Character, Collider, ColliderShape, FoldPattern, FoldSide, InlineMesh, Layout, PlayedClip,
    RigSource, Scene, Shape, SkinShape, Springs, Time, Wrinkling,
};
use souple::wrinkles::{Folds, Isometry, Projector, Tracker, Wrinkles};
use souple::{ModelBuilder, Simulation};
use souple_files::{SceneFolder, disk};
use souple_formats::animation::{Animation, BodyAnimation, Frame};
use souple_formats::export::point_cache::{PointCacheBudget, read_mdd, read_pc2};
use souple_formats::export_mesh::{write_obj, write_ply, write_stl};
use souple_formats::import::{Limits, MeshFormat, read_mesh, read_rig};

use crate::args::WrinkleArgs;
use crate::failure::{Failure, Outcome};
use crate::outputs::Writer;
use crate::report::{Progress, say, say_json};

/// Files that can be written, by their ending.
const ENDINGS: [&str; 3] = ["glb", "pc2", "mdd"];

/// Files that still frames can be written as.
const STILL_ENDINGS: [&str; 3] = ["obj", "ply", "stl"];
/// Name of the character that a glTF file becomes.
const WEARER: &str = "wearer";
/// Most frames of a clip.
const MAX_FRAMES: f64 = 1e6;

/// What is said of folds; pairs are of the animation as it was given and as it is written.
#[derive(Serialize)]
struct WrinkleReport {
    frames: usize,
    vertices: [usize; 2],
    /// Most folds in a frame.
    folds: usize,
    /// Root of the mean square of compression in the most compressed frame.
    compression: [f64; 2],
    /// Mean elongation across folds there.
    across: [f64; 2],
    /// Vertices of the mesh along the folds of a still frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    still_vertices: Option<usize>,
    /// What is odd about the result, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    files: Vec<String>,
}

/// What came of an animation.
struct Folded {
    animation: Animation,
    /// The frame that was asked for, with a mesh along its folds.
    still: Option<TriMesh>,
    report: WrinkleReport,
}

/// A frame with a mesh along its folds.
fn still(wrinkles: &Wrinkles, folds: &Folds, x: &[DVec3], uvs: &[[f64; 2]]) -> TriMesh {
    let (mesh, positions) = wrinkles.still(folds, x);
    TriMesh { uvs: mesh.uvs(uvs), positions, triangles: mesh.triangles }
}

/// Runs the command.
pub fn run(args: &WrinkleArgs) -> Outcome {
    for path in &args.output {
        let (endings, what) = match args.still {
            None => (ENDINGS, "folds are written as .glb, .pc2 or .mdd"),
            Some(_) => (STILL_ENDINGS, "a still frame is written as .obj, .ply or .stl"),
        };
        if !endings.contains(&ending(path).as_str()) {
            return Err(Failure::file(path, what, "end its name in one of them"));
        }
        disk::check_writable(path)?;
    }
    let name = args.input[0].file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let is_character = |path: &PathBuf| MeshFormat::from_extension(&ending(path)) == Some(MeshFormat::Gltf);
    let Folded { animation, still, mut report } = if args.input.iter().any(is_character) {
        fold_character(args, name)?
    } else {
        if !args.mesh.is_empty() || args.clip.is_some() {
            return Err(Failure::Usage("--mesh and --clip are of .glb and .gltf files".to_owned()));
        }
        let (rest, frames) = read(args)?;
        let wrinkles = compile(args, &rest)?;
        fold(&wrinkles, &rest, &frames, args, name)
    };
    report.note = report.oddity();
    match (args.still, still) {
        (Some(_), Some(mesh)) => {
            report.still_vertices = Some(mesh.positions.len());
            for path in &args.output {
                let bytes = match ending(path).as_str() {
                    "obj" => write_obj(&mesh),
                    "ply" => write_ply(&mesh),
                    _ => write_stl(&mesh),
                };
                disk::write(path, &bytes)?;
                report.files.push(path.display().to_string());
            }
        }
        (Some(frame), None) => {
            let help = format!("frames are 0 to {}", report.frames.saturating_sub(1));
            return Err(Failure::file(&args.input[0], format!("there is no frame {frame}"), help));
        }
        (None, _) => {
            let mut writer = Writer::new();
            args.output.iter().for_each(|path| writer.animation_file(path, &ending(path), &animation));
            if let Some(failure) = writer.failures.into_iter().next() {
                return Err(failure);
            }
            report.files = writer.written.iter().map(|path| path.display().to_string()).collect();
        }
    }
    if args.json {
        say_json(&report)?;
    } else {
        report.print()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

fn mesh(path: &Path) -> Result<TriMesh, Failure> {
    let limits = Limits::default();
    let Some(format) = MeshFormat::from_extension(&ending(path)) else {
        return Err(Failure::file(
            path,
            "cannot tell what mesh this is from its ending",
            "give .glb, .obj, .ply, .stl or .3ds",
        ));
    };
    let bytes = disk::read(path, limits.max_bytes, "mesh")?;
    read_mesh(&bytes, format, &limits).map_err(|error| Failure::file(path, error.to_string(), ""))
}

/// The mesh at rest, and where its vertices are in each frame, m.
fn read(args: &WrinkleArgs) -> Result<(TriMesh, Vec<Vec<DVec3>>), Failure> {
    let [first, others @ ..] = &args.input[..] else {
        return Err(Failure::Usage("give a mesh".to_owned()));
    };
    let first_mesh = mesh(first)?;
    let misfit = |path: &PathBuf, what: String| {
        Failure::file(
            path,
            what,
            "every frame needs the vertices and triangles of the first file, in their order",
        )
    };
    let frames = match &args.cache {
        Some(_) if !others.is_empty() => {
            return Err(Failure::Usage("a point cache goes with one mesh; leave the others out".to_owned()));
        }
        Some(path) => {
            let budget = PointCacheBudget::default();
            let bytes = disk::read(path, budget.max_bytes, "point cache")?;
            let read = match ending(path).as_str() {
                "mdd" => read_mdd(&bytes, &budget).map(|mdd| mdd.frames),
                _ => read_pc2(&bytes, &budget).map(|pc2| pc2.frames),
            };
            let frames = read.map_err(|error| Failure::file(path, error.to_string(), ""))?;
            let count = first_mesh.positions.len();
            if frames.point_count != count {
                let what = format!("it has {} points, and the mesh {count} vertices", frames.point_count);
                return Err(misfit(path, what));
            }
            let wide = |frame: &[[f32; 3]]| frame.iter().map(|p| DVec3::from(p.map(f64::from))).collect();
            (0..frames.frame_count()).filter_map(|k| frames.frame(k).map(wide)).collect()
        }
        None if others.is_empty() => {
            return Err(Failure::Usage(
                "one mesh does not move: add --cache FILE.pc2, or give the meshes of all frames".to_owned(),
            ));
        }
        None => {
            let mut frames = vec![first_mesh.positions.clone()];
            for path in others {
                let next = mesh(path)?;
                if next.positions.len() != first_mesh.positions.len()
                    || next.triangles != first_mesh.triangles
                {
                    let what = format!(
                        "it has {} vertices and {} triangles, and the first file {} and {}, or they are in another order",
                        next.positions.len(),
                        next.triangles.len(),
                        first_mesh.positions.len(),
                        first_mesh.triangles.len()
                    );
                    return Err(misfit(path, what));
                }
                frames.push(next.positions);
            }
            frames
        }
    };
    let rest = match &args.rest {
        None => first_mesh,
        Some(path) => {
            let rest = mesh(path)?;
            if rest.triangles != first_mesh.triangles || rest.positions.len() != first_mesh.positions.len() {
                return Err(misfit(path, "it is another mesh than that of the animation".to_owned()));
            }
            rest
        }
    };
    if let Some(k) = frames.iter().position(|frame| frame.iter().any(|p| !p.is_finite())) {
        return Err(Failure::file(first, format!("frame {k} has a number that is not finite"), ""));
    }
    Ok((rest, frames))
}

/// What the user said about folds.
fn wrinkling(args: &WrinkleArgs, radius: Option<f64>) -> Wrinkling {
    Wrinkling {
        smallest_radius: radius,
        side: if args.inwards { FoldSide::In } else { FoldSide::Out },
        pattern: if args.uv { FoldPattern::Uv } else { FoldPattern::Rest },
        ..Wrinkling::default()
    }
}

/// The folds of the mesh, checked as those of a body of a scene are.
fn compile(args: &WrinkleArgs, rest: &TriMesh) -> Result<Wrinkles, Failure> {
    let inline = InlineMesh {
        positions: rest.positions.iter().map(|p| p.to_array()).collect(),
        triangles: rest.triangles.clone(),
        uvs: rest.uvs.clone(),
        ..InlineMesh::default()
    };
    let body = Body {
        shape: Shape::Mesh(inline),
        fabric: Some(args.fabric.clone()),
        springs: Springs { layout: Layout::Graph(1), ..Springs::default() },
        wrinkles: Some(wrinkling(args, args.radius)),
        ..Body::default()
    };
    let scene = Scene { bodies: vec![body], ..Scene::default() };
    let model = ModelBuilder::new(&scene).build().map_err(|error| {
        let field = error.field.replace("body[0].", "").replace("wrinkles.smallest_radius", "--radius");
        Failure::file(&args.input[0], format!("{field}: {}", error.problem), error.help.clone())
    })?;
    match model.bodies.into_iter().next().and_then(|body| body.wrinkles) {
        Some(wrinkles) => Ok(Wrinkles::clone(&wrinkles)),
        None => Err(Failure::file(&args.input[0], "the mesh has no surface", "")),
    }
}

/// Folds every frame.
fn fold(
    wrinkles: &Wrinkles,
    rest: &TriMesh,
    frames: &[Vec<DVec3>],
    args: &WrinkleArgs,
    name: String,
) -> Folded {
    let fps = args.fps;
    let mut kept = None;
    let (mut tracker, mut projector) = (Tracker::default(), Projector::default());
    let mut folds = frames.first().map(|x| wrinkles.settled(&mut tracker, x)).unwrap_or_default();
    let (mut drawn, mut places) = (Vec::with_capacity(frames.len()), Vec::new());
    let mut worst: [Isometry; 2] = [Isometry { mean_across: 1.0, ..Isometry::default() }; 2];
    let mut most = folds.curves.len();
    let mut progress = Progress::new("frame", frames.len() as u64);
    for (k, x) in frames.iter().enumerate() {
        if k > 0 {
            wrinkles.advance(&mut tracker, &mut folds, x, 1.0 / fps);
        }
        wrinkles.surface(&mut projector, &folds, x, &mut places);
        if args.still == Some(k) {
            kept = Some(still(wrinkles, &folds, x, &rest.uvs));
        }
        most = most.max(folds.curves.len());
        let found = wrinkles.isometry(x, &places);
        if found[0].compression > worst[0].compression {
            worst = found;
        }
        let positions = places.iter().map(|p| p.as_vec3().to_array()).collect();
        drawn.push(Frame { positions, velocities: Vec::new() });
        progress.advance();
    }
    let vertices = [rest.positions.len(), wrinkles.fine.shares.len()];
    let report = WrinkleReport::new(frames.len(), vertices, most, worst);
    let body = BodyAnimation {
        name,
        triangles: wrinkles.fine.triangles.clone(),
        lines: Vec::new(),
        uvs: wrinkles.fine.uvs(&rest.uvs).into_iter().map(|uv| uv.map(|c| c as f32)).collect(),
        frames: drawn,
    };
    Folded { animation: Animation { fps, bodies: vec![body] }, still: kept, report }
}

/// The scene in which a clip of a glTF file is played, and how many frames it has.
fn character_scene(args: &WrinkleArgs) -> Result<(Scene, usize), Failure> {
    let [path] = &args.input[..] else {
        return Err(Failure::Usage("a .glb has all of its frames; give it alone".to_owned()));
    };
    if args.cache.is_some() || args.rest.is_some() {
        return Err(Failure::Usage(
            "a .glb has its own frames and its own rest; leave --cache and --rest out".to_owned(),
        ));
    }
    let limits = Limits::default();
    let bytes = disk::read(path, limits.max_bytes, "animation")?;
    let folder = SceneFolder::of_scene(path, false);
    let mut beside = |uri: &str| folder.read(uri, limits.max_bytes, "buffer");
    let rig = read_rig(&bytes, &limits, &mut beside)
        .map_err(|error| Failure::file(path, error, "repair the file, or export it again"))?;
    let clip = match &args.clip {
        None => rig.clips.first().map(|_| 0),
        Some(name) => {
            let by_number = || name.parse().ok().filter(|k: &usize| *k < rig.clips.len());
            rig.clips.iter().position(|clip| clip.name == *name).or_else(by_number)
        }
    };
    let Some(clip) = clip else {
        let known = rig.clips.iter().map(|clip| format!("'{}'", clip.name)).collect::<Vec<_>>().join(", ");
        return Err(match (&args.clip, known.is_empty()) {
            (Some(name), false) => {
                Failure::file(path, format!("there is no clip '{name}'"), format!("it has: {known}"))
            }
            _ => Failure::file(
                path,
                "it holds no animation",
                "export it with one, or give a mesh with --cache",
            ),
        });
    };
    let ends = rig.clips[clip].channels.iter().filter_map(|channel| channel.times.last());
    let duration = ends.fold(0.0f64, |longest, end| longest.max(*end));
    let frames = (duration * args.fps).ceil() + 1.0;
    // What is not a number is too many, too.
    let fits = frames <= MAX_FRAMES;
    if !fits {
        let problem = format!("its clip '{}' would be {frames} frames", rig.clips[clip].name);
        return Err(Failure::file(path, problem, "give a smaller --fps"));
    }
    let Some(fabric) = fabrics::fabric(&args.fabric) else {
        let known = fabrics::FABRICS.iter().map(|f| f.name).collect::<Vec<_>>().join(", ");
        return Err(Failure::Usage(format!("there is no fabric '{}'; there are: {known}", args.fabric)));
    };
    let play = PlayedClip { name: clip.to_string(), repeat: false, ..PlayedClip::default() };
    let meshes = (!args.mesh.is_empty()).then(|| args.mesh.clone());
    let scene = Scene {
        time: Time { fps: args.fps, frames: frames as u32 },
        characters: vec![Character {
            name: WEARER.into(),
            rig: RigSource::Inline(rig),
            clips: vec![play],
            ..Character::default()
        }],
        colliders: vec![Collider {
            name: "cloth".into(),
            shape: ColliderShape::Skin(SkinShape { character: WEARER.into(), meshes }),
            wrinkles: Some(wrinkling(args, args.radius.or(Some(fabric.fold_radius)))),
            ..Collider::default()
        }],
        ..Scene::default()
    };
    Ok((scene, frames as usize))
}

/// Folds every frame of a clip of a glTF file.
fn fold_character(args: &WrinkleArgs, name: String) -> Result<Folded, Failure> {
    let (scene, frames) = character_scene(args)?;
    let model = ModelBuilder::new(&scene).build().map_err(|error| {
        let field = match error.field.as_str() {
            "collider[0].wrinkles.smallest_radius" => "--radius".to_owned(),
            "collider[0].shape.skin.meshes" => "--mesh".to_owned(),
            other => other.replace("collider[0].", "").replace("character[0].", ""),
        };
        let problem = error.problem.replace(&format!("'{WEARER}'"), "the file");
        Failure::file(&args.input[0], format!("{field}: {problem}"), error.help.clone())
    })?;
    let mut played = Simulation::new(model);
    let cloth = &played.model().colliders[0];
    let (Some(wrinkles), Some(mesh)) = (cloth.wrinkles.clone(), cloth.form.mesh().cloned()) else {
        return Err(Failure::file(&args.input[0], "it has no surface", ""));
    };
    let (mut drawn, mut most, mut kept) = (Vec::with_capacity(frames), 0, None);
    let mut worst: [Isometry; 2] = [Isometry { mean_across: 1.0, ..Isometry::default() }; 2];
    let mut progress = Progress::new("frame", frames as u64);
    for k in 0..frames {
        if k > 0 {
            played.step();
        }
        let pose = played.collider_pose(0);
        let places = played.wrinkled_skin(0).unwrap_or_default();
        if places.is_empty() {
            return Err(Failure::file(
                &args.input[0],
                format!("frame {k} has a number that is not finite"),
                "",
            ));
        }
        if args.still == Some(k) {
            let mut mesh = still(&wrinkles, &played.state().skin_folds[0], &played.skin_places(0), &mesh.uvs);
            mesh.positions.iter_mut().for_each(|p| *p = pose.apply(*p));
            kept = Some(mesh);
        }
        let positions = places.iter().map(|p| pose.apply(*p).as_vec3().to_array()).collect();
        drawn.push(Frame { positions, velocities: Vec::new() });
        most = most.max(played.state().skin_folds[0].curves.len());
        if let Some(found) =
            played.skin_isometry(0).filter(|found| found[0].compression > worst[0].compression)
        {
            worst = found;
        }
        progress.advance();
    }
    let report = WrinkleReport::new(frames, [mesh.positions.len(), wrinkles.fine.shares.len()], most, worst);
    let body = BodyAnimation {
        name,
        triangles: wrinkles.fine.triangles.clone(),
        lines: Vec::new(),
        uvs: wrinkles.fine.uvs(&mesh.uvs).into_iter().map(|uv| uv.map(|c| c as f32)).collect(),
        frames: drawn,
    };
    Ok(Folded { animation: Animation { fps: args.fps, bodies: vec![body] }, still: kept, report })
}

impl WrinkleReport {
    fn new(frames: usize, vertices: [usize; 2], folds: usize, worst: [Isometry; 2]) -> WrinkleReport {
        WrinkleReport {
            frames,
            vertices,
            folds,
            compression: worst.map(|found| found.compression),
            across: worst.map(|found| found.mean_across),
            still_vertices: None,
            note: None,
            files: Vec::new(),
        }
    }

    /// Folds that do not help.
    fn oddity(&self) -> Option<String> {
        if self.folds == 0 {
            return Some(
                "no folds: nothing is compressed by as much as they begin at, or nowhere for long enough"
                    .into(),
            );
        }
        (self.compression[1] > self.compression[0]).then(|| {
            "what is written is compressed more than what was given: rounding so coarse a mesh costs more than folds give back. Give a finer mesh".into()
        })
    }

    fn print(&self) -> Result<(), Failure> {
        say(&format!(
            "{} frames, {} vertices → {}, {} folds at most; where it is compressed most: {:.1} % → {:.1} %, length across {:.3} → {:.3}",
            self.frames,
            self.vertices[0],
            self.vertices[1],
            self.folds,
            100.0 * self.compression[0],
            100.0 * self.compression[1],
            self.across[0],
            self.across[1]
        ))?;
        if let Some(note) = &self.note {
            say(&format!("note: {note}"))?;
        }
        if let Some(count) = self.still_vertices {
            say(&format!("still frame: {count} vertices along its folds"))?;
        }
        self.files.iter().try_for_each(|file| say(&format!("wrote {file}")))
    }
}
