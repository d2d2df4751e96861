//! Integration by geometric goals, one after the other (SIM-16…26): Simard, *Mouvement secondaire interactif par surfaces élastiques*, 2005.
//!
//! A step predicts where particles go, pulls the ends of each spring together by a share of what it is too long, once, holds
//! attached particles to the skin, and takes velocities from what has moved; contact comes last. This is position-based dynamics with one
//! visit per step, before it had that name.
//!
//! **Order** (SIM-24). Tension runs from what holds a surface to its free end. So springs are visited by the rest distance of their ends from
//! what is held, the one that the shortest way takes first: by hops, as the thesis has it, a diagonal reaches a particle before the edge that carries
//! it. **Tags** (SIM-25): a particle that a spring has moved is not moved again; a spring of which one end is tagged moves the other by all
//! it is too long. **Attenuation** (SIM-26): between two tagged ends a spring acts with γ of its stiffness. As the order is known beforehand, so
//! are the tags: each spring has two numbers, how much of the change each end takes, and no step looks at a tag.
//!
//! That is right for what hangs from one side. A sling that is held at both ends comes apart in the middle by it, as no pull goes against the order; so does flesh
//! that is held all around. So by default only what hangs from one run of held neighbours, and is not attached itself, is visited so; other springs
//! move both ends by mass.
//!
//! What was misprinted is put right: goals are those of the places that constraints before have left, stiffness counts once.
//!
//! **Stiffness and step** (SIM-23). In the thesis a spring closes the share k of its error per step. Here it has a stiffness K in N/m, and
//! k = K h² w/(1 + K h² w) with w = 1/m_i + 1/m_j: what backward Euler does with that spring alone. So it means the same at any step. The form
//! 1 − (1 − k)^(h/h₀) that is often seen does not: its springs have the frequency 1/√(h τ).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::{DMat3, DVec3};

use super::xpbd::damp;
use super::{Capabilities, Problem, Solver};
use crate::energy::Part;
use crate::mesh::{Edge, Spring, SpringFamily};
use crate::scene::{GoalOrder, Goals as Settings};
use crate::skin::Keeps;

/// A spring as a step visits it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Goal {
    i: u32,
    j: u32,
    /// m.
    rest_length: f64,
    /// Share of what it is too long that each end goes towards the other.
    take: [f64; 2],
}

/// The solver of one body.
#[derive(Debug)]
pub(super) struct Goals {
    settings: Settings,
    /// What the springs were made for: version of the topology, step.
    made_for: Option<(u64, f64)>,
    /// 1/m that they were made for, 1/kg.
    inverse_masses: Vec<f64>,
    springs: Vec<Goal>,
    is_damped: bool,
    /// Those of them that are as long as the skin has them.
    following: Vec<u32>,
    /// Where the skin has particles at the end of a step, m.
    skin: Vec<DVec3>,
    /// Shares of distances beyond their slack that anchors take back.
    anchor_shares: Vec<f64>,
    keeps: Keeps,
    forces: Vec<DVec3>,
    blocks: Vec<DMat3>,
    products: Vec<DVec3>,
    elements: Vec<f64>,
    before: Vec<DVec3>,
}

impl Goals {
    pub(super) fn new(settings: Settings) -> Goals {
        Goals {
            settings,
            made_for: None,
            inverse_masses: Vec::new(),
            springs: Vec::new(),
            following: Vec::new(),
            skin: Vec::new(),
            is_damped: false,
            anchor_shares: Vec::new(),
            keeps: Keeps::default(),
            forces: Vec::new(),
            blocks: Vec::new(),
            products: Vec::new(),
            elements: Vec::new(),
            before: Vec::new(),
        }
    }

    fn fit(&mut self, problem: &Problem, h: f64) {
        let Problem { topology, inverse_masses, layer, .. } = *problem;
        let key = Some((topology.version, h));
        if self.made_for == key && self.inverse_masses == inverse_masses {
            return;
        }
        self.made_for = key;
        self.inverse_masses.clear();
        self.inverse_masses.extend(inverse_masses);
        let mut attached = vec![false; inverse_masses.len()];
        for anchor in layer.iter().flat_map(|layer| &layer.anchors) {
            attached[anchor.particle as usize] = true;
        }
        self.springs = goals(&topology.springs, inverse_masses, self.settings, &attached, &topology.edges, h);
        self.is_damped = topology.springs.iter().any(|s| s.damping > 0.0);
        self.anchor_shares.clear();
        self.following.clear();
        if let Some(layer) = layer {
            let follows = |e: u32| layer.follows.get(e as usize).copied().unwrap_or(false);
            let both = |goal: &Goal| follows(goal.i) && follows(goal.j);
            let followers = (0u32..).zip(&self.springs).filter(|(_, goal)| both(goal)).map(|(g, _)| g);
            self.following.extend(followers);
            self.anchor_shares.extend(layer.anchors.iter().map(|anchor| anchor.share(h)));
            self.keeps.fit(layer, h);
        }
    }

    /// Velocities after all forces but those of springs, implicitly in each particle by itself.
    fn feel_forces(&mut self, problem: &Problem, x: &[DVec3], v: &mut [DVec3], t: f64, h: f64) {
        let Goals { forces, blocks, products, elements, .. } = self;
        let q = problem.configuration(x, v, t);
        forces.clear();
        forces.resize(x.len(), DVec3::ZERO);
        blocks.clear();
        products.clear();
        for energy in problem.all_energies().filter(|e| !e.joins_particles()) {
            energy.add_force(&q, forces);
            energy.linearise(&q, h * h, h, elements);
            if !elements.is_empty() {
                blocks.resize(x.len(), DMat3::ZERO);
                products.resize(x.len(), DVec3::ZERO);
                energy.add_diagonal(&q, elements, blocks);
                energy.add_product(&q, elements, Part::Stiffness, v, products);
            }
        }
        for (i, (v, &w)) in v.iter_mut().zip(problem.inverse_masses).enumerate() {
            if w == 0.0 {
                continue;
            }
            *v += match blocks.get(i) {
                Some(block) if *block != DMat3::ZERO => {
                    (DMat3::IDENTITY + *block * w).inverse() * ((forces[i] * h - products[i]) * w)
                }
                _ => forces[i] * (h * w),
            };
        }
    }
}

impl Solver for Goals {
    fn capabilities(&self) -> Capabilities {
        Capabilities { order: 1, unconditionally_stable: true, symplectic: false }
    }

    fn advance(&mut self, problem: &Problem, x: &mut [DVec3], v: &mut [DVec3], t: f64, h: f64) {
        self.fit(problem, h);
        // Before forces, which a particle at rest must feel whole.
        if problem.layer.is_some() {
            let rides = &problem.control.rides[problem.body as usize];
            self.keeps.slow(rides, problem.control, problem.inverse_masses, v);
        }
        self.feel_forces(problem, x, v, t, h);
        if self.is_damped {
            damp(problem.topology, problem.inverse_masses, h, x, v);
        }
        self.before.clear();
        self.before.extend_from_slice(x);
        x.iter_mut().zip(&*v).for_each(|(x, v)| *x += *v * h);
        if problem.layer.is_some() {
            let control = problem.control;
            let share = ((t + h - control.t0) / (control.t1 - control.t0)).min(1.0);
            let rides = &control.rides[problem.body as usize];
            self.skin.clear();
            self.skin.extend((0..rides.places.len()).map(|i| rides.at(i, share)));
            let Goals { following, springs, skin, .. } = self;
            for g in following {
                let goal = &mut springs[*g as usize];
                goal.rest_length = skin[goal.i as usize].distance(skin[goal.j as usize]);
            }
        }
        visit(&self.springs, x);
        if let Some(layer) = problem.layer {
            for (anchor, take) in layer.anchors.iter().zip(&self.anchor_shares) {
                let i = anchor.particle as usize;
                if problem.inverse_masses[i] > 0.0 {
                    x[i] = hold(x[i], self.skin[i], anchor.slack, *take);
                }
            }
        }
        for (((x, before), v), w) in x.iter().zip(&self.before).zip(v).zip(problem.inverse_masses) {
            if *w > 0.0 {
                *v = (*x - *before) / h;
            }
        }
    }
}

/// Moves the ends of each spring towards each other, one spring after the other.
fn visit(springs: &[Goal], x: &mut [DVec3]) {
    for goal in springs {
        let (i, j) = (goal.i as usize, goal.j as usize);
        let ahead = x[j] - x[i];
        let length = ahead.length();
        // Ends that meet have no direction to go.
        if length > 0.0 {
            let too_long = ahead * (1.0 - goal.rest_length / length);
            x[i] += too_long * goal.take[0];
            x[j] -= too_long * goal.take[1];
        }
    }
}

/// A particle that is further than `slack` from where it is anchored, `share` of the way back (SIM-08).
fn hold(x: DVec3, at: DVec3, slack: f64, share: f64) -> DVec3 {
    let off = x - at;
    let distance = off.length();
    if distance > slack { x - off * (share * (1.0 - slack / distance)) } else { x }
}

/// The springs in the order of their visits, and how much of the change each end takes. `attached` tells which particles have an anchor, `edges` which are
/// neighbours.
fn goals(
    springs: &[Spring],
    inverse_masses: &[f64],
    settings: Settings,
    attached: &[bool],
    edges: &[Edge],
    h: f64,
) -> Vec<Goal> {
    let (order, mut in_order) = from_held_ends(springs, inverse_masses);
    match settings.order {
        GoalOrder::Always => {}
        GoalOrder::Never => in_order.fill(false),
        GoalOrder::Automatic => {
            let hanging = hanging(springs, inverse_masses, edges);
            in_order.iter_mut().zip(hanging).for_each(|(in_order, hangs)| *in_order &= hangs);
            in_order.iter_mut().zip(attached).for_each(|(in_order, attached)| *in_order &= !attached);
        }
    }
    let is_held = |e: usize| inverse_masses[e] == 0.0;
    let mut tagged: Vec<bool> = (0..inverse_masses.len()).map(is_held).collect();
    let (mut goals, mut plain) = (Vec::with_capacity(springs.len()), Vec::new());
    let listed = (0..springs.len() as u32).collect();
    for s in if settings.order == GoalOrder::Never { listed } else { order } {
        let Spring { i, j, rest_length, stiffness, .. } = springs[s as usize];
        let ends = [i as usize, j as usize];
        let [wi, wj] = ends.map(|e| inverse_masses[e]);
        let pull = stiffness * h * h * (wi + wj);
        if pull.is_nan() || pull <= 0.0 {
            continue;
        }
        // Stiffness beyond all numbers is rigid.
        let k = if pull.is_finite() { pull / (1.0 + pull) } else { 1.0 };
        let by_mass = [wi / (wi + wj), wj / (wi + wj)];
        let has_order = ends.iter().all(|e| in_order[*e] || is_held(*e));
        let take = match (has_order, ends.map(|e| tagged[e])) {
            (false, _) | (true, [false, false]) => by_mass.map(|part| k * part),
            (true, [true, false]) => [0.0, k],
            (true, [false, true]) => [k, 0.0],
            (true, [true, true]) => by_mass.map(|part| settings.attenuation * k * part),
        };
        ends.iter().for_each(|e| tagged[*e] = true);
        let goal = Goal { i, j, rest_length, take };
        if settings.order == GoalOrder::Automatic && !has_order {
            plain.push(goal);
        } else if take != [0.0; 2] {
            goals.push(goal);
        }
    }
    apart(&mut plain, inverse_masses.len());
    goals.append(&mut plain);
    goals
}

/// Puts springs that share no particle beside each other, where their order does not matter: a processor then works on several at once.
fn apart(springs: &mut [Goal], count: usize) {
    let mut used: Vec<u64> = vec![0; count];
    let mut colour = |goal: &Goal| {
        let [a, b] = [goal.i, goal.j].map(|e| e as usize);
        let free = (used[a] | used[b]).trailing_ones().min(63);
        [a, b].iter().for_each(|e| used[*e] |= 1 << free);
        free
    };
    let mut coloured: Vec<(u32, Goal)> = springs.iter().map(|goal| (colour(goal), *goal)).collect();
    coloured.sort_by_key(|(colour, _)| *colour);
    springs.iter_mut().zip(coloured).for_each(|(spring, (_, goal))| *spring = goal);
}

/// The least particle that each is joined with, directly or by others.
fn pieces(count: usize, joins: impl Iterator<Item = [u32; 2]>) -> Vec<u32> {
    let mut least: Vec<u32> = (0..count as u32).collect();
    let root = |least: &mut Vec<u32>, mut e: u32| {
        while least[e as usize] != e {
            least[e as usize] = least[least[e as usize] as usize];
            e = least[e as usize];
        }
        e
    };
    for [i, j] in joins {
        let (a, b) = (root(&mut least, i), root(&mut least, j));
        least[a.max(b) as usize] = a.min(b);
    }
    (0..count as u32).map(|e| root(&mut least, e)).collect()
}

/// Which particles hang from one side: all that is held in their piece is one run of neighbours.
fn hanging(springs: &[Spring], inverse_masses: &[f64], edges: &[Edge]) -> Vec<bool> {
    let is_held = |e: u32| inverse_masses[e as usize] == 0.0;
    let joins = || springs.iter().map(|s| [s.i, s.j]).chain(edges.iter().map(|e| [e.i, e.j]));
    let count = inverse_masses.len();
    let runs = pieces(count, joins().filter(|[i, j]| is_held(*i) && is_held(*j)));
    let pieces = pieces(count, joins().filter(|[i, j]| !(is_held(*i) && is_held(*j))));
    // The run that holds each piece; none yet, or several.
    let mut holders: Vec<Option<u32>> = vec![None; inverse_masses.len()];
    let mut several = vec![false; inverse_masses.len()];
    for held in (0..inverse_masses.len() as u32).filter(|e| is_held(*e)) {
        let (piece, run) = (pieces[held as usize] as usize, runs[held as usize]);
        several[piece] |= holders[piece].is_some_and(|known| known != run);
        holders[piece] = Some(run);
    }
    pieces.iter().map(|piece| !several[*piece as usize]).collect()
}

/// The numbers of springs by the rest distance from particles that are held, along springs: when a particle is reached, first the spring of the shortest
/// way to it, then those to others that were reached before. Springs against bending carry nothing along a surface: they come after all others.
/// So do, as they are listed, springs that nothing held leads to. And which particles something leads to.
fn from_held_ends(springs: &[Spring], inverse_masses: &[f64]) -> (Vec<u32>, Vec<bool>) {
    let count = inverse_masses.len();
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (s, spring) in (0u32..).zip(springs).filter(|(_, s)| s.family != SpringFamily::Bend) {
        around[spring.i as usize].push(s);
        around[spring.j as usize].push(s);
    }
    let (mut order, mut listed) = (Vec::with_capacity(springs.len()), vec![false; springs.len()]);
    let mut nearest = vec![f64::INFINITY; count];
    let mut reached = vec![false; count];
    // Distances are not negative, so that their bits are in their order. What is held is reached by no spring.
    let mut next = BinaryHeap::new();
    for held in (0..count as u32).filter(|i| inverse_masses[*i as usize] == 0.0) {
        nearest[held as usize] = 0.0;
        next.push(Reverse((0u64, held, u32::MAX)));
    }
    while let Some(Reverse((bits, particle, way))) = next.pop() {
        let p = particle as usize;
        if std::mem::replace(&mut reached[p], true) {
            continue;
        }
        let mut list = |s: u32| {
            if !std::mem::replace(&mut listed[s as usize], true) {
                order.push(s);
            }
        };
        if way != u32::MAX {
            list(way);
        }
        for &s in &around[p] {
            let spring = &springs[s as usize];
            let other = if spring.i == particle { spring.j } else { spring.i };
            if reached[other as usize] {
                list(s);
                continue;
            }
            let distance = f64::from_bits(bits) + spring.rest_length;
            if distance < nearest[other as usize] {
                nearest[other as usize] = distance;
                next.push(Reverse((distance.to_bits(), other, s)));
            }
        }
    }
    order.extend((0..springs.len() as u32).filter(|s| !listed[*s as usize]));
    (order, reached)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spring(i: u32, j: u32, rest_length: f64) -> Spring {
        let (stiffness, damping) = (1e30, 0.0);
        Spring { i, j, rest_length, stiffness, damping, family: SpringFamily::Stretch, hops: 1 }
    }

    fn visited(springs: &[Spring], settings: Settings, inverse_masses: &[f64], x: &[f64]) -> Vec<f64> {
        let mut x: Vec<DVec3> = x.iter().map(|x| DVec3::X * *x).collect();
        let attached = vec![false; x.len()];
        visit(&goals(springs, inverse_masses, settings, &attached, &[], 1.0), &mut x);
        x.iter().map(|x| x.x).collect()
    }

    /// The chain of the thesis (SC-12): one end held at 0, the others at 2 and 4, springs of length 1.
    #[test]
    fn a_chain_is_as_long_as_its_springs_only_in_order() {
        let (w, start) = ([0.0, 1.0, 1.0], [0.0, 2.0, 4.0]);
        let (first, second) = (spring(0, 1, 1.0), spring(1, 2, 1.0));
        let plain = Settings { order: GoalOrder::Never, ..Settings::default() };
        assert_eq!(visited(&[first, second], plain, &w, &start), [0.0, 2.0, 3.0]);
        assert_eq!(visited(&[second, first], plain, &w, &start), [0.0, 1.0, 3.5]);
        for springs in [[first, second], [second, first]] {
            assert_eq!(visited(&springs, Settings::default(), &w, &start), [0.0, 1.0, 2.0]);
        }
    }

    #[test]
    fn free_ends_share_by_mass_and_keep_their_centre() {
        let moved = visited(&[spring(0, 1, 1.0)], Settings::default(), &[1.0, 1.0 / 3.0], &[0.0, 3.0]);
        assert_eq!(moved, [1.5, 2.5]);
    }

    /// A triangle whose tip both others carry: the spring between two that have been moved acts with γ.
    #[test]
    fn a_spring_between_two_that_were_moved_is_attenuated() {
        let springs = [spring(0, 1, 1.0), spring(0, 2, 1.0), spring(1, 2, 1.0)];
        for attenuation in [0.0, 0.5] {
            let settings = Settings { attenuation, ..Settings::default() };
            let made = goals(&springs, &[0.0, 1.0, 1.0], settings, &[false; 3], &[], 1.0);
            let last = made.iter().find(|g| (g.i, g.j) == (1, 2));
            assert_eq!(last.map(|g| g.take), (attenuation > 0.0).then_some([0.25; 2]));
        }
    }

    /// Held at both ends, or attached, no spring has an order unless it is asked for.
    #[test]
    fn order_is_for_what_hangs_from_one_side() {
        let springs: Vec<Spring> = (0..4).map(|k| spring(k, k + 1, 1.0)).collect();
        let whole = |order: GoalOrder, w: &[f64], attached: &[bool]| {
            let made = goals(&springs, w, Settings { order, ..Settings::default() }, attached, &[], 1.0);
            made.iter().filter(|g| g.take.contains(&0.0)).count()
        };
        let (one, both) = ([0.0, 1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0, 0.0]);
        let (free, attached) = ([false; 5], [false, false, true, false, false]);
        assert_eq!(whole(GoalOrder::Automatic, &one, &free), 4);
        // Next to what is held there is no other end to move.
        assert_eq!(whole(GoalOrder::Automatic, &both, &free), 2);
        // Where both ways meet both ends have been moved.
        assert_eq!(whole(GoalOrder::Always, &both, &free), 3);
        assert_eq!(whole(GoalOrder::Automatic, &one, &attached), 2);
        assert_eq!(whole(GoalOrder::Never, &one, &free), 1);
    }

    /// By rest distance: the diagonal to the far corner is not visited before the edge that carries it.
    #[test]
    fn the_shortest_way_is_visited_first() {
        // A ladder: 0 and 1 are held, rungs 1 m apart, diagonals from each left to the next right.
        let mut springs = Vec::new();
        for k in 0..4u32 {
            let at = 2 * k;
            springs.push(spring(at, at + 3, 2f64.sqrt()));
            springs.extend([
                spring(at, at + 2, 1.0),
                spring(at + 1, at + 3, 1.0),
                spring(at + 2, at + 3, 1.0),
            ]);
        }
        let mut w = vec![1.0; 10];
        w[..2].fill(0.0);
        let (order, _) = from_held_ends(&springs, &w);
        assert_eq!(order.len(), springs.len());
        let place = |s: u32| order.iter().position(|o| *o == s);
        for k in 0..4 {
            assert!(place(4 * k + 2) < place(4 * k), "{order:?}");
            assert!(place(4 * k + 2) < place(4 * k + 3) && place(4 * k + 1) < place(4 * k + 3), "{order:?}");
        }
        // What nothing leads to is visited, too.
        springs.push(spring(10, 11, 1.0));
        w.extend([1.0, 1.0]);
        let (order, reached) = from_held_ends(&springs, &w);
        assert_eq!((order.last(), &reached[8..]), (Some(&16), &[true, true, false, false][..]));
    }

    /// One particle on a spring of length 0 (SC-16), with goals of the places that are: at k = 1 it is there and stays, for any step.
    #[test]
    fn a_rigid_goal_is_reached_at_once() {
        assert_eq!(hold(DVec3::X, DVec3::ZERO, 0.0, 1.0), DVec3::ZERO);
        assert_eq!(hold(DVec3::X, DVec3::ZERO, 0.25, 1.0), DVec3::X * 0.25);
        assert_eq!(hold(DVec3::X * 0.2, DVec3::ZERO, 0.25, 1.0), DVec3::X * 0.2);
        assert_eq!(hold(DVec3::ZERO, DVec3::ZERO, 0.0, 1.0), DVec3::ZERO);
    }
}
