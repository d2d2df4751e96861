//! Whether triangles close a volume, and how large it is.

use glam::DVec3;

use crate::math;

/// How many edges have not as many triangles that run along them one way as the other: holes, and neighbours that face
/// opposite sides. 0 for triangles that close a volume.
pub fn open_edges(triangles: &[[u32; 3]]) -> usize {
    let mut sides: Vec<(u32, u32, bool)> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)])
        .filter(|(i, j)| i != j)
        .map(|(i, j)| (i.min(j), i.max(j), i < j))
        .collect();
    sides.sort_unstable();
    let open = |run: &&[(u32, u32, bool)]| 2 * run.iter().filter(|s| s.2).count() != run.len();
    sides.chunk_by(|s, t| (s.0, s.1) == (t.0, t.1)).filter(open).count()
}

/// Volume inside closed triangles, m³, by the divergence theorem; negative if they face inwards.
pub fn enclosed_volume(x: &[DVec3], triangles: &[[u32; 3]]) -> f64 {
    let Some(first) = triangles.first() else { return 0.0 };
    // From a point of the body: far from the origin of the world digits would be lost.
    let origin = x[first[0] as usize];
    let sixfold = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| x[v as usize] - origin);
        a.dot(b.cross(c))
    };
    triangles.iter().map(sixfold).sum::<f64>() / 6.0
}

/// How often closed triangles go round a point: 1 inside, 0 outside; the sum of their solid angles (van Oosterom and Strackee 1983).
pub fn winding_number(point: DVec3, triangles: impl Iterator<Item = [DVec3; 3]>) -> f64 {
    let angle = |corners: [DVec3; 3]| {
        let [a, b, c] = corners.map(|x| x - point);
        let [la, lb, lc] = [a.length(), b.length(), c.length()];
        let over = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        2.0 * math::atan2(a.dot(b.cross(c)), over)
    };
    triangles.map(angle).sum::<f64>() / (4.0 * std::f64::consts::PI)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate;
    use crate::scene::{Ball, Grid};

    #[test]
    fn a_ball_is_closed_and_has_the_volume_of_a_sphere() {
        let errors: Vec<f64> = (2..5)
            .map(|subdivisions| {
                let mesh = generate::ball(&Ball { radius: 0.5, subdivisions });
                assert_eq!(open_edges(&mesh.triangles), 0);
                assert_eq!(mesh.positions.len(), 10 * 4usize.pow(subdivisions) + 2);
                let away: Vec<DVec3> = mesh.positions.iter().map(|p| *p + DVec3::splat(1e3)).collect();
                let volume = enclosed_volume(&away, &mesh.triangles);
                assert!((volume / enclosed_volume(&mesh.positions, &mesh.triangles) - 1.0).abs() < 1e-9);
                1.0 - volume / (std::f64::consts::PI / 6.0)
            })
            .collect();
        // The chords of a sphere lose volume with the square of their length.
        assert!(errors.windows(2).all(|e| e[0] > 3.8 * e[1] && e[0] < 4.2 * e[1]), "{errors:?}");
    }

    #[test]
    fn holes_and_turned_triangles_are_open() {
        let mesh = generate::ball(&Ball { radius: 1.0, subdivisions: 1 });
        let mut hole = mesh.triangles.clone();
        hole.pop();
        assert_eq!(open_edges(&hole), 3);
        let mut turned = mesh.triangles.clone();
        turned[4].swap(0, 1);
        assert_eq!(open_edges(&turned), 3);
        let all: Vec<[u32; 3]> = mesh.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
        assert_eq!(open_edges(&all), 0);
        assert!(enclosed_volume(&mesh.positions, &all) < 0.0);
        let sheet = generate::grid(&Grid { vertices: [4, 3], ..Grid::default() });
        assert_eq!(open_edges(&sheet.triangles), 2 * (3 + 2));
    }

    #[test]
    fn a_ball_goes_once_round_what_is_inside() {
        let mesh = generate::ball(&Ball { radius: 0.5, subdivisions: 2 });
        let number = |x: DVec3| {
            winding_number(x, mesh.triangles.iter().map(|t| t.map(|v| mesh.positions[v as usize])))
        };
        for (x, inside) in [(0.0, 1.0), (0.45, 1.0), (0.55, 0.0), (3.0, 0.0)] {
            let around = number(DVec3::new(0.0, x, 0.0));
            assert!((around - inside).abs() < 1e-9, "{x}: {around}");
        }
    }
}
