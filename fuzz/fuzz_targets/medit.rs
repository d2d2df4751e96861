//! Any bytes as MEDIT.
#![no_main]

use libfuzzer_sys::fuzz_target;
use souple_formats::import::MeshFormat;

fuzz_target!(|bytes: &[u8]| souple_fuzz::check_solid(bytes, MeshFormat::Medit));
