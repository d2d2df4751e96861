//! Any bytes as the two files of TetGen.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| souple_fuzz::check_tetgen(bytes));
