//! Two eights at a time, of elements that join two points each: in one register of AVX-512 where the machine has it.
//!
//! What such a kernel takes is mostly reading and writing points one by one. So it minds how they lie: four that follow each other are read and written in one
//! piece. The sixteen are a table of four rows, in the order in which a transposition wants them: row l has the numbers l and l + 4 of the first eight,
//! then those of the second ([`ROWS`]).

use super::{Eight, Lanes, Numbers, Places, Point, WIDTH};
use std::ops::{Add, Div, Mul, Sub};

/// Which of sixteen numbers are in each row of four: the first eight are those of the first eight.
pub const ROWS: [[usize; 4]; 4] = [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]];

/// How the ends of two eights of elements lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lie {
    /// Anywhere.
    #[default]
    Scattered,
    /// The first ends of a row follow each other, and so do the second ones.
    Runs,
    /// The ends of a row follow each other, first and second in turn.
    Turns,
}

impl Lie {
    /// How these lie.
    pub fn of([one, two]: [&Places; 2], [other_one, other_two]: [&Places; 2]) -> Lie {
        let at = |a: &Places, b: &Places, k: usize| if k < WIDTH { a.at[k] } else { b.at[k - WIDTH] };
        let (i, j) = (|k| at(one, two, k), |k| at(other_one, other_two, k));
        let all = |is: &dyn Fn(u32, u32, usize) -> bool| {
            ROWS.iter().all(|row| (0u32..).zip(row).all(|(n, &k)| is(row[0] as u32, n, k)))
        };
        if all(&|first, n, k| i(k) == i(first as usize) + n && j(k) == j(first as usize) + n) {
            Lie::Runs
        } else if all(&|first, n, k| i(k) == i(first as usize) + 2 * n && j(k) == i(k) + 1) {
            Lie::Turns
        } else {
            Lie::Scattered
        }
    }
}

/// Both ends of two eights of elements.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a> {
    /// First ends.
    pub i: [&'a Places; 2],
    /// Second ends.
    pub j: [&'a Places; 2],
    /// How they lie.
    pub lie: Lie,
}

/// Two eights at once.
pub trait Pair: Numbers {
    /// From memory.
    fn load(one: &Eight, two: &Eight) -> Self;
    /// The four parts of the first and of the second ends. Panics if a place is not below the length of `points`.
    fn gather(points: &[Point], ends: &Ends) -> [[Self; 4]; 2];
    /// Writes the four parts of the first and of the second ends. Of points named twice it must be told the same. Panics if a place is not below the
    /// length of `points`.
    fn scatter(points: &mut [Point], ends: &Ends, parts: [[Self; 4]; 2]);
}

/// Two eights, one beside the other.
#[derive(Clone, Copy, Debug)]
pub struct Both<L>(L, L);

macro_rules! operator_of_both {
    ($name:ident, $function:ident) => {
        impl<L: Lanes> $name for Both<L> {
            type Output = Both<L>;
            #[inline(always)]
            fn $function(self, other: Both<L>) -> Both<L> {
                Both(self.0.$function(other.0), self.1.$function(other.1))
            }
        }
    };
}
operator_of_both!(Add, add);
operator_of_both!(Sub, sub);
operator_of_both!(Mul, mul);
operator_of_both!(Div, div);

impl<L: Lanes> Numbers for Both<L> {
    #[inline(always)]
    fn splat(value: f32) -> Both<L> {
        Both(L::splat(value), L::splat(value))
    }
    #[inline(always)]
    fn sqrt(self) -> Both<L> {
        Both(self.0.sqrt(), self.1.sqrt())
    }
    #[inline(always)]
    fn max(self, other: Both<L>) -> Both<L> {
        Both(self.0.max(other.0), self.1.max(other.1))
    }
}

#[inline(always)]
fn gather_both<L: Lanes>(points: &[Point], [one, two]: [&Places; 2], twos: bool) -> [Both<L>; 4] {
    let ([x, y, z, w], [x2, y2, z2, w2]) = if twos {
        (L::gather_twos(points, one), L::gather_twos(points, two))
    } else {
        (L::gather(points, one), L::gather(points, two))
    };
    [Both(x, x2), Both(y, y2), Both(z, z2), Both(w, w2)]
}

#[inline(always)]
fn scatter_both<L: Lanes>(
    points: &mut [Point],
    [one, two]: [&Places; 2],
    twos: bool,
    [x, y, z, w]: [Both<L>; 4],
) {
    let (first, second) = ([x.0, y.0, z.0, w.0], [x.1, y.1, z.1, w.1]);
    if twos {
        L::scatter_twos(points, one, first);
        L::scatter_twos(points, two, second);
    } else {
        L::scatter(points, one, first);
        L::scatter(points, two, second);
    }
}

impl<L: Lanes> Pair for Both<L> {
    #[inline(always)]
    fn load(one: &Eight, two: &Eight) -> Both<L> {
        Both(L::load(one), L::load(two))
    }
    #[inline(always)]
    fn gather(points: &[Point], ends: &Ends) -> [[Both<L>; 4]; 2] {
        let twos = ends.lie == Lie::Runs;
        [gather_both(points, ends.i, twos), gather_both(points, ends.j, twos)]
    }
    #[inline(always)]
    fn scatter(points: &mut [Point], ends: &Ends, [i, j]: [[Both<L>; 4]; 2]) {
        let twos = ends.lie == Lie::Runs;
        scatter_both(points, ends.i, twos, i);
        scatter_both(points, ends.j, twos, j);
    }
}

#[cfg(target_arch = "x86_64")]
pub mod avx512 {
    //! Sixteen numbers in one register.

    use std::arch::x86_64::*;

    use super::*;

    /// Two eights in one register. Made only by kernels that [`super::super::Instructions::run_pairs`] runs where AVX-512 was found.
    #[derive(Clone, Copy, Debug)]
    pub struct Avx512(__m512);

    macro_rules! avx512_operator {
        ($name:ident, $function:ident, $intrinsic:ident) => {
            impl $name for Avx512 {
                type Output = Avx512;
                #[inline(always)]
                fn $function(self, other: Avx512) -> Avx512 {
                    // SAFETY: an `Avx512` exists only where AVX-512 was found; so in all functions below.
                    Avx512(unsafe { $intrinsic(self.0, other.0) })
                }
            }
        };
    }
    avx512_operator!(Add, add, _mm512_add_ps);
    avx512_operator!(Sub, sub, _mm512_sub_ps);
    avx512_operator!(Mul, mul, _mm512_mul_ps);
    avx512_operator!(Div, div, _mm512_div_ps);

    impl Numbers for Avx512 {
        #[inline(always)]
        fn splat(value: f32) -> Avx512 {
            // SAFETY: as above.
            Avx512(unsafe { _mm512_set1_ps(value) })
        }
        #[inline(always)]
        fn sqrt(self) -> Avx512 {
            // SAFETY: as above.
            Avx512(unsafe { _mm512_sqrt_ps(self.0) })
        }
        #[inline(always)]
        fn max(self, other: Avx512) -> Avx512 {
            // SAFETY: as above.
            Avx512(unsafe { _mm512_max_ps(self.0, other.0) })
        }
    }

    /// Rows and columns of four 4 × 4 tables side by side change places.
    #[inline(always)]
    fn transpose([r0, r1, r2, r3]: [__m512; 4]) -> [__m512; 4] {
        // SAFETY: as above.
        unsafe {
            let (a, b) = (_mm512_unpacklo_ps(r0, r1), _mm512_unpackhi_ps(r0, r1));
            let (c, d) = (_mm512_unpacklo_ps(r2, r3), _mm512_unpackhi_ps(r2, r3));
            [
                _mm512_shuffle_ps::<0x44>(a, c),
                _mm512_shuffle_ps::<0xee>(a, c),
                _mm512_shuffle_ps::<0x44>(b, d),
                _mm512_shuffle_ps::<0xee>(b, d),
            ]
        }
    }

    #[inline(always)]
    fn parts_of(rows: [__m512; 4]) -> [Avx512; 4] {
        let [x, y, z, w] = transpose(rows);
        [Avx512(x), Avx512(y), Avx512(z), Avx512(w)]
    }

    #[inline(always)]
    fn rows_of([x, y, z, w]: [Avx512; 4]) -> [__m512; 4] {
        transpose([x.0, y.0, z.0, w.0])
    }

    /// A row from anywhere.
    #[inline(always)]
    fn read(points: &[Point], [one, two]: [&Places; 2], l: usize) -> __m512 {
        let (p, a, b) = (points.as_ptr(), &one.at, &two.at);
        assert!((one.highest.max(two.highest) as usize) < points.len());
        // SAFETY: no place is above the highest, which is below the length; a point has four numbers.
        unsafe {
            let first = _mm_loadu_ps(p.add(a[l] as usize).cast());
            let second = _mm_loadu_ps(p.add(a[l + 4] as usize).cast());
            let third = _mm_loadu_ps(p.add(b[l] as usize).cast());
            let fourth = _mm_loadu_ps(p.add(b[l + 4] as usize).cast());
            let two = _mm512_insertf32x4::<1>(_mm512_castps128_ps512(first), second);
            _mm512_insertf32x4::<3>(_mm512_insertf32x4::<2>(two, third), fourth)
        }
    }

    /// A row to anywhere.
    #[inline(always)]
    fn write(points: &mut [Point], [one, two]: [&Places; 2], l: usize, row: __m512) {
        assert!((one.highest.max(two.highest) as usize) < points.len());
        let (p, a, b) = (points.as_mut_ptr(), &one.at, &two.at);
        // SAFETY: no place is above the highest, which is below the length; a point has room for four numbers.
        unsafe {
            _mm_storeu_ps(p.add(a[l] as usize).cast(), _mm512_castps512_ps128(row));
            _mm_storeu_ps(p.add(a[l + 4] as usize).cast(), _mm512_extractf32x4_ps::<1>(row));
            _mm_storeu_ps(p.add(b[l] as usize).cast(), _mm512_extractf32x4_ps::<2>(row));
            _mm_storeu_ps(p.add(b[l + 4] as usize).cast(), _mm512_extractf32x4_ps::<3>(row));
        }
    }

    /// Four points that follow each other.
    #[inline(always)]
    fn read_run(points: &[Point], first: usize) -> __m512 {
        let from = &points[first..][..4];
        // SAFETY: four points are there, of four numbers each.
        unsafe { _mm512_loadu_ps(from.as_ptr().cast()) }
    }

    /// To four points that follow each other.
    #[inline(always)]
    fn write_run(points: &mut [Point], first: usize, row: __m512) {
        let to = &mut points[first..][..4];
        // SAFETY: four points are there, with room for four numbers each.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr().cast(), row) }
    }

    impl Pair for Avx512 {
        #[inline(always)]
        fn load(one: &Eight, two: &Eight) -> Avx512 {
            // SAFETY: eight numbers are at each, of any alignment.
            unsafe {
                let low = _mm512_castps_pd(_mm512_castps256_ps512(_mm256_loadu_ps(one.as_ptr())));
                let high = _mm256_castps_pd(_mm256_loadu_ps(two.as_ptr()));
                Avx512(_mm512_castpd_ps(_mm512_insertf64x4::<1>(low, high)))
            }
        }
        #[inline(always)]
        fn gather(points: &[Point], ends: &Ends) -> [[Avx512; 4]; 2] {
            // SAFETY: as above.
            let mut rows = [[unsafe { _mm512_setzero_ps() }; 4]; 2];
            for l in 0..4 {
                let (i, j) = (ends.i[0].at[l] as usize, ends.j[0].at[l] as usize);
                match ends.lie {
                    Lie::Scattered => {
                        rows[0][l] = read(points, ends.i, l);
                        rows[1][l] = read(points, ends.j, l);
                    }
                    Lie::Runs => {
                        rows[0][l] = read_run(points, i);
                        rows[1][l] = read_run(points, j);
                    }
                    Lie::Turns => {
                        let (low, high) = (read_run(points, i), read_run(points, i + 4));
                        // SAFETY: as above.
                        unsafe {
                            rows[0][l] = _mm512_shuffle_f32x4::<0b10_00_10_00>(low, high);
                            rows[1][l] = _mm512_shuffle_f32x4::<0b11_01_11_01>(low, high);
                        }
                    }
                }
            }
            [parts_of(rows[0]), parts_of(rows[1])]
        }
        #[inline(always)]
        fn scatter(points: &mut [Point], ends: &Ends, [first, second]: [[Avx512; 4]; 2]) {
            let rows = [rows_of(first), rows_of(second)];
            for l in 0..4 {
                let (i, j) = (ends.i[0].at[l] as usize, ends.j[0].at[l] as usize);
                match ends.lie {
                    Lie::Scattered => {
                        write(points, ends.i, l, rows[0][l]);
                        write(points, ends.j, l, rows[1][l]);
                    }
                    Lie::Runs => {
                        write_run(points, i, rows[0][l]);
                        write_run(points, j, rows[1][l]);
                    }
                    Lie::Turns => {
                        // SAFETY: as above.
                        unsafe {
                            let low = _mm512_shuffle_f32x4::<0b01_00_01_00>(rows[0][l], rows[1][l]);
                            let high = _mm512_shuffle_f32x4::<0b11_10_11_10>(rows[0][l], rows[1][l]);
                            write_run(points, i, _mm512_shuffle_f32x4::<0b11_01_10_00>(low, low));
                            write_run(points, i + 4, _mm512_shuffle_f32x4::<0b11_01_10_00>(high, high));
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Instructions, PairKernel};

    /// Each point becomes the other of its element, and so many times as much.
    struct Swap<'a>(&'a mut [Point], Ends<'a>, f32);

    impl PairKernel for Swap<'_> {
        #[inline(always)]
        fn run<P: Pair>(self) {
            let Swap(points, ends, times) = self;
            let [[a, b, c, d], [e, f, g, h]] = P::gather(points, &ends);
            let n = P::splat(times);
            P::scatter(points, &ends, [[e * n, f * n, g * n, h * n], [a * n, b * n, c * n, d * n]]);
        }
    }

    #[test]
    fn points_are_read_and_written_alike_however_they_lie() {
        // Number k of sixteen, in the order of rows.
        let rows = |at: &dyn Fn(u32) -> u32| -> [Places; 2] {
            let mut all = [0; 16];
            (0u32..).zip(ROWS.as_flattened()).for_each(|(k, &to)| all[to] = at(k));
            [&all[..8], &all[8..]].map(|eight| Places::new(std::array::from_fn(|l| eight[l])))
        };
        let cases = [
            (Lie::Runs, rows(&|k| k), rows(&|k| 40 + k)),
            (Lie::Runs, rows(&|k| 9 * (k / 4) + k % 4), rows(&|k| 70 - 5 * (k / 4) + k % 4)),
            (Lie::Turns, rows(&|k| 2 * k), rows(&|k| 2 * k + 1)),
            (
                Lie::Turns,
                rows(&|k| 60 - 10 * (k / 4) + 2 * (k % 4)),
                rows(&|k| 61 - 10 * (k / 4) + 2 * (k % 4)),
            ),
            (Lie::Scattered, rows(&|k| 3 * k), rows(&|k| 3 * k + 1)),
            (Lie::Scattered, rows(&|k| if k == 15 { 16 } else { k }), rows(&|k| 40 + k)),
        ];
        for (lie, i, j) in cases {
            let ends =
                Ends { i: [&i[0], &i[1]], j: [&j[0], &j[1]], lie: Lie::of([&i[0], &i[1]], [&j[0], &j[1]]) };
            assert_eq!(ends.lie, lie);
            let points: Vec<Point> = (0..80).map(|k| std::array::from_fn(|c| (4 * k + c) as f32)).collect();
            let mut expected = points.clone();
            for (i, j) in i.iter().zip(&j).flat_map(|(i, j)| i.at().iter().zip(j.at())) {
                let (i, j) = (*i as usize, *j as usize);
                (expected[i], expected[j]) = (points[j].map(|c| 3.0 * c), points[i].map(|c| 3.0 * c));
            }
            for instructions in Instructions::all() {
                let mut found = points.clone();
                instructions.run_pairs(Swap(&mut found, ends, 3.0));
                assert_eq!(found, expected, "{lie:?} {instructions:?}");
            }
        }
    }
}
