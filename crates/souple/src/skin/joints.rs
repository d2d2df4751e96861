//! Which joint costs how much volume (ROH-24): joints of a set of bones, and what changes when one of them bends.
//!
//! A joint is a bone with the bone that carries it. Relative to that it has moved by R_k = M_p⁻¹ M_k, where M = T(t) T(0)⁻¹ are motions of bones; all
//! that it carries goes along. What is carried whole keeps its volume about the joint, so that only the triangles that cross the joint, and
//! some sums over the others, are needed: the cost of all joints is that of the surface, not that times their number.
//!
//! Bent one after the other, joints change the volume by parts that sum to the whole, but depend on the order where their influences overlap.
//! Here each gets the mean of what it changes alone, from rest, and what it changes last, in the pose: exact where joints act two by
//! two (it is Shapley's value then), and the same for any order. What is left is shared in proportion (see `skin/keeper.rs`); so is what dual
//! quaternions make of bones that stretch, which they do not carry whole. The method of one pass, which is not exact, takes what joints change alone.

use glam::{DAffine3, DMat3, DVec3};

use super::rig::SkinMesh;
use super::skeleton::Skeleton;
use super::skinning::{BoneMotion, Influence, skin};
use super::volume::{Enclosure, corners, twice_area};
use crate::math::cofactors;
use crate::scene::Skinning;

/// A joint that has moved by less than this, as a share of its own numbers, is straight.
const STRAIGHT: f64 = 1e-12;

/// The bones of a set, each carried by one other but for the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointTree {
    /// The bone that carries each; none for one of them.
    pub parents: Vec<Option<u32>>,
    /// All of them, each after the one that carries it.
    pub order: Vec<u32>,
    /// What a bone carries are those whose number in a walk is from the first of these to below the second.
    walk: Vec<(u32, u32)>,
}

impl JointTree {
    /// The nearest of the set that carries each, through nodes that are not of it. What hangs on none hangs on the first such.
    pub fn new(skeleton: &Skeleton, bones: &[(u32, DAffine3)]) -> JointTree {
        let mut of_node: Vec<Option<u32>> = vec![None; skeleton.len()];
        let mut parents: Vec<Option<u32>> = vec![None; bones.len()];
        for (b, (node, _)) in (0u32..).zip(bones) {
            match of_node[*node as usize] {
                // A bone that is listed twice.
                Some(first) => parents[b as usize] = Some(first),
                None => of_node[*node as usize] = Some(b),
            }
        }
        for (b, (node, _)) in (0u32..).zip(bones) {
            let mut above = skeleton.parents[*node as usize];
            while let (Some(up), None) = (above, parents[b as usize]) {
                parents[b as usize] = of_node[up as usize];
                above = skeleton.parents[up as usize];
            }
        }
        if let Some(root) = parents.iter().position(Option::is_none) {
            parents.iter_mut().skip(root + 1).filter(|p| p.is_none()).for_each(|p| *p = Some(root as u32));
        }
        JointTree::of_parents(parents)
    }

    fn of_parents(parents: Vec<Option<u32>>) -> JointTree {
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); parents.len()];
        let mut stack = Vec::new();
        for (b, parent) in (0u32..).zip(&parents) {
            match parent {
                Some(p) => children[*p as usize].push(b),
                None => stack.push(b),
            }
        }
        let (mut order, mut walk) = (Vec::with_capacity(parents.len()), vec![(0, 0); parents.len()]);
        while let Some(b) = stack.pop() {
            walk[b as usize].0 = order.len() as u32;
            order.push(b);
            stack.extend(&children[b as usize]);
        }
        for &b in order.iter().rev() {
            let last = children[b as usize].iter().map(|c| walk[*c as usize].1).max();
            walk[b as usize].1 = last.unwrap_or(walk[b as usize].0 + 1);
        }
        JointTree { parents, order, walk }
    }

    /// Whether a bone is the other one, or carries it.
    pub fn carries(&self, joint: u32, bone: u32) -> bool {
        let (first, end) = self.walk[joint as usize];
        (first..end).contains(&self.walk[bone as usize].0)
    }

    /// The lowest bone that carries both.
    fn meet(&self, mut a: u32, b: u32) -> u32 {
        while !self.carries(a, b) {
            match self.parents[a as usize] {
                Some(up) => a = up,
                None => return a,
            }
        }
        a
    }

    /// R_k of all bones, from their motions: the identity where they have not moved to what carries them, and where that has no inverse.
    pub fn bends(&self, motions: &[BoneMotion], bends: &mut Vec<Bend>) {
        bends.clear();
        bends.extend(self.parents.iter().zip(motions).map(|(parent, own)| match parent {
            Some(p) => Bend::new(&motions[*p as usize].matrix, &own.matrix),
            None => Bend::NONE,
        }));
    }
}

/// How a bone has moved to what carries it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bend {
    /// R_k, where the surface was bound.
    pub relative: DAffine3,
    /// What undoes it in the pose: M_p R_k⁻¹ M_p⁻¹.
    pub undo: DAffine3,
    /// M_p, the motion of what carries it.
    pub carrier: DAffine3,
    /// Whether there is none.
    pub straight: bool,
}

impl Bend {
    /// No bend.
    pub const NONE: Bend = Bend {
        relative: DAffine3::IDENTITY,
        undo: DAffine3::IDENTITY,
        carrier: DAffine3::IDENTITY,
        straight: true,
    };

    fn new(carrier: &DAffine3, own: &DAffine3) -> Bend {
        let back = carrier.inverse();
        let relative = back * *own;
        let undo = *carrier * own.inverse();
        if !(relative.is_finite() && undo.is_finite()) {
            return Bend { carrier: *carrier, ..Bend::NONE };
        }
        let turned = relative.matrix3 - DMat3::IDENTITY;
        let most = [turned.x_axis, turned.y_axis, turned.z_axis]
            .iter()
            .fold(0.0, |m: f64, c| m.max(c.abs().max_element()));
        // Shifts are lengths: to be judged by those of the matrices they come from.
        let size =
            back.translation.abs().max_element() + (back.matrix3 * own.translation).abs().max_element();
        let shift = relative.translation.abs().max_element();
        Bend { relative, undo, carrier: *carrier, straight: most <= STRAIGHT && shift <= STRAIGHT * size }
    }
}

/// What a joint bends: the triangles that are neither carried whole nor stay whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Crossing {
    /// The bone.
    pub bone: u32,
    /// Vertices of those triangles, and how much of each the joint carries, from 0 to 1.
    pub vertices: Vec<(u32, f64)>,
    /// Bones that the joint carries, of vertices that it carries in part.
    pub carried: Vec<u32>,
    /// Their triangles, by their numbers in that list; middles of lids come after it.
    triangles: Vec<[u32; 3]>,
    /// Borders of those lids, by numbers in that list.
    lids: Vec<Vec<u32>>,
}

/// Sums over triangles: of (a − o) · N and of N = (b − a) × (c − a).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    sixfold: f64,
    normal: DVec3,
}

impl Moment {
    fn add(&mut self, other: &Moment) {
        self.sixfold += other.sixfold;
        self.normal += other.normal;
    }

    /// Six times what those triangles enclose with a centre.
    fn about(&self, origin: DVec3, centre: DVec3) -> f64 {
        self.sixfold - (centre - origin).dot(self.normal)
    }

    /// Six times what the volume of those triangles changes about `centre`, to the origin, when x goes to L x + t about it.
    fn change(&self, origin: DVec3, centre: DVec3, linear: &DMat3, shift: DVec3) -> f64 {
        (linear.determinant() - 1.0) * self.about(origin, centre)
            + shift.dot(cofactors(*linear) * self.normal)
    }
}

/// Triangles that all joints treat alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Class {
    /// The lowest bone that carries them whole.
    carrier: u32,
    /// Joints that they cross.
    crossed: Vec<u32>,
}

/// What of a surface each joint carries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointParts {
    /// Joints that bend some of it.
    pub crossings: Vec<Crossing>,
    classes: Vec<Class>,
    /// The class of each triangle.
    of_triangle: Vec<u32>,
}

/// Sums over a surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Volume inside.
    pub volume: f64,
    /// Of the triangles that each bone carries whole.
    pub carried: Vec<Moment>,
    /// Of the triangles that cross the joint of each bone.
    pub crossing: Vec<Moment>,
    of_class: Vec<Moment>,
}

/// Triangles of a surface may have so many joints between their bones, in the mean, and so many beside that: else what is kept of each would
/// grow with the length of the skeleton.
const FURTHEST: usize = 64;
const FREE: usize = 1 << 16;

impl JointParts {
    /// Of vertices `kept` of a mesh, which are those of the surface; none if triangles hang on bones that are too far from each other.
    pub fn new(tree: &JointTree, surface: &Enclosure, mesh: &SkinMesh, kept: &[u32]) -> Option<JointParts> {
        let influences = |v: u32| mesh.influences(kept[v as usize] as usize);
        let meet = |bones: &mut dyn Iterator<Item = u32>| bones.reduce(|a, b| tree.meet(a, b)).unwrap_or(0);
        let of_vertex = |v: u32| meet(&mut influences(v).iter().map(|i| i.0));
        let mut low: Vec<u32> = (0..surface.vertices() as u32).map(of_vertex).collect();
        for border in surface.borders() {
            let all = meet(&mut border.iter().map(|&v| low[v as usize]));
            low.push(all);
        }
        let carriers: Vec<u32> =
            surface.triangles().iter().map(|t| meet(&mut t.iter().map(|&v| low[v as usize]))).collect();
        let mut crossings: Vec<Crossing> =
            tree.order.iter().map(|&bone| Crossing { bone, ..Crossing::default() }).collect();
        let mut of_joint: Vec<Vec<u32>> = vec![Vec::new(); tree.parents.len()];
        let mut each: Vec<Class> = Vec::with_capacity(carriers.len());
        let mut listed = 0usize;
        let bones_of = |vertices: &[u32]| {
            let mut bones: Vec<u32> =
                vertices.iter().flat_map(|&v| influences(v).iter().map(|i| i.0)).collect();
            bones.sort_unstable();
            bones.dedup();
            bones
        };
        // The middle of a lid hangs on all bones of its border.
        let of_lids: Vec<Vec<u32>> = surface.borders().map(bones_of).collect();
        for (t, (triangle, carrier)) in (0u32..).zip(surface.triangles().iter().zip(&carriers)) {
            // Joints between a bone of it and the lowest that carries all of them.
            let mut bones: Vec<u32> = Vec::new();
            for &v in triangle {
                match (v as usize).checked_sub(surface.vertices()).and_then(|lid| of_lids.get(lid)) {
                    Some(lid) => bones.extend(lid),
                    None => bones.extend(influences(v).iter().map(|i| i.0)),
                }
            }
            bones.sort_unstable();
            bones.dedup();
            let mut crossed: Vec<u32> = Vec::new();
            for mut bone in bones {
                while bone != *carrier {
                    crossed.push(bone);
                    let Some(up) = tree.parents[bone as usize] else { break };
                    bone = up;
                }
            }
            crossed.sort_unstable();
            crossed.dedup();
            listed += crossed.len();
            if listed > FREE + FURTHEST * carriers.len() {
                return None;
            }
            crossed.iter().for_each(|&joint| of_joint[joint as usize].push(t));
            each.push(Class { carrier: *carrier, crossed });
        }
        let mut classes = each.clone();
        classes.sort_unstable();
        classes.dedup();
        let of_triangle = each.iter().map(|class| classes.binary_search(class).unwrap_or(0) as u32).collect();
        let mut local: Vec<u32> = vec![u32::MAX; surface.places()];
        for crossing in &mut crossings {
            crossing.fill(tree, surface, &of_joint[crossing.bone as usize], &influences, &mut local);
        }
        crossings.retain(|crossing| !crossing.triangles.is_empty());
        Some(JointParts { crossings, classes, of_triangle })
    }

    /// Measures a surface, and gives its gradient as [`Enclosure::volume_and_gradient`] does. Moments are about its first vertex.
    pub fn measure(
        &self,
        tree: &JointTree,
        surface: &Enclosure,
        x: &[DVec3],
        gradient: &mut Vec<DVec3>,
        measured: &mut Measured,
    ) {
        let Measured { volume, carried, crossing, of_class } = measured;
        for (list, length) in [
            (&mut *of_class, self.classes.len()),
            (carried, tree.parents.len()),
            (crossing, tree.parents.len()),
        ] {
            list.clear();
            list.resize(length, Moment::default());
        }
        *volume = surface.volume_and_gradient(x, gradient, |t, sixfold, normal| {
            let moment = &mut of_class[self.of_triangle[t] as usize];
            moment.sixfold += sixfold;
            moment.normal += normal;
        });
        for (class, moment) in self.classes.iter().zip(of_class) {
            measured.carried[class.carrier as usize].add(moment);
            class.crossed.iter().for_each(|&joint| measured.crossing[joint as usize].add(moment));
        }
        for &bone in tree.order.iter().rev() {
            if let Some(up) = tree.parents[bone as usize] {
                let own = measured.carried[bone as usize];
                measured.carried[up as usize].add(&own);
            }
        }
    }
}

impl Crossing {
    fn fill<'a>(
        &mut self,
        tree: &JointTree,
        surface: &Enclosure,
        triangles: &[u32],
        influences: &impl Fn(u32) -> &'a [Influence],
        local: &mut [u32],
    ) {
        let mut places: Vec<u32> = Vec::new();
        let (mut vertices, mut middles): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        let corners = triangles.iter().flat_map(|&t| surface.triangles()[t as usize]);
        places.extend(corners);
        places.sort_unstable();
        places.dedup();
        for v in places {
            if (v as usize) < surface.vertices() {
                vertices.push(v);
            } else {
                middles.push(v);
                let border = surface.borders().nth(v as usize - surface.vertices());
                vertices.extend(border.unwrap_or(&[]));
            }
        }
        vertices.sort_unstable();
        vertices.dedup();
        for (k, &v) in (0u32..).zip(vertices.iter().chain(&middles)) {
            local[v as usize] = k;
        }
        let carried = |v: u32| {
            let (inside, all) = (influences(v), influences(v).len());
            let inside: Vec<f64> =
                inside.iter().filter(|i| tree.carries(self.bone, i.0)).map(|i| i.1).collect();
            // All or nothing is exact, whatever rounding says of the sum.
            if inside.len() == all { 1.0 } else { inside.iter().sum::<f64>().min(1.0) }
        };
        self.vertices = vertices.iter().map(|&v| (v, carried(v))).collect();
        for &(v, _) in self.vertices.iter().filter(|(_, w)| *w > 0.0 && *w < 1.0) {
            self.carried
                .extend(influences(v).iter().map(|i| i.0).filter(|&bone| tree.carries(self.bone, bone)));
        }
        self.carried.sort_unstable();
        self.carried.dedup();
        self.triangles =
            triangles.iter().map(|&t| surface.triangles()[t as usize].map(|v| local[v as usize])).collect();
        for &middle in &middles {
            let border = surface.borders().nth(middle as usize - surface.vertices()).unwrap_or(&[]);
            self.lids.push(border.iter().map(|&v| local[v as usize]).collect());
        }
    }

    /// Six times what its triangles enclose with the origin.
    fn sixfold(&self, y: &mut Vec<DVec3>) -> f64 {
        for lid in &self.lids {
            let sum: DVec3 = lid.iter().map(|&v| y[v as usize]).sum();
            y.push(sum / lid.len() as f64);
        }
        self.triangles
            .iter()
            .map(|t| {
                let [a, b, c] = corners(y, t);
                a.dot(twice_area(a, b, c))
            })
            .sum()
    }

    /// What the joint changes of the volume if it alone is bent, from where the surface was bound: `rest` are places there, `measured` what is
    /// measured there, `centre` the place of the joint.
    pub fn alone(
        &self,
        bend: &Bend,
        skinning: Skinning,
        rest: &[DVec3],
        measured: &Measured,
        centre: DVec3,
        y: &mut Vec<DVec3>,
    ) -> f64 {
        let relative = about(&bend.relative, centre);
        y.clear();
        if skinning == Skinning::DualQuaternion {
            // Not counted from the centre: how a stretch is blended depends on where it is counted from.
            let bones = [DAffine3::IDENTITY, bend.relative].map(|m| BoneMotion::new(m, skinning));
            let place = |&(v, w): &(u32, f64)| {
                skin(rest[v as usize], &[(0, 1.0 - w), (1, w)], &bones, skinning) - centre
            };
            y.extend(self.vertices.iter().map(place));
        } else {
            let place = |&(v, w): &(u32, f64)| {
                let p = rest[v as usize] - centre;
                p + w * (relative.transform_point3(p) - p)
            };
            y.extend(self.vertices.iter().map(place));
        }
        let after = self.sixfold(y);
        let before = measured.crossing[self.bone as usize].about(rest[0], centre);
        let whole = &measured.carried[self.bone as usize];
        (after - before + whole.change(rest[0], centre, &relative.matrix3, relative.translation)) / 6.0
    }

    /// What the joint changes of the volume if it is bent last: `x` are places in the pose, `unbent` tells where a vertex that it carries in part would
    /// be without it.
    pub fn last(
        &self,
        bend: &Bend,
        x: &[DVec3],
        unbent: impl Fn(u32) -> DVec3,
        measured: &Measured,
        centre: DVec3,
        y: &mut Vec<DVec3>,
    ) -> f64 {
        let centre = bend.carrier.transform_point3(centre);
        let undo = about(&bend.undo, centre);
        y.clear();
        for &(v, w) in &self.vertices {
            let place = x[v as usize] - centre;
            y.push(match w {
                0.0 => place,
                1.0 => undo.transform_point3(place),
                _ => unbent(v) - centre,
            });
        }
        let before = self.sixfold(y);
        let after = measured.crossing[self.bone as usize].about(x[0], centre);
        let whole = &measured.carried[self.bone as usize];
        (after - before - whole.change(x[0], centre, &undo.matrix3, undo.translation)) / 6.0
    }
}

/// A motion, with places counted from a centre.
fn about(motion: &DAffine3, centre: DVec3) -> DAffine3 {
    DAffine3 { matrix3: motion.matrix3, translation: motion.transform_point3(centre) - centre }
}
