//! Which things touch each other, at what distance, and how they rub and bounce: layers and masks (FAU-57), thickness per body,
//! friction and restitution per pair of materials.
//!
//! Each two things have one rule; so has each with itself.

use crate::model::Model;

/// Something with a surface, by its number in the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// A soft body.
    Body(usize),
    /// A collider.
    Collider(usize),
}

/// What two things do when their surfaces come near each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rule {
    /// Whether they touch at all.
    pub touch: bool,
    /// Distance that they keep, m.
    pub skin: f32,
    /// Coulomb friction coefficient.
    pub friction: f32,
    /// Share of the approach speed that comes back.
    pub restitution: f32,
}

/// The rules of some things.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    things: usize,
    /// One row per thing.
    table: Vec<Rule>,
}

impl Rules {
    /// Of that many things; `rule` is asked once per pair, the lower number first.
    pub fn new(things: usize, rule: impl Fn(usize, usize) -> Rule) -> Rules {
        let table = (0..things * things).map(|i| (i / things, i % things));
        Rules { things, table: table.map(|(a, b)| rule(a.min(b), a.max(b))).collect() }
    }

    /// The place of the rule of two things in the table.
    #[inline(always)]
    pub fn place(&self, a: u16, b: u16) -> usize {
        usize::from(a) * self.things + usize::from(b)
    }

    /// The rule at a place.
    #[inline(always)]
    pub fn at(&self, place: usize) -> &Rule {
        &self.table[place]
    }

    /// The largest distance that any two keep, m.
    pub fn widest(&self) -> f32 {
        self.table.iter().filter(|r| r.touch).fold(0.0, |widest, r| r.skin.max(widest))
    }
}

/// Whether a mask lets a layer through.
pub fn masks(mask: &Option<Vec<String>>, layer: &Option<String>) -> bool {
    let named = |mask: &Vec<String>| layer.as_ref().is_some_and(|layer| mask.contains(layer));
    mask.as_ref().is_none_or(named)
}

impl Model {
    /// What two things do when their surfaces come near each other.
    pub fn rule(&self, a: Thing, b: Thing) -> Rule {
        match (a, b) {
            (Thing::Body(a), Thing::Body(b)) => self.rule_of_bodies(a, b),
            _ => Rule::default(),
        }
    }

    fn rule_of_bodies(&self, a: usize, b: usize) -> Rule {
        let (first, second) = (&self.bodies[a], &self.bodies[b]);
        let (Some(one), Some(other)) = (&first.contact, &second.contact) else { return Rule::default() };
        let touch = if a == b {
            one.itself
        } else {
            one.others
                && other.others
                && first.group == second.group
                && masks(&one.touches, &other.layer)
                && masks(&other.touches, &one.layer)
        };
        Rule {
            touch,
            skin: (0.5 * (first.skin + second.skin)) as f32,
            // Ice on anything is slippery.
            friction: (one.friction * other.friction).sqrt() as f32,
            restitution: one.restitution.max(other.restitution) as f32,
        }
    }
}
