//! Snapshots: the whole state as portable, versioned bytes. Restored, a scene goes on with the same bits.
//!
//! Version 2 added the fan at the end, version 3 how long bodies have been still, version 4 what elements have flowed to, version 5 which cells are in use,
//! version 6 the folds that are drawn, version 7 sheets of paper and folds of skins. Older snapshots are read: they have no fan, all bodies are awake, nothing has flowed, there are no folds, and paper is as when the scene begins.

use std::sync::Arc;

use glam::{DMat3, DQuat, DVec2, DVec3};

use crate::bytes::{self, Reader, Writer};
use crate::error::Error;
use crate::math::Pose;
use crate::mesh::{Spring, SpringFamily, Topology};
use crate::model::{BodyModel, Model};
use crate::paper::{Criteria, Crumple, Handle, PaperModel, PaperState};
use crate::skin::BoneTurn;
use crate::state::{BodyState, Fan, Grab, PinnedVertex, State};
use crate::wrinkles::pattern::Point;
use crate::wrinkles::track::{Curve, Knot};
use crate::wrinkles::{Folds, Wrinkles};

const MAGIC: &[u8; 8] = b"SOUPSNAP";
const VERSION: u32 = 8;

/// What follows about the topology of a body: nothing, all of it, or which cells it has in use.
const AS_BUILT: u8 = 0;
const TORN: u8 = 1;
const DIVIDED: u8 = 2;

/// Steps and tears are counted on from a snapshot: there must be room.
const LARGEST_COUNT: u64 = 1 << 48;

/// Bytes followed by the checksum that snapshots and recordings end with: lets a fuzzer past the first check.
#[doc(hidden)]
pub fn with_checksum(bytes: &[u8]) -> Vec<u8> {
    bytes::with_checksum(bytes)
}

/// The state as bytes.
pub fn save(model: &Model, state: &State) -> Vec<u8> {
    let mut w = Writer::new(MAGIC, VERSION);
    w.u64(model.fingerprint);
    w.f64(state.time);
    w.u64(state.step);
    w.list(&state.bodies, |w, body| {
        w.list(&body.x, |w, x| w.vector(*x));
        w.list(&body.v, |w, v| w.vector(*v));
        w.list(&body.pinned, |w, p| {
            w.u32(p.vertex);
            w.u32(p.set);
            w.vector(p.anchor);
        });
        w.list(&body.pin_offsets, |w, o| w.vector(*o));
        w.u8(u8::from(body.frozen));
        match &body.topology.in_use {
            _ if body.topology.version == 0 => w.u8(AS_BUILT),
            Some(cells) => {
                w.u8(DIVIDED);
                w.u64(body.topology.version);
                w.list(&cells.leaves, |w, leaf| w.u32(*leaf));
            }
            None => {
                w.u8(TORN);
                save_topology(w, &body.topology);
            }
        }
    });
    w.list(&state.collider_offsets, |w, pose| {
        pose.rotation.to_array().into_iter().for_each(|c| w.f64(c));
        w.vector(pose.translation);
    });
    w.u8(u8::from(state.wind_override.is_some()));
    w.vector(state.wind_override.unwrap_or_default());
    w.list(&state.grabs, |w, g| {
        w.u32(g.body);
        w.u32(g.vertex);
        w.vector(g.target);
        w.f64(g.stiffness);
    });
    w.u8(u8::from(state.fan.is_some()));
    if let Some(fan) = &state.fan {
        w.vector(fan.origin);
        w.vector(fan.direction);
        w.f64(fan.speed);
        w.f64(fan.radius);
    }
    state.bodies.iter().for_each(|body| w.u32(body.still_frames));
    for body in &state.bodies {
        w.list(&body.plastic, |w, m| m.to_cols_array().into_iter().for_each(|c| w.f64(c)));
    }
    state.folds.iter().for_each(|folds| save_folds(&mut w, folds));
    let skins = model.colliders.iter().zip(&state.skin_folds);
    skins.filter(|(skin, _)| skin.wrinkles.is_some()).for_each(|(_, folds)| save_folds(&mut w, folds));
    state.papers.iter().for_each(|paper| save_paper(&mut w, paper));
    if !model.characters.is_empty() {
        w.list(&state.bone_turns, |w, turn| {
            w.u32(turn.character);
            w.u32(turn.node);
            turn.rotation.to_array().into_iter().for_each(|c| w.f64(c));
            w.vector(turn.shift);
        });
    }
    w.finish()
}

fn save_topology(w: &mut Writer, t: &Topology) {
    w.u64(t.version);
    w.list(&t.rest_positions, |w, p| w.vector(*p));
    w.list(&t.masses, |w, m| w.f64(*m));
    w.list(&t.triangles, |w, t| t.iter().for_each(|v| w.u32(*v)));
    w.list(&t.segments, |w, s| s.iter().for_each(|v| w.u32(*v)));
    w.list(&t.parents, |w, p| w.u32(*p));
    w.list(&t.springs, |w, s| {
        w.u32(s.i);
        w.u32(s.j);
        w.f64(s.rest_length);
        w.f64(s.stiffness);
        w.f64(s.damping);
        w.u8(s.family as u8);
        w.u8(s.hops);
    });
}

/// The state that the bytes hold, checked against the model.
pub fn restore(model: &Model, bytes: &[u8]) -> Result<State, Error> {
    let mut r = Reader::new("snapshot", MAGIC, 1..=VERSION, bytes)?;
    if r.u64()? != model.fingerprint {
        return r.fail("it belongs to another scene, or the scene has changed since");
    }
    let time = r.f64()?;
    let step = r.u64()?;
    if step > LARGEST_COUNT {
        return r.fail("its number of steps is not credible");
    }
    let mut index = 0;
    let mut bodies = r.list(1, |r| {
        let Some(body) = model.bodies.get(index) else { return r.fail("it has too many bodies") };
        index += 1;
        let x = r.list(24, Reader::vector)?;
        let v = r.list(24, Reader::vector)?;
        let pinned =
            r.list(32, |r| Ok(PinnedVertex { vertex: r.u32()?, set: r.u32()?, anchor: r.vector()? }))?;
        let pin_offsets = r.list(24, Reader::vector)?;
        let frozen = r.u8()? != 0;
        let topology = match r.u8()? {
            AS_BUILT => Arc::clone(&body.topology),
            DIVIDED => Arc::new(restore_cells(r, body)?),
            _ => Arc::new(restore_topology(r, &body.topology)?),
        };
        let n = topology.len();
        let known_set =
            |p: &PinnedVertex| p.set == PinnedVertex::BY_HAND || (p.set as usize) < body.pins.len();
        let sorted = pinned.windows(2).all(|w| w[0].vertex < w[1].vertex);
        if x.len() != n || v.len() != n || pin_offsets.len() != body.pins.len() || !sorted {
            return r.fail(format!("the numbers of body '{}' do not fit together", body.name));
        }
        if pinned.iter().any(|p| p.vertex as usize >= n || !known_set(p)) {
            return r.fail(format!("a support of body '{}' is not there", body.name));
        }
        let plastic = body.unflowed();
        Ok(BodyState { x, v, plastic, topology, pinned, pin_offsets, frozen, still_frames: 0 })
    })?;
    let collider_offsets = r.list(56, |r| {
        let rotation = DQuat::from_xyzw(r.f64()?, r.f64()?, r.f64()?, r.f64()?);
        Ok(Pose { rotation, translation: r.vector()? })
    })?;
    let has_wind = r.u8()? != 0;
    let wind: DVec3 = r.vector()?;
    let grabs = r.list(40, |r| {
        Ok(Grab { body: r.u32()?, vertex: r.u32()?, target: r.vector()?, stiffness: r.f64()? })
    })?;
    if bodies.len() != model.bodies.len() || collider_offsets.len() != model.colliders.len() {
        return r.fail("it has another number of bodies or colliders than the scene");
    }
    let held =
        |g: &Grab| bodies.get(g.body as usize).is_some_and(|b: &BodyState| (g.vertex as usize) < b.x.len());
    if !grabs.iter().all(held) {
        return r.fail("a grabbed particle is not there");
    }
    let fan = if r.version() >= 2 && r.u8()? != 0 { Some(restore_fan(&mut r)?) } else { None };
    if r.version() >= 3 {
        for body in &mut bodies {
            body.still_frames = r.u32()?;
        }
    }
    if r.version() >= 4 {
        for (body, model) in bodies.iter_mut().zip(&model.bodies) {
            let plastic = r.list(72, restore_plastic)?;
            if plastic.len() != body.plastic.len() {
                return r.fail(format!("the elements of body '{}' are not those of the scene", model.name));
            }
            if !plastic.iter().all(|shape| model.may_flow_to(shape)) {
                return r.fail(format!(
                    "an element of body '{}' has flowed to no shape that it can have",
                    model.name
                ));
            }
            body.plastic = plastic;
        }
    }
    let mut folds = vec![Folds::default(); model.bodies.len()];
    if r.version() >= 6 {
        for (folds, body) in folds.iter_mut().zip(&model.bodies) {
            *folds = restore_folds(&mut r, body.wrinkles.as_deref(), &body.name)?;
        }
    }
    let mut skin_folds = vec![Folds::default(); model.colliders.len()];
    if r.version() >= 7 {
        let skins = skin_folds.iter_mut().zip(&model.colliders);
        for (folds, skin) in skins.filter(|(_, skin)| skin.wrinkles.is_some()) {
            *folds = restore_folds(&mut r, skin.wrinkles.as_deref(), &skin.name)?;
        }
    }
    let mut papers: Vec<PaperState> = model.papers.iter().map(PaperModel::begin).collect();
    if r.version() >= 7 {
        for (paper, model) in papers.iter_mut().zip(&model.papers) {
            *paper = restore_paper(&mut r, model)?;
        }
    }
    let mut bone_turns = Vec::new();
    if r.version() >= 8 && !model.characters.is_empty() {
        bone_turns = r.list(64, |r| restore_turn(r, model))?;
    }
    r.finish()?;
    let wind_override = has_wind.then_some(wind);
    Ok(State {
        time,
        step,
        bodies,
        collider_offsets,
        bone_turns,
        wind_override,
        grabs,
        fan,
        folds,
        skin_folds,
        papers,
    })
}

fn restore_turn(r: &mut Reader, model: &Model) -> Result<BoneTurn, Error> {
    let (character, node) = (r.u32()?, r.u32()?);
    let rotation = DQuat::from_xyzw(r.f64()?, r.f64()?, r.f64()?, r.f64()?);
    let shift: DVec3 = r.vector()?;
    let nodes = model.characters.get(character as usize).map_or(0, |of| of.rig.skeleton.len());
    let is_turn = (rotation.length() - 1.0).abs() < 1e-6;
    if node as usize >= nodes || !is_turn {
        return r.fail("a bone that was turned is not there");
    }
    Ok(BoneTurn { character, node, rotation, shift })
}

/// The samples of the border and the angle of creases are those of the model.
fn save_paper(w: &mut Writer, paper: &PaperState) {
    let Crumple { border, sheet, known } = &paper.crumple;
    w.list(&border.places, |w, p| w.vector(*p));
    w.f64(*known);
    w.list(&sheet.pattern, |w, p| p.to_array().into_iter().for_each(|c| w.f64(c)));
    w.list(&sheet.places, |w, p| w.vector(*p));
    w.list(&sheet.triangles, |w, t| t.iter().for_each(|v| w.u32(*v)));
    for criteria in [&sheet.repair.before, &sheet.repair.after] {
        let Criteria { whole_length, length, chord, angle } = criteria;
        [whole_length, length, chord, angle].into_iter().for_each(|c| w.f64(*c));
    }
    w.f64(sheet.repair.moved);
    [sheet.cuts[0], sheet.cuts[1], sheet.incomplete].into_iter().for_each(|count| w.u32(count as u32));
    w.list(&paper.offsets, |w, o| w.vector(*o));
    w.list(&paper.hands, |w, hand| {
        w.f64(hand.share);
        w.vector(hand.place);
    });
    w.u32(paper.remade);
}

fn restore_paper(r: &mut Reader, model: &PaperModel) -> Result<PaperState, Error> {
    let mut paper = model.begin();
    let Crumple { border, sheet, known } = &mut paper.crumple;
    border.places = r.list(24, Reader::vector)?;
    *known = r.f64()?;
    sheet.pattern = r.list(16, |r| Ok(DVec2::new(r.f64()?, r.f64()?)))?;
    sheet.places = r.list(24, Reader::vector)?;
    sheet.triangles = r.list(12, |r| Ok([r.u32()?, r.u32()?, r.u32()?]))?;
    for criteria in [&mut sheet.repair.before, &mut sheet.repair.after] {
        let Criteria { whole_length, length, chord, angle } = criteria;
        for number in [whole_length, length, chord, angle] {
            *number = r.f64()?;
        }
    }
    sheet.repair.moved = r.f64()?;
    sheet.cuts = [r.u32()? as usize, r.u32()? as usize];
    sheet.incomplete = r.u32()? as usize;
    paper.offsets = r.list(24, Reader::vector)?;
    paper.hands = r.list(32, |r| Ok(Handle { share: r.f64()?, place: r.vector()? }))?;
    paper.remade = r.u32()?;
    if paper.fits(model) {
        Ok(paper)
    } else {
        r.fail(format!("the numbers of paper '{}' do not fit together", model.name))
    }
}

fn save_folds(w: &mut Writer, folds: &Folds) {
    w.u32(folds.round);
    w.list(&folds.curves, |w, curve| {
        w.u32(curve.generator as u32);
        w.f64(curve.last_compression);
        w.u8(u8::from(curve.ring));
        w.u8(u8::from(curve.dying));
        w.list(&curve.knots, |w, knot| {
            w.u32(knot.at.triangle);
            [knot.at.p.x, knot.at.p.y].into_iter().for_each(|c| w.f64(c));
            [knot.compression, knot.half_width, knot.wanted_half_width, knot.strength]
                .into_iter()
                .for_each(|c| w.f64(c));
        });
    });
}

fn restore_folds(r: &mut Reader, wrinkles: Option<&Wrinkles>, name: &str) -> Result<Folds, Error> {
    let round = r.u32()?;
    let curves = r.list(18, |r| {
        let generator = r.u32()? as usize;
        let last_compression = r.f64()?;
        let (ring, dying) = (r.u8()? != 0, r.u8()? != 0);
        let knots = r.list(52, |r| {
            let at = Point { triangle: r.u32()?, p: DVec2::new(r.f64()?, r.f64()?) };
            let (compression, half_width, wanted_half_width) = (r.f64()?, r.f64()?, r.f64()?);
            Ok(Knot { at, compression, half_width, wanted_half_width, strength: r.f64()? })
        })?;
        Ok(Curve { knots, generator, last_compression, ring, dying })
    })?;
    let folds = Folds { curves, round };
    let fits = match wrinkles {
        Some(wrinkles) => folds.fits(&wrinkles.pattern),
        None => folds.curves.is_empty(),
    };
    if fits { Ok(folds) } else { r.fail(format!("the folds of '{name}' do not fit together")) }
}

fn restore_plastic(r: &mut Reader) -> Result<DMat3, Error> {
    let mut numbers = [0.0; 9];
    for number in &mut numbers {
        *number = r.f64()?;
    }
    Ok(DMat3::from_cols_array(&numbers))
}

fn restore_fan(r: &mut Reader) -> Result<Fan, Error> {
    let fan = Fan { origin: r.vector()?, direction: r.vector()?, speed: r.f64()?, radius: r.f64()? };
    if fan.direction.is_normalized() && fan.speed >= 0.0 && fan.radius > 0.0 {
        Ok(fan)
    } else {
        r.fail("its fan makes no sense")
    }
}

/// The topology of a body that has other cells in use than at the start.
fn restore_cells(r: &mut Reader, body: &BodyModel) -> Result<Topology, Error> {
    let version = r.u64()?;
    let leaves = r.list(4, Reader::u32)?;
    let divided = body.refining.as_ref().and_then(|r| r.topology_of(&body.topology, &leaves, version));
    match divided {
        Some(topology) if (1..=LARGEST_COUNT).contains(&version) => Ok(topology),
        _ => r.fail(format!("the cells of body '{}' do not fit together", body.name)),
    }
}

/// A torn topology; `whole` is that of the body before it tore.
fn restore_topology(r: &mut Reader, whole: &Topology) -> Result<Topology, Error> {
    let version = r.u64()?;
    let rest_positions = r.list(24, Reader::vector)?;
    let masses = r.list(8, Reader::f64)?;
    let triangles = r.list(12, |r| Ok([r.u32()?, r.u32()?, r.u32()?]))?;
    let segments = r.list(8, |r| Ok([r.u32()?, r.u32()?]))?;
    let parents = r.list(4, Reader::u32)?;
    let springs = r.list(34, |r| {
        let (i, j) = (r.u32()?, r.u32()?);
        let (rest_length, stiffness, damping) = (r.f64()?, r.f64()?, r.f64()?);
        let Some(&family) = SpringFamily::ALL.get(r.u8()? as usize) else {
            return r.fail("a spring has no known family");
        };
        Ok(Spring { i, j, rest_length, stiffness, damping, family, hops: r.u8()? })
    })?;
    let n = masses.len();
    let in_range = |v: &u32| (*v as usize) < n;
    // Particles are added by tears, never taken away, and only to sheets and ropes.
    let fits = rest_positions.len() == n
        && n >= whole.len()
        && !whole.is_solid()
        && whole.mapping.is_empty()
        && parents.len() == n
        && triangles.iter().flatten().all(in_range)
        && segments.iter().flatten().all(in_range)
        && parents.iter().all(in_range)
        && springs.iter().all(|s| in_range(&s.i) && in_range(&s.j) && s.i != s.j && s.rest_length > 0.0)
        && masses.iter().all(|m| *m > 0.0);
    if !fits || version == 0 || version > LARGEST_COUNT {
        return r.fail("its torn mesh does not fit together");
    }
    let mut topology = Topology {
        rest_positions,
        masses,
        triangles,
        segments,
        springs,
        parents,
        version,
        bending: whole.bending,
        stars: whole.stars.clone(),
        ..Topology::default()
    };
    topology.rebuild_derived();
    Ok(topology)
}
