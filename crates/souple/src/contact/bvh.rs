//! Boxes of eight, and eight of those in a box: a tree over things that keep their neighbours (SIM-B8, ESSI-47).
//!
//! The tree is made once, from where things are at rest, by halving along the longest side; then it is refitted. A surface
//! that bends keeps its neighbours together, so that its tree does not degrade: one made anew for crumpled cloth is no faster
//! (`benches/trees`). Small things that move among each other do not: where boxes are larger than what is in them together, leaves are
//! put in a new order. Eight boxes are tested at a time.
//!
//! Promised: every pair of boxes that meet is found, in the order of the tree, which depends on nothing but the boxes; boxes with
//! corners that are not numbers meet nothing.

use crate::lanes::{Eight, Lanes, Vectors, WIDTH};

/// Eight boxes, each with a lowest and a highest corner, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boxes {
    low: [Eight; 3],
    high: [Eight; 3],
}

impl Default for Boxes {
    fn default() -> Boxes {
        Boxes::NONE
    }
}

impl Boxes {
    /// Boxes that hold nothing and meet nothing.
    pub const NONE: Boxes = Boxes { low: [[f32::INFINITY; WIDTH]; 3], high: [[f32::NEG_INFINITY; WIDTH]; 3] };

    /// Puts a box at a place.
    #[inline(always)]
    pub fn set(&mut self, l: usize, (low, high): ([f32; 3], [f32; 3])) {
        for k in 0..3 {
            self.low[k][l] = low[k];
            self.high[k][l] = high[k];
        }
    }

    /// The box at a place.
    #[inline(always)]
    pub fn get(&self, l: usize) -> ([f32; 3], [f32; 3]) {
        (
            [self.low[0][l], self.low[1][l], self.low[2][l]],
            [self.high[0][l], self.high[1][l], self.high[2][l]],
        )
    }

    /// A box around all of them.
    pub fn hull(&self) -> ([f32; 3], [f32; 3]) {
        let mut hull = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for k in 0..3 {
            for l in 0..WIDTH {
                hull.0[k] = hull.0[k].min(self.low[k][l]);
                hull.1[k] = hull.1[k].max(self.high[k][l]);
            }
        }
        hull
    }

    /// The sum of the sides of all of them, m.
    fn size(&self) -> f64 {
        let side = |k: usize, l: usize| f64::from((self.high[k][l] - self.low[k][l]).max(0.0));
        (0..WIDTH).map(|l| side(0, l) + side(1, l) + side(2, l)).sum()
    }

    /// A bit for each that meets a box.
    #[inline(always)]
    pub fn meet<L: Lanes>(&self, wanted: ([f32; 3], [f32; 3])) -> u8 {
        Hulls { low: Vectors::<L>::load(&self.low), high: Vectors::load(&self.high) }.meet(wanted)
    }
}

/// Eight boxes in registers.
#[derive(Clone, Copy)]
pub struct Hulls<L> {
    low: Vectors<L>,
    high: Vectors<L>,
}

impl<L: Lanes> Hulls<L> {
    /// Around eight things whose corners are given.
    #[inline(always)]
    pub fn around<const CORNERS: usize>(corners: &[Vectors<L>; CORNERS]) -> Hulls<L> {
        let mut hulls = Hulls { low: corners[0], high: corners[0] };
        for c in &corners[1..] {
            let (low, high) = (&mut hulls.low, &mut hulls.high);
            *low = Vectors { x: c.x.min(low.x), y: c.y.min(low.y), z: c.z.min(low.z) };
            *high = Vectors { x: c.x.max(high.x), y: c.y.max(high.y), z: c.z.max(high.z) };
        }
        hulls
    }

    /// A bit for each that meets a box.
    #[inline(always)]
    pub fn meet(&self, (low, high): ([f32; 3], [f32; 3])) -> u8 {
        let (low, high) = (Vectors::<L>::splat(low), Vectors::<L>::splat(high));
        let (under, over) = (self.low - high, low - self.high);
        // The largest gap along an axis is below 0 where they meet.
        let gap = under.x.max(under.y).max(under.z).max(over.x).max(over.y).max(over.z);
        gap.mask_below(L::splat(f32::MIN_POSITIVE))
    }
}

/// The order in which things of those places are put in a tree.
pub fn order(places: &[[f32; 3]]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..places.len() as u32).collect();
    let mut open = vec![(0, places.len())];
    while let Some((start, end)) = open.pop() {
        let length = end - start;
        if length <= WIDTH {
            continue;
        }
        // Whole boxes of eight, and whole boxes of those, stay together.
        let mut unit = WIDTH;
        while unit * WIDTH < length {
            unit *= WIDTH;
        }
        let left = (length / 2).div_ceil(unit) * unit;
        let part = &mut order[start..end];
        let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for &i in part.iter() {
            for k in 0..3 {
                low[k] = low[k].min(places[i as usize][k]);
                high[k] = high[k].max(places[i as usize][k]);
            }
        }
        let side = |k: usize| high[k] - low[k];
        let longest = (1..3).fold(0, |best, k| if side(k) > side(best) { k } else { best });
        let key = |i: &u32| places[*i as usize][longest];
        part.select_nth_unstable_by(left, |a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
        open.push((start, start + left));
        open.push((start + left, end));
    }
    order.chunks_mut(WIDTH).for_each(<[u32]>::sort_unstable);
    order
}

/// A tree over eights of boxes, its leaves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// Around leaves; around eight of those; and so on, to a single eight.
    levels: Vec<Vec<Boxes>>,
    /// Leaves in the order of the tree, if it is not their own,
    order: Vec<u32>,
    /// and the place of each in it.
    places: Vec<u32>,
}

/// Boxes are larger than this share of what is in them, by the sum of their sides, where a tree has degraded. Those of eight
/// neighbours of a surface have about a third.
const DEGRADED: f64 = 1.0;

impl Tree {
    /// Fits the tree to its leaves, given by the box around each.
    pub fn fit(&mut self, leaves: usize, around: impl Fn(usize) -> ([f32; 3], [f32; 3])) {
        self.order.clear();
        self.places.clear();
        self.fit_levels(leaves, &around);
        if self.share() > DEGRADED {
            let middle = |i: usize| {
                let (low, high) = around(i);
                [0, 1, 2].map(|k| 0.5 * (low[k] + high[k]))
            };
            let order = order(&(0..leaves).map(middle).collect::<Vec<_>>());
            self.fit_levels(leaves, |i| around(order[i] as usize));
            self.places.resize(leaves, 0);
            (0u32..).zip(&order).for_each(|(place, leaf)| self.places[*leaf as usize] = place);
            self.order = order;
        }
    }

    fn fit_levels(&mut self, leaves: usize, around: impl Fn(usize) -> ([f32; 3], [f32; 3])) {
        self.levels.resize_with(1, Vec::new);
        fit_level(&mut self.levels[0], leaves, around);
        let mut k = 0;
        while self.levels[k].len() > 1 {
            if self.levels.len() == k + 1 {
                self.levels.push(Vec::new());
            }
            let (below, level) = self.levels.split_at_mut(k + 1);
            fit_level(&mut level[0], below[k].len(), |i| below[k][i].hull());
            k += 1;
        }
        self.levels.truncate(k + 1);
    }

    /// How large the boxes of the level with the largest ones are against what is in them together. The last is around everything, whatever
    /// the order.
    fn share(&self) -> f64 {
        let sizes = self.levels.iter().map(|level| level.iter().map(Boxes::size).sum::<f64>());
        let sizes: Vec<f64> = sizes.collect();
        sizes.windows(2).map(|pair| pair[1] / pair[0].max(f64::MIN_POSITIVE)).fold(0.0, f64::max)
    }

    /// The leaf at a place of the tree.
    #[inline(always)]
    fn leaf(&self, place: usize) -> usize {
        if self.order.is_empty() { place } else { self.order[place] as usize }
    }

    /// Calls `found` with each leaf that a box meets, from `first` on in the order of the tree: of all leaves, each pair once.
    #[inline(always)]
    pub fn meet<L: Lanes>(&self, first: usize, wanted: ([f32; 3], [f32; 3]), mut found: impl FnMut(usize)) {
        let Some(top) = self.levels.len().checked_sub(1) else { return };
        let first = if self.order.is_empty() { first } else { self.places[first] as usize };
        // Eight levels of eight: more leaves than there are indices.
        let mut open = [(0usize, 0u8); 12];
        open[top] = (0, self.levels[top].first().map_or(0, |b| b.meet::<L>(wanted)));
        let mut k = top;
        loop {
            let (node, mask) = open[k];
            if mask == 0 {
                if k == top {
                    return;
                }
                k += 1;
                continue;
            }
            let child = node * WIDTH + mask.trailing_zeros() as usize;
            open[k].1 = mask & (mask - 1);
            // The last leaf below a child.
            let last = ((child + 1) << (3 * k)) - 1;
            if last < first {
                continue;
            }
            if k == 0 {
                found(self.leaf(child));
            } else {
                k -= 1;
                open[k] = (child, self.levels[k][child].meet::<L>(wanted));
            }
        }
    }
}

fn fit_level(level: &mut Vec<Boxes>, n: usize, around: impl Fn(usize) -> ([f32; 3], [f32; 3])) {
    level.clear();
    level.resize(n.div_ceil(WIDTH), Boxes::NONE);
    for i in 0..n {
        level[i / WIDTH].set(i % WIDTH, around(i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Instructions, Kernel};
    use crate::math::uniform;

    struct Meet<'a>(&'a Tree, usize, ([f32; 3], [f32; 3]), &'a mut Vec<usize>);

    impl Kernel for Meet<'_> {
        type Output = ();
        #[inline(always)]
        fn run<L: Lanes>(self) {
            let Meet(tree, first, wanted, found) = self;
            tree.meet::<L>(first, wanted, |leaf| found.push(leaf));
        }
    }

    fn random_box(seed: u64, i: usize, size: f32) -> ([f32; 3], [f32; 3]) {
        let number = |k: u64| uniform(seed, 8 * i as u64 + k) as f32;
        let low = [number(0), number(1), number(2)];
        (low, [low[0] + size * number(3), low[1] + size * number(4), low[2] + size * number(5)])
    }

    #[test]
    fn a_tree_finds_what_a_loop_over_all_finds() {
        for (n, size) in
            [(0, 0.1), (1, 0.1), (7, 0.5), (8, 0.3), (9, 0.3), (65, 0.2), (700, 0.1), (5000, 0.03)]
        {
            let boxes: Vec<_> = (0..n).map(|i| random_box(1, i, size)).collect();
            let mut tree = Tree::default();
            tree.fit(n, |i| boxes[i]);
            for q in 0..40 {
                let wanted = random_box(2, q, 0.2);
                let first = q * n / 60;
                for instructions in [Instructions::Plain, Instructions::detect()] {
                    let mut found = Vec::new();
                    instructions.run(Meet(&tree, first, wanted, &mut found));
                    let meets = |b: &([f32; 3], [f32; 3])| {
                        (0..3).all(|k| b.0[k] <= wanted.1[k] && wanted.0[k] <= b.1[k])
                    };
                    // Random boxes are put in order where that pays.
                    let place = |i: usize| tree.places.get(i).map_or(i, |p| *p as usize);
                    let from = tree.places.get(first).map_or(first, |p| *p as usize);
                    let mut all: Vec<usize> =
                        (0..n).filter(|&i| place(i) >= from && meets(&boxes[i])).collect();
                    all.sort_unstable_by_key(|i| place(*i));
                    assert_eq!(found, all, "{n} boxes");
                }
            }
        }
    }

    #[test]
    fn things_that_changed_places_are_put_in_order() {
        let boxes: Vec<_> = (0..4096).map(|i| random_box(4, i, 0.1)).collect();
        let centres: Vec<[f32; 3]> = boxes.iter().map(|b| b.0).collect();
        let neat = order(&centres);
        let (mut tree, mut mixed) = (Tree::default(), Tree::default());
        tree.fit(boxes.len(), |i| boxes[neat[i] as usize]);
        assert!(tree.order.is_empty(), "neighbours are together: {}", tree.share());
        mixed.fit(boxes.len(), |i| boxes[i]);
        assert!(!mixed.order.is_empty());
        assert!(mixed.share() < 1.01 * tree.share(), "{} {}", mixed.share(), tree.share());
        // What is together again is left as it is.
        mixed.fit(boxes.len(), |i| boxes[neat[i] as usize]);
        assert_eq!(mixed, tree);
    }

    #[test]
    fn the_order_has_everything_once_and_neighbours_together() {
        for n in [0usize, 1, 8, 9, 64, 65, 513, 3000] {
            let places: Vec<[f32; 3]> = (0..n).map(|i| random_box(3, i, 0.0).0).collect();
            let order = order(&places);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..n as u32).collect::<Vec<_>>());
            if n < 3000 {
                continue;
            }
            // Eights that fill a cube of random points evenly are boxes of (8/n)^(1/3) a side; those of a random order span all.
            let span = |eight: &[u32]| {
                let along = |k: usize| eight.iter().map(|&i| places[i as usize][k]).collect::<Vec<_>>();
                let side =
                    |v: Vec<f32>| v.iter().fold(0.0, |m, c| c.max(m)) - v.iter().fold(1.0, |m, c| c.min(m));
                (0..3).map(|k| side(along(k))).sum::<f32>() / 3.0
            };
            let mean = order.chunks(8).map(span).sum::<f32>() / (n / 8) as f32;
            assert!(mean < 0.25, "{mean}");
        }
    }
}
