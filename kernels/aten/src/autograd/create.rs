//! Derivatives of fills, of triangles, and of complex numbers from pairs of real ones; other new tensors have none.

use torch_library::derivatives;

use super::binary::conj;
use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!) as FillBackward2 {
        self => aten::zeros_like(grad),
    }
    fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!) as FillBackward3 {
        self => aten::zeros_like(grad),
        value => grad.sum(),
    }
    fill.Scalar(Tensor self, Scalar value) -> Tensor as FillBackward0 {
        self => aten::zeros_like(grad),
    }
    fill.Tensor(Tensor self, Tensor value) -> Tensor as FillBackward1 {
        self => aten::zeros_like(grad),
        value => grad.sum(),
    }
    zero(Tensor self) -> Tensor as ZeroBackward0 {
        self => aten::zeros_like(grad),
    }
    zero_(Tensor(a!) self) -> Tensor(a!) as ZeroBackward0 {
        self => aten::zeros_like(grad),
    }
    #[in_place]
    tril(Tensor self, SymInt diagonal=0) -> Tensor as TrilBackward0 {
        self => aten::tril::with(grad).diagonal(diagonal).call(),
    }
    #[in_place]
    triu(Tensor self, SymInt diagonal=0) -> Tensor as TriuBackward0 {
        self => aten::triu::with(grad).diagonal(diagonal).call(),
    }
    complex(Tensor real, Tensor imag) -> Tensor as ComplexBackward0 {
        real => aten::real(grad),
        imag => aten::imag(grad),
    }
    // The radial and the tangential component.
    polar(Tensor abs, Tensor angle) -> Tensor as PolarBackward0 {
        abs => {
            let direction = aten::polar(&aten::ones_like(abs)?, angle)?;
            aten::real(&grad.mul(&conj(&direction)?)?)
        },
        angle => aten::imag(&grad.mul(&conj(result)?)?),
    }

    empty_like(
        Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None,
        MemoryFormat? memory_format=None
    ) -> Tensor as non_differentiable;
    zeros_like(
        Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None,
        MemoryFormat? memory_format=None
    ) -> Tensor as non_differentiable;
    ones_like(
        Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None,
        MemoryFormat? memory_format=None
    ) -> Tensor as non_differentiable;
    full_like(
        Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None, MemoryFormat? memory_format=None
    ) -> Tensor as non_differentiable;
    new_empty(
        Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None
    ) -> Tensor as non_differentiable;
    new_empty_strided(
        Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None
    ) -> Tensor as non_differentiable;
    new_zeros(
        Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None
    ) -> Tensor as non_differentiable;
    new_ones(
        Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None
    ) -> Tensor as non_differentiable;
    new_full(
        Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None
    ) -> Tensor as non_differentiable;
}
