//! NIfTI-1 `.nii` and `.nii.gz` (FAU-14), after `nifti1.h` of the NIfTI Data Format Working Group.
//!
//! Read: the header of 348 bytes in either byte order; three dimensions, or more of which each has one entry; values of whole
//! numbers up to 32 bits, float and double, with their slope and intercept; units; the place of the axes by `sform`, else `qform`,
//! else the size of voxels alone. Pairs of files (`.hdr`, `.img`), NIfTI-2, complex numbers and colours are refused.

use souple::mesh::VoxelVolume;

use super::super::Place;
use super::super::numbers::Scalar;
use super::{Header, Unpacked, VolumeError, VolumeFormat, VolumeLimits};

const FORMAT: VolumeFormat = VolumeFormat::Nifti;

/// Size of the header.
const HEADER: usize = 348;

pub(super) fn read(bytes: &[u8], limits: &VolumeLimits) -> Result<VoxelVolume, VolumeError> {
    let mut data =
        if bytes.starts_with(&[0x1f, 0x8b]) { Unpacked::gzip(bytes) } else { Unpacked::Plain(bytes) };
    let mut raw = [0; HEADER];
    let has = data.fill(&mut raw);
    let raw = Raw::new(&raw, has)?;
    let header = raw.header()?;
    header.voxels(limits)?;
    let scalar = raw.scalar()?;
    let offset = raw.float(108);
    if !(HEADER as f32..=1e9).contains(&offset) {
        let what = format!("the data is said to begin at byte {offset}");
        return Err(wrong(108, what, "it begins at 352 or later: export the volume again"));
    }
    let skip = offset as u64 - HEADER as u64;
    if !data.skip(skip) {
        let (what, needs) = ("header", offset as u64);
        return Err(VolumeError::Truncated { format: FORMAT, what, has: HEADER as u64, needs });
    }
    let (slope, intercept) = (f64::from(raw.float(112)), f64::from(raw.float(116)));
    let scaled = slope != 0.0 && slope.is_finite() && intercept.is_finite();
    let change = |value: f64| if scaled { value * slope + intercept } else { value };
    let labels = header.read_values(&mut data, scalar, raw.big_endian, change, limits)?;
    header.assemble(labels, Place::Byte(76))
}

fn wrong(byte: usize, what: impl Into<String>, fix: &'static str) -> VolumeError {
    VolumeError::Malformed { format: FORMAT, place: Place::Byte(byte), what: what.into(), fix }
}

/// The header as it stands in the file.
struct Raw<'a> {
    bytes: &'a [u8; HEADER],
    big_endian: bool,
}

impl<'a> Raw<'a> {
    fn new(bytes: &'a [u8; HEADER], has: usize) -> Result<Raw<'a>, VolumeError> {
        if has < HEADER {
            let (what, needs) = ("header", HEADER as u64);
            return Err(VolumeError::Truncated { format: FORMAT, what, has: has as u64, needs });
        }
        let big_endian = match bytes.first_chunk::<4>() {
            Some([0x5c, 1, 0, 0]) => false,
            Some([0, 0, 1, 0x5c]) => true,
            Some([0x1c, 2, 0, 0] | [0, 0, 2, 0x1c]) => {
                return Err(wrong(
                    0,
                    "this is NIfTI-2, which is not read",
                    "save the volume as NIfTI-1 (.nii)",
                ));
            }
            _ => {
                return Err(wrong(
                    0,
                    "the file does not begin with 348 as NIfTI-1 does",
                    "check that the extension fits the content",
                ));
            }
        };
        match bytes.last_chunk::<4>() {
            Some(b"n+1\0") => Ok(Raw { bytes, big_endian }),
            Some(b"ni1\0") => {
                Err(wrong(344, "the data is in another file (.img)", "save the volume as one file (.nii)"))
            }
            _ => Err(wrong(
                344,
                "the mark 'n+1' is missing",
                "the file is of another kind or damaged: export it again",
            )),
        }
    }

    fn value(&self, scalar: Scalar, at: usize) -> f64 {
        self.bytes.get(at..).and_then(|left| scalar.value(left, self.big_endian)).unwrap_or_default()
    }

    fn short(&self, at: usize) -> i16 {
        self.value(Scalar::I16, at) as i16
    }

    fn float(&self, at: usize) -> f32 {
        self.value(Scalar::F32, at) as f32
    }

    fn header(&self) -> Result<Header, VolumeError> {
        let dimensions = self.short(40);
        if !(3..=7).contains(&dimensions) {
            let what = format!("the volume has {dimensions} dimensions");
            return Err(wrong(40, what, "export one volume of 3 dimensions"));
        }
        let mut size = [0; 3];
        for (axis, n) in size.iter_mut().enumerate() {
            let count = self.short(42 + 2 * axis);
            *n = u64::try_from(count).ok().filter(|&n| n > 0).ok_or_else(|| {
                wrong(
                    42 + 2 * axis,
                    format!("the volume has {count} voxels along an axis"),
                    "export it again",
                )
            })?;
        }
        // More axes, of time or of channels, may be there with one entry each.
        for axis in 3..dimensions as usize {
            let count = self.short(42 + 2 * axis);
            if count > 1 {
                let what = format!("the file holds {count} volumes, or so many numbers per voxel");
                return Err(wrong(42 + 2 * axis, what, "export one volume with one number per voxel"));
            }
        }
        let unit = match self.bytes.get(123).map_or(0, |units| units & 7) {
            2 => 1e-3,
            3 => 1e-6,
            _ => 1.0,
        };
        let (steps, origin) = self.orientation();
        let directions = steps.map(|step| step.map(|c| c * unit));
        Ok(Header { format: FORMAT, size, directions, origin: origin.map(|c| c * unit) })
    }

    /// Steps from voxel to voxel along each axis of the file, and the place of the first voxel.
    fn orientation(&self) -> ([[f64; 3]; 3], [f64; 3]) {
        let float = |at: usize| f64::from(self.float(at));
        if self.short(254) > 0 {
            let row = |row: usize, column: usize| float(280 + 16 * row + 4 * column);
            let steps = [0, 1, 2].map(|column| [0, 1, 2].map(|r| row(r, column)));
            return (steps, [0, 1, 2].map(|r| row(r, 3)));
        }
        let spacing = [0, 1, 2].map(|axis| float(80 + 4 * axis).abs());
        let [x, y, z] = spacing;
        if self.short(252) <= 0 {
            return ([[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]], [0.0; 3]);
        }
        let [b, c, d] = [256, 260, 264].map(float);
        let a = (1.0 - b * b - c * c - d * d).max(0.0).sqrt();
        // The third axis may be mirrored.
        let z = if float(76) < 0.0 { -z } else { z };
        let steps = [
            [a * a + b * b - c * c - d * d, 2.0 * (b * c + a * d), 2.0 * (b * d - a * c)].map(|v| v * x),
            [2.0 * (b * c - a * d), a * a + c * c - b * b - d * d, 2.0 * (c * d + a * b)].map(|v| v * y),
            [2.0 * (b * d + a * c), 2.0 * (c * d - a * b), a * a + d * d - c * c - b * b].map(|v| v * z),
        ];
        (steps, [268, 272, 276].map(float))
    }

    fn scalar(&self) -> Result<Scalar, VolumeError> {
        Ok(match self.short(70) {
            2 => Scalar::U8,
            4 => Scalar::I16,
            8 => Scalar::I32,
            16 => Scalar::F32,
            64 => Scalar::F64,
            256 => Scalar::I8,
            512 => Scalar::U16,
            768 => Scalar::U32,
            other => {
                let what = format!("values of data type {other} are not read");
                return Err(wrong(70, what, "convert the volume to whole numbers of 16 bits"));
            }
        })
    }
}
