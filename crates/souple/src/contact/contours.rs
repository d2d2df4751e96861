//! Where surfaces cross: crossings in chains, and which side of each is the one to go back (SIM-B11).
//!
//! Two triangles that cross share a piece of a line; its ends are crossings of an edge of one and the other. So crossings
//! follow each other in **contours**, closed ones, or those that end where an edge at a border pierces something. A contour
//! runs over two **strands** of cloth, be they of two sheets or of one. On each strand it has two sides: the ends above and
//! below of the edges that pierce the other strand.
//!
//! Which side went astray? From the edges that are cut by this contour on this strand both sides are flooded at once, ring by
//! ring of vertices. That side is astray that is full first: the tip of a poke, a corner, the narrower part of a sheet that
//! another cuts right across. Its number of rings is how far it has to go. Of both strands that one moves that has less far to
//! go. Floods that meet around the end of a contour that cuts nothing off are stopped by each other, so that a contour that
//! reaches almost from border to border counts like one that does (Baraff, Witkin and Kass, "Untangling cloth", 2003, take
//! closed ones only); but if it is not twice as long as that is far, neither side is astray: the contour is to be shortened
//! from its ends. Each contour is looked at on its own: a tip through many layers comes back through all of them.
//!
//! Triangles of a sheet are taken to be wound alike.

use crate::contact::untangle::Crossing;

/// Nothing there.
const NONE: u32 = u32::MAX;

/// The rings around a contour in which contacts are ignored, beyond those that its astray side has.
const MARGIN: u32 = 2;

/// Crossings of a contour on its way past one ring of vertices: two edges of each strand.
const CROSSINGS_PER_RING: u32 = 4;

/// What is joined to what in a mesh.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// Edges, the lower end first, in rising order.
    pub edges: Vec<[u32; 2]>,
    /// By edge: its triangles start here in `sides`; and the end of all.
    side_starts: Vec<u32>,
    /// Triangles at an edge, and the corner of each that is not on it.
    sides: Vec<[u32; 2]>,
    /// By vertex: its neighbours start here in `around`; and the end of all.
    starts: Vec<u32>,
    /// Neighbours, and the edges to them.
    around: Vec<[u32; 2]>,
}

impl Links {
    /// Of triangles with their numbers.
    pub fn new(triangles: impl Iterator<Item = (u32, [u32; 3])>) -> Links {
        let mut all: Vec<([u32; 2], [u32; 2])> = Vec::new();
        for (t, [a, b, c]) in triangles {
            let side = |a: u32, b: u32, apex: u32| ([a.min(b), a.max(b)], [t, apex]);
            all.extend([side(a, b, c), side(b, c, a), side(c, a, b)]);
        }
        all.sort_unstable();
        let mut edges: Vec<[u32; 2]> = all.iter().map(|side| side.0).collect();
        edges.dedup();
        let mut side_starts: Vec<u32> = Vec::with_capacity(edges.len() + 1);
        side_starts.extend((0..all.len()).filter(|&i| i == 0 || all[i].0 != all[i - 1].0).map(|i| i as u32));
        side_starts.push(all.len() as u32);
        let mut both: Vec<[u32; 3]> = Vec::with_capacity(2 * edges.len());
        for (&[a, b], e) in edges.iter().zip(0u32..) {
            both.extend([[a, b, e], [b, a, e]]);
        }
        both.sort_unstable();
        let vertices = both.last().map_or(0, |link| link[0] + 1);
        let starts = (0..=vertices).map(|v| both.partition_point(|link| link[0] < v) as u32).collect();
        let sides = all.into_iter().map(|side| side.1).collect();
        Links {
            edges,
            side_starts,
            sides,
            starts,
            around: both.iter().map(|link| [link[1], link[2]]).collect(),
        }
    }

    /// One more than the highest vertex.
    pub fn vertices(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Triangles at an edge, and the corner of each that is not on it.
    pub fn sides(&self, edge: u32) -> &[[u32; 2]] {
        let e = edge as usize;
        &self.sides[self.side_starts[e] as usize..self.side_starts[e + 1] as usize]
    }

    /// Neighbours of a vertex, and the edges to them.
    pub fn around(&self, v: u32) -> &[[u32; 2]] {
        let v = v as usize;
        &self.around[self.starts[v] as usize..self.starts[v + 1] as usize]
    }
}

/// What is to be done about a contour.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Verdict {
    /// The strand and the side of it (1: above the other strand) that went astray; none if the contour is to be shortened.
    pub astray: Option<(u8, u8)>,
    /// How many rings of vertices it is to be moved.
    pub rings: u32,
}

/// A side that is full.
#[derive(Clone, Copy, Debug)]
struct Full {
    rings: u32,
    vertices: u32,
    side: u8,
}

/// The contours of a surface.
#[derive(Clone, Debug, Default)]
pub struct Contours {
    /// By crossing: its contour.
    pub of: Vec<u32>,
    /// By crossing: the strand to which its edge belongs, 0 or 1.
    pub strands: Vec<u8>,
    /// By contour: what is to be done about it.
    pub verdicts: Vec<Verdict>,
    /// Crossings, contour by contour, and where each starts; and the end of all.
    chains: Vec<u32>,
    starts: Vec<u32>,
    /// By crossing: both that follow it, and whether their edges belong to the other strand.
    next: Vec<[(u32, bool); 2]>,
    /// Two triangles that cross, a crossing of them, and whether its edge belongs to the first.
    pairs: Vec<([u32; 2], u32, bool)>,
    /// By vertex: the flood that reached it, and on which side. By edge: the flood that it stops.
    reached: Vec<(u32, u8)>,
    stops: Vec<u32>,
    flood: u32,
    /// The vertices that a flood reached last, of both sides, and those that it reaches next.
    fronts: [Vec<u32>; 2],
    front: Vec<u32>,
    /// Vertices that belong to an astray side (contour, 0) or are near its contour on the other strand (contour, 1).
    members: Vec<(u32, u32, u8)>,
    /// By vertex: whether it is at a crossing; and whether it is a member of something.
    marks: Vec<u8>,
}

const AT_CROSSING: u8 = 1;
const MEMBER: u8 = 2;

impl Contours {
    /// Finds the contours of crossings, and what is to be done about them.
    pub fn find(&mut self, links: &Links, crossings: &[Crossing]) {
        self.chain(links, crossings);
        self.flood = 0;
        self.reached.clear();
        self.reached.resize(links.vertices(), (0, 0));
        self.stops.clear();
        self.stops.resize(links.edges.len(), 0);
        self.marks.clear();
        self.marks.resize(links.vertices(), 0);
        for &v in crossings.iter().flat_map(|crossing| crossing.ends.iter().chain(&crossing.corners)) {
            self.marks[v as usize] = AT_CROSSING;
        }
        self.members.clear();
        self.verdicts.clear();
        for c in 0..self.starts.len() - 1 {
            let verdict = self.judge(links, crossings, c);
            self.verdicts.push(verdict);
        }
        self.members.sort_unstable();
        for &(v, ..) in &self.members {
            self.marks[v as usize] |= MEMBER;
        }
    }

    /// Puts crossings in chains.
    fn chain(&mut self, links: &Links, crossings: &[Crossing]) {
        let Contours { of, strands, chains, starts, next, pairs, .. } = self;
        pairs.clear();
        for (crossing, i) in crossings.iter().zip(0u32..) {
            let pierced = crossing.triangle;
            for &[t, _] in links.sides(crossing.edge) {
                pairs.push(([t.min(pierced), t.max(pierced)], i, t < pierced));
            }
        }
        pairs.sort_unstable();
        next.clear();
        next.resize(crossings.len(), [(NONE, false); 2]);
        for two in pairs.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() == 2) {
            let (i, j) = (two[0].1, two[1].1);
            let changes = two[0].2 != two[1].2;
            for (from, to) in [(i, j), (j, i)] {
                if let Some(free) = next[from as usize].iter_mut().find(|link| link.0 == NONE) {
                    *free = (to, changes);
                }
            }
        }
        of.clear();
        of.resize(crossings.len(), NONE);
        strands.clear();
        strands.resize(crossings.len(), 0);
        chains.clear();
        starts.clear();
        for i in 0..crossings.len() as u32 {
            if of[i as usize] != NONE {
                continue;
            }
            let contour = starts.len() as u32;
            let mut open = chains.len();
            starts.push(open as u32);
            of[i as usize] = contour;
            chains.push(i);
            while open < chains.len() {
                let one = chains[open] as usize;
                open += 1;
                for (other, changes) in next[one].into_iter().filter(|link| link.0 != NONE) {
                    let other = other as usize;
                    if of[other] == NONE {
                        of[other] = contour;
                        strands[other] = strands[one] ^ u8::from(changes);
                        chains.push(other as u32);
                    }
                }
            }
        }
        starts.push(chains.len() as u32);
    }

    /// How many crossings a contour has.
    pub fn length(&self, contour: u32) -> u32 {
        self.starts[contour as usize + 1] - self.starts[contour as usize]
    }

    fn judge(&mut self, links: &Links, crossings: &[Crossing], contour: usize) -> Verdict {
        let length = self.length(contour as u32).div_ceil(CROSSINGS_PER_RING);
        let mut best: Option<(u8, Full)> = None;
        for strand in 0..2 {
            let Some(full) = self.flood_sides(links, crossings, contour, strand, length) else { continue };
            let key = |full: &Full| (full.rings, full.vertices);
            if best.is_none_or(|(_, other)| key(&full) < key(&other)) {
                best = Some((strand, full));
            }
        }
        let Some((strand, full)) = best else { return Verdict { astray: None, rings: length } };
        self.enlist(links, crossings, contour, strand, full);
        Verdict { astray: Some((strand, full.side)), rings: full.rings }
    }

    /// Begins a flood from both sides of a strand of a contour.
    fn begin(&mut self, crossings: &[Crossing], contour: usize, strand: u8) {
        let Contours { strands, chains, starts, reached, stops, flood, fronts, .. } = self;
        *flood += 1;
        fronts.iter_mut().for_each(Vec::clear);
        let chain = &chains[starts[contour] as usize..starts[contour + 1] as usize];
        for &i in chain.iter().filter(|i| strands[**i as usize] == strand) {
            let Crossing { edge, ends, rises, .. } = crossings[i as usize];
            stops[edge as usize] = *flood;
            for (k, v) in ends.into_iter().enumerate() {
                let side = u8::from((k == 1) == rises);
                if reached[v as usize].0 != *flood {
                    reached[v as usize] = (*flood, side);
                    fronts[usize::from(side)].push(v);
                }
            }
        }
    }

    /// Moves the front of one side on by a ring; tells whether it met the other side.
    fn advance(&mut self, links: &Links, side: usize) -> bool {
        let Contours { reached, stops, flood, fronts, front, .. } = self;
        let mut meets = false;
        front.clear();
        for &v in &fronts[side] {
            for &[w, edge] in links.around(v) {
                if stops[edge as usize] == *flood {
                    continue;
                }
                let there = &mut reached[w as usize];
                if there.0 != *flood {
                    *there = (*flood, side as u8);
                    front.push(w);
                } else {
                    meets |= usize::from(there.1) != side;
                }
            }
        }
        std::mem::swap(front, &mut fronts[side]);
        meets
    }

    /// Floods both sides of a strand until one is full; none if that is further than the contour is long, and it is not cut off.
    fn flood_sides(
        &mut self,
        links: &Links,
        crossings: &[Crossing],
        contour: usize,
        strand: u8,
        length: u32,
    ) -> Option<Full> {
        self.begin(crossings, contour, strand);
        let mut vertices = [self.fronts[0].len() as u32, self.fronts[1].len() as u32];
        let mut meet = false;
        for rings in 1.. {
            if meet && 2 * rings > length || vertices.contains(&0) {
                return None;
            }
            for side in 0..2 {
                meet |= self.advance(links, side);
                vertices[side] += self.fronts[side].len() as u32;
            }
            let is_full = [self.fronts[0].is_empty(), self.fronts[1].is_empty()];
            let side = match is_full {
                [false, false] => continue,
                [true, false] => 0,
                [false, true] => 1,
                [true, true] => u8::from(vertices[1] < vertices[0]),
            };
            let vertices = vertices[usize::from(side)];
            return Some(Full { rings, vertices, side });
        }
        None
    }

    /// Lists what contacts are to be ignored: the astray side, and what is around the contour on the other strand.
    fn enlist(&mut self, links: &Links, crossings: &[Crossing], contour: usize, strand: u8, full: Full) {
        let side = usize::from(full.side);
        self.begin(crossings, contour, strand);
        for _ in 0..full.rings {
            self.members.extend(self.fronts[side].iter().map(|&v| (v, contour as u32, 0)));
            // Both, as they stop each other.
            for side in 0..2 {
                self.advance(links, side);
            }
        }
        self.begin(crossings, contour, 1 - strand);
        // A strand of which no edge pierces anything: from the triangles that are pierced.
        let Contours { strands, chains, starts, reached, flood, fronts, .. } = self;
        let chain = &chains[starts[contour] as usize..starts[contour + 1] as usize];
        for &i in chain.iter().filter(|i| strands[**i as usize] == strand) {
            for v in crossings[i as usize].corners {
                if reached[v as usize].0 != *flood {
                    reached[v as usize] = (*flood, 0);
                    fronts[0].push(v);
                }
            }
        }
        for _ in 0..full.rings + MARGIN {
            for side in 0..2 {
                self.members.extend(self.fronts[side].iter().map(|&v| (v, contour as u32, 1)));
                self.advance(links, side);
            }
        }
    }

    /// Whether a contact between the first `first_side` of four vertices and the others would hold what went astray.
    pub fn ignores(&self, vertices: [u32; 4], first_side: u8) -> bool {
        let (first, second) = vertices.split_at(usize::from(first_side).min(4));
        let marks = |side: &[u32]| side.iter().fold(0, |marks, v| marks | self.marks[*v as usize]);
        let common = marks(first) & marks(second);
        if common & AT_CROSSING != 0 {
            return true;
        }
        if common & MEMBER == 0 {
            return false;
        }
        let memberships = |v: u32| {
            let start = self.members.partition_point(|member| member.0 < v);
            self.members[start..].iter().take_while(move |member| member.0 == v)
        };
        let opposes = |v: u32, w: u32| {
            memberships(v)
                .any(|&(_, contour, part)| memberships(w).any(|m| (m.1, m.2) == (contour, 1 - part)))
        };
        first.iter().any(|&v| second.iter().any(|&w| opposes(v, w)))
    }
}
