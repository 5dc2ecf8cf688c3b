//! What a file of declarations says of an operator beside its schema, and what the kernels made from it call.

use crate::operator::{Operator, OperatorHandle};

pub mod derived;

/// An entry of a file that [`native_functions!`](crate::native_functions) read: what the dispatcher does not need to
/// know of an operator, for tools that do.
///
/// Each namespace module has all of its entries in `NATIVE_FUNCTIONS`; the fields are those of the file.
///
/// PyTorch: `torchgen.model.NativeFunction`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NativeFunction {
    pub(crate) operator: &'static Operator,
    /// Whether there is a function of the operator's name.
    pub is_function: bool,
    /// Whether tensors have a method of the operator's name.
    pub is_method: bool,
    /// The table: keys, and the kernel for them. Of what `autogen` made, and of structured kernels, the derived ones
    /// are not in it.
    pub dispatch: &'static [(&'static [&'static str], &'static str)],
    /// Whether the kernels of devices that there may be several of expect their tensors on one. PyTorch: `ExactSame`.
    pub device_check: bool,
    /// Whether the device of the first tensor is to be the current one while a kernel runs.
    pub device_guard: bool,
    /// Whether kernels of the other variants are made of this one's.
    pub structured: bool,
    /// The variant whose kernels this one's are made of.
    pub structured_delegate: Option<&'static str>,
    /// What PyTorch's structured kernel inherits from.
    pub structured_inherits: Option<&'static str>,
    /// Values that PyTorch's structured kernel computes once, as they stand in the file.
    pub precomputed: &'static [&'static str],
    /// Which loop makes the kernels, and for which dtypes.
    pub ufunc_inner_loop: &'static [(&'static str, &'static str)],
    /// The variants that were made of this one.
    pub autogen: &'static [&'static str],
    /// The operator that this one was made of.
    pub generated_from: Option<&'static str>,
    /// The module of Python that has the function.
    pub python_module: Option<&'static str>,
    /// `factory` or `dummy`: what PyTorch's generator takes the operator for.
    pub category_override: Option<&'static str>,
    /// Arguments whose default C++ does not see.
    pub cpp_no_default_args: &'static [&'static str],
    /// Whether the file leaves function and method to somebody else.
    pub manual_cpp_binding: bool,
    /// Whether the file leaves the registration of kernels to somebody else.
    pub manual_kernel_registration: bool,
    /// Whether C++ passes what is written to by a const reference.
    pub use_const_ref_for_mutable_tensors: bool,
}

impl NativeFunction {
    /// An entry with nothing but `func`. For generated code, which sets the fields that differ.
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
