//! A finished animation: what was simulated, ready to be written by [`crate::export`].
//!
//! Positions are in metres, y up, in 32-bit floats: every file format here stores that many digits, and half the memory
//! matters for long runs. All frames of a body have the same vertices; a cloth that tears is given with its final
//! topology in every frame. Frame 0 is the initial state, at time 0; frame i is at time i / fps.
//!
//! Promises: an [`Animation`] that passed [`Animation::validate`] has finite numbers, indices in range and counts that
//! agree, so no exporter can go wrong on it. It does not check that names are unique or that triangles have area.

use glam::DVec3;
use souple::mesh::{MAX_VERTICES, vertex_normals};
use thiserror::Error;

/// Everything that moved, frame by frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Animation {
    /// Frames per second, Hz.
    pub fps: f64,
    /// The bodies; all have the same number of frames.
    pub bodies: Vec<BodyAnimation>,
}

/// One body: its topology, which does not change, and its vertices in each frame.
///
/// A cloth has triangles, a rope has lines, and a body with neither is a cloud of points. Both at once are possible.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BodyAnimation {
    /// What the body is called in the files.
    pub name: String,
    /// Three vertex indices per triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Two vertex indices per line segment.
    pub lines: Vec<[u32; 2]>,
    /// Texture coordinates, one per vertex, or empty. (0, 0) is the lower left corner of the image, as in OBJ.
    pub uvs: Vec<[f32; 2]>,
    /// The frames; at least one.
    pub frames: Vec<Frame>,
}

/// The vertices of one body at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Vertex positions, m.
    pub positions: Vec<[f32; 3]>,
    /// Vertex velocities, m/s, one per vertex, or empty.
    pub velocities: Vec<[f32; 3]>,
}

/// What makes an animation impossible to export.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum AnimationError {
    /// The frame rate is zero, negative or not a number.
    #[error("the animation has {0} frames per second; give a positive number, such as 60")]
    FpsNotPositive(f64),
    /// There is nothing to export.
    #[error("the animation has no bodies; add at least one to the scene")]
    NoBodies,
    /// A body was never recorded.
    #[error("body \"{body}\" has no frames; record at least its initial state")]
    NoFrames {
        /// Name of the body.
        body: String,
    },
    /// A body has no vertex.
    #[error("body \"{body}\" has no vertices; leave it out of the animation")]
    NoVertices {
        /// Name of the body.
        body: String,
    },
    /// A body has more vertices than the engine allows.
    #[error("body \"{body}\" has {found} vertices; at most {MAX_VERTICES} are possible")]
    TooManyVertices {
        /// Name of the body.
        body: String,
        /// How many it has.
        found: usize,
    },
    /// Two bodies have different numbers of frames.
    #[error(
        "body \"{body}\" has {found} frames, but the first body has {expected}; all must have the same number"
    )]
    FrameCount {
        /// Name of the body.
        body: String,
        /// How many frames it has.
        found: usize,
        /// How many the first body has.
        expected: usize,
    },
    /// A frame has another number of positions than frame 0.
    #[error(
        "frame {frame} of body \"{body}\" has {found} positions, but frame 0 has {expected}; \
         give a torn body its final vertices in every frame"
    )]
    VertexCount {
        /// Name of the body.
        body: String,
        /// Index of the frame.
        frame: usize,
        /// How many positions it has.
        found: usize,
        /// How many frame 0 has.
        expected: usize,
    },
    /// A frame has velocities, but not one per vertex.
    #[error(
        "frame {frame} of body \"{body}\" has {found} velocities for {expected} vertices; give all or none"
    )]
    VelocityCount {
        /// Name of the body.
        body: String,
        /// Index of the frame.
        frame: usize,
        /// How many velocities it has.
        found: usize,
        /// How many vertices there are.
        expected: usize,
    },
    /// There are texture coordinates, but not one per vertex.
    #[error("body \"{body}\" has {found} texture coordinates for {expected} vertices; give all or none")]
    UvCount {
        /// Name of the body.
        body: String,
        /// How many texture coordinates it has.
        found: usize,
        /// How many vertices there are.
        expected: usize,
    },
    /// A triangle or a line names a vertex that is not there.
    #[error("{kind} {element} of body \"{body}\" names vertex {vertex}, but there are only {count} vertices")]
    IndexOutOfRange {
        /// Name of the body.
        body: String,
        /// "triangle" or "line".
        kind: &'static str,
        /// Index of the triangle or line.
        element: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many vertices there are.
        count: usize,
    },
    /// A position, velocity or texture coordinate is NaN or infinite.
    #[error("{kind} of vertex {vertex} of body \"{body}\" in frame {frame} is not a finite number")]
    NonFinite {
        /// Name of the body.
        body: String,
        /// "position", "velocity" or "texture coordinate".
        kind: &'static str,
        /// Index of the frame; 0 for texture coordinates.
        frame: usize,
        /// Index of the vertex.
        vertex: usize,
    },
}

impl Animation {
    /// Checks all that the exporters rely on: counts agree, indices are in range, numbers are finite.
    pub fn validate(&self) -> Result<(), AnimationError> {
        check_fps(self.fps)?;
        let first = self.bodies.first().ok_or(AnimationError::NoBodies)?;
        for body in &self.bodies {
            body.validate()?;
            if body.frames.len() != first.frames.len() {
                return Err(AnimationError::FrameCount {
                    body: body.name.clone(),
                    found: body.frames.len(),
                    expected: first.frames.len(),
                });
            }
        }
        Ok(())
    }

    /// Number of frames, which is the same for all bodies.
    pub fn frame_count(&self) -> usize {
        self.bodies.first().map_or(0, |body| body.frames.len())
    }

    /// Time of a frame, s. Divided once, not summed up, so that long animations do not drift.
    pub fn frame_time_s(&self, frame: usize) -> f64 {
        frame as f64 / self.fps
    }
}

impl BodyAnimation {
    /// Number of vertices, which is the same in all frames.
    pub fn vertex_count(&self) -> usize {
        self.frames.first().map_or(0, |frame| frame.positions.len())
    }

    /// Checks this body alone; see [`Animation::validate`].
    pub fn validate(&self) -> Result<(), AnimationError> {
        if self.frames.is_empty() {
            return Err(AnimationError::NoFrames { body: self.name.clone() });
        }
        let count = self.vertex_count();
        if count == 0 {
            return Err(AnimationError::NoVertices { body: self.name.clone() });
        }
        if count > MAX_VERTICES {
            return Err(AnimationError::TooManyVertices { body: self.name.clone(), found: count });
        }
        self.check_indices("triangle", &self.triangles, count)?;
        self.check_indices("line", &self.lines, count)?;
        if !self.uvs.is_empty() && self.uvs.len() != count {
            return Err(AnimationError::UvCount {
                body: self.name.clone(),
                found: self.uvs.len(),
                expected: count,
            });
        }
        self.check_finite("texture coordinate", 0, &self.uvs)?;
        for (frame, f) in self.frames.iter().enumerate() {
            if f.positions.len() != count {
                return Err(AnimationError::VertexCount {
                    body: self.name.clone(),
                    frame,
                    found: f.positions.len(),
                    expected: count,
                });
            }
            if !f.velocities.is_empty() && f.velocities.len() != count {
                return Err(AnimationError::VelocityCount {
                    body: self.name.clone(),
                    frame,
                    found: f.velocities.len(),
                    expected: count,
                });
            }
            self.check_finite("position", frame, &f.positions)?;
            self.check_finite("velocity", frame, &f.velocities)?;
        }
        Ok(())
    }

    fn check_indices<const N: usize>(
        &self,
        kind: &'static str,
        elements: &[[u32; N]],
        count: usize,
    ) -> Result<(), AnimationError> {
        for (element, indices) in elements.iter().enumerate() {
            if let Some(&vertex) = indices.iter().find(|&&v| v as usize >= count) {
                let body = self.name.clone();
                return Err(AnimationError::IndexOutOfRange { body, kind, element, vertex, count });
            }
        }
        Ok(())
    }

    fn check_finite<const N: usize>(
        &self,
        kind: &'static str,
        frame: usize,
        values: &[[f32; N]],
    ) -> Result<(), AnimationError> {
        match values.iter().position(|v| v.iter().any(|c| !c.is_finite())) {
            Some(vertex) => Err(AnimationError::NonFinite { body: self.name.clone(), kind, frame, vertex }),
            None => Ok(()),
        }
    }
}

/// A frame rate must be positive and finite, Hz.
pub(crate) fn check_fps(fps: f64) -> Result<(), AnimationError> {
    if fps > 0.0 && fps.is_finite() { Ok(()) } else { Err(AnimationError::FpsNotPositive(fps)) }
}

/// Smooth normals of frames, with its scratch memory: one place for every exporter that needs them.
#[derive(Default)]
pub(crate) struct FrameNormals {
    positions: Vec<DVec3>,
    normals: Vec<DVec3>,
}

impl FrameNormals {
    /// Unit normals of a frame of a *validated* body. Sums are in f64, then rounded.
    pub(crate) fn compute(
        &mut self,
        frame: &Frame,
        triangles: &[[u32; 3]],
    ) -> impl Iterator<Item = [f32; 3]> {
        self.positions.clear();
        self.positions.extend(frame.positions.iter().map(|p| DVec3::from_array(p.map(f64::from))));
        vertex_normals(&self.positions, triangles, &mut self.normals);
        self.normals.iter().map(|n| n.to_array().map(|c| c as f32))
    }
}
