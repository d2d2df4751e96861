//! Vertices of items on the GPU. What did not change since the last frame is not sent again.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use crate::capture::{Item, ItemMesh};
use crate::geometry;
use crate::style::Quantity;

/// What is sent for each vertex whenever it moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct GpuVertex {
    pub position: [f32; 3],
    pub normal: [f32; 3],
    pub value: f32,
}

/// A buffer that grows as needed.
#[derive(Debug)]
pub(super) struct GrowingBuffer {
    label: &'static str,
    usage: wgpu::BufferUsages,
    buffer: Option<wgpu::Buffer>,
}

impl GrowingBuffer {
    pub fn new(label: &'static str, usage: wgpu::BufferUsages) -> GrowingBuffer {
        GrowingBuffer { label, usage: usage | wgpu::BufferUsages::COPY_DST, buffer: None }
    }

    /// Fills it with that data; nothing when there is none.
    pub fn write<T: Pod>(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, data: &[T]) {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        if bytes.is_empty() {
            return;
        }
        let needed = bytes.len() as u64;
        let buffer = match &self.buffer {
            Some(buffer) if buffer.size() >= needed => buffer,
            // Half as much again, so that a cloth that tears does not need a new one at every tear.
            _ => self.buffer.insert(
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some(self.label),
                    size: (needed + needed / 2)
                        .min(device.limits().max_buffer_size)
                        .max(needed)
                        .next_multiple_of(16),
                    usage: self.usage,
                    mapped_at_creation: false,
                }),
            ),
        };
        queue.write_buffer(buffer, 0, bytes);
    }

    pub fn get(&self) -> Option<&wgpu::Buffer> {
        self.buffer.as_ref()
    }
}

/// One item on the GPU.
#[derive(Debug)]
pub(super) struct GpuItem {
    vertices: GrowingBuffer,
    uvs: GrowingBuffer,
    triangles: GrowingBuffer,
    edges: GrowingBuffer,
    pub triangle_indices: u32,
    pub edge_indices: u32,
    scratch: Vec<GpuVertex>,
    normals: Vec<Vec3>,
    /// What the buffers hold.
    held: Option<Held>,
    /// Vertices that were sent the last time.
    pub sent: usize,
}

#[derive(Debug)]
struct Held {
    mesh: Arc<ItemMesh>,
    positions: Arc<Vec<Vec3>>,
    painted: Arc<Vec<f32>>,
    shown: Option<(Quantity, [f32; 2])>,
    as_edges: bool,
}

impl GpuItem {
    pub fn new() -> GpuItem {
        let (vertex, index) = (wgpu::BufferUsages::VERTEX, wgpu::BufferUsages::INDEX);
        GpuItem {
            vertices: GrowingBuffer::new("vertices", vertex),
            uvs: GrowingBuffer::new("texture coordinates", vertex),
            triangles: GrowingBuffer::new("triangles", index),
            edges: GrowingBuffer::new("edges", index),
            triangle_indices: 0,
            edge_indices: 0,
            scratch: Vec::new(),
            normals: Vec::new(),
            held: None,
            sent: 0,
        }
    }

    /// Sends what changed. Smooth normals are computed here.
    pub fn upload(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        item: &Item,
        shown: Option<(Quantity, [f32; 2])>,
        as_edges: bool,
    ) {
        let held = self.held.as_ref();
        let (mesh, positions) = item.drawn();
        let same_mesh = held.is_some_and(|held| Arc::ptr_eq(&held.mesh, mesh));
        let same_place = held.is_some_and(|held| Arc::ptr_eq(&held.positions, positions));
        self.sent = 0;
        if same_mesh
            && same_place
            && held.is_some_and(|held| {
                held.shown == shown && held.as_edges == as_edges && Arc::ptr_eq(&held.painted, &item.painted)
            })
        {
            return;
        }
        let values = shown.map(|(quantity, range)| (item.drawn_values(quantity.values(item)), range));
        let value = |vertex: usize| match &values {
            Some((values, [low, high])) => (values[vertex] - low) / (high - low),
            None => 0.0,
        };
        self.scratch.clear();
        if mesh.segments.is_empty() {
            geometry::vertex_normals(positions, &mesh.triangles, &mut self.normals);
            let vertices = positions.iter().zip(&self.normals).enumerate();
            self.scratch.extend(vertices.map(|(k, (p, n))| GpuVertex {
                position: p.to_array(),
                normal: n.to_array(),
                value: value(k),
            }));
            if !same_mesh {
                self.uvs.write(device, queue, &padded(&mesh.uvs, positions.len()));
                self.indices(device, queue, &mesh.triangles, &mesh.edges);
            }
        } else {
            let tube = geometry::tube(positions, &mesh.segments, mesh.rope_radius, geometry::ROPE_SIDES);
            let vertices = tube.positions.iter().zip(&tube.normals).zip(&tube.source);
            self.scratch.extend(vertices.map(|((p, n), source)| GpuVertex {
                position: p.to_array(),
                normal: n.to_array(),
                value: value(*source as usize),
            }));
            self.uvs.write(device, queue, &padded(&tube.uvs, tube.positions.len()));
            // A wireframe of a rope is that of its tube; there are so many edges that they are made only for it.
            let outlined = if as_edges { &tube.triangles[..] } else { &[] };
            let edges: Vec<[u32; 2]> = outlined.iter().flat_map(|t| [[t[0], t[1]], [t[1], t[2]]]).collect();
            self.indices(device, queue, &tube.triangles, &edges);
        }
        self.vertices.write(device, queue, &self.scratch);
        self.sent = self.scratch.len();
        let (mesh, positions) = (Arc::clone(mesh), Arc::clone(positions));
        let painted = Arc::clone(&item.painted);
        self.held = Some(Held { mesh, positions, painted, shown, as_edges });
    }

    fn indices(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        triangles: &[[u32; 3]],
        edges: &[[u32; 2]],
    ) {
        self.triangles.write(device, queue, triangles);
        self.edges.write(device, queue, edges);
        self.triangle_indices = 3 * triangles.len() as u32;
        self.edge_indices = 2 * edges.len() as u32;
    }

    /// Draws its triangles, or its edges, with the pipeline that is set.
    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>, edges: bool) {
        let (indices, count) = match edges {
            true => (&self.edges, self.edge_indices),
            false => (&self.triangles, self.triangle_indices),
        };
        let (Some(vertices), Some(uvs), Some(indices)) = (self.vertices.get(), self.uvs.get(), indices.get())
        else {
            return;
        };
        pass.set_vertex_buffer(0, vertices.slice(..));
        pass.set_vertex_buffer(1, uvs.slice(..));
        pass.set_index_buffer(indices.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..count, 0, 0..1);
    }
}

/// Texture coordinates, one per vertex even if there are fewer.
fn padded(uvs: &[[f32; 2]], count: usize) -> Vec<[f32; 2]> {
    let mut uvs = uvs.to_vec();
    uvs.resize(count, [0.0; 2]);
    uvs
}
