//! A scene as TOML text.

use souple::SceneError;
use souple::scene::Scene;
use toml::Value;

/// Writes a scene as TOML that [`super::read_scene`] reads back as the same scene, bit for bit.
///
/// Every setting is written, also those at their default, so that the file means the same when a later version has
/// other defaults. Numbers that are not finite are refused, as no reader would take them. Comments and layout of a file
/// the scene may have come from are not kept.
pub fn write_scene_toml(scene: &Scene) -> Result<String, SceneError> {
    let unwritable = |error: toml::ser::Error| {
        SceneError::new(
            "",
            format!("the scene cannot be written as TOML: {error}"),
            "write it as JSON instead",
        )
    };
    let value = Value::try_from(scene).map_err(unwritable)?;
    if let Some(field) = non_finite(&value, String::new()) {
        return Err(SceneError::new(
            field,
            "not a finite number",
            "every number must be finite, at most 1.7e308 in size",
        ));
    }
    toml::to_string(scene).map_err(unwritable)
}

/// The path of the first number that is not finite.
fn non_finite(value: &Value, path: String) -> Option<String> {
    match value {
        Value::Float(number) if !number.is_finite() => Some(path),
        Value::Array(values) => {
            values.iter().enumerate().find_map(|(index, value)| non_finite(value, format!("{path}[{index}]")))
        }
        Value::Table(entries) => entries.iter().find_map(|(key, value)| {
            let dot = if path.is_empty() { "" } else { "." };
            non_finite(value, format!("{path}{dot}{key}"))
        }),
        _ => None,
    }
}
