//! Loops that take many short rows together: rows that are written, moved or added to themselves meanwhile.
#![forbid(unsafe_code)]

use torch_library::Storage;
use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::harness::{allowed, attempt, count, together};

const ROWS: i64 = count(5_000, 40) as i64;

const DTYPES: [DType; 5] = [DType::Float32, DType::Float64, DType::BFloat16, DType::Int64, DType::UInt8];

fn numbers(x: &Tensor) -> Result<Vec<f64>> {
    aten::to_dtype(x, DType::Float64)?.to_vec()
}

/// A result that comes from one write throughout has equal elements.
fn assert_uniform(result: Result<Tensor>) {
    let Some(values) = allowed(result).and_then(|result| allowed(numbers(&result))) else { return };
    assert!(values.iter().all(|value| *value == values[0]), "elements of two writes, from {}", values[0]);
}

/// A row of a tensor, or a column, is added to all of it in place, also where it is another type's view of the same bytes: the
/// result must be as if from a copy, or an error.
pub(crate) fn rows_added_to_themselves() -> Result<()> {
    for width in [1, 3, 20] {
        for (dtype, offset) in DTYPES.iter().flat_map(|dtype| [0, 1, ROWS].map(|offset| (*dtype, offset))) {
            let memory = Tensor::from((0..(ROWS + 2) * width).map(|i| i % 7).collect::<Vec<_>>());
            let memory = aten::to_dtype(&memory, dtype)?;
            let whole = memory.strided_view(&[ROWS, width], &[width, 1], 0)?;
            let operands = [
                memory.strided_view(&[width], &[1], offset)?,
                memory.strided_view(&[ROWS, 1], &[width, 1], offset.min(2 * width))?,
                memory.strided_view(&[ROWS, width], &[0, 1], offset)?,
                memory.strided_view(&[ROWS, width], &[width, 1], offset.min(width))?,
            ];
            for operand in operands {
                let (before, other) = (aten::clone(&memory)?, aten::clone(&operand)?);
                let want = aten::add_Tensor(&aten::clone(&whole)?, &other)?;
                if allowed(aten::add__Tensor(&mut whole.clone(), &operand).map(drop)).is_some() {
                    assert!(aten::equal(&whole, &want)?, "{dtype} {width} {:?} from {offset}", operand.strides());
                }
                attempt(aten::copy_(&mut memory.clone(), &before).map(drop));
            }
        }
    }
    Ok(())
}

/// Calls operators on a tensor of short rows.
fn calls(x: &Tensor, width: i64) -> Result<()> {
    let row = Tensor::full(&[width], 1, x.dtype(), Device::CPU)?;
    let index = Tensor::full(&[ROWS, 1], 3, DType::Int64, Device::CPU)?;
    let wide = aten::expand(&index, &[ROWS, width])?;
    assert_uniform(aten::mul_Tensor(x, &row));
    assert_uniform(aten::flip(x, &[1]));
    assert_uniform(aten::sum_dim_IntList(x, Some(&[0])));
    assert_uniform(aten::amax::with(x).dim(&[0]).call());
    assert_uniform(aten::all_dim(x, 0));
    assert_uniform(aten::index_select(x, 1, &Tensor::from(vec![0i64; 3])));
    assert_uniform(aten::gather(x, 0, &wide));
    if x.dtype().is_floating_point() {
        assert_uniform(aten::_softmax(x, 0, false));
        assert_uniform(aten::_log_softmax(x, 0, false));
        assert_uniform(aten::mv(x, &row));
    }
    attempt(aten::argmax::with(x).dim(Some(0)).call());
    attempt(aten::topk::with(x, 1).dim(0).call().map(drop));
    let mut sums = Tensor::full(&[4, width], 0, x.dtype(), Device::CPU)?;
    attempt(aten::scatter_add_(&mut sums, 0, &wide, x).map(drop));
    attempt(aten::index_add_(&mut sums, 0, &aten::reshape(&index, &[ROWS])?, x).map(drop));
    Ok(())
}

/// Short rows are written while operators compute with them.
pub(crate) fn short_rows_written() -> Result<()> {
    for (width, dtype) in [(3, DType::Float32), (20, DType::BFloat16), (2, DType::UInt8)] {
        let x = Tensor::full(&[ROWS, width], 1, dtype, Device::CPU)?;
        let works = |_| attempt(calls(&x, width));
        together(&[&works, &works, &|round| {
            attempt(aten::fill__Scalar(&mut x.clone(), [1, 2][round % 2].into()).map(drop));
        }]);
    }
    Ok(())
}

/// Short rows get other strides and other memory while operators compute with them.
pub(crate) fn short_rows_moved() -> Result<()> {
    for width in [3, 20] {
        let x = Tensor::full(&[ROWS, width], 1.0, DType::Float32, Device::CPU)?;
        let works = |_| attempt(calls(&x, width));
        together(&[&works, &works, &|round| {
            let (sizes, mut x) = ([ROWS, width], x.clone());
            attempt(match round % 4 {
                0 => x.set_geometry(&sizes, &[1, ROWS], 0),
                1 => x.set_geometry(&sizes, &[0, 1], 1),
                2 => x.set_geometry(&[4, width], &[width, 1], 0),
                _ => x.set_storage(Storage::from_vec(vec![1f32; (ROWS * width) as usize]), &sizes, &[width, 1], 0),
            });
        }]);
    }
    Ok(())
}
