//! What must hold for any bytes; the fuzz targets call these checks.

use std::sync::Arc;

use souple::math::Pose;
use souple::mesh::MeshError;
use souple::parallel::Parallel;
use souple::scene::{RigFile, SkinVolume, SkinWeights, Skinning};
use souple::skin::weights::automatic;
use souple::skin::{CharacterModel, CompiledRig, PlayedModel, Posed, RigRepairs, VolumeKeeper};
use souple_formats::export::rig::write_rig_glb;
use souple_formats::export_mesh::{write_obj, write_ply, write_stl};
use souple_formats::import::volume::{VolumeFormat, VolumeLimits, read_volume};
use souple_formats::import::{
    ImportError, Limits, MeshFormat, SolidMesh, read_mesh, read_rig, read_solid, read_tetgen,
};
use souple_formats::picture::{PictureLimits, read_picture, write_png};
use souple_formats::scene::read_rig_file;

/// Reads bytes as a mesh: it may be refused, but a mesh that comes out is valid, and written as PLY or OBJ it reads
/// back the same.
pub fn check_mesh(bytes: &[u8], format: MeshFormat) {
    let limits = Limits { max_vertices: 100_000, max_triangles: 200_000, ..Limits::default() };
    let mesh = match read_mesh(bytes, format, &limits) {
        Ok(mesh) => mesh,
        Err(error) => {
            assert!(error.to_string().starts_with(&format.to_string()), "no format in: {error}");
            return;
        }
    };
    assert_eq!(mesh.validate(), Ok(()));
    assert!(mesh.positions.len() <= limits.max_vertices && mesh.triangles.len() <= limits.max_triangles);
    assert!(mesh.uvs.iter().flatten().all(|c| c.is_finite()));

    let ply = read_mesh(&write_ply(&mesh), MeshFormat::Ply, &limits);
    assert_eq!(ply.as_ref(), Ok(&mesh), "PLY does not read back");
    let obj = read_mesh(&write_obj(&mesh), MeshFormat::Obj, &limits).expect("OBJ does not read back");
    assert_eq!(
        (&obj.positions, &obj.triangles),
        (&mesh.positions, &mesh.triangles),
        "OBJ reads back differently"
    );
    assert_eq!(write_stl(&mesh).len(), 84 + 50 * mesh.triangles.len());
}

/// Reads bytes as the skeleton of a small mesh: it may be refused, with an error that names its field; a rig that comes out is sound, gets weights and
/// can be written.
pub fn check_skeleton(bytes: &[u8]) {
    let file = RigFile { path: "mesh.obj".into(), skeleton: Some("bones.toml".into()) };
    let mesh = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    let mut read = |path: &str| Ok(if path == "mesh.obj" { mesh.to_vec() } else { bytes.to_vec() });
    let rig = match read_rig_file(&file, "path", &mut read) {
        Ok(rig) => rig,
        Err(error) => {
            assert!(error.field == "skeleton" && !error.problem.is_empty());
            return;
        }
    };
    let compiled = CompiledRig::new(&rig).expect("a rig that was read is sound");
    let how = SkinWeights { resolution: 16, ..SkinWeights::default() };
    if let Ok(Some(weighted)) = automatic(&rig, &compiled, Some(&how), &Parallel::default()) {
        let compiled = CompiledRig::new(&weighted).expect("a rig with weights is sound");
        assert_eq!(compiled.repairs, RigRepairs::default());
        write_rig_glb(&weighted).expect("a rig with weights can be written");
    }
}

/// Reads bytes as a character: it may be refused, but one that comes out can be posed at any time in any way, and is read back from what is
/// written of it.
pub fn check_gltf(bytes: &[u8]) {
    let limits = Limits { max_vertices: 100_000, max_triangles: 200_000, ..Limits::default() };
    let mut beside = |_: &str| Err("none".to_owned());
    let rig = match read_rig(bytes, &limits, &mut beside) {
        Ok(rig) => rig,
        Err(error) => {
            assert!(error.to_string().starts_with("glTF"), "no format in: {error}");
            return;
        }
    };
    check_mesh(bytes, MeshFormat::Gltf);
    let compiled = Arc::new(CompiledRig::new(&rig).expect("a rig that was read is sound"));
    let keeper = Arc::new(VolumeKeeper::new(&compiled, &SkinVolume::default()));
    for skinning in [Skinning::Rigid, Skinning::LinearBlend, Skinning::DualQuaternion] {
        let played = |clip| PlayedModel { clip, weight: 1.0, start: 0.0, speed: 1.0, repeat: true };
        let character = CharacterModel {
            name: String::new(),
            rig: Arc::clone(&compiled),
            clips: (0..rig.clips.len().min(2)).map(played).collect(),
            skinning,
            volume: Some(Arc::clone(&keeper)),
            maps: Vec::new(),
            pose: Pose::IDENTITY,
            scale: 1.0,
            motion: None,
            pivot: Default::default(),
        };
        for t in [0.0, 0.7, 1e6] {
            let posed = Posed::at(std::slice::from_ref(&character), t);
            for (m, mesh) in (0u32..).zip(&rig.meshes) {
                (0..mesh.positions.len() as u32).for_each(|v| {
                    posed.characters[0].vertex(&character, m, v);
                });
            }
        }
    }
    let written = write_rig_glb(&rig).expect("what was read can be written");
    // Numbers that 32 bits do not hold become infinite, and are refused.
    if let Ok(again) = read_rig(&written, &Limits::default(), &mut beside) {
        assert_eq!(again.nodes.len(), rig.nodes.len());
        assert_eq!(again.clips.len(), rig.clips.len());
    }
}

const SOLID_LIMITS: Limits =
    Limits { max_vertices: 100_000, max_triangles: 200_000, max_tetrahedra: 200_000, max_bytes: 1 << 20 };

/// Reads bytes as a solid mesh: it may be refused, but a mesh that comes out is whole.
pub fn check_solid(bytes: &[u8], format: MeshFormat) {
    check_found(read_solid(bytes, format, &SOLID_LIMITS), format);
}

/// Reads bytes as the two files of TetGen; a zero byte parts them.
pub fn check_tetgen(bytes: &[u8]) {
    let mut files = bytes.splitn(2, |&byte| byte == 0);
    let (node, ele) = (files.next().unwrap_or_default(), files.next().unwrap_or_default());
    check_found(read_tetgen(node, ele, &SOLID_LIMITS), MeshFormat::TetGen);
}

fn check_found(found: Result<SolidMesh, ImportError>, format: MeshFormat) {
    let mesh = match found {
        Ok(mesh) => mesh,
        Err(error) => {
            assert!(error.to_string().starts_with(&format.to_string()), "no format in: {error}");
            return;
        }
    };
    let n = mesh.positions.len();
    assert!(n <= SOLID_LIMITS.max_vertices && mesh.tetrahedra.len() <= SOLID_LIMITS.max_tetrahedra);
    assert!(mesh.positions.iter().all(|p| p.is_finite()));
    assert!(!mesh.tetrahedra.is_empty() && mesh.tetrahedra.as_flattened().iter().all(|&v| (v as usize) < n));
    assert!(mesh.labels.is_empty() || mesh.labels.len() == mesh.tetrahedra.len());
    // Tetrahedra that overlap may have no face on one side alone.
    assert!(matches!(mesh.surface().validate(), Ok(()) | Err(MeshError::Empty)));
    let mut turned = mesh.welded();
    turned.turn_round();
    assert_eq!(turned.inside_out(), 0);
}

/// Reads bytes as a volume of voxels: it may be refused, but one that comes out is whole.
pub fn check_volume(bytes: &[u8], format: VolumeFormat) {
    let limits = VolumeLimits { max_voxels: 1 << 20, max_bytes: 1 << 20 };
    let volume = match read_volume(bytes, format, &limits) {
        Ok(volume) => volume,
        Err(error) => {
            assert!(error.to_string().starts_with(&format.to_string()), "no format in: {error}");
            return;
        }
    };
    assert_eq!(volume.labels.len(), volume.size.iter().product::<usize>());
    assert!(volume.labels.len() <= limits.max_voxels);
    assert!(volume.spacing.iter().all(|s| s.is_finite() && *s > 0.0));
    assert!(volume.origin.iter().all(|c| c.is_finite()));
}

/// Reads bytes as a picture: it may be refused, but a picture that comes out is whole and within the limits, and written
/// as PNG it reads back the same.
pub fn check_picture(bytes: &[u8]) {
    let limits =
        PictureLimits { max_width: 2048, max_height: 2048, max_pixels: 1 << 20, ..PictureLimits::default() };
    let picture = match read_picture(bytes, &limits) {
        Ok(picture) => picture,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    picture.check().expect("it is not whole");
    assert!(u64::from(picture.width) * u64::from(picture.height) <= limits.max_pixels);
    let png = write_png(&picture).expect("it cannot be written");
    assert_eq!(
        read_picture(&png, &limits).expect("PNG does not read back"),
        picture,
        "PNG reads back differently"
    );
}
