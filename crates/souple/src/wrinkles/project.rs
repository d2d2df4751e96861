//! Moves the vertices of the fine mesh onto folds (ROH-83, ROH-84, ROH-86).
//!
//! A vertex takes part in a fold only if it is near it in the pattern, within [`REACH`] half widths, so that other layers of cloth are never touched. It
//! first slides along the cloth, to where the section of the fold has it, then rises along its normal to where the fields of cloth and folds sum to 1.

use glam::{DVec2, DVec3};

use super::field::{NearFold, height};
use super::fine::FineMesh;
use super::fold::{MOST_COMPRESSION, Profile, REACH, SHEET_DEPTH, SOFTNESS, window};
use super::pattern::{Pattern, Walk, point_segment};
use super::track::Folds;

/// Where the triangles around a vertex agree on less than this share of their normals, folds get lower, and vanish where they agree on nothing: cloth that
/// turns over would else throw them to its other side within a frame.
const STEADY: f64 = 0.5;
/// Least length of what was a length of 1 in the pattern along which points slide: less is a triangle that turns over.
const LEAST_ASIDE: f64 = 0.25;

/// Sine of the angle between a coarse edge and the tangent plane at its end up to which it is rounded, that of a tube of ten sides, and from which it is not at all, that of one of five:
/// boxes that are rounded like tubes lose more length than folds give back.
const ROUND: f64 = 0.31;
const EDGE: f64 = 0.59;

/// A piece of a fold as a triangle of the pattern sees it.
#[derive(Clone, Copy, Debug)]
struct Piece {
    curve: u32,
    ends: [DVec2; 2],
    /// Compression, half width and strength at both ends.
    compression: [f64; 2],
    half_width: [f64; 2],
    strength: [f64; 2],
}

/// Where the nearest point of a fold is.
#[derive(Clone, Copy, Debug)]
struct Nearest {
    /// From there to the vertex, in the chart, m.
    offset: DVec2,
    compression: f64,
    half_width: f64,
    strength: f64,
}

/// Pieces of folds by the triangles they reach, and scratch memory.
#[derive(Debug, Default)]
pub struct Projector {
    pieces: Vec<Vec<Piece>>,
    walk: Walk,
    normals: Vec<DVec3>,
    areas: Vec<f64>,
    /// Vertices that folds moved in the last call.
    pub moved: usize,
}

impl Projector {
    /// Finds which pieces of folds reach each triangle.
    fn spread(&mut self, pattern: &Pattern, folds: &Folds, spacing: f64) {
        let Projector { pieces, walk, .. } = self;
        pieces.resize(pattern.triangles.len(), Vec::new());
        pieces.iter_mut().for_each(Vec::clear);
        for (c, curve) in (0u32..).zip(&folds.curves) {
            let knots = &curve.knots;
            let closing = curve.ring.then(|| knots.last().zip(knots.first())).flatten();
            let pairs = knots.windows(2).map(|w| (&w[0], &w[1])).chain(closing);
            for (a, b) in pairs.filter(|(a, b)| a.strength > 0.0 || b.strength > 0.0) {
                let Some(way) = walk.vector(pattern, a.at, b.at, 4.0 * spacing) else { continue };
                let to = a.at.p + way;
                let reach = REACH * a.half_width.max(b.half_width);
                walk.around_segment(pattern, a.at, to, reach, |triangle, glide| {
                    pieces[triangle as usize].push(Piece {
                        curve: c,
                        ends: [glide.apply(a.at.p), glide.apply(to)],
                        compression: [a.compression, b.compression],
                        half_width: [a.half_width, b.half_width],
                        strength: [a.strength, b.strength],
                    });
                    false
                });
            }
        }
    }

    /// Places of the fine vertices with folds, m; `side` is 1 for folds outwards, along the normals, and −1 for the other side.
    #[expect(clippy::too_many_arguments, reason = "all that a surface is made of")]
    pub fn surface(
        &mut self,
        pattern: &Pattern,
        fine: &FineMesh,
        profile: &Profile,
        folds: &Folds,
        spacing: f64,
        side: f64,
        coarse: &[DVec3],
        out: &mut Vec<DVec3>,
    ) {
        self.spread(pattern, folds, spacing);
        steady_normals(coarse, &pattern.triangles, &mut self.normals, &mut self.areas);
        smooth_places(fine, coarse, &self.normals, out);
        self.moved = 0;
        let mut near: Vec<Nearest> = Vec::new();
        let mut fields: Vec<NearFold> = Vec::new();
        for (t, pieces) in self.pieces.iter().enumerate().filter(|(_, pieces)| !pieces.is_empty()) {
            let axes = chart_axes(&pattern.corners[t], pattern.triangles[t].map(|v| coarse[v as usize]));
            for &v in &fine.owned[fine.starts[t] as usize..fine.starts[t + 1] as usize] {
                find_nearest(pieces, fine.at[v as usize].p, &mut near);
                if near.is_empty() {
                    continue;
                }
                self.moved += 1;
                let slide = slide_of(profile, &near);
                let up = height_of(profile, &near, slide, &mut fields);
                let normal = fine.mixed(v as usize, &self.normals);
                let normal = normal / normal.length().max(STEADY);
                let aside = axes[0] * slide.x + axes[1] * slide.y;
                let length = slide.length();
                let least = LEAST_ASIDE * length;
                let aside =
                    if length > 0.0 { aside * (length / aside.length().max(least)) } else { DVec3::ZERO };
                out[v as usize] += aside + normal * (side * up);
            }
        }
    }
}

/// Of each fold that reaches a point of the chart, the point that raises it most: the nearest one, unless it is hardly there and a stronger part of the same fold is not far. What
/// is raised then changes without a jump when a fold gets longer by a part that is still weak, or when its end comes past its side.
fn find_nearest(pieces: &[Piece], p: DVec2, near: &mut Vec<Nearest>) {
    near.clear();
    for of_curve in pieces.chunk_by(|a, b| a.curve == b.curve) {
        let mut best: Option<(f64, Nearest)> = None;
        for piece in of_curve {
            let (distance, share) = point_segment(p, piece.ends[0], piece.ends[1]);
            let mix = |ends: [f64; 2]| ends[0] + share * (ends[1] - ends[0]);
            let (half_width, strength) = (mix(piece.half_width), mix(piece.strength));
            if distance >= REACH * REACH * half_width * half_width || strength <= 0.0 {
                continue;
            }
            let raise = strength * half_width * window(distance.sqrt() / half_width);
            if best.is_none_or(|(most, _)| raise > most) {
                let offset = p - piece.ends[0].lerp(piece.ends[1], share);
                let compression = mix(piece.compression).min(MOST_COMPRESSION);
                best = Some((raise, Nearest { offset, compression, half_width, strength }));
            }
        }
        near.extend(best.map(|(_, nearest)| nearest));
    }
}

/// How far a vertex slides along the cloth, as a vector of the chart whose length is in metres of space.
fn slide_of(profile: &Profile, near: &[Nearest]) -> DVec2 {
    let (mut sum, mut weights) = (DVec2::ZERO, 0.0);
    for fold in near {
        let share = fold.offset.length() / fold.half_width;
        if share < 1.0 {
            let width = fold.half_width * (1.0 - fold.compression);
            let way = fold.strength * profile.slide(fold.compression, share) * width;
            // A fold that is hardly there has hardly a say.
            let weight = fold.strength * (1.0 - share);
            sum += fold.offset.normalize_or_zero() * (way * weight);
            weights += weight;
        }
    }
    if weights > 0.0 { sum / weights } else { DVec2::ZERO }
}

/// How far a vertex rises, m.
fn height_of(profile: &Profile, near: &[Nearest], slide: DVec2, fields: &mut Vec<NearFold>) -> f64 {
    if let [fold] = near
        && fold.strength == 1.0
    {
        // Nothing to blend with but the cloth: the height is in the table.
        let width = fold.half_width * (1.0 - fold.compression);
        let aside = (fold.offset * (1.0 - fold.compression) + slide).length();
        return width * profile.lone_height(fold.compression, aside / width);
    }
    fields.clear();
    let (mut mean, mut weights) = (0.0, 0.0);
    for fold in near {
        let width = fold.half_width * (1.0 - fold.compression);
        let aside = (fold.offset * (1.0 - fold.compression) + slide).length();
        let tube = profile.tube(fold.compression);
        let share = window(aside / width);
        fields.push(NearFold {
            radius: tube.radius * width,
            depth: tube.depth * width,
            softness: SOFTNESS * width,
            aside_squared: aside * aside,
            strength: fold.strength * tube.strength * share,
        });
        mean += fold.strength * share * width;
        weights += fold.strength * share;
    }
    if weights <= 0.0 {
        return 0.0;
    }
    let width = mean / weights;
    height(SHEET_DEPTH * width, SOFTNESS * width, fields)
}

/// Where the axes of a chart point in space, not normalised.
fn chart_axes(corners: &[DVec2; 3], places: [DVec3; 3]) -> [DVec3; 2] {
    let (a, b) = (corners[1] - corners[0], corners[2] - corners[0]);
    let (p, q) = (places[1] - places[0], places[2] - places[0]);
    let twice = a.perp_dot(b);
    [(p * b.y - q * a.y) / twice, (q * a.x - p * b.x) / twice]
}

/// Normals of the coarse vertices, weighted by area: of length 1 where the triangles around agree on [`STEADY`] of them, less where they do not.
fn steady_normals(x: &[DVec3], triangles: &[[u32; 3]], normals: &mut Vec<DVec3>, areas: &mut Vec<f64>) {
    normals.clear();
    normals.resize(x.len(), DVec3::ZERO);
    areas.clear();
    areas.resize(x.len(), 0.0);
    for t in triangles {
        let [a, b, c] = t.map(|v| x[v as usize]);
        let normal = (b - a).cross(c - a);
        let area = normal.length();
        for &v in t {
            normals[v as usize] += normal;
            areas[v as usize] += area;
        }
    }
    for (normal, area) in normals.iter_mut().zip(areas) {
        let length = normal.length();
        let agreement = length / *area;
        *normal = match agreement {
            _ if !(length > 0.0 && agreement.is_finite()) => DVec3::ZERO,
            _ if agreement >= STEADY => *normal / length,
            _ => {
                let share = agreement / STEADY;
                *normal * (share * share * (3.0 - 2.0 * share) / length)
            }
        };
    }
}

/// A third of the way from a corner to another, in the tangent plane of the first and as long as the straight way: cubics shortened by what the plane takes would press cloth
/// together that is only bent. The more steeply the way leaves that plane, beyond [`ROUND`], the less it is a facet of something round; from [`EDGE`] on it is an edge and stays one.
fn tangent_third(from: DVec3, to: DVec3, normal: DVec3) -> DVec3 {
    let way = to - from;
    let length = way.length();
    let rise = way.dot(normal);
    let flatness = ((EDGE * length - rise.abs()) / ((EDGE - ROUND) * length)).clamp(0.0, 1.0);
    let share = if length > 0.0 { flatness * flatness * (3.0 - 2.0 * flatness) } else { 0.0 };
    let tangent = way - normal * (rise * share);
    // Never 0: no more than a part of the way is taken from it.
    let stretch = if share > 0.0 { length / tangent.length() } else { 1.0 };
    from + tangent * (stretch / 3.0)
}

/// Where the fine vertices are without folds, m: on the cubics that have the corners and the normals of their coarse triangles (after Vlachos, Peters, Boyd,
/// Mitchell, *Curved PN triangles*, 2001). What was faceted becomes round; what is flat stays so.
fn smooth_places(fine: &FineMesh, coarse: &[DVec3], normals: &[DVec3], out: &mut Vec<DVec3>) {
    out.clear();
    out.reserve(fine.shares.len());
    let mut edge = ([u32::MAX; 3], [DVec3::ZERO; 2]);
    let mut net = ([u32::MAX; 3], [DVec3::ZERO; 7]);
    for (of, [a, b, c]) in &fine.shares {
        let x = of.map(|v| coarse[v as usize]);
        let third = |i: usize, j: usize| tangent_third(x[i], x[j], normals[of[i] as usize]);
        // Corners, then insides of edges, then insides of triangles, one after the other.
        out.push(if of[0] == of[1] {
            x[0]
        } else if *c == 0.0 {
            if edge.0 != *of {
                edge = (*of, [third(0, 1), third(1, 0)]);
            }
            let points = &edge.1;
            x[0] * (a * a * a)
                + x[1] * (b * b * b)
                + points[0] * (3.0 * a * a * b)
                + points[1] * (3.0 * a * b * b)
        } else {
            if net.0 != *of {
                let edges = [third(0, 1), third(1, 0), third(1, 2), third(2, 1), third(2, 0), third(0, 2)];
                let centre = edges.iter().sum::<DVec3>() / 4.0 - (x[0] + x[1] + x[2]) / 6.0;
                let [d, e, f, g, h, i] = edges;
                net = (*of, [d, e, f, g, h, i, centre]);
            }
            let points = &net.1;
            x[0] * (a * a * a)
                + x[1] * (b * b * b)
                + x[2] * (c * c * c)
                + points[0] * (3.0 * a * a * b)
                + points[1] * (3.0 * a * b * b)
                + points[2] * (3.0 * b * b * c)
                + points[3] * (3.0 * b * c * c)
                + points[4] * (3.0 * c * c * a)
                + points[5] * (3.0 * c * a * a)
                + points[6] * (6.0 * a * b * c)
        });
    }
}
