//! Bodies that are solved as one system (FAU-45, FAU-69, FAU-70), with the contacts that hold them.
//!
//! Links between bodies of one group join them in one system, and so does contact where the solver takes contacts: the particles of all follow
//! each other in one list, each energy sees its own body ([`Within`]), links and contacts see all. So stiff links are as stable as the solver, a
//! bar in five pieces is the bar in one, and a stack stands. Soft, rigid and spring bodies may be mixed. Links between groups act as forces that are
//! held during a step: weak coupling, cheaper, and unstable if they are stiff.

use std::sync::Arc;

use glam::{DMat3, DVec3};

use crate::advance::{Frame, Workspace};
use crate::contact::ContactPoint;
use crate::contact::held::{self, HeldContacts, Key, Meeting};
use crate::contact::rules::Thing;
use crate::energy::{Link, Links, Within};
use crate::mesh::Topology;
use crate::model::Model;
use crate::solver::{CutShort, Method, Problem, SolveWork};

/// Bodies of an island that are solved together.
#[derive(Debug)]
pub(crate) struct Coupled {
    /// Their places in the island, ascending.
    pub(crate) members: Vec<usize>,
    method: Method,
    /// First particle of each in the system, and of what comes after the last.
    first: Vec<usize>,
    /// Versions of the topologies that it was made for.
    made_for: Vec<u64>,
    topology: Topology,
    links: Links,
    /// What holds its bodies, and what they hold on.
    contacts: HeldContacts,
    /// Places and velocities when the substep began,
    start: (Vec<DVec3>, Vec<DVec3>),
    /// where solves have led,
    solved: (Vec<DVec3>, Vec<DVec3>),
    /// and where particles are now.
    x: Vec<DVec3>,
    v: Vec<DVec3>,
    inverse_masses: Vec<f64>,
    /// What elements of all bodies have flowed to.
    plastic: Vec<DMat3>,
}

impl Coupled {
    /// The systems of an island with these bodies: those that strong links join, and those that may touch if the solver takes contacts. All others
    /// are by themselves, and need none.
    pub(crate) fn all(model: &Model, bodies: &[usize]) -> Vec<Coupled> {
        let place = |b: usize| bodies.iter().position(|other| *other == b);
        let mut strong: Vec<[usize; 2]> = model
            .links
            .iter()
            .filter(|link| link.is_strong)
            .filter_map(|link| Some([place(link.bodies[0])?, place(link.bodies[1])?]))
            .collect();
        let takes_contacts = Method::of(&model.groups[model.bodies[bodies[0]].group]).takes_contacts();
        if takes_contacts {
            let touch = |a: usize, b: usize| model.rule(Thing::Body(bodies[a]), Thing::Body(bodies[b])).touch;
            for a in 0..bodies.len() {
                strong.extend((a + 1..bodies.len()).filter(|b| touch(a, *b)).map(|b| [a, b]));
            }
        }
        // Each set is known by its lowest member.
        let mut lowest: Vec<usize> = (0..bodies.len()).collect();
        loop {
            let before = lowest.clone();
            for [a, b] in &strong {
                let low = lowest[*a].min(lowest[*b]);
                (lowest[*a], lowest[*b]) = (low, low);
            }
            if lowest == before {
                break;
            }
        }
        let set = |low: usize| -> Vec<usize> { (0..bodies.len()).filter(|k| lowest[*k] == low).collect() };
        (0..bodies.len())
            .map(set)
            .filter(|members| members.len() > 1 || (takes_contacts && !members.is_empty()))
            .map(|members| Coupled {
                method: Method::of(&model.groups[model.bodies[bodies[members[0]]].group]),
                members,
                first: Vec::new(),
                made_for: Vec::new(),
                topology: Topology::default(),
                links: Links::default(),
                contacts: HeldContacts::default(),
                start: Default::default(),
                solved: Default::default(),
                x: Vec::new(),
                v: Vec::new(),
                inverse_masses: Vec::new(),
                plastic: Vec::new(),
            })
            .collect()
    }

    /// Forgets all scratch memory.
    pub(crate) fn forget(&mut self, model: &Model, works: &[Workspace]) {
        self.method = Method::of(&model.groups[model.bodies[works[self.members[0]].b].group]);
        self.made_for.clear();
    }

    /// Moves its bodies by a substep that begins at a share of the frame, as if nothing touched.
    pub(crate) fn substep(&mut self, frame: &Frame, works: &mut [Workspace], s0: f64) {
        self.contacts.clear();
        self.solve(frame, works, s0, false);
        self.follow(frame.model, works);
    }

    /// Moves its bodies by a substep between two shares of the frame, with the contacts that there are; `meet` tells of those of surfaces, when
    /// particles go where they are said to be now: their particles by body and number.
    pub(crate) fn substep_with_contacts(
        &mut self,
        frame: &Frame,
        works: &mut [Workspace],
        shares: (f64, f64),
        mut meet: impl FnMut(&[Workspace], &mut dyn FnMut(Key, [(usize, u32); 4], Meeting)),
    ) {
        self.fit(frame.model, works);
        self.contacts.clear();
        self.gather_start(works);
        let h = works[self.members[0]].step_length();
        let usual = frame.model.usual_step(works[self.members[0]].b);
        self.members.iter().for_each(|k| works[*k].guess(frame.model.gravity));
        for round in 0..=held::ROUNDS {
            let mut changed = false;
            if round > 0 {
                self.follow(frame.model, works);
                self.gather(works);
                changed = self.contacts.review(&self.x, &self.v, h);
            }
            if round == held::ROUNDS {
                break;
            }
            let Coupled { contacts, members, first: firsts, start, topology, .. } = self;
            for (&k, &begin) in members.iter().zip(&*firsts).filter(|(k, _)| works[**k].lies()) {
                works[k].meet_colliders(frame, shares, |v, c, mut meeting| {
                    meeting.particles.iter_mut().for_each(|(p, _)| *p += begin as u32);
                    let key = Key::Collider(v + begin as u32, c);
                    changed |= contacts.expect(key, &meeting, &start.0, round == 0);
                });
            }
            meet(works, &mut |key, owners, mut meeting| {
                for (particle, (body, local)) in meeting.particles.iter_mut().zip(owners) {
                    let place = members.iter().position(|k| *k == body).unwrap_or_default();
                    particle.0 = if body < works.len() { firsts[place] as u32 + local } else { 0 };
                }
                changed |= contacts.expect(key, &meeting, &start.0, round == 0);
            });
            if round > 0 && !changed {
                break;
            }
            let inverse_mass = |p: u32| {
                let place = firsts.partition_point(|first| *first <= p as usize) - 1;
                works[members[place]].inverse_masses()[p as usize - firsts[place]]
            };
            contacts.arrange(&topology.mapping, inverse_mass, &start.1, (h, usual));
            self.members.iter().for_each(|k| works[*k].begin_again());
            let slopes = self.solve(frame, works, shares.0, round > 0);
            if round > 0 {
                self.go_towards(works, slopes, h);
            }
            self.solved.0.clone_from(&self.x);
            self.solved.1.clone_from(&self.v);
        }
        self.tell_contacts(works);
    }

    /// Goes from where the last solve led towards where this one does, as far as contacts allow.
    fn go_towards(&mut self, works: &mut [Workspace], slopes: [f64; 2], h: f64) {
        let Coupled { x, v, solved: (from_x, from_v), contacts, members, first, .. } = self;
        let way = contacts.way((&*from_x, &*from_v), (&*x, &*v), slopes, h);
        if way == 1.0 {
            return;
        }
        let mix = |to: &mut [DVec3], from: &[DVec3]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = from.lerp(*to, way))
        };
        mix(x, from_x);
        mix(v, from_v);
        Self::tell_places(members, first, (x, v), works);
    }

    /// Tells its bodies where their particles are, and their velocities.
    fn tell_places(
        members: &[usize],
        first: &[usize],
        (x, v): (&[DVec3], &[DVec3]),
        works: &mut [Workspace],
    ) {
        for (&k, first) in members.iter().zip(first) {
            let candidate = &mut works[k].candidate;
            let n = candidate.x.len();
            if !candidate.frozen {
                candidate.x.copy_from_slice(&x[*first..first + n]);
                candidate.v.copy_from_slice(&v[*first..first + n]);
            }
        }
    }

    /// Ends what solves began for all its bodies.
    fn follow(&self, model: &Model, works: &mut [Workspace]) {
        for &k in &self.members {
            if !works[k].candidate.frozen {
                works[k].follow(model);
            }
        }
    }

    /// Tells bodies on which colliders they lie.
    fn tell_contacts(&self, works: &mut [Workspace]) {
        for (particle, collider, spring) in self.contacts.with_colliders() {
            let place = self.first.partition_point(|f| *f <= particle as usize) - 1;
            let vertex = particle - self.first[place] as u32;
            let work = &mut works[self.members[place]];
            let point = work.candidate.x[vertex as usize];
            let depth = spring.distance - (spring.normal.dot(point) - spring.offset);
            if depth > 0.0 {
                work.lies_on(ContactPoint { vertex, collider, point, normal: spring.normal, depth });
            }
        }
    }

    /// Finds places and velocities of all particles when the substep began.
    fn gather_start(&mut self, works: &[Workspace]) {
        let Coupled { members, start: (x, v), .. } = self;
        x.clear();
        v.clear();
        for (own_x, own_v) in members.iter().map(|k| works[*k].start()) {
            x.extend(own_x);
            v.extend(own_v);
        }
    }

    /// Places and velocities of all particles now.
    fn gather(&mut self, works: &[Workspace]) {
        self.x.clear();
        self.v.clear();
        for &k in &self.members {
            self.x.extend(&works[k].candidate.x);
            self.v.extend(&works[k].candidate.v);
        }
    }

    /// Puts the lists of all bodies one after the other, if one has changed.
    fn fit(&mut self, model: &Model, works: &[Workspace]) {
        let members = &self.members;
        let version = |k: &usize| works[*k].candidate.topology.version;
        if self.made_for.iter().copied().eq(members.iter().map(version)) {
            return;
        }
        self.made_for = members.iter().map(version).collect();
        self.first = vec![0];
        self.topology = Topology { version: self.made_for.iter().sum(), ..Topology::default() };
        for &k in members {
            self.topology.append(&works[k].candidate.topology);
            self.first.push(self.topology.len());
        }
        let place = |b: usize| members.iter().position(|k| works[*k].b == b).map(|p| self.first[p] as u32);
        self.links.links.clear();
        for link in model.links.iter().filter(|link| link.is_strong) {
            let (Some(a), Some(b)) = (place(link.bodies[0]), place(link.bodies[1])) else { continue };
            let own = |l: &Link| Link { from: l.from.after(a), to: l.to.after(b), ..*l };
            self.links.links.extend(link.links.iter().map(own));
        }
    }

    /// Solves the system of a substep that begins at share `s0` of the frame; again from where solves have led, if it was with other contacts. Returns
    /// [`crate::solver::Solver::slopes`] of the way from there.
    fn solve(&mut self, frame: &Frame, works: &mut [Workspace], s0: f64, again: bool) -> [f64; 2] {
        let Frame { model, control, parallel } = *frame;
        if let [alone] = self.members[..] {
            let again = again.then_some(&self.solved.1[..]);
            let slopes = match works[alone].candidate.frozen {
                true => [0.0; 2],
                false => works[alone].solve(frame, s0, &self.contacts.springs, again),
            };
            self.gather(works);
            return slopes;
        }
        self.fit(model, works);
        self.gather(works);
        let Coupled {
            method: Method::Substeps(solver),
            members,
            first,
            topology,
            links,
            x,
            v,
            inverse_masses,
            plastic,
            contacts,
            start,
            solved,
            ..
        } = self
        else {
            return [0.0; 2];
        };
        inverse_masses.clear();
        plastic.clear();
        for &k in &*members {
            let is_frozen = works[k].candidate.frozen;
            let inverses = works[k].inverse_masses().iter();
            inverse_masses.extend(inverses.map(|w| if is_frozen { 0.0 } else { *w }));
        }
        let topologies: Vec<Arc<Topology>> =
            members.iter().map(|k| Arc::clone(&works[*k].candidate.topology)).collect();
        let mut energies: Vec<Within> = Vec::new();
        for ((&k, own), first) in members.iter().zip(&topologies).zip(&*first) {
            let begin = plastic.len();
            plastic.extend(&works[k].candidate.plastic);
            let own_elements = (begin, plastic.len());
            let body = works[k].b as u32;
            let within =
                |energy| Within { energy, first: *first, topology: own, body, plastic: own_elements };
            energies.extend(model.bodies[works[k].b].energies.iter().map(|e| within(&**e)));
        }
        let body = works[members[0]].b as u32;
        energies.push(Within { energy: links, first: 0, topology, body, plastic: (0, 0) });
        let problem = Problem {
            energies: &[],
            system: &energies,
            topology,
            plastic,
            control,
            parallel,
            body,
            inverse_masses,
            layer: None,
            contacts: solver.takes_contacts().then_some(&contacts.springs),
            again: again.then_some(&solved.1[..]),
        };
        let t = control.t0 + s0 * (control.t1 - control.t0);
        solver.advance(&problem, x, v, t, works[members[0]].step_length());
        topology.mapping.apply(x);
        topology.mapping.apply_j(v);
        let slopes = if again { solver.slopes(&problem, (&start.0, &start.1), v, t) } else { [0.0; 2] };
        Self::tell_places(members, first, (x, v), works);
        self.gather(works);
        slopes
    }

    /// What of its linear solves was cut short since it was last asked.
    pub(crate) fn take_cut_short(&mut self) -> CutShort {
        self.method.take_cut_short()
    }

    /// What its linear solves have cost since it was last asked.
    pub(crate) fn take_work(&mut self) -> SolveWork {
        self.method.take_work()
    }

    /// Iterations of the last linear solve.
    pub(crate) fn iterations(&self) -> u32 {
        self.method.iterations()
    }
}
