//! Any bytes as a snapshot, with a right checksum put at their end so that what is inside is reached. A snapshot that is
//! taken can be simulated.
#![no_main]

use libfuzzer_sys::fuzz_target;
use souple::scene::{Body, Grid, Pin, Scene, Select, Shape, Tear};
use souple::{ModelBuilder, Simulation};

fuzz_target!(|bytes: &[u8]| {
    let body = Body {
        shape: Shape::Grid(Grid { vertices: [3, 3], ..Grid::default() }),
        fabric: Some("cotton".into()),
        pins: vec![Pin { select: Select::Vertices(vec![0]), ..Pin::default() }],
        tear: Some(Tear::default()),
        ..Body::default()
    };
    let scene = Scene { bodies: vec![body], ..Scene::default() };
    let mut simulation = Simulation::new(ModelBuilder::new(&scene).build().expect("the scene is right"));
    // The first bytes of a real one, so that magic, version and fingerprint are right.
    let mut whole = simulation.snapshot()[..20].to_vec();
    whole.extend_from_slice(bytes);
    let _ = simulation.restore(bytes);
    if simulation.restore(&souple::snapshot::with_checksum(&whole)).is_ok() {
        simulation.step();
    }
});
