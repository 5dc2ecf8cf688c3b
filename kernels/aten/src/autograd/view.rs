//! Derivatives of views: gradients are written back to the elements that a view shows.

use torch_library::derivatives;
use torch_library::geometry::wrap_dim;
use torch_library::guard::{AutoDispatchBelowADInplaceOrView, AutoDispatchBelowAutograd};
use torch_library::prelude::*;

use crate::arguments::inverse;
use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    alias(Tensor(a) self) -> Tensor(a) as AliasBackward0 {
        self => grad.clone(),
    }
    as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride,
        SymInt? storage_offset=None) -> Tensor(a) as AsStridedBackward0 {
        self => strided::backward(grad, metadata(self), size, stride, storage_offset),
    }
    #[inplace_view]
    as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride,
        SymInt? storage_offset=None) -> Tensor(a!) as AsStridedBackward1 {
        self => strided::backward(grad, metadata(self), size, stride, storage_offset),
    }
    unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a) as UnfoldBackward0 {
        self => aten::unfold_backward(grad, self.sizes(), dimension, size, step),
    }
    view(Tensor(a) self, SymInt[] size) -> Tensor(a) as ViewBackward0 {
        self => grad.reshape(self.sizes()),
    }
    _reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a) as ReshapeAliasBackward0 {
        self => grad.reshape(self.sizes()),
    }
    _unsafe_view(Tensor self, SymInt[] size) -> Tensor as UnsafeViewBackward0 {
        self => grad.reshape(self.sizes()),
    }
    _conj(Tensor(a) self) -> Tensor(a) as ConjBackward0 {
        self => aten::conj(grad),
    }
    _neg_view(Tensor(a) self) -> Tensor(a) as NegBackward0 {
        self => aten::neg(grad),
    }
    view_as_real(Tensor(a) self) -> Tensor(a) as ViewAsRealBackward0 {
        self => aten::view_as_complex(&of_pairs(grad)?),
    }
    view_as_complex(Tensor(a) self) -> Tensor(a) as ViewAsComplexBackward0 {
        self => aten::view_as_real(&aten::resolve_conj(&aten::contiguous(grad)?)?),
    }
    permute(Tensor(a) self, int[] dims) -> Tensor(a) as PermuteBackward0 {
        self => grad.permute(&inverse(dims)?),
    }
    transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a) as TransposeBackward0 {
        self => grad.transpose(dim0, dim1),
    }
    #[inplace_view]
    transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!) as TransposeBackward1 {
        self => grad.transpose(dim0, dim1),
    }
    t(Tensor(a) self) -> Tensor(a) as TBackward0 {
        self => grad.t(),
    }
    unsqueeze(Tensor(a) self, int dim) -> Tensor(a) as UnsqueezeBackward0 {
        self => aten::squeeze_dim(grad, dim),
    }
    #[inplace_view]
    unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!) as UnsqueezeBackward1 {
        self => aten::squeeze_dim(grad, dim),
    }
    squeeze(Tensor(a) self) -> Tensor(a) as SqueezeBackward0 {
        self => grad.reshape(self.sizes()),
    }
    squeeze.dim(Tensor(a) self, int dim) -> Tensor(a) as SqueezeBackward1 {
        self => grad.reshape(self.sizes()),
    }
    squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a) as SqueezeBackward2 {
        self => grad.reshape(self.sizes()),
    }
    #[inplace_view]
    squeeze_(Tensor(a!) self) -> Tensor(a!) as SqueezeBackward3 {
        self => grad.reshape(self.sizes()),
    }
    #[inplace_view]
    squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!) as SqueezeBackward4 {
        self => grad.reshape(self.sizes()),
    }
    #[inplace_view]
    squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!) as SqueezeBackward5 {
        self => grad.reshape(self.sizes()),
    }
    #[inplace_view]
    t_(Tensor(a!) self) -> Tensor(a!) as TBackward1 {
        self => grad.t(),
    }
    expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a) as ExpandBackward0 {
        self => aten::sum_to_size(grad, self.sizes()),
    }
    slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None,
        SymInt step=1) -> Tensor(a) as SliceBackward0 {
        self => aten::slice_backward(grad, self.sizes(), dim, start.unwrap_or(0), end.unwrap_or(i64::MAX), step),
    }
    slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end,
        SymInt step) -> Tensor as SliceBackwardBackward0 {
        grad_output => grad.slice(dim, start, end, step),
    }
    select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a) as SelectBackward0 {
        self => aten::select_backward(grad, self.sizes(), dim, index),
    }
    select_backward(Tensor grad_output, SymInt[] input_sizes, int dim,
        SymInt index) -> Tensor as SelectBackwardBackward0 {
        grad_output => grad.select(dim, index),
    }
    diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a) as DiagonalBackward0 {
        self => aten::diagonal_backward(grad, self.sizes(), offset, dim1, dim2),
    }
    diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1,
        int dim2) -> Tensor as DiagonalBackwardBackward0 {
        grad_output => aten::diagonal::call(grad, offset, dim1, dim2),
    }
    unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size,
        int step) -> Tensor as UnfoldBackwardBackward0 {
        grad_in => grad.unfold(dim, size, step),
    }
    select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor as SelectScatterBackward0 {
        self => aten::select_scatter(grad, &aten::new_zeros(grad, metadata(src).sizes())?, dim, index),
        src => grad.select(dim, index),
    }
    slice_scatter(
        Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1
    ) -> Tensor as SliceScatterBackward0 {
        self => aten::slice_scatter::call(grad, &aten::new_zeros(grad, metadata(src).sizes())?, dim, start, end, step),
        src => aten::slice_Tensor::call(grad, dim, start, end, step),
    }
    diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0,
        int dim2=1) -> Tensor as DiagonalScatterBackward0 {
        self => aten::diagonal_scatter::call(grad, &aten::new_zeros(grad, metadata(src).sizes())?, offset, dim1, dim2),
        src => aten::diagonal::call(grad, offset, dim1, dim2),
    }
    as_strided_scatter(
        Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None
    ) -> Tensor as AsStridedScatterBackward0 {
        self => {
            let places = strided::places_of(grad, metadata(self), size, stride, storage_offset)?;
            let zeros = aten::new_zeros(grad, metadata(src).sizes())?;
            aten::as_strided_scatter::call(&places, &zeros, size, stride, storage_offset)
        },
        src => {
            let places = strided::places_of(grad, metadata(self), size, stride, storage_offset)?;
            aten::as_strided::call(&places, size, stride, storage_offset)
        },
    }
    unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[] as UnbindBackward0 {
        self => stacked(grads, dim),
    }
    split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[] as SplitBackward0 {
        self => joined(grads, self.sizes(), self.dtype(), &vec![split_size; grads.len()], dim),
    }
    split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[] as SplitWithSizesBackward0 {
        self => joined(grads, self.sizes(), self.dtype(), split_sizes, dim),
    }
    unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[] as UnsafeSplitBackward0 {
        self => joined(grads, self.sizes(), self.dtype(), &vec![split_size; grads.len()], dim),
    }
    unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[] as UnsafeSplitWithSizesBackward0 {
        self => joined(grads, self.sizes(), self.dtype(), split_sizes, dim),
    }
}

pub(super) mod strided;

/// A tensor without history, which autograd does not treat as a view.
#[torch_impl(aten, Autograd)]
fn detach(keys: DispatchKeySet, this: &Tensor) -> Result<Tensor> {
    let _below = AutoDispatchBelowADInplaceOrView::new();
    aten::detach::redispatch(keys & DispatchKeySet::full_after(DispatchKey::ADInplaceOrView), this)
}

#[torch_impl(aten::detach, ADInplaceOrView, fallthrough)]
fn detach_is_no_view();

/// No gradient comes through the bytes of a number. As for autograd the result is no view, either of the two may be
/// written, which changes the other's version.
#[torch_impl(aten, Autograd)]
fn view_dtype(keys: DispatchKeySet, this: &Tensor, dtype: DType) -> Result<Tensor> {
    let _below = AutoDispatchBelowADInplaceOrView::new();
    aten::view_dtype::redispatch(keys & DispatchKeySet::full_after(DispatchKey::ADInplaceOrView), this, dtype)
}

#[torch_impl(aten::view_dtype, ADInplaceOrView, fallthrough)]
fn other_elements_are_no_view();

#[torch_impl(aten, Autograd)]
fn detach_(keys: DispatchKeySet, this: &mut Tensor) -> Result<&mut Tensor> {
    this.forget_history()?;
    let _below = AutoDispatchBelowAutograd::new();
    aten::detach_::redispatch(keys & DispatchKeySet::full_after(DispatchKey::AutogradOther), this)
}

#[torch_impl(aten::detach_, ADInplaceOrView, fallthrough)]
fn detach_writes_nothing();

/// The gradient of pairs, where `view_as_complex` finds them: rows of size one have strides that mean nothing, but must
/// be even.
fn of_pairs(grad: &Tensor) -> Result<Tensor> {
    let pairs = aten::contiguous(grad)?;
    match pairs.strides().iter().rev().skip(1).all(|stride| stride % 2 == 0) {
        true => Ok(pairs),
        false => aten::clone::with(&pairs).memory_format(Some(MemoryFormat::Contiguous)).call(),
    }
}

/// The gradients of slices, stacked, with zeros where there is no gradient.
pub(super) fn stacked(grads: &[Option<Tensor>], dim: i64) -> Result<Tensor> {
    let Some(example) = grads.iter().flatten().next() else { bail!(Internal, "there is a gradient") };
    let slices = grads.iter().map(|grad| grad.clone().map_or_else(|| aten::zeros_like(example), Ok));
    aten::stack::with(&slices.collect::<Result<Vec<_>>>()?).dim(dim).call()
}

/// The gradients of parts, concatenated, with zeros where there is no gradient.
pub(super) fn joined(
    grads: &[Option<Tensor>],
    sizes: &[i64],
    dtype: DType,
    parts: &[i64],
    dim: i64,
) -> Result<Tensor> {
    let axis = wrap_dim(dim, sizes.len())?;
    let Some(example) = grads.iter().flatten().next() else { bail!(Internal, "there is a gradient") };
    let (mut start, mut pieces) = (0, Vec::with_capacity(grads.len()));
    for (grad, part) in grads.iter().zip(parts) {
        let part = (*part).min(sizes[axis] - start);
        start += part;
        pieces.push(match grad {
            Some(grad) => grad.clone(),
            None => {
                let mut sizes = sizes.to_vec();
                sizes[axis] = part;
                aten::new_zeros::with(example, &sizes).dtype(dtype).call()?
            }
        });
    }
    aten::cat::with(&pieces).dim(dim).call()
}
