//! Stress and strain of solids: one number per particle, for colour maps (FAU-04, FAU-20).
//!
//! Elements tell what their corners feel ([`Energy::visit_felt`](crate::energy::Energy::visit_felt)): tetrahedra one strain and one stress for all four,
//! hexahedra those of each corner, with the bending inside the cell, or those of the middle of what is filled where some of the cell is empty. A particle has the mean of its elements by volume; a
//! follower, such as a vertex of a surface in cells, what its parents have, by its weights. Means are taken of tensors in
//! the directions of the world and only then made numbers: where a beam is pulled on one side and pressed on the other
//! there is nothing in the middle, which a mean of numbers would not show.
//!
//! Stress is force per area at rest (Biot's): for the corotational laws it is Hooke's of the strain, at any size of it, and it is finite for elements that
//! are flat or inside out, which force per area of now is not. At small strain both are the same. What damping adds is not in it. Of a body that has given way for
//! good ([`plastic`](mod@crate::energy)) stress is that of what is elastic, by the shape it has flowed to; strain is that of the whole.
//! Rigid bodies, surfaces and ropes feel nothing here: zeros.

use glam::{DMat3, DVec3};

use crate::energy::Felt;
use crate::math::{Svd, inner, svd};
use crate::mesh::Topology;
use crate::model::BodyModel;

/// Stress at each particle, Pa, by von Mises: √(3/2 s:s), s what of it is not pressure from all sides. A bar that is pulled has its
/// tension. Metals yield at a certain one.
/// What elements have flowed to, `plastic`, is no stress: a bar that is drawn until it gives way has its yield stress.
pub fn vertex_stress(
    body: &BodyModel,
    topology: &Topology,
    x: &[DVec3],
    plastic: &[DMat3],
    out: &mut Vec<f64>,
) {
    fill(body, topology, x, plastic, |felt| felt.stress, von_mises, out);
}

/// Strain of a solid at each particle: of its three principal strains the one that is farthest from 0, with its sign. 0.1 is stretched by
/// a tenth, −0.1 squeezed. It is that of the whole deformation, with what has flowed.
pub fn vertex_solid_strain(body: &BodyModel, topology: &Topology, x: &[DVec3], out: &mut Vec<f64>) {
    fill(body, topology, x, &[], |felt| felt.strain, principal, out);
}

fn fill(
    body: &BodyModel,
    topology: &Topology,
    x: &[DVec3],
    plastic: &[DMat3],
    tensor: fn(&Felt) -> DMat3,
    number: fn(DMat3) -> f64,
    out: &mut Vec<f64>,
) {
    out.clear();
    out.resize(x.len(), 0.0);
    if body.rigid.is_some() || !topology.is_solid() || x.len() != topology.len() {
        return;
    }
    let mut sums = vec![(0.0, DMat3::ZERO); x.len()];
    for energy in &body.energies {
        energy.visit_felt(topology, x, plastic, &mut |particle, felt| {
            let (volume, sum) = &mut sums[particle as usize];
            *volume += felt.volume;
            *sum += tensor(felt) * felt.volume;
        });
    }
    let mean = |particle: u32| {
        let (volume, sum) = sums[particle as usize];
        if volume > 0.0 { sum * (1.0 / volume) } else { DMat3::ZERO }
    };
    let mapping = &topology.mapping;
    for (particle, value) in (0u32..).zip(out.iter_mut()) {
        let here = mapping.parents(particle).fold(DMat3::ZERO, |sum, (p, w)| sum + mean(p) * w);
        *value = number(here);
    }
}

fn von_mises(stress: DMat3) -> f64 {
    let pressure = (stress.x_axis.x + stress.y_axis.y + stress.z_axis.z) / 3.0;
    let s = stress - DMat3::from_diagonal(DVec3::splat(pressure));
    (1.5 * inner(s, s)).sqrt()
}

/// The eigenvalue of a symmetric matrix that is farthest from 0.
fn principal(strain: DMat3) -> f64 {
    // Singular values are eigenvalues but for signs, which the frames on both sides tell.
    let Svd { u, sigma, v } = svd(strain);
    let values = [0, 1, 2].map(|k| sigma[k] * u.col(k).dot(v.col(k)));
    values.into_iter().fold(0.0, |most: f64, value| if value.abs() > most.abs() { value } else { most })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelBuilder;
    use crate::math::rotation;
    use crate::scene::{Ball, Block, Body, Cells, Embed, Plasticity, Scene, Shape, SolidLaw};

    const YOUNG: f64 = 2e4;
    const POISSON: f64 = 0.3;

    fn model(shape: Shape, embed: Option<Embed>, law: SolidLaw, rigid: bool) -> BodyModel {
        let solid = !rigid;
        let body = Body {
            shape,
            embed,
            rigid,
            law: solid.then_some(law),
            density: Some(1000.0),
            young_modulus: solid.then_some(YOUNG),
            poisson_ratio: solid.then_some(POISSON),
            ..Body::default()
        };
        let scene = Scene { bodies: vec![body], ..Scene::default() };
        ModelBuilder::new(&scene).build().unwrap().bodies.remove(0)
    }

    fn block(cut: Cells, law: SolidLaw) -> BodyModel {
        model(Shape::Block(Block { size: [0.6, 0.2, 0.3], cells: [6, 2, 3], cut }), None, law, false)
    }

    fn ball(cut: Cells, law: SolidLaw) -> BodyModel {
        let embed = Embed { cell: 0.2, cut, ..Embed::default() };
        model(Shape::Ball(Ball { radius: 0.5, subdivisions: 2 }), Some(embed), law, false)
    }

    /// Blocks and embedded balls of every element and law.
    fn bodies() -> Vec<(String, BodyModel)> {
        use SolidLaw::{NeoHookean, Polar, Qr};
        let kinds = [Cells::Hexahedra, Cells::PlainHexahedra].map(|cut| (cut, vec![Polar, Qr]));
        let cut = [Cells::Five, Cells::Six].map(|cut| (cut, vec![Polar, Qr, NeoHookean]));
        let all =
            kinds.into_iter().chain(cut).flat_map(|(cut, laws)| laws.into_iter().map(move |l| (cut, l)));
        all.flat_map(|(cut, law)| {
            [("block", block(cut, law)), ("ball", ball(cut, law))]
                .map(|(shape, body)| (format!("{shape} of {cut:?}, {law:?}"), body))
        })
        .collect()
    }

    fn deformed(body: &BodyModel, place: impl Fn(DVec3) -> DVec3) -> Vec<DVec3> {
        body.topology.rest_positions.iter().map(|p| place(*p)).collect()
    }

    fn fields(body: &BodyModel, x: &[DVec3]) -> [Vec<f64>; 2] {
        let (mut stress, mut strain) = (vec![3.0], Vec::new());
        vertex_stress(body, &body.topology, x, &[], &mut stress);
        vertex_solid_strain(body, &body.topology, x, &mut strain);
        assert_eq!((stress.len(), strain.len()), (x.len(), x.len()));
        [stress, strain]
    }

    #[test]
    fn rigid_motion_is_not_felt() {
        let turn = rotation(DVec3::new(40.0, 170.0, -60.0));
        for (name, body) in bodies() {
            let x = deformed(&body, |p| turn * p + DVec3::new(3.0, -2.0, 1.0));
            let [stress, strain] = fields(&body, &x);
            assert!(strain.iter().all(|e| e.abs() < 1e-13), "{name}");
            assert!(stress.iter().all(|s| s.abs() < 1e-13 * 10.0 * YOUNG), "{name}");
        }
    }

    #[test]
    fn uniform_traction_is_young_times_strain_everywhere() {
        let turn = rotation(DVec3::new(20.0, 50.0, 130.0));
        for (name, body) in bodies() {
            // Neo-Hookean is Hooke's law at small strain only, to the order of its square.
            let is_linear = !name.contains("NeoHookean");
            for strain in if is_linear { vec![0.2, -0.1] } else { vec![1e-5, -1e-5] } {
                let across = 1.0 - POISSON * strain;
                let pulled = DVec3::new(1.0 + strain, across, across);
                let [stress, strains] = fields(&body, &deformed(&body, |p| turn * (pulled * p)));
                let tolerance = if is_linear { 1e-11 } else { 1e-4 };
                for (s, e) in stress.iter().zip(&strains) {
                    assert!((s / (YOUNG * strain.abs()) - 1.0).abs() < tolerance, "{name}: {s} Pa");
                    assert!((e / strain - 1.0).abs() < 1e-9, "{name}: {e}");
                }
            }
        }
    }

    #[test]
    fn pressure_from_all_sides_is_strain_but_no_stress_by_von_mises() {
        let body = block(Cells::Hexahedra, SolidLaw::Polar);
        let [stress, strain] = fields(&body, &deformed(&body, |p| p * 0.95));
        assert!(stress.iter().all(|s| *s < 1e-10 * YOUNG));
        assert!(strain.iter().all(|e| (e + 0.05).abs() < 1e-12));
    }

    #[test]
    fn a_bent_block_is_pulled_above_pressed_below_and_still_in_the_middle() {
        // ε = κ y along x, u as in the test of cells; small, so that nothing turns by much.
        let kappa = 1e-4;
        let bent = |p: DVec3| {
            let c = p - DVec3::new(0.3, 0.1, 0.15);
            let y = -0.5 * (c.x * c.x + POISSON * (c.y * c.y - c.z * c.z));
            p + DVec3::new(c.x * c.y, y, -POISSON * c.y * c.z) * kappa
        };
        let body = block(Cells::Hexahedra, SolidLaw::Polar);
        let [stress, strain] = fields(&body, &deformed(&body, bent));
        for ((p, s), e) in body.topology.rest_positions.iter().zip(&stress).zip(&strain) {
            let exact = kappa * (p.y - 0.1);
            // What turns is of second order: κ times the length.
            assert!((e - exact).abs() < 1e-4 * kappa, "{e} instead of {exact} at {p}");
            assert!((s - YOUNG * exact.abs()).abs() < 1e-4 * YOUNG * kappa, "{s} at {p}");
        }
    }

    #[test]
    fn flat_and_inverted_elements_have_finite_numbers_and_rigid_bodies_none() {
        for (name, body) in bodies() {
            for squeeze in [0.0, -1.0] {
                let x = deformed(&body, |p| DVec3::new(p.x, p.y * squeeze, p.z));
                assert!(fields(&body, &x).iter().flatten().all(|v| v.is_finite()), "{name}");
            }
        }
        let rigid = model(Shape::Ball(Ball::default()), None, SolidLaw::Polar, true);
        let [stress, strain] = fields(&rigid, &deformed(&rigid, |p| p * 2.0));
        assert!(stress.iter().chain(&strain).all(|v| *v == 0.0));
    }

    #[test]
    fn a_bar_drawn_until_it_gives_way_has_its_yield_stress() {
        let yield_stress = 500.0;
        let turn = rotation(DVec3::new(20.0, 50.0, 130.0));
        for (cut, law) in [
            (Cells::Hexahedra, SolidLaw::Polar),
            (Cells::Hexahedra, SolidLaw::Qr),
            (Cells::Five, SolidLaw::Polar),
            (Cells::Five, SolidLaw::Qr),
        ] {
            let body = Body {
                shape: Shape::Block(Block { size: [0.6, 0.2, 0.3], cells: [6, 2, 3], cut }),
                law: Some(law),
                density: Some(1000.0),
                young_modulus: Some(YOUNG),
                poisson_ratio: Some(POISSON),
                plasticity: Some(Plasticity { yield_stress, creep: None, max_strain: 1.0 }),
                ..Body::default()
            };
            let scene = Scene { bodies: vec![body], ..Scene::default() };
            let body = ModelBuilder::new(&scene).build().unwrap().bodies.remove(0);
            let count = body.energies.iter().map(|e| e.plastic_elements()).sum();
            let mut plastic = vec![DMat3::IDENTITY; count];
            let stress = |x: &[DVec3], plastic: &[DMat3]| {
                let mut out = Vec::new();
                vertex_stress(&body, &body.topology, x, plastic, &mut out);
                out
            };
            // Drawn by a tenth, four times as far as it yields at, without a change of volume.
            let strain = 0.1;
            let drawn = DVec3::new(1.0 + strain, 1.0 - 0.5 * strain, 1.0 - 0.5 * strain);
            let x = deformed(&body, |p| turn * (drawn * p));
            // Without plastic flow: 3 μ times the strain.
            let elastic = 3.0 * YOUNG / (2.0 * (1.0 + POISSON)) * strain;
            assert!(stress(&x, &plastic).iter().all(|s| (s / elastic - 1.0).abs() < 1e-9));
            for energy in &body.energies {
                energy.flow(&body.topology, &x, 0.01, &mut plastic);
            }
            for s in stress(&x, &plastic) {
                assert!((s / yield_stress - 1.0).abs() < 1e-9, "{cut:?} {law:?}: {s} Pa");
            }
            // Strain is still what is seen.
            let mut strains = Vec::new();
            vertex_solid_strain(&body, &body.topology, &x, &mut strains);
            assert!(strains.iter().all(|e| (e / strain - 1.0).abs() < 1e-9), "{cut:?} {law:?}");
        }
    }
}
