//! The law of energies: force = −gradient of the value, product = derivative of the force, internal forces sum to zero
//! and turn with the body. One function checks any energy.

use glam::{DMat3, DVec3};
use souple::energy::{
    Aerodynamics, Area, Bending, Configuration, Creasing, Dissipation, End, Energy, FanDrag, Grabs, Gravity,
    Link, Links, PairBlock, Part, Pulls, ShapeMatching, Springs, Viscous, Volume, panel_force,
};
use souple::math::{rotation, uniform};
use souple::mesh::{Topology, enclosed_volume};
use souple::parallel::Parallel;
use souple::scene::{
    Ball, Block, Body, Cells, Family, Grid, Layout, Rayleigh, Scene, Shape, SolidLaw, Strands, Wind,
};
use souple::{Control, Fan, Grab, Model, ModelBuilder};

/// A small ball of springs.
fn ball() -> Model {
    let body = Body {
        name: "ball".into(),
        shape: Shape::Ball(Ball { radius: 0.2, subdivisions: 1 }),
        density: Some(0.2),
        springs: souple::scene::Springs {
            layout: Layout::Graph(1),
            stretch: Family { modulus: Some(100.0), ..Family::default() },
            ..Default::default()
        },
        ..Body::default()
    };
    ModelBuilder::new(&Scene { bodies: vec![body], ..Scene::default() }).build().unwrap()
}

/// A small cloth of all three spring families, damped.
fn model() -> Model {
    let body = Body {
        name: "cloth".into(),
        shape: Shape::Grid(Grid { vertices: [5, 4], size: [0.4, 0.3], ..Grid::default() }),
        fabric: Some("denim".into()),
        ..Body::default()
    };
    ModelBuilder::new(&Scene { bodies: vec![body], ..Scene::default() }).build().unwrap()
}

fn shaken(rest: &[DVec3], amount: f64, seed: u64) -> Vec<DVec3> {
    let r = |i: usize, k: u64| 2.0 * uniform(seed, 3 * i as u64 + k) - 1.0;
    rest.iter().enumerate().map(|(i, p)| *p + DVec3::new(r(i, 0), r(i, 1), r(i, 2)) * amount).collect()
}

struct Setup {
    topology: Topology,
    control: Control,
    parallel: Parallel,
    plastic: Vec<DMat3>,
    x: Vec<DVec3>,
    v: Vec<DVec3>,
}

impl Setup {
    /// `size` scales the rest shape: above 1 every spring is stretched, and the exact Hessian is positive.
    fn new(size: f64) -> Setup {
        Setup::of(&model(), size)
    }

    fn of(model: &Model, size: f64) -> Setup {
        let topology = (*model.bodies[0].topology).clone();
        let mut control = Control::new(model);
        control.wind = Wind { velocity: [3.0, 0.5, -1.0], ..Wind::default() };
        control.fan = Some(Fan {
            origin: DVec3::new(0.2, 0.1, -0.5),
            direction: DVec3::new(0.0, -0.6, 0.8),
            speed: 7.0,
            radius: 0.3,
        });
        control.grabs = vec![Grab { body: 0, vertex: 7, target: DVec3::new(0.1, 0.3, 0.2), stiffness: 40.0 }];
        let grown: Vec<DVec3> = topology.rest_positions.iter().map(|p| *p * size).collect();
        let x = shaken(&grown, 0.01, 3);
        let v = shaken(&vec![DVec3::ZERO; x.len()], 0.5, 5);
        Setup { topology, control, parallel: Parallel::default(), plastic: Vec::new(), x, v }
    }

    fn q<'a>(&'a self, x: &'a [DVec3], v: &'a [DVec3]) -> Configuration<'a> {
        Configuration {
            x,
            v,
            t: 0.3,
            body: 0,
            topology: &self.topology,
            plastic: &self.plastic,
            control: &self.control,
            parallel: &self.parallel,
        }
    }

    fn force(&self, e: &dyn Energy, x: &[DVec3], v: &[DVec3]) -> Vec<DVec3> {
        let mut f = vec![DVec3::ZERO; x.len()];
        e.add_force(&self.q(x, v), &mut f);
        f
    }
}

fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

fn moved(x: &[DVec3], d: &[DVec3], s: f64) -> Vec<DVec3> {
    x.iter().zip(d).map(|(x, d)| *x + *d * s).collect()
}

/// Force against central differences of the value: the error must fall like the square of the step.
fn check_gradient(e: &dyn Energy, setup: &Setup) {
    let still = vec![DVec3::ZERO; setup.x.len()];
    let d = shaken(&still, 1.0, 11);
    let exact = -dot(&setup.force(e, &setup.x, &still), &d);
    let error = |s: f64| {
        let up = e.value(&setup.q(&moved(&setup.x, &d, s), &still));
        let down = e.value(&setup.q(&moved(&setup.x, &d, -s), &still));
        ((up - down) / (2.0 * s) - exact).abs()
    };
    let scale = exact.abs().max(1e-3);
    let (coarse, fine) = (error(1e-3), error(1e-4));
    assert!(fine < 2e-2 * coarse + 1e-9 * scale, "{}: {coarse} {fine} of {scale}", e.name());
}

/// Product against central differences of the force.
fn check_product(e: &dyn Energy, setup: &Setup, by_position: bool, by_velocity: bool) {
    let n = setup.x.len();
    let d = shaken(&vec![DVec3::ZERO; n], 1.0, 13);
    let mut elements = Vec::new();
    let still = vec![DVec3::ZERO; n];
    for (hx, hv, on) in [(1.0, 0.0, by_position), (0.0, 1.0, by_velocity)] {
        if !on {
            continue;
        }
        // How damping turns with the body is left out of derivatives by position: take them at rest.
        let v = if hx > 0.0 { &still } else { &setup.v };
        e.linearise(&setup.q(&setup.x, v), hx, hv, &mut elements);
        let mut product = vec![DVec3::ZERO; n];
        e.add_product(&setup.q(&setup.x, v), &elements, Part::StiffnessAndDamping, &d, &mut product);
        let difference = |s: f64| -> Vec<DVec3> {
            let shift = |sign: f64| {
                let (x, v) = (moved(&setup.x, &d, sign * s * hx), moved(v, &d, sign * s * hv));
                setup.force(e, &x, &v)
            };
            // A = −∂f/∂x or −∂f/∂v.
            shift(1.0).iter().zip(shift(-1.0)).map(|(a, b)| (*a - b) / (-2.0 * s)).collect()
        };
        let error =
            |s: f64| difference(s).iter().zip(&product).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
        let scale = product.iter().map(|p| p.length()).fold(1e-6, f64::max);
        let (coarse, fine) = (error(1e-4), error(1e-5));
        assert!(fine < 2e-2 * coarse + 1e-8 * scale, "{}: {coarse} {fine} of {scale}", e.name());
    }
}

/// Blocks must say the same as the product, and the matrix must be positive semi-definite.
fn check_blocks(e: &dyn Energy, setup: &Setup) {
    let n = setup.x.len();
    let q = setup.q(&setup.x, &setup.v);
    let mut elements = Vec::new();
    e.linearise(&q, 0.7, 0.2, &mut elements);
    let mut diagonal = vec![DMat3::ZERO; n];
    let mut pairs: Vec<PairBlock> = Vec::new();
    e.add_diagonal(&q, &elements, &mut diagonal);
    e.add_pairs(&q, &elements, &mut pairs);
    for seed in 0..20 {
        let d = shaken(&vec![DVec3::ZERO; n], 1.0, 100 + seed);
        let mut product = vec![DVec3::ZERO; n];
        e.add_product(&q, &elements, Part::StiffnessAndDamping, &d, &mut product);
        let mut blocks: Vec<DVec3> = diagonal.iter().zip(&d).map(|(m, d)| *m * *d).collect();
        for p in &pairs {
            blocks[p.i as usize] += p.block * d[p.j as usize];
            blocks[p.j as usize] += p.block.transpose() * d[p.i as usize];
        }
        if let Some((0, w)) = e.dense(&elements) {
            let w: Vec<DVec3> = w.as_chunks::<3>().0.iter().map(|w| DVec3::from(*w)).collect();
            let along = dot(&w, &d);
            blocks.iter_mut().zip(&w).for_each(|(b, w)| *b += *w * along);
        }
        let scale = product.iter().map(|p| p.length()).fold(1e-9, f64::max);
        for (a, b) in product.iter().zip(&blocks) {
            assert!((*a - *b).length() < 1e-12 * scale, "{}", e.name());
        }
        assert!(dot(&d, &product) >= -1e-12 * scale, "{} is not positive semi-definite", e.name());
    }
}

/// Internal forces: no net force, no net torque, and they turn with the body.
fn check_internal(e: &dyn Energy, setup: &Setup) {
    let f = setup.force(e, &setup.x, &setup.v);
    let size: f64 = f.iter().map(|f| f.length()).sum();
    assert!(f.iter().sum::<DVec3>().length() < 1e-13 * size, "{}: net force", e.name());
    let torque: DVec3 = setup.x.iter().zip(&f).map(|(x, f)| x.cross(*f)).sum();
    assert!(torque.length() < 1e-13 * size, "{}: net torque", e.name());
    let turn = rotation(DVec3::new(20.0, -50.0, 110.0));
    let turned = |p: &[DVec3], shift: DVec3| p.iter().map(|p| turn * *p + shift).collect::<Vec<_>>();
    let g = setup.force(e, &turned(&setup.x, DVec3::new(1.0, 2.0, 3.0)), &turned(&setup.v, DVec3::ZERO));
    for (f, g) in f.iter().zip(&g) {
        assert!((turn * *f - *g).length() < 1e-12 * size, "{}: does not turn with the body", e.name());
    }
}

#[test]
fn springs_obey_the_law() {
    // Grown by half, every spring is stretched and the exact derivative is used.
    let stretched = Setup::new(1.5);
    check_gradient(&Springs, &stretched);
    check_product(&Springs, &stretched, true, true);
    check_blocks(&Springs, &stretched);
    check_internal(&Springs, &stretched);
    // Shrunk, half of the exact Hessian is negative and left out: still positive semi-definite, forces still exact.
    let squeezed = Setup::new(0.7);
    check_gradient(&Springs, &squeezed);
    check_blocks(&Springs, &squeezed);
    check_internal(&Springs, &squeezed);
}

#[test]
fn bending_obeys_the_law() {
    let mut flat = Setup::new(1.0);
    flat.topology.bending = 0.02;
    flat.topology.rebuild_derived();
    check_gradient(&Bending, &flat);
    check_product(&Bending, &flat, true, false);
    check_blocks(&Bending, &flat);
    check_internal(&Bending, &flat);
    // A rest shape that is bent: the turn of the normal is in the force, and left out of the matrix.
    let mut curved = Setup::new(1.0);
    curved.topology.bending = 0.02;
    for p in &mut curved.topology.rest_positions {
        p.y += 0.8 * p.x * p.x - 0.5 * p.x * p.z;
    }
    curved.topology.rebuild_derived();
    check_gradient(&Bending, &curved);
    check_blocks(&Bending, &curved);
    check_internal(&Bending, &curved);
    // At rest, wherever it is and however it is turned, nothing pulls.
    let turn = rotation(DVec3::new(30.0, 70.0, -10.0));
    let moved: Vec<DVec3> = curved.topology.rest_positions.iter().map(|p| turn * *p + DVec3::X).collect();
    let still = vec![DVec3::ZERO; moved.len()];
    let bent = curved.force(&Bending, &curved.x, &still).iter().map(|f| f.length()).fold(0.0, f64::max);
    let largest = curved.force(&Bending, &moved, &still).iter().map(|f| f.length()).fold(0.0, f64::max);
    assert!(largest < 0.05 * bent, "{largest} of {bent}");
}

#[test]
fn sheets_that_keep_bends_obey_the_law() {
    let mut setup = Setup::new(1.0);
    setup.topology.bending = 0.02;
    setup.topology.creases = true;
    setup.topology.rebuild_derived();
    let of = Creasing::new(0.05, f64::INFINITY, &setup.topology);
    // Nothing kept is plain bending.
    let still = vec![DVec3::ZERO; setup.x.len()];
    let apart = |setup: &Setup| {
        let (one, other) = (setup.force(&of, &setup.x, &still), setup.force(&Bending, &setup.x, &still));
        one.iter().zip(other).map(|(a, b)| a.distance(b)).fold(0.0, f64::max)
    };
    assert_eq!(apart(&setup), 0.0);
    of.flow(&setup.topology.clone(), &setup.x, 0.01, {
        setup.plastic = vec![DMat3::ZERO; of.plastic_elements()];
        &mut setup.plastic
    });
    assert!(apart(&setup) > 0.0);
    check_gradient(&of, &setup);
    check_blocks(&of, &setup);
    check_internal(&of, &setup);
    // To flow takes energy away.
    let value = |plastic: &[DMat3]| of.value(&Configuration { plastic, ..setup.q(&setup.x, &setup.v) });
    assert!(value(&setup.plastic) < value(&[]));
}

#[test]
fn ropes_that_are_curved_at_rest_obey_the_law() {
    let body = Body {
        name: "hair".into(),
        shape: Shape::Strands(Strands { strands: 3, segments: 12, curl_radius: 0.02, ..Strands::default() }),
        density: Some(0.001),
        bending: Some(1e-3),
        springs: souple::scene::Springs {
            stretch: Family { modulus: Some(10.0), ..Family::default() },
            ..Default::default()
        },
        ..Body::default()
    };
    let model = ModelBuilder::new(&Scene { bodies: vec![body], ..Scene::default() }).build().unwrap();
    let mut setup = Setup::of(&model, 1.0);
    assert!(setup.topology.patches.iter().all(|p| p.rest[0] > 10.0));
    setup.x = shaken(&setup.topology.rest_positions, 1e-3, 3);
    check_gradient(&Bending, &setup);
    check_blocks(&Bending, &setup);
    check_internal(&Bending, &setup);
    let still = vec![DVec3::ZERO; setup.x.len()];
    let rest = setup.force(&Bending, &setup.topology.rest_positions, &still);
    assert!(rest.iter().all(|f| f.length() < 1e-9), "a curl at rest pulls nowhere");
}

#[test]
fn areas_obey_the_law() {
    let area = Area { stiffness: 30.0 };
    for size in [0.7, 1.0, 1.4] {
        let setup = Setup::new(size);
        check_gradient(&area, &setup);
        check_blocks(&area, &setup);
        check_internal(&area, &setup);
    }
    // Triangles of their rest area: what is left out of the matrix is 0 there, and it is exact.
    let mut setup = Setup::new(1.0);
    let turn = rotation(DVec3::new(30.0, 70.0, -10.0));
    setup.x = setup.topology.rest_positions.iter().map(|p| turn * *p + DVec3::X).collect();
    check_product(&area, &setup, true, false);
}

#[test]
fn pressure_and_volume_obey_the_law() {
    for size in [0.8, 1.3] {
        let mut setup = Setup::of(&ball(), size);
        let volume = enclosed_volume(&setup.x, &setup.topology.triangles);
        let gas = Volume { pressure: 700.0, bulk_modulus: 0.0, rest_volume: volume / 1.1 };
        let liquid = Volume { bulk_modulus: 4e4, ..gas };
        for inside in [gas, liquid] {
            check_gradient(&inside, &setup);
            check_blocks(&inside, &setup);
            check_internal(&inside, &setup);
        }
        // Where the pressure is 0, what is left out of the matrix is 0: there it is exact.
        let balanced = Volume { pressure: 4e4 * 0.1, ..liquid };
        assert!(balanced.pressure_at(volume).abs() < 1e-9);
        check_product(&balanced, &setup, true, false);
        // Open, it feels nothing.
        setup.topology.triangles.pop();
        setup.topology.rebuild_derived();
        assert!(setup.force(&liquid, &setup.x, &setup.v).iter().all(|f| *f == DVec3::ZERO));
        assert_eq!(liquid.value(&setup.q(&setup.x, &setup.v)), 0.0);
    }
}

#[test]
fn forces_on_single_particles_obey_the_law() {
    let setup = Setup::new(1.0);
    let pulls = Pulls { vertices: vec![1, 4], force: DVec3::new(0.0, 2.0, 1.0), from: 0.0, until: 1.0 };
    check_gradient(&Gravity { acceleration: DVec3::new(0.1, -9.81, 0.3) }, &setup);
    check_gradient(&pulls, &setup);
    check_gradient(&Grabs, &setup);
    check_product(&Grabs, &setup, true, true);
    check_blocks(&Grabs, &setup);
    check_product(&Dissipation { rate: 1.3 }, &setup, false, true);
    check_blocks(&Dissipation { rate: 1.3 }, &setup);
    check_product(&Viscous { coefficient: 0.4 }, &setup, false, true);
    check_blocks(&Viscous { coefficient: 0.4 }, &setup);
    // Lift and turning are left out of the derivative of the panel force: only its sign is promised.
    check_blocks(&Aerodynamics { drag: 1.1, lift: 0.6 }, &setup);
    check_blocks(&FanDrag::default(), &setup);
}

#[test]
fn a_fan_acts_where_it_blows_and_does_nothing_when_it_is_off() {
    let mut setup = Setup::new(1.0);
    let drag = FanDrag { drag: 1.1, lift: 0.6 };
    let total = |setup: &Setup| setup.force(&drag, &setup.x, &setup.v).iter().sum::<DVec3>();
    assert!(total(&setup).z > 0.0);
    // In the middle of a wide jet it is what the wind does.
    setup.control.fan = Some(Fan { origin: DVec3::Z * -1.0, direction: DVec3::Z, speed: 5.0, radius: 1e6 });
    setup.control.wind.velocity = [0.0, 0.0, 5.0];
    let fan = setup.force(&drag, &setup.x, &setup.v);
    setup.control.fan = None;
    let wind = setup.force(&Aerodynamics { drag: 1.1, lift: 0.6 }, &setup.x, &setup.v);
    let size = wind.iter().map(|f| f.length()).fold(0.0, f64::max);
    assert!(fan.iter().zip(&wind).all(|(a, b)| (*a - *b).length() < 1e-5 * size));
    // Off: no force, no elements, no product.
    assert!(setup.force(&drag, &setup.x, &setup.v).iter().all(|f| *f == DVec3::ZERO));
    let mut elements = vec![1.0; 7];
    drag.linearise(&setup.q(&setup.x, &setup.v), 1.0, 1.0, &mut elements);
    assert!(elements.is_empty());
}

#[test]
fn threads_add_up_to_the_same_bits() {
    let body = Body {
        name: "cloth".into(),
        shape: Shape::Grid(Grid { vertices: [160, 150], ..Grid::default() }),
        fabric: Some("cotton".into()),
        ..Body::default()
    };
    let model = ModelBuilder::new(&Scene { bodies: vec![body], ..Scene::default() }).build().unwrap();
    let topology = (*model.bodies[0].topology).clone();
    let (x, v) = (shaken(&topology.rest_positions, 0.01, 1), shaken(&topology.rest_positions, 0.5, 2));
    let control = Control::new(&model);
    let results: Vec<(Vec<DVec3>, Vec<DVec3>)> = [1, 2, 3, 8]
        .iter()
        .map(|&n| {
            let parallel = Parallel::new(n).unwrap();
            let q = Configuration {
                x: &x,
                v: &v,
                t: 0.0,
                body: 0,
                topology: &topology,
                plastic: &[],
                control: &control,
                parallel: &parallel,
            };
            let (mut f, mut p, mut elements) =
                (vec![DVec3::ONE; x.len()], vec![DVec3::ONE; x.len()], Vec::new());
            parallel.run(|| {
                Springs.add_force(&q, &mut f);
                Springs.linearise(&q, 1e-4, 1e-2, &mut elements);
                Springs.add_product(&q, &elements, Part::StiffnessAndDamping, &v, &mut p);
            });
            (f, p)
        })
        .collect();
    assert!(results.windows(2).all(|w| w[0] == w[1]));
}

#[test]
fn a_panel_feels_drag_along_the_flow_and_lift_across_it() {
    // A unit square (two triangles) facing the flow: ½ ρ C_D A w².
    let [a, b, c] = [DVec3::ZERO, DVec3::X, DVec3::Z];
    let wind = DVec3::new(0.0, 7.0, 0.0);
    let facing = panel_force(a, b, c, wind, 1.2, 1.5, 0.8);
    assert!((facing - DVec3::Y * (0.5 * 1.2 * 1.5 * 0.5 * 49.0)).length() < 1e-12);
    // The orientation of the triangle does not matter.
    assert!((panel_force(a, c, b, wind, 1.2, 1.5, 0.8) - facing).length() < 1e-12);
    // In the flow it feels nothing; tilted, lift is perpendicular to the flow and pushes to the lee side.
    assert!(panel_force(a, b, c, DVec3::X * 5.0, 1.2, 1.5, 0.8).length() < 1e-12);
    let tilted = panel_force(a, b, c, DVec3::new(5.0, 5.0, 0.0), 1.2, 0.0, 0.8);
    assert!(tilted.dot(DVec3::new(5.0, 5.0, 0.0)).abs() < 1e-12 && tilted.y > 0.0);
}

/// A small block of elements of a law, damped or not.
fn block((cut, law): (Cells, SolidLaw), beta: f64) -> Model {
    let body = Body {
        name: "block".into(),
        shape: Shape::Block(Block { size: [0.3, 0.2, 0.2], cells: [3, 2, 2], cut }),
        density: Some(1000.0),
        young_modulus: Some(3e3),
        poisson_ratio: Some(0.4),
        law: Some(law),
        rayleigh: Some(Rayleigh { mass: 0.0, stiffness: Some(beta) }),
        ..Body::default()
    };
    ModelBuilder::new(&Scene { bodies: vec![body], ..Scene::default() }).build().unwrap()
}

const SOLIDS: [(Cells, SolidLaw); 6] = [
    (Cells::Five, SolidLaw::Polar),
    (Cells::Five, SolidLaw::Qr),
    (Cells::Five, SolidLaw::NeoHookean),
    (Cells::Hexahedra, SolidLaw::Polar),
    (Cells::Hexahedra, SolidLaw::Qr),
    (Cells::PlainHexahedra, SolidLaw::Polar),
];

/// The energy of the elements of a model.
fn elements(model: &Model) -> &dyn Energy {
    let is_solid = |e: &dyn Energy| matches!(e.name(), "tetrahedra" | "hexahedra");
    model.bodies[0].energies.iter().map(|e| &**e).find(|e| is_solid(*e)).unwrap()
}

#[test]
fn elements_of_solids_obey_the_law() {
    for law in SOLIDS {
        let model = block(law, 0.0);
        let e = elements(&model);
        // Shaken, grown, squeezed to a third, and inside out, where the nearest rotation of a hexahedron may jump and its energy with it.
        let jumps = law.0 != Cells::Five && law.1 == SolidLaw::Polar;
        for size in [1.0, 1.4, 0.3, -0.8].into_iter().filter(|size| *size > 0.0 || !jumps) {
            let setup = Setup::of(&model, size);
            check_gradient(e, &setup);
            check_blocks(e, &setup);
            check_internal(e, &setup);
        }
        // At rest, wherever and however turned, nothing pulls, and the matrix is exact.
        let turn = rotation(DVec3::new(30.0, 70.0, -10.0));
        let mut setup = Setup::of(&model, 1.0);
        setup.x = setup.topology.rest_positions.iter().map(|p| turn * *p + DVec3::X).collect();
        let still = vec![DVec3::ZERO; setup.x.len()];
        let largest = setup.force(e, &setup.x, &still).iter().map(|f| f.length()).fold(0.0, f64::max);
        // E times the square of an edge is 30 N.
        assert!(largest < 1e-12 * 30.0, "{law:?}: {largest}");
        check_product(e, &setup, true, false);
    }
    // Stretched a little, nothing of the isotropic ones is left out.
    for law in [SolidLaw::Polar, SolidLaw::NeoHookean] {
        let model = block((Cells::Five, law), 0.0);
        let mut setup = Setup::of(&model, 1.0);
        let grown: Vec<DVec3> = setup.topology.rest_positions.iter().map(|p| *p * 1.05).collect();
        setup.x = shaken(&grown, 5e-4, 3);
        check_product(elements(&model), &setup, true, false);
    }
}

#[test]
fn damped_solids_rub_and_do_not_push() {
    for law in SOLIDS {
        let model = block(law, 0.02);
        let e = elements(&model);
        let setup = Setup::of(&model, 1.1);
        check_product(e, &setup, false, true);
        check_blocks(e, &setup);
        let still = vec![DVec3::ZERO; setup.x.len()];
        let (with, without) = (setup.force(e, &setup.x, &setup.v), setup.force(e, &setup.x, &still));
        let power: f64 = with.iter().zip(&without).zip(&setup.v).map(|((a, b), v)| (*a - *b).dot(*v)).sum();
        assert!(power < 0.0, "{law:?}: {power}");
        let rigid: Vec<DVec3> = setup
            .topology
            .rest_positions
            .iter()
            .map(|x| DVec3::new(1.0, 2.0, 3.0).cross(*x) + DVec3::Y)
            .collect();
        let turning = setup.force(e, &setup.topology.rest_positions, &rigid);
        assert!(turning.iter().all(|f| f.length() < 1e-12), "{law:?}: rigid motion is damped");
    }
}

#[test]
fn flat_and_pointlike_elements_have_finite_forces_and_matrices() {
    for law in SOLIDS {
        let model = block(law, 0.0);
        let e = elements(&model);
        let squash: [fn(DVec3) -> DVec3; 4] = [
            |p| DVec3::new(p.x, 0.0, p.z),
            |p| DVec3::new(p.x, 0.0, 0.0),
            |_| DVec3::ZERO,
            |p| DVec3::new(p.x, -p.y, p.z),
        ];
        for squash in squash {
            let mut setup = Setup::of(&model, 1.0);
            setup.x = setup.topology.rest_positions.iter().map(|p| squash(*p)).collect();
            let f = setup.force(e, &setup.x, &setup.v);
            assert!(f.iter().all(|f| f.is_finite()), "{law:?}");
            check_blocks(e, &setup);
        }
    }
}

/// A matrix of determinant 1 that is not the identity.
fn flowed(seed: u64) -> DMat3 {
    let numbers: [f64; 9] = std::array::from_fn(|k| 0.4 * (uniform(seed, k as u64) - 0.5));
    let m = DMat3::IDENTITY + DMat3::from_cols_array(&numbers);
    m * (1.0 / souple::math::cbrt(m.determinant()))
}

#[test]
fn elements_that_have_flowed_obey_the_law() {
    for law in SOLIDS {
        let model = block(law, 0.0);
        let e = elements(&model);
        let count = model.bodies[0].topology.tetrahedra.len() + model.bodies[0].topology.hexahedra.len();
        for size in [1.0, 1.4, 0.6] {
            let mut setup = Setup::of(&model, size);
            setup.plastic = (0..count as u64).map(flowed).collect();
            check_gradient(e, &setup);
            check_blocks(e, &setup);
            check_internal(e, &setup);
        }
        // All of it has flowed to the same shape: there nothing pulls, wherever and however turned, and the matrix is exact.
        let (turn, shape) = (rotation(DVec3::new(30.0, 70.0, -10.0)), flowed(7));
        let mut setup = Setup::of(&model, 1.0);
        setup.plastic = vec![shape; count];
        setup.x = setup.topology.rest_positions.iter().map(|p| turn * (shape * *p) + DVec3::X).collect();
        let still = vec![DVec3::ZERO; setup.x.len()];
        let largest = setup.force(e, &setup.x, &still).iter().map(|f| f.length()).fold(0.0, f64::max);
        assert!(largest < 1e-12 * 30.0, "{law:?}: {largest}");
        check_product(e, &setup, true, false);
        // Turning it costs nothing.
        let model = block(law, 0.02);
        let rigid: Vec<DVec3> = setup.x.iter().map(|x| DVec3::new(1.0, 2.0, 3.0).cross(*x)).collect();
        let rubbed = setup.force(elements(&model), &setup.x, &rigid);
        assert!(rubbed.iter().all(|f| f.length() < 1e-11), "{law:?}: rigid motion is damped");
    }
}

/// Blocks of shape matching are of the diagonal alone: the rest of its matrix is in the product.
fn check_positive(e: &dyn Energy, setup: &Setup) {
    let q = setup.q(&setup.x, &setup.v);
    let mut elements = Vec::new();
    e.linearise(&q, 0.7, 0.2, &mut elements);
    for seed in 0..20 {
        let d = shaken(&vec![DVec3::ZERO; setup.x.len()], 1.0, 100 + seed);
        let other = shaken(&vec![DVec3::ZERO; setup.x.len()], 1.0, 200 + seed);
        let product = |d: &[DVec3]| {
            let mut product = vec![DVec3::ZERO; d.len()];
            e.add_product(&q, &elements, Part::StiffnessAndDamping, d, &mut product);
            product
        };
        assert!(dot(&d, &product(&d)) >= 0.0);
        let (ab, ba) = (dot(&other, &product(&d)), dot(&d, &product(&other)));
        assert!((ab - ba).abs() < 1e-12 * dot(&d, &product(&d)), "not symmetric: {ab} {ba}");
    }
}

#[test]
fn shape_matching_obeys_the_law() {
    let model = block((Cells::Five, SolidLaw::Polar), 0.0);
    let topology = &model.bodies[0].topology;
    for linear in [0.0, 0.3, 0.9] {
        let e = ShapeMatching::new(400.0, linear, &topology.rest_positions, &topology.masses).unwrap();
        for size in [1.0, 1.4, 0.6] {
            let setup = Setup::of(&model, size);
            check_gradient(&e, &setup);
            check_positive(&e, &setup);
            check_internal(&e, &setup);
        }
        // Grown, the matrix is exact: the turn of the goals is that of the larger inertia.
        let mut setup = Setup::of(&model, 1.0);
        let grown: Vec<DVec3> = topology.rest_positions.iter().map(|p| *p * 1.3).collect();
        setup.x = shaken(&grown, 5e-4, 3);
        check_product(&e, &setup, true, false);
    }
    // A flat body has a best rotation, but no best linear map; a line has neither.
    let flat: Vec<DVec3> = topology.rest_positions.iter().map(|p| DVec3::new(p.x, 0.0, p.z)).collect();
    let line: Vec<DVec3> = topology.rest_positions.iter().map(|p| DVec3::new(p.x, 0.0, 0.0)).collect();
    assert!(ShapeMatching::new(1.0, 0.0, &flat, &topology.masses).is_some());
    assert!(ShapeMatching::new(1.0, 0.5, &flat, &topology.masses).is_none());
    assert!(ShapeMatching::new(1.0, 0.0, &line, &topology.masses).is_none());
}

#[test]
fn links_of_points_obey_the_law() {
    let setup = Setup::new(1.2);
    let mean =
        |first: u32, weights: [f64; 4]| End::mean(std::array::from_fn(|k| (first + k as u32, weights[k])));
    let (from, to) = (mean(3, [0.4, 0.8, -0.5, 0.3]), mean(14, [0.25; 4]));
    let joint = Link { from, to, rest_length: 0.0, stiffness: 30.0, damping: 0.4 };
    let rod = Link { to: End::particle(9), rest_length: 0.02, ..joint };
    let anchor = Link { to: End::world(DVec3::new(0.1, 0.2, 0.3)), ..joint };
    for link in [joint, rod] {
        let links = Links { links: vec![link] };
        check_gradient(&links, &setup);
        check_product(&links, &setup, true, true);
        check_blocks(&links, &setup);
        // Damping acts against any motion of the ends to each other, also across: it leaves a torque where they are apart.
        check_internal(&Links { links: vec![Link { damping: 0.0, ..link }] }, &setup);
    }
    let links = Links { links: vec![anchor] };
    check_gradient(&links, &setup);
    check_product(&links, &setup, true, true);
    check_blocks(&links, &setup);
}
