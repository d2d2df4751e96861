//! JPEG from bytes (ITU-T T.81): sequential and progressive, Huffman coding, 8 bits, grey or three colours.
//!
//! All coefficients are kept until the last scan, then every block is transformed once. Chroma that was stored coarser
//! is repeated, not smoothed. A scan that ends early is an error, not a grey area.

use super::{Picture, PictureError, PictureFormat, PictureLimits};

/// Samples of a block.
const BLOCK: usize = 64;
/// Most scans of a file: progressive ones have about ten, and each costs time.
const MAX_SCANS: usize = 100;
/// Most blocks that a byte of the file can stand for: the first coefficient of each takes a bit.
const BLOCKS_PER_BYTE: usize = 8;

/// Place in a block of each coefficient, in the order of the file.
const ZIGZAG: [u8; BLOCK] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7,
    14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39,
    46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// Reads a JPEG file.
pub(super) fn read(bytes: &[u8], limits: &PictureLimits) -> Result<Picture, PictureError> {
    let mut decoder = Decoder {
        input: Input { bytes, at: 2 },
        limits,
        quantisers: [None; 4],
        dc_codes: [const { None }; 4],
        ac_codes: [const { None }; 4],
        restart_interval: 0,
        stored_as_rgb: None,
        frame: None,
        scans: 0,
    };
    decoder.read_segments()?;
    decoder.picture()
}

struct Decoder<'a> {
    input: Input<'a>,
    limits: &'a PictureLimits,
    quantisers: [Option<[u16; BLOCK]>; 4],
    dc_codes: [Option<HuffmanCode>; 4],
    ac_codes: [Option<HuffmanCode>; 4],
    /// Units between restart markers; 0 for none.
    restart_interval: usize,
    /// What an Adobe segment says about the colours.
    stored_as_rgb: Option<bool>,
    frame: Option<Frame>,
    scans: usize,
}

/// The picture as it is stored.
struct Frame {
    width: u32,
    height: u32,
    progressive: bool,
    /// Largest sampling factors, across and down.
    sampling: (usize, usize),
    /// Units across and down: a unit has as many blocks of each component as its sampling factors say.
    units: (usize, usize),
    components: Vec<Component>,
}

/// Grey, or one of the three colours.
struct Component {
    id: u8,
    /// Blocks of a unit, across and down.
    sampling: (usize, usize),
    quantiser: usize,
    /// The divisors that held when its first scan began.
    divisors: Option<[u16; BLOCK]>,
    /// Blocks across and down that show something.
    blocks: (usize, usize),
    /// Blocks in a row of `coefficients`, which holds whole units.
    stride: usize,
    coefficients: Vec<i16>,
    /// First coefficient of the block before.
    predictor: i32,
}

/// One scan: which components, which coefficients, which bits of them.
struct Scan {
    /// Index of the component, its code for first coefficients and its code for the others.
    components: Vec<(usize, usize, usize)>,
    first: usize,
    last: usize,
    /// Whether bits are added to what an earlier scan gave.
    refines: bool,
    low_bit: u32,
}

impl<'a> Decoder<'a> {
    fn damaged(&self, what: impl Into<String>) -> PictureError {
        self.input.damaged(what)
    }

    /// Reads all segments and scans up to the end marker.
    fn read_segments(&mut self) -> Result<(), PictureError> {
        loop {
            let start = self.input.at;
            let marker = self.input.marker()?;
            let unsupported =
                |what| PictureError::Unsupported { format: PictureFormat::Jpeg, byte: start, what };
            match marker {
                0xd9 => return Ok(()),
                0x01 | 0xd0..=0xd8 => {}
                0xc0..=0xc2 => {
                    let segment = self.input.segment()?;
                    self.read_frame(segment, marker == 0xc2)?;
                }
                0xc4 => self.input.segment().and_then(|segment| self.read_codes(segment))?,
                0xda => {
                    let segment = self.input.segment()?;
                    let scan = self.read_scan_header(segment)?;
                    self.read_scan(&scan)?;
                }
                0xdb => self.input.segment().and_then(|segment| self.read_quantisers(segment))?,
                0xdd => {
                    let mut segment = self.input.segment()?;
                    self.restart_interval = usize::from(segment.u16()?);
                }
                0xee => {
                    let segment = self.input.segment()?;
                    if let [b'A', b'd', b'o', b'b', b'e', _, _, _, _, _, _, transform, ..] = segment.rest() {
                        self.stored_as_rgb = Some(*transform == 0);
                    }
                }
                0xc3 | 0xc5..=0xc7 => return Err(unsupported("lossless or hierarchical JPEG")),
                0xc9..=0xcf => return Err(unsupported("JPEG with arithmetic coding")),
                0xdc => return Err(unsupported("JPEG that tells its height at the end")),
                _ => {
                    self.input.segment()?;
                }
            }
        }
    }

    fn read_quantisers(&mut self, mut segment: Input<'a>) -> Result<(), PictureError> {
        while !segment.rest().is_empty() {
            let head = segment.u8()?;
            let mut divisors = [0; BLOCK];
            for &place in &ZIGZAG {
                let divisor = if head >> 4 == 0 { u16::from(segment.u8()?) } else { segment.u16()? };
                divisors[usize::from(place)] = divisor;
            }
            let table = self.quantisers.get_mut(usize::from(head & 15));
            *table.ok_or_else(|| segment.damaged("there are only 4 tables of divisors"))? = Some(divisors);
        }
        Ok(())
    }

    fn read_codes(&mut self, mut segment: Input<'a>) -> Result<(), PictureError> {
        while !segment.rest().is_empty() {
            let head = segment.u8()?;
            let code = HuffmanCode::read(&mut segment)?;
            let tables = if head >> 4 == 0 { &mut self.dc_codes } else { &mut self.ac_codes };
            let table = tables.get_mut(usize::from(head & 15));
            *table.ok_or_else(|| segment.damaged("there are only 4 codes of each kind"))? = Some(code);
        }
        Ok(())
    }

    fn read_frame(&mut self, mut segment: Input<'a>, progressive: bool) -> Result<(), PictureError> {
        let byte = segment.at;
        let unsupported = |what| PictureError::Unsupported { format: PictureFormat::Jpeg, byte, what };
        if self.frame.is_some() {
            return Err(segment.damaged("there are two frames"));
        }
        if segment.u8()? != 8 {
            return Err(unsupported("JPEG with 12 bits per colour"));
        }
        let (height, width) = (u32::from(segment.u16()?), u32::from(segment.u16()?));
        self.limits.check(PictureFormat::Jpeg, width, height)?;
        if width == 0 || height == 0 {
            return Err(segment.damaged("the picture has no pixels"));
        }
        let count = segment.u8()?;
        if !matches!(count, 1 | 3) {
            return Err(unsupported("JPEG with other than one or three colours, such as CMYK"));
        }
        let mut heads = Vec::new();
        for _ in 0..count {
            let [id, factors, quantiser] = [segment.u8()?, segment.u8()?, segment.u8()?];
            let sampling = (usize::from(factors >> 4), usize::from(factors & 15));
            if !(1..=4).contains(&sampling.0) || !(1..=4).contains(&sampling.1) || quantiser > 3 {
                return Err(segment.damaged("a component has impossible sampling factors or divisors"));
            }
            // A single component is never interleaved: its blocks are its units.
            heads.push((id, if count == 1 { (1, 1) } else { sampling }, usize::from(quantiser)));
        }
        let sampling = heads.iter().fold((1, 1), |(h, v), head| (h.max(head.1.0), v.max(head.1.1)));
        let (w, h) = (width as usize, height as usize);
        let units = (w.div_ceil(8 * sampling.0), h.div_ceil(8 * sampling.1));
        // Blocks that show something; the last units may have more of them than that.
        let shown = |own: (usize, usize)| {
            ((w * own.0).div_ceil(8 * sampling.0), (h * own.1).div_ceil(8 * sampling.1))
        };
        let total: usize = heads.iter().map(|head| shown(head.1).0 * shown(head.1).1).sum();
        let left = self.input.rest().len();
        if total > left.saturating_mul(BLOCKS_PER_BYTE) {
            return Err(segment.damaged(format!("{left} bytes cannot hold {width} × {height} pixels")));
        }
        let components = heads.into_iter().map(|(id, own, quantiser)| Component {
            id,
            sampling: own,
            quantiser,
            divisors: None,
            blocks: shown(own),
            stride: units.0 * own.0,
            coefficients: vec![0; units.0 * units.1 * own.0 * own.1 * BLOCK],
            predictor: 0,
        });
        let components = components.collect();
        self.frame = Some(Frame { width, height, progressive, sampling, units, components });
        Ok(())
    }

    fn read_scan_header(&mut self, mut segment: Input<'a>) -> Result<Scan, PictureError> {
        self.scans += 1;
        if self.scans > MAX_SCANS {
            return Err(segment.damaged(format!("there are more than {MAX_SCANS} scans")));
        }
        let Some(frame) = &mut self.frame else {
            return Err(segment.damaged("a scan comes before the frame"));
        };
        let count = usize::from(segment.u8()?);
        let mut components: Vec<(usize, usize, usize)> = Vec::new();
        for _ in 0..count {
            let [id, codes] = [segment.u8()?, segment.u8()?];
            let found = frame.components.iter().position(|component| component.id == id);
            let index = found.ok_or_else(|| segment.damaged("a scan names a component that is not there"))?;
            if components.iter().any(|&(other, ..)| other == index) || codes >> 4 > 3 || codes & 15 > 3 {
                return Err(segment.damaged("a scan names a component twice or a code that cannot be"));
            }
            components.push((index, usize::from(codes >> 4), usize::from(codes & 15)));
            let component = &mut frame.components[index];
            if component.divisors.is_none() {
                component.divisors = self.quantisers[component.quantiser];
            }
            if component.divisors.is_none() {
                return Err(segment.damaged("a component has no divisors"));
            }
        }
        let [first, last, bits] = [segment.u8()?, segment.u8()?, segment.u8()?];
        let scan = if frame.progressive {
            let (high_bit, low_bit) = (bits >> 4, u32::from(bits & 15));
            Scan { components, first: first.into(), last: last.into(), refines: high_bit > 0, low_bit }
        } else {
            Scan { components, first: 0, last: BLOCK - 1, refines: false, low_bit: 0 }
        };
        let one = scan.components.len() == 1;
        let mixed = frame.progressive && scan.first == 0 && scan.last > 0;
        if scan.components.is_empty()
            || scan.first > scan.last
            || scan.last >= BLOCK
            || scan.low_bit > 13
            || mixed
            || (scan.first > 0 && !one)
        {
            return Err(segment.damaged("a scan has impossible parameters"));
        }
        Ok(scan)
    }

    fn read_scan(&mut self, scan: &Scan) -> Result<(), PictureError> {
        let Some(frame) = &mut self.frame else { return Err(self.damaged("a scan comes before the frame")) };
        let mut codes = Vec::new();
        for &(_, dc, ac) in &scan.components {
            let missing = || self.input.damaged("a scan uses a code that was not given");
            // Only the codes that are used have to be there.
            let dc = if scan.first == 0 && !scan.refines {
                Some(self.dc_codes[dc].as_ref().ok_or_else(missing)?)
            } else {
                None
            };
            let ac = if scan.last > 0 { Some(self.ac_codes[ac].as_ref().ok_or_else(missing)?) } else { None };
            codes.push((dc, ac));
        }
        let single = match scan.components[..] {
            [(index, ..)] => Some(frame.components[index].blocks),
            _ => None,
        };
        let (across, down) = single.unwrap_or(frame.units);
        let mut bits = Bits { input: &mut self.input, held: 0, count: 0 };
        let mut blocks_to_skip = 0;
        frame.components.iter_mut().for_each(|component| component.predictor = 0);
        for unit in 0..across * down {
            if self.restart_interval > 0 && unit > 0 && unit % self.restart_interval == 0 {
                bits.restart()?;
                blocks_to_skip = 0;
                frame.components.iter_mut().for_each(|component| component.predictor = 0);
            }
            let (x, y) = (unit % across, unit / across);
            for (&(index, ..), &(dc, ac)) in scan.components.iter().zip(&codes) {
                let component = &mut frame.components[index];
                let (h, v) = if single.is_some() { (1, 1) } else { component.sampling };
                for part in 0..h * v {
                    let block = (y * v + part / h) * component.stride + x * h + part % h;
                    let Component { coefficients, predictor, .. } = component;
                    let Some(block) = coefficients.get_mut(block * BLOCK..(block + 1) * BLOCK) else {
                        return Err(bits.input.damaged("a block lies outside the picture"));
                    };
                    if scan.first == 0 {
                        read_first(&mut bits, block, dc, predictor, scan)?;
                    }
                    if let Some(code) = ac {
                        read_others(&mut bits, block, code, scan, &mut blocks_to_skip)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Turns the coefficients into pixels.
    fn picture(self) -> Result<Picture, PictureError> {
        let Some(frame) = &self.frame else { return Err(self.damaged("there is no picture in it")) };
        let Frame { width, height, sampling, components, .. } = frame;
        let mut planes = Vec::new();
        for component in components {
            let Some(divisors) = &component.divisors else { return Err(self.damaged("a colour is missing")) };
            planes.push(samples(component, divisors));
        }
        let ids: Vec<u8> = components.iter().map(|component| component.id).collect();
        let stored_as_rgb = self.stored_as_rgb.unwrap_or(ids == *b"RGB");
        let mut rgba = Vec::with_capacity(*width as usize * *height as usize * super::RGBA);
        for y in 0..*height as usize {
            for x in 0..*width as usize {
                let at = |i: usize| -> f32 {
                    let (plane, component) = (&planes[i], &components[i]);
                    let (h, v) = component.sampling;
                    f32::from(plane[y * v / sampling.1 * component.stride * 8 + x * h / sampling.0])
                };
                let pixel = match components.len() {
                    1 => [at(0); 3],
                    _ if stored_as_rgb => [at(0), at(1), at(2)],
                    _ => {
                        let (luma, blue, red) = (at(0), at(1) - 128.0, at(2) - 128.0);
                        // JFIF 1.02: ITU-R BT.601 with full range.
                        [luma + 1.402 * red, luma - 0.344_136 * blue - 0.714_136 * red, luma + 1.772 * blue]
                    }
                };
                rgba.extend(pixel.map(|channel| channel.round() as u8));
                rgba.push(255);
            }
        }
        Ok(Picture { width: *width, height: *height, rgba })
    }
}

/// The first coefficient of a block: a difference from the block before, or one more bit of it.
fn read_first(
    bits: &mut Bits<'_, '_>,
    block: &mut [i16],
    code: Option<&HuffmanCode>,
    predictor: &mut i32,
    scan: &Scan,
) -> Result<(), PictureError> {
    match code {
        Some(code) => {
            let size = bits.symbol(code)?;
            *predictor = predictor.wrapping_add(bits.signed(size)?);
            // Damaged files may leave the range; what is shown is then wrong, but nothing else.
            block[0] = (*predictor << scan.low_bit) as i16;
        }
        None => block[0] |= (bits.take(1)? << scan.low_bit) as i16,
    }
    Ok(())
}

/// The other coefficients of a block: runs of zeros and values, or one more bit of each.
fn read_others(
    bits: &mut Bits<'_, '_>,
    block: &mut [i16],
    code: &HuffmanCode,
    scan: &Scan,
    blocks_to_skip: &mut u32,
) -> Result<(), PictureError> {
    let mut k = scan.first.max(1);
    let unit = 1i16 << scan.low_bit;
    while *blocks_to_skip == 0 && k <= scan.last {
        let symbol = bits.symbol(code)?;
        let (mut zeros, size) = (usize::from(symbol >> 4), symbol & 15);
        let value = match (zeros, size) {
            // Sixteen zeros; in a refinement they are counted like any other run, up to the last of them.
            (15, 0) => 0,
            // The rest of this block and, in a progressive file, of some of the next ones is zero.
            (1.., 0) if scan.first == 0 => {
                return Err(bits.input.damaged("a run of blocks in a sequential scan"));
            }
            (run, 0) => {
                *blocks_to_skip = (1 << run) + bits.take(run as u8)?;
                break;
            }
            _ if scan.refines => match bits.take(1)? {
                0 => -unit,
                _ => unit,
            },
            (_, size) => (bits.signed(size)? << scan.low_bit) as i16,
        };
        if scan.refines {
            while k <= scan.last {
                let coefficient = &mut block[usize::from(ZIGZAG[k])];
                if *coefficient != 0 {
                    refine(bits, coefficient, unit)?;
                } else if zeros == 0 {
                    break;
                } else {
                    zeros -= 1;
                }
                k += 1;
            }
        } else {
            k += zeros;
        }
        if k > scan.last {
            // A run of zeros may end with the block in a refinement, where values that are there do not count.
            if value != 0 || !scan.refines {
                return Err(bits.input.damaged("a run of zeros leaves its block"));
            }
            break;
        }
        block[usize::from(ZIGZAG[k])] = value;
        k += 1;
    }
    if *blocks_to_skip > 0 {
        *blocks_to_skip -= 1;
        if scan.refines {
            for &place in &ZIGZAG[k..=scan.last] {
                let coefficient = &mut block[usize::from(place)];
                if *coefficient != 0 {
                    refine(bits, coefficient, unit)?;
                }
            }
        }
    }
    Ok(())
}

/// One more bit of a coefficient that is not zero, away from zero.
fn refine(bits: &mut Bits<'_, '_>, coefficient: &mut i16, unit: i16) -> Result<(), PictureError> {
    if bits.take(1)? == 1 && *coefficient & unit == 0 {
        let step = if *coefficient > 0 { unit } else { -unit };
        *coefficient = coefficient.wrapping_add(step);
    }
    Ok(())
}

/// All samples of a component, from 0 to 255, in rows of whole blocks.
fn samples(component: &Component, divisors: &[u16; BLOCK]) -> Vec<u8> {
    let cosines = cosines();
    let width = component.stride * 8;
    let mut plane = vec![0; component.coefficients.len()];
    for (number, block) in component.coefficients.chunks_exact(BLOCK).enumerate() {
        let mut values = [0f32; BLOCK];
        for (value, (&coefficient, &divisor)) in values.iter_mut().zip(block.iter().zip(divisors)) {
            *value = f32::from(coefficient) * f32::from(divisor);
        }
        let (left, top) = (number % component.stride * 8, number / component.stride * 8);
        for (at, value) in transformed(&values, &cosines).into_iter().enumerate() {
            // `as` keeps what leaves the range at its ends.
            plane[(top + at / 8) * width + left + at % 8] = (value + 128.0).round() as u8;
        }
    }
    plane
}

/// `cosines[x][u]`: half of the u-th cosine of the transform at sample x, with its norm.
fn cosines() -> [[f32; 8]; 8] {
    let mut table = [[0.0; 8]; 8];
    for (x, row) in table.iter_mut().enumerate() {
        for (u, entry) in row.iter_mut().enumerate() {
            let norm = if u == 0 { std::f64::consts::FRAC_1_SQRT_2 } else { 1.0 };
            let angle = (2 * x + 1) as f64 * u as f64 * std::f64::consts::PI / 16.0;
            *entry = (0.5 * norm * angle.cos()) as f32;
        }
    }
    table
}

/// The inverse cosine transform of a block, columns first.
fn transformed(values: &[f32; BLOCK], cosines: &[[f32; 8]; 8]) -> [f32; BLOCK] {
    let mut columns = [0f32; BLOCK];
    for y in 0..8 {
        for u in 0..8 {
            columns[y * 8 + u] = (0..8).map(|v| cosines[y][v] * values[v * 8 + u]).sum();
        }
    }
    let mut result = [0f32; BLOCK];
    for y in 0..8 {
        for x in 0..8 {
            result[y * 8 + x] = (0..8).map(|u| cosines[x][u] * columns[y * 8 + u]).sum();
        }
    }
    result
}

/// A canonical Huffman code (T.81, annex C).
struct HuffmanCode {
    /// For each length from 1 to 16: the first code that is longer than that, and what to add to a code for the index
    /// of its symbol.
    lengths: [(i32, i32); 16],
    symbols: Vec<u8>,
}

impl HuffmanCode {
    fn read(segment: &mut Input<'_>) -> Result<HuffmanCode, PictureError> {
        let mut counts = [0i32; 16];
        for count in &mut counts {
            *count = i32::from(segment.u8()?);
        }
        let mut lengths = [(0, 0); 16];
        let (mut code, mut symbol) = (0i32, 0i32);
        for (bits, (length, count)) in (1..).zip(lengths.iter_mut().zip(counts)) {
            *length = (code + count, symbol - code);
            code += count;
            symbol += count;
            if code > 1 << bits {
                return Err(segment.damaged("a code has more symbols than its length allows"));
            }
            code <<= 1;
        }
        let mut symbols = Vec::new();
        for _ in 0..symbol {
            symbols.push(segment.u8()?);
        }
        Ok(HuffmanCode { lengths, symbols })
    }
}

/// Bytes and the place that is read.
#[derive(Clone, Copy)]
struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    fn damaged(&self, what: impl Into<String>) -> PictureError {
        PictureError::Damaged { format: PictureFormat::Jpeg, byte: Some(self.at), what: what.into() }
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn u8(&mut self) -> Result<u8, PictureError> {
        let byte = self.bytes.get(self.at).copied().ok_or_else(|| self.damaged("it ends too early"))?;
        self.at += 1;
        Ok(byte)
    }

    fn u16(&mut self) -> Result<u16, PictureError> {
        Ok(u16::from_be_bytes([self.u8()?, self.u8()?]))
    }

    /// The next marker, without its first byte 0xff. What stands between a scan and a marker is skipped.
    fn marker(&mut self) -> Result<u8, PictureError> {
        loop {
            while self.u8()? != 0xff {}
            let mut byte = self.u8()?;
            while byte == 0xff {
                byte = self.u8()?;
            }
            if byte != 0 {
                return Ok(byte);
            }
        }
    }

    /// The segment that begins here with its length; reading goes on behind it.
    fn segment(&mut self) -> Result<Input<'a>, PictureError> {
        let start = self.at + 2;
        let length = usize::from(self.u16()?);
        let end = (start - 2).saturating_add(length);
        if length < 2 || end > self.bytes.len() {
            return Err(self.damaged(format!("a segment of {length} bytes is not whole")));
        }
        self.at = end;
        Ok(Input { bytes: &self.bytes[..end], at: start })
    }
}

/// Bits of a scan, the highest first; a byte 0 that follows 0xff is no part of them.
struct Bits<'a, 'b> {
    input: &'a mut Input<'b>,
    held: u32,
    count: u32,
}

impl Bits<'_, '_> {
    fn bit(&mut self) -> Result<u32, PictureError> {
        if self.count == 0 {
            let byte = self.input.u8()?;
            if byte == 0xff {
                match self.input.rest().first() {
                    Some(0) => self.input.at += 1,
                    _ => {
                        self.input.at -= 1;
                        return Err(self.input.damaged("a scan ends too early"));
                    }
                }
            }
            (self.held, self.count) = (u32::from(byte), 8);
        }
        self.count -= 1;
        Ok(self.held >> self.count & 1)
    }

    /// Up to 16 bits as a number.
    fn take(&mut self, count: u8) -> Result<u32, PictureError> {
        (0..count).try_fold(0, |value, _| Ok(value << 1 | self.bit()?))
    }

    /// A value of some bits, of which the lower half of the range is negative (T.81, F.2.2.1).
    fn signed(&mut self, size: u8) -> Result<i32, PictureError> {
        if size > 15 {
            return Err(self.input.damaged("a value has too many bits"));
        }
        let value = self.take(size)? as i32;
        let half = (1 << size) >> 1;
        Ok(if value < half { value - (1 << size) + 1 } else { value })
    }

    fn symbol(&mut self, code: &HuffmanCode) -> Result<u8, PictureError> {
        let mut found = 0;
        for &(end, offset) in &code.lengths {
            found = found << 1 | self.bit()? as i32;
            if found < end {
                let symbol = usize::try_from(found + offset).ok().and_then(|at| code.symbols.get(at));
                return symbol.copied().ok_or_else(|| self.input.damaged("a symbol is not in its code"));
            }
        }
        Err(self.input.damaged("these bits are in no code"))
    }

    /// Skips to the restart marker that must come next.
    fn restart(&mut self) -> Result<(), PictureError> {
        self.count = 0;
        match self.input.marker()? {
            0xd0..=0xd7 => Ok(()),
            _ => Err(self.input.damaged("a restart marker is missing")),
        }
    }
}
