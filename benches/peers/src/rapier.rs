//! rapier3d 0.36: a soft body of the same particles, masses and edges, without bending; or the sheet that rapier itself
//! makes of these particles, with both diagonals of every cell and springs that resist bending.
//!
//! rapier takes a frequency for the stiffness of edges; one far above that of the substeps is as good as rigid. What this
//! scene has no use for is off: sleep; where nothing is touched also colliders and substeps that are added on impact.
//!
//! In the pile its triangles are a collider that meets itself, with half of the distance that layers keep as its skin
//! (rapier adds those of both sides), and all that rapier does against tangles is as rapier has it.

use rapier3d::prelude::*;

use crate::cloth::{Cloth, DISSIPATION, FPS};
use crate::peer::Peer;

/// How rapier solves.
#[derive(Clone, Copy)]
pub enum Method {
    /// Edges as constraints, visited that often in each substep: once, as Souple does, or 4 times, as rapier does unless
    /// told otherwise.
    Sweeps(usize),
    /// The implicit solver: conjugate gradients for the whole body.
    Fem,
}

impl Method {
    /// Natural frequency of edges, Hz, with a damping ratio of 1.
    fn frequency(self) -> f32 {
        match self {
            // That of rapier's own joints: rigid.
            Method::Sweeps(_) => 1e6,
            // As in rapier's own cloth with this solver. At 300 Hz the cloth stretches more, from 1,000 Hz on it flies
            // apart: 20 iterations do not solve so stiff a system.
            Method::Fem => 100.0,
        }
    }
}

/// What holds the particles together.
#[derive(Clone, Copy, PartialEq)]
pub enum Edges {
    /// The edges of the triangles, as with Souple: 3 per vertex.
    Triangles,
    /// Those of rapier's own sheet: 4 per vertex, and 2 that resist bending, as soft as rapier has them.
    Sheet,
}

struct Rapier {
    world: PhysicsWorld,
    cloth: SoftBodyHandle,
    substeps: u32,
}

/// A world with the cloth.
pub fn make(cloth: &Cloth, substeps: u32, method: Method, edges: Edges) -> Box<dyn Peer> {
    let single = |x: &[f64; 3]| Vector::from(x.map(|c| c as f32));
    let (solver, sweeps) = match method {
        Method::Sweeps(sweeps) => (SoftBodySolver::Constraints, sweeps),
        Method::Fem => (SoftBodySolver::Fem, 1),
    };
    let cell = 1.0 / (cloth.n - 1) as f32;
    let body = match edges {
        Edges::Triangles => SoftBodyBuilder::new(cloth.positions.iter().map(single).collect())
            .edges(cloth.edges.clone())
            .surface(cloth.triangles.clone()),
        Edges::Sheet => {
            SoftBodyBuilder::cloth(Vector::ZERO, Vector::Z * cell, Vector::X * cell, cloth.n, cloth.n)
                .positions(cloth.positions.iter().map(single).collect())
        }
    };
    let material = SoftBodyMaterial {
        edge_softness: SpringCoefficients::new(method.frequency(), 1.0),
        ..SoftBodyMaterial::default()
    };
    let body = body
        .masses(cloth.masses.iter().map(|m| *m as f32).collect())
        .pinned_particles(cloth.pinned.iter().copied())
        .material(material)
        .linear_damping(DISSIPATION as f32)
        .additional_pgs_iterations(sweeps - 1)
        .solver(solver)
        .can_sleep(false);
    let mut world = PhysicsWorld::new();
    world.integration_parameters.dt = (1.0 / FPS) as f32;
    world.integration_parameters.num_solver_iterations = substeps as usize;
    let body = match cloth.contact {
        None => {
            world.integration_parameters.soft_bodies.max_extra_substeps = 0;
            body.no_surface_collider()
        }
        Some(contact) => {
            let half = 0.5 * contact.skin as f32;
            let floor = ColliderBuilder::new(SharedShape::halfspace(Vector::Y))
                .friction(contact.floor_friction as f32)
                // Else the mean of cloth and floor.
                .friction_combine_rule(CoefficientCombineRule::Max)
                .contact_skin(half);
            world.insert_collider(floor, None);
            // The shape is that of the surface.
            let surface = ColliderBuilder::ball(half).friction(contact.friction as f32);
            body.surface_collider(surface).particle_radius(half).self_contacts(true)
        }
    };
    let cloth = world.insert_soft_body(body);
    Box::new(Rapier { world, cloth, substeps })
}

impl Peer for Rapier {
    fn substeps(&self) -> u32 {
        self.substeps
    }

    fn step(&mut self) {
        self.world.step();
    }

    fn positions(&self) -> Vec<[f64; 3]> {
        self.world.soft_bodies[self.cloth].particle_positions().map(|x| x.to_array().map(f64::from)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both are the cloth of everyone; it falls where it is not held and stays where it is.
    #[test]
    fn the_cloth_falls_and_its_corners_stay() {
        let cloth = Cloth::hanging(8);
        for edges in [Edges::Triangles, Edges::Sheet] {
            let mut peer = make(&cloth, 20, Method::Sweeps(4), edges);
            for (a, b) in peer.positions().iter().zip(&cloth.positions) {
                assert!((0..3).all(|c| (a[c] - b[c]).abs() < 1e-6), "{a:?} {b:?}");
            }
            (0..30).for_each(|_| peer.step());
            let positions = peer.positions();
            assert_eq!(positions.len(), cloth.positions.len());
            for v in cloth.pinned.iter().map(|v| *v as usize) {
                assert!((0..3).all(|c| (positions[v][c] - cloth.positions[v][c]).abs() < 1e-6));
            }
            let quality = cloth.measure(&positions);
            assert!(quality.lowest_m < -0.3 && quality.stretch_mean_percent < 1.0, "{quality:?}");
        }
    }

    /// It comes to lie on the floor, at the distance of the skin; without contact it would have fallen by metres.
    #[test]
    fn the_pile_stops_at_the_floor() {
        let cloth = Cloth::pile(12);
        let mut peer = make(&cloth, 20, Method::Sweeps(4), Edges::Sheet);
        (0..120).for_each(|_| peer.step());
        let lowest = cloth.measure(&peer.positions()).lowest_m;
        let skin = cloth.contact.unwrap().skin;
        assert!(lowest > -skin && lowest < 2.0 * skin, "{lowest} m, skin {skin} m");
    }
}
