//! The tree of the scene: groups, solvers, bodies with what acts on them and the layers that follow, links, characters, colliders, wind.

use eframe::egui::{self, ScrollArea, Ui};
use souple::graph::{Graph, NodeKind};
use souple::scene::Scene;

use super::fields::words;
use super::icons::{Icon, icon_label};
use super::theme::{SERIES, palette};
use crate::actions::Purpose;
use crate::app::StudioApp;
use crate::document::Object;
use crate::keys::{Action, Held};

/// Draws the tree.
pub fn show(app: &mut StudioApp, ui: &mut Ui) {
    let footer = ui.spacing().interact_size.y + 8.0;
    let height = (ui.available_height() - footer).max(20.0);
    let mut chosen = None;
    let graph = std::sync::Arc::clone(&app.shown.graph);
    ScrollArea::both().max_height(height).auto_shrink([false, false]).show(ui, |ui| {
        if graph.nodes.is_empty() {
            ui.weak("Nothing runs yet.");
        } else {
            branch(ui, app, &graph, 0, &mut chosen);
        }
    });
    ui.horizontal(|ui| {
        let tip = "What the scene is made of, as text for GraphViz";
        if ui.button("Export graph…").on_hover_text(tip).clicked() {
            app.ask_file(Purpose::SaveGraph);
        }
        let removable = app.selected != Object::Scene;
        if ui.add_enabled(removable, egui::Button::new("Remove")).clicked() {
            app.perform(Action::Remove, Held::default());
        }
    });
    // A recording, or a scene that is not open any more, has nothing that could be edited.
    if let Some(object) = chosen.filter(|_| app.runs_document()) {
        app.select(object);
    }
}

fn branch(ui: &mut Ui, app: &StudioApp, graph: &Graph, node: usize, chosen: &mut Option<Object>) {
    let children: Vec<usize> = graph.children(node).collect();
    if children.is_empty() {
        ui.horizontal(|ui| {
            // As far to the right as what can be opened.
            ui.add_space(ui.spacing().indent);
            line(ui, app, graph, node, chosen);
        });
        return;
    }
    let id = ui.make_persistent_id(("tree", node, &graph.nodes[node].name));
    let open = egui::collapsing_header::CollapsingState::load_with_default_open(ui.ctx(), id, true);
    open.show_header(ui, |ui| line(ui, app, graph, node, chosen)).body(|ui| {
        for child in children {
            branch(ui, app, graph, child, chosen);
        }
    });
}

fn line(ui: &mut Ui, app: &StudioApp, graph: &Graph, node: usize, chosen: &mut Option<Object>) {
    let this = &graph.nodes[node];
    let object = object_of(graph, node, app.document.scene());
    let own = matches!(
        this.kind,
        NodeKind::Scene
            | NodeKind::Group
            | NodeKind::Body
            | NodeKind::Pin
            | NodeKind::Link
            | NodeKind::Paper
            | NodeKind::Collider
            | NodeKind::Character
            | NodeKind::Wind
    ) || matches!(object, Object::Pull(..));
    icon_label(ui, Icon::Dot, colour(this.kind, ui.visuals().dark_mode));
    let name = if this.name.is_empty() { this.kind.name() } else { this.name.as_str() };
    let text = if own { egui::RichText::new(name) } else { egui::RichText::new(words(name)).weak() };
    let selected = own && app.selected == object && app.runs_document();
    let response = ui.selectable_label(selected, text);
    if response.clicked() {
        *chosen = Some(object);
    }
    response.on_hover_text(format!("{}: {}", this.kind.name(), this.detail));
}

fn colour(kind: NodeKind, dark: bool) -> egui::Color32 {
    match kind {
        NodeKind::Scene => palette(dark).grid,
        NodeKind::Group | NodeKind::Solver => SERIES[6],
        NodeKind::Body => SERIES[1],
        NodeKind::Energy | NodeKind::Limits | NodeKind::Tear => SERIES[1].gamma_multiply(0.5),
        NodeKind::Pin => SERIES[4],
        NodeKind::Mapping => SERIES[3],
        NodeKind::Link => SERIES[5],
        NodeKind::Paper => SERIES[5],
        NodeKind::Collider => SERIES[2],
        NodeKind::Character => SERIES[3],
        NodeKind::Wind => SERIES[0],
    }
}

/// The part of the scene that a node of its graph belongs to.
pub fn object_of(graph: &Graph, node: usize, scene: &Scene) -> Object {
    let Some(this) = graph.nodes.get(node) else { return Object::Scene };
    let parent_index =
        this.parent.and_then(|parent| graph.nodes.get(parent)).map_or(0, |parent| parent.index);
    match this.kind {
        NodeKind::Scene => Object::Scene,
        // Without groups of its own a scene has one that is not written anywhere.
        NodeKind::Group | NodeKind::Solver if this.index < scene.groups.len() => Object::Group(this.index),
        NodeKind::Group | NodeKind::Solver => Object::Scene,
        NodeKind::Body => Object::Body(this.index),
        NodeKind::Pin => pin_of(graph, node, scene, parent_index),
        NodeKind::Energy if this.name == "pulls" => {
            let siblings = this.parent.into_iter().flat_map(|parent| graph.children(parent));
            let before =
                siblings.take_while(|&k| k < node).filter(|&k| graph.nodes[k].name == "pulls").count();
            Object::Pull(parent_index, before)
        }
        NodeKind::Energy | NodeKind::Limits | NodeKind::Tear | NodeKind::Mapping => {
            Object::Body(parent_index)
        }
        NodeKind::Link => Object::Link(this.index),
        NodeKind::Paper => Object::Paper(this.index),
        NodeKind::Collider => Object::Collider(this.index),
        NodeKind::Character => Object::Character(this.index),
        NodeKind::Wind => Object::Wind,
    }
}

/// The pin set of a node. It goes by its name, as pin sets may have been added or removed since the scene started; where
/// there are as many as then, one without its name was renamed.
fn pin_of(graph: &Graph, node: usize, scene: &Scene, body: usize) -> Object {
    let this = &graph.nodes[node];
    let pins = scene.bodies.get(body).map(|body| body.pins.as_slice()).unwrap_or_default();
    let siblings = this.parent.into_iter().flat_map(|parent| graph.children(parent));
    let running = siblings.filter(|&k| graph.nodes[k].kind == NodeKind::Pin).count();
    let named = pins.iter().position(|pin| pin.name == this.name);
    match named.or((running == pins.len()).then_some(this.index)) {
        Some(pin) => Object::Pin(body, pin),
        None => Object::Body(body),
    }
}

#[cfg(test)]
mod tests {
    use souple::ModelBuilder;
    use souple::graph::scene_graph;
    use souple::scene::{Body, Collider, Group, Pin, Pull, Select, Wind};

    use super::*;

    #[test]
    fn nodes_lead_to_what_they_are_made_of() {
        let pin = Pin { name: "corner".into(), select: Select::Vertices(vec![0]), ..Pin::default() };
        let pull = |force| Pull { select: Select::All, force, ..Pull::default() };
        let body = Body {
            name: "cloth".into(),
            fabric: Some("silk".into()),
            pins: vec![pin],
            pulls: vec![pull([1.0, 0.0, 0.0]), pull([0.0, 1.0, 0.0])],
            ..Body::default()
        };
        let other = Body { name: "other".into(), fabric: Some("silk".into()), ..Body::default() };
        let mut scene = Scene {
            bodies: vec![other, body],
            groups: vec![Group::default()],
            colliders: vec![Collider::default()],
            wind: Some(Wind::default()),
            ..Scene::default()
        };
        let graph = scene_graph(&scene, &ModelBuilder::new(&scene).build().unwrap());
        let found = |kind: NodeKind| -> Vec<Object> {
            let nodes = graph.nodes.iter().enumerate().filter(|(_, node)| node.kind == kind);
            nodes.map(|(k, _)| object_of(&graph, k, &scene)).collect()
        };
        assert_eq!(found(NodeKind::Scene), [Object::Scene]);
        assert_eq!(found(NodeKind::Solver), [Object::Group(0)]);
        assert_eq!(found(NodeKind::Body), [Object::Body(0), Object::Body(1)]);
        assert_eq!(found(NodeKind::Pin), [Object::Pin(1, 0)]);
        assert_eq!(found(NodeKind::Collider), [Object::Collider(0)]);
        assert_eq!(found(NodeKind::Wind), [Object::Wind]);
        let pulls: Vec<Object> =
            found(NodeKind::Energy).into_iter().filter(|object| matches!(object, Object::Pull(..))).collect();
        assert_eq!(pulls, [Object::Pull(1, 0), Object::Pull(1, 1)]);
        // Changed since it started: renamed, another one before it, gone.
        let pin = |graph: &Graph, scene: &Scene| {
            let node = graph.nodes.iter().position(|node| node.kind == NodeKind::Pin).unwrap();
            object_of(graph, node, scene)
        };
        scene.bodies[1].pins[0].name = "renamed".into();
        assert_eq!(pin(&graph, &scene), Object::Pin(1, 0));
        scene.bodies[1].pins[0].name = "corner".into();
        scene.bodies[1].pins.insert(0, Pin { name: "new".into(), ..Pin::default() });
        assert_eq!(pin(&graph, &scene), Object::Pin(1, 1));
        scene.bodies[1].pins.clear();
        assert_eq!(pin(&graph, &scene), Object::Body(1));
    }
}
