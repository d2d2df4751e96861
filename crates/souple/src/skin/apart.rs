//! Skins that do not run through themselves (ROH-62): a vertex that has come nearer to another bone than to its own is brought back to where both are as near.
//!
//! Rohmer 2011, section 2.6. Each vertex belongs to a piece of bone where it was bound. Distances to bones are counted in how thick the skin is around them
//! there, so that they are about 1 on the skin, and the surface of contact is where two of them are the same: halfway between limbs that are as thick as each
//! other, and further from the thicker one. A vertex has run into another part if that is nearer in this sense, if it was not so where the skin was bound, and if
//! the bone of it is in front of the vertex: r · n > 0. (The thesis counts bones that are behind it, r · n < 0, as its weights do; but skins that
//! run into each other face each other.) Normals are carried by the bone of the vertex, as the skin itself may be crumpled there.
//!
//! A vertex goes straight to the nearest point of its own bone, until it has left the other part. Vertices that were moved are held while the volume is
//! brought back by the others (`skin/keeper.rs`), in a few rounds, as those may run into something then.
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
    /// Distance, times the thickness there.
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
        Near { point, relative: p.distance(point) / thickness }
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

    /// Brings vertices that have run into other parts back, and marks them as held; how many there were. `rest` are places where the skin was bound.
    pub fn part(&self, motions: &[BoneMotion], rest: &[DVec3], x: &mut [DVec3], held: &mut [bool]) -> usize {
        let posed: Vec<[DVec3; 2]> = self.segments.iter().map(|s| s.posed(motions)).collect();
        let mut moved = 0;
        for (v, &(home, normal)) in self.home.iter().enumerate() {
            let Some(own) = self.segments.get(home as usize) else { continue };
            let carried = motions[own.bone as usize].matrix.matrix3 * normal;
            let mut has_moved = false;
            // As often as there may be parts that it has run into.
            for _ in 0..3 {
                let Some(other) = self.run_into(home, carried, &posed, rest[v], x[v]) else { break };
                let target = own.near(posed[home as usize], x[v]).point;
                let is_free = |p: DVec3| {
                    let mine = own.near(posed[home as usize], p).relative;
                    mine <= (1.0 - GAP) * self.segments[other].near(posed[other], p).relative
                };
                let (mut low, mut high) = (0.0, 1.0);
                for _ in 0..HALVINGS {
                    let middle = 0.5 * (low + high);
                    if is_free(x[v].lerp(target, middle)) { high = middle } else { low = middle }
                }
                x[v] = x[v].lerp(target, high);
                has_moved = true;
            }
            if has_moved {
                held[v] = true;
                moved += 1;
            }
        }
        moved
    }

    /// The part that a vertex is deepest in.
    fn run_into(
        &self,
        home: u32,
        normal: DVec3,
        posed: &[[DVec3; 2]],
        rest: DVec3,
        x: DVec3,
    ) -> Option<usize> {
        let own = &self.segments[home as usize];
        let mine = own.near(posed[home as usize], x).relative;
        let mut best = (1.0 - 0.5 * GAP) * mine;
        let mut found = None;
        for (s, other) in self.segments.iter().enumerate() {
            // Two bones that one carries do not move to each other.
            if s == home as usize || other.bone == own.bone {
                continue;
            }
            let near = other.near(posed[s], x);
            if near.relative < best && (near.point - x).dot(normal) > 0.0 {
                let was = other.near(other.ends, rest).relative;
                if was >= own.near(own.ends, rest).relative {
                    best = near.relative;
                    found = Some(s);
                }
            }
        }
        found
    }
}
