//! A tree into the scene types, by serde, with errors that know the path, the place and what would be right.

use std::borrow::Cow;
use std::fmt::{Display, Write};

use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::Syntax;
use super::error::{Problem, quotable};
use super::schema::tables_with_field;
use super::tree::{Entry, Node, Span, Value};

/// Names are near when strsim's Damerau–Levenshtein distance, over the longer length, leaves at least this share.
const NEAR: f64 = 0.6;
/// Names that begin alike over at least this many bytes are near, too.
const SHORTEST_PREFIX: usize = 4;
/// Longest name, bytes, for which near ones are looked for.
const LONGEST_NAME: usize = 64;

/// Reads a value of any type from a tree.
pub(super) fn from_node<T: de::DeserializeOwned>(node: &Node) -> Result<T, TreeError> {
    T::deserialize(NodeReader { node })
}

/// Why a tree is not a scene.
#[derive(Debug)]
pub(super) struct TreeError {
    pub span: Option<Span>,
    message: String,
    help: Help,
    /// From the inside out, as it is filled while the error travels up.
    path: Vec<Step>,
    /// Whether the message needs the path in front to be understood.
    names_field: bool,
}

#[derive(Debug)]
enum Step {
    Key(String),
    Index(usize),
}

/// Help that may need the path, which is only known at the end.
#[derive(Debug)]
enum Help {
    Text(String),
    /// One table where a list of tables is wanted.
    DoubleBrackets,
    /// A list of tables where one is wanted.
    SingleBrackets,
}

impl TreeError {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        let help = Help::Text(help.into());
        TreeError { span: None, message: message.into(), help, path: Vec::new(), names_field: true }
    }

    /// The place, unless a more exact one is known already.
    fn at(mut self, span: Span) -> Self {
        self.span.get_or_insert(span);
        self
    }

    fn inside(mut self, step: Step) -> Self {
        self.path.push(step);
        self
    }

    /// The parts for people.
    pub fn into_problem(self, syntax: Syntax) -> Problem {
        let mut field = String::new();
        let mut header = String::new();
        for step in self.path.iter().rev() {
            match step {
                Step::Key(key) => {
                    let dot = if field.is_empty() { "" } else { "." };
                    let key = quotable(key);
                    // Writing to a String cannot fail.
                    let _ = write!(field, "{dot}{key}");
                    let _ = write!(header, "{dot}{key}");
                }
                Step::Index(index) => {
                    let _ = write!(field, "[{index}]");
                }
            }
        }
        let message = match self.names_field && !field.is_empty() {
            true => format!("{field}: {}", self.message),
            false => self.message,
        };
        let help = match (self.help, syntax) {
            (Help::Text(text), _) => text,
            (Help::DoubleBrackets, Syntax::Toml) => {
                format!("there can be several: write `[[{header}]]` with double brackets")
            }
            (Help::DoubleBrackets, Syntax::Json) => {
                "there can be several: write a list in square brackets".into()
            }
            (Help::SingleBrackets, Syntax::Toml) => {
                format!("there is only one: write `[{header}]` with single brackets")
            }
            (Help::SingleBrackets, Syntax::Json) => "there is only one: leave out the square brackets".into(),
        };
        Problem { message, help, field }
    }
}

impl Display for TreeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TreeError {}

impl de::Error for TreeError {
    fn custom<T: Display>(message: T) -> Self {
        TreeError::new(message.to_string(), "")
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        let help = did_you_mean(field, known).unwrap_or_else(|| {
            let known = list(known, ", ");
            match tables_with_field(field).as_slice() {
                [] => format!("known here: {known}"),
                tables => {
                    format!("'{}' belongs in {}; known here: {known}", quotable(field), tables.join(" or "))
                }
            }
        });
        TreeError {
            names_field: false,
            ..TreeError::new(format!("unknown field '{}'", quotable(field)), help)
        }
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        let help =
            did_you_mean(variant, known).unwrap_or_else(|| format!("write one of {}", list(known, ", ")));
        TreeError::new(format!("unknown choice '{}'", quotable(variant)), help)
    }

    fn missing_field(field: &'static str) -> Self {
        TreeError::new(format!("missing field '{field}'"), format!("add `{field}` here: it has no default"))
    }
}

/// What other programs call things, and what they are called here.
const ELSEWHERE: [(&str, &str); 8] = [
    ("collision", "contact"),
    ("self_collision", "contact"),
    ("self_contact", "contact"),
    ("rotate", "rotate_deg"),
    ("rotation", "rotate_deg"),
    ("translation", "translate"),
    ("youngs_modulus", "young_modulus"),
    ("poissons_ratio", "poisson_ratio"),
];

/// Suggests what other programs call so, the names that begin like this one, or else the nearest one, when it is near enough to be what was meant.
fn did_you_mean(name: &str, known: &[&str]) -> Option<String> {
    // A very long name is near to nothing, and the distance takes time in proportion to its length.
    if name.len() > LONGEST_NAME {
        return None;
    }
    let name = name.to_lowercase().replace('-', "_");
    let begins_alike = |known: &&str| {
        let shorter = name.len().min(known.len());
        shorter >= SHORTEST_PREFIX && (known.starts_with(&name) || name.starts_with(known))
    };
    let is_elsewhere = |known: &&str| ELSEWHERE.contains(&(&name, known));
    let mut candidates: Vec<&str> = known.iter().copied().filter(is_elsewhere).collect();
    if candidates.is_empty() {
        candidates.extend(known.iter().copied().filter(begins_alike));
    }
    if candidates.is_empty() {
        let score = |known: &str| strsim::normalized_damerau_levenshtein(&name, known);
        let best = known.iter().copied().max_by(|a, b| score(a).total_cmp(&score(b)));
        candidates.extend(best.filter(|best| score(best) >= NEAR));
    }
    (!candidates.is_empty()).then(|| format!("did you mean {}?", list(&candidates, " or ")))
}

fn list(names: &[&str], separator: &str) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(separator)
}

/// A value in the words of its reader.
fn describe(value: &Value) -> Cow<'static, str> {
    match value {
        Value::Null => "null".into(),
        Value::Bool(flag) => flag.to_string().into(),
        Value::Integer(whole) => whole.to_string().into(),
        Value::Float(number) => format!("{number:?}").into(),
        Value::Text(text) => format!("the text \"{}\"", quotable(text)).into(),
        Value::Date => "a date".into(),
        Value::List(_) => "a list".into(),
        Value::Table(_) => "a table".into(),
    }
}

#[derive(Clone, Copy)]
struct NodeReader<'a> {
    node: &'a Node,
}

impl<'a> NodeReader<'a> {
    fn expected(&self, what: &str, help: impl Into<String>) -> TreeError {
        let found = describe(&self.node.value);
        TreeError::new(format!("expected {what}, found {found}"), help).at(self.node.span)
    }

    fn number(&self) -> Result<f64, TreeError> {
        let number = match &self.node.value {
            Value::Integer(whole) => *whole as f64,
            Value::Float(number) => *number,
            Value::Text(text) if text.trim().parse::<f64>().is_ok() => {
                return Err(self.expected("a number", "write it without quotes"));
            }
            _ => {
                return Err(
                    self.expected("a number", "write a number such as 1.5 or 2e-3, without quotes or units")
                );
            }
        };
        if number.is_finite() {
            Ok(number)
        } else {
            let help = "every number must be finite, at most 1.7e308 in size";
            Err(TreeError::new("not a finite number", help).at(self.node.span))
        }
    }

    fn whole_number(&self, min: i64, max: i64) -> Result<i64, TreeError> {
        match self.node.value {
            Value::Integer(whole) if (min..=max).contains(&whole) => Ok(whole),
            Value::Integer(_) => Err(self.expected(&format!("a whole number from {min} to {max}"), "")),
            _ => {
                Err(self
                    .expected("a whole number", "write a whole number such as 20, without a decimal point"))
            }
        }
    }

    fn table(&self) -> Result<&'a [Entry], TreeError> {
        match &self.node.value {
            Value::Table(entries) => Ok(entries),
            Value::List(nodes) if nodes.iter().all(|item| matches!(item.value, Value::Table(_))) => {
                Err(TreeError { help: Help::SingleBrackets, ..self.expected("a table", "") })
            }
            _ => Err(self.expected("a table", "")),
        }
    }

    fn nodes(&self) -> Result<&'a [Node], TreeError> {
        match &self.node.value {
            Value::List(nodes) => Ok(nodes),
            Value::Table(_) => Err(TreeError { help: Help::DoubleBrackets, ..self.expected("a list", "") }),
            _ => Err(self.expected("a list", "write values in square brackets, as in [0, 1, 0]")),
        }
    }

    fn visit_table<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, TreeError> {
        let entries = self.table()?.iter();
        visitor.visit_map(TableReader { entries, current: None }).map_err(|error| error.at(self.node.span))
    }

    fn visit_list<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, TreeError> {
        let nodes = self.nodes()?.iter().enumerate();
        visitor.visit_seq(ListReader { nodes }).map_err(|error| error.at(self.node.span))
    }
}

macro_rules! whole_numbers {
    ($($method:ident($type:ty))*) => {$(
        fn $method<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, TreeError> {
            let (min, max) = (i64::try_from(<$type>::MIN), i64::try_from(<$type>::MAX));
            let whole = self.whole_number(min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX))?;
            visitor.visit_i64(whole).map_err(|error: TreeError| error.at(self.node.span))
        }
    )*};
}

impl<'a> Deserializer<'a> for NodeReader<'a> {
    type Error = TreeError;

    whole_numbers! {
        deserialize_u8(u8)
        deserialize_u16(u16)
        deserialize_u32(u32)
        deserialize_u64(u64)
        deserialize_i8(i8)
        deserialize_i16(i16)
        deserialize_i32(i32)
        deserialize_i64(i64)
    }

    forward_to_deserialize_any! { <W: Visitor<'a>> i128 u128 char bytes byte_buf unit unit_struct }

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, TreeError> {
        let result = match &self.node.value {
            Value::Null | Value::Date => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Integer(whole) => visitor.visit_i64(*whole),
            Value::Float(_) => visitor.visit_f64(self.number()?),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::List(_) => self.visit_list(visitor),
            Value::Table(_) => self.visit_table(visitor),
        };
        result.map_err(|error: TreeError| error.at(self.node.span))
    }

    fn deserialize_f64<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, TreeError> {
        visitor.visit_f64(self.number()?)
    }

    fn deserialize_f32<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, TreeError> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_bool<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, TreeError> {
        match self.node.value {
            Value::Bool(flag) => visitor.visit_bool(flag),
            _ => Err(self.expected("true or false", "write true or false, without quotes")),
        }
    }

    fn deserialize_str<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, TreeError> {
        match &self.node.value {
            Value::Text(text) => visitor.visit_borrowed_str(text),
            _ => Err(self.expected("a text", "write it in quotes")),
        }
    }

    fn deserialize_string<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, TreeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, TreeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, TreeError> {
        match self.node.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(self, _: &str, visitor: V) -> Result<V::Value, TreeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, TreeError> {
        self.visit_list(visitor)
    }

    fn deserialize_tuple<V: Visitor<'a>>(self, length: usize, visitor: V) -> Result<V::Value, TreeError> {
        let found = match &self.node.value {
            Value::List(nodes) => nodes.len(),
            _ => return Err(self.expected(&format!("a list of {length} values"), example(length))),
        };
        if found != length {
            let message = format!("expected a list of {length} values, found {found}");
            return Err(TreeError::new(message, example(length)).at(self.node.span));
        }
        self.visit_list(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'a>>(
        self,
        _: &str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, TreeError> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, TreeError> {
        self.visit_table(visitor)
    }

    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _: &str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TreeError> {
        match &self.node.value {
            // serde would take a list as the fields in order, which nobody means who writes a scene.
            Value::Table(_) | Value::List(_) => self.visit_table(visitor),
            _ => Err(self.expected("a table", format!("it holds {}", list(fields, ", ")))),
        }
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _: &str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TreeError> {
        let choice = match &self.node.value {
            Value::Text(name) => {
                Choice { name, name_span: self.node.span, content: None, table: self.node.span }
            }
            Value::Table(entries) => match entries.as_slice() {
                [Entry { key, key_span, node }] => {
                    Choice { name: key, name_span: *key_span, content: Some(node), table: self.node.span }
                }
                [] => return Err(self.expected("a choice", format!("write one of {}", list(variants, ", ")))),
                [first, second, ..] => {
                    let (a, b) = (quotable(&first.key), quotable(&second.key));
                    let message = format!("both '{a}' and '{b}' are given");
                    let help = format!("keep exactly one of {}", list(variants, ", "));
                    return Err(TreeError::new(message, help).at(second.key_span));
                }
            },
            _ => return Err(self.expected("a choice", format!("write one of {}", list(variants, ", ")))),
        };
        visitor.visit_enum(choice)
    }

    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, TreeError> {
        visitor.visit_unit()
    }
}

fn example(length: usize) -> String {
    let values: Vec<String> = (0..length.min(4)).map(|value| value.to_string()).collect();
    format!("write {length} values in square brackets, as in [{}]", values.join(", "))
}

struct TableReader<'a> {
    entries: std::slice::Iter<'a, Entry>,
    current: Option<&'a Entry>,
}

impl<'a> MapAccess<'a> for TableReader<'a> {
    type Error = TreeError;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, TreeError> {
        self.current = self.entries.next();
        let Some(entry) = self.current else { return Ok(None) };
        let key = seed.deserialize(de::value::BorrowedStrDeserializer::new(&entry.key));
        key.map(Some)
            .map_err(|error: TreeError| error.at(entry.key_span).inside(Step::Key(entry.key.clone())))
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, TreeError> {
        let entry = self.current.take().ok_or_else(|| TreeError::new("a value without a key", ""))?;
        let value = seed.deserialize(NodeReader { node: &entry.node });
        value.map_err(|error| error.at(entry.node.span).inside(Step::Key(entry.key.clone())))
    }
}

struct ListReader<'a> {
    nodes: std::iter::Enumerate<std::slice::Iter<'a, Node>>,
}

impl<'a> SeqAccess<'a> for ListReader<'a> {
    type Error = TreeError;

    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>, TreeError> {
        let Some((index, node)) = self.nodes.next() else { return Ok(None) };
        let value = seed.deserialize(NodeReader { node });
        value.map(Some).map_err(|error| error.at(node.span).inside(Step::Index(index)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.nodes.len())
    }
}

/// A variant: its name, and what it holds unless it stands alone.
struct Choice<'a> {
    name: &'a str,
    name_span: Span,
    content: Option<&'a Node>,
    table: Span,
}

impl<'a> EnumAccess<'a> for Choice<'a> {
    type Error = TreeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'a>>(self, seed: V) -> Result<(V::Value, Self), TreeError> {
        let name = seed.deserialize(de::value::BorrowedStrDeserializer::new(self.name));
        name.map_err(|error: TreeError| error.at(self.name_span)).map(|name| (name, self))
    }
}

impl<'a> Choice<'a> {
    fn content(&self) -> Result<NodeReader<'a>, TreeError> {
        let name = quotable(self.name);
        let node = self.content.ok_or_else(|| {
            let message = format!("'{name}' needs more than its name");
            TreeError::new(message, format!("write {{ {name} = ... }} with what it holds")).at(self.table)
        })?;
        Ok(NodeReader { node })
    }

    fn inside<T>(&self, result: Result<T, TreeError>) -> Result<T, TreeError> {
        result.map_err(|error| match self.content {
            Some(_) => error.inside(Step::Key(self.name.to_owned())),
            None => error,
        })
    }
}

impl<'a> VariantAccess<'a> for Choice<'a> {
    type Error = TreeError;

    fn unit_variant(self) -> Result<(), TreeError> {
        match self.content {
            None => Ok(()),
            Some(node) => {
                let name = quotable(self.name);
                let message = format!("'{name}' stands alone and holds nothing");
                Err(TreeError::new(message, format!("write \"{name}\" instead of a table")).at(node.span))
            }
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'a>>(self, seed: T) -> Result<T::Value, TreeError> {
        let content = self.content()?;
        self.inside(seed.deserialize(content))
    }

    fn tuple_variant<V: Visitor<'a>>(self, length: usize, visitor: V) -> Result<V::Value, TreeError> {
        let content = self.content()?;
        self.inside(content.deserialize_tuple(length, visitor))
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TreeError> {
        let content = self.content()?;
        self.inside(content.deserialize_struct("", fields, visitor))
    }
}
