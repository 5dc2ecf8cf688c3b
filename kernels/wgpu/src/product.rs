//! Sums of products: of matrices that are stored as such, and of those that a convolution sees.

use std::fmt::Write;

use torch_library::prelude::*;
use torch_library_gpu::KernelBuilder;

use crate::launch::THREADS;
use crate::shader::Shader;

/// A batch of products of matrices. The shader has functions for what is multiplied, `left_at(batch, row, along)` and
/// `right_at(batch, along, column)`, and one for the result, `put(batch, row, column, sum)`.
///
/// What an operand makes of the numbers `along` and `column` is made once for all elements with that number: these are of
/// type `Along` and `Column`, by `along_at(number)` and `column_at(number)`; [`PLAIN`] has numbers themselves.
pub(crate) struct Product {
    pub(crate) batch: i64,
    pub(crate) rows: i64,
    pub(crate) columns: i64,
    /// How many products are summed.
    pub(crate) inner: i64,
}

/// Numbers of rows and columns are all that operands ask for.
pub(crate) const PLAIN: &str = "alias Along = u32;
alias Column = u32;
fn along_at(number: u32) -> u32 { return number; }
fn column_at(number: u32) -> u32 { return number; }";

/// Threads on a side of a workgroup, and how deep its tiles are.
const SIDE: i64 = 16;

/// How many rows or columns of a tile a thread computes, where there are so many.
fn each(count: i64) -> i64 {
    match count {
        64.. => 4,
        32.. => 2,
        _ => 1,
    }
}

/// Matrices with fewer rows or columns leave most of a tile empty.
const THIN: i64 = 8;

impl Product {
    /// Computes all of it: by tiles, or element by element where a tile would be empty for the most part.
    pub(crate) fn run(&self, shader: Shader) -> Result<()> {
        let Product { batch, rows, columns, inner } = *self;
        let shader = shader.number("rows", rows).number("columns", columns).number("inner", inner);
        let elements = batch * rows * columns;
        if rows.min(columns) >= THIN {
            let (high, wide) = (each(rows), each(columns));
            let tiles = |count: i64, each: i64| (count + SIDE * each - 1) / (SIDE * each);
            let groups = batch * tiles(rows, high) * tiles(columns, wide);
            return shader.run(batch, groups as u64, &tiled(high, wide));
        }
        let sum = "let along = along_at(i);
            sum += left_at(batch, row, along) * right_at(batch, along, column);";
        // Few elements of many products each: a workgroup shares them.
        if inner >= 4 * i64::from(THREADS) && elements < 4096 {
            let body = format!(
                "let n = row;
    var sum = 0.0;
    {{
        {PLACE}
        let column = column_at(column_number);
        for (var i = thread; i < p.inner; i += THREADS) {{ {sum} }}
    }}
    let total = over_sum(sum, thread);"
            );
            let write =
                format!("if (thread == 0u) {{ {PLACE} put(batch, row, column_at(column_number), total); }}");
            return shader.rows(elements, inner, &body, &write);
        }
        let body = format!(
            "    {PLACE}
    let column = column_at(column_number);
    var sum = 0.0;
    for (var i = 0u; i < p.inner; i++) {{ {sum} }}
    put(batch, row, column, sum);"
        );
        shader.threads(elements, &body)
    }
}

/// Where the element `n` of the result is.
const PLACE: &str = "let column_number = n % p.columns;
    let row = n / p.columns % p.rows;
    let batch = n / p.columns / p.rows;";

/// A workgroup computes a tile of the result, and each thread `high` by `wide` elements of it, [`SIDE`] apart.
fn tiled(high: i64, wide: i64) -> String {
    let (mut columns, mut load, mut sums, mut multiply, mut write) =
        (String::new(), String::new(), String::new(), String::new(), String::new());
    for a in 0..high {
        let row = format!("thread.y + {}u", a * SIDE);
        let _ = writeln!(
            load,
            "        left[thread.x][{row}] = 0.0;
        if (is_there && top + {row} < p.rows && start + thread.x < p.inner) {{
            left[thread.x][{row}] = left_at(batch, top + {row}, along_left);
        }}"
        );
        let _ = writeln!(multiply, "            let x{a} = left[i][{row}];");
    }
    for b in 0..wide {
        let column = format!("thread.x + {}u", b * SIDE);
        let _ = writeln!(columns, "    let column{b} = column_at(side + {column});");
        let _ = writeln!(
            load,
            "        right[thread.y][{column}] = 0.0;
        if (is_there && side + {column} < p.columns && start + thread.y < p.inner) {{
            right[thread.y][{column}] = right_at(batch, along_right, column{b});
        }}"
        );
        let _ = writeln!(multiply, "            let y{b} = right[i][{column}];");
    }
    for (a, b) in (0..high).flat_map(|a| (0..wide).map(move |b| (a, b))) {
        let (row, column) = (format!("top + thread.y + {}u", a * SIDE), format!("thread.x + {}u", b * SIDE));
        let _ = writeln!(sums, "    var sum{a}{b} = 0.0;");
        let _ = writeln!(multiply, "            sum{a}{b} += x{a} * y{b};");
        let _ = writeln!(
            write,
            "    if (is_there && {row} < p.rows && side + {column} < p.columns) {{ put(batch, {row}, column{b}, sum{a}{b}); }}"
        );
    }
    format!(
        "var<workgroup> left: array<array<f32, {tile_high}>, {SIDE}>;
var<workgroup> right: array<array<f32, {tile_wide}>, {SIDE}>;
@compute @workgroup_size({SIDE}, {SIDE})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_id) thread: vec3<u32>) {{
    let wide = (p.columns + {tile_wide}u - 1u) / {tile_wide}u;
    let high = (p.rows + {tile_high}u - 1u) / {tile_high}u;
    let number = group_number(group, groups);
    let batch = number / (wide * high);
    let top = number / wide % high * {tile_high}u;
    let side = number % wide * {tile_wide}u;
    let is_there = batch < p.count;
{columns}{sums}    for (var start = 0u; start < p.inner; start += {SIDE}u) {{
        let along_left = along_at(start + thread.x);
        let along_right = along_at(start + thread.y);
{load}        workgroupBarrier();
        for (var i = 0u; i < {SIDE}u; i++) {{
{multiply}        }}
        workgroupBarrier();
    }}
{write}}}
",
        tile_high = SIDE * high,
        tile_wide = SIDE * wide,
    )
}
