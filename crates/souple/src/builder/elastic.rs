//! Elastic layers (SIM-05…15): a part of a skin becomes particles, dials become frequencies, lengths and rates.
//!
//! | dial | becomes |
//! |---|---|
//! | attachment | 1: fixed; 0: mobile; between: an anchor of the frequency 0.5 · 64^d Hz |
//! | amplitude | the slack of the anchor, d times the reach, m |
//! | stiffness | that of mesh edges, as the dials of any body: under its own weight the layer stretches by 10^(−4 d); at 1 it is rigid |
//! | damping, drag | rates −ln(1 − d)/0.1 s, 1/s: the share d of the velocity is lost in a tenth of a second |
//! | friction | a factor of the friction of colliders |
//!
//! All of these are times and lengths, so that they do not depend on the step; edges get the share of the layer's modulus that their triangles have,
//! so that they do not depend on the mesh.

use std::f64::consts::TAU;

use glam::DVec3;

use super::character::{Characters, has_rig};
use super::dials::modulus;
use super::select::{Particles, select};
use super::shape::Placed;
use super::{Checked, LARGEST, STIFFEST, positive, vector, wrong};
use crate::math::{ln, pow};
use crate::mesh::layout::{self, FamilyParameters, Stiffness, Surface};
use crate::mesh::{MAX_VERTICES, Spring, TriMesh, bounds, triangle_area};
use crate::model::{BodyModel, Carrier, ColliderModel, GroupModel, PinCarrier, PinModel};
use crate::scene::{
    Body, ColourChannel, Elastic, ElasticDial, PaintBall, PaintPicture, PaintSource, Placement, Shape,
    SkinShape, SolverKind, Springs,
};
use crate::skin::{Anchor, CharacterModel, Layer, Posed, SkinMesh, Wearer};
use crate::solver::solver_name;

/// Time in which a particle loses the share of its velocity that a dial says, s.
const LOSS_TIME: f64 = 0.1;

/// Frequencies of anchors whose dial is nearly 0 and nearly 1, Hz: below, it is no hold, above, no motion.
const SLOWEST: f64 = 0.5;
const FASTEST: f64 = 32.0;

const DIALS: [(ElasticDial, &str); 6] = [
    (ElasticDial::Attachment, "attachment"),
    (ElasticDial::Amplitude, "amplitude"),
    (ElasticDial::Stiffness, "stiffness"),
    (ElasticDial::Damping, "damping"),
    (ElasticDial::Drag, "drag"),
    (ElasticDial::Friction, "friction"),
];

/// A part of a skin that was placed as a body.
pub(super) struct PlacedLayer {
    pub(super) layer: Layer,
    /// Where particles are if no clip is played, m: edges are as long as there.
    rest: Vec<DVec3>,
    /// Particles that are fixed to the skin, ascending.
    fixed: Vec<u32>,
    /// The dial of each particle.
    stiffness: Vec<f64>,
}

fn dial(field: &str, value: f64) -> Checked<f64> {
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        wrong(field, format!("a dial goes from 0 to 1, not to {value}"), "0 is none of it, 1 is all of it")
    }
}

/// Angular frequency of an anchor, 1/s.
fn anchor_frequency(dial: f64) -> f64 {
    TAU * SLOWEST * pow(FASTEST / SLOWEST, dial)
}

/// Rate at which the share `dial` of a velocity is lost in the time of a loss, 1/s.
fn loss_rate(dial: f64) -> f64 {
    if dial < 1.0 { -ln(1.0 - dial) / LOSS_TIME } else { f64::INFINITY }
}

/// What stands in a body beside its skin and does not go with it.
fn check_fields(at: &str, body: &Body, group: &GroupModel) -> Checked<()> {
    let given = [
        ("placement", body.placement != Placement::default(), "a layer is where its character is"),
        ("springs", body.springs != Springs::default(), "`elastic.stiffness` says how stiff edges are"),
        ("dials", body.dials.is_some(), "`elastic.stiffness` says how stiff edges are"),
        ("fabric", body.fabric.is_some(), "`elastic` says how it gives way, and `density` what it weighs"),
        ("young_modulus", body.young_modulus.is_some(), "`elastic.stiffness` says how stiff edges are"),
        ("embed", body.embed.is_some(), "a layer is a surface"),
        ("resolution", body.resolution.is_some(), "a layer is a surface"),
        ("rigid", body.rigid, "a layer gives way"),
        ("shape_matching", body.shape_matching.is_some(), "anchors keep the shape of a layer"),
        ("tear", body.tear.is_some(), "a layer does not tear"),
    ];
    if let Some((field, _, why)) = given.iter().find(|(_, given, _)| *given) {
        return wrong(&format!("{at}.{field}"), "an elastic layer has none", *why);
    }
    if !matches!(group.solver, SolverKind::Goals | SolverKind::Xpbd) {
        return wrong(
            &format!("{at}.elastic"),
            format!("the solver `{}` does not know elastic layers", solver_name(group.solver)),
            "give its group `solver = \"goals\"` or \"xpbd\"",
        );
    }
    Ok(())
}

/// Makes a body of a part of a skin: what is not fixed, and the fixed rim around it.
pub(super) fn place_layer(
    at: &str,
    body: &Body,
    shape: &SkinShape,
    group: &GroupModel,
    characters: &Characters,
) -> Checked<Placed> {
    let Some(elastic) = &body.elastic else {
        return wrong(
            &format!("{at}.elastic"),
            "a part of a skin needs to know how it gives way",
            "write `elastic = { attachment = 0.5 }`",
        );
    };
    check_fields(at, body, group)?;
    let field = format!("{at}.shape.skin");
    let c = characters.named(&field, &shape.character)?;
    let (character, posed) = (&characters.models[c], &characters.start.characters[c]);
    has_rig(&field, character)?;
    let chosen = characters.chosen_meshes(&field, c, shape)?;
    let rig = &character.rig;
    let start = |m: u32, v: u32| posed.pose.apply(posed.vertex(character, m, v));
    let (surface, vertices) = rig.surface(chosen.iter().copied(), start);
    if surface.positions.len() > MAX_VERTICES {
        let problem = format!("the skin has {} vertices, more than {MAX_VERTICES}", surface.positions.len());
        return wrong(&field, problem, "name some of its `meshes`");
    }
    if surface.positions.iter().any(|x| !x.is_finite() || x.abs().max_element() > LARGEST) {
        return wrong(
            &field,
            format!("the skin of '{}' is beyond {LARGEST:.0e} m from its origin", character.name),
            "set the `scale` of the character: lengths are in metres",
        );
    }
    let standing = CharacterModel { motion: None, ..character.unposed() };
    let standing = Posed::at(std::slice::from_ref(&standing), 0.0);
    let rest: Vec<DVec3> =
        vertices.iter().map(|&(m, v)| standing.characters[0].vertex(character, m, v)).collect();

    let painting =
        Painting { at: format!("{at}.elastic"), character, surface: &surface, vertices: &vertices };
    let dials = painting.all(elastic)?;
    let weld = weld(&chosen, &rig.meshes);
    let of_particles: Vec<Vec<f64>> = dials.iter().map(|dial| weld.means(dial)).collect();
    let is_fixed = |p: u32| of_particles[0][p as usize] >= 1.0;

    // What is not fixed, and what is joined to it.
    let mut number = vec![u32::MAX; weld.count];
    let mut triangles = Vec::new();
    for t in &surface.triangles {
        let corners = t.map(|v| weld.particle[v as usize]);
        let area = |x: &[DVec3]| triangle_area(x[t[0] as usize], x[t[1] as usize], x[t[2] as usize]);
        let is_whole = corners[0] != corners[1] && corners[1] != corners[2] && corners[2] != corners[0];
        if is_whole
            && area(&surface.positions).min(area(&rest)) > 0.0
            && !corners.iter().all(|p| is_fixed(*p))
        {
            corners.iter().for_each(|p| number[*p as usize] = 0);
            triangles.push(corners);
        }
    }
    let mut count = 0;
    for n in number.iter_mut().filter(|n| **n == 0) {
        *n = count;
        count += 1;
    }
    if count == 0 {
        return wrong(
            &format!("{at}.elastic.attachment"),
            "all of it is fixed to the skin: nothing gives way",
            "lower `attachment`, or paint over it: `paint = [{ dial = \"attachment\", to = 0.3, with = { bones = [\"…\"] } }]`",
        );
    }
    let mut layer = Layer {
        character: c,
        vertices: vec![(0, 0); count as usize],
        worn: Vec::new(),
        anchors: Vec::new(),
        follows: Vec::new(),
        damping: Vec::new(),
        drag: Vec::new(),
        friction: Vec::new(),
        mean_friction: 1.0,
        shown_by: Vec::new(),
    };
    let mut mesh = TriMesh {
        positions: vec![DVec3::ZERO; count as usize],
        triangles: triangles.iter().map(|t| t.map(|p| number[p as usize])).collect(),
        uvs: if surface.uvs.is_empty() { Vec::new() } else { vec![[0.0; 2]; count as usize] },
    };
    let mut rest_of = vec![DVec3::ZERO; count as usize];
    // The first vertex of each particle is taken last.
    for (k, &(m, v)) in vertices.iter().enumerate().rev() {
        let n = number[weld.particle[k] as usize];
        if n == u32::MAX {
            continue;
        }
        layer.worn.push((m, v, n));
        let n = n as usize;
        (layer.vertices[n], mesh.positions[n], rest_of[n]) = ((m, v), surface.positions[k], rest[k]);
        if let (Some(to), Some(uv)) = (mesh.uvs.get_mut(n), surface.uvs.get(k)) {
            *to = *uv;
        }
    }
    layer.worn.sort_unstable();
    let kept: Vec<usize> = (0..weld.count).filter(|p| number[*p] != u32::MAX).collect();
    let value = |dial: usize| kept.iter().map(|p| of_particles[dial][*p]).collect::<Vec<f64>>();
    let [attachment, amplitude, stiffness, damping, drag, friction] = std::array::from_fn(value);
    let moving: Vec<DVec3> =
        (0..count as usize).filter(|p| attachment[*p] < 1.0).map(|p| mesh.positions[p]).collect();
    let reach = match elastic.reach {
        Some(reach) => positive(&format!("{at}.elastic.reach"), reach, "m")?,
        None => {
            let (low, high) = bounds(&moving);
            0.1 * (high - low).max_element()
        }
    };
    for (particle, (a, slack)) in (0u32..).zip(attachment.iter().zip(&amplitude)) {
        if *a > 0.0 && *a < 1.0 {
            layer.anchors.push(Anchor { particle, frequency: anchor_frequency(*a), slack: slack * reach });
        }
    }
    layer.follows = attachment.iter().map(|a| *a > 0.0).collect();
    let fixed: Vec<u32> = (0..count).filter(|p| attachment[*p as usize] >= 1.0).collect();
    if fixed.is_empty() && layer.anchors.is_empty() && body.pins.is_empty() {
        return wrong(
            &format!("{at}.elastic.attachment"),
            "nothing holds the layer to its character",
            "raise `attachment` somewhere: 1 is fixed, less is attached",
        );
    }
    layer.damping = damping.into_iter().map(loss_rate).collect();
    layer.drag = drag.into_iter().map(loss_rate).collect();
    layer.mean_friction = friction.iter().sum::<f64>() / f64::from(count);
    layer.friction = friction;
    Ok(Placed {
        mesh,
        layer: Some(PlacedLayer { layer, rest: rest_of, fixed, stiffness }),
        ..Placed::default()
    })
}

impl PlacedLayer {
    /// Where particles are if no clip is played and no pose kept, m.
    pub(super) fn rest(&self) -> &[DVec3] {
        &self.rest
    }

    /// Springs along mesh edges, each as stiff as the dials of its ends say; `density` is the mass per area, kg/m², `length` that of the layer, m.
    pub(super) fn springs(&self, triangles: &[[u32; 3]], density: f64, length: f64) -> Vec<Spring> {
        let surface = Surface { positions: &self.rest, triangles, segments: &[] };
        let none = FamilyParameters { stiffness: Stiffness::PerSpring(0.0), damping: 0.0 };
        let unit = FamilyParameters { stiffness: Stiffness::Modulus(1.0), ..none };
        let mut springs = layout::graph(&surface, 1, &[unit, none, none]).unwrap_or_default();
        let is_fixed = |p: u32| self.fixed.binary_search(&p).is_ok();
        springs.retain_mut(|s| {
            let ends = [s.i, s.j].map(|p| self.stiffness[p as usize]);
            let dial = 0.5 * (ends[0] + ends[1]);
            let stiff = if dial < 1.0 { s.stiffness * modulus(dial, density, length) } else { STIFFEST };
            s.stiffness = stiff.min(STIFFEST);
            dial > 0.0 && !(is_fixed(s.i) && is_fixed(s.j))
        });
        springs
    }

    /// The supports that the skin carries.
    pub(super) fn pins(&self, x: &[DVec3]) -> Option<PinModel> {
        let middle: DVec3 = self.fixed.iter().map(|p| x[*p as usize]).sum();
        (!self.fixed.is_empty()).then(|| PinModel {
            name: "skin".into(),
            vertices: self.fixed.clone(),
            motion: None,
            carrier: PinCarrier::Layer,
            pivot: middle / self.fixed.len() as f64,
            until: f64::INFINITY,
        })
    }
}

/// Vertices that are one particle: at one place where they were bound, and moved alike (SIM-06).
struct Weld {
    /// The particle of each vertex of all chosen meshes, numbered by the first vertex.
    particle: Vec<u32>,
    count: usize,
}

impl Weld {
    /// The mean of what vertices have, for each particle.
    fn means(&self, of_vertices: &[f64]) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); self.count];
        for (p, value) in self.particle.iter().zip(of_vertices) {
            let (sum, count) = &mut sums[*p as usize];
            *sum += value;
            *count += 1.0;
        }
        sums.iter().map(|(sum, count)| sum / count).collect()
    }
}

fn weld(chosen: &[u32], meshes: &[SkinMesh]) -> Weld {
    let mut keys = Vec::new();
    for &m in chosen {
        let mesh = &meshes[m as usize];
        for (class, x) in mesh.bound_alike().into_iter().zip(&mesh.mesh.positions) {
            // 0 and −0 are one place.
            let bits = x.to_array().map(|c| (c + 0.0).to_bits());
            keys.push((m, class, bits, keys.len()));
        }
    }
    let total = keys.len();
    keys.sort_unstable();
    let mut first = vec![0usize; total];
    for run in keys.chunk_by(|a, b| (a.0, a.1, a.2) == (b.0, b.1, b.2)) {
        let least = run.iter().map(|key| key.3).min().unwrap_or(0);
        run.iter().for_each(|key| first[key.3] = least);
    }
    let mut particle: Vec<u32> = Vec::with_capacity(total);
    let mut count = 0;
    for (k, &first) in first.iter().enumerate() {
        let number = if first == k { count } else { particle[first] };
        count += u32::from(first == k);
        particle.push(number);
    }
    Weld { particle, count: count as usize }
}

/// What dials are painted on: all vertices of the chosen meshes.
struct Painting<'a> {
    at: String,
    character: &'a CharacterModel,
    /// Where the scene begins, m.
    surface: &'a TriMesh,
    vertices: &'a [(u32, u32)],
}

impl Painting<'_> {
    /// The six dials of each vertex.
    fn all(&self, elastic: &Elastic) -> Checked<Vec<Vec<f64>>> {
        let Elastic { attachment, amplitude, stiffness, damping, drag, friction, weight, paints, reach: _ } =
            elastic;
        dial(&format!("{}.weight", self.at), *weight)?;
        let mut dials = Vec::new();
        let base = [attachment, amplitude, stiffness, damping, drag, friction];
        for (value, (_, name)) in base.into_iter().zip(DIALS) {
            dials.push(vec![dial(&format!("{}.{name}", self.at), *value)?; self.vertices.len()]);
        }
        for (k, paint) in paints.iter().enumerate() {
            let at = format!("{}.paint[{k}]", self.at);
            let to = dial(&format!("{at}.to"), paint.to)?;
            let amounts = self.amounts(&format!("{at}.with"), &paint.with)?;
            let painted = DIALS.iter().zip(&mut dials).filter(|((dial, _), _)| *dial == paint.dial);
            for (value, amount) in painted.flat_map(|(_, values)| values.iter_mut().zip(&amounts)) {
                *value += (to - *value) * amount;
            }
        }
        // What rounding has left of fixed is fixed.
        dials[0].iter_mut().filter(|a| **a > 1.0 - 1e-9).for_each(|a| *a = 1.0);
        Ok(dials)
    }

    /// How much paint there is at each vertex, 0 to 1.
    fn amounts(&self, at: &str, source: &PaintSource) -> Checked<Vec<f64>> {
        let rig = &self.character.rig;
        let each = |of: &dyn Fn(u32, u32) -> f64| self.vertices.iter().map(|&(m, v)| of(m, v)).collect();
        match source {
            PaintSource::Map(name) => match self.character.maps.iter().find(|map| map.name == *name) {
                Some(map) => Ok(each(&|m, v| map.at(m, v))),
                None => {
                    let known = self.character.maps.iter().map(|m| m.name.as_str()).collect::<Vec<_>>();
                    let help = match known.is_empty() {
                        true => "paint one: `[[character.map]]`".to_owned(),
                        false => format!("it has: {}", known.join(", ")),
                    };
                    let problem = format!("'{}' has no map '{name}'", self.character.name);
                    wrong(&format!("{at}.map"), problem, help)
                }
            },
            PaintSource::Colour(channel) => {
                let k = match channel {
                    ColourChannel::Red => 0,
                    ColourChannel::Green => 1,
                    ColourChannel::Blue => 2,
                    ColourChannel::Alpha => 3,
                };
                if let Some((m, _)) =
                    self.vertices.iter().find(|(m, _)| rig.meshes[*m as usize].colours.is_empty())
                {
                    let problem = format!("mesh '{}' has no colours", rig.meshes[*m as usize].name);
                    return wrong(
                        &format!("{at}.colour"),
                        problem,
                        "export colours of vertices, or name other `meshes`",
                    );
                }
                Ok(each(&|m, v| rig.meshes[m as usize].colours[v as usize][k].clamp(0.0, 1.0)))
            }
            PaintSource::Bones(names) => self.carried(&format!("{at}.bones"), names),
            PaintSource::Ball(PaintBall { centre, radius, full }) => {
                let centre = vector(&format!("{at}.ball.centre"), *centre)?;
                let radius = positive(&format!("{at}.ball.radius"), *radius, "m")?;
                let full = dial(&format!("{at}.ball.full"), *full)?;
                let amount = |x: &DVec3| {
                    let share = x.distance(centre) / radius;
                    let s = if share <= full { 1.0 } else { ((1.0 - share) / (1.0 - full)).clamp(0.0, 1.0) };
                    s * s * (3.0 - 2.0 * s)
                };
                Ok(self.surface.positions.iter().map(amount).collect())
            }
            PaintSource::Select(choice) => {
                let all = Particles::of(&Shape::Skin(SkinShape::default()), &self.surface.positions);
                let mut amounts = vec![0.0; self.vertices.len()];
                let chosen = select(&format!("{at}.select"), choice, &all)?;
                chosen.iter().for_each(|v| amounts[*v as usize] = 1.0);
                Ok(amounts)
            }
            PaintSource::Picture(picture) => self.pictured(&format!("{at}.picture"), picture),
        }
    }

    /// The sum of the weights that bones have.
    fn carried(&self, at: &str, names: &[String]) -> Checked<Vec<f64>> {
        let rig = &self.character.rig;
        let name = |node: u32| &rig.skeleton.names[node as usize];
        let used = |wanted: &String| {
            self.vertices.iter().any(|(m, _)| {
                rig.bindings[rig.meshes[*m as usize].binding].iter().any(|(node, _)| name(*node) == wanted)
            })
        };
        if let Some(stranger) = names.iter().find(|wanted| !used(wanted)) {
            let mut known: Vec<&str> =
                rig.bindings.iter().flatten().map(|(node, _)| name(*node).as_str()).collect();
            known.dedup();
            known.truncate(40);
            let problem = format!("there is no bone '{stranger}' that moves this skin");
            return wrong(at, problem, format!("it has: {}", known.join(", ")));
        }
        let weight = |(m, v): &(u32, u32)| {
            let mesh = &rig.meshes[*m as usize];
            let bones = &rig.bindings[mesh.binding];
            let own = mesh.influences(*v as usize).iter();
            let sum: f64 =
                own.filter(|(b, _)| names.contains(name(bones[*b as usize].0))).map(|(_, w)| *w).sum();
            sum.clamp(0.0, 1.0)
        };
        Ok(self.vertices.iter().map(weight).collect())
    }

    /// How bright a picture is where vertices have their texture coordinates, from the top left as glTF has them; it repeats.
    fn pictured(&self, at: &str, picture: &PaintPicture) -> Checked<Vec<f64>> {
        let PaintPicture { path, size, values } = picture;
        let Some([columns, rows]) = *size else {
            return wrong(
                &format!("{at}.path"),
                format!("the picture '{path}' was not read"),
                "read files into the scene before it is built (souple_formats::scene::resolve_meshes)",
            );
        };
        if columns == 0 || rows == 0 || values.len() as u64 != u64::from(columns) * u64::from(rows) {
            let problem = format!("{} values for {columns} × {rows} pixels", values.len());
            return wrong(&format!("{at}.values"), problem, "give one value per pixel");
        }
        if let Some(v) = values.iter().position(|value| !(0.0..=1.0).contains(value)) {
            return wrong(
                &format!("{at}.values[{v}]"),
                "brightness goes from 0 to 1",
                "divide all by the largest",
            );
        }
        if self.surface.uvs.len() != self.vertices.len() {
            return wrong(
                at,
                "the skin has no texture coordinates",
                "unwrap it where the file was made, or paint a map",
            );
        }
        let (columns, rows) = (columns as usize, rows as usize);
        let pixel = |u: f64, count: usize| {
            let share = if (0.0..=1.0).contains(&u) { u } else { u - u.floor() };
            ((share * count as f64) as usize).min(count - 1)
        };
        let at_uv = |uv: &[f64; 2]| match uv.iter().all(|c| c.is_finite()) {
            true => values[pixel(uv[1], rows) * columns + pixel(uv[0], columns)],
            false => 0.0,
        };
        Ok(self.surface.uvs.iter().map(at_uv).collect())
    }
}

/// Finds which colliders are the skin that a layer is a part of.
pub(super) fn show_layers(bodies: &mut [BodyModel], colliders: &[ColliderModel]) {
    for layer in bodies.iter_mut().filter_map(|body| body.layer.as_mut()) {
        for (c, collider) in colliders.iter().enumerate() {
            let Carrier::Skin { character, vertices } = &collider.carrier else { continue };
            if *character != layer.character {
                continue;
            }
            let worn = |(n, (mesh, v)): (u32, &(u32, u32))| {
                let at = layer.worn.binary_search_by_key(&(*mesh, *v), |(m, v, _)| (*m, *v)).ok()?;
                Some((n, layer.worn[at].2))
            };
            let vertices: Vec<(u32, u32)> = (0u32..).zip(vertices).filter_map(worn).collect();
            if !vertices.is_empty() {
                layer.shown_by.push(Wearer { collider: c, vertices });
            }
        }
    }
}

/// The solver by goals knows springs alone.
pub(super) fn check_goals(at: &str, body: &BodyModel, groups: &[GroupModel]) -> Checked<()> {
    if groups[body.group].solver != SolverKind::Goals {
        return Ok(());
    }
    let topology = &body.topology;
    let unknown = [
        ("bending", topology.bending > 0.0),
        ("area_stiffness", body.area_stiffness > 0.0),
        ("inside", body.inside.is_some()),
        ("rigid", body.rigid.is_some()),
        ("shape_matching", body.energies.iter().any(|e| e.name() == "shape matching")),
        ("shape", topology.is_solid() || !topology.mapping.is_empty()),
    ];
    match unknown.iter().find(|(_, given)| *given) {
        Some((field, _)) => wrong(
            &format!("{at}.{field}"),
            "the solver `goals` does not know it: it has springs alone",
            "take another solver for its group, for example `xpbd`",
        ),
        None => Ok(()),
    }
}
