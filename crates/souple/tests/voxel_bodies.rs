//! Bodies from labelled voxels: they weigh what their labels weigh, hard labels give way less than soft ones, they stand wherever they are put, and what
//! cannot be is refused by name (FAU-14, FAU-21, FAU-84).

use glam::DVec3;
use souple::mesh::{VoxelVolume, enclosed_volume, open_edges};
use souple::scene::{
    Body, Embed, Group, InlineVolume, Material, Pin, Placement, Pull, Rayleigh, Region, Scene, Select, Shape,
    SolverKind, VoxelShape,
};
use souple::{Model, ModelBuilder, SceneError, Simulation};

const VOXEL: f64 = 0.01;

fn volume(size: [usize; 3], label: impl Fn(DVec3) -> u16) -> VoxelVolume {
    let mut volume = VoxelVolume { size, spacing: [VOXEL; 3], origin: [0.5 * VOXEL; 3], labels: Vec::new() };
    for k in 0..size[2] {
        for j in 0..size[1] {
            for i in 0..size[0] {
                volume.labels.push(label(DVec3::new(i as f64, j as f64, k as f64) + 0.5));
            }
        }
    }
    volume
}

/// An egg of label 3 with a ball of label 7 in it.
fn egg() -> VoxelVolume {
    let middle = DVec3::new(10.5, 8.5, 8.0);
    volume([22, 18, 17], |p| {
        let d = p - middle;
        match (d.length() < 3.5, (d / DVec3::new(9.0, 7.0, 6.5)).length() < 1.0) {
            (true, _) => 7,
            (false, inside) => {
                if inside {
                    3
                } else {
                    0
                }
            }
        }
    })
}

fn material(label: u32, young: f64) -> Material {
    Material { label, young_modulus: Some(young), ..Material::default() }
}

fn scene(volume: &VoxelVolume) -> Scene {
    let shape = VoxelShape { volume: Some(InlineVolume::new(volume)), ..VoxelShape::default() };
    let heavy = |label, young, density| Material { density: Some(density), ..material(label, young) };
    let body = Body {
        name: "egg".into(),
        shape: Shape::Voxels(shape),
        materials: vec![heavy(3, 2e4, 1000.0), heavy(7, 2e6, 1500.0)],
        poisson_ratio: Some(0.35),
        rayleigh: Some(Rayleigh { mass: 4.0, stiffness: Some(0.01) }),
        ..Body::default()
    };
    let groups = vec![Group { solver: SolverKind::ImplicitEulerCg, ..Group::default() }];
    Scene { groups, bodies: vec![body], ..Scene::default() }
}

fn voxels(scene: &mut Scene) -> &mut VoxelShape {
    match &mut scene.bodies[0].shape {
        Shape::Voxels(voxels) => voxels,
        _ => panic!("it is of voxels"),
    }
}

fn build(scene: &Scene) -> Model {
    ModelBuilder::new(scene).build().unwrap_or_else(|error| panic!("{error}"))
}

fn mass(model: &Model) -> f64 {
    model.bodies[0].topology.masses.iter().sum()
}

/// Volume of the voxels of a label, m³.
fn of_label(volume: &VoxelVolume, label: u16) -> f64 {
    volume.labels.iter().filter(|l| **l == label).count() as f64 * (VOXEL * VOXEL * VOXEL)
}

#[test]
fn it_weighs_what_its_labels_weigh_and_its_surface_is_closed() {
    let egg = egg();
    let exact = 1000.0 * of_label(&egg, 3) + 1500.0 * of_label(&egg, 7);
    for group in [1, 2, 3] {
        let mut scene = scene(&egg);
        voxels(&mut scene).group = group;
        let model = build(&scene);
        let topology = &model.bodies[0].topology;
        // Cells that are not full get a filler of 3 % of a cell, so that their corners are held: what is heavier is at most that share of all cells.
        let edge = f64::from(group) * VOXEL;
        let cells = topology.hexahedra.len() as f64 * edge * edge * edge;
        let filler = mass(&model) - exact;
        assert!(filler > -1e-9 * exact && filler <= 0.03 * 1000.0 * cells, "{group}: {filler} of {exact}");
        // Cells of one voxel are all full.
        assert!(group > 1 || filler.abs() < 1e-9 * exact, "{filler}");
        assert_eq!(open_edges(&topology.triangles), 0);
        let volume = enclosed_volume(&topology.rest_positions, &topology.triangles);
        let counted = of_label(&egg, 3) + of_label(&egg, 7);
        assert!((volume / counted - 1.0).abs() < 0.05, "{volume} of {counted}");
    }
    // Of the body: one density, or a mass that is exact.
    let mut plain = scene(&egg);
    plain.bodies[0].materials.iter_mut().for_each(|m| m.density = None);
    plain.bodies[0].mass = Some(2.5);
    assert!((mass(&build(&plain)) - 2.5).abs() < 1e-12);
    plain.bodies[0].mass = None;
    plain.bodies[0].density = Some(1000.0);
    voxels(&mut plain).labels = vec![7];
    plain.bodies[0].materials.remove(0);
    let ball = mass(&build(&plain)) / (1000.0 * of_label(&egg, 7));
    assert!((1.0..1.06).contains(&ball), "{ball}");
}

#[test]
fn the_hard_part_strains_less_than_the_soft_one_under_the_same_load() {
    // A bar held at its upper end and pulled at its lower one: the same force goes through both labels, one above the other.
    let bar = volume([8, 12, 4], |p| if p.y < 6.0 { 2 } else { 1 });
    let force = 0.32;
    let strains = |young: [f64; 2]| {
        let mut scene = scene(&bar);
        scene.gravity = [0.0; 3];
        let body = &mut scene.bodies[0];
        body.materials = (1..).zip(young).map(|(label, young)| material(label, young)).collect();
        (body.density, body.poisson_ratio) = (Some(1000.0), Some(0.0));
        let slice = |low: f64, high: f64| {
            Select::Within(Region { min: [-1.0, low * VOXEL, -1.0], max: [1.0, high * VOXEL, 1.0] })
        };
        body.pins = vec![Pin { select: slice(11.5, 13.0), ..Pin::default() }];
        body.pulls =
            vec![Pull { select: slice(-1.0, 0.5), force: [0.0, -force, 0.0], from: 0.0, until: None }];
        let mut s = Simulation::new(build(&scene));
        (0..200).for_each(|_| s.step());
        let (x, rest) = (&s.state().bodies[0].x, &s.model().bodies[0].topology.rest_positions);
        let down = |layer: f64| {
            let at = |p: &DVec3| (p.y - layer * VOXEL).abs() < 1e-9;
            let all: Vec<f64> = rest.iter().zip(x).filter(|(r, _)| at(r)).map(|(r, x)| r.y - x.y).collect();
            all.iter().sum::<f64>() / all.len() as f64
        };
        [(down(6.0) - down(10.0)) / (4.0 * VOXEL), (down(2.0) - down(6.0)) / (4.0 * VOXEL)]
    };
    let stress = force / (8.0 * 4.0 * VOXEL * VOXEL);
    for young in [[5e3, 1e5], [1e5, 5e3], [2e4, 2e4]] {
        for (strain, young) in strains(young).into_iter().zip(young) {
            let exact = stress / young;
            assert!((strain / exact - 1.0).abs() < 0.1, "{strain} of {exact} at {young} Pa");
        }
    }
}

#[test]
fn it_is_scaled_turned_and_moved_like_any_body() {
    let egg = egg();
    let mut placed = scene(&egg);
    placed.gravity = [0.0; 3];
    placed.bodies[0].placement =
        Placement { translate: [1.0, 2.0, 3.0], rotate_deg: [0.0, 50.0, 0.0], scale: 2.0 };
    let (here, there) = (build(&scene(&egg)), build(&placed));
    assert!((mass(&there) / mass(&here) - 8.0).abs() < 1e-9);
    // Nothing pulls at it: it is at rest in its place, also where it is turned.
    let mut s = Simulation::new(there);
    (0..20).for_each(|_| s.step());
    let rest = &s.model().bodies[0].topology.rest_positions;
    let moved = s.state().bodies[0].x.iter().zip(rest).map(|(x, r)| x.distance(*r)).fold(0.0, f64::max);
    assert!(moved < 1e-9, "{moved}");
}

#[test]
fn a_rigid_body_has_the_surface_alone() {
    let mut rigid = scene(&egg());
    let body = &mut rigid.bodies[0];
    (body.rigid, body.density, body.poisson_ratio) = (true, Some(1000.0), None);
    body.materials.clear();
    let mut s = Simulation::new(build(&rigid));
    (0..30).for_each(|_| s.step());
    let (x, rest) = (&s.state().bodies[0].x, &s.model().bodies[0].topology.rest_positions);
    let fell = |v: usize| rest[v].y - x[v].y;
    assert!(fell(0) > 0.5 && (fell(0) - fell(100)).abs() < 1e-6, "{} {}", fell(0), fell(100));
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let refused = |change: &dyn Fn(&mut Scene)| -> SceneError {
        let mut scene = scene(&egg());
        change(&mut scene);
        match ModelBuilder::new(&scene).build() {
            Err(error) => error,
            Ok(_) => panic!("it was built"),
        }
    };
    let inline = |change: &dyn Fn(&mut InlineVolume)| {
        refused(&|s| {
            if let Some(volume) = &mut voxels(s).volume {
                change(volume);
            }
        })
    };
    let cases = [
        (refused(&|s| voxels(s).group = 0), "body[0].shape.voxels.group", "from 1 to 16, not 0"),
        (refused(&|s| voxels(s).group = 17), "body[0].shape.voxels.group", "not 17"),
        (refused(&|s| voxels(s).labels = vec![3, 9]), "body[0].shape.voxels.labels[1]", "known labels: 3, 7"),
        (refused(&|s| voxels(s).labels = vec![0]), "body[0].shape.voxels.labels[0]", "empty"),
        (refused(&|s| voxels(s).labels = vec![3]), "body[0].material[1].label", "no voxel has the label 7"),
        (refused(&|s| voxels(s).volume = None), "body[0].shape.voxels.path", "no volume is named"),
        (refused(&|s| voxels(s).path = "a.nrrd".into()), "body[0].shape.voxels.volume", "both"),
        (
            inline(&|v| v.runs = vec![[0, 22 * 18 * 17]]),
            "body[0].shape.voxels",
            "every voxel has the label 0",
        ),
        (inline(&|v| v.runs.truncate(3)), "body[0].shape.voxels.volume.runs", "but the size says 6732"),
        (inline(&|v| v.spacing[1] = 0.0), "body[0].shape.voxels.volume.spacing", "greater than 0"),
        (inline(&|v| v.size = [u32::MAX; 3]), "body[0].shape.voxels.volume.size", "crop"),
        (refused(&|s| s.bodies[0].materials[0].label = 4), "body[0].material[0].label", "known labels: 3, 7"),
        (
            refused(&|s| s.bodies[0].materials.truncate(1)),
            "body[0].density",
            "voxels of label 7 have no mass",
        ),
        (refused(&|s| s.bodies[0].embed = Some(Embed::default())), "body[0].embed", "a solid already"),
        (refused(&|s| s.bodies[0].rigid = true), "body[0].poisson_ratio", "rigid"),
    ];
    for (error, field, what) in cases {
        assert_eq!(error.field, field, "{error}");
        let said = format!("{error}; {}", error.help);
        assert!(said.contains(what), "{said}");
    }
}

#[test]
fn too_many_cells_are_refused_with_the_memory_they_would_take() {
    let volume = InlineVolume {
        size: [120, 120, 120],
        spacing: [1e-3; 3],
        origin: [0.0; 3],
        runs: vec![[1, 120 * 120 * 120]],
    };
    let mut scene = scene(&egg());
    *voxels(&mut scene) = VoxelShape { group: 1, volume: Some(volume), ..VoxelShape::default() };
    let Err(error) = ModelBuilder::new(&scene).build() else { panic!("it was built") };
    assert_eq!(error.field, "body[0].shape.voxels.group");
    assert!(error.problem.contains("1.73e6 cells, which take about 13.8 GB"), "{error}");
}

#[test]
fn too_many_cells_around_a_surface_are_refused_as_well() {
    let ball = Shape::Ball(souple::scene::Ball { radius: 1.0, ..souple::scene::Ball::default() });
    let mut scene = scene(&egg());
    scene.bodies[0] = Body {
        shape: ball,
        density: Some(1000.0),
        young_modulus: Some(1e5),
        embed: Some(Embed { cell: 0.015, fine: 1, ..Embed::default() }),
        ..Body::default()
    };
    let Err(error) = ModelBuilder::new(&scene).build() else { panic!("it was built") };
    assert_eq!(error.field, "body[0].embed.cell", "{error}");
    assert!(error.problem.contains("1.2") && error.problem.contains("GB"), "{error}");
}
