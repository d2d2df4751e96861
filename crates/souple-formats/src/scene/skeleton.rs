//! Skeleton files: bones for meshes that have none, as TOML, read as strictly as scenes.
//!
//! Promises as in [`super`]: any bytes give a skeleton or an error that shows the line; no panic, memory in proportion to the bytes.

use souple::SceneError;
use souple::scene::{InlineMesh, Rig, RigMesh, SkeletonFile};
use souple::skin::CompiledRig;
use souple::skin::bones::rig_of;

use super::error::{Problem, quotable};
use super::{SceneFileError, Source, Syntax, de};

/// Largest skeleton file that is read, bytes: room for some ten thousand bones with keys.
pub const MAX_SKELETON_BYTES: usize = 4 << 20;

/// Reads a skeleton from the bytes of a file: TOML, or JSON if its name ends so. That its bones fit together is checked when it gets a mesh
/// ([`rig_of`]); [`Source::explain`] shows where.
///
/// ```
/// use souple_formats::scene::read_skeleton;
/// let text = "[[bone]]\nname = 'arm'\nhead = [0, 0, 0]\ntail = [0, 1, 0]\n";
/// assert_eq!(read_skeleton(text.as_bytes(), "arm.toml").unwrap().0.bones.len(), 1);
/// let error = read_skeleton(b"[[bone]]\nname = 'arm'\nhed = [0, 0, 0]\n", "arm.toml").unwrap_err();
/// assert_eq!(error.line, 3);
/// ```
pub fn read_skeleton(bytes: &[u8], file_name: &str) -> Result<(SkeletonFile, Source), SceneFileError> {
    let whole = |message: String, help: &str| {
        SceneFileError::new(file_name, "", None, Problem::new(message, help.to_owned()))
    };
    if bytes.len() > MAX_SKELETON_BYTES {
        let message =
            format!("the skeleton has {} bytes; at most {MAX_SKELETON_BYTES} are read", bytes.len());
        return Err(whole(message, "use fewer bones and keys, or a glTF file"));
    }
    let text = str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let problem = Problem::new("this byte is not UTF-8 text", "save the skeleton as UTF-8");
        SceneFileError::new(file_name, &String::from_utf8_lossy(bytes), Some(at..at + 1), problem)
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(whole("the skeleton is empty".into(), "add a [[bone]] with name, head and tail"));
    }
    let source =
        Source { file_name: file_name.to_owned(), text: text.to_owned(), syntax: Syntax::of(file_name) };
    let root = source.tree().map_err(|error| source.error(error.span, error.problem))?;
    match de::from_node(&root) {
        Ok(skeleton) => Ok((skeleton, source)),
        Err(error) => Err(source.error(error.span, error.into_problem(source.syntax))),
    }
}

/// A mesh of a file with the skeleton of another, which `read` reads; `field` is where its path stands in the scene.
pub(super) fn skinned(
    mesh: InlineMesh,
    mesh_path: &str,
    path: &str,
    field: &str,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<Rig, SceneError> {
    let name = quotable(path);
    let bytes = read(path).map_err(|problem| {
        let help = "the path is relative to the scene file and stays inside its folder";
        SceneError::new(field, format!("cannot read '{name}': {problem}"), help)
    })?;
    let unusable = |error: SceneFileError| {
        let problem = format!("cannot use '{name}', line {}: {}", error.line, error.message);
        SceneError::new(field, problem, error.help)
    };
    let (skeleton, source) = read_skeleton(&bytes, path).map_err(unusable)?;
    let stem = mesh_path.rsplit(['/', '\\']).next().unwrap_or(mesh_path);
    let InlineMesh { positions, triangles, uvs, .. } = mesh;
    let surface = RigMesh {
        name: stem.rsplit_once('.').map_or(stem, |(stem, _)| stem).to_owned(),
        positions,
        triangles,
        uvs,
        ..RigMesh::default()
    };
    if surface.triangles.is_empty() {
        let problem = format!("'{}' has no surface that bones could move", quotable(mesh_path));
        return Err(SceneError::new(field, problem, "use a mesh of triangles"));
    }
    let rig = rig_of(&skeleton, surface).map_err(|error| unusable(source.explain(&error)))?;
    CompiledRig::new(&rig).map_err(|error| {
        SceneError::new(field, format!("cannot use '{name}': {error}"), "repair the skeleton or the mesh")
    })?;
    Ok(rig)
}
