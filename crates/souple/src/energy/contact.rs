//! Contacts as springs and brakes inside an implicit system (FAU-45), predicted before the step (FAU-44).
//!
//! A contact is told by up to four particles with weights, whose weighted sum along a fixed direction is the gap g. It pushes by its
//! depth δ = d − g, where d is the distance that is kept, with the law
//!
//!   f(δ) = k δ / (1 − δ/d)  for 0 < δ,
//!
//! which grows beyond all bounds as the gap closes, so that a light skin carries whatever lies on it, and is a plain spring for what is light. It
//! rubs with Coulomb's force: a brake −c u on the sliding velocity u on top of a force λ, which holds both sides together, and no more than
//! Coulomb's law allows for the push that was found last, μ f:
//!
//!   r(u) = the nearest to λ − c u that is no longer than μ f.
//!
//! Both are derivatives of convex functions, of the depth and of the sliding velocity, so that a step with contacts is a convex
//! problem with one answer as long as μ f and λ stand.
//!
//! Both are linear inside one solve: f by its tangent at a depth a, with the fixed direction n, so that the derivative is f′(a) w wᵀ ⊗ n nᵀ;
//! r by a force and a brake, g w wᵀ ⊗ (1 − n nᵀ). Both are positive semi-definite: the system stays positive definite whatever touches. Who solves the
//! step goes as far towards what came out as the laws themselves say, moves a, λ, μ f and the list itself to where that is, and solves again
//! (`contact/held.rs`): Newton's method with a search along the line for the push, the method of multipliers for friction. So what sticks does not creep,
//! and friction is part of the same balance of forces as elasticity, which it cannot upset.

use glam::{DMat3, DVec3};

use super::{Configuration, Energy, PairBlock, Part, outer};
use crate::mapping::Mapping;

/// From this share of the distance on the law goes on as its tangent.
const STEEPEST: f64 = 0.9;

/// A contact of particles of one system with each other, or with something that is led.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactSpring {
    /// Particles, and what each counts in the gap.
    pub particles: [(u32, f64); 4],
    /// Direction of the gap, of length 1.
    pub normal: DVec3,
    /// Where the gap is counted from along the normal, m: 0 where both sides are among the particles.
    pub offset: f64,
    /// Distance that is kept, d, m.
    pub distance: f64,
    /// k, N/m.
    pub stiffness: f64,
    /// Coulomb friction coefficient, μ.
    pub friction: f64,
    /// Velocity of what it touches, m/s; 0 where both sides are among the particles.
    pub drift: DVec3,
    /// The most that friction can be, μ f, N.
    pub most: f64,
    /// What friction holds with where nothing slides, λ, N, along the surface.
    pub multiplier: DVec3,
    /// How strongly it brakes what slides, c, N·s/m, up to its most.
    pub firm: f64,
    /// The depth a where the law of the push is replaced by its tangent, m; it is open, and does nothing, if that is not more than 0.
    pub at: f64,
    /// The force that friction is replaced by at no sliding, N, along the surface,
    pub held: DVec3,
    /// and its brake g, N·s/m.
    pub grip: f64,
}

impl ContactSpring {
    /// How far both sides are nearer than they should be, δ, m.
    pub fn depth(&self, x: &[DVec3]) -> f64 {
        let own: DVec3 = self.particles.iter().map(|(v, w)| x[*v as usize] * *w).sum();
        self.distance - (self.normal.dot(own) - self.offset)
    }

    /// How fast both sides slide along each other, u, m/s.
    pub fn slip(&self, v: &[DVec3]) -> DVec3 {
        let own: DVec3 = self.particles.iter().map(|(i, w)| v[*i as usize] * *w).sum();
        (own - self.drift).reject_from_normalized(self.normal)
    }

    /// The push f(δ), N, and its derivative, N/m.
    pub fn push(&self, depth: f64) -> (f64, f64) {
        let law = |s: f64| (s / (1.0 - s), 1.0 / ((1.0 - s) * (1.0 - s)));
        let s = depth / self.distance;
        let (value, slope) = law(s.clamp(0.0, STEEPEST));
        // Nothing pulls; beyond the steepest the tangent goes on.
        let value = value + slope * (s - STEEPEST).max(0.0);
        (self.stiffness * self.distance * value, self.stiffness * slope)
    }

    /// The friction r(u), N.
    pub fn friction_force(&self, slip: DVec3) -> DVec3 {
        (self.multiplier - slip * self.firm).clamp_length_max(self.most)
    }

    /// Whether it does anything inside one solve.
    pub fn is_closed(&self) -> bool {
        self.at > 0.0
    }

    /// What it pushes with at a depth inside one solve: the tangent of the law, N.
    pub fn linear_push(&self, depth: f64) -> f64 {
        let (push, slope) = self.tangent();
        push + slope * (depth - self.at)
    }

    /// The push where the tangent is taken, N, and its slope, N/m.
    fn tangent(&self) -> (f64, f64) {
        if self.is_closed() { self.push(self.at) } else { (0.0, 0.0) }
    }

    /// −hx ∂f/∂x and −hv ∂f/∂v of the gap, in one block.
    fn block(&self, [push, rub]: &[f64; 2]) -> DMat3 {
        let along = outer(self.normal);
        along * *push + (DMat3::IDENTITY - along) * *rub
    }
}

/// The contacts of a system in one solve.
#[derive(Clone, Debug, Default)]
pub struct ContactSprings {
    /// In an order that depends on the contacts only.
    pub springs: Vec<ContactSpring>,
    /// What moves the gap of each: independent particles, and what each counts, one list after the other.
    rows: Vec<(u32, f64)>,
    /// Where each list ends.
    ends: Vec<u32>,
}

impl ContactSprings {
    /// Of particles that may follow others: what acts on them acts on what they follow. Call it when the list has changed.
    pub fn lay_out(&mut self, mapping: &Mapping) {
        let done = self.ends.len().min(self.springs.len());
        self.ends.truncate(done);
        self.rows.truncate(self.ends.last().map_or(0, |end| *end as usize));
        for spring in &self.springs[done..] {
            let begin = self.rows.len();
            for (v, weight) in spring.particles.iter().filter(|(_, w)| *w != 0.0) {
                self.rows.extend(mapping.parents(*v).map(|(parent, w)| (parent, w * weight)));
            }
            // Sides that follow the same particles are one list of these.
            self.rows[begin..].sort_unstable_by_key(|(parent, _)| *parent);
            let mut last = begin;
            for k in begin + 1..self.rows.len() {
                if self.rows[k].0 == self.rows[last].0 {
                    self.rows[last].1 += self.rows[k].1;
                } else {
                    last += 1;
                    self.rows[last] = self.rows[k];
                }
            }
            self.rows.truncate(self.rows.len().min(last + 1));
            self.ends.push(self.rows.len() as u32);
        }
    }

    /// Puts another contact in the place of one.
    pub fn replace(&mut self, k: usize, spring: ContactSpring) {
        self.springs[k] = spring;
        self.ends.truncate(k);
    }

    /// Forgets all contacts.
    pub fn clear(&mut self) {
        self.springs.clear();
        self.rows.clear();
        self.ends.clear();
    }

    /// What moves the gap of each contact.
    pub fn rows(&self) -> impl Iterator<Item = &[(u32, f64)]> {
        let begins = std::iter::once(0).chain(self.ends.iter().map(|end| *end as usize));
        begins.zip(&self.ends).map(|(begin, end)| &self.rows[begin..*end as usize])
    }

    /// Those that do something, with their rows and their blocks.
    fn blocks<'e>(
        &'e self,
        elements: &'e [f64],
    ) -> impl Iterator<Item = (&'e ContactSpring, &'e [(u32, f64)], &'e [f64; 2])> {
        let all = self.springs.iter().zip(self.rows()).zip(elements.as_chunks::<2>().0);
        all.filter(|((spring, _), _)| spring.is_closed()).map(|((spring, row), e)| (spring, row, e))
    }
}

impl Energy for ContactSprings {
    fn name(&self) -> &'static str {
        "contact"
    }

    fn value(&self, q: &Configuration) -> f64 {
        let energy = |s: &ContactSpring| {
            let (push, slope) = s.tangent();
            let deeper = s.depth(q.x) - s.at;
            push * deeper + 0.5 * slope * deeper * deeper
        };
        self.springs.iter().map(energy).sum()
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        for (s, row) in self.springs.iter().zip(self.rows()).filter(|(s, _)| s.is_closed()) {
            let push = s.normal * s.linear_push(s.depth(q.x)) + s.held - s.slip(q.v) * s.grip;
            row.iter().for_each(|(v, w)| f[*v as usize] += push * *w);
        }
    }

    fn linearise(&self, _q: &Configuration, hx: f64, hv: f64, elements: &mut Vec<f64>) {
        elements.clear();
        elements.extend(self.springs.iter().flat_map(|s| [hx * s.tangent().1, hv * s.grip]));
    }

    fn moves_followers(&self, _q: &Configuration, _elements: &[f64]) -> bool {
        false
    }

    fn add_product(&self, _q: &Configuration, elements: &[f64], part: Part, d: &[DVec3], out: &mut [DVec3]) {
        for (s, row, [push, rub]) in self.blocks(elements) {
            let gap: DVec3 = row.iter().map(|(v, w)| d[*v as usize] * *w).sum();
            let along = s.normal * s.normal.dot(gap);
            let rub = if part == Part::Stiffness { 0.0 } else { *rub };
            let change = along * *push + (gap - along) * rub;
            row.iter().for_each(|(v, w)| out[*v as usize] += change * *w);
        }
    }

    fn add_diagonal(&self, _q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        for (s, row, e) in self.blocks(elements) {
            let block = s.block(e);
            row.iter().for_each(|(v, w)| diagonal[*v as usize] += block * (*w * *w));
        }
    }

    fn add_pairs(&self, _q: &Configuration, elements: &[f64], pairs: &mut Vec<PairBlock>) {
        for (s, row, e) in self.blocks(elements) {
            let block = s.block(e);
            for (k, (i, wi)) in row.iter().enumerate() {
                let others = row[k + 1..].iter();
                pairs.extend(others.map(|(j, wj)| PairBlock { i: *i, j: *j, block: block * (wi * wj) }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::ModelBuilder;
    use crate::control::Control;
    use crate::mesh::Topology;
    use crate::parallel::Parallel;
    use crate::scene::Scene;

    /// One that sticks, one that slides.
    fn springs() -> ContactSprings {
        let normal = DVec3::new(0.36, 0.48, 0.8);
        let own = ContactSpring {
            particles: [(0, 1.0), (1, -0.2), (2, -0.3), (3, -0.5)],
            normal,
            offset: 0.0,
            distance: 0.9,
            stiffness: 7.0,
            friction: 0.5,
            drift: DVec3::new(0.1, 0.2, -0.1),
            most: 2.0,
            multiplier: DVec3::ZERO,
            firm: 3.0,
            at: 0.3,
            held: DVec3::new(0.8, 0.4, 0.0).reject_from_normalized(normal),
            grip: 3.0,
        };
        let particles = [(1, 0.4), (2, 0.6), (0, 0.0), (0, 0.0)];
        of(vec![own, ContactSpring { particles, grip: 0.0, offset: 0.4, ..own }])
    }

    fn of(springs: Vec<ContactSpring>) -> ContactSprings {
        let mut all = ContactSprings { springs, ..ContactSprings::default() };
        all.lay_out(&Mapping::default());
        all
    }

    #[test]
    fn the_law_starts_as_a_spring_and_grows_beyond_all_bounds() {
        let [spring, _] = springs().springs[..] else { panic!() };
        let (stiffness, distance) = (spring.stiffness, spring.distance);
        assert_eq!(spring.push(-0.1).0, 0.0, "nothing pulls");
        let (little, slope) = spring.push(1e-9);
        assert!((little / (stiffness * 1e-9) - 1.0).abs() < 1e-8 && (slope / stiffness - 1.0).abs() < 1e-8);
        let mut before = 0.0;
        for share in [0.1, 0.5, 0.7, 0.89, 0.95, 1.5] {
            let (push, slope) = spring.push(share * distance);
            let (ahead, behind) =
                (spring.push((share + 1e-6) * distance).0, spring.push((share - 1e-6) * distance).0);
            assert!(((ahead - behind) / (2e-6 * distance) / slope - 1.0).abs() < 1e-4, "{share}");
            assert!(push > before);
            before = push;
        }
        assert!((spring.push(0.5 * distance).0 - stiffness * distance).abs() < 1e-12, "k δ / (1 − ½)");
    }

    #[test]
    fn the_push_is_the_gradient_and_the_product_is_the_derivative() {
        let springs = springs();
        let smooth = springs.springs.iter().map(|s| ContactSpring { held: DVec3::ZERO, grip: 0.0, ..*s });
        let smooth = of(smooth.collect());
        let x: Vec<DVec3> = (0..4).map(|i| DVec3::new(0.1, 0.3, -0.2) * f64::from(i) + DVec3::X).collect();
        let v: Vec<DVec3> = (0..4).map(|i| DVec3::new(-0.2, 0.5, 0.4) * f64::from(i)).collect();
        let (topology, parallel) = (Topology::default(), Parallel::default());
        let control = Control::new(&ModelBuilder::new(&Scene::default()).build().unwrap());
        let (topology, control, parallel) = (&topology, &control, &parallel);
        let at = |x: &[DVec3], v: &[DVec3], f: &mut dyn FnMut(&Configuration)| {
            f(&Configuration { x, v, t: 0.0, body: 0, topology, plastic: &[], control, parallel });
        };
        let force = |springs: &ContactSprings, x: &[DVec3], v: &[DVec3]| {
            let mut f = vec![DVec3::ZERO; 4];
            at(x, v, &mut |q| springs.add_force(q, &mut f));
            f
        };
        let value = |x: &[DVec3]| {
            let mut value = 0.0;
            at(x, &v, &mut |q| value = smooth.value(q));
            value
        };
        let (mut elements, hx, hv) = (Vec::new(), 0.01, 0.1);
        let (mut diagonal, mut pairs) = (vec![DMat3::ZERO; 4], Vec::new());
        at(&x, &v, &mut |q| {
            springs.linearise(q, hx, hv, &mut elements);
            springs.add_diagonal(q, &elements, &mut diagonal);
            springs.add_pairs(q, &elements, &mut pairs);
        });
        // All is quadratic, so that differences are exact but for rounding.
        for (i, axis) in (0..4).flat_map(|i| [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| (i, axis))) {
            let moved = |from: &[DVec3], by: f64| {
                let mut to = from.to_vec();
                to[i] += axis * by;
                to
            };
            let slope = (value(&moved(&x, 0.1)) - value(&moved(&x, -0.1))) / 0.2;
            assert!((slope + force(&smooth, &x, &v)[i].dot(axis)).abs() < 1e-12);
            let (by_place, by_velocity) = (
                [force(&springs, &moved(&x, 0.1), &v), force(&springs, &moved(&x, -0.1), &v)],
                [force(&springs, &x, &moved(&v, 0.1)), force(&springs, &x, &moved(&v, -0.1))],
            );
            let d = moved(&[DVec3::ZERO; 4], 1.0);
            let (mut stiff, mut whole) = (vec![DVec3::ZERO; 4], vec![DVec3::ZERO; 4]);
            at(&x, &v, &mut |q| {
                springs.add_product(q, &elements, Part::Stiffness, &d, &mut stiff);
                springs.add_product(q, &elements, Part::StiffnessAndDamping, &d, &mut whole);
            });
            for j in 0..4 {
                let place = (by_place[0][j] - by_place[1][j]) / 0.2 * -hx;
                let velocity = (by_velocity[0][j] - by_velocity[1][j]) / 0.2 * -hv;
                assert!((stiff[j] - place).length() < 1e-12);
                assert!((whole[j] - place - velocity).length() < 1e-12);
                let blocks: DVec3 = pairs
                    .iter()
                    .map(|p| match (p.i as usize, p.j as usize) {
                        (a, b) if (a, b) == (j, i) => p.block * axis,
                        (a, b) if (a, b) == (i, j) => p.block.transpose() * axis,
                        _ => DVec3::ZERO,
                    })
                    .sum();
                let own = if i == j { diagonal[i] * axis } else { DVec3::ZERO };
                assert!((whole[j] - blocks - own).length() < 1e-12);
            }
            assert!(d[i].dot(whole[i]) >= 0.0, "positive semi-definite");
        }
    }
}
