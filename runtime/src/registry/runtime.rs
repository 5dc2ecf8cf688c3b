//! Changes by run-time libraries: each is validated before it is committed, so that a failed one leaves no trace.

use std::borrow::Cow;

use torch_library_schema::{Schema, Type};

use super::entry::{Entry, Registration};
use super::state::State;
use super::{Dispatcher, RuntimeKernel};
use crate::bail;
use crate::error::Result;
use crate::key::DispatchKey;
use crate::operator::{self, Adapters, Operator, OperatorSpec, Place};

/// Masks of arguments, here and in PyTorch, have one bit for each argument.
const MAX_ARGUMENTS: usize = 64;

/// A definition that a library asks for.
pub(super) struct Request<'a> {
    pub(super) dispatcher: &'static Dispatcher,
    /// The full name, `ns::name.overload`.
    pub(super) name: &'a str,
    /// The schema as it was written.
    pub(super) text: &'a str,
    pub(super) schema: &'a Schema,
    pub(super) tags: &'a [&'a str],
    pub(super) place: Place,
}

pub(super) fn define(state: &mut State, request: &Request<'_>) -> Result<(&'static Operator, usize, u64)> {
    let Request { name, text, schema, place, .. } = request;
    let arguments = schema.arguments.len();
    if arguments > MAX_ARGUMENTS {
        bail!(Schema, "{name} has {arguments} arguments; an operator has at most {MAX_ARGUMENTS}");
    }
    if let Some(entry) = state.entry_named(name) {
        if let Some(other) = entry.operator().map(Operator::spec) {
            bail!(
                Conflict,
                "operator {name} is defined already\n  at {}: {}\n  and again at {place}: {text}",
                other.place,
                other.schema
            );
        }
        for registration in &entry.registrations {
            let whose = (registration.key, registration.place);
            if let Some(signature) = &registration.signature {
                check_signature(name, (schema, *place), signature, whose)?;
            }
            check_convention(name, None, registration.made_for(), whose)?;
        }
    }
    let index = state.entry_of_name(name);
    let operator = operator(&mut state.entries[index], request);
    let id = state.define(index, operator);
    Ok((operator, index, id))
}

/// The operator for a definition: one that was defined in the same way before, or a new one.
fn operator(entry: &mut Entry, request: &Request<'_>) -> &'static Operator {
    let Request { dispatcher, schema, tags, place, .. } = *request;
    let text = text_from_name(entry.name.name_and_overload(), request);
    let same = |operator: &&'static Operator| {
        let spec = operator.spec();
        spec.schema == text && spec.place == place && spec.tags == tags
    };
    if let Some(rare) = &mut entry.rare
        && let Some(position) = rare.retired.iter().position(same)
    {
        return rare.retired.swap_remove(position);
    }
    let tags: Vec<&'static str> = tags.iter().map(|tag| leak(tag)).collect();
    let spec = OperatorSpec {
        namespace: entry.name.namespace(),
        schema: leak(&text),
        arity: operator::arity(schema),
        returns: schema.returns.len() as u16,
        dispatcher: Some(dispatcher),
        tags: Vec::leak(tags),
        place,
        links: None,
        base: None,
        entry_point: None,
        has_alias_info: schema.has_alias_info(),
        returned: Vec::leak(operator::returned_arguments(schema)),
        convention: None,
        adapters: Adapters::NEVER_CALLED,
    };
    Operator::leak(spec)
}

/// The schema as it was written if that begins with the name; otherwise printed, without the namespace.
fn text_from_name<'a>(name: &str, request: &Request<'a>) -> Cow<'a, str> {
    if request.text.strip_prefix(name).is_some_and(|rest| rest.starts_with('(')) {
        return request.text.into();
    }
    let mut schema = request.schema.clone();
    schema.name.namespace = None;
    schema.to_string().into()
}

fn leak(text: &str) -> &'static str {
    Box::leak(text.into())
}

/// Registers a kernel, which is taken out of the option. If it is refused, it stays there, so that it is not dropped
/// here under the lock.
pub(super) fn implement(
    state: &mut State,
    name: &str,
    (key, place): (DispatchKey, Place),
    kernel: &mut Option<RuntimeKernel>,
) -> Result<(usize, u64)> {
    let operator = state.entry_named(name).and_then(Entry::operator);
    let made_for = kernel.as_ref().and_then(RuntimeKernel::made_for);
    let signature = kernel.as_ref().and_then(RuntimeKernel::signature);
    check_convention(name, operator, made_for, (key, place))?;
    if let (Some(operator), Some(signature)) = (operator, signature) {
        check_signature(name, (operator.schema()?, operator.spec().place), signature, (key, place))?;
    }
    let Some(kernel) = kernel.take() else { bail!(Internal, "a kernel is registered once") };
    let index = state.entry_of_name(name);
    let registration = kernel.registration(key, place, &mut state.entries[index].rare_mut().seats);
    let id = state.add_kernel(index, registration);
    Ok((index, id))
}

/// Checks that a typed kernel has the calling convention of the operator that it should serve.
fn check_convention(
    name: &str,
    operator: Option<&Operator>,
    made_for: Option<&'static Operator>,
    (key, place): (DispatchKey, Place),
) -> Result<()> {
    match made_for {
        Some(made_for) if operator.is_none_or(|operator| !operator.accepts_kernels_of(made_for)) => {
            bail!(
                Type,
                "the {key} kernel was made for {made_for}, not for {name}\n  kernel at {place}\n  {made_for} is declared at {}",
                made_for.spec().place
            )
        }
        _ => Ok(()),
    }
}

/// Checks that a kernel with a known signature fits an operator: the number and the types of arguments and returns.
fn check_signature(
    name: &str,
    (schema, declared): (&Schema, Place),
    signature: &Schema,
    (key, place): (DispatchKey, Place),
) -> Result<()> {
    match difference(schema, signature) {
        None => Ok(()),
        Some(difference) => bail!(
            Type,
            "the {key} kernel does not fit {name}: {difference}\n  kernel at {place}: {signature}\n  operator at {declared}: {schema}"
        ),
    }
}

/// Describes how an operator's types differ from those of a kernel.
pub(crate) fn difference(want: &Schema, found: &Schema) -> Option<String> {
    type_difference("argument", &argument_types(want), &argument_types(found))
        .or_else(|| type_difference("return", &return_types(want), &return_types(found)))
}

/// The names and types of a schema's arguments.
fn argument_types(schema: &Schema) -> Vec<(String, &Type)> {
    schema.arguments.iter().map(|argument| (format!(" `{}`", argument.name), &argument.ty)).collect()
}

/// The types of a schema's returns, which rarely have names.
fn return_types(schema: &Schema) -> Vec<(String, &Type)> {
    schema.returns.iter().map(|ret| (String::new(), &ret.ty)).collect()
}

fn type_difference(word: &str, want: &[(String, &Type)], found: &[(String, &Type)]) -> Option<String> {
    let counted = |count: usize| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    if want.len() != found.len() {
        return Some(format!("the operator has {}, the kernel {}", counted(want.len()), found.len()));
    }
    // A kernel takes sizes as `int`, even if the schema says `SymInt`.
    let same = |want: &Type, found: &Type| symbols_as_integers(want) == symbols_as_integers(found);
    let index = want.iter().zip(found).position(|((_, want), (_, found))| !same(want, found))?;
    let ((name, want), (_, found)) = (&want[index], &found[index]);
    Some(format!("{word} {}{name} is `{want}` for the operator, `{found}` for the kernel", index + 1))
}

fn symbols_as_integers(ty: &Type) -> Type {
    match ty {
        Type::SymInt => Type::Int,
        Type::Optional(inner) => Type::Optional(Box::new(symbols_as_integers(inner))),
        Type::List(element) => Type::List(Box::new(symbols_as_integers(element))),
        other => other.clone(),
    }
}

/// Registers a fallback, like [`implement`] for a kernel.
pub(super) fn add_fallbacks(
    state: &mut State,
    (key, place): (DispatchKey, Place),
    kernel: &mut Option<RuntimeKernel>,
) -> Result<Vec<u64>> {
    if let Some(made_for) = kernel.as_ref().and_then(RuntimeKernel::made_for) {
        bail!(
            Type,
            "the kernel at {place} was made for {made_for}, but a fallback serves operators of all types: make it with `boxed`"
        );
    }
    let keys: Vec<_> = key.expansion().iter().collect();
    if let Some(other) = keys.iter().find_map(|key| state.fallback(*key)) {
        bail!(
            Conflict,
            "there is a fallback for {} already\n  at {}\n  and again at {place}",
            other.key,
            other.place
        );
    }
    let Some(first) = keys.first() else { return Ok(Vec::new()) }; // a building block, which is no key of any call
    let Some(kernel) = kernel.take() else { bail!(Internal, "a kernel is registered once") };
    let mut registration = kernel.registration(*first, place, &mut state.fallback_seats);
    let add = |key| {
        let seat = registration.seat.take(); // the first registration has the seat, and all are removed together
        state.add_fallback(Registration { key, seat, ..registration.clone() })
    };
    let ids = keys.into_iter().map(add).collect();
    state.refresh_all();
    Ok(ids)
}
