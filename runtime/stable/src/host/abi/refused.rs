//! Functions that exist so that libraries load; they return an error that names the function and the reason.

use torch_library::{Error, ErrorKind};

use super::Function;

/// Functions that ignore their arguments, which C allows, since only the caller cleans up.
macro_rules! refused {
    ($($why:literal: $($name:ident)*;)*) => {
        $($(
            extern "C" fn $name() -> i32 {
                crate::host::last::answer(stringify!($name), || Err(refusal(stringify!($name), $why)))
            }
        )*)*

        /// The functions of this module.
        pub(super) fn table() -> Vec<Function> {
            vec![$($(Function { name: stringify!($name), address: $name as *const () }),*),*]
        }
    };
}

#[cold]
fn refusal(name: &str, why: &str) -> Error {
    Error::new(ErrorKind::NotSupported, format!("{name}: {why}"))
}

refused! {
    "no devices are served through PyTorch's stable ABI here, but the CPU":
        aoti_torch_create_device_guard aoti_torch_delete_device_guard aoti_torch_device_guard_set_index
        aoti_torch_delete_stream aoti_torch_stream_id aoti_torch_get_current_stream
        aoti_torch_get_current_device_index torch_stream_native_handle;
    "there is no CUDA behind PyTorch's stable ABI here":
        aoti_torch_create_cuda_guard aoti_torch_delete_cuda_guard aoti_torch_cuda_guard_set_index
        aoti_torch_create_cuda_stream_guard aoti_torch_delete_cuda_stream_guard aoti_torch_get_current_cuda_stream
        aoti_torch_cuda_caching_allocator_raw_alloc aoti_torch_cuda_caching_allocator_raw_delete
        torch_get_current_cuda_blas_handle torch_set_current_cuda_stream torch_get_cuda_stream_from_pool
        torch_cuda_stream_synchronize;
    "there is no Metal behind PyTorch's stable ABI here":
        torch_mps_set_arg_bytes;
    "it is of PyTorch's own objects of Python, and there is no PyTorch here":
        torch_tensor_from_pyobject torch_tensor_to_pyobject torch_is_tensor_pyobject torch_dtype_from_pyobject
        torch_dtype_to_pyobject torch_device_from_pyobject torch_device_to_pyobject;
    "it serves models that AOTInductor compiled, and those do not run here":
        aoti_torch_int64_to_ivalue aoti_torch_str_to_ivalue aoti_torch_strlist_to_ivalue aoti_torch_tensor_to_ivalue
        aoti_torch_delete_c10_value_object aoti_record_function_start aoti_record_function_end
        aoti_torch_proxy_executor_call_function aoti_torch_save_tensor_handle aoti_torch__mm_plus_mm_out
        aoti_torch_scatter_out aoti_torch_scatter_reduce_out aoti_torch_index_put_out
        aoti_torch_cpu_wrapped_fbgemm_pack_gemm_matrix_fp16 aoti_torch_cpu_wrapped_fbgemm_linear_fp16_weight
        aoti_torch_cpu__wrapped_linear_prepack aoti_torch_cpu__wrapped_quantized_linear_prepacked;
    "PyTorch has deprecated it; call the operator of `aten` by `torch_call_dispatcher`":
        aoti_torch__embedding_bag aoti_torch__fft_c2c aoti_torch__scaled_mm aoti_torch__scaled_mm_v2
        aoti_torch_addmm_out aoti_torch_bmm_out aoti_torch_convolution aoti_torch_mm_out aoti_torch_nonzero
        aoti_torch_repeat_interleave_Tensor aoti_torch_view_as_real aoti_torch_view_dtype
        aoti_torch__scaled_dot_product_flash_attention aoti_torch__scaled_dot_product_flash_attention_v2
        aoti_torch__scaled_dot_product_efficient_attention;
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    #[test]
    #[expect(unsafe_code, reason = "the text of the last failure is one of C")]
    fn a_refusal_names_the_function() {
        assert_eq!(aoti_torch_create_cuda_guard(), 1);
        // SAFETY: it was just stored, ends in a zero, and lives until the next failure.
        let text = unsafe { CStr::from_ptr(crate::host::last::text()) };
        assert_eq!(
            text.to_str().unwrap(),
            "aoti_torch_create_cuda_guard: there is no CUDA behind PyTorch's stable ABI here"
        );
    }
}
