//! Checks and compiles solids from labelled voxels (FAU-14, FAU-21, FAU-84).
//!
//! The box around the voxels that are kept is divided into cells of `group` voxels along each axis, which become hexahedra with the stiffness and mass of
//! what fills them, label by label. Every vertex of a smooth surface around the voxels follows the cell that it lies in. The surface is that of all kept
//! labels together: borders between labels are mechanics alone, and are not seen.
//!
//! Promised: no cell without a kept voxel; every vertex has a cell; labels that are not there are refused with those that are. Not here: parts that
//! come closer than a cell without touching share cells, and move together.

use glam::DVec3;

use super::embed::put_into;
use super::materials::listed;
use super::shape::Placed;
use super::{Checked, positive, vector, wrong};
use crate::mesh::cells::CellMesh;
use crate::mesh::surface_nets::surface_nets;
use crate::mesh::voxels::{MAX_FINE, Voxels};
use crate::mesh::{TriMesh, VoxelVolume};
use crate::scene::{Cells, InlineVolume, VoxelShape};

/// Most voxels along an edge of a cell.
const MAX_GROUP: u32 = 16;
/// About what a cell takes, bytes: its matrix, its share of the system of the solver and of its factors.
pub(super) const BYTES_PER_CELL: f64 = 8e3;
/// Most that the cells of a body may take, bytes.
pub(super) const MOST_BYTES: f64 = 8e9;

/// The solid of labelled voxels, not yet moved to its place.
pub(super) fn place_voxels(at: &str, shape: &VoxelShape) -> Checked<Placed> {
    let field = |name: &str| format!("{at}.{name}");
    let volume = match &shape.volume {
        Some(_) if !shape.path.is_empty() => {
            return wrong(&field("volume"), "both a path and a volume are given", "keep one of the two");
        }
        Some(volume) => volume,
        None if shape.path.is_empty() => {
            return wrong(&field("path"), "no volume is named", "give the path of a .nrrd or .nii.gz file");
        }
        None => {
            return wrong(
                &field("path"),
                format!("the volume file '{}' was not read", shape.path),
                "read volume files into the scene before it is built (souple_formats::scene::resolve_meshes)",
            );
        }
    };
    if !(1..=MAX_GROUP).contains(&shape.group) {
        return wrong(
            &field("group"),
            format!("it must be from 1 to {MAX_GROUP}, not {}", shape.group),
            "2 is usual: cells of 2 × 2 × 2 voxels",
        );
    }
    check_volume(&field("volume"), volume)?;
    let labels = kept_labels(at, shape, volume)?;
    let cropped = crop(volume, &labels);
    let group = shape.group as usize;
    let too_large = |what: String, bytes: f64| {
        wrong(
            &field("group"),
            format!("{what}, which take about {:.1} GB: too many", bytes * 1e-9),
            format!("use a larger `group` than {}, fewer `labels`, or resample the volume", shape.group),
        )
    };
    let spacing = DVec3::from(cropped.spacing);
    let origin = DVec3::from(cropped.origin) - 0.5 * spacing;
    let Ok(voxels) = Voxels::of_labels(origin, spacing, cropped.size, &cropped.labels, group) else {
        let cells = cropped.labels.len() as f64;
        return too_large(format!("the box around the body has {cells:.2e} voxels"), cells * 10.0);
    };
    let cells = voxels.kept.iter().filter(|kept| **kept).count() as f64;
    if cells * BYTES_PER_CELL > MOST_BYTES {
        return too_large(format!("the body has {cells:.2e} cells"), cells * BYTES_PER_CELL);
    }
    let filled: Vec<bool> = cropped.labels.iter().map(|label| *label != 0).collect();
    let in_cell = |voxel: [usize; 3]| voxels.kept[voxels.cell_index(voxel.map(|v| v / group))];
    let mut surface = surface_nets(cropped.size, &filled, in_cell);
    for p in &mut surface.positions {
        *p = origin + *p * spacing;
    }
    let TriMesh { positions, triangles, .. } = surface;
    let mesh = TriMesh { positions, triangles, uvs: Vec::new() };
    let mut placed = Placed { mesh, ..Placed::default() };
    put_into(&field("group"), Cells::Hexahedra, &voxels, CellMesh::of_voxels(&voxels), &mut placed)?;
    if let Some(cells) = &mut placed.cells {
        cells.labels = labels;
    }
    Ok(placed)
}

fn check_volume(at: &str, volume: &InlineVolume) -> Checked<()> {
    for k in 0..3 {
        positive(&format!("{at}.spacing"), volume.spacing[k], "m")?;
        if volume.size[k] == 0 {
            return wrong(&format!("{at}.size"), "there are no voxels along an axis", "give at least 1");
        }
    }
    vector(&format!("{at}.origin"), volume.origin)?;
    let voxels = volume.size.iter().map(|&n| u128::from(n)).product::<u128>();
    if voxels > u128::from(MAX_FINE) {
        return wrong(
            &format!("{at}.size"),
            format!("there are {voxels} voxels, more than {MAX_FINE}"),
            "crop or resample the volume",
        );
    }
    let runs = volume.runs.iter().map(|run| u128::from(run[1])).sum::<u128>();
    if runs != voxels {
        return wrong(
            &format!("{at}.runs"),
            format!("they have {runs} voxels, but the size says {voxels}"),
            "give a pair of a label and a number for every run of voxels, also of those that are empty",
        );
    }
    if let Some(run) = volume.runs.iter().find(|run| run[0] > u32::from(u16::MAX)) {
        return wrong(&format!("{at}.runs"), format!("{} is no label", run[0]), "labels are from 0 to 65535");
    }
    Ok(())
}

/// The labels of the body, ascending.
fn kept_labels(at: &str, shape: &VoxelShape, volume: &InlineVolume) -> Checked<Vec<u32>> {
    let mut known: Vec<u32> =
        volume.runs.iter().filter(|run| run[0] != 0 && run[1] != 0).map(|run| run[0]).collect();
    known.sort_unstable();
    known.dedup();
    if known.is_empty() {
        return wrong(
            at,
            "every voxel has the label 0: there is no body in the volume",
            "export the segmentation again, with its labels",
        );
    }
    if let Some((l, label)) = shape.labels.iter().enumerate().find(|(_, l)| known.binary_search(l).is_err()) {
        let problem = match label {
            0 => "the label 0 is of voxels that are empty".to_owned(),
            label => format!("no voxel has the label {label}"),
        };
        return wrong(&format!("{at}.labels[{l}]"), problem, format!("known labels: {}", listed(&known)));
    }
    if !shape.labels.is_empty() {
        known.retain(|label| shape.labels.contains(label));
    }
    Ok(known)
}

/// The box around all voxels of these labels, without the labels of others.
fn crop(volume: &InlineVolume, labels: &[u32]) -> VoxelVolume {
    let [nx, ny, _] = volume.size.map(|n| n as usize);
    let at = |place: usize| [place % nx, place / nx % ny, place / (nx * ny)];
    let mut kept: Vec<(usize, usize, u16)> = Vec::new();
    let mut start = 0;
    for &[label, count] in &volume.runs {
        let end = start + count as usize;
        if labels.binary_search(&label).is_ok() && end > start {
            kept.push((start, end, label as u16));
        }
        start = end;
    }
    let (mut low, mut high) = ([usize::MAX; 3], [0; 3]);
    for place in kept.iter().flat_map(|&(start, end, _)| start..end) {
        let voxel = at(place);
        for axis in 0..3 {
            low[axis] = low[axis].min(voxel[axis]);
            high[axis] = high[axis].max(voxel[axis] + 1);
        }
    }
    let size = [0, 1, 2].map(|axis| high[axis] - low[axis]);
    let origin = [0, 1, 2].map(|axis| volume.origin[axis] + volume.spacing[axis] * low[axis] as f64);
    let mut cropped =
        VoxelVolume { size, spacing: volume.spacing, origin, labels: vec![0; size.iter().product()] };
    for (start, end, label) in kept {
        for place in start..end {
            let [i, j, k] = at(place);
            cropped.labels[((k - low[2]) * size[1] + j - low[1]) * size[0] + i - low[0]] = label;
        }
    }
    cropped
}
