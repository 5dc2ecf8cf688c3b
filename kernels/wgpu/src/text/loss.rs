//! The pieces of losses.

use torch_library_gpu::text::Loss;

pub(super) const LOSS: Loss = Loss {
    functions: "fn weight_of(t: i32) -> f32 {
    if (t == p.ignored) { return 0.0; }
    return weight(u32(t));
}
fn loss_of(i: u32) -> f32 {
    let t = label(i);
    if (t == p.ignored) { return 0.0; }
    return -weight(u32(t)) * x((i / p.pixels * p.classes + u32(t)) * p.pixels + i % p.pixels);
}",
    sums: "    var sums = vec2(0.0, 0.0);
    for (var i = thread; i < p.elements; i += THREADS) { sums += vec2(loss_of(i), weight_of(label(i))); }
    let sum = over_sum(sums.x, thread);
    let total = over_sum(sums.y, thread);",
    mean: "if (thread == 0u) { set_loss(row, sum / total); set_total(row, total); }",
    sum: "if (thread == 0u) { set_loss(row, sum); set_total(row, total); }",
    back_from_each: "fn back(i: u32) -> f32 { return grad(i); }",
    back_from_mean: "fn back(i: u32) -> f32 { return grad(0u) / total(0u); }",
    back_from_sum: "fn back(i: u32) -> f32 { return grad(0u); }",
    gradient: "    let i = n / p.pixels / p.classes * p.pixels + n % p.pixels;
    let t = label(i);
    var value = 0.0;
    if (t != p.ignored && u32(t) == n / p.pixels % p.classes) { value = -weight_of(t) * back(i); }
    set_y(n, value);",
};
