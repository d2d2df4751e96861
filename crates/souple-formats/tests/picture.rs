//! Pictures: what is written reads back the same, what others wrote reads as others read it, and no bytes do harm.

use std::path::Path;

use proptest::prelude::*;
use souple_formats::picture::{
    GifWriter, Picture, PictureError, PictureLimits, gif_frame_step, read_picture, write_png,
};

fn file(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures").join(name)).unwrap()
}

fn all_files() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures");
    let names = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert!(names.len() > 15);
    names.into_iter().map(|name| (name.clone(), file(&name))).collect()
}

fn read(bytes: &[u8]) -> Result<Picture, PictureError> {
    read_picture(bytes, &PictureLimits::default())
}

#[track_caller]
fn refused(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

// --- the picture itself

#[test]
fn pixels_are_counted_from_the_upper_left() {
    let mut picture = Picture::new(3, 2, [1, 2, 3, 4]);
    picture.set_pixel(2, 0, [9, 8, 7, 6]);
    picture.set_pixel(3, 0, [0; 4]);
    assert_eq!((picture.pixel(2, 0), picture.pixel(0, 1)), (Some([9, 8, 7, 6]), Some([1, 2, 3, 4])));
    assert_eq!((picture.pixel(3, 0), picture.pixel(0, 2)), (None, None));
    assert_eq!(picture.rgba[8..12], [9, 8, 7, 6]);
    picture.check().unwrap();
}

#[test]
fn pictures_that_contradict_themselves_are_refused() {
    for (width, height, bytes) in [(0, 3, 0), (3, 0, 0), (2, 2, 15), (2, 2, 17), (u32::MAX, u32::MAX, 4)] {
        let picture = Picture { width, height, rgba: vec![0; bytes] };
        assert!(picture.check().is_err(), "{width} × {height}, {bytes}");
        assert!(write_png(&picture).is_err());
        // Nothing panics on them either.
        let _ = (picture.pixel(1, 1), Picture::new(4, 4, [0; 4]).paste(&picture, 1, 1));
    }
}

#[test]
fn pasting_cuts_off_what_lies_outside() {
    let (red, blue) = ([255, 0, 0, 255], [0, 0, 255, 128]);
    let mut sheet = Picture::new(4, 4, red);
    sheet.paste(&Picture::new(3, 3, blue), 2, 1);
    let blues: Vec<(u32, u32)> =
        (0..16).map(|i| (i % 4, i / 4)).filter(|&(x, y)| sheet.pixel(x, y) == Some(blue)).collect();
    assert_eq!(blues, [(2, 1), (3, 1), (2, 2), (3, 2), (2, 3), (3, 3)]);
    let before = sheet.clone();
    sheet.paste(&Picture::new(3, 3, blue), 4, 0);
    sheet.paste(&Picture::new(3, 3, blue), 0, u32::MAX);
    assert_eq!(sheet, before);
}

#[test]
fn scaling_down_keeps_light_and_ignores_the_colour_of_nothing() {
    let mut picture = Picture::new(4, 5, [255, 255, 255, 255]);
    for (x, y) in [(0, 0), (1, 1)] {
        picture.set_pixel(x, y, [0, 0, 0, 255]);
    }
    for (x, y) in [(2, 0), (3, 1), (2, 1)] {
        picture.set_pixel(x, y, [7, 7, 7, 0]);
    }
    let small = picture.scaled_down(2);
    assert_eq!((small.width, small.height), (2, 2));
    // Half of full light is 188 in sRGB, not 128.
    assert_eq!(small.pixel(0, 0), Some([188, 188, 188, 255]));
    assert_eq!(small.pixel(1, 0), Some([255, 255, 255, 64]));
    assert_eq!(small.pixel(0, 1), Some([255; 4]));
    assert_eq!(picture.scaled_down(1), picture);
    assert_eq!(picture.scaled_down(0), picture);
    assert_eq!((picture.scaled_down(99).width, picture.scaled_down(99).height), (1, 1));
    assert_eq!(Picture::default().scaled_down(2), Picture::default());
}

// --- PNG

#[test]
fn every_kind_of_png_is_read() {
    let expected = read(&file("rgba.png")).unwrap();
    assert_eq!((expected.width, expected.height), (8, 6));
    assert_eq!(expected.pixel(0, 0), Some([255, 0, 0, 255]));
    assert_eq!(expected.pixel(7, 2), Some([0, 200, 0, 255]));
    assert_eq!(expected.pixel(0, 3), Some([0, 0, 255, 128]));
    assert_eq!(expected.pixel(7, 5), Some([0, 0, 0, 0]));
    for name in ["palette.png", "interlaced.png"] {
        assert_eq!(read(&file(name)).unwrap(), expected, "{name}");
    }
    let grey = read(&file("grey16.png")).unwrap();
    assert_eq!(grey.pixel(3, 5), Some([(24005u16 >> 8) as u8, 93, 93, 255]));
    let bits = read(&file("one-bit.png")).unwrap();
    assert_eq!((bits.pixel(0, 0), bits.pixel(1, 0)), (Some([0, 0, 0, 255]), Some([255; 4])));
}

proptest! {
    #[test]
    fn what_is_written_as_png_reads_back_the_same(
        width in 1u32..40,
        height in 1u32..40,
        seed in any::<u64>(),
        opaque in any::<bool>(),
    ) {
        let mut random = seed;
        let mut rgba = Vec::new();
        for i in 0..width * height * 4 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            rgba.push(if opaque && i % 4 == 3 { 255 } else { (random >> 56) as u8 });
        }
        let picture = Picture { width, height, rgba };
        prop_assert_eq!(read(&write_png(&picture).unwrap()).unwrap(), picture);
    }
}

/// The check of a PNG chunk (RFC 1952).
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(
            crc ^ u32::from(byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 },
        )
    })
}

/// A PNG that announces a size and has a few bytes of data.
fn png_of_size(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |name: &[u8; 4], data: &[u8]| {
        bytes.extend((data.len() as u32).to_be_bytes());
        let content = [&name[..], data].concat();
        bytes.extend(&content);
        bytes.extend(crc(&content).to_be_bytes());
    };
    chunk(b"IHDR", &[&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 6, 0, 0, 0]].concat());
    chunk(b"IDAT", &[0x78, 0x9c, 0x63, 0, 0, 0, 1, 0, 1]);
    chunk(b"IEND", &[]);
    bytes
}

#[test]
fn a_size_that_is_only_announced_is_refused_before_memory_is_taken() {
    let huge = refused(&png_of_size(100_000, 100_000));
    assert!(huge.contains("100000 × 100000 pixels") && huge.contains("scale it down"), "{huge}");
    // Within the limits, but no 70 bytes can hold it: 256 MB would be taken for nothing.
    let hollow = refused(&png_of_size(8_192, 8_192));
    assert!(hollow.contains("cannot hold 8192 × 8192 pixels"), "{hollow}");
    let none = refused(&png_of_size(0, 5));
    assert!(none.starts_with("PNG: "), "{none}");

    let mut jpeg = file("colour-444.jpg");
    let frame = jpeg.windows(2).position(|w| w == [0xff, 0xc0]).unwrap();
    jpeg[frame + 5..frame + 9].copy_from_slice(&[0xff; 4]);
    assert!(refused(&jpeg).contains("65535 × 65535 pixels"), "{}", refused(&jpeg));
    jpeg[frame + 5..frame + 9].copy_from_slice(&[0x1f, 0xff, 0x1f, 0xff]);
    assert!(refused(&jpeg).contains("cannot hold 8191 × 8191 pixels"), "{}", refused(&jpeg));
}

#[test]
fn a_palette_that_is_not_whole_is_refused() {
    let mut png = png_of_size(2, 2);
    // Colour type 3 is a palette; its chunk comes before the data, with 4 bytes instead of 3 for each colour.
    png[25] = 3;
    let header = crc(&png[12..29]).to_be_bytes();
    png[29..33].copy_from_slice(&header);
    let content = b"PLTE\x01\x02\x03\x04";
    let chunk = [&4u32.to_be_bytes()[..], content, &crc(content).to_be_bytes()].concat();
    png.splice(33..33, chunk);
    assert!(refused(&png).starts_with("PNG: "), "{}", refused(&png));
}

#[test]
fn limits_hold() {
    let png = file("rgba.png");
    let limits = PictureLimits { max_width: 8, max_height: 6, max_pixels: 48, max_bytes: png.len() };
    read_picture(&png, &limits).unwrap();
    for limits in [
        PictureLimits { max_width: 7, ..limits },
        PictureLimits { max_height: 5, ..limits },
        PictureLimits { max_pixels: 47, ..limits },
        PictureLimits { max_bytes: png.len() - 1, ..limits },
    ] {
        assert!(read_picture(&png, &limits).is_err(), "{limits:?}");
    }
}

// --- JPEG

/// Red, green and blue as another reader gives them.
fn independent(bytes: &[u8]) -> Vec<u8> {
    let mut decoder = jpeg_decoder::Decoder::new(bytes);
    let pixels = decoder.decode().unwrap();
    match decoder.info().unwrap().pixel_format {
        jpeg_decoder::PixelFormat::L8 => pixels.iter().flat_map(|&grey| [grey; 3]).collect(),
        jpeg_decoder::PixelFormat::RGB24 => pixels,
        other => panic!("{other:?}"),
    }
}

/// Whether every channel of a JPEG file is stored for every pixel: all have the same sampling factors.
fn stores_all_channels(bytes: &[u8]) -> bool {
    let frame = bytes.windows(2).position(|w| w[0] == 0xff && (0xc0..=0xc2).contains(&w[1])).unwrap();
    let components = &bytes[frame + 10..][..3 * usize::from(bytes[frame + 9])];
    components.chunks(3).all(|component| component[1] == components[1])
}

/// Luma and the two chroma channels (JFIF); none where a channel is at an end of its range and may be cut off.
fn ycc(rgb: &[u8]) -> Option<[f64; 3]> {
    let [r, g, b] = [rgb[0], rgb[1], rgb[2]].map(f64::from);
    let inside = rgb.iter().all(|channel| (1..=254).contains(channel));
    let y = 0.299 * r + 0.587 * g + 0.114 * b;
    inside.then_some([y, (b - y) / 1.772, (r - y) / 1.402])
}

/// Rounding of two readers, each of a transform and a change of colour space.
const ROUNDING: f64 = 2.0;

#[test]
fn jpeg_reads_as_another_reader_reads_it() {
    let (mut exact, mut subsampled) = (0, 0);
    for (name, bytes) in
        all_files().iter().filter(|(name, _)| name.ends_with(".jpg") && !name.contains("cmyk"))
    {
        let picture = read(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        picture.check().unwrap();
        let ours: Vec<u8> = picture.rgba.chunks(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        let theirs = independent(bytes);
        assert_eq!(ours.len(), theirs.len(), "{name}");
        if stores_all_channels(bytes) {
            let most = ours.iter().zip(&theirs).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
            assert!(f64::from(most) <= ROUNDING, "{name}: {most}");
            exact += 1;
        } else {
            compare_subsampled(name, &ours, &theirs, picture.width as usize);
            subsampled += 1;
        }
    }
    assert!(exact >= 5 && subsampled >= 5);
}

/// Luma is stored for every pixel and must be the same. Chroma is not: we repeat it, the other reader blends it with
/// its neighbours, so that its values lie among ours around the pixel.
fn compare_subsampled(name: &str, ours: &[u8], theirs: &[u8], width: usize) {
    let ours: Vec<_> = ours.chunks(3).map(ycc).collect();
    let theirs: Vec<_> = theirs.chunks(3).map(ycc).collect();
    let height = ours.len() / width;
    let (mut lumas, mut chromas) = (0, 0);
    for (i, their) in theirs.iter().enumerate() {
        let (Some(our), Some(their)) = (ours[i], their) else { continue };
        assert!((our[0] - their[0]).abs() <= ROUNDING, "{name}, pixel {i}: luma {} and {}", our[0], their[0]);
        lumas += 1;
        // The next samples are up to four pixels away, where chroma is stored for every fourth.
        let (x, y) = (i % width, i / width);
        let rows = y.saturating_sub(4)..(y + 5).min(height);
        let around = rows.flat_map(|y| (x.saturating_sub(4)..(x + 5).min(width)).map(move |x| y * width + x));
        let Some(around) = around.map(|j| ours[j]).collect::<Option<Vec<_>>>() else { continue };
        for channel in 1..3 {
            let low = around.iter().map(|pixel| pixel[channel]).fold(f64::INFINITY, f64::min) - ROUNDING;
            let high = around.iter().map(|pixel| pixel[channel]).fold(f64::NEG_INFINITY, f64::max) + ROUNDING;
            assert!(
                (low..=high).contains(&their[channel]),
                "{name}, pixel {i}: {} is not within {low} to {high}",
                their[channel]
            );
        }
        chromas += 1;
    }
    // Else little was compared.
    assert!(lumas > ours.len() * 9 / 10 && chromas > ours.len() / 2, "{name}: {lumas}, {chromas}");
}

#[test]
fn progressive_and_sequential_files_of_one_picture_are_the_same() {
    // The same coefficients in another order, down to the last bit.
    for (a, b) in [
        ("colour-444.jpg", "progressive-444.jpg"),
        ("colour-420.jpg", "progressive-420.jpg"),
        ("grey.jpg", "grey-progressive.jpg"),
        ("noise.jpg", "noise-progressive.jpg"),
        ("colour-420.jpg", "restart.jpg"),
    ] {
        assert!(read(&file(a)).unwrap() == read(&file(b)).unwrap(), "{a} and {b}");
    }
}

#[test]
fn what_is_not_read_is_told() {
    assert!(refused(b"").contains("empty"));
    assert!(refused(b"GIF89a").contains("neither PNG nor JPEG"));
    assert!(refused(b"\x89PN").contains("neither PNG nor JPEG"));
    let cmyk = refused(&file("cmyk.jpg"));
    assert!(cmyk.contains("CMYK") && cmyk.contains("byte ") && cmyk.contains("save the picture"), "{cmyk}");
    let mut arithmetic = file("colour-444.jpg");
    let frame = arithmetic.windows(2).position(|w| w == [0xff, 0xc0]).unwrap();
    arithmetic[frame + 1] = 0xc9;
    assert!(refused(&arithmetic).contains("arithmetic coding"));
    arithmetic[frame + 1] = 0xc3;
    assert!(refused(&arithmetic).contains("lossless"));
}

// --- any bytes

#[test]
fn files_that_are_cut_short_are_refused() {
    for (name, bytes) in all_files() {
        // The last chunk of a PNG has no content, and its absence is not noticed.
        let end = if name.ends_with(".png") { bytes.len() - 12 } else { bytes.len() };
        for length in 0..end {
            assert!(read(&bytes[..length]).is_err(), "{name} cut to {length} of {}", bytes.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damage_never_panics(which in any::<prop::sample::Index>(), hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let files = all_files();
        let (name, mut bytes) = files[which.index(files.len())].clone();
        for (place, value) in hits {
            let at = place.index(bytes.len());
            bytes[at] = value;
        }
        let limits = PictureLimits { max_pixels: 1 << 20, ..PictureLimits::default() };
        match read_picture(&bytes, &limits) {
            Ok(picture) => prop_assert!(picture.check().is_ok(), "{}", name),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn any_bytes_after_the_magic_never_panic(jpeg in any::<bool>(), rest in prop::collection::vec(any::<u8>(), 0..400)) {
        let magic: &[u8] = if jpeg { &[0xff, 0xd8, 0xff] } else { b"\x89PNG\r\n\x1a\n" };
        let _ = read(&[magic, &rest].concat());
    }
}

// --- GIF

/// What a GIF shows: every frame as an opaque canvas, and its delay in hundredths of a second.
fn play(bytes: &[u8]) -> (Vec<Picture>, Vec<u16>) {
    let mut decoder = gif::DecodeOptions::new();
    decoder.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = decoder.read_info(bytes).unwrap();
    assert_eq!(decoder.repeat(), gif::Repeat::Infinite);
    let mut canvas = Picture::new(decoder.width().into(), decoder.height().into(), [0; 4]);
    let (mut frames, mut delays) = (Vec::new(), Vec::new());
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        for (i, pixel) in frame.buffer.chunks(4).enumerate() {
            let (x, y) = (i as u32 % u32::from(frame.width), i as u32 / u32::from(frame.width));
            if pixel[3] == 255 {
                let (x, y) = (x + u32::from(frame.left), y + u32::from(frame.top));
                canvas.set_pixel(x, y, pixel.try_into().unwrap());
            }
        }
        frames.push(canvas.clone());
        delays.push(frame.delay);
    }
    (frames, delays)
}

fn gif_of(frames: &[Picture], fps: f64) -> Vec<u8> {
    let mut writer = GifWriter::new(Vec::new(), frames[0].width, frames[0].height, fps).unwrap();
    frames.iter().for_each(|frame| writer.push(frame).unwrap());
    writer.finish().unwrap()
}

/// A square of another colour that moves over a still ground with a few colours.
fn moving(frame: u32) -> Picture {
    let mut picture = Picture::new(40, 30, [20, 40, 90, 255]);
    picture.paste(&Picture::new(40, 5, [120, 110, 100, 255]), 0, 25);
    picture.paste(&Picture::new(6, 6, [230, 80, 30, 255]), frame % 34, 3 + frame % 20);
    picture
}

#[test]
fn a_gif_shows_every_frame_with_few_colours_exactly() {
    let frames: Vec<Picture> = (0..12).map(moving).collect();
    let (shown, delays) = play(&gif_of(&frames, 25.0));
    assert_eq!(shown, frames);
    assert_eq!(delays, [4; 12]);
}

#[test]
fn a_gif_with_many_colours_is_near() {
    let mut picture = Picture::new(160, 120, [0, 0, 0, 255]);
    for y in 0..120 {
        for x in 0..160 {
            picture.set_pixel(
                x,
                y,
                [(x * 255 / 159) as u8, (y * 255 / 119) as u8, ((x + y) * 255 / 278) as u8, 255],
            );
        }
    }
    let (shown, _) = play(&gif_of(&[picture.clone()], 10.0));
    let errors: Vec<f64> =
        picture.rgba.iter().zip(&shown[0].rgba).map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2)).collect();
    let rms = (errors.iter().sum::<f64>() / (errors.len() as f64 * 0.75)).sqrt();
    // A ramp over two dimensions of colour: 255 cells of 1/16 each side, so about 255/16/√12 ≈ 4.6 at best, and dither.
    assert!(rms < 9.0, "{rms}");
    // Dither must not shift the picture as a whole.
    let mean = |p: &Picture| p.rgba.iter().map(|&c| f64::from(c)).sum::<f64>() / p.rgba.len() as f64;
    assert!((mean(&picture) - mean(&shown[0])).abs() < 0.5);
}

#[test]
fn a_gif_lasts_as_long_as_the_animation() {
    for fps in [7.0, 24.0, 25.0, 29.97, 30.0, 50.0, 60.0, 144.0] {
        let frames: Vec<Picture> = (0..61).map(moving).collect();
        let (shown, delays) = play(&gif_of(&frames, fps));
        let step = gif_frame_step(fps) as usize;
        assert_eq!(shown.len(), 61usize.div_ceil(step), "{fps}");
        for (i, picture) in shown.iter().enumerate() {
            assert!(*picture == frames[i * step], "frame {i} at {fps}");
        }
        assert!(
            delays.iter().all(|&delay| delay >= 2),
            "browsers show shorter delays as a tenth of a second"
        );
        let total: u32 = delays.iter().map(|&delay| u32::from(delay)).sum();
        assert!((f64::from(total) / 100.0 - 61.0 / fps).abs() < 0.02, "{total} at {fps}");
    }
    assert_eq!([10.0, 50.0, 60.0, 100.0, 120.0].map(gif_frame_step), [1, 1, 2, 2, 3]);
}

#[test]
fn what_stands_still_costs_nothing() {
    let one = gif_of(&[moving(0)], 20.0);
    let still = gif_of(&vec![moving(0); 100], 20.0);
    assert_eq!(still.len(), one.len());
    let (shown, delays) = play(&still);
    assert_eq!((shown.len(), delays[0]), (1, 500));
}

#[test]
fn gifs_that_cannot_be_are_refused() {
    assert!(GifWriter::new(Vec::new(), 0, 5, 10.0).is_err());
    assert!(GifWriter::new(Vec::new(), 5, 65_536, 10.0).is_err());
    for fps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(
            matches!(GifWriter::new(Vec::new(), 5, 5, fps), Err(PictureError::FpsNotPositive(_))),
            "{fps}"
        );
    }
    let mut writer = GifWriter::new(Vec::new(), 5, 5, 10.0).unwrap();
    assert!(writer.push(&Picture::new(5, 4, [0; 4])).is_err());
    assert!(writer.push(&Picture { width: 5, height: 5, rgba: vec![0; 3] }).is_err());
    writer.push(&Picture::new(5, 5, [255, 0, 0, 0])).unwrap();
    let (shown, _) = play(&writer.finish().unwrap());
    assert_eq!(shown[0], Picture::new(5, 5, [255; 4]), "what is transparent is seen on white");
}

#[test]
fn a_writer_that_fails_is_an_error() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let error = GifWriter::new(Full, 5, 5, 10.0).err().unwrap();
    assert!(matches!(error, PictureError::Write(error) if error.kind() == std::io::ErrorKind::StorageFull));
}
