//! How a library reports a failure of CUDA: it asks for a text, and throws if there is one. Whether the function fails
//! is not asked, so that a refusal would turn every failure into a success.
#![expect(unsafe_code, reason = "reads texts of C, and takes one back")]

use std::ffi::{CString, c_char};
use std::ptr;

use super::{Out, functions, others, put};
use crate::host::last;
use crate::host::words::c_text;

/// CUDA's `cudaSuccess`.
const SUCCESS: i32 = 0;

functions! {
    /// The text is null if the code is that of a success. There is no CUDA here to ask for its name of the code.
    fn torch_c10_cuda_check_msg(
        err: i32,
        filename: *const c_char,
        function_name: *const c_char,
        line_number: u32,
        _include_device_assertions: bool,
        error_msg: Out<'_, *mut c_char>,
    ) {
        if err == SUCCESS {
            return put(error_msg, ptr::null_mut());
        }
        // SAFETY: the library promises that these are texts that end in zeros, or null.
        let [file, function] =
            [filename, function_name].map(|text| unsafe { c_text(text, "").unwrap_or_default() });
        let text = format!("CUDA error {err}\n  in {function} at {file}:{line_number}");
        put(error_msg, CString::new(text.replace('\0', "\\0")).unwrap_or_default().into_raw())
    }
}

others! { torch_c10_cuda_free_error_msg }

extern "C" fn torch_c10_cuda_free_error_msg(error_msg: *mut c_char) {
    last::or("torch_c10_cuda_free_error_msg", (), || {
        if !error_msg.is_null() {
            // SAFETY: the library promises that this is a text of the function above, which it no longer uses.
            drop(unsafe { CString::from_raw(error_msg) });
        }
    });
}
