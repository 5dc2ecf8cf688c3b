//! The out variants of operators on views.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    diagonal_backward_out: diagonal_backward =>
        "diagonal_backward.out(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2, *, Tensor(a!) out) -> Tensor(a!)";
    unfold_backward_out: unfold_backward =>
        "unfold_backward.out(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step, *, Tensor(a!) out) -> Tensor(a!)";
    _conj_physical_out: _conj_physical => "_conj_physical.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    as_strided_scatter_out: as_strided_scatter =>
        "as_strided_scatter.out(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None, *, Tensor(a!) out) -> Tensor(a!)";
    conj_physical_out: _conj_physical Exact AsResult Whole =>
        "conj_physical.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    diagonal_copy_out: diagonal_copy =>
        "diagonal_copy.out(Tensor self, int offset=0, int dim1=0, int dim2=1, *, Tensor(a!) out) -> Tensor(a!)";
    diagonal_scatter_out: diagonal_scatter =>
        "diagonal_scatter.out(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1, *, Tensor(a!) out) -> Tensor(a!)";
    select_scatter_out: select_scatter =>
        "select_scatter.out(Tensor self, Tensor src, int dim, SymInt index, *, Tensor(a!) out) -> Tensor(a!)";
    slice_scatter_out: slice_scatter =>
        "slice_scatter.out(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1, *, Tensor(a!) out) -> Tensor(a!)";
    _unsafe_view_out: _unsafe_view => "_unsafe_view.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    unsafe_split_Tensor_out: unsafe_split_Tensor =>
        "unsafe_split.Tensor_out(Tensor self, SymInt split_size, int dim=0, *, Tensor(a!)[] out) -> ()";
    unsafe_split_with_sizes_out: unsafe_split_with_sizes =>
        "unsafe_split_with_sizes.out(Tensor self, SymInt[] split_sizes, int dim=0, *, Tensor(a!)[] out) -> ()";
}
