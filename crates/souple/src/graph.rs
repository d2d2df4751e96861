//! What a scene is made of, as a tree: for the tree of the studio and for GraphViz (FAU-72).
//!
//! Scene → groups → solver and bodies → energies, limits, tearing, pins, mappings; links between bodies, paper, characters, colliders and wind hang
//! from the scene.
//! Names and kinds are data, `detail` is one line for a person. Hands (grabs, fan) are not part of a scene and not shown.
//!
//! Promises: parents stand before their children, node 0 is the scene, and [`Graph::to_dot`] is well-formed for any names
//! at all. The text of details may change between versions.

use std::fmt::Write;

use glam::DVec3;

use crate::contact::primitives::Primitive;
use crate::mesh::{SpringFamily, Topology};
use crate::model::{
    AssignedModel, BodyModel, BoneCarrier, Carrier, ColliderForm, ColliderModel, GroupModel, LimitModel,
    LinkModel, Model, PinModel,
};
use crate::paper::{BorderSource, PaperModel};
use crate::scene::{Body, LimitMethod, Motion, Scene, Wind};
use crate::skin::CharacterModel;
use crate::solver::solver_name;

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// The scene itself.
    Scene,
    /// A group of bodies.
    Group,
    /// The solver of a group.
    Solver,
    /// A soft body.
    Body,
    /// A force on a body.
    Energy,
    /// Stretch limits of a body.
    Limits,
    /// When a body tears.
    Tear,
    /// A set of supports.
    Pin,
    /// What is computed from a body to be seen.
    Mapping,
    /// Springs between two bodies.
    Link,
    /// A sheet of paper.
    Paper,
    /// A rigid collider.
    Collider,
    /// An animated character.
    Character,
    /// The moving air.
    Wind,
}

impl NodeKind {
    /// Name for people.
    pub fn name(self) -> &'static str {
        match self {
            NodeKind::Scene => "scene",
            NodeKind::Group => "group",
            NodeKind::Solver => "solver",
            NodeKind::Body => "body",
            NodeKind::Energy => "energy",
            NodeKind::Limits => "limits",
            NodeKind::Tear => "tear",
            NodeKind::Pin => "pin",
            NodeKind::Mapping => "mapping",
            NodeKind::Link => "link",
            NodeKind::Paper => "paper",
            NodeKind::Collider => "collider",
            NodeKind::Character => "character",
            NodeKind::Wind => "wind",
        }
    }

    /// Shape and fill colour in GraphViz.
    fn look(self) -> (&'static str, &'static str) {
        match self {
            NodeKind::Scene => ("box", "#e8e8e8"),
            NodeKind::Group | NodeKind::Solver => ("box", "#dbe7f5"),
            NodeKind::Body => ("ellipse", "#f5e3c8"),
            NodeKind::Energy | NodeKind::Limits | NodeKind::Tear => ("ellipse", "#fbf3e4"),
            NodeKind::Pin => ("ellipse", "#f3d6d6"),
            NodeKind::Mapping => ("ellipse", "#e3d9f2"),
            NodeKind::Link => ("ellipse", "#f2ead0"),
            NodeKind::Paper => ("note", "#f3f0e6"),
            NodeKind::Collider => ("hexagon", "#d9ecd9"),
            NodeKind::Character => ("hexagon", "#ecdfe9"),
            NodeKind::Wind => ("ellipse", "#d9ecf2"),
        }
    }
}

/// One thing of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it stands for.
    pub kind: NodeKind,
    /// Its name in the scene; what it does, for things without a name.
    pub name: String,
    /// One line about it.
    pub detail: String,
    /// Its place among its kind: body, group, link, character or collider number in the model, energy or pin number of its body.
    pub index: usize,
    /// The node it hangs from; `None` for the scene.
    pub parent: Option<usize>,
}

/// What a scene is made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// All nodes, parents before children; the first is the scene.
    pub nodes: Vec<Node>,
}

impl Graph {
    /// The nodes that hang from a node, in order.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.nodes.iter().enumerate().filter(move |(_, n)| n.parent == Some(node)).map(|(i, _)| i)
    }

    /// The graph as text for GraphViz: `dot -Tsvg`.
    pub fn to_dot(&self) -> String {
        let mut dot = String::from(
            "digraph souple {\n  rankdir=LR;\n  node [style=filled, fontname=\"sans-serif\"];\n",
        );
        for (i, node) in self.nodes.iter().enumerate() {
            let (shape, colour) = node.kind.look();
            let lines = [node.kind.name(), &node.name, &node.detail];
            let label: Vec<String> = lines.into_iter().filter(|l| !l.is_empty()).map(escaped).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(
                dot,
                "  n{i} [shape={shape}, fillcolor=\"{colour}\", label=\"{}\"];",
                label.join("\\n")
            );
        }
        for (i, node) in self.nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                let _ = writeln!(dot, "  n{parent} -> n{i};");
            }
        }
        dot.push_str("}\n");
        dot
    }

    fn add(
        &mut self,
        parent: Option<usize>,
        kind: NodeKind,
        index: usize,
        name: &str,
        detail: String,
    ) -> usize {
        self.nodes.push(Node { kind, name: name.to_string(), detail, index, parent });
        self.nodes.len() - 1
    }
}

/// Text inside a quoted label: GraphViz reads backslashes and HTML entities in it, and no control characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '&' => out.push_str("&amp;"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push(' '),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// What a scene is made of. `model` is what the scene was compiled to.
pub fn scene_graph(scene: &Scene, model: &Model) -> Graph {
    let mut graph = Graph::default();
    let detail = format!("{} fps, {} frames", number(model.fps), model.frames);
    let root = graph.add(None, NodeKind::Scene, 0, &model.name, detail);
    for (g, group) in model.groups.iter().enumerate() {
        let members = model.bodies.iter().filter(|b| b.group == g).count();
        let at = graph.add(Some(root), NodeKind::Group, g, &group.name, count(members, "body", "bodies"));
        graph.add(Some(at), NodeKind::Solver, g, solver_name(group.solver), solver_detail(group, model.fps));
        for (b, body) in model.bodies.iter().enumerate().filter(|(_, body)| body.group == g) {
            add_body(&mut graph, at, b, body, scene.bodies.get(b), model);
        }
    }
    let mut between_bodies = model.links.iter();
    for (k, written) in scene.links.iter().enumerate() {
        // Joints with the world are among the energies of their body.
        let (name, detail) = match written.joins_world() {
            true => (&written.name, "joint with the world".to_owned()),
            false => match between_bodies.next() {
                Some(link) => (&link.name, link_detail(link, model)),
                None => continue,
            },
        };
        graph.add(Some(root), NodeKind::Link, k, name, detail);
    }
    for (p, paper) in model.papers.iter().enumerate() {
        graph.add(Some(root), NodeKind::Paper, p, &paper.name, paper_detail(paper, model));
    }
    for (c, character) in model.characters.iter().enumerate() {
        graph.add(Some(root), NodeKind::Character, c, &character.name, character_detail(character));
    }
    for (c, collider) in model.colliders.iter().enumerate() {
        graph.add(Some(root), NodeKind::Collider, c, &collider.name, collider_detail(collider, model));
    }
    if scene.wind.is_some() {
        graph.add(Some(root), NodeKind::Wind, 0, "wind", wind_detail(&model.wind));
    }
    graph
}

fn paper_detail(paper: &PaperModel, model: &Model) -> String {
    let corners = count(paper.rules.pattern.corners().len(), "corner", "corners");
    match &paper.source {
        BorderSource::Held => format!("{corners}, {}", count(paper.handles.len(), "handle", "handles")),
        BorderSource::Keys(keys) => format!("{corners}, {}", count(keys.len(), "key", "keys")),
        BorderSource::Body { body, .. } => {
            format!("{corners}, border of '{}'", model.bodies.get(*body).map_or("", |b| &b.name))
        }
    }
}

fn add_body(
    graph: &mut Graph,
    group: usize,
    b: usize,
    body: &BodyModel,
    written: Option<&Body>,
    model: &Model,
) {
    let at = Some(graph.add(Some(group), NodeKind::Body, b, &body.name, body_detail(body, written)));
    let mut pulls = 0;
    // The names are those of `Energy::name`.
    for (e, energy) in body.energies.iter().enumerate() {
        let detail = match energy.name() {
            "grabs" | "fan" => continue,
            "gravity" => format!("{} m/s²", vector(model.gravity)),
            "springs" => spring_detail(&body.topology),
            "tetrahedra" if body.rigid.is_some() => "holds a rigid body together".into(),
            "tetrahedra" => count(body.topology.tetrahedra.len(), "element", "elements"),
            "hexahedra" => count(body.topology.hexahedra.len(), "cell", "cells"),
            "area" => format!("{} N/m", number(body.area_stiffness)),
            "volume" => body.inside.map_or_else(String::new, |inside| {
                format!("{} Pa, bulk modulus {} Pa", number(inside.pressure), number(inside.bulk_modulus))
            }),
            "dissipation" => format!("rate {} 1/s", number(body.dissipation)),
            "aerodynamics" => written.and_then(|w| w.air).map_or_else(String::new, |air| {
                format!("drag {}, lift {}", number(air.drag), number(air.lift))
            }),
            "viscous air" => written
                .and_then(|w| w.air)
                .map_or_else(String::new, |air| format!("{} N·s/m³", number(air.viscous))),
            "pulls" => {
                pulls += 1;
                written.and_then(|w| w.pulls.get(pulls - 1)).map_or_else(String::new, |pull| {
                    format!("{} N from {} s", vector(DVec3::from(pull.force)), number(pull.from))
                })
            }
            _ => String::new(),
        };
        graph.add(at, NodeKind::Energy, e, energy.name(), detail);
    }
    if let Some(limits) = &body.limits {
        graph.add(at, NodeKind::Limits, 0, "stretch limits", limits_detail(limits));
    }
    if let Some(tear) = &body.tear {
        let parts = [
            tear.length_ratio.map(|r| format!("above {} of the rest length", number(r))),
            tear.length.map(|l| format!("above {} m", number(l))),
            tear.force.map(|f| format!("above {} N", number(f))),
        ];
        let detail: Vec<String> = parts.into_iter().flatten().collect();
        graph.add(at, NodeKind::Tear, 0, "tearing", detail.join(", "));
    }
    for (p, pin) in body.pins.iter().enumerate() {
        graph.add(at, NodeKind::Pin, p, &pin.name, pin_detail(pin));
    }
    if !body.topology.mapping.is_empty() {
        let followers = count(body.topology.mapping.len(), "vertex", "vertices");
        let verb = if body.topology.mapping.len() == 1 { "follows" } else { "follow" };
        let particles = body.topology.len() - body.topology.mapping.len();
        let what = if body.rigid.is_some() { "of a rigid frame" } else { "of the mechanics" };
        let detail = format!("{followers} {verb} {} {what}", count(particles, "particle", "particles"));
        graph.add(at, NodeKind::Mapping, 1, "surface", detail);
    }
    if !body.topology.triangles.is_empty() {
        graph.add(at, NodeKind::Mapping, 0, "normals", "smooth, one per vertex".into());
    }
}

fn body_detail(body: &BodyModel, written: Option<&Body>) -> String {
    let t = &body.topology;
    let mut detail = count(t.len(), "vertex", "vertices");
    if !t.triangles.is_empty() {
        detail += &format!(", {}", count(t.triangles.len(), "triangle", "triangles"));
    }
    if !t.segments.is_empty() {
        detail += &format!(", {}", count(t.segments.len(), "segment", "segments"));
    }
    detail += &format!(", {} kg", number(t.masses.iter().sum()));
    match written.and_then(|w| w.fabric.as_deref()) {
        Some(fabric) => detail + ", " + fabric,
        None => detail,
    }
}

fn spring_detail(topology: &Topology) -> String {
    let of = |family: SpringFamily| topology.springs.iter().filter(|s| s.family == family).count();
    let families = SpringFamily::ALL.iter().map(|&f| (of(f), f.name())).filter(|(n, _)| *n > 0);
    families.map(|(n, name)| format!("{n} {name}")).collect::<Vec<_>>().join(", ")
}

fn solver_detail(group: &GroupModel, fps: f64) -> String {
    let steps = count(group.substeps as usize, "step", "steps");
    format!("{steps} of {} ms per frame", number(1e3 / (fps * f64::from(group.substeps))))
}

fn limits_detail(limits: &LimitModel) -> String {
    let method = match limits.method {
        LimitMethod::None => "off",
        LimitMethod::Position => "by position",
        LimitMethod::Velocity => "by velocity",
    };
    let mut detail = method.to_string();
    for family in SpringFamily::ALL.into_iter().filter(|&f| limits.limits_family(f)) {
        let (max, min) = limits.range[family as usize];
        let up_to = if max.is_finite() { number(max) } else { "any".into() };
        detail += &format!(", {} from {} to {up_to}", family.name(), number(min));
    }
    detail
}

fn pin_detail(pin: &PinModel) -> String {
    format!("{}, {}", count(pin.vertices.len(), "vertex", "vertices"), motion_detail(pin.motion.as_ref()))
}

fn link_detail(link: &LinkModel, model: &Model) -> String {
    let [one, other] = link.bodies.map(|b| model.bodies[b].name.as_str());
    let coupling = if link.is_strong { "one system" } else { "forces held during a step" };
    format!("{} from {one} to {other}, {coupling}", count(link.links.len(), "spring", "springs"))
}

fn character_detail(character: &CharacterModel) -> String {
    let rig = &character.rig;
    let vertices = rig.meshes.iter().map(|mesh| mesh.mesh.positions.len()).sum();
    let played: Vec<&str> =
        character.clips.iter().map(|played| rig.clips[played.clip].name.as_str()).collect();
    let plays = if played.is_empty() { "stands".into() } else { format!("plays {}", played.join(" and ")) };
    let nodes = count(rig.skeleton.names.len(), "node", "nodes");
    format!("{}, {nodes}, {plays}", count(vertices, "vertex", "vertices"))
}

fn collider_detail(collider: &ColliderModel, model: &Model) -> String {
    let shape = match &collider.form {
        ColliderForm::Primitive(primitive) => primitive_detail(*primitive),
        ColliderForm::Mesh(mesh) => {
            let kind = match (&collider.carrier, mesh.closed) {
                (Carrier::Skin { .. }, true) => "closed skin",
                (Carrier::Skin { .. }, false) => "open skin",
                (_, true) => "closed mesh",
                (_, false) => "open mesh",
            };
            format!("{kind} of {}", count(mesh.triangles.len(), "triangle", "triangles"))
        }
    };
    let friction = number(collider.material.friction);
    let only = collider.only.as_ref().map_or_else(String::new, |only| {
        let of = |list: &AssignedModel| {
            let body = &model.bodies[list.body];
            list.vertices.as_ref().map_or(body.topology.len(), Vec::len)
        };
        format!(", only for {}", count(only.iter().map(of).sum(), "particle", "particles"))
    });
    let motion = match &collider.carrier {
        Carrier::Script => motion_detail(collider.motion.as_ref()),
        Carrier::Bone(BoneCarrier { character, node, .. }) => {
            let CharacterModel { name, rig, .. } = &model.characters[*character];
            format!("on bone '{}' of '{name}'", rig.skeleton.names[*node as usize])
        }
        Carrier::Skin { character, .. } => format!("of '{}'", model.characters[*character].name),
    };
    format!("{shape}, friction {friction}, {motion}{only}")
}

fn primitive_detail(primitive: Primitive) -> String {
    match primitive {
        Primitive::Plane { .. } => "plane".to_string(),
        Primitive::Sphere { radius } => format!("sphere of radius {} m", number(radius)),
        Primitive::Box { half } => format!("box of {} m", vector(half * 2.0)),
        Primitive::Capsule { radius, half_height } => {
            format!("capsule of radius {} m and height {} m", number(radius), number(2.0 * half_height))
        }
        Primitive::Cylinder { radius, half_height } => {
            format!("cylinder of radius {} m and height {} m", number(radius), number(2.0 * half_height))
        }
    }
}

fn motion_detail(motion: Option<&Motion>) -> String {
    match motion {
        None => "fixed".into(),
        Some(m) if m.keys.is_empty() => "moving".into(),
        Some(m) => format!("moving by {}", count(m.keys.len(), "key", "keys")),
    }
}

fn wind_detail(wind: &Wind) -> String {
    let mut detail = format!("{} m/s", vector(DVec3::from(wind.velocity)));
    for (name, there) in [
        ("gusts", wind.gusts.is_some()),
        ("sinus", wind.sinus.is_some()),
        ("random force", wind.random_force.is_some()),
    ] {
        if there {
            detail = detail + ", " + name;
        }
    }
    detail
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// A number with four digits at most, for people.
fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e6).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    // Digits after the point that are worth showing.
    let digits = (0..6).find(|&d| value.abs() * f64::from(10u32.pow(d)) >= 1000.0).unwrap_or(6);
    let text = format!("{value:.*}", digits as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

fn vector(v: DVec3) -> String {
    format!("({}, {}, {})", number(v.x), number(v.y), number(v.z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelBuilder;
    use crate::scene::*;

    fn scene() -> Scene {
        let cloth = Body {
            name: "cloth".into(),
            group: Some("slow".into()),
            shape: Shape::Grid(Grid { vertices: [5, 4], ..Grid::default() }),
            fabric: Some("cotton".into()),
            air: Some(Air { viscous: 0.1, ..Air::default() }),
            limits: Some(Limits::default()),
            tear: Some(Tear { length_ratio: Some(1.5), ..Tear::default() }),
            pins: vec![Pin { name: "left".into(), select: Select::Vertices(vec![0, 1]), ..Pin::default() }],
            pulls: vec![Pull { select: Select::All, force: [0.0, 0.0, 2.5], ..Pull::default() }],
            ..Body::default()
        };
        let rope = Body {
            name: "rope".into(),
            shape: Shape::Rope(Rope::default()),
            fabric: Some("cotton".into()),
            ..Body::default()
        };
        Scene {
            name: "all kinds".into(),
            groups: vec![
                Group::default(),
                Group { name: "slow".into(), solver: SolverKind::Rk4, dt: Some(1e-3), ..Group::default() },
            ],
            bodies: vec![cloth, rope],
            colliders: vec![Collider { name: "floor".into(), ..Collider::default() }],
            wind: Some(Wind { gusts: Some(Gusts::default()), ..Wind::default() }),
            ..Scene::default()
        }
    }

    fn graph_of(scene: &Scene) -> Graph {
        scene_graph(scene, &ModelBuilder::new(scene).build().unwrap())
    }

    #[test]
    fn every_part_of_a_scene_hangs_where_it_belongs() {
        let graph = graph_of(&scene());
        let find = |kind: NodeKind, name: &str| {
            let found: Vec<usize> = (0..graph.nodes.len())
                .filter(|&i| graph.nodes[i].kind == kind && graph.nodes[i].name == name)
                .collect();
            assert_eq!(found.len(), 1, "{kind:?} {name}");
            found[0]
        };
        let parent = |node: usize| graph.nodes[node].parent.unwrap();
        let cloth = find(NodeKind::Body, "cloth");
        assert_eq!(parent(cloth), find(NodeKind::Group, "slow"));
        assert_eq!(parent(find(NodeKind::Solver, "rk4")), parent(cloth));
        assert_eq!(parent(find(NodeKind::Body, "rope")), find(NodeKind::Group, "default"));
        for (kind, name) in [
            (NodeKind::Energy, "aerodynamics"),
            (NodeKind::Energy, "viscous air"),
            (NodeKind::Energy, "pulls"),
            (NodeKind::Limits, "stretch limits"),
            (NodeKind::Tear, "tearing"),
            (NodeKind::Pin, "left"),
            (NodeKind::Mapping, "normals"),
        ] {
            assert_eq!(parent(find(kind, name)), cloth, "{name}");
        }
        assert_eq!(parent(find(NodeKind::Collider, "floor")), 0);
        assert_eq!(parent(find(NodeKind::Wind, "wind")), 0);
        assert_eq!(graph.nodes[find(NodeKind::Pin, "left")].detail, "2 vertices, fixed");
        assert_eq!(graph.nodes[find(NodeKind::Energy, "pulls")].detail, "(0, 0, 2.5) N from 0 s");
        assert!(graph.nodes.iter().all(|n| !n.detail.contains('\n')));
        assert!((1..graph.nodes.len()).all(|i| parent(i) < i), "parents come first");
        let below: usize = (0..graph.nodes.len()).map(|i| graph.children(i).count()).sum();
        assert_eq!(below, graph.nodes.len() - 1);
    }

    /// A reader of the part of GraphViz's language that is used: labels of all nodes, and the edges.
    fn read_dot(dot: &str) -> (Vec<String>, Vec<(usize, usize)>) {
        let body = dot.strip_prefix("digraph souple {\n").unwrap().strip_suffix("}\n").unwrap();
        let (mut labels, mut edges) = (Vec::new(), Vec::new());
        for line in body.lines() {
            let statement = line.trim().strip_suffix(';').unwrap_or_else(|| panic!("no end: {line}"));
            if let Some((from, to)) = statement.split_once(" -> ").filter(|_| !statement.contains('"')) {
                let number = |n: &str| n.strip_prefix('n').unwrap().parse().unwrap();
                edges.push((number(from), number(to)));
            } else if let Some((_, rest)) = statement.split_once("label=\"") {
                let mut label = String::new();
                let mut characters = rest.chars();
                loop {
                    match characters.next().expect("the label does not end") {
                        '"' => break,
                        '\\' => match characters.next().unwrap() {
                            'n' => label.push('\n'),
                            c @ ('"' | '\\') => label.push(c),
                            c => panic!("\\{c} means something else in a label"),
                        },
                        c => label.push(c),
                    }
                }
                assert_eq!(characters.as_str(), "]", "{line}");
                labels.push(label.replace("&amp;", "&"));
            } else {
                assert_eq!(statement.matches('"').count() % 2, 0, "{line}");
            }
        }
        (labels, edges)
    }

    #[test]
    fn dot_is_well_formed_for_odd_names() {
        for odd in [
            "",
            "\"",
            "\\",
            "\\\"",
            "ends in \\",
            "two\nlines",
            "\"];\n}\ndigraph evil {",
            "&quot;",
            "\\N",
            "tab\there",
            "<b>",
            "n0 -> n1",
            "ünïcödé → 布",
        ] {
            let mut scene = scene();
            scene.name = odd.into();
            scene.bodies[0].pins[0].name = odd.into();
            if !odd.is_empty() {
                scene.bodies[0].name = odd.into();
                scene.colliders[0].name = odd.into();
            }
            let graph = graph_of(&scene);
            let (labels, edges) = read_dot(&graph.to_dot());
            let lines = |n: &Node| {
                let lines = [n.kind.name(), &n.name, &n.detail];
                lines.into_iter().filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n").replace('\t', " ")
            };
            assert_eq!(labels, graph.nodes.iter().map(lines).collect::<Vec<_>>());
            let links: Vec<(usize, usize)> =
                graph.nodes.iter().enumerate().filter_map(|(i, n)| Some((n.parent?, i))).collect();
            assert_eq!(edges, links);
        }
    }

    #[test]
    fn control_characters_do_not_reach_the_text() {
        assert_eq!(escaped("a\0b\rc\u{7}d"), "a\u{fffd}b\u{fffd}c\u{fffd}d");
    }

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (-9.81, "-9.81"),
            (60.0, "60"),
            (1.0 / 60.0, "0.01667"),
            (1234.5, "1234"),
            (1e-9, "1.000e-9"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }
}
