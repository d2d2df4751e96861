//! Layers: particles that follow others (FAU-16, FAU-19, FAU-24, FAU-62, FAU-63).
//!
//! A body is moved by its independent particles, which have mass. Other particles may follow them: the surface that is seen and touched
//! follows the cells it lies in, a T-node the corners of the larger cell beside it, points of a rigid body its frame, skin its bones. All
//! of these are linear in their parents, with weights that do not change: p = Σ w x. So there is one [`Mapping`], a sparse
//! matrix, and its three operations: [`Mapping::apply`] for places, [`Mapping::apply_j`] for velocities, [`Mapping::apply_jt`], which brings
//! forces back so that they do the same work. What differs is how the weights are found: the functions in [`rows`].
//!
//! Layers may lie on layers to any depth: a row whose parents follow others is written in terms of those when it is added, so
//! that every operation is one pass.
//!
//! Promised: Jᵀ is the transpose of J (work is the same on both sides), and forces on followers are moved, not copied. Not here: maps
//! that are not linear. A rigid frame is four particles that keep their distances, which makes its map linear too.

pub mod rows;

use glam::{DMat3, DVec3};

use crate::energy::PairBlock;

/// Which particles of a body follow which, and with what weights. Parents are independent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mapping {
    children: Vec<u32>,
    /// For each child, where its parents begin; one more at the end.
    start: Vec<u32>,
    parents: Vec<u32>,
    weights: Vec<f64>,
    /// For each particle its place among the children; `NONE` for those that are independent, which the list need not reach.
    place: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// So many times lighter than the heaviest of its neighbours a parent may be when followers lead it.
const LIGHTEST: f64 = 4.0;

impl Mapping {
    /// Whether no particle follows another.
    pub fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    /// How many particles follow others.
    pub fn len(&self) -> usize {
        self.children.len()
    }

    /// Whether a particle follows others.
    pub fn follows(&self, particle: u32) -> bool {
        self.place_of(particle).is_some()
    }

    fn place_of(&self, particle: u32) -> Option<usize> {
        self.place.get(particle as usize).filter(|p| **p != NONE).map(|p| *p as usize)
    }

    /// Lets a particle follow others; a parent that is itself a child is replaced by its own parents. A particle can be added once,
    /// after the parents it has: others are left out.
    pub fn push(&mut self, child: u32, row: &[(u32, f64)]) {
        if self.follows(child) {
            return;
        }
        let mut flat: Vec<(u32, f64)> = Vec::with_capacity(row.len());
        for &(parent, weight) in row {
            match self.place_of(parent) {
                None => flat.push((parent, weight)),
                Some(place) => flat.extend(self.row(place).map(|(p, w)| (p, weight * w))),
            }
        }
        flat.retain(|(p, w)| *w != 0.0 && *p != child);
        flat.sort_by_key(|(p, _)| *p);
        flat.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        if self.start.is_empty() {
            self.start.push(0);
        }
        if self.place.len() <= child as usize {
            self.place.resize(child as usize + 1, NONE);
        }
        self.place[child as usize] = self.children.len() as u32;
        self.children.push(child);
        self.parents.extend(flat.iter().map(|(p, _)| *p));
        self.weights.extend(flat.iter().map(|(_, w)| *w));
        self.start.push(self.parents.len() as u32);
    }

    fn row(&self, place: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.start[place] as usize..self.start[place + 1] as usize;
        self.parents[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// Each child with its parents and their weights.
    pub fn rows(&self) -> impl Iterator<Item = (u32, impl Iterator<Item = (u32, f64)> + '_)> + '_ {
        self.children.iter().enumerate().map(|(place, child)| (*child, self.row(place)))
    }

    /// The parents of a particle and their weights; an independent one has itself.
    pub fn parents(&self, particle: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        let place = self.place_of(particle);
        let own = place.is_none().then_some((particle, 1.0));
        own.into_iter().chain(place.into_iter().flat_map(|p| self.row(p)))
    }

    /// Puts followers where their parents say.
    pub fn apply(&self, x: &mut [DVec3]) {
        for (child, ends) in self.children.iter().zip(self.start.windows(2)) {
            let row = ends[0] as usize..ends[1] as usize;
            let mut sum = DVec3::ZERO;
            for (p, w) in self.parents[row.clone()].iter().zip(&self.weights[row]) {
                sum += x[*p as usize] * *w;
            }
            x[*child as usize] = sum;
        }
    }

    /// Gives followers the velocities that their parents say, or any change that is linear.
    pub fn apply_j(&self, v: &mut [DVec3]) {
        self.apply(v);
    }

    /// Moves forces on followers to their parents: what they did there is 0 afterwards.
    pub fn apply_jt(&self, f: &mut [DVec3]) {
        for (child, row) in self.rows() {
            let force = std::mem::replace(&mut f[child as usize], DVec3::ZERO);
            if force != DVec3::ZERO {
                row.for_each(|(p, w)| f[p as usize] += force * w);
            }
        }
    }

    /// Moves masses of followers to their parents, kg: rows of Jᵀ M J added up. Their sum stays, and what they follow weighs as much.
    pub fn raise_masses(&self, masses: &mut [f64]) {
        for (child, row) in self.rows() {
            let mass = std::mem::replace(&mut masses[child as usize], 0.0);
            row.for_each(|(p, w)| masses[p as usize] += mass * w);
        }
    }

    /// Moves the blocks of a matrix on followers to their parents, Jᵀ A J: both lists are of one matrix, as energies give it.
    pub fn condense(&self, diagonal: &mut [DMat3], pairs: &mut Vec<PairBlock>) {
        if self.is_empty() {
            return;
        }
        let given = std::mem::take(pairs);
        for pair in given {
            if !self.follows(pair.i) && !self.follows(pair.j) {
                pairs.push(pair);
                continue;
            }
            for (i, wi) in self.parents(pair.i) {
                for (j, wj) in self.parents(pair.j) {
                    let block = pair.block * (wi * wj);
                    if i == j {
                        diagonal[i as usize] += block + block.transpose();
                    } else {
                        pairs.push(PairBlock { i, j, block });
                    }
                }
            }
        }
        for (place, &child) in self.children.iter().enumerate() {
            let block = std::mem::replace(&mut diagonal[child as usize], DMat3::ZERO);
            if block == DMat3::ZERO {
                continue;
            }
            for (k, (i, wi)) in self.row(place).enumerate() {
                diagonal[i as usize] += block * (wi * wi);
                for (j, wj) in self.row(place).skip(k + 1) {
                    pairs.push(PairBlock { i, j, block: block * (wi * wj) });
                }
            }
        }
    }

    /// The most that 1/m of a parent of a follower counts for when something moves it, 1/kg: parents that are much lighter than their neighbours, such as
    /// corners of cells with next to nothing in them, would fly away.
    pub fn most_ease(&self, follower: u32, inverse_masses: &[f64]) -> f64 {
        let heaviest = self
            .parents(follower)
            .map(|(p, _)| inverse_masses[p as usize])
            .filter(|w| *w > 0.0)
            .fold(f64::INFINITY, f64::min);
        LIGHTEST * heaviest
    }

    /// How easily followers give way, 1/kg: what a unit impulse on one alone changes its velocity by, Σ w²/m, but for parents that are very light
    /// ([`Mapping::most_ease`]). Followers of what is held are held.
    pub fn mobilities(&self, inverse_masses: &mut [f64]) {
        for (child, row) in self.rows() {
            let most = self.most_ease(child, inverse_masses);
            let ease = |p: u32| inverse_masses[p as usize].min(most);
            inverse_masses[child as usize] = row.map(|(p, w)| w * w * ease(p)).sum();
        }
    }

    /// Moves parents so that followers come to where they were put (FAU-18, FAU-64): the smallest change by mass of `x` that does,
    /// found by turns (Kaczmarz 1937), which is what the pseudo-inverse of H gives, but for parents that are very light ([`Mapping::most_ease`]). `wanted` lists followers and where they are to be, m. Returns the furthest that one is still off, m.
    pub fn lead(&self, wanted: &[(u32, DVec3)], inverse_masses: &[f64], sweeps: u32, x: &mut [DVec3]) -> f64 {
        let mut off = 0.0f64;
        for sweep in 0..sweeps {
            off = 0.0;
            for &(child, place) in wanted {
                let Some(row) = self.place_of(child) else { continue };
                let most = self.most_ease(child, inverse_masses);
                let ease = |p: u32| inverse_masses[p as usize].min(most);
                let mobility: f64 = self.row(row).map(|(p, w)| w * w * ease(p)).sum();
                if mobility == 0.0 {
                    continue;
                }
                let now: DVec3 = self.row(row).map(|(p, w)| x[p as usize] * w).sum();
                let lack = (place - now) / mobility;
                off = off.max(place.distance(now));
                for (p, w) in self.row(row) {
                    x[p as usize] += lack * (w * ease(p));
                }
            }
            // A ten-thousand-millionth of a metre: rounding.
            if sweep > 0 && off < 1e-10 {
                break;
            }
        }
        off
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::uniform;
    use proptest::prelude::*;

    fn places(n: usize, seed: u64) -> Vec<DVec3> {
        let at = |i: usize| 2.0 * uniform(seed, i as u64) - 1.0;
        (0..n).map(|i| DVec3::new(at(3 * i), at(3 * i + 1), at(3 * i + 2))).collect()
    }

    /// Three layers: 0..4 are independent, 4..8 follow them, 8..10 follow those.
    fn layers(seed: u64) -> Mapping {
        let mut mapping = Mapping::default();
        for child in 4..8u32 {
            let row: Vec<(u32, f64)> = (0..4).map(|p| (p, uniform(seed, u64::from(8 * child + p)))).collect();
            mapping.push(child, &row);
        }
        mapping.push(8, &[(4, 0.25), (5, 0.75)]);
        mapping.push(9, &[(0, 0.5), (7, 0.5)]);
        mapping
    }

    proptest! {
        #[test]
        fn the_work_is_the_same_on_both_sides(seed in any::<u64>()) {
            let mapping = layers(seed);
            let (mut v, mut f) = (places(10, seed ^ 1), places(10, seed ^ 2));
            mapping.apply_j(&mut v);
            let work: f64 = v.iter().zip(&f).map(|(v, f)| v.dot(*f)).sum();
            mapping.apply_jt(&mut f);
            prop_assert!(f[4..].iter().all(|f| *f == DVec3::ZERO));
            let raised: f64 = v.iter().zip(&f).map(|(v, f)| v.dot(*f)).sum();
            prop_assert!((work - raised).abs() < 1e-12);
        }

        #[test]
        fn velocities_are_differences_of_places(seed in any::<u64>()) {
            let mapping = layers(seed);
            let (x, mut v) = (places(10, seed ^ 3), places(10, seed ^ 4));
            let (mut before, mut after) = (x.clone(), x.iter().zip(&v).map(|(x, v)| *x + *v).collect::<Vec<_>>());
            mapping.apply(&mut before);
            mapping.apply(&mut after);
            mapping.apply_j(&mut v);
            for ((a, b), v) in after.iter().zip(&before).zip(&v).skip(4) {
                prop_assert!((*a - *b - *v).length() < 1e-12);
            }
        }

        #[test]
        fn a_condensed_matrix_gives_the_products_of_the_chain(seed in any::<u64>()) {
            let mapping = layers(seed);
            let column = places(30, seed ^ 5);
            let block = |k: usize| DMat3::from_cols(column[k % 30], column[(k + 7) % 30], column[(k + 13) % 30]);
            let mut diagonal: Vec<DMat3> = (0..10).map(|i| block(i) + block(i).transpose()).collect();
            let mut pairs: Vec<PairBlock> = [(0, 1), (4, 5), (8, 2), (9, 8), (3, 7)]
                .iter()
                .enumerate()
                .map(|(k, &(i, j))| PairBlock { i, j, block: block(k + 11) })
                .collect();
            let product = |diagonal: &[DMat3], pairs: &[PairBlock], d: &[DVec3]| {
                let mut out: Vec<DVec3> = diagonal.iter().zip(d).map(|(m, d)| *m * *d).collect();
                for p in pairs {
                    out[p.i as usize] += p.block * d[p.j as usize];
                    out[p.j as usize] += p.block.transpose() * d[p.i as usize];
                }
                out
            };
            let mut d = places(10, seed ^ 6);
            mapping.apply_j(&mut d);
            let mut chain = product(&diagonal, &pairs, &d);
            mapping.apply_jt(&mut chain);
            mapping.condense(&mut diagonal, &mut pairs);
            let condensed = product(&diagonal, &pairs, &d);
            for (a, b) in chain.iter().zip(&condensed) {
                prop_assert!((*a - *b).length() < 1e-11, "{a} {b}");
            }
        }
    }

    #[test]
    fn parents_are_led_so_that_followers_come_to_their_places() {
        let mut mapping = Mapping::default();
        mapping.push(4, &rows::barycentric([0, 1, 2], [0.2, 0.3, 0.5]));
        mapping.push(5, &rows::barycentric([1, 2, 3], [0.6, 0.3, 0.1]));
        let mut x = places(6, 9);
        let before = x.clone();
        let wanted = [(4, DVec3::new(0.3, 0.1, 0.2)), (5, DVec3::new(-0.1, 0.4, 0.0))];
        let off = mapping.lead(&wanted, &[1.0, 2.0, 0.5, 1.0, 0.0, 0.0], 500, &mut x);
        assert!(off < 1e-10, "{off}");
        mapping.apply(&mut x);
        for (child, place) in wanted {
            assert!(x[child as usize].distance(place) < 1e-10);
        }
        // The smallest change by mass is M⁻¹ Hᵀ λ: none of it is seen by what H does not see.
        let changes: Vec<DVec3> = (0..4).map(|i| (x[i] - before[i]) / [1.0, 2.0, 0.5, 1.0][i]).collect();
        // (0.2, 0.3, 0.5, 0)·n = 0 and (0, 0.6, 0.3, 0.1)·n = 0 for these two.
        for n in [[-2.5, 0.0, 1.0, -3.0], [-1.5, 1.0, 0.0, -6.0]] {
            let seen: DVec3 = changes.iter().zip(n).map(|(c, n)| *c * n).sum();
            assert!(seen.length() < 1e-9, "{seen}");
        }
    }

    #[test]
    fn what_follows_is_as_mobile_as_its_parents_let_it() {
        let mut mapping = Mapping::default();
        mapping.push(2, &[(0, 0.5), (1, 0.5)]);
        let mut w = [2.0, 0.0, 9.0];
        mapping.mobilities(&mut w);
        assert_eq!(w, [2.0, 0.0, 0.5]);
    }
}
