//! Meshes: triangle meshes, generators, spring layouts, topology that may tear or be cut.

pub mod cells;
mod closed;
mod collider;
pub mod cut;
pub mod generate;
pub mod geodesic;
mod hinges;
pub mod layout;
pub mod octree;
mod opening;
pub mod patch;
pub mod polygons;
pub mod star;
pub mod surface_nets;
pub mod tear;
pub mod tetrahedron;
mod topology;
mod triangle;
mod voxel_volume;
pub mod voxels;

pub use closed::{enclosed_volume, open_edges, winding_number};
pub use collider::{ColliderMesh, ColliderMeshError, MAX_TRIANGLES, MeshRepairs};
pub use patch::Patch;
pub use topology::{Edge, HopSearch, Rows, Spring, SpringFamily, Topology, mesh_edges, neighbours};
pub use triangle::{MAX_VERTICES, MeshError, MeshLint, TriMesh, bounds, triangle_area, vertex_normals};
pub use voxel_volume::VoxelVolume;
