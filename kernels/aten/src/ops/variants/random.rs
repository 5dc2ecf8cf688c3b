//! The out variants of random numbers.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Variant, variants};

variants! {
    #[tags(nondeterministic_seeded)]
    _standard_gamma_out: _standard_gamma =>
        "_standard_gamma.out(Tensor self, Generator? generator=None, *, Tensor(a!) out) -> Tensor(a!)";
    _standard_gamma_grad_out: _standard_gamma_grad =>
        "_standard_gamma_grad.out(Tensor self, Tensor output, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    _sample_dirichlet_out: _sample_dirichlet =>
        "_sample_dirichlet.out(Tensor self, Generator? generator=None, *, Tensor(a!) out) -> Tensor(a!)";
    _dirichlet_grad_out: _dirichlet_grad =>
        "_dirichlet_grad.out(Tensor x, Tensor alpha, Tensor total, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    bernoulli_Tensor_out: bernoulli_Tensor =>
        "bernoulli.Tensor_out(Tensor self, Tensor p, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    bernoulli_float_out: bernoulli_p =>
        "bernoulli.float_out(Tensor self, float p=0.5, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    binomial_out: binomial =>
        "binomial.out(Tensor count, Tensor prob, Generator? generator=None, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    cauchy_out: cauchy =>
        "cauchy.out(Tensor self, float median=0., float sigma=1., *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    exponential_out: exponential =>
        "exponential.out(Tensor self, float lambd=1., *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    geometric_out: geometric =>
        "geometric.out(Tensor self, float p, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    log_normal_out: log_normal =>
        "log_normal.out(Tensor self, float mean=1., float std=2., *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    multinomial_out: multinomial =>
        "multinomial.out(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    normal_out: normal_functional =>
        "normal.out(Tensor self, float mean=0., float std=1., *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    poisson_out: poisson => "poisson.out(Tensor self, Generator? generator=None, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    rand_generator_out: rand_generator =>
        "rand.generator_out(SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    rand_like_generator_out: rand_like_generator =>
        "rand_like.generator_out(Tensor self, *, Generator? generator, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    rand_like_out: rand_like =>
        "rand_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    rand_out: rand => "rand.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_generator_out: randint_generator =>
        "randint.generator_out(SymInt high, SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_like_Tensor_generator_out: randint_like_Tensor_generator =>
        "randint_like.Tensor_generator_out(Tensor self, Tensor high, *, Generator? generator, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_like_Tensor_out: randint_like_Tensor =>
        "randint_like.Tensor_out(Tensor self, Tensor high, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_like_generator_out: randint_like_generator =>
        "randint_like.generator_out(Tensor self, SymInt high, *, Generator? generator, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_like_low_dtype_out: randint_like_low_dtype =>
        "randint_like.low_dtype_out(Tensor self, SymInt low, SymInt high, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_like_low_generator_dtype_out: randint_like_low_generator_dtype =>
        "randint_like.low_generator_dtype_out(Tensor self, SymInt low, SymInt high, *, Generator? generator, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_like_out: randint_like =>
        "randint_like.out(Tensor self, SymInt high, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_low_generator_out: randint_low_generator =>
        "randint.low_generator_out(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_low_out: randint_low =>
        "randint.low_out(SymInt low, SymInt high, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_out: randint => "randint.out(SymInt high, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randn_generator_out: randn_generator =>
        "randn.generator_out(SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randn_like_generator_out: randn_like_generator =>
        "randn_like.generator_out(Tensor self, *, Generator? generator, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randn_like_out: randn_like =>
        "randn_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randn_out: randn => "randn.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    random_from_out: random_from =>
        "random.from_out(Tensor self, int from, int? to, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    random_out: random => "random.out(Tensor self, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    random_to_out: random_to =>
        "random.to_out(Tensor self, int to, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randperm_generator_out: randperm_generator =>
        "randperm.generator_out(SymInt n, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randperm_out: randperm => "randperm.out(SymInt n, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    uniform_out: uniform =>
        "uniform.out(Tensor self, float from=0., float to=1., *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    _philox_uniform_out: _philox_uniform =>
        "_philox_uniform.out(Tensor self, Tensor key, float low=0., float high=1., *, Tensor(a!) out) -> Tensor(a!)";
    _philox_normal_out: _philox_normal =>
        "_philox_normal.out(Tensor self, Tensor key, float mean=0., float std=1., *, Tensor(a!) out) -> Tensor(a!)";
    _philox_randint_out: _philox_randint =>
        "_philox_randint.out(Tensor self, Tensor key, int? low=None, int? high=None, *, Tensor(a!) out) -> Tensor(a!)";
}
