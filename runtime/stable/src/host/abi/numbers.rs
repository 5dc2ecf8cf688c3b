//! Functions that return a number: those of types, devices, layouts, formats and tags, and the version.

use torch_library::{DType, DeviceType, Layout, MemoryFormat};

use super::{functions, others};

/// Functions without arguments that return a number.
macro_rules! numbers {
    ($($name:ident = $number:expr;)*) => {
        $(extern "C" fn $name() -> i32 { $number as i32 })*

        others! { $($name,)* aoti_torch_dtype_element_size, aoti_torch_abi_version }
    };
}

/// An element type that PyTorch has but tensors here do not: it has a number, so that libraries may query it.
const FLOAT4_E2M1FN_X2: i32 = 45;

/// The tags that have getter functions; the number of each is its index.
pub(super) const TAGS: [&str; 18] = [
    "core",
    "cudagraph_unsafe",
    "data_dependent_output",
    "dynamic_output_shape",
    "flexible_layout",
    "generated",
    "inplace_view",
    "maybe_aliasing_or_mutating",
    "needs_contiguous_strides",
    "needs_exact_strides",
    "needs_fixed_stride_order",
    "nondeterministic_bitwise",
    "nondeterministic_seeded",
    "out_variant",
    "pointwise",
    "pt2_compliant_tag",
    "reduction",
    "view_copy",
];

numbers! {
    aoti_torch_device_type_cpu = DeviceType::Cpu;
    aoti_torch_device_type_cuda = DeviceType::Cuda;
    aoti_torch_device_type_meta = DeviceType::Meta;
    aoti_torch_device_type_xpu = DeviceType::Xpu;
    aoti_torch_device_type_mps = DeviceType::Mps;
    aoti_torch_device_type_privateuse1 = DeviceType::PrivateUse1;

    aoti_torch_dtype_float8_e5m2 = DType::Float8E5M2;
    aoti_torch_dtype_float8_e4m3fn = DType::Float8E4M3Fn;
    aoti_torch_dtype_float8_e5m2fnuz = DType::Float8E5M2Fnuz;
    aoti_torch_dtype_float8_e4m3fnuz = DType::Float8E4M3Fnuz;
    aoti_torch_dtype_float8_e8m0fnu = DType::Float8E8M0Fnu;
    aoti_torch_dtype_float4_e2m1fn_x2 = FLOAT4_E2M1FN_X2;
    torch_dtype_float8_e8m0fnu = DType::Float8E8M0Fnu;
    torch_dtype_float4_e2m1fn_x2 = FLOAT4_E2M1FN_X2;
    aoti_torch_dtype_bfloat16 = DType::BFloat16;
    aoti_torch_dtype_float16 = DType::Float16;
    aoti_torch_dtype_float32 = DType::Float32;
    aoti_torch_dtype_float64 = DType::Float64;
    aoti_torch_dtype_uint8 = DType::UInt8;
    aoti_torch_dtype_uint16 = DType::UInt16;
    aoti_torch_dtype_uint32 = DType::UInt32;
    aoti_torch_dtype_uint64 = DType::UInt64;
    aoti_torch_dtype_int8 = DType::Int8;
    aoti_torch_dtype_int16 = DType::Int16;
    aoti_torch_dtype_int32 = DType::Int32;
    aoti_torch_dtype_int64 = DType::Int64;
    aoti_torch_dtype_bool = DType::Bool;
    aoti_torch_dtype_complex32 = DType::Complex32;
    aoti_torch_dtype_complex64 = DType::Complex64;
    aoti_torch_dtype_complex128 = DType::Complex128;

    aoti_torch_layout_strided = Layout::Strided;
    aoti_torch_layout_sparse_coo = Layout::Sparse;
    aoti_torch_layout_sparse_csr = Layout::SparseCsr;
    aoti_torch_layout_sparse_csc = Layout::SparseCsc;
    aoti_torch_layout_sparse_bsr = Layout::SparseBsr;
    aoti_torch_layout_sparse_bsc = Layout::SparseBsc;
    aoti_torch_layout__mkldnn = Layout::Mkldnn;
    aoti_torch_layout_jagged = Layout::Jagged;

    aoti_torch_memory_format_contiguous_format = MemoryFormat::Contiguous;
    aoti_torch_memory_format_channels_last = MemoryFormat::ChannelsLast;
    aoti_torch_memory_format_channels_last_3d = MemoryFormat::ChannelsLast3d;
    aoti_torch_memory_format_preserve_format = MemoryFormat::Preserve;

    torch_tag_core = tag("core");
    torch_tag_cudagraph_unsafe = tag("cudagraph_unsafe");
    torch_tag_data_dependent_output = tag("data_dependent_output");
    torch_tag_dynamic_output_shape = tag("dynamic_output_shape");
    torch_tag_flexible_layout = tag("flexible_layout");
    torch_tag_generated = tag("generated");
    torch_tag_inplace_view = tag("inplace_view");
    torch_tag_maybe_aliasing_or_mutating = tag("maybe_aliasing_or_mutating");
    torch_tag_needs_contiguous_strides = tag("needs_contiguous_strides");
    torch_tag_needs_exact_strides = tag("needs_exact_strides");
    torch_tag_needs_fixed_stride_order = tag("needs_fixed_stride_order");
    torch_tag_nondeterministic_bitwise = tag("nondeterministic_bitwise");
    torch_tag_nondeterministic_seeded = tag("nondeterministic_seeded");
    torch_tag_out_variant = tag("out_variant");
    torch_tag_pointwise = tag("pointwise");
    torch_tag_pt2_compliant_tag = tag("pt2_compliant_tag");
    torch_tag_reduction = tag("reduction");
    torch_tag_view_copy = tag("view_copy");
}

functions! {}

fn tag(name: &str) -> i32 {
    TAGS.iter().position(|tag| *tag == name).map_or(-1, |place| place as i32)
}

/// The size of an element in bytes; 0 for an unknown element type.
extern "C" fn aoti_torch_dtype_element_size(dtype: i32) -> usize {
    match dtype {
        FLOAT4_E2M1FN_X2 => 1,
        dtype => crate::host::numbers::dtype(dtype).map_or(0, DType::size),
    }
}

/// The version of the headers that declare the functions here, 2.15.0, as PyTorch encodes it.
extern "C" fn aoti_torch_abi_version() -> u64 {
    (2 << 56) | (15 << 48)
}
