//! Boxes around the ways of vertices: how patches move, and how they move against each other (FAU-42).

/// How motion of a patch differs among its vertices: corners of a box around their ways.
pub(super) type Ways = ([f32; 3], [f32; 3]);

/// The longest way of a point of one box against one of another.
#[inline(always)]
pub(super) fn furthest(a: &Ways, b: &Ways) -> f32 {
    let mut square = 0.0;
    for k in 0..3 {
        let (one, other) = (a.1[k] - b.0[k], b.1[k] - a.0[k]);
        let most = if one > other { one } else { other };
        square += most * most;
    }
    square.sqrt()
}

/// The distance between two boxes, m.
#[inline(always)]
pub(super) fn gap(a: &Ways, b: &Ways) -> f32 {
    let mut square = 0.0;
    for k in 0..3 {
        let between = (a.0[k] - b.1[k]).max(b.0[k] - a.1[k]).max(0.0);
        square += between * between;
    }
    square.sqrt()
}

/// How the second of two patches moves against the first.
#[inline(always)]
pub(super) fn against(first: &Ways, second: &Ways) -> Ways {
    ([0, 1, 2].map(|k| second.0[k] - first.1[k]), [0, 1, 2].map(|k| second.1[k] - first.0[k]))
}

/// The same as seen from the second.
#[inline(always)]
pub(super) fn reversed(&(low, high): &Ways) -> Ways {
    (high.map(|c| -c), low.map(|c| -c))
}

/// Whether a box is inside another; what is not a number is not.
#[inline(always)]
pub(super) fn is_within(a: &Ways, b: &Ways) -> bool {
    (0..3).all(|k| a.0[k] >= b.0[k] && a.1[k] <= b.1[k])
}

/// Where a thing has to be to come within `far` of a box, if it moves within `moves` against it.
#[inline(always)]
pub(super) fn reach(&(low, high): &Ways, moves: &Ways, far: f32) -> Ways {
    ([0, 1, 2].map(|k| low[k] - far - moves.1[k]), [0, 1, 2].map(|k| high[k] + far - moves.0[k]))
}
