//! Souple's real-time solver, with the settings of `scenes/bench/w1-100.toml` or `scenes/bench/pile.toml`.

use souple::scene::Shape;
use souple::{ModelBuilder, Simulation};
use souple_formats::scene::read_scene;

use crate::cloth::Cloth;
use crate::peer::Peer;

struct Souple(Simulation);

/// The scene of the benchmark with as many vertices as the cloth has.
pub fn make(cloth: &Cloth) -> Box<dyn Peer> {
    let (text, name) = match cloth.contact {
        None => (include_str!("../../../scenes/bench/w1-100.toml"), "w1-100.toml"),
        Some(_) => (include_str!("../../../scenes/bench/pile.toml"), "pile.toml"),
    };
    let mut scene = read_scene(text, name).expect("a scene of the library").scene;
    if let Shape::Grid(grid) = &mut scene.bodies[0].shape {
        grid.vertices = [cloth.n as u32; 2];
    }
    if let Some(contact) = cloth.contact {
        scene.bodies[0].skin = contact.skin;
    }
    let model = ModelBuilder::new(&scene).build().expect("a scene of the library");
    Box::new(Souple(Simulation::new(model).with_threads(1).expect("one thread")))
}

impl Peer for Souple {
    fn substeps(&self) -> u32 {
        self.0.model().groups[0].substeps
    }

    fn step(&mut self) {
        self.0.step();
    }

    fn positions(&self) -> Vec<[f64; 3]> {
        self.0.state().bodies[0].x.iter().map(|x| x.to_array()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else figures of different cloths would stand side by side.
    #[test]
    fn the_scene_is_the_cloth_of_everyone() {
        let texts = [
            include_str!("../../../scenes/bench/w1-100.toml"),
            include_str!("../../../scenes/bench/pile.toml"),
        ];
        for (cloth, text) in [Cloth::hanging(12), Cloth::pile(100)].iter().zip(texts) {
            assert!(text.contains("rayleigh = { mass = 1.0 }") && text.contains("fps = 60"));
            let peer = make(cloth);
            assert_eq!(peer.positions().len(), cloth.positions.len());
            for (a, b) in peer.positions().iter().zip(&cloth.positions) {
                assert!((0..3).all(|c| (a[c] - b[c]).abs() < 1e-12), "{a:?} {b:?}");
            }
            if let Some(contact) = cloth.contact {
                assert!(text.contains(&format!("skin = {}\n", contact.skin)));
                assert!(text.contains(&format!("contact = {{ friction = {} }}", contact.friction)));
                assert!(
                    text.contains(&format!(
                        "shape = {{ plane = {{}} }}\nfriction = {}",
                        contact.floor_friction
                    ))
                );
            }
        }
    }
}
