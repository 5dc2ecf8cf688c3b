//! The pieces of cumulative sums.

use torch_library_gpu::text::Scan;

use crate::kernel::c_type;

pub(super) const SCAN: Scan = Scan {
    functions: |dtype| c_type(dtype).map(|_| ""),
    converts: true,
    short_row: "    i64 start = n / p.inner * p.elements * p.inner + n % p.inner;
    T sum = T(0);
    for (i64 i = 0; i < p.elements; i++) {
        sum += as<T>(p.x[start + i * p.inner]);
        p.y[start + i * p.inner] = as<R>(sum);
    }",
    long_row: "    __shared__ T sums[MOST_THREADS];
    i64 start = row / p.inner * p.elements * p.inner + row % p.inner, each = (p.elements + threads - 1) / threads;
    i64 first = min(thread * each, p.elements), end = min(first + each, p.elements);
    T mine = T(0);
    for (i64 i = first; i < end; i++) mine += as<T>(p.x[start + i * p.inner]);
    sums[thread] = mine;
    __syncthreads();
    T sum = T(0);
    for (u32 other = 0; other < thread; other++) sum += sums[other];",
    write: "    for (i64 i = first; i < end; i++) {
        sum += as<T>(p.x[start + i * p.inner]);
        p.y[start + i * p.inner] = as<R>(sum);
    }",
};
