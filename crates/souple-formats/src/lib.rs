//! Scene files, meshes, animations and pictures in and out of Souple.
#![forbid(unsafe_code)]

pub mod animation;
pub mod control_log;
pub mod export;
pub mod export_mesh;
pub mod import;
pub mod paper;
pub mod picture;
pub mod scene;
