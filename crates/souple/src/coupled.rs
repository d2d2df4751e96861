//! Bodies that are solved as one system (FAU-45, FAU-69, FAU-70), and solids that lie on colliders.
//!
//! Links between bodies of one group join them in one system: the particles of all follow each other in one list, each energy sees its own body
//! ([`Within`]), links see all. So stiff links are as stable as the solver, and a bar in five pieces is the bar in one. Soft, rigid and
//! spring bodies may be mixed. Links between groups act as forces that are held during a step: weak coupling, cheaper, and unstable if they are stiff.

use std::collections::BTreeSet;
use std::sync::Arc;

use glam::DVec3;

use crate::advance::{Frame, Workspace};
use crate::contact::resting;
use crate::energy::{ContactSpring, Link, Links, Within};
use crate::mesh::Topology;
use crate::model::Model;
use crate::solver::{CutShort, Method, Problem};

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
    x: Vec<DVec3>,
    v: Vec<DVec3>,
    inverse_masses: Vec<f64>,
}

impl Coupled {
    /// The systems of an island with these bodies: those that strong links join, and all others by themselves, which need none.
    pub(crate) fn all(model: &Model, bodies: &[usize]) -> Vec<Coupled> {
        let place = |b: usize| bodies.iter().position(|other| *other == b);
        let strong: Vec<[usize; 2]> = model
            .links
            .iter()
            .filter(|link| link.is_strong)
            .filter_map(|link| Some([place(link.bodies[0])?, place(link.bodies[1])?]))
            .collect();
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
            .filter(|members| members.len() > 1)
            .map(|members| Coupled {
                method: Method::of(&model.groups[model.bodies[bodies[members[0]]].group]),
                members,
                first: Vec::new(),
                made_for: Vec::new(),
                topology: Topology::default(),
                links: Links::default(),
                x: Vec::new(),
                v: Vec::new(),
                inverse_masses: Vec::new(),
            })
            .collect()
    }

    /// Forgets all scratch memory.
    pub(crate) fn forget(&mut self, model: &Model, works: &[Workspace]) {
        self.method = Method::of(&model.groups[model.bodies[works[self.members[0]].b].group]);
        self.made_for.clear();
    }

    /// Moves its bodies by a substep between two shares of the frame.
    pub(crate) fn substep(&mut self, frame: &Frame, works: &mut [Workspace], shares: (f64, f64)) {
        let members = std::mem::take(&mut self.members);
        solve_lying(frame, works, &members, shares, |works| self.solve(frame, works, &members, shares.0));
        self.members = members;
    }

    /// Puts the lists of all bodies one after the other, if one has changed.
    fn fit(&mut self, model: &Model, works: &[Workspace], members: &[usize]) {
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
            self.links.links.extend(link.links.iter().map(|l| Link { i: l.i + a, j: l.j + b, ..*l }));
        }
    }

    fn solve(&mut self, frame: &Frame, works: &mut [Workspace], members: &[usize], s0: f64) {
        let Frame { model, control, parallel } = *frame;
        self.fit(model, works, members);
        let Coupled {
            method: Method::Substeps(solver), first, topology, links, x, v, inverse_masses, ..
        } = self
        else {
            return;
        };
        x.clear();
        v.clear();
        inverse_masses.clear();
        for &k in members {
            let work = &works[k];
            x.extend(&work.candidate.x);
            v.extend(&work.candidate.v);
            let is_frozen = work.candidate.frozen;
            inverse_masses.extend(work.inverse_masses().iter().map(|w| if is_frozen { 0.0 } else { *w }));
        }
        let topologies: Vec<Arc<Topology>> =
            members.iter().map(|k| Arc::clone(&works[*k].candidate.topology)).collect();
        let mut energies: Vec<Within> = Vec::new();
        for ((&k, own), first) in members.iter().zip(&topologies).zip(&*first) {
            let within = |energy| Within { energy, first: *first, topology: own, body: works[k].b as u32 };
            energies.extend(model.bodies[works[k].b].energies.iter().map(|e| within(&**e)));
            energies.push(within(&works[k].springs));
        }
        energies.push(Within { energy: links, first: 0, topology, body: works[members[0]].b as u32 });
        let problem = Problem {
            energies: &[],
            system: &energies,
            topology,
            control,
            parallel,
            body: works[members[0]].b as u32,
            inverse_masses,
            contacts: None,
        };
        let t = control.t0 + s0 * (control.t1 - control.t0);
        solver.advance(&problem, x, v, t, works[members[0]].step_length());
        for (&k, first) in members.iter().zip(&*first) {
            let work = &mut works[k];
            let n = work.candidate.x.len();
            if !work.candidate.frozen {
                work.candidate.x.copy_from_slice(&x[*first..first + n]);
                work.candidate.v.copy_from_slice(&v[*first..first + n]);
                work.follow(model);
            }
        }
    }

    /// What of its linear solves was cut short since it was last asked.
    pub(crate) fn take_cut_short(&mut self) -> CutShort {
        self.method.take_cut_short()
    }

    /// Iterations of the last linear solve.
    pub(crate) fn iterations(&self) -> u32 {
        self.method.iterations()
    }
}

/// What a body lies on in a substep.
pub(crate) struct Lying {
    /// Springs, and the collider of each.
    springs: Vec<(u32, ContactSpring)>,
    /// Particle and collider of each spring that there was: one that had to pull does not come back.
    listed: BTreeSet<(u32, u32)>,
    /// Where particles are expected, m.
    ahead: Vec<DVec3>,
    /// How many springs its surface has beside these.
    of_surfaces: usize,
}

/// Solves a substep of some bodies with springs where they lie on colliders, until those that push are those that there are.
pub(crate) fn solve_lying(
    frame: &Frame,
    works: &mut [Workspace],
    members: &[usize],
    shares: (f64, f64),
    mut solve: impl FnMut(&mut [Workspace]),
) {
    let mut lying: Vec<Lying> = members.iter().map(|k| begin(&works[*k], frame.model)).collect();
    for round in 0..resting::ROUNDS {
        let mut changed = false;
        for (&k, lying) in members.iter().zip(&mut lying) {
            changed |= expect(&mut works[k], frame, shares, lying, round > 0);
        }
        if round > 0 {
            if !changed {
                break;
            }
            members.iter().for_each(|k| works[*k].begin_again());
        }
        solve(works);
        for (&k, lying) in members.iter().zip(&mut lying) {
            lying.ahead.clone_from(&works[k].candidate.x);
        }
    }
    for (&k, lying) in members.iter().zip(&lying) {
        let colliders: Vec<u32> = lying.springs.iter().map(|(c, _)| *c).collect();
        works[k].end_lying(lying.of_surfaces, &colliders);
    }
}

fn begin(work: &Workspace, model: &Model) -> Lying {
    let h = work.step_length();
    let fall = model.gravity * (h * h);
    let ahead = work.candidate.x.iter().zip(&work.candidate.v).map(|(x, v)| *x + *v * h + fall).collect();
    Lying { springs: Vec::new(), listed: BTreeSet::new(), ahead, of_surfaces: work.springs.springs.len() }
}

/// Leaves out springs that pull and adds those that are missing; tells whether there were any.
fn expect(
    work: &mut Workspace,
    frame: &Frame,
    shares: (f64, f64),
    lying: &mut Lying,
    is_later: bool,
) -> bool {
    let Lying { springs, listed, ahead, of_surfaces } = lying;
    let before = springs.len();
    if is_later {
        springs.retain(|(_, spring)| spring.depth(ahead) >= 0.0);
    }
    let pushing = springs.len();
    if work.lies() {
        resting::expect(
            &work.contacts,
            (frame.model, frame.control, work.b),
            (shares.0, shares.1, work.step_length()),
            work.mobilities(),
            ahead,
            |c, spring| {
                if listed.insert((spring.particles[0].0, c)) {
                    springs.push((c, spring));
                }
            },
        );
    }
    work.springs.springs.truncate(*of_surfaces);
    work.springs.springs.extend(springs.iter().map(|(_, spring)| *spring));
    pushing != before || springs.len() != pushing
}
