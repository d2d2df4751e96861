//! Hands on characters: the bone under the pointer is turned about its joint, or shifted, on top of what clips do (ROH-63).
//!
//! In the thesis a virtual hand hands the rigid motion of the bone that touches an object to the nearest bone of that object. Here the pointer is the
//! hand: the point of the skin that was pressed goes where the pointer goes, as far as a turn of its bone about its joint can bring it; or the joint
//! goes along, which makes the bone that carries it longer or shorter.

use glam::{DQuat, DVec3, Vec2, Vec3};
use souple::Command;
use souple_viewer::Item;
use souple_viewer::pick::Hit;

use crate::sight::on_plane;
use crate::tools::{Seen, doubles};

/// Points nearer to the joint than this share of how far they are from the eye turn nothing: where they point to is chance.
const NEAREST: f32 = 1e-4;

/// A bone in the hand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BoneHold {
    character: usize,
    node: usize,
    names: [String; 2],
    /// Whether its joint is shifted, instead of turned about.
    shifts: bool,
    /// The point that is held, m.
    pub(crate) point: Vec3,
}

impl BoneHold {
    /// Takes hold of the bone that moves what was hit most; none of what is no skin on bones.
    pub(crate) fn take(item: &Item, hit: &Hit, shifts: bool) -> Option<BoneHold> {
        let (character, vertices) = item.skin()?;
        let model = item.model.as_ref()?.characters.get(character)?;
        let (m, v) = *vertices.get(hit.vertex as usize)?;
        let mesh = model.rig.meshes.get(m as usize)?;
        let &(bone, _) = mesh.influences(v as usize).first()?;
        let node = model.rig.bindings.get(mesh.binding)?.get(bone as usize)?.0 as usize;
        let names = [model.name.clone(), model.rig.skeleton.names.get(node)?.clone()];
        Some(BoneHold { character, node, names, shifts, point: hit.point })
    }

    /// Where its joint is now, m.
    pub(crate) fn joint(&self, seen: &Seen) -> Option<Vec3> {
        seen.shown.characters.get(self.character)?.joints.get(self.node).copied()
    }

    /// The pointer goes on.
    pub(crate) fn drag(&mut self, at: Vec2, seen: &Seen) -> Option<Command> {
        let place = on_plane(&seen.camera, self.point, at, seen.size)?;
        let [character, bone] = self.names.clone();
        if self.shifts {
            let by = doubles(place - self.point);
            self.point = place;
            return Some(Command::MoveBone { character, bone, by, rotate_deg: [0.0; 3] });
        }
        let joint = self.joint(seen)?;
        let (from, to) = (self.point - joint, place - joint);
        if from.length().min(to.length()) <= NEAREST * seen.camera.distance {
            return None;
        }
        self.point = joint + to.normalize() * from.length();
        let (axis, angle) = arc(from.as_dvec3(), to.as_dvec3());
        Some(Command::MoveBone { character, bone, by: [0.0; 3], rotate_deg: (axis * angle).to_array() })
    }
}

/// The shortest turn from one direction to another: unit axis, and angle in degrees.
fn arc(from: DVec3, to: DVec3) -> (DVec3, f64) {
    let (axis, angle) = DQuat::from_rotation_arc(from.normalize(), to.normalize()).to_axis_angle();
    (axis, angle.to_degrees())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_turn_leads_there() {
        for (from, to) in [(DVec3::X, DVec3::Y), (DVec3::new(1.0, 2.0, 3.0), DVec3::new(-2.0, 0.5, 1.0))] {
            let (axis, angle) = arc(from, to);
            let turned = DQuat::from_axis_angle(axis, angle.to_radians()) * from.normalize();
            assert!(turned.distance(to.normalize()) < 1e-12);
        }
    }
}
