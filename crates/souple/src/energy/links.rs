//! Springs between bodies (FAU-68): inside one system they are solved with it (strong coupling, FAU-69), else their forces are held during a step (weak).

use glam::{DMat3, DVec3};

use super::{Configuration, Energy, PairBlock, Part, outer};

/// A spring between two particles that may belong to different bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// First particle.
    pub i: u32,
    /// Second particle.
    pub j: u32,
    /// Length at which it neither pulls nor pushes, m; 0 joins both in one place.
    pub rest_length: f64,
    /// N/m.
    pub stiffness: f64,
    /// Against any change of where they are to each other, N·s/m.
    pub damping: f64,
}

impl Link {
    /// The force on the first particle, N, of what the second one is ahead by, m, and faster, m/s.
    pub fn force(&self, ahead: DVec3, faster: DVec3) -> DVec3 {
        let length = ahead.length();
        // A spring without length has no direction, and needs none.
        let stretch = if length > 0.0 { ahead * (1.0 - self.rest_length / length) } else { DVec3::ZERO };
        stretch * self.stiffness + faster * self.damping
    }

    /// Derivative of that force by `ahead`, without what is negative: across a spring that is too short.
    pub fn tangent(&self, ahead: DVec3) -> DMat3 {
        let length = ahead.length();
        if length == 0.0 {
            return DMat3::from_diagonal(DVec3::splat(self.stiffness));
        }
        let along = outer(ahead / length);
        let across = (1.0 - self.rest_length / length).max(0.0);
        (along + (DMat3::IDENTITY - along) * across) * self.stiffness
    }
}

/// The springs between the bodies of one system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Links {
    /// In the numbers of the whole system.
    pub links: Vec<Link>,
}

impl Links {
    fn blocks<'e>(&'e self, elements: &'e [f64]) -> impl Iterator<Item = (&'e Link, DMat3, f64)> {
        let numbers = elements.as_chunks::<10>().0.iter();
        self.links.iter().zip(numbers).map(|(link, e)| (link, DMat3::from_cols_slice(e), e[9]))
    }
}

impl Energy for Links {
    fn name(&self) -> &'static str {
        "links"
    }

    fn joins_particles(&self) -> bool {
        true
    }

    fn value(&self, q: &Configuration) -> f64 {
        let energy = |link: &Link| {
            let longer = q.x[link.i as usize].distance(q.x[link.j as usize]) - link.rest_length;
            0.5 * link.stiffness * longer * longer
        };
        self.links.iter().map(energy).sum()
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        for link in &self.links {
            let (i, j) = (link.i as usize, link.j as usize);
            let force = link.force(q.x[j] - q.x[i], q.v[j] - q.v[i]);
            f[i] += force;
            f[j] -= force;
        }
    }

    fn linearise(&self, q: &Configuration, hx: f64, hv: f64, elements: &mut Vec<f64>) {
        elements.clear();
        for link in &self.links {
            let ahead = q.x[link.j as usize] - q.x[link.i as usize];
            elements.extend((link.tangent(ahead) * hx).to_cols_array());
            elements.push(hv * link.damping);
        }
    }

    fn add_product(&self, _q: &Configuration, elements: &[f64], part: Part, d: &[DVec3], out: &mut [DVec3]) {
        for (link, block, damping) in self.blocks(elements) {
            let (i, j) = (link.i as usize, link.j as usize);
            let apart = d[i] - d[j];
            let rub = if part == Part::Stiffness { 0.0 } else { damping };
            let change = block * apart + apart * rub;
            out[i] += change;
            out[j] -= change;
        }
    }

    fn add_diagonal(&self, _q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        for (link, block, damping) in self.blocks(elements) {
            let whole = block + DMat3::from_diagonal(DVec3::splat(damping));
            diagonal[link.i as usize] += whole;
            diagonal[link.j as usize] += whole;
        }
    }

    fn add_pairs(&self, _q: &Configuration, elements: &[f64], pairs: &mut Vec<PairBlock>) {
        for (link, block, damping) in self.blocks(elements) {
            let whole = block + DMat3::from_diagonal(DVec3::splat(damping));
            pairs.push(PairBlock { i: link.i, j: link.j, block: -whole });
        }
    }
}

/// Forces of links with bodies of other groups, held during a step: they are imposed ([`crate::Control::held_links`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldLinks;

impl Energy for HeldLinks {
    fn name(&self) -> &'static str {
        "links between groups"
    }

    fn is_restless(&self, control: &crate::Control, body: u32) -> bool {
        !control.held_links[body as usize].is_empty()
    }

    fn has_potential(&self) -> bool {
        false
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        for (v, force) in &q.control.held_links[q.body as usize] {
            f[*v as usize] += *force;
        }
    }
}

/// An energy of one body inside a system of several: it sees its own particles alone.
#[derive(Clone, Copy, Debug)]
pub struct Within<'a> {
    /// The energy.
    pub energy: &'a dyn Energy,
    /// First particle of its body in the system.
    pub first: usize,
    /// What joins the particles of its body.
    pub topology: &'a crate::mesh::Topology,
    /// Its body.
    pub body: u32,
}

impl Within<'_> {
    fn range(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.topology.len()
    }

    fn own<'b>(&'b self, q: &Configuration<'b>) -> Configuration<'b> {
        Configuration {
            x: &q.x[self.range()],
            v: &q.v[self.range()],
            topology: self.topology,
            body: self.body,
            ..*q
        }
    }
}

impl Energy for Within<'_> {
    fn name(&self) -> &'static str {
        self.energy.name()
    }

    fn joins_particles(&self) -> bool {
        self.energy.joins_particles()
    }

    fn has_potential(&self) -> bool {
        self.energy.has_potential()
    }

    fn value(&self, q: &Configuration) -> f64 {
        self.energy.value(&self.own(q))
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        self.energy.add_force(&self.own(q), &mut f[self.range()]);
    }

    fn add_force_linearised(&self, q: &Configuration, elements: &[f64], f: &mut [DVec3]) {
        self.energy.add_force_linearised(&self.own(q), elements, &mut f[self.range()]);
    }

    fn linearise(&self, q: &Configuration, hx: f64, hv: f64, elements: &mut Vec<f64>) {
        self.energy.linearise(&self.own(q), hx, hv, elements);
    }

    fn add_product(&self, q: &Configuration, elements: &[f64], part: Part, d: &[DVec3], out: &mut [DVec3]) {
        self.energy.add_product(&self.own(q), elements, part, &d[self.range()], &mut out[self.range()]);
    }

    fn add_diagonal(&self, q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        self.energy.add_diagonal(&self.own(q), elements, &mut diagonal[self.range()]);
    }

    fn add_pairs(&self, q: &Configuration, elements: &[f64], pairs: &mut Vec<PairBlock>) {
        let known = pairs.len();
        self.energy.add_pairs(&self.own(q), elements, pairs);
        for pair in &mut pairs[known..] {
            pair.i += self.first as u32;
            pair.j += self.first as u32;
        }
    }
}
