//! Contact with rigid colliders inside the sweep: out of the shape, friction by how deep it was (Müller et al. 2007).
//!
//! Each substep looks where a vertex is now; one that moves so fast that it could pass through a thin shape is followed
//! along its path by [`Primitive::first_hit`]. A vertex within the skin is put on it. The way it slid on the surface is
//! shortened by at most the friction coefficient times the depth, which is Coulomb's law, as the depth is the normal impulse
//! over mass times the substep. Everything is taken in the frame of the collider, so moving ones push and carry.

use glam::{DMat3, DVec3};

use super::lanes::{Instructions, Kernel, Lanes, Places, Point, Vectors, WIDTH};
use crate::contact::ContactPoint;
use crate::contact::primitives::Primitive;
use crate::contact::response::ContactMaterial;
use crate::math::Pose;

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
    pub material: &'a ContactMaterial,
    /// Distance at which vertices touch, m.
    pub skin: f64,
    /// Approach speed up to which nothing bounces, m/s.
    pub rest_speed: f64,
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

/// Lets an obstacle act on the vertices of a body over a substep. `base` are positions from `origin` when the frame
/// began; `marks` gets [`SLIDES`] or [`STICKS`] for those that touch.
pub fn collide(
    instructions: Instructions,
    obstacle: &Obstacle,
    origin: DVec3,
    h: f32,
    base: &[Point],
    before: &mut [Point],
    velocities: &[Point],
    displacements: &mut [Point],
    marks: &mut [u8],
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
    let touch = Touch {
        shape: obstacle.shape,
        frame0: Frame::new(&obstacle.pose0, origin),
        frame1: Frame::new(&obstacle.pose1, origin),
        skin: obstacle.skin as f32,
        material: obstacle.material,
        fast: (0.5 * thin + obstacle.skin) as f32,
        base,
        before,
        displacements,
        marks,
    };
    instructions.run(touch);
    if obstacle.material.restitution > 0.0 {
        bounce(obstacle, origin, h, base, velocities, displacements, marks, before);
    }
}

/// One visit of all vertices of a block.
struct Touch<'a> {
    shape: &'a Primitive,
    frame0: Frame,
    frame1: Frame,
    skin: f32,
    material: &'a ContactMaterial,
    /// A path longer than this could lead through the shape, m.
    fast: f32,
    base: &'a [Point],
    /// Displacements when the substep began, m.
    before: &'a [Point],
    displacements: &'a mut [Point],
    marks: &'a mut [u8],
}

impl Kernel for Touch<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let last = self.displacements.len() as u32 - 1;
        let mut first = 0;
        while first <= last {
            self.eight::<L>(&Places::run(first, last));
            first += WIDTH as u32;
        }
    }
}

impl Touch<'_> {
    #[inline(always)]
    fn eight<L: Lanes>(&mut self, places: &Places) {
        let zero = L::splat(0.0);
        let (base, _) = Vectors::<L>::gather(self.base, places);
        let (before, _) = Vectors::<L>::gather(self.before, places);
        let (p, w) = Vectors::<L>::gather(self.displacements, places);
        let end = self.frame1.local(base + p);
        let (distance, normal) = signed_distance_and_normal::<L>(self.shape, end);
        // Supported vertices go where they are led.
        let depth = zero.where_below(w, (L::splat(self.skin) - distance).max(zero), zero);
        let start = self.frame0.local(base + before);
        let path = end - start;
        let fast = (path.length() - L::splat(self.fast)).max(zero);
        if !depth.max(fast).any_above_zero() {
            return;
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

        let (mut depths, mut losts, mut fasts) = ([0.0; WIDTH], [0.0; WIDTH], [0.0; WIDTH]);
        depth.store(&mut depths);
        lost.store(&mut losts);
        fast.store(&mut fasts);
        for l in 0..WIDTH {
            if depths[l] > 0.0 {
                self.marks[places.at()[l] as usize] |= if losts[l] >= 1.0 { STICKS } else { SLIDES };
            }
        }
        if fast.any_above_zero() {
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
    for v in (0..marks.len()).filter(|&v| marks[v] != 0) {
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
    for (&vertex, _) in order.iter().zip(marks).filter(|(_, m)| **m != 0) {
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
