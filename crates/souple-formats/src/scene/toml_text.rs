//! TOML text into a tree (TOML 1.0, with the line breaks in inline tables of 1.1).

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::error::{Problem, quotable};
use super::tree::{Budget, Entry, Node, Span, SyntaxError, Value};

/// Reads TOML.
pub(super) fn parse(text: &str) -> Result<Node, SyntaxError> {
    let root = DeTable::parse(text).map_err(|error| explain(text, &error))?;
    let value = table(root.into_inner(), 0, &mut Budget::default())?;
    Ok(Node { span: Span::default(), value })
}

fn table(entries: DeTable<'_>, depth: usize, budget: &mut Budget) -> Result<Value, SyntaxError> {
    let mut converted = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        let key_span = Span::from(key.span());
        let node = node(value, depth + 1, budget)?;
        converted.push(Entry { key: key.into_inner().into_owned(), key_span, node });
    }
    // The parser sorts by name; errors shall come in the order of the file.
    converted.sort_by_key(|entry| entry.key_span);
    Ok(Value::Table(converted))
}

fn node(spanned: Spanned<DeValue<'_>>, depth: usize, budget: &mut Budget) -> Result<Node, SyntaxError> {
    let span = Span::from(spanned.span());
    budget.enter(depth, spanned.get_ref().is_table(), span)?;
    let value = match spanned.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(digits) => integer(&digits),
        // The grammar was checked; what overflows becomes infinite and is refused where a number is wanted.
        DeValue::Float(digits) => Value::Float(digits.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Value::Bool(flag),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(nodes) => Value::List(
            nodes.into_iter().map(|item| node(item, depth + 1, budget)).collect::<Result<_, _>>()?,
        ),
        DeValue::Table(entries) => table(entries, depth, budget)?,
    };
    Ok(Node { span, value })
}

/// An integer beyond 64 bits is kept as a float, as it is good for a field that wants any number.
fn integer(digits: &DeInteger<'_>) -> Value {
    let (text, radix) = (digits.as_str(), digits.radix());
    match i64::from_str_radix(text, radix) {
        Ok(whole) => Value::Integer(whole),
        Err(_) if radix == 10 => Value::Float(text.parse().unwrap_or(f64::INFINITY)),
        Err(_) => Value::Float(i128::from_str_radix(text, radix).map_or(f64::INFINITY, |whole| whole as f64)),
    }
}

/// Says in plain words what the parser of TOML found.
fn explain(text: &str, error: &toml::de::Error) -> SyntaxError {
    let span = error.span();
    let offending = span.clone().and_then(|span| text.get(span)).unwrap_or_default();
    let offending = quotable(offending);
    let (what, expected) = error.message().split_once(", expected ").unwrap_or((error.message(), ""));
    let problem = match what {
        "duplicate key" => Problem::new(
            format!("duplicate key '{offending}'"),
            "this was already written above: keep one of the two, or merge them",
        ),
        "string values must be quoted" if offending.is_empty() => {
            Problem::new("missing value", "write a value after the `=`")
        }
        "string values must be quoted" | "invalid boolean" => Problem::new(
            format!("cannot read the value `{offending}`"),
            "a text needs quotes, as in \"cotton\"; a number is written like 1.5 or 2e-3, a flag as true or false",
        ),
        "invalid mantissa" => {
            Problem::new("cannot read the number", "write digits before and after the point, as in 0.5")
        }
        "cannot recurse further; max recursion depth met" | "recursion limit" => {
            let deep = SyntaxError::too_deep(Span::default());
            return SyntaxError { span: span.map(Span::from), ..deep };
        }
        _ if matches!(expected, "" | "nothing") => Problem::new(what, ""),
        _ => Problem::new(what, format!("expected {expected}")),
    };
    SyntaxError { span: span.map(Span::from), problem }
}
