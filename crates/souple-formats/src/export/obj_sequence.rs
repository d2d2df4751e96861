//! Wavefront OBJ, one text per frame with all bodies as `o` groups.
//!
//! Numbers have the fewest digits that read back to the same 32-bit float. The order of vertices is that of the
//! animation in every frame. Texture coordinates are written when a body has them; normals and materials are not (`s 1`
//! asks for smooth shading). Files come one at a time from an iterator: a long animation is never whole in memory.

use super::{ExportError, frame_file_name, safe_file_stem};
use crate::animation::{Animation, BodyAnimation};
use std::fmt::Write as _;

/// Iterator over `(file name, bytes)` of all frames.
#[derive(Clone, Debug)]
pub struct ObjSequence<'a> {
    animation: &'a Animation,
    stem: String,
    next_frame: usize,
}

impl<'a> ObjSequence<'a> {
    /// Checks the animation; files will be called `stem_0000.obj` and so on, with a `stem` made safe by
    /// [`safe_file_stem`].
    pub fn new(animation: &'a Animation, stem: &str) -> Result<Self, ExportError> {
        animation.validate()?;
        Ok(Self { animation, stem: safe_file_stem(stem), next_frame: 0 })
    }
}

impl Iterator for ObjSequence<'_> {
    type Item = (String, Vec<u8>);

    fn next(&mut self) -> Option<Self::Item> {
        let frame = self.next_frame;
        let count = self.animation.frame_count();
        if frame >= count {
            return None;
        }
        self.next_frame += 1;
        Some((
            frame_file_name(&self.stem, frame, count, "obj"),
            frame_text(self.animation, frame).into_bytes(),
        ))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.animation.frame_count() - self.next_frame;
        (left, Some(left))
    }
}

impl ExactSizeIterator for ObjSequence<'_> {}

fn frame_text(animation: &Animation, frame: usize) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail, so the results of `write!` are dropped.
    let _ = writeln!(text, "# Souple, frame {frame}, time {} s, metres, y up", animation.frame_time_s(frame));
    // OBJ counts vertices and texture coordinates from 1, each through the whole file.
    let (mut vertex_base, mut uv_base) = (1, 1);
    for body in &animation.bodies {
        push_body(&mut text, body, frame, vertex_base, uv_base);
        vertex_base += body.vertex_count() as u64;
        uv_base += body.uvs.len() as u64;
    }
    text
}

fn push_body(text: &mut String, body: &BodyAnimation, frame: usize, vertex_base: u64, uv_base: u64) {
    let _ = writeln!(text, "o {}", one_word(&body.name));
    for [x, y, z] in body.frames.get(frame).map_or(&[][..], |f| &f.positions) {
        let _ = writeln!(text, "v {x} {y} {z}");
    }
    for [u, v] in &body.uvs {
        let _ = writeln!(text, "vt {u} {v}");
    }
    if !body.triangles.is_empty() {
        text.push_str("s 1\n");
    }
    for triangle in &body.triangles {
        text.push('f');
        for &corner in triangle {
            let _ = write!(text, " {}", vertex_base + u64::from(corner));
            if !body.uvs.is_empty() {
                let _ = write!(text, "/{}", uv_base + u64::from(corner));
            }
        }
        text.push('\n');
    }
    for &[a, b] in &body.lines {
        let _ = writeln!(text, "l {} {}", vertex_base + u64::from(a), vertex_base + u64::from(b));
    }
    if body.triangles.is_empty() && body.lines.is_empty() {
        for i in 0..body.vertex_count() as u64 {
            let _ = writeln!(text, "p {}", vertex_base + i);
        }
    }
}

/// Names end at white space or a line end in some readers, and `#` or `\` may start a comment or join lines.
fn one_word(name: &str) -> String {
    let unsafe_char = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '#' | '\\');
    let word: String = name.chars().map(|c| if unsafe_char(c) { '_' } else { c }).collect();
    if word.is_empty() { "unnamed".to_owned() } else { word }
}
