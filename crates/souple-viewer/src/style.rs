//! Styles: one WGSL file each, with a header that declares what it needs (ESSI-53, ESSI-54).
//!
//! A style defines `fn shade(s: Surface) -> vec4<f32>` and may define `fn displace(v: Vertex) -> Vertex`, which moves
//! vertices before they are drawn (ESSI-68, ESSI-69). What both can use is in `shaders/common.wgsl`. Lines that begin
//! with `//!` are the header: the first is what people read, the others that begin with `@` are:
//!
//! - `@parameter NAME = DEFAULT from MIN to MAX: text` — a number that looks and sliders can set, at most eight; the
//!   style calls it as `NAME()`.
//! - `@quantity strain|stress|velocity|curvature|contact|crossing|gain|painted|compression|isometry` — `s.value` is that quantity, from 0 to 1 over the look's range.
//! - `@transparent` — drawn after the rest, from far to near, back sides first (ESSI-57).
//! - `@edges` — edges of the mesh are drawn instead of its triangles.
//! - `@outline` — silhouette lines are added.
//! - `@flat` — the colour is shown as it is, without tone mapping.
//!
//! A file that does not compile never takes the place of one that does; its error names the line.

use std::collections::BTreeMap;
use std::sync::Arc;

use souple::measure;
use thiserror::Error;

use crate::capture::Item;
use crate::looks::ItemLook;
use crate::sheets;

/// Most parameters that a style can have.
pub const MAX_PARAMETERS: usize = 8;
/// Largest style file that is read, bytes.
pub const MAX_STYLE_BYTES: usize = 32 << 10;
/// Longest statement of a style, bytes: compilers of shaders call themselves for every operator and would run out of stack.
const MAX_STATEMENT_BYTES: usize = 1 << 10;

const COMMON: &str = include_str!("shaders/common.wgsl");
const SURFACE: &str = include_str!("shaders/surface.wgsl");

/// The styles that come with the program, in the order of the number keys and menus.
const BUILT_IN: [(&str, &str); 24] = [
    ("standard", include_str!("styles/standard.wgsl")),
    ("phong", include_str!("styles/phong.wgsl")),
    ("velvet", include_str!("styles/velvet.wgsl")),
    ("satin", include_str!("styles/satin.wgsl")),
    ("chrome", include_str!("styles/chrome.wgsl")),
    ("cube_map", include_str!("styles/cube_map.wgsl")),
    ("bump", include_str!("styles/bump.wgsl")),
    ("toon", include_str!("styles/toon.wgsl")),
    ("silhouette", include_str!("styles/silhouette.wgsl")),
    ("glass", include_str!("styles/glass.wgsl")),
    ("wireframe", include_str!("styles/wireframe.wgsl")),
    ("normal", include_str!("styles/normal.wgsl")),
    ("texture", include_str!("styles/texture.wgsl")),
    ("checker", include_str!("styles/checker.wgsl")),
    ("strain", include_str!("styles/strain.wgsl")),
    ("stress", include_str!("styles/stress.wgsl")),
    ("velocity", include_str!("styles/velocity.wgsl")),
    ("curvature", include_str!("styles/curvature.wgsl")),
    ("contact", include_str!("styles/contact.wgsl")),
    ("crossing", include_str!("styles/crossing.wgsl")),
    ("gain", include_str!("styles/gain.wgsl")),
    ("painted", include_str!("styles/painted.wgsl")),
    ("compression", include_str!("styles/compression.wgsl")),
    ("isometry", include_str!("styles/isometry.wgsl")),
];

/// A quantity that colours can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Relative change of length: of the edges around a vertex, or of the inside of a solid.
    Strain,
    /// Stress of a solid by von Mises, Pa.
    Stress,
    /// Speed, m/s.
    Velocity,
    /// Mean curvature, 1/m.
    Curvature,
    /// 1 where a vertex touches a collider, 0 elsewhere.
    Contact,
    /// 1 at the corners of triangles that cross others, 0 elsewhere.
    Crossing,
    /// How far a skin has come out, or gone in, seen from its bones, m.
    Gain,
    /// What is painted on a skin, from 0 to 1.
    Painted,
    /// What cloth has lost of its length against its pattern.
    Compression,
    /// How far what is drawn, folds and paper, is from isometric to its pattern.
    Isometry,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Quantity; 10] = [
        Quantity::Strain,
        Quantity::Stress,
        Quantity::Velocity,
        Quantity::Curvature,
        Quantity::Contact,
        Quantity::Crossing,
        Quantity::Gain,
        Quantity::Painted,
        Quantity::Compression,
        Quantity::Isometry,
    ];

    /// Name in styles, titles of legends.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Strain => "strain",
            Quantity::Stress => "stress",
            Quantity::Velocity => "velocity",
            Quantity::Curvature => "curvature",
            Quantity::Contact => "contact",
            Quantity::Crossing => "crossing",
            Quantity::Gain => "gain",
            Quantity::Painted => "painted",
            Quantity::Compression => "compression",
            Quantity::Isometry => "isometry",
        }
    }

    /// Unit of what a legend shows, and what values are multiplied by to be in it.
    pub fn unit(self) -> (&'static str, f32) {
        match self {
            Quantity::Strain | Quantity::Compression | Quantity::Isometry => ("%", 100.0),
            Quantity::Stress => ("kPa", 1e-3),
            Quantity::Velocity => ("m/s", 1.0),
            Quantity::Curvature => ("1/m", 1.0),
            Quantity::Contact => ("1 touches", 1.0),
            Quantity::Crossing => ("1 crosses", 1.0),
            Quantity::Gain => ("mm", 1e3),
            Quantity::Painted => ("0 to 1", 1.0),
        }
    }

    /// Whether values below zero mean the opposite: the colour map has zero in its middle.
    pub fn is_signed(self) -> bool {
        matches!(self, Quantity::Strain | Quantity::Gain)
    }

    /// Whether skins of characters have it, and nothing else has.
    pub fn is_of_skins(self) -> bool {
        matches!(self, Quantity::Gain | Quantity::Painted)
    }

    /// The values at the vertices of an item; zeros where it has none.
    pub fn values(self, item: &Item) -> Vec<f32> {
        let count = item.positions.len();
        let mut values = Vec::new();
        let x = || -> Vec<_> { item.positions.iter().map(|p| p.as_dvec3()).collect() };
        match (self, &item.mesh.topology) {
            (Quantity::Velocity, _) => return filled(item.speeds.to_vec(), count),
            (Quantity::Contact, _) => return marked(&item.contacts, count),
            (Quantity::Crossing, _) => return marked(item.crossing_vertices(), count),
            (Quantity::Gain, _) => return filled(item.gains.values().to_vec(), count),
            (Quantity::Painted, _) => return filled(item.painted.to_vec(), count),
            (Quantity::Compression, _) => return filled(sheets::compression(item), count),
            (Quantity::Isometry, _) => return sheets::misfit(item),
            (Quantity::Strain, Some(topology)) => match item.solid() {
                Some(solid) => measure::vertex_solid_strain(solid, topology, &x(), &mut values),
                None => measure::vertex_strain(topology, &x(), &mut values),
            },
            (Quantity::Stress, Some(topology)) => {
                if let Some(solid) = item.solid() {
                    measure::vertex_stress(solid, topology, &x(), &item.plastic, &mut values);
                }
            }
            (Quantity::Curvature, Some(topology)) => {
                measure::vertex_curvature(topology, &x(), &mut values);
            }
            (_, None) => {}
        }
        filled(values.iter().map(|v| *v as f32).collect(), count)
    }

    /// The values at the vertices that are seen.
    pub fn seen_values(self, item: &Item) -> Vec<f32> {
        let mut values = self.values(item);
        if self != Quantity::Isometry {
            values.truncate(item.visible());
        }
        values
    }

    /// The range of a colour map that suits the values; sorts them. One in a hundred may fall outside at each end.
    pub fn range_of(self, values: &mut Vec<f32>) -> [f32; 2] {
        // The smallest range that is worth colours: below it rounding would be shown as if it meant something.
        let least = match self {
            Quantity::Strain | Quantity::Compression | Quantity::Isometry => 1e-3,
            Quantity::Stress => 1.0,
            Quantity::Velocity => 1e-2,
            Quantity::Curvature => 1e-2,
            Quantity::Gain => 1e-5,
            Quantity::Contact | Quantity::Crossing | Quantity::Painted => return [0.0, 1.0],
        };
        if self.is_signed() {
            values.iter_mut().for_each(|v| *v = v.abs());
        }
        values.retain(|v| v.is_finite());
        values.sort_unstable_by(f32::total_cmp);
        let last = values.len().saturating_sub(1);
        let high = values.get((last as f32 * 0.99) as usize).copied().unwrap_or(0.0).max(least);
        let high = round_up(high);
        if self.is_signed() { [-high, high] } else { [0.0, high] }
    }
}

/// 1 at those vertices, 0 at the others.
fn marked(vertices: &[u32], count: usize) -> Vec<f32> {
    let mut values = vec![0.0; count];
    for &vertex in vertices {
        if let Some(value) = values.get_mut(vertex as usize) {
            *value = 1.0;
        }
    }
    values
}

/// The next number of the series 1, 1.5, 2, 3, 5, 7.5 times a power of ten: legends show round numbers.
fn round_up(value: f32) -> f32 {
    let power = 10f64.powf(f64::from(value).log10().floor());
    let steps = [1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0].map(|step| (step * power) as f32);
    steps.into_iter().find(|step| *step >= value * 0.999).unwrap_or(value)
}

fn filled(mut values: Vec<f32>, count: usize) -> Vec<f32> {
    values.resize(count, 0.0);
    values
}

/// A number of a style.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name, as in scenes and in the WGSL.
    pub name: String,
    /// Value unless a look says otherwise.
    pub default: f32,
    /// Least value of a slider.
    pub min: f32,
    /// Greatest value of a slider.
    pub max: f32,
    /// What it does.
    pub about: String,
}

/// A style, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct StyleSource {
    /// Name.
    pub name: Arc<str>,
    /// What it looks like, in one sentence.
    pub about: String,
    /// Its numbers.
    pub parameters: Vec<Parameter>,
    /// What its colours show.
    pub quantity: Option<Quantity>,
    /// Whether it is blended with what is behind.
    pub transparent: bool,
    /// Whether edges are drawn instead of triangles.
    pub edges: bool,
    /// Whether silhouette lines are added.
    pub outline: bool,
    /// The whole shader module.
    pub wgsl: String,
    /// Hash of the text: pipelines made of another text are remade.
    pub version: u64,
    /// Lines of the module in front of the style's own text.
    prefix_lines: usize,
}

/// Why a style cannot be used.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum StyleError {
    /// There is no such style.
    #[error("there is no style '{name}'{}", suggestion(.nearest))]
    Unknown {
        /// The name that was given.
        name: String,
        /// The nearest name there is.
        nearest: Option<String>,
    },
    /// A line of the header is not understood.
    #[error("{name}, line {line}: {problem}")]
    Header {
        /// The style.
        name: String,
        /// Line of its file, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// The WGSL does not compile.
    #[error("{name}, line {line}: {message}")]
    Compile {
        /// The style.
        name: String,
        /// Line of its file, from 1.
        line: usize,
        /// What the compiler says.
        message: String,
    },
    /// A look sets a number that the style does not have.
    #[error("style '{style}' has no parameter '{parameter}'; it has: {known}")]
    UnknownParameter {
        /// The style.
        style: String,
        /// The number that was set.
        parameter: String,
        /// The numbers it has.
        known: String,
    },
}

fn suggestion(nearest: &Option<String>) -> String {
    match nearest {
        Some(name) => format!("; did you mean '{name}'?"),
        None => format!("; there are: {}", BUILT_IN.map(|(name, _)| name).join(", ")),
    }
}

/// All styles that can be used: the built-in ones and the user's own.
#[derive(Clone, Debug)]
pub struct StyleSheet {
    styles: BTreeMap<Arc<str>, Arc<StyleSource>>,
}

impl Default for StyleSheet {
    fn default() -> Self {
        StyleSheet::built_in()
    }
}

impl StyleSheet {
    /// The styles that come with the program.
    pub fn built_in() -> StyleSheet {
        let mut sheet = StyleSheet { styles: BTreeMap::new() };
        for (name, text) in BUILT_IN {
            // A test holds them all against the compiler; one that is wrong all the same is left out.
            if let Ok(source) = compose(name, text) {
                sheet.styles.insert(source.name.clone(), Arc::new(source));
            }
        }
        sheet
    }

    /// Names of the built-in styles in the order of menus.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// Adds a style of the user, or a new version of it. An older version that worked stays when this one does not.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), StyleError> {
        let source = compose(name, text)?;
        check(&source)?;
        self.styles.insert(source.name.clone(), Arc::new(source));
        Ok(())
    }

    /// The style of that name.
    pub fn get(&self, name: &str) -> Result<&Arc<StyleSource>, StyleError> {
        self.styles
            .get(name)
            .ok_or_else(|| StyleError::Unknown { name: name.into(), nearest: self.nearest(name) })
    }

    /// The style of that name, or the standard one.
    pub fn get_or_standard(&self, name: &str) -> Option<&Arc<StyleSource>> {
        self.styles.get(name).or_else(|| self.styles.get("standard"))
    }

    /// What the colours of a style show.
    pub fn quantity(&self, name: &str) -> Option<Quantity> {
        self.styles.get(name)?.quantity
    }

    /// Values of a style's numbers for a look, in the order of the shader.
    pub fn values(&self, look: &ItemLook) -> [f32; MAX_PARAMETERS] {
        let mut values = [0.0; MAX_PARAMETERS];
        let Some(style) = self.get_or_standard(&look.style) else { return values };
        for (value, parameter) in values.iter_mut().zip(&style.parameters) {
            let set = look.parameters.get(&parameter.name).map(|v| *v as f32);
            *value = set.unwrap_or(parameter.default);
        }
        values
    }

    /// Refuses a look whose style is not there or has no such number.
    pub fn check_look(&self, look: &ItemLook) -> Result<(), StyleError> {
        let style = self.get(&look.style)?;
        for name in look.parameters.keys() {
            if !style.parameters.iter().any(|p| p.name == *name) {
                let known: Vec<_> = style.parameters.iter().map(|p| p.name.as_str()).collect();
                let known = if known.is_empty() { "none".into() } else { known.join(", ") };
                let (style, parameter) = (style.name.to_string(), name.clone());
                return Err(StyleError::UnknownParameter { style, parameter, known });
            }
        }
        Ok(())
    }

    fn nearest(&self, name: &str) -> Option<String> {
        let likeness = |known: &Arc<str>| strsim::normalized_damerau_levenshtein(name, known);
        let best = self.styles.keys().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
        (likeness(best) >= 0.5).then(|| best.to_string())
    }
}

/// Reads the header and puts the module together; the style's own text comes last, so that its lines can be counted.
fn compose(name: &str, text: &str) -> Result<StyleSource, StyleError> {
    if let Some(line) = overlong_statement(text) {
        let problem = format!("a statement is longer than {MAX_STATEMENT_BYTES} bytes; divide it");
        return Err(StyleError::Header { name: name.into(), line, problem });
    }
    let mut style = StyleSource {
        name: name.into(),
        about: String::new(),
        parameters: Vec::new(),
        quantity: None,
        transparent: false,
        edges: false,
        outline: false,
        wgsl: String::new(),
        version: hash(text),
        prefix_lines: 0,
    };
    let mut flat = false;
    for (number, line) in text.lines().enumerate() {
        let Some(line) = line.strip_prefix("//!").map(str::trim) else { continue };
        let wrong = |problem: String| StyleError::Header { name: name.into(), line: number + 1, problem };
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "@parameter" => {
                let parameter = parse_parameter(rest).map_err(wrong)?;
                if is_taken(&parameter.name) || style.parameters.iter().any(|p| p.name == parameter.name) {
                    return Err(wrong(format!("the name '{}' is taken; choose another", parameter.name)));
                }
                if style.parameters.len() == MAX_PARAMETERS {
                    return Err(wrong(format!("a style has at most {MAX_PARAMETERS} parameters")));
                }
                style.parameters.push(parameter);
            }
            "@quantity" => {
                let known = Quantity::ALL.into_iter().find(|q| q.name() == rest.trim());
                let names = Quantity::ALL.map(Quantity::name).join(", ");
                style.quantity =
                    Some(known.ok_or_else(|| wrong(format!("'{rest}' is no quantity; there are: {names}")))?);
            }
            "@transparent" => style.transparent = true,
            "@edges" => style.edges = true,
            "@outline" => style.outline = true,
            "@flat" => flat = true,
            _ if word.starts_with('@') => {
                let known = "@parameter, @quantity, @transparent, @edges, @outline, @flat";
                return Err(wrong(format!("'{word}' is not understood; there are: {known}")));
            }
            _ if style.about.is_empty() => style.about = line.to_owned(),
            _ => {}
        }
    }
    if style.edges && style.transparent {
        let problem = "@edges and @transparent do not go together".into();
        return Err(StyleError::Header { name: name.into(), line: 1, problem });
    }
    let mut wgsl = format!("{COMMON}\n{SURFACE}\n");
    for (k, parameter) in style.parameters.iter().enumerate() {
        let (vector, part) = (k / 4, k % 4);
        let function = &parameter.name;
        wgsl += &format!("fn {function}() -> f32 {{ return item.parameters[{vector}][{part}]; }}\n");
    }
    if !defines(text, "displace") {
        wgsl += "fn displace(v: Vertex) -> Vertex { return v; }\n";
    }
    wgsl += match flat {
        true => "fn display(colour: vec4<f32>) -> vec4<f32> { return colour; }\n",
        false => {
            "fn display(colour: vec4<f32>) -> vec4<f32> { return vec4(tone_map(colour.rgb), colour.a); }\n"
        }
    };
    style.prefix_lines = wgsl.matches('\n').count();
    wgsl += text;
    style.wgsl = wgsl;
    Ok(style)
}

/// `NAME = DEFAULT from MIN to MAX: text`
fn parse_parameter(text: &str) -> Result<Parameter, String> {
    let form = "write `@parameter name = 0.5 from 0 to 1: what it does`";
    let read = || {
        let (name, rest) = text.split_once('=')?;
        let (default, rest) = rest.split_once(" from ")?;
        let (min, rest) = rest.split_once(" to ")?;
        let (max, about) = rest.split_once(':')?;
        let number = |text: &str| text.trim().parse::<f32>().ok().filter(|n| n.is_finite());
        let (default, min, max) = (number(default)?, number(min)?, number(max)?);
        let (name, about) = (name.trim().to_owned(), about.trim().to_owned());
        Some(Parameter { name, default, min, max, about })
    };
    let parameter = read().ok_or_else(|| format!("this parameter is not understood; {form}"))?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !parameter.name.chars().all(plain) || !parameter.name.starts_with(|c: char| c.is_ascii_lowercase()) {
        return Err(format!("'{}' is no name for a parameter: use a–z, 0–9 and _", parameter.name));
    }
    if !(parameter.min <= parameter.default && parameter.default <= parameter.max) {
        return Err(format!("{} is not from {} to {}", parameter.default, parameter.min, parameter.max));
    }
    Ok(parameter)
}

/// Compiles a style without any device, and says on which line of its own file it is wrong.
fn check(style: &StyleSource) -> Result<(), StyleError> {
    let own_lines = |line: u32, before: usize| (line as usize).saturating_sub(before).max(1);
    let before = style.prefix_lines;
    let fail = |line: Option<u32>, message: String| StyleError::Compile {
        name: style.name.to_string(),
        line: line.map_or(1, |line| own_lines(line, before)),
        message,
    };
    let module = naga::front::wgsl::parse_str(&style.wgsl).map_err(|error| {
        let line = error.location(&style.wgsl).map(|at| at.line_number);
        fail(line, error.message().to_owned())
    })?;
    let mut validator =
        naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty());
    validator.validate(&module).map_err(|error| {
        // The shortest of the places it names says most: the others are the functions around it.
        let places = error.spans().filter_map(|(span, _)| span.to_range());
        let place = places.min_by_key(|range| range.len());
        let line = place.map(|range| style.wgsl[..range.start].matches('\n').count() as u32 + 1);
        let mut message = error.to_string();
        let mut cause = std::error::Error::source(error.as_inner());
        while let Some(inner) = cause {
            message += &format!(": {inner}");
            cause = inner.source();
        }
        fail(line, message)
    })?;
    let has = |name: &str| module.functions.iter().any(|(_, f)| f.name.as_deref() == Some(name));
    if !has("shade") {
        return Err(fail(None, "there is no `fn shade(s: Surface) -> vec4<f32>`".into()));
    }
    Ok(())
}

/// Line of the first statement that is too long, from 1. Comments do not count.
fn overlong_statement(text: &str) -> Option<usize> {
    let mut length = 0;
    for (number, line) in text.lines().enumerate() {
        for part in code(line).split_inclusive([';', '{', '}']) {
            length += part.len();
            if length > MAX_STATEMENT_BYTES {
                return Some(number + 1);
            }
            if part.ends_with([';', '{', '}']) {
                length = 0;
            }
        }
    }
    None
}

/// A line without its comment.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// Whether a text defines a function of that name.
fn defines(text: &str, function: &str) -> bool {
    text.lines().map(code).any(|line| {
        line.split("fn ").skip(1).any(|rest| {
            let rest = rest.trim_start();
            rest.strip_prefix(function).is_some_and(|after| after.trim_start().starts_with('('))
        })
    })
}

/// Whether what all styles share uses a name already.
fn is_taken(name: &str) -> bool {
    // Bindings end their line with `NAME: type;`, functions begin it with `fn NAME(`.
    let binding = |line: &str| line.starts_with("@group") && line.contains(&format!(" {name}: "));
    let bound = |text: &str| text.lines().any(binding);
    let shared = [COMMON, SURFACE];
    ["displace", "display", "shade"].contains(&name) || shared.iter().any(|t| defines(t, name) || bound(t))
}

/// A hash of a text (FNV-1a).
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_style_compiles() {
        for (name, text) in BUILT_IN {
            let style = compose(name, text).unwrap();
            check(&style).unwrap_or_else(|error| panic!("{error}"));
            assert!(!style.about.is_empty(), "{name} says nothing about itself");
        }
        assert_eq!(StyleSheet::built_in().styles.len(), BUILT_IN.len());
    }

    #[test]
    fn a_broken_style_names_its_line_and_the_last_good_one_stays() {
        let mut sheet = StyleSheet::built_in();
        let good = "//! Red.\n//! @parameter glow = 1 from 0 to 2: how red\n\
                    fn shade(s: Surface) -> vec4<f32> {\n    return vec4(glow(), 0.0, 0.0, 1.0);\n}\n";
        sheet.set("my.wgsl", good).unwrap();
        let kept = sheet.get("my.wgsl").unwrap().clone();
        let syntax = good.replace("glow(), 0.0", "glow(, 0.0");
        let unknown = good.replace("glow(), 0.0", "shine(), 0.0");
        let types = good.replace("glow(), 0.0, 0.0, 1.0", "glow(), 0.0");
        for broken in [syntax, unknown, types] {
            match sheet.set("my.wgsl", &broken) {
                Err(StyleError::Compile { line, message, .. }) => assert_eq!(line, 4, "{message}"),
                other => panic!("{other:?}"),
            }
            assert_eq!(sheet.get("my.wgsl").unwrap(), &kept);
        }
        let missing = sheet.set("my.wgsl", "//! Nothing.\n").unwrap_err();
        assert!(missing.to_string().contains("shade"), "{missing}");
    }

    #[test]
    fn headers_are_checked() {
        let mut sheet = StyleSheet::built_in();
        let body = "\nfn shade(s: Surface) -> vec4<f32> { return vec4(1.0); }";
        for wrong in [
            "//! @parameter glow 1",
            "//! @parameter Glow = 1 from 0 to 2: x",
            "//! @parameter a = 3 from 0 to 2: x",
            "//! @parameter a = nan from 0 to 2: x",
            "//! @quantity weight",
            "//! @sparkle",
            "//! @parameter frame = 0 from 0 to 2: x",
            "//! @parameter shade = 0 from 0 to 2: x",
        ] {
            let error = sheet.set("x.wgsl", &format!("{wrong}{body}")).unwrap_err();
            assert!(matches!(error, StyleError::Header { line: 1, .. }), "{wrong}: {error}");
        }
        let many: String = (0..9).map(|k| format!("//! @parameter a{k} = 0 from 0 to 1: x\n")).collect();
        assert!(sheet.set("x.wgsl", &format!("{many}{body}")).is_err());
    }

    #[test]
    fn lines_are_right_with_and_without_a_displacement() {
        let mut sheet = StyleSheet::built_in();
        let shade = "fn shade(s: Surface) -> vec4<f32> { return vec4(oops); }";
        let moved = "fn displace (v: Vertex) -> Vertex { return v; }";
        let tight = "fn displace(v: Vertex) -> Vertex { return v; }";
        for (text, expected) in [
            (format!("// fn displace(\n{shade}"), 2),
            (format!("{moved}\n\n{shade}"), 3),
            (format!("{tight}\n{shade}"), 2),
        ] {
            match sheet.set("x.wgsl", &text) {
                Err(StyleError::Compile { line, message, .. }) => {
                    assert_eq!(line, expected, "{text}: {message}")
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn hostile_texts_are_refused_before_a_compiler_sees_them() {
        let mut sheet = StyleSheet::built_in();
        for expression in ["1.0+".repeat(5000), "(".repeat(5000)] {
            let text = format!("fn shade(s: Surface) -> vec4<f32> {{\n    let a = {expression}1.0;\n}}");
            let error = sheet.set("x.wgsl", &text).unwrap_err().to_string();
            assert!(error.contains("line 2") && error.contains("longer"), "{error}");
        }
        let both = "//! @edges\n//! @transparent\nfn shade(s: Surface) -> vec4<f32> { return vec4(1.0); }";
        assert!(sheet.set("x.wgsl", both).is_err());
    }

    #[test]
    fn names_are_suggested() {
        let sheet = StyleSheet::built_in();
        let message = |name: &str| sheet.get(name).unwrap_err().to_string();
        assert!(message("velvt").contains("'velvet'"), "{}", message("velvt"));
        assert!(message("qqqqqqqq").contains("standard, phong"), "{}", message("qqqqqqqq"));
    }

    #[test]
    fn what_crosses_is_marked_on_both_bodies() {
        use souple::scene::{Body, Grid, GridPlane, Placement, Scene, Shape};
        let sheet = |name: &str, plane, translate| Body {
            name: name.into(),
            fabric: Some("cotton".into()),
            shape: Shape::Grid(Grid { vertices: [5, 5], plane, ..Grid::default() }),
            placement: Placement { translate, ..Placement::default() },
            ..Body::default()
        };
        let mut scene = Scene {
            bodies: vec![
                sheet("flat", GridPlane::Xz, [0.0; 3]),
                // Hangs down through the first row of squares.
                sheet("upright", GridPlane::Xy, [0.0, 0.1, 0.1]),
            ],
            ..Scene::default()
        };
        let marks = |scene: &Scene| {
            let model = souple::ModelBuilder::new(scene).build().unwrap();
            let mut capture = crate::Capture::new(scene, &model);
            let moment = capture.moment(&souple::Simulation::new(model));
            [0, 1].map(|b| Quantity::Crossing.values(&moment.items[b]))
        };
        // Two rows of vertices around the line along x in which the sheets meet.
        let rows: Vec<f32> = (0..25).map(|k| if k < 10 { 1.0 } else { 0.0 }).collect();
        assert_eq!(marks(&scene), [rows.clone(), rows]);
        scene.bodies[1].placement.translate[1] = -0.1;
        assert_eq!(marks(&scene), [vec![0.0; 25], vec![0.0; 25]]);
    }

    #[test]
    fn the_surface_of_a_solid_shows_what_its_inside_feels() {
        use souple::scene::{Ball, Body, Embed, Scene, Shape};
        let body = Body {
            shape: Shape::Ball(Ball { radius: 0.5, subdivisions: 2 }),
            embed: Some(Embed { cell: 0.2, ..Embed::default() }),
            density: Some(1000.0),
            young_modulus: Some(1e4),
            poisson_ratio: Some(0.0),
            ..Body::default()
        };
        let scene = Scene { bodies: vec![body], ..Scene::default() };
        let model = souple::ModelBuilder::new(&scene).build().unwrap();
        let mut capture = crate::Capture::new(&scene, &model);
        let mut moment = capture.moment(&souple::Simulation::new(model));
        let item = &mut moment.items[0];
        item.positions =
            Arc::new(item.positions.iter().map(|p| *p * glam::Vec3::new(1.2, 1.0, 1.0)).collect());
        let [strain, stress] = [Quantity::Strain, Quantity::Stress].map(|q| q.seen_values(item));
        assert_eq!((strain.len(), stress.len()), (162, 162), "corners of cells are not seen");
        // Places have 32 bits: a ten-millionth of a metre over cells of a fifth.
        assert!(strain.iter().all(|e| (e - 0.2).abs() < 1e-5), "{strain:?}");
        assert!(stress.iter().all(|s| (s - 2e3).abs() < 0.1), "{stress:?}");
    }

    #[test]
    fn ranges_are_round_and_fit() {
        let mut strain: Vec<f32> = (0..1000).map(|k| k as f32 * 1e-4 - 0.03).collect();
        assert_eq!(Quantity::Strain.range_of(&mut strain), [-0.075, 0.075]);
        assert_eq!(Quantity::Velocity.range_of(&mut vec![0.0; 10]), [0.0, 0.01]);
        assert_eq!(Quantity::Contact.range_of(&mut vec![]), [0.0, 1.0]);
        assert_eq!(Quantity::Crossing.range_of(&mut vec![]), [0.0, 1.0]);
        assert_eq!(Quantity::Velocity.range_of(&mut vec![f32::NAN, 1.9, 1.9]), [0.0, 2.0]);
    }
}
