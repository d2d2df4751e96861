//! Any bytes as NIfTI-1.
#![no_main]

use libfuzzer_sys::fuzz_target;
use souple_formats::import::volume::VolumeFormat;

fuzz_target!(|bytes: &[u8]| souple_fuzz::check_volume(bytes, VolumeFormat::Nifti));
