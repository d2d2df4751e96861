//! Weights that nobody painted: how much each vertex of a skin follows which bones, from their places alone (ROH-12…19).
//!
//! Rohmer, *Géométrie active pour l'animation et la modélisation* (2011), sections 1.4 and 2.2. A bone is the lines from its joint to the joints it carries.
//! Each vertex gets shares of bones to start from, and a distance d:
//! - by inverse distance (ROH-12): d_j^−a / Σ d_k^−a;
//! - by the normal test (ROH-14): the same, of bones to which the straight way leads inwards; of all if none is;
//! - by heat (ROH-13; Baran and Popović, *Automatic rigging and animation of 3D characters*, 2007): the nearest bone that is seen through the inside;
//! - by ways through voxels (ROH-15…18): the bone that is nearest by ways that stay inside, [`crate::mesh::voxel_distance`].
//!
//! Then heat flows along the surface until nothing changes: (K + M H) ω_j = M H c_j, where c_j are the shares of bone j, H = 1/(s d)², M the areas of
//! vertices, K the Laplacian by cotangents. So weights go over within s times the distance of skin and bone. Negative weights of edges are cut
//! off, so that K + M H is an M-matrix: then weights are from 0 to 1 and sum to 1 by themselves, up to the accuracy of the solve.
//!
//! Where two bones are equally near, up to a part of a cell, both get a share, so that mirrored shapes get mirrored weights. Vertices at one place are one, so that
//! seams of textures stay shut. Open surfaces are closed by fans for the time; what has no inside even so is looked at as a shell.
//!
//! Of more bones than `influences` the heaviest are kept, and fade in and out.
//!
//! Promised: weights ≥ 0 that sum to 1; the same bits for any number of threads. Not promised: that parts nearer than a cell are told apart.

use glam::DVec3;
use thiserror::Error;

use super::rig::CompiledRig;
use super::skinning::Influence;
use super::volume::Enclosure;
use crate::math;
use crate::mesh::voxel_distance::{Above, InsideCells, Search, nearest_on};
use crate::mesh::voxels::VoxelError;
use crate::mesh::{TriMesh, triangle_area, vertex_normals};
use crate::parallel::Parallel;
use crate::scene::{Rig, SkinWeights, WeightMethod, WeightedVertices};
use crate::solver::sparse_ldl::SparseLdl;

/// Most pairs of a vertex and a bone that are looked at: some minutes of one core.
pub const MAX_PAIRS: usize = 1 << 31;

/// How much further than the nearest bone one is looked at, in cells: more than distances differ among the cells around a vertex.
const SLACK: f32 = 4.0;

/// Bones that are further than the nearest by less than this have a part, in cells: of ways through cells, which are known to a part of a cell, and
/// of straight ones, which are known up to rounding.
const TIE_OF_WAYS: f64 = 0.25;
const TIE_OF_LINES: f64 = 0.01;

/// Weights below it are dropped.
const LEAST: f64 = 1e-4;

/// What weights may be off by when a solve by rounds ends: some digits below what is dropped.
const ACCURACY: f64 = 1e-7;

/// Most numbers of a factor: 700 MB, of meshes of some million vertices; larger ones are solved by rounds.
const MOST_FACTOR: usize = 60_000_000;

/// Most rounds of such a solve; far more than meshes need.
const ROUNDS: usize = 2000;

/// Largest cotangent of an edge: triangles that are thinner are taken as so thin.
const STEEPEST: f64 = 1e3;

/// A bone: its number in its skin, and the lines it is made of, m, where the skin was bound.
#[derive(Clone, Debug, PartialEq)]
pub struct BoneLines {
    /// Its number.
    pub bone: u32,
    /// From its joint to those it carries; a point if it carries none and none carries it.
    pub lines: Vec<[DVec3; 2]>,
}

/// Why weights cannot be found.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum WeightError {
    /// No bone has a place.
    #[error(
        "skin {0} has no bone that could get weights: all are left out, or scaled to nothing where the skin was bound"
    )]
    NoBones(usize),
    /// Too many of both.
    #[error("{bones} bones and {vertices} vertices are more than weights are found for")]
    TooMany {
        /// Bones.
        bones: usize,
        /// Vertices.
        vertices: usize,
    },
    /// The box has too many cells.
    #[error("there would be {0:.1e} cells")]
    Cells(f64),
}

/// What a vertex starts from: shares of bones, which sum to 1, and how far the nearest is, m.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Start {
    /// Bones, as numbers in the list of lines, and their shares.
    pub shares: Vec<Influence>,
    /// Distance, m.
    pub distance: f64,
}

/// A rig whose skins have weights: where `written` asks for them, and of meshes that have none at all. Nothing if all have some.
pub fn automatic(
    rig: &Rig,
    compiled: &CompiledRig,
    written: Option<&SkinWeights>,
    parallel: &Parallel,
) -> Result<Option<Rig>, WeightError> {
    let defaults = SkinWeights::default();
    let how = written.unwrap_or(&defaults);
    let mut made: Option<Rig> = None;
    for skin in 0..rig.skins.len() {
        let own = |m: &usize| rig.meshes[*m].skin == Some(skin as u32);
        let meshes: Vec<usize> = (0..rig.meshes.len()).filter(own).collect();
        // Which vertices of which meshes get weights.
        let wanted = |m: usize, v: usize| match (written, how.vertices) {
            (Some(_), WeightedVertices::All) => true,
            (Some(_), WeightedVertices::Missing) => !has_weight(rig, m, v),
            (None, _) => rig.meshes[m].influences == 0,
        };
        let any = meshes.iter().any(|&m| (0..rig.meshes[m].positions.len()).any(|v| wanted(m, v)));
        if !any {
            continue;
        }
        let bones = bone_lines(rig, compiled, skin, &how.without);
        if bones.is_empty() {
            return Err(WeightError::NoBones(skin));
        }
        let place = |m: u32, v: u32| compiled.meshes[m as usize].mesh.positions[v as usize];
        let (surface, vertices) = compiled.surface(meshes.iter().map(|m| *m as u32), place);
        let found = weights(&surface, &bones, how, parallel)?;
        let made = made.get_or_insert_with(|| rig.clone());
        let mut found = found.into_iter().zip(vertices).peekable();
        for m in meshes {
            let mut lists: Vec<Vec<Influence>> = Vec::new();
            while let Some((own, (_, v))) = found.next_if(|(_, (of, _))| *of as usize == m) {
                let v = v as usize;
                lists.push(if wanted(m, v) { own } else { written_weights(rig, m, v).collect() });
            }
            made.meshes[m].set_influences(&lists);
        }
    }
    Ok(made)
}

fn written_weights(rig: &Rig, m: usize, v: usize) -> impl Iterator<Item = Influence> {
    let mesh = &rig.meshes[m];
    let most = mesh.influences as usize;
    let own = |k: usize| Some((*mesh.joints.get(k)?, *mesh.weights.get(k)?));
    (v * most..(v + 1) * most).filter_map(own)
}

fn has_weight(rig: &Rig, m: usize, v: usize) -> bool {
    written_weights(rig, m, v).any(|(_, weight)| weight > 0.0)
}

/// The bones of a skin, without some by name and without those that are nowhere.
pub fn bone_lines(rig: &Rig, compiled: &CompiledRig, skin: usize, without: &[String]) -> Vec<BoneLines> {
    let binding = &compiled.bindings[skin];
    let skeleton = &compiled.skeleton;
    let heads: Vec<Option<DVec3>> = binding
        .iter()
        .map(|(_, inverse)| Some(inverse.inverse().translation).filter(|head| head.is_finite()))
        .collect();
    // The bone of each frame: its own, or that of what carries it.
    let mut owners: Vec<Option<usize>> = vec![None; skeleton.len()];
    for (j, (node, _)) in binding.iter().enumerate() {
        owners[*node as usize] = Some(j);
    }
    let mut carriers: Vec<Option<usize>> = vec![None; binding.len()];
    for &node in &skeleton.order {
        let above = skeleton.parents[node as usize].and_then(|parent| owners[parent as usize]);
        match owners[node as usize] {
            Some(j) => carriers[j] = above,
            None => owners[node as usize] = above,
        }
    }
    let tails = &rig.skins[skin].tails;
    let mut lines: Vec<Vec<[DVec3; 2]>> = vec![Vec::new(); binding.len()];
    for (j, carrier) in carriers.iter().enumerate().filter(|_| tails.is_empty()) {
        if let Some(c) = *carrier
            && let (Some(from), Some(to)) = (heads[c], heads[j])
            && from != to
        {
            lines[c].push([from, to]);
        }
    }
    let mut made = Vec::new();
    for (j, mut lines) in lines.into_iter().enumerate() {
        let name = &skeleton.names[binding[j].0 as usize];
        let Some(head) = heads[j].filter(|_| !without.contains(name)) else { continue };
        if let Some(tail) = tails.get(j) {
            lines.push([head, DVec3::from(*tail)]);
        } else if lines.is_empty() {
            // The last of a chain goes on as far again as the one before it.
            let before = carriers[j].and_then(|c| heads[c]).unwrap_or(head);
            lines.push([head, 2.0 * head - before]);
        }
        made.push(BoneLines { bone: j as u32, lines });
    }
    made
}

/// Weights of all vertices of a surface, by numbers of bones, heaviest first.
pub fn weights(
    surface: &TriMesh,
    bones: &[BoneLines],
    how: &SkinWeights,
    parallel: &Parallel,
) -> Result<Vec<Vec<Influence>>, WeightError> {
    let (welded, kept) = surface.welded_alike(&|_| 0);
    let vertices = welded.positions.len();
    if bones.len().saturating_mul(vertices) > MAX_PAIRS {
        return Err(WeightError::TooMany { bones: bones.len(), vertices });
    }
    let starts = starts(&welded, bones, how, parallel)?;
    let smooth = how.method != WeightMethod::InverseDistance && how.smoothing > 0.0;
    let mut lists = match smooth {
        true => diffuse(&welded, &starts, bones.len(), how.smoothing, parallel),
        false => starts.into_iter().map(|start| start.shares).collect(),
    };
    for list in &mut lists {
        shorten(list, (how.influences as usize).max(1));
        list.iter_mut().for_each(|(bone, _)| *bone = bones[*bone as usize].bone);
    }
    let first = surface.firsts_alike(&|_| 0);
    let of = |v: &u32| kept.binary_search(v).map_or_else(|_| Vec::new(), |at| lists[at].clone());
    Ok(first.iter().map(of).collect())
}

/// Keeps the heaviest bones of a vertex, heaviest first, with weights that sum to 1. The heaviest of the others is taken off all, so that a bone which
/// is no longer among them has faded before: cut off at once, it would leave a crease.
fn shorten(list: &mut Vec<Influence>, most: usize) {
    list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let off = list.get(most).map_or(0.0, |(_, weight)| *weight);
    let heaviest = list.first().map_or(0.0, |(_, weight)| *weight);
    list.truncate(most);
    // Where all are equal nothing would be left.
    let off = if off < 0.999 * heaviest { off } else { 0.0 };
    list.retain_mut(|(_, weight)| {
        *weight -= off;
        *weight > 0.0
    });
    let sum: f64 = list.iter().map(|(_, weight)| weight).sum();
    list.iter_mut().for_each(|(_, weight)| *weight /= sum);
}

/// What each vertex of a surface without seams starts from.
pub fn starts(
    surface: &TriMesh,
    bones: &[BoneLines],
    how: &SkinWeights,
    parallel: &Parallel,
) -> Result<Vec<Start>, WeightError> {
    let cells = || {
        let closed = closed(surface);
        InsideCells::new(&closed, how.resolution as usize).map_err(|error| match error {
            VoxelError::TooMany { cells } => WeightError::Cells(cells),
            // Never asked for.
            VoxelError::Open { .. } => WeightError::Cells(f64::NAN),
        })
    };
    let mut normals = Vec::new();
    vertex_normals(&surface.positions, &surface.triangles, &mut normals);
    let vertices: Vec<usize> = (0..surface.positions.len()).collect();
    let each = |f: &(dyn Fn(DVec3, DVec3, &mut Vec<Ray>) -> Start + Sync)| {
        parallel.map(&vertices, Vec::new, |rays, &v| {
            let p = surface.positions[v];
            rays.clear();
            rays.extend((0u32..).zip(bones).map(|(bone, lines)| Ray::new(bone, &lines.lines, p)));
            f(p, normals[v], rays)
        })
    };
    Ok(match how.method {
        WeightMethod::InverseDistance => each(&|_, _, rays| by_inverse(rays, how.exponent)),
        WeightMethod::NormalTest => each(&|p, normal, rays| {
            if rays.iter().any(|ray| ray.leads_inwards(p, normal)) {
                rays.retain(|ray| ray.leads_inwards(p, normal));
            }
            by_inverse(rays, how.exponent)
        }),
        WeightMethod::Heat => {
            let cells = cells()?;
            let tie = TIE_OF_LINES * cells.cell;
            each(&|p, _, rays| {
                rays.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.bone.cmp(&b.bone)));
                let clear = |ray: &Ray| cells.is_clear(p, ray.to);
                let nearest = rays.iter().find(|ray| clear(ray)).map(|ray| ray.distance);
                let least = nearest.or(rays.first().map(|ray| ray.distance)).unwrap_or(0.0);
                let near = rays.iter().take_while(|ray| ray.distance < least + tie);
                let near = near.filter(|ray| nearest.is_none() || clear(ray));
                share(near.map(|ray| (ray.bone, ray.distance)), least, tie)
            })
        }
        WeightMethod::VoxelGeodesic => by_ways(surface, bones, &cells()?, parallel),
    })
}

/// From a vertex to a bone.
struct Ray {
    bone: u32,
    to: DVec3,
    distance: f64,
}

impl Ray {
    fn new(bone: u32, lines: &[[DVec3; 2]], p: DVec3) -> Ray {
        let mut best = Ray { bone, to: p, distance: f64::INFINITY };
        for line in lines {
            let to = nearest_on(*line, p);
            let distance = to.distance(p);
            if distance < best.distance {
                best = Ray { bone, to, distance };
            }
        }
        best
    }

    /// r·n < 0 (ROH-14); what is on the surface counts as inside.
    fn leads_inwards(&self, p: DVec3, normal: DVec3) -> bool {
        (self.to - p).dot(normal) <= 0.0
    }
}

/// d_j^−a / Σ d_k^−a; all to those at distance 0.
fn by_inverse(rays: &[Ray], exponent: f64) -> Start {
    let least = rays.iter().map(|ray| ray.distance).fold(f64::INFINITY, f64::min);
    let share = |ray: &Ray| match ray.distance > 0.0 {
        true => math::pow(least / ray.distance, exponent),
        false => 1.0,
    };
    let shares = rays.iter().map(|ray| (ray.bone, share(ray))).filter(|(_, s)| *s > 0.0).collect();
    normalised(Start { shares, distance: least })
}

fn normalised(mut start: Start) -> Start {
    let sum: f64 = start.shares.iter().map(|(_, share)| share).sum();
    start.shares.iter_mut().for_each(|(_, share)| *share /= sum);
    start
}

/// All to the nearest; those that are further by less than a width have a part.
fn share(near: impl Iterator<Item = Influence>, least: f64, width: f64) -> Start {
    let shares = near.map(|(bone, distance)| (bone, 1.0 - (distance - least).max(0.0) / width));
    let shares = shares.filter(|(_, share)| *share > 0.0).collect();
    normalised(Start { shares, distance: least })
}

/// Shares by ways through cells (ROH-16, ROH-17). All bones at once give the least distances; then each is looked at only where it is among the nearest.
fn by_ways(surface: &TriMesh, bones: &[BoneLines], cells: &InsideCells, parallel: &Parallel) -> Vec<Start> {
    let from = parallel.map(bones, || (), |(), bone| cells.starts(&bone.lines));
    let mut all = Search::default();
    cells.search(&from.concat(), None, &mut all);
    let limit = Above { least: &all.distances, slack: SLACK };
    let stencils = parallel.map(&surface.positions, || (), |(), p| cells.stencil(*p));
    let read = |search: &Search, v: usize| -> f64 {
        let distance = |cell: u32| f64::from(search.distances[cell as usize]);
        match stencils[v].is_empty() {
            // A vertex that no triangle has.
            true => f64::INFINITY,
            false => stencils[v].iter().map(|(cell, share)| share * distance(*cell)).sum(),
        }
    };
    let found: Vec<Vec<(u32, f64)>> = parallel.map(&from, Search::default, |search, from| {
        cells.search(from, Some(limit), search);
        let reached = (0..stencils.len()).map(|v| (v as u32, read(search, v)));
        reached.filter(|(_, distance)| distance.is_finite()).collect()
    });
    let mut near: Vec<Vec<Influence>> = vec![Vec::new(); stencils.len()];
    for (bone, found) in (0u32..).zip(found) {
        found.into_iter().for_each(|(v, distance)| near[v as usize].push((bone, distance)));
    }
    near.into_iter()
        .zip(&surface.positions)
        .map(|(near, p)| {
            if near.is_empty() {
                // No way leads here from any bone: a part by itself, which follows the nearest through the air.
                let rays = (0u32..).zip(bones).map(|(bone, lines)| Ray::new(bone, &lines.lines, *p));
                let rays: Vec<Ray> = rays.collect();
                let least = rays.iter().map(|ray| ray.distance).fold(f64::INFINITY, f64::min);
                return share(
                    rays.iter().map(|ray| (ray.bone, ray.distance)),
                    least,
                    TIE_OF_LINES * cells.cell,
                );
            }
            let least = near.iter().map(|(_, d)| *d).fold(f64::INFINITY, f64::min);
            let Start { shares, distance } = share(near.into_iter(), least, TIE_OF_WAYS);
            // A bone in the cell of a vertex is half a cell away from it, as far as is known.
            Start { shares, distance: distance.max(0.5) * cells.cell }
        })
        .collect()
}

/// A surface with its borders closed by fans.
fn closed(surface: &TriMesh) -> TriMesh {
    let lids = Enclosure::new(surface.positions.len(), &surface.triangles);
    let mut positions = surface.positions.clone();
    positions.resize(lids.places(), DVec3::ZERO);
    lids.place_lids(&mut positions);
    TriMesh { positions, triangles: lids.triangles().to_vec(), uvs: Vec::new() }
}

/// K + M H of a surface: what leads heat along it, and to the bones.
pub struct Diffusion {
    /// Where the neighbours of each vertex begin, and the number of all.
    starts: Vec<u32>,
    /// Neighbours and the weights of edges to them.
    edges: Vec<(u32, f64)>,
    /// What a vertex takes from its bones: area / (s d)².
    pub taken: Vec<f64>,
    diagonal: Vec<f64>,
}

impl Diffusion {
    /// Of a surface whose vertices are so far from their bones, m, with a smoothing s.
    pub fn new(surface: &TriMesh, distances: &[f64], smoothing: f64) -> Diffusion {
        let x = &surface.positions;
        let mut areas = vec![0.0; x.len()];
        let mut pairs: Vec<(u32, u32, f64)> = Vec::new();
        for t in &surface.triangles {
            let [a, b, c] = t.map(|v| x[v as usize]);
            let area = triangle_area(a, b, c);
            t.iter().for_each(|&v| areas[v as usize] += area / 3.0);
            for k in 0..3 {
                let (i, j) = (t[(k + 1) % 3], t[(k + 2) % 3]);
                let (u, v) = (x[i as usize] - x[t[k] as usize], x[j as usize] - x[t[k] as usize]);
                // Half the cotangent of the angle across the edge.
                let half = 0.5 * u.dot(v) / u.cross(v).length().max(f64::MIN_POSITIVE);
                let half = half.clamp(-STEEPEST, STEEPEST);
                pairs.push((i, j, half));
                pairs.push((j, i, half));
            }
        }
        // Stable: halves of an edge are added in the order of triangles.
        pairs.sort_by_key(|&(i, j, _)| (i, j));
        let (mut starts, mut edges) = (vec![0; x.len() + 1], Vec::new());
        for run in pairs.chunk_by(|p, q| (p.0, p.1) == (q.0, q.1)) {
            let sum: f64 = run.iter().map(|(_, _, half)| half).sum();
            edges.push((run[0].1, sum.max(0.0)));
            starts[run[0].0 as usize + 1] += 1;
        }
        for v in 0..x.len() {
            starts[v + 1] += starts[v];
        }
        // What has nearly no area, or lies on its bone, takes what it starts from, whatever it takes.
        let least_area = 1e-3 * areas.iter().sum::<f64>() / x.len().max(1) as f64;
        let least_distance = 1e-3 * distances.iter().copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let taken: Vec<f64> = areas
            .iter()
            .zip(distances)
            .map(|(area, d)| {
                let d = smoothing * d.max(least_distance);
                let taken = area.max(least_area) / (d * d);
                if taken > 0.0 && taken.is_finite() { taken } else { 1.0 }
            })
            .collect();
        let row = |v: usize| &edges[starts[v] as usize..starts[v + 1] as usize];
        let diagonal = (0..x.len()).map(|v| taken[v] + row(v).iter().map(|(_, w)| w).sum::<f64>()).collect();
        Diffusion { starts, edges, taken, diagonal }
    }

    fn times(&self, x: &[f64], out: &mut [f64]) {
        for (v, out) in out.iter_mut().enumerate() {
            let row = &self.edges[self.starts[v] as usize..self.starts[v + 1] as usize];
            let around: f64 = row.iter().map(|(n, w)| w * x[*n as usize]).sum();
            *out = self.diagonal[v] * x[v] - around;
        }
    }

    /// Its factor, for many bones; none if that is too large.
    pub fn factor(&self, surface: &TriMesh) -> Option<SparseLdl> {
        let mut beside = Vec::with_capacity(self.edges.len() / 2);
        for v in 0..surface.positions.len() as u32 {
            let row = &self.edges[self.starts[v as usize] as usize..self.starts[v as usize + 1] as usize];
            beside.extend(row.iter().filter(|(n, w)| *n < v && *w > 0.0).map(|(n, w)| (*n, v, -w)));
        }
        SparseLdl::new(&surface.positions, &self.diagonal, &beside, MOST_FACTOR)
    }

    /// Where heat comes to rest if bones hold shares `c`, which become the result.
    pub fn solve(&self, factor: &SparseLdl, c: &mut [f64], scratch: &mut Vec<f64>) {
        c.iter_mut().zip(&self.taken).for_each(|(c, taken)| *c *= taken);
        factor.solve(c, scratch);
    }

    /// The same without a factor: conjugate gradient with the diagonal as preconditioner. Starts from `c`, which becomes the
    /// result. The inverse of the matrix has no negative number, and takes what is taken to 1: so no weight is off by more than the largest share of the
    /// residual in what is taken.
    pub fn solve_by_rounds(&self, c: &mut [f64], scratch: &mut [Vec<f64>; 4]) {
        let n = c.len();
        let [r, z, p, q] = scratch;
        [&mut *r, z, p, q].into_iter().for_each(|list| {
            list.clear();
            list.resize(n, 0.0);
        });
        self.times(c, q);
        (0..n).for_each(|v| r[v] = self.taken[v] * c[v] - q[v]);
        let mut before = 0.0;
        for round in 0..ROUNDS {
            let (mut product, mut worst) = (0.0, 0.0f64);
            for v in 0..n {
                z[v] = r[v] / self.diagonal[v];
                product += r[v] * z[v];
                worst = worst.max(r[v].abs() / self.taken[v]);
            }
            if worst <= ACCURACY || !product.is_finite() {
                return;
            }
            let on = if round == 0 { 0.0 } else { product / before };
            (0..n).for_each(|v| p[v] = z[v] + on * p[v]);
            self.times(p, q);
            let curvature: f64 = (0..n).map(|v| p[v] * q[v]).sum();
            if curvature <= 0.0 {
                return;
            }
            let step = product / curvature;
            for v in 0..n {
                c[v] += step * p[v];
                r[v] -= step * q[v];
            }
            before = product;
        }
    }
}

/// Weights of vertices after heat has flowed, not yet normalised; one solve per bone, all at once.
fn diffuse(
    surface: &TriMesh,
    starts: &[Start],
    bones: usize,
    smoothing: f64,
    parallel: &Parallel,
) -> Vec<Vec<Influence>> {
    let distances: Vec<f64> = starts.iter().map(|start| start.distance).collect();
    let diffusion = Diffusion::new(surface, &distances, smoothing);
    let mut given: Vec<Vec<(u32, f64)>> = vec![Vec::new(); bones];
    for (v, start) in (0u32..).zip(starts) {
        start.shares.iter().for_each(|(bone, share)| given[*bone as usize].push((v, *share)));
    }
    let factor = diffusion.factor(surface);
    let scratch = || (Vec::new(), <[Vec<f64>; 4]>::default());
    let found = parallel.map(&given, scratch, |(c, scratch), given| {
        if given.is_empty() {
            return Vec::new();
        }
        c.clear();
        c.resize(starts.len(), 0.0);
        given.iter().for_each(|(v, share)| c[*v as usize] = *share);
        match &factor {
            Some(factor) => diffusion.solve(factor, c, &mut scratch[0]),
            None => diffusion.solve_by_rounds(c, scratch),
        }
        let kept = (0u32..).zip(c.iter()).filter(|(_, weight)| **weight > LEAST);
        kept.map(|(v, weight)| (v, *weight)).collect::<Vec<_>>()
    });
    let mut lists: Vec<Vec<Influence>> = vec![Vec::new(); starts.len()];
    for (bone, found) in (0u32..).zip(found) {
        found.into_iter().for_each(|(v, weight)| lists[v as usize].push((bone, weight)));
    }
    // What a solve that did not end left without any.
    for (list, start) in lists.iter_mut().zip(starts) {
        if list.is_empty() {
            list.clone_from(&start.shares);
        }
    }
    lists
}
