//! What makes an animation impossible to export, and that every exporter asks.

mod export_common;

use export_common::{example, flag};
use souple_formats::animation::{Animation, AnimationError, Frame};
use souple_formats::export::ExportError;
use souple_formats::export::glb::{GlbOptions, write_glb};
use souple_formats::export::obj_sequence::ObjSequence;
use souple_formats::export::point_cache::{write_mdd, write_pc2};
use souple_formats::export::vtk::VtkSeries;

fn error_of(change: impl FnOnce(&mut Animation)) -> String {
    let mut animation = example(3);
    change(&mut animation);
    let error = animation.validate().unwrap_err();
    // Every exporter must give the same answer as `validate`.
    let same = |result: Result<(), ExportError>| match result {
        Err(ExportError::Animation(e)) => assert_eq!(e.to_string(), error.to_string()),
        other => panic!("expected {error}, got {other:?}"),
    };
    same(write_glb(&animation, &GlbOptions::default()).map(drop));
    same(ObjSequence::new(&animation, "x").map(drop));
    same(VtkSeries::new(&animation, "x").map(drop));
    error.to_string()
}

#[test]
fn a_good_animation_passes() {
    assert_eq!(example(3).validate(), Ok(()));
    assert_eq!(example(1).validate(), Ok(()));
}

#[test]
fn every_fault_is_named() {
    for fps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(error_of(|a| a.fps = fps).contains("frames per second"));
    }
    assert!(error_of(|a| a.bodies.clear()).contains("no bodies"));
    assert!(error_of(|a| a.bodies[0].frames.clear()).contains("no frames"));
    assert!(error_of(|a| a.bodies[2].frames.fill(Frame::default())).contains("\"grains\" has no vertices"));
    assert!(error_of(|a| _ = a.bodies[1].frames.pop()).contains("has 2 frames, but the first body has 3"));
    assert!(error_of(|a| _ = a.bodies[0].frames[2].positions.pop()).contains("63 positions"));
    assert!(error_of(|a| _ = a.bodies[0].frames[1].velocities.pop()).contains("63 velocities"));
    assert!(error_of(|a| _ = a.bodies[0].uvs.pop()).contains("63 texture coordinates"));
    assert!(
        error_of(|a| a.bodies[0].triangles[5][1] = 64)
            .contains("triangle 5 of body \"flag\" names vertex 64")
    );
    assert!(error_of(|a| a.bodies[1].lines[2][0] = u32::MAX).contains("line 2"));
    assert!(error_of(|a| a.bodies[0].uvs[1][1] = f32::NAN).contains("texture coordinate of vertex 1"));
    let nan = error_of(|a| a.bodies[0].frames[2].positions[9][0] = f32::NAN);
    assert!(nan.contains("position of vertex 9 of body \"flag\" in frame 2"), "{nan}");
    let infinite = error_of(|a| a.bodies[0].frames[1].velocities[3][2] = f32::INFINITY);
    assert!(infinite.contains("velocity of vertex 3 of body \"flag\" in frame 1"), "{infinite}");
}

#[test]
fn point_caches_check_their_body() {
    let mut body = flag(2);
    assert!(matches!(
        write_mdd(&body, 0.0),
        Err(ExportError::Animation(AnimationError::FpsNotPositive(fps))) if fps == 0.0
    ));
    body.frames[1].positions[0][0] = f32::NAN;
    for result in [write_pc2(&body, 0), write_mdd(&body, 24.0)] {
        assert!(matches!(
            result,
            Err(ExportError::Animation(AnimationError::NonFinite { frame: 1, vertex: 0, .. }))
        ));
    }
}
