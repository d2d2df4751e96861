//! Pictures, animations and graphs to files, on threads of their own: the window goes on while they are written.
//!
//! Animations are made of what was shown (the history), so they show every pull and cut of the person. A GLB holds the
//! meshes; a GIF or a series of PNG files holds pictures in the look and from the view of the moment. Files are written
//! whole or not at all.

use std::collections::BTreeMap;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use souple::mesh::Topology;
use souple_files::bake::{BakeOrder, Baked, BakedTake, ClipVolume, all_clips};
use souple_files::{BodyFrames, disk};
use souple_formats::animation::{Animation, BodyAnimation, Frame};
use souple_formats::export::glb::{GlbOptions, write_glb};
use souple_formats::picture::{GifWriter, gif_frame_step, write_png};
use souple_viewer::style::StyleSheet;
use souple_viewer::{Artist, Camera, Item, ItemKind, Looks, Marks, Moment, WhichRenderer};

use crate::document::BuildJob;

/// Sizes of pictures that are offered, pixels.
pub const SIZES: [(u32, u32); 5] = [(640, 360), (1280, 720), (1920, 1080), (2560, 1440), (3840, 2160)];

/// How something is drawn to a file.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// Looks of everything.
    pub looks: Looks,
    /// The styles that the looks name.
    pub styles: StyleSheet,
    /// From where.
    pub camera: Camera,
    /// Width and height, pixels.
    pub size: (u32, u32),
    /// With what.
    pub renderer: WhichRenderer,
}

/// What to write.
#[derive(Clone, Debug)]
pub enum Export {
    /// One picture, PNG.
    Picture {
        /// What is seen.
        moment: Arc<Moment>,
        /// How.
        drawing: Box<Drawing>,
    },
    /// All moments: by the ending of the file a GLB, a GIF, or numbered PNG files.
    Animation {
        /// What is seen, by step.
        moments: Vec<Arc<Moment>>,
        /// Moments per second.
        fps: f64,
        /// How pictures of it are drawn.
        drawing: Box<Drawing>,
    },
    /// All clips of a character, each by itself, as `souple bake` does: by the ending of the file its own glTF file with the result, or point caches.
    Bake {
        /// The scene.
        job: BuildJob,
        /// Number of the character.
        character: usize,
        /// Frames per second.
        fps: f64,
    },
    /// What a scene is made of, as text for GraphViz.
    Graph {
        /// The scene.
        job: BuildJob,
    },
}

/// One that is being written.
struct Job {
    thread: JoinHandle<Result<String, String>>,
    done: Arc<AtomicUsize>,
    total: usize,
    path: PathBuf,
}

/// Everything that is being written.
#[derive(Default)]
pub struct Exports {
    jobs: Vec<Job>,
    stop: Arc<AtomicBool>,
}

impl Drop for Exports {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for job in self.jobs.drain(..) {
            // A thread that panicked has nothing left to say here.
            let _ = job.thread.join();
        }
    }
}

impl Exports {
    /// Begins to write a file; `wake` is called when there is something to tell.
    pub fn start(&mut self, path: &Path, export: Export, wake: impl Fn() + Send + 'static) {
        let total = match &export {
            Export::Picture { .. } | Export::Graph { .. } | Export::Bake { .. } => 1,
            Export::Animation { moments, .. } => moments.len(),
        };
        let done = Arc::new(AtomicUsize::new(0));
        let (own_done, stop, own_path) = (Arc::clone(&done), Arc::clone(&self.stop), path.to_path_buf());
        let thread = std::thread::spawn(move || {
            let told = write(&own_path, export, &own_done, &stop, &wake);
            wake();
            told
        });
        self.jobs.push(Job { thread, done, total, path: path.to_path_buf() });
    }

    /// What was finished since the last call: what was written, or why not.
    pub fn finished(&mut self) -> Vec<Result<String, String>> {
        let (over, going) =
            std::mem::take(&mut self.jobs).into_iter().partition(|job| job.thread.is_finished());
        self.jobs = going;
        let over: Vec<Job> = over;
        over.into_iter()
            .map(|job| {
                let failed = || Err(format!("{}: the thread that wrote it failed", job.path.display()));
                job.thread.join().unwrap_or_else(|_| failed())
            })
            .collect()
    }

    /// Names and shares of what is being written.
    pub fn progress(&self) -> impl Iterator<Item = (String, f32)> + '_ {
        self.jobs.iter().map(|job| {
            let share = job.done.load(Ordering::Relaxed) as f32 / job.total.max(1) as f32;
            (job.path.file_name().unwrap_or_default().to_string_lossy().into_owned(), share)
        })
    }
}

/// Writes the file; returns what to tell the person.
fn write(
    path: &Path,
    export: Export,
    done: &AtomicUsize,
    stop: &AtomicBool,
    wake: &dyn Fn(),
) -> Result<String, String> {
    let text = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    match export {
        Export::Picture { moment, drawing } => {
            let mut artist = artist(&drawing).map_err(|error| text(&error))?;
            let picture = artist
                .draw(&moment, &drawing.looks, &Marks::default(), &drawing.camera, drawing.size)
                .map_err(|error| text(&error))?;
            let bytes = write_png(&picture).map_err(|error| text(&error))?;
            disk::write(path, &bytes).map_err(|error| error.message())?;
            Ok(format!("Saved picture {} ({} × {} pixels)", path.display(), drawing.size.0, drawing.size.1))
        }
        Export::Graph { job } => {
            let compiled = job.run()?;
            let dot = souple::graph::scene_graph(&compiled.scene, &compiled.model).to_dot();
            disk::write(path, dot.as_bytes()).map_err(|error| error.message())?;
            Ok(format!("Wrote {}; `dot -Tsvg` draws it.", path.display()))
        }
        Export::Bake { job, character, fps } => {
            let compiled = job.run()?;
            let own = compiled.model.characters.get(character).ok_or("there is no such character")?;
            let order = BakeOrder { clips: all_clips(own), fps, outputs: vec![path.to_path_buf()] };
            let mut go_on = |_: &BakedTake| !stop.load(Ordering::Relaxed);
            let baked = job.recipe(compiled.scene, character)?.bake(&compiled.model, &order, &mut go_on);
            Ok(baked_text(&baked.map_err(|error| error.message())?, own.volume.is_some()))
        }
        Export::Animation { moments, fps, drawing } => {
            let end = path.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default();
            if moments.is_empty() {
                return Err(text(&"there is nothing to save yet; play the scene first"));
            }
            match end.as_str() {
                "glb" => {
                    let bytes = write_glb(&animation_of(&moments, fps), &GlbOptions::default());
                    disk::write(path, &bytes.map_err(|error| text(&error))?)
                        .map_err(|error| error.message())?;
                }
                "gif" => write_gif(path, &moments, fps, &drawing, done, stop, wake)?,
                _ => {
                    let (first, last) = write_frames(path, &moments, &drawing, done, stop, wake)?;
                    return Ok(format!(
                        "Saved {} pictures, {} to {}",
                        moments.len(),
                        first.display(),
                        last.display()
                    ));
                }
            }
            Ok(format!("Saved animation {} ({} frames)", path.display(), moments.len()))
        }
    }
}

/// What was baked, for people.
fn baked_text(baked: &Baked, keeps_volume: bool) -> String {
    let names: Vec<String> = baked.files.iter().map(|path| path.display().to_string()).collect();
    let worst = |of: fn(&ClipVolume) -> f64| {
        let largest = |worst: f64, value: f64| if value.abs() > worst.abs() { value } else { worst };
        baked.clips.iter().map(|take| of(&take.volume)).fold(0.0, largest)
    };
    let volume = match keeps_volume {
        true => format!(
            "volume {:+.2} % at worst by skinning, {:+.1e} % as baked",
            worst(|volume| volume.skinned_worst_percent),
            worst(|volume| volume.kept_worst_percent)
        ),
        false => "its volume is not kept".to_owned(),
    };
    let clips = if baked.clips.len() == 1 { "1 clip".into() } else { format!("{} clips", baked.clips.len()) };
    let only = baked.positions_only.as_ref();
    let only = only.map(|why| format!(" (positions alone, without its bones and materials: {why})"));
    format!("Baked {clips}, {volume}: {}{}", names.join(", "), only.unwrap_or_default())
}

fn artist(drawing: &Drawing) -> Result<Artist, String> {
    let mut artist = Artist::new(drawing.renderer).map_err(|error| error.to_string())?;
    artist.styles = drawing.styles.clone();
    Ok(artist)
}

fn write_gif(
    path: &Path,
    moments: &[Arc<Moment>],
    fps: f64,
    drawing: &Drawing,
    done: &AtomicUsize,
    stop: &AtomicBool,
    wake: &dyn Fn(),
) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut artist = artist(drawing).map_err(|error| text(&error))?;
    let file = disk::NewFile::create(path).map_err(|error| error.message())?;
    let (width, height) = drawing.size;
    // What a GIF is too slow to show need not be drawn.
    let step = gif_frame_step(fps).clamp(1, 1 << 20) as usize;
    let fps = fps / step as f64;
    let mut gif = GifWriter::new(BufWriter::new(file), width, height, fps).map_err(|error| text(&error))?;
    for (k, moment) in moments.iter().enumerate().step_by(step) {
        if stop.load(Ordering::Relaxed) {
            return Err(text(&"stopped before it was whole"));
        }
        let picture = artist
            .draw(moment, &drawing.looks, &Marks::default(), &drawing.camera, drawing.size)
            .map_err(|error| text(&error))?;
        gif.push(&picture).map_err(|error| text(&error))?;
        done.store(k + 1, Ordering::Relaxed);
        wake();
    }
    let file = gif.finish().map_err(|error| text(&error))?;
    let file = file.into_inner().map_err(|error| text(&error.into_error()))?;
    file.finish().map_err(|error| error.message())
}

fn write_frames(
    path: &Path,
    moments: &[Arc<Moment>],
    drawing: &Drawing,
    done: &AtomicUsize,
    stop: &AtomicBool,
    wake: &dyn Fn(),
) -> Result<(PathBuf, PathBuf), String> {
    let text = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut artist = artist(drawing).map_err(|error| text(&error))?;
    for (k, moment) in moments.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            return Err(text(&"stopped; the pictures so far are there"));
        }
        let picture = artist
            .draw(moment, &drawing.looks, &Marks::default(), &drawing.camera, drawing.size)
            .map_err(|error| text(&error))?;
        let bytes = write_png(&picture).map_err(|error| text(&error))?;
        disk::write(&frame_path(path, k), &bytes).map_err(|error| error.message())?;
        done.store(k + 1, Ordering::Relaxed);
        wake();
    }
    Ok((frame_path(path, 0), frame_path(path, moments.len().saturating_sub(1))))
}

/// `a.png` → `a-0007.png`.
fn frame_path(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{number:04}.png"))
}

/// One of the pictures that a series `a.png` would overwrite, if there is any.
pub fn series_in_the_way(path: &Path) -> Option<PathBuf> {
    let start = format!("{}-", path.file_stem()?.to_string_lossy());
    let is_picture = |name: &str| {
        let number = name.strip_prefix(&start).and_then(|rest| rest.strip_suffix(".png"));
        number.is_some_and(|digits| digits.len() >= 4 && digits.bytes().all(|b| b.is_ascii_digit()))
    };
    let names = path.parent()?.read_dir().ok()?.flatten().map(|entry| entry.file_name());
    let first = names.filter(|name| name.to_str().is_some_and(is_picture)).min()?;
    Some(path.with_file_name(first))
}

/// Moments at a steady rate: those on the beat of a thinned-out history, without a first or last one that is off it.
pub fn steady(moments: &[Arc<Moment>], stride: u64, fps: f64) -> (Vec<Arc<Moment>>, f64) {
    let on_beat = |moment: &&Arc<Moment>| moment.step.is_multiple_of(stride.max(1));
    (moments.iter().filter(on_beat).cloned().collect(), fps / stride.max(1) as f64)
}

/// The bodies of moments as an animation whose frames all have the final vertices; of bodies with folds, the fine mesh that is seen.
pub fn animation_of(moments: &[Arc<Moment>], fps: f64) -> Animation {
    let mut bodies: BTreeMap<usize, BodyFrames> = BTreeMap::new();
    for (b, item, topology) in moments.iter().flat_map(|moment| bodies_of(moment)) {
        let positions = item.positions.iter().map(|p| p.to_array()).collect();
        let frames = bodies.entry(b).or_insert_with(|| BodyFrames::new(topology));
        frames.push(topology, Frame { positions, velocities: Vec::new() });
    }
    // Texture coordinates are those of the vertices at the end.
    let last = moments.last().map(|moment| bodies_of(moment)).into_iter().flatten();
    let finish = |(b, item, _): (usize, &Item, &Arc<Topology>)| match fine_frames(moments, b) {
        Some(frames) => {
            let (mesh, _) = item.drawn();
            let (triangles, uvs) = (mesh.triangles.clone(), mesh.uvs.clone());
            Some(BodyAnimation { name: item.name.to_string(), triangles, lines: Vec::new(), uvs, frames })
        }
        None => Some(bodies.remove(&b)?.finish(item.name.to_string(), item.mesh.uvs.clone())),
    };
    Animation { fps, bodies: last.filter_map(finish).collect() }
}

/// Frames of the fine mesh of a body, if it has folds in all moments.
fn fine_frames(moments: &[Arc<Moment>], body: usize) -> Option<Vec<Frame>> {
    let frame = |moment: &Arc<Moment>| {
        let (_, item, _) = bodies_of(moment).find(|(b, ..)| *b == body)?;
        let (_, positions) = item.fine.as_ref()?;
        let positions = positions.iter().map(|p| p.to_array()).collect();
        Some(Frame { positions, velocities: Vec::new() })
    };
    moments.iter().map(frame).collect()
}

/// The bodies of a moment: number, what is seen of it, what joins its vertices.
fn bodies_of(moment: &Moment) -> impl Iterator<Item = (usize, &Item, &Arc<Topology>)> {
    moment.items.iter().filter_map(|item| match (item.kind, &item.mesh.topology) {
        (ItemKind::Body(b), Some(topology)) => Some((b, item, topology)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use souple::scene::{Body, Border, Grid, GridPlane, Motion, Pin, Scene, Select, Shape, Tear};
    use souple::{ModelBuilder, Simulation};
    use souple_viewer::Capture;

    use super::*;

    /// Moments of a cloth that is pulled apart until it is torn.
    fn torn() -> (Scene, Vec<Arc<Moment>>) {
        let side = |name: &str, border, speed| Pin {
            name: name.into(),
            select: Select::Border(border),
            motion: Some(Motion { velocity: [speed, 0.3, 0.1], ..Motion::default() }),
            ..Pin::default()
        };
        let body = Body {
            shape: Shape::Grid(Grid { vertices: [9, 7], plane: GridPlane::Xy, ..Grid::default() }),
            fabric: Some("cotton".into()),
            tear: Some(Tear { length_ratio: Some(1.15), ..Tear::default() }),
            pins: vec![side("left", Border::U0, -1.0), side("right", Border::U1, 1.0)],
            ..Body::default()
        };
        let scene = Scene { bodies: vec![body], ..Scene::default() };
        let model = ModelBuilder::new(&scene).build().unwrap();
        let mut capture = Capture::new(&scene, &model);
        let mut simulation = Simulation::new(model);
        let mut moments = vec![Arc::new(capture.moment(&simulation))];
        for _ in 0..60 {
            simulation.step();
            moments.push(Arc::new(capture.moment(&simulation)));
        }
        (scene, moments)
    }

    #[test]
    fn torn_bodies_have_their_final_vertices_in_every_frame_and_look_the_same() {
        let (_, moments) = torn();
        let animation = animation_of(&moments, 60.0);
        animation.validate().unwrap();
        let body = &animation.bodies[0];
        assert!(body.vertex_count() > 63, "the cloth must tear");
        for (frame, moment) in body.frames.iter().zip(&moments) {
            let item = &moment.items[0];
            for (last, then) in body.triangles.iter().flatten().zip(item.mesh.triangles.iter().flatten()) {
                assert_eq!(frame.positions[*last as usize], item.positions[*then as usize].to_array());
            }
        }
    }

    #[test]
    fn pictures_and_animations_are_written_and_told() {
        let (scene, moments) = torn();
        let folder = tempfile::tempdir().unwrap();
        let drawing = Box::new(Drawing {
            looks: Looks::of_scene(&scene, |_| None),
            styles: StyleSheet::built_in(),
            camera: Camera::fitted(moments[0].points(true), 4.0 / 3.0),
            size: (64, 48),
            renderer: WhichRenderer::Cpu,
        });
        let mut exports = Exports::default();
        let picture = Export::Picture { moment: Arc::clone(&moments[0]), drawing: drawing.clone() };
        exports.start(&folder.path().join("a.png"), picture, || ());
        let few: Vec<_> = moments.iter().step_by(20).cloned().collect();
        for name in ["b.glb", "c.gif", "d.png"] {
            let animation = Export::Animation { moments: few.clone(), fps: 3.0, drawing: drawing.clone() };
            exports.start(&folder.path().join(name), animation, || ());
        }
        let mut told = Vec::new();
        while told.len() < 4 {
            told.extend(exports.finished());
            std::thread::yield_now();
        }
        assert!(told.iter().all(Result::is_ok), "{told:?}");
        let start = |name: &str| std::fs::read(folder.path().join(name)).unwrap()[..4].to_vec();
        assert_eq!(start("a.png"), b"\x89PNG");
        assert_eq!(start("b.glb"), b"glTF");
        assert_eq!(start("c.gif"), b"GIF8");
        assert_eq!(start("d-0003.png"), b"\x89PNG");
        let at = |name: &str| folder.path().join(name);
        assert_eq!(series_in_the_way(&at("d.png")), Some(at("d-0000.png")));
        assert_eq!(series_in_the_way(&at("a.png")), None);
        let nowhere = folder.path().join("none/x.png");
        exports.start(&nowhere, Export::Picture { moment: Arc::clone(&moments[0]), drawing }, || ());
        let mut refused = Vec::new();
        while refused.is_empty() {
            refused = exports.finished();
            std::thread::yield_now();
        }
        assert!(refused[0].as_ref().unwrap_err().contains("its folder is not there"), "{refused:?}");
    }

    #[test]
    fn a_thinned_out_history_keeps_its_beat() {
        let moments: Vec<Arc<Moment>> =
            [0, 4, 8, 9].map(|step| Arc::new(Moment { step, ..Moment::default() })).to_vec();
        let (kept, fps) = steady(&moments, 4, 60.0);
        assert_eq!((kept.len(), fps), (3, 15.0));
        // A recording that begins off the beat.
        let moments: Vec<Arc<Moment>> =
            [2, 4, 8, 12, 13].map(|step| Arc::new(Moment { step, ..Moment::default() })).to_vec();
        let (kept, _) = steady(&moments, 4, 60.0);
        assert_eq!(kept.iter().map(|moment| moment.step).collect::<Vec<_>>(), [4, 8, 12]);
    }
}
