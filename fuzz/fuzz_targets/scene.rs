//! Any bytes as a scene, both TOML and JSON: it may be refused, with an error that points into the file; a scene that
//! comes out reads back the same when written, and errors about its fields can be shown.
#![no_main]

use libfuzzer_sys::fuzz_target;
use souple::SceneError;
use souple_formats::scene::{read_scene, read_scene_bytes, safe_relative_path, write_scene_toml};

fuzz_target!(|bytes: &[u8]| {
    check(bytes, "scene.toml");
    check(bytes, "scene.json");
    let text = String::from_utf8_lossy(bytes);
    if let Ok(path) = safe_relative_path(&text) {
        assert!(path.components().all(|part| matches!(part, std::path::Component::Normal(_))));
    }
});

fn check(bytes: &[u8], file_name: &str) {
    let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() + 1;
    match read_scene_bytes(bytes, file_name) {
        Ok(file) => {
            let written = write_scene_toml(&file.scene).expect("a scene that was read can be written");
            let again = read_scene(&written, "written.toml").expect("a scene that was written can be read");
            assert_eq!(again.scene, file.scene);
            // The text itself is as good a field path as any.
            for field in ["body[0].shape.grid.size[1]", file.source.text()] {
                let shown = file.source.explain(&SceneError::new(field, "problem", "help"));
                assert!((1..=lines).contains(&shown.line));
                assert!(!shown.to_string().contains('\u{1b}'));
            }
        }
        Err(error) => {
            assert!((1..=lines).contains(&error.line) && error.column >= 1);
            assert!(!error.message.is_empty() && !error.to_string().contains('\u{1b}'));
        }
    }
}
