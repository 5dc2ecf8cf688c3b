//! Loads libraries that were built against PyTorch's stable C ABI into [`torch_library`]'s dispatcher, without PyTorch.
//!
//! PyTorch 2.9 introduced a stable interface for operator libraries: C++ headers over C functions
//! (`STABLE_TORCH_LIBRARY`, `torch/csrc/stable`). A library that keeps to it is built once and loads into any later
//! PyTorch. Here [`load`] loads it into this dispatcher. Its operators are then like any others: they can be called
//! from Rust, from Python, or by another library, and other crates can add kernels.
//!
//! ```no_run
//! use torch_library::{Dispatcher, Tensor};
//! use torch_library_kernels as _; // operators of `aten`, which libraries call
//!
//! // SAFETY: `libmine.so` keeps to PyTorch's stable ABI and to what its schemas say.
//! let mine = unsafe { torch_library_stable::load("libmine.so") }?;
//! assert_eq!(mine.operators()[0].to_string(), "mine::half");
//!
//! let half = Dispatcher::global().find("mine::half")?.typed::<fn(&Tensor) -> torch_library::Result<Tensor>, _>()?;
//! println!("{}", half.call(&Tensor::from([1.0, 2.0]))?);
//! # Ok::<(), torch_library::Error>(())
//! ```
//!
//! **[The guide page](guide)** says how to load a library, what libraries may expect, and what is not supported.
//!
//! Rust crates that export their operators to PyTorch (`torch_library_pytorch::export!`) load here as well, with their
//! derivatives: `torch_library_host_*` are functions for these, which PyTorch does not have.
//!
//! # The functions
//! These functions exist, out of those that the headers of PyTorch 2.15 declare in `stable/c/shim.h`,
//! `aoti_torch/c/shim.h` and `generated/c_shim_aten.h`:
//!
//! | | |
//! |---|---|
//! | libraries | `aoti_torch_library_init_def`, `_init_fragment`, `_init_impl`, `aoti_torch_library_def`, `_impl`, `torch_library_impl`, `torch_library_def_with_tags`, `aoti_torch_delete_library_object`, `torch_library_set_python_module` (which does nothing: there is no such Python) |
//! | calls | `torch_call_dispatcher`, `aoti_torch_call_dispatcher` |
//! | errors | `aoti_torch_check`, `aoti_torch_warn`, `torch_exception_get_what`, `torch_exception_get_what_without_backtrace`; `torch_c10_cuda_check_msg`, `torch_c10_cuda_free_error_msg`, with which a library reports a failure of CUDA |
//! | values | `torch_new_list_reserve_size`, `torch_list_*`, `torch_delete_list`; `torch_new_string_handle`, `torch_string_*`, `torch_delete_string`; `torch_new_stable_ivalue`, `torch_delete_stable_ivalue` |
//! | handles | `aoti_torch_new_tensor_handle`, `aoti_torch_delete_tensor_object`, `aoti_torch_new_uninitialized_tensor`, `aoti_torch_assign_tensors`, `aoti_torch_assign_tensors_out`; `torch_new_generator_handle`, `torch_delete_generator`, `torch_generator_get_device` |
//! | tensors | `aoti_torch_get_*`, `torch_get_const_data_ptr`, `torch_get_mutable_data_ptr`, `aoti_torch_is_contiguous`, `aoti_torch_is_defined`, `torch_has_storage`, `torch_set_requires_grad`, `aoti_torch_item_*`, `aoti_torch_check_inf_and_nan`, `aoti_torch_print_tensor_handle` |
//! | new tensors | `aoti_torch_empty_strided`, `aoti_torch_create_tensor_from_blob`, `_v2`, `torch_from_blob` (memory of the CPU), `aoti_torch__reinterpret_tensor`, `aoti_torch__alloc_from_pool`, `aoti_torch_scalar_to_tensor_*` |
//! | operators of `aten` | `aoti_torch_aten_*` (all eight), `aoti_torch_as_strided`, `aoti_torch_clone`, `aoti_torch_clone_preserve_strides`, `aoti_torch_copy_`, `aoti_torch_tensor_copy_`, `aoti_torch_zero_`: each calls the dispatcher |
//! | threads, modes | `torch_parallel_for`, `torch_get_num_threads`, `torch_get_thread_idx`; `aoti_torch_grad_mode_is_enabled`, `aoti_torch_grad_mode_set_enabled` |
//! | numbers | `aoti_torch_dtype_*`, `torch_dtype_*`, `aoti_torch_device_type_*`, `aoti_torch_layout_*`, `aoti_torch_memory_format_*`, `torch_tag_*`, `torch_parse_device_string`, `aoti_torch_abi_version` (2.15.0) |
//!
//! These exist, but return an error that names the function and the reason:
//!
//! | | |
//! |---|---|
//! | devices | `aoti_torch_create_device_guard`, `aoti_torch_delete_device_guard`, `aoti_torch_device_guard_set_index`, `aoti_torch_get_current_device_index`, `aoti_torch_get_current_stream`, `aoti_torch_delete_stream`, `aoti_torch_stream_id`, `torch_stream_native_handle`; all others with `cuda` in their names, `torch_mps_set_arg_bytes`; `aoti_torch_empty_strided_pinned` |
//! | objects of Python | `torch_tensor_from_pyobject`, `torch_tensor_to_pyobject`, `torch_is_tensor_pyobject`, `torch_dtype_from_pyobject`, `torch_dtype_to_pyobject`, `torch_device_from_pyobject`, `torch_device_to_pyobject` |
//! | models of AOTInductor | `aoti_torch_*_to_ivalue`, `aoti_torch_delete_c10_value_object`, `aoti_record_function_*`, `aoti_torch_proxy_executor_call_function`, `aoti_torch_save_tensor_handle`, `aoti_torch__mm_plus_mm_out`, `aoti_torch_scatter_out`, `aoti_torch_scatter_reduce_out`, `aoti_torch_index_put_out`, and the four of fbgemm and of wrapped quantised linear layers |
//! | what PyTorch calls deprecated | all of `shim_deprecated.h` |
//!
//! A function that is in neither table, such as the kernels of `c_shim_cpu.h` that compiled models call, is missing: a
//! library that needs it does not load, and the error names it.

mod loaded;

#[cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod host;

mod load;

pub use load::load;
pub use loaded::LoadedLibrary;

#[doc = include_str!("../docs/guide.md")]
pub mod guide {}
