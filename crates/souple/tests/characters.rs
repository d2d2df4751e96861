//! Characters in a scene: skins as colliders, colliders and supports on bones, supports on skins, teleports, determinism; `elastic.rs`: elastic layers.

#[path = "characters/elastic.rs"]
mod elastic;

use glam::DVec3;
use souple::math::rotation;
use souple::measure::intersections;
use souple::model::PinCarrier;
use souple::scene::{
    Body, BonePose, Border, Character, Collider, ColliderShape, Follow, Grid, GridPlane, Group, InlineMesh,
    InsertedBone, JointBulge, Key, Motion, PaintedMap, Pin, Placement, PlayedClip, Rig, RigSource, Scene,
    Select, Shape, SkinShape, SkinVolume, Skinning, SolverKind, SphereShape, SubdivideSkin, Time,
};
use souple::skin::generate::{Limb, add_turns, limb};
use souple::{Command, ModelBuilder, Simulation};

/// A bar along x, 1 m long, 1 m above the ground; from 0.5 s on it waves.
fn arm() -> Rig {
    let mut rig =
        limb(&Limb { length: 1.0, radii: [0.08, 0.06], sides: 12, rings: 20, cap_rings: 3, bones: 5 });
    let times: Vec<f64> = (0..=20).map(|k| 0.1 * f64::from(k)).collect();
    add_turns(&mut rig, "wave", 5, &times, |bone, t| {
        let swing = (t - 0.5).max(0.0) * f64::from(bone);
        DVec3::new(0.0, 4.0 * swing, 6.0 * swing)
    });
    rig
}

fn character(rig: Rig) -> Character {
    Character {
        name: "arm".into(),
        rig: RigSource::Inline(rig),
        clips: vec![PlayedClip { name: "wave".into(), repeat: false, ..PlayedClip::default() }],
        position: [-0.5, 1.0, 0.0],
        rotate_deg: [0.0, 0.0, -90.0],
        ..Character::default()
    }
}

fn skin_of(name: &str) -> Collider {
    Collider {
        name: "skin".into(),
        shape: ColliderShape::Skin(SkinShape { character: name.into(), meshes: None }),
        friction: 0.6,
        ..Collider::default()
    }
}

fn cloth(height: f64) -> Body {
    Body {
        name: "cloth".into(),
        shape: Shape::Grid(Grid {
            size: [0.6, 0.6],
            vertices: [21, 21],
            plane: GridPlane::Xz,
            ..Grid::default()
        }),
        placement: Placement { translate: [-0.3, height, -0.3], ..Placement::default() },
        fabric: Some("cotton".into()),
        skin: 0.01,
        contact: Some(Default::default()),
        ..Body::default()
    }
}

fn scene(solver: SolverKind) -> Scene {
    Scene {
        time: Time { fps: 60.0, frames: 120 },
        groups: vec![Group { solver, ..Group::default() }],
        bodies: vec![cloth(1.15)],
        characters: vec![character(arm())],
        colliders: vec![skin_of("arm")],
        ..Scene::default()
    }
}

fn simulate(scene: &Scene) -> Simulation {
    Simulation::new(ModelBuilder::new(scene).build().unwrap_or_else(|e| panic!("{e}: {}", e.help)))
}

#[test]
fn a_cloth_stays_on_an_arm_that_waves() {
    for solver in [SolverKind::Xpbd, SolverKind::ImplicitEulerCg] {
        let scene = scene(solver);
        let mut s = simulate(&scene);
        for _ in 0..110 {
            s.step();
        }
        assert!(s.warnings().is_empty(), "{solver:?}: {:?}", s.warnings());
        let x = &s.state().bodies[0].x;
        let highest = x.iter().fold(f64::NEG_INFINITY, |h, x| h.max(x.y));
        assert!(highest > 1.0, "{solver:?}: it fell off: {highest}");
        let crossings = intersections::in_scene(s.model(), s.state()).len();
        assert_eq!(crossings, 0, "{solver:?}");
        // The arm has moved, by its clip.
        let (start, now) = (&s.model().colliders[0].form.mesh().unwrap().positions, s.skin_places(0));
        let moved = start.iter().zip(&now).fold(0.0, |way: f64, (a, b)| way.max(a.distance(*b)));
        assert!(moved > 0.2, "{moved}");
    }
}

/// A skin that does not bend is the mesh with the same script: the same mechanism, and the same cloth.
#[test]
fn a_skin_that_moves_as_one_is_a_scripted_mesh() {
    let key =
        |t: f64, y: f64, turn: f64| Key { t, translate: [0.0, y, 0.1 * t], rotate_deg: [0.0, turn, 0.0] };
    let motion = Motion { keys: vec![key(0.0, 0.0, 0.0), key(1.0, 0.2, 60.0)], ..Motion::default() };
    let mut as_skin = scene(SolverKind::Xpbd);
    as_skin.characters[0] = Character {
        clips: vec![],
        skinning: Skinning::Rigid,
        motion: Some(motion.clone()),
        ..as_skin.characters[0].clone()
    };
    let mut as_mesh = as_skin.clone();
    let RigSource::Inline(rig) = &as_skin.characters[0].rig else { unreachable!() };
    let Character { position, rotate_deg, .. } = as_skin.characters[0];
    as_mesh.colliders[0] = Collider {
        shape: ColliderShape::Mesh(InlineMesh {
            positions: rig.meshes[0].positions.clone(),
            triangles: rig.meshes[0].triangles.clone(),
            ..InlineMesh::default()
        }),
        position,
        rotate_deg,
        motion: Some(motion),
        ..as_mesh.colliders[0].clone()
    };
    as_mesh.characters.clear();
    let [mut a, mut b] = [&as_skin, &as_mesh].map(simulate);
    for step in 0..90 {
        a.step();
        b.step();
        let furthest = (a.state().bodies[0].x.iter().zip(&b.state().bodies[0].x))
            .fold(0.0, |m: f64, (a, b)| m.max(a.distance(*b)));
        assert!(furthest < 1e-3, "step {step}: {furthest}");
    }
    assert!((a.collider_pose(0).translation - b.collider_pose(0).translation).length() < 1e-9);
}

#[test]
fn the_same_bits_for_any_number_of_threads_and_after_a_restore() {
    let scene = scene(SolverKind::Xpbd);
    let run = |threads: usize| {
        let mut s = simulate(&scene).with_threads(threads).unwrap();
        for _ in 0..60 {
            s.step();
        }
        let (hash, half) = (s.state_hash(), s.snapshot());
        for _ in 0..20 {
            s.step();
        }
        (hash, half, s.state_hash())
    };
    let one = run(1);
    for threads in [2, 3, 8] {
        assert_eq!(run(threads), one, "{threads} threads");
    }
    let mut restored = simulate(&scene);
    restored.restore(&one.1).unwrap();
    for _ in 0..20 {
        restored.step();
    }
    assert_eq!(restored.state_hash(), one.2);
}

#[test]
fn colliders_and_supports_go_along_with_their_bone() {
    let follow = |bone: Option<&str>| {
        Some(Follow { character: "arm".into(), bone: bone.map(str::to_owned), ..Follow::default() })
    };
    let mut scene = scene(SolverKind::Xpbd);
    scene.colliders = vec![Collider {
        name: "ball".into(),
        shape: ColliderShape::Sphere(SphereShape { radius: 0.1 }),
        position: [0.6, 1.0, 0.0],
        follow: follow(Some("bone4")),
        ..Collider::default()
    }];
    let pin = |name: &str, border, bone: Option<&str>| Pin {
        name: name.into(),
        select: Select::Border(border),
        follow: follow(bone),
        ..Pin::default()
    };
    scene.bodies[0].pins = vec![pin("left", Border::U0, Some("bone1")), pin("right", Border::U1, None)];
    let mut s = simulate(&scene);
    let rest = s.state().bodies[0].x.clone();
    for _ in 0..90 {
        s.step();
    }
    let posed = &s.control().characters[1].characters[0];
    let start = souple::skin::Posed::at(&s.model().characters, 0.0);
    let carry = |node: u32, x: DVec3| posed.bone(node).apply(start.characters[0].bone(node).apply_inverse(x));
    let ball = s.collider_pose(0).translation;
    assert!(ball.distance(carry(4, DVec3::new(0.6, 1.0, 0.0))) < 1e-9);
    assert!(ball.distance(DVec3::new(0.6, 1.0, 0.0)) > 0.05, "it has moved: {ball}");
    let body = &s.state().bodies[0];
    for &v in &s.model().bodies[0].pins[0].vertices {
        let v = v as usize;
        assert!(body.x[v].distance(carry(1, rest[v])) < 1e-9);
    }
    // Those on the skin keep their place beside its triangles.
    let set = &s.model().bodies[0].pins[1];
    let PinCarrier::Skin { points, .. } = &set.carrier else { panic!("{:?}", set.carrier) };
    for (&v, point) in set.vertices.iter().zip(points) {
        let at = |posed| point.place(&s.model().characters[0], posed);
        assert!(at(&start.characters[0]).distance(rest[v as usize]) < 1e-9);
        assert!(at(posed).distance(body.x[v as usize]) < 1e-9);
        assert!(at(posed).distance(rest[v as usize]) > 0.01, "it has moved");
    }
    assert!(s.warnings().is_empty(), "{:?}", s.warnings());
}

/// SIM-04: a character that is thrown 10 m in a frame and turned round; its cape is taken along as it hangs.
#[test]
fn a_cape_survives_a_character_that_teleports() {
    for solver in [SolverKind::Xpbd, SolverKind::ImplicitEulerCg] {
        let mut scene = scene(solver);
        scene.bodies = vec![Body {
            shape: Shape::Grid(Grid {
                size: [0.6, 0.5],
                vertices: [19, 16],
                plane: GridPlane::Xy,
                ..Grid::default()
            }),
            placement: Placement { translate: [-0.3, 1.02, -0.12], ..Placement::default() },
            pins: vec![Pin {
                name: "collar".into(),
                select: Select::Border(Border::V0),
                follow: Some(Follow { character: "arm".into(), ..Follow::default() }),
                ..Pin::default()
            }],
            ..cloth(0.0)
        }];
        let key =
            |t: f64, x: f64, turn: f64| Key { t, translate: [x, 0.0, 0.0], rotate_deg: [0.0, turn, 0.0] };
        let keys = vec![key(0.0, 0.0, 0.0), key(0.5, 0.0, 0.0), key(0.5 + 1.0 / 60.0, 10.0, 180.0)];
        scene.characters[0].motion = Some(Motion { keys, pivot: Some([0.0; 3]), ..Motion::default() });
        scene.characters[0].clips.clear();
        let mut stays = scene.clone();
        stays.characters[0].motion = None;
        let [mut s, mut still] = [&scene, &stays].map(simulate);
        for frame in 0..60 {
            // Just before it is thrown: gone back to, the same run does the same.
            let before = (frame == 30).then(|| s.snapshot());
            s.step();
            still.step();
            if let Some(before) = before {
                let hash = s.state().hash();
                s.restore(&before).expect("its own snapshot");
                s.step();
                assert_eq!(s.state().hash(), hash, "{solver:?}");
            }
        }
        assert!(s.warnings().is_empty(), "{solver:?}: {:?}", s.warnings());
        // As if it had always been there; contact and solvers count from other places.
        let [moved, stayed] = [&s, &still].map(|s| &s.state().bodies[0].x);
        let there = |x: &DVec3| DVec3::new(10.0 - x.x, x.y, -x.z);
        let furthest = moved.iter().zip(stayed).fold(0.0, |m: f64, (a, b)| m.max(a.distance(there(b))));
        assert!(furthest < 0.02, "{solver:?}: {furthest}");
    }
}

/// Cloth that lies on it, and does not hang on it, falls where it was.
#[test]
fn a_character_that_teleports_leaves_what_lies_on_it() {
    let mut scene = scene(SolverKind::Xpbd);
    let key = |t: f64, x: f64| Key { t, translate: [x, 0.0, 0.0], rotate_deg: [0.0; 3] };
    let keys = vec![key(0.0, 0.0), key(0.5, 0.0), key(0.5 + 1.0 / 60.0, 10.0)];
    scene.characters[0].motion = Some(Motion { keys, ..Motion::default() });
    scene.characters[0].clips.clear();
    let mut s = simulate(&scene);
    for _ in 0..60 {
        s.step();
    }
    assert!(s.warnings().is_empty(), "{:?}", s.warnings());
    let (low, high) = souple::mesh::bounds(&s.state().bodies[0].x);
    assert!(low.x > -1.0 && high.x < 1.0 && high.y < 1.0, "it fell where it was: {low} {high}");
    assert!((s.collider_pose(0).translation.x - 9.5).abs() < 1e-9);
}

#[test]
fn a_clip_or_bone_that_is_not_there_is_named() {
    let refused = |change: &dyn Fn(&mut Scene)| {
        let mut scene = scene(SolverKind::Xpbd);
        change(&mut scene);
        let error = ModelBuilder::new(&scene).build().unwrap_err();
        format!("{error}; {}", error.help)
    };
    let follow = |character: &str, bone: Option<&str>| {
        Some(Follow { character: character.into(), bone: bone.map(str::to_owned), ..Follow::default() })
    };
    let cases: [(&dyn Fn(&mut Scene), &str); 9] = [
        (&|s| s.characters[0].clips[0].name = "Run".into(), "there is no clip 'Run'; it has: 'wave'"),
        (&|s| s.characters[0].clips[0].weight = 0.0, "no clip has a weight"),
        (&|s| s.characters[0].scale = 0.0, "character[0].scale"),
        (&|s| s.colliders[0] = skin_of("dog"), "there is no character 'dog'; known characters: arm"),
        (&|s| s.colliders[0].position[0] = 1.0, "a skin is where its character is"),
        (&|s| s.colliders[0].motion = Some(Motion::default()), "collider[0].motion"),
        (
            &|s| {
                s.colliders[0].shape = ColliderShape::Sphere(SphereShape { radius: 0.1 });
                s.colliders[0].follow = follow("arm", Some("hand"));
            },
            "'arm' has no bone or node 'hand'; it has: bone0, bone1",
        ),
        (
            &|s| {
                s.colliders[0].shape = ColliderShape::Sphere(SphereShape { radius: 0.1 });
                s.colliders[0].follow = follow("arm", None);
            },
            "a collider follows a bone",
        ),
        (
            &|s| {
                s.colliders[0].shape = ColliderShape::Skin(SkinShape {
                    character: "arm".into(),
                    meshes: Some(vec!["hat".into()]),
                })
            },
            "'arm' has no mesh 'hat'; it has: limb",
        ),
    ];
    for (change, expected) in cases {
        let found = refused(change);
        assert!(found.contains(expected), "{expected}: {found}");
    }
    // By number, too.
    let mut by_number = scene(SolverKind::Xpbd);
    by_number.characters[0].clips[0].name = "0".into();
    assert!(ModelBuilder::new(&by_number).build().is_ok());
}

#[test]
fn a_wrong_number_of_a_kept_volume_is_named() {
    let refused = |change: &dyn Fn(&mut SkinVolume)| {
        let mut scene = scene(SolverKind::Xpbd);
        let mut volume = SkinVolume { joints: vec![JointBulge::default()], ..SkinVolume::default() };
        change(&mut volume);
        scene.characters[0].volume = Some(volume);
        ModelBuilder::new(&scene).build().map_err(|error| format!("{error}; {}", error.help)).err()
    };
    assert_eq!(refused(&|_| ()), None);
    let fine = |levels: u32, size: f64| Some(SubdivideSkin { levels, size, ..SubdivideSkin::default() });
    let cases: [(&dyn Fn(&mut SkinVolume), &str); 15] = [
        (&|v| v.target = 0.0, "character[0].volume.target"),
        (&|v| v.gain = -1.0, "character[0].volume.gain"),
        (
            &|v| v.joints[0].bones = vec!["tail".into()],
            "no bone 'tail' that moves a skin; it has: bone0, bone1",
        ),
        (
            &|v| v.joints.push(JointBulge::default()),
            "character[0].volume.joint[1].bones: another entry before",
        ),
        (&|v| v.joints[0].width = Some(0.0), "joint[0].width"),
        (&|v| v.joints[0].folds = f64::NAN, "joint[0].folds"),
        (&|v| v.joints[0].offset = Some(f64::INFINITY), "joint[0].offset"),
        (&|v| v.joints[0].axes = Some([0.0; 3]), "the skin can go nowhere"),
        (&|v| v.joints[0].axes = Some([1.0, -1.0, 0.0]), "joint[0].axes"),
        (
            &|v| v.joints[0].profile_x = vec![[0.0, 1.0], [0.0, 2.0]],
            "joint[0].profile_x: places do not ascend",
        ),
        (&|v| v.joints[0].profile_z = vec![[0.0, -1.0]], "joint[0].profile_z"),
        (&|v| v.joints[0].map = Some("soft".into()), "joint[0].map: there is no map 'soft'"),
        (&|v| v.area_rounds = 1000, "character[0].volume.area_rounds"),
        (&|v| v.subdivide = fine(60, 0.0), "character[0].volume.subdivide.levels"),
        (&|v| v.subdivide = fine(1, f64::NAN), "character[0].volume.subdivide.size"),
    ];
    for (change, expected) in cases {
        let found = refused(change).unwrap_or_default();
        assert!(found.contains(expected), "{expected}: {found}");
    }
    let mut rigid = scene(SolverKind::Xpbd);
    rigid.characters[0].skinning = Skinning::Rigid;
    rigid.characters[0].volume = Some(SkinVolume::default());
    let error = ModelBuilder::new(&rigid).build().unwrap_err();
    assert!(error.to_string().contains("character[0].volume"), "{error}");
}

/// Maps go along with triangles that are cut, and a bone that cannot be put in is named.
#[test]
fn skins_are_cut_finer_with_their_maps_and_get_bones() {
    let mut finer = scene(SolverKind::Xpbd);
    let count = arm().meshes[0].positions.len();
    finer.characters[0].maps = vec![PaintedMap { name: "soft".into(), mesh: None, values: vec![0.5; count] }];
    finer.characters[0].inserted =
        vec![InsertedBone { name: "more".into(), on: "bone0".into(), ..InsertedBone::default() }];
    finer.characters[0].volume =
        Some(SkinVolume { subdivide: Some(SubdivideSkin::default()), ..SkinVolume::default() });
    let model = ModelBuilder::new(&finer).build().unwrap();
    let character = &model.characters[0];
    let now = character.rig.meshes[0].mesh.positions.len();
    assert!(now > count);
    assert_eq!(character.maps[0].values[0], vec![0.5; now]);
    assert!(character.rig.skeleton.names.contains(&"more".into()));
    finer.characters[0].inserted[0].on = "nobody".into();
    let error = ModelBuilder::new(&finer).build().unwrap_err();
    assert!(
        error.to_string().contains("character[0].insert_bone[0]") && error.help.contains("bone0"),
        "{error}"
    );
}

#[test]
fn painted_maps_are_checked_and_kept_by_mesh() {
    let mut two = arm();
    let mut hat = two.meshes[0].clone();
    hat.name = "hat".into();
    two.meshes.push(hat);
    let count = two.meshes[0].positions.len();
    let build = |maps: Vec<PaintedMap>| {
        let mut scene = scene(SolverKind::Xpbd);
        scene.characters[0].rig = RigSource::Inline(two.clone());
        scene.characters[0].maps = maps;
        ModelBuilder::new(&scene).build().map_err(|error| format!("{error}; {}", error.help))
    };
    let values: Vec<f64> = (0..2 * count).map(|v| v as f64 / (2 * count) as f64).collect();
    let both = PaintedMap { name: "both".into(), mesh: None, values: values.clone() };
    let hat = PaintedMap { name: "hat".into(), mesh: Some("hat".into()), values: values[count..].to_vec() };
    let model = build(vec![both.clone(), hat.clone()]).unwrap();
    let [a, b] = &model.characters[0].maps[..] else { panic!("two maps") };
    assert_eq!((a.at(0, 3), a.at(1, 3)), (values[3], values[count + 3]));
    assert_eq!((b.at(0, 3), b.at(1, 3)), (0.0, values[count + 3]));
    assert_ne!(model.fingerprint, build(vec![both.clone()]).unwrap().fingerprint);
    type Change<'a> = &'a dyn Fn(&mut PaintedMap);
    let cases: [(Change, &str); 7] = [
        (&|m| m.name = String::new(), "character[0].map[1].name: a map needs a name"),
        (&|m| m.name = "both".into(), "another map of this character is called 'both'"),
        (&|m| m.mesh = Some("shoe".into()), "map[1].mesh: the rig has no mesh 'shoe'; it has: limb, hat"),
        (&|m| m.mesh = None, "map[1].values: "),
        (&|m| m.values[5] = 1.5, "map[1].values[5]: a map goes from 0 to 1, not to 1.5"),
        (&|m| m.values[6] = f64::NAN, "map[1].values[6]"),
        (&|m| m.values.clear(), "0 values for"),
    ];
    for (change, expected) in cases {
        let mut wrong = hat.clone();
        change(&mut wrong);
        let found = build(vec![both.clone(), wrong]).err().unwrap_or_default();
        assert!(found.contains(expected), "{expected}: {found}");
    }
}

/// What cloth runs into, and what is drawn, is the skin with its volume.
#[test]
fn a_collider_keeps_the_volume_of_its_skin() {
    let volume = |kept: bool, t: f64| {
        let mut scene = scene(SolverKind::Xpbd);
        scene.characters[0].volume = kept.then(SkinVolume::default);
        let s = simulate(&scene);
        let (model, mut places) = (s.model(), Vec::new());
        let posed = souple::skin::Posed::at(&model.characters, t);
        model.colliders[0].skin_places(&model.characters, &posed, &mut places);
        let mesh = model.colliders[0].form.mesh().unwrap();
        souple::mesh::enclosed_volume(&places, &mesh.triangles)
    };
    let rest = volume(false, 0.0);
    assert_eq!(volume(true, 0.0), rest, "a straight arm");
    assert!((volume(false, 2.0) / rest - 1.0).abs() > 1e-3, "{}", volume(false, 2.0) / rest);
    assert!((volume(true, 2.0) / rest - 1.0).abs() < 1e-12);
}

/// Vertices at one place that hang on different bones stay apart, those that hang on the same become one.
#[test]
fn seams_are_welded_only_where_they_move_alike() {
    let count = |weights_differ: bool| {
        let mut rig = arm();
        let mesh = &mut rig.meshes[0];
        // A copy of the first ring, used by the first band's upper triangles.
        let n = mesh.positions.len() as u32;
        let ring: Vec<usize> = (0..12).map(|k| 24 + k).collect();
        for &v in &ring {
            mesh.positions.push(mesh.positions[v]);
            mesh.uvs.push([0.5, 0.5]);
            let joints = [mesh.joints[2 * v], mesh.joints[2 * v + 1]];
            mesh.joints.extend(if weights_differ { [2, 3] } else { joints });
            let weights = [mesh.weights[2 * v], mesh.weights[2 * v + 1]];
            mesh.weights.extend(weights);
        }
        for triangle in &mut mesh.triangles {
            let is_above = triangle.iter().all(|&v| (24..48).contains(&v));
            if is_above {
                triangle.iter_mut().filter(|v| **v < 36).for_each(|v| *v = *v - 24 + n);
            }
        }
        let mut scene = scene(SolverKind::Xpbd);
        scene.characters[0].rig = RigSource::Inline(rig);
        let model = ModelBuilder::new(&scene).build().unwrap();
        let mesh = model.colliders[0].form.mesh().unwrap();
        (mesh.positions.len() as u32 - n, mesh.closed)
    };
    assert_eq!(count(false), (0, true));
    assert_eq!(count(true), (12, false));
}

#[test]
fn a_turn_of_the_whole_is_a_turn_of_all() {
    let mut scene = scene(SolverKind::Xpbd);
    scene.characters[0].rotate_deg = [0.0, 90.0, 0.0];
    let s = simulate(&scene);
    let pose = s.collider_pose(0);
    assert!(pose.rotate(DVec3::X).distance(rotation(DVec3::Y * 90.0) * DVec3::X) < 1e-12);
}

fn turn(bone: &str, rotate_deg: [f64; 3], by: [f64; 3]) -> Command {
    Command::MoveBone { character: "arm".into(), bone: bone.into(), by, rotate_deg }
}

/// A hand turns a bone about its joint, in axes of the world, whatever clips do, and what it carries goes along; it goes there over a step.
#[test]
fn a_hand_turns_bones_on_top_of_clips() {
    let mut scene = scene(SolverKind::Xpbd);
    scene.bodies.clear();
    scene.characters[0].volume = Some(SkinVolume::default());
    let (mut plain, mut posed) = (simulate(&scene), simulate(&scene));
    for _ in 0..45 {
        plain.step();
        posed.step();
    }
    let at = |s: &Simulation, node: u32| s.posed().characters[0].bone(node);
    let before = at(&posed, 4);
    posed.command(turn("bone2", [0.0, 0.0, 40.0], [0.0; 3])).unwrap();
    posed.command(turn("bone2", [0.0, 30.0, 0.0], [0.0; 3])).unwrap();
    plain.step();
    posed.step();
    // From where the last step left it to there.
    assert_eq!(posed.control().characters[0].characters[0].bone(4), before);
    let turned = rotation(DVec3::Y * 30.0) * rotation(DVec3::Z * 40.0);
    let joint = at(&plain, 2).translation;
    assert!(at(&posed, 2).translation.distance(joint) < 1e-12, "about its joint");
    // The frame that carries it has gone on in the step: its own turn of a sixtieth of a second is all that is left.
    for node in 2..5u32 {
        let wanted = joint + turned * (at(&plain, node).translation - joint);
        assert!(at(&posed, node).translation.distance(wanted) < 0.01, "{node}");
    }
    let volume = posed.posed().characters[0].volume.unwrap();
    assert!((volume.kept / volume.rest - 1.0).abs() < 1e-12 && volume.skinned < volume.rest);
    // A shift of a joint by 5 cm.
    let here = at(&posed, 3).translation;
    posed.command(turn("bone3", [0.0; 3], [0.0, 0.05, 0.0])).unwrap();
    posed.step();
    assert!((at(&posed, 3).translation - here).distance(DVec3::Y * 0.05) < 0.01);
}

#[test]
fn turned_bones_are_saved_adopted_and_refused_by_name() {
    let scene = scene(SolverKind::Xpbd);
    let mut one = simulate(&scene);
    one.command(turn("bone3", [10.0, 0.0, 60.0], [0.0, 0.02, 0.0])).unwrap();
    (0..10).for_each(|_| one.step());
    let mut two = simulate(&scene);
    two.restore(&one.snapshot()).unwrap();
    assert_eq!((two.state(), two.skin_places(0)), (one.state(), one.skin_places(0)));
    (0..10).for_each(|_| {
        one.step();
        two.step();
    });
    assert_eq!(one.state_hash(), two.state_hash());
    assert_ne!(one.state_hash(), {
        let mut plain = simulate(&scene);
        (0..20).for_each(|_| plain.step());
        plain.state_hash()
    });
    // Under another model bones are known by their names.
    let mut finer = scene.clone();
    finer.characters[0].inserted =
        vec![InsertedBone { name: "more".into(), on: "bone0".into(), ..InsertedBone::default() }];
    let tip = one.posed().characters[0].bone(4).translation;
    one.adopt(ModelBuilder::new(&finer).build().unwrap()).unwrap();
    let names = &one.model().characters[0].rig.skeleton.names;
    let last = names.iter().position(|name| name == "bone4").unwrap() as u32;
    assert!(one.posed().characters[0].bone(last).translation.distance(tip) < 1e-9);
    for (command, reason) in [
        (turn("nobody", [0.0; 3], [0.0; 3]), "no bone 'nobody'"),
        (turn("bone1", [f64::NAN, 0.0, 0.0], [0.0; 3]), "rotation"),
        (turn("bone1", [0.0; 3], [f64::INFINITY, 0.0, 0.0]), "move"),
    ] {
        let error = two.command(command).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    let stranger = Command::MoveBone {
        character: "leg".into(),
        bone: "bone1".into(),
        by: [0.0; 3],
        rotate_deg: [0.0; 3],
    };
    assert!(two.command(stranger).unwrap_err().to_string().contains("no character 'leg'"));
}

/// A scene keeps a pose as a hand left it: the same places at its start and at any time, and everything that follows the skin begins there.
#[test]
fn a_pose_of_the_scene_stands_as_a_hand_left_it() {
    let mut scene = scene(SolverKind::Xpbd);
    scene.bodies.clear();
    scene.characters[0].clips.clear();
    let pose = BonePose { bone: "bone2".into(), rotate_deg: [10.0, -20.0, 40.0], shift: [0.01, 0.02, 0.03] };
    let mut by_hand = simulate(&scene);
    let carrier = by_hand.posed().characters[0].carrier(&by_hand.model().characters[0], 2);
    // A command is in axes of the world, a pose in those of the frame that carries the bone.
    let turned = carrier.rotation * DVec3::from(pose.rotate_deg);
    let by = carrier.rotation * DVec3::from(pose.shift) * scene.characters[0].scale;
    by_hand.command(turn("bone2", turned.to_array(), by.to_array())).unwrap();
    by_hand.step();
    let mut kept = scene.clone();
    kept.characters[0].poses = vec![pose.clone()];
    let posed = simulate(&kept);
    let most = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    let moved = most(&posed.skin_places(0), &simulate(&scene).skin_places(0));
    assert!(moved > 0.05, "{moved}");
    assert!(most(&posed.skin_places(0), &by_hand.skin_places(0)) < 1e-9);
    // Kept while it runs: what the hand did is part of the model, and nothing moves. Taken back, the bone is where the scene had it.
    let before = by_hand.skin_places(0);
    by_hand.adopt(ModelBuilder::new(&kept).build().unwrap()).unwrap();
    assert!(by_hand.state().bone_turns.is_empty());
    assert!(most(&by_hand.skin_places(0), &before) < 1e-9);
    by_hand.adopt(ModelBuilder::new(&scene).build().unwrap()).unwrap();
    by_hand.step();
    assert!(most(&by_hand.skin_places(0), &simulate(&scene).skin_places(0)) < 1e-9);
    // A hand that holds another bone is not disturbed.
    by_hand.command(turn("bone1", [0.0, 0.0, 10.0], [0.0; 3])).unwrap();
    by_hand.step();
    by_hand.adopt(ModelBuilder::new(&kept).build().unwrap()).unwrap();
    assert_eq!(by_hand.state().bone_turns.len(), 1);
    let wrong = |poses: Vec<BonePose>| {
        let mut wrong = scene.clone();
        wrong.characters[0].poses = poses;
        ModelBuilder::new(&wrong).build().unwrap_err().to_string()
    };
    let nobody = wrong(vec![BonePose { bone: "nobody".into(), ..pose.clone() }]);
    assert!(
        nobody.contains("character[0].pose[0].bone") && nobody.contains("no bone or node 'nobody'"),
        "{nobody}"
    );
    assert!(wrong(vec![pose.clone(), pose.clone()]).contains("posed twice"));
    assert!(wrong(vec![BonePose { shift: [f64::NAN, 0.0, 0.0], ..pose }]).contains("pose[0].shift"));
}

/// Weights that a mesh does not have are found, and that is told unless it was asked for.
#[test]
fn weights_that_are_found_unasked_are_told() {
    let mut scene = scene(SolverKind::Xpbd);
    scene.bodies.clear();
    let mut rig = arm();
    let mesh = &mut rig.meshes[0];
    (mesh.influences, mesh.joints, mesh.weights) = (0, Vec::new(), Vec::new());
    let count = mesh.positions.len();
    scene.characters[0].rig = RigSource::Inline(rig);
    let told = |scene: &Scene| {
        let model = ModelBuilder::new(scene).build().unwrap();
        assert_eq!(model.characters[0].rig.repairs.unweighted_vertices, 0);
        souple::check::lint_rig(0, &model.characters[0])
            .iter()
            .map(|lint| lint.message.clone())
            .collect::<Vec<_>>()
    };
    let messages = told(&scene);
    assert!(
        messages.len() == 1
            && messages[0].contains(&format!("{count} vertices are of meshes without any weight")),
        "{messages:?}"
    );
    scene.characters[0].weights = Some(Default::default());
    assert!(told(&scene).is_empty());
}
