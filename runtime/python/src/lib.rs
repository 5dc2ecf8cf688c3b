//! Operators of [`torch_library`] in Python, without PyTorch: the module `torch_library`.
//!
//! Everything that is registered in the program is available as `torch_library.ops.NAMESPACE.NAME`, and as methods of
//! tensors, with the arguments of its schema. The [guide] is the page for users of Python.
//!
//! # A wheel with operators of your own
//! Linking a crate registers its operators. A crate with `crate-type = ["cdylib"]` and the lines
//!
//! ```ignore
//! use my_operators as _; // a crate with a `torch_library!`
//! pub use torch_library_python::*; // the module
//! ```
//!
//! is that module with those operators in it. The folder `examples/python` of the repository is such a crate, to copy
//! from.
//!
//! PyTorch: `torch.ops`, `torch.Tensor`, `torch.no_grad`, `torch.vmap`, `torch.autocast`.
// The modules are listed bottom-up: each uses only those above it.

mod error;

mod kinds;

mod element;

mod tensor;

mod argument;

mod arguments;

mod result;

mod vectorcall;

mod order;

mod overload;

mod operator;

mod namespace;

mod method;

mod readable;

mod held;

mod owner;

mod shared;

mod format;

mod layout;

mod made;

mod buffer;

mod dlpack;

mod arithmetic;

mod index;

mod items;

mod moved;

mod autograd;

mod modes;

mod transform;

mod nested;

mod program;

mod library;

mod catalogue;

mod warnings;

#[doc = include_str!("../docs/guide.md")]
pub mod guide {}

use pyo3::prelude::*;

/// The native part of the package `torch_library`.
#[pymodule(gil_used = true)]
pub mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::kinds::{
        PyDType, PyDevice, PyGenerator, PyLayout, PyMemoryFormat, default_generator, manual_seed,
    };
    #[pymodule_export]
    use crate::method::Method;
    #[pymodule_export]
    use crate::namespace::{Namespace, Operators};
    #[pymodule_export]
    use crate::operator::Operator;
    #[pymodule_export]
    use crate::tensor::PyTensor;

    #[pymodule_export]
    use crate::autograd::{backward, grad};
    #[pymodule_export]
    use crate::buffer::from_numpy;
    #[pymodule_export]
    use crate::catalogue::{catalogue, methods};
    #[pymodule_export]
    use crate::dlpack::from_dlpack;
    #[pymodule_export]
    use crate::library::load_library;
    #[pymodule_export]
    use crate::made::tensor;
    #[pymodule_export]
    use crate::modes::{enter_autocast, enter_inference_mode, is_grad_enabled, leave, set_grad_enabled};
    #[pymodule_export]
    use crate::program::{Program, load};
    #[pymodule_export]
    use crate::transform::{grads_and_value, vmap};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::warnings::tell_python();
        crate::method::add_methods(module.py())
    }
}
