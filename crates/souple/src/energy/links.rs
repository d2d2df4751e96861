//! Springs between bodies (FAU-68): inside one system they are solved with it (strong coupling, FAU-69), else their forces are held during a step (weak).
//!
//! A joint is a spring without length between points of two bodies, or of one and the world, as stiff as the step can bear: a ball joint is one, a hinge two
//! on its axis (FAU-70). So joints give way a little, by the force on them over their stiffness, and loops of them are nothing special.

use glam::{DMat3, DVec3};

use super::{Configuration, Energy, PairBlock, Part, outer};

/// A point that a link holds: of a body, where the mean of some of its particles is by weights that sum to 1; or a place of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct End {
    /// Particles.
    pub particles: [u32; 4],
    /// Weight of each; 0 of those that are not there.
    pub weights: [f64; 4],
    /// The place of the world, m; 0 of a point of a body.
    pub fixed: DVec3,
}

impl End {
    /// One particle.
    pub fn particle(i: u32) -> End {
        End { particles: [i; 4], weights: [1.0, 0.0, 0.0, 0.0], fixed: DVec3::ZERO }
    }

    /// Particles with weights.
    pub fn mean(of: [(u32, f64); 4]) -> End {
        End { particles: of.map(|(i, _)| i), weights: of.map(|(_, w)| w), fixed: DVec3::ZERO }
    }

    /// A place of the world.
    pub fn world(place: DVec3) -> End {
        End { particles: [0; 4], weights: [0.0; 4], fixed: place }
    }

    /// Its particles and their weights.
    pub fn each(&self) -> impl Iterator<Item = (u32, f64)> + use<> {
        self.particles.into_iter().zip(self.weights).filter(|(_, w)| *w != 0.0)
    }

    /// Where it is, m.
    pub fn place(&self, x: &[DVec3]) -> DVec3 {
        self.fixed + self.motion(x)
    }

    /// What it moves by as particles move by `d`.
    pub fn motion(&self, d: &[DVec3]) -> DVec3 {
        self.each().fold(DVec3::ZERO, |sum, (i, w)| sum + d[i as usize] * w)
    }

    /// The same where the particles of its body come after others.
    pub(crate) fn after(self, first: u32) -> End {
        End { particles: self.particles.map(|i| i + first), ..self }
    }
}

/// A spring between two points that may belong to different bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// First point.
    pub from: End,
    /// Second point.
    pub to: End,
    /// Length at which it neither pulls nor pushes, m; 0 joins both in one place.
    pub rest_length: f64,
    /// N/m.
    pub stiffness: f64,
    /// Against any change of where they are to each other, N·s/m.
    pub damping: f64,
}

impl Link {
    /// The force on the first point, N, of what the second one is ahead by, m, and faster, m/s.
    pub fn force(&self, ahead: DVec3, faster: DVec3) -> DVec3 {
        let length = ahead.length();
        // A spring without length has no direction, and needs none.
        let stretch = if length > 0.0 { ahead * (1.0 - self.rest_length / length) } else { DVec3::ZERO };
        stretch * self.stiffness + faster * self.damping
    }

    /// All particles that it holds, with the weights by which they move its ends apart.
    fn sides(&self) -> impl Iterator<Item = (u32, f64)> + use<> {
        self.from.each().chain(self.to.each().map(|(j, w)| (j, -w)))
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
            let longer = link.from.place(q.x).distance(link.to.place(q.x)) - link.rest_length;
            0.5 * link.stiffness * longer * longer
        };
        self.links.iter().map(energy).sum()
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        for link in &self.links {
            let (ahead, faster) =
                (link.to.place(q.x) - link.from.place(q.x), link.to.motion(q.v) - link.from.motion(q.v));
            let force = link.force(ahead, faster);
            link.from.each().for_each(|(i, w)| f[i as usize] += force * w);
            link.to.each().for_each(|(j, w)| f[j as usize] -= force * w);
        }
    }

    fn linearise(&self, q: &Configuration, hx: f64, hv: f64, elements: &mut Vec<f64>) {
        elements.clear();
        for link in &self.links {
            let ahead = link.to.place(q.x) - link.from.place(q.x);
            elements.extend((link.tangent(ahead) * hx).to_cols_array());
            elements.push(hv * link.damping);
        }
    }

    fn add_product(&self, _q: &Configuration, elements: &[f64], part: Part, d: &[DVec3], out: &mut [DVec3]) {
        for (link, block, damping) in self.blocks(elements) {
            let apart = link.from.motion(d) - link.to.motion(d);
            let rub = if part == Part::Stiffness { 0.0 } else { damping };
            let change = block * apart + apart * rub;
            link.from.each().for_each(|(i, w)| out[i as usize] += change * w);
            link.to.each().for_each(|(j, w)| out[j as usize] -= change * w);
        }
    }

    fn add_diagonal(&self, _q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        for (link, block, damping) in self.blocks(elements) {
            let whole = block + DMat3::from_diagonal(DVec3::splat(damping));
            link.sides().for_each(|(i, w)| diagonal[i as usize] += whole * (w * w));
        }
    }

    fn add_pairs(&self, _q: &Configuration, elements: &[f64], pairs: &mut Vec<PairBlock>) {
        for (link, block, damping) in self.blocks(elements) {
            let whole = block + DMat3::from_diagonal(DVec3::splat(damping));
            for (k, (i, w)) in link.sides().enumerate() {
                let later = link.sides().skip(k + 1);
                pairs.extend(later.map(|(j, other)| PairBlock { i, j, block: whole * (w * other) }));
            }
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
    /// Where its elements begin and end in the list of those that may flow.
    pub plastic: (usize, usize),
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
            plastic: q.plastic.get(self.plastic.0..self.plastic.1).unwrap_or(&[]),
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

    fn largest_change(&self, q: &Configuration, d: &[DVec3]) -> f64 {
        self.energy.largest_change(&self.own(q), &d[self.range()])
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        self.energy.add_force(&self.own(q), &mut f[self.range()]);
    }

    fn add_force_linearised(&self, q: &Configuration, elements: &[f64], f: &mut [DVec3]) {
        self.energy.add_force_linearised(&self.own(q), elements, &mut f[self.range()]);
    }

    fn add_implicit_force(&self, q: &Configuration, elements: &[f64], h: f64, f: &mut [DVec3]) -> bool {
        self.energy.add_implicit_force(&self.own(q), elements, h, &mut f[self.range()])
    }

    fn linearise(&self, q: &Configuration, hx: f64, hv: f64, elements: &mut Vec<f64>) {
        self.energy.linearise(&self.own(q), hx, hv, elements);
    }

    fn add_product(&self, q: &Configuration, elements: &[f64], part: Part, d: &[DVec3], out: &mut [DVec3]) {
        self.energy.add_product(&self.own(q), elements, part, &d[self.range()], &mut out[self.range()]);
    }

    fn moves_followers(&self, q: &Configuration, elements: &[f64]) -> bool {
        self.energy.moves_followers(&self.own(q), elements)
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
    fn dense<'e>(&self, elements: &'e [f64]) -> Option<(usize, &'e [f64])> {
        self.energy.dense(elements).map(|(first, w)| (self.first + first, w))
    }
}
