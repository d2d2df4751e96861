//! Small moments for tests of the CPU rasteriser and of picking.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::{DVec3, Mat4, Vec3};
use souple::contact::primitives::Primitive;
use souple::mesh::Topology;
use souple::scene::View;

use crate::capture::{Item, ItemKind, ItemMesh, Moment};
use crate::geometry;
use crate::looks::{ItemLook, Looks};

/// A square metre of `n` × `n` quads at rest in the plane of x and z, moved by a function of x and z.
pub(crate) fn cloth(n: u32, place: impl Fn(f32, f32) -> Vec3) -> Item {
    let share = |k: u32| k as f32 / n as f32 - 0.5;
    let grid = || (0..=n).flat_map(move |j| (0..=n).map(move |i| (share(i), share(j))));
    let mut triangles = Vec::new();
    for j in 0..n {
        for i in 0..n {
            let a = j * (n + 1) + i;
            let (b, c, d) = (a + 1, a + n + 1, a + n + 2);
            triangles.extend([[a, c, b], [b, c, d]]);
        }
    }
    let rest: Vec<DVec3> = grid().map(|(x, z)| DVec3::new(f64::from(x), 0.0, f64::from(z))).collect();
    let mut topology = Topology {
        masses: vec![1.0; rest.len()],
        parents: (0..rest.len() as u32).collect(),
        triangles: triangles.clone(),
        rest_positions: rest,
        ..Topology::default()
    };
    topology.rebuild_derived();
    let edges: Vec<[u32; 2]> = topology.edges.iter().map(|e| [e.i, e.j]).collect();
    let mesh = ItemMesh {
        edge_triangles: geometry::edge_triangles(&edges, &triangles),
        uvs: geometry::planar_uvs(&topology.rest_positions),
        triangles,
        edges,
        topology: Some(Arc::new(topology)),
        ..ItemMesh::default()
    };
    let positions: Vec<Vec3> = grid().map(|(x, z)| place(x, z)).collect();
    body("cloth", positions, mesh)
}

/// A rope through points.
pub(crate) fn rope(points: Vec<Vec3>, radius: f32) -> Item {
    let segments: Vec<[u32; 2]> = (1..points.len() as u32).map(|k| [k - 1, k]).collect();
    let mesh = ItemMesh { edges: segments.clone(), segments, rope_radius: radius, ..ItemMesh::default() };
    body("rope", points, mesh)
}

fn body(name: &str, positions: Vec<Vec3>, mesh: ItemMesh) -> Item {
    Item {
        name: name.into(),
        kind: ItemKind::Body(0),
        mesh: Arc::new(mesh),
        speeds: Arc::new(vec![0.0; positions.len()]),
        plastic: Arc::default(),
        positions: Arc::new(positions),
        contacts: Arc::default(),
        crossings: Arc::default(),
        fine: None,
        gains: Arc::default(),
        painted: Arc::default(),
        border: Arc::default(),
        creases: Arc::default(),
        model: None,
        transform: Mat4::IDENTITY,
    }
}

/// A collider.
pub(crate) fn collider(shape: &Primitive, transform: Mat4) -> Item {
    let (positions, mesh) = geometry::primitive_mesh(shape, 4.0);
    let item = body("collider", positions, mesh);
    Item { kind: ItemKind::Collider(0), transform, speeds: Arc::default(), ..item }
}

/// A moment of items, numbered as bodies and colliders in their order.
pub(crate) fn moment(items: Vec<Item>) -> Moment {
    let mut moment = Moment { items, ..Moment::default() };
    let (mut bodies, mut colliders) = (0, 0);
    for item in &mut moment.items {
        let (kind, count): (fn(usize) -> ItemKind, _) = match item.kind {
            ItemKind::Body(_) => (ItemKind::Body, &mut bodies),
            ItemKind::Collider(_) | ItemKind::Paper(_) => (ItemKind::Collider, &mut colliders),
        };
        item.kind = kind(*count);
        *count += 1;
    }
    moment
}

/// A look of a style, red in front and green behind.
fn look(style: &str) -> ItemLook {
    ItemLook {
        style: style.into(),
        colour: Vec3::new(0.6, 0.05, 0.05),
        back_colour: Vec3::new(0.05, 0.5, 0.05),
        texture: None,
        parameters: BTreeMap::new(),
        range: None,
        cells: false,
        creases: false,
        visible: true,
    }
}

/// Looks for all items of a moment, all bodies of one style, colliders standard and grey; no ground.
pub(crate) fn looks(moment: &Moment, style: &str) -> Looks {
    let of = |look: ItemLook| vec![look; moment.items.len()];
    let grey = ItemLook { colour: Vec3::splat(0.4), ..look("standard") };
    Looks {
        papers: Vec::new(),
        bodies: of(look(style)),
        colliders: of(grey),
        skins: vec![false; moment.items.len()],
        view: View { ground: false, background: Some([0.0; 3]), ..View::default() },
        extent: None,
    }
}
