//! What is inside a solid mesh is led out (SIM-B10: push-out along the gradient of the signed distance).
//!
//! Contact keeps everything on the side on which it is, so that what begins inside a closed mesh would stay there for ever, as a
//! ball in a room should. Of a mesh that is *solid* nothing belongs inside. A part of a body, all that is joined by its triangles, is
//! sunk if more than half of it is inside, or any vertex if it is closed itself: until it is out, it neither touches that mesh nor is pulled back for crossing it, and
//! all of it moves along the gradient of the signed distance where the middle of what is inside is. As a whole, as each vertex by
//! itself would go to the wall that is nearest to it, and the part would be turned over the mesh like a glove. Parts that are inside by less are
//! pulled out by [`crate::contact::untangle`].
//!
//! A part that crosses nothing of the mesh is inside with all its vertices or with none, so that one of them is asked, and none
//! if the boxes do not meet.
//!
//! Promised: nothing is remembered from frame to frame, so that a run that is restored goes on the same.

use glam::DVec3;

use crate::contact::proximity;
use crate::contact::surface::around;
use crate::contact::untangle::wide;
use crate::lanes::Point;
use crate::mesh::{open_edges, winding_number};

/// A part is moved by so many times its size per second.
const SIZES_PER_SECOND: f32 = 2.0;

/// A sheet is sunk by more than this share of its vertices: of less it is clear which side is astray.
const OF_SHEETS: f64 = 0.5;

/// Of a closed part it is not: the solid is as much inside of it.
const OF_CLOSED: f64 = 0.0;

/// A part of a thing: what is joined by triangles.
#[derive(Clone, Debug)]
struct Part {
    thing: usize,
    vertices: Vec<u32>,
    /// It is sunk by more than this share of them.
    share: f64,
}

/// A thing that has nothing inside.
#[derive(Clone, Debug)]
struct Solid {
    thing: usize,
    triangles: Vec<[u32; 3]>,
    /// All their corners, each once.
    corners: Vec<u32>,
}

impl Solid {
    fn new(thing: usize, triangles: &[[u32; 3]]) -> Solid {
        let mut corners: Vec<u32> = triangles.iter().flatten().copied().collect();
        corners.sort_unstable();
        corners.dedup();
        Solid { thing, triangles: triangles.to_vec(), corners }
    }
}

/// A part that is led out of a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lead {
    part: usize,
    solid: usize,
    /// m/s.
    velocity: [f32; 3],
}

/// What is inside solid meshes.
#[derive(Clone, Debug, Default)]
pub struct Sunk {
    parts: Vec<Part>,
    /// By vertex: its part.
    part_of: Vec<u32>,
    solids: Vec<Solid>,
    leads: Vec<Lead>,
}

impl Sunk {
    /// For things that have those triangles, the first vertices of all of them, and the number of all vertices; some are solid.
    pub fn new(triangles: &[Vec<[u32; 3]>], firsts: &[usize], is_solid: impl Fn(usize) -> bool) -> Sunk {
        let solids = triangles.iter().enumerate().filter(|(thing, _)| is_solid(*thing));
        let solids: Vec<Solid> = solids.map(|(thing, all)| Solid::new(thing, all)).collect();
        if solids.is_empty() {
            return Sunk::default();
        }
        let vertices = firsts.last().copied().unwrap_or(0);
        let mut roots: Vec<u32> = (0..vertices as u32).collect();
        for t in triangles.iter().flatten() {
            let [a, b, c] = t.map(|v| root(&mut roots, v));
            let least = a.min(b).min(c);
            [a, b, c].into_iter().for_each(|v| roots[v as usize] = least);
        }
        let (mut parts, mut part_of): (Vec<Part>, Vec<u32>) = (Vec::new(), vec![0; vertices]);
        for v in 0..vertices as u32 {
            // The root of a part is its lowest vertex, which comes first.
            let root = root(&mut roots, v);
            if root == v {
                let thing = firsts.partition_point(|f| *f <= v as usize) - 1;
                part_of[v as usize] = parts.len() as u32;
                parts.push(Part { thing, vertices: Vec::new(), share: OF_SHEETS });
            }
            part_of[v as usize] = part_of[root as usize];
            parts[part_of[v as usize] as usize].vertices.push(v);
        }
        let mut of_parts: Vec<Vec<[u32; 3]>> = vec![Vec::new(); parts.len()];
        triangles.iter().flatten().for_each(|t| of_parts[part_of[t[0] as usize] as usize].push(*t));
        for (part, triangles) in parts.iter_mut().zip(&of_parts) {
            if !triangles.is_empty() && open_edges(triangles) == 0 {
                part.share = OF_CLOSED;
            }
        }
        Sunk { parts, part_of, solids, leads: Vec::new() }
    }

    /// Looks what is inside. `touch` tells whether two things touch; of `crossings` there is a vertex of each side.
    pub fn find(
        &mut self,
        touch: impl Fn(usize, usize) -> bool,
        crossings: impl Iterator<Item = [u32; 2]> + Clone,
        places: &[Point],
        least_speed: f32,
    ) {
        let Sunk { parts, part_of, solids, leads } = self;
        leads.clear();
        for Solid { thing: solid, triangles, corners } in solids.iter() {
            let hull = around(corners, places);
            let is_in_hull = |p: &Point| (0..3).all(|k| hull.0[k] < p[k] && p[k] < hull.1[k]);
            let is_inside = |v: &u32| {
                is_in_hull(&places[*v as usize]) && winding(place(*v, places), triangles, places) > 0.5
            };
            for (p, part) in parts.iter().enumerate().filter(|(_, part)| touch(part.thing, *solid)) {
                let is_of_part = |v: u32| part_of[v as usize] as usize == p;
                let is_of_solid = |v: u32| parts[part_of[v as usize] as usize].thing == *solid;
                let crosses = crossings
                    .clone()
                    .any(|[a, b]| is_of_part(a) && is_of_solid(b) || is_of_part(b) && is_of_solid(a));
                let inside: Vec<u32> = if crosses {
                    part.vertices.iter().copied().filter(is_inside).collect()
                } else if part.vertices.first().is_some_and(is_inside) {
                    part.vertices.clone()
                } else {
                    continue;
                };
                if inside.len() as f64 <= part.share * part.vertices.len() as f64 {
                    continue;
                }
                let middle = inside.iter().map(|&v| place(v, places)).sum::<DVec3>() / inside.len() as f64;
                let (low, high) = around(&part.vertices, places);
                let size = (0..3).map(|k| (high[k] - low[k]) * (high[k] - low[k])).sum::<f32>().sqrt();
                let speed = least_speed.max(SIZES_PER_SECOND * size);
                let way = way_out(middle, triangles, places) * f64::from(speed);
                leads.push(Lead { part: p, solid: *solid, velocity: way.to_array().map(|c| c as f32) });
            }
        }
    }

    /// Whether anything is sunk.
    pub fn any(&self) -> bool {
        !self.leads.is_empty()
    }

    /// Whether a part of one of two things is sunk in the other.
    pub fn between(&self, a: usize, b: usize) -> bool {
        let is = |lead: &Lead, thing: usize, solid: usize| {
            self.parts[lead.part].thing == thing && lead.solid == solid
        };
        self.leads.iter().any(|lead| is(lead, a, b) || is(lead, b, a))
    }

    /// Whether two vertices are of a part and of the solid in which it is sunk.
    #[inline(always)]
    pub fn ignores(&self, a: u32, b: u32) -> bool {
        self.any() && self.are_apart(a, b)
    }

    #[cold]
    fn are_apart(&self, a: u32, b: u32) -> bool {
        let [p, q] = [a, b].map(|v| self.part_of[v as usize] as usize);
        let is = |lead: &Lead, p: usize, q: usize| lead.part == p && lead.solid == self.parts[q].thing;
        self.leads.iter().any(|lead| is(lead, p, q) || is(lead, q, p))
    }

    /// Adds to `moves` how vertices are led in a time, s; supports, which have no inverse mass, stay.
    pub fn lead(&self, h: f32, moves: &mut [Point]) {
        for Lead { part, velocity, .. } in &self.leads {
            for &v in &self.parts[*part].vertices {
                let to = &mut moves[v as usize];
                if to[3] > 0.0 {
                    (0..3).for_each(|k| to[k] += h * velocity[k]);
                }
            }
        }
    }
}

/// The lowest vertex that a vertex is joined with.
fn root(roots: &mut [u32], mut v: u32) -> u32 {
    while roots[v as usize] != v {
        roots[v as usize] = roots[roots[v as usize] as usize];
        v = roots[v as usize];
    }
    v
}

fn place(v: u32, places: &[Point]) -> DVec3 {
    wide(places[v as usize])
}

/// How often triangles go round a point.
fn winding(x: DVec3, triangles: &[[u32; 3]], places: &[Point]) -> f64 {
    winding_number(x, triangles.iter().map(|t| t.map(|v| place(v, places))))
}

/// The gradient of the signed distance from closed triangles, which is negative inside.
fn way_out(x: DVec3, triangles: &[[u32; 3]], places: &[Point]) -> DVec3 {
    let mut nearest = (f64::INFINITY, DVec3::ZERO, DVec3::Y);
    for t in triangles {
        let [a, b, c] = t.map(|v| place(v, places));
        let to_x = proximity::point_triangle(x, [a, b, c]).vector;
        if to_x.length_squared() < nearest.0 {
            nearest = (to_x.length_squared(), to_x, (b - a).cross(c - a));
        }
    }
    let (_, to_x, normal) = nearest;
    let outward = if winding(x, triangles, places) > 0.5 { -to_x } else { to_x };
    outward.try_normalize().unwrap_or_else(|| normal.normalize_or(DVec3::Y))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate;
    use crate::scene::Ball;

    /// A small ball, moved, and a large one that is solid.
    fn balls(at: DVec3) -> (Sunk, Vec<Point>) {
        let (small, large) = (
            generate::ball(&Ball { radius: 0.1, subdivisions: 1 }),
            generate::ball(&Ball { radius: 1.0, subdivisions: 2 }),
        );
        let n = small.positions.len();
        let places = small.positions.iter().map(|p| *p + at).chain(large.positions.iter().copied());
        let places: Vec<Point> = places.map(|p| [p.x as f32, p.y as f32, p.z as f32, 1.0]).collect();
        let shifted = large.triangles.iter().map(|t| t.map(|v| v + n as u32)).collect();
        let sunk = Sunk::new(&[small.triangles, shifted], &[0, n, places.len()], |thing| thing == 1);
        (sunk, places)
    }

    #[test]
    fn what_is_inside_is_led_out_the_shortest_way() {
        let (mut sunk, places) = balls(DVec3::new(0.3, 0.5, 0.0));
        sunk.find(|a, b| a != b, std::iter::empty(), &places, 0.05);
        assert!(sunk.between(0, 1) && sunk.between(1, 0) && !sunk.between(0, 0));
        assert!(sunk.ignores(0, places.len() as u32 - 1) && !sunk.ignores(0, 1));
        let mut moves = vec![[0.0, 0.0, 0.0, 1.0]; places.len()];
        moves[3][3] = 0.0;
        sunk.lead(1.0, &mut moves);
        let way = place(0, &moves);
        // Faces of the ball are flat: the way out is within some degrees of the radius.
        assert!(way.normalize().dot(DVec3::new(0.3, 0.5, 0.0).normalize()) > 0.97, "{way}");
        assert!(way.length() > 0.2 && way.length() < 2.0, "{way}");
        assert_eq!(moves[3], [0.0; 4], "a support stays");
        assert_eq!(moves[places.len() - 1], [0.0, 0.0, 0.0, 1.0], "the solid stays");
    }

    #[test]
    fn what_is_outside_or_does_not_touch_is_let_alone() {
        let (mut sunk, places) = balls(DVec3::new(0.8, 0.8, 0.0));
        sunk.find(|a, b| a != b, std::iter::empty(), &places, 0.05);
        assert!(!sunk.any(), "in the box around it, but outside");
        let (mut sunk, places) = balls(DVec3::ZERO);
        sunk.find(|_, _| false, std::iter::empty(), &places, 0.05);
        assert!(!sunk.any());
    }

    #[test]
    fn what_is_closed_is_sunk_by_any_vertex() {
        for (x, is_sunk) in [(0.93, true), (1.0, true), (1.12, false)] {
            let (mut sunk, places) = balls(DVec3::new(x, 0.0, 0.0));
            let crossing = [[0, places.len() as u32 - 1]];
            sunk.find(|a, b| a != b, crossing.into_iter(), &places, 0.05);
            assert_eq!(sunk.any(), is_sunk, "{x}");
        }
    }
}
