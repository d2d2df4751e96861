//! Long-range attachments (Kim, Chentanez, Müller 2012): no vertex can be further from a support than the cloth between
//! them is long.
//!
//! A vertex is attached to the nearest support of each of its nearest runs of supports, by the distance along the surface
//! at rest. An attachment only pulls, and only on the vertex.

use glam::DVec3;

use super::strips::in_pairs;
use crate::lanes::{Eight, Kernel, Lanes, Places, Point, Vectors, WIDTH};
use crate::mesh::geodesic::Support;
use crate::parallel::{BLOCK, Parallel};

/// Most supports that a vertex is attached to: those on its other sides hold it against swinging into the near one.
pub const MOST: usize = 3;

/// Eight attachments of eight different vertices.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
struct Attachments8 {
    /// Numbers from the first vertex of the block.
    vertex: Places,
    /// Numbers in the list of supports.
    support: Places,
    /// From support to vertex when the frame began, m.
    start: [Eight; 3],
    longest: Eight,
}

/// All attachments of a body, in blocks of vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttachmentSet {
    blocks: Vec<Vec<Attachments8>>,
    /// The supported vertices that anything is attached to.
    supports: Vec<u32>,
    /// Their displacements, m.
    displacements: Vec<Point>,
}

impl AttachmentSet {
    /// Packs the attachments of `count` vertices; `attached` gives those of one, nearest first.
    pub fn new<I: Iterator<Item = Support>>(count: usize, attached: impl Fn(usize) -> I) -> AttachmentSet {
        let mut supports: Vec<u32> = (0..count).flat_map(|v| attached(v).map(|s| s.vertex)).collect();
        supports.sort_unstable();
        supports.dedup();
        let number = |s: u32| supports.binary_search(&s).unwrap_or(0) as u32;
        let mut blocks = Vec::with_capacity(count.div_ceil(BLOCK));
        let mut own: Vec<(u32, Support)> = Vec::new();
        for begin in (0..count).step_by(BLOCK) {
            let end = count.min(begin + BLOCK);
            let mut eights = Vec::new();
            for rank in 0..MOST {
                own.clear();
                let one = |v: usize| attached(v).nth(rank).map(|support| ((v - begin) as u32, support));
                own.extend((begin..end).filter_map(one));
                eights.extend(in_pairs(&own).map(|eight| Attachments8 {
                    vertex: Places::new(eight.map(|(v, _)| v)),
                    support: Places::new(eight.map(|(_, s)| number(s.vertex))),
                    start: [[0.0; WIDTH]; 3],
                    longest: eight.map(|(_, s)| s.distance as f32),
                }));
            }
            blocks.push(eights);
        }
        let displacements = vec![[0.0; 4]; supports.len()];
        AttachmentSet { blocks, supports, displacements }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.supports.is_empty()
    }

    /// Takes the differences from positions when the frame begins, m.
    pub fn begin_frame(&mut self, parallel: &Parallel, x: &[DVec3]) {
        let supports = &self.supports;
        parallel.each_of(x.len(), &mut self.blocks, |b, block| {
            for eight in block {
                for l in 0..WIDTH {
                    let support = supports[eight.support.at()[l] as usize];
                    let d = x[b * BLOCK + eight.vertex.at()[l] as usize] - x[support as usize];
                    for (start, d) in eight.start.iter_mut().zip(d.to_array()) {
                        start[l] = d as f32;
                    }
                }
            }
        });
    }

    /// Takes the displacements of the supports, m.
    pub fn move_supports(&mut self, displacements: &[Point]) {
        for (own, &s) in self.displacements.iter_mut().zip(&self.supports) {
            *own = displacements[s as usize];
        }
    }

    /// One visit of the attachments of block `b`.
    pub fn visit<'a>(&'a self, b: usize, displacements: &'a mut [Point]) -> Attach<'a> {
        Attach { eights: &self.blocks[b], supports: &self.displacements, displacements }
    }
}

/// One visit of the attachments of a block.
pub struct Attach<'a> {
    eights: &'a [Attachments8],
    supports: &'a [Point],
    displacements: &'a mut [Point],
}

impl Kernel for Attach<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let zero = L::splat(0.0);
        for [one, two] in self.eights.as_chunks::<2>().0 {
            let (held_one, w_one) = held::<L>(one, self.supports, self.displacements, zero);
            let (held_two, w_two) = held::<L>(two, self.supports, self.displacements, zero);
            held_one.scatter(w_one, self.displacements, &one.vertex);
            held_two.scatter(w_two, self.displacements, &two.vertex);
        }
    }
}

/// Where the vertices are once none is too far from its support, and their inverse masses.
#[inline(always)]
fn held<L: Lanes>(eight: &Attachments8, supports: &[Point], points: &[Point], zero: L) -> (Vectors<L>, L) {
    let (support, _) = Vectors::<L>::gather(supports, &eight.support);
    let (p, w) = Vectors::<L>::gather(points, &eight.vertex);
    let d = Vectors::load(&eight.start) + (p - support);
    let length = d.length();
    let over = (length - L::load(&eight.longest)).max(zero);
    (p - d * (over / length.max(L::splat(f32::MIN_POSITIVE))), w)
}
