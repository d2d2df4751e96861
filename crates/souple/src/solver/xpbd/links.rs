//! Constraints on the distance of two vertices: springs, stretch limits, coarse edges.
//!
//! C = |x_j − x_i| − l0 with compliance α = 1/k (Macklin, Müller, Chentanez 2016): per visit Δλ = −C / (w_i + w_j + α/h²)
//! and each end moves by w Δλ along the link. One visit per substep, so the multiplier begins at 0 and is not kept.
//!
//! Of the two links that go on in its line one is visited after it, on average, and makes it longer again by w λ of the vertex
//! between them: it would be softer than it says by k h²/m, in the first order. That much is taken off its compliance, as far as
//! there is any; what is left of the error is of second order.
//!
//! Positions are displacements since the frame began, in 32 bits: what a vertex moves in a substep would be lost in the
//! rounding of its position. The difference of the two ends when the frame began, and how much its square was above that
//! of the rest length, are stored with the link, taken in 64. So a strain of a millionth is still known to six digits, where
//! the difference of two lengths in 32 bits would be noise.

use glam::DVec3;

use super::strips::{Strips, in_rows};
use crate::lanes::{
    self, Eight, Instructions, Kernel, Lanes, Lie, Numbers, Pair, PairKernel, Places, Point, Vectors, WIDTH,
};
use crate::math::four::{Four, Number, dot};
use crate::mesh::Rows;
use crate::parallel::Parallel;

/// A link to be packed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// First vertex.
    pub i: u32,
    /// Second vertex.
    pub j: u32,
    /// Rest length, m; positive.
    pub rest_length: f64,
    /// Compliance α = 1/k, m/N; 0 for a link that cannot stretch.
    pub compliance: f64,
    /// Shortest and longest length, m; 0 and infinite without limits.
    pub range: (f64, f64),
    /// Whether it is part of a hem.
    pub border: bool,
    /// Inverse mass that links visited later act on, 1/kg: half of that of each end beyond which another goes on.
    pub later: f64,
}

/// Eight links.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Links8 {
    i: Places,
    j: Places,
    /// x_j − x_i when the frame began, m.
    start: [Eight; 3],
    /// |x_j − x_i|² − l0² when the frame began, m².
    excess: Eight,
    rest_length: Eight,
    /// α/h² less what links visited later add, 1/kg.
    compliance: Eight,
    /// How the ends of this eight and of the other of its pair lie.
    lie: Lie,
}

/// Eight links with limits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Limits8 {
    links: Links8,
    shortest: Eight,
    longest: Eight,
}

/// Packed links of a body or of one of its levels.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSet {
    /// Substep that compliances are made for, s.
    h: f32,
    /// Mean share of their length by which links are longer than at rest when the frame begins; 0 of what follows a skin.
    pub stretch: f64,
    /// Compliance and inverse mass of later links, for each eight of `links` and of `borders`.
    soft: [Vec<[Eight; 2]>; 2],
    /// All links.
    pub links: Strips<Links8>,
    /// Those of hems, once more: tension gathers there, and they are few.
    pub borders: Strips<Links8>,
    /// Those that have a limit, once more.
    pub limits: Strips<Limits8>,
}

/// No link is taken to be shorter than this, m: its direction would be noise.
const SHORTEST: f32 = 1e-12;

/// No link is made to rest at less than this, m, where a skin is drawn together: shares of its length would be beyond all numbers.
const LEAST_LENGTH: f32 = 1e-6;

/// What is divided by instead of 0 where neither end can move: so small that it is less than any link has, so large that the
/// quotient is finite, and 0 times it is 0, even if supports are a thousand kilometres apart.
const NOTHING: f32 = 1e-25;

impl LinkSet {
    /// Packs links of `count` vertices.
    pub fn new(count: usize, links: &[Link]) -> LinkSet {
        let some = |which: &dyn Fn(&Link) -> bool| -> (Vec<Link>, Vec<[u32; 2]>) {
            links.iter().filter(|l| which(l)).map(|l| (*l, [l.i, l.j])).unzip()
        };
        let (all, all_ends) = some(&|_| true);
        let (border, border_ends) = some(&|l| l.border);
        let (limited, limited_ends) = some(&|l| l.range.0 > 0.0 || l.range.1.is_finite());
        let mut soft = [Vec::new(), Vec::new()];
        let mut packed = |kind: usize, links: &[Link], ends: &[[u32; 2]]| {
            let soft = &mut soft[kind];
            let mut packed = Strips::arranged(count, ends, in_rows, |numbers, start| {
                let own = numbers.map(|n| links[n as usize]);
                soft.push([own.map(|l| l.compliance as f32), own.map(|l| l.later as f32)]);
                pack(numbers, links, start)
            });
            for [one, two] in packed.pairs_mut() {
                let lie = Lie::of([&one.i, &two.i], [&one.j, &two.j]);
                (one.lie, two.lie) = (lie, lie);
            }
            packed
        };
        let (links, borders) = (packed(0, &all, &all_ends), packed(1, &border, &border_ends));
        let limits = Strips::new(count, &limited_ends, |numbers, start| Limits8 {
            links: pack(numbers, &limited, start),
            shortest: numbers.map(|n| limited[n as usize].range.0 as f32),
            longest: numbers.map(|n| limited[n as usize].range.1 as f32),
        });
        LinkSet { h: 0.0, stretch: 0.0, soft, links, borders, limits }
    }

    /// Makes compliances for substeps of `h`, s.
    pub fn set_step(&mut self, h: f32) {
        if self.h == h {
            return;
        }
        self.h = h;
        let inverse_h2 = 1.0 / (h * h);
        for (links, soft) in [&mut self.links, &mut self.borders].into_iter().zip(&self.soft) {
            for ((eight, _), [compliance, later]) in links.eights_mut().zip(soft) {
                for l in 0..WIDTH {
                    eight.compliance[l] = (compliance[l] * inverse_h2 - later[l]).max(0.0);
                }
            }
        }
    }

    /// Takes the differences of ends from positions when the frame begins, m. Links of which both ends are `ridden` rest as long as they are there.
    pub fn begin_frame(
        &mut self,
        parallel: &Parallel,
        instructions: Instructions,
        x: &[DVec3],
        ridden: &[DVec3],
    ) {
        let begin = |links: &mut Links8, start: usize| {
            instructions.run(Begin { links, x: &x[start..], ridden: ridden.get(start..).unwrap_or(&[]) })
        };
        let sum = self.links.each(parallel, begin);
        self.stretch = sum / self.links.len().max(1) as f64;
        self.borders.each(parallel, begin);
        self.limits.each(parallel, |eight, start| begin(&mut eight.links, start));
    }
}

fn pack(numbers: &[u32; WIDTH], links: &[Link], start: u32) -> Links8 {
    let own = numbers.map(|n| links[n as usize]);
    Links8 {
        i: Places::new(own.map(|l| l.i - start)),
        j: Places::new(own.map(|l| l.j - start)),
        start: [[0.0; WIDTH]; 3],
        excess: [0.0; WIDTH],
        rest_length: own.map(|l| l.rest_length as f32),
        compliance: [0.0; WIDTH],
        lie: Lie::Scattered,
    }
}

/// The beginning of a frame for eight links: returns the mean share of their length by which they are longer than at rest, for small ones.
struct Begin<'a> {
    links: &'a mut Links8,
    /// Positions from the first vertex of the strip on, m.
    x: &'a [DVec3],
    /// Where a skin has them, m, no numbers for those that do not follow it; none if there is no skin.
    ridden: &'a [DVec3],
}

impl Kernel for Begin<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<L: Lanes>(self) -> f64 {
        let Begin { links, x, ridden } = self;
        let mut sum = 0.0;
        for half in 0..2 {
            let at = 4 * half;
            if !ridden.is_empty() {
                let d = differences(links, at, ridden);
                let lengths = dot(d, d).sqrt().0;
                for k in 0..4 {
                    // That of what does not follow is no number.
                    let length = (lengths[k] as f32).max(LEAST_LENGTH);
                    let own = &mut links.rest_length[at + k];
                    *own = if lengths[k] >= 0.0 { length } else { *own };
                }
            }
            let d = differences(links, at, x);
            let mut rest = [0.0; 4];
            for k in 0..4 {
                rest[k] = f64::from(links.rest_length[at + k]);
            }
            let square = Four(rest) * Four(rest);
            let excess = dot(d, d) - square;
            for k in 0..4 {
                links.excess[at + k] = excess.0[k] as f32;
                links.start[0][at + k] = d[0].0[k] as f32;
                links.start[1][at + k] = d[1].0[k] as f32;
                links.start[2][at + k] = d[2].0[k] as f32;
            }
            // What follows a skin has no other help, and nobody asks.
            if ridden.is_empty() {
                let stretch = (Four::splat(0.5) * excess / square).0;
                for k in 0..4 {
                    sum += stretch[k].max(0.0);
                }
            }
        }
        sum / WIDTH as f64
    }
}

/// From first to second ends of four of eight links.
#[inline(always)]
fn differences(links: &Links8, at: usize, x: &[DVec3]) -> [Four; 3] {
    let mut rows = [DVec3::ZERO; 4];
    for k in 0..4 {
        rows[k] = x[links.j.at()[at + k] as usize] - x[links.i.at()[at + k] as usize];
    }
    let [a, b, c, d] = rows;
    [Four([a.x, b.x, c.x, d.x]), Four([a.y, b.y, c.y, d.y]), Four([a.z, b.z, c.z, d.z])]
}

/// The ends of eight links and the vector between them.
struct Ends<L> {
    i: Vectors<L>,
    j: Vectors<L>,
    /// Inverse masses.
    w: (L, L),
    /// From i to j.
    d: Vectors<L>,
    length: L,
    /// |d|² − l0².
    excess: L,
}

#[inline(always)]
fn ends<L: Lanes>(links: &Links8, displacements: &[Point]) -> Ends<L> {
    let (i, j) = (Vectors::gather(displacements, &links.i), Vectors::gather(displacements, &links.j));
    between(i, j, Vectors::load(&links.start), L::load(&links.excess))
}

/// The same of two eights.
#[inline(always)]
fn ends_of_pair<P: Pair>([one, two]: &[Links8; 2], displacements: &[Point]) -> Ends<P> {
    let [[ix, iy, iz, wi], [jx, jy, jz, wj]] = P::gather(displacements, &places(one, two));
    let start = Vectors {
        x: P::load(&one.start[0], &two.start[0]),
        y: P::load(&one.start[1], &two.start[1]),
        z: P::load(&one.start[2], &two.start[2]),
    };
    let (i, j) = (Vectors { x: ix, y: iy, z: iz }, Vectors { x: jx, y: jy, z: jz });
    between((i, wi), (j, wj), start, P::load(&one.excess, &two.excess))
}

#[inline(always)]
fn places<'a>(one: &'a Links8, two: &'a Links8) -> lanes::Ends<'a> {
    lanes::Ends { i: [&one.i, &two.i], j: [&one.j, &two.j], lie: one.lie }
}

/// The ends of links with their inverse masses, what was between them when the frame began, and by how much its square was above that of the rest length.
#[inline(always)]
fn between<N: Numbers>(
    (i, wi): (Vectors<N>, N),
    (j, wj): (Vectors<N>, N),
    start: Vectors<N>,
    excess: N,
) -> Ends<N> {
    let change = j - i;
    let d = start + change;
    // |s + c|² − |s|² = c·(s + (s + c)).
    let excess = excess + change.dot(start + d);
    Ends { i, j, w: (wi, wj), d, length: d.length().max(N::splat(SHORTEST)), excess }
}

/// Moves the ends towards each other by `share` of the vector between them, per inverse mass.
#[inline(always)]
fn pull<L: Lanes>(links: &Links8, ends: &Ends<L>, share: L, displacements: &mut [Point]) {
    let (wi, wj) = ends.w;
    (ends.i + ends.d * (share * wi)).scatter(wi, displacements, &links.i);
    (ends.j - ends.d * (share * wj)).scatter(wj, displacements, &links.j);
}

/// One visit of all links of a strip.
pub struct Sweep<'a> {
    /// The links.
    pub links: &'a [Links8],
    /// Displacements of the strip's vertices, m.
    pub displacements: &'a mut [Point],
    /// Whether links only resist being longer than at rest.
    pub one_sided: bool,
}

impl PairKernel for Sweep<'_> {
    #[inline(always)]
    fn run<P: Pair>(self) {
        let Sweep { links, displacements, one_sided } = self;
        // Two-sided links have no stretch that is too small to count.
        let least = P::splat(if one_sided { 0.0 } else { f32::MIN });
        let nothing = P::splat(NOTHING);
        // The two of a pair share no vertex: all of both is read before anything of both is written.
        for pair in links.as_chunks::<2>().0 {
            let [one, two] = pair;
            let ends = ends_of_pair::<P>(pair, displacements);
            let (wi, wj) = ends.w;
            let softness = wi + wj + P::load(&one.compliance, &two.compliance);
            // −Δλ = C / (w_i + w_j + α/h²), over the length of the link: C = (|d|² − l0²) / (|d| + l0), and once more over |d| for the direction. Two
            // supports joined by a stiff link have nothing to move: nothing is divided by nothing.
            let rest_length = P::load(&one.rest_length, &two.rest_length);
            let divisor = (ends.length + rest_length) * ends.length * softness;
            let share = ends.excess.max(least) / divisor.max(nothing);
            let (i, j) = (ends.i + ends.d * (share * wi), ends.j - ends.d * (share * wj));
            P::scatter(displacements, &places(one, two), [[i.x, i.y, i.z, wi], [j.x, j.y, j.z, wj]]);
        }
    }
}

/// One visit of the links that are longer than `longest` times their rest length; tells whether there was any, and whether
/// any was longer than `beyond` times it.
pub struct Mend<'a> {
    /// The links.
    pub links: &'a [Links8],
    /// Displacements of the strip's vertices, m.
    pub displacements: &'a mut [Point],
    /// Longest length over rest length.
    pub longest: f32,
    /// A length over rest length that is worth another visit.
    pub beyond: f32,
}

impl Kernel for Mend<'_> {
    type Output = (bool, bool);

    #[inline(always)]
    fn run<L: Lanes>(self) -> (bool, bool) {
        let (zero, longest) = (L::splat(0.0), L::splat(self.longest));
        let most_excess = L::splat(self.longest * self.longest - 1.0);
        let excess_beyond = L::splat(self.beyond * self.beyond - 1.0);
        let (mut any, mut any_beyond) = (false, false);
        for links in self.links {
            let (ends, rest_length) = (ends::<L>(links, self.displacements), L::load(&links.rest_length));
            if (ends.excess - rest_length * rest_length * most_excess).any_above_zero() {
                let above = (ends.length - rest_length * longest).max(zero);
                let divisor = ends.length * (ends.w.0 + ends.w.1);
                pull(links, &ends, above / divisor.max(L::splat(NOTHING)), self.displacements);
                any = true;
                any_beyond |= (ends.excess - rest_length * rest_length * excess_beyond).any_above_zero();
            }
        }
        (any, any_beyond)
    }
}

/// One visit of all links that are longer or shorter than they may be.
pub struct Limit<'a> {
    /// The links.
    pub links: &'a [Limits8],
    /// Displacements of the strip's vertices, m.
    pub displacements: &'a mut [Point],
}

impl Kernel for Limit<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for [one, two] in self.links.as_chunks::<2>().0 {
            let ends_one = ends::<L>(&one.links, self.displacements);
            let ends_two = ends::<L>(&two.links, self.displacements);
            pull(&one.links, &ends_one, beyond(one, &ends_one), self.displacements);
            pull(&two.links, &ends_two, beyond(two, &ends_two), self.displacements);
        }
    }
}

/// How far links are beyond their limits, over their length and softness.
#[inline(always)]
fn beyond<L: Lanes>(limits: &Limits8, ends: &Ends<L>) -> L {
    let zero = L::splat(0.0);
    let above = (ends.length - L::load(&limits.longest)).max(zero);
    let below = (ends.length - L::load(&limits.shortest)).min(zero);
    let divisor = ends.length * (ends.w.0 + ends.w.1);
    (above + below) / divisor.max(L::splat(NOTHING))
}

/// For each link whether another goes on in its line beyond its first and beyond its second end.
pub fn continued(links: &[Link], places: &[DVec3]) -> Vec<[bool; 2]> {
    let of = Rows::from_pairs(
        places.len(),
        links.iter().zip(0u32..).flat_map(|(l, number)| [(l.i, number), (l.j, number)]),
    );
    let goes_on = |number: usize, end: u32, other: u32| {
        let to_other = places[other as usize] - places[end as usize];
        of.row(end as usize).iter().any(|&k| {
            let next = if links[k as usize].i == end { links[k as usize].j } else { links[k as usize].i };
            let to_next = places[next as usize] - places[end as usize];
            let along = to_other.dot(to_next);
            // Within about 25° of straight.
            k as usize != number
                && along < 0.0
                && along * along > 0.8 * to_other.length_squared() * to_next.length_squared()
        })
    };
    let both = |(number, l): (usize, &Link)| [goes_on(number, l.i, l.j), goes_on(number, l.j, l.i)];
    links.iter().enumerate().map(both).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use super::*;
    use crate::lanes::Instructions;
    use crate::math::uniform;

    #[test]
    fn a_sweep_has_the_same_bits_with_all_instructions() {
        let n = 200;
        let r = |i: u32, k: u64| uniform(3, 8 * u64::from(i) + k);
        let x: Vec<DVec3> = (0..n).map(|i| DVec3::new(r(i, 0), r(i, 1), r(i, 2))).collect();
        let link = |i: u32, j: u32| Link {
            i,
            j,
            rest_length: 0.5 * r(i, 3) + 0.1,
            compliance: 1e-6 * r(j, 4),
            range: (0.1, 0.7),
            border: i.is_multiple_of(5),
            later: 0.2 * r(i, 6),
        };
        let links: Vec<Link> = (0..n - 9).flat_map(|i| [link(i, i + 1), link(i, i + 9)]).collect();
        let mut set = LinkSet::new(n as usize, &links);
        set.set_step(1.4e-3);
        set.begin_frame(&Parallel::default(), Instructions::detect(), &x, &[]);
        let run = |instructions: Instructions| {
            let mut points: Vec<Point> = (0..n)
                .map(|i| [1e-3 * r(i, 5) as f32, 0.0, 1e-4, if i == 7 { 0.0 } else { 300.0 }])
                .collect();
            for one_sided in [false, true] {
                set.links.visit(&Parallel::default(), &mut points, |links, displacements| {
                    instructions.run_pairs(Sweep { links, displacements, one_sided });
                });
            }
            set.limits.visit(&Parallel::default(), &mut points, |links, displacements| {
                instructions.run(Limit { links, displacements });
            });
            let any = AtomicBool::new(false);
            set.links.visit(&Parallel::default(), &mut points, |links, displacements| {
                let mend = Mend { links, displacements, longest: 1.1, beyond: 1.2 };
                any.fetch_or(instructions.run(mend).1, Relaxed);
            });
            assert!(any.into_inner());
            points
        };
        let plain = run(Instructions::Plain);
        assert!(plain.as_flattened().iter().all(|c| c.is_finite()));
        for instructions in Instructions::all() {
            assert_eq!(plain, run(instructions), "{instructions:?}");
        }
        assert_eq!(plain[7][3], 0.0);
    }
}
