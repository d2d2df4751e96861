//! Mesh, volume and character files that a scene names: paths that stay inside its folder, and meshes and voxels in their place.

use std::path::PathBuf;

use souple::SceneError;
use souple::scene::{
    ColliderShape, Elastic, InlineMesh, InlineVolume, MeshFile, PaintPicture, PaintSource, Rig, RigFile,
    RigSource, Scene, Shape,
};
use thiserror::Error;

use super::error::quotable;
use super::skeleton::skinned;
use crate::import::volume::{VolumeFormat, VolumeLimits, read_volume};
use crate::import::{
    ImportError, Limits, MeshFormat, SolidMesh, read_gltf_surface, read_mesh, read_rig, read_solid,
    read_tetgen,
};
use crate::picture::{PictureLimits, read_picture};

/// Why a path in a scene is refused.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum PathProblem {
    /// The path is empty, or leads back to the folder of the scene.
    #[error("the path names no file")]
    NoFile,
    /// The path starts at the root, at a drive or at a share.
    #[error("the path is absolute; it must be relative to the scene file")]
    Absolute,
    /// The path climbs out of the folder of the scene.
    #[error("the path leaves the folder of the scene")]
    LeavesFolder,
    /// The path has a NUL character, which no file system allows.
    #[error("the path has a NUL character")]
    Nul,
}

/// Checks that a path is relative and stays inside the folder it is relative to, and returns it without `.` and `..`.
///
/// Slashes and backslashes both separate, and drive letters count everywhere, so that a scene that is safe here is safe
/// on every system. The check looks at the text only: whoever opens the file must also resolve symbolic links.
///
/// ```
/// use souple_formats::scene::{PathProblem, safe_relative_path};
/// assert_eq!(safe_relative_path("meshes/./teapot.obj"), Ok("meshes/teapot.obj".into()));
/// assert_eq!(safe_relative_path("../secret.obj"), Err(PathProblem::LeavesFolder));
/// ```
pub fn safe_relative_path(path: &str) -> Result<PathBuf, PathProblem> {
    if path.contains('\0') {
        return Err(PathProblem::Nul);
    }
    let has_drive = matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if has_drive || path.starts_with(['/', '\\']) {
        return Err(PathProblem::Absolute);
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or(PathProblem::LeavesFolder)?;
            }
            // `x/C:` joined on Windows would start again at the drive.
            _ if matches!(part.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic()) => {
                return Err(PathProblem::Absolute);
            }
            name => parts.push(name),
        }
    }
    if parts.is_empty() { Err(PathProblem::NoFile) } else { Ok(parts.into_iter().collect()) }
}

/// Replaces every mesh file of a scene, of bodies and of colliders, by the mesh itself, welded where the scene asks for it, and every volume file by
/// its voxels, and every file of a character by its rig.
///
/// `read` is given the path as written in the scene and returns the bytes of the file, or says why not. It decides which
/// paths are allowed; [`safe_relative_path`] is there to help. An error leaves the scene partly resolved.
pub fn resolve_meshes(
    scene: &mut Scene,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<(), SceneError> {
    for (index, body) in scene.bodies.iter_mut().enumerate() {
        if let Shape::File(file) = &body.shape {
            let field = format!("body[{index}].shape.file.path");
            body.shape = Shape::Mesh(read_mesh_file(file, &field, read)?);
        } else if let Shape::Voxels(voxels) = &mut body.shape
            && !voxels.path.is_empty()
            && voxels.volume.is_none()
        {
            let field = format!("body[{index}].shape.voxels.path");
            voxels.volume = Some(read_volume_file(&voxels.path, &field, read)?);
            voxels.path.clear();
        }
        if let Some(elastic) = &mut body.elastic {
            read_paints(elastic, &format!("body[{index}].elastic"), read)?;
        }
    }
    for (index, collider) in scene.colliders.iter_mut().enumerate() {
        if let ColliderShape::File(file) = &collider.shape {
            let field = format!("collider[{index}].shape.file.path");
            collider.shape = ColliderShape::Mesh(read_mesh_file(file, &field, read)?);
        }
    }
    for (index, character) in scene.characters.iter_mut().enumerate() {
        if let RigSource::File(file) = &character.rig {
            let field = format!("character[{index}].rig.file.path");
            character.rig = RigSource::Inline(read_rig_file(file, &field, read)?);
        }
    }
    Ok(())
}

/// The rig of a file that a scene names, or of a mesh with a skeleton. `field` is where the path stands in the scene; `read` is that of
/// [`resolve_meshes`], which is asked for buffers beside it, too: their addresses are relative to the file, and they are read by the same rule as it.
pub fn read_rig_file(
    file: &RigFile,
    field: &str,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<Rig, SceneError> {
    let path = &file.path;
    if let Some(skeleton) = &file.skeleton {
        // Seams of textures stay, and are moved alike.
        let mesh = read_mesh_file(&MeshFile { path: path.clone(), weld: false }, field, read)?;
        let field = field.strip_suffix("path").map_or(field.to_owned(), |table| format!("{table}skeleton"));
        return skinned(mesh, path, skeleton, &field, read);
    }
    let name = quotable(path);
    let ending = path.rsplit_once('.').map(|(_, ending)| ending).and_then(MeshFormat::from_extension);
    if ending != Some(MeshFormat::Gltf) {
        let help = "convert it to .glb or .gltf, which Blender and most others write, or give a mesh its bones by `skeleton`";
        return Err(SceneError::new(field, format!("'{name}' is not a character that can be read"), help));
    }
    let bytes = read(path).map_err(|problem| {
        let help = "the path is relative to the scene file and stays inside its folder";
        SceneError::new(field, format!("cannot read '{name}': {problem}"), help)
    })?;
    let rig = read_rig(&bytes, &Limits::default(), &mut |uri| read(&beside_path(path, uri)));
    rig.map_err(|error| {
        let help = "repair the file, or export it again";
        SceneError::new(field, format!("cannot use '{name}': {error}"), help)
    })
}

/// Reads the pictures that dials of an elastic layer are painted with. `field` is where the layer stands in the scene; `read` is that of
/// [`resolve_meshes`].
pub fn read_paints(
    elastic: &mut Elastic,
    field: &str,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<(), SceneError> {
    for (index, paint) in elastic.paints.iter_mut().enumerate() {
        let PaintSource::Picture(PaintPicture { path, size, values }) = &mut paint.with else { continue };
        if size.is_some() {
            continue;
        }
        let (name, field) = (quotable(path), format!("{field}.paint[{index}].with.picture.path"));
        let bytes = read(path).map_err(|problem| {
            let help = "the path is relative to the scene file and stays inside its folder";
            SceneError::new(&field, format!("cannot read '{name}': {problem}"), help)
        })?;
        let picture = read_picture(&bytes, &PictureLimits::default()).map_err(|error| {
            let help = "save it as PNG or JPEG again";
            SceneError::new(&field, format!("cannot use '{name}': {error}"), help)
        })?;
        *size = Some([picture.width, picture.height]);
        // Paint is a number, not a colour: the mean of the channels as they stand in the file.
        let grey = |p: &[u8]| p.iter().take(3).map(|c| f64::from(*c)).sum::<f64>() / (3.0 * 255.0);
        *values = picture.rgba.chunks_exact(4).map(grey).collect();
    }
    Ok(())
}

/// The path of a file whose address is relative to another one.
pub fn beside_path(path: &str, uri: &str) -> String {
    match path.rfind(['/', '\\']) {
        // An absolute one stays so, and is refused by whoever reads it.
        Some(end) if !uri.starts_with(['/', '\\']) => format!("{}/{uri}", &path[..end]),
        _ => uri.to_owned(),
    }
}

/// The mesh of a file that a scene names, welded if it asks for it. `field` is where the path stands in the scene; `read` is
/// that of [`resolve_meshes`].
pub fn read_mesh_file(
    file: &MeshFile,
    field: &str,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<InlineMesh, SceneError> {
    let name = quotable(&file.path);
    let extension =
        file.path.rsplit(['/', '\\']).next().and_then(|name| name.rsplit_once('.')).map(|(_, end)| end);
    let format = extension.and_then(MeshFormat::from_extension).ok_or_else(|| {
        let help = format!("convert it to one of .{}", MeshFormat::EXTENSIONS.join(", ."));
        SceneError::new(field, format!("'{name}' is not a mesh format that can be read"), help)
    })?;
    let mut read = |path: &str| {
        read(path).map_err(|problem| {
            let help = "the path is relative to the scene file and stays inside its folder";
            SceneError::new(field, format!("cannot read '{}': {problem}", quotable(path)), help)
        })
    };
    let unusable = |error: ImportError| {
        let help = "repair the mesh file, or export it again";
        SceneError::new(field, format!("cannot use '{name}': {error}"), help)
    };
    let bytes = read(&file.path)?;
    let limits = Limits::default();
    if format.is_solid() {
        let solid = match tetgen_pair(&file.path) {
            Some((node, ele)) if node == file.path => read_tetgen(&bytes, &read(&ele)?, &limits),
            Some((node, _)) => read_tetgen(&read(&node)?, &bytes, &limits),
            None => read_solid(&bytes, format, &limits),
        };
        let solid = solid.map_err(unusable)?;
        return Ok(inline_solid(if file.weld { solid.welded() } else { solid }));
    }
    let mesh = match format {
        MeshFormat::Gltf => read_gltf_surface(&bytes, &limits, &mut |uri| {
            read(&beside_path(&file.path, uri)).map_err(|error| error.problem)
        }),
        _ => read_mesh(&bytes, format, &limits),
    };
    let mesh = mesh.map_err(unusable)?;
    let mesh = if file.weld { mesh.welded() } else { mesh };
    let positions = mesh.positions.iter().map(|position| position.to_array()).collect();
    Ok(InlineMesh { positions, triangles: mesh.triangles, uvs: mesh.uvs, ..InlineMesh::default() })
}

/// The voxels of a volume file that a scene names. `field` is where the path stands in the scene; `read` is that of [`resolve_meshes`].
pub fn read_volume_file(
    path: &str,
    field: &str,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<InlineVolume, SceneError> {
    let name = quotable(path);
    let format = VolumeFormat::from_file_name(path).ok_or_else(|| {
        let help = "convert it to one of .nrrd, .nhdr, .nii, .nii.gz";
        SceneError::new(field, format!("'{name}' is not a volume format that can be read"), help)
    })?;
    let bytes = read(path).map_err(|problem| {
        let help = "the path is relative to the scene file and stays inside its folder";
        SceneError::new(field, format!("cannot read '{name}': {problem}"), help)
    })?;
    let volume = read_volume(&bytes, format, &VolumeLimits::default()).map_err(|error| {
        let help = "repair the volume file, or export it again";
        SceneError::new(field, format!("cannot use '{name}': {error}"), help)
    })?;
    Ok(InlineVolume::new(&volume))
}

/// The `.node` and the `.ele` file of a mesh of TetGen, of which one is named; none of other files.
pub fn tetgen_pair(path: &str) -> Option<(String, String)> {
    let (stem, ending) = path.rsplit_once('.')?;
    let other = |ending: &str, other: &str| {
        let is_loud = ending.bytes().all(|byte| byte.is_ascii_uppercase());
        format!("{stem}.{}", if is_loud { other.to_ascii_uppercase() } else { other.to_owned() })
    };
    match ending.to_ascii_lowercase().as_str() {
        "node" => Some((path.to_owned(), other(ending, "ele"))),
        "ele" => Some((other(ending, "node"), path.to_owned())),
        _ => None,
    }
}

/// A solid as it stands in a scene; its surface is made when the scene is built.
fn inline_solid(solid: SolidMesh) -> InlineMesh {
    let positions = solid.positions.iter().map(|position| position.to_array()).collect();
    InlineMesh { positions, tetrahedra: solid.tetrahedra, labels: solid.labels, ..InlineMesh::default() }
}
