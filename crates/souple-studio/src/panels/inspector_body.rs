//! Fields of a soft body, of its supports and its pulls.

use eframe::egui::{self, Ui};
use souple::fabrics::{FABRICS, Fabric};
use souple::scene::{
    Air, Body, Border, Diagonals, Family, Grid, GridPlane, InlineMesh, Layout, LengthLimit, LimitMethod,
    Limits, Motion, Pin, Pull, Rayleigh, Region, RopeMass, Scene, Select, Shape, Tear, VoxelShape,
};

use super::fields::{Effect, Form, live, plain, restart, words};
use super::inspector::section;
use super::inspector_sheets::wrinkle_fields;
use super::inspector_solid::{self, block_fields, embed_fields};
use super::inspector_world::{FAR, motion_fields};
use crate::document::Mechanics;

/// Most vertices along a side that a field offers; more can be written in the scene file.
const MOST_SIDE: u32 = 1000;

/// All fields of a body but its name, its look and its supports.
pub fn body_fields(form: &mut Form, ui: &mut Ui, body: &mut Body, scene: &Scene, mechanics: Mechanics) {
    section(ui, "Shape", true, |ui| shape_fields(form, ui, body));
    if let Some(embed) = &mut body.embed {
        section(ui, "Cells", true, |ui| embed_fields(form, ui, embed));
    }
    section(ui, "Placement", false, |ui| {
        form.vector(
            ui,
            restart("Move, m", "Placement", "translate", "m"),
            -FAR..=FAR,
            &mut body.placement.translate,
        );
        let turn = restart("Turn, °", "Placement", "rotate_deg", "degrees about the axis");
        form.vector(ui, turn, -720.0..=720.0, &mut body.placement.rotate_deg);
        form.number(ui, restart("Scale", "Placement", "scale", ""), 1e-3..=1e3, &mut body.placement.scale);
        form.vector(ui, restart("Speed, m/s", "Body", "velocity", "m/s"), -100.0..=100.0, &mut body.velocity);
    });
    if mechanics == Mechanics::Springs {
        section(ui, "Material", true, |ui| material_fields(form, ui, body));
        section(ui, "Springs", true, |ui| spring_fields(form, ui, body));
        section(ui, "Limits and tearing", false, |ui| limit_fields(form, ui, body));
    } else {
        section(ui, "Material", true, |ui| inspector_solid::material_fields(form, ui, body));
    }
    if mechanics == Mechanics::Solid {
        let has_some = !body.materials.is_empty();
        section(ui, "Materials of parts", has_some, |ui| inspector_solid::part_fields(form, ui, body));
    }
    if mechanics != Mechanics::Rigid && !matches!(body.shape, Shape::Rope(_) | Shape::Strands(_)) {
        section(ui, "Folds", body.wrinkles.is_some(), |ui| wrinkle_fields(form, ui, body));
    }
    section(ui, "Air and contact", false, |ui| {
        form.part(ui, live("Air", "Body", "air", ""), &mut body.air, Air::default, |form, ui, air| {
            form.slider(ui, live("Drag", "Air", "drag", ""), 0.0..=2.0, 100.0, &mut air.drag);
            form.slider(ui, live("Lift", "Air", "lift", ""), 0.0..=2.0, 100.0, &mut air.lift);
            form.number(ui, live("Viscous", "Air", "viscous", "N·s/m³"), 0.0..=1e3, &mut air.viscous);
        });
        form.number(ui, live("Skin", "Body", "skin", "m"), 0.0..=1.0, &mut body.skin);
        group_field(form, ui, body, scene);
    });
}

fn shape_fields(form: &mut Form, ui: &mut Ui, body: &mut Body) {
    match &mut body.shape {
        Shape::Grid(grid) => grid_fields(form, ui, grid),
        Shape::Rope(rope) => {
            form.number(ui, restart("Length", "Rope", "length", "m"), 1e-3..=FAR, &mut rope.length);
            form.count(ui, restart("Vertices", "Rope", "vertices", ""), 2..=MOST_SIDE, &mut rope.vertices);
            form.vector(ui, restart("Direction", "Rope", "direction", ""), -1.0..=1.0, &mut rope.direction);
            let choices = [(RopeMass::Segments, "segments"), (RopeMass::Beads, "beads")];
            form.choice(
                ui,
                restart("Mass at", "Rope", "mass_at", ""),
                "RopeMass",
                &choices,
                &mut rope.mass_at,
            );
        }
        Shape::Strands(s) => {
            form.count(ui, restart("Strands", "Strands", "strands", ""), 1..=MOST_SIDE, &mut s.strands);
            form.count(ui, restart("Segments", "Strands", "segments", ""), 2..=MOST_SIDE, &mut s.segments);
            form.number(ui, restart("Length", "Strands", "length", "m"), 1e-3..=FAR, &mut s.length);
            form.number(ui, restart("Radius", "Strands", "radius", "m"), 0.0..=FAR, &mut s.radius);
        }
        Shape::Ball(ball) => {
            form.number(ui, restart("Radius", "Ball", "radius", "m"), 1e-3..=FAR, &mut ball.radius);
            form.count(
                ui,
                restart("Subdivisions", "Ball", "subdivisions", ""),
                0..=8,
                &mut ball.subdivisions,
            );
        }
        Shape::Block(block) => {
            block_fields(form, ui, block);
        }
        Shape::File(file) => {
            form.row(ui, restart("Mesh file", "MeshFile", "path", ""), |ui| {
                ui.add(egui::Label::new(file.path.as_str()).truncate()).on_hover_text(file.path.as_str())
            });
            form.flag(ui, restart("Weld", "MeshFile", "weld", ""), &mut file.weld);
        }
        Shape::Voxels(voxels) => {
            form.row(ui, restart("Volume file", "VoxelShape", "path", ""), |ui| {
                let path = if voxels.path.is_empty() { "in the scene file itself" } else { &voxels.path };
                ui.add(egui::Label::new(path).truncate()).on_hover_text(path)
            });
            form.count(ui, restart("Group", "VoxelShape", "group", ""), 1..=16, &mut voxels.group);
        }
        Shape::Skin(skin) => {
            form.row(ui, restart("Skin of", "SkinShape", "character", ""), |ui| {
                ui.label(skin.character.as_str())
            });
        }
        // The form has it without its contents.
        Shape::Mesh(_) => {
            form.row(ui, restart("Mesh", "Shape", "mesh", ""), |ui| ui.label("in the scene file itself"));
        }
    }
}

fn grid_fields(form: &mut Form, ui: &mut Ui, grid: &mut Grid) {
    form.pair(ui, restart("Size", "Grid", "size", "m"), 1e-3..=FAR, &mut grid.size);
    form.counts(ui, restart("Vertices", "Grid", "vertices", ""), 2..=MOST_SIDE, &mut grid.vertices);
    let planes = [(GridPlane::Xz, "xz"), (GridPlane::Xy, "xy")];
    form.choice(ui, restart("Plane", "Grid", "plane", ""), "GridPlane", &planes, &mut grid.plane);
    let diagonals = [(Diagonals::Alternating, "alternating"), (Diagonals::Regular, "regular")];
    form.choice(
        ui,
        restart("Diagonals", "Grid", "diagonals", ""),
        "Diagonals",
        &diagonals,
        &mut grid.diagonals,
    );
}

/// A copy of a body for its form, which shows nothing of a mesh that stands in the scene itself: that may be large.
pub fn for_form(body: &Body) -> Body {
    let shape = match &body.shape {
        Shape::Mesh(_) => Shape::Mesh(InlineMesh::default()),
        Shape::Voxels(voxels) => Shape::Voxels(VoxelShape {
            path: voxels.path.clone(),
            group: voxels.group,
            labels: voxels.labels.clone(),
            volume: None,
        }),
        shape => shape.clone(),
    };
    Body {
        name: body.name.clone(),
        group: body.group.clone(),
        shape,
        placement: body.placement,
        fabric: body.fabric.clone(),
        density: body.density,
        mass: body.mass,
        young_modulus: body.young_modulus,
        poisson_ratio: body.poisson_ratio,
        law: body.law,
        plasticity: body.plasticity,
        shape_matching: body.shape_matching,
        materials: body.materials.clone(),
        embed: body.embed,
        resolution: body.resolution.clone(),
        rigid: body.rigid,
        thickness: body.thickness,
        bending: body.bending,
        creasing: body.creasing,
        area_stiffness: body.area_stiffness,
        inside: body.inside,
        dials: body.dials,
        elastic: body.elastic.clone(),
        wrinkles: body.wrinkles,
        springs: body.springs,
        rayleigh: body.rayleigh,
        limits: body.limits,
        tear: body.tear,
        air: body.air,
        skin: body.skin,
        contact: body.contact.clone(),
        velocity: body.velocity,
        look: body.look.clone(),
        pins: body.pins.clone(),
        pulls: body.pulls.clone(),
    }
}

/// Writes what a form changed back into its body.
pub fn from_form(edited: Body, body: &mut Body) {
    let mesh = match &mut body.shape {
        Shape::Mesh(mesh) => Some(std::mem::take(mesh)),
        _ => None,
    };
    let volume = match &mut body.shape {
        Shape::Voxels(voxels) => voxels.volume.take(),
        _ => None,
    };
    *body = edited;
    if let Shape::Voxels(voxels) = &mut body.shape {
        voxels.volume = volume;
    }
    if let (Shape::Mesh(place), Some(mesh)) = (&mut body.shape, mesh) {
        *place = mesh;
    }
}

/// The fabric that gives what a body does not say itself.
pub fn fabric_of(body: &Body) -> Option<&'static Fabric> {
    FABRICS.iter().find(|fabric| Some(fabric.name) == body.fabric.as_deref())
}

/// What holds when a number is not set here.
fn from_fabric(fabric: Option<&Fabric>, number: impl Fn(&Fabric) -> f64, unit: &str) -> String {
    match fabric {
        Some(fabric) => format!("{}: {} {unit}", fabric.name, plain(number(fabric))),
        None => "not set".into(),
    }
}

fn material_fields(form: &mut Form, ui: &mut Ui, body: &mut Body) {
    let mut choices: Vec<(Option<String>, &str)> = vec![(None, "none")];
    choices.extend(FABRICS.iter().map(|fabric| (Some(fabric.name.to_owned()), fabric.name)));
    form.choice(ui, live("Fabric", "Body", "fabric", ""), "", &choices, &mut body.fabric);
    let fabric = fabric_of(body);
    let is_rope = matches!(body.shape, Shape::Rope(_) | Shape::Strands(_));
    let unit = if is_rope { "kg/m" } else { "kg/m²" };
    let first = fabric.map_or(0.15, |f| f.density);
    let otherwise =
        if body.mass.is_some() { "by the mass".into() } else { from_fabric(fabric, |f| f.density, unit) };
    form.optional(
        ui,
        live("Density", "Body", "density", unit),
        1e-6..=1e4,
        &mut body.density,
        first,
        &otherwise,
    );
    form.optional(ui, live("Mass", "Body", "mass", "kg"), 1e-9..=1e6, &mut body.mass, 1.0, "by the density");
    let otherwise = from_fabric(fabric, |f| f.thickness, "m");
    let first = fabric.map_or(5e-4, |f| f.thickness);
    form.optional(
        ui,
        live("Thickness", "Body", "thickness", "m"),
        1e-6..=1.0,
        &mut body.thickness,
        first,
        &otherwise,
    );
    let young = live("Young's modulus", "Body", "young_modulus", "Pa");
    form.optional(ui, young, 0.0..=1e12, &mut body.young_modulus, 1e6, "by the springs");
    let bending = live("Bending", "Body", "bending", "N·m");
    form.optional(ui, bending, 0.0..=1e6, &mut body.bending, 1e-5, "bend springs only");
    form.part(
        ui,
        live("Damping", "Body", "rayleigh", ""),
        &mut body.rayleigh,
        Rayleigh::default,
        |form, ui, rayleigh| {
            form.number(ui, live("Mass α", "Rayleigh", "mass", "1/s"), 0.0..=1e3, &mut rayleigh.mass);
            let otherwise = from_fabric(fabric, |f| f.beta, "s");
            let beta = live("Stiffness β", "Rayleigh", "stiffness", "s");
            form.optional(
                ui,
                beta,
                0.0..=10.0,
                &mut rayleigh.stiffness,
                fabric.map_or(1e-3, |f| f.beta),
                &otherwise,
            );
        },
    );
}

fn spring_fields(form: &mut Form, ui: &mut Ui, body: &mut Body) {
    let fabric = fabric_of(body);
    layout_field(form, ui, &mut body.springs.layout);
    let is_rope = matches!(body.shape, Shape::Rope(_) | Shape::Strands(_));
    let families = [
        ("Stretch", &mut body.springs.stretch, fabric.map(|f| f.stretch), 100.0),
        ("Shear", &mut body.springs.shear, fabric.map(|f| f.shear), 20.0),
        ("Bend", &mut body.springs.bend, fabric.map(|f| f.bend), 1.0),
    ];
    for (name, family, modulus, first) in families {
        if is_rope && name == "Shear" {
            continue;
        }
        family_fields(form, ui, name, family, modulus, first, is_rope);
    }
}

fn layout_field(form: &mut Form, ui: &mut Ui, layout: &mut Layout) {
    let field = live("Layout", "Springs", "layout", "");
    let mut kind = match layout {
        Layout::Structural => 0,
        Layout::Radius(_) => 1,
        Layout::Graph(_) => 2,
    };
    if form.choice(ui, field, "Layout", &[(0, "structural"), (1, "radius"), (2, "graph")], &mut kind) {
        *layout = [Layout::Structural, Layout::Radius(0.1), Layout::Graph(2)][kind];
    }
    match layout {
        Layout::Structural => {}
        Layout::Radius(radius) => {
            form.number(ui, live("Reach", "Layout", "radius", "m"), 1e-4..=10.0, radius)
        }
        Layout::Graph(edges) => form.count(ui, live("Edges", "Layout", "graph", ""), 1..=6, edges),
    }
}

/// Stiffness, modulus and damping of a family. The labels name the family, so that each field has a name of its own.
fn family_fields(
    form: &mut Form,
    ui: &mut Ui,
    name: &'static str,
    family: &mut Family,
    modulus: Option<f64>,
    first: f64,
    is_rope: bool,
) {
    let labels = match name {
        "Stretch" => ["Stretch stiffness", "Stretch modulus", "Stretch damping"],
        "Shear" => ["Shear stiffness", "Shear modulus", "Shear damping"],
        _ => ["Bend stiffness", "Bend modulus", "Bend damping"],
    };
    let unit = if is_rope { "N" } else { "N/m" };
    let otherwise = match (family.modulus, modulus) {
        (Some(_), _) => "by the modulus".into(),
        (None, Some(_)) => "by the fabric".to_owned(),
        (None, None) => "not set".to_owned(),
    };
    let stiffness = live(labels[0], "Family", "stiffness", "N/m");
    form.optional(ui, stiffness, 0.0..=1e9, &mut family.stiffness, first, &otherwise);
    let otherwise = match (family.stiffness, modulus) {
        (Some(_), _) => "by the stiffness".to_owned(),
        (None, Some(value)) => format!("fabric: {} {unit}", plain(value)),
        (None, None) => "not set".to_owned(),
    };
    let field = live(labels[1], "Family", "modulus", unit);
    form.optional(ui, field, 0.0..=1e9, &mut family.modulus, modulus.unwrap_or(first * 10.0), &otherwise);
    let field = live(labels[2], "Family", "damping", "N·s/m");
    form.optional(ui, field, 0.0..=1e6, &mut family.damping, 0.01, "none");
}

fn limit_fields(form: &mut Form, ui: &mut Ui, body: &mut Body) {
    form.part(
        ui,
        live("Stretch limits", "Body", "limits", ""),
        &mut body.limits,
        Limits::default,
        |form, ui, limits| {
            let methods = [
                (LimitMethod::None, "none"),
                (LimitMethod::Position, "position"),
                (LimitMethod::Velocity, "velocity"),
            ];
            form.choice(
                ui,
                live("Method", "Limits", "method", ""),
                "LimitMethod",
                &methods,
                &mut limits.method,
            );
            form.count(ui, live("Iterations", "Limits", "iterations", ""), 1..=200, &mut limits.iterations);
            length_limit(form, ui, ["Stretch max", "Stretch min"], &mut limits.stretch);
            length_limit(form, ui, ["Shear max", "Shear min"], &mut limits.shear);
            length_limit(form, ui, ["Bend max", "Bend min"], &mut limits.bend);
        },
    );
    let ratio = fabric_of(body).map_or(1.3, |f| f.tear_ratio);
    let first = || Tear { length_ratio: Some(ratio), ..Tear::default() };
    form.part(ui, live("Tearing", "Body", "tear", ""), &mut body.tear, first, |form, ui, tear| {
        let field = live("Length ratio", "Tear", "length_ratio", "× rest");
        form.optional(ui, field, 1.001..=100.0, &mut tear.length_ratio, ratio, "any");
        form.optional(ui, live("Length", "Tear", "length", "m"), 1e-6..=FAR, &mut tear.length, 0.1, "any");
        form.optional(ui, live("Force", "Tear", "force", "N"), 0.0..=1e9, &mut tear.force, 10.0, "any");
    });
}

fn length_limit(form: &mut Form, ui: &mut Ui, labels: [&'static str; 2], limit: &mut LengthLimit) {
    let field = live(labels[0], "LengthLimit", "max", "× rest");
    form.optional(ui, field, 1.0..=10.0, &mut limit.max, 1.1, "none");
    let field = live(labels[1], "LengthLimit", "min", "× rest");
    form.optional(ui, field, 0.0..=1.0, &mut limit.min, 0.9, "none");
}

fn group_field(form: &mut Form, ui: &mut Ui, body: &mut Body, scene: &Scene) {
    if scene.groups.is_empty() {
        return;
    }
    let mut choices: Vec<(Option<String>, &str)> = vec![(None, "the first")];
    choices.extend(scene.groups.iter().map(|group| (Some(group.name.clone()), group.name.as_str())));
    form.choice(ui, live("Solver group", "Body", "group", ""), "", &choices, &mut body.group);
}

/// Fields of a pin set but its name.
pub fn pin_fields(form: &mut Form, ui: &mut Ui, pin: &mut Pin) {
    select_fields(form, ui, "Pin", &mut pin.select);
    form.part(ui, live("Motion", "Pin", "motion", ""), &mut pin.motion, Motion::default, motion_fields);
}

/// Fields of a pull.
pub fn pull_fields(form: &mut Form, ui: &mut Ui, pull: &mut Pull) {
    select_fields(form, ui, "Pull", &mut pull.select);
    form.vector(ui, live("Force, N", "Pull", "force", "N"), -1e6..=1e6, &mut pull.force);
    form.number(ui, live("From", "Pull", "from", "s"), 0.0..=1e5, &mut pull.from);
    form.optional(ui, live("Until", "Pull", "until", "s"), 0.0..=1e5, &mut pull.until, 1.0, "the end");
}

/// Which particles: the kind, and what it needs.
fn select_fields(form: &mut Form, ui: &mut Ui, owner: &'static str, select: &mut Select) {
    let effect = if owner == "Pin" { Effect::Restart } else { Effect::Live };
    let field = |label, owner, name, unit| super::fields::Field { effect, ..live(label, owner, name, unit) };
    let kinds = [(0, "vertices"), (1, "near"), (2, "within"), (3, "border"), (4, "all"), (5, "roots")];
    let mut kind = match select {
        Select::Vertices(_) => 0,
        Select::Near(_) => 1,
        Select::Within(_) => 2,
        Select::Border(_) => 3,
        Select::All => 4,
        Select::Roots => 5,
    };
    if form.choice(ui, field("Particles", owner, "select", ""), "Select", &kinds, &mut kind) {
        *select = match kind {
            0 => Select::Vertices(vec![0]),
            1 => Select::Near([0.0; 3]),
            2 => Select::Within(Region { min: [-0.1; 3], max: [0.1; 3] }),
            3 => Select::Border(Border::V0),
            5 => Select::Roots,
            _ => Select::All,
        };
    }
    match select {
        Select::Vertices(list) => vertex_list(form, ui, field("Vertices", "Select", "vertices", ""), list),
        Select::Near(at) => form.vector(ui, field("Near, m", "Select", "near", "m"), -FAR..=FAR, at),
        Select::Within(region) => {
            form.vector(ui, field("From, m", "Region", "min", "m"), -FAR..=FAR, &mut region.min);
            form.vector(ui, field("To, m", "Region", "max", "m"), -FAR..=FAR, &mut region.max);
        }
        Select::Border(border) => {
            let borders = [(Border::U0, "u0"), (Border::U1, "u1"), (Border::V0, "v0"), (Border::V1, "v1")];
            form.choice(ui, field("Border", "Select", "border", ""), "Border", &borders, border);
        }
        Select::All | Select::Roots => {}
    }
}

/// Vertex numbers as text, taken over when they can be read.
fn vertex_list(form: &mut Form, ui: &mut Ui, field: super::fields::Field, list: &mut Vec<u32>) {
    let text = list.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    if let Some(typed) = form.name(ui, field, &text) {
        match parse_vertices(&typed) {
            Some(vertices) => {
                *list = vertices;
                form.changed("vertices", field.effect);
            }
            None => {
                let text =
                    format!("'{typed}' cannot be read: vertices are whole numbers with commas between them");
                form.changes.problem = Some(text);
            }
        }
    }
}

/// Numbers with commas or spaces between them; none when one cannot be read.
pub fn parse_vertices(text: &str) -> Option<Vec<u32>> {
    let parts = text.split([',', ' ', ';']).map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().ok()).collect()
}

/// What a body is, in a line, for the head of the inspector.
pub fn body_line(body: &Body) -> String {
    let shape = match &body.shape {
        Shape::Grid(grid) => {
            format!(
                "cloth of {} × {} m, {} × {} vertices",
                plain(grid.size[0]),
                plain(grid.size[1]),
                grid.vertices[0],
                grid.vertices[1]
            )
        }
        Shape::Rope(rope) => format!("rope of {} m, {} vertices", plain(rope.length), rope.vertices),
        Shape::Block(block) => {
            let [x, y, z] = block.size.map(plain);
            format!("block of {x} × {y} × {z} m")
        }
        Shape::Ball(ball) => format!("ball of radius {} m", plain(ball.radius)),
        Shape::Strands(s) => format!("{} strands of {} m", s.strands, plain(s.length)),
        Shape::File(file) => format!("mesh {}", file.path),
        Shape::Mesh(mesh) => format!("mesh of {} vertices", mesh.positions.len()),
        Shape::Skin(skin) => format!("skin of '{}'", skin.character),
        Shape::Voxels(voxels) if voxels.path.is_empty() => "voxels".to_owned(),
        Shape::Voxels(voxels) => format!("voxels {}", voxels.path),
    };
    match (&body.fabric, &body.embed) {
        (Some(fabric), _) => format!("{shape}, {}", words(fabric)),
        (None, Some(embed)) => format!("{shape} in cells of {} m", plain(embed.cell)),
        (None, None) if body.rigid => format!("{shape}, rigid"),
        (None, None) => shape,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertex_numbers_are_read() {
        assert_eq!(parse_vertices("1, 2,30 4;5"), Some(vec![1, 2, 30, 4, 5]));
        assert_eq!(parse_vertices(" "), Some(vec![]));
        assert_eq!(parse_vertices("1, x"), None);
        assert_eq!(parse_vertices("-1"), None);
    }

    #[test]
    fn a_form_changes_all_of_a_body_but_its_mesh() {
        let mesh = InlineMesh { positions: vec![[1.0; 3]; 4], ..InlineMesh::default() };
        let mut body = Body { shape: Shape::Mesh(mesh), mass: Some(1.0), ..Body::default() };
        let mut edited = for_form(&body);
        assert_eq!(edited.shape, Shape::Mesh(InlineMesh::default()), "not copied");
        edited.mass = Some(2.0);
        let before = body.clone();
        from_form(edited, &mut body);
        assert_eq!(body, Body { mass: Some(2.0), ..before });
    }

    #[test]
    fn bodies_say_what_they_are() {
        let body = Body { fabric: Some("silk".into()), ..Body::default() };
        assert_eq!(body_line(&body), "cloth of 1 × 1 m, 32 × 32 vertices, silk");
        assert_eq!(fabric_of(&body).unwrap().name, "silk");
    }
}
