//! Reductions: sums, means, products, extremes, all and any. A block goes through a row, or a thread where rows lie side by
//! side; few long rows are cut into parts, which are reduced in turn.

use torch_library::prelude::*;
use torch_library_gpu::{KernelBuilder, Layout, Tensors, computed, index_of, on_meta};
use torch_library_kernels::aten;

use crate::call::{Cuda, kernels};
use crate::kernel::{Kernel, THREADS};

kernels! {
    super::reduction: sum sum_dim_IntList mean mean_dim amax amin prod prod_dim_int all all_dim all_dims any any_dim any_dims;
}

/// What becomes of a row of `length` elements: an expression of `a` and `b`, and one of `total`.
struct Fold {
    name: &'static str,
    /// What an element of no row is; nothing where the first of the row is taken instead.
    start: Option<&'static str>,
    join: &'static str,
    finish: &'static str,
}

const FOLDS: [Fold; 7] = [
    Fold { name: "sum", start: Some("A(0)"), join: "a + b", finish: "total" },
    Fold { name: "mean", start: Some("A(0)"), join: "a + b", finish: "total / A(p.length)" },
    Fold { name: "prod", start: Some("A(1)"), join: "a * b", finish: "total" },
    Fold { name: "amax", start: None, join: "larger(b, a)", finish: "total" },
    Fold { name: "amin", start: None, join: "smaller(b, a)", finish: "total" },
    Fold { name: "all", start: Some("A(1)"), join: "A(a && b)", finish: "total" },
    Fold { name: "any", start: Some("A(0)"), join: "A(a || b)", finish: "total" },
];

/// Rows of so many elements are cut, where there are few.
const LONG: i64 = 1 << 14;

fn reduction(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    let Some(fold) = FOLDS.iter().find(|fold| fold.name == operator.name()) else { return Ok(None) };
    let Some(this) = arguments.first().and_then(Value::as_tensor).filter(|this| Cuda::is_here(this)) else {
        return Ok(None);
    };
    if this.numel() == 0 {
        return Ok(None);
    }
    let meta = on_meta(operator, arguments)?;
    let listed: &[i64] = match arguments.get(1) {
        Some(Value::Ints(dims)) => dims,
        Some(Value::Int(dim)) => std::slice::from_ref(dim),
        _ => &[],
    };
    let dim = (this.dim() as i64).max(1);
    let is_reduced = |at: &usize| listed.is_empty() || listed.iter().any(|d| d.rem_euclid(dim) == *at as i64);
    let (reduced, kept): (Vec<usize>, Vec<usize>) = (0..this.dim()).partition(is_reduced);
    let length: i64 = reduced.iter().map(|at| this.sizes()[*at]).product();
    // The type of what is summed; all and any are of bools, whatever they are found in.
    let kind = match fold.name {
        "all" | "any" => DType::Bool,
        "amax" | "amin" => computed(this.dtype()),
        _ => computed(meta.dtype()),
    };
    let is_ours =
        crate::kernel::c_type(meta.dtype()).is_some() && meta.is_contiguous(MemoryFormat::Contiguous);
    if !is_ours || (fold.name == "mean" && !kind.is_floating_point()) {
        return Ok(None);
    }
    let Some((layout, own)) = Layout::rows(this, &kept, &reduced, &[this]) else { return Ok(None) };
    let result = Cuda::unwritten(&meta, index_of(this))?;
    let rows = meta.numel();
    let part = Part { fold, kind, layout: &layout, own, length };
    if rows <= 64 && length >= LONG {
        let parts = (length / (4 * i64::from(THREADS))).clamp(1, 256);
        let found = Cuda::compact(&[rows, parts], kind, index_of(this))?;
        part.run(this, &found, parts, "total")?;
        let lines = Layout::rows(&found, &[0], &[1], &[&found]);
        let Some((layout, own)) = lines else { return Ok(None) };
        let rest = Part { layout: &layout, own, length: parts, ..part };
        rest.run_with(&found, &result, 1, fold.finish, length)?;
    } else {
        part.run(this, &result, 1, fold.finish)?;
    }
    Ok(Some(result))
}

struct Part<'a> {
    fold: &'a Fold,
    /// The type that is computed with.
    kind: DType,
    layout: &'a Layout,
    /// How many of the sizes count rows.
    own: usize,
    length: i64,
}

impl Part<'_> {
    fn run(&self, this: &Tensor, result: &Tensor, parts: i64, finish: &str) -> Result<()> {
        self.run_with(this, result, parts, finish, self.length)
    }

    /// Reduces each row in as many parts; a mean is over `whole` elements.
    fn run_with(&self, this: &Tensor, result: &Tensor, parts: i64, finish: &str, whole: i64) -> Result<()> {
        let Part { fold, kind, layout, own, length, .. } = self;
        let element = match fold.name {
            "all" | "any" => "as<bool>(p.x[AT])",
            _ => "as<A>(p.x[AT])",
        };
        let strides = &layout.inputs[0].strides;
        let kernel = Kernel::new("reduction")
            .type_named("A", *kind)
            .type_named("R", result.dtype())
            .numbers("own_sizes", &layout.sizes[..*own])
            .numbers("own_strides", &strides[..*own])
            .numbers("sizes", &layout.sizes[*own..])
            .numbers("strides", &strides[*own..])
            .number("elements", *length)
            .number("length", whole)
            .number("parts", parts)
            .input("x", this)
            .result("y", result)
            .with(&place("own_place", "own_", *own))
            .with(&place("place", "", layout.sizes.len() - own))
            .with(&format!("__device__ inline A join(A a, A b) {{ return {}; }}", fold.join));
        let element = element.replace("AT", "start + place(p, i)");
        let rows = result.numel();
        // Rows that lie side by side, each in few steps: threads beside each other read elements beside each other.
        let lies_beside = *own > 0 && strides[own - 1] == 1 && strides.last() != Some(&1);
        if parts == 1 && (*length <= 16 || (lies_beside && rows >= 512)) {
            let first =
                fold.start.map_or_else(|| element.replace("place(p, i)", "place(p, 0)"), str::to_owned);
            let body = format!(
                "    i64 start = own_place(p, n);
    A total = {first};
    for (i64 i = 0; i < p.elements; i++) total = join(total, {element});
    p.y[n] = as<R>(A({finish}));"
            );
            return kernel.threads(rows, &body);
        }
        let first = fold
            .start
            .map_or_else(|| element.replace("place(p, i)", "place(p, min(begin, end - 1))"), str::to_owned);
        let body = format!(
            "    __shared__ A found[MOST_THREADS];
    i64 each = (p.elements + p.parts - 1) / p.parts, begin = row % p.parts * each;
    i64 end = min(begin + each, p.elements), start = own_place(p, row / p.parts);
    if (begin >= end) begin = end = p.elements;
    A mine = {first};
    for (i64 i = begin + thread; i < end; i += threads) mine = join(mine, {element});
    found[thread] = mine;
    for (u32 half = threads / 2; half > 0; half /= 2) {{
        __syncthreads();
        if (thread < half) found[thread] = join(found[thread], found[thread + half]);
    }}
    if (thread == 0) {{
        A total = found[0];
        p.y[row] = as<R>(A({finish}));
    }}"
        );
        kernel.rows(rows, length / parts, &body, "")
    }
}

/// A function that finds the place of a number in some dimensions.
fn place(name: &str, prefix: &str, dims: usize) -> String {
    let mut body = String::new();
    for dim in (0..dims).rev() {
        body += &match dim {
            0 => format!("    at += rest * p.{prefix}strides[0];\n"),
            _ => format!(
                "    at += rest % p.{prefix}sizes[{dim}] * p.{prefix}strides[{dim}];\n    rest /= p.{prefix}sizes[{dim}];\n"
            ),
        };
    }
    format!(
        "__device__ inline i64 {name}(const Params &p, i64 rest) {{\n    i64 at = 0;\n{body}    return at;\n}}"
    )
}
