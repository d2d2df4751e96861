//! Keeps the frames of a run in 32-bit floats, those of bodies of sheets of paper and of the skins of characters, and gives torn bodies their final vertices in
//! every frame. Bodies with folds are kept by the fine mesh that is drawn.
//!
//! File formats want the same vertices in all frames, but a tear adds some. A vertex that is born by a tear in frame k
//! follows, in the frames before k, the vertex it was split from. Which one that is can be read off exactly: a tear
//! never adds, removes or reorders triangles, it only gives some of their corners to the new vertex. So the vertex at the
//! same corner of the same triangle one frame earlier is the one it came from, also when that was itself born by an
//! earlier tear and has long left the place of the original vertex. (Rope segments are removed and split no vertex.)

use std::sync::Arc;

use glam::{DVec2, DVec3};
use souple::mesh::Topology;
use souple::model::{BodyModel, Carrier, ColliderModel};
use souple::paper::Sheet;
use souple::{BodyState, Simulation};
use souple_formats::animation::{Animation, BodyAnimation, Frame};

/// Frames of all bodies, and of colliders whose vertices move, as they come.
#[derive(Debug)]
pub struct FrameRecorder {
    bodies: Vec<BodyFrames>,
    /// Frames of bodies with folds, by their fine meshes; none of others.
    wrinkled: Vec<Option<Vec<Frame>>>,
    /// Sheets of paper in each frame.
    papers: Vec<Vec<Sheet>>,
    /// Colliders that are skins, and their frames.
    skins: Vec<(usize, Vec<Frame>)>,
    with_velocities: bool,
}

/// Frames of one body, as they come.
#[derive(Debug)]
pub struct BodyFrames {
    topology: Arc<Topology>,
    /// For each vertex that was born after frame 0, the one it follows before its birth; always a lower number.
    sources: Vec<u32>,
    first_count: usize,
    frames: Vec<Frame>,
}

impl FrameRecorder {
    /// Begins with the state as it is: frame 0.
    pub fn new(simulation: &Simulation, with_velocities: bool) -> FrameRecorder {
        let bodies = simulation.state().bodies.iter().map(|body| BodyFrames::new(&body.topology));
        let colliders = simulation.model().colliders.iter().enumerate();
        let is_skin = |collider: &ColliderModel| matches!(collider.carrier, Carrier::Skin { .. });
        let skins = colliders.filter(|(_, collider)| is_skin(collider)).map(|(c, _)| (c, Vec::new()));
        let wrinkled =
            simulation.model().bodies.iter().map(|body| body.wrinkles.as_ref().map(|_| Vec::new()));
        let mut recorder = FrameRecorder {
            bodies: bodies.collect(),
            wrinkled: wrinkled.collect(),
            papers: vec![Vec::new(); simulation.model().papers.len()],
            skins: skins.collect(),
            with_velocities,
        };
        recorder.record(simulation);
        recorder
    }

    /// Adds the state as it is as the next frame.
    pub fn record(&mut self, simulation: &Simulation) {
        let fps = simulation.model().fps;
        for (b, (frames, state)) in self.bodies.iter_mut().zip(&simulation.state().bodies).enumerate() {
            frames.push(&state.topology, frame(state, self.with_velocities));
            self.wrinkled[b] = match (self.wrinkled[b].take(), simulation.wrinkled(b)) {
                (Some(mut frames), Some(places)) => {
                    frames.push(moved_frame(frames.last(), places, self.with_velocities, fps));
                    Some(frames)
                }
                // Cut by hand, it has no folds any more: all of it is kept as it was simulated.
                _ => None,
            };
        }
        for (sheets, paper) in self.papers.iter_mut().zip(&simulation.state().papers) {
            sheets.push(paper.crumple.sheet.clone());
        }
        for (c, frames) in &mut self.skins {
            let pose = simulation.collider_pose(*c);
            let own = simulation.wrinkled_skin(*c).map_or_else(|| simulation.skin_places(*c), <[_]>::to_vec);
            let places: Vec<DVec3> = own.iter().map(|x| pose.apply(*x)).collect();
            frames.push(moved_frame(frames.last(), &places, self.with_velocities, fps));
        }
    }

    /// The whole animation, every frame with the final vertices and triangles.
    pub fn finish(self, simulation: &Simulation) -> Animation {
        self.finish_some(simulation, |body| !body.is_worn(), |_| true)
    }

    /// The same of some bodies and of some skins.
    pub(crate) fn finish_some(
        self,
        simulation: &Simulation,
        of_body: impl Fn(&BodyModel) -> bool,
        of_skin: impl Fn(&ColliderModel) -> bool,
    ) -> Animation {
        let model = simulation.model();
        let bodies = self.bodies.into_iter().zip(self.wrinkled).zip(&model.bodies);
        let bodies = bodies.filter(|(_, body)| of_body(body));
        let bodies = bodies.map(|((frames, wrinkled), body)| match (wrinkled, &body.wrinkles) {
            (Some(frames), Some(wrinkles)) => BodyAnimation {
                name: body.name.clone(),
                triangles: wrinkles.fine.triangles.clone(),
                lines: Vec::new(),
                uvs: wrinkles.fine.uvs(&body.uvs).into_iter().map(|uv| uv.map(|c| c as f32)).collect(),
                frames,
            },
            _ => {
                let uvs = frames.uvs(body);
                frames.finish(body.name.clone(), uvs)
            }
        });
        let skins = self.skins.into_iter().filter_map(|(c, frames)| {
            let collider = Some(&model.colliders[c]).filter(|collider| of_skin(collider))?;
            let mesh = collider.form.mesh()?;
            let (triangles, uvs) = match &collider.wrinkles {
                Some(wrinkles) => (wrinkles.fine.triangles.clone(), wrinkles.fine.uvs(&mesh.uvs)),
                None => (mesh.triangles.clone(), mesh.uvs.clone()),
            };
            Some(BodyAnimation {
                name: collider.name.clone(),
                triangles,
                lines: Vec::new(),
                uvs: uvs.iter().map(|uv| uv.map(|c| c as f32)).collect(),
                frames,
            })
        });
        let papers = self.papers.iter().zip(&model.papers);
        let papers =
            papers.filter_map(|(s, paper)| sheets(s, paper.name.clone(), self.with_velocities, model.fps));
        Animation { fps: model.fps, bodies: bodies.chain(papers).chain(skins).collect() }
    }
}

/// All frames of a sheet on the vertices of the last: files want the same triangles in each. Creases are exact in the last frame; in others a crease
/// that is not in the last is cut across by its triangles.
fn sheets(sheets: &[Sheet], name: String, with_velocities: bool, fps: f64) -> Option<BodyAnimation> {
    let last = sheets.last()?;
    let (sources, triangles) = last.split_at_creases();
    let points: Vec<DVec2> = sources.iter().map(|&v| last.pattern[v as usize]).collect();
    let mut frames: Vec<Frame> = Vec::with_capacity(sheets.len());
    for sheet in sheets {
        let places: Vec<DVec3> = match sheet.pattern == last.pattern {
            true => sources.iter().map(|&v| sheet.places[v as usize]).collect(),
            false => points.iter().map(|point| sheet.at(*point)).collect(),
        };
        frames.push(moved_frame(frames.last(), &places, with_velocities, fps));
    }
    let uvs = points.iter().map(|p| p.as_vec2().to_array()).collect();
    Some(BodyAnimation { name, triangles, lines: Vec::new(), uvs, frames })
}

impl BodyFrames {
    /// No frames yet of a body that begins with that topology.
    pub fn new(topology: &Arc<Topology>) -> BodyFrames {
        BodyFrames {
            topology: Arc::clone(topology),
            sources: Vec::new(),
            first_count: topology.visible(),
            frames: Vec::new(),
        }
    }

    /// Adds the next frame, with as many vertices as the topology has by then.
    pub fn push(&mut self, topology: &Arc<Topology>, frame: Frame) {
        if !Arc::ptr_eq(&self.topology, topology) {
            self.sources.extend(new_sources(&self.topology, topology));
            self.topology = Arc::clone(topology);
        }
        self.frames.push(frame);
    }

    /// The animation, every frame with the final vertices; `uvs` are theirs, or none.
    pub fn finish(self, name: String, uvs: Vec<[f32; 2]>) -> BodyAnimation {
        let BodyFrames { topology, sources, first_count, mut frames } = self;
        for frame in &mut frames {
            complete(&mut frame.positions, &sources, first_count);
            if !frame.velocities.is_empty() {
                complete(&mut frame.velocities, &sources, first_count);
            }
        }
        let (triangles, lines) = (topology.triangles.clone(), topology.segments.clone());
        BodyAnimation { name, triangles, lines, uvs, frames }
    }

    /// Texture coordinates of the final vertices; none for a body that has none.
    fn uvs(&self, body: &BodyModel) -> Vec<[f32; 2]> {
        let uv = |&parent: &u32| body.uvs.get(parent as usize).map(|uv| uv.map(|c| c as f32));
        self.topology.parents[..self.topology.visible()].iter().filter_map(uv).collect()
    }
}

fn frame(state: &BodyState, with_velocities: bool) -> Frame {
    let seen = state.topology.visible();
    let velocities = if with_velocities { singles(&state.v[..seen]) } else { Vec::new() };
    Frame { positions: singles(&state.x[..seen]), velocities }
}

/// A frame of what has no velocities of its own: files want one for each vertex of each body or none at all.
fn moved_frame(before: Option<&Frame>, places: &[DVec3], with_velocities: bool, fps: f64) -> Frame {
    let positions = singles(places);
    let velocities = match (with_velocities, before) {
        (false, _) => Vec::new(),
        (true, Some(before)) => rates(&before.positions, &positions, fps),
        (true, None) => vec![[0.0; 3]; places.len()],
    };
    Frame { positions, velocities }
}

/// For each vertex that `after` has more than `before`, the vertex of `before` it was split from.
fn new_sources(before: &Topology, after: &Topology) -> Vec<u32> {
    let old_count = before.len();
    // Every new vertex has a triangle; the original vertex stands in for any that had none.
    let mut sources: Vec<u32> = after.parents.get(old_count..).unwrap_or_default().to_vec();
    for (old, new) in before.triangles.iter().zip(&after.triangles) {
        for (&old, &new) in old.iter().zip(new) {
            let born = (new as usize).checked_sub(old_count);
            if let Some(source) = born.and_then(|born| sources.get_mut(born)) {
                *source = old;
            }
        }
    }
    sources
}

/// Adds the vertices that a frame lacks, each where the one is that it follows.
fn complete(values: &mut Vec<[f32; 3]>, sources: &[u32], first_count: usize) {
    for born in values.len().saturating_sub(first_count)..sources.len() {
        // A source has a lower number, so it is there already.
        values.push(values.get(sources[born] as usize).copied().unwrap_or_default());
    }
}

/// Velocities that lead from one frame to the next, m/s.
fn rates(before: &[[f32; 3]], after: &[[f32; 3]], fps: f64) -> Vec<[f32; 3]> {
    let rate = |(a, b): (&[f32; 3], &[f32; 3])| std::array::from_fn(|k| (b[k] - a[k]) * fps as f32);
    before.iter().zip(after).map(rate).collect()
}

fn singles(vectors: &[DVec3]) -> Vec<[f32; 3]> {
    vectors.iter().map(|v| v.to_array().map(|c| c as f32)).collect()
}

#[cfg(test)]
mod tests {
    use souple::ModelBuilder;
    use souple::scene::{Body, Border, Grid, GridPlane, Motion, Pin, Scene, Select, Shape, Tear};

    use super::*;

    const VERTICES: usize = 9 * 7;

    /// A cloth that is pulled apart at its two sides until it is in pieces, its recorder, and all its true states.
    fn torn_cloth() -> (Simulation, FrameRecorder, Vec<BodyState>) {
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
        let mut simulation = Simulation::new(ModelBuilder::new(&scene).build().unwrap());
        let mut recorder = FrameRecorder::new(&simulation, true);
        let mut states = vec![simulation.state().bodies[0].clone()];
        for _ in 0..60 {
            simulation.step();
            recorder.record(&simulation);
            states.push(simulation.state().bodies[0].clone());
        }
        (simulation, recorder, states)
    }

    #[test]
    fn every_frame_has_the_final_vertices_and_the_true_ones_are_kept() {
        let (simulation, recorder, states) = torn_cloth();
        let animation = recorder.finish(&simulation);
        let body = &animation.bodies[0];
        let count = simulation.state().bodies[0].x.len();
        assert!(count > VERTICES, "the cloth must tear");
        animation.validate().unwrap();
        assert_eq!(body.vertex_count(), count);
        assert_eq!(animation.frame_count(), states.len());
        assert_eq!(body.uvs.len(), count);
        for (frame, state) in body.frames.iter().zip(&states) {
            assert_eq!((frame.positions.len(), frame.velocities.len()), (count, count));
            assert_eq!(frame.positions[..state.x.len()], singles(&state.x)[..]);
            assert_eq!(frame.velocities[..state.v.len()], singles(&state.v)[..]);
        }
    }

    /// Whatever tears later, the final triangles drawn in an earlier frame must look exactly like the surface of then.
    #[test]
    fn final_triangles_drawn_in_an_early_frame_are_the_triangles_of_that_frame() {
        let (simulation, recorder, states) = torn_cloth();
        let births = states.windows(2).filter(|w| w[0].x.len() < w[1].x.len()).count();
        let copies_of_copies =
            recorder.bodies[0].sources.iter().filter(|&&source| source as usize >= VERTICES).count();
        assert!(
            births > 2 && copies_of_copies > 0,
            "the case that matters is missing: {births}, {copies_of_copies}"
        );

        let animation = recorder.finish(&simulation);
        let body = &animation.bodies[0];
        let corners = |triangles: &[[u32; 3]], positions: &[[f32; 3]]| -> Vec<[f32; 3]> {
            triangles.iter().flatten().map(|&v| positions[v as usize]).collect()
        };
        for (frame, state) in body.frames.iter().zip(&states) {
            let seen = corners(&body.triangles, &frame.positions);
            assert_eq!(seen, corners(&state.topology.triangles, &singles(&state.x)));
        }
    }
}
