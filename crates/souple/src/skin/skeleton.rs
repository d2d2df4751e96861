//! Frames that carry each other (ROH-07): bones, and whatever else of a character moves.

use glam::{DAffine3, DMat3, DQuat, DVec3};

use crate::math::{Pose, polar};

/// Where a frame is in that of its parent: scale, then rotation, then translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// Translation, m.
    pub translation: DVec3,
    /// Rotation, a unit quaternion.
    pub rotation: DQuat,
    /// Scale along its own axes.
    pub scale: DVec3,
}

impl Transform {
    /// Not moved at all.
    pub const IDENTITY: Transform =
        Transform { translation: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: DVec3::ONE };

    /// T R S.
    pub fn matrix(&self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }
}

/// Frames, each with at most one that carries it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skeleton {
    /// Names.
    pub names: Vec<String>,
    /// The frame that carries each.
    pub parents: Vec<Option<u32>>,
    /// Where they are if no clip moves them.
    pub rest: Vec<Transform>,
    /// All of them, each after the one that carries it.
    pub(super) order: Vec<u32>,
}

impl Skeleton {
    /// Frames with their parents; the number of one that carries itself, in a ring, is the error.
    pub fn new(names: Vec<String>, parents: Vec<Option<u32>>, rest: Vec<Transform>) -> Result<Self, u32> {
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); parents.len()];
        let mut order: Vec<u32> = Vec::with_capacity(parents.len());
        for (node, parent) in (0u32..).zip(&parents) {
            match parent.map(|p| children.get_mut(p as usize)) {
                Some(Some(siblings)) => siblings.push(node),
                Some(None) => return Err(node),
                None => order.push(node),
            }
        }
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            order.append(&mut children[node as usize]);
        }
        // What no root carries hangs in a ring, or on one: its children were never taken.
        match children.iter().position(|c| !c.is_empty()) {
            Some(ring) => Err(ring as u32),
            None => Ok(Skeleton { names, parents, rest, order }),
        }
    }

    /// How many frames there are.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// Forward kinematics: where each frame is in the frame of the character, from where each is in that of its parent.
    pub fn place(&self, locals: &[Transform], places: &mut Vec<DAffine3>) {
        places.clear();
        places.resize(self.len(), DAffine3::IDENTITY);
        for &node in &self.order {
            let local = locals[node as usize].matrix();
            places[node as usize] = match self.parents[node as usize] {
                Some(parent) => places[parent as usize] * local,
                None => local,
            };
        }
    }
}

/// The rigid part of where a frame is: what a thing does that it carries without stretching it.
pub fn rigid_part(place: &DAffine3) -> Pose {
    let rotation: DMat3 = polar(place.matrix3);
    Pose { rotation: DQuat::from_mat3(&rotation).normalize(), translation: place.translation }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math;

    fn chain(parents: &[Option<u32>]) -> Result<Skeleton, u32> {
        let names = (0..parents.len()).map(|n| n.to_string()).collect();
        let up = Transform { translation: DVec3::Y, ..Transform::IDENTITY };
        Skeleton::new(names, parents.to_vec(), vec![up; parents.len()])
    }

    #[test]
    fn frames_are_carried_whatever_their_order() {
        let skeleton = chain(&[Some(2), None, Some(1)]).unwrap();
        let mut locals = skeleton.rest.clone();
        locals[1].rotation = math::rotation(DVec3::Z * 90.0);
        locals[2].scale = DVec3::splat(3.0);
        let mut places = Vec::new();
        skeleton.place(&locals, &mut places);
        assert!(places[1].translation.distance(DVec3::Y) < 1e-12);
        assert!(places[2].translation.distance(DVec3::new(-1.0, 1.0, 0.0)) < 1e-12);
        assert!(places[0].translation.distance(DVec3::new(-4.0, 1.0, 0.0)) < 1e-12);
        let rigid = rigid_part(&places[0]);
        assert!(rigid.rotate(DVec3::X).distance(DVec3::Y) < 1e-12, "scale is not carried on");
    }

    #[test]
    fn rings_and_strangers_are_found() {
        assert_eq!(chain(&[Some(0)]), Err(0));
        assert!(matches!(chain(&[None, Some(2), Some(3), Some(1)]), Err(1..=3)));
        assert!(matches!(chain(&[None, Some(2), Some(1), Some(2)]), Err(1..=3)), "a branch of a ring");
        assert_eq!(chain(&[None, Some(7)]), Err(1));
        assert!(chain(&[]).unwrap().is_empty());
    }
}
