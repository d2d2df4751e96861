//! The polar law of tetrahedra, four elements at a time: forces and matrices from one polar decomposition, without singular values (FAU-01).
//!
//! With R the nearest rotation, B = F Rᵀ the stretch seen in space, n = R g the turned gradients of the corners, and V the volume:
//!
//! - the stress σ = 2μ (B − I) + λ (tr B − 3) I gives the forces −V σ n;
//! - turning R costs T = μ I + (λ (tr B − 3) − 2μ) G⁻¹ with G = tr B I − B, whose eigenvalues below 0 are left out;
//! - the block of the corners a and b is V (μ (n_a · n_b) I + μ n_b n_aᵀ + λ n_a n_bᵀ + [n_a]ᵀ T [n_b]), [n] the matrix of the cross product.
//!
//! It is the matrix of Smith, de Goes and Kim ("Analytic eigensystems for isotropic distortion energies", 2019), whose eigenvectors need
//! not be known: R is found by Newton's iteration (Higham 1986), and max(0, T) is a polynomial of T. 21 numbers per element are kept instead
//! of 90. Elements that are nearly flat or inside out take singular values, as the twin in the tests does for all.

use glam::{DMat3, DVec3};

use super::tetrahedra::{LEAST, PLANES, RestTetrahedron};
use crate::lanes::{Instructions, Kernel, Lanes};
use crate::math::four::{
    Four, Matrix, Number, Symmetric, Vector, cofactor_columns, cross, dot, symmetric_cofactors,
    symmetric_times, times, without_negative,
};
use crate::math::{ROUND, Svd, svd};
use crate::parallel::Parallel;

/// What is kept of an element; all but the gradients times the volume.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corotated<N> {
    /// Gradients of the last three corners, turned; that of the first is minus their sum.
    pub(super) gradients: [Vector<N>; 3],
    /// Stress.
    pub(super) stress: Symmetric<N>,
    /// What turning costs.
    pub(super) twist: Symmetric<N>,
}

/// Numbers per element.
pub(super) const NUMBERS: usize = 21;

impl<N: Number> Corotated<N> {
    #[inline(always)]
    fn numbers(&self) -> [N; NUMBERS] {
        let ([[a, b, c], [d, e, f], [g, h, i]], s, t) = (self.gradients, self.stress, self.twist);
        let [j, k, l, m, n, o] = s;
        let [p, q, r, u, v, w] = t;
        [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, u, v, w]
    }

    #[inline(always)]
    fn from_numbers(n: &[N; NUMBERS]) -> Self {
        Corotated {
            gradients: [[n[0], n[1], n[2]], [n[3], n[4], n[5]], [n[6], n[7], n[8]]],
            stress: [n[9], n[10], n[11], n[12], n[13], n[14]],
            twist: [n[15], n[16], n[17], n[18], n[19], n[20]],
        }
    }

    /// Minus the forces of stress at the last three corners, N.
    #[inline(always)]
    fn pulls(&self) -> [Vector<N>; 3] {
        let [b, c, d] = self.gradients;
        [
            symmetric_times(self.stress, b),
            symmetric_times(self.stress, c),
            symmetric_times(self.stress, d),
        ]
    }

    /// The product of the matrix, at the last three corners; `d` are differences from what the first has.
    #[inline(always)]
    fn product(&self, d: [Vector<N>; 3], lambda: N, mu: N) -> [Vector<N>; 3] {
        let g = self.gradients;
        // Columns of Σ d nᵀ.
        let column = |k: usize| {
            [
                d[0][0] * g[0][k] + d[1][0] * g[1][k] + d[2][0] * g[2][k],
                d[0][1] * g[0][k] + d[1][1] * g[1][k] + d[2][1] * g[2][k],
                d[0][2] * g[0][k] + d[1][2] * g[1][k] + d[2][2] * g[2][k],
            ]
        };
        let m = [column(0), column(1), column(2)];
        let more = (m[0][0] + m[1][1] + m[2][2]) * lambda;
        let (xy, xz, yz) =
            ((m[0][1] + m[1][0]) * mu, (m[0][2] + m[2][0]) * mu, (m[1][2] + m[2][1]) * mu);
        let diagonal = |k: usize| (m[k][k] + m[k][k]) * mu + more;
        let turn = [m[1][2] - m[2][1], m[2][0] - m[0][2], m[0][1] - m[1][0]];
        let [x, y, z] = symmetric_times(self.twist, turn);
        let response =
            [[diagonal(0), xy + z, xz - y], [xy - z, diagonal(1), yz + x], [xz + y, yz - x, diagonal(2)]];
        [times(response, g[0]), times(response, g[1]), times(response, g[2])]
    }

    /// The blocks of the last three corners: 11, 12, 13, 22, 23, 33, as columns.
    #[inline(always)]
    fn blocks(&self, lambda: N, mu: N) -> [[N; 9]; 6] {
        let n = self.gradients;
        let turned = [self.twisted(0), self.twisted(1), self.twisted(2)];
        let block = |a: usize, b: usize| {
            let same = dot(n[a], n[b]) * mu;
            let (p, q) = (scaled(n[a], mu), scaled(n[a], lambda));
            let column = |k: usize| {
                // −[n_a] times a column of T [n_b].
                let twist = cross(turned[b][k], n[a]);
                [
                    twist[0] + n[b][0] * p[k] + q[0] * n[b][k],
                    twist[1] + n[b][1] * p[k] + q[1] * n[b][k],
                    twist[2] + n[b][2] * p[k] + q[2] * n[b][k],
                ]
            };
            let ([ax, ay, az], [bx, by, bz], [cx, cy, cz]) = (column(0), column(1), column(2));
            [ax + same, ay, az, bx, by + same, bz, cx, cy, cz + same]
        };
        [block(0, 0), block(0, 1), block(0, 2), block(1, 1), block(1, 2), block(2, 2)]
    }

    /// Columns of T [n].
    #[inline(always)]
    fn twisted(&self, corner: usize) -> Matrix<N> {
        let [x, y, z] = self.gradients[corner];
        let zero = N::splat(0.0);
        [
            symmetric_times(self.twist, [zero, z, zero - y]),
            symmetric_times(self.twist, [zero - z, zero, x]),
            symmetric_times(self.twist, [y, zero - x, zero]),
        ]
    }
}

#[inline(always)]
fn scaled<N: Number>([x, y, z]: Vector<N>, by: N) -> Vector<N> {
    [x * by, y * by, z * by]
}

/// Steps of Newton's iteration; what needs more takes singular values.
const STEPS: usize = 8;

/// The fast way: what is kept of an element but for its volume, and numbers that are all below 1 where it is right.
#[inline(always)]
fn fast<N: Number>(f: Matrix<N>, gradients: [Vector<N>; 3], lambda: N, mu: N) -> (Corotated<N>, [N; 3]) {
    let n = N::splat;
    let (half, one) = (n(0.5), n(1.0));
    let size = dot(f[0], f[0]) + dot(f[1], f[1]) + dot(f[2], f[2]);
    let volume = dot(f[0], cross(f[1], f[2]));
    let mut r = f;
    let mut change = one;
    for _ in 0..STEPS {
        let cofactors = cofactor_columns(r);
        let inverse = half / dot(r[0], cofactors[0]);
        change = n(0.0);
        let mut c = 0;
        while c < 3 {
            let mut k = 0;
            while k < 3 {
                let next = r[c][k] * half + cofactors[c][k] * inverse;
                let moved = next - r[c][k];
                change = change + moved * moved;
                r[c][k] = next;
                k += 1;
            }
            c += 1;
        }
        // It converges quadratically: the next would change 1e-16 of it.
        if change.all_below(1e-16) {
            break;
        }
    }
    let cofactors = cofactor_columns(r);
    let inverse = half / dot(r[0], cofactors[0]);
    let column = |c: usize| {
        [
            r[c][0] * half + cofactors[c][0] * inverse,
            r[c][1] * half + cofactors[c][1] * inverse,
            r[c][2] * half + cofactors[c][2] * inverse,
        ]
    };
    let r = [column(0), column(1), column(2)];
    let stretch =
        |i: usize, j: usize| f[0][i] * r[0][j] + f[1][i] * r[1][j] + f[2][i] * r[2][j];
    let both = |i: usize, j: usize| (stretch(i, j) + stretch(j, i)) * half;
    let b = [stretch(0, 0), both(0, 1), both(0, 2), stretch(1, 1), both(1, 2), stretch(2, 2)];
    let zero = n(0.0);
    let (twice, more) = (mu + mu, (b[0] - one + (b[3] - one) + (b[5] - one)) * lambda);
    let stress = [
        (b[0] - one) * twice + more,
        b[1] * twice,
        b[2] * twice,
        (b[3] - one) * twice + more,
        b[4] * twice,
        (b[5] - one) * twice + more,
    ];
    let g = [b[3] + b[5], zero - b[1], zero - b[2], b[0] + b[5], zero - b[4], b[0] + b[3]];
    let (cofactors, determinant) = symmetric_cofactors(g);
    let slack = (cofactors[0] + cofactors[3] + cofactors[5]) / determinant;
    let factor = (more - twice) / determinant;
    let twist = without_negative([
        cofactors[0] * factor + mu,
        cofactors[1] * factor,
        cofactors[2] * factor,
        cofactors[3] * factor + mu,
        cofactors[4] * factor,
        cofactors[5] * factor + mu,
    ]);
    let [g0, g1, g2] = gradients;
    let kept = Corotated { gradients: [times(r, g0), times(r, g1), times(r, g2)], stress, twist };
    // Round, found, and no sum of two stretches below the least.
    let round = n(ROUND) * size * size.sqrt() / volume.max(n(1e-300));
    (kept, [round, change * n(1e16), slack * n(LEAST)])
}

/// The plain way, for any deformation: by singular values.
pub(super) fn plain(f: DMat3, gradients: [DVec3; 4], lambda: f64, mu: f64) -> Corotated<f64> {
    let Svd { u, sigma, v } = svd(f);
    let r = u * v.transpose();
    let s = sigma.to_array();
    let more = lambda * (s[0] - 1.0 + (s[1] - 1.0) + (s[2] - 1.0));
    let mut costs = [0.0; 3];
    for (i, j, k) in PLANES {
        // Of an element that is inside out the sum may be 0; such a turn is left out, too.
        let sum = s[i] + s[j];
        costs[k] = if sum > LEAST { (mu + (more - 2.0 * mu) / sum).max(0.0) } else { 0.0 };
    }
    let in_space = |along: DVec3| {
        let m = u * DMat3::from_diagonal(along) * u.transpose();
        [m.x_axis.x, m.y_axis.x, m.z_axis.x, m.y_axis.y, m.z_axis.y, m.z_axis.z]
    };
    let [_, g0, g1, g2] = gradients.map(|g| (r * g).to_array());
    Corotated {
        gradients: [g0, g1, g2],
        stress: in_space((sigma - DVec3::ONE) * (2.0 * mu) + DVec3::splat(more)),
        twist: in_space(DVec3::from(costs)),
    }
}

/// Four elements of a list, the last again where there are fewer.
#[inline(always)]
fn four_of<T>(list: &[T]) -> [&T; 4] {
    let last = list.len() - 1;
    [&list[0], &list[1.min(last)], &list[2.min(last)], &list[3.min(last)]]
}

#[inline(always)]
fn gather(of: [&RestTetrahedron; 4], number: impl Fn(&RestTetrahedron) -> f64) -> Four {
    Four([number(of[0]), number(of[1]), number(of[2]), number(of[3])])
}

#[inline(always)]
fn gather_vector(of: [&RestTetrahedron; 4], vector: impl Fn(&RestTetrahedron) -> DVec3) -> Vector<Four> {
    let (a, b, c, d) = (vector(of[0]), vector(of[1]), vector(of[2]), vector(of[3]));
    [Four([a.x, b.x, c.x, d.x]), Four([a.y, b.y, c.y, d.y]), Four([a.z, b.z, c.z, d.z])]
}

/// Differences of the last three corners of four elements from the first of each.
#[inline(always)]
fn edges(of: [&RestTetrahedron; 4], x: &[DVec3]) -> [Vector<Four>; 3] {
    let edge = |k: usize| {
        gather_vector(of, |e: &RestTetrahedron| x[e.corners[k] as usize] - x[e.corners[0] as usize])
    };
    [edge(1), edge(2), edge(3)]
}

/// Kept numbers of four elements.
#[inline(always)]
fn load(kept: &[[f64; NUMBERS]]) -> Corotated<Four> {
    let [a, b, c, d] = four_of(kept);
    let mut numbers = [Four::splat(0.0); NUMBERS];
    for k in 0..NUMBERS {
        numbers[k] = Four([a[k], b[k], c[k], d[k]]);
    }
    Corotated::from_numbers(&numbers)
}

struct Linearise<'a> {
    elements: &'a [RestTetrahedron],
    x: &'a [DVec3],
    kept: &'a mut [[f64; NUMBERS]],
}

impl Kernel for Linearise<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (elements, kept) in self.elements.chunks(4).zip(self.kept.chunks_mut(4)) {
            let of = four_of(elements);
            let g = [
                gather_vector(of, |e| e.gradients[1]),
                gather_vector(of, |e| e.gradients[2]),
                gather_vector(of, |e| e.gradients[3]),
            ];
            let d = edges(of, self.x);
            let column = |k: usize| {
                [
                    d[0][0] * g[0][k] + d[1][0] * g[1][k] + d[2][0] * g[2][k],
                    d[0][1] * g[0][k] + d[1][1] * g[1][k] + d[2][1] * g[2][k],
                    d[0][2] * g[0][k] + d[1][2] * g[1][k] + d[2][2] * g[2][k],
                ]
            };
            let f = [column(0), column(1), column(2)];
            let volume = gather(of, |e| e.volume);
            let (lambda, mu) = (gather(of, |e| e.lambda) * volume, gather(of, |e| e.mu) * volume);
            let (found, wrong) = fast(f, g, lambda, mu);
            let numbers = found.numbers();
            for (l, kept) in kept.iter_mut().enumerate() {
                for k in 0..NUMBERS {
                    kept[k] = numbers[k].0[l];
                }
                let is_right = wrong[0].0[l] < 1.0 && wrong[1].0[l] < 1.0 && wrong[2].0[l] < 1.0;
                if !is_right {
                    let e = of[l];
                    let (lambda, mu) = (e.lambda * e.volume, e.mu * e.volume);
                    *kept = plain(e.deformation(self.x), e.gradients, lambda, mu).numbers();
                }
            }
        }
    }
}

/// Evaluates all elements.
pub(super) fn linearise(
    elements: &[RestTetrahedron],
    x: &[DVec3],
    parallel: &Parallel,
    kept: &mut [[f64; NUMBERS]],
) {
    let instructions = Instructions::detect();
    parallel.heavy_blocks(kept, |start, kept| {
        instructions.run(Linearise { elements: &elements[start..start + kept.len()], x, kept });
    });
}

/// What is to be added up at corners.
#[derive(Clone, Copy)]
pub(super) enum Sum<'a> {
    /// Forces, with damping by these velocities times this factor.
    Forces(Option<(&'a [DVec3], f64)>),
    /// The product with these vectors, times this factor.
    Product(&'a [DVec3], f64),
}

struct Add<'a> {
    elements: &'a [RestTetrahedron],
    kept: &'a [[f64; NUMBERS]],
    what: Sum<'a>,
    out: &'a mut [DVec3],
}

impl Kernel for Add<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (elements, kept) in self.elements.chunks(4).zip(self.kept.chunks(4)) {
            let (of, found) = (four_of(elements), load(kept));
            let mut sums = [[Four::splat(0.0); 3]; 3];
            let moved = match self.what {
                Sum::Forces(damping) => {
                    add_scaled(&mut sums, found.pulls(), -1.0);
                    damping.map(|(v, factor)| (v, -factor))
                }
                Sum::Product(d, factor) => Some((d, factor)),
            };
            if let Some((d, factor)) = moved {
                let volume = gather(of, |e| e.volume);
                let (lambda, mu) = (gather(of, |e| e.lambda) * volume, gather(of, |e| e.mu) * volume);
                add_scaled(&mut sums, found.product(edges(of, d), lambda, mu), factor);
            }
            for (l, e) in elements.iter().enumerate() {
                let at = |k: usize| DVec3::new(sums[k][0].0[l], sums[k][1].0[l], sums[k][2].0[l]);
                let (b, c, d) = (at(0), at(1), at(2));
                self.out[e.corners[0] as usize] -= b + c + d;
                self.out[e.corners[1] as usize] += b;
                self.out[e.corners[2] as usize] += c;
                self.out[e.corners[3] as usize] += d;
            }
        }
    }
}

#[inline(always)]
fn add_scaled(sums: &mut [Vector<Four>; 3], more: [Vector<Four>; 3], by: f64) {
    let by = Four::splat(by);
    for k in 0..3 {
        for c in 0..3 {
            sums[k][c] = sums[k][c] + more[k][c] * by;
        }
    }
}

/// Adds forces or products at the corners of all elements.
pub(super) fn add(elements: &[RestTetrahedron], kept: &[[f64; NUMBERS]], what: Sum, out: &mut [DVec3]) {
    Instructions::detect().run(Add { elements, kept, what, out });
}

struct Visit<'a, 'b> {
    elements: &'a [RestTetrahedron],
    kept: &'a [[f64; NUMBERS]],
    scale: f64,
    visit: &'a mut (dyn FnMut(&[u32], &[DMat3]) + 'b),
}

impl Kernel for Visit<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (elements, kept) in self.elements.chunks(4).zip(self.kept.chunks(4)) {
            let (of, found) = (four_of(elements), load(kept));
            let volume = gather(of, |e| e.volume);
            let (lambda, mu) = (gather(of, |e| e.lambda) * volume, gather(of, |e| e.mu) * volume);
            let mut blocks = found.blocks(lambda, mu);
            let scale = Four::splat(self.scale);
            for b in 0..6 {
                for k in 0..9 {
                    blocks[b][k] = blocks[b][k] * scale;
                }
            }
            for (l, e) in elements.iter().enumerate() {
                let mut numbers = [[0.0; 9]; 6];
                for b in 0..6 {
                    for k in 0..9 {
                        numbers[b][k] = blocks[b][k].0[l];
                    }
                }
                (self.visit)(&e.corners, &whole(&numbers));
            }
        }
    }
}

/// All blocks of an element from those of the last three corners: each row sums to nothing, as moving all corners costs nothing.
#[inline(always)]
fn whole(last: &[[f64; 9]; 6]) -> [DMat3; 10] {
    let [bb, bc, bd, cc, cd, dd] = [
        DMat3::from_cols_array(&last[0]),
        DMat3::from_cols_array(&last[1]),
        DMat3::from_cols_array(&last[2]),
        DMat3::from_cols_array(&last[3]),
        DMat3::from_cols_array(&last[4]),
        DMat3::from_cols_array(&last[5]),
    ];
    let ab = -(bb + bc.transpose() + bd.transpose());
    let ac = -(bc + cc + cd.transpose());
    let ad = -(bd + cd + dd);
    [-(ab + ac + ad), bb, cc, dd, ab, ac, ad, bc, bd, cd]
}

/// Visits the blocks of all elements, times a factor: those of the corners, then those of the pairs 01, 02, 03, 12, 13, 23.
pub(super) fn visit(
    elements: &[RestTetrahedron],
    kept: &[[f64; NUMBERS]],
    scale: f64,
    visit: &mut dyn FnMut(&[u32], &[DMat3]),
) {
    Instructions::detect().run(Visit { elements, kept, scale, visit });
}
