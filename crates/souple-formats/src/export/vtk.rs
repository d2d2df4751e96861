//! VTK XML PolyData (`.vtp`), one file per frame with all bodies, and a ParaView collection (`.pvd`) that lists them
//! with their times. Format: VTK file formats, "XML file formats", PolyData, version 1.0.
//!
//! Each file has the points (32-bit), polygons, lines and vertices (64-bit indices), and as point data `body` (index of
//! the body) and `velocity` (m/s), when any body has velocities in any frame. Where others have none, `velocity` is NaN:
//! not known, which is not the same as at rest. As field data it has `TimeValue` (s) and `body_names`. Texture
//! coordinates are not written.
//!
//! Arrays are appended raw in little endian with 64-bit lengths. Files come one at a time from an iterator: the files of
//! a long animation are never all in memory.

use super::{ExportError, frame_file_name, safe_file_stem};
use crate::animation::{Animation, BodyAnimation};
use std::fmt::Write as _;

/// Iterator over `(file name, bytes)` of the `.vtp` files of all frames; [`VtkSeries::pvd`] gives the list of them.
#[derive(Clone, Debug)]
pub struct VtkSeries<'a> {
    animation: &'a Animation,
    stem: String,
    with_velocities: bool,
    next_frame: usize,
}

impl<'a> VtkSeries<'a> {
    /// Checks the animation; files will be called `stem_0000.vtp` and so on and `stem.pvd`, with a `stem` made safe by
    /// [`safe_file_stem`].
    pub fn new(animation: &'a Animation, stem: &str) -> Result<Self, ExportError> {
        animation.validate()?;
        // ParaView wants the same arrays in all files of a series, so this is asked of the whole animation.
        let with_velocities =
            animation.bodies.iter().flat_map(|b| &b.frames).any(|f| !f.velocities.is_empty());
        Ok(Self { animation, stem: safe_file_stem(stem), with_velocities, next_frame: 0 })
    }

    /// Name and bytes of the collection file; it names the `.vtp` files relative to its own folder.
    pub fn pvd(&self) -> (String, Vec<u8>) {
        let count = self.animation.frame_count();
        let mut xml = String::from(
            "<?xml version=\"1.0\"?>\n\
             <VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n\
             <Collection>\n",
        );
        for frame in 0..count {
            let time = self.animation.frame_time_s(frame);
            let file = frame_file_name(&self.stem, frame, count, "vtp");
            // Writing to a String cannot fail; a safe stem needs no XML escapes.
            let _ = writeln!(xml, "<DataSet timestep=\"{time}\" group=\"\" part=\"0\" file=\"{file}\"/>");
        }
        xml.push_str("</Collection>\n</VTKFile>\n");
        (format!("{}.pvd", self.stem), xml.into_bytes())
    }

    fn frame_bytes(&self, frame: usize) -> Vec<u8> {
        let bodies = &self.animation.bodies;
        let time = self.animation.frame_time_s(frame);
        let mut data = Appended::default();
        let points = data.array("Points", "Float32", 3, position_bytes(bodies, frame));
        let mut point_data = data.array("body", "Int32", 1, body_index_bytes(bodies));
        let mut vectors = "";
        if self.with_velocities {
            point_data += &data.array("velocity", "Float32", 3, velocity_bytes(bodies, frame));
            vectors = " Vectors=\"velocity\"";
        }
        let (vert_count, verts) = data.cells(bodies, point_cells);
        let (line_count, lines) = data.cells(bodies, |body| body.lines.clone());
        let (poly_count, polys) = data.cells(bodies, |body| body.triangles.clone());
        let header = format!(
            "<?xml version=\"1.0\"?>\n\
             <VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
             <PolyData>\n\
             <FieldData>\n\
             <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{time}</DataArray>\n\
             <Array type=\"String\" Name=\"body_names\" NumberOfTuples=\"{body_count}\" format=\"ascii\">{names}</Array>\n\
             </FieldData>\n\
             <Piece NumberOfPoints=\"{point_count}\" NumberOfVerts=\"{vert_count}\" NumberOfLines=\"{line_count}\" \
             NumberOfStrips=\"0\" NumberOfPolys=\"{poly_count}\">\n\
             <PointData Scalars=\"body\"{vectors}>\n{point_data}</PointData>\n\
             <Points>\n{points}</Points>\n\
             <Verts>\n{verts}</Verts>\n\
             <Lines>\n{lines}</Lines>\n\
             <Polys>\n{polys}</Polys>\n\
             </Piece>\n\
             </PolyData>\n\
             <AppendedData encoding=\"raw\">\n_",
            body_count = bodies.len(),
            names = body_names(bodies),
            point_count = bodies.iter().map(BodyAnimation::vertex_count).sum::<usize>(),
        );
        let mut bytes = header.into_bytes();
        bytes.append(&mut data.bytes);
        bytes.extend_from_slice(b"\n</AppendedData>\n</VTKFile>\n");
        bytes
    }
}

impl Iterator for VtkSeries<'_> {
    type Item = (String, Vec<u8>);

    fn next(&mut self) -> Option<Self::Item> {
        let frame = self.next_frame;
        let count = self.animation.frame_count();
        if frame >= count {
            return None;
        }
        self.next_frame += 1;
        Some((frame_file_name(&self.stem, frame, count, "vtp"), self.frame_bytes(frame)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.animation.frame_count() - self.next_frame;
        (left, Some(left))
    }
}

impl ExactSizeIterator for VtkSeries<'_> {}

/// The binary arrays at the end of a file, each after its length.
#[derive(Default)]
struct Appended {
    bytes: Vec<u8>,
}

impl Appended {
    /// Appends an array and returns the XML element that points at it.
    fn array(&mut self, name: &str, kind: &str, components: usize, values: Vec<u8>) -> String {
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(&(values.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(&values);
        format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"appended\" \
             offset=\"{offset}\"/>\n"
        )
    }

    /// Appends the cells of all bodies, which have `N` corners each; returns their number and XML.
    fn cells<const N: usize>(
        &mut self,
        bodies: &[BodyAnimation],
        cells_of: impl Fn(&BodyAnimation) -> Vec<[u32; N]>,
    ) -> (usize, String) {
        let mut corners: Vec<i64> = Vec::new();
        let mut base = 0;
        for body in bodies {
            corners.extend(cells_of(body).as_flattened().iter().map(|&v| base + i64::from(v)));
            base += body.vertex_count() as i64;
        }
        let count = corners.len() / N;
        let ends = (1..=count).map(|i| (i * N) as i64);
        let mut xml = self.array("connectivity", "Int64", 1, int64_bytes(corners.iter().copied()));
        xml += &self.array("offsets", "Int64", 1, int64_bytes(ends));
        (count, xml)
    }
}

/// A body that has neither triangles nor lines is shown as its points.
fn point_cells(body: &BodyAnimation) -> Vec<[u32; 1]> {
    let none = !body.triangles.is_empty() || !body.lines.is_empty();
    let count = if none { 0 } else { body.vertex_count() };
    (0u32..).take(count).map(|v| [v]).collect()
}

fn position_bytes(bodies: &[BodyAnimation], frame: usize) -> Vec<u8> {
    let positions = bodies.iter().filter_map(|body| body.frames.get(frame)).flat_map(|f| &f.positions);
    positions.flatten().flat_map(|c| c.to_le_bytes()).collect()
}

fn velocity_bytes(bodies: &[BodyAnimation], frame: usize) -> Vec<u8> {
    let velocity = |body: &BodyAnimation, vertex: usize| {
        body.frames.get(frame).and_then(|f| f.velocities.get(vertex)).copied().unwrap_or([f32::NAN; 3])
    };
    let mut bytes = Vec::new();
    for body in bodies {
        for vertex in 0..body.vertex_count() {
            bytes.extend(velocity(body, vertex).iter().flat_map(|c| c.to_le_bytes()));
        }
    }
    bytes
}

fn body_index_bytes(bodies: &[BodyAnimation]) -> Vec<u8> {
    let indices = (0i32..).zip(bodies).flat_map(|(i, body)| std::iter::repeat_n(i, body.vertex_count()));
    indices.flat_map(i32::to_le_bytes).collect()
}

fn int64_bytes(values: impl Iterator<Item = i64>) -> Vec<u8> {
    values.flat_map(i64::to_le_bytes).collect()
}

/// VTK stores text as the codes of its bytes, each string ended by a zero.
fn body_names(bodies: &[BodyAnimation]) -> String {
    let mut codes = String::new();
    for byte in bodies.iter().flat_map(|body| body.name.bytes().filter(|&c| c != 0).chain([0])) {
        let _ = write!(codes, "{byte} ");
    }
    codes
}
