//! What of bodies can touch: triangles, edges and vertices, in patches of eight neighbouring triangles (FAU-40, FAU-57).
//!
//! Every edge and every vertex belongs to one patch, that of its first triangle, so that a pair of features is met in one pair of
//! patches only.

use crate::contact::bvh::{Hulls, order};
use crate::lanes::{Eight, Lanes, Plain, Point, Vectors, WIDTH};

/// No feature: what fills an eight up.
pub const NONE: u32 = u32::MAX;

/// Eight neighbouring triangles, and the edges and vertices that belong to them.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    /// First of its vertices in [`Surface::vertices`], and how many.
    vertices: (u32, u32),
    /// First of its eights of edges, and how many.
    edges: (u32, u32),
    /// First of all corners of its triangles in [`Surface::corners`], and how many.
    corners: (u32, u32),
    /// The thing that it is of.
    thing: u16,
    /// Whether it has segments that are no sides of triangles.
    lines: bool,
}

/// A surface: triangles of vertices with given numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Corners, eight triangles per patch; [`NONE`] fills up.
    triangles: Vec<[u32; 3]>,
    /// By triangle: the far corners of its neighbours, across the side that is opposite to each of its corners; [`NONE`] where
    /// there is none, or more than one.
    across: Vec<[u32; 3]>,
    /// Ends, filled up per patch.
    edges: Vec<[u32; 2]>,
    /// By edge: the far corners of its two triangles; [`NONE`] where there is none, or more than two.
    wings: Vec<[u32; 2]>,
    vertices: Vec<u32>,
    /// Vertices that edges join with each vertex: from where to where they are in `neighbours`.
    rings: Vec<(u32, u32)>,
    neighbours: Vec<u32>,
    corners: Vec<u32>,
    patches: Vec<Patch>,
    /// Around each patch at rest, m.
    rest_hulls: Vec<([f32; 3], [f32; 3])>,
    /// Mean length of edges at rest, m.
    edge_length: f32,
}

impl Surface {
    /// Of the triangles of one thing, whose neighbourhood is that of `places`.
    #[cfg(test)]
    pub fn new(places: &[Point], triangles: &[[u32; 3]]) -> Surface {
        Surface::of_things(places, &[triangles])
    }

    /// Of the triangles of several things, whose neighbourhood is that of `places`. A triangle with twice the same corner is a
    /// segment: it has that edge and its ends.
    pub fn of_things(places: &[Point], things: &[&[[u32; 3]]]) -> Surface {
        let mut surface = Surface::default();
        let mut seen_vertices = vec![false; places.len()];
        surface.rings = vec![(0, 0); places.len()];
        let (mut length, mut edges) = (0.0, 0usize);
        for (thing, triangles) in (0u16..).zip(things) {
            let ends = surface.add(places, triangles, thing, &mut seen_vertices);
            edges += ends.len();
            length += ends.iter().map(|(e, _)| length_of(e, places)).sum::<f32>();
        }
        surface.edge_length = length / edges.max(1) as f32;
        surface
    }

    /// Adds a thing; returns its edges.
    fn add(
        &mut self,
        places: &[Point],
        triangles: &[[u32; 3]],
        thing: u16,
        seen_vertices: &mut [bool],
    ) -> Vec<([u32; 2], u32)> {
        let middle = |t: &[u32; 3]| {
            let mut sum = [0.0; 3];
            for &v in t {
                for k in 0..3 {
                    sum[k] += places[v as usize][k] / 3.0;
                }
            }
            sum
        };
        let middles: Vec<[f32; 3]> = triangles.iter().map(middle).collect();
        // Ends of edges, lower first, and the place of the triangle that has it first.
        let order = order(&middles);
        let mut ends: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * triangles.len());
        for (place, &t) in order.iter().enumerate() {
            let t = triangles[t as usize];
            for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])].into_iter().filter(|(a, b)| a != b) {
                ends.push(([a.min(b), a.max(b)], place as u32));
            }
        }
        ends.sort_unstable();
        ends.dedup_by_key(|e| e.0);
        self.add_rings(&ends);
        ends.sort_unstable_by_key(|e| (e.1, e.0));
        let sides = Sides::new(triangles);
        let mut next = ends.iter().peekable();
        for (p, chunk) in order.chunks(WIDTH).enumerate() {
            let (first_vertex, first_corner) = (self.vertices.len(), self.corners.len());
            let first_edge = self.edges.len();
            for l in 0..WIDTH {
                let t = chunk.get(l).map_or([NONE; 3], |&t| triangles[t as usize]);
                self.triangles.push(t);
                self.across.push(sides.across(t));
                for v in t.into_iter().filter(|v| *v != NONE) {
                    if !std::mem::replace(&mut seen_vertices[v as usize], true) {
                        self.vertices.push(v);
                    }
                    if !self.corners[first_corner..].contains(&v) {
                        self.corners.push(v);
                    }
                }
            }
            while let Some((e, _)) = next.next_if(|e| (e.1 as usize) < (p + 1) * WIDTH) {
                self.edges.push(*e);
                self.wings.push(sides.wings(*e));
            }
            while !self.edges.len().is_multiple_of(WIDTH) {
                self.edges.push([NONE; 2]);
                self.wings.push([NONE; 2]);
            }
            let count = |list: usize, first: usize| (first as u32, (list - first) as u32);
            self.patches.push(Patch {
                vertices: count(self.vertices.len(), first_vertex),
                edges: count(self.edges.len() / WIDTH, first_edge / WIDTH),
                corners: count(self.corners.len(), first_corner),
                thing,
                lines: chunk.iter().any(|&t| is_segment(&triangles[t as usize])),
            });
            self.rest_hulls.push(around(&self.corners[first_corner..], places));
        }
        ends
    }

    /// Adds the neighbours of the vertices of a thing, which are those of no other.
    fn add_rings(&mut self, ends: &[([u32; 2], u32)]) {
        let mut both: Vec<[u32; 2]> = ends.iter().flat_map(|&([a, b], _)| [[a, b], [b, a]]).collect();
        both.sort_unstable();
        for ring in both.chunk_by(|a, b| a[0] == b[0]) {
            let first = self.neighbours.len() as u32;
            self.neighbours.extend(ring.iter().map(|[_, other]| other));
            self.rings[ring[0][0] as usize] = (first, self.neighbours.len() as u32);
        }
    }

    /// The vertices that edges join with a vertex.
    #[inline(always)]
    pub fn ring(&self, v: u32) -> &[u32] {
        let (first, end) = self.rings[v as usize];
        &self.neighbours[first as usize..end as usize]
    }

    /// The thing that a patch is of.
    #[inline(always)]
    pub fn thing(&self, p: usize) -> u16 {
        self.patches[p].thing
    }

    /// Whether a patch has segments that are no sides of triangles, as ropes do.
    #[inline(always)]
    pub fn has_lines(&self, p: usize) -> bool {
        self.patches[p].lines
    }

    /// The far corners of the neighbours of a triangle, given by its place, across the side opposite to each corner.
    #[inline(always)]
    pub fn across(&self, triangle: u32) -> [u32; 3] {
        self.across[triangle as usize]
    }

    /// The far corners of the triangles at an edge, given by its place.
    #[inline(always)]
    pub fn wings(&self, edge: u32) -> [u32; 2] {
        self.wings[edge as usize]
    }

    /// Mean length of edges at rest, m.
    pub fn edge_length(&self) -> f32 {
        self.edge_length
    }

    /// How many patches there are.
    pub fn len(&self) -> usize {
        self.patches.len()
    }

    /// A box around a patch at rest, m.
    #[inline(always)]
    pub fn rest_hull(&self, p: usize) -> ([f32; 3], [f32; 3]) {
        self.rest_hulls[p]
    }

    /// The triangles of a patch.
    #[inline(always)]
    pub fn triangles(&self, p: usize) -> &[[u32; 3]] {
        &self.triangles[p * WIDTH..(p + 1) * WIDTH]
    }

    /// The vertices that belong to a patch.
    #[inline(always)]
    pub fn vertices(&self, p: usize) -> &[u32] {
        let (first, count) = self.patches[p].vertices;
        &self.vertices[first as usize..(first + count) as usize]
    }

    /// All corners of the triangles of a patch.
    #[inline(always)]
    pub fn corners(&self, p: usize) -> &[u32] {
        let (first, count) = self.patches[p].corners;
        &self.corners[first as usize..(first + count) as usize]
    }

    /// The eights of edges that belong to a patch.
    #[inline(always)]
    pub fn eights_of_edges(&self, p: usize) -> std::ops::Range<usize> {
        let (first, count) = self.patches[p].edges;
        first as usize..(first + count) as usize
    }

    /// The edges of an eight.
    #[inline(always)]
    pub fn edges(&self, eight: usize) -> &[[u32; 2]] {
        &self.edges[eight * WIDTH..(eight + 1) * WIDTH]
    }
}

/// Whether a triangle names a vertex twice.
fn is_segment(&[a, b, c]: &[u32; 3]) -> bool {
    a == b || b == c || c == a
}

/// Sides of triangles, each with the corner opposite to it, in rising order.
struct Sides(Vec<([u32; 2], u32)>);

impl Sides {
    fn new(triangles: &[[u32; 3]]) -> Sides {
        let real = triangles.iter().filter(|t| !is_segment(t));
        let mut sides: Vec<([u32; 2], u32)> = real
            .flat_map(|&[a, b, c]| [(b, c, a), (c, a, b), (a, b, c)])
            .map(|(a, b, far)| ([a.min(b), a.max(b)], far))
            .collect();
        sides.sort_unstable();
        Sides(sides)
    }

    /// The corners opposite to a side, lower end first.
    fn at(&self, side: [u32; 2]) -> &[([u32; 2], u32)] {
        let first = self.0.partition_point(|(s, _)| *s < side);
        let count = self.0[first..].iter().take_while(|(s, _)| *s == side).count();
        &self.0[first..first + count]
    }

    fn across(&self, t: [u32; 3]) -> [u32; 3] {
        let [a, b, c] = t;
        if a == NONE || is_segment(&t) {
            return [NONE; 3];
        }
        [(b, c, a), (c, a, b), (a, b, c)].map(|(a, b, own)| match self.at([a.min(b), a.max(b)]) {
            [(_, one), (_, other)] if *one == own => *other,
            [(_, one), _] => *one,
            _ => NONE,
        })
    }

    fn wings(&self, side: [u32; 2]) -> [u32; 2] {
        match self.at(side) {
            [(_, one)] => [*one, NONE],
            [(_, one), (_, other)] => [*one, *other],
            _ => [NONE; 2],
        }
    }
}

/// Where the features of a patch are. Boxes around them are made when they are wanted, as memory is slower.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Features {
    /// Around all.
    pub hull: ([f32; 3], [f32; 3]),
    /// A bit for each of its triangles: others fill up.
    real_triangles: u8,
    /// A bit for each of its edges.
    real_edges: [u8; 3],
    /// Places of the three corners of its triangles, m.
    corners: [[Eight; 3]; 3],
    /// Places of both ends of its edges, m: eight triangles have at most 24.
    ends: [[[Eight; 3]; 2]; 3],
    /// Unit normals of its triangles; 0 where there is none.
    normals: [Eight; 3],
    /// Their sum.
    facing: [f32; 3],
    /// Its direction; 0 if it has none.
    axis: [f32; 3],
    /// From where to where the patch reaches along it, m.
    slab: (f32, f32),
}

impl Features {
    /// Of a patch, where its vertices are.
    pub fn fit(&mut self, surface: &Surface, p: usize, places: &[Point]) {
        let triangles = surface.triangles(p);
        let count = triangles.iter().position(|t| t[0] == NONE).unwrap_or(WIDTH);
        for l in 0..WIDTH {
            // What fills up stands where the first triangle is.
            let t = triangles[if l < count { l } else { 0 }];
            for c in 0..3 {
                let place = &places[t[c] as usize];
                for k in 0..3 {
                    self.corners[c][k][l] = place[k];
                }
            }
        }
        self.real_triangles = first_bits(count);
        self.hull = around(surface.corners(p), places);
        self.real_edges = [0; 3];
        for (j, eight) in surface.eights_of_edges(p).enumerate() {
            let edges = surface.edges(eight);
            let count = edges.iter().position(|e| e[0] == NONE).unwrap_or(WIDTH);
            for l in 0..WIDTH {
                let e = edges[if l < count { l } else { 0 }];
                for c in 0..2 {
                    let place = &places[e[c] as usize];
                    for k in 0..3 {
                        self.ends[j][c][k][l] = place[k];
                    }
                }
            }
            self.real_edges[j] = first_bits(count);
        }
        self.normals = unit_normals(&self.corners);
        self.normals.iter_mut().for_each(|n| n[count..].fill(0.0));
        self.facing = self.normals.map(|n| n.iter().sum());
        let [x, y, z] = self.facing;
        let length = (x * x + y * y + z * z).sqrt().max(f32::MIN_POSITIVE);
        self.axis = [x / length, y / length, z / length];
        self.slab = self.along::<Plain>(self.axis);
    }
}

/// A byte with its lowest bits set.
fn first_bits(count: usize) -> u8 {
    ((1u16 << count) - 1) as u8
}

/// Eight triangles in registers, to be tested against boxes.
pub struct Triangles<L> {
    /// Places of their corners, m.
    pub corners: [Vectors<L>; 3],
    hulls: Hulls<L>,
    real: u8,
}

impl<L: Lanes> Triangles<L> {
    /// A bit for each that meets a box.
    #[inline(always)]
    pub fn meet(&self, wanted: ([f32; 3], [f32; 3])) -> u8 {
        self.hulls.meet(wanted) & self.real
    }
}

/// Eight edges in registers, to be tested against boxes.
pub struct Edges<L> {
    /// Places of their ends, m.
    pub ends: [Vectors<L>; 2],
    hulls: Hulls<L>,
    real: u8,
}

impl<L: Lanes> Edges<L> {
    /// A bit for each that meets a box.
    #[inline(always)]
    pub fn meet(&self, wanted: ([f32; 3], [f32; 3])) -> u8 {
        self.hulls.meet(wanted) & self.real
    }
}

impl Features {
    /// The triangles of the patch.
    #[inline(always)]
    pub fn triangles<L: Lanes>(&self) -> Triangles<L> {
        // Written out: an array's `map` is compiled without the wide instructions.
        let [a, b, c] = &self.corners;
        let corners = [Vectors::load(a), Vectors::load(b), Vectors::load(c)];
        Triangles { corners, hulls: Hulls::around(&corners), real: self.real_triangles }
    }

    /// Eight edges of the patch.
    #[inline(always)]
    pub fn edges<L: Lanes>(&self, eight: usize) -> Edges<L> {
        let [from, to] = &self.ends[eight];
        let ends = [Vectors::load(from), Vectors::load(to)];
        Edges { ends, hulls: Hulls::around(&ends), real: self.real_edges[eight] }
    }

    /// From where to where a patch reaches along an axis, m.
    #[inline(always)]
    fn along<L: Lanes>(&self, [x, y, z]: [f32; 3]) -> (f32, f32) {
        let (mut low, mut high) = (L::splat(f32::INFINITY), L::splat(f32::NEG_INFINITY));
        for c in &self.corners {
            let along =
                L::load(&c[0]) * L::splat(x) + L::load(&c[1]) * L::splat(y) + L::load(&c[2]) * L::splat(z);
            low = along.min(low);
            high = along.max(high);
        }
        let (mut lows, mut highs) = ([0.0; WIDTH], [0.0; WIDTH]);
        low.store(&mut lows);
        high.store(&mut highs);
        (
            lows.iter().fold(f32::INFINITY, |m, c| c.min(m)),
            highs.iter().fold(f32::NEG_INFINITY, |m, c| c.max(m)),
        )
    }

    /// A distance that two patches are not nearer than, m: apart along the way that one of them faces; and one that is left if the
    /// other moves within a box against it.
    #[inline(always)]
    pub fn layered<L: Lanes>(&self, other: &Features, moves: &([f32; 3], [f32; 3])) -> (f32, f32) {
        let (mut now, mut left) = (f32::NEG_INFINITY, f32::NEG_INFINITY);
        let ranges = [
            (self.axis, self.slab, other.along::<L>(self.axis)),
            (other.axis, self.along::<L>(other.axis), other.slab),
        ];
        for (axis, own, its) in ranges {
            let (mut down, mut up) = (0.0, 0.0);
            for k in 0..3 {
                let ends = [axis[k] * moves.0[k], axis[k] * moves.1[k]];
                down -= ends[0].min(ends[1]);
                up += ends[0].max(ends[1]);
            }
            let (above, below) = (its.0 - own.1, own.0 - its.1);
            now = now.max(above).max(below);
            left = left.max(above - down).max(below - up);
        }
        (now, left)
    }

    /// Whether the triangles of two patches all face within 45° of the same direction, as those of a piece that is hardly bent.
    #[inline(always)]
    pub fn face_alike<L: Lanes>(&self, other: &Features) -> bool {
        let mut sum = [0.0; 3];
        for k in 0..3 {
            sum[k] = self.facing[k] + other.facing[k];
        }
        let length = (sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]).sqrt();
        let limit = L::splat(length * std::f32::consts::FRAC_1_SQRT_2);
        (turned::<L>(&self.normals, sum, limit) | turned::<L>(&other.normals, sum, limit)) == 0
    }
}

fn length_of(e: &[u32; 2], places: &[Point]) -> f32 {
    let [a, b] = e.map(|v| places[v as usize]);
    let square = |k: usize| (b[k] - a[k]) * (b[k] - a[k]);
    (square(0) + square(1) + square(2)).sqrt()
}

pub(super) fn unit_normal([a, b, c]: [Point; 3]) -> [f32; 3] {
    let (u, v) = ([b[0] - a[0], b[1] - a[1], b[2] - a[2]], [c[0] - a[0], c[1] - a[1], c[2] - a[2]]);
    let n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    let length = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]).sqrt();
    n.map(|c| c / length.max(f32::MIN_POSITIVE))
}

/// A bit for each normal that reaches less than `limit` along a direction.
#[inline(always)]
fn turned<L: Lanes>(normals: &[Eight; 3], [x, y, z]: [f32; 3], limit: L) -> u8 {
    let cosine = L::load(&normals[0]) * L::splat(x)
        + L::load(&normals[1]) * L::splat(y)
        + L::load(&normals[2]) * L::splat(z);
    cosine.mask_below(limit)
}

/// Of eight triangles; 0 where there is none.
fn unit_normals([a, b, c]: &[[Eight; 3]; 3]) -> [Eight; 3] {
    let (mut u, mut v, mut normals) = ([[0.0; WIDTH]; 3], [[0.0; WIDTH]; 3], [[0.0; WIDTH]; 3]);
    for k in 0..3 {
        for l in 0..WIDTH {
            u[k][l] = b[k][l] - a[k][l];
            v[k][l] = c[k][l] - a[k][l];
        }
    }
    for k in 0..3 {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        for l in 0..WIDTH {
            normals[k][l] = u[i][l] * v[j][l] - u[j][l] * v[i][l];
        }
    }
    for l in 0..WIDTH {
        let [x, y, z] = [normals[0][l], normals[1][l], normals[2][l]];
        let length = (x * x + y * y + z * z).sqrt().max(f32::MIN_POSITIVE);
        for normal in &mut normals {
            normal[l] /= length;
        }
    }
    normals
}

/// A box around vertices.
#[inline(always)]
pub fn around(vertices: &[u32], places: &[Point]) -> ([f32; 3], [f32; 3]) {
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for &v in vertices {
        let p = places[v as usize];
        for k in 0..3 {
            low[k] = low[k].min(p[k]);
            high[k] = high[k].max(p[k]);
        }
    }
    (low, high)
}
