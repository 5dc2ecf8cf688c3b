//! The entries of a declaration file besides the schemas, and support for the kernels that are derived from it.

use crate::operator::{Operator, OperatorHandle};

pub mod derived;

/// An entry of a file that [`native_functions!`](crate::native_functions) read: information about an operator that the
/// dispatcher does not need, for tools.
///
/// Each namespace module has all of its entries in `NATIVE_FUNCTIONS`; the fields are those of the file.
///
/// PyTorch: `torchgen.model.NativeFunction`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NativeFunction {
    pub(crate) operator: &'static Operator,
    /// Whether there is a function with the operator's name.
    pub is_function: bool,
    /// Whether tensors have a method with the operator's name.
    pub is_method: bool,
    /// The dispatch table: keys, and the kernel for them. Derived kernels, of `autogen` variants and of structured
    /// operators, are not in it.
    pub dispatch: &'static [(&'static [&'static str], &'static str)],
    /// Whether kernels check that their tensors are on one device, where there may be several. PyTorch: `ExactSame`.
    pub device_check: bool,
    /// Whether the device of the first tensor should be current while a kernel runs.
    pub device_guard: bool,
    /// Whether the kernels of the other variants are derived from this one's.
    pub structured: bool,
    /// The variant from which the kernels of this one are derived.
    pub structured_delegate: Option<&'static str>,
    /// The class that PyTorch's structured kernel inherits from.
    pub structured_inherits: Option<&'static str>,
    /// Values that PyTorch's structured kernel precomputes, as written in the file.
    pub precomputed: &'static [&'static str],
    /// The inner loops of a ufunc: the kind of loop, then the function with the dtypes that it serves.
    pub ufunc_inner_loop: &'static [(&'static str, &'static str)],
    /// The variants that were generated from this one.
    pub autogen: &'static [&'static str],
    /// The operator from which this one was generated.
    pub generated_from: Option<&'static str>,
    /// The Python module that has the function.
    pub python_module: Option<&'static str>,
    /// `factory` or `dummy`: the category that PyTorch's generator uses for the operator.
    pub category_override: Option<&'static str>,
    /// The arguments whose defaults are not visible in C++.
    pub cpp_no_default_args: &'static [&'static str],
    /// Whether the file leaves the function and the method to hand-written code.
    pub manual_cpp_binding: bool,
    /// Whether the file leaves the registration of kernels to hand-written code.
    pub manual_kernel_registration: bool,
    /// Whether written arguments are passed in C++ by const reference.
    pub use_const_ref_for_mutable_tensors: bool,
}

impl NativeFunction {
    /// An entry with only `func`, for generated code, which sets the fields that differ.
    #[doc(hidden)]
    pub const fn new(operator: &'static Operator) -> Self {
        NativeFunction {
            operator,
            is_function: true,
            is_method: false,
            dispatch: &[],
            device_check: true,
            device_guard: true,
            structured: false,
            structured_delegate: None,
            structured_inherits: None,
            precomputed: &[],
            ufunc_inner_loop: &[],
            autogen: &[],
            generated_from: None,
            python_module: None,
            category_override: None,
            cpp_no_default_args: &[],
            manual_cpp_binding: false,
            manual_kernel_registration: false,
            use_const_ref_for_mutable_tensors: false,
        }
    }

    /// The operator.
    pub fn operator(&self) -> OperatorHandle {
        self.operator.handle()
    }
}
