//! Skins that do not run through themselves (ROH-62): a vertex that has come nearer to another bone than to its own is brought back to where both are as near.
//!
//! Rohmer 2011, section 2.6. Each vertex belongs to a piece of bone where it was bound. Distances to bones are counted in how thick the skin is around them
//! there, so that they are about 1 on the skin, and the surface of contact is where two of them are the same: halfway between limbs that are as thick as each
//! other, and further from the thicker one. A vertex has run into another part if it is beyond that surface, if it was not where the skin was bound, and
//! if it faces the other part. (The thesis counts only bones that are behind a vertex, r · n < 0, as its weights do; but skins that run into each other face
//! each other.) Normals are carried by the bone of the vertex, as the skin itself may be crumpled there.
//!
//! A vertex goes back along the line between the nearest points of both bones, not to its own bone as in the thesis: beside a fold that leads along the surface of contact. Vertices
//! that were moved are held while the volume is brought back by the others (`skin/keeper.rs`), in a few rounds, as those may run into something then.
//!
//! Not promised: that nothing crosses. Triangles between vertices that are apart may cross where they are large beside the fold; and a vertex that has gone
//! through the other part, past its bone, is on the wrong side.

use glam::DVec3;

use super::bulge::JointPlace;
use super::joints::JointTree;
use super::rig::SkinMesh;
use super::skinning::BoneMotion;

/// How thick a skin is, is told at so many places along a bone.
const PLACES: usize = 5;

/// Parts stay apart by this share of their thickness.
const GAP: f64 = 0.01;

/// Vertices that are nearer to what they would run into than this share of the thickness give way less when the volume is brought back.
const NEAR: f64 = 0.75;

/// What faces the other part by less than this cosine is on the outside of a joint, or beside it.
const FACING: f64 = 0.05;

/// Points that are nearer to each other than this share of the thickness are one.
const SAME: f64 = 1e-3;

/// Halvings of the way to the bone.
const HALVINGS: usize = 30;

/// A piece of bone, from its joint to one that it carries.
#[derive(Clone, Debug, PartialEq)]
struct Segment {
    bone: u32,
    ends: [DVec3; 2],
    /// How far the skin is from it, along it.
    thickness: [f64; PLACES],
}

/// Bones of a piece of skin, and to which each vertex belongs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    segments: Vec<Segment>,
    /// The segment of each vertex, and its normal where it was bound.
    home: Vec<(u32, DVec3)>,
}

/// How a point lies to a bone.
#[derive(Clone, Copy, Debug)]
struct Near {
    /// The nearest point of it.
    point: DVec3,
    /// How thick the skin is there.
    thickness: f64,
    /// Distance, times that.
    relative: f64,
}

fn along(p: DVec3, [a, b]: [DVec3; 2]) -> f64 {
    let way = b - a;
    let square = way.length_squared();
    if square > 0.0 { ((p - a).dot(way) / square).clamp(0.0, 1.0) } else { 0.0 }
}

impl Segment {
    fn near(&self, ends: [DVec3; 2], p: DVec3) -> Near {
        let s = along(p, ends);
        let point = ends[0].lerp(ends[1], s);
        let at = s * (PLACES - 1) as f64;
        let below = (at as usize).min(PLACES - 2);
        let share = at - below as f64;
        let thickness = (1.0 - share) * self.thickness[below] + share * self.thickness[below + 1];
        Near { point, thickness, relative: p.distance(point) / thickness }
    }

    fn posed(&self, motions: &[BoneMotion]) -> [DVec3; 2] {
        self.ends.map(|end| motions[self.bone as usize].matrix.transform_point3(end))
    }
}

/// Pieces of bone that a mesh hangs on. A bone at the end of a limb goes on as far as what hangs on it.
fn segments(tree: &JointTree, joints: &[JointPlace], mesh: &SkinMesh, kept: &[u32]) -> Vec<Segment> {
    let place = |v: u32| mesh.mesh.positions[kept[v as usize] as usize];
    let mut used = vec![false; joints.len()];
    let mut reach = vec![0.0f64; joints.len()];
    for v in 0..kept.len() as u32 {
        let own = mesh.influences(kept[v as usize] as usize);
        own.iter().for_each(|i| used[i.0 as usize] = true);
        if let Some(&(bone, _)) = own.first() {
            let joint = &joints[bone as usize];
            let far = (place(v) - joint.centre).dot(joint.along());
            reach[bone as usize] = reach[bone as usize].max(far);
        }
    }
    let mut list = Vec::new();
    for (b, joint) in (0u32..).zip(joints).filter(|(b, _)| used[*b as usize]) {
        let mut add = |end: DVec3| {
            list.push(Segment { bone: b, ends: [joint.centre, end], thickness: [0.0; PLACES] });
        };
        let children = tree.parents.iter().zip(joints).filter(|(up, _)| **up == Some(b));
        let ends: Vec<DVec3> =
            children.map(|(_, child)| child.centre).filter(|c| *c != joint.centre).collect();
        ends.iter().for_each(|end| add(*end));
        if ends.is_empty() && tree.parents[b as usize].is_some() {
            add(joint.centre + reach[b as usize] * joint.along());
        }
    }
    list
}

impl Parts {
    /// Of vertices `kept` of a mesh, which are those of a surface, with their places and normals where they were bound.
    pub fn new(
        tree: &JointTree,
        joints: &[JointPlace],
        mesh: &SkinMesh,
        kept: &[u32],
        places: &[DVec3],
        normals: &[DVec3],
    ) -> Parts {
        let mut segments = segments(tree, joints, mesh, kept);
        // Nearest of those whose bone moves the vertex: bones of other limbs do not.
        let own = |segments: &[Segment], v: usize, far: &dyn Fn(&Segment) -> f64| {
            let influences = mesh.influences(kept[v] as usize);
            let moves = |s: &Segment| influences.iter().any(|i| i.0 == s.bone);
            let mut best = (f64::INFINITY, u32::MAX);
            for (s, segment) in (0u32..).zip(segments).filter(|(_, s)| moves(s)) {
                let found = far(segment);
                if found < best.0 {
                    best = (found, s);
                }
            }
            best.1
        };
        let mut sums = vec![[(0.0, 0.0); PLACES]; segments.len()];
        for v in 0..kept.len() {
            let p = places[v];
            let distance = |s: &Segment| p.distance(s.ends[0].lerp(s.ends[1], along(p, s.ends)));
            let home = own(&segments, v, &distance);
            let Some(segment) = segments.get(home as usize) else { continue };
            let at = along(p, segment.ends) * (PLACES - 1) as f64;
            let (sum, count) = &mut sums[home as usize][at.round() as usize];
            *sum += distance(segment);
            *count += 1.0;
        }
        for (segment, sums) in segments.iter_mut().zip(&sums) {
            let (sum, count) = sums.iter().fold((0.0, 0.0), |(s, c), own| (s + own.0, c + own.1));
            let mean: f64 = if count > 0.0 { sum / count } else { 0.0 };
            for (thickness, (sum, count)) in segment.thickness.iter_mut().zip(sums) {
                *thickness = if *count > 0.0 { sum / count } else { mean };
            }
        }
        // Bones without skin of their own are in nobody's way; those that meet are as thick as each other there.
        let all: Vec<Segment> = segments.clone();
        let meeting = |end: DVec3, of: &Segment, mine: f64| {
            let others = all
                .iter()
                .filter(|s| s.bone != of.bone)
                .flat_map(|s| [(s.ends[0], s.thickness[0]), (s.ends[1], s.thickness[PLACES - 1])]);
            let at: Vec<f64> =
                others.filter(|(place, t)| *place == end && *t > 0.0).map(|(_, t)| t).collect();
            if mine > 0.0 { (mine + at.iter().sum::<f64>()) / (1.0 + at.len() as f64) } else { 0.0 }
        };
        for segment in &mut segments {
            let [a, b] = segment.ends;
            let (first, last) = (segment.thickness[0], segment.thickness[PLACES - 1]);
            segment.thickness[0] = meeting(a, segment, first);
            segment.thickness[PLACES - 1] = meeting(b, segment, last);
        }
        segments.retain(|s| s.thickness.iter().all(|t| *t > 0.0));
        let home = |v: usize| (own(&segments, v, &|s| s.near(s.ends, places[v]).relative), normals[v]);
        let home = (0..kept.len()).map(home).collect();
        Parts { segments, home }
    }

    /// Brings vertices that have run into other parts back; how many there were. `rest` are places where the skin was bound; `free` gets less for vertices that
    /// are near what they would run into, and 0 for those that were brought back.
    pub fn part(&self, motions: &[BoneMotion], rest: &[DVec3], x: &mut [DVec3], free: &mut [f64]) -> usize {
        let posed: Vec<[DVec3; 2]> = self.segments.iter().map(|s| s.posed(motions)).collect();
        let mut moved = 0;
        for (v, &(home, normal)) in self.home.iter().enumerate() {
            let Some(own) = self.segments.get(home as usize) else { continue };
            let carried = (motions[own.bone as usize].matrix.matrix3 * normal).normalize_or_zero();
            let mut has_moved = false;
            // As often as there may be parts that it has run into.
            for _ in 0..3 {
                let Some((other, contact)) = self.run_into(home, carried, &posed, rest[v], x[v]) else {
                    break;
                };
                if contact.depth <= 0.0 {
                    let far = (-contact.depth / (NEAR * contact.thickness)).clamp(0.0, 1.0);
                    let held = self.folded(home as usize, other, &posed) * (4.0 * contact.facing).min(1.0);
                    free[v] = free[v].min(1.0 - held * (1.0 - far));
                    break;
                }
                let between = |p: DVec3| {
                    let near = [home as usize, other].map(|s| self.segments[s].near(posed[s], p));
                    Contact::between(near, p)
                };
                let back = -contact.way;
                let is_free = |by: f64| between(x[v] + by * back).depth <= -GAP * contact.thickness;
                // As far as its own bone it is surely free.
                let (mut low, mut high) = (0.0, contact.furthest);
                for _ in 0..HALVINGS {
                    let middle = 0.5 * (low + high);
                    if is_free(middle) { high = middle } else { low = middle }
                }
                x[v] += high * back;
                has_moved = true;
            }
            if has_moved {
                free[v] = 0.0;
                moved += 1;
            }
        }
        moved
    }

    /// From 0 to 1 as two bones that meet at a joint are folded by 60 to 90 degrees: before that all is near beside it, and nothing touches. 1 for
    /// bones that do not meet.
    fn folded(&self, one: usize, two: usize, posed: &[[DVec3; 2]]) -> f64 {
        let [a, b] = [one, two].map(|s| &self.segments[s]);
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            if a.ends[i] == b.ends[j] {
                let away = |s: usize, end: usize| (posed[s][1 - end] - posed[s][end]).normalize_or_zero();
                return (2.0 * away(one, i).dot(away(two, j)) + 1.0).clamp(0.0, 1.0);
            }
        }
        1.0
    }

    /// The part that a vertex is deepest in, or nearest to.
    fn run_into(
        &self,
        home: u32,
        normal: DVec3,
        posed: &[[DVec3; 2]],
        rest: DVec3,
        x: DVec3,
    ) -> Option<(usize, Contact)> {
        let own = &self.segments[home as usize];
        let mine = own.near(posed[home as usize], x);
        let mut best: Option<(usize, Contact)> = None;
        for (s, other) in self.segments.iter().enumerate() {
            // Two pieces of one bone do not move to each other.
            if s == home as usize || other.bone == own.bone {
                continue;
            }
            let contact = Contact::between([mine, other.near(posed[s], x)], x);
            let contact = Contact { facing: contact.way.dot(normal), ..contact };
            if contact.depth < -NEAR * contact.thickness || contact.facing < FACING {
                continue;
            }
            let is_new = || other.near(other.ends, rest).relative >= own.near(own.ends, rest).relative;
            if best.is_none_or(|(_, deepest)| contact.depth > deepest.depth) && is_new() {
                best = Some((s, contact));
            }
        }
        best
    }
}

/// How a point lies to the surface of contact of two parts.
#[derive(Clone, Copy, Debug)]
struct Contact {
    /// From the nearest point of the own bone to that of the other; none where both are one.
    way: DVec3,
    /// How far it is beyond the surface, to first order.
    depth: f64,
    /// Cosine between the normal there and the way.
    facing: f64,
    /// How far it is beyond its own bone along the way.
    furthest: f64,
    /// Of the own part.
    thickness: f64,
}

impl Contact {
    fn between([mine, other]: [Near; 2], p: DVec3) -> Contact {
        let slope = |near: &Near| (p - near.point).normalize_or_zero() / near.thickness;
        let (difference, steep) = (mine.relative - other.relative, (slope(&mine) - slope(&other)).length());
        // Bones that meet are not at the same place to the last bit.
        let way = other.point - mine.point;
        let way = if way.length() > SAME * mine.thickness { way.normalize_or_zero() } else { DVec3::ZERO };
        Contact {
            way,
            depth: if steep > 0.0 { difference / steep } else { 0.0 },
            facing: 0.0,
            furthest: (p - mine.point).dot(way).max(0.0),
            thickness: mine.thickness,
        }
    }
}
