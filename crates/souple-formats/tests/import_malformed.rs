//! The corpus of malformed mesh files: each is refused, with the error that helps.

mod import_support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use import_support::{binary_stl, chunk, read};
use souple::SceneError;
use souple::scene::{Rig, RigFile};
use souple_formats::import::{ImportError, Limits, MeshFormat, read_mesh};
use souple_formats::scene::read_rig_file;

/// Each file of the folder `malformed` and what its error says.
const EXPECTED: &[(&str, &str)] = &[
    ("accessor_beyond_view.gltf", "it needs 60 bytes of buffer view 0, which has 48; 12 bytes are missing"),
    ("accessor_missing.gltf", "accessor 99: accessor index 99 is out of range, the count is 6"),
    ("accessor_of_wrong_type.gltf", "accessor 3: its type is SCALAR, which does not fit its use"),
    ("bone_out_of_range.gltf", "names bone 255, but there are only 1"),
    ("fourth_bones_out_of_range.gltf", "names bone 255, but there are only 16"),
    ("fourth_weights_too_few.gltf", "mesh 0: accessor 13 has 3 elements for 4 vertices"),
    ("third_bones_of_wrong_type.gltf", "accessor 10: its type is VEC3, which does not fit its use"),
    ("third_weights_not_a_number.gltf", "a weight of mesh 0 ('body') is not a finite number"),
    ("buffer_cut_short.gltf", "buffer 0 is to have 9999 bytes, and has 140"),
    ("count_beyond_64_bits.gltf", "line 1: the JSON is not that of a glTF file"),
    ("count_huge.gltf", "accessor 0: it announces 1000000000000 elements"),
    ("data_not_base64.gltf", "buffer 0: its data is not base64"),
    ("extension_unknown.gltf", "it needs the extension 'KHR_draco_mesh_compression'"),
    ("file_beside_missing.gltf", "buffer 0: cannot read 'x.bin'"),
    ("index_out_of_range.gltf", "mesh 0: vertex index 255 is out of range"),
    ("key_not_a_number.gltf", "clip 'clip0', channel 0: value 2 is not a finite number"),
    ("keys_out_of_order.gltf", "clip 'clip0', channel 0: key 1 is earlier than the one before"),
    ("matrix_with_shear.gltf", "node 1: its matrix has shear"),
    ("nodes_in_a_ring.gltf", "carries itself, through others or not"),
    ("node_of_two_parents.gltf", "node 1 is a child of node 0 and of node 2"),
    ("no_meshes.gltf", "the file has no vertices"),
    ("skin_without_bones.gltf", "bones of skin 0: 0 numbers, but 1 are needed"),
    ("sparse_index_out_of_range.gltf", "accessor 0: sparse element index 255 is out of range"),
    ("version_1.gltf", "version '1.0' is not read, 2.0 is"),
    ("json_cut_short.gltf", "line 1: the JSON ends too early"),
    ("cut_short.glb", "1276 bytes are announced"),
    ("chunk_beyond_file.glb", "a chunk of 2147483648 bytes is announced"),
    ("no_json.glb", "byte 12: it has no JSON chunk"),
    ("decimal_comma.obj", "line 1: '0,5' is not a number"),
    ("empty.obj", "the file is empty (0 bytes)"),
    ("face_index_beyond_64_bits.obj", "line 4: '99999999999999999999' is not a vertex index"),
    ("face_index_huge.obj", "line 4: vertex index 9000000000000 is out of range, the count is 3"),
    (
        "face_index_most_negative.obj",
        "line 4: vertex index -9223372036854775808 is out of range, the count is 3",
    ),
    ("face_index_negative_past_start.obj", "line 4: vertex index -4 is out of range, the count is 3"),
    ("face_index_not_a_number.obj", "line 4: 'x' is not a vertex index"),
    ("face_index_out_of_range.obj", "line 5: vertex index 4 is out of range, the count is 3"),
    ("face_index_zero.obj", "line 4: vertex index 0 is out of range, the count is 3"),
    ("face_of_two_corners.obj", "line 4: a face needs at least 3 corners, this one has 2"),
    ("faces_only.obj", "the file has no vertices"),
    ("infinite_vertex.obj", "line 2: a vertex coordinate is not a finite number: (1, 0, -inf)"),
    ("nan_texture_coordinate.obj", "line 4: a texture coordinate is not a finite number: (NaN, 0)"),
    ("nan_vertex.obj", "line 2: a vertex coordinate is not a finite number: (1, NaN, 0)"),
    ("no_vertices.obj", "the file has no vertices"),
    ("random.obj", "the file has no vertices"),
    ("texture_coordinate_without_numbers.obj", "line 4: a texture coordinate has no numbers"),
    ("texture_index_out_of_range.obj", "line 5: texture coordinate index 2 is out of range, the count is 1"),
    ("vertex_beyond_doubles.obj", "line 2: a vertex coordinate is not a finite number: (inf, 0, 0)"),
    ("vertex_of_two_coordinates.obj", "line 2: a vertex needs 3 coordinates, this one has 2"),
    (
        "billion_faces.ply",
        "line 7: 1000000000 rows of element 'face' are announced, but only 26 bytes follow the header; 1999999991 bytes or more are missing",
    ),
    (
        "billion_vertices_binary.ply",
        "line 3: 1000000000 rows of element 'vertex' are announced, but only 850 bytes follow the header; 11999999150 bytes or more are missing",
    ),
    (
        "billion_vertices_text.ply",
        "line 13: 1000000000 rows of element 'vertex' are announced, but only 71 bytes follow the header; 5999999928 bytes or more are missing",
    ),
    ("binary_bytes_too_many.ply", "byte 218: more data follows the last row that the header announces"),
    ("binary_face_index_out_of_range.ply", "byte 214: vertex index -7 is out of range, the count is 3"),
    (
        "binary_list_count_huge.ply",
        "byte 204: a list announces 4294967295 items, but the file has room for 3 at most; 4294967292 items are missing",
    ),
    ("binary_list_count_nan.ply", "byte 205: a list has the count NaN"),
    ("binary_list_count_negative.ply", "byte 204: a list has the count -3"),
    ("binary_nan_vertex.ply", "byte 169: a vertex coordinate is not a finite number: (0, NaN, 0)"),
    (
        "binary_truncated.ply",
        "byte 205: a list announces 3 items, but the file has room for 2 at most; 1 items are missing",
    ),
    (
        "binary_vertices_truncated.ply",
        "line 3: 3 rows of element 'vertex' are announced, but only 26 bytes follow the header; 10 bytes or more are missing",
    ),
    ("count_beyond_64_bits.ply", "line 3: '99999999999999999999' is not a count of rows"),
    ("count_negative.ply", "line 3: '-3' is not a count of rows"),
    (
        "count_that_overflows.ply",
        "line 3: 9223372036854775807 rows of element 'vertex' are announced, but only 0 bytes follow the header; 18446744073709551614 bytes or more are missing",
    ),
    ("element_twice.ply", "line 7: element 'vertex' is announced twice"),
    ("empty.ply", "the file is empty (0 bytes)"),
    ("face_index_fraction.ply", "line 13: a face names vertex 1.5"),
    ("face_index_negative.ply", "line 13: vertex index -1 is out of range, the count is 3"),
    ("face_index_out_of_range.ply", "line 13: vertex index 3 is out of range, the count is 3"),
    ("face_of_two_corners.ply", "line 13: a face needs at least 3 corners, this one has 2"),
    ("face_without_list.ply", "line 7: element 'face' does not have the list property vertex_indices"),
    ("header_cut.ply", "line 6: the header line 'property' is not understood"),
    ("list_as_coordinate.ply", "line 3: element 'vertex' does not have the scalar properties x, y and z"),
    ("list_count_fraction.ply", "line 13: a list has the count 2.5"),
    (
        "list_count_huge.ply",
        "line 13: a list announces 4000000000 items, but the file has room for 4 at most; 3999999996 items are missing",
    ),
    ("list_count_negative.ply", "line 13: a list has the count -3"),
    (
        "missing_rows.ply",
        "line 19: the file ends after 2 of the 4 rows of element 'face'; 2 rows are missing",
    ),
    ("missing_value.ply", "line 11: the row has fewer values than the header announces"),
    ("nan_vertex.ply", "line 11: a vertex coordinate is not a finite number: (1, 0, NaN)"),
    ("no_end_header.ply", "line 8: the file ends before 'end_header'"),
    ("no_format.ply", "line 6: the header has no 'format' line"),
    ("no_vertex_element.ply", "the file has no vertices"),
    ("no_vertices.ply", "the file has no vertices"),
    ("no_z.ply", "line 3: element 'vertex' does not have the scalar properties x, y and z"),
    ("other_file.ply", "a PLY file begins with a line 'ply', this one does not"),
    ("property_before_element.ply", "line 3: a property stands before the first element"),
    ("random.ply", "a PLY file begins with a line 'ply', this one does not"),
    ("rows_too_many.ply", "line 14: more data follows the last row that the header announces"),
    ("unknown_format.ply", "line 2: 'utf8' is not a format of PLY"),
    ("unknown_type.ply", "line 5: 'half' is not a type of PLY"),
    ("unknown_version.ply", "line 2: version '2.0' of PLY is not known"),
    ("value_not_a_number.ply", "line 11: '0x10' is not a number"),
    ("value_too_many.ply", "line 11: a row of element 'vertex' goes on with '5' after its last property"),
    (
        "billion_triangles.stl",
        "byte 84: the file announces 1000000000 triangles (50000000000 bytes) but has 18 (940 bytes); 49999999060 bytes are missing",
    ),
    ("count_too_small.stl", "byte 84: the file announces 1 triangles, but 50 more bytes follow them"),
    ("empty.stl", "the file is empty (0 bytes)"),
    (
        "header_only.stl",
        "byte 0: neither a text that begins with 'solid' nor long enough for the 84-byte header of a binary STL; 4 bytes are missing",
    ),
    ("nan_vertex.stl", "byte 158: a vertex coordinate is not a finite number: (1, NaN, 0)"),
    ("no_triangles.stl", "the file has no vertices"),
    (
        "random.stl",
        "byte 84: the file announces 997937833 triangles (49896891650 bytes) but has 10 (516 bytes); 49896891134 bytes are missing",
    ),
    ("text_facet_of_four_vertices.stl", "line 8: a facet of STL has 3 vertices, this one has 4"),
    ("text_facet_of_two_vertices.stl", "line 6: a facet of STL has 3 vertices, this one has 2"),
    ("text_nan_vertex.stl", "line 5: a vertex coordinate is not a finite number: (1, NaN, 0)"),
    ("text_no_facets.stl", "the file has no vertices"),
    ("text_not_a_number.stl", "line 5: 'zero' is not a number"),
    ("text_truncated.stl", "line 6: the text ends before 'endsolid', after 0 triangles"),
    ("text_unknown_word.stl", "line 9: expected 'facet' or 'endsolid', found 'colour'"),
    ("text_vertex_of_two_coordinates.stl", "line 5: a vertex needs 3 coordinates, this one has 2"),
    ("text_vertex_outside_loop.stl", "line 2: expected 'facet' or 'endsolid', found 'vertex'"),
    ("text_without_endsolid.stl", "line 9: the text ends before 'endsolid', after 1 triangles"),
    (
        "truncated.stl",
        "byte 84: the file announces 3 triangles (150 bytes) but has 1 (90 bytes); 60 bytes are missing",
    ),
    (
        "truncated_solid_header.stl",
        "byte 84: the file announces 3 triangles (150 bytes) but has 1 (90 bytes); 60 bytes are missing",
    ),
    (
        "chunk_length_largest.3ds",
        "byte 6: chunk 0x3d3d has length 4294967295, but the file ends 6 bytes on; 4294967289 bytes are missing",
    ),
    (
        "chunk_longer_than_file.3ds",
        "byte 0: chunk 0x4d4d has length 5000, but the file ends 86 bytes on; 4914 bytes are missing",
    ),
    ("chunk_longer_than_parent.3ds", "byte 6: chunk 0x3d3d has length 40, but its parent ends 16 bytes on"),
    ("chunk_of_zero_length.3ds", "byte 6: chunk 0x3d3d has length 0, less than its own header of 6 bytes"),
    (
        "chunk_shorter_than_header.3ds",
        "byte 26: chunk 0x4110 has length 5, less than its own header of 6 bytes",
    ),
    ("deep_nesting.3ds", "the file has no vertices"),
    ("deep_nesting_of_objects.3ds", "the file has no vertices"),
    ("empty.3ds", "the file is empty (0 bytes)"),
    (
        "face_count_too_large.3ds",
        "byte 70: 9 faces are announced, but the chunk has room for 1; 64 bytes are missing",
    ),
    ("face_index_out_of_range.3ds", "byte 78: vertex index 3 is out of range, the count is 3"),
    ("faces_without_vertices.3ds", "byte 34: vertex index 0 is out of range, the count is 0"),
    ("list_without_count.3ds", "byte 26: the list of vertices has no count"),
    (
        "main_chunk_of_zero_length.3ds",
        "byte 0: chunk 0x4d4d has length 0, less than its own header of 6 bytes",
    ),
    ("name_without_end.3ds", "byte 12: the name of the object has no zero byte at its end"),
    ("nan_texture_coordinate.3ds", "byte 86: a texture coordinate is not a finite number: (inf, 0)"),
    ("nan_vertex.3ds", "byte 58: a vertex coordinate is not a finite number: (0, 1, NaN)"),
    ("no_mesh.3ds", "the file has no vertices"),
    ("other_file.3ds", "a 3DS file begins with the bytes 4D 4D ('MM'), this one does not"),
    ("random.3ds", "a 3DS file begins with the bytes 4D 4D ('MM'), this one does not"),
    ("texture_coordinates_too_few.3ds", "byte 70: 2 texture coordinates for 3 vertices"),
    (
        "truncated.3ds",
        "byte 0: chunk 0x4d4d has length 86, but the file ends 66 bytes on; 20 bytes are missing",
    ),
    ("two_bytes.3ds", "byte 0: the header of the main chunk is not whole; 4 bytes are missing"),
    ("two_vertex_lists.3ds", "byte 70: the mesh has a second list of vertices"),
    (
        "vertex_count_too_large.3ds",
        "byte 26: 65535 vertices are announced, but the chunk has room for 3; 786384 bytes are missing",
    ),
    ("empty.msh", "the file is empty (0 bytes)"),
    ("other_file.msh", "a Gmsh file begins with a line '$MeshFormat', this one does not"),
    ("random.msh", "a Gmsh file begins with a line '$MeshFormat', this one does not"),
    ("unknown_version.msh", "line 2: version '4.0' of the format is not read"),
    (
        "count_huge.msh",
        "line 5: 1000000000 nodes are announced, but only 86 bytes follow; 7999999914 bytes or more are missing",
    ),
    ("count_negative.msh", "line 5: -4 is no whole number that could be a count of nodes"),
    (
        "elements_huge.msh",
        "line 12: 999999999999 elements are announced, but only 32 bytes follow; 5999999999962 bytes or more are missing",
    ),
    ("nan_node.msh", "line 8: a vertex coordinate is not a finite number: (0, NaN, 0)"),
    ("node_not_there.msh", "line 13: element 1 names node 9, which is none of the 4 nodes"),
    ("node_twice.msh", "line 9: two nodes have the number 2"),
    (
        "flat_element.msh",
        "element 1 has no volume: its corners [0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0] lie in a plane",
    ),
    ("no_tetrahedra.msh", "the file has no tetrahedra"),
    ("elements_before_nodes.msh", "line 4: elements stand before the nodes"),
    ("section_without_end.msh", "line 16: the section '$Comments' has no end"),
    ("nodes_too_few.msh", "line 10: '$EndNodes' stands where the number of a node is expected"),
    ("binary_byte_order.msh", "byte 20: the number 1 that tells the byte order is missing"),
    (
        "binary_nodes_huge.msh",
        "byte 60: 1000000000000 nodes are announced, but only 190 bytes follow; 27999999999810 bytes or more are missing",
    ),
    (
        "binary_block_huge.msh",
        "byte 196: 2147483647 elements are announced, but only 42 bytes follow; 60129542074 bytes or more are missing",
    ),
    ("binary_unknown_type.msh", "byte 188: element type 77 is not known"),
    ("binary_block_of_none.msh", "byte 196: a block of no elements"),
    (
        "binary_count_that_overflows.msh",
        "byte 55: 9223372036854776000 is no whole number that could be a count of nodes",
    ),
    ("empty.vtk", "the file is empty (0 bytes)"),
    ("other_file.vtk", "a VTK file begins with '# vtk DataFile Version', this one does not"),
    ("polydata.vtk", "line 4: the file holds 'POLYDATA', not an unstructured grid"),
    (
        "points_huge.vtk",
        "line 5: 4000000000 points are announced, but only 67 bytes follow; 15999999933 bytes or more are missing",
    ),
    (
        "cell_index_out_of_range.vtk",
        "line 8: vertex index 4 is out of range, the count is 4 (VTK counts from 0)",
    ),
    (
        "cell_index_negative.vtk",
        "line 8: vertex index -2 is out of range, the count is 4 (VTK counts from 0)",
    ),
    ("cell_of_three_corners.vtk", "line 11: cell 0 is a tetrahedron of 3 corners"),
    ("types_too_few.vtk", "line 11: there are 2 cells, but 1 types of cells"),
    ("nan_point.vtk", "line 6: a vertex coordinate is not a finite number: (0, 0, inf)"),
    (
        "flat_cell.vtk",
        "element 0 has no volume: its corners [0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0] lie in a plane",
    ),
    ("offsets_go_down.vtk", "line 9: offset 4 of cell 2 is below the last or beyond the 8 corners"),
    ("binary_truncated.vtk", "byte 117: the file ends before a coordinate of a point; 4 bytes are missing"),
    ("empty.vtu", "the file is empty (0 bytes)"),
    ("other_file.vtu", "a VTU file is XML and begins with <VTKFile>, this one does not"),
    ("polydata.vtu", "byte 0: the file holds 'PolyData', not an UnstructuredGrid"),
    ("points_too_few.vtu", "byte 77: the piece announces 3000000000 coordinates but has 12"),
    ("index_out_of_range.vtu", "byte 77: vertex index 4 is out of range, the count is 4 (VTK counts from 0)"),
    ("index_nan.vtu", "byte 77: a cell names vertex NaN"),
    ("offset_beyond.vtu", "byte 77: offset 5 of cell 0 is below the last or beyond the 4 corners"),
    ("no_types.vtu", "byte 77: a <Piece> has no array of types"),
    ("no_end_of_piece.vtu", "byte 455: the file ends within a <Piece>"),
    ("compressed.vtu", "byte 164: the array is compressed; save it uncompressed"),
    ("appended_missing.vtu", "byte 129: the file has no <AppendedData>"),
    ("base64_cut.vtu", "byte 194: an array announces 48 bytes but has 2; 46 bytes are missing"),
    ("unknown_array_type.vtu", "byte 129: type 'Half' of an array is not known"),
    ("empty.mesh", "the file is empty (0 bytes)"),
    ("other_file.mesh", "a MEDIT text begins with 'MeshVersionFormatted', this one does not"),
    ("flat.mesh", "line 2: the mesh is not of three dimensions"),
    (
        "vertices_huge.mesh",
        "line 3: 99999999999 vertices are announced, but only 60 bytes follow; 799999999932 bytes or more are missing",
    ),
    ("index_zero.mesh", "line 9: vertex index 0 is out of range, the count is 4 (MEDIT counts from 1)"),
    (
        "index_out_of_range.mesh",
        "line 9: vertex index 5 is out of range, the count is 4 (MEDIT counts from 1)",
    ),
    ("index_fraction.mesh", "line 9: 3.5 is no whole number that could be a corner of a tetrahedron"),
    (
        "truncated.mesh",
        "line 3: 4 vertices are announced, but only 25 bytes follow; 7 bytes or more are missing",
    ),
    ("nan_vertex.mesh", "line 6: a vertex coordinate is not a finite number: (0, NaN, 0)"),
    (
        "flat_element.mesh",
        "element 1 has no volume: its corners [0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0] lie in a plane",
    ),
    (
        "ends_in_a_row.mesh",
        "line 8: 1 tetrahedra are announced, but only 6 bytes follow; 4 bytes or more are missing",
    ),
    ("lone.ele", "byte 0: a TetGen mesh is two files, .node and .ele, and only one is given"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/malformed")
}

fn format_of(name: &str) -> MeshFormat {
    let extension = name.rsplit('.').next().unwrap_or_default();
    MeshFormat::from_extension(extension).unwrap_or_else(|| panic!("{name}: unknown extension"))
}

#[test]
fn every_file_of_the_corpus_gives_its_own_error() {
    for (name, fragment) in EXPECTED {
        let bytes = std::fs::read(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let format = format_of(name);
        match read(&bytes, format) {
            Ok(mesh) => panic!("{name} was read: {} vertices", mesh.positions.len()),
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains(fragment), "{name}: expected '{fragment}' in '{text}'");
                assert!(text.starts_with(&format.to_string()), "{name}: no format in '{text}'");
            }
        }
    }
}

#[test]
fn no_file_of_the_corpus_is_forgotten() {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let files: BTreeSet<String> = files.map(|name| name.into_string().unwrap()).collect();
    let expected: BTreeSet<String> = EXPECTED.iter().map(|(name, _)| name.to_string()).collect();
    let files: BTreeSet<String> = files.into_iter().filter(|name| !name.starts_with('.')).collect();
    assert_eq!(files, expected);
}

#[test]
fn every_file_of_the_corpus_is_refused_as_any_other_format_too() {
    for (name, _) in EXPECTED {
        let bytes = std::fs::read(folder().join(name)).unwrap();
        for format in MeshFormat::ALL {
            assert!(read(&bytes, format).is_err(), "{name} as {format}");
        }
    }
}

/// With no limit in the way, it is the size of the file that refuses a count it cannot hold.
#[test]
fn announced_counts_are_refused_whatever_the_limits() {
    let most = usize::MAX;
    let limits = Limits { max_vertices: most, max_triangles: most, max_tetrahedra: most, max_bytes: most };
    for name in [
        "billion_vertices_text.ply",
        "billion_vertices_binary.ply",
        "billion_faces.ply",
        "billion_triangles.stl",
    ] {
        let bytes = std::fs::read(folder().join(name)).unwrap();
        let error = read_mesh(&bytes, format_of(name), &limits).unwrap_err();
        assert!(matches!(error, ImportError::Truncated { .. }), "{name}: {error}");
    }
    let mut stl = binary_stl(b"", &[]);
    stl[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = read_mesh(&stl, MeshFormat::Stl, &limits).unwrap_err();
    assert!(error.to_string().contains("announces 4294967295 triangles"), "{error}");
}

#[test]
fn very_deep_nesting_ends() {
    // 20 000 levels would overflow the stack of a reader that calls itself for each.
    let mut ids = [0x4d4d, 0x3d3d, 0x4000, 0x4100].into_iter().cycle();
    let mut headers: Vec<[u8; 6]> = Vec::new();
    let depth = 20_000usize;
    for level in 0..depth {
        let length = ((depth - level) * 6) as u32;
        let [a, b] = u16::to_le_bytes(ids.next().unwrap());
        let [c, d, e, f] = length.to_le_bytes();
        headers.push([a, b, c, d, e, f]);
    }
    assert!(read(headers.as_flattened(), MeshFormat::ThreeDs).is_err());
    let many_siblings = chunk(0x4d4d, &chunk(0x3d3d, &[]).repeat(depth));
    let error = read(&many_siblings, MeshFormat::ThreeDs).unwrap_err();
    assert_eq!(error, ImportError::NoVertices { format: MeshFormat::ThreeDs });
}

/// Each file of the folder `malformed_skeletons` and what its error says.
const SKELETONS: &[(&str, &str)] = &[
    ("angle_huge.toml", "line 18: clip[0].turn[0].rotate_deg: an angle is not finite, or huge"),
    ("cubic.toml", "line 19: clip[0].turn[0].interpolation: cubic keys need tangents"),
    ("cut_short.toml", "line 3:"),
    ("empty.toml", "line 1: the skeleton is empty"),
    ("format_2.toml", "line 1: format: skeletons of format 2 are not read, 1 is"),
    ("head_beyond_numbers.toml", "beyond 1e30"),
    ("head_not_a_number.toml", "line 3:"),
    ("head_of_two_numbers.toml", "line 3:"),
    ("key_infinite.toml", "line 18:"),
    ("keys_out_of_order.toml", "line 17: clip[0].turn[0].times: times do not ascend"),
    ("keys_too_few.toml", "line 17: clip[0].turn[0].times: 1 times for 2 rotations"),
    ("name_empty.toml", "line 7: bone[1].name: the bone has no name"),
    ("name_twice.toml", "line 7: bone[1].name: another bone is called 'upper', too"),
    ("no_bones.toml", "the skeleton has no bones"),
    ("no_tail.toml", "line 1:"),
    ("not_text.toml", "line 2: this byte is not UTF-8 text"),
    ("parent_itself.toml", "line 10: bone[1].parent: 'lower' carries itself"),
    ("parent_unknown.toml", "line 10: bone[1].parent: there is no bone 'uper'"),
    ("ring.toml", "carries itself, through others or not"),
    ("turn_of_unknown_bone.toml", "line 16: clip[0].turn[0].bone: there is no bone 'hand'"),
    ("turn_twice.toml", "turned twice in this clip"),
    ("unknown_field.toml", "line 4:"),
];

const MESH: &[u8] = b"v 0 0 0\nv 0 2 0\nv 0.1 1 0\nf 1 3 2\n";

/// The rig of a mesh and a skeleton as a scene names them.
fn skinned(skeleton: &[u8]) -> Result<Rig, SceneError> {
    let file = RigFile { path: "mesh.obj".into(), skeleton: Some("bones.toml".into()) };
    read_rig_file(&file, "character[0].rig.file.path", &mut |path| match path {
        "mesh.obj" => Ok(MESH.to_vec()),
        _ => Ok(skeleton.to_vec()),
    })
}

#[test]
fn malformed_skeletons_are_refused_with_the_error_that_helps() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/malformed_skeletons");
    for (name, expected) in SKELETONS {
        let error = skinned(&std::fs::read(folder.join(name)).unwrap()).unwrap_err();
        assert!(error.problem.contains(expected), "{name}: {}", error.problem);
        assert_eq!(error.field, "character[0].rig.file.skeleton", "{name}");
        assert!(!error.help.is_empty(), "{name} has no help");
    }
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let files: BTreeSet<String> = files.map(|name| name.into_string().unwrap()).collect();
    assert_eq!(files, SKELETONS.iter().map(|(name, _)| name.to_string()).collect());
}

#[test]
fn a_mesh_with_a_skeleton_is_a_rig() {
    let text = include_bytes!("../../../fuzz/seeds/skeleton/arm.toml");
    let rig = skinned(text).unwrap();
    let (mesh, skin) = (&rig.meshes[0], &rig.skins[0]);
    assert_eq!((rig.nodes.len(), rig.clips.len(), mesh.positions.len(), mesh.influences), (3, 1, 3, 0));
    assert_eq!((skin.joints.as_slice(), skin.tails[1]), (&[0, 1][..], [0.0, 2.0, 0.0]));
    // What is missing is said by its own field.
    let file = RigFile { path: "mesh.obj".into(), skeleton: Some("bones.toml".into()) };
    let mut none = |path: &str| if path == "mesh.obj" { Ok(MESH.to_vec()) } else { Err("gone".to_owned()) };
    let error = read_rig_file(&file, "character[0].rig.file.path", &mut none).unwrap_err();
    assert_eq!(error.field, "character[0].rig.file.skeleton");
    let error = read_rig_file(&file, "character[0].rig.file.path", &mut |_| Err("gone".into())).unwrap_err();
    assert_eq!(error.field, "character[0].rig.file.path");
    let file = RigFile { path: "mesh.obj".into(), skeleton: None };
    let error = read_rig_file(&file, "character[0].rig.file.path", &mut none).unwrap_err();
    assert!(error.help.contains("`skeleton`"), "{}", error.help);
}
