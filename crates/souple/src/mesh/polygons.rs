//! The volume inside closed surfaces of triangles, quads and other polygons, and its gradient (ROH-01…06, 68).
//!
//! Rohmer, *Géométrie active pour l'animation et la modélisation* (2011), section 2.2 and appendix A. A quad with corners a, b, c, d is the bilinear patch
//! (1−u)(1−v) a + u(1−v) b + u v c + (1−u) v d. By the divergence theorem it adds, along any unit vector e, q_f · M q_n with
//!
//! M = 1/36 (4 2 2 1; 2 4 1 2; 2 1 4 2; 1 2 2 4), q_f = (a·e, **b·e, d·e, c·e**), q_n = ((b−a)×(d−a), (b−a)×(c−b), (c−d)×(d−a), (c−d)×(c−b))·e.
//!
//! The thesis prints the corners of q_f in the order a, b, c, d, with which the volume depends on e. The same, and simpler: half of what the quad adds when
//! it is cut along one diagonal, and half of that along the other ([`Faces::volume`]). The gradient of quads that are cut into triangles is larger where
//! more diagonals meet; that of patches is not. Polygons of more than four corners are fans around the mean of their corners, which is exact for flat ones,
//! convex or not.
//!
//! Promised: exact volumes up to rounding, of surfaces that turn inside out, too. A surface that is not closed has no volume: what is found then depends
//! on where it is.

use glam::{DMat4, DVec3, DVec4};
use thiserror::Error;

/// Faces of any number of corners.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faces {
    vertices: usize,
    /// Where the corners of each begin, and the number of all.
    starts: Vec<u32>,
    corners: Vec<u32>,
}

/// Why faces cannot be used.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum FacesError {
    /// A face has too few corners.
    #[error("face {face} has {found} corners; at least 3 are needed")]
    Corners {
        /// The face.
        face: usize,
        /// How many it has.
        found: usize,
    },
    /// A face names a vertex that is not there.
    #[error("face {face} names vertex {vertex}, but there are only {count}")]
    OutOfRange {
        /// The face.
        face: usize,
        /// The vertex.
        vertex: u32,
        /// How many there are.
        count: usize,
    },
}

/// M of the bilinear patch, of corners in the order a, b, d, c.
fn patch_matrix() -> DMat4 {
    DMat4::from_cols_array(&[4.0, 2.0, 2.0, 1.0, 2.0, 4.0, 1.0, 2.0, 2.0, 1.0, 4.0, 2.0, 1.0, 2.0, 2.0, 4.0])
        * (1.0 / 36.0)
}

/// What a bilinear patch adds to the volume along a unit vector: q_f · M q_n.
pub fn patch_volume_along([a, b, c, d]: [DVec3; 4], e: DVec3) -> f64 {
    let heights = DVec4::new(a.dot(e), b.dot(e), d.dot(e), c.dot(e));
    let normals = [(b - a).cross(d - a), (b - a).cross(c - b), (c - d).cross(d - a), (c - d).cross(c - b)];
    heights.dot(patch_matrix() * DVec4::from_array(normals.map(|n| n.dot(e))))
}

/// (b − a) × (c − a).
fn twice_area(a: DVec3, b: DVec3, c: DVec3) -> DVec3 {
    (b - a).cross(c - a)
}

impl Faces {
    /// Faces of some vertices, each given by its corners, counter-clockwise seen from outside.
    pub fn new<F: AsRef<[u32]>>(
        vertices: usize,
        faces: impl IntoIterator<Item = F>,
    ) -> Result<Faces, FacesError> {
        let mut made = Faces { vertices, starts: vec![0], corners: Vec::new() };
        for (face, corners) in faces.into_iter().enumerate() {
            let corners = corners.as_ref();
            if corners.len() < 3 {
                return Err(FacesError::Corners { face, found: corners.len() });
            }
            if let Some(&vertex) = corners.iter().find(|v| **v as usize >= vertices) {
                return Err(FacesError::OutOfRange { face, vertex, count: vertices });
            }
            made.corners.extend_from_slice(corners);
            made.starts.push(made.corners.len() as u32);
        }
        Ok(made)
    }

    /// The corners of each face.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.corners[ends[0] as usize..ends[1] as usize])
    }

    /// Tells of triangles that together are the faces: three places, what they count, and which corners of the face each of the places is the mean of.
    fn visit(&self, x: &[DVec3], mut each: impl FnMut([DVec3; 3], f64, [&[u32]; 3])) {
        for face in self.iter() {
            match face {
                [a, b, c] => each(places(x, [*a, *b, *c]), 1.0, [&[*a], &[*b], &[*c]]),
                [a, b, c, d] => {
                    for [i, j, k] in [[a, b, c], [a, c, d], [a, b, d], [b, c, d]] {
                        each(places(x, [*i, *j, *k]), 0.5, [&[*i], &[*j], &[*k]]);
                    }
                }
                _ => {
                    let mean = face.iter().map(|&v| x[v as usize]).sum::<DVec3>() / face.len() as f64;
                    let next = face.iter().cycle().skip(1);
                    for (i, j) in face.iter().zip(next) {
                        each([x[*i as usize], x[*j as usize], mean], 1.0, [&[*i], &[*j], face]);
                    }
                }
            }
        }
    }

    /// Volume inside, m³; negative if faces face inwards. `x` has a place for each vertex.
    pub fn volume(&self, x: &[DVec3]) -> f64 {
        let Some(&origin) = self.corners.first().and_then(|&v| x.get(v as usize)) else { return 0.0 };
        let mut sixfold = 0.0;
        self.visit(x, |[a, b, c], share, _| sixfold += share * (a - origin).dot(twice_area(a, b, c)));
        sixfold / 6.0
    }

    /// The same, and its derivative by the place of each vertex, m². Only for closed surfaces.
    pub fn volume_and_gradient(&self, x: &[DVec3], gradient: &mut Vec<DVec3>) -> f64 {
        gradient.clear();
        gradient.resize(self.vertices, DVec3::ZERO);
        let Some(&origin) = self.corners.first().and_then(|&v| x.get(v as usize)) else { return 0.0 };
        let mut sixfold = 0.0;
        self.visit(x, |[a, b, c], share, of| {
            let normal = share * twice_area(a, b, c);
            sixfold += (a - origin).dot(normal);
            for corners in of {
                let own = normal / (6.0 * corners.len() as f64);
                corners.iter().for_each(|&v| gradient[v as usize] += own);
            }
        });
        sixfold / 6.0
    }

    /// The volume along a unit vector, m³, with the matrix of the bilinear patch for quads: the same for every vector if the surface is closed.
    pub fn volume_along(&self, x: &[DVec3], e: DVec3) -> f64 {
        let prism = |[a, b, c]: [DVec3; 3]| (a + b + c).dot(e) * twice_area(a, b, c).dot(e) / 6.0;
        let face = |face: &[u32]| match face {
            [a, b, c] => prism(places(x, [*a, *b, *c])),
            [a, b, c, d] => patch_volume_along(places(x, [*a, *b, *c, *d]), e),
            _ => {
                let mean = face.iter().map(|&v| x[v as usize]).sum::<DVec3>() / face.len() as f64;
                let next = face.iter().cycle().skip(1);
                face.iter().zip(next).map(|(i, j)| prism([x[*i as usize], x[*j as usize], mean])).sum()
            }
        };
        self.iter().map(face).sum()
    }
}

fn places<const N: usize>(x: &[DVec3], corners: [u32; N]) -> [DVec3; N] {
    corners.map(|v| x[v as usize])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::math;

    const CUBE: [[u32; 4]; 6] =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];

    /// Corners of a cube of side 1, shifted by noise.
    fn corners(seed: u64, by: f64) -> Vec<DVec3> {
        let noise = |k: u64| by * (2.0 * math::uniform(seed, k) - 1.0);
        let corner = |v: u64| DVec3::new((v & 1) as f64, (v >> 1 & 1) as f64, (v >> 2) as f64);
        (0..8).map(|v| corner(v) + DVec3::new(noise(3 * v), noise(3 * v + 1), noise(3 * v + 2))).collect()
    }

    /// The bilinear patches of a cube, cut into n × n cells of two triangles each.
    fn tessellated(x: &[DVec3], n: u32) -> f64 {
        let mut sixfold = 0.0;
        for [a, b, c, d] in CUBE.map(|quad| places(x, quad)) {
            let at = |i: u32, j: u32| {
                let (u, v) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(n));
                (1.0 - u) * (1.0 - v) * a + u * (1.0 - v) * b + u * v * c + (1.0 - u) * v * d
            };
            for i in 0..n {
                for j in 0..n {
                    let [p, q, r, s] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                    sixfold += p.dot(q.cross(r)) + p.dot(r.cross(s));
                }
            }
        }
        sixfold / 6.0
    }

    #[test]
    fn a_warped_cube_has_the_volume_of_its_patches_along_every_axis() {
        let (x, faces) = (corners(3, 0.2), Faces::new(8, CUBE).unwrap());
        let (volume, fine) = (faces.volume(&x), [tessellated(&x, 40), tessellated(&x, 80)]);
        // Its error goes as 1/n².
        assert!((fine[1] + (fine[1] - fine[0]) / 3.0 - volume).abs() < 1e-9, "{fine:?} {volume}");
        for e in [DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(0.6, 0.0, 0.8)] {
            assert!((faces.volume_along(&x, e) - volume).abs() < 1e-14);
        }
        // In the order a, b, c, d, as it is printed, it would not be.
        let printed = |e: DVec3| -> f64 {
            CUBE.map(|quad| places(&x, quad))
                .iter()
                .map(|&[a, b, c, d]| {
                    let swapped = DVec4::new(a.dot(e), b.dot(e), c.dot(e), d.dot(e));
                    let n = [
                        (b - a).cross(d - a),
                        (b - a).cross(c - b),
                        (c - d).cross(d - a),
                        (c - d).cross(c - b),
                    ];
                    swapped.dot(patch_matrix() * DVec4::from_array(n.map(|n| n.dot(e))))
                })
                .sum()
        };
        assert!((printed(DVec3::X) - printed(DVec3::Y)).abs() > 1e-3);
    }

    /// A flat sheet with a roof of quads, which are cut along diagonals that turn with the cells: gradients of triangles ripple, those of patches do not.
    #[test]
    fn gradients_of_patches_do_not_ripple() {
        let n = 8u32;
        let at = |i: u32, j: u32| i * (n + 1) + j;
        let x: Vec<DVec3> =
            (0..=n).flat_map(|i| (0..=n).map(move |j| DVec3::new(f64::from(i), f64::from(j), 1.0))).collect();
        let cells = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        let quads: Vec<Vec<u32>> = cells
            .clone()
            .map(|(i, j)| vec![at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)])
            .collect();
        let triangles: Vec<Vec<u32>> = cells
            .zip(&quads)
            .flat_map(|((i, j), q)| match (i + j) % 2 {
                0 => [vec![q[0], q[1], q[2]], vec![q[0], q[2], q[3]]],
                _ => [vec![q[0], q[1], q[3]], vec![q[1], q[2], q[3]]],
            })
            .collect();
        let inside: Vec<usize> =
            (2..n - 1).flat_map(|i| (2..n - 1).map(move |j| at(i, j) as usize)).collect();
        let sizes = |faces: &[Vec<u32>]| {
            let mut gradient = Vec::new();
            Faces::new(x.len(), faces).unwrap().volume_and_gradient(&x, &mut gradient);
            let all: Vec<f64> = inside.iter().map(|&v| gradient[v].z).collect();
            (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(0.0, f64::max))
        };
        let (low, high) = sizes(&triangles);
        // A third of the area around a vertex: 4 or 8 triangles of half a cell.
        assert!((low - 2.0 / 3.0).abs() < 1e-12 && (high - 4.0 / 3.0).abs() < 1e-12, "{low} {high}");
        let (low, high) = sizes(&quads);
        assert!((low - 1.0).abs() < 1e-12 && (high - 1.0).abs() < 1e-12, "{low} {high}");
    }

    /// A prism over an arrow, which is not convex, of triangles, quads and hexagons.
    #[test]
    fn flat_polygons_need_not_be_convex() {
        let outline = [(0.0, 0.0), (2.0, -1.0), (2.0, 1.0), (1.0, 0.2), (0.0, 1.0), (-1.0, 0.0)];
        let n = outline.len() as u32;
        let x: Vec<DVec3> =
            [0.0, 3.0].iter().flat_map(|z| outline.map(|(x, y)| DVec3::new(x, y, *z))).collect();
        let mut faces: Vec<Vec<u32>> = vec![(0..n).rev().collect(), (n..2 * n).collect()];
        for k in 0..n {
            let [a, b] = [k, (k + 1) % n];
            // Sides in turn as a quad and as two triangles.
            if k % 2 == 0 {
                faces.push(vec![a, b, b + n, a + n]);
            } else {
                faces.extend([vec![a, b, b + n], vec![a, b + n, a + n]]);
            }
        }
        let area: f64 = 0.5
            * (0..n as usize)
                .map(|k| {
                    let ((x, y), (z, w)) = (outline[k], outline[(k + 1) % n as usize]);
                    x * w - z * y
                })
                .sum::<f64>();
        let faces = Faces::new(x.len(), &faces).unwrap();
        assert!((faces.volume(&x) - 3.0 * area).abs() < 1e-13, "{} {area}", faces.volume(&x));
    }

    #[test]
    fn bad_faces_are_told_of() {
        assert_eq!(Faces::new(3, [vec![0, 1]]), Err(FacesError::Corners { face: 0, found: 2 }));
        let out = Err(FacesError::OutOfRange { face: 1, vertex: 7, count: 4 });
        assert_eq!(Faces::new(4, [vec![0, 1, 2], vec![0, 1, 2, 7]]), out);
        let none = Faces::new(0, Vec::<Vec<u32>>::new()).unwrap();
        assert_eq!((none.volume(&[]), none.volume_and_gradient(&[], &mut Vec::new())), (0.0, 0.0));
    }

    proptest! {
        /// The volume is linear in each coordinate: differences are exact, and Σ x · ∂V/∂x over one axis is V (ROH-06); of a cube of which some quads are
        /// cut into triangles, too.
        #[test]
        fn the_gradient_is_the_derivative(seed in 0u64..1000, by in 0.0..0.5f64, cut in 0usize..7, far in -9.0..9.0f64) {
            let x: Vec<DVec3> = corners(seed, by).iter().map(|p| *p + far).collect();
            let faces = CUBE.iter().enumerate().flat_map(|(k, &[a, b, c, d])| {
                if k < cut { vec![vec![a, b, c], vec![a, c, d]] } else { vec![vec![a, b, c, d]] }
            });
            let faces = Faces::new(8, faces).unwrap();
            let mut gradient = Vec::new();
            let volume = faces.volume_and_gradient(&x, &mut gradient);
            prop_assert!((faces.volume(&x) - volume).abs() < 1e-13);
            for axis in 0..3 {
                let sum: f64 = (0..8).map(|v| x[v][axis] * gradient[v][axis]).sum();
                prop_assert!((sum - volume).abs() < 1e-11);
                let e = [DVec3::X, DVec3::Y, DVec3::Z][axis];
                prop_assert!((faces.volume_along(&x, e) - volume).abs() < 1e-11);
                for v in 0..8 {
                    let at = |by: f64| {
                        let mut moved = x.clone();
                        moved[v][axis] += by;
                        faces.volume(&moved)
                    };
                    prop_assert!((at(0.5) - at(-0.5) - gradient[v][axis]).abs() < 1e-12);
                }
            }
        }
    }
}
