//! Any bytes as a skeleton of a small mesh.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| souple_fuzz::check_skeleton(bytes));
