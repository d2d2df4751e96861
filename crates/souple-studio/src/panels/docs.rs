//! What each field of a scene means, for tooltips: the texts of the scene types themselves, by way of their JSON schema.

use std::collections::BTreeMap;

use souple_formats::scene::scene_schema;

/// Texts by type and field, or by type and variant, as they are written in scene files.
#[derive(Clone, Debug, Default)]
pub struct Docs {
    texts: BTreeMap<(String, String), String>,
}

impl Docs {
    /// Collects all texts.
    pub fn new() -> Docs {
        let schema = scene_schema();
        let mut docs = Docs::default();
        docs.collect("Scene", &schema);
        if let Some(types) = schema.get("$defs").and_then(|types| types.as_object()) {
            for (name, schema) in types {
                docs.collect(name, schema);
            }
        }
        docs
    }

    /// What a field or a variant means; empty when nothing is written about it.
    pub fn text(&self, owner: &str, field: &str) -> &str {
        self.texts.get(&(owner.to_owned(), field.to_owned())).map_or("", String::as_str)
    }

    fn collect(&mut self, owner: &str, schema: &serde_json::Value) {
        let about = |schema: &serde_json::Value| Some(tidy(schema.get("description")?.as_str()?));
        if let Some(fields) = schema.get("properties").and_then(|fields| fields.as_object()) {
            for (name, field) in fields {
                if let Some(text) = about(field) {
                    self.texts.insert((owner.to_owned(), name.clone()), text);
                }
            }
        }
        let variants = schema.get("oneOf").and_then(|list| list.as_array());
        for variant in variants.into_iter().flatten() {
            let Some(text) = about(variant) else { continue };
            let plain = variant.get("const").and_then(|name| name.as_str()).map(str::to_owned);
            let fields = variant.get("properties").and_then(|fields| fields.as_object());
            let name = plain.or_else(|| fields?.keys().next().cloned());
            if let Some(name) = name {
                self.texts.insert((owner.to_owned(), name), text);
            }
        }
    }
}

/// The text as running lines, without the ids of features, which mean nothing to the person at the screen.
fn tidy(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(open) = rest.find(" (") {
        let Some(close) = rest[open..].find(')') else { break };
        let inside = &rest[open + 2..open + close];
        let is_id = ["ESSI-", "GRI-", "FAU-", "SIM-", "ROH-"].iter().any(|start| inside.starts_with(start));
        out.push_str(&rest[..if is_id { open } else { open + close + 1 }]);
        rest = &rest[open + close + 1..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_variants_have_their_texts() {
        let docs = Docs::new();
        assert!(docs.text("Body", "density").contains("kg/m²"));
        assert!(docs.text("Scene", "gravity").contains("m/s²"));
        assert!(docs.text("Family", "stiffness").contains("N/m"));
        assert!(docs.text("Style", "velvet").contains("Minnaert"));
        assert!(docs.text("ColliderShape", "sphere").contains("ball"));
        assert!(docs.text("SolverKind", "rk4").contains("fourth order"));
        assert_eq!(docs.text("Body", "nothing"), "");
    }

    #[test]
    fn ids_of_features_are_left_out() {
        assert_eq!(tidy("A ball (ESSI-42, GRI-13)."), "A ball.");
        assert_eq!(tidy("Share (0 to 1)\n  of it (ESSI-48's N)."), "Share (0 to 1) of it.");
        assert_eq!(tidy("open ( end"), "open ( end");
    }
}
