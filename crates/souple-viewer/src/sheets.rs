//! Sheets of paper as items, and the lines of creases and folds that can be drawn on them and on bodies with folds.

use std::sync::Arc;

use glam::{DVec2, Mat4, Vec3};
use souple::mesh::{mesh_edges, pattern_stretch::principal_stretches};
use souple::paper::{Crease, Sheet};
use souple::wrinkles::{Folds, Wrinkles};
use souple::{Model, Simulation};

use crate::capture::{Item, ItemKind, ItemMesh, Moment};
use crate::geometry;
use crate::looks::{Line, Looks};

/// Width of the lines of creases, pixels, in a picture 720 pixels high.
const CREASE_LINE: f32 = 2.5;

/// A line of a crease or of a fold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CreaseLine {
    /// Its ends, m.
    pub ends: [Vec3; 2],
    /// Whether it is a valley, seen from the front; else a mountain.
    pub valley: bool,
}

/// Meshes of sheets, kept from one moment to the next while they are the same.
#[derive(Debug)]
pub(crate) struct Sheets {
    known: Vec<Option<(Vec<u32>, Arc<ItemMesh>)>>,
    names: Vec<Arc<str>>,
}

impl Sheets {
    pub(crate) fn new(model: &Model) -> Sheets {
        let names = model.papers.iter().map(|paper| Arc::from(paper.name.as_str()));
        Sheets { known: vec![None; model.papers.len()], names: names.collect() }
    }

    /// The sheets as they are now.
    pub(crate) fn items(&mut self, simulation: &Simulation) -> Vec<Item> {
        let model = simulation.shared_model();
        let sheets = simulation.state().papers.iter().zip(&mut self.known).zip(&self.names).enumerate();
        let item =
            |(p, ((state, known), name)): (usize, ((&souple::paper::PaperState, &mut _), &Arc<str>))| {
                let sheet = &state.crumple.sheet;
                let (sources, triangles) = sheet.split_at_creases();
                let mesh = remembered(known, sheet, &sources, triangles);
                let positions: Vec<Vec3> =
                    sources.iter().map(|&v| sheet.places[v as usize].as_vec3()).collect();
                Item {
                    name: Arc::clone(name),
                    kind: ItemKind::Paper(p),
                    mesh,
                    fine: None,
                    speeds: Arc::new(vec![0.0; positions.len()]),
                    plastic: Arc::default(),
                    positions: Arc::new(positions),
                    contacts: Arc::default(),
                    crossings: Arc::default(),
                    gains: Arc::default(),
                    painted: Arc::default(),
                    border: Arc::new(state.crumple.border.places.iter().map(|p| p.as_vec3()).collect()),
                    creases: Arc::new(creases(sheet)),
                    model: Some(Arc::clone(&model)),
                    transform: Mat4::IDENTITY,
                }
            };
        sheets.map(item).collect()
    }
}

/// The mesh of a sheet: the last one if it has the same vertices and triangles.
fn remembered(
    known: &mut Option<(Vec<u32>, Arc<ItemMesh>)>,
    sheet: &Sheet,
    sources: &[u32],
    triangles: Vec<[u32; 3]>,
) -> Arc<ItemMesh> {
    let flat = |t: &[u32; 3]| t.map(|v| sheet.pattern[sources[v as usize] as usize]);
    let charts: Vec<[DVec2; 3]> = triangles.iter().map(flat).collect();
    if let Some((same, mesh)) = known
        && same == sources
        && mesh.triangles == triangles
        && mesh.charts == charts
    {
        return Arc::clone(mesh);
    }
    let edges: Vec<[u32; 2]> = mesh_edges(&triangles, &[]).into_iter().map(|(i, j)| [i, j]).collect();
    let size = sheet.pattern.iter().fold(1e-9f64, |size, p| size.max(p.abs().max_element()));
    let mesh = Arc::new(ItemMesh {
        edge_triangles: geometry::edge_triangles(&edges, &triangles),
        edges,
        uvs: sources.iter().map(|&v| (sheet.pattern[v as usize] / size).as_vec2().to_array()).collect(),
        triangles,
        charts,
        ..ItemMesh::default()
    });
    *known = Some((sources.to_vec(), Arc::clone(&mesh)));
    mesh
}

fn creases(sheet: &Sheet) -> Vec<CreaseLine> {
    let line = |edge: &souple::paper::Edge| {
        let valley = match edge.crease {
            Crease::Mountain => false,
            Crease::Valley => true,
            Crease::Border | Crease::Flat => return None,
        };
        Some(CreaseLine { ends: edge.ends.map(|v| sheet.places[v as usize].as_vec3()), valley })
    };
    sheet.edges().iter().filter_map(line).collect()
}

/// The crests of folds on the fine mesh of a body.
pub(crate) fn crests(wrinkles: &Wrinkles, folds: &Folds, fine: &[glam::DVec3]) -> Vec<CreaseLine> {
    let valley = wrinkles.settings.side < 0.0;
    let mut lines = Vec::new();
    for curve in &folds.curves {
        let places: Vec<Vec3> = curve
            .knots
            .iter()
            .map(|knot| wrinkles.fine.place(&wrinkles.pattern, knot.at, fine).as_vec3())
            .collect();
        lines.extend(places.windows(2).map(|pair| CreaseLine { ends: [pair[0], pair[1]], valley }));
        if let (true, [first, .., last]) = (curve.ring, &places[..]) {
            lines.push(CreaseLine { ends: [*last, *first], valley });
        }
    }
    lines
}

/// The lines of creases and folds of what is drawn with them, in a picture of that height: mountains red, valleys blue, as in a crease pattern.
pub fn crease_lines(moment: &Moment, looks: &Looks, height: u32) -> Vec<Line> {
    let width = CREASE_LINE * (height as f32 / 720.0).max(0.5);
    let shown =
        moment.items.iter().filter(|item| looks.of(item).is_some_and(|look| look.visible && look.creases));
    let line = |item: &Item, crease: &CreaseLine| {
        let [from, to] = crease.ends.map(|end| item.transform.transform_point3(end));
        let colour = if crease.valley { [0.02, 0.08, 0.6, 1.0] } else { [0.6, 0.02, 0.02, 1.0] };
        Line { from, to, colour, width, on_top: false }
    };
    shown.flat_map(|item| item.creases.iter().map(move |crease| line(item, crease))).collect()
}

/// How far each triangle is from its flat shape: 1 less its smallest stretch where that is positive, and √(((λ₁ − 1)² + (λ₂ − 1)²) / 2); the
/// mean over the triangles around each vertex, by their flat areas.
fn at_vertices(
    charts: &[[DVec2; 3]],
    triangles: &[[u32; 3]],
    positions: &[Vec3],
    of: impl Fn(f64, f64) -> f64,
) -> Vec<f32> {
    let mut sums = vec![[0.0f64; 2]; positions.len()];
    for (flat, corners) in charts.iter().zip(triangles) {
        let Some(places) = place_of(corners, positions) else { continue };
        let Some(stretches) = principal_stretches(*flat, places) else { continue };
        let area = (flat[1] - flat[0]).perp_dot(flat[2] - flat[0]).abs();
        let value = of(stretches.least, stretches.most);
        for &v in corners {
            let [sum, weight] = &mut sums[v as usize];
            *sum += area * value;
            *weight += area;
        }
    }
    sums.iter().map(|[sum, weight]| if *weight > 0.0 { (sum / weight) as f32 } else { 0.0 }).collect()
}

fn place_of(corners: &[u32; 3], positions: &[Vec3]) -> Option<[glam::DVec3; 3]> {
    let [a, b, c] = corners.map(|v| positions.get(v as usize).map(|p| p.as_dvec3()));
    Some([a?, b?, c?])
}

/// Compression of a body against its pattern, or its shape at rest, at its vertices: what folds are there to make up for.
pub(crate) fn compression(item: &Item) -> Vec<f32> {
    let charts = match (item.wrinkles(), &item.mesh.topology) {
        (Some(wrinkles), _) => wrinkles.pattern.corners.clone(),
        (None, Some(topology)) => {
            let rest = |t: &[u32; 3]| t.map(|v| topology.rest_positions[v as usize]);
            topology.triangles.iter().map(|t| souple::wrinkles::pattern::laid_flat(rest(t))).collect()
        }
        _ => item.mesh.charts.clone(),
    };
    at_vertices(&charts, &item.mesh.triangles, &item.positions, |smaller, _| (1.0 - smaller).max(0.0))
}

/// How far what is drawn is from isometric to its pattern, at the vertices that are drawn; nothing of what has no pattern.
pub(crate) fn misfit(item: &Item) -> Vec<f32> {
    let (mesh, positions) = item.drawn();
    let strain = |smaller: f64, larger: f64| {
        (0.5 * ((smaller - 1.0) * (smaller - 1.0) + (larger - 1.0) * (larger - 1.0))).sqrt()
    };
    at_vertices(&mesh.charts, &mesh.triangles, positions, strain)
}

#[cfg(test)]
mod tests {
    use souple::ModelBuilder;
    use souple::scene::{Body, Folding, Grid, Paper, PaperBorder, Scene, Shape, Wrinkling};

    use super::*;
    use crate::capture::Capture;
    use crate::style::Quantity;

    fn moment(scene: &Scene, change: impl Fn(&mut Simulation)) -> Moment {
        let model = ModelBuilder::new(scene).build().unwrap();
        let mut capture = Capture::new(scene, &model);
        let mut simulation = Simulation::new(model);
        change(&mut simulation);
        capture.moment(&simulation)
    }

    #[test]
    fn paper_shows_its_creases_and_how_far_it_is_off() {
        // A flat border a tenth too small, held as it is: λ = 0.9 both ways where nothing folds.
        let points = [[0.0, 0.0, 0.0], [0.27, 0.0, 0.0], [0.27, 0.0, -0.18], [0.0, 0.0, -0.18]];
        let small = Folding { repair: false, chords: 0, step: Some(0.05), ..Folding::default() };
        let sheet = |name: &str, border, size, folding| Paper {
            name: name.into(),
            border,
            size,
            folding,
            ..Paper::default()
        };
        let border = PaperBorder::Points(points.to_vec());
        let scene = Scene {
            papers: vec![
                sheet("small", border, Some([0.3, 0.2]), small),
                sheet("twisted", PaperBorder::Case("twisted".into()), None, Folding::default()),
            ],
            ..Scene::default()
        };
        let moment = moment(&scene, |_| ());
        let [small, twisted] = &moment.items[..] else { panic!("{} items", moment.items.len()) };
        let off = Quantity::Isometry.values(small);
        assert_eq!(off.len(), small.positions.len());
        assert!(off.iter().all(|e| (e - 0.1).abs() < 1e-4), "{off:?}");
        assert!(small.creases.is_empty() && small.border.len() >= 4);
        assert!(twisted.creases.iter().any(|crease| crease.valley));
        let mut looks = Looks::of_scene(&scene, |_| None);
        assert!(crease_lines(&moment, &looks, 720).is_empty());
        looks.show_creases();
        assert_eq!(crease_lines(&moment, &looks, 720).len(), twisted.creases.len());
    }

    #[test]
    fn cloth_shows_what_it_has_lost_and_what_folds_gave_back() {
        let body = Body {
            name: "cloth".into(),
            fabric: Some("cotton".into()),
            shape: Shape::Grid(Grid { vertices: [9, 9], ..Grid::default() }),
            wrinkles: Some(Wrinkling { smallest_radius: Some(0.03), ..Wrinkling::default() }),
            ..Body::default()
        };
        let scene = Scene { bodies: vec![body], gravity: [0.0; 3], ..Scene::default() };
        let squeezed = moment(&scene, |simulation| {
            let body = &mut simulation.state_mut().bodies[0];
            body.x.iter_mut().for_each(|x| x.x *= 0.7);
            body.frozen = true;
            (0..20).for_each(|_| simulation.step());
        });
        let item = &squeezed.items[0];
        let lost = Quantity::Compression.seen_values(item);
        assert_eq!(lost.len(), 81);
        assert!(lost.iter().all(|lost| (lost - 0.3).abs() < 1e-4), "{lost:?}");
        // Crests lie on the surface that is drawn.
        let fine = Quantity::Isometry.values(item);
        assert_eq!(fine.len(), item.drawn().1.len());
        let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
        // √(0.3² / 2) of the coarse cloth.
        assert!(mean(&fine) < 0.75 * 0.212, "{}", mean(&fine));
        assert!(!item.creases.is_empty());
        assert_eq!(item.drawn_values(fine.clone()), fine);
    }
}
