//! Matrix products by cuBLAS, if it is installed.
#![expect(unsafe_code, reason = "the library's functions take handles and addresses")]

use std::ffi::c_void;
use std::sync::{OnceLock, PoisonError};

use cudarc::cublas::sys::{self, cublasStatus_t};
use torch_library::prelude::*;

use crate::driver::Stream;
use crate::gpu::Gpu;

/// A cuBLAS handle, for one device.
pub(crate) struct Blas(sys::cublasHandle_t);

// SAFETY: a handle may be used by any thread, but by only one at a time: it is behind a lock.
unsafe impl Send for Blas {}

/// A matrix as cuBLAS sees it: column-major, or transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand {
    pub(crate) address: u64,
    pub(crate) is_turned: bool,
    /// The distance from one column to the next.
    pub(crate) leading: i32,
    /// The distance from one matrix of a batch to the next.
    pub(crate) step: i64,
}

/// `c = alpha * a @ b + beta * c`, for a batch of column-major matrices; `c` has `rows` and `columns`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gemm {
    pub(crate) dtype: DType,
    pub(crate) rows: i32,
    pub(crate) columns: i32,
    pub(crate) inner: i32,
    pub(crate) batch: i32,
    pub(crate) a: Operand,
    pub(crate) b: Operand,
    pub(crate) c: Operand,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
}

/// Whether cuBLAS is installed, and has products of this type.
pub(crate) fn has(dtype: DType) -> bool {
    static IS_THERE: OnceLock<bool> = OnceLock::new();
    // SAFETY: loading the library runs its initialisers, which may run at any time; the user who installed the library vouches
    // for that.
    let is_there = *IS_THERE.get_or_init(|| unsafe { sys::is_culib_present() });
    is_there && kind(dtype).is_some()
}

fn kind(dtype: DType) -> Option<sys::cudaDataType> {
    Some(match dtype {
        DType::Float32 => sys::cudaDataType::CUDA_R_32F,
        DType::Float64 => sys::cudaDataType::CUDA_R_64F,
        DType::Float16 => sys::cudaDataType::CUDA_R_16F,
        DType::BFloat16 => sys::cudaDataType::CUDA_R_16BF,
        _ => return None,
    })
}

fn outcome(status: cublasStatus_t, doing: &str) -> Result<()> {
    match status {
        cublasStatus_t::CUBLAS_STATUS_SUCCESS => Ok(()),
        cublasStatus_t::CUBLAS_STATUS_ALLOC_FAILED => {
            bail!(OutOfMemory, "cuBLAS had no memory to {doing}\n  help: `empty_cache` returns unused memory")
        }
        failed => bail!(Device, "cuBLAS could not {doing}: {failed:?}"),
    }
}

impl Gemm {
    /// Enqueues the product on a stream of a device.
    ///
    /// # Safety
    /// - The matrices and `c` are in memory of the device that stays allocated until the stream is done, and no two elements
    ///   of `c` share a place.
    pub(crate) unsafe fn run(&self, gpu: &Gpu, stream: &Stream) -> Result<()> {
        let Some(kind) = kind(self.dtype) else { bail!(Internal, "there is no product of {}", self.dtype) };
        let _entered = gpu.context.enter()?;
        let mut slot = gpu.blas.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            let mut handle = std::ptr::null_mut();
            // SAFETY: a context is current, and `handle` outlives the call.
            outcome(unsafe { sys::cublasCreate_v2(&raw mut handle) }, "start")?;
            *slot = Some(Blas(handle));
        }
        let Some(Blas(handle)) = *slot else { return Ok(()) };
        // SAFETY: the handle was created, and no other thread has it as long as the lock is held; the stream exists.
        outcome(unsafe { sys::cublasSetStream_v2(handle, stream.raw.cast()) }, "take a stream")?;
        let (wide, narrow) = ([self.alpha, self.beta], [self.alpha as f32, self.beta as f32]);
        let is_double = self.dtype == DType::Float64;
        let factor = |at: usize| match is_double {
            true => (&raw const wide[at]).cast::<c_void>(),
            false => (&raw const narrow[at]).cast::<c_void>(),
        };
        let how = match is_double {
            true => sys::cublasComputeType_t::CUBLAS_COMPUTE_64F,
            false => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F,
        };
        let turn = |operand: &Operand| match operand.is_turned {
            true => sys::cublasOperation_t::CUBLAS_OP_T,
            false => sys::cublasOperation_t::CUBLAS_OP_N,
        };
        let Gemm { rows, columns, inner, batch, a, b, c, .. } = self;
        // SAFETY: the handle is ours while the lock is held; the factors, which have the type of the computation, are read
        // before the call returns; the caller vouches for the matrices.
        let status = unsafe {
            sys::cublasGemmStridedBatchedEx(
                handle,
                turn(a),
                turn(b),
                *rows,
                *columns,
                *inner,
                factor(0),
                a.address as *const c_void,
                kind,
                a.leading,
                a.step,
                b.address as *const c_void,
                kind,
                b.leading,
                b.step,
                factor(1),
                c.address as *mut c_void,
                kind,
                c.leading,
                c.step,
                *batch,
                how,
                sys::cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
            )
        };
        outcome(status, "multiply matrices")
    }
}
