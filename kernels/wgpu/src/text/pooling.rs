//! The pieces of pooling.

use torch_library_gpu::text::Pooling;

pub(super) const POOLING: Pooling = Pooling {
    sliding: "fn start(d: u32, o: u32) -> i32 { return i32(o * p.stride[d]) - i32(p.padding[d]); }
fn step(d: u32) -> u32 { return p.dilation[d]; }
fn first(d: u32, o: u32) -> u32 {
    let begin = start(d, o);
    if (begin >= 0) { return u32(begin); }
    return (u32(-begin) + step(d) - 1u) / step(d) * step(d) - u32(-begin);
}
fn end(d: u32, o: u32) -> u32 {
    return u32(clamp(start(d, o) + i32((p.kernel[d] - 1u) * step(d) + 1u), 0, i32(p.image[d])));
}
fn seen_from(d: u32, i: u32) -> u32 {
    let reach = (p.kernel[d] - 1u) * step(d);
    let last = i + p.padding[d];
    return select((last - reach + p.stride[d] - 1u) / p.stride[d], 0u, last < reach);
}
fn seen_to(d: u32, i: u32) -> u32 { return min((i + p.padding[d]) / p.stride[d] + 1u, p.pooled[d]); }
// With the padding that a window covers, where it does not hang over that too.
fn padded(d: u32, o: u32) -> u32 {
    let begin = start(d, o);
    return u32(min(begin + i32(p.kernel[d]), i32(p.image[d] + p.padding[d])) - begin);
}",
    shares: "fn step(d: u32) -> u32 { return 1u; }
fn first(d: u32, o: u32) -> u32 { return o * p.image[d] / p.pooled[d]; }
fn end(d: u32, o: u32) -> u32 { return ((o + 1u) * p.image[d] + p.pooled[d] - 1u) / p.pooled[d]; }
fn seen_from(d: u32, i: u32) -> u32 { return i * p.pooled[d] / p.image[d]; }
fn seen_to(d: u32, i: u32) -> u32 {
    return min(((i + 1u) * p.pooled[d] + p.image[d] - 1u) / p.image[d], p.pooled[d]);
}",
    places: "struct Place { plane: u32, y: u32, x: u32 }
fn place_in(sizes: array<u32, 2>, n: u32) -> Place {
    return Place(n / sizes[1] / sizes[0], n / sizes[1] % sizes[0], n % sizes[1]);
}
fn covered(d: u32, o: u32) -> u32 { return max(end(d, o), first(d, o)) - first(d, o); }
fn image_at(plane: u32, y: u32, x: u32) -> u32 { return (plane * p.image[0] + y) * p.image[1] + x; }
fn pooled_at(plane: u32, y: u32, x: u32) -> u32 { return (plane * p.pooled[0] + y) * p.pooled[1] + x; }",
    by_covered: "fn divisor(y: u32, x: u32) -> f32 { return f32(max(covered(0u, y) * covered(1u, x), 1u)); }",
    by_padded: "fn divisor(y: u32, x: u32) -> f32 { return f32(padded(0u, y) * padded(1u, x)); }",
    by_number: "fn divisor(y: u32, x: u32) -> f32 { return p.divided_by; }",
    largest: "    let at = place_in(p.pooled, n);
    var best = p.least;
    var index = first(0u, at.y) * p.image[1] + first(1u, at.x);
    for (var y = first(0u, at.y); y < end(0u, at.y); y += step(0u)) {
        for (var x = first(1u, at.x); x < end(1u, at.x); x += step(1u)) {
            let value = pixel(image_at(at.plane, y, x));
            if (value > best || is_nan(value)) { best = value; index = y * p.image[1] + x; }
        }
    }
    set_y(n, best);
    set_index(n, i32(index));",
    largest_backward: "    let at = place_in(p.image, n);
    let own = i32(n % (p.image[0] * p.image[1]));
    var sum = 0.0;
    for (var y = seen_from(0u, at.y); y < seen_to(0u, at.y); y++) {
        for (var x = seen_from(1u, at.x); x < seen_to(1u, at.x); x++) {
            let place = pooled_at(at.plane, y, x);
            if (index(place) == own) { sum += grad(place); }
        }
    }
    set_y(n, sum);",
    mean: "    let at = place_in(p.pooled, n);
    var sum = 0.0;
    for (var y = first(0u, at.y); y < end(0u, at.y); y++) {
        for (var x = first(1u, at.x); x < end(1u, at.x); x++) { sum += pixel(image_at(at.plane, y, x)); }
    }
    set_y(n, sum / divisor(at.y, at.x));",
    mean_backward: "    let at = place_in(p.image, n);
    var sum = 0.0;
    for (var y = seen_from(0u, at.y); y < seen_to(0u, at.y); y++) {
        for (var x = seen_from(1u, at.x); x < seen_to(1u, at.x); x++) {
            sum += grad(pooled_at(at.plane, y, x)) / divisor(y, x);
        }
    }
    set_y(n, sum);",
};
