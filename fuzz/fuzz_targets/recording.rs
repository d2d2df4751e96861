//! Any bytes as a recording, with a right checksum put at their end so that what is inside is reached.
#![no_main]

use libfuzzer_sys::fuzz_target;
use souple::Recording;
use souple_formats::control_log::{read_control_log, write_control_log};

fuzz_target!(|bytes: &[u8]| {
    let read =
        |bytes: &[u8]| Recording::from_bytes(bytes, |text| read_control_log(text).map_err(|e| e.to_string()));
    let _ = read(bytes);
    if let Ok(recording) = read(&souple::snapshot::with_checksum(bytes)) {
        assert_eq!(read(&recording.to_bytes(write_control_log)).as_ref(), Ok(&recording));
    }
});
