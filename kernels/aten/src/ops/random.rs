//! Operators that make series and random numbers.
//!
//! Without a generator, random numbers come from that of the device, which [`manual_seed`](crate::random::manual_seed)
//! starts over. The numbers are those that PyTorch draws from the same seed, where it draws them one after the other.

use torch_library::torch_library;

torch_library! {
    /// Series and random numbers, on top of what was declared before.
    #[methods(RandomMethods)]
    pub mod aten extends super::view::aten {
        /// The numbers from 0 up to but not including `end`: integers, if that is one.
        ///
        /// ```
        /// use torch_library_kernels::aten;
        ///
        /// assert_eq!(aten::arange(3.into())?.to_vec::<i64>()?, [0, 1, 2]);
        /// # Ok::<(), torch_library::Error>(())
        /// ```
        ///
        /// PyTorch: `torch.arange`.
        arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;
        /// The numbers from `start` up to but not including `end`.
        ///
        /// PyTorch: `torch.arange`.
        arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;
        /// The numbers from `start` on, `step` apart, that are before `end`.
        ///
        /// # Errors
        /// A step of zero, or one that leads away from the end.
        ///
        /// PyTorch: `torch.arange`.
        arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// So many numbers from `start` to `end`, equally far apart, both included.
        ///
        /// PyTorch: `torch.linspace`.
        linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;
        /// The square matrix with ones on its diagonal, else zeros.
        ///
        /// PyTorch: `torch.eye`.
        eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;
        /// A matrix with ones on its diagonal, else zeros.
        ///
        /// PyTorch: `torch.eye`.
        eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;
        /// Matrices with zeros above a diagonal.
        ///
        /// PyTorch: `torch.tril`.
        tril(Tensor self, SymInt diagonal=0) -> Tensor;
        /// Matrices with zeros below a diagonal.
        ///
        /// PyTorch: `torch.triu`.
        triu(Tensor self, SymInt diagonal=0) -> Tensor;

        /// Writes random numbers from `from` up to but not including `to`, all as likely.
        ///
        /// PyTorch: `Tensor.uniform_`.
        #[tags(nondeterministic_seeded)]
        uniform_(Tensor(a!) self, float from=0.0, float to=1.0, *, Generator? generator=None) -> Tensor(a!);
        /// Writes random numbers from a normal distribution.
        ///
        /// PyTorch: `Tensor.normal_`.
        #[tags(nondeterministic_seeded)]
        normal_(Tensor(a!) self, float mean=0.0, float std=1.0, *, Generator? generator=None) -> Tensor(a!);
        /// Writes random integers from `from` up to but not including `to`.
        ///
        /// PyTorch: `Tensor.random_`.
        #[tags(nondeterministic_seeded)]
        random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!);
        /// Writes 1 with a probability, else 0.
        ///
        /// PyTorch: `Tensor.bernoulli_`.
        #[tags(nondeterministic_seeded)]
        bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!);
        /// Writes random numbers from the exponential distribution of rate `lambd`.
        ///
        /// # Errors
        /// A rate that is not positive.
        ///
        /// PyTorch: `Tensor.exponential_`.
        #[tags(nondeterministic_seeded)]
        exponential_(Tensor(a!) self, float lambd=1.0, *, Generator? generator=None) -> Tensor(a!);
        /// Random indices, as `int64`, of which each comes up in proportion to its weight in a vector, or in each
        /// row of a matrix: the same not twice, unless with `replacement`.
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
        /// Weights that are negative, not finite, or zero altogether; more indices than there are, without
        /// `replacement`.
        ///
        /// PyTorch: `torch.multinomial`.
        #[tags(nondeterministic_seeded)]
        multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor;
        /// 1 with the probability that an element is, else 0.
        ///
        /// PyTorch: `torch.bernoulli`.
        #[tags(nondeterministic_seeded)]
        bernoulli(Tensor self, *, Generator? generator=None) -> Tensor;

        /// Random numbers from 0 up to but not including 1.
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
        /// [`rand`] from a generator.
        ///
        /// PyTorch: `torch.rand`.
        #[tags(nondeterministic_seeded)]
        rand.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;
        /// Random numbers from the normal distribution of mean 0 and deviation 1.
        ///
        /// PyTorch: `torch.randn`.
        #[tags(nondeterministic_seeded)]
        randn(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;
        /// [`randn`] from a generator.
        ///
        /// PyTorch: `torch.randn`.
        #[tags(nondeterministic_seeded)]
        randn.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;
        /// [`rand`] with the sizes of a tensor, and unless given its type, device and strides.
        ///
        /// PyTorch: `torch.rand_like`.
        #[tags(nondeterministic_seeded)]
        rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;
        /// [`randn`] with the sizes of a tensor, and unless given its type, device and strides.
        ///
        /// PyTorch: `torch.randn_like`.
        #[tags(nondeterministic_seeded)]
        randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;
        /// [`randint`] with the sizes of a tensor, and unless given its type, device and strides.
        ///
        /// PyTorch: `torch.randint_like`.
        #[tags(nondeterministic_seeded)]
        randint_like(Tensor self, SymInt high, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;
        /// [`randint_low`] with the sizes of a tensor, and unless given its type, device and strides.
        ///
        /// PyTorch: `torch.randint_like`.
        #[tags(nondeterministic_seeded)]
        randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None,
            MemoryFormat? memory_format=None) -> Tensor;
        /// Powers of a base, the exponents evenly spaced from `start` to `end`, both included.
        ///
        /// ```
        /// use torch_library_kernels::aten;
        ///
        /// let x = aten::logspace::with(0.into(), 3.into(), 4).base(2.0).call()?;
        /// assert_eq!(x.to_vec::<f32>()?, [1.0, 2.0, 4.0, 8.0]);
        /// # Ok::<(), torch_library::Error>(())
        /// ```
        ///
        /// # Errors
        /// Fewer than no numbers.
        ///
        /// PyTorch: `torch.logspace`.
        logspace(Scalar start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// Where the elements of the lower triangle of a matrix are, up to a diagonal: rows first, then columns,
        /// `[2, n]`.
        ///
        /// PyTorch: `torch.tril_indices`.
        tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;
        /// Where the elements of the upper triangle of a matrix are, from a diagonal on: rows first, then columns,
        /// `[2, n]`.
        ///
        /// PyTorch: `torch.triu_indices`.
        triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;
        /// A number as a tensor without dimensions, of `float32` unless given.
        ///
        /// PyTorch: `torch.scalar_tensor`.
        scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;
        /// Random integers from 0 up to but not including `high`.
        ///
        /// PyTorch: `torch.randint`.
        #[tags(nondeterministic_seeded)]
        randint(SymInt high, SymInt[] size, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;
        /// Random integers from `low` up to but not including `high`.
        ///
        /// PyTorch: `torch.randint`.
        #[tags(nondeterministic_seeded)]
        randint.low(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=long, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;
        /// The numbers from 0 up to but not including `n`, in random order.
        ///
        /// PyTorch: `torch.randperm`.
        #[tags(nondeterministic_seeded)]
        randperm(SymInt n, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;
        /// [`randperm`] from a generator.
        ///
        /// PyTorch: `torch.randperm`.
        #[tags(nondeterministic_seeded)]
        randperm.generator(SymInt n, *, Generator? generator, ScalarType? dtype=long, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;
        /// As [`linspace`](fn@linspace); both ends from tensors.
        ///
        /// # Errors
        /// Ends with dimensions.
        ///
        /// PyTorch: `torch.linspace`.
        linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// As [`linspace`](fn@linspace); the start from a tensor.
        ///
        /// # Errors
        /// Ends with dimensions.
        ///
        /// PyTorch: `torch.linspace`.
        linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// As [`linspace`](fn@linspace); the end from a tensor.
        ///
        /// # Errors
        /// Ends with dimensions.
        ///
        /// PyTorch: `torch.linspace`.
        linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// As [`logspace`](fn@logspace); both ends from tensors.
        ///
        /// # Errors
        /// Ends with dimensions.
        ///
        /// PyTorch: `torch.logspace`.
        logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// As [`logspace`](fn@logspace); the start from a tensor.
        ///
        /// # Errors
        /// Ends with dimensions.
        ///
        /// PyTorch: `torch.logspace`.
        logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// As [`logspace`](fn@logspace); the end from a tensor.
        ///
        /// # Errors
        /// Ends with dimensions.
        ///
        /// PyTorch: `torch.logspace`.
        logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// Writes random integers from 0 on: all that an integer type has, those that a floating-point type has
        /// without gaps.
        ///
        /// PyTorch: `Tensor.random_`.
        #[tags(nondeterministic_seeded)]
        random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!);
        /// Writes random integers from 0 up to but not including `to`.
        ///
        /// # Errors
        /// Integers that the type does not hold.
        ///
        /// PyTorch: `Tensor.random_`.
        #[tags(nondeterministic_seeded)]
        random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!);
        /// Writes random numbers whose logarithms have a normal distribution.
        ///
        /// # Errors
        /// A deviation that is not positive, other types than floating-point ones.
        ///
        /// PyTorch: `Tensor.log_normal_`.
        #[tags(nondeterministic_seeded)]
        log_normal_(Tensor(a!) self, float mean=1., float std=2., *, Generator? generator=None) -> Tensor(a!);
        /// Writes random numbers from Cauchy's distribution.
        ///
        /// # Errors
        /// A `sigma` that is not positive, other types than floating-point ones.
        ///
        /// PyTorch: `Tensor.cauchy_`.
        #[tags(nondeterministic_seeded)]
        cauchy_(Tensor(a!) self, float median=0., float sigma=1., *, Generator? generator=None) -> Tensor(a!);
        /// Writes how many trials it took until one of probability `p` was a success.
        ///
        /// # Errors
        /// A probability that is not between 0 and 1; booleans, complex numbers.
        ///
        /// PyTorch: `Tensor.geometric_`.
        #[tags(nondeterministic_seeded)]
        geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!);
        /// Writes 1 with the probability that the element of `p` is, else 0.
        ///
        /// # Errors
        /// Probabilities that are not between 0 and 1, or not of a floating-point type.
        ///
        /// PyTorch: `Tensor.bernoulli_`.
        #[tags(nondeterministic_seeded)]
        bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!);
        /// 1 with a probability, else 0, for each element.
        ///
        /// PyTorch: `torch.bernoulli`.
        #[tags(nondeterministic_seeded)]
        bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor;
        /// [`bernoulli__Tensor`](fn@bernoulli__Tensor) in a copy.
        ///
        /// PyTorch: `aten::bernoulli__Tensor`.
        #[tags(nondeterministic_seeded)]
        bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor;
        /// How many events there are where so many are expected: of a Poisson distribution with each element's mean.
        ///
        /// # Errors
        /// Negative means and NaN, types other than of floating point.
        ///
        /// PyTorch: `torch.poisson`.
        #[tags(nondeterministic_seeded)]
        #[variants(function)]
        poisson(Tensor self, Generator? generator=None) -> Tensor;
        /// How many of `count` trials succeed, each of which does with the probability `prob`; NaN where one of
        /// them is.
        ///
        /// # Errors
        /// Two types, others than `float32` and `float64`, sizes that do not broadcast.
        ///
        /// PyTorch: `torch.binomial`.
        #[tags(nondeterministic_seeded)]
        #[variants(function)]
        binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor;
        /// [`exponential_`](fn@exponential_) in a copy.
        ///
        /// PyTorch: `aten::exponential`.
        #[tags(nondeterministic_seeded)]
        exponential(Tensor self, float lambd=1., *, Generator? generator=None) -> Tensor;
        /// [`uniform_`](fn@uniform_) in a copy.
        ///
        /// PyTorch: `aten::uniform`.
        #[tags(nondeterministic_seeded)]
        uniform(Tensor self, float from=0., float to=1., *, Generator? generator=None) -> Tensor;
        /// [`cauchy_`](fn@cauchy_) in a copy.
        ///
        /// PyTorch: `aten::cauchy`.
        #[tags(nondeterministic_seeded)]
        cauchy(Tensor self, float median=0., float sigma=1., *, Generator? generator=None) -> Tensor;
        /// [`log_normal_`](fn@log_normal_) in a copy.
        ///
        /// PyTorch: `aten::log_normal`.
        #[tags(nondeterministic_seeded)]
        log_normal(Tensor self, float mean=1., float std=2., *, Generator? generator=None) -> Tensor;
        /// [`geometric_`](fn@geometric_) in a copy.
        ///
        /// PyTorch: `aten::geometric`.
        #[tags(nondeterministic_seeded)]
        geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor;
        /// [`random_`](fn@random_) in a copy.
        ///
        /// PyTorch: `aten::random`.
        #[tags(nondeterministic_seeded)]
        random(Tensor self, *, Generator? generator=None) -> Tensor;
        /// [`random__to`](fn@random__to) in a copy.
        ///
        /// PyTorch: `aten::random__to`.
        #[tags(nondeterministic_seeded)]
        random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor;
        /// [`random__from`](fn@random__from) in a copy.
        ///
        /// PyTorch: `aten::random__from`.
        #[tags(nondeterministic_seeded)]
        random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor;
        /// [`normal_`](fn@normal_) in a copy.
        ///
        /// PyTorch: `aten::normal`.
        #[tags(nondeterministic_seeded)]
        normal_functional(Tensor self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor;
        /// Random numbers from normal distributions, each with a mean of its own.
        ///
        /// # Errors
        /// A negative deviation.
        ///
        /// PyTorch: `torch.normal`.
        #[tags(nondeterministic_seeded)]
        normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor;
        /// Random numbers from normal distributions, each with a deviation of its own.
        ///
        /// # Errors
        /// Negative or complex deviations.
        ///
        /// PyTorch: `torch.normal`.
        #[tags(nondeterministic_seeded)]
        normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor;
        /// Random numbers from normal distributions, each with a mean and a deviation of its own.
        ///
        /// # Errors
        /// Negative or complex deviations.
        ///
        /// PyTorch: `torch.normal`.
        #[tags(nondeterministic_seeded)]
        normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor;
        /// Random numbers from a normal distribution.
        ///
        /// # Errors
        /// A negative deviation.
        ///
        /// PyTorch: `torch.normal`.
        #[tags(nondeterministic_seeded)]
        normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None,
            ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// As [`rand_like`](fn@rand_like), from a generator.
        ///
        /// PyTorch: `torch.rand_like`.
        #[tags(nondeterministic_seeded)]
        rand_like.generator(Tensor self, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;
        /// As [`randn_like`](fn@randn_like), from a generator.
        ///
        /// PyTorch: `torch.randn_like`.
        #[tags(nondeterministic_seeded)]
        randn_like.generator(Tensor self, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;
        /// As [`randint`](fn@randint), from a generator.
        ///
        /// PyTorch: `torch.randint`.
        #[tags(nondeterministic_seeded)]
        randint.generator(SymInt high, SymInt[] size, *, Generator? generator, ScalarType? dtype=long,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// As [`randint_low`](fn@randint_low), from a generator.
        ///
        /// PyTorch: `torch.randint`.
        #[tags(nondeterministic_seeded)]
        randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, Generator? generator,
            ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;
        /// As [`randint_like`](fn@randint_like), from a generator.
        ///
        /// PyTorch: `torch.randint_like`.
        #[tags(nondeterministic_seeded)]
        randint_like.generator(Tensor self, SymInt high, *, Generator? generator, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None,
            MemoryFormat? memory_format=None) -> Tensor;
        /// As [`randint_like_low_dtype`](fn@randint_like_low_dtype), from a generator.
        ///
        /// PyTorch: `torch.randint_like`.
        #[tags(nondeterministic_seeded)]
        randint_like.low_generator_dtype(Tensor self, SymInt low, SymInt high, *, Generator? generator,
            ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None,
            MemoryFormat? memory_format=None) -> Tensor;
        /// As [`randint_like`](fn@randint_like), the end from a tensor with one element.
        ///
        /// PyTorch: `torch.randint_like`.
        #[tags(nondeterministic_seeded)]
        randint_like.Tensor(Tensor self, Tensor high, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;
        /// As [`randint_like_generator`](fn@randint_like_generator), the end from a tensor with one element.
        ///
        /// PyTorch: `torch.randint_like`.
        #[tags(nondeterministic_seeded)]
        randint_like.Tensor_generator(Tensor self, Tensor high, *, Generator? generator, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None,
            MemoryFormat? memory_format=None) -> Tensor;
        /// What [`bernoulli`](fn@bernoulli) draws, in the type of the tensor it is written to.
        ///
        /// PyTorch: `torch.bernoulli`.
        #[tags(nondeterministic_seeded)]
        bernoulli.out(Tensor self, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!);
        /// What [`normal_Tensor_Tensor`](fn@normal_Tensor_Tensor) draws, in the type of the tensor it is written to.
        ///
        /// PyTorch: `torch.normal`.
        #[tags(nondeterministic_seeded)]
        normal.Tensor_Tensor_out(Tensor mean, Tensor std, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!);
        /// What [`normal_Tensor_float`](fn@normal_Tensor_float) draws, in the type of the tensor it is written to.
        ///
        /// PyTorch: `torch.normal`.
        #[tags(nondeterministic_seeded)]
        normal.Tensor_float_out(Tensor mean, float std=1., *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!);
        /// What [`normal_float_Tensor`](fn@normal_float_Tensor) draws, in the type of the tensor it is written to.
        ///
        /// PyTorch: `torch.normal`.
        #[tags(nondeterministic_seeded)]
        normal.float_Tensor_out(float mean, Tensor std, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!);
        /// What [`normal_float_float`](fn@normal_float_float) draws, in the type of the tensor it is written to.
        ///
        /// PyTorch: `torch.normal`.
        #[tags(nondeterministic_seeded)]
        normal.float_float_out(float mean, float std, SymInt[] size, *, Generator? generator=None,
            Tensor(a!) out) -> Tensor(a!);
    }
}
