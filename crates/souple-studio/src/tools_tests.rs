use proptest::prelude::*;
use souple::scene::{
    Body, Collider, ColliderShape, Grid, GridPlane, Pin, Rope, Scene, Select, Shape, SphereShape,
};
use souple::{ModelBuilder, Simulation};
use souple_viewer::Capture;
use std::sync::Arc;

use super::*;
use crate::sight::CLOSEST_FOCUS;
use crate::worker::BodyInfo;

#[path = "touch_tests.rs"]
mod touch;

const SIZE: Vec2 = Vec2::new(640.0, 480.0);
const NONE: Modifiers = Modifiers { ctrl: false, shift: false, alt: false };
const CTRL: Modifiers = Modifiers { ctrl: true, ..NONE };
const SHIFT: Modifiers = Modifiers { shift: true, ..NONE };
const ALT: Modifiers = Modifiers { alt: true, ..NONE };
const CTRL_SHIFT: Modifiers = Modifiers { ctrl: true, shift: true, alt: false };

/// A square metre of cloth in the plane of the screen, a ball to its right, a rope to its left; seen from the front.
/// Hands, and a simulation that does what they say.
struct Table {
    simulation: Simulation,
    capture: Capture,
    hands: Hands,
    shown: Shown,
    camera: Camera,
    moment: Moment,
    live: bool,
    /// All commands so far.
    given: Vec<Command>,
}

impl Table {
    fn new() -> Table {
        let corner = |name: &str, vertex: u32| Pin {
            name: name.into(),
            select: Select::Vertices(vec![vertex]),
            ..Pin::default()
        };
        let cloth = Body {
            name: "cloth".into(),
            fabric: Some("cotton".into()),
            shape: Shape::Grid(Grid { vertices: [21, 21], plane: GridPlane::Xy, ..Grid::default() }),
            placement: souple::scene::Placement { translate: [-0.5, 0.5, 0.0], ..Default::default() },
            pins: vec![corner("left", 0), corner("right", 20)],
            ..Body::default()
        };
        let rope = Body {
            name: "rope".into(),
            density: Some(0.05),
            shape: Shape::Rope(Rope { vertices: 11, ..Rope::default() }),
            springs: souple::scene::Springs {
                stretch: souple::scene::Family { modulus: Some(100.0), ..Default::default() },
                ..Default::default()
            },
            placement: souple::scene::Placement { translate: [-1.0, 0.5, 0.0], ..Default::default() },
            ..Body::default()
        };
        let ball = Collider {
            name: "ball".into(),
            shape: ColliderShape::Sphere(SphereShape { radius: 0.2 }),
            position: [1.0, 0.0, 0.0],
            ..Collider::default()
        };
        Table::of(Scene {
            bodies: vec![cloth, rope],
            colliders: vec![ball],
            gravity: [0.0; 3],
            ..Scene::default()
        })
    }

    fn of(scene: Scene) -> Table {
        let model = ModelBuilder::new(&scene).build().unwrap();
        let mut capture = Capture::new(&scene, &model);
        let simulation = Simulation::new(model);
        let camera = Camera { target: Vec3::ZERO, yaw: 0.0, pitch: 0.0, distance: 3.0, ..Camera::default() };
        let moment = capture.moment(&simulation);
        let mut table = Table {
            simulation,
            capture,
            hands: Hands::default(),
            shown: Shown::default(),
            camera,
            moment,
            live: true,
            given: Vec::new(),
        };
        table.look();
        table
    }

    /// What the worker would show.
    fn look(&mut self) {
        self.moment = self.capture.moment(&self.simulation);
        let (model, state) = (self.simulation.model(), self.simulation.state());
        self.shown.pinned = state.bodies.iter().map(|body| body.pinned.clone()).collect::<Vec<_>>().into();
        self.shown.grabs = state.grabs.clone();
        self.shown.fan = state.fan;
        let info = |body: &souple::model::BodyModel| BodyInfo {
            name: body.name.clone(),
            vertices: body.topology.len(),
            group: String::new(),
            solver: souple::scene::SolverKind::default(),
            substeps: 1,
            iterations: 0,
            frozen: false,
            tears: 0,
            pin_sets: body.pins.iter().map(|pin| pin.name.clone()).collect(),
        };
        self.shown.bodies = model.bodies.iter().map(info).collect();
        self.shown.characters = crate::characters::CharacterInfo::of(&self.simulation);
    }

    fn seen(&self) -> Seen<'_> {
        let Table { shown, moment, camera, live, .. } = self;
        Seen { shown, moment, camera: *camera, size: SIZE, live: *live }
    }

    /// Hands the event to the hands, the commands to the simulation, and takes the camera over.
    fn event(&mut self, event: Pointer) -> Reaction {
        let mut hands = std::mem::take(&mut self.hands);
        let reaction = hands.handle(event, &self.seen());
        self.hands = hands;
        self.take(&reaction);
        reaction
    }

    fn take(&mut self, reaction: &Reaction) {
        for command in &reaction.commands {
            self.simulation.command(command.clone()).unwrap();
        }
        self.given.extend(reaction.commands.iter().cloned());
        self.camera = reaction.camera.unwrap_or(self.camera);
    }

    fn step(&mut self) {
        self.simulation.step();
        self.look();
    }

    fn down(&mut self, at: Vec2, modifiers: Modifiers) -> Reaction {
        self.event(Pointer::Down { button: Button::Left, at, modifiers })
    }

    fn move_to(&mut self, at: Vec2) -> Reaction {
        self.event(Pointer::Move { at, modifiers: NONE })
    }

    fn up(&mut self, at: Vec2) -> Reaction {
        self.event(Pointer::Up { button: Button::Left, at, modifiers: NONE })
    }

    /// A whole drag in a few moves; all that came of it.
    fn drag(&mut self, from: Vec2, to: Vec2, modifiers: Modifiers) -> Vec<Reaction> {
        let mut reactions = vec![self.down(from, modifiers)];
        reactions.extend((1..=8).map(|k| self.move_to(from.lerp(to, k as f32 / 8.0))));
        reactions.push(self.up(to));
        reactions
    }

    fn click(&mut self, at: Vec2, modifiers: Modifiers) -> Reaction {
        self.down(at, modifiers);
        self.up(at)
    }

    /// Where a point of the world is in the picture.
    fn pixel(&self, x: f32, y: f32, z: f32) -> Vec2 {
        self.camera.pixel(Vec3::new(x, y, z), SIZE).unwrap()
    }

    fn vertex(&self, item: usize, vertex: u32) -> Vec3 {
        position(&self.moment.items[item], vertex).unwrap()
    }

    fn use_tool(&mut self, tool: Tool) {
        let reaction = self.hands.set_tool(tool);
        self.take(&reaction);
    }
}

/// Vertex of row i, column j of the cloth.
fn at(i: u32, j: u32) -> u32 {
    i * 21 + j
}

fn single(v: [f64; 3]) -> Vec3 {
    Vec3::from(v.map(|c| c as f32))
}

// ---- the view ----

#[test]
fn a_drag_orbits_and_coming_back_brings_the_view_back() {
    for tool in Tool::ALL {
        let mut table = Table::new();
        table.use_tool(tool);
        let before = table.camera;
        let empty = Vec2::new(600.0, 30.0);
        // Alt orbits in every tool.
        table.down(empty, ALT);
        let turned = table.move_to(empty + Vec2::new(-100.0, 40.0)).camera.unwrap();
        assert!(turned.yaw > before.yaw && turned.pitch > before.pitch, "{tool:?}");
        assert_eq!(turned.distance, before.distance);
        assert_eq!(table.move_to(empty).camera, Some(before), "{tool:?}");
        let reaction = table.up(empty);
        assert!(table.given.is_empty() && reaction.clicked.is_none() && !table.hands.is_dragging());
    }
}

#[test]
fn the_wheel_and_keys_in_the_middle_of_a_drag_count() {
    for button in [Button::Left, Button::Middle] {
        let mut table = Table::new();
        let from = Vec2::new(600.0, 30.0);
        table.event(Pointer::Down { button, at: from, modifiers: NONE });
        table.move_to(from + Vec2::new(-50.0, 0.0));
        table.event(Pointer::Wheel { at: from, notches: 3.0 });
        let closer = table.camera;
        table.move_to(from + Vec2::new(-50.0, 0.0));
        assert_eq!(table.camera, closer, "nothing jumps back");
        table.move_to(from + Vec2::new(-60.0, 0.0));
        assert_eq!(table.camera.distance, closer.distance);
        assert_ne!(table.camera, closer, "the drag goes on");
    }
}

#[test]
fn half_the_picture_is_a_quarter_turn() {
    let mut table = Table::new();
    table.down(Vec2::new(600.0, 30.0), NONE);
    let camera = table.move_to(Vec2::new(600.0 - 240.0, 30.0)).camera.unwrap();
    assert!((camera.yaw - std::f32::consts::FRAC_PI_2).abs() < 1e-5);
}

#[test]
fn middle_and_right_pan_in_every_tool() {
    for tool in Tool::ALL {
        for button in [Button::Middle, Button::Right] {
            let mut table = Table::new();
            table.use_tool(tool);
            let from = Vec2::new(320.0, 240.0);
            table.event(Pointer::Down { button, at: from, modifiers: NONE });
            let by = Vec2::new(50.0, -20.0);
            table.event(Pointer::Move { at: from + by, modifiers: NONE });
            // The target was in the middle and went with the pointer.
            assert!(table.pixel(0.0, 0.0, 0.0).distance(from + by) < 0.01);
            // Another button does not end it.
            table.up(from);
            assert!(table.hands.is_dragging());
            table.event(Pointer::Up { button, at: from + by, modifiers: NONE });
            assert!(!table.hands.is_dragging() && table.given.is_empty());
        }
    }
}

proptest! {
    #[test]
    fn the_wheel_keeps_what_is_under_the_pointer(x in 0.0f32..640.0, y in 0.0f32..480.0, notches in -6.0f32..6.0, yaw in -3.0f32..3.0, pitch in -1.4f32..1.4) {
        let mut table = Table::new();
        (table.camera.yaw, table.camera.pitch) = (yaw, pitch);
        let at = Vec2::new(x, y);
        let point = on_plane(&table.camera, table.camera.target, at, SIZE).unwrap();
        let before = table.camera.distance;
        table.event(Pointer::Wheel { at, notches });
        prop_assert!((table.camera.distance - before * 0.85f32.powf(notches)).abs() < 1e-3);
        let back = table.camera.pixel(point, SIZE).unwrap();
        prop_assert!(back.distance(at) < 0.2, "{back} {at}");
    }

    #[test]
    fn any_sequence_of_events_gives_commands_that_fit_and_lets_go_in_the_end(
        events in prop::collection::vec((0u8..12, 0.0f32..640.0, 0.0f32..480.0, 0u8..8), 1..60)
    ) {
        let mut table = Table::new();
        for (kind, x, y, keys) in events {
            let at = Vec2::new(x, y);
            let modifiers = Modifiers { ctrl: keys & 1 != 0, shift: keys & 2 != 0, alt: keys & 4 != 0 };
            match kind {
                0..=2 => {
                    table.event(Pointer::Down { button: Button::Left, at, modifiers });
                }
                3..=5 => {
                    table.event(Pointer::Move { at, modifiers });
                }
                6 | 7 => {
                    table.event(Pointer::Up { button: Button::Left, at, modifiers });
                }
                8 => {
                    table.event(Pointer::Wheel { at, notches: 0.3 });
                }
                9 => table.use_tool(Tool::ALL[usize::from(keys) % 5]),
                10 => table.step(),
                _ => {
                    table.event(Pointer::Cancel);
                }
            }
            let marks = table.hands.marks(&table.seen());
            prop_assert!(marks.lines.iter().all(|line| line.from.is_finite() && line.to.is_finite()));
            prop_assert!(marks.points.iter().all(|point| point.at.is_finite()));
        }
        table.event(Pointer::Cancel);
        table.step();
        prop_assert!(table.shown.grabs.is_empty() && table.shown.fan.is_none() && !table.hands.is_dragging());
        // All that was free at the start is free again.
        prop_assert_eq!(table.shown.pinned.iter().flatten().filter(|p| p.set == PinnedVertex::BY_HAND).count(), 0);
    }
}

#[test]
fn a_click_tells_what_is_there() {
    let mut table = Table::new();
    let middle = table.pixel(0.03, 0.03, 0.0);
    let ball = table.pixel(1.0, 0.0, 0.0);
    assert_eq!(table.click(middle, NONE).clicked, Some(Some(ItemKind::Body(0))));
    assert_eq!(table.click(ball, NONE).clicked, Some(Some(ItemKind::Collider(0))));
    assert_eq!(table.click(Vec2::new(5.0, 5.0), NONE).clicked, Some(None));
    // A drag is no click.
    assert!(table.drag(ball, ball + Vec2::new(50.0, 0.0), NONE).iter().all(|r| r.clicked.is_none()));
}

#[test]
fn focus_shows_the_selection_or_everything() {
    let mut table = Table::new();
    let seen = |table: &Table, p: Vec3, camera: Camera| {
        let at = camera.pixel(p, SIZE).unwrap();
        assert!(at.cmpge(Vec2::ZERO).all() && at.cmple(SIZE).all(), "{at}");
        let _ = table;
    };
    let all = table.hands.focus(&table.seen());
    for vertex in [at(0, 0), at(0, 20), at(20, 0), at(20, 20)] {
        seen(&table, table.vertex(0, vertex), all);
    }
    seen(&table, table.vertex(1, 10), all);
    assert_eq!(see_all(&table.seen()), all);
    assert_eq!((all.yaw, all.pitch), (table.camera.yaw, table.camera.pitch));

    table.hands.selection.insert(0, [at(20, 20)].into());
    let one = table.hands.focus(&table.seen());
    assert_eq!(one.target, table.vertex(0, at(20, 20)));
    assert!(one.distance < all.distance && one.distance >= CLOSEST_FOCUS);
    // Nothing at all to see: the camera stays.
    table.moment = Moment::default();
    assert_eq!(table.hands.focus(&table.seen()), table.camera);
}

// ---- pulling ----

#[test]
fn ctrl_drag_pulls_a_vertex_with_a_spring() {
    let mut table = Table::new();
    let start = table.vertex(0, at(10, 10));
    // A little beside the vertex: the offset stays, and nothing jumps.
    let from = table.pixel(start.x + 0.01, start.y + 0.005, 0.0);
    let to = from + Vec2::new(60.0, -40.0);
    let reactions = table.drag(from, to, CTRL);
    let read = |command: &Command| match command {
        Command::Grab { body, vertex, target, stiffness } => {
            assert_eq!((body.as_str(), *vertex), ("cloth", at(10, 10)));
            assert!(*stiffness > 0.0);
            single(*target)
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(reactions[0].commands.len(), 1);
    assert!(read(&reactions[0].commands[0]).distance(start) < 1e-6, "nothing moves before the pointer does");
    for (k, reaction) in reactions[1..=8].iter().enumerate() {
        let target = read(&reaction.commands[0]);
        assert!((target.z - start.z).abs() < 1e-5, "in the plane that faces the camera");
        let by = table.pixel(target.x, target.y, target.z) - table.pixel(start.x, start.y, start.z);
        assert!(by.distance((to - from) * (k as f32 + 1.0) / 8.0) < 0.05, "{by}");
        assert!(reaction.camera.is_none());
    }
    let last = reactions.last().unwrap();
    assert!(
        matches!(&last.commands[..], [Command::Grab { .. }, Command::Release { vertex, .. }] if *vertex == at(10, 10))
    );
    table.step();
    assert!(table.shown.grabs.is_empty());
}

#[test]
fn a_pull_moves_the_cloth_and_draws_its_line() {
    let mut table = Table::new();
    let (from, start) = (table.pixel(0.0, 0.0, 0.0), table.vertex(0, at(10, 10)));
    table.down(from, CTRL);
    table.step();
    table.move_to(from + Vec2::new(0.0, -80.0));
    table.step();
    let moved = table.vertex(0, at(10, 10));
    assert!(moved.y > start.y, "the vertex follows in the step after the command");
    assert_eq!(table.shown.grabs.len(), 1);
    let marks = table.hands.marks(&table.seen());
    let target = table.shown.grabs[0].target.as_vec3();
    let line = marks.lines.iter().find(|line| line.from.distance(moved) < 1e-6).unwrap();
    assert!(line.to.distance(target) < 1e-5 && line.on_top);
    assert_eq!(marks.lines.len(), 1, "its own pull is drawn once");
    // Escape lets go.
    let reaction = table.event(Pointer::Cancel);
    assert!(matches!(&reaction.commands[..], [Command::Release { .. }]));
    // So does another tool.
    table.down(from, CTRL);
    let mut hands = std::mem::take(&mut table.hands);
    assert!(matches!(&hands.set_tool(Tool::Fan).commands[..], [Command::Release { .. }]));
    // The tip of a hand that is not there any more stays silent.
    assert_eq!(hands.handle(Pointer::Cancel, &table.seen()), Reaction::default());
}

#[test]
fn the_plane_of_a_pull_faces_the_camera_from_any_side() {
    let mut table = Table::new();
    (table.camera.yaw, table.camera.pitch) = (0.7, 0.4);
    let start = table.vertex(0, at(10, 10));
    let from = table.pixel(start.x, start.y, start.z);
    table.down(from, CTRL);
    let reaction = table.move_to(from + Vec2::new(70.0, 30.0));
    let [Command::Grab { target, .. }] = &reaction.commands[..] else { panic!() };
    let view = (table.camera.eye() - table.camera.target).normalize();
    assert!((single(*target) - start).dot(view).abs() < 1e-5);
}

#[test]
fn a_pull_beside_everything_turns_the_view_and_heavy_bodies_are_pulled_harder() {
    let mut table = Table::new();
    let empty = Vec2::new(600.0, 30.0);
    let reactions = table.drag(empty, empty + Vec2::new(-40.0, 0.0), CTRL);
    assert!(table.given.is_empty() && reactions[4].camera.is_some());

    let stiffness = |table: &mut Table, at: Vec2| match &table.down(at, CTRL).commands[..] {
        [Command::Grab { stiffness, .. }] => *stiffness,
        other => panic!("{other:?}"),
    };
    let mut table = Table::new();
    let middle = table.pixel(0.0, 0.0, 0.0);
    // 0.15 kg of cotton.
    assert!((stiffness(&mut table, middle) - 30.0).abs() < 1e-9);
    table.event(Pointer::Cancel);
    table.hands.pull_strength = 2.0;
    assert!((stiffness(&mut table, middle) - 60.0).abs() < 1e-9);
}

#[test]
fn a_collider_goes_with_the_pointer() {
    let mut table = Table::new();
    let from = table.pixel(1.0, 0.0, 0.0);
    table.drag(from, from + Vec2::new(-64.0, 32.0), CTRL);
    let mut sum = Vec3::ZERO;
    for command in &table.given {
        let Command::MoveCollider { collider, by, rotate_deg: [0.0, 0.0, 0.0] } = command else {
            panic!("{command:?}")
        };
        assert_eq!(collider, "ball");
        sum += single(*by);
    }
    table.step();
    let item = table.moment.items.iter().find(|item| item.kind == ItemKind::Collider(0)).unwrap();
    let place = item.transform.transform_point3(Vec3::ZERO);
    assert!(place.distance(Vec3::new(1.0, 0.0, 0.0) + sum) < 1e-5);
    assert!(sum.x < 0.0 && sum.y < 0.0 && sum.z.abs() < 1e-5, "{sum}");
}

/// An arm of two bones, each a metre long, upright from the origin, with a third at its end.
fn arm() -> Table {
    use souple::scene::{Character, RigSource, SkinShape};
    use souple::skin::generate::{Limb, limb};
    let rig = limb(&Limb { length: 2.0, radii: [0.1; 2], sides: 12, rings: 40, cap_rings: 0, bones: 3 });
    let character = Character { name: "arm".into(), rig: RigSource::Inline(rig), ..Character::default() };
    let skin = ColliderShape::Skin(SkinShape { character: "arm".into(), meshes: None });
    let skin = Collider { name: "skin".into(), shape: skin, ..Collider::default() };
    Table::of(Scene { characters: vec![character], colliders: vec![skin], ..Scene::default() })
}

#[test]
fn a_bone_is_turned_by_its_skin_and_shifted_with_the_move_tool() {
    let mut table = arm();
    table.camera.target = Vec3::new(0.0, 1.0, 0.0);
    table.camera.distance = 6.0;
    let joint = table.shown.characters[0].joints[1];
    assert!(joint.distance(Vec3::Y) < 1e-5, "{joint}");
    let (from, to) = (table.pixel(0.0, 1.3, 0.1), table.pixel(0.3, 1.2, 0.1));
    table.down(from, CTRL);
    for k in 1..=8 {
        let reaction = table.move_to(from.lerp(to, k as f32 / 8.0));
        assert!(reaction.commands.iter().all(|command| {
            matches!(command, Command::MoveBone { character, bone, by: [0.0, 0.0, 0.0], .. }
                if character == "arm" && bone == "bone1")
        }));
        table.step();
    }
    // What was taken hold of is on the way from the joint to the pointer, and the joint is where it was.
    let Some(Deed::Bone(hold)) = table.hands.deed().cloned() else { panic!("nothing is held") };
    let held = hold.point;
    let aimed = table.camera.pixel(held, SIZE).unwrap() - table.camera.pixel(joint, SIZE).unwrap();
    let wanted = to - table.camera.pixel(joint, SIZE).unwrap();
    assert!(aimed.normalize().dot(wanted.normalize()) > 0.999, "{aimed} {wanted}");
    let nearest = |table: &Table, place: Vec3| {
        let item = &table.moment.items[0];
        let at = |v: usize| position(item, v as u32).unwrap().distance(place);
        (0..item.positions.len()).map(at).fold(f32::MAX, f32::min)
    };
    assert!(nearest(&table, held) < 0.06, "the skin went along: {}", nearest(&table, held));
    assert!(table.shown.characters[0].joints[1].distance(joint) < 1e-5);
    table.up(to);
    table.step();
    let turned = table.simulation.state().bone_turns.clone();
    assert_eq!(turned.len(), 1);
    table.step();
    assert_eq!(table.simulation.state().bone_turns, turned, "it stays so");
    // Reset takes what hands did back; here a fresh arm, whose forearm is drawn out.
    let mut table = arm();
    table.use_tool(Tool::Move);
    let (from, to) = (table.pixel(0.0, 1.3, 0.1), table.pixel(0.0, 1.6, 0.1));
    table.drag(from, to, CTRL);
    table.step();
    let joint = table.shown.characters[0].joints[1];
    assert!(joint.distance(Vec3::new(0.0, 1.3, 0.0)) < 0.02, "{joint}");
}

// ---- selecting ----

#[test]
fn shift_clicks_add_and_remove() {
    let mut table = Table::new();
    let place = |table: &Table, v: u32| {
        let p = table.vertex(0, v);
        table.pixel(p.x, p.y, p.z)
    };
    let (a, b) = (at(5, 5), at(10, 12));
    let (pixel_a, pixel_b) = (place(&table, a), place(&table, b));
    table.click(pixel_a, SHIFT);
    table.click(pixel_b, SHIFT);
    assert_eq!(table.hands.selection, Selection::from([(0, [a, b].into())]));
    table.click(pixel_a, SHIFT);
    assert_eq!(table.hands.selection, Selection::from([(0, [b].into())]));
    // Nothing there, or nothing to take away.
    table.click(Vec2::new(5.0, 5.0), SHIFT);
    table.click(pixel_a, CTRL_SHIFT);
    assert_eq!(table.hands.selection, Selection::from([(0, [b].into())]));
    table.click(pixel_b, CTRL_SHIFT);
    assert!(table.hands.selection.is_empty() && table.given.is_empty());
    // In the tool, a plain click selects that one alone, and a click beside everything nothing.
    table.use_tool(Tool::Select);
    table.click(pixel_a, NONE);
    table.click(pixel_b, NONE);
    assert_eq!(table.hands.selection, Selection::from([(0, [b].into())]));
    table.click(Vec2::new(5.0, 5.0), NONE);
    assert!(table.hands.selection.is_empty());
    // Just beside the border the nearest vertex is meant.
    let beside = place(&table, at(20, 10)) + Vec2::new(0.0, 6.0);
    table.click(beside, NONE);
    assert_eq!(table.hands.selection, Selection::from([(0, [at(20, 10)].into())]));
}

/// Vertices that are drawn inside a box, the slow way.
fn brute_force(table: &Table, a: Vec2, b: Vec2) -> Selection {
    let (low, high) = (a.min(b), a.max(b));
    let mut selection = Selection::new();
    for (body, item) in table.moment.items.iter().take(2).enumerate() {
        for (v, p) in (0u32..).zip(item.positions.iter()) {
            let pixel = table.camera.pixel(*p, SIZE).unwrap();
            if pixel.cmpge(low).all() && pixel.cmple(high).all() {
                selection.entry(body).or_default().insert(v);
            }
        }
    }
    selection
}

proptest! {
    #[test]
    fn a_box_selects_what_is_drawn_in_it(
        a in prop::array::uniform2(0.0f32..1.0), b in prop::array::uniform2(0.0f32..1.0),
        c in prop::array::uniform2(0.0f32..1.0), d in prop::array::uniform2(0.0f32..1.0),
    ) {
        let [a, b, c, d] = [a, b, c, d].map(|p| Vec2::from(p) * SIZE);
        prop_assume!(a.distance(b) > CLICK_PIXELS + 0.1 && c.distance(d) > CLICK_PIXELS + 0.1);
        let mut table = Table::new();
        table.use_tool(Tool::Select);
        table.down(a, NONE);
        table.move_to(b);
        prop_assert_eq!(table.hands.rectangle(), Some((a.min(b), a.max(b))));
        table.up(b);
        prop_assert_eq!(table.hands.rectangle(), None);
        let first = brute_force(&table, a, b);
        prop_assert_eq!(&table.hands.selection, &first);
        // Shift adds.
        table.drag(c, d, SHIFT);
        let second = brute_force(&table, c, d);
        let mut both = first.clone();
        for (body, vertices) in &second {
            both.entry(*body).or_default().extend(vertices);
        }
        prop_assert_eq!(&table.hands.selection, &both);
        // Ctrl takes away.
        table.drag(a, b, CTRL);
        let mut rest = both.clone();
        for (body, vertices) in &first {
            rest.entry(*body).or_default().retain(|v| !vertices.contains(v));
        }
        rest.retain(|_, vertices| !vertices.is_empty());
        prop_assert_eq!(&table.hands.selection, &rest);
        prop_assert!(table.given.is_empty());
    }
}

#[test]
fn the_selection_is_pinned_freed_and_forgotten() {
    let mut table = Table::new();
    table.hands.select_all(&table.moment, Some(1));
    assert_eq!(table.hands.selection, Selection::from([(1, (0..11).collect())]));
    table.hands.selection = Selection::from([(0, [0, 7, 9].into()), (1, [10].into())]);
    let pins = table.hands.pin_selection(&table.seen());
    let expected = [
        Command::AnchorMany { body: "cloth".into(), vertices: vec![0, 7, 9] },
        Command::AnchorMany { body: "rope".into(), vertices: vec![10] },
    ];
    assert_eq!(pins, expected);
    table.take(&Reaction { commands: pins, ..Reaction::default() });
    // Before the step that pins they can be freed again.
    assert_eq!(table.hands.unpin_selection(&table.seen()).len(), 2);
    table.step();
    assert_ne!(table.shown.pinned[0][0].set, PinnedVertex::BY_HAND, "vertex 0 is held by its pin set");
    let marks = table.hands.marks(&table.seen());
    assert_eq!(marks.points.len(), 4 + 5, "four selected, five supported");
    let frees = table.hands.unpin_selection(&table.seen());
    assert_eq!(frees[0], Command::FreeMany { body: "cloth".into(), vertices: vec![0, 7, 9] });
    table.take(&Reaction { commands: frees, ..Reaction::default() });
    table.step();
    assert_eq!(table.shown.pinned[0].iter().map(|p| p.vertex).collect::<Vec<_>>(), [20]);

    table.hands.select_all(&table.moment, None);
    assert_eq!(table.hands.selection.values().map(BTreeSet::len).sum::<usize>(), 441 + 11);
    let before = table.moment.clone();
    table.moment.items[0].positions = Arc::new(vec![Vec3::ZERO; 3]);
    table.hands.keep_within(&before, &table.moment);
    assert_eq!(table.hands.selection[&0], [0, 1, 2].into());
    // Renamed, it is the same body.
    let mut after = table.moment.clone();
    after.items[0].name = "sail".into();
    table.hands.keep_within(&table.moment, &after);
    assert_eq!(table.hands.selection[&0], [0, 1, 2].into());
    // Without the first body, the second one is the first; what was selected of the first is gone.
    after.items.remove(0);
    after.items[0].kind = ItemKind::Body(0);
    table.hands.keep_within(&table.moment, &after);
    assert_eq!(table.hands.selection, Selection::from([(0, (0..11).collect())]));
    table.use_tool(Tool::Fan);
    table.hands.forget();
    assert!(table.hands.selection.is_empty() && table.hands.tool() == Tool::Fan);
}

#[test]
fn what_a_click_would_select_is_marked() {
    let mut table = Table::new();
    let middle = table.pixel(0.0, 0.0, 0.0);
    let hovered = |table: &Table| table.hands.hover();
    table.event(Pointer::Move { at: middle, modifiers: NONE });
    assert_eq!(hovered(&table), None);
    table.event(Pointer::Move { at: middle, modifiers: SHIFT });
    assert_eq!(hovered(&table), Some((0, at(10, 10))));
    assert!(table.hands.marks(&table.seen()).points.iter().any(|p| p.at.length() < 1e-6));
    table.event(Pointer::Move { at: Vec2::new(3.0, 3.0), modifiers: SHIFT });
    assert_eq!(hovered(&table), None);
}

/// The middle of the cloth and what is around it, selected; and where the gizmo's arms are in the picture.
fn with_gizmo(vertices: &[u32]) -> (Table, Vec2, [Vec2; 3]) {
    let mut table = Table::new();
    (table.camera.yaw, table.camera.pitch) = (0.5, 0.4);
    table.use_tool(Tool::Move);
    table.hands.selection.insert(0, vertices.iter().copied().collect());
    let gizmo = Gizmo::of_selection(&table.hands.selection, &table.seen()).unwrap();
    let pixel = |p: Vec3| table.camera.pixel(p, SIZE).unwrap();
    let (middle, ends) = (pixel(gizmo.centre), [0, 1, 2].map(|arm| pixel(gizmo.end(arm))));
    (table, middle, ends)
}

// ---- bad places ----

#[test]
fn the_past_cannot_be_touched() {
    for tool in Tool::ALL {
        for modifiers in [NONE, CTRL] {
            let (mut table, middle, _) = with_gizmo(&[at(10, 10)]);
            table.use_tool(tool);
            table.live = false;
            table.drag(middle, middle + Vec2::new(90.0, 10.0), modifiers);
            assert_eq!(table.given, [], "{tool:?}");
            assert_eq!(table.hands.pin_selection(&table.seen()), []);
            assert!(table.hands.marks(&table.seen()).lines.is_empty());
        }
    }
    // What began before is ended all the same.
    let mut table = Table::new();
    let middle = table.pixel(0.0, 0.0, 0.0);
    table.down(middle, CTRL);
    table.live = false;
    assert_eq!(table.move_to(middle + Vec2::ONE * 30.0).commands, []);
    assert!(matches!(&table.up(middle).commands[..], [Command::Release { .. }]));
}

#[test]
fn a_window_without_a_size_and_places_that_are_none() {
    let table = Table::new();
    for size in [Vec2::ZERO, Vec2::new(0.0, 480.0), Vec2::new(f32::NAN, 1.0)] {
        let mut hands = Hands::default();
        let seen = Seen { size, ..table.seen() };
        let at = Vec2::new(1.0, 1.0);
        for event in [
            Pointer::Down { button: Button::Left, at, modifiers: CTRL },
            Pointer::Move { at, modifiers: SHIFT },
            Pointer::Wheel { at, notches: 1.0 },
            Pointer::Up { button: Button::Left, at, modifiers: NONE },
        ] {
            assert_eq!(hands.handle(event, &seen), Reaction::default());
        }
        assert!(!hands.is_dragging());
        hands.selection.insert(0, [3].into());
        let _ = (hands.marks(&seen), hands.focus(&seen));
    }
    let mut hands = Hands::default();
    let at = Vec2::new(f32::NAN, 3.0);
    assert_eq!(hands.handle(Pointer::Move { at, modifiers: NONE }, &table.seen()), Reaction::default());
    let wheel = Pointer::Wheel { at: Vec2::ONE, notches: f32::NAN };
    assert_eq!(hands.handle(wheel, &table.seen()), Reaction::default());
}
