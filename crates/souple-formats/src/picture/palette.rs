//! At most 255 colours for the pixels of a frame, and the best of them for each pixel.
//!
//! Colours are chosen by splitting boxes in colour space where that lowers the squared error most, after Wu (1991), on a
//! histogram of 5 bits per channel. Pixels are dithered in order (Bayer 1973): the pattern stays where it is from frame
//! to frame, so that nothing crawls. A pixel whose colour is in the palette keeps it, without dither.

use std::ops::Range;

/// Bits per channel of the histogram, and the same for the table of nearest colours.
const HISTOGRAM_BITS: u32 = 5;
const TABLE_BITS: u32 = 6;
/// In the table of nearest colours: not looked up yet.
const UNKNOWN: u16 = u16::MAX;
/// Most that dithering changes a channel, 8-bit steps: more would show as a pattern.
const MAX_DITHER: f32 = 8.0;

/// The colours of a frame.
pub(super) struct Palette {
    colours: Vec<[u8; 3]>,
    /// The colours in order, each with its number.
    exact: Vec<([u8; 3], u8)>,
    /// How far a channel may be changed around each colour without another colour taking its place, 8-bit steps.
    reach: Vec<f32>,
    /// Nearest colour of each cell of colour space, found when first asked for.
    nearest: Vec<u16>,
}

/// Pixels of similar colour.
#[derive(Clone, Copy)]
struct Bin {
    count: f64,
    mean: [f64; 3],
}

/// Bins that will share a colour.
struct Group {
    bins: Range<usize>,
    /// Channel along which the bins spread most, and their sum of squared deviations along it.
    axis: usize,
    spread: f64,
}

impl Palette {
    /// The best colours for some pixels; at least one, at most `most`.
    pub(super) fn of(pixels: impl Iterator<Item = [u8; 3]>, most: usize) -> Palette {
        let mut bins = histogram(pixels);
        let mut groups = vec![Group::new(&bins, 0..bins.len())];
        while groups.len() < most {
            let widest = (0..groups.len()).max_by(|&a, &b| groups[a].spread.total_cmp(&groups[b].spread));
            let Some(widest) = widest.filter(|&g| groups[g].spread > 0.0 && groups[g].bins.len() > 1) else {
                break;
            };
            let (low, high) = groups[widest].split(&mut bins);
            groups[widest] = low;
            groups.push(high);
        }
        let colours: Vec<[u8; 3]> = groups.iter().map(|group| mean(&bins[group.bins.clone()])).collect();
        Palette::with(colours)
    }

    /// A palette of at most 256 colours.
    fn with(colours: Vec<[u8; 3]>) -> Palette {
        let mut exact: Vec<([u8; 3], u8)> = colours.iter().copied().zip(0..=255).collect();
        exact.sort_unstable();
        let reach = colours.iter().map(|&colour| reach(colour, &colours)).collect();
        Palette { colours, exact, reach, nearest: vec![UNKNOWN; 1 << (3 * TABLE_BITS)] }
    }

    /// Red, green and blue of every colour.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.colours.iter().flatten().copied().collect()
    }

    /// How many colours there are.
    pub(super) fn len(&self) -> usize {
        self.colours.len()
    }

    /// The colour for a pixel at a place: its own or the nearest, or where two are about as near, one or the other by
    /// a pattern.
    pub(super) fn index(&mut self, colour: [u8; 3], x: u32, y: u32) -> u8 {
        // The table below cannot tell colours of one cell apart.
        if let Ok(found) = self.exact.binary_search_by_key(&colour, |&(exact, _)| exact) {
            return self.exact[found].1;
        }
        let plain = self.nearest(colour);
        let shift = self.reach[usize::from(plain)] * threshold(x, y);
        // `as` keeps what leaves the range at its ends.
        self.nearest(colour.map(|channel| (f32::from(channel) + shift).round() as u8))
    }

    fn nearest(&mut self, colour: [u8; 3]) -> u8 {
        let cell = cell(colour, TABLE_BITS);
        if self.nearest[cell] == UNKNOWN {
            // The middle of the cell stands for all of it.
            let middle =
                colour.map(|c| (c >> (8 - TABLE_BITS) << (8 - TABLE_BITS)) + (1 << (7 - TABLE_BITS)));
            let found = (0..self.colours.len()).min_by_key(|&i| distance(self.colours[i], middle));
            self.nearest[cell] = found.unwrap_or(0) as u16;
        }
        self.nearest[cell] as u8
    }
}

impl Group {
    fn new(bins: &[Bin], range: Range<usize>) -> Group {
        let within = &bins[range.clone()];
        let count: f64 = within.iter().map(|bin| bin.count).sum();
        let mut group = Group { bins: range, axis: 0, spread: 0.0 };
        for axis in 0..3 {
            let sum: f64 = within.iter().map(|bin| bin.count * bin.mean[axis]).sum();
            let centre = sum / count.max(1.0);
            let spread: f64 = within.iter().map(|bin| bin.count * (bin.mean[axis] - centre).powi(2)).sum();
            if spread > group.spread {
                (group.axis, group.spread) = (axis, spread);
            }
        }
        group
    }

    /// Two groups in place of this one, with the least sum of squared deviations along its widest channel.
    fn split(&self, bins: &mut [Bin]) -> (Group, Group) {
        let (axis, Range { start, end }) = (self.axis, self.bins.clone());
        bins[start..end].sort_by(|a, b| a.mean[axis].total_cmp(&b.mean[axis]));
        let total: [f64; 2] = sums(&bins[start..end], axis);
        let (mut best, mut at, mut below) = (f64::NEG_INFINITY, start + 1, [0.0; 2]);
        for cut in start + 1..end {
            let [count, sum] = sums(&bins[cut - 1..cut], axis);
            below = [below[0] + count, below[1] + sum];
            let above = [total[0] - below[0], total[1] - below[1]];
            // The squared deviations are least where this is most.
            let gain = below[1] * below[1] / below[0] + above[1] * above[1] / above[0];
            if gain > best {
                (best, at) = (gain, cut);
            }
        }
        (Group::new(bins, start..at), Group::new(bins, at..end))
    }
}

/// Number of pixels of some bins, and sum of their values along a channel.
fn sums(bins: &[Bin], axis: usize) -> [f64; 2] {
    bins.iter().fold([0.0; 2], |[count, sum], bin| [count + bin.count, sum + bin.count * bin.mean[axis]])
}

fn histogram(pixels: impl Iterator<Item = [u8; 3]>) -> Vec<Bin> {
    let mut cells = vec![(0u64, [0u64; 3]); 1 << (3 * HISTOGRAM_BITS)];
    for pixel in pixels {
        let (count, sums) = &mut cells[cell(pixel, HISTOGRAM_BITS)];
        *count += 1;
        for (sum, channel) in sums.iter_mut().zip(pixel) {
            *sum += u64::from(channel);
        }
    }
    let used = cells.into_iter().filter(|(count, _)| *count > 0);
    used.map(|(count, sums)| Bin { count: count as f64, mean: sums.map(|sum| sum as f64 / count as f64) })
        .collect()
}

/// Number of the cell of colour space that a colour lies in.
fn cell(colour: [u8; 3], bits: u32) -> usize {
    colour.iter().fold(0, |cell, channel| cell << bits | usize::from(channel >> (8 - bits)))
}

/// The colour that stands for a group; black for none.
fn mean(bins: &[Bin]) -> [u8; 3] {
    [0, 1, 2].map(|axis| {
        let [count, sum] = sums(bins, axis);
        (sum / count.max(1.0)).round() as u8
    })
}

fn distance(a: [u8; 3], b: [u8; 3]) -> u32 {
    (0..3).map(|i| u32::from(a[i].abs_diff(b[i])).pow(2)).sum()
}

/// Half the way to the nearest other colour, shared by three channels that change together.
fn reach(colour: [u8; 3], colours: &[[u8; 3]]) -> f32 {
    let others = colours.iter().map(|&other| distance(colour, other)).filter(|&d| d > 0);
    let nearest = others.min().unwrap_or(0) as f32;
    (nearest.sqrt() / 2.0 / 3f32.sqrt()).min(MAX_DITHER)
}

/// The dither pattern: a matrix of 8 × 8 thresholds between −1 and 1, repeated.
fn threshold(x: u32, y: u32) -> f32 {
    // The bits of x ^ y and y, interleaved from the lowest up, give Bayer's order.
    let (a, b) = (x ^ y, y);
    let rank = (0..3).fold(0, |rank, bit| rank << 2 | (a >> bit & 1) << 1 | b >> bit & 1);
    (rank as f32 + 0.5) / 32.0 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_kept_exactly() {
        let colours = [[0, 0, 0], [255, 255, 255], [200, 30, 40], [30, 90, 200], [201, 160, 12]];
        let pixels = colours.iter().cycle().take(1000).copied();
        let mut palette = Palette::of(pixels, 255);
        assert_eq!(palette.len(), colours.len());
        let bytes = palette.bytes();
        for (i, &colour) in colours.iter().enumerate() {
            for (x, y) in [(0, 0), (3, 5), (7, 7), (i as u32, 4)] {
                let index = usize::from(palette.index(colour, x, y));
                assert_eq!(bytes[3 * index..3 * index + 3], colour);
            }
        }
    }

    #[test]
    fn colours_of_one_cell_are_told_apart() {
        // The first four share a cell of the table; the last is nearer to the middle of that cell than the first.
        let colours = vec![[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3], [4, 2, 2]];
        let mut palette = Palette::with(colours.clone());
        for (number, &colour) in colours.iter().enumerate() {
            assert!(
                (0..64).all(|i| usize::from(palette.index(colour, i % 8, i / 8)) == number),
                "{colour:?}"
            );
        }
    }

    #[test]
    fn a_ramp_is_dithered_to_its_mean() {
        // Eight greys for a ramp of 256: over each 8 × 8 tile the mean must be near the colour that was asked for.
        let mut palette = Palette::of((0..=255u8).map(|c| [c; 3]), 8);
        assert_eq!(palette.len(), 8);
        let bytes = palette.bytes();
        let tile = |palette: &mut Palette, c: u8| -> f64 {
            let cells = (0..64).map(|i| bytes[3 * usize::from(palette.index([c; 3], i % 8, i / 8))]);
            cells.map(f64::from).sum::<f64>() / 64.0
        };
        let plain = |c: u8| bytes.chunks(3).map(|p| p[0].abs_diff(c)).min().unwrap();
        let (mut dithered, mut undithered) = (0.0, 0.0);
        for c in 32..224u8 {
            dithered += (tile(&mut palette, c) - f64::from(c)).abs();
            undithered += f64::from(plain(c));
        }
        assert!(dithered < 0.75 * undithered, "{dithered} against {undithered}");
    }

    #[test]
    fn the_pattern_has_every_threshold_once() {
        let mut all: Vec<f32> = (0..64).map(|i| threshold(i % 8, i / 8)).collect();
        all.sort_by(f32::total_cmp);
        let expected: Vec<f32> = (0..64).map(|i| (i as f32 + 0.5) / 32.0 - 1.0).collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn nothing_at_all_is_one_colour() {
        let mut palette = Palette::of(std::iter::empty(), 255);
        assert_eq!((palette.len(), palette.index([9, 9, 9], 0, 0)), (1, 0));
    }
}
