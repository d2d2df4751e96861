//! Eight numbers of 32 bits at a time: with AVX2 where the machine has it, with plain arrays elsewhere.
//!
//! A kernel is written once, over [`Lanes`]; [`Instructions::run`] compiles it for both and chooses at run time. Both
//! give the same bits: sums, products, quotients and roots are rounded as IEEE 754 says, nothing is fused, and nothing
//! approximate (reciprocals, inverse roots) is used.
//!
//! This is the one module of the engine with `unsafe`: instructions of a machine that was asked whether it has them, and
//! loads and stores at indices that were checked just before.
#![allow(unsafe_code)]

mod pairs;

use std::ops::{Add, Div, Mul, Sub};

pub use self::pairs::{Both, Ends, Lie, Pair, ROWS};

/// How many numbers are worked on at once.
pub const WIDTH: usize = 8;

/// One number for each of eight elements.
pub type Eight = [f32; WIDTH];

/// A vector and the inverse mass of its vertex, 1/kg: what is read and written of a vertex in one piece.
pub type Point = [f32; 4];

/// Eight places in a list, and the highest of them, so that one comparison tells whether all are inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    at: [u32; WIDTH],
    highest: u32,
}

impl Places {
    /// Eight places.
    #[inline(always)]
    pub fn new(at: [u32; WIDTH]) -> Places {
        let mut highest = at[0];
        for l in 1..WIDTH {
            highest = highest.max(at[l]);
        }
        Places { at, highest }
    }

    /// `first` and the seven after it, none beyond `last`.
    #[inline(always)]
    pub fn run(first: u32, last: u32) -> Places {
        let mut at = [first; WIDTH];
        for l in 1..WIDTH {
            at[l] = (first + l as u32).min(last);
        }
        Places { at, highest: at[WIDTH - 1] }
    }

    /// The places.
    #[inline(always)]
    pub fn at(&self) -> &[u32; WIDTH] {
        &self.at
    }
}

/// Four places for each of eight elements, and the highest of them all.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    at: &'a [[u32; 4]; WIDTH],
    highest: u32,
}

impl<'a> Rows<'a> {
    /// Eight rows of four.
    #[inline(always)]
    pub fn new(at: &'a [[u32; 4]; WIDTH]) -> Rows<'a> {
        let mut highest = [0; 4];
        for row in at {
            for k in 0..4 {
                highest[k] = highest[k].max(row[k]);
            }
        }
        let [a, b, c, d] = highest;
        Rows { at, highest: a.max(b).max(c.max(d)) }
    }
}

/// Several numbers that are worked on at once.
pub trait Numbers:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// The same number for all.
    fn splat(value: f32) -> Self;
    /// Square roots.
    fn sqrt(self) -> Self;
    /// The larger of two; `other` where one is not a number.
    fn max(self, other: Self) -> Self;
}

/// Eight numbers.
pub trait Lanes: Numbers {
    /// From memory.
    fn load(from: &Eight) -> Self;
    /// To memory.
    fn store(self, to: &mut Eight);
    /// The smaller of two; `other` where one is not a number.
    fn min(self, other: Self) -> Self;
    /// `yes` where the numbers are below `limit`, `no` elsewhere.
    fn where_below(self, limit: Self, yes: Self, no: Self) -> Self;
    /// Whether any is above 0.
    fn any_above_zero(self) -> bool;
    /// A bit for each that is below `limit`, the first lowest.
    fn mask_below(self, limit: Self) -> u8;
    /// The four parts of eight points.
    ///
    /// # Panics
    /// If an index is not below the length of `points`.
    fn gather(points: &[Point], places: &Places) -> [Self; 4];
    /// The same of points of which the fifth follows the first, the sixth the second, and so on.
    ///
    /// # Panics
    /// If an index is not below the length of `points`.
    #[inline(always)]
    fn gather_twos(points: &[Point], places: &Places) -> [Self; 4] {
        Self::gather(points, places)
    }
    /// The four parts of eight points, those of a column of rows.
    ///
    /// # Panics
    /// If an index is not below the length of `points`, or `column` is above 3.
    fn gather_column(points: &[Point], rows: &Rows, column: usize) -> [Self; 4];
    /// Writes the four parts of eight points. Of points named twice the last is kept.
    ///
    /// # Panics
    /// If an index is not below the length of `points`.
    fn scatter(points: &mut [Point], places: &Places, parts: [Self; 4]);
    /// The same of points of which the fifth follows the first, the sixth the second, and so on.
    ///
    /// # Panics
    /// If an index is not below the length of `points`.
    #[inline(always)]
    fn scatter_twos(points: &mut [Point], places: &Places, parts: [Self; 4]) {
        Self::scatter(points, places, parts);
    }
}

/// Eight vectors.
#[derive(Clone, Copy, Debug)]
pub struct Vectors<L> {
    /// Along x.
    pub x: L,
    /// Along y.
    pub y: L,
    /// Along z.
    pub z: L,
}

impl<L: Lanes> Vectors<L> {
    /// Eight vectors from memory.
    #[inline(always)]
    pub fn load(from: &[Eight; 3]) -> Vectors<L> {
        Vectors { x: L::load(&from[0]), y: L::load(&from[1]), z: L::load(&from[2]) }
    }

    /// To memory.
    #[inline(always)]
    pub fn store(self, to: &mut [Eight; 3]) {
        self.x.store(&mut to[0]);
        self.y.store(&mut to[1]);
        self.z.store(&mut to[2]);
    }

    /// Eight points and the fourth number of each. Panics if an index is not below the length.
    #[inline(always)]
    pub fn gather(points: &[Point], places: &Places) -> (Vectors<L>, L) {
        let [x, y, z, w] = L::gather(points, places);
        (Vectors { x, y, z }, w)
    }

    /// Eight points, those of a column of rows. Panics if an index is not below the length.
    #[inline(always)]
    pub fn gather_column(points: &[Point], rows: &Rows, column: usize) -> Vectors<L> {
        let [x, y, z, _] = L::gather_column(points, rows, column);
        Vectors { x, y, z }
    }

    /// Writes eight points with their fourth numbers. Panics if an index is not below the length.
    #[inline(always)]
    pub fn scatter(self, w: L, points: &mut [Point], places: &Places) {
        L::scatter(points, places, [self.x, self.y, self.z, w]);
    }
}

impl<L: Numbers> Vectors<L> {
    /// The same vector for all.
    #[inline(always)]
    pub fn splat(v: [f32; 3]) -> Vectors<L> {
        Vectors { x: L::splat(v[0]), y: L::splat(v[1]), z: L::splat(v[2]) }
    }

    /// Inner products.
    #[inline(always)]
    pub fn dot(self, o: Vectors<L>) -> L {
        self.x * o.x + self.y * o.y + self.z * o.z
    }

    /// Lengths.
    #[inline(always)]
    pub fn length(self) -> L {
        self.dot(self).sqrt()
    }
}

impl<L: Numbers> Add for Vectors<L> {
    type Output = Vectors<L>;
    #[inline(always)]
    fn add(self, o: Vectors<L>) -> Vectors<L> {
        Vectors { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}

impl<L: Numbers> Sub for Vectors<L> {
    type Output = Vectors<L>;
    #[inline(always)]
    fn sub(self, o: Vectors<L>) -> Vectors<L> {
        Vectors { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}

impl<L: Numbers> Mul<L> for Vectors<L> {
    type Output = Vectors<L>;
    #[inline(always)]
    fn mul(self, s: L) -> Vectors<L> {
        Vectors { x: self.x * s, y: self.y * s, z: self.z * s }
    }
}

/// Something that can be done eight at a time.
pub trait Kernel {
    /// What comes out.
    type Output;
    /// Does it. Must be `#[inline(always)]`, as all it calls over `L`, to be compiled for the instructions at hand: no
    /// closures over lanes, and no `map` of arrays of them.
    fn run<L: Lanes>(self) -> Self::Output;
}

/// Something that can be done with two eights of elements that join two points each.
pub trait PairKernel {
    /// Does it, as [`Kernel::run`].
    fn run<P: Pair>(self);
}

/// Which instructions are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// Those that every machine has.
    Plain,
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2(HasAvx2),
    /// AVX2, and AVX-512 for two eights.
    #[cfg(target_arch = "x86_64")]
    Avx512(HasAvx2, HasAvx512),
}

/// Proof that the machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HasAvx2(());

/// Proof that the machine has the foundation of AVX-512.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HasAvx512(());

impl Instructions {
    /// The best that this machine has.
    pub fn detect() -> Instructions {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            let avx2 = HasAvx2(());
            if std::arch::is_x86_feature_detected!("avx512f") {
                return Instructions::Avx512(avx2, HasAvx512(()));
            }
            return Instructions::Avx2(avx2);
        }
        Instructions::Plain
    }

    /// All that this machine has, the plain ones first.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Instructions> {
        let mut all = vec![Instructions::Plain];
        match Instructions::detect() {
            Instructions::Plain => {}
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(avx2, wide) => {
                all.extend([Instructions::Avx2(avx2), Instructions::Avx512(avx2, wide)]);
            }
            #[cfg(target_arch = "x86_64")]
            best @ Instructions::Avx2(_) => all.push(best),
        }
        all
    }

    /// Runs a kernel.
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            Instructions::Plain => kernel.run::<Plain>(),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `HasAvx2` is made only where AVX2 was found.
            Instructions::Avx2(HasAvx2(())) | Instructions::Avx512(HasAvx2(()), _) => unsafe {
                run_avx2(kernel)
            },
        }
    }

    /// Runs a kernel of pairs.
    pub fn run_pairs<K: PairKernel>(self, kernel: K) {
        match self {
            Instructions::Plain => kernel.run::<Both<Plain>>(),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `HasAvx2` is made only where AVX2 was found.
            Instructions::Avx2(HasAvx2(())) => unsafe { run_pairs_avx2(kernel) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `HasAvx512` is made only where AVX-512 was found.
            Instructions::Avx512(_, HasAvx512(())) => unsafe { run_pairs_avx512(kernel) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<avx2::Avx2>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_pairs_avx2<K: PairKernel>(kernel: K) {
    kernel.run::<Both<avx2::Avx2>>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn run_pairs_avx512<K: PairKernel>(kernel: K) {
    kernel.run::<pairs::avx512::Avx512>();
}

/// Eight numbers in an array: the twin that every machine can run.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Plain(Eight);

macro_rules! plain_operator {
    ($name:ident, $function:ident, $op:tt) => {
        impl $name for Plain {
            type Output = Plain;
            #[inline(always)]
            fn $function(self, other: Plain) -> Plain {
                let mut out = self.0;
                for l in 0..WIDTH {
                    out[l] = self.0[l] $op other.0[l];
                }
                Plain(out)
            }
        }
    };
}
plain_operator!(Add, add, +);
plain_operator!(Sub, sub, -);
plain_operator!(Mul, mul, *);
plain_operator!(Div, div, /);

impl Numbers for Plain {
    #[inline(always)]
    fn splat(value: f32) -> Plain {
        Plain([value; WIDTH])
    }
    #[inline(always)]
    fn sqrt(self) -> Plain {
        Plain(self.0.map(f32::sqrt))
    }
    #[inline(always)]
    fn max(self, other: Plain) -> Plain {
        other.where_below(self, self, other)
    }
}

impl Lanes for Plain {
    #[inline(always)]
    fn load(from: &Eight) -> Plain {
        Plain(*from)
    }
    #[inline(always)]
    fn store(self, to: &mut Eight) {
        *to = self.0;
    }
    #[inline(always)]
    fn min(self, other: Plain) -> Plain {
        self.where_below(other, self, other)
    }
    #[inline(always)]
    fn where_below(self, limit: Plain, yes: Plain, no: Plain) -> Plain {
        let mut out = no.0;
        for l in 0..WIDTH {
            out[l] = if self.0[l] < limit.0[l] { yes.0[l] } else { no.0[l] };
        }
        Plain(out)
    }
    #[inline(always)]
    fn any_above_zero(self) -> bool {
        self.0.iter().any(|&x| x > 0.0)
    }
    #[inline(always)]
    fn mask_below(self, limit: Plain) -> u8 {
        let mut mask = 0;
        for l in 0..WIDTH {
            mask |= u8::from(self.0[l] < limit.0[l]) << l;
        }
        mask
    }
    #[inline(always)]
    fn gather(points: &[Point], places: &Places) -> [Plain; 4] {
        let mut parts = [[0.0; WIDTH]; 4];
        for l in 0..WIDTH {
            let p = &points[places.at[l] as usize];
            for k in 0..4 {
                parts[k][l] = p[k];
            }
        }
        parts.map(Plain)
    }
    #[inline(always)]
    fn gather_column(points: &[Point], rows: &Rows, column: usize) -> [Plain; 4] {
        let mut parts = [[0.0; WIDTH]; 4];
        for l in 0..WIDTH {
            let p = &points[rows.at[l][column] as usize];
            for k in 0..4 {
                parts[k][l] = p[k];
            }
        }
        parts.map(Plain)
    }
    #[inline(always)]
    fn scatter(points: &mut [Point], places: &Places, parts: [Plain; 4]) {
        for l in 0..WIDTH {
            let p = &mut points[places.at[l] as usize];
            for k in 0..4 {
                p[k] = parts[k].0[l];
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::*;

    /// Eight numbers in one register. Made only by kernels that [`Instructions::run`] runs where AVX2 was found.
    #[derive(Clone, Copy, Debug)]
    pub struct Avx2(__m256);

    macro_rules! avx2_operator {
        ($name:ident, $function:ident, $intrinsic:ident) => {
            impl $name for Avx2 {
                type Output = Avx2;
                #[inline(always)]
                fn $function(self, other: Avx2) -> Avx2 {
                    // SAFETY: an `Avx2` exists only where AVX2 was found; so in all functions below.
                    Avx2(unsafe { $intrinsic(self.0, other.0) })
                }
            }
        };
    }
    avx2_operator!(Add, add, _mm256_add_ps);
    avx2_operator!(Sub, sub, _mm256_sub_ps);
    avx2_operator!(Mul, mul, _mm256_mul_ps);
    avx2_operator!(Div, div, _mm256_div_ps);

    /// Rows and columns of two 4 × 4 tables side by side change places.
    #[inline(always)]
    fn transpose([r0, r1, r2, r3]: [__m256; 4]) -> [__m256; 4] {
        // SAFETY: as above.
        unsafe {
            let (a, b) = (_mm256_unpacklo_ps(r0, r1), _mm256_unpackhi_ps(r0, r1));
            let (c, d) = (_mm256_unpacklo_ps(r2, r3), _mm256_unpackhi_ps(r2, r3));
            [
                _mm256_shuffle_ps::<0x44>(a, c),
                _mm256_shuffle_ps::<0xee>(a, c),
                _mm256_shuffle_ps::<0x44>(b, d),
                _mm256_shuffle_ps::<0xee>(b, d),
            ]
        }
    }

    /// Two points side by side.
    ///
    /// # Safety
    /// Both indices must be below the length of `points`.
    #[inline(always)]
    unsafe fn pair(points: *const Point, low: u32, high: u32) -> __m256 {
        // SAFETY: the caller checked the indices; a point has four numbers.
        unsafe {
            let low = _mm256_castps128_ps256(_mm_loadu_ps(points.add(low as usize).cast()));
            _mm256_insertf128_ps::<1>(low, _mm_loadu_ps(points.add(high as usize).cast()))
        }
    }

    impl Numbers for Avx2 {
        #[inline(always)]
        fn splat(value: f32) -> Avx2 {
            // SAFETY: as above.
            Avx2(unsafe { _mm256_set1_ps(value) })
        }
        #[inline(always)]
        fn sqrt(self) -> Avx2 {
            // SAFETY: as above.
            Avx2(unsafe { _mm256_sqrt_ps(self.0) })
        }
        #[inline(always)]
        fn max(self, other: Avx2) -> Avx2 {
            // SAFETY: as above.
            Avx2(unsafe { _mm256_max_ps(self.0, other.0) })
        }
    }

    impl Lanes for Avx2 {
        #[inline(always)]
        fn load(from: &Eight) -> Avx2 {
            // SAFETY: eight numbers are there, of any alignment.
            Avx2(unsafe { _mm256_loadu_ps(from.as_ptr()) })
        }
        #[inline(always)]
        fn store(self, to: &mut Eight) {
            // SAFETY: there is room for eight numbers, of any alignment.
            unsafe { _mm256_storeu_ps(to.as_mut_ptr(), self.0) }
        }
        #[inline(always)]
        fn min(self, other: Avx2) -> Avx2 {
            // SAFETY: as above.
            Avx2(unsafe { _mm256_min_ps(self.0, other.0) })
        }
        #[inline(always)]
        fn where_below(self, limit: Avx2, yes: Avx2, no: Avx2) -> Avx2 {
            // SAFETY: as above.
            unsafe {
                let below = _mm256_cmp_ps::<_CMP_LT_OQ>(self.0, limit.0);
                Avx2(_mm256_blendv_ps(no.0, yes.0, below))
            }
        }
        #[inline(always)]
        fn any_above_zero(self) -> bool {
            // SAFETY: as above.
            unsafe {
                let above = _mm256_cmp_ps::<_CMP_GT_OQ>(self.0, _mm256_setzero_ps());
                _mm256_movemask_ps(above) != 0
            }
        }
        #[inline(always)]
        fn mask_below(self, limit: Avx2) -> u8 {
            // SAFETY: as above.
            unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, limit.0)) as u8 }
        }
        #[inline(always)]
        fn gather(points: &[Point], places: &Places) -> [Avx2; 4] {
            let Places { at, highest } = places;
            assert!((*highest as usize) < points.len());
            let p = points.as_ptr();
            // SAFETY: no index is above the highest, which is below the length.
            let rows = unsafe {
                [pair(p, at[0], at[4]), pair(p, at[1], at[5]), pair(p, at[2], at[6]), pair(p, at[3], at[7])]
            };
            let [x, y, z, w] = transpose(rows);
            [Avx2(x), Avx2(y), Avx2(z), Avx2(w)]
        }
        #[inline(always)]
        fn gather_twos(points: &[Point], places: &Places) -> [Avx2; 4] {
            // SAFETY: as above.
            let mut rows = [unsafe { _mm256_setzero_ps() }; 4];
            for l in 0..4 {
                let from = &points[places.at[l] as usize..][..2];
                // SAFETY: two points are there, of four numbers each.
                rows[l] = unsafe { _mm256_loadu_ps(from.as_ptr().cast()) };
            }
            let [x, y, z, w] = transpose(rows);
            [Avx2(x), Avx2(y), Avx2(z), Avx2(w)]
        }
        #[inline(always)]
        fn gather_column(points: &[Point], rows: &Rows, column: usize) -> [Avx2; 4] {
            let Rows { at, highest } = rows;
            assert!((*highest as usize) < points.len());
            let (p, k) = (points.as_ptr(), column);
            // SAFETY: no index is above the highest, which is below the length.
            let rows = unsafe {
                [
                    pair(p, at[0][k], at[4][k]),
                    pair(p, at[1][k], at[5][k]),
                    pair(p, at[2][k], at[6][k]),
                    pair(p, at[3][k], at[7][k]),
                ]
            };
            let [x, y, z, w] = transpose(rows);
            [Avx2(x), Avx2(y), Avx2(z), Avx2(w)]
        }
        #[inline(always)]
        fn scatter(points: &mut [Point], places: &Places, parts: [Avx2; 4]) {
            let Places { at, highest } = places;
            assert!((*highest as usize) < points.len());
            let rows = transpose([parts[0].0, parts[1].0, parts[2].0, parts[3].0]);
            let p = points.as_mut_ptr();
            // In the order of the plain twin, so that of points named twice both keep the same.
            for l in 0..4 {
                // SAFETY: no index is above the highest, which is below the length; a point has room for four numbers.
                unsafe { _mm_storeu_ps(p.add(at[l] as usize).cast(), _mm256_castps256_ps128(rows[l])) }
            }
            for l in 0..4 {
                // SAFETY: as above.
                unsafe {
                    let high = _mm256_extractf128_ps::<1>(rows[l]);
                    _mm_storeu_ps(p.add(at[l + 4] as usize).cast(), high);
                }
            }
        }
        #[inline(always)]
        fn scatter_twos(points: &mut [Point], places: &Places, parts: [Avx2; 4]) {
            let rows = transpose([parts[0].0, parts[1].0, parts[2].0, parts[3].0]);
            for l in 0..4 {
                let to = &mut points[places.at[l] as usize..][..2];
                // SAFETY: two points are there, with room for four numbers each.
                unsafe { _mm256_storeu_ps(to.as_mut_ptr().cast(), rows[l]) }
            }
        }
    }
}
