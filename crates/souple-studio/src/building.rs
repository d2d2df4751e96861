//! Building a scene without a text editor (ESSI-02): new objects with names of their own and sensible places.
//!
//! Soft bodies are put beside each other, as nothing acts between them; colliders are put under the bodies, so that
//! these fall on them. What is added compiles and runs as it is.

use std::collections::BTreeSet;
use std::path::Path;

use glam::DVec3;
use souple::math::rotation;
use souple::mesh;
use souple::scene::{
    Air, Ball, Block, Body, BoxShape, Cells, Collider, ColliderShape, Embed, Family, Grid, GridPlane, Group,
    Gusts, InlineMesh, Layout, LinkSprings, Look, MeshFile, Paper, PaperBorder, Pin, Placement, Rayleigh,
    Rope, RoundShape, Scene, Select, Shape, SphereShape, Springs, Style, Wind,
};
use souple_files::vertex_count;

use crate::characters;
use crate::document::Document;
use crate::file_kinds::{FileKind, file_kind};

/// A part of the scene that can be selected, renamed, removed. Numbers are indices in the scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// The scene itself: name, time, gravity, health, view.
    Scene,
    /// Moving air.
    Wind,
    /// A solver group.
    Group(usize),
    /// A soft body.
    Body(usize),
    /// A pin set: body, then pin.
    Pin(usize, usize),
    /// A pull: body, then pull.
    Pull(usize, usize),
    /// Springs between two bodies.
    Link(usize),
    /// A sheet of paper.
    Paper(usize),
    /// A collider.
    Collider(usize),
    /// A character.
    Character(usize),
}

/// What moves a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanics {
    /// Springs between its vertices: cloth, ropes.
    Springs,
    /// Elements that have a volume; a surface gets cells around it (FAU-13).
    Solid,
    /// Nothing bends it (FAU-06).
    Rigid,
}

impl Mechanics {
    /// Those that a body has now.
    pub fn of(body: &Body, is_solid: bool) -> Mechanics {
        match (body.rigid, is_solid) {
            (true, _) => Mechanics::Rigid,
            (false, true) => Mechanics::Solid,
            (false, false) => Mechanics::Springs,
        }
    }

    /// Name in menus.
    pub fn name(self) -> &'static str {
        match self {
            Mechanics::Springs => "springs",
            Mechanics::Solid => "solid",
            Mechanics::Rigid => "rigid",
        }
    }
}

/// How a new cloth is put into the scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClothKind {
    /// Lies flat in the air and falls.
    Sheet,
    /// Hangs from its two upper corners, the pin sets `left` and `right` (GRI-07).
    Curtain,
}

/// A new collider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColliderKind {
    /// A horizontal plane.
    Floor,
    /// A ball.
    Sphere,
    /// A box.
    Box,
    /// A cylinder with hemispherical ends.
    Capsule,
    /// A cylinder with flat ends.
    Cylinder,
}

impl ColliderKind {
    /// All of them, in the order of menus.
    pub const ALL: [ColliderKind; 5] = [
        ColliderKind::Floor,
        ColliderKind::Sphere,
        ColliderKind::Box,
        ColliderKind::Capsule,
        ColliderKind::Cylinder,
    ];

    /// Name in menus, and of the first one that is added.
    pub fn name(self) -> &'static str {
        match self {
            ColliderKind::Floor => "floor",
            ColliderKind::Sphere => "sphere",
            ColliderKind::Box => "box",
            ColliderKind::Capsule => "capsule",
            ColliderKind::Cylinder => "cylinder",
        }
    }

    /// Its shape and half its height, m.
    fn shape(self) -> (ColliderShape, f64) {
        match self {
            ColliderKind::Floor => (ColliderShape::default(), 0.0),
            ColliderKind::Sphere => (ColliderShape::Sphere(SphereShape { radius: 0.25 }), 0.25),
            ColliderKind::Box => (ColliderShape::Box(BoxShape { size: [0.5, 0.4, 0.5] }), 0.2),
            ColliderKind::Capsule => (ColliderShape::Capsule(RoundShape { radius: 0.15, height: 0.3 }), 0.3),
            ColliderKind::Cylinder => {
                (ColliderShape::Cylinder(RoundShape { radius: 0.25, height: 0.4 }), 0.2)
            }
        }
    }
}

/// What a mesh file becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeshUse {
    /// A soft body (ESSI-22).
    #[default]
    SoftBody,
    /// A collider of its shape (ESSI-46).
    Collider,
}

/// Removes a body and what names it.
pub(crate) fn remove_body(scene: &mut Scene, index: usize) {
    let name = scene.bodies.remove(index).name;
    scene.links.retain(|link| !link.between.contains(&name));
    scene.papers.retain(|paper| paper.border != PaperBorder::Body(name.clone()));
    for only in scene.colliders.iter_mut().filter_map(|collider| collider.only.as_mut()) {
        only.retain(|assigned| assigned.body != name);
    }
}

impl Document {
    /// Adds a square metre of cotton.
    pub fn add_cloth(&mut self, kind: ClothKind) -> Object {
        let (plane, base) = match kind {
            ClothKind::Sheet => (GridPlane::Xz, "cloth"),
            ClothKind::Curtain => (GridPlane::Xy, "curtain"),
        };
        let grid = Grid { plane, vertices: [33, 33], ..Grid::default() };
        let corner = |name: &str, vertex: u32| Pin {
            name: name.into(),
            select: Select::Vertices(vec![vertex]),
            ..Pin::default()
        };
        let pins = match kind {
            ClothKind::Sheet => Vec::new(),
            ClothKind::Curtain => vec![corner("left", 0), corner("right", grid.vertices[0] - 1)],
        };
        let body = Body {
            fabric: Some("cotton".into()),
            shape: Shape::Grid(grid),
            air: Some(Air::default()),
            skin: 0.005,
            pins,
            ..Body::default()
        };
        self.add_body(base, body)
    }

    /// Adds a metre of rope that hangs from its first vertex.
    pub fn add_rope(&mut self) -> Object {
        let shape = Shape::Rope(Rope { direction: [1.0, 0.0, 0.0], ..Rope::default() });
        let top = Pin { name: "end".into(), select: Select::Vertices(vec![0]), ..Pin::default() };
        let springs = Springs {
            stretch: Family { modulus: Some(200.0), ..Family::default() },
            bend: Family { modulus: Some(0.5), ..Family::default() },
            ..Springs::default()
        };
        let body = Body {
            shape,
            density: Some(0.05),
            thickness: Some(0.01),
            springs,
            rayleigh: Some(Rayleigh { mass: 0.2, stiffness: Some(0.002) }),
            pins: vec![top],
            ..Body::default()
        };
        self.add_body("rope", body)
    }

    /// Adds a block of jelly that falls.
    pub fn add_block(&mut self) -> Object {
        let shape = Shape::Block(Block { size: [0.4, 0.3, 0.3], cells: [8, 6, 6], cut: Cells::Hexahedra });
        self.add_body("block", Body { shape, skin: 0.005, ..jelly() })
    }

    /// Adds a rigid ball, of wood.
    pub fn add_rigid(&mut self) -> Object {
        let shape = Shape::Ball(Ball { radius: 0.15, subdivisions: 3 });
        let body = Body { shape, rigid: true, density: Some(700.0), skin: 0.005, ..Body::default() };
        self.add_body("ball", body)
    }

    /// Adds a spring between two bodies, where they are nearest to each other by the boxes around them: the selected one, or the first, and the
    /// next to it.
    pub fn add_link(&mut self, selected: Object) -> Result<Object, String> {
        let bodies = &self.scene.bodies;
        if bodies.len() < 2 {
            return Err("a link joins two bodies; add another one first".into());
        }
        let one = match selected {
            Object::Body(b) | Object::Pin(b, _) | Object::Pull(b, _) => b,
            _ => 0,
        };
        let box_of = |b: usize| self.body_bounds(&bodies[b]).ok_or("a body has no size".to_owned());
        let mine = box_of(one)?;
        let mut nearest: Option<(f64, usize, DVec3)> = None;
        for other in (0..bodies.len()).filter(|b| *b != one) {
            let theirs = box_of(other)?;
            // The ends of the gap between both boxes, or of what they share.
            let (low, high) = (mine.0.max(theirs.0), mine.1.min(theirs.1));
            let gap = (low - high).max(DVec3::ZERO).length();
            if nearest.is_none_or(|(least, ..)| gap < least) {
                nearest = Some((gap, other, 0.5 * (low + high)));
            }
        }
        let Some((_, other, place)) = nearest else { return Err("there is no other body".into()) };
        let between = [one, other].map(|b| bodies[b].name.clone());
        let name = unique_name("link", self.scene.links.iter().map(|link| link.name.as_str()));
        let near = Some((place * 1e3).round().to_array().map(|c| c / 1e3));
        let link = LinkSprings {
            name,
            between,
            near,
            stiffness: Some(500.0),
            damping: 2.0,
            ..LinkSprings::default()
        };
        let index = self.scene.links.len();
        self.step(&format!("add '{}'", link.name), |scene| scene.links.push(link));
        Ok(Object::Link(index))
    }

    /// Gives a body other mechanics, with numbers that suit them instead of those that do not fit any more. A surface that becomes a solid gets cells of a
    /// tenth of its extent. Refused for ropes, and for shapes that are solids from the start.
    pub fn set_mechanics(&mut self, body: usize, mechanics: Mechanics) -> Result<(), String> {
        let Some(target) = self.scene.bodies.get(body) else { return Err("there is no such body".into()) };
        let name = target.name.clone();
        if matches!(target.shape, Shape::Rope(_) | Shape::Strands(_)) {
            return Err(format!("'{name}' is a rope: it has no surface to put cells around"));
        }
        let has_elements = self.has_elements(&target.shape);
        if has_elements && mechanics == Mechanics::Springs {
            return Err(format!("'{name}' is a solid from the start; it can be rigid instead"));
        }
        let bounds = self.body_bounds(target).ok_or(format!("'{name}' has no size"))?;
        let cell = round_to_digits((bounds.1 - bounds.0).max_element() / 10.0, 2);
        self.step(&format!("mechanics of '{name}'"), |scene| {
            let body = &mut scene.bodies[body];
            let was_volume = body.rigid || has_elements || body.embed.is_some();
            let kept = Body {
                name: std::mem::take(&mut body.name),
                group: body.group.take(),
                shape: std::mem::take(&mut body.shape),
                placement: body.placement,
                air: body.air,
                skin: body.skin,
                contact: body.contact.take(),
                velocity: body.velocity,
                look: body.look.take(),
                pins: std::mem::take(&mut body.pins),
                pulls: std::mem::take(&mut body.pulls),
                ..Body::default()
            };
            // Mass per volume stays; that of a cloth is per area.
            let (density, mass) = if was_volume { (body.density, body.mass) } else { (Some(1000.0), None) };
            *body = match mechanics {
                Mechanics::Solid => Body {
                    embed: (!has_elements).then(|| Embed { cell, ..Embed::default() }),
                    density,
                    mass,
                    ..with_material(kept, jelly())
                },
                Mechanics::Rigid => Body { rigid: true, density, mass, ..kept },
                Mechanics::Springs => with_material(kept, soft_skin()),
            };
        });
        Ok(())
    }

    /// Whether a shape is made of elements that have a volume, without any cells around it.
    pub fn has_elements(&self, shape: &Shape) -> bool {
        match shape {
            Shape::Block(_) | Shape::Voxels(_) => true,
            Shape::Mesh(mesh) => !mesh.tetrahedra.is_empty(),
            Shape::File(file) => {
                self.files.mesh(file, &mut BTreeSet::new()).is_ok_and(|mesh| !mesh.tetrahedra.is_empty())
            }
            Shape::Grid(_) | Shape::Rope(_) | Shape::Ball(_) | Shape::Strands(_) | Shape::Skin(_) => false,
        }
    }

    /// Adds a mesh file as a soft body or as a collider. A mesh much smaller or larger than what surrounds people
    /// is scaled to about a metre: files rarely say what unit they are in.
    pub fn add_mesh(&mut self, path: &Path, usage: MeshUse) -> Result<Object, String> {
        let written = self.name_file(path)?;
        let file = MeshFile { path: written, weld: true };
        let mesh = self.files.mesh(&file, &mut BTreeSet::new()).map_err(|error| error.problem)?;
        let points: Vec<DVec3> = mesh.positions.iter().map(|p| DVec3::from(*p)).collect();
        let (low, high) = mesh::bounds(&points);
        let extent = (high - low).max_element();
        if !(extent.is_finite() && extent > 0.0) {
            return Err(format!("{}: the mesh has no size", path.display()));
        }
        let scale = if (0.05..=5.0).contains(&extent) { 1.0 } else { round_to_digits(1.0 / extent, 3) };
        let base = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let base = if base.is_empty() { "mesh".to_owned() } else { base };
        if usage == MeshUse::Collider {
            let shape = ColliderShape::File(file);
            return Ok(self.add_collider_of(&base, Collider { shape, scale, ..Collider::default() }));
        }
        if !mesh.tetrahedra.is_empty() {
            let placement = Placement { scale, ..Placement::default() };
            let body = Body { shape: Shape::File(file), placement, skin: 0.005, ..jelly() };
            return Ok(self.add_body(&base, body));
        }
        let placement = Placement { scale, ..Placement::default() };
        let body = Body { shape: Shape::File(file), placement, skin: 0.005, ..soft_skin() };
        Ok(self.add_body(&base, body))
    }

    /// Adds a body beside the others, or over the colliders when it is the first.
    fn add_body(&mut self, base: &str, mut body: Body) -> Object {
        body.name = unique_name(base, self.scene.bodies.iter().map(|b| b.name.as_str()));
        if let Some((low, high)) = self.body_bounds(&body) {
            let middle = 0.5 * (low + high);
            let place = match (self.bodies_bounds(), self.colliders_bounds()) {
                // Beside the others, as high as they reach.
                (Some((_, others)), _) => DVec3::new(others.x + 0.25 - low.x, others.y - high.y, -middle.z),
                (None, Some((under_low, under_high))) => {
                    let under = 0.5 * (under_low + under_high);
                    DVec3::new(under.x - middle.x, under_high.y + 0.3 - low.y, under.z - middle.z)
                }
                // A flat one a metre up, a hanging one with its foot above the ground.
                (None, None) => {
                    DVec3::new(-middle.x, f64::max(1.0, 0.2 + high.y - low.y) - high.y, -middle.z)
                }
            };
            body.placement.translate = (place * 1e3).round().to_array().map(|c| c / 1e3);
        }
        let index = self.scene.bodies.len();
        self.step(&format!("add '{}'", body.name), |scene| scene.bodies.push(body));
        Object::Body(index)
    }

    /// Adds a collider under the bodies.
    pub fn add_collider(&mut self, kind: ColliderKind) -> Object {
        let (shape, half) = kind.shape();
        let position = match (kind, self.bodies_bounds()) {
            (ColliderKind::Floor, Some((low, _))) if low.y < 0.0 => DVec3::new(0.0, low.y - 0.5, 0.0),
            (ColliderKind::Floor, _) => DVec3::ZERO,
            (_, Some((low, high))) => {
                let middle = 0.5 * (low + high);
                DVec3::new(middle.x, low.y - 0.1 - half, middle.z)
            }
            (_, None) => DVec3::new(0.0, half, 0.0),
        };
        let position = (position * 1e3).round().to_array().map(|c| c / 1e3);
        self.add_collider_of(kind.name(), Collider { shape, position, ..Collider::default() })
    }

    fn add_collider_of(&mut self, base: &str, mut collider: Collider) -> Object {
        collider.name = unique_name(base, self.scene.colliders.iter().map(|c| c.name.as_str()));
        let index = self.scene.colliders.len();
        self.step(&format!("add '{}'", collider.name), |scene| scene.colliders.push(collider));
        Object::Collider(index)
    }

    /// Adds a pin set of those vertices to a body. Vertices that the body has not at its start, as they were made by a
    /// tear, are left out.
    pub fn add_pin_set(&mut self, body: usize, vertices: &[u32]) -> Result<Object, String> {
        let Some(target) = self.scene.bodies.get(body) else { return Err("there is no such body".into()) };
        let count = match &target.shape {
            Shape::File(file) => {
                self.files.mesh(file, &mut BTreeSet::new()).map(|m| m.positions.len() as u64)
            }
            // How many the surface has is known once it is built; what is chosen was seen.
            Shape::Voxels(_) | Shape::Skin(_) => Ok(u64::MAX),
            shape => Ok(vertex_count(shape)),
        };
        let count = count.map_err(|error| error.problem)?;
        let chosen: BTreeSet<u32> = vertices.iter().copied().filter(|v| u64::from(*v) < count).collect();
        if chosen.is_empty() {
            return Err(format!("select vertices of '{}' first: a pin set needs at least one", target.name));
        }
        self.add_pin(body, Select::Vertices(chosen.into_iter().collect()))
    }

    /// Adds a pin set of chosen particles to a body.
    pub fn add_pin(&mut self, body: usize, select: Select) -> Result<Object, String> {
        let Some(target) = self.scene.bodies.get(body) else { return Err("there is no such body".into()) };
        let name = unique_name("pin", target.pins.iter().map(|pin| pin.name.as_str()));
        let key = format!("add pin set '{name}' to '{}'", target.name);
        let index = target.pins.len();
        self.step(&key, |scene| {
            scene.bodies[body].pins.push(Pin { name, select, motion: None, ..Pin::default() })
        });
        Ok(Object::Pin(body, index))
    }

    /// Adds a breeze with gusts, and lets every body that felt no air feel it. Nothing when there is wind already.
    pub fn add_wind(&mut self) -> Object {
        self.step("add wind", |scene| {
            if scene.wind.is_none() {
                let gusts = Some(Gusts::default());
                scene.wind = Some(Wind { velocity: [0.0, 0.0, -3.0], gusts, ..Wind::default() });
                for body in &mut scene.bodies {
                    body.air.get_or_insert_with(Air::default);
                }
            }
        });
        Object::Wind
    }

    /// Adds an A4 sheet of paper that lies flat, beside the others.
    pub fn add_paper(&mut self) -> Object {
        let index = self.scene.papers.len();
        let name = unique_name("paper", self.scene.papers.iter().map(|paper| paper.name.as_str()));
        let translate = [-0.1485, 0.0, 0.105 + 0.25 * index as f64];
        let placement = Placement { translate, ..Placement::default() };
        self.step(&format!("add '{name}'"), |scene| {
            scene.papers.push(Paper { name, size: Some([0.297, 0.21]), placement, ..Paper::default() });
        });
        Object::Paper(index)
    }

    /// Adds a solver group. The first one that is written down takes the place of the group that a scene has by itself.
    pub fn add_group(&mut self) -> Object {
        let index = self.scene.groups.len();
        let base = if index == 0 { "default" } else { "group" };
        let name = unique_name(base, self.scene.groups.iter().map(|group| group.name.as_str()));
        self.step(&format!("add group '{name}'"), |scene| {
            scene.groups.push(Group { name, ..Group::default() });
        });
        Object::Group(index)
    }

    /// Removes an object; bodies of a removed group go to the first one, links of a removed body, skins and elastic layers of a removed character with it. Says whether there was anything to remove: the
    /// scene itself stays.
    pub fn remove(&mut self, object: Object) -> bool {
        let Some(name) = self.name_of(object) else { return false };
        if object == Object::Scene {
            return false;
        }
        self.step(&format!("remove '{name}'"), |scene| match object {
            Object::Scene => {}
            Object::Wind => scene.wind = None,
            Object::Group(g) => {
                scene.groups.remove(g);
                for body in scene.bodies.iter_mut().filter(|body| body.group.as_ref() == Some(&name)) {
                    body.group = None;
                }
            }
            Object::Body(b) => remove_body(scene, b),
            Object::Pin(b, p) => drop(scene.bodies[b].pins.remove(p)),
            Object::Pull(b, p) => drop(scene.bodies[b].pulls.remove(p)),
            Object::Link(k) => drop(scene.links.remove(k)),
            Object::Paper(p) => drop(scene.papers.remove(p)),
            Object::Collider(c) => drop(scene.colliders.remove(c)),
            Object::Character(c) => characters::remove(scene, c),
        })
    }

    /// Renames an object; refused when the name is empty or taken. Bodies follow a renamed group, links and lists of
    /// colliders a renamed body, all that names it a renamed character.
    pub fn rename(&mut self, object: Object, name: &str) -> Result<(), String> {
        let Some(old) = self.name_of(object) else { return Err("there is no such object".into()) };
        let name = name.trim();
        let scene = &self.scene;
        let taken = |names: Vec<&String>| name != old && names.into_iter().any(|other| other == name);
        let is_taken = match object {
            Object::Wind | Object::Pull(..) => return Err(format!("the {old} has no name of its own")),
            Object::Scene => false,
            Object::Group(_) => taken(scene.groups.iter().map(|g| &g.name).collect()),
            Object::Body(_) => taken(scene.bodies.iter().map(|b| &b.name).collect()),
            Object::Pin(b, _) => taken(scene.bodies[b].pins.iter().map(|p| &p.name).collect()),
            Object::Link(_) => taken(scene.links.iter().map(|link| &link.name).collect()),
            Object::Paper(_) => taken(scene.papers.iter().map(|p| &p.name).collect()),
            Object::Collider(_) => taken(scene.colliders.iter().map(|c| &c.name).collect()),
            Object::Character(_) => taken(scene.characters.iter().map(|c| &c.name).collect()),
        };
        if is_taken {
            return Err(format!("there is another '{name}'; choose a name that is not taken"));
        }
        if name.is_empty() && object != Object::Scene {
            return Err("a name needs at least one letter".into());
        }
        self.step(&format!("rename '{old}'"), |scene| match object {
            Object::Scene => scene.name = name.into(),
            Object::Wind | Object::Pull(..) => {}
            Object::Group(g) => {
                scene.groups[g].name = name.into();
                for body in scene.bodies.iter_mut().filter(|body| body.group.as_ref() == Some(&old)) {
                    body.group = Some(name.into());
                }
            }
            Object::Body(b) => {
                scene.bodies[b].name = name.into();
                for end in
                    scene.links.iter_mut().flat_map(|link| &mut link.between).filter(|end| **end == old)
                {
                    *end = name.into();
                }
                for paper in &mut scene.papers {
                    if paper.border == PaperBorder::Body(old.clone()) {
                        paper.border = PaperBorder::Body(name.into());
                    }
                }
                let lists = scene.colliders.iter_mut().filter_map(|collider| collider.only.as_mut());
                for assigned in lists.flatten().filter(|assigned| assigned.body == old) {
                    assigned.body = name.into();
                }
            }
            Object::Pin(b, p) => scene.bodies[b].pins[p].name = name.into(),
            Object::Link(k) => scene.links[k].name = name.into(),
            Object::Paper(p) => scene.papers[p].name = name.into(),
            Object::Collider(c) => scene.colliders[c].name = name.into(),
            Object::Character(c) => characters::rename(scene, c, name),
        });
        Ok(())
    }

    /// Name of an object; none if it is not there.
    pub fn name_of(&self, object: Object) -> Option<String> {
        let scene = &self.scene;
        match object {
            Object::Scene => Some(scene.name.clone()),
            Object::Wind => scene.wind.map(|_| "wind".to_owned()),
            Object::Group(g) => Some(scene.groups.get(g)?.name.clone()),
            Object::Body(b) => Some(scene.bodies.get(b)?.name.clone()),
            Object::Pin(b, p) => Some(scene.bodies.get(b)?.pins.get(p)?.name.clone()),
            Object::Pull(b, p) => scene.bodies.get(b)?.pulls.get(p).map(|_| format!("pull {}", p + 1)),
            Object::Link(k) => Some(scene.links.get(k)?.name.clone()),
            Object::Paper(p) => Some(scene.papers.get(p)?.name.clone()),
            Object::Collider(c) => Some(scene.colliders.get(c)?.name.clone()),
            Object::Character(c) => Some(scene.characters.get(c)?.name.clone()),
        }
    }

    /// Gives a body or collider an image. A style that shows none becomes `texture`.
    pub fn set_texture(&mut self, object: Object, path: &Path) -> Result<(), String> {
        let written = self.name_file(path)?;
        self.change_look(object, "image", |look| {
            look.texture = Some(written);
            if !matches!(look.style, Style::Bump | Style::CubeMap | Style::Shader(_)) {
                look.style = Style::Texture;
            }
        })
    }

    /// Gives a body or collider a shader of the user's own (ESSI-54).
    pub fn set_shader(&mut self, object: Object, path: &Path) -> Result<(), String> {
        let written = self.name_file(path)?;
        self.change_look(object, "shader", |look| {
            look.style = Style::Shader(written);
            look.parameters.clear();
        })
    }

    fn change_look(
        &mut self,
        object: Object,
        what: &str,
        change: impl FnOnce(&mut Look),
    ) -> Result<(), String> {
        let Some(name) = self.name_of(object) else { return Err("there is no such object".into()) };
        if !matches!(object, Object::Body(_) | Object::Paper(_) | Object::Collider(_)) {
            return Err(format!("'{name}' has no look; select a body or a collider"));
        }
        self.step(&format!("{what} of '{name}'"), |scene| {
            let look = match object {
                Object::Collider(c) => &mut scene.colliders[c].look,
                Object::Body(b) => &mut scene.bodies[b].look,
                Object::Paper(p) => &mut scene.papers[p].look,
                _ => return,
            };
            change(look.get_or_insert_with(Look::default));
        });
        Ok(())
    }

    /// Gives an image or a shader to the selected object, or to the only body there is; returns which one it was.
    pub fn set_look_file(&mut self, path: &Path, selected: Object) -> Result<Object, String> {
        let target = match selected {
            Object::Body(_) | Object::Paper(_) | Object::Collider(_) => selected,
            Object::Pin(b, _) | Object::Pull(b, _) => Object::Body(b),
            _ if self.scene.bodies.len() == 1 => Object::Body(0),
            _ => return Err("select the body or collider that the file is for, then drop it again".into()),
        };
        match file_kind(path) {
            Some(FileKind::Shader) => self.set_shader(target, path)?,
            _ => self.set_texture(target, path)?,
        }
        Ok(target)
    }

    /// Box around all bodies as they are placed, m; bodies whose mesh cannot be read do not count.
    fn bodies_bounds(&self) -> Option<(DVec3, DVec3)> {
        self.scene.bodies.iter().filter_map(|body| self.body_bounds(body)).reduce(union)
    }

    /// Box around a body as it is placed, m.
    fn body_bounds(&self, body: &Body) -> Option<(DVec3, DVec3)> {
        let points = match &body.shape {
            Shape::Grid(Grid { size: [u, v], plane, .. }) => match plane {
                GridPlane::Xz => corners(DVec3::ZERO, DVec3::new(*u, 0.0, *v)),
                GridPlane::Xy => corners(DVec3::new(0.0, -v, 0.0), DVec3::new(*u, 0.0, 0.0)),
            },
            Shape::Rope(rope) => {
                vec![DVec3::ZERO, DVec3::from(rope.direction).normalize_or_zero() * rope.length]
            }
            Shape::Strands(s) => {
                corners(DVec3::splat(-s.radius - s.length), DVec3::splat(s.radius + s.length))
            }
            Shape::Block(block) => corners(DVec3::ZERO, DVec3::from(block.size)),
            Shape::Skin(_) => return None,
            Shape::Ball(ball) => corners(DVec3::splat(-ball.radius), DVec3::splat(ball.radius)),
            Shape::Mesh(mesh) => mesh.positions.iter().map(|p| DVec3::from(*p)).collect(),
            Shape::File(file) => {
                let mesh = self.files.mesh(file, &mut BTreeSet::new()).ok()?;
                mesh.positions.iter().map(|p| DVec3::from(*p)).collect()
            }
            Shape::Voxels(voxels) => {
                let volume = self.files.volume(voxels).ok()?;
                let half = 0.5 * DVec3::from(volume.spacing);
                let extent = DVec3::from(volume.size.map(f64::from)) * DVec3::from(volume.spacing);
                let low = DVec3::from(volume.origin) - half;
                corners(low, low + extent)
            }
        };
        let Placement { translate, rotate_deg, scale } = body.placement;
        let turn = rotation(DVec3::from(rotate_deg));
        let placed: Vec<DVec3> =
            points.iter().map(|p| turn * (*p * scale) + DVec3::from(translate)).collect();
        let (low, high) = mesh::bounds(&placed);
        (low.is_finite() && high.is_finite()).then_some((low, high))
    }

    /// Box around all colliders, m: of planes the height, of meshes that cannot be read nothing.
    fn colliders_bounds(&self) -> Option<(DVec3, DVec3)> {
        let bounds = |collider: &Collider| self.collider_bounds(collider);
        self.scene.colliders.iter().filter_map(bounds).reduce(union)
    }

    /// Box around a collider, m; a turned one is taken as the box around its turned box.
    fn collider_bounds(&self, collider: &Collider) -> Option<(DVec3, DVec3)> {
        let around = |half: DVec3| (-half, half);
        let of_mesh = |mesh: &InlineMesh| {
            mesh::bounds(&mesh.positions.iter().map(|p| DVec3::from(*p)).collect::<Vec<_>>())
        };
        let (low, high) = match &collider.shape {
            ColliderShape::Plane(_) => {
                let at = DVec3::new(0.0, collider.position[1], 0.0);
                return Some((at, at));
            }
            ColliderShape::Sphere(SphereShape { radius }) => around(DVec3::splat(*radius)),
            ColliderShape::Box(BoxShape { size }) => around(0.5 * DVec3::from(*size)),
            ColliderShape::Capsule(RoundShape { radius, height }) => {
                around(DVec3::new(*radius, 0.5 * height + radius, *radius))
            }
            ColliderShape::Cylinder(RoundShape { radius, height }) => {
                around(DVec3::new(*radius, 0.5 * height, *radius))
            }
            ColliderShape::Mesh(mesh) => of_mesh(mesh),
            ColliderShape::File(file) => of_mesh(&self.files.mesh(file, &mut BTreeSet::new()).ok()?),
            // Where its character is, which is known only once it is compiled.
            ColliderShape::Skin(_) => return None,
        };
        let turn = rotation(DVec3::from(collider.rotate_deg));
        let place = |p: &DVec3| turn * (*p * collider.scale) + DVec3::from(collider.position);
        let (low, high) = mesh::bounds(&corners(low, high).iter().map(place).collect::<Vec<_>>());
        (low.is_finite() && high.is_finite()).then_some((low, high))
    }
}

/// What a solid is made of at first.
fn jelly() -> Body {
    Body {
        density: Some(1000.0),
        young_modulus: Some(5e4),
        poisson_ratio: Some(0.4),
        rayleigh: Some(Rayleigh { mass: 0.5, stiffness: Some(0.004) }),
        ..Body::default()
    }
}

/// What a surface of any mesh is made of at first: springs to neighbours and to theirs, which keep its shape.
fn soft_skin() -> Body {
    let springs = Springs {
        layout: Layout::Graph(2),
        stretch: Family { modulus: Some(500.0), ..Family::default() },
        bend: Family { modulus: Some(200.0), ..Family::default() },
        ..Springs::default()
    };
    let rayleigh = Some(Rayleigh { mass: 0.2, stiffness: Some(0.004) });
    Body { density: Some(0.5), springs, rayleigh, ..Body::default() }
}

/// A body that is made of what another one is made of.
fn with_material(body: Body, of: Body) -> Body {
    Body {
        density: of.density,
        young_modulus: of.young_modulus,
        poisson_ratio: of.poisson_ratio,
        springs: of.springs,
        rayleigh: of.rayleigh,
        ..body
    }
}

/// The eight corners of a box.
pub(crate) fn corners(low: DVec3, high: DVec3) -> Vec<DVec3> {
    let pick = |k: u32, bit: u32, axis: usize| if k >> bit & 1 == 0 { low[axis] } else { high[axis] };
    (0..8).map(|k| DVec3::new(pick(k, 0, 0), pick(k, 1, 1), pick(k, 2, 2))).collect()
}

fn union(a: (DVec3, DVec3), b: (DVec3, DVec3)) -> (DVec3, DVec3) {
    (a.0.min(b.0), a.1.max(b.1))
}

/// The name itself, or with the first number from 2 on that makes it different from all others.
pub(crate) fn unique_name<'n>(base: &str, taken: impl Iterator<Item = &'n str>) -> String {
    let taken: BTreeSet<&str> = taken.collect();
    let numbered = (2u64..).map(|number| format!("{base}-{number}"));
    let mut names = std::iter::once(base.to_owned()).chain(numbered);
    names.find(|name| !taken.contains(name.as_str())).unwrap_or_default()
}

/// A number with that many digits: people read scene files.
pub(crate) fn round_to_digits(value: f64, digits: i32) -> f64 {
    let power = 10f64.powi(digits - 1 - value.abs().log10().floor() as i32);
    let rounded = (value * power).round() / power;
    if rounded.is_finite() && rounded > 0.0 { rounded } else { value }
}

#[cfg(test)]
#[path = "building_tests.rs"]
mod tests;
