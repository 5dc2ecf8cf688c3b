//! Operators that draw random numbers.
//!
//! Without a generator, random numbers come from that of the device, which [`manual_seed`](crate::random::manual_seed)
//! seeds. They are the numbers that PyTorch draws from the same seed, as long as PyTorch draws them sequentially.

use torch_library::torch_library;

torch_library! {
    /// Random numbers.
    #[methods(RandomMethods)]
    pub mod aten extends "aten" {
        /// Fills the tensor with random numbers, uniform from `from` up to but not including `to`.
        ///
        /// # Errors
        /// A `to` below `from`, bounds that are not finite, integer and boolean dtypes.
        ///
        /// PyTorch: `Tensor.uniform_`.
        #[tags(nondeterministic_seeded)]
        uniform_(Tensor(a!) self, float from=0.0, float to=1.0, *, Generator? generator=None) -> Tensor(a!);
        /// Fills the tensor with random numbers from a normal distribution.
        ///
        /// # Errors
        /// A standard deviation that is negative or NaN, integer and boolean dtypes.
        ///
        /// PyTorch: `Tensor.normal_`.
        #[tags(nondeterministic_seeded)]
        normal_(Tensor(a!) self, float mean=0.0, float std=1.0, *, Generator? generator=None) -> Tensor(a!);
        /// Fills the tensor with random integers, uniform from `from` up to but not including `to`.
        ///
        /// # Errors
        /// A `to` that is not above `from`, bounds that the dtype cannot hold, a complex dtype.
        ///
        /// PyTorch: `Tensor.random_`.
        #[tags(nondeterministic_seeded)]
        random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!);
        /// Fills the tensor with 1 with probability `p`, and 0 otherwise.
        ///
        /// # Errors
        /// A probability outside of `[0, 1]`, a complex dtype.
        ///
        /// PyTorch: `Tensor.bernoulli_`.
        #[tags(nondeterministic_seeded)]
        bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!);
        /// Fills the tensor with random numbers from the exponential distribution with rate `lambd`.
        ///
        /// # Errors
        /// A rate that is not positive, a dtype that is not floating-point.
        ///
        /// PyTorch: `Tensor.exponential_`.
        #[tags(nondeterministic_seeded)]
        exponential_(Tensor(a!) self, float lambd=1.0, *, Generator? generator=None) -> Tensor(a!);
        /// Random indices, as `int64`, drawn in proportion to the weights in a vector, or in each row of a matrix. No
        /// index is drawn twice, unless with `replacement`.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let weights = Tensor::from([0.0, 3.0, 0.0]);
        /// let drawn = aten::multinomial::with(&weights, 4).replacement(true).call()?;
        /// assert_eq!(drawn.to_vec::<i64>()?, [1; 4]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// Weights that are negative, not finite, or all zero; no samples; without `replacement`, more samples than
        /// weights; another number of dimensions than one and two, a dtype that is not floating-point.
        ///
        /// PyTorch: `torch.multinomial`.
        #[tags(nondeterministic_seeded)]
        multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor;
        /// Draws 1 with the probability that each element gives, and 0 otherwise.
        ///
        /// # Errors
        /// Probabilities outside of `[0, 1]`, a dtype that is not floating-point.
        ///
        /// PyTorch: `torch.bernoulli`.
        #[tags(nondeterministic_seeded)]
        bernoulli(Tensor self, *, Generator? generator=None) -> Tensor;

        /// Random numbers, uniform from 0 up to but not including 1.
        ///
        /// ```
        /// use torch_library_kernels::{aten, random};
        ///
        /// random::manual_seed(0);
        /// assert_eq!(aten::rand(&[2])?.to_string(), "tensor([0.4963, 0.7682])"); // as in PyTorch
        /// # Ok::<(), torch_library::Error>(())
        /// ```
        ///
        /// PyTorch: `torch.rand`.
        #[tags(nondeterministic_seeded)]
        rand(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;
        /// [`rand`] with a generator.
        ///
        /// PyTorch: `torch.rand`.
        #[tags(nondeterministic_seeded)]
        rand.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;
        /// Random numbers from the standard normal distribution.
        ///
        /// PyTorch: `torch.randn`.
        #[tags(nondeterministic_seeded)]
        randn(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;
        /// [`randn`] with a generator.
        ///
        /// PyTorch: `torch.randn`.
        #[tags(nondeterministic_seeded)]
        randn.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;
        /// [`rand`] with the sizes of `self`, and, unless they are given, its dtype, device and strides.
        ///
        /// PyTorch: `torch.rand_like`.
        #[tags(nondeterministic_seeded)]
        rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;
        /// [`randn`] with the sizes of `self`, and, unless they are given, its dtype, device and strides.
        ///
        /// PyTorch: `torch.randn_like`.
        #[tags(nondeterministic_seeded)]
        randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;
        /// [`randint`] with the sizes of `self`, and, unless they are given, its dtype, device and strides.
        ///
        /// PyTorch: `torch.randint_like`.
        #[tags(nondeterministic_seeded)]
        randint_like(Tensor self, SymInt high, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;
        /// [`randint_low`] with the sizes of `self`, and, unless they are given, its dtype, device and strides.
        ///
        /// PyTorch: `torch.randint_like`.
        #[tags(nondeterministic_seeded)]
        randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None,
            MemoryFormat? memory_format=None) -> Tensor;
        /// Random integers, uniform from 0 up to but not including `high`.
        ///
        /// # Errors
        /// No integers below `high`, bounds that the dtype cannot hold, a complex dtype.
        ///
        /// PyTorch: `torch.randint`.
        #[tags(nondeterministic_seeded)]
        randint(SymInt high, SymInt[] size, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;
        /// Random integers, uniform from `low` up to but not including `high`.
        ///
        /// # Errors
        /// No integers below `high`, bounds that the dtype cannot hold, a complex dtype.
        ///
        /// PyTorch: `torch.randint`.
        #[tags(nondeterministic_seeded)]
        randint.low(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=long, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;
        /// A random permutation of the integers from 0 to `n - 1`.
        ///
        /// # Errors
        /// A negative `n`.
        ///
        /// PyTorch: `torch.randperm`.
        #[tags(nondeterministic_seeded)]
        randperm(SymInt n, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;
        /// [`randperm`] with a generator.
        ///
        /// PyTorch: `torch.randperm`.
        #[tags(nondeterministic_seeded)]
        randperm.generator(SymInt n, *, Generator? generator, ScalarType? dtype=long, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;
        /// Fills the tensor with random integers from 0 on: up to the largest that an integer dtype holds, or, for a
        /// floating-point dtype, as far as it represents every integer.
        ///
        /// PyTorch: `Tensor.random_`.
        #[tags(nondeterministic_seeded)]
        random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!);
        /// Fills the tensor with random integers, uniform from 0 up to but not including `to`.
        ///
        /// # Errors
        /// The errors of [`random__from`](fn@random__from).
        ///
        /// PyTorch: `Tensor.random_`.
        #[tags(nondeterministic_seeded)]
        random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!);
        /// Fills the tensor with random numbers from a log-normal distribution.
        ///
        /// # Errors
        /// A standard deviation that is not positive, a dtype that is not floating-point.
        ///
        /// PyTorch: `Tensor.log_normal_`.
        #[tags(nondeterministic_seeded)]
        log_normal_(Tensor(a!) self, float mean=1., float std=2., *, Generator? generator=None) -> Tensor(a!);
        /// Fills the tensor with random numbers from a Cauchy distribution.
        ///
        /// # Errors
        /// A `sigma` that is not positive, a dtype that is not floating-point.
        ///
        /// PyTorch: `Tensor.cauchy_`.
        #[tags(nondeterministic_seeded)]
        cauchy_(Tensor(a!) self, float median=0., float sigma=1., *, Generator? generator=None) -> Tensor(a!);
        /// Fills the tensor with random numbers from the geometric distribution: the number of trials of probability
        /// `p` up to the first success.
        ///
        /// # Errors
        /// A `p` outside of `(0, 1)`; boolean and complex dtypes.
        ///
        /// PyTorch: `Tensor.geometric_`.
        #[tags(nondeterministic_seeded)]
        geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!);
        /// Fills each element with 1 with the probability that the corresponding element of `p` gives, and with 0
        /// otherwise.
        ///
        /// # Errors
        /// Probabilities outside of `[0, 1]`, a `p` that is not floating-point.
        ///
        /// PyTorch: `Tensor.bernoulli_`.
        #[tags(nondeterministic_seeded)]
        bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!);
        /// For each element, 1 with probability `p`, and 0 otherwise.
        ///
        /// PyTorch: `torch.bernoulli`.
        #[tags(nondeterministic_seeded)]
        bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor;
        /// The functional form of [`bernoulli__Tensor`](fn@bernoulli__Tensor).
        ///
        /// PyTorch: `aten::bernoulli__Tensor`.
        #[tags(nondeterministic_seeded)]
        bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor;
        /// Random numbers from Poisson distributions, with each element as the mean of its own.
        ///
        /// # Errors
        /// Means that are negative, infinite or NaN, a dtype that is not floating-point.
        ///
        /// PyTorch: `torch.poisson`.
        #[tags(nondeterministic_seeded)]
        #[variants(function)]
        poisson(Tensor self, Generator? generator=None) -> Tensor;
        /// Random numbers from binomial distributions: the number of successes in `count` trials of probability `prob`;
        /// NaN where either is NaN.
        ///
        /// # Errors
        /// Different dtypes, or others than `float32` and `float64`; sizes that do not broadcast.
        ///
        /// PyTorch: `torch.binomial`.
        #[tags(nondeterministic_seeded)]
        #[variants(function)]
        binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor;
        /// The functional form of [`exponential_`](fn@exponential_).
        ///
        /// PyTorch: `aten::exponential`.
        #[tags(nondeterministic_seeded)]
        exponential(Tensor self, float lambd=1., *, Generator? generator=None) -> Tensor;
        /// The functional form of [`uniform_`](fn@uniform_).
        ///
        /// PyTorch: `aten::uniform`.
        #[tags(nondeterministic_seeded)]
        uniform(Tensor self, float from=0., float to=1., *, Generator? generator=None) -> Tensor;
        /// The functional form of [`cauchy_`](fn@cauchy_).
        ///
        /// PyTorch: `aten::cauchy`.
        #[tags(nondeterministic_seeded)]
        cauchy(Tensor self, float median=0., float sigma=1., *, Generator? generator=None) -> Tensor;
        /// The functional form of [`log_normal_`](fn@log_normal_).
        ///
        /// PyTorch: `aten::log_normal`.
        #[tags(nondeterministic_seeded)]
        log_normal(Tensor self, float mean=1., float std=2., *, Generator? generator=None) -> Tensor;
        /// The functional form of [`geometric_`](fn@geometric_).
        ///
        /// PyTorch: `aten::geometric`.
        #[tags(nondeterministic_seeded)]
        geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor;
        /// The functional form of [`random_`](fn@random_).
        ///
        /// PyTorch: `aten::random`.
        #[tags(nondeterministic_seeded)]
        random(Tensor self, *, Generator? generator=None) -> Tensor;
        /// The functional form of [`random__to`](fn@random__to).
        ///
        /// PyTorch: `aten::random__to`.
        #[tags(nondeterministic_seeded)]
        random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor;
        /// The functional form of [`random__from`](fn@random__from).
        ///
        /// PyTorch: `aten::random__from`.
        #[tags(nondeterministic_seeded)]
        random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor;
        /// The functional form of [`normal_`](fn@normal_).
        ///
        /// PyTorch: `aten::normal`.
        #[tags(nondeterministic_seeded)]
        normal_functional(Tensor self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor;
        /// Random numbers from normal distributions, with a mean for each element.
        ///
        /// # Errors
        /// A negative standard deviation, integer and boolean dtypes.
        ///
        /// PyTorch: `torch.normal`.
        #[tags(nondeterministic_seeded)]
        normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor;
        /// Random numbers from normal distributions, with a standard deviation for each element.
        ///
        /// # Errors
        /// Negative or complex standard deviations, integer and boolean dtypes.
        ///
        /// PyTorch: `torch.normal`.
        #[tags(nondeterministic_seeded)]
        normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor;
        /// Random numbers from normal distributions, with a mean and a standard deviation for each element.
        ///
        /// # Errors
        /// Negative or complex standard deviations, sizes that do not broadcast, integer and boolean dtypes.
        ///
        /// PyTorch: `torch.normal`.
        #[tags(nondeterministic_seeded)]
        normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor;
        /// Random numbers from a normal distribution.
        ///
        /// # Errors
        /// A negative standard deviation.
        ///
        /// PyTorch: `torch.normal`.
        #[tags(nondeterministic_seeded)]
        normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None,
            ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// [`rand_like`](fn@rand_like) with a generator.
        ///
        /// PyTorch: `torch.rand_like`.
        #[tags(nondeterministic_seeded)]
        rand_like.generator(Tensor self, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;
        /// [`randn_like`](fn@randn_like) with a generator.
        ///
        /// PyTorch: `torch.randn_like`.
        #[tags(nondeterministic_seeded)]
        randn_like.generator(Tensor self, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;
        /// [`randint`](fn@randint) with a generator.
        ///
        /// PyTorch: `torch.randint`.
        #[tags(nondeterministic_seeded)]
        randint.generator(SymInt high, SymInt[] size, *, Generator? generator, ScalarType? dtype=long,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// [`randint_low`](fn@randint_low) with a generator.
        ///
        /// PyTorch: `torch.randint`.
        #[tags(nondeterministic_seeded)]
        randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, Generator? generator,
            ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// [`randint_like`](fn@randint_like) with a generator.
        ///
        /// PyTorch: `torch.randint_like`.
        #[tags(nondeterministic_seeded)]
        randint_like.generator(Tensor self, SymInt high, *, Generator? generator, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None,
            MemoryFormat? memory_format=None) -> Tensor;
        /// [`randint_like_low_dtype`](fn@randint_like_low_dtype) with a generator.
        ///
        /// PyTorch: `torch.randint_like`.
        #[tags(nondeterministic_seeded)]
        randint_like.low_generator_dtype(Tensor self, SymInt low, SymInt high, *, Generator? generator,
            ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None,
            MemoryFormat? memory_format=None) -> Tensor;
        /// [`randint_like`](fn@randint_like) with an integer tensor without dimensions as `high`.
        ///
        /// PyTorch: `torch.randint_like`.
        #[tags(nondeterministic_seeded)]
        randint_like.Tensor(Tensor self, Tensor high, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;
        /// [`randint_like_generator`](fn@randint_like_generator) with an integer tensor without dimensions as `high`.
        ///
        /// PyTorch: `torch.randint_like`.
        #[tags(nondeterministic_seeded)]
        randint_like.Tensor_generator(Tensor self, Tensor high, *, Generator? generator, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None,
            MemoryFormat? memory_format=None) -> Tensor;
        /// [`bernoulli`](fn@bernoulli) written to `out`, in its dtype.
        ///
        /// PyTorch: `torch.bernoulli`.
        #[tags(nondeterministic_seeded)]
        bernoulli.out(Tensor self, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!);
        /// [`normal_Tensor_Tensor`](fn@normal_Tensor_Tensor) written to `out`, in its dtype.
        ///
        /// PyTorch: `torch.normal`.
        #[tags(nondeterministic_seeded)]
        normal.Tensor_Tensor_out(Tensor mean, Tensor std, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!);
        /// [`normal_Tensor_float`](fn@normal_Tensor_float) written to `out`, in its dtype.
        ///
        /// PyTorch: `torch.normal`.
        #[tags(nondeterministic_seeded)]
        normal.Tensor_float_out(Tensor mean, float std=1., *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!);
        /// [`normal_float_Tensor`](fn@normal_float_Tensor) written to `out`, in its dtype.
        ///
        /// PyTorch: `torch.normal`.
        #[tags(nondeterministic_seeded)]
        normal.float_Tensor_out(float mean, Tensor std, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!);
        /// [`normal_float_float`](fn@normal_float_float) written to `out`, in its dtype.
        ///
        /// PyTorch: `torch.normal`.
        #[tags(nondeterministic_seeded)]
        normal.float_float_out(float mean, float std, SymInt[] size, *, Generator? generator=None,
            Tensor(a!) out) -> Tensor(a!);
        /// Random numbers from gamma distributions of scale 1, with each element as the shape of its own. The gradient
        /// says how a number moves if its shape does; see [`_standard_gamma_grad`](fn@_standard_gamma_grad).
        ///
        /// # Errors
        /// Dtypes other than `float32` and `float64`.
        ///
        /// PyTorch: `torch._standard_gamma`.
        #[tags(nondeterministic_seeded)]
        #[variants(function)]
        _standard_gamma(Tensor self, Generator? generator=None) -> Tensor;
        /// The derivative of numbers `output`, drawn from gamma distributions of shapes `self`, with respect to the
        /// shapes, if the numbers keep their quantiles. It has no derivative of its own.
        ///
        /// # Errors
        /// Different dtypes, or others than `float32` and `float64`; sizes that do not broadcast.
        ///
        /// PyTorch: `torch._standard_gamma_grad`.
        #[variants(function)]
        _standard_gamma_grad(Tensor self, Tensor output) -> Tensor;
        /// Random numbers from Dirichlet distributions, whose concentrations are the last dimension: shares of 1.
        ///
        /// # Errors
        /// Dtypes other than `float32` and `float64`.
        ///
        /// PyTorch: `torch._sample_dirichlet`.
        #[tags(nondeterministic_seeded)]
        #[variants(function)]
        _sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor;
        /// The derivative of numbers `x`, drawn from Dirichlet distributions, with respect to their own concentrations
        /// `alpha`, divided by `1 - x`. `total` is the sum of all concentrations of a distribution.
        ///
        /// # Errors
        /// Different dtypes, or others than `float32` and `float64`; sizes that do not broadcast.
        ///
        /// PyTorch: `torch._dirichlet_grad`.
        _dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor;

        /// `num_splits` new keys from each key, which give independent random numbers. A key is a seed and an offset,
        /// as `uint64`: `[2]`, or a batch of them, `[.., 2]`. What is drawn from it is a function of the key alone, by
        /// Philox4x32-10, and no generator changes.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let key = Tensor::from([42u64, 0]);
        /// let keys = aten::_philox_key_split(&key, 2)?;
        /// let mut x = aten::empty_memory_format(&[2, 3])?;
        /// aten::_philox_uniform_(&mut x, &aten::unsqueeze(&keys, 1)?)?; // a key for each row
        /// let second = aten::_philox_uniform(&aten::select_int(&x, 0, 1)?, &aten::_philox_key_fold_in(&key, 1)?)?;
        /// assert_eq!(x.to_vec::<f32>()?[3..], second.to_vec::<f32>()?);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// A tensor that is not a key, fewer than one split.
        ///
        /// PyTorch: `torch.func._random.split`.
        _philox_key_split(Tensor key, int num_splits) -> Tensor;
        /// A new key from each key and a number: the one at `data` of
        /// [`_philox_key_split`](fn@_philox_key_split). A negative number is taken modulo `2^64`.
        ///
        /// # Errors
        /// A tensor that is not a key.
        ///
        /// PyTorch: `torch.func._random.fold_in`.
        _philox_key_fold_in(Tensor key, int data) -> Tensor;
        /// Like [`_philox_key_fold_in`](fn@_philox_key_fold_in), with the number in a tensor, which is converted to
        /// `uint64`.
        ///
        /// # Errors
        /// A tensor that is not a key, a number of elements other than one in `data`, different devices.
        ///
        /// PyTorch: `torch.func._random.fold_in`.
        _philox_key_fold_in.Tensor(Tensor key, Tensor data) -> Tensor;
        /// Fills the tensor with numbers that are drawn from a key, uniform from `low` up to `high`. With a batch of
        /// keys, which has the tensor's dimensions and that of a key, the tensor is filled in parts: each key fills
        /// the last dimensions that have no keys of their own, and the batch is repeated along other dimensions of
        /// size 1.
        ///
        /// # Errors
        /// A tensor that is not a key, keys that do not broadcast to the tensor; dtypes other than `float16`,
        /// `bfloat16`, `float32` and `float64`; a tensor whose elements share memory.
        ///
        /// PyTorch: `torch.func._random.uniform_`.
        _philox_uniform_(Tensor(a!) self, Tensor key, float low=0.0, float high=1.0) -> Tensor(a!);
        /// Fills the tensor with numbers from a normal distribution that are drawn from a key, as by
        /// [`_philox_uniform_`](fn@_philox_uniform_).
        ///
        /// # Errors
        /// The errors of [`_philox_uniform_`](fn@_philox_uniform_).
        ///
        /// PyTorch: `torch.func._random.normal_`.
        _philox_normal_(Tensor(a!) self, Tensor key, float mean=0.0, float std=1.0) -> Tensor(a!);
        /// Fills the tensor with integers from `low` up to but not including `high` that are drawn from a key, as by
        /// [`_philox_uniform_`](fn@_philox_uniform_). The bounds default to those of the dtype. The integers are
        /// remainders of 32 random bits, or of 64 for dtypes of 64 bits.
        ///
        /// # Errors
        /// Bounds that are equal, a range that the remainders would favour a part of; dtypes other than integers; the
        /// other errors of [`_philox_uniform_`](fn@_philox_uniform_).
        ///
        /// PyTorch: `torch.func._random.randint_`.
        _philox_randint_(Tensor(a!) self, Tensor key, int? low=None, int? high=None) -> Tensor(a!);
        /// The functional form of [`_philox_uniform_`](fn@_philox_uniform_).
        ///
        /// PyTorch: `aten::_philox_uniform`.
        #[variants(function)]
        _philox_uniform(Tensor self, Tensor key, float low=0.0, float high=1.0) -> Tensor;
        /// The functional form of [`_philox_normal_`](fn@_philox_normal_).
        ///
        /// PyTorch: `aten::_philox_normal`.
        #[variants(function)]
        _philox_normal(Tensor self, Tensor key, float mean=0.0, float std=1.0) -> Tensor;
        /// The functional form of [`_philox_randint_`](fn@_philox_randint_).
        ///
        /// PyTorch: `aten::_philox_randint`.
        #[variants(function)]
        _philox_randint(Tensor self, Tensor key, int? low=None, int? high=None) -> Tensor;

        /// The next `n` points of a Sobol sequence, `[n, dimension]`, and its state after them. The sequence has given
        /// `num_generated` points before; `quasi` is the last one, and `sobolstate` has the direction numbers of each
        /// dimension, of 30 bits: `[dimension, 30]`, both `int64`.
        ///
        /// # Errors
        /// Tensors of other sizes or dtypes, a negative `n`, as many as 2^30 points, a dtype of points other than
        /// `float32` and `float64`.
        ///
        /// PyTorch: `torch._sobol_engine_draw`, behind `torch.quasirandom.SobolEngine`.
        _sobol_engine_draw(Tensor quasi, int n, Tensor sobolstate, int dimension, int num_generated,
            ScalarType? dtype) -> (Tensor, Tensor);
        /// Skips the next `n` points of a Sobol sequence, whose last point this is.
        ///
        /// # Errors
        /// The errors of [`_sobol_engine_draw`](fn@_sobol_engine_draw).
        ///
        /// PyTorch: `torch._sobol_engine_ff_`.
        _sobol_engine_ff_(Tensor(a!) self, int n, Tensor sobolstate, int dimension, int num_generated) -> Tensor(a!);
        /// Scrambles the direction numbers of a Sobol sequence by the lower triangular matrices `ltm` of bits,
        /// `[dimension, 30, 30]`.
        ///
        /// # Errors
        /// Tensors of other sizes or dtypes.
        ///
        /// PyTorch: `torch._sobol_engine_scramble_`.
        _sobol_engine_scramble_(Tensor(a!) self, Tensor ltm, int dimension) -> Tensor(a!);
    }
}
