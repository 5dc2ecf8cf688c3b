//! The pieces of reading, writing and adding elements by index.

use torch_library_gpu::text::{Put, Take, Within};

pub(super) const WITHIN: Within = Within {
    body: "    let i = index(n);
    if (!index_fits(n) || (i < p.low || i >= p.high) && i != p.other) { set_found(0u, 1); }",
};

pub(super) const TAKE: Take = Take {
    body: "    let place = n / p.width;
    let i = index(index_place(place));
    let which = select(u32(i), u32(i + i32(p.size)), i < 0);
    set_y(n, x((x_place(place) + which * p.step) * p.width + n % p.width));",
};

pub(super) const PUT: Put = Put {
    tensor: "",
    number: "fn source_place(n: u32) -> u32 { return 0u; }
fn source(i: u32) -> f32 { return p.number; }",
    place: "    let own = n / p.below % p.dim_size;
    let row = index_place(n) - own * p.index_step;
    let which = index(row + own * p.index_step);
    let place = y_place(n) + u32(which) * p.step;
    let from_row = source_place(n) - own * p.source_step;
",
    add: "    for (var j = 0u; j < own; j++) { if (index(row + j * p.index_step) == which) { return; } }
    var sum = y(place);
    for (var j = own; j < p.dim_size; j++) {
        if (index(row + j * p.index_step) == which) { sum += p.alpha * source(from_row + j * p.source_step); }
    }
    set_y(place, sum);",
    write: "    for (var j = own + 1u; j < p.dim_size; j++) {
        if (index(row + j * p.index_step) == which) { return; }
    }
    set_y(place, source(from_row + own * p.source_step));",
    ordered: "    let which = n / p.beside;
    let slot = u32(order(p.slots + which));
    let line = slot % p.lines + n % p.beside;
    let row = line / p.below * p.below * p.dim_size + line % p.below;
    let place = y_place(row) + slot / p.lines * p.step;
    let from_row = source_place(row);
    let end = u32(order(p.ends + which));
",
    add_ordered: "    var at = 0u;
    if (which > 0u) { at = u32(order(p.ends + which - 1u)); }
    var sum = y(place);
    for (; at < end; at++) { sum += p.alpha * source(from_row + u32(order(at)) * p.source_step); }
    set_y(place, sum);",
    write_ordered: "    set_y(place, source(from_row + u32(order(end - 1u)) * p.source_step));",
};
