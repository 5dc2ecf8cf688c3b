//! Derivatives of copies and fills.

use torch_library::derivatives;

use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor as CloneBackward0 {
        self => grad.clone(),
    }
    #[differentiable_if(dtype.is_none_or(|dtype| dtype.is_differentiable()))]
    _to_copy(
        Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None,
        bool non_blocking=False, MemoryFormat? memory_format=None
    ) -> Tensor as ToCopyBackward0 {
        self => grad.to_dtype(self.dtype()),
    }
    copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!) as CopyBackwards {
        self => aten::zeros_like(grad),
        src => grad.to_dtype(src.dtype()),
    }
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
    // Random numbers do not depend on the previous elements.
    uniform_(Tensor(a!) self, float from=0.0, float to=1.0, *,
        Generator? generator=None) -> Tensor(a!) as UniformBackward0 {
        self => aten::zeros_like(grad),
    }
    normal_(Tensor(a!) self, float mean=0.0, float std=1.0, *,
        Generator? generator=None) -> Tensor(a!) as NormalBackward0 {
        self => aten::zeros_like(grad),
    }
    bernoulli(Tensor self, *, Generator? generator=None) -> Tensor as BernoulliBackward0 {
        self => aten::zeros_like(grad),
    }
    bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!) as BernoulliBackward2 {
        self => aten::zeros_like(grad),
    }
    bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!) as BernoulliBackward1 {
        self => aten::zeros_like(grad),
        p => aten::zeros_like(p),
    }
    bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor as BernoulliBackward1 {
        self => aten::zeros_like(grad),
        p => aten::zeros_like(p),
    }
    #[in_place]
    random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor as RandomBackward0 {
        self => aten::zeros_like(grad),
    }
    #[in_place]
    random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor as RandomBackward1 {
        self => aten::zeros_like(grad),
    }
    #[in_place]
    random(Tensor self, *, Generator? generator=None) -> Tensor as RandomBackward2 {
        self => aten::zeros_like(grad),
    }
    #[in_place]
    cauchy(Tensor self, float median=0., float sigma=1., *, Generator? generator=None) -> Tensor as CauchyBackward0 {
        self => aten::zeros_like(grad),
    }
    #[in_place]
    exponential(Tensor self, float lambd=1., *, Generator? generator=None) -> Tensor as ExponentialBackward0 {
        self => aten::zeros_like(grad),
    }
    #[in_place]
    geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor as GeometricBackward0 {
        self => aten::zeros_like(grad),
    }
    #[in_place]
    log_normal(Tensor self, float mean=1., float std=2., *, Generator? generator=None) -> Tensor as LogNormalBackward0 {
        self => aten::zeros_like(grad),
    }
    poisson(Tensor self, Generator? generator=None) -> Tensor as PoissonBackward0 {
        self => aten::zeros_like(self),
    }
    _standard_gamma(Tensor self, Generator? generator=None) -> Tensor as StandardGammaBackward0 {
        self => grad.mul(&aten::_standard_gamma_grad(self, result)?),
    }
    uniform(Tensor self, float from=0., float to=1., *, Generator? generator=None) -> Tensor as UniformBackward0 {
        self => aten::zeros_like(grad),
    }
    normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor as NormalBackward1 {
        mean => aten::zeros_like(mean),
    }
    normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor as NormalBackward2 {
        std => aten::zeros_like(std),
    }
    normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor as NormalBackward3 {
        mean => aten::zeros_like(mean),
        std => aten::zeros_like(std),
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
