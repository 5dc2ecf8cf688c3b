//! The pieces of pooling.

use torch_library_gpu::text::Pooling;

pub(super) const POOLING: Pooling = Pooling {
    sliding: "__device__ inline i64 start(const Params &p, int d, i64 o) { return o * p.stride[d] - p.padding[d]; }
__device__ inline i64 step(const Params &p, int d) { return p.dilation[d]; }
__device__ inline i64 first(const Params &p, int d, i64 o) {
    i64 begin = start(p, d, o);
    return begin >= 0 ? begin : begin + (-begin + step(p, d) - 1) / step(p, d) * step(p, d);
}
__device__ inline i64 end(const Params &p, int d, i64 o) {
    return max((i64)0, min(start(p, d, o) + (p.kernel[d] - 1) * step(p, d) + 1, p.image[d]));
}
__device__ inline i64 seen_from(const Params &p, int d, i64 i) {
    i64 reach = (p.kernel[d] - 1) * step(p, d), last = i + p.padding[d];
    return last < reach ? 0 : (last - reach + p.stride[d] - 1) / p.stride[d];
}
__device__ inline i64 seen_to(const Params &p, int d, i64 i) {
    return min((i + p.padding[d]) / p.stride[d] + 1, p.pooled[d]);
}
// With the padding that a window covers, where it does not hang over that too.
__device__ inline i64 padded(const Params &p, int d, i64 o) {
    i64 begin = start(p, d, o);
    return min(begin + p.kernel[d], p.image[d] + p.padding[d]) - begin;
}",
    shares: "__device__ inline i64 step(const Params &, int) { return 1; }
__device__ inline i64 first(const Params &p, int d, i64 o) { return o * p.image[d] / p.pooled[d]; }
__device__ inline i64 end(const Params &p, int d, i64 o) {
    return ((o + 1) * p.image[d] + p.pooled[d] - 1) / p.pooled[d];
}
__device__ inline i64 seen_from(const Params &p, int d, i64 i) { return i * p.pooled[d] / p.image[d]; }
__device__ inline i64 seen_to(const Params &p, int d, i64 i) {
    return min(((i + 1) * p.pooled[d] + p.image[d] - 1) / p.image[d], p.pooled[d]);
}",
    places: "struct Place { i64 plane, y, x; };
__device__ inline Place place_in(const i64 *sizes, i64 n) {
    return Place{n / sizes[1] / sizes[0], n / sizes[1] % sizes[0], n % sizes[1]};
}
__device__ inline i64 covered(const Params &p, int d, i64 o) { return max(end(p, d, o), first(p, d, o)) - first(p, d, o); }
__device__ inline i64 image_at(const Params &p, i64 plane, i64 y, i64 x) { return (plane * p.image[0] + y) * p.image[1] + x; }
__device__ inline i64 pooled_at(const Params &p, i64 plane, i64 y, i64 x) {
    return (plane * p.pooled[0] + y) * p.pooled[1] + x;
}",
    by_covered: "__device__ inline T divisor(const Params &p, i64 y, i64 x) { return T(max(covered(p, 0, y) * covered(p, 1, x), (i64)1)); }",
    by_padded: "__device__ inline T divisor(const Params &p, i64 y, i64 x) { return T(padded(p, 0, y) * padded(p, 1, x)); }",
    by_number: "__device__ inline T divisor(const Params &p, i64 y, i64 x) { return T(p.divided_by); }",
    largest: "    Place at = place_in(p.pooled, n);
    T best = T(p.least);
    i64 index = first(p, 0, at.y) * p.image[1] + first(p, 1, at.x);
    for (i64 y = first(p, 0, at.y); y < end(p, 0, at.y); y += step(p, 0))
        for (i64 x = first(p, 1, at.x); x < end(p, 1, at.x); x += step(p, 1)) {
            T value = as<T>(p.pixel[image_at(p, at.plane, y, x)]);
            if (value > best || is_nan(value)) { best = value; index = y * p.image[1] + x; }
        }
    p.y[n] = as<R>(best);
    p.index[n] = index;",
    largest_backward: "    Place at = place_in(p.image, n);
    i64 own = n % (p.image[0] * p.image[1]);
    T sum = T(0);
    for (i64 y = seen_from(p, 0, at.y); y < seen_to(p, 0, at.y); y++)
        for (i64 x = seen_from(p, 1, at.x); x < seen_to(p, 1, at.x); x++) {
            i64 place = pooled_at(p, at.plane, y, x);
            if (p.index[place] == own) sum += as<T>(p.grad[place]);
        }
    p.y[n] = as<R>(sum);",
    mean: "    Place at = place_in(p.pooled, n);
    T sum = T(0);
    for (i64 y = first(p, 0, at.y); y < end(p, 0, at.y); y++)
        for (i64 x = first(p, 1, at.x); x < end(p, 1, at.x); x++) sum += as<T>(p.pixel[image_at(p, at.plane, y, x)]);
    p.y[n] = as<R>(T(sum / divisor(p, at.y, at.x)));",
    mean_backward: "    Place at = place_in(p.image, n);
    T sum = T(0);
    for (i64 y = seen_from(p, 0, at.y); y < seen_to(p, 0, at.y); y++)
        for (i64 x = seen_from(p, 1, at.x); x < seen_to(p, 1, at.x); x++)
            sum += as<T>(p.grad[pooled_at(p, at.plane, y, x)]) / divisor(p, y, x);
    p.y[n] = as<R>(sum);",
};
