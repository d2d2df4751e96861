//! The real-time solver: extended position-based dynamics with small substeps (Macklin, Müller, Chentanez 2016; Macklin et
//! al. 2019), coarse levels and long-range attachments (SIM-24's tension from the held end to the free end, FAU-16's levels).
//!
//! A frame is cut into substeps. Each predicts where vertices go, lets the coarse levels take up what is stretched over
//! long ways, holds vertices to their supports, visits every patch, triangle and spring once, lets what is inside push, puts
//! vertices out of colliders, and takes velocities from what has moved. One forward visit per substep beats several per longer one; never turn the
//! direction of visits between substeps, which pumps energy into the cloth.
//!
//! In violent motion substeps are finer, and at the end of a frame links that are still too long are shortened.
//!
//! Everything inside a frame is in 32 bits, as displacements since the frame began; differences of positions, which the
//! constraints need, are taken in 64 bits once per frame. Forces that are no constraints (weight, air) are taken
//! once per frame, implicitly in the velocity, and are constant during it. Hands are constraints.
//!
//! Promised: any step, stiffness, mass ratio and start is stable; the same bits for any number of threads and for all
//! instruction sets; linear momentum of a free body is kept to rounding. In the limit of small substeps the motion is
//! that of the springs and patches the other solvers use.

mod anchors;
mod areas;
mod attachments;
mod bends;
mod levels;
mod links;
mod packed;
mod softness;
mod strips;
#[cfg(test)]
mod tests;
mod touch;
mod volume;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use glam::{DMat3, DVec3};

use self::anchors::{Anchors, Tight};
use self::areas::Spread;
use self::levels::Level;
use self::links::{Limit, Mend, Sweep};
use self::packed::Packed;
use self::touch::{Clearances, Obstacle};
use super::Problem;
use crate::contact::ContactPoint;
use crate::control::{Control, PinTarget};
use crate::lanes::{Instructions, Kernel, Lanes, Point};
use crate::mesh::{Topology, bounds};
use crate::model::Model;
use crate::parallel::{BLOCK, Parallel};
use crate::scene::{ContactMode, Xpbd as Settings};
use crate::skin::Keeps;
use crate::state::BodyState;

/// The coarse levels are visited in every so many substeps, the last of a frame among them: more often costs a third more and
/// gains little.
const LEVELS_EVERY: u32 = 2;

/// Visits of the links of a level that has another below it: they are few, so more cost little.
const COARSE_SWEEPS: u32 = 3;

/// Visits of hems of stiff cloth before those of all links: without them single edges of a hem stretch twice as much.
const BORDER_SWEEPS: u32 = 2;

/// Links of stiff cloth that are longer than at rest by more than this share of their length, beyond what forces do, are
/// shortened at the end of a frame.
const LONGEST: f64 = 0.03;

/// Rounds over all links that this may take, and in violent motion.
const MENDS: u32 = 4;
const MENDS_IN_MOTION: u32 = 30;

/// A support that contact made wait catches up at this speed, m/s: at once it would tear at the cloth.
pub(crate) const CATCH_UP: f64 = 0.5;

/// A body and the frame it is to be advanced by.
#[derive(Clone, Copy)]
pub(crate) struct FrameTask<'a> {
    pub model: &'a Model,
    pub control: &'a Control,
    pub parallel: &'a Parallel,
    /// Index of the body.
    pub b: usize,
    pub inverse_masses: &'a [f64],
}

/// How a frame is cut, and what it has to do with: made when it begins.
#[derive(Debug, Default)]
struct Cut {
    substeps: u32,
    /// Length of a substep, s.
    h: f32,
    /// Share of the velocity that a substep keeps.
    keep: f32,
    /// Whether stiffness needs the help of levels and attachments.
    help: bool,
    /// How much finer than usual substeps are because of violent motion.
    finer: u32,
    /// Where supports go, as displacements.
    pins: Vec<PinTarget>,
    hands: Vec<Hand>,
    colliders: Vec<u32>,
    /// Where 32-bit places are counted from, m.
    origin: DVec3,
    /// How far a support that contact made wait goes in a substep beyond what it is led, m; endless if none waits.
    catch_up: f64,
}

/// The solver of one body.
#[derive(Debug)]
pub(crate) struct Xpbd {
    settings: Settings,
    instructions: Instructions,
    packed: Option<Packed>,
    cut: Cut,
    anchors: Anchors,
    /// Where the skin has packed vertices of a layer at the end of the frame, m; no numbers for those that do not follow it.
    ridden: Vec<DVec3>,
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
    /// Normals of colliders where they do.
    normals: Vec<[f32; 3]>,
    clearances: Clearances,
    /// 0 for vertices that contact held in the last substep, 1 for others.
    mobility: Vec<f32>,
    forces: Vec<DVec3>,
    blocks: Vec<DMat3>,
    elements: Vec<f64>,
    /// What particles of a layer keep of their velocities in a frame, and those, m/s.
    keeps: Keeps,
    slowed: Vec<DVec3>,
}

impl Xpbd {
    pub(crate) fn new(settings: Settings) -> Xpbd {
        Xpbd {
            settings,
            instructions: Instructions::detect(),
            packed: None,
            cut: Cut::default(),
            anchors: Anchors::default(),
            ridden: Vec::new(),
            displacements: Vec::new(),
            before: Vec::new(),
            velocities: Vec::new(),
            kicks: Vec::new(),
            x: Vec::new(),
            base: Vec::new(),
            may_touch: false,
            marks: Vec::new(),
            normals: Vec::new(),
            clearances: Clearances::default(),
            mobility: Vec::new(),
            forces: Vec::new(),
            blocks: Vec::new(),
            elements: Vec::new(),
            keeps: Keeps::default(),
            slowed: Vec::new(),
        }
    }

    /// Takes over a body as a frame begins that is usually cut into `substeps`; returns into how many it wants it cut.
    pub(crate) fn prepare(&mut self, task: &FrameTask, substeps: u32, state: &BodyState) -> u32 {
        let FrameTask { model, parallel, b, inverse_masses, .. } = *task;
        let body = &model.bodies[b];
        let fits = self.packed.take().filter(|packed| packed.fits(state));
        // What is kept between frames must not depend on whether this one is tried again with smaller steps.
        let usual = model.frame_dt() / f64::from(model.groups[body.group].substeps);
        if fits.is_none() {
            self.anchors = Anchors::default();
        }
        let pack = || Packed::new(&self.settings, parallel, model, b, usual, state);
        let mut packed = fits.unwrap_or_else(pack);
        let substeps = substeps * packed.softness.cuts(model.frame_dt() / f64::from(substeps));
        let h = model.frame_dt() / f64::from(substeps);
        // Coarse levels and attachments know lengths at rest only; what is held to a skin everywhere needs none of them.
        let follows = body.layer.as_ref().filter(|layer| !layer.anchors.is_empty());
        self.cut.help = packed.softness.needs_help(h) && follows.is_none();
        self.ridden.clear();
        if let Some(layer) = follows {
            let rides = &task.control.rides[b];
            self.ridden
                .extend(packed.order.iter().map(|&i| rides.end(layer, i as usize).unwrap_or(DVec3::NAN)));
        }
        self.begin_frame(&mut packed, parallel, state, inverse_masses);
        if let Some(layer) = &body.layer {
            self.keeps.fit(layer, model.frame_dt());
            self.slowed.clone_from(&state.v);
            let rides = &task.control.rides[b];
            self.keeps.slow(rides, task.control, inverse_masses, &mut self.slowed);
            for (v, &i) in self.velocities.iter_mut().zip(&packed.order) {
                if inverse_masses[i as usize] > 0.0 {
                    *v = point(self.slowed[i as usize], 0.0);
                }
            }
        }
        self.cut.finer = if self.cut.help { packed.cuts_in_motion(h, &state.v) } else { 1 };
        self.packed = Some(packed);
        substeps * self.cut.finer
    }

    /// Begins a frame of a body that is [prepared](Xpbd::prepare). Places are counted from `origin` where more than differences
    /// is needed; without it from the middle of the body.
    pub(crate) fn begin(
        &mut self,
        task: &FrameTask,
        substeps: u32,
        pins: &[PinTarget],
        colliders: &[u32],
        origin: Option<DVec3>,
        state: &BodyState,
    ) {
        let FrameTask { model, control, b, .. } = *task;
        let body = &model.bodies[b];
        let Some(mut packed) = self.packed.take() else { return };
        let h = (model.frame_dt() / f64::from(substeps)) as f32;
        packed.links.set_step(h);
        self.outer_forces(&packed, task, state, substeps);
        if let Some(layer) = &body.layer {
            let rides = &control.rides[b];
            self.anchors.begin(layer, rides, &packed.place, &self.x, &self.displacements, h);
        }
        self.may_touch = !colliders.is_empty();
        let n = packed.order.len();
        self.mobility.clear();
        self.mobility.resize(n, 1.0);
        self.marks.clear();
        self.marks.resize(n, 0);
        self.normals.resize(n, [0.0; 3]);
        let waits = model.groups[body.group].contact_mode == ContactMode::Safe;
        let needs_places = self.may_touch || packed.volume.is_some() || origin.is_some();
        self.cut = Cut {
            substeps,
            h,
            // Backward Euler for each substep, as `Dissipation` would be.
            keep: 1.0 / (1.0 + body.dissipation as f32 * h),
            pins: self.pins_of(&packed, pins),
            hands: self.hands_of(&packed, b, control),
            colliders: colliders.to_vec(),
            catch_up: if waits { CATCH_UP * f64::from(h) } else { f64::INFINITY },
            origin: if needs_places { self.begin_contact(&packed, origin, colliders) } else { DVec3::ZERO },
            ..self.cut
        };
        self.packed = Some(packed);
    }

    /// The next substep but for contact.
    pub(crate) fn substep(&mut self, parallel: &Parallel, substep: u32) {
        let Some(mut packed) = self.packed.take() else { return };
        let Cut { substeps, h, keep, help, .. } = self.cut;
        let s1 = f64::from(substep + 1) / f64::from(substeps);
        // Hands come before anchors; without any, vertices are held as soon as they have moved.
        let holds_at_once = self.cut.hands.is_empty();
        self.predict(parallel, h, keep, substep == 0, holds_at_once.then_some(s1 as f32));
        for pin in &self.cut.pins {
            let target = pin.start.lerp(pin.end, s1);
            let p = &mut self.displacements[pin.vertex as usize];
            let d = if self.cut.catch_up.is_finite() {
                let most = self.cut.catch_up + 2.0 * pin.start.distance(pin.end) / f64::from(substeps);
                let now = DVec3::new(p[0].into(), p[1].into(), p[2].into());
                now + (target - now).clamp_length_max(most)
            } else {
                target
            };
            p[..3].copy_from_slice(&d.to_array().map(|c| c as f32));
        }
        let with_levels = help && (substeps - substep) % LEVELS_EVERY == 1 % LEVELS_EVERY;
        pull(&self.cut.hands, h, &mut self.displacements);
        if let Some(tight) = self.anchors.tight(0, s1 as f32).filter(|_| !holds_at_once) {
            tight.hold(self.displacements.as_flattened_mut());
        }
        self.anchors.hold_loose(s1 as f32, &mut self.displacements);
        self.satisfy(&mut packed, parallel, h, help, with_levels);
        self.packed = Some(packed);
    }

    /// Lets colliders act on what moved between two shares of the frame.
    pub(crate) fn collide(&mut self, task: &FrameTask, shares: (f64, f64), first: bool) {
        if self.cut.colliders.is_empty() {
            return;
        }
        if first {
            self.marks.fill(0);
        }
        let Xpbd { instructions, packed, cut, base, before, velocities, displacements, clearances, .. } =
            self;
        let Some(packed) = packed else { return };
        let (marks, normals) = (&mut self.marks, &mut self.normals);
        clearances.vertices_moved(*instructions, before, displacements);
        for (k, &c) in cut.colliders.iter().enumerate() {
            let Some(obstacle) = obstacle(task, packed, c, shares, cut.h) else { continue };
            touch::collide(
                *instructions,
                (k, &obstacle),
                cut.origin,
                cut.h,
                clearances,
                base,
                before,
                velocities,
                displacements,
                marks,
                normals,
            );
        }
    }

    /// Takes velocities from the last substep, then shortens what is still too long; tells whether there was any, so that
    /// contact has to be looked at once more.
    pub(crate) fn settle(&mut self, task: &FrameTask) -> bool {
        let FrameTask { model, parallel, b, .. } = *task;
        let Some(packed) = self.packed.take() else { return false };
        let Cut { keep, h, help, finer, .. } = self.cut;
        let (now, before) = (self.displacements.as_flattened(), self.before.as_flattened());
        velocities_from(now, before, self.velocities.as_flattened_mut(), keep / h);
        // A link that a tear will judge is left as it is, and so is a volume.
        let mends = help && model.bodies[b].tear.is_none() && packed.volume.is_none();
        self.before.clone_from(&self.displacements);
        let rounds = if finer > 1 { MENDS_IN_MOTION } else { MENDS };
        let mended = mends && self.mend(&packed, parallel, rounds);
        self.packed = Some(packed);
        mended
    }

    /// Ends the frame: the body is where it was led to.
    pub(crate) fn finish(&mut self, task: &FrameTask, state: &mut BodyState, points: &mut Vec<ContactPoint>) {
        let FrameTask { model, parallel, inverse_masses, .. } = *task;
        let Some(packed) = self.packed.take() else { return };
        self.end_frame(&packed, parallel, 0.5 * model.health.max_speed, state);
        if packed.damped {
            damp(&state.topology, inverse_masses, model.frame_dt(), &state.x, &mut state.v);
        }
        points.clear();
        for &c in &self.cut.colliders {
            let Some(obstacle) = obstacle(task, &packed, c, (1.0, 1.0), self.cut.h) else { continue };
            touch::report(&obstacle, c, &self.marks, &packed.order, &state.x, points);
        }
        self.packed = Some(packed);
    }

    /// Tells a surface where vertices are, and where they were unless it `knows_before`.
    pub(crate) fn show(&self, knows_before: bool, before: &mut [Point], now: &mut [Point]) {
        let add = |base: &Point, d: &Point| [base[0] + d[0], base[1] + d[1], base[2] + d[2], d[3]];
        if !knows_before {
            for ((to, base), d) in before.iter_mut().zip(&self.base).zip(&self.before) {
                *to = add(base, d);
            }
        }
        for ((to, base), d) in now.iter_mut().zip(&self.base).zip(&self.displacements) {
            *to = add(base, d);
        }
    }

    /// Tells which vertices lie on colliders, by their normals.
    pub(crate) fn tell_holds(&self, holds: &mut [[f32; 3]]) {
        for ((hold, normal), mark) in holds.iter_mut().zip(&self.normals).zip(&self.marks) {
            if *mark != 0 {
                *hold = *normal;
            }
        }
    }

    /// Takes what contact of surfaces adds to places, and what of it is not to become speed.
    pub(crate) fn take_pushes(&mut self, pushes: &[Point], shifts: &[Point]) {
        for (d, push) in self.displacements.iter_mut().zip(pushes) {
            (0..3).for_each(|k| d[k] += push[k]);
        }
        let lies = self.normals.iter().zip(&self.marks);
        for ((b, shift), (normal, mark)) in self.before.iter_mut().zip(shifts).zip(lies) {
            let [x, y, z] = *normal;
            let into = (shift[0] * x + shift[1] * y + shift[2] * z).min(0.0);
            // A collider puts back at once what is pushed into it: that must not become speed, either.
            let into = if *mark != 0 { into } else { 0.0 };
            (0..3).for_each(|k| b[k] += shift[k] - into * normal[k]);
        }
    }

    /// Takes the places of vertices that were held back.
    pub(crate) fn take_held_back(&mut self, held: &[u32], places: &[Point]) {
        let all = self.displacements.iter_mut().zip(&self.base).zip(held.iter().zip(places));
        for ((d, base), (_, place)) in all.filter(|(_, (held, _))| **held > 0) {
            (0..3).for_each(|k| d[k] = place[k] - base[k]);
        }
    }

    /// Packed number of each vertex of the body; empty before the first frame.
    pub(crate) fn places(&self) -> &[u32] {
        self.packed.as_ref().map_or(&[], |packed| &packed.place)
    }

    /// Kicks per substep from all forces that are no constraints: Δv = (M + dt D)⁻¹ dt f, over the number of substeps.
    fn outer_forces(&mut self, packed: &Packed, task: &FrameTask, state: &BodyState, substeps: u32) {
        let FrameTask { model, control, parallel, b, inverse_masses } = *task;
        let dt = model.frame_dt();
        let BodyState { x, v, topology, .. } = state;
        let energies = &model.bodies[b].energies[..];
        let body = b as u32;
        let problem = Problem {
            energies,
            system: &[],
            topology,
            plastic: &[],
            control,
            parallel,
            body,
            inverse_masses,
            layer: None,
            contacts: None,
            again: None,
        };
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
        let Xpbd { kicks, forces, blocks, .. } = self;
        let kick = |i: usize| {
            if inverse_masses[i] == 0.0 {
                return [0.0; 4];
            }
            let change = match blocks.get(i) {
                Some(d) if *d != DMat3::ZERO => {
                    (DMat3::IDENTITY + *d * inverse_masses[i]).inverse() * (forces[i] * inverse_masses[i])
                }
                _ => forces[i] * inverse_masses[i],
            };
            point(change * share, 0.0)
        };
        kicks.resize(packed.order.len(), [0.0; 4]);
        parallel.blocks(kicks, |start, block| {
            block.iter_mut().zip(&packed.order[start..]).for_each(|(k, &i)| *k = kick(i as usize));
        });
    }

    /// Everything that is taken in 64 bits once per frame.
    fn begin_frame(
        &mut self,
        packed: &mut Packed,
        parallel: &Parallel,
        state: &BodyState,
        inverse_masses: &[f64],
    ) {
        let (order, n) = (&packed.order[..], packed.order.len());
        self.x.resize(n, DVec3::ZERO);
        parallel.blocks(&mut self.x, |start, block| {
            block.iter_mut().zip(&order[start..]).for_each(|(x, &i)| *x = state.x[i as usize]);
        });
        for points in [&mut self.displacements, &mut self.before, &mut self.velocities] {
            points.resize(n, [0.0; 4]);
        }
        let Xpbd { x, displacements, before, velocities, instructions, ridden, .. } = self;
        parallel.blocks_of_three(displacements, before, velocities, |start, now, before, velocities| {
            for (((now, before), v), &i) in now.iter_mut().zip(before).zip(velocities).zip(&order[start..]) {
                let w = inverse_masses[i as usize] as f32;
                *now = [0.0, 0.0, 0.0, w];
                *before = *now;
                // A support has the velocity of its way, not that of a force: it is put where it belongs in each substep.
                *v = if w > 0.0 { point(state.v[i as usize], 0.0) } else { [0.0; 4] };
            }
        });
        packed.links.begin_frame(parallel, *instructions, x, ridden);
        packed.bends.begin_frame(parallel, x);
        packed.areas.begin_frame(x);
        packed.attachments.begin_frame(parallel, x);
        for l in 0..packed.levels.len() {
            let (below, level) = packed.levels.split_at_mut(l);
            level[0].begin_frame(parallel, below.last().map_or(x, |below| below.places()));
        }
    }

    /// Places in 32 bits from the origin, which is returned, for what needs more than differences.
    fn begin_contact(&mut self, packed: &Packed, origin: Option<DVec3>, colliders: &[u32]) -> DVec3 {
        let (low, high) = bounds(&self.x);
        let origin = origin.unwrap_or(0.5 * (low + high));
        self.base.clear();
        self.base.extend(self.x.iter().map(|x| point(*x - origin, 0.0)));
        let lists = colliders.iter().map(|&c| packed.listed(c));
        self.clearances.begin_frame(self.x.len(), (high - low).length(), lists);
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
    /// dissipation, and positions follow them. Anchors without a slack hold them to where they are at a share of the frame, if one is given.
    fn predict(&mut self, parallel: &Parallel, h: f32, keep: f32, first: bool, held_at: Option<f32>) {
        let (kicks, anchors, instructions) = (&self.kicks, &self.anchors, self.instructions);
        let Xpbd { displacements, before, velocities, .. } = self;
        parallel.blocks_of_three(displacements, before, velocities, |start, now, before, velocities| {
            instructions.run(Predict {
                kicks: kicks[start..start + now.len()].as_flattened(),
                now: now.as_flattened_mut(),
                before: before.as_flattened_mut(),
                velocities: velocities.as_flattened_mut(),
                h,
                rate: (!first).then_some(keep / h),
                tight: held_at.and_then(|share| anchors.tight(start, share)),
            });
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
                        instructions.run_pairs(sweep);
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
                instructions.run_pairs(Sweep { links, displacements, one_sided: false });
            });
        }
        links.links.visit(parallel, &mut self.displacements, |links, displacements| {
            instructions.run_pairs(Sweep { links, displacements, one_sided: false });
        });
        links.limits.visit(parallel, &mut self.displacements, |links, displacements| {
            instructions.run(Limit { links, displacements });
        });
        if let Some(volume) = volume {
            volume.visit(parallel, h, &self.base, &mut self.displacements);
        }
    }

    /// Shortens what is still too long at the end of a frame; tells whether there was any. It moves places, not velocities: it
    /// takes back what the visits of this frame were too few for, which is no motion.
    fn mend(&mut self, packed: &Packed, parallel: &Parallel, rounds: u32) -> bool {
        let instructions = self.instructions;
        let most = LONGEST + packed.softness.by_forces.1;
        if packed.links.stretch > most {
            // Supports hold all of it longer than that.
            return false;
        }
        let longest = (1.0 + most) as f32;
        // A link that is pulled to the limit is let a little out again by those visited after it.
        let beyond = (1.0 + most + 0.2 * LONGEST) as f32;
        let links = &packed.links.links;
        let moved = AtomicBool::new(false);
        for _ in 0..rounds {
            let again = AtomicBool::new(false);
            links.visit(parallel, &mut self.displacements, |links, displacements| {
                let (any, any_beyond) = instructions.run(Mend { links, displacements, longest, beyond });
                moved.fetch_or(any, Relaxed);
                again.fetch_or(any_beyond, Relaxed);
            });
            if !again.into_inner() {
                break;
            }
        }
        moved.into_inner()
    }

    /// Tells the levels which vertices friction held in the last substep: they must not be moved against it.
    fn hold_levels(&mut self, levels: &mut [Level]) {
        if !self.may_touch {
            return;
        }
        let mut same = true;
        for (mobility, mark) in self.mobility.iter_mut().zip(&self.marks) {
            let now = if mark & touch::STICKS == 0 { 1.0 } else { 0.0 };
            same &= *mobility == now;
            *mobility = now;
        }
        if same {
            return;
        }
        levels[0].hold(&self.mobility);
        for l in 1..levels.len() {
            let (below, level) = levels.split_at_mut(l);
            level[0].hold(&below[l - 1].mobility);
        }
    }

    /// Back to 64 bits. Constraints that are far from satisfied are satisfied at any speed: what is faster than `most`, m/s,
    /// which no cloth can survive, is slowed down.
    fn end_frame(&self, packed: &Packed, parallel: &Parallel, most: f64, state: &mut BodyState) {
        let single = |p: &Point| DVec3::new(p[0].into(), p[1].into(), p[2].into());
        let place = &packed.place[..];
        parallel.blocks(&mut state.x, |start, block| {
            for (x, &k) in block.iter_mut().zip(&place[start..]) {
                *x = self.x[k as usize] + single(&self.displacements[k as usize]);
            }
        });
        parallel.blocks(&mut state.v, |start, block| {
            for (v, &k) in block.iter_mut().zip(&place[start..]) {
                *v = single(&self.velocities[k as usize]);
                if v.length_squared() > most * most {
                    *v = v.clamp_length_max(most);
                }
            }
        });
    }
}

/// A collider between two shares of a frame; none if it is a mesh, which acts as a surface.
fn obstacle<'a>(
    task: &FrameTask<'a>,
    packed: &'a Packed,
    c: u32,
    (s0, s1): (f64, f64),
    h: f32,
) -> Option<Obstacle<'a>> {
    let FrameTask { model, control, b, .. } = *task;
    let (start, end) = &control.colliders[c as usize];
    let mut material = model.material(b, c as usize);
    material.friction *= model.bodies[b].layer.as_ref().map_or(1.0, |layer| layer.mean_friction);
    Some(Obstacle {
        shape: model.colliders[c as usize].form.primitive()?,
        pose0: start.lerp(end, s0),
        pose1: start.lerp(end, s1),
        material,
        skin: model.distance(b, c as usize),
        rest_speed: 2.0 * model.gravity.length() * f64::from(h),
        only: packed.listed(c),
    })
}

/// A hand that pulls a vertex.
#[derive(Debug)]
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
#[inline(always)]
fn velocities_from(now: &[f32], before: &[f32], velocities: &mut [f32], inverse_h: f32) {
    for ((now, before), v) in now.iter().zip(before).zip(velocities) {
        *v = (*now - *before) * inverse_h;
    }
}

/// The prediction for a run of vertices, all four numbers of each alike, for whole registers: the fourth of a kick and of a velocity is 0.
struct Predict<'a> {
    kicks: &'a [f32],
    now: &'a mut [f32],
    before: &'a mut [f32],
    velocities: &'a mut [f32],
    h: f32,
    /// What velocities are of what the last substep moved, 1/s; none if there was none.
    rate: Option<f32>,
    tight: Option<Tight<'a>>,
}

impl Kernel for Predict<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Predict { kicks, now, before, velocities, h, rate, tight } = self;
        if let Some(rate) = rate {
            velocities_from(now, before, velocities, rate);
        }
        let Some(tight) = tight else {
            for (((now, before), v), kick) in now.iter_mut().zip(before).zip(velocities).zip(kicks) {
                *v += *kick;
                *before = *now;
                *now += *v * h;
            }
            return;
        };
        let n = now.len();
        let (before, velocities, kicks) = (&mut before[..n], &mut velocities[..n], &kicks[..n]);
        let Tight { start, way, back, share } = tight;
        let (start, way, back) = (&start[..n], &way[..n], &back[..n]);
        for k in 0..n {
            velocities[k] += kicks[k];
            before[k] = now[k];
            let place = now[k] + velocities[k] * h;
            now[k] = place - (place - start[k] - way[k] * share) * back[k];
        }
    }
}

/// Damping along springs over a frame: backward Euler for each, one after the other.
pub(super) fn damp(topology: &Topology, inverse_masses: &[f64], dt: f64, x: &[DVec3], v: &mut [DVec3]) {
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
