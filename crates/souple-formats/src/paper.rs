//! Sheets of paper: their files in, crease patterns out (ROH-97).
//!
//! A sheet file is TOML or JSON like a scene, read by the same strict reader: errors show the line. A finished sheet is written as SVG, at its
//! real size, to be printed and folded, and as FOLD 1.1 (Demaine, Ku, Lang 2016), which programs for origami open. The same sheet
//! gives the same bytes. No function here touches the disk.

use std::fmt::Write;

use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};
use serde_json::json;
use souple::paper::{Crease, Settings, Sheet};
use souple::scene::{Look, SCENE_FORMAT, Time, View};

/// A sheet of paper as a file says it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PaperFile {
    /// Version of the format; 1.
    pub format: u32,
    /// Name shown to people.
    pub name: String,
    /// One sentence on what it shows.
    pub description: String,
    /// Width and height of a rectangle, m.
    pub size: Option<[f64; 2]>,
    /// Corners of any other pattern in order, m.
    pub pattern: Vec<[f64; 2]>,
    /// Where its border is.
    pub border: BorderSource,
    /// Points of the border that are held and moved.
    #[serde(rename = "handle")]
    pub handles: Vec<PaperHandle>,
    /// Frames and frame rate; one frame without handles that move.
    pub time: Time,
    /// Distance of vertices along border and folds, m; a 20th of the longest side without it.
    pub step: Option<f64>,
    /// Mean strain below which a region is left as it is.
    pub tolerance: f64,
    /// Relative shortening of a chord up to which it counts as taut.
    pub taut: f64,
    /// Chords tried for a fold.
    pub chords: usize,
    /// Times that regions without a fold are tried again.
    pub restarts: usize,
    /// Rounds of each relaxation.
    pub rounds: usize,
    /// Whether folds that do not help at once are taken in the last restart.
    pub least_bad: bool,
    /// Whether the border is mended and may give way; else it stays as given.
    pub repair: bool,
    /// Angle from which an edge is a crease, degrees.
    pub crease_deg: f64,
    /// How it is shaded.
    pub look: Look,
    /// How it is seen.
    pub view: View,
    /// What must be true of the last frame.
    pub expect: Option<PaperExpect>,
}

/// Where the border of a sheet is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum BorderSource {
    /// Flat on the ground, for handles to pull.
    #[default]
    Flat,
    /// Points in order, the first at the first corner of the pattern, m.
    Points(Vec<[f64; 3]>),
    /// One of those that the program knows, with its own pattern.
    Case(String),
    /// That of a body of a scene, after some frames; the pattern is that of the body at rest.
    Body {
        /// Scene file, relative to this one.
        scene: String,
        /// Name of the body; the only one without it.
        #[serde(default)]
        body: String,
        /// Frame; the scene's last one without it.
        #[serde(default)]
        frame: Option<u32>,
    },
}

/// A point of the border that is held.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PaperHandle {
    /// Which corner of the pattern, from 0.
    pub corner: Option<usize>,
    /// Or which share of the outline from the first corner on, 0 to 1.
    pub at: Option<f64>,
    /// Where it is when; in a straight line in between. One key holds it still.
    pub keys: Vec<HandleKey>,
}

/// Where a handle is at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HandleKey {
    /// When, s.
    pub time: f64,
    /// Where, m.
    pub place: [f64; 3],
}

impl PaperHandle {
    /// Where it is at a time, m; nothing without keys.
    pub fn place(&self, time: f64) -> Option<DVec3> {
        let next = self.keys.iter().position(|key| key.time > time).unwrap_or(self.keys.len());
        let (before, after) = (self.keys.get(next.saturating_sub(1))?, self.keys.get(next));
        let from = DVec3::from(before.place);
        match after {
            Some(after) if after.time > before.time => {
                let part = ((time - before.time) / (after.time - before.time)).clamp(0.0, 1.0);
                Some(from.lerp(DVec3::from(after.place), part))
            }
            _ => Some(from),
        }
    }
}

/// What must be true of the last frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PaperExpect {
    /// Largest mean strain, percent.
    pub strain_percent: Option<f64>,
    /// Fewest folds.
    pub folds_at_least: Option<usize>,
    /// Most frames in which all creases may be made anew.
    pub remade_at_most: Option<usize>,
}

impl Default for PaperFile {
    fn default() -> Self {
        let settings = Settings::default();
        PaperFile {
            format: SCENE_FORMAT,
            name: String::new(),
            description: String::new(),
            size: None,
            pattern: Vec::new(),
            border: BorderSource::default(),
            handles: Vec::new(),
            time: Time { fps: 60.0, frames: 0 },
            step: settings.step,
            tolerance: settings.tolerance,
            taut: settings.taut,
            chords: settings.chords,
            restarts: settings.restarts,
            rounds: settings.rounds,
            least_bad: settings.least_bad,
            repair: settings.repair,
            crease_deg: settings.crease.to_degrees().round(),
            look: Look::default(),
            view: View::default(),
            expect: None,
        }
    }
}

impl PaperFile {
    /// How the sheet is made.
    pub fn settings(&self) -> Settings {
        Settings {
            step: self.step,
            tolerance: self.tolerance,
            taut: self.taut,
            chords: self.chords,
            restarts: self.restarts,
            rounds: self.rounds,
            least_bad: self.least_bad,
            repair: self.repair,
            crease: self.crease_deg.to_radians(),
        }
    }
}

/// Lowest and highest corner of the pattern, m.
fn bounds(points: &[DVec2]) -> (DVec2, DVec2) {
    let low = points.iter().copied().reduce(DVec2::min).unwrap_or(DVec2::ZERO);
    (low, points.iter().copied().reduce(DVec2::max).unwrap_or(DVec2::ZERO))
}

/// The crease pattern at its real size: outline black, mountains red, valleys blue and dashed, seen from the side on which the pattern is
/// counter-clockwise.
pub fn write_crease_svg(sheet: &Sheet, title: &str) -> Vec<u8> {
    let (low, high) = bounds(&sheet.pattern);
    let margin = 5.0;
    let size = (high - low) * 1000.0 + DVec2::splat(2.0 * margin);
    let at = |v: u32| {
        let p = sheet.pattern[v as usize];
        ((p.x - low.x) * 1000.0 + margin, (high.y - p.y) * 1000.0 + margin)
    };
    let mut out = String::new();
    let escaped = title.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.3}mm\" height=\"{1:.3}mm\" viewBox=\"0 0 {0:.3} {1:.3}\">\n<title>{escaped}</title>",
        size.x, size.y
    );
    for (crease, style) in [
        (Crease::Mountain, "stroke=\"#c81e1e\" stroke-width=\"0.4\""),
        (Crease::Valley, "stroke=\"#1e50c8\" stroke-width=\"0.4\" stroke-dasharray=\"2 1\""),
        (Crease::Border, "stroke=\"#000000\" stroke-width=\"0.5\""),
    ] {
        let _ = writeln!(out, "<g fill=\"none\" stroke-linecap=\"round\" {style}>");
        for edge in sheet.edges().iter().filter(|edge| edge.crease == crease) {
            let [(a, b), (c, d)] = edge.ends.map(at);
            let _ = writeln!(out, "<path d=\"M{a:.3} {b:.3}L{c:.3} {d:.3}\"/>");
        }
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out.into_bytes()
}

/// The sheet as FOLD: the crease pattern as the first frame, the folded form as the second.
pub fn write_fold(sheet: &Sheet, title: &str) -> Result<Vec<u8>, serde_json::Error> {
    let edges = sheet.edges();
    let letter = |crease: Crease| match crease {
        Crease::Border => "B",
        Crease::Mountain => "M",
        Crease::Valley => "V",
        Crease::Flat => "F",
    };
    let file = json!({
        "file_spec": 1.1,
        "file_creator": "Souple",
        "file_title": title,
        "file_classes": ["singleModel"],
        "frame_title": "crease pattern",
        "frame_classes": ["creasePattern"],
        "frame_attributes": ["2D", "manifold", "orientable", "nonSelfTouching"],
        "frame_unit": "m",
        "vertices_coords": sheet.pattern.iter().map(|p| p.to_array()).collect::<Vec<_>>(),
        "edges_vertices": edges.iter().map(|edge| edge.ends).collect::<Vec<_>>(),
        "edges_assignment": edges.iter().map(|edge| letter(edge.crease)).collect::<Vec<_>>(),
        "edges_foldAngle": edges.iter().map(|edge| edge.angle.to_degrees()).collect::<Vec<_>>(),
        "faces_vertices": sheet.triangles,
        "file_frames": [{
            "frame_parent": 0,
            "frame_inherit": true,
            "frame_title": "folded form",
            "frame_classes": ["foldedForm"],
            "frame_attributes": ["3D", "manifold", "orientable"],
            "vertices_coords": sheet.places.iter().map(|p| p.to_array()).collect::<Vec<_>>(),
        }],
    });
    serde_json::to_vec(&file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::read_paper;
    use souple::paper::Case;

    #[test]
    fn sheet_files_are_strict() {
        let text = "format = 1\nsize = [0.297, 0.21]\n[[handle]]\ncorner = 2\nkeys = [{ time = 1, place = [0, 0.1, 0] }]\n";
        let file = read_paper(text.as_bytes(), "a4.toml").unwrap().0;
        assert_eq!((file.size, file.handles.len()), (Some([0.297, 0.21]), 1));
        assert_eq!(file.handles[0].place(0.3), Some(DVec3::new(0.0, 0.1, 0.0)));
        assert_eq!(PaperHandle::default().place(0.0), None);
        let error = read_paper(b"format = 1\nsise = [1, 1]\n", "a4.toml").unwrap_err();
        assert_eq!((error.line, error.help.as_str()), (2, "did you mean 'size'?"));
        assert!(read_paper(b"size = [1, 1]\n", "a4.toml").is_err());
        assert!(read_paper(b"format = 1\nsize = [1, nan]\n", "a4.toml").is_err());
        assert!(read_paper(b"\xff\xfe", "a4.toml").is_err());
    }

    #[test]
    fn crease_patterns_hold_every_edge() {
        let (pattern, points) = Case::Pinched.make().unwrap();
        let sheet = Sheet::new(&pattern, &points, &Settings::default()).unwrap();
        let svg = String::from_utf8(write_crease_svg(&sheet, "a <b> & c")).unwrap();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains("a &lt;b&gt; &amp; c"));
        let drawn = sheet.edges().iter().filter(|edge| edge.crease != Crease::Flat).count();
        assert_eq!(svg.matches("<path").count(), drawn);
        assert!(svg.contains("width=\"1010.000mm\""));
        let fold: serde_json::Value =
            serde_json::from_slice(&write_fold(&sheet, "pinched").unwrap()).unwrap();
        let count = |key: &str| fold[key].as_array().unwrap().len();
        assert_eq!(fold["file_spec"], 1.1);
        assert_eq!(count("vertices_coords"), sheet.pattern.len());
        assert_eq!(count("edges_vertices"), sheet.edges().len());
        assert_eq!(count("edges_assignment"), count("edges_foldAngle"));
        assert_eq!(count("faces_vertices"), sheet.triangles.len());
        let letters = fold["edges_assignment"].as_array().unwrap();
        assert!(letters.iter().any(|l| l == "M" || l == "V") && letters.iter().any(|l| l == "B"));
        assert_eq!(fold["file_frames"][0]["vertices_coords"].as_array().unwrap().len(), sheet.places.len());
    }
}
