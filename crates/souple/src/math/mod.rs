//! Mathematics with the same bits on every machine: elementary functions, rotations, poses, hashes, noise.
//!
//! The standard library takes `sin`, `exp` and their like from the platform, and platforms differ in the last bits. The
//! engine calls these instead: thin wrappers over `libm`, which is plain Rust. Square root, `floor` and the four
//! operations are exact by IEEE 754 and need no wrapper.
//!
//! Hashes follow the finaliser of SplitMix64 (Steele, Lea, Flood, *Fast splittable pseudorandom number generators*,
//! OOPSLA 2014). Noise is value noise on a unit lattice with Perlin's quintic fade (*Improving noise*, SIGGRAPH 2002); it
//! drives the coherent gusts that ESSI-28 and GRI-15 lack.
//!
//! Promised: same input, same bits; noise stays in [-1, 1] and is twice continuously differentiable. Not promised:
//! anything about non-finite input (it gives non-finite output, never a panic), nor a hash that resists an adversary.

mod decompose;
pub(crate) mod four;

use glam::{DQuat, DVec3};

pub(crate) use decompose::ROUND;
pub use decompose::{Svd, cofactors, inner, polar, qr, svd};

/// Sine of an angle in radians.
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// Cosine of an angle in radians.
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// Tangent of an angle in radians.
pub fn tan(x: f64) -> f64 {
    libm::tan(x)
}

/// Arc sine in radians, NaN outside [-1, 1].
pub fn asin(x: f64) -> f64 {
    libm::asin(x)
}

/// Arc cosine in radians, NaN outside [-1, 1].
pub fn acos(x: f64) -> f64 {
    libm::acos(x)
}

/// Arc tangent in radians, in [-π/2, π/2].
pub fn atan(x: f64) -> f64 {
    libm::atan(x)
}

/// Angle in radians of the point (x, y), in [-π, π].
pub fn atan2(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}

/// e to the power x.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// 2 to the power x.
pub fn exp2(x: f64) -> f64 {
    libm::exp2(x)
}

/// Natural logarithm.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// Logarithm to base 2.
pub fn log2(x: f64) -> f64 {
    libm::log2(x)
}

/// Logarithm to base 10.
pub fn log10(x: f64) -> f64 {
    libm::log10(x)
}

/// x to the power y.
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// Cube root.
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}

/// Sine and cosine of an angle in degrees, exact at every multiple of 90° and as precise after a thousand turns as at the
/// first: the whole turns are taken off before π comes in.
pub fn sin_cos_degrees(angle_deg: f64) -> (f64, f64) {
    // `%` is exact, the quarter is one of -4..=4, and the rest lies in [-45, 45].
    let reduced = angle_deg % 360.0;
    let quarter = (reduced / 90.0).round();
    let rest = (reduced - 90.0 * quarter) * (std::f64::consts::PI / 180.0);
    let (s, c) = (sin(rest), cos(rest));
    match (quarter as i32).rem_euclid(4) {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    }
}

/// Rotation about the direction of the vector, by its length in degrees; exactly the identity for the zero vector.
pub fn rotation(axis_times_angle_deg: DVec3) -> DQuat {
    let angle_deg = axis_times_angle_deg.length();
    if angle_deg == 0.0 {
        return DQuat::IDENTITY;
    }
    let (s, c) = sin_cos_degrees(0.5 * angle_deg);
    let v = axis_times_angle_deg / angle_deg * s;
    DQuat::from_xyzw(v.x, v.y, v.z, c).normalize()
}

/// The one of `b` and `-b` (the same rotation) that is nearer to `a`.
fn nearer_sign(a: DQuat, b: DQuat) -> DQuat {
    if a.dot(b) < 0.0 { -b } else { b }
}

/// Angle in radians, in [0, π], of the rotation that leads from one unit quaternion to the other.
pub fn rotation_angle(a: DQuat, b: DQuat) -> f64 {
    let b = nearer_sign(a, b);
    // The arc tangent of half the angle keeps its precision for close rotations, where the arc cosine loses half its digits.
    4.0 * atan2((b - a).length(), (b + a).length())
}

/// Rotation between two unit quaternions by normalised linear interpolation, the short way round. It follows the same
/// arc as [`slerp`], but runs faster in the middle of it.
pub fn nlerp(a: DQuat, b: DQuat, s: f64) -> DQuat {
    // Both are unit and at most a right angle apart, so the sum is at least 1/√2 long.
    (a * (1.0 - s) + nearer_sign(a, b) * s).normalize()
}

/// Rotation between two unit quaternions at constant angular speed, the short way round.
pub fn slerp(a: DQuat, b: DQuat, s: f64) -> DQuat {
    let b = nearer_sign(a, b);
    let angle = 0.5 * rotation_angle(a, b);
    if angle < 1e-6 {
        // The two interpolations differ by less than angle³, which is below rounding here.
        return nlerp(a, b, s);
    }
    (a * (sin((1.0 - s) * angle) / sin(angle)) + b * (sin(s * angle) / sin(angle))).normalize()
}

/// Where a rigid thing is: a rotation about its own origin, then a translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Unit quaternion that turns local directions into world directions.
    pub rotation: DQuat,
    /// World position of the local origin, m.
    pub translation: DVec3,
}

impl Pose {
    /// No rotation, no translation.
    pub const IDENTITY: Pose = Pose { rotation: DQuat::IDENTITY, translation: DVec3::ZERO };

    /// A pose from a rotation and a translation in metres.
    pub const fn new(rotation: DQuat, translation: DVec3) -> Pose {
        Pose { rotation, translation }
    }

    /// World position of a local point.
    pub fn apply(&self, local: DVec3) -> DVec3 {
        self.rotation * local + self.translation
    }

    /// Local position of a world point.
    pub fn apply_inverse(&self, world: DVec3) -> DVec3 {
        self.rotation.conjugate() * (world - self.translation)
    }

    /// World direction of a local direction.
    pub fn rotate(&self, local: DVec3) -> DVec3 {
        self.rotation * local
    }

    /// Local direction of a world direction.
    pub fn rotate_inverse(&self, world: DVec3) -> DVec3 {
        self.rotation.conjugate() * world
    }

    /// The pose of a thing in the world whose pose in this frame is `inner`.
    pub fn compose(&self, inner: &Pose) -> Pose {
        Pose {
            rotation: (self.rotation * inner.rotation).normalize(),
            translation: self.apply(inner.translation),
        }
    }

    /// The pose that leads back.
    pub fn inverse(&self) -> Pose {
        let rotation = self.rotation.conjugate();
        Pose { rotation, translation: rotation * -self.translation }
    }

    /// The pose at fraction `s` of the way to `other`: straight line, constant angular speed, short way round.
    pub fn lerp(&self, other: &Pose, s: f64) -> Pose {
        Pose {
            rotation: slerp(self.rotation, other.rotation, s),
            translation: self.translation * (1.0 - s) + other.translation * s,
        }
    }

    /// True when every number in it is finite.
    pub fn is_finite(&self) -> bool {
        self.rotation.is_finite() && self.translation.is_finite()
    }
}

impl Default for Pose {
    fn default() -> Self {
        Pose::IDENTITY
    }
}

/// Fraction of the golden ratio in 64 bits, the odd increment of SplitMix64.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Scrambles 64 bits so that each input bit sways every output bit (the finaliser of SplitMix64). A bijection; 0 stays 0.
pub const fn mix(bits: u64) -> u64 {
    let a = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let b = (a ^ (a >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    b ^ (b >> 31)
}

/// 64 random bits: number `index` of the stream `seed`. Any number can be had without those before it.
pub const fn random_bits(seed: u64, index: u64) -> u64 {
    // The seed is scrambled first, so that neighbouring seeds are not shifted copies of one stream.
    mix(mix(seed).wrapping_add(index.wrapping_add(1).wrapping_mul(GOLDEN)))
}

/// A random number in [0, 1), uniform: number `index` of the stream `seed`.
pub fn uniform(seed: u64, index: u64) -> f64 {
    (random_bits(seed, index) >> 11) as f64 / (1u64 << 53) as f64
}

/// Perlin's quintic fade: 0 to 1, with first and second derivatives zero at both ends.
fn fade(t: f64) -> f64 {
    t * t * t * (t * (t * 6.0 - 15.0) + 10.0)
}

/// One coordinate on the noise lattice: hash keys of the two lattice planes around it, and their weights.
struct Lattice {
    keys: [u64; 2],
    weights: [f64; 2],
}

impl Lattice {
    fn at(x: f64) -> Lattice {
        let floor = x.floor();
        let cell = floor as i64; // saturates beyond 9e18, where the lattice is long finer than the numbers
        let f = fade(x - floor);
        Lattice { keys: [cell as u64, cell.wrapping_add(1) as u64], weights: [1.0 - f, f] }
    }
}

/// Folds one more lattice coordinate into a hash.
const fn fold(hash: u64, key: u64) -> u64 {
    mix(hash.wrapping_add(GOLDEN).wrapping_add(key))
}

/// `bits` random bits, taken from the top of a hash, as a number spread evenly over [-1, 1].
fn signed_unit(hash: u64, bits: u32) -> f64 {
    let top = (1u64 << bits) - 1;
    (hash >> (64 - bits)) as f64 / top as f64 * 2.0 - 1.0
}

/// Smooth random field in [-1, 1] over space, one feature per unit of `p`, mean zero over many cells.
pub fn noise3(p: DVec3, seed: u32) -> f64 {
    let (lx, ly, lz) = (Lattice::at(p.x), Lattice::at(p.y), Lattice::at(p.z));
    let root = random_bits(u64::from(seed), 0);
    let mut sum = 0.0;
    for i in 0..2 {
        let hx = fold(root, lx.keys[i]);
        for j in 0..2 {
            let hy = fold(hx, ly.keys[j]);
            let weight = lx.weights[i] * ly.weights[j];
            for k in 0..2 {
                sum += weight * lz.weights[k] * signed_unit(fold(hy, lz.keys[k]), 53);
            }
        }
    }
    // The weights sum to 1 up to rounding; the clamp takes off that last bit.
    sum.clamp(-1.0, 1.0)
}

/// Smooth random vector field over space and time, each component in [-1, 1], one feature per unit of `p` and of `time`.
/// The components are independent. A gust is this, with position divided by its size and time by its duration.
pub fn noise_vector(p: DVec3, time: f64, seed: u32) -> DVec3 {
    let (lx, ly, lz, lt) = (Lattice::at(p.x), Lattice::at(p.y), Lattice::at(p.z), Lattice::at(time));
    // Another stream than noise3's, so that the two fields of one seed have nothing in common.
    let root = random_bits(u64::from(seed), 1);
    let mut sum = DVec3::ZERO;
    for i in 0..2 {
        let hx = fold(root, lx.keys[i]);
        for j in 0..2 {
            let hy = fold(hx, ly.keys[j]);
            for k in 0..2 {
                let hz = fold(hy, lz.keys[k]);
                let weight = lx.weights[i] * ly.weights[j] * lz.weights[k];
                for l in 0..2 {
                    // One hash holds three components of 21 bits.
                    let hash = fold(hz, lt.keys[l]);
                    let value = DVec3::new(
                        signed_unit(hash, 21),
                        signed_unit(hash << 21, 21),
                        signed_unit(hash << 42, 21),
                    );
                    sum += value * (weight * lt.weights[l]);
                }
            }
        }
    }
    // Component by component: the vector clamp would turn NaN into a number and hide it.
    DVec3::new(sum.x.clamp(-1.0, 1.0), sum.y.clamp(-1.0, 1.0), sum.z.clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests;
