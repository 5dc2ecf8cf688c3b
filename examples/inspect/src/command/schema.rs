//! `inspect schema`: reads schemas from standard input, and prints them in canonical form, or their errors.

use std::io::BufRead;

use serde_json::{Value, json};
use torch_library::Result;
use torch_library_schema::{AliasInfo, Argument, Mode, Return, Schema};

use crate::answer::Answer;

pub(crate) fn answer(input: &mut dyn BufRead, pytorch: bool) -> Result<Answer> {
    let mode = if pytorch { Mode::PyTorch } else { Mode::Strict };
    let mut answer = Answer::new(String::new(), json!([]));
    let mut json = Vec::new();
    for line in input.lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        match Schema::parse(&line, mode) {
            Ok(schema) => {
                answer.text += &format!("{schema}\n");
                json.push(of_schema(&schema));
            }
            Err(error) => {
                answer.is_well = false;
                answer.text += &error.render(&line);
                let mistakes = error.iter().map(|mistake| {
                    json!({ "message": mistake.message, "start": mistake.span.start, "end": mistake.span.end, "help": mistake.help })
                });
                json.push(json!({ "text": line, "errors": mistakes.collect::<Value>() }));
            }
        }
    }
    answer.json = json.into();
    Ok(answer)
}

fn of_schema(schema: &Schema) -> Value {
    json!({
        "schema": schema.to_string(),
        "namespace": schema.name.namespace,
        "name": schema.name.name,
        "overload": schema.name.overload,
        "arguments": schema.arguments.iter().map(of_argument).collect::<Value>(),
        "returns": schema.returns.iter().map(of_return).collect::<Value>(),
        "vararg": schema.is_vararg,
        "varret": schema.is_varret,
    })
}

fn of_argument(argument: &Argument) -> Value {
    json!({
        "name": argument.name,
        "type": argument.ty.to_string(),
        "size": argument.size,
        "default": argument.default.as_ref().map(|_| default_text(argument)),
        "keyword_only": argument.kwarg_only,
        "alias": argument.alias.as_deref().map(of_alias),
    })
}

/// The default, as the schema spells it.
fn default_text(argument: &Argument) -> String {
    let text = argument.to_string();
    text.split_once('=').map_or_else(String::new, |(_, default)| default.to_owned())
}

fn of_return(ret: &Return) -> Value {
    json!({
        "name": ret.name,
        "type": ret.ty.to_string(),
        "alias": ret.alias.as_deref().map(of_alias),
    })
}

fn of_alias(alias: &AliasInfo) -> Value {
    json!({
        "before": alias.before.names().collect::<Vec<_>>(),
        "after": alias.after.names().collect::<Vec<_>>(),
        "write": alias.is_write,
        "contained": alias.contained.iter().map(of_alias).collect::<Value>(),
    })
}
