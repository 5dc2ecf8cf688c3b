//! Schemas of the auxiliary operators of an exported one: with flattened scalars, for its derivative, for its layers.

use std::fmt::Write;

use torch_library::schema::{Argument, OperatorName, Schema};

use crate::plan::{Named, Passing, has_scalars, is_recorded_after, is_tensors, passing};

/// Which of its operators an entry point is called for. Auxiliary operators pass this as their last argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The operator with each scalar flattened to three integers.
    Flat = 1,
    /// The gradients of its arguments.
    Backward = 2,
    /// Which of its results have gradients.
    Differentiable = 3,
    /// A kernel at a key above its backend kernels, such as autocast.
    Layer = 4,
    /// Its batching rule.
    Batched = 5,
    /// The gradients of its arguments, with all tensors passed one by one instead of in lists.
    Gradients = 6,
}

impl Entry {
    /// The entry with this number, if there is one.
    pub(crate) fn of(number: u64) -> Option<Entry> {
        const ALL: [Entry; 6] = [
            Entry::Flat,
            Entry::Backward,
            Entry::Differentiable,
            Entry::Layer,
            Entry::Batched,
            Entry::Gradients,
        ];
        ALL.into_iter().find(|entry| *entry as u64 == number)
    }
}

/// The name of the last argument, which is the [`Entry`].
const ENTRY: &str = "_entry";

/// The name of an auxiliary operator, such as `_scale_Scalar_backward`.
pub(crate) fn name(schema: &Schema, what: &str) -> String {
    let overload = &schema.name.overload;
    let separator = if overload.is_empty() { "" } else { "_" };
    format!("_{}{separator}{overload}_{what}", schema.name.name)
}

/// The schema with each scalar as three integers, if it has any scalars.
pub(crate) fn flat(schema: &Schema) -> Option<String> {
    has_scalars(schema).then(|| {
        serving(schema, "flat", &flat_arguments(schema, true), "", Some(Entry::Flat), &returns(schema))
    })
}

/// The schema of the operator that records a call, which Python implements; all arguments are positional. If the call
/// has been made already, its results follow, and a bit mask of the results that have no gradient.
pub(crate) fn recorded(schema: &Schema) -> String {
    let results = (0..schema.returns.len()).map(|index| format!("Tensor _result{index}, "));
    let rest = match is_recorded_after(schema) {
        true => results.chain(["int _lost".to_owned()]).collect(),
        false => String::new(),
    };
    serving(schema, "recorded", &flat_arguments(schema, true), &rest, None, &returns(schema))
}

/// The schema of the operator that computes gradients: it takes arguments, results, the gradients of the results, and
/// which gradients are needed.
pub(crate) fn backward(schema: &Schema) -> String {
    let rest = "Tensor?[] _results, Tensor?[] _grads, bool[] _wanted";
    serving(schema, "backward", &flat_arguments(schema, false), rest, Some(Entry::Backward), "Tensor?[]")
}

/// The schema of the operator that computes gradients without lists: it takes the arguments and results that formulas
/// name, the gradients of the results, and a bit mask of the tensor arguments whose gradients are needed. It returns an
/// undefined tensor for a gradient that is not needed or that does not exist.
pub(crate) fn gradients(schema: &Schema, named: Named) -> String {
    let results = (0..schema.returns.len()).filter(|index| named.has_result(*index));
    let results = results.map(|index| format!("Tensor _result{index}, "));
    let grads = (0..schema.returns.len()).map(|index| format!("Tensor _grad{index}, "));
    let rest: String = results.chain(grads).chain(["int _wanted".to_owned()]).collect();
    let tensors = schema.arguments.iter().filter(|argument| is_tensors(&argument.ty)).count();
    let returns = format!("({})", vec!["Tensor"; tensors].join(", "));
    let all = schema.arguments.iter().enumerate();
    let passed = all.filter(|(index, argument)| !is_tensors(&argument.ty) || named.has_argument(*index));
    let arguments = flattened(passed.map(|(_, argument)| argument), false);
    serving(schema, "gradients", &arguments, &rest, Some(Entry::Gradients), &returns)
}

/// The schema of the operator that returns which results have gradients.
pub(crate) fn differentiable(schema: &Schema) -> String {
    let rest = "Tensor?[] _results, bool[] _wanted";
    serving(
        schema,
        "differentiable",
        &flat_arguments(schema, false),
        rest,
        Some(Entry::Differentiable),
        "bool[]",
    )
}

/// The schema of the operator that runs a layer's kernel: it takes arguments, the key, and the precision of the
/// autocast region.
pub(crate) fn layer(schema: &Schema) -> String {
    let rest = "str _key, ScalarType? _dtype";
    serving(schema, "layer", &flat_arguments(schema, true), rest, Some(Entry::Layer), &returns(schema))
}

/// The schema of the operator that runs the batching rule: it takes arguments, the batch dimension of each tensor or
/// -1, the batch size, and the randomness mode. It returns the results and their batch dimensions.
pub(crate) fn batched(schema: &Schema) -> String {
    let returns: Vec<String> = schema.returns.iter().map(|ret| ret.ty.to_string()).collect();
    let returns = format!("({}, int[])", returns.join(", "));
    let rest = "int[] _dims, int _size, str _randomness";
    serving(schema, "batched", &flat_arguments(schema, false), rest, Some(Entry::Batched), &returns)
}

fn serving(
    schema: &Schema,
    what: &str,
    arguments: &str,
    rest: &str,
    entry: Option<Entry>,
    returns: &str,
) -> String {
    let entry = entry.map(|entry| format!("int {ENTRY}={}", entry as i64)).unwrap_or_default();
    let all: Vec<&str> = [arguments, rest, &entry].into_iter().filter(|part| !part.is_empty()).collect();
    format!("{}({}) -> {returns}", name(schema, what), all.join(", "))
}

fn flat_arguments(schema: &Schema, with_aliases: bool) -> String {
    flattened(schema.arguments.iter(), with_aliases)
}

fn flattened<'a>(arguments: impl Iterator<Item = &'a Argument>, with_aliases: bool) -> String {
    let mut text = String::new();
    for Argument { name, ty, alias, .. } in arguments {
        let comma = if text.is_empty() { "" } else { ", " };
        if passing(ty) == Ok(Passing::Scalar) {
            _ = write!(text, "{comma}int {name}_kind, int {name}_bits, int {name}_imaginary");
            continue;
        }
        // Printed as a schema, which puts the alias annotation in its place.
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

/// An argument as it is written in a schema.
fn printed(argument: Argument) -> String {
    let name = OperatorName { namespace: None, name: "f".to_owned(), overload: String::new() };
    let one =
        Schema { name, arguments: vec![argument], returns: Vec::new(), is_vararg: false, is_varret: false };
    let text = one.to_string();
    text.strip_prefix("f(").and_then(|text| text.strip_suffix(") -> ()")).unwrap_or(&text).to_owned()
}

fn returns(schema: &Schema) -> String {
    let text = schema.to_string();
    text.rsplit_once(" -> ").map_or_else(String::new, |(_, returns)| returns.to_owned())
}

#[cfg(test)]
mod tests {
    use torch_library::autograd::{Derivative, Formula, Positions};
    use torch_library::schema::Mode;

    use super::*;

    fn schema(text: &str) -> Schema {
        Schema::parse(text, Mode::PyTorch).unwrap()
    }

    #[test]
    fn entries_are_numbered() {
        assert_eq!([0, 1, 6, 7].map(Entry::of), [None, Some(Entry::Flat), Some(Entry::Gradients), None]);
    }

    #[test]
    fn numbers_are_flattened_and_nothing_else() {
        let scale = schema("scale_.Scalar(Tensor(a!) self, Scalar factor=2, *, int[2] by=1) -> Tensor(a!)");
        assert_eq!(
            flat(&scale).unwrap(),
            "_scale__Scalar_flat(Tensor(a!) self, int factor_kind, int factor_bits, int factor_imaginary, int[] by, \
             int _entry=1) -> Tensor(a!)"
        );
        assert_eq!(flat(&schema("f(Tensor self, float x) -> Tensor")), None);
    }

    #[test]
    fn what_serves_takes_all_that_a_kernel_may_name() {
        let f = schema("f(Tensor self, Tensor[] others, *, str how=\"x\") -> (Tensor, Tensor)");
        for (text, rest) in [
            (
                recorded(&f),
                "_f_recorded(Tensor self, Tensor[] others, str how, Tensor _result0, Tensor _result1, int _lost) -> \
                 (Tensor, Tensor)",
            ),
            (
                backward(&f),
                "_f_backward(Tensor self, Tensor[] others, str how, Tensor?[] _results, Tensor?[] _grads, \
                 bool[] _wanted, int _entry=2) -> Tensor?[]",
            ),
            (
                batched(&f),
                "_f_batched(Tensor self, Tensor[] others, str how, int[] _dims, int _size, str _randomness, \
                 int _entry=5) -> (Tensor, Tensor, int[])",
            ),
            (
                layer(&f),
                "_f_layer(Tensor self, Tensor[] others, str how, str _key, ScalarType? _dtype, int _entry=4) -> \
                 (Tensor, Tensor)",
            ),
        ] {
            assert_eq!(text, rest);
            Schema::parse(&text, Mode::Strict).unwrap();
        }
        assert_eq!(
            gradients(&schema("f(Tensor self, Scalar by, Tensor other) -> Tensor"), Named::default()),
            "_f_gradients(Tensor self, int by_kind, int by_bits, int by_imaginary, Tensor other, Tensor _result0, \
             Tensor _grad0, int _wanted, int _entry=6) -> (Tensor, Tensor)"
        );
        const fn of(bits: u64) -> Positions {
            Positions::of_bits(bits)
        }
        const FORMULAS: &[Formula] = &[Formula::new(of(0b1), of(0b100), of(0), of(0b10))];
        let derivative = Derivative::new(of(0), of(0b11), FORMULAS);
        assert_eq!(
            gradients(
                &schema("f(Tensor self, int by, Tensor other) -> (Tensor, Tensor)"),
                Named::by(Some(&derivative))
            ),
            "_f_gradients(int by, Tensor other, Tensor _result1, Tensor _grad0, Tensor _grad1, int _wanted, \
             int _entry=6) -> (Tensor, Tensor)"
        );
        assert!(
            differentiable(&schema("f() -> Tensor"))
                .starts_with("_f_differentiable(Tensor?[] _results, bool[")
        );
    }
}
