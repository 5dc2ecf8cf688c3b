//! Batched matrix products, of stored matrices and of the implicit ones of convolutions.

use std::fmt::Write;

use torch_library::prelude::*;
use torch_library_gpu::KernelBuilder;

use crate::launch::THREADS;
use crate::shader::Shader;

/// A batch of matrix products. The shader has functions for the operands, `left_at(batch, row, along)` and `right_at(batch,
/// along, column)`, and one for the result, `put(batch, row, column, sum)`.
///
/// Values that operands derive from the numbers `along` and `column` are computed once for all elements with that number,
/// by `along_at(number)` and `column_at(number)`, and have the types `Along` and `Column`; with [`PLAIN`] they are the
/// numbers themselves.
pub(crate) struct Product {
    pub(crate) batch: i64,
    pub(crate) rows: i64,
    pub(crate) columns: i64,
    /// The number of products that are summed.
    pub(crate) inner: i64,
    /// Whether reading an element of the right operand takes more than a load.
    pub(crate) is_right_looked_up: bool,
}

/// The definitions for operands that only need the numbers of rows and columns.
pub(crate) const PLAIN: &str = "alias Along = u32;
alias Column = u32;
fn along_at(number: u32) -> u32 { return number; }
fn column_at(number: u32) -> u32 { return number; }";

/// Matrices with fewer rows or columns than this leave most of a tile empty.
const THIN: i64 = 8;

impl Product {
    /// Computes all products: by tiles, or element by element if tiles would be mostly empty.
    pub(crate) fn run(&self, shader: Shader) -> Result<()> {
        let Product { batch, rows, columns, inner, .. } = *self;
        let shader = shader.number("rows", rows).number("columns", columns).number("inner", inner);
        let elements = batch * rows * columns;
        if rows.min(columns) >= THIN {
            let tile = self.tile();
            let tiles = |count: i64, each: i64| (count + each - 1) / each;
            let groups = batch * tiles(rows, tile.rows()) * tiles(columns, tile.columns());
            return shader.run(batch, groups as u64, &tile.source());
        }
        let sum = "let along = along_at(i);
            sum += left_at(batch, row, along) * right_at(batch, along, column);";
        // For few elements with many products each, a workgroup computes each element.
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

/// The row and column of element `n` of the result.
const PLACE: &str = "let column_number = n % p.columns;
    let row = n / p.columns % p.rows;
    let batch = n / p.columns / p.rows;";

/// The tile that a workgroup computes. Its threads form `down` rows of `across` threads; each computes `high` adjacent rows
/// of `wide` columns, which are `across` apart.
///
/// Elements of the left operand are shared: all threads of a row read the same ones, four at once, and those on one side of
/// them. Those of the right operand belong to one thread of a row, which holds them while it needs them.
struct Tile {
    high: i64,
    wide: i64,
    down: i64,
    across: i64,
}

/// The number of products of each element that are summed between two barriers.
const DEEP: i64 = 16;

impl Product {
    fn tile(&self) -> Tile {
        let (across, down) = match self.columns {
            64.. => (64, 1),
            32.. => (32, 2),
            _ => (16, 4),
        };
        let wide = match self.columns {
            256.. => 4,
            128.. => 2,
            _ => 1,
        };
        let tile = Tile { high: 8, wide, down, across };
        if self.is_right_looked_up && self.rows >= 32 {
            // Each element of the right operand is looked up once for all rows of a tile.
            return Tile { high: 32, wide: wide.min(2), ..tile };
        }
        // If there are enough elements, larger tiles read less.
        if self.columns >= 1024 && self.batch * self.rows * self.columns >= 1 << 22 {
            return Tile { high: 16, across: 256, ..tile };
        }
        tile
    }
}

impl Tile {
    fn rows(&self) -> i64 {
        self.high * self.down
    }

    fn columns(&self) -> i64 {
        self.wide * self.across
    }

    fn source(&self) -> String {
        let Tile { high, down, across, .. } = *self;
        format!(
            "var<workgroup> left: array<vec4<f32>, {shared}>;
@compute @workgroup_size({threads})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {{
    let tiles_wide = (p.columns + {tile_wide}u - 1u) / {tile_wide}u;
    let tiles_high = (p.rows + {tile_high}u - 1u) / {tile_high}u;
    let number = group_number(group, groups);
    let is_there = number / (tiles_wide * tiles_high) < p.count;
    let batch = min(number / (tiles_wide * tiles_high), p.count - 1u);
    let top = number / tiles_wide % tiles_high * {tile_high}u;
    let side = number % tiles_wide * {tile_wide}u;
    let own = top + thread / {across}u * {high}u;
    let quarters = thread / {across}u * {quarters}u;
{declarations}    for (var start = 0u; start < p.inner; start += {DEEP}u) {{
        // Four at once: a part of a vector is not written alone while others write the rest.
        for (var at = thread; at < {shared}u; at += {threads}u) {{
            let i = at % {DEEP}u;
            let quarter = at / {DEEP}u;
            let row = top + 4u * quarter;
            let along = along_at(start + i);
            let rows_there = select(0u, p.rows - min(row, p.rows), start + i < p.inner);
            var x = vec4(0.0);
            if (rows_there > 0u) {{ x.x = left_at(batch, row, along); }}
            if (rows_there > 1u) {{ x.y = left_at(batch, row + 1u, along); }}
            if (rows_there > 2u) {{ x.z = left_at(batch, row + 2u, along); }}
            if (rows_there > 3u) {{ x.w = left_at(batch, row + 3u, along); }}
            left[i * {tile_quarters}u + quarter] = x;
        }}
        workgroupBarrier();
        if (start + {DEEP}u <= p.inner) {{
{steps}        }} else {{
            for (var i = 0u; start + i < p.inner; i++) {{
{step}            }}
        }}
        workgroupBarrier();
    }}
{}}}
",
            self.writes(),
            shared = self.rows() / 4 * DEEP,
            threads = down * across,
            tile_high = self.rows(),
            tile_wide = self.columns(),
            tile_quarters = self.rows() / 4,
            quarters = high / 4,
            step = self.step(),
            steps = self.steps(),
            declarations = self.declarations(),
        )
    }

    /// Declarations of the columns of a thread, and of its sums.
    fn declarations(&self) -> String {
        let mut text = String::new();
        for b in 0..self.wide {
            let _ = writeln!(
                text,
                "    let number{b} = side + thread % {}u + {}u;
    let column{b} = column_at(min(number{b}, p.columns - 1u));",
                self.across,
                b * self.across
            );
        }
        for (a, b) in (0..self.high / 4).flat_map(|a| (0..self.wide).map(move |b| (a, b))) {
            let _ = writeln!(text, "    var sum{a}_{b} = vec4(0.0);");
        }
        text
    }

    fn writes(&self) -> String {
        let mut text = String::new();
        for (row, b) in (0..self.high).flat_map(|row| (0..self.wide).map(move |b| (row, b))) {
            let (a, part) = (row / 4, row % 4);
            let _ = writeln!(
                text,
                "    if (is_there && own + {row}u < p.rows && number{b} < p.columns) {{
        put(batch, own + {row}u, column{b}, sum{a}_{b}[{part}]);
    }}"
            );
        }
        text
    }

    /// All steps between two barriers, unrolled: compilers do not unroll the loop, which takes twice as long.
    fn steps(&self) -> String {
        let step = self.step();
        (0..DEEP).map(|i| format!("            {{ let i = {i}u;\n{step}            }}\n")).collect()
    }

    /// Adds the products number `start + i`.
    fn step(&self) -> String {
        let mut text = "                let along = along_at(start + i);\n".to_owned();
        for b in 0..self.wide {
            let _ = writeln!(text, "                let y{b} = right_at(batch, along, column{b});");
        }
        for a in 0..self.high / 4 {
            let place = format!("i * {}u + {a}u", self.rows() / 4);
            let place = if self.down == 1 { place } else { format!("{place} + quarters") };
            let _ = writeln!(text, "                let x{a} = left[{place}];");
            for b in 0..self.wide {
                let _ = writeln!(text, "                sum{a}_{b} += x{a} * y{b};");
            }
        }
        text
    }
}
