//! What people see when a scene file is wrong, word for word.

use souple::SceneError;
use souple_formats::scene::{MAX_SCENE_BYTES, SceneFileError, read_scene, read_scene_bytes};

/// A scene with one body, to which the mistake is added.
const BODY: &str = "format = 1\n\n[[body]]\nname = \"flag\"\n";

fn error(text: &str, file: &str) -> SceneFileError {
    read_scene(text, file).expect_err("the scene is wrong")
}

#[track_caller]
fn shows(text: &str, expected: &str) {
    assert_eq!(error(text, "flag.toml").to_string(), expected);
}

#[track_caller]
fn json_shows(text: &str, expected: &str) {
    assert_eq!(error(text, "flag.json").to_string(), expected);
}

/// What becomes of a scene that is read without an error.
fn built(text: &str) -> Result<souple::Model, String> {
    let file = read_scene(text, "hip.toml").unwrap();
    souple::ModelBuilder::new(&file.scene).build().map_err(|error| file.source.explain(&error).to_string())
}

#[test]
fn misspelt_field() {
    shows(
        &format!("{BODY}\n[body.springs.stretch]\n\n# in N/m\n\n\n  stifness = 20\n"),
        "\
error: unknown field 'stifness'
  --> flag.toml:11:3
   |
11 |   stifness = 20
   |   ^^^^^^^^
help: did you mean 'stiffness'?",
    );
}

#[test]
fn field_of_another_table() {
    shows(
        "format = 1\n[time]\ndt = 0.01\n",
        "\
error: unknown field 'dt'
 --> flag.toml:3:1
  |
3 | dt = 0.01
  | ^^
help: 'dt' belongs in [[group]]; known here: 'fps', 'frames'",
    );
}

#[test]
fn field_like_no_other() {
    shows(
        "format = 1\n[time]\nzebra = 0.01\n",
        "\
error: unknown field 'zebra'
 --> flag.toml:3:1
  |
3 | zebra = 0.01
  | ^^^^^
help: known here: 'fps', 'frames'",
    );
}

#[test]
fn text_for_a_number() {
    shows(
        "format = 1\n[[group]]\ndt = \"fast\"\n",
        "\
error: group[0].dt: expected a number, found the text \"fast\"
 --> flag.toml:3:6
  |
3 | dt = \"fast\"
  |      ^^^^^^
help: write a number such as 1.5 or 2e-3, without quotes or units",
    );
}

#[test]
fn quoted_number() {
    shows(
        "format = 1\n[[group]]\ndt = '0.01'\n",
        "\
error: group[0].dt: expected a number, found the text \"0.01\"
 --> flag.toml:3:6
  |
3 | dt = '0.01'
  |      ^^^^^^
help: write it without quotes",
    );
}

#[test]
fn half_a_choice() {
    shows(
        "format = 1\n[[group]]\nsolver = \"implicit_euler\"\n",
        "\
error: group[0].solver: unknown choice 'implicit_euler'
 --> flag.toml:3:10
  |
3 | solver = \"implicit_euler\"
  |          ^^^^^^^^^^^^^^^^
help: did you mean 'implicit_euler_cg' or 'implicit_euler_cholesky'?",
    );
}

#[test]
fn choice_that_is_none() {
    shows(
        &format!("{BODY}[[body.pin]]\nselect = {{ border = \"top\" }}\n"),
        "\
error: body[0].pin[0].select.border: unknown choice 'top'
 --> flag.toml:6:21
  |
6 | select = { border = \"top\" }
  |                     ^^^^^
help: write one of 'u0', 'u1', 'v0', 'v1'",
    );
}

#[test]
fn two_choices_at_once() {
    shows(
        &format!("{BODY}[body.shape.grid]\n[body.shape.rope]\n"),
        "\
error: body[0].shape: both 'grid' and 'rope' are given
 --> flag.toml:6:13
  |
6 | [body.shape.rope]
  |             ^^^^
help: keep exactly one of 'grid', 'rope', 'ball', 'block', 'strands', 'file', 'mesh', 'voxels', 'skin'",
    );
}

#[test]
fn choice_without_its_content() {
    shows(
        &format!("{BODY}shape = \"rope\"\n"),
        "\
error: body[0].shape: 'rope' needs more than its name
 --> flag.toml:5:9
  |
5 | shape = \"rope\"
  |         ^^^^^^
help: write { rope = ... } with what it holds",
    );
}

#[test]
fn content_for_a_choice_without() {
    shows(
        &format!("{BODY}[[body.pin]]\nselect = {{ all = true }}\n"),
        "\
error: body[0].pin[0].select: 'all' stands alone and holds nothing
 --> flag.toml:6:18
  |
6 | select = { all = true }
  |                  ^^^^
help: write \"all\" instead of a table",
    );
}

#[test]
fn later_format_comes_before_unknown_fields() {
    shows(
        "quantum = true\nformat = 2\n",
        "\
error: the scene is of format 2; this program reads format 1
 --> flag.toml:2:10
  |
2 | format = 2
  |          ^
help: use a newer version of the program",
    );
}

#[test]
fn format_of_the_wrong_type() {
    shows(
        "format = \"1\"\n",
        "\
error: format: this program reads format 1
 --> flag.toml:1:10
  |
1 | format = \"1\"
  |          ^^^
help: write `format = 1`",
    );
}

#[test]
fn no_format() {
    shows(
        "name = \"flag\"\n",
        "\
error: the scene does not say its format
 --> flag.toml
help: add `format = 1` as the first line",
    );
    json_shows(
        "{\"name\": \"flag\"}",
        "\
error: the scene does not say its format
 --> flag.json
help: add `\"format\": 1` as the first entry",
    );
}

#[test]
fn nothing_at_all() {
    for text in ["", " \r\n", "\u{feff}", "# only a comment\n"] {
        shows(
            text,
            "\
error: the scene is empty
 --> flag.toml
help: a scene needs at least `format = 1`",
        );
    }
    for text in ["", "{}"] {
        json_shows(
            text,
            "\
error: the scene is empty
 --> flag.json
help: a scene needs at least `\"format\": 1`",
        );
    }
}

#[test]
fn numbers_that_are_not_finite() {
    for (literal, carets) in [("nan", "^^^"), ("-inf", "^^^^"), ("1e400", "^^^^^")] {
        shows(
            &format!("format = 1\r\ngravity = [0, {literal}, 0]\r\n"),
            &format!(
                "\
error: gravity[1]: not a finite number
 --> flag.toml:2:15
  |
2 | gravity = [0, {literal}, 0]
  |               {carets}
help: every number must be finite, at most 1.7e308 in size"
            ),
        );
    }
    json_shows(
        "{ \"format\": 1,\n  \"gravity\": [0, 1e400, 0] }",
        "\
error: gravity[1]: not a finite number
 --> flag.json:2:18
  |
2 |   \"gravity\": [0, 1e400, 0] }
  |                  ^^^^^
help: every number must be finite, at most 1.7e308 in size",
    );
}

#[test]
fn list_too_short() {
    shows(
        "format = 1\ngravity = [0, -9.81]\n",
        "\
error: gravity: expected a list of 3 values, found 2
 --> flag.toml:2:11
  |
2 | gravity = [0, -9.81]
  |           ^^^^^^^^^^
help: write 3 values in square brackets, as in [0, 1, 2]",
    );
}

#[test]
fn single_brackets_for_one_of_several() {
    shows(
        "format = 1\n[body]\nname = \"flag\"\n",
        "\
error: body: expected a list, found a table
 --> flag.toml:2:1
  |
2 | [body]
  | ^^^^^^
help: there can be several: write `[[body]]` with double brackets",
    );
}

#[test]
fn double_brackets_for_the_only_one() {
    shows(
        &format!("{BODY}[[body.springs.stretch]]\nstiffness = 3\n"),
        "\
error: body[0].springs.stretch: expected a table, found a list
 --> flag.toml:5:1
  |
5 | [[body.springs.stretch]]
  | ^^^^^^^^^^^^^^^^^^^^^^^^
help: there is only one: write `[body.springs.stretch]` with single brackets",
    );
}

#[test]
fn whole_numbers() {
    shows(
        "format = 1\n[time]\nframes = 2.5\n",
        "\
error: time.frames: expected a whole number, found 2.5
 --> flag.toml:3:10
  |
3 | frames = 2.5
  |          ^^^
help: write a whole number such as 20, without a decimal point",
    );
    shows(
        "format = 1\n[time]\nframes = -1\n",
        "\
error: time.frames: expected a whole number from 0 to 4294967295, found -1
 --> flag.toml:3:10
  |
3 | frames = -1
  |          ^^",
    );
}

#[test]
fn missing_field() {
    shows(
        "format = 1\n[[collider]]\nname = \"ball\"\n[collider.shape.sphere]\n",
        "\
error: collider[0].shape.sphere: missing field 'radius'
 --> flag.toml:4:1
  |
4 | [collider.shape.sphere]
  | ^^^^^^^^^^^^^^^^^^^^^^^
help: add `radius` here: it has no default",
    );
}

#[test]
fn text_without_quotes() {
    shows(
        &format!("{BODY}fabric = cotton\n"),
        "\
error: cannot read the value `cotton`
 --> flag.toml:5:10
  |
5 | fabric = cotton
  |          ^^^^^^
help: a text needs quotes, as in \"cotton\"; a number is written like 1.5 or 2e-3, a flag as true or false",
    );
}

#[test]
fn key_written_twice() {
    shows(
        "format = 1\nname = 'a'\nname = 'b'\n",
        "\
error: duplicate key 'name'
 --> flag.toml:3:1
  |
3 | name = 'b'
  | ^^^^
help: this was already written above: keep one of the two, or merge them",
    );
    json_shows(
        "{\"format\": 1,\n \"name\": \"a\", \"name\": \"b\"}",
        "\
error: duplicate key 'name'
 --> flag.json:2:15
  |
2 |  \"name\": \"a\", \"name\": \"b\"}
  |               ^^^^^^
help: this was already written above: keep one of the two, or merge them",
    );
}

#[test]
fn open_bracket() {
    shows(
        "format = 1\n[[body]\n",
        "\
error: unclosed array table
 --> flag.toml:2:8
  |
2 | [[body]
  |        ^
help: expected `]`",
    );
    json_shows(
        "{\n  \"format\": 1,\n  \"body\": [\n",
        "\
error: the file ends too early
 --> flag.json:4:1
  |
4 | \n  | ^
help: a brace, bracket or quote is still open",
    );
}

#[test]
fn json_with_a_comma_too_many() {
    json_shows(
        "{\n  \"format\": 1,\n}",
        "\
error: key must be a string
 --> flag.json:3:1
  |
3 | }
  | ^
help: check quotes, commas and brackets near here; JSON allows no comments and no comma after the last item",
    );
}

#[test]
fn json_misspelt_field() {
    json_shows(
        "{\n  \"format\": 1,\n  \"body\": [\n    { \"densty\": 0.2 }\n  ]\n}",
        "\
error: unknown field 'densty'
 --> flag.json:4:7
  |
4 |     { \"densty\": 0.2 }
  |       ^^^^^^^^
help: did you mean 'density'?",
    );
}

#[test]
fn json_null_is_for_optional_fields_only() {
    let scene = read_scene(r#"{"format": 1, "wind": null}"#, "a.json").unwrap().scene;
    assert_eq!(scene.wind, None);
    let error = error(r#"{"format": 1, "time": null}"#, "a.json");
    assert_eq!(error.message, "time: expected a table, found null");
    assert_eq!(error.help, "it holds 'fps', 'frames'");
}

#[test]
fn root_of_json_is_an_object() {
    assert_eq!(error("[1]", "a.json").message, "a scene is an object");
    assert_eq!(error("[]", "a.json").message, "a scene is an object");
    assert_eq!(error("3", "a.JSON").message, "a scene is an object");
}

#[test]
fn nesting_without_end() {
    for depth in [70, 1000, 200_000] {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        let toml = error(&format!("format = 1\na = {open}{close}\n"), "a.toml");
        assert_eq!((toml.message.as_str(), toml.line), ("tables and lists are nested too deeply", 2));
        let json = error(&format!("{{\"format\": 1,\n\"a\": {open}{close}}}"), "a.json");
        assert_eq!((json.message.as_str(), json.line), ("tables and lists are nested too deeply", 2));
    }
    let keys = vec!["a"; 79].join(".");
    let mixed =
        format!("format = 1\n[{keys}]\n{keys} = {}1{}", format!("{{{keys}=").repeat(70), "}".repeat(70));
    assert_eq!(error(&mixed, "a.toml").message, "tables and lists are nested too deeply");
    let long = format!("format = 1\n{} = 1\n", vec!["a"; 100_000].join("."));
    assert_eq!(error(&long, "a.toml").message, "tables and lists are nested too deeply");
}

#[test]
fn too_large() {
    let text = " ".repeat(MAX_SCENE_BYTES + 1);
    let error = error(&text, "big.toml");
    assert_eq!(error.message, "the scene has 16777217 bytes; at most 16777216 are read");
    assert_eq!((error.line, error.column, error.excerpt), (1, 1, None));
}

#[test]
fn too_many_tables() {
    let toml = error(&format!("format = 1\n{}", "[[body]]\n".repeat(200_001)), "big.toml");
    assert_eq!((toml.message.as_str(), toml.line), ("the scene has too many tables", 200_002));
    let json = error(&format!("{{\"format\": 1, \"body\": [{{}}{}]}}", ",{}".repeat(200_000)), "big.json");
    assert_eq!(json.message, "the scene has too many tables");
    let fits = format!("format = 1\n{}", "[[body]]\n".repeat(1000));
    assert_eq!(read_scene(&fits, "big.toml").unwrap().scene.bodies.len(), 1000);
}

#[test]
fn bytes_that_are_no_text() {
    let error = read_scene_bytes(b"format = 1\nname = '\xc3\xa9\xff'\n", "latin.toml").unwrap_err();
    assert_eq!(
        error.to_string(),
        "\
error: this byte is not UTF-8 text
 --> latin.toml:2:10
  |
2 | name = 'é\u{fffd}'
  |          ^
help: save the scene as UTF-8"
    );
    assert_eq!(read_scene_bytes(b"format = 1", "a.toml").unwrap().scene.format, 1);
}

#[test]
fn control_characters_never_reach_the_terminal() {
    let error = error("format = 1\n\"\\u001b[31mred\" = 1\n", "a\u{1b}[31m.toml");
    let shown = error.to_string();
    assert!(shown.contains("unknown field '\u{fffd}[31mred'"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown}");
    assert!(!error.field.contains('\u{1b}'));
}

#[test]
fn parts_are_there_for_programs() {
    let error = error(&format!("{BODY}[body.springs.bend]\nstifness = 1\n"), "flag.toml");
    assert_eq!(error.field, "body[0].springs.bend.stifness");
    let json = serde_json::to_value(&error).unwrap();
    assert_eq!((&json["file"], &json["line"], &json["column"]), (&"flag.toml".into(), &6.into(), &1.into()));
    assert_eq!(json["message"], "unknown field 'stifness'");
    assert_eq!(json["help"], "did you mean 'stiffness'?");
}

const EXPLAINED: &str = "\
format = 1
gravity = [0, -9.81, 0]

[[body]]
name = \"flag\"
shape = { grid = { size = [1, 0], vertices = [20, 20] } }

[body.springs]
stretch.stiffness = -20

[[body.pin]]
select.vertices = [0]

[[body.pin]]
select.vertices = [0,
  99999]

[[body]]
name = \"flag\"
";

/// The place, and the text there, at which an error about a field points.
fn place(text: &str, file: &str, field: &str) -> (usize, usize, String) {
    let source = read_scene(text, file).unwrap().source;
    let error = source.explain(&SceneError::new(field, "is wrong", "do right"));
    assert_eq!(error.message, format!("{field}: is wrong"));
    assert_eq!((error.help.as_str(), error.field.as_str()), ("do right", field));
    let shown = error.excerpt.map_or(String::new(), |excerpt| {
        excerpt.text.chars().skip(excerpt.start).take(excerpt.length).collect()
    });
    (error.line, error.column, shown)
}

#[test]
fn errors_of_the_engine_point_at_the_field() {
    for (field, line, column, text) in [
        ("gravity", 2, 1, "gravity"),
        ("gravity[1]", 2, 15, "-9.81"),
        ("body[0].shape.grid.size[1]", 6, 31, "0"),
        ("body[0].shape.grid", 6, 11, "grid"),
        ("body[0].springs.stretch.stiffness", 9, 21, "-20"),
        ("body[0].pin[1].select.vertices[1]", 16, 3, "99999"),
        ("body[0].pin[1].select", 15, 1, "select"),
        ("body[0].pin[1]", 14, 1, "[[body.pin]]"),
        ("body[1].name", 19, 8, "\"flag\""),
        // Left at the default: the nearest table that is in the file.
        ("body[1].springs.stretch.stiffness", 18, 1, "[[body]]"),
        ("body[0].springs.bend.stiffness", 8, 1, "[body.springs]"),
        ("body[0].skin", 4, 1, "[[body]]"),
        ("body[7].skin", 4, 1, "[[body]]"),
        ("body[x].skin", 4, 1, "[[body]]"),
        ("time.fps", 1, 1, ""),
        ("[3]", 1, 1, ""),
    ] {
        assert_eq!(place(EXPLAINED, "a.toml", field), (line, column, text.to_owned()), "{field}");
    }
}

#[test]
fn errors_of_the_engine_point_into_json() {
    let text = "\
{
  \"format\": 1,
  \"body\": [
    {
      \"name\": \"a \\\" b\",
      \"springs\": {
        \"stretch\": { \"stiffness\": -2e1 }
      }
    },
    { \"skin\": 0 }
  ]
}";
    for (field, line, column, shown) in [
        ("body[0].springs.stretch.stiffness", 7, 35, "-2e1"),
        ("body[0].springs.bend", 6, 7, "\"springs\""),
        ("body[0].name", 5, 15, "\"a \\\" b\""),
        ("body[0].skin", 4, 5, "{"),
        ("body[1].skin", 10, 15, "0"),
        ("body", 3, 3, "\"body\""),
    ] {
        assert_eq!(place(text, "a.json", field), (line, column, shown.to_owned()), "{field}");
    }
}

#[test]
fn engine_error_in_full() {
    let source = read_scene(EXPLAINED, "flag.toml").unwrap().source;
    let error = SceneError::new(
        "body[0].springs.stretch.stiffness",
        "must not be negative",
        "write 0 or more, in N/m",
    );
    assert_eq!(
        source.explain(&error).to_string(),
        "\
error: body[0].springs.stretch.stiffness: must not be negative
 --> flag.toml:9:21
  |
9 | stretch.stiffness = -20
  |                     ^^^
help: write 0 or more, in N/m"
    );
    let whole = source.explain(&SceneError::new("", "the scene has no body", "add `[[body]]`"));
    let expected = "error: the scene has no body\n --> flag.toml\nhelp: add `[[body]]`";
    assert_eq!(whole.to_string(), expected);
}

#[test]
fn lists_of_colliders_are_read_and_their_errors_shown() {
    let scene = |only: &str| {
        format!(
            "format = 1\n[[body]]\nname = \"skirt\"\nfabric = \"cotton\"\n[[collider]]\nshape.sphere.radius = 0.1\n\
             only = [\n  {{ body = \"skirt\"{only} }},\n]\n"
        )
    };
    let model = built(&scene(", select = { vertices = [7, 3] }")).unwrap();
    let only = model.colliders[0].only.as_ref().unwrap();
    assert_eq!((only[0].body, only[0].vertices.as_deref()), (0, Some(&[3, 7][..])));
    assert_eq!(built(&scene("")).unwrap().colliders[0].only.as_ref().unwrap()[0].vertices, None);
    let error = built(&scene(", select = { vertices = [7, 9999999] }")).unwrap_err();
    assert!(
        error.starts_with("error: collider[0].only[0].select.vertices: there is no vertex 9999999\n"),
        "{error}"
    );
    assert!(error.contains("--> hip.toml:8:"), "{error}");
    let error = built(&scene("").replace("body = \"skirt\"", "body = \"skirts\"")).unwrap_err();
    assert!(error.contains("there is no body 'skirts'") && error.contains("known bodies: skirt"), "{error}");
    assert!(error.contains("--> hip.toml:8:"), "{error}");
    shows(
        &scene(", selct = \"all\""),
        "\
error: unknown field 'selct'
 --> flag.toml:8:21
  |
8 |   { body = \"skirt\", selct = \"all\" },
  |                     ^^^^^
help: did you mean 'select'?",
    );
}

#[test]
fn field_of_another_program() {
    shows(
        &format!("{BODY}self_collision = true\n"),
        "\
error: unknown field 'self_collision'
 --> flag.toml:5:1
  |
5 | self_collision = true
  | ^^^^^^^^^^^^^^
help: did you mean 'contact'?",
    );
    let error = error("format = 1\n[[collider]]\nname = \"bar\"\nrotation = [0, 0, 90]\n", "bar.toml");
    assert_eq!(error.help, "did you mean 'rotate_deg'?");
}

#[test]
fn densities_have_the_unit_of_their_body() {
    let block = "shape = { block = { size = [1, 1, 1], cells = [1, 1, 1] } }\nyoung_modulus = 1e5\npoisson_ratio = 0.3\n";
    for (shape, unit) in [("", "kg/m²"), (block, "kg/m³")] {
        let error = built(&format!("{BODY}density = -5\n{shape}")).unwrap_err();
        assert!(error.contains(unit), "{error}");
    }
}

#[test]
fn a_recipe_is_told_from_a_scene() {
    let character = "format = 1\n[[group]]\nsolver = \"goals\"\n[[character]]\nname = \"man\"\n";
    let layer = "[[body]]\nname = \"belly\"\nshape = { skin = { character = \"man\" } }\nelastic = { attachment = 0.4 }\n";
    let error = built(&format!("{character}{layer}")).unwrap_err();
    assert!(error.contains("'man' has no rig") && error.contains("souple bake"), "{error}");
    let cape = "[[body]]\nname = \"cape\"\nfabric = \"cotton\"\n[[body.pin]]\nselect = \"all\"\nfollow = { character = \"man\" }\n";
    let error = built(&format!("{}{cape}", character.replace("goals", "xpbd"))).unwrap_err();
    assert!(error.contains("'man' has no rig"), "{error}");
}
