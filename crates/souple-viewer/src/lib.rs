//! Draws scenes: the same picture in a window, in a file and in a test.
//!
//! What is seen is plain data. [`Capture`] turns a running [`souple::Simulation`] into a [`Moment`] (positions, speeds,
//! contacts of one instant; ESSI-51: the simulated object and its graphic counterpart are strictly separate), [`Looks`]
//! says how each item of it is shaded, [`Camera`] from where. Two renderers take those three: [`gpu::Renderer`] (wgpu;
//! every style, soft shadows, 4× multisampling) and the slow twin [`cpu`], which needs no driver at all and knows
//! standard, wireframe and the five analysis looks. [`Artist`] picks whichever there is and returns a picture.
//!
//! A style is one WGSL file in `styles/` whose header declares its parameters ([`style`]); a user's own file works the
//! same way (ESSI-54).

pub mod backdrop;
pub mod camera;
pub mod capture;
pub mod cpu;
pub mod environment;
pub mod geometry;
pub mod gpu;
pub mod looks;
pub mod overlay;
pub mod pick;
pub mod sheets;
pub mod style;

mod artist;

pub use artist::{Artist, ArtistError, Timings, WhichRenderer};
pub use backdrop::Extent;
pub use camera::Camera;
pub use capture::{Capture, Crossings, Gains, Item, ItemKind, ItemMesh, Moment};
pub use looks::{ItemLook, Line, Looks, Marker, Marks};
