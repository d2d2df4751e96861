//! Contact with rigid colliders inside the sweep: out of the shape, friction by how deep it was (Müller et al. 2007).
//!
//! Each substep looks where a vertex is now; one that moves so fast that it could pass through a thin shape is followed
//! along its path by [`Primitive::first_hit`]. A vertex within the skin is put on it. The way it slid on the surface is
//! shortened by at most the friction coefficient times the depth, which is Coulomb's law, as the depth is the normal impulse
//! over mass times the substep. Everything is taken in the frame of the collider, so moving ones push and carry.
//!
//! Eight neighbours are looked at together, and not again before the furthest way of one of them could have led to the collider:
//! most of a cloth is far from most colliders, and what is skipped would not have been touched.
//!
//! A collider with a list (SIM-32) looks at the eights that have a vertex on it and at no others, so that a substep costs what the
//! lists say; vertices that share an eight with listed ones are left as they are.

use glam::{DMat3, DVec3};

use crate::contact::ContactPoint;
use crate::contact::primitives::Primitive;
use crate::contact::response::ContactMaterial;
use crate::lanes::{Eight, Instructions, Kernel, Lanes, Places, Point, Vectors, WIDTH};
use crate::math::Pose;

/// The vertices of a body that a collider with a list is held against, by eights.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listed {
    /// Eights that have one, ascending.
    eights: Vec<u32>,
    /// For each of these: 1 for vertices that are on the list, 0 for others.
    lanes: Vec<Eight>,
}

impl Listed {
    /// Of so many packed vertices, those that are on the list.
    pub fn new(n: usize, on_list: impl Fn(usize) -> bool) -> Listed {
        let mut listed = Listed::default();
        for e in 0..n.div_ceil(WIDTH) {
            let mut lanes = [0.0; WIDTH];
            for (l, lane) in lanes.iter_mut().enumerate() {
                // What is beyond the last vertex stands for it.
                *lane = f32::from(u8::from(on_list((e * WIDTH + l).min(n - 1))));
            }
            if lanes.contains(&1.0) {
                listed.eights.push(e as u32);
                listed.lanes.push(lanes);
            }
        }
        listed
    }

    /// The vertices, ascending, of `n`.
    fn vertices(&self, n: usize) -> impl Iterator<Item = usize> {
        self.eights.iter().zip(&self.lanes).flat_map(move |(e, lanes)| {
            let first = *e as usize * WIDTH;
            (first..n.min(first + WIDTH)).filter(move |v| lanes[v - first] > 0.0)
        })
    }
}

/// A collider during one substep.
#[derive(Clone, Copy, Debug)]
pub struct Obstacle<'a> {
    /// Its shape.
    pub shape: &'a Primitive,
    /// Where it is when the substep begins.
    pub pose0: Pose,
    /// Where it is when the substep ends.
    pub pose1: Pose,
    /// Friction and bounce.
    pub material: ContactMaterial,
    /// Distance at which vertices touch, m.
    pub skin: f64,
    /// Approach speed up to which nothing bounces, m/s.
    pub rest_speed: f64,
    /// The vertices that are held against it; all without it.
    pub only: Option<&'a Listed>,
}

impl Obstacle<'_> {
    /// The vertices that are held against it and that touch something, ascending.
    fn touching(&self, marks: &[u8]) -> impl Iterator<Item = usize> {
        let all = if self.only.is_none() { 0..marks.len() } else { 0..0 };
        let listed = self.only.into_iter().flat_map(|listed| listed.vertices(marks.len()));
        all.chain(listed).filter(|&v| marks[v] != 0)
    }
}

/// A pose in 32 bits, from world to collider.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Columns of the rotation from the collider to the world.
    axes: [[f32; 3]; 3],
    /// Place of the collider from the origin of the body, m.
    place: [f32; 3],
}

impl Frame {
    fn new(pose: &Pose, origin: DVec3) -> Frame {
        let turn = DMat3::from_quat(pose.rotation);
        let single = |v: DVec3| v.to_array().map(|c| c as f32);
        Frame {
            axes: [single(turn.x_axis), single(turn.y_axis), single(turn.z_axis)],
            place: single(pose.translation - origin),
        }
    }

    #[inline(always)]
    fn local<L: Lanes>(&self, x: Vectors<L>) -> Vectors<L> {
        let d = x - Vectors::splat(self.place);
        Vectors {
            x: d.dot(Vectors::splat(self.axes[0])),
            y: d.dot(Vectors::splat(self.axes[1])),
            z: d.dot(Vectors::splat(self.axes[2])),
        }
    }

    #[inline(always)]
    fn turn_to_world<L: Lanes>(&self, l: Vectors<L>) -> Vectors<L> {
        let [x, y, z] = self.axes;
        Vectors::splat(x) * l.x + Vectors::splat(y) * l.y + Vectors::splat(z) * l.z
    }
}

/// Marks a vertex that touches something and slides on it.
pub const SLIDES: u8 = 1;
/// Marks a vertex that touches something and that friction holds.
pub const STICKS: u8 = 2;

/// How far eights of vertices are from the colliders of a frame.
#[derive(Clone, Debug, Default)]
pub struct Clearances {
    /// For each collider: the least distance of one of each eight, or of each with vertices on its list, from its skin, m. No such
    /// eight is nearer.
    of: Vec<Vec<f32>>,
    /// Eights that are on a list, ascending; not used if there is a collider without a list, as all are seen then.
    seen: Vec<u32>,
    all_seen: bool,
    /// The longest way of one of each eight since clearances were last shortened, m.
    ways: Vec<f32>,
    /// How far one of each eight was put aside by contact since then, m.
    pushes: Vec<f32>,
    /// Rounding of places, m: what is nearer than this is looked at.
    rounding: f32,
}

impl Clearances {
    /// Nothing is known yet about `n` vertices, which are within `size`, m, of the origin, and colliders with these lists, or none.
    pub fn begin_frame<'a>(
        &mut self,
        n: usize,
        size: f64,
        lists: impl Iterator<Item = Option<&'a Listed>> + Clone,
    ) {
        let eights = n.div_ceil(WIDTH);
        self.of.resize_with(lists.clone().count(), Vec::new);
        let looked_at = lists.clone().map(|list| list.map_or(eights, |list| list.eights.len()));
        let known = self.of.iter_mut().zip(looked_at);
        for (known, count) in known.chain([(&mut self.ways, eights), (&mut self.pushes, eights)]) {
            known.clear();
            known.resize(count, 0.0);
        }
        self.seen.clear();
        self.all_seen = lists.clone().any(|list| list.is_none());
        if !self.all_seen {
            self.seen.extend(lists.flatten().flat_map(|list| &list.eights));
            self.seen.sort_unstable();
            self.seen.dedup();
        }
        self.rounding = (1e-6 + 1e-6 * size) as f32;
    }

    /// How many eights are known to be away from a collider, summed over colliders.
    #[cfg(test)]
    pub fn far(&self) -> usize {
        self.of.iter().flatten().filter(|c| **c > self.rounding).count()
    }

    /// How many eights are looked at in a substep unless they are far, summed over colliders, and how many ways are taken.
    #[cfg(test)]
    pub fn looked_at(&self) -> (usize, usize) {
        let ways = if self.all_seen { self.ways.len() } else { self.seen.len() };
        (self.of.iter().map(Vec::len).sum(), ways)
    }

    /// Vertices have moved from `before` to `now`.
    pub fn vertices_moved(&mut self, instructions: Instructions, before: &[Point], now: &[Point]) {
        if now.is_empty() {
            return;
        }
        let Clearances { ways, pushes, seen, all_seen, .. } = self;
        let seen = (!*all_seen).then_some(&seen[..]);
        instructions.run(Ways { before, now, seen, ways, pushes });
    }
}

/// The longest way of each eight that is seen.
struct Ways<'a> {
    before: &'a [Point],
    now: &'a [Point],
    /// Some eights; all without it.
    seen: Option<&'a [u32]>,
    ways: &'a mut [f32],
    pushes: &'a mut [f32],
}

impl Kernel for Ways<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let last = self.now.len() as u32 - 1;
        for k in 0..self.seen.map_or(self.ways.len(), <[u32]>::len) {
            let e = match self.seen {
                None => k,
                Some(seen) => seen[k] as usize,
            };
            let places = Places::run((e * WIDTH) as u32, last);
            let (before, _) = Vectors::<L>::gather(self.before, &places);
            let (now, _) = Vectors::<L>::gather(self.now, &places);
            let path = now - before;
            self.ways[e] = self.pushes[e] + greatest(path.dot(path)).sqrt();
            self.pushes[e] = 0.0;
        }
    }
}

#[inline(always)]
fn greatest<L: Lanes>(numbers: L) -> f32 {
    let mut each = [0.0; WIDTH];
    numbers.store(&mut each);
    let mut most = each[0];
    for l in 1..WIDTH {
        // What is not a number counts as the most.
        most = if each[l] <= most { most } else { each[l] };
    }
    most
}

/// Lets the obstacle with index `k` in the frame act on the vertices of a body over a substep. `base` are positions from
/// `origin` when the frame began; `marks` gets [`SLIDES`] or [`STICKS`] for those that touch, `normals` those of
/// the collider there.
pub fn collide(
    instructions: Instructions,
    (k, obstacle): (usize, &Obstacle),
    origin: DVec3,
    h: f32,
    clearances: &mut Clearances,
    base: &[Point],
    before: &mut [Point],
    velocities: &[Point],
    displacements: &mut [Point],
    marks: &mut [u8],
    normals: &mut [[f32; 3]],
) {
    if displacements.is_empty() {
        return;
    }
    let thin = match *obstacle.shape {
        // Nothing passes through a half-space and comes out on the other side.
        Primitive::Plane { .. } => f64::INFINITY,
        Primitive::Sphere { radius } | Primitive::Capsule { radius, .. } => radius,
        Primitive::Box { half } => half.min_element(),
        Primitive::Cylinder { radius, half_height } => radius.min(half_height),
    };
    let (pose0, pose1) = (&obstacle.pose0, &obstacle.pose1);
    let turns = pose0.rotation != pose1.rotation;
    let drift = if turns { f64::INFINITY } else { pose0.translation.distance(pose1.translation) };
    let Clearances { of, ways, pushes, rounding, .. } = clearances;
    let touch = Touch {
        clearances: &mut of[k],
        ways,
        pushes,
        drift: drift as f32,
        rounding: *rounding,
        shape: obstacle.shape,
        frame0: Frame::new(&obstacle.pose0, origin),
        frame1: Frame::new(&obstacle.pose1, origin),
        skin: obstacle.skin as f32,
        material: &obstacle.material,
        fast: (0.5 * thin + obstacle.skin) as f32,
        only: obstacle.only,
        base,
        before,
        displacements,
        marks,
        normals,
    };
    instructions.run(touch);
    if obstacle.material.restitution > 0.0 {
        bounce(obstacle, origin, h, base, velocities, displacements, marks, before);
    }
}

/// One visit of all vertices, or of those on a list.
struct Touch<'a> {
    clearances: &'a mut [f32],
    ways: &'a mut [f32],
    pushes: &'a mut [f32],
    /// The way of the collider, m.
    drift: f32,
    rounding: f32,
    shape: &'a Primitive,
    frame0: Frame,
    frame1: Frame,
    skin: f32,
    material: &'a ContactMaterial,
    /// A path longer than this could lead through the shape, m.
    fast: f32,
    only: Option<&'a Listed>,
    base: &'a [Point],
    /// Displacements when the substep began, m.
    before: &'a [Point],
    displacements: &'a mut [Point],
    marks: &'a mut [u8],
    normals: &'a mut [[f32; 3]],
}

impl Kernel for Touch<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let last = self.displacements.len() as u32 - 1;
        for k in 0..self.clearances.len() {
            let (e, only) = match self.only {
                None => (k, None),
                Some(Listed { eights, lanes }) => (eights[k] as usize, Some(&lanes[k])),
            };
            let left = self.clearances[k] - self.ways[e] - self.drift;
            self.clearances[k] = if left > self.rounding {
                left
            } else {
                self.eight::<L>(e, &Places::run((e * WIDTH) as u32, last), only)
            };
        }
    }
}

impl Touch<'_> {
    /// Looks at one eight, or at those of its vertices that have a 1; returns their distance from the skin, m.
    #[inline(always)]
    fn eight<L: Lanes>(&mut self, e: usize, places: &Places, only: Option<&Eight>) -> f32 {
        let zero = L::splat(0.0);
        let (base, _) = Vectors::<L>::gather(self.base, places);
        let (p, w) = Vectors::<L>::gather(self.displacements, places);
        let end = self.frame1.local(base + p);
        let (distance, normal) = signed_distance_and_normal::<L>(self.shape, end);
        // To vertices that are not on the list there is nothing near.
        let distance = match only {
            None => distance,
            Some(only) => zero.where_below(L::load(only), distance, L::splat(f32::INFINITY)),
        };
        // Supported vertices go where they are led.
        let depth = zero.where_below(w, (L::splat(self.skin) - distance).max(zero), zero);
        let is_slow = self.ways[e] + self.drift < self.fast;
        let may_be_fast = !is_slow;
        if !may_be_fast && !depth.any_above_zero() {
            return 0.0 - greatest(L::splat(self.skin) - distance);
        }
        let (before, _) = Vectors::<L>::gather(self.before, places);
        let start = self.frame0.local(base + before);
        let path = end - start;
        let mut fast = (path.length() - L::splat(self.fast)).max(zero);
        if let Some(only) = only {
            fast = zero.where_below(L::load(only), fast, zero);
        }
        // Onto the skin, then back along the surface.
        let pushed = path + normal * depth;
        let slid = pushed - normal * pushed.dot(normal);
        let lost = match self.material.tangential_keep {
            Some(keep) => L::splat(1.0 - keep as f32),
            None => {
                let most = L::splat(self.material.friction as f32) * depth;
                (most / slid.length().max(L::splat(f32::MIN_POSITIVE))).min(L::splat(1.0))
            }
        };
        let lost = zero.where_below(depth, lost, zero);
        let moved = self.frame1.turn_to_world(normal * depth - slid * lost);
        (p + moved).scatter(w, self.displacements, places);
        let push = greatest(moved.dot(moved)).sqrt();

        let (mut depths, mut losts, mut fasts) = ([0.0; WIDTH], [0.0; WIDTH], [0.0; WIDTH]);
        let mut normals = [[0.0; WIDTH]; 3];
        self.frame1.turn_to_world(normal).store(&mut normals);
        depth.store(&mut depths);
        lost.store(&mut losts);
        fast.store(&mut fasts);
        for l in 0..WIDTH {
            if depths[l] > 0.0 {
                let v = places.at()[l] as usize;
                self.marks[v] |= if losts[l] >= 1.0 { STICKS } else { SLIDES };
                self.normals[v] = [normals[0][l], normals[1][l], normals[2][l]];
            }
        }
        let fast = may_be_fast && fast.any_above_zero();
        if fast {
            let (mut from, mut to) = ([[0.0; WIDTH]; 3], [[0.0; WIDTH]; 3]);
            start.store(&mut from);
            end.store(&mut to);
            for l in (0..WIDTH).filter(|&l| fasts[l] > 0.0) {
                let place = |p: &[[f32; WIDTH]; 3]| {
                    DVec3::new(f64::from(p[0][l]), f64::from(p[1][l]), f64::from(p[2][l]))
                };
                self.stop(places.at()[l] as usize, place(&from), place(&to));
            }
        }
        // A vertex that was stopped may have been put anywhere.
        let push = if fast { f32::INFINITY } else { push };
        self.ways[e] += push;
        self.pushes[e] += push;
        0.0
    }

    /// A vertex that may have flown through the shape stays where it first touched it.
    #[cold]
    fn stop(&mut self, v: usize, from: DVec3, to: DVec3) {
        if self.displacements[v][3] == 0.0 {
            return;
        }
        // What began inside has been put out of the shape already: it must not be put back to where it began.
        if self.shape.signed_distance_and_normal(from).0 < 0.0 {
            return;
        }
        let Some(hit) = self.shape.first_hit(from, to, self.skin.into()) else { return };
        let local = hit.point.to_array().map(|c| c as f32);
        let Frame { axes, place } = &self.frame1;
        for k in 0..3 {
            let turned = local[0] * axes[0][k] + local[1] * axes[1][k] + local[2] * axes[2][k];
            self.displacements[v][k] = turned + place[k] - self.base[v][k];
        }
        self.marks[v] |= SLIDES;
        self.normals[v] = [0.0; 3];
    }
}

/// Gives back a share of the approach speed: the place before is put so that the velocity of the substep is right.
fn bounce(
    obstacle: &Obstacle,
    origin: DVec3,
    h: f32,
    base: &[Point],
    velocities: &[Point],
    displacements: &[Point],
    marks: &[u8],
    before: &mut [Point],
) {
    let restitution = obstacle.material.restitution;
    for v in obstacle.touching(marks) {
        let part = |k: usize| f64::from(base[v][k]) + f64::from(displacements[v][k]);
        let x = origin + DVec3::new(part(0), part(1), part(2));
        let local = obstacle.pose1.apply_inverse(x);
        let (distance, normal) = obstacle.shape.signed_distance_and_normal(local);
        if distance > obstacle.skin + NEAR {
            continue; // it touches something else
        }
        let normal = obstacle.pose1.rotate(normal);
        let surface = (obstacle.pose1.apply(local) - obstacle.pose0.apply(local)) / f64::from(h);
        let [vx, vy, vz, _] = velocities[v].map(f64::from);
        let approach = -normal.dot(DVec3::new(vx, vy, vz) - surface);
        if approach > obstacle.rest_speed {
            let back = normal * (restitution * approach * f64::from(h));
            for (place, b) in before[v].iter_mut().zip(back.to_array()) {
                *place -= b as f32;
            }
        }
    }
}

/// Vertices that were put on the skin are within this of it, m: the rounding of 32 bits at a few metres.
const NEAR: f64 = 1e-5;

/// The contacts of marked vertices, told in 64 bits. `order` has the number of each vertex in the body.
pub fn report(
    obstacle: &Obstacle,
    collider: u32,
    marks: &[u8],
    order: &[u32],
    x: &[DVec3],
    points: &mut Vec<ContactPoint>,
) {
    for v in obstacle.touching(marks) {
        let vertex = order[v];
        let place = x[vertex as usize];
        let (distance, normal) =
            obstacle.shape.signed_distance_and_normal(obstacle.pose1.apply_inverse(place));
        if distance > obstacle.skin + NEAR {
            continue; // it touches something else
        }
        let normal = obstacle.pose1.rotate(normal);
        points.push(ContactPoint {
            vertex,
            collider,
            point: place,
            normal,
            depth: (obstacle.skin - distance).max(0.0),
        });
    }
}

/// [`Primitive::signed_distance_and_normal`], eight at a time.
#[inline(always)]
fn signed_distance_and_normal<L: Lanes>(shape: &Primitive, p: Vectors<L>) -> (L, Vectors<L>) {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    match *shape {
        Primitive::Plane { normal } => {
            let n = Vectors::splat([normal.x as f32, normal.y as f32, normal.z as f32]);
            (n.dot(p), n)
        }
        Primitive::Sphere { radius } => {
            let (length, normal) = length_and_direction(p, [0.0, 1.0, 0.0]);
            (length - L::splat(radius as f32), normal)
        }
        Primitive::Capsule { radius, half_height } => {
            let half = L::splat(half_height as f32);
            let on_axis = p.y.min(half).max(zero - half);
            let from_axis = Vectors { x: p.x, y: p.y - on_axis, z: p.z };
            let (length, normal) = length_and_direction(from_axis, [1.0, 0.0, 0.0]);
            (length - L::splat(radius as f32), normal)
        }
        Primitive::Cylinder { radius, half_height } => {
            let (from_axis, outward) =
                length_and_direction(Vectors { x: p.x, y: zero, z: p.z }, [1.0, 0.0, 0.0]);
            let side = from_axis - L::splat(radius as f32);
            let up = sign(p.y);
            let cap = p.y * up - L::splat(half_height as f32);
            let out = Vectors { x: side.max(zero), y: cap.max(zero), z: zero };
            let (outside, direction) = length_and_direction(out, [1.0, 0.0, 0.0]);
            let deepest = side.max(cap);
            // Inside, the nearer of side and end; outside, between both.
            let side_in = cap.where_below(side, one, zero);
            let share_side = zero.where_below(deepest, direction.x, side_in);
            let share_cap = zero.where_below(deepest, direction.y, one - side_in);
            let normal = Vectors { x: outward.x * share_side, y: up * share_cap, z: outward.z * share_side };
            (zero.where_below(deepest, outside, deepest), normal)
        }
        Primitive::Box { half } => {
            let (sx, sy, sz) = (sign(p.x), sign(p.y), sign(p.z));
            let half = Vectors::splat([half.x as f32, half.y as f32, half.z as f32]);
            let q = Vectors { x: p.x * sx, y: p.y * sy, z: p.z * sz } - half;
            let out = Vectors { x: q.x.max(zero), y: q.y.max(zero), z: q.z.max(zero) };
            let (outside, direction) = length_and_direction(out, [0.0, 1.0, 0.0]);
            let deepest = q.x.max(q.y).max(q.z);
            // Inside, the nearest face: y before x before z.
            let in_y = q.y.where_below(deepest, zero, one);
            let in_x = q.x.where_below(deepest, zero, one - in_y);
            let in_z = one - in_y - in_x;
            let normal = Vectors {
                x: zero.where_below(deepest, direction.x, in_x) * sx,
                y: zero.where_below(deepest, direction.y, in_y) * sy,
                z: zero.where_below(deepest, direction.z, in_z) * sz,
            };
            (zero.where_below(deepest, outside, deepest), normal)
        }
    }
}

#[inline(always)]
fn sign<L: Lanes>(x: L) -> L {
    x.where_below(L::splat(0.0), L::splat(-1.0), L::splat(1.0))
}

/// Lengths of vectors and their directions; `otherwise` where there is none.
#[inline(always)]
fn length_and_direction<L: Lanes>(v: Vectors<L>, otherwise: [f32; 3]) -> (L, Vectors<L>) {
    let zero = L::splat(0.0);
    let length = v.length();
    let unit = v * (L::splat(1.0) / length.max(L::splat(f32::MIN_POSITIVE)));
    let other = Vectors::<L>::splat(otherwise);
    let direction = Vectors {
        x: zero.where_below(length, unit.x, other.x),
        y: zero.where_below(length, unit.y, other.y),
        z: zero.where_below(length, unit.z, other.z),
    };
    (length, direction)
}
