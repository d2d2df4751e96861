//! Kinds of files that can be opened or dropped, by the end of their names.

use std::path::Path;

/// What a file is, by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A scene: `.toml` or `.json`.
    Scene,
    /// A mesh, or a character: `.obj`, `.ply`, `.stl`, `.3ds`, `.glb` and others.
    Mesh,
    /// An image: `.png`, `.jpg` or `.jpeg`.
    Image,
    /// A style of the user's own: `.wgsl`.
    Shader,
    /// A recording: `.souprec`.
    Recording,
}

impl FileKind {
    /// All of them, in the order of dialogs and messages.
    pub const ALL: [FileKind; 5] =
        [FileKind::Scene, FileKind::Recording, FileKind::Mesh, FileKind::Image, FileKind::Shader];

    /// Endings of such files, without the dot.
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            FileKind::Scene => &["toml", "json"],
            FileKind::Mesh => &souple_formats::import::MeshFormat::EXTENSIONS,
            FileKind::Image => &["png", "jpg", "jpeg"],
            FileKind::Shader => &["wgsl"],
            FileKind::Recording => &["souprec"],
        }
    }

    /// Several of them, in words.
    fn plural(self) -> &'static str {
        match self {
            FileKind::Scene => "scenes",
            FileKind::Mesh => "meshes",
            FileKind::Image => "images",
            FileKind::Shader => "shaders",
            FileKind::Recording => "recordings",
        }
    }
}

/// What a file is, by the end of its name.
pub fn file_kind(path: &Path) -> Option<FileKind> {
    let end = path.extension()?.to_str()?.to_ascii_lowercase();
    FileKind::ALL.into_iter().find(|kind| kind.endings().contains(&end.as_str()))
}

/// What to say of a file whose ending is none of those.
pub fn unknown_kind(path: &Path) -> String {
    let kinds = FileKind::ALL.map(|kind| format!("{} in .{}", kind.plural(), kind.endings().join(", .")));
    format!("{}: this kind of file is not known; it goes by the ending: {}", path.display(), kinds.join("; "))
}
