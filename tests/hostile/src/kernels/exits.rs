//! Operators at the end of a thread, when the kernels' thread-local values are gone or about to go.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::thread;

use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::harness::attempt;

/// Calls kernels that use thread-local values, or share work with other threads.
fn call_kernels() -> Result<()> {
    let ones = |sizes: &[i64]| Tensor::full(sizes, 1.0, DType::Float32, Device::CPU);
    let image = ones(&[1, 2, 16, 16])?;
    attempt(aten::conv2d(&image, &ones(&[2, 2, 3, 3])?));
    attempt(aten::max_pool2d(&image, &[2, 2]));
    let square = ones(&[64, 64])?;
    attempt(aten::mm(&square, &square));
    let complex = aten::to_dtype(&square, DType::Complex64)?;
    attempt(aten::mm(&complex, &complex));
    attempt(aten::linalg_svd(&square).map(drop));
    attempt(aten::linalg_eigvals(&square).map(drop));
    attempt(aten::linalg_qr(&square).map(drop));
    let solvable = aten::add_Tensor(&square, &aten::eye(64)?)?;
    attempt(aten::linalg_solve(&aten::linalg_cholesky(&solvable)?, &square));
    attempt(aten::fft_rfft(&ones(&[100])?));
    attempt(aten::normal_(&mut ones(&[100])?).map(drop));
    attempt(aten::add_Tensor(&ones(&[1 << 18])?, &ones(&[1 << 18])?));
    let x = ones(&[4])?;
    x.set_requires_grad(true)?;
    attempt(aten::sum(&aten::exp(&x)?)?.backward());
    Ok(())
}

/// Operators are called while the thread's own thread-local values are dropped, before those of the kernels and after them.
pub(crate) fn kernels_at_thread_exit() -> Result<()> {
    struct Calls;

    impl Drop for Calls {
        fn drop(&mut self) {
            attempt(call_kernels());
        }
    }

    thread_local!(static LAST: RefCell<Option<Calls>> = const { RefCell::new(None) });
    for first in [true, false] {
        let ended = thread::spawn(move || {
            if first {
                attempt(call_kernels());
            }
            LAST.with(|last| *last.borrow_mut() = Some(Calls));
            if !first {
                attempt(call_kernels());
            }
        });
        assert!(ended.join().is_ok());
    }
    Ok(())
}
