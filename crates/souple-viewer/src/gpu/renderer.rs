//! One frame: shadows, surfaces, ground, background, lines, what is transparent, points (ESSI-56, ESSI-57).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec3, Vec4};
use souple_formats::picture::Picture;

use super::buffers::{GpuItem, GrowingBuffer};
use super::pipelines::Pipelines;
use super::textures::{self, Target};
use super::{GpuError, SAMPLES, SHADOW_SIZE, guarded};
use crate::backdrop::Backdrop;
use crate::camera::Camera;
use crate::capture::{ItemKind, Moment};
use crate::environment::{SUN, Surroundings};
use crate::geometry::{cell_lines, silhouette_edges};
use crate::looks::{ItemLook, Line, Looks, Marker, Marks, linear, srgb};
use crate::overlay::{DIVERGING, SEQUENTIAL};
use crate::sheets::crease_lines;
use crate::style::{StyleSheet, StyleSource};

/// Width of the outlines of toons, pixels, in a picture 720 pixels high.
const OUTLINE: f32 = 2.4;
/// How much closer to the eye edges are drawn than they are, as a share: else they sink into what they lie on.
const EDGE_LIFT: f32 = 4e-3;
/// Items are this far apart in the buffer of uniforms, bytes: what every device can do.
const ITEM_STRIDE: u64 = 256;

/// See `Frame` in `shaders/common.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct FrameUniform {
    view_projection: Mat4,
    sun_projection: Mat4,
    eye: Vec4,
    sun: Vec4,
    sun_light: Vec4,
    background_top: Vec4,
    background_bottom: Vec4,
    size: Vec4,
    ground: Vec4,
    grid: Vec4,
    harmonics: [Vec4; 9],
    sequential: [Vec4; 9],
    diverging: [Vec4; 9],
}

/// See `Item` in `shaders/surface.wgsl`; padded to [`ITEM_STRIDE`].
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct ItemUniform {
    transform: Mat4,
    colour: Vec4,
    back_colour: Vec4,
    flags: Vec4,
    parameters: [Vec4; 2],
    padding: [Vec4; 7],
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct LineInstance {
    from: Vec3,
    to: Vec3,
    colour: [f32; 4],
    width: f32,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct PointInstance {
    at: Vec3,
    colour: [f32; 4],
    size: f32,
}

/// Draws moments into a texture of its own.
#[derive(Debug)]
pub struct Renderer {
    device: wgpu::Device,
    queue: wgpu::Queue,
    pipelines: Pipelines,
    samples: u32,
    target: Target,
    shadow_map: wgpu::TextureView,
    /// The surroundings on the device, and the direction of the sun they were made for.
    surroundings: (Surroundings, [Vec3; 9], wgpu::TextureView),
    frame_uniform: wgpu::Buffer,
    frame_group: wgpu::BindGroup,
    shadow_frame_group: wgpu::BindGroup,
    item_uniforms: GrowingBuffer,
    image_sampler: wgpu::Sampler,
    /// Groups of the textures in use, by the address of the picture; `None` is the plain white one.
    item_groups: BTreeMap<usize, (Option<Arc<Picture>>, wgpu::BindGroup)>,
    blank: wgpu::TextureView,
    items: BTreeMap<(u8, usize), GpuItem>,
    lines: [GrowingBuffer; 2],
    points: [GrowingBuffer; 2],
    upload_time: Duration,
    uploaded_vertices: usize,
    fault: Option<String>,
}

/// An item on its way through a frame.
struct Drawn<'a> {
    key: (u8, usize),
    look: &'a ItemLook,
    style: &'a Arc<StyleSource>,
    group: usize,
    offset: u32,
    distance: f32,
}

impl Renderer {
    /// A renderer on that device with that many samples per pixel: 4, or 1 where speed matters more than edges.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, samples: u32) -> Renderer {
        let samples = if samples > 1 { SAMPLES } else { 1 };
        let pipelines = Pipelines::new(device, samples);
        let frame_uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("frame"),
            size: size_of::<FrameUniform>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let shadow_map = textures::shadow_map(device);
        let surroundings = Surroundings { sun: Vec3::Y };
        let cube = textures::surroundings(device, queue, &surroundings);
        let frame_group = frame_group(device, &pipelines, &frame_uniform, &shadow_map, &cube);
        let shadow_frame_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("frame of shadows"),
            layout: &pipelines.shadow_frame_layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: frame_uniform.as_entire_binding() }],
        });
        let image_sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            address_mode_u: wgpu::AddressMode::Repeat,
            address_mode_v: wgpu::AddressMode::Repeat,
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            mipmap_filter: wgpu::MipmapFilterMode::Linear,
            ..Default::default()
        });
        let white = Picture { width: 1, height: 1, rgba: vec![255; 4] };
        let vertex = wgpu::BufferUsages::VERTEX;
        Renderer {
            samples,
            target: Target::new(device, (1, 1), samples),
            shadow_map,
            surroundings: (surroundings, surroundings.harmonics(), cube),
            frame_uniform,
            frame_group,
            shadow_frame_group,
            item_uniforms: GrowingBuffer::new("items", wgpu::BufferUsages::UNIFORM),
            image_sampler,
            item_groups: BTreeMap::new(),
            blank: textures::texture(device, queue, &white),
            items: BTreeMap::new(),
            lines: [GrowingBuffer::new("lines", vertex), GrowingBuffer::new("lines on top", vertex)],
            points: [GrowingBuffer::new("points", vertex), GrowingBuffer::new("points on top", vertex)],
            upload_time: Duration::ZERO,
            uploaded_vertices: 0,
            fault: None,
            device: device.clone(),
            queue: queue.clone(),
            pipelines,
        }
    }

    /// The texture that pictures are drawn into; its values are sRGB, its format does not say so.
    pub fn texture(&self) -> &wgpu::Texture {
        &self.target.texture
    }

    /// What the device refused while the last frame was drawn: the picture is not whole then.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// What the driver said of styles that it refused: name of the style and message.
    pub fn refused_styles(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pipelines.refused()
    }

    /// What the last frame spent on normals, values and sending vertices to the device, and how many they were.
    pub fn upload(&self) -> (Duration, usize) {
        (self.upload_time, self.uploaded_vertices)
    }

    /// Draws into the renderer's own texture. A picture without width or height is drawn with one pixel.
    pub fn draw(
        &mut self,
        moment: &Moment,
        looks: &Looks,
        marks: &Marks,
        styles: &StyleSheet,
        camera: &Camera,
        size: (u32, u32),
    ) -> &wgpu::TextureView {
        let device = self.device.clone();
        let ((), fault) =
            guarded(&device, || self.draw_unguarded(moment, looks, marks, styles, camera, size));
        self.fault = fault;
        &self.target.view
    }

    fn draw_unguarded(
        &mut self,
        moment: &Moment,
        looks: &Looks,
        marks: &Marks,
        styles: &StyleSheet,
        camera: &Camera,
        size: (u32, u32),
    ) {
        let max = self.device.limits().max_texture_dimension_2d;
        let size = (size.0.clamp(1, max), size.1.clamp(1, max));
        if self.target.size != size {
            self.target = Target::new(&self.device, size, self.samples);
        }
        let backdrop = Backdrop::of(moment, looks, camera);
        self.use_surroundings(Surroundings::new(&looks.view));
        let drawn = self.prepare(moment, looks, styles, camera);
        self.write_frame(moment, looks, camera, &backdrop, size);
        let counts = self.write_marks(moment, looks, &drawn, marks, camera, size);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        self.shadow_pass(&mut encoder, &drawn);
        self.picture_pass(&mut encoder, &drawn, &backdrop, counts);
        self.queue.submit([encoder.finish()]);
    }

    /// The picture that was drawn last.
    pub fn read_back(&self) -> Result<Picture, GpuError> {
        if let Some(fault) = &self.fault {
            return Err(GpuError::Lost(fault.clone()));
        }
        let (picture, fault) = guarded(&self.device, || self.read_back_unguarded());
        fault.map_or(picture, |fault| Err(GpuError::Lost(fault)))
    }

    fn read_back_unguarded(&self) -> Result<Picture, GpuError> {
        let (width, height) = self.target.size;
        // Rows in a buffer begin at multiples of 256 bytes.
        let row = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("read back"),
            size: u64::from(row) * u64::from(height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let layout =
            wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
        encoder.copy_texture_to_buffer(
            self.target.texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo { buffer: &buffer, layout },
            wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        );
        self.queue.submit([encoder.finish()]);
        let (sender, receiver) = std::sync::mpsc::channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            // The receiver waits below; if it gave up, nobody needs the answer.
            let _ = sender.send(result);
        });
        super::wait(&self.device)?;
        let lost = |error: &dyn std::fmt::Display| GpuError::Lost(error.to_string());
        receiver.recv().map_err(|error| lost(&error))?.map_err(|error| lost(&error))?;
        let bytes = buffer.get_mapped_range(..).map_err(|error| lost(&error))?;
        let rows = bytes.chunks_exact(row as usize).flat_map(|r| &r[..width as usize * 4]);
        Ok(Picture { width, height, rgba: rows.copied().collect() })
    }

    /// Makes the surroundings anew when the sun is elsewhere.
    fn use_surroundings(&mut self, surroundings: Surroundings) {
        if self.surroundings.0 == surroundings {
            return;
        }
        let cube = textures::surroundings(&self.device, &self.queue, &surroundings);
        self.frame_group =
            frame_group(&self.device, &self.pipelines, &self.frame_uniform, &self.shadow_map, &cube);
        self.surroundings = (surroundings, surroundings.harmonics(), cube);
    }

    /// Sends items and their uniforms, makes pipelines and textures that are missing, drops what is no longer shown.
    fn prepare<'a>(
        &mut self,
        moment: &Moment,
        looks: &'a Looks,
        styles: &'a StyleSheet,
        camera: &Camera,
    ) -> Vec<Drawn<'a>> {
        let mut uniforms = Vec::new();
        let mut drawn: Vec<Drawn<'a>> = Vec::new();
        (self.upload_time, self.uploaded_vertices) = (Duration::ZERO, 0);
        for item in &moment.items {
            let key = key(item.kind);
            let Some(look) = looks.of(item).filter(|look| look.visible) else { continue };
            let Some(style) = styles.get_or_standard(&look.style) else { continue };
            self.pipelines.prepare(&self.device, style);
            let shown = style.quantity.map(|quantity| (quantity, look.range.unwrap_or([0.0, 1.0])));
            let gpu_item = self.items.entry(key).or_insert_with(GpuItem::new);
            let clock = Instant::now();
            gpu_item.upload(&self.device, &self.queue, item, shown, style.edges);
            self.upload_time += clock.elapsed();
            self.uploaded_vertices += gpu_item.sent;
            let values = styles.values(look);
            let closed = matches!(item.kind, ItemKind::Collider(_)) || !item.mesh.segments.is_empty();
            let offset = (uniforms.len() as u64 * ITEM_STRIDE) as u32;
            uniforms.push(ItemUniform {
                transform: item.transform,
                colour: look.colour.extend(1.0),
                back_colour: look.back_colour.extend(1.0),
                flags: Vec4::new(
                    flag(look.texture.is_some()),
                    flag(closed),
                    EDGE_LIFT * flag(style.edges),
                    0.0,
                ),
                parameters: [Vec4::from_slice(&values[..4]), Vec4::from_slice(&values[4..])],
                padding: [Vec4::ZERO; 7],
            });
            let centre = item.positions.iter().copied().sum::<Vec3>() / item.positions.len().max(1) as f32;
            let distance = item.transform.transform_point3(centre).distance(camera.eye());
            drawn.push(Drawn { key, look, style, group: address(look), offset, distance });
        }
        let before = self.item_uniforms.get().map(wgpu::Buffer::size);
        self.item_uniforms.write(&self.device, &self.queue, &uniforms);
        if before != self.item_uniforms.get().map(wgpu::Buffer::size) {
            self.item_groups.clear();
        }
        self.item_groups.retain(|address, _| drawn.iter().any(|d| d.group == *address));
        self.items.retain(|key, _| drawn.iter().any(|d| d.key == *key));
        for d in &drawn {
            self.texture_group(d.look);
        }
        drawn
    }

    fn texture_group(&mut self, look: &ItemLook) {
        let (Some(uniforms), false) =
            (self.item_uniforms.get(), self.item_groups.contains_key(&address(look)))
        else {
            return;
        };
        let view = match &look.texture {
            Some(picture) if picture.check().is_ok() => {
                &textures::texture(&self.device, &self.queue, picture)
            }
            _ => &self.blank,
        };
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("item"),
            layout: &self.pipelines.item_layout,
            entries: &[
                wgpu::BindGroupEntry {
                    binding: 0,
                    resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer: uniforms,
                        offset: 0,
                        size: wgpu::BufferSize::new(ITEM_STRIDE),
                    }),
                },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::TextureView(view) },
                wgpu::BindGroupEntry {
                    binding: 2,
                    resource: wgpu::BindingResource::Sampler(&self.image_sampler),
                },
            ],
        });
        self.item_groups.insert(address(look), (look.texture.clone(), group));
    }

    fn write_frame(
        &self,
        moment: &Moment,
        looks: &Looks,
        camera: &Camera,
        backdrop: &Backdrop,
        size: (u32, u32),
    ) {
        let (width, height) = (size.0 as f32, size.1 as f32);
        let (top, bottom) = backdrop.background(&looks.view);
        let colours = |map: &[[f32; 3]; 9]| map.map(|colour| linear(colour).extend(1.0));
        let frame = FrameUniform {
            view_projection: camera.view_projection(width / height),
            sun_projection: backdrop.sun_projection(self.surroundings.0.sun),
            eye: camera.eye().extend(moment.time as f32),
            sun: self.surroundings.0.sun.extend(backdrop.shadow_pixel(SHADOW_SIZE)),
            sun_light: SUN.extend(1.0 / SHADOW_SIZE as f32),
            background_top: Vec3::from(srgb(top)).extend(1.0),
            background_bottom: Vec3::from(srgb(bottom)).extend(1.0),
            size: Vec4::new(width, height, 0.0, 0.0),
            ground: backdrop.ground_centre.extend(backdrop.ground_reach),
            grid: Vec4::new(backdrop.grid, 0.0, 0.0, 0.0),
            harmonics: self.surroundings.1.map(|h| h.extend(0.0)),
            sequential: colours(&SEQUENTIAL),
            diverging: colours(&DIVERGING),
        };
        self.queue.write_buffer(&self.frame_uniform, 0, bytemuck::bytes_of(&frame));
    }

    /// Sends lines and points; elements of solids and outlines of toons are among the lines. Returns how many there are of each.
    fn write_marks(
        &mut self,
        moment: &Moment,
        looks: &Looks,
        drawn: &[Drawn<'_>],
        marks: &Marks,
        camera: &Camera,
        size: (u32, u32),
    ) -> [u32; 4] {
        let mut outlines = cell_lines(moment, looks, size.1);
        outlines.extend(crease_lines(moment, looks, size.1));
        for d in drawn.iter().filter(|d| d.style.outline) {
            let Some(item) = moment.items.iter().find(|item| key(item.kind) == d.key) else { continue };
            let eye = item.transform.inverse().transform_point3(camera.eye());
            let width = OUTLINE * (size.1 as f32 / 720.0).max(0.5);
            let (mesh, positions) = item.drawn();
            for edge in silhouette_edges(mesh, positions, eye) {
                let [from, to] = edge.map(|v| item.transform.transform_point3(positions[v as usize]));
                let colour = [0.01, 0.01, 0.015, 1.0];
                outlines.push(Line { from, to, colour, width, on_top: false });
            }
        }
        let mut counts = [0; 4];
        for on_top in [false, true] {
            let k = usize::from(on_top);
            let lines: Vec<LineInstance> = outlines
                .iter()
                .chain(&marks.lines)
                .filter(|line| line.on_top == on_top)
                .map(|l| LineInstance { from: l.from, to: l.to, colour: l.colour, width: l.width })
                .collect();
            let of_kind = |point: &&Marker| point.on_top == on_top;
            let points = marks.points.iter().filter(of_kind);
            let points: Vec<PointInstance> =
                points.map(|p| PointInstance { at: p.at, colour: p.colour, size: p.size }).collect();
            self.lines[k].write(&self.device, &self.queue, &lines);
            self.points[k].write(&self.device, &self.queue, &points);
            (counts[k], counts[2 + k]) = (lines.len() as u32, points.len() as u32);
        }
        counts
    }

    fn shadow_pass(&self, encoder: &mut wgpu::CommandEncoder, drawn: &[Drawn<'_>]) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("shadows"),
            color_attachments: &[],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.shadow_map,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(1.0),
                    store: wgpu::StoreOp::Store,
                }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_bind_group(0, &self.shadow_frame_group, &[]);
        for d in drawn.iter().filter(|d| !d.style.transparent && !d.style.edges) {
            let Some(pipelines) = self.pipelines.style(&d.style.name) else { continue };
            pass.set_pipeline(&pipelines.shadow);
            self.draw_item(&mut pass, d, false);
        }
    }

    fn picture_pass(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        drawn: &[Drawn<'_>],
        backdrop: &Backdrop,
        [lines, lines_on_top, points, points_on_top]: [u32; 4],
    ) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("picture"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: self.target.samples.as_ref().unwrap_or(&self.target.view),
                depth_slice: None,
                resolve_target: self.target.samples.is_some().then_some(&self.target.view),
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                    store: match self.target.samples {
                        Some(_) => wgpu::StoreOp::Discard,
                        None => wgpu::StoreOp::Store,
                    },
                },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.target.depth,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(0.0),
                    store: wgpu::StoreOp::Discard,
                }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_bind_group(0, &self.frame_group, &[]);
        // Items of one style follow each other: fewer changes of pipeline.
        let mut opaque: Vec<&Drawn<'_>> = drawn.iter().filter(|d| !d.style.transparent).collect();
        opaque.sort_by(|a, b| a.style.name.cmp(&b.style.name));
        for d in opaque {
            let Some(pipelines) = self.pipelines.style(&d.style.name) else { continue };
            pass.set_pipeline(if d.style.edges { &pipelines.edges } else { &pipelines.fill });
            self.draw_item(&mut pass, d, d.style.edges);
        }
        if backdrop.has_ground {
            pass.set_pipeline(&self.pipelines.ground);
            pass.draw(0..4, 0..1);
        }
        // After what hides most of it.
        pass.set_pipeline(&self.pipelines.background);
        pass.draw(0..3, 0..1);
        self.draw_marks(&mut pass, &self.pipelines.lines, &self.lines[0], lines);
        self.draw_marks(&mut pass, &self.pipelines.points, &self.points[0], points);
        let mut transparent: Vec<&Drawn<'_>> = drawn.iter().filter(|d| d.style.transparent).collect();
        transparent.sort_by(|a, b| b.distance.total_cmp(&a.distance));
        for d in transparent {
            let Some(pipelines) = self.pipelines.style(&d.style.name) else { continue };
            for side in [&pipelines.back, &pipelines.front] {
                pass.set_pipeline(side);
                self.draw_item(&mut pass, d, false);
            }
        }
        self.draw_marks(&mut pass, &self.pipelines.lines_on_top, &self.lines[1], lines_on_top);
        self.draw_marks(&mut pass, &self.pipelines.points_on_top, &self.points[1], points_on_top);
    }

    fn draw_item(&self, pass: &mut wgpu::RenderPass<'_>, d: &Drawn<'_>, edges: bool) {
        if let (Some((_, group)), Some(item)) = (self.item_groups.get(&d.group), self.items.get(&d.key)) {
            pass.set_bind_group(1, group, &[d.offset]);
            item.draw(pass, edges);
        }
    }

    fn draw_marks(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        pipeline: &wgpu::RenderPipeline,
        buffer: &GrowingBuffer,
        count: u32,
    ) {
        if let (Some(buffer), 1..) = (buffer.get(), count) {
            pass.set_pipeline(pipeline);
            pass.set_vertex_buffer(0, buffer.slice(..));
            pass.draw(0..4, 0..count);
        }
    }
}

fn frame_group(
    device: &wgpu::Device,
    pipelines: &Pipelines,
    uniform: &wgpu::Buffer,
    shadow_map: &wgpu::TextureView,
    cube: &wgpu::TextureView,
) -> wgpu::BindGroup {
    let smooth = wgpu::SamplerDescriptor {
        mag_filter: wgpu::FilterMode::Linear,
        min_filter: wgpu::FilterMode::Linear,
        mipmap_filter: wgpu::MipmapFilterMode::Linear,
        ..Default::default()
    };
    let compare = Some(wgpu::CompareFunction::LessEqual);
    let shadow_sampler = device.create_sampler(&wgpu::SamplerDescriptor { compare, ..smooth.clone() });
    let smooth_sampler = device.create_sampler(&smooth);
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("frame"),
        layout: &pipelines.frame_layout,
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::TextureView(shadow_map) },
            wgpu::BindGroupEntry { binding: 2, resource: wgpu::BindingResource::Sampler(&shadow_sampler) },
            wgpu::BindGroupEntry { binding: 3, resource: wgpu::BindingResource::TextureView(cube) },
            wgpu::BindGroupEntry { binding: 4, resource: wgpu::BindingResource::Sampler(&smooth_sampler) },
        ],
    })
}

/// Tells items apart from frame to frame.
fn key(kind: ItemKind) -> (u8, usize) {
    match kind {
        ItemKind::Body(b) => (0, b),
        ItemKind::Collider(c) => (1, c),
        ItemKind::Paper(p) => (2, p),
    }
}

/// Tells textures apart; the cache keeps the picture alive, so that its address is not used again.
fn address(look: &ItemLook) -> usize {
    look.texture.as_ref().map_or(0, |picture| Arc::as_ptr(picture) as usize)
}

fn flag(on: bool) -> f32 {
    if on { 1.0 } else { 0.0 }
}
