//! Any bytes as PNG or JPEG.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| souple_fuzz::check_picture(bytes));
