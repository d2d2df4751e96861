//! The real-time solver: extended position-based dynamics with small substeps (Macklin, Müller, Chentanez 2016; Macklin et
//! al. 2019), coarse levels and long-range attachments (SIM-24's tension from the held end to the free end, FAU-16's levels).
//!
//! A frame is cut into substeps. Each predicts where vertices go, lets the coarse levels take up what is stretched over
//! long ways, holds vertices to their supports, visits every patch, triangle and spring once, lets what is inside push, puts
//! vertices out of colliders, and takes velocities from what has moved. One forward visit per substep beats several per longer one; never turn the
//! direction of visits between substeps, which pumps energy into the cloth.
//!
//! Everything inside a frame is in 32 bits, as displacements since the frame began; differences of positions, which the
//! constraints need, are taken in 64 bits once per frame. Forces that are no constraints (weight, air) are taken
//! once per frame, implicitly in the velocity, and are constant during it. Hands are constraints.
//!
//! Promised: any step, stiffness, mass ratio and start is stable; the same bits for any number of threads and for all
//! instruction sets; linear momentum of a free body is kept to rounding. In the limit of small substeps the motion is
//! that of the springs and patches the other solvers use.

mod areas;
mod attachments;
mod bends;
mod lanes;
mod levels;
mod links;
mod softness;
mod strips;
#[cfg(test)]
mod tests;
mod touch;
mod volume;

use glam::{DMat3, DVec3};

use self::areas::{AreaSet, Spread, Triangle};
use self::attachments::AttachmentSet;
use self::bends::BendSet;
use self::lanes::{Instructions, Point};
use self::levels::{Graph, Level};
use self::links::{Limit, Link, LinkSet, Sweep, continued};
use self::softness::Softness;
use self::touch::Obstacle;
use self::volume::Volume;
use super::Problem;
use crate::contact::Contacts;
use crate::control::{Control, PinTarget};
use crate::mesh::geodesic::{Support, nearest_supports};
use crate::mesh::{Patch, Spring, Topology, bounds, neighbours, vertex_normals};
use crate::model::{BodyModel, Model};
use crate::parallel::{BLOCK, Parallel};
use crate::profile::{Profile, Stage};
use crate::scene::Xpbd as Settings;
use crate::state::BodyState;

/// The coarse levels are visited in every so many substeps, the last of a frame among them: more often costs a third more and
/// gains little.
const LEVELS_EVERY: u32 = 2;

/// Visits of the links of a level that has another below it: they are few, so more cost little.
const COARSE_SWEEPS: u32 = 3;

/// Visits of hems of stiff cloth before those of all links: without them single edges of a hem stretch twice as much.
const BORDER_SWEEPS: u32 = 2;

/// What is to be advanced by a frame.
pub(crate) struct FrameTask<'a> {
    pub model: &'a Model,
    pub control: &'a Control,
    pub contacts: &'a mut Contacts,
    pub parallel: &'a Parallel,
    pub profile: &'a mut Profile,
    /// Index of the body.
    pub b: usize,
    pub substeps: u32,
    /// Supported particles of this frame.
    pub pins: &'a [PinTarget],
    pub inverse_masses: &'a [f64],
    pub state: &'a mut BodyState,
}

/// The solver of one body.
#[derive(Debug)]
pub(crate) struct Xpbd {
    settings: Settings,
    instructions: Instructions,
    packed: Option<Packed>,
    /// Displacement since the frame began, m, and inverse mass, in packed order.
    displacements: Vec<Point>,
    /// The same when the substep began.
    before: Vec<Point>,
    /// m/s.
    velocities: Vec<Point>,
    /// Change of velocity per substep by outer forces, m/s.
    kicks: Vec<Point>,
    /// Positions when the frame began, m, in packed order.
    x: Vec<DVec3>,
    /// The same in 32 bits from the middle of the body, m.
    base: Vec<Point>,
    /// Whether there is anything to touch in this frame.
    may_touch: bool,
    /// Which vertices touch something, and how.
    marks: Vec<u8>,
    /// 0 for vertices that contact held in the last substep, 1 for others.
    mobility: Vec<f32>,
    forces: Vec<DVec3>,
    blocks: Vec<DMat3>,
    elements: Vec<f64>,
}

/// Everything that is made once for a topology and a set of supports.
#[derive(Debug)]
struct Packed {
    version: u64,
    held: Vec<u32>,
    /// Number in the body of each packed vertex.
    order: Vec<u32>,
    /// Packed number of each vertex of the body.
    place: Vec<u32>,
    links: LinkSet,
    bends: BendSet,
    areas: AreaSet,
    levels: Vec<Level>,
    attachments: AttachmentSet,
    softness: Softness,
    /// What is inside a closed body.
    volume: Option<Volume>,
}

impl Xpbd {
    pub(crate) fn new(settings: Settings) -> Xpbd {
        Xpbd {
            settings,
            instructions: Instructions::detect(),
            packed: None,
            displacements: Vec::new(),
            before: Vec::new(),
            velocities: Vec::new(),
            kicks: Vec::new(),
            x: Vec::new(),
            base: Vec::new(),
            may_touch: false,
            marks: Vec::new(),
            mobility: Vec::new(),
            forces: Vec::new(),
            blocks: Vec::new(),
            elements: Vec::new(),
        }
    }

    /// Advances a body by one frame.
    pub(crate) fn advance(&mut self, task: FrameTask) {
        let FrameTask {
            model,
            control,
            contacts,
            parallel,
            profile,
            b,
            substeps,
            pins,
            inverse_masses,
            state,
        } = task;
        let body = &model.bodies[b];
        let fits = self.packed.take().filter(|packed| packed.fits(state));
        // What is kept between frames must not depend on whether this one is tried again with smaller steps.
        let usual = model.frame_dt() / f64::from(model.groups[body.group].substeps);
        let pack = || Packed::new(&self.settings, model.gravity, usual, body, state);
        let mut packed = fits.unwrap_or_else(pack);
        let substeps = substeps * packed.softness.cuts(model.frame_dt() / f64::from(substeps));
        let h = (model.frame_dt() / f64::from(substeps)) as f32;
        // Backward Euler for each substep, as `Dissipation` would be.
        let keep = 1.0 / (1.0 + body.dissipation as f32 * h);
        packed.links.set_step(h);
        let help = packed.softness.needs_help(f64::from(h));
        self.outer_forces(
            &packed,
            body,
            state,
            control,
            parallel,
            inverse_masses,
            b,
            model.frame_dt(),
            substeps,
        );
        let origin = self.begin_frame(&mut packed, state, inverse_masses);
        let pins = self.pins_of(&packed, pins);
        let hands = self.hands_of(&packed, b, control);
        let colliders = contacts.pairs.clone();
        self.may_touch = !colliders.is_empty();
        let obstacle = |c: u32, s0: f64, s1: f64| {
            let collider = &model.colliders[c as usize];
            let (start, end) = &control.colliders[c as usize];
            Obstacle {
                shape: &collider.shape,
                pose0: start.lerp(end, s0),
                pose1: start.lerp(end, s1),
                material: &collider.material,
                skin: body.skin,
                rest_speed: 2.0 * model.gravity.length() * f64::from(h),
            }
        };
        for substep in 0..substeps {
            let share = |s: u32| f64::from(s) / f64::from(substeps);
            let (s0, s1) = (share(substep), share(substep + 1));
            self.predict(parallel, h, keep, substep == 0);
            for pin in &pins {
                let d = pin.start.lerp(pin.end, s1).to_array().map(|c| c as f32);
                self.displacements[pin.vertex as usize][..3].copy_from_slice(&d);
            }
            let with_levels = help && (substeps - substep) % LEVELS_EVERY == 1 % LEVELS_EVERY;
            pull(&hands, h, &mut self.displacements);
            self.satisfy(&mut packed, parallel, h, help, with_levels);
            let mut clock = std::time::Instant::now();
            if self.may_touch {
                self.marks.fill(0);
            }
            for &c in &colliders {
                let obstacle = obstacle(c, s0, s1);
                touch::collide(
                    self.instructions,
                    &obstacle,
                    origin,
                    h,
                    &self.base,
                    &mut self.before,
                    &self.velocities,
                    &mut self.displacements,
                    &mut self.marks,
                );
            }
            profile.lap_inside(Stage::FindContacts, &mut clock);
        }
        let (now, before) = (self.displacements.as_flattened(), self.before.as_flattened());
        velocities_from(now, before, self.velocities.as_flattened_mut(), keep / h);
        self.end_frame(&packed, state);
        slow_down(&mut state.v, 0.5 * model.health.max_speed);
        damp(&state.topology, inverse_masses, model.frame_dt(), &state.x, &mut state.v);
        contacts.points.clear();
        for &c in &colliders {
            let obstacle = obstacle(c, 1.0, 1.0);
            touch::report(&obstacle, c, &self.marks, &packed.order, &state.x, &mut contacts.points);
        }
        self.packed = Some(packed);
    }

    /// Kicks per substep from all forces that are no constraints: Δv = (M + dt D)⁻¹ dt f, over the number of substeps.
    fn outer_forces(
        &mut self,
        packed: &Packed,
        body: &BodyModel,
        state: &BodyState,
        control: &Control,
        parallel: &Parallel,
        inverse_masses: &[f64],
        b: usize,
        dt: f64,
        substeps: u32,
    ) {
        let BodyState { x, v, topology, .. } = state;
        let energies = &body.energies[..];
        let problem = Problem { energies, topology, control, parallel, body: b as u32, inverse_masses };
        let q = problem.configuration(x, v, control.t0);
        self.forces.clear();
        self.forces.resize(x.len(), DVec3::ZERO);
        self.blocks.clear();
        for energy in energies.iter().filter(|e| !e.inside_substeps()) {
            energy.add_force(&q, &mut self.forces);
            energy.linearise(&q, 0.0, dt, &mut self.elements);
            if !self.elements.is_empty() {
                self.blocks.resize(x.len(), DMat3::ZERO);
                energy.add_diagonal(&q, &self.elements, &mut self.blocks);
            }
        }
        let share = dt / f64::from(substeps);
        self.kicks.clear();
        self.kicks.extend(packed.order.iter().map(|&i| {
            let i = i as usize;
            if inverse_masses[i] == 0.0 {
                return [0.0; 4];
            }
            let change = match self.blocks.get(i) {
                Some(d) if *d != DMat3::ZERO => {
                    (DMat3::IDENTITY + *d * inverse_masses[i]).inverse()
                        * (self.forces[i] * inverse_masses[i])
                }
                _ => self.forces[i] * inverse_masses[i],
            };
            point(change * share, 0.0)
        }));
    }

    /// Everything that is taken in 64 bits once per frame. Returns the middle of the body.
    fn begin_frame(&mut self, packed: &mut Packed, state: &BodyState, inverse_masses: &[f64]) -> DVec3 {
        let order = &packed.order;
        self.x.clear();
        self.x.extend(order.iter().map(|&i| state.x[i as usize]));
        let x = &self.x;
        self.mobility.clear();
        self.mobility.resize(x.len(), 1.0);
        self.marks.clear();
        self.marks.resize(x.len(), 0);
        packed.links.begin_frame(x);
        packed.bends.begin_frame(x);
        packed.areas.begin_frame(x);
        packed.attachments.begin_frame(x);
        for l in 0..packed.levels.len() {
            let (below, level) = packed.levels.split_at_mut(l);
            level[0].begin_frame(below.last().map_or(x, |below| below.places()));
        }
        self.displacements.clear();
        self.displacements.extend(order.iter().map(|&i| [0.0, 0.0, 0.0, inverse_masses[i as usize] as f32]));
        self.before.clone_from(&self.displacements);
        self.velocities.clear();
        // A support has the velocity of its way, not that of a force: it is put where it belongs in each substep.
        let free = |i: usize| inverse_masses[i] > 0.0;
        let velocity = |i: usize| if free(i) { point(state.v[i], 0.0) } else { [0.0; 4] };
        self.velocities.extend(order.iter().map(|&i| velocity(i as usize)));
        let (low, high) = bounds(x);
        let origin = 0.5 * (low + high);
        self.base.clear();
        self.base.extend(x.iter().map(|x| point(*x - origin, 0.0)));
        origin
    }

    /// Where supports go during the frame, as displacements.
    fn pins_of(&self, packed: &Packed, pins: &[PinTarget]) -> Vec<PinTarget> {
        let displacement = |pin: &PinTarget| {
            let vertex = packed.place[pin.vertex as usize];
            let x = self.x[vertex as usize];
            PinTarget { vertex, start: pin.start - x, end: pin.end - x }
        };
        pins.iter().filter(|p| packed.held.binary_search(&p.vertex).is_ok()).map(displacement).collect()
    }

    /// Where hands pull vertices of the body to, as displacements.
    fn hands_of(&self, packed: &Packed, b: usize, control: &Control) -> Vec<Hand> {
        let own = control.grabs.iter().filter(|g| g.body as usize == b && g.stiffness > 0.0);
        own.filter_map(|grab| {
            let vertex = *packed.place.get(grab.vertex as usize)? as usize;
            let target = point(grab.target - self.x[vertex], 0.0);
            Some(Hand { vertex, target, compliance: (1.0 / grab.stiffness) as f32 })
        })
        .collect()
    }

    /// Velocities from what the last substep moved, unless this is the `first`; then they feel the outer forces and
    /// dissipation, and positions follow them.
    fn predict(&mut self, parallel: &Parallel, h: f32, keep: f32, first: bool) {
        let kicks = &self.kicks;
        let Xpbd { displacements, before, velocities, .. } = self;
        parallel.blocks_of_three(displacements, before, velocities, |start, now, before, velocities| {
            let kicks = kicks[start..start + now.len()].as_flattened();
            let (now, before) = (now.as_flattened_mut(), before.as_flattened_mut());
            let velocities = velocities.as_flattened_mut();
            if !first {
                velocities_from(now, before, velocities, keep / h);
            }
            // All four numbers of a vertex alike, for whole registers: the fourth of a kick and of a velocity is 0.
            for (((now, before), v), kick) in now.iter_mut().zip(before).zip(velocities).zip(kicks) {
                *v += *kick;
                *before = *now;
                *now += *v * h;
            }
        });
    }

    /// One round over all constraints.
    fn satisfy(&mut self, packed: &mut Packed, parallel: &Parallel, h: f32, help: bool, with_levels: bool) {
        let inverse_h2 = 1.0 / (h * h);
        let instructions = self.instructions;
        let Packed { links, bends, areas, levels, attachments, volume, .. } = packed;
        if with_levels && !levels.is_empty() {
            self.hold_levels(levels);
            levels[0].restrict(parallel, &self.displacements);
            for l in 1..levels.len() {
                let (below, level) = levels.split_at_mut(l);
                level[0].restrict(parallel, &below[l - 1].displacements);
            }
            for l in (0..levels.len()).rev() {
                let Level { links, displacements, .. } = &mut levels[l];
                for _ in 0..if l == 0 { 1 } else { COARSE_SWEEPS } {
                    links.links.visit(parallel, displacements, |links, displacements| {
                        let sweep = Sweep { links, displacements, one_sided: true };
                        instructions.run(sweep);
                    });
                }
                let (below, level) = levels.split_at_mut(l);
                match below.last_mut() {
                    None => level[0].prolong(parallel, &mut self.displacements, &self.mobility),
                    Some(Level { displacements, mobility, .. }) => {
                        level[0].prolong(parallel, displacements, mobility);
                    }
                }
            }
        }
        if help && !attachments.is_empty() {
            attachments.move_supports(&self.displacements);
            let attachments = &*attachments;
            parallel.blocks(&mut self.displacements, |start, block| {
                instructions.run(attachments.visit(start / BLOCK, block));
            });
        }
        if !bends.is_empty() {
            bends.visit(parallel, instructions, &mut self.displacements, inverse_h2);
        }
        if !areas.is_empty() {
            let softness = areas.compliance * inverse_h2;
            areas.areas.visit(parallel, &mut self.displacements, |areas, displacements| {
                instructions.run(Spread { areas, displacements, softness });
            });
        }
        // Only where compliance is nothing: a second visit of a soft link would count its force twice.
        for _ in 0..if help && self.settings.levels { BORDER_SWEEPS } else { 0 } {
            links.borders.visit(parallel, &mut self.displacements, |links, displacements| {
                instructions.run(Sweep { links, displacements, one_sided: false });
            });
        }
        links.links.visit(parallel, &mut self.displacements, |links, displacements| {
            instructions.run(Sweep { links, displacements, one_sided: false });
        });
        links.limits.visit(parallel, &mut self.displacements, |links, displacements| {
            instructions.run(Limit { links, displacements });
        });
        if let Some(volume) = volume {
            volume.visit(parallel, h, &self.base, &mut self.displacements);
        }
    }

    /// Tells the levels which vertices friction held in the last substep: they must not be moved against it.
    fn hold_levels(&mut self, levels: &mut [Level]) {
        if !self.may_touch || self.marks.iter().all(|m| *m == 0) {
            return;
        }
        for (mobility, mark) in self.mobility.iter_mut().zip(&self.marks) {
            *mobility = if mark & touch::STICKS == 0 { 1.0 } else { 0.0 };
        }
        levels[0].hold(&self.mobility);
        for l in 1..levels.len() {
            let (below, level) = levels.split_at_mut(l);
            level[0].hold(&below[l - 1].mobility);
        }
    }

    /// Back to 64 bits.
    fn end_frame(&self, packed: &Packed, state: &mut BodyState) {
        for (k, &i) in packed.order.iter().enumerate() {
            let single = |p: &Point| DVec3::new(p[0].into(), p[1].into(), p[2].into());
            state.x[i as usize] = self.x[k] + single(&self.displacements[k]);
            state.v[i as usize] = single(&self.velocities[k]);
        }
    }
}

/// A hand that pulls a vertex.
struct Hand {
    vertex: usize,
    /// Displacement that it pulls to, m.
    target: Point,
    /// m/N.
    compliance: f32,
}

/// Hands are springs of rest length 0, as constraints: stiff ones would throw a light vertex about as forces.
fn pull(hands: &[Hand], h: f32, displacements: &mut [Point]) {
    for hand in hands {
        let p = &mut displacements[hand.vertex];
        let share = p[3] / (p[3] + hand.compliance / (h * h));
        for c in 0..3 {
            p[c] += (hand.target[c] - p[c]) * share;
        }
    }
}

/// Velocities from what a substep moved.
fn velocities_from(now: &[f32], before: &[f32], velocities: &mut [f32], inverse_h: f32) {
    for ((now, before), v) in now.iter().zip(before).zip(velocities) {
        *v = (*now - *before) * inverse_h;
    }
}

/// Takes away what no cloth can survive: constraints that are far from satisfied are satisfied at any speed.
fn slow_down(v: &mut [DVec3], most: f64) {
    for v in v.iter_mut().filter(|v| v.length_squared() > most * most) {
        *v = v.clamp_length_max(most);
    }
}

/// Damping along springs over a frame: backward Euler for each, one after the other.
fn damp(topology: &Topology, inverse_masses: &[f64], dt: f64, x: &[DVec3], v: &mut [DVec3]) {
    for s in topology.springs.iter().filter(|s| s.damping > 0.0) {
        let (i, j) = (s.i as usize, s.j as usize);
        let (wi, wj) = (inverse_masses[i], inverse_masses[j]);
        let Some(u) = (x[j] - x[i]).try_normalize() else { continue };
        let impulse = (v[j] - v[i]).dot(u) * s.damping * dt / (1.0 + s.damping * dt * (wi + wj));
        v[i] += u * (impulse * wi);
        v[j] -= u * (impulse * wj);
    }
}

/// A vector in 32 bits, and a fourth number.
fn point(v: DVec3, w: f32) -> Point {
    [v.x as f32, v.y as f32, v.z as f32, w]
}

impl Packed {
    /// Whether it was made for what a body is now: it may have torn, and its supports may have changed.
    fn fits(&self, state: &BodyState) -> bool {
        let held = state.pinned.iter().map(|p| p.vertex);
        self.version == state.topology.version && self.held.iter().copied().eq(held)
    }

    fn new(settings: &Settings, gravity: DVec3, h: f64, body: &BodyModel, state: &BodyState) -> Packed {
        let topology = &*state.topology;
        let order = packing_order(topology);
        let mut place = vec![0u32; order.len()];
        order.iter().zip(0u32..).for_each(|(&i, k)| place[i as usize] = k);
        let at = |v: u32| place[v as usize];
        let count = order.len();
        let held: Vec<u32> = state.pinned.iter().map(|p| p.vertex).collect();
        let is_held: Vec<bool> = order.iter().map(|i| held.binary_search(i).is_ok()).collect();

        let link = |s: &Spring| {
            let edge = topology.edges.binary_search_by_key(&(s.i.min(s.j), s.i.max(s.j)), |e| (e.i, e.j));
            Link {
                i: at(s.i),
                j: at(s.j),
                rest_length: s.rest_length,
                compliance: 1.0 / s.stiffness,
                range: body.limits.as_ref().map_or((0.0, f64::INFINITY), |l| l.lengths(s)),
                border: edge.is_ok_and(|e| topology.edges[e].border),
                later: 0.0,
            }
        };
        let ends = |s: &Spring| {
            let (i, j) = (at(s.i), at(s.j));
            (u64::from(i.min(j)) << 32) | u64::from(i.max(j))
        };
        let mut springs: Vec<(u64, &Spring)> =
            topology.springs.iter().filter(|s| s.stiffness > 0.0).map(|s| (ends(s), s)).collect();
        springs.sort_by_key(|(ends, _)| *ends);
        let mut links: Vec<Link> = springs.iter().map(|(_, s)| link(s)).collect();
        let mut patches: Vec<Patch> = topology.patches.clone();
        patches.iter_mut().for_each(|p| p.vertices = p.vertices.map(at));
        patches.sort_by_key(|p| p.vertices);

        let triangles = topology.triangles.iter().zip(&topology.rest_areas).filter(|(_, area)| **area > 0.0);
        let mut triangles: Vec<Triangle> =
            triangles.map(|(t, &rest_area)| Triangle { vertices: t.map(at), rest_area }).collect();
        triangles.sort_by_key(|t| t.vertices);

        let supports = nearest_supports(topology, &held, attachments::MOST);
        let inside = body.inside.filter(|_| topology.closed);
        let softness = Softness::new(topology, gravity, h, &supports, inside.as_ref());
        let rest: Vec<DVec3> = order.iter().map(|&i| topology.rest_positions[i as usize]).collect();
        // Stiff links have no compliance to speak of.
        if !softness.needs_help(h) {
            let w = |v: u32| {
                if is_held[v as usize] { 0.0 } else { 1.0 / topology.masses[order[v as usize] as usize] }
            };
            let continued = continued(&links, &rest);
            for (link, [first, second]) in links.iter_mut().zip(continued) {
                link.later = 0.5 * (f64::from(first) * w(link.i) + f64::from(second) * w(link.j));
            }
        }
        let levels = if settings.levels {
            let mut normals = Vec::new();
            vertex_normals(&topology.rest_positions, &topology.triangles, &mut normals);
            if topology.triangles.is_empty() {
                normals.fill(DVec3::ZERO);
            }
            let mut edges: Vec<(u32, u32)> =
                topology.edges.iter().map(|e| (at(e.i).min(at(e.j)), at(e.i).max(at(e.j)))).collect();
            edges.sort_unstable();
            levels::build(&Graph {
                rest,
                normals: order.iter().map(|&i| normals[i as usize]).collect(),
                masses: order.iter().map(|&i| topology.masses[i as usize]).collect(),
                slack: order.iter().map(|&i| softness.strain[i as usize]).collect(),
                held: is_held.clone(),
                edges,
            })
        } else {
            Vec::new()
        };
        let attachments = if settings.attachments {
            let slackened = |s: &Support| Support {
                vertex: at(s.vertex),
                distance: s.distance + softness.slack(s.distance),
            };
            let own = |v: usize| if is_held[v] { &[] } else { supports.of(order[v]) };
            AttachmentSet::new(count, |v| own(v).iter().map(slackened))
        } else {
            AttachmentSet::default()
        };
        Packed {
            version: topology.version,
            held,
            links: LinkSet::new(count, &links),
            bends: BendSet::new(count, patches),
            areas: AreaSet::new(count, &triangles, body.area_stiffness),
            levels,
            attachments,
            softness,
            volume: inside.map(|law| Volume::new(law, topology, &place)),
            order,
            place,
        }
    }
}

/// An order of vertices in which neighbours have close numbers: that of the body, or breadth first along its edges
/// (Cuthill and McKee 1969) if that is closer.
fn packing_order(topology: &Topology) -> Vec<u32> {
    let n = topology.len();
    let pairs: Vec<(u32, u32)> = topology.edges.iter().map(|e| (e.i, e.j)).collect();
    let around = neighbours(n, &pairs);
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
    let own: u64 = pairs.iter().map(|&(i, j)| apart(i, j)).sum();
    let breadth_first: u64 = pairs.iter().map(|&(i, j)| apart(place[i as usize], place[j as usize])).sum();
    if own <= breadth_first { (0..n as u32).collect() } else { order }
}
