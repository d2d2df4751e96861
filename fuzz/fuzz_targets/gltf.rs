//! Any bytes as glTF, as a character and as a mesh.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| souple_fuzz::check_gltf(bytes));
