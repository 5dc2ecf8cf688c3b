//! Matrix products, with any strides.

use torch_library::prelude::*;
use torch_library_gpu::{KernelBuilder, Products, Summand};

use crate::call::Wgpu;
use crate::product::{PLAIN, Product};
use crate::shader::Shader;

impl Products for Wgpu {
    fn multiplies(dtype: DType) -> bool {
        dtype == DType::Float32
    }

    fn multiply(left: &Tensor, right: &Tensor, summand: Option<Summand<'_>>, result: &Tensor) -> Result<()> {
        let [batch, rows, columns] = last_three(result.sizes(), 1);
        let inner = left.sizes()[left.dim() - 1];
        let mut shader = Shader::new("matmul")
            .input("left_matrix", left)
            .numbers("left_strides", &last_three(left.strides(), 0))
            .input("right_matrix", right)
            .numbers("right_strides", &last_three(right.strides(), 0))
            .result("product", result)
            .with(PLAIN)
            .with(&format!(
                "fn left_at(batch: u32, row: u32, along: u32) -> f32 {{ return left_matrix({}); }}
fn right_at(batch: u32, along: u32, column: u32) -> f32 {{ return right_matrix({}); }}",
                place("left", "row", "along"),
                place("right", "along", "column")
            ));
        shader = match summand {
            None => shader.with(&put("sum")),
            // With a factor of 0 the summand is not read, since it may hold NaN.
            Some(Summand { beta: 0.0, alpha, .. }) => {
                shader.float("alpha", alpha).with(&put("p.alpha * sum"))
            }
            Some(Summand { this, beta, alpha }) => shader
                .float("beta", beta)
                .float("alpha", alpha)
                .input("own", this)
                .numbers("own_strides", &last_three(&expanded(this, result.sizes()), 0))
                .with(&put(&format!("p.beta * own({}) + p.alpha * sum", place("own", "row", "column")))),
        };
        Product { batch, rows, columns, inner, is_right_looked_up: false }.run(shader)
    }
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

/// The last three entries of a list: batch, rows and columns.
fn last_three(list: &[i64], missing: i64) -> [i64; 3] {
    let mut three = [missing; 3];
    three.iter_mut().rev().zip(list.iter().rev()).for_each(|(word, number)| *word = *number);
    three
}

/// The strides of a tensor that is expanded to these sizes.
fn expanded(this: &Tensor, sizes: &[i64]) -> Vec<i64> {
    let missing = sizes.len() - this.dim();
    let stride = |dim: usize| match dim.checked_sub(missing) {
        Some(own) if this.sizes()[own] == sizes[dim] => this.strides()[own],
        _ => 0,
    };
    (0..sizes.len()).map(stride).collect()
}
