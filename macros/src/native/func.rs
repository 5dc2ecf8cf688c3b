//! A schema as the generator sees it: `self`, tensor options, `out` arguments, and the resulting kind of operator.

use std::ops::Range;

use torch_library_schema::{AliasInfo, Argument, DefaultValue, Schema, Type};

use super::name::Name;

/// The parsed schema of an entry.
#[derive(Clone, Debug)]
pub(crate) struct Func {
    pub(crate) name: Name,
    /// Without the namespace.
    pub(crate) schema: Schema,
}

/// What an operator writes to.
///
/// PyTorch: `SchemaKind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Writes to nothing.
    Functional,
    /// `add_`: writes to `self`.
    InPlace,
    /// Writes to `out` arguments after the `*`.
    Out,
    /// As `Out`, with further arguments for workspace that the kernel needs, `_scratch_…`.
    Scratch,
    /// Writes to some other argument.
    Mutable,
}

/// What related operators share: names, arguments and returns, without overload, `out` and annotations.
///
/// PyTorch: `FunctionSchema.signature()`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Signature {
    pub(crate) base: String,
    dunder: bool,
    arguments: Vec<Argument>,
    returns: Vec<(Type, Option<i64>)>,
}

impl Func {
    /// The alias annotation of an argument or return; for a list, that of its elements.
    pub(crate) fn annotation(alias: Option<&AliasInfo>) -> Option<&AliasInfo> {
        alias.map(AliasInfo::of_elements)
    }

    /// The position of the argument `self`.
    pub(crate) fn this(&self) -> Option<usize> {
        self.positional().iter().position(|argument| argument.name == "self")
    }

    /// The arguments before the `*`.
    pub(crate) fn positional(&self) -> &[Argument] {
        let end = self.schema.arguments.iter().position(|argument| argument.kwarg_only);
        &self.schema.arguments[..end.unwrap_or(self.schema.arguments.len())]
    }

    /// The `out` arguments, which are the last ones.
    pub(crate) fn out(&self) -> &[Argument] {
        let first = self.schema.arguments.iter().position(Argument::is_out);
        &self.schema.arguments[first.unwrap_or(self.schema.arguments.len())..]
    }

    /// All arguments but the `out` ones.
    pub(crate) fn inputs(&self) -> &[Argument] {
        &self.schema.arguments[..self.schema.arguments.len() - self.out().len()]
    }

    /// The positional arguments after `self`, or all of them if there is no `self`.
    pub(crate) fn behind_self(&self) -> &[Argument] {
        &self.positional()[self.this().map_or(0, |this| this + 1)..]
    }

    /// The position at which `dtype`, `layout`, `device` and `pin_memory` follow each other after the `*`.
    pub(crate) fn tensor_options(&self) -> Option<Range<usize>> {
        let named = self.positional().len()..self.inputs().len();
        named.clone().find(|&at| self.are_options(at)).map(|at| at..at + 4)
    }

    /// Whether tensor options start at this argument.
    pub(crate) fn are_options(&self, at: usize) -> bool {
        const OPTIONS: [(&str, Type); 4] = [
            ("dtype", Type::ScalarType),
            ("layout", Type::Layout),
            ("device", Type::Device),
            ("pin_memory", Type::Bool),
        ];
        let arguments = self.inputs().get(at..at + 4);
        arguments.is_some_and(|arguments| {
            arguments
                .iter()
                .zip(&OPTIONS)
                .all(|(argument, (name, ty))| argument.name == *name && argument.ty.without_optional() == ty)
        })
    }

    pub(crate) fn kind(&self) -> Kind {
        if self.name.in_place {
            Kind::InPlace
        } else if self.out().iter().any(is_scratch) {
            Kind::Scratch
        } else if !self.out().is_empty() {
            Kind::Out
        } else if self.behind_self().iter().any(Argument::is_mutable) {
            Kind::Mutable
        } else {
            Kind::Functional
        }
    }

    /// Whether there is a tensor argument.
    pub(crate) fn has_tensor(&self) -> bool {
        self.inputs().iter().any(|argument| is_tensor(&argument.ty))
    }

    /// Whether a return is or contains a tensor.
    pub(crate) fn returns_tensor(&self) -> bool {
        self.schema.returns.iter().any(|ret| is_tensor(&ret.ty))
    }

    pub(crate) fn has_generator(&self) -> bool {
        self.inputs().iter().any(|argument| *argument.ty.without_optional() == Type::Generator)
    }

    /// The kernel's name in PyTorch if no table gives one, which leaves out the overload.
    pub(crate) fn cpp_name(&self) -> String {
        let name = self.name.operator();
        if self.out().is_empty() { name } else { format!("{name}_out") }
    }

    /// The arguments that are written to and not returned, in the order in which they become returns.
    pub(crate) fn written_only(&self) -> impl Iterator<Item = &Argument> {
        let this = self.this().map(|this| &self.schema.arguments[this]);
        let all = this.into_iter().chain(self.out()).chain(self.behind_self());
        all.filter(|argument| argument.is_mutable() && self.returned_at(argument).is_none())
    }

    /// The position of an argument among the returns, if it is returned.
    pub(crate) fn returned_at(&self, argument: &Argument) -> Option<usize> {
        let annotation = Self::annotation(argument.alias.as_deref());
        self.schema
            .returns
            .iter()
            .position(|ret| annotation.is_some() && Self::annotation(ret.alias.as_deref()) == annotation)
    }

    /// The arguments of the signature: without `out` and tensor options, and none mutable.
    pub(crate) fn bare_arguments(&self) -> Vec<Argument> {
        let options = self.tensor_options().unwrap_or(0..0);
        let inputs = self.inputs().iter().enumerate().filter(|(at, _)| !options.contains(at));
        inputs.map(|(_, argument)| Argument { alias: None, ..argument.clone() }).collect()
    }

    pub(crate) fn signature(&self) -> Signature {
        let mut arguments = self.bare_arguments();
        // PyTorch's only operator whose in-place variant has a default that the functional one lacks.
        if self.name.to_string() == "bernoulli.p"
            && let Some(p) = arguments.iter_mut().find(|argument| argument.name == "p")
        {
            p.default = Some(DefaultValue::Double(0.5));
        }
        let returned = self.schema.returns.iter().map(|ret| (ret.ty.clone(), ret.size));
        let written = self.written_only().map(|argument| (argument.ty.clone(), argument.size));
        Signature {
            base: self.name.base.clone(),
            dunder: self.name.dunder,
            arguments,
            returns: returned.chain(written).collect(),
        }
    }
}

/// Whether the argument is workspace of an `out` variant.
pub(crate) fn is_scratch(argument: &Argument) -> bool {
    argument.name.starts_with("_scratch_")
}

/// Whether the type is a tensor, a list of tensors or an optional tensor.
pub(crate) fn is_tensor(ty: &Type) -> bool {
    match ty {
        Type::Tensor => true,
        Type::List(inner) | Type::Optional(inner) => is_tensor(inner),
        _ => false,
    }
}
