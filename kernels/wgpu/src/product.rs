//! Sums of products: of matrices that are stored as such, and of those that a convolution sees.

use std::fmt::Write;

use torch_library::prelude::*;

use crate::launch::THREADS;
use crate::shader::Shader;

/// A batch of products of matrices. The shader has functions for what is multiplied, `left_at(batch, row, along)` and
/// `right_at(batch, along, column)`, and one for the result, `put(batch, row, column, sum)`.
pub(crate) struct Product {
    pub(crate) batch: i64,
    pub(crate) rows: i64,
    pub(crate) columns: i64,
    /// How many products are summed.
    pub(crate) inner: i64,
}

/// Threads on a side of a workgroup, and how deep its tiles are.
const SIDE: i64 = 16;

/// From how many rows and columns on a thread computes more than one element of the result.
const LARGE: i64 = 64;

/// Matrices with fewer rows or columns leave most of a tile empty.
const THIN: i64 = 8;

impl Product {
    /// Computes all of it: by tiles, or element by element where a tile would be empty for the most part.
    pub(crate) fn run(&self, shader: Shader) -> Result<()> {
        let Product { batch, rows, columns, inner } = *self;
        let shader = shader.number("rows", rows).number("columns", columns).number("inner", inner);
        let elements = batch * rows * columns;
        if rows.min(columns) >= THIN {
            let each = if rows.min(columns) >= LARGE { 4 } else { 1 };
            let tile = |count: i64| count.div_euclid(SIDE * each) + i64::from(count % (SIDE * each) != 0);
            return shader.run(batch, (batch * tile(rows) * tile(columns)) as u64, &tiled(each));
        }
        let (place, sum) = (PLACE, "sum += left_at(batch, row, i) * right_at(batch, i, column);");
        // Few elements of many products each: a workgroup shares them.
        if inner >= 4 * i64::from(THREADS) && elements < 4096 {
            let body = format!(
                "let n = row;
    var sum = 0.0;
    {{
        {place}
        for (var i = thread; i < p.inner; i += THREADS) {{ {sum} }}
    }}
    let total = over_sum(sum, thread);"
            );
            let write = format!("if (thread == 0u) {{ {place} put(batch, row, column, total); }}");
            return shader.rows(elements, &body, &write);
        }
        let body = format!(
            "    {place}
    var sum = 0.0;
    for (var i = 0u; i < p.inner; i++) {{ {sum} }}
    put(batch, row, column, sum);"
        );
        shader.threads(elements, &body)
    }
}

/// Where the element `n` of the result is.
const PLACE: &str =
    "let column = n % p.columns; let row = n / p.columns % p.rows; let batch = n / p.columns / p.rows;";

/// A workgroup computes a square of the result, and each thread `each` by `each` elements of it, [`SIDE`] apart.
fn tiled(each: i64) -> String {
    let tile = SIDE * each;
    let (mut load, mut sums, mut multiply, mut write) =
        (String::new(), String::new(), String::new(), String::new());
    for a in 0..each {
        let _ = writeln!(
            load,
            "        left[thread.x][thread.y + {step}u] = 0.0;
        right[thread.y][thread.x + {step}u] = 0.0;
        if (is_there && top + thread.y + {step}u < p.rows && start + thread.x < p.inner) {{
            left[thread.x][thread.y + {step}u] = left_at(batch, top + thread.y + {step}u, start + thread.x);
        }}
        if (is_there && side + thread.x + {step}u < p.columns && start + thread.y < p.inner) {{
            right[thread.y][thread.x + {step}u] = right_at(batch, start + thread.y, side + thread.x + {step}u);
        }}",
            step = a * SIDE
        );
        let _ = writeln!(multiply, "            let x{a} = left[i][thread.y + {}u];", a * SIDE);
        let _ = writeln!(multiply, "            let y{a} = right[i][thread.x + {}u];", a * SIDE);
    }
    for (a, b) in (0..each).flat_map(|a| (0..each).map(move |b| (a, b))) {
        let (row, column) =
            (format!("top + thread.y + {}u", a * SIDE), format!("side + thread.x + {}u", b * SIDE));
        let _ = writeln!(sums, "    var sum{a}{b} = 0.0;");
        let _ = writeln!(multiply, "            sum{a}{b} += x{a} * y{b};");
        let _ = writeln!(
            write,
            "    if (is_there && {row} < p.rows && {column} < p.columns) {{ put(batch, {row}, {column}, sum{a}{b}); }}"
        );
    }
    format!(
        "var<workgroup> left: array<array<f32, {tile}>, {SIDE}>;
var<workgroup> right: array<array<f32, {tile}>, {SIDE}>;
@compute @workgroup_size({SIDE}, {SIDE})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_id) thread: vec3<u32>) {{
    let wide = (p.columns + {tile}u - 1u) / {tile}u;
    let high = (p.rows + {tile}u - 1u) / {tile}u;
    let number = group_number(group, groups);
    let batch = number / (wide * high);
    let top = number / wide % high * {tile}u;
    let side = number % wide * {tile}u;
    let is_there = batch < p.count;
{sums}    for (var start = 0u; start < p.inner; start += {SIDE}u) {{
{load}        workgroupBarrier();
        for (var i = 0u; i < {SIDE}u; i++) {{
{multiply}        }}
        workgroupBarrier();
    }}
{write}}}
"
    )
}
