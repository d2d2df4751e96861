//! Checks meshes that are written in a scene or were read from a file: surfaces of triangles, and solids of tetrahedra (FAU-01).
//!
//! The surface of a solid is made of the faces that belong to one tetrahedron alone. Tetrahedra that are inside out are turned
//! round: programs disagree on the order of corners, so that this is no fault of the mesh; `souple check` counts them. One
//! without volume is refused by the number that it has in the mesh.

use glam::DVec3;

use super::shape::Placed;
use super::{Checked, wrong};
use crate::mesh::TriMesh;
use crate::mesh::tetrahedron::{boundary, sixfold_volume, turn_round};
use crate::scene::{InlineMesh, Vec3};

/// The mesh of a body or a collider. `at` is where it stands in the scene.
pub(super) fn place_mesh(at: &str, m: &InlineMesh) -> Checked<Placed> {
    let positions: Vec<DVec3> = m.positions.iter().map(|&p| DVec3::from(p)).collect();
    if m.tetrahedra.is_empty() {
        if !m.labels.is_empty() {
            return wrong(
                &format!("{at}.labels"),
                "there are labels, but no tetrahedra that could have them",
                "leave `labels` out, or give `tetrahedra`",
            );
        }
        let mesh = TriMesh { positions, triangles: m.triangles.clone(), uvs: m.uvs.clone() };
        return Ok(Placed { mesh, ..Placed::default() });
    }
    check_tetrahedra(at, m)?;
    let mut tetrahedra = m.tetrahedra.clone();
    turn_round(&positions, &mut tetrahedra);
    let triangles = boundary(&tetrahedra);
    let mesh = TriMesh { positions, triangles, uvs: m.uvs.clone() };
    Ok(Placed { mesh, tetrahedra, labels: m.labels.clone(), ..Placed::default() })
}

fn check_tetrahedra(at: &str, m: &InlineMesh) -> Checked<()> {
    if !m.triangles.is_empty() {
        return wrong(
            &format!("{at}.triangles"),
            "the mesh has tetrahedra too, whose faces are its surface",
            "leave `triangles` out, or `tetrahedra` if it is to be a surface",
        );
    }
    let n = m.positions.len();
    let beyond = |t: &[u32; 4]| t.iter().copied().find(|&v| v as usize >= n);
    if let Some((t, v)) = m.tetrahedra.iter().enumerate().find_map(|(t, corners)| Some((t, beyond(corners)?)))
    {
        return wrong(
            &format!("{at}.tetrahedra"),
            format!("tetrahedron {t} names vertex {v}, but there are only {n} vertices"),
            "the first vertex is 0",
        );
    }
    if let Some((t, corners)) = m.tetrahedra.iter().enumerate().find(|(_, t)| is_flat(t, &m.positions)) {
        return wrong(
            &format!("{at}.tetrahedra"),
            format!("tetrahedron {t}, of vertices {corners:?}, has no volume: its corners lie in a plane"),
            "repair the mesh where it was made",
        );
    }
    let (labels, count) = (m.labels.len(), m.tetrahedra.len());
    if labels != 0 && labels != count {
        return wrong(
            &format!("{at}.labels"),
            format!("there are {labels} labels for {count} tetrahedra"),
            "give one label per tetrahedron, or none",
        );
    }
    Ok(())
}

/// Whether a tetrahedron has no more volume than rounding leaves.
fn is_flat(corners: &[u32; 4], positions: &[Vec3]) -> bool {
    let [a, b, c, d] = corners.map(|v| DVec3::from(positions[v as usize]));
    let edges = (b - a).length() * (c - a).length() * (d - a).length();
    sixfold_volume([a, b, c, d]).abs() <= 1e-12 * edges
}
