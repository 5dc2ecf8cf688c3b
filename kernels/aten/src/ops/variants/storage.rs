//! The out variants of resizing and lifting.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    resize_out: resize =>
        "resize.out(Tensor self, SymInt[] size, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    resize_as_out: resize_as =>
        "resize_as.out(Tensor self, Tensor the_template, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    lift_out: lift => "lift.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    empty_permuted_out: empty_permuted =>
        "empty_permuted.out(SymInt[] size, int[] physical_layout, *, Tensor(a!) out) -> Tensor(a!)";
    from_file_out: from_file InTypeOfOut =>
        "from_file.out(str filename, bool? shared=None, int? size=0, *, Tensor(a!) out) -> Tensor(a!)";
}
