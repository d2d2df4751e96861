//! Crease patterns of sheets of paper (ROH-97).
//!
//! A sheet is written as SVG, at its real size, to be printed and folded, and as FOLD 1.1 (Demaine, Ku, Lang 2016), which programs for origami open. The same sheet
//! gives the same bytes. No function here touches the disk.

use std::fmt::Write;

use glam::DVec2;
use serde_json::json;
use souple::paper::{Crease, Sheet};

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
    use souple::paper::{Case, Settings};

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
