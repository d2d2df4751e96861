//! What is fixed about drawing: layouts of buffers, and one pipeline per style and queue (ESSI-52, ESSI-57).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{COLOUR, guarded};
use crate::style::StyleSource;

/// Depth of the picture; 1 near, 0 far.
pub(super) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

const COMMON: &str = include_str!("../shaders/common.wgsl");
const GROUND: &str = include_str!("../shaders/ground.wgsl");
const BACKGROUND: &str = include_str!("../shaders/background.wgsl");
const MARKS: &str = include_str!("../shaders/marks.wgsl");

const VERTEX: [wgpu::VertexAttribute; 3] =
    wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32];
const UV: [wgpu::VertexAttribute; 1] = wgpu::vertex_attr_array![3 => Float32x2];
const LINE: [wgpu::VertexAttribute; 4] =
    wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x4, 3 => Float32];
const POINT: [wgpu::VertexAttribute; 3] =
    wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x4, 2 => Float32];

/// Pipelines of one style.
#[derive(Debug)]
pub(super) struct StylePipelines {
    version: u64,
    /// Triangles, both sides.
    pub fill: wgpu::RenderPipeline,
    /// Back sides alone, of transparent styles.
    pub back: wgpu::RenderPipeline,
    /// Front sides alone, of transparent styles.
    pub front: wgpu::RenderPipeline,
    /// Edges.
    pub edges: wgpu::RenderPipeline,
    /// Into the map of shadows.
    pub shadow: wgpu::RenderPipeline,
}

/// All pipelines.
#[derive(Debug)]
pub(super) struct Pipelines {
    /// Layout of what a frame shares.
    pub frame_layout: wgpu::BindGroupLayout,
    /// Layout of the frame while shadows are drawn: the map itself is not part of it.
    pub shadow_frame_layout: wgpu::BindGroupLayout,
    /// Layout of an item.
    pub item_layout: wgpu::BindGroupLayout,
    samples: u32,
    surface_layout: wgpu::PipelineLayout,
    shadow_layout: wgpu::PipelineLayout,
    pub ground: wgpu::RenderPipeline,
    pub background: wgpu::RenderPipeline,
    pub lines: wgpu::RenderPipeline,
    pub lines_on_top: wgpu::RenderPipeline,
    pub points: wgpu::RenderPipeline,
    pub points_on_top: wgpu::RenderPipeline,
    styles: BTreeMap<Arc<str>, StylePipelines>,
    refused: BTreeMap<(Arc<str>, u64), String>,
}

impl Pipelines {
    pub fn new(device: &wgpu::Device, samples: u32) -> Pipelines {
        let uniform = |binding, dynamic| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: dynamic,
                min_binding_size: None,
            },
            count: None,
        };
        let texture = |binding, sample_type, view_dimension| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty: wgpu::BindingType::Texture { sample_type, view_dimension, multisampled: false },
            count: None,
        };
        let sampler = |binding, kind| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty: wgpu::BindingType::Sampler(kind),
            count: None,
        };
        let colour = wgpu::TextureSampleType::Float { filterable: true };
        let layout = |label, entries: &[wgpu::BindGroupLayoutEntry]| {
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries })
        };
        let frame_layout = layout(
            "frame",
            &[
                uniform(0, false),
                texture(1, wgpu::TextureSampleType::Depth, wgpu::TextureViewDimension::D2),
                sampler(2, wgpu::SamplerBindingType::Comparison),
                texture(3, colour, wgpu::TextureViewDimension::Cube),
                sampler(4, wgpu::SamplerBindingType::Filtering),
            ],
        );
        let shadow_frame_layout = layout("frame of shadows", &[uniform(0, false)]);
        let item_layout = layout(
            "item",
            &[
                uniform(0, true),
                texture(1, colour, wgpu::TextureViewDimension::D2),
                sampler(2, wgpu::SamplerBindingType::Filtering),
            ],
        );
        let pipeline_layout = |label, groups: &[Option<&wgpu::BindGroupLayout>]| {
            device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(label),
                bind_group_layouts: groups,
                immediate_size: 0,
            })
        };
        let surface_layout = pipeline_layout("surface", &[Some(&frame_layout), Some(&item_layout)]);
        let shadow_layout = pipeline_layout("shadow", &[Some(&shadow_frame_layout), Some(&item_layout)]);
        let frame_only = pipeline_layout("frame", &[Some(&frame_layout)]);
        let module = |label, text: &str| {
            device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(label),
                source: wgpu::ShaderSource::Wgsl(format!("{COMMON}\n{text}").into()),
            })
        };
        let (ground, background, marks) =
            (module("ground", GROUND), module("background", BACKGROUND), module("marks", MARKS));
        let strip = wgpu::PrimitiveTopology::TriangleStrip;
        let compare = wgpu::CompareFunction::GreaterEqual;
        let mark = |label, shader: &'static str, attributes: &[wgpu::VertexAttribute], compare| {
            let stride = attributes.iter().map(|a| a.format.size()).sum();
            let buffer = wgpu::VertexBufferLayout {
                array_stride: stride,
                step_mode: wgpu::VertexStepMode::Instance,
                attributes,
            };
            let (vertex, fragment) = match shader {
                "line" => ("line_vertex", "line_fragment"),
                _ => ("point_vertex", "point_fragment"),
            };
            drawing(
                device,
                label,
                &frame_only,
                &marks,
                (vertex, fragment),
                &[Some(buffer)],
                strip,
                compare,
                true,
                samples,
            )
        };
        Pipelines {
            ground: drawing(
                device,
                "ground",
                &frame_only,
                &ground,
                ("vertex", "fragment"),
                &[],
                strip,
                compare,
                false,
                samples,
            ),
            background: drawing(
                device,
                "background",
                &frame_only,
                &background,
                ("vertex", "fragment"),
                &[],
                wgpu::PrimitiveTopology::TriangleList,
                compare,
                false,
                samples,
            ),
            lines: mark("lines", "line", &LINE, compare),
            lines_on_top: mark("lines on top", "line", &LINE, wgpu::CompareFunction::Always),
            points: mark("points", "point", &POINT, compare),
            points_on_top: mark("points on top", "point", &POINT, wgpu::CompareFunction::Always),
            samples,
            frame_layout,
            shadow_frame_layout,
            item_layout,
            surface_layout,
            shadow_layout,
            styles: BTreeMap::new(),
            refused: BTreeMap::new(),
        }
    }

    /// Makes the pipelines of a style, unless they are there already. What the driver refuses is not used: an older
    /// version stays, or the style is not drawn.
    pub fn prepare(&mut self, device: &wgpu::Device, style: &StyleSource) {
        let key = (Arc::clone(&style.name), style.version);
        let known = self.styles.get(&style.name).is_some_and(|known| known.version == style.version);
        if known || self.refused.contains_key(&key) {
            return;
        }
        // What was said of another version of it no longer holds.
        self.refused.retain(|(name, _), _| *name != style.name);
        let (made, fault) = guarded(device, || self.style_pipelines(device, style));
        match fault {
            None => {
                self.styles.insert(Arc::clone(&style.name), made);
            }
            Some(error) => {
                self.refused.insert(key, error);
            }
        }
    }

    /// What the driver said of styles that it refused: name of the style and message.
    pub fn refused(&self) -> impl Iterator<Item = (&str, &str)> {
        self.refused.iter().map(|((name, _), message)| (&**name, message.as_str()))
    }

    /// The pipelines of a style that was prepared.
    pub fn style(&self, name: &str) -> Option<&StylePipelines> {
        self.styles.get(name)
    }

    fn style_pipelines(&self, device: &wgpu::Device, style: &StyleSource) -> StylePipelines {
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(&style.name),
            source: wgpu::ShaderSource::Wgsl(style.wgsl.as_str().into()),
        });
        let buffers = [
            Some(wgpu::VertexBufferLayout {
                array_stride: 28,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &VERTEX,
            }),
            Some(wgpu::VertexBufferLayout {
                array_stride: 8,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &UV,
            }),
        ];
        let pipeline = |topology, cull_mode| {
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(&style.name),
                layout: Some(&self.surface_layout),
                vertex: wgpu::VertexState {
                    module: &module,
                    entry_point: Some("vertex"),
                    compilation_options: Default::default(),
                    buffers: &buffers,
                },
                primitive: wgpu::PrimitiveState { topology, cull_mode, ..Default::default() },
                depth_stencil: Some(depth(wgpu::CompareFunction::GreaterEqual, !style.transparent)),
                multisample: multisample(self.samples),
                fragment: Some(wgpu::FragmentState {
                    module: &module,
                    entry_point: Some("fragment"),
                    compilation_options: Default::default(),
                    targets: &[Some(target(style.transparent))],
                }),
                multiview_mask: None,
                cache: None,
            })
        };
        let triangles = wgpu::PrimitiveTopology::TriangleList;
        let shadow = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("shadow"),
            layout: Some(&self.shadow_layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("shadow"),
                compilation_options: Default::default(),
                buffers: &buffers,
            },
            primitive: wgpu::PrimitiveState { topology: triangles, ..Default::default() },
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Less),
                stencil: Default::default(),
                bias: wgpu::DepthBiasState { constant: 2, slope_scale: 2.0, clamp: 0.0 },
            }),
            multisample: Default::default(),
            fragment: None,
            multiview_mask: None,
            cache: None,
        });
        StylePipelines {
            version: style.version,
            fill: pipeline(triangles, None),
            back: pipeline(triangles, Some(wgpu::Face::Front)),
            front: pipeline(triangles, Some(wgpu::Face::Back)),
            edges: pipeline(wgpu::PrimitiveTopology::LineList, None),
            shadow,
        }
    }
}

fn drawing(
    device: &wgpu::Device,
    label: &str,
    layout: &wgpu::PipelineLayout,
    module: &wgpu::ShaderModule,
    (vertex, fragment): (&str, &str),
    buffers: &[Option<wgpu::VertexBufferLayout<'_>>],
    topology: wgpu::PrimitiveTopology,
    compare: wgpu::CompareFunction,
    blended: bool,
    samples: u32,
) -> wgpu::RenderPipeline {
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(label),
        layout: Some(layout),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some(vertex),
            compilation_options: Default::default(),
            buffers,
        },
        primitive: wgpu::PrimitiveState { topology, ..Default::default() },
        // What is blended leaves the depth to what is behind it.
        depth_stencil: Some(depth(compare, !blended)),
        multisample: multisample(samples),
        fragment: Some(wgpu::FragmentState {
            module,
            entry_point: Some(fragment),
            compilation_options: Default::default(),
            targets: &[Some(target(blended))],
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn depth(compare: wgpu::CompareFunction, write: bool) -> wgpu::DepthStencilState {
    wgpu::DepthStencilState {
        format: DEPTH,
        depth_write_enabled: Some(write),
        depth_compare: Some(compare),
        stencil: Default::default(),
        bias: Default::default(),
    }
}

fn multisample(samples: u32) -> wgpu::MultisampleState {
    wgpu::MultisampleState { count: samples, ..Default::default() }
}

fn target(blended: bool) -> wgpu::ColorTargetState {
    let blend = blended.then_some(wgpu::BlendState::ALPHA_BLENDING);
    wgpu::ColorTargetState { format: COLOUR, blend, write_mask: wgpu::ColorWrites::ALL }
}
