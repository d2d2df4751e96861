//! Everything that the real-time solver makes once for a topology and a set of supports: vertices in an order in which neighbours
//! are close, constraints in eights, levels, attachments. Made anew after a tear or a change of supports, on two threads if there
//! are.

use glam::DVec3;

use super::areas::{AreaSet, Triangle};
use super::attachments::{self, AttachmentSet};
use super::bends::BendSet;
use super::levels::{self, Graph, Level};
use super::links::{Link, LinkSet, continued};
use super::softness::Softness;
use super::touch::Listed;
use super::volume::Volume;
use crate::contact::assigned::Assigned;
use crate::mesh::geodesic::{NearestSupports, Support, nearest_supports};
use crate::mesh::{Patch, Rows, Spring, Topology, neighbours, vertex_normals};
use crate::model::{BodyModel, ColliderModel, Model};
use crate::parallel::Parallel;
use crate::scene::Xpbd as Settings;
use crate::state::BodyState;

/// In violent motion stiff cloth takes finer substeps, where links are longer than at rest by more than this share on average,
/// beyond what forces do: pulls travel one link per substep through folds, where levels cannot help.
const OVERSTRETCHED: f64 = 0.003;

/// Motion is violent where vertices go further than this share of a link in a substep.
const VIOLENT: f64 = 0.1;

/// Substeps of violent motion are finer by this factor at most.
const FINEST_IN_MOTION: f64 = 4.0;

/// Everything that is made once for a topology and a set of supports.
#[derive(Debug)]
pub struct Packed {
    version: u64,
    /// Supported vertices of the body.
    pub held: Vec<u32>,
    /// Number in the body of each packed vertex.
    pub order: Vec<u32>,
    /// Packed number of each vertex of the body.
    pub place: Vec<u32>,
    /// Springs and stretch limits.
    pub links: LinkSet,
    /// What resists bending.
    pub bends: BendSet,
    /// Triangles that resist a change of their area.
    pub areas: AreaSet,
    /// Coarse levels, the finest first.
    pub levels: Vec<Level>,
    /// Long-range attachments.
    pub attachments: AttachmentSet,
    /// How soft the body is.
    pub softness: Softness,
    /// What is inside a closed body.
    pub volume: Option<Volume>,
    /// Whether any spring is damped.
    pub damped: bool,
    /// For each collider of the model, the vertices that are held against it; none if that is all of them.
    listed: Vec<Option<Listed>>,
}

/// The order of packed vertices, and what is known of them in it.
struct Order<'a> {
    topology: &'a Topology,
    /// Number in the body of each packed vertex.
    order: Vec<u32>,
    /// Packed number of each vertex of the body.
    place: Vec<u32>,
    /// Which packed vertices are supported.
    held: Vec<bool>,
    /// Places of packed vertices at rest, m.
    rest: Vec<DVec3>,
}

impl Packed {
    /// For body `b` of a model with substeps of `h`, s.
    pub fn new(
        settings: &Settings,
        parallel: &Parallel,
        model: &Model,
        b: usize,
        h: f64,
        state: &BodyState,
    ) -> Packed {
        let (gravity, body) = (model.gravity, &model.bodies[b]);
        let topology = &*state.topology;
        let held: Vec<u32> = state.pinned.iter().map(|p| p.vertex).collect();
        let edges: Vec<(u32, u32)> = topology.edges.iter().map(|e| (e.i, e.j)).collect();
        let around = neighbours(topology.len(), &edges);
        let inside = body.inside.filter(|_| topology.closed);
        let ((supports, softness), (order, mut links)) = parallel.join(
            || {
                let supports = nearest_supports(topology, &around, &held, attachments::MOST);
                let softness = Softness::new(topology, gravity, h, &supports, inside.as_ref());
                (supports, softness)
            },
            || {
                let order = Order::new(topology, &held, &edges, &around);
                let links = order.links(body);
                (order, links)
            },
        );
        // Stiff links have no compliance to speak of.
        if !softness.needs_help(h) {
            order.correct(&mut links);
        }
        let (levels, (links, bends, areas, attachments)) = parallel.join(
            || if settings.levels { levels::build(&order.graph(&softness)) } else { Vec::new() },
            || {
                let count = order.order.len();
                let triangles = if body.area_stiffness > 0.0 { order.triangles() } else { Vec::new() };
                let areas = AreaSet::new(count, &triangles, body.area_stiffness);
                let attachments = if settings.attachments {
                    order.attachments(&supports, &softness)
                } else {
                    AttachmentSet::default()
                };
                (LinkSet::new(count, &links), BendSet::new(count, order.patches()), areas, attachments)
            },
        );
        Packed {
            version: topology.version,
            held,
            links,
            bends,
            areas,
            levels,
            attachments,
            softness,
            damped: topology.springs.iter().any(|s| s.damping > 0.0),
            volume: inside.map(|law| Volume::new(law, topology, &order.place)),
            listed: order.listed(model, b),
            order: order.order,
            place: order.place,
        }
    }

    /// The vertices that are held against a collider; none if that is all of them.
    pub fn listed(&self, collider: u32) -> Option<&Listed> {
        self.listed.get(collider as usize)?.as_ref()
    }

    /// Whether it was made for what a body is now: it may have torn, and its supports may have changed.
    pub fn fits(&self, state: &BodyState) -> bool {
        let held = state.pinned.iter().map(|p| p.vertex);
        self.version == state.topology.version && self.held.iter().copied().eq(held)
    }

    /// Into how many substeps of its own a substep of `h`, s, is cut because of motion at velocities `v`, m/s.
    ///
    /// A pull that goes through c links per second stretches what moves at v by (v/c)², in shares of the length.
    pub fn cuts_in_motion(&self, h: f64, v: &[DVec3]) -> u32 {
        let n = v.len().max(1) as f64;
        let mean = v.iter().sum::<DVec3>() / n;
        let speed = (v.iter().map(|v| v.distance_squared(mean)).sum::<f64>() / n).sqrt();
        let by_motion = speed * h / (VIOLENT * self.softness.link_length);
        let by_stretch = self.links.stretch / (OVERSTRETCHED + self.softness.by_forces.0);
        by_motion.min(by_stretch).ceil().clamp(1.0, FINEST_IN_MOTION) as u32
    }
}

impl<'a> Order<'a> {
    fn new(topology: &'a Topology, held: &[u32], edges: &[(u32, u32)], around: &Rows) -> Order<'a> {
        let order = packing_order(edges, around);
        let mut place = vec![0u32; order.len()];
        order.iter().zip(0u32..).for_each(|(&i, k)| place[i as usize] = k);
        let held = order.iter().map(|i| held.binary_search(i).is_ok()).collect();
        let rest = order.iter().map(|&i| topology.rest_positions[i as usize]).collect();
        Order { topology, order, place, held, rest }
    }

    fn at(&self, v: u32) -> u32 {
        self.place[v as usize]
    }

    /// The vertices that are held against each collider of a model that has a list.
    fn listed(&self, model: &Model, b: usize) -> Vec<Option<Listed>> {
        let parent = |k: usize| self.topology.parents[self.order[k] as usize];
        let of_collider = |collider: &ColliderModel| match collider.assigned(b) {
            // What has nothing to do with a collider is not brought to it.
            Assigned::All | Assigned::Nothing => None,
            only @ Assigned::Only(_) => Some(Listed::new(self.order.len(), |k| only.contains(parent(k)))),
        };
        model.colliders.iter().map(of_collider).collect()
    }

    /// All springs, in the order of their ends.
    fn links(&self, body: &BodyModel) -> Vec<Link> {
        let topology = self.topology;
        // Edges are sorted, so those of a vertex are together: a search among all of them would take as long as the rest.
        let mut first = vec![0; topology.len() + 1];
        topology.edges.iter().for_each(|e| first[e.i as usize + 1] += 1);
        (0..topology.len()).for_each(|v| first[v + 1] += first[v]);
        let is_border = |s: &Spring| {
            let (i, j) = (s.i.min(s.j) as usize, s.i.max(s.j));
            topology.edges[first[i]..first[i + 1]].iter().any(|e| e.j == j && e.border)
        };
        let link = |s: &Spring| Link {
            i: self.at(s.i),
            j: self.at(s.j),
            rest_length: s.rest_length,
            compliance: 1.0 / s.stiffness,
            range: body.limits.as_ref().map_or((0.0, f64::INFINITY), |l| l.lengths(s)),
            border: is_border(s),
            later: 0.0,
        };
        let ends = |s: &Spring| {
            let (i, j) = (self.at(s.i), self.at(s.j));
            (u64::from(i.min(j)) << 32) | u64::from(i.max(j))
        };
        let mut springs: Vec<(u64, &Spring)> =
            topology.springs.iter().filter(|s| s.stiffness > 0.0).map(|s| (ends(s), s)).collect();
        springs.sort_by_key(|(ends, _)| *ends);
        springs.iter().map(|(_, s)| link(s)).collect()
    }

    /// Tells soft links which inverse masses others act on after them.
    fn correct(&self, links: &mut [Link]) {
        let w = |v: u32| {
            if self.held[v as usize] {
                0.0
            } else {
                1.0 / self.topology.masses[self.order[v as usize] as usize]
            }
        };
        let continued = continued(links, &self.rest);
        for (link, [first, second]) in links.iter_mut().zip(continued) {
            link.later = 0.5 * (f64::from(first) * w(link.i) + f64::from(second) * w(link.j));
        }
    }

    fn patches(&self) -> Vec<Patch> {
        let mut patches: Vec<Patch> = self.topology.patches.clone();
        patches.iter_mut().for_each(|p| p.vertices = p.vertices.map(|v| self.at(v)));
        patches.sort_by_key(|p| p.vertices);
        patches
    }

    /// Triangles that have an area.
    fn triangles(&self) -> Vec<Triangle> {
        let all = self.topology.triangles.iter().zip(&self.topology.rest_areas);
        let mut triangles: Vec<Triangle> = all
            .filter(|(_, area)| **area > 0.0)
            .map(|(t, &rest_area)| Triangle { vertices: t.map(|v| self.at(v)), rest_area })
            .collect();
        triangles.sort_by_key(|t| t.vertices);
        triangles
    }

    /// What levels are made of.
    fn graph(&self, softness: &Softness) -> Graph {
        let topology = self.topology;
        let mut normals = Vec::new();
        vertex_normals(&topology.rest_positions, &topology.triangles, &mut normals);
        if topology.triangles.is_empty() {
            normals.fill(DVec3::ZERO);
        }
        let pair = |i: u32, j: u32| (i.min(j), i.max(j));
        let mut edges: Vec<(u32, u32)> =
            topology.edges.iter().map(|e| pair(self.at(e.i), self.at(e.j))).collect();
        edges.sort_unstable();
        Graph {
            rest: self.rest.clone(),
            normals: self.order.iter().map(|&i| normals[i as usize]).collect(),
            masses: self.order.iter().map(|&i| topology.masses[i as usize]).collect(),
            slack: self.order.iter().map(|&i| softness.strain[i as usize]).collect(),
            held: self.held.clone(),
            edges,
        }
    }

    fn attachments(&self, supports: &NearestSupports, softness: &Softness) -> AttachmentSet {
        let slackened = |s: &Support| Support {
            vertex: self.at(s.vertex),
            distance: s.distance + softness.slack(s.distance),
        };
        let own = |v: usize| if self.held[v] { &[] } else { supports.of(self.order[v]) };
        AttachmentSet::new(self.order.len(), |v| own(v).iter().map(slackened))
    }
}

/// An order of vertices in which neighbours have close numbers: that of the body, or breadth first along its edges
/// (Cuthill and McKee 1969) if that is closer.
fn packing_order(edges: &[(u32, u32)], around: &Rows) -> Vec<u32> {
    let n = around.len();
    let mut seen = vec![false; n];
    let mut order: Vec<u32> = Vec::with_capacity(n);
    for first in 0..n {
        if seen[first] {
            continue;
        }
        seen[first] = true;
        order.push(first as u32);
        let mut next = order.len() - 1;
        while let Some(&v) = order.get(next) {
            next += 1;
            for &w in around.row(v as usize) {
                if !std::mem::replace(&mut seen[w as usize], true) {
                    order.push(w);
                }
            }
        }
    }
    let mut place = vec![0u32; n];
    order.iter().zip(0u32..).for_each(|(&i, k)| place[i as usize] = k);
    let apart = |a: u32, b: u32| u64::from(a.abs_diff(b));
    let own: u64 = edges.iter().map(|&(i, j)| apart(i, j)).sum();
    let breadth_first: u64 = edges.iter().map(|&(i, j)| apart(place[i as usize], place[j as usize])).sum();
    if own <= breadth_first { (0..n as u32).collect() } else { order }
}
