//! Scenes that name volume files: voxels in their place, errors that name the field and the file, and the organ of the library.

use souple::scene::{InlineVolume, Scene, Shape};
use souple::{ModelBuilder, Simulation};
use souple_formats::scene::{read_scene, read_scene_bytes, resolve_meshes, write_scene_toml};

const SCENE: &str = "format = 1\n[[body]]\nname = \"a\"\nyoung_modulus = 1e4\ndensity = 1000.0\n";
const HEADER: &str =
    "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 1 2\nspacings: 1 1 1\nencoding: ascii\n\n";

fn named(shape: &str) -> Scene {
    read_scene(&format!("{SCENE}shape = {shape}\n"), "a.toml").unwrap_or_else(|error| panic!("{error}")).scene
}

fn volume(scene: &Scene) -> Option<&InlineVolume> {
    match &scene.bodies[0].shape {
        Shape::Voxels(voxels) => voxels.volume.as_ref(),
        _ => None,
    }
}

#[test]
fn a_volume_file_is_read_into_the_scene_which_can_be_written_and_read_again() {
    let mut scene = named("{ voxels = { path = \"a.nrrd\", labels = [2] } }");
    let mut asked = Vec::new();
    resolve_meshes(&mut scene, &mut |path| {
        asked.push(path.to_owned());
        Ok(format!("{HEADER}1 2 2 2\n").into_bytes())
    })
    .unwrap();
    assert_eq!(asked, ["a.nrrd"]);
    let found = volume(&scene).unwrap();
    assert_eq!((found.size, found.runs.as_slice()), ([2, 1, 2], &[[1, 1], [2, 3]][..]));
    assert_eq!((found.count(&[]), found.count(&[2])), (4, 3));
    // What was read is not read again.
    resolve_meshes(&mut scene, &mut |_| panic!("it was read")).unwrap();
    let again = read_scene(&write_scene_toml(&scene).unwrap(), "a.toml").unwrap().scene;
    assert_eq!(again, scene);
    ModelBuilder::new(&scene).build().unwrap();
}

#[test]
fn files_that_cannot_be_used_are_refused_by_name() {
    let refused = |path: &str, bytes: Result<&str, &str>| {
        let mut scene = named(&format!("{{ voxels = {{ path = \"{path}\" }} }}"));
        let bytes = bytes.map(|text| text.as_bytes().to_vec()).map_err(str::to_owned);
        let error = resolve_meshes(&mut scene, &mut |_| bytes.clone()).unwrap_err();
        assert_eq!(error.field, "body[0].shape.voxels.path");
        error.problem
    };
    assert_eq!(refused("a.nrrd", Err("no such file")), "cannot read 'a.nrrd': no such file");
    let short = refused("a.nrrd", Ok(&format!("{HEADER}1 2 2\n")));
    assert!(short.starts_with("cannot use 'a.nrrd': NRRD"), "{short}");
    let picture = refused("a.nrrd", Ok(&format!("{HEADER}1 2 2 -7\n")));
    assert!(picture.contains("'a.nrrd'") && picture.contains("-7"), "{picture}");
    assert_eq!(refused("a.obj", Ok("")), "'a.obj' is not a volume format that can be read");
    // A raw file that is shorter than its header says.
    let cut = HEADER.replace("ascii", "raw") + "\x01\x02";
    let cut = refused("a.nrrd", Ok(&cut));
    assert!(cut.contains("needs 4") && cut.contains("cut short"), "{cut}");

    // Nothing but empty voxels is found when the scene is built.
    let mut empty = named("{ voxels = { path = \"a.nrrd\" } }");
    resolve_meshes(&mut empty, &mut |_| Ok(format!("{HEADER}0 0 0 0\n").into_bytes())).unwrap();
    let Err(error) = ModelBuilder::new(&empty).build() else { panic!("it was built") };
    assert!(error.to_string().contains("every voxel has the label 0"), "{error}");
    let Err(error) = ModelBuilder::new(&named("{ voxels = { path = \"a.nrrd\" } }")).build() else {
        panic!("it was built")
    };
    assert!(error.to_string().contains("'a.nrrd' was not read"), "{error}");
}

#[test]
fn the_organ_of_the_library_sinks_and_its_lump_keeps_its_shape() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/soft");
    let text = std::fs::read(folder.join("voxel_organ.toml")).unwrap();
    let mut scene = read_scene_bytes(&text, "voxel_organ.toml").unwrap().scene;
    resolve_meshes(&mut scene, &mut |name| Ok(std::fs::read(folder.join(name)).unwrap())).unwrap();
    let model = ModelBuilder::new(&scene).build().unwrap();
    assert_eq!(souple::check::lint(&scene, &model), []);
    let (topology, frames) = (model.bodies[0].topology.clone(), scene.time.frames);
    let mass: f64 = topology.masses.iter().sum();
    let voxel = 0.003f64.powi(3);
    let volume = volume(&scene).unwrap();
    let exact = voxel * (1050.0 * volume.count(&[1]) as f64 + 1200.0 * volume.count(&[2]) as f64);
    assert!((mass / exact - 1.0).abs() < 1e-9, "{mass} of {exact}");
    let mut simulation = Simulation::new(model);
    (0..frames).for_each(|_| simulation.step());
    let x = &simulation.state().bodies[0].x;
    let rest = &topology.rest_positions;
    let sunk = x.iter().zip(rest).map(|(x, r)| r.y - x.y).fold(0.0, f64::max);
    assert!(sunk > 0.003 && sunk < 0.06, "{sunk}");
    // Edges of cells inside the lump, whose centre is at these metres, and of those of the same size on its other side from the wall.
    let strain = |low: f64, high: f64| {
        let middle = glam::DVec3::new(-0.018, 0.0, 0.0);
        let edges = topology.hexahedra.iter().filter(|h| {
            let far = h.iter().map(|&v| rest[v as usize].distance(middle)).fold(0.0, f64::max);
            let near = h.iter().map(|&v| rest[v as usize].distance(middle)).fold(f64::INFINITY, f64::min);
            near >= low && far <= high
        });
        let edges = edges.flat_map(|h| [(h[0], h[1]), (h[0], h[2]), (h[0], h[4]), (h[0], h[7])]);
        let ratio = |(a, b): (u32, u32)| {
            let (a, b) = (a as usize, b as usize);
            (x[a].distance(x[b]) / rest[a].distance(rest[b]) - 1.0).abs()
        };
        let all: Vec<f64> = edges.map(ratio).collect();
        assert!(all.len() >= 8, "{low} to {high}: {}", all.len());
        all.iter().sum::<f64>() / all.len() as f64
    };
    let (lump, around) = (strain(0.0, 0.0152), strain(0.016, 0.04));
    assert!(lump < 0.3 * around, "{lump} of {around}");
}
