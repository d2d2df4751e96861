//! Volumes of labelled voxels from bytes: NRRD and NIfTI-1 (FAU-14).
//!
//! Both are what tools for medical pictures write: 3D Slicer, ITK-SNAP, FreeSurfer. The values are taken as labels: whole numbers
//! from 0 to 65535; a fraction or a negative number says that the file holds a picture, not a segmentation, and is refused.
//! Lengths become metres if the file says its unit, and are taken as metres if it does not.
//!
//! Files may turn and mirror their axes. Here the voxels are put in order so that x, y and z go up along the axes of the file's
//! space that are nearest to them, with handedness kept; what is left of a turn, below 45°, is dropped. Promises, for any bytes at
//! all: no panic, memory in proportion to the bytes that the data has when unpacked, nothing allocated for a size that is only
//! announced. Nothing here opens files.

mod nifti;
mod nrrd;

use std::fmt;
use std::io::Read;

use flate2::read::MultiGzDecoder;
use souple::mesh::VoxelVolume;
use thiserror::Error;

use super::numbers::Scalar;

/// The formats of volumes that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VolumeFormat {
    /// NRRD, header and data in one file; raw, text or gzip.
    Nrrd,
    /// NIfTI-1, one file, plain or in gzip.
    Nifti,
}

impl VolumeFormat {
    /// Every format.
    pub const ALL: [VolumeFormat; 2] = [VolumeFormat::Nrrd, VolumeFormat::Nifti];

    /// The format that goes with the end of a file name, in upper or lower case: `.nrrd`, `.nhdr`, `.nii` or `.nii.gz`.
    pub fn from_file_name(name: &str) -> Option<VolumeFormat> {
        let name = name.to_ascii_lowercase();
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        if ends(&[".nrrd", ".nhdr"]) {
            Some(VolumeFormat::Nrrd)
        } else if ends(&[".nii", ".nii.gz"]) {
            Some(VolumeFormat::Nifti)
        } else {
            None
        }
    }
}

impl fmt::Display for VolumeFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            VolumeFormat::Nrrd => "NRRD",
            VolumeFormat::Nifti => "NIfTI",
        })
    }
}

/// The most a reader takes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeLimits {
    /// Most voxels.
    pub max_voxels: usize,
    /// Most bytes of the file.
    pub max_bytes: usize,
}

impl Default for VolumeLimits {
    fn default() -> Self {
        VolumeLimits { max_voxels: 1 << 28, max_bytes: 2 << 30 }
    }
}

/// Why a file is not a usable volume: the format, what is wrong and where, and what to do.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum VolumeError {
    /// There is not a single byte.
    #[error("{0}: the file is empty (0 bytes); export or copy it again")]
    EmptyFile(VolumeFormat),
    /// The file is larger than [`VolumeLimits::max_bytes`].
    #[error("{format}: the file has {bytes} bytes, the limit is {limit}; crop or resample the volume")]
    FileTooLarge {
        /// Format that was asked for.
        format: VolumeFormat,
        /// Size of the file.
        bytes: usize,
        /// The limit it exceeds.
        limit: usize,
    },
    /// More voxels than [`VolumeLimits::max_voxels`].
    #[error(
        "{format}: {} × {} × {} voxels are more than the limit of {limit}; crop or resample the volume",
        size[0], size[1], size[2]
    )]
    TooManyVoxels {
        /// Format of the file.
        format: VolumeFormat,
        /// Its size in voxels.
        size: [u64; 3],
        /// The limit it exceeds.
        limit: usize,
    },
    /// A size is 0.
    #[error("{0}: the volume has no voxels; export it again")]
    NoVoxels(VolumeFormat),
    /// Less data than the header announces.
    #[error(
        "{format}: the file has {has} bytes of {what} and needs {needs}: it is cut short or its header is wrong; export or copy \
         it again"
    )]
    Truncated {
        /// Format of the file.
        format: VolumeFormat,
        /// Of what there is too little.
        what: &'static str,
        /// How much there is, after unpacking.
        has: u64,
        /// How much there should be.
        needs: u64,
    },
    /// A value is no label.
    #[error(
        "{format}: voxel {voxel:?} has the value {value}, which is no label from 0 to 65535; export a segmentation (a label map), \
         not a picture"
    )]
    NotALabel {
        /// Format of the file.
        format: VolumeFormat,
        /// Which voxel, counted as in the file.
        voxel: [usize; 3],
        /// Its value.
        value: f64,
    },
    /// Anything else.
    #[error("{format}, {place}: {what}; {fix}")]
    Malformed {
        /// Format of the file.
        format: VolumeFormat,
        /// Where it stands.
        place: super::Place,
        /// What is wrong.
        what: String,
        /// What to do.
        fix: &'static str,
    },
}

/// Reads a volume. Time and memory are in proportion to the data; see the module for what is promised.
pub fn read_volume(
    bytes: &[u8],
    format: VolumeFormat,
    limits: &VolumeLimits,
) -> Result<VoxelVolume, VolumeError> {
    if bytes.is_empty() {
        return Err(VolumeError::EmptyFile(format));
    }
    if bytes.len() > limits.max_bytes {
        return Err(VolumeError::FileTooLarge { format, bytes: bytes.len(), limit: limits.max_bytes });
    }
    match format {
        VolumeFormat::Nrrd => nrrd::read(bytes, limits),
        VolumeFormat::Nifti => nifti::read(bytes, limits),
    }
}

/// Data as it stands in the file, or as it comes out of gzip.
enum Unpacked<'a> {
    Plain(&'a [u8]),
    Gzip(Box<MultiGzDecoder<&'a [u8]>>),
}

impl<'a> Unpacked<'a> {
    fn gzip(bytes: &'a [u8]) -> Unpacked<'a> {
        Unpacked::Gzip(Box::new(MultiGzDecoder::new(bytes)))
    }

    /// Fills as much of `out` as there is data for and says how much; damaged gzip data ends where it is damaged.
    fn fill(&mut self, out: &mut [u8]) -> usize {
        let mut filled = 0;
        while let Some(rest) = out.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let read = match self {
                Unpacked::Plain(bytes) => bytes.read(rest),
                Unpacked::Gzip(decoder) => decoder.read(rest),
            };
            match read {
                Ok(count @ 1..) => filled += count,
                Ok(0) | Err(_) => break,
            }
        }
        filled
    }

    /// Passes over bytes; false if there are not so many.
    fn skip(&mut self, count: u64) -> bool {
        let mut buffer = [0; 4096];
        let mut left = count;
        while left > 0 {
            let step = left.min(buffer.len() as u64) as usize;
            let read = buffer.get_mut(..step).map_or(0, |part| self.fill(part));
            if read == 0 {
                return false;
            }
            left -= read as u64;
        }
        true
    }
}

/// What a header says.
struct Header {
    format: VolumeFormat,
    size: [u64; 3],
    /// Step from voxel to voxel along each axis of the file, m.
    directions: [[f64; 3]; 3],
    /// Centre of the first voxel, m.
    origin: [f64; 3],
}

impl Header {
    /// The number of voxels, if it is allowed.
    fn voxels(&self, limits: &VolumeLimits) -> Result<usize, VolumeError> {
        if self.size.contains(&0) {
            return Err(VolumeError::NoVoxels(self.format));
        }
        let product = self.size.iter().try_fold(1u64, |product, &n| product.checked_mul(n));
        let fits = product.and_then(|n| usize::try_from(n).ok()).filter(|&n| n <= limits.max_voxels);
        fits.ok_or(VolumeError::TooManyVoxels {
            format: self.format,
            size: self.size,
            limit: limits.max_voxels,
        })
    }

    /// Reads binary values. `change` is what the header does to them.
    fn read_values(
        &self,
        data: &mut Unpacked<'_>,
        scalar: Scalar,
        big_endian: bool,
        change: impl Fn(f64) -> f64,
        limits: &VolumeLimits,
    ) -> Result<Vec<u16>, VolumeError> {
        let voxels = self.voxels(limits)?;
        let size = scalar.bytes();
        let needs = voxels as u64 * size as u64;
        let short = |has: u64| VolumeError::Truncated { format: self.format, what: "voxels", has, needs };
        if let Unpacked::Plain(bytes) = data
            && (bytes.len() as u64) < needs
        {
            return Err(short(bytes.len() as u64));
        }
        let mut labels = Vec::new();
        let mut buffer = vec![0; 8192 * size];
        while labels.len() < voxels {
            let step = (voxels - labels.len()).min(8192) * size;
            let part = buffer.get_mut(..step).unwrap_or_default();
            let filled = data.fill(part);
            let before = labels.len() as u64 * size as u64;
            for value in part.get(..filled).unwrap_or_default().chunks_exact(size) {
                let value = scalar.value(value, big_endian).map_or(f64::NAN, &change);
                labels.push(self.label(value, labels.len())?);
            }
            if filled < step {
                return Err(short(before + filled as u64));
            }
        }
        Ok(labels)
    }

    /// The label that a value is. Labels that were kept as floating point numbers may be a little off.
    fn label(&self, value: f64, index: usize) -> Result<u16, VolumeError> {
        let label = value.round();
        if (value - label).abs() <= 1e-4 && (0.0..=65535.0).contains(&label) {
            return Ok(label as u16);
        }
        let [nx, ny, _] = self.size.map(|n| usize::try_from(n).unwrap_or(usize::MAX).max(1));
        let voxel = [index % nx, index / nx % ny, index / nx / ny];
        Err(VolumeError::NotALabel { format: self.format, voxel, value })
    }

    /// The volume, its axes put in order.
    fn assemble(&self, labels: Vec<u16>, place: super::Place) -> Result<VoxelVolume, VolumeError> {
        let wrong = |what: &str, fix| {
            Err(VolumeError::Malformed { format: self.format, place, what: what.to_owned(), fix })
        };
        let lengths = self.directions.map(|d| d.iter().map(|c| c * c).sum::<f64>().sqrt());
        let is_sound = |length: &f64| length.is_finite() && *length > 0.0;
        if !lengths.iter().all(is_sound) || !self.origin.iter().all(|c| c.is_finite()) {
            return wrong(
                "the size of a voxel or the origin is not a number that can be used",
                "export the volume again",
            );
        }
        let Some(axes) = nearest_axes(&self.directions) else {
            return wrong(
                "two axes of the volume point the same way",
                "resample the volume to the axes of its space",
            );
        };
        let from = self.size.map(|n| n as usize); // fits: their product does
        let strides = [1, from[0], from[0] * from[1]];
        let mut volume = VoxelVolume { origin: self.origin, ..VoxelVolume::default() };
        let (mut first, mut steps) = (0, [0isize; 3]);
        for (file, &axis) in axes.iter().enumerate() {
            volume.size[axis] = from[file];
            volume.spacing[axis] = lengths[file];
            steps[axis] = strides[file] as isize;
            if self.directions[file][axis] < 0.0 {
                // It goes down: begin at its end.
                let last = from[file].saturating_sub(1);
                first += last * strides[file];
                steps[axis] = -steps[axis];
                for (c, origin) in volume.origin.iter_mut().enumerate() {
                    *origin += self.directions[file][c] * last as f64;
                }
            }
        }
        if steps == strides.map(|s| s as isize) {
            volume.labels = labels;
            return Ok(volume);
        }
        volume.labels.reserve_exact(labels.len());
        for k in 0..volume.size[2] as isize {
            for j in 0..volume.size[1] as isize {
                for i in 0..volume.size[0] as isize {
                    let at = first as isize + i * steps[0] + j * steps[1] + k * steps[2];
                    volume.labels.push(labels[at as usize]);
                }
            }
        }
        Ok(volume)
    }
}

/// For each axis of the file that of space which it is nearest to; none if two have the same.
fn nearest_axes(directions: &[[f64; 3]; 3]) -> Option<[usize; 3]> {
    let mut axes = [0; 3];
    for (file, direction) in directions.iter().enumerate() {
        let along = |axis: &usize| direction[*axis].abs();
        axes[file] = (0..3).max_by(|a, b| along(a).total_cmp(&along(b)))?;
    }
    let mut sorted = axes;
    sorted.sort_unstable();
    (sorted == [0, 1, 2]).then_some(axes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_put_in_order() {
        // Along the file: 3 voxels down y, 2 up x; a turn of a few degrees is dropped.
        let directions = [[0.01, -0.5, 0.0], [0.2, 0.0, 0.0], [0.0, 0.0, 1.0]];
        let header =
            Header { format: VolumeFormat::Nrrd, size: [3, 2, 1], directions, origin: [1.0, 5.0, 0.0] };
        let volume = header.assemble(vec![1, 2, 3, 4, 5, 6], super::super::Place::Byte(0)).unwrap();
        assert_eq!((volume.size, volume.origin), ([2, 3, 1], [1.02, 4.0, 0.0]));
        assert_eq!(volume.labels, [3, 6, 2, 5, 1, 4]);
        let same = Header { directions: [[1.0, 0.0, 0.0], [1.0, 0.5, 0.0], [0.0, 0.0, 1.0]], ..header };
        assert!(same.assemble(vec![0; 6], super::super::Place::Byte(0)).is_err());
    }
}
