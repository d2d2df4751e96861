//! OBJ sequences against an independent reader (`tobj`), VTK files by their own words, tables by reading them back.
//!
//! With `SOUPLE_TEST_VTK_DIR` set, an example series is also written there, to be opened in ParaView.

mod export_common;

use export_common::{any_animation, example};
use proptest::prelude::*;
use souple_formats::animation::{Animation, BodyAnimation};
use souple_formats::export::ExportError;
use souple_formats::export::obj_sequence::ObjSequence;
use souple_formats::export::table::{write_csv, write_json};
use souple_formats::export::vtk::VtkSeries;

fn assert_obj_shows(animation: &Animation, frame: usize, bytes: &[u8]) {
    let options = tobj::LoadOptions::default();
    let no_materials = |_: &std::path::Path| Err(tobj::LoadError::GenericFailure);
    let (mut models, _) = tobj::load_obj_buf(&mut &bytes[..], &options, no_materials).unwrap();
    // tobj knows no `p` elements: it leaves such bodies out, or empty at the end of the file.
    models.retain(|model| !model.mesh.indices.is_empty());
    let has_cells = |body: &&BodyAnimation| !body.triangles.is_empty() || !body.lines.is_empty();
    let bodies: Vec<_> = animation.bodies.iter().filter(has_cells).collect();
    assert_eq!(models.len(), bodies.len());
    for (model, body) in models.iter().zip(bodies) {
        let positions = &body.frames[frame].positions;
        let mesh = &model.mesh;
        // tobj numbers vertices anew by first use, so positions are compared through the indices.
        let position = |i: u32| <[f32; 3]>::try_from(&mesh.positions[3 * i as usize..][..3]).unwrap();
        let used: Vec<u32> =
            body.triangles.as_flattened().iter().chain(body.lines.as_flattened()).copied().collect();
        assert_eq!(mesh.indices.len(), used.len());
        for (n, &v) in used.iter().enumerate() {
            assert_eq!(position(mesh.indices[n]), positions[v as usize]);
        }
        if !body.uvs.is_empty() && !body.triangles.is_empty() {
            for (n, &v) in body.triangles.as_flattened().iter().enumerate() {
                let at = 2 * mesh.texcoord_indices[n] as usize;
                assert_eq!(mesh.texcoords[at..at + 2], body.uvs[v as usize]);
            }
        }
    }
}

#[test]
fn obj_frames_are_read_back_by_another_reader() {
    // tobj keeps one kind of element per model, so each body here has one kind.
    let mut animation = example(3);
    animation.bodies[3].lines.clear();
    animation.bodies[4].lines.clear();
    let files: Vec<_> = ObjSequence::new(&animation, "my run").unwrap().collect();
    let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["my_run_0000.obj", "my_run_0001.obj", "my_run_0002.obj"]);
    for (frame, (_, bytes)) in files.iter().enumerate() {
        assert_obj_shows(&animation, frame, bytes);
    }
}

#[test]
fn obj_text_is_as_expected() {
    let mut animation = example(1);
    animation.bodies.remove(4);
    animation.bodies.remove(0);
    animation.bodies[0].frames[0].positions.truncate(2);
    animation.bodies[0].lines.truncate(1);
    animation.bodies[0].name = "two\nv 9 9 9 #x".to_owned();
    let (_, bytes) = ObjSequence::new(&animation, "x").unwrap().next().unwrap();
    assert_eq!(
        String::from_utf8(bytes).unwrap(),
        "# Souple, frame 0, time 0 s, metres, y up\n\
         o two_v_9_9_9__x\nv -1 1 0\nv -1 0.9 0\nl 1 2\n\
         o grains\nv 0 2 1\nv 0.5 2 1\np 3\np 4\n\
         o floor\nv -2 0 -2\nv -2 0 2\nv 2 0 2\nv 2 0 -2\ns 1\nf 5 6 7\nf 5 7 8\nl 5 6\nl 6 7\nl 7 8\nl 8 5\n"
    );
}

/// What a .vtp says: the XML up to the binary part, and a way to fetch an array by the element before it.
struct Vtp<'a> {
    xml: &'a str,
    data: &'a [u8],
}

impl<'a> Vtp<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let mark = b"<AppendedData encoding=\"raw\">\n_";
        let start = bytes.windows(mark.len()).position(|w| w == mark).unwrap() + mark.len();
        let data = bytes[start..].strip_suffix(b"\n</AppendedData>\n</VTKFile>\n").unwrap();
        Self { xml: std::str::from_utf8(&bytes[..start]).unwrap(), data }
    }

    fn attribute(&self, name: &str) -> usize {
        let start = self.xml.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
        self.xml[start..].split('"').next().unwrap().parse().unwrap()
    }

    /// Bytes of the array called `name` inside element `section`.
    fn array(&self, section: &str, name: &str) -> Option<&'a [u8]> {
        let inside = self.xml.split(&format!("<{section}")).nth(1)?.split(&format!("</{section}>")).next()?;
        let element = inside.split("<DataArray ").find(|e| e.contains(&format!("Name=\"{name}\"")))?;
        let offset: usize = element.split("offset=\"").nth(1)?.split('"').next()?.parse().ok()?;
        let length = u64::from_le_bytes(self.data[offset..offset + 8].try_into().unwrap()) as usize;
        Some(&self.data[offset + 8..offset + 8 + length])
    }

    fn floats(&self, section: &str, name: &str) -> Vec<f32> {
        let bytes = self.array(section, name).unwrap();
        bytes.as_chunks().0.iter().map(|c| f32::from_le_bytes(*c)).collect()
    }

    fn integers(&self, section: &str, name: &str) -> Vec<i64> {
        let bytes = self.array(section, name).unwrap();
        bytes.as_chunks().0.iter().map(|c| i64::from_le_bytes(*c)).collect()
    }
}

fn assert_vtp_shows(animation: &Animation, frame: usize, bytes: &[u8]) {
    let vtp = Vtp::new(bytes);
    let bodies = &animation.bodies;
    let frames: Vec<_> = bodies.iter().map(|b| &b.frames[frame]).collect();
    let positions: Vec<f32> = frames.iter().flat_map(|f| f.positions.as_flattened()).copied().collect();
    assert_eq!(vtp.floats("Points", "Points"), positions);
    assert_eq!(vtp.attribute("NumberOfPoints") * 3, positions.len());
    let body: Vec<i32> = vtp
        .array("PointData", "body")
        .unwrap()
        .as_chunks()
        .0
        .iter()
        .map(|c| i32::from_le_bytes(*c))
        .collect();
    assert_eq!(body.len() * 3, positions.len());
    let known = bodies.iter().flat_map(|b| &b.frames).any(|f| !f.velocities.is_empty());
    assert_eq!(vtp.array("PointData", "velocity").is_some(), known);
    let velocities = if known { vtp.floats("PointData", "velocity") } else { Vec::new() };
    let mut base = 0;
    let (mut verts, mut lines, mut polys) = (Vec::new(), Vec::new(), Vec::new());
    for (i, b) in bodies.iter().enumerate() {
        let count = b.vertex_count();
        assert!(body[base..base + count].iter().all(|&index| index == i as i32));
        if known {
            let found = &velocities[3 * base..3 * (base + count)];
            match frames[i].velocities.as_flattened() {
                [] => assert!(found.iter().all(|v| v.is_nan())),
                expected => assert_eq!(found, expected),
            }
        }
        let global = |v: &u32| base as i64 + i64::from(*v);
        lines.extend(b.lines.as_flattened().iter().map(global));
        polys.extend(b.triangles.as_flattened().iter().map(global));
        if b.lines.is_empty() && b.triangles.is_empty() {
            verts.extend((0..count as u32).map(|v| global(&v)));
        }
        base += count;
    }
    for (section, corners, expected) in [("Verts", 1, verts), ("Lines", 2, lines), ("Polys", 3, polys)] {
        assert_eq!(vtp.integers(section, "connectivity"), expected);
        let ends = vtp.integers(section, "offsets");
        assert_eq!(ends.len(), vtp.attribute(&format!("NumberOf{section}")));
        assert_eq!(ends, (1..=expected.len() as i64 / corners).map(|n| n * corners).collect::<Vec<_>>());
    }
}

#[test]
fn vtk_series_lists_its_frames_with_times() {
    let animation = example(3);
    let series = VtkSeries::new(&animation, "../run").unwrap();
    let (name, pvd) = series.pvd();
    assert_eq!(name, "_run.pvd");
    assert_eq!(
        String::from_utf8(pvd).unwrap(),
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n\
         <DataSet timestep=\"0\" group=\"\" part=\"0\" file=\"_run_0000.vtp\"/>\n\
         <DataSet timestep=\"0.03333333333333333\" group=\"\" part=\"0\" file=\"_run_0001.vtp\"/>\n\
         <DataSet timestep=\"0.06666666666666667\" group=\"\" part=\"0\" file=\"_run_0002.vtp\"/>\n\
         </Collection>\n</VTKFile>\n"
    );
    assert_eq!(series.len(), 3);
    for (frame, (name, bytes)) in series.enumerate() {
        assert_eq!(name, format!("_run_000{frame}.vtp"));
        assert_vtp_shows(&animation, frame, &bytes);
    }
}

#[test]
fn write_an_example_for_paraview() {
    let Some(folder) = std::env::var_os("SOUPLE_TEST_VTK_DIR") else { return };
    let folder = std::path::PathBuf::from(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let animation = example(5);
    let series = VtkSeries::new(&animation, "example").unwrap();
    for (name, bytes) in std::iter::once(series.pvd()).chain(series) {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}

#[test]
fn csv_text_is_as_expected() {
    let rows = [vec![0.0, 1.0, -2.5], vec![0.1, 1e-9, 6.02e23], vec![f64::NAN, f64::INFINITY, -0.0]];
    let csv = write_csv(&["time_s", "energy, J", "say \"x\""], &rows).unwrap();
    assert_eq!(
        String::from_utf8(csv).unwrap(),
        "time_s,\"energy, J\",\"say \"\"x\"\"\"\n0,1,-2.5\n0.1,1e-9,6.02e23\nNaN,inf,-0\n"
    );
}

#[test]
fn json_table_is_as_expected() {
    let json = write_json(&["time_s", "a\"b"], &[vec![0.5, -1e-3], vec![f64::NAN, 2.0]]).unwrap();
    assert_eq!(
        String::from_utf8(json).unwrap(),
        "{\"columns\":[\"time_s\",\"a\\\"b\"],\"data\":[[0.5,-0.001],[null,2.0]]}\n"
    );
}

#[test]
fn ragged_tables_are_refused() {
    for write in [write_csv, write_json] {
        assert!(matches!(write(&[], &[]), Err(ExportError::NoColumns)));
        assert!(
            matches!(write(&["a", "b", "a"], &[]), Err(ExportError::DuplicateColumn(name)) if name == "a")
        );
        assert!(matches!(
            write(&["a", "b"], &[vec![1.0, 2.0], vec![1.0]]),
            Err(ExportError::RowLength { row: 1, found: 1, expected: 2 })
        ));
        assert!(write(&["a"], &[]).is_ok());
    }
}

proptest! {
    #[test]
    fn random_obj_frames_are_read_back(mut animation in any_animation()) {
        for body in &mut animation.bodies {
            // One kind of element per body, and no triangle that tobj would take for a line or a point.
            if !body.triangles.is_empty() {
                body.lines.clear();
            }
            body.name = "body".to_owned();
        }
        for (frame, (_, bytes)) in ObjSequence::new(&animation, "x").unwrap().enumerate() {
            assert_obj_shows(&animation, frame, &bytes);
        }
    }

    #[test]
    fn random_vtk_frames_say_what_was_given(animation in any_animation()) {
        for (frame, (_, bytes)) in VtkSeries::new(&animation, "x").unwrap().enumerate() {
            assert_vtp_shows(&animation, frame, &bytes);
        }
    }

    /// Any name at all must leave one `o` line per body.
    #[test]
    fn names_cannot_break_obj(mut animation in any_animation(), name in any::<String>()) {
        for body in &mut animation.bodies {
            body.name.clone_from(&name);
        }
        let (_, bytes) = ObjSequence::new(&animation, &name).unwrap().next().unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let known = ["#", "o", "v", "vt", "s", "f", "l", "p"];
        prop_assert!(text.lines().all(|line| known.contains(&line.split(' ').next().unwrap())));
        prop_assert_eq!(text.lines().filter(|l| l.starts_with("o ")).count(), animation.bodies.len());
    }

    #[test]
    fn tables_keep_every_bit(bits in prop::collection::vec(any::<u64>(), 1..20)) {
        let values: Vec<f64> = bits.iter().map(|&b| f64::from_bits(b)).filter(|v| v.is_finite()).collect();
        prop_assume!(!values.is_empty());
        let names: Vec<String> = (0..values.len()).map(|i| format!("c{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let rows = [values.clone()];
        let same = |read: Vec<f64>| read.iter().map(|v| v.to_bits()).eq(values.iter().map(|v| v.to_bits()));

        let csv = String::from_utf8(write_csv(&names, &rows).unwrap()).unwrap();
        prop_assert!(same(csv.lines().nth(1).unwrap().split(',').map(|v| v.parse().unwrap()).collect()));
        let json: serde_json::Value = serde_json::from_slice(&write_json(&names, &rows).unwrap()).unwrap();
        prop_assert!(same(json["data"][0].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()));
    }
}
