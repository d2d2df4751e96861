//! Ends of colour maps while a scene runs: fitted to what is shown, and only ever widened within a run, so that colours
//! do not flicker and mean the same from frame to frame.

use souple_viewer::style::{Quantity, StyleSheet};
use souple_viewer::{ItemKind, Looks, Moment};

/// How often values are looked through, s.
const PERIOD: f64 = 0.25;

/// The ranges that were fitted, one per quantity: a colour means the same on every body.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    fitted: [Option<[f32; 2]>; Quantity::ALL.len()],
    /// Bodies, then colliders, whose look gives the range itself.
    given: Vec<bool>,
    next: f64,
    step: Option<u64>,
}

impl Ranges {
    /// Forgets everything: another run, or another look.
    pub fn clear(&mut self) {
        *self = Ranges::default();
    }

    /// Widens the ranges to what a moment shows and writes them into the looks; true when that changed anything. Looks
    /// must be fresh from the scene after a [`Ranges::clear`].
    pub fn update(&mut self, looks: &mut Looks, styles: &StyleSheet, moment: &Moment, now: f64) -> bool {
        if self.given.len() != looks.bodies.len() + looks.papers.len() + looks.colliders.len() {
            let every = looks.bodies.iter().chain(&looks.papers).chain(&looks.colliders);
            self.given = every.map(|look| look.range.is_some()).collect();
            self.fitted = Default::default();
            (self.next, self.step) = (now, None);
        }
        if now < self.next || self.step == Some(moment.step) {
            return false;
        }
        (self.next, self.step) = (now + PERIOD, Some(moment.step));
        for item in &moment.items {
            let place = match item.kind {
                ItemKind::Body(b) => b,
                ItemKind::Paper(p) => looks.bodies.len() + p,
                ItemKind::Collider(c) => looks.bodies.len() + looks.papers.len() + c,
            };
            let is_given = self.given.get(place).copied().unwrap_or(true);
            let Some(look) = looks.of(item).filter(|_| !is_given) else { continue };
            let Some(quantity) = styles.quantity(&look.style).filter(|quantity| counts(item.kind, *quantity))
            else {
                continue;
            };
            let range = quantity.range_of(&mut quantity.seen_values(item));
            let known = &mut self.fitted[quantity as usize];
            *known = Some(known.map_or(range, |old| [old[0].min(range[0]), old[1].max(range[1])]));
        }
        let mut changed = false;
        let every = looks.bodies.iter_mut().chain(&mut looks.papers).chain(&mut looks.colliders);
        for (look, _) in every.zip(&self.given).filter(|(_, given)| !**given) {
            let Some(quantity) = styles.quantity(&look.style) else { continue };
            changed |= look.range != self.fitted[quantity as usize];
            look.range = self.fitted[quantity as usize];
        }
        changed
    }
}

/// Whether an item counts for a quantity: bodies and paper do, and skins for what only they have.
fn counts(kind: ItemKind, quantity: Quantity) -> bool {
    !matches!(kind, ItemKind::Collider(_)) || quantity.is_of_skins()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use souple::scene::{Body, Scene};
    use souple::{ModelBuilder, Simulation};
    use souple_viewer::Capture;

    use super::*;

    #[test]
    fn ranges_only_grow_within_a_run() {
        let scene = Scene {
            bodies: vec![Body { fabric: Some("silk".into()), ..Body::default() }],
            ..Scene::default()
        };
        let model = ModelBuilder::new(&scene).build().unwrap();
        let mut moment = Capture::new(&scene, &model).moment(&Simulation::new(model));
        let styles = StyleSheet::built_in();
        let mut looks = Looks::of_scene(&scene, |_| None);
        looks.set_style("velocity");
        let mut ranges = Ranges::default();
        let speeds = |moment: &mut Moment, step: u64, speed: f32| {
            moment.step = step;
            moment.items[0].speeds = Arc::new(vec![speed; moment.items[0].positions.len()]);
        };
        speeds(&mut moment, 1, 3.0);
        assert!(ranges.update(&mut looks, &styles, &moment, 0.0));
        let wide = looks.bodies[0].range.unwrap();
        assert!(wide[1] >= 3.0);
        speeds(&mut moment, 2, 0.5);
        assert!(!ranges.update(&mut looks, &styles, &moment, 0.1), "not so often");
        assert!(!ranges.update(&mut looks, &styles, &moment, 1.0), "nothing wider");
        assert_eq!(looks.bodies[0].range, Some(wide));
        speeds(&mut moment, 3, 7.0);
        assert!(ranges.update(&mut looks, &styles, &moment, 2.0));
        assert!(looks.bodies[0].range.unwrap()[1] >= 7.0);
    }

    #[test]
    fn a_range_that_the_look_gives_stays() {
        let scene = Scene {
            bodies: vec![Body { fabric: Some("silk".into()), ..Body::default() }],
            ..Scene::default()
        };
        let model = ModelBuilder::new(&scene).build().unwrap();
        let moment = Capture::new(&scene, &model).moment(&Simulation::new(model));
        let mut looks = Looks::of_scene(&scene, |_| None);
        looks.set_style("strain");
        looks.bodies[0].range = Some([-0.5, 0.5]);
        assert!(!Ranges::default().update(&mut looks, &StyleSheet::built_in(), &moment, 0.0));
        assert_eq!(looks.bodies[0].range, Some([-0.5, 0.5]));
    }
}
