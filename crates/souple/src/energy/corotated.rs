//! The polar law of tetrahedra, four elements at a time: forces and matrices from one polar decomposition, without singular values (FAU-01).
//!
//! With R the nearest rotation, B = F Rᵀ the stretch seen in space, n = R g the turned gradients of the corners, and V the volume:
//!
//! - the stress σ = 2μ (B − I) + λ (tr B − 3) I gives the forces −V σ n;
//! - turning R costs T = μ I + (λ (tr B − 3) − 2μ) G⁻¹ with G = tr B I − B, whose eigenvalues below 0 are left out;
//! - the block of the corners a and b is V (μ (n_a · n_b) I + μ n_b n_aᵀ + λ n_a n_bᵀ + [n_a]ᵀ T [n_b]), [n] the matrix of the cross product.
//!
//! It is the matrix of Smith, de Goes and Kim ("Analytic eigensystems for isotropic distortion energies", 2019), whose eigenvectors need
//! not be known: R is found by Newton's iteration (Higham 1986), and max(0, T) is a polynomial of T. 23 numbers per element are kept instead
//! of 90. Elements that are nearly flat or inside out take singular values, as the twin in the tests does for all.

use glam::{DMat3, DVec3};

use super::tetrahedra::{LEAST, PLANES, RestTetrahedron};
use super::{Configuration, at_corners};
use crate::lanes::{Instructions, Kernel, Lanes};
use crate::math::four::{
    Four, Matrix, Number, Symmetric, Vector, cross, dot, nearest_rotation, symmetric_cofactors,
    symmetric_times, times, without_negative,
};
use crate::math::{ROUND, Svd, svd};
use crate::parallel::Parallel;

/// What is kept of an element; all but the gradients times the volume.
#[derive(Clone, Copy, Debug)]
struct Corotated<N> {
    /// Gradients of the last three corners, turned; that of the first is minus their sum.
    gradients: [Vector<N>; 3],
    /// Stress.
    stress: Symmetric<N>,
    /// What turning costs.
    twist: Symmetric<N>,
    /// Lamé's λ and μ.
    lambda: N,
    mu: N,
}

/// Numbers per element.
const NUMBERS: usize = 23;

/// What is kept of four elements; of the last four that are fewer the last stands again.
pub(super) type Kept = [[f64; 4]; NUMBERS];

/// Numbers that are kept of so many elements.
pub(super) fn length(elements: usize) -> usize {
    elements.div_ceil(4) * 4 * NUMBERS
}

/// Kept numbers as they stand in a list.
pub(super) fn kept(numbers: &[f64]) -> &[Kept] {
    numbers.as_chunks().0.as_chunks().0
}

impl<N: Number> Corotated<N> {
    #[inline(always)]
    fn numbers(&self) -> [N; NUMBERS] {
        let ([[a, b, c], [d, e, f], [g, h, i]], s, t) = (self.gradients, self.stress, self.twist);
        let [j, k, l, m, n, o] = s;
        let [p, q, r, u, v, w] = t;
        [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, u, v, w, self.lambda, self.mu]
    }

    #[inline(always)]
    fn from_numbers(n: &[N; NUMBERS]) -> Self {
        Corotated {
            gradients: [[n[0], n[1], n[2]], [n[3], n[4], n[5]], [n[6], n[7], n[8]]],
            stress: [n[9], n[10], n[11], n[12], n[13], n[14]],
            twist: [n[15], n[16], n[17], n[18], n[19], n[20]],
            lambda: n[21],
            mu: n[22],
        }
    }

    /// Minus the forces of stress at the last three corners, N.
    #[inline(always)]
    fn pulls(&self) -> [Vector<N>; 3] {
        let [b, c, d] = self.gradients;
        [symmetric_times(self.stress, b), symmetric_times(self.stress, c), symmetric_times(self.stress, d)]
    }

    /// The product of the matrix, at the last three corners; `d` are differences from what the first has.
    #[inline(always)]
    fn product(&self, d: [Vector<N>; 3]) -> [Vector<N>; 3] {
        let (g, mu) = (self.gradients, self.mu);
        let m = dyads(d, g);
        let more = (m[0][0] + m[1][1] + m[2][2]) * self.lambda;
        let (xy, xz, yz) = ((m[0][1] + m[1][0]) * mu, (m[0][2] + m[2][0]) * mu, (m[1][2] + m[2][1]) * mu);
        let (xx, yy, zz) = (
            (m[0][0] + m[0][0]) * mu + more,
            (m[1][1] + m[1][1]) * mu + more,
            (m[2][2] + m[2][2]) * mu + more,
        );
        let turn = [m[1][2] - m[2][1], m[2][0] - m[0][2], m[0][1] - m[1][0]];
        let [x, y, z] = symmetric_times(self.twist, turn);
        let response = [[xx, xy + z, xz - y], [xy - z, yy, yz + x], [xz + y, yz - x, zz]];
        [times(response, g[0]), times(response, g[1]), times(response, g[2])]
    }

    /// The blocks of the last three corners: 11, 12, 13, 22, 23, 33, as columns.
    #[inline(always)]
    fn blocks(&self) -> [[N; 9]; 6] {
        let [b, c, d] = [self.twisted(0), self.twisted(1), self.twisted(2)];
        [
            self.block(0, 0, b),
            self.block(0, 1, c),
            self.block(0, 2, d),
            self.block(1, 1, c),
            self.block(1, 2, d),
            self.block(2, 2, d),
        ]
    }

    /// The block of two corners, with the columns of T [n] of the second.
    #[inline(always)]
    fn block(&self, a: usize, b: usize, twisted: Matrix<N>) -> [N; 9] {
        let (a, b) = (self.gradients[a], self.gradients[b]);
        let same = dot(a, b) * self.mu;
        let mut columns = [[same; 3]; 3];
        for k in 0..3 {
            // −[a] times a column of T [b].
            let twist = cross(twisted[k], a);
            let (p, q) = (a[k] * self.mu, b[k] * self.lambda);
            for i in 0..3 {
                let own = twist[i] + b[i] * p + a[i] * q;
                columns[k][i] = if i == k { own + same } else { own };
            }
        }
        let [[ax, ay, az], [bx, by, bz], [cx, cy, cz]] = columns;
        [ax, ay, az, bx, by, bz, cx, cy, cz]
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

/// Columns of the sum of d gᵀ over three corners.
#[inline(always)]
fn dyads<N: Number>(d: [Vector<N>; 3], g: [Vector<N>; 3]) -> Matrix<N> {
    let mut columns = d;
    for k in 0..3 {
        for i in 0..3 {
            columns[k][i] = d[0][i] * g[0][k] + d[1][i] * g[1][k] + d[2][i] * g[2][k];
        }
    }
    columns
}

/// The fast way: what is kept of an element but for its volume, and numbers that are all below 1 where it is right.
#[inline(always)]
fn fast<N: Number>(f: Matrix<N>, gradients: [Vector<N>; 3], lambda: N, mu: N) -> (Corotated<N>, [N; 3]) {
    let n = N::splat;
    let (half, one) = (n(0.5), n(1.0));
    let size = dot(f[0], f[0]) + dot(f[1], f[1]) + dot(f[2], f[2]);
    let volume = dot(f[0], cross(f[1], f[2]));
    let (r, change) = nearest_rotation(f);
    let stretch = |i: usize, j: usize| f[0][i] * r[0][j] + f[1][i] * r[1][j] + f[2][i] * r[2][j];
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
    let gradients = [times(r, g0), times(r, g1), times(r, g2)];
    let kept = Corotated { gradients, stress, twist, lambda, mu };
    // Round, found, and no sum of two stretches below the least.
    let round = n(ROUND) * size * size.sqrt() / volume.max(n(1e-300));
    (kept, [round, change * n(1e16), slack * n(LEAST)])
}

/// The plain way, for any deformation: by singular values.
fn plain(f: DMat3, gradients: [DVec3; 4], lambda: f64, mu: f64) -> Corotated<f64> {
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
        lambda,
        mu,
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
fn load(kept: &Kept) -> Corotated<Four> {
    let mut numbers = [Four::splat(0.0); NUMBERS];
    for k in 0..NUMBERS {
        numbers[k] = Four(kept[k]);
    }
    Corotated::from_numbers(&numbers)
}

struct Linearise<'a> {
    elements: &'a [RestTetrahedron],
    /// What they have flowed to, or nothing.
    plastic: &'a [DMat3],
    x: &'a [DVec3],
    kept: &'a mut [Kept],
}

impl Kernel for Linearise<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (k, (elements, kept)) in self.elements.chunks(4).zip(self.kept).enumerate() {
            let mut of = four_of(elements);
            let flowed;
            if let Some(plastic) = self.plastic.get(4 * k..).filter(|p| !p.is_empty()) {
                let plastic = four_of(plastic);
                flowed = std::array::from_fn::<_, 4, _>(|l| of[l].flowed(*plastic[l]));
                of = flowed.each_ref();
            }
            let g = [
                gather_vector(of, |e| e.gradients[1]),
                gather_vector(of, |e| e.gradients[2]),
                gather_vector(of, |e| e.gradients[3]),
            ];
            let f = dyads(edges(of, self.x), g);
            let volume = gather(of, |e| e.volume);
            let (lambda, mu) = (gather(of, |e| e.lambda) * volume, gather(of, |e| e.mu) * volume);
            let (found, [round, change, slack]) = fast(f, g, lambda, mu);
            let numbers = found.numbers();
            for k in 0..NUMBERS {
                kept[k] = numbers[k].0;
            }
            for (l, e) in of.into_iter().enumerate() {
                let is_right = round.0[l] < 1.0 && change.0[l] < 1.0 && slack.0[l] < 1.0;
                if !is_right {
                    correct(e, self.x, kept, l);
                }
            }
        }
    }
}

/// Puts what the plain way finds for an element in its place.
#[cold]
fn correct(e: &RestTetrahedron, x: &[DVec3], kept: &mut Kept, place: usize) {
    let found = plain(e.deformation(x), e.gradients, e.lambda * e.volume, e.mu * e.volume);
    for (kept, number) in kept.iter_mut().zip(found.numbers()) {
        kept[place] = number;
    }
}

/// Evaluates all elements.
pub(super) fn linearise(
    elements: &[RestTetrahedron],
    plastic: &[DMat3],
    x: &[DVec3],
    parallel: &Parallel,
    numbers: &mut [f64],
) {
    linearise_by(Instructions::detect(), elements, plastic, x, parallel, numbers);
}

fn linearise_by(
    instructions: Instructions,
    elements: &[RestTetrahedron],
    plastic: &[DMat3],
    x: &[DVec3],
    parallel: &Parallel,
    numbers: &mut [f64],
) {
    let kept: &mut [Kept] = numbers.as_chunks_mut().0.as_chunks_mut().0;
    parallel.heavy_blocks(kept, |start, kept| {
        let plastic = plastic.get(4 * start..).unwrap_or(&[]);
        instructions.run(Linearise { elements: &elements[4 * start..], plastic, x, kept });
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
    kept: &'a [Kept],
    what: Sum<'a>,
    out: &'a mut [[DVec3; 4]],
}

impl Kernel for Add<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        for ((elements, kept), out) in self.elements.chunks(4).zip(self.kept).zip(self.out.chunks_mut(4)) {
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
                add_scaled(&mut sums, found.product(edges(of, d)), factor);
            }
            for (l, out) in out.iter_mut().enumerate() {
                let at = |k: usize| DVec3::new(sums[k][0].0[l], sums[k][1].0[l], sums[k][2].0[l]);
                let (b, c, d) = (at(0), at(1), at(2));
                *out = [-(b + c + d), b, c, d];
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
pub(super) fn add(
    q: &Configuration,
    elements: &[RestTetrahedron],
    kept: &[Kept],
    what: Sum,
    out: &mut [DVec3],
) {
    at_corners::add(
        q,
        |e| elements[e].corners,
        elements.len(),
        out,
        |first, out| {
            evaluate(&elements[first..first + out.len()], &kept[first / 4..], what, out);
        },
    );
}

/// Forces or products at the corners of some elements.
fn evaluate(elements: &[RestTetrahedron], kept: &[Kept], what: Sum, out: &mut [[DVec3; 4]]) {
    Instructions::detect().run(Add { elements, kept, what, out });
}

struct Visit<'a, 'b> {
    elements: &'a [RestTetrahedron],
    kept: &'a [Kept],
    scale: f64,
    visit: &'a mut (dyn FnMut(&[u32], &[DMat3]) + 'b),
}

impl Kernel for Visit<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (elements, kept) in self.elements.chunks(4).zip(self.kept) {
            let mut blocks = load(kept).blocks();
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
    kept: &[Kept],
    scale: f64,
    visit: &mut dyn FnMut(&[u32], &[DMat3]),
) {
    Instructions::detect().run(Visit { elements, kept, scale, visit });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::{element_matrix, stress};
    use crate::math::{rotation, uniform};
    use crate::scene::SolidLaw;

    /// Elements of random shape with corners of their own, at rest and after a map that differs from element to element.
    fn setup(count: u32, map: impl Fn(u32, DVec3) -> DVec3) -> (Vec<RestTetrahedron>, Vec<DVec3>) {
        let (mut rest, mut x, mut elements) = (Vec::new(), Vec::new(), Vec::new());
        for e in 0..count {
            let shift = |k: u64| DVec3::from([0, 1, 2].map(|c| 0.3 * uniform(u64::from(e), 3 * k + c)));
            let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
            let corners: Vec<DVec3> = (0..).zip(corners).map(|(k, p)| (p + shift(k)) * 0.1).collect();
            x.extend(corners.iter().map(|p| map(e, *p)));
            rest.extend(corners);
            let names = [4 * e, 4 * e + 1, 4 * e + 2, 4 * e + 3];
            elements.push(RestTetrahedron::new(names, &rest, 1e5, 0.45).unwrap());
        }
        (elements, x)
    }

    /// Small and large strain, flat, inside out, pointlike, and none.
    fn setups() -> Vec<(Vec<RestTetrahedron>, Vec<DVec3>)> {
        let turn = |e: u32| rotation(DVec3::new(37.0, 11.0, -23.0) * f64::from(e));
        let strained = |size: f64| {
            move |e: u32, p: DVec3| {
                let m: [f64; 9] = std::array::from_fn(|k| uniform(u64::from(e) + 1000, k as u64) - 0.5);
                turn(e) * (p + DMat3::from_cols_array(&m) * p * size)
            }
        };
        let mut all: Vec<_> = [0.0, 1e-6, 0.03, 0.5, 2.0].map(|size| setup(61, strained(size))).into();
        all.push(setup(7, |e, p| turn(e) * DVec3::new(p.x, p.y, 0.0)));
        all.push(setup(7, |e, p| turn(e) * DVec3::new(p.x, p.y, -p.z)));
        all.push(setup(7, |e, p| turn(e) * p * 1e-5));
        all.push(setup(7, |_, _| DVec3::ZERO));
        all
    }

    fn add_serially(elements: &[RestTetrahedron], kept: &[Kept], what: Sum, out: &mut [DVec3]) {
        let mut terms = vec![[DVec3::ZERO; 4]; elements.len()];
        evaluate(elements, kept, what, &mut terms);
        for (e, terms) in elements.iter().zip(terms) {
            e.corners.iter().zip(terms).for_each(|(v, term)| out[*v as usize] += term);
        }
    }

    fn linearised(elements: &[RestTetrahedron], x: &[DVec3]) -> Vec<f64> {
        let mut numbers = vec![0.0; length(elements.len())];
        linearise(elements, &[], x, &Parallel::default(), &mut numbers);
        let mut plain = numbers.clone();
        linearise_by(Instructions::Plain, elements, &[], x, &Parallel::default(), &mut plain);
        assert_eq!(numbers, plain, "instructions change bits");
        numbers
    }

    #[test]
    fn four_at_a_time_are_as_by_singular_values() {
        for (elements, x) in setups() {
            let numbers = linearised(&elements, &x);
            let mut next = elements.iter();
            visit(&elements, kept(&numbers), 1.0, &mut |corners, blocks| {
                let e = next.next().unwrap();
                assert_eq!(corners, e.corners);
                let f = e.deformation(&x);
                // Half of all digits are left where eigenvalues nearly are the same and nearly 0.
                let rounded = 1e-7 * e.volume * (e.lambda + e.mu) * e.gradients[1].length_squared();
                for (found, right) in blocks.iter().zip(element_matrix(SolidLaw::Polar, e, f)) {
                    let error = (*found - right).to_cols_array().iter().fold(0.0f64, |m, v| m.max(v.abs()));
                    assert!(error < rounded, "{f}: {found} {right}");
                }
            });
        }
    }

    #[test]
    fn forces_and_products_are_those_of_stress_and_blocks() {
        for (elements, x) in setups() {
            let numbers = linearised(&elements, &x);
            let d: Vec<DVec3> =
                (0..x.len() as u64).map(|i| DVec3::from([0, 1, 2].map(|c| uniform(i, c) - 0.5))).collect();
            let mut product = vec![DVec3::ZERO; x.len()];
            add_serially(&elements, kept(&numbers), Sum::Product(&d, 0.5), &mut product);
            let mut by_blocks = vec![DVec3::ZERO; x.len()];
            visit(&elements, kept(&numbers), 0.5, &mut |corners, blocks| {
                let pairs = (0..4).flat_map(|a| (a + 1..4).map(move |b| (a, b)));
                for (&v, block) in corners.iter().zip(blocks) {
                    by_blocks[v as usize] += *block * d[v as usize];
                }
                for ((a, b), block) in pairs.zip(&blocks[4..]) {
                    let (a, b) = (corners[a] as usize, corners[b] as usize);
                    by_blocks[a] += *block * d[b];
                    by_blocks[b] += block.transpose() * d[a];
                }
            });
            let largest = |all: &[DVec3]| all.iter().fold(0.0f64, |m, v| m.max(v.length()));
            let size = largest(&by_blocks);
            for (a, b) in product.iter().zip(&by_blocks) {
                assert!((*a - *b).length() < 1e-13 * size, "{a} {b}");
            }
            let mut forces = vec![DVec3::ZERO; x.len()];
            add_serially(&elements, kept(&numbers), Sum::Forces(Some((&d, 1e-4))), &mut forces);
            for e in &elements {
                let pull = stress(SolidLaw::Polar, e.deformation(&x), e.lambda, e.mu).1 * e.volume;
                for (&v, g) in e.corners.iter().zip(e.gradients) {
                    let right = -(pull * g) - product[v as usize] * 2e-4;
                    let error = (forces[v as usize] - right).length();
                    assert!(error < 1e-12 * (size + e.mu * e.volume * g.length()), "{error} of {size}");
                }
            }
        }
    }
}
