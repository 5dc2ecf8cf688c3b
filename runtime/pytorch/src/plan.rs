//! What of an operator PyTorch gets: schemas, keys, and a reason for whatever it does not get.

use std::fmt::Write;

use torch_library::schema::{Argument, Schema, Type};
use torch_library::{DispatchKey, KernelInfo};

/// How a value of a type comes to a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passing {
    /// In a word.
    Word,
    /// As three integers, which the glue in Python makes of a number: PyTorch's C functions pass no `Scalar`.
    Scalar,
}

/// Which of the operators that an entry point serves is meant: the last argument of all but the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The operator with its numbers flattened.
    Flat = 1,
    /// The gradients of its arguments.
    Backward = 2,
}

/// The name of the last argument that tells entries apart.
const ENTRY: &str = "_entry";

/// How an argument passes.
///
/// # Errors
/// It does not, and why.
pub(crate) fn passing(ty: &Type) -> Result<Passing, String> {
    match ty {
        Type::Tensor
        | Type::Int
        | Type::SymInt
        | Type::Float
        | Type::Bool
        | Type::ScalarType
        | Type::Layout
        | Type::MemoryFormat
        | Type::Device
        | Type::Str
        | Type::Generator => Ok(Passing::Word),
        Type::Scalar | Type::Complex => Ok(Passing::Scalar),
        Type::Optional(inner) if !matches!(**inner, Type::Optional(_)) => passing(inner),
        Type::List(element) => match &**element {
            Type::Tensor | Type::Int | Type::SymInt | Type::Float | Type::Bool | Type::Str => {
                Ok(Passing::Word)
            }
            Type::Optional(inner) if **inner == Type::Tensor => Ok(Passing::Word),
            _ => Err(format!("no value here is a `{ty}`")),
        },
        _ => Err(format!("PyTorch's C functions pass no `{ty}`")),
    }
}

/// Whether an operator can be called from PyTorch at all.
///
/// # Errors
/// It cannot, and why.
pub(crate) fn check(schema: &Schema) -> Result<(), String> {
    if schema.is_vararg || schema.is_varret {
        return Err("PyTorch's C functions pass no `...`".to_owned());
    }
    for argument in &schema.arguments {
        passing(&argument.ty).map_err(|why| format!("argument `{}`: {why}", argument.name))?;
    }
    for ret in &schema.returns {
        let passes = passing(&ret.ty).map_err(|why| format!("a return: {why}"))?;
        if passes != Passing::Word || has_generator(&ret.ty) {
            return Err(format!("PyTorch's C functions return no `{}`", ret.ty));
        }
    }
    Ok(())
}

fn has_generator(ty: &Type) -> bool {
    match ty {
        Type::Optional(inner) | Type::List(inner) => has_generator(inner),
        ty => *ty == Type::Generator,
    }
}

/// Whether a type is of tensors.
pub(crate) fn is_tensors(ty: &Type) -> bool {
    match ty {
        Type::Optional(inner) | Type::List(inner) => is_tensors(inner),
        ty => *ty == Type::Tensor,
    }
}

/// Whether numbers have to be flattened.
pub(crate) fn has_scalars(schema: &Schema) -> bool {
    schema.arguments.iter().any(|argument| passing(&argument.ty) == Ok(Passing::Scalar))
}

/// The name of an operator that serves another one: `_scale_Scalar_backward`.
pub(crate) fn hidden_name(schema: &Schema, what: &str) -> String {
    let overload = &schema.name.overload;
    let separator = if overload.is_empty() { "" } else { "_" };
    format!("_{}{separator}{overload}_{what}", schema.name.name)
}

/// The schema with each number as three integers, where it has any.
pub(crate) fn flat_schema(schema: &Schema) -> Option<String> {
    has_scalars(schema).then(|| {
        let mut text = format!("{}({}", hidden_name(schema, "flat"), flat_arguments(schema, true));
        let returns = returns(schema);
        _ = write!(text, ", int {ENTRY}={}) -> {returns}", Entry::Flat as i64);
        text
    })
}

/// The schema of the operator that computes gradients: arguments, results, the gradients of these, and which gradients
/// are wanted. All are given by position.
pub(crate) fn backward_schema(schema: &Schema) -> String {
    let arguments = flat_arguments(schema, false);
    let comma = if arguments.is_empty() { "" } else { ", " };
    format!(
        "{}({arguments}{comma}Tensor[] _results, Tensor?[] _grads, bool[] _wanted, int {ENTRY}={}) -> Tensor?[]",
        hidden_name(schema, "backward"),
        Entry::Backward as i64
    )
}

fn flat_arguments(schema: &Schema, with_aliases: bool) -> String {
    let mut text = String::new();
    for Argument { name, ty, alias, .. } in &schema.arguments {
        let comma = if text.is_empty() { "" } else { ", " };
        if passing(ty) == Ok(Passing::Scalar) {
            _ = write!(text, "{comma}int {name}_kind, int {name}_bits, int {name}_imaginary");
            continue;
        }
        // The printer of schemas knows where an annotation goes.
        let bare = Argument {
            name: name.clone(),
            ty: ty.clone(),
            size: None,
            default: None,
            kwarg_only: false,
            alias: alias.clone().filter(|_| with_aliases),
        };
        _ = write!(text, "{comma}{}", printed(bare));
    }
    text
}

/// An argument as a schema has it.
fn printed(argument: Argument) -> String {
    let name = torch_library::schema::OperatorName {
        namespace: None,
        name: "f".to_owned(),
        overload: String::new(),
    };
    let one =
        Schema { name, arguments: vec![argument], returns: Vec::new(), is_vararg: false, is_varret: false };
    let text = one.to_string();
    text.strip_prefix("f(").and_then(|text| text.strip_suffix(") -> ()")).unwrap_or(&text).to_owned()
}

fn returns(schema: &Schema) -> String {
    let text = schema.to_string();
    text.rsplit_once(" -> ").map_or_else(String::new, |(_, returns)| returns.to_owned())
}

/// What becomes of an operator's kernels.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Keys {
    /// The keys at which PyTorch gets the operator's entry point.
    pub(crate) registered: Vec<DispatchKey>,
    /// The composite kernel that runs on stand-ins, if it is the only one.
    pub(crate) composite: Option<DispatchKey>,
    /// The kernel that knows the derivative.
    pub(crate) autograd: Option<DispatchKey>,
    /// What is left out, and why.
    pub(crate) left_out: Vec<String>,
}

/// Decides for each kernel of an operator.
pub(crate) fn keys<'k>(kernels: impl IntoIterator<Item = &'k KernelInfo>) -> Keys {
    let kernels = kernels.into_iter().filter(|kernel| kernel.is_active && !kernel.is_fallthrough);
    of_keys(kernels.map(|kernel| kernel.key).collect())
}

fn of_keys(all: Vec<DispatchKey>) -> Keys {
    let mut keys = Keys::default();
    let is_alone = |key| all.iter().all(|other| *other == key || !has_elements(*other));
    for key in &all {
        match *key {
            DispatchKey::CompositeImplicitAutograd if is_alone(*key) => {
                keys.composite = Some(*key);
                keys.registered.push(*key);
            }
            DispatchKey::CompositeImplicitAutograd => keys.left_out.push(format!(
                "{key}: the operator has kernels for backends too, and its entry point cannot tell which PyTorch means"
            )),
            key if has_elements(key) => keys.registered.push(key),
            key if is_autograd(key) => keys.autograd = keys.autograd.or(Some(key)),
            DispatchKey::ADInplaceOrView => {} // versions and views are kept in order at the border
            key => keys.left_out.push(why_not(key)),
        }
    }
    keys
}

/// Whether a kernel at this key gets tensors with elements, or none of autograd's, and so runs here as it is.
fn has_elements(key: DispatchKey) -> bool {
    let is_composite = matches!(
        key,
        DispatchKey::CompositeExplicitAutograd | DispatchKey::CompositeExplicitAutogradNonFunctional
    );
    is_composite || key.functionality() == DispatchKey::Dense
}

fn is_autograd(key: DispatchKey) -> bool {
    key.name().starts_with("Autograd")
}

fn why_not(key: DispatchKey) -> String {
    let name = key.name();
    if name.starts_with("Autocast") {
        return format!(
            "{name}: PyTorch's C functions cannot switch autocast off for the call that follows a cast"
        );
    }
    if name.starts_with("FuncTorch") {
        return format!(
            "{name}: PyTorch's C functions do not show the levels of vmap; PyTorch runs example by example"
        );
    }
    format!("{name}: PyTorch's C functions cannot go on to the next key from there")
}

/// Whether PyTorch gets the derivative.
///
/// # Errors
/// It does not, and why.
pub(crate) fn check_derivative(schema: &Schema) -> Result<(), String> {
    if schema.is_mutable() {
        return Err("the operator writes to an argument".to_owned());
    }
    if schema.has_alias_info() {
        return Err("the operator returns a view, which PyTorch differentiates itself".to_owned());
    }
    let are_tensors = schema.returns.iter().all(|ret| ret.ty == Type::Tensor);
    let is_list = matches!(&schema.returns[..], [ret] if ret.ty == Type::List(Box::new(Type::Tensor)));
    if !are_tensors && !is_list {
        return Err("the operator returns something besides tensors".to_owned());
    }
    let by_name = schema.arguments.iter().find(|argument| argument.kwarg_only && is_tensors(&argument.ty));
    match by_name.filter(|_| !has_scalars(schema)) {
        Some(argument) => {
            Err(format!("PyTorch differentiates no argument that is given by name: `{}`", argument.name))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use torch_library::schema::Mode;

    use super::*;

    fn schema(text: &str) -> Schema {
        Schema::parse(text, Mode::PyTorch).unwrap()
    }

    #[test]
    fn what_passes_and_what_does_not() {
        for text in [
            "f(Tensor x, Tensor? w, Tensor[] l, Tensor?[] o, int i, SymInt[2] s, float[] f, bool[] b, str[] t) -> ()",
            "f(ScalarType? dtype, Layout? layout, Device? device, MemoryFormat? format, Generator? generator) -> ()",
            "f(Scalar a, Scalar? b, complex c) -> (Tensor, Tensor[], int, str, float, Tensor?)",
            "f(Tensor(a!) self) -> Tensor(a!)",
        ] {
            assert_eq!(check(&schema(text)), Ok(()), "{text}");
        }
        let why = |text| check(&schema(text)).unwrap_err();
        assert_eq!(why("f(Scalar[] s) -> ()"), "argument `s`: no value here is a `Scalar[]`");
        assert_eq!(
            why("f(Dict(str, int) d) -> ()"),
            "argument `d`: PyTorch's C functions pass no `Dict(str, int)`"
        );
        assert_eq!(why("f(Stream s) -> ()"), "argument `s`: PyTorch's C functions pass no `Stream`");
        assert_eq!(why("f(Tensor self) -> Scalar"), "PyTorch's C functions return no `Scalar`");
        assert_eq!(why("f(Tensor self, ...) -> ()"), "PyTorch's C functions pass no `...`");
    }

    #[test]
    fn numbers_are_flattened_and_nothing_else() {
        let scale = schema("scale_.Scalar(Tensor(a!) self, Scalar factor=2, *, int[2] by=1) -> Tensor(a!)");
        assert_eq!(
            flat_schema(&scale).unwrap(),
            "_scale__Scalar_flat(Tensor(a!) self, int factor_kind, int factor_bits, int factor_imaginary, int[] by, \
             int _entry=1) -> Tensor(a!)"
        );
        assert_eq!(flat_schema(&schema("f(Tensor self, float x) -> Tensor")), None);
    }

    #[test]
    fn a_backward_takes_all_that_a_formula_may_name() {
        let text =
            backward_schema(&schema("f(Tensor self, Tensor[] others, *, str how=\"x\") -> (Tensor, Tensor)"));
        assert_eq!(
            text,
            "_f_backward(Tensor self, Tensor[] others, str how, Tensor[] _results, Tensor?[] _grads, bool[] _wanted, \
             int _entry=2) -> Tensor?[]"
        );
        Schema::parse(&text, Mode::Strict).unwrap();
    }

    #[test]
    fn every_kernel_is_registered_or_has_a_reason() {
        use DispatchKey::*;
        let keys = of_keys(vec![
            CPU,
            CUDA,
            Meta,
            Autograd,
            ADInplaceOrView,
            AutocastCPU,
            FuncTorchBatched,
            Conjugate,
        ]);
        assert_eq!(keys.registered, [CPU, CUDA, Meta]);
        assert_eq!(keys.autograd, Some(Autograd));
        assert_eq!(keys.left_out.len(), 3);
        assert!(keys.left_out[0].starts_with("AutocastCPU: ") && keys.left_out[2].starts_with("Conjugate: "));
        let composite = of_keys(vec![CompositeImplicitAutograd]);
        assert_eq!(composite.composite, Some(CompositeImplicitAutograd));
        let both = of_keys(vec![CompositeImplicitAutograd, CPU]);
        assert_eq!((both.composite, both.registered, both.left_out.len()), (None, vec![CPU], 1));
    }

    #[test]
    fn derivatives_that_pytorch_cannot_have_are_named() {
        let why = |text| check_derivative(&schema(text)).unwrap_err();
        assert_eq!(check_derivative(&schema("f(Tensor self, Tensor[] x) -> (Tensor, Tensor)")), Ok(()));
        assert_eq!(check_derivative(&schema("f(Tensor self) -> Tensor[]")), Ok(()));
        assert_eq!(why("f_(Tensor(a!) self) -> Tensor(a!)"), "the operator writes to an argument");
        assert_eq!(why("f(Tensor self) -> (Tensor, int)"), "the operator returns something besides tensors");
        assert!(why("f(Tensor self, *, Tensor other) -> Tensor").ends_with("`other`"));
    }
}
