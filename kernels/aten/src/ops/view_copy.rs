//! Copying forms of views: the elements that a view would show, as a contiguous copy. Functionalized programs use them.

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack, torch_library};

/// Declares the operators and registers their kernels. Each row gives the name in Rust, the view whose elements are
/// copied, and the schema.
macro_rules! copies {
    ($($name:ident: $view:ident => $schema:tt;)*) => {
        torch_library! {
            /// Copying forms of views.
            pub(crate) mod aten extends "aten" {
                $(
                    #[doc = concat!("[`", stringify!($view), "`](fn@crate::aten::", stringify!($view),
                        "), as a contiguous copy.")]
                    ///
                    /// # Errors
                    /// The errors of the view.
                    #[doc = concat!("\nPyTorch: `aten::", stringify!($name), "`.")]
                    $schema;
                )*
            }
        }

        #[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
        mod kernels {
            use super::*;

            $(
                #[torch_impl(boxed)]
                fn $name(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
                    copied(operator, crate::aten::$view::handle(), stack)
                }
            )*
        }
    };
}

copies! {
    alias_copy: alias => "alias_copy(Tensor self) -> Tensor";
    as_strided_copy: as_strided =>
        "as_strided_copy(Tensor self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor";
    _conj_copy: _conj_physical => "_conj_copy(Tensor self) -> Tensor";
    detach_copy: detach => "detach_copy(Tensor self) -> Tensor";
    expand_copy: expand => "expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor";
    lift_fresh_copy: alias => "lift_fresh_copy(Tensor self) -> Tensor";
    _neg_view_copy: neg => "_neg_view_copy(Tensor self) -> Tensor";
    narrow_copy: narrow => "narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor";
    permute_copy: permute => "permute_copy(Tensor self, int[] dims) -> Tensor";
    _reshape_alias_copy: _reshape_alias => "_reshape_alias_copy(Tensor self, SymInt[] size, SymInt[] stride) -> Tensor";
    select_copy_int: select_int => "select_copy.int(Tensor self, int dim, SymInt index) -> Tensor";
    slice_copy_Tensor: slice_Tensor =>
        "slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor";
    split_copy_Tensor: split_Tensor => "split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]";
    split_with_sizes_copy: split_with_sizes =>
        "split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]";
    squeeze_copy: squeeze => "squeeze_copy(Tensor self) -> Tensor";
    squeeze_copy_dim: squeeze_dim => "squeeze_copy.dim(Tensor self, int dim) -> Tensor";
    squeeze_copy_dims: squeeze_dims => "squeeze_copy.dims(Tensor self, int[] dim) -> Tensor";
    t_copy: t => "t_copy(Tensor self) -> Tensor";
    transpose_copy_int: transpose_int => "transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor";
    unbind_copy_int: unbind_int => "unbind_copy.int(Tensor self, int dim=0) -> Tensor[]";
    unfold_copy: unfold => "unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor";
    unsqueeze_copy: unsqueeze => "unsqueeze_copy(Tensor self, int dim) -> Tensor";
    view_as_complex_copy: view_as_complex => "view_as_complex_copy(Tensor self) -> Tensor";
    view_as_real_copy: view_as_real => "view_as_real_copy(Tensor self) -> Tensor";
    view_copy: reshape => "view_copy(Tensor self, SymInt[] size) -> Tensor";
    view_copy_dtype: view_dtype => "view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor";
}

/// Calls a view operator with the same arguments, and copies the views that it returns.
fn copied(operator: OperatorHandle, view: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let copy = |view: &Tensor| crate::aten::clone::with(view).memory_format(MemoryFormat::Contiguous).call();
    let mut inner = Stack::from_iter(operator.take_arguments(stack)?);
    view.call_boxed(&mut inner).map_err(|error| error.context(operator.to_string()))?;
    for value in inner {
        match value.into_owned() {
            Value::Tensor(view) => stack.push(copy(&view)?),
            Value::Tensors(views) => stack.push(views.iter().map(copy).collect::<Result<Vec<_>>>()?),
            other => bail!(Internal, "{view} returned {other:?}, which is no view"),
        }
    }
    Ok(())
}
