//! The files that an edited scene names, and compiling it on any thread.
//!
//! Paths in a scene are relative to its file and stay inside its folder ([`SceneFolder`]). A scene that was never saved
//! has no folder, and a person may add a mesh or an image from anywhere: such a file is kept by its absolute path, and
//! only because the person chose it. Saving copies it next to the scene (see [`crate::document::Document::save_as`]).
//! An absolute path that merely stands in a scene file is refused.
//!
//! Meshes, volumes and characters are parsed once and kept until their file changes, so that dragging a slider does not read them again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use souple::scene::{
    ColliderShape, InlineMesh, InlineVolume, MeshFile, PaintSource, Rig, RigFile, RigSource, Scene, Shape,
    Style, VoxelShape,
};
use souple::{Model, ModelBuilder, SceneError};
use souple_files::bake::Recipe;
use souple_files::{FileChange, FileWatch, SceneFolder, check_size, disk};
use souple_formats::import::Limits;
use souple_formats::import::volume::VolumeLimits;
use souple_formats::picture::PictureLimits;
use souple_formats::scene::{beside_path, read_mesh_file, read_paints, read_rig_file, read_volume_file};

/// A scene, compiled.
#[derive(Debug)]
pub struct Compiled {
    /// The scene with its meshes inside.
    pub scene: Scene,
    /// The model.
    pub model: Model,
    /// [`crate::document::Document::revision`] of what was compiled.
    pub revision: u64,
}

/// All that is needed to compile a scene on another thread; cheap to clone.
#[derive(Clone, Debug)]
pub struct BuildJob {
    pub(crate) scene: Arc<Scene>,
    pub(crate) files: SceneFiles,
    pub(crate) revision: u64,
}

impl BuildJob {
    /// Reads mesh files that are not known yet, checks every number and compiles. The message names the field.
    pub fn run(&self) -> Result<Compiled, String> {
        let explain = |error: SceneError| match error.help.is_empty() {
            true => error.to_string(),
            false => format!("{error}; {}", error.help),
        };
        let scene = self.files.resolve(&self.scene).map_err(explain)?;
        let model = check_size(&scene).and_then(|()| ModelBuilder::new(&scene).build()).map_err(explain)?;
        Ok(Compiled { scene, model, revision: self.revision })
    }

    /// What is needed to bake a character of the compiled scene: that, and the glTF file that the character came from.
    pub(crate) fn recipe(&self, scene: Scene, character: usize) -> Result<Recipe<'_>, String> {
        let written = self.scene.characters.get(character).ok_or("there is no such character")?;
        let limit = Limits::default().max_bytes;
        let path = match &written.rig {
            RigSource::File(RigFile { path, skeleton: None }) => Some(path),
            _ => None,
        };
        let file = path.map(|path| self.files.read(path, limit, "character")).transpose()?;
        let name = path.cloned().unwrap_or_else(|| written.name.clone());
        let beside = {
            let name = name.clone();
            move |uri: &str| self.files.read(&beside_path(&name, uri), limit, "buffer")
        };
        let path = PathBuf::from(name);
        Ok(Recipe { scene, character, path, file, beside: Box::new(beside), source: None })
    }
}

/// Reads the files of one scene; clones share what was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct SceneFiles {
    /// Where the scene file lies; none before it was saved.
    folder: Option<SceneFolder>,
    /// Files outside that the person chose.
    chosen: Arc<BTreeSet<PathBuf>>,
    meshes: Arc<Mutex<MeshCache>>,
    volumes: Arc<Mutex<VolumeCache>>,
    rigs: Arc<Mutex<RigCache>>,
}

#[derive(Debug, Default)]
struct MeshCache(BTreeMap<(PathBuf, bool), (FileWatch, InlineMesh)>);

#[derive(Debug, Default)]
struct VolumeCache(BTreeMap<PathBuf, (FileWatch, InlineVolume)>);

#[derive(Debug, Default)]
struct RigCache(BTreeMap<PathBuf, (FileWatch, Arc<Rig>)>);

impl SceneFiles {
    /// The files of a scene file.
    pub(crate) fn of_scene(path: &Path) -> SceneFiles {
        SceneFiles { folder: Some(SceneFolder::of_scene(path, false)), ..SceneFiles::default() }
    }

    /// The same, for a scene that now lies elsewhere.
    pub(crate) fn moved_to(&self, path: &Path) -> SceneFiles {
        SceneFiles { folder: Some(SceneFolder::of_scene(path, false)), ..self.clone() }
    }

    /// Allows a file outside.
    pub(crate) fn choose(&mut self, path: &Path) {
        Arc::make_mut(&mut self.chosen).insert(path.to_path_buf());
    }

    /// Where a file lies by the path that is written in the scene.
    pub(crate) fn path(&self, written: &str, what: &str) -> Result<PathBuf, String> {
        if self.chosen.contains(Path::new(written)) {
            return Ok(PathBuf::from(written));
        }
        match &self.folder {
            // The studio has no flag that would allow more.
            Some(folder) => folder.path(written, what).map_err(|problem| {
                problem
                    .replace(", or pass --allow-outside if you trust the scene", ", or choose it again here")
            }),
            None => Err("the scene has no folder yet: save it first".to_owned()),
        }
    }

    /// The bytes of a file by the path that is written in the scene.
    pub(crate) fn read(&self, written: &str, limit: usize, what: &str) -> Result<Vec<u8>, String> {
        let path = self.path(written, what)?;
        disk::read(&path, limit, what).map_err(|error| error.message())
    }

    /// The scene with its meshes inside.
    fn resolve(&self, scene: &Scene) -> Result<Scene, SceneError> {
        let mut used = BTreeSet::new();
        let mut resolved = scene.clone();
        for (b, body) in resolved.bodies.iter_mut().enumerate() {
            if let Shape::File(file) = &body.shape {
                let mesh = self
                    .mesh(file, &mut used)
                    .map_err(|error| SceneError { field: format!("body[{b}].shape.file.path"), ..error })?;
                body.shape = Shape::Mesh(mesh);
            } else if let Shape::Voxels(voxels) = &mut body.shape
                && !voxels.path.is_empty()
                && voxels.volume.is_none()
            {
                let volume = self
                    .volume(voxels)
                    .map_err(|error| SceneError { field: format!("body[{b}].shape.voxels.path"), ..error })?;
                voxels.volume = Some(volume);
                voxels.path.clear();
            }
            if let Some(elastic) = &mut body.elastic {
                let mut read =
                    |written: &str| self.read(written, PictureLimits::default().max_bytes, "picture");
                read_paints(elastic, &format!("body[{b}].elastic"), &mut read)?;
            }
        }
        for (c, collider) in resolved.colliders.iter_mut().enumerate() {
            if let ColliderShape::File(file) = &collider.shape {
                let field = || format!("collider[{c}].shape.file.path");
                let mesh =
                    self.mesh(file, &mut used).map_err(|error| SceneError { field: field(), ..error })?;
                collider.shape = ColliderShape::Mesh(mesh);
            }
        }
        for (c, character) in resolved.characters.iter_mut().enumerate() {
            if let RigSource::File(file) = &character.rig {
                let rig = self.rig(file, &format!("character[{c}].rig.file.path"))?;
                character.rig = RigSource::Inline(Rig::clone(&rig));
            }
        }
        self.cache().0.retain(|key, _| used.contains(key));
        Ok(resolved)
    }

    /// The mesh of a file: kept from before, or read.
    pub(crate) fn mesh(
        &self,
        file: &MeshFile,
        used: &mut BTreeSet<(PathBuf, bool)>,
    ) -> Result<InlineMesh, SceneError> {
        let key = self.path(&file.path, "mesh").ok().map(|path| (path, file.weld));
        if let Some(key) = &key {
            used.insert(key.clone());
            if let Some((watch, mesh)) = self.cache().0.get_mut(key)
                && watch.poll() == FileChange::Same
            {
                return Ok(mesh.clone());
            }
        }
        // Begun before the file is read: a change in between is seen next time.
        let watch = key.as_ref().map(|(path, _)| FileWatch::new(path));
        let limit = Limits::default().max_bytes;
        let mesh = read_mesh_file(file, "", &mut |written| self.read(written, limit, "mesh"))?;
        if let (Some(key), Some(watch)) = (key, watch) {
            self.cache().0.insert(key, (watch, mesh.clone()));
        }
        Ok(mesh)
    }

    /// The voxels of a shape: its own, kept from before, or read.
    pub(crate) fn volume(&self, shape: &VoxelShape) -> Result<InlineVolume, SceneError> {
        if let Some(volume) = &shape.volume {
            return Ok(volume.clone());
        }
        let key = self.path(&shape.path, "volume").ok();
        let cache = || self.volumes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = &key
            && let Some((watch, volume)) = cache().0.get_mut(key)
            && watch.poll() == FileChange::Same
        {
            return Ok(volume.clone());
        }
        let watch = key.as_ref().map(FileWatch::new);
        let limit = VolumeLimits::default().max_bytes;
        let mut read = |written: &str| self.read(written, limit, "volume");
        let volume = read_volume_file(&shape.path, "", &mut read)?;
        if let (Some(key), Some(watch)) = (key, watch) {
            cache().0.insert(key, (watch, volume.clone()));
        }
        Ok(volume)
    }

    /// The rig of a file, whose path stands in that field: kept from before, or read. A `.gltf` is read each time, as it is made of several files.
    pub(crate) fn rig(&self, file: &RigFile, field: &str) -> Result<Arc<Rig>, SceneError> {
        let key = self.path(&file.path, "character").ok().filter(|_| file.skeleton.is_none());
        let key = key.filter(|path| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("glb")));
        let cache = || self.rigs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = &key
            && let Some((watch, rig)) = cache().0.get_mut(key)
            && watch.poll() == FileChange::Same
        {
            return Ok(Arc::clone(rig));
        }
        let watch = key.as_ref().map(FileWatch::new);
        let limit = Limits::default().max_bytes;
        let rig = read_rig_file(file, field, &mut |written| self.read(written, limit, "character"))?;
        let rig = Arc::new(rig);
        if let (Some(key), Some(watch)) = (key, watch) {
            cache().0.insert(key, (watch, Arc::clone(&rig)));
        }
        Ok(rig)
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, MeshCache> {
        // A panic elsewhere leaves whole meshes behind or none.
        self.meshes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls back with every path of a file in a scene and what it is for.
pub(crate) fn for_each_path(scene: &mut Scene, change: &mut dyn FnMut(&mut String, &str)) {
    for body in &mut scene.bodies {
        if let Shape::File(file) = &mut body.shape {
            change(&mut file.path, "mesh");
        } else if let Shape::Voxels(voxels) = &mut body.shape
            && !voxels.path.is_empty()
        {
            change(&mut voxels.path, "volume");
        }
        for paint in body.elastic.iter_mut().flat_map(|elastic| &mut elastic.paints) {
            if let PaintSource::Picture(picture) = &mut paint.with
                && picture.size.is_none()
            {
                change(&mut picture.path, "picture");
            }
        }
    }
    for collider in &mut scene.colliders {
        if let ColliderShape::File(file) = &mut collider.shape {
            change(&mut file.path, "mesh");
        }
    }
    for character in &mut scene.characters {
        if let RigSource::File(file) = &mut character.rig {
            change(&mut file.path, "character");
            if let Some(skeleton) = &mut file.skeleton {
                change(skeleton, "skeleton");
            }
        }
    }
    let bodies = scene.bodies.iter_mut().filter_map(|body| body.look.as_mut());
    let papers = scene.papers.iter_mut().filter_map(|paper| paper.look.as_mut());
    for look in
        bodies.chain(papers).chain(scene.colliders.iter_mut().filter_map(|collider| collider.look.as_mut()))
    {
        if let Some(path) = &mut look.texture {
            change(path, "texture");
        }
        if let Style::Shader(path) = &mut look.style {
            change(path, "shader");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use souple::scene::{Body, Collider, Grid, Springs};

    use super::*;

    const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

    fn soft(path: &str) -> Scene {
        let shape = Shape::File(MeshFile { path: path.into(), weld: true });
        let springs = Springs { layout: souple::scene::Layout::Graph(1), ..Springs::default() };
        let body = Body { shape, springs, fabric: Some("rubber".into()), ..Body::default() };
        Scene { bodies: vec![body], ..Scene::default() }
    }

    fn job(scene: Scene, files: &SceneFiles) -> BuildJob {
        BuildJob { scene: Arc::new(scene), files: files.clone(), revision: 7 }
    }

    #[test]
    fn meshes_are_read_once_and_again_when_they_change() {
        let folder = tempfile::tempdir().unwrap();
        let mesh = folder.path().join("a.obj");
        fs::write(&mesh, TETRAHEDRON).unwrap();
        let files = SceneFiles::of_scene(&folder.path().join("scene.toml"));
        let compiled = job(soft("a.obj"), &files).run().unwrap();
        assert_eq!((compiled.model.particle_count(), compiled.revision), (4, 7));

        // The same length and time: what was kept is used, so it was not read again.
        let modified = fs::metadata(&mesh).unwrap().modified().unwrap();
        fs::write(&mesh, TETRAHEDRON.replace("v 1 0 0", "v 2 0 0")).unwrap();
        let file = fs::File::options().write(true).open(&mesh).unwrap();
        file.set_modified(modified).unwrap();
        let x = |compiled: &Compiled| compiled.model.bodies[0].topology.rest_positions[1].x;
        assert_eq!(x(&job(soft("a.obj"), &files).run().unwrap()), 1.0);
        file.set_modified(modified + Duration::from_secs(2)).unwrap();
        assert_eq!(x(&job(soft("a.obj"), &files).run().unwrap()), 2.0);

        // A scene without the mesh lets it go.
        job(Scene::default(), &files).run().unwrap();
        assert!(files.cache().0.is_empty());
    }

    #[test]
    fn messages_name_the_field() {
        let folder = tempfile::tempdir().unwrap();
        let files = SceneFiles::of_scene(&folder.path().join("scene.toml"));
        let mut scene = soft("none.obj");
        scene.bodies.insert(0, Body { fabric: Some("cotton".into()), ..Body::default() });
        scene.bodies[1].name = "soft".into();
        let message = job(scene, &files).run().unwrap_err();
        assert!(message.starts_with("body[1].shape.file.path: cannot read 'none.obj'"), "{message}");

        let shape = ColliderShape::File(MeshFile { path: "none.obj".into(), weld: true });
        let scene = Scene { colliders: vec![Collider { shape, ..Collider::default() }], ..Scene::default() };
        let message = job(scene, &files).run().unwrap_err();
        assert!(message.starts_with("collider[0].shape.file.path: cannot read 'none.obj'"), "{message}");

        let thin = Body { density: Some(-1.0), ..Body::default() };
        let scene = Scene { bodies: vec![thin], ..Scene::default() };
        let message = job(scene, &files).run().unwrap_err();
        assert!(message.starts_with("body[0].density: "), "{message}");

        let huge = Shape::Grid(Grid { vertices: [60_000, 60_000], ..Grid::default() });
        let huge = Body { shape: huge, fabric: Some("cotton".into()), ..Body::default() };
        let scene = Scene { bodies: vec![huge], ..Scene::default() };
        let message = job(scene, &files).run().unwrap_err();
        assert!(message.contains("body[0].shape: the scene up to here would need about"), "{message}");
    }

    #[test]
    fn absolute_paths_count_only_when_they_were_chosen() {
        let folder = tempfile::tempdir().unwrap();
        let mesh = folder.path().join("a.obj");
        fs::write(&mesh, TETRAHEDRON).unwrap();
        let written = mesh.to_str().unwrap();
        fs::create_dir(folder.path().join("scene")).unwrap();
        let mut files = SceneFiles::of_scene(&folder.path().join("scene/scene.toml"));
        let refused = job(soft(written), &files).run().unwrap_err();
        assert!(refused.contains("choose it again here"), "{refused}");
        let unsaved = job(soft("a.obj"), &SceneFiles::default()).run().unwrap_err();
        assert!(unsaved.contains("save it first"), "{unsaved}");
        files.choose(&mesh);
        assert_eq!(job(soft(written), &files).run().unwrap().model.particle_count(), 4);
    }
}
