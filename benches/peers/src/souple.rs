//! Souple's real-time solver, with the settings of `scenes/bench/w1-100.toml`.

use souple::scene::Shape;
use souple::{ModelBuilder, Simulation};
use souple_formats::scene::read_scene;

use crate::cloth::Cloth;
use crate::peer::Peer;

struct Souple(Simulation);

/// The scene of the benchmark with as many vertices as the cloth has.
pub fn make(cloth: &Cloth) -> Box<dyn Peer> {
    let text = include_str!("../../../scenes/bench/w1-100.toml");
    let mut scene = read_scene(text, "w1-100.toml").expect("a scene of the library").scene;
    if let Shape::Grid(grid) = &mut scene.bodies[0].shape {
        grid.vertices = [cloth.n as u32; 2];
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
        let cloth = Cloth::hanging(12);
        let text = include_str!("../../../scenes/bench/w1-100.toml");
        assert!(text.contains("rayleigh = { mass = 1.0 }") && text.contains("fps = 60"));
        let peer = make(&cloth);
        for (a, b) in peer.positions().iter().zip(&cloth.positions) {
            assert!((0..3).all(|c| (a[c] - b[c]).abs() < 1e-12), "{a:?} {b:?}");
        }
    }
}
