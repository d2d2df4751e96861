//! Looks at eight listed pairs at a time, and tells those that come nearly within their skin: contacts, which push, and what is
//! beside them, which may only not cross (FAU-41, FAU-44).

use crate::contact::closest::closest;
use crate::contact::nearest::{NO_WEIGHT, are_nearest_edges, is_nearest_triangle};
use crate::contact::pairs::Vertices;
use crate::contact::surface::Surface;
use crate::lanes::{Eight, Lanes, Rows, Vectors, WIDTH};

/// Contacts are told when they are this share of the slop from touching: others may push them together.
pub(super) const EMIT: f32 = 0.5;

/// Eight pairs, of vertex and triangle or of edges.
#[derive(Clone, Debug)]
pub(super) struct Eights {
    /// Vertices of each.
    pub rows: [[u32; 4]; WIDTH],
    /// Places in the surface: of the triangle, or of both edges.
    pub features: [[u32; 2]; WIDTH],
    /// Distance that is kept, m; minus infinity for what fills up.
    pub skin: Eight,
}

/// Eights, and how far the patches of each may move against each other before a pair of it touches, m: that is asked of all in
/// every substep, and of most no more.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    eights: Vec<Eights>,
    free: Vec<f32>,
}

impl List {
    pub fn clear(&mut self) {
        self.eights.clear();
        self.free.clear();
    }

    pub fn len(&self) -> usize {
        self.eights.len()
    }

    #[inline(always)]
    pub fn push(&mut self, eight: Eights, free: f32) {
        self.eights.push(eight);
        self.free.push(free);
    }

    /// Some of them.
    #[inline(always)]
    pub fn from(&self, first: usize, count: usize) -> impl Iterator<Item = (&Eights, &f32)> {
        let range = first..first + count;
        self.eights[range.clone()].iter().zip(&self.free[range])
    }
}

/// Two features that were apart when the substep began, and a plane between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation {
    /// Vertex and triangle, or two edges.
    pub vertices: [u32; 4],
    /// How many of them are on the first side: 1 or 2.
    pub first_side: u8,
    /// Direction from the closest point of the second side to that of the first.
    pub normal: [f32; 3],
    /// How far these are apart, m.
    pub distance: f32,
    /// Distance that is kept, m.
    pub skin: f32,
}

/// Two features that touch or may touch in this substep: nothing beside them is nearer, so that they push each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// When the substep began.
    pub apart: Separation,
    /// What makes the vector from one closest point to the other of the four places: positive on the first side, negative
    /// on the second, 0 in all.
    pub weights: [f32; 4],
    /// How far the same points are apart now along the normal, m.
    pub gap: f32,
    /// What they have moved against each other in this substep, m.
    pub way: [f32; 3],
    /// The rule of their things, by its place.
    pub rule: u32,
}

/// Looks at pairs of two patches.
pub(super) struct Look<'a> {
    pub surface: &'a Surface,
    pub vertices: &'a Vertices<'a>,
    /// What comes so near to the skin is told, m.
    pub reach: f32,
    /// The patches move against each other by this much at most in this substep, m.
    pub step: f32,
    pub rule: u32,
    /// Whether what is around vertices is looked at, too.
    pub around: bool,
}

impl Look<'_> {
    /// Looks at eight pairs that may touch.
    #[inline(always)]
    pub fn examine<L: Lanes>(
        &self,
        kind: usize,
        eight: &Eights,
        contacts: &mut Vec<Contact>,
        others: &mut Vec<Separation>,
    ) {
        let Look { surface, vertices, reach, step, rule, around } = *self;
        let skin = L::load(&eight.skin);
        let at = Rows::new(&eight.rows);
        let (vector, weights) = closest::<L>(kind, vertices.before, &at);
        let distance = vector.length();
        // What has further to go than patches move against each other in this substep is not told below.
        if distance.mask_below(skin + L::splat(reach + step)) == 0 {
            return;
        }
        // Where are they now, along the same direction?
        let normal = vector * (L::splat(1.0) / distance.max(L::splat(f32::MIN_POSITIVE)));
        let mut now = Vectors::splat([0.0; 3]);
        for k in 0..4 {
            now = now + Vectors::<L>::gather_column(vertices.now, &at, k) * weights[k];
        }
        let gap = normal.dot(now);
        let mut touching = gap.mask_below(skin + L::splat(reach));
        // Above the inside of a triangle there is nothing nearer beside it.
        let mut inside = 0;
        if kind == 0 {
            let least = weights[1].max(weights[2]).max(weights[3]);
            inside = least.mask_below(L::splat(-NO_WEIGHT));
        } else {
            // Edges that are nearest at an end: the vertex there meets the triangles of the other edge. But for those that go far.
            let zero = L::splat(0.0);
            let proper = weights[0].min(weights[1]).min(zero - weights[2]).min(zero - weights[3]);
            let way = now - vector;
            let far = way.dot(way) * L::splat(4.0) - distance * distance;
            touching &= zero.mask_below(proper) | zero.mask_below(far);
        }
        if touching == 0 {
            return;
        }
        let (mut normals, mut ways) = ([[0.0; WIDTH]; 3], [[0.0; WIDTH]; 3]);
        let (mut distances, mut gaps) = ([0.0; WIDTH], [0.0; WIDTH]);
        normal.store(&mut normals);
        distance.store(&mut distances);
        gap.store(&mut gaps);
        (now - vector).store(&mut ways);
        let mut each = [[0.0; WIDTH]; 4];
        for k in 0..4 {
            weights[k].store(&mut each[k]);
        }
        while touching != 0 {
            let l = touching.trailing_zeros() as usize;
            touching &= touching - 1;
            let (rows, weights) = (eight.rows[l], [each[0][l], each[1][l], each[2][l], each[3][l]]);
            let normal = [normals[0][l], normals[1][l], normals[2][l]];
            let place = |v: u32| vertices.before[v as usize];
            let features = eight.features[l];
            let ring = |v: u32| if around { surface.ring(v) } else { &[] };
            let is_nearest = inside & (1 << l) != 0
                || match kind {
                    0 => is_nearest_triangle(surface.across(features[1]), ring, rows, weights, normal, place),
                    _ => {
                        let wings = features.map(|e| surface.wings(e));
                        are_nearest_edges(wings, ring, rows, weights, normal, place)
                    }
                };
            let apart = Separation {
                vertices: rows,
                first_side: 1 + kind as u8,
                normal,
                distance: distances[l],
                skin: eight.skin[l],
            };
            if is_nearest {
                let way = [ways[0][l], ways[1][l], ways[2][l]];
                contacts.push(Contact { apart, weights, gap: gaps[l], way, rule });
            } else {
                others.push(apart);
            }
        }
    }
}
