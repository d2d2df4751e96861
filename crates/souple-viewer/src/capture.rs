//! From a running simulation to what is seen of it at one instant.
//!
//! A [`Moment`] is plain shared data: cheap to clone, to keep for a replay (ESSI-16), to send from the thread that
//! simulates to the one that draws. It holds positions, speeds, contacts and the model, so that every analysis look can be chosen
//! afterwards; what crosses is found when it is first shown, and so is stress. It does not hold looks.

use std::sync::{Arc, OnceLock};

use glam::{DMat3, DVec2, DVec3, Mat4, Quat, Vec3};
use souple::contact::primitives::Primitive;
use souple::measure::{intersections, vertex_crossing};
use souple::mesh::{Topology, mesh_edges};
use souple::model::{BodyModel, Carrier, ColliderForm};
use souple::scene::Scene;
use souple::skin::{BoneTurn, Posed};
use souple::wrinkles::Wrinkles;
use souple::{Model, Simulation};

use crate::geometry;
use crate::sheets::{CreaseLine, Sheets, crests};

/// Least radius at which a rope is drawn, as a share of its rest length.
const LEAST_ROPE_RADIUS: f32 = 0.004;

/// What kind of thing an item shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// A soft body; the number is its index in the model.
    Body(usize),
    /// A collider; the number is its index in the model.
    Collider(usize),
    /// A sheet of paper; the number is its index in the model.
    Paper(usize),
}

/// What does not change from frame to frame while nothing tears.
#[derive(Debug, Default)]
pub struct ItemMesh {
    /// Triangles of a surface.
    pub triangles: Vec<[u32; 3]>,
    /// Edges of the triangles, or the segments of a rope: the wireframe.
    pub edges: Vec<[u32; 2]>,
    /// Triangles on both sides of each edge, as indices; `u32::MAX` where there is none. Empty for a rope.
    pub edge_triangles: Vec<[u32; 2]>,
    /// Segments of a rope.
    pub segments: Vec<[u32; 2]>,
    /// Edges of the elements of a solid.
    pub cells: Vec<[u32; 2]>,
    /// Texture coordinates, one per vertex.
    pub uvs: Vec<[f32; 2]>,
    /// Radius that a rope is drawn with, m.
    pub rope_radius: f32,
    /// Topology of a soft body, for measures.
    pub topology: Option<Arc<Topology>>,
    /// Corners of each triangle of paper, or of the fine mesh of folds, in the pattern, m; empty for others.
    pub charts: Vec<[DVec2; 3]>,
    /// Whether it stands for a plane without an end, of which a part is drawn.
    pub endless: bool,
}

/// One thing to be drawn.
#[derive(Clone, Debug)]
pub struct Item {
    /// Name of the body or collider.
    pub name: Arc<str>,
    /// What it is.
    pub kind: ItemKind,
    /// What joins its vertices.
    pub mesh: Arc<ItemMesh>,
    /// Positions, m, before `transform`.
    pub positions: Arc<Vec<Vec3>>,
    /// What is drawn instead of these: the fine mesh of a body with folds, and where its vertices are.
    pub fine: Option<(Arc<ItemMesh>, Arc<Vec<Vec3>>)>,
    /// Speed of each vertex, m/s; empty for colliders.
    pub speeds: Arc<Vec<f32>>,
    /// What each element of a soft body has flowed to; empty if none ever does.
    pub plastic: Arc<Vec<DMat3>>,
    /// Vertices that touch a collider.
    pub contacts: Arc<Vec<u32>>,
    /// Where bodies cross; the same for all items of a moment.
    pub crossings: Arc<Crossings>,
    /// Where the skin of a character has gained and lost volume; nothing for anything else.
    pub gains: Arc<Gains>,
    /// What is painted on the skin of a character, from 0 to 1; empty where nothing is.
    pub painted: Arc<Vec<f32>>,
    /// Where the border of paper is, a point for each sample of its model, m; empty for others.
    pub border: Arc<Vec<Vec3>>,
    /// Creases of paper, crests of folds.
    pub creases: Arc<Vec<CreaseLine>>,
    /// The model that a soft body or a skin was moved by, which knows what solids are made of.
    pub model: Option<Arc<Model>>,
    /// Where the item is put.
    pub transform: Mat4,
}

impl Item {
    /// How many of its vertices are seen: the first ones. Corners of cells around a surface are not.
    pub fn visible(&self) -> usize {
        self.mesh.topology.as_ref().map_or(self.positions.len(), |topology| topology.visible())
    }

    /// The mesh that is drawn, and where its vertices are, before `transform`.
    pub fn drawn(&self) -> (&Arc<ItemMesh>, &Arc<Vec<Vec3>>) {
        self.fine.as_ref().map_or((&self.mesh, &self.positions), |(mesh, positions)| (mesh, positions))
    }

    /// Values of the vertices, as values of the vertices that are drawn.
    pub fn drawn_values(&self, values: Vec<f32>) -> Vec<f32> {
        let (Some(wrinkles), Some(_)) = (self.wrinkles(), &self.fine) else { return values };
        if values.len() == wrinkles.fine.shares.len() {
            // Of the vertices that are drawn already.
            return values;
        }
        let at = |v: u32| values.get(v as usize).copied().unwrap_or(0.0);
        let mix = |(of, shares): &([u32; 3], [f64; 3])| (0..3).map(|k| at(of[k]) * shares[k] as f32).sum();
        wrinkles.fine.shares.iter().map(mix).collect()
    }

    /// The folds that are drawn on it, if it has any.
    pub fn wrinkles(&self) -> Option<&Wrinkles> {
        let model = self.model.as_ref()?;
        match self.kind {
            ItemKind::Body(b) => model.bodies.get(b)?.wrinkles.as_deref(),
            ItemKind::Collider(c) => model.colliders.get(c)?.wrinkles.as_deref(),
            ItemKind::Paper(_) => None,
        }
    }

    /// The compiled body, if it is a solid.
    pub fn solid(&self) -> Option<&BodyModel> {
        let ItemKind::Body(b) = self.kind else { return None };
        self.model.as_ref()?.bodies.get(b).filter(|body| body.topology.is_solid())
    }

    /// Of the skin of a character: the number of the character, and mesh and vertex of each of the item's vertices.
    pub fn skin(&self) -> Option<(usize, &[(u32, u32)])> {
        let ItemKind::Collider(c) = self.kind else { return None };
        match &self.model.as_ref()?.colliders.get(c)?.carrier {
            Carrier::Skin { character, vertices } => Some((*character, vertices)),
            Carrier::Script | Carrier::Bone(_) => None,
        }
    }

    /// The vertices of a body whose triangles cross others; none of a collider.
    pub fn crossing_vertices(&self) -> &[u32] {
        match self.kind {
            ItemKind::Body(b) => self.crossings.vertices(b),
            ItemKind::Collider(_) | ItemKind::Paper(_) => &[],
        }
    }
}

/// Where the bodies of a moment cross themselves, each other and colliders that are meshes. It takes about as long as a frame of cloth to find out, so it is
/// done when first asked, once. Decided exactly for the positions that are drawn, which have 32 bits.
#[derive(Debug, Default)]
pub struct Crossings {
    bodies: Vec<(Arc<Vec<Vec3>>, Arc<ItemMesh>)>,
    /// Colliders that are meshes, and where they are.
    colliders: Vec<(Arc<Vec<Vec3>>, Arc<ItemMesh>, Mat4)>,
    /// Of each body: its vertices, ascending.
    vertices: OnceLock<Vec<Vec<u32>>>,
}

impl Crossings {
    /// Of bodies, by their positions and meshes.
    pub fn of(bodies: Vec<(Arc<Vec<Vec3>>, Arc<ItemMesh>)>) -> Crossings {
        Crossings { bodies, ..Crossings::default() }
    }

    /// Together with colliders that are meshes, by their positions, meshes and places.
    pub fn with_colliders(self, colliders: Vec<(Arc<Vec<Vec3>>, Arc<ItemMesh>, Mat4)>) -> Crossings {
        Crossings { colliders, ..self }
    }

    /// The vertices of a body whose triangles cross others, ascending.
    pub fn vertices(&self, body: usize) -> &[u32] {
        let vertices = self.vertices.get_or_init(|| self.find());
        vertices.get(body).map_or(&[], |vertices| vertices)
    }

    /// Memory of its own before anything is found, bytes: it shares the rest with the items.
    pub fn bytes(&self) -> usize {
        size_of_val(self.bodies.as_slice()) + size_of_val(self.colliders.as_slice())
    }

    fn find(&self) -> Vec<Vec<u32>> {
        let wide = |x: &Vec3| x.as_dvec3();
        let bodies = self.bodies.iter().map(|(x, _)| x.iter().map(wide).collect());
        let colliders = self
            .colliders
            .iter()
            .map(|(x, _, transform)| x.iter().map(|x| wide(&transform.transform_point3(*x))).collect());
        let positions: Vec<Vec<DVec3>> = bodies.chain(colliders).collect();
        let bodies = self.bodies.iter().map(|(_, mesh)| mesh);
        let meshes = bodies.chain(self.colliders.iter().map(|(_, mesh, _)| mesh));
        let surfaces: Vec<_> =
            positions.iter().zip(meshes).map(|(x, mesh)| (&x[..], &mesh.triangles[..])).collect();
        let (bodies, colliders) = surfaces.split_at(self.bodies.len());
        let crossings = intersections::with_colliders(bodies, colliders);
        let mut marks = Vec::new();
        let of_body = |(body, (x, triangles)): (u32, &(&[DVec3], &[[u32; 3]]))| {
            vertex_crossing(&crossings, body, triangles, x.len(), &mut marks);
            (0u32..).zip(&marks).filter(|(_, mark)| **mark > 0.0).map(|(vertex, _)| vertex).collect()
        };
        (0u32..).zip(bodies).map(of_body).collect()
    }
}

/// Where the skin of a character has gained and lost volume (ROH-23): how far it has come out, or gone in, at each of its vertices. Found when first asked, once.
#[derive(Debug, Default)]
pub struct Gains {
    /// The model, the collider that is a skin, and the time, s.
    of: Option<(Arc<Model>, usize, Vec<BoneTurn>, f64)>,
    values: OnceLock<Vec<f32>>,
}

impl Gains {
    /// Of a collider that is a skin, at a time.
    pub fn of(model: Arc<Model>, collider: usize, turns: &[BoneTurn], time: f64) -> Gains {
        Gains { of: Some((model, collider, turns.to_vec(), time)), values: OnceLock::new() }
    }

    /// One per vertex, m; none of what is no skin.
    pub fn values(&self) -> &[f32] {
        self.values.get_or_init(|| self.find().unwrap_or_default())
    }

    fn find(&self) -> Option<Vec<f32>> {
        let (model, collider, turns, time) = self.of.as_ref()?;
        let Carrier::Skin { character, vertices } = &model.colliders.get(*collider)?.carrier else {
            return None;
        };
        let posed = Posed::turned(&model.characters, turns, *time);
        let posed = posed.characters.get(*character)?;
        let character = model.characters.get(*character)?;
        let gains = posed.local_gains(character);
        let at = |&(m, v): &(u32, u32)| {
            let gain = gains.get(m as usize).and_then(|mesh| mesh.of_vertices.get(v as usize));
            (character.scale * gain.copied().unwrap_or(0.0)) as f32
        };
        Some(vertices.iter().map(at).collect())
    }
}

/// Everything that is seen at one instant.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    /// Number of the step.
    pub step: u64,
    /// Simulated time, s.
    pub time: f64,
    /// Bodies, then paper, then colliders, in the order of the model.
    pub items: Vec<Item>,
    /// Height of the floor, m, when a horizontal plane is part of the scene; such planes are not items.
    pub floor: Option<f32>,
}

impl Moment {
    /// All points that are seen, m, but for endless planes; of the bodies alone when `bodies_only`.
    pub fn points(&self, bodies_only: bool) -> impl Iterator<Item = Vec3> + Clone {
        let seen = self.items.iter().filter(move |item| match item.kind {
            ItemKind::Body(_) | ItemKind::Paper(_) => true,
            ItemKind::Collider(_) => !bodies_only && !item.mesh.endless,
        });
        seen.flat_map(|item| item.positions.iter().map(|p| item.transform.transform_point3(*p)))
    }

    /// Lowest and highest corner of those points, m; points that are not finite are left out.
    pub fn bounds(&self, bodies_only: bool) -> Option<(Vec3, Vec3)> {
        self.points(bodies_only).filter(|p| p.is_finite()).fold(None, |bounds, p| {
            let (low, high) = bounds.unwrap_or((p, p));
            Some((low.min(p), high.max(p)))
        })
    }
}

/// Makes moments of one simulation; keeps meshes from one to the next.
#[derive(Debug)]
pub struct Capture {
    meshes: Vec<Arc<ItemMesh>>,
    names: Vec<Arc<str>>,
    uvs: Vec<Vec<[f32; 2]>>,
    /// Fine meshes of bodies with folds.
    fine: Vec<Option<Arc<ItemMesh>>>,
    colliders: Vec<ColliderShape>,
    sheets: Sheets,
}

#[derive(Debug)]
struct ColliderShape {
    name: Arc<str>,
    positions: Arc<Vec<Vec3>>,
    mesh: Arc<ItemMesh>,
    /// Outward normal of a plane in its own frame.
    plane: Option<DVec3>,
    /// Whether its triangles are the collider itself, not a likeness of a round shape.
    is_mesh: bool,
    /// Fine mesh of a skin with folds.
    fine: Option<Arc<ItemMesh>>,
    /// The first map that is painted on a skin.
    painted: Arc<Vec<f32>>,
}

impl Capture {
    /// Gets ready for the moments of a model compiled from that scene.
    pub fn new(scene: &Scene, model: &Model) -> Capture {
        let uvs: Vec<Vec<[f32; 2]>> = model
            .bodies
            .iter()
            .map(|body| match body.uvs.is_empty() {
                true => geometry::planar_uvs(&body.topology.rest_positions),
                false => body.uvs.iter().map(|uv| uv.map(|c| c as f32)).collect(),
            })
            .collect();
        let radius = |b: usize| {
            let thickness = scene.bodies.get(b).and_then(|body| body.thickness).unwrap_or(0.0) as f32;
            let topology = &model.bodies[b].topology;
            // Of each rope: one of n vertices has n − 1 segments.
            let ropes = topology.len().saturating_sub(topology.segments.len()).max(1);
            let length = topology.edges.iter().map(|e| e.rest_length).sum::<f64>() / ropes as f64;
            (0.5 * thickness).max(LEAST_ROPE_RADIUS * length as f32)
        };
        let meshes = model.bodies.iter().enumerate();
        let meshes =
            meshes.map(|(b, body)| Arc::new(body_mesh(body, &body.topology, &uvs[b], radius(b)))).collect();
        let reach = model
            .bodies
            .iter()
            .flat_map(|body| &body.topology.rest_positions[..body.topology.visible()])
            .fold(1.0f64, |reach, x| reach.max(x.abs().max_element()));
        let colliders = model.colliders.iter().map(|collider| {
            let (positions, mesh) = match &collider.form {
                ColliderForm::Primitive(shape) => geometry::primitive_mesh(shape, 4.0 * reach as f32),
                ColliderForm::Mesh(mesh) => geometry::collider_mesh(mesh),
            };
            let plane = match collider.form {
                ColliderForm::Primitive(Primitive::Plane { normal }) => Some(normal),
                _ => None,
            };
            let (name, is_mesh) = (Arc::from(collider.name.as_str()), collider.form.mesh().is_some());
            let painted = Arc::new(painted(model, &collider.carrier));
            let fine = collider.wrinkles.as_ref().map(|wrinkles| Arc::new(fine_mesh(wrinkles, &mesh.uvs)));
            let (positions, mesh) = (Arc::new(positions), Arc::new(mesh));
            ColliderShape { name, positions, mesh, plane, is_mesh, fine, painted }
        });
        let fine = model
            .bodies
            .iter()
            .zip(&uvs)
            .map(|(body, uvs)| body.wrinkles.as_ref().map(|wrinkles| Arc::new(fine_mesh(wrinkles, uvs))));
        Capture {
            fine: fine.collect(),
            meshes,
            names: model.bodies.iter().map(|body| Arc::from(body.name.as_str())).collect(),
            colliders: colliders.collect(),
            sheets: Sheets::new(model),
            uvs,
        }
    }

    /// What is seen now.
    pub fn moment(&mut self, simulation: &Simulation) -> Moment {
        let state = simulation.state();
        let mut moment = Moment { step: state.step, time: state.time, ..Moment::default() };
        let model = simulation.shared_model();
        let mut seen = Vec::with_capacity(state.bodies.len());
        for (b, body) in state.bodies.iter().enumerate() {
            let known = self.meshes[b].topology.as_ref();
            if !known.is_some_and(|known| Arc::ptr_eq(known, &body.topology)) {
                let radius = self.meshes[b].rope_radius;
                self.meshes[b] = Arc::new(body_mesh(&model.bodies[b], &body.topology, &self.uvs[b], radius));
            }
            if model.bodies[b].is_worn() {
                // The skin shows it.
                seen.push(Default::default());
                continue;
            }
            let touching = simulation.contacts(b).iter();
            let positions: Arc<Vec<Vec3>> = Arc::new(body.x.iter().map(|x| x.as_vec3()).collect());
            seen.push((Arc::clone(&positions), Arc::clone(&self.meshes[b])));
            let wrinkled = self.fine[b].as_ref().zip(simulation.wrinkled(b));
            let creases = match (&model.bodies[b].wrinkles, simulation.wrinkled(b)) {
                (Some(wrinkles), Some(places)) => crests(wrinkles, &state.folds[b], places),
                _ => Vec::new(),
            };
            let fine = wrinkled.map(|(mesh, places)| {
                (Arc::clone(mesh), Arc::new(places.iter().map(|x| x.as_vec3()).collect()))
            });
            moment.items.push(Item {
                name: Arc::clone(&self.names[b]),
                kind: ItemKind::Body(b),
                mesh: Arc::clone(&self.meshes[b]),
                positions,
                fine,
                speeds: Arc::new(body.v.iter().map(|v| v.length() as f32).collect()),
                plastic: Arc::new(body.plastic.clone()),
                contacts: Arc::new(touching.map(|c| c.vertex).collect()),
                crossings: Arc::default(),
                gains: Arc::default(),
                painted: Arc::default(),
                border: Arc::default(),
                creases: Arc::new(creases),
                model: Some(Arc::clone(&model)),
                transform: Mat4::IDENTITY,
            });
        }
        moment.items.extend(self.sheets.items(simulation));
        let mut meshes = Vec::new();
        for (c, collider) in self.colliders.iter().enumerate() {
            let pose = simulation.collider_pose(c);
            if let Some(normal) = collider.plane
                && pose.rotate(normal).y > 0.999_999
            {
                let height = pose.translation.y as f32;
                moment.floor = Some(moment.floor.map_or(height, |floor| floor.max(height)));
                continue;
            }
            let rotation = Quat::from_array(pose.rotation.to_array().map(|part| part as f32));
            let transform = Mat4::from_rotation_translation(rotation, pose.translation.as_vec3());
            let skin = simulation.skin_places(c);
            let positions = match skin.is_empty() {
                true => Arc::clone(&collider.positions),
                false => Arc::new(skin.iter().map(|x| x.as_vec3()).collect()),
            };
            let wrinkled = simulation.wrinkled_skin(c);
            let creases = match (&model.colliders[c].wrinkles, wrinkled) {
                (Some(wrinkles), Some(places)) => crests(wrinkles, &state.skin_folds[c], places),
                _ => Vec::new(),
            };
            let fine = collider.fine.as_ref().zip(wrinkled).map(|(mesh, places)| {
                (Arc::clone(mesh), Arc::new(places.iter().map(|x| x.as_vec3()).collect()))
            });
            if collider.is_mesh {
                meshes.push((Arc::clone(&positions), Arc::clone(&collider.mesh), transform));
            }
            moment.items.push(Item {
                name: Arc::clone(&collider.name),
                kind: ItemKind::Collider(c),
                mesh: Arc::clone(&collider.mesh),
                fine,
                speeds: Arc::default(),
                plastic: Arc::default(),
                contacts: Arc::default(),
                crossings: Arc::default(),
                gains: if skin.is_empty() {
                    Arc::default()
                } else {
                    Arc::new(Gains::of(Arc::clone(&model), c, &state.bone_turns, state.time))
                },
                painted: Arc::clone(&collider.painted),
                border: Arc::default(),
                creases: Arc::new(creases),
                model: (!skin.is_empty()).then(|| Arc::clone(&model)),
                positions,
                transform,
            });
        }
        let crossings = Arc::new(Crossings::of(seen).with_colliders(meshes));
        let bodies = moment.items.iter_mut().filter(|item| matches!(item.kind, ItemKind::Body(_)));
        bodies.for_each(|item| item.crossings = Arc::clone(&crossings));
        moment
    }
}

/// The mesh that a body with folds is drawn by.
fn fine_mesh(wrinkles: &Wrinkles, uvs: &[[f32; 2]]) -> ItemMesh {
    let fine = &wrinkles.fine;
    let edges: Vec<[u32; 2]> = mesh_edges(&fine.triangles, &[]).into_iter().map(|(i, j)| [i, j]).collect();
    let uvs: Vec<[f64; 2]> = uvs.iter().map(|uv| uv.map(f64::from)).collect();
    ItemMesh {
        edge_triangles: geometry::edge_triangles(&edges, &fine.triangles),
        triangles: fine.triangles.clone(),
        edges,
        charts: fine.charts(&wrinkles.pattern),
        uvs: fine.uvs(&uvs).into_iter().map(|uv| uv.map(|c| c as f32)).collect(),
        ..ItemMesh::default()
    }
}

/// What the first map of a character has at the vertices of its skin; nothing for anything else.
fn painted(model: &Model, carrier: &Carrier) -> Vec<f32> {
    let Carrier::Skin { character, vertices } = carrier else { return Vec::new() };
    let map = model.characters.get(*character).and_then(|character| character.maps.first());
    map.map_or_else(Vec::new, |map| vertices.iter().map(|&(mesh, v)| map.at(mesh, v) as f32).collect())
}

/// The mesh of a body, which may have been torn since its model was made.
fn body_mesh(body: &BodyModel, topology: &Arc<Topology>, uvs: &[[f32; 2]], rope_radius: f32) -> ItemMesh {
    let edges: Vec<[u32; 2]> = topology.edges.iter().map(|e| [e.i, e.j]).collect();
    ItemMesh {
        edge_triangles: geometry::edge_triangles(&edges, &topology.triangles),
        triangles: topology.triangles.clone(),
        edges,
        segments: topology.segments.clone(),
        // The four particles of a rigid body are no element of it.
        cells: if body.rigid.is_some() { Vec::new() } else { geometry::element_edges(topology) },
        // A vertex made by a tear has the coordinates of the one it comes from.
        uvs: topology.parents.iter().map(|&p| uvs.get(p as usize).copied().unwrap_or_default()).collect(),
        rope_radius,
        topology: Some(Arc::clone(topology)),
        charts: Vec::new(),
        endless: false,
    }
}
