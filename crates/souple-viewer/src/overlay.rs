//! Text, legends, captions and contact sheets, drawn into a finished picture, and the colour maps of analysis looks.
//!
//! Both renderers make plain pictures; what people read is added here, so that it is the same to the last pixel
//! whichever renderer there was. The colour maps are defined here and nowhere else: the GPU gets [`SEQUENTIAL`] and
//! [`DIVERGING`] as numbers, the CPU calls [`colour_map`].
//!
//! Letters come from Noto Sans Mono at two fixed sizes (Basic Latin and Latin-1; dashes and quotes become plain ones, others `?`). Overlays are
//! blended in sRGB, as every drawing program does with flat colour. Anything outside of a picture is clipped; nothing
//! here can fail. A legend is left out of a picture too small for it, see [`draw_legend`].

use glam::Vec3;
use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};
use souple_formats::picture::Picture;

use crate::looks::{linear, srgb};
use crate::style::Quantity;

/// Colours from low to high, sRGB, evenly spaced; mixed in linear light between them. From dark violet over teal to
/// yellow: lightness grows evenly (L* 13 … 93), so that it reads without colour as well.
pub const SEQUENTIAL: [[f32; 3]; 9] = [
    [0.216, 0.001, 0.357],
    [0.194, 0.140, 0.548],
    [0.003, 0.311, 0.615],
    [0.014, 0.447, 0.594],
    [0.012, 0.569, 0.616],
    [0.018, 0.695, 0.611],
    [0.338, 0.807, 0.535],
    [0.664, 0.885, 0.411],
    [0.982, 0.932, 0.253],
];

/// Colours of signed quantities, sRGB, evenly spaced, zero in the middle; mixed in linear light between them. From blue
/// (below zero) over near-white to red, equally light on both sides.
pub const DIVERGING: [[f32; 3]; 9] = [
    [0.001, 0.327, 0.717],
    [0.253, 0.504, 0.870],
    [0.495, 0.676, 0.943],
    [0.728, 0.831, 0.985],
    [0.954, 0.954, 0.954],
    [0.973, 0.766, 0.739],
    [0.911, 0.559, 0.520],
    [0.812, 0.334, 0.298],
    [0.668, 0.004, 0.063],
];

/// Smallest picture that gets a legend, pixels.
pub const LEAST_LEGEND_PICTURE: (u32, u32) = (200, 140);
/// Pictures at least this high have large letters, pixels.
const LARGE_FROM_HEIGHT: u32 = 900;
/// Longest side of a contact sheet, pixels; pictures are reduced until it fits.
pub const MAX_SHEET_SIDE: u32 = 8192;

/// Dark panel behind text, sRGB with opacity.
const PANEL: [u8; 4] = [18, 20, 24, 165];
/// Text on a panel, sRGB with opacity.
const TEXT: [u8; 4] = [240, 241, 243, 255];
/// Paper of a contact sheet, sRGB with opacity.
const SHEET: [u8; 4] = [32, 34, 38, 255];

/// The colour map of a quantity at a share `t` of its range, from 0 to 1 (clamped; what is not a number counts as 0),
/// linear light.
pub fn colour_map(quantity: Quantity, t: f32) -> Vec3 {
    map_colour(if quantity.is_signed() { &DIVERGING } else { &SEQUENTIAL }, t)
}

/// A colour of a map of evenly spaced sRGB colours, mixed in linear light.
fn map_colour(map: &[[f32; 3]; 9], t: f32) -> Vec3 {
    let t = if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) };
    let at = t * (map.len() - 1) as f32;
    let low = (at as usize).min(map.len() - 2);
    linear(map[low]).lerp(linear(map[low + 1]), at - low as f32)
}

/// Size of letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextSize {
    /// Lines of 16 pixels.
    Small,
    /// Lines of 24 pixels.
    Large,
}

impl TextSize {
    /// The size that suits a picture of that height.
    pub fn for_height(height: u32) -> TextSize {
        if height >= LARGE_FROM_HEIGHT { TextSize::Large } else { TextSize::Small }
    }

    /// Height of a line, pixels.
    pub fn line_height(self) -> u32 {
        match self {
            TextSize::Small => 16,
            TextSize::Large => 24,
        }
    }

    /// Width of each letter, pixels.
    pub fn letter_width(self) -> u32 {
        get_raster_width(FontWeight::Regular, self.raster()) as u32
    }

    fn raster(self) -> RasterHeight {
        match self {
            TextSize::Small => RasterHeight::Size16,
            TextSize::Large => RasterHeight::Size24,
        }
    }
}

/// Width of a text, pixels: of its longest line.
pub fn text_width(text: &str, size: TextSize) -> u32 {
    let longest = text.split('\n').map(|line| line.chars().count()).max().unwrap_or(0);
    (longest as u32).saturating_mul(size.letter_width())
}

/// Draws a text with its top left corner at a pixel; `\n` begins a new line. The colour is sRGB with opacity.
pub fn draw_text(picture: &mut Picture, x: i32, y: i32, text: &str, size: TextSize, colour: [u8; 4]) {
    let step = size.letter_width() as i32;
    let mut top = y;
    for line in text.split('\n') {
        let mut left = x;
        for letter in line.chars() {
            if left >= picture.width as i32 {
                break;
            }
            draw_letter(picture, left, top, letter, size, colour);
            left = left.saturating_add(step);
        }
        top = top.saturating_add(size.line_height() as i32);
    }
}

fn draw_letter(picture: &mut Picture, x: i32, y: i32, letter: char, size: TextSize, colour: [u8; 4]) {
    // Signs of printers that the font lacks and that have a plain twin.
    let letter = match letter {
        '–' | '—' | '−' => '-',
        '‘' | '’' => '\'',
        '“' | '”' | '„' => '"',
        '…' => '.',
        letter => letter,
    };
    let raster = |letter: char| get_raster(letter, FontWeight::Regular, size.raster());
    let Some(raster) = raster(letter).or_else(|| raster('?')) else { return };
    for (dy, row) in raster.raster().iter().enumerate() {
        for (dx, &cover) in row.iter().enumerate() {
            if cover > 0 {
                let alpha = (u32::from(cover) * u32::from(colour[3]) / 255) as u8;
                let place = (x.saturating_add(dx as i32), y.saturating_add(dy as i32));
                blend(picture, place, [colour[0], colour[1], colour[2], alpha]);
            }
        }
    }
}

/// Puts a colour over a pixel; outside of the picture it does nothing.
fn blend(picture: &mut Picture, (x, y): (i32, i32), colour: [u8; 4]) {
    if x < 0 || y < 0 || x as u32 >= picture.width || y as u32 >= picture.height {
        return;
    }
    let at = (y as usize * picture.width as usize + x as usize) * 4;
    let Some(pixel) = picture.rgba.get_mut(at..at + 4) else { return };
    let alpha = u32::from(colour[3]);
    for (below, over) in pixel.iter_mut().zip([colour[0], colour[1], colour[2], 255]) {
        // Opacity goes towards opaque as colour goes towards the colour that is put over it.
        *below = ((u32::from(*below) * (255 - alpha) + u32::from(over) * alpha + 127) / 255) as u8;
    }
}

/// Fills a rectangle of a picture with a colour, sRGB with opacity.
pub fn fill(picture: &mut Picture, x: i32, y: i32, width: u32, height: u32, colour: [u8; 4]) {
    let end = |from: i32, length: u32, limit: u32| {
        (i64::from(from) + i64::from(length)).clamp(0, i64::from(limit.min(i32::MAX as u32))) as i32
    };
    for row in y.max(0)..end(y, height, picture.height) {
        for column in x.max(0)..end(x, width, picture.width) {
            blend(picture, (column, row), colour);
        }
    }
}

/// Draws the colour bar of a quantity in the upper right corner, where no caption is, with its name, its unit and about five round values.
///
/// The bar is 40 % of the picture's height, at most 320 pixels; letters are large from 900 pixels of height on. On low
/// pictures there are fewer values, and pictures below [`LEAST_LEGEND_PICTURE`] get no legend, nor does a range that is
/// not finite. A range of one single value gets one label.
pub fn draw_legend(picture: &mut Picture, quantity: Quantity, range: [f32; 2]) {
    let (width, height) = (picture.width, picture.height);
    if width < LEAST_LEGEND_PICTURE.0
        || height < LEAST_LEGEND_PICTURE.1
        || !range.iter().all(|r| r.is_finite())
    {
        return;
    }
    let size = TextSize::for_height(height);
    let line = size.line_height();
    let bar_height = (height * 2 / 5).min(320);
    let (unit, factor) = quantity.unit();
    let shown = range.map(|end| f64::from(end) * f64::from(factor));
    let most = (bar_height / (line + 2) + 1).clamp(2, 5);
    let (values, decimals) = ticks(shown, most as usize);
    let labels: Vec<String> = values.iter().map(|v| label(*v, decimals)).collect();
    let title = format!("{}, {unit}", quantity.name());

    let (pad, bar_width, tick, gap) = (line / 2, line, line / 4, line / 2);
    let label_width = labels.iter().map(|l| text_width(l, size)).max().unwrap_or(0);
    let inner = text_width(&title, size).max(bar_width + tick + gap + label_width);
    let (panel_width, panel_height) = (inner + 2 * pad, bar_height + 2 * line + 2 * pad);
    let margin = line / 2;
    let left = width as i32 - (panel_width + margin) as i32;
    let top = margin as i32;
    fill(picture, left, top, panel_width, panel_height, PANEL);
    let (x, y) = (left + pad as i32, top + pad as i32);
    draw_text(picture, x, y, &title, size, TEXT);

    let bar_top = y + (line + line / 2) as i32;
    for row in 0..bar_height {
        let t = 1.0 - (row as f32 + 0.5) / bar_height as f32;
        let colour = srgb(colour_map(quantity, t)).map(|c| (c * 255.0).round() as u8);
        fill(picture, x, bar_top + row as i32, bar_width, 1, [colour[0], colour[1], colour[2], 255]);
    }
    for (value, label) in values.iter().zip(&labels) {
        let span = shown[1] - shown[0];
        let t = if span == 0.0 { 0.5 } else { ((value - shown[0]) / span).clamp(0.0, 1.0) };
        let row = bar_top + ((1.0 - t) * f64::from(bar_height - 1)).round() as i32;
        fill(picture, x + bar_width as i32, row, tick, 1, TEXT);
        let text_x = x + (bar_width + tick + gap + label_width - text_width(label, size)) as i32;
        draw_text(picture, text_x, row - (line / 2) as i32, label, size, TEXT);
    }
}

/// Round values inside a range, about `target` of them, and the decimals to write them with.
///
/// Steps are 1, 1.5, 2, 2.5, 5 or 7.5 times a power of ten; best is one that meets both ends with `target` values.
fn ticks(range: [f64; 2], target: usize) -> (Vec<f64>, usize) {
    let (low, high) = (range[0].min(range[1]), range[0].max(range[1]));
    let span = high - low;
    let scale = low.abs().max(high.abs());
    if span <= 1e-9 * scale || span == 0.0 {
        return (vec![low], decimals_of(if scale > 0.0 { 0.01 * scale } else { 1.0 }));
    }
    let power = 10f64.powf(span.log10().floor());
    let steps = [1.0, 1.5, 2.0, 2.5, 5.0, 7.5];
    let mut best: Option<(i64, f64, Vec<f64>)> = None;
    // From large to small: of two equally good steps the larger one stays.
    for exponent in [0.1, 1.0, 10.0].into_iter().rev() {
        for step in steps.into_iter().rev().map(|s| s * exponent * power) {
            let slack = 1e-6 * span;
            let (first, last) = (((low - slack) / step).ceil(), ((high + slack) / step).floor());
            let count = last - first + 1.0;
            if !(1.0..=20.0).contains(&count) {
                continue;
            }
            let values: Vec<f64> = (0..count as usize).map(|k| (first + k as f64) * step).collect();
            let open_low = first * step > low + slack;
            let open_high = last * step < high - slack;
            let over = count as i64 - target as i64;
            // More values than asked for may overlap on a low bar: worse than fewer.
            let misfit = if over > 0 { 3 * over } else { -2 * over };
            // An end without a number is worse than a number too few or too many.
            let score = misfit + 4 * (i64::from(open_low) + i64::from(open_high));
            if best.as_ref().is_none_or(|(known, ..)| score < *known) {
                best = Some((score, step, values));
            }
        }
    }
    match best {
        Some((_, step, values)) => (values, decimals_of(step)),
        None => (vec![low, high], decimals_of(0.01 * span)),
    }
}

/// Digits after the point that show multiples of a step exactly, when it has two significant digits.
fn decimals_of(step: f64) -> usize {
    (0..=6)
        .find(|d| {
            let scaled = step * 10f64.powi(*d);
            (scaled - scaled.round()).abs() < 1e-3 * scaled && scaled.round() >= 1.0
        })
        .map_or(7, |d| d as usize)
}

/// A value as text: plain digits where that is short, powers of ten elsewhere.
fn label(value: f64, decimals: usize) -> String {
    if value != 0.0 && (decimals > 5 || value.abs() >= 1e6) {
        return format!("{value:.2e}");
    }
    let text = format!("{:.*}", decimals.min(5), value);
    // "-0" reads like an error.
    if text.trim_matches(['-', '0', '.']).is_empty() { text.trim_start_matches('-').to_owned() } else { text }
}

/// Writes a caption on a strip along the lower edge. What does not fit ends in `...`; a picture too small for one letter
/// stays as it is.
pub fn caption(picture: &mut Picture, text: &str) {
    let size = TextSize::for_height(picture.height);
    let (line, pad) = (size.line_height(), size.line_height() / 4);
    let strip = line + 2 * pad;
    let room = picture.width.saturating_sub(2 * pad) / size.letter_width().max(1);
    if text.is_empty() || room == 0 || picture.height < strip {
        return;
    }
    let top = (picture.height - strip) as i32;
    fill(picture, 0, top, picture.width, strip, PANEL);
    draw_text(picture, pad as i32, top + pad as i32, &shortened(text, room as usize), size, TEXT);
}

/// The first line of a text, cut to a number of letters.
fn shortened(text: &str, letters: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= letters {
        return line.to_owned();
    }
    let dots = letters.min(3);
    line.chars().take(letters - dots).chain(std::iter::repeat_n('.', dots)).collect()
}

/// Pictures in a grid, row by row, each with its caption below; `columns` is at least 1 and at most the number of
/// pictures. All cells are as large as the largest picture; smaller ones stand in the middle. When the sheet would be
/// larger than [`MAX_SHEET_SIDE`] on a side, all pictures are reduced by the same whole number. Without pictures the
/// sheet is one pixel.
pub fn contact_sheet(pictures: &[(Picture, String)], columns: usize) -> Picture {
    let side = |of: fn(&Picture) -> u32| pictures.iter().map(|(p, _)| of(p)).max().unwrap_or(0).max(1);
    let (cell_width, cell_height) = (side(|p| p.width), side(|p| p.height));
    let columns = columns.clamp(1, pictures.len().max(1));
    let rows = pictures.len().div_ceil(columns).max(1);
    let size = TextSize::for_height(cell_height);
    let strip = size.line_height() * 3 / 2;
    let gap = 6u64;
    let extent = |count: usize, cell: u32, extra: u32, reduction: u32| {
        let cell = u64::from((cell / reduction).max(1)) + u64::from(extra) + gap;
        cell.saturating_mul(count as u64).saturating_add(gap)
    };
    if pictures.is_empty() {
        return Picture::new(1, 1, SHEET);
    }
    let fits = |r: &u32| {
        extent(columns, cell_width, 0, *r).max(extent(rows, cell_height, strip, *r))
            <= u64::from(MAX_SHEET_SIDE)
    };
    let reduction = (1..=cell_width.max(cell_height).min(64)).find(fits);
    // So many pictures that even their captions do not fit: those that do are shown.
    let reduction = reduction.unwrap_or(cell_width.max(cell_height).min(64));
    let clamp = |extent: u64| extent.min(u64::from(MAX_SHEET_SIDE)) as u32;
    let mut sheet = Picture::new(
        clamp(extent(columns, cell_width, 0, reduction)),
        clamp(extent(rows, cell_height, strip, reduction)),
        SHEET,
    );
    let (cell_width, cell_height) = ((cell_width / reduction).max(1), (cell_height / reduction).max(1));
    for (k, (picture, text)) in pictures.iter().enumerate() {
        let left = gap + (k % columns) as u64 * (u64::from(cell_width) + gap);
        let top = gap + (k / columns) as u64 * (u64::from(cell_height + strip) + gap);
        if left.max(top) >= u64::from(MAX_SHEET_SIDE) {
            continue;
        }
        let (left, top) = (left as u32, top as u32);
        let small = picture.scaled_down(reduction);
        let middle = |cell: u32, side: u32| cell.saturating_sub(side) / 2;
        let (right, down) = (middle(cell_width, small.width), middle(cell_height, small.height));
        sheet.paste(&small, left + right, top + down);
        let room = (cell_width / size.letter_width().max(1)) as usize;
        let text_top = (top + cell_height + (strip - size.line_height()) / 2) as i32;
        draw_text(&mut sheet, left as i32, text_top, &shortened(text, room), size, TEXT);
    }
    sheet
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// CIE lightness, 0 … 100.
    fn lightness(colour: Vec3) -> f32 {
        let y = colour.dot(Vec3::new(0.2126, 0.7152, 0.0722));
        if y > 0.008_856 { 116.0 * y.cbrt() - 16.0 } else { 903.3 * y }
    }

    #[test]
    fn sequential_colours_grow_lighter_evenly() {
        let at = |k: usize| lightness(colour_map(Quantity::Velocity, k as f32 / 256.0));
        for k in 0..256 {
            assert!(at(k + 1) > at(k), "at {k}");
        }
        // Each eighth of the map is about an eighth of the lightness.
        let whole = at(256) - at(0);
        for k in 0..8 {
            let step = (at(32 * k + 32) - at(32 * k)) / whole;
            assert!((0.10..0.15).contains(&step), "eighth {k}: {step}");
        }
    }

    #[test]
    fn diverging_colours_are_equally_light_on_both_sides() {
        let at = |k: i32| lightness(colour_map(Quantity::Strain, 0.5 + k as f32 / 256.0));
        for k in 0..128 {
            assert!(at(k + 1) < at(k) && at(-k - 1) < at(-k), "at {k}");
            assert!((at(k) - at(-k)).abs() < 2.5, "at {k}: {} {}", at(k), at(-k));
        }
        let [low, high] = [0.0, 1.0].map(|t| colour_map(Quantity::Strain, t));
        assert!(low.z > 4.0 * low.x && high.x > 4.0 * high.z, "{low} {high}");
    }

    #[test]
    fn maps_hit_their_points_and_clamp() {
        for (k, point) in SEQUENTIAL.iter().enumerate() {
            let colour = colour_map(Quantity::Curvature, k as f32 / 8.0);
            assert!(colour.distance(linear(*point)) < 1e-6);
        }
        assert_eq!(colour_map(Quantity::Contact, 7.0), linear(SEQUENTIAL[8]));
        assert_eq!(colour_map(Quantity::Contact, -7.0), linear(SEQUENTIAL[0]));
        assert_eq!(colour_map(Quantity::Strain, f32::NAN), linear(DIVERGING[0]));
    }

    #[test]
    fn text_stays_in_its_box_and_leaves_ink() {
        for size in [TextSize::Small, TextSize::Large] {
            let mut picture = Picture::new(300, 60, [0, 0, 0, 255]);
            let text = "Wj|_Ågé%";
            draw_text(&mut picture, 20, 10, text, size, [255; 4]);
            let (width, height) = (text_width(text, size), size.line_height());
            let mut ink = 0;
            for y in 0..60u32 {
                for x in 0..300u32 {
                    let lit = picture.rgba[((y * 300 + x) * 4) as usize] > 0;
                    let inside = (20..20 + width).contains(&x) && (10..10 + height).contains(&y);
                    assert!(inside || !lit, "ink at {x}, {y}");
                    ink += u32::from(lit);
                }
            }
            assert!(ink > 100, "{ink}");
        }
    }

    #[test]
    fn unknown_letters_are_question_marks() {
        let draw = |text: &str| {
            let mut picture = Picture::new(40, 20, [0, 0, 0, 255]);
            draw_text(&mut picture, 0, 0, text, TextSize::Small, TEXT);
            picture.rgba
        };
        assert_eq!(draw("水"), draw("?"));
        assert_eq!(draw("−1 – 2"), draw("-1 - 2"));
        assert_ne!(draw("a"), draw("?"));
    }

    #[test]
    fn round_values_are_shown_without_noise() {
        let shown = |low: f64, high: f64| {
            let (values, decimals) = ticks([low, high], 5);
            values.iter().map(|v| label(*v, decimals)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(0.0, 1.0), "0.00 0.25 0.50 0.75 1.00");
        assert_eq!(shown(-5.0, 5.0), "-5.0 -2.5 0.0 2.5 5.0");
        assert_eq!(shown(-0.3, 0.3), "-0.30 -0.15 0.00 0.15 0.30");
        assert_eq!(shown(0.0, 20.0), "0 5 10 15 20");
        assert_eq!(shown(0.0, 7.5), "0.0 2.5 5.0 7.5");
        assert_eq!(shown(0.0, 1e-2), "0.0000 0.0025 0.0050 0.0075 0.0100");
        assert_eq!(shown(3.0, 3.0), "3.00");
        assert_eq!(shown(0.0, 4e9), "0 1.00e9 2.00e9 3.00e9 4.00e9");
    }

    #[test]
    fn a_legend_shows_its_ends_and_fits() {
        for (width, height) in [LEAST_LEGEND_PICTURE, (320, 240), (1280, 720), (1920, 1080)] {
            for quantity in Quantity::ALL {
                let mut picture = Picture::new(width, height, [90, 90, 90, 255]);
                let range = if quantity.is_signed() { [-0.075, 0.075] } else { [0.0, 3.0] };
                draw_legend(&mut picture, quantity, range);
                let changed = |x: u32, y: u32| picture.rgba[((y * width + x) * 4) as usize..][..3] != [90; 3];
                // The panel has a margin all around: nothing was cut off.
                assert!((0..width).all(|x| !changed(x, 0) && !changed(x, height - 1)));
                assert!((0..height).all(|y| !changed(0, y) && !changed(width - 1, y)));
                for t in [0.02, 0.5, 0.98] {
                    let wanted = srgb(colour_map(quantity, t)).map(|c| c * 255.0);
                    let near = |p: &[u8]| p.iter().zip(wanted).all(|(a, b)| (f32::from(*a) - b).abs() < 6.0);
                    let count = picture.rgba.chunks_exact(4).filter(|p| near(&p[..3])).count();
                    assert!(count >= 8, "{quantity:?} {width}×{height}: colour at {t} not in the bar");
                }
            }
        }
    }

    #[test]
    fn small_pictures_stay_as_they_are() {
        let mut picture = Picture::new(100, 100, [90; 4]);
        draw_legend(&mut picture, Quantity::Strain, [-1.0, 1.0]);
        draw_legend(&mut Picture::new(0, 0, [0; 4]), Quantity::Strain, [-1.0, 1.0]);
        caption(&mut Picture::new(0, 0, [0; 4]), "hello");
        caption(&mut Picture::new(9, 9, [0; 4]), "hello");
        assert_eq!(picture, Picture::new(100, 100, [90; 4]));
        let mut large = Picture::new(640, 480, [90; 4]);
        draw_legend(&mut large, Quantity::Strain, [f32::NAN, 1.0]);
        assert_eq!(large, Picture::new(640, 480, [90; 4]));
    }

    #[test]
    fn long_captions_end_in_dots() {
        assert_eq!(shortened("a long caption", 8), "a lon...");
        assert_eq!(shortened("short", 8), "short");
        assert_eq!(shortened("abc", 2), "..");
        assert_eq!(shortened("two\nlines", 20), "two");
    }

    #[test]
    fn a_sheet_holds_every_picture_once() {
        let colours =
            [[250, 0, 0, 255], [0, 250, 0, 255], [0, 0, 250, 255], [250, 250, 0, 255], [0, 250, 250, 255]];
        let pictures: Vec<_> =
            colours.iter().map(|c| (Picture::new(40, 30, *c), "t = 0.5 s".to_owned())).collect();
        let sheet = contact_sheet(&pictures, 3);
        for colour in colours {
            assert_eq!(sheet.rgba.chunks_exact(4).filter(|p| **p == colour).count(), 40 * 30);
        }
        assert_eq!(sheet.width, 3 * 40 + 4 * 6);
        assert_eq!(contact_sheet(&[], 3).rgba.len(), 4);
        assert_eq!(contact_sheet(&pictures, 0).width, 40 + 2 * 6);
    }

    #[test]
    fn sheets_that_are_too_large_are_reduced() {
        let pictures: Vec<_> =
            (0..9).map(|_| (Picture::new(3500, 8, [200, 100, 50, 255]), String::new())).collect();
        let sheet = contact_sheet(&pictures, 3);
        assert!(sheet.width <= MAX_SHEET_SIDE && sheet.width > MAX_SHEET_SIDE / 2, "{}", sheet.width);
        assert!(sheet.rgba.chunks_exact(4).any(|p| p == [200, 100, 50, 255]));
    }

    proptest! {
        #[test]
        fn nothing_can_fail(
            width in 0u32..400, height in 0u32..400, x in any::<i32>(), y in any::<i32>(), text in ".{0,40}",
            low in any::<f32>(), high in any::<f32>(), columns in 0usize..5,
        ) {
            let mut picture = Picture::new(width, height, [10, 20, 30, 255]);
            draw_text(&mut picture, x, y, &text, TextSize::Small, [255, 0, 0, 128]);
            draw_text(&mut picture, x % 500, y % 500, &text, TextSize::Large, [255, 0, 0, 128]);
            draw_legend(&mut picture, Quantity::Velocity, [low, high]);
            caption(&mut picture, &text);
            contact_sheet(&[(picture, text)], columns);
        }

        #[test]
        fn ticks_are_inside_and_in_order(low in -1e6f64..1e6, span in 1e-3f64..1e6, target in 2usize..6) {
            let (values, _) = ticks([low, low + span], target);
            prop_assert!(!values.is_empty() && values.len() <= 20);
            prop_assert!(values.windows(2).all(|w| w[0] < w[1]));
            prop_assert!(values.iter().all(|v| *v >= low - 1e-5 * span && *v <= low + span * 1.00001));
        }
    }
}
