//! A cloth torn in half under load does not explode: energy never exceeds that of the start, mass is conserved, both
//! halves fall free. (The seeds deleted springs, left the mesh as it was, and blew up: GRI-08, GRI-09.)

use souple::mesh::{mesh_edges, neighbours};
use souple::scene::*;
use souple::{Command, ModelBuilder, Simulation};

/// Number of connected pieces of the surface with more than `least` particles.
fn pieces(s: &Simulation, least: usize) -> usize {
    let topology = &s.state().bodies[0].topology;
    let rows = neighbours(topology.len(), &mesh_edges(&topology.triangles, &topology.segments));
    let mut seen = vec![false; topology.len()];
    let mut count = 0;
    for start in 0..topology.len() {
        let mut stack = vec![start as u32];
        let mut size = 0;
        while let Some(v) = stack.pop() {
            if !std::mem::replace(&mut seen[v as usize], true) {
                size += 1;
                stack.extend(rows.row(v as usize));
            }
        }
        count += usize::from(size > least);
    }
    count
}

#[test]
fn torn_in_half_under_load_it_does_not_explode() {
    for (solver, dt) in [(SolverKind::ImplicitEulerCg, 2e-3), (SolverKind::SymplecticEuler, 2e-4)] {
        let body = Body {
            name: "banner".into(),
            shape: Shape::Grid(Grid { vertices: [21, 21], plane: GridPlane::Xy, ..Grid::default() }),
            // Its own weight, dropped at once on springs at rest, is twice what they bear.
            density: Some(6.0),
            springs: Springs {
                stretch: Family { modulus: Some(200.0), ..Family::default() },
                shear: Family { modulus: Some(40.0), ..Family::default() },
                bend: Family { modulus: Some(1.0), ..Family::default() },
                ..Springs::default()
            },
            rayleigh: Some(Rayleigh { mass: 0.0, stiffness: Some(5e-4) }),
            tear: Some(Tear { length_ratio: Some(1.25), ..Tear::default() }),
            pins: vec![Pin { name: "top".into(), select: Select::Border(Border::V0), ..Pin::default() }],
            ..Body::default()
        };
        let scene = Scene {
            groups: vec![Group { solver, dt: Some(dt), ..Group::default() }],
            bodies: vec![body],
            ..Scene::default()
        };
        let mut s = Simulation::new(ModelBuilder::new(&scene).build().unwrap());
        let start = s.measures();
        // Symplectic Euler's energy wavers by a part of the elastic energy: a fiftieth of the fall covers ω h < 0.2.
        let allowed = start.total_energy() + 0.02 * start.mass * 9.81;
        for frame in 0..60 {
            s.step();
            let now = s.measures();
            assert!(s.warnings().is_empty(), "{solver:?}: {}", s.warnings()[0]);
            assert!(now.total_energy() <= allowed, "{solver:?}, frame {frame}: {now:?} against {allowed}");
            assert!((now.mass - start.mass).abs() <= 1e-12 * start.mass);
        }
        assert!(s.state().bodies[0].topology.version > 0, "{solver:?}: it must tear");
        assert_eq!(pieces(&s, 15), 2, "{solver:?}: in two pieces, but for scraps");
        // Triangles keep their number, and so the sheet its rest area.
        assert_eq!(s.state().bodies[0].topology.triangles.len(), 2 * 20 * 20);

        // Let go of the upper half too: all of it falls free.
        let pinned: Vec<u32> = s.state().bodies[0].pinned.iter().map(|p| p.vertex).collect();
        for vertex in pinned {
            s.command(Command::Free { body: "banner".into(), vertex }).unwrap();
        }
        s.step();
        let (before, h) = (s.measures(), s.model().frame_dt());
        for _ in 0..10 {
            s.step();
        }
        let gained = (s.measures().momentum - before.momentum) / before.mass;
        assert!((gained.y + 9.81 * 10.0 * h).abs() < 1e-9 && gained.x.abs() < 1e-9, "{solver:?}: {gained}");
    }
}
