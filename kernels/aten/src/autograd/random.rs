//! Derivatives of random numbers.

use torch_library::derivatives;

use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

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
}
