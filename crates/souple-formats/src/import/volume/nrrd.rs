//! NRRD, header and data in one file (FAU-14), after the "Definition of NRRD File Format" of Teem 1.10.
//!
//! Read: three dimensions; types of whole numbers up to 32 bits, float and double; encodings raw, text and gzip; either byte
//! order; `space directions`, `spacings`, `space origin`, `space units` and `units`; `line skip` and `byte skip`. Data in another
//! file (`.nhdr`), the encodings hex and bzip2, and volumes with a fourth axis of time or of channels are refused with what to do.

use souple::mesh::VoxelVolume;

use super::super::Place;
use super::super::numbers::Scalar;
use super::super::reader::{Words, excerpt};
use super::{Header, Unpacked, VolumeError, VolumeFormat, VolumeLimits};

const FORMAT: VolumeFormat = VolumeFormat::Nrrd;

/// Lines of a header before the data, with what they say.
#[derive(Default)]
struct Fields {
    scalar: Option<Scalar>,
    dimension: Option<u64>,
    sizes: Option<Vec<u64>>,
    encoding: Option<Encoding>,
    big_endian: bool,
    spacings: Option<[f64; 3]>,
    directions: Option<[[f64; 3]; 3]>,
    origin: [f64; 3],
    unit: Option<f64>,
    line_skip: u64,
    /// −1 stands for "the data is at the end of the file".
    byte_skip: i64,
}

#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Raw,
    Text,
    Gzip,
}

pub(super) fn read(bytes: &[u8], limits: &VolumeLimits) -> Result<VoxelVolume, VolumeError> {
    if !bytes.starts_with(b"NRRD000") {
        let fix = "check that the extension fits the content";
        return Err(wrong(Place::Line(1), "an NRRD file begins with 'NRRD000', this one does not", fix));
    }
    let mut fields = Fields::default();
    let (at, line) = read_header(bytes, &mut fields)?;
    let place = Place::Line(line);
    let missing = |name: &str| wrong(place, format!("the header has no '{name}'"), "export the volume again");
    let scalar = fields.scalar.ok_or_else(|| missing("type"))?;
    let encoding = fields.encoding.ok_or_else(|| missing("encoding"))?;
    let dimension = fields.dimension.ok_or_else(|| missing("dimension"))?;
    let sizes = fields.sizes.as_deref().ok_or_else(|| missing("sizes"))?;
    let &[x, y, z] = sizes else {
        let what = format!("the volume has {dimension} dimensions and {} sizes", sizes.len());
        return Err(wrong(place, what, "export one volume of 3 dimensions, with one number per voxel"));
    };
    if dimension != 3 {
        let what = format!("the volume has {dimension} dimensions");
        return Err(wrong(place, what, "export one volume of 3 dimensions, with one number per voxel"));
    }
    let unit = fields.unit.unwrap_or(1.0);
    let spacings = fields.spacings.unwrap_or([1.0; 3]);
    let steps = fields.directions.unwrap_or_else(|| {
        let [x, y, z] = spacings;
        [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]]
    });
    let directions = steps.map(|step| step.map(|c| c * unit));
    let header =
        Header { format: FORMAT, size: [x, y, z], directions, origin: fields.origin.map(|c| c * unit) };
    let voxels = header.voxels(limits)?;
    let data = skip_lines(bytes, at, fields.line_skip);
    let labels = match encoding {
        Encoding::Text => read_text(data, &header, voxels)?,
        Encoding::Raw | Encoding::Gzip => {
            let mut data =
                if encoding == Encoding::Gzip { Unpacked::gzip(data) } else { Unpacked::Plain(data) };
            let needs = voxels as u64 * scalar.bytes() as u64;
            let skip = match (u64::try_from(fields.byte_skip), &data) {
                (Ok(skip), _) => skip,
                (Err(_), Unpacked::Plain(bytes)) => (bytes.len() as u64).saturating_sub(needs),
                (Err(_), Unpacked::Gzip(_)) => {
                    return Err(wrong(
                        place,
                        "a byte skip of -1 goes with raw data only",
                        "export the volume again",
                    ));
                }
            };
            if !data.skip(skip) {
                return Err(VolumeError::Truncated { format: FORMAT, what: "voxels", has: 0, needs });
            }
            header.read_values(&mut data, scalar, fields.big_endian, |value| value, limits)?
        }
    };
    header.assemble(labels, place)
}

fn wrong(place: Place, what: impl Into<String>, fix: &'static str) -> VolumeError {
    VolumeError::Malformed { format: FORMAT, place, what: what.into(), fix }
}

/// Reads the header and returns where the data begins, and the last line before it.
fn read_header(bytes: &[u8], fields: &mut Fields) -> Result<(usize, usize), VolumeError> {
    let (mut at, mut line) = (0, 0);
    loop {
        let left = bytes.get(at..).unwrap_or_default();
        let Some(end) = left.iter().position(|&byte| byte == b'\n') else {
            let fix = "the file is cut short: export or copy it again";
            return Err(wrong(Place::Line(line + 1), "the header does not end with an empty line", fix));
        };
        let text = left.get(..end).unwrap_or_default();
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        (at, line) = (at + end + 1, line + 1);
        if text.is_empty() {
            return Ok((at, line));
        }
        if line == 1 || text.starts_with(b"#") {
            continue;
        }
        let place = Place::Line(line);
        let Some(colon) = text.iter().position(|&byte| byte == b':') else {
            let what = format!("the header line '{}' is not understood", excerpt(text));
            return Err(wrong(place, what, "write it as: field: value"));
        };
        if text.get(colon + 1) == Some(&b'=') {
            continue; // a note of some program
        }
        let field = text.get(..colon).unwrap_or_default().to_ascii_lowercase();
        let value = text.get(colon + 1..).unwrap_or_default().trim_ascii();
        read_field(&field, value, place, fields)?;
    }
}

fn read_field(field: &[u8], value: &[u8], place: Place, fields: &mut Fields) -> Result<(), VolumeError> {
    let not_known =
        |what: &str, fix| Err(wrong(place, format!("{what} '{}' is not read", excerpt(value)), fix));
    let parts = || value.split(u8::is_ascii_whitespace).filter(|part| !part.is_empty());
    let lower = value.to_ascii_lowercase();
    match field {
        b"type" => {
            fields.scalar = scalar(&lower);
            if fields.scalar.is_none() {
                return not_known("type", "convert the volume to whole numbers of 16 bits (unsigned short)");
            }
        }
        b"dimension" => fields.dimension = Some(number(value, place)?),
        b"sizes" => {
            fields.sizes = Some(parts().take(17).map(|part| number(part, place)).collect::<Result<_, _>>()?)
        }
        b"encoding" => {
            fields.encoding = Some(match lower.as_slice() {
                b"raw" => Encoding::Raw,
                b"txt" | b"text" | b"ascii" => Encoding::Text,
                b"gz" | b"gzip" => Encoding::Gzip,
                _ => return not_known("encoding", "save the volume as raw or gzip"),
            });
        }
        b"endian" => {
            fields.big_endian = match lower.as_slice() {
                b"big" => true,
                b"little" => false,
                _ => return not_known("endian", "write little or big"),
            }
        }
        b"data file" | b"datafile" => {
            return not_known("a data file", "save the volume as one file, header and data together (.nrrd)");
        }
        b"spacings" => {
            let mut spacings = [0.0; 3];
            if parts().count() != 3 {
                return not_known("spacings", "give three numbers");
            }
            for (spacing, part) in spacings.iter_mut().zip(parts()) {
                *spacing = number::<f64>(part, place)?.abs();
                if !spacing.is_finite() {
                    return not_known("spacings", "give three numbers in the unit of the file");
                }
            }
            fields.spacings = Some(spacings);
        }
        b"space directions" => {
            let [a, b, c] = vectors(value, place)?[..] else {
                return not_known("space directions", "give three vectors, as (1,0,0) (0,1,0) (0,0,1)");
            };
            fields.directions = Some([a, b, c]);
        }
        b"space origin" => {
            let [origin] = vectors(value, place)?[..] else {
                return not_known("space origin", "give one vector, as (0,0,0)");
            };
            fields.origin = origin;
        }
        b"space units" | b"units" => {
            let is_first = |unit: &&str| !unit.trim().is_empty();
            let text = String::from_utf8_lossy(value).into_owned();
            let first = text.split('"').find(is_first).map(str::trim).unwrap_or_default().to_owned();
            fields.unit = unit(&first).or(fields.unit);
            if fields.unit.is_none() && !first.is_empty() {
                let what = format!("the unit '{}' is not known", excerpt(first.as_bytes()));
                return Err(wrong(place, what, "use \"mm\", \"cm\" or \"m\""));
            }
        }
        b"line skip" | b"lineskip" => fields.line_skip = number(value, place)?,
        b"byte skip" | b"byteskip" => {
            fields.byte_skip = number(value, place)?;
            if fields.byte_skip < -1 {
                return not_known("byte skip", "give a number that is not negative, or -1");
            }
        }
        // Kinds, names, ranges and what else there may be.
        _ => {}
    }
    Ok(())
}

fn scalar(name: &[u8]) -> Option<Scalar> {
    Some(match name {
        b"signed char" | b"int8" | b"int8_t" => Scalar::I8,
        b"uchar" | b"unsigned char" | b"uint8" | b"uint8_t" => Scalar::U8,
        b"short" | b"short int" | b"signed short" | b"signed short int" | b"int16" | b"int16_t" => {
            Scalar::I16
        }
        b"ushort" | b"unsigned short" | b"unsigned short int" | b"uint16" | b"uint16_t" => Scalar::U16,
        b"int" | b"signed int" | b"int32" | b"int32_t" => Scalar::I32,
        b"uint" | b"unsigned int" | b"uint32" | b"uint32_t" => Scalar::U32,
        b"float" => Scalar::F32,
        b"double" => Scalar::F64,
        _ => return None,
    })
}

/// Metres per unit.
fn unit(name: &str) -> Option<f64> {
    match name.to_lowercase().as_str() {
        "m" | "meter" | "metre" | "meters" | "metres" => Some(1.0),
        "cm" => Some(1e-2),
        "mm" | "millimeter" | "millimetre" | "millimeters" => Some(1e-3),
        "um" | "µm" | "μm" | "micron" | "microns" => Some(1e-6),
        _ => None,
    }
}

fn number<T: std::str::FromStr>(word: &[u8], place: Place) -> Result<T, VolumeError> {
    let parsed = std::str::from_utf8(word).ok().and_then(|text| text.trim().parse().ok());
    parsed.ok_or_else(|| {
        wrong(place, format!("'{}' is not a number that fits here", excerpt(word)), "export the volume again")
    })
}

/// Vectors such as `(1,0,0)`; those that are `none` are left out.
fn vectors(value: &[u8], place: Place) -> Result<Vec<[f64; 3]>, VolumeError> {
    let mut found = Vec::new();
    for part in value.split(|&byte| byte == b'(').skip(1).take(17) {
        let inside = part.split(|&byte| byte == b')').next().unwrap_or_default();
        let mut vector = [0.0f64; 3];
        let mut numbers = inside.split(|&byte| byte == b',');
        for c in &mut vector {
            *c = number(numbers.next().unwrap_or_default(), place)?;
        }
        if numbers.next().is_some() || vector.iter().any(|c| !c.is_finite()) {
            let what = format!("'({})' is not a vector of three numbers", excerpt(inside));
            return Err(wrong(place, what, "the space of the volume must have 3 dimensions"));
        }
        found.push(vector);
    }
    Ok(found)
}

fn skip_lines(bytes: &[u8], mut at: usize, lines: u64) -> &[u8] {
    for _ in 0..lines {
        let left = bytes.get(at..).unwrap_or_default();
        match left.iter().position(|&byte| byte == b'\n') {
            Some(end) => at += end + 1,
            None => return &[],
        }
    }
    bytes.get(at..).unwrap_or_default()
}

fn read_text(data: &[u8], header: &Header, voxels: usize) -> Result<Vec<u16>, VolumeError> {
    let mut words = Words::new(data, 0, 1);
    let mut labels = Vec::new();
    while labels.len() < voxels {
        let Some(word) = words.first_word() else {
            let (has, needs) = (data.len() as u64, 2 * voxels as u64);
            return Err(VolumeError::Truncated {
                format: FORMAT,
                what: "voxels as text, or more,",
                has,
                needs,
            });
        };
        // Commas separate too, as some programs write them.
        for part in
            word.split(|&byte| byte == b',').filter(|part| !part.is_empty()).take(voxels - labels.len())
        {
            let value = number(part, Place::Byte(words.offset()))?;
            labels.push(header.label(value, labels.len())?);
        }
    }
    Ok(labels)
}
