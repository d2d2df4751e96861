//! The order in which elements are visited: colours for eight at a time, strips for several threads.
//!
//! Elements of one colour share no vertex, so eight of them can be worked on at once. Colours are visited one after
//! the other; a sweep in the order of space, from one end of the cloth to the other, drives it like a wind (measured:
//! a hundred times the stretch).
//!
//! Vertices are cut into strips, runs of consecutive numbers. Elements inside a strip come first, all strips at once;
//! then those across the seams between strips, all seams at once. A strip is longer than twice the widest element, so
//! seams do not touch each other. Where the cuts are depends on the body alone, never on the number of threads.

use crate::lanes::{ROWS, WIDTH};
use crate::parallel::Parallel;

/// Least number of vertices of a strip: with fewer, waking a thread costs more than it saves.
const STRIP: usize = 2048;

/// A run of vertices and the eights of elements that lie inside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip<G> {
    /// Number of its first vertex.
    pub start: usize,
    /// One more than the number of its last vertex.
    pub end: usize,
    /// Its elements, in the order of visits. They number vertices from the start of the strip.
    pub eights: Vec<G>,
}

/// Elements in the order of visits.
#[derive(Clone, Debug, PartialEq)]
pub struct Strips<G> {
    /// First those inside strips, which cover all vertices; then those across seams.
    pub phases: [Vec<Strip<G>>; 2],
}

impl<G: Send> Strips<G> {
    /// Orders elements that join `K` vertices each, of `count` in all. `eight` makes eight of them from their numbers
    /// and the first vertex of the strip. Eights come in pairs that share no vertex, so that a machine can begin the second
    /// while it waits for roots and quotients of the first. At the end of a colour an element is repeated to fill a
    /// pair, which does no harm: all copies read the same, so they write the same.
    pub fn new<const K: usize>(
        count: usize,
        elements: &[[u32; K]],
        eight: impl FnMut(&[u32; WIDTH], u32) -> G,
    ) -> Strips<G> {
        Strips::arranged(count, elements, |colour, _| in_pairs(colour).collect(), eight)
    }

    /// The same; `arrange` puts the numbers of a colour into eights, an even number of them.
    pub fn arranged<const K: usize>(
        count: usize,
        elements: &[[u32; K]],
        arrange: impl Fn(&[u32], &[[u32; K]]) -> Vec<[u32; WIDTH]>,
        mut eight: impl FnMut(&[u32; WIDTH], u32) -> G,
    ) -> Strips<G> {
        let low = |e: &[u32; K]| e.iter().copied().min().unwrap_or(0) as usize;
        let high = |e: &[u32; K]| e.iter().copied().max().unwrap_or(0) as usize;
        let widest = elements.iter().map(|e| high(e) - low(e)).max().unwrap_or(0);
        let length = STRIP.max(2 * widest + 2);
        let strips = (count / length).max(1);
        let cut = |s: usize| count * s / strips;
        let strip_of = |v: usize| (0..strips).rfind(|&s| cut(s) <= v).unwrap_or(0);
        // Seam s lies between the middles of strips s and s + 1.
        let middle = |s: usize| if s == 0 { 0 } else { (cut(s) + cut(s + 1)) / 2 };
        let mut inside = vec![Vec::new(); strips];
        let mut across = vec![Vec::new(); strips.saturating_sub(1)];
        let mut strip = 0;
        for (number, e) in (0u32..).zip(elements) {
            // Elements mostly come in the order of their vertices: look at the last strip first.
            if !(cut(strip) <= low(e) && low(e) < cut(strip + 1)) {
                strip = strip_of(low(e));
            }
            if high(e) < cut(strip + 1) {
                inside[strip].push(number);
            } else {
                across[strip].push(number);
            }
        }
        let mut used = vec![0u64; count];
        let mut make = |start: usize, end: usize, numbers: Vec<u32>| {
            let eights = colour(&numbers, elements, &mut used)
                .iter()
                .flat_map(|colour| arrange(colour, elements))
                .map(|numbers| eight(&numbers, start as u32))
                .collect();
            Strip { start, end, eights }
        };
        let inside = inside.into_iter().enumerate().map(|(s, e)| make(cut(s), cut(s + 1), e)).collect();
        let last = strips.saturating_sub(2);
        let across = across.into_iter().enumerate();
        let across =
            across.map(|(s, e)| make(middle(s), if s == last { count } else { middle(s + 1) }, e)).collect();
        Strips { phases: [inside, across] }
    }

    /// Visits all strips: `work` gets the eights of a strip and its vertices.
    pub fn visit<T: Send>(
        &self,
        parallel: &Parallel,
        vertices: &mut [T],
        work: impl Fn(&[G], &mut [T]) + Sync,
    ) where
        G: Sync,
    {
        for phase in &self.phases {
            if phase.len() < 2 || !parallel.shares(vertices.len()) {
                for strip in phase {
                    work(&strip.eights, &mut vertices[strip.start..strip.end]);
                }
                continue;
            }
            let mut rest = &mut *vertices;
            let mut begin = 0;
            let mut parts = Vec::with_capacity(phase.len());
            for strip in phase {
                let (_, after) = rest.split_at_mut(strip.start - begin);
                let (own, after) = after.split_at_mut(strip.end - strip.start);
                parts.push((&strip.eights[..], own));
                (rest, begin) = (after, strip.end);
            }
            parallel.each(parts, |(eights, own)| work(eights, own));
        }
    }

    /// How many eights there are.
    pub fn len(&self) -> usize {
        self.phases.iter().flatten().map(|s| s.eights.len()).sum()
    }

    /// Works on all eights, those of a strip on one thread: `work` gets one and the first vertex of its strip. Adds up what it
    /// returns, strip by strip.
    pub fn each(&mut self, parallel: &Parallel, work: impl Fn(&mut G, usize) -> f64 + Sync) -> f64 {
        let one = |strip: &mut Strip<G>| -> f64 {
            strip.eights.iter_mut().map(|g| work(g, strip.start)).fold(0.0, |a, b| a + b)
        };
        let mut sum = 0.0;
        for phase in &mut self.phases {
            let vertices = phase.last().map_or(0, |strip| strip.end);
            sum += if phase.len() > 1 && parallel.shares(vertices) {
                let mut sums = vec![0.0; phase.len()];
                let strips: Vec<_> = phase.iter_mut().zip(&mut sums).collect();
                parallel.each(strips, |(strip, sum)| *sum = one(strip));
                sums.iter().fold(0.0, |a, b| a + b)
            } else {
                phase.iter_mut().map(one).fold(0.0, |a, b| a + b)
            };
        }
        sum
    }

    /// All pairs of eights.
    pub fn pairs_mut(&mut self) -> impl Iterator<Item = &mut [G; 2]> {
        self.phases.iter_mut().flatten().flat_map(|s| s.eights.as_chunks_mut::<2>().0)
    }

    /// All eights with the first vertex of their strip.
    pub fn eights_mut(&mut self) -> impl Iterator<Item = (&mut G, usize)> {
        self.phases.iter_mut().flatten().flat_map(|s| s.eights.iter_mut().map(|g| (g, s.start)))
    }
}

/// Items in eights, an even number of them; the first of the last two is repeated to fill them.
pub fn in_pairs<T: Copy>(items: &[T]) -> impl Iterator<Item = [T; WIDTH]> {
    items.chunks(2 * WIDTH).flat_map(|chunk| {
        let mut two = [[chunk[0]; WIDTH]; 2];
        two.as_flattened_mut()[..chunk.len()].copy_from_slice(chunk);
        two
    })
}

/// Links of one colour in eights, an even number of them: first those whose ends lie in rows of four that follow each other ([`crate::lanes::Lie`]), which are read and written
/// faster. The order of visits inside a colour changes nothing.
pub fn in_rows(colour: &[u32], links: &[[u32; 2]]) -> Vec<[u32; WIDTH]> {
    let ends = |n: u32| links[n as usize];
    let apart = |n: u32| i64::from(ends(n)[1]) - i64::from(ends(n)[0]);
    // What fills no pair is last, as if nothing were put together: what is repeated there is visited once more where links are shortened.
    let (whole, last) = colour.split_at(colour.len() - colour.len() % (2 * WIDTH));
    let mut left = whole.to_vec();
    left.sort_by_key(|&n| (apart(n), ends(n)[0]));
    // Rows of runs, and of turns.
    let mut rows: [Vec<[u32; 4]>; 2] = Default::default();
    let mut singles = Vec::new();
    let mut rest = &left[..];
    while let Some(&first) = rest.first() {
        let turns = apart(first) == 1;
        let step = if turns { 2 } else { 1 };
        let follows = |row: &[u32; 4]| {
            (0..4)
                .all(|k| ends(row[k])[0] == ends(first)[0] + step * k as u32 && apart(row[k]) == apart(first))
        };
        match rest.first_chunk::<4>().filter(|row| follows(row)) {
            Some(row) => {
                rows[usize::from(turns)].push(*row);
                rest = &rest[4..];
            }
            None => {
                singles.push(first);
                rest = &rest[1..];
            }
        }
    }
    let mut eights = Vec::new();
    for rows in &rows {
        let (fours, rest) = rows.as_chunks::<4>();
        for four in fours {
            let mut two = [[0; WIDTH]; 2];
            for (row, places) in four.iter().zip(ROWS) {
                row.iter().zip(places).for_each(|(n, place)| two.as_flattened_mut()[place] = *n);
            }
            eights.extend(two);
        }
        singles.extend(rest.as_flattened());
    }
    eights.extend(in_pairs(&singles));
    eights.extend(in_pairs(last));
    eights
}

/// Colours for elements, greedily in their order: for each colour, numbers of elements that share no vertex. `used` has
/// a zero per vertex before and after.
fn colour<const K: usize>(numbers: &[u32], elements: &[[u32; K]], used: &mut [u64]) -> Vec<Vec<u32>> {
    let mut colours: Vec<Vec<u32>> = Vec::new();
    let mut left = numbers.to_vec();
    let mut base = 0;
    // 64 colours at a time: more are needed only around vertices of very many elements.
    while !left.is_empty() {
        let mut later = Vec::new();
        for &number in &left {
            let vertices = &elements[number as usize];
            let taken = vertices.iter().fold(0, |taken, &v| taken | used[v as usize]);
            let free = (!taken).trailing_zeros() as usize;
            if free == 64 {
                later.push(number);
                continue;
            }
            vertices.iter().for_each(|&v| used[v as usize] |= 1 << free);
            if colours.len() <= base + free {
                colours.resize(base + free + 1, Vec::new());
            }
            colours[base + free].push(number);
        }
        for &number in &left {
            elements[number as usize].iter().for_each(|&v| used[v as usize] = 0);
        }
        left = later;
        base += 64;
    }
    colours
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_element_is_visited_and_no_pair_of_eights_shares_a_vertex(
            count in 2u32..400,
            raw in prop::collection::vec((0u32..1000, 1u32..9), 1..300),
        ) {
            let elements: Vec<[u32; 2]> =
                raw.iter().map(|(a, b)| [a % (count - 1), (a % (count - 1) + b).min(count - 1)]).collect();
            let plain = Strips::new(count as usize, &elements, |numbers, _| *numbers);
            let in_rows = Strips::arranged(count as usize, &elements, in_rows, |numbers, _| *numbers);
            for strips in [plain, in_rows] {
            let mut seen = vec![0; elements.len()];
            for pair in strips.phases.iter().flatten().flat_map(|s| s.eights.as_chunks::<2>().0) {
                let mut own: Vec<u32> = pair.as_flattened().to_vec();
                own.sort_unstable();
                own.dedup();
                own.iter().for_each(|&e| seen[e as usize] += 1);
                let mut vertices: Vec<u32> = own.iter().flat_map(|&e| elements[e as usize]).collect();
                let all = vertices.len();
                vertices.sort_unstable();
                vertices.dedup();
                prop_assert_eq!(all, vertices.len());
            }
            prop_assert!(seen.iter().all(|&s| s == 1));
            }
        }
    }

    #[test]
    fn strips_and_seams_do_not_overlap_and_hold_their_elements() {
        let count = 30_000u32;
        let elements: Vec<[u32; 2]> = (0..count - 50).flat_map(|v| [[v, v + 1], [v, v + 50]]).collect();
        let strips = Strips::new(count as usize, &elements, |numbers, start| (*numbers, start));
        assert!(strips.phases[0].len() > 3 && !strips.phases[1].is_empty());
        let mut visited = 0;
        for phase in &strips.phases {
            assert!(phase.windows(2).all(|w| w[0].end <= w[1].start));
            for strip in phase {
                for (numbers, start) in &strip.eights {
                    assert_eq!(*start as usize, strip.start);
                    for e in numbers.iter().map(|&e| elements[e as usize]) {
                        assert!(e.iter().all(|&v| (strip.start..strip.end).contains(&(v as usize))));
                    }
                    visited += numbers.len();
                }
            }
        }
        assert!(visited >= elements.len());
    }
}
