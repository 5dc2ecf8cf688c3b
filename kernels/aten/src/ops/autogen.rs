//! Out variants and in-place variants derived from functional operators, where the `#[variants]` of a declaration
//! cannot express their special rules: the functional operator is called, and its result copied.
//!
//! [`Variant::call`] runs at `CompositeExplicitAutograd` for every such operator. It works out once which of the
//! variant's arguments is which argument of the functional operator, its *base*; then it calls the base and copies the
//! results to the tensors that are to be written.
//!
//! PyTorch: `autogen`.

use std::sync::OnceLock;

use smallvec::SmallVec;
use torch_library::prelude::*;
use torch_library::schema::Argument;
use torch_library::{DispatchKeySet, OperatorHandle, Stack, can_cast};

use crate::aten;
use crate::below_autograd::below_autograd;

/// An operator that writes its result, derived from one that returns it.
pub(crate) struct Variant {
    base: fn() -> OperatorHandle,
    rules: &'static [Rule],
    sources: OnceLock<Vec<Source>>,
}

/// What is special about a variant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// If the caller names no dtype, the result has that of `out`, instead of one that follows from the inputs.
    InTypeOfOut,
    /// The first argument is converted to the dtype of `out` before the call, if both are floating-point.
    ComputedAsOut,
    /// `out` must have the dtype of the result. The default for `out` variants.
    Exact,
    /// The dtype of the result must be castable to that of the target. The default for in-place variants.
    Castable,
    /// `out` must be `bool` or `uint8`. For `uint8`, elements count as true if they are not zero in that type.
    Truth,
    /// `out` must not overlap an input in memory.
    Apart,
    /// The target must not overlap an input in memory, except `self`, which it may only be or not meet at all.
    ApartFromOthers,
    /// A target must not share a part of an input's memory: only all of its elements, in the same order. Implied by
    /// [`Castable`](Rule::Castable) for `out` variants, whose results are computed element-wise.
    Whole,
    /// `out` must have no internal overlap even before it is resized; without this rule, only afterwards.
    Disjoint,
    /// `out` may be complex only if `self` is.
    RealOfReal,
    /// `out` keeps its sizes if it has as many elements as the result.
    OfAnySizes,
    /// If `out` is resized, it becomes row-major, whatever the strides of the result.
    RowMajor,
    /// If `out` is resized, it gets the strides of the result, though its dtype must be exact.
    AsResult,
    /// `out` always gets the strides of the result, even if it has its sizes already.
    Relaid,
    /// `out` always gets the strides of the result if the result is a batch of images (4 dimensions).
    RelaidImages,
    /// `out` always gets the strides of the result if the result is a batch of volumes (5 dimensions).
    RelaidVolumes,
    /// `out` gets the strides of the result if it has no elements; if it is resized from other sizes, it becomes
    /// row-major. PyTorch's wrappers of LAPACK do so.
    AsResultIfEmpty,
    /// `out` must be contiguous before it is resized.
    Dense,
    /// If the input is real, `out` must have the dtype of the result, and gets its strides if it is resized.
    AsResultOfReal,
    /// `out` must have the dtype of the result, unless an input has no dimensions.
    CastableNumber,
    /// `out` must have the dtype of the matrix, except for exponents for which PyTorch copies the power to `out`
    /// instead of computing a last product there: 0, 1, and powers of two from 4 on.
    ExactPower,
    /// `out` must be floating-point, and not complex.
    Real,
    /// A real target is returned as it is, whatever its memory.
    KeepsReal,
    /// The base also returns new states of other arguments, after the results for `out`. They are dropped.
    WithoutStates,
}

/// Where an argument of the base comes from.
#[derive(Clone, Copy)]
enum Source {
    /// The variant's own argument, by position.
    Argument(usize),
    /// The variant's own argument, by position; if it is `None`, the dtype of `out`.
    DTypeOr(usize),
    /// The dtype of `out`.
    DType,
    /// The device of `out`.
    Device,
    Nothing,
}

impl Variant {
    pub(crate) const fn of(base: fn() -> OperatorHandle, rules: &'static [Rule]) -> Self {
        Variant { base, rules, sources: OnceLock::new() }
    }

    /// The kernel of the variant.
    ///
    /// # Errors
    /// The errors of the base; a result that cannot be written to its target.
    pub(crate) fn call(
        &self,
        operator: OperatorHandle,
        keys: DispatchKeySet,
        stack: &mut Stack<'_>,
    ) -> Result<()> {
        let (base, schema) = ((self.base)(), operator.schema()?);
        let arguments = operator.arguments(stack)?;
        let outs = schema.arguments.iter().filter(|argument| argument.is_out()).count();
        let is_out = outs > 0;
        let targets = targets(&schema.arguments, arguments, is_out);
        let inputs = &arguments[..arguments.len() - outs];
        if let [target] = targets.as_slice()
            && self.rules.contains(&Rule::KeepsReal)
            && !target.dtype().is_complex()
        {
            stack.drop_last(schema.arguments.len());
            stack.push(target.clone());
            return Ok(());
        }
        if let [target] = targets.as_slice() {
            self.check(target, inputs)?;
        }
        if self.rules.contains(&Rule::Whole) || is_out && self.takes(is_out) == Rule::Castable {
            check_whole(&targets, inputs)?;
        }
        let wide = self.converted(&arguments[0], targets.first())?;
        let sources = match self.sources.get() {
            Some(sources) => sources,
            None => {
                let sources = self.sources(operator, base)?;
                self.sources.get_or_init(|| sources)
            }
        };
        let base_arguments = &base.schema()?.arguments;
        let value = |(at, source): (usize, &Source)| match &wide {
            Some(wide) if at == 0 => Value::TensorRef(wide),
            _ => handed_on(&base_arguments[at], source.value(arguments, targets.first())),
        };
        let mut inner: Stack<'_> = sources.iter().enumerate().map(value).collect();
        if is_out && self.rules.contains(&Rule::InTypeOfOut) {
            check_dtype(sources, arguments, &targets)?;
        }
        base.redispatch_boxed(keys, &mut inner)?;
        let taken = match self.rules.contains(&Rule::WithoutStates) {
            true => outs,
            false => inner.len(),
        };
        let results: SmallVec<[Tensor; 2]> =
            inner.into_iter().take(taken).flat_map(|value| value.tensors().to_vec()).collect();
        ensure!(
            results.len() == targets.len(),
            Argument,
            "{} tensors were passed for {} results",
            targets.len(),
            results.len()
        );
        let takes = if self.must_fit(arguments) { Rule::Exact } else { self.takes(is_out) };
        for (target, result) in targets.iter().zip(&results) {
            let place = Destination { tensor: target.clone(), is_out, takes, rules: self.rules };
            place.copy(result)?;
        }
        stack.drop_last(schema.arguments.len());
        targets.into_iter().take(schema.returns.len()).for_each(|target| stack.push(target));
        Ok(())
    }

    /// The first argument in the dtype of `out`, if [`Rule::ComputedAsOut`] or [`Rule::Truth`] asks for it.
    fn converted(&self, this: &Value<'_>, out: Option<&Tensor>) -> Result<Option<Tensor>> {
        let (Some(this), Some(out)) = (this.as_tensor(), out) else { return Ok(None) };
        let asks = |rule: &Rule| match rule {
            Rule::ComputedAsOut => this.dtype().is_floating_point() && out.dtype().is_floating_point(),
            Rule::Truth => out.dtype() == DType::UInt8,
            _ => false,
        };
        if this.dtype() != out.dtype() && self.rules.iter().any(asks) {
            return aten::to_dtype(this, out.dtype()).map(Some);
        }
        Ok(None)
    }

    /// Checks the rules that concern the target and the inputs.
    fn check(&self, target: &Tensor, inputs: &[Value<'_>]) -> Result<()> {
        for rule in self.rules {
            match rule {
                Rule::Apart => check_apart(target, inputs)?,
                Rule::ApartFromOthers => {
                    check_whole(std::slice::from_ref(target), &inputs[..1])?;
                    check_apart(target, &inputs[1..])?;
                }
                Rule::Disjoint => target.check_no_internal_overlap()?,
                Rule::RealOfReal => {
                    let is_real = inputs[0].as_tensor().is_some_and(|this| !this.dtype().is_complex());
                    ensure!(
                        !is_real || !target.dtype().is_complex(),
                        DType,
                        "a real result cannot be written to a tensor of {}",
                        target.dtype()
                    );
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether, for these arguments, an operator that otherwise casts its result requires a target of exactly its
    /// dtype.
    fn must_fit(&self, arguments: &[Value<'_>]) -> bool {
        self.rules.iter().any(|rule| match (rule, arguments) {
            (Rule::AsResultOfReal, [this, ..]) => {
                this.as_tensor().is_some_and(|this| !this.dtype().is_complex())
            }
            (Rule::ExactPower, [_, Value::Int(n), ..]) => {
                let n = n.unsigned_abs();
                n > 1 && !(n > 2 && n.is_power_of_two()) || matches!(arguments[1], Value::Int(-1))
            }
            (Rule::CastableNumber, inputs) => {
                inputs.iter().flat_map(Value::tensors).all(|input| input.dim() > 0)
            }
            _ => false,
        })
    }

    /// The rule for the dtype of the target.
    fn takes(&self, is_out: bool) -> Rule {
        let types = [Rule::Exact, Rule::Castable, Rule::Truth];
        let own = types.into_iter().find(|rule| self.rules.contains(rule));
        let own = own.or(self.rules.contains(&Rule::CastableNumber).then_some(Rule::Castable));
        own.unwrap_or(if is_out { Rule::Exact } else { Rule::Castable })
    }

    /// Where each argument of the base comes from.
    fn sources(&self, operator: OperatorHandle, base: OperatorHandle) -> Result<Vec<Source>> {
        let own = &operator.schema()?.arguments;
        let source = |name: &str| {
            let position = own.iter().position(|argument| argument.name == name && !argument.is_out());
            match (position, name) {
                (Some(at), "dtype") if self.rules.contains(&Rule::InTypeOfOut) => Source::DTypeOr(at),
                (Some(at), _) => Source::Argument(at),
                (None, "dtype") => Source::DType,
                (None, "device") => Source::Device,
                (None, _) => Source::Nothing,
            }
        };
        Ok(base.schema()?.arguments.iter().map(|argument| source(&argument.name)).collect())
    }
}

/// The tensors that take the results: the `out` arguments, or else the mutable ones. In an `out` variant, other mutable
/// arguments are written by the base itself.
fn targets(own: &[Argument], arguments: &[Value<'_>], is_out: bool) -> SmallVec<[Tensor; 2]> {
    let is_target = |argument: &Argument| if is_out { argument.is_out() } else { argument.is_mutable() };
    let written = own.iter().zip(arguments).filter(|(argument, _)| is_target(argument));
    written.flat_map(|(_, value)| value.tensors()).cloned().collect()
}

/// The value to pass to the base: an owned handle if the base writes to it.
fn handed_on<'v>(argument: &Argument, value: Value<'v>) -> Value<'v> {
    match value {
        Value::TensorRef(tensor) if argument.is_mutable() => Value::Tensor(tensor.clone()),
        value => value,
    }
}

/// # Errors
/// The caller names a dtype that is not that of the target.
fn check_dtype(sources: &[Source], arguments: &[Value<'_>], targets: &[Tensor]) -> Result<()> {
    let named = sources.iter().find_map(|source| match source {
        Source::DTypeOr(at) => match arguments[*at] {
            Value::DType(dtype) => Some(dtype),
            _ => None,
        },
        _ => None,
    });
    let (Some(dtype), [out]) = (named, targets) else { return Ok(()) };
    ensure!(
        dtype == out.dtype(),
        DType,
        "dtype is {dtype}, and `out` is of {}, expected one type",
        out.dtype()
    );
    Ok(())
}

/// # Errors
/// The target overlaps an input in memory.
fn check_apart(target: &Tensor, inputs: &[Value<'_>]) -> Result<()> {
    inputs.iter().flat_map(Value::tensors).try_for_each(|input| target.check_no_overlap(input))
}

/// # Errors
/// A target shares a part of an input's memory.
fn check_whole(targets: &[Tensor], inputs: &[Value<'_>]) -> Result<()> {
    let mut pairs = targets
        .iter()
        .flat_map(|target| inputs.iter().flat_map(Value::tensors).map(move |input| (target, input)));
    pairs.try_for_each(|(target, input)| target.check_no_partial_overlap(input))
}

impl Source {
    fn value<'v>(self, arguments: &'v [Value<'_>], out: Option<&Tensor>) -> Value<'v> {
        let dtype = || out.map_or(Value::None, |out| Value::DType(out.dtype()));
        match self {
            Source::Argument(at) => arguments[at].borrowed(),
            Source::DTypeOr(at) if !arguments[at].is_none() => arguments[at].borrowed(),
            Source::DTypeOr(_) | Source::DType => dtype(),
            Source::Device => out.map_or(Value::None, |out| Value::Device(out.device())),
            Source::Nothing => Value::None,
        }
    }
}

/// A tensor to write a result to.
struct Destination {
    tensor: Tensor,
    /// Whether it is an `out` argument, which is resized to the result; otherwise the sizes must match.
    is_out: bool,
    takes: Rule,
    rules: &'static [Rule],
}

impl Destination {
    /// Prepares the tensor for a result of these sizes. `strides` apply only where the tensor is resized.
    ///
    /// # Errors
    /// A dtype that the result cannot be written to, another device, other sizes in a tensor that must not be resized,
    /// internal overlap.
    fn prepare(&self, sizes: &[i64], strides: Option<&[i64]>, dtype: DType, device: Device) -> Result<()> {
        let tensor = &self.tensor;
        let fits = match self.takes {
            Rule::Exact => tensor.dtype() == dtype,
            Rule::Truth => matches!(tensor.dtype(), DType::Bool | DType::UInt8),
            _ if self.rules.contains(&Rule::Real) => tensor.dtype().is_floating_point(),
            _ => can_cast(dtype, tensor.dtype()),
        };
        ensure!(fits, DType, "a result of {dtype} cannot be written to a tensor of {}", tensor.dtype());
        ensure!(
            tensor.device() == device,
            Device,
            "a result on {device} cannot be written to a tensor on {}",
            tensor.device()
        );
        let may_relay =
            self.is_relaid(sizes.len()) || self.rules.contains(&Rule::AsResultIfEmpty) && tensor.numel() == 0;
        let is_relaid = may_relay && strides.is_some_and(|strides| tensor.strides() != strides);
        ensure!(
            !self.rules.contains(&Rule::Dense) || tensor.is_contiguous(MemoryFormat::Contiguous),
            Argument,
            "`out` of strides {:?} is not contiguous",
            tensor.strides()
        );
        if tensor.sizes() != sizes || is_relaid {
            ensure!(
                self.is_out,
                Shape,
                "a result of sizes {sizes:?} cannot be written to a tensor of sizes {:?}",
                tensor.sizes()
            );
            if is_relaid && tensor.sizes() == sizes {
                tensor.clone().resize(&[0], None)?; // otherwise it would keep its strides
            }
            tensor.clone().resize_output(sizes, strides)?;
        }
        tensor.check_no_internal_overlap()
    }

    /// Whether the target always gets the strides of a result with `ndim` dimensions, whatever sizes it had.
    fn is_relaid(&self, ndim: usize) -> bool {
        let has = |rule| self.rules.contains(&rule);
        has(Rule::Relaid) || has(Rule::RelaidImages) && ndim == 4 || has(Rule::RelaidVolumes) && ndim == 5
    }

    /// Writes a result to the tensor.
    fn copy(mut self, result: &Tensor) -> Result<()> {
        let keeps_sizes = self.rules.contains(&Rule::OfAnySizes) && self.tensor.numel() == result.numel();
        let result = if keeps_sizes { aten::reshape(result, self.tensor.sizes())? } else { result.clone() };
        // A result that is copied in the end is row-major in PyTorch; one that is computed element-wise has the inputs'
        // strides.
        let has = |rule| self.rules.contains(&rule);
        let is_filled = self.tensor.numel() == 0 && self.tensor.dtype() == result.dtype();
        let strides = Some(result.strides()).filter(|_| {
            let otherwise = if has(Rule::AsResultIfEmpty) {
                is_filled
            } else {
                self.takes == Rule::Castable && !has(Rule::RowMajor)
            };
            let is_real = has(Rule::AsResultOfReal) && self.takes == Rule::Exact;
            has(Rule::AsResult) || is_real || self.is_relaid(result.dim()) || otherwise
        });
        self.prepare(result.sizes(), strides, result.dtype(), result.device())?;
        below_autograd(|| aten::copy_(&mut self.tensor, &result).map(drop))
    }
}

/// Declares variants of other operators, and registers their kernels. Each row gives the name in Rust, the base, its
/// rules, and the schema. `[methods = NAME]` comes first where they are also methods.
macro_rules! variants {
    ($([methods = $methods:ident])?
        $($(#[$attribute:meta])* $name:ident: $base:ident $($rule:ident)* => $schema:tt;)*) => {
        torch_library::torch_library! {
            /// Out and in-place variants.
            $(#[methods($methods)])?
            pub mod aten extends "aten" {
                $(
                    #[doc = concat!("[`", stringify!($base), "`](fn@crate::aten::", stringify!($base), "), written to ",
                        "`out` or in place.")]
                    $(#[$attribute])*
                    $schema;
                )*
            }
        }

        #[torch_library::torch_impl(aten, CompositeExplicitAutograd, boxed)]
        mod kernels {
            use super::*;

            $(
                fn $name(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
                    static VARIANT: Variant = Variant::of(crate::aten::$base::handle, &[$(Rule::$rule),*]);
                    VARIANT.call(operator, keys, stack)
                }
            )*
        }
    };
}
pub(crate) use variants;
