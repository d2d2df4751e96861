//! `souple styles`: lists the styles that surfaces can be drawn in.

use std::process::ExitCode;

use serde::Serialize;
use souple_viewer::cpu;
use souple_viewer::style::StyleSheet;

use crate::args::StylesArgs;
use crate::failure::Outcome;
use crate::report::{count, say, say_json};

/// Runs the command.
pub fn run(args: &StylesArgs) -> Outcome {
    let sheet = StyleSheet::built_in();
    let styles = StyleSheet::built_in_names().filter_map(|name| sheet.get(name).ok());
    let styles: Vec<StyleReport> = styles
        .map(|style| StyleReport {
            name: style.name.to_string(),
            about: style.about.clone(),
            quantity: style.quantity.map(|quantity| quantity.name()),
            without_driver: cpu::STYLES.contains(&&*style.name),
            parameters: style
                .parameters
                .iter()
                .map(|parameter| ParameterReport {
                    name: parameter.name.clone(),
                    default: parameter.default,
                    min: parameter.min,
                    max: parameter.max,
                    about: parameter.about.clone(),
                })
                .collect(),
        })
        .collect();
    if args.json {
        say_json(&serde_json::json!({ "styles": styles }))?;
        return Ok(ExitCode::SUCCESS);
    }
    for style in &styles {
        say(&format!("{:<12} {}", style.name, style.about))?;
        for p in &style.parameters {
            say(&format!("    {} = {} ({} to {}): {}", p.name, p.default, p.min, p.max, p.about))?;
        }
    }
    let alone: Vec<&str> = styles.iter().filter(|s| s.without_driver).map(|s| s.name.as_str()).collect();
    say(&format!(
        "{}; without a graphics driver: {}",
        count(styles.len(), "style", "styles"),
        alone.join(", ")
    ))?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct StyleReport {
    name: String,
    about: String,
    /// What its colours show.
    quantity: Option<&'static str>,
    /// Whether the CPU rasteriser draws it.
    without_driver: bool,
    parameters: Vec<ParameterReport>,
}

#[derive(Serialize)]
struct ParameterReport {
    name: String,
    default: f32,
    min: f32,
    max: f32,
    about: String,
}
