//! Any text as a control stream: it may be refused, naming a line; a log that comes out reads back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use souple_formats::control_log::{read_control_log, write_control_log};

fuzz_target!(|text: &str| {
    if let Ok(log) = read_control_log(text) {
        assert_eq!(read_control_log(&write_control_log(&log)).as_ref(), Ok(&log));
    }
});
