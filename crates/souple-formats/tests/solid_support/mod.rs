//! Writers of solid meshes for tests, which do not use the code under test. Each adds what real files have around the
//! tetrahedra: surface triangles, vertices that nothing uses, comments, arrays of data.
#![allow(dead_code)] // each test program uses its own part

use std::fmt::Write as _;

use glam::DVec3;
use souple_formats::import::{ImportError, Limits, MeshFormat, SolidMesh, read_solid, read_tetgen};

/// A file of a solid; TetGen has two.
#[derive(Clone, Debug)]
pub struct SolidFile {
    pub name: &'static str,
    pub format: MeshFormat,
    pub bytes: Vec<u8>,
    pub node: Vec<u8>,
}

impl SolidFile {
    pub fn read(&self) -> Result<SolidMesh, ImportError> {
        match self.format {
            MeshFormat::TetGen => read_tetgen(&self.node, &self.bytes, &Limits::default()),
            format => read_solid(&self.bytes, format, &Limits::default()),
        }
    }
}

/// Two tetrahedra that share a face, of two labels.
pub fn two() -> SolidMesh {
    let positions = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]]
        .map(DVec3::from_array);
    SolidMesh {
        positions: positions.into(),
        tetrahedra: vec![[0, 1, 2, 3], [1, 2, 3, 4]],
        labels: vec![7, 9],
    }
}

/// The same mesh in every format and encoding.
pub fn all_files(mesh: &SolidMesh) -> Vec<SolidFile> {
    let file = |name, format, bytes| SolidFile { name, format, bytes, node: Vec::new() };
    let tetgen = |name, first| {
        let (node, bytes) = write_tetgen(mesh, first);
        SolidFile { name, format: MeshFormat::TetGen, bytes, node }
    };
    vec![
        file("Gmsh 2.2 text", MeshFormat::Gmsh, gmsh_22_text(mesh)),
        file("Gmsh 2.2 little", MeshFormat::Gmsh, gmsh_22_binary(mesh, false)),
        file("Gmsh 2.2 big", MeshFormat::Gmsh, gmsh_22_binary(mesh, true)),
        file("Gmsh 4.1 text", MeshFormat::Gmsh, gmsh_41_text(mesh)),
        file("Gmsh 4.1 little", MeshFormat::Gmsh, gmsh_41_binary(mesh, false)),
        file("Gmsh 4.1 big", MeshFormat::Gmsh, gmsh_41_binary(mesh, true)),
        tetgen("TetGen from 0", 0),
        tetgen("TetGen from 1", 1),
        file("VTK text", MeshFormat::Vtk, vtk(mesh, false, false)),
        file("VTK binary", MeshFormat::Vtk, vtk(mesh, true, false)),
        file("VTK 5.1 text", MeshFormat::Vtk, vtk(mesh, false, true)),
        file("VTK 5.1 binary", MeshFormat::Vtk, vtk(mesh, true, true)),
        file("VTU text", MeshFormat::Vtu, vtu(mesh, "ascii", false, false)),
        file("VTU base64, 32 bits", MeshFormat::Vtu, vtu(mesh, "binary", false, false)),
        file("VTU base64, 64 bits, big", MeshFormat::Vtu, vtu(mesh, "binary", true, true)),
        file("VTU appended base64", MeshFormat::Vtu, vtu(mesh, "base64", true, false)),
        file("VTU appended raw", MeshFormat::Vtu, vtu(mesh, "raw", true, false)),
        file("VTU appended raw, 32 bits, big", MeshFormat::Vtu, vtu(mesh, "raw", false, true)),
        file("MEDIT", MeshFormat::Medit, medit(mesh)),
    ]
}

fn label(mesh: &SolidMesh, t: usize) -> u32 {
    mesh.labels.get(t).copied().unwrap_or_default()
}

/// Numbers of Gmsh's nodes, neither in order nor without gaps. The last is of a node that nothing uses.
fn tag(v: u32) -> u32 {
    1000 - if v.is_multiple_of(2) { v + 3 } else { 200 + v }
}

/// All places, and one that nothing uses.
fn places(mesh: &SolidMesh) -> Vec<[f64; 3]> {
    let unused = [[0.25, -4.0, 1e-3]];
    mesh.positions.iter().map(|p| p.to_array()).chain(unused).collect()
}

pub fn gmsh_22_text(mesh: &SolidMesh) -> Vec<u8> {
    let mut out = String::from(
        "$MeshFormat\r\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 7 \"liver $Nodes\"\n$EndPhysicalNames\n",
    );
    let places = places(mesh);
    write!(out, "$Nodes\n{}\n", places.len()).unwrap();
    for (v, [x, y, z]) in (0u32..).zip(places) {
        writeln!(out, "{} {x} {y} {z}", tag(v)).unwrap();
    }
    write!(out, "$EndNodes\n$Elements\n{}\n1 15 2 0 1 {}\n", mesh.tetrahedra.len() + 1, tag(0)).unwrap();
    for (t, corners) in mesh.tetrahedra.iter().enumerate() {
        let [a, b, c, d] = corners.map(tag);
        if t == 0 {
            // Of second order, with nodes between the corners.
            writeln!(out, "{} 11 2 {} 1 {a} {b} {c} {d} {a} {a} {a} {a} {a} {a}", t + 2, label(mesh, t))
                .unwrap();
        } else {
            writeln!(out, "{} 4 2 {} 1 {a} {b} {c} {d}", t + 2, label(mesh, t)).unwrap();
        }
    }
    out += "$EndElements\n$NodeData\n1\n\"x\"\n$EndNodeData\n";
    out.into()
}

/// Bytes in an order.
struct Bytes {
    out: Vec<u8>,
    big: bool,
}

impl Bytes {
    fn text(&mut self, text: &str) {
        self.out.extend(text.as_bytes());
    }
    fn put<const N: usize>(&mut self, mut bytes: [u8; N]) {
        if self.big {
            bytes.reverse();
        }
        self.out.extend(bytes);
    }
    fn ints(&mut self, values: impl IntoIterator<Item = u32>) {
        values.into_iter().for_each(|v| self.put(v.to_le_bytes()));
    }
    fn longs(&mut self, values: impl IntoIterator<Item = u64>) {
        values.into_iter().for_each(|v| self.put(v.to_le_bytes()));
    }
    fn doubles(&mut self, values: impl IntoIterator<Item = f64>) {
        values.into_iter().for_each(|v| self.put(v.to_le_bytes()));
    }
}

pub fn gmsh_22_binary(mesh: &SolidMesh, big: bool) -> Vec<u8> {
    let mut b = Bytes { out: Vec::new(), big };
    b.text("$MeshFormat\n2.2 1 8\n");
    b.ints([1]);
    b.text("\n$EndMeshFormat\n$Nodes\n");
    let places = places(mesh);
    b.text(&format!("{}\n", places.len()));
    for (v, p) in (0u32..).zip(places) {
        b.ints([tag(v)]);
        b.doubles(p);
    }
    b.text(&format!("\n$EndNodes\n$Elements\n{}\n", mesh.tetrahedra.len() + 2));
    b.ints([2, 2, 2, 1, 0, 1, tag(0), tag(1), tag(2), 2, 0, 1, tag(0), tag(1), tag(2)]);
    for (t, corners) in mesh.tetrahedra.iter().enumerate() {
        let t4 = [3 + t as u32, label(mesh, t), 1];
        if t == 0 {
            b.ints([11, 1, 2].into_iter().chain(t4).chain(corners.map(tag)).chain([tag(0); 6]));
        } else {
            b.ints([4, 1, 2].into_iter().chain(t4).chain(corners.map(tag)));
        }
    }
    b.text("\n$EndElements\n");
    b.out
}

/// Labels and the tetrahedra that have them: the volumes of version 4.1.
fn volumes(mesh: &SolidMesh) -> Vec<(u32, Vec<usize>)> {
    let mut volumes: Vec<(u32, Vec<usize>)> = Vec::new();
    for t in 0..mesh.tetrahedra.len() {
        // In the order of the mesh: one volume for each run of a label.
        match volumes.last_mut() {
            Some((last, list)) if *last == label(mesh, t) => list.push(t),
            _ => volumes.push((label(mesh, t), vec![t])),
        }
    }
    volumes
}

pub fn gmsh_41_text(mesh: &SolidMesh) -> Vec<u8> {
    let volumes = volumes(mesh);
    let mut out = String::from("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n");
    write!(out, "1 1 0 {}\n1 0 0 0 0\n1 0 0 0 1 1 1 0 2 1 -1\n", volumes.len()).unwrap();
    for (i, (label, _)) in volumes.iter().enumerate() {
        let groups = if *label == 0 { "0".to_owned() } else { format!("2 {label} 99") };
        writeln!(out, "{} 0 0 0 1 1 1 {groups} 1 -3", i + 1).unwrap();
    }
    let places = places(mesh);
    let n = places.len();
    write!(out, "$EndEntities\n$Nodes\n2 {n} 1 1000\n2 1 1 1\n{}\n", tag(0)).unwrap();
    let [x, y, z] = places[0];
    write!(out, "{x} {y} {z} 0.5 0.5\n3 1 0 {}\n", n - 1).unwrap();
    (1..n as u32).for_each(|v| writeln!(out, "{}", tag(v)).unwrap());
    places[1..].iter().for_each(|[x, y, z]| writeln!(out, "{x} {y} {z}").unwrap());
    let count = mesh.tetrahedra.len() + 1;
    write!(
        out,
        "$EndNodes\n$Elements\n{} {count} 1 {count}\n2 1 2 1\n1 {} {} {}\n",
        volumes.len() + 1,
        tag(0),
        tag(1),
        tag(2)
    )
    .unwrap();
    for (i, (_, list)) in volumes.iter().enumerate() {
        writeln!(out, "3 {} 4 {}", i + 1, list.len()).unwrap();
        for &t in list {
            let [a, b, c, d] = mesh.tetrahedra[t].map(tag);
            writeln!(out, "{} {a} {b} {c} {d}", t + 2).unwrap();
        }
    }
    out += "$EndElements\n";
    out.into()
}

pub fn gmsh_41_binary(mesh: &SolidMesh, big: bool) -> Vec<u8> {
    let volumes = volumes(mesh);
    let mut b = Bytes { out: Vec::new(), big };
    b.text("$MeshFormat\n4.1 1 8\n");
    b.ints([1]);
    b.text("\n$EndMeshFormat\n$Entities\n");
    b.longs([1, 0, 0, volumes.len() as u64]);
    b.ints([1]);
    b.doubles([0.0; 3]);
    b.longs([0]);
    for (i, (label, _)) in volumes.iter().enumerate() {
        b.ints([i as u32 + 1]);
        b.doubles([0.0; 6]);
        b.longs([1]);
        b.ints([*label]);
        b.longs([2]);
        b.ints([1, 2]);
    }
    b.text("\n$EndEntities\n$Nodes\n");
    let places = places(mesh);
    let n = places.len() as u64;
    b.longs([1, n, 1, 1000]);
    b.ints([3, 1, 0]);
    b.longs([n]);
    b.longs((0..n as u32).map(|v| u64::from(tag(v))));
    places.iter().for_each(|p| b.doubles(*p));
    b.text("\n$EndNodes\n$Comments\n\0\x01 any \n$EndComments\n$Elements\n");
    b.longs([volumes.len() as u64 + 1, mesh.tetrahedra.len() as u64 + 1, 1, 1000]);
    b.ints([2, 1, 2]);
    b.longs([1, 1, tag(0).into(), tag(1).into(), tag(2).into()]);
    for (i, (_, list)) in volumes.iter().enumerate() {
        b.ints([3, i as u32 + 1, 4]);
        b.longs([list.len() as u64]);
        for &t in list {
            b.longs([t as u64 + 2].into_iter().chain(mesh.tetrahedra[t].map(|v| u64::from(tag(v)))));
        }
    }
    b.text("\n$EndElements\n");
    b.out
}

/// The `.node` and the `.ele` file.
pub fn write_tetgen(mesh: &SolidMesh, first: u32) -> (Vec<u8>, Vec<u8>) {
    let places = places(mesh);
    let mut node = format!("# nodes\n{} 3 1 1 # count\n\n", places.len());
    for (v, [x, y, z]) in (first..).zip(places) {
        writeln!(node, "  {v} {x} {y} {z} 0.5 -1").unwrap();
    }
    let attributes = u32::from(!mesh.labels.is_empty());
    let mut ele = format!("{}  4  {attributes}\n", mesh.tetrahedra.len());
    for (t, corners) in mesh.tetrahedra.iter().enumerate() {
        let [a, b, c, d] = corners.map(|v| v + first);
        write!(ele, "{} {a} {b} {c} {d}", t as u32 + first).unwrap();
        if attributes > 0 {
            write!(ele, " {}", label(mesh, t)).unwrap();
        }
        ele += "\n";
    }
    ele += "# made by hand\n";
    (node.into(), ele.into())
}

/// Cells of VTK: a triangle, then the tetrahedra, the first of second order.
fn cells(mesh: &SolidMesh) -> (Vec<Vec<u32>>, Vec<u32>, Vec<u32>) {
    let (mut cells, mut kinds, mut labels) = (vec![vec![0, 1, 2]], vec![5], vec![3]);
    for (t, corners) in mesh.tetrahedra.iter().enumerate() {
        let mut cell = corners.to_vec();
        if t == 0 {
            cell.extend([0; 6]);
        }
        cells.push(cell);
        kinds.push(if t == 0 { 24 } else { 10 });
        labels.push(label(mesh, t));
    }
    (cells, kinds, labels)
}

pub fn vtk(mesh: &SolidMesh, binary: bool, five: bool) -> Vec<u8> {
    let (cells, kinds, labels) = cells(mesh);
    let mut b = Bytes { out: Vec::new(), big: true };
    let version = if five { "5.1" } else { "3.0" };
    let encoding = if binary { "BINARY" } else { "ASCII" };
    b.text(&format!(
        "# vtk DataFile Version {version}\nany title: POINTS 3\n{encoding}\nDATASET UNSTRUCTURED_GRID\n"
    ));
    let places = places(mesh);
    b.text(&format!("POINTS {} double\n", places.len()));
    let doubles = |b: &mut Bytes, values: &[f64]| match binary {
        true => b.doubles(values.iter().copied()),
        false => values.iter().for_each(|v| b.text(&format!("{v} "))),
    };
    let ints = |b: &mut Bytes, values: &[u32], long: bool| match (binary, long) {
        (true, false) => b.ints(values.iter().copied()),
        (true, true) => b.longs(values.iter().map(|&v| u64::from(v))),
        (false, _) => values.iter().for_each(|v| b.text(&format!("{v} "))),
    };
    doubles(&mut b, places.as_flattened());
    let corners: Vec<u32> = cells.concat();
    if five {
        b.text(&format!(
            "\nMETADATA\nINFORMATION 0\n\nCELLS {} {}\nOFFSETS vtktypeint64\n",
            cells.len() + 1,
            corners.len()
        ));
        let mut end = 0;
        let ends: Vec<u32> = std::iter::once(0)
            .chain(cells.iter().map(|cell| {
                end += cell.len() as u32;
                end
            }))
            .collect();
        ints(&mut b, &ends, true);
        b.text("\nCONNECTIVITY vtktypeint64\n");
        ints(&mut b, &corners, true);
    } else {
        b.text(&format!("\nCELLS {} {}\n", cells.len(), corners.len() + cells.len()));
        for cell in &cells {
            ints(&mut b, &[cell.len() as u32], false);
            ints(&mut b, cell, false);
        }
    }
    b.text(&format!("\nCELL_TYPES {}\n", cells.len()));
    ints(&mut b, &kinds, false);
    b.text(&format!("\nPOINT_DATA {}\nSCALARS label double\nLOOKUP_TABLE default\n", places.len()));
    doubles(&mut b, &vec![5.0; places.len()]);
    b.text(&format!("\nCELL_DATA {}\nVECTORS v double\n", cells.len()));
    doubles(&mut b, &vec![0.5; 3 * cells.len()]);
    if five {
        b.text(&format!("\nFIELD FieldData 2\nother 2 {} double\n", cells.len()));
        doubles(&mut b, &vec![0.5; 2 * cells.len()]);
        b.text(&format!("\nregion 1 {} int\n", cells.len()));
    } else {
        b.text("\nSCALARS Region int 1\nLOOKUP_TABLE default\n");
    }
    ints(&mut b, &labels, false);
    b.text("\n");
    b.out
}

pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().chain([0, 0].iter()).take(3).fold(0u32, |bits, &b| bits << 8 | u32::from(b));
        for i in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * i) & 63) as usize] as char;
            out.push(if i <= chunk.len() { letter } else { '=' });
        }
    }
    out
}

/// `how`: ascii, binary (base64 in place), base64 or raw (appended).
pub fn vtu(mesh: &SolidMesh, how: &str, wide: bool, big: bool) -> Vec<u8> {
    let (cells, kinds, labels) = cells(mesh);
    let places = places(mesh);
    let mut end = 0;
    let ends: Vec<u32> = cells
        .iter()
        .map(|cell| {
            end += cell.len() as u32;
            end
        })
        .collect();
    let mut appended: Vec<u8> = Vec::new();
    let mut array = |kind: &str, name: &str, more: &str, text: String, data: Vec<u8>| {
        let mut b = Bytes { out: Vec::new(), big };
        if wide {
            b.longs([data.len() as u64])
        } else {
            b.ints([data.len() as u32])
        }
        b.out.extend(data);
        let open = format!("<DataArray type=\"{kind}\" Name=\"{name}\"{more}");
        match how {
            "ascii" => format!("{open} format=\"ascii\">\n{text}\n</DataArray>\n"),
            "binary" => format!("{open} format=\"binary\">\n  {}\n</DataArray>\n", base64(&b.out)),
            _ => {
                let offset = appended.len();
                appended.extend(if how == "raw" { b.out } else { base64(&b.out).into_bytes() });
                format!("{open} format=\"appended\" offset=\"{offset}\"/>\n")
            }
        }
    };
    let words = |values: &[u32]| values.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    let bytes = |fill: &dyn Fn(&mut Bytes)| {
        let mut b = Bytes { out: Vec::new(), big };
        fill(&mut b);
        b.out
    };
    let flat = places.as_flattened();
    let text = flat.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    let points = array(
        "Float64",
        "Points",
        " NumberOfComponents=\"3\"",
        text,
        bytes(&|b| b.doubles(flat.iter().copied())),
    );
    let corners = cells.concat();
    let connectivity = array(
        "Int64",
        "connectivity",
        "",
        words(&corners),
        bytes(&|b| b.longs(corners.iter().map(|&v| v.into()))),
    );
    let offsets = array("Int32", "offsets", "", words(&ends), bytes(&|b| b.ints(ends.iter().copied())));
    let types = array("UInt8", "types", "", words(&kinds), kinds.iter().map(|&k| k as u8).collect());
    let region =
        array("Int32", "CellEntityIds", "", words(&labels), bytes(&|b| b.ints(labels.iter().copied())));
    let (order, header) =
        (if big { "BigEndian" } else { "LittleEndian" }, if wide { "UInt64" } else { "UInt32" });
    let mut out = format!(
        "<?xml version=\"1.0\"?>\n<!-- made by hand -->\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" \
         byte_order=\"{order}\" header_type=\"{header}\">\n<UnstructuredGrid>\n\
         <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n<PointData/>\n<CellData Scalars=\"x\">\n{region}</CellData>\n\
         <Points>\n{points}</Points>\n<Cells>\n{connectivity}{offsets}{types}</Cells>\n</Piece>\n</UnstructuredGrid>\n",
        places.len(),
        cells.len()
    )
    .into_bytes();
    if how == "raw" || how == "base64" {
        out.extend(format!("<AppendedData encoding=\"{how}\">\n_").into_bytes());
        out.extend(appended);
        out.extend(b"\n</AppendedData>\n");
    }
    out.extend(b"</VTKFile>\n");
    out
}

pub fn medit(mesh: &SolidMesh) -> Vec<u8> {
    let places = places(mesh);
    let mut out = format!("MeshVersionFormatted 2\n# by hand\nDimension\n3\n\nVertices\n{}\n", places.len());
    places.iter().for_each(|[x, y, z]| writeln!(out, "{x} {y} {z} 1").unwrap());
    write!(out, "Triangles 1\n1 2 3 5\nTetrahedra\n{}\n", mesh.tetrahedra.len()).unwrap();
    for (t, corners) in mesh.tetrahedra.iter().enumerate() {
        let [a, b, c, d] = corners.map(|v| v + 1);
        writeln!(out, "{a} {b} {c} {d} {}", label(mesh, t)).unwrap();
    }
    out += "RequiredVertices\n1\n1\nEnd\n";
    out.into()
}
