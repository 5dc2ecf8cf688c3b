//! The changes that run-time libraries make: each validates first and commits after, so a failed one leaves no trace.

use std::sync::Arc;

use torch_library_schema::{Schema, Type};

use super::Dispatcher;
use super::entry::Registration;
use super::library::intern;
use super::state::{Name, State};
use crate::bail;
use crate::error::Result;
use crate::kernel::ErasedCode;
use crate::operator::{Operator, OperatorSpec, Place};

/// The dispatcher's masks and PyTorch's have one bit for each argument.
const MAX_ARGUMENTS: usize = 64;

pub(super) fn define(
    state: &mut State,
    dispatcher: &'static Dispatcher,
    name: Name<'static>,
    schema: Schema,
    tags: &[&str],
    place: Place,
) -> Result<(&'static Operator, usize, u64)> {
    let text = schema.to_string();
    if schema.arguments.len() > MAX_ARGUMENTS {
        bail!(
            Schema,
            "{} has {} arguments; an operator has at most {MAX_ARGUMENTS}",
            schema.name,
            schema.arguments.len()
        );
    }
    if let Some(index) = state.index_of_name(name) {
        let entry = &state.entries[index];
        if let Some(other) = entry.operator() {
            bail!(
                Conflict,
                "operator {other} is defined already\n  at {}: {}\n  and again at {place}: {text}",
                other.spec().place,
                other.spec().schema
            );
        }
        for registration in &entry.registrations {
            check_signature(&schema, registration)?;
        }
    }
    let index = state.entry_of_name(name);
    let operator = operator(state, dispatcher, index, name, &schema, text, tags, place);
    let id = state.define(operator);
    state.entries[index].schema = Some(Arc::new(schema));
    operator.retract();
    Ok((operator, index, id))
}

/// The operator of a definition: one that was defined like this before, or a new one.
#[expect(clippy::too_many_arguments, reason = "one for each field of the record")]
fn operator(
    state: &mut State,
    dispatcher: &'static Dispatcher,
    index: usize,
    (namespace, name, overload): Name<'static>,
    schema: &Schema,
    text: String,
    tags: &[&str],
    place: Place,
) -> &'static Operator {
    let retired = &mut state.entries[index].retired;
    let same = |operator: &&'static Operator| {
        let spec = operator.spec();
        spec.schema == text && spec.place == place && spec.tags == tags
    };
    if let Some(position) = retired.iter().position(same) {
        return retired.swap_remove(position);
    }
    let tags: Vec<&'static str> = tags.iter().map(|tag| intern(tag)).collect();
    Operator::leak(OperatorSpec {
        namespace,
        name,
        overload,
        schema: intern(&text),
        arity: schema.arguments.len() as u16,
        returns: schema.returns.len() as u16,
        dispatcher: Some(dispatcher),
        tags: Vec::leak(tags),
        place,
        returned: &[],
        boxing: ErasedCode::never_called(),
        autograd_default: ErasedCode::never_called(),
    })
}

pub(super) fn implement(
    state: &mut State,
    name: Name<'static>,
    mut registration: Registration,
    typed_for: Option<&'static Operator>,
) -> Result<(usize, u64)> {
    if let Some(index) = state.index_of_name(name) {
        let entry = &mut state.entries[index];
        if let (Some(operator), Some(typed_for)) = (entry.operator(), typed_for)
            && !std::ptr::eq(operator, typed_for)
        {
            bail!(Type, "the kernel was made for {typed_for}, not for {operator}");
        }
        if let Some(schema) = &entry.schema {
            check_signature(schema, &registration)?;
        } else if let Some(operator) = entry.operator() {
            let schema = state.schema(operator)?;
            check_signature(&schema, &registration)?;
        }
    } else if let Some(typed_for) = typed_for {
        bail!(Type, "the kernel was made for {typed_for}, not for {}::{}", name.0, name.1);
    }
    let index = state.entry_of_name(name);
    registration.id = state.new_id();
    let id = registration.id;
    state.entries[index].registrations.push(registration);
    state.republish(index);
    Ok((index, id))
}

/// Whether a kernel with a known signature fits: the number and the types of arguments and returns.
fn check_signature(schema: &Schema, registration: &Registration) -> Result<()> {
    let Some(inferred) = &registration.inferred else { return Ok(()) };
    let what = format!(
        "\n  kernel for {} at {}: {inferred}\n  operator: {schema}",
        registration.key, registration.place
    );
    let of_arguments: Vec<_> = schema.arguments.iter().map(|argument| &argument.ty).collect();
    let of_inferred: Vec<_> = inferred.arguments.iter().map(|argument| &argument.ty).collect();
    check_types("argument", &of_arguments, &of_inferred, &what)?;
    let of_returns: Vec<_> = schema.returns.iter().map(|ret| &ret.ty).collect();
    let of_inferred: Vec<_> = inferred.returns.iter().map(|ret| &ret.ty).collect();
    check_types("return", &of_returns, &of_inferred, &what)
}

fn check_types(word: &str, want: &[&Type], found: &[&Type], what: &str) -> Result<()> {
    if want.len() != found.len() {
        bail!(Type, "the operator has {} {word}s, the kernel has {}{what}", want.len(), found.len());
    }
    for (index, (want, found)) in want.iter().zip(found).enumerate() {
        // A kernel takes sizes as `int` whatever the schema calls them.
        if want.to_string().replace("SymInt", "int") != found.to_string().replace("SymInt", "int") {
            bail!(Type, "{word} {} is {want} for the operator and {found} for the kernel{what}", index + 1);
        }
    }
    Ok(())
}

pub(super) fn add_fallbacks(state: &mut State, registration: Registration) -> Result<Vec<u64>> {
    let keys: Vec<_> = registration.key.expansion().iter().collect();
    if keys.is_empty() {
        bail!(
            Argument,
            "{} is a building block of keys, so no fallback for it can ever run",
            registration.key
        );
    }
    for &key in &keys {
        if let Some(other) = state.fallback(key).filter(|other| other.id != 0) {
            bail!(
                Conflict,
                "there is a fallback for {key} already\n  at {}\n  and again at {}",
                other.place,
                registration.place
            );
        }
    }
    let mut ids = Vec::new();
    for key in keys {
        let id = state.new_id();
        state.fallbacks.push(Registration { id, key, ..registration.clone() });
        ids.push(id);
    }
    state.republish_all();
    Ok(ids)
}

pub(super) fn undefine(state: &mut State, index: usize, id: u64) {
    let entry = &mut state.entries[index];
    let Some(position) = entry.definitions.iter().position(|definition| definition.id == id) else { return };
    let operator = entry.definitions.remove(position).operator;
    entry.schema = None;
    entry.retired.push(operator);
    operator.retract();
}

pub(super) fn remove_kernel(state: &mut State, index: usize, id: u64) {
    state.entries[index].registrations.retain(|registration| registration.id != id);
    state.republish(index);
}

pub(super) fn remove_fallback(state: &mut State, id: u64) {
    state.fallbacks.retain(|fallback| fallback.id != id);
    state.republish_all();
}
