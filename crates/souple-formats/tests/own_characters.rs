//! The characters of the scene library: made here, and written by our own exporter. With `SOUPLE_WRITE_CHARACTERS` set, their files are made anew.

use std::f64::consts::PI;
use std::path::Path;

use glam::DVec3;
use souple::math::rotation;
use souple::scene::{ChannelTarget, Rig, RigChannel, RigClip, RigMesh, RigNode, RigSkin, Vec3};
use souple::skin::generate::{Garment, Limb, add_turns, figure, figure_bones, garment, garment_bones, limb};
use souple_formats::export::rig::write_rig_glb;
use souple_formats::export_mesh::write_obj;
use souple_formats::import::{Limits, MeshFormat, read_mesh, read_rig};
use souple_formats::scene::read_skeleton;

/// Key times, s.
fn times(end: f64, per_second: u32) -> Vec<f64> {
    let count = (end * f64::from(per_second)).round() as u32;
    (0..=count).map(|k| f64::from(k) / f64::from(per_second)).collect()
}

/// Grows from 0 to 1 between two times, gently.
fn ease(t: f64, from: f64, to: f64) -> f64 {
    let s = ((t - from) / (to - from)).clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}

/// An arm, or a trunk, of nine bones. `wave`: it rests for a second, then rises and falls like a wave, bending sideways. `curl`: it rolls up.
fn arm() -> Rig {
    let mut rig =
        limb(&Limb { length: 1.2, radii: [0.1, 0.05], sides: 16, rings: 24, cap_rings: 4, bones: 9 });
    add_turns(&mut rig, "wave", 9, &times(6.0, 10), |bone, t| {
        let (b, strength) = (f64::from(bone), ease(t, 1.0, 2.0) * (1.0 - ease(t, 5.0, 6.0)));
        let phase = 2.0 * PI * (t - 1.0) / 2.0 - 0.6 * b;
        DVec3::new(8.0 * (0.5 * phase).sin(), 0.0, 11.0 * phase.sin()) * strength * (b / 8.0).sqrt()
    });
    add_turns(&mut rig, "curl", 9, &times(4.0, 10), |bone, t| {
        let roll = ease(t, 0.5, 2.0) * (1.0 - ease(t, 2.5, 4.0));
        DVec3::Z * (if bone == 0 { 0.0 } else { 32.0 } * roll)
    });
    rig
}

/// Weights of a limb that change only within `reach` lengths of its bones of each joint, gently.
fn gather_weights(rig: &mut Rig, reach: f64) {
    // The last bone is the end of the limb.
    let last = rig.skins[0].joints.len() as f64 - 2.0;
    let mesh = &mut rig.meshes[0];
    for (joints, weights) in mesh.joints.chunks_exact_mut(2).zip(mesh.weights.chunks_exact_mut(2)) {
        // Bone k carries what is above its joint: the nearest joint is at the rounded height.
        let height = f64::from(joints[0]) + weights[1];
        let joint = height.round().clamp(1.0, last);
        let upper = ease(height, joint - reach, joint + reach);
        joints.copy_from_slice(&[joint as u32 - 1, joint as u32]);
        weights.copy_from_slice(&[1.0 - upper, upper]);
    }
}

/// A tube of four joints, as the chart of effects in Rohmer's thesis has it. `bend`: each is bent by a right angle, about different axes.
fn tube() -> Rig {
    let mut rig =
        limb(&Limb { length: 3.0, radii: [0.13, 0.13], sides: 18, rings: 90, cap_rings: 3, bones: 6 });
    gather_weights(&mut rig, 0.25);
    let axes = [DVec3::ZERO, DVec3::Z, -DVec3::Z, DVec3::X, -DVec3::Z, DVec3::ZERO];
    add_turns(&mut rig, "bend", 6, &times(3.0, 10), |bone, t| 90.0 * ease(t, 0.2, 2.0) * axes[bone as usize]);
    rig
}

/// A trunk like an elephant's, of eight joints. `curl`: it rolls up, and out again.
fn trunk() -> Rig {
    let mut rig =
        limb(&Limb { length: 1.8, radii: [0.24, 0.07], sides: 20, rings: 72, cap_rings: 4, bones: 10 });
    gather_weights(&mut rig, 0.5);
    add_turns(&mut rig, "curl", 10, &times(4.0, 10), |bone, t| {
        let roll = ease(t, 0.3, 1.8) * (1.0 - ease(t, 2.4, 4.0));
        DVec3::Z * (if bone == 0 { 0.0 } else { 26.0 + 2.0 * f64::from(bone) } * roll)
    });
    rig
}

/// A neck like a giraffe's, of four joints. `graze`: it bows down, and up again.
fn neck() -> Rig {
    let mut rig =
        limb(&Limb { length: 1.6, radii: [0.2, 0.11], sides: 20, rings: 48, cap_rings: 4, bones: 6 });
    gather_weights(&mut rig, 0.4);
    let most = [0.0, 70.0, 40.0, 10.0, -30.0, 0.0];
    add_turns(&mut rig, "graze", 6, &times(4.0, 10), |bone, t| {
        DVec3::Z * (most[bone as usize] * ease(t, 0.3, 1.8) * (1.0 - ease(t, 2.4, 4.0)))
    });
    rig
}

/// An upper arm and a forearm. `lift`: the elbow is bent, and stretched again.
fn elbow() -> Rig {
    let mut rig =
        limb(&Limb { length: 0.6, radii: [0.055, 0.045], sides: 24, rings: 60, cap_rings: 5, bones: 3 });
    gather_weights(&mut rig, 0.2);
    add_turns(&mut rig, "lift", 3, &times(3.0, 10), |bone, t| {
        let bend = ease(t, 0.3, 1.3) * (1.0 - ease(t, 1.8, 3.0));
        DVec3::Z * (if bone == 1 { 115.0 } else { 0.0 } * bend)
    });
    rig
}

/// A finger of three parts, whose bones are nearer to its back. `curl`: it bends until its parts lie on each other.
fn finger() -> Rig {
    let mut rig =
        limb(&Limb { length: 0.105, radii: [0.0095, 0.0075], sides: 20, rings: 63, cap_rings: 6, bones: 4 });
    gather_weights(&mut rig, 0.35);
    // The finger bends to −x: that side is the soft one.
    rig.meshes[0].positions.iter_mut().for_each(|p| p[0] -= 0.002);
    let most = [0.0, 115.0, 80.0, 0.0];
    add_turns(&mut rig, "curl", 4, &times(3.0, 10), |bone, t| {
        DVec3::Z * (most[bone as usize] * ease(t, 0.2, 1.4) * (1.0 - ease(t, 2.0, 3.0)))
    });
    rig
}

/// A neck of rubber. `reach`: two of its bones get longer by a half, then shorter by a quarter.
fn rubber_neck() -> Rig {
    let mut rig =
        limb(&Limb { length: 1.2, radii: [0.16, 0.12], sides: 20, rings: 48, cap_rings: 5, bones: 5 });
    let keys = times(4.0, 10);
    let length =
        |t: f64| 0.3 * (1.0 + 0.5 * ease(t, 0.2, 1.2) * (1.0 - ease(t, 1.6, 2.4)) - 0.25 * ease(t, 2.4, 3.2));
    let channel = |node: u32| RigChannel {
        node,
        target: ChannelTarget::Translation,
        times: keys.clone(),
        values: keys.iter().flat_map(|t| [0.0, length(*t), 0.0]).collect(),
        ..RigChannel::default()
    };
    rig.clips.push(RigClip { name: "reach".into(), channels: vec![channel(2), channel(3)] });
    rig
}

/// A trunk as the one above, of few triangles.
fn coarse_trunk() -> Rig {
    let mut rig =
        limb(&Limb { length: 1.8, radii: [0.24, 0.07], sides: 10, rings: 27, cap_rings: 2, bones: 10 });
    gather_weights(&mut rig, 0.5);
    add_turns(&mut rig, "curl", 10, &times(4.0, 10), |bone, t| {
        let roll = ease(t, 0.3, 1.8) * (1.0 - ease(t, 2.4, 4.0));
        DVec3::Z * (if bone == 0 { 0.0 } else { 26.0 + 2.0 * f64::from(bone) } * roll)
    });
    rig
}

/// A torso of five bones. `bow`: it turns left and right, and bows.
fn torso() -> Rig {
    let mut rig =
        limb(&Limb { length: 0.6, radii: [0.16, 0.2], sides: 20, rings: 12, cap_rings: 5, bones: 5 });
    add_turns(&mut rig, "bow", 5, &times(5.0, 10), |bone, t| {
        let turn = 14.0 * (2.0 * PI * t / 2.5).sin() * ease(t, 0.5, 1.0) * (1.0 - ease(t, 4.5, 5.0));
        let bow = 9.0 * ease(t, 1.5, 2.5) * (1.0 - ease(t, 3.0, 4.0));
        DVec3::new(bow, turn, 0.0) * f64::from(u32::from(bone > 0))
    });
    rig
}

/// A stout torso with a belly to the front (z), of one bone: what is to be seen of it is what its flesh does.
fn belly() -> Rig {
    let mut rig =
        limb(&Limb { length: 0.6, radii: [0.17, 0.15], sides: 36, rings: 30, cap_rings: 6, bones: 1 });
    for p in &mut rig.meshes[0].positions {
        let [x, y, z] = *p;
        let front = (z / x.hypot(z).max(1e-9)).max(0.0);
        let height = (y - 0.2) / 0.19;
        p[2] += 0.15 * front * (-height * height).exp();
    }
    rig
}

/// Adds a rig to another: its first node hangs on `parent`, at a place and turned by unit axis times degrees. Tells the number of that node.
fn hang(on: &mut Rig, part: Rig, name: &str, parent: u32, place: Vec3, turn: DVec3) -> u32 {
    let (node, skin) = (on.nodes.len() as u32, on.skins.len() as u32);
    on.nodes.extend(part.nodes.into_iter().enumerate().map(|(k, mut one)| {
        one.name = format!("{name}.{}", one.name);
        one.parent = one.parent.map(|p| p + node);
        if k == 0 {
            (one.parent, one.translation) = (Some(parent), place);
            one.rotation = rotation(turn).to_array();
        }
        one
    }));
    on.skins.extend(part.skins.into_iter().map(|mut one| {
        one.joints.iter_mut().for_each(|j| *j += node);
        one
    }));
    on.meshes.extend(part.meshes.into_iter().map(|mut one| {
        one.name = name.to_owned();
        (one.node, one.skin) = (one.node + node, one.skin.map(|s| s + skin));
        one
    }));
    node
}

/// A mesh that one bone carries.
fn worn(bone_at: Vec3, mesh: RigMesh) -> Rig {
    let count = mesh.positions.len();
    Rig {
        nodes: vec![RigNode { name: "bone".into(), ..RigNode::default() }],
        skins: vec![RigSkin {
            name: "bone".into(),
            joints: vec![0],
            inverse_binds: vec![[
                1.0,
                0.0,
                0.0,
                0.0,
                1.0,
                0.0,
                0.0,
                0.0,
                1.0,
                -bone_at[0],
                -bone_at[1],
                -bone_at[2],
            ]],
            tails: Vec::new(),
        }],
        meshes: vec![RigMesh {
            skin: Some(0),
            influences: 1,
            joints: vec![0; count],
            weights: vec![1.0; count],
            ..mesh
        }],
        clips: Vec::new(),
    }
}

/// A band of `width` columns around a loop; `at` tells where it is at a share of the loop and of the width.
fn band(around: u32, width: u32, at: impl Fn(f64, f64) -> Vec3) -> RigMesh {
    let mut mesh = RigMesh::default();
    for k in 0..around {
        for w in 0..width {
            let (u, v) = (f64::from(k) / f64::from(around), f64::from(w) / f64::from(width - 1));
            mesh.positions.push(at(u, v));
            mesh.uvs.push([u, v]);
        }
    }
    for k in 0..around {
        for w in 0..width - 1 {
            let (a, b) = (k * width + w, (k + 1) % around * width + w);
            mesh.triangles.extend([[a, a + 1, b + 1], [a, b + 1, b]]);
        }
    }
    mesh
}

/// A clip of rotations and of the place of the first node; `turn` gives unit axis times degrees on top of how nodes stand.
fn add_clip(
    rig: &mut Rig,
    name: &str,
    times: &[f64],
    turn: impl Fn(&str, f64) -> DVec3,
    rise: impl Fn(f64) -> f64,
) {
    let channel = |(node, one): (usize, &RigNode)| RigChannel {
        node: node as u32,
        target: ChannelTarget::Rotation,
        times: times.to_vec(),
        values: times
            .iter()
            .flat_map(|t| (rotation(turn(&one.name, *t)) * glam::DQuat::from_array(one.rotation)).to_array())
            .collect(),
        ..RigChannel::default()
    };
    let moves = |one: &RigNode| times.iter().any(|t| turn(&one.name, *t) != DVec3::ZERO);
    let mut channels: Vec<RigChannel> =
        rig.nodes.iter().enumerate().filter(|(_, one)| moves(one)).map(channel).collect();
    let [x, y, z] = rig.nodes[0].translation;
    channels.push(RigChannel {
        target: ChannelTarget::Translation,
        times: times.to_vec(),
        values: times.iter().flat_map(|t| [x, y + rise(*t), z]).collect(),
        ..RigChannel::default()
    });
    rig.clips.push(RigClip { name: name.into(), channels });
}

/// A creature on four legs, along x, with a tail and a strap around its chest. `run`: it gallops on the spot, twice a second.
fn runner() -> Rig {
    let bar = |length: f64, radii: [f64; 2], bones: u32| {
        limb(&Limb { length, radii, sides: 16, rings: (length / 0.035) as u32, cap_rings: 4, bones })
    };
    let mut rig = Rig {
        nodes: vec![RigNode { name: "root".into(), translation: [-0.35, 0.56, 0.0], ..RigNode::default() }],
        ..Rig::default()
    };
    let trunk = hang(&mut rig, bar(0.7, [0.15, 0.16], 5), "trunk", 0, [0.0; 3], DVec3::Z * -90.0);
    for (name, bone, z) in
        [("hind left", 0, 0.1), ("hind right", 0, -0.1), ("fore left", 4, 0.1), ("fore right", 4, -0.1)]
    {
        hang(&mut rig, bar(0.5, [0.07, 0.035], 3), name, trunk + bone, [0.05, 0.0, z], DVec3::Z * -90.0);
    }
    hang(&mut rig, bar(0.34, [0.1, 0.085], 3), "neck", trunk + 4, [-0.04, 0.1, 0.0], DVec3::Z * 50.0);
    hang(&mut rig, bar(0.45, [0.035, 0.018], 2), "tail", trunk, [-0.02, -0.12, 0.0], DVec3::Z * 160.0);
    // Tight on the back, loose below. In the frame of the trunk y goes along the creature, x down.
    let strap = band(40, 4, |u, v| {
        let angle = 2.0 * PI * u;
        let (up, side) = (angle.cos(), angle.sin());
        let loose = if up < 0.0 { 1.0 + 0.5 * up * up } else { 1.0 };
        [-0.172 * up * loose, 0.06 * (v - 0.5), 0.172 * side]
    });
    hang(&mut rig, worn([0.0; 3], strap), "strap", trunk + 3, [0.0; 3], DVec3::ZERO);
    let swing = |t: f64, phase: f64| (2.0 * PI * (2.0 * t + phase)).sin();
    add_clip(
        &mut rig,
        "run",
        &times(1.0, 30),
        |name, t| match name {
            "hind left.bone0" | "hind right.bone0" => {
                DVec3::Z * (38.0 * swing(t, if name.contains("left") { 0.0 } else { 0.06 }))
            }
            "fore left.bone0" | "fore right.bone0" => {
                DVec3::Z * (38.0 * swing(t, if name.contains("left") { 0.45 } else { 0.52 }))
            }
            "hind left.bone1" | "hind right.bone1" => DVec3::Z * (-25.0 + 25.0 * swing(t, 0.25)),
            "fore left.bone1" | "fore right.bone1" => DVec3::Z * (-25.0 + 25.0 * swing(t, 0.7)),
            "trunk.bone1" | "trunk.bone2" => DVec3::Z * (8.0 * swing(t, 0.1)),
            "neck.bone0" => DVec3::Z * (-10.0 * swing(t, 0.2)),
            _ => DVec3::ZERO,
        },
        |t| 0.045 * swing(t, 0.3),
    );
    rig
}

/// A head on a neck, with a nose and a pony tail. `shake`: it turns left and right, and nods.
fn head() -> Rig {
    let mut rig =
        limb(&Limb { length: 0.2, radii: [0.06, 0.055], sides: 20, rings: 6, cap_rings: 3, bones: 2 });
    rig.meshes[0].name = "neck".into();
    // A ball of rings, with a bump to the front.
    let (rows, around) = (36u32, 40u32);
    let mut ball = RigMesh::default();
    let mut add = |polar: f64, turn: f64| {
        let way = DVec3::new(polar.sin() * turn.sin(), polar.cos(), polar.sin() * turn.cos());
        let off = (way - DVec3::new(0.0, -0.12, 0.9927)).length() / 0.24;
        let radius = 0.12 + 0.075 * (-off * off).exp();
        let place = DVec3::new(0.0, 0.29, 0.0) + way * DVec3::new(0.9, 1.1, 1.0) * radius;
        ball.positions.push(place.to_array());
        ball.uvs.push([turn / (2.0 * PI), polar / PI]);
    };
    add(0.0, 0.0);
    for r in 1..rows {
        for k in 0..around {
            add(PI * f64::from(r) / f64::from(rows), 2.0 * PI * f64::from(k) / f64::from(around));
        }
    }
    add(PI, 0.0);
    let corner = |r: u32, k: u32| 1 + (r - 1) * around + k % around;
    let bottom = 1 + (rows - 1) * around;
    for k in 0..around {
        ball.triangles.push([0, corner(1, k), corner(1, k + 1)]);
        for r in 1..rows - 1 {
            let [a, b, d, c] = [corner(r, k), corner(r, k + 1), corner(r + 1, k), corner(r + 1, k + 1)];
            ball.triangles.extend([[a, d, c], [a, c, b]]);
        }
        ball.triangles.push([bottom, corner(rows - 1, k + 1), corner(rows - 1, k)]);
    }
    hang(&mut rig, worn([0.0, 0.2, 0.0], ball), "head", 1, [0.0; 3], DVec3::ZERO);
    let tail =
        limb(&Limb { length: 0.34, radii: [0.03, 0.014], sides: 10, rings: 24, cap_rings: 3, bones: 2 });
    hang(&mut rig, tail, "hair", 1, [0.0, 0.15, -0.115], DVec3::X * -115.0);
    let wag = |t: f64, rate: f64| (2.0 * PI * rate * t).sin();
    let strength = |t: f64| ease(t, 0.5, 0.8) * (1.0 - ease(t, 3.2, 3.6));
    add_clip(
        &mut rig,
        "shake",
        &times(5.0, 30),
        |name, t| match name {
            "bone1" => DVec3::new(14.0 * wag(t, 0.9), 48.0 * wag(t, 1.6), 0.0) * strength(t),
            _ => DVec3::ZERO,
        },
        |_| 0.0,
    );
    rig
}

#[test]
fn the_characters_of_the_library_are_what_is_made_here() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/characters");
    let all = [
        ("arm.glb", arm()),
        ("torso.glb", torso()),
        ("belly.glb", belly()),
        ("tube.glb", tube()),
        ("trunk.glb", trunk()),
        ("neck.glb", neck()),
        ("elbow.glb", elbow()),
        ("runner.glb", runner()),
        ("head.glb", head()),
        ("finger.glb", finger()),
        ("rubber_neck.glb", rubber_neck()),
        ("coarse_trunk.glb", coarse_trunk()),
    ];
    for (name, rig) in all {
        let bytes = write_rig_glb(&rig).unwrap();
        if std::env::var_os("SOUPLE_WRITE_CHARACTERS").is_some() {
            std::fs::write(folder.join(name), &bytes).unwrap();
        }
        let read = |bytes: &[u8]| read_rig(bytes, &Limits::default(), &mut |_| Err(String::new())).unwrap();
        let (stored, made) = (read(&std::fs::read(folder.join(name)).unwrap()), read(&bytes));
        // Sines of other machines may differ in the last bit.
        assert_eq!((&stored.meshes, &stored.skins, &stored.nodes), (&made.meshes, &made.skins, &made.nodes));
        for (a, b) in stored.clips.iter().zip(&made.clips) {
            for (a, b) in a.channels.iter().zip(&b.channels) {
                assert_eq!(a.times, b.times);
                assert!(a.values.iter().zip(&b.values).all(|(a, b)| (a - b).abs() < 1e-6), "{name}");
            }
        }
    }
}

/// A mesh without weights, and its bones.
#[test]
fn the_figure_of_the_library_is_what_is_made_here() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/characters");
    let mut mesh = figure(0.026);
    // Tenths of millimetres are enough.
    mesh.positions.iter_mut().for_each(|p| *p = (*p * 1e4).round() / 1e4);
    if std::env::var_os("SOUPLE_WRITE_CHARACTERS").is_some() {
        std::fs::write(folder.join("figure.obj"), write_obj(&mesh)).unwrap();
        let bones = toml::to_string(&figure_bones()).unwrap();
        std::fs::write(folder.join("figure.skeleton.toml"), bones).unwrap();
    }
    let stored = std::fs::read(folder.join("figure.obj")).unwrap();
    let stored = read_mesh(&stored, MeshFormat::Obj, &Limits::default()).unwrap();
    assert_eq!((stored.positions, stored.triangles), (mesh.positions, mesh.triangles));
    let stored = std::fs::read(folder.join("figure.skeleton.toml")).unwrap();
    assert_eq!(read_skeleton(&stored, "figure.skeleton.toml").unwrap().0, figure_bones());
}

/// Clothes for the figure, as large as in the table of the thesis that folds come from: T-shirt 1168 vertices, trousers 1112, dress 931.
#[test]
fn the_clothes_of_the_library_are_what_is_made_here() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/wrinkles/meshes");
    let writes = std::env::var_os("SOUPLE_WRITE_CHARACTERS").is_some();
    let clothes = [
        ("t_shirt.obj", Garment::TShirt, 0.0298, 1168),
        ("trousers.obj", Garment::Trousers, 0.0372, 1112),
        ("dress.obj", Garment::Dress, 0.0445, 931),
    ];
    for (name, kind, edge, wanted) in clothes {
        let mut mesh = garment(kind, edge);
        let count = mesh.positions.len();
        println!("{name}: {count} vertices, {} triangles", mesh.triangles.len());
        assert!((count as f64 / f64::from(wanted) - 1.0).abs() < 0.05, "{name}: {count}");
        mesh.positions.iter_mut().for_each(|p| *p = (*p * 1e4).round() / 1e4);
        let skeleton = name.replace(".obj", ".skeleton.toml");
        if writes {
            std::fs::write(folder.join(name), write_obj(&mesh)).unwrap();
            let bones = toml::to_string(&garment_bones(kind)).unwrap();
            std::fs::write(folder.join(&skeleton), bones).unwrap();
        }
        let stored = std::fs::read(folder.join(&skeleton)).unwrap();
        assert_eq!(read_skeleton(&stored, &skeleton).unwrap().0, garment_bones(kind));
        let stored = std::fs::read(folder.join(name)).unwrap();
        let stored = read_mesh(&stored, MeshFormat::Obj, &Limits::default()).unwrap();
        assert_eq!((stored.positions, stored.triangles), (mesh.positions, mesh.triangles));
    }
}
