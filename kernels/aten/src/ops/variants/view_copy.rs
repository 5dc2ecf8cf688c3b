//! The out variants of copying views.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Variant, variants};

variants! {
    alias_copy_out: alias_copy => "alias_copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    as_strided_copy_out: as_strided_copy =>
        "as_strided_copy.out(Tensor self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None, *, Tensor(a!) out) -> Tensor(a!)";
    _conj_copy_out: _conj_copy => "_conj_copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    detach_copy_out: detach_copy => "detach_copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    expand_copy_out: expand_copy =>
        "expand_copy.out(Tensor self, SymInt[] size, *, bool implicit=False, Tensor(a!) out) -> Tensor(a!)";
    lift_fresh_copy_out: lift_fresh_copy => "lift_fresh_copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    _neg_view_copy_out: _neg_view_copy => "_neg_view_copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    narrow_copy_out: narrow_copy =>
        "narrow_copy.out(Tensor self, int dim, SymInt start, SymInt length, *, Tensor(a!) out) -> Tensor(a!)";
    permute_copy_out: permute_copy => "permute_copy.out(Tensor self, int[] dims, *, Tensor(a!) out) -> Tensor(a!)";
    _reshape_alias_copy_out: _reshape_alias_copy =>
        "_reshape_alias_copy.out(Tensor self, SymInt[] size, SymInt[] stride, *, Tensor(a!) out) -> Tensor(a!)";
    select_copy_int_out: select_copy_int =>
        "select_copy.int_out(Tensor self, int dim, SymInt index, *, Tensor(a!) out) -> Tensor(a!)";
    slice_copy_Tensor_out: slice_copy_Tensor =>
        "slice_copy.Tensor_out(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1, *, Tensor(a!) out) -> Tensor(a!)";
    split_copy_Tensor_out: split_copy_Tensor =>
        "split_copy.Tensor_out(Tensor self, SymInt split_size, int dim=0, *, Tensor(a!)[] out) -> ()";
    split_with_sizes_copy_out: split_with_sizes_copy =>
        "split_with_sizes_copy.out(Tensor self, SymInt[] split_sizes, int dim=0, *, Tensor(a!)[] out) -> ()";
    squeeze_copy_out: squeeze_copy => "squeeze_copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    squeeze_copy_dim_out: squeeze_copy_dim =>
        "squeeze_copy.dim_out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)";
    squeeze_copy_dims_out: squeeze_copy_dims =>
        "squeeze_copy.dims_out(Tensor self, int[] dim, *, Tensor(a!) out) -> Tensor(a!)";
    t_copy_out: t_copy => "t_copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    transpose_copy_int_out: transpose_copy_int =>
        "transpose_copy.int_out(Tensor self, int dim0, int dim1, *, Tensor(a!) out) -> Tensor(a!)";
    unbind_copy_int_out: unbind_copy_int => "unbind_copy.int_out(Tensor self, int dim=0, *, Tensor(a!)[] out) -> ()";
    unfold_copy_out: unfold_copy =>
        "unfold_copy.out(Tensor self, int dimension, int size, int step, *, Tensor(a!) out) -> Tensor(a!)";
    unsqueeze_copy_out: unsqueeze_copy => "unsqueeze_copy.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)";
    view_as_complex_copy_out: view_as_complex_copy =>
        "view_as_complex_copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    view_as_real_copy_out: view_as_real_copy => "view_as_real_copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    view_copy_out: view_copy => "view_copy.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    view_copy_dtype_out: view_copy_dtype =>
        "view_copy.dtype_out(Tensor self, ScalarType dtype, *, Tensor(a!) out) -> Tensor(a!)";
}
