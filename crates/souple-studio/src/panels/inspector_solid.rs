//! Fields of solids, rigid bodies and links: cells, elements, what their parts are made of, springs between bodies.
//!
//! What particles there are changes with cells and mechanics, so those need a restart; what elements are made of is felt at
//! the next step.

use eframe::egui::Ui;
use souple::scene::{
    Block, Body, Cells, Embed, LinkKind, LinkSprings, Material, Rayleigh, Scene, Shape, SolidLaw,
};

use super::fields::{Effect, Form, live, restart};
use super::icons::{Icon, icon_button};
use super::inspector_world::{FAR, subtitle};
use crate::document::Mechanics;

/// Most cells along a side of a block that a field offers.
const MOST_CELLS: u32 = 200;

/// What becomes of cells, with the names in scene files.
const CUTS: [(Cells, &str); 4] = [
    (Cells::Hexahedra, "hexahedra"),
    (Cells::PlainHexahedra, "plain_hexahedra"),
    (Cells::Five, "five"),
    (Cells::Six, "six"),
];

/// What moves a body; returns what the person chose instead. Ropes have no choice.
pub fn mechanics_field(
    form: &mut Form,
    ui: &mut Ui,
    body: &Body,
    is_solid: bool,
    has_elements: bool,
) -> Option<Mechanics> {
    if matches!(body.shape, Shape::Rope(_) | Shape::Strands(_)) {
        return None;
    }
    let mut choices = vec![Mechanics::Springs, Mechanics::Solid, Mechanics::Rigid];
    if has_elements {
        choices.remove(0);
    }
    let choices: Vec<(Mechanics, &str)> = choices.into_iter().map(|m| (m, m.name())).collect();
    let mut chosen = Mechanics::of(body, is_solid);
    let before = form.changes.clone();
    let field = restart("Mechanics", "Body", "rigid", "");
    let clicked = form.choice(ui, field, "", &choices, &mut chosen);
    // The document makes a step of its own of it.
    form.changes = before;
    clicked.then_some(chosen)
}

/// Fields of a block of cells.
pub fn block_fields(form: &mut Form, ui: &mut Ui, block: &mut Block) {
    form.vector(ui, restart("Size, m", "Block", "size", "m"), 1e-3..=FAR, &mut block.size);
    form.three_counts(ui, restart("Cells", "Block", "cells", ""), 1..=MOST_CELLS, &mut block.cells);
    form.choice(ui, restart("Cut", "Block", "cut", ""), "Cells", &CUTS, &mut block.cut);
}

/// Fields of the cells around a surface.
pub fn embed_fields(form: &mut Form, ui: &mut Ui, embed: &mut Embed) {
    form.number(ui, restart("Cell", "Embed", "cell", "m"), 1e-4..=FAR, &mut embed.cell);
    form.count(ui, restart("Fine cells", "Embed", "fine", ""), 1..=16, &mut embed.fine);
    let fills = [(None, "if closed"), (Some(true), "filled"), (Some(false), "shell")];
    form.choice(ui, restart("Inside", "Embed", "fill", ""), "", &fills, &mut embed.fill);
    form.choice(ui, restart("Cut cells", "Embed", "cut", ""), "Cells", &CUTS, &mut embed.cut);
}

/// What a solid or a rigid body is made of.
pub fn material_fields(form: &mut Form, ui: &mut Ui, body: &mut Body) {
    let otherwise = if body.mass.is_some() { "by the mass" } else { "not set" };
    let density = live("Density", "Body", "density", "kg/m³");
    form.optional(ui, density, 1e-3..=1e5, &mut body.density, 1000.0, otherwise);
    form.optional(ui, live("Mass", "Body", "mass", "kg"), 1e-9..=1e6, &mut body.mass, 1.0, "by the density");
    if body.rigid {
        return;
    }
    let otherwise = if body.materials.is_empty() { "not set" } else { "by the materials" };
    let young = live("Young's modulus", "Body", "young_modulus", "Pa");
    form.optional(ui, young, 1.0..=1e12, &mut body.young_modulus, 5e4, otherwise);
    let poisson = live("Poisson's ratio", "Body", "poisson_ratio", "");
    form.optional(ui, poisson, -0.9..=0.499, &mut body.poisson_ratio, 0.4, "0.3");
    let mut law = body.law.unwrap_or_default();
    let laws = [(SolidLaw::Polar, "polar"), (SolidLaw::Qr, "qr"), (SolidLaw::NeoHookean, "neo_hookean")];
    if form.choice(ui, live("Law", "Body", "law", ""), "SolidLaw", &laws, &mut law) {
        body.law = Some(law);
    }
    form.part(
        ui,
        live("Damping", "Body", "rayleigh", ""),
        &mut body.rayleigh,
        Rayleigh::default,
        |form, ui, rayleigh| {
            form.number(ui, live("Mass α", "Rayleigh", "mass", "1/s"), 0.0..=1e3, &mut rayleigh.mass);
            let beta = live("Stiffness β", "Rayleigh", "stiffness", "s");
            form.optional(ui, beta, 0.0..=10.0, &mut rayleigh.stiffness, 1e-3, "none");
        },
    );
}

/// What the parts of a solid are made of, by their labels.
pub fn part_fields(form: &mut Form, ui: &mut Ui, body: &mut Body) {
    subtitle(ui, "Labels come from the mesh file or the volume; what is not set here is that of the body.");
    let mut removed = None;
    for (k, material) in body.materials.iter_mut().enumerate() {
        ui.push_id(k, |ui| {
            ui.horizontal(|ui| {
                ui.strong(format!("Material {}", k + 1));
                let name = format!("Remove material {}", k + 1);
                if icon_button(ui, Icon::Close, false, &name, "Remove this material").clicked() {
                    removed = Some(k);
                }
            });
            form.count(ui, live("Label", "Material", "label", ""), 0..=u32::MAX, &mut material.label);
            let young = live("Part's modulus", "Material", "young_modulus", "Pa");
            form.optional(ui, young, 1.0..=1e12, &mut material.young_modulus, 5e4, "that of the body");
            let poisson = live("Part's ratio", "Material", "poisson_ratio", "");
            form.optional(ui, poisson, -0.9..=0.499, &mut material.poisson_ratio, 0.4, "that of the body");
            let density = live("Part's density", "Material", "density", "kg/m³");
            form.optional(ui, density, 1e-3..=1e5, &mut material.density, 1000.0, "that of the body");
        });
    }
    if let Some(k) = removed {
        body.materials.remove(k);
        form.changed("materials", Effect::Live);
    }
    if ui.button("Add material").on_hover_text("For the elements of the next label").clicked() {
        let label = body.materials.iter().map(|m| m.label).max().map_or(1, |last| last.saturating_add(1));
        body.materials.push(Material { label, ..Material::default() });
        form.changed("materials", Effect::Live);
    }
}

/// Fields of a link but its name.
pub fn link_fields(form: &mut Form, ui: &mut Ui, link: &mut LinkSprings, scene: &Scene) {
    let kinds = [(LinkKind::Spring, "spring"), (LinkKind::Ball, "ball"), (LinkKind::Hinge, "hinge")];
    if form.choice(ui, live("Kind", "LinkSprings", "kind", ""), "LinkKind", &kinds, &mut link.kind) {
        *link = of_kind(link);
    }
    let is_joint = link.kind != LinkKind::Spring;
    let mut names: Vec<(String, &str)> =
        scene.bodies.iter().map(|b| (b.name.clone(), b.name.as_str())).collect();
    let [one, other] = &mut link.between;
    ui.push_id("one", |ui| form.choice(ui, live("From", "LinkSprings", "between", ""), "", &names, one));
    if is_joint {
        names.push(("world".into(), "world"));
    }
    ui.push_id("other", |ui| form.choice(ui, live("To", "LinkSprings", "between", ""), "", &names, other));
    if is_joint {
        joint_fields(form, ui, link)
    } else {
        spring_fields(form, ui, link)
    }
    let stiffness = live("Stiffness", "LinkSprings", "stiffness", "N/m");
    form.optional(ui, stiffness, 1e-6..=1e9, &mut link.stiffness, 500.0, "by its kind");
    form.number(ui, live("Damping", "LinkSprings", "damping", "N·s/m"), 0.0..=1e6, &mut link.damping);
}

/// A link of another kind at the same place: fields that its kind does not have are left out.
fn of_kind(link: &LinkSprings) -> LinkSprings {
    let place = link.at.or(link.near).unwrap_or([0.0; 3]);
    let is_joint = link.kind != LinkKind::Spring;
    LinkSprings {
        near: (!is_joint).then_some(place),
        within: None,
        at: is_joint.then_some(place),
        axis: (link.kind == LinkKind::Hinge).then_some([0.0, 0.0, 1.0]),
        width: None,
        rest_length: None,
        ..link.clone()
    }
}

fn spring_fields(form: &mut Form, ui: &mut Ui, link: &mut LinkSprings) {
    let mut many = link.within.is_some();
    let ways = [(false, "near"), (true, "within")];
    let way = live("Joins", "LinkSprings", if many { "within" } else { "near" }, "");
    if form.choice(ui, way, "", &ways, &mut many) {
        (link.near, link.within) = if many { (None, Some(0.05)) } else { (Some([0.0; 3]), None) };
    }
    if let Some(near) = &mut link.near {
        form.vector(ui, live("Near, m", "LinkSprings", "near", "m"), -FAR..=FAR, near);
    }
    if let Some(within) = &mut link.within {
        form.number(ui, live("Within", "LinkSprings", "within", "m"), 1e-6..=FAR, within);
    }
    let length = live("Rest length", "LinkSprings", "rest_length", "m");
    form.optional(ui, length, 0.0..=FAR, &mut link.rest_length, 0.1, "as at the start");
}

fn joint_fields(form: &mut Form, ui: &mut Ui, link: &mut LinkSprings) {
    if let Some(at) = &mut link.at {
        form.vector(ui, live("At, m", "LinkSprings", "at", "m"), -FAR..=FAR, at);
    }
    if let Some(axis) = &mut link.axis {
        form.vector(ui, live("Axis", "LinkSprings", "axis", ""), -FAR..=FAR, axis);
        let width = live("Width", "LinkSprings", "width", "m");
        form.optional(ui, width, 1e-6..=FAR, &mut link.width, 0.05, "as wide as its bodies");
    }
}

/// What a link is, in a line.
pub fn link_line(link: &LinkSprings) -> String {
    format!("from '{}' to '{}'", link.between[0], link.between[1])
}
