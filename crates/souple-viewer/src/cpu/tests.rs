use std::sync::Arc;

use glam::{Mat4, Vec2, Vec4};
use proptest::prelude::*;
use souple::contact::primitives::Primitive;
use souple::scene::View;

use super::fixture::{cloth, collider, looks, moment, rope};
use super::*;
use crate::artist::{Artist, WhichRenderer};
use crate::capture::Item;
use crate::looks::{Line, Marker, srgb};
use crate::overlay::colour_map;
use crate::style::Quantity;

const SIZE: (u32, u32) = (160, 120);

/// A camera on +z that looks at the origin.
fn front() -> Camera {
    Camera { target: Vec3::ZERO, yaw: 0.0, pitch: 0.0, distance: 3.0, field_of_view: 0.7 }
}

/// A cloth in the plane of x and y that faces +z.
fn screen() -> Item {
    cloth(4, |x, z| Vec3::new(x, -z, 0.0))
}

fn drawn(moment: &Moment, looks: &Looks, camera: &Camera) -> Picture {
    draw(moment, looks, &Marks::default(), &StyleSheet::built_in(), camera, SIZE)
}

/// Colour where a point of the world is seen.
fn seen(picture: &Picture, camera: &Camera, point: Vec3) -> [u8; 4] {
    let at = camera.pixel(point, Vec2::new(picture.width as f32, picture.height as f32)).unwrap();
    picture.pixel(at.x as u32, at.y as u32).unwrap()
}

fn differ(a: [u8; 4], b: [u8; 4]) -> u8 {
    a.iter().zip(b).map(|(a, b)| a.abs_diff(b)).max().unwrap()
}

fn bytes(colour: Vec3) -> [u8; 4] {
    let [r, g, b] = srgb(colour).map(|c| (c * 255.0).round() as u8);
    [r, g, b, 255]
}

#[test]
fn an_empty_moment_shows_the_sky() {
    let moment = Moment::default();
    let mut looks = looks(&moment, "standard");
    looks.view = View { ground: false, ..View::default() };
    let picture = drawn(&moment, &looks, &front());
    let (top, bottom) = Backdrop::of(&moment, &looks, &front()).background(&looks.view);
    assert!(differ(picture.pixel(80, 0).unwrap(), bytes(top)) <= 1);
    assert!(differ(picture.pixel(80, 119).unwrap(), bytes(bottom)) <= 1);
    for size in [(0, 0), (0, 50), (1, 1)] {
        let picture =
            draw(&moment, &looks, &Marks::default(), &StyleSheet::built_in(), &Camera::default(), size);
        assert_eq!((picture.width, picture.height), (size.0.max(1), size.1.max(1)));
        assert!(picture.check().is_ok());
    }
}

#[test]
fn both_sides_of_a_cloth_have_their_colour() {
    let moment = moment(vec![screen()]);
    let looks = looks(&moment, "standard");
    let [r, g, ..] = seen(&drawn(&moment, &looks, &front()), &front(), Vec3::ZERO);
    assert!(r > 100 && r > 2 * g, "{r} {g}");
    let behind = Camera { yaw: std::f32::consts::PI, ..front() };
    let [r, g, ..] = seen(&drawn(&moment, &looks, &behind), &behind, Vec3::ZERO);
    assert!(g > 60 && g > 2 * r, "{r} {g}");
}

#[test]
fn a_flat_cloth_has_no_spots_whatever_the_sun() {
    // Shadow maps that shade the surface they are made of give stripes or spots.
    let moment = moment(vec![cloth(12, |x, z| Vec3::new(x, 0.3 * x - z, 0.1 * z))]);
    let mut looks = looks(&moment, "standard");
    looks.bodies[0].parameters.insert("highlight".into(), 0.0);
    for light in [[0.0, 0.2, 1.0], [1.0, 0.1, 0.3], [-1.0, 1.0, 0.2], [0.1, 1.0, 0.05], [0.3, 0.5, -1.0]] {
        looks.view.light = light;
        let picture = drawn(&moment, &looks, &front());
        let middle = seen(&picture, &front(), Vec3::ZERO);
        for k in 0..200 {
            let (x, z) = ((k % 20) as f32 * 0.045 - 0.43, (k / 20) as f32 * 0.09 - 0.41);
            let here = seen(&picture, &front(), Vec3::new(x, 0.3 * x - z, 0.1 * z));
            assert!(differ(here, middle) <= 2, "{light:?} at {x}, {z}: {here:?}, {middle:?}");
        }
    }
}

#[test]
fn a_ball_is_bright_on_the_side_of_the_sun_and_smooth() {
    let ball = collider(&Primitive::Sphere { radius: 0.5 }, Mat4::IDENTITY);
    let moment = moment(vec![ball]);
    let mut looks = looks(&moment, "standard");
    looks.view.light = [1.0, 0.3, 0.6];
    let picture = drawn(&moment, &looks, &front());
    let at = |x: f32, y: f32| i32::from(seen(&picture, &front(), Vec3::new(x, y, 0.0))[0]);
    assert!(at(0.3, 0.1) > at(-0.35, 0.0) + 40, "{} {}", at(0.3, 0.1), at(-0.35, 0.0));
    // Light falls off evenly from the bright side to the edge of the shade: no spot is brighter than what is nearer.
    for k in 0..30 {
        let x = 0.25 - 0.02 * k as f32;
        assert!(at(x - 0.02, 0.0) <= at(x, 0.0) + 6, "at {x}");
    }
}

#[test]
fn cloth_throws_a_shadow_on_the_ground() {
    let mut moment = moment(vec![cloth(8, |x, z| Vec3::new(0.5 * x, 0.6, 0.5 * z))]);
    moment.floor = Some(0.0);
    let mut looks = looks(&moment, "standard");
    looks.view = View { ground: true, background: Some([0.0; 3]), light: [0.3, 1.0, 0.0], ..View::default() };
    let camera = Camera { target: Vec3::ZERO, pitch: 0.5, distance: 4.0, ..front() };
    let picture = drawn(&moment, &looks, &camera);
    let height = Backdrop::of(&moment, &looks, &camera).ground_centre.y;
    // The middle of the shadow is where the ray of the sun through the middle of the cloth meets the ground.
    let shade = seen(&picture, &camera, Vec3::new(-0.3 * (0.6 - height), height, 0.0));
    let lit = seen(&picture, &camera, Vec3::new(0.47, height, 0.03));
    assert!(shade[0] + 40 < lit[0], "{shade:?} {lit:?}");
}

#[test]
fn nearer_things_hide_farther_ones() {
    let near = cloth(2, |x, z| Vec3::new(0.3 * x, -0.3 * z, 0.5));
    let far = collider(&Primitive::Sphere { radius: 0.5 }, Mat4::from_translation(Vec3::new(0.0, 0.0, -0.3)));
    for items in [vec![near.clone(), far.clone()], vec![far, near]] {
        let moment = moment(items);
        let looks = looks(&moment, "standard");
        let ids = item_ids(&moment, &looks, &StyleSheet::built_in(), &front(), SIZE);
        let at = |p: Vec3| {
            let pixel = front().pixel(p, Vec2::new(160.0, 120.0)).unwrap();
            ids[pixel.y as usize * 160 + pixel.x as usize]
        };
        let name = |id: u32| moment.items[id as usize].name.to_string();
        assert_eq!(name(at(Vec3::ZERO)), "cloth");
        assert_eq!(name(at(Vec3::new(0.3, 0.2, 0.0))), "collider");
        assert_eq!(at(Vec3::new(0.9, 0.0, 0.0)), NO_ITEM);
    }
}

#[test]
fn hidden_items_are_not_drawn() {
    let moment = moment(vec![screen()]);
    let mut looks = looks(&moment, "standard");
    looks.bodies[0].visible = false;
    let picture = drawn(&moment, &looks, &front());
    assert!(picture.rgba.chunks_exact(4).all(|p| p == [0, 0, 0, 255]));
}

#[test]
fn coverage_of_pixels_is_the_area() {
    // A turned square of known size on black: the blue of the picture is its area.
    let (sin, cos) = 0.3f32.sin_cos();
    let square =
        |side: f32| cloth(3, move |x, z| Vec3::new(x * cos + z * sin, x * sin - z * cos, 0.0) * side);
    for side in [0.31, 0.5, 0.83] {
        let moment = moment(vec![square(side)]);
        let mut looks = looks(&moment, "velocity");
        looks.bodies[0].parameters.insert("relief".into(), 0.0);
        let picture = drawn(&moment, &looks, &front());
        let full = 255.0 * crate::overlay::SEQUENTIAL[0][2];
        let sum: f32 = picture.rgba.chunks_exact(4).map(|p| f32::from(p[2]) / full).sum();
        let metre = 120.0 / (2.0 * 3.0 * 0.35f32.tan());
        let exact = (side * metre).powi(2);
        assert!((sum / exact - 1.0).abs() < 0.01, "{sum} {exact}");
    }
}

#[test]
fn values_are_right_in_perspective() {
    // A cloth seen at a flat angle, with a speed that grows along it.
    let place = |x: f32, z: f32| Vec3::new(x, -0.2, z * 3.0);
    let mut item = cloth(1, place);
    item.speeds = Arc::new(vec![0.0, 0.0, 1.0, 1.0]);
    let moment = moment(vec![item]);
    let mut looks = looks(&moment, "velocity");
    looks.bodies[0].range = Some([0.0, 1.0]);
    looks.bodies[0].parameters.insert("relief".into(), 0.0);
    let camera = Camera { pitch: 0.3, ..front() };
    let picture = drawn(&moment, &looks, &camera);
    for k in 0..9 {
        let point = place(0.07, -0.4 + 0.1 * k as f32);
        // The ray through the middle of the pixel where the point is seen.
        let size = Vec2::new(160.0, 120.0);
        let pixel = camera.pixel(point, size).unwrap().floor() + 0.5;
        let (origin, direction) = camera.ray(pixel, size);
        let hit = origin + direction * ((-0.2 - origin.y) / direction.y);
        let wanted = bytes(colour_map(Quantity::Velocity, hit.z / 3.0 + 0.5));
        let found = picture.pixel(pixel.x as u32, pixel.y as u32).unwrap();
        assert!(differ(found, wanted) <= 2, "{k}: {found:?} {wanted:?}");
    }
}

#[test]
fn strain_has_the_colour_of_the_legend() {
    // Stretched by 5 % along x, at rest along y: the largest strain of edges around each vertex is 5 %.
    let moment = moment(vec![cloth(4, |x, z| Vec3::new(1.05 * x, -z, 0.0))]);
    let mut looks = looks(&moment, "strain");
    looks.bodies[0].range = Some([-0.1, 0.1]);
    let picture = drawn(&moment, &looks, &front());
    let wanted = bytes(colour_map(Quantity::Strain, 0.75));
    assert!(differ(seen(&picture, &front(), Vec3::ZERO), wanted) <= 2);
}

#[test]
fn wireframes_are_lines() {
    let moment = moment(vec![screen()]);
    let looks = looks(&moment, "wireframe");
    let picture = draw(&moment, &looks, &Marks::default(), &StyleSheet::built_in(), &front(), (640, 480));
    // The red of the picture is that of 4 × 4 squares with diagonals, 5 + 5 lines of a metre and 16 diagonals, one
    // pixel wide; lines cover each other a little where they meet.
    let facing = Vec3::Z.dot(Surroundings::new(&looks.view).sun).abs();
    let full = 255.0 * srgb(looks.bodies[0].colour * (1.0 - 0.35 * (1.0 - facing)))[0];
    let sum: f32 = picture.rgba.chunks_exact(4).map(|p| f32::from(p[0]) / full).sum();
    let metre = 480.0 / (2.0 * 3.0 * 0.35f32.tan());
    let exact = metre * (10.0 + 4.0 * 2f32.sqrt());
    assert!((sum / exact - 1.0).abs() < 0.05, "{sum} {exact}");
    // The middle of a triangle is empty; a corner in the middle is not.
    assert_eq!(seen(&picture, &front(), Vec3::new(0.08, -0.08, 0.0))[0], 0);
    assert!(seen(&picture, &front(), Vec3::new(0.001, -0.001, 0.0))[0] > 60);
}

#[test]
fn unknown_styles_are_drawn_as_standard() {
    let moment = moment(vec![screen()]);
    let standard = drawn(&moment, &looks(&moment, "standard"), &front());
    for style in ["glass", "no such style"] {
        let mut looks = looks(&moment, style);
        looks.bodies[0].parameters.insert("roughness".into(), 0.0);
        assert_eq!(drawn(&moment, &looks, &front()), standard, "{style}");
    }
}

#[test]
fn textures_are_seen() {
    let moment = moment(vec![screen()]);
    let mut looks = looks(&moment, "standard");
    looks.bodies[0].colour = Vec3::ONE;
    // Left half blue, right half red.
    let mut image = Picture::new(8, 8, [255, 0, 0, 255]);
    image.paste(&Picture::new(4, 8, [0, 0, 255, 255]), 0, 0);
    looks.bodies[0].texture = Some(Arc::new(image));
    let picture = drawn(&moment, &looks, &front());
    let (left, right) = (Vec3::new(-0.25, 0.0, 0.0), Vec3::new(0.25, 0.0, 0.0));
    let [left, right] = [left, right].map(|p| seen(&picture, &front(), p));
    assert!(left[2] > 2 * left[0] && right[0] > 2 * right[2], "{left:?} {right:?}");
    looks.bodies[0].texture = Some(Arc::new(Picture { width: 9, height: 9, rgba: vec![0; 3] }));
    drawn(&moment, &looks, &front());
}

#[test]
fn lines_and_points_are_where_they_are() {
    let moment = moment(vec![screen()]);
    let looks = looks(&moment, "standard");
    let blue = [0.0, 0.0, 1.0, 1.0];
    let line = |z: f32, y: f32, on_top: bool| {
        let [from, to] = [-0.4f32, 0.4].map(|x| Vec3::new(x, y, z));
        Line { from, to, colour: blue, width: 3.0, on_top }
    };
    let point = Marker { at: Vec3::new(0.0, -0.3, 0.0), colour: blue, size: 9.0, on_top: false };
    let marks = Marks {
        // In front, behind, behind but on top, on the surface itself.
        lines: vec![
            line(0.1, 0.2, false),
            line(-0.1, 0.1, false),
            line(-0.1, 0.0, true),
            line(0.0, -0.1, false),
        ],
        points: vec![point],
    };
    let picture = draw(&moment, &looks, &marks, &StyleSheet::built_in(), &front(), SIZE);
    let is_blue = |p: Vec3| seen(&picture, &front(), p)[2] > 200;
    assert!(is_blue(Vec3::new(0.03, 0.2, 0.1)));
    assert!(!is_blue(Vec3::new(0.03, 0.1, -0.1)));
    assert!(is_blue(Vec3::new(0.03, 0.0, -0.1)));
    assert!(is_blue(Vec3::new(0.03, -0.1, 0.0)));
    assert!(is_blue(point.at));
    // A disc of 9 pixels with a soft edge covers its area: half of the darker blue of its ring is where it ends.
    let black = Looks { bodies: vec![], ..looks };
    let alone = Marks { lines: vec![], points: vec![point] };
    let picture = draw(&moment, &black, &alone, &StyleSheet::built_in(), &front(), SIZE);
    let count = picture.rgba.chunks_exact(4).filter(|p| p[2] > 84).count() as f32;
    assert!((count / (std::f32::consts::PI * 4.5f32.powi(2)) - 1.0).abs() < 0.15, "{count}");
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let (moment, looks, camera) = busy();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| drawn(&moment, &looks, &camera))
    };
    assert!(with(1) == with(3), "pictures differ");
}

/// A cloth over a ball, a rope, a box, on a ground.
fn busy() -> (Moment, Looks, Camera) {
    let drape = cloth(40, |x, z| {
        let r2 = x * x + z * z;
        let y = if r2 < 0.09 { (0.1 - r2).sqrt() } else { 0.1 } + 0.02 * (20.0 * x).sin() * r2.sqrt();
        Vec3::new(x, y + 0.02, z)
    });
    let points = (0..60).map(|k| {
        let a = k as f32 * 0.2;
        Vec3::new(0.62 + 0.08 * a.cos(), 0.012 * k as f32 - 0.3, 0.3 + 0.08 * a.sin())
    });
    let moment = moment(vec![
        drape,
        rope(points.collect(), 0.015),
        collider(&Primitive::Sphere { radius: 0.3 }, Mat4::IDENTITY),
        collider(
            &Primitive::Box { half: glam::DVec3::new(0.1, 0.2, 0.15) },
            Mat4::from_rotation_translation(glam::Quat::from_rotation_y(0.5), Vec3::new(-0.6, -0.1, 0.5)),
        ),
    ]);
    let mut looks = looks(&moment, "standard");
    looks.bodies[1].colour = Vec3::new(0.1, 0.25, 0.6);
    looks.view = View::default();
    let camera = Camera::fitted(moment.points(false), 4.0 / 3.0);
    (moment, looks, camera)
}

#[test]
fn lost_particles_cost_only_their_triangles() {
    let mut item = screen();
    let mut positions = item.positions.to_vec();
    positions[0] = Vec3::NAN;
    positions[24] = Vec3::INFINITY;
    item.positions = Arc::new(positions);
    let moment = moment(vec![item]);
    let picture = drawn(&moment, &looks(&moment, "standard"), &front());
    assert!(seen(&picture, &front(), Vec3::ZERO)[0] > 100);
    assert_eq!(seen(&picture, &front(), Vec3::new(-0.45, 0.45, 0.0)), [0, 0, 0, 255]);
}

#[test]
fn what_is_behind_the_eye_is_not_seen() {
    let behind = moment(vec![screen()]);
    // A floor that goes on below and behind the camera, in two triangles.
    let moment = moment(vec![cloth(1, |x, z| Vec3::new(1000.0 * x, -0.5, 1000.0 * z))]);
    let looks = looks(&moment, "standard");
    let picture = drawn(&moment, &looks, &front());
    // The horizon is in the middle of a level camera.
    assert_eq!(picture.pixel(80, 57).unwrap(), [0, 0, 0, 255]);
    assert!(picture.pixel(80, 63).unwrap()[0] > 60 && picture.pixel(3, 119).unwrap()[0] > 60);
    let away = Camera { target: Vec3::Z * 50.0, yaw: std::f32::consts::PI, distance: 40.0, ..front() };
    assert!(drawn(&behind, &looks, &away).rgba.chunks_exact(4).all(|p| p == [0, 0, 0, 255]));
}

#[test]
fn any_scale_gives_the_same_picture() {
    let picture = |scale: f32| {
        let moment =
            moment(vec![cloth(6, move |x, z| Vec3::new(x, 0.2 * (5.0 * x).sin() - z, 0.1 * x) * scale)]);
        let camera = Camera { distance: 3.0 * scale, ..front() };
        drawn(&moment, &looks(&moment, "standard"), &camera)
    };
    let metre = picture(1.0);
    for scale in [0.05, 3e4] {
        let other = picture(scale);
        let differ = metre.rgba.iter().zip(&other.rgba).filter(|(a, b)| a.abs_diff(**b) > 3).count();
        // Corners are rounded to 1/256 pixel: a few samples on edges may differ.
        assert!(differ < metre.rgba.len() / 200, "{scale}: {differ}");
    }
}

fn any_number() -> impl Strategy<Value = f32> {
    prop_oneof![
        8 => -2.0f32..2.0,
        1 => -1e7f32..1e7,
        1 => prop::sample::select(vec![f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 1e-40, 0.0]),
    ]
}

fn any_point() -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(any_number()).prop_map(Vec3::from)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_can_fail(
        points in prop::collection::vec(any_point(), 9),
        rope_points in prop::collection::vec(any_point(), 0..6),
        columns in prop::array::uniform4(prop::array::uniform4(any_number())),
        camera in (any_point(), any_number(), any_number(), any_number(), any_number()),
        style in prop::sample::select(STYLES.to_vec()),
        light in any_point(),
        size in (0u32..24, 0u32..24),
    ) {
        let mut item = cloth(2, |_, _| Vec3::ZERO);
        item.positions = Arc::new(points.clone());
        let transform = Mat4::from_cols(
            Vec4::from(columns[0]), Vec4::from(columns[1]), Vec4::from(columns[2]), Vec4::from(columns[3]),
        );
        let ball = collider(&Primitive::Sphere { radius: 0.4 }, transform);
        let moment = moment(vec![item, rope(rope_points, 0.1), ball]);
        let mut looks = looks(&moment, style);
        looks.bodies[0].range = Some([light.x, light.y]);
        looks.bodies[0].texture = Some(Arc::new(Picture::new(3, 5, [90; 4])));
        looks.view = View { light: light.to_array().map(f64::from), ..View::default() };
        let (target, yaw, pitch, distance, field_of_view) = camera;
        let camera = Camera { target, yaw, pitch, distance, field_of_view };
        let marks = Marks {
            lines: vec![Line { from: points[0], to: points[1], colour: [1.0; 4], width: light.z, on_top: false }],
            points: vec![Marker { at: points[2], colour: [1.0; 4], size: light.x, on_top: true }],
        };
        let styles = StyleSheet::built_in();
        let picture = draw(&moment, &looks, &marks, &styles, &camera, size);
        prop_assert!(picture.check().is_ok());
        item_ids(&moment, &looks, &styles, &camera, size);
    }
}

#[test]
fn a_graphics_driver_draws_the_same() {
    // On machines without one there is nothing to compare with.
    let mut gpu = match Artist::new(WhichRenderer::Gpu) {
        Ok(gpu) => gpu,
        Err(error) if std::env::var_os("SOUPLE_NEED_GPU").is_some() => panic!("{error}"),
        Err(_) => return,
    };
    let mut cpu = Artist::new(WhichRenderer::Cpu).unwrap();
    let (moment, mut looks, camera) = busy();
    let mut image = Picture::new(64, 64, [240, 220, 90, 255]);
    image.paste(&Picture::new(32, 64, [90, 160, 240, 255]), 0, 0);
    looks.bodies[0].texture = Some(Arc::new(image));
    let line = |x: f32, on_top: bool| {
        let [from, to] = [Vec3::new(x, -0.4, 0.6), Vec3::new(x, 0.5, -0.6)];
        Line { from, to, colour: [0.9, 0.4, 0.0, 0.7], width: 4.0, on_top }
    };
    let at = Vec3::new(0.0, 0.35, 0.0);
    let marks = Marks {
        lines: vec![line(-0.3, false), line(0.3, true)],
        points: vec![Marker { at, colour: [0.1, 0.8, 0.2, 1.0], size: 15.0, on_top: false }],
    };
    let size = (480, 360);
    for style in STYLES {
        looks.set_style(style);
        looks.fit_ranges(&cpu.styles, std::slice::from_ref(&moment));
        let [one, other] =
            [&mut gpu, &mut cpu].map(|a| a.draw(&moment, &looks, &marks, &camera, size).unwrap());
        let mut counts = [0; 256];
        for (a, b) in one.rgba.chunks_exact(4).zip(other.rgba.chunks_exact(4)) {
            let worst = a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
            counts[usize::from(worst)] += 1;
        }
        // Rounding decides about samples on edges; and how a driver draws thin lines is its own affair.
        let pixels = size.0 * size.1;
        let more_than = |n: usize| counts[n + 1..].iter().sum::<u32>();
        let (slight, clear) =
            if style == "wireframe" { (pixels / 100, pixels / 200) } else { (pixels / 500, pixels / 2000) };
        assert!(more_than(2) <= slight, "{style}: {} pixels differ", more_than(2));
        assert!(more_than(16) <= clear, "{style}: {} pixels differ clearly", more_than(16));
    }
}
