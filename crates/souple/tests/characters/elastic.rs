//! Elastic layers: particles of a skin, what holds them, dials at any frame rate, teleports and violent motion, the skin that is shown.

use super::*;
use souple::WarningKind;
use souple::scene::{
    ChannelTarget, ColourChannel, Elastic, ElasticDial, ElasticPaint, Goals, PaintBall, PaintPicture,
    PaintSource, PlaneShape, Region, RigChannel, RigClip,
};
use souple::skin::Layer;

const SOLVERS: [SolverKind; 2] = [SolverKind::Goals, SolverKind::Xpbd];

/// Paint at the end of the arm, beyond 0.2 m.
fn end() -> PaintSource {
    PaintSource::Select(Select::Within(Region { min: [0.2, 0.0, -1.0], max: [2.0, 2.0, 1.0] }))
}

fn paint(dial: ElasticDial, to: f64, with: PaintSource) -> ElasticPaint {
    ElasticPaint { dial, to, with }
}

/// The arm, at rest, with a soft end.
fn soft(solver: SolverKind, elastic: Elastic) -> Scene {
    Scene {
        time: Time { fps: 60.0, frames: 120 },
        groups: vec![Group { solver, ..Group::default() }],
        bodies: vec![Body {
            name: "end".into(),
            shape: Shape::Skin(SkinShape { character: "arm".into(), meshes: None }),
            elastic: Some(elastic),
            ..Body::default()
        }],
        characters: vec![Character { clips: Vec::new(), ..character(arm()) }],
        ..Scene::default()
    }
}

fn attached(to: f64) -> Elastic {
    Elastic { paints: vec![paint(ElasticDial::Attachment, to, end())], ..Elastic::default() }
}

fn layer(s: &Simulation) -> &Layer {
    s.model().bodies[0].layer.as_ref().unwrap()
}

/// The furthest that a particle is from where the skin has it.
fn furthest(s: &Simulation) -> f64 {
    let rides = &s.control().rides[0];
    let x = &s.state().bodies[0].x;
    (0..x.len()).fold(0.0, |most: f64, p| most.max(x[p].distance(rides.at(p, 1.0))))
}

#[test]
fn what_is_not_fixed_becomes_particles_with_a_fixed_rim() {
    let s = simulate(&soft(SolverKind::Goals, attached(0.5)));
    let (body, model) = (&s.state().bodies[0], &s.model().bodies[0]);
    let places = souple::skin::Posed::at(&s.model().characters, 0.0);
    let posed = &places.characters[0];
    let mesh = &s.model().characters[0].rig.meshes[0].mesh;
    let soft: Vec<u32> = (0..mesh.positions.len() as u32)
        .filter(|v| posed.pose.apply(posed.vertex(&s.model().characters[0], 0, *v)).x >= 0.2)
        .collect();
    // One to one, and their neighbours.
    assert_eq!(layer(&s).anchors.len(), soft.len());
    let rim = body.pinned.len();
    assert_eq!(rim, 12, "one ring of the arm");
    assert_eq!(body.x.len(), soft.len() + rim);
    assert!(model.pins[0].carrier == PinCarrier::Layer);
    // A spring for each edge that has an end that is not fixed.
    let is_held = |v: u32| body.pinned.iter().any(|pin| pin.vertex == v);
    let free = model.topology.edges.iter().filter(|e| !(is_held(e.i) && is_held(e.j))).count();
    assert_eq!(model.springs().len(), free);
}

#[test]
fn vertices_at_one_place_that_move_alike_are_one_particle() {
    let mut scene = soft(SolverKind::Goals, attached(0.5));
    let whole = simulate(&scene).state().bodies[0].x.len();
    let mut rig = arm();
    let mesh = &mut rig.meshes[0];
    // Each triangle has corners of its own.
    let old = mesh.clone();
    mesh.positions.clear();
    (mesh.uvs, mesh.joints, mesh.weights) = (Vec::new(), Vec::new(), Vec::new());
    for (k, t) in old.triangles.iter().enumerate() {
        for v in t.map(|v| v as usize) {
            mesh.positions.push(old.positions[v]);
            mesh.joints.extend_from_slice(&old.joints[2 * v..2 * v + 2]);
            mesh.weights.extend_from_slice(&old.weights[2 * v..2 * v + 2]);
        }
        mesh.triangles[k] = [0, 1, 2].map(|c| 3 * k as u32 + c);
    }
    scene.characters[0].rig = RigSource::Inline(rig);
    let s = simulate(&scene);
    assert_eq!(s.state().bodies[0].x.len(), whole);
    assert!(layer(&s).worn.len() > 4 * whole);
}

/// A dial is a frequency: at rest an anchor gives way by g/ω² beyond its slack, at any frame rate and by both solvers.
#[test]
fn an_anchor_gives_way_by_its_frequency_at_any_frame_rate() {
    for solver in SOLVERS {
        for fps in [24.0, 60.0, 120.0] {
            let elastic =
                Elastic { stiffness: 0.0, damping: 0.9, amplitude: 0.5, reach: Some(0.02), ..attached(0.5) };
            let mut scene = soft(solver, elastic);
            scene.time.fps = fps;
            let mut s = simulate(&scene);
            for _ in 0..(4.0 * fps) as u32 {
                s.step();
            }
            let sag = 0.5 * 0.02 + 9.81 / souple::math::pow(std::f64::consts::TAU * 4.0, 2.0);
            let rides = &s.control().rides[0];
            for anchor in &layer(&s).anchors {
                let p = anchor.particle as usize;
                let off = s.state().bodies[0].x[p] - rides.at(p, 1.0);
                // The real-time solver computes in 32 bits.
                let error = off.distance(DVec3::NEG_Y * sag);
                assert!(error < 2e-5, "{solver:?} {fps}: {off}, expected {sag}");
            }
        }
    }
}

/// Flesh rests where bones put it: in a pose far from the one it was bound in, where edges of the skin are much longer and shorter, stiff springs do not
/// draw it together. (By lengths of the pose it was bound in, shoulders of characters that are bound with spread arms were angular.)
#[test]
fn a_layer_rests_on_a_skin_that_bones_have_bent() {
    for solver in SOLVERS {
        for stiffness in [0.5, 0.9] {
            let around = PaintSource::Bones(vec!["bone0".into(), "bone1".into(), "bone2".into()]);
            let paints = vec![paint(ElasticDial::Attachment, 0.5, around)];
            let elastic = Elastic { stiffness, weight: 0.0, damping: 0.5, paints, ..Elastic::default() };
            let mut scene = soft(solver, elastic);
            let mut rig = arm();
            let node = rig.nodes.iter().position(|node| node.name == "bone1").unwrap() as u32;
            rig.clips = vec![RigClip {
                name: "bent".into(),
                channels: vec![RigChannel {
                    node,
                    target: ChannelTarget::Rotation,
                    times: vec![0.0],
                    values: rotation(DVec3::Z * 110.0).to_array().to_vec(),
                    ..RigChannel::default()
                }],
            }];
            scene.characters[0] = Character {
                clips: vec![PlayedClip { name: "bent".into(), ..PlayedClip::default() }],
                ..character(rig)
            };
            let mut s = simulate(&scene);
            // The skin itself: edges between what is soft are not as long as where it was bound.
            let body = &s.model().bodies[0];
            let x = &s.state().bodies[0].x;
            let changed = |spring: &souple::mesh::Spring| {
                (x[spring.i as usize].distance(x[spring.j as usize]) / spring.rest_length - 1.0).abs()
            };
            let most = body.springs().iter().map(changed).fold(0.0, f64::max);
            assert!(most > 0.2, "the pose changes no length by more than {most}");
            for _ in 0..60 {
                s.step();
            }
            // The real-time solver computes in 32 bits.
            assert!(furthest(&s) < 1e-5, "{solver:?} {stiffness}: {}", furthest(&s));
        }
    }
}

/// Damping and drag are times: half of a velocity is lost in a tenth of a second, at any frame rate and by both solvers.
#[test]
fn velocity_is_lost_in_a_time_and_not_in_steps() {
    for solver in SOLVERS {
        for fps in [30.0, 60.0, 120.0] {
            for drag in [false, true] {
                let (damping, drag) = if drag { (0.0, 0.5) } else { (0.5, 0.0) };
                let mut scene =
                    soft(solver, Elastic { stiffness: 0.0, damping, drag, weight: 0.0, ..attached(0.0) });
                scene.time.fps = fps;
                scene.bodies[0].velocity = [0.0, 0.0, 1.0];
                let mut s = simulate(&scene);
                for _ in 0..(0.1 * fps) as u32 {
                    s.step();
                }
                let body = &s.state().bodies[0];
                let free = (0..body.x.len()).filter(|v| body.pinned.iter().all(|p| p.vertex as usize != *v));
                for v in free {
                    assert!((body.v[v].z - 0.5).abs() < 1e-5, "{solver:?} {fps}: {}", body.v[v]);
                }
            }
        }
    }
}

/// Without weight, and without motion, a layer is the skin; and goes along with one that moves slowly.
#[test]
fn a_layer_at_rest_is_the_skin() {
    for solver in SOLVERS {
        let mut scene = soft(solver, Elastic { weight: 0.0, ..attached(0.6) });
        let mut s = simulate(&scene);
        for _ in 0..60 {
            s.step();
        }
        assert!(furthest(&s) < 1e-6, "{solver:?}: {}", furthest(&s));
        scene.characters[0].motion =
            Some(Motion { velocity: [0.3, 0.1, 0.0], spin_deg: [0.0, 10.0, 0.0], ..Motion::default() });
        let mut s = simulate(&scene);
        for _ in 0..120 {
            s.step();
        }
        assert!(furthest(&s) < 5e-3, "{solver:?}: {}", furthest(&s));
    }
}

/// SIM-04, 36: thrown 10 m in a frame and turned round, then shaken by most of its size from frame to frame; everything stays finite and near, and comes back.
#[test]
fn a_layer_survives_teleports_and_violent_motion() {
    for solver in SOLVERS {
        for attachment in [0.0, 0.4] {
            let mut scene = soft(solver, Elastic { damping: 0.6, ..attached(attachment) });
            let frame = 1.0 / 60.0;
            let key = |k: f64, x: f64, turn: f64| Key {
                t: k * frame,
                translate: [x, 0.0, 0.0],
                rotate_deg: [0.0, turn, 0.0],
            };
            let mut keys =
                vec![key(0.0, 0.0, 0.0), key(30.0, 0.0, 0.0), key(31.0, 10.0, 180.0), key(60.0, 10.0, 180.0)];
            keys.extend(
                (0..20).map(|k| key(61.0 + f64::from(k), if k % 2 == 0 { 10.8 } else { 10.0 }, 180.0)),
            );
            keys.push(key(82.0, 10.0, 180.0));
            let motion = Motion {
                keys,
                interpolation: souple::scene::Interpolation::Linear,
                pivot: Some([0.0; 3]),
                ..Motion::default()
            };
            scene.characters[0].motion = Some(motion);
            let mut stays = scene.clone();
            stays.characters[0].motion = None;
            let [mut s, mut still] = [&scene, &stays].map(simulate);
            let mut most: f64 = 0.0;
            for step in 0..360 {
                s.step();
                still.step();
                assert!(s.state().bodies[0].x.iter().all(|x| x.is_finite()));
                most = most.max(furthest(&s));
                if (31..60).contains(&step) {
                    // Taken along as it was.
                    assert!(
                        furthest(&s) < furthest(&still) + 0.02,
                        "{solver:?} {attachment} {step}: {}",
                        furthest(&s)
                    );
                }
            }
            let is_ill = |w: &souple::Warning| matches!(w.kind, WarningKind::Frozen { .. });
            assert!(!s.warnings().iter().any(is_ill), "{solver:?} {attachment}: {:?}", s.warnings());
            assert!(most < 2.0, "{solver:?} {attachment}: {most}");
            if attachment == 0.0 {
                // A loose end may hang in other folds.
                let [now, ever] = [&s, &still].map(|s| s.measures().stretch_mean_percent);
                assert!((now - ever).abs() < 2.0, "{solver:?}: {now} %, not {ever} %");
                continue;
            }
            // It rests, as near to the skin as if nothing had happened. Not in the same places: a limp surface may keep a dent.
            let speed = s.state().bodies[0].v.iter().map(|v| v.length()).fold(0.0, f64::max);
            assert!(speed < 1e-3, "{solver:?} {attachment}: {speed}");
            let [moved, stayed] = [&s, &still].map(furthest);
            assert!(moved < stayed + 0.02, "{solver:?} {attachment}: {moved}, not {stayed}");
        }
    }
}

#[test]
fn the_skin_that_is_shown_is_the_layer() {
    let mut scene = soft(SolverKind::Goals, Elastic { stiffness: 0.0, ..attached(0.4) });
    scene.colliders = vec![skin_of("arm")];
    scene.bodies[0].contact = Some(Default::default());
    let mut s = simulate(&scene);
    for _ in 0..60 {
        s.step();
    }
    assert!(s.model().bodies[0].is_worn());
    assert!(!s.model().touches_collider(0, 0), "it does not touch itself");
    let (pose, skin) = (s.collider_pose(0), s.skin_places(0));
    let wearer = &layer(&s).shown_by[0];
    assert_eq!(wearer.vertices.len(), s.state().bodies[0].x.len());
    for (v, p) in &wearer.vertices {
        assert!(pose.apply(skin[*v as usize]).distance(s.state().bodies[0].x[*p as usize]) < 1e-12);
    }
    assert!(furthest(&s) > 0.01, "it hangs down: {}", furthest(&s));
    // For files, all vertices of the rig.
    let places = s.character_places(0, 0);
    for (_, v, p) in &layer(&s).worn {
        assert_eq!(places[*v as usize], s.state().bodies[0].x[*p as usize]);
    }
    assert_eq!(intersections::in_scene(s.model(), s.state()).len(), 0);
}

#[test]
fn a_layer_has_the_same_bits_for_any_number_of_threads_and_after_a_restore() {
    for solver in SOLVERS {
        let mut scene = soft(solver, attached(0.3));
        scene.characters[0].clips = character(arm()).clips;
        let run = |threads: usize| {
            let mut s = simulate(&scene).with_threads(threads).unwrap();
            for _ in 0..40 {
                s.step();
            }
            let half = s.snapshot();
            for _ in 0..20 {
                s.step();
            }
            (half, s.state_hash())
        };
        let one = run(1);
        assert_eq!(run(3), one, "{solver:?}");
        let mut restored = simulate(&scene);
        restored.restore(&one.0).unwrap();
        for _ in 0..20 {
            restored.step();
        }
        assert_eq!(restored.state_hash(), one.1, "{solver:?}");
    }
}

/// SIM-33: out of two balls at once, and friction by the dial.
#[test]
fn layers_stay_out_of_colliders_on_bones() {
    let mut scene = soft(SolverKind::Goals, Elastic { stiffness: 0.3, ..attached(0.2) });
    let ball = |name: &str, x: f64| Collider {
        name: name.into(),
        shape: ColliderShape::Sphere(SphereShape { radius: 0.12 }),
        position: [x, 0.9, 0.0],
        follow: Some(Follow { character: "arm".into(), bone: Some("bone4".into()), ..Follow::default() }),
        ..Collider::default()
    };
    scene.colliders = vec![ball("left", 0.35), ball("right", 0.5)];
    let mut s = simulate(&scene);
    for _ in 0..120 {
        s.step();
    }
    let rim: Vec<u32> = s.state().bodies[0].pinned.iter().map(|p| p.vertex).collect();
    for (v, x) in (0u32..).zip(&s.state().bodies[0].x).filter(|(v, _)| !rim.contains(v)) {
        for centre in [DVec3::new(0.35, 0.9, 0.0), DVec3::new(0.5, 0.9, 0.0)] {
            // Where both are met a particle is as far from the first as the second lets it.
            assert!(x.distance(centre) > 0.119, "{v}: {}", x.distance(centre));
        }
    }
    assert!(!s.contacts(0).is_empty());
}

#[test]
fn dials_are_painted_in_order_and_by_every_source() {
    let mut scene = soft(SolverKind::Goals, Elastic::default());
    let RigSource::Inline(rig) = &mut scene.characters[0].rig else { unreachable!() };
    let mesh = &mut rig.meshes[0];
    mesh.colours =
        mesh.positions.iter().map(|p| [0.0, if p[1] > 0.5 { 1.0 } else { 0.0 }, 0.0, 1.0]).collect();
    let values = mesh.positions.iter().map(|p| (2.0 * p[1] - 1.0).clamp(0.0, 1.0)).collect();
    scene.characters[0].maps = vec![PaintedMap { name: "tip".into(), mesh: None, values }];
    // Rows of a picture go along the arm, from the top: v of the texture coordinates.
    let picture = PaintPicture { size: Some([1, 2]), values: vec![0.0, 1.0], ..PaintPicture::default() };
    let sources = [
        PaintSource::Map("tip".into()),
        PaintSource::Colour(ColourChannel::Green),
        PaintSource::Picture(picture),
        PaintSource::Bones(vec!["bone3".into(), "bone4".into()]),
        PaintSource::Ball(PaintBall { centre: [0.5, 1.0, 0.0], radius: 0.4, full: 0.2 }),
        end(),
    ];
    for source in sources {
        let elastic = Elastic {
            paints: vec![
                paint(ElasticDial::Attachment, 0.0, source.clone()),
                paint(ElasticDial::Drag, 0.4, PaintSource::Select(Select::All)),
                paint(ElasticDial::Drag, 1.0, source.clone()),
            ],
            ..Elastic::default()
        };
        scene.bodies[0].elastic = Some(elastic);
        let s = simulate(&scene);
        let (layer, body) = (layer(&s), &s.state().bodies[0]);
        let is_fixed = |p: usize| body.pinned.iter().any(|pin| pin.vertex as usize == p);
        // The tip is mobile and has all of the second coat; the rim has what was under it.
        let tip = (0..body.x.len()).max_by(|a, b| body.x[*a].x.total_cmp(&body.x[*b].x)).unwrap();
        let mobile = |p: usize| !is_fixed(p) && layer.anchors.iter().all(|a| a.particle as usize != p);
        assert!(mobile(tip), "{source:?}");
        assert_eq!(layer.drag[tip], f64::INFINITY, "{source:?}");
        let rate = -souple::math::ln(0.6) / 0.1;
        let rim = body.pinned.iter().map(|p| layer.drag[p.vertex as usize]);
        assert!(
            rim.clone().all(|drag| (drag - rate).abs() < 1e-9),
            "{source:?}: {:?}",
            rim.collect::<Vec<_>>()
        );
        assert!(!body.pinned.is_empty(), "{source:?}");
    }
}

#[test]
fn wrong_layers_are_named() {
    let mut good = soft(SolverKind::Goals, attached(0.5));
    good.bodies[0].skin = 0.001;
    let refused = |change: &dyn Fn(&mut Scene)| {
        let mut scene = good.clone();
        change(&mut scene);
        let found = ModelBuilder::new(&scene).build().err();
        found.map_or(String::new(), |error| format!("{error}; {}", error.help))
    };
    fn elastic(s: &mut Scene) -> &mut Elastic {
        s.bodies[0].elastic.as_mut().unwrap()
    }
    fn with(s: &mut Scene, source: PaintSource) {
        elastic(s).paints = vec![paint(ElasticDial::Attachment, 0.0, source)];
    }
    assert_eq!(refused(&|_| ()), "");
    let cases: [(&dyn Fn(&mut Scene), &str); 20] = [
        (&|s| s.bodies[0].elastic = None, "body[0].elastic: a part of a skin needs to know"),
        (&|s| s.bodies[0].shape = Shape::Grid(Grid::default()), "only a part of a skin is an elastic layer"),
        (&|s| s.groups[0].solver = SolverKind::Rk4, "the solver `rk4` does not know elastic layers"),
        (
            &|s| s.groups[0].goals = Goals { attenuation: 2.0, ..Goals::default() },
            "group[0].goals.attenuation",
        ),
        (&|s| s.bodies[0].fabric = Some("silk".into()), "body[0].fabric: an elastic layer has none"),
        (&|s| s.bodies[0].placement.scale = 2.0, "body[0].placement: an elastic layer has none"),
        (&|s| s.bodies[0].bending = Some(1e-4), "the solver `goals` does not know it"),
        (&|s| elastic(s).stiffness = 1.5, "body[0].elastic.stiffness: a dial goes from 0 to 1"),
        (&|s| elastic(s).weight = f64::NAN, "body[0].elastic.weight"),
        (&|s| elastic(s).reach = Some(0.0), "body[0].elastic.reach"),
        (&|s| elastic(s).paints.clear(), "all of it is fixed to the skin"),
        (&|s| elastic(s).paints[0].to = -0.1, "body[0].elastic.paint[0].to: a dial goes"),
        (&|s| (elastic(s).attachment, elastic(s).paints) = (0.0, Vec::new()), "nothing holds the layer"),
        (&|s| with(s, PaintSource::Map("tip".into())), "'arm' has no map 'tip'; paint one"),
        (&|s| with(s, PaintSource::Colour(ColourChannel::Red)), "mesh 'limb' has no colours"),
        (
            &|s| with(s, PaintSource::Bones(vec!["tail".into()])),
            "there is no bone 'tail' that moves this skin; it has: bone0",
        ),
        (
            &|s| with(s, PaintSource::Ball(PaintBall { centre: [0.0; 3], radius: -1.0, full: 0.0 })),
            "body[0].elastic.paint[0].with.ball.radius",
        ),
        (
            &|s| with(s, PaintSource::Picture(PaintPicture { path: "a.png".into(), ..Default::default() })),
            "with.picture.path: the picture 'a.png' was not read",
        ),
        (
            &|s| with(s, PaintSource::Picture(PaintPicture { size: Some([2, 2]), ..Default::default() })),
            "0 values for 2 × 2 pixels",
        ),
        (
            &|s| s.bodies[0].shape = Shape::Skin(SkinShape { character: "fox".into(), meshes: None }),
            "body[0].shape.skin.character: there is no character 'fox'",
        ),
    ];
    for (change, expected) in cases {
        let found = refused(change);
        assert!(found.contains(expected), "{expected}: {found}");
    }
}

/// A plain cloth by goals, on the floor: springs, supports, contact and a hand.
#[test]
fn goals_take_any_body_of_springs() {
    let mut scene = scene(SolverKind::Goals);
    // One visit per step: stiff springs need short ones where nothing holds them in order.
    scene.groups[0].dt = Some(1.0 / 480.0);
    scene.characters.clear();
    scene.bodies[0].contact = None;
    scene.colliders =
        vec![Collider { shape: ColliderShape::Plane(PlaneShape::default()), ..Collider::default() }];
    let mut s = simulate(&scene);
    let grab = Command::Grab { body: "cloth".into(), vertex: 0, target: [0.0, 0.4, 0.0], stiffness: 50.0 };
    s.command(grab).unwrap();
    for _ in 0..300 {
        s.step();
    }
    assert!(s.warnings().is_empty(), "{:?}", s.warnings());
    let x = &s.state().bodies[0].x;
    assert!(x.iter().all(|x| x.y > 0.0 && x.length() < 3.0));
    assert!(x[0].y > 0.2, "{}", x[0]);
    let stretch = s.measures().stretch_mean_percent;
    assert!(stretch < 10.0, "{stretch}");
}
