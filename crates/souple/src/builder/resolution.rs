//! Checks and compiles cells of several sizes (FAU-21, FAU-24, FAU-26).
//!
//! What fills a larger cell is what fills its parts, so that its matrix is the sum Σ Lᵀ K L over them but for the shape functions inside ([`crate::energy::cell`]); masses are
//! those of the finest cells, raised to what they follow.

use glam::DVec3;

use super::embed::PlacedCells;
use super::select::{Particles, select};
use super::shape::Placed;
use super::{Checked, positive, vector, wrong};
use crate::energy::Hexahedra;
use crate::mapping::Mapping;
use crate::mesh::cells::Filled;
use crate::mesh::octree::{Octree, OctreeCut};
use crate::mesh::{MAX_VERTICES, Topology, bounds};
use crate::refine::{RefineRules, Refining};
use crate::scene::{Body, FineAt, Resolution, Shape};

/// The largest cells are 2 to this times as large as the smallest.
const MAX_LEVELS: u32 = 8;

/// The most of the smallest cells that a lattice of whole largest ones may have: some bytes are taken for each.
const MAX_LATTICE: f64 = 1e8;

/// The cells of a body that has some of several sizes.
pub(super) struct Divided {
    octree: Octree,
    cut: OctreeCut,
    /// What follows nodes of the finest cells.
    surface: Mapping,
    /// The cells that are elements: the leaves of the cut, or all cells if they change.
    pub(super) cells: PlacedCells,
    /// Cells that stay divided.
    always: Vec<bool>,
    rules: Option<RefineRules>,
}

impl Divided {
    /// Whether cells change as the body moves.
    pub(super) fn changes(&self) -> bool {
        self.rules.is_some()
    }

    /// What a body with these elements needs to change its cells, and what joins its particles at the start.
    pub(super) fn refining(
        self,
        all: Hexahedra,
        fine_masses: Vec<f64>,
        topology: &mut Topology,
    ) -> Option<Refining> {
        let Divided { octree, cut, surface, always, rules, .. } = self;
        let refining = Refining { octree, all, surface, fine_masses, always, rules: rules? };
        *topology = refining.topology(topology, &cut, 0);
        Some(refining)
    }
}

/// Refuses levels whose largest cells would make a lattice that no memory holds: each side is filled up to whole ones.
fn check_padding(field: &str, places: &[[u32; 3]], levels: u32) -> Checked<()> {
    let largest = 1u64 << levels;
    let padded = [0, 1, 2].map(|k| {
        let extent = places.iter().map(|at| u64::from(at[k]) + 1).max().unwrap_or(1);
        extent.next_multiple_of(largest) as f64
    });
    let count: f64 = padded.iter().product();
    if count > MAX_LATTICE {
        return wrong(
            field,
            format!(
                "filled up to whole cells of the largest size, its lattice would have {count:.0} of the smallest ones"
            ),
            format!("at most {MAX_LATTICE:e} are taken: use fewer levels, or larger cells"),
        );
    }
    Ok(())
}

/// Joins cells of a placed solid, where they may be large.
pub(super) fn divide(at: &str, body: &Body, resolution: &Resolution, placed: &mut Placed) -> Checked<()> {
    let field = |name: &str| format!("{at}.resolution.{name}");
    let Some(cells) = &placed.cells else {
        return wrong(
            &format!("{at}.resolution"),
            "only solids of hexahedra have cells of several sizes",
            "use `cut = \"hexahedra\"` of a block or of `embed`, or leave `resolution` out",
        );
    };
    if !(1..=MAX_LEVELS).contains(&resolution.levels) {
        return wrong(
            &field("levels"),
            format!("it must be from 1 to {MAX_LEVELS}, not {}", resolution.levels),
            "2 is usual: the largest cells are four times as large as the smallest",
        );
    }
    for (r, region) in resolution.regions.iter().enumerate() {
        let (low, high) = (vector(&field("region"), region.min)?, vector(&field("region"), region.max)?);
        if (high - low).min_element() < 0.0 {
            return wrong(&field(&format!("region[{r}]")), "`max` is below `min`", "exchange the two");
        }
    }
    let rules = match resolution.fine_at {
        FineAt::Surface | FineAt::Regions => None,
        FineAt::Bends => Some(rules(at, body, resolution)?),
    };
    let whole = matches!(body.shape, Shape::Block(_));
    check_padding(&field("levels"), &cells.at, resolution.levels)?;
    let finest: Vec<([u32; 3], [u32; 8])> =
        cells.at.iter().copied().zip(cells.corners.iter().copied()).collect();
    let hidden = if whole { placed.mesh.positions.len() } else { placed.hidden };
    let first = (placed.mesh.positions.len() - hidden) as u32;
    let (octree, added) = Octree::new(&finest, (first, hidden), resolution.levels, whole);
    add_nodes(&field("levels"), &finest, &added, placed)?;
    let Some(cells) = &placed.cells else { return Ok(()) };
    let fillings = fillings(&octree, cells);
    let x = &placed.mesh.positions;
    let in_region = |cell: u32| {
        let corners = octree.cells()[cell as usize].corners.map(|v| x[v as usize]);
        let (low, high) = bounds(&corners);
        let meets = |min: DVec3, max: DVec3| (min - high).max(low - max).max_element() < 0.0;
        resolution.regions.iter().any(|r| meets(r.min.into(), r.max.into()))
    };
    let is_full: Vec<bool> = fillings.iter().map(|f| full_label(f).is_some()).collect();
    let at_surface = |cell: u32| {
        let sides = [[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]];
        !is_full[cell as usize] || sides.iter().any(|side| !octree.has_beside(cell, *side))
    };
    let held = match rules {
        Some(_) => held_nodes(at, body, placed)?,
        None => Vec::new(),
    };
    let mut always: Vec<bool> = (0..octree.cells().len() as u32).map(in_region).collect();
    held.iter().flat_map(|node| octree.around(*node)).for_each(|cell| always[cell as usize] = true);
    let is_fine =
        |cell: u32| always[cell as usize] || (resolution.fine_at == FineAt::Surface && at_surface(cell));
    let cut = octree.divided_where(is_fine);
    let elements = match rules {
        Some(_) => (0..octree.cells().len() as u32).collect(),
        None => octree.leaves(&cut),
    };
    let cells = elements_of(&octree, cells, &fillings, &elements);
    let surface = std::mem::take(&mut placed.mapping);
    placed.mapping = octree.mapping(&cut, &surface);
    placed.divided = Some(Divided { octree, cut, surface, cells, always, rules });
    Ok(())
}

/// When cells change.
fn rules(at: &str, body: &Body, resolution: &Resolution) -> Checked<RefineRules> {
    let field = |name: &str| format!("{at}.resolution.{name}");
    let refine_above = positive(&field("refine_above"), resolution.refine_above, "rad")?;
    let join_below = positive(&field("join_below"), resolution.join_below, "rad")?;
    if join_below > refine_above {
        return wrong(
            &field("join_below"),
            format!(
                "it is above `refine_above`, {refine_above} rad: cells would be divided and joined by turns"
            ),
            "half of it is usual",
        );
    }
    if resolution.max_cells == 0 {
        return wrong(&field("max_cells"), "there must be at least 1", "2000 is usual");
    }
    let refused = [
        ("plasticity", body.plasticity.is_some() || body.materials.iter().any(|m| m.plasticity.is_some())),
        ("shape_matching", body.shape_matching.is_some()),
    ];
    if let Some((name, _)) = refused.into_iter().find(|(_, given)| *given) {
        return wrong(
            &format!("{at}.{name}"),
            "bodies whose cells change as they bend do not have it",
            "leave it out, or use `fine_at = \"surface\"`",
        );
    }
    Ok(RefineRules { refine_above, join_below, max_cells: resolution.max_cells as usize })
}

/// The nodes of the finest cells that supports hold.
fn held_nodes(at: &str, body: &Body, placed: &Placed) -> Checked<Vec<u32>> {
    let visible = placed.mesh.positions.len() - placed.hidden;
    let particles = Particles::of(&body.shape, &placed.mesh.positions[..visible]);
    let mut held = Vec::new();
    for (p, pin) in body.pins.iter().enumerate() {
        let chosen = select(&format!("{at}.pin[{p}].select"), &pin.select, &particles)?;
        held.extend(chosen.iter().flat_map(|v| placed.mapping.parents(*v).map(|(parent, _)| parent)));
    }
    Ok(held)
}

/// Adds the corners that only larger cells have.
fn add_nodes(
    at: &str,
    finest: &[([u32; 3], [u32; 8])],
    added: &[[i64; 3]],
    placed: &mut Placed,
) -> Checked<()> {
    let Some((place, corners)) = finest.first() else { return Ok(()) };
    let x = &mut placed.mesh.positions;
    let total = x.len() + added.len();
    if total > MAX_VERTICES {
        return wrong(
            at,
            format!("with the corners of larger cells there are {total} vertices, more than {MAX_VERTICES}"),
            "use larger cells, or fewer levels",
        );
    }
    let origin = x[corners[0] as usize];
    let edges = [1, 2, 4].map(|c| x[corners[c] as usize] - origin);
    for node in added {
        let along = |k: usize| edges[k] * (node[k] - i64::from(place[k])) as f64;
        x.push(origin + along(0) + along(1) + along(2));
    }
    placed.hidden += added.len();
    if !placed.mesh.uvs.is_empty() {
        placed.mesh.uvs.resize(total, [0.0; 2]);
    }
    Ok(())
}

/// What fills each cell of an octree, from what fills the finest.
fn fillings(octree: &Octree, finest: &PlacedCells) -> Vec<Vec<Filled>> {
    let mut all: Vec<Vec<Filled>> = Vec::with_capacity(octree.cells().len());
    for (name, cell) in octree.cells().iter().enumerate() {
        if cell.level == 0 {
            all.push(finest.kinds[finest.kind[name] as usize].clone());
            continue;
        }
        let mut filled = Vec::new();
        for (octant, child) in cell.children() {
            let into = |p: DVec3| (crate::energy::cell::corner(octant) + p) * 0.5;
            let parts = &all[child as usize];
            filled.extend(parts.iter().map(|f| Filled {
                low: into(f.low),
                high: into(f.high),
                label: f.label,
            }));
        }
        (0..3).for_each(|axis| join(&mut filled, axis));
        all.push(filled);
    }
    all
}

/// Joins boxes of one material that go on from each other along an axis.
fn join(boxes: &mut Vec<Filled>, axis: usize) {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let side = |f: &Filled| [f.low[u], f.low[v], f.high[u], f.high[v]];
    boxes.sort_by(|a, b| {
        let order = |a: f64, b: f64| a.total_cmp(&b);
        let sides = side(a).into_iter().zip(side(b)).map(|(a, b)| order(a, b));
        let first = sides.fold(a.label.cmp(&b.label), |sum, next| sum.then(next));
        first.then(order(a.low[axis], b.low[axis]))
    });
    boxes.dedup_by(|next, kept| {
        let goes_on =
            side(next) == side(kept) && next.label == kept.label && next.low[axis] == kept.high[axis];
        if goes_on {
            kept.high[axis] = next.high[axis];
        }
        goes_on
    });
}

/// The label of a cell that is full of one material.
fn full_label(filled: &[Filled]) -> Option<u16> {
    match filled {
        [only] if only.low == DVec3::ZERO && only.high == DVec3::ONE => Some(only.label),
        _ => None,
    }
}

/// Some cells of an octree as elements.
fn elements_of(
    octree: &Octree,
    finest: &PlacedCells,
    fillings: &[Vec<Filled>],
    chosen: &[u32],
) -> PlacedCells {
    let mut full: Vec<(u32, u16, u32)> = Vec::new();
    let mut cells = PlacedCells {
        size: finest.size,
        labels: finest.labels.clone(),
        plain: finest.plain,
        ..PlacedCells::default()
    };
    for &name in chosen {
        let (cell, filled) = (&octree.cells()[name as usize], &fillings[name as usize]);
        let whole = full_label(filled);
        let known = full.iter().find(|(level, label, _)| *level == cell.level && Some(*label) == whole);
        let kind = known.map(|(.., kind)| *kind).unwrap_or_else(|| {
            let kind = cells.kinds.len() as u32;
            full.extend(whole.map(|label| (cell.level, label, kind)));
            cells.kinds.push(filled.clone());
            cells.levels.push(cell.level);
            kind
        });
        cells.corners.push(cell.corners);
        cells.kind.push(kind);
    }
    cells
}
