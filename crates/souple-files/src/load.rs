//! From a scene file to a model: read, meshes resolved, size checked, built, with errors that show the line.

use std::path::Path;

use souple::scene::{ColliderShape, RigSource, Scene, Shape};
use souple::{Model, ModelBuilder, SceneError};
use souple_formats::import::Limits;
use souple_formats::import::volume::{VolumeFormat, VolumeLimits};
use souple_formats::scene::{MAX_SCENE_BYTES, SceneFile, Source, read_scene_bytes, resolve_meshes};

use crate::character_scene::{may_be_character, read_character_scene};
use crate::error::FileError;
use crate::scene_folder::SceneFolder;
use crate::{disk, size};

/// Most memory that is taken on purpose, bytes.
pub const MEMORY_LIMIT: u128 = 8 << 30;
/// About what the engine needs per particle, bytes: state, springs, neighbour lists, blocks of the solver.
pub const BYTES_PER_VERTEX: u128 = 1 << 10;

/// Endings of other files that people give instead of a scene: they would be read as TOML.
const NO_SCENES: [&str; 17] = [
    "obj", "ply", "stl", "3ds", "msh", "vtk", "vtu", "mesh", "nrrd", "nii", "pc2", "mdd", "png", "jpg",
    "jpeg", "md", "souprec",
];

/// A scene that can run.
#[derive(Debug)]
pub struct Loaded {
    /// The scene with its meshes inside.
    pub scene: Scene,
    /// Its text, to show lines of it.
    pub source: Source,
    /// The compiled scene.
    pub model: Model,
}

/// Reads a scene file; its mesh files stay on the disk. The file of a character is a scene that shows it.
pub fn read_scene_file(path: &Path) -> Result<SceneFile, FileError> {
    if may_be_character(path) {
        return read_character_scene(path);
    }
    let end = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    if NO_SCENES.contains(&end.as_str()) {
        return Err(FileError::file(
            path,
            format!("a file that ends in .{end} is no scene"),
            "scenes end in .toml or .json, characters in .glb or .gltf; a scene names meshes: `shape = { file = { path = \"mesh.obj\" } }`",
        ));
    }
    let bytes = disk::read(path, MAX_SCENE_BYTES, "scene")?;
    Ok(read_scene_bytes(&bytes, &path.display().to_string())?)
}

/// Reads a scene file and the mesh and volume files it names.
pub fn read_whole_scene(path: &Path, allow_outside: bool) -> Result<SceneFile, FileError> {
    let mut file = read_scene_file(path)?;
    resolve_files(&mut file, path, allow_outside)?;
    Ok(file)
}

/// Reads the files that a scene at that path names into it.
pub fn resolve_files(file: &mut SceneFile, path: &Path, allow_outside: bool) -> Result<(), FileError> {
    let folder = SceneFolder::of_scene(path, allow_outside);
    let mut read = |written: &str| match VolumeFormat::from_file_name(written) {
        Some(_) => folder.read(written, VolumeLimits::default().max_bytes, "volume"),
        None => folder.read(written, Limits::default().max_bytes, "mesh"),
    };
    resolve_meshes(&mut file.scene, &mut read).map_err(|error| file.source.explain(&error))?;
    Ok(())
}

/// Reads and compiles a scene.
pub fn load(path: &Path, allow_outside: bool) -> Result<Loaded, FileError> {
    build(read_whole_scene(path, allow_outside)?)
}

/// Compiles a scene whose meshes are inside.
pub fn build(file: SceneFile) -> Result<Loaded, FileError> {
    let SceneFile { scene, source } = file;
    let model = check_size(&scene).and_then(|()| ModelBuilder::new(&scene).build());
    let model = model.map_err(|error| source.explain(&error))?;
    Ok(Loaded { scene, source, model })
}

/// Number of vertices of a shape at the start; mesh and volume files that were not read count nothing.
pub fn vertex_count(shape: &Shape) -> u64 {
    match shape {
        Shape::Grid(grid) => u64::from(grid.vertices[0]) * u64::from(grid.vertices[1]),
        Shape::Rope(rope) => u64::from(rope.vertices),
        Shape::Strands(s) => u64::from(s.strands) * (u64::from(s.segments) + 1),
        Shape::Ball(ball) => 10u64.saturating_mul(4u64.saturating_pow(ball.subdivisions)).saturating_add(2),
        Shape::Block(block) => {
            block.cells.iter().fold(1, |count: u64, &n| count.saturating_mul(u64::from(n) + 1))
        }
        Shape::Mesh(mesh) => mesh.positions.len() as u64,
        // Those of a skin are counted with its character.
        Shape::File(_) | Shape::Skin(_) => 0,
        // About as many corners of cells as cells; where voxels are sparse there are more.
        Shape::Voxels(voxels) => {
            let count = voxels.volume.as_ref().map_or(0, |volume| volume.count(&voxels.labels));
            count / u64::from(voxels.group.max(1)).saturating_pow(3)
        }
    }
}

/// Refuses a scene that would fill the memory before it is built.
pub fn check_size(scene: &Scene) -> Result<(), SceneError> {
    let bodies = scene.bodies.iter().enumerate();
    let bodies = bodies.map(|(b, body)| (format!("body[{b}].shape"), vertex_count(&body.shape)));
    let colliders = scene.colliders.iter().enumerate();
    let colliders = colliders.map(|(c, collider)| {
        let vertices = match &collider.shape {
            // A mesh has about two triangles per vertex; one that has more needs more.
            ColliderShape::Mesh(mesh) => mesh.positions.len().max(mesh.triangles.len() / 2) as u64,
            _ => 0,
        };
        (format!("collider[{c}].shape"), vertices)
    });
    let characters = scene.characters.iter().enumerate();
    let characters = characters.map(|(c, character)| {
        let vertices = match &character.rig {
            RigSource::Inline(rig) => rig.meshes.iter().map(|mesh| mesh.positions.len() as u64).sum(),
            RigSource::File(_) => 0,
        };
        (format!("character[{c}].rig"), vertices)
    });
    let mut bytes: u128 = 0;
    for (field, vertices) in bodies.chain(colliders).chain(characters) {
        bytes += u128::from(vertices) * BYTES_PER_VERTEX;
        if bytes > MEMORY_LIMIT {
            let (needed, limit) = (size(bytes), size(MEMORY_LIMIT));
            return Err(SceneError::new(
                field,
                format!("the scene up to here would need about {needed} of memory; the limit is {limit}"),
                "use fewer vertices",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use souple::Simulation;

    use super::*;

    /// The strap of the runner stays outside of its trunk all the time. (Its collider was put where the chest is if nothing is played, but taken to be there when the
    /// clip begins, in the midst of a leap: the strap sank into the back.)
    #[test]
    fn a_strap_does_not_sink_into_the_back_of_a_runner() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/characters/strap.toml");
        let loaded = load(&path, false).unwrap();
        let find = |name: &str| loaded.model.characters[0].rig.meshes.iter().position(|m| m.name == name);
        let (trunk, strap) = (find("trunk").unwrap() as u32, find("strap").unwrap() as u32);
        let triangles = loaded.model.characters[0].rig.meshes[trunk as usize].mesh.triangles.clone();
        let mut simulation = Simulation::new(loaded.model);
        let mut deepest = 0.0f64;
        for step in 0..90 {
            simulation.step();
            if step % 6 != 5 {
                continue;
            }
            let skin = simulation.character_places(0, trunk);
            for x in simulation.character_places(0, strap) {
                // The trunk is round: the middle of the nearest triangle tells the side.
                let nearest = triangles.iter().map(|t| t.map(|v| skin[v as usize])).min_by(|a, b| {
                    let far = |[a, b, c]: &[DVec3; 3]| ((*a + *b + *c) / 3.0).distance_squared(x);
                    far(a).total_cmp(&far(b))
                });
                let [a, b, c] = nearest.unwrap();
                let height = (x - a).dot((b - a).cross(c - a).normalize());
                deepest = deepest.min(height);
            }
        }
        assert!(deepest >= 0.0, "{deepest} m inside");
    }
}
