//! The weights with which a particle follows others, by what it lies in (FAU-16, FAU-63).

use glam::{DMat3, DVec3};

/// A follower that is where one particle is: a layer made of some of the particles of another.
pub fn subset(parent: u32) -> [(u32, f64); 1] {
    [(parent, 1.0)]
}

/// A point of a segment, a triangle or a tetrahedron, by its barycentric coordinates.
pub fn barycentric<const N: usize>(corners: [u32; N], shares: [f64; N]) -> [(u32, f64); N] {
    std::array::from_fn(|k| (corners[k], shares[k]))
}

/// The barycentric coordinates of a point in a tetrahedron, which may lie outside; none if it is flat.
pub fn in_tetrahedron(p: DVec3, [a, b, c, d]: [DVec3; 4]) -> Option<[f64; 4]> {
    let inverse = DMat3::from_cols(b - a, c - a, d - a).inverse();
    let s = inverse * (p - a);
    s.is_finite().then_some([1.0 - s.x - s.y - s.z, s.x, s.y, s.z])
}

/// The weights of the corners of a cell at r, s, t from 0 to 1; corner c is at x, y, z by its bits 0, 1, 2.
pub fn trilinear(at: DVec3) -> [f64; 8] {
    std::array::from_fn(|c| {
        let along = |axis: usize| if c >> axis & 1 == 1 { at[axis] } else { 1.0 - at[axis] };
        along(0) * along(1) * along(2)
    })
}

/// A point of a rigid body, by the coordinates of it in the tetrahedron of the four particles that are its frame: as these keep their
/// distances, so does everything that follows them.
pub fn rigid(p: DVec3, frame: [u32; 4], rest: [DVec3; 4]) -> Option<[(u32, f64); 4]> {
    in_tetrahedron(p, rest).map(|shares| barycentric(frame, shares))
}

/// A point that is moved by several frames at once, each with its share (linear blend skinning).
pub fn skinning<'a>(
    p: DVec3,
    bones: impl IntoIterator<Item = ([u32; 4], [DVec3; 4], f64)> + 'a,
) -> Option<Vec<(u32, f64)>> {
    let mut row = Vec::new();
    for (frame, rest, share) in bones {
        row.extend(rigid(p, frame, rest)?.map(|(parent, w)| (parent, w * share)));
    }
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::Mapping;
    use crate::math::rotation;

    const REST: [DVec3; 4] = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];

    #[test]
    fn all_weights_sum_to_one_and_find_the_point_again() {
        let p = DVec3::new(0.3, 0.2, 0.9);
        let weights = trilinear(p);
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        let corner = |c: usize| DVec3::new((c & 1) as f64, (c >> 1 & 1) as f64, (c >> 2) as f64);
        let again: DVec3 = weights.iter().enumerate().map(|(c, w)| corner(c) * *w).sum();
        assert!(again.distance(p) < 1e-15);
        let shares = in_tetrahedron(p, REST).expect("not flat");
        let again: DVec3 = shares.iter().zip(REST).map(|(w, x)| x * *w).sum();
        assert!(again.distance(p) < 1e-15 && (shares.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        assert!(in_tetrahedron(p, [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X + DVec3::Y]).is_none());
    }

    #[test]
    fn points_of_a_rigid_frame_keep_their_distances() {
        let points = [DVec3::new(2.0, -1.0, 0.5), DVec3::new(-0.3, 4.0, 1.0)];
        let mut mapping = Mapping::default();
        for (child, p) in (4u32..).zip(points) {
            mapping.push(child, &rigid(p, [0, 1, 2, 3], REST).expect("not flat"));
        }
        let turn = rotation(DVec3::new(20.0, 130.0, -60.0));
        let mut x: Vec<DVec3> = REST.iter().map(|r| turn * *r + DVec3::new(3.0, 1.0, -2.0)).collect();
        x.resize(6, DVec3::ZERO);
        mapping.apply(&mut x);
        for (child, p) in (4..).zip(points) {
            assert!(x[child].distance(turn * p + DVec3::new(3.0, 1.0, -2.0)) < 1e-14);
        }
    }

    #[test]
    fn skin_between_two_bones_is_where_linear_blending_puts_it() {
        let p = DVec3::new(0.5, 0.2, 0.1);
        let bones = [([0, 1, 2, 3], REST, 0.25), ([4, 5, 6, 7], REST, 0.75)];
        let mut mapping = Mapping::default();
        mapping.push(8, &skinning(p, bones).expect("not flat"));
        let turn = rotation(DVec3::new(0.0, 0.0, 90.0));
        let mut x: Vec<DVec3> = REST.iter().copied().chain(REST.map(|r| turn * r)).collect();
        x.push(DVec3::ZERO);
        mapping.apply(&mut x);
        assert!(x[8].distance(p * 0.25 + turn * p * 0.75) < 1e-15);
    }
}
