//! The real binary in a scratch folder.
#![allow(dead_code, missing_docs)] // each test file uses a part of it

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A small cloth that hangs from its top corners and moves a little.
pub const SCENE: &str = r#"format = 1
name = "Napkin"
description = "A napkin that hangs from two corners."
time = { fps = 60.0, frames = 5 }

[[body]]
name = "cloth"
fabric = "cotton"
shape = { grid = { size = [0.5, 0.5], vertices = [5, 4], plane = "xy" } }

[[body.pin]]
name = "left"
select = { near = [0.0, 0.0, 0.0] }

[[body.pin]]
name = "right"
select = { near = [0.5, 0.0, 0.0] }
"#;

/// A scratch folder to run the command in.
pub struct Scratch(TempDir);

/// What a run of the command gave.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Scratch {
    pub fn new() -> Scratch {
        Scratch(tempfile::tempdir().unwrap())
    }

    /// A scratch folder with the small scene in `napkin.toml`.
    pub fn with_scene() -> Scratch {
        let scratch = Scratch::new();
        scratch.write("napkin.toml", SCENE);
        scratch
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// All files below the folder, as sorted relative paths.
    pub fn files(&self) -> Vec<String> {
        fn walk(root: &Path, folder: &Path, found: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if fs::symlink_metadata(&path).unwrap().is_dir() {
                    walk(root, &path, found);
                } else {
                    found.push(path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"));
                }
            }
        }
        let mut found = Vec::new();
        walk(self.0.path(), self.0.path(), &mut found);
        found.sort();
        found
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_souple"));
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    pub fn souple(&self, args: &[&str]) -> Ran {
        Ran::from(self.command(args).output().unwrap())
    }

    pub fn souple_with_input(&self, args: &[&str], input: &str) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Ran::from(child.wait_with_output().unwrap())
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code().expect("the command must not be killed"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// The exit code was this one.
    #[track_caller]
    pub fn expect(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "\n--- out\n{}\n--- err\n{}", self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }

    /// Standard output is one JSON object and nothing else.
    #[track_caller]
    pub fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}\n--- out\n{}\n--- err\n{}", self.out, self.err));
        assert!(value.is_object());
        value
    }

    #[track_caller]
    pub fn says(&self, text: &str) -> &Ran {
        assert!(self.out.contains(text), "no '{text}' in:\n{}", self.out);
        self
    }

    #[track_caller]
    pub fn complains(&self, text: &str) -> &Ran {
        assert!(self.err.contains(text), "no '{text}' in:\n{}", self.err);
        self
    }
}
