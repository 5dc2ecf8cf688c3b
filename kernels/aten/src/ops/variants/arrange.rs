//! The out variants of operators that rearrange elements.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    block_diag_out: block_diag => "block_diag.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)";
    column_stack_out: column_stack Castable => "column_stack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)";
    diag_out: diag => "diag.out(Tensor self, int diagonal=0, *, Tensor(a!) out) -> Tensor(a!)";
    diag_embed_out: diag_embed =>
        "diag_embed.out(Tensor self, int offset=0, int dim1=-2, int dim2=-1, *, Tensor(a!) out) -> Tensor(a!)";
    dstack_out: dstack Castable => "dstack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)";
    flip_out: flip => "flip.out(Tensor self, int[] dims, *, Tensor(a!) out) -> Tensor(a!)";
    hstack_out: hstack Castable => "hstack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)";
    index_fill_int_Scalar_out: index_fill_int_Scalar ApartFromOthers =>
        "index_fill.int_Scalar_out(Tensor self, int dim, Tensor index, Scalar value, *, Tensor(a!) out) -> Tensor(a!)";
    index_fill_int_Tensor_out: index_fill_int_Tensor =>
        "index_fill.int_Tensor_out(Tensor self, int dim, Tensor index, Tensor value, *, Tensor(a!) out) -> Tensor(a!)";
    masked_scatter_out: masked_scatter ApartFromOthers =>
        "masked_scatter.out(Tensor self, Tensor mask, Tensor source, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(dynamic_output_shape)]
    masked_select_out: masked_select Disjoint =>
        "masked_select.out(Tensor self, Tensor mask, *, Tensor(a!) out) -> Tensor(a!)";
    repeat_out: repeat => "repeat.out(Tensor self, SymInt[] repeats, *, Tensor(a!) out) -> Tensor(a!)";
    repeat_interleave_Tensor_out: repeat_interleave_Tensor =>
        "repeat_interleave.Tensor_out(Tensor repeats, *, SymInt? output_size=None, Tensor(a!) out) -> Tensor(a!)";
    roll_out: roll => "roll.out(Tensor self, SymInt[1] shifts, int[1] dims=[], *, Tensor(a!) out) -> Tensor(a!)";
    rot90_out: rot90 => "rot90.out(Tensor self, int k=1, int[] dims=[0, 1], *, Tensor(a!) out) -> Tensor(a!)";
    take_along_dim_out: take_along_dim =>
        "take_along_dim.out(Tensor self, Tensor indices, int? dim=None, *, Tensor(a!) out) -> Tensor(a!)";
    vstack_out: vstack Castable => "vstack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)";
    _chunk_cat_out: _chunk_cat Castable =>
        "_chunk_cat.out(Tensor[] tensors, int dim, int num_chunks, *, Tensor(a!) out) -> Tensor(a!)";
}
