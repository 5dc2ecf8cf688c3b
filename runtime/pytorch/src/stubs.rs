//! Signatures of exported operators in Python's syntax, for the stubs of a package; they need no PyTorch.

use std::collections::BTreeMap;

use torch_library::schema::{Argument, Schema, Type};
use torch_library::{Dispatcher, OperatorHandle};

use crate::plan;
use crate::text::{Json, json_string};

/// Python's keywords, which cannot be names of arguments.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Whether the operators of a namespace are exported, given the namespaces that `export!` names.
pub(crate) fn is_asked(namespace: &str, namespaces: &[&str]) -> bool {
    match namespaces {
        [] => namespace != "aten",
        namespaces => namespaces.contains(&namespace),
    }
}

/// The signatures as JSON: a list with an object for each operator name, which has a list of overloads with signatures.
pub(crate) fn signatures(namespaces: &[&str]) -> String {
    let mut found: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for info in Dispatcher::global().operators() {
        let operator: OperatorHandle = info.operator;
        let Ok(schema) = operator.schema() else { continue };
        let is_exported = is_asked(operator.namespace(), namespaces)
            && operator.entry_point().is_some()
            && plan::check(schema).is_ok();
        if is_exported {
            let place = (operator.namespace().to_owned(), operator.name().to_owned());
            let overload = Json::object([
                ("overload", json_string(operator.overload())),
                ("signature", json_string(&signature(schema))),
            ]);
            found.entry(place).or_default().push(overload);
        }
    }
    Json::list(found.into_iter().map(|((namespace, name), overloads)| {
        Json::object([
            ("namespace", json_string(&namespace)),
            ("name", json_string(&name)),
            ("overloads", Json::list(overloads)),
        ])
    }))
}

/// `(self: Tensor, factor: Number = ...) -> Tensor`
fn signature(schema: &Schema) -> String {
    let (mut parts, mut is_by_name) = (Vec::new(), false);
    for argument in &schema.arguments {
        if KEYWORDS.contains(&&*argument.name) {
            parts.extend((!is_by_name).then(|| "*args: Any".to_owned()));
            parts.push("**kwargs: Any".to_owned());
            break;
        }
        if argument.kwarg_only && !is_by_name {
            is_by_name = true;
            parts.push("*".to_owned());
        }
        parts.push(parameter(argument));
    }
    let returns: Vec<String> = schema.returns.iter().map(|ret| returned(&ret.ty)).collect();
    let returns = match &returns[..] {
        [] => "None".to_owned(),
        [one] => one.clone(),
        several => format!("tuple[{}]", several.join(", ")),
    };
    format!("({}) -> {returns}", parts.join(", "))
}

fn parameter(argument: &Argument) -> String {
    let takes_one = argument.size.is_some();
    let default = if argument.default.is_some() { " = ..." } else { "" };
    format!("{}: {}{default}", argument.name, taken(&argument.ty, takes_one))
}

/// The type of an argument. For `takes_one` lists such as `int[2]`, one number may stand for all elements.
fn taken(ty: &Type, takes_one: bool) -> String {
    match ty {
        Type::Optional(inner) => format!("{} | None", taken(inner, takes_one)),
        Type::List(element) if takes_one => {
            let element = taken(element, false);
            format!("{element} | Sequence[{element}]")
        }
        Type::List(element) => format!("Sequence[{}]", taken(element, false)),
        Type::Device => "torch.device | str".to_owned(),
        ty => word(ty).to_owned(),
    }
}

/// The type of a return. PyTorch's operators return dtypes, layouts and memory formats as integers.
fn returned(ty: &Type) -> String {
    match ty {
        Type::Optional(inner) => format!("{} | None", returned(inner)),
        Type::List(element) => format!("list[{}]", returned(element)),
        Type::ScalarType | Type::Layout | Type::MemoryFormat => "int".to_owned(),
        ty => word(ty).to_owned(),
    }
}

fn word(ty: &Type) -> &'static str {
    match ty {
        Type::Tensor => "Tensor",
        Type::Scalar => "Number",
        Type::Int | Type::SymInt => "int",
        Type::Float => "float",
        Type::Complex => "complex",
        Type::Bool => "bool",
        Type::Str => "str",
        Type::ScalarType => "torch.dtype",
        Type::Layout => "torch.layout",
        Type::MemoryFormat => "torch.memory_format",
        Type::Device => "torch.device",
        Type::Generator => "torch.Generator",
        _ => "Any",
    }
}

#[cfg(test)]
mod tests {
    use torch_library::schema::Mode;

    use super::*;

    #[test]
    fn signatures_are_python() {
        for (text, expected) in [
            ("f(Tensor self, Scalar factor=2) -> Tensor", "(self: Tensor, factor: Number = ...) -> Tensor"),
            (
                "f(Tensor?[] t, int[2] n=1, *, Device? device=None) -> (Tensor[], ScalarType)",
                "(t: Sequence[Tensor | None], n: int | Sequence[int] = ..., *, device: torch.device | str | None = ...) \
                 -> tuple[list[Tensor], int]",
            ),
            ("f(Tensor self, int from, int to) -> ()", "(self: Tensor, *args: Any, **kwargs: Any) -> None"),
            ("f(*, Tensor lambda) -> str?", "(*, **kwargs: Any) -> str | None"),
        ] {
            let expected = expected.replace("(*, **kwargs", "(*args: Any, **kwargs");
            assert_eq!(signature(&Schema::parse(text, Mode::PyTorch).unwrap()), expected);
        }
    }

    #[test]
    fn namespaces_are_asked_for() {
        assert!(is_asked("mine", &[]) && is_asked("mine", &["mine"]) && !is_asked("mine", &["yours"]));
        assert!(!is_asked("aten", &[]));
    }
}
