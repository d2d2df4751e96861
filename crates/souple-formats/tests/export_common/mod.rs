//! Animations for the tests of the exporters.
#![allow(dead_code)] // each test binary uses its part

use proptest::prelude::*;
use souple_formats::animation::{Animation, BodyAnimation, Frame};

/// A small waving cloth with texture coordinates and velocities, a swinging rope, loose grains, a resting floor, a net.
pub fn example(frame_count: usize) -> Animation {
    Animation {
        fps: 30.0,
        bodies: vec![
            flag(frame_count),
            rope(frame_count),
            grains(frame_count),
            floor(frame_count),
            net(frame_count),
        ],
    }
}

pub fn flag(frame_count: usize) -> BodyAnimation {
    const SIDE: u32 = 8;
    let mut body = BodyAnimation { name: "flag".to_owned(), ..BodyAnimation::default() };
    for j in 0..SIDE {
        for i in 0..SIDE {
            body.uvs.push([i as f32 / (SIDE - 1) as f32, j as f32 / (SIDE - 1) as f32]);
        }
    }
    for j in 0..SIDE - 1 {
        for i in 0..SIDE - 1 {
            let v = j * SIDE + i;
            body.triangles.push([v, v + 1, v + SIDE + 1]);
            body.triangles.push([v, v + SIDE + 1, v + SIDE]);
        }
    }
    for frame in 0..frame_count {
        let time = frame as f32 / 30.0;
        let phase = |u: f32| 6.0 * u - 4.0 * time;
        let positions = body.uvs.iter().map(|&[u, v]| [u, v, 0.2 * u * phase(u).sin()]).collect();
        let velocities = body.uvs.iter().map(|&[u, _]| [0.0, 0.0, -0.8 * u * phase(u).cos()]).collect();
        body.frames.push(Frame { positions, velocities });
    }
    body
}

pub fn rope(frame_count: usize) -> BodyAnimation {
    let frames = (0..frame_count).map(|frame| {
        let angle = (frame as f32 / 10.0).sin();
        let positions =
            (0..5).map(|i| [-1.0 + 0.1 * i as f32 * angle.sin(), 1.0 - 0.1 * i as f32, 0.0]).collect();
        Frame { positions, velocities: Vec::new() }
    });
    BodyAnimation {
        name: "rope <\"&'> été".to_owned(),
        lines: vec![[0, 1], [1, 2], [2, 3], [3, 4]],
        frames: frames.collect(),
        ..BodyAnimation::default()
    }
}

pub fn grains(frame_count: usize) -> BodyAnimation {
    let frames = (0..frame_count).map(|frame| {
        let height = 2.0 - 0.01 * frame as f32;
        Frame { positions: vec![[0.0, height, 1.0], [0.5, height, 1.0]], velocities: Vec::new() }
    });
    BodyAnimation { name: "grains".to_owned(), frames: frames.collect(), ..BodyAnimation::default() }
}

/// Never moves, and has both triangles and lines.
pub fn floor(frame_count: usize) -> BodyAnimation {
    let positions = vec![[-2.0, 0.0, -2.0], [-2.0, 0.0, 2.0], [2.0, 0.0, 2.0], [2.0, 0.0, -2.0]];
    BodyAnimation {
        name: "floor".to_owned(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        lines: vec![[0, 1], [1, 2], [2, 3], [3, 0]],
        frames: vec![Frame { positions, velocities: Vec::new() }; frame_count],
        ..BodyAnimation::default()
    }
}

/// Moves, has both triangles and lines, a triangle without area and a vertex that nothing uses.
pub fn net(frame_count: usize) -> BodyAnimation {
    let frames = (0..frame_count).map(|frame| {
        let lift = 0.02 * frame as f32;
        let positions = vec![[0.0, lift, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [9.0, -lift, 9.0]];
        Frame { positions, velocities: Vec::new() }
    });
    BodyAnimation {
        name: "net".to_owned(),
        triangles: vec![[0, 1, 2], [2, 2, 1]],
        lines: vec![[0, 1], [1, 2]],
        frames: frames.collect(),
        ..BodyAnimation::default()
    }
}

/// Small random animations: any topology that is in range, any finite coordinates up to a kilometre.
pub fn any_animation() -> impl Strategy<Value = Animation> {
    (1usize..6, 1.0f64..240.0).prop_flat_map(|(frame_count, fps)| {
        prop::collection::vec(any_body(frame_count), 1..4).prop_map(move |bodies| Animation { fps, bodies })
    })
}

pub fn any_body(frame_count: usize) -> impl Strategy<Value = BodyAnimation> {
    (1usize..9).prop_flat_map(move |vertex_count| {
        let index = 0..vertex_count as u32;
        let vectors = prop::collection::vec(prop::array::uniform3(-1e3f32..1e3), vertex_count);
        let velocities = prop_oneof![Just(Vec::new()), vectors.clone()];
        let frame = (vectors, velocities).prop_map(|(positions, velocities)| Frame { positions, velocities });
        let uvs = prop::collection::vec(prop::array::uniform2(-2.0f32..3.0), vertex_count);
        (
            ".{0,12}",
            prop::collection::vec(prop::array::uniform3(index.clone()), 0..6),
            prop::collection::vec(prop::array::uniform2(index), 0..6),
            prop_oneof![Just(Vec::new()), uvs],
            prop::collection::vec(frame, frame_count),
        )
            .prop_map(|(name, triangles, lines, uvs, frames)| BodyAnimation {
                name,
                triangles,
                lines,
                uvs,
                frames,
            })
    })
}
