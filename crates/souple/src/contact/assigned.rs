//! Particles that a collider is held against (SIM-32): lists made before the run, so that what is looked at in a substep is as much
//! as the lists say, wherever bodies and colliders are.
//!
//! A list names particles of the untorn body. A particle made by a tear is held against whatever the one it comes from is, so
//! that both lips of a tear stay on the same side of a collider.
//!
//! Not promised: anything for particles that are not on the list. They pass through, and pull those that are with them.

use crate::model::ColliderModel;

/// What of a body is held against a collider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assigned<'a> {
    /// None of its particles.
    Nothing,
    /// These particles of the untorn body, ascending.
    Only(&'a [u32]),
    /// All of them.
    All,
}

impl ColliderModel {
    /// What of a body is held against it, as far as its own list says.
    pub fn assigned(&self, b: usize) -> Assigned<'_> {
        let Some(only) = &self.only else { return Assigned::All };
        match only.iter().find(|list| list.body == b) {
            None => Assigned::Nothing,
            Some(list) => list.vertices.as_ref().map_or(Assigned::All, |list| Assigned::Only(list)),
        }
    }
}

impl<'a> Assigned<'a> {
    /// The particles of the body as it is now, ascending: `parents` has the one of the untorn body, of `untorn` particles, that each
    /// comes from. Takes as long as there are particles on the list, or made by tears.
    pub fn particles(self, untorn: usize, parents: &'a [u32]) -> Particles<'a> {
        let places = match self {
            Assigned::Nothing => 0,
            Assigned::Only(list) => list.len() + parents.len().saturating_sub(untorn),
            Assigned::All => parents.len(),
        };
        Particles { assigned: self, untorn, parents, next: 0, places }
    }

    /// Whether a particle that comes from this one of the untorn body is among them.
    pub fn contains(self, parent: u32) -> bool {
        match self {
            Assigned::Nothing => false,
            Assigned::Only(list) => list.binary_search(&parent).is_ok(),
            Assigned::All => true,
        }
    }
}

/// Particles that are held against a collider, ascending.
#[derive(Clone, Debug)]
pub struct Particles<'a> {
    assigned: Assigned<'a>,
    untorn: usize,
    parents: &'a [u32],
    /// How many places have been looked at: those of the list, then particles made by tears.
    next: usize,
    places: usize,
}

impl Iterator for Particles<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.next < self.places {
            let place = self.next;
            self.next += 1;
            let Assigned::Only(list) = self.assigned else { return Some(place) };
            let (v, held) = match list.get(place) {
                Some(&v) => (v as usize, (v as usize) < self.parents.len()),
                None => {
                    let v = self.untorn + place - list.len();
                    (v, self.assigned.contains(self.parents[v]))
                }
            };
            if held {
                return Some(v);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn particles_made_by_tears_follow_the_one_they_come_from() {
        // Five particles; 5 and 7 come from 1, 6 from 3.
        let parents = [0, 1, 2, 3, 4, 1, 3, 1];
        let particles = |assigned: Assigned| assigned.particles(5, &parents).collect::<Vec<_>>();
        assert_eq!(particles(Assigned::Only(&[1, 4])), [1, 4, 5, 7]);
        assert_eq!(particles(Assigned::Only(&[2])), [2]);
        assert!(particles(Assigned::Nothing).is_empty());
        assert_eq!(particles(Assigned::All), [0, 1, 2, 3, 4, 5, 6, 7]);
        for assigned in [Assigned::Only(&[1, 4]), Assigned::Nothing, Assigned::All] {
            let one_by_one = (0..8).filter(|v| assigned.contains(parents[*v])).collect::<Vec<_>>();
            assert_eq!(particles(assigned), one_by_one);
        }
    }

    #[test]
    fn a_list_is_never_read_beyond_the_particles_that_are_there() {
        assert_eq!(Assigned::Only(&[0, 2, 9]).particles(10, &[0, 1, 2]).collect::<Vec<_>>(), [0, 2]);
    }
}
