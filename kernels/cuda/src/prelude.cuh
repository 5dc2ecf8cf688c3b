// The prelude of all kernels: short names for types, 16-bit floats, and the functions that expressions use.

typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;
typedef signed char i8;

const u32 MOST_THREADS = 256;

template <class A> __device__ inline A select(A no, A yes, bool is) { return is ? yes : no; }
__device__ inline bool is_nan(float x) { return x != x; }
__device__ inline bool is_nan(double x) { return x != x; }
template <class A> __device__ inline bool is_nan(A) { return false; }
__device__ inline bool is_finite(double x) { return x - x == 0.0; }

// An index, of which the compiler must keep this copy: another stream may write the tensor of indices while a kernel
// runs, so an index that was compared must not be read again for the access.
__device__ inline i64 once(i64 index) {
#ifdef __CUDACC__
    asm volatile("" : "+l"(index));
#else
    asm volatile("" : "+r"(index)); // the emulator's compiler
#endif
    return index;
}
__device__ inline bool is_below(i64 index, i64 size) { return (u64)index < (u64)size; }

// 16-bit floats are stored as such, and computed as float. Conversions to them round to nearest, ties to even.
struct f16 {
    unsigned short bits;
    __device__ f16() {}
    __device__ f16(float x) {
        u32 word = __float_as_uint(x), sign = (word >> 16) & 0x8000u, size = word & 0x7fffffffu, found;
        if (size > 0x7f800000u) found = 0x7e00u;
        else if (size >= 0x477ff000u) found = 0x7c00u;
        else if (size >= 0x38800000u) found = (size - 0x38000000u + 0xfffu + ((size >> 13) & 1u)) >> 13;
        else if (size < 0x33000000u) found = 0u;
        else {
            // Subnormal numbers: integral multiples of the smallest.
            u32 digits = (size & 0x7fffffu) | 0x800000u, shift = 126u - (size >> 23), kept = digits >> shift;
            u32 rest = digits & ((1u << shift) - 1u), middle = 1u << (shift - 1u);
            found = kept + (rest > middle || (rest == middle && (kept & 1u)) ? 1u : 0u);
        }
        bits = (unsigned short)(sign | found);
    }
    __device__ operator float() const {
        u32 sign = (bits & 0x8000u) << 16, size = bits & 0x7fffu;
        if (size >= 0x7c00u) return __uint_as_float(sign | 0x7f800000u | ((size & 0x3ffu) << 13));
        if (size >= 0x400u) return __uint_as_float(sign | ((size << 13) + 0x38000000u));
        return __uint_as_float(sign | __float_as_uint((float)size * 5.9604644775390625e-8f));
    }
};
struct bf16 {
    unsigned short bits;
    __device__ bf16() {}
    __device__ bf16(float x) {
        u32 word = __float_as_uint(x);
        bool is_none = (word & 0x7fffffffu) > 0x7f800000u;
        bits = (unsigned short)(is_none ? (word >> 16) | 0x40u : (word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
    }
    __device__ operator float() const { return __uint_as_float((u32)bits << 16); }
};

// Conversions of elements to another type. Floats out of range become the smallest integer of the type, as on x86.
template <class To, class From> struct Conversion {
    __device__ static To of(From x) { return (To)x; }
};
__device__ inline i64 whole(double x) {
    return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (i64)x : (i64)(1ull << 63);
}
__device__ inline int whole_int(double x) { return x > -2147483649.0 && x < 2147483648.0 ? (int)x : (int)(1u << 31); }
#define FROM_FLOAT(From) \
    template <> struct Conversion<i64, From> { __device__ static i64 of(From x) { return whole((double)(x)); } }; \
    template <> struct Conversion<int, From> { __device__ static int of(From x) { return whole_int((double)(x)); } }; \
    template <> struct Conversion<short, From> { __device__ static short of(From x) { return (short)whole_int((double)(x)); } }; \
    template <> struct Conversion<i8, From> { __device__ static i8 of(From x) { return (i8)whole_int((double)(x)); } }; \
    template <> struct Conversion<u8, From> { __device__ static u8 of(From x) { return (u8)whole((double)(x)); } }; \
    template <> struct Conversion<bool, From> { __device__ static bool of(From x) { return (double)(x) != 0.0; } };
FROM_FLOAT(float)
FROM_FLOAT(double)
FROM_FLOAT(f16)
FROM_FLOAT(bf16)
template <class To, class From> __device__ inline To as(From x) { return Conversion<To, From>::of(x); }

// The functions of expressions, by the names that these use.
template <class A> __device__ inline A inverseSqrt(A x) { return A(1) / sqrt(x); }
template <class A> __device__ inline A divided(A a, A b) { return a / b; }
template <class A> __device__ inline A bounded_tanh(A x) { return tanh(x); }
template <class A> __device__ inline A logistic(A x) { return A(1) / (A(1) + exp(-x)); }
template <class A> __device__ inline A within(A x, A low, A high) { return x < low ? low : x > high ? high : x; }
template <class A> __device__ inline A gelu_tanh_slope(A x) {
    const A scale = A(0.7978845608028654), cube = A(0.044715);
    A t = tanh(scale * (x + cube * x * x * x));
    return A(0.5) * (A(1) + t) + A(0.5) * x * (A(1) - t * t) * scale * (A(1) + A(3) * cube * x * x);
}
template <class A> __device__ inline A mish_slope(A x) {
    A t = tanh(log1p(exp(x)));
    return t + x * logistic(x) * (A(1) - t * t);
}
template <class A> __device__ inline A larger(A a, A b) { return a > b || is_nan(a) ? a : b; }
template <class A> __device__ inline A smaller(A a, A b) { return a < b || is_nan(a) ? a : b; }

// Functions of all threads of a block, whose number is a power of two.
template <class A> __device__ inline A over_sum(A mine) {
    __shared__ A parts[MOST_THREADS];
    __syncthreads();
    parts[threadIdx.x] = mine;
    for (u32 half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) parts[threadIdx.x] = parts[threadIdx.x] + parts[threadIdx.x + half];
    }
    __syncthreads();
    return parts[0];
}
template <class A> __device__ inline A over_max(A mine) {
    __shared__ A parts[MOST_THREADS];
    __syncthreads();
    parts[threadIdx.x] = mine;
    for (u32 half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) parts[threadIdx.x] = larger(parts[threadIdx.x], parts[threadIdx.x + half]);
    }
    __syncthreads();
    return parts[0];
}
