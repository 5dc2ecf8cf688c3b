// Definitions for the host's compiler of what CUDA C has and C++ lacks; it precedes the source of a kernel. Mathematical
// functions are declared by hand, since headers take longer to read than kernels.

#define __global__
#define __device__
#define __shared__ static
#define __restrict__ __restrict
#define __forceinline__ inline
#define __launch_bounds__(...)

struct dim3 { unsigned x, y, z; };
extern "C" { dim3 threadIdx, blockIdx, blockDim, gridDim; void (*emulated_barrier)(); }
inline void __syncthreads() { emulated_barrier(); }

extern "C" {
#define BOTH(name) double name(double); float name##f(float);
BOTH(exp) BOTH(log) BOTH(sqrt) BOTH(sin) BOTH(cos) BOTH(tan) BOTH(tanh) BOTH(floor) BOTH(ceil) BOTH(trunc) BOTH(erf)
BOTH(erfc) BOTH(expm1) BOTH(log1p) BOTH(log2) BOTH(log10) BOTH(exp2) BOTH(sinh) BOTH(cosh) BOTH(asin) BOTH(acos) BOTH(atan)
BOTH(asinh) BOTH(acosh) BOTH(atanh) BOTH(fabs) BOTH(lgamma) BOTH(rint)
#undef BOTH
double fma(double, double, double); float fmaf(float, float, float);
double pow(double, double); float powf(float, float);
double fmod(double, double); float fmodf(float, float);
double atan2(double, double); float atan2f(float, float);
double copysign(double, double); float copysignf(float, float);
double hypot(double, double); float hypotf(float, float);
double nextafter(double, double); float nextafterf(float, float);
void *memcpy(void *, const void *, unsigned long);
}
#define SHORT(name) inline float name(float x) { return name##f(x); }
SHORT(exp) SHORT(log) SHORT(sqrt) SHORT(sin) SHORT(cos) SHORT(tan) SHORT(tanh) SHORT(floor) SHORT(ceil) SHORT(trunc) SHORT(erf)
SHORT(erfc) SHORT(expm1) SHORT(log1p) SHORT(log2) SHORT(log10) SHORT(exp2) SHORT(sinh) SHORT(cosh) SHORT(asin) SHORT(acos)
SHORT(atan) SHORT(asinh) SHORT(acosh) SHORT(atanh) SHORT(fabs) SHORT(lgamma) SHORT(rint)
#undef SHORT
inline float fma(float a, float b, float c) { return fmaf(a, b, c); }
inline float pow(float a, float b) { return powf(a, b); }
inline float fmod(float a, float b) { return fmodf(a, b); }
inline float atan2(float a, float b) { return atan2f(a, b); }
inline float copysign(float a, float b) { return copysignf(a, b); }
inline float hypot(float a, float b) { return hypotf(a, b); }
inline float nextafter(float a, float b) { return nextafterf(a, b); }
inline float abs(float x) { return fabsf(x); }
inline double abs(double x) { return fabs(x); }
inline int abs(int x) { return x < 0 ? int(0u - unsigned(x)) : x; }
inline long long abs(long long x) { return x < 0 ? (long long)(0ull - (unsigned long long)x) : x; }
template <class A> inline A max(A a, A b) { return a < b ? b : a; }
template <class A> inline A min(A a, A b) { return b < a ? b : a; }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned long long)a * b >> 32; }
inline unsigned __float_as_uint(float x) { unsigned bits; memcpy(&bits, &x, sizeof bits); return bits; }
inline float __uint_as_float(unsigned bits) { float x; memcpy(&x, &bits, sizeof x); return x; }
inline unsigned long long __double_as_longlong(double x) { unsigned long long bits; memcpy(&bits, &x, sizeof bits); return bits; }
inline double __longlong_as_double(long long bits) { double x; memcpy(&x, &bits, sizeof x); return x; }
inline double sinpi(double x) { return sin(3.14159265358979323846 * x); }
inline float sinpi(float x) { return (float)sinpi((double)x); }
