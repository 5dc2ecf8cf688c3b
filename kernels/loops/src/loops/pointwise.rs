//! Everything that an element-wise operator decides before any element is computed: shape, type, device and strides.
//!
//! PyTorch: the parts of `TensorIterator` that are not a loop.
#![expect(unsafe_code, reason = "takes memory that it fills at once")]

use std::borrow::Cow;

use smallvec::SmallVec;
use torch_library::geometry::{
    Dims, contiguous_strides, infer_size, is_non_overlapping_and_dense, preserved_strides, strides_for,
};
use torch_library::prelude::*;
use torch_library::{Element, promote_types, result_type};

use crate::inlined::from_fn;
use crate::loops::inner::Inner;
use crate::loops::run::{run, run_new};
use crate::loops::{Elements, copy};

/// The inputs of an element-wise operator, checked to fit together: they broadcast, have an opmath type, and are on
/// one device.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_loops::{Pointwise, match_opmath};
///
/// let (a, b) = (Tensor::from([[1], [2]]), Tensor::from([0.5, 2.0]));
/// let call = Pointwise::promoting("mine::product", [&a, &b])?;
/// assert_eq!((call.sizes(), call.dtype), (&[2, 2][..], DType::Float64));
/// let product = match_opmath!(call.dtype, T: Float => {
///     call.compute(None, call.dtype, |[a, b]: [T; 2]| a * b)
/// }, else => Err(call.unsupported()))?;
/// assert_eq!(product.to_vec::<f64>()?, [0.5, 2.0, 1.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Pointwise<'a, const N: usize> {
    output: Output<'a>,
    /// The tensors, as they were given.
    pub inputs: [&'a Tensor; N],
    sizes: Sizes<'a>,
    /// The type that the operator computes in, which is also the type of its result unless the operator says otherwise.
    pub dtype: DType,
    /// The input that is a condition, as in `where`: it is not converted to `dtype`.
    condition: Option<usize>,
    strides: Strides,
    device: Device,
    /// Whether an `out` must have exactly the type of the result.
    is_exact: bool,
    /// Whether inputs of other types are converted to `dtype` before they are computed with, and not just to its opmath
    /// type.
    is_rounding: bool,
    /// Whether a second input of one element is exempt from that.
    keeps_single: bool,
}

/// Which inputs decide the strides of a new result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strides {
    /// All inputs together, as in `TensorIterator`.
    OfAll,
    /// The first input alone, since the others are numbers.
    OfFirst,
    /// The first input, as `empty_like` does, which preserves its strides even in dimensions of size 1 or without
    /// elements; a result of other sizes is row-major.
    LikeFirst,
}

/// The sizes of a result: those that all inputs have, or others that the inputs broadcast to.
#[derive(Debug)]
enum Sizes<'a> {
    OfAll(&'a [i64]),
    Broadcast(Dims),
}

impl std::ops::Deref for Sizes<'_> {
    type Target = [i64];

    #[inline]
    fn deref(&self) -> &[i64] {
        match self {
            Sizes::OfAll(sizes) => sizes,
            Sizes::Broadcast(sizes) => sizes,
        }
    }
}

impl<'a, const N: usize> Pointwise<'a, N> {
    /// Inputs that broadcast and are computed in their common type, by PyTorch's type promotion. Where this is a 16-bit
    /// type, inputs of other types are rounded to it first.
    ///
    /// # Errors
    /// Shapes that do not broadcast, types without a common one, tensors of several devices.
    #[inline]
    pub fn promoting(output: impl Into<Output<'a>>, inputs: [&'a Tensor; N]) -> Result<Self> {
        let output = output.into();
        let dtype = common_type(&inputs).map_err(|error| error.context(output.operator()))?;
        let call = Self::with_dtype(output, inputs, dtype)?;
        Ok(Pointwise { is_rounding: true, ..call })
    }

    /// Like [`promoting`](Self::promoting); an `out` must have exactly the type of the result.
    ///
    /// # Errors
    /// The errors of [`promoting`](Self::promoting).
    pub fn promoting_exactly(output: impl Into<Output<'a>>, inputs: [&'a Tensor; N]) -> Result<Self> {
        Self::promoting(output, inputs).map(Self::exactly)
    }

    /// Says that an `out` must have exactly the type of the result: this operator casts nothing.
    #[must_use]
    pub fn exactly(mut self) -> Self {
        self.is_exact = true;
        self
    }

    /// Like [`promoting`](Self::promoting), except that integers and booleans become the default floating-point type.
    ///
    /// # Errors
    /// The errors of [`promoting`](Self::promoting).
    pub fn promoting_to_float(output: impl Into<Output<'a>>, inputs: [&'a Tensor; N]) -> Result<Self> {
        let mut call = Self::promoting(output, inputs)?;
        if !call.dtype.is_differentiable() {
            call.dtype = DType::DEFAULT;
        }
        Ok(call)
    }

    /// Like [`promoting_to_float`](Self::promoting_to_float); a new result has the strides that a copy of the first
    /// input would have.
    ///
    /// # Errors
    /// The errors of [`promoting`](Self::promoting).
    pub fn promoting_to_float_like_first(
        output: impl Into<Output<'a>>,
        inputs: [&'a Tensor; N],
    ) -> Result<Self> {
        Self::promoting_to_float(output, inputs).map(Self::strided_like_first)
    }

    /// Inputs that broadcast and are computed in a given type.
    ///
    /// # Errors
    /// Shapes that do not broadcast, tensors of several devices.
    #[inline]
    pub fn with_dtype(output: impl Into<Output<'a>>, inputs: [&'a Tensor; N], dtype: DType) -> Result<Self> {
        let output = output.into();
        let sizes = broadcast_sizes(&inputs).map_err(|error| error.context(output.operator()))?;
        let device = common_device(output.operator(), &inputs)?;
        Ok(Pointwise {
            output,
            inputs,
            sizes,
            dtype,
            condition: None,
            strides: Strides::OfAll,
            device,
            is_exact: false,
            is_rounding: false,
            keeps_single: false,
        })
    }

    /// Says that a second input of one element is not rounded to a 16-bit type.
    ///
    /// PyTorch: `TensorIterator::original_scalar_value`.
    #[must_use]
    pub fn keeping_single(mut self) -> Self {
        self.keeps_single = true;
        self
    }

    /// Says that the first input is a condition, and keeps its type.
    #[must_use]
    pub fn with_condition(mut self) -> Self {
        self.condition = Some(0);
        self
    }

    /// Says that the first input alone decides the strides of a new result.
    ///
    /// PyTorch: structured kernels of one tensor and a number.
    #[must_use]
    pub fn strided_by_first(mut self) -> Self {
        self.strides = Strides::OfFirst;
        self
    }

    /// Says that a new result has the strides that a copy of the first input would have.
    ///
    /// PyTorch: kernels that write to an `empty_like`.
    #[must_use]
    pub fn strided_like_first(mut self) -> Self {
        self.strides = Strides::LikeFirst;
        self
    }

    /// The sizes of the result.
    #[inline]
    pub fn sizes(&self) -> &[i64] {
        &self.sizes
    }

    /// The tensor to write to: `out`, or else the one in the [`Output`], after a check that it can take the result; or
    /// else a new one.
    ///
    /// # Errors
    /// A tensor of another shape, of a type of a lower category (integers for a floating-point result), with elements
    /// that share memory, or that partially overlaps an input.
    pub fn output(&self, out: Option<&Tensor>, dtype: DType) -> Result<Tensor> {
        match self.destination(out, dtype)? {
            Some(out) => Ok(out),
            None => Tensor::empty_strided(&self.sizes, &self.output_strides(), dtype, self.device),
        }
    }

    /// Computes the result, of type `dtype`, from the inputs, and writes it to the tensor that [`output`](Self::output)
    /// describes; a new one is not cleared first.
    ///
    /// # Errors
    /// The errors of `output` and [`map`](crate::loops::map).
    pub fn compute<M: Element, R: Element>(
        &self,
        out: Option<&Tensor>,
        dtype: DType,
        f: impl Fn([M; N]) -> R + Sync,
    ) -> Result<Tensor> {
        self.compute_elements(out, dtype, f)
    }

    /// Like [`compute`](Self::compute), with an [`Elements`] that is not a closure.
    #[doc(hidden)]
    pub fn compute_elements<M: Element, R: Element>(
        &self,
        out: Option<&Tensor>,
        dtype: DType,
        elements: impl Elements<M, R, N>,
    ) -> Result<Tensor> {
        self.compute_by(out, dtype, &Inner::of::<M, R, _>(&elements))
    }

    /// The part of [`compute`](Self::compute) that does not depend on the function, and is compiled once.
    fn compute_by(&self, out: Option<&Tensor>, dtype: DType, inner: &Inner<'_, N>) -> Result<Tensor> {
        let rounded = self.rounded()?;
        let inputs = rounded.as_ref().map_or(self.inputs, |inputs| inputs.each_ref());
        if let Some(out) = self.destination(out, dtype)? {
            run(&out, inputs, inner)?;
            return Ok(out);
        }
        // SAFETY: `run_new` writes every element before any is read; if it fails, the tensor is dropped here.
        let out = unsafe { self.uninit(dtype)? };
        // SAFETY: the tensor was just made, so the function that `inner` runs, which is older, cannot have it.
        unsafe { run_new(&out, inputs, inner)? };
        Ok(out)
    }

    /// The inputs after those that need it were rounded to a 16-bit type; none if all can be read as they are.
    fn rounded(&self) -> Result<Option<[Tensor; N]>> {
        let is_half = matches!(self.dtype, DType::Float16 | DType::BFloat16);
        if !(is_half && self.is_rounding && (0..N).any(|k| self.is_rounded(k))) {
            return Ok(None);
        }
        let mut inputs = self.inputs.map(Tensor::clone);
        for (k, input) in inputs.iter_mut().enumerate() {
            if self.is_rounded(k) {
                *input = rounded(input, self.dtype)?;
            }
        }
        Ok(Some(inputs))
    }

    /// Whether an input may have numbers that are not numbers of the 16-bit type.
    fn is_rounded(&self, k: usize) -> bool {
        let input = self.inputs[k];
        let is_kept = self.keeps_single && k == 1 && input.numel() == 1;
        let has_few_digits = matches!(input.dtype(), DType::Bool | DType::UInt8 | DType::Int8);
        let is_other = input.dtype() != self.dtype && !input.dtype().is_float8();
        is_other && !has_few_digits && !is_kept && self.condition != Some(k)
    }

    /// A new tensor to write to, as [`output`](Self::output) describes it, with uninitialised memory.
    ///
    /// # Safety
    /// - Every element is written before any is read.
    /// - Every element is written before safe code gets the tensor, or it never does.
    ///
    /// # Errors
    /// The errors of `output`.
    unsafe fn uninit(&self, dtype: DType) -> Result<Tensor> {
        match self.is_row_major() {
            // SAFETY: the caller writes every element before any is read, and before safe code gets the tensor.
            true => unsafe { Tensor::uninit(&self.sizes, dtype, self.device) },
            // SAFETY: the caller writes every element before any is read, and before safe code gets the tensor.
            false => unsafe {
                Tensor::uninit_strided(&self.sizes, &self.output_strides(), dtype, self.device)
            },
        }
    }

    /// The caller's tensor to write to, if there is one, checked and resized for the result; none if the result has to
    /// be copied to it.
    fn destination(&self, out: Option<&Tensor>, dtype: DType) -> Result<Option<Tensor>> {
        let output = match out {
            Some(out) => Output::in_place(self.output.operator(), out),
            None => self.output,
        };
        let Some(target) = output.tensor() else { return Ok(None) };
        if self.is_exact {
            output.exactly(dtype)?;
        }
        let is_new = target.sizes() != &*self.sizes;
        let strides = is_new.then(|| self.output_strides());
        output.prepare(&self.sizes, strides.as_deref(), dtype, self.device)?;
        let overlap = self.inputs.iter().try_for_each(|input| target.check_no_partial_overlap(input));
        overlap.map_err(|error| error.context(output.operator()))?;
        // An `out` of another type gets a copy of the result, so that 16-bit results are first rounded to their own
        // type.
        let is_direct = target.dtype() == dtype || output.is_in_place();
        Ok(is_direct.then(|| target.clone()))
    }

    /// The error for a type that the operator does not compute in.
    #[cold]
    pub fn unsupported(&self) -> Error {
        unsupported(self.output.operator(), self.dtype)
    }

    /// Whether a new result is contiguous, as far as can be determined quickly: all inputs are contiguous, or the first
    /// input is and decides alone. (Strides without elements mean nothing.)
    ///
    /// Where inputs broadcast, the stride of a dimension of size 1 may change the order of dimensions.
    #[inline]
    fn is_row_major(&self) -> bool {
        let is_contiguous = |input: &Tensor| input.is_contiguous(MemoryFormat::Contiguous);
        let has_ones = |input: &Tensor| input.sizes().contains(&1);
        match self.strides {
            Strides::OfAll => {}
            Strides::OfFirst => return is_contiguous(self.inputs[0]),
            Strides::LikeFirst => {
                let first = self.inputs[0];
                return is_contiguous(first) && first.numel() > 0 && !has_ones(first);
            }
        }
        let (first, are_alike) = (self.inputs[0], matches!(self.sizes, Sizes::OfAll(_)));
        if !is_contiguous(first) || !are_alike && self.sizes.contains(&0) {
            return false;
        }
        let is_whole = || are_alike || first.sizes() == &*self.sizes;
        let decides = || first.numel() > 0 && !has_ones(first) && is_whole();
        let are_contiguous = self.inputs.iter().all(|input| is_contiguous(input));
        are_contiguous && (are_alike || !self.inputs.iter().any(|input| has_ones(input))) || decides()
    }

    /// The strides of a new result: those of the inputs where they agree, else dense strides in the inputs' order of
    /// dimensions.
    fn output_strides(&self) -> Dims {
        let sizes = &*self.sizes;
        if self.is_row_major() {
            return contiguous_strides(sizes);
        }
        let deciding = match self.strides {
            Strides::OfAll => N,
            Strides::OfFirst => 1,
            Strides::LikeFirst if self.inputs[0].sizes() != sizes => return contiguous_strides(sizes),
            Strides::LikeFirst => return preserved_strides(sizes, self.inputs[0].strides()),
        };
        if self.inputs[..deciding].iter().all(|input| input.sizes() == sizes)
            && let Some(strides) = self.common_strides(deciding)
        {
            return strides;
        }
        let inputs: [Dims; N] =
            from_fn(|k| broadcast_strides(self.inputs[k].sizes(), &self.input_strides(k), sizes));
        strides_in_order(sizes, &inputs[..deciding])
    }

    /// The strides of the first `deciding` inputs, of one shape, if all are contiguous, all channels-last, or all dense
    /// with the same strides.
    fn common_strides(&self, deciding: usize) -> Option<Dims> {
        let sizes = self.inputs[0].sizes();
        let strides: [Cow<'_, [i64]>; N] = from_fn(|k| self.input_strides(k));
        let strides = &strides[..deciding];
        let lie_as = |wanted: &[i64]| strides.iter().all(|strides| lie_alike(sizes, strides, wanted));
        let formats = [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast];
        for format in formats.into_iter().take(if sizes.len() == 4 { 2 } else { 1 }) {
            let Ok(wanted) = strides_for(sizes, format) else { continue };
            if lie_as(&wanted) {
                return Some(wanted);
            }
        }
        let first = &strides[0];
        let are_one = strides.iter().all(|strides| strides == first);
        (are_one && is_non_overlapping_and_dense(sizes, first)).then(|| Dims::from_slice(first))
    }

    /// The strides of an input after its conversion to the opmath type, if it needs one.
    ///
    /// A converted copy has no gaps and no elements that share memory, which may change the order of its dimensions.
    fn input_strides(&self, k: usize) -> Cow<'a, [i64]> {
        let (input, is_condition) = (self.inputs[k], self.condition == Some(k));
        let geometry = input.geometry();
        if input.dtype() == self.dtype || is_condition || input.is_non_overlapping_and_dense() {
            return Cow::Borrowed(geometry.strides());
        }
        Cow::Owned(preserved_strides(geometry.sizes(), geometry.strides()).to_vec())
    }
}

/// The sizes that inputs broadcast to.
#[inline]
fn broadcast_sizes<'a>(inputs: &[&'a Tensor]) -> Result<Sizes<'a>> {
    let first = inputs[0].geometry();
    let mut sizes = Sizes::OfAll(first.sizes());
    for input in &inputs[1..] {
        let is_alike = match &sizes {
            Sizes::OfAll(_) => input.geometry().has_sizes_of(first),
            Sizes::Broadcast(sizes) => input.sizes() == &**sizes,
        };
        if !is_alike {
            sizes = Sizes::Broadcast(infer_size(&sizes, input.sizes())?);
        }
    }
    Ok(sizes)
}

/// Whether two lists of strides put every element at the same place; strides of dimensions of size 1 do not count.
fn lie_alike(sizes: &[i64], strides: &[i64], others: &[i64]) -> bool {
    sizes.contains(&0) || (0..sizes.len()).all(|dim| sizes[dim] == 1 || strides[dim] == others[dim])
}

/// The common type of tensors, by PyTorch's type promotion.
fn common_type(inputs: &[&Tensor]) -> Result<DType> {
    let first = inputs[0];
    if inputs.iter().all(|input| input.dtype() == first.dtype() && !input.is_wrapped_number()) {
        return Ok(first.dtype());
    }
    if let [a, b] = inputs
        && a.dim() > 0
        && b.dim() > 0
    {
        return promote_types(a.dtype(), b.dtype());
    }
    result_type(inputs.iter().map(|input| input.promotion_operand()))
}

/// A tensor as PyTorch compares and combines it with others that it has a common type with: rounded to this type, if it
/// is one of 16 bits.
///
/// # Errors
/// Memory that the host cannot access.
pub fn rounded(tensor: &Tensor, common: DType) -> Result<Tensor> {
    let is_half = matches!(common, DType::Float16 | DType::BFloat16);
    if is_half && tensor.dtype() != common { copy(tensor, common) } else { Ok(tensor.clone()) }
}

/// The common device of tensors; tensors without dimensions on the CPU go with any device.
///
/// # Errors
/// No tensors, an undefined one, several devices.
pub fn common_device(operator: &'static str, inputs: &[&Tensor]) -> Result<Device> {
    let Some(first) = inputs.first().map(|input| input.device()) else {
        bail!(Argument, "{operator}: no tensors, expected one at least")
    };
    ensure!(inputs.iter().all(|input| input.is_defined()), Argument, "{operator}: a tensor is undefined");
    if inputs.iter().all(|input| input.device() == first) {
        return Ok(first);
    }
    let is_guest = |input: &Tensor| input.dim() == 0 && input.device() == Device::CPU;
    let device = inputs.iter().find(|input| !is_guest(input)).unwrap_or(&inputs[0]).device();
    match inputs.iter().find(|input| input.device() != device && !is_guest(input)) {
        None => Ok(device),
        Some(other) => bail!(
            Device,
            "{operator}: tensors on {device} and {}, expected one device: move one of them",
            other.device()
        ),
    }
}

/// The error for a type that an operator does not compute in.
#[cold]
pub fn unsupported(operator: &str, dtype: DType) -> Error {
    Error::new(ErrorKind::DType, format!("{operator} is not implemented for {dtype}"))
}

/// The strides of an input that is expanded to `sizes`: 0 in the dimensions in which it repeats.
pub fn broadcast_strides(own_sizes: &[i64], strides: &[i64], sizes: &[i64]) -> Dims {
    // If another thread resizes the tensor, these sizes and strides may not be those that were broadcast; the code that
    // computes under a lease finds that.
    let missing = sizes.len().saturating_sub(own_sizes.len());
    let stride = |dim: usize| {
        let own = dim.checked_sub(missing).and_then(|own| own_sizes.get(own).zip(strides.get(own)));
        own.filter(|(size, _)| **size != 1 || sizes[dim] == 1).map_or(0, |(_, stride)| *stride)
    };
    let mut strides = Dims::new();
    for dim in 0..sizes.len() {
        strides.push(stride(dim));
    }
    strides
}

/// The strides of a dense result, with its dimensions in the order of those of the inputs, each of which is expanded to
/// `sizes`.
pub fn strides_in_order(sizes: &[i64], inputs: &[Dims]) -> Dims {
    let order = order_of_dimensions(sizes, inputs);
    if order.iter().rev().copied().eq(0..sizes.len()) {
        return contiguous_strides(sizes);
    }
    let (mut strides, mut step) = (Dims::from_elem(0, sizes.len()), 1);
    for dim in &*order {
        strides[*dim] = step;
        step = i64::saturating_mul(step, sizes[*dim]); // saturates only for sizes that no memory holds
    }
    strides
}

/// The dimensions from the smallest stride to the largest; two dimensions are compared by the first input with
/// different strides for them.
///
/// PyTorch: `TensorIterator::reorder_dimensions`.
pub fn order_of_dimensions(sizes: &[i64], inputs: &[Dims]) -> SmallVec<[usize; 6]> {
    let mut order: SmallVec<[usize; 6]> = SmallVec::new();
    for dim in (0..sizes.len()).rev() {
        order.push(dim);
    }
    // Insertion sort, since the order is not transitive: a stride of 0 says nothing about its neighbours.
    for sorted in 1..order.len() {
        let mut moving = sorted;
        for place in (0..sorted).rev() {
            match is_wider(order[place], order[moving], sizes, inputs) {
                Some(true) => {
                    order.swap(place, moving);
                    moving = place;
                }
                Some(false) => break,
                None => {}
            }
        }
    }
    order
}

/// Whether `dim` is to be outside of `other` (true), inside of it (false), or undecided.
fn is_wider(dim: usize, other: usize, sizes: &[i64], inputs: &[Dims]) -> Option<bool> {
    for strides in inputs {
        let (stride, other_stride) = (strides[dim], strides[other]);
        if stride == 0 || other_stride == 0 {
            continue;
        }
        if stride != other_stride {
            return Some(stride > other_stride);
        }
        if sizes[dim] > sizes[other] {
            return Some(true);
        }
    }
    None
}
