//! Solids, rigid bodies and links, pressed as a person would.

use super::*;
use souple::scene::LinkKind;

/// A ball in cells that hangs by its top, a rigid brick below it, and a spring between both.
const LAYERS: &str = "format = 1
name = 'Layers'
[time]
frames = 2000
[[group]]
name = 'all'
[[body]]
name = 'ball'
shape = { ball = { radius = 0.2, subdivisions = 2 } }
embed = { cell = 0.1 }
density = 1000.0
young_modulus = 5e4
poisson_ratio = 0.4
[[body.pin]]
name = 'top'
select = { near = [0.0, 0.2, 0.0] }
[[body]]
name = 'brick'
shape = { block = { size = [0.1, 0.1, 0.1], cells = [2, 2, 2] } }
placement = { translate = [-0.05, -0.4, -0.05] }
rigid = true
density = 700.0
[[link]]
name = 'string'
between = ['ball', 'brick']
near = [0.0, -0.25, 0.0]
stiffness = 500.0
";

fn shown_body(app: &StudioApp, b: usize) -> Option<souple::scene::Body> {
    Some(app.shown.scene.as_ref()?.bodies.get(b)?.clone())
}

#[test]
fn moduli_are_felt_while_it_runs_and_cells_need_a_restart() {
    let (_folder, _, mut studio) = opened(LAYERS);
    step_some(&mut studio);
    let run = studio.state().shown.run;
    studio.state_mut().select(Object::Body(0));
    studio.run_steps(3);
    for field in ["Cell", "Fine cells", "Mechanics"] {
        assert!(studio.query_by_label(&format!("{field} needs a restart")).is_some(), "{field}");
    }
    assert!(studio.query_by_label("Young's modulus needs a restart").is_none());
    assert!(studio.query_by_role_and_label(Role::SpinButton, "Stretch stiffness").is_none(), "no springs");
    studio.get_by_role_and_label(Role::SpinButton, "Young's modulus").set_value_accesskit(9e4);
    studio.run_steps(2);
    let young = |app: &StudioApp| shown_body(app, 0).and_then(|body| body.young_modulus);
    wait(&mut studio, "the worker has it", |app| young(app) == Some(9e4));
    assert_eq!(studio.state().shown.run, run, "it went on without a start");
    studio.get_by_role_and_label(Role::SpinButton, "Cell").set_value_accesskit(0.15);
    studio.run_steps(2);
    wait(&mut studio, "it asks for a restart", |app| app.restart_reason().is_some());
    press(&mut studio, "Apply and restart");
    let cell = |app: &StudioApp| shown_body(app, 0).and_then(|body| body.embed).map(|embed| embed.cell);
    wait(&mut studio, "it starts again", |app| app.shown.run > run && cell(app) == Some(0.15));
    for expected in [0.1, 0.1] {
        studio.key_press_modifiers(Modifiers::COMMAND, Key::Z);
        studio.run_steps(2);
        assert_eq!(studio.state().document.scene().bodies[0].embed.unwrap().cell, expected);
    }
    assert_eq!(studio.state().document.scene().bodies[0].young_modulus, Some(5e4));
}

#[test]
fn rigid_bodies_links_and_grids_have_their_fields() {
    let (_folder, _, mut studio) = opened(LAYERS);
    for (object, field) in [
        (Object::Body(0), "Poisson's ratio"),
        (Object::Body(1), "Cells x"),
        (Object::Body(1), "Density"),
        (Object::Link(0), "Stiffness"),
        (Object::Link(0), "Near, m x"),
        (Object::Group(0), "Sweeps"),
    ] {
        studio.state_mut().select(object);
        studio.run_steps(4);
        assert_eq!(studio.state().selected, object);
        let found = studio.query_all_by_role_and_label(Role::SpinButton, field).next().is_some();
        assert!(found, "{object:?} {field}");
    }
    // A rigid body has no modulus.
    studio.state_mut().select(Object::Body(1));
    studio.run_steps(4);
    assert!(studio.query_by_role_and_label(Role::SpinButton, "Young's modulus").is_none());
    studio.state_mut().select(Object::Link(0));
    studio.run_steps(4);
    studio.get_by_role_and_label(Role::SpinButton, "Stiffness").set_value_accesskit(800.0);
    studio.run_steps(2);
    let stiffness = |app: &StudioApp| app.shown.scene.as_ref().map(|scene| scene.links[0].stiffness);
    wait(&mut studio, "the link is stiffer", |app| stiffness(app) == Some(Some(800.0)));
    // A joint has a place instead, which begins where the spring was.
    studio.state_mut().document.edit("kind", |scene| {
        let spring = &mut scene.links[0];
        (spring.kind, spring.at, spring.near) = (LinkKind::Hinge, spring.near, None);
        spring.axis = Some([0.0, 0.0, 1.0]);
    });
    studio.run_steps(4);
    for field in ["At, m x", "Axis z"] {
        assert!(studio.query_all_by_role_and_label(Role::SpinButton, field).next().is_some(), "{field}");
    }
    assert!(studio.query_all_by_role_and_label(Role::SpinButton, "Near, m x").next().is_none());
    studio.state_mut().document.undo();
    studio.state_mut().select(Object::Body(0));
    studio.run_steps(4);
    // Far down in the inspector: pressed without a pointer.
    let press_below = |studio: &mut Studio, role: Role, label: &str| {
        studio.get_by_role_and_label(role, label).click_accesskit();
        studio.run_steps(3);
    };
    press_below(&mut studio, Role::DisclosureTriangle, "Materials of parts");
    press_below(&mut studio, Role::Button, "Add material");
    assert_eq!(studio.state().document.scene().bodies[0].materials.len(), 1);
    press_below(&mut studio, Role::Button, "Remove material 1");
    assert!(studio.state().document.scene().bodies[0].materials.is_empty());
}

#[test]
fn the_tree_shows_layers_and_links() {
    let (_folder, _, mut studio) = opened(LAYERS);
    studio.state_mut().layout.tab = LeftTab::Tree;
    wait(&mut studio, "the tree", |app| !app.shown.graph.nodes.is_empty());
    for name in ["hexahedra", "tetrahedra"] {
        assert!(studio.query_all_by_label(name).next().is_some(), "{name}");
    }
    assert_eq!(studio.query_all_by_label("surface").count(), 2, "both surfaces follow something");
    // The inspector of the whole scene would name it, too.
    studio.state_mut().select(Object::Body(0));
    studio.run_steps(3);
    press(&mut studio, "string");
    assert_eq!(studio.state().selected, Object::Link(0));
}

#[test]
fn menus_add_solids_and_put_cells_around_a_surface() {
    let mut studio = studio(options());
    for item in ["Cloth that hangs", "Cells around the surface", "Block", "Rigid body", "Link"] {
        press(&mut studio, "Add");
        press(&mut studio, item);
    }
    let scene = studio.state().document.scene().clone();
    assert!(scene.bodies[0].embed.is_some() && scene.bodies[0].fabric.is_none());
    assert!(scene.bodies[2].rigid);
    assert_eq!(scene.links[0].between, ["ball", "block"]);
    assert!(matches!(studio.state().selected, Object::Link(0)));
    let revision = studio.state().document.revision();
    wait(&mut studio, "it compiles", |app| app.shown.revision == Some(revision));
    assert_eq!(studio.state().shown.build_error, None);
    press(&mut studio, "Play");
    wait(&mut studio, "it moves", |app| app.shown.moment.step > 3);
    // Each was one step of undo.
    studio.state_mut().worker.send(Request::Pause);
    for _ in 0..4 {
        studio.key_press_modifiers(Modifiers::COMMAND, Key::Z);
        studio.run_steps(2);
    }
    let scene = studio.state().document.scene();
    assert_eq!((scene.bodies.len(), scene.links.len()), (1, 0));
    assert!(scene.bodies[0].embed.is_none() && scene.bodies[0].fabric.is_some());
}

#[test]
fn a_key_shows_the_elements_and_stress_is_a_style() {
    let (_folder, _, mut studio) = opened(LAYERS);
    let shows = |app: &StudioApp| app.looks.bodies[0].cells;
    assert!(!shows(studio.state()));
    studio.key_press(Key::C);
    wait(&mut studio, "elements", shows);
    studio.state_mut().set_style(Some("stress"));
    step_some(&mut studio);
    wait(&mut studio, "a range in Pa", |app| app.looks.bodies[0].range.is_some_and(|range| range[1] > 1.0));
    assert!(shows(studio.state()), "with any style");
    studio.key_press(Key::C);
    wait(&mut studio, "no elements", |app| !shows(app));
}
