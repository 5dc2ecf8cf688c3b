//! `schemas` and `schema_inputs`: schemas of PyTorch's own library, parsed and printed.

use serde_json::{Value as Json, json};
use torch_library_schema::{AliasInfo, DefaultValue, Mode, Schema, Type};

use crate::report::{Check, Report, Unmet, equal};
use crate::rows::Row;

/// Canonical texts: they parse to the recorded structure and print unchanged.
pub(crate) fn canonical(rows: &[Json], report: &mut Report) {
    for row in rows {
        let text = row["schema"].as_str().unwrap_or_default();
        report.row(row, text, || compare(row.text("schema")?, row, Mode::PyTorch));
    }
}

/// Texts as they were written: they parse to the recorded structure and print canonically.
pub(crate) fn inputs(rows: &[Json], report: &mut Report) {
    for row in rows {
        let text = row["input"].as_str().unwrap_or_default();
        report.row(row, text, || compare(row.text("input")?, row.field("parsed")?, Mode::PyTorch));
    }
}

/// Parses `text` and compares structure and printed form with PyTorch's.
pub(super) fn compare(text: &str, want: &Json, mode: Mode) -> Check {
    let schema = Schema::parse(text, mode).map_err(|error| Unmet::failed("a schema", error.render(text)))?;
    same("schema", &structure(&schema), want)?;
    let (printed, canonical) = (schema.pytorch().to_string(), want.text("schema")?);
    if want.has("unstable_text") {
        equal("printed", sorted_sets(&printed), sorted_sets(canonical))
    } else {
        equal("printed", printed.as_str(), canonical)
    }
}

/// Checks that every field of `got` is in `want`, with the same value.
fn same(path: &str, got: &Json, want: &Json) -> Check {
    match (got, want) {
        (Json::Object(got), Json::Object(_)) => {
            got.iter().try_for_each(|(name, got)| same(&format!("{path}.{name}"), got, &want[name]))
        }
        (Json::Array(got), Json::Array(want)) => {
            equal(&format!("{path}: length"), got.len(), want.len())?;
            let mut pairs = got.iter().zip(want).enumerate();
            pairs.try_for_each(|(index, (got, want))| same(&format!("{path}[{index}]"), got, want))
        }
        (Json::Number(a), Json::Number(b)) if a.as_f64() == b.as_f64() => Ok(()),
        _ => equal(path, got, want),
    }
}

/// The text with the members of each alias set `a|b` sorted.
fn sorted_sets(text: &str) -> String {
    let is_member = |c: char| c.is_alphanumeric() || c == '_' || c == '|';
    let mut result = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (word, tail) = rest.split_at(rest.find(|c| !is_member(c)).unwrap_or(rest.len()));
        let mut members: Vec<_> = word.split('|').collect();
        members.sort_unstable();
        result += &members.join("|");
        let other = tail.find(is_member).unwrap_or(tail.len());
        result += &tail[..other];
        rest = &tail[other..];
    }
    result
}

/// A schema in the rows' notation.
fn structure(schema: &Schema) -> Json {
    let arguments = schema.arguments.iter().map(|argument| {
        let (ty, alias) = (&argument.ty, argument.alias.as_deref());
        let mut slot = slot(&argument.name, ty, argument.size, alias, argument.default.as_ref());
        slot["kwarg_only"] = json!(argument.kwarg_only);
        slot["is_out"] = json!(argument.is_out());
        slot
    });
    let returns = schema.returns.iter().map(|ret| {
        slot(ret.name.as_deref().unwrap_or_default(), &ret.ty, ret.size, ret.alias.as_deref(), None)
    });
    json!({
        "name": schema.name.qualified(),
        "overload": schema.name.overload,
        "args": arguments.collect::<Vec<_>>(),
        "returns": returns.collect::<Vec<_>>(),
        "is_vararg": schema.is_vararg,
        "is_varret": schema.is_varret,
        "is_mutable": schema.is_mutable(),
        "has_alias_info": schema.has_alias_info(),
    })
}

fn slot(
    name: &str,
    ty: &Type,
    size: Option<i64>,
    alias: Option<&AliasInfo>,
    default: Option<&DefaultValue>,
) -> Json {
    let fake = ty.fake();
    json!({
        "name": name,
        "type": fake.to_string(),
        "real_type": ty.to_string(),
        "kind": fake.kind().to_string(),
        "N": size,
        "has_default": default.is_some(),
        "default": default.map_or(Json::Null, value),
        "default_tag": default.map(DefaultValue::kind),
        "alias_info": alias.map_or(Json::Null, alias_info),
    })
}

fn alias_info(info: &AliasInfo) -> Json {
    json!({
        "before_set": info.before.names().collect::<Vec<_>>(),
        "after_set": info.after.names().collect::<Vec<_>>(),
        "is_write": info.is_write,
        "contained": info.contained.iter().map(alias_info).collect::<Vec<_>>(),
    })
}

fn value(value: &DefaultValue) -> Json {
    match value {
        DefaultValue::None => Json::Null,
        DefaultValue::Bool(value) => json!(value),
        DefaultValue::Int(value) => json!(value),
        DefaultValue::Double(value) => float(*value),
        DefaultValue::Complex { re, im } => json!({"re": float(*re), "im": float(*im)}),
        // The rows have one code point for each byte.
        DefaultValue::Str(bytes) => bytes.iter().map(|&byte| char::from(byte)).collect::<String>().into(),
        DefaultValue::Device(device) => json!(device),
        DefaultValue::List(values) => values.iter().map(self::value).collect(),
    }
}

fn float(value: f64) -> Json {
    if value.is_finite() { json!(value) } else { json!(value.to_string().to_lowercase()) }
}
