//! Readers of voxel volumes: every type, order and packing gives the same labels back, lengths become metres, and what is cut
//! short, no label or too large is refused.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::collection::vec;
use proptest::prelude::*;
use souple::mesh::VoxelVolume;
use souple_formats::import::volume::{VolumeError, VolumeFormat, VolumeLimits, read_volume};

fn read(bytes: &[u8], format: VolumeFormat) -> Result<VoxelVolume, VolumeError> {
    read_volume(bytes, format, &VolumeLimits::default())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn small() -> VoxelVolume {
    let labels = (0..24).map(|i| i % 5).collect();
    VoxelVolume { size: [2, 3, 4], spacing: [0.5, 0.25, 2.0], origin: [-1.0, 0.5, 8.0], labels }
}

/// Types with their names in NRRD and numbers in NIfTI.
const TYPES: [(&str, i16, usize); 8] = [
    ("int8", 256, 1),
    ("uchar", 2, 1),
    ("short", 4, 2),
    ("unsigned short", 512, 2),
    ("int", 8, 4),
    ("uint32_t", 768, 4),
    ("float", 16, 4),
    ("double", 64, 8),
];

fn encode(labels: &[u16], kind: usize, big: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for &label in labels {
        let mut bytes = match TYPES[kind] {
            ("float", ..) => f32::from(label).to_le_bytes().to_vec(),
            ("double", ..) => f64::from(label).to_le_bytes().to_vec(),
            (_, _, size) => u32::from(label).to_le_bytes()[..size].to_vec(),
        };
        if big {
            bytes.reverse();
        }
        out.extend(bytes);
    }
    out
}

fn nrrd(volume: &VoxelVolume, kind: usize, encoding: &str, big: bool) -> Vec<u8> {
    let ([nx, ny, nz], [x, y, z], [a, b, c]) = (volume.size, volume.spacing, volume.origin);
    let header = format!(
        "NRRD0004\n# a comment\ntype: {}\ndimension: 3\nspace: left-posterior-superior\nsizes: {nx} {ny} {nz}\n\
         space directions: ({x},0,0) (0,{y},0) (0,0,{z})\nkinds: domain domain domain\nendian: {}\nencoding: {encoding}\n\
         space origin: ({a},{b},{c})\nSegment0_Name:=liver\n\n",
        TYPES[kind].0,
        if big { "big" } else { "little" },
    );
    let data = match encoding {
        "ascii" => volume.labels.iter().map(u16::to_string).collect::<Vec<_>>().join("\n").into_bytes(),
        "gzip" => gzip(&encode(&volume.labels, kind, big)),
        _ => encode(&volume.labels, kind, big),
    };
    [header.into_bytes(), data].concat()
}

fn nifti(volume: &VoxelVolume, kind: usize, big: bool, form: &str) -> Vec<u8> {
    let mut header = vec![0; 352];
    let mut put = |at: usize, mut bytes: Vec<u8>| {
        if big {
            bytes.reverse();
        }
        header[at..at + bytes.len()].copy_from_slice(&bytes);
    };
    let short = |v: i16| v.to_le_bytes().to_vec();
    let float = |v: f64| (v as f32).to_le_bytes().to_vec();
    put(0, 348i32.to_le_bytes().to_vec());
    for (i, n) in
        [4, volume.size[0] as i16, volume.size[1] as i16, volume.size[2] as i16, 1].into_iter().enumerate()
    {
        put(40 + 2 * i, short(n));
    }
    put(70, short(TYPES[kind].1));
    put(72, short(8 * TYPES[kind].2 as i16));
    put(76, float(1.0));
    for axis in 0..3 {
        put(80 + 4 * axis, float(volume.spacing[axis]));
    }
    put(108, float(352.0));
    put(112, float(1.0));
    match form {
        "sform" => {
            put(254, short(1));
            for axis in 0..3 {
                put(280 + 20 * axis, float(volume.spacing[axis]));
                put(292 + 16 * axis, float(volume.origin[axis]));
            }
        }
        _ => {
            put(252, short(1));
            for axis in 0..3 {
                put(268 + 4 * axis, float(volume.origin[axis]));
            }
        }
    }
    header[123] = 1;
    header[344..348].copy_from_slice(b"n+1\0");
    [header, encode(&volume.labels, kind, big)].concat()
}

fn all_files(volume: &VoxelVolume) -> Vec<(String, VolumeFormat, Vec<u8>)> {
    let mut files = Vec::new();
    for kind in 0..TYPES.len() {
        for big in [false, true] {
            for encoding in ["raw", "gzip", "ascii"] {
                let name = format!("{} {encoding} big {big}", TYPES[kind].0);
                files.push((name, VolumeFormat::Nrrd, nrrd(volume, kind, encoding, big)));
            }
            for form in ["sform", "qform"] {
                let (name, plain) =
                    (format!("{} {form} big {big}", TYPES[kind].0), nifti(volume, kind, big, form));
                files.push((format!("{name} gz"), VolumeFormat::Nifti, gzip(&plain)));
                files.push((name, VolumeFormat::Nifti, plain));
            }
        }
    }
    files
}

#[test]
fn every_type_and_packing_gives_the_same_labels() {
    for (name, format, bytes) in all_files(&small()) {
        assert_eq!(read(&bytes, format), Ok(small()), "{format} {name}");
    }
}

#[test]
fn files_cut_anywhere_are_refused() {
    for (name, format, bytes) in all_files(&small()) {
        let packed = bytes.starts_with(&[0x1f, 0x8b]) || name.contains("gzip");
        // The end of gzip is a checksum, which comes after all voxels; of text a digit may be missing and still be a number.
        let enough = if packed || name.contains("ascii") { bytes.len() - 8 } else { bytes.len() };
        for end in 0..enough {
            match read(&bytes[..end], format) {
                Ok(volume) => assert!(packed && volume == small(), "{format} {name} at {end}"),
                Err(error) => assert!(error.to_string().starts_with(&format.to_string()), "{error}"),
            }
        }
    }
}

#[test]
fn too_short_files_say_what_they_have_and_need() {
    let bytes = nrrd(&small(), 3, "raw", false);
    let error = read(&bytes[..bytes.len() - 5], VolumeFormat::Nrrd).unwrap_err().to_string();
    assert!(
        error.starts_with("NRRD: the file has 43 bytes of voxels and needs 48: it is cut short"),
        "{error}"
    );
    let error = read(&nifti(&small(), 3, true, "sform")[..100], VolumeFormat::Nifti).unwrap_err().to_string();
    assert!(
        error.starts_with("NIfTI: the file has 100 bytes of header and needs 348: it is cut short"),
        "{error}"
    );
    let packed = gzip(&nifti(&small(), 2, false, "sform")[..360]);
    let error = read(&packed, VolumeFormat::Nifti).unwrap_err().to_string();
    assert!(error.starts_with("NIfTI: the file has 8 bytes of voxels and needs 48"), "{error}");
}

#[test]
fn sizes_are_refused_before_anything_is_allocated() {
    let text = |sizes: &str| {
        format!("NRRD0004\ntype: uchar\ndimension: 3\nsizes: {sizes}\nencoding: raw\n\n").into_bytes()
    };
    for sizes in
        ["18446744073709551615 18446744073709551615 2", "100000 100000 100000", "4294967296 4294967296 1"]
    {
        let error = read(&text(sizes), VolumeFormat::Nrrd).unwrap_err();
        assert!(matches!(error, VolumeError::TooManyVoxels { .. }), "{error}");
    }
    let error = read(&text("600 600 600"), VolumeFormat::Nrrd).unwrap_err().to_string();
    assert!(error.contains("the file has 0 bytes of voxels and needs 216000000"), "{error}");
    assert_eq!(read(&text("0 5 5"), VolumeFormat::Nrrd), Err(VolumeError::NoVoxels(VolumeFormat::Nrrd)));
    let limits = VolumeLimits { max_voxels: 23, ..VolumeLimits::default() };
    for (name, format, bytes) in all_files(&small()) {
        let error = read_volume(&bytes, format, &limits).unwrap_err();
        assert!(matches!(error, VolumeError::TooManyVoxels { .. }), "{name}: {error}");
    }
}

#[test]
fn values_that_are_no_labels_are_refused_with_their_voxel() {
    for (value, told) in
        [(0.5, "0.5"), (-1.0, "-1"), (f64::NAN, "NaN"), (70000.0, "70000"), (f64::INFINITY, "inf")]
    {
        let mut bytes = nrrd(&small(), 7, "raw", false);
        let at = bytes.len() - 24 * 8 + 8 * 9; // voxel 9 is (1, 1, 1)
        bytes[at..at + 8].copy_from_slice(&f64::to_le_bytes(value));
        let error = read(&bytes, VolumeFormat::Nrrd).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("NRRD: voxel [1, 1, 1] has the value {told}, which is no label")),
            "{error}"
        );
    }
}

#[test]
fn lengths_become_metres_and_axes_are_put_in_order() {
    let text = |more: &str| {
        let labels = (0..24).map(|i| i.to_string()).collect::<Vec<_>>().join(" ");
        format!("NRRD0005\ntype: short\ndimension: 3\nsizes: 2 3 4\nencoding: text\n{more}\n\n{labels}\n")
            .into_bytes()
    };
    let volume = read(
        &text("spacings: 1 2 3\nspace units: \"mm\" \"mm\" \"mm\"\nspace origin: (10,0,0)"),
        VolumeFormat::Nrrd,
    );
    let volume = volume.unwrap();
    assert_eq!((volume.spacing, volume.origin), ([0.001, 0.002, 0.003], [0.01, 0.0, 0.0]));
    let volume = read(
        &text("space directions: (-1,0,0) (0,0,2) (0,-0.5,0)\nspace origin: (5,6,7)"),
        VolumeFormat::Nrrd,
    );
    let volume = volume.unwrap();
    assert_eq!((volume.size, volume.spacing, volume.origin), ([2, 4, 3], [1.0, 0.5, 2.0], [4.0, 4.5, 7.0]));
    assert_eq!(
        (volume.label([1, 3, 0]), volume.label([0, 3, 0]), volume.label([1, 2, 1])),
        (Some(0), Some(1), Some(8))
    );

    let mut bytes = nifti(&small(), 1, false, "qform");
    bytes[123] = 2; // millimetres
    let volume = read(&bytes, VolumeFormat::Nifti).unwrap();
    assert_eq!((volume.spacing[1], volume.origin[2]), (0.00025, 0.008));
    bytes[256..260].copy_from_slice(&1f32.to_le_bytes()); // half a turn about x: y and z go down
    let volume = read(&bytes, VolumeFormat::Nifti).unwrap();
    assert!(
        (volume.origin[1] - 0.0).abs() < 1e-12 && (volume.origin[2] - 0.002).abs() < 1e-12,
        "{:?}",
        volume.origin
    );
    assert_eq!(volume.label([0, 2, 3]), small().label([0, 0, 0]));
    assert_eq!(volume.label([1, 2, 2]), small().label([1, 0, 1]));
    bytes[112..120].copy_from_slice(&[2f32.to_le_bytes(), 3f32.to_le_bytes()].concat()); // slope and intercept
    assert_eq!(read(&bytes, VolumeFormat::Nifti).unwrap().labels[0], 2 * volume.labels[0] + 3);
}

#[test]
fn what_is_not_read_is_refused_with_what_to_do() {
    let base = String::from_utf8(nrrd(&small(), 1, "ascii", false)).unwrap();
    for (from, to, told) in [
        ("NRRD0004", "NRRX0004", "line 1: an NRRD file begins with 'NRRD000'"),
        (
            "encoding: ascii",
            "encoding: bzip2",
            "line 10: encoding 'bzip2' is not read; save the volume as raw or gzip",
        ),
        (
            "encoding: ascii",
            "data file: a.raw",
            "line 10: a data file 'a.raw' is not read; save the volume as one file",
        ),
        ("type: uchar", "type: block", "line 3: type 'block' is not read"),
        ("dimension: 3", "dimension: 4", "the volume has 4 dimensions"),
        ("sizes: 2 3 4", "sizes: 2 3 4 1", "the volume has 3 dimensions and 4 sizes"),
        ("sizes: 2 3 4", "sizes: 2 x 4", "line 6: 'x' is not a number"),
        ("sizes: 2 3 4", "sizes 2 3 4", "line 6: the header line 'sizes 2 3 4' is not understood"),
        ("(0.5,0,0) (0,", "(nan,0,0) (0,", "line 7: '(nan,0,0)' is not a vector"),
        ("(0.5,0,0)", "(0,0,0)", "the size of a voxel or the origin"),
        ("(0.5,0,0)", "(0,0.5,0)", "two axes of the volume point the same way"),
        ("endian: little", "space units: \"feet\"", "line 9: the unit 'feet' is not known"),
    ] {
        let error = read(base.replacen(from, to, 1).as_bytes(), VolumeFormat::Nrrd).unwrap_err().to_string();
        assert!(error.contains(told), "{error}\n{told}");
    }
    let base = nifti(&small(), 1, false, "sform");
    for (at, bytes, told) in [
        (0, &[0x1c, 2, 0, 0][..], "NIfTI-2"),
        (0, &[1, 2, 3, 4], "does not begin with 348"),
        (344, b"ni1\0", "in another file"),
        (344, b"abc\0", "'n+1' is missing"),
        (40, &[2, 0], "the volume has 2 dimensions"),
        (42, &[0xff, 0xff], "has -1 voxels along an axis"),
        (48, &[5, 0], "the file holds 5 volumes"),
        (70, &[0x80, 0], "data type 128"),
        (108, &[0, 0, 0, 0], "the data is said to begin at byte 0"),
        (280, &[0, 0, 0xc0, 0x7f], "the size of a voxel or the origin"),
    ] {
        let mut changed = base.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        let error = read(&changed, VolumeFormat::Nifti).unwrap_err().to_string();
        assert!(error.contains(told), "{error}\n{told}");
    }
    assert_eq!(read(b"", VolumeFormat::Nifti), Err(VolumeError::EmptyFile(VolumeFormat::Nifti)));
}

#[test]
fn names_lead_to_formats() {
    let of = VolumeFormat::from_file_name;
    assert_eq!((of("a.NRRD"), of("b.nhdr")), (Some(VolumeFormat::Nrrd), Some(VolumeFormat::Nrrd)));
    assert_eq!(
        (of("a.nii"), of("x/b.Nii.GZ"), of("a.gz")),
        (Some(VolumeFormat::Nifti), Some(VolumeFormat::Nifti), None)
    );
}

/// Whatever comes out is whole.
fn check(bytes: &[u8], format: VolumeFormat) {
    match read(bytes, format) {
        Ok(volume) => {
            assert_eq!(volume.labels.len(), volume.size.iter().product::<usize>());
            assert!(volume.spacing.iter().all(|s| s.is_finite() && *s > 0.0));
            assert!(volume.origin.iter().all(|c| c.is_finite()));
        }
        Err(error) => assert!(error.to_string().starts_with(&format.to_string())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn random_volumes_come_back(size in [1..6usize, 1..6usize, 1..6usize], seed in any::<u64>()) {
        let n = size.iter().product::<usize>() as u64;
        let labels = (0..n).map(|i| (seed.wrapping_mul(i + 1) >> 40) as u16 % 128).collect();
        let volume = VoxelVolume { size, spacing: [0.125, 0.5, 4.0], origin: [1.0, -2.0, 0.75], labels };
        for (name, format, bytes) in all_files(&volume) {
            prop_assert_eq!(read(&bytes, format), Ok(volume.clone()), "{} {}", format, name);
        }
    }

    #[test]
    fn changed_files_never_panic(changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..5)) {
        for (_, format, mut bytes) in all_files(&small()) {
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            check(&bytes, format);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..600)) {
        for format in VolumeFormat::ALL {
            check(&bytes, format);
            check(&[b"NRRD0004\ntype: uchar\ndimension: 3\n", &bytes[..]].concat(), format);
            check(&[&[0x5c, 1, 0, 0], &bytes[..]].concat(), format);
        }
    }
}
