//! Any bytes as PC2 and as MDD.
#![no_main]

use libfuzzer_sys::fuzz_target;
use souple_formats::export::point_cache::{PointCacheBudget, read_mdd, read_pc2};

fuzz_target!(|bytes: &[u8]| {
    let _ = read_pc2(bytes, &PointCacheBudget::default());
    let _ = read_mdd(bytes, &PointCacheBudget::default());
});
