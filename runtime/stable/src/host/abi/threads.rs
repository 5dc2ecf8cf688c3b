//! Parallel loops, on the thread pool of our own kernels.
#![expect(unsafe_code, reason = "calls a foreign function on other threads")]

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use torch_library::{Error, ErrorKind, ensure};

use super::{Out, functions, others, put};
use crate::host::{exception, last};

/// The function for a part of a range.
type Part = unsafe extern "C-unwind" fn(i64, i64, *mut c_void);

functions! {
    fn torch_parallel_for(begin: i64, end: i64, grain_size: i64, func: Option<Part>, ctx: *mut c_void) {
        let func = func.ok_or_else(|| Error::new(ErrorKind::Argument, "a null function for a loop"))?;
        ensure!(grain_size >= 0, Argument, "a grain of {grain_size}");
        if begin >= end {
            return Ok(());
        }
        let length = end.abs_diff(begin);
        let threads = rayon::current_num_threads() as u64;
        let is_within = rayon::current_thread_index().is_some();
        let parts = if is_within { 1 } else { threads.min(length.div_ceil(grain_size.max(1) as u64)) };
        let (size, context) = (length.div_ceil(parts), ctx.expose_provenance());
        let thrown = Mutex::new(None);
        let run = |part: u64| {
            let first = begin.wrapping_add_unsigned(part * size);
            let last = begin.wrapping_add_unsigned(length.min((part + 1) * size));
            let arguments = [first as usize, last as usize, context];
            // SAFETY: the library promises that its function takes these, on any thread, as long as the loop runs.
            if let Err(text) = unsafe { exception::call(func as *const c_void, arguments) } {
                thrown.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(text);
            }
        };
        match parts {
            1 => run(0),
            // Because of rounding up, the last parts may be empty.
            _ => rayon::scope(|scope| {
                let run = &run;
                (0..length.div_ceil(size)).for_each(|part| scope.spawn(move |_| run(part)));
            }),
        }
        match thrown.into_inner().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some(text) => Err(Error::new(last::kind_of(&text), text)),
        }
    }

    fn torch_get_thread_idx(out_thread_idx: Out<'_, u32>) {
        put(out_thread_idx, u32::try_from(rayon::current_thread_index().unwrap_or(0))?)
    }

    fn torch_get_num_threads(out_num_threads: Out<'_, u32>) {
        put(out_num_threads, u32::try_from(rayon::current_num_threads())?)
    }
}

others! {}
