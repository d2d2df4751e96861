//! The documents say what is: every path, link and scene they name is there, and what they copy from the code is the
//! same as in the code.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use souple::Stage;
use souple::fabrics::FABRICS;
use souple::solver::{ALL_SOLVERS, solver_name};

/// Where a path in ARCHITECTURE.md or README.md may start: the repository, or a crate and its sources.
const BASES: [&str; 13] = [
    "",
    "crates/souple",
    "crates/souple/src",
    "crates/souple-formats",
    "crates/souple-formats/src",
    "crates/souple-files",
    "crates/souple-files/src",
    "crates/souple-viewer",
    "crates/souple-viewer/src",
    "crates/souple-studio",
    "crates/souple-studio/src",
    "crates/souple-cli",
    "crates/souple-cli/src",
];

/// Endings of files that belong to the repository; files that a run writes have others.
const SOURCE_ENDINGS: [&str; 5] = [".md", ".rs", ".toml", ".jsonl", ".mjs"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Lines of a Markdown text, each with whether it stands inside a fenced block.
fn lines(text: &str) -> impl Iterator<Item = (bool, &str)> {
    text.lines().scan(false, |fenced, line| {
        let is_fence = line.trim_start().starts_with("```");
        let inside = *fenced || is_fence;
        *fenced ^= is_fence;
        Some((inside, line))
    })
}

/// Pieces of inline code of a Markdown text.
fn code_spans(text: &str) -> Vec<&str> {
    let plain = lines(text).filter(|(fenced, _)| !fenced);
    plain.flat_map(|(_, line)| line.split('`').skip(1).step_by(2)).collect()
}

/// Fenced blocks of one language, without their fences.
fn fenced_blocks(text: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some(format!("{info}\n")),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks.iter().filter_map(|b| b.strip_prefix(&format!("{language}\n"))).map(str::to_owned).collect()
}

fn is_path(span: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let ending = SOURCE_ENDINGS.iter().any(|end| span.ends_with(end) && span.len() > end.len());
    // What a run writes is not part of the repository.
    span.chars().all(plain) && (span.contains('/') || ending) && !span.starts_with("out/")
}

/// All Markdown files of the repository's folder and of the book.
fn documents() -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["", "docs/src", "fuzz"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") {
                found.push(if folder.is_empty() { name } else { format!("{folder}/{name}") });
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_path_in_the_documents_exists() {
    for (name, least) in [("ARCHITECTURE.md", 60), ("README.md", 10), ("CONTRIBUTING.md", 20)] {
        let text = read(name);
        let paths: BTreeSet<&str> = code_spans(&text).into_iter().filter(|span| is_path(span)).collect();
        assert!(paths.len() >= least, "{name} names only {} paths: is it still read right?", paths.len());
        let missing: Vec<_> =
            paths.iter().filter(|p| !BASES.iter().any(|base| root().join(base).join(p).exists())).collect();
        assert!(missing.is_empty(), "{name} names what is not there: {missing:?}");
    }
    // The book also names files that are not of the repository: those that a run writes are not looked for.
    let ours = |span: &&str| {
        ["crates/", "scenes/", "docs/", "fuzz/"].iter().any(|f| span.starts_with(f)) || span.ends_with(".rs")
    };
    for name in documents().iter().filter(|name| name.starts_with("docs/")) {
        for path in code_spans(&read(name)).into_iter().filter(|span| is_path(span)).filter(ours) {
            assert!(
                BASES.iter().any(|b| root().join(b).join(path).exists()),
                "{name} names {path}, which is not there"
            );
        }
    }
}

#[test]
fn the_architecture_fits_in_200_lines_and_names_every_source_file() {
    let text = read("ARCHITECTURE.md");
    assert!(text.lines().count() < 200, "{} lines", text.lines().count());
    let spans: BTreeSet<&str> = code_spans(&text).into_iter().collect();
    for crate_name in ["souple", "souple-formats", "souple-files", "souple-cli"] {
        let source = root().join("crates").join(crate_name).join("src");
        let mut unnamed = Vec::new();
        for entry in std::fs::read_dir(&source).unwrap() {
            let file = entry.unwrap().file_name().into_string().unwrap();
            if !spans.contains(file.as_str()) && !spans.contains(format!("{file}/").as_str()) {
                unnamed.push(file);
            }
        }
        assert!(unnamed.is_empty(), "ARCHITECTURE.md does not name {unnamed:?} of {crate_name}");
    }
}

#[test]
fn readme_names_every_scene_and_no_other() {
    let text = read("README.md");
    let ends = |c: char| !(c.is_ascii_alphanumeric() || "_-./".contains(c));
    let named: BTreeSet<String> = text
        .match_indices("scenes/")
        .map(|(at, _)| text[at..].split(ends).next().unwrap_or_default().trim_end_matches('.').to_owned())
        .filter(|path| path.ends_with(".toml"))
        .collect();
    for path in &named {
        assert!(root().join(path).exists(), "README.md names {path}, which is not there");
    }
    for folder in ["scenes/cloth", "scenes/contact"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let file = entry.unwrap().file_name().into_string().unwrap();
            if file.ends_with(".toml") {
                let path = format!("{folder}/{file}");
                assert!(named.contains(&path), "README.md does not name {path}");
            }
        }
    }
}

#[test]
fn readme_shows_the_example_of_the_crate() {
    let library = read("crates/souple/src/lib.rs");
    let documentation: String = library
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
        .collect();
    let Some(example) = documentation.split("```\n").nth(1) else { panic!("lib.rs has no example") };
    // rustdoc hides lines that begin with `# `.
    let shown: String = example.lines().filter(|l| !l.starts_with("# ")).map(|l| format!("{l}\n")).collect();
    let blocks = fenced_blocks(&read("README.md"), "rust");
    assert!(blocks.contains(&shown), "README.md must show the example of crates/souple/src/lib.rs:\n{shown}");
}

#[test]
fn readme_and_ci_run_the_same_commands() {
    let ci = read(".ci/run");
    let blocks = fenced_blocks(&read("README.md"), "sh");
    let Some(first) = blocks.first() else { panic!("README.md shows no commands") };
    let commands: Vec<&str> = first.lines().collect();
    assert_eq!(commands, ["cargo run --release -- run scenes/cloth/flag.toml", "cargo test --workspace"]);
    for command in commands {
        let called = |line: &str| line.split("step ").nth(1).is_some_and(|rest| rest.contains(command));
        assert!(ci.lines().any(called), ".ci/run does not call `{command}`");
    }
}

#[test]
fn readme_and_book_list_every_command() {
    let arguments = read("crates/souple-cli/src/args.rs");
    let Some((_, variants)) = arguments.split_once("pub enum Command {\n") else { panic!("no commands") };
    let commands: Vec<String> = variants
        .lines()
        .take_while(|line| *line != "}")
        .filter_map(|line| line.trim().strip_suffix(',')?.split('(').next().map(str::to_lowercase))
        .collect();
    assert!(commands.len() >= 9, "{commands:?}");
    for name in ["README.md", "docs/src/command-line.md"] {
        let text = read(name);
        for command in &commands {
            assert!(
                text.contains(&format!("`souple {command}")),
                "{name} does not explain `souple {command}`"
            );
        }
    }
}

#[test]
fn the_book_explains_every_command_to_a_running_scene() {
    let source = read("crates/souple/src/command.rs");
    let Some((_, variants)) = source.split_once("pub enum Command {\n") else { panic!("no commands") };
    let is_variant =
        |line: &&str| line.starts_with("    ") && line[4..].starts_with(|c: char| c.is_ascii_uppercase());
    let commands: Vec<String> = variants
        .lines()
        .take_while(|line| *line != "}")
        .filter(is_variant)
        .map(|line| snake_case(line.trim().split([' ', ',']).next().unwrap_or_default()))
        .collect();
    assert!(commands.len() >= 14 && commands.iter().any(|c| c == "stop_blowing"), "{commands:?}");
    for name in ["docs/src/concepts.md", "docs/src/files.md"] {
        let text = read(name);
        for command in &commands {
            assert!(text.contains(&format!("`{command}`")), "{name} does not explain `{command}`");
        }
    }
}

/// The anchor that a heading gets in the book and on code hosts.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " _-".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// A path without `.` and `..`, or nothing when it climbs out of where it started.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.into_iter().collect())
}

#[test]
fn every_link_leads_somewhere() {
    let mut links = 0;
    for name in documents() {
        let text = read(&name);
        let plain: String =
            lines(&text).filter(|(fenced, _)| !fenced).map(|(_, l)| format!("{l}\n")).collect();
        for (at, _) in plain.match_indices("](") {
            let target = plain[at + 2..].split(')').next().unwrap_or_default();
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            links += 1;
            let (path, fragment) = target.split_once('#').unwrap_or((target, ""));
            let folder = Path::new(&name).parent().unwrap_or(Path::new(""));
            let file = if path.is_empty() { Some(PathBuf::from(&name)) } else { normal(&folder.join(path)) };
            let Some(file) = file else { panic!("{name}: {target} leaves the repository") };
            assert!(root().join(&file).exists(), "{name}: {target} is not there");
            // The book is built from its own folder: what lies outside is not in it.
            assert!(
                !name.starts_with("docs/src") || file.starts_with("docs/src"),
                "{name}: {target} leaves the book"
            );
            if !fragment.is_empty() {
                let page = read(&file.to_string_lossy());
                let mut headings = lines(&page).filter(|(fenced, line)| !fenced && line.starts_with('#'));
                let found = headings.any(|(_, line)| anchor(line.trim_start_matches('#')) == fragment);
                assert!(found, "{name}: {target}: there is no such heading");
            }
        }
    }
    assert!(links > 50, "only {links} links found: are they still read right?");
}

#[test]
fn the_summary_lists_every_page_of_the_book() {
    let summary = read("docs/src/SUMMARY.md");
    for page in documents().iter().filter_map(|name| name.strip_prefix("docs/src/")) {
        assert!(
            page == "SUMMARY.md" || summary.contains(&format!("]({page})")),
            "SUMMARY.md does not list {page}"
        );
    }
}

#[test]
fn no_file_names_a_path_of_one_machine() {
    // Written in two parts, so that this file does not name them either.
    let folders = ["home", "Users", "root", "tmp", "work"].map(|name| format!("/{name}{}", '/'));
    let mut files = Vec::new();
    collect(&root(), &mut files);
    assert!(files.len() > 100, "only {} files found", files.len());
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        for folder in &folders {
            let found = bytes.windows(folder.len()).enumerate().any(|(at, window)| {
                // `https://host/home/` and `../work/` are no paths of a machine.
                let before = at.checked_sub(1).map_or(b' ', |b| bytes[b]);
                window == folder.as_bytes() && !(before.is_ascii_alphanumeric() || b"._~-".contains(&before))
            });
            assert!(!found, "{} names {folder}", file.display());
        }
    }
}

/// All files of a folder but what git ignores: build folders (they are tagged), results, packages.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    const IGNORED: [&str; 7] = [".git", "target", "out", "node_modules", "corpus", "artifacts", "book"];
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            if !IGNORED.iter().any(|name| path.ends_with(name)) && !path.join("CACHEDIR.TAG").exists() {
                collect(&path, found);
            }
        } else {
            found.push(path);
        }
    }
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// Names of all fields and choices of the scene types, as they are written in scene files.
fn scene_names() -> BTreeSet<String> {
    let folder = root().join("crates/souple/src/scene");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let source: String = files.collect();
    let mut names = BTreeSet::new();
    let mut rename: Option<String> = None;
    let mut in_enum = false;
    for line in source.lines().map(str::trim) {
        if let Some((_, rest)) = line.split_once("rename = \"") {
            rename = rest.split('"').next().map(str::to_owned);
        } else if line.starts_with("pub enum ") {
            in_enum = true;
        } else if line == "}" {
            in_enum = false;
        } else if in_enum && line.starts_with(|c: char| c.is_ascii_uppercase()) {
            let variant = line.split(['(', ',']).next().unwrap_or_default();
            names.insert(snake_case(variant));
        } else if let Some((field, _)) = line.strip_prefix("pub ").and_then(|rest| rest.split_once(": "))
            && field.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        {
            names.insert(rename.take().unwrap_or_else(|| field.to_owned()));
        }
    }
    names
}

#[test]
fn the_book_explains_every_field_of_a_scene() {
    let names = scene_names();
    for known in ["format", "body", "pin", "tangential_keep", "implicit_filter", "u0", "key"] {
        assert!(names.contains(known), "the scene types are not read right: {known} is missing");
    }
    let page = read("docs/src/scene-files.md");
    let spans: BTreeSet<String> =
        code_spans(&page).into_iter().map(|s| s.trim_matches('"').to_owned()).collect();
    let unexplained: Vec<_> = names.iter().filter(|name| !spans.contains(*name)).collect();
    assert!(unexplained.is_empty(), "docs/src/scene-files.md does not explain {unexplained:?}");
}

#[test]
fn the_book_copies_names_and_numbers_from_the_code() {
    let integrators = read("docs/src/integrators.md");
    for solver in ALL_SOLVERS.map(solver_name) {
        assert!(
            integrators.contains(&format!("`{solver}`")),
            "docs/src/integrators.md does not explain {solver}"
        );
    }
    let concepts = read("docs/src/concepts.md");
    let mut rest = &concepts[..];
    for stage in Stage::ALL.map(Stage::name) {
        let row = format!("| `{stage}` |");
        let Some(at) = rest.find(&row) else {
            panic!("docs/src/concepts.md lacks the stage {stage}, or its order is wrong")
        };
        rest = &rest[at..];
    }
    let materials = read("docs/src/cloth.md");
    for f in FABRICS {
        let row = format!(
            "| `{}` | {} | {} | {} | {} | {} | {} | {} |",
            f.name,
            f.density,
            f.thickness * 1e3,
            f.stretch,
            f.shear,
            f.bend,
            f.beta,
            f.tear_ratio
        );
        assert!(materials.contains(&row), "docs/src/cloth.md must have the row\n{row}");
    }
}

#[test]
fn the_book_lists_every_group_of_verification() {
    let source = read("crates/souple-cli/src/verify/mod.rs");
    let Some((_, rest)) = source.split_once("const GROUPS") else { panic!("verify/mod.rs has no groups") };
    let table = rest.split("];").next().unwrap_or_default();
    let names: Vec<&str> =
        table.lines().filter_map(|line| line.trim().strip_prefix("(\"")?.split('"').next()).collect();
    assert!(names.len() >= 10, "{names:?}");
    let page = read("docs/src/verification.md");
    for name in names {
        assert!(page.contains(&format!("| `{name}` |")), "docs/src/verification.md does not list {name}");
    }
}
