//! Checks and compiles the folds that are drawn on a body.

use std::sync::Arc;

use glam::DVec3;

use super::character::Characters;
use super::elastic::PlacedLayer;
use super::shape::Placed;
use super::{Checked, positive, wrong};
use crate::fabrics::Fabric;
use crate::model::{Carrier, ColliderForm};
use crate::scene::{Body, Collider, ColliderShape, FoldPattern, FoldSide, FoldSpacing, Shape, Wrinkling};
use crate::wrinkles::fold::HALF_CIRCLE;
use crate::wrinkles::{FineMesh, Pattern, Profile, Settings, Spacing, Wrinkles};

/// Most vertices of a mesh that folds are drawn on.
const MOST_VERTICES: u64 = 2_000_000;

/// Folds this many times their smallest radius apart must fit on the body.
const LEAST_ROOM: f64 = 8.0;

/// Poisson's ratio of cloth that says none.
const POISSON_RATIO: f64 = 0.3;

/// What folds are drawn on.
struct Cloth<'a> {
    positions: &'a [DVec3],
    triangles: &'a [[u32; 3]],
    /// One per vertex, or none.
    uvs: &'a [[f64; 2]],
    is_grid: bool,
    fabric: Option<&'a Fabric>,
    thickness: Option<f64>,
    poisson_ratio: Option<f64>,
}

/// Folds of a body.
pub(super) fn build_wrinkles(
    at: &str,
    body: &Body,
    fabric: Option<&Fabric>,
    placed: &Placed,
) -> Checked<Option<Arc<Wrinkles>>> {
    let Some(written) = &body.wrinkles else { return Ok(None) };
    let at = format!("{at}.wrinkles");
    let seen = placed.mesh.positions.len() - placed.hidden;
    if placed.mesh.triangles.is_empty() {
        return wrong(&at, "ropes and strands have no surface to fold", "leave `wrinkles` out");
    }
    if body.rigid {
        return wrong(&at, "a rigid body is never compressed", "leave `wrinkles` out");
    }
    if body.tear.is_some() {
        return wrong(
            &at,
            "folds are drawn on one mesh for all frames, which cloth that tears does not have",
            "leave either `wrinkles` or `tear` out",
        );
    }
    let cloth = Cloth {
        // A layer rests as its character was modelled, whatever pose the scene begins with.
        positions: placed.layer.as_ref().map_or(&placed.mesh.positions[..seen], PlacedLayer::rest),
        triangles: &placed.mesh.triangles,
        uvs: placed.mesh.uvs.get(..seen).unwrap_or_default(),
        is_grid: matches!(body.shape, Shape::Grid(_)),
        fabric,
        thickness: body.thickness.or(fabric.map(|f| f.thickness)),
        poisson_ratio: body.poisson_ratio,
    };
    compile(&at, written, &cloth).map(Some)
}

/// Folds of a collider, which must be the skin of a character: what is rigid is never compressed.
pub(super) fn build_skin_wrinkles(
    at: &str,
    collider: &Collider,
    form: &ColliderForm,
    carrier: &Carrier,
    characters: &Characters,
) -> Checked<Option<Arc<Wrinkles>>> {
    let Some(written) = &collider.wrinkles else { return Ok(None) };
    let at = format!("{at}.wrinkles");
    let (ColliderShape::Skin(_), Some(mesh)) = (&collider.shape, form.mesh()) else {
        return wrong(&at, "what is no skin of a character is never compressed", "leave `wrinkles` out");
    };
    // As the character was modelled: what a pose or the start of a clip presses together is folded.
    let rest = match carrier {
        Carrier::Skin { character, vertices } => characters.modelled(*character, vertices),
        _ => mesh.positions.clone(),
    };
    let cloth = Cloth {
        positions: &rest,
        triangles: &mesh.triangles,
        uvs: &mesh.uvs,
        is_grid: false,
        fabric: None,
        thickness: None,
        poisson_ratio: None,
    };
    compile(&at, written, &cloth).map(Some)
}

fn compile(at: &str, written: &Wrinkling, cloth: &Cloth) -> Checked<Arc<Wrinkles>> {
    let field = |name: &str| format!("{at}.{name}");
    let Cloth { positions, triangles, uvs, fabric, .. } = *cloth;
    let smallest_radius = match (written.smallest_radius, fabric) {
        (Some(radius), _) => positive(&field("smallest_radius"), radius, "m")?,
        (None, Some(fabric)) => fabric.fold_radius,
        (None, None) => {
            return wrong(
                &field("smallest_radius"),
                "there is none, and no fabric to take it from",
                "give the radius of the smallest folds in m: silk 0.004, cotton 0.008, denim 0.015",
            );
        }
    };
    if !(written.threshold > 0.0 && written.threshold < HALF_CIRCLE) {
        return wrong(
            &field("threshold"),
            format!("it must be above 0 and below {HALF_CIRCLE:.2}, not {}", written.threshold),
            "0.05 is usual: folds where cloth has lost 5 % of its length",
        );
    }
    let pattern = match written.pattern {
        FoldPattern::Rest => Pattern::of_rest(positions, triangles),
        FoldPattern::Uv if cloth.is_grid => {
            return wrong(
                &field("pattern"),
                "texture coordinates of a grid go from 0 to 1 both ways, whatever its size",
                "leave `pattern` out: a grid is its own pattern",
            );
        }
        FoldPattern::Uv if uvs.is_empty() => {
            return wrong(
                &field("pattern"),
                "the mesh has no texture coordinates",
                "use `pattern = \"rest\"`",
            );
        }
        FoldPattern::Uv => Pattern::of_uvs(positions, triangles, uvs),
    };
    let pattern = match pattern {
        Ok(pattern) => pattern,
        Err(problem) => {
            let help = match written.pattern {
                FoldPattern::Rest => "repair the mesh: remove triangles without area",
                FoldPattern::Uv => "unwrap the mesh without distortion, or use `pattern = \"rest\"`",
            };
            return wrong(&field("pattern"), problem.to_string(), help);
        }
    };
    let size = pattern.area().sqrt();
    if LEAST_ROOM * smallest_radius > size {
        return wrong(
            &field("smallest_radius"),
            format!(
                "no fold of radius {smallest_radius} m fits on a body whose area is that of a square of {size:.3} m"
            ),
            format!("give at most {:.4}", size / LEAST_ROOM),
        );
    }
    let edge = match written.edge {
        Some(edge) => positive(&field("edge"), edge, "m")?,
        None => 0.5 * smallest_radius,
    };
    if edge > smallest_radius {
        return wrong(
            &field("edge"),
            format!("folds of radius {smallest_radius} m do not show on edges of {edge} m"),
            "give at most `smallest_radius`; half of it is usual",
        );
    }
    let longest = (pattern.corners.iter())
        .flat_map(|c| (0..3).map(|k| c[k].distance(c[(k + 1) % 3])))
        .fold(0.0f64, f64::max);
    let pieces = (longest / edge).ceil().clamp(1.0, 1e4) as u32;
    let vertices = FineMesh::count(&pattern, pieces);
    if vertices > MOST_VERTICES {
        return wrong(
            &field("edge"),
            format!("edges of {edge} m make {vertices} vertices, more than {MOST_VERTICES}"),
            "give longer ones, or a larger `smallest_radius`",
        );
    }
    let spacing = match written.spacing {
        FoldSpacing::Radius => Spacing::Radius,
        FoldSpacing::Measured => {
            let Some(thickness) = cloth.thickness else {
                return wrong(
                    &field("spacing"),
                    "the measured wavelength needs a thickness",
                    "give the body a `thickness` in m or a `fabric`",
                );
            };
            Spacing::Measured {
                length: size,
                thickness,
                poisson_ratio: cloth.poisson_ratio.unwrap_or(POISSON_RATIO),
            }
        }
    };
    let side = match written.side {
        FoldSide::Out => 1.0,
        FoldSide::In => -1.0,
    };
    let settings = Settings { smallest_radius, threshold: written.threshold, side, spacing };
    let fine = FineMesh::new(&pattern, pieces);
    Ok(Arc::new(Wrinkles { settings, pattern, fine, profile: Profile::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{
        BonePose, Border, Character, Elastic, Grid, Group, InlineMesh, Key, Layout, Motion, Pin, PlayedClip,
        RigSource, Scene, Select, SkinShape, SolverKind, Tear,
    };
    use crate::skin::generate::{Limb, add_turns, limb};
    use crate::{ModelBuilder, Simulation};

    /// A sheet whose right side is pushed towards its left one.
    fn scene(wrinkles: Wrinkling) -> Scene {
        let push = Key { t: 0.5, translate: [-0.2, 0.0, 0.0], ..Key::default() };
        let motion = Motion { keys: vec![Key::default(), push], ..Motion::default() };
        let pin = |name: &str, border, motion| Pin {
            name: name.into(),
            select: Select::Border(border),
            motion,
            ..Pin::default()
        };
        let body = Body {
            shape: Shape::Grid(Grid { vertices: [9, 7], ..Grid::default() }),
            fabric: Some("cotton".into()),
            pins: vec![pin("left", Border::U0, None), pin("right", Border::U1, Some(motion))],
            wrinkles: Some(wrinkles),
            ..Body::default()
        };
        Scene { bodies: vec![body], gravity: [0.0; 3], ..Scene::default() }
    }

    fn coarse_folds() -> Wrinkling {
        Wrinkling { smallest_radius: Some(0.03), ..Wrinkling::default() }
    }

    fn problem(scene: &Scene) -> String {
        ModelBuilder::new(scene).build().err().map_or("no error".into(), |error| error.to_string())
    }

    #[test]
    fn folds_rise_and_a_restored_run_goes_on_with_the_same_bits() {
        let scene = scene(coarse_folds());
        let mut simulation = Simulation::new(ModelBuilder::new(&scene).build().unwrap());
        let coarse = simulation.state().bodies[0].x.len();
        assert!(simulation.wrinkled(0).unwrap().len() > 10 * coarse);
        assert!(simulation.state().folds[0].curves.is_empty());
        (0..40).for_each(|_| simulation.step());
        assert!(simulation.state().folds[0].curves.len() > 2);
        let [before, after] = simulation.isometry(0).unwrap();
        assert!(after.compression < 0.8 * before.compression, "{before:?} {after:?}");
        let snapshot = simulation.snapshot();
        (0..20).for_each(|_| simulation.step());
        let mut again = Simulation::new(ModelBuilder::new(&scene).build().unwrap()).with_threads(2).unwrap();
        again.restore(&snapshot).unwrap();
        (0..20).for_each(|_| again.step());
        assert_eq!(simulation.state_hash(), again.state_hash());
        assert_eq!(simulation.wrinkled(0), again.wrinkled(0));
        // A changed stiffness keeps folds, another radius lets them rise anew.
        let mut changed = scene.clone();
        changed.bodies[0].skin = 0.003;
        again.adopt(ModelBuilder::new(&changed).build().unwrap()).unwrap();
        assert_eq!(again.state().folds, simulation.state().folds);
        changed.bodies[0].wrinkles = Some(Wrinkling { smallest_radius: Some(0.04), ..Wrinkling::default() });
        again.adopt(ModelBuilder::new(&changed).build().unwrap()).unwrap();
        assert!(again.state().folds[0].curves.is_empty());
        again.step();
        // A hand that writes nonsense sees no surface, and the next step puts it right.
        again.state_mut().bodies[0].x[3].y = f64::NAN;
        assert_eq!(again.wrinkled(0), None);
        again.step();
        assert!(again.wrinkled(0).unwrap().iter().all(|p| p.is_finite()));
    }

    #[test]
    fn the_fabric_gives_the_radius_and_both_spacings_work() {
        let mut scene = scene(Wrinkling { edge: Some(0.008), ..Wrinkling::default() });
        let radius = |scene: &Scene| {
            let model = ModelBuilder::new(scene).build().unwrap();
            model.bodies[0].wrinkles.as_ref().unwrap().settings.smallest_radius
        };
        assert_eq!(radius(&scene), 0.008);
        scene.bodies[0].wrinkles =
            Some(Wrinkling { spacing: FoldSpacing::Measured, side: FoldSide::In, ..coarse_folds() });
        assert_eq!(radius(&scene), 0.03);
    }

    /// A round limb that bends in its middle: its skin is pressed together on one side.
    fn bent_limb() -> Scene {
        let bar = Limb { length: 0.6, radii: [0.06; 2], sides: 16, rings: 18, cap_rings: 3, bones: 3 };
        let mut rig = limb(&bar);
        let turn = |bone: u32, t: f64| if bone == 1 { DVec3::new(0.0, 0.0, 80.0 * t) } else { DVec3::ZERO };
        add_turns(&mut rig, "bend", 3, &[0.0, 1.0], turn);
        let clip = PlayedClip { name: "bend".into(), repeat: false, ..PlayedClip::default() };
        let character = Character {
            name: "arm".into(),
            rig: RigSource::Inline(rig),
            clips: vec![clip],
            ..Character::default()
        };
        let skin = SkinShape { character: "arm".into(), ..SkinShape::default() };
        let collider = Collider {
            name: "sleeve".into(),
            shape: ColliderShape::Skin(skin),
            wrinkles: Some(Wrinkling { smallest_radius: Some(0.01), ..Wrinkling::default() }),
            ..Collider::default()
        };
        Scene { characters: vec![character], colliders: vec![collider], ..Scene::default() }
    }

    #[test]
    fn skins_get_folds_too() {
        let scene = bent_limb();
        let mut simulation = Simulation::new(ModelBuilder::new(&scene).build().unwrap());
        assert!(simulation.state().skin_folds[0].curves.is_empty(), "straight at first");
        (0..30).for_each(|_| simulation.step());
        let snapshot = simulation.snapshot();
        (0..30).for_each(|_| simulation.step());
        assert!(!simulation.state().skin_folds[0].curves.is_empty());
        let [coarse, fine] = simulation.skin_isometry(0).unwrap();
        assert!(fine.compression < 0.9 * coarse.compression, "{coarse:?} {fine:?}");
        assert!(simulation.wrinkled_skin(0).unwrap().iter().all(|p| p.is_finite()));
        let mut again = Simulation::new(ModelBuilder::new(&scene).build().unwrap()).with_threads(2).unwrap();
        again.restore(&snapshot).unwrap();
        (0..30).for_each(|_| again.step());
        assert_eq!(
            (simulation.state_hash(), &simulation.state().skin_folds),
            (again.state_hash(), &again.state().skin_folds)
        );
        // A live change keeps folds of the same fabric.
        let mut changed = scene.clone();
        changed.colliders[0].friction = 0.9;
        again.adopt(ModelBuilder::new(&changed).build().unwrap()).unwrap();
        assert_eq!(again.state().skin_folds, simulation.state().skin_folds);
        changed.colliders[0].wrinkles = None;
        again.adopt(ModelBuilder::new(&changed).build().unwrap()).unwrap();
        assert!(again.state().skin_folds[0].curves.is_empty() && again.wrinkled_skin(0).is_none());
        // What is rigid is never compressed, and a skin has no fabric.
        changed.colliders[0].wrinkles = Some(Wrinkling::default());
        assert!(problem(&changed).contains("collider[0].wrinkles.smallest_radius"), "{}", problem(&changed));
        changed.colliders[0].shape = ColliderShape::default();
        assert!(problem(&changed).contains("no skin of a character"), "{}", problem(&changed));
    }

    /// A pose that a character keeps presses its skin together as a clip does: it is not what folds are measured from.
    #[test]
    fn a_kept_pose_is_folded_as_a_clip_that_comes_to_it() {
        let played = bent_limb();
        let mut bent = Simulation::new(ModelBuilder::new(&played).build().unwrap());
        (0..90).for_each(|_| bent.step());
        let mut kept = bent_limb();
        kept.characters[0].clips.clear();
        let bone = match &kept.characters[0].rig {
            RigSource::Inline(rig) => rig.nodes[rig.skins[0].joints[1] as usize].name.clone(),
            RigSource::File(_) => unreachable!(),
        };
        let turned = BonePose { bone, rotate_deg: [0.0, 0.0, 80.0], ..BonePose::default() };
        kept.characters[0].poses = vec![turned];
        let mut posed = Simulation::new(ModelBuilder::new(&kept).build().unwrap());
        (0..90).for_each(|_| posed.step());
        let [by_clip, by_pose] = [&bent, &posed].map(|run| run.skin_isometry(0).unwrap());
        assert!(!posed.state().skin_folds[0].curves.is_empty());
        assert!(
            (by_clip[0].compression - by_pose[0].compression).abs() < 1e-6,
            "the same skin is pressed together alike: {by_clip:?} {by_pose:?}"
        );
        assert!(by_pose[1].compression < 0.9 * by_pose[0].compression, "{by_pose:?}");
        // A layer of that skin, which is folded as a body.
        let skin = SkinShape { character: "arm".into(), ..SkinShape::default() };
        kept.colliders.clear();
        kept.groups = vec![Group { solver: SolverKind::Goals, ..Group::default() }];
        kept.bodies = vec![Body {
            shape: Shape::Skin(skin),
            elastic: Some(Elastic { attachment: 0.9, ..Elastic::default() }),
            wrinkles: Some(Wrinkling { smallest_radius: Some(0.01), ..Wrinkling::default() }),
            ..Body::default()
        }];
        let mut layer = Simulation::new(ModelBuilder::new(&kept).build().unwrap());
        (0..30).for_each(|_| layer.step());
        let [coarse, _] = layer.isometry(0).unwrap();
        assert!(coarse.compression > 0.5 * by_pose[0].compression, "{coarse:?} {by_pose:?}");
    }

    #[test]
    fn bad_folds_are_refused_by_name() {
        let with = |wrinkles: Wrinkling| problem(&scene(wrinkles));
        for bad in [0.0, -0.01, f64::NAN, f64::INFINITY] {
            let found = with(Wrinkling { smallest_radius: Some(bad), ..Wrinkling::default() });
            assert!(found.contains("wrinkles.smallest_radius"), "{found}");
            let found = with(Wrinkling { edge: Some(bad), ..coarse_folds() });
            assert!(found.contains("wrinkles.edge"), "{found}");
        }
        let large = with(Wrinkling { smallest_radius: Some(2.0), ..Wrinkling::default() });
        assert!(large.contains("no fold of radius 2 m fits"), "{large}");
        let tiny = with(Wrinkling { smallest_radius: Some(1e-5), ..Wrinkling::default() });
        assert!(tiny.contains("wrinkles.edge") && tiny.contains("vertices"), "{tiny}");
        for threshold in [0.0, 0.5, f64::NAN] {
            let found = with(Wrinkling { threshold, ..coarse_folds() });
            assert!(found.contains("wrinkles.threshold"), "{found}");
        }
        let coarse = with(Wrinkling { edge: Some(0.1), ..coarse_folds() });
        assert!(coarse.contains("do not show"), "{coarse}");
        let grid = with(Wrinkling { pattern: FoldPattern::Uv, ..coarse_folds() });
        assert!(grid.contains("wrinkles.pattern"), "{grid}");
        let mut torn = scene(coarse_folds());
        torn.bodies[0].tear = Some(Tear::default());
        assert!(problem(&torn).contains("wrinkles"), "{}", problem(&torn));
        let mut bare = scene(Wrinkling::default());
        bare.bodies[0].fabric = None;
        bare.bodies[0].density = Some(0.1);
        bare.bodies[0].springs.stretch.modulus = Some(100.0);
        assert!(problem(&bare).contains("no fabric to take it from"), "{}", problem(&bare));
        // A mesh whose texture coordinates are not its pattern.
        let mut mesh = scene(Wrinkling { pattern: FoldPattern::Uv, ..coarse_folds() });
        mesh.bodies[0].pins.clear();
        mesh.bodies[0].springs.layout = Layout::Graph(1);
        let inline = InlineMesh {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0]],
            triangles: vec![[0, 2, 1], [1, 2, 3]],
            uvs: vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [4.0, 4.0]],
            ..InlineMesh::default()
        };
        mesh.bodies[0].shape = Shape::Mesh(inline);
        let found = problem(&mesh);
        assert!(found.contains("wrinkles.pattern") && found.contains("times as long"), "{found}");
    }
}
