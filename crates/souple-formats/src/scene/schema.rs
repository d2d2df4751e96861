//! The JSON schema of scene files, for editors, and what it tells about where a field belongs.

use std::collections::VecDeque;

use serde_json::{Value, json};
use souple::scene::{SCENE_FORMAT, Scene};

/// Deepest path of tables that is searched for a field; scenes have fewer, so the search ends even if types recursed.
const MAX_TABLES: usize = 10;
/// How many places of a field are worth naming.
const MAX_PLACES: usize = 3;

/// The JSON schema (draft 2020-12) of scene files, for editors: completion, descriptions, red lines. It describes
/// TOML and JSON scenes alike. Generated from the scene types, so it always says what the reader accepts.
pub fn scene_schema() -> Value {
    let mut schema = schemars::schema_for!(Scene).to_value();
    if let Some(root) = schema.as_object_mut() {
        root.insert("title".into(), json!("Souple scene"));
        root.insert("required".into(), json!(["format"]));
        if let Some(properties) = root.get_mut("properties").and_then(Value::as_object_mut) {
            let format = json!({"description": "Version of the format; 1.", "const": SCENE_FORMAT});
            properties.insert("format".into(), format);
            let own = json!({"description": "Where editors find this schema; ignored.", "type": "string"});
            properties.insert("$schema".into(), own);
        }
    }
    schema
}

/// Tables of a scene that have a field of this name, as their TOML headers, the outermost first; at most three.
pub(super) fn tables_with_field(name: &str) -> Vec<String> {
    let schema = scene_schema();
    let mut found = Vec::new();
    let mut queue = VecDeque::from([Table { path: Vec::new(), is_list: false, schema: &schema }]);
    while let Some(table) = queue.pop_front() {
        for object in objects(&schema, table.schema) {
            let Some(properties) = object.get("properties").and_then(Value::as_object) else { continue };
            if properties.contains_key(name) {
                found.push(table.header());
                if found.len() == MAX_PLACES {
                    return found;
                }
            }
            if table.path.len() < MAX_TABLES {
                queue.extend(properties.iter().map(|(key, schema)| table.child(key, schema)));
            }
        }
    }
    found
}

struct Table<'a> {
    path: Vec<&'a str>,
    is_list: bool,
    schema: &'a Value,
}

impl<'a> Table<'a> {
    fn child(&self, key: &'a str, schema: &'a Value) -> Self {
        let path = self.path.iter().copied().chain([key]).collect();
        match schema.get("items") {
            Some(items) => Table { path, is_list: true, schema: items },
            None => Table { path, is_list: false, schema },
        }
    }

    fn header(&self) -> String {
        let path = self.path.join(".");
        match (path.as_str(), self.is_list) {
            ("", _) => "the top of the file".to_owned(),
            (_, true) => format!("[[{path}]]"),
            (_, false) => format!("[{path}]"),
        }
    }
}

/// The object schemas that a schema stands for: itself, what it refers to, its alternatives.
fn objects<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let reference =
        schema.get("$ref").and_then(Value::as_str).and_then(|path| root.pointer(path.strip_prefix('#')?));
    let alternatives = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    let inner = reference.into_iter().chain(alternatives);
    // References are resolved once per step: the generated schema has none that point at references.
    let inner = inner.flat_map(|inner| match inner.get("$ref").and_then(Value::as_str) {
        Some(path) => path.strip_prefix('#').and_then(|path| root.pointer(path)).into_iter().collect(),
        None => {
            let choices = ["anyOf", "oneOf"].iter().filter_map(|key| inner.get(key)?.as_array()).flatten();
            std::iter::once(inner).chain(choices).collect::<Vec<_>>()
        }
    });
    std::iter::once(schema).chain(inner).filter(|object| object.get("properties").is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_where_they_belong() {
        assert_eq!(tables_with_field("dt"), ["[[group]]"]);
        assert_eq!(tables_with_field("gravity"), ["the top of the file"]);
        assert_eq!(tables_with_field("friction"), ["[[collider]]", "[[pair]]", "[body.contact]"]);
        assert_eq!(tables_with_field("tolerance"), ["[group.cg]", "[paper.folding]"]);
        let turned = ["[[character]]", "[[collider]]", "[body.placement]"];
        assert_eq!(tables_with_field("rotate_deg"), turned);
        assert_eq!(tables_with_field("length_ratio"), ["[body.tear]"]);
        assert_eq!(tables_with_field("diagonals"), ["[body.shape.grid]"]);
        let moved = ["[[character.insert_bone.key]]", "[[character.motion.key]]", "[[collider.motion.key]]"];
        assert_eq!(tables_with_field("t"), moved);
        assert!(tables_with_field("no such field").is_empty());
    }
}
