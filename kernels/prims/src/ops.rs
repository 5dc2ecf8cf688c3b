//! The operators: PyTorch's schemas.

use torch_library::torch_library;

torch_library! {
    /// PyTorch's primitives. Element-wise ones take operands of one dtype and of the same sizes, or numbers.
    ///
    /// PyTorch: `torch.ops.prims`.
    pub mod prims {
        /// `aten::abs`.
        ///
        /// PyTorch: `torch.ops.prims.abs`.
        abs(Tensor self) -> Tensor;
        /// `aten::acos`.
        ///
        /// PyTorch: `torch.ops.prims.acos`.
        acos(Tensor self) -> Tensor;
        /// `aten::acosh`.
        ///
        /// PyTorch: `torch.ops.prims.acosh`.
        acosh(Tensor self) -> Tensor;
        /// `aten::asin`.
        ///
        /// PyTorch: `torch.ops.prims.asin`.
        asin(Tensor self) -> Tensor;
        /// `aten::asinh`.
        ///
        /// PyTorch: `torch.ops.prims.asinh`.
        asinh(Tensor self) -> Tensor;
        /// `aten::atan`.
        ///
        /// PyTorch: `torch.ops.prims.atan`.
        atan(Tensor self) -> Tensor;
        /// `aten::atanh`.
        ///
        /// PyTorch: `torch.ops.prims.atanh`.
        atanh(Tensor self) -> Tensor;
        /// `aten::i0`.
        ///
        /// PyTorch: `torch.ops.prims.bessel_i0`.
        bessel_i0(Tensor self) -> Tensor;
        /// `aten::special_i0e`.
        ///
        /// PyTorch: `torch.ops.prims.bessel_i0e`.
        bessel_i0e(Tensor self) -> Tensor;
        /// `aten::special_i1`.
        ///
        /// PyTorch: `torch.ops.prims.bessel_i1`.
        bessel_i1(Tensor self) -> Tensor;
        /// `aten::special_i1e`.
        ///
        /// PyTorch: `torch.ops.prims.bessel_i1e`.
        bessel_i1e(Tensor self) -> Tensor;
        /// `aten::special_bessel_j0`.
        ///
        /// PyTorch: `torch.ops.prims.bessel_j0`.
        bessel_j0(Tensor self) -> Tensor;
        /// `aten::special_bessel_j1`.
        ///
        /// PyTorch: `torch.ops.prims.bessel_j1`.
        bessel_j1(Tensor self) -> Tensor;
        /// `aten::bitwise_not`.
        ///
        /// PyTorch: `torch.ops.prims.bitwise_not`.
        bitwise_not(Tensor self) -> Tensor;
        /// `aten::ceil`.
        ///
        /// PyTorch: `torch.ops.prims.ceil`.
        ceil(Tensor self) -> Tensor;
        /// `aten::conj_physical`.
        ///
        /// PyTorch: `torch.ops.prims.conj_physical`.
        conj_physical(Tensor self) -> Tensor;
        /// `aten::cos`.
        ///
        /// PyTorch: `torch.ops.prims.cos`.
        cos(Tensor self) -> Tensor;
        /// `aten::cosh`.
        ///
        /// PyTorch: `torch.ops.prims.cosh`.
        cosh(Tensor self) -> Tensor;
        /// `aten::digamma`.
        ///
        /// PyTorch: `torch.ops.prims.digamma`.
        digamma(Tensor self) -> Tensor;
        /// `aten::erf`.
        ///
        /// PyTorch: `torch.ops.prims.erf`.
        erf(Tensor self) -> Tensor;
        /// `aten::erfinv`.
        ///
        /// PyTorch: `torch.ops.prims.erf_inv`.
        erf_inv(Tensor self) -> Tensor;
        /// `aten::erfc`.
        ///
        /// PyTorch: `torch.ops.prims.erfc`.
        erfc(Tensor self) -> Tensor;
        /// `aten::special_erfcx`.
        ///
        /// PyTorch: `torch.ops.prims.erfcx`.
        erfcx(Tensor self) -> Tensor;
        /// `aten::exp`.
        ///
        /// PyTorch: `torch.ops.prims.exp`.
        exp(Tensor self) -> Tensor;
        /// `aten::exp2`.
        ///
        /// PyTorch: `torch.ops.prims.exp2`.
        exp2(Tensor self) -> Tensor;
        /// `aten::expm1`.
        ///
        /// PyTorch: `torch.ops.prims.expm1`.
        expm1(Tensor self) -> Tensor;
        /// `aten::floor`.
        ///
        /// PyTorch: `torch.ops.prims.floor`.
        floor(Tensor self) -> Tensor;
        /// `aten::isfinite`.
        ///
        /// PyTorch: `torch.ops.prims.isfinite`.
        isfinite(Tensor self) -> Tensor;
        /// `aten::lgamma`.
        ///
        /// PyTorch: `torch.ops.prims.lgamma`.
        lgamma(Tensor self) -> Tensor;
        /// `aten::log`.
        ///
        /// PyTorch: `torch.ops.prims.log`.
        log(Tensor self) -> Tensor;
        /// `aten::log10`.
        ///
        /// PyTorch: `torch.ops.prims.log10`.
        log10(Tensor self) -> Tensor;
        /// `aten::log1p`.
        ///
        /// PyTorch: `torch.ops.prims.log1p`.
        log1p(Tensor self) -> Tensor;
        /// `aten::log2`.
        ///
        /// PyTorch: `torch.ops.prims.log2`.
        log2(Tensor self) -> Tensor;
        /// `aten::special_ndtri`.
        ///
        /// PyTorch: `torch.ops.prims.ndtri`.
        ndtri(Tensor self) -> Tensor;
        /// `aten::neg`.
        ///
        /// PyTorch: `torch.ops.prims.neg`.
        neg(Tensor self) -> Tensor;
        /// `aten::reciprocal`.
        ///
        /// PyTorch: `torch.ops.prims.reciprocal`.
        reciprocal(Tensor self) -> Tensor;
        /// `aten::round`.
        ///
        /// PyTorch: `torch.ops.prims.round`.
        round(Tensor self) -> Tensor;
        /// `aten::rsqrt`.
        ///
        /// PyTorch: `torch.ops.prims.rsqrt`.
        rsqrt(Tensor self) -> Tensor;
        /// `aten::sign`.
        ///
        /// PyTorch: `torch.ops.prims.sign`.
        sign(Tensor self) -> Tensor;
        /// `aten::signbit`.
        ///
        /// PyTorch: `torch.ops.prims.signbit`.
        signbit(Tensor self) -> Tensor;
        /// `aten::sin`.
        ///
        /// PyTorch: `torch.ops.prims.sin`.
        sin(Tensor self) -> Tensor;
        /// `aten::sinh`.
        ///
        /// PyTorch: `torch.ops.prims.sinh`.
        sinh(Tensor self) -> Tensor;
        /// `aten::special_spherical_bessel_j0`.
        ///
        /// PyTorch: `torch.ops.prims.spherical_bessel_j0`.
        spherical_bessel_j0(Tensor self) -> Tensor;
        /// `aten::sqrt`.
        ///
        /// PyTorch: `torch.ops.prims.sqrt`.
        sqrt(Tensor self) -> Tensor;
        /// `aten::tan`.
        ///
        /// PyTorch: `torch.ops.prims.tan`.
        tan(Tensor self) -> Tensor;
        /// `aten::tanh`.
        ///
        /// PyTorch: `torch.ops.prims.tanh`.
        tanh(Tensor self) -> Tensor;
        /// `aten::trunc`.
        ///
        /// PyTorch: `torch.ops.prims.trunc`.
        trunc(Tensor self) -> Tensor;
        /// The cube root, with the sign of its operand.
        ///
        /// PyTorch: `torch.ops.prims.cbrt`.
        cbrt(Tensor self) -> Tensor;
        /// A tensor like another one, with one number as all elements.
        ///
        /// PyTorch: `torch.ops.prims.fill`.
        fill(Tensor self, Scalar value) -> Tensor;
        /// `aten::frexp`.
        ///
        /// PyTorch: `torch.ops.prims.frexp`.
        frexp(Tensor self) -> (Tensor mantissa, Tensor exponent);
        /// `aten::clone`.
        ///
        /// PyTorch: `torch.ops.prims.clone`.
        clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor;
        /// `aten::add.Tensor`.
        ///
        /// PyTorch: `torch.ops.prims.add`.
        add(Tensor self, Tensor other) -> Tensor;
        /// `aten::atan2`.
        ///
        /// PyTorch: `torch.ops.prims.atan2`.
        atan2(Tensor self, Tensor other) -> Tensor;
        /// `aten::bitwise_and.Tensor`.
        ///
        /// PyTorch: `torch.ops.prims.bitwise_and`.
        bitwise_and(Tensor self, Tensor other) -> Tensor;
        /// `aten::bitwise_or.Tensor`.
        ///
        /// PyTorch: `torch.ops.prims.bitwise_or`.
        bitwise_or(Tensor self, Tensor other) -> Tensor;
        /// `aten::bitwise_xor.Tensor`.
        ///
        /// PyTorch: `torch.ops.prims.bitwise_xor`.
        bitwise_xor(Tensor self, Tensor other) -> Tensor;
        /// `aten::eq.Tensor`.
        ///
        /// PyTorch: `torch.ops.prims.eq`.
        eq(Tensor self, Tensor other) -> Tensor;
        /// `aten::fmax`.
        ///
        /// PyTorch: `torch.ops.prims.fmax`.
        fmax(Tensor self, Tensor other) -> Tensor;
        /// `aten::fmin`.
        ///
        /// PyTorch: `torch.ops.prims.fmin`.
        fmin(Tensor self, Tensor other) -> Tensor;
        /// `aten::fmod.Tensor`.
        ///
        /// PyTorch: `torch.ops.prims.fmod`.
        fmod(Tensor self, Tensor other) -> Tensor;
        /// `aten::gcd`.
        ///
        /// PyTorch: `torch.ops.prims.gcd`.
        gcd(Tensor self, Tensor other) -> Tensor;
        /// `aten::ge.Tensor`.
        ///
        /// PyTorch: `torch.ops.prims.ge`.
        ge(Tensor self, Tensor other) -> Tensor;
        /// `aten::gt.Tensor`.
        ///
        /// PyTorch: `torch.ops.prims.gt`.
        gt(Tensor self, Tensor other) -> Tensor;
        /// `aten::hypot`.
        ///
        /// PyTorch: `torch.ops.prims.hypot`.
        hypot(Tensor self, Tensor other) -> Tensor;
        /// `aten::igamma`.
        ///
        /// PyTorch: `torch.ops.prims.igamma`.
        igamma(Tensor self, Tensor other) -> Tensor;
        /// `aten::igammac`.
        ///
        /// PyTorch: `torch.ops.prims.igammac`.
        igammac(Tensor self, Tensor other) -> Tensor;
        /// `aten::le.Tensor`.
        ///
        /// PyTorch: `torch.ops.prims.le`.
        le(Tensor self, Tensor other) -> Tensor;
        /// `aten::lt.Tensor`.
        ///
        /// PyTorch: `torch.ops.prims.lt`.
        lt(Tensor self, Tensor other) -> Tensor;
        /// `aten::maximum`.
        ///
        /// PyTorch: `torch.ops.prims.maximum`.
        maximum(Tensor self, Tensor other) -> Tensor;
        /// `aten::minimum`.
        ///
        /// PyTorch: `torch.ops.prims.minimum`.
        minimum(Tensor self, Tensor other) -> Tensor;
        /// `aten::mul.Tensor`.
        ///
        /// PyTorch: `torch.ops.prims.mul`.
        mul(Tensor self, Tensor other) -> Tensor;
        /// `aten::ne.Tensor`.
        ///
        /// PyTorch: `torch.ops.prims.ne`.
        ne(Tensor self, Tensor other) -> Tensor;
        /// `aten::nextafter`.
        ///
        /// PyTorch: `torch.ops.prims.nextafter`.
        nextafter(Tensor self, Tensor other) -> Tensor;
        /// `aten::pow.Tensor.Tensor`.
        ///
        /// PyTorch: `torch.ops.prims.pow`.
        pow(Tensor self, Tensor other) -> Tensor;
        /// `aten::remainder.Tensor`.
        ///
        /// PyTorch: `torch.ops.prims.remainder`.
        remainder(Tensor self, Tensor other) -> Tensor;
        /// `aten::bitwise_left_shift.Tensor`.
        ///
        /// PyTorch: `torch.ops.prims.shift_left`.
        shift_left(Tensor self, Tensor other) -> Tensor;
        /// `aten::bitwise_right_shift.Tensor`.
        ///
        /// PyTorch: `torch.ops.prims.shift_right_arithmetic`.
        shift_right_arithmetic(Tensor self, Tensor other) -> Tensor;
        /// `aten::sub.Tensor`.
        ///
        /// PyTorch: `torch.ops.prims.sub`.
        sub(Tensor self, Tensor other) -> Tensor;
        /// `aten::special_zeta`.
        ///
        /// PyTorch: `torch.ops.prims.zeta`.
        zeta(Tensor self, Tensor other) -> Tensor;
        /// The quotient, of integers rounded towards zero.
        ///
        /// PyTorch: `torch.ops.prims.div`.
        div(Tensor self, Tensor other) -> Tensor;
        /// `aten::where.self`.
        ///
        /// PyTorch: `torch.ops.prims.where`.
        where(Tensor pred, Tensor a, Tensor b) -> Tensor;
        /// `a * b + c`. The product is rounded, as it is by PyTorch's own kernel.
        ///
        /// PyTorch: `torch.ops.prims.fma`, of its compiler Inductor; strict exports have it for `x.add_(y, alpha=tensor)`.
        fma(Tensor a, Tensor b, Tensor c) -> Tensor;
        /// `aten::as_strided`.
        ///
        /// PyTorch: `torch.ops.prims.as_strided`.
        as_strided(Tensor(a) a, SymInt[] size, SymInt[] stride, SymInt storage_offset) -> Tensor(a);
        /// `aten::as_strided_scatter`.
        ///
        /// PyTorch: `torch.ops.prims.as_strided_scatter`.
        as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride,
            SymInt storage_offset) -> Tensor;
        /// A view with more dimensions: dimension `i` becomes dimension `broadcast_dimensions[i]`,
        /// and all are expanded to `shape`.
        ///
        /// # Errors
        /// Not one number for each dimension, in ascending order and within `shape`; sizes that cannot be expanded.
        ///
        /// PyTorch: `torch.ops.prims.broadcast_in_dim`.
        broadcast_in_dim(Tensor(a) a, SymInt[] shape, int[] broadcast_dimensions) -> Tensor(a);
        /// A copy in which the dimensions from `start` to `end`, both included, are one.
        ///
        /// PyTorch: `torch.ops.prims.collapse`.
        collapse(Tensor a, int start, int end) -> Tensor;
        /// A view in which the dimensions from `start` to `end`, both included, are one.
        ///
        /// PyTorch: `torch.ops.prims.collapse_view`.
        collapse_view(Tensor(a) a, int start, int end) -> Tensor(a);
        /// `aten::conj`.
        ///
        /// PyTorch: `torch.ops.prims.conj`.
        conj(Tensor(a) a) -> Tensor(a);
        /// `aten::imag`.
        ///
        /// PyTorch: `torch.ops.prims.imag`.
        imag(Tensor(a) self) -> Tensor(a);
        /// `aten::real`.
        ///
        /// PyTorch: `torch.ops.prims.real`.
        real(Tensor(a) self) -> Tensor(a);
        /// A view in which one dimension is two, the first of which has the size `outer_length`.
        ///
        /// # Errors
        /// `outer_length` does not divide the size.
        ///
        /// PyTorch: `torch.ops.prims.split_dim`.
        split_dim(Tensor(a) a, int dim, SymInt outer_length) -> Tensor(a);
        /// `aten::squeeze.dims`.
        ///
        /// PyTorch: `torch.ops.prims.squeeze`.
        squeeze(Tensor(a) a, int[] dimensions) -> Tensor(a);
        /// `aten::permute`.
        ///
        /// PyTorch: `torch.ops.prims.transpose`.
        transpose(Tensor(a) a, int[] permutation) -> Tensor(a);
        /// `aten::alias`.
        ///
        /// PyTorch: `torch.ops.prims.view_of`.
        view_of(Tensor(a) a) -> Tensor(a);
        /// `aten::view.dtype`.
        ///
        /// PyTorch: `torch.ops.prims.view_of_dtype`.
        view_of_dtype(Tensor(a) a, ScalarType dtype) -> Tensor(a);
        /// `aten::cat`.
        ///
        /// PyTorch: `torch.ops.prims.cat`.
        cat(Tensor[] tensors, int dim) -> Tensor;
        /// A contiguous copy of other sizes.
        ///
        /// PyTorch: `torch.ops.prims.reshape`.
        reshape(Tensor a, SymInt[] shape) -> Tensor;
        /// `aten::flip`.
        ///
        /// PyTorch: `torch.ops.prims.rev`.
        rev(Tensor a, int[] dims) -> Tensor;
        /// A copy in another dtype, or in the same one.
        ///
        /// PyTorch: `torch.ops.prims.convert_element_type`.
        convert_element_type(Tensor a, ScalarType dtype) -> Tensor;
        /// A copy with these strides.
        ///
        /// PyTorch: `torch.ops.prims.copy_strided`.
        copy_strided(Tensor a, SymInt[] stride) -> Tensor;
        /// `aten::copy_`.
        ///
        /// PyTorch: `torch.ops.prims.copy_to`.
        copy_to(Tensor(a!) a, Tensor b) -> Tensor(a!);
        /// A copy on a device.
        ///
        /// PyTorch: `torch.ops.prims.device_put`.
        device_put(Tensor a, Device device, bool non_blocking=False) -> Tensor;
        /// The number of a tensor with one element.
        ///
        /// PyTorch: `torch.ops.prims.item`.
        item(Tensor a) -> Scalar;
        /// `aten::resize_`.
        ///
        /// PyTorch: `torch.ops.prims.resize`.
        resize(Tensor(a!) a, SymInt[] shape) -> Tensor(a!);
        /// The largest elements over dimensions, or over all, in `output_dtype` or in the operand's own dtype.
        ///
        /// PyTorch: `torch.ops.prims.amax`.
        amax(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor;
        /// The smallest elements over dimensions, or over all, in `output_dtype` or in the operand's own dtype.
        ///
        /// PyTorch: `torch.ops.prims.amin`.
        amin(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor;
        /// Products over dimensions, or over all, in `output_dtype` or in the operand's own dtype.
        ///
        /// PyTorch: `torch.ops.prims.prod`.
        prod(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor;
        /// Sums over dimensions, or over all, in `output_dtype` or in the operand's own dtype.
        ///
        /// PyTorch: `torch.ops.prims.sum`.
        sum(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor;
        /// Variances over dimensions, or over all.
        ///
        /// PyTorch: `torch.ops.prims.var`.
        var(Tensor inp, int[]? dims, float? correction=1, *, ScalarType? output_dtype=None) -> Tensor;
        /// The maxima over a dimension, and the sums of the exponentials of the differences from them: what a softmax needs.
        ///
        /// PyTorch: `torch.ops.prims.prepare_softmax_online`, of its compiler Inductor.
        prepare_softmax_online(Tensor a, int dim) -> (Tensor, Tensor);
        /// `aten::empty`.
        ///
        /// PyTorch: `torch.ops.prims.empty`.
        empty(SymInt[] shape, *, ScalarType dtype, Device device, bool requires_grad) -> Tensor;
        /// `aten::empty_permuted`.
        ///
        /// PyTorch: `torch.ops.prims.empty_permuted`.
        empty_permuted(SymInt[] shape, int[] physical_layout, *, ScalarType dtype, Device device,
            bool requires_grad) -> Tensor;
        /// `aten::empty_strided`.
        ///
        /// PyTorch: `torch.ops.prims.empty_strided`.
        empty_strided(SymInt[] shape, SymInt[] strides, *, ScalarType dtype, Device device,
            bool requires_grad) -> Tensor;
        /// `aten::full`.
        ///
        /// PyTorch: `torch.ops.prims.full`.
        full(SymInt[] shape, Scalar fill_value, *, ScalarType dtype, Device device,
            bool requires_grad) -> Tensor;
        /// `aten::full_like`.
        ///
        /// PyTorch: `torch.ops.prims.full_like`.
        full_like(Tensor a, Scalar fill_value, *, ScalarType dtype, Device device,
            bool requires_grad) -> Tensor;
        /// `length` numbers, from `start` on, `step` apart.
        ///
        /// # Errors
        /// Numbers beyond the range of `int64`; a step of zero.
        ///
        /// PyTorch: `torch.ops.prims.iota`.
        iota(SymInt length, *, SymInt start, SymInt step, ScalarType dtype, Device device,
            bool requires_grad) -> Tensor;
        /// `aten::scalar_tensor`.
        ///
        /// PyTorch: `torch.ops.prims.scalar_tensor`.
        scalar_tensor(Scalar s, *, ScalarType? dtype=None, Device? device=None) -> Tensor;
        /// Normally distributed numbers.
        ///
        /// PyTorch: `torch.ops.prims.normal`.
        normal(SymInt[] shape, *, Scalar mean, Scalar std, ScalarType dtype, Device device,
            bool requires_grad, Generator? generator=None) -> Tensor;
        /// Uniformly distributed numbers.
        ///
        /// PyTorch: `torch.ops.prims.uniform`.
        uniform(SymInt[] shape, *, Scalar low, Scalar high, ScalarType dtype, Device device,
            SymInt[] stride, Generator? generator=None) -> Tensor;
        /// `aten::_fft_c2c`, without normalisation.
        ///
        /// PyTorch: `torch.ops.prims.fft_c2c`.
        fft_c2c(Tensor self, *, int[] dim, bool forward) -> Tensor;
        /// `aten::_fft_c2r`, without normalisation.
        ///
        /// PyTorch: `torch.ops.prims.fft_c2r`.
        fft_c2r(Tensor self, *, int[] dim, SymInt last_dim_size) -> Tensor;
        /// `aten::_fft_r2c`, without normalisation.
        ///
        /// PyTorch: `torch.ops.prims.fft_r2c`.
        fft_r2c(Tensor self, *, int[] dim, bool onesided) -> Tensor;
        /// `aten::linalg_svd`.
        ///
        /// PyTorch: `torch.ops.prims.svd`.
        svd(Tensor A, *, bool full_matrices) -> (Tensor U, Tensor S, Tensor Vh);
        /// The maxima of windows over the last two or three dimensions, and the place of each in its window.
        ///
        /// # Errors
        /// Not one number for each dimension of the windows; sizes that are not positive.
        ///
        /// PyTorch: `torch.ops.prims._low_memory_max_pool_with_offsets`, of its compiler Inductor.
        _low_memory_max_pool_with_offsets(Tensor self, SymInt[] kernel_size, SymInt[] stride, SymInt[] padding,
            SymInt[] dilation, bool ceil_mode) -> (Tensor, Tensor);
        /// The indices into an image of the places in windows that
        /// [`_low_memory_max_pool_with_offsets`](fn@_low_memory_max_pool_with_offsets) found.
        ///
        /// # Errors
        /// Those of that operator.
        ///
        /// PyTorch: `torch.ops.prims._low_memory_max_pool_offsets_to_indices`, of its compiler Inductor.
        _low_memory_max_pool_offsets_to_indices(Tensor self, SymInt[] kernel_size, SymInt[] input_size,
            SymInt[] stride, SymInt[] padding, SymInt[] dilation) -> Tensor;
        /// The exponents of the next powers of two upwards, biased by 127, as scales of eight bits have them. Those of
        /// infinities and NaN are the largest finite one, 254.
        ///
        /// # Errors
        /// The operand is not of float32, float16 or bfloat16.
        ///
        /// PyTorch: `torch.ops.prims.inductor_cvt_e8m0_rceil`, of its compiler Inductor.
        inductor_cvt_e8m0_rceil(Tensor input) -> Tensor;
    }
}
