//! Animated characters (SIM-01…04, ROH-07…10): skeletons, clips, skins, which may keep their volume (ROH-20…69).
//!
//! A [`CompiledRig`] is what a file holds, checked. A [`CharacterModel`] is one of them in a scene: where it stands, what it plays. [`Posed`] is
//! where it is at a time, from which its skin and what its bones carry follow. The animation drives the simulation, never the reverse (SIM-03).
//!
//! Promised: the same time gives the same bits; every place is finite. Not promised: that a skin does not cross itself, which depends on the
//! clip.

pub mod apart;
pub mod area;
pub mod bones;
pub mod bulge;
pub mod character;
pub mod clip;
pub mod crumpled;
pub mod generate;
pub mod incremental;
pub mod insert;
pub mod joints;
pub mod keeper;
pub mod layer;
mod pieces;
pub mod prisms;
pub mod rig;
pub mod skeleton;
pub mod skinning;
pub mod subdivide;
#[cfg(test)]
mod tests;
pub mod volume;
pub mod weights;
#[cfg(test)]
mod weights_tests;

pub use character::{BoneTurn, CharacterModel, MapModel, PlayedModel, Posed, SkinPoint};
pub use clip::{Clip, LocalPose, Track};
pub use keeper::{JointVolume, KeptVolume, OpenSkin, VolumeKeeper};
pub(crate) use layer::Keeps;
pub use layer::{Anchor, Layer, Rides, Wearer};
pub use prisms::LocalGains;
pub use rig::{CompiledRig, MAX_NODES, RigError, RigRepairs, SkinMesh};
pub use skeleton::{Skeleton, Transform, rigid_part};
pub use skinning::{BoneMotion, Influence};
pub use weights::WeightError;
