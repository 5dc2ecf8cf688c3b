//! Products of matrices of any strides.

use torch_library::prelude::*;
use torch_library_gpu::{Arguments, KernelBuilder, Tensors, index_of, on_meta};
use torch_library_kernels::aten;

use crate::call::{Wgpu, kernels};
use crate::product::{PLAIN, Product};
use crate::shader::Shader;

kernels! {
    super::product: mm bmm;
    super::sum_with_product: addmm baddbmm;
}

fn product(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    multiply(operator, values, [arguments.tensor(0)?, arguments.tensor(1)?], None)
}

/// `beta * self + alpha * left @ right`
fn sum_with_product(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let (Ok(beta), Ok(alpha)) = (arguments.float(3), arguments.float(4)) else { return Ok(None) };
    let this = arguments.tensor(0)?;
    if !Wgpu::is_float(this) {
        return Ok(None);
    }
    multiply(operator, values, [arguments.tensor(1)?, arguments.tensor(2)?], Some((this, beta, alpha)))
}

fn multiply(
    operator: OperatorHandle,
    values: &[Value<'_>],
    [left, right]: [&Tensor; 2],
    summand: Option<(&Tensor, f64, f64)>,
) -> Result<Option<Tensor>> {
    if !Wgpu::is_float(left) || !Wgpu::is_float(right) {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    let is_ours = meta.dtype() == DType::Float32 && meta.is_contiguous(MemoryFormat::Contiguous);
    if !is_ours || left.numel() == 0 || right.numel() == 0 || meta.numel() >= 1 << 30 {
        return Ok(None);
    }
    let result = Wgpu::unwritten(&meta, index_of(left))?;
    let [batch, rows, columns] = last_three(meta.sizes(), 1);
    let inner = left.sizes()[left.dim() - 1];
    let mut shader = Shader::new("matmul")
        .input("left_matrix", left)
        .numbers("left_strides", &last_three(left.strides(), 0))
        .input("right_matrix", right)
        .numbers("right_strides", &last_three(right.strides(), 0))
        .result("product", &result)
        .with(PLAIN)
        .with(&format!(
            "fn left_at(batch: u32, row: u32, along: u32) -> f32 {{ return left_matrix({}); }}
fn right_at(batch: u32, along: u32, column: u32) -> f32 {{ return right_matrix({}); }}",
            place("left", "row", "along"),
            place("right", "along", "column")
        ));
    shader = match summand {
        None => shader.with(&put("sum")),
        // What is not added may be no number.
        Some((_, 0.0, alpha)) => shader.float("alpha", alpha).with(&put("p.alpha * sum")),
        Some((this, beta, alpha)) => shader
            .float("beta", beta)
            .float("alpha", alpha)
            .input("own", this)
            .numbers("own_strides", &last_three(&expanded(this, meta.sizes()), 0))
            .with(&put(&format!("p.beta * own({}) + p.alpha * sum", place("own", "row", "column")))),
    };
    Product { batch, rows, columns, inner }.run(shader)?;
    Ok(Some(result))
}

fn place(name: &str, row: &str, column: &str) -> String {
    format!("batch * p.{name}_strides[0] + {row} * p.{name}_strides[1] + {column} * p.{name}_strides[2]")
}

fn put(value: &str) -> String {
    format!(
        "fn put(batch: u32, row: u32, column: u32, sum: f32) {{
    set_product((batch * p.rows + row) * p.columns + column, {value});
}}"
    )
}

/// Batch, rows and columns.
fn last_three(list: &[i64], missing: i64) -> [i64; 3] {
    let mut three = [missing; 3];
    three.iter_mut().rev().zip(list.iter().rev()).for_each(|(word, number)| *word = *number);
    three
}

/// The strides of a tensor as one of such sizes.
fn expanded(this: &Tensor, sizes: &[i64]) -> Vec<i64> {
    let missing = sizes.len() - this.dim();
    let stride = |dim: usize| match dim.checked_sub(missing) {
        Some(own) if this.sizes()[own] == sizes[dim] => this.strides()[own],
        _ => 0,
    };
    (0..sizes.len()).map(stride).collect()
}
