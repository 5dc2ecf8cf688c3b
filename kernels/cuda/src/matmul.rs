//! Matrix products: by cuBLAS, or by tiles if it is not installed or does not support the type.
#![expect(unsafe_code, reason = "cuBLAS is given addresses")]

use torch_library::prelude::*;
use torch_library_gpu::{KernelBuilder, Products, Summand, Tensors};
use torch_library_kernels::aten;

use crate::blas::{self, Gemm, Operand};
use crate::call::Cuda;
use crate::kernel::Kernel;
use crate::memory::Memory;

impl Products for Cuda {
    fn multiplies(dtype: DType) -> bool {
        dtype != DType::Bool
    }

    fn multiply(left: &Tensor, right: &Tensor, summand: Option<Summand<'_>>, result: &Tensor) -> Result<()> {
        let Some(Summand { this, beta, alpha }) = summand else {
            return matrices(left, right, result, 1.0, 0.0);
        };
        if beta != 0.0 {
            aten::copy_(&mut result.clone(), &aten::expand(this, result.sizes())?)?;
        }
        matrices(left, right, result, alpha, beta)
    }
}

/// `result = alpha * left @ right + beta * result`, for tensors of one type with two dimensions, or three for a batch; the
/// rows of the result are contiguous.
pub(crate) fn matrices(left: &Tensor, right: &Tensor, result: &Tensor, alpha: f64, beta: f64) -> Result<()> {
    match blas::has(left.dtype()) {
        true => by_library(left, right, result, alpha, beta),
        false => by_tiles(left, right, result, alpha, beta),
    }
}

/// The sizes and strides of batch, rows and columns.
fn shape(tensor: &Tensor) -> [[i64; 2]; 3] {
    let dims = tensor.sizes().iter().zip(tensor.strides());
    let mut shape = [[1, 0]; 3];
    shape.iter_mut().rev().zip(dims.rev()).for_each(|(slot, (size, stride))| *slot = [*size, *stride]);
    shape
}

/// A matrix as cuBLAS may see it: column-major, where its columns are our rows, or transposed; `None` if neither rows nor
/// columns are contiguous.
fn operand(tensor: &Tensor) -> Option<Operand> {
    let [[_, step], [rows, down], [columns, along]] = shape(tensor);
    let has_lines = |count: i64, step: i64, length: i64, within: i64| {
        (length == 1 || within == 1) && (count == 1 || step >= length.max(1))
    };
    let (is_turned, leading) = if has_lines(rows, down, columns, along) {
        (false, if rows == 1 { columns.max(1) } else { down })
    } else if has_lines(columns, along, rows, down) {
        (true, if columns == 1 { rows.max(1) } else { along })
    } else {
        return None;
    };
    Some(Operand { address: 0, is_turned, leading: i32::try_from(leading).ok()?, step })
}

fn by_library(left: &Tensor, right: &Tensor, result: &Tensor, alpha: f64, beta: f64) -> Result<()> {
    let [[batch, _], [rows, _], [columns, _]] = shape(result);
    let [_, _, [inner, _]] = shape(left);
    let numbers = [rows, columns, inner, batch].map(i32::try_from);
    let [Ok(rows), Ok(columns), Ok(inner), Ok(batch)] = numbers else {
        return by_tiles(left, right, result, alpha, beta);
    };
    let [left, right] = [left, right].map(|tensor| match operand(tensor) {
        Some(_) => Ok(tensor.clone()),
        None => Cuda::contiguous(tensor),
    });
    let (left, right) = (left?, right?);
    let (Some(of_left), Some(of_right), Some(of_result)) = (operand(&left), operand(&right), operand(result))
    else {
        return by_tiles(&left, &right, result, alpha, beta);
    };
    let (mut operands, mut storages) = (Vec::new(), Vec::new());
    for (tensor, operand) in [(&left, of_left), (&right, of_right), (result, of_result)] {
        let storage = tensor.storage().clone();
        let offset = tensor.storage_offset().cast_unsigned() * tensor.dtype().size() as u64;
        operands.push(Operand { address: Memory::of(&storage)?.address() + offset, ..operand });
        storages.push(storage);
    }
    let memory = Memory::of(&storages[2])?;
    let gpu = memory.gpu();
    let (stream, id) = gpu.current()?;
    for storage in &storages {
        let used = Memory::of(storage)?;
        ensure!(std::sync::Arc::ptr_eq(used.gpu(), gpu), Device, "matrices on two devices");
        used.used_by(id);
    }
    // A row-major matrix here is its transpose in column-major order there, so the product is that of the transposes in
    // reverse order.
    let (dtype, a, b, c) = (left.dtype(), operands[1], operands[0], operands[2]);
    let gemm = Gemm { dtype, rows: columns, columns: rows, inner, batch, a, b, c, alpha, beta };
    // SAFETY: sizes and strides are those of tensors, whose elements are in their storages; freed memory is not reused
    // before this stream, or the streams that the block lists, are done. The result is contiguous.
    unsafe { gemm.run(gpu, &stream) }
}

/// The number of threads on a side of a block.
const SIDE: u32 = 16;

fn by_tiles(left: &Tensor, right: &Tensor, result: &Tensor, alpha: f64, beta: f64) -> Result<()> {
    let dtype = result.dtype();
    let [[batch, _], [rows, _], [columns, _]] = shape(result);
    let [_, _, [inner, _]] = shape(left);
    let strides = |tensor: &Tensor| shape(tensor).map(|[_, stride]| stride);
    let kernel = Kernel::new("product of matrices")
        .of(dtype)
        .numbers("sizes", &[rows, columns, inner])
        .numbers("left_strides", &strides(left))
        .numbers("right_strides", &strides(right))
        .numbers("strides", &strides(result))
        .float("alpha", alpha)
        .float("beta", beta)
        .input("left", left)
        .input("right", right)
        .result("y", result);
    let side = i64::from(SIDE);
    let tiles = |count: i64| count.cast_unsigned().div_ceil(side.cast_unsigned());
    kernel.run(batch, batch.cast_unsigned() * tiles(rows) * tiles(columns), [SIDE, SIDE], TILE)
}

const TILE: &str = "    __shared__ T left_tile[16][17], right_tile[16][17];
    const i64 rows = p.sizes[0], columns = p.sizes[1], inner = p.sizes[2];
    i64 wide = (columns + 15) / 16, high = (rows + 15) / 16, number = blockIdx.x;
    i64 batch = number / (wide * high);
    u32 x = threadIdx.x, y = threadIdx.y;
    i64 row = number / wide % high * 16 + y, column = number % wide * 16 + x;
    T sum = T(0);
    for (i64 start = 0; start < inner; start += 16) {
        bool has_left = row < rows && start + x < inner, has_right = column < columns && start + y < inner;
        left_tile[y][x] = has_left
            ? as<T>(p.left[batch * p.left_strides[0] + row * p.left_strides[1] + (start + x) * p.left_strides[2]]) : T(0);
        right_tile[y][x] = has_right
            ? as<T>(p.right[batch * p.right_strides[0] + (start + y) * p.right_strides[1] + column * p.right_strides[2]])
            : T(0);
        __syncthreads();
        for (u32 i = 0; i < 16; i++) sum += left_tile[y][i] * right_tile[i][x];
        __syncthreads();
    }
    if (row < rows && column < columns) {
        i64 at = batch * p.strides[0] + row * p.strides[1] + column * p.strides[2];
        T old = p.beta == 0.0 ? T(0) : T(p.beta) * as<T>(p.y[at]);
        p.y[at] = as<R>(T(T(p.alpha) * sum + old));
    }";
