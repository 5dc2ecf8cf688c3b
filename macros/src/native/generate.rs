//! Generates what `autogen` asks for: the functional variant of an operator, and the one that writes to `out`.

use torch_library_schema::{Argument, OperatorName, Return, Schema, Type};

use super::entry::Entry;
use super::fields::{Dispatch, with_implied_tags};
use super::func::{Func, Kind, is_tensor};
use super::keys;
use super::name::Name;
use crate::schema_parts::written;

/// The functional variant: mutable arguments are copied first, and the copies returned.
pub(crate) fn functional(base: &Entry) -> Entry {
    let func = &base.func;
    let mut name = func.name.plain(func.name.overload.clone());
    name.functional = func.kind() == Kind::Mutable;
    let returned = func.schema.returns.iter().map(|ret| Return { alias: None, ..ret.clone() });
    let written = func.written_only().map(|argument| Return {
        name: Some(format!("{}_out", argument.name)),
        ty: argument.ty.clone(),
        size: argument.size,
        alias: None,
    });
    entry(base, name, func.bare_arguments(), returned.chain(written).collect())
}

/// The `out` variant, which writes the returned values to `out`.
pub(crate) fn out(base: &Entry) -> Entry {
    let func = &base.func;
    let name = func.name.plain(func.name.out_overload());
    let (mut arguments, outs, returns) = match func.kind() {
        Kind::InPlace => out_of_self(func),
        kind => {
            let (outs, returns) = out_of_returns(func);
            let is_mutable = kind == Kind::Mutable;
            (if is_mutable { func.inputs().to_vec() } else { func.bare_arguments() }, outs, returns)
        }
    };
    arguments.extend(outs);
    entry(base, name, arguments, returns)
}

type Parts = (Vec<Argument>, Vec<Argument>, Vec<Return>);

/// Turns the mutable `self` of an in-place operator into an input and an `out` argument.
fn out_of_self(func: &Func) -> Parts {
    let this = func.this().unwrap_or_default();
    let mut inputs = func.inputs().to_vec();
    let mut out = inputs[this].clone();
    inputs[this].alias = None;
    (out.name, out.kwarg_only) = ("out".to_owned(), true);
    (inputs, vec![out], func.schema.returns.clone())
}

/// Turns each returned tensor into an `out` argument; if all returns are tensors, these are returned again.
fn out_of_returns(func: &Func) -> (Vec<Argument>, Vec<Return>) {
    let returns = &func.schema.returns;
    let aliases =
        func.schema.arguments.iter().filter_map(|argument| Func::annotation(argument.alias.as_deref()));
    let used: Vec<&str> = aliases.flat_map(|alias| alias.before.names()).collect();
    let free: Vec<String> = (b'a'..=b'z')
        .map(|letter| char::from(letter).to_string())
        .filter(|name| !used.contains(&&**name))
        .collect();
    let all_tensors = returns.iter().all(|ret| ret.ty == Type::Tensor);
    let (mut outs, mut left) = (Vec::new(), Vec::new());
    for (at, ret) in returns.iter().enumerate() {
        if !is_tensor(&ret.ty) {
            left.push(ret.clone());
            continue;
        }
        let alias = written(&free[at.min(free.len() - 1)], &ret.ty);
        if all_tensors {
            left.push(Return { name: None, alias: Some(alias.clone()), ..ret.clone() });
        }
        let name = if returns.len() == 1 { "out".to_owned() } else { format!("out{at}") };
        let (ty, size) = (ret.ty.clone(), ret.size);
        outs.push(Argument { name, ty, size, default: None, kwarg_only: true, alias: Some(alias) });
    }
    (outs, left)
}

fn entry(base: &Entry, name: Name, arguments: Vec<Argument>, returns: Vec<Return>) -> Entry {
    let operator = OperatorName { namespace: None, name: name.operator(), overload: name.overload.clone() };
    let schema = Schema { name: operator, arguments, returns, is_vararg: false, is_varret: false };
    let func = Func { name, schema };
    let inherited = ["nondeterministic_seeded", "view_copy", "pt2_compliant_tag"];
    let inherited = base.tags.iter().filter(|tag| inherited.contains(&&***tag)).cloned();
    let tags = std::iter::once("generated".to_owned()).chain(inherited).collect();
    Entry {
        spot: base.spot,
        namespace: base.namespace.clone(),
        is_function: true,
        is_method: false,
        // The kernel has no name of its own: it is generated with the operator.
        dispatch: vec![Dispatch { keys: vec![keys::EXPLICIT], kernel: String::new(), spot: base.spot }],
        tags: with_implied_tags(tags, &base.namespace, &func),
        autogen: Vec::new(),
        structured: false,
        structured_delegate: None,
        manual_cpp_binding: false,
        device_check: false,
        device_guard: false,
        kept: Default::default(),
        generated_from: Some(base.func.name.clone()),
        func,
    }
}
