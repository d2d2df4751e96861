//! Where and along what a skin gives way when its volume is brought back (ROH-31…42, 51…58): γ and axes of a joint.
//!
//! γ says how much a vertex gives way, per area, so that displacements do not show how a surface is cut into triangles: what bilinear quads are for in
//! the thesis (ROH-05). Only its shape matters; how far vertices go follows from the volume. Lengths are those of the bone that carries the
//! joint. Axes of a joint: x along that bone, z to the side to which the joint bends, y along the axis about which it turns. γ is a
//! function of where the surface was bound, in axes that follow the pose.

use std::f64::consts::PI;

use glam::{DAffine3, DMat3, DQuat, DVec3};

use super::joints::{Bend, Crossing, JointTree};
use super::rig::SkinMesh;
use super::volume::Yielding;
use crate::math::{self, polar};
use crate::scene::{BulgePreset, JointBulge};

/// γ below this share of the largest is none.
const LEAST: f64 = 1e-4;

/// Sine of half the angle below which the axis of a joint is not that of its turn alone: half a degree.
const NO_AXIS: f64 = 0.005;

/// Where a joint is, where the surface was bound.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointPlace {
    /// Its place, in lengths of the file.
    pub centre: DVec3,
    /// Direction of the bone that carries it.
    along: DVec3,
    /// Across it: the axis while it is straight.
    across: DVec3,
    /// Length of that bone.
    length: f64,
}

impl JointPlace {
    /// Direction of the bone that carries it.
    pub fn along(&self) -> DVec3 {
        self.along
    }
}

/// Where all joints of a set of bones are.
pub fn joint_places(tree: &JointTree, bones: &[(u32, DAffine3)]) -> Vec<JointPlace> {
    let centre = |b: usize| {
        let place = bones[b].1.inverse().translation;
        if place.is_finite() { place } else { DVec3::ZERO }
    };
    let centres: Vec<DVec3> = (0..bones.len()).map(centre).collect();
    let place = |b: usize| {
        let centre = centres[b];
        // A joint at the place of what carries it takes the direction to what it carries.
        let up = tree.parents[b].map(|p| centre - centres[p as usize]);
        let down =
            || (0..bones.len()).find(|c| tree.parents[*c] == Some(b as u32)).map(|c| centres[c] - centre);
        let bone = up.filter(|u| u.length() > 0.0).or_else(down).unwrap_or(DVec3::Y);
        let along = bone.try_normalize().unwrap_or(DVec3::Y);
        JointPlace { centre, along, across: along.any_orthonormal_vector(), length: bone.length() }
    };
    (0..bones.len()).map(place).collect()
}

/// The bulge of one joint of a surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bulge {
    /// Vertices, the part of γ that no pose changes, and their place from the joint, in lengths of its bone.
    points: Vec<(u32, f64, DVec3)>,
    /// Along y and z of the joint; nothing where γ does not depend on it.
    profiles: [Profile; 2],
    /// Shares of x, y and z.
    ease: DVec3,
    place: JointPlace,
    /// Times what the joint has lost.
    pub gain: f64,
    /// How large it is, beside others of the surface: its area to the power of 3/2.
    pub size: f64,
}

/// How γ depends on a coordinate.
#[derive(Clone, Debug, Default, PartialEq)]
enum Profile {
    /// Not at all.
    #[default]
    Even,
    /// It grows from 0 to one side.
    OneSided,
    /// Straight between points.
    Drawn(Vec<[f64; 2]>),
}

impl Profile {
    fn drawn(points: &[[f64; 2]], otherwise: Profile) -> Profile {
        if points.is_empty() { otherwise } else { Profile::Drawn(points.to_vec()) }
    }

    fn at(&self, s: f64) -> f64 {
        match self {
            Profile::Even => 1.0,
            Profile::OneSided => s.max(0.0),
            Profile::Drawn(points) => {
                let after = points.partition_point(|p| p[0] <= s);
                let (a, b) = (points[after.saturating_sub(1)], points[after.min(points.len() - 1)]);
                let span = b[0] - a[0];
                if span > 0.0 { a[1] + (s - a[0]) / span * (b[1] - a[1]) } else { a[1] }
            }
        }
    }
}

fn power(x: f64, exponent: f64) -> f64 {
    match exponent {
        0.0 => 1.0,
        1.0 => x,
        _ => math::pow(x, exponent),
    }
}

/// What a bulge is made from.
#[derive(Clone, Copy)]
pub struct BulgeSource<'a> {
    /// Bones.
    pub tree: &'a JointTree,
    /// Their joints.
    pub places: &'a [JointPlace],
    /// The mesh.
    pub mesh: &'a SkinMesh,
    /// Vertices of it that are those of the surface.
    pub kept: &'a [u32],
    /// Area of each, of the file's lengths.
    pub areas: &'a [f64],
    /// What is painted on vertices of the mesh, which γ is multiplied by.
    pub painted: Option<&'a [f64]>,
}

impl BulgeSource<'_> {
    fn place(&self, v: u32) -> DVec3 {
        self.mesh.mesh.positions[self.kept[v as usize] as usize]
    }

    /// Distance from a vertex to the nearest of the bones that meet at a joint.
    fn distance(&self, joint: u32, v: u32) -> f64 {
        let (p, centre) = (self.place(v), self.places[joint as usize].centre);
        let ends =
            self.tree.parents.iter().enumerate().filter(|(_, up)| **up == Some(joint)).map(|(b, _)| b as u32);
        let ends = ends.chain(self.tree.parents[joint as usize]);
        ends.map(|end| {
            let way = self.places[end as usize].centre - centre;
            let square = way.length_squared();
            let share = if square > 0.0 { ((p - centre).dot(way) / square).clamp(0.0, 1.0) } else { 0.0 };
            p.distance(centre + share * way)
        })
        .fold(p.distance(centre), f64::min)
    }

    /// The bulge of a joint, by what is written of it.
    pub fn bulge(&self, crossing: &Crossing, written: &JointBulge, preset: BulgePreset, gain: f64) -> Bulge {
        let joint = crossing.bone;
        let place = self.places[joint as usize];
        let length = if place.length > 0.0 { place.length } else { 1.0 };
        let is_muscle = matches!(preset, BulgePreset::Muscle | BulgePreset::Folds);
        let one_sided = if is_muscle { Profile::OneSided } else { Profile::Even };
        let is_along = is_muscle || preset == BulgePreset::Stretch;
        let middle = if is_along { -0.5 } else { 0.0 };
        let width = if preset == BulgePreset::Stretch { 0.6 } else { 0.25 };
        let offset = length * written.offset.unwrap_or(middle) * place.along;
        let ease = match preset {
            BulgePreset::Automatic | BulgePreset::Isotropic => [1.0; 3],
            BulgePreset::Rubber => [0.0, 1.0, 0.0],
            BulgePreset::Muscle | BulgePreset::Folds => [0.0, 0.0, 1.0],
            BulgePreset::Stretch => [0.0, 1.0, 1.0],
        };
        let along = match (preset, written.profile_x.is_empty()) {
            (BulgePreset::Folds, true) => None,
            _ => Some(Profile::drawn(&written.profile_x, Profile::Even)),
        };
        let along = |x: f64| match &along {
            Some(profile) => profile.at(x),
            None => {
                let wave = math::sin(written.folds * PI * x);
                wave * wave
            }
        };
        let sigma = written.width.unwrap_or(width) * length;
        let soft = |v: u32| {
            let from = (self.place(v) - place.centre - offset).length_squared();
            let bones = [Some(joint), self.tree.parents[joint as usize]];
            let influences = self.mesh.influences(self.kept[v as usize] as usize);
            // A Gaussian does not know of limbs that come near: only what hangs on the two bones of the joint gives way.
            let own: f64 = influences.iter().filter(|i| bones.contains(&Some(i.0))).map(|i| i.1).sum();
            own * math::exp(-from / (sigma * sigma))
        };
        let blended = |v: u32, w: f64| {
            let apart = power(4.0 * w * (1.0 - w), written.weight_exponent);
            apart * power(self.distance(joint, v), written.distance_exponent)
        };
        let mut points: Vec<(u32, f64, DVec3)> = match preset {
            BulgePreset::Automatic => crossing.vertices.iter().map(|&(v, w)| (v, blended(v, w))).collect(),
            _ => (0..self.kept.len() as u32).map(|v| (v, soft(v))).collect::<Vec<(u32, f64)>>(),
        }
        .into_iter()
        .map(|(v, gamma)| {
            let local = (self.place(v) - place.centre) / length;
            let painted = |values: &[f64]| values.get(self.kept[v as usize] as usize).copied().unwrap_or(0.0);
            let gamma = gamma * self.painted.map_or(1.0, painted);
            (v, gamma * along(local.dot(place.along)).max(0.0), local)
        })
        .collect();
        let most = points.iter().fold(0.0, |most: f64, point| most.max(point.1));
        points.retain(|point| point.1 > LEAST * most);
        let area: f64 = points.iter().map(|point| self.areas[point.0 as usize]).sum();
        for (v, gamma, _) in &mut points {
            let area = self.areas[*v as usize];
            *gamma = if area > 0.0 { *gamma / (most * area) } else { 0.0 };
        }
        Bulge {
            points,
            profiles: [
                Profile::drawn(&written.profile_y, Profile::Even),
                Profile::drawn(&written.profile_z, one_sided),
            ],
            ease: DVec3::from(written.axes.unwrap_or(ease)),
            place,
            gain,
            size: area * area.sqrt(),
        }
    }
}

impl Bulge {
    /// Vertices and the part of γ that no pose changes, of which the largest is 1, from areas of vertices.
    pub fn relative_gamma<'a>(&'a self, areas: &'a [f64]) -> impl Iterator<Item = (u32, f64)> + 'a {
        self.points.iter().map(|&(v, gamma, _)| (v, gamma * areas[v as usize]))
    }

    /// Axes of the joint where the surface was bound: x along the bone, y against the axis of the turn, z to the side it bends to.
    pub fn axes(&self, bend: &Bend) -> DMat3 {
        let x = self.place.along;
        let rotation = DQuat::from_mat3(&polar(bend.relative.matrix3));
        let turn = if rotation.w < 0.0 { -rotation.xyz() } else { rotation.xyz() };
        let across = turn - turn.dot(x) * x;
        // A straight joint, and one that is twisted only, has no axis across: it keeps one, and comes to it gently.
        let kept = (NO_AXIS - across.length()).max(0.0) * self.place.across;
        let y = (kept - across).try_normalize().unwrap_or(self.place.across);
        DMat3::from_cols(x, y, x.cross(y))
    }

    /// Shares of the volume that go along each axis, where it is brought back along one after the other.
    pub fn shares(&self) -> DVec3 {
        self.ease / self.ease.element_sum()
    }

    /// Where and along what the surface gives way in a pose.
    pub fn yielding(&self, bend: &Bend, made: &mut Yielding) {
        made.gamma.clear();
        let even = self.profiles == [Profile::Even, Profile::Even];
        if even {
            made.gamma.extend(self.points.iter().map(|point| (point.0, point.1)));
        }
        if even && self.ease == DVec3::ONE {
            made.ease = DMat3::IDENTITY;
            return;
        }
        let axes = self.axes(bend);
        if !even {
            let gamma = |&(v, gamma, local): &(u32, f64, DVec3)| {
                let [y, z] = [local.dot(axes.y_axis), local.dot(axes.z_axis)];
                (v, gamma * (self.profiles[0].at(y) * self.profiles[1].at(z)).max(0.0))
            };
            made.gamma.extend(self.points.iter().map(gamma).filter(|point| point.1 > 0.0));
        }
        let turned = polar(bend.carrier.matrix3) * axes;
        made.ease = turned * DMat3::from_diagonal(self.ease) * turned.transpose();
    }
}
