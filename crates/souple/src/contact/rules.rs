//! Which things touch each other, at what distance, and how they rub and bounce: layers and masks (FAU-57), thickness per body,
//! friction and restitution per pair of materials. Bodies that the list of a collider does not name are not touched by it (SIM-32).
//!
//! Each two things have one rule; so has each with itself.

use crate::contact::assigned::Assigned;
use crate::contact::response::ContactMaterial;
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

    /// The least distance that any two keep, m.
    pub fn narrowest(&self) -> f32 {
        self.table.iter().filter(|r| r.touch).fold(f32::INFINITY, |narrowest, r| r.skin.min(narrowest))
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

/// What was said about two things in particular; what is not said is as for all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairModel {
    /// The two.
    pub between: [Thing; 2],
    /// Whether they touch at all.
    pub touch: bool,
    /// Coulomb friction coefficient.
    pub friction: Option<f64>,
    /// Share of the approach speed that comes back.
    pub restitution: Option<f64>,
    /// Distance that they keep, m.
    pub distance: Option<f64>,
}

impl Model {
    /// What two things do when their surfaces come near each other.
    pub fn rule(&self, a: Thing, b: Thing) -> Rule {
        match (a, b) {
            (Thing::Body(a), Thing::Body(b)) => self.rule_of_bodies(a, b),
            (Thing::Body(b), Thing::Collider(c)) | (Thing::Collider(c), Thing::Body(b)) => {
                let material = self.material(b, c);
                Rule {
                    touch: self.colliders[c].form.mesh().is_some() && self.touches_collider(b, c),
                    skin: self.distance(b, c) as f32,
                    friction: material.friction as f32,
                    restitution: material.restitution as f32,
                }
            }
            (Thing::Collider(_), Thing::Collider(_)) => Rule::default(),
        }
    }

    fn rule_of_bodies(&self, a: usize, b: usize) -> Rule {
        let (first, second) = (&self.bodies[a], &self.bodies[b]);
        let (Some(one), Some(other)) = (&first.contact, &second.contact) else { return Rule::default() };
        let pair = self.pair(Thing::Body(a), Thing::Body(b));
        let touch = if a == b {
            one.itself
        } else {
            one.others
                && other.others
                && first.group == second.group
                && masks(&one.touches, &other.layer)
                && masks(&other.touches, &one.layer)
        };
        let distance = 0.5 * (first.skin + second.skin);
        // Ice on anything is slippery.
        let friction = (one.friction * other.friction).sqrt();
        let restitution = one.restitution.max(other.restitution);
        Rule {
            touch: touch && pair.is_none_or(|p| p.touch),
            skin: pair.and_then(|p| p.distance).unwrap_or(distance) as f32,
            friction: pair.and_then(|p| p.friction).unwrap_or(friction) as f32,
            restitution: pair.and_then(|p| p.restitution).unwrap_or(restitution) as f32,
        }
    }

    /// Whether a body is to touch a collider.
    pub fn touches_collider(&self, b: usize, c: usize) -> bool {
        let collider = &self.colliders[c];
        let (layer, touches) = match &self.bodies[b].contact {
            Some(contact) => (&contact.layer, &contact.touches),
            None => (&None, &None),
        };
        // What shows a layer is the layer.
        let skin = self.bodies[b].layer.as_ref();
        let is_own = skin.is_some_and(|skin| skin.shown_by.iter().any(|wearer| wearer.collider == c));
        !is_own
            && collider.assigned(b) != Assigned::Nothing
            && masks(touches, &collider.layer)
            && masks(&collider.touches, layer)
            && self.pair(Thing::Body(b), Thing::Collider(c)).is_none_or(|p| p.touch)
    }

    /// How a body and a collider rub and bounce.
    pub fn material(&self, b: usize, c: usize) -> ContactMaterial {
        let material = self.colliders[c].material;
        let Some(pair) = self.pair(Thing::Body(b), Thing::Collider(c)) else { return material };
        ContactMaterial {
            friction: pair.friction.unwrap_or(material.friction),
            restitution: pair.restitution.unwrap_or(material.restitution),
            // What is said of the two is more than what is said of one of them.
            tangential_keep: material.tangential_keep.filter(|_| pair.friction.is_none()),
        }
    }

    /// The distance that a body keeps from a collider, m.
    pub fn distance(&self, b: usize, c: usize) -> f64 {
        let pair = self.pair(Thing::Body(b), Thing::Collider(c));
        pair.and_then(|p| p.distance).unwrap_or(self.bodies[b].skin)
    }

    /// What was said about two things in particular.
    fn pair(&self, a: Thing, b: Thing) -> Option<&PairModel> {
        self.pairs.iter().find(|p| p.between == [a, b] || p.between == [b, a])
    }
}
