//! Pictures held against references: one per style, one per family of scenes, and both renderers against each other.
//!
//! They need a graphics driver; one in software will do, and is what the references were made with. Without any, they
//! are skipped, unless `SOUPLE_NEED_GPU` is set. `SOUPLE_UPDATE_IMAGES=1` writes the references anew: look at each
//! before it is committed. What differs is written beside the build, as told by the failure.

use std::f32::consts::PI;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::{Vec2, Vec3};
use souple::Simulation;
use souple::scene::{
    Ball, Block, Body, Cells, Collider, ColliderShape, Embed, Family, Grid, Look, Placement, PlaneShape,
    Rope, Scene, Shape, SphereShape, Springs, Style,
};
use souple_files::load;
use souple_formats::picture::{Picture, PictureLimits, read_picture, write_png};
use souple_viewer::style::StyleSheet;
use souple_viewer::{Artist, Camera, Capture, Crossings, Line, Looks, Marker, Marks, Moment, WhichRenderer};

const SIZE: (u32, u32) = (320, 240);
/// Mean difference of all channels, of 255, up to which pictures count as the same: drivers round differently.
const MEAN: f64 = 0.6;
/// Share of pixels that may differ by more than [`FAR`]: drivers place edges differently, by parts of a pixel.
const SHARE: f64 = 0.003;
/// Difference of a channel, of 255, that anyone can see.
const FAR: u8 = 32;

/// How two pictures differ: mean difference of a channel, and share of pixels with one that is far off.
fn difference(a: &Picture, b: &Picture) -> (f64, f64) {
    assert_eq!((a.width, a.height), (b.width, b.height));
    let of_pixel = |(p, q): (&[u8], &[u8])| -> [u8; 3] { [0, 1, 2].map(|c| p[c].abs_diff(q[c])) };
    let pixels: Vec<[u8; 3]> = a.rgba.chunks_exact(4).zip(b.rgba.chunks_exact(4)).map(of_pixel).collect();
    let sum: u64 = pixels.iter().flatten().map(|d| u64::from(*d)).sum();
    let far = pixels.iter().filter(|d| d.iter().any(|c| *c > FAR)).count();
    (sum as f64 / (3 * pixels.len()) as f64, far as f64 / pixels.len() as f64)
}

fn references() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/images")
}

fn check(name: &str, picture: &Picture, failures: &mut Vec<String>) {
    let path = references().join(format!("{name}.png"));
    if std::env::var_os("SOUPLE_UPDATE_IMAGES").is_some() {
        std::fs::write(&path, write_png(picture).unwrap()).unwrap();
        return;
    }
    let found = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
    let Ok(bytes) = std::fs::read(&path) else {
        return failures.push(format!("{name}: there is no reference"));
    };
    let reference = read_picture(&bytes, &PictureLimits::default()).unwrap();
    let (mean, share) = difference(picture, &reference);
    if mean > MEAN || share > SHARE {
        std::fs::write(&found, write_png(picture).unwrap()).unwrap();
        let share = 100.0 * share;
        failures.push(format!(
            "{name}: {mean:.2} of 255 in the mean, {share:.2} % far off: see {}",
            found.display()
        ));
    }
}

fn artist() -> Option<Artist> {
    match Artist::new(WhichRenderer::Gpu) {
        Ok(artist) => Some(artist),
        Err(error) if std::env::var_os("SOUPLE_NEED_GPU").is_some() => panic!("{error}"),
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}

/// A cloth over a ball, by formula: styles are compared on a shape that no change of a solver moves.
fn draped(look: Look) -> (Scene, Moment, Looks) {
    let side = 41;
    let body = Body {
        name: "cloth".into(),
        shape: Shape::Grid(Grid { vertices: [side, side], ..Grid::default() }),
        fabric: Some("cotton".into()),
        look: Some(Look { colour: Some([0.75, 0.22, 0.20]), ..look }),
        ..Body::default()
    };
    let ball = Collider {
        name: "ball".into(),
        shape: ColliderShape::Sphere(SphereShape { radius: 0.29 }),
        position: [0.5, 0.29, 0.5],
        ..Collider::default()
    };
    let floor =
        Collider { name: "floor".into(), shape: ColliderShape::Plane(PlaneShape::default()), ..ball.clone() };
    let floor = Collider { position: [0.0; 3], ..floor };
    let scene = Scene { bodies: vec![body], colliders: vec![ball, floor], ..Scene::default() };
    let model = souple::ModelBuilder::new(&scene).build().unwrap();
    let mut capture = Capture::new(&scene, &model);
    let mut moment = capture.moment(&Simulation::new(model));
    let surface = |u: f32, v: f32| {
        let (x, z) = (2.0 * u - 1.0, 2.0 * v - 1.0);
        let (r, angle) = ((x * x + z * z).sqrt(), z.atan2(x));
        let fold = (r - 0.45).max(0.0);
        let out = 0.36 * (r * 1.3).sin() + 0.10 * fold * (1.0 + (6.0 * angle).cos());
        Vec3::new(
            0.5 + out * angle.cos(),
            0.61 - 0.30 * r * r - 0.09 * fold * (6.0 * angle).cos(),
            0.5 + out * angle.sin(),
        )
    };
    let at = |k: u32| surface((k % side) as f32 / (side - 1) as f32, (k / side) as f32 / (side - 1) as f32);
    let item = &mut moment.items[0];
    item.positions = Arc::new((0..side * side).map(at).collect());
    item.speeds = Arc::new(item.positions.iter().map(|p| 3.0 * (0.61 - p.y)).collect());
    item.contacts = Arc::new((0..side * side).filter(|k| at(*k).y > 0.5).collect());
    moment.time = 0.25;
    let looks = Looks::of_scene(&scene, |_| None);
    (scene, moment, looks)
}

/// Rolls a band of the cloth up into a loop that goes through itself.
fn pierce(moment: &mut Moment) {
    let item = &mut moment.items[0];
    let radius = 0.08;
    let rolled = |(uv, p): (&[f32; 2], &Vec3)| {
        let angle = 2.0 * PI * ((uv[0] - 0.3) / 0.3).clamp(0.0, 1.0);
        *p + radius * Vec3::new(-angle.sin(), 1.0 - angle.cos(), 0.0)
    };
    item.positions = Arc::new(item.mesh.uvs.iter().zip(item.positions.iter()).map(rolled).collect());
    item.crossings = Arc::new(Crossings::of(vec![(item.positions.clone(), item.mesh.clone())]));
}

/// A ball in cells, with a block beside it, both bent by formula.
fn bent(look: Look) -> (Scene, Moment, Looks) {
    let solid = |name: &str, shape, embed, x| Body {
        name: name.into(),
        shape,
        embed,
        placement: Placement { translate: [x, 0.2, 0.4], ..Placement::default() },
        density: Some(1000.0),
        young_modulus: Some(2e4),
        poisson_ratio: Some(0.3),
        look: Some(look.clone()),
        ..Body::default()
    };
    let ball = Shape::Ball(Ball { radius: 0.22, subdivisions: 3 });
    let cells = Embed { cell: 0.11, ..Embed::default() };
    let block = Shape::Block(Block { size: [0.4, 0.2, 0.2], cells: [6, 3, 3], cut: Cells::Five });
    let bodies = vec![solid("ball", ball, Some(cells), 0.05), solid("block", block, None, 0.3)];
    let scene = Scene { bodies, ..Scene::default() };
    let model = souple::ModelBuilder::new(&scene).build().unwrap();
    let mut capture = Capture::new(&scene, &model);
    let mut moment = capture.moment(&Simulation::new(model));
    for item in &mut moment.items {
        let bend = |p: &Vec3| *p + Vec3::new(0.0, 0.5 * (p.x - 0.35) * (p.x - 0.35), 0.2 * p.y * p.y);
        item.positions = Arc::new(item.positions.iter().map(bend).collect());
    }
    let looks = Looks::of_scene(&scene, |_| None);
    (scene, moment, looks)
}

fn camera() -> Camera {
    Camera { target: Vec3::new(0.5, 0.28, 0.5), yaw: 0.5, pitch: 0.42, distance: 1.75, ..Camera::default() }
}

/// A picture of squares with rounded corners, for looks that want one.
fn image() -> Arc<Picture> {
    let side = 64u32;
    let pixel = |k: u32| {
        let (x, y) = ((k % side) as f32, (k / side) as f32);
        let wave = |c: f32| 0.5 + 0.5 * (c * PI / 8.0).sin();
        let height = (255.0 * wave(x) * wave(y)) as u8;
        [height, height / 2 + 60, 200 - height / 2, 255]
    };
    Arc::new(Picture { width: side, height: side, rgba: (0..side * side).flat_map(pixel).collect() })
}

#[test]
fn styles_look_like_their_references() {
    let Some(mut artist) = artist() else { return };
    let mut failures = Vec::new();
    // Cloth has no skin that could be painted or keep a volume.
    for style in StyleSheet::built_in_names().filter(|style| !["gain", "painted"].contains(style)) {
        let (_, mut moment, mut looks) =
            if style == "stress" { bent(Look::default()) } else { draped(Look::default()) };
        looks.set_style(style);
        if ["texture", "cube_map"].contains(&style) {
            looks.bodies[0].texture = Some(image());
        }
        if style == "crossing" {
            pierce(&mut moment);
        }
        looks.fit_ranges(&artist.styles, std::slice::from_ref(&moment));
        let picture = artist.draw(&moment, &looks, &Marks::default(), &camera(), SIZE).unwrap();
        check(&format!("style-{style}"), &picture, &mut failures);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn variants_look_like_their_references() {
    let Some(mut artist) = artist() else { return };
    let mut failures = Vec::new();
    let own = "//! Stripes that move.\n//! @parameter count = 12 from 1 to 50: stripes\n\
               fn displace(v: Vertex) -> Vertex {\n    var moved = v;\n    moved.position.y += 0.05 * sin(12.0 * v.position.x);\n    return moved;\n}\n\
               fn shade(s: Surface) -> vec4<f32> {\n    return vec4(s.colour * step(0.5, fract(s.uv.x * count())), 1.0) + vec4(ambient(s.normal) * 0.3, 0.0);\n}\n";
    artist.styles.set("stripes.wgsl", own).unwrap();
    let marks = Marks {
        lines: vec![
            Line {
                from: Vec3::new(0.5, 0.6, 0.5),
                to: Vec3::new(0.9, 0.8, 0.6),
                colour: [1.0, 0.7, 0.0, 1.0],
                width: 3.0,
                on_top: true,
            },
            Line {
                from: Vec3::new(0.1, 0.1, 0.1),
                to: Vec3::new(0.9, 0.1, 0.9),
                colour: [0.0, 0.2, 1.0, 1.0],
                width: 2.0,
                on_top: false,
            },
        ],
        points: vec![
            Marker { at: Vec3::new(0.9, 0.8, 0.6), colour: [1.0, 0.7, 0.0, 1.0], size: 12.0, on_top: true },
            Marker { at: Vec3::new(0.5, 0.1, 0.9), colour: [0.0, 0.8, 0.2, 1.0], size: 10.0, on_top: false },
        ],
    };
    let look = |style| Look { style, ..Look::default() };
    let cases = [
        ("own-shader", look(Style::Shader("stripes.wgsl".into())), Marks::default(), None, true),
        ("marks", look(Style::Standard), marks, None, true),
        ("background", look(Style::Phong), Marks::default(), Some([0.1, 0.12, 0.2]), false),
        ("bump-image", look(Style::Bump), Marks::default(), None, true),
    ];
    for (name, look, marks, background, ground) in cases {
        let (_, moment, mut looks) = draped(look);
        (looks.view.background, looks.view.ground) = (background, ground);
        if name == "bump-image" {
            looks.bodies[0].texture = Some(image());
        }
        let picture = artist.draw(&moment, &looks, &marks, &camera(), SIZE).unwrap();
        for point in marks.points.iter().filter(|point| point.on_top) {
            let at = camera().pixel(point.at, Vec2::new(SIZE.0 as f32, SIZE.1 as f32)).unwrap();
            let [r, g, b, _] = picture.pixel(at.x as u32, at.y as u32).unwrap();
            assert!(
                r > 230 && (200..235).contains(&g) && b < 30,
                "the point is not where it belongs: {r} {g} {b}"
            );
        }
        check(name, &picture, &mut failures);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn scenes_look_like_their_references() {
    let Some(mut artist) = artist() else { return };
    let mut failures = Vec::new();
    let families = [
        ("flag", 40),
        ("sphere", 45),
        ("supports", 30),
        ("tearing", 70),
        ("teapot", 20),
        ("box", 40),
        ("hammock", 30),
    ];
    for (name, frames) in families {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenes/cloth/{name}.toml"));
        let loaded = load(&path, false).unwrap_or_else(|error| panic!("{error}"));
        let mut capture = Capture::new(&loaded.scene, &loaded.model);
        let looks = Looks::of_scene(&loaded.scene, |_| None);
        let mut simulation = Simulation::new(loaded.model);
        (0..frames).for_each(|_| simulation.step());
        let moment = capture.moment(&simulation);
        let camera = match &loaded.scene.view.camera {
            Some(camera) => Camera::of_scene(camera),
            None => Camera::fitted(moment.points(false), SIZE.0 as f32 / SIZE.1 as f32),
        };
        let picture = artist.draw(&moment, &looks, &Marks::default(), &camera, SIZE).unwrap();
        check(&format!("scene-{name}"), &picture, &mut failures);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Elements are lines over any style: cells around a ball, tetrahedra of a block. Both renderers draw them.
#[test]
fn elements_look_like_their_reference() {
    let Some(mut gpu) = artist() else { return };
    let mut cpu = Artist::new(WhichRenderer::Cpu).unwrap();
    let (_, moment, mut looks) = bent(Look { style: Style::Stress, ..Look::default() });
    looks.fit_ranges(&gpu.styles, std::slice::from_ref(&moment));
    let plain = gpu.draw(&moment, &looks, &Marks::default(), &camera(), SIZE).unwrap();
    looks.show_cells();
    let [a, b] = [&mut gpu, &mut cpu]
        .map(|artist| artist.draw(&moment, &looks, &Marks::default(), &camera(), SIZE).unwrap());
    let (_, share) = difference(&plain, &a);
    assert!(share > 0.02, "hardly a line: {:.2} % differ", 100.0 * share);
    let mut failures = Vec::new();
    check("elements", &a, &mut failures);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let (mean, share) = difference(&a, &b);
    assert!(mean <= MEAN && share <= SHARE, "{mean:.2} of 255, {:.2} % far off", 100.0 * share);
}

/// Ropes are drawn as tubes.
#[test]
fn ropes_look_like_their_reference() {
    let Some(mut artist) = artist() else { return };
    let rope = |name: &str, x: f64, thickness| Body {
        name: name.into(),
        shape: Shape::Rope(Rope { length: 1.0, vertices: 41, direction: [0.2, 0.0, 1.0], ..Rope::default() }),
        placement: Placement { translate: [x, 0.5, 0.0], ..Placement::default() },
        thickness: Some(thickness),
        mass: Some(0.1),
        springs: Springs {
            stretch: Family { stiffness: Some(100.0), ..Family::default() },
            ..Springs::default()
        },
        ..Body::default()
    };
    let scene =
        Scene { bodies: vec![rope("thin", 0.0, 0.002), rope("thick", 0.4, 0.06)], ..Scene::default() };
    let model = souple::ModelBuilder::new(&scene).build().unwrap();
    let mut capture = Capture::new(&scene, &model);
    let mut moment = capture.moment(&Simulation::new(model));
    for item in &mut moment.items {
        let bent = item
            .positions
            .iter()
            .map(|p| *p + Vec3::new(0.1 * (9.0 * p.z).sin(), -0.4 * p.z * (1.0 - p.z), 0.0));
        item.positions = Arc::new(bent.collect());
    }
    let looks = Looks::of_scene(&scene, |_| None);
    let camera = Camera::fitted(moment.points(false), SIZE.0 as f32 / SIZE.1 as f32);
    let picture = artist.draw(&moment, &looks, &Marks::default(), &camera, SIZE).unwrap();
    let mut failures = Vec::new();
    check("ropes", &picture, &mut failures);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The CPU rasteriser is the slow twin of the GPU path.
#[test]
fn both_renderers_draw_the_same() {
    let Some(mut gpu) = artist() else { return };
    let mut cpu = Artist::new(WhichRenderer::Cpu).unwrap();
    for style in ["standard", "wireframe", "strain"] {
        let (_, moment, mut looks) = draped(Look::default());
        looks.set_style(style);
        looks.fit_ranges(&gpu.styles, std::slice::from_ref(&moment));
        let [a, b] = [&mut gpu, &mut cpu]
            .map(|artist| artist.draw(&moment, &looks, &Marks::default(), &camera(), SIZE).unwrap());
        for (name, picture) in [("gpu", &a), ("cpu", &b)] {
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("twin-{style}-{name}.png"));
            std::fs::write(path, write_png(picture).unwrap()).unwrap();
        }
        let (mean, share) = difference(&a, &b);
        assert!(mean <= MEAN && share <= SHARE, "{style}: {mean:.2} of 255, {:.2} % far off", 100.0 * share);
    }
}

/// The same moment drawn twice gives the same pixels, also after other things were drawn between.
#[test]
fn pictures_do_not_depend_on_what_was_drawn_before() {
    let Some(mut artist) = artist() else { return };
    let (_, moment, mut looks) = draped(Look::default());
    let first = artist.draw(&moment, &looks, &Marks::default(), &camera(), SIZE).unwrap();
    looks.set_style("glass");
    artist.draw(&moment, &looks, &Marks::default(), &camera(), (77, 33)).unwrap();
    looks.set_style("standard");
    let again = artist.draw(&moment, &looks, &Marks::default(), &camera(), SIZE).unwrap();
    assert_eq!(first, again);
}

#[test]
fn odd_input_is_drawn_or_refused() {
    let Some(mut artist) = artist() else { return };
    let (_, mut moment, looks) = draped(Look::default());
    let marks = Marks::default();
    assert!(artist.draw(&moment, &looks, &marks, &camera(), (0, 240)).is_err());
    assert!(artist.draw(&moment, &looks, &marks, &camera(), (1_000_000, 240)).is_err());
    let nothing = Moment::default();
    artist.draw(&nothing, &looks, &marks, &camera(), (16, 16)).unwrap();
    // Positions that are no numbers leave holes, not a crash; vertices may vanish between frames.
    let mut broken = moment.items[0].positions.to_vec();
    broken[7] = Vec3::NAN;
    moment.items[0].positions = Arc::new(broken);
    artist.draw(&moment, &looks, &marks, &camera(), (64, 48)).unwrap();
    let mut strange = looks.clone();
    strange.set_style("no such style");
    artist.draw(&moment, &strange, &marks, &camera(), (64, 48)).unwrap();
    let far = Camera { distance: 1e5, ..camera() };
    artist.draw(&moment, &looks, &marks, &far, (64, 48)).unwrap();
    moment.items.truncate(1);
    artist.draw(&moment, &looks, &marks, &camera(), (64, 48)).unwrap();
}
