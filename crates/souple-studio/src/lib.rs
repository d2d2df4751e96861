//! The studio: a person opens a scene, sees it move, touches it, changes it while it runs, and saves it.
//!
//! The core knows no window and no drawing, so that all of it is tested without one: the edited scene ([`document`]), the
//! simulation on a thread of its own ([`worker`]), what it has shown so far ([`history`]), hands ([`tools`]) and keys
//! ([`keys`]). The panels are written on top of it.
#![forbid(unsafe_code)]

pub mod actions;
pub mod app;
pub mod assets;
mod bone_hand;
mod building;
pub mod characters;
pub mod dialogs;
pub mod document;
pub mod exports;
mod file_kinds;
mod gizmo;
pub mod history;
pub mod input;
pub mod keys;
mod marks;
pub mod painting;
pub mod panels;
mod paper_hand;
mod pending;
pub mod playback;
mod player;
pub mod ranges;
pub mod report;
mod scene_files;
mod scissors;
pub mod sight;
pub mod start;
pub mod thumbnails;
pub mod tools;
pub mod viewport;
pub mod worker;
