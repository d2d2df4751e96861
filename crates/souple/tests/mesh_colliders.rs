//! Mesh colliders around their response: what is built, refused, repaired and told, and where crossings are counted.

use souple::check::lint;
use souple::measure::intersections::{BodyTriangle, in_scene};
use souple::mesh::generate;
use souple::scene::{
    Ball, Body, BoxShape, Collider, ColliderShape, Grid, InlineMesh, Interpolation, Key, MeshFile, Motion,
    Pair, PlaneShape, Scene, Shape,
};
use souple::{Command, Model, ModelBuilder, SceneError, Simulation, WarningKind};

fn ball() -> InlineMesh {
    let mesh = generate::ball(&Ball { radius: 0.5, subdivisions: 1 });
    let positions = mesh.positions.iter().map(|p| p.to_array()).collect();
    InlineMesh { positions, triangles: mesh.triangles, ..InlineMesh::default() }
}

/// A square of two triangles in the plane z = 0, from −1 to 1 along x and y.
fn wall() -> InlineMesh {
    InlineMesh {
        positions: vec![[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        ..InlineMesh::default()
    }
}

fn of(shape: ColliderShape) -> Scene {
    let collider = Collider { name: "thing".into(), shape, ..Collider::default() };
    Scene { colliders: vec![collider], ..Scene::default() }
}

fn with_mesh(mesh: InlineMesh) -> Scene {
    of(ColliderShape::Mesh(mesh))
}

fn build(scene: &Scene) -> Result<Model, SceneError> {
    ModelBuilder::new(scene).build()
}

fn messages(scene: &Scene) -> Vec<(String, String)> {
    let model = build(scene).unwrap();
    let about_colliders = lint(scene, &model).into_iter().filter(|l| l.field.starts_with("collider"));
    about_colliders.map(|l| (l.field, l.message)).collect()
}

#[test]
fn scale_holds_for_every_shape() {
    let sizes = |scale: f64, shape: ColliderShape| {
        // Boxes of primitives have room for rounding.
        let mut scene = of(shape);
        scene.colliders[0].scale = scale;
        build(&scene).unwrap().colliders[0].form.bounds().map(|(low, high)| (high - low).as_vec3().to_array())
    };
    let cube = || ColliderShape::Box(BoxShape { size: [0.5, 1.0, 2.0] });
    assert_eq!(sizes(2.0, cube()), Some([1.0, 2.0, 4.0]));
    assert_eq!(sizes(3.0, ColliderShape::Mesh(wall())), Some([6.0, 6.0, 0.0]));
    assert_eq!(sizes(3.0, ColliderShape::Plane(PlaneShape::default())), None);
    let mut scene = of(cube());
    for (scale, problem) in [(0.0, "greater than 0"), (f64::NAN, "finite"), (f64::MAX, "finite")] {
        scene.colliders[0].scale = scale;
        let error = build(&scene).unwrap_err();
        assert_eq!(error.field, "collider[0].scale");
        assert!(error.problem.contains(problem), "{error}");
    }
}

#[test]
fn meshes_that_cannot_be_used_are_refused_by_name() {
    let refused = |mesh: InlineMesh| {
        let error = build(&with_mesh(mesh)).unwrap_err();
        assert!(!error.help.is_empty());
        (error.field, error.problem)
    };
    let mut nan = ball();
    nan.positions[7][1] = f64::NAN;
    let mut far = ball();
    far.positions[7][1] = 2e12;
    let mut outside = ball();
    outside.triangles[3][2] = 42;
    let none = InlineMesh { triangles: Vec::new(), ..ball() };
    let line = InlineMesh { positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]], ..wall() };
    let line = InlineMesh { triangles: vec![[0, 1, 2]], ..line };
    let uvs = InlineMesh { uvs: vec![[0.0; 2]; 3], ..ball() };
    for (mesh, field, problem) in [
        (InlineMesh::default(), "collider[0].shape", "no vertices"),
        (nan, "collider[0].shape", "vertex 7"),
        (far, "collider[0].scale", "reaches from"),
        (outside, "collider[0].shape", "triangle 3 names vertex 42"),
        (none, "collider[0].shape", "no triangles"),
        (line, "collider[0].shape", "none of its 1 triangles has an area"),
        (uvs, "collider[0].shape", "3 texture coordinates"),
    ] {
        let (at, said) = refused(mesh);
        assert_eq!(at, field, "{said}");
        assert!(said.contains(problem), "{said}");
    }
    let file = MeshFile { path: "a.obj".into(), weld: true };
    let error = build(&of(ColliderShape::File(file))).unwrap_err();
    assert_eq!(error.field, "collider[0].shape.file.path");
}

#[test]
fn repairs_are_told() {
    assert_eq!(messages(&with_mesh(ball())), []);
    let mut mesh = ball();
    for t in &mut mesh.triangles {
        t.swap(0, 1);
    }
    let first = mesh.triangles[0];
    mesh.triangles.push(first);
    mesh.triangles.push([0, 0, 1]);
    mesh.positions.push([9.0; 3]);
    let told = messages(&with_mesh(mesh));
    let told: Vec<&str> = told.iter().map(|(_, message)| message.as_str()).collect();
    assert_eq!(
        told,
        [
            "of 'thing', 1 vertices belong to no triangle; they were left out",
            "of 'thing', 1 triangles have no area; they were left out",
            "of 'thing', 1 triangles have the same vertices as another; they were left out",
            "of 'thing', 1 closed parts were inside out; they were turned round",
        ]
    );
    let mut scene = with_mesh(ball());
    scene.colliders[0].scale = 1e-3;
    assert_eq!(messages(&scene)[0].0, "collider[0].scale");
}

#[test]
fn soft_bodies_with_turned_triangles_are_told() {
    let mut mesh = wall();
    mesh.triangles[1].swap(0, 1);
    let body = Body { shape: Shape::Mesh(mesh), fabric: Some("cotton".into()), ..Body::default() };
    let mut scene = Scene { bodies: vec![body], ..Scene::default() };
    scene.bodies[0].springs.layout = souple::scene::Layout::Graph(1);
    let model = build(&scene).unwrap();
    assert!(
        lint(&scene, &model).iter().any(|l| l.field == "body[0].shape" && l.message.contains("opposite"))
    );
}

#[test]
fn a_script_that_jumps_is_told_before_and_while_it_runs() {
    let key = |t: f64, x: f64| Key { t, translate: [x, 0.0, 0.0], rotate_deg: [0.0; 3] };
    let mut scene = with_mesh(ball());
    scene.bodies.push(Body { fabric: Some("cotton".into()), ..Body::default() });
    let mut moved = |keys: Vec<Key>, repeat: bool| {
        let motion = Motion { keys, repeat, interpolation: Interpolation::Linear, ..Motion::default() };
        scene.colliders[0].motion = Some(motion);
        let mut run = Simulation::new(build(&scene).unwrap());
        (0..100).for_each(|_| run.step());
        let jumps = run.warnings().iter().filter(|w| matches!(w.kind, WarningKind::Jumped(_))).count();
        (messages(&scene), jumps)
    };
    // At 60 frames per second: 3 m in half a second, then 3 m in a frame. The ball is 1 m wide, 1.7 m in diagonal.
    assert_eq!(moved(vec![key(0.0, 0.0), key(0.5, 3.0)], false), (Vec::new(), 0));
    let (told, jumps) = moved(vec![key(0.0, 0.0), key(0.5, 3.0), key(0.51, 0.0)], false);
    assert_eq!((told.len(), told[0].0.as_str(), jumps), (1, "collider[0].motion.key[2]", 1));
    assert!(told[0].1.contains("in frame 31"), "{told:?}");
    // A path that begins again jumps back, many times; it is told once.
    let (told, jumps) = moved(vec![key(0.0, 0.0), key(0.5, 3.0)], true);
    assert_eq!((told.len(), jumps), (1, 1));
}

#[test]
fn a_jump_by_command_is_told_once_and_named() {
    let mut scene = with_mesh(ball());
    scene.bodies.push(Body { fabric: Some("cotton".into()), ..Body::default() });
    let mut run = Simulation::new(build(&scene).unwrap());
    for x in [1.0, -5.0, 5.0] {
        let command =
            Command::MoveCollider { collider: "thing".into(), by: [x, 0.0, 0.0], rotate_deg: [0.0; 3] };
        run.command(command).unwrap();
        run.step();
    }
    assert_eq!(run.warnings().len(), 1);
    let text = run.warnings()[0].to_string();
    assert!(text.starts_with("step 1, collider 'thing', apply_control: it moved by 5.000 m"), "{text}");
}

#[test]
fn another_mesh_is_adopted_and_is_another_model() {
    let mut scene = with_mesh(ball());
    scene.bodies.push(Body { fabric: Some("cotton".into()), ..Body::default() });
    let first = build(&scene).unwrap();
    let fingerprint = first.fingerprint;
    let mut run = Simulation::new(first);
    let by = [0.25, 0.0, 0.0];
    run.command(Command::MoveCollider { collider: "thing".into(), by, rotate_deg: [0.0; 3] }).unwrap();
    run.step();
    scene.colliders[0].shape = ColliderShape::Mesh(wall());
    let other = build(&scene).unwrap();
    assert_ne!(other.fingerprint, fingerprint);
    run.adopt(other).unwrap();
    run.step();
    assert_eq!(run.collider_pose(0).translation.to_array(), by);
}

#[test]
fn crossings_with_meshes_are_counted_where_they_are() {
    // Two flat sheets of two triangles each, one a body; the walls cross each other, which is nobody's business.
    let mut scene = with_mesh(wall());
    let turned =
        Collider { name: "turned".into(), rotate_deg: [0.0, 90.0, 0.0], ..scene.colliders[0].clone() };
    scene.colliders.push(turned);
    let grid = Grid { size: [1.0, 1.0], vertices: [2, 2], ..Grid::default() };
    let body = Body { shape: Shape::Grid(grid), fabric: Some("cotton".into()), ..Body::default() };
    scene.bodies.push(body);
    // The sheet lies in y = 0, off both walls at first.
    scene.bodies[0].placement.translate = [0.25, 0.1, 0.25];
    // A wall that touches would push the sheet aside.
    let between = [scene.bodies[0].name.clone(), "thing".into()];
    scene.pairs = vec![Pair { between, touch: false, ..Pair::default() }];
    let mut run = Simulation::new(build(&scene).unwrap());
    assert!(in_scene(run.model(), run.state()).is_empty());
    let by = [0.0, 0.0, 0.5];
    run.command(Command::MoveCollider { collider: "thing".into(), by, rotate_deg: [0.0; 3] }).unwrap();
    run.step();
    let found = in_scene(run.model(), run.state());
    assert!(!found.is_empty());
    // The first wall is counted on after the only body.
    let is_pair = |[a, b]: &[BodyTriangle; 2]| a.body == 0 && b.body == 1;
    assert!(found.iter().all(is_pair), "{found:?}");
}
